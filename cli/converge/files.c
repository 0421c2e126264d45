/* Tables and figures of a convergence study. */
#include "cli/converge/converge.h"
#include "cli/figure/figure.h"
#include "cli/support/csv.h"
#include "cli/support/output_file.h"
#include "cli/support/report.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static bool open_in(const char *folder, const char *name, output_file *out) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return output_file_open(out, path);
}

/* ---- tables ---- */

static bool write_orders(const convergence *c, const char *folder) {
    output_file out;
    if (!open_in(folder, "convergence.csv", &out)) return false;
    fputs("quantity,unit", out.stream);
    for (int k = 0; k + 1 < c->levels; k++) fprintf(out.stream, ",change_%d", k + 1);
    for (int k = 0; k + 2 < c->levels; k++) fprintf(out.stream, ",order_%d", k + 1);
    fputs(",tolerance,disturbed,error,end,end_error,limit,verdict\n", out.stream);
    for (int i = 0; i < c->row_count; i++) {
        const convergence_row *r = &c->rows[i];
        const double rest[] = {r->tolerance, r->disturbed, r->error, r->end, r->end_error, r->limit};
        dls_put_csv(out.stream, r->of->name);
        fputc(',', out.stream);
        dls_put_csv(out.stream, r->of->unit);
        for (int k = 0; k + 1 < c->levels; k++) csv_real(out.stream, r->change[k]);
        for (int k = 0; k + 2 < c->levels; k++) csv_real(out.stream, r->order[k]);
        for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) csv_real(out.stream, rest[k]);
        fprintf(out.stream, ",%s\n", converge_verdict_name(r->verdict));
    }
    return output_file_commit(&out);
}

/* Changes over time, a column for each quantity and each two runs. */
static bool write_changes(const convergence *c, const char *folder) {
    output_file out;
    if (!open_in(folder, "changes.csv", &out)) return false;
    fputs("t", out.stream);
    for (int i = 0; i < c->row_count; i++)
        for (int k = 0; k + 1 < c->levels; k++) {
            char name[QUANTITY_NAME + 32];
            snprintf(name, sizeof name, "%s: change_%d", c->rows[i].of->name, k + 1);
            fputc(',', out.stream);
            dls_put_csv(out.stream, name);
        }
    fputc('\n', out.stream);
    for (int j = 0; j < c->samples; j++) {
        fprintf(out.stream, "%.17g", c->step * c->stride * (j + 1));
        for (int i = 0; i < c->row_count; i++)
            for (int k = 0; k + 1 < c->levels; k++)
                csv_real(out.stream, series_difference(c->rows[i].of, &c->level[k], &c->level[k + 1], j));
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

static bool write_means(const convergence *c, const char *folder) {
    static const char *const names[] = {"same", "differs", "undecided"};
    output_file out;
    if (!open_in(folder, "means.csv", &out)) return false;
    fputs("quantity,unit,step,seeds,mean,half_95,difference,difference_half_95,margin,verdict\n", out.stream);
    for (int i = 0; i < c->mean_count; i++) {
        const convergence_means *m = &c->means[i];
        for (int k = 0; k < c->levels; k++) {
            bool compared = k + 1 < c->levels;
            dls_put_csv(out.stream, m->of->name);
            fputc(',', out.stream);
            dls_put_csv(out.stream, m->of->unit);
            fprintf(out.stream, ",%.17g,%d", ldexp(c->step, -k), c->seeds);
            csv_real(out.stream, m->at[k].mean);
            csv_real(out.stream, m->at[k].half);
            csv_real(out.stream, compared ? m->apart[k].mean : (double)NAN);
            csv_real(out.stream, compared ? m->apart[k].half : (double)NAN);
            csv_real(out.stream, c->margin * m->range);
            fprintf(out.stream, ",%s\n", compared ? names[m->decision[k]] : "");
        }
    }
    return output_file_commit(&out);
}

bool converge_write(const convergence *c, const char *folder) {
    output_file out;
    if (!write_orders(c, folder) || !write_changes(c, folder)) return false;
    if (c->means && !write_means(c, folder)) return false;
    if (!open_in(folder, "convergence.json", &out)) return false;
    converge_to_json(c, out.stream);
    return output_file_commit(&out);
}

/* ---- figures ---- */

enum { MOST_CURVES = 10 };

static bool draw(const figure *f, const char *folder, const char *name) {
    char path[PATH_MAX], message[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (figure_write(f, path, message, sizeof message)) return true;
    report_error("%s: %s", path, message);
    return false;
}

/* Changes over h, each over that of the coarsest step, beside slopes 1 and 2. */
static bool draw_orders(const convergence *c, const char *folder) {
    double x[CONVERGE_MOST_LEVELS], y[MOST_CURVES + 2][CONVERGE_MOST_LEVELS];
    figure_series curves[MOST_CURVES + 2];
    size_t count = 0, points = (size_t)c->levels - 1;
    for (int k = 0; k + 1 < c->levels; k++) x[k] = ldexp(c->step, -k);
    for (int i = 0; i < c->row_count && count < MOST_CURVES; i++) {
        const convergence_row *r = &c->rows[i];
        if (r->verdict == CONVERGE_EXACT || !(r->change[0] > 0)) continue;
        for (size_t k = 0; k < points; k++) y[count][k] = r->change[k] / r->change[0];
        curves[count] = (figure_series){r->of->name, x, y[count], points, FIGURE_LINE, (unsigned)count + 1};
        count++;
    }
    if (count == 0) return true;
    for (int p = 1; p <= 2; p++, count++) {
        for (size_t k = 0; k < points; k++) y[count][k] = pow(x[k] / x[0], p);
        curves[count] = (figure_series){p == 1 ? "slope 1" : "slope 2",
                                        x,
                                        y[count],
                                        points,
                                        FIGURE_PLAIN,
                                        p == 1 ? FIGURE_LOOK_BLACK_DASHED : FIGURE_LOOK_BLACK_DOTTED};
    }
    figure f = {.x = {"step h in s", FIGURE_LOG, 0, 0},
                .y = {"change from h to h/2, over the first", FIGURE_LOG, 0, 0},
                .series = curves,
                .series_count = count,
                .width_inches = FIGURE_PAGE_WIDTH,
                .height_inches = 4};
    return draw(&f, folder, "orders");
}

/* How the first quantity departs over time: between steps, by the tolerance, by the disturbance. */
static bool draw_changes(const convergence *c, const char *folder) {
    enum { MOST = CONVERGE_MOST_LEVELS + 1 };
    static const char *const names[] = {"h to h/2", "h/2 to h/4", "h/4 to h/8", "h/8 to h/16",
                                        "h/16 to h/32"};
    if (c->row_count == 0) return true;
    const quantity *q = c->rows[0].of;
    size_t n = (size_t)c->samples, count = 0;
    double *x = report_allocate(n, sizeof *x), *y = report_allocate(n * MOST, sizeof *y);
    figure_series curves[MOST];
    for (size_t j = 0; j < n; j++) x[j] = c->step * c->stride * (double)(j + 1);
    for (int k = 0; k < c->levels + 1; k++) {
        const series *a = k + 1 < c->levels ? &c->level[k] : &c->level[0],
                     *b = k + 1 < c->levels    ? &c->level[k + 1]
                          : k + 1 == c->levels ? &c->tighter
                                               : &c->disturbed[0];
        const char *name = k + 1 < c->levels    ? names[k]
                           : k + 1 == c->levels ? "tighter tolerance"
                                                : "disturbed";
        double *to = y + count * n, largest = 0;
        for (size_t j = 0; j < n; j++)
            to[j] = series_difference(q, a, b, (int)j), largest = fmax(largest, to[j]);
        if (largest > 0)
            curves[count] = (figure_series){name, x, to, n, FIGURE_PLAIN, (unsigned)k + 1}, count++;
    }
    char label[QUANTITY_NAME + 32];
    snprintf(label, sizeof label, "%s, apart, in %s", q->name, q->unit);
    figure f = {.x = {"time in s", FIGURE_LINEAR, 0, 0},
                .y = {label, FIGURE_LOG, 0, 0},
                .series = curves,
                .series_count = count,
                .width_inches = FIGURE_PAGE_WIDTH,
                .height_inches = 3.5};
    bool good = count == 0 || draw(&f, folder, "changes");
    free(x);
    free(y);
    return good;
}

/* Differences of means to the finest step with their intervals, as shares of the range, and the margin. */
static bool draw_means(const convergence *c, const char *folder) {
    double x[MOST_CURVES][3 * CONVERGE_MOST_LEVELS], y[MOST_CURVES][3 * CONVERGE_MOST_LEVELS];
    figure_series curves[MOST_CURVES];
    size_t count = 0;
    for (int i = 0; i < c->mean_count && count < MOST_CURVES; i++, count++) {
        const convergence_means *m = &c->means[i];
        size_t n = 0;
        for (int k = 0; k + 1 < c->levels; k++) {
            double at = ldexp(c->step, -k) * pow(1.04, (double)i - c->mean_count / 2.0);
            const double ends[] = {m->apart[k].mean - m->apart[k].half, m->apart[k].mean + m->apart[k].half};
            for (int side = 0; side < 3; side++, n++)
                x[count][n] = at, y[count][n] = side < 2 ? 100 * ends[side] / m->range : (double)NAN;
        }
        curves[count] = (figure_series){m->of->name, x[count], y[count], n, FIGURE_LINE, (unsigned)count + 1};
    }
    const figure_mark marks[] = {{"margin", true, 100 * c->margin}, {NULL, true, -100 * c->margin}};
    figure f = {.x = {"step h in s", FIGURE_LOG, 0, 0},
                .y = {"difference to the finest step, 95 %, in % of the range", FIGURE_LINEAR, 0, 0},
                .series = curves,
                .series_count = count,
                .marks = marks,
                .mark_count = 2,
                .width_inches = FIGURE_PAGE_WIDTH,
                .height_inches = 4};
    return draw(&f, folder, "means");
}

bool converge_draw(const convergence *c, const char *folder) {
    return draw_orders(c, folder) && draw_changes(c, folder) && (!c->means || draw_means(c, folder));
}
