/* Supports: surfaces of bodies of elements, held by a joint for each of their nodes. */
#include "scene/joints/joints.h"
#include "scene/mesh/mesh.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <delassus/solid.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct support_text {
    const char *name, *surface;
    const dls_node *box, *hold, *to;
} support_text;

#define AT(member) offsetof(support_text, member)

static const dls_key support_keys[] = {
    {DLS_KEY("name", DLS_KEY_TEXT, AT(name), "", "its joints are called BODY NAME-0, BODY NAME-1, …", NULL),
     "support", false, 0},
    {DLS_KEY("surface", DLS_KEY_TEXT, AT(surface), "",
             "nodes that it holds: x-, x+, y-, y+, z- or z+ of the cells of a box, z- or z+ of a cylinder's; "
             "of a "
             "mesh from a file the name of a physical group, or its number",
             NULL),
     "none", false, 0},
    {DLS_KEY("box", DLS_KEY_NODE, AT(box), "m",
             "instead: those in a box of the body's frame, as it is at rest", "[[x, y, z], [x, y, z]]"),
     "none", false, 0},
    {DLS_KEY("hold", DLS_KEY_NODE, AT(hold), "", "along which of the world's axes at the start",
             "list of x, y, z"),
     "all three", false, 0},
    {DLS_KEY("to", DLS_KEY_NODE, AT(to), "",
             "what it is held to: the ground, or a body, which may be driven by functions of time", "name"),
     "ground", false, 0},
};

const dls_group dls_group_support = {"bodies.supports",
                                     "a support",
                                     "Entries of a body's `supports` hold nodes of a solid of elements, one "
                                     "joint for each: spherical where three axes "
                                     "are held, a point on a line where two, on a plane where one. What a "
                                     "support is held to does not touch the "
                                     "solid. `delassus analyze supports` adds up their reactions.",
                                     DLS_GROUP_KEYS(support_keys),
                                     sizeof(support_text),
                                     NULL};

dls_status dls_note_supports(dls_reader *reader, const dls_node *list, const dls_element_file *file,
                             dls_body_id id) {
    if (!list) return DLS_OK;
    if (list->kind != DLS_NODE_LIST)
        return dls_node_fail(list, reader->error, "supports is %s, expected a list, each entry with a dash",
                             dls_node_noun(list));
    if (!dls_solid_element_nodes(reader->world, id))
        return dls_node_fail(list, reader->error, "supports of a body without elements, expected joints");
    dls_supports *note = dls_arena_take(reader->arena, 1, sizeof *note);
    if (!note) return dls_fail_memory(reader->error);
    *note = (dls_supports){id, list, file, NULL};
    if (reader->last_supports)
        reader->last_supports->next = note;
    else
        reader->supports = note;
    reader->last_supports = note;
    return DLS_OK;
}

/* ---- which nodes ---- */

static dls_status read_box(dls_reader *reader, const dls_node *node, double *low, double *high) {
    if (node->kind != DLS_NODE_LIST || node->count != 2)
        return dls_node_fail(node, reader->error, "box is %s, expected two corners: [[x, y, z], [x, y, z]]",
                             dls_node_noun(node));
    dls_status status = dls_read_vector(reader, node->first, "box", low);
    if (!status) status = dls_read_vector(reader, node->last, "box", high);
    for (int k = 0; k < 3 && !status; k++)
        if (!(low[k] <= high[k]))
            status =
                dls_node_fail(node, reader->error, "box reaches from %g to %g m along %c, expected low first",
                              low[k], high[k], "xyz"[k]);
    return status;
}

/* Bit of a side of cells, −1: the name is none. */
static int side_of(const char *name) {
    static const char *const sides[] = {"x-", "x+", "y-", "y+", "z-", "z+"};
    for (int k = 0; k < 6; k++)
        if (!strcmp(sides[k], name)) return k;
    return -1;
}

static dls_status mark_set(dls_reader *reader, const dls_node *node, const dls_supports *of, const char *name,
                           bool *held) {
    char hint[100];
    bool found = false;
    dls_nearest nearest = dls_nearest_begin(name);
    for (int k = 0; of->file && k < of->file->set_count; k++) {
        const dls_node_set *set = &of->file->sets[k];
        dls_nearest_offer(&nearest, set->name);
        if (strcmp(set->name, name) != 0) continue;
        for (int i = 0; i < set->count; i++) held[set->nodes[i]] = true;
        found = true;
    }
    if (found) return DLS_OK;
    dls_nearest_hint(&nearest, hint, sizeof hint);
    return dls_node_fail(node, reader->error, "no surface '%.60s'%s", name,
                         *hint      ? hint
                         : of->file ? ", expected a physical group of the mesh"
                                    : ", expected x-, x+, y-, y+, z- or z+");
}

/* Which nodes are held, and how many. */
static dls_status mark_nodes(dls_reader *reader, const dls_node *map, const support_text *text,
                             const dls_supports *of, bool *held, int *count) {
    double low[3], high[3], X[3];
    unsigned sides;
    int nodes = dls_solid_element_nodes(reader->world, of->id),
        side = text->surface ? side_of(text->surface) : -1;
    dls_status status = DLS_OK;
    if (text->surface && (of->file || side < 0))
        status = mark_set(reader, dls_node_find(map, "surface"), of, text->surface, held);
    if (text->box) status = read_box(reader, text->box, low, high);
    for (int i = 0; i < nodes && !status; i++) {
        bool in = true;
        status = dls_solid_element_node(reader->world, of->id, i, X, &sides, reader->error);
        for (int k = 0; k < 3 && text->box && !status; k++) in &= X[k] >= low[k] && X[k] <= high[k];
        if (!of->file && side >= 0) in = sides >> side & 1;
        if (text->box || (!of->file && side >= 0)) held[i] = in;
        *count += held[i];
    }
    if (status || *count) return status;
    return dls_node_fail(map, reader->error, "a support without nodes, expected some %s",
                         text->box ? "in its box" : "there");
}

/* ---- joints ---- */

static dls_status read_hold(dls_reader *reader, const dls_node *list, bool *hold) {
    static const char *const names[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) hold[k] = !list;
    if (!list) return DLS_OK;
    if (list->kind != DLS_NODE_LIST || !list->count)
        return dls_node_fail(list, reader->error, "hold is %s, expected a list like [x, z]",
                             list->kind == DLS_NODE_LIST ? "empty" : dls_node_noun(list));
    for (const dls_node *child = list->first; child; child = child->next) {
        if (child->kind != DLS_NODE_SCALAR)
            return dls_node_fail(child, reader->error, "an axis is %s, expected x, y or z",
                                 dls_node_noun(child));
        int axis = dls_read_name(reader, child, child->text, "axis", 3, names);
        if (axis < 0) return DLS_ERROR_INPUT;
        hold[axis] = true;
    }
    return DLS_OK;
}

/* The kind that holds these axes, and its own axis: the free one, or the held one. */
static dls_joint_kind kind_of(const bool *hold, double *axis) {
    int held = hold[0] + hold[1] + hold[2];
    vec_set(axis, 1, 0, 0);
    for (int k = 0; k < 3 && held < 3; k++)
        if (hold[k] == (held == 1)) vec_set(axis, k == 0, k == 1, k == 2);
    return held == 3 ? DLS_JOINT_SPHERICAL : held == 2 ? DLS_JOINT_POINT_ON_LINE : DLS_JOINT_POINT_ON_PLANE;
}

static dls_status join_node(dls_reader *reader, const dls_node *map, dls_body_id id, dls_body_id to, int node,
                            const bool *hold, const char *name) {
    double X[3], R[9], axis[3];
    const double second[3] = {0, 1, 0};
    unsigned sides;
    dls_pose pose;
    dls_joint_def def = dls_default_joint_def(kind_of(hold, axis));
    dls_status status = dls_solid_element_node(reader->world, id, node, X, &sides, reader->error);
    if (!status) status = dls_body_pose_get(reader->world, id, &pose, reader->error);
    if (status) return status;
    quat_matrix(pose.q, R);
    mat_apply(X, R, X);
    vec_add(X, X, pose.x);
    def.body[0] = to, def.body[1] = id;
    def.name = name;
    status = dls_joint_place(reader->world, &def, X, axis, axis[1] > 0 ? NULL : second, reader->error);
    return status ? dls_read_blame(map, reader->error) : dls_add_read_joint(reader, map, &def);
}

static dls_status join_support(dls_reader *reader, const dls_node *map, const dls_supports *of, bool *held) {
    support_text text;
    bool hold[3];
    dls_body_id to = DLS_GROUND;
    int count = 0;
    dls_status status = dls_read_group(reader, map, &dls_group_support, 0, NULL, &text);
    if (status) return status;
    if (!text.surface == !text.box)
        return dls_node_fail(map, reader->error, "%s surface %s box, expected one of them",
                             text.box ? "both" : "neither", text.box ? "and" : "nor");
    if (text.to) status = dls_read_body_name(reader, text.to, &to);
    if (!status && to == of->id)
        return dls_node_fail(text.to, reader->error, "a body that is held to itself, expected another");
    if (!status) status = read_hold(reader, text.hold, hold);
    if (!status) status = mark_nodes(reader, map, &text, of, held, &count);
    int nodes = dls_solid_element_nodes(reader->world, of->id), number = 0;
    for (int i = 0; i < nodes && !status; i++) {
        char name[200];
        if (!held[i]) continue;
        snprintf(name, sizeof name, "%.80s %.80s-%d", dls_body_name(reader->world, of->id),
                 text.name ? text.name : "support", number++);
        status = join_node(reader, map, of->id, to, i, hold, name);
    }
    return status;
}

dls_status dls_join_supports(dls_reader *reader) {
    dls_status status = DLS_OK;
    for (const dls_supports *of = reader->supports; of && !status; of = of->next)
        for (const dls_node *map = of->list->first; map && !status; map = map->next) {
            bool *held = DLS_NEW_ZERO(bool, dls_solid_element_nodes(reader->world, of->id));
            status = held ? join_support(reader, map, of, held) : dls_fail_memory(reader->error);
            dls_free(held);
        }
    return status;
}
