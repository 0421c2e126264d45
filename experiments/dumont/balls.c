/* Paper 003, sections 4.2 and 4.3: four balls and 500 balls settle in a box (Tables II and III, Figs. 9 to 12
 * and 14 to 17). Each method makes a run of its own; the contact problem of its last step is then swept as
 * the paper prints it, which gives the error parts and the velocities that the method holds. */
#include "cli/support/csv.h"
#include "cli/support/report.h"
#include "experiments/dumont/dumont.h"

#include <math.h>
#include <stdlib.h>

enum { DEFAULT = DUMONT_METHODS, RUNS };

static const double gravity = 9.81;

/* A row of the paper's table. */
typedef struct printed {
    double sweeps, error, penetration, seconds;
} printed;

typedef struct settling {
    const char *scene, *table;
    int first_figure; /* of four, in the order of methods */
    int steps, max_sweeps, check_interval;
    double step, tolerance;
    const char *size; /* a setting, or NULL */
    double smaller;   /* EBP's penetration over SBP's */
    double invisible; /* what the caption says of EAL's penetrations, m/s */
    printed paper[DUMONT_METHODS];
} settling;

typedef struct settled {
    dumont_result runs[RUNS];
    dumont_curve curves[DUMONT_METHODS];
} settled;

/* ---- what a run says ----------------------------------------------------------------------------------- */

static double all_seconds(const settling *s, const case_history *h) {
    return h->finished ? case_sum(h, DUMONT_CPU, 0, s->steps * s->step) : nan("");
}

static double all_sweeps(const settling *s, const case_history *h) {
    return h->finished ? case_sum(h, CASE_ITERATIONS, 0, s->steps * s->step) : nan("");
}

static double most(const settling *s, const case_history *h, int column) {
    return case_largest(h, column, 0, s->steps * s->step);
}

static double energy(const case_history *h, int step) {
    return case_value(h, step, CASE_KINETIC) + case_value(h, step, CASE_POTENTIAL);
}

/* The largest energy over that of the start, less 1. */
static double energy_gain(const case_history *h) {
    double largest = 0;
    for (int l = 0; l < h->steps; l++) largest = fmax(largest, energy(h, l));
    return largest / energy(h, 0) - 1;
}

static double rest_share(const case_history *h) { return dumont_last(h, CASE_KINETIC) / energy(h, 0); }

/* ---- claims -------------------------------------------------------------------------------------------- */

static const char another_machine[] = "another machine";
static const char implementation[] = "counts depend on the implementation, and on where the balls lie";

static const double half_decade = 0.5;

static double last_sweeps(const settled *all, int method) {
    return dumont_last(&all->runs[method].history, CASE_ITERATIONS);
}

/* The two enhanced methods are one contender: both end at the solution of a contact, so that their sweeps are
 * the same, where the paper's differ by 2 %. */
static void claim_sweeps(claim_list *c, const settling *s, const settled *all) {
    char text[96];
    const printed *paper = s->paper;
    contender contenders[3] = {{"enhanced", 0.5 * (paper[DUMONT_EBP].sweeps + paper[DUMONT_EAL].sweeps),
                                0.5 * (last_sweeps(all, DUMONT_EBP) + last_sweeps(all, DUMONT_EAL))},
                               {"SAL", paper[DUMONT_SAL].sweeps, last_sweeps(all, DUMONT_SAL)},
                               {"SBP", paper[DUMONT_SBP].sweeps, last_sweeps(all, DUMONT_SBP)}};
    snprintf(text, sizeof text, "%s, sweeps in the last step", s->table);
    claim_order(c, text, "1", implementation, contenders, 3);
    claim_bound(c, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 0.05 * last_sweeps(all, DUMONT_EBP),
                fabs(last_sweeps(all, DUMONT_EBP) - last_sweeps(all, DUMONT_EAL)),
                "the same, EBP and EAL differ by: both solve a contact to 1e-5");
    for (int m = 0; m < DUMONT_METHODS; m++) {
        claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_MOST, s->max_sweeps - 1,
                    most(s, &all->runs[m].history, CASE_ITERATIONS), "%s: sweeps, most in a step",
                    dumont_methods[m].name);
    }
}

/* Where the balls lie the paper does not print: errors, penetrations and counts of the last step are compared
 * by their size, within half a decade. Penetrations below rounding have the bound of the caption. */
static void claim_printed(claim_list *c, const settling *s, const settled *all) {
    for (int m = 0; m < DUMONT_METHODS; m++) {
        const char *name = dumont_methods[m].name;
        claim_decades(c, CLAIM_PRINTED, "SI", s->paper[m].error,
                      dumont_last(&all->runs[m].history, DUMONT_EPS), half_decade,
                      "%s, %s: ε_glob in the last step", s->table, name);
        claim_decades(c, CLAIM_PRINTED, "1", s->paper[m].sweeps, last_sweeps(all, m), half_decade,
                      "%s, %s: sweeps in the last step", s->table, name);
        if (m != DUMONT_EAL)
            claim_decades(c, CLAIM_PRINTED, "m/s", s->paper[m].penetration, all->curves[m].penetration,
                          half_decade, "%s, %s: largest penetration in the last step", s->table, name);
    }
}

/* No method reaches the tolerance in the last step. */
static void claim_cap(claim_list *c, const settling *s, const settled *all) {
    for (int m = 0; m < DUMONT_METHODS; m++) {
        claim_equal(c, CLAIM_PRINTED, "1", s->max_sweeps, dumont_last(&all->runs[m].history, CASE_ITERATIONS),
                    0, "%s, %s: sweeps in the last step, all that are allowed", s->table,
                    dumont_methods[m].name);
    }
}

/* By kind; the two standard methods apart only where the paper's differ by more than a few parts in a
 * hundred. */
static void claim_seconds(claim_list *c, const settling *s, const settled *all, bool apart) {
    char text[96];
    contender contenders[] = {{"enhanced", 0, 0}, {"standard", 0, 0}, {"SBP", 0, 0}};
    for (int m = 0; m < DUMONT_METHODS; m++) {
        contender *kind = &contenders[dumont_methods[m].enhanced ? 0 : 1];
        kind->paper += 0.5 * s->paper[m].seconds;
        kind->ours += 0.5 * all_seconds(s, &all->runs[m].history);
    }
    for (int m = DUMONT_SBP; apart && m <= DUMONT_SAL; m++)
        contenders[2 - m] =
            (contender){dumont_methods[m].name, s->paper[m].seconds, all_seconds(s, &all->runs[m].history)};
    snprintf(text, sizeof text, "%s, processor time", s->table);
    claim_order(c, text, "s", another_machine, contenders, apart ? 3 : 2);
}

/* The paper's times against the work that is the same on every machine. */
static void claim_work(claim_list *c, const settling *s, const settled *all) {
    char text[96];
    double ours[DUMONT_METHODS];
    const printed *paper = s->paper;
    for (int m = 0; m < DUMONT_METHODS; m++) ours[m] = all_sweeps(s, &all->runs[m].history);
    contender contenders[3] = {{"enhanced", 0.5 * (paper[DUMONT_EBP].seconds + paper[DUMONT_EAL].seconds),
                                0.5 * (ours[DUMONT_EBP] + ours[DUMONT_EAL])},
                               {"SAL", paper[DUMONT_SAL].seconds, ours[DUMONT_SAL]},
                               {"SBP", paper[DUMONT_SBP].seconds, ours[DUMONT_SBP]}};
    snprintf(text, sizeof text, "%s, cost", s->table);
    claim_order(c, text, "1", "seconds there, sweeps of all steps here", contenders, 3);
}

static void claim_errors(claim_list *c, const settling *s, const settled *all) {
    const dumont_curve *curves = all->curves;
    claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_MOST, s->smaller,
                curves[DUMONT_EBP].penetration / curves[DUMONT_SBP].penetration,
                "%s: largest penetration, EBP over SBP", s->table);
    claim_bound(c, CLAIM_PRINTED, "m/s", CLAIM_AT_MOST, s->invisible, curves[DUMONT_EAL].penetration,
                "%s, Fig. %d, EAL: largest penetration", s->table, s->first_figure + DUMONT_EAL);
    for (int m = 0; m < DUMONT_METHODS; m++) {
        bool enhanced = dumont_methods[m].enhanced;
        claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, dumont_collapsed,
                    dumont_least_share(&curves[m], enhanced ? DUMONT_MOTION : DUMONT_PENETRATING),
                    "Fig. %d, %s: share of %s in ε_glob, every sweep", s->first_figure + m,
                    dumont_methods[m].name, enhanced ? "motion" : "penetration");
    }
}

/* Discs enter each other by what one step flies, g t h at most; nothing brings energy in. */
static void claim_physics(claim_list *c, const settling *s, const settled *all) {
    for (int m = 0; m < RUNS; m++) {
        const case_history *h = &all->runs[m].history;
        const char *name = m == DEFAULT ? "default solver" : dumont_methods[m].name;
        c->method = m == DEFAULT ? METHOD_OURS : METHOD_PAPERS;
        claim_bound(c, CLAIM_DERIVED, "m", CLAIM_AT_MOST, gravity * s->steps * s->step * s->step,
                    most(s, h, CASE_PENETRATION), "%s: overlap of discs, at most g t h", name);
        claim_bound(c, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-12, energy_gain(h),
                    "%s: energy beyond that of the start, over it", name);
        if (s->steps * s->step >= 0.1)
            claim_bound(c, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-15, rest_share(h),
                        "%s: kinetic energy at the end, over all of the start", name);
    }
    c->method = METHOD_OURS;
    claim_equal(c, CLAIM_DERIVED, "1", 1, case_mean(&all->runs[DEFAULT].history, CASE_CERTIFIED, 0, 1), 0,
                "default solver: share of certified steps");
    c->method = METHOD_PAPERS;
}

/* ---- tables and figures -------------------------------------------------------------------------------- */

static bool write_table(experiment_run *run, const settling *s, const settled *all) {
    output_file out;
    if (!run_table_open(run, "table", &out)) return false;
    fputs("method,sweeps_of_all_steps,paper_sweeps,sweeps,paper_eps_glob,eps_glob,paper_penetration,"
          "penetration_m_s,paper_cpu_s,cpu_s\n",
          out.stream);
    for (int m = 0; m < RUNS; m++) {
        const case_history *h = &all->runs[m].history;
        static const printed nothing = {NAN, NAN, NAN, NAN};
        const printed *paper = m < DUMONT_METHODS ? &s->paper[m] : &nothing;
        const dumont_curve *curve = m < DUMONT_METHODS ? &all->curves[m] : NULL;
        fputs(m < DUMONT_METHODS ? dumont_methods[m].name : "default", out.stream);
        csv_real(out.stream, all_sweeps(s, h));
        csv_real(out.stream, paper->sweeps);
        csv_real(out.stream, dumont_last(h, CASE_ITERATIONS));
        csv_real(out.stream, paper->error);
        csv_real(out.stream, dumont_last(h, DUMONT_EPS));
        csv_real(out.stream, paper->penetration);
        csv_real(out.stream, curve ? curve->penetration : dumont_last(h, DUMONT_PENETRATION));
        csv_real(out.stream, paper->seconds);
        csv_real(out.stream, all_seconds(s, h));
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

static bool draw_sweeps(experiment_run *run, const settling *s, const settled *all) {
    figure_series series[DUMONT_METHODS];
    double *x = report_allocate((size_t)s->steps, sizeof *x);
    double *y = report_allocate((size_t)(DUMONT_METHODS * s->steps), sizeof *y);
    for (int l = 0; l < s->steps; l++) x[l] = (l + 1) * s->step;
    for (int m = 0; m < DUMONT_METHODS; m++) {
        double *sum = y + (size_t)m * (size_t)s->steps;
        const case_history *h = &all->runs[m].history;
        int count = h->steps < s->steps ? h->steps : s->steps;
        for (int l = 0; l < count; l++) sum[l] = (l ? sum[l - 1] : 0) + case_value(h, l, CASE_ITERATIONS);
        series[m] =
            (figure_series){dumont_methods[m].name, x, sum, (size_t)count, FIGURE_PLAIN, (unsigned)m + 1};
    }
    figure f = {.title = "Sweeps since the start",
                .x = {"time, s", FIGURE_LINEAR, 0, s->steps * s->step},
                .y = {"sweeps", FIGURE_LINEAR, 0, 0},
                .series = series,
                .series_count = DUMONT_METHODS};
    bool good = run_figure(run, &f, "sweeps");
    free(x);
    free(y);
    return good;
}

static bool store(experiment_run *run, const settling *s, const settled *all) {
    bool good = write_table(run, s, all) && draw_sweeps(run, s, all);
    for (int m = 0; good && m < DUMONT_METHODS; m++) {
        char title[64], name[EXPERIMENT_NAME];
        snprintf(title, sizeof title, "%s, step %d", dumont_methods[m].name, s->steps);
        snprintf(name, sizeof name, "figure_%02d_%s", s->first_figure + m, dumont_methods[m].law);
        good = dumont_curve_store(run, &all->curves[m], title, name);
    }
    return good;
}

/* ---- the experiments ----------------------------------------------------------------------------------- */

static bool simulate(experiment_run *run, const settling *s, int which, dumont_result *result) {
    dumont_setup setup = {.scene = s->scene,
                          .tolerance = s->tolerance,
                          .max_sweeps = s->max_sweeps,
                          .check_interval = s->check_interval,
                          .extra_count = s->size ? 1 : 0,
                          .extra = &s->size,
                          .most_seconds = 1200};
    if (which < DUMONT_METHODS) {
        setup.method = &dumont_methods[which];
        setup.rho_scale = 3 * setup.method->alpha; /* ρ̄ = 1/W_nn, λmax(W_cc) = 3 W_nn for discs */
        setup.kept_step = s->steps;
    }
    return dumont_simulate(run, &setup, which < DUMONT_METHODS ? dumont_methods[which].law : "default",
                           result);
}

/* A run that ended at its limit of time has no last step: its curve stays empty and its claims fail. */
static bool settle(experiment_run *run, const settling *s, settled *all) {
    bool good = true;
    for (int i = 0; good && i < RUNS; i++) good = simulate(run, s, i, &all->runs[i]);
    for (int m = 0; good && m < DUMONT_METHODS; m++)
        if (all->runs[m].kept)
            good = dumont_sweeps(all->runs[m].kept, &dumont_methods[m], dumont_methods[m].alpha, s->tolerance,
                                 s->max_sweeps, &all->curves[m]);
        else
            all->curves[m].penetration = nan("");
    return good;
}

static bool run_settling(experiment_run *run, const settling *s, bool reaches) {
    settled *all = report_allocate(1, sizeof *all);
    bool good = settle(run, s, all);
    if (good) {
        if (reaches)
            claim_sweeps(&run->claims, s, all);
        else
            claim_cap(&run->claims, s, all);
        claim_printed(&run->claims, s, all);
        claim_seconds(&run->claims, s, all, !reaches);
        claim_work(&run->claims, s, all);
        claim_errors(&run->claims, s, all);
        claim_physics(&run->claims, s, all);
    }
    if (good && *run->folder) good = store(run, s, all);
    for (int i = 0; i < RUNS; i++) dumont_result_free(&all->runs[i]);
    for (int m = 0; m < DUMONT_METHODS; m++) dumont_curve_free(&all->curves[m]);
    free(all);
    return good;
}

static bool run_four(experiment_run *run) {
    static const settling four = {.scene = "003-4.2",
                                  .table = "Table II",
                                  .first_figure = 9,
                                  .steps = 1000,
                                  .max_sweeps = 5000,
                                  .check_interval = 1,
                                  .step = 1e-4,
                                  .tolerance = 1e-12,
                                  .smaller = 0.2,
                                  .invisible = 1e-16,
                                  .paper = {{305, 0.949e-12, 0.310e-11, 2.92},
                                            {301, 0.980e-12, 0.340e-11, 2.87},
                                            {161, 0.635e-12, 0.641e-12, 2.59},
                                            {158, 0.973e-12, 0.208e-19, 2.43}}};
    return run_settling(run, &four, true);
}

static bool run_many(experiment_run *run) {
    settling many = {.scene = "003-4.3",
                     .table = "Table III",
                     .first_figure = 14,
                     .steps = 1000,
                     .max_sweeps = 5000,
                     .check_interval = 10,
                     .step = 5e-5,
                     .tolerance = 1e-12,
                     .smaller = 0.286e-6 / 0.213e-5,
                     .invisible = 1e-14,
                     .paper = {{5000, 0.119e-6, 0.213e-5, 1092.95},
                               {5000, 0.135e-6, 0.533e-5, 973.31},
                               {5000, 0.156e-6, 0.286e-6, 854.31},
                               {5000, 0.101e-6, 0.390e-17, 916.65}}};
    if (run->size == SIZE_REDUCED) {
        many.size = "variables.n=100";
        many.max_sweeps = 1000;
    }
    return run_settling(run, &many, false);
}

const experiment experiment_four_balls = {
    .name = "003-4.2",
    .title = "four balls settle in a box (Table II)",
    .has_full = true,
    .run = run_four,
};

const experiment experiment_many_balls = {
    .name = "003-4.3",
    .title = "500 balls settle in a box (Table III)",
    .has_reduced = true,
    .has_full = true,
    .run = run_many,
};
