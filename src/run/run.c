/* A scene from its first step to its last. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <delassus/fclib.h>
#include <delassus/run.h>

#include <errno.h>
#include <fcntl.h>
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
    int lock;               /* descriptor of the results, -1 for none */
    struct word *words;     /* of all ranks */
} runner;

/* ---- ranks ---- */

/* What a rank says of itself, at a point that all of them reach. */
typedef struct word {
    dls_status status;
    bool stops;
    uint64_t hash; /* of the state */
    char message[sizeof((dls_error *)NULL)->message];
} word;

static bool writes(const runner *x) { return !x->def->ranks || x->def->ranks->index == 0; }

/* The first rank that failed fails all, in its words. Where none did: whether one stops, and whether all have
 * the same state. */
static dls_status hear(const runner *x, const word *all, bool *stops, dls_error *error) {
    const dls_ranks *ranks = x->def->ranks;
    for (int k = 0; k < ranks->count; k++) {
        if (all[k].status && k == ranks->index) return all[k].status; /* the error is there */
        if (all[k].status) return dls_fail(error, all[k].status, "rank %d: %s", k, all[k].message);
    }
    for (int k = 0; k < ranks->count; k++) {
        *stops = *stops || all[k].stops;
        if (all[k].hash != all[0].hash)
            return dls_fail(
                error, DLS_ERROR_INPUT,
                "rank %d has another state than rank 0 at t = %g s, expected the same bits: do all "
                "run the same program and read the same files, on processors of one kind?",
                k, dls_simulation_time(x->simulation));
    }
    return DLS_OK;
}

/* All ranks go on, or none does. */
static dls_status agree(const runner *x, dls_status status, bool *stops, dls_error *error) {
    const dls_ranks *ranks = x->def->ranks;
    if (!dls_are_several(ranks)) return status;
    word *all = x->words, *mine = &all[ranks->index];
    *mine = (word){.status = status, .stops = *stops};
    if (status && error) memcpy(mine->message, error->message, sizeof mine->message);
    if (!status) mine->hash = dls_simulation_hash(x->simulation);
    dls_ranks_tell(ranks, all, sizeof *all);
    return hear(x, all, stops, error);
}

/* ---- what it is ---- */

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
                                 .contacts = x->options->output_contacts,
                                 .file_count = dls_scene_file_count(x->scene),
                                 .files = dls_scene_files(x->scene)};
    return DLS_OK;
}

/* ---- when ---- */

/* Whether an output time lies in the step, to half a step: decided by its number alone, and for every output
 * time in one step alone. */
static bool frame_is_due(const runner *x, int64_t step) {
    double interval = x->options->output_interval, h = dls_scene_simulation_options(x->scene)->step;
    if (!(interval > h) || step == 0) return true;
    return floor(((double)step + 0.5) * h / interval) > floor(((double)step - 0.5) * h / interval);
}

static bool is_over(const runner *x) {
    double h = dls_scene_simulation_options(x->scene)->step;
    return !(dls_simulation_time(x->simulation) < x->options->until - h / 2);
}

/* ---- resuming ---- */

/* What decides neither what is computed nor what is recorded: it may differ when a run goes on. */
static bool is_free_setting(const char *setting) {
    static const char *const keys[] = {
        "time.until=", "run.threads=", "run.strict=", "run.checkpoint_interval="};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (!strncmp(setting, keys[k], strlen(keys[k]))) return true;
    return false;
}

/* The length of a scene's text without the settings, which stand at its end as comments. */
static size_t file_length(const char *text, int count, const char *const *settings) {
    size_t length = strlen(text), behind = 0;
    for (int i = 0; i < count; i++) behind += strlen("# --set \n") + strlen(settings[i]);
    length = behind < length ? length - behind : 0;
    while (length > 0 && text[length - 1] == '\n') length--;
    return length;
}

/* The next setting that counts, from *i on; NULL after the last. */
static const char *next_setting(int count, const char *const *settings, int *i) {
    while (*i < count && is_free_setting(settings[*i])) ++*i;
    return *i < count ? settings[(*i)++] : NULL;
}

/* A checkpoint of another scene would be read as nonsense. */
static dls_status check_same(const runner *x, const dls_results_def *then, dls_error *error) {
    const dls_results_def *now = &x->about;
    size_t length = file_length(now->scene_text, now->setting_count, now->settings);
    if (file_length(then->scene_text, then->setting_count, then->settings) != length ||
        memcmp(then->scene_text, now->scene_text, length) != 0)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "%s: belongs to another scene, or the scene was changed since; it cannot be resumed",
                        x->checkpoint);
    for (int i = 0, k = 0;;) {
        const char *a = next_setting(then->setting_count, then->settings, &i),
                   *b = next_setting(now->setting_count, now->settings, &k);
        if (!a && !b) return DLS_OK;
        if (a && b && !strcmp(a, b)) continue;
        return dls_fail(error, DLS_ERROR_INPUT,
                        "%s: the run began with %s%.200s%s, now it is %s%.200s%s; a resumed run may change "
                        "time.until, run.threads, run.strict and run.checkpoint_interval alone",
                        x->checkpoint, a ? "'" : "", a ? a : "no such setting", a ? "'" : "", b ? "'" : "",
                        b ? b : "not set", b ? "'" : "");
    }
}

static dls_status check_scene(const runner *x, const dls_checkpoint *checkpoint, dls_error *error) {
    dls_results_def then = {.scene_text = dls_checkpoint_scene_text(checkpoint),
                            .setting_count = dls_checkpoint_setting_count(checkpoint)};
    const char **settings = DLS_NEW(const char *, then.setting_count);
    if (!settings) return dls_fail_memory(error);
    for (int i = 0; i < then.setting_count; i++) settings[i] = dls_checkpoint_setting(checkpoint, i);
    then.settings = settings;
    dls_status status = check_same(x, &then, error);
    dls_free(settings);
    return status;
}

static const dls_file *find_file(int count, const dls_file *files, const char *name) {
    for (int k = 0; k < count; k++)
        if (!strcmp(files[k].name, name)) return &files[k];
    return NULL;
}

/* A mesh file may change under a scene whose text stays: the results keep what the run began with. */
static dls_status check_files(const runner *x, dls_error *error) {
    dls_results *results;
    int count;
    const dls_file *files;
    dls_status status = dls_results_open(x->def->results, &results, error);
    if (status) return status;
    status = dls_results_files(results, &count, &files, error);
    for (int i = 0; i < x->about.file_count && !status; i++) {
        const dls_file *now = &x->about.files[i], *then = find_file(count, files, now->name);
        if (then && then->size == now->size && (!now->size || !memcmp(then->bytes, now->bytes, now->size)))
            continue;
        status = dls_fail(error, DLS_ERROR_INPUT,
                          "%.300s: has changed since the run began, expected the same file", now->name);
    }
    dls_results_destroy(results);
    return status;
}

/* The simulation as the checkpoint has it. */
static dls_status restore(runner *x, dls_error *error) {
    dls_checkpoint *checkpoint = NULL;
    dls_status status = dls_checkpoint_read(x->checkpoint, &checkpoint, error);
    if (status) return status;
    status = check_scene(x, checkpoint, error);
    if (!status) status = check_files(x, error);
    if (!status) status = dls_checkpoint_restore(checkpoint, x->simulation, error);
    dls_checkpoint_destroy(checkpoint);
    return status;
}

static dls_status continue_results(runner *x, dls_error *error) {
    int64_t step = dls_simulation_steps(x->simulation);
    /* the last step of a run has a frame in any case: one that goes on has none there, unless it is due */
    bool keep_last = frame_is_due(x, step) || is_over(x);
    return dls_results_continue_frames(x->def->results, dls_scene_world(x->scene), step, keep_last,
                                       &x->writer, error);
}

/* ---- one run at a time ---- */

/* Marks the results as being written, where they are there and the system can; readers do not see the mark,
 * and it goes with the process. A second run into the same file would take it from under the first one. */
static dls_status lock_results(runner *x, dls_error *error) {
#ifdef F_OFD_SETLK
    struct flock mark = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = INT64_MAX - 1, .l_len = 1};
    if (x->lock >= 0) close(x->lock);
    x->lock = open(x->def->results, O_RDWR | O_CLOEXEC);
    if (x->lock >= 0 && fcntl(x->lock, F_OFD_SETLK, &mark) && (errno == EAGAIN || errno == EACCES))
        return dls_fail(error, DLS_ERROR_FILE, "%s: another run is writing it, expected another name",
                        x->def->results);
#endif
    return DLS_OK;
}

/* ---- beginning ---- */

/* The old checkpoint goes once the results that it belongs to are gone, not before. */
static dls_status begin_anew(runner *x, dls_error *error) {
    dls_status status =
        dls_results_create(x->def->results, dls_scene_world(x->scene), &x->about, &x->writer, error);
    if (status) return status;
    if (unlink(x->checkpoint) && errno != ENOENT)
        return dls_fail(error, DLS_ERROR_FILE, "%s: an older run's, cannot be removed: %s", x->checkpoint,
                        strerror(errno));
    return dls_results_add_frame(x->writer, x->simulation, error);
}

static dls_status name_checkpoint(runner *x, dls_error *error) {
    int length = snprintf(x->checkpoint, sizeof x->checkpoint, "%s.checkpoint", x->def->results);
    if (length < 0 || (size_t)length >= sizeof x->checkpoint)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "the name of the results file is too long");
    return DLS_OK;
}

/* The simulation, at its start or as it was left; files are read alone. */
static dls_status begin_simulation(runner *x, bool *resumed, dls_error *error) {
    dls_status status = describe(x, error);
    if (!status) status = dls_scene_simulation_create(x->scene, &x->simulation, error);
    if (!status) status = dls_simulation_set_ranks(x->simulation, x->def->ranks, error);
    if (status || !x->def->results) return status;
    status = name_checkpoint(x, error);
    if (status) return status;
    *resumed = x->def->resume && access(x->checkpoint, F_OK) == 0;
    if (writes(x)) status = lock_results(x, error);
    return !status && *resumed ? restore(x, error) : status;
}

static dls_status begin_results(runner *x, bool resumed, dls_error *error) {
    if (!x->def->results || !writes(x)) return DLS_OK;
    dls_status status = resumed ? continue_results(x, error) : begin_anew(x, error);
    return status ? status : lock_results(x, error); /* they may be another file by now */
}

static dls_status begin(runner *x, dls_error *error) {
    bool resumed = false, stops = false;
    x->words = dls_are_several(x->def->ranks) ? DLS_NEW_ZERO(word, x->def->ranks->count) : NULL;
    if (dls_are_several(x->def->ranks) && !x->words) return dls_fail_memory(error);
    dls_status status = agree(x, begin_simulation(x, &resumed, error), &stops, error);
    if (!status) status = agree(x, begin_results(x, resumed, error), &stops, error);
    if (!status && x->def->begin) x->def->begin(x->simulation, resumed, x->def->user);
    return status;
}

/* ---- after a step ---- */

static dls_status record(runner *x, const dls_step_report *report, bool last, dls_error *error) {
    if (!x->writer) return DLS_OK;
    dls_status status = dls_results_add_step(x->writer, report, error);
    if (!status && (last || frame_is_due(x, report->step)))
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

/* The contact problem of a step that was not certified, for `delassus solve`: as an FCLib file, or as Matrix
 * Market files where FCLib has no word for what is in it. */
static dls_status dump(const runner *x, const dls_step_report *report, dls_error *error) {
    if (!x->def->dump_folder || report->certified || !report->contacts || !writes(x)) return DLS_OK;
    char path[MOST_PATH], file[sizeof path + 8], title[64];
    int length = snprintf(path, sizeof path, "%s/step%08lld", x->def->dump_folder, (long long)report->step);
    if (length < 0 || (size_t)length >= sizeof path)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "the name of the folder for dumps is too long");
    snprintf(file, sizeof file, "%s.hdf5", path);
    snprintf(title, sizeof title, "step %lld", (long long)report->step);
    dls_problem *stored = NULL;
    dls_status status = dls_problem_assemble(dls_simulation_problem(x->simulation), &stored, error);
    if (!status)
        status = dls_fclib_write(file,
                                 &(dls_fclib_content){.problem = stored,
                                                      .r = dls_simulation_impulses(x->simulation),
                                                      .title = title,
                                                      .description = dls_scene_title(x->scene),
                                                      .math_info = "normal component first; SI units"},
                                 error);
    if (status == DLS_ERROR_INPUT) status = dls_matrix_market_write(path, stored, error);
    dls_problem_destroy(stored);
    return status;
}

/* ---- the loop ---- */

static dls_status step(runner *x, dls_step_report *report, dls_run_end *end, dls_error *error) {
    dls_error ignored;
    dls_status status = dls_simulation_step(x->simulation, report, error);
    if (status == DLS_ERROR_NUMERIC) /* all is as before: it can be looked at, and tried again otherwise */
        keep_checkpoint(x, true, &ignored);
    bool stops = !status && x->def->callback && !x->def->callback(report, x->simulation, x->def->user);
    status = agree(x, status, &stops, error);
    if (status) return status;
    if (stops) *end = DLS_RUN_INTERRUPTED;
    if (x->options->strict && !report->certified) *end = DLS_RUN_UNCERTIFIED;
    return DLS_OK;
}

static dls_status keep(runner *x, const dls_step_report *report, bool last, dls_error *error) {
    dls_status status = dump(x, report, error);
    if (!status) status = record(x, report, last, error);
    return status ? status : keep_checkpoint(x, false, error);
}

static dls_status loop(runner *x, dls_run_end *end, dls_error *error) {
    bool stops = false;
    *end = DLS_RUN_FINISHED;
    x->next_checkpoint = dls_clock_wall() + x->options->checkpoint_interval;
    while (!is_over(x) && *end == DLS_RUN_FINISHED) {
        dls_step_report report;
        dls_status status = step(x, &report, end, error);
        if (status) return status;
        status = keep(x, &report, *end != DLS_RUN_FINISHED || is_over(x), error);
        status = agree(x, status, &stops, error);
        if (status) return status;
    }
    return agree(x, keep_checkpoint(x, true, error), &stops, error);
}

static void finish(runner *x, dls_status *status, bool finished, dls_error *error) {
    dls_run_summary summary = {0};
    if (x->simulation) summary = dls_simulation_summary(x->simulation);
    dls_error ignored;
    dls_status closed = dls_results_close(x->writer, finished ? &summary : NULL, *status ? &ignored : error);
    if (!*status) *status = closed;
    if (x->lock >= 0) close(x->lock);
    dls_simulation_destroy(x->simulation);
    dls_free(x->settings);
    dls_free(x->words);
}

dls_status dls_run_scene(dls_scene *scene, const dls_run_def *def, dls_run_end *end, dls_run_summary *summary,
                         uint64_t *hash, dls_error *error) {
    dls_error_clear(error);
    dls_run_end ended = DLS_RUN_FINISHED;
    if (!scene || !def) return dls_fail(error, DLS_ERROR_ARGUMENT, "a scene and a run are needed, got NULL");
    runner *x = DLS_NEW_ZERO(runner, 1);
    if (!x) return dls_fail_memory(error);
    x->scene = scene;
    x->lock = -1;
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
