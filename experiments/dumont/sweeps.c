/* Nonlinear Gauss–Seidel as paper 003 prints it, on one contact problem, and the four parts of its error.
 *
 *     ε_glob = mean over contacts of  |u − (W r + b)| + |r − proj_K r| + |u·r + μ r_n|u_t|| + max(0, −u_n)
 *
 * u is what the method holds. The standard methods take it anew from the impulses, so that the first part is
 * zero. The enhanced ones hold the velocity of each contact with which Newton's method left it; contacts that
 * are visited later move on, and that is their error of motion. */
#include "cli/support/csv.h"
#include "cli/support/interrupt.h"
#include "cli/support/report.h"
#include "experiments/dumont/dumont.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double lost = 1e30; /* beyond this the sweeps have diverged */
enum { D = DLS_MAX_BLOCK };

/* ---- one contact --------------------------------------------------------------------------------------- */

typedef struct contact {
    int d, row;
    double mu, rho;
    double W[D * D];
    double *data; /* of the law */
} contact;

typedef struct sweeper {
    const dls_problem *problem;
    const dumont_method *method;
    const dls_law *law;
    dls_law_options options;
    int rows, contacts;
    contact *contact;
    double *data, *r, *u; /* u: as the method holds it */
    int64_t *start;       /* W by scalar rows */
    int *column;
    double *value;
    double visits, steps, unsolved;
} sweeper;

static dumont_contact view(const sweeper *s, const contact *c) {
    return (dumont_contact){.d = c->d,
                            .mu = c->mu,
                            .rho = c->rho,
                            .W = c->W,
                            .is_ebp = !strcmp(s->method->law, "ebp"),
                            .printed = s->method->printed};
}

/* b_loc = b + Σ W_cj r_j over the other contacts. */
static void velocity_without(const sweeper *s, const contact *c, double *b_loc) {
    const double *b = dls_problem_b(s->problem);
    for (int i = 0; i < c->d; i++) {
        int row = c->row + i;
        b_loc[i] = b[row];
        for (int64_t k = s->start[row]; k < s->start[row + 1]; k++)
            if (s->column[k] < c->row || s->column[k] >= c->row + c->d)
                b_loc[i] += s->value[k] * s->r[s->column[k]];
    }
}

static void iterate(sweeper *s, const contact *c, const double *b_loc, double *r, double *v) {
    dumont_contact one = view(s, c);
    bool solved;
    s->steps += dumont_newton(&one, s->law, &s->options, c->data, b_loc, r, v, &solved);
    s->unsolved += !solved;
}

static void visit(sweeper *s, const contact *c) {
    double b_loc[D], *r = s->r + c->row, *v = s->u + c->row;
    velocity_without(s, c, b_loc);
    s->visits++;
    if (s->method->bare) {
        iterate(s, c, b_loc, r, v);
        return;
    }
    s->law->solve(&s->options, c->d, c->W, c->mu, c->data, b_loc, r);
    dumont_contact one = view(s, c);
    dumont_local_velocity(&one, b_loc, r, v);
}

/* ---- sweeps -------------------------------------------------------------------------------------------- */

static void sweeper_free(sweeper *s) {
    void *blocks[] = {s->contact, s->data, s->r, s->u, s->start, s->column, s->value};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

static void sweeper_prepare(sweeper *s, double alpha) {
    const dls_problem *p = s->problem;
    int64_t entries = dls_problem_export(p, NULL, NULL, NULL);
    size_t data = 0;
    s->rows = dls_problem_row_count(p);
    s->contacts = dls_problem_block_count(p);
    s->contact = report_allocate((size_t)s->contacts + 1, sizeof *s->contact);
    s->r = report_allocate((size_t)s->rows + 1, sizeof *s->r);
    s->u = report_allocate((size_t)s->rows + 1, sizeof *s->u);
    s->start = report_allocate((size_t)s->rows + 1, sizeof *s->start);
    s->column = report_allocate((size_t)entries + 1, sizeof *s->column);
    s->value = report_allocate((size_t)entries + 1, sizeof *s->value);
    dls_problem_export(p, s->start, s->column, s->value);
    int most = s->law->data_size ? s->law->data_size(D) : 0;
    s->data = report_allocate((size_t)s->contacts + 1, (size_t)(most + 1) * sizeof *s->data);
    for (int k = 0; k < s->contacts; k++) {
        contact *c = &s->contact[k];
        *c = (contact){.d = dls_problem_block_size(p, k),
                       .row = dls_problem_block_row(p, k),
                       .mu = dls_problem_mu(p, k),
                       .data = s->data + data};
        dls_problem_diagonal_block(p, k, c->W);
        c->rho = s->options.rho = alpha / c->W[0];
        if (s->law->prepare) s->law->prepare(&s->options, c->d, c->W, c->mu, c->data);
        data += (size_t)most;
    }
}

static bool measure(sweeper *s, dumont_curve *curve) {
    dls_measures m;
    dls_error error;
    if (dls_problem_measure(s->problem, s->r, s->method->enhanced ? s->u : NULL, &m, &error)) {
        report_error("%s: %s", s->method->name, error.message);
        return false;
    }
    curve->parts = report_grow(curve->parts, (size_t)curve->sweeps, sizeof *curve->parts);
    double *parts = curve->parts[curve->sweeps++];
    parts[DUMONT_MOTION] = m.eps_motion;
    parts[DUMONT_CONE] = m.eps_cone;
    parts[DUMONT_LAW] = m.eps_law;
    parts[DUMONT_PENETRATING] = m.eps_penetration;
    parts[DUMONT_TOTAL] = m.eps_glob;
    curve->penetration = m.penetration;
    return true;
}

bool dumont_sweeps(const dls_problem *problem, const dumont_method *method, double alpha, double tolerance,
                   int max_sweeps, dumont_curve *curve) {
    sweeper s = {.problem = problem,
                 .method = method,
                 .law = dls_law_find(method->law),
                 .options = dls_default_law_options()};
    if (method->printed) s.options.eal_radius = DLS_EAL_RADIUS_R;
    if (method->bare) s.options.local_iterations = 1; /* one step: the loop around it is ours */
    *curve = (dumont_curve){.sweeps = 0};
    sweeper_prepare(&s, alpha);
    bool good = true, going = true;
    while (good && going && curve->sweeps < max_sweeps) {
        for (int k = 0; k < s.contacts; k++) visit(&s, &s.contact[k]);
        good = measure(&s, curve) && !interrupt_seen();
        double total = good ? curve->parts[curve->sweeps - 1][DUMONT_TOTAL] : 0;
        curve->converged = total <= tolerance;
        going = !curve->converged && total < lost;
    }
    curve->newton_steps = s.steps / s.visits;
    curve->unsolved = s.unsolved / s.visits;
    sweeper_free(&s);
    return good;
}

void dumont_curve_free(dumont_curve *curve) {
    free(curve->parts);
    *curve = (dumont_curve){.sweeps = 0};
}

/* ---- what a curve says --------------------------------------------------------------------------------- */

double dumont_least_share(const dumont_curve *curve, dumont_part part) {
    double least = 1;
    for (int k = 0; k < curve->sweeps; k++)
        least = fmin(least, curve->parts[k][part] / curve->parts[k][DUMONT_TOTAL]);
    return least;
}

double dumont_largest(const dumont_curve *curve, dumont_part part) {
    double most = 0;
    for (int k = 0; k < curve->sweeps; k++) most = fmax(most, curve->parts[k][part]);
    return most;
}

static bool store_table(experiment_run *run, const dumont_curve *curve, const char *name) {
    output_file out;
    if (!run_table_open(run, name, &out)) return false;
    fputs("sweep,motion_m_s,projection_Ns,bipotential_J,penetration_m_s,eps_glob\n", out.stream);
    for (int k = 0; k < curve->sweeps; k++) {
        fprintf(out.stream, "%d", k + 1);
        for (int part = 0; part < DUMONT_PARTS; part++) csv_real(out.stream, curve->parts[k][part]);
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

bool dumont_curve_store(experiment_run *run, const dumont_curve *curve, const char *title, const char *name) {
    static const char *const names[DUMONT_PARTS] = {"motion", "projection", "bipotential", "penetration",
                                                    "ε_{glob}"};
    static const unsigned looks[DUMONT_PARTS] = {1, 2, 3, 4, FIGURE_LOOK_BLACK_DASHED};
    static const double lowest = 1e-19;
    if (!store_table(run, curve, name)) return false;
    size_t n = (size_t)curve->sweeps;
    double *x = report_allocate(n + 1, sizeof *x);
    double *y = report_allocate(DUMONT_PARTS * (n + 1), sizeof *y);
    figure_series series[DUMONT_PARTS];
    for (size_t k = 0; k < n; k++) x[k] = (double)k + 1;
    int shown = 0;
    for (int part = 0; part < DUMONT_PARTS; part++) {
        double *values = y + (size_t)part * n;
        for (size_t k = 0; k < n; k++) values[k] = curve->parts[k][part];
        if (dumont_largest(curve, part) > lowest)
            series[shown++] =
                (figure_series){names[part], x, values, n, n > 40 ? FIGURE_PLAIN : FIGURE_LINE, looks[part]};
    }
    figure f = {.title = title,
                .x = {"sweeps", FIGURE_LINEAR, 0, 0},
                .y = {"error, SI units", FIGURE_LOG, lowest, nan("")},
                .series = series,
                .series_count = (size_t)shown};
    bool good = run_figure(run, &f, name);
    free(x);
    free(y);
    return good;
}
