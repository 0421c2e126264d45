/* Orders and intervals against tables and closed forms. */
#include "base/random.h"
#include "support/near.h"
#include "support/test.h"

#include <delassus/analysis.h>

#include <math.h>

static dls_refinement observe(double factor, double a, double b) {
    return dls_refinement_observe(factor, 2, (double[]){a, b});
}

/* q(h) = 3 + C h^p: the order is p and the error C h^p itself, whatever the number of steps. */
static void test_powers(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        const double p[] = {0.5, 1, 1.5, 2}, factor = k % 4 == 3 ? 3 : 2;
        const int count = k < 4 ? 2 : 3;
        double q[4], change[3], at = 0.01;
        for (int i = 0; i <= count; i++, at /= factor) q[i] = 3 + 0.7 * pow(at, p[k % 4]);
        for (int i = 0; i < count; i++) change[i] = fabs(q[i] - q[i + 1]);
        if (k % 4 == 0) change[0] *= 1 + 1e-9; /* not below an order of 1/2 by rounding */
        if (k % 4 == 0 && count == 3) change[0] *= 1 + 1e-9, change[1] *= 1 + 1e-9;
        dls_refinement o = dls_refinement_observe(factor, count, change);
        assert_true(o.steady);
        assert_near(o.order, p[k % 4], 1e-7);
        assert_near(o.error, fabs(q[count] - 3), 1e-7 * fabs(q[count] - 3));
    }
}

/* No order, no estimate; what shrinks by no steady order has the error that its largest change promises. */
static void test_orders_that_are_none(void **state) {
    (void)state;
    assert_true(isnan(observe(2, 1, 0.9).error) && !observe(2, 1, 0.9).steady);
    assert_near(observe(2, 1, 2).order, -1, 1e-12);
    assert_true(isnan(observe(2, 0, 1).order) && isnan(observe(2, 1, 0).order));
    assert_true(isnan(observe(1, 1, 0.5).order) && isnan(observe(2, nan(""), 0.5).order));
    assert_true(isnan(dls_refinement_observe(2, 1, (double[]){1}).order));
    dls_refinement lucky = observe(2, 1, 1.0 / 32);
    assert_false(lucky.steady);
    assert_near(lucky.order, 5, 1e-12);
    assert_near(lucky.error, 0.5, 1e-15);
    dls_refinement restless = dls_refinement_observe(2, 3, (double[]){1, 0.5, 0.125});
    assert_false(restless.steady);
    assert_near(restless.error, 0.25, 1e-15);
}

/* Closed forms for 1 and 2 freedoms, printed tables for others, the normal distribution for many. */
static void test_student(void **state) {
    (void)state;
    const double pi = acos(-1), c = 0.95;
    assert_near(dls_student_quantile(1, c), tan(pi * c / 2), 1e-9);
    assert_near(dls_student_quantile(2, c), c * sqrt(2 / (1 - c * c)), 1e-10);
    assert_near(dls_student_quantile(4, c), 2.776445, 1e-6);
    assert_near(dls_student_quantile(9, 0.99), 3.249836, 1e-6);
    assert_near(dls_student_quantile(30, 0.9), 1.697261, 1e-6);
    assert_near(dls_student_quantile(1e7, c), 1.959964, 1e-6);
    assert_true(isnan(dls_student_quantile(0.5, c)) && isnan(dls_student_quantile(3, 1)));
}

static void test_interval(void **state) {
    (void)state;
    const double values[] = {1, 2, 3, 4, 5};
    dls_interval i = dls_interval_of(5, values);
    assert_near(i.mean, 3, 1e-15);
    assert_near(i.deviation, sqrt(2.5), 1e-15);
    assert_near(i.half, 2.776445 * sqrt(0.5), 1e-6);
    assert_true(isinf(dls_interval_of(1, values).half));
    assert_true(isnan(dls_interval_of(0, values).mean));
}

/* The interval holds the true difference 95 times of 100: means of normal numbers with unequal spreads. */
static void test_difference_covers(void **state) {
    (void)state;
    enum { TRIALS = 4000, A = 5, B = 8 };
    dls_random g = {7};
    int inside = 0;
    for (int t = 0; t < TRIALS; t++) {
        double a[A], b[B];
        for (int k = 0; k < A; k++) a[k] = 2 + 3 * dls_random_normal(&g);
        for (int k = 0; k < B; k++) b[k] = 1 + 0.5 * dls_random_normal(&g);
        dls_interval ia = dls_interval_of(A, a), ib = dls_interval_of(B, b);
        dls_interval d = dls_interval_difference(&ia, &ib);
        inside += fabs(d.mean - 1) <= d.half;
    }
    /* 95 % of 4000 with a deviation of 14: five of them either way */
    assert_near(inside, 0.95 * TRIALS, 70);
}

static void test_decisions(void **state) {
    (void)state;
    dls_interval i = {.mean = 1.1, .half = 0.05};
    assert_int_equal(dls_interval_decide(&i, 1, 0.2), DLS_WITHIN);
    assert_int_equal(dls_interval_decide(&i, 1, 0.04), DLS_BEYOND);
    assert_int_equal(dls_interval_decide(&i, 1, 0.1), DLS_UNDECIDED);
    i.half = (double)INFINITY;
    assert_int_equal(dls_interval_decide(&i, 1, 100), DLS_UNDECIDED);
    i.mean = (double)NAN, i.half = 0;
    assert_int_equal(dls_interval_decide(&i, 1, 100), DLS_UNDECIDED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_orders_that_are_none),
        cmocka_unit_test(test_student),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_difference_covers),
        cmocka_unit_test(test_decisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
