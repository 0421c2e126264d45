/* Shapes, and what bodies and shapes share: materials and collision groups. */
#include "scene/read.h"

#include "base/error.h"
#include "base/vector.h"
#include "world/shape/kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct shape_text {
    const dls_node *kind, *rotation, *normal, *points, *material, *group, *collides, *ignores;
    const char *file;
    double position[3], radius, length, size[3], scale, belt[3], end;
    bool closed, flip;
} shape_text;

static void shape_defaults(void *target) {
    shape_text *text = target;
    text->scale = 1;
    text->end = -1;
}

#define AT(member) offsetof(shape_text, member)

/* The keys of a kind follow from what its row in the table of kinds needs. */
enum {
    LONG = DLS_SHAPE_LENGTH | DLS_SHAPE_OPEN_LENGTH,
    SIZED = DLS_SHAPE_EDGES | DLS_SHAPE_SEMI_AXES,
    POINTED = DLS_SHAPE_POINTS | DLS_SHAPE_CHAIN,
    NO_KEYS = 1 << 30 /* of its own */
};

static const dls_key shape_keys[] = {
    {DLS_KEY("kind", DLS_KEY_NODE, AT(kind), "", "one of the kinds in the table below", "name of a kind"),
     NULL, true, 0},
    {DLS_KEY("position", DLS_KEY_VECTOR, AT(position), "m", "of the shape in the body's frame", NULL), NULL,
     false, 0},
    {DLS_KEY("rotation", DLS_KEY_NODE, AT(rotation), "rad", "of the shape in the body's frame", "rotation"),
     "none", false, 0},
    {DLS_KEY("normal", DLS_KEY_NODE, AT(normal), "", "instead of rotation: the direction out of the solid",
             "vector"),
     "up", false, DLS_SHAPE_NORMAL},
    {DLS_KEY("radius", DLS_KEY_POSITIVE, AT(radius), "m", "radius", NULL), NULL, true, DLS_SHAPE_RADIUS},
    {DLS_KEY("length", DLS_KEY_NOT_NEGATIVE, AT(length), "m",
             "along z, above 0; of a capsule: of its axis; of a cylinder-inside 0: open and endless", NULL),
     NULL, false, LONG},
    {DLS_KEY("size", DLS_KEY_VECTOR, AT(size), "m", "edges of a box, semi-axes of an ellipsoid", NULL), NULL,
     true, SIZED},
    {DLS_KEY("points", DLS_KEY_NODE, AT(points), "m", "corners; polygon and polyhedron are their convex hull",
             "list of vectors"),
     "none", false, POINTED},
    {DLS_KEY("closed", DLS_KEY_FLAG, AT(closed), "", "whether a chain's last point joins the first", NULL),
     NULL, false, DLS_SHAPE_CHAIN},
    {DLS_KEY("file", DLS_KEY_TEXT, AT(file), "", "OBJ or STL file, beside the scene", NULL), "none", false,
     DLS_SHAPE_FILE},
    {DLS_KEY("scale", DLS_KEY_POSITIVE, AT(scale), "", "multiplies the file's lengths: 0.001 for millimetres",
             NULL),
     NULL, false, DLS_SHAPE_FILE},
    {DLS_KEY("flip", DLS_KEY_FLAG, AT(flip), "",
             "of a mesh or a chain: faces turn their other side out, segments are walked the other way",
             NULL),
     NULL, false, DLS_SHAPE_TRIANGLES | DLS_SHAPE_CHAIN},
    {DLS_KEY("belt", DLS_KEY_VECTOR, AT(belt), "m/s",
             "velocity of its surface against the shape, in the shape's frame: a conveyor", NULL),
     NULL, false, 0},
    {DLS_KEY("end", DLS_KEY_SHARE, AT(end), "",
             "of a solid's shape: where it stands, 0 at the first end, 1 at the last, or a share between",
             NULL),
     "none", false, 0},
    {DLS_KEY("material", DLS_KEY_NODE, AT(material), "", "name of a material", "name"), "the body's", false,
     0},
    {DLS_KEY("group", DLS_KEY_NODE, AT(group), "", "name of a collision group", "name"), "the body's", false,
     0},
    {DLS_KEY("collides", DLS_KEY_NODE, AT(collides), "", "groups it meets, all others pass through",
             "list of names"),
     "the body's", false, 0},
    {DLS_KEY("ignores", DLS_KEY_NODE, AT(ignores), "", "groups it passes through", "list of names"),
     "the body's", false, 0},
};

const dls_group dls_group_shape = {
    "bodies.shape",
    "a shape",
    "`shape` is one such map, `shapes` a list of them. Lengths are in the body's frame. In a generator's "
    "prototype they are multiplied by the drawn size.",
    DLS_GROUP_KEYS(shape_keys),
    sizeof(shape_text),
    shape_defaults};

/* ---- what bodies and shapes share ---- */

dls_status dls_read_material(dls_reader *reader, const dls_node *node, dls_material_id *id) {
    const char *names[1 + DLS_NODE_KEYS];
    int count = dls_world_material_count(reader->world);
    if (!node) return DLS_OK;
    if (node->kind != DLS_NODE_SCALAR)
        return dls_node_fail(node, reader->error, "material is %s, expected its name", dls_node_noun(node));
    if (count > 1 + DLS_NODE_KEYS) count = 1 + DLS_NODE_KEYS;
    for (int i = 0; i < count; i++) {
        dls_material_def def;
        dls_status status = dls_world_material(reader->world, i, &def, reader->error);
        if (status) return status;
        names[i] = def.name ? def.name : "";
    }
    int place = dls_read_name(reader, node, node->text, "material", count, names);
    if (place < 0) return DLS_ERROR_INPUT;
    *id = place;
    return DLS_OK;
}

/* The bit of a named group; bit 0 is that of shapes that name none. */
static dls_status group_bit(dls_reader *reader, const dls_node *node, uint32_t *bit) {
    if (node->kind != DLS_NODE_SCALAR)
        return dls_node_fail(node, reader->error, "a group is %s, expected its name", dls_node_noun(node));
    if (!reader->group_count)
        return dls_node_fail(node, reader->error,
                             "group '%.60s', expected the scene to list its names: groups: [...]",
                             node->text);
    int place = dls_read_name(reader, node, node->text, "group", reader->group_count, reader->groups);
    if (place < 0) return DLS_ERROR_INPUT;
    *bit = 2u << place;
    return DLS_OK;
}

static dls_status group_bits(dls_reader *reader, const dls_node *list, uint32_t *bits) {
    *bits = 0;
    if (list->kind != DLS_NODE_LIST)
        return dls_node_fail(list, reader->error, "'%s' is %s, expected a list of names", list->key,
                             dls_node_noun(list));
    for (const dls_node *child = list->first; child; child = child->next) {
        uint32_t bit = 0;
        dls_status status = group_bit(reader, child, &bit);
        if (status) return status;
        *bits |= bit;
    }
    return DLS_OK;
}

dls_status dls_read_collision(dls_reader *reader, const dls_node *group, const dls_node *collides,
                              const dls_node *ignores, dls_shape_def *def) {
    dls_status status = group ? group_bit(reader, group, &def->group) : DLS_OK;
    if (!status && collides) status = group_bits(reader, collides, &def->collides);
    uint32_t ignored = 0;
    if (!status && ignores) status = group_bits(reader, ignores, &ignored);
    if (!status && collides && ignores)
        return dls_node_fail(ignores, reader->error, "both 'collides' and 'ignores', expected one of them");
    def->collides &= ~ignored;
    return status;
}

/* ---- shapes ---- */

/* A point is a disc or sphere without a radius. */
static dls_shape_kind kind_of_points(int dimension) {
    int kind = 0;
    while (!dls_shape_table[kind].round || dls_shape_table[kind].planar != (dimension == 2)) kind++;
    return (dls_shape_kind)kind;
}

static dls_status read_kind(dls_reader *reader, const dls_node *map, dls_shape_kind *kind, bool *point) {
    const char *names[DLS_SHAPE_KINDS + 1] = {[DLS_SHAPE_KINDS] = "point"};
    for (int k = 0; k < DLS_SHAPE_KINDS; k++) names[k] = dls_shape_kind_name((dls_shape_kind)k);
    const dls_node *node = dls_node_find(map, "kind");
    if (map->kind != DLS_NODE_MAP)
        return dls_node_fail(map, reader->error,
                             "a shape is %s, expected a map like {kind: sphere, radius: 0.1}",
                             dls_node_noun(map));
    if (!node) return dls_node_fail(map, reader->error, "a shape has no 'kind', expected kind: disc, box, …");
    if (node->kind != DLS_NODE_SCALAR)
        return dls_node_fail(node, reader->error, "kind is %s, expected a name", dls_node_noun(node));
    int place = dls_read_name(reader, node, node->text, "kind of shape", DLS_SHAPE_KINDS + 1, names);
    if (place < 0) return DLS_ERROR_INPUT;
    *point = place == DLS_SHAPE_KINDS;
    *kind = *point ? kind_of_points(reader->dimension) : (dls_shape_kind)place;
    if (dls_shape_kind_is_planar(*kind) == (reader->dimension == 2)) return DLS_OK;
    dls_word_list known = {0};
    for (int k = 0; k < DLS_SHAPE_KINDS; k++)
        if (dls_shape_kind_is_planar((dls_shape_kind)k) == (reader->dimension == 2))
            dls_list_word(&known, names[k]);
    return dls_node_fail(node, reader->error, "a %s in a scene of dimension %d, expected a %s shape: %s",
                         names[place], reader->dimension, reader->dimension == 2 ? "planar" : "spatial",
                         known.text);
}

/* The rotation that turns up (y in the plane, z in space) to the given direction. */
static dls_status read_normal(dls_reader *reader, const dls_node *node, double *q) {
    double n[3], up[3] = {0}, axis[3];
    dls_status status = dls_read_vector(reader, node, "normal", n);
    if (status) return status;
    double length = vec_norm(n);
    if (!(length > 1e-100 && length < 1e100))
        return dls_node_fail(node, reader->error, "normal has length %g, expected a direction", length);
    vec_scale(n, 1 / length, n);
    up[reader->dimension - 1] = 1;
    if (reader->dimension == 2) {
        vec_set(axis, 0, 0, atan2(-n[0], n[1]));
    } else {
        vec_cross(axis, up, n);
        double sine = vec_norm(axis), angle = atan2(sine, vec_dot(up, n));
        if (sine > 0)
            vec_scale(axis, angle / sine, axis);
        else
            vec_set(axis, angle, 0, 0); /* straight down: any axis across */
    }
    quat_exponential(q, axis);
    quat_normalize(q);
    return DLS_OK;
}

static dls_status read_points(dls_reader *reader, const dls_node *list, dls_shape_def *def) {
    if (list->kind != DLS_NODE_LIST || !list->count)
        return dls_node_fail(list, reader->error, "points is %s, expected a list of vectors",
                             list->kind == DLS_NODE_LIST ? "empty" : dls_node_noun(list));
    double *points = dls_arena_take(reader->arena, (size_t)list->count * 3, sizeof(double));
    if (!points) return dls_fail_memory(reader->error);
    def->points = points;
    def->point_count = list->count;
    for (const dls_node *child = list->first; child; child = child->next, points += 3) {
        dls_status status = dls_read_vector(reader, child, "a point", points);
        if (status) return status;
    }
    return DLS_OK;
}

/* The other way round: triangles, or the points of a chain. */
static dls_status flip(dls_reader *reader, dls_shape_def *def) {
    double *points = dls_arena_take(reader->arena, 3 * (size_t)def->point_count + 1, sizeof(double));
    int *triangles = dls_arena_take(reader->arena, 3 * (size_t)def->triangle_count + 1, sizeof(int));
    if (!points || !triangles) return dls_fail_memory(reader->error);
    for (int k = 0; k < def->triangle_count; k++) {
        triangles[3 * k] = def->triangles[3 * k];
        triangles[3 * k + 1] = def->triangles[3 * k + 2];
        triangles[3 * k + 2] = def->triangles[3 * k + 1];
    }
    for (int k = 0; k < def->point_count; k++)
        vec_copy(points + 3 * k, def->points + 3 * (def->point_count - 1 - k));
    if (def->triangle_count)
        def->triangles = triangles;
    else
        def->points = points;
    return DLS_OK;
}

static dls_status read_geometry(dls_reader *reader, const dls_node *map, const shape_text *text,
                                dls_shape_def *def) {
    unsigned needs = dls_shape_table[def->kind].needs;
    bool filed = needs & DLS_SHAPE_FILE, pointed = needs & POINTED;
    const char *kind = dls_shape_kind_name(def->kind);
    if (needs & SIZED)
        for (int k = 0; k < 3; k++)
            if (!(text->size[k] > 0))
                return dls_node_fail(dls_node_find(map, "size"), reader->error,
                                     "size has %g, expected three numbers above 0", text->size[k]);
    if (needs & DLS_SHAPE_LENGTH && !(text->length > 0))
        return dls_node_fail(map, reader->error, "a %s has %slength%s, expected a number above 0 (m)", kind,
                             dls_node_find(map, "length") ? "" : "no ",
                             dls_node_find(map, "length") ? " 0" : "");
    if (text->points && text->file)
        return dls_node_fail(map, reader->error, "a %s has points and a file, expected one of them", kind);
    if (pointed && text->points) return read_points(reader, text->points, def);
    if (filed && text->file) {
        const dls_node *file = dls_node_find(map, "file");
        dls_status status = dls_mesh_file_read(reader, file, text->file, text->scale, def);
        if (status || dls_node_find(map, "scale")) return status;
        return dls_note_unscaled(reader, file, def->point_count, def->points,
                                 dls_shape_kind_is_obstacle(def->kind));
    }
    if (pointed || filed)
        return dls_node_fail(map, reader->error, "a %s has no %s", kind,
                             !filed    ? "'points', expected a list of vectors"
                             : pointed ? "'points' and no 'file', expected one of them"
                                       : "'file', expected the name of an OBJ or STL file");
    return DLS_OK;
}

dls_status dls_read_shape(dls_reader *reader, const dls_node *map, const dls_shape_def *inherited,
                          dls_shape_def *def) {
    dls_shape_kind kind = (dls_shape_kind)0;
    shape_text text;
    char noun[40];
    bool point = false;
    dls_status status = read_kind(reader, map, &kind, &point);
    if (status) return status;
    const char *name = point ? "point" : dls_shape_kind_name(kind);
    unsigned needs = dls_shape_table[kind].needs & (point ? ~(unsigned)DLS_SHAPE_RADIUS : ~0u);
    snprintf(noun, sizeof noun, "a%s %s", strchr("aeiou", *name) ? "n" : "", name);
    status = dls_read_group(reader, map, &dls_group_shape, needs ? needs : NO_KEYS, noun, &text);
    if (status) return status;
    *def = dls_default_shape_def(kind);
    def->material = inherited->material;
    def->group = inherited->group;
    def->collides = inherited->collides;
    vec_copy(def->pose.x, text.position);
    vec_copy(def->size, text.size);
    vec_copy(def->belt, text.belt);
    def->radius = text.radius;
    def->point = point;
    def->at = text.end;
    def->length = text.length;
    def->closed = text.closed;
    if (text.normal && text.rotation)
        return dls_node_fail(text.normal, reader->error,
                             "both 'normal' and 'rotation', expected one of them");
    if (text.normal)
        status = read_normal(reader, text.normal, def->pose.q);
    else
        status = dls_read_rotation(reader, text.rotation, def->pose.q);
    if (!status) status = read_geometry(reader, map, &text, def);
    if (!status && text.flip) status = flip(reader, def);
    if (!status) status = dls_read_material(reader, text.material, &def->material);
    if (!status) status = dls_read_collision(reader, text.group, text.collides, text.ignores, def);
    return status;
}
