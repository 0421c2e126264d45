/* The second-order cone's Jordan algebra: scaling, product, division and the way to the boundary. */
#include "base/random.h"
#include "solve/global/lorentz.h"
#include "support/scale.h"
#include "support/test.h"

enum { ROUNDS = 5000, FEW = 200 };

/* In the interior; depth is the share of x₀ that is left to the boundary. */
static void random_inside(dls_random *g, int m, double depth, double *x) {
    double size = exp(dls_random_between(g, -5, 5)), t = 0;
    x[0] = size;
    for (int i = 1; i < m; i++) {
        x[i] = dls_random_normal(g);
        t += x[i] * x[i];
    }
    for (int i = 1; i < m; i++) x[i] *= size * (1 - depth) / sqrt(t);
}

static double distance(int m, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < m; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

/* V² x = z, λ = V x = V⁻¹ z, |λ|² = x·z; V is as ill-conditioned as x and z are close to the boundary. */
static void scaling_maps_x_to_z(void **state) {
    (void)state;
    dls_random g = {61};
    for (int round = 0; round < scaled(ROUNDS, FEW); round++)
        for (int m = 1; m <= 4; m++) {
            double x[4], z[4], once[4], twice[4], back[4], depth = pow(10, -dls_random_between(&g, 0, 6));
            random_inside(&g, m, depth, x);
            random_inside(&g, m, pow(10, -dls_random_between(&g, 0, 6)), z);
            lorentz_scaling s = {0};
            assert_true(lorentz_scaling_make(m, x, z, &s));
            lorentz_scale(m, &s, x, once);
            lorentz_scale(m, &s, once, twice);
            lorentz_unscale(m, &s, z, back);
            double small = 1e-8 * small_norm(m, z);
            if (!(distance(m, twice, z) <= small))
                fail_msg("m = %d, depth %g: |V²x − z|/|z| = %g", m, depth,
                         distance(m, twice, z) / small_norm(m, z));
            assert_true(distance(m, once, s.lambda) <= 1e-8 * small_norm(m, s.lambda));
            assert_true(distance(m, back, s.lambda) <= 1e-8 * small_norm(m, s.lambda));
            double product = small_dot(m, x, z);
            assert_true(fabs(small_dot(m, s.lambda, s.lambda) - product) <= 1e-8 * product);
        }
}

static void unscaling_inverts_scaling(void **state) {
    (void)state;
    dls_random g = {62};
    for (int round = 0; round < scaled(ROUNDS, FEW); round++)
        for (int m = 1; m <= 4; m++) {
            double x[4], z[4], y[4], once[4], back[4];
            random_inside(&g, m, dls_random_between(&g, 0.01, 1), x);
            random_inside(&g, m, dls_random_between(&g, 0.01, 1), z);
            for (int i = 0; i < m; i++) y[i] = dls_random_normal(&g);
            lorentz_scaling s = {0};
            assert_true(lorentz_scaling_make(m, x, z, &s));
            lorentz_scale(m, &s, y, once);
            lorentz_unscale(m, &s, once, back);
            assert_true(distance(m, back, y) <= 1e-10 * small_norm(m, y));
            lorentz_unscale(m, &s, y, once);
            lorentz_scale(m, &s, once, back);
            assert_true(distance(m, back, y) <= 1e-10 * small_norm(m, y));
        }
}

/* V maps the cone onto itself and is symmetric. */
static void scaling_keeps_the_cone(void **state) {
    (void)state;
    dls_random g = {63};
    for (int round = 0; round < scaled(ROUNDS, FEW); round++)
        for (int m = 1; m <= 4; m++) {
            double x[4], z[4], p[4], q[4], Vp[4], Vq[4];
            random_inside(&g, m, 0.1, x);
            random_inside(&g, m, 0.1, z);
            random_inside(&g, m, 1e-3, p);
            random_inside(&g, m, 1e-3, q);
            lorentz_scaling s = {0};
            assert_true(lorentz_scaling_make(m, x, z, &s));
            lorentz_scale(m, &s, p, Vp);
            lorentz_scale(m, &s, q, Vq);
            assert_true(Vp[0] > 0 && lorentz_determinant(m, Vp) > 0);
            double size = small_norm(m, Vp) * small_norm(m, q) + small_norm(m, p) * small_norm(m, Vq);
            assert_true(fabs(small_dot(m, Vp, q) - small_dot(m, p, Vq)) <= 1e-14 * size);
        }
}

/* Points outside or on the boundary have no scaling. */
static void scaling_refuses_the_boundary(void **state) {
    (void)state;
    const double inside[4] = {2, 1, 1, 1}, bad[][4] = {{0, 0, 0, 0}, {-2, 0, 0, 0},  {1, 1, 0, 0},
                                                       {1, 2, 0, 0}, {NAN, 0, 0, 0}, {1, NAN, 0, 0}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        for (int m = k < 2 ? 1 : 2; m <= 4; m++) {
            lorentz_scaling s = {0};
            assert_false(lorentz_scaling_make(m, inside, bad[k], &s));
            assert_false(lorentz_scaling_make(m, bad[k], inside, &s));
        }
}

static void division_inverts_the_product(void **state) {
    (void)state;
    dls_random g = {64};
    for (int round = 0; round < scaled(ROUNDS, FEW); round++)
        for (int m = 1; m <= 4; m++) {
            double x[4], d[4], y[4], back[4];
            random_inside(&g, m, dls_random_between(&g, 0.01, 1), x);
            for (int i = 0; i < m; i++) d[i] = dls_random_normal(&g);
            lorentz_divide(m, x, lorentz_determinant(m, x), d, y);
            lorentz_product(m, x, y, back);
            assert_true(distance(m, back, d) <= 1e-10 * small_norm(m, d));
            lorentz_product(m, y, x, d);
            assert_true(distance(m, back, d) <=
                        1e-14 * small_norm(m, x) * small_norm(m, y)); /* it commutes */
        }
}

/* x and z so near the same edge that λ₀² − |λ̄|² is rounding alone: det λ = √(det x det z) still holds, and
 * with it the division: with e₁ along the edge the part of λ ∘ y along e₀ + e₁ is (λ₀ + |λ̄|)(y₀ + y₁). */
static void division_beside_the_edge(void **state) {
    (void)state;
    dls_random g = {66};
    int lost = 0;
    for (int round = 0; round < scaled(ROUNDS, FEW); round++)
        for (int m = 2; m <= 4; m++) {
            double size_x = exp(dls_random_between(&g, -5, 5)), size_z = exp(dls_random_between(&g, -5, 5));
            double x[4] = {size_x, size_x * (1 - 0x1p-52)}, z[4] = {size_z, size_z * (1 - 0x1p-51)};
            double d[4], y[4];
            for (int i = 0; i < m; i++) d[i] = dls_random_normal(&g);
            lorentz_scaling s = {0};
            assert_true(lorentz_scaling_make(m, x, z, &s));
            lost += !(lorentz_determinant(m, s.lambda) > 0);
            double expected = sqrt(lorentz_determinant(m, x)) * sqrt(lorentz_determinant(m, z));
            assert_true(fabs(s.determinant - expected) <= 1e-14 * expected);
            lorentz_divide(m, s.lambda, s.determinant, d, y);
            double along = (s.lambda[0] + s.lambda[1]) * (y[0] + y[1]), right = d[0] + d[1];
            double size = (s.lambda[0] + s.lambda[1]) * (fabs(y[0]) + fabs(y[1]));
            assert_true(fabs(along - right) <= 1e-14 * size);
        }
    assert_true(lost > 0); /* the case is reached */
}

/* x ∘ x has the squares of the spectral values x₀ ± |x̄|; e = (1, 0 …) is the unit. */
static void product_of_known_points(void **state) {
    (void)state;
    const double x[4] = {5, 3, 0, 4}, unit[4] = {1, 0, 0, 0};
    double square[4], same[4];
    lorentz_product(4, x, x, square);
    double t = small_norm(3, square + 1);
    assert_true(fabs(square[0] + t - 100) < 1e-12 && fabs(square[0] - t) < 1e-12);
    lorentz_product(4, x, unit, same);
    assert_memory_equal(same, x, sizeof x);
    assert_true(lorentz_determinant(4, x) == 0);
    assert_true(lorentz_determinant(3, x) == 16);
    assert_true(lorentz_determinant(1, x) == 25);
}

/* The step ends where the segment leaves the cone, or at the limit. */
static void step_ends_at_the_boundary(void **state) {
    (void)state;
    dls_random g = {65};
    int reached = 0, unbounded = 0;
    for (int round = 0; round < scaled(ROUNDS, FEW); round++)
        for (int m = 1; m <= 4; m++) {
            double x[4], d[4], near[4], far[4], limit = 1.01;
            random_inside(&g, m, pow(10, -dls_random_between(&g, 0, 4)), x);
            for (int i = 0; i < m; i++)
                d[i] = x[0] * exp(dls_random_between(&g, -3, 3)) * dls_random_normal(&g);
            double t = lorentz_step(m, x, d, limit);
            assert_true(t > 0 && t <= limit);
            for (int i = 0; i < m; i++) {
                near[i] = x[i] + 0.9999 * t * d[i];
                far[i] = x[i] + 1.0001 * t * d[i];
            }
            assert_true(near[0] - small_norm(m - 1, near + 1) > -1e-13 * (x[0] + fabs(t * d[0])));
            if (t < limit) assert_true(far[0] - small_norm(m - 1, far + 1) < 0);
            reached += t < limit;
            unbounded += t == limit;
        }
    assert_true(reached > FEW && unbounded > FEW / 4);
}

static void steps_of_known_length(void **state) {
    (void)state;
    const double x[4] = {2, 0, 1, 0};
    for (int m = 1; m <= 4; m++) {
        double back[4], along[4] = {1, 1, 0, 0}, none[4] = {0}, inward[4] = {3, -1, 2, 0},
                        side[4] = {0, 1, 0, 0};
        for (int i = 0; i < m; i++) back[i] = -x[i];
        assert_true(fabs(lorentz_step(m, x, back, 5) - 1) < 1e-14); /* to the apex */
        assert_true(lorentz_step(m, x, along, 5) == 5);             /* a ray of the boundary */
        assert_true(lorentz_step(m, x, none, 5) == 5);
        assert_true(lorentz_step(m, x, inward, 5) == 5);
        if (m > 1) assert_true(fabs(lorentz_step(m, x, side, 5) - sqrt(m > 2 ? 3 : 4)) < 1e-14);
        along[0] = -1; /* 2 − t = t, or (2 − t)² = t² + 1 */
        if (m > 1) assert_true(fabs(lorentz_step(m, x, along, 5) - (m > 2 ? 0.75 : 1)) < 1e-14);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaling_maps_x_to_z),          cmocka_unit_test(unscaling_inverts_scaling),
        cmocka_unit_test(scaling_keeps_the_cone),       cmocka_unit_test(scaling_refuses_the_boundary),
        cmocka_unit_test(division_inverts_the_product), cmocka_unit_test(division_beside_the_edge),
        cmocka_unit_test(product_of_known_points),      cmocka_unit_test(step_ends_at_the_boundary),
        cmocka_unit_test(steps_of_known_length),
    };
    return cmocka_run_group_tests_name("lorentz", tests, NULL, NULL);
}
