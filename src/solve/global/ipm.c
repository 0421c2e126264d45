/* Primal–dual interior point on the coupled problem, whose laws are pairs of cones (cones.h):
 *
 *     y(z, u) = 0,   u = W r + b,   x = E r ∈ L,   z ∈ L,   x ∘ z = 0        (L second-order cones)
 *
 * Its central path is followed with x ∘ z = σ e → 0. Linearised: (A + B W) δr = right, δx = E δr,
 * δz = V d − Θ δx, with A = Eᵀ Θ E and Θ = V² the Nesterov–Todd scaling.
 * Where the path is lost W + α takes the place of W, a proximal step from the iterate: it bends no solution,
 * and gets past folds of the path (the problem is not convex) and along impulses that W does not see. Where
 * it is lost early, x · z has run ahead of the equation of motion: the path begins again, and x · z waits.
 * Where cones share r_n it is lost again more easily; directions then know less of how |z̄| changes, γ in B:
 * with γ = 0 the matrix is that of a convex problem, whose path has no folds, and |z̄| follows a step behind.
 */
#include "solve/global/ipm.h"
#include "base/error.h"
#include "base/memory.h"
#include "solve/fields.h"
#include "solve/global/cones.h"
#include "solve/global/newton.h"

#include <math.h>
#include <string.h>

static const double TO_BOUNDARY = 0.99, SHORT = 0.1, TINY = 0.05;
static const double AFTER_ALPHA = 1e-3; /* of the polish at the end of the path */
/* x · z waits while its share of the first is less than so many times the share of the error. */
static const double IN_STEP = 3;
/* Shares of the first x · z: a path that is lost between them begins again. */
static const double EARLY = 1e-6, UNDER_WAY = 0.5;
/* γ once lost, and what 1 − γ is of itself after a long step. */
static const double LESS_COUPLED = 0.8, MORE_COUPLED = 0.9;
static const double FIRST_ALPHA = 1e-4, LARGEST_ALPHA = 1e2, LEAST_ALPHA = 1e-9, LONG = 0.5;

enum { MAX_ITERATIONS = 100, MAX_TINY = 8, MAX_IDLE = 20, MAX_LOST = 2, LEAST_AGAIN = 25 };

typedef struct ipm {
    const dls_scaled *scaled;
    const dls_problem *problem; /* scaled */
    dls_system *system;
    dls_monitor *monitor;
    int threads;
    double alpha;                  /* proximal parameter of the next step */
    double waiting;                /* IN_STEP, or 0 while x · z falls as fast as it can */
    int lost_early;                /* steps that lost the path under way */
    double first_gap, first_error; /* of x · z and of the equation of motion */
    dls_cones cones;
    double *r, *u, *y, *dr, *judged, *state;
    double *A, *B;
    bool *left_out;
} ipm;

static bool prepare(ipm *s, dls_workspace *w) {
    const dls_problem *p = s->problem;
    size_t n = (size_t)p->row_count, blocks = 0;
    for (int c = 0; c < p->block_count; c++) blocks += (size_t)(dls_size(p, c) * dls_size(p, c));
    double **vectors[] = {&s->r, &s->u, &s->y, &s->dr, &s->judged};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = DLS_TAKE(w, double, n))) return false;
    s->A = DLS_TAKE(w, double, blocks);
    s->B = DLS_TAKE(w, double, blocks);
    s->state = DLS_TAKE(w, double, p->op->state_size(p));
    s->left_out = DLS_TAKE_ZERO(w, bool, p->block_count);
    return s->A && s->B && s->state && s->left_out && dls_cones_prepare(&s->cones, p, w);
}

/* u = W r + b. */
static void follow(ipm *s) { dls_velocity(s->problem, s->r, s->u, s->state, s->threads); }

/* Solves for the direction that belongs to the target of the cones. */
static bool solve_direction(ipm *s) {
    dls_cones_right_side(&s->cones, s->u, s->dr);
    if (!dls_system_solve(s->system, s->dr)) return false;
    dls_cones_direct(&s->cones, s->dr);
    return true;
}

static double step_length(const ipm *s) {
    return TO_BOUNDARY * dls_cones_step_length(&s->cones, 1 / TO_BOUNDARY);
}

/* α and γ of the next step. */
static void adapt(ipm *s, bool lost, double t) {
    double *gamma = &s->cones.coupling;
    if (lost) {
        s->alpha = fmin(fmax(10 * s->alpha, FIRST_ALPHA), LARGEST_ALPHA);
        if (s->cones.shared && s->waiting > 0) *gamma *= LESS_COUPLED;
    } else if (t > LONG) {
        s->alpha = s->alpha < LEAST_ALPHA ? 0 : 0.3 * s->alpha;
        *gamma = 1 - MORE_COUPLED * (1 - *gamma);
    }
}

/* Mean x · z that the next step aims at, where the predictor would leave the share ratio of it. */
static double gap_aimed_at(const ipm *s, double gap, double ratio) {
    double aim = fmin(1, fmax(1e-6, ratio * ratio * ratio)) * gap;
    if (s->waiting == 0 || s->first_error == 0) return aim;
    return fmax(aim, fmin(gap, s->waiting * s->first_gap * dls_cones_motion_error(&s->cones, s->u, s->y) /
                                   s->first_error));
}

/* One predictor–corrector step; returns its length, or −1 where the system cannot be solved. */
static double take_step(ipm *s) {
    if (!dls_cones_linearize(&s->cones, s->A, s->B) ||
        !dls_system_factor(s->system, s->A, s->B, s->alpha, s->left_out))
        return -1;
    double gap = dls_cones_gap(&s->cones, 0);
    dls_cones_aim(&s->cones, 0, false);
    if (!solve_direction(s)) return -1;
    double ratio = gap > 0 ? dls_cones_gap(&s->cones, fmin(1, step_length(s))) / gap : 0;
    dls_cones_aim(&s->cones, gap_aimed_at(s, gap, ratio), true);
    if (!solve_direction(s)) return -1;
    double t = step_length(s);
    bool lost = t < SHORT;
    s->lost_early += lost && gap > EARLY * s->first_gap && gap < UNDER_WAY * s->first_gap;
    if (lost) { /* centre without progress */
        dls_cones_aim(&s->cones, gap, false);
        if (!solve_direction(s)) return -1;
        t = step_length(s);
    }
    t = fmin(t, 1);
    adapt(s, lost, t);
    dls_cones_advance(&s->cones, t, s->dr, s->r);
    return t;
}

static void begin(ipm *s, double waiting) {
    dls_cones_start(&s->cones, s->r);
    follow(s);
    s->alpha = 0;
    s->waiting = waiting;
    s->lost_early = 0;
    s->first_gap = dls_cones_gap(&s->cones, 0);
    s->first_error = dls_cones_motion_error(&s->cones, s->u, s->y);
}

/* The residual may rest for many steps while the gap falls on: both have to stop before it is a stall. */
static dls_outcome run(ipm *s, double tolerance, int limit, int *iterations) {
    double least = INFINITY, least_gap = INFINITY;
    int tiny = 0, idle = 0;
    begin(s, 0);
    for (int k = 0, most = MAX_ITERATIONS; k < most && k < limit; k++) {
        double t = take_step(s);
        if (!(t >= 0)) return DLS_STALLED;
        follow(s);
        ++*iterations;
        double value = dls_scaled_measure(s->scaled, s->monitor, s->r, s->judged, *iterations);
        if (isnan(value)) return DLS_DIVERGED;
        if (!dls_monitor_report(s->monitor, s->judged, *iterations, value, true)) return DLS_CANCELLED;
        if (value <= tolerance) return DLS_CONVERGED;
        if (dls_monitor_out_of_time(s->monitor)) return DLS_TIME_LIMIT;
        tiny = t < TINY ? tiny + 1 : 0;
        double gap = dls_cones_gap(&s->cones, 0);
        idle = value < 0.9 * least || gap < 0.9 * least_gap ? 0 : idle + 1;
        least = fmin(least, value);
        least_gap = fmin(least_gap, gap);
        if (s->lost_early == MAX_LOST && s->waiting == 0 && limit - k > LEAST_AGAIN) {
            begin(s, IN_STEP);
            most = k + MAX_ITERATIONS;
            least = least_gap = INFINITY;
            tiny = idle = 0;
        }
        if (tiny == MAX_TINY || idle == MAX_IDLE) return DLS_STALLED;
    }
    return limit > MAX_ITERATIONS ? DLS_STALLED : DLS_ITERATION_LIMIT;
}

bool dls_ipm_run(const dls_scaled *scaled, dls_system *system, dls_monitor *monitor, double tolerance,
                 int limit, dls_workspace *w, int *iterations, dls_outcome *outcome) {
    ipm s = {.scaled = scaled, .problem = scaled->problem, .system = system, .monitor = monitor};
    s.threads = monitor->stop->threads;
    if (!prepare(&s, w)) return false;
    *outcome = run(&s, tolerance, limit, iterations);
    return true;
}

/* ---- the row of the table ---- */

static bool iterate(dls_newton *newton, const void *own, double *r, dls_workspace *w, dls_solve_info *info) {
    (void)r; /* it starts cold */
    const dls_ipm_options *o = own;
    dls_monitor *monitor = newton->monitor;
    double target = fmax(o->stop.tolerance, o->polish);
    if (!dls_ipm_run(newton->scaled, newton->system, monitor, target, o->stop.max_iterations, w,
                     &info->iterations, &info->outcome))
        return false;
    bool arrived = info->outcome == DLS_CONVERGED,
         lost = info->outcome == DLS_STALLED || info->outcome == DLS_DIVERGED;
    if (o->polish > 0 && (arrived || lost) && monitor->best_value > o->stop.tolerance) {
        if (arrived) newton->alpha = AFTER_ALPHA;
        newton->iterations = info->iterations;
        info->outcome = dls_newton_run(newton, monitor->best);
        info->iterations = newton->iterations;
    }
    return true;
}

static dls_status solve(const dls_problem *p, const void *options, double *r, double *u, dls_workspace *w,
                        dls_solve_info *info, dls_error *error) {
    (void)u;
    const dls_ipm_options *o = options;
    dls_newton_options polish = dls_default_newton_options();
    polish.stop = o->stop;
    return dls_newton_solve(p, &polish, iterate, o, r, w, info, error);
}

dls_ipm_options dls_default_ipm_options(void) {
    dls_ipm_options o = {.stop = dls_default_stop_options(), .polish = 1e-6};
    o.stop.max_iterations = 500;
    return o;
}

static void defaults(void *options) { *(dls_ipm_options *)options = dls_default_ipm_options(); }

static const dls_field fields[] = {
    DLS_STOP_FIELDS(dls_ipm_options),
    DLS_REAL(dls_ipm_options, , polish, 0, 1, "1",
             "residual at which proximal Newton takes over, as it does where the path is lost; 0: never"),
};

const dls_solver dls_solver_ipm = {
    .name = "ipm",
    .summary = "primal–dual interior point on the coupled problem, polished by newton",
    .options_size = sizeof(dls_ipm_options),
    .defaults = defaults,
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solve = solve};
