/* Paper 000, section 8.1, Table 2: N grains in a rotating drum, {ellipsoids, spheres} × {rigid,
 * pseudo-rigid}, the projected quasi-Newton method against plain Gauss–Seidel, both to g(R) < 1e-8; Table 1's
 * defaults, accelerated sweeps and `auto` beside them. The drum is that of drum_world.c. */
#include "cli/support/csv.h"
#include "cli/support/interrupt.h"
#include "cli/support/report.h"
#include "experiments/koziara/steps.h"
#include "experiments/reproduce.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { VARIANTS = 4, LIMIT = 1000, GRAINS = 100 };

typedef struct variant {
    const char *name;
    bool spheres, soft;
    double newton[4], sweeps[4]; /* the paper's runtime, ratio, iterations, diverged steps */
} variant;

static const variant variants[VARIANTS] = {
    {"ell. rigid", false, false, {623, 0.83, 19, 0}, {477, 0.84, 108, 36}},
    {"ell. defo", false, true, {375, 0.59, 4, 0}, {416, 0.45, 13, 0}},
    {"sph. rigid", true, false, {639, 0.97, 48, 2}, {439, 0.96, 174, 198}},
    {"sph. defo", true, true, {138, 0.85, 6, 0}, {55, 0.62, 17, 0}},
};

typedef struct table {
    step_counts of[VARIANTS][NEWTON_METHODS];
} table;

static void claim_variant(claim_list *list, const variant *v, const step_counts *of) {
    char text[96];
    contender iterations[2] = {{newton_method_names[NEWTON], v->newton[2], counts_per_step(&of[NEWTON])},
                               {newton_method_names[SWEEPS], v->sweeps[2], counts_per_step(&of[SWEEPS])}};
    contender seconds[2] = {{newton_method_names[NEWTON], v->newton[0], of[NEWTON].seconds},
                            {newton_method_names[SWEEPS], v->sweeps[0], of[SWEEPS].seconds}};
    snprintf(text, sizeof text, "Table 2, %s: iterations per step", v->name);
    claim_order(list, text, "1", "they depend on which contacts enter and on the start", iterations, 2);
    snprintf(text, sizeof text, "Table 2, %s: runtime", v->name);
    claim_order(list, text, "s", "seconds of another machine and program", seconds, 2);
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, v->newton[3], of[NEWTON].diverged,
                "Table 2, %s: diverged steps, Newton", v->name);
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, v->sweeps[3], of[SWEEPS].diverged,
                "Table 2, %s: diverged steps, Gauss–Seidel", v->name);
}

/* What section 8.1.1 says in words. */
static void claim_words(claim_list *list, const table *t) {
    for (int v = 0; v < VARIANTS; v++) claim_variant(list, &variants[v], t->of[v]);
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 10, counts_per_step(&t->of[0][NEWTON]),
                "8.1.1: rigid ellipsoids take 10 to 100 iterations per step: at least");
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, 100, counts_per_step(&t->of[0][NEWTON]),
                "8.1.1: rigid ellipsoids take 10 to 100 iterations per step: at most");
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, 10, counts_per_step(&t->of[1][NEWTON]),
                "8.1.1: deformable ellipsoids take 1 to 10 iterations per step: at most");
}

static bool write_table(experiment_run *run, const table *t) {
    output_file out;
    if (!run_table_open(run, "table-2", &out)) return false;
    fputs("variant,method,seconds,solver share,iterations per step,diverged steps,steps,converged "
          "steps,contacts per step\n",
          out.stream);
    for (int v = 0; v < VARIANTS; v++)
        for (int m = 0; m < NEWTON_METHODS; m++) {
            const step_counts *c = &t->of[v][m];
            fprintf(out.stream, "%s,\"%s\"", variants[v].name, newton_method_names[m]);
            csv_real(out.stream, c->seconds);
            csv_real(out.stream, counts_ratio(c));
            csv_real(out.stream, counts_per_step(c));
            fprintf(out.stream, ",%d,%d,%d", c->diverged, c->steps, c->certified);
            csv_real(out.stream, c->contacts / c->steps);
            fputc('\n', out.stream);
        }
    return output_file_commit(&out);
}

static bool draw_table(experiment_run *run, const table *t) {
    double x[NEWTON_METHODS][VARIANTS], y[NEWTON_METHODS][VARIANTS];
    figure_series series[NEWTON_METHODS];
    for (int m = 0; m < NEWTON_METHODS; m++) {
        for (int v = 0; v < VARIANTS; v++) x[m][v] = v + 1, y[m][v] = counts_per_step(&t->of[v][m]);
        series[m] =
            (figure_series){newton_method_names[m], x[m], y[m], VARIANTS, FIGURE_POINTS, (unsigned)m + 1};
    }
    figure f = {.title = "Iterations per step to g(R) < 10^{−8}, rotating drum",
                .x = {"1: ell. rigid, 2: ell. defo, 3: sph. rigid, 4: sph. defo", FIGURE_LINEAR, 0.5, 4.5},
                .y = {"iterations or sweeps", FIGURE_LOG, 0, 0},
                .series = series,
                .series_count = NEWTON_METHODS};
    return run_figure(run, &f, "table-2");
}

static dls_status measure(const variant *v, newton_method m, double until, step_counts *c, dls_error *error) {
    dls_world *world;
    drum_def drum = {.spheres = v->spheres, .soft = v->soft, .count = GRAINS, .density = 100};
    step_plan plan = {.h = drum_step, .until = until, .limit = LIMIT, .method = m};
    dls_status status = drum_create(&drum, &world, error);
    return status ? status : count_steps(world, &plan, c, error);
}

/* N = 100 for 10 s is the paper's; the reduced run ends soon after the drum begins to turn. */
static bool run_drum(experiment_run *run) {
    table *t = report_allocate(1, sizeof *t);
    dls_error error;
    dls_status status = DLS_OK;
    double until = run->size == SIZE_FULL ? 10 : 1;
    for (int v = 0; v < VARIANTS; v++)
        for (int m = 0; m < NEWTON_METHODS && !status && !interrupt_seen(); m++)
            status = measure(&variants[v], (newton_method)m, until, &t->of[v][m], &error);
    if (status) report_error("%s", error.message);
    bool good = !status && !interrupt_seen();
    if (good) claim_words(&run->claims, t);
    if (good && *run->folder) good = write_table(run, t) && draw_table(run, t);
    free(t);
    return good;
}

const experiment experiment_newton_drum = {
    .name = "000-8.1-drum",
    .title =
        "100 grains in a rotating drum, rigid and pseudo-rigid, quasi-Newton against Gauss–Seidel (Table 2)",
    .has_reduced = true,
    .has_full = true,
    .run = run_drum,
};
