/* Accelerated projected gradient descent on the cone problem (paper 001):
 *
 *     min ½ x·N x + (b + a)·x over the cones,   N = W,   a_n = μ|u_t| renewed in every iteration
 * (anti-relaxation)
 *
 * Without a it is convex, and lifts what slides by μ|u_t|: the relaxed problem. With it a fixed point obeys
 * the law. The method works on x = r/S and N = S W S, so that one step length suits light and heavy bodies.
 */
#include "solve/global/apgd.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/small.h"
#include "problem/cone.h"
#include "solve/fields.h"

#include <math.h>
#include <string.h>

enum { STALL_STEPS = 5000 };

static const double SHRINK = 0.9, GROW = 2; /* of the Lipschitz estimate L */
static const double FLATTEST =
    1e-8; /* least L against the first: bodies that are squeezed feel no curvature */

static double sum(dls_apgd *s, dls_range_value share) {
    return dls_parallel_sum(s->problem->block_count, s->threads, share, s);
}

static void pass(dls_apgd *s, dls_range_work work) {
    dls_parallel_for(s->problem->block_count, s->threads, work, s);
}

/* x ← nearest point of what S x is allowed to be. */
static inline void project_scaled(const dls_problem *p, int c, double S, double *x) {
    if (!p->low || p->kind[c] == DLS_CONTACT) {
        dls_block_project(p, c, x);
        return;
    }
    for (int i = p->row[c]; i < p->row[c + 1]; i++, x++)
        *x = *x < p->low[i] / S ? p->low[i] / S : *x > p->high[i] / S ? p->high[i] / S : *x;
}

/* next = Π(y − (N y + b + a)/L); returns |next − y|². */
static double gradient_range(void *self, int first, int end) {
    dls_apgd *s = self;
    const dls_problem *p = s->problem;
    double part = 0;
    for (int c = first; c < end; c++) {
        int row = p->row[c], d = dls_size(p, c);
        double *x = s->next + row;
        for (int i = 0; i < d; i++) x[i] = s->y[row + i] - (s->Ny[row + i] + s->shift[row + i]) / s->L;
        project_scaled(p, c, s->S[c], x);
        for (int i = 0; i < d; i++) part += (x[i] - s->y[row + i]) * (x[i] - s->y[row + i]);
    }
    return part;
}

/* r = S next, and after the product u = W r: N next = S u. Returns d·N d for d = next − y. */
static double curvature_range(void *self, int first, int end) {
    dls_apgd *s = self;
    const dls_problem *p = s->problem;
    double part = 0;
    for (int c = first; c < end; c++)
        for (int i = p->row[c]; i < p->row[c + 1]; i++) {
            s->Nnext[i] = s->S[c] * s->u[i];
            part += (s->next[i] - s->y[i]) * (s->Nnext[i] - s->Ny[i]);
        }
    return part;
}

static void unscale_range(void *self, int first, int end) {
    dls_apgd *s = self;
    for (int c = first; c < end; c++)
        for (int i = s->problem->row[c]; i < s->problem->row[c + 1]; i++) s->r[i] = s->S[c] * s->next[i];
}

static void product(dls_apgd *s) {
    pass(s, unscale_range);
    s->problem->op->product(s->problem, s->r, s->u, s->state, s->threads);
    s->products++;
}

/* (N y + b + a)·(next − x): positive when the last step went uphill. */
static double uphill_range(void *self, int first, int end) {
    dls_apgd *s = self;
    double part = 0;
    for (int i = s->problem->row[first]; i < s->problem->row[end]; i++)
        part += (s->Ny[i] + s->shift[i]) * (s->next[i] - s->x[i]);
    return part;
}

/* shift += S Σ μ_k |u_k| */
static inline void lift(const dls_problem *p, int c, double S, const double *u, double *shift) {
    if (!p->parts) {
        *shift += S * p->mu[c] * small_norm(dls_size(p, c) - 1, u + 1);
        return;
    }
    dls_cone cone = dls_cone_of(p, c);
    *shift += S * parts_lift(&cone, u);
}

/* y = next + β (next − x), x = next; u = W r + b; the shift for this iterate, all contacts at once. */
static void move_range(void *self, int first, int end) {
    dls_apgd *s = self;
    const dls_problem *p = s->problem;
    for (int c = first; c < end; c++) {
        int row = p->row[c];
        for (int i = row; i < p->row[c + 1]; i++) {
            s->y[i] = s->next[i] + s->beta * (s->next[i] - s->x[i]);
            s->Ny[i] = s->Nnext[i] + s->beta * (s->Nnext[i] - s->Nx[i]);
            s->x[i] = s->next[i];
            s->Nx[i] = s->Nnext[i];
            s->u[i] += p->b[i];
            s->shift[i] = s->S[c] * p->b[i];
        }
        if (s->options->relaxed || p->kind[c] != DLS_CONTACT) continue;
        lift(p, c, s->S[c], s->u + row, &s->shift[row]);
    }
}

/* (39) of the relaxed problem with g_d = d/tr W_cc: |r − Π(r − ρ u)|²/ρ², a velocity. */
static double relaxed_range(void *self, int first, int end) {
    dls_apgd *s = self;
    const dls_problem *p = s->problem;
    double part = 0;
    for (int c = first; c < end; c++) {
        int row = p->row[c], d = dls_size(p, c);
        double z[DLS_MAX_BLOCK], w = p->scale[c];
        for (int i = 0; i < d; i++) z[i] = s->r[row + i] - s->u[row + i] / w;
        dls_block_project(p, c, z);
        for (int i = 0; i < d; i++) part += w * w * (s->r[row + i] - z[i]) * (s->r[row + i] - z[i]);
    }
    return part;
}

static double velocity_range(void *self, int first, int end) {
    const dls_problem *p = ((dls_apgd *)self)->problem;
    return small_dot(p->row[end] - p->row[first], p->b + p->row[first], p->b + p->row[first]);
}

/* The relaxed problem has a residual of its own, relative to ‖b‖; the other is judged like all. */
static double judge(dls_apgd *s) {
    if (!s->options->relaxed) return dls_monitor_measure_pair(s->monitor, s->r, s->u, s->iterations);
    double error = sqrt(sum(s, relaxed_range)), scale = sqrt(sum(s, velocity_range));
    return dls_monitor_enter(s->monitor, s->r, s->iterations, scale > 0 ? error / scale : error);
}

/* One step; the length 1/L shrinks until the quadratic bound holds (strictly, so that d = 0 ends it). */
static void step(dls_apgd *s) {
    double distance = sum(s, gradient_range);
    product(s);
    while (sum(s, curvature_range) > s->L * distance * (1 + 1e-12) && s->L < 1e300) {
        s->L *= GROW;
        distance = sum(s, gradient_range);
        product(s);
    }
    double t = s->theta, q = s->options->q;
    double next =
        0.5 * (q - t * t + sqrt((t * t - q) * (t * t - q) + 4 * t * t)); /* θ² = (1 − θ) θ_k² + q θ */
    s->beta = t * (1 - t) / (t * t + next);
    s->theta = next;
    if (sum(s, uphill_range) > 0) {
        s->beta = 0;
        s->theta = 1;
        s->restarts++;
    }
    pass(s, move_range);
    s->L = fmax(SHRINK * s->L, s->least_L);
    s->iterations++;
}

/* Anti-relaxation moves the target while momentum builds up: where the residual grows well beyond its least
 * since the last restart, momentum starts anew. */
static void restart_if_worse(dls_apgd *s, double value) {
    if (s->growth == 0) return;
    s->least = fmin(s->least, value);
    if (value <= s->growth * s->least) return;
    memcpy(s->y, s->x, sizeof(double) * (size_t)s->problem->row_count);
    memcpy(s->Ny, s->Nx, sizeof(double) * (size_t)s->problem->row_count);
    s->theta = 1;
    s->least = value;
    s->restarts++;
}

dls_outcome dls_apgd_advance(dls_apgd *s, int until) {
    const dls_stop_options *stop = &s->options->stop;
    double milestone = INFINITY;
    int since = s->iterations;
    while (s->iterations < until) {
        step(s);
        double value = judge(s);
        if (isnan(value)) return DLS_DIVERGED;
        if (!dls_monitor_report(s->monitor, s->r, s->iterations, value, true)) return DLS_CANCELLED;
        if (value <= stop->tolerance) return DLS_CONVERGED;
        if (dls_monitor_out_of_time(s->monitor)) return DLS_TIME_LIMIT;
        restart_if_worse(s, value);
        if (s->monitor->best_value < 0.9 * milestone) {
            milestone = s->monitor->best_value;
            since = s->iterations;
        }
        if (s->iterations - since <= STALL_STEPS) continue;
        if (s->growth == 0) return DLS_STALLED;
        s->growth = 0; /* a residual that must rise before it falls needs long momentum */
        since = s->iterations;
    }
    return DLS_ITERATION_LIMIT;
}

typedef struct scale_work {
    dls_apgd *solver;
    const double *r;
} scale_work;

/* next = r/S of the start. */
static void scale_range(void *self, int first, int end) {
    const scale_work *work = self;
    dls_apgd *s = work->solver;
    for (int c = first; c < end; c++)
        for (int i = s->problem->row[c]; i < s->problem->row[c + 1]; i++) s->next[i] = work->r[i] / s->S[c];
}

/* x = next and its products, after the product with it. */
static void settle_range(void *self, int first, int end) {
    dls_apgd *s = self;
    for (int c = first; c < end; c++)
        for (int i = s->problem->row[c]; i < s->problem->row[c + 1]; i++) {
            s->x[i] = s->next[i];
            s->Nx[i] = s->Nnext[i] = s->S[c] * s->u[i];
        }
}

/* L = ‖N 1‖/√n, and the products of the start. */
static void start(dls_apgd *s, const double *r) {
    const dls_problem *p = s->problem;
    double ones = 0;
    for (int i = 0; i < p->row_count; i++) s->next[i] = 1;
    product(s);
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1]; i++) ones += s->S[c] * s->u[i] * s->S[c] * s->u[i];
    s->L = p->row_count ? sqrt(ones / p->row_count) : 1;
    if (!(s->L > 0)) s->L = 1;
    s->least_L = FLATTEST * s->L;
    dls_parallel_for(p->block_count, s->threads, scale_range, &(scale_work){s, r});
    product(s);
    pass(s, settle_range);
    s->theta = 1;
    s->beta = 0;
    s->least = INFINITY;
    s->growth = s->options->relaxed ? 0 : s->options->restart_growth;
    pass(s, move_range);
}

bool dls_apgd_prepare(dls_apgd *s, const dls_problem *p, const dls_apgd_options *o, dls_monitor *monitor,
                      const double *r, dls_workspace *w) {
    *s = (dls_apgd){.problem = p, .options = o, .monitor = monitor, .threads = o->stop.threads};
    double **vectors[] = {&s->x, &s->y, &s->Nx, &s->Ny, &s->next, &s->Nnext, &s->shift, &s->r, &s->u};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = DLS_TAKE(w, double, p->row_count))) return false;
    s->S = DLS_TAKE(w, double, p->block_count);
    s->state = DLS_TAKE(w, double, p->op->state_size(p));
    if (!s->S || !s->state) return false;
    for (int c = 0; c < p->block_count; c++) s->S[c] = o->scaled ? 1 / sqrt(p->scale[c]) : 1;
    start(s, r);
    return true;
}

/* ---- the row of the table ---- */

static dls_status solve(const dls_problem *p, const void *options, double *r, double *u, dls_workspace *w,
                        dls_solve_info *info, dls_error *error) {
    (void)u;
    const dls_apgd_options *o = options;
    dls_monitor monitor;
    dls_apgd s;
    if (!dls_monitor_prepare(&monitor, p, &o->stop, w) || !dls_apgd_prepare(&s, p, o, &monitor, r, w))
        return dls_fail_memory(error);
    memcpy(s.r, r, sizeof(double) * (size_t)p->row_count);
    info->outcome =
        judge(&s) <= o->stop.tolerance ? DLS_CONVERGED : dls_apgd_advance(&s, o->stop.max_iterations);
    memcpy(r, monitor.best, sizeof(double) * (size_t)p->row_count);
    info->relaxed = o->relaxed;
    info->iterations = s.iterations;
    info->restarts = s.restarts;
    info->products = s.products;
    info->stop_value = monitor.best_value;
    return DLS_OK;
}

dls_apgd_options dls_default_apgd_options(void) {
    return (dls_apgd_options){.stop = dls_default_stop_options(), .scaled = true, .restart_growth = 1.5};
}

static void defaults(void *options) { *(dls_apgd_options *)options = dls_default_apgd_options(); }

static const dls_field fields[] = {
    DLS_STOP_FIELDS(dls_apgd_options),
    DLS_BOOL(dls_apgd_options, , relaxed, "solve the convex cone problem instead; stops on its own residual"),
    DLS_REAL(dls_apgd_options, , q, 0, 1, "1", "of (30): 0 accelerates, 1 is plain projected gradient"),
    DLS_REAL(
        dls_apgd_options, , restart_growth, 0, 1e6, "1",
        "restart where the residual grows by this factor; 0: on the gradient's sign alone, as the paper"),
    DLS_BOOL(dls_apgd_options, , scaled, "in natural units of each contact; the paper has none"),
};

const dls_solver dls_solver_apgd = {
    .name = "apgd",
    .summary = "accelerated projected gradient with anti-relaxation; one product per step",
    .options_size = sizeof(dls_apgd_options),
    .defaults = defaults,
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solve = solve};
