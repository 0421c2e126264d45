/* The world in a results file: bodies, shapes with their geometry, materials, as rows that only grow. */
#include "world/world.h"

#include "base/error.h"
#include "base/memory.h"
#include "output/results/results.h"

#include <math.h>
#include <string.h>

/* All names of a table are as wide as its longest: one without measure would make a file without measure. */
enum { MOST_NAME = 1023 };

size_t dls_writer_name_size(const dls_world *world) {
    size_t longest = 31;
    for (int id = 0; id < dls_world_body_count(world); id++) {
        size_t length = strlen(dls_body_name(world, id));
        if (length > longest) longest = length;
    }
    for (int id = 0; id < dls_world_material_count(world); id++) {
        dls_material_def def;
        if (!dls_world_material(world, id, &def, NULL) && strlen(def.name) > longest)
            longest = strlen(def.name);
    }
    for (int id = 0; id < dls_world_joint_count(world); id++) {
        size_t length = strlen(dls_joint_name(world, id));
        if (length > longest) longest = length;
    }
    return ((longest < MOST_NAME ? longest : MOST_NAME) / 16 + 1) * 16;
}

/* ---- rows, held back until there are enough to be worth a call of HDF5 ---- */

enum { HELD_BYTES = 1 << 16 };

static bool release_rows(dls_results_writer *w, int table) {
    dls_held_rows *held = &w->held[table];
    int count = held->count;
    held->count = 0;
    return dls_table_append(&w->tables[table], count, held->rows);
}

static bool add_row(dls_results_writer *w, int table, const void *row) {
    dls_held_rows *held = &w->held[table];
    size_t size = w->tables[table].row_size;
    int room = size < HELD_BYTES ? (int)(HELD_BYTES / size) : 1;
    if (!held->rows && !(held->rows = dls_alloc((size_t)room, size))) return false;
    if (held->count == room && !release_rows(w, table)) return false;
    memcpy(held->rows + (size_t)held->count++ * size, row, size);
    return true;
}

static bool add_rows(dls_results_writer *w, int table, int count, const void *rows) {
    size_t size = w->tables[table].row_size;
    if ((size_t)count * size >= HELD_BYTES)
        return release_rows(w, table) && dls_table_append(&w->tables[table], count, rows);
    for (int k = 0; k < count; k++)
        if (!add_row(w, table, (const char *)rows + (size_t)k * size)) return false;
    return true;
}

static int64_t row_count(const dls_results_writer *w, int table) {
    return w->tables[table].rows + w->held[table].count;
}

/* A name that came later than the file, or one beyond all measure, is cut where it is too long, not within a
 * letter. */
static bool add_name(dls_results_writer *w, int table, const char *name) {
    size_t length = strlen(name);
    if (length > w->name_size)
        for (length = w->name_size; length > 0 && (name[length] & 0xc0) == 0x80;) length--;
    memset(w->column, 0, w->name_size);
    memcpy(w->column, name, length);
    return add_row(w, table, w->column);
}

/* ---- materials ---- */

static bool add_pairs(dls_results_writer *w, int b) {
    for (int a = 0; a <= b; a++) {
        dls_pair_row row;
        memset(&row, 0, sizeof row);
        row.a = a;
        row.b = b;
        dls_world_pair(w->world, a, b, &row.pair, &row.stated, NULL);
        if (!add_row(w, DLS_TABLE_PAIRS, &row)) return false;
    }
    return true;
}

static bool add_material(dls_results_writer *w, int id) {
    dls_material_def def = dls_default_material_def();
    dls_world_material(w->world, id, &def, NULL);
    dls_material_row row = {def.density, def.mu, def.e_n, def.e_t, def.cohesion, def.turning};
    return add_name(w, DLS_TABLE_MATERIAL_NAMES, def.name ? def.name : "") && add_pairs(w, id) &&
           add_row(w, DLS_TABLE_MATERIALS, &row);
}

/* ---- shapes ---- */

/* Faces of a hull as fans of triangles. */
static bool add_faces(dls_results_writer *w, const dls_hull *hull, int32_t *count) {
    *count = 0;
    for (int face = 0; face < hull->face_count; face++) {
        const int *corner = hull->face_vertex + hull->face_start[face];
        int corners = hull->face_start[face + 1] - hull->face_start[face];
        for (int k = 1; k + 1 < corners; k++, ++*count) {
            int32_t triangle[3] = {corner[0], corner[k], corner[k + 1]};
            if (!add_row(w, DLS_TABLE_TRIANGLES, triangle)) return false;
        }
    }
    return true;
}

static bool add_geometry(dls_results_writer *w, const dls_shape_def *def, const dls_hull *hull,
                         dls_shape_row *row) {
    row->point_start = row_count(w, DLS_TABLE_POINTS);
    row->triangle_start = row_count(w, DLS_TABLE_TRIANGLES);
    row->point_count = def->point_count;
    row->triangle_count = def->triangle_count;
    if (!add_rows(w, DLS_TABLE_POINTS, def->point_count, def->points)) return false;
    if (def->triangle_count) return add_rows(w, DLS_TABLE_TRIANGLES, def->triangle_count, def->triangles);
    bool has_faces = def->point_count && hull && hull->edge_count; /* a polygon has none, a box no points */
    return !has_faces || add_faces(w, hull, &row->triangle_count);
}

static bool add_shape(dls_results_writer *w, int id, int index) {
    dls_shape_def def;
    dls_shape_row row;
    if (dls_body_shape(w->world, id, index, &def, NULL)) return false;
    memset(&row, 0, sizeof row);
    row.body = id;
    row.kind = def.kind;
    row.pose = def.pose;
    row.radius = def.radius;
    row.length = def.length;
    memcpy(row.size, def.size, sizeof row.size);
    row.material = def.material;
    row.group = def.group;
    row.collides = def.collides;
    row.closed = def.closed;
    row.at = def.at;
    return add_geometry(w, &def, dls_world_shapes(w->world, id)[index].hull, &row) &&
           add_row(w, DLS_TABLE_SHAPES, &row);
}

/* ---- bodies ---- */

static bool add_body(dls_results_writer *w, int id) {
    dls_body_row row;
    memset(&row, 0, sizeof row);
    row.motion = dls_body_motion(w->world, id);
    row.radius = dls_world_body(w->world, id)->radius;
    row.shape_start = (int32_t)row_count(w, DLS_TABLE_SHAPES);
    row.shape_count = dls_body_shape_count(w->world, id);
    dls_body_mass_get(w->world, id, &row.mass, NULL);
    for (int k = 0; k < row.shape_count; k++)
        if (!add_shape(w, id, k)) return false;
    return add_name(w, DLS_TABLE_BODY_NAMES, dls_body_name(w->world, id)) &&
           add_row(w, DLS_TABLE_BODIES, &row);
}

/* ---- joints ---- */

dls_joint_def_row dls_joint_def_row_of(const dls_joint_def *def) {
    dls_joint_def_row row;
    memset(&row, 0, sizeof row);
    row.kind = def->kind;
    for (int side = 0; side < 2; side++) {
        row.body[side] = def->body[side];
        row.frame[side] = def->frame[side];
    }
    row.length = def->length;
    row.ratio = def->ratio;
    row.radius = def->radius;
    row.cone = def->cone;
    row.break_force = def->break_force;
    row.break_torque = def->break_torque;
    row.rope = def->rope;
    row.conserving = def->conserving;
    row.collide = def->collide;
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        const dls_freedom_def *f = &def->freedom[k];
        row.one_sided[k] = f->one_sided;
        row.p[k] = f->p, row.d[k] = f->d, row.i[k] = f->i;
        row.max_force[k] = f->max_force;
        row.stiffness[k] = f->stiffness, row.damping[k] = f->damping, row.rest[k] = f->rest;
        row.low[k] = f->low, row.high[k] = f->high, row.restitution[k] = f->restitution;
        row.friction[k] = f->friction;
        row.friction_mu[k] = f->friction_mu, row.friction_radius[k] = f->friction_radius;
    }
    return row;
}

dls_joint_def dls_joint_def_of(const dls_joint_def_row *row) {
    dls_joint_def def = {.kind = (dls_joint_kind)row->kind,
                         .body = {row->body[0], row->body[1]},
                         .frame = {row->frame[0], row->frame[1]},
                         .length = row->length,
                         .rope = row->rope,
                         .ratio = row->ratio,
                         .radius = row->radius,
                         .cone = row->cone,
                         .conserving = row->conserving,
                         .collide = row->collide,
                         .break_force = row->break_force,
                         .break_torque = row->break_torque};
    for (int k = 0; k < DLS_FREEDOMS; k++)
        def.freedom[k] = (dls_freedom_def){.p = row->p[k],
                                           .d = row->d[k],
                                           .i = row->i[k],
                                           .max_force = row->max_force[k],
                                           .stiffness = row->stiffness[k],
                                           .damping = row->damping[k],
                                           .rest = row->rest[k],
                                           .one_sided = row->one_sided[k],
                                           .low = row->low[k],
                                           .high = row->high[k],
                                           .restitution = row->restitution[k],
                                           .friction = row->friction[k],
                                           .friction_mu = row->friction_mu[k],
                                           .friction_radius = row->friction_radius[k]};
    return def;
}

static bool add_joint(dls_results_writer *w, int id) {
    dls_joint_def def;
    if (dls_joint_get(w->world, id, &def, NULL)) return false;
    dls_joint_def_row row = dls_joint_def_row_of(&def);
    return add_name(w, DLS_TABLE_JOINT_NAMES, dls_joint_name(w->world, id)) &&
           add_row(w, DLS_TABLE_JOINTS, &row);
}

bool dls_writer_has_joints(const dls_results_writer *w) { return w->tables[DLS_TABLE_JOINTS].rows > 0; }

dls_status dls_writer_add_world(dls_results_writer *w, dls_error *error) {
    int bodies = dls_world_body_count(w->world), materials = dls_world_material_count(w->world),
        joints = dls_world_joint_count(w->world);
    int64_t known_bodies = w->tables[DLS_TABLE_BODIES].rows,
            known_materials = w->tables[DLS_TABLE_MATERIALS].rows,
            known_joints = w->tables[DLS_TABLE_JOINTS].rows;
    if (known_bodies == bodies && known_materials == materials && known_joints == joints) return DLS_OK;
    for (int id = (int)known_materials; id < materials; id++)
        if (!add_material(w, id)) return dls_writer_fail(w, error);
    for (int id = (int)known_bodies; id < bodies; id++)
        if (!add_body(w, id)) return dls_writer_fail(w, error);
    for (int id = (int)known_joints; id < joints; id++)
        if (!add_joint(w, id)) return dls_writer_fail(w, error);
    for (int table = 0; table < DLS_TABLE_STATES; table++)
        if (!release_rows(w, table)) return dls_writer_fail(w, error);
    return dls_writer_flush(w, error); /* before any frame that speaks of them */
}
