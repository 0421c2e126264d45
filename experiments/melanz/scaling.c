/* Paper 001, section 3.4: how the error of complementarity (8) and the iterations grow with the number of
 * collisions when 10 to 16,000 spheres fall into a container (Fig. 11). */
#include "experiments/melanz/filling.h"

#include "cli/support/csv.h"

#include <math.h>
#include <stdio.h>

static const double several_orders = 1e2, similar = 2;

/* Few spheres are ruled by chance. */
enum { SEEDS = 5, MOST_BY_SEEDS = 100 /* spheres */ };

typedef struct scaling {
    filling_runs runs[SCALING_SIZES]; /* of the first seed */
    int seeds[SCALING_SIZES];
    double more[SCALING_SIZES][EXPERIMENT_MOST_SEEDS]; /* log₁₀ of iterations, anti-relaxed over relaxed */
    int sizes;                                         /* that were asked for */
    int finished[FILLING_METHODS]; /* sizes that a method came to the end of, smallest first */
} scaling;

/* ---- what the runs say --------------------------------------------------------------------------------- */

typedef double (*history_value)(const case_history *h);

static double collisions(const case_history *h) { return case_mean(h, CASE_ACTIVE, 0, filling_end(h)); }
static double iterations(const case_history *h) { return case_mean(h, CASE_ITERATIONS, 0, filling_end(h)); }
static double seconds(const case_history *h) { return case_mean(h, CASE_SECONDS, 0, filling_end(h)); }
static double largest_error(const case_history *h) {
    return case_largest(h, FILLING_COMPLEMENTARITY, 0, filling_end(h));
}

static double ratio(const scaling *s, int size, filling_method over, filling_method under,
                    history_value value) {
    return value(&s->runs[size].history[over]) / value(&s->runs[size].history[under]);
}

/* Of value ~ collisions^exponent: least squares over the logarithms. */
static double exponent(const scaling *s, filling_method method, history_value value) {
    double x = 0, y = 0, xx = 0, xy = 0;
    const int n = s->finished[method];
    for (int i = 0; i < n; i++) {
        const case_history *h = &s->runs[i].history[method];
        const double u = log(collisions(h)), v = log(value(h));
        x += u, y += v, xx += u * u, xy += u * v;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

static int both(const scaling *s, filling_method method) {
    return s->finished[FILLING_RELAXED] < s->finished[method] ? s->finished[FILLING_RELAXED]
                                                              : s->finished[method];
}

/* ---- claims -------------------------------------------------------------------------------------------- */

static void claim_errors(claim_list *c, const scaling *s) {
    for (filling_method m = FILLING_ANTI_RELAXED; m < FILLING_METHODS; m++) {
        c->method = m == FILLING_DEFAULT ? METHOD_OURS : METHOD_PAPERS;
        for (int i = 0; i < both(s, m); i++)
            claim_bound(c, m == FILLING_DEFAULT ? CLAIM_DERIVED : CLAIM_PRINTED, "1", CLAIM_AT_LEAST,
                        several_orders, ratio(s, i, FILLING_RELAXED, m, largest_error),
                        "Fig. 11a, %d spheres: largest error of (8), relaxed over %s",
                        filling_count(s->runs[i].size), filling_names[m]);
        c->method = METHOD_PAPERS;
    }
    for (filling_method m = 0; m < FILLING_DEFAULT; m++)
        claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 0, exponent(s, m, largest_error),
                    "Fig. 11a, %s: the error grows with collisions, exponent", filling_names[m]);
}

/* The counts themselves depend on the implementation; who needs more, and where, does not. */
static void claim_iterations(claim_list *c, const scaling *s) {
    const int n = both(s, FILLING_ANTI_RELAXED);
    for (int i = 0; i < n; i++) {
        const int spheres = filling_count(s->runs[i].size);
        const dls_interval more = dls_interval_of(s->seeds[i], s->more[i]);
        if (spheres < MOST_BY_SEEDS)
            claim_seeds(c, CLAIM_PRINTED, "1", CLAIM_EQUAL, 0, log10(similar), &more,
                        "Fig. 11b, %d spheres: iterations are similar, log₁₀ of their ratio", spheres);
        else
            claim_seeds(c, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 0, 0, &more,
                        "Fig. 11b, %d spheres: log₁₀ of iterations, anti-relaxed over relaxed", spheres);
    }
    if (n > 1)
        claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 0,
                    exponent(s, FILLING_ANTI_RELAXED, iterations) - exponent(s, FILLING_RELAXED, iterations),
                    "Fig. 11b: iterations, exponent of anti-relaxed less that of relaxed");
}

static void claim_certified(claim_list *c, const scaling *s) {
    c->method = METHOD_OURS;
    for (int i = 0; i < s->finished[FILLING_DEFAULT]; i++) {
        const case_history *h = &s->runs[i].history[FILLING_DEFAULT];
        claim_equal(c, CLAIM_DERIVED, "1", 1, case_mean(h, CASE_CERTIFIED, 0, filling_end(h)), 0,
                    "%d spheres, default: share of steps that reach the tolerance",
                    filling_count(s->runs[i].size));
    }
    c->method = METHOD_PAPERS;
}

/* ---- files --------------------------------------------------------------------------------------------- */

static bool draw(experiment_run *run, const scaling *s, history_value value, const char *title,
                 const char *label, const char *name) {
    double x[FILLING_METHODS][SCALING_SIZES], y[FILLING_METHODS][SCALING_SIZES];
    figure_series series[FILLING_METHODS];
    for (filling_method m = 0; m < FILLING_METHODS; m++) {
        for (int i = 0; i < s->finished[m]; i++) {
            x[m][i] = collisions(&s->runs[i].history[m]);
            y[m][i] = value(&s->runs[i].history[m]);
        }
        series[m] = (figure_series){filling_names[m],       x[m],        y[m],
                                    (size_t)s->finished[m], FIGURE_LINE, (unsigned)m + 1};
    }
    const figure f = {.title = title,
                      .x = {"collisions, mean over the steps", FIGURE_LOG, 0, 0},
                      .y = {label, FIGURE_LOG, 0, 0},
                      .series = series,
                      .series_count = FILLING_METHODS};
    return run_figure(run, &f, name);
}

static bool write_growth(experiment_run *run, const scaling *s) {
    output_file out;
    if (!run_table_open(run, "growth", &out)) return false;
    fputs("method,sizes,largest_complementarity,iterations,seconds_per_step\n", out.stream);
    for (filling_method m = 0; m < FILLING_METHODS; m++) {
        fprintf(out.stream, "%s,%d", filling_names[m], s->finished[m]);
        csv_real(out.stream, exponent(s, m, largest_error));
        csv_real(out.stream, exponent(s, m, iterations));
        csv_real(out.stream, exponent(s, m, seconds));
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

static bool write_files(experiment_run *run, const scaling *s) {
    return filling_table(run, s->runs, s->sizes) && write_growth(run, s) &&
           draw(run, s, largest_error, "Fig. 11a: largest error of complementarity (8)",
                "largest |γ_{n}(Φ/h + u_{n})|, J", "figure_11a") &&
           draw(run, s, iterations, "Fig. 11b: mean iterations", "iterations per step", "figure_11b") &&
           draw(run, s, seconds, "Time", "time per step, s", "seconds");
}

/* ---- the experiment ------------------------------------------------------------------------------------ */

static double more_iterations(const filling_runs *runs) {
    return log10(iterations(&runs->history[FILLING_ANTI_RELAXED]) /
                 iterations(&runs->history[FILLING_RELAXED]));
}

/* Both of the paper's methods with one seed more. */
static bool run_seed(experiment_run *run, scaling *s, int i) {
    int k = s->seeds[i];
    filling_runs other = filling_begin("001-3.4", s->runs[i].size, false, k + 1);
    bool good = filling_run(run, &other, FILLING_RELAXED) && filling_run(run, &other, FILLING_ANTI_RELAXED);
    if (good) {
        s->more[i][k] = more_iterations(&other);
        s->seeds[i]++;
    }
    filling_free(&other);
    return good;
}

static bool run_seeds(experiment_run *run, scaling *s) {
    int seeds = run->seeds ? run->seeds : SEEDS, n = both(s, FILLING_ANTI_RELAXED);
    for (int i = 0; i < n; i++) {
        s->more[i][0] = more_iterations(&s->runs[i]);
        s->seeds[i] = 1;
        bool few = filling_count(s->runs[i].size) <= MOST_BY_SEEDS;
        while (few && s->seeds[i] < seeds)
            if (!run_seed(run, s, i)) return false;
    }
    return true;
}

static bool run_methods(experiment_run *run, const filling_size *sizes, scaling *s) {
    bool gave_up[FILLING_METHODS] = {false};
    for (int i = 0; i < s->sizes; i++) {
        s->runs[i] = filling_begin("001-3.4", sizes[i], false, 1);
        for (filling_method m = 0; m < FILLING_METHODS; m++) {
            if (gave_up[m]) continue;
            if (!filling_run(run, &s->runs[i], m)) return false;
            const case_history *last = &s->runs[i].history[m];
            s->finished[m] += last->finished;
            gave_up[m] =
                !case_affords_next(i ? &s->runs[i - 1].history[m] : NULL, last, filling_limit(run, m));
        }
    }
    return true;
}

bool scaling_run(experiment_run *run, const filling_size *sizes, int count) {
    scaling s = {.sizes = count};
    bool good = run_methods(run, sizes, &s) && run_seeds(run, &s);
    if (good) {
        claim_errors(&run->claims, &s);
        claim_iterations(&run->claims, &s);
        claim_certified(&run->claims, &s);
    }
    if (good && *run->folder) good = write_files(run, &s);
    for (int i = 0; i < s.sizes; i++) filling_free(&s.runs[i]);
    return good;
}

/* Some as deep as wide, the large ones twenty deep. */
static bool run_scaling(experiment_run *run) {
    static const filling_size sizes[] = {{2, 1, 5},    {2, 2, 5},    {5, 2, 5},    {5, 4, 5},
                                         {5, 5, 8},    {10, 5, 10},  {10, 10, 10}, {10, 10, 20},
                                         {20, 10, 20}, {20, 20, 20}, {40, 20, 20}};
    enum { SIZES = sizeof sizes / sizeof *sizes, REDUCED_SIZES = 4 };
    return scaling_run(run, sizes, run->size == SIZE_REDUCED ? REDUCED_SIZES : SIZES);
}

const experiment experiment_scaling = {
    .name = "001-3.4",
    .title = "10 to 16,000 spheres fall into a container: growth of error and iterations",
    .has_reduced = true,
    .has_full = true,
    .run = run_scaling,
};
