/* Joints and springs of a scene. */
#include "scene/joints/joints.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

typedef struct joint_text {
    const char *name;
    const dls_node *kind, *bodies, *neighbours, *at, *axis, *second, *freedoms, *breaks;
    dls_freedom_text freedom;
    double length, ratio, radius, cone;
    bool rope, carried, conserving, collide;
} joint_text;

#define AT(member) offsetof(joint_text, member)
#define OF(kind)   (1u << DLS_JOINT_##kind)

static const dls_key joint_keys[] = {
    {DLS_KEY("kind", DLS_KEY_NODE, AT(kind), "", "one of the kinds in the table below", "name of a kind"),
     NULL, true, 0},
    {DLS_KEY("bodies", DLS_KEY_NODE, AT(bodies), "", "the two that it joins", "[side, side]"), "none", false,
     0},
    {DLS_KEY("neighbours", DLS_KEY_NODE, AT(neighbours), "",
             "instead: joints between all neighbours among generated bodies", "map"),
     "none", false, 0},
    {DLS_KEY("at", DLS_KEY_NODE, AT(at), "m",
             "place of the joint at the start, in world coordinates; of two ends that differ [[x, y, z], [x, "
             "y, z]]",
             "vector or two"),
     "where a side stands", false, 0},
    {DLS_KEY("axis", DLS_KEY_NODE, AT(axis), "",
             "direction of axis 1 at the start, in world coordinates, any length; or two, one for each body; "
             "in the plane angles of a revolute joint count from it",
             "vector or two"),
     "needed where the kind has one", false, 0},
    {DLS_KEY("second", DLS_KEY_NODE, AT(second), "",
             "axis 2 is as near to this as a right angle allows; of a universal joint the second body's "
             "axis; of gears, racks and rolling its axis 1",
             "vector"),
     "any", false, 0},
    {DLS_KEY("name", DLS_KEY_TEXT, AT(name), "", "for messages and results, of one joint alone", NULL),
     "none", false, 0},
    DLS_FREEDOM_KEYS(joint_text, freedom),
    {DLS_KEY("freedoms", DLS_KEY_NODE, AT(freedoms), "", "the same, of kinds with several free freedoms",
             "map of freedoms"),
     "none", false, 0},
    {DLS_KEY("length", DLS_KEY_POSITIVE, AT(length), "m", "of a distance", NULL), "as it is at the start",
     false, OF(DISTANCE)},
    {DLS_KEY("rope", DLS_KEY_FLAG, AT(rope), "", "of a distance: its ends may come nearer", NULL), NULL,
     false, OF(DISTANCE)},
    {DLS_KEY("ratio", DLS_KEY_REAL, AT(ratio), "",
             "of a gear: ω_A + ratio ω_B = 0; of a rack: v_B = ratio ω_A, in m", NULL),
     NULL, true, OF(GEAR) | OF(RACK)},
    {DLS_KEY("carried", DLS_KEY_FLAG, AT(carried), "",
             "of gears and racks: what carries their axes moves; turns count from the line between the two "
             "ends, which stand on the axes, or from the other's axis where they cross",
             NULL),
     NULL, false, OF(GEAR) | OF(RACK)},
    {DLS_KEY("radius", DLS_KEY_POSITIVE, AT(radius), "m", "of rolling: that of the wheel or ball", NULL),
     NULL, true, OF(ROLLING) | OF(ROLLING_BALL)},
    {DLS_KEY("cone", DLS_KEY_POSITIVE, AT(cone), "rad",
             "of a spherical joint: largest angle between the axes 1 of the two frames", NULL),
     "any", false, OF(SPHERICAL)},
    {DLS_KEY("conserving", DLS_KEY_FLAG, AT(conserving), "",
             "held freedoms are turned back instead of stopped in every step: keeps the energy", NULL),
     NULL, false, 0},
    {DLS_KEY("collide", DLS_KEY_FLAG, AT(collide), "", "the two bodies touch each other", NULL), NULL, false,
     0},
    {DLS_KEY("break", DLS_KEY_NODE, AT(breaks), "", "what it carries at most", "map"), "all", false, 0},
};

const dls_group dls_group_joint = {
    "joints",
    "a joint",
    "Each entry of the list joins two bodies. `at`, `axis` and `second` are world coordinates at the start; "
    "a side of `bodies` may say where it stands in the coordinates of its body instead. Where only one side "
    "does, the other one stands where it does. Ends of distances, springs, gears and racks stand in the "
    "origins of their bodies' frames where nothing is said, and so do fixed joints, sliders and bushings in "
    "that of the second body. Joints must hold at the start, to 1e-6 of the size of their bodies, unless the "
    "scene says `assemble: yes`.",
    DLS_GROUP_KEYS(joint_keys),
    sizeof(joint_text),
    NULL};

typedef struct break_text {
    double force, torque;
} break_text;

static const dls_key break_keys[] = {
    {DLS_KEY("force", DLS_KEY_POSITIVE, offsetof(break_text, force), "N", "beyond it the joint is gone",
             NULL),
     "any", false, 0},
    {DLS_KEY("torque", DLS_KEY_POSITIVE, offsetof(break_text, torque), "N m", "likewise", NULL), "any", false,
     0},
};

const dls_group dls_group_break = {"joints.break",     "a break", "", DLS_GROUP_KEYS(break_keys),
                                   sizeof(break_text), NULL};

typedef struct spring_item_text {
    const char *name;
    const dls_node *bodies, *at, *breaks;
    double stiffness, damping, rest;
    int one_sided;
    bool collide;
} spring_item_text;

static void spring_item_defaults(void *target) {
    spring_item_text *text = target;
    text->rest = NAN;
    text->collide = true;
}

#define IN(member) offsetof(spring_item_text, member)

static const dls_key spring_item_keys[] = {
    {DLS_KEY("bodies", DLS_KEY_NODE, IN(bodies), "", "the two that it joins", "[side, side]"), NULL, true, 0},
    {DLS_KEY("at", DLS_KEY_NODE, IN(at), "m", "both ends at the start, in world coordinates", "two vectors"),
     "where sides stand", false, 0},
    {DLS_KEY("stiffness", DLS_KEY_NOT_NEGATIVE, IN(stiffness), "N/m", "force per way from rest", NULL), NULL,
     false, 0},
    {DLS_KEY("damping", DLS_KEY_NOT_NEGATIVE, IN(damping), "N s/m", "force per speed", NULL), NULL, false, 0},
    {DLS_KEY("rest", DLS_KEY_NOT_NEGATIVE, IN(rest), "m", "length without force", NULL),
     "the distance at the start", false, 0},
    {DLS_KEY("one_sided", DLS_KEY_CHOICE, IN(one_sided), "",
             "acts both ways, only where it is longer than at rest, or only where it is shorter",
             "both|pull|push"),
     NULL, false, 0},
    {DLS_KEY("name", DLS_KEY_TEXT, IN(name), "", "for messages and results, of one joint alone", NULL),
     "none", false, 0},
    {DLS_KEY("collide", DLS_KEY_FLAG, IN(collide), "", "the two bodies touch each other", NULL), NULL, false,
     0},
    {DLS_KEY("break", DLS_KEY_NODE, IN(breaks), "", "what it carries at most", "map"), "all", false, 0},
};

const dls_group dls_group_spring_item = {
    "springs",
    "a spring",
    "Each entry of the list is a spring and damper between two points: short for a joint of the kind spring "
    "whose bodies touch each other.",
    DLS_GROUP_KEYS(spring_item_keys),
    sizeof(spring_item_text),
    spring_item_defaults};

/* ---- what kinds need ---- */

/* Kinds with an end on each body, and those whose axis matters, in space and in the plane. */
enum {
    TWO_ENDS = OF(DISTANCE) | OF(SPRING) | OF(GEAR) | OF(RACK) | OF(ROLLING) | OF(ROLLING_BALL),
    SLIDES =
        OF(PRISMATIC) | OF(POINT_ON_LINE) | OF(POINT_ON_PLANE) | OF(RACK) | OF(ROLLING) | OF(ROLLING_BALL),
    TURNS = OF(REVOLUTE) | OF(CYLINDRICAL) | OF(PLANAR) | OF(UNIVERSAL) | OF(GEAR),
    /* without a word these stand in the second body's origin, as their place does not matter for its motion
     */
    ANYWHERE = OF(FIXED) | OF(PRISMATIC) | OF(BUSHING),
    /* between neighbours all others have their axis from one to the other */
    ACROSS = OF(REVOLUTE) | OF(PLANAR) | OF(POINT_ON_PLANE),
    /* axes 1 of the two bodies differ */
    CROSSED = OF(ROLLING) | OF(RACK)
};

static bool needs_axis(const dls_reader *reader, dls_joint_kind kind) {
    unsigned bit = 1u << kind;
    return bit & (reader->dimension == 2 ? SLIDES : SLIDES | TURNS);
}

static dls_status read_kind(dls_reader *reader, const dls_node *map, dls_joint_kind *kind) {
    const char *names[DLS_JOINT_KINDS];
    if (map->kind != DLS_NODE_MAP)
        return dls_node_fail(map, reader->error,
                             "a joint is %s, expected a map like {kind: revolute, bodies: [ground, arm]}",
                             dls_node_noun(map));
    const dls_node *node = dls_node_find(map, "kind");
    for (int k = 0; k < DLS_JOINT_KINDS; k++) names[k] = dls_joint_kind_name((dls_joint_kind)k);
    if (!node)
        return dls_node_fail(map, reader->error, "a joint has no 'kind', expected kind: revolute, fixed, …");
    if (node->kind != DLS_NODE_SCALAR)
        return dls_node_fail(node, reader->error, "kind is %s, expected a name", dls_node_noun(node));
    int place = dls_read_name(reader, node, node->text, "kind of joint", DLS_JOINT_KINDS, names);
    if (place < 0) return DLS_ERROR_INPUT;
    *kind = (dls_joint_kind)place;
    return DLS_OK;
}

/* ---- places ---- */

static bool is_pair(const dls_node *node) {
    return node->kind == DLS_NODE_LIST && node->count == 2 && node->first->kind == DLS_NODE_LIST;
}

/* One for both sides, or one each. */
static dls_status read_point(dls_reader *reader, const dls_node *node, dls_side *sides) {
    bool pair = is_pair(node);
    for (int k = 0; k < 2; k++) {
        const dls_node *of = !pair ? node : k ? node->last : node->first;
        if (sides[k].has_point)
            return dls_node_fail(node, reader->error, "at of the joint and of a side, expected one of them");
        dls_status status = dls_read_vector(reader, of, "at", sides[k].point);
        if (status) return status;
        sides[k].has_point = true;
    }
    return DLS_OK;
}

static dls_status read_axis(dls_reader *reader, const dls_node *node, dls_side *sides) {
    bool pair = is_pair(node);
    for (int k = 0; k < 2; k++) {
        const dls_node *of = !pair ? node : k ? node->last : node->first;
        if (sides[k].has_axis)
            return dls_node_fail(node, reader->error,
                                 "axis of the joint and of a side, expected one of them");
        dls_status status = dls_read_direction(reader, of, sides[k].axis);
        if (status) return status;
        sides[k].has_axis = true;
    }
    return DLS_OK;
}

/* What one side says holds for the other one, too. */
static void share_words(dls_side *sides, bool two_ends, bool crossed) {
    for (int k = 0; k < 2; k++) {
        dls_side *to = &sides[k], *from = &sides[1 - k];
        if (!to->has_point && from->has_point && !two_ends) {
            vec_copy(to->point, from->point);
            to->has_point = true;
        }
        if (!to->has_axis && from->has_axis && !crossed) {
            vec_copy(to->axis, from->axis);
            to->has_axis = true;
        }
        if (!to->has_second && from->has_second) {
            vec_copy(to->second, from->second);
            to->has_second = true;
        }
    }
}

static dls_status stand_in_origin(dls_reader *reader, dls_side *side, dls_body_id body) {
    dls_pose pose;
    dls_status status = dls_body_pose_get(reader->world, body, &pose, reader->error);
    if (status) return status;
    vec_copy(side->point, pose.x);
    side->has_point = true;
    return DLS_OK;
}

/* Where nothing was said. */
static dls_status complete_points(dls_reader *reader, const dls_node *map, dls_joint_kind kind,
                                  dls_side *sides) {
    bool two_ends = TWO_ENDS >> kind & 1, anywhere = ANYWHERE >> kind & 1;
    dls_status status = DLS_OK;
    for (int k = 0; k < 2 && !status; k++) {
        if (sides[k].has_point) continue;
        dls_body_id own = two_ends ? sides[k].body : sides[1].body >= 0 ? sides[1].body : sides[0].body;
        if ((two_ends || anywhere) && own >= 0)
            status = stand_in_origin(reader, &sides[k], own);
        else
            return dls_node_fail(map, reader->error, "%s %s joint has no 'at', expected its place (m)%s",
                                 strchr("aeiou", *dls_joint_kind_name(kind)) ? "an" : "a",
                                 dls_joint_kind_name(kind), two_ends ? ", one for each end" : "");
    }
    return status;
}

/* In the plane the axis of what turns is z: one that is told is where the angle counts from. All turns there
 * commute. */
static void count_from(const double *direction, dls_pose *frame) {
    double turn[3] = {0, 0, atan2(direction[1], direction[0])}, q[4];
    quat_exponential(q, turn);
    quat_multiply(frame->q, q, frame->q);
    quat_normalize(frame->q);
}

static dls_status place_sides(dls_reader *reader, const dls_node *map, const joint_text *text,
                              const dls_joint_given *given, dls_side *sides, dls_joint_def *def) {
    bool two_ends = TWO_ENDS >> def->kind & 1;
    dls_status status = text->at ? read_point(reader, text->at, sides) : DLS_OK;
    if (!status && text->axis) status = read_axis(reader, text->axis, sides);
    for (int k = 0; k < 2 && !status && text->second; k++) {
        status = dls_read_direction(reader, text->second, sides[k].second);
        sides[k].has_second = true;
    }
    if (status) return status;
    for (int k = 0; k < 2 && given->is_given; k++) {
        vec_copy(sides[k].point, two_ends ? given->point[k] : given->middle);
        sides[k].has_point = true;
        if (sides[k].has_axis || ACROSS >> def->kind & 1) continue;
        vec_copy(sides[k].axis, given->along);
        sides[k].has_axis = true;
    }
    bool crossed = reader->dimension == 3 && CROSSED >> def->kind & 1;
    if (crossed && text->axis && !is_pair(text->axis) && !text->second)
        return dls_node_fail(text->axis, reader->error,
                             "one axis of a %s joint, expected two: [[x, y, z], [x, y, z]]",
                             dls_joint_kind_name(def->kind));
    share_words(sides, two_ends, crossed);
    status = complete_points(reader, map, def->kind, sides);
    if (status) return status;
    if (!(sides[0].has_axis && sides[1].has_axis) && needs_axis(reader, def->kind))
        return dls_node_fail(map, reader->error, "a %s joint has no 'axis', expected its direction",
                             dls_joint_kind_name(def->kind));
    for (int k = 0; k < 2; k++) { /* each frame from its own words */
        static const double x[3] = {1, 0, 0};
        dls_joint_def own = *def;
        status = dls_joint_place(reader->world, &own, sides[k].point, sides[k].has_axis ? sides[k].axis : x,
                                 sides[k].has_second ? sides[k].second : NULL, reader->error);
        if (status) return dls_read_blame(map, reader->error);
        def->frame[k] = own.frame[k];
        if (reader->dimension == 2 && def->kind == DLS_JOINT_REVOLUTE && sides[k].has_axis)
            count_from(sides[k].axis, &def->frame[k]);
    }
    return DLS_OK;
}

/* ---- joints ---- */

static dls_status read_sides(dls_reader *reader, const dls_node *map, const dls_node *list,
                             const dls_joint_given *given, dls_side *sides, dls_joint_def *def) {
    for (int k = 0; k < 2; k++) {
        sides[k] = (dls_side){.body = DLS_GROUND};
        if (given->is_given) {
            sides[k].body = given->body[k];
        } else {
            if (!list || list->kind != DLS_NODE_LIST || list->count != 2)
                return dls_node_fail(list ? list : map, reader->error,
                                     "bodies is %s, expected two: [ground, arm]",
                                     !list                         ? "missing"
                                     : list->kind == DLS_NODE_LIST ? "a list of another length"
                                                                   : dls_node_noun(list));
            dls_status status = dls_read_side(reader, k ? list->last : list->first, &sides[k]);
            if (status) return status;
        }
        def->body[k] = sides[k].body;
        def->at[k] = sides[k].end;
    }
    if (sides[0].body != sides[1].body) return DLS_OK;
    return dls_node_fail(
        list ? list : map, reader->error, "a joint of %s%.60s%s with itself, expected two bodies",
        sides[0].body >= 0 ? "'" : "the ground",
        sides[0].body >= 0 ? dls_body_name(reader->world, sides[0].body) : "", sides[0].body >= 0 ? "'" : "");
}

static const dls_node *any_of(const dls_freedom_text *t) {
    const dls_node *nodes[] = {t->drive, t->motor, t->servo, t->spring, t->limits, t->friction};
    for (size_t k = 0; k < sizeof nodes / sizeof *nodes; k++)
        if (nodes[k]) return nodes[k];
    return NULL;
}

static dls_status check_bounce(dls_reader *reader, const dls_node *map, const dls_freedom_text *text) {
    const dls_node *node = dls_node_find(map, "e_n");
    if (!node || text->limits) return DLS_OK;
    return dls_node_fail(node, reader->error, "e_n without limits, expected limits that bounce");
}

static dls_status read_freedoms(dls_reader *reader, const dls_node *owner, const joint_text *text,
                                dls_joint_def *def) {
    uint8_t mask = dls_joint_kind_free(def->kind, reader->dimension);
    const dls_node *direct = any_of(&text->freedom), *map = text->freedoms;
    int count = 0, only = 0;
    for (int k = 0; k < DLS_FREEDOMS; k++)
        if (mask >> k & 1) only = k, count++;
    if (direct && count != 1)
        return dls_node_fail(direct, reader->error, "'%s' of a %s joint, which has %s free freedom, %s",
                             direct->key, dls_joint_kind_name(def->kind), count ? "more than one" : "no",
                             count ? "expected it below 'freedoms'" : "expected another kind");
    dls_status bounce = check_bounce(reader, owner, &text->freedom);
    if (bounce) return bounce;
    if (direct) {
        dls_status status = dls_read_freedom(reader, &text->freedom, def, only);
        if (status) return status;
    }
    if (!map) return DLS_OK;
    if (map->kind != DLS_NODE_MAP)
        return dls_node_fail(map, reader->error,
                             "freedoms is %s, expected a map like {along: {limits: [0, 1]}}",
                             dls_node_noun(map));
    uint8_t seen = direct ? (uint8_t)(1 << only) : 0;
    for (const dls_node *child = map->first; child; child = child->next) {
        dls_freedom_text freedom;
        int k = dls_read_freedom_name(reader, child, def->kind);
        if (k < 0) return DLS_ERROR_INPUT;
        if (seen >> k & 1)
            return dls_node_fail(child, reader->error, "freedom '%.60s' for the second time", child->key);
        seen |= (uint8_t)(1 << k);
        dls_status status = dls_read_group(reader, child, &dls_group_freedom, 0, NULL, &freedom);
        if (!status) status = check_bounce(reader, child, &freedom);
        if (!status) status = dls_read_freedom(reader, &freedom, def, k);
        if (status) return status;
    }
    return DLS_OK;
}

static dls_status read_break(dls_reader *reader, const dls_node *node, dls_joint_def *def) {
    break_text text;
    if (!node) return DLS_OK;
    dls_status status = dls_read_group(reader, node, &dls_group_break, 0, NULL, &text);
    def->break_force = text.force;
    def->break_torque = text.torque;
    return status;
}

static double ends_apart(const dls_side *sides) { return vec_distance(sides[0].point, sides[1].point); }

dls_status dls_add_read_joint(dls_reader *reader, const dls_node *map, dls_joint_def *def) {
    dls_joint_id id;
    if (!DLS_RESERVE(reader->joint_nodes, reader->joint_count, reader->joint_room, reader->joint_count + 1)) {
        dls_joint_functions_destroy(def);
        return dls_fail_memory(reader->error);
    }
    if (dls_world_add_joint(reader->world, def, &id, reader->error))
        return dls_read_blame(map, reader->error);
    reader->joint_nodes[reader->joint_count++] = map;
    return DLS_OK;
}

dls_status dls_read_joint(dls_reader *reader, const dls_node *map, const dls_joint_given *given) {
    joint_text text;
    dls_side sides[2];
    dls_joint_kind kind = DLS_JOINT_FIXED;
    char noun[40];
    dls_status status = read_kind(reader, map, &kind);
    if (status) return status;
    snprintf(noun, sizeof noun, "a %s joint", dls_joint_kind_name(kind));
    status = dls_read_group(reader, map, &dls_group_joint, 1u << kind, noun, &text);
    if (status) return status;
    dls_joint_def def = dls_default_joint_def(kind);
    def.name = given->is_given && *given->name ? given->name : text.name;
    def.length = text.length, def.rope = text.rope;
    def.ratio = text.ratio, def.carried = text.carried, def.radius = text.radius, def.cone = text.cone;
    def.conserving = text.conserving, def.collide = text.collide;
    status = read_sides(reader, map, text.bodies, given, sides, &def);
    if (!status) status = place_sides(reader, map, &text, given, sides, &def);
    if (status) return status;
    if (kind == DLS_JOINT_SPRING) def.freedom[0].rest = ends_apart(sides);
    status = read_break(reader, text.breaks, &def);
    if (!status && text.cone > 0) status = dls_doubt_angle(reader, dls_node_find(map, "cone"), text.cone);
    if (!status) status = read_freedoms(reader, map, &text, &def);
    if (!status) return dls_add_read_joint(reader, map, &def);
    dls_joint_functions_destroy(&def);
    return status;
}

static dls_status read_spring(dls_reader *reader, const dls_node *map) {
    spring_item_text text;
    dls_side sides[2];
    const dls_joint_given none = {.is_given = false};
    dls_status status = dls_read_group(reader, map, &dls_group_spring_item, 0, NULL, &text);
    if (status) return status;
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_SPRING);
    if (!(text.stiffness + text.damping > 0))
        return dls_node_fail(map, reader->error,
                             "a spring without stiffness and damping, expected one above 0");
    def.name = text.name;
    def.collide = text.collide;
    status = read_sides(reader, map, text.bodies, &none, sides, &def);
    if (!status && text.at && !is_pair(text.at))
        return dls_node_fail(text.at, reader->error, "at is %s, expected both ends: [[x, y], [x, y]]",
                             text.at->kind == DLS_NODE_LIST ? "one place" : dls_node_noun(text.at));
    if (!status) status = place_sides(reader, map, &(joint_text){.at = text.at}, &none, sides, &def);
    if (!status) status = read_break(reader, text.breaks, &def);
    if (status) return status;
    def.freedom[0].stiffness = text.stiffness;
    def.freedom[0].damping = text.damping;
    def.freedom[0].one_sided = text.one_sided == 1 ? 1 : text.one_sided == 2 ? -1 : 0;
    def.freedom[0].rest = isnan(text.rest) ? ends_apart(sides) : text.rest;
    return dls_add_read_joint(reader, map, &def);
}

static dls_status read_list(dls_reader *reader, const dls_node *list, bool springs) {
    if (!list) return DLS_OK;
    if (list->kind != DLS_NODE_LIST)
        return dls_node_fail(list, reader->error, "%s is %s, expected a list, each entry with a dash",
                             list->key, dls_node_noun(list));
    const dls_joint_given none = {.is_given = false};
    dls_status status = DLS_OK;
    for (const dls_node *child = list->first; child && !status; child = child->next) {
        const dls_node *crowd =
            child->kind == DLS_NODE_MAP && !springs ? dls_node_find(child, "neighbours") : NULL;
        if (springs)
            status = read_spring(reader, child);
        else
            status = crowd ? dls_join_neighbours(reader, child, crowd) : dls_read_joint(reader, child, &none);
    }
    return status;
}

dls_status dls_read_joints(dls_reader *reader, const dls_node *joints, const dls_node *springs) {
    dls_status status = dls_join_supports(reader);
    if (!status) status = dls_join_links(reader);
    if (!status) status = read_list(reader, joints, false);
    return status ? status : read_list(reader, springs, true);
}
