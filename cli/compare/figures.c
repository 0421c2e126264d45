/* Performance profiles, one per tolerance, and residual curves, one figure per problem. */
#include "cli/compare/compare.h"
#include "cli/figure/figure.h"
#include "cli/support/report.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool draw(const figure *f, const char *folder, const char *kind, const char *name) {
    char path[PATH_MAX], message[512];
    snprintf(path, sizeof path, "%s/%s_%s", folder, kind, name);
    if (figure_write(f, path, message, sizeof message)) return true;
    report_error("%s: %s", path, message);
    return false;
}

/* 1e-4 as 10 to the power of −4, other numbers as they were given. */
static void format_tolerance(const compare_tolerance *tolerance, char *text, size_t size) {
    double power = log10(tolerance->value);
    if (power == floor(power))
        snprintf(text, size, "10^{−%d}", (int)-power);
    else
        snprintf(text, size, "%s", tolerance->text);
}

/* ---- profiles: y(x) = share of the problems that a solver solves within x times the best time ---------- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Points of one solver's steps in x and y, which hold problem_count + 1 numbers; returns their number. */
static size_t profile_points(const comparison *c, int tolerance, int solver, double *x, double *y) {
    int solved = 0;
    for (int p = 0; p < c->problem_count; p++) {
        double ratio = compare_ratio(c, tolerance, p, solver);
        if (isfinite(ratio)) x[1 + solved++] = ratio;
    }
    qsort(x + 1, (size_t)solved, sizeof *x, ascending);
    x[0] = 1;
    y[0] = 0;
    for (int i = 1; i <= solved; i++) y[i] = (double)i / c->problem_count;
    /* the first step begins at the share solved fastest, not at zero */
    size_t first = 0, count = (size_t)solved + 1;
    while (first + 1 < count && x[first + 1] == 1) first++;
    for (size_t i = first; i < count; i++) {
        x[i - first] = x[i];
        y[i - first] = y[i];
    }
    return count - first;
}

static bool draw_profile(const comparison *c, int tolerance, const char *folder) {
    size_t stride = (size_t)c->problem_count + 1, solvers = (size_t)c->solver_count;
    figure_series *series = report_allocate(solvers, sizeof *series);
    double *x = report_allocate(solvers * stride, sizeof *x),
           *y = report_allocate(solvers * stride, sizeof *y);
    double largest = 1;
    for (size_t s = 0; s < solvers; s++) {
        size_t count = profile_points(c, tolerance, (int)s, x + s * stride, y + s * stride);
        largest = fmax(largest, x[s * stride + count - 1]);
        series[s] = (figure_series){c->solvers[s].label, x + s * stride, y + s * stride, count,
                                    FIGURE_STEPS,        (unsigned)s + 1};
    }
    char title[64], limit[32];
    format_tolerance(&c->tolerances[tolerance], limit, sizeof limit);
    snprintf(title, sizeof title, "residual at most %s", limit);
    /* a little more than 1 to the end and 0 to 1, so that no step runs along the frame */
    double end = fmax(2, 1.25 * largest), edge = pow(end, -0.015);
    figure f = {.title = title,
                .x = {"time relative to the fastest solver", FIGURE_LOG, edge, end},
                .y = {"share of problems solved", FIGURE_LINEAR, -0.025, 1.025},
                .series = series,
                .series_count = solvers};
    bool good = draw(&f, folder, "profile", c->tolerances[tolerance].text);
    free(series);
    free(x);
    free(y);
    return good;
}

/* ---- curves ------------------------------------------------------------------------------------------- */

static size_t curve_series(const comparison *c, int problem, bool over_time, figure_series *series, double *x,
                           double *y) {
    size_t drawn = 0;
    for (int s = 0; s < c->solver_count; s++) {
        const compare_curve *curve = comparison_curve(c, problem, s);
        if (curve->count == 0) continue;
        double *to_x = x + drawn * CURVE_POINTS, *to_y = y + drawn * CURVE_POINTS;
        for (int i = 0; i < curve->count; i++) {
            to_x[i] = over_time ? compare_curve_time(c, problem, s, i) : curve->points[i].iteration;
            to_y[i] = curve->points[i].residual;
        }
        series[drawn++] = (figure_series){c->solvers[s].label,  to_x,        to_y,
                                          (size_t)curve->count, FIGURE_LINE, (unsigned)s + 1};
    }
    return drawn;
}

/* Ten Newton steps and a thousand sweeps, in iterations or in time, are both seen on a logarithmic axis only.
 */
static figure_axis effort_axis(const char *label, const figure_series *series, size_t count) {
    double shortest = HUGE_VAL, longest = 0;
    for (size_t i = 0; i < count; i++) {
        shortest = fmin(shortest, series[i].x[series[i].count - 1]);
        longest = fmax(longest, series[i].x[series[i].count - 1]);
    }
    bool wide = longest > 20 * shortest;
    return (figure_axis){label, wide ? FIGURE_LOG : FIGURE_LINEAR, 0, 0};
}

static bool draw_curves(const comparison *c, int problem, bool over_time, const char *folder) {
    size_t solvers = (size_t)c->solver_count;
    figure_series *series = report_allocate(solvers, sizeof *series);
    figure_mark *marks = report_allocate((size_t)c->tolerance_count, sizeof *marks);
    double *x = report_allocate(solvers * CURVE_POINTS, sizeof *x);
    double *y = report_allocate(solvers * CURVE_POINTS, sizeof *y);
    for (int t = 0; t < c->tolerance_count; t++) marks[t] = (figure_mark){NULL, true, c->tolerances[t].value};
    char title[160];
    int contacts = c->problems[problem].probe.contacts;
    snprintf(title, sizeof title, "%s (%d contact%s)", c->problems[problem].name, contacts, plural(contacts));
    size_t drawn = curve_series(c, problem, over_time, series, x, y);
    figure f = {.title = title,
                .x = effort_axis(over_time ? "processor time in s" : "iterations", series, drawn),
                .y = {"residual", FIGURE_LOG, 0, 0},
                .series = series,
                .series_count = drawn,
                .marks = marks,
                .mark_count = (size_t)c->tolerance_count};
    bool good = drawn == 0 || draw(&f, folder, over_time ? "time" : "curve", c->problems[problem].name);
    free(series);
    free(marks);
    free(x);
    free(y);
    return good;
}

bool comparison_draw(const comparison *c, const char *folder) {
    bool good = true;
    for (int t = 0; t < c->tolerance_count && good; t++) good = draw_profile(c, t, folder);
    for (int p = 0; p < c->problem_count && good && c->curves; p++)
        good = draw_curves(c, p, false, folder) && draw_curves(c, p, true, folder);
    return good;
}
