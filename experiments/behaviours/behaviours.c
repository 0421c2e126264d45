/* Behaviours for which contact simulators are criticised, with figures: creep at rest, a gap under what
 * slides, accelerations that depend on size, iterations wasted at rest, and results that depend on threads or
 * on being interrupted. Then ten cases in which every step can be right and the motion wrong (within.c,
 * impacts.c, meetings.c, structures.c). No paper: the bounds are ours, the motions have closed forms. */
#include "cli/support/csv.h"
#include "cli/support/report.h"
#include "experiments/behaviours/bits.h"
#include "experiments/behaviours/turned.h"
#include "experiments/case.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81, DEGREE = 0.017453292519943295, MU = 0.3;

/* Of the cases on the slope. */
typedef enum own_column { CREEP, GAP, SPEED, OWN_COLUMNS } own_column;
static const char *const columns[] = {"creep", "gap", "speed"};

enum { MOST_SETTINGS = 12, SETTING = 64 };

typedef struct slope_case {
    const char *name;
    int boxes;
    double slope, mu, width, height, step, until; /* rad, m, s */
    bool relaxed;
    int steps_per_row;
    dls_body_id first; /* of its boxes, once it runs; 0 before */
} slope_case;

/* ---- cases ----------------------------------------------------------------------------------------------
 */

/* Box k began at (0, 0, (k + 1/2) height) in axes of the slope. */
static void measure_slope(const dls_simulation *simulation, const dls_step_report *report, double *values,
                          void *user) {
    (void)report;
    slope_case *c = user;
    const dls_world *world = dls_simulation_world(simulation);
    dls_body_state box;
    if (!c->first) c->first = dls_world_find_body(world, "box-0");
    for (int k = 0; k < c->boxes; k++) {
        if (dls_body_state_get(world, c->first + k, &box, NULL)) return;
        double up = box.x[2] - (k + 0.5) * c->height;
        values[CREEP] = fmax(values[CREEP], sqrt(box.x[0] * box.x[0] + box.x[1] * box.x[1] + up * up));
        if (k > 0) continue;
        values[GAP] = up;
        values[SPEED] = box.v[0];
    }
}

static bool run_slope(experiment_run *run, slope_case *c, case_history *history) {
    char text[MOST_SETTINGS][SETTING];
    const char *settings[MOST_SETTINGS];
    int count = 0;
    snprintf(text[count++], SETTING, "variables.boxes=%d", c->boxes);
    snprintf(text[count++], SETTING, "variables.slope=%.17g", c->slope);
    snprintf(text[count++], SETTING, "variables.mu=%.17g", c->mu);
    snprintf(text[count++], SETTING, "variables.width=%.17g", c->width);
    snprintf(text[count++], SETTING, "variables.height=%.17g", c->height);
    snprintf(text[count++], SETTING, "time.step=%.17g", c->step);
    snprintf(text[count++], SETTING, "time.until=%.17g", c->until);
    if (c->relaxed) {
        snprintf(text[count++], SETTING, "solver.name=apgd");
        snprintf(text[count++], SETTING, "solver.relaxed=yes");
    }
    for (int i = 0; i < count; i++) settings[i] = text[i];
    case_def def = {.name = c->name,
                    .scene = "behaviours-slope",
                    .setting_count = count,
                    .settings = settings,
                    .steps_per_row = c->steps_per_row,
                    .column_count = OWN_COLUMNS,
                    .columns = columns,
                    .measure = measure_slope,
                    .user = c};
    return case_run(run, &def, history);
}

static double last_of(const case_history *h, int own) {
    return h->steps ? case_value(h, h->steps - 1, CASE_COLUMNS + own) : (double)NAN;
}

static double largest_of(const case_history *h, int column) {
    return case_largest(h, column, 0, (double)INFINITY);
}

/* g (sin α − μ cos α) */
static double downhill(double slope, double mu) { return G * (sin(slope) - mu * cos(slope)); }

/* ---- 1: rest --------------------------------------------------------------------------------------------
 */

static bool draw_creep(experiment_run *run, const case_history *box, const case_history *stack) {
    enum { POINTS = 200 };
    const case_history *both[] = {box, stack};
    double t[2][POINTS], creep[2][POINTS];
    int count[2];
    for (int s = 0; s < 2; s++) { /* rows evenly spread over the decades of time */
        int last = -1;
        count[s] = 0;
        for (int i = 0; i < POINTS; i++) {
            int row = (int)lround(pow(both[s]->steps, (double)i / (POINTS - 1))) - 1;
            if (row <= last || row >= both[s]->steps) continue;
            last = row;
            t[s][count[s]] = case_value(both[s], row, CASE_T);
            creep[s][count[s]++] = case_value(both[s], row, CASE_COLUMNS + CREEP);
        }
    }
    const figure_series series[] = {
        {"ten boxes, 15°, μ = 0.3", t[1], creep[1], (size_t)count[1], FIGURE_PLAIN, 1},
        {"one box, 25°, μ = 0.5", t[0], creep[0], (size_t)count[0], FIGURE_PLAIN, 2}};
    const figure_mark bound = {"bound", true, 1e-9};
    figure f = {.x = {"time in s", FIGURE_LOG, 0, 0},
                .y = {"distance from the start in m", FIGURE_LOG, 1e-17, 1e-8},
                .series = series,
                .series_count = 2,
                .marks = &bound,
                .mark_count = 1};
    return run_figure(run, &f, "creep");
}

static bool show_rest(experiment_run *run) {
    int steps = run->size == SIZE_FULL ? 100000 : 10000;
    slope_case one = {"rest-box", 1, 25 * DEGREE, 0.5, 0.4, 0.1, 1e-3, steps * 1e-3, false, 10, 0};
    slope_case ten = {"rest-stack", 10, 15 * DEGREE, MU, 0.4, 0.1, 1e-3, steps * 1e-3, false, 10, 0};
    case_history box = {0}, stack = {0};
    claim_list *c = &run->claims;
    bool good = run_slope(run, &one, &box) && run_slope(run, &ten, &stack);
    if (good) {
        claim_bound(c, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-9, largest_of(&box, CASE_COLUMNS + CREEP),
                    "1: a box at rest, 1.6° below the friction angle, moves in %d steps", steps);
        claim_bound(c, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-9, largest_of(&stack, CASE_COLUMNS + CREEP),
                    "1: ten boxes on each other, 1.7° below it, move in %d steps", steps);
        claim_equal(c, CLAIM_DERIVED, "1", 1, case_mean(&stack, CASE_CERTIFIED, 0, (double)INFINITY), 0,
                    "1: share of certified steps, ten boxes");
    }
    if (good && *run->folder) good = draw_creep(run, &box, &stack);
    case_history_free(&box);
    case_history_free(&stack);
    return good;
}

/* ---- 2: no gap under what slides ------------------------------------------------------------------------
 */

enum { STEP_SIZES = 3 };
static const double step_sizes[STEP_SIZES] = {1e-2, 1e-3, 1e-4};
static const char *const step_names[STEP_SIZES] = {"1e-2", "1e-3", "1e-4"};

static double gap_ratio(const case_history *h, double step) {
    return last_of(h, GAP) / (step * MU * last_of(h, SPEED));
}

static bool draw_gap(experiment_run *run, case_history slides[2][STEP_SIZES]) {
    figure_series series[2 * STEP_SIZES];
    char names[2 * STEP_SIZES][48];
    double *memory = report_allocate((size_t)(4 * STEP_SIZES) * 500, sizeof *memory), *free_from = memory;
    for (int i = 0; i < STEP_SIZES; i++)
        for (int relaxed = 1; relaxed >= 0; relaxed--) {
            const case_history *h = &slides[relaxed][i];
            double *t = free_from, *gap = free_from + h->steps;
            for (int k = 0; k < h->steps; k++) {
                t[k] = case_value(h, k, CASE_T);
                gap[k] = fmax(fabs(case_value(h, k, CASE_COLUMNS + GAP)), 1e-18);
            }
            int at = 2 * i + 1 - relaxed;
            snprintf(names[at], sizeof names[at], "%s, h = %s s", relaxed ? "relaxed" : "default",
                     step_names[i]);
            series[at] = (figure_series){names[at], t, gap, (size_t)h->steps, FIGURE_PLAIN, (unsigned)at + 1};
            free_from += 2 * h->steps;
        }
    figure f = {.x = {"time in s", FIGURE_LINEAR, 0, 0.5},
                .y = {"gap below a sliding box in m", FIGURE_LOG, 1e-18, 1},
                .series = series,
                .series_count = 2 * STEP_SIZES,
                .width_inches = FIGURE_PAGE_WIDTH,
                .height_inches = 3};
    bool good = run_figure(run, &f, "gap");
    free(memory);
    return good;
}

static bool show_sliding(experiment_run *run) {
    case_history slides[2][STEP_SIZES] = {{{0}}};
    bool good = true;
    for (int relaxed = 0; relaxed < 2; relaxed++)
        for (int i = 0; i < STEP_SIZES && good; i++) {
            char name[EXPERIMENT_NAME];
            snprintf(name, sizeof name, "slide-%s-%s", relaxed ? "relaxed" : "default", step_names[i]);
            int per_row = (int)lround(1e-2 / step_sizes[i]);
            slope_case c = {name, 1, 30 * DEGREE, MU, 0.2, 0.1, step_sizes[i], 0.5, relaxed, per_row, 0};
            good = run_slope(run, &c, &slides[relaxed][i]);
        }
    for (int i = 0; i < STEP_SIZES && good; i++)
        claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-8,
                    fabs(gap_ratio(&slides[0][i], step_sizes[i])),
                    "2: gap under a sliding box over h μ v, h = %s s", step_names[i]);
    for (int i = 0; i < STEP_SIZES && good; i++)
        claim_equal(&run->claims, CLAIM_DERIVED, "1", 1, gap_ratio(&slides[1][i], step_sizes[i]), 0.02,
                    "2: the same by the relaxed law, h = %s s", step_names[i]);
    if (good && *run->folder) good = draw_gap(run, slides);
    for (int k = 0; k < 2 * STEP_SIZES; k++) case_history_free(&slides[k / STEP_SIZES][k % STEP_SIZES]);
    return good;
}

/* ---- 3: the same at any size ----------------------------------------------------------------------------
 */

static bool show_sizes(experiment_run *run) {
    static const double sizes[] = {1.4, 0.14, 1.4e-3};
    static const char *const names[] = {"1.4 m", "0.14 m", "1.4 mm"};
    bool good = true;
    for (int i = 0; i < 3 && good; i++) {
        char name[EXPERIMENT_NAME];
        case_history h = {0};
        snprintf(name, sizeof name, "size-%g", sizes[i]);
        slope_case c = {name, 1, 30 * DEGREE, MU, sizes[i], sizes[i], 1e-3, 0.5, false, 10, 0};
        good = run_slope(run, &c, &h);
        if (good)
            claim_equal(&run->claims, CLAIM_DERIVED, "m/s²", downhill(30 * DEGREE, MU),
                        last_of(&h, SPEED) / 0.5, 1e-9, "3: acceleration of a cube of %s down 30°, μ = 0.3",
                        names[i]);
        case_history_free(&h);
    }
    return good;
}

/* ---- 4: rest is cheap -----------------------------------------------------------------------------------
 */

static void measure_cube(const dls_simulation *simulation, const dls_step_report *report, double *values,
                         void *user) {
    (void)simulation, (void)user;
    values[0] = fmax(values[0], report->iterations);
}

static bool draw_iterations(experiment_run *run, const case_history *h) {
    enum { SHOWN = 100 }; /* rows of ten steps: the first second */
    double t[SHOWN], most[SHOWN];
    int count = h->steps < SHOWN ? h->steps : SHOWN;
    for (int k = 0; k < count; k++) {
        t[k] = case_value(h, k, CASE_T);
        most[k] = case_value(h, k, CASE_COLUMNS);
    }
    const figure_series series = {NULL, t, most, (size_t)count, FIGURE_PLAIN, 1};
    figure f = {.x = {"time in s", FIGURE_LINEAR, 0, 1},
                .y = {"iterations per step", FIGURE_LOG, 0.5, 1000},
                .series = &series,
                .series_count = 1};
    return run_figure(run, &f, "iterations");
}

static bool show_cube(experiment_run *run) {
    static const char *const names[] = {"most_iterations"};
    const char *settings[] = {run->size == SIZE_FULL ? "time.until=101" : "time.until=11"};
    case_history h = {0};
    case_def def = {.name = "cube",
                    .scene = "behaviours-cube",
                    .setting_count = 1,
                    .settings = settings,
                    .steps_per_row = 10,
                    .column_count = 1,
                    .columns = names,
                    .measure = measure_cube};
    bool good = case_run(run, &def, &h);
    if (good) {
        claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 9,
                    case_largest(&h, CASE_COLUMNS, 1, (double)INFINITY),
                    "4: iterations of a step with a cube at rest, tolerance 1e-8, most");
        claim_bound(&run->claims, CLAIM_DERIVED, "J", CLAIM_AT_MOST, 1e-12,
                    case_largest(&h, CASE_KINETIC, 1, (double)INFINITY), "4: its kinetic energy");
    }
    if (good && *run->folder) good = draw_iterations(run, &h);
    case_history_free(&h);
    return good;
}

/* ---- 5: the same bits -----------------------------------------------------------------------------------
 */

static bool write_bits(experiment_run *run, const bits_result *b) {
    output_file out;
    if (!run_table_open(run, "bits", &out)) return false;
    fputs("run,threads,kills,hash\n", out.stream);
    for (int i = 0; i < BITS_THREADS; i++)
        fprintf(out.stream, "whole,%d,0,%016" PRIx64 "\n", b->threads[i], b->whole[i]);
    fprintf(out.stream, "resumed,2 1 4 1 2,%d,%016" PRIx64 "\n", BITS_KILLS, b->resumed);
    return output_file_commit(&out);
}

static bool show_bits(experiment_run *run) {
    bits_result b;
    int same = 0;
    if (!bits_compare("drum", run->size == SIZE_FULL ? 0.3 : 0.1, &b)) return false;
    for (int i = 0; i < BITS_THREADS; i++) same += b.whole[i] == b.whole[0];
    claim_equal(&run->claims, CLAIM_DERIVED, "1", BITS_THREADS, same, 0,
                "5: runs on 1, 2 and 4 threads that end in one state hash, a drum of %d contacts, %d steps",
                b.contacts, b.steps);
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 1, b.resumed == b.whole[0], 0,
                "5: killed %d times and resumed on other threads, it ends in the same (1: yes)", BITS_KILLS);
    return !*run->folder || write_bits(run, &b);
}

/* ---- the experiment -------------------------------------------------------------------------------------
 */

static bool run_behaviours(experiment_run *run) {
    run->claims.method = METHOD_OURS; /* of no paper */
    return show_rest(run) && show_sliding(run) && show_sizes(run) && show_cube(run) && show_bits(run) &&
           show_within(run) && show_impacts(run) && show_meetings(run) && show_structures(run);
}

const experiment experiment_behaviours = {
    .name = "behaviours",
    .title = "no creep, no gap, any size, cheap rest, the same bits, true within the step",
    .has_reduced = true,
    .has_full = true,
    .run = run_behaviours,
};
