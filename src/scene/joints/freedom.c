/* Freedoms of joints: actuators, springs, limits and friction. */
#include "scene/joints/joints.h"

#include "base/error.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

#define EITHER(type, force_member, torque_member, what, word)                                                \
    {DLS_KEY("force", DLS_KEY_NODE, offsetof(type, force_member), "N", word ", of a freedom along an axis",  \
             what),                                                                                          \
     "none", false, 0},                                                                                      \
    {                                                                                                        \
        DLS_KEY("torque", DLS_KEY_NODE, offsetof(type, torque_member), "N m",                                \
                word ", of a freedom about an axis", what),                                                  \
            "none", false, 0                                                                                 \
    }

typedef struct drive_text {
    const dls_node *position, *velocity, *force, *torque;
} drive_text;

static const dls_key drive_keys[] = {
    {DLS_KEY("position", DLS_KEY_NODE, offsetof(drive_text, position), "m, rad",
             "the coordinate; at the start it must be where the joint stands", "function"),
     "none", false, 0},
    {DLS_KEY("velocity", DLS_KEY_NODE, offsetof(drive_text, velocity), "m/s, rad/s",
             "instead: its speed; without a limit it must begin with the speed that the bodies have",
             "function"),
     "none", false, 0},
    EITHER(drive_text, force, torque, "number > 0", "no more than this"),
};

const dls_group dls_group_joint_drive = {"joints.drive",
                                         "a drive",
                                         "Held to one of position and velocity, with any force that it "
                                         "takes or within a limit.",
                                         DLS_GROUP_KEYS(drive_keys),
                                         sizeof(drive_text),
                                         NULL};

typedef struct motor_text {
    const dls_node *force, *torque;
} motor_text;

static const dls_key motor_keys[] = {EITHER(motor_text, force, torque, "function", "acts with this")};

const dls_group dls_group_joint_motor = {"joints.motor",     "a motor", "", DLS_GROUP_KEYS(motor_keys),
                                         sizeof(motor_text), NULL};

typedef struct servo_text {
    const dls_node *target, *bias, *force, *torque;
    double p, d, i;
} servo_text;

static const dls_key servo_keys[] = {
    {DLS_KEY("target", DLS_KEY_NODE, offsetof(servo_text, target), "m, rad",
             "the coordinate that it is to have", "function"),
     NULL, true, 0},
    {DLS_KEY("p", DLS_KEY_NOT_NEGATIVE, offsetof(servo_text, p), "N/m, N m/rad", "times target − coordinate",
             NULL),
     NULL, false, 0},
    {DLS_KEY("d", DLS_KEY_NOT_NEGATIVE, offsetof(servo_text, d), "N s/m, N m s/rad", "times the rate of that",
             NULL),
     NULL, false, 0},
    {DLS_KEY("i", DLS_KEY_NOT_NEGATIVE, offsetof(servo_text, i), "N/(m s), N m/(rad s)",
             "times its integral over time", NULL),
     NULL, false, 0},
    {DLS_KEY("bias", DLS_KEY_NODE, offsetof(servo_text, bias), "N, N m", "is added", "function"), "none",
     false, 0},
    EITHER(servo_text, force, torque, "number > 0", "no more than this"),
};

const dls_group dls_group_joint_servo = {
    "joints.servo",
    "a servo",
    "Pushes with p (target − coordinate) + d (rate of it) + i ∫ (target − coordinate) dt + bias, implicit in "
    "time: a stiff servo does not limit the step. One of p, d and i is needed.",
    DLS_GROUP_KEYS(servo_keys),
    sizeof(servo_text),
    NULL};

typedef struct spring_text {
    double stiffness, damping, rest;
    int one_sided;
} spring_text;

static void spring_defaults(void *target) { ((spring_text *)target)->rest = NAN; }

static const dls_key spring_keys[] = {
    {DLS_KEY("stiffness", DLS_KEY_NOT_NEGATIVE, offsetof(spring_text, stiffness), "N/m, N m/rad",
             "force per way from rest", NULL),
     NULL, false, 0},
    {DLS_KEY("damping", DLS_KEY_NOT_NEGATIVE, offsetof(spring_text, damping), "N s/m, N m s/rad",
             "force per speed", NULL),
     NULL, false, 0},
    {DLS_KEY("rest", DLS_KEY_REAL, offsetof(spring_text, rest), "m, rad", "coordinate without force", NULL),
     "0; of the kind spring the distance at the start", false, 0},
    {DLS_KEY("one_sided", DLS_KEY_CHOICE, offsetof(spring_text, one_sided), "",
             "acts both ways, only where it is longer than at rest, or only where it is shorter",
             "both|pull|push"),
     NULL, false, 0},
};

const dls_group dls_group_joint_spring = {"joints.spring",
                                          "a spring",
                                          "Implicit in time: stiff springs do not limit the step.",
                                          DLS_GROUP_KEYS(spring_keys),
                                          sizeof(spring_text),
                                          spring_defaults};

typedef struct friction_text {
    const dls_node *force, *torque;
    double mu, radius;
} friction_text;

static const dls_key friction_keys[] = {
    EITHER(friction_text, force, torque, "number > 0", "resists with up to this"),
    {DLS_KEY("mu", DLS_KEY_NOT_NEGATIVE, offsetof(friction_text, mu), "",
             "instead: up to mu times the force that the joint carries", NULL),
     NULL, false, 0},
    {DLS_KEY("radius", DLS_KEY_NOT_NEGATIVE, offsetof(friction_text, radius), "m",
             "with mu, of freedoms about an axis: times this, the radius of the bearing", NULL),
     NULL, false, 0},
};

const dls_group dls_group_joint_friction = {"joints.friction",
                                            "friction",
                                            "A number, the largest force or torque, or this map.",
                                            DLS_GROUP_KEYS(friction_keys),
                                            sizeof(friction_text),
                                            NULL};

typedef struct freedom_self {
    dls_freedom_text self;
} freedom_self;

static const dls_key freedom_keys[] = {DLS_FREEDOM_KEYS(freedom_self, self)};

const dls_group dls_group_freedom = {
    "joints.freedoms",
    "a freedom",
    "Kinds with several free freedoms have a map of them, each with such a map: `{along: {limits: [0, 1]}, "
    "about: {friction: 2}}`. Freedoms along the axes 1, 2 and 3 of the first body's frame are `along`, "
    "`along_2` and `along_3`, those about them `about`, `about_2` and `about_3`; in the plane `about` is the "
    "turn within it. Their numbers, 1 to 6, will do, too. Kinds with one free freedom have these keys at the "
    "joint itself. A freedom has at most one of drive, motor and servo.",
    DLS_GROUP_KEYS(freedom_keys),
    sizeof(dls_freedom_text),
    NULL};

/* ---- names ---- */

static const char *const words[DLS_FREEDOMS] = {"along", "along_2", "along_3", "about", "about_2", "about_3"};

const char *dls_freedom_word(int freedom) { return words[freedom]; }

/* "along, about": those that the kind leaves free. */
static const char *list_free(uint8_t mask, int dimension, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (int k = 0; k < DLS_FREEDOMS && used < size; k++)
        if (mask >> k & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     dimension == 2 && k >= 3 ? "about" : words[k]);
    return text;
}

int dls_read_freedom_name(dls_reader *reader, const dls_node *node, dls_joint_kind kind) {
    uint8_t mask = dls_joint_kind_free(kind, reader->dimension);
    char known[100];
    bool turn = reader->dimension == 2 && !strcmp(node->key, "about");
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        char number[2] = {(char)('1' + k), '\0'};
        bool named = !strcmp(node->key, words[k]) || !strcmp(node->key, number) || (turn && k >= 3);
        if (named && mask >> k & 1) return k;
    }
    dls_node_fail(node, reader->error, "freedom '%.60s' of a %s joint, expected one of %s", node->key,
                  dls_joint_kind_name(kind), list_free(mask, reader->dimension, known, sizeof known));
    return -1;
}

/* ---- reading ---- */

/* force of freedoms along an axis, torque of those about one; NULL where neither is given. */
static dls_status choose(dls_reader *reader, const dls_node *force, const dls_node *torque, int freedom,
                         const dls_node **chosen) {
    const dls_node *wrong = freedom < 3 ? torque : force;
    *chosen = freedom < 3 ? force : torque;
    if (!wrong) return DLS_OK;
    return dls_node_fail(wrong, reader->error, "'%s' of a freedom %s, expected '%s'", wrong->key,
                         freedom < 3 ? "along an axis" : "about an axis", freedom < 3 ? "force" : "torque");
}

static dls_status read_largest(dls_reader *reader, const dls_node *node, double *value) {
    if (!node) return DLS_OK;
    dls_status status = dls_read_number(reader, node, node->key, "a number above 0", value);
    if (!status && !(*value > 0))
        return dls_node_fail(node, reader->error, "%s is %.12g, expected a number above 0", node->key,
                             *value);
    return status;
}

static dls_status doubt_constant(dls_reader *reader, const dls_node *node, int freedom, bool is_speed) {
    double value;
    if (freedom < 3 || node->kind != DLS_NODE_SCALAR || dls_text_uses_time(node->text)) return DLS_OK;
    if (dls_function_named(reader, node->text)) return DLS_OK;
    dls_status status = dls_read_number(reader, node, node->key, "a number", &value);
    if (status) return status;
    return is_speed ? dls_doubt_turning(reader, node, value) : dls_doubt_angle(reader, node, value);
}

static dls_status read_drive(dls_reader *reader, const dls_node *node, dls_freedom_def *f, int freedom) {
    drive_text text;
    const dls_node *limit;
    dls_status status = dls_read_group(reader, node, &dls_group_joint_drive, 0, NULL, &text);
    if (status) return status;
    if (!text.position == !text.velocity)
        return dls_node_fail(node, reader->error, "%s position %s velocity, expected one of them",
                             text.position ? "both" : "neither", text.position ? "and" : "nor");
    status = choose(reader, text.force, text.torque, freedom, &limit);
    if (!status) status = read_largest(reader, limit, &f->max_force);
    const dls_node *told = text.position ? text.position : text.velocity;
    if (!status) status = doubt_constant(reader, told, freedom, !text.position);
    if (status) return status;
    return dls_read_function(reader, told, told->key, text.position ? &f->position : &f->velocity);
}

static dls_status read_motor(dls_reader *reader, const dls_node *node, dls_freedom_def *f, int freedom) {
    motor_text text;
    const dls_node *force;
    dls_status status = dls_read_group(reader, node, &dls_group_joint_motor, 0, NULL, &text);
    if (!status) status = choose(reader, text.force, text.torque, freedom, &force);
    if (status) return status;
    if (!force)
        return dls_node_fail(node, reader->error, "a motor without a force, expected '%s'",
                             freedom < 3 ? "force" : "torque");
    return dls_read_function(reader, force, force->key, &f->force);
}

static dls_status read_servo(dls_reader *reader, const dls_node *node, dls_freedom_def *f, int freedom) {
    servo_text text;
    const dls_node *limit;
    dls_status status = dls_read_group(reader, node, &dls_group_joint_servo, 0, NULL, &text);
    if (!status) status = choose(reader, text.force, text.torque, freedom, &limit);
    if (!status) status = read_largest(reader, limit, &f->max_force);
    if (!status) status = doubt_constant(reader, text.target, freedom, false);
    if (status) return status;
    f->p = text.p, f->d = text.d, f->i = text.i;
    if (!(text.p + text.d + text.i > 0))
        return dls_node_fail(node, reader->error, "a servo with p, d and i of 0, expected one above 0");
    status = dls_read_function(reader, text.target, "target", &f->target);
    if (!status && text.bias) status = dls_read_function(reader, text.bias, "bias", &f->force);
    return status;
}

static dls_status read_spring(dls_reader *reader, const dls_node *node, dls_freedom_def *f, int freedom) {
    spring_text text;
    dls_status status = dls_read_group(reader, node, &dls_group_joint_spring, 0, NULL, &text);
    if (status) return status;
    if (!(text.stiffness + text.damping > 0))
        return dls_node_fail(node, reader->error,
                             "a spring without stiffness and damping, expected one above 0");
    f->stiffness = text.stiffness;
    f->damping = text.damping;
    f->one_sided = text.one_sided == 1 ? 1 : text.one_sided == 2 ? -1 : 0;
    if (isnan(text.rest)) return DLS_OK;
    f->rest = text.rest;
    return freedom < 3 ? DLS_OK : dls_doubt_angle(reader, dls_node_find(node, "rest"), text.rest);
}

static dls_status read_limit(dls_reader *reader, const dls_node *node, double open, int freedom,
                             double *limit) {
    *limit = open;
    if (node->kind == DLS_NODE_SCALAR && !strcmp(node->text, "none")) return DLS_OK;
    dls_status status = dls_read_number(reader, node, "limits", "a number or none", limit);
    return status || freedom < 3 ? status : dls_doubt_angle(reader, node, *limit);
}

static dls_status read_limits(dls_reader *reader, const dls_node *node, dls_freedom_def *f, int freedom) {
    if (node->kind != DLS_NODE_LIST || node->count != 2)
        return dls_node_fail(node, reader->error, "limits is %s, expected [low, high]",
                             node->kind == DLS_NODE_LIST ? "a list of another length" : dls_node_noun(node));
    dls_status status = read_limit(reader, node->first, -INFINITY, freedom, &f->low);
    if (!status) status = read_limit(reader, node->last, INFINITY, freedom, &f->high);
    if (!status && !(f->low < f->high))
        return dls_node_fail(node, reader->error, "limits from %g to %g, expected low below high", f->low,
                             f->high);
    return status;
}

static dls_status read_friction(dls_reader *reader, const dls_node *node, dls_freedom_def *f, int freedom) {
    friction_text text;
    const dls_node *largest;
    if (node->kind == DLS_NODE_SCALAR) {
        dls_status status =
            dls_read_number(reader, node, "friction", "a number of at least 0 or a map", &f->friction);
        if (!status && !(f->friction >= 0))
            return dls_node_fail(node, reader->error, "friction is %g, expected a number of at least 0",
                                 f->friction);
        return status;
    }
    dls_status status = dls_read_group(reader, node, &dls_group_joint_friction, 0, NULL, &text);
    if (!status) status = choose(reader, text.force, text.torque, freedom, &largest);
    if (!status) status = read_largest(reader, largest, &f->friction);
    if (!status) status = dls_doubt_friction(reader, node, text.mu);
    if (status) return status;
    if (!largest && !dls_node_find(node, "mu"))
        return dls_node_fail(node, reader->error, "friction with neither %s nor mu, expected one of them",
                             freedom < 3 ? "force" : "torque");
    if (freedom >= 3 && text.mu > 0 && !(text.radius > 0))
        return dls_node_fail(node, reader->error,
                             "mu without a radius about an axis, expected that of the bearing (m)");
    f->friction_mu = text.mu;
    f->friction_radius = text.radius;
    return DLS_OK;
}

dls_status dls_read_freedom(dls_reader *reader, const dls_freedom_text *text, dls_joint_def *def,
                            int freedom) {
    dls_freedom_def *f = &def->freedom[freedom];
    int actuators = !!text->drive + !!text->motor + !!text->servo;
    if (actuators > 1) {
        const dls_node *last = text->servo ? text->servo : text->motor;
        return dls_node_fail(last, reader->error, "%d of drive, motor and servo, expected one of them",
                             actuators);
    }
    dls_status status = DLS_OK;
    if (text->drive) status = read_drive(reader, text->drive, f, freedom);
    if (!status && text->motor) status = read_motor(reader, text->motor, f, freedom);
    if (!status && text->servo) status = read_servo(reader, text->servo, f, freedom);
    if (!status && text->spring) status = read_spring(reader, text->spring, f, freedom);
    if (!status && text->limits) status = read_limits(reader, text->limits, f, freedom);
    if (!status && text->friction) status = read_friction(reader, text->friction, f, freedom);
    f->restitution = text->e_n;
    return status;
}

void dls_joint_functions_destroy(dls_joint_def *def) {
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        dls_freedom_def *f = &def->freedom[k];
        dls_function_destroy(f->position);
        dls_function_destroy(f->velocity);
        dls_function_destroy(f->force);
        dls_function_destroy(f->target);
    }
}
