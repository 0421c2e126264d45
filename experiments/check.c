/* `delassus reproduce --check`: a fixed selection, minutes in parallel processes, against verdicts that are
 * stored. */
#include "cli/support/interrupt.h"
#include "cli/support/progress.h"
#include "cli/support/report.h"
#include "cli/support/table.h"
#include "cli/support/worker.h"
#include "experiments/reproduce.h"

#include <delassus/delassus.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What a machine shows within ten minutes on two cores; seconds as they were on one busy core, for the time
 * left. The paper's size where it is that short; the shortest first. */
static const struct check_row {
    const char *name;
    experiment_size size;
    double seconds;
} selection[] = {
    {"000-4", SIZE_FULL, 1},       {"000-6", SIZE_FULL, 1},     {"000-A", SIZE_FULL, 1},
    {"001-3.1", SIZE_FULL, 1},     {"003-4.1", SIZE_FULL, 1},   {"004-10.1", SIZE_FULL, 1},
    {"004-10.2", SIZE_FULL, 1},    {"004-10.3", SIZE_FULL, 1},  {"004-10.4", SIZE_FULL, 1},
    {"000-8.1", SIZE_REDUCED, 3},  {"003-4.2", SIZE_FULL, 4},   {"002-6.2", SIZE_FULL, 5},
    {"behaviours", SIZE_FULL, 15}, {"004-10.5", SIZE_FULL, 15}, {"004-10.6", SIZE_FULL, 15},
    {"002-6.1", SIZE_FULL, 40},
};

enum { SELECTED = sizeof selection / sizeof *selection, MOST_CLAIMS = 512 };
static const double most_seconds = 600;

/* What a process sends back: the verdict of each claim, by a hash of its text. */
typedef struct verdicts {
    bool good;
    int count;
    double seconds;
    uint64_t text[MOST_CLAIMS];
    uint8_t verdict[MOST_CLAIMS];
} verdicts;

/* ---- in the child ---- */

static void perform(const void *input, void *result) {
    const struct check_row *row = input;
    verdicts *v = result;
    experiment_run run;
    v->good = experiment_perform(&run, experiment_find(row->name), row->size, 0, NULL);
    v->seconds = run.seconds;
    for (int i = 0; i < run.claims.count && i < MOST_CLAIMS && v->good; i++, v->count++) {
        v->text[i] = dls_hash_text(run.claims.items[i].text);
        v->verdict[i] = (uint8_t)claim_judge(&run.claims.items[i]);
    }
    experiment_run_free(&run);
}

/* ---- what is stored ---- */

/* A member of a claim as the JSON writer lays it out: `      "text": "…",`. */
static bool member_of(char *line, const char *key, char **value) {
    size_t length = strlen(key);
    char *at = line + strspn(line, " ");
    if (*at != '"' || strncmp(at + 1, key, length) != 0 || strncmp(at + 1 + length, "\": \"", 4) != 0)
        return false;
    *value = at + length + 5;
    char *end = strrchr(*value, '"');
    if (!end) return false;
    *end = '\0';
    return true;
}

static bool read_stored(const char *folder, const struct check_row *row, verdicts *v) {
    char path[PATH_MAX], line[1024], *value;
    FILE *file;
    snprintf(path, sizeof path, "%s/%s%s/result.json", folder, row->name,
             row->size == SIZE_REDUCED ? "-reduced" : "");
    if (dls_file_open(path, "the result of an experiment", &file, NULL)) return false;
    bool claims = false;
    while (fgets(line, sizeof line, file) && v->count < MOST_CLAIMS) {
        claims = claims || !strncmp(line, "  \"claims\"", 10);
        if (claims && member_of(line, "text", &value)) {
            v->text[v->count] = dls_hash_text(value);
        } else if (claims && member_of(line, "verdict", &value)) {
            for (int k = 0; k < VERDICT_COUNT; k++)
                if (!strcmp(value, verdict_name((claim_verdict)k))) v->verdict[v->count] = (uint8_t)k;
            v->count++;
        }
    }
    fclose(file);
    v->good = v->count > 0;
    return v->good;
}

/* ---- comparing ---- */

typedef struct check_counts {
    int same, changed, missing; /* missing: stored, and not stated any more */
} check_counts;

static check_counts compare(const verdicts *stored, const verdicts *found) {
    check_counts c = {0, 0, 0};
    for (int i = 0; i < stored->count; i++) {
        int at = 0;
        while (at < found->count && found->text[at] != stored->text[i]) at++;
        if (at == found->count)
            c.missing++;
        else if (found->verdict[at] == stored->verdict[i])
            c.same++;
        else
            c.changed++;
    }
    return c;
}

typedef struct clock_line {
    progress progress;
    double began, done; /* done: of the seconds of the table */
    int jobs;
} clock_line;

static void show(const worker_job *job, int ended, int count, void *user) {
    clock_line *me = user;
    const struct check_row *row = job->input;
    double whole = 0, spent = dls_clock_wall() - me->began;
    if (job->end != WORKER_WAITING) me->done += row->seconds;
    for (int i = 0; i < SELECTED; i++) whole += selection[i].seconds;
    double left = me->done > 0 ? spent * (whole - me->done) / me->done : whole / me->jobs;
    time_t end = time(NULL) + (time_t)left;
    struct tm local;
    char at[16];
    strftime(at, sizeof at, "%H:%M", localtime_r(&end, &local));
    progress_text(&me->progress, "%d of %d done, %s; ends at about %s", ended, count, row->name, at);
}

static bool tell(const char *folder, const worker_job *jobs, const verdicts *found, int *changed) {
    table *t = table_create(6);
    static const char *const heads[] = {"experiment", "size", "same", "changed", "not stated", "time"};
    bool complete = true;
    for (int i = 0; i < 6; i++) table_cell(t, COLOUR_STRONG, "%s", heads[i]);
    for (int i = 0; i < SELECTED; i++) {
        verdicts stored = {.good = false};
        bool known = read_stored(folder, &selection[i], &stored),
             ran = jobs[i].end == WORKER_DONE && found[i].good;
        check_counts c = compare(&stored, &found[i]);
        char seconds[32];
        format_seconds(found[i].seconds, seconds, sizeof seconds);
        table_cell(t, COLOUR_STRONG, "%s", selection[i].name);
        table_cell(t, COLOUR_FAINT, "%s", experiment_size_name(selection[i].size));
        if (known && ran) {
            table_cell(t, COLOUR_GOOD, "%d", c.same);
            table_cell(t, c.changed ? COLOUR_BAD : COLOUR_FAINT, "%d", c.changed);
            table_cell(t, c.missing ? COLOUR_BAD : COLOUR_FAINT, "%d", c.missing);
            *changed += c.changed + c.missing;
        } else {
            table_cell(t, COLOUR_BAD, "%s", known ? "did not run" : "not stored");
            table_cell(t, COLOUR_FAINT, "–");
            table_cell(t, COLOUR_FAINT, "–");
            complete = false;
        }
        table_cell(t, COLOUR_FAINT, "%s", seconds);
    }
    table_print(t);
    return complete;
}

int experiment_check(const char *folder, int parallel) {
    worker_job jobs[SELECTED] = {{.end = WORKER_WAITING}};
    verdicts *found = report_allocate(SELECTED, sizeof *found);
    clock_line line = {.progress = progress_begin(0), .began = dls_clock_wall(), .jobs = parallel};
    verdicts any = {.good = false};
    int changed = 0, known = 0;
    for (int i = 0; i < SELECTED; i++) {
        jobs[i] =
            (worker_job){perform, &selection[i], &found[i], sizeof *found, most_seconds, WORKER_WAITING, 0};
        any.count = 0;
        known += read_stored(folder, &selection[i], &any);
    }
    if (!known) {
        free(found);
        return report_error(
            "reproduce: %s: no stored results, expected the folder docs/evidence/reproduce of the "
            "sources, or one of 'delassus reproduce -o' (--against)",
            folder);
    }
    interrupt_watch();
    bool good = worker_run(jobs, SELECTED, parallel, show, &line);
    progress_end(&line.progress);
    bool complete = tell(folder, jobs, found, &changed);
    free(found);
    char seconds[32];
    format_seconds(dls_clock_wall() - line.began, seconds, sizeof seconds);
    printf("\n%s in %s\n",
           !good      ? "interrupted"
           : changed  ? "stored verdicts do not all hold on this machine"
           : complete ? "every stored verdict of the selection holds on this machine"
                      : "not all of the selection was compared",
           seconds);
    return good && complete && !changed ? EXIT_DONE : EXIT_NOT_CONVERGED;
}
