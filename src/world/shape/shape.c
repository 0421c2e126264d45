/* Shapes from their definitions: checks, geometry, mass and box. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/parts.h"
#include "world/shape/kinds.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_POINTS = 100000000 }; /* so that three numbers each have an int for an index */

dls_shape_def dls_default_shape_def(dls_shape_kind kind) {
    return (dls_shape_def){
        .kind = kind, .pose = {.q = {1, 0, 0, 0}}, .group = UINT32_C(1), .collides = UINT32_MAX};
}

bool dls_vec_is_finite(const double *x, int count) {
    for (int k = 0; k < count; k++)
        if (!isfinite(x[k])) return false;
    return true;
}

bool dls_vec_is_near(const double *x, int count) {
    for (int k = 0; k < count; k++)
        if (!(fabs(x[k]) <= DLS_FARTHEST)) return false;
    return true;
}

dls_status dls_pose_check(const char *what, const dls_pose *pose, int dimension, dls_error *error) {
    const double *x = pose->x, *q = pose->q;
    if (!dls_vec_is_finite(x, 3))
        return dls_fail(error, DLS_ERROR_INPUT, "%s is at (%g, %g, %g), expected finite numbers", what, x[0],
                        x[1], x[2]);
    double size = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
    if (!dls_vec_is_finite(q, 4) || !(size > 1e-100) || size > 1e100)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "%s has the orientation (%g, %g, %g, %g), expected a quaternion of length 1", what,
                        q[0], q[1], q[2], q[3]);
    if (dimension == 2 && x[2] != 0)
        return dls_fail(error, DLS_ERROR_INPUT, "%s is at z = %g, expected 0 in the plane", what, x[2]);
    if (dimension == 2 && (q[1] != 0 || q[2] != 0))
        return dls_fail(error, DLS_ERROR_INPUT, "%s is turned out of the plane, expected a rotation about z",
                        what);
    return DLS_OK;
}

static dls_status check_number(const char *what, double value, bool zero_is_fine, dls_error *error) {
    if (isfinite(value) && (value > 0 || (zero_is_fine && value == 0))) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "%s is %g, expected a finite number %s", what, value,
                    zero_is_fine ? "that is not negative" : "above 0");
}

static dls_status check_numbers(const dls_shape_def *def, unsigned needs, dls_error *error) {
    dls_status status = DLS_OK;
    bool point = def->point && dls_shape_table[def->kind].round;
    if (point && def->radius != 0)
        return dls_fail(error, DLS_ERROR_INPUT, "the radius of a point is %g, expected 0", def->radius);
    if (needs & DLS_SHAPE_RADIUS) status = check_number("radius", def->radius, point, error);
    if (!status && needs & (DLS_SHAPE_LENGTH | DLS_SHAPE_OPEN_LENGTH))
        status = check_number("length", def->length, needs & DLS_SHAPE_OPEN_LENGTH, error);
    for (int k = 0; k < 3 && !status && needs & (DLS_SHAPE_EDGES | DLS_SHAPE_SEMI_AXES); k++)
        status = check_number("size", def->size[k], false, error);
    return status;
}

/* A chain has a segment, a closed one an inside. */
static dls_status check_count(const dls_shape_def *def, unsigned needs, int dimension, dls_error *error) {
    int count = def->point_count, shortest = def->closed ? 3 : 2;
    if (needs & DLS_SHAPE_POINTS) return dls_hull_check_count(dimension, count, error);
    if (needs & DLS_SHAPE_CHAIN && count < shortest)
        return dls_fail(error, DLS_ERROR_INPUT, "%s chain of %d points, expected at least %d",
                        def->closed ? "closed" : "open", count, shortest);
    return DLS_OK;
}

static dls_status check_points(const dls_shape_def *def, int dimension, dls_error *error) {
    if (def->point_count < 0 || (def->point_count > 0 && !def->points))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "%d points without coordinates", def->point_count);
    if (def->point_count > MAX_POINTS || def->triangle_count > MAX_POINTS)
        return dls_fail(error, DLS_ERROR_INPUT, "%d points and %d triangles, expected at most %d of each",
                        def->point_count, def->triangle_count, MAX_POINTS);
    for (int k = 0; k < def->point_count; k++) {
        const double *p = def->points + 3 * (size_t)k;
        if (!dls_vec_is_finite(p, 3))
            return dls_fail(error, DLS_ERROR_INPUT, "point %d is (%g, %g, %g), expected finite numbers", k,
                            p[0], p[1], p[2]);
        if (dimension == 2 && p[2] != 0)
            return dls_fail(error, DLS_ERROR_INPUT, "point %d has z = %g, expected 0 in the plane", k, p[2]);
    }
    return DLS_OK;
}

static dls_status create_chain(const dls_shape_def *def, dls_mesh **mesh, dls_error *error) {
    int n = def->point_count, segments = def->closed ? n : n - 1;
    int *element = DLS_NEW(int, 2 * (size_t)segments);
    if (!element) return dls_fail_memory(error);
    for (int k = 0; k < segments; k++) element[2 * k] = k, element[2 * k + 1] = (k + 1) % n;
    dls_status status = dls_mesh_create(2, n, def->points, segments, element, mesh, error);
    dls_free(element);
    return status;
}

static dls_status create_box(const dls_shape *s, dls_hull **hull, dls_error *error) {
    dls_status status = dls_hull_box(s->size, hull);
    if (status != DLS_ERROR_NUMERIC) return status ? dls_fail_memory(error) : DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "a box of %g m, %g m, %g m is beyond what numbers can tell",
                    2 * s->size[0], 2 * s->size[1], 2 * s->size[2]);
}

static dls_status create_geometry(const dls_shape_def *def, int dimension, dls_shape *s, dls_error *error) {
    const dls_shape_traits *row = &dls_shape_table[def->kind];
    if (row->needs & DLS_SHAPE_POINTS)
        return dls_hull_create(dimension, def->point_count, def->points, &s->hull, error);
    if (row->needs & DLS_SHAPE_CHAIN) return create_chain(def, &s->mesh, error);
    if (row->made && def->triangle_count == 0) return DLS_OK;
    if (row->needs & DLS_SHAPE_TRIANGLES)
        return dls_mesh_create(3, def->point_count, def->points, def->triangle_count, def->triangles,
                               &s->mesh, error);
    return row->corners ? create_box(s, &s->hull, error) : DLS_OK;
}

static dls_status check_kind(const dls_shape_def *def, int dimension, dls_error *error) {
    if ((unsigned)def->kind >= DLS_SHAPE_KINDS)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "there is no kind of shape %d", (int)def->kind);
    const dls_shape_traits *row = &dls_shape_table[def->kind];
    if (row->planar != (dimension == 2))
        return dls_fail(error, DLS_ERROR_INPUT, "a %s is a %s shape and this is %s", row->name,
                        row->planar ? "planar" : "spatial", dimension == 2 ? "the plane" : "space");
    return DLS_OK;
}

dls_status dls_shape_check(const dls_shape_def *def, int dimension, dls_error *error) {
    dls_status status = check_kind(def, dimension, error);
    if (!status) status = dls_pose_check("the shape", &def->pose, dimension, error);
    if (status) return status;
    if (!dls_vec_is_near(def->belt, 3) || (dimension == 2 && def->belt[2] != 0))
        return dls_fail(error, DLS_ERROR_INPUT, "belt is (%g, %g, %g), expected finite numbers%s",
                        def->belt[0], def->belt[1], def->belt[2], dimension == 2 ? ", 0 along z" : "");
    unsigned needs = dls_shape_table[def->kind].needs;
    status = check_numbers(def, needs, error);
    if (!status && needs & (DLS_SHAPE_POINTS | DLS_SHAPE_TRIANGLES | DLS_SHAPE_CHAIN))
        status = check_points(def, dimension, error);
    if (!status) status = check_count(def, needs, dimension, error);
    if (!status && needs & DLS_SHAPE_TRIANGLES && def->triangle_count > 0 && !def->triangles)
        status = dls_fail(error, DLS_ERROR_ARGUMENT, "%d triangles without indices", def->triangle_count);
    return status;
}

dls_status dls_shape_create(const dls_shape_def *def, int dimension, dls_shape *s, dls_error *error) {
    memset(s, 0, sizeof *s);
    dls_status status = dls_shape_check(def, dimension, error);
    if (status) return status;
    double q[4];
    memcpy(q, def->pose.q, sizeof q);
    quat_normalize(q);
    quat_matrix(q, s->R);
    vec_copy(s->x, def->pose.x);
    s->kind = def->kind;
    s->body = -1;
    s->material = def->material;
    s->group = def->group, s->collides = def->collides;
    s->radius = def->radius, s->length = def->length;
    vec_copy(s->size, def->size);
    if (dls_shape_table[def->kind].needs & DLS_SHAPE_EDGES) vec_scale(s->size, 0.5, s->size);
    status = create_geometry(def, dimension, s, error);
    if (status) return status;
    if (vec_dot(def->belt, def->belt) > 0) {
        s->belt = DLS_NEW(double, 3);
        if (!s->belt) {
            dls_shape_release(s);
            return dls_fail_memory(error);
        }
        vec_copy(s->belt, def->belt);
    }
    s->bound = dls_shape_table[def->kind].bound(s);
    assert(mat_is_rotation(s->R) && !!s->hull == dls_shape_table[def->kind].corners && s->bound >= 0);
    return DLS_OK;
}

void dls_shape_release(dls_shape *s) {
    dls_hull_destroy(s->hull);
    dls_mesh_destroy(s->mesh);
    dls_free(s->belt);
    s->hull = NULL, s->mesh = NULL, s->belt = NULL;
}

/* ---- mass and box ---- */

/* I += m (d·d 1 − d dᵀ) */
void dls_inertia_move(double *inertia, double mass, const double *d) {
    double dd = vec_dot(d, d);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) inertia[i + 3 * j] += mass * ((i == j ? dd : 0) - d[i] * d[j]);
}

void dls_inertia_turn(double *inertia, const double *R) {
    double T[9], Rt[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) Rt[i + 3 * j] = R[j + 3 * i];
    mat_multiply(T, R, inertia);
    mat_multiply(inertia, T, Rt);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++) inertia[i + 3 * j] = inertia[j + 3 * i];
}

void dls_shape_mass(const dls_shape *s, double *mass, double *centre, double *inertia) {
    *mass = 0;
    vec_copy(centre, s->x);
    memset(inertia, 0, 9 * sizeof *inertia);
    if (!dls_shape_table[s->kind].mass) return;
    dls_shape_table[s->kind].mass(s, mass, centre, inertia);
    mat_apply(centre, s->R, centre);
    vec_add(centre, centre, s->x);
    if (dls_shape_table[s->kind].planar) return; /* only I_z, which no rotation changes */
    dls_inertia_turn(inertia, s->R);
}

void dls_shape_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    assert((unsigned)s->kind < DLS_SHAPE_KINDS);
    dls_shape_table[s->kind].box(s, x, R, low, high);
}
