/* Primal–dual interior point on the coupled problem. With P = diag(1/μ, 1, …) and r = P x the law reads
 *
 *     z − |z_t| n = P (W P x + b),    x ∈ L,   z ∈ L,   x ∘ z = 0        (L the second-order cone)
 *
 * and its central path is followed with x ∘ z = σ e → 0. Linearised, with Θ = V² the Nesterov–Todd scaling
 * and G⁻¹ = I + n (z_t/|z_t|)ᵀ:   (G⁻¹ P W + Θ P⁻¹) δr = V d + G⁻¹ (z − |z_t| n − P u),   δz = V d − Θ δx.
 * Where the path is lost W + α takes the place of W, a proximal step from the iterate: it bends no solution,
 * and gets past folds of the path (the problem is not convex) and along impulses that W does not see. Where
 * it is lost early, x · z has run ahead of the equation of motion: the path begins again, and x · z waits. */
#include "solve/global/ipm.h"
#include "base/error.h"
#include "base/memory.h"
#include "solve/fields.h"
#include "solve/global/lorentz.h"
#include "solve/global/newton.h"

#include <math.h>
#include <string.h>

static const double TO_BOUNDARY = 0.99, SHORT = 0.1, TINY = 0.05;
static const double AFTER_ALPHA = 1e-3; /* of the polish at the end of the path */
/* x · z waits while its share of the first is less than so many times the share of the error. */
static const double IN_STEP = 3;
/* Shares of the first x · z: a path that is lost between them begins again. */
static const double EARLY = 1e-6, UNDER_WAY = 0.5;
static const double FIRST_ALPHA = 1e-4, LARGEST_ALPHA = 1e2, LEAST_ALPHA = 1e-9, LONG = 0.5;

enum { MAX_ITERATIONS = 100, MAX_TINY = 8, MAX_IDLE = 20, MAX_LOST = 2, LEAST_AGAIN = 25 };

typedef struct ipm {
    const dls_scaled *scaled;
    const dls_problem *problem; /* scaled */
    dls_system *system;
    dls_monitor *monitor;
    int threads, contacts;
    double alpha;                  /* proximal parameter of the next step */
    double waiting;                /* IN_STEP, or 0 while x · z falls as fast as it can */
    int lost_early;                /* steps that lost the path under way */
    double first_gap, first_error; /* of x · z and of the equation of motion */
    double *x, *z;                 /* the pair in Lorentz coordinates; bilateral rows: x = r */
    double *u, *r, *judged, *state;
    double *dx, *dz; /* the direction */
    double *target;  /* V d of each block */
    double *A, *B;
    bool *left_out;
    lorentz_scaling *scaling;
} ipm;

/* Rows of the cone: without friction it is a ray, and tangential impulses stay zero. */
static int cone_size(const dls_problem *p, int c) { return p->mu[c] > 0 ? dls_size(p, c) : 1; }
static double normal_scale(const dls_problem *p, int c) { return p->mu[c] > 0 ? 1 / p->mu[c] : 1; }

static bool prepare(ipm *s, dls_workspace *w) {
    const dls_problem *p = s->problem;
    size_t n = (size_t)p->row_count, blocks = 0;
    for (int c = 0; c < p->block_count; c++) blocks += (size_t)(dls_size(p, c) * dls_size(p, c));
    double **vectors[] = {&s->x, &s->z, &s->u, &s->r, &s->judged, &s->dx, &s->dz, &s->target};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = DLS_TAKE_ZERO(w, double, n))) return false;
    s->A = DLS_TAKE(w, double, blocks);
    s->B = DLS_TAKE(w, double, blocks);
    s->state = DLS_TAKE(w, double, p->op->state_size(p));
    s->left_out = DLS_TAKE_ZERO(w, bool, p->block_count);
    s->scaling = DLS_TAKE(w, lorentz_scaling, p->block_count);
    return s->A && s->B && s->state && s->left_out && s->scaling;
}

/* Both on the axis of the cone, at the mean size of P b. */
static void start(ipm *s) {
    const dls_problem *p = s->problem;
    double sum = 0;
    for (int c = 0; c < p->block_count; c++) {
        double scale = p->kind[c] == DLS_CONTACT ? normal_scale(p, c) : 1;
        for (int i = p->row[c]; i < p->row[c + 1]; i++)
            sum += p->b[i] * p->b[i] * (i == p->row[c] ? scale * scale : 1);
    }
    double size = sqrt(sum / (p->block_count ? p->block_count : 1));
    if (!(size > 0)) size = 1;
    memset(s->x, 0, sizeof(double) * (size_t)p->row_count);
    memset(s->z, 0, sizeof(double) * (size_t)p->row_count);
    s->alpha = s->contacts = 0;
    for (int c = 0; c < p->block_count; c++) {
        s->contacts += p->kind[c] == DLS_CONTACT;
        if (p->kind[c] == DLS_CONTACT) s->x[p->row[c]] = s->z[p->row[c]] = size;
    }
}

/* r = P x and u = W r + b. */
static void follow(ipm *s) {
    const dls_problem *p = s->problem;
    for (int c = 0; c < p->block_count; c++) {
        int row = p->row[c];
        for (int i = row; i < p->row[c + 1]; i++) s->r[i] = s->x[i];
        if (p->kind[c] == DLS_CONTACT) s->r[row] *= normal_scale(p, c);
    }
    dls_velocity(p, s->r, s->u, s->state, s->threads);
}

/* A = Θ P⁻¹ and B = G⁻¹ P of one contact. */
static bool linearize_contact(ipm *s, int c, double *A, double *B) {
    const dls_problem *p = s->problem;
    int d = dls_size(p, c), m = cone_size(p, c);
    const double *x = s->x + p->row[c], *z = s->z + p->row[c];
    lorentz_scaling *t = &s->scaling[c];
    double scale = normal_scale(p, c), slip = small_norm(m - 1, z + 1);
    if (!lorentz_scaling_make(m, x, z, t)) return false;
    for (int k = 0; k < d * d; k++) A[k] = k % (d + 1) == 0, B[k] = 0;
    for (int j = 0; j < m; j++) {
        double unit[4] = {0}, once[4], twice[4];
        unit[j] = 1;
        lorentz_scale(m, t, unit, once);
        lorentz_scale(m, t, once, twice);
        for (int i = 0; i < m; i++) A[i + d * j] = twice[i] / (j == 0 ? scale : 1);
        B[j + d * j] = j == 0 ? scale : 1;
        if (j > 0 && slip > 0) B[d * j] = z[j] / slip;
    }
    return true;
}

static bool linearize(ipm *s) {
    const dls_problem *p = s->problem;
    for (int c = 0, at = 0; c < p->block_count; c++) {
        int d = dls_size(p, c);
        if (p->kind[c] == DLS_CONTACT) {
            if (!linearize_contact(s, c, s->A + at, s->B + at)) return false;
        } else {
            for (int k = 0; k < d * d; k++) s->A[at + k] = 0, s->B[at + k] = k % (d + 1) == 0;
        }
        at += d * d;
    }
    return true;
}

/* z − |z_t| n − P u: how far the pair is from the equation of motion; returns |z_t|. */
static double motion_error(const ipm *s, int c, double *y) {
    const dls_problem *p = s->problem;
    int m = cone_size(p, c);
    const double *z = s->z + p->row[c], *u = s->u + p->row[c];
    double slip = small_norm(m - 1, z + 1);
    y[0] = z[0] - slip - normal_scale(p, c) * u[0];
    for (int i = 1; i < m; i++) y[i] = z[i] - u[i];
    return slip;
}

static double motion_error_norm(const ipm *s) {
    const dls_problem *p = s->problem;
    double sum = 0;
    for (int c = 0; c < p->block_count; c++) {
        double y[4];
        if (p->kind[c] != DLS_CONTACT) continue;
        motion_error(s, c, y);
        sum += small_dot(cone_size(p, c), y, y);
    }
    return sqrt(sum);
}

/* Solves for the direction (dx, dz) that belongs to the target V d. */
static bool solve_direction(ipm *s) {
    const dls_problem *p = s->problem;
    for (int c = 0; c < p->block_count; c++) {
        int row = p->row[c], m = cone_size(p, c);
        double y[4];
        for (int i = row; i < p->row[c + 1]; i++) s->dx[i] = p->kind[c] == DLS_CONTACT ? 0 : -s->u[i];
        if (p->kind[c] != DLS_CONTACT) continue;
        double slip = motion_error(s, c, y);
        for (int i = 1; i < m && slip > 0; i++) y[0] += s->z[row + i] / slip * y[i]; /* G⁻¹ */
        for (int i = 0; i < m; i++) s->dx[row + i] = s->target[row + i] + y[i];
    }
    if (!dls_system_solve(s->system, s->dx)) return false;
    for (int c = 0; c < p->block_count; c++) {
        int row = p->row[c], m = cone_size(p, c);
        double once[4], twice[4];
        if (p->kind[c] != DLS_CONTACT) continue;
        s->dx[row] /= normal_scale(p, c);
        lorentz_scale(m, &s->scaling[c], s->dx + row, once);
        lorentz_scale(m, &s->scaling[c], once, twice);
        for (int i = 0; i < m; i++) s->dz[row + i] = s->target[row + i] - twice[i];
    }
    return true;
}

/* Target with d = λ \ (σ e − λ∘λ − corrector); the corrector is that of the direction at hand. */
static void set_target(ipm *s, double sigma, bool corrector) {
    const dls_problem *p = s->problem;
    for (int c = 0; c < p->block_count; c++) {
        int row = p->row[c], m = cone_size(p, c);
        const lorentz_scaling *t = &s->scaling[c];
        double d[4], y[4], a[4], b[4];
        if (p->kind[c] != DLS_CONTACT) continue;
        lorentz_product(m, t->lambda, t->lambda, d);
        for (int i = 0; i < m; i++) d[i] = (i == 0 ? sigma : 0) - d[i];
        if (corrector) {
            lorentz_scale(m, t, s->dx + row, a);
            lorentz_unscale(m, t, s->dz + row, b);
            lorentz_product(m, a, b, y);
            for (int i = 0; i < m; i++) d[i] -= y[i];
        }
        lorentz_divide(m, t->lambda, d, y);
        lorentz_scale(m, t, y, s->target + row);
    }
}

static double step_length(const ipm *s) {
    const dls_problem *p = s->problem;
    double t = 1 / TO_BOUNDARY;
    for (int c = 0; c < p->block_count; c++) {
        if (p->kind[c] != DLS_CONTACT) continue;
        t = lorentz_step(cone_size(p, c), s->x + p->row[c], s->dx + p->row[c], t);
        t = lorentz_step(cone_size(p, c), s->z + p->row[c], s->dz + p->row[c], t);
    }
    return TO_BOUNDARY * t;
}

/* Mean of x·z over contacts, a step t ahead. */
static double gap_ahead(const ipm *s, double t) {
    const dls_problem *p = s->problem;
    double sum = 0;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c] + cone_size(p, c) && p->kind[c] == DLS_CONTACT; i++)
            sum += (s->x[i] + t * s->dx[i]) * (s->z[i] + t * s->dz[i]);
    return s->contacts ? sum / s->contacts : 0;
}

static void adapt_alpha(ipm *s, bool lost, double t) {
    if (lost)
        s->alpha = fmin(fmax(10 * s->alpha, FIRST_ALPHA), LARGEST_ALPHA);
    else if (t > LONG)
        s->alpha = s->alpha < LEAST_ALPHA ? 0 : 0.3 * s->alpha;
}

/* Mean x · z that the next step aims at, where the predictor would leave the share ratio of it. */
static double gap_aimed_at(const ipm *s, double gap, double ratio) {
    double aim = fmin(1, fmax(1e-6, ratio * ratio * ratio)) * gap;
    if (s->waiting == 0 || s->first_error == 0) return aim;
    return fmax(aim, fmin(gap, s->waiting * s->first_gap * motion_error_norm(s) / s->first_error));
}

/* One predictor–corrector step; returns its length, or −1 where the system cannot be solved. */
static double take_step(ipm *s) {
    const dls_problem *p = s->problem;
    if (!linearize(s) || !dls_system_factor(s->system, s->A, s->B, s->alpha, s->left_out)) return -1;
    double gap = gap_ahead(s, 0);
    set_target(s, 0, false);
    if (!solve_direction(s)) return -1;
    double ratio = gap > 0 ? gap_ahead(s, fmin(1, step_length(s))) / gap : 0;
    set_target(s, gap_aimed_at(s, gap, ratio), true);
    if (!solve_direction(s)) return -1;
    double t = step_length(s);
    bool lost = t < SHORT;
    s->lost_early += lost && gap > EARLY * s->first_gap && gap < UNDER_WAY * s->first_gap;
    if (lost) { /* centre without progress */
        set_target(s, gap, false);
        if (!solve_direction(s)) return -1;
        t = step_length(s);
    }
    t = fmin(t, 1);
    adapt_alpha(s, lost, t);
    for (int i = 0; i < p->row_count; i++) {
        s->x[i] += t * s->dx[i];
        s->z[i] += t * s->dz[i];
    }
    return t;
}

static void begin(ipm *s, double waiting) {
    start(s);
    follow(s);
    s->waiting = waiting;
    s->lost_early = 0;
    s->first_gap = gap_ahead(s, 0);
    s->first_error = motion_error_norm(s);
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
        double gap = gap_ahead(s, 0);
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

bool dls_ipm_takes(const dls_problem *p, int *block) {
    for (int k = 0; k < p->run_count; k++) {
        const dls_run *run = &p->runs[k];
        *block = run->first;
        if (run->parts && !dls_is_plain(run->parts)) return false;
        for (int i = p->row[run->first]; p->low && run->kind == DLS_INTERVAL && i < p->row[run->end]; i++)
            if (isfinite(p->low[i]) || isfinite(p->high[i])) return false;
    }
    return true;
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
    int block;
    if (!dls_ipm_takes(p, &block))
        return dls_fail(
            error, DLS_ERROR_ARGUMENT,
            "solver 'ipm' knows contacts with one part of friction and rows without bounds, block %d is "
            "another; expected 'auto', 'nlgs', 'newton', 'apgd' or 'pqn'",
            block);
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
