/* Hundreds of balls by every method of paper 002. */
#include "experiments/abide/crowd.h"

#include "cli/support/csv.h"
#include "cli/support/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEEDS = 5 };
static const double most_of_seed = 240; /* s of processor time, by the paper's methods together */

const int crowd_sizes[CROWD_SIZES] = {100, 200, 400, 800, 1600};

static const double forever = (double)INFINITY;

/* ---- running --------------------------------------------------------------------------------------------
 */

typedef struct clocked {
    const crowd_def *def;
    double last; /* processor time */
} clocked;

/* Processor time of the step by the solver's share of its wall time, added up in the row. */
static void measure(const dls_simulation *simulation, const dls_step_report *report, double *values,
                    void *user) {
    clocked *me = user;
    double t = dls_clock_cpu(), share = report->seconds > 0 ? report->seconds_solve / report->seconds : 0;
    values[CROWD_SOLVER_TIME] += (t - me->last) * share;
    values[CROWD_MOST_SWEEPS] = fmax(values[CROWD_MOST_SWEEPS], report->iterations);
    if (me->def->measure) me->def->measure(simulation, report, values + CROWD_OWN);
    me->last = dls_clock_cpu();
}

static case_def define(const crowd_def *def, const char *name, const abide_settings *settings) {
    static const char *const shared[CROWD_OWN] = {"solver_time", "most_sweeps"};
    static const char *columns[CASE_MOST_COLUMNS];
    for (int i = 0; i < CROWD_OWN; i++) columns[i] = shared[i];
    for (int i = 0; i < def->column_count; i++) columns[CROWD_OWN + i] = def->columns[i];
    return (case_def){.name = name,
                      .scene = def->scene,
                      .setting_count = settings->count,
                      .settings = settings->list,
                      .steps_per_row = CROWD_ROW,
                      .column_count = CROWD_OWN + def->column_count,
                      .columns = columns,
                      .measure = measure};
}

static void set_size(const crowd_def *def, int balls, const crowd_variant *variant, abide_settings *s) {
    def->set(s, balls);
    if (variant->seed) abide_set(s, "variables.seed=%d", variant->seed);
    if (variant->filling > 0) abide_set(s, "variables.filling=%.17g", variant->filling);
}

/* Every method starts from the same settled balls, found by the default solver. */
static bool settle(const crowd_def *def, int balls, const crowd_variant *variant, dls_body_state **states,
                   int *count) {
    abide_settings settings = {0};
    clocked clock = {def, dls_clock_cpu()};
    *states = NULL, *count = 0;
    if (!def->set_start) return true;
    set_size(def, balls, variant, &settings);
    def->set_start(&settings);
    case_def one = define(def, "settling", &settings);
    one.user = &clock;
    *states = case_settle(&one, count);
    return *states != NULL;
}

typedef struct settled {
    dls_body_state *states;
    int count;
} settled;

static const double paper_until = 1; /* s, both sections */

/* The paper's pictures are of its PDAS methods; further seeds and other beds have none. */
static case_shots shots_of(const crowd_def *def, int method, int balls, const crowd_variant *variant,
                           double until, char name[EXPERIMENT_NAME]) {
    const bool drawn = method == ABIDE_IPDAS && !variant->seed && variant->filling == 0;
    snprintf(name, EXPERIMENT_NAME, "figure_%02d_%d_balls", def->shot_figure, balls);
    return (case_shots){drawn ? name : NULL, "top", (until > 0 ? until : paper_until) / def->shots};
}

/* until = 0: the scene's own end. */
static bool run_one(experiment_run *run, const crowd_def *def, int method, int balls,
                    const crowd_variant *variant, double until, double most_seconds, const char *name,
                    const settled *start, case_history *h) {
    abide_settings settings = {0};
    clocked clock = {def, dls_clock_cpu()};
    set_size(def, balls, variant, &settings);
    if (def->set_run) def->set_run(&settings);
    abide_choose(&settings, method, &def->parameters);
    if (until > 0) abide_set(&settings, "time.until=%g", until);
    if (method != ABIDE_OURS) {
        abide_set(&settings, "integrator.entering=closed");
        abide_set(&settings, "integrator.stabilisation=0");
    }
    if (method < ABIDE_METHODS) abide_set(&settings, "solver.max_iterations=20000");
    case_def one = define(def, name, &settings);
    one.start = start->states, one.start_count = start->count;
    char picture[EXPERIMENT_NAME];
    one.shots = shots_of(def, method, balls, variant, until, picture);
    one.most_seconds = most_seconds;
    one.user = &clock;
    return case_run(run, &one, h);
}

bool crowd_run_alone(experiment_run *run, const crowd_def *def, int balls, const crowd_variant *variant,
                     case_history *h) {
    settled start;
    char name[EXPERIMENT_NAME];
    snprintf(name, sizeof name, "whole-%d-filling-%g-seed-%d", balls, variant->filling, variant->seed);
    bool good = settle(def, balls, variant, &start.states, &start.count) &&
                run_one(run, def, ABIDE_OURS, balls, variant, 0, 0, name, &start, h);
    free(start.states);
    return good;
}

/* A reduced run is as short for all methods, so that they can be compared. */
static double end_of(const experiment_run *run, const crowd_def *def) {
    return run->size == SIZE_FULL ? 0 : def->reduced_until;
}

static bool is_whole(const crowd *c, int method, int size) {
    return c->has[method][size] && c->of[method][size].finished;
}

static bool all_whole(const crowd *c, int size) {
    bool all = true;
    for (int m = 0; m < ABIDE_METHODS; m++) all = all && is_whole(c, m, size);
    return all;
}

static void add_costs(crowd *c, int size, int seed, int method, const case_history *h) {
    c->sweeps[size].of[method][seed] = case_sum(h, CASE_ITERATIONS, 0, forever);
    c->seconds[size].of[method][seed] = case_sum(h, CASE_COLUMNS + CROWD_SOLVER_TIME, 0, forever);
}

static bool run_seed(experiment_run *run, crowd *c, int size, int seed, double most_seconds) {
    const crowd_def *def = c->def;
    const crowd_variant variant = {.seed = seed + 1};
    int balls = crowd_sizes[size];
    settled start;
    bool good = settle(def, balls, &variant, &start.states, &start.count), whole = true;
    for (int m = 0; m < ABIDE_METHODS && good; m++) {
        char name[EXPERIMENT_NAME];
        case_history h;
        snprintf(name, sizeof name, "%s-%d-seed-%d", abide_key(m), balls, variant.seed);
        good = run_one(run, def, m, balls, &variant, end_of(run, def), most_seconds, name, &start, &h);
        if (!good) break;
        whole = whole && h.finished;
        add_costs(c, size, seed, m, &h);
        case_history_free(&h);
    }
    if (good && whole) c->seeds[size] = seed + 1;
    free(start.states);
    return good;
}

/* Further seeds of what all of the paper's methods finished in time. */
static bool run_seeds(experiment_run *run, crowd *c, int size, double most_seconds) {
    int seeds = run->seeds ? run->seeds : SEEDS;
    double seconds = 0;
    if (!all_whole(c, size)) return true;
    for (int m = 0; m < ABIDE_METHODS; m++) {
        add_costs(c, size, 0, m, &c->of[m][size]);
        seconds += case_sum(&c->of[m][size], CASE_SECONDS, 0, forever);
    }
    c->seeds[size] = 1;
    bool good = true;
    for (int k = 1; k < seeds && seconds <= most_of_seed && good && c->seeds[size] == k; k++)
        good = run_seed(run, c, size, k, most_seconds);
    return good;
}

bool crowd_run(experiment_run *run, const crowd_def *def, double most_seconds, crowd *c) {
    bool gave_up[ABIDE_EVERY] = {false}, good = true;
    const crowd_variant own = {0};
    *c = (crowd){.def = def, .sizes = run->size == SIZE_FULL ? CROWD_SIZES : CROWD_REDUCED_SIZES};
    for (int size = 0; size < c->sizes && good; size++) {
        settled start;
        int balls = crowd_sizes[size];
        good = settle(def, balls, &own, &start.states, &start.count);
        for (int m = 0; m < ABIDE_EVERY && good; m++) {
            if (gave_up[m]) continue;
            char name[EXPERIMENT_NAME];
            snprintf(name, sizeof name, "%s-%d", abide_key(m), balls);
            const double most = m >= ABIDE_OURS ? 0 : most_seconds;
            good = run_one(run, def, m, balls, &own, end_of(run, def), most, name, &start, &c->of[m][size]);
            c->has[m][size] = good;
            gave_up[m] = good && !case_affords_next(size ? &c->of[m][size - 1] : NULL, &c->of[m][size], most);
        }
        free(start.states);
        good = good && run_seeds(run, c, size, most_seconds);
    }
    return good;
}

void crowd_free(crowd *c) {
    for (int m = 0; m < ABIDE_EVERY; m++)
        for (int size = 0; size < CROWD_SIZES; size++) case_history_free(&c->of[m][size]);
}

/* ---- claims ---------------------------------------------------------------------------------------------
 */

static bool is_valid(const double table[ABIDE_METHODS][CROWD_SIZES], int size) {
    bool valid = true;
    for (int m = 0; m < ABIDE_METHODS; m++) valid = valid && !isnan(table[m][size]);
    return valid;
}

static void claim_size(experiment_run *run, const crowd *c, int size) {
    const crowd_def *def = c->def;
    double sweeps[ABIDE_METHODS], seconds[ABIDE_METHODS];
    char text[96];
    if (!c->seeds[size] || !is_valid(def->sweeps, size)) return;
    for (int m = 0; m < ABIDE_METHODS; m++)
        sweeps[m] = def->sweeps[m][size], seconds[m] = def->seconds[m][size];
    snprintf(text, sizeof text, "Table %d: sweeps, %d balls", def->sweeps_table, crowd_sizes[size]);
    abide_claim_sweeps(&run->claims, text, sweeps, &c->sweeps[size], c->seeds[size]);
    snprintf(text, sizeof text, "Table %d: processor time, %d balls", def->seconds_table, crowd_sizes[size]);
    abide_claim_times(&run->claims, text, seconds, &c->seconds[size], c->seeds[size]);
}

/* How time grows with the number of balls n from 100 to the largest that all have: the exponent of n. */
static void claim_growth(experiment_run *run, const crowd *c) {
    const crowd_def *def = c->def;
    int last = c->sizes - 1;
    while (last > 0 && (!c->seeds[last] || !is_valid(def->seconds, last))) last--;
    if (last == 0) return;
    int seeds = c->seeds[last] < c->seeds[0] ? c->seeds[last] : c->seeds[0];
    double paper[ABIDE_METHODS], ratio = log((double)crowd_sizes[last] / crowd_sizes[0]);
    abide_costs ours;
    for (int m = 0; m < ABIDE_METHODS; m++) {
        paper[m] = log(def->seconds[m][last] / def->seconds[m][0]) / ratio;
        for (int k = 0; k < seeds; k++)
            ours.of[m][k] = log(c->seconds[last].of[m][k] / c->seconds[0].of[m][k]) / ratio;
    }
    char text[96];
    snprintf(text, sizeof text, "Table %d: exponent of time, 100 to %d balls", def->seconds_table,
             crowd_sizes[last]);
    abide_claim_growth(&run->claims, text, paper, &ours, seeds);
}

void crowd_claims(experiment_run *run, const crowd *c) {
    for (int size = 0; size < c->sizes; size++) claim_size(run, c, size);
    if (run->size == SIZE_FULL) claim_growth(run, c); /* two sizes would tell little */
}

/* ---- table and figures ----------------------------------------------------------------------------------
 */

static void write_row(FILE *file, const crowd *c, int m, int size) {
    const case_history *h = &c->of[m][size];
    bool papers = m < ABIDE_METHODS;
    fprintf(file, "%s,%d,%s", abide_name(m), crowd_sizes[size], h->finished ? "yes" : "no");
    csv_real(file, h->steps ? case_value(h, h->steps - 1, CASE_T) : 0);
    csv_real(file, case_sum(h, CASE_ITERATIONS, 0, forever));
    csv_real(file, papers ? c->def->sweeps[m][size] : nan(""));
    csv_real(file, case_sum(h, CASE_COLUMNS + CROWD_SOLVER_TIME, 0, forever));
    csv_real(file, papers ? c->def->seconds[m][size] : nan(""));
    csv_real(file, case_sum(h, CASE_SECONDS, 0, forever));
    csv_real(file, case_largest(h, CASE_COLUMNS + CROWD_MOST_SWEEPS, 0, forever));
    csv_real(file, case_mean(h, CASE_CONTACTS, 0, forever));
    csv_real(file, case_largest(h, CASE_PENETRATION, 0, forever));
    csv_real(file, case_largest(h, CASE_ERROR, 0, forever));
    fputc('\n', file);
}

static bool write_table(experiment_run *run, const crowd *c) {
    output_file out;
    char name[EXPERIMENT_NAME];
    int one = c->def->sweeps_table, two = c->def->seconds_table;
    snprintf(name, sizeof name, "tables_%d_%d", one < two ? one : two, one < two ? two : one);
    if (!run_table_open(run, name, &out)) return false;
    fputs("method,balls,finished,until_s,sweeps,paper_sweeps,solver_time_s,paper_time_s,step_time_s,"
          "most_sweeps_of_a_step,mean_contacts,largest_penetration_m,largest_error_m_s\n",
          out.stream);
    for (int size = 0; size < c->sizes; size++)
        for (int m = 0; m < ABIDE_EVERY; m++)
            if (c->has[m][size]) write_row(out.stream, c, m, size);
    return output_file_commit(&out);
}

/* Letters as in the paper: one figure for each size that it shows. */
static bool draw_one(experiment_run *run, const crowd *c, int size, int column, int number,
                     const char *label) {
    double *x[ABIDE_EVERY] = {NULL}, *y[ABIDE_EVERY] = {NULL};
    figure_series series[ABIDE_EVERY];
    int count = 0;
    char name[EXPERIMENT_NAME], title[64];
    for (int m = 0; m < ABIDE_EVERY; m++) {
        const case_history *h = &c->of[m][size];
        if (!c->has[m][size] || h->steps == 0) continue;
        abide_curve(h, column, true, &x[m], &y[m]);
        series[count++] =
            (figure_series){abide_name(m), x[m], y[m], (size_t)h->steps, FIGURE_PLAIN, (unsigned)m + 1};
    }
    snprintf(name, sizeof name, "figure_%02d_%d_balls", number, crowd_sizes[size]);
    snprintf(title, sizeof title, "%d balls", crowd_sizes[size]);
    figure f = {.title = title,
                .x = {"time in s", FIGURE_LINEAR, 0, 0},
                .y = {label, FIGURE_LOG, 0, 0},
                .series = series,
                .series_count = (size_t)count};
    bool good = run_figure(run, &f, name);
    for (int m = 0; m < ABIDE_EVERY; m++) free(x[m]), free(y[m]);
    return good;
}

bool crowd_write(experiment_run *run, const crowd *c) {
    const crowd_def *def = c->def;
    bool good = write_table(run, c);
    for (int size = 0; size < c->sizes && good; size++)
        good = draw_one(run, c, size, CASE_ITERATIONS, def->sweeps_figure, "sweeps so far") &&
               draw_one(run, c, size, CASE_COLUMNS + CROWD_SOLVER_TIME, def->seconds_figure,
                        "processor time so far in s");
    return good;
}
