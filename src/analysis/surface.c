/* Free surfaces: robust lines through the top bodies, cones, heights. */
#include "analysis/analysis.h"
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

/* Sorts. */
static double median(int count, double *values) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

/* ---- a robust line ---- */

enum { LEAST_POINTS = 5, MOST_PARTNERS = 200, MOST_SLOPES = 20000000, MOST_ROUNDS = 100 };

/* Theil's and Sen's start: the median of slopes between pairs, and of what remains. Each point meets at most
 * so many partners, evenly spread. */
static bool start_line(int count, int partners, const double *x, const double *y, double *scratch,
                       dls_fitted_line *line) {
    int pairs = 0, stride = (count + partners - 1) / partners;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j += stride)
            if (x[i] != x[j]) scratch[pairs++] = (y[j] - y[i]) / (x[j] - x[i]);
    if (pairs == 0) return false;
    line->slope = median(pairs, scratch);
    for (int i = 0; i < count; i++) scratch[i] = y[i] - line->slope * x[i];
    line->intercept = median(count, scratch);
    return true;
}

static double robust_scale(int count, const double *x, const double *y, const dls_fitted_line *line,
                           double *scratch) {
    for (int i = 0; i < count; i++) scratch[i] = fabs(y[i] - line->intercept - line->slope * x[i]);
    return 1.4826 * median(count, scratch);
}

/* One weighted fit with w = (1 − (e/(4.685 s))²)²; returns how much the slope changed, negative without a
 * line. */
static double reweigh(int count, const double *x, const double *y, double s, dls_fitted_line *line) {
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
static double slope_error(int count, const double *x, const double *y, const dls_fitted_line *line) {
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

dls_status dls_line_fit(int count, const double *x, const double *y, dls_fitted_line *line,
                        dls_error *error) {
    *line = (dls_fitted_line){0};
    if (count < LEAST_POINTS)
        return dls_fail(error, DLS_ERROR_INPUT, "a line through %d points, expected %d or more", count,
                        (int)LEAST_POINTS);
    int partners = count < MOST_PARTNERS ? count : MOST_PARTNERS, most = MOST_SLOPES / count + 1;
    if (partners > most) partners = most;
    double *scratch = DLS_NEW(double, (int64_t)count *(partners + 1));
    if (!scratch) return dls_fail_memory(error);
    dls_status status = DLS_OK;
    if (!start_line(count, partners, x, y, scratch, line))
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

/* What is seen from above in a cell of the level plane: the surface over the cell's middle. */
typedef struct top_cell {
    int64_t column, row;
    double along, across, height;
} top_cell;

static int compare_tops(const void *left, const void *right) {
    const top_cell *a = left, *b = right;
    if (a->column != b->column) return a->column < b->column ? -1 : 1;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return (a->height < b->height) - (a->height > b->height);
}

static bool is_of_bed(const dls_analysis_work *work, int id) {
    const dls_snapshot *s = &work->snapshot;
    const double *x = s->states[id].x;
    if (!dls_snapshot_moves(s, id) || !s->is_loaded[id]) return false;
    for (int k = 0; k < s->dimension && work->options.has_region; k++)
        if (x[k] < work->options.region_low[k] || x[k] > work->options.region_high[k]) return false;
    return true;
}

typedef struct top_list {
    int count;
    int64_t room;
    top_cell *cells;
} top_list;

/* More cells than any heap has, fewer than memory; columns and rows farther out could not be told apart. */
enum { MOST_CELLS = 10000000 };
static const double farthest_cell = 1e12;

static dls_status add_top(top_list *list, const top_cell *cell, dls_error *error) {
    if (!DLS_RESERVE(list->cells, list->count, list->room, list->count + 1)) return dls_fail_memory(error);
    list->cells[list->count++] = *cell;
    return DLS_OK;
}

/* far: cells between the origin and the body's farthest; wanted: all so far and those of the body. */
static dls_status check_cells(const dls_snapshot *s, int id, double width, double far, double wanted,
                              dls_error *error) {
    if (far <= farthest_cell && wanted <= MOST_CELLS) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT,
                    "the free surface at t = %g s in cells of %g m, as wide as a mean body: up to body %d "
                    "%.3g of them, %.3g from the origin, expected at most %d, and %g from the origin: give a "
                    "region",
                    s->time, width, id, wanted, far, (int)MOST_CELLS, farthest_cell);
}

/* The cells whose middles a body lies over, and the one that its centre is in: there it is as high as a ball
 * of its volume, raised so that the highest points agree. */
static dls_status add_body(const dls_analysis_work *work, int id, double width, top_list *list,
                           dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    double r = s->radius[id], top[3], u = vec_dot(s->states[id].x, work->along),
           v = s->dimension == 3 ? vec_dot(s->states[id].x, work->across) : 0.5 * width;
    double own_u = floor(u / width), own_v = floor(v / width), wide = ceil(r / width);
    double cells = s->dimension == 3 ? (2 * wide + 1) * (2 * wide + 1) : 2 * wide + 1;
    dls_status status =
        check_cells(s, id, width, hypot(own_u, own_v) + wide, list->count + cells, error); /* NaN stays NaN */
    if (status) return status;
    int64_t own_i = (int64_t)own_u, own_j = (int64_t)own_v, reach = (int64_t)wide,
            reach_j = s->dimension == 3 ? reach : 0;
    dls_body_support(s, id, work->up, top);
    for (int64_t i = own_i - reach; i <= own_i + reach && !status; i++)
        for (int64_t j = own_j - reach_j; j <= own_j + reach_j && !status; j++) {
            double du = ((double)i + 0.5) * width - u, dv = ((double)j + 0.5) * width - v,
                   inside = r * r - du * du - dv * dv;
            if (inside < 0 && !(i == own_i && j == own_j)) continue;
            const top_cell cell = {i, j, u + du, v + dv, vec_dot(top, work->up) - r + sqrt(fmax(inside, 0))};
            status = add_top(list, &cell, error);
        }
    return status;
}

/* The surface over each cell, cells as wide as a mean body, ordered along the axis. */
static dls_status find_tops(const dls_analysis_work *work, top_list *list, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    double diameter = 0;
    int bodies = 0, kept = 0;
    dls_status status = DLS_OK;
    for (int id = 0; id < s->body_count; id++)
        if (is_of_bed(work, id) && s->radius[id] > 0) diameter += 2 * s->radius[id], bodies++;
    for (int id = 0; id < s->body_count && !status; id++)
        if (is_of_bed(work, id) && s->radius[id] > 0)
            status = add_body(work, id, diameter / bodies, list, error);
    if (status) return status;
    if (list->count) qsort(list->cells, (size_t)list->count, sizeof *list->cells, compare_tops);
    for (int k = 0; k < list->count; k++) {
        const top_cell *cell = &list->cells[k], *last = &list->cells[kept > 0 ? kept - 1 : 0];
        if (kept == 0 || cell->column != last->column || cell->row != last->row) list->cells[kept++] = *cell;
    }
    list->count = kept;
    return DLS_OK;
}

/* ---- angle of repose ---- */

static const char *const repose_columns[] = {"time", "angle", "error", "places", "roughness"};
static const char *const repose_units[] = {"s", "deg", "deg", "1", "m"};
static const char *const surface_columns[] = {"place", "height", "fit"};
static const char *const surface_units[] = {"m", "m", "m"};

/* Which tops a line goes through, as coordinates; −1 where memory is out. */
typedef int (*choose_function)(const dls_analysis_work *work, int count, const top_cell *tops, double *x,
                               double *y);

/* A tenth of the columns at each end belongs to walls and toes. */
static int choose_slope(const dls_analysis_work *work, int count, const top_cell *tops, double *x,
                        double *y) {
    (void)work;
    double low = (double)tops[0].column, high = (double)tops[count - 1].column, trim = 0.1 * (high - low + 1);
    int n = 0;
    for (int k = 0; k < count; k++) {
        double column = (double)tops[k].column;
        if (column < low + floor(trim) || column > high - floor(trim)) continue;
        x[n] = tops[k].along;
        y[n++] = tops[k].height;
    }
    return n;
}

/* Distance from the axis through the mass centre, from a fifth of the radius that holds nine tenths of the
 * bodies up to it: neither the blunt tip nor the scattered toe. */
static int choose_cone(const dls_analysis_work *work, int count, const top_cell *tops, double *x, double *y) {
    const dls_snapshot *s = &work->snapshot;
    double mass = 0, centre[3] = {0, 0, 0}, *distance = DLS_NEW(double, s->body_count);
    int bodies = 0, n = 0;
    if (!distance) return -1;
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
                      const double *y, const dls_fitted_line *line) {
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
    top_list tops = {0};
    int n = 0;
    dls_fitted_line line;
    dls_status status = find_tops(work, &tops, error);
    double *x = DLS_NEW(double, 2 * (int64_t)tops.count), *y = x + tops.count;
    if (!status && !x) status = dls_fail_memory(error);
    if (!status && tops.count > 0) n = slope->choose(work, tops.count, tops.cells, x, y);
    if (n < 0) status = dls_fail_memory(error);
    if (!status) {
        dls_status fitted = dls_line_fit(n, x, y, &line, &slope->why);
        if (!fitted) add_slope(work, slope, n, x, y, &line);
        if (fitted == DLS_ERROR_MEMORY) status = dls_fail_memory(error);
    }
    dls_free(tops.cells);
    dls_free(x);
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
    dls_analysis_add_mean(out, "roughness", 0, 4, "robust spread of the surface about the line");
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
