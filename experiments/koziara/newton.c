/* Paper 000, section 8.1, Table 2: iterations of the projected quasi-Newton method against sweeps of
 * Gauss–Seidel, both to g(R) < 1e-8. The paper averages over the steps of a rotating drum with 100 spheres;
 * here the steps are those of sphere packings at rest, from rest, so the run is a reduced one. */
#include "cli/support/csv.h"
#include "cli/support/interrupt.h"
#include "cli/support/report.h"
#include "experiments/reproduce.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdlib.h>

enum { SIZES = 3, SEEDS = 5, METHODS = 2 };

static const int sizes[SIZES] = {100, 300, 1000}; /* contacts asked for */
static const char *const methods[METHODS] = {"Newton", "Gauss–Seidel"};
static const double friction = 0.3, goal = 1e-8;

typedef struct cell {
    int contacts, iterations;
    int64_t products;
    bool reached;
    double merit;
} cell;

typedef struct counts {
    cell of[SIZES][SEEDS][METHODS];
} counts;

/* The row "sph. rigid" of the table: δ = ε = 1e-3, m = 5, and the globalisation that the paper has. */
static dls_status solve_newton(const dls_problem *p, double *r, dls_solve_info *info, dls_error *error) {
    dls_pqn_options o = dls_default_pqn_options();
    o.stop.measure = DLS_STOP_MERIT_G;
    o.stop.tolerance = goal;
    o.globalization = DLS_PQN_PAPER;
    o.delta = 1e-3;
    o.gmres_tolerance = 1e-3;
    o.gmres_iterations = 5;
    o.fallback = false;
    return dls_solve(p, dls_solver_find("pqn"), &o, r, NULL, NULL, info, error);
}

static dls_status solve_sweeps(const dls_problem *p, double *r, dls_solve_info *info, dls_error *error) {
    dls_nlgs_options o = dls_default_nlgs_options();
    o.stop.measure = DLS_STOP_MERIT_G;
    o.stop.tolerance = goal;
    o.stop.check_interval = 1;
    o.acceleration = DLS_PLAIN;
    o.order = DLS_ORDER_NATURAL;
    return dls_solve(p, dls_solver_find("nlgs"), &o, r, NULL, NULL, info, error);
}

static dls_status measure(int size, int seed, cell cells[METHODS], dls_error *error) {
    dls_generate_def def = dls_default_generate_def();
    def.kind = DLS_GENERATE_PACKING;
    def.size = size;
    def.mu = friction;
    def.seed = (uint64_t)seed + 1;
    dls_problem *p = NULL;
    dls_status status = dls_problem_generate(&def, &p, error);
    for (int m = 0; m < METHODS && !status; m++) {
        dls_solve_info info;
        double *r = report_allocate((size_t)dls_problem_row_count(p), sizeof *r);
        status = (m == 0 ? solve_newton : solve_sweeps)(p, r, &info, error);
        free(r);
        if (status) break;
        cells[m] =
            (cell){dls_problem_contact_count(p), info.iterations, info.products,
                   info.outcome == DLS_CONVERGED && info.measures.merit_g <= goal, info.measures.merit_g};
    }
    dls_problem_destroy(p);
    return status;
}

/* Mean over the packings of one size; no number where one of them was not solved. */
static double mean_iterations(const counts *c, int size, int method) {
    double sum = 0;
    for (int s = 0; s < SEEDS; s++) {
        const cell *one = &c->of[size][s][method];
        sum += one->reached ? one->iterations : nan("");
    }
    return sum / SEEDS;
}

static double mean_contacts(const counts *c, int size) {
    double sum = 0;
    for (int s = 0; s < SEEDS; s++) sum += c->of[size][s][0].contacts;
    return sum / SEEDS;
}

static void claim_counts(claim_list *list, const counts *c) {
    static const double paper[METHODS] = {48, 174};
    for (int n = 0; n < SIZES; n++) {
        contender contenders[METHODS];
        char text[64];
        for (int m = 0; m < METHODS; m++)
            contenders[m] = (contender){methods[m], paper[m], mean_iterations(c, n, m)};
        snprintf(text, sizeof text, "iterations per step, %.0f contacts", mean_contacts(c, n));
        claim_order(list, text, "1", "averages over the steps of a drum; they depend on the implementation",
                    contenders, METHODS);
    }
}

static bool write_table(experiment_run *run, const counts *c) {
    output_file out;
    if (!run_table_open(run, "iterations", &out)) return false;
    fputs("contacts,seed,method,iterations,products,reached,merit_g\n", out.stream);
    for (int n = 0; n < SIZES; n++)
        for (int s = 0; s < SEEDS; s++)
            for (int m = 0; m < METHODS; m++) {
                const cell *one = &c->of[n][s][m];
                fprintf(out.stream, "%d,%d,%s,%d,%lld,%d", one->contacts, s + 1, methods[m], one->iterations,
                        (long long)one->products, one->reached);
                csv_real(out.stream, one->merit);
                fputc('\n', out.stream);
            }
    return output_file_commit(&out);
}

static bool draw_counts(experiment_run *run, const counts *c) {
    double x[METHODS][SIZES * SEEDS], y[METHODS][SIZES * SEEDS];
    figure_series series[METHODS];
    for (int m = 0; m < METHODS; m++) {
        for (int i = 0; i < SIZES * SEEDS; i++) {
            const cell *one = &c->of[i / SEEDS][i % SEEDS][m];
            x[m][i] = one->contacts;
            y[m][i] = one->reached ? one->iterations : nan("");
        }
        series[m] = (figure_series){methods[m], x[m], y[m], SIZES * SEEDS, FIGURE_POINTS, (unsigned)m + 1};
    }
    figure f = {.title = "Iterations to g(R) < 10^{−8}, packings at rest",
                .x = {"contacts", FIGURE_LOG, 0, 0},
                .y = {"iterations or sweeps", FIGURE_LOG, 0, 0},
                .series = series,
                .series_count = METHODS};
    return run_figure(run, &f, "iterations");
}

static bool run_counts(experiment_run *run) {
    counts *c = report_allocate(1, sizeof *c);
    dls_error error;
    dls_status status = DLS_OK;
    for (int i = 0; i < SIZES * SEEDS && !status && !interrupt_seen(); i++)
        status = measure(sizes[i / SEEDS], i % SEEDS, c->of[i / SEEDS][i % SEEDS], &error);
    if (status) report_error("%s", error.message);
    bool good = !status && !interrupt_seen();
    if (good) claim_counts(&run->claims, c);
    if (good && *run->folder) good = write_table(run, c) && draw_counts(run, c);
    free(c);
    return good;
}

const experiment experiment_newton_iterations = {
    .name = "000-8.1",
    .title = "quasi-Newton iterations against Gauss–Seidel sweeps (Table 2), on packings at rest",
    .has_reduced = true,
    .run = run_counts,
};
