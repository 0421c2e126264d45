/* The solver table, and the call that runs, times and certifies any solver. */
#include "solve/solve.h"

#include "base/error.h"
#include "base/field.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "solve/fields.h"
#include "solve/registry.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_SOLVERS = 32 };

static const double LAW_FLOPS = 250; /* one visit of the exact law, measured on the public problems */

static const dls_solver *const built_in[] = {&dls_solver_auto, &dls_solver_nlgs, &dls_solver_newton,
                                             &dls_solver_ipm,  &dls_solver_apgd, &dls_solver_pqn};

enum { BUILT_IN = sizeof built_in / sizeof *built_in };

/* A row of a user, free where it has no solve function, and how many simulations and scenes hold it. */
typedef struct solver_row {
    dls_solver solver;
    int holders;
} solver_row;

static solver_row registered[MAX_SOLVERS];

/* Rows of users in the order of their places, which they keep; NULL beyond the last. Under the lock. */
static const dls_solver *registered_at(int index) {
    for (int k = 0; k < MAX_SOLVERS; k++)
        if (registered[k].solver.solve && index-- == 0) return &registered[k].solver;
    return NULL;
}

static solver_row *row_of(const dls_solver *solver) {
    for (int k = 0; k < MAX_SOLVERS; k++)
        if (&registered[k].solver == solver) return &registered[k];
    return NULL;
}

static const dls_solver *find(const char *name) {
    for (int i = 0; i < BUILT_IN; i++)
        if (!strcmp(built_in[i]->name, name)) return built_in[i];
    for (int k = 0; k < MAX_SOLVERS; k++)
        if (registered[k].solver.solve && !strcmp(registered[k].solver.name, name))
            return &registered[k].solver;
    return NULL;
}

int dls_solver_count(void) {
    int count = 0;
    dls_registry_lock();
    while (registered_at(count)) count++;
    dls_registry_unlock();
    return BUILT_IN + count;
}

const dls_solver *dls_solver_at(int index) {
    if (index < BUILT_IN) return index < 0 ? NULL : built_in[index];
    dls_registry_lock();
    const dls_solver *solver = registered_at(index - BUILT_IN);
    dls_registry_unlock();
    return solver;
}

const dls_solver *dls_solver_find(const char *name) {
    if (!name) return NULL;
    dls_registry_lock();
    const dls_solver *solver = find(name);
    dls_registry_unlock();
    return solver;
}

static void count_holders(const dls_solver *solver, int change) {
    dls_registry_lock();
    solver_row *row = row_of(solver);
    if (row) row->holders += change;
    dls_registry_unlock();
}

void dls_solver_hold(const dls_solver *solver) { count_holders(solver, 1); }
void dls_solver_drop(const dls_solver *solver) { count_holders(solver, -1); }

static dls_status add(const dls_solver *solver, dls_error *error) {
    solver_row *row = registered;
    if (find(solver->name))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a solver '%s' exists already", solver->name);
    while (row < registered + MAX_SOLVERS && row->solver.solve) row++;
    if (row == registered + MAX_SOLVERS)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "%d solvers are registered already", (int)MAX_SOLVERS);
    *row = (solver_row){.solver = *solver};
    if (!row->solver.summary) row->solver.summary = "";
    return DLS_OK;
}

dls_status dls_solver_check(const dls_solver *solver, dls_error *error) {
    if (!solver || !solver->name || !solver->name[0] || !solver->solve || !solver->defaults)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a solver needs a name, defaults and a solve function");
    if (solver->options_size < sizeof(dls_stop_options) || solver->options_size > DLS_MAX_OPTIONS_SIZE)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "options of solver '%s' have %zu bytes, expected %zu to %d", solver->name,
                        solver->options_size, sizeof(dls_stop_options), (int)DLS_MAX_OPTIONS_SIZE);
    return DLS_OK;
}

dls_status dls_solver_register(const dls_solver *solver, dls_error *error) {
    dls_error_clear(error);
    dls_status status = dls_solver_check(solver, error);
    if (status) return status;
    dls_registry_lock();
    status = add(solver, error);
    dls_registry_unlock();
    return status;
}

static dls_status take_out(const char *name, dls_error *error) {
    const dls_solver *solver = find(name);
    solver_row *row = row_of(solver);
    if (!solver) return dls_fail(error, DLS_ERROR_ARGUMENT, "no solver '%.60s' is registered", name);
    if (!row) return dls_fail(error, DLS_ERROR_ARGUMENT, "solver '%s' is built in and stays", name);
    if (row->holders > 0)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "solver '%s' is that of %d simulations or scenes, and cannot go before them", name,
                        row->holders);
    if (dls_registry_is_solving())
        return dls_fail(error, DLS_ERROR_ARGUMENT, "solver '%s' cannot go while a solve runs", name);
    *row = (solver_row){.holders = 0};
    return DLS_OK;
}

dls_status dls_solver_unregister(const char *name, dls_error *error) {
    dls_error_clear(error);
    if (!name) return dls_fail(error, DLS_ERROR_ARGUMENT, "the name of a solver is needed");
    dls_registry_lock();
    dls_status status = take_out(name, error);
    dls_registry_unlock();
    return status;
}

const char *dls_outcome_name(dls_outcome outcome) {
    static const char *const names[] = {"converged", "iteration limit", "time limit",
                                        "stalled",   "diverged",        "cancelled"};
    return outcome >= DLS_CONVERGED && outcome <= DLS_CANCELLED ? names[outcome] : "unknown";
}

dls_stop_options dls_default_stop_options(void) {
    return (dls_stop_options){.tolerance = 1e-8, .max_iterations = 100000, .threads = 1};
}

/* ---- the monitor ---- */

bool dls_monitor_prepare(dls_monitor *m, const dls_problem *p, const dls_stop_options *stop,
                         dls_workspace *w) {
    *m = (dls_monitor){
        .problem = p, .stop = stop, .best_value = INFINITY, .value = INFINITY, .best_iteration = -1};
    m->began = dls_clock_wall();
    m->best = DLS_TAKE(w, double, p->row_count);
    m->u = DLS_TAKE(w, double, p->row_count);
    m->state = DLS_TAKE(w, double, p->op->state_size(p));
    if (p->unit && stop->callback && !(m->shown = DLS_TAKE(w, double, p->row_count))) return false;
    return m->best && m->u && m->state;
}

#define AT(member) offsetof(dls_measures, member)

/* Which measure a rule to stop looks at; increments are the solver's own, and stop by the residual elsewhere.
 */
static const size_t stop_measures[] = {
    [DLS_STOP_RESIDUAL] = AT(residual),
    [DLS_STOP_MAX_ERROR] = AT(max_error),
    [DLS_STOP_RESIDUAL_ACTIVE] = AT(residual_active),
    [DLS_STOP_RESIDUAL_FULL] = AT(residual_full),
    [DLS_STOP_NATURAL_MAP] = AT(natural_map),
    [DLS_STOP_FCLIB_MERIT] = AT(fclib_merit),
    [DLS_STOP_SICONOS_ERROR] = AT(siconos_error),
    [DLS_STOP_EPS_GLOB] = AT(eps_glob),
    [DLS_STOP_MERIT_G] = AT(merit_g),
    [DLS_STOP_APGD_RESIDUAL] = AT(apgd_residual),
    [DLS_STOP_COMPLEMENTARITY] = AT(complementarity),
    [DLS_STOP_PENETRATION] = AT(penetration),
    [DLS_STOP_CONE_VIOLATION] = AT(cone_violation),
    [DLS_STOP_INCREMENT] = AT(residual),
};

static double pick(const dls_measures *m, dls_stop_measure which) {
    assert((size_t)which < sizeof stop_measures / sizeof *stop_measures);
    return *(const double *)((const char *)m + stop_measures[which]);
}

typedef struct copy_work {
    const double *from;
    double *to;
} copy_work;

static void copy_range(void *self, int first, int end) {
    const copy_work *work = self;
    memcpy(work->to + first, work->from + first, sizeof(double) * (size_t)(end - first));
}

/* The start is the best until another is. */
double dls_monitor_enter(dls_monitor *m, const double *r, int iteration, double value) {
    m->value = value;
    if (value < m->best_value || m->best_iteration < 0) {
        m->best_value = isnan(value) ? (double)INFINITY : value;
        m->best_iteration = m->earlier + iteration;
        dls_parallel_for(m->problem->row_count, m->stop->threads, copy_range, &(copy_work){r, m->best});
    }
    assert(!(m->best_value > value)); /* nothing worse than what was seen is kept */
    return value;
}

/* The residual; where a contact is let go more, so that it comes below the tolerance with held alone. */
static double judged_value(double residual, double held, double tolerance) {
    return held > DLS_HELD_LIMIT ? fmax(residual, tolerance * held / DLS_HELD_LIMIT) : residual;
}

/* Measures for which the judge alone is asked. */
static bool is_judged(dls_stop_measure which) {
    return which == DLS_STOP_RESIDUAL || which == DLS_STOP_RESIDUAL_FULL || which == DLS_STOP_RESIDUAL_ACTIVE;
}

double dls_monitor_measure_pair(dls_monitor *m, const double *r, const double *u, int iteration) {
    dls_stop_measure which = m->stop->measure;
    if (is_judged(which)) {
        dls_verdict v = dls_judge(m->problem, r, u, m->stop->threads);
        double value = which == DLS_STOP_RESIDUAL ? judged_value(v.residual, v.held, m->stop->tolerance)
                       : which == DLS_STOP_RESIDUAL_FULL ? v.residual_full
                                                         : v.residual_active;
        m->scale = v.scale;
        return dls_monitor_enter(m, r, iteration, value);
    }
    dls_measures all;
    dls_measure_all(m->problem, r, u, u, m->stop->threads, &all);
    double value = pick(&all, which);
    return dls_monitor_enter(m, r, iteration, isinf(value) ? (double)NAN : value);
}

double dls_monitor_start(dls_monitor *m, const double *r) {
    bool cold = true; /* then u = b, and no product is needed */
    for (int i = 0; cold && i < m->problem->row_count; i++) cold = r[i] == 0;
    if (cold && m->stop->measure != DLS_STOP_INCREMENT)
        return dls_monitor_measure_pair(m, r, m->problem->b, 0);
    return dls_monitor_measure(m, r, 0, INFINITY);
}

double dls_monitor_measure(dls_monitor *m, const double *r, int iteration, double increment) {
    if (m->stop->measure == DLS_STOP_INCREMENT) return dls_monitor_enter(m, r, iteration, increment);
    (is_judged(m->stop->measure) ? dls_velocity_to_judge : dls_velocity)(m->problem, r, m->u, m->state,
                                                                         m->stop->threads);
    return dls_monitor_measure_pair(m, r, m->u, iteration);
}

bool dls_monitor_report(const dls_monitor *m, const double *r, int iteration, double residual, bool exact) {
    if (!m->stop->callback) return true;
    for (int i = 0; m->shown && i < m->problem->row_count; i++) m->shown[i] = r[i] * m->problem->unit[i];
    if (m->shown) r = m->shown;
    dls_iterate iterate = {m->earlier + iteration, residual, exact, dls_clock_wall() - m->began, r};
    return m->stop->callback(&iterate, m->stop->user);
}

bool dls_monitor_out_of_time(const dls_monitor *m) {
    return m->stop->time_limit > 0 && dls_clock_wall() - m->began > m->stop->time_limit;
}

/* ---- one call for all ---- */

/* As every options struct begins. */
typedef struct stop_holder {
    dls_stop_options stop;
} stop_holder;

static bool is_built_in(const dls_solver *solver) {
    for (int i = 0; i < BUILT_IN; i++)
        if (solver->solve == built_in[i]->solve) return true;
    return false;
}

/* Sweeps alone have increments that mean something: a Newton step that fails has none and would pass. */
static bool knows_increments(const dls_solver *solver) {
    for (int i = 0; i < BUILT_IN; i++)
        if (solver->solve == built_in[i]->solve) return built_in[i] == &dls_solver_nlgs;
    return true;
}

static dls_status check_call(const dls_problem *p, const dls_solver *solver, const void *options,
                             const double *r, const dls_solve_info *info, dls_error *error) {
    if (!p || !solver || !options || !info || (p->row_count && !r))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "problem, solver, options, r and info are needed, got NULL");
    if (!solver->solve)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "the solver has no solve function, or is registered no more");
    static const dls_field stop_fields[] = {DLS_STOP_FIELDS(stop_holder)};
    dls_status status =
        dls_field_check(stop_fields, sizeof stop_fields / sizeof *stop_fields, options, error);
    if (!status) status = dls_field_check(solver->fields, solver->field_count, options, error);
    if (status) return status;
    if (((const dls_stop_options *)options)->measure == DLS_STOP_INCREMENT && !knows_increments(solver))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "solver '%s' cannot stop on increments, expected 'nlgs'",
                        solver->name);
    for (int i = 0; i < p->row_count; i++)
        if (!isfinite(r[i]))
            return dls_fail(error, DLS_ERROR_INPUT, "start impulse r[%d] is %g, expected a finite number", i,
                            r[i]);
    return DLS_OK;
}

/* The judge's numbers, or all that can be told of r. */
typedef enum certificate { NOT_JUDGED, JUDGED, MEASURED } certificate;

static void measure_pair(const dls_problem *p, const double *r, const double *u, int threads,
                         certificate wanted, dls_measures *m) {
    if (wanted == MEASURED) {
        dls_measure_all(p, r, u, u, threads, m);
        return;
    }
    dls_verdict v = dls_judge(p, r, u, threads);
    *m = (dls_measures){.residual = v.residual, .max_error = v.max_error, .held = v.held};
}

/* Quasi-Newton steps and relaxed sweeps leave impulses of rounding size on contacts that are open: they go,
 * unless r is then no solution any more. What stops by another measure is handed over as it is. */
static dls_status drop_open(const dls_problem *p, const dls_stop_options *stop, double *r, double *u,
                            double *state, dls_workspace *w, dls_error *error) {
    size_t bytes = sizeof(double) * (size_t)p->row_count;
    if (dls_drop_open(p, r, u, NULL) == 0) return DLS_OK;
    double *clean = DLS_TAKE(w, double, p->row_count), *clean_u = DLS_TAKE(w, double, p->row_count);
    if (!clean || !clean_u) return dls_fail_memory(error);
    dls_drop_open(p, r, u, clean);
    dls_velocity(p, clean, clean_u, state, stop->threads);
    dls_verdict before = dls_judge(p, r, u, stop->threads),
                after = dls_judge(p, clean, clean_u, stop->threads);
    if (!(after.residual <= fmax(before.residual, stop->tolerance)) ||
        after.held > fmax(before.held, DLS_HELD_LIMIT))
        return DLS_OK;
    memcpy(r, clean, bytes);
    memcpy(u, clean_u, bytes);
    return DLS_OK;
}

static dls_status certify(const dls_problem *p, const dls_stop_options *stop, double *r, double *u,
                          certificate wanted, dls_workspace *w, dls_solve_info *info, dls_error *error) {
    double *state = DLS_TAKE(w, double, p->op->state_size(p));
    double *velocity = u ? u : DLS_TAKE(w, double, p->row_count);
    if (!state || !velocity) return dls_fail_memory(error);
    dls_leave_units(p, r, NULL); /* what is judged is what the user gets, rounded as it will be */
    dls_enter_units(p, r);
    dls_velocity(p, r, velocity, state, stop->threads);
    bool judged = stop->measure == DLS_STOP_RESIDUAL && !info->relaxed;
    dls_status status = judged ? drop_open(p, stop, r, velocity, state, w, error) : DLS_OK;
    if (status) return status;
    measure_pair(p, r, velocity, stop->threads, wanted, &info->measures);
    if (judged) info->stop_value = info->measures.residual;
    if (info->outcome == DLS_CONVERGED && isnan(info->measures.residual)) info->outcome = DLS_DIVERGED;
    return DLS_OK;
}

dls_status dls_certify_step(const dls_problem *p, const dls_stop_options *stop, double *r, double *u,
                            dls_workspace *w, dls_solve_info *info, dls_error *error) {
    return certify(p, stop, r, u, JUDGED, w, info, error);
}

static dls_status run_and_certify(const dls_problem *p, const dls_solver *solver, const void *options,
                                  double *r, double *u, certificate wanted, dls_workspace *w,
                                  dls_solve_info *info, dls_error *error) {
    double nothing[1] = {0};
    if (!r) r = nothing; /* of a problem without rows */
    dls_workspace_mark mark = dls_workspace_get_mark(w);
    *info = (dls_solve_info){
        .solver = solver->name, .law = "", .stop_value = NAN, .work = NAN, .user = solver->user};
    bool timed = wanted != NOT_JUDGED;
    double wall = timed ? dls_clock_wall() : 0, cpu = timed ? dls_clock_cpu() : 0;
    bool within = is_built_in(solver); /* others see the problem as its user does */
    if (within) dls_enter_units(p, r);
    dls_status status = solver->solve(p, options, r, u, w, info, error);
    if (!within) dls_enter_units(p, r);
    if (isnan(info->work)) info->work = (double)info->products; /* a product is read as a sweep is */
    if (timed) info->seconds = dls_clock_wall() - wall, info->cpu_seconds = dls_clock_cpu() - cpu;
    dls_workspace_release(w, mark);
    mark = dls_workspace_get_mark(w);
    if (!status && wanted != NOT_JUDGED) status = certify(p, options, r, u, wanted, w, info, error);
    dls_leave_units(p, r, u);
    dls_workspace_release(w, mark);
    return status;
}

/* Rows of users stay from the check of the options, which looks names up in their tables, to the end. */
static dls_status solve_and_certify(const dls_problem *p, const dls_solver *solver, const void *options,
                                    double *r, double *u, certificate wanted, dls_workspace *workspace,
                                    dls_solve_info *info, dls_error *error) {
    dls_error_clear(error);
    dls_registry_solve_begin();
    dls_status status = check_call(p, solver, options, r, info, error);
    dls_workspace *w = status || workspace ? workspace : dls_workspace_create();
    if (!status)
        status =
            w ? run_and_certify(p, solver, options, r, u, wanted, w, info, error) : dls_fail_memory(error);
    dls_registry_solve_end();
    if (!workspace) dls_workspace_destroy(w);
    return status;
}

double dls_sweep_flops(const dls_problem *p) { return p->op->sweep_cost(p) + LAW_FLOPS * p->block_count; }

dls_status dls_solve(const dls_problem *p, const dls_solver *solver, const void *options, double *r,
                     double *u, dls_workspace *workspace, dls_solve_info *info, dls_error *error) {
    return solve_and_certify(p, solver, options, r, u, MEASURED, workspace, info, error);
}

dls_status dls_solve_step(const dls_problem *p, const dls_solver *solver, const void *options, double *r,
                          double *u, dls_workspace *workspace, dls_solve_info *info, dls_error *error) {
    return solve_and_certify(p, solver, options, r, u, JUDGED, workspace, info, error);
}

dls_status dls_solve_part(const dls_problem *p, const dls_solver *solver, const void *options, double *r,
                          dls_workspace *workspace, dls_solve_info *info, dls_error *error) {
    return solve_and_certify(p, solver, options, r, NULL, NOT_JUDGED, workspace, info, error);
}
