#include "experiments/capobianco/capobianco.h"

#include "cli/support/csv.h"
#include "cli/support/interrupt.h"
#include "cli/support/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

static void take(double *to, const double *from, int count) {
    if (count) memcpy(to, from, sizeof *to * (size_t)count);
}

static void record(const benchmark *b, const dls_alpha *alpha, const dls_alpha_report *report,
                   alpha_row *row) {
    dls_alpha_view v = dls_alpha_get(alpha);
    int normals = b->model.rows[DLS_ROWS_N].count, rows = b->model.rows[DLS_ROWS_F].count;
    row->t = v.t, row->report = *report;
    take(row->q, v.q, b->model.coordinates);
    take(row->u, v.u, b->model.velocities), take(row->a, v.a, b->model.velocities);
    take(row->gap, v.gap, normals), take(row->force_n, v.force[DLS_ROWS_N], normals);
    take(row->force_g, v.force[DLS_ROWS_G], b->model.rows[DLS_ROWS_G].count);
    take(row->impact_n, v.impact[DLS_ROWS_N], normals);
    take(row->percussion_n, v.percussion[DLS_ROWS_N], normals);
    take(row->force_t, v.force[DLS_ROWS_F], rows), take(row->impact_t, v.impact[DLS_ROWS_F], rows);
    take(row->percussion_t, v.percussion[DLS_ROWS_F], rows);
}

bool alpha_run(const benchmark *b, const char *name, alpha_history *h) {
    dls_error error;
    dls_alpha *alpha = NULL;
    dls_alpha_report report;
    *h = (alpha_history){.steps = (int)lround(b->end / b->options.dt)};
    if (dls_alpha_create(&b->model, &b->options, 0, b->q, b->u, &alpha, &error)) {
        report_error("%s: %s", name, error.message);
        return false;
    }
    h->rows = report_allocate((size_t)h->steps + 1, sizeof *h->rows);
    memset(h->rows, 0, sizeof *h->rows * ((size_t)h->steps + 1));
    dls_alpha_first_report(alpha, &report);
    record(b, alpha, &report, &h->rows[0]);
    bool good = true;
    for (int i = 1; good && i <= h->steps && !interrupt_seen(); i++) {
        good = !dls_alpha_step(alpha, &report, &error);
        if (good) record(b, alpha, &report, &h->rows[i]);
    }
    if (!good) report_error("%s: %s", name, error.message);
    dls_alpha_destroy(alpha);
    if (good && !interrupt_seen()) return true;
    alpha_history_free(h);
    return false;
}

void alpha_history_free(alpha_history *h) {
    free(h->rows);
    *h = (alpha_history){.steps = 0};
}

const alpha_row *alpha_at(const alpha_history *h, double t) {
    double dt = (h->rows[h->steps].t - h->rows[0].t) / h->steps;
    int i = (int)lround((t - h->rows[0].t) / dt);
    return &h->rows[i < 0 ? 0 : i > h->steps ? h->steps : i];
}

const alpha_row *alpha_impact_after(const alpha_history *h, double t, int k) {
    for (int i = 1; i <= h->steps; i++)
        if (h->rows[i].t > t && h->rows[i].impact_n[k] > 1e-3) return &h->rows[i];
    return NULL;
}

/* ---- counts ---- */

alpha_counts alpha_count(const alpha_history *h, int contacts) {
    alpha_counts c = {.least_gap = INFINITY};
    int busy = 0;
    for (int i = 1; i <= h->steps; i++) {
        const dls_alpha_report *r = &h->rows[i].report;
        if (r->by_fixed_point) {
            c.fixed_steps++, busy += r->fixed_iterations > 0;
            c.fixed_mean += r->fixed_iterations;
            c.fixed_most = fmax(c.fixed_most, r->fixed_iterations);
        } else {
            c.newton_mean += r->newton_updates;
            c.newton_most = fmax(c.newton_most, r->newton_updates);
            c.beyond_mean += fmax(r->newton_updates - 1, 0);
        }
        c.violation[0] = fmax(c.violation[0], r->position),
        c.violation[1] = fmax(c.violation[1], r->velocity);
        c.violation[2] = fmax(c.violation[2], r->acceleration);
        c.retried += r->retries > 0, c.halvings += r->halvings;
        for (int k = 0; k < contacts; k++) c.least_gap = fmin(c.least_gap, h->rows[i].gap[k]);
        c.largest_error = fmax(c.largest_error, r->max_error);
        c.largest_residual = fmax(c.largest_residual, r->residual);
        c.largest_condition = fmax(c.largest_condition, r->condition);
    }
    c.beyond_most = fmax(c.newton_most - 1, 0);
    if (c.fixed_steps < h->steps)
        c.newton_mean /= h->steps - c.fixed_steps, c.beyond_mean /= h->steps - c.fixed_steps;
    if (busy) c.fixed_mean /= busy;
    return c;
}

void alpha_claim_counts(claim_list *c, const char *name, const alpha_counts *ours, bool beyond, double most,
                        double mean) {
    char text[96];
    const contender contenders[] = {{"largest", most, beyond ? ours->beyond_most : ours->newton_most},
                                    {"mean", mean, beyond ? ours->beyond_mean : ours->newton_mean}};
    snprintf(text, sizeof text, "%s: Newton updates of a step%s", name, beyond ? " after the first" : "");
    claim_order(c, text, "1", "counts of another implementation", contenders, 2);
}

void alpha_claim_kept(claim_list *c, const char *name, const benchmark *b, const alpha_counts *ours) {
    static const char *const levels[3] = {"positions", "velocities", "accelerations"};
    double most = 10 * b->options.tolerance;
    claim_bound(c, CLAIM_PRINTED, "m", CLAIM_AT_LEAST, -most, ours->least_gap,
                "%s: no penetration, least gap", name);
    for (int i = 0; i < 3; i++)
        claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_MOST, most, ours->violation[i],
                    "%s: no drift, largest violation by %s", name, levels[i]);
    claim_equal(c, CLAIM_DERIVED, "1", 0, ours->halvings, 0, "%s: steps that were rejected and cut", name);
}

/* ---- tables and curves ---- */

static void put_heads(FILE *out, const char *name, int count) {
    for (int i = 0; i < count; i++) fprintf(out, ",%s_%d", name, i);
}

static void put(FILE *out, const double *values, int count) {
    for (int i = 0; i < count; i++) csv_real(out, values[i]);
}

bool alpha_table(experiment_run *run, const benchmark *b, const alpha_history *h, const char *name) {
    output_file out;
    int n = b->model.coordinates, m = b->model.velocities;
    int normals = b->model.rows[DLS_ROWS_N].count, rows = b->model.rows[DLS_ROWS_F].count;
    if (!run_table_open(run, name, &out)) return false;
    fputs("t", out.stream);
    put_heads(out.stream, "q", n), put_heads(out.stream, "u", m), put_heads(out.stream, "gap", normals);
    put_heads(out.stream, "lambda_n", normals), put_heads(out.stream, "impact_n", normals);
    put_heads(out.stream, "percussion_n", normals), put_heads(out.stream, "lambda_f", rows);
    put_heads(out.stream, "impact_f", rows), put_heads(out.stream, "percussion_f", rows);
    fputs(",newton_updates,fixed_iterations,condition,solutions,max_error,residual\n", out.stream);
    int every = h->steps / 4000 + 1; /* more rows than a figure can show serve nobody */
    for (int i = 0; i <= h->steps; i += every) {
        const alpha_row *r = &h->rows[i];
        fprintf(out.stream, "%.10g", r->t);
        put(out.stream, r->q, n), put(out.stream, r->u, m), put(out.stream, r->gap, normals);
        put(out.stream, r->force_n, normals), put(out.stream, r->impact_n, normals);
        put(out.stream, r->percussion_n, normals), put(out.stream, r->force_t, rows);
        put(out.stream, r->impact_t, rows), put(out.stream, r->percussion_t, rows);
        fprintf(out.stream, ",%d,%d", r->report.newton_updates, r->report.fixed_iterations);
        csv_real(out.stream, r->report.condition);
        fprintf(out.stream, ",%d", r->report.solutions);
        csv_real(out.stream, r->report.max_error), csv_real(out.stream, r->report.residual);
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

double *alpha_curve(const alpha_history *h, double (*value)(const alpha_row *row)) {
    double *curve = report_allocate((size_t)h->steps + 1, sizeof *curve);
    for (int i = 0; i <= h->steps; i++) curve[i] = value(&h->rows[i]);
    return curve;
}

double alpha_time(const alpha_row *row) { return row->t; }
