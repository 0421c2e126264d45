/* The benchmarks of paper 004 in short, against exact and event-driven values; what every step promises. */
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
    for (int i = 0; i < 6; i++)
        for (int variant = 0; variant < 4; variant++) {
            worst w = {0};
            b[i].options.residual = variant == 1 ? DLS_ALPHA_PROX : DLS_ALPHA_SETS;
            b[i].options.open = variant == 2 ? DLS_OPEN_MULTIPLIER : DLS_OPEN_PERCUSSION;
            b[i].options.slip = variant == 3 ? DLS_SLIP_SPLIT : DLS_SLIP_END;
            dls_alpha *alpha = create(&b[i]);
            assert_true(alpha->at.total <= 100);
            step_to(&b[i], alpha, when[i], &w);
            assert_true(dls_stage_begin(alpha, b[i].options.dt, 0));
            compare_jacobians(alpha, low, high);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_agree_with_differences),
        cmocka_unit_test(test_jacobian),
        cmocka_unit_test(test_bouncing_ball),
        cmocka_unit_test(test_sliding_ball),
        cmocka_unit_test(test_rolling_ball),
        cmocka_unit_test(test_corner),
        cmocka_unit_test(test_corner_tightly),
        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_painleve),
        cmocka_unit_test(test_hopper),
        cmocka_unit_test(test_tippe_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
