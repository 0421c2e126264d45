/* Cases: simulations of an experiment and their histories. */
#include "experiments/case.h"

#include "cli/support/csv.h"
#include "cli/support/interrupt.h"
#include "cli/support/machine.h"
#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const shared_columns[CASE_COLUMNS] = {"t",           "contacts", "active",    "iterations",
                                                         "certified",   "residual", "max_error", "held",
                                                         "penetration", "kinetic",  "potential", "seconds"};

/* What ends a whole table: a line that an interrupted one does not have. */
static const char finished_line[] = "# finished", limit_line[] = "# ended at its limit of time";

/* ---- histories ------------------------------------------------------------------------------------------
 */

static double *add_step(case_history *h) {
    h->values = report_grow(h->values, (size_t)h->steps, (size_t)h->columns * sizeof *h->values);
    return h->values + (size_t)h->steps++ * (size_t)h->columns;
}

void case_history_free(case_history *history) {
    free(history->values);
    *history = (case_history){.steps = 0};
}

double case_value(const case_history *history, int step, int column) {
    if (step < 0 || step >= history->steps) return (double)NAN;
    return history->values[(size_t)step * (size_t)history->columns + (size_t)column];
}

typedef struct range_figures {
    double sum, largest;
    int count;
} range_figures;

static range_figures figures_of(const case_history *h, int column, double t0, double t1) {
    range_figures f = {.largest = -(double)INFINITY};
    for (int k = 0; k < h->steps; k++) {
        double t = case_value(h, k, CASE_T), value = case_value(h, k, column);
        if (t <= t0 || t > t1) continue;
        f.sum += value;
        f.largest = fmax(f.largest, value);
        f.count++;
    }
    return f;
}

double case_sum(const case_history *history, int column, double t0, double t1) {
    return figures_of(history, column, t0, t1).sum;
}

double case_mean(const case_history *history, int column, double t0, double t1) {
    range_figures f = figures_of(history, column, t0, t1);
    return f.count ? f.sum / f.count : (double)NAN;
}

double case_largest(const case_history *history, int column, double t0, double t1) {
    return figures_of(history, column, t0, t1).largest;
}

bool case_affords_next(const case_history *before, const case_history *last, double most_seconds) {
    double all = (double)INFINITY, took = case_sum(last, CASE_SECONDS, 0, all);
    double growth = before ? took / case_sum(before, CASE_SECONDS, 0, all) : 1;
    return last->finished && (most_seconds == 0 || took * fmax(growth, 1) <= most_seconds);
}

/* ---- tables ----------------------------------------------------------------------------------------------
 */

static const char *scene_text(const char *name) {
    for (int i = 0; i < dls_scene_template_count(); i++)
        if (!strcmp(dls_scene_template_name(i), name)) return dls_scene_template_text(i);
    return "";
}

/* The first line says what the table is of: another version, scene or setting makes it worthless. */
static void describe(const case_def *def, char *text, size_t size) {
    int used = snprintf(text, size, "# delassus %s (%s), scene %s (%016" PRIx64 "), %d steps a row",
                        dls_version(), origin_digest, def->scene, dls_hash_text(scene_text(def->scene)),
                        def->steps_per_row > 1 ? def->steps_per_row : 1);
    for (int i = 0; i < def->setting_count && used > 0 && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, ", %s", def->settings[i]);
    if (def->start_count && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", from settled bodies");
}

static void table_name(const case_def *def, char name[EXPERIMENT_NAME]) {
    snprintf(name, EXPERIMENT_NAME, "case-%s", def->name);
}

static bool store(experiment_run *run, const case_def *def, const case_history *h) {
    char name[EXPERIMENT_NAME], about[1024];
    output_file out;
    table_name(def, name);
    describe(def, about, sizeof about);
    if (!run_table_open(run, name, &out)) return false;
    fprintf(out.stream, "%s\nrow", about);
    for (int c = 0; c < CASE_COLUMNS; c++) fprintf(out.stream, ",%s", shared_columns[c]);
    for (int c = 0; c < def->column_count; c++) fprintf(out.stream, ",%s", def->columns[c]);
    fputc('\n', out.stream);
    for (int k = 0; k < h->steps; k++) {
        fprintf(out.stream, "%d", k + 1);
        for (int c = 0; c < h->columns; c++) csv_real(out.stream, case_value(h, k, c));
        fputc('\n', out.stream);
    }
    fprintf(out.stream, "%s\n", h->finished ? finished_line : limit_line);
    return output_file_commit(&out);
}

/* One row; false where it is not one. An empty field is no number, and none is without end. */
static bool read_row(const char *line, case_history *h) {
    double row[CASE_COLUMNS + CASE_MOST_COLUMNS];
    const char *at = strchr(line, ',');
    for (int c = 0; c < h->columns; c++) {
        if (!at || *at != ',') return false;
        char *end;
        row[c] = strtod(++at, &end);
        if (end == at) row[c] = (double)NAN;
        if (isinf(row[c])) return false;
        at = end;
    }
    if (*at != '\n' || !(row[CASE_ITERATIONS] >= 0 && row[CASE_ITERATIONS] <= INT_MAX)) return false;
    memcpy(add_step(h), row, (size_t)h->columns * sizeof *row);
    return true;
}

static bool read_table(FILE *file, const char *about, case_history *h) {
    char line[2048];
    if (!fgets(line, sizeof line, file)) return false;
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, about) != 0 || !fgets(line, sizeof line, file)) return false;
    while (fgets(line, sizeof line, file)) {
        if (*line == '#') {
            h->finished = !strncmp(line, finished_line, strlen(finished_line));
            return h->steps > 0;
        }
        if (!read_row(line, h)) return false;
    }
    return false;
}

/* Only runs at the paper's size resume: a reduced one is short and always new. *refused, after a line on
 * stderr: what has the table's name could neither be read nor replaced. */
static bool recall(experiment_run *run, const case_def *def, case_history *h, bool *refused) {
    char name[EXPERIMENT_NAME], file[EXPERIMENT_NAME + 8], path[PATH_MAX], about[1024];
    if (run->size != SIZE_FULL || !*run->folder) return false;
    table_name(def, name);
    snprintf(file, sizeof file, "%s.csv", name);
    run_path(run, file, path);
    describe(def, about, sizeof about);
    FILE *stream;
    dls_error error;
    if (dls_file_open(path, "a table of this run", &stream, &error)) {
        *refused = access(path, F_OK) == 0;
        if (*refused) report_error("reproduce: %s", error.message);
        return false;
    }
    bool whole = read_table(stream, about, h);
    fclose(stream);
    if (!whole) {
        case_history_free(h);
        return false;
    }
    if (!case_shots_recall(run, &def->shots)) {
        case_history_free(h);
        return false;
    }
    run_file_add(run, file);
    return true;
}

/* ---- running ---------------------------------------------------------------------------------------------
 */

typedef struct runner {
    const case_def *def;
    case_history *history;
    double *row;          /* that is being filled */
    int row_steps;        /* in it so far */
    double started, last; /* processor time when the case began, and after what was measured last */
    bool timed_out;
} runner;

/* The step joins its row. */
static void join(runner *me, const dls_step_report *r, double seconds) {
    double *row = me->row, n = ++me->row_steps;
    row[CASE_T] = r->t;
    row[CASE_CONTACTS] = r->contacts;
    row[CASE_ACTIVE] = r->active;
    row[CASE_ITERATIONS] += r->iterations;
    row[CASE_CERTIFIED] += (r->certified - row[CASE_CERTIFIED]) / n;
    row[CASE_RESIDUAL] = fmax(row[CASE_RESIDUAL], r->residual);
    row[CASE_ERROR] = fmax(row[CASE_ERROR], r->max_error);
    row[CASE_HELD] = fmax(row[CASE_HELD], r->held);
    row[CASE_PENETRATION] = fmax(row[CASE_PENETRATION], r->penetration);
    row[CASE_KINETIC] = r->energy.kinetic;
    row[CASE_POTENTIAL] = r->energy.potential;
    row[CASE_SECONDS] += seconds;
}

static bool after_step(const dls_step_report *r, const dls_simulation *simulation, void *user) {
    runner *me = user;
    const case_def *def = me->def;
    double seconds = dls_clock_cpu() - me->last;
    if (me->row_steps == 0) {
        me->row = add_step(me->history);
        memset(me->row, 0, (size_t)me->history->columns * sizeof *me->row);
    }
    join(me, r, seconds);
    if (def->measure) def->measure(simulation, r, me->row + CASE_COLUMNS, def->user);
    if (me->row_steps >= def->steps_per_row) me->row_steps = 0;
    me->last = dls_clock_cpu();
    me->timed_out = def->most_seconds > 0 && me->last - me->started > def->most_seconds;
    return !me->timed_out && !interrupt_seen();
}

/* The scene's text with the case's settings, and one for when its pictures are. */
static dls_status read_scene(const case_def *def, const char *text, dls_scene **scene, dls_error *error) {
    char interval[48];
    const char **settings = report_allocate((size_t)def->setting_count + 1, sizeof *settings);
    int count = 0;
    for (; count < def->setting_count; count++) settings[count] = def->settings[count];
    snprintf(interval, sizeof interval, "output.interval=%.17g", def->shots.interval);
    if (def->shots.name) settings[count++] = interval;
    dls_status status =
        dls_scene_read_text(text, strlen(text), def->scene, ".", count, settings, scene, error);
    free(settings);
    return status;
}

static dls_scene *open_scene(const case_def *def) {
    dls_scene *scene = NULL;
    dls_error error;
    const char *text = scene_text(def->scene);
    if (!text) {
        report_error("reproduce: no scene '%s' in this program", def->scene);
        return NULL;
    }
    dls_status status = read_scene(def, text, &scene, &error);
    for (int i = 0; i < def->start_count && !status; i++)
        status = dls_body_state_set(dls_scene_world(scene), i, &def->start[i], &error);
    if (!status) return scene;
    report_error("%s: %s", def->name, error.message);
    dls_scene_destroy(scene);
    return NULL;
}

/* Whether it came to the scene's end, or to its limit of time. */
static bool simulate(experiment_run *run, dls_scene *scene, const case_def *def, case_history *h) {
    dls_error error;
    dls_run_end end;
    dls_run_summary summary;
    uint64_t hash;
    double started = dls_clock_cpu();
    runner me = {.def = def, .history = h, .started = started, .last = started};
    char results[PATH_MAX];
    case_shots_path(run, &def->shots, results);
    const dls_run_def steps = {.results = *results ? results : NULL, .callback = after_step, .user = &me};
    dls_status status = dls_run_scene(scene, &steps, &end, &summary, &hash, &error);
    if (status) report_error("%s: %s", def->name, error.message);
    h->finished = !status && end == DLS_RUN_FINISHED;
    return !status && (h->finished || me.timed_out) && !interrupt_seen() &&
           case_shots_draw(run, &def->shots, results);
}

dls_body_state *case_settle(const case_def *def, int *count) {
    case_history h = {.columns = CASE_COLUMNS + def->column_count};
    dls_scene *scene = open_scene(def);
    dls_body_state *states = NULL;
    if (scene && simulate(NULL, scene, def, &h)) {
        const dls_world *world = dls_scene_world(scene);
        *count = dls_world_body_count(world);
        states = report_allocate((size_t)*count, sizeof *states);
        for (int i = 0; i < *count; i++) dls_body_state_get(world, i, &states[i], NULL);
    }
    dls_scene_destroy(scene);
    case_history_free(&h);
    return states;
}

bool case_run(experiment_run *run, const case_def *def, case_history *history) {
    *history = (case_history){.columns = CASE_COLUMNS + def->column_count};
    bool refused = false;
    if (recall(run, def, history, &refused)) return true;
    if (refused) return false;
    *history = (case_history){.columns = CASE_COLUMNS + def->column_count};
    dls_scene *scene = open_scene(def);
    bool good = scene && simulate(run, scene, def, history) && (!*run->folder || store(run, def, history));
    dls_scene_destroy(scene);
    if (!good) case_history_free(history);
    return good;
}
