/* A scene from its first step to its last. */
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

#include <delassus/fclib.h>
#include <delassus/run.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_OPTIONS_TEXT = 4096, MOST_PATH = 4096 };

typedef struct runner {
    dls_scene *scene;
    const dls_run_def *def;
    const dls_run_options *options;
    dls_simulation *simulation;
    dls_results_writer *writer; /* NULL where nothing is recorded */
    char checkpoint[MOST_PATH], solver_options[MOST_OPTIONS_TEXT];
    const char **settings;
    dls_results_def about;
    double next_checkpoint; /* wall time */
} runner;

/* ---- beginning ---- */

/* Options as key=value lines, in the words that set them. */
static void describe_solver(runner *x) {
    const dls_solver *solver = dls_scene_solver(x->scene);
    size_t used = 0;
    for (int i = 0; i < solver->field_count; i++) {
        char value[128];
        dls_field_print(&solver->fields[i], dls_scene_solver_options(x->scene), value, sizeof value);
        int length = snprintf(x->solver_options + used, sizeof x->solver_options - used, "%s=%s\n",
                              solver->fields[i].key, value);
        if (length < 0 || used + (size_t)length >= sizeof x->solver_options) break;
        used += (size_t)length;
    }
}

static dls_status describe(runner *x, dls_error *error) {
    int count = dls_scene_setting_count(x->scene);
    const dls_stop_options *stop = dls_scene_solver_options(x->scene);
    x->settings = DLS_NEW(const char *, count);
    if (!x->settings) return dls_fail_memory(error);
    for (int i = 0; i < count; i++) x->settings[i] = dls_scene_setting(x->scene, i);
    describe_solver(x);
    x->about = (dls_results_def){.title = dls_scene_title(x->scene),
                                 .scene_text = dls_scene_text(x->scene),
                                 .setting_count = count,
                                 .settings = x->settings,
                                 .solver = dls_scene_solver(x->scene)->name,
                                 .solver_options = x->solver_options,
                                 .tolerance = stop->tolerance,
                                 .contacts = x->options->output_contacts};
    return DLS_OK;
}

static dls_status make_simulation(runner *x, dls_error *error) {
    dls_status status = dls_simulation_create(dls_scene_world(x->scene),
                                              dls_scene_simulation_options(x->scene), &x->simulation, error);
    if (status) return status;
    return dls_simulation_set_solver(x->simulation, dls_scene_solver(x->scene),
                                     dls_scene_solver_options(x->scene), error);
}

/* A checkpoint of another scene would be read as nonsense: the texts must agree. */
static dls_status resume(runner *x, dls_error *error) {
    dls_checkpoint *checkpoint = NULL;
    dls_status status = dls_checkpoint_read(x->checkpoint, &checkpoint, error);
    if (status) return status;
    if (strcmp(dls_checkpoint_scene_text(checkpoint), dls_scene_text(x->scene)) != 0)
        status = dls_fail(error, DLS_ERROR_INPUT,
                          "%s: belongs to another scene, or the scene was changed since", x->checkpoint);
    if (!status) status = dls_checkpoint_restore(checkpoint, x->simulation, error);
    dls_checkpoint_destroy(checkpoint);
    if (status) return status;
    return dls_results_continue(x->def->results, dls_scene_world(x->scene),
                                dls_simulation_steps(x->simulation), &x->writer, error);
}

static dls_status begin(runner *x, dls_error *error) {
    dls_status status = describe(x, error);
    if (!status) status = make_simulation(x, error);
    if (status || !x->def->results) return status;
    int length = snprintf(x->checkpoint, sizeof x->checkpoint, "%s.checkpoint", x->def->results);
    if (length < 0 || (size_t)length >= sizeof x->checkpoint)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "the name of the results file is too long");
    if (x->def->resume && access(x->checkpoint, F_OK) == 0) return resume(x, error);
    status = dls_results_create(x->def->results, dls_scene_world(x->scene), &x->about, &x->writer, error);
    return status ? status : dls_results_add_frame(x->writer, x->simulation, error);
}

/* ---- after a step ---- */

/* Whether an output time lies in the step that ended: decided by the number of the step alone. */
static bool frame_is_due(const runner *x, double t) {
    double interval = x->options->output_interval, h = dls_scene_simulation_options(x->scene)->step;
    if (!(interval > h)) return true;
    return floor((t + h / 2) / interval) > floor((t - h / 2) / interval);
}

static dls_status record(runner *x, const dls_step_report *report, bool last, dls_error *error) {
    if (!x->writer) return DLS_OK;
    dls_status status = dls_results_add_step(x->writer, report, error);
    if (!status && (last || frame_is_due(x, report->t)))
        status = dls_results_add_frame(x->writer, x->simulation, error);
    return status;
}

static dls_status keep_checkpoint(runner *x, bool always, dls_error *error) {
    double interval = x->options->checkpoint_interval;
    if (!x->writer || (!always && !(interval > 0 && dls_clock_wall() >= x->next_checkpoint))) return DLS_OK;
    x->next_checkpoint = dls_clock_wall() + interval;
    dls_status status = dls_results_flush(x->writer, error);
    return status ? status : dls_checkpoint_write(x->checkpoint, x->simulation, &x->about, error);
}

/* The contact problem of a step that was not certified, for `delassus solve`. */
static dls_status dump(const runner *x, const dls_step_report *report, dls_error *error) {
    if (!x->def->dump_folder || report->certified) return DLS_OK;
    char path[MOST_PATH], title[64];
    int length =
        snprintf(path, sizeof path, "%s/step%08lld.hdf5", x->def->dump_folder, (long long)report->step);
    if (length < 0 || (size_t)length >= sizeof path)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "the name of the folder for dumps is too long");
    snprintf(title, sizeof title, "step %lld", (long long)report->step);
    dls_problem *stored = NULL;
    dls_status status = dls_problem_assemble(dls_simulation_problem(x->simulation), &stored, error);
    if (!status)
        status = dls_fclib_write(path,
                                 &(dls_fclib_content){.problem = stored,
                                                      .r = dls_simulation_impulses(x->simulation),
                                                      .title = title,
                                                      .description = dls_scene_title(x->scene),
                                                      .math_info = "normal component first; SI units"},
                                 error);
    dls_problem_destroy(stored);
    return status;
}

/* ---- the loop ---- */

static dls_status loop(runner *x, dls_run_end *end, dls_error *error) {
    double h = dls_scene_simulation_options(x->scene)->step, until = x->options->until - h / 2;
    *end = DLS_RUN_FINISHED;
    x->next_checkpoint = dls_clock_wall() + x->options->checkpoint_interval;
    while (dls_simulation_time(x->simulation) < until && *end == DLS_RUN_FINISHED) {
        dls_step_report report;
        dls_status status = dls_simulation_step(x->simulation, &report, error);
        if (status) return status;
        if (x->options->strict && !report.certified) *end = DLS_RUN_UNCERTIFIED;
        if (x->def->callback && !x->def->callback(&report, x->simulation, x->def->user) &&
            *end == DLS_RUN_FINISHED)
            *end = DLS_RUN_INTERRUPTED;
        status = dump(x, &report, error);
        if (!status) status = record(x, &report, *end == DLS_RUN_UNCERTIFIED, error);
        if (!status) status = keep_checkpoint(x, false, error);
        if (status) return status;
    }
    return keep_checkpoint(x, true, error);
}

static void finish(runner *x, dls_status *status, bool finished, dls_error *error) {
    dls_run_summary summary = {0};
    if (x->simulation) summary = dls_simulation_summary(x->simulation);
    dls_error ignored;
    dls_status closed = dls_results_close(x->writer, finished ? &summary : NULL, *status ? &ignored : error);
    if (!*status) *status = closed;
    dls_simulation_destroy(x->simulation);
    dls_free(x->settings);
}

dls_status dls_run_scene(dls_scene *scene, const dls_run_def *def, dls_run_end *end, dls_run_summary *summary,
                         uint64_t *hash, dls_error *error) {
    dls_error_clear(error);
    dls_run_end ended = DLS_RUN_FINISHED;
    if (!scene || !def) return dls_fail(error, DLS_ERROR_ARGUMENT, "a scene and a run are needed, got NULL");
    runner *x = DLS_NEW_ZERO(runner, 1);
    if (!x) return dls_fail_memory(error);
    x->scene = scene;
    x->def = def;
    x->options = dls_scene_run_options(scene);
    dls_status status = begin(x, error);
    if (!status) status = loop(x, &ended, error);
    if (end) *end = ended;
    if (summary && x->simulation) *summary = dls_simulation_summary(x->simulation);
    if (hash && x->simulation) *hash = dls_simulation_hash(x->simulation);
    finish(x, &status, !status && ended == DLS_RUN_FINISHED, error);
    dls_free(x);
    return status;
}
