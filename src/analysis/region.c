/* Regions that averages are taken over, and how much of a body lies in one. */
#include "analysis/analysis.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/shape/kinds.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Where the shape stands: world = x + R p. */
static void place(const dls_snapshot *s, dls_body_id id, const dls_shape *shape, double *x, double *R) {
    double Q[9];
    quat_matrix(s->states[id].q, Q);
    mat_apply(x, Q, shape->x);
    vec_add(x, x, s->states[id].x);
    mat_multiply(R, Q, shape->R);
}

void dls_body_support(const dls_snapshot *s, dls_body_id id, const double *direction, double *point) {
    double best = -INFINITY;
    vec_copy(point, s->states[id].x);
    for (int k = s->shape_start[id]; k < s->shape_start[id + 1]; k++) {
        const dls_shape *shape = &s->shapes[k];
        double x[3], R[9], d[3], p[3];
        place(s, id, shape, x, R);
        mat_apply_transposed(d, R, direction);
        assert(!dls_shape_table[shape->kind].obstacle);
        dls_shape_table[shape->kind].support(shape, d, p);
        mat_apply(p, R, p);
        vec_add(p, p, x);
        if (vec_dot(p, direction) <= best) continue;
        best = vec_dot(p, direction);
        vec_copy(point, p);
    }
}

/* ---- making regions ---- */

static bool take_planes(dls_analysis_region *region, int count) {
    region->normal = DLS_NEW_ZERO(double, 3 * count);
    region->offset = DLS_NEW_ZERO(double, count);
    return region->normal && region->offset;
}

/* A box; axes along which it spans a whole period have no planes. */
static dls_status make_box(dls_analysis_region *region, const double *low, const double *high,
                           dls_error *error) {
    int d = region->dimension;
    if (!take_planes(region, 2 * d)) return dls_fail_memory(error);
    region->volume = 1;
    for (int k = 0; k < d; k++) {
        double size = high[k] - low[k];
        if (!(size > 0) || !isfinite(size))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "the region reaches from %g to %g along %c, expected a size", low[k], high[k],
                            "xyz"[k]);
        region->volume *= size;
        if (region->period_size[k] > 0 && size >= region->period_size[k]) {
            region->volume *= region->period_size[k] / size;
            continue;
        }
        for (int side = -1; side <= 1; side += 2) {
            region->normal[3 * region->plane_count + k] = side;
            region->offset[region->plane_count++] = side < 0 ? -low[k] : high[k];
        }
    }
    return DLS_OK;
}

/* The period where there is one, else as far as loaded bodies reach. */
static dls_status make_period_box(const dls_snapshot *s, dls_analysis_region *region, dls_error *error) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < s->dimension; k++) {
        if (s->period_size[k] > 0) {
            low[k] = s->period_low[k], high[k] = s->period_low[k] + s->period_size[k];
            continue;
        }
        for (int id = 0; id < s->body_count; id++) {
            if (!dls_snapshot_moves(s, id) || !s->is_loaded[id]) continue;
            double d[3] = {0, 0, 0}, p[3];
            d[k] = 1;
            dls_body_support(s, id, d, p);
            high[k] = fmax(high[k], p[k]);
            d[k] = -1;
            dls_body_support(s, id, d, p);
            low[k] = fmin(low[k], p[k]);
        }
    }
    return make_box(region, low, high, error);
}

enum { DIRECTIONS_PLANE = 720, DIRECTIONS_SPACE = 1000 };

/* Evenly spread: on the circle, or on a spiral over the sphere by the golden angle. */
static void direction_at(int dimension, int k, double *d) {
    const double pi = 3.14159265358979323846;
    if (dimension == 2) {
        vec_set(d, cos(2 * pi * k / DIRECTIONS_PLANE), sin(2 * pi * k / DIRECTIONS_PLANE), 0);
        return;
    }
    double z = 1 - (2 * k + 1.0) / DIRECTIONS_SPACE, level = sqrt(1 - z * z), turn = pi * (3 - sqrt(5.0)) * k;
    vec_set(d, level * cos(turn), level * sin(turn), z);
}

/* Farthest point of all loaded bodies along each direction; returns the number of bodies. A body is asked
 * only where the ball about it reaches beyond what was found. */
static int find_supports(const dls_snapshot *s, int count, const double *directions, double *points) {
    int bodies = 0;
    for (int id = 0; id < s->body_count; id++) {
        if (!dls_snapshot_moves(s, id) || !s->is_loaded[id]) continue;
        double reach = 0;
        for (int k = s->shape_start[id]; k < s->shape_start[id + 1]; k++)
            reach = fmax(reach, vec_norm(s->shapes[k].x) + s->shapes[k].bound);
        for (int k = 0; k < count; k++) {
            const double *d = directions + 3 * k;
            double *best = points + 3 * k, p[3];
            if (bodies && vec_dot(d, s->states[id].x) + reach <= vec_dot(d, best)) continue;
            dls_body_support(s, id, d, p);
            if (!bodies || vec_dot(d, p) > vec_dot(d, best)) vec_copy(best, p);
        }
        bodies++;
    }
    return bodies;
}

/* Convex hull of the points in which loaded bodies are farthest. */
static dls_status make_hull(const dls_snapshot *s, dls_analysis_region *region, dls_error *error) {
    int count = s->dimension == 2 ? DIRECTIONS_PLANE : DIRECTIONS_SPACE;
    double *directions = DLS_NEW(double, 6 * count), *points = directions + 3 * count;
    if (!directions) return dls_fail_memory(error);
    for (int k = 0; k < count; k++) direction_at(s->dimension, k, directions + 3 * k);
    dls_hull *hull = NULL;
    dls_status status = DLS_OK;
    if (find_supports(s, count, directions, points) == 0)
        status = dls_fail(error, DLS_ERROR_INPUT, "no moving body bears load at t = %g s: there is no region",
                          s->time);
    if (!status) status = dls_hull_create(s->dimension, count, points, &hull, error);
    if (!status && !take_planes(region, hull->face_count)) status = dls_fail_memory(error);
    if (!status) {
        memcpy(region->normal, hull->face_normal, 3 * (size_t)hull->face_count * sizeof(double));
        memcpy(region->offset, hull->face_offset, (size_t)hull->face_count * sizeof(double));
        region->plane_count = hull->face_count;
        region->volume = hull->volume;
        region->holds_loaded = true;
    }
    dls_hull_destroy(hull);
    dls_free(directions);
    return status;
}

dls_status dls_analysis_region_create(const dls_snapshot *s, const dls_analysis_options *options,
                                      dls_analysis_region *region, dls_error *error) {
    bool periodic = false;
    *region = (dls_analysis_region){.dimension = s->dimension};
    vec_copy(region->period_low, s->period_low);
    vec_copy(region->period_size, s->period_size);
    for (int k = 0; k < s->dimension; k++) periodic = periodic || s->period_size[k] > 0;
    dls_status status;
    if (options->has_region)
        status = make_box(region, options->region_low, options->region_high, error);
    else
        status = periodic ? make_period_box(s, region, error) : make_hull(s, region, error);
    if (status) dls_analysis_region_release(region);
    return status;
}

void dls_analysis_region_release(dls_analysis_region *region) {
    dls_free(region->normal);
    dls_free(region->offset);
    *region = (dls_analysis_region){0};
}

/* ---- being inside ---- */

static void wrap(const dls_analysis_region *region, const double *point, double *p) {
    vec_copy(p, point);
    for (int k = 0; k < region->dimension; k++)
        if (region->period_size[k] > 0)
            p[k] -= region->period_size[k] * floor((p[k] - region->period_low[k]) / region->period_size[k]);
}

/* Largest normal · x − offset: how far outside, less than 0 inside. */
static double depth(const dls_analysis_region *region, const double *p) {
    double most = -INFINITY;
    for (int k = 0; k < region->plane_count; k++)
        most = fmax(most, vec_dot(region->normal + 3 * k, p) - region->offset[k]);
    return most;
}

bool dls_analysis_region_has(const dls_analysis_region *region, const double *point) {
    double p[3];
    wrap(region, point, p);
    return depth(region, p) <= 0;
}

enum { SAMPLES = 2048 };

/* Evenly spread points of a box that holds the shape: those in the shape, and those of them in the region. */
static double sampled_share(const dls_analysis_region *region, const dls_snapshot *s, dls_body_id id,
                            const dls_shape *shape) {
    /* multiples of powers of the root of x^(d+1) = x + 1 fill a box evenly */
    const double step[2][3] = {{0.7548776662466927, 0.5698402909980532, 0},
                               {0.8191725133961645, 0.6710436067037893, 0.5497004779019703}};
    double x[3], R[9], low[3], high[3];
    int in_shape = 0, in_both = 0;
    place(s, id, shape, x, R);
    dls_shape_box(shape, x, R, low, high);
    for (int n = 1; n <= SAMPLES; n++) {
        double p[3] = {0, 0, 0}, q[3];
        for (int k = 0; k < s->dimension; k++) {
            double at = n * step[s->dimension - 2][k];
            p[k] = low[k] + (at - floor(at)) * (high[k] - low[k]);
        }
        vec_sub(q, p, x);
        mat_apply_transposed(q, R, q);
        if (!dls_shape_table[shape->kind].has(shape, q)) continue;
        in_shape++;
        in_both += dls_analysis_region_has(region, p);
    }
    return in_shape ? (double)in_both / in_shape : 0;
}

double dls_analysis_region_share(const dls_analysis_region *region, const dls_snapshot *s, dls_body_id id) {
    double sum = 0;
    if (region->holds_loaded && s->is_loaded[id]) return 1;
    for (int k = s->shape_start[id]; k < s->shape_start[id + 1]; k++) {
        const dls_shape *shape = &s->shapes[k];
        double x[3], R[9], p[3], volume, centre[3], inertia[9];
        place(s, id, shape, x, R);
        wrap(region, x, p);
        dls_shape_mass(shape, &volume, centre, inertia);
        double out = depth(region, p);
        if (out <= -shape->bound)
            sum += volume;
        else if (out < shape->bound || region->period_size[0] > 0 || region->period_size[1] > 0 ||
                 region->period_size[2] > 0)
            sum += volume * sampled_share(region, s, id, shape);
    }
    return s->volume[id] > 0 ? sum / s->volume[id] : 0;
}

/* φ = Σ_p w_p V_p / V */
double dls_fraction_measure(const dls_snapshot *s, const dls_analysis_region *region) {
    double sum = 0;
    for (int id = 0; id < s->body_count; id++)
        if (dls_snapshot_moves(s, id)) sum += dls_analysis_region_share(region, s, id) * s->volume[id];
    return sum / region->volume;
}
