/* Paper 002, section 6.2: a ball thrown into a drum that stands still slides, then swings as it rolls. With
 * a = R − r, θ from the bottom and rolling r ω = −a θ̇ the energy per mass is
 *
 *     E/m = 7/10 (a θ̇)² + g a (1 − cos θ)
 *
 * and 1/2 instead of 7/10 at the start, where it does not turn. */
#include "cli/support/csv.h"
#include "experiments/abide/abide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double gravity = 9.80665, radius = 2.7e-3, arm = 0.05 - 2.7e-3, step = 2.5e-5;

enum { ROW = 40 }; /* steps in a row of a history */

/* Table 3: sweeps of a step, from and to, and seconds. */
static const double sweeps_low[ABIDE_METHODS] = {3, 3, 30, 2}, sweeps_high[ABIDE_METHODS] = {3, 3, 40, 2},
                    paper_seconds[ABIDE_METHODS] = {1.396, 1.356, 5.224, 1.844};

/* ---- one swing ------------------------------------------------------------------------------------------
 */

/* Extremes are of the row's steps; what did not happen in the row is 0. */
enum {
    ANGLE,
    OMEGA,
    WIDEST,
    FASTEST,
    LEAST_ENERGY,
    MOST_ENERGY,
    CROSSED, /* when θ grew through 0 */
    TRANSITION_T,
    TRANSITION_ANGLE,
    TRANSITION_OMEGA,
    FEWEST,
    MOST,
    SOLVER,
    OWN_COLUMNS
};

static const char *const columns[OWN_COLUMNS] = {"angle",
                                                 "omega",
                                                 "widest",
                                                 "fastest",
                                                 "least_energy_per_mass",
                                                 "most_energy_per_mass",
                                                 "crossed",
                                                 "transition_t",
                                                 "transition_angle",
                                                 "transition_omega",
                                                 "fewest",
                                                 "most",
                                                 "solver_time"};

typedef struct instant {
    double angle, omega, slip;
} instant;

/* What the last two steps left. */
typedef struct swing {
    instant last[2];
    bool rolls;
} swing;

/* Slip and spin are nearly linear in time while it slides: both are drawn out to where the slip is zero. It
 * is positive until then; what comes after, and its sign, is up to e_τ. */
static void note_transition(swing *s, double t, const instant *now, double *values) {
    static const double none = 1e-6; /* sliding takes 2e-4 m/s off in a step */
    if (s->rolls || now->slip > none) return;
    const instant *a = &s->last[1], *b = &s->last[0];
    double steps = b->slip / (a->slip - b->slip);
    s->rolls = true;
    values[TRANSITION_T] = t - step + steps * step;
    values[TRANSITION_ANGLE] = b->angle + steps * (b->angle - a->angle);
    values[TRANSITION_OMEGA] = b->omega + steps * (b->omega - a->omega);
}

static void note_extremes(const instant *now, double energy, int sweeps, double *values) {
    bool first = values[FEWEST] == 0;
    values[ANGLE] = now->angle, values[OMEGA] = now->omega;
    values[WIDEST] = fmax(values[WIDEST], fabs(now->angle));
    values[FASTEST] = fmax(values[FASTEST], fabs(now->omega));
    values[LEAST_ENERGY] = first ? energy : fmin(values[LEAST_ENERGY], energy);
    values[MOST_ENERGY] = fmax(values[MOST_ENERGY], energy);
    values[FEWEST] = first ? sweeps : fmin(values[FEWEST], sweeps);
    values[MOST] = fmax(values[MOST], sweeps);
}

static void measure(const dls_simulation *simulation, const dls_step_report *report, double *values,
                    void *user) {
    const dls_world *world = dls_simulation_world(simulation);
    swing *s = user;
    dls_body_state ball;
    if (dls_body_state_get(world, dls_world_find_body(world, "ball"), &ball, NULL)) return;
    double angle = atan2(ball.x[0], -ball.x[1]), along = ball.v[0] * cos(angle) + ball.v[1] * sin(angle);
    instant now = {angle, ball.w[2], along + radius * ball.w[2]};
    double speed2 = ball.v[0] * ball.v[0] + ball.v[1] * ball.v[1], turn = radius * ball.w[2];
    double energy = 0.5 * speed2 + 0.2 * turn * turn + gravity * (ball.x[1] + arm);
    note_extremes(&now, energy, report->iterations, values);
    note_transition(s, report->t, &now, values);
    double before = s->last[0].angle;
    if (s->rolls && before < 0 && angle >= 0) values[CROSSED] = report->t - step * angle / (angle - before);
    s->last[1] = s->last[0];
    s->last[0] = now;
    values[SOLVER] += report->seconds_solve;
}

/* ε = 1e-8 N, γ = 10 kg/s, ρ = m/Δt; e = 1, Δt = 2.5e-5 s. */
static const abide_parameters parameters = {
    .rho = "m/2", .gamma_n = "10/2*2.5e-5", .gamma_t = "10/2*2.5e-5", .increment = "1e-8*2.5e-5"};

static bool throw_ball(experiment_run *run, int method, case_history *h) {
    abide_settings settings = {0};
    swing s = {.rolls = false};
    abide_choose(&settings, method, &parameters);
    case_def def = {.name = abide_key(method),
                    .scene = "002-6.2",
                    .setting_count = settings.count,
                    .settings = settings.list,
                    .steps_per_row = ROW,
                    .column_count = OWN_COLUMNS,
                    .columns = columns,
                    .measure = measure,
                    .user = &s};
    return case_run(run, &def, h);
}

/* ---- what a history tells -------------------------------------------------------------------------------
 */

static const double rolls_from = 0.05, forever = (double)INFINITY;

static double largest(const case_history *h, int own, double t0) {
    return case_largest(h, CASE_COLUMNS + own, t0, forever);
}

static double smallest(const case_history *h, int own, double t0) {
    double least = forever;
    for (int row = 0; row < h->steps; row++)
        if (case_value(h, row, CASE_T) > t0) least = fmin(least, case_value(h, row, CASE_COLUMNS + own));
    return least;
}

/* Mean time between the first and the last passage through the bottom in the same direction. */
static double period(const case_history *h) {
    double first = 0, last = 0;
    int count = 0;
    for (int row = 0; row < h->steps; row++) {
        double t = case_value(h, row, CASE_COLUMNS + CROSSED);
        if (!(t > 0)) continue;
        if (count++ == 0) first = t;
        last = t;
    }
    return count > 1 ? (last - first) / (count - 1) : nan("");
}

static int transition_row(const case_history *h) {
    int row = 0;
    while (row < h->steps - 1 && !(case_value(h, row, CASE_COLUMNS + TRANSITION_T) > 0)) row++;
    return row;
}

/* ---- claims ---------------------------------------------------------------------------------------------
 */

/* dθ/dt and dω/dt where rolling begins, rad/s and rad/s², rounded up: what happens within a step is known to
 * a step. */
static const double swing_rate = 7.2, spin_rate = 3100;

/* With e_τ = 1 in every step (the paper's methods) a rolling ball keeps a slip, of what one step of sliding
 * changes at most. */
static double spin_tolerance(int method) { return method == ABIDE_OURS ? 1e-3 : spin_rate * step; }

static void claim_motion(claim_list *c, const case_history *h, int method) {
    const char *name = abide_name(method);
    int row = transition_row(h);
    claim_equal(c, CLAIM_PRINTED, "rad/s", -110, case_value(h, row, CASE_COLUMNS + TRANSITION_OMEGA), 5,
                "ω where rolling begins, %s", name);
    claim_equal(c, CLAIM_DERIVED, "rad/s", -111.56299146, case_value(h, row, CASE_COLUMNS + TRANSITION_OMEGA),
                spin_rate * step, "the same in closed form, %s", name);
    claim_equal(c, CLAIM_DERIVED, "s", 0.0415361669, case_value(h, row, CASE_COLUMNS + TRANSITION_T), step,
                "time where rolling begins, %s", name);
    claim_equal(c, CLAIM_DERIVED, "rad", 0.3595911856, case_value(h, row, CASE_COLUMNS + TRANSITION_ANGLE),
                swing_rate * step, "θ where rolling begins, %s", name);
    claim_equal(c, CLAIM_DERIVED, "rad/s", 135.12991432, largest(h, FASTEST, rolls_from),
                spin_tolerance(method), "Fig. 4a: largest |ω| of rolling, %s", name);
    claim_equal(c, CLAIM_DERIVED, "rad", 0.6449740812, largest(h, WIDEST, rolls_from), 1e-5,
                "largest θ of rolling, %s", name);
    claim_equal(c, CLAIM_DERIVED, "s", 0.5300670858, period(h), 1e-6, "period, %s", name);
    claim_equal(c, CLAIM_DERIVED, "m²/s²", 0.125, case_value(h, 0, CASE_COLUMNS + MOST_ENERGY), 1e-3,
                "Fig. 4b: energy per mass after %d steps, %s", ROW, name);
    claim_equal(c, CLAIM_DERIVED, "m²/s²", 0.0931812584, largest(h, MOST_ENERGY, rolls_from), 1e-6,
                "Fig. 4b: most energy per mass of rolling, %s", name);
    claim_equal(c, CLAIM_DERIVED, "m²/s²", 0.0931812584, smallest(h, LEAST_ENERGY, rolls_from), 1e-6,
                "Fig. 4b: least energy per mass of rolling, %s", name);
}

/* The largest |ω| of the second half of the run against that of the first: it does not decrease. */
static void claim_steady(claim_list *c, const case_history *h, int method) {
    double early = case_largest(h, CASE_COLUMNS + FASTEST, rolls_from, 2.5), late = largest(h, FASTEST, 2.5);
    claim_equal(c, CLAIM_PRINTED, "rad/s", 0, early - late, spin_tolerance(method),
                "Fig. 4a: largest |ω| before 2.5 s less that after, %s", abide_name(method));
}

/* Numbers of the table hold to half a sweep on average; single steps where little friction is needed take
 * fewer. */
static void claim_sweeps(claim_list *c, const case_history *h, int method) {
    const char *name = abide_name(method);
    double mean = case_mean(h, CASE_ITERATIONS, rolls_from, forever) / ROW;
    double low = sweeps_low[method], high = sweeps_high[method];
    if (low == high) {
        claim_equal(c, CLAIM_PRINTED, "1", low, mean, 0.5, "Table 3: sweeps of a rolling step, mean, %s",
                    name);
        return;
    }
    claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, low, mean,
                "Table 3: sweeps of a rolling step, mean, %s", name);
    claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_MOST, high, mean,
                "Table 3: sweeps of a rolling step, mean, %s", name);
}

static void claim_all(claim_list *c, const case_history swings[ABIDE_ALL]) {
    static const int cheap[] = {ABIDE_EPDAS, ABIDE_IPDAS, ABIDE_IBP};
    for (int m = 0; m < ABIDE_ALL; m++) {
        if (m != ABIDE_IPDAS && m != ABIDE_OURS) continue;
        c->method = m == ABIDE_OURS ? METHOD_OURS : METHOD_PAPERS;
        claim_motion(c, &swings[m], m);
        claim_steady(c, &swings[m], m);
        c->method = METHOD_PAPERS;
    }
    for (int m = 0; m < ABIDE_METHODS; m++) claim_sweeps(c, &swings[m], m);
    for (int i = 0; i < 3; i++) {
        int m = cheap[i];
        char text[64];
        contender two[] = {{abide_name(m), paper_seconds[m], abide_undisturbed(&swings[m], SOLVER)},
                           {"SAL", paper_seconds[ABIDE_SAL], abide_undisturbed(&swings[ABIDE_SAL], SOLVER)}};
        snprintf(text, sizeof text, "Table 3: time of the solver, %s and SAL", abide_name(m));
        claim_order(c, text, "s", "seconds of another machine and program", two, 2);
    }
}

/* ---- table and figures ----------------------------------------------------------------------------------
 */

static bool write_table(experiment_run *run, const case_history *swings) {
    output_file out;
    if (!run_table_open(run, "table_3", &out)) return false;
    fputs("method,mean_sweeps,fewest_sweeps_rolling,most_sweeps_rolling,period_s,largest_omega_rad_s,"
          "least_energy_per_mass,most_energy_per_mass,solver_time_s\n",
          out.stream);
    for (int m = 0; m < ABIDE_ALL; m++) {
        const case_history *h = &swings[m];
        fprintf(out.stream, "%s", abide_name(m));
        csv_real(out.stream, case_mean(h, CASE_ITERATIONS, 0, forever) / ROW);
        csv_real(out.stream, smallest(h, FEWEST, rolls_from));
        csv_real(out.stream, largest(h, MOST, rolls_from));
        csv_real(out.stream, period(h));
        csv_real(out.stream, largest(h, FASTEST, rolls_from));
        csv_real(out.stream, smallest(h, LEAST_ENERGY, rolls_from));
        csv_real(out.stream, largest(h, MOST_ENERGY, rolls_from));
        csv_real(out.stream, abide_undisturbed(h, SOLVER));
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

static bool draw(experiment_run *run, const case_history *h) {
    double *t = NULL, *omega = NULL, *again = NULL, *energy = NULL;
    abide_curve(h, CASE_COLUMNS + OMEGA, false, &t, &omega);
    abide_curve(h, CASE_COLUMNS + LEAST_ENERGY, false, &again, &energy);
    figure_series spin = {NULL, t, omega, (size_t)h->steps, FIGURE_PLAIN, 1},
                  plateau = {NULL, again, energy, (size_t)h->steps, FIGURE_PLAIN, 1};
    figure_mark start = {"rolling begins", false, 0.0415361669};
    figure a = {.x = {"time in s", FIGURE_LINEAR, 0, 5},
                .y = {"angular velocity in rad s^{−1}", FIGURE_LINEAR, 0, 0},
                .series = &spin,
                .series_count = 1},
           b = {.x = {"time in s", FIGURE_LINEAR, 0, 0.5},
                .y = {"energy per mass in m^{2} s^{−2}", FIGURE_LINEAR, 0.09, 0.13},
                .series = &plateau,
                .series_count = 1,
                .marks = &start,
                .mark_count = 1};
    bool good = run_figure(run, &a, "figure_04a") && run_figure(run, &b, "figure_04b");
    free(t), free(omega), free(again), free(energy);
    return good;
}

/* ---- the experiment -------------------------------------------------------------------------------------
 */

static bool run_pendulum(experiment_run *run) {
    case_history swings[ABIDE_ALL] = {{0}};
    bool good = true;
    for (int m = 0; m < ABIDE_ALL && good; m++) good = throw_ball(run, m, &swings[m]);
    if (good) claim_all(&run->claims, swings);
    if (good && *run->folder) good = write_table(run, swings) && draw(run, &swings[ABIDE_IPDAS]);
    for (int m = 0; m < ABIDE_ALL; m++) case_history_free(&swings[m]);
    return good;
}

const experiment experiment_fixed_drum = {
    .name = "002-6.2",
    .title = "a ball in a fixed drum slides and swings (Table 3, Fig. 4)",
    .has_full = true,
    .run = run_pendulum,
};
