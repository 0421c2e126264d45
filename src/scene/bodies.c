/* Bodies and prototypes of bodies. */
#include "scene/mesh/mesh.h"

#include "base/error.h"
#include "base/vector.h"
#include "world/shape/kinds.h"
#include "world/world.h"

#include <delassus/solid.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- tables ---- */

typedef struct body_text {
    const char *name;
    int motion;
    double position[3], velocity[3], centre[3], mass, birth, death;
    const dls_node *rotation, *spin, *inertia, *shape, *shapes, *material, *group, *collides, *ignores;
    const dls_node *locked, *drive, *force, *torque, *belts, *frames, *solid, *supports;
} body_text;

static void body_defaults(void *target) {
    body_text *text = target;
    dls_body_def def = dls_default_body_def();
    text->motion = def.motion;
    text->birth = def.birth;
    text->death = def.death;
}

#define AT(member) offsetof(body_text, member)

enum { NOT_FED = DLS_USE_SINGLE | DLS_USE_GENERATED };

static const dls_key body_keys[] = {
    {DLS_KEY("name", DLS_KEY_TEXT, AT(name), "",
             "for messages and results, of one body alone; generated bodies get a number behind it", NULL),
     "none; of generated bodies that of the generator", false, 0},
    {DLS_KEY("motion", DLS_KEY_CHOICE, AT(motion), "", "moved by forces, not at all, or as `drive` says",
             "dynamic|static|driven"),
     NULL, false, NOT_FED},
    {DLS_KEY("shape", DLS_KEY_NODE, AT(shape), "", "the body's only shape", "shape"), "none", false, 0},
    {DLS_KEY("shapes", DLS_KEY_NODE, AT(shapes), "", "instead: several shapes, a compound", "list of shapes"),
     "none", false, 0},
    {DLS_KEY("solid", DLS_KEY_NODE, AT(solid), "", "what it is where it deforms", "solid"), "rigid", false,
     0},
    {DLS_KEY("material", DLS_KEY_NODE, AT(material), "", "of shapes that name none", "name"), "`default`",
     false, 0},
    {DLS_KEY("position", DLS_KEY_VECTOR, AT(position), "m", "of the body's frame", NULL), NULL, false,
     DLS_USE_SINGLE},
    {DLS_KEY("rotation", DLS_KEY_NODE, AT(rotation), "rad", "of the body's frame", "rotation"), "none", false,
     0},
    {DLS_KEY("velocity", DLS_KEY_VECTOR, AT(velocity), "m/s", "of the mass centre at the start", NULL), NULL,
     false, 0},
    {DLS_KEY("spin", DLS_KEY_NODE, AT(spin), "rad/s", "angular velocity at the start: a number in the plane",
             "number or vector"),
     "0", false, 0},
    {DLS_KEY("mass", DLS_KEY_POSITIVE, AT(mass), "kg", "instead of that of the shapes' densities", NULL),
     "from shapes", false, 0},
    {DLS_KEY("inertia", DLS_KEY_NODE, AT(inertia), "kg m²",
             "about the mass centre, with `mass`: one number in the plane; xx, yy, zz and then xy, xz, yz in "
             "space",
             "number or list"),
     "from shapes", false, 0},
    {DLS_KEY("centre", DLS_KEY_VECTOR, AT(centre), "m", "of mass in the body's frame, with `inertia`", NULL),
     NULL, false, 0},
    {DLS_KEY("locked", DLS_KEY_NODE, AT(locked), "", "freedoms that stay as they are, of x, y, z, rx, ry, rz",
             "list of axes"),
     "none", false, 0},
    {DLS_KEY("drive", DLS_KEY_NODE, AT(drive), "",
             "how a driven body moves: {x: {velocity: 1}, rz: {position: t}}", "map of axes"),
     "at rest", false, NOT_FED},
    {DLS_KEY("force", DLS_KEY_NODE, AT(force), "N",
             "on the mass centre, in world axes: one function per axis", "list of functions"),
     "none", false, NOT_FED},
    {DLS_KEY("torque", DLS_KEY_NODE, AT(torque), "N m", "in world axes; a single function in the plane",
             "list of functions"),
     "none", false, NOT_FED},
    {DLS_KEY("belts", DLS_KEY_NODE, AT(belts), "",
             "factor of the speeds of its shapes' belts, over time: min(t, 1) starts a conveyor gently",
             "function"),
     "1", false, NOT_FED},
    {DLS_KEY("birth", DLS_KEY_REAL, AT(birth), "s", "the body takes part from then on", NULL),
     "from the start", false, NOT_FED},
    {DLS_KEY("death", DLS_KEY_REAL, AT(death), "s", "and no longer than this", NULL), "never", false,
     NOT_FED},
    {DLS_KEY("frames", DLS_KEY_NODE, AT(frames), "", "places for joints, by name", "map of frames"), "none",
     false, NOT_FED},
    {DLS_KEY("supports", DLS_KEY_NODE, AT(supports), "", "of a solid of elements: what holds its surfaces",
             "list of supports"),
     "none", false, NOT_FED},
    {DLS_KEY("group", DLS_KEY_NODE, AT(group), "", "collision group, one of the scene's `groups`", "name"),
     "none", false, 0},
    {DLS_KEY("collides", DLS_KEY_NODE, AT(collides), "", "groups it meets, all others pass through",
             "list of names"),
     "all", false, 0},
    {DLS_KEY("ignores", DLS_KEY_NODE, AT(ignores), "", "groups it passes through", "list of names"), "none",
     false, 0},
};

const dls_group dls_group_body = {
    "bodies",
    "a body",
    "An entry of `bodies` is one body with these keys, or a generator. A "
    "generator's prototype, its `body`, has "
    "the same keys but `position`; that of an inlet has none of `motion`, "
    "`drive`, `force`, `torque`, `birth`, `death`, `frames` and `supports` either. No two bodies "
    "have one name: those of a generator or an inlet get NAME-0, NAME-1, …, "
    "counted on over all that have the name NAME.",
    DLS_GROUP_KEYS(body_keys),
    sizeof(body_text),
    body_defaults};

typedef struct drive_text {
    const dls_node *position, *velocity, *force;
    double gain, max_speed;
} drive_text;

static const dls_key drive_keys[] = {
    {DLS_KEY("position", DLS_KEY_NODE, offsetof(drive_text, position), "m, rad",
             "place along the axis, or the angle turned since the start", "function"),
     "none", false, 0},
    {DLS_KEY("velocity", DLS_KEY_NODE, offsetof(drive_text, velocity), "m/s, rad/s",
             "speed along or about the axis", "function"),
     "none", false, 0},
    {DLS_KEY("force", DLS_KEY_NODE, offsetof(drive_text, force), "N",
             "servo: the body yields until it presses with this force along the axis", "function"),
     "none", false, 0},
    {DLS_KEY("gain", DLS_KEY_POSITIVE, offsetof(drive_text, gain), "m/(s N)",
             "of the servo: speed for each newton that is missing", NULL),
     "none", false, 0},
    {DLS_KEY("max_speed", DLS_KEY_POSITIVE, offsetof(drive_text, max_speed), "m/s", "of the servo", NULL),
     "none", false, 0},
};

const dls_group dls_group_drive = {"bodies.drive",
                                   "a drive",
                                   "Below `drive`, each of the axes x, y, z (of the mass centre) and rx, ry, "
                                   "rz (about the world's axes through "
                                   "it) may have such a map; in the plane x, y and rz. It says one of "
                                   "position, velocity and force. At most one "
                                   "axis turns by position.",
                                   DLS_GROUP_KEYS(drive_keys),
                                   sizeof(drive_text),
                                   NULL};

static const char *const axes[6] = {"x", "y", "z", "rx", "ry", "rz"};

/* 0 … 5, or −1 after a message. */
static int read_axis(dls_reader *reader, const dls_node *node, const char *text) {
    for (int k = 0; k < 6; k++) {
        bool planar = k < 2 || k == 5;
        if (!strcmp(axes[k], text) && (reader->dimension == 3 || planar)) return k;
    }
    dls_node_fail(node, reader->error, "axis '%.60s', expected %s", text,
                  reader->dimension == 2 ? "x, y or rz in the plane" : "x, y, z, rx, ry or rz");
    return -1;
}

/* ---- parts of a body ---- */

static dls_status read_spin(dls_reader *reader, const dls_node *node, double *w) {
    if (!node) return DLS_OK;
    if (reader->dimension == 3) return dls_read_vector(reader, node, "spin", w);
    return dls_read_number(reader, node, "spin", "a number (rad/s) in the plane", &w[2]);
}

/* Three moments, or all six numbers of a symmetric matrix. */
static dls_status read_moments(dls_reader *reader, const dls_node *node, double n[6]) {
    bool list = node->kind == DLS_NODE_LIST,
         nested = list && node->first && node->first->kind == DLS_NODE_LIST;
    char count[32];
    if (list && !nested && (node->count == 3 || node->count == 6))
        return dls_read_numbers(reader, node, "inertia", node->count, node->count, n, NULL);
    snprintf(count, sizeof count, "a list of %d numbers", node->count);
    return dls_node_fail(node, reader->error,
                         "inertia is %s, expected [Jxx, Jyy, Jzz] or [Jxx, Jyy, Jzz, Jxy, Jxz, Jyz] (kg m²)",
                         nested ? "a list of lists"
                         : list ? count
                                : dls_node_noun(node));
}

/* Column-major and symmetric; the world refuses what is not positive definite. */
static dls_status read_inertia(dls_reader *reader, const body_text *text, dls_prototype *p) {
    double n[6] = {0};
    if (!text->inertia) return DLS_OK;
    if (!(text->mass > 0))
        return dls_node_fail(text->inertia, reader->error, "inertia without mass, expected both");
    if (reader->dimension == 2) {
        dls_status status = dls_read_number(reader, text->inertia, "inertia", "a number above 0 (kg m²)", n);
        if (status) return status;
        if (!(n[0] > 0))
            return dls_node_fail(text->inertia, reader->error, "inertia is %g, expected a number above 0",
                                 n[0]);
        n[1] = n[2] = n[0];
    } else {
        dls_status status = read_moments(reader, text->inertia, n);
        if (status) return status;
    }
    double full[9] = {n[0], n[3], n[4], n[3], n[1], n[5], n[4], n[5], n[2]};
    memcpy(p->inertia, full, sizeof full);
    p->def.inertia = p->inertia;
    vec_copy(p->def.centre, text->centre);
    return DLS_OK;
}

static dls_status read_locked(dls_reader *reader, const dls_node *list, bool *locked) {
    if (!list) return DLS_OK;
    if (list->kind != DLS_NODE_LIST)
        return dls_node_fail(list, reader->error, "locked is %s, expected a list like [x, rz]",
                             dls_node_noun(list));
    for (const dls_node *child = list->first; child; child = child->next) {
        if (child->kind != DLS_NODE_SCALAR)
            return dls_node_fail(child, reader->error, "an axis is %s, expected its name",
                                 dls_node_noun(child));
        int axis = read_axis(reader, child, child->text);
        if (axis < 0) return DLS_ERROR_INPUT;
        locked[axis] = true;
    }
    return DLS_OK;
}

/* Shapes of lines say where they stand, others do not. */
static dls_status check_end(dls_reader *reader, const dls_node *shape, bool line, double *at) {
    if (line && *at < 0)
        return dls_node_fail(shape, reader->error, "a beam's shape has no 'end', expected where it stands");
    if (!line && *at >= 0)
        return dls_node_fail(dls_node_find(shape, "end"), reader->error,
                             "end of a shape whose body is no line, expected one of a beam");
    if (!line) *at = 0;
    return DLS_OK;
}

static void fill_skin(const dls_element_file *file, const dls_shape_def *inherited, dls_shape_def *skin) {
    dls_skin_define(file, skin);
    skin->material = inherited->material;
    skin->group = inherited->group;
    skin->collides = inherited->collides;
}

static dls_status read_shapes(dls_reader *reader, const body_text *text, const dls_node *map,
                              dls_prototype *p) {
    if (text->shape && text->shapes)
        return dls_node_fail(map, reader->error, "both 'shape' and 'shapes', expected one of them");
    if (p->file && (text->shape || text->shapes))
        return dls_node_fail(
            text->shape ? text->shape : text->shapes, reader->error,
            "a shape of a body whose solid has a mesh, expected none: its skin is the shape");
    const dls_node *list = text->shapes, *first = text->shape;
    if (list && (list->kind != DLS_NODE_LIST || !list->count))
        return dls_node_fail(list, reader->error, "shapes is %s, expected a list of shapes",
                             list->kind == DLS_NODE_LIST ? "empty" : dls_node_noun(list));
    if (list) first = list->first;
    int count = list ? list->count : first || p->file ? 1 : 0;
    dls_shape_def inherited = dls_default_shape_def((dls_shape_kind)0);
    dls_status status = dls_read_material(reader, text->material, &inherited.material);
    if (!status) status = dls_read_collision(reader, text->group, text->collides, text->ignores, &inherited);
    if (status) return status;
    p->shapes = dls_arena_take(reader->arena, (size_t)count, sizeof *p->shapes);
    p->scaled = dls_arena_take(reader->arena, (size_t)count, sizeof *p->scaled);
    if (!p->shapes || !p->scaled) return dls_fail_memory(reader->error);
    size_t points = 0;
    for (int k = 0; k < count; k++, first = list ? first->next : NULL) {
        if (p->file)
            fill_skin(p->file, &inherited, &p->shapes[k]);
        else
            status = dls_read_shape(reader, first, &inherited, &p->shapes[k]);
        if (!status && !p->file)
            status = check_end(reader, first, p->def.solid && dls_solid_form_is_line(p->def.solid->form),
                               &p->shapes[k].at);
        if (status) return status;
        points += (size_t)p->shapes[k].point_count;
    }
    p->points = dls_arena_take(reader->arena, 3 * points, sizeof(double));
    if (!p->points) return dls_fail_memory(reader->error);
    p->def.shapes = p->shapes;
    p->def.shape_count = count;
    return DLS_OK;
}

/* Box and ball that hold all shapes, about the origin of the body's frame, their volume and their mass. */
static dls_status measure(dls_reader *reader, dls_prototype *p, dls_prototype_use use) {
    for (int k = 0; k < 3; k++) p->low[k] = INFINITY, p->high[k] = -INFINITY;
    p->thickness = INFINITY;
    double sum[3] = {0}, *bounds = dls_arena_take(reader->arena, (size_t)p->def.shape_count, sizeof *bounds);
    if (!bounds) return dls_fail_memory(reader->error);
    double R[9];
    quat_matrix(p->def.pose.q, R);
    for (int s = 0; s < p->def.shape_count; s++) {
        dls_shape shape;
        if (dls_shape_kind_is_obstacle(p->shapes[s].kind))
            return dls_node_fail(p->node, reader->error,
                                 "a generator makes a %s, expected a shape with a size",
                                 dls_shape_kind_name(p->shapes[s].kind));
        if (dls_shape_create(&p->shapes[s], reader->dimension, &shape, reader->error))
            return dls_read_blame(p->node, reader->error);
        double x[3], turned[9], low[3], high[3], mass, centre[3], inertia[9];
        mat_apply(x, R, shape.x);
        mat_multiply(turned, R, shape.R);
        dls_shape_box(&shape, x, turned, low, high);
        dls_shape_mass(&shape, &mass, centre, inertia);
        p->volume += mass;
        dls_material_def material;
        if (!dls_world_material(reader->world, p->shapes[s].material, &material, NULL)) {
            p->mass += mass * material.density;
            vec_along(sum, sum, mass * material.density, centre);
        }
        bounds[s] = shape.bound;
        for (int k = 0; k < 3; k++) {
            p->low[k] = fmin(p->low[k], low[k]);
            p->high[k] = fmax(p->high[k], high[k]);
        }
        p->radius = fmax(p->radius, vec_norm(x) + shape.bound);
        p->thickness = fmin(p->thickness, dls_shape_table[shape.kind].thickness(&shape));
        dls_shape_release(&shape);
    }
    if (p->mass > 0) vec_scale(sum, 1 / p->mass, sum);
    if (p->def.inertia) vec_copy(sum, p->def.centre);
    for (int s = 0; s < p->def.shape_count; s++)
        p->reach = fmax(p->reach, vec_distance(p->shapes[s].pose.x, sum) + bounds[s]);
    if (p->def.mass > 0) p->mass = p->def.mass;
    if (!p->def.shape_count && use & DLS_USE_PLACED) return DLS_OK;
    if (p->def.shape_count && p->radius > 0 && isfinite(p->radius)) return DLS_OK;
    return dls_node_fail(p->node, reader->error, "the prototype has no size, expected 'shape' or 'shapes'");
}

/* NULL when memory is out. */
static dls_family *find_family(dls_reader *reader, const char *name) {
    char cut[sizeof reader->families->name];
    snprintf(cut, sizeof cut, "%.100s", name);
    for (dls_family *f = reader->families; f; f = f->next)
        if (!strcmp(f->name, cut)) return f;
    dls_family *f = dls_arena_take(reader->arena, 1, sizeof *f);
    if (!f) return NULL;
    memcpy(f->name, cut, sizeof cut);
    f->next = reader->families;
    return reader->families = f;
}

static dls_status read_solid(dls_reader *reader, const dls_node *node, bool generated, dls_prototype *p) {
    if (!node) return DLS_OK;
    dls_solid_def *solid = dls_arena_take(reader->arena, 1, sizeof *solid);
    if (!solid) return dls_fail_memory(reader->error);
    p->def.solid = solid;
    p->scaled_solid = dls_arena_take(reader->arena, 1, sizeof *p->scaled_solid);
    p->scaled_mesh = dls_arena_take(reader->arena, 1, sizeof *p->scaled_mesh);
    if (!p->scaled_solid || !p->scaled_mesh) return dls_fail_memory(reader->error);
    dls_status status = dls_read_solid(reader, node, solid, &p->file);
    if (!status && generated && solid->bend > 0)
        return dls_node_fail(node, reader->error, "a prototype is bent, expected a single body or a mesh");
    if (!status && generated && dls_solid_form_is_line(solid->form))
        return dls_node_fail(node, reader->error, "a prototype is a %s, expected one with a shape of its own",
                             dls_solid_form_name(solid->form));
    return status;
}

dls_status dls_prototype_read(dls_reader *reader, const dls_node *map, dls_prototype_use use,
                              const char *family, dls_prototype *p) {
    body_text text;
    bool generated = use != DLS_USE_SINGLE;
    *p = (dls_prototype){.node = map, .def = dls_default_body_def()};
    dls_status status =
        dls_read_group(reader, map, &dls_group_body, use, generated ? "a prototype" : NULL, &text);
    if (status) return status;
    p->def.name = text.name;
    if (generated) p->family = find_family(reader, text.name && *text.name ? text.name : family);
    if (generated && !p->family) return dls_fail_memory(reader->error);
    p->def.motion = (dls_motion)text.motion;
    p->def.mass = text.mass;
    p->def.birth = text.birth;
    p->def.death = text.death;
    p->force = text.force;
    p->torque = text.torque;
    p->belts = text.belts;
    p->drive = text.drive;
    p->frames = text.frames;
    p->supports = text.supports;
    vec_copy(p->def.pose.x, text.position);
    vec_copy(p->def.v, text.velocity);
    if (text.drive && text.motion != DLS_DRIVEN)
        return dls_node_fail(text.drive, reader->error, "a drive on a %s body, expected motion: driven",
                             dls_motion_name((dls_motion)text.motion));
    if (!(text.death > text.birth))
        return dls_node_fail(map, reader->error, "death at %g and birth at %g, expected death after birth",
                             text.death, text.birth);
    status = read_solid(reader, text.solid, generated, p);
    if (!status) status = dls_read_rotation(reader, text.rotation, p->def.pose.q);
    if (!status) status = read_spin(reader, text.spin, p->def.w);
    if (!status) status = read_inertia(reader, &text, p);
    if (!status) status = read_locked(reader, text.locked, p->def.locked);
    if (!status) status = read_shapes(reader, &text, map, p);
    if (!status && generated) status = measure(reader, p, use);
    return status;
}

/* ---- functions of a body: made anew for each, for the world owns them ---- */

static dls_status read_drive(dls_reader *reader, const dls_node *node, dls_drive *drive) {
    drive_text text;
    dls_status status = dls_read_group(reader, node, &dls_group_drive, 0, NULL, &text);
    if (status) return status;
    int given = !!text.position + !!text.velocity + !!text.force;
    if (given != 1)
        return dls_node_fail(node, reader->error, "%d of position, velocity and force, expected one of them",
                             given);
    if (text.force && !(text.gain > 0 && text.max_speed > 0))
        return dls_node_fail(node, reader->error, "force without gain or max_speed, expected both");
    drive->gain = text.gain;
    drive->max_speed = text.max_speed;
    if (text.position) return dls_read_function(reader, text.position, "position", &drive->position);
    if (text.velocity) return dls_read_function(reader, text.velocity, "velocity", &drive->velocity);
    return dls_read_function(reader, text.force, "force", &drive->force);
}

/* Constants only: what a function of time reaches is its own affair. */
static dls_status doubt_turn(dls_reader *reader, const dls_node *drive) {
    const dls_node *position = dls_node_find(drive, "position"), *velocity = dls_node_find(drive, "velocity");
    const dls_node *node = position ? position : velocity;
    double value;
    if (!node || node->kind != DLS_NODE_SCALAR || dls_text_uses_time(node->text)) return DLS_OK;
    if (dls_function_named(reader, node->text)) return DLS_OK;
    dls_status status = dls_read_number(reader, node, node->key, "a number", &value);
    if (status) return status;
    return position ? dls_doubt_angle(reader, node, value) : dls_doubt_turning(reader, node, value);
}

static dls_status read_drives(dls_reader *reader, const dls_node *map, dls_body_def *def) {
    if (!map) return DLS_OK;
    if (map->kind != DLS_NODE_MAP)
        return dls_node_fail(map, reader->error, "drive is %s, expected a map like {x: {velocity: 1}}",
                             dls_node_noun(map));
    for (const dls_node *child = map->first; child; child = child->next) {
        int axis = read_axis(reader, child, child->key);
        if (axis < 0) return DLS_ERROR_INPUT;
        dls_status status = read_drive(reader, child, &def->drive[axis]);
        if (!status && axis >= 3) status = doubt_turn(reader, child);
        if (!status) status = dls_doubt_start(reader, child, def, axis);
        if (status) return status;
    }
    return DLS_OK;
}

static dls_status read_functions(dls_reader *reader, const dls_node *list, dls_function **functions) {
    if (!list) return DLS_OK;
    if (list->kind != DLS_NODE_LIST || list->count != reader->dimension)
        return dls_node_fail(list, reader->error, "'%s' is %s, expected a list of %d functions of time",
                             list->key, dls_node_noun(list), reader->dimension);
    int k = 0;
    for (const dls_node *child = list->first; child; child = child->next) {
        dls_status status = dls_read_function(reader, child, list->key, &functions[k++]);
        if (status) return status;
    }
    return DLS_OK;
}

static dls_status read_torque(dls_reader *reader, const dls_node *node, dls_function **functions) {
    if (!node || reader->dimension == 3) return read_functions(reader, node, functions);
    return dls_read_function(reader, node, "torque", &functions[2]);
}

static void release_functions(dls_body_def *def) {
    dls_function_destroy(def->belts);
    for (int k = 0; k < 3; k++) {
        dls_function_destroy(def->force[k]);
        dls_function_destroy(def->torque[k]);
    }
    for (int k = 0; k < 6; k++) {
        dls_function_destroy(def->drive[k].position);
        dls_function_destroy(def->drive[k].velocity);
        dls_function_destroy(def->drive[k].force);
    }
}

/* ---- bodies ---- */

/* All lengths times size: masses go with its cube (square in the plane), inertias with two powers more. */
static void scale(const dls_prototype *p, int dimension, double size, dls_body_def *def, double *inertia) {
    double volume = dimension == 2 ? size * size : size * size * size, *points = p->points;
    def->mass *= volume;
    if (def->inertia) {
        for (int k = 0; k < 9; k++) inertia[k] = p->inertia[k] * volume * size * size;
        def->inertia = inertia;
    }
    vec_scale(def->centre, size, def->centre);
    for (int s = 0; s < def->shape_count; s++) {
        dls_shape_def *shape = &p->scaled[s];
        *shape = p->shapes[s];
        vec_scale(shape->pose.x, size, shape->pose.x);
        vec_scale(shape->size, size, shape->size);
        shape->radius *= size;
        shape->length *= size;
        for (int k = 0; k < 3 * shape->point_count; k++) points[k] = p->shapes[s].points[k] * size;
        if (shape->point_count) shape->points = points;
        points += 3 * shape->point_count;
    }
    def->shapes = p->scaled;
    if (!p->file) return;
    *p->scaled_solid = *def->solid;
    *p->scaled_mesh = p->file->mesh;
    p->scaled_mesh->points = p->scaled[0].points;
    p->scaled_solid->mesh = p->scaled_mesh;
    def->solid = p->scaled_solid;
}

void dls_family_name(const dls_world *world, dls_family *family, char *name, size_t size) {
    do {
        snprintf(name, size, "%s-%lld", family->name, (long long)family->next_number++);
    } while (dls_world_find_body(world, name) >= 0);
}

dls_body_def dls_prototype_define(const dls_prototype *p, int dimension, const double *x, const double *q,
                                  double size, double *inertia) {
    dls_body_def def = p->def;
    if (size != 1) scale(p, dimension, size, &def, inertia);
    if (x) vec_copy(def.pose.x, x);
    if (q) quat_multiply(def.pose.q, q, def.pose.q);
    return def;
}

dls_status dls_prototype_add(dls_reader *reader, dls_prototype *p, const double *x, const double *q,
                             double size, double birth) {
    double inertia[9];
    char name[128];
    dls_body_def def = dls_prototype_define(p, reader->dimension, x, q, size, inertia);
    if (p->family) {
        dls_family_name(reader->world, p->family, name, sizeof name);
        def.name = name;
    }
    if (birth > 0) def.birth = birth + (isfinite(def.birth) ? def.birth : 0);
    dls_status status = read_drives(reader, p->drive, &def);
    if (!status) status = read_functions(reader, p->force, def.force);
    if (!status) status = read_torque(reader, p->torque, def.torque);
    if (!status && p->belts) status = dls_read_function(reader, p->belts, "belts", &def.belts);
    if (status) {
        release_functions(&def);
        return status;
    }
    dls_body_id id;
    status = dls_world_add_body(reader->world, &def, &id, reader->error);
    if (status) return dls_read_blame(p->node, reader->error);
    status = dls_note_frames(reader, p->frames, id, size);
    return status ? status : dls_note_supports(reader, p->supports, p->file, id);
}

/* ---- memory ---- */

/* What this process may have at most, bytes. */
static double machine_memory(void) {
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), group;
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
    if (file) {
        if (fscanf(file, "%lf", &group) == 1 && group > 0) memory = fmin(memory, group);
        fclose(file);
    }
    struct rlimit limit;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
        memory = fmin(memory, (double)limit.rlim_cur);
    return memory;
}

static void print_bytes(double bytes, char *text, size_t size) {
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    int unit = 0;
    for (bytes /= 1000; bytes >= 1000 && unit < 5; bytes /= 1000) unit++;
    snprintf(text, size, "%.3g %s", bytes, units[unit]);
}

/* A body's rows, and three contacts each, which is what a packing has, at a kilobyte a contact. */
static double body_bytes(const dls_prototype *p) {
    double bytes = sizeof(dls_body_entry) + sizeof(dls_body) + sizeof(dls_body_state) + 3 * 1000;
    for (int s = 0; s < p->def.shape_count; s++) {
        const dls_shape_def *shape = &p->shapes[s];
        bool corners = dls_shape_table[shape->kind].corners;
        bytes += 2.0 * sizeof(dls_shape) + (corners ? sizeof(dls_hull) + 1500 : 0);
        bytes += 200.0 * shape->point_count + 300.0 * shape->triangle_count;
    }
    return bytes;
}

dls_status dls_reader_reserve(dls_reader *reader, const dls_node *node, double count,
                              const dls_prototype *p) {
    double bodies = reader->bodies + count, bytes = reader->bytes + count * body_bytes(p);
    if (!(reader->machine > 0)) reader->machine = machine_memory();
    if (bytes > reader->machine || bodies > 1e9) {
        char need[32], have[32];
        print_bytes(bytes, need, sizeof need);
        print_bytes(reader->machine, have, sizeof have);
        return dls_node_fail(node, reader->error,
                             "%.12g bodies need about %s of memory, expected at most the %s of this machine",
                             bodies, need, have);
    }
    reader->bodies = bodies;
    reader->bytes = bytes;
    return DLS_OK;
}

/* ---- the list ---- */

static dls_status read_item(dls_reader *reader, const dls_node *item) {
    for (const dls_node *child = item->first; child && child->key; child = child->next) {
        const dls_scene_generator *generator = dls_generator_find(child->key);
        if (generator) return dls_read_generator(reader, item, child, generator);
    }
    dls_prototype prototype;
    dls_status status = dls_prototype_read(reader, item, DLS_USE_SINGLE, NULL, &prototype);
    if (!status) status = dls_reader_reserve(reader, item, 1, &prototype);
    return status ? status : dls_prototype_add(reader, &prototype, NULL, NULL, 1, 0);
}

dls_status dls_read_bodies(dls_reader *reader, const dls_node *list) {
    if (list->kind != DLS_NODE_LIST)
        return dls_node_fail(list, reader->error, "bodies is %s, expected a list, each entry with a dash",
                             dls_node_noun(list));
    for (const dls_node *item = list->first; item; item = item->next) {
        dls_status status = read_item(reader, item);
        if (status) return status;
    }
    return DLS_OK;
}
