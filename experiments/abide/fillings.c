/* The angle of repose of paper 002, section 6.4, over what the paper does not say: how full the drum is. */
#include "cli/support/csv.h"
#include "experiments/abide/drum.h"

#include <math.h>
#include <stdio.h>

enum { MOST_BEDS = 8, SEEDS = 5, REDUCED_SEEDS = 3 };

typedef struct bed {
    int balls, seeds;
    double filling;
    double angle[EXPERIMENT_MOST_SEEDS];
    dls_interval mean;
    double certified, penetration; /* least share of steps; most, in radii */
} bed;

static double radius_of(const bed *b) { return 2.7e-3 * sqrt(100.0 / b->balls * b->filling / drum_filling); }

static bool run_bed(experiment_run *run, bed *b) {
    const double all = (double)INFINITY;
    b->certified = 1;
    for (int k = 0; k < b->seeds; k++) {
        const crowd_variant variant = {k + 1, b->filling};
        case_history h;
        if (!crowd_run_alone(run, &drum_def, b->balls, &variant, &h)) return false;
        b->angle[k] = drum_angle(&h);
        b->certified = fmin(b->certified, case_mean(&h, CASE_CERTIFIED, 0, all));
        b->penetration = fmax(b->penetration, case_largest(&h, CASE_PENETRATION, 0, all) / radius_of(b));
        case_history_free(&h);
    }
    b->mean = dls_interval_of(b->seeds, b->angle);
    return true;
}

/* ---- claims ---------------------------------------------------------------------------------------------
 */

static void claim_bed(claim_list *list, const bed *b) {
    if (b->filling == drum_filling)
        claim_seeds(list, CLAIM_PRINTED, "deg", CLAIM_EQUAL, drum_repose, drum_tolerance, &b->mean,
                    "angle of repose, %d balls, auto", b->balls);
    claim_bound(list, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 0.01, b->penetration,
                "largest penetration in radii, %d balls, %g of the area, auto", b->balls, b->filling);
    claim_equal(list, CLAIM_DERIVED, "1", 1, b->certified, 0,
                "share of certified steps, %d balls, %g of the area, auto", b->balls, b->filling);
}

/* Beds of as many balls stand in the order of their fillings. */
static void claim_growth(claim_list *list, const bed *beds, int count) {
    for (int i = 1; i < count; i++) {
        const bed *less = &beds[i - 1], *more = &beds[i];
        if (less->balls != more->balls) continue;
        dls_interval growth = dls_interval_difference(&more->mean, &less->mean);
        claim_seeds(list, CLAIM_DERIVED, "deg", CLAIM_AT_LEAST, 0, 0, &growth,
                    "a fuller drum is steeper, %d balls: angle at %g over that at %g", more->balls,
                    more->filling, less->filling);
    }
}

/* ---- what is shown --------------------------------------------------------------------------------------
 */

static bool write_beds(experiment_run *run, const bed *beds, int count) {
    output_file out;
    if (!run_table_open(run, "fillings", &out)) return false;
    fputs(
        "balls,filling,seeds,angle_deg,interval_95_deg,lowest_deg,highest_deg,certified,penetration_radii\n",
        out.stream);
    for (int i = 0; i < count; i++) {
        const bed *b = &beds[i];
        double low = b->angle[0], high = b->angle[0];
        for (int k = 1; k < b->seeds; k++) low = fmin(low, b->angle[k]), high = fmax(high, b->angle[k]);
        const double rest[] = {b->mean.mean, b->mean.half, low, high, b->certified, b->penetration};
        fprintf(out.stream, "%d,%g,%d", b->balls, b->filling, b->seeds);
        for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) csv_real(out.stream, rest[k]);
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

static bool draw_beds(experiment_run *run, const bed *beds, int count) {
    double x[MOST_BEDS], mean[MOST_BEDS], bar_x[3 * MOST_BEDS], bar[3 * MOST_BEDS],
        one_x[MOST_BEDS * EXPERIMENT_MOST_SEEDS], one[MOST_BEDS * EXPERIMENT_MOST_SEEDS];
    const double ends[] = {0.1, 0.5}, printed[] = {drum_repose, drum_repose};
    size_t bars = 0, ones = 0;
    for (int i = 0; i < count; i++) {
        x[i] = beds[i].filling, mean[i] = beds[i].mean.mean;
        for (int side = -1; side <= 1; side += 2)
            bar_x[bars] = x[i], bar[bars++] = mean[i] + side * beds[i].mean.half;
        bar_x[bars] = x[i], bar[bars++] = (double)NAN;
        for (int k = 0; k < beds[i].seeds; k++) one_x[ones] = x[i], one[ones++] = beds[i].angle[k];
    }
    const figure_series series[] = {{"mean", x, mean, (size_t)count, FIGURE_RINGS, 1},
                                    {"95 %", bar_x, bar, bars, FIGURE_PLAIN, FIGURE_LOOK_BLACK},
                                    {"single runs", one_x, one, ones, FIGURE_RINGS, 2},
                                    {"26°, as the paper has it", ends, printed, 2, FIGURE_LINE, 3}};
    figure f = {.x = {"solid share of the drum's area", FIGURE_LINEAR, 0.1, 0.5},
                .y = {"angle of repose in degrees", FIGURE_LINEAR, 0, 40},
                .series = series,
                .series_count = sizeof series / sizeof *series};
    return run_figure(run, &f, "angle_over_filling");
}

bool drum_run_fillings(experiment_run *run) {
    const double own = drum_filling;
    bed full[] = {{.balls = 100, .filling = own},  {.balls = 200, .filling = 0.15},
                  {.balls = 200, .filling = own},  {.balls = 200, .filling = 0.36},
                  {.balls = 200, .filling = 0.44}, {.balls = 400, .filling = own},
                  {.balls = 400, .filling = 0.38}},
        reduced[] = {
            {.balls = 100, .filling = 0.15}, {.balls = 100, .filling = own}, {.balls = 100, .filling = 0.44}};
    bool is_full = run->size == SIZE_FULL;
    bed *beds = is_full ? full : reduced;
    int count = is_full ? (int)(sizeof full / sizeof *full) : (int)(sizeof reduced / sizeof *reduced);
    run->claims.method = METHOD_OURS;
    for (int i = 0; i < count; i++) {
        beds[i].seeds = run->seeds ? run->seeds : is_full ? SEEDS : REDUCED_SEEDS;
        if (!run_bed(run, &beds[i])) return false;
        claim_bed(&run->claims, &beds[i]);
    }
    claim_growth(&run->claims, beds, count);
    run->claims.method = METHOD_PAPERS;
    return !*run->folder || (write_beds(run, beds, count) && draw_beds(run, beds, count));
}
