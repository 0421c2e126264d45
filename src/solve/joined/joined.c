/* Rows of joints are held, u = 0, or stand at a bound: which, is found in turn. With a set of held rows
 *
 *     eliminate them, solve u = W' r + b' for the contacts, r_J = −S⁻¹ (G_J Gᵀ r + b_J)
 *
 * and rows move where low ≤ r ≤ high is broken (to that bound) or u pulls from a bound (to the held ones),
 * until none has to. Before the first round rows move with the contacts as the start has them. */
#include "solve/joined/joined.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"

#include <math.h>
#include <string.h>

enum {
    WAITING_CONTACTS = 256, /* open ones of joined bodies, from which on they wait */
    MOST_PIVOTS = 100,      /* sets before the first round */
    PATIENCE = 8,           /* sets without fewer wrong rows, after which rows move one by one */
    MOST_ROUNDS = 12,
    FIRST_SWEEPS = 8, /* of the first round, twice as many in each after it */
    MOST_SWEEPS = 32, /* of a round before the given solver */
    NEWTON_ROWS = 600,
    NEWTON_ITERATIONS = 60,
    MOST_FLIPS = 2, /* of a row, after which it stays a block */
    MOST_TIGHTER = 2
};

static const double LOOSE = 1e-8, STRICT = 1e-12; /* of S_ii: pivots of rows that depend on others */
static const double SLACK = 1e-2;                 /* of the tolerance: what a row at its bound may be off */
static const double CONTRADICTS = 1e-6;           /* of its own speeds: what rows that depend are left at */
static const double LEAST_TIGHTER = 1e-2;
static const double BEYOND = 1e9; /* of the speeds at hand: W_ii r_i of rows that contradict others */
static const double MOST_TAILS = 12, MOST_FACTOR = 1e3; /* of the flops of a sweep over all as blocks */

typedef union any_options {
    dls_stop_options stop;
    dls_nlgs_options nlgs;
    char bytes[DLS_MAX_OPTIONS_SIZE];
} any_options;

typedef struct joined_work {
    const dls_problem *p;
    dls_elimination *e;
    const dls_solver *solver;
    any_options options;
    dls_workspace *w;
    dls_solve_info *info;
    dls_joined_info *joined;
    dls_error *error;
    double tolerance, dependent;
    double flops;          /* that all solves have cost so far */
    double *r, *u, *state; /* in the units inside */
    uint8_t *role, *flips;
    int wrong;                /* rows that moved after the last round */
    dls_workspace_mark begun; /* before the elimination took what it has */
    bool factored;            /* R is that of these roles */
    bool costly;
    bool contradictory; /* no impulses of any size hold all rows */
} joined_work;

/* ---- which rows are held ---- */

static bool is_bounded(const dls_problem *p, int i) {
    return p->low && (isfinite(p->low[i]) || isfinite(p->high[i]));
}

static bool is_interval_row(const dls_problem *p, int c) { return p->kind[c] == DLS_INTERVAL; }

/* By the start: rows strictly between their bounds are held, the others stand at the nearer one. */
static void guess_set(joined_work *x) {
    const dls_problem *p = x->p;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1] && is_interval_row(p, c); i++) {
            bool bounded = is_bounded(p, i);
            x->role[i] =
                !bounded || (p->low[i] < x->r[i] && x->r[i] < p->high[i]) ? DLS_ROW_HELD : DLS_ROW_FIXED;
            if (x->role[i] == DLS_ROW_FIXED) x->r[i] = x->r[i] <= p->low[i] ? p->low[i] : p->high[i];
        }
}

/* What row i of block c may be off, as a velocity. */
static double slack_of(const joined_work *x, int c, int i) {
    const dls_problem *p = x->p;
    int d = dls_size(p, c), k = i - p->row[c];
    double load = dls_diagonal(p, c)[k + d * k] * fabs(x->r[i]);
    return SLACK * x->tolerance * (fabs(p->b[i]) + load + p->reference_velocity);
}

/* Whether row i of block c is in the wrong set by r and u; to: the bound that it goes to, or 0 for none. */
static bool is_wrong(const joined_work *x, int c, int i, int *to) {
    const dls_problem *p = x->p;
    int d = dls_size(p, c), k = i - p->row[c];
    double slack = slack_of(x, c, i), W = dls_diagonal(p, c)[k + d * k];
    *to = 0;
    if (!is_bounded(p, i) || p->low[i] == p->high[i] || x->role[i] == DLS_ROW_STAYS) return false;
    if (x->role[i] == DLS_ROW_HELD) {
        *to = W * (p->low[i] - x->r[i]) > slack ? -1 : W * (x->r[i] - p->high[i]) > slack ? 1 : 0;
        return *to != 0;
    }
    return x->r[i] == p->low[i] ? x->u[i] < -slack : x->u[i] > slack;
}

static void set_role(joined_work *x, int i, dls_row_role role) {
    x->factored = x->factored && x->role[i] == role;
    x->role[i] = (uint8_t)role;
}

static void move_row(joined_work *x, int i, int to) {
    if (to) x->r[i] = to < 0 ? x->p->low[i] : x->p->high[i];
    set_role(x, i, to ? DLS_ROW_FIXED : DLS_ROW_HELD);
}

/* Moves wrong rows, all or the last; returns how many were wrong. A row that has flipped too often stays. */
static int move_rows(joined_work *x, bool all, bool count_flips) {
    const dls_problem *p = x->p;
    int wrong = 0, last = -1, last_to = 0;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c], to; i < p->row[c + 1] && is_interval_row(p, c); i++) {
            if (!is_wrong(x, c, i, &to)) continue;
            wrong++;
            last = i;
            last_to = to;
            if (!all) continue;
            move_row(x, i, to);
            if (count_flips && ++x->flips[i] > MOST_FLIPS) set_role(x, i, DLS_ROW_STAYS);
        }
    if (!all && last >= 0) move_row(x, last, last_to);
    return wrong;
}

/* Held rows with bounds stay blocks; returns how many. */
static int free_bounded(joined_work *x) {
    const dls_problem *p = x->p;
    int freed = 0;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1] && is_interval_row(p, c); i++) {
            if (x->role[i] != DLS_ROW_HELD || !is_bounded(p, i)) continue;
            set_role(x, i, DLS_ROW_STAYS);
            freed++;
        }
    return freed;
}

/* A contact that held rows leave no freedom must not approach. Where it does, one of them has to yield.
 * Returns how many may. */
static int free_rows(joined_work *x) {
    const dls_problem *p = x->p;
    int count;
    const int *out = dls_elimination_out(x->e, &count);
    bool approaches = false;
    for (int k = 0; k < count; k++) {
        const double *b = p->b + p->row[out[k]];
        double speed = small_norm(dls_size(p, out[k]), b) + p->reference_velocity;
        approaches = approaches || dls_block_error(p, out[k], x->r, x->u) > x->tolerance * speed;
    }
    return approaches ? free_bounded(x) : 0;
}

/* ---- which contacts take part ---- */

static bool may_leave_open(const joined_work *x) {
    return x->p->contact_count >= WAITING_CONTACTS && x->options.stop.purpose == DLS_PURPOSE_STEP;
}

/* Contacts of joined bodies that are open by r and u. */
static bool may_wait(const joined_work *x, int c) {
    int i = x->p->row[c];
    return x->p->kind[c] == DLS_CONTACT && x->r[i] == 0 && x->u[i] > 0 && dls_elimination_touches(x->e, c);
}

/* Most contacts that a step watches stay open, and those of joined bodies have tails. Where they are many,
 * those that are open at the start wait, with r = 0, until the motion closes them. */
static void leave_open(joined_work *x) {
    const dls_problem *p = x->p;
    int open = 0;
    if (!may_leave_open(x) || x->costly) return;
    for (int c = 0; c < p->block_count; c++) open += may_wait(x, c);
    for (int c = 0; c < p->block_count && open >= WAITING_CONTACTS; c++)
        if (may_wait(x, c)) {
            x->role[p->row[c]] = DLS_ROW_FIXED;
            x->joined->waiting++;
        }
}

/* Contacts that wait and would close take part from now on; returns how many. */
static int take_closed(joined_work *x) {
    const dls_problem *p = x->p;
    int closed = 0;
    for (int c = 0; c < p->block_count; c++) {
        int i = p->row[c];
        if (p->kind[c] != DLS_CONTACT || x->role[i] != DLS_ROW_FIXED) continue;
        if (x->u[i] >= -slack_of(x, c, i)) continue;
        x->role[i] = DLS_ROW_STAYS;
        closed++;
    }
    x->joined->waiting -= closed;
    return closed;
}

/* Held rows end within their bounds to the last digit. */
static void clamp_rows(joined_work *x) {
    const dls_problem *p = x->p;
    for (int c = 0; c < p->block_count; c++)
        if (is_interval_row(p, c)) dls_block_project(p, c, x->r + p->row[c]);
}

/* ---- one set ---- */

/* R of the roles as they are, unless it is that already. */
static dls_status factor(joined_work *x) {
    dls_elimination_cost cost;
    const dls_problem *p = x->p;
    if (x->factored) return DLS_OK;
    dls_workspace_release(x->w, x->begun);
    dls_status status =
        dls_elimination_begin(x->e, p, x->role, x->options.stop.threads, x->w, &cost, x->error);
    if (status) return status;
    double sweep = p->op->sweep_cost(p);
    x->costly = cost.tails > MOST_TAILS * sweep || cost.factor > MOST_FACTOR * sweep;
    x->joined->eliminated = cost.rows;
    if (x->costly) return DLS_OK;
    x->factored = true;
    return dls_elimination_factor(x->e, x->dependent, x->error);
}

/* Whether a row that was left out because it depends on others does not hold by itself. */
static bool contradicts(const dls_problem *p, const dls_held_error *held) {
    if (!held->left_out) return false;
    double speed = fabs(p->b[held->row]) + (p->speed ? p->speed[held->block] : 0) + p->reference_velocity;
    return held->error > CONTRADICTS * speed;
}

/* Whether impulses of held rows are beyond what any load through light bodies would need. */
static bool blows_up(const joined_work *x) {
    const dls_problem *p = x->p;
    double most = 0, given = p->reference_velocity;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c], d = dls_size(p, c); i < p->row[c + 1]; i++) {
            given = fmax(given, fabs(p->b[i]) + (p->speed ? p->speed[c] : 0));
            if (!is_interval_row(p, c) || x->role[i] != DLS_ROW_HELD) continue;
            most = fmax(most, dls_diagonal(p, c)[(i - p->row[c]) * (d + 1)] * fabs(x->r[i]));
        }
    return most > BEYOND * given;
}

/* Whether a held row is beyond its bounds: it yields, and those that it fought may hold after all. */
static bool any_yields(const joined_work *x) {
    const dls_problem *p = x->p;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c], to; i < p->row[c + 1] && is_interval_row(p, c); i++)
            if (x->role[i] == DLS_ROW_HELD && is_wrong(x, c, i, &to)) return true;
    return false;
}

/* A row that depends on others and does not hold goes to the bound that resists it, as friction does against
 * a drive; where it has none, another one has to yield. Whether any can. */
static bool yields(joined_work *x, int row) {
    double bound = x->u[row] > 0 ? x->p->low[row] : x->p->high[row];
    if (!isfinite(bound)) return free_bounded(x) > 0;
    move_row(x, row, x->u[row] > 0 ? -1 : 1);
    if (++x->flips[row] > MOST_FLIPS) set_role(x, row, DLS_ROW_STAYS);
    return true;
}

/* From now on rows depend on others whose pivot is so much of S_ii. */
static void set_dependent(joined_work *x, double dependent) {
    x->factored = x->factored && x->dependent == dependent;
    x->dependent = dependent;
}

/* r of held rows, u of all. Rows that were left out because they seemed to depend on others but do not hold
 * by themselves are taken in after all; those that cannot be yield, or are named. */
static dls_status recover(joined_work *x, bool *again) {
    const dls_problem *p = x->p;
    dls_held_error held;
    dls_status status = dls_elimination_recover(x->e, x->r, &held, x->error);
    if (status) return status;
    dls_velocity(p, x->r, x->u, x->state, x->options.stop.threads);
    bool off = contradicts(p, &held), strict = x->dependent == STRICT;
    *again = off && !strict && !x->contradictory;
    x->joined->dependent = held.dependent;
    if (*again) {
        set_dependent(x, STRICT);
    } else if (strict && blows_up(x) && !any_yields(x)) {
        *again = x->contradictory = true;
        set_dependent(x, LOOSE);
    } else {
        *again = off && !x->contradictory && p->low && yields(x, held.row);
        off = off && !*again;
        x->joined->row = off ? held.row : -1;
        x->joined->violated = off ? held.error / (p->unit ? p->unit[held.row] : 1) : 0;
    }
    return DLS_OK;
}

/* Sets with the contacts at rest, until no row is wrong; all wrong rows move, and one by one where that does
 * not end (Murty's rule, which does). */
static dls_status pivot(joined_work *x) {
    int least = x->p->row_count + 1, patience = PATIENCE;
    for (int k = 0; k < MOST_PIVOTS; k++) {
        bool again = false;
        dls_status status = factor(x);
        if (!status && !x->costly) status = recover(x, &again);
        if (status || x->costly) return status;
        x->joined->pivots++;
        if (again) continue;
        int wrong = move_rows(x, patience > 0, false);
        if (wrong == 0) return DLS_OK;
        if (wrong < least) least = wrong, patience = PATIENCE;
        patience--;
    }
    return DLS_OK;
}

/* ---- rounds ---- */

static void add_info(const dls_solve_info *part, dls_solve_info *sum) {
    int iterations = sum->iterations, fallbacks = sum->fallbacks, restarts = sum->restarts;
    int64_t products = sum->products;
    *sum = *part;
    sum->iterations += iterations;
    sum->fallbacks += fallbacks;
    sum->restarts += restarts;
    sum->products += products;
}

/* r of the reduced problem by a solver, from where it stands. */
static dls_status solve_reduced(joined_work *x, const dls_problem *q, const dls_solver *solver,
                                const any_options *options) {
    dls_workspace_mark mark = dls_workspace_get_mark(x->w);
    any_options own = *options;
    double *r = DLS_TAKE(x->w, double, q->row_count);
    dls_solve_info info;
    if (!r) return dls_fail_memory(x->error);
    dls_elimination_enter(x->e, x->r, r);
    dls_leave_units(q, r, NULL);
    dls_solver_spend(solver, x->p, x->flops, &own);
    dls_status status = dls_solve_part(q, solver, &own, r, x->w, &info, x->error);
    dls_enter_units(q, r);
    if (!status) {
        add_info(&info, x->info);
        x->flops += info.work * dls_sweep_flops(q);
        dls_elimination_leave(x->e, r, x->r);
    }
    dls_workspace_release(x->w, mark);
    return status;
}

/* Sweeps go first, for with joints out of the way few are enough, and momentum would only ring on; and until
 * the set is found no more of them than these. */
static dls_status sweep_reduced(joined_work *x, const dls_problem *q, int sweeps) {
    any_options options;
    dls_nlgs_options *nlgs = &options.nlgs;
    if (x->solver == &dls_solver_nlgs) {
        options = x->options;
    } else {
        *nlgs = dls_default_nlgs_options();
        nlgs->stop = x->options.stop;
    }
    if (nlgs->acceleration == DLS_ACCELERATION_AUTO) nlgs->acceleration = DLS_ANDERSON;
    if (nlgs->stop.max_iterations > sweeps) nlgs->stop.max_iterations = sweeps;
    return solve_reduced(x, q, &dls_solver_nlgs, &options);
}

/* Rows of joints that stay beside contacts are what sweeps are slow with, and Newton is not while they are
 * few.
 */
static bool wants_newton(const joined_work *x, const dls_problem *q) {
    return x->solver == &dls_solver_auto && x->joined->stays > 0 && q->row_count <= NEWTON_ROWS &&
           x->info->outcome == DLS_ITERATION_LIMIT;
}

static dls_status newton_reduced(joined_work *x, const dls_problem *q) {
    any_options options;
    dls_solver_newton.defaults(&options);
    options.stop = x->options.stop;
    if (options.stop.max_iterations > NEWTON_ITERATIONS) options.stop.max_iterations = NEWTON_ITERATIONS;
    return solve_reduced(x, q, &dls_solver_newton, &options);
}

static bool sweeps(const joined_work *x) {
    return x->solver == &dls_solver_nlgs || x->solver == &dls_solver_auto;
}

/* Recovers what is held and counts wrong rows, which move. */
static dls_status check_set(joined_work *x, int *wrong) {
    bool again;
    dls_status status = recover(x, &again);
    if (status) return status;
    *wrong = again ? 1 : move_rows(x, true, true) + free_rows(x) + take_closed(x);
    return DLS_OK;
}

/* The reduced problem of one set; wrong: how many rows moved after it. */
static dls_status run_set(joined_work *x, int limit, int *wrong) {
    dls_problem *q;
    dls_status status = dls_elimination_reduce(x->e, x->r, &q, x->error);
    if (status) return status;
    dls_elimination_out(x->e, &x->joined->out);
    x->joined->rounds++;
    x->joined->stays = q->block_count - q->contact_count;
    x->info->outcome = DLS_CONVERGED;
    if (q->block_count && sweeps(x)) status = sweep_reduced(x, q, limit);
    if (!status && wants_newton(x, q)) status = newton_reduced(x, q);
    if (!status && (sweeps(x) || !q->block_count)) status = check_set(x, wrong);
    bool done = x->info->outcome != DLS_ITERATION_LIMIT && x->info->outcome != DLS_STALLED;
    if (status || *wrong || q->block_count == 0 || (sweeps(x) && done)) return status;
    status = solve_reduced(x, q, x->solver, &x->options);
    return status ? status : check_set(x, wrong);
}

static dls_status run_round(joined_work *x, int limit, int *wrong) {
    *wrong = 0;
    dls_status status = factor(x);
    if (status || x->costly) return status;
    dls_workspace_mark mark = dls_workspace_get_mark(x->w);
    status = run_set(x, limit, wrong);
    dls_workspace_release(x->w, mark);
    return status;
}

static dls_status run_rounds(joined_work *x) {
    int limit = FIRST_SWEEPS;
    x->wrong = 1;
    for (int k = 0; k < MOST_ROUNDS && x->wrong > 0 && !x->costly;
         k++, limit = limit < MOST_SWEEPS ? 2 * limit : limit) {
        dls_status status = run_round(x, limit, &x->wrong);
        if (status) return status;
        if (x->info->outcome == DLS_CANCELLED || x->info->outcome == DLS_TIME_LIMIT) break;
    }
    clamp_rows(x);
    return DLS_OK;
}

/* The judge's word on the whole problem; r and u stay in the units inside. */
static dls_status judge(joined_work *x) {
    dls_workspace_mark mark = dls_workspace_get_mark(x->w);
    dls_stop_options stop = x->options.stop;
    stop.tolerance = x->tolerance;
    dls_status status = dls_certify_step(x->p, &stop, x->r, x->u, x->w, x->info, x->error);
    dls_workspace_release(x->w, mark);
    return status;
}

static bool is_solved(const joined_work *x) {
    const dls_measures *m = &x->info->measures;
    return m->residual <= x->tolerance && !(m->held > DLS_HELD_LIMIT);
}

/* As blocks, from where it stands; the better of both stays. */
static dls_status solve_blocks(joined_work *x) {
    const dls_problem *p = x->p;
    size_t bytes = sizeof(double) * (size_t)p->row_count;
    double *before = DLS_TAKE(x->w, double, p->row_count), residual = x->info->measures.residual;
    bool fresh = x->costly;
    dls_solve_info info, kept = *x->info;
    if (!before) return dls_fail_memory(x->error);
    memcpy(before, x->r, bytes);
    x->options.stop.tolerance = x->tolerance;
    x->joined->as_blocks = true;
    dls_leave_units(p, x->r, NULL);
    dls_solver_spend(x->solver, p, x->flops, &x->options);
    dls_status status = dls_solve_step(p, x->solver, &x->options, x->r, x->u, x->w, &info, x->error);
    dls_enter_units(p, x->r);
    if (status) return status;
    add_info(&info, x->info);
    x->flops += info.work * dls_sweep_flops(p);
    if (fresh || x->info->measures.residual < residual) return judge(x);
    memcpy(x->r, before, bytes);
    kept.iterations = x->info->iterations;
    *x->info = kept;
    return judge(x);
}

/* Rows that depend on others bear their share, unless that leaves the bounds of one or spoils the solution.
 */
static dls_status spread(joined_work *x) {
    size_t bytes = sizeof(double) * (size_t)x->p->row_count;
    double *before = DLS_TAKE(x->w, double, x->p->row_count);
    if (!before) return dls_fail_memory(x->error);
    memcpy(before, x->r, bytes);
    dls_status status = dls_elimination_spread(x->e, x->r, x->error);
    bool within = !status && !any_yields(x);
    if (within) status = judge(x);
    if (status || (within && is_solved(x))) return status;
    memcpy(x->r, before, bytes);
    return judge(x);
}

static dls_status solve(joined_work *x) {
    guess_set(x);
    dls_status status = x->p->low || may_leave_open(x) ? pivot(x) : DLS_OK;
    if (!status) leave_open(x);
    for (int k = 0; !status && !x->costly && k <= MOST_TIGHTER; k++) {
        status = run_rounds(x);
        if (status || x->costly) break;
        status = judge(x);
        if (status || is_solved(x) || x->wrong || x->info->outcome != DLS_CONVERGED) break;
        x->options.stop.tolerance *=
            fmax(LEAST_TIGHTER, fmin(0.1, 0.5 * x->tolerance / x->info->measures.residual));
    }
    bool over =
        x->joined->row >= 0 || x->info->outcome == DLS_CANCELLED || x->info->outcome == DLS_TIME_LIMIT;
    bool solved = !status && !x->costly && is_solved(x);
    if (solved && !over && x->factored && x->joined->dependent) return spread(x);
    return status || over || solved ? status : solve_blocks(x);
}

/* ---- the call ---- */

static bool take_all(joined_work *x) {
    int n = x->p->row_count;
    x->state = DLS_TAKE(x->w, double, x->p->op->state_size(x->p));
    x->role = DLS_TAKE_ZERO(x->w, uint8_t, n);
    x->flips = DLS_TAKE_ZERO(x->w, uint8_t, n);
    if (!x->u) x->u = DLS_TAKE(x->w, double, n);
    return x->state && x->role && x->flips && x->u;
}

dls_status dls_solve_joined(const dls_problem *p, dls_elimination *elimination, const dls_solver *solver,
                            const void *options, double *r, double *u, dls_workspace *w, dls_solve_info *info,
                            dls_joined_info *joined, dls_error *error) {
    *joined = (dls_joined_info){.row = -1};
    if (!dls_can_eliminate(p)) {
        joined->as_blocks = true;
        return dls_solve_step(p, solver, options, r, u, w, info, error);
    }
    dls_workspace_mark mark = dls_workspace_get_mark(w);
    double wall = dls_clock_wall(), cpu = dls_clock_cpu();
    joined_work x = {.p = p,
                     .e = elimination,
                     .solver = solver,
                     .w = w,
                     .info = info,
                     .joined = joined,
                     .error = error,
                     .dependent = LOOSE,
                     .r = r,
                     .u = u};
    memcpy(&x.options, options, solver->options_size);
    x.tolerance = x.options.stop.tolerance;
    *info =
        (dls_solve_info){.solver = solver->name, .law = "", .outcome = DLS_CONVERGED, .user = solver->user};
    dls_error_clear(error);
    dls_status status = take_all(&x) ? DLS_OK : dls_fail_memory(error);
    dls_enter_units(p, r);
    x.begun = dls_workspace_get_mark(w);
    if (!status) status = solve(&x);
    info->work = x.flops > 0 ? x.flops / dls_sweep_flops(p) : 0;
    dls_leave_units(p, r, x.u);
    dls_workspace_release(w, mark);
    info->seconds = dls_clock_wall() - wall;
    info->cpu_seconds = dls_clock_cpu() - cpu;
    return status;
}
