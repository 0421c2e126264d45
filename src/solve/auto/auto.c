/* The default solver. Accelerated sweeps end most problems; where their rate says that they will not, the
 * interior point takes over and proximal Newton polishes; what cannot be factored is left to gradients.
 * Every decision counts flops or iterations, so that it is the same on every machine. */
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "solve/auto/policy.h"
#include "solve/fields.h"
#include "solve/global/apgd.h"
#include "solve/global/ipm.h"
#include "solve/global/newton.h"
#include "solve/global/pqn.h"
#include "solve/sweep/nlgs.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { GRADIENT_WORK = 2 }; /* products of one step of the gradient */

typedef struct chain {
    const dls_problem *problem;
    const dls_auto_options *options;
    dls_nlgs_options sweeps;
    dls_newton_options newton_options;
    dls_apgd_options gradient;
    dls_pqn_options quasi_newton;
    dls_monitor monitor;
    dls_nlgs nlgs;
    dls_newton newton;
    dls_scaled scaled;
    dls_system *system; /* NULL while nothing was factored */
    double *r;
    dls_workspace *workspace;
    dls_solve_info *info;
    double stage_began;
    double most;    /* sweeps that all stages together may cost */
    bool many;      /* blocks: sweeps and quasi-Newton side by side */
    bool factoring; /* flops say that factorisations are worth it */
    bool near;      /* when that was decided: the interior point would not come nearer */
} chain;

/* ---- stages ---- */

/* counted: what the stage's own counter of iterations has already. */
static void stage_begin(chain *x, int counted) {
    x->stage_began = dls_clock_wall();
    x->monitor.earlier = x->info->iterations - counted;
}

/* work: of all its iterations, in sweeps. */
static void stage_end(chain *x, const char *name, int iterations, double work) {
    dls_solve_info *info = x->info;
    info->iterations += iterations;
    info->work += work;
    if (iterations == 0) return;
    dls_stage *last = info->stage_count ? &info->stages[info->stage_count - 1] : NULL;
    bool goes_on = last && !strcmp(last->name, name); /* starts of one solver, one after the other */
    if (!goes_on && info->stage_count == DLS_MAX_STAGES) return;
    dls_stage *stage = goes_on ? last : &info->stages[info->stage_count++];
    if (!goes_on) *stage = (dls_stage){.name = name};
    stage->iterations += iterations;
    stage->seconds += dls_clock_wall() - x->stage_began;
    stage->residual = x->monitor.best_value;
}

/* Of the wanted iterations, each of which costs so many sweeps, those that the bounds still allow. */
static int left(const chain *x, double wanted, double each) {
    double rest = x->options->stop.max_iterations - x->info->iterations;
    double work = x->most - x->info->work;
    return (int)fmax(0, fmin(wanted, fmin(rest, each > 0 ? work / each : HUGE_VAL)));
}

/* Whether a bound is what ends it. */
static bool is_exhausted(const chain *x) { return left(x, 1, 1) == 0; }

static bool ended(const chain *x, dls_outcome outcome) {
    return outcome == DLS_CONVERGED || outcome == DLS_TIME_LIMIT || outcome == DLS_CANCELLED ||
           is_exhausted(x);
}

/* A factorisation and what belongs to it, in sweeps. */
static double factorisation_work(const chain *x) {
    return dls_system_cost(x->system) / dls_sweep_flops(x->problem);
}

static bool is_step(const chain *x) { return x->options->stop.purpose == DLS_PURPOSE_STEP; }

/* Makes the linear system when it is first wanted; stays without one where a factorisation would cost too
 * much. */
static dls_status want_system(chain *x, bool *affordable, dls_error *error) {
    *affordable = false;
    double limit = x->options->max_factor_flops;
    double analysis = dls_system_least_cost(x->problem), sweep = dls_sweep_flops(x->problem);
    if (!x->scaled.problem && (analysis > limit || left(x, 1, analysis / sweep) == 0)) return DLS_OK;
    if (!x->scaled.problem) {
        dls_status status = dls_scaled_create(&x->scaled, x->problem, error);
        if (!status) status = dls_system_create(x->scaled.problem, limit, &x->system, error);
        if (status) return status;
        x->info->work += analysis / sweep;
        if (!dls_newton_prepare(&x->newton, &x->newton_options, &x->scaled, x->system, &x->monitor,
                                x->workspace))
            return dls_fail_memory(error);
    }
    *affordable = dls_system_cost(x->system) <= limit;
    return DLS_OK;
}

/* Whether sweeps that gave up are worth a factorisation. */
static dls_status worth_factoring(chain *x, bool *worth, dls_error *error) {
    double spent = fmax(POLICY.step_share * x->nlgs.sweeps * dls_sweep_flops(x->problem),
                        x->many ? 0 : x->options->budget);
    bool step = is_step(x);
    *worth = false;
    if (step && spent < POLICY.factorisations * dls_system_least_cost(x->problem)) return DLS_OK;
    dls_status status = want_system(x, worth, error);
    *worth = *worth && left(x, 1, factorisation_work(x)) > 0;
    if (!status && *worth && step) *worth = spent >= POLICY.factorisations * dls_system_cost(x->system);
    return status;
}

/* Sweeps that the rate of the last half would still need. */
static double sweeps_needed(double now, double before, int sweeps, double tolerance) {
    if (!(now < before)) return INFINITY;
    return log(now / tolerance) / log(before / now) * sweeps;
}

/* Whether factorisations are cheaper than so many sweeps. The system is analysed only when they may be. */
static dls_status factoring_is_cheaper(chain *x, double sweeps, bool *cheaper, dls_error *error) {
    const dls_problem *p = x->problem;
    double flops = sweeps * dls_sweep_flops(p);
    double taken = is_step(x) ? POLICY.step_factorisations : POLICY.factorisations;
    *cheaper = false;
    if (flops < taken * dls_system_least_cost(p)) return DLS_OK;
    bool affordable;
    dls_status status = want_system(x, &affordable, error);
    *cheaper = !status && affordable && flops > taken * dls_system_cost(x->system);
    return status;
}

/* Doubling rounds of sweeps, as long as finishing them is cheaper than factoring. */
static dls_status sweep_stage(chain *x, dls_outcome *outcome, dls_error *error) {
    int limit = left(x, INFINITY, 1);
    double before = x->monitor.best_value;
    dls_status status = DLS_OK;
    stage_begin(x, 0);
    for (int until = POLICY.first_check; !status && !x->factoring;
         until = until < limit / 2 ? 2 * until : limit) {
        int sweeps = x->nlgs.sweeps;
        *outcome = dls_nlgs_advance(&x->nlgs, x->r, until < limit ? until : limit);
        if (*outcome != DLS_ITERATION_LIMIT || x->nlgs.sweeps >= limit) break;
        double now = x->monitor.value;
        double needed = sweeps_needed(now, before, x->nlgs.sweeps - sweeps, x->options->stop.tolerance);
        if (is_step(x)) needed = fmin(needed, POLICY.step_sweeps);
        status = factoring_is_cheaper(x, needed, &x->factoring, error);
        before = now;
    }
    stage_end(x, "nlgs", x->nlgs.sweeps, x->nlgs.sweeps);
    return status;
}

/* From r. Most contacts of a heap are open, and no part of a factorisation: what was spent tells. */
static dls_outcome newton_from(chain *x, double alpha, int budget) {
    int before = x->newton.iterations;
    double spent = dls_system_spent(x->system), flops = dls_sweep_flops(x->problem);
    x->newton.alpha = alpha;
    x->newton.max_iterations = before + left(x, budget, 0);
    x->newton.most_flops = spent + (x->most - x->info->work) * flops;
    dls_outcome outcome = dls_newton_run(&x->newton, x->r);
    stage_end(x, "newton", x->newton.iterations - before, (dls_system_spent(x->system) - spent) / flops);
    return outcome;
}

static dls_outcome newton_stage(chain *x, double alpha, int budget) {
    int before = x->newton.iterations;
    stage_begin(x, before);
    memcpy(x->r, x->monitor.best, sizeof(double) * (size_t)x->problem->row_count);
    return newton_from(x, alpha, budget);
}

/* Long paths are worth it where steps are cheap; a time step that is hard is not worth more than others. */
static int ipm_budget(const chain *x) {
    double wanted = fmin(POLICY.ipm_iterations,
                         fmax(POLICY.factorisations, POLICY.ipm_flops / dls_system_cost(x->system)));
    if (is_step(x) && x->many)
        wanted = fmin(wanted, fmax(POLICY.factorisations, x->options->budget / dls_system_cost(x->system)));
    return left(x, wanted, factorisation_work(x));
}

static dls_status ipm_stage(chain *x, dls_outcome *outcome, dls_error *error) {
    int iterations = 0;
    double spent = dls_system_spent(x->system);
    stage_begin(x, 0);
    dls_workspace_mark mark = dls_workspace_get_mark(x->workspace);
    double better = 0.5 * x->monitor.best_value; /* what is no better would not be polished */
    double target = fmax(x->options->stop.tolerance, fmin(better, POLICY.ipm_accuracy));
    if (!dls_ipm_run(&x->scaled, x->system, &x->monitor, target, ipm_budget(x), x->workspace, &iterations,
                     outcome))
        return dls_fail_memory(error);
    dls_workspace_release(x->workspace, mark);
    stage_end(x, "ipm", iterations, (dls_system_spent(x->system) - spent) / dls_sweep_flops(x->problem));
    if (*outcome == DLS_CONVERGED && x->monitor.best_value > x->options->stop.tolerance)
        *outcome = DLS_ITERATION_LIMIT;
    return DLS_OK;
}

static dls_status polished_ipm_stage(chain *x, dls_outcome *outcome, dls_error *error) {
    dls_status status = ipm_stage(x, outcome, error);
    if (!status && !ended(x, *outcome)) *outcome = newton_stage(x, POLICY.alpha_polish, POLICY.polish);
    return status;
}

/* |N_c| of the best iterate, per block; returns the largest. */
static double find_errors(chain *x, double *error) {
    const dls_problem *p = x->problem;
    const double *r = x->monitor.best, *u = x->monitor.u;
    double worst = 0;
    dls_velocity(p, r, x->monitor.u, x->monitor.state, x->options->stop.threads);
    for (int c = 0; c < p->block_count; c++) {
        error[c] = dls_block_error(p, c, r, u);
        worst = fmax(worst, error[c]);
    }
    return worst;
}

/* r ← the best iterate, shaken where it errs, by a share of the size that impulses have in the scaled
 * problem: where Newton is caught, it is by chance. */
static void shake(chain *x, double share, double *error, dls_random *random) {
    const dls_problem *p = x->problem;
    double sum = 0, worst = find_errors(x, error);
    for (int i = 0; i < p->row_count; i++) {
        double impulse = x->monitor.best[i] / x->scaled.S[i], velocity = x->scaled.problem->b[i];
        sum += impulse * impulse + velocity * velocity;
    }
    double size = share * sqrt(sum / p->row_count);
    for (int c = 0; c < p->block_count; c++) {
        int row = p->row[c];
        bool shaken = error[c] > POLICY.shaken_error * worst;
        for (int i = row; i < p->row[c + 1]; i++)
            x->r[i] = x->monitor.best[i] + (shaken ? size * x->scaled.S[i] * dls_random_normal(random) : 0);
        dls_block_project(p, c, x->r + row);
    }
}

/* r ← so many plain sweeps from nothing: the warm start, and all that came from it, may be the trap. */
static dls_outcome fresh_stage(chain *x, int sweeps) {
    int before = x->nlgs.sweeps;
    stage_begin(x, before);
    x->nlgs.sweep.visits.relaxation = 1;
    x->nlgs.alternate = false;
    x->nlgs.acceleration = DLS_PLAIN;
    memset(x->r, 0, sizeof(double) * (size_t)x->problem->row_count);
    dls_nlgs_restart(&x->nlgs, x->r);
    dls_outcome outcome = dls_nlgs_advance(&x->nlgs, x->r, before + left(x, sweeps, 1));
    stage_end(x, "nlgs", x->nlgs.sweeps - before, x->nlgs.sweeps - before);
    return outcome;
}

/* Newton from other starts, as many as flops allow: afresh, shaken gently and shaken wildly in turn; what
 * makes progress goes on unshaken. */
static dls_status restart_stages(chain *x, dls_outcome *outcome, dls_error *error) {
    double *errors = DLS_TAKE(x->workspace, double, x->problem->block_count);
    int first = x->newton.iterations;
    dls_random random = {1};
    bool progress = false;
    if (!errors) return dls_fail_memory(error);
    *outcome = DLS_STALLED;
    for (int k = 0; k < POLICY.restarts && left(x, 1, 1) > 0; k++) {
        int before = x->newton.iterations;
        double value = x->monitor.best_value;
        if ((before - first) * dls_system_cost(x->system) > POLICY.restart_flops) break;
        if (k % 3 == 0 && !progress)
            *outcome = fresh_stage(x, POLICY.fresh_sweeps * (k / 3 + 1));
        else
            shake(x, progress ? 0 : k % 3 == 1 ? POLICY.gentle : POLICY.wild, errors, &random);
        if (ended(x, *outcome)) break;
        stage_begin(x, before);
        *outcome = newton_from(x, POLICY.alpha, POLICY.last);
        if (ended(x, *outcome)) break;
        progress = x->monitor.best_value < POLICY.progress * value;
    }
    return DLS_OK;
}

/* ---- rising friction ---- */

/* Friction of a problem as it rises: of sliding alone, or against turning too. */
typedef struct rising {
    bool turning;
    double *mu;   /* of the parts */
    double *near; /* impulses that Newton last started from */
} rising;

/* The problem with a share of its friction. */
static dls_problem eased(const dls_problem *p, const rising *path, double share) {
    dls_problem q = *p;
    double *const parts[] = {p->mu, p->mu_rolling, p->mu_spinning};
    double **own[] = {&q.mu, &q.mu_rolling, &q.mu_spinning};
    for (int k = 0; k < (p->parts ? 3 : 1); k++) {
        *own[k] = path->mu + (ptrdiff_t)k * p->block_count;
        double left = k && !path->turning ? 1 : share;
        for (int c = 0; c < p->block_count; c++) (*own[k])[c] = left * parts[k][c];
    }
    return q;
}

/* r ← its solution with a share of friction, by Newton from r; all of it is judged. */
static dls_status newton_at(chain *x, const rising *path, double share, dls_outcome *outcome,
                            dls_error *error) {
    const dls_problem q = eased(x->problem, path, share);
    dls_workspace_mark mark = dls_workspace_get_mark(x->workspace);
    dls_newton_options o = x->newton_options;
    dls_solve_info info = {.outcome = DLS_STALLED};
    o.stop.measure = DLS_STOP_RESIDUAL;
    o.stop.tolerance = POLICY.eased;
    o.stop.max_iterations = left(x, POLICY.last, 0);
    o.stop.callback = NULL; /* its residual would be that of another problem */
    stage_begin(x, 0);
    dls_status status = dls_solver_newton.solve(&q, &o, x->r, NULL, x->workspace, &info, error);
    dls_workspace_release(x->workspace, mark);
    if (status) return status;
    *outcome = info.outcome;
    double value = dls_monitor_measure(&x->monitor, x->r, info.iterations, NAN);
    if (!dls_monitor_report(&x->monitor, x->r, info.iterations, value, true)) *outcome = DLS_CANCELLED;
    if (dls_monitor_out_of_time(&x->monitor)) *outcome = DLS_TIME_LIMIT;
    stage_end(x, "newton", info.iterations, info.work);
    return DLS_OK;
}

/* From r = 0 without friction, each solution the start of the next: what Newton does not reach is tried at
 * half the stride. */
static dls_status follow(chain *x, const rising *path, dls_outcome *outcome, dls_error *error) {
    size_t bytes = sizeof(double) * (size_t)x->problem->row_count;
    double share = 0, stride = POLICY.stride;
    memset(x->r, 0, bytes);
    dls_status status = newton_at(x, path, 0, outcome, error);
    if (status || *outcome != DLS_CONVERGED) return status;
    while (stride >= POLICY.least_stride && left(x, 1, 1) > 0) {
        double next = fmin(1, share + stride);
        memcpy(path->near, x->r, bytes);
        if (next < 1) {
            status = newton_at(x, path, next, outcome, error);
        } else {
            stage_begin(x, x->newton.iterations);
            *outcome = newton_from(x, POLICY.alpha, POLICY.last);
        }
        bool reached = *outcome == DLS_CONVERGED;
        if (status || (ended(x, *outcome) && (!reached || next == 1))) return status;
        if (reached) share = next;
        if (!reached) memcpy(x->r, path->near, bytes);
        stride *= reached ? 1.5 : 0.5;
    }
    *outcome = DLS_STALLED;
    return DLS_OK;
}

/* Paths may fold: where that of sliding friction does, that of all friction mostly does not. */
static dls_status friction_stage(chain *x, dls_outcome *outcome, dls_error *error) {
    const dls_problem *p = x->problem;
    rising path = {.mu = DLS_TAKE(x->workspace, double, 3 * (int64_t)p->block_count),
                   .near = DLS_TAKE(x->workspace, double, p->row_count)};
    dls_status status = DLS_OK;
    if (!path.mu || !path.near) return dls_fail_memory(error);
    for (int k = p->parts ? 0 : 1; k < 2; k++) {
        path.turning = k;
        status = follow(x, &path, outcome, error);
        if (status || ended(x, *outcome)) return status;
    }
    *outcome = DLS_STALLED;
    return DLS_OK;
}

/* What cannot be factored is left to gradients; they start at the best iterate. */
static dls_status gradient_stage(chain *x, dls_outcome *outcome, dls_error *error) {
    dls_apgd apgd;
    stage_begin(x, 0);
    memcpy(x->r, x->monitor.best, sizeof(double) * (size_t)x->problem->row_count);
    if (!dls_apgd_prepare(&apgd, x->problem, &x->gradient, &x->monitor, x->r, x->workspace))
        return dls_fail_memory(error);
    double wanted = HUGE_VAL;
    if (is_step(x)) wanted = x->nlgs.sweeps / (x->nlgs.single.lanes ? 48.0 : 2); /* lanes began often */
    *outcome = dls_apgd_advance(&apgd, left(x, wanted, GRADIENT_WORK));
    stage_end(x, "apgd", apgd.iterations, (double)apgd.products);
    return DLS_OK;
}

/* ---- many contacts ---- */

/* From the best iterate at first; later from where sweeps have led, for from the best it stalls again. Sweeps
 * do not take over what it found, for they would lose it: the monitor keeps the best. */
static dls_outcome quasi_newton_stage(chain *x, dls_pqn *pqn, int most) {
    int before = pqn->iterations;
    int64_t products = pqn->products;
    stage_begin(x, before);
    x->quasi_newton.max_products = (int)fmin(INT_MAX, (double)products + left(x, INFINITY, 1));
    pqn->delta = x->quasi_newton.delta;
    double value = dls_pqn_start(pqn, before ? x->r : x->monitor.best);
    dls_outcome outcome = DLS_CONVERGED;
    if (!(value <= x->options->stop.tolerance))
        outcome = dls_pqn_advance(pqn, before + left(x, most, 1), POLICY.pqn_patience);
    stage_end(x, "pqn", pqn->iterations - before, (double)(pqn->products - products));
    return outcome;
}

/* Sweeps up to number `until`, or as long as their rate says that they will soon be done. */
static dls_outcome sweep_round(chain *x, int until) {
    int first = x->nlgs.sweeps, limit = first + left(x, INT_MAX - first, 1);
    double before = x->monitor.best_value, needed = 0;
    dls_outcome outcome = DLS_ITERATION_LIMIT;
    stage_begin(x, first);
    while (outcome == DLS_ITERATION_LIMIT && needed < POLICY.round_sweeps && x->nlgs.sweeps < limit) {
        int sweeps = x->nlgs.sweeps;
        outcome = dls_nlgs_advance(&x->nlgs, x->r, until < limit ? until : limit);
        needed = sweeps_needed(x->monitor.value, before, x->nlgs.sweeps - sweeps, x->options->stop.tolerance);
        before = x->monitor.value;
        until = x->nlgs.sweeps + (int)POLICY.round_sweeps / 2;
    }
    stage_end(x, "nlgs", x->nlgs.sweeps - first, x->nlgs.sweeps - first);
    return outcome;
}

/* Impulses drift slowly through contacts that just slide: sweeps crawl along, quasi-Newton with its GMRES
 * sees the drift as a whole, if it begins near enough. It is tried each time the sweeps have doubled. Beside
 * sweeps by lanes it is dear, and only finishes what is near. */
static dls_status take_turns(chain *x, dls_pqn *pqn, dls_outcome *outcome, dls_error *error) {
    bool lanes = x->nlgs.in_lanes;
    int rounds = lanes ? POLICY.lane_rounds : POLICY.rounds, first = x->nlgs.sweeps;
    int until = first + (lanes ? POLICY.lane_check : POLICY.round_check);
    double near = POLICY.lane_near * x->options->stop.tolerance;
    for (int round = 0; round < rounds; round++, until = 2 * x->nlgs.sweeps - first) {
        *outcome = sweep_round(x, until);
        if (ended(x, *outcome)) break;
        if (lanes && round + 1 < rounds && x->nlgs.least > near) continue;
        if (!pqn->problem && !dls_pqn_prepare(pqn, x->problem, &x->quasi_newton, &x->monitor, x->workspace))
            return dls_fail_memory(error);
        *outcome = quasi_newton_stage(x, pqn, lanes ? POLICY.lane_polish : POLICY.pqn_iterations);
        if (ended(x, *outcome)) break;
        dls_status status = DLS_OK;
        if (!is_step(x))
            status = factoring_is_cheaper(x, POLICY.round_spent * x->nlgs.sweeps, &x->factoring, error);
        if (status || x->factoring) return status;
    }
    return DLS_OK;
}

/* What goes round and round from one start may end soon from another, about as often as not. Starts are
 * shares of the best, spread evenly over 0 … 2 by the golden ratio. */
static dls_status many_stage(chain *x, dls_outcome *outcome, dls_error *error) {
    const double golden = 0.6180339887498949;
    dls_pqn pqn = {.problem = NULL};
    dls_status status = take_turns(x, &pqn, outcome, error);
    for (int k = 1; k <= POLICY.starts && x->nlgs.single.lanes; k++) {
        if (status || x->factoring || ended(x, *outcome)) break;
        for (int i = 0; i < x->problem->row_count; i++)
            x->r[i] = 2 * fmod(golden * k, 1) * x->monitor.best[i];
        dls_nlgs_begin(&x->nlgs, x->r);
        status = take_turns(x, &pqn, outcome, error);
    }
    return status;
}

/* ---- the chain ---- */

/* Whether a stage is affordable, or of use. */
static bool has_few(const chain *x) { return !x->many; }
static bool has_many(const chain *x) { return x->many; }
static bool always(const chain *x) { return x != NULL; }
/* Of many balls few factorisations come nearer, and each is dear. */
static bool may_take_gradients(const chain *x) { return !x->factoring || x->nlgs.single.lanes; }
static bool may_factor(const chain *x) { return x->factoring; }
static bool factors_many(const chain *x) { return x->factoring && x->many; }
static bool factors_far(const chain *x) { return x->factoring && !x->near; }
static bool factors_near(const chain *x) { return x->factoring && x->near; }
static bool factors_step_of_few(const chain *x) { return factors_far(x) && !x->many && is_step(x); }
/* A step of many contacts that is hard is not worth more than others. */
static bool may_try_again(const chain *x) { return x->factoring && !(is_step(x) && x->many); }

/* A step has its neighbours' solution to start from. */
static bool may_rise(const chain *x) { return x->factoring && !is_step(x); }

static dls_status count_flops(chain *x, dls_outcome *outcome, dls_error *error) {
    (void)outcome;
    x->near = x->monitor.best_value < POLICY.near;
    return x->factoring ? DLS_OK : worth_factoring(x, &x->factoring, error);
}

static dls_status newton_after_sweeps(chain *x, dls_outcome *outcome, dls_error *error) {
    (void)error;
    *outcome = newton_stage(x, POLICY.alpha_polish, is_step(x) ? POLICY.first : POLICY.polish);
    return DLS_OK;
}

static dls_status newton_first(chain *x, dls_outcome *outcome, dls_error *error) {
    (void)error;
    *outcome = newton_stage(x, POLICY.alpha, POLICY.first);
    return DLS_OK;
}

static dls_status newton_last(chain *x, dls_outcome *outcome, dls_error *error) {
    (void)error;
    *outcome = newton_stage(x, POLICY.alpha, POLICY.last);
    return DLS_OK;
}

/* In this order, each where it is affordable, until one of them ends the solve. */
static const struct {
    const char *name;
    bool (*affordable)(const chain *x);
    dls_status (*run)(chain *x, dls_outcome *outcome, dls_error *error);
} stages[] = {
    {"sweeps", has_few, sweep_stage},
    {"sweeps and quasi-Newton by turns", has_many, many_stage},
    {"is a factorisation worth it", always, count_flops},
    {"gradients", may_take_gradients, gradient_stage},
    {"Newton, near after so many sweeps", factors_many, newton_after_sweeps},
    {"Newton, which mostly spares the interior point", factors_step_of_few, newton_first},
    {"interior point, polished", factors_far, polished_ipm_stage},
    {"Newton from the best", may_factor, newton_last},
    {"interior point, left out for being so near", factors_near, polished_ipm_stage},
    {"Newton along rising friction", may_rise, friction_stage},
    {"Newton from other starts", may_try_again, restart_stages},
};

static dls_status run(chain *x, dls_outcome *outcome, dls_error *error) {
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
        if (!stages[k].affordable(x)) continue;
        dls_status status = stages[k].run(x, outcome, error);
        if (status || ended(x, *outcome)) return status;
    }
    *outcome = is_exhausted(x) ? DLS_ITERATION_LIMIT : x->factoring ? DLS_STALLED : *outcome;
    return DLS_OK;
}

/* No single step may cost more than the whole run of its neighbours, however hard it is. */
static double most_work(const dls_problem *p, const dls_auto_options *o) {
    double flops = dls_sweep_flops(p);
    if (o->stop.purpose != DLS_PURPOSE_STEP || o->step_work == 0 || flops == 0) return INFINITY;
    return fmax(o->step_work, o->step_flops / flops);
}

void dls_solver_spend(const dls_solver *solver, const dls_problem *p, double flops, void *options) {
    if (solver != &dls_solver_auto) return;
    dls_auto_options *o = options;
    double most = most_work(p, o);
    if (isinf(most)) return;
    o->step_flops = fmax(0, most * dls_sweep_flops(p) - flops);
    o->step_work = DBL_MIN; /* none beside these */
}

static void aim(chain *x) {
    const dls_stop_options *stop = &x->options->stop;
    if (!is_step(x) || x->nlgs.in_lanes || stop->min_iterations == 0 || stop->measure != DLS_STOP_RESIDUAL)
        return;
    double least = fmax(POLICY.aim_least * stop->tolerance, POLICY.aim_rounding);
    x->nlgs.aim = fmin(stop->tolerance, fmax(POLICY.aim_share * x->monitor.value, least));
}

static dls_status solve(const dls_problem *p, const void *options, double *r, double *u, dls_workspace *w,
                        dls_solve_info *info, dls_error *error) {
    (void)u;
    chain x = {.problem = p, .options = options, .r = r, .workspace = w, .info = info};
    x.sweeps = dls_default_nlgs_options();
    x.newton_options = dls_default_newton_options();
    x.gradient = dls_default_apgd_options();
    x.quasi_newton = dls_default_pqn_options();
    x.quasi_newton.gmres_restart = x.quasi_newton.gmres_iterations; /* no room for vectors that never come */
    x.sweeps.stop = x.newton_options.stop = x.gradient.stop = x.quasi_newton.stop = x.options->stop;
    x.many = p->block_count >= (is_step(&x) ? POLICY.many_step : POLICY.many_alone);
    if (x.many && is_step(&x)) x.sweeps.stall_sweeps = 0; /* others decide when sweeps have stalled */
    x.most = most_work(p, x.options);
    info->law = dls_law_find(x.sweeps.law)->name;
    if (!dls_monitor_prepare(&x.monitor, p, &x.options->stop, w)) return dls_fail_memory(error);
    dls_monitor_start(&x.monitor, r);
    info->outcome = DLS_CONVERGED;
    info->work = 0;
    dls_status status = DLS_OK;
    if (!(x.monitor.value <= x.options->stop.tolerance) || x.options->stop.min_iterations > 0) {
        status = dls_nlgs_prepare(&x.nlgs, p, &x.sweeps, &x.monitor, r, w, error);
        aim(&x);
        if (!status) status = run(&x, &info->outcome, error);
        info->colours = x.nlgs.sweep.colours;
        info->serial_blocks = x.nlgs.sweep.serial_blocks;
        info->restarts = x.nlgs.restarts;
    }
    info->products = info->iterations;
    info->stop_value = x.monitor.best_value;
    memcpy(r, x.monitor.best, sizeof(double) * (size_t)p->row_count);
    dls_system_destroy(x.system);
    dls_scaled_destroy(&x.scaled);
    return status;
}

/* ---- options ---- */

dls_auto_options dls_default_auto_options(void) {
    return (dls_auto_options){.stop = dls_default_stop_options(),
                              .max_factor_flops = 2e10,
                              .budget = 2e10,
                              .step_work = 20000,
                              .step_flops = 2e11};
}

static void defaults(void *options) { *(dls_auto_options *)options = dls_default_auto_options(); }

static const dls_field fields[] = {
    DLS_STOP_FIELDS(dls_auto_options),
    DLS_REAL(dls_auto_options, , max_factor_flops, 0, 1e15, "1", "no factorisation that costs more flops"),
    DLS_REAL(dls_auto_options, , budget, 0, 1e15, "1",
             "flops that factorisations in a time step of few contacts may always cost"),
    DLS_REAL(dls_auto_options, , step_work, 0, 1e15, "1",
             "sweeps, or what costs as many flops, that a time step may cost at most; 0: no bound"),
    DLS_REAL(dls_auto_options, , step_flops, 0, 1e15, "1",
             "flops that a time step may cost in any case, where its sweeps are cheap"),
};

const dls_solver dls_solver_auto = {
    .name = "auto",
    .summary = "accelerated sweeps, then interior point and Newton where sweeps are slow",
    .options_size = sizeof(dls_auto_options),
    .defaults = defaults,
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solve = solve};
