/* Paper 002, section 6.1: a ball is put on a conveyor belt. With k = m r²/I = 5/2 it slides for
 *
 *     t̄ = |v₁ − v₀| / (μ g (1 + k)),      v = v₀ + μ g t,   r ω = k μ g t
 *
 * and then rolls as it is. Steps divide t̄, so that the scheme has no error but rounding (Table 1). */
#include "cli/support/csv.h"
#include "experiments/abide/abide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double mu = 0.22, gravity = 9.80665, radius = 2.7e-3, belt_speed = 2, start_speed = 1, k = 2.5;

/* The scene's own division of t̄, and the finer ones of Table 1. */
enum { PARTS = 10000, STEP_LENGTHS = 5, REDUCED_LENGTHS = 2, ROW = 100 };

typedef struct table_row {
    int parts;
    const char *name;
    double x, omega, v; /* the paper's errors */
} table_row;

/* Table 1 from below; its second row prints 6.62e-6, which stands out of order and is 6.62e-7. */
static const table_row table1[STEP_LENGTHS] = {{10000, "1.32e-5", 5.18e-13, 2.03e-10, 3.83e-13},
                                               {50000, "2.65e-6", 1.73e-12, 1.41e-9, 3.52e-12},
                                               {100000, "1.32e-6", 1.59e-12, 1.44e-9, 3.88e-12},
                                               {200000, "6.62e-7", 2.21e-11, 4.70e-9, 1.27e-11},
                                               {1000000, "1.32e-7", 7.83e-11, 1.97e-8, 5.32e-11}};

/* Table 2. */
static const double sweeps_sliding[ABIDE_METHODS] = {2, 2, 20, 2},
                    sweeps_rolling[ABIDE_METHODS] = {3, 3, 20, 2},
                    paper_seconds[ABIDE_METHODS] = {0.664, 0.692, 1.584, 0.744};

/* ---- one ride -------------------------------------------------------------------------------------------
 */

enum { X, V, OMEGA, ERROR_X, ERROR_OMEGA, ERROR_V, FEWEST, MOST, SOLVER, OWN_COLUMNS };

static const char *const columns[OWN_COLUMNS] = {"x",       "v",      "omega", "error_x",    "error_omega",
                                                 "error_v", "fewest", "most",  "solver_time"};

static double rolling_from(void) { return (belt_speed - start_speed) / (mu * gravity * (1 + k)); }

static void closed_form(double t, double *x, double *v, double *omega) {
    double sliding = fmin(t, rolling_from()), a = mu * gravity;
    *v = start_speed + a * sliding;
    *x = start_speed * sliding + 0.5 * a * sliding * sliding + *v * (t - sliding);
    *omega = k * a * sliding / radius;
}

/* Errors and numbers of sweeps are the extremes of the row's steps. */
static void measure(const dls_simulation *simulation, const dls_step_report *report, double *values,
                    void *user) {
    const dls_world *world = dls_simulation_world(simulation);
    (void)user;
    dls_body_state ball;
    double x, v, omega;
    if (dls_body_state_get(world, dls_world_find_body(world, "ball"), &ball, NULL)) return;
    closed_form(report->t, &x, &v, &omega);
    values[X] = ball.x[0], values[V] = ball.v[0], values[OMEGA] = ball.w[2];
    values[ERROR_X] = fmax(values[ERROR_X], fabs(ball.x[0] - x));
    values[ERROR_OMEGA] = fmax(values[ERROR_OMEGA], fabs(ball.w[2] - omega));
    values[ERROR_V] = fmax(values[ERROR_V], fabs(ball.v[0] - v));
    values[FEWEST] = values[FEWEST] > 0 ? fmin(values[FEWEST], report->iterations) : report->iterations;
    values[MOST] = fmax(values[MOST], report->iterations);
    values[SOLVER] += report->seconds_solve;
}

/* ε = 1e-8 N, γ = 10 kg/s, ρ = m/Δt; e = 1. */
static const abide_parameters parameters = {.rho = "m/2",
                                            .gamma_n = "10/2*t_roll/parts",
                                            .gamma_t = "10/2*t_roll/parts",
                                            .increment = "1e-8*t_roll/parts"};

static bool ride(experiment_run *run, int method, int parts, case_history *h) {
    abide_settings settings = {0};
    char name[EXPERIMENT_NAME];
    abide_set(&settings, "variables.parts=%d", parts);
    abide_choose(&settings, method, &parameters);
    snprintf(name, sizeof name, "%s-%d", abide_key(method), parts);
    case_def def = {.name = name,
                    .scene = "002-6.1",
                    .setting_count = settings.count,
                    .settings = settings.list,
                    .steps_per_row = parts / (PARTS / ROW),
                    .column_count = OWN_COLUMNS,
                    .columns = columns,
                    .measure = measure};
    return case_run(run, &def, h);
}

static double largest(const case_history *h, int own) {
    return case_largest(h, CASE_COLUMNS + own, 0, (double)INFINITY);
}

/* ---- claims ---------------------------------------------------------------------------------------------
 */

/* Table 1 asks for errors; its motion itself has known ends. */
static void claim_motion(claim_list *c, const case_history *h, const char *name) {
    int last = h->steps - 1, slides = PARTS / ROW - 1;
    double t = case_value(h, last, CASE_T), x, v, omega;
    closed_form(t, &x, &v, &omega);
    claim_equal(c, CLAIM_DERIVED, "m", 0.151349345154, case_value(h, slides, CASE_COLUMNS + X), 1e-11,
                "Fig. 2a: x where rolling begins, %s", name);
    claim_equal(c, CLAIM_DERIVED, "m/s", 9.0 / 7, case_value(h, last, CASE_COLUMNS + V), 1e-11,
                "Fig. 2b: v of rolling, %s", name);
    claim_equal(c, CLAIM_DERIVED, "rad/s", 264.5502645503, case_value(h, last, CASE_COLUMNS + OMEGA), 1e-8,
                "Fig. 2c: ω of rolling, %s", name);
    claim_equal(c, CLAIM_DERIVED, "m", 1.266795617570,
                case_value(h, last, CASE_COLUMNS + X) + 9.0 / 7 * (1 - t), 1e-10, "Fig. 2a: x after 1 s, %s",
                name);
}

/* What n additions to a number of some size may lose to rounding, at worst. */
static double rounding(double n, double size) { return n * 0x1p-53 * size; }

/* The scheme has no error: what there is comes from rounding, and the paper's errors, too. */
static void claim_errors(claim_list *c, const case_history *h, const table_row *paper, const char *name) {
    double x, v, omega, slides = paper->parts, all = slides / rolling_from();
    closed_form(1, &x, &v, &omega);
    claim_equal(c, CLAIM_PRINTED, "m", paper->x, largest(h, ERROR_X), rounding(all, x),
                "Table 1, Δt = %s s: error of x, %s", paper->name, name);
    claim_equal(c, CLAIM_PRINTED, "rad/s", paper->omega, largest(h, ERROR_OMEGA), rounding(slides, omega),
                "Table 1, Δt = %s s: error of ω, %s", paper->name, name);
    claim_equal(c, CLAIM_PRINTED, "m/s", paper->v, largest(h, ERROR_V), rounding(slides, v),
                "Table 1, Δt = %s s: error of v, %s", paper->name, name);
}

/* Fewest and most sweeps of a step between two times must both be the paper's number. */
static void claim_extremes(claim_list *c, const case_history *h, double t0, double t1, double paper,
                           const char *text, const char *name) {
    double fewest = (double)INFINITY, most = case_largest(h, CASE_COLUMNS + MOST, t0, t1);
    for (int row = 0; row < h->steps; row++)
        if (case_value(h, row, CASE_T) > t0 && case_value(h, row, CASE_T) <= t1)
            fewest = fmin(fewest, case_value(h, row, CASE_COLUMNS + FEWEST));
    bool same = fewest == most;
    claim_equal(c, CLAIM_PRINTED, "1", paper, same ? most : (fabs(most - paper) > 0 ? most : fewest), 0,
                "Table 2: sweeps of every step that %s, %s", text, name);
}

/* The rows in which sliding ends are left out: there u_t is zero to rounding. */
static void claim_sweeps(claim_list *c, const case_history *h, int method) {
    double t = rolling_from(), row = t * ROW / PARTS;
    claim_extremes(c, h, 0, t - 0.5 * row, sweeps_sliding[method], "slides", abide_name(method));
    claim_extremes(c, h, t + 1.5 * row, (double)INFINITY, sweeps_rolling[method], "rolls",
                   abide_name(method));
}

static void claim_all(claim_list *c, const case_history rides[ABIDE_ALL], const case_history *fine,
                      int fine_count) {
    static const int orders[] = {ABIDE_EPDAS, ABIDE_IPDAS, ABIDE_IBP};
    claim_motion(c, &rides[ABIDE_IPDAS], "IPDAS");
    c->method = METHOD_OURS;
    claim_motion(c, &rides[ABIDE_OURS], "auto");
    c->method = METHOD_PAPERS;
    claim_errors(c, &rides[ABIDE_IPDAS], &table1[0], "IPDAS");
    for (int i = 0; i < fine_count; i++) claim_errors(c, &fine[i], &table1[i + 1], "IPDAS");
    c->method = METHOD_OURS;
    claim_errors(c, &rides[ABIDE_OURS], &table1[0], "auto");
    c->method = METHOD_PAPERS;
    for (int m = 0; m < ABIDE_METHODS; m++) claim_sweeps(c, &rides[m], m);
    for (int i = 0; i < 3; i++) {
        int m = orders[i];
        char text[64];
        contender two[] = {{abide_name(m), paper_seconds[m], abide_undisturbed(&rides[m], SOLVER)},
                           {"SAL", paper_seconds[ABIDE_SAL], abide_undisturbed(&rides[ABIDE_SAL], SOLVER)}};
        snprintf(text, sizeof text, "Table 2: time of the solver, %s and SAL", abide_name(m));
        claim_order(c, text, "s", "seconds of another machine and program", two, 2);
    }
}

/* ---- tables and figures ---------------------------------------------------------------------------------
 */

static void write_row(FILE *file, const case_history *h, const char *method, int parts) {
    double t = rolling_from(), row = t * ROW / PARTS;
    fprintf(file, "%s", method);
    csv_real(file, t / parts);
    for (int own = ERROR_X; own <= ERROR_V; own++) csv_real(file, largest(h, own));
    csv_real(file, case_largest(h, CASE_COLUMNS + MOST, 0, t - 0.5 * row));
    csv_real(file, case_largest(h, CASE_COLUMNS + MOST, t + 1.5 * row, (double)INFINITY));
    csv_real(file, abide_undisturbed(h, SOLVER));
    fputc('\n', file);
}

static bool write_table(experiment_run *run, const case_history *rides, const case_history *fine,
                        int fine_count) {
    output_file out;
    if (!run_table_open(run, "tables_1_2", &out)) return false;
    fputs("method,step_s,error_x_m,error_omega_rad_s,error_v_m_s,sweeps_sliding,sweeps_rolling,"
          "solver_time_s\n",
          out.stream);
    for (int m = 0; m < ABIDE_ALL; m++) write_row(out.stream, &rides[m], abide_name(m), PARTS);
    for (int i = 0; i < fine_count; i++) write_row(out.stream, &fine[i], "IPDAS", table1[i + 1].parts);
    return output_file_commit(&out);
}

/* Numbers as rings, few enough to be told apart, on the closed form. */
static bool draw_one(experiment_run *run, const case_history *h, int own, const char *label,
                     const char *name) {
    enum { LINE = 201, RINGS = 21 };
    double t[LINE], exact[LINE], at[RINGS], ours[RINGS];
    for (int i = 0; i < LINE; i++) {
        double values[3];
        t[i] = i / (LINE - 1.0);
        closed_form(t[i], &values[X], &values[V], &values[OMEGA]);
        exact[i] = values[own];
    }
    for (int i = 0; i < RINGS; i++) {
        int row = i * (h->steps - 1) / (RINGS - 1);
        at[i] = case_value(h, row, CASE_T);
        ours[i] = case_value(h, row, CASE_COLUMNS + own);
    }
    figure_series series[] = {{"closed form", t, exact, LINE, FIGURE_PLAIN, 1},
                              {"IPDAS", at, ours, RINGS, FIGURE_RINGS, 2}};
    figure f = {.x = {"time in s", FIGURE_LINEAR, 0, 1},
                .y = {label, FIGURE_LINEAR, 0, 0},
                .series = series,
                .series_count = 2};
    return run_figure(run, &f, name);
}

static bool draw(experiment_run *run, const case_history *h) {
    return draw_one(run, h, X, "position in m", "figure_02a") &&
           draw_one(run, h, V, "velocity in m s^{−1}", "figure_02b") &&
           draw_one(run, h, OMEGA, "angular velocity in rad s^{−1}", "figure_02c");
}

/* ---- the experiment -------------------------------------------------------------------------------------
 */

static bool run_conveyor(experiment_run *run) {
    case_history rides[ABIDE_ALL] = {{0}}, fine[STEP_LENGTHS - 1] = {{0}};
    int fine_count = (run->size == SIZE_FULL ? STEP_LENGTHS : REDUCED_LENGTHS) - 1;
    bool good = true;
    for (int m = 0; m < ABIDE_ALL && good; m++) good = ride(run, m, PARTS, &rides[m]);
    for (int i = 0; i < fine_count && good; i++) good = ride(run, ABIDE_IPDAS, table1[i + 1].parts, &fine[i]);
    if (good) claim_all(&run->claims, rides, fine, fine_count);
    if (good && *run->folder)
        good = write_table(run, rides, fine, fine_count) && draw(run, &rides[ABIDE_IPDAS]);
    for (int m = 0; m < ABIDE_ALL; m++) case_history_free(&rides[m]);
    for (int i = 0; i < fine_count; i++) case_history_free(&fine[i]);
    return good;
}

const experiment experiment_conveyor = {
    .name = "002-6.1",
    .title = "a ball on a conveyor belt slides and rolls (Tables 1, 2)",
    .has_reduced = true,
    .has_full = true,
    .run = run_conveyor,
};
