/* Impacts in the order in which they happen, several in a step. */
#include "base/random.h"
#include "base/vector.h"
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static const double G = 9.81;

static void start(stage *s, double h, const char *scheme) {
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    o.restitution = DLS_RESTITUTION_IN_ORDER;
    strcpy(o.scheme, scheme);
    stage_start(s, &o, 1e-9);
}

static int64_t impacts_of(const stage *s) { return dls_simulation_impacts(s->simulation, NULL); }

static double energy_of(const stage *s) {
    dls_energy e = dls_simulation_energy(s->simulation);
    return e.kinetic + e.potential;
}

/* ---- a row of balls ---- */

static void run_cradle(double gap, double h, const double *along, const char *scheme) {
    const double r = 0.02;
    stage s = stage_open(3, 0, 0.3, 1, 0);
    dls_shape_def ball = stage_ball(3, r);
    dls_body_id id[5];
    double x[3], v[3], none[3] = {0, 0, 0};
    int64_t impacts = 0;
    for (int k = 0; k < 5; k++) {
        vec_scale(x, k ? k * (2 * r + gap) : -0.0103, along);
        vec_scale(v, 1, along);
        id[k] = stage_add_shape(&s, DLS_DYNAMIC, &ball, x, k ? none : v, NULL);
    }
    start(&s, h, scheme);
    for (int k = 0; k < (int)(0.02 / h); k++) {
        stage_run(&s, 1);
        impacts += impacts_of(&s);
    }
    for (int k = 0; k < 5; k++) assert_near(vec_dot(stage_state(&s, id[k]).v, along), k == 4, 1e-12);
    assert_true(impacts >= 4 && impacts <= 8); /* rounding may meet again */
    assert_near(dls_simulation_summary(s.simulation).penetration, 0, 1e-12);
    /* the last one left when the first would have passed through all */
    assert_near(vec_dot(stage_state(&s, id[4]).x, along), 0.02 - 0.0103 + 4 * 2 * r, 1e-12);
    stage_close(&s);
}

static void test_cradle(void **state) {
    (void)state;
    static const double gap[] = {0, 1e-6, 1e-4, 1e-3}, oblique[3] = {2.0 / 3, -1.0 / 3, 2.0 / 3};
    for (int k = 0; k < 4; k++)
        for (double h = 1e-3; h > 4e-4; h /= 2) {
            run_cradle(gap[k], h, (double[3]){1, 0, 0}, "moreau-jean");
            run_cradle(gap[k], h, oblique, "moreau-jean");
            run_cradle(gap[k], h, oblique, "theta");
            run_cradle(gap[k], h, oblique, "dvi");
        }
}

/* ---- an elastic gas in a box ---- */

static void run_gas(int dimension, double mu, double h) {
    stage s = stage_open(dimension, 0, mu, 1, 0);
    dls_shape_def ball = stage_ball(dimension, 0.03);
    dls_shape_def wall = dls_default_shape_def(dimension == 2 ? DLS_HALF_PLANE : DLS_BOX_INSIDE);
    dls_random g = {7};
    vec_set(wall.size, 1, 1, 1);
    for (int k = 0; k < 4 && dimension == 2; k++) {
        dls_body_def def = dls_default_body_def();
        double angle = k * 1.5707963267948966;
        def.motion = DLS_STATIC, def.shape_count = 1, def.shapes = &wall;
        def.pose.q[0] = cos(angle / 2), def.pose.q[3] = sin(angle / 2);
        def.pose.x[0] = 0.5 * sin(angle), def.pose.x[1] = -0.5 * cos(angle);
        stage_add(&s, &def);
    }
    if (dimension == 3) stage_add_shape(&s, DLS_STATIC, &wall, NULL, NULL, NULL);
    for (int k = 0; k < 36; k++) {
        double x[3] = {-0.4 + 0.16 * (k % 6), -0.4 + 0.16 * (k / 6), 0}, v[3] = {0, 0, 0};
        for (int i = 0; i < dimension; i++) v[i] = dls_random_normal(&g);
        stage_add_shape(&s, DLS_DYNAMIC, &ball, x, v, NULL);
    }
    start(&s, h, "moreau-jean");
    double before = energy_of(&s);
    int64_t impacts = 0, most = 0;
    for (int k = 0; k < (int)(1 / h); k++) {
        stage_run(&s, 1);
        impacts += impacts_of(&s);
        if (impacts_of(&s) > most) most = impacts_of(&s);
    }
    assert_true(impacts > 100 && most >= 2);
    dls_energy e = dls_simulation_energy(s.simulation);
    assert_near((energy_of(&s) + e.friction + e.impact) / before, 1, 1e-12);
    if (mu == 0) assert_near(energy_of(&s) / before, 1, 1e-12);
    if (mu > 0) assert_true(e.friction > 0);
    assert_near(e.unaccounted, 0, 1e-12 * before);
    assert_int_equal(s.uncertified, 0);
    stage_close(&s);
}

static void test_gas(void **state) {
    (void)state;
    run_gas(2, 0, 1e-3);
    run_gas(2, 0, 5e-4);
    run_gas(3, 0, 1e-3);
    run_gas(3, 0.3, 1e-3);
}

/* ---- a break: energy, momentum and angular momentum ---- */

static void test_break(void **state) {
    (void)state;
    const double r = 0.028575, a = 2.0001 * r;
    for (double h = 1e-3; h > 4e-4; h /= 2) {
        stage s = stage_open(3, 0, 0, 1, 0);
        dls_shape_def ball = stage_ball(3, r);
        dls_body_id id[16];
        int count = 0;
        for (int row = 0; row < 5; row++)
            for (int k = 0; k <= row; k++)
                id[count++] =
                    stage_add_shape(&s, DLS_DYNAMIC, &ball,
                                    (double[3]){(k - 0.5 * row) * a, row * 0.8660254 * a, 0}, NULL, NULL);
        id[count++] =
            stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0.003, -0.1, 0}, (double[3]){0, 10, 0}, NULL);
        start(&s, h, "moreau-jean");
        double before = energy_of(&s), mass = stage_mass(&s, id[0]).mass, p[3] = {0, 0, 0}, L = 0;
        stage_run(&s, (int)(0.05 / h));
        for (int k = 0; k < count; k++) {
            dls_body_state b = stage_state(&s, id[k]);
            vec_along(p, p, 1, b.v);
            L += b.x[0] * b.v[1] - b.x[1] * b.v[0] + 0.4 * r * r * b.w[2];
        }
        assert_near(energy_of(&s) / before, 1, 1e-12);
        assert_near(p[0], 0, 1e-11);
        assert_near(p[1], 10, 1e-11);
        assert_near(L, 0.03, 1e-12);
        assert_true(mass > 0 && s.uncertified == 0);
        stage_close(&s);
    }
}

/* ---- bodies that are not round ---- */

static void sums_of(const stage *s, const dls_body_id *id, double *p, double *L) {
    vec_set(p, 0, 0, 0), vec_set(L, 0, 0, 0);
    for (int k = 0; k < 2; k++) {
        dls_body_state b = stage_state(s, id[k]);
        dls_body_mass mass = stage_mass(s, id[k]);
        double orbital[3], spin[3];
        stage_spin(&mass, &b, spin);
        vec_cross(orbital, b.x, b.v);
        vec_along(p, p, mass.mass, b.v);
        vec_along(L, L, mass.mass, orbital);
        vec_add(L, L, spin);
    }
}

/* Two ellipsoids that hit each other off their centres, rough and smooth. */
static void test_ellipsoids(void **state) {
    (void)state;
    dls_shape_def shape = dls_default_shape_def(DLS_ELLIPSOID);
    vec_set(shape.size, 0.05, 0.03, 0.04);
    for (int rough = 0; rough < 2; rough++)
        for (double h = 2e-3; h > 9e-4; h /= 2) {
            stage s = stage_open(3, 0, rough ? 0.4 : 0, 1, 0);
            double p[3], L[3], p_after[3], L_after[3];
            dls_body_id id[2] = {stage_add_shape(&s, DLS_DYNAMIC, &shape, NULL, NULL, (double[3]){3, -5, 4}),
                                 stage_add_shape(&s, DLS_DYNAMIC, &shape, (double[3]){0.2, 0.02, 0.015},
                                                 (double[3]){-4, 0, 0.2}, NULL)};
            start(&s, h, "moreau-jean");
            sums_of(&s, id, p, L);
            double before = energy_of(&s);
            int64_t impacts = 0;
            for (int k = 0; k < (int)(0.06 / h); k++) {
                stage_run(&s, 1);
                impacts += impacts_of(&s);
            }
            sums_of(&s, id, p_after, L_after);
            assert_true(impacts >= 1 && impacts < 4);
            assert_near(vec_distance(p, p_after), 0, 1e-12 * vec_norm(p));
            assert_near(vec_distance(L, L_after), 0, 1e-11 * vec_norm(L));
            dls_energy e = dls_simulation_energy(s.simulation);
            assert_near((energy_of(&s) + e.friction + e.impact) / before, 1,
                        1e-4); /* free tops swing by h² */
            assert_near(e.impact / before, 0, rough ? 1 : 1e-12);
            assert_true(rough ? e.friction > 0 : fabs(e.friction) < 1e-12 * before);
            stage_close(&s);
        }
}

/* ---- a ball that bounces ---- */

/* Peaks of height e² H, and the spin of an oblique blow, at any step: to rounding, or to what flight is off.
 */
static void run_bounces(const char *scheme, double flight) {
    const double r = 5e-3, H = 0.1, e = 0.8, mu = 0.1;
    for (double h = 4e-3; h > 9e-4; h /= 2) {
        stage s = stage_open(3, G, mu, e, 0);
        dls_shape_def ball = stage_ball(3, r);
        stage_add_floor(&s, 0);
        dls_body_id id =
            stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 0, r + H}, (double[3]){3, 0, 0}, NULL);
        start(&s, h, scheme);
        double v = sqrt(2 * G * H), off = flight * h, landing = v / G, top = landing + e * v / G;
        int steps = (int)(top / h);
        stage_run(&s, steps);
        double t = steps * h - landing; /* since it left */
        dls_body_state now = stage_state(&s, id);
        assert_near(now.x[2] - r, e * v * t - 0.5 * G * t * t, 1e-12 + off);
        assert_near(now.v[2], e * v - G * t, 1e-12 + G * off);
        assert_near(now.w[1], 2.5 * mu * (1 + e) * v / r, 1e-9 + off / r * v);
        if (off == 0) assert_near(s.last.energy.unaccounted, 0, 1e-14);
        stage_run(&s, (int)(4 / h)); /* and it comes to rest */
        assert_near(stage_state(&s, id).x[2], r, 1e-6);
        stage_close(&s);
    }
}

static void test_bounces(void **state) {
    (void)state;
    run_bounces("moreau-jean", 0);
    run_bounces("dvi", 3); /* m/s */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cradle),     cmocka_unit_test(test_gas),     cmocka_unit_test(test_break),
        cmocka_unit_test(test_ellipsoids), cmocka_unit_test(test_bounces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
