/* Projected quasi-Newton (paper 000): smoothed law C(r, u) = 0 with u = W r + b, linearised by blocks X, Y:
 *
 *     (X W + Y + δ) Δ = C by GMRES, stopped early,    r ← proj_K(r − t Δ)
 *
 * W appears only in products. The paper has t = 1 and a fixed δ; the default here searches t along the merit
 * |C| (not smoothed) and lets δ follow success and failure, as in pseudo-transient continuation, until that
 * stalls; then the paper's steps take over. */
#include "solve/global/pqn.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/small.h"
#include "solve/fields.h"
#include "solve/global/newton.h"
#include "solve/global/smoothing.h"
#include "solve/sweep/nlgs.h"

#include <math.h>
#include <string.h>

static const double LEAST_DECREASE = 1e-4, LEAST_DELTA = 1e-12, LARGEST_DELTA = 1e3;

enum { HALVINGS = 5, STALL_STEPS = 60 };

static int64_t block_place(const dls_problem *p, int c) {
    return p->uniform ? (int64_t)c * p->uniform * p->uniform : p->diagonal_start[c];
}

static void velocity(dls_pqn *s, const double *r, double *u) {
    dls_velocity(s->problem, r, u, s->state, s->threads);
    s->products++;
}

/* ---- the linear system ---- */

/* C, X, Y of block c at (r, u), and the inverse of the diagonal block as preconditioner. */
static inline void linearize_block(dls_pqn *s, int c, int d, int row, int64_t place) {
    const dls_problem *p = s->problem;
    double *X = s->X + place, *Y = s->Y + place, *C = s->C + row, *inverse = s->inverse + place;
    double D[SMALL_MAX * SMALL_MAX], room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    const double *W = dls_diagonal_in(p, c, room);
    if (!p->parts && p->kind[c] == DLS_CONTACT)
        dls_smoothed_law(d, p->mu[c], s->rho, s->omega, s->r + row, s->u + row, C, X, Y);
    else /* without smoothing */
        dls_block_linearize(p, c, DLS_FORM_NATURAL_MAP, s->rho, s->r + row, s->u + row, C, Y, X);
    for (int k = 0; k < d * d; k++) D[k] = Y[k] + (k % (d + 1) == 0 ? s->delta : 0);
    for (int j = 0; j < d; j++) small_multiply_add(d, X, W + d * j, D + d * j);
    if (!small_invert(d, D, inverse))
        for (int k = 0; k < d * d; k++) inverse[k] = k % (d + 1) == 0;
}

/* Blocks of three, nearly all there are, with constant loops. */
static void linearize_range(void *self, int first, int end) {
    dls_pqn *s = self;
    const dls_problem *p = s->problem;
    if (p->uniform == 3) {
        for (int c = first; c < end; c++) linearize_block(s, c, 3, 3 * c, 9 * (int64_t)c);
        return;
    }
    for (int c = first; c < end; c++) linearize_block(s, c, dls_size(p, c), p->row[c], block_place(p, c));
}

/* What a block of the linear system works on. */
typedef struct block_work {
    const dls_pqn *solver;
    const double *x;
    double *y;
} block_work;

/* y = X z + Y x + δ x of block c. */
static inline void apply_block(const dls_pqn *s, int d, int row, int64_t place, const double *x, double *y) {
    for (int i = 0; i < d; i++) y[row + i] = s->delta * x[row + i];
    small_multiply_add(d, s->X + place, s->z + row, y + row);
    small_multiply_add(d, s->Y + place, x + row, y + row);
}

static void apply_range(void *self, int first, int end) {
    const block_work *w = self;
    const dls_pqn *s = w->solver;
    const dls_problem *p = s->problem;
    if (p->uniform == 3) {
        for (int c = first; c < end; c++) apply_block(s, 3, 3 * c, 9 * (int64_t)c, w->x, w->y);
        return;
    }
    for (int c = first; c < end; c++)
        apply_block(s, dls_size(p, c), p->row[c], block_place(p, c), w->x, w->y);
}

static void apply(void *self, const double *x, double *y) {
    dls_pqn *s = self;
    s->problem->op->product(s->problem, x, s->z, s->state, s->threads);
    s->products++;
    dls_parallel_for(s->problem->block_count, s->threads, apply_range, &(block_work){s, x, y});
}

static inline void precondition_block(const dls_pqn *s, int d, int row, int64_t place, const double *x,
                                      double *y) {
    for (int i = 0; i < d; i++) y[row + i] = 0;
    small_multiply_add(d, s->inverse + place, x + row, y + row);
}

static void precondition_range(void *self, int first, int end) {
    const block_work *w = self;
    const dls_pqn *s = w->solver;
    const dls_problem *p = s->problem;
    if (p->uniform == 3) {
        for (int c = first; c < end; c++) precondition_block(s, 3, 3 * c, 9 * (int64_t)c, w->x, w->y);
        return;
    }
    for (int c = first; c < end; c++)
        precondition_block(s, dls_size(p, c), p->row[c], block_place(p, c), w->x, w->y);
}

static void precondition(void *self, const double *x, double *y) {
    dls_pqn *s = self;
    dls_parallel_for(s->problem->block_count, s->threads, precondition_range, &(block_work){s, x, y});
}

/* ---- the step ---- */

/* trial = proj_K(r − t Δ). */
static void trial_range(void *self, int first, int end) {
    dls_pqn *s = self;
    const dls_problem *p = s->problem;
    for (int c = first; c < end; c++) {
        int row = p->row[c], d = dls_size(p, c);
        for (int i = row; i < row + d; i++) s->trial[i] = s->r[i] - s->length * s->step[i];
        dls_block_project(p, c, s->trial + row);
    }
}

/* |N|² of the judge at the trial point, with the law as it is. */
static double merit_range(void *self, int first, int end) {
    dls_pqn *s = self;
    const dls_problem *p = s->problem;
    double part = 0;
    for (int c = first; c < end; c++) {
        double error = dls_block_error(p, c, s->trial, s->trial_u);
        part += error * error;
    }
    return part;
}

static double merit(dls_pqn *s) {
    return sqrt(dls_parallel_sum(s->problem->block_count, s->threads, merit_range, s));
}

static double worst_of(const double *history) {
    double worst = history[0];
    for (int k = 1; k < DLS_PQN_MEMORY; k++) worst = fmax(worst, history[k]);
    return worst;
}

static void try_length(dls_pqn *s, double length) {
    s->length = length;
    dls_parallel_for(s->problem->block_count, s->threads, trial_range, s);
    velocity(s, s->trial, s->trial_u);
}

static int64_t products_left(const dls_pqn *s) { return s->options->max_products - s->products; }

/* The paper takes the full step; the default halves it until the merit falls below its recent worst. */
static bool search(dls_pqn *s) {
    bool free = s->free || s->options->globalization == DLS_PQN_PAPER;
    double worst = worst_of(s->history);
    for (int k = 0; k <= HALVINGS && products_left(s) > 0; k++) {
        try_length(s, ldexp(1, -k));
        double value = merit(s);
        if (free || value <= (1 - LEAST_DECREASE * s->length) * worst) {
            s->history[s->iterations % DLS_PQN_MEMORY] = value;
            return true;
        }
    }
    return false;
}

static void swap(double **a, double **b) {
    double *t = *a;
    *a = *b;
    *b = t;
}

static void newton_step(dls_pqn *s) {
    const dls_pqn_options *o = s->options;
    dls_parallel_for(s->problem->block_count, s->threads, linearize_range, s);
    int64_t room = products_left(s) - 1; /* one is for the trial step */
    int most = room < o->gmres_iterations ? (int)room : o->gmres_iterations;
    dls_gmres_solve(&s->gmres, apply, precondition, s, s->C, o->gmres_tolerance, most, s->step);
    bool accepted = search(s);
    s->iterations++;
    if (o->globalization == DLS_PQN_LINE_SEARCH && !s->free) {
        double factor = !accepted ? 8 : s->length == 1 ? 0.5 : 2;
        s->delta = fmin(LARGEST_DELTA, fmax(LEAST_DELTA, factor * s->delta));
    }
    if (!accepted) return;
    swap(&s->r, &s->trial);
    swap(&s->u, &s->trial_u);
}

dls_outcome dls_pqn_advance(dls_pqn *s, int until, int patience) {
    const dls_stop_options *stop = &s->options->stop;
    int since = s->iterations;
    double milestone = INFINITY;
    while (s->iterations < until && products_left(s) > 0) {
        newton_step(s);
        double value = dls_monitor_measure_pair(s->monitor, s->r, s->u, s->iterations);
        if (isnan(value)) return DLS_DIVERGED;
        if (!dls_monitor_report(s->monitor, s->r, s->iterations, value, true)) return DLS_CANCELLED;
        if (value <= stop->tolerance) return DLS_CONVERGED;
        if (dls_monitor_out_of_time(s->monitor)) return DLS_TIME_LIMIT;
        if (s->monitor->best_value < 0.9 * milestone) {
            milestone = s->monitor->best_value;
            since = s->iterations;
        }
        if (s->iterations - since > patience) return DLS_STALLED;
    }
    return DLS_ITERATION_LIMIT;
}

/* ---- setting up ---- */

/* ρ = 1/mean W_ii, and δ relative to W_ii as the options want it. */
static void set_parameters(dls_pqn *s) {
    const dls_problem *p = s->problem;
    const dls_pqn_options *o = s->options;
    double least = INFINITY, largest = 0, sum = 0, b2 = 0;
    for (int c = 0; c < p->block_count; c++) {
        double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
        const double *W = dls_diagonal_in(p, c, room);
        for (int i = 0, d = dls_size(p, c); i < d; i++) {
            least = fmin(least, W[i + d * i]);
            largest = fmax(largest, W[i + d * i]);
            sum += W[i + d * i];
        }
    }
    for (int i = 0; i < p->row_count; i++) b2 += p->b[i] * p->b[i];
    double mean = p->row_count && sum > 0 ? sum / p->row_count : 1;
    const double factors[] = {1, least, mean, largest};
    s->rho = o->rho > 0 ? o->rho : 1 / mean;
    s->omega = o->omega * sqrt(b2 / (p->block_count ? p->block_count : 1));
    s->first_delta = s->delta = o->delta * (o->shift == DLS_SHIFT_ABSOLUTE ? 1 : s->rho * factors[o->shift]);
}

bool dls_pqn_prepare(dls_pqn *s, const dls_problem *p, const dls_pqn_options *o, dls_monitor *monitor,
                     dls_workspace *w) {
    *s = (dls_pqn){.problem = p, .options = o, .monitor = monitor, .threads = o->stop.threads};
    size_t n = (size_t)p->row_count, blocks = (size_t)block_place(p, p->block_count);
    double **vectors[] = {&s->r, &s->u, &s->C, &s->step, &s->trial, &s->trial_u, &s->z};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = DLS_TAKE(w, double, n))) return false;
    s->X = DLS_TAKE(w, double, blocks);
    s->Y = DLS_TAKE(w, double, blocks);
    s->inverse = DLS_TAKE(w, double, blocks);
    s->state = DLS_TAKE(w, double, p->op->state_size(p));
    if (!s->X || !s->Y || !s->inverse || !s->state ||
        !dls_gmres_prepare(&s->gmres, p->row_count, o->gmres_restart, o->stop.threads, w))
        return false;
    set_parameters(s);
    return true;
}

double dls_pqn_start(dls_pqn *s, const double *r) {
    memcpy(s->trial, r, sizeof(double) * (size_t)s->problem->row_count);
    velocity(s, s->trial, s->trial_u);
    for (int k = 0; k < DLS_PQN_MEMORY; k++) s->history[k] = merit(s);
    swap(&s->r, &s->trial);
    swap(&s->u, &s->trial_u);
    return dls_monitor_measure_pair(s->monitor, s->r, s->u, s->iterations);
}

/* The merit has minima that are no solutions: there the search refuses every step, and δ grows without end.
 * Full steps from the best iterate with the first δ, as the paper takes them, lead out of many. */
static dls_outcome leave_minimum(dls_pqn *s, int until) {
    s->free = true;
    s->delta = s->first_delta;
    dls_pqn_start(s, s->monitor->best);
    return dls_pqn_advance(s, until, STALL_STEPS);
}

/* Where Newton failed, sweeps go on from the best iterate. */
static dls_status fall_back(dls_pqn *s, dls_workspace *w, dls_solve_info *info, dls_error *error) {
    dls_nlgs_options sweeps = dls_default_nlgs_options();
    dls_nlgs nlgs;
    sweeps.stop = s->options->stop;
    sweeps.stop.max_iterations -= s->iterations;
    memcpy(s->r, s->monitor->best, sizeof(double) * (size_t)s->problem->row_count);
    dls_status status = dls_nlgs_prepare(&nlgs, s->problem, &sweeps, s->monitor, s->r, w, error);
    if (status) return status;
    info->fallbacks = 1;
    s->monitor->earlier = s->iterations;
    info->outcome = dls_nlgs_advance(&nlgs, s->r, sweeps.stop.max_iterations);
    info->iterations += nlgs.sweeps;
    info->products += nlgs.sweeps;
    return DLS_OK;
}

static dls_status solve(const dls_problem *p, const void *options, double *r, double *u, dls_workspace *w,
                        dls_solve_info *info, dls_error *error) {
    (void)u;
    const dls_pqn_options *o = options;
    dls_monitor monitor;
    dls_pqn s;
    if (!dls_monitor_prepare(&monitor, p, &o->stop, w) || !dls_pqn_prepare(&s, p, o, &monitor, w))
        return dls_fail_memory(error);
    int most = o->newton_iterations < o->stop.max_iterations ? o->newton_iterations : o->stop.max_iterations;
    double value = dls_pqn_start(&s, r);
    info->outcome = value <= o->stop.tolerance ? DLS_CONVERGED : dls_pqn_advance(&s, most, STALL_STEPS);
    if (info->outcome == DLS_STALLED && o->globalization == DLS_PQN_LINE_SEARCH)
        info->outcome = leave_minimum(&s, most);
    info->iterations = s.iterations;
    info->products = s.products;
    dls_status status = DLS_OK;
    bool failed =
        info->outcome == DLS_STALLED || info->outcome == DLS_ITERATION_LIMIT || info->outcome == DLS_DIVERGED;
    bool left = s.iterations < o->stop.max_iterations;
    if (failed && left && o->fallback) status = fall_back(&s, w, info, error);
    memcpy(r, monitor.best, sizeof(double) * (size_t)p->row_count);
    info->stop_value = monitor.best_value;
    return status;
}

/* ---- options ---- */

dls_pqn_options dls_default_pqn_options(void) {
    return (dls_pqn_options){.stop = dls_default_stop_options(),
                             .omega = 1e-11,
                             .delta = 1e-2,
                             .gmres_iterations = 10,
                             .gmres_tolerance = 0.1,
                             .gmres_restart = 20,
                             .max_products = 100000,
                             .newton_iterations = 1000,
                             .fallback = true};
}

static void defaults(void *options) { *(dls_pqn_options *)options = dls_default_pqn_options(); }

static const dls_field fields[] = {
    DLS_STOP_FIELDS(dls_pqn_options),
    DLS_CHOICE(dls_pqn_options, , globalization, 2, "line_search|paper",
               "line search on the merit with adapted δ, or projection and fixed δ alone"),
    DLS_REAL(dls_pqn_options, , rho, 0, 1e100, "kg", "of the law; 0: 1/mean W_ii"),
    DLS_REAL(dls_pqn_options, , omega, 0, 1, "1", "smoothing relative to ‖b‖/√contacts"),
    DLS_REAL(dls_pqn_options, , delta, 0, 1e6, "1", "regularisation δ, the first one with line_search"),
    DLS_CHOICE(dls_pqn_options, , shift, 4, "absolute|min|average|max",
               "δ as it is, or times ρ and the least, mean or largest W_ii"),
    DLS_INT(dls_pqn_options, , gmres_iterations, 1, 1000000, "most products of one linear solve (m)"),
    DLS_REAL(dls_pqn_options, , gmres_tolerance, 0, 1, "1", "relative accuracy of one linear solve (ε)"),
    DLS_INT(dls_pqn_options, , gmres_restart, 1, 1000, "Krylov vectors before a restart"),
    DLS_INT(dls_pqn_options, , newton_iterations, 1, 2147483647, "most Newton steps before Gauss–Seidel"),
    DLS_INT(dls_pqn_options, , max_products, 1, 2147483647, "most products with W before Gauss–Seidel"),
    DLS_BOOL(dls_pqn_options, , fallback, "Gauss–Seidel where Newton fails"),
};

const dls_solver dls_solver_pqn = {.name = "pqn",
                                   .summary = "projected quasi-Newton with GMRES; W only in products",
                                   .options_size = sizeof(dls_pqn_options),
                                   .defaults = defaults,
                                   .fields = fields,
                                   .field_count = sizeof fields / sizeof *fields,
                                   .solve = solve};
