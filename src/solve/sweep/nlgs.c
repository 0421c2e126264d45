/* Nonlinear Gauss–Seidel (papers 002, 003) over any local law, with Anderson acceleration or momentum. */
#include "solve/sweep/nlgs.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"
#include "solve/fields.h"

#include <math.h>
#include <string.h>

static const double RESTART_GROWTH = 1.5; /* a step that lets the estimate grow so much is taken back */
static const double STALL_GAIN = 0.9;     /* progress that counts */
static const double CAUTIOUS_RELAXATION = 0.7;
static const double LANE_GROWTH = 1.4;     /* filling: as RESTART_GROWTH */
static const double LANE_ACCURACY = 1e-6;  /* of the residual: what single precision reaches in packings */
static const double LANE_RELAXATION = 0.6; /* filling: none goes below it but one */

enum {
    CHECK_EVERY = 50,
    CHECK_NEAR = 10,
    LANE_CHECK_REST = 4, /* filling, settled: where the start is within the tolerance */
    LANE_CHECK_LEAST = 8,
    LANE_CHECK_MOST = 48,
    LANE_STEADY = 100,   /* sweeps before the cap of momentum rises */
    LANE_PATIENCE = 600, /* sweeps without progress */
    AIM_SWEEPS = 16,
    FEW_AIM_SWEEPS = 64,
    ANDERSON_PATIENCE = 100,
    LARGE = 4096,
    LARGE_STEP = 256
};

/* ---- acceleration ---- */

/* Anderson: r ← extrapolation from g; a step that made things worse is taken back to the last plain image. */
static void accelerate_anderson(dls_nlgs *x, double *r) {
    dls_anderson *a = &x->anderson;
    size_t bytes = sizeof(double) * (size_t)x->problem->row_count;
    bool worse = x->accelerated && x->change > RESTART_GROWTH * x->last_change;
    if (worse || ++x->window_age > x->options->window_reset) {
        const double *back = worse ? a->last_g : x->g;
        memcpy(r, back, bytes);
        if (worse) dls_sweep_start(&x->sweep, r);
        dls_anderson_clear(a);
        x->window_age = 0;
        x->restarts += worse;
        x->accelerated = false;
        return;
    }
    x->accelerated = dls_anderson_step(a, x->g, r);
    if (x->accelerated) dls_sweep_start(&x->sweep, r);
}

/* How far the iterate moves on along its last step, by Nesterov's rule up to a cap that adapts. */
static double momentum_of(dls_nlgs *x) {
    dls_momentum *m = &x->momentum;
    double t = m->theta, next = 0.5 * (-t * t + t * sqrt(t * t + 4));
    double beta = fmin(m->cap, t * (1 - t) / (t * t + next));
    if (x->change > (x->in_lanes ? LANE_GROWTH : RESTART_GROWTH) * m->least) {
        beta = 0;
        next = 1;
        m->least = x->change;
        m->cap = fmax(0.5, 1 - 2 * (1 - m->cap));
        x->restarts++;
    } else {
        m->least = fmin(m->least, x->change);
        bool due = x->sweeps % 40 == 0 && (!x->in_lanes || x->sweeps > LANE_STEADY);
        if (due) m->cap = fmin(0.998, 1 - 0.7 * (1 - m->cap));
    }
    m->theta = next;
    return beta;
}

/* Momentum: r and the operator's state move on along their last step; linear, so no product is needed. */
static void accelerate_momentum(dls_nlgs *x, double *r) {
    dls_momentum *m = &x->momentum;
    size_t states = x->problem->op->state_size(x->problem);
    double beta = momentum_of(x);
    if (x->in_lanes) {
        x->single.kernel->push(x->single.lanes, beta);
        return;
    }
    for (int i = 0; i < x->problem->row_count; i++) {
        double now = r[i];
        r[i] += beta * (now - m->last_r[i]);
        m->last_r[i] = now;
    }
    for (size_t i = 0; i < states; i++) {
        double now = x->sweep.visits.state[i];
        x->sweep.visits.state[i] += beta * (now - m->last_state[i]);
        m->last_state[i] = now;
    }
}

static void start_momentum(dls_nlgs *x, const double *r) {
    dls_momentum *m = &x->momentum;
    size_t states = x->problem->op->state_size(x->problem);
    x->acceleration = DLS_MOMENTUM;
    m->theta = 1;
    m->cap = 0.9;
    m->least = INFINITY;
    if (x->in_lanes) return;
    memcpy(m->last_r, r, sizeof(double) * (size_t)x->problem->row_count);
    memcpy(m->last_state, x->sweep.visits.state, sizeof(double) * states);
}

static bool prepare_acceleration(dls_nlgs *x, const double *r, dls_workspace *w) {
    const dls_nlgs_options *o = x->options;
    size_t n = (size_t)x->problem->row_count, states = x->problem->op->state_size(x->problem);
    /* the next step begins near this one's end, where momentum soon runs; Anderson pays a product for a step
     */
    int large = o->stop.purpose == DLS_PURPOSE_STEP ? LARGE_STEP : LARGE;
    x->acceleration = o->acceleration;
    if (x->acceleration == DLS_ACCELERATION_AUTO)
        x->acceleration = x->problem->block_count < large ? DLS_ANDERSON : DLS_MOMENTUM;
    if (x->acceleration == DLS_ANDERSON) {
        x->g = DLS_TAKE(w, double, n);
        if (!x->g || !dls_anderson_prepare(&x->anderson, x->problem, o->window, o->stop.threads, w))
            return false;
    }
    if (x->acceleration == DLS_PLAIN) return true;
    x->momentum.last_r = DLS_TAKE(w, double, n);
    x->momentum.last_state = DLS_TAKE(w, double, states);
    if (!x->momentum.last_r || !x->momentum.last_state) return false;
    if (x->acceleration == DLS_MOMENTUM) start_momentum(x, r);
    return true;
}

/* ---- lanes ---- */

static dls_sweep *sweep_of(dls_nlgs *x) { return x->in_lanes ? &x->single : &x->sweep; }

/* Whether single precision has done what it can. */
static bool lanes_are_done(const dls_nlgs *x) {
    return x->last_check == x->sweeps &&
           (x->monitor->value <= LANE_ACCURACY || x->sweeps - x->milestone >= LANE_PATIENCE);
}

/* Sweeps that go round in circles end where they are relaxed; false: that was done as far as it helps. */
static bool relax_lanes(dls_nlgs *x, const double *r) {
    double *relaxation = &x->single.visits.relaxation;
    if (x->monitor->value <= LANE_ACCURACY || *relaxation < LANE_RELAXATION) return false;
    *relaxation *= CAUTIOUS_RELAXATION;
    x->milestone = x->sweeps;
    start_momentum(x, r);
    return true;
}

/* Goes on in double from r, which was just judged. */
static void leave_lanes(dls_nlgs *x, const double *r) {
    x->in_lanes = false;
    dls_nlgs_restart(x, r);
}

/* ---- stopping ---- */

/* A true measure costs a product with W: take it when the free estimate comes near, and now and then. Lanes
 * need a new base now and then as well, and sweep faster than products are made. */
static bool wants_measure(const dls_nlgs *x, int sweep) {
    const dls_stop_options *stop = &x->options->stop;
    int since = sweep - x->last_check;
    double wanted = sweep < x->aim_until ? x->aim : stop->tolerance;
    int least = x->at_rest ? LANE_CHECK_REST : LANE_CHECK_LEAST;
    if (x->in_lanes && stop->check_interval <= 0)
        return since >= LANE_CHECK_MOST || sweep == stop->max_iterations ||
               (since >= least && x->estimate * x->trust <= wanted);
    if (stop->measure == DLS_STOP_INCREMENT || sweep == stop->max_iterations) return true;
    if (stop->check_interval > 0) return sweep % stop->check_interval == 0;
    return stop->measure != DLS_STOP_RESIDUAL || x->estimate <= wanted ||
           (x->estimate <= 4 * stop->tolerance && since >= CHECK_NEAR) || since >= CHECK_EVERY;
}

/* Sweeps without progress change their ways: momentum instead of Anderson, then relaxed, then alternating. */
static bool change_ways(dls_nlgs *x, const double *g) {
    if (!x->options->adapt) return false;
    if (x->acceleration == DLS_ANDERSON) {
        start_momentum(x, g);
    } else if (x->sweep.visits.relaxation > CAUTIOUS_RELAXATION) {
        x->sweep.visits.relaxation = CAUTIOUS_RELAXATION;
    } else if (!x->alternate) {
        x->alternate = true;
    } else {
        return false;
    }
    return true;
}

/* True when there was no progress for long and nothing else to try. */
static bool stalled(dls_nlgs *x, int sweep, const double *g) {
    int patience = x->options->stall_sweeps;
    x->least = fmin(x->least, x->monitor->value);
    if (x->least < STALL_GAIN * x->milestone_value) {
        x->milestone_value = x->least;
        x->milestone = sweep;
        return false;
    }
    if (x->acceleration == DLS_ANDERSON && x->options->adapt && patience > ANDERSON_PATIENCE)
        patience = ANDERSON_PATIENCE;
    if (x->in_lanes || patience == 0 || sweep - x->milestone < patience) return false;
    x->milestone = sweep;
    return !change_ways(x, g);
}

/* Within the tolerance: is the aim reached as well, or was enough done for it? Towers of few contacts are
 * worth more: short of the aim they sway as far as the tolerance lets them, and every step costs as much. */
static bool good_enough(dls_nlgs *x, bool late) {
    const dls_stop_options *stop = &x->options->stop;
    if (x->sweeps < stop->min_iterations) return false;
    if (x->aim_until == 0)
        x->aim_until = x->sweeps + (x->problem->block_count < LARGE_STEP ? FEW_AIM_SWEEPS : AIM_SWEEPS);
    return late || x->monitor->value <= x->aim || x->sweeps >= x->aim_until ||
           x->sweeps >= stop->max_iterations;
}

/* After a sweep to g: is it time to stop? */
static bool finished(dls_nlgs *x, double *g, double increment, int until, dls_outcome *outcome) {
    const dls_stop_options *stop = &x->options->stop;
    bool late = dls_monitor_out_of_time(x->monitor);
    bool exact = late || wants_measure(x, x->sweeps) || x->sweeps >= until;
    if (!isfinite(x->change)) {
        *outcome = DLS_DIVERGED;
        return true;
    }
    if (exact || stop->callback) dls_sweep_gather(sweep_of(x), g);
    if (exact) {
        x->last_check = x->sweeps;
        dls_monitor_measure(x->monitor, g, x->sweeps, increment);
        x->trust = x->estimate > 0 ? x->monitor->value / x->estimate : 1;
        if (x->in_lanes) dls_sweep_rebase(&x->single, g, dls_is_shared(x->problem) ? NULL : x->monitor->u);
    }
    *outcome = DLS_CANCELLED;
    if (!dls_monitor_report(x->monitor, g, x->sweeps, exact ? x->monitor->value : x->estimate, exact)) {
        if (!exact) dls_monitor_measure(x->monitor, g, x->sweeps, increment); /* it may be the best */
        return true;
    }
    *outcome = DLS_CONVERGED;
    if (exact && x->monitor->value <= stop->tolerance && good_enough(x, late)) return true;
    *outcome = DLS_STALLED;
    if (exact && stalled(x, x->sweeps, g)) return true;
    *outcome = DLS_TIME_LIMIT;
    if (late) return true;
    *outcome = DLS_ITERATION_LIMIT;
    return x->sweeps >= until;
}

/* ---- the iteration ---- */

dls_outcome dls_nlgs_advance(dls_nlgs *x, double *r, int until) {
    size_t bytes = sizeof(double) * (size_t)x->problem->row_count;
    dls_outcome outcome = DLS_ITERATION_LIMIT;
    while (x->sweeps < until) {
        bool apart = x->acceleration == DLS_ANDERSON; /* the image is kept apart from r */
        double *g = apart ? memcpy(x->g, r, bytes) : r;
        x->sweeps++;
        dls_sweep_change change = dls_sweep_run(sweep_of(x), g, x->alternate && x->sweeps % 2 == 0);
        x->change = sqrt(change.velocity2);
        x->estimate = x->change / (x->monitor->scale > 0 ? x->monitor->scale : x->closing);
        x->unsolved = change.unsolved;
        bool stop = finished(x, g, change.normal + change.tangent, until, &outcome);
        if (stop && outcome != DLS_ITERATION_LIMIT) {
            if (apart) memcpy(r, g, bytes);
            break;
        }
        if (x->in_lanes && lanes_are_done(x) && !relax_lanes(x, r)) leave_lanes(x, r);
        if (apart) dls_sweep_gather(&x->sweep, g); /* its differences are of all blocks */
        if (apart && x->acceleration != DLS_ANDERSON) memcpy(r, g, bytes);
        if (x->acceleration == DLS_ANDERSON)
            accelerate_anderson(x, r);
        else if (x->acceleration == DLS_MOMENTUM)
            accelerate_momentum(x, r);
        x->last_change = x->change;
    }
    dls_sweep_gather(sweep_of(x), r);
    return outcome;
}

static void restart(dls_nlgs *x, const double *r, bool in_lanes) {
    x->in_lanes = in_lanes;
    dls_sweep_start(sweep_of(x), r);
    x->accelerated = false;
    x->last_change = INFINITY;
    x->milestone = x->sweeps;
    x->milestone_value = INFINITY;
    if (x->acceleration == DLS_ANDERSON) dls_anderson_clear(&x->anderson);
    if (x->acceleration == DLS_MOMENTUM) start_momentum(x, r);
}

void dls_nlgs_restart(dls_nlgs *x, const double *r) { restart(x, r, false); }

void dls_nlgs_begin(dls_nlgs *x, const double *r) {
    x->least = INFINITY;
    x->sweep.visits.relaxation = x->single.visits.relaxation = x->options->relaxation;
    x->alternate = x->options->alternate;
    restart(x, r, x->single.lanes != NULL);
}

/* What the judge's ‖s‖ will be about: max(|b_c|, v_ref) of contacts that close, or lie still, and of rows. */
static double closing_scale(const dls_problem *p) {
    double sum = 0, v = p->reference_velocity;
    for (int c = 0; c < p->block_count; c++) {
        const double *b = p->b + p->row[c];
        if (p->kind[c] == DLS_CONTACT && b[0] > v) continue;
        sum += fmax(small_dot(dls_size(p, c), b, b), v * v);
    }
    return sum > 0 ? sqrt(sum) : 1;
}

dls_status dls_nlgs_prepare(dls_nlgs *x, const dls_problem *p, const dls_nlgs_options *o,
                            dls_monitor *monitor, const double *r, dls_workspace *w, dls_error *error) {
    *x = (dls_nlgs){.problem = p, .options = o, .monitor = monitor, .closing = closing_scale(p)};
    x->aim = o->stop.tolerance;
    dls_status status = dls_sweep_prepare(&x->sweep, p, o, w, error);
    bool lanes = dls_sweep_has_lanes(p, o) && p->block_count >= LARGE_STEP &&
                 (o->acceleration == DLS_MOMENTUM || o->acceleration == DLS_ACCELERATION_AUTO);
    if (!status && lanes)
        status = dls_sweep_prepare_lanes(&x->single, p, o, monitor->u, monitor->state, w, error);
    if (status) return status;
    x->in_lanes = lanes;
    x->at_rest = monitor->value <= o->stop.tolerance;
    x->trust = 1;
    dls_sweep_start(sweep_of(x), r);
    if (!prepare_acceleration(x, r, w)) return dls_fail_memory(error);
    x->alternate = o->alternate;
    x->last_change = x->milestone_value = INFINITY;
    x->least = monitor->best_value;
    return DLS_OK;
}

static dls_status solve(const dls_problem *p, const void *options, double *r, double *u, dls_workspace *w,
                        dls_solve_info *info, dls_error *error) {
    (void)u;
    const dls_nlgs_options *o = options;
    dls_monitor monitor;
    dls_nlgs x;
    if (!dls_monitor_prepare(&monitor, p, &o->stop, w)) return dls_fail_memory(error);
    dls_monitor_start(&monitor, r);
    dls_status status = dls_nlgs_prepare(&x, p, o, &monitor, r, w, error);
    if (status) return status;
    info->outcome = DLS_CONVERGED;
    if (!(monitor.value <= o->stop.tolerance) || o->stop.min_iterations > 0)
        info->outcome = dls_nlgs_advance(&x, r, o->stop.max_iterations);
    if (info->outcome != DLS_CONVERGED) memcpy(r, monitor.best, sizeof(double) * (size_t)p->row_count);
    info->law = x.sweep.visits.law->name;
    info->stop_value = info->outcome == DLS_CONVERGED ? monitor.value : monitor.best_value;
    info->iterations = x.sweeps;
    info->unsolved = x.unsolved;
    info->colours = x.sweep.colours;
    info->serial_blocks = x.sweep.serial_blocks;
    info->restarts = x.restarts;
    info->products = x.sweeps;
    return DLS_OK;
}

/* ---- options ---- */

dls_nlgs_options dls_default_nlgs_options(void) {
    return (dls_nlgs_options){.stop = dls_default_stop_options(),
                              .law = "exact",
                              .local = dls_default_law_options(),
                              .relaxation = 1,
                              .window = 4,
                              .window_reset = 20,
                              .stall_sweeps = 500,
                              .adapt = true};
}

static void defaults(void *options) { *(dls_nlgs_options *)options = dls_default_nlgs_options(); }

static const char *law_at(int index, const char **summary) {
    const dls_law *law = dls_law_at(index);
    if (law && summary) *summary = law->summary;
    return law ? law->name : NULL;
}

static const dls_field fields[] = {
    DLS_STOP_FIELDS(dls_nlgs_options),
    {"law", DLS_FIELD_NAME, offsetof(dls_nlgs_options, law), 0, 0, NULL, "1",
     "local law, see the table of laws", law_at},
    DLS_LAW_FIELDS(dls_nlgs_options, local.),
    DLS_CHOICE(dls_nlgs_options, , order, 4, "auto|natural|random|coloured",
               "order of visits; auto: natural for small problems, coloured for large ones"),
    DLS_INT(dls_nlgs_options, , seed, 0, 2147483647, "of the random order"),
    DLS_BOOL(dls_nlgs_options, , alternate, "every other sweep runs backward"),
    DLS_REAL(dls_nlgs_options, , relaxation, 0.01, 1.99, "1", "ω in r + ω (law(r) − r)"),
    DLS_CHOICE(
        dls_nlgs_options, , acceleration, 4, "auto|anderson|momentum|plain",
        "of the sweeps; auto: anderson for small problems, momentum for large ones and larger time steps"),
    DLS_INT(dls_nlgs_options, , window, 1, DLS_MAX_WINDOW, "differences that Anderson keeps"),
    DLS_INT(dls_nlgs_options, , window_reset, 1, 1000000, "sweeps after which they are dropped"),
    DLS_INT(dls_nlgs_options, , stall_sweeps, 0, 2147483647,
            "give up when the measure has not fallen by a tenth in so many sweeps; 0: never"),
    DLS_BOOL(dls_nlgs_options, , adapt,
             "where sweeps stall try momentum, relaxation by 0.7 and alternation before giving up"),
};

const dls_solver dls_solver_nlgs = {.name = "nlgs",
                                    .summary = "nonlinear Gauss–Seidel over a local law, accelerated",
                                    .options_size = sizeof(dls_nlgs_options),
                                    .defaults = defaults,
                                    .fields = fields,
                                    .field_count = sizeof fields / sizeof *fields,
                                    .solve = solve};

dls_status dls_solve_nlgs(const dls_problem *problem, const dls_nlgs_options *options, double *r, double *u,
                          dls_workspace *workspace, dls_solve_info *info, dls_error *error) {
    return dls_solve(problem, &dls_solver_nlgs, options, r, u, workspace, info, error);
}
