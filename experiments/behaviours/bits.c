/* Runs in processes of their own, some of which kill themselves. */
#include "experiments/behaviours/bits.h"

#include "cli/support/report.h"
#include "cli/support/worker.h"

#include <delassus/run.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int thread_counts[BITS_THREADS] = {1, 2, 4};
static const int part_threads[BITS_KILLS + 1] = {2, 1, 4, 1, 2};

enum { WALL_LIMIT = 600 }; /* s, of one process */

typedef struct part {
    const char *scene;
    double until;
    char results[PATH_MAX];
    int threads;
    int64_t kill_at; /* the step after which it kills itself; 0: none */
} part;

typedef struct part_end {
    bool finished;
    uint64_t hash;
    int64_t steps, contacts;
    char message[512];
} part_end;

/* ---- in the child ---------------------------------------------------------------------------------------
 */

static bool after_step(const dls_step_report *report, const dls_simulation *simulation, void *user) {
    (void)simulation;
    if (report->step == *(const int64_t *)user) raise(SIGKILL);
    return true;
}

static const char *scene_text(const char *name) {
    for (int i = 0; i < dls_scene_template_count(); i++)
        if (!strcmp(dls_scene_template_name(i), name)) return dls_scene_template_text(i);
    return "";
}

/* Checkpoints after every step that takes longer than a nanosecond, so that a kill loses little. */
static void run_part(const void *input, void *result) {
    const part *p = input;
    part_end *out = result;
    int64_t kill_at = p->kill_at;
    char until[64], threads[32];
    snprintf(until, sizeof until, "time.until=%.17g", p->until);
    snprintf(threads, sizeof threads, "run.threads=%d", p->threads);
    const char *settings[] = {until, threads, "run.checkpoint_interval=1e-9"};
    const char *text = scene_text(p->scene);
    dls_scene *scene = NULL;
    dls_error error = {0};
    dls_run_end end = DLS_RUN_INTERRUPTED;
    dls_run_summary summary = {0};
    dls_run_def def = {.results = p->results, .resume = true, .callback = after_step, .user = &kill_at};
    dls_status status = dls_scene_read_text(text, strlen(text), p->scene, ".", 3, settings, &scene, &error);
    if (!status) status = dls_run_scene(scene, &def, &end, &summary, &out->hash, &error);
    dls_scene_destroy(scene);
    out->finished = !status && end == DLS_RUN_FINISHED;
    out->steps = summary.steps;
    out->contacts = summary.contacts;
    if (status) memcpy(out->message, error.message, sizeof out->message);
}

/* ---- in the parent --------------------------------------------------------------------------------------
 */

/* A part that kills itself must have; any other must finish. */
static bool perform(part *p, part_end *end) {
    *end = (part_end){.finished = false};
    worker_job job = {
        .work = run_part, .input = p, .result = end, .result_size = sizeof *end, .wall_limit = WALL_LIMIT};
    if (!worker_run(&job, 1, 1, NULL, NULL)) return false;
    bool killed = job.end == WORKER_CRASHED && job.signal == SIGKILL;
    bool good = p->kill_at ? killed : job.end == WORKER_DONE && end->finished;
    if (!good)
        report_error("reproduce: a run of %s on %d threads %s", p->scene, p->threads,
                     job.end == WORKER_DONE && *end->message ? end->message : "did not end as it should");
    return good;
}

static void forget(const part *p) {
    static const char *const endings[] = {"", ".checkpoint", ".xdmf"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char path[PATH_MAX + 16];
        snprintf(path, sizeof path, "%s%s", p->results, endings[i]);
        unlink(path);
    }
}

static bool run_whole(part *p, bits_result *result) {
    bool good = true;
    for (int i = 0; i < BITS_THREADS && good; i++) {
        part_end end;
        p->threads = result->threads[i] = thread_counts[i];
        p->kill_at = 0;
        good = perform(p, &end);
        forget(p);
        result->whole[i] = end.hash;
        result->steps = (int)end.steps;
        result->contacts = end.steps ? (int)(end.contacts / end.steps) : 0;
    }
    return good;
}

/* Killed after the first step, twice in a row in the middle, and before the last. */
static bool run_parts(part *p, int steps, bits_result *result) {
    const int64_t kills[BITS_KILLS + 1] = {1, steps / 2, steps / 2 + 1, steps - 1, 0};
    bool good = true;
    part_end end = {.hash = 0};
    for (int i = 0; i <= BITS_KILLS && good; i++) {
        p->threads = part_threads[i];
        p->kill_at = kills[i];
        good = perform(p, &end);
    }
    forget(p);
    result->resumed = end.hash;
    return good;
}

bool bits_compare(const char *scene, double until, bits_result *result) {
    const char *base = getenv("TMPDIR");
    char folder[PATH_MAX / 2];
    part p = {.scene = scene, .until = until};
    *result = (bits_result){.steps = 0};
    snprintf(folder, sizeof folder, "%.*s/delassus-XXXXXX", PATH_MAX / 4, base && *base ? base : P_tmpdir);
    if (!mkdtemp(folder)) {
        report_error("reproduce: cannot make a folder %s: %s", folder, strerror(errno));
        return false;
    }
    snprintf(p.results, sizeof p.results, "%s/run.h5", folder);
    bool good = run_whole(&p, result) && run_parts(&p, result->steps, result);
    forget(&p);
    rmdir(folder);
    return good;
}
