/* The benchmarks of paper 004 in short, against exact and event-driven values; what every step promises. */
#include "base/small.h"
#include "experiments/capobianco/models.h"
#include "support/near.h"
#include "system/alpha.h"

#include <string.h>

static dls_alpha *create(const benchmark *b) {
    dls_error error;
    dls_alpha *alpha;
    if (dls_alpha_create(&b->model, &b->options, 0, b->q, b->u, &alpha, &error))
        fail_msg("%s", error.message);
    return alpha;
}

/* Worst of what steps reported. */
typedef struct worst {
    double position, velocity, acceleration, gap;
    int updates, fixed_steps, flagged;
    double first_flag;
} worst;

static void step_to(const benchmark *b, dls_alpha *alpha, double t, worst *w) {
    dls_error error;
    dls_alpha_report r;
    while (dls_alpha_get(alpha).t < t - 0.5 * b->options.dt) {
        if (dls_alpha_step(alpha, &r, &error)) fail_msg("%s", error.message);
        w->position = fmax(w->position, r.position), w->velocity = fmax(w->velocity, r.velocity);
        w->acceleration = fmax(w->acceleration, r.acceleration);
        w->updates = r.newton_updates > w->updates ? r.newton_updates : w->updates;
        w->fixed_steps += r.by_fixed_point;
        if (r.solutions != 1 && !w->flagged++) w->first_flag = r.t;
        for (int k = 0; k < b->model.rows[DLS_ROWS_N].count; k++)
            w->gap = fmin(w->gap, dls_alpha_get(alpha).gap[k]);
        assert_true(r.max_error <= 10 * b->options.tolerance / b->options.dt && r.halvings == 0);
    }
}

/* (33), (37) and their derivatives at the end of every step. */
static void check_violations(const benchmark *b, const worst *w) {
    double most = 10 * b->options.tolerance;
    assert_true(w->position <= most && w->velocity <= most && w->acceleration <= most && w->gap >= -most);
}

/* ---- models ---- */

static void fill_all(benchmark *b) {
    benchmark_bouncing_ball(&b[0], 50, 0);
    benchmark_corner(&b[1]), benchmark_cylinder(&b[2]), benchmark_painleve(&b[3]);
    benchmark_hopper(&b[4]), benchmark_tippe_top(&b[5]);
}

/* All that the models say of directions, bends and slopes agrees with differences while they move. */
static void test_models_agree_with_differences(void **state) {
    (void)state;
    benchmark b[6];
    fill_all(b);
    for (int i = 0; i < 6; i++) {
        dls_error error;
        for (int k = 0; k < b[i].model.coordinates; k++) b[i].q[k] += 0.01 * sin(k + 1.0);
        for (int k = 0; k < b[i].model.velocities; k++) b[i].u[k] += 0.5 * cos(2.0 * k);
        if (dls_model_check(&b[i].model, 0.1, b[i].q, b[i].u, 0, &error))
            fail_msg("10.%d: %s", i + 1, error.message);
    }
}

/* Moves of q by about 1e-7, whatever the unknown. */
static double shift_of(const dls_alpha *alpha, int j) {
    if (j < alpha->at.U) return 1e-7 / alpha->stage.c_q;
    return j < alpha->at.Q ? 1e-5 : 1e-7;
}

/* R′ by the chain rule against central differences of R in the unknowns, with the sets held. */
static void compare_jacobians(dls_alpha *alpha, double *low, double *high) {
    int total = alpha->at.total;
    memcpy(alpha->x, alpha->state.x, sizeof *low * (size_t)total);
    for (int i = 3 * alpha->at.m; i < total; i++) alpha->x[i] += 1e-3 * sin(3.0 * i + 1);
    assert_true(dls_residual_at(alpha, alpha->x, alpha->R));
    assert_true(dls_jacobian_at(alpha, alpha->x));
    alpha->stage.keep_sets = true;
    for (int j = 0; j < total; j++) {
        double kept = alpha->x[j], shift = shift_of(alpha, j), size = 1e-6, *column = alpha->J + total * j;
        alpha->x[j] = kept + shift, assert_true(dls_residual_at(alpha, alpha->x, high));
        alpha->x[j] = kept - shift, assert_true(dls_residual_at(alpha, alpha->x, low));
        alpha->x[j] = kept;
        for (int i = 0; i < total; i++) size = fmax(size, fabs(column[i]));
        for (int i = 0; i < total; i++) {
            double expected = (high[i] - low[i]) / (2 * shift);
            if (!(fabs(column[i] - expected) <= 1e-5 * size))
                fail_msg("%d coordinates, row %d, column %d: %g, expected %g", alpha->at.n, i, j, column[i],
                         expected);
        }
    }
}

static void test_jacobian(void **state) {
    (void)state;
    static const double when[6] = {0.5, 0.7, 1, 0.4, 0.15, 0.5};
    benchmark b[6];
    double low[100], high[100];
    fill_all(b);
    for (int i = 0; i < 6; i++) {
        worst w = {0};
        dls_alpha *alpha = create(&b[i]);
        assert_true(alpha->at.total <= 100);
        step_to(&b[i], alpha, when[i], &w);
        for (int variant = 0; variant < 4; variant++) {
            alpha->options.residual = variant == 1 ? DLS_ALPHA_PROX : DLS_ALPHA_SETS;
            alpha->options.open = variant == 2 ? DLS_OPEN_MULTIPLIER : DLS_OPEN_PERCUSSION;
            alpha->options.slip = variant == 3 ? DLS_SLIP_SPLIT : DLS_SLIP_END;
            assert_true(dls_stage_begin(alpha, b[i].options.dt, 0));
            compare_jacobians(alpha, low, high);
        }
        dls_alpha_destroy(alpha);
    }
}

/* ---- 10.1 ---- */

static void test_bouncing_ball(void **state) {
    (void)state;
    benchmark b;
    worst w = {0};
    benchmark_bouncing_ball(&b, 0, 0.5);
    dls_alpha *alpha = create(&b);
    step_to(&b, alpha, 0.4, &w);
    assert_near(dls_alpha_get(alpha).q[1], 1 - 0.5 * 9.81 * 0.16, 1e-12);
    step_to(&b, alpha, 0.43, &w);
    assert_near(dls_alpha_get(alpha).u[1], 0.5 * 4.202142311 - 9.81 * (0.43 - 0.428352937), 0.03);
    step_to(&b, alpha, 2, &w);
    assert_near(dls_alpha_get(alpha).force[DLS_ROWS_N][0], 9.81, 1e-6);
    assert_near(dls_alpha_get(alpha).q[1], 0.1, 1e-8);
    assert_int_equal(w.flagged, 0);
    check_violations(&b, &w);
    dls_alpha_destroy(alpha);
}

static void test_sliding_ball(void **state) {
    (void)state;
    benchmark b;
    worst w = {0};
    benchmark_bouncing_ball(&b, 50, 0);
    dls_alpha *alpha = create(&b);
    step_to(&b, alpha, 0.43, &w);
    dls_alpha_view v = dls_alpha_get(alpha);
    assert_near(v.impact[DLS_ROWS_N][0], 4.20214231, 2e-3 * 9.81);
    assert_near(v.impact[DLS_ROWS_F][0], -0.2 * v.impact[DLS_ROWS_N][0], 1e-9);
    step_to(&b, alpha, 0.7, &w);
    assert_near(v.force[DLS_ROWS_F][0], -1.962, 1e-9);
    assert_false(v.sticking[0]);
    step_to(&b, alpha, 2, &w);
    assert_true(v.sticking[0] && v.closed[0]);
    assert_near(v.u[0], -10.0 / 7, 1e-8);
    assert_near(v.u[2], 100.0 / 7, 1e-7);
    assert_near(v.q[0], -2.15651, 1e-5);
    check_violations(&b, &w);
    dls_alpha_destroy(alpha);
}

static void test_rolling_ball(void **state) {
    (void)state;
    benchmark b;
    worst w = {0};
    benchmark_bouncing_ball(&b, 10, 0);
    dls_alpha *alpha = create(&b);
    step_to(&b, alpha, 0.43, &w);
    assert_near(dls_alpha_get(alpha).impact[DLS_ROWS_F][0], -2.0 / 7, 1e-8);
    step_to(&b, alpha, 1, &w);
    assert_near(dls_alpha_get(alpha).force[DLS_ROWS_F][0], 0, 1e-8);
    check_violations(&b, &w);
    dls_alpha_destroy(alpha);
}

/* ---- 10.2 ---- */

static void test_corner(void **state) {
    (void)state;
    for (int solver = DLS_ALPHA_NEWTON; solver <= DLS_ALPHA_FIXED_POINT; solver++) {
        benchmark b;
        worst w = {0};
        benchmark_corner(&b);
        b.options.solver = solver;
        dls_alpha *alpha = create(&b);
        dls_alpha_view v = dls_alpha_get(alpha);
        step_to(&b, alpha, 0.2704, &w);
        assert_near(v.impact[DLS_ROWS_N][1], 1.87554165, 1e-3);
        assert_near(v.impact[DLS_ROWS_F][1], -0.53586904, 1e-3);
        step_to(&b, alpha, 1.6, &w);
        assert_near(v.q[0], 0, 1e-6);
        assert_near(v.q[1], 0.1 * sqrt(2), 1e-6);
        assert_near(v.q[2], -11.557, 1e-3);
        assert_near(v.force[DLS_ROWS_N][0] + v.force[DLS_ROWS_F][0], 6.9367175, 1e-2);
        assert_near(v.force[DLS_ROWS_N][1] - v.force[DLS_ROWS_F][1], 6.9367175, 1e-2);
        assert_true((w.fixed_steps > 0) == (solver == DLS_ALPHA_FIXED_POINT));
        check_violations(&b, &w);
        dls_alpha_destroy(alpha);
    }
}

/* Where both contacts stick there are four directions for three freedoms, and while plane 1 bounces they
 * contradict each other: Newton's method gets through at any tolerance and r. */
static void test_corner_tightly(void **state) {
    (void)state;
    static const double r[3] = {0.2, 0, 0.05}, tolerance[3] = {1e-7, 1e-9, 1e-11};
    for (int i = 0; i < 3; i++) {
        benchmark b;
        worst w = {0};
        benchmark_corner(&b);
        b.options.r = r[i], b.options.tolerance = b.options.tolerance_fixed = tolerance[i];
        dls_alpha *alpha = create(&b);
        dls_alpha_view v = dls_alpha_get(alpha);
        step_to(&b, alpha, 1.6, &w);
        assert_near(v.q[1], 0.1 * sqrt(2), 10 * tolerance[i]);
        assert_near(v.q[2], -11.55697, 1e-5);
        assert_near(v.force[DLS_ROWS_N][0] + v.force[DLS_ROWS_F][0], 9.81 * sqrt(0.5), 1e-4);
        assert_int_equal(w.fixed_steps, 0);
        check_violations(&b, &w);
        dls_alpha_destroy(alpha);
    }
}

/* A solution of the next step, from the x that the last one left, or from sweeps: u, and what it is worth. */
static bool solve_step(const benchmark *b, dls_alpha *alpha, bool sweeps, double *u, dls_alpha_report *r) {
    int updates;
    *r = (dls_alpha_report){.norm = 0};
    assert_true(dls_stage_begin(alpha, b->options.dt, 0));
    memcpy(alpha->x, alpha->state.x, sizeof *alpha->x * (size_t)alpha->at.total);
    if (sweeps) assert_true(dls_alpha_sweep(alpha, alpha->x, r));
    int end = dls_alpha_newton(alpha, alpha->x, b->options.tolerance, 40, &updates, &r->norm);
    alpha->tally = (dls_tally){0};
    dls_alpha_certify(alpha, alpha->x, r);
    memcpy(u, alpha->stage.u, sizeof *u * 3);
    return end == 0 && alpha->sets.A[0];
}

/* With ρ_∞ = 0 hops become shorter than a step at 1.361 s, and this step has two exact solutions, in which
 * plane 1 is closed or open: they differ by 5e-3 rad/s, and rounding tells which one is found. */
static void test_two_solutions(void **state) {
    (void)state;
    benchmark b;
    worst w = {0};
    double open[3], closed[3];
    dls_alpha_report r[2];
    benchmark_corner(&b);
    b.options.rho = 0, b.options.tolerance = b.options.tolerance_fixed = 1e-11;
    dls_alpha *alpha = create(&b);
    step_to(&b, alpha, 1.3609, &w);
    bool both_closed = solve_step(&b, alpha, false, open, &r[0]);
#ifndef NDEBUG
    if (both_closed) { /* rounded otherwise than in a release */
        dls_alpha_destroy(alpha);
        skip();
    }
#endif
    assert_false(both_closed);
    assert_true(solve_step(&b, alpha, true, closed, &r[1]));
    for (int i = 0; i < 2; i++) assert_true(r[i].norm <= 1e-12 && r[i].residual < 1e-10 && r[i].held < 1e-10);
    assert_near(open[2] - closed[2], -5.33e-3, 1e-4);
    dls_alpha_destroy(alpha);
}

/* ---- 10.3 ---- */

static void test_cylinder(void **state) {
    (void)state;
    benchmark b;
    worst w = {0};
    benchmark_cylinder(&b);
    dls_alpha *alpha = create(&b);
    dls_alpha_view v = dls_alpha_get(alpha);
    assert_near(ball_energy(v.q, v.u), 9.81, 1e-12);
    step_to(&b, alpha, 1, &w);
    assert_near(v.q[0], 0.8215903, 2e-3);
    assert_near(v.q[1], 0.6325909, 2e-3);
    assert_near(ball_energy(v.q, v.u), 7.7152139, 4e-3);
    step_to(&b, alpha, 10, &w);
    assert_near(v.q[0], 0.3271858, 2e-3);
    assert_near(ball_energy(v.q, v.u), 1.5988373, 4e-3);
    assert_true(w.gap > -1e-10);
    check_violations(&b, &w);
    dls_alpha_destroy(alpha);
}

/* ---- 10.4 ---- */

/* The acceleration is unique up to φ = π/4, and flagged from there. */
static void test_painleve(void **state) {
    (void)state;
    benchmark b;
    worst w = {0};
    benchmark_painleve(&b);
    dls_alpha *alpha = create(&b);
    dls_alpha_view v = dls_alpha_get(alpha);
    assert_near(v.force[DLS_ROWS_N][0], 10.031716656, 1e-9);
    assert_near(v.force[DLS_ROWS_F][0], -16.719527760, 1e-9);
    step_to(&b, alpha, 0.4, &w);
    assert_near(v.q[2], 0.547225098, 1.2e-5);
    assert_near(v.u[2], 0.05234271, 3.5e-4);
    step_to(&b, alpha, 0.8, &w);
    assert_near(v.q[2], 0.742564981, 1.3e-5);
    assert_near(v.u[2], 2.44951002, 3.6e-4);
    assert_int_equal(w.flagged, 0);
    step_to(&b, alpha, 0.9, &w);
    assert_near(w.first_flag, 0.814549659, 2 * b.options.dt);
    assert_true(v.gap[0] > 0.01 && v.u[2] > 3.76 && v.u[2] < 9.3);
    check_violations(&b, &w);
    dls_alpha_destroy(alpha);
}

/* ---- 10.5 ---- */

static void test_hopper(void **state) {
    (void)state;
    benchmark b;
    worst w = {0};
    benchmark_hopper(&b);
    dls_alpha *alpha = create(&b);
    dls_alpha_view v = dls_alpha_get(alpha);
    assert_near(v.gap[0], 0.11, 1e-12);
    assert_near(v.a[0], -9.30391792, 1e-7);
    assert_near(hopper_energy(&b, 0, v.q, v.u), 9.81 * (3 * 0.31 + 1.56 * 0.26 + 0.142 * 0.16), 1e-9);
    step_to(&b, alpha, 0.1, &w);
    assert_near(v.q[0], 0.2635389, 1e-7);
    double sum = 0;
    while (v.t < 0.2) {
        step_to(&b, alpha, v.t + b.options.dt, &w);
        v = dls_alpha_get(alpha);
        sum += v.percussion[DLS_ROWS_N][0];
        assert_true(fabs(v.percussion[DLS_ROWS_F][0]) <= 0.2 * v.percussion[DLS_ROWS_N][0] + 1e-9);
    }
    assert_near(sum, 16.58, 0.01);
    assert_near(hopper_momentum(&b, v.t, v.u), sum - hopper_mass_of_all() * 9.81 * v.t, 1e-6);
    check_violations(&b, &w);
    dls_alpha_destroy(alpha);
}

/* ---- 10.6 ---- */

static double angle_at(double t, int slip, double dt) {
    benchmark b;
    worst w = {0};
    benchmark_tippe_top(&b);
    b.options.slip = slip, b.options.dt = dt, b.options.tolerance = 1e-9;
    dls_alpha *alpha = create(&b);
    step_to(&b, alpha, t, &w);
    double angle = tippe_top_angle(dls_alpha_get(alpha).q);
    assert_true(w.gap > -1e-11);
    check_violations(&b, &w);
    dls_alpha_destroy(alpha);
    return angle;
}

/* First order where the slip direction turns and the last one serves the whole percussion, second where each
 * part of it has its own. */
static void test_tippe_top(void **state) {
    (void)state;
    assert_near(angle_at(0.5, DLS_SLIP_END, 1e-3), 0.505048, 1e-5);
    assert_near(angle_at(1, DLS_SLIP_END, 1e-3), 1.487627, 1e-5);
    for (int slip = DLS_SLIP_SWITCHED; slip <= DLS_SLIP_SPLIT; slip += DLS_SLIP_SPLIT) {
        double coarse = angle_at(1, slip, 5e-4) - 1.5725914, fine = angle_at(1, slip, 2.5e-4) - 1.5725914;
        assert_near(log2(coarse / fine), 2, 0.1);
        assert_near(fine, 0, 1.3e-3);
    }
}

/* ---- other parameters and instants, against closed forms and equations of fewer unknowns ---- */

/* A ball that falls from y₀ with spin ω: Λ_N = √(2g(y₀ − R)), slip R ω is spent at 7/2 μ of what presses, and
 * it rolls with u_x = −2/7 R ω. */
static void test_other_balls(void **state) {
    (void)state;
    static const double cases[3][3] = {{80, 0.1, 0.6}, {-33, 0.35, 1.7}, {12, 0.05, 0.25}}; /* ω, μ, y₀ */
    for (int i = 0; i < 3; i++) {
        benchmark b;
        worst w = {0};
        double spin = cases[i][0], mu = cases[i][1], fall = cases[i][2] - 0.1, hit = sqrt(2 * 9.81 * fall);
        double slides = (0.1 * fabs(spin) - 3.5 * mu * hit) / (3.5 * mu * 9.81), lands = hit / 9.81;
        benchmark_bouncing_ball(&b, spin, 0);
        b.q[1] = cases[i][2], b.laws[0].mu = mu, b.options.dt = 1e-3;
        dls_alpha *alpha = create(&b);
        dls_alpha_view v = dls_alpha_get(alpha);
        step_to(&b, alpha, b.options.dt * ceil(lands / b.options.dt), &w);
        assert_near(v.impact[DLS_ROWS_N][0], hit, 9.81 * b.options.dt);
        if (slides > 0) {
            step_to(&b, alpha, lands + slides - 2 * b.options.dt, &w);
            assert_false(v.sticking[0]);
            assert_near(v.force[DLS_ROWS_F][0], copysign(mu * 9.81, -spin), 1e-6);
        }
        step_to(&b, alpha, lands + fmax(slides, 0) + 3 * b.options.dt, &w);
        assert_true(v.sticking[0]);
        assert_near(v.u[0], -2.0 / 7 * 0.1 * spin, 1e-6);
        assert_near(v.u[2], 2.0 / 7 * spin, 1e-5);
        check_violations(&b, &w);
        dls_alpha_destroy(alpha);
    }
}

/* ψ from the bottom, v along the wall, spin ω: v̇ = −g sin ψ + F, N = g cos ψ + v²/ρ, F = −μN sign(v + Rω), or
 * 2/7 g sin ψ where it rolls. */
static void swing_rate(double mu, bool rolls, const double *s, double *rate) {
    double slip = s[1] + 0.1 * s[2], N = 9.81 * cos(s[0]) + s[1] * s[1] / 0.9;
    double F = rolls ? 2.0 / 7 * 9.81 * sin(s[0]) : copysign(mu * N, -slip);
    rate[0] = s[1] / 0.9, rate[1] = -9.81 * sin(s[0]) + F, rate[2] = F / (0.4 * 0.1);
}

static void swing(double mu, double t, double *s) {
    const double h = 1e-5;
    bool rolls = false;
    for (int i = 0; i < (int)lround(t / h); i++) {
        double a[3], b[3], middle[3], slip = s[1] + 0.1 * s[2];
        bool holds = fabs(2.0 / 7 * 9.81 * sin(s[0])) <= mu * (9.81 * cos(s[0]) + s[1] * s[1] / 0.9);
        swing_rate(mu, rolls, s, a);
        for (int k = 0; k < 3; k++) middle[k] = s[k] + h / 2 * a[k];
        swing_rate(mu, rolls, middle, b);
        for (int k = 0; k < 3; k++) s[k] += h * b[k];
        if (!rolls && i > 0 && slip * (s[1] + 0.1 * s[2]) < 0 && holds) rolls = true;
        if (rolls && !holds) rolls = false;
    }
}

static void test_other_swings(void **state) {
    (void)state;
    static const double cases[3][3] = {{0.25, 1.3, 0.37}, {0.05, -1, 0.83}, {0.1, 0.6, 1.71}}; /* μ, ψ₀, t */
    for (int i = 0; i < 3; i++) {
        benchmark b;
        worst w = {0};
        double s[3] = {cases[i][1], 0, 0}, mu = cases[i][0], start = cases[i][1];
        benchmark_cylinder(&b);
        b.laws[0].mu = mu, b.options.dt = 1e-3, b.q[0] = 0.9 * sin(start), b.q[1] = 1 - 0.9 * cos(start);
        dls_alpha *alpha = create(&b);
        dls_alpha_view v = dls_alpha_get(alpha);
        step_to(&b, alpha, cases[i][2], &w);
        swing(mu, cases[i][2], s);
        assert_near(v.q[0], 0.9 * sin(s[0]), 2e-4);
        assert_near(v.q[1], 1 - 0.9 * cos(s[0]), 2e-4);
        assert_near(v.u[2], s[2], 2e-2);
        check_violations(&b, &w);
        dls_alpha_destroy(alpha);
    }
}

/* φ and ω of the rod while its tip slides: λ_N = (g − ω² sin φ)/(1 + 3 cos φ (cos φ − μ sin φ)),
 * ω̇ = 3 λ_N (μ sin φ − cos φ). */
static double rod_force_at(double mu, const double *s) {
    return (10 - s[1] * s[1] * sin(s[0])) / (1 + 3 * cos(s[0]) * (cos(s[0]) - mu * sin(s[0])));
}

static void test_other_rods(void **state) {
    (void)state;
    static const double cases[2][3] = {{1.2, 0.7, 0.24}, {1.6, 0.5, 0.608}}; /* μ, φ₀, t */
    for (int i = 0; i < 2; i++) {
        benchmark b;
        worst w = {0};
        double mu = cases[i][0], s[2] = {cases[i][1], 0};
        const double h = 1e-5;
        benchmark_painleve(&b);
        b.laws[0].mu = mu, b.q[1] = sin(s[0]), b.q[2] = s[0];
        dls_alpha *alpha = create(&b);
        dls_alpha_view v = dls_alpha_get(alpha);
        step_to(&b, alpha, cases[i][2], &w);
        for (int k = 0; k < (int)lround(cases[i][2] / h); k++) {
            double first = 3 * rod_force_at(mu, s) * (mu * sin(s[0]) - cos(s[0]));
            double middle[2] = {s[0] + h / 2 * s[1], s[1] + h / 2 * first};
            double second = 3 * rod_force_at(mu, middle) * (mu * sin(middle[0]) - cos(middle[0]));
            s[0] += h * middle[1], s[1] += h * second;
        }
        assert_near(v.q[2], s[0], 2e-6);
        assert_near(v.u[2], s[1], 2e-5);
        assert_near(v.force[DLS_ROWS_N][0], rod_force_at(mu, s), 1e-3);
        assert_int_equal(w.flagged, 0);
        dls_alpha_destroy(alpha);
    }
}

/* ---- limits ---- */

/* Beyond φ = π/4 a rod that hardly turns has no acceleration at all: the start is refused and names the
 * contact. */
static void test_no_solution(void **state) {
    (void)state;
    benchmark b;
    dls_error error;
    dls_alpha *alpha;
    benchmark_painleve(&b);
    b.q[1] = sin(1.0), b.q[2] = 1;
    assert_int_equal(dls_alpha_create(&b.model, &b.options, 0, b.q, b.u, &alpha, &error), DLS_ERROR_NUMERIC);
    assert_null(alpha);
    assert_non_null(strstr(error.message, "contacts 0"));
}

/* What reports of a run add up to. */
typedef struct toll {
    int updates, fixed, retries, halvings, most_updates;
    double norm;
} toll;

static toll run_to(const benchmark *b, dls_alpha *alpha, double t) {
    toll sum = {0};
    dls_error error;
    dls_alpha_report r;
    while (dls_alpha_get(alpha).t < t - 0.5 * b->options.dt) {
        if (dls_alpha_step(alpha, &r, &error)) fail_msg("%s", error.message);
        sum.updates += r.newton_updates, sum.fixed += r.fixed_iterations;
        sum.retries += r.retries, sum.halvings += r.halvings;
        sum.most_updates = r.newton_updates > sum.most_updates ? r.newton_updates : sum.most_updates;
        sum.norm = fmax(sum.norm, r.norm);
    }
    return sum;
}

/* TOL bounds the residual of every step, and smaller ones cost updates. */
static void test_tolerances(void **state) {
    (void)state;
    int before = 0;
    for (int i = 0; i < 3; i++) {
        benchmark b;
        benchmark_cylinder(&b);
        b.options.tolerance = pow(10, -4 - 3 * i);
        dls_alpha *alpha = create(&b);
        toll sum = run_to(&b, alpha, 1);
        assert_true(sum.norm <= b.options.tolerance && sum.updates > before);
        assert_int_equal(sum.fixed + sum.retries + sum.halvings, 0);
        before = sum.updates;
        dls_alpha_destroy(alpha);
    }
}

/* With one update an attempt and one fixed-point iteration a step is rejected, cut and reported, and the
 * motion is that of smaller steps; without halvings it is refused, and the state stays. */
static void test_rejected_steps(void **state) {
    (void)state;
    benchmark b;
    dls_error error;
    benchmark_cylinder(&b);
    b.options.max_newton = b.options.max_fixed = 1;
    dls_alpha *alpha = create(&b);
    toll sum = run_to(&b, alpha, 0.5);
    dls_alpha_view v = dls_alpha_get(alpha);
    double s[3] = {-M_PI / 2, 0, 0};
    swing(0.1, 0.5, s);
    assert_true(sum.halvings > 0 && sum.retries > sum.halvings);
    assert_near(v.t, 0.5, 1e-12);
    assert_near(v.q[0], 0.9 * sin(s[0]), 2e-3);
    dls_alpha_destroy(alpha);
    b.options.max_halvings = 0;
    alpha = create(&b);
    int status = DLS_OK;
    double t = 0;
    while (!status && t < 1) {
        t = dls_alpha_get(alpha).t;
        status = dls_alpha_step(alpha, NULL, &error);
    }
    assert_int_equal(status, DLS_ERROR_NUMERIC);
    assert_true(dls_alpha_get(alpha).t == t && strstr(error.message, "expected 1e-06"));
    dls_alpha_destroy(alpha);
}

/* r that is not given follows masses: a ball a million times as heavy needs no more updates. */
static const double heavy = 1048576;

static void heavy_mass(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    M[0] = M[4] = heavy, M[8] = 0.4 * 0.1 * 0.1 * heavy;
}

static void heavy_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)u, (void)user;
    h[1] = -9.81 * heavy;
}

static void test_scale_of_r(void **state) {
    (void)state;
    toll sum[2];
    double x[2], spin[2];
    for (int i = 0; i < 2; i++) {
        benchmark b;
        benchmark_bouncing_ball(&b, 50, 0);
        b.options.r = 0;
        if (i) b.model.mass = heavy_mass, b.model.force = heavy_force;
        dls_alpha *alpha = create(&b);
        sum[i] = run_to(&b, alpha, 1);
        assert_near(alpha->r_n[0], i ? heavy : 1, 1e-9 * heavy);
        assert_near(alpha->r_t[0], (i ? heavy : 1) / 3.5, 1e-9 * heavy);
        x[i] = dls_alpha_get(alpha).q[0], spin[i] = dls_alpha_get(alpha).u[2];
        dls_alpha_destroy(alpha);
    }
    assert_int_equal(sum[0].retries + sum[1].retries, 0);
    assert_true(sum[0].most_updates <= 3 && sum[1].most_updates <= 3);
    assert_near(x[1], x[0], 1e-9);
    assert_near(spin[1], spin[0], 1e-8);
}

/* ---- the certificate ---- */

/* Points of mass 1 over a floor, or the first of them held to it. */
enum { POINTS = 5 };

static void point_mass(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    for (int i = 0; i < POINTS; i++) M[i * (POINTS + 1)] = 1;
}

static void point_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)u, (void)user;
    for (int i = 0; i < POINTS; i++) h[i] = -9.81;
}

static void height(double t, const double *q, double *g, void *user) {
    (void)t;
    for (int i = 0; i < *(const int *)user; i++) g[i] = q[i];
}

static void height_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q;
    for (int i = 0; i < *(const int *)user; i++) rate[i] = u[i];
}

/* A point that lies on the floor, or is held there, and is moved by an acceleration δ beside its solution has
 * N² = (δ dt)² + (δ c_u)² + (δ c_q/dt)² and s = |P| = g dt, however many others hang in the air. */
static void test_certificate(void **state) {
    (void)state;
    static const double u[POINTS] = {0}, delta = 1e-2, dt = 1e-2;
    for (int held = 0; held < 2; held++)
        for (int count = 1; count <= (held ? 1 : POINTS); count += POINTS - 1) {
            double q[POINTS] = {0, 9, 9, 9, 9};
            dls_model_contact contacts[POINTS] = {{0, 0}};
            int rows = count;
            benchmark b = {.model = {.coordinates = POINTS,
                                     .velocities = POINTS,
                                     .user = &rows,
                                     .mass = point_mass,
                                     .force = point_force,
                                     .contacts = contacts},
                           .options = dls_alpha_default_options()};
            b.model.rows[held ? DLS_ROWS_G : DLS_ROWS_N] =
                (dls_model_rows){.count = rows, .value = height, .rate = height_rate};
            b.options.dt = dt, b.options.v_ref = 9.81 * dt, b.options.tolerance = 1e-12;
            memcpy(b.q, q, sizeof q), memcpy(b.u, u, sizeof u);
            dls_alpha *alpha = create(&b);
            dls_alpha_report report;
            dls_error error;
            assert_int_equal(dls_alpha_step(alpha, &report, &error), DLS_OK);
            assert_true(report.residual < 1e-12 && report.held < 1e-12);
            const dls_alpha_stage *stage = &alpha->stage;
            double level[3] = {delta * dt, delta * stage->c_u, delta * stage->c_q / dt};
            double expected = small_norm(3, level) / (9.81 * dt);
            alpha->x[alpha->at.a] += delta;
            assert_true(dls_residual_at(alpha, alpha->x, alpha->R));
            alpha->tally = (dls_tally){0};
            dls_alpha_certify(alpha, alpha->x, &report);
            assert_near(report.residual, expected, 1e-6 * expected);
            assert_near(report.held, expected, 1e-6 * expected);
            assert_near(report.max_error, expected * 9.81 * dt, 1e-9 * dt);
            dls_alpha_destroy(alpha);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_agree_with_differences),
        cmocka_unit_test(test_jacobian),
        cmocka_unit_test(test_bouncing_ball),
        cmocka_unit_test(test_sliding_ball),
        cmocka_unit_test(test_rolling_ball),
        cmocka_unit_test(test_corner),
        cmocka_unit_test(test_corner_tightly),
        cmocka_unit_test(test_two_solutions),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_painleve),
        cmocka_unit_test(test_hopper),
        cmocka_unit_test(test_tippe_top),
        cmocka_unit_test(test_other_balls),
        cmocka_unit_test(test_other_swings),
        cmocka_unit_test(test_other_rods),
        cmocka_unit_test(test_no_solution),
        cmocka_unit_test(test_tolerances),
        cmocka_unit_test(test_rejected_steps),
        cmocka_unit_test(test_scale_of_r),
        cmocka_unit_test(test_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
