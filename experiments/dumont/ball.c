/* Paper 003, section 4.1: a ball on a table slides, then rolls (Table I, Figs. 5 to 7).
 *
 * Closed form with k = I/(m r²): it slides until t̄ = v₀/(μ g (1 + 1/k)), v = v₀ − μ g t, ω = −μ g t/(k r),
 * and rolls from then on with v₀/(1 + k). */
#include "cli/support/csv.h"
#include "cli/support/report.h"
#include "experiments/dumont/dumont.h"

#include <math.h>
#include <stdlib.h>

static const double radius = 5e-3, mass = 40.84070449666731, friction = 0.7, gravity = 9.81, v_start = 1.5,
                    h = 1e-4, t_end = 0.2;
static const double disc = 0.5, ball = 0.4;
static const double tolerance = 1e-10; /* of ε_glob */

/* Five runs with the disc: the four methods and the default solver. Then the ball, with the default solver.
 */
enum { DEFAULT = DUMONT_METHODS, BALL_DEFAULT, RUNS };
enum { STEPS = 2000, CURVE_STEP = 5, MOST_SWEEPS = 5000 };

static const char *const run_names[RUNS] = {"disc-sbp", "disc-sal",     "disc-ebp",
                                            "disc-eal", "disc-default", "ball-default"};

/* ---- closed form --------------------------------------------------------------------------------------- */

static double rolling_time(double k) { return v_start / (friction * gravity * (1 + 1 / k)); }

static double closed_v(double k, double t) { return v_start - friction * gravity * fmin(t, rolling_time(k)); }

static double closed_omega(double k, double t) {
    return -friction * gravity * fmin(t, rolling_time(k)) / (k * radius);
}

static double closed_x(double k, double t) {
    double slides = fmin(t, rolling_time(k));
    return v_start * slides - 0.5 * friction * gravity * slides * slides + closed_v(k, t) * (t - slides);
}

/* ---- what a run says ----------------------------------------------------------------------------------- */

/* The first step whose friction is less than μ r_n. */
static int rolling_step(const case_history *history) {
    for (int l = 0; l < history->steps; l++)
        if (fabs(case_value(history, l, DUMONT_RT)) <
            (1 - 1e-6) * friction * case_value(history, l, DUMONT_RN))
            return l + 1;
    return -1;
}

/* Largest |v − closed form| and |ω − closed form| r over the steps. */
static double deviation(const case_history *history, double k) {
    double worst = 0;
    for (int l = 0; l < history->steps; l++) {
        double t = (l + 1) * h;
        worst = fmax(worst, fabs(case_value(history, l, DUMONT_V) - closed_v(k, t)));
        worst = fmax(worst, radius * fabs(case_value(history, l, DUMONT_OMEGA) - closed_omega(k, t)));
    }
    return worst;
}

/* ---- claims -------------------------------------------------------------------------------------------- */

/* Numbers of the motion. x may differ by the kink inside one step, μ g h²/8. Where ε_glob stops the sweeps,
 * its part μ r_n|u_t| lets a slip of ε/(μ m g h) stand; Newton's bare method ends at |Z| ≤ 1e-5 (|r| + ρ|b|),
 * which is 2e-5 g h of velocity. */
static void claim_motion(claim_list *c, const case_history *history, double k, bool to_rounding, bool bare,
                         const char *name) {
    double v = v_start / (1 + k), kink = friction * gravity * h * h / 8;
    double slip = to_rounding ? 1e-12 : tolerance / (friction * mass * gravity * h);
    if (bare) slip = 2e-5 * gravity * h;
    claim_equal(c, CLAIM_DERIVED, "1", ceil(rolling_time(k) / h), rolling_step(history), 0,
                "%s: first step that rolls", name);
    claim_equal(c, CLAIM_DERIVED, "m/s", v, dumont_last(history, DUMONT_V), 1e-9, "%s: v at 0.2 s", name);
    claim_equal(c, CLAIM_DERIVED, "rad/s", -v / radius, dumont_last(history, DUMONT_OMEGA), 1e-9 / radius,
                "%s: ω at 0.2 s", name);
    claim_equal(c, CLAIM_DERIVED, "m", closed_x(k, t_end), dumont_last(history, DUMONT_X), kink,
                "%s: x at 0.2 s", name);
    claim_equal(c, CLAIM_DERIVED, "m/s", 0, deviation(history, k), slip,
                "%s: v and ω r against the closed form, all steps", name);
}

static void claim_table(claim_list *c, const dumont_result *runs) {
    static const double sweeps[DUMONT_METHODS] = {18, 18, 1, 1};
    static const double seconds[DUMONT_METHODS] = {9.44, 9.28, 8.83, 8.78};
    for (int m = 0; m < DUMONT_METHODS; m++)
        claim_equal(c, CLAIM_PRINTED, "1", sweeps[m], dumont_last(&runs[m].history, CASE_ITERATIONS), 0,
                    "Table I, %s: sweeps in the last step", dumont_methods[m].name);
    /* to one sweep, which multiplies u_n by 1 − 0.6; zero and 1.75e-14 are rounding */
    for (int m = 0; m < DUMONT_EBP; m++)
        claim_decades(c, CLAIM_PRINTED, "SI", 0.384e-10, dumont_last(&runs[m].history, DUMONT_EPS),
                      -log10(0.4), "Table I, %s: ε_glob in the last step", dumont_methods[m].name);
    for (int m = DUMONT_EBP; m < DUMONT_METHODS; m++)
        claim_bound(c, CLAIM_PRINTED, "SI", CLAIM_AT_MOST, 0.175e-13,
                    dumont_last(&runs[m].history, DUMONT_EPS), "Table I, %s: ε_glob in the last step",
                    dumont_methods[m].name);
    claim_equal(c, CLAIM_PRINTED, "1", 1, case_largest(&runs[DUMONT_EAL].history, CASE_ITERATIONS, 0, t_end),
                0, "EAL: sweeps, most in a step");
    contender kinds[2] = {{"enhanced", 0, 0}, {"standard", 0, 0}};
    for (int m = 0; m < DUMONT_METHODS; m++) {
        contender *kind = &kinds[dumont_methods[m].enhanced ? 0 : 1];
        kind->paper += 0.5 * seconds[m];
        kind->ours += 0.5 * case_sum(&runs[m].history, DUMONT_CPU, 0, t_end);
    }
    claim_order(c, "Table I, processor time, mean of two methods", "s", "another machine", kinds, 2);
}

/* Where the ball sticks a sweep multiplies u_t by 1 − 0.6 W_tt/W_nn: −0.8 for a disc, −1.1 for a ball. */
static void claim_choice(claim_list *c, const bool converged[2]) {
    claim_equal(c, CLAIM_DERIVED, "1", 1, converged[0], 0,
                "disc, SAL at 0.6 ρ̄: converges in the step that begins to roll");
    claim_equal(c, CLAIM_DERIVED, "1", 0, converged[1], 0, "ball, SAL at 0.6 ρ̄: the same");
}

static void claim_curves(claim_list *c, const dumont_curve *curves) {
    for (int m = DUMONT_SBP; m <= DUMONT_SAL; m++)
        claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, dumont_collapsed,
                    dumont_least_share(&curves[m], DUMONT_PENETRATING),
                    "Fig. %d, %s: share of penetration in ε_glob, every sweep", 5 + m,
                    dumont_methods[m].name);
    claim_bound(c, CLAIM_PRINTED, "m/s", CLAIM_AT_MOST, 1e-14,
                dumont_largest(&curves[DUMONT_EBP], DUMONT_PENETRATING), "Fig. 7, EBP: penetration");
    for (int m = 0; m < DUMONT_METHODS; m++)
        claim_bound(c, CLAIM_PRINTED, "N s", CLAIM_AT_MOST, tolerance,
                    dumont_largest(&curves[m], DUMONT_CONE), "%s: error of the projection is very small",
                    dumont_methods[m].name);
}

/* ---- figures and tables -------------------------------------------------------------------------------- */

static bool draw_motion(experiment_run *run, const dumont_result *runs) {
    enum { EVERY = 50, POINTS = STEPS / EVERY };
    static const char *const names[] = {"disc", "ball"};
    static const double inertia[] = {0.5, 0.4};
    const case_history *histories[] = {&runs[DEFAULT].history, &runs[BALL_DEFAULT].history};
    double t[STEPS + 1], closed[2][STEPS + 1], s[POINTS], ours[2][POINTS];
    figure_series series[4];
    for (int l = 0; l <= STEPS; l++) t[l] = l * h;
    for (unsigned i = 0; i < 2; i++) {
        for (int l = 0; l <= STEPS; l++) closed[i][l] = closed_v(inertia[i], t[l]);
        for (int l = 0; l < POINTS; l++) {
            s[l] = case_value(histories[i], (l + 1) * EVERY - 1, CASE_T);
            ours[i][l] = case_value(histories[i], (l + 1) * EVERY - 1, DUMONT_V);
        }
        series[i] = (figure_series){i ? NULL : "closed form", t, closed[i], STEPS + 1, FIGURE_PLAIN,
                                    FIGURE_LOOK_BLACK};
        series[2 + i] = (figure_series){names[i], s, ours[i], POINTS, FIGURE_POINTS, i + 1};
    }
    figure f = {.title = "A ball slides, then rolls",
                .x = {"time, s", FIGURE_LINEAR, 0, t_end},
                .y = {"velocity, m/s", FIGURE_LINEAR, 0.9, 1.6},
                .series = series,
                .series_count = 4};
    return run_figure(run, &f, "motion");
}

static bool store(experiment_run *run, const dumont_result *runs, const dumont_curve *curves) {
    static const char *const titles[] = {"SBP, fifth step", "SAL, fifth step", "EBP, fifth step"};
    static const char *const names[] = {"figure_05_sbp", "figure_06_sal", "figure_07_ebp"};
    bool good = draw_motion(run, runs);
    for (int m = 0; good && m < DUMONT_EAL; m++)
        good = dumont_curve_store(run, &curves[m], titles[m], names[m]);
    return good;
}

/* ---- the experiment ------------------------------------------------------------------------------------ */

static bool simulate(experiment_run *run, int which, dumont_result *result) {
    static const char *const as_ball[] = {"variables.k=0.4"};
    double k = which == BALL_DEFAULT ? ball : disc;
    dumont_setup setup = {.scene = "003-4.1",
                          .tolerance = tolerance,
                          .max_sweeps = MOST_SWEEPS,
                          .check_interval = 1,
                          .kept_step = (int)ceil(rolling_time(k) / h),
                          .extra_count = which == BALL_DEFAULT,
                          .extra = as_ball};
    if (which < DUMONT_METHODS) {
        setup.method = &dumont_methods[which];
        setup.rho_scale = setup.method->alpha * (1 + 1 / k);
        setup.kept_step = CURVE_STEP;
    }
    return dumont_simulate(run, &setup, run_names[which], result);
}

static bool sweep_all(const dumont_result *runs, dumont_curve *curves, bool converged[2]) {
    const dumont_method *sal = &dumont_methods[DUMONT_SAL];
    bool good = true;
    for (int m = 0; good && m < DUMONT_METHODS; m++)
        good = dumont_sweeps(runs[m].kept, &dumont_methods[m], dumont_methods[m].alpha, tolerance,
                             MOST_SWEEPS, &curves[m]);
    for (int i = 0; good && i < 2; i++) {
        dumont_curve curve;
        good = dumont_sweeps(runs[DEFAULT + i].kept, sal, sal->alpha, tolerance, MOST_SWEEPS, &curve);
        converged[i] = curve.converged;
        dumont_curve_free(&curve);
    }
    return good;
}

static void claim_all(claim_list *c, const dumont_result *runs, const dumont_curve *curves,
                      const bool converged[2]) {
    claim_table(c, runs);
    for (int m = 0; m < DUMONT_METHODS; m++) {
        char name[32];
        snprintf(name, sizeof name, "disc, %s", dumont_methods[m].name);
        claim_motion(c, &runs[m].history, disc, false, dumont_methods[m].bare, name);
    }
    c->method = METHOD_OURS;
    claim_motion(c, &runs[DEFAULT].history, disc, true, false, "disc, default solver");
    claim_motion(c, &runs[BALL_DEFAULT].history, ball, true, false, "ball, default solver");
    c->method = METHOD_PAPERS;
    claim_choice(c, converged);
    claim_curves(c, curves);
}

static bool run_ball(experiment_run *run) {
    dumont_result runs[RUNS] = {{.kept = NULL}};
    dumont_curve curves[DUMONT_METHODS] = {{.sweeps = 0}};
    bool good = true, converged[2];
    for (int i = 0; good && i < RUNS; i++) good = simulate(run, i, &runs[i]);
    good = good && sweep_all(runs, curves, converged);
    if (good) claim_all(&run->claims, runs, curves, converged);
    if (good && *run->folder) good = store(run, runs, curves);
    for (int i = 0; i < RUNS; i++) dumont_result_free(&runs[i]);
    for (int m = 0; m < DUMONT_METHODS; m++) dumont_curve_free(&curves[m]);
    return good;
}

const experiment experiment_ball_on_table = {
    .name = "003-4.1",
    .title = "a ball slides, then rolls: standard and enhanced methods (Table I)",
    .has_full = true,
    .run = run_ball,
};
