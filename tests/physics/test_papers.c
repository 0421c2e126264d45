/* The small experiments of papers 001 and 002, whose answers are known. */
#include "support/near.h"
#include "support/stage.h"

#include <string.h>

static const double G = 9.81;

/* ---- 001 §3.1: a disc with the inertia of a sphere, thrown along a plane, DVI ---- */

static stage throw_sphere(dls_body_id *id) {
    stage s = stage_open(2, G, 0.2, 0, 0);
    static const double inertia[9] = {0.4, 0, 0, 0, 0.4, 0, 0, 0, 0.4};
    dls_shape_def disc = stage_ball(2, 1);
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1, def.shapes = &disc;
    def.mass = 1, def.inertia = inertia;
    def.pose.x[1] = 1;
    def.v[0] = 2;
    stage_add_floor(&s, 0);
    *id = stage_add(&s, &def);
    dls_simulation_options o = dls_default_simulation_options();
    strcpy(o.scheme, "dvi"), o.step = 0.01;
    stage_start(&s, &o, 1e-12);
    return s;
}

static dls_contact_record only_contact(const stage *s) {
    dls_contact_record c;
    assert_int_equal(dls_simulation_contact_count(s->simulation), 1);
    dls_simulation_contact(s->simulation, 0, &c);
    return c;
}

static void test_001_coulomb(void **state) {
    (void)state;
    dls_body_id id;
    stage s = throw_sphere(&id);
    stage_run(&s, 1);
    dls_contact_record c = only_contact(&s);
    assert_near(c.impulse[0], 0.0981, 1e-12);
    assert_near(fabs(c.impulse[1]), 0.01962, 1e-12);
    stage_run(&s, 28);
    assert_true(fabs(only_contact(&s).velocity[1]) > 1e-6); /* slides */
    stage_run(&s, 1);
    c = only_contact(&s);
    assert_near(c.velocity[1], 0, 1e-10); /* rolls from step 30 on */
    assert_near(fabs(c.impulse[1]), 0.0024485714, 1e-10);
    stage_run(&s, 100);
    dls_body_state now = stage_state(&s, id);
    assert_near(now.v[0], 10.0 / 7, 1e-9);
    assert_near(now.w[2], -10.0 / 7, 1e-9);
    assert_near(now.x[1], 1, 1e-10);
    stage_close(&s);
}

/* The relaxed law launches it. */
static void test_001_relaxed(void **state) {
    (void)state;
    dls_body_id id;
    dls_error error;
    stage s = throw_sphere(&id);
    dls_apgd_options o = dls_default_apgd_options();
    o.relaxed = true;
    o.stop.tolerance = 1e-13;
    o.stop.max_iterations = 10000;
    assert_int_equal(dls_simulation_set_solver(s.simulation, dls_solver_find("apgd"), &o, &error), DLS_OK);
    stage_run(&s, 1);
    dls_contact_record c = only_contact(&s);
    dls_body_state now = stage_state(&s, id);
    assert_near(c.impulse[0], 0.436929824561, 1e-9);
    assert_near(fabs(c.impulse[1]), 0.087385964912, 1e-9);
    assert_near(now.v[1], 0.338829824561, 1e-9);
    assert_near(now.v[0], 1.912614035088, 1e-9);
    assert_near(now.w[2], -0.218464912281, 1e-9);
    double highest = 0;
    for (int k = 2; k <= 6; k++) {
        stage_run(&s, 1);
        highest = fmax(highest, stage_state(&s, id).x[1] - 1);
        assert_int_equal(s.last.active, 0);
        if (k == 4) assert_near(stage_state(&s, id).x[1] - 1, 0.0076671930, 1e-8);
    }
    assert_near(highest, 0.0076671930, 1e-8);
    stage_close(&s);
}

/* ---- 002 §6.1: a sphere put on a moving belt ---- */

static const double G2 = 9.80665, RADIUS = 2.7e-3;

static void ride_belt(double e) {
    stage s = stage_open(3, G2, 0.22, e, e);
    dls_error error;
    dls_shape_def belt = dls_default_shape_def(DLS_HALF_SPACE), ball = stage_ball(3, RADIUS);
    dls_body_def def = dls_default_body_def();
    def.motion = DLS_DRIVEN;
    def.shape_count = 1, def.shapes = &belt;
    assert_int_equal(dls_function_constant(2, &def.drive[0].velocity, &error), DLS_OK);
    stage_add(&s, &def);
    def = dls_default_body_def();
    def.shape_count = 1, def.shapes = &ball;
    def.mass = 6.595836608e-4;
    def.pose.x[2] = RADIUS;
    def.v[0] = 1;
    dls_body_id id = stage_add(&s, &def);
    const double until = 0.132430677010;
    dls_simulation_options o = dls_default_simulation_options();
    o.step = until / 1000;
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 1000);
    assert_near(stage_state(&s, id).x[0], 0.151349345154, 1e-9);
    assert_int_equal(dls_simulation_set_step(s.simulation, (1 - until) / 2000, &error), DLS_OK);
    stage_run(&s, 2000);
    dls_body_state now = stage_state(&s, id);
    assert_near(dls_simulation_time(s.simulation), 1, 1e-14);
    assert_near(now.v[0], 9.0 / 7, 1e-9);
    assert_near(fabs(now.w[1]), 264.5502645503, 1e-6);
    assert_near(now.x[0], 1.266795617570, 1e-9);
    assert_near(now.x[2], RADIUS, 1e-14);
    /* the ball gained ½ m (v² + 0.4 (r ω)² − 1), the belt gave that and the heat */
    double gained = 0.5 * 6.595836608e-4 * (81.0 / 49 + 0.4 * 25.0 / 49 - 1);
    assert_near(s.last.energy.work - s.last.energy.friction, gained, 1e-11);
    assert_near(s.last.energy.unaccounted, 0, 1e-14);
    stage_close(&s);
}

static void test_002_conveyor(void **state) {
    (void)state;
    ride_belt(0);
    ride_belt(1);
}

/* The formal velocity in every step, as the paper has it: with e_t = 1 what should stick keeps its slip and
 * changes its sign, unless the step ends just where sliding does. */
static void test_002_formal_velocity(void **state) {
    (void)state;
    for (int divides = 0; divides < 2; divides++) {
        dls_error error;
        stage s = stage_open(2, G2, 0.22, 1, 1);
        dls_shape_def belt = dls_default_shape_def(DLS_HALF_PLANE), ball = stage_ball(2, RADIUS);
        dls_body_def def = dls_default_body_def();
        double m = 6.595836608e-4, inertia[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0.4 * m * RADIUS * RADIUS};
        def.motion = DLS_DRIVEN;
        def.shape_count = 1, def.shapes = &belt;
        assert_int_equal(dls_function_constant(2, &def.drive[0].velocity, &error), DLS_OK);
        stage_add(&s, &def);
        def = dls_default_body_def();
        def.shape_count = 1, def.shapes = &ball;
        def.mass = m, def.inertia = inertia;
        def.pose.x[1] = RADIUS;
        def.v[0] = 1;
        dls_body_id id = stage_add(&s, &def);
        dls_simulation_options o = dls_default_simulation_options();
        o.step = 0.132430677010 / (divides ? 100 : 100.25);
        o.restitution = DLS_RESTITUTION_FORMAL;
        stage_start(&s, &o, 1e-12);
        stage_run(&s, 101);
        double slip = 0;
        for (int k = 0; k < 20; k++) {
            dls_body_state now = stage_state(&s, id);
            double last = slip;
            slip = now.v[0] + RADIUS * now.w[2] - 2;
            if (k > 0) assert_near(slip, -last, 1e-11);
            stage_run(&s, 1);
        }
        /* one step of sliding takes 3.5 μ g h off the slip; a quarter of it was left */
        assert_near(fabs(slip), divides ? 0 : 0.25 * 3.5 * 0.22 * G2 * o.step, 1e-10);
        stage_close(&s);
    }
}

/* ---- 002 §6.2: a sphere in a drum that stands still ---- */

static void swing(int dimension, double e) {
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    stage s = stage_open(dimension, G2, 0.22, e, e);
    dls_shape_def drum = dls_default_shape_def(dimension == 2 ? DLS_DRUM : DLS_CYLINDER_INSIDE);
    dls_shape_def ball = stage_ball(dimension, RADIUS);
    dls_body_def def = dls_default_body_def();
    double inertia[9], m = 1e-3;
    int up = dimension - 1, axis = dimension == 2 ? 2 : 1;
    for (int k = 0; k < 9; k++) inertia[k] = 0.4 * m * RADIUS * RADIUS * one[k];
    drum.radius = 0.05, drum.length = 0;
    def.motion = DLS_STATIC;
    def.shape_count = 1, def.shapes = &drum;
    if (dimension == 3) def.pose.q[0] = def.pose.q[1] = sqrt(0.5); /* its axis along y */
    stage_add(&s, &def);
    def = dls_default_body_def();
    def.shape_count = 1, def.shapes = &ball;
    def.mass = m, def.inertia = inertia;
    def.pose.x[up] = RADIUS - 0.05;
    def.v[0] = 0.5;
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 2.5e-5;
    stage_start(&s, &o, 1e-11);
    const double bottom = m * G2 * (RADIUS - 0.05), arm = 0.05 - RADIUS;
    double fastest = 0, widest = 0, crossed[2] = {0, 0}, last = 0, least = 1, most = 0;
    int crossings = 0;
    for (int k = 0; k < 44000; k++) {
        stage_run(&s, 1);
        dls_body_state now = stage_state(&s, id);
        double t = dls_simulation_time(s.simulation), angle = atan2(now.x[0], -now.x[up]);
        if (t > 0.1) { /* it rolls by then */
            double energy = (s.last.energy.kinetic + s.last.energy.potential - bottom) / m;
            fastest = fmax(fastest, fabs(now.w[axis]));
            widest = fmax(widest, fabs(angle));
            least = fmin(least, energy), most = fmax(most, energy);
            if (last < 0 && angle >= 0 && crossings < 2)
                crossed[crossings++] = t - o.step * angle / (angle - last);
        }
        last = angle;
        assert_near(hypot(now.x[0], now.x[up]), arm, 1e-7);
    }
    assert_near(least, 0.0931812584, 1e-6);
    assert_near(most, 0.0931812584, 1e-6);
    assert_near(fastest, 135.12991432, 1e-3);
    assert_near(widest, 0.6449740812, 1e-5);
    assert_near(crossed[1] - crossed[0], 0.5300670858, 1e-5);
    assert_near(s.last.energy.unaccounted / m, 0, 1e-9);
    stage_close(&s);
}

static void test_002_drum(void **state) {
    (void)state;
    swing(2, 0);
    swing(2, 1);
    swing(3, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_001_coulomb),  cmocka_unit_test(test_001_relaxed),
        cmocka_unit_test(test_002_conveyor), cmocka_unit_test(test_002_formal_velocity),
        cmocka_unit_test(test_002_drum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
