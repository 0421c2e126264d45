/* The smoothed law for users: what it refuses, its limit, its derivatives against differences. */
#include "support/test.h"

#include <delassus/law.h>
#include <delassus/problem.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double between(double low, double high) { return low + (high - low) * rand() / RAND_MAX; }

/* ---- refusals ---- */

static dls_status call(int d, double mu, double rho, double omega, double r0, double u0) {
    const double r[4] = {r0, 0, 0, 0}, u[4] = {u0, 0, 0, 0};
    double C[4];
    dls_error error;
    dls_status status = dls_smoothed_contact(d, mu, rho, omega, r, u, C, NULL, NULL, &error);
    assert_int_equal(error.status, status);
    assert_int_equal(*error.message != 0, status != DLS_OK);
    return status;
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    const double r[4] = {0}, nothing = nan("");
    double C[4];
    assert_int_equal(call(3, 0.5, 1, 1e-3, 1, 1), DLS_OK);
    assert_int_equal(call(1, 0.5, 1, 1e-3, 1, 1), DLS_ERROR_ARGUMENT);
    assert_int_equal(call(5, 0.5, 1, 1e-3, 1, 1), DLS_ERROR_ARGUMENT);
    assert_int_equal(call(3, -0.5, 1, 1e-3, 1, 1), DLS_ERROR_INPUT);
    assert_int_equal(call(3, HUGE_VAL, 1, 1e-3, 1, 1), DLS_ERROR_INPUT);
    assert_int_equal(call(3, 0.5, 0, 1e-3, 1, 1), DLS_ERROR_INPUT);
    assert_int_equal(call(3, 0.5, 1, -1e-3, 1, 1), DLS_ERROR_INPUT);
    assert_int_equal(call(3, 0.5, 1, nothing, 1, 1), DLS_ERROR_INPUT);
    assert_int_equal(call(3, 0.5, 1, 1e-3, nothing, 1), DLS_ERROR_INPUT);
    assert_int_equal(call(3, 0.5, 1, 1e-3, 1, HUGE_VAL), DLS_ERROR_INPUT);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 1, 0, NULL, r, C, NULL, NULL, NULL), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 1, 0, r, NULL, C, NULL, NULL, NULL), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 1, 0, r, r, NULL, NULL, NULL, NULL), DLS_ERROR_ARGUMENT);
}

/* ---- values ---- */

/* Without smoothing C is r − proj_K(r − ρ(u + μ|u_t| n)). */
static void without_smoothing_it_is_the_law(void **state) {
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        int d = 2 + trial % 3;
        double mu = trial % 5 ? between(0, 2) : 0, rho = between(0.1, 10), r[4], u[4], z[4], C[4], slip = 0;
        for (int i = 0; i < d; i++) r[i] = between(-1, 1), u[i] = between(-1, 1);
        for (int i = 1; i < d; i++) slip += u[i] * u[i];
        for (int i = 0; i < d; i++) z[i] = r[i] - rho * (u[i] + (i == 0 ? mu * sqrt(slip) : 0));
        dls_cone_project(d, mu, z);
        assert_int_equal(dls_smoothed_contact(d, mu, rho, 0, r, u, C, NULL, NULL, NULL), DLS_OK);
        for (int i = 0; i < d; i++) assert_true(fabs(C[i] - (r[i] - z[i])) <= 1e-14 * (1 + 40 * rho));
    }
}

/* ---- derivatives ---- */

/* Largest error of X/ρ and Y against central differences, at points of the size of ω. */
static double derivative_error(int d, double mu, double omega) {
    double r[4], u[4], C[4], X[16], Y[16], rho = between(0.1, 10), step = 1e-4, worst = 0;
    for (int i = 0; i < d; i++) r[i] = rho * omega * between(-3, 3), u[i] = omega * between(-3, 3);
    r[1] = rho * (u[1] + omega * between(0.5, 3)); /* clear of z_T = 0, where the second derivative jumps */
    assert_int_equal(dls_smoothed_contact(d, mu, rho, omega, r, u, C, X, Y, NULL), DLS_OK);
    for (int j = 0; j < 2 * d; j++) {
        double side[2][4], *moved = j < d ? &r[j] : &u[j - d], h = step * omega * (j < d ? rho : 1),
                           kept = *moved;
        for (int s = 0; s < 2; s++) {
            *moved = kept + (s ? h : -h);
            assert_int_equal(dls_smoothed_contact(d, mu, rho, omega, r, u, side[s], NULL, NULL, NULL),
                             DLS_OK);
        }
        *moved = kept;
        for (int i = 0; i < d; i++) {
            double expected = j < d ? Y[i + d * j] : X[i + d * (j - d)];
            worst = fmax(worst, fabs((side[1][i] - side[0][i]) / (2 * h) - expected) / (j < d ? 1 : rho));
        }
    }
    return worst;
}

static void derivatives_match_differences(void **state) {
    (void)state;
    const double frictions[] = {0, 0.3, 1, 2}, omegas[] = {1e-1, 1e-4, 1e-8, 1e-11};
    for (int k = 0; k < 4; k++)
        for (int n = 0; n < 4; n++)
            for (int trial = 0; trial < 60; trial++)
                assert_true(derivative_error(2 + trial % 3, frictions[k], omegas[n]) < 1e-6);
}

static void either_derivative_may_be_left_out(void **state) {
    (void)state;
    const double r[] = {1, 0.2, 0.1}, u[] = {0.1, -0.3, 0.4};
    double C[3], X[9], Y[9], only[9];
    assert_int_equal(dls_smoothed_contact(3, 0.5, 2, 1e-2, r, u, C, X, Y, NULL), DLS_OK);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 2, 1e-2, r, u, C, only, NULL, NULL), DLS_OK);
    assert_memory_equal(only, X, sizeof X);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 2, 1e-2, r, u, C, NULL, only, NULL), DLS_OK);
    assert_memory_equal(only, Y, sizeof Y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(without_smoothing_it_is_the_law),
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(either_derivative_may_be_left_out),
    };
    srand(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
