/* Simulations of paper 003: settings of its four methods, what is kept of a run, and how it is recalled. */
#include "experiments/dumont/dumont.h"

#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* 4: ρ = 0.6 ρ̄ for the standard methods, ρ̄ for the enhanced ones; these as the paper prints them (printed.c).
 */
const dumont_method dumont_methods[DUMONT_METHODS] = {
    [DUMONT_SBP] = {"SBP", "sbp", false, 0.6, false, false},
    [DUMONT_SAL] = {"SAL", "sal", false, 0.6, false, false},
    [DUMONT_EBP] = {"EBP", "ebp", true, 1, true, true},
    [DUMONT_EAL] = {"EAL", "eal", true, 1, true, false},
};

static const char *const column_names[] = {"cpu_s", "eps_glob",    "approach_m_s", "x_m",
                                           "v_m_s", "omega_rad_s", "r_n_Ns",       "r_t_Ns"};
enum { OWN_COLUMNS = DUMONT_COLUMNS - CASE_COLUMNS };
_Static_assert(sizeof column_names / sizeof *column_names == OWN_COLUMNS, "one name per column");

/* ---- settings ------------------------------------------------------------------------------------------ */

enum { MOST_SETTINGS = 24, SETTING_LENGTH = 96 };

typedef struct setting_list {
    int count;
    char text[MOST_SETTINGS][SETTING_LENGTH];
    const char *pointers[MOST_SETTINGS];
} setting_list;

static void add(setting_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(setting_list *list, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(list->text[list->count], SETTING_LENGTH, format, arguments);
    va_end(arguments);
    list->pointers[list->count] = list->text[list->count];
    list->count++;
}

/* Sweeps as the paper has them: from r = 0, in the order of contacts, nothing accelerated or adapted. */
static void add_method(setting_list *list, const dumont_setup *s) {
    add(list, "integrator.warm_start=no");
    add(list, "solver.name=nlgs");
    add(list, "solver.law=%s%s", s->method->law, s->method->bare ? "-paper" : "");
    add(list, "solver.rho_scale=%.17g", s->rho_scale);
    add(list, "solver.measure=eps_glob");
    add(list, "solver.tolerance=%g", s->tolerance);
    add(list, "solver.max_iterations=%d", s->max_sweeps);
    add(list, "solver.check_interval=%d", s->check_interval);
    add(list, "solver.acceleration=plain");
    add(list, "solver.order=natural");
    add(list, "solver.stall_sweeps=0");
    add(list, "solver.adapt=no");
}

/* ---- what a step leaves -------------------------------------------------------------------------------- */

typedef struct watcher {
    const experiment_run *run;
    const dumont_setup *setup;
    const char *name;
    dls_problem *kept;
    bool failed;
    double cpu; /* at the end of the last callback */
} watcher;

static void problem_path(const experiment_run *run, const char *name, char file[EXPERIMENT_NAME],
                         char path[PATH_MAX]) {
    snprintf(file, EXPERIMENT_NAME, "problem-%s.hdf5", name);
    run_path(run, file, path);
}

static dls_status keep_problem(watcher *me, const dls_simulation *simulation, dls_error *error) {
    dls_status status = dls_problem_assemble(dls_simulation_problem(simulation), &me->kept, error);
    if (status || !*me->run->folder) return status;
    char file[EXPERIMENT_NAME], path[PATH_MAX];
    problem_path(me->run, me->name, file, path);
    dls_fclib_content content = {
        .problem = me->kept, .r = dls_simulation_impulses(simulation), .title = me->name};
    return dls_fclib_write(path, &content, error);
}

static void follow_ball(const dls_simulation *simulation, double *values) {
    const dls_world *world = dls_simulation_world(simulation);
    dls_body_id ball = dls_world_find_body(world, "ball");
    dls_body_state state;
    dls_error error;
    for (int c = DUMONT_X - CASE_COLUMNS; c < OWN_COLUMNS; c++) values[c] = nan("");
    if (ball < 0 || dls_body_state_get(world, ball, &state, &error)) return;
    values[DUMONT_X - CASE_COLUMNS] = state.x[0];
    values[DUMONT_V - CASE_COLUMNS] = state.v[0];
    values[DUMONT_OMEGA - CASE_COLUMNS] = state.w[2];
    if (dls_simulation_contact_count(simulation) == 0) return;
    values[DUMONT_RN - CASE_COLUMNS] = dls_simulation_impulses(simulation)[0];
    values[DUMONT_RT - CASE_COLUMNS] = dls_simulation_impulses(simulation)[1];
}

static void after_step(const dls_simulation *simulation, const dls_step_report *report, double *values,
                       void *user) {
    watcher *me = user;
    dls_measures m = {.eps_glob = 0};
    dls_error error;
    dls_status status = DLS_OK;
    values[DUMONT_CPU - CASE_COLUMNS] = dls_clock_cpu() - me->cpu;
    if (dls_simulation_contact_count(simulation) > 0)
        status = dls_problem_measure(dls_simulation_problem(simulation), dls_simulation_impulses(simulation),
                                     NULL, &m, &error);
    values[DUMONT_EPS - CASE_COLUMNS] = m.eps_glob;
    values[DUMONT_PENETRATION - CASE_COLUMNS] = m.penetration;
    follow_ball(simulation, values);
    if (!status && report->step == me->setup->kept_step) status = keep_problem(me, simulation, &error);
    if (status && !me->failed) report_error("%s: %s", me->name, error.message);
    me->failed = me->failed || status;
    me->cpu = dls_clock_cpu();
}

/* ---- running and recalling ----------------------------------------------------------------------------- */

void dumont_result_free(dumont_result *result) {
    case_history_free(&result->history);
    dls_problem_destroy(result->kept);
    *result = (dumont_result){.kept = NULL};
}

double dumont_last(const case_history *history, int column) {
    return history->steps ? case_value(history, history->steps - 1, column) : nan("");
}

static dls_problem *recall_problem(experiment_run *run, const char *name) {
    char file[EXPERIMENT_NAME], path[PATH_MAX];
    dls_fclib *stored = NULL;
    dls_problem *problem = NULL;
    dls_error error;
    problem_path(run, name, file, path);
    if (!dls_fclib_read(path, &stored, &error))
        dls_problem_assemble(dls_fclib_problem(stored), &problem, &error);
    dls_fclib_destroy(stored);
    return problem;
}

/* A history without its problem is half of what was wanted: it is made anew. */
static void forget(experiment_run *run, const char *name) {
    char file[EXPERIMENT_NAME], path[PATH_MAX];
    snprintf(file, sizeof file, "case-%s.csv", name);
    run_path(run, file, path);
    unlink(path);
}

static bool run_case(experiment_run *run, const dumont_setup *setup, const char *name,
                     dumont_result *result) {
    setting_list settings = {.count = 0};
    if (!dumont_register()) {
        report_error("%s: no room for the laws of paper 003", name);
        return false;
    }
    for (int i = 0; i < setup->extra_count; i++) add(&settings, "%s", setup->extra[i]);
    if (setup->method) add_method(&settings, setup);
    watcher me = {.run = run, .setup = setup, .name = name, .cpu = dls_clock_cpu()};
    case_def def = {.name = name,
                    .scene = setup->scene,
                    .setting_count = settings.count,
                    .settings = settings.pointers,
                    .most_seconds = setup->most_seconds,
                    .column_count = OWN_COLUMNS,
                    .columns = column_names,
                    .measure = after_step,
                    .user = &me};
    bool good = case_run(run, &def, &result->history) && !me.failed;
    result->kept = me.kept;
    return good;
}

bool dumont_simulate(experiment_run *run, const dumont_setup *setup, const char *name,
                     dumont_result *result) {
    char file[EXPERIMENT_NAME], path[PATH_MAX];
    *result = (dumont_result){.kept = NULL};
    bool good = run_case(run, setup, name, result), wanted = setup->kept_step > 0;
    bool is_due = result->history.finished || result->history.steps >= setup->kept_step;
    if (good && wanted && !result->kept && is_due) {
        result->kept = recall_problem(run, name);
        if (!result->kept) {
            dumont_result_free(result);
            forget(run, name);
            good = run_case(run, setup, name, result);
        }
    }
    if (good && result->kept && *run->folder) {
        problem_path(run, name, file, path);
        run_file_add(run, file);
    }
    if (!good) dumont_result_free(result);
    return good;
}
