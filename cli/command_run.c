/* delassus run: a scene from its first step to its last. */
#include "cli/commands.h"
#include "cli/program.h"
#include "cli/run/report.h"
#include "cli/support/interrupt.h"
#include "cli/support/output_file.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <delassus/run.h>

#include <float.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_values {
    const char *output, *solver, *dump;
    double until, tolerance;
    int threads;
    bool resume, json, strict, quiet;
    text_list settings;
} run_values;

#define AT(member) offsetof(run_values, member)

static const option options[] = {
    OPTION("output", 'o', OPTION_TEXT, "FILE", AT(output),
           "results file; default: the scene's name with .h5"),
    OPTION("until", 0, OPTION_REAL(0, DBL_MAX), "T", AT(until),
           "simulate up to this time, s, instead of the scene's"),
    OPTION("solver", 's', OPTION_TEXT, "SOLVER", AT(solver),
           "solver[:law][+key=value…] instead of the scene's, at its tolerance"),
    OPTION("tol", 't', OPTION_REAL(1e-300, DBL_MAX), "R", AT(tolerance),
           "residual that every step is to reach"),
    OPTION("set", 0, OPTION_LIST, "KEY=VALUE", AT(settings), "change a value of the scene: time.step=1e-4"),
    OPTION("threads", 0, OPTION_INT(1, 1024), "N", AT(threads),
           "threads; the result has the same bits for any"),
    OPTION("resume", 0, OPTION_FLAG, NULL, AT(resume), "go on from FILE.checkpoint where there is one"),
    OPTION("strict", 0, OPTION_FLAG, NULL, AT(strict), "stop at the first step that misses its tolerance"),
    OPTION(
        "dump-failures", 0, OPTION_TEXT, "FOLDER", AT(dump),
        "write the contact problems of uncertified steps there (FCLib; Matrix Market where it has no word)"),
    OPTION("quiet", 'q', OPTION_FLAG, NULL, AT(quiet), "no progress"),
    OPTION("json", 0, OPTION_FLAG, NULL, AT(json), "the summary as JSON on stdout"),
};

/* ---- settings ---- */

enum { MOST_TEXT = 1024, OWN_SETTINGS = 5 };

typedef struct setting_list {
    int count;
    const char **items;
    char own[OWN_SETTINGS][MOST_TEXT]; /* those that options stand for */
    int own_count;
} setting_list;

static bool add_setting(setting_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool add_setting(setting_list *list, const char *format, ...) {
    va_list arguments;
    char *text = list->own[list->own_count++];
    va_start(arguments, format);
    int length = vsnprintf(text, MOST_TEXT, format, arguments);
    va_end(arguments);
    list->items[list->count++] = text;
    if (length >= 0 && length < MOST_TEXT) return true;
    report_error("run: an option is too long, expected at most %d bytes", (int)MOST_TEXT - 1);
    return false;
}

/* "nlgs:eal+relaxation=0.7" as a map of the scene's own format. */
static bool add_solver(setting_list *list, const char *text, double tolerance) {
    char map[MOST_TEXT - 64];
    size_t used = 0;
    bool law = false, has_tolerance = strstr(text, "+tolerance=") != NULL;
    for (const char *c = text; *c; c++) {
        if (used + 16 >= sizeof map) {
            report_error("run: --solver takes at most about %d bytes", (int)sizeof map);
            return false;
        }
        bool exponent = c > text && (c[-1] == 'e' || c[-1] == 'E') && c[1] >= '0' && c[1] <= '9';
        if (*c == ':' && !law) {
            used += (size_t)snprintf(map + used, sizeof map - used, ", law: ");
            law = true;
        } else if (*c == '+' && !(exponent && strchr(text, '=') && strchr(text, '=') < c)) {
            used += (size_t)snprintf(map + used, sizeof map - used, ", ");
            law = true;
        } else if (*c == '=') {
            used += (size_t)snprintf(map + used, sizeof map - used, ": ");
        } else {
            map[used++] = *c;
        }
    }
    map[used] = '\0';
    if (has_tolerance) return add_setting(list, "solver={name: %s}", map);
    return add_setting(list, "solver={name: %s, tolerance: %.17g}", map, tolerance);
}

/* What the scene asks for. Settings of a solver are for the one that comes instead. */
static bool scene_tolerance(const char *path, const run_values *v, double *tolerance) {
    const char **items = report_allocate((size_t)v->settings.count + 1, sizeof *items);
    int count = 0;
    for (int i = 0; i < v->settings.count; i++)
        if (strncmp(v->settings.items[i], "solver", 6) != 0) items[count++] = v->settings.items[i];
    dls_scene *scene;
    dls_error error;
    dls_status status = dls_scene_read(path, count, items, &scene, &error);
    free(items);
    if (status) {
        report_error("%s", error.message);
        return false;
    }
    *tolerance = ((const dls_stop_options *)dls_scene_solver_options(scene))->tolerance;
    dls_scene_destroy(scene);
    return true;
}

/* The solver comes first, so that --set can still change its options. */
static bool gather_settings(const char *path, const run_values *v, setting_list *list) {
    list->items = report_allocate((size_t)v->settings.count + OWN_SETTINGS, sizeof *list->items);
    double tolerance = v->tolerance;
    if (v->solver && tolerance < 0 && !scene_tolerance(path, v, &tolerance)) return false;
    if (v->solver && !add_solver(list, v->solver, tolerance)) return false;
    for (int i = 0; i < v->settings.count; i++) list->items[list->count++] = v->settings.items[i];
    if (v->tolerance >= 0 && !add_setting(list, "solver.tolerance=%.17g", v->tolerance)) return false;
    if (v->until >= 0 && !add_setting(list, "time.until=%.17g", v->until)) return false;
    if (v->threads > 0 && !add_setting(list, "run.threads=%d", v->threads)) return false;
    return !v->strict || add_setting(list, "run.strict=yes");
}

/* ---- running ---- */

/* Results in the place of their scene, or of a file that it reads beside itself, would be its end. */
static bool check_output(const dls_scene *scene, const char *path, const char *output) {
    static const char *const endings[] = {"", ".xdmf", ".checkpoint"};
    enum { COUNT = sizeof endings / sizeof *endings };
    const char *slash = strrchr(path, '/');
    if (!output_stem_is_apart(output, COUNT, endings, path)) return false;
    for (int i = 0; i < dls_scene_file_count(scene); i++) {
        const char *name = dls_scene_files(scene)[i].name;
        char whole[PATH_MAX];
        int folder = *name == '/' || !slash ? 0 : (int)(slash + 1 - path);
        int length = snprintf(whole, sizeof whole, "%.*s%s", folder, path, name);
        if (length < 0 || (size_t)length >= sizeof whole) continue;
        if (!output_stem_is_apart(output, COUNT, endings, whole)) return false;
    }
    if (program_ranks() && program_ranks()->index > 0) return true; /* the first rank writes */
    return output_path_check(output) && results_file_may_replace(output);
}

static int run_reported(dls_scene *scene, const char *output, const run_values *v, run_report *report) {
    dls_run_def def = {.results = output,
                       .resume = v->resume,
                       .dump_folder = v->dump,
                       .begin = run_report_start,
                       .callback = run_report_step,
                       .user = report,
                       .ranks = program_ranks()};
    dls_error error;
    dls_run_summary summary = {0};
    dls_status status = dls_run_scene(scene, &def, &report->end, &summary, &report->hash, &error);
    run_report_end(report);
    if (status) return report_error("run: %s", error.message);
    if (v->json)
        run_report_json(report, &summary);
    else
        run_report_print(report, &summary);
    fflush(stdout);
    run_report_warn(report, &summary);
    return report->end == DLS_RUN_FINISHED && summary.certified == summary.steps ? EXIT_DONE
                                                                                 : EXIT_NOT_CONVERGED;
}

static void tell_assembled(const dls_scene *scene) {
    dls_assembled x;
    if (!dls_scene_assembled(scene, &x)) return;
    fprintf(stderr, "assembled: %d bod%s moved, by %.3g m and %.3g rad at most; velocities by %.3g m/s\n",
            x.bodies, x.bodies == 1 ? "y" : "ies", x.moved, x.turned, x.sped);
}

static int run_scene(dls_scene *scene, const char *output, const run_values *v) {
    if (!v->quiet && !v->json) tell_assembled(scene);
    for (int i = 0; dls_scene_doubt(scene, i); i++) report_warning("%s", dls_scene_doubt(scene, i));
    run_report report = run_report_begin(scene, output, v->quiet || v->json);
    int code = run_reported(scene, output, v, &report);
    run_report_release(&report);
    return code;
}

/* What is wrong with the setting that --solver stands for is said of --solver. */
static void tell_scene_error(const char *message, const run_values *v, const setting_list *list) {
    for (int i = 0; i < list->own_count && v->solver; i++) {
        const char *own = list->own[i];
        size_t length = strlen(own);
        if (!strncmp(own, "solver={", 8) && !strncmp(message, "--set ", 6) &&
            !strncmp(message + 6, own, length)) {
            report_error("run: --solver %s%s", v->solver, message + 6 + length);
            return;
        }
    }
    report_error("%s", message);
}

static int run(const text_list *operands, const void *values) {
    const run_values *v = values;
    const char *path = operands->items[0];
    char named[4096];
    setting_list settings = {.count = 0};
    dls_scene *scene = NULL;
    dls_error error;
    if (!v->output && !output_path_named_after(path, ".h5", named, sizeof named)) return EXIT_BAD_INPUT;
    const char *output = v->output ? v->output : named;
    int code = EXIT_BAD_INPUT;
    interrupt_watch();
    if (gather_settings(path, v, &settings)) {
        if (dls_scene_read(path, settings.count, settings.items, &scene, &error))
            tell_scene_error(error.message, v, &settings);
        else if (check_output(scene, path, output) && (!v->dump || output_folder_make(v->dump)))
            code = run_scene(scene, output, v);
    }
    dls_scene_destroy(scene);
    free(settings.items);
    return code;
}

static const run_values defaults = {.until = -1, .tolerance = -1};

const command command_run = {
    .name = "run",
    .summary = "simulate a scene",
    .operands = "SCENE",
    .details = "SCENE is a text file (docs/scene-format.md; 'delassus new' writes one). The results, one "
               "HDF5 file with an\n"
               "XDMF beside it for ParaView, can be read while the run goes on. Ctrl-C, SIGTERM or a "
               "closed\n"
               "terminal finish the step and leave a checkpoint; --resume goes on from it with the same bits "
               "as a run that was never stopped. The "
               "scene and its\n"
               "settings must be the same, --until, --threads and --strict aside: a longer --until extends a "
               "finished run.\n"
               "Without --resume a run begins anew and replaces the results.\n\n"
               "  delassus run drum.yaml\n"
               "  delassus run drum.yaml -o fine.h5 --set time.step=1e-4 --solver nlgs:exact --tol 1e-8\n\n"
               "Exit status: 0 finished with every step certified, 1 interrupted or with uncertified steps "
               "(they are\n"
               "counted), 2 bad input.",
    .least_operands = 1,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(run_values),
    .run = run,
    .is_shared = true,
};
