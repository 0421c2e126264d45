/* The row of bodies of elements, and their skins. */
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/shape/kinds.h"
#include "world/shape/skin.h"
#include "world/solid/elements/elements.h"
#include "world/solid/solid.h"

#include <math.h>
#include <string.h>

struct dls_solid_data {
    dls_elements *elements;
    dls_mesh *skin;    /* at rest, about the mass centre */
    int *vertex_node;  /* of each of its vertices */
    int *node_cell;    /* one that has it */
    dls_solid_def def; /* what it was made of; mesh is not kept */
    dls_elements_def law;
    double pose[12], size[3];
    int grid;
    uint64_t told; /* of a mesh that was told */
};

static dls_solid_def preset(void) {
    return (dls_solid_def){.form = DLS_SOLID_ELEMENTS, .cells = {2, 2, 2}, .cell = DLS_SOLID_CELL_ANY};
}

/* ---- the mesh ---- */

/* Edges, semi-axes, or radius and length of the grid that fills a shape. */
static void size_of(const dls_shape *shape, double *size) {
    const dls_shape_traits *kind = &dls_shape_table[shape->kind];
    if (kind->grid == DLS_GRID_BOX)
        vec_scale(size, 2, shape->size);
    else if (kind->grid == DLS_GRID_ROUND)
        vec_set(size, shape->radius, shape->radius, shape->length);
    else if (kind->round)
        vec_set(size, shape->radius, shape->radius, shape->radius);
    else
        vec_copy(size, shape->size);
}

/* Hexahedra where strains are small; else tetrahedra of ten nodes, which do not lock either. */
static dls_cell_form cell_of(const dls_solid_def *def, bool corotational) {
    if (def->cell != DLS_SOLID_CELL_ANY) return (dls_cell_form)(def->cell - 1);
    return corotational ? DLS_CELL_HEX8 : DLS_CELL_TET10;
}

static dls_status make_mesh(const dls_solid_build *build, bool corotational, dls_cell_mesh **mesh,
                            dls_error *error) {
    const dls_solid_mesh *told = build->def->mesh;
    const dls_shape *shape = &build->shapes[0];
    const dls_shape_traits *kind = &dls_shape_table[shape->kind];
    if (told) {
        dls_cell_list list = {(dls_cell_form)(told->cell - 1),
                              told->node_count,
                              told->cell_count,
                              told->points,
                              told->cells,
                              told->node_number,
                              told->cell_number,
                              told->node_line,
                              told->cell_line};
        if (!kind->made)
            return dls_fail(error, DLS_ERROR_INPUT, "a mesh of elements with a %s, expected a skin",
                            kind->name);
        return dls_cell_mesh_create(&list, mesh, error);
    }
    if (!kind->grid)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "a %s of elements, expected a box, sphere, ellipsoid or cylinder, or a mesh",
                        kind->name);
    dls_block block = {.form = (dls_block_form)(kind->grid - 1),
                       .cell = cell_of(build->def, corotational),
                       .bend = build->def->bend};
    memcpy(block.cells, build->def->cells, sizeof block.cells);
    size_of(shape, block.size);
    return dls_cell_mesh_block(&block, mesh, error);
}

/* From the shape's frame to the body's. */
static void place_mesh(const dls_shape *shape, dls_cell_mesh *mesh) {
    for (int i = 0; i < mesh->node_count; i++) {
        mat_apply(mesh->X + 3 * (size_t)i, shape->R, mesh->X + 3 * (size_t)i);
        vec_add(mesh->X + 3 * (size_t)i, mesh->X + 3 * (size_t)i, shape->x);
    }
}

/* ---- the skin ---- */

/* Its own vertices, in the order of nodes, and its triangles by them. */
static dls_status number_skin(dls_solid_data *data, int *number, double *vertex, int *element,
                              dls_mesh **skin, dls_error *error) {
    const dls_cell_mesh *mesh = data->elements->mesh;
    int count = 0;
    for (int i = 0; i < mesh->node_count; i++) number[i] = -1;
    for (int k = 0; k < 3 * mesh->face_count; k++) number[mesh->faces[k]] = 0;
    for (int i = 0; i < mesh->node_count; i++) {
        if (number[i] < 0) continue;
        vec_copy(vertex + 3 * (size_t)count, mesh->X + 3 * (size_t)i);
        data->vertex_node[count] = i;
        number[i] = count++;
    }
    for (int k = 0; k < 3 * mesh->face_count; k++) element[k] = number[mesh->faces[k]];
    return dls_mesh_create(3, count, vertex, mesh->face_count, element, skin, error);
}

static dls_status make_skin(dls_solid_data *data, dls_mesh **skin, dls_error *error) {
    const dls_cell_mesh *mesh = data->elements->mesh;
    int *number = DLS_NEW(int, mesh->node_count), *element = DLS_NEW(int, 3 * (size_t)mesh->face_count);
    double *vertex = DLS_NEW(double, 3 * (size_t)mesh->node_count);
    dls_status status = number && element && vertex ? number_skin(data, number, vertex, element, skin, error)
                                                    : dls_fail_memory(error);
    dls_free(number);
    dls_free(element);
    dls_free(vertex);
    return status;
}

/* ---- making ---- */

static void release(dls_solid_data *data) {
    dls_elements_destroy(data->elements);
    dls_mesh_destroy(data->skin);
    dls_free(data->vertex_node);
    dls_free(data->node_cell);
    dls_free(data);
}

/* Hooke's law of small strains is seen from the mean rotation, for bodies turn. */
static dls_status law_of(const dls_solid_build *build, dls_elements_def *law, dls_error *error) {
    if (build->body->shape_count != 1)
        return dls_fail(error, DLS_ERROR_INPUT, "a body of elements has %d shapes, expected one",
                        build->body->shape_count);
    const dls_solid_mesh *mesh = build->def->mesh;
    if ((unsigned)build->def->cell >= DLS_SOLID_CELLS ||
        (mesh && (mesh->cell <= DLS_SOLID_CELL_ANY || mesh->cell >= DLS_SOLID_CELLS || !mesh->points ||
                  !mesh->cells)))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "there are no such elements, or they have no nodes");
    const dls_material_def *material = &build->world->materials[build->shapes[0].material].def;
    *law = (dls_elements_def){
        .lumped = build->def->lumped, .density = material->density, .mass_damping = build->def->mass_damping};
    dls_status status = dls_elastic_of(material, &law->law, error);
    law->corotational = build->def->corotational || law->law.law == DLS_ELASTIC_LINEAR;
    return status;
}

/* A hash of what a mesh was told by; 0 where cells fill the shape. */
static uint64_t told_as(const dls_solid_mesh *mesh) {
    uint64_t hash = DLS_HASH_BEGIN;
    if (!mesh) return 0;
    int nodes = dls_cell_kinds[mesh->cell - 1].nodes;
    for (int64_t k = 0; k < 3 * (int64_t)mesh->node_count; k++) {
        uint64_t word;
        memcpy(&word, mesh->points + k, sizeof word);
        hash = dls_hash_word(hash, word);
    }
    for (int64_t k = 0; k < (int64_t)nodes * mesh->cell_count; k++)
        hash = dls_hash_word(hash, (uint64_t)mesh->cells[k]);
    return hash;
}

static void note_cells(dls_solid_data *data) {
    const dls_cell_mesh *mesh = data->elements->mesh;
    int nodes = dls_cell_kinds[mesh->form].nodes;
    for (int64_t k = (int64_t)mesh->cell_count * nodes - 1; k >= 0; k--)
        data->node_cell[mesh->cells[k]] = (int)(k / nodes);
}

static dls_status complete(const dls_solid_build *build, const dls_elements_def *law, dls_cell_mesh *mesh,
                           dls_solid_data *data, dls_error *error) {
    memcpy(data->pose, build->shapes[0].x, 3 * sizeof(double));
    memcpy(data->pose + 3, build->shapes[0].R, 9 * sizeof(double));
    size_of(&build->shapes[0], data->size);
    data->law = *law;
    data->grid = dls_shape_table[build->shapes[0].kind].grid;
    data->told = told_as(build->def->mesh);
    data->def = *build->def;
    data->def.mesh = NULL;
    place_mesh(&build->shapes[0], mesh);
    dls_status status = dls_elements_create(law, mesh, &data->elements, error);
    if (status) return status;
    data->vertex_node = DLS_NEW(int, mesh->node_count);
    data->node_cell = DLS_NEW(int, mesh->node_count);
    if (!data->vertex_node || !data->node_cell) return dls_fail_memory(error);
    note_cells(data);
    return make_skin(data, &data->skin, error);
}

static dls_status create(const dls_solid_build *build, dls_solid_data **out, dls_error *error) {
    dls_cell_mesh *mesh = NULL;
    dls_elements_def law;
    if (build->world->def.dimension != 3)
        return dls_fail(error, DLS_ERROR_INPUT, "a body of elements in the plane, expected one in space");
    dls_status status = law_of(build, &law, error);
    if (!status) status = make_mesh(build, law.corotational, &mesh, error);
    if (status) return status;
    dls_solid_data *data = DLS_NEW_ZERO(dls_solid_data, 1);
    if (!data) {
        dls_cell_mesh_destroy(mesh);
        return dls_fail_memory(error);
    }
    status = complete(build, &law, mesh, data, error);
    if (status)
        release(data);
    else
        *out = data;
    return status;
}

static bool equal(const dls_solid_data *data, const dls_solid_build *build) {
    dls_elements_def law;
    const dls_solid_def *def = build->def;
    double size[3];
    if (law_of(build, &law, NULL)) return false;
    size_of(&build->shapes[0], size);
    return !memcmp(data->pose, build->shapes[0].x, 3 * sizeof(double)) &&
           !memcmp(data->pose + 3, build->shapes[0].R, 9 * sizeof(double)) &&
           !memcmp(data->size, size, sizeof size) &&
           data->grid == dls_shape_table[build->shapes[0].kind].grid && data->told == told_as(def->mesh) &&
           data->law.corotational == law.corotational && data->law.lumped == law.lumped &&
           data->law.density == law.density && data->law.mass_damping == law.mass_damping &&
           data->law.law.law == law.law.law && data->law.law.lambda == law.law.lambda &&
           data->law.law.mu == law.law.mu && data->law.law.damping == law.law.damping &&
           data->def.cell == def->cell && data->def.bend == def->bend &&
           !memcmp(data->def.cells, def->cells, sizeof def->cells);
}

/* The body's shape becomes its skin, with a mesh of its own at rest. */
static dls_status dress(const dls_solid_data *data, const dls_solid_build *build, dls_error *error) {
    dls_mesh *mesh;
    dls_status status = dls_mesh_create(3, data->skin->vertex_count, data->skin->vertex,
                                        data->skin->element_count, data->skin->element, &mesh, error);
    if (!status) dls_shape_become_skin(&build->shapes[0], data->elements->centre, mesh);
    return status;
}

static double damping(const dls_solid_data *data) { return data->elements->law.damping; }
static int freedoms(const dls_solid_data *data) { return 3 * data->elements->mesh->node_count; }
static double reach(const dls_solid_data *data) { return data->elements->reach; }
static const dls_pattern *pattern(const dls_solid_data *data) { return data->elements->pattern; }

static void mass_of(const dls_solid_data *data, dls_body_mass *mass) {
    memset(mass, 0, sizeof *mass);
    mass->mass = data->elements->mass;
    vec_copy(mass->centre, data->elements->centre);
    memcpy(mass->inertia, data->elements->inertia, sizeof mass->inertia);
}

/* ---- motion ---- */

static void begin(const dls_solid_data *data, const dls_body_state *mean, double *q, double *u) {
    double R[9];
    quat_matrix(mean->q, R);
    dls_elements_begin(data->elements, mean->x, R, mean->v, mean->w, q, u);
}

/* ω = R G⁻¹ Σ w_i × Rᵀ u_i, the rate of R */
static void mean_of(const dls_solid_data *data, const double *q, const double *u, dls_body_state *mean) {
    const dls_elements *e = data->elements;
    dls_polar polar;
    double turn[3] = {0}, rate[3];
    dls_elements_frame(e, q, mean->x, &polar);
    quat_from_matrix(mean->q, polar.R);
    vec_set(mean->v, 0, 0, 0);
    for (int i = 0; i < e->mesh->node_count; i++) vec_along(mean->v, mean->v, e->share[i], u + 3 * (size_t)i);
    for (int i = 0; i < e->mesh->node_count; i++) {
        vec_sub(rate, u + 3 * (size_t)i, mean->v);
        mat_apply_transposed(rate, polar.R, rate);
        vec_cross(rate, e->w + 3 * (size_t)i, rate);
        vec_add(turn, turn, rate);
    }
    mat_apply(turn, polar.inverse, turn);
    mat_apply(mean->w, polar.R, turn);
}

static double spread(const dls_solid_data *data, const double *q, const double *u,
                     const dls_body_state *mean) {
    double most = 0;
    for (int k = 0; k < data->skin->vertex_count; k++) {
        size_t i = 3 * (size_t)data->vertex_node[k];
        double arm[3], rigid[3];
        vec_sub(arm, q + i, mean->x);
        vec_cross(rigid, mean->w, arm);
        vec_add(rigid, rigid, mean->v);
        most = fmax(most, vec_distance(u + i, rigid));
    }
    return most;
}

static void load(const dls_solid_data *data, const double *a, double *f) {
    dls_elements_load(data->elements, a, f);
}
static void force(const dls_solid_data *data, const double *q, double *f) {
    dls_elements_force(data->elements, q, f);
}
static double kinetic_energy(const dls_solid_data *data, const double *u) {
    return dls_elements_kinetic(data->elements, u);
}
static double strain_energy(const dls_solid_data *data, const double *q) {
    return dls_elements_energy(data->elements, q);
}
static int inverted(const dls_solid_data *data, const double *q) {
    return dls_elements_inverted(data->elements, q);
}

static bool fixed_axes(const dls_solid_data *data, const double *q, double *R) {
    dls_polar polar;
    double c[3];
    if (!data->elements->corotational) return false;
    dls_elements_frame(data->elements, q, c, &polar);
    memcpy(R, polar.R, sizeof polar.R);
    return true;
}

/* Seen from the fixed axes, where there are any. */
static void matrix(const dls_solid_data *data, dls_solid_matrix which, const double *q, double factor,
                   double *A) {
    const dls_elements *e = data->elements;
    if (which == DLS_SOLID_MASS) {
        dls_elements_add_mass(e, factor, A);
        return;
    }
    if (which == DLS_SOLID_DAMPING) {
        if (e->mass_damping > 0) dls_elements_add_mass(e, factor * e->mass_damping, A);
        factor *= e->law.damping;
        if (!(factor > 0)) return;
    }
    if (e->corotational) {
        int64_t numbers = dls_pattern_numbers(e->pattern);
        for (int64_t k = 0; k < numbers; k++) A[k] += factor * e->K0[k];
    } else {
        dls_elements_add_stiffness(e, q, which == DLS_SOLID_STIFFNESS, factor, A);
    }
}

/* ---- places ---- */

/* The cell that has X, or the nearest within a millionth of the body; its ξ. */
static bool locate(const dls_solid_data *data, const double *X, dls_spot *spot) {
    const dls_elements *e = data->elements;
    double best = 1e-6;
    spot->cell = -1;
    for (int c = 0; c < e->mesh->cell_count; c++) {
        double of[3 * DLS_CELL_NODES], xi[3], out = 0, sum = 0;
        dls_elements_gather(e, c, e->mesh->X, of);
        if (!dls_basis_find(e->mesh->form, of, X, xi)) continue;
        for (int k = 0; k < 3; k++) {
            out = fmax(out, e->mesh->form == DLS_CELL_HEX8 ? fabs(xi[k]) - 1 : -xi[k]);
            sum += xi[k];
        }
        if (e->mesh->form != DLS_CELL_HEX8) out = fmax(out, sum - 1);
        if (out >= best) continue;
        best = fmax(out, 0);
        spot->cell = c;
        vec_copy(spot->at, xi);
        if (!(out > 0)) return true;
    }
    return spot->cell >= 0;
}

static void stand_in_cell(const dls_elements *e, const double *q, dls_spot *spot, double *R) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    double X[3 * DLS_CELL_NODES], x[3 * DLS_CELL_NODES], N[DLS_CELL_NODES], slope[DLS_CELL_NODES][3],
        gradient[DLS_CELL_NODES][3], J[9], F[9];
    dls_polar polar;
    dls_elements_gather(e, spot->cell, e->mesh->X, X);
    dls_elements_gather(e, spot->cell, q, x);
    dls_basis_at(e->mesh->form, spot->at, N, slope);
    dls_basis_jacobian(e->mesh->form, (const double(*)[3])slope, X, J);
    dls_basis_gradients(e->mesh->form, (const double(*)[3])slope, J, gradient);
    dls_elements_strain(nodes, gradient[0], x, F); /* Fᵀ row after row: columns of F */
    dls_polar_of(F, &polar);
    memcpy(R, polar.R, sizeof polar.R);
    vec_set(spot->state.x, 0, 0, 0);
    spot->count = 3 * nodes;
    for (int i = 0; i < nodes; i++) {
        double rate[9];
        vec_along(spot->state.x, spot->state.x, N[i], x + 3 * i);
        dls_polar_rate(&polar, gradient[i], rate);
        for (int d = 0; d < 3; d++) {
            int k = 3 * i + d;
            spot->index[k] = 3 * e->mesh->cells[(size_t)nodes * (size_t)spot->cell + (size_t)i] + d;
            for (int m = 0; m < 3; m++) spot->J[k][m] = m == d ? N[i] : 0;
            vec_copy(spot->J[k] + 3, rate + 3 * d);
        }
    }
}

/* On triangle f of the skin, weights at: v = Σ λ_i u_i. With its normal n and ∇λ_i in its plane it turns by
 *
 *     ω = Σ_i −(n × ∇λ_i)(n·u_i) + ½ n (n × ∇λ_i)·u_i */
static void stand_on_skin(const dls_solid_data *data, int f, const double *q, dls_spot *spot, double *R) {
    const int *corner = data->skin->element + 3 * (size_t)f;
    const double *x[3];
    double side[3][3], n[3];
    for (int i = 0; i < 3; i++) x[i] = q + 3 * (size_t)data->vertex_node[corner[i]];
    for (int i = 0; i < 3; i++) vec_sub(side[i], x[(i + 2) % 3], x[(i + 1) % 3]); /* against corner i */
    vec_cross(n, side[0], side[1]);
    double area = vec_norm(n), scale = area > 0 ? 1 / area : 0;
    vec_scale(n, scale, n);
    if (!(area > 0)) vec_set(n, 0, 0, 1);
    vec_copy(R, n);
    vec_tangents(n, R + 3, R + 6);
    vec_set(spot->state.x, 0, 0, 0);
    spot->count = 9;
    for (int i = 0; i < 3; i++) {
        double turn[3]; /* n × ∇λ_i = −side_i/area, for ∇λ_i = n × side_i/area */
        vec_scale(turn, -scale, side[i]);
        vec_along(spot->state.x, spot->state.x, spot->at[i], x[i]);
        for (int d = 0; d < 3; d++) {
            int k = 3 * i + d;
            spot->index[k] = 3 * data->vertex_node[corner[i]] + d;
            for (int m = 0; m < 3; m++) {
                spot->J[k][m] = m == d ? spot->at[i] : 0;
                spot->J[k][3 + m] = -turn[m] * n[d] + 0.5 * n[m] * turn[d];
            }
        }
    }
}

/* Cells are counted from 0; −1 − f is triangle f of the skin. */
static void stand(const dls_solid_data *data, const double *q, dls_spot *spot, double *R) {
    if (spot->cell >= 0)
        stand_in_cell(data->elements, q, spot, R);
    else
        stand_on_skin(data, -1 - spot->cell, q, spot, R);
}

/* Weights of the point of triangle f that is nearest to p: on its plane first, then on its border. */
static double weigh_triangle(const dls_solid_data *data, const double *q, int f, const double *p,
                             double *weight) {
    const int *corner = data->skin->element + 3 * (size_t)f;
    const double *x[3];
    double u[3], v[3], d[3], place[3] = {0};
    for (int i = 0; i < 3; i++) x[i] = q + 3 * (size_t)data->vertex_node[corner[i]];
    vec_sub(u, x[1], x[0]);
    vec_sub(v, x[2], x[0]);
    vec_sub(d, p, x[0]);
    double uu = vec_dot(u, u), vv = vec_dot(v, v), uv = vec_dot(u, v), ud = vec_dot(u, d), vd = vec_dot(v, d),
           det = uu * vv - uv * uv;
    vec_set(weight, 1, 0, 0);
    double a = det > 0 ? (vv * ud - uv * vd) / det : 0, b = det > 0 ? (uu * vd - uv * ud) / det : 0;
    if (a < 0 || b < 0 || a + b > 1) {
        double best = INFINITY;
        for (int i = 0; i < 3; i++) { /* the nearest of its three sides */
            double side[3], to[3], foot[3];
            int j = (i + 1) % 3;
            vec_sub(side, x[j], x[i]);
            vec_sub(to, p, x[i]);
            double length = vec_dot(side, side), t = length > 0 ? vec_dot(to, side) / length : 0;
            t = fmin(fmax(t, 0), 1);
            vec_along(foot, x[i], t, side);
            double distance = vec_distance(foot, p);
            if (!(distance < best)) continue;
            best = distance;
            weight[i] = 1 - t, weight[j] = t, weight[(i + 2) % 3] = 0;
        }
    } else {
        weight[0] = 1 - a - b, weight[1] = a, weight[2] = b;
    }
    for (int i = 0; i < 3; i++) vec_along(place, place, weight[i], x[i]);
    return vec_distance(place, p);
}

/* The vertex that the contact's name tells, or the nearest point of the whole skin. */
static void touch(const dls_solid_data *data, const double *q, const dls_solid_touch *at, dls_spot *spot) {
    const dls_mesh *skin = data->skin;
    int vertex = dls_skin_vertex(at->feature, at->side);
    double best = INFINITY;
    spot->cell = -1;
    vec_set(spot->at, 1, 0, 0);
    if (vertex >= 0 && vertex < skin->vertex_count &&
        skin->vertex_start[vertex] < skin->vertex_start[vertex + 1]) {
        int f = skin->vertex_element[skin->vertex_start[vertex]];
        spot->cell = -1 - f;
        for (int i = 0; i < 3; i++) spot->at[i] = skin->element[3 * (size_t)f + (size_t)i] == vertex;
        return;
    }
    for (int f = 0; f < skin->element_count; f++) {
        double weight[3], distance = weigh_triangle(data, q, f, at->p, weight);
        if (!(distance < best)) continue;
        best = distance;
        spot->cell = -1 - f;
        vec_copy(spot->at, weight);
    }
}

/* ---- the shape ---- */

static size_t shape_bytes(const dls_solid_data *data, const dls_shape *rest) {
    (void)rest;
    return dls_mesh_moved_bytes(data->skin);
}

/* In world axes about the mass centre, so that boxes are tight. */
static void deform(const dls_solid_data *data, const double *q, const dls_body_state *mean,
                   const dls_shape *rest, dls_shape *now, double *x, double *R, void *room) {
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    (void)rest;
    now->mesh = dls_mesh_moved(data->skin, room);
    now->bound = 0;
    vec_copy(x, mean->x);
    memcpy(R, one, sizeof one);
    for (int k = 0; k < data->skin->vertex_count; k++) {
        double *vertex = now->mesh->vertex + 3 * (size_t)k;
        vec_sub(vertex, q + 3 * (size_t)data->vertex_node[k], x);
        now->bound = fmax(now->bound, vec_norm(vertex));
    }
    dls_mesh_refit(now->mesh);
}

/* ---- nodes ---- */

static int element_count(const dls_solid_data *data) { return data->elements->mesh->node_count; }

static unsigned element_node(const dls_solid_data *data, int node, double *X) {
    const dls_cell_mesh *mesh = data->elements->mesh;
    vec_copy(X, mesh->X + 3 * (size_t)node);
    return mesh->sides ? mesh->sides[node] : 0;
}

/* ---- what is shown ---- */

static int nodes(const dls_solid_data *data) { return data->skin->vertex_count; }

/* Stresses are NaN where there is no memory to find them. */
static void skin(const dls_solid_data *data, const double *q, const double *u, double *x, double *v,
                 double *von_mises, double *principal) {
    double *stress = DLS_NEW(double, 6 * (size_t)data->elements->mesh->node_count);
    bool found = stress && !dls_elements_stress(data->elements, q, stress, NULL);
    for (int k = 0; k < data->skin->vertex_count; k++) {
        size_t node = (size_t)data->vertex_node[k];
        vec_copy(x + 3 * (size_t)k, q + 3 * node);
        vec_copy(v + 3 * (size_t)k, u + 3 * node);
        von_mises[k] = found ? dls_stress_mises(stress + 6 * node) : (double)NAN;
        vec_set(principal + 3 * (size_t)k, NAN, NAN, NAN);
        if (found) dls_stress_principal(stress + 6 * node, principal + 3 * (size_t)k);
    }
    dls_free(stress);
}

const dls_solid_kind dls_solid_kind_elements = {
    .name = "elements",
    .summary = "finite elements: a mesh of tetrahedra or hexahedra",
    .preset = preset,
    .create = create,
    .release = release,
    .equal = equal,
    .dress = dress,
    .freedoms = freedoms,
    .damping = damping,
    .reach = reach,
    .mass = mass_of,
    .begin = begin,
    .mean = mean_of,
    .load = load,
    .force = force,
    .pattern = pattern,
    .fixed_axes = fixed_axes,
    .matrix = matrix,
    .spot = stand,
    .locate = locate,
    .touch = touch,
    .shape_bytes = shape_bytes,
    .deform = deform,
    .spread = spread,
    .inverted = inverted,
    .elements = element_count,
    .element_node = element_node,
    .nodes = nodes,
    .skin = skin,
    .kinetic_energy = kinetic_energy,
    .strain_energy = strain_energy,
};
