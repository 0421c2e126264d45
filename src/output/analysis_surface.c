/* Free surfaces: robust lines through the top bodies, cones, heights. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "output/analysis.h"

#include <math.h>
#include <stdlib.h>

static const double DEGREE = 180 / 3.14159265358979323846;

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts. */
static double median(int count, double *values) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

/* ---- a robust line ---- */

enum { LEAST_POINTS = 5, MOST_PARTNERS = 200, MOST_ROUNDS = 100 };

/* Theil's and Sen's start: the median of slopes between pairs, and of what remains. Each point meets at most
 * MOST_PARTNERS others, evenly spread. */
static bool start_line(int count, const double *x, const double *y, double *scratch, dls_line *line) {
    int pairs = 0, stride = (count + MOST_PARTNERS - 1) / MOST_PARTNERS;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j += stride)
            if (x[i] != x[j]) scratch[pairs++] = (y[j] - y[i]) / (x[j] - x[i]);
    if (pairs == 0) return false;
    line->slope = median(pairs, scratch);
    for (int i = 0; i < count; i++) scratch[i] = y[i] - line->slope * x[i];
    line->intercept = median(count, scratch);
    return true;
}

static double robust_scale(int count, const double *x, const double *y, const dls_line *line,
                           double *scratch) {
    for (int i = 0; i < count; i++) scratch[i] = fabs(y[i] - line->intercept - line->slope * x[i]);
    return 1.4826 * median(count, scratch);
}

/* One weighted fit with w = (1 − (e/(4.685 s))²)²; returns how much the slope changed, negative without a
 * line. */
static double reweigh(int count, const double *x, const double *y, double s, dls_line *line) {
    double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < count; i++) {
            double e = (y[i] - line->intercept - line->slope * x[i]) / (4.685 * s);
            double w = fabs(e) < 1 ? (1 - e * e) * (1 - e * e) : 0;
            if (pass == 0) {
                sw += w, sx += w * x[i], sy += w * y[i];
            } else {
                sxx += w * (x[i] - sx / sw) * (x[i] - sx / sw);
                sxy += w * (x[i] - sx / sw) * (y[i] - sy / sw);
            }
        }
    if (!(sxx > 0)) return -1;
    double slope = sxy / sxx, change = fabs(slope - line->slope);
    line->slope = slope;
    line->intercept = (sy - slope * sx) / sw;
    return change;
}

/* Asymptotic: σ² = s² (Σ ψ²/(n − 2)) / (Σ ψ'/n)² / Σ (x − x̄)² with ψ of the biweight */
static double slope_error(int count, const double *x, const double *y, const dls_line *line) {
    double mean = 0, sxx = 0, psi2 = 0, dpsi = 0, c = 4.685;
    for (int i = 0; i < count; i++) mean += x[i] / count;
    for (int i = 0; i < count; i++) {
        double u = (y[i] - line->intercept - line->slope * x[i]) / line->scale, q = u / c * u / c;
        sxx += (x[i] - mean) * (x[i] - mean);
        if (q >= 1) continue;
        psi2 += u * (1 - q) * (1 - q) * u * (1 - q) * (1 - q);
        dpsi += (1 - q) * (1 - 5 * q) / count;
    }
    return dpsi > 0 ? line->scale * sqrt(psi2 / (count - 2) / sxx) / dpsi : (double)NAN;
}

dls_status dls_line_fit(int count, const double *x, const double *y, dls_line *line, dls_error *error) {
    *line = (dls_line){0};
    if (count < LEAST_POINTS)
        return dls_fail(error, DLS_ERROR_INPUT, "a line through %d points, expected %d or more", count,
                        (int)LEAST_POINTS);
    int partners = count < MOST_PARTNERS ? count : MOST_PARTNERS;
    double *scratch = DLS_NEW(double, (int64_t)count *(partners + 1));
    if (!scratch) return dls_fail_memory(error);
    dls_status status = DLS_OK;
    if (!start_line(count, x, y, scratch, line))
        status = dls_fail(error, DLS_ERROR_INPUT, "all %d points of the line lie at x = %g", count, x[0]);
    if (!status) {
        line->scale = robust_scale(count, x, y, line, scratch);
        double change = line->scale > 0 ? 1 : 0; /* half of the points on the line: it is the line */
        for (int round = 0; round < MOST_ROUNDS && change > 1e-12; round++)
            change = reweigh(count, x, y, line->scale, line);
        if (line->scale > 0) line->slope_error = slope_error(count, x, y, line);
    }
    dls_free(scratch);
    return status;
}

/* ---- top bodies ---- */

/* A body that may be seen from above: cell, level place, height of its highest point. */
typedef struct top_body {
    int64_t column, row;
    double along, across, height;
    int id;
} top_body;

static int compare_tops(const void *left, const void *right) {
    const top_body *a = left, *b = right;
    if (a->column != b->column) return a->column < b->column ? -1 : 1;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    if (a->height != b->height) return a->height > b->height ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static bool is_of_bed(const dls_analysis_work *work, int id) {
    const dls_snapshot *s = &work->snapshot;
    const double *x = s->states[id].x;
    if (!dls_snapshot_moves(s, id) || !s->is_loaded[id]) return false;
    for (int k = 0; k < s->dimension && work->options.has_region; k++)
        if (x[k] < work->options.region_low[k] || x[k] > work->options.region_high[k]) return false;
    return true;
}

/* The highest body in each cell of the level plane, cells as wide as a mean body, ordered along the axis. */
static dls_status find_tops(const dls_analysis_work *work, top_body **tops, int *count, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    double radius = 0;
    int bodies = 0, kept = 0;
    *count = 0;
    *tops = DLS_NEW(top_body, s->body_count);
    if (!*tops) return dls_fail_memory(error);
    for (int id = 0; id < s->body_count; id++) {
        if (!is_of_bed(work, id)) continue;
        double top[3];
        dls_body_support(s, id, work->up, top);
        (*tops)[bodies++] = (top_body){.along = vec_dot(s->states[id].x, work->along),
                                       .across = vec_dot(s->states[id].x, work->across),
                                       .height = vec_dot(top, work->up),
                                       .id = id};
        radius += s->radius[id];
    }
    double width = bodies ? 2 * radius / bodies : 0;
    for (int k = 0; k < bodies && width > 0; k++) {
        (*tops)[k].column = (int64_t)floor((*tops)[k].along / width);
        (*tops)[k].row = s->dimension == 3 ? (int64_t)floor((*tops)[k].across / width) : 0;
    }
    qsort(*tops, (size_t)bodies, sizeof **tops, compare_tops);
    for (int k = 0; k < bodies; k++)
        if (k == 0 || (*tops)[k].column != (*tops)[kept - 1].column ||
            (*tops)[k].row != (*tops)[kept - 1].row)
            (*tops)[kept++] = (*tops)[k];
    *count = kept;
    return DLS_OK;
}

/* ---- angle of repose ---- */

static const char *const repose_columns[] = {"time", "angle", "error", "tops", "roughness"};
static const char *const repose_units[] = {"s", "deg", "deg", "1", "m"};
static const char *const surface_columns[] = {"place", "height", "fit"};
static const char *const surface_units[] = {"m", "m", "m"};

/* Which tops a line goes through, as coordinates in place. */
typedef int (*choose_function)(const dls_analysis_work *work, int count, const top_body *tops, double *x,
                               double *y);

/* A tenth of the columns at each end belongs to walls and toes. */
static int choose_slope(const dls_analysis_work *work, int count, const top_body *tops, double *x,
                        double *y) {
    (void)work;
    double low = tops[0].column, high = tops[count - 1].column, trim = 0.1 * (high - low + 1);
    int n = 0;
    for (int k = 0; k < count; k++) {
        if (tops[k].column < low + floor(trim) || tops[k].column > high - floor(trim)) continue;
        x[n] = tops[k].along;
        y[n++] = tops[k].height;
    }
    return n;
}

/* Distance from the axis through the mass centre, from a fifth of the radius that holds nine tenths of the
 * bodies up to it: neither the blunt tip nor the scattered toe. */
static int choose_cone(const dls_analysis_work *work, int count, const top_body *tops, double *x, double *y) {
    const dls_snapshot *s = &work->snapshot;
    double mass = 0, centre[3] = {0, 0, 0}, *distance = DLS_NEW(double, s->body_count);
    int bodies = 0, n = 0;
    if (!distance) return 0;
    for (int id = 0; id < s->body_count; id++)
        if (is_of_bed(work, id)) {
            vec_along(centre, centre, s->mass[id], s->states[id].x);
            mass += s->mass[id];
        }
    vec_scale(centre, 1 / mass, centre);
    double along = vec_dot(centre, work->along), across = vec_dot(centre, work->across);
    for (int id = 0; id < s->body_count; id++)
        if (is_of_bed(work, id))
            distance[bodies++] = hypot(vec_dot(s->states[id].x, work->along) - along,
                                       vec_dot(s->states[id].x, work->across) - across);
    qsort(distance, (size_t)bodies, sizeof *distance, ascending);
    double base = distance[(bodies - 1) * 9 / 10];
    for (int k = 0; k < count; k++) {
        double r = hypot(tops[k].along - along, tops[k].across - across);
        if (r < 0.2 * base || r > base) continue;
        x[n] = r;
        y[n++] = tops[k].height;
    }
    dls_free(distance);
    return n;
}

typedef struct slope_work {
    choose_function choose;
    double sign;
    dls_error why; /* a frame that has no line */
} slope_work;

static void add_slope(dls_analysis_work *work, const slope_work *slope, int n, const double *x,
                      const double *y, const dls_line *line) {
    const dls_snapshot *s = &work->snapshot;
    double angle = slope->sign * DEGREE * atan(line->slope);
    double error = DEGREE * line->slope_error / (1 + line->slope * line->slope);
    dls_analysis_add_row(work->out, 0, (const double[]){s->time, angle, error, n, line->scale});
    work->out->tables[1].count = 0; /* only the last surface stays */
    for (int k = 0; k < n; k++)
        dls_analysis_add_row(work->out, 1,
                             (const double[]){x[k], y[k], line->intercept + line->slope * x[k]});
}

static dls_status slope_frame(dls_analysis_work *work, void *user, dls_error *error) {
    slope_work *slope = user;
    top_body *tops;
    int count, n = 0;
    dls_line line;
    dls_status status = find_tops(work, &tops, &count, error);
    double *x = DLS_NEW(double, count), *y = DLS_NEW(double, count);
    if (!status && (!x || !y)) status = dls_fail_memory(error);
    if (!status) {
        if (count > 0) n = slope->choose(work, count, tops, x, y);
        if (!dls_line_fit(n, x, y, &line, &slope->why)) add_slope(work, slope, n, x, y, &line);
    }
    dls_free(tops);
    dls_free(x);
    dls_free(y);
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
    dls_analysis_add_mean(out, "top bodies", 0, 3, "that the line goes through");
    dls_analysis_add_mean(out, "roughness", 0, 4, "robust spread of tops about the line");
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
