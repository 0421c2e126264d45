/* Generated problems with parts of friction, joints, stops and motors: their laws by words, and every solver.
 */
#include "support/sample.h"
#include "support/scale.h"
#include "support/test.h"
#include "support/variant.h"

#include <math.h>
#include <string.h>

static dls_problem *generate(dls_generator kind, int size, uint64_t seed, double mu, bool matrix_free) {
    dls_generate_def def = dls_default_generate_def();
    dls_problem *problem = NULL;
    dls_error error;
    def.kind = kind;
    def.size = size;
    def.seed = seed;
    def.mu = mu;
    def.mu_spinning = 5e-4;
    def.matrix_free = matrix_free;
    if (dls_problem_generate(&def, &problem, &error)) fail_msg("%s", error.message);
    return problem;
}

static double *doubles(int count) { return calloc((size_t)count + 1, sizeof(double)); }

/* ---- what they hold ---- */

static void a_packing_that_rolls_and_spins(void **state) {
    (void)state;
    dls_problem *p = generate(DLS_GENERATE_ROLLING, 200, 1, 0.3, true);
    dls_problem *plain = generate(DLS_GENERATE_PACKING, 200, 1, 0.3, true);
    assert_int_equal(dls_problem_contact_count(p), dls_problem_contact_count(plain));
    assert_int_equal(dls_problem_contact_count(p), dls_problem_block_count(p));
    for (int c = 0; c < dls_problem_block_count(p); c++) {
        double W[36], V[9];
        assert_int_equal(dls_problem_block_parts(p, c), DLS_PARTS(2, 2, 1));
        assert_true(fabs(dls_problem_mu_rolling(p, c) - 1e-3) < 1e-17);
        assert_true(fabs(dls_problem_mu_spinning(p, c) - 5e-4) < 1e-17);
        dls_problem_diagonal_block(p, c, W);
        dls_problem_diagonal_block(plain, c, V);
        double inertia = 2.5 * V[0] / 1e-4; /* of balls: 1/I = 5/(2 m R²), and ways do not turn with turns */
        for (int k = 0; k < 9; k++) assert_true(fabs(W[k % 3 + 6 * (k / 3)] - V[k]) < 1e-9 * V[0]);
        for (int k = 0; k < 9; k++) { /* turns about three axes that stand upright on each other */
            double turn = W[3 + k % 3 + 6 * (3 + k / 3)], told = k % 4 ? 0 : inertia;
            assert_true(fabs(turn - told) < 1e-9 * inertia);
        }
        for (int i = 3; i < 6; i++) assert_true(fabs(W[6 * i]) < 1e-9 * sqrt(V[0] * inertia)); /* n, turns */
        for (int i = 0; i < 3; i++)
            assert_true(dls_problem_b(p)[dls_problem_block_row(p, c) + i] ==
                        dls_problem_b(plain)[dls_problem_block_row(plain, c) + i]);
    }
    dls_problem_destroy(p);
    dls_problem_destroy(plain);
}

static void a_mixed_problem_has_all_kinds(void **state) {
    (void)state;
    dls_problem *p = generate(DLS_GENERATE_MIXED, 1000, 1, 0.3, true);
    int layouts[64] = {0}, free_rows = 0, stops = 0, both = 0;
    for (int c = 0; c < dls_problem_block_count(p); c++) {
        if (dls_problem_block_kind(p, c) == DLS_CONTACT) {
            layouts[dls_problem_block_parts(p, c)]++;
            continue;
        }
        for (int i = 0; i < dls_problem_block_size(p, c); i++) {
            int row = dls_problem_block_row(p, c) + i;
            bool low = isfinite(dls_problem_low(p, row)), high = isfinite(dls_problem_high(p, row));
            free_rows += !low && !high;
            stops += low && !high;
            both += low && high;
        }
    }
    const uint8_t expected[] = {DLS_PARTS(0, 0, 0), DLS_PARTS(2, 0, 0), DLS_PARTS(2, 2, 0),
                                DLS_PARTS(2, 2, 1), DLS_PARTS(2, 0, 1), DLS_PARTS(3, 0, 0)};
    for (size_t k = 0; k < sizeof expected; k++) assert_true(layouts[expected[k]] > 50);
    assert_true(free_rows > 20 && stops > 10 && both > 20);
    dls_problem_destroy(p);
}

static void coefficients_are_checked(void **state) {
    (void)state;
    dls_generate_def def = dls_default_generate_def();
    dls_problem *problem;
    dls_error error;
    def.kind = DLS_GENERATE_ROLLING;
    def.mu_spinning = (double)NAN;
    assert_int_equal(dls_problem_generate(&def, &problem, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "coefficient of spinning friction is nan, expected 0 or more"));
    def.mu_spinning = 0;
    def.mu_rolling = -1;
    assert_int_equal(dls_problem_generate(&def, &problem, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "coefficient of rolling friction is -1"));
}

/* ---- what solvers make of them ---- */

static const dls_generator kinds[] = {DLS_GENERATE_ROLLING, DLS_GENERATE_MIXED};

static void every_solver(void **state) {
    (void)state;
    const char *variants[] = {"auto", "nlgs", "nlgs+law=eal", "nlgs+law=ebp", "newton", "ipm", "apgd", "pqn"};
    for (int k = 0; k < 2; k++)
        for (int implicit = 0; implicit < 2; implicit++) {
            dls_problem *p = generate(kinds[k], scaled(120, 40), 1, 0.3, implicit);
            double *r = doubles(dls_problem_row_count(p));
            for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
                variant_reach(variants[i], p, 1e-8, r, NULL);
            free(r);
            dls_problem_destroy(p);
        }
}

/* Sizes at which sweeps and gradients alone begin to stall. */
static void some_hundred_contacts(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            dls_problem *p = generate(kinds[k], scaled(350, 60), seed, 0.3, seed % 2);
            double *r = doubles(dls_problem_row_count(p));
            variant_reach("auto", p, 1e-8, r, NULL);
            free(r);
            dls_problem_destroy(p);
        }
}

/* Packings with more than twice the rows of their rank, where sweeps, Newton and a path on which directions
 * always know all of |z̄| stall at 1e-5 or worse: rounding may decide on one of them. */
static void packings_that_the_interior_point_takes(void **state) {
    (void)state;
    static const struct {
        dls_generator kind;
        int size;
        uint64_t seed;
        double mu;
    } hard[] = {{DLS_GENERATE_ROLLING, 300, 3, 0.8},
                {DLS_GENERATE_ROLLING, 500, 3, 0.5},
                {DLS_GENERATE_ROLLING, 500, 3, 0.8},
                {DLS_GENERATE_MIXED, 500, 5, 0.8}};
    int count = scaled(4, 1), solved = 0;
    for (int k = 0; k < count; k++) {
        dls_generate_def def = dls_default_generate_def();
        def.kind = hard[k].kind, def.size = hard[k].size, def.seed = hard[k].seed, def.mu = hard[k].mu;
        dls_problem *p;
        assert_int_equal(dls_problem_generate(&def, &p, NULL), DLS_OK);
        double *r = doubles(dls_problem_row_count(p));
        variant v = variant_from("ipm");
        solved += variant_solve(&v, p, r, NULL).outcome == DLS_CONVERGED;
        free(r);
        dls_problem_destroy(p);
    }
    if (solved < count - 1) fail_msg("%d of %d solved", solved, count);
}

/* Where all else ends above 1e-5, Newton follows friction as it rises. */
static void a_packing_that_rising_friction_takes(void **state) {
    (void)state;
    dls_generate_def def = dls_default_generate_def();
    dls_problem *p;
    def.kind = DLS_GENERATE_ROLLING, def.size = scaled(500, 60), def.seed = 4, def.mu = 0.5;
    assert_int_equal(dls_problem_generate(&def, &p, NULL), DLS_OK);
    double *r = doubles(dls_problem_row_count(p));
    variant_reach("auto", p, 1e-8, r, NULL);
    free(r);
    dls_problem_destroy(p);
}

static void many_contacts(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        dls_problem *p = generate(kinds[k], scaled(5000, 300), 1, 0.3, true);
        double *r = doubles(dls_problem_row_count(p));
        variant_reach("nlgs", p, 1e-4, r, NULL);
        variant_reach("auto", p, 1e-4, r, NULL);
        free(r);
        dls_problem_destroy(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packing_that_rolls_and_spins),
        cmocka_unit_test(a_mixed_problem_has_all_kinds),
        cmocka_unit_test(coefficients_are_checked),
        cmocka_unit_test(every_solver),
        cmocka_unit_test(some_hundred_contacts),
        cmocka_unit_test(packings_that_the_interior_point_takes),
        cmocka_unit_test(a_packing_that_rising_friction_takes),
        cmocka_unit_test(many_contacts),
    };
    return cmocka_run_group_tests_name("generated", tests, NULL, NULL);
}
