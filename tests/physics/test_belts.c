/* Belts: surfaces that move against their shapes. With friction μ a body at rest on one accelerates with μ g
 * until it has its speed. */
#include "support/near.h"
#include "support/stage.h"

#include <math.h>
#include <string.h>

static const double G = 9.81, MU = 0.4, H = 1e-3;

static dls_shape_def block(int d, double half) {
    static const double corners[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
    static double scaled[12];
    dls_shape_def shape = dls_default_shape_def(d == 2 ? DLS_POLYGON : DLS_BOX);
    for (int k = 0; k < 12; k++) scaled[k] = half * corners[k];
    for (int k = 0; k < 3; k++) shape.size[k] = 2 * half;
    shape.point_count = 4;
    shape.points = scaled;
    return shape;
}

static dls_shape_def belt_of(int d, double speed) {
    dls_shape_def shape = dls_default_shape_def(d == 2 ? DLS_HALF_PLANE : DLS_HALF_SPACE);
    shape.belt[0] = speed;
    return shape;
}

static dls_simulation_options with_scheme(const char *scheme) {
    dls_simulation_options o = dls_default_simulation_options();
    o.step = H;
    if (scheme) strcpy(o.scheme, scheme);
    return o;
}

static double *up(int d, double height) {
    static double x[3];
    x[0] = x[1] = x[2] = 0;
    x[d - 1] = height;
    return x;
}

/* Speeds grow by μ g h in every step, and then stay. */
static void check_ride(int d, const char *scheme, dls_motion carrier) {
    stage s = stage_open(d, G, MU, 0, 0);
    dls_shape_def belt = belt_of(d, 1), box = block(d, 0.1);
    stage_add_shape(&s, carrier, &belt, NULL, NULL, NULL);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &box, up(d, 0.1), NULL, NULL);
    dls_simulation_options o = with_scheme(scheme);
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 200);
    dls_body_state now = stage_state(&s, id);
    assert_near(now.v[0], 200 * MU * G * H, 1e-9);
    assert_near(now.x[d - 1], 0.1, 1e-9);
    stage_run(&s, 400);
    now = stage_state(&s, id);
    assert_near(now.v[0], 1, 1e-9);
    for (int k = 0; k < 3; k++) assert_near(now.w[k], 0, 1e-9);
    stage_close(&s);
}

static void test_box_rides(void **unused) {
    (void)unused;
    const char *scheme;
    for (int i = 0; (scheme = dls_scheme_at(i, NULL)); i++)
        for (int d = 2; d <= 3; d++) {
            check_ride(d, scheme, DLS_STATIC);
            check_ride(d, scheme, DLS_DRIVEN);
        }
}

static dls_function *ramp(double rise) {
    const double t[] = {0, rise}, factor[] = {0, 1};
    dls_function *function;
    dls_error error;
    assert_int_equal(dls_function_table(2, t, factor, &function, &error), DLS_OK);
    return function;
}

/* A belt that starts more gently than μ g carries what lies on it along: impulse schemes have its speed in
 * the middle of the step, generalized-alpha that of its end; and then it stays. */
static void check_gentle_start(int d, const char *scheme) {
    const double v = 0.2, rise = 0.2;
    stage s = stage_open(d, G, MU, 0, 0);
    dls_shape_def belt = belt_of(d, v), box = block(d, 0.1);
    dls_body_def conveyor = dls_default_body_def();
    conveyor.motion = DLS_STATIC;
    conveyor.shape_count = 1, conveyor.shapes = &belt;
    conveyor.belts = ramp(rise);
    stage_add(&s, &conveyor);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &box, up(d, 0.1), NULL, NULL);
    double m = stage_mass(&s, id).mass;
    dls_simulation_options o = with_scheme(scheme);
    stage_start(&s, &o, 1e-12);
    bool alpha = !strcmp(scheme, "generalized-alpha");
    for (int k = 1; k <= 100; k++) {
        stage_run(&s, 1);
        double t = alpha ? k * H : (k - 0.5) * H;
        assert_near(stage_state(&s, id).v[0], v * t / rise, 1e-9);
        assert_near(s.last.energy.unaccounted, 0, alpha ? 1e-4 * m * v * v : 1e-11 * m * v * v);
    }
    stage_run(&s, 150);
    assert_near(stage_state(&s, id).v[0], v, 1e-9);
    stage_close(&s);
}

static void test_gentle_start(void **unused) {
    (void)unused;
    const char *scheme;
    for (int i = 0; (scheme = dls_scheme_at(i, NULL)); i++)
        for (int d = 2; d <= 3; d++) check_gentle_start(d, scheme);
}

/* A function of belts on a body that has none is a mistake. */
static void test_belts_without_belt(void **unused) {
    (void)unused;
    stage s = stage_open(2, G, MU, 0, 0);
    dls_shape_def plain = belt_of(2, 0);
    dls_body_def def = dls_default_body_def();
    dls_body_id id;
    dls_error error;
    def.motion = DLS_STATIC;
    def.shape_count = 1, def.shapes = &plain;
    def.belts = ramp(1);
    assert_int_equal(dls_world_add_body(s.world, &def, &id, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "no shape of the body has one"));
    stage_close(&s);
}

/* The belt does m v² of work, half of which friction takes: with n = v/(μ g h) whole the sums have no rest.
 */
static void test_books_close(void **unused) {
    (void)unused;
    for (int d = 2; d <= 3; d++) {
        stage s = stage_open(d, G, MU, 0, 0);
        double v = 100 * MU * G * H;
        dls_shape_def belt = belt_of(d, v), box = block(d, 0.1);
        stage_add_shape(&s, DLS_STATIC, &belt, NULL, NULL, NULL);
        dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &box, up(d, 0.1), NULL, NULL);
        double m = stage_mass(&s, id).mass;
        dls_simulation_options o = with_scheme(NULL);
        stage_start(&s, &o, 1e-13);
        for (int k = 0; k < 200; k++) {
            stage_run(&s, 1);
            assert_near(s.last.energy.unaccounted, 0, 1e-11 * m * v * v);
        }
        assert_near(s.last.energy.work, m * v * v, 1e-8 * m * v * v);
        assert_near(s.last.energy.friction, 0.5 * m * v * v, 1e-8 * m * v * v);
        stage_close(&s);
    }
}

/* A body with a belt below it drives itself on: until its surface stands still. Its belt turns with it. */
static void test_vehicle(void **unused) {
    (void)unused;
    for (int d = 2; d <= 3; d++) {
        stage s = stage_open(d, G, MU, 0, 0);
        dls_shape_def track = block(d, 0.1);
        dls_body_def def = dls_default_body_def();
        def.shape_count = 1, def.shapes = &track;
        track.belt[0] = 0.5;
        def.pose.q[0] = def.pose.q[3] = sqrt(0.5); /* a quarter turn about z */
        if (d == 2) track.belt[0] = 0, track.belt[1] = 0.5;
        memcpy(def.pose.x, up(d, 0.1), sizeof def.pose.x);
        stage_add_floor(&s, 0);
        dls_body_id id = stage_add(&s, &def);
        dls_simulation_options o = with_scheme(NULL);
        stage_start(&s, &o, 1e-12);
        stage_run(&s, 50);
        /* in the plane its y axis points to −x, in space its x axis to y */
        int axis = d == 2 ? 0 : 1;
        double sign = d == 2 ? 1 : -1;
        assert_near(stage_state(&s, id).v[axis], sign * 50 * MU * G * H, 1e-9);
        stage_run(&s, 200);
        assert_near(stage_state(&s, id).v[axis], sign * 0.5, 1e-9);
        assert_near(stage_state(&s, id).v[axis == 0 ? 1 : 0], 0, 1e-9);
        assert_near(s.last.energy.unaccounted, 0, 1e-10);
        stage_close(&s);
    }
}

/* Uphill with g (μ cos α − sin α) to the belt's speed, and down where that is negative. */
static void test_inclined_belt(void **unused) {
    (void)unused;
    const double angles[] = {0.2, 0.5};
    for (int i = 0; i < 2; i++) {
        double angle = angles[i], half = 0.1, a = G * (MU * cos(angle) - sin(angle));
        stage s = stage_open(2, G, MU, 0, 0);
        dls_shape_def belt = belt_of(2, 0.25), box = block(2, half);
        belt.pose.q[0] = cos(angle / 2), belt.pose.q[3] = sin(angle / 2);
        dls_body_def def = dls_default_body_def();
        def.shape_count = 1, def.shapes = &box;
        memcpy(def.pose.q, belt.pose.q, sizeof def.pose.q);
        def.pose.x[0] = -half * sin(angle), def.pose.x[1] = half * cos(angle);
        stage_add_shape(&s, DLS_STATIC, &belt, NULL, NULL, NULL);
        dls_body_id id = stage_add(&s, &def);
        dls_simulation_options o = with_scheme(NULL);
        stage_start(&s, &o, 1e-12);
        stage_run(&s, 100);
        dls_body_state now = stage_state(&s, id);
        assert_near(now.v[0] * cos(angle) + now.v[1] * sin(angle), 100 * H * a, 1e-9);
        stage_run(&s, 100);
        now = stage_state(&s, id);
        assert_near(now.v[0] * cos(angle) + now.v[1] * sin(angle), a > 0 ? 0.25 : 200 * H * a, 1e-9);
        assert_near(s.last.energy.unaccounted, 0, 1e-9);
        stage_close(&s);
    }
}

/* What carries a belt may move itself: the rider gets the sum. */
static void test_moving_belt(void **unused) {
    (void)unused;
    stage s = stage_open(3, G, MU, 0, 0);
    dls_error error;
    dls_shape_def belt = belt_of(3, 0.3), box = block(3, 0.1);
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1, def.shapes = &belt;
    def.motion = DLS_DRIVEN;
    assert_int_equal(dls_function_constant(0.2, &def.drive[0].velocity, &error), DLS_OK);
    assert_int_equal(dls_function_constant(-0.1, &def.drive[1].velocity, &error), DLS_OK);
    stage_add(&s, &def);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &box, up(3, 0.1), NULL, NULL);
    dls_simulation_options o = with_scheme(NULL);
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 400);
    dls_body_state now = stage_state(&s, id);
    assert_near(now.v[0], 0.5, 1e-9);
    assert_near(now.v[1], -0.1, 1e-9);
    assert_near(s.last.energy.unaccounted, 0, 1e-10);
    stage_close(&s);
}

/* A ball at rest slides until it rolls: with I = k m r² at v = k/(1 + k) of the belt, for ever. */
static void test_ball_on_belt(void **unused) {
    (void)unused;
    for (int d = 2; d <= 3; d++) {
        double k = d == 2 ? 0.5 : 0.4;
        stage s = stage_open(d, G, MU, 0, 0);
        dls_shape_def belt = belt_of(d, 1), ball = stage_ball(d, 0.1);
        stage_add_shape(&s, DLS_STATIC, &belt, NULL, NULL, NULL);
        dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &ball, up(d, 0.1), NULL, NULL);
        dls_simulation_options o = with_scheme(NULL);
        stage_start(&s, &o, 1e-12);
        stage_run(&s, 500);
        dls_body_state now = stage_state(&s, id);
        assert_near(now.v[0], k / (1 + k), 1e-9);
        assert_near(d == 2 ? now.w[2] : -now.w[1], 1 / (1 + k) / 0.1, 1e-8);
        assert_near(s.last.energy.unaccounted, 0, 1e-10);
        stage_close(&s);
    }
}

/* What lies along the normal does nothing. */
static void test_normal_part(void **unused) {
    (void)unused;
    stage s = stage_open(3, G, MU, 0, 0);
    dls_shape_def belt = belt_of(3, 0), box = block(3, 0.1);
    belt.belt[2] = 3;
    stage_add_shape(&s, DLS_STATIC, &belt, NULL, NULL, NULL);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &box, up(3, 0.1), NULL, NULL);
    dls_simulation_options o = with_scheme(NULL);
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 100);
    dls_body_state now = stage_state(&s, id);
    for (int k = 0; k < 3; k++) assert_near(now.v[k], 0, 1e-10);
    assert_near(s.last.energy.work, 0, 1e-12);
    stage_close(&s);
}

/* Two plates in one place that differ in their belts alone: in which order they come is all the same. */
static uint64_t hash_of(double first, double second) {
    stage s = stage_open(3, G, MU, 0, 0);
    dls_shape_def plate = block(3, 0.5), ball = stage_ball(3, 0.1);
    for (int k = 0; k < 2; k++) {
        plate.belt[0] = k ? second : first;
        stage_add_shape(&s, DLS_STATIC, &plate, NULL, NULL, NULL);
    }
    stage_add_shape(&s, DLS_DYNAMIC, &ball, up(3, 0.6), NULL, NULL);
    dls_simulation_options o = with_scheme(NULL);
    stage_start(&s, &o, 0);
    stage_run(&s, 50);
    uint64_t hash = dls_simulation_hash(s.simulation);
    stage_close(&s);
    return hash;
}

static void test_order_of_bodies(void **unused) {
    (void)unused;
    assert_true(hash_of(1, 0) == hash_of(0, 1));
    assert_true(hash_of(1, -2) == hash_of(-2, 1));
    assert_true(hash_of(1, -2) != hash_of(1, 2));
}

static void test_bad_belts(void **unused) {
    (void)unused;
    stage s = stage_open(2, G, MU, 0, 0);
    dls_error error;
    dls_shape_def belt = belt_of(2, NAN);
    dls_body_def def = dls_default_body_def();
    def.motion = DLS_STATIC, def.shape_count = 1, def.shapes = &belt;
    assert_int_equal(dls_world_add_body(s.world, &def, NULL, &error), DLS_ERROR_INPUT);
    assert_true(strstr(error.message, "belt is (nan, 0, 0)"));
    belt = belt_of(2, 1);
    belt.belt[2] = 1;
    assert_int_equal(dls_world_add_body(s.world, &def, NULL, &error), DLS_ERROR_INPUT);
    assert_true(strstr(error.message, "0 along z"));
    belt.belt[2] = 0;
    dls_body_id id = stage_add(&s, &def);
    dls_shape_def told;
    assert_int_equal(dls_body_shape(s.world, id, 0, &told, &error), DLS_OK);
    assert_true(told.belt[0] == 1 && told.belt[1] == 0);
    stage_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box_rides),
        cmocka_unit_test(test_gentle_start),
        cmocka_unit_test(test_belts_without_belt),
        cmocka_unit_test(test_books_close),
        cmocka_unit_test(test_vehicle),
        cmocka_unit_test(test_inclined_belt),
        cmocka_unit_test(test_moving_belt),
        cmocka_unit_test(test_ball_on_belt),
        cmocka_unit_test(test_normal_part),
        cmocka_unit_test(test_order_of_bodies),
        cmocka_unit_test(test_bad_belts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
