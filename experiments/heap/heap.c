/* The angle of repose over rolling friction: grains are poured onto a rough plate (the template `heap`),
 * several seeds for each ratio. No paper: that the angle grows is known of grains, how much is measured here.
 */
#include "cli/support/csv.h"
#include "cli/support/report.h"
#include "experiments/case.h"

#include <delassus/analysis.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* After this the heap is at rest; its angle is the mean over what is measured from then on. */
static const double UNTIL = 1.8, REST = 1.7;

enum {
    ANGLE,
    GRAINS,
    OWN_COLUMNS,
    STEPS_PER_ROW = 10,
    MOST_RATIOS = 5,
    MOST_SEEDS = EXPERIMENT_MOST_SEEDS,
    MOST_SETTINGS = 4
};
static const char *const columns[OWN_COLUMNS] = {"angle", "grains"};

/* ---- one heap -------------------------------------------------------------------------------------------
 */

/* As `delassus analyze RUN cone` has it; NaN as long as there is no heap. */
static void measure(const dls_simulation *simulation, const dls_step_report *report, double *values,
                    void *user) {
    (void)user;
    const dls_world *world = dls_simulation_world(simulation);
    const double up[3] = {0, 0, 1};
    int bodies = dls_world_body_count(world), count = 0;
    if (report->step % STEPS_PER_ROW) return; /* once in a row is enough */
    double *places = report_allocate((size_t)bodies + 1, 4 * sizeof *places),
           *radii = places + 3 * (size_t)bodies;
    for (int i = 0; i < bodies; i++) {
        dls_body_state s;
        dls_shape_def shape;
        if (dls_body_motion(world, i) != DLS_DYNAMIC || dls_body_presence(world, i) != DLS_PRESENT ||
            dls_body_state_get(world, i, &s, NULL) || dls_body_shape(world, i, 0, &shape, NULL))
            continue;
        for (int k = 0; k < 3; k++) places[3 * count + k] = s.x[k];
        radii[count++] = shape.radius;
    }
    dls_slope cone;
    values[ANGLE] = dls_cone_measure(count, places, radii, up, &cone, NULL) ? nan("") : cone.angle;
    values[GRAINS] = count;
    free(places);
}

static bool run_heap(experiment_run *run, double ratio, int seed, const char *tolerance, case_history *h) {
    char name[EXPERIMENT_NAME], text[MOST_SETTINGS][64];
    const char *settings[MOST_SETTINGS];
    snprintf(name, sizeof name, "%g-seed-%d-tol-%s", ratio, seed, tolerance);
    snprintf(text[0], sizeof text[0], "variables.rolling=%.17g", ratio);
    snprintf(text[1], sizeof text[1], "variables.seed=%d", seed);
    snprintf(text[2], sizeof text[2], "solver.tolerance=%s", tolerance);
    snprintf(text[3], sizeof text[3], "time.until=%.17g", UNTIL);
    for (int i = 0; i < MOST_SETTINGS; i++) settings[i] = text[i];
    case_def def = {.name = name,
                    .scene = "heap",
                    .setting_count = MOST_SETTINGS,
                    .settings = settings,
                    .steps_per_row = STEPS_PER_ROW,
                    .column_count = OWN_COLUMNS,
                    .columns = columns,
                    .measure = measure};
    return case_run(run, &def, h);
}

/* ---- heaps of one ratio ---------------------------------------------------------------------------------
 */

typedef struct heaps {
    double ratio;
    const char *tolerance;
    int seeds;
    double angle[MOST_SEEDS], mean, interval; /* deg; interval: half of the one of 95 % */
    double grains, certified, held, iterations,
        seconds; /* means of a heap; iterations of a step; held: most */
} heaps;

static void estimate(heaps *a) {
    dls_interval i = dls_interval_of(a->seeds, a->angle);
    a->mean = i.mean;
    a->interval = i.half;
}

static bool run_heaps(experiment_run *run, heaps *a) {
    const double all = (double)INFINITY, n = a->seeds;
    for (int i = 0; i < a->seeds; i++) {
        case_history h;
        if (!run_heap(run, a->ratio, i + 1, a->tolerance, &h)) return false;
        a->angle[i] = case_mean(&h, CASE_COLUMNS + ANGLE, REST, all);
        a->grains += case_mean(&h, CASE_COLUMNS + GRAINS, REST, all) / n;
        a->certified += case_mean(&h, CASE_CERTIFIED, 0, all) / n;
        a->held = fmax(a->held, case_largest(&h, CASE_HELD, 0, all));
        a->iterations += case_mean(&h, CASE_ITERATIONS, 0, all) / STEPS_PER_ROW / n;
        a->seconds += case_sum(&h, CASE_SECONDS, 0, all) / n;
        case_history_free(&h);
    }
    estimate(a);
    return true;
}

/* ---- what is shown --------------------------------------------------------------------------------------
 */

static bool write_angles(experiment_run *run, const heaps *of, int count) {
    output_file out;
    if (!run_table_open(run, "angles", &out)) return false;
    fputs("rolling_ratio,tolerance,heaps,angle_deg,interval_95_deg,lowest_deg,highest_deg,grains,certified,"
          "held,iterations_per_step,seconds\n",
          out.stream);
    for (int i = 0; i < count; i++) {
        const heaps *a = &of[i];
        double low = a->angle[0], high = a->angle[0];
        for (int k = 1; k < a->seeds; k++) low = fmin(low, a->angle[k]), high = fmax(high, a->angle[k]);
        const double rest[] = {a->mean,      a->interval, low,           high,      a->grains,
                               a->certified, a->held,     a->iterations, a->seconds};
        fprintf(out.stream, "%g,%s,%d", a->ratio, a->tolerance, a->seeds);
        for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) csv_real(out.stream, rest[k]);
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

/* Intervals are upright lines with gaps between. */
static bool draw_angles(experiment_run *run, const heaps *of, int count) {
    double x[MOST_RATIOS], mean[MOST_RATIOS], one_x[MOST_RATIOS * MOST_SEEDS], one[MOST_RATIOS * MOST_SEEDS],
        bar_x[3 * MOST_RATIOS], bar[3 * MOST_RATIOS];
    size_t ones = 0, bars = 0;
    for (int i = 0; i < count; i++) {
        x[i] = of[i].ratio;
        mean[i] = of[i].mean;
        for (int k = 0; k < of[i].seeds; k++) one_x[ones] = x[i], one[ones++] = of[i].angle[k];
        for (int side = -1; side <= 1; side += 2)
            bar_x[bars] = x[i], bar[bars++] = mean[i] + side * of[i].interval;
        bar_x[bars] = x[i], bar[bars++] = (double)NAN;
    }
    const figure_series series[] = {{"mean", x, mean, (size_t)count, FIGURE_LINE, 1},
                                    {"95 %", bar_x, bar, bars, FIGURE_PLAIN, FIGURE_LOOK_BLACK},
                                    {"single heaps", one_x, one, ones, FIGURE_RINGS, 2}};
    figure f = {.x = {"rolling friction over radius", FIGURE_LINEAR, -0.01, 0.21},
                .y = {"angle of repose in degrees", FIGURE_LINEAR, 15, 45},
                .series = series,
                .series_count = 3};
    return run_figure(run, &f, "angles");
}

/* ---- claims ---------------------------------------------------------------------------------------------
 */

static void claim_growth(claim_list *c, const heaps *of, int count) {
    const heaps *first = &of[0], *last = &of[count - 1];
    double least = (double)INFINITY;
    for (int i = 1; i < count; i++) least = fmin(least, of[i].mean - of[i - 1].mean);
    claim_bound(c, CLAIM_DERIVED, "deg", CLAIM_AT_LEAST, 0, least,
                "the mean angle grows from each of %d ratios to the next, by at least", count);
    claim_bound(c, CLAIM_DERIVED, "deg", CLAIM_AT_LEAST, 0,
                last->mean - last->interval - first->mean - first->interval,
                "room between the 95 %% intervals at %g and at %g", first->ratio, last->ratio);
}

/* Where rolling friction is large: 26° to 35°. Three heaps would not decide it. */
static void claim_range(claim_list *c, const heaps *of, int count) {
    for (int i = 0; i < count; i++) {
        if (of[i].ratio < 0.1) continue;
        claim_bound(c, CLAIM_DERIVED, "deg", CLAIM_AT_LEAST, 26, of[i].mean,
                    "angle at a ratio of %g, 26° to 35° expected: not less", of[i].ratio);
        claim_bound(c, CLAIM_DERIVED, "deg", CLAIM_AT_MOST, 35, of[i].mean,
                    "angle at a ratio of %g, 26° to 35° expected: not more", of[i].ratio);
    }
}

static void claim_certified(claim_list *c, const heaps *of, int count) {
    double certified = 1;
    for (int i = 0; i < count; i++) certified = fmin(certified, of[i].certified);
    claim_equal(c, CLAIM_DERIVED, "1", 1, certified, 0, "share of certified steps, least of all ratios");
}

/* The difference of two means has the interval √(a² + b²). */
static void claim_tolerance(claim_list *c, const heaps *coarse, const heaps *fine) {
    claim_equal(c, CLAIM_DERIVED, "deg", coarse->mean, fine->mean, hypot(coarse->interval, fine->interval),
                "angle at a ratio of %g with a tolerance of %s, beside that with %s", fine->ratio,
                fine->tolerance, coarse->tolerance);
    claim_equal(c, CLAIM_DERIVED, "1", 1, fine->certified, 0,
                "share of certified steps with a tolerance of %s", fine->tolerance);
}

/* ---- the experiment -------------------------------------------------------------------------------------
 */

static bool run_all(experiment_run *run) {
    static const double full[] = {0, 0.02, 0.05, 0.1, 0.2}, reduced[] = {0, 0.1, 0.2};
    bool is_full = run->size == SIZE_FULL;
    const double *ratios = is_full ? full : reduced;
    int count = is_full ? 5 : 3, seeds = run->seeds ? run->seeds : is_full ? 5 : 3, compared = 3;
    run->claims.method = METHOD_OURS;
    heaps of[MOST_RATIOS + 1] = {{0}}, *fine = &of[MOST_RATIOS];
    for (int i = 0; i < count; i++) {
        of[i] = (heaps){.ratio = ratios[i], .tolerance = "1e-3", .seeds = seeds};
        if (!run_heaps(run, &of[i])) return false;
    }
    claim_growth(&run->claims, of, count);
    if (is_full) claim_range(&run->claims, of, count);
    claim_certified(&run->claims, of, count);
    if (is_full) {
        *fine = (heaps){.ratio = ratios[compared], .tolerance = "1e-4", .seeds = seeds};
        if (!run_heaps(run, fine)) return false;
        claim_tolerance(&run->claims, &of[compared], fine);
    }
    return !*run->folder ||
           (write_angles(run, of, is_full ? MOST_RATIOS + 1 : count) && draw_angles(run, of, count));
}

const experiment experiment_heap = {
    .name = "heap",
    .title = "the angle of repose grows with rolling friction",
    .has_reduced = true,
    .has_full = true,
    .run = run_all,
};
