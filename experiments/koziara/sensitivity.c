/* Paper 000, sections 8.1.1 to 8.1.3: how the projected quasi-Newton method answers to δ, ε, m and the
 * density of grains, on the drum with ellipsoids, rigid and pseudo-rigid. As the paper prints it, ρ = 1 kg:
 * C, δ and W count in the units of the scene. The paper's grids are in its figures alone; those here are
 * ours:
 *
 *     (a) m = 1000, δ × ε      (b) ε = 1e-3, δ × m      (c) pairs (ε, m) × δ
 */
#include "cli/support/csv.h"
#include "cli/support/interrupt.h"
#include "cli/support/report.h"
#include "experiments/koziara/steps.h"
#include "experiments/reproduce.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 2, CUTS = 3, DELTAS = 3, OTHERS = 3, LIMIT = 1000, GRAINS = 100, MOST = 256 };

static const char *const kinds[KINDS] = {"ell. rigid", "ell. defo"};
static const char *const shifts[] = {"absolute", "min", "avg", "max"};
static const double deltas[DELTAS] = {1e-4, 1e-3, 1e-2};

/* ε and m of a cut's columns. */
static const struct {
    double epsilon;
    int m;
} cuts[CUTS][OTHERS] = {
    {{1e-3, 1000}, {0.1, 1000}, {0.25, 1000}},
    {{1e-3, 3}, {1e-3, 5}, {1e-3, 10}},
    {{0.25, 5}, {0.25, 10}, {0.1, 20}},
};

typedef struct sample {
    int kind, cut; /* cut −1: none of them */
    dls_pqn_shift shift;
    double rho, delta, epsilon, density;
    int m;
    step_counts counts;
} sample;

typedef struct study {
    sample *items;
    int count;
    double until;
    dls_status status;
    dls_error error;
} study;

/* ---- runs ---- */

static const step_counts *add(study *s, sample of) {
    dls_world *world;
    drum_def drum = {.soft = of.kind == 1, .count = GRAINS, .density = of.density};
    dls_pqn_options o = paper_newton(LIMIT);
    step_plan plan = {.h = drum_step, .until = s->until, .limit = LIMIT, .method = NEWTON, .newton = &o};
    o.rho = of.rho, o.delta = of.delta, o.shift = of.shift;
    o.gmres_tolerance = of.epsilon, o.gmres_iterations = of.m;
    sample *item = &s->items[s->count];
    *item = of;
    if (s->status || interrupt_seen() || s->count == MOST - 1) return &item->counts;
    s->status = drum_create(&drum, &world, &s->error);
    if (!s->status) s->status = count_steps(world, &plan, &item->counts, &s->error);
    s->count++;
    return &item->counts;
}

static void add_cuts(study *s, dls_pqn_shift shift) {
    for (int kind = 0; kind < KINDS; kind++)
        for (int cut = 0; cut < CUTS; cut++)
            for (int k = 0; k < OTHERS * DELTAS; k++)
                add(s, (sample){.kind = kind,
                                .cut = cut,
                                .shift = shift,
                                .rho = 1,
                                .delta = deltas[k % DELTAS],
                                .epsilon = cuts[cut][k / DELTAS].epsilon,
                                .density = 100,
                                .m = cuts[cut][k / DELTAS].m});
}

/* ---- sums over samples ---- */

/* What a sum goes over; −1 and 0: all. */
typedef struct choice {
    int kind, cut, shift, m;
    double delta, epsilon;
} choice;

typedef struct total {
    double iterations, diverged, robust, runs, steps, counted;
} total;

static total sum_of(const study *s, choice c) {
    total t = {0};
    for (int k = 0; k < s->count; k++) {
        const sample *i = &s->items[k];
        if ((c.kind >= 0 && i->kind != c.kind) || (c.cut >= 0 && i->cut != c.cut) ||
            (c.shift >= 0 && (int)i->shift != c.shift) || (c.m && i->m != c.m) ||
            (c.delta > 0 && i->delta != c.delta) || (c.epsilon > 0 && i->epsilon != c.epsilon))
            continue;
        t.iterations += (double)i->counts.iterations;
        t.counted += i->counts.counted;
        t.diverged += i->counts.diverged;
        t.robust += i->counts.diverged == 0;
        t.steps += i->counts.steps;
        t.runs++;
    }
    return t;
}

static double mean_of(const study *s, choice c) {
    total t = sum_of(s, c);
    return t.counted > 0 ? t.iterations / t.counted : nan("");
}

/* ---- 8.1.1 ---- */

/* In (a) the more inexact, the better; at δ = 0.001 nothing diverges. */
static void claim_a(claim_list *list, const study *s, int kind) {
    choice exact = {kind, 0, 0, 0, 0, 1e-3}, loose = exact, strip = {kind, 0, 0, 0, 1e-3, 0};
    loose.epsilon = 0.25;
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 1, mean_of(s, exact) / mean_of(s, loose),
                "Fig. %d (a), %s: iterations per step at ε = 0.001 over those at 0.25", 2 + kind,
                kinds[kind]);
    if (kind == 1) {
        claim_equal(list, CLAIM_PRINTED, "1", 0, sum_of(s, strip).diverged, 0,
                    "Fig. 3 (a), %s, δ = 0.001: diverged steps", kinds[kind]);
        return;
    }
    for (int k = 1; k < OTHERS; k++) {
        strip.epsilon = cuts[0][k].epsilon;
        claim_equal(list, CLAIM_PRINTED, "1", 0, sum_of(s, strip).diverged, 0,
                    "Fig. 2 (a), %s, δ = 0.001, ε = %g: diverged steps", kinds[kind], strip.epsilon);
    }
}

static void claim_b(claim_list *list, const study *s, int kind) {
    choice few = {kind, 1, 0, 3, 0, 0}, many = few, strip = {kind, 1, 0, 0, 1e-3, 0};
    many.m = 10;
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 1, mean_of(s, few) / mean_of(s, many),
                "Fig. %d (b), %s: iterations per step at m = 3 over those at 10", 2 + kind, kinds[kind]);
    for (int k = 0; k < 2; k++) {
        strip.m = cuts[1][k].m;
        claim_equal(list, CLAIM_PRINTED, "1", 0, sum_of(s, strip).diverged, 0,
                    "Fig. %d (b), %s, δ = 0.001, m = %d: diverged steps", 2 + kind, kinds[kind], strip.m);
    }
}

static void claim_c(claim_list *list, const study *s, int kind) {
    choice strip = {kind, 2, 0, 0, 1e-3, 0};
    total t = sum_of(s, strip);
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, 0.01, t.diverged / t.steps,
                "Fig. %d (c), %s, δ = 0.001, nearly free of divergence: share of steps", 2 + kind,
                kinds[kind]);
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, kind ? 1 : 10, mean_of(s, strip),
                "8.1.1, %s: iterations per step, at least", kinds[kind]);
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, kind ? 10 : 100, mean_of(s, strip),
                "8.1.1, %s: iterations per step, at most", kinds[kind]);
}

static void state_absolute(claim_list *list, const study *s) {
    for (int kind = 0; kind < KINDS; kind++) {
        claim_a(list, s, kind);
        claim_b(list, s, kind);
        claim_c(list, s, kind);
        for (int k = 0; k < DELTAS; k += 2) {
            choice best = {kind, -1, 0, 0, 1e-3, 0}, other = best;
            other.delta = deltas[k];
            claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 1,
                        sum_of(s, other).iterations / sum_of(s, best).iterations,
                        "8.1.1, %s: all iterations at δ = %g over those at 0.001", kinds[kind], deltas[k]);
        }
    }
}

/* ---- 8.1.2 ---- */

/* "Fully robust runs are significantly more common" with δ relative to W. */
static void state_relative(claim_list *list, const study *s) {
    for (int kind = 0; kind < KINDS; kind++) {
        total absolute = sum_of(s, (choice){.kind = kind, .cut = -1});
        for (int shift = DLS_SHIFT_MIN; shift <= DLS_SHIFT_MAX; shift++) {
            total of = sum_of(s, (choice){.kind = kind, .cut = -1, .shift = shift});
            claim_bound(
                list, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, absolute.robust, of.robust,
                "8.1.2, %s: runs without divergence of %g, δ relative to %s W_ii, as many as absolute",
                kinds[kind], of.runs, shifts[shift]);
        }
    }
}

/* ---- tables, figures ---- */

static bool write_samples(experiment_run *run, const study *s) {
    output_file out;
    if (!run_table_open(run, "samples", &out)) return false;
    fputs("kind,cut,delta relative to,rho,delta,epsilon,m,density,iterations,iterations per step,diverged "
          "steps,steps,seconds,solver share\n",
          out.stream);
    for (int k = 0; k < s->count; k++) {
        const sample *i = &s->items[k];
        fprintf(out.stream, "%s,%s,%s", kinds[i->kind],
                i->cut < 0 ? "-" : (const char *[]){"a", "b", "c"}[i->cut], shifts[i->shift]);
        csv_real(out.stream, i->rho);
        csv_real(out.stream, i->delta);
        csv_real(out.stream, i->epsilon);
        fprintf(out.stream, ",%d", i->m);
        csv_real(out.stream, i->density);
        fprintf(out.stream, ",%lld", (long long)i->counts.iterations);
        csv_real(out.stream, counts_per_step(&i->counts));
        fprintf(out.stream, ",%d,%d", i->counts.diverged, i->counts.steps);
        csv_real(out.stream, i->counts.seconds);
        csv_real(out.stream, counts_ratio(&i->counts));
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

/* ---- heat maps ---- */

enum { QUANTITIES = 4, COLUMNS = CUTS * OTHERS, SHIFTS = 4 };
static const struct {
    const char *file, *title;
} quantities[QUANTITIES] = {{"iterations", "Iterations per step"},
                            {"diverged", "Diverged steps"},
                            {"seconds", "Processor time, s"},
                            {"share", "Solver's share of the time"}};

static double quantity(const sample *of, int which) {
    switch (which) {
    case 0:
        return counts_per_step(&of->counts);
    case 1:
        return of->counts.diverged;
    case 2:
        return of->counts.seconds;
    default:
        return counts_ratio(&of->counts);
    }
}

/* Its row in a map of its kind, −1: another kind; from 1, as the column is. */
static int place_of(const sample *of, int kind, bool relative, int *column) {
    int delta = 0;
    if (of->kind != kind || of->cut < 0 || relative != (of->shift != DLS_SHIFT_ABSOLUTE)) return -1;
    while (delta < DELTAS - 1 && deltas[delta] != of->delta) delta++;
    *column = 1 + OTHERS * of->cut;
    while (cuts[of->cut][(*column - 1) % OTHERS].epsilon != of->epsilon ||
           cuts[of->cut][(*column - 1) % OTHERS].m != of->m)
        ++*column;
    return 1 + delta + (relative ? DELTAS * ((int)of->shift - 1) : 0);
}

/* A quantity of each run over its ε and m and its δ; colours go with the logarithm, where there is one. */
static bool draw_map(experiment_run *run, const study *s, int kind, bool relative, int which) {
    static double x[MOST], y[MOST], height[MOST];
    static char text[MOST][24];
    figure_series series[MOST];
    char title[128], file[48];
    double low = INFINITY, high = -INFINITY;
    size_t count = 0;
    for (int k = 0; k < s->count; k++) {
        int column = 0, row = place_of(&s->items[k], kind, relative, &column);
        if (row < 0) continue;
        double value = quantity(&s->items[k], which);
        x[count] = column, y[count] = row, height[count] = log(fmax(value, 0) + (which == 1));
        if (isfinite(height[count])) low = fmin(low, height[count]), high = fmax(high, height[count]);
        snprintf(text[count++], sizeof text[0], "%.3g", value);
    }
    for (size_t k = 0; k < count; k++)
        series[k] = (figure_series){
            text[k],
            &x[k],
            &y[k],
            1,
            FIGURE_CELLS,
            isfinite(height[k]) && high > low ? (unsigned)(1 + 99 * (height[k] - low) / (high - low)) : 1};
    snprintf(title, sizeof title, "%s, %s%s", quantities[which].title, kinds[kind],
             relative ? ", δ relative to W_{ii}" : "");
    snprintf(file, sizeof file, "%s-%s%s", quantities[which].file, kind ? "defo" : "rigid",
             relative ? "-relative" : "");
    figure f = {.title = title,
                .x = {"(ε, m): 1–3: m = 1000, ε = 0.001, 0.1, 0.25; 4–6: ε = 0.001, m = 3, 5, 10; "
                      "7–9: (0.25, 5), (0.25, 10), (0.1, 20)",
                      FIGURE_LINEAR, 0.5, COLUMNS + 0.5},
                .y = {relative ? "δ: 1–3 of min, 4–6 of avg, 7–9 of max" : "δ: 1: 1e-4, 2: 1e-3, 3: 1e-2",
                      FIGURE_LINEAR, 0.5, (relative ? DELTAS * (SHIFTS - 1) : DELTAS) + 0.5},
                .series = series,
                .series_count = count,
                .width_inches = FIGURE_PAGE_WIDTH,
                .height_inches = relative ? 3.4 : 1.9};
    return count == 0 || run_figure(run, &f, file);
}

static bool draw_maps(experiment_run *run, const study *s) {
    bool good = true;
    for (int k = 0; k < 2 * KINDS * QUANTITIES && good; k++)
        good = draw_map(run, s, k / QUANTITIES % KINDS, k >= KINDS * QUANTITIES, k % QUANTITIES);
    return good;
}

static bool finish(experiment_run *run, study *s, void (*state)(claim_list *, const study *), bool has_cuts) {
    if (s->status) report_error("%s", s->error.message);
    bool good = !s->status && !interrupt_seen();
    if (good) state(&run->claims, s);
    if (good && *run->folder) good = write_samples(run, s);
    if (good && *run->folder && has_cuts) good = draw_maps(run, s);
    free(s->items);
    return good;
}

/* The paper's runs take 10 s; reduced ones end soon after the drum begins to turn. */
static study begin(const experiment_run *run) {
    return (study){.items = report_allocate(MOST, sizeof(sample)),
                   .until = run->size == SIZE_FULL ? 10 : 0.8};
}

static bool run_absolute(experiment_run *run) {
    study s = begin(run);
    add_cuts(&s, DLS_SHIFT_ABSOLUTE);
    return finish(run, &s, state_absolute, true);
}

static bool run_relative(experiment_run *run) {
    study s = begin(run);
    for (int shift = DLS_SHIFT_ABSOLUTE; shift <= DLS_SHIFT_MAX; shift++) add_cuts(&s, (dls_pqn_shift)shift);
    return finish(run, &s, state_relative, true);
}

/* ---- 8.1.3 ---- */

enum { DENSITIES = 4, RELATIVE = 4 };
static const double densities[DENSITIES] = {10, 100, 1000, 1e4}, relative[RELATIVE] = {0, 0.01, 0.1, 0.5};

/* Largest over least mean of iterations, of runs with this δ over all densities. */
static double spread_of(const study *s, int kind, double rho, double delta) {
    double least = INFINITY, most = 0;
    for (int k = 0; k < s->count; k++) {
        const sample *i = &s->items[k];
        if (i->kind != kind || i->rho != rho || i->delta != delta) continue;
        least = fmin(least, counts_per_step(&i->counts)), most = fmax(most, counts_per_step(&i->counts));
    }
    return most / least;
}

/* The section is empty. W goes with 1/density for rigid bodies: with ρ = 1/mean W_ii nothing else changes. */
static void state_density(claim_list *list, const study *s) {
    list->method = METHOD_OURS;
    claim_bound(list, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1.02, spread_of(s, 0, 0, 1e-3),
                "ρ = 1/avg W_ii, rigid: iterations per step, most over least of four densities");
    claim_bound(list, CLAIM_DERIVED, "1", CLAIM_AT_LEAST, spread_of(s, 0, 0, 1e-3), spread_of(s, 0, 1, 0.1),
                "the same with ρ = 1 kg and δ = 0.1 avg W_ii: at least as much");
    list->method = METHOD_PAPERS;
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < RELATIVE; k++) {
            double diverged = 0;
            for (int i = 0; i < s->count; i++)
                if (s->items[i].kind == kind && s->items[i].rho == 1 && s->items[i].delta == relative[k])
                    diverged += s->items[i].counts.diverged;
            if (relative[k] > 0)
                claim_equal(list, CLAIM_DERIVED, "1", 0, diverged, 0,
                            "8.1.3, %s, δ = %g avg W_ii: diverged steps, all densities", kinds[kind],
                            relative[k]);
        }
}

static bool draw_density(experiment_run *run, const study *s) {
    double y[KINDS * RELATIVE][DENSITIES];
    char names[KINDS * RELATIVE][48];
    figure_series series[KINDS * RELATIVE];
    for (int k = 0; k < KINDS * RELATIVE; k++) {
        for (int d = 0; d < DENSITIES; d++) y[k][d] = counts_per_step(&s->items[k * DENSITIES + d].counts);
        snprintf(names[k], sizeof names[k], "%s, δ = %g", kinds[k / RELATIVE], relative[k % RELATIVE]);
        series[k] = (figure_series){names[k], densities, y[k], DENSITIES, FIGURE_LINE, (unsigned)k + 1};
    }
    figure f = {.title = "Iterations per step over density, δ relative to avg W_ii",
                .x = {"density, kg/m³", FIGURE_LOG, 0, 0},
                .y = {"iterations per step that converged", FIGURE_LOG, 0, 0},
                .series = series,
                .series_count = KINDS * RELATIVE};
    return run_figure(run, &f, "density");
}

static bool run_density(experiment_run *run) {
    study s = begin(run);
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < RELATIVE * DENSITIES; k++)
            add(&s, (sample){.kind = kind,
                             .cut = -1,
                             .shift = DLS_SHIFT_AVERAGE,
                             .rho = 1,
                             .delta = relative[k / DENSITIES],
                             .epsilon = kind ? 0.025 : 0.25,
                             .density = densities[k % DENSITIES],
                             .m = kind ? 10 : 20});
    for (int k = 0; k < DENSITIES; k++)
        add(&s, (sample){.cut = -1, .delta = 1e-3, .epsilon = 0.25, .density = densities[k], .m = 20});
    if (!s.status && !interrupt_seen() && *run->folder && !draw_density(run, &s)) {
        free(s.items);
        return false;
    }
    return finish(run, &s, state_density, false);
}

const experiment experiment_newton_delta = {
    .name = "000-8.1.1",
    .title = "quasi-Newton iterations over δ, ε and m, rotating drum (Figures 2 to 5)",
    .has_reduced = true,
    .has_full = true,
    .run = run_absolute,
};

const experiment experiment_newton_relative = {
    .name = "000-8.1.2",
    .title = "the same with δ relative to the least, mean and largest W_ii (Figures 6 to 11)",
    .has_reduced = true,
    .has_full = true,
    .run = run_relative,
};

const experiment experiment_newton_density = {
    .name = "000-8.1.3",
    .title = "quasi-Newton iterations over the grains' density and relative δ",
    .has_reduced = true,
    .has_full = true,
    .run = run_density,
};
