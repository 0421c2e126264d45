/* Semismooth Newton on F(x) = 0, the contact law of every block as an equation, inside a proximal point
 * iteration:
 *
 *     u = (W + α) x + b − α r_k,   (A + B (W + α)) δ = −F,   r_{k+1} = r_k + ω (x − r_k)
 *
 * α makes the inner problem solvable where W is singular (more impulses than the motion can tell apart);
 * over-relaxation ω shortens the long drift of r along such directions. */
#include "solve/global/newton.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"
#include "solve/fields.h"
#include "solve/law/law.h"

#include <math.h>

static const double INNER_GAIN = 0.1;      /* ‖F‖ falls by this in one proximal step */
static const double RESIDUAL_GAIN = 0.3;   /* a fall of the residual that needs no over-relaxation */
static const double LEAST_DECREASE = 1e-4; /* of the line search */
/* Of rows of joints, at most. Along a chain of n links W has eigenvalues of 1/n²: an α beyond them makes
 * joints soft, and every proximal step then holds them a little more (1000 links: stalled at 1e-4; so 5 steps
 * to 1e-6). */
static const double HELD_ALPHA = 1e-8;
static const double LEAST_ALPHA = 1e-10, RESCUE_ALPHA = 1e-6, LARGEST_ALPHA = 1e6;

enum { INNER_ITERATIONS = 15, QUICK = 5, SLOW = 10, HALVINGS = 8, MAX_FAILURES = 12, STALL_STEPS = 30 };

bool dls_newton_prepare(dls_newton *x, const dls_newton_options *options, const dls_scaled *scaled,
                        dls_system *system, dls_monitor *monitor, dls_workspace *w) {
    const dls_problem *p = scaled->problem;
    size_t n = (size_t)p->row_count, blocks = 0;
    for (int c = 0; c < p->block_count; c++) blocks += (size_t)(dls_size(p, c) * dls_size(p, c));
    *x = (dls_newton){.options = options, .scaled = scaled, .system = system, .monitor = monitor};
    x->alpha = options->alpha;
    x->max_iterations = options->stop.max_iterations;
    x->most_flops = INFINITY;
    double **vectors[] = {&x->centre, &x->x, &x->u, &x->F, &x->step, &x->trial, &x->r};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = DLS_TAKE(w, double, n))) return false;
    x->rho = DLS_TAKE(w, double, p->block_count);
    x->A = DLS_TAKE(w, double, blocks);
    x->B = DLS_TAKE(w, double, blocks);
    x->state = DLS_TAKE(w, double, p->op->state_size(p));
    x->open = DLS_TAKE(w, bool, p->block_count);
    if (!x->rho || !x->A || !x->B || !x->state || !x->open) return false;
    for (int c = 0; c < p->block_count; c++)
        x->rho[c] = 1 / small_max_eigenvalue(dls_size(p, c), dls_diagonal(p, c), dls_size(p, c));
    return true;
}

double dls_scaled_measure(const dls_scaled *scaled, dls_monitor *monitor, const double *x, double *r,
                          int iteration) {
    const dls_problem *p = scaled->problem;
    for (int c = 0; c < p->block_count; c++) {
        int row = p->row[c], d = dls_size(p, c);
        for (int i = row; i < row + d; i++) r[i] = x[i];
        dls_block_project(p, c, r + row);
        for (int i = row; i < row + d; i++) r[i] *= scaled->S[i];
    }
    return dls_monitor_measure(monitor, r, iteration, NAN);
}

/* F_i = r_i − clamp(r_i − ρ u_i, low, high) of each row of an interval. */
static dls_contact_state linearize_interval(const dls_problem *p, int c, double rho, const double *r,
                                            const double *u, double *F, double *A, double *B) {
    int d = dls_size(p, c);
    for (int k = 0; k < d * d; k++) A[k] = B[k] = 0;
    for (int i = 0; i < d; i++) {
        double z = r[i] - rho * u[i], low = p->low ? p->low[p->row[c] + i] : -HUGE_VAL;
        double high = p->low ? p->high[p->row[c] + i] : HUGE_VAL;
        bool held = z < low || z > high;
        F[i] = held ? r[i] - (z < low ? low : high) : rho * u[i];
        A[i + d * i] = held;
        B[i + d * i] = held ? 0 : rho;
    }
    return DLS_STICK;
}

dls_contact_state dls_block_linearize(const dls_problem *p, int c, dls_newton_form form, double rho,
                                      const double *r, const double *u, double *F, double *A, double *B) {
    int d = dls_size(p, c);
    if (p->kind[c] == DLS_INTERVAL) return linearize_interval(p, c, rho, r, u, F, A, B);
    if (!dls_is_plain(dls_parts_of(p, c))) {
        dls_cone cone = dls_cone_of(p, c);
        return form == DLS_FORM_NATURAL_MAP ? dls_ebp_linearize_cone(&cone, rho, r, u, F, A, B)
                                            : dls_eal_linearize_cone(&cone, rho, r, u, F, A, B);
    }
    return form == DLS_FORM_NATURAL_MAP
               ? dls_ebp_linearize(d, p->mu[c], rho, r, u, F, A, B)
               : dls_eal_linearize(d, p->mu[c], rho, DLS_EAL_RADIUS_TAU, r, u, F, A, B);
}

/* α of a row. */
static double alpha_of(const dls_newton *s, int c, int row) {
    const dls_problem *p = s->scaled->problem;
    if (row >= s->scaled->given->row_count) return 0; /* kept rows depend on no others */
    bool held = p->kind[c] == DLS_INTERVAL && (!p->low || (isinf(p->low[row]) && isinf(p->high[row])));
    return held ? fmin(s->alpha, HELD_ALPHA) : s->alpha;
}

/* F and its derivatives at x; returns ‖F‖. */
static double linearize(dls_newton *s, const double *x, double *F) {
    const dls_problem *p = s->scaled->problem;
    double sum = 0;
    dls_velocity(p, x, s->u, s->state, s->options->stop.threads);
    for (int c = 0, at = 0; c < p->block_count; c++) {
        int row = p->row[c], d = dls_size(p, c);
        double *A = s->A + at, *B = s->B + at, *u = s->u + row;
        for (int i = 0; i < d; i++) u[i] += alpha_of(s, c, row + i) * (x[row + i] - s->centre[row + i]);
        dls_contact_state state =
            dls_block_linearize(p, c, s->options->form, s->rho[c], x + row, u, F + row, A, B);
        s->open[c] = state == DLS_OPEN;
        for (int i = 0; i < d && p->kind[c] == DLS_INTERVAL; i++) /* the system adds α B */
            A[i + d * i] += (alpha_of(s, c, row + i) - s->alpha) * B[i + d * i];
        sum += small_dot(d, F + row, F + row);
        at += d * d;
    }
    return sqrt(sum);
}

/* x ← x + t δ with the first t of 1, ½, ¼ … that lets ‖F‖ fall. */
static bool newton_step(dls_newton *s, double *norm) {
    int n = s->scaled->problem->row_count;
    for (int i = 0; i < n; i++) s->step[i] = -s->F[i];
    if (!dls_system_factor(s->system, s->A, s->B, s->alpha, s->open) || !dls_system_solve(s->system, s->step))
        return false;
    s->iterations++;
    double t = 1;
    for (int k = 0; k <= HALVINGS; k++, t /= 2) {
        for (int i = 0; i < n; i++) s->trial[i] = s->x[i] + t * s->step[i];
        double next = linearize(s, s->trial, s->F);
        if (next <= (1 - LEAST_DECREASE * t) * *norm) {
            memcpy(s->x, s->trial, sizeof(double) * (size_t)n);
            *norm = next;
            return true;
        }
    }
    return false;
}

static bool may_go_on(const dls_newton *s) {
    return s->iterations < s->max_iterations && dls_system_spent(s->system) < s->most_flops;
}

/* One proximal step: the inner problem to a tenth of where it began. Returns its Newton steps, −1 on failure.
 */
static int proximal_step(dls_newton *s) {
    int n = s->scaled->problem->row_count, steps = 0;
    memcpy(s->x, s->centre, sizeof(double) * (size_t)n);
    double norm = linearize(s, s->x, s->F), first = norm;
    while (norm > INNER_GAIN * first && may_go_on(s)) {
        if (steps++ == INNER_ITERATIONS || !newton_step(s, &norm)) return -1;
    }
    return steps;
}

/* α follows how hard the inner problem was; it stays above what failed lately. */
static void adapt_alpha(dls_newton *s, int steps, double *failed) {
    if (steps < 0) {
        *failed = s->alpha;
        s->alpha = fmin(fmax(3 * s->alpha, RESCUE_ALPHA), LARGEST_ALPHA);
        return;
    }
    if (steps <= QUICK) s->alpha *= 0.3;
    if (steps >= SLOW) s->alpha *= 1.5;
    s->alpha = fmax(s->alpha, fmax(2 * *failed, LEAST_ALPHA));
    *failed *= 0.7;
}

dls_outcome dls_newton_run(dls_newton *s, const double *r) {
    const dls_problem *p = s->scaled->problem;
    const dls_stop_options *stop = s->monitor->stop;
    double failed = 0, last = INFINITY, least = INFINITY;
    int failures = 0, idle = 0;
    if (!dls_scaled_enter(s->scaled, r, s->centre, s->u, s->state, s->options->stop.threads))
        return DLS_STALLED;
    while (may_go_on(s)) {
        int steps = proximal_step(s);
        adapt_alpha(s, steps, &failed);
        if (steps < 0 && ++failures > MAX_FAILURES) return DLS_STALLED;
        if (steps >= 0) failures = 0;
        double value = dls_scaled_measure(s->scaled, s->monitor, s->x, s->r, s->iterations);
        if (!dls_monitor_report(s->monitor, s->r, s->iterations, value, true)) return DLS_CANCELLED;
        if (value <= stop->tolerance) return DLS_CONVERGED;
        if (dls_monitor_out_of_time(s->monitor)) return DLS_TIME_LIMIT;
        idle = value < 0.9 * least ? 0 : idle + 1;
        least = fmin(least, value);
        if (idle > STALL_STEPS) return DLS_STALLED;
        if (steps < 0 && !(value < last)) continue;
        double omega = value < RESIDUAL_GAIN * last ? 1 : s->options->over_relaxation;
        for (int i = 0; i < p->row_count; i++) s->centre[i] += omega * (s->x[i] - s->centre[i]);
        last = value;
    }
    return DLS_ITERATION_LIMIT;
}

/* ---- the row of the table ---- */

typedef struct scaled_call {
    const dls_problem *problem;
    const dls_newton_options *options;
    dls_newton_iterate iterate;
    const void *own;
    double *r;
    dls_workspace *workspace;
    dls_solve_info *info;
} scaled_call;

static dls_status solve_scaled(const scaled_call *call, const dls_scaled *scaled, dls_system *system,
                               dls_error *error) {
    const dls_stop_options *stop = &call->options->stop;
    dls_solve_info *info = call->info;
    dls_monitor monitor;
    dls_newton newton;
    if (!dls_monitor_prepare(&monitor, call->problem, stop, call->workspace) ||
        !dls_newton_prepare(&newton, call->options, scaled, system, &monitor, call->workspace))
        return dls_fail_memory(error);
    dls_monitor_start(&monitor, call->r);
    info->outcome = DLS_CONVERGED;
    if (!(monitor.value <= stop->tolerance) &&
        !call->iterate(&newton, call->own, call->r, call->workspace, info))
        return dls_fail_memory(error);
    memcpy(call->r, monitor.best, sizeof(double) * (size_t)call->problem->row_count);
    info->products = dls_system_factor_count(system);
    info->work = dls_system_spent(system) / dls_sweep_flops(call->problem);
    info->stop_value = monitor.best_value;
    return DLS_OK;
}

dls_status dls_newton_solve(const dls_problem *p, const dls_newton_options *options,
                            dls_newton_iterate iterate, const void *own, double *r, dls_workspace *w,
                            dls_solve_info *info, dls_error *error) {
    scaled_call call = {p, options, iterate, own, r, w, info};
    dls_scaled scaled;
    dls_system *system = NULL;
    dls_status status = dls_scaled_create(&scaled, p, error);
    if (!status) status = dls_system_create(scaled.problem, INFINITY, &system, error);
    if (!status) status = solve_scaled(&call, &scaled, system, error);
    dls_system_destroy(system);
    dls_scaled_destroy(&scaled);
    return status;
}

static bool iterate(dls_newton *newton, const void *own, double *r, dls_workspace *w, dls_solve_info *info) {
    (void)own, (void)w;
    info->outcome = dls_newton_run(newton, r);
    info->iterations = newton->iterations;
    return true;
}

static dls_status solve(const dls_problem *p, const void *options, double *r, double *u, dls_workspace *w,
                        dls_solve_info *info, dls_error *error) {
    (void)u;
    return dls_newton_solve(p, options, iterate, NULL, r, w, info, error);
}

dls_newton_options dls_default_newton_options(void) {
    dls_newton_options o = {.stop = dls_default_stop_options(), .alpha = 1e-2, .over_relaxation = 1.8};
    o.stop.max_iterations = 1000;
    return o;
}

static void defaults(void *options) { *(dls_newton_options *)options = dls_default_newton_options(); }

static const dls_field fields[] = {
    DLS_STOP_FIELDS(dls_newton_options),
    DLS_CHOICE(dls_newton_options, , form, 2, "alart_curnier|natural_map", "the equation that Newton solves"),
    DLS_REAL(dls_newton_options, , alpha, 0, 1e6, "1", "first proximal parameter, against the scaled W"),
    DLS_REAL(dls_newton_options, , over_relaxation, 1, 1.99, "1", "ω of the proximal point iteration"),
};

const dls_solver dls_solver_newton = {
    .name = "newton",
    .summary = "semismooth Newton inside a proximal point iteration, direct factorisation",
    .options_size = sizeof(dls_newton_options),
    .defaults = defaults,
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solve = solve};
