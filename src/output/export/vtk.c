/* Results as files of VTK: run.pvd, and for every frame the bodies' surfaces, the force chains and the
 * joints. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "output/export/surface.h"
#include "output/results/results.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- a file of polygons, lines and single points, arrays behind the XML as raw bytes ---- */

typedef struct bytes {
    char *data;
    size_t size;
    int64_t room;
    bool is_out_of_memory;
} bytes;

static void put(bytes *b, const void *data, size_t size) {
    int64_t used = (int64_t)b->size;
    if (!DLS_RESERVE(b->data, used, b->room, used + (int64_t)size)) {
        b->is_out_of_memory = true;
        return;
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void put_int(bytes *b, int value) { put(b, &(int32_t){value}, sizeof(int32_t)); }
static void put_real(bytes *b, double value) { put(b, &value, sizeof value); }
static void put_floats(bytes *b, int count, const double *values) {
    for (int k = 0; k < count; k++) put(b, &(float){(float)values[k]}, sizeof(float));
}

typedef struct array {
    const char *name, *type;
    int width;
    size_t size; /* of a number */
    bytes values;
} array;

enum {
    POINTS,
    SPOTS,
    SPOT_ENDS,
    LINES,
    LINE_ENDS,
    POLYGONS,
    POLYGON_ENDS,
    FIRST_DATA,
    MOST_ARRAYS = FIRST_DATA + 11
};

/* What goes into one .vtp; arrays from FIRST_DATA on belong to cells. */
typedef struct poly_data {
    int array_count;
    array arrays[MOST_ARRAYS];
} poly_data;

static void clear(poly_data *p) {
    for (int k = 0; k < p->array_count; k++) p->arrays[k].values.size = 0;
}

static void release(poly_data *p) {
    for (int k = 0; k < p->array_count; k++) dls_free(p->arrays[k].values.data);
}

static bool is_out_of_memory(const poly_data *p) {
    for (int k = 0; k < p->array_count; k++)
        if (p->arrays[k].values.is_out_of_memory) return true;
    return false;
}

static size_t length(const array *a) { return a->values.size / (a->size * (size_t)a->width); }

static void print_arrays(FILE *out, const poly_data *p, const char *group, int first, int end,
                         uint64_t *offset) {
    fprintf(out, "<%s>\n", group);
    for (int k = first; k < end; k++) {
        const array *a = &p->arrays[k];
        fprintf(out,
                "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
                "offset=\"%" PRIu64 "\"/>\n",
                a->type, a->name, a->width, *offset);
        *offset += sizeof(uint64_t) + a->values.size;
    }
    fprintf(out, "</%s>\n", group);
}

static void print_poly_data(FILE *out, const poly_data *p) {
    uint64_t offset = 0;
    fprintf(out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
            "byte_order=\"%s\" header_type=\"UInt64\">\n<PolyData>\n<Piece NumberOfPoints=\"%zu\" "
            "NumberOfVerts=\"%zu\" NumberOfLines=\"%zu\" NumberOfStrips=\"0\" NumberOfPolys=\"%zu\">\n",
            *(const char *)&(int){1} ? "LittleEndian" : "BigEndian", length(&p->arrays[POINTS]),
            length(&p->arrays[SPOT_ENDS]), length(&p->arrays[LINE_ENDS]), length(&p->arrays[POLYGON_ENDS]));
    print_arrays(out, p, "Points", POINTS, SPOTS, &offset);
    print_arrays(out, p, "Verts", SPOTS, LINES, &offset);
    print_arrays(out, p, "Lines", LINES, POLYGONS, &offset);
    print_arrays(out, p, "Polys", POLYGONS, FIRST_DATA, &offset);
    print_arrays(out, p, "CellData", FIRST_DATA, p->array_count, &offset);
    fprintf(out, "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
    for (int k = 0; k < p->array_count; k++) {
        fwrite(&(uint64_t){p->arrays[k].values.size}, 1, sizeof(uint64_t), out);
        if (p->arrays[k].values.size) fwrite(p->arrays[k].values.data, 1, p->arrays[k].values.size, out);
    }
    fprintf(out, "\n</AppendedData>\n</VTKFile>\n");
}

static dls_status write_poly_data(const poly_data *p, const char *folder, const char *kind, int frame,
                                  dls_error *error) {
    char name[48];
    snprintf(name, sizeof name, "%s_%05d.vtp", kind, frame);
    char *path = is_out_of_memory(p) ? NULL : dls_path_join(folder, name);
    if (!path) return dls_fail_memory(error);
    dls_aside *aside;
    dls_status status = dls_aside_open(path, &aside, error);
    dls_free(path);
    if (status) return status;
    FILE *out = dls_aside_stream(aside);
    print_poly_data(out, p);
    return dls_aside_commit(aside, false, error);
}

/* ---- the export ---- */

typedef struct vtk_export {
    dls_results *results;
    const char *folder;
    int sides;               /* of circles */
    double centre[3], reach; /* of all that moves, for what has no end */
    dls_body_state *states;
    bool *present;
    int *first_node;             /* of each body; −1: it has none */
    bool *is_skin;               /* whether these are points of its skin, */
    double *stress;              /* von Mises's and the principal ones at each node, 4 numbers */
    dls_gradient_record *deform; /* of each body that has one, by ascending body */
    int deform_count;
    dls_surface surface;
    poly_data bodies, contacts, joints;
} vtk_export;

#define FLOATS(name, width)                                                                                  \
    {                                                                                                        \
        name, "Float32", width, sizeof(float), { 0 }                                                         \
    }
#define REALS(name, width)                                                                                   \
    {                                                                                                        \
        name, "Float64", width, sizeof(double), { 0 }                                                        \
    }
#define INTS(name)                                                                                           \
    {                                                                                                        \
        name, "Int32", 1, sizeof(int32_t), { 0 }                                                             \
    }
#define CELL_SORT INTS("connectivity"), INTS("offsets")
#define CELLS     CELL_SORT, CELL_SORT, CELL_SORT

enum {
    BODY = FIRST_DATA,
    MATERIAL,
    OBSTACLE,
    SPEED,
    VELOCITY,
    ANGULAR_VELOCITY,
    VON_MISES,
    PRINCIPAL_STRESS,
    BODY_ARRAYS
};
enum {
    BODY_A = FIRST_DATA,
    BODY_B,
    GAP,
    NORMAL_IMPULSE,
    IMPULSE,
    NORMAL_FORCE,
    FORCE,
    FORCE_VECTOR,
    SLIP,
    TORQUE,
    TORQUE_VECTOR,
    CONTACT_ARRAYS
};

enum {
    JOINT = FIRST_DATA,
    JOINT_KIND,
    JOINT_A,
    JOINT_B,
    JOINT_GAP,
    JOINT_FORCE,
    JOINT_FORCE_VECTOR,
    JOINT_TORQUE,
    JOINT_TORQUE_VECTOR,
    JOINT_POWER,
    JOINT_LOSS,
    JOINT_ARRAYS
};

static void describe_files(vtk_export *x) {
    x->bodies = (poly_data){BODY_ARRAYS,
                            {FLOATS("points", 3), CELLS, INTS("body"), INTS("material"), INTS("obstacle"),
                             FLOATS("speed", 1), FLOATS("velocity", 3), FLOATS("angular_velocity", 3),
                             FLOATS("von_mises", 1), FLOATS("principal_stress", 3)}};
    x->contacts = (poly_data){CONTACT_ARRAYS,
                              {REALS("points", 3), CELLS, INTS("body_a"), INTS("body_b"), REALS("gap", 1),
                               REALS("normal_impulse", 1), REALS("impulse", 1), REALS("normal_force", 1),
                               REALS("force", 1), REALS("force_vector", 3), REALS("slip_speed", 1),
                               REALS("torque", 1), REALS("torque_vector", 3)}};
    x->joints =
        (poly_data){JOINT_ARRAYS,
                    {REALS("points", 3), CELLS, INTS("joint"), INTS("kind"), INTS("body_a"), INTS("body_b"),
                     REALS("gap", 1), REALS("force", 1), REALS("force_vector", 3), REALS("torque", 1),
                     REALS("torque_vector", 3), REALS("power", 1), REALS("loss", 1)}};
}

/* ---- bodies ---- */

/* Where the middle of all that moves lies in the frame of a shape. */
static void find_middle(const vtk_export *x, const dls_body_state *state, const dls_shape_def *shape,
                        double *middle) {
    double R[9];
    vec_sub(middle, x->centre, state->x);
    quat_matrix(state->q, R);
    mat_apply_transposed(middle, R, middle);
    vec_sub(middle, middle, shape->pose.x);
    quat_matrix(shape->pose.q, R);
    mat_apply_transposed(middle, R, middle);
}

/* R of a rigid body, F of one that deforms alike everywhere. */
static void find_axes(const vtk_export *x, int id, double *axes) {
    int low = 0, high = x->deform_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (x->deform[middle].body < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < x->deform_count && x->deform[low].body == id)
        memcpy(axes, x->deform[low].F, sizeof x->deform[low].F);
    else
        quat_matrix(x->states[id].q, axes);
}

static void put_points(vtk_export *x, int id, const dls_shape_def *shape) {
    const dls_body_state *state = &x->states[id];
    double body[9], own[9];
    find_axes(x, id, body);
    quat_matrix(shape->pose.q, own);
    for (int k = 0; k < x->surface.point_count; k++) {
        double p[3];
        mat_apply(p, own, x->surface.points + 3 * (size_t)k);
        vec_add(p, p, shape->pose.x);
        mat_apply(p, body, p);
        vec_add(p, p, state->x);
        put_floats(&x->bodies.arrays[POINTS].values, 3, p);
    }
}

static const double unstressed[4];

static void put_cell_data(vtk_export *x, int id, const dls_shape_def *shape, const double *stress) {
    array *a = x->bodies.arrays;
    const dls_body_state *state = &x->states[id];
    put_int(&a[BODY].values, id);
    put_int(&a[MATERIAL].values, shape->material);
    put_int(&a[OBSTACLE].values, dls_shape_kind_is_obstacle(shape->kind));
    put_floats(&a[SPEED].values, 1, &(double){vec_norm(state->v)});
    put_floats(&a[VELOCITY].values, 3, state->v);
    put_floats(&a[ANGULAR_VELOCITY].values, 3, state->w);
    put_floats(&a[VON_MISES].values, 1, stress);
    put_floats(&a[PRINCIPAL_STRESS].values, 3, stress + 1);
}

/* Cells of one sort; VTK counts lines before polygons, and so does the data of cells. */
static void put_cells(vtk_export *x, bool lines, int first_point, int id, const dls_shape_def *shape) {
    array *a = x->bodies.arrays;
    bytes *corners = &a[lines ? LINES : POLYGONS].values, *ends = &a[lines ? LINE_ENDS : POLYGON_ENDS].values;
    const int *corner = x->surface.corners;
    for (int k = 0; k < x->surface.cell_count; k++) {
        int size = x->surface.cell_size[k], count = size < 0 ? -size : size;
        if ((size < 0) == lines) {
            for (int i = 0; i < count; i++) put_int(corners, first_point + corner[i]);
            put_int(ends, (int)(corners->size / sizeof(int32_t)));
            put_cell_data(x, id, shape, unstressed);
        }
        corner += count;
    }
}

/* The shape whose points are the nodes of a solid; false of a line. */
static bool find_skin(const vtk_export *x, int id, int nodes, dls_shape_def *skin) {
    return x->results->bodies[id].shape_count == 1 &&
           !dls_results_body_shape(x->results, id, 0, skin, NULL) && skin->triangle_count > 0 &&
           skin->point_count == nodes;
}

/* Its triangles, with the mean of the stresses at their corners. */
static void put_skin(vtk_export *x, int id) {
    array *a = x->bodies.arrays;
    int first = x->first_node[id];
    dls_shape_def skin;
    if (dls_results_body_shape(x->results, id, 0, &skin, NULL)) return;
    for (int k = 0; x->is_skin[id] && k < skin.triangle_count; k++) {
        double stress[4] = {0};
        for (int i = 0; i < 3; i++) {
            put_int(&a[POLYGONS].values, first + skin.triangles[3 * k + i]);
            for (int m = 0; m < 4; m++)
                stress[m] += x->stress[4 * ((int64_t)first + skin.triangles[3 * k + i]) + m] / 3;
        }
        put_int(&a[POLYGON_ENDS].values, (int)(a[POLYGONS].values.size / sizeof(int32_t)));
        put_cell_data(x, id, &skin, stress);
    }
}

/* Nodes of one solid as points; those of a line as a line through them. */
static void put_nodes(vtk_export *x, const dls_node_record *nodes, int first, int count) {
    array *a = x->bodies.arrays;
    int id = nodes[first].body;
    dls_shape_def skin;
    x->first_node[id] = first;
    x->is_skin[id] = find_skin(x, id, count, &skin);
    for (int k = first; k < first + count; k++) {
        put_floats(&a[POINTS].values, 3, nodes[k].x);
        x->stress[4 * (int64_t)k] = nodes[k].von_mises;
        vec_copy(x->stress + 4 * (int64_t)k + 1, nodes[k].principal);
        if (!x->is_skin[id]) put_int(&a[LINES].values, k);
    }
    if (x->is_skin[id]) return;
    put_int(&a[LINE_ENDS].values, (int)(a[LINES].values.size / sizeof(int32_t)));
    put_cell_data(x, id, &(dls_shape_def){.kind = (dls_shape_kind)0}, unstressed);
}

/* Solids come before shapes; how many points they took. */
static dls_status put_solids(vtk_export *x, int frame, int *points, dls_error *error) {
    int count = dls_results_frame_node_count(x->results, frame);
    dls_node_record *nodes = DLS_NEW(dls_node_record, count);
    x->deform_count = dls_results_frame_gradient_count(x->results, frame);
    x->deform = DLS_NEW(dls_gradient_record, x->deform_count);
    x->stress = DLS_NEW(double, 4 * (int64_t)count);
    dls_status status = nodes && x->deform && x->stress
                            ? dls_results_frame_nodes(x->results, frame, nodes, error)
                            : dls_fail_memory(error);
    if (!status) status = dls_results_frame_gradients(x->results, frame, x->deform, error);
    for (int id = 0; id < x->results->body_count; id++) x->first_node[id] = -1;
    *points = count;
    for (int first = 0, end; first < count && !status; first = end) {
        for (end = first + 1; end < count && nodes[end].body == nodes[first].body; end++) continue;
        put_nodes(x, nodes, first, end - first);
    }
    dls_free(nodes);
    return status;
}

static void free_solids(vtk_export *x) {
    dls_free(x->deform);
    dls_free(x->stress);
    x->deform = NULL, x->stress = NULL;
}

/* One pass for the lines and the points, one for the polygons. */
static dls_status put_shapes(vtk_export *x, bool lines, int first_point, dls_error *error) {
    dls_results *r = x->results;
    for (int id = 0; id < r->body_count; id++) {
        if (x->first_node[id] >= 0) {
            if (!lines) put_skin(x, id);
            continue; /* where shapes stand on a line, results do not say */
        }
        for (int k = 0; x->present[id] && k < r->bodies[id].shape_count; k++) {
            dls_shape_def shape;
            double middle[3];
            dls_status status = dls_results_body_shape(r, id, k, &shape, error);
            if (status) return status;
            find_middle(x, &x->states[id], &shape, middle);
            dls_surface_clear(&x->surface);
            dls_surface_add(&x->surface, &shape, x->sides, x->reach, middle);
            if (lines) put_points(x, id, &shape);
            put_cells(x, lines, first_point, id, &shape);
            first_point += x->surface.point_count;
        }
    }
    return x->surface.is_out_of_memory ? dls_fail_memory(error) : DLS_OK;
}

static dls_status export_bodies(vtk_export *x, int frame, dls_error *error) {
    clear(&x->bodies);
    int nodes = 0;
    dls_status status = put_solids(x, frame, &nodes, error);
    if (!status) status = put_shapes(x, true, nodes, error);
    if (!status) status = put_shapes(x, false, nodes, error);
    free_solids(x);
    return status ? status : write_poly_data(&x->bodies, x->folder, "bodies", frame, error);
}

/* ---- force chains ---- */

/* A chain runs between the centres of bodies that move; on others it ends at the contact. */
static void find_end(const vtk_export *x, int id, const double *point, double *end) {
    bool moves = dls_results_body_motion(x->results, id) == DLS_DYNAMIC && x->present[id];
    vec_copy(end, moves ? x->states[id].x : point);
}

static void put_contact(vtk_export *x, const dls_contact_row *row, double h) {
    const dls_contact_record *c = &row->record;
    const double *period = x->results->world.period_size;
    array *a = x->contacts.arrays;
    double from[3], to[3], force[3], per = h > 0 ? 1 / h : 0;
    find_end(x, c->body_a, c->point, from);
    find_end(x, c->body_b, c->point, to);
    if (dls_results_body_motion(x->results, c->body_b) == DLS_DYNAMIC)
        for (int k = 0; k < 3; k++)
            if (c->image[k]) to[k] += c->image[k] * period[k];
    for (int k = 0; k < 3; k++) put_real(&a[POINTS].values, from[k]);
    for (int k = 0; k < 3; k++) put_real(&a[POINTS].values, to[k]);
    int points = (int)length(&a[POINTS]);
    put_int(&a[LINES].values, points - 2);
    put_int(&a[LINES].values, points - 1);
    put_int(&a[LINE_ENDS].values, points);
    put_int(&a[BODY_A].values, c->body_a);
    put_int(&a[BODY_B].values, c->body_b);
    put_real(&a[GAP].values, c->gap);
    put_real(&a[NORMAL_IMPULSE].values, c->impulse[0]);
    put_real(&a[IMPULSE].values, vec_norm(c->impulse));
    put_real(&a[NORMAL_FORCE].values, per * c->impulse[0]);
    put_real(&a[FORCE].values, per * vec_norm(c->impulse));
    vec_scale(force, per, row->world_impulse);
    for (int k = 0; k < 3; k++) put_real(&a[FORCE_VECTOR].values, force[k]);
    put_real(&a[SLIP].values, hypot(c->velocity[1], c->velocity[2]));
    put_real(&a[TORQUE].values, per * vec_norm(row->world_torque));
    for (int k = 0; k < 3; k++) put_real(&a[TORQUE_VECTOR].values, per * row->world_torque[k]);
}

static dls_status export_contacts(vtk_export *x, int frame, dls_error *error) {
    int total = x->results->frames[frame].contact_count;
    double h;
    clear(&x->contacts);
    dls_contact_row *rows = DLS_NEW(dls_contact_row, DLS_BATCH);
    dls_status status = rows ? dls_results_step_length(x->results, frame, &h, error) : dls_fail_memory(error);
    for (int first = 0; first < total && !status; first += DLS_BATCH) {
        int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
        status = dls_results_contact_rows(x->results, frame, first, count, rows, error);
        for (int k = 0; k < count && !status; k++) put_contact(x, &rows[k], h);
    }
    dls_free(rows);
    return status ? status : write_poly_data(&x->contacts, x->folder, "contacts", frame, error);
}

/* ---- joints ---- */

/* The joint's point and the centres of its bodies that are there: a point, and a line through all of them. */
static void put_joint_cells(vtk_export *x, const dls_joint_record *j) {
    array *a = x->joints.arrays;
    int first = (int)length(&a[POINTS]);
    for (int k = 0; k < 3; k++) {
        int id = k == 1 ? DLS_GROUND : j->body[k / 2];
        const double *place = id < 0 || !x->present[id] ? j->point : x->states[id].x;
        for (int i = 0; i < 3; i++) put_real(&a[POINTS].values, place[i]);
        put_int(&a[LINES].values, first + k);
    }
    put_int(&a[SPOTS].values, first + 1);
    put_int(&a[SPOT_ENDS].values, (int)length(&a[SPOTS]));
    put_int(&a[LINE_ENDS].values, (int)length(&a[LINES]));
}

static void put_joint_data(vtk_export *x, const dls_reaction_row *row, double h) {
    const dls_joint_record *j = &row->record;
    array *a = x->joints.arrays;
    double per = h > 0 ? 1 / h : 0;
    put_int(&a[JOINT].values, j->joint);
    put_int(&a[JOINT_KIND].values, x->results->joints[j->joint].kind);
    put_int(&a[JOINT_A].values, j->body[0]);
    put_int(&a[JOINT_B].values, j->body[1]);
    put_real(&a[JOINT_GAP].values, j->gap);
    put_real(&a[JOINT_FORCE].values, per * vec_norm(row->world_impulse));
    for (int k = 0; k < 3; k++) put_real(&a[JOINT_FORCE_VECTOR].values, per * row->world_impulse[k]);
    put_real(&a[JOINT_TORQUE].values, per * vec_norm(row->world_torque));
    for (int k = 0; k < 3; k++) put_real(&a[JOINT_TORQUE_VECTOR].values, per * row->world_torque[k]);
    put_real(&a[JOINT_POWER].values, per * j->work);
    put_real(&a[JOINT_LOSS].values, per * j->lost);
}

/* VTK counts single points before lines: the data of all comes twice. */
static dls_status export_joints(vtk_export *x, int frame, dls_error *error) {
    int total = x->results->frames[frame].reaction_count;
    double h;
    clear(&x->joints);
    dls_reaction_row *rows = DLS_NEW(dls_reaction_row, DLS_BATCH);
    dls_status status = rows ? dls_results_step_length(x->results, frame, &h, error) : dls_fail_memory(error);
    for (int pass = 0; pass < 2; pass++)
        for (int first = 0; first < total && !status; first += DLS_BATCH) {
            int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
            status = dls_results_reaction_rows(x->results, frame, first, count, rows, error);
            for (int k = 0; k < count && !status; k++) {
                if (pass == 0) put_joint_cells(x, &rows[k].record);
                put_joint_data(x, &rows[k], h);
            }
        }
    dls_free(rows);
    return status ? status : write_poly_data(&x->joints, x->folder, "joints", frame, error);
}

/* ---- all of it ---- */

/* A box around what moves, over some of the frames. */
static dls_status measure(vtk_export *x, dls_error *error) {
    dls_results *r = x->results;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size[3];
    int looks = r->frame_count < 9 ? r->frame_count : 9;
    for (int look = 0; look < looks; look++) {
        int frame = looks > 1 ? (int)((int64_t)look * (r->frame_count - 1) / (looks - 1)) : 0;
        dls_status status = dls_results_frame_states(r, frame, x->states, x->present, error);
        if (status) return status;
        for (int id = 0; id < r->body_count; id++) {
            double radius = r->bodies[id].radius;
            if (!x->present[id] || !isfinite(radius)) continue;
            for (int k = 0; k < 3; k++) {
                low[k] = fmin(low[k], x->states[id].x[k] - radius);
                high[k] = fmax(high[k], x->states[id].x[k] + radius);
            }
        }
    }
    x->reach = 1;
    if (!(low[0] <= high[0])) return DLS_OK;
    for (int k = 0; k < 3; k++) x->centre[k] = (low[k] + high[k]) / 2;
    vec_sub(size, high, low);
    x->reach = vec_norm(size);
    return DLS_OK;
}

/* Few shapes are drawn finely, many coarsely. */
static int choose_sides(int shapes) {
    return shapes <= 500 ? 32 : shapes <= 5000 ? 16 : shapes <= 50000 ? 12 : 8;
}

static dls_status write_index(const vtk_export *x, dls_error *error) {
    char *path = dls_path_join(x->folder, "run.pvd");
    if (!path) return dls_fail_memory(error);
    dls_aside *aside;
    dls_status status = dls_aside_open(path, &aside, error);
    dls_free(path);
    if (status) return status;
    FILE *out = dls_aside_stream(aside);
    fprintf(out, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n");
    for (int k = 0; k < x->results->frame_count; k++) {
        double t = x->results->frames[k].time;
        fprintf(out, "<DataSet timestep=\"%.17g\" part=\"0\" name=\"bodies\" file=\"bodies_%05d.vtp\"/>\n", t,
                k);
        if (x->results->has_contacts)
            fprintf(out,
                    "<DataSet timestep=\"%.17g\" part=\"1\" name=\"contacts\" "
                    "file=\"contacts_%05d.vtp\"/>\n",
                    t, k);
        if (x->results->joint_count)
            fprintf(out,
                    "<DataSet timestep=\"%.17g\" part=\"2\" name=\"joints\" file=\"joints_%05d.vtp\"/>\n", t,
                    k);
    }
    fprintf(out, "</Collection>\n</VTKFile>\n");
    return dls_aside_commit(aside, false, error);
}

static dls_status export_all(vtk_export *x, dls_error *error) {
    dls_results *r = x->results;
    dls_status status = measure(x, error);
    for (int k = 0; k < r->frame_count && !status; k++) {
        status = dls_results_frame_states(r, k, x->states, x->present, error);
        if (!status) status = export_bodies(x, k, error);
        if (!status && r->has_contacts) status = export_contacts(x, k, error);
        if (!status && r->joint_count) status = export_joints(x, k, error);
    }
    return status ? status : write_index(x, error);
}

dls_status dls_results_export_vtk(dls_results *results, const char *folder, dls_error *error) {
    dls_error inner = {0};
    dls_error_clear(error);
    if (!results || !folder)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "results and folder are needed, got NULL");
    vtk_export *x = DLS_NEW_ZERO(vtk_export, 1);
    dls_status status = x ? dls_folder_make(folder, &inner) : dls_fail_memory(&inner);
    if (!status) {
        x->results = results;
        x->folder = folder;
        x->sides = choose_sides(results->shape_count);
        x->states = DLS_NEW(dls_body_state, results->body_count);
        x->present = DLS_NEW(bool, results->body_count);
        x->first_node = DLS_NEW(int, results->body_count);
        x->is_skin = DLS_NEW_ZERO(bool, results->body_count);
        describe_files(x);
        status = x->states && x->present && x->first_node && x->is_skin ? export_all(x, &inner)
                                                                        : dls_fail_memory(&inner);
        release(&x->bodies);
        release(&x->contacts);
        release(&x->joints);
        dls_surface_free(&x->surface);
        dls_free(x->states);
        dls_free(x->present);
        dls_free(x->first_node);
        dls_free(x->is_skin);
    }
    dls_free(x);
    if (status && error) *error = inner;
    return status;
}
