/* Free surfaces: lines through what is seen of a bed from above, cones, heights. */
#include "analysis/analysis.h"
#include "analysis/bed.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREE = 180 / 3.14159265358979323846;

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* ---- a line ---- */

enum { LEAST_POINTS = 5 };

/* Least squares: slope = Σ (x − x̄)(y − ȳ)/Σ (x − x̄)², s² = Σ e²/(n − 2), its variance s²/Σ (x − x̄)². Nothing
 * in it is chosen by the heights, so that a mean over frames is the slope of the mean surface. */
dls_status dls_line_fit(int count, const double *x, const double *y, dls_fitted_line *line,
                        dls_error *error) {
    double mx = 0, my = 0, sxx = 0, sxy = 0, see = 0;
    bool apart = false;
    *line = (dls_fitted_line){0};
    if (count < LEAST_POINTS)
        return dls_fail(error, DLS_ERROR_INPUT, "a line through %d points, expected %d or more", count,
                        (int)LEAST_POINTS);
    for (int i = 0; i < count; i++) mx += x[i] / count, my += y[i] / count;
    for (int i = 0; i < count; i++) {
        apart = apart || x[i] != x[0];
        sxx += (x[i] - mx) * (x[i] - mx);
        sxy += (x[i] - mx) * (y[i] - my);
    }
    if (!apart || !(sxx > 0))
        return dls_fail(error, DLS_ERROR_INPUT, "all %d points of the line lie at x = %g", count, x[0]);
    line->slope = sxy / sxx;
    line->intercept = my - line->slope * mx;
    for (int i = 0; i < count; i++) {
        double e = y[i] - line->intercept - line->slope * x[i];
        see += e * e;
    }
    line->scale = sqrt(see / (count - 2));
    line->slope_error = line->scale / sqrt(sxx);
    return DLS_OK;
}

/* ---- slopes ---- */

/* Which places a line goes through, as coordinates. */
typedef int (*choose_function)(const dls_bed *bed, int count, const dls_bed_top *tops, double *x, double *y);

/* A tenth of the bed's extent at each end belongs to walls and toes. */
static int choose_slope(const dls_bed *bed, int count, const dls_bed_top *tops, double *x, double *y) {
    double low = INFINITY, high = -INFINITY;
    int n = 0;
    for (int k = 0; k < bed->count; k++) {
        low = fmin(low, bed->balls[k].x[0]);
        high = fmax(high, bed->balls[k].x[0]);
    }
    double trim = 0.1 * (high - low);
    for (int k = 0; k < count; k++) {
        if (tops[k].along < low + trim || tops[k].along > high - trim) continue;
        x[n] = tops[k].along;
        y[n++] = tops[k].height;
    }
    return n;
}

/* Distance from the upright axis through the centre of volume, from a fifth of the radius that holds three
 * quarters of the bodies up to it: neither the blunt tip nor the toe, where a single layer stands as high as
 * it is. x and y have room for the bodies too. */
static int choose_cone(const dls_bed *bed, int count, const dls_bed_top *tops, double *x, double *y) {
    double volume = 0, along = 0, across = 0;
    int n = 0;
    for (int k = 0; k < bed->count; k++) {
        const dls_bed_ball *b = &bed->balls[k];
        double part = b->radius * b->radius * b->radius;
        volume += part, along += part * b->x[0], across += part * b->x[1];
    }
    along /= volume, across /= volume;
    for (int k = 0; k < bed->count; k++)
        x[k] = hypot(bed->balls[k].x[0] - along, bed->balls[k].x[1] - across);
    qsort(x, (size_t)bed->count, sizeof *x, ascending);
    double base = x[(int64_t)(bed->count - 1) * 3 / 4];
    for (int k = 0; k < count; k++) {
        double r = hypot(tops[k].along - along, tops[k].across - across);
        if (r < 0.2 * base || r > base) continue;
        x[n] = r;
        y[n++] = tops[k].height;
    }
    return n;
}

/* A line through the surface, and the places that it goes through. */
typedef struct fitted_slope {
    dls_fitted_line line;
    int count;
    double *x, *y; /* one block */
} fitted_slope;

/* Places under one body are not independent: its share of them counts as one. */
static dls_status fit_slope(const dls_bed *bed, choose_function choose, fitted_slope *fit, dls_error *error) {
    dls_bed_top *tops;
    int count;
    *fit = (fitted_slope){0};
    dls_status status = dls_bed_tops(bed, &count, &tops, error);
    int64_t room = count > bed->count ? count : bed->count;
    if (!status && !(fit->x = DLS_NEW(double, 2 * room))) status = dls_fail_memory(error);
    if (!status) {
        fit->y = fit->x + room;
        if (count > 0) fit->count = choose(bed, count, tops, fit->x, fit->y);
        status = dls_line_fit(fit->count, fit->x, fit->y, &fit->line, error);
        fit->line.slope_error *= bed->dimension == 3 ? 2 : sqrt(2.0);
    }
    dls_free(tops);
    return status;
}

/* Degrees; d atan s = ds/(1 + s²) */
static dls_slope slope_of(const fitted_slope *fit) {
    const dls_fitted_line *l = &fit->line;
    return (dls_slope){DEGREE * atan(l->slope), DEGREE * l->slope_error / (1 + l->slope * l->slope),
                       fit->count, l->scale};
}

/* Orthogonal directions of length 1: up, what is level of `level`, and across both. */
static bool make_axes(int dimension, const double *upward, const double *level, double axes[3][3]) {
    double up = vec_norm(upward), length;
    vec_scale(axes[2], 1 / up, upward);
    vec_along(axes[0], level, -vec_dot(level, axes[2]), axes[2]);
    length = vec_norm(axes[0]);
    if (!(up > 0) || !(length > 1e-9 * vec_norm(level)) || !isfinite(up) || !isfinite(length)) return false;
    vec_scale(axes[0], 1 / length, axes[0]);
    vec_cross(axes[1], axes[2], axes[0]);
    return dimension == 3 || (axes[2][2] == 0 && axes[0][2] == 0);
}

/* Balls and a line through what is seen of them, in these axes. */
static dls_status measure_balls(int dimension, int count, const double *places, const double *radii,
                                double axes[3][3], choose_function choose, dls_slope *slope,
                                dls_error *error) {
    dls_bed bed = {.dimension = dimension};
    fitted_slope fit = {0};
    dls_status status = DLS_OK;
    for (int k = 0; k < count && !status; k++) {
        const double *x = places + 3 * (size_t)k;
        if (!(radii[k] > 0) || !isfinite(radii[k]))
            status = dls_fail(error, DLS_ERROR_ARGUMENT, "the radius of body %d is %g, expected above 0", k,
                              radii[k]);
        dls_bed_ball ball = {.id = k, .radius = radii[k], .reach = radii[k]};
        for (int i = 0; i < 3; i++) ball.x[i] = vec_dot(x, axes[i]);
        if (dimension == 2) ball.x[1] = 0;
        if (!status) status = dls_bed_add(&bed, &ball, error);
    }
    if (!status) status = dls_bed_settle(&bed, 0, error);
    if (!status) status = fit_slope(&bed, choose, &fit, error);
    if (!status) *slope = slope_of(&fit);
    dls_free(fit.x);
    dls_bed_release(&bed);
    return status;
}

dls_status dls_slope_measure(int dimension, int count, const double *places, const double *radii,
                             const double *up, const double *along, dls_slope *slope, dls_error *error) {
    double axes[3][3];
    dls_error_clear(error);
    if ((dimension != 2 && dimension != 3) || count < 0 || !places || !radii || !up || !along || !slope)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "a slope of bodies in the plane or in space, with places and radii, is measured");
    if (!make_axes(dimension, up, along, axes))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "up (%g, %g, %g) and along (%g, %g, %g), expected two directions", up[0], up[1],
                        up[2], along[0], along[1], along[2]);
    return measure_balls(dimension, count, places, radii, axes, choose_slope, slope, error);
}

/* Any level direction serves: distances from the axis do not depend on it, and cells of the surface hardly.
 */
dls_status dls_cone_measure(int count, const double *places, const double *radii, const double *up,
                            dls_slope *slope, dls_error *error) {
    double axes[3][3];
    dls_error_clear(error);
    if (count < 0 || !places || !radii || !up || !slope)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a cone of bodies, with places and radii, is measured");
    bool upright = fabs(up[0]) > fabs(up[1]) && fabs(up[0]) > fabs(up[2]);
    const double along[3] = {!upright, upright, 0};
    if (!make_axes(3, up, along, axes))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "up (%g, %g, %g), expected a direction", up[0], up[1],
                        up[2]);
    dls_status status = measure_balls(3, count, places, radii, axes, choose_cone, slope, error);
    if (!status) slope->angle = -slope->angle;
    return status;
}

/* ---- angle of repose ---- */

static const char *const repose_columns[] = {"time", "angle", "error", "places", "roughness"};
static const char *const repose_units[] = {"s", "deg", "deg", "1", "m"};
static const char *const surface_columns[] = {"place", "height", "fit"};
static const char *const surface_units[] = {"m", "m", "m"};

/* Moving bodies with volume in the region; periods bring them into their cell. */
static dls_status gather_bed(const dls_analysis_work *work, dls_bed *bed, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    const dls_analysis_options *o = &work->options;
    for (int id = 0; id < s->body_count; id++) {
        if (!dls_snapshot_moves(s, id) || !(s->radius[id] > 0)) continue;
        double shift[3] = {0, 0, 0}, x[3], top[3], reach = 0;
        bool inside = true;
        for (int k = 0; k < s->dimension; k++)
            if (s->period_size[k] > 0)
                shift[k] =
                    -s->period_size[k] * floor((s->states[id].x[k] - s->period_low[k]) / s->period_size[k]);
        vec_add(x, s->states[id].x, shift);
        for (int k = 0; k < s->dimension && o->has_region; k++)
            inside = inside && x[k] >= o->region_low[k] && x[k] <= o->region_high[k];
        if (!inside) continue;
        for (int k = s->shape_start[id]; k < s->shape_start[id + 1]; k++)
            reach = fmax(reach, vec_norm(s->shapes[k].x) + s->shapes[k].bound);
        dls_body_support(s, id, work->up, top);
        vec_add(top, top, shift);
        dls_bed_ball ball = {.id = id, .radius = s->radius[id], .reach = reach};
        vec_set(ball.x, vec_dot(x, work->along), s->dimension == 3 ? vec_dot(x, work->across) : 0,
                vec_dot(top, work->up) - s->radius[id]);
        dls_status status = dls_bed_add(bed, &ball, error);
        if (status) return status;
    }
    return dls_bed_settle(bed, s->time, error);
}

typedef struct slope_work {
    choose_function choose;
    double sign;
    dls_error why; /* a frame that has no line */
} slope_work;

static void add_slope(dls_analysis_work *work, const slope_work *slope, const fitted_slope *fit) {
    const dls_fitted_line *line = &fit->line;
    dls_slope found = slope_of(fit);
    dls_analysis_add_row(work->out, 0,
                         (const double[]){work->snapshot.time, slope->sign * found.angle, found.error,
                                          fit->count, found.roughness});
    work->out->tables[1].count = 0; /* only the last surface stays */
    for (int k = 0; k < fit->count; k++)
        dls_analysis_add_row(
            work->out, 1, (const double[]){fit->x[k], fit->y[k], line->intercept + line->slope * fit->x[k]});
}

static dls_status slope_frame(dls_analysis_work *work, void *user, dls_error *error) {
    slope_work *slope = user;
    dls_bed bed = {.dimension = work->snapshot.dimension};
    fitted_slope fit = {0};
    dls_status status = gather_bed(work, &bed, error);
    if (!status) {
        dls_status fitted = fit_slope(&bed, slope->choose, &fit, &slope->why);
        if (!fitted) add_slope(work, slope, &fit);
        if (fitted == DLS_ERROR_MEMORY) status = dls_fail_memory(error);
    }
    dls_free(fit.x);
    dls_bed_release(&bed);
    return status;
}

/* u² = mean of the fits' squares + spread of the frames squared / their number */
static void add_angle(dls_analysis *out) {
    const dls_analysis_rows *rows = &out->tables[0];
    double mean = 0, fits = 0, spread = 0, n = (double)rows->count;
    for (int64_t k = 0; k < rows->count; k++) {
        mean += rows->values[5 * k + 1] / n;
        fits += rows->values[5 * k + 2] * rows->values[5 * k + 2] / n;
    }
    for (int64_t k = 0; k < rows->count; k++)
        spread += (rows->values[5 * k + 1] - mean) * (rows->values[5 * k + 1] - mean) / (n > 1 ? n - 1 : 1);
    dls_analysis_add_fact(out, "angle", "deg", mean, sqrt(fits + spread / n),
                          "of the free surface to the level; standard uncertainty of fit and mean");
    dls_analysis_add_mean(out, "angle over frames", 0, 1, "the same, with the spread of the frames");
    dls_analysis_add_mean(out, "places", 0, 3, "that the line goes through");
    dls_analysis_add_mean(out, "roughness", 0, 4, "spread of the surface about the line");
}

static dls_status measure_slope(dls_analysis_work *work, const char *name, slope_work slope,
                                dls_error *error) {
    static const char *const surfaces[] = {"repose_surface", "cone_surface"};
    dls_analysis_add_table(work->out, name, 5, repose_columns, repose_units);
    dls_analysis_add_table(work->out, surfaces[slope.sign < 0], 3, surface_columns, surface_units);
    dls_status status = dls_analysis_frames(work, false, slope_frame, &slope, error);
    if (status) return status;
    if (work->out->tables[0].count == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "%s: no free surface in the chosen frames (%.300s)", name,
                        slope.why.message);
    add_angle(work->out);
    return DLS_OK;
}

dls_status dls_measure_repose(dls_analysis_work *work, dls_error *error) {
    return measure_slope(work, "repose", (slope_work){.choose = choose_slope, .sign = 1}, error);
}

dls_status dls_measure_cone(dls_analysis_work *work, dls_error *error) {
    return measure_slope(work, "cone", (slope_work){.choose = choose_cone, .sign = -1}, error);
}

/* ---- heights ---- */

static const char *const height_columns[] = {"time", "centre", "top", "bottom", "rise"};
static const char *const height_units[] = {"s", "m", "m", "m", "m"};

/* Along up, from the origin: mass centre, highest and lowest point of the bodies that bear load, and what the
 * mass centre has risen since the first of the frames. */
static dls_status height_frame(dls_analysis_work *work, void *user, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    double *first = user, mass = 0, centre = 0, top = -INFINITY, bottom = INFINITY, down[3];
    (void)error;
    vec_scale(down, -1, work->up);
    for (int id = 0; id < s->body_count; id++) {
        if (!dls_snapshot_moves(s, id)) continue;
        double p[3];
        mass += s->mass[id];
        centre += s->mass[id] * vec_dot(s->states[id].x, work->up);
        if (!s->is_loaded[id]) continue;
        dls_body_support(s, id, work->up, p);
        top = fmax(top, vec_dot(p, work->up));
        dls_body_support(s, id, down, p);
        bottom = fmin(bottom, vec_dot(p, work->up));
    }
    if (!(mass > 0)) return DLS_OK;
    if (isnan(*first)) *first = centre / mass;
    const double row[] = {s->time, centre / mass, isfinite(top) ? top : (double)NAN,
                          isfinite(bottom) ? bottom : (double)NAN, centre / mass - *first};
    dls_analysis_add_row(work->out, 0, row);
    return DLS_OK;
}

dls_status dls_measure_height(dls_analysis_work *work, dls_error *error) {
    double first = NAN, highest = -INFINITY;
    dls_analysis_add_table(work->out, "height", 5, height_columns, height_units);
    dls_status status = dls_analysis_frames(work, false, height_frame, &first, error);
    if (status) return status;
    const dls_analysis_rows *rows = &work->out->tables[0];
    if (rows->count == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "height: no moving body in the chosen frames");
    for (int64_t k = 0; k < rows->count; k++) highest = fmax(highest, rows->values[5 * k + 2]);
    dls_analysis_add_fact(work->out, "rise", "m", rows->values[5 * (rows->count - 1) + 4], NAN,
                          "of the mass centre, from the first frame to the last");
    dls_analysis_add_mean(work->out, "centre", 0, 1, "height of the mass centre");
    dls_analysis_add_mean(work->out, "top", 0, 2, "highest point of bodies that bear load");
    dls_analysis_add_fact(work->out, "highest", "m", isfinite(highest) ? highest : (double)NAN, NAN,
                          "the highest of these over the frames");
    return DLS_OK;
}
