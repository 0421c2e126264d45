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

/* 4: Newton's method in a visit ends at ε_Newt = 1e-5 or after 100 steps. */
static const double newton_tolerance = 1e-5;
static const double lost = 1e30; /* beyond this the sweeps have diverged */
enum { NEWTON_STEPS = 100, D = DLS_MAX_BLOCK };

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

static bool is_ebp(const dumont_method *method) { return !strcmp(method->law, "ebp"); }

static double norm(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Z = r − proj(r − ρ(v + μ|v_t| n)) onto the cone, or r − proj(r − ρv) onto the half-cylinder: |Z|. */
static double newton_error(const sweeper *s, const contact *c, const double *r, const double *v) {
    double z[D];
    for (int i = 0; i < c->d; i++) z[i] = r[i] - c->rho * v[i];
    if (is_ebp(s->method)) {
        z[0] -= c->rho * c->mu * norm(c->d - 1, v + 1);
        dls_cone_project(c->d, c->mu, z);
    } else {
        z[0] = fmax(0, z[0]);
        double t = norm(c->d - 1, z + 1);
        double R = c->mu * (s->method->printed ? fmax(0, r[0]) : z[0]);
        double shrink = t > R ? R / t : 1;
        for (int i = 1; i < c->d; i++) z[i] *= shrink;
    }
    for (int i = 0; i < c->d; i++) z[i] = r[i] - z[i];
    return norm(c->d, z);
}

/* v = W_cc r + b_loc */
static void local_velocity(const contact *c, const double *b_loc, const double *r, double *v) {
    for (int i = 0; i < c->d; i++) {
        v[i] = b_loc[i];
        for (int j = 0; j < c->d; j++) v[i] += c->W[i + c->d * j] * r[j];
    }
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

static double sign_of(double x) { return (x > 0) - (x < 0); }

/* The step of EBP in the plane to the letter of the paper: (A + B W) δr = −Z, where in the slip branch
 *     ∂Z/∂v_t = ρμ/(1+μ²) ((θ_v + θ_r) n + μ(1 − θ_rθ_v) t),   θ_r = sign τ_t,   θ_v = sign v_t
 * has a minus that the derivation does not give. */
static void printed_step(const contact *c, const double *b_loc, double *r) {
    const double mu = c->mu, rho = c->rho, q = 1 / (1 + mu * mu);
    double v[D], A[4] = {0}, B[4] = {rho, 0, 0, rho}, M[4];
    local_velocity(c, b_loc, r, v);
    const double tau_n = r[0] - rho * (v[0] + mu * fabs(v[1])), tau_t = r[1] - rho * v[1];
    const double of_r = sign_of(tau_t), of_v = sign_of(v[1]);
    double Z[2] = {rho * (v[0] + mu * fabs(v[1])), rho * v[1]};
    B[2] = rho * mu * of_v;
    if (mu * fabs(tau_t) < -tau_n) {
        r[0] = r[1] = 0;
        return;
    }
    if (fabs(tau_t) >= mu * tau_n) {
        const double s = q * (fabs(tau_t) - mu * tau_n);
        const double a[4] = {mu * mu * q, -mu * of_r * q, -mu * of_r * q, q};
        const double b[4] = {rho * q, rho * q * mu * of_r, rho * mu * q * (of_v + of_r),
                             rho * mu * mu * q * (1 - of_r * of_v)};
        Z[0] -= mu * s;
        Z[1] += s * of_r;
        memcpy(A, a, sizeof a);
        memcpy(B, b, sizeof b);
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++)
            M[i + 2 * j] = A[i + 2 * j] + B[i] * c->W[2 * j] + B[i + 2] * c->W[1 + 2 * j];
    const double det = M[0] * M[3] - M[1] * M[2];
    if (det == 0) return;
    r[0] -= (M[3] * Z[0] - M[2] * Z[1]) / det;
    r[1] -= (M[0] * Z[1] - M[1] * Z[0]) / det;
}

/* Bare Newton steps until |Z| ≤ tolerance (|r| + ρ|b_loc|), one at least. */
static void iterate(sweeper *s, const contact *c, const double *b_loc, double *r, double *v) {
    bool solved = false;
    int steps = 0;
    while (steps < NEWTON_STEPS && !solved) {
        if (s->method->printed && is_ebp(s->method) && c->d == 2)
            printed_step(c, b_loc, r);
        else
            s->law->solve(&s->options, c->d, c->W, c->mu, c->data, b_loc, r);
        local_velocity(c, b_loc, r, v);
        steps++;
        double size = norm(c->d, r) + c->rho * norm(c->d, b_loc);
        solved = newton_error(s, c, r, v) <= newton_tolerance * size;
    }
    s->steps += steps;
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
    local_velocity(c, b_loc, r, v);
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
