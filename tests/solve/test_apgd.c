/* Accelerated projected gradient: the papers' numbers, the relaxed problem, and the step length. */
#include "base/memory.h"
#include "solve/global/apgd.h"
#include "support/sample.h"
#include "support/test.h"
#include "support/variant.h"

#include <delassus/delassus.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 001 §3.1: a sphere of unit mass and radius thrown along a plane, first step: μ = 0.2, v₀ = 2, h = 0.01. */
static dls_problem *thrown_sphere(void) {
    const double W[4] = {1, 0, 0, 3.5}, b[2] = {-0.0981, 2}, mu = 0.2;
    dls_problem_def def = {.block_count = 1, .dimension = 2, .mu = &mu, .b = b};
    return dense_problem(&def, 2, W);
}

static void near(double value, double expected) {
    if (!(fabs(value - expected) < 1e-11)) fail_msg("%.13g, expected %.13g", value, expected);
}

static void first_step_anti_relaxed(void **state) {
    (void)state;
    static const char *const variants[] = {"apgd", "apgd+scaled=false", "apgd+q=0.3", "apgd+q=1"};
    dls_problem *p = thrown_sphere();
    for (int k = 0; k < 4; k++) {
        double r[2], u[2];
        dls_solve_info info = variant_reach(variants[k], p, 1e-13, r, u);
        assert_false(info.relaxed);
        near(r[0], 0.0981);
        near(r[1], -0.01962);
        near(u[0], 0);
        near(u[1], 2 - 3.5 * 0.01962);
    }
    dls_problem_destroy(p);
}

/* The convex problem lifts the sphere by μ u_t. It says so, and its true residual stands beside its own. */
static void first_step_relaxed(void **state) {
    (void)state;
    static const char *const variants[] = {"apgd+relaxed=true", "apgd+relaxed=true+scaled=false",
                                           "apgd+relaxed=true+q=1"};
    dls_problem *p = thrown_sphere();
    for (int k = 0; k < 3; k++) {
        double r[2], u[2];
        dls_solve_info info = variant_reach(variants[k], p, 1e-13, r, u);
        assert_true(info.relaxed);
        near(r[0], 0.436929824561);
        near(r[1], -0.087385964912);
        near(u[0], 0.338829824561);
        near(u[1], 1.694149122807);
        near(u[0], 0.2 * u[1]);
        near(2 + r[1], 1.912614035088); /* v_x of the centre */
        assert_true(fabs(r[0] * u[0] - 0.148044856) < 5e-10);
        assert_true(info.stop_value <= 1e-13 && info.measures.residual > 0.1);
        assert_true(info.measures.complementarity > 0.1);
    }
    dls_problem_destroy(p);
}

/* Relaxed and true solution are one where nothing slides: without friction, and where all sticks. */
static void relaxation_is_exact_without_slip(void **state) {
    (void)state;
    dls_problem *smooth = generated(DLS_GENERATE_STACK, 20, 0, false);
    const double W[9] = {1, 0.1, 0, 0.1, 2, 0, 0, 0, 2}, b[3] = {-1, 0.1, 0.2}, mu = 0.9;
    dls_problem_def def = {.block_count = 1, .dimension = 3, .mu = &mu, .b = b};
    dls_problem *sticking = dense_problem(&def, 3, W);
    dls_problem *problems[2] = {smooth, sticking};
    for (int k = 0; k < 2; k++) {
        double *r = calloc((size_t)dls_problem_row_count(problems[k]), sizeof(double));
        dls_solve_info info = variant_reach("apgd+relaxed=true", problems[k], 1e-9, r, NULL);
        assert_true(info.relaxed && info.measures.residual <= 1e-8);
        free(r);
        dls_problem_destroy(problems[k]);
    }
}

/* Relaxed solutions minimise ½ r·W r + b·r over the cones: no feasible neighbour lies lower. */
static void relaxed_solution_is_the_minimum(void **state) {
    (void)state;
    dls_random g = {95};
    sample_shape shape = {
        .blocks = 12, .bodies = 8, .dof = 6, .dimension = 3, .mu_low = 0.2, .mu_high = 1, .coupling = 0.4};
    for (int round = 0; round < 10; round++) {
        sample s = sample_create(&g, &shape);
        dls_problem *p = sample_stored(&s);
        double r[36], other[36], u[36], energy[2];
        variant_reach("apgd+relaxed=true", p, 1e-11, r, NULL);
        for (int trial = -1; trial < 200; trial++) {
            for (int i = 0; i < s.rows; i++) other[i] = r[i] + (trial < 0 ? 0 : 0.1 * dls_random_normal(&g));
            for (int c = 0; c < 12; c++) dls_cone_project(3, s.mu[c], other + 3 * c);
            dense_velocity(s.rows, s.W, s.b, other, u);
            double sum = 0;
            for (int i = 0; i < s.rows; i++) sum += 0.5 * other[i] * (u[i] + s.b[i]);
            energy[trial >= 0] = sum;
            assert_true(trial < 0 || energy[1] >= energy[0] - 1e-12 * fabs(energy[0]));
        }
        dls_problem_destroy(p);
        sample_free(&s);
    }
}

/* Its residual is relative to ‖b‖: 1 where one contact is at rest at r = 0, and blind to the unit of speed.
 */
static void relaxed_residual_has_no_unit(void **state) {
    (void)state;
    const double W[4] = {2, 0, 0, 2}, b[2] = {-3, 0}, mu = 0.5;
    dls_problem_def def = {.block_count = 1, .dimension = 2, .mu = &mu, .b = b};
    dls_problem *one = dense_problem(&def, 2, W);
    double nothing[2] = {0};
    variant v = variant_from("apgd+relaxed=true");
    v.options.stop.tolerance = 1; /* the start will do */
    dls_solve_info info = variant_solve(&v, one, nothing, NULL);
    assert_true(info.iterations == 0 && fabs(info.stop_value - 1) < 1e-15);
    dls_problem_destroy(one);

    dls_random g = {96};
    sample_shape shape = {
        .blocks = 12, .bodies = 8, .dof = 6, .dimension = 3, .mu_low = 0.2, .mu_high = 1, .coupling = 0.4};
    sample s = sample_create(&g, &shape);
    double value[2];
    for (int k = 0; k < 2; k++) {
        dls_problem *p = sample_stored(&s);
        double r[36];
        info = variant_reach("apgd+relaxed=true", p, 1e-6, r, NULL);
        value[k] = info.stop_value;
        for (int i = 0; i < s.rows; i++) s.b[i] *= 1024;
        dls_problem_destroy(p);
    }
    assert_true(value[0] == value[1] && value[0] > 1e-8);
    sample_free(&s);
}

/* Momentum that points uphill starts anew. Here in 210, 134 and 359 steps; else in 1027, 435 and 1678, and in
 * more where it is judged by a part of the gradient. */
static void momentum_restarts_uphill(void **state) {
    (void)state;
    static const int most[] = {400, 250, 700};
    const dls_generator kinds[] = {DLS_GENERATE_PACKING, DLS_GENERATE_STACK, DLS_GENERATE_DISCS};
    for (int k = 0; k < 3; k++) {
        dls_problem *p = generated(kinds[k], 80, 0.5, false);
        double *r = calloc((size_t)dls_problem_row_count(p), sizeof(double));
        dls_solve_info info = variant_reach("apgd+relaxed=true", p, 1e-6, r, NULL);
        if (info.iterations > most[k] || info.restarts == 0 || info.restarts > 20)
            fail_msg("problem %d: %d steps, %d restarts", k, info.iterations, info.restarts);
        free(r);
        dls_problem_destroy(p);
    }
}

/* ---- step length ---- */

typedef struct stepper {
    const dls_problem *problem;
    dls_apgd_options options;
    dls_workspace *workspace;
    dls_monitor monitor;
    dls_apgd apgd;
} stepper;

static void stepper_begin(stepper *x, const dls_problem *p, bool relaxed) {
    double *zero = calloc((size_t)dls_problem_row_count(p) + 1, sizeof(double));
    x->problem = p;
    x->options = dls_default_apgd_options();
    x->options.relaxed = relaxed;
    x->options.stop.tolerance = 0;
    x->workspace = dls_workspace_create();
    assert_true(dls_monitor_prepare(&x->monitor, p, &x->options.stop, x->workspace));
    assert_true(dls_apgd_prepare(&x->apgd, p, &x->options, &x->monitor, zero, x->workspace));
    free(zero);
}

/* Two bodies that pull apart: N 1 is far below the largest eigenvalue. W has unit diagonal, so scaling is
 * none. */
static dls_problem *coupled_pair(double coupling) {
    double W[16] = {0};
    const double b[4] = {-1, 0.3, -2, 0.1}, mu[2] = {0.5, 0.5};
    for (int i = 0; i < 4; i++) {
        W[i + 4 * i] = 1;
        W[i + 4 * ((i + 2) % 4)] = coupling;
    }
    dls_problem_def def = {.block_count = 2, .dimension = 2, .mu = mu, .b = b};
    return dense_problem(&def, 4, W);
}

/* L begins at ‖N 1‖/√n = 1 − c; it doubles until the quadratic bound holds and loses a tenth with every step,
 * so that it hovers around the curvature that the iterates meet. */
static void step_length_follows_curvature(void **state) {
    (void)state;
    dls_problem *p = coupled_pair(-0.9);
    stepper x;
    stepper_begin(&x, p, true);
    near(x.apgd.L, 0.1);
    int grown = 0, shrunk = 0;
    for (int k = 1; k <= 60; k++) {
        double before = x.apgd.L;
        int64_t products = x.apgd.products;
        dls_outcome outcome = dls_apgd_advance(&x.apgd, k);
        if (outcome == DLS_CONVERGED) break; /* to the last bit */
        double doublings = log2(x.apgd.L / (0.9 * before));
        assert_true(fabs(doublings - round(doublings)) < 1e-9 && doublings > -1e-9);
        assert_int_equal(x.apgd.products - products, 1 + (int)round(doublings)); /* one product per try */
        grown += doublings > 0.5;
        shrunk += doublings < 0.5;
        assert_true(x.apgd.L < 2 * 1.9 * 1.01);
    }
    assert_true(grown >= 1 && shrunk >= 5);
    dls_workspace_destroy(x.workspace);
    dls_problem_destroy(p);
}

/* A step that goes nowhere (d = 0) ends at once: the bound holds with equality. */
static void no_step_is_taken_once(void **state) {
    (void)state;
    const double W[4] = {1, 0.2, 0.2, 1}, b[2] = {1, 0.5}, mu = 0.3;
    dls_problem_def def = {.block_count = 1, .dimension = 2, .mu = &mu, .b = b};
    dls_problem *p = dense_problem(&def, 2, W);
    stepper x;
    stepper_begin(&x, p, false);
    int64_t before = x.apgd.products;
    double L = x.apgd.L;
    assert_int_equal(dls_apgd_advance(&x.apgd, 1), DLS_CONVERGED);
    assert_int_equal(x.apgd.products, before + 1);
    near(x.apgd.L, 0.9 * L);
    assert_true(x.apgd.r[0] == 0 && x.apgd.r[1] == 0);
    dls_workspace_destroy(x.workspace);
    dls_problem_destroy(p);
}

/* W 1 = 0 says nothing of the curvature: L starts at 1. */
static void start_without_curvature(void **state) {
    (void)state;
    dls_problem *p = coupled_pair(-1);
    stepper x;
    stepper_begin(&x, p, true);
    near(x.apgd.L, 1);
    dls_workspace_destroy(x.workspace);
    dls_problem_destroy(p);
}

/* θ follows θ² = (1 − θ) θ_k² + q θ: q = 1 never accelerates, q = 0 does ever more. */
static void momentum_follows_q(void **state) {
    (void)state;
    const double qs[] = {0, 0.04, 1};
    dls_problem *p = coupled_pair(-0.5);
    for (int k = 0; k < 3; k++) {
        stepper x;
        stepper_begin(&x, p, true);
        x.options.q = qs[k];
        double theta = 1;
        for (int step = 1; step <= 8; step++) {
            int restarts = x.apgd.restarts;
            if (dls_apgd_advance(&x.apgd, step) == DLS_CONVERGED) break;
            double next = x.apgd.theta;
            if (x.apgd.restarts > restarts) {
                assert_true(next == 1 && x.apgd.beta == 0);
            } else {
                near(next * next, (1 - next) * theta * theta + qs[k] * next);
                near(x.apgd.beta * (theta * theta + next), theta * (1 - theta));
            }
            assert_true(qs[k] < 1 || x.apgd.beta == 0);
            theta = next;
        }
        dls_workspace_destroy(x.workspace);
    }
    dls_problem_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_step_anti_relaxed),          cmocka_unit_test(first_step_relaxed),
        cmocka_unit_test(relaxation_is_exact_without_slip), cmocka_unit_test(relaxed_solution_is_the_minimum),
        cmocka_unit_test(step_length_follows_curvature),    cmocka_unit_test(no_step_is_taken_once),
        cmocka_unit_test(start_without_curvature),          cmocka_unit_test(momentum_follows_q),
        cmocka_unit_test(relaxed_residual_has_no_unit),     cmocka_unit_test(momentum_restarts_uphill),
    };
    return cmocka_run_group_tests_name("apgd", tests, NULL, NULL);
}
