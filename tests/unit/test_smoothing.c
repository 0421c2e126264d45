/* The smoothed law of paper 000: its derivatives against finite differences, its limits, its bounds. */
#include "base/random.h"
#include "problem/cone.h"
#include "solve/global/smoothing.h"
#include "support/scale.h"
#include "support/test.h"

#include <delassus/law.h>

static const double frictions[] = {0, 0.3, 1, 2};

enum { FRICTIONS = sizeof frictions / sizeof *frictions, LAST_EXPONENT = 11 };

/* A contact at which the law is looked at. */
typedef struct point {
    int d;
    double mu, rho, omega;
    double r[4], u[4];
} point;

static void random_point(dls_random *g, double size, point *at) {
    at->rho = exp(dls_random_between(g, -3, 3));
    for (int i = 0; i < at->d; i++) {
        at->u[i] = size * dls_random_normal(g);
        at->r[i] = at->rho * size * dls_random_normal(g);
    }
}

static void law_at(const point *at, double *C) {
    dls_smoothed_law(at->d, at->mu, at->rho, at->omega, at->r, at->u, C, NULL, NULL);
}

/* ∂C/∂x_j by central differences, x being r or u of the point. */
static void difference(point *at, double *x, int j, double h, double *column) {
    double ahead[4], behind[4], here = x[j];
    x[j] = here + h;
    double up = x[j];
    law_at(at, ahead);
    x[j] = here - h;
    double down = x[j];
    law_at(at, behind);
    x[j] = here;
    for (int i = 0; i < at->d; i++) column[i] = (ahead[i] - behind[i]) / (up - down);
}

/* Entries of Y are of size 1, those of X of size ρ (1 + μ). */
static void check_derivatives(point *at, double h, double tolerance) {
    double C[4], X[16], Y[16], column[4];
    int d = at->d;
    dls_smoothed_law(d, at->mu, at->rho, at->omega, at->r, at->u, C, X, Y);
    for (int j = 0; j < d; j++)
        for (int which = 0; which < 2; which++) {
            double *x = which ? at->r : at->u, *exact = (which ? Y : X) + d * j;
            difference(at, x, j, which ? at->rho * h : h, column);
            double size = which ? 1 : at->rho * (1 + at->mu);
            for (int i = 0; i < d; i++)
                if (!(fabs(column[i] - exact[i]) <= tolerance * size))
                    fail_msg("d = %d, μ = %g, ω = %g: %c[%d,%d] = %.10g, differences give %.10g", d, at->mu,
                             at->omega, which ? 'Y' : 'X', i, j, exact[i] / size, column[i] / size);
        }
}

/* Where all quantities are as small as ω: the smooth region, in which derivatives vary the most. */
static void derivatives_within_the_kinks(void **state) {
    (void)state;
    dls_random g = {51};
    for (int d = 2; d <= 4; d++)
        for (int m = 0; m < FRICTIONS; m++)
            for (int exponent = 0; exponent <= LAST_EXPONENT; exponent++)
                for (int round = 0; round < scaled(200, 20); round++) {
                    point at = {.d = d, .mu = frictions[m], .omega = pow(10, -exponent)};
                    random_point(&g, exp(dls_random_between(&g, -1, 1)) * at.omega, &at);
                    check_derivatives(&at, 1e-5 * at.omega, 1e-7);
                }
}

/* Distance of the point from the kinks of the law itself, as a velocity. */
static double distance_to_kinks(const point *at) {
    int d = at->d;
    double z[4], slip = small_norm(d - 1, at->u + 1);
    for (int i = 0; i < d; i++) z[i] = at->r[i] / at->rho - at->u[i] - (i == 0 ? at->mu * slip : 0);
    double t = small_norm(d - 1, z + 1);
    double polar = fabs(z[0] + at->mu * t), cone = fabs(t - at->mu * z[0]);
    return fmin(fmin(slip, t), fmin(polar, cone));
}

/* Velocities of size 1, and ω down to 1e-11: away from the kinks derivatives do not see the smoothing. */
static void derivatives_beside_the_kinks(void **state) {
    (void)state;
    dls_random g = {52};
    for (int d = 2; d <= 4; d++)
        for (int m = 0; m < FRICTIONS; m++)
            for (int exponent = 0; exponent <= LAST_EXPONENT; exponent++)
                for (int round = 0; round < scaled(200, 20);) {
                    point at = {.d = d, .mu = frictions[m], .omega = pow(10, -exponent)};
                    random_point(&g, 1, &at);
                    if (distance_to_kinks(&at) < 0.05) continue;
                    check_derivatives(&at, 1e-5, 1e-6);
                    round++;
                }
}

/* z_t = 0, where the spectral vectors have no direction: differences err by O(h), as |z_t| has a kink. */
static void derivatives_on_the_axis(void **state) {
    (void)state;
    dls_random g = {53};
    for (int d = 2; d <= 4; d++)
        for (int m = 0; m < FRICTIONS; m++)
            for (int exponent = 0; exponent <= LAST_EXPONENT; exponent++)
                for (int round = 0; round < scaled(50, 5); round++) {
                    point at = {.d = d, .mu = frictions[m], .omega = pow(10, -exponent)};
                    random_point(&g, at.omega, &at);
                    at.rho = ldexp(1, round % 7 - 3); /* so that z_t is zero to the last bit */
                    for (int i = 1; i < d; i++) at.r[i] = at.rho * at.u[i];
                    check_derivatives(&at, 1e-6 * at.omega, 1e-5);
                }
}

/* On the axis Y is ġ₁ I with friction; without, the tangential part is I whatever z_n is. */
static void limits_on_the_axis(void **state) {
    (void)state;
    for (int d = 2; d <= 4; d++)
        for (int m = 0; m < FRICTIONS; m++)
            for (double normal = -3; normal <= 3; normal += 0.75) {
                point at = {.d = d, .mu = frictions[m], .rho = 2, .omega = 0.5};
                double C[4], X[16], Y[16], w = 2 * 0.5, lambda = -normal / (1 + at.mu * at.mu);
                double slope = 0.5 * (1 + lambda / hypot(lambda, 2 * w));
                at.r[0] = normal;
                dls_smoothed_law(d, at.mu, at.rho, at.omega, at.r, at.u, C, X, Y);
                for (int i = 0; i < d; i++)
                    for (int j = 0; j < d; j++) {
                        double expected = i != j ? 0 : i > 0 && at.mu == 0 ? 1 : slope;
                        assert_true(fabs(Y[i + d * j] - expected) < 1e-14);
                        assert_true(fabs(X[i + d * j] - at.rho * ((i == j) - expected)) < 1e-14);
                    }
            }
}

/* |C_ω − C_0| ≤ ρω (2μ + (1 + μ)√(1 + μ²)), and C_0 is the natural map. */
static void smoothing_vanishes_with_omega(void **state) {
    (void)state;
    dls_random g = {54};
    for (int round = 0; round < scaled(20000, 500); round++) {
        point at = {.d = 2 + round % 3, .mu = frictions[round / 3 % FRICTIONS]};
        double C[4], N[4], exact[4], mu = at.mu;
        random_point(&g, 1, &at);
        cone_natural_map(at.d, mu, 1 / at.rho, at.r, at.u, N);
        law_at(&at, exact);
        for (int i = 0; i < at.d; i++) assert_true(fabs(exact[i] - at.rho * N[i]) < 1e-13 * at.rho * 10);
        for (int exponent = 0; exponent <= LAST_EXPONENT; exponent++) {
            at.omega = pow(10, -exponent);
            law_at(&at, C);
            double bound = at.rho * at.omega * (2 * mu + (1 + mu) * sqrt(1 + mu * mu)), sum = 0;
            for (int i = 0; i < at.d; i++) sum += (C[i] - exact[i]) * (C[i] - exact[i]);
            if (!(sqrt(sum) <= bound + 1e-14 * at.rho * 10))
                fail_msg("ω = %g: off by %g, at most %g", at.omega, sqrt(sum), bound);
        }
    }
}

/* A smoothed projection is the gradient of a convex function with slopes of at most 1: Y = Yᵀ, 0 ≤ Y ≤ I. */
static void Y_is_symmetric_between_0_and_1(void **state) {
    (void)state;
    dls_random g = {55};
    for (int round = 0; round < scaled(20000, 500); round++) {
        point at = {.d = 2 + round % 3, .mu = frictions[round / 3 % FRICTIONS]};
        double C[4], X[16], Y[16], rest[16];
        int d = at.d;
        at.omega = pow(10, -dls_random_between(&g, 0, LAST_EXPONENT));
        random_point(&g, round % 2 ? 1 : at.omega, &at);
        dls_smoothed_law(d, at.mu, at.rho, at.omega, at.r, at.u, C, X, Y);
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) {
                assert_true(fabs(Y[i + d * j] - Y[j + d * i]) < 1e-15);
                rest[i + d * j] = -Y[i + d * j];
            }
        assert_true(small_max_eigenvalue(d, Y, d) <= 1 + 1e-12);
        assert_true(small_max_eigenvalue(d, rest, d) <= 1e-12);
    }
}

/* C is homogeneous: other units of velocity and impulse give the same law. */
static void law_has_no_units(void **state) {
    (void)state;
    dls_random g = {56};
    for (int round = 0; round < scaled(2000, 100); round++) {
        point at = {.d = 2 + round % 3, .mu = frictions[round / 3 % FRICTIONS], .omega = 0.1}, other;
        double C[4], X[16], Y[16], C2[4], X2[16], Y2[16];
        random_point(&g, 1, &at);
        other = at;
        double velocity = ldexp(1, round % 61 - 30), mass = ldexp(1, round % 37 - 18); /* exact in binary */
        other.rho *= mass;
        other.omega *= velocity;
        for (int i = 0; i < at.d; i++) other.u[i] *= velocity, other.r[i] *= velocity * mass;
        dls_smoothed_law(at.d, at.mu, at.rho, at.omega, at.r, at.u, C, X, Y);
        dls_smoothed_law(at.d, at.mu, other.rho, other.omega, other.r, other.u, C2, X2, Y2);
        for (int i = 0; i < at.d; i++)
            assert_true(fabs(C2[i] - velocity * mass * C[i]) <= 1e-14 * fabs(C2[i]));
        for (int k = 0; k < at.d * at.d; k++) {
            assert_true(fabs(X2[k] - mass * X[k]) <= 1e-13 * mass * at.rho);
            assert_true(fabs(Y2[k] - Y[k]) <= 1e-13);
        }
    }
}

/* The public call checks what the inner one takes for granted. */
static void public_call(void **state) {
    (void)state;
    double r[3] = {1, 0.2, -0.1}, u[3] = {-0.3, 1, 2}, C[3], X[9], Y[9], same[3], one[9],
           bad[3] = {0, NAN, 0};
    dls_error error;
    dls_smoothed_law(3, 0.5, 2, 0.1, r, u, C, X, Y);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 2, 0.1, r, u, same, one, NULL, &error), DLS_OK);
    assert_memory_equal(same, C, sizeof C);
    assert_memory_equal(one, X, sizeof X);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 2, 0.1, r, u, same, NULL, one, NULL), DLS_OK);
    assert_memory_equal(one, Y, sizeof Y);
    for (int d = 0; d < 8; d += d == 1 ? 4 : 1)
        assert_int_equal(dls_smoothed_contact(d, 0.5, 2, 0.1, r, u, C, X, Y, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 2, 0.1, NULL, u, C, X, Y, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 2, 0.1, r, u, NULL, X, Y, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_smoothed_contact(3, -0.5, 2, 0.1, r, u, C, X, Y, &error), DLS_ERROR_INPUT);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 0, 0.1, r, u, C, X, Y, &error), DLS_ERROR_INPUT);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 2, -0.1, r, u, C, X, Y, &error), DLS_ERROR_INPUT);
    assert_int_equal(dls_smoothed_contact(3, 0.5, 2, 0.1, bad, u, C, X, Y, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "r[1]"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_within_the_kinks),
        cmocka_unit_test(derivatives_beside_the_kinks),
        cmocka_unit_test(derivatives_on_the_axis),
        cmocka_unit_test(limits_on_the_axis),
        cmocka_unit_test(smoothing_vanishes_with_omega),
        cmocka_unit_test(Y_is_symmetric_between_0_and_1),
        cmocka_unit_test(law_has_no_units),
        cmocka_unit_test(public_call),
    };
    return cmocka_run_group_tests_name("smoothing", tests, NULL, NULL);
}
