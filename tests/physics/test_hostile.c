/* States that no one should start from, and worlds of extreme sizes: no number is lost, and reports are
 * honest. */
#include "base/vector.h"
#include "support/near.h"
#include "support/stage.h"

#include <string.h>

static const double G = 9.81;

static const double hull[] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1, 0, 0, 1};

static dls_shape_def shape_of(int k, double size) {
    static const dls_shape_kind kinds[] = {DLS_SPHERE,    DLS_BOX,        DLS_CAPSULE,
                                           DLS_ELLIPSOID, DLS_POLYHEDRON, DLS_CYLINDER};
    static double points[15];
    dls_shape_def shape = dls_default_shape_def(kinds[k % 6]);
    shape.radius = 0.5 * size, shape.length = size;
    for (int i = 0; i < 3; i++)
        shape.size[i] = (1 + 0.1 * i) * size * (shape.kind == DLS_ELLIPSOID ? 0.5 : 1);
    for (int i = 0; i < 15; i++) points[i] = 0.5 * size * hull[i];
    shape.points = points, shape.point_count = 5;
    return shape;
}

/* All is finite, or the step said that it is not. */
static void run_guarded(stage *s, int steps) {
    dls_error error;
    for (int k = 0; k < steps; k++) {
        dls_status status = dls_simulation_step(s->simulation, &s->last, &error);
        if (status) fail_msg("step %d: %s", k, error.message);
        assert_true(isfinite(s->last.energy.kinetic) && isfinite(s->last.penetration));
    }
}

/* ---- overlaps ---- */

/* Two bodies in one place part, and do not explode. */
static void overlap(int a, int b, double apart) {
    stage s = stage_open(3, G, 0.3, 0, 0);
    dls_shape_def first = shape_of(a, 0.2), second = shape_of(b, 0.2);
    stage_add_floor(&s, 0);
    stage_add_shape(&s, DLS_DYNAMIC, &first, (double[3]){0, 0, 0.11}, NULL, NULL);
    stage_add_shape(&s, DLS_DYNAMIC, &second, (double[3]){0, apart, 0.11}, NULL, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    stage_start(&s, &o, 1e-6);
    run_guarded(&s, 1);
    double first_depth = s.last.penetration, fastest = 0;
    assert_true(first_depth > 0.05); /* it is told */
    for (int k = 0; k < 300; k++) {
        run_guarded(&s, 1);
        for (int id = 1; id < 3; id++)
            for (int i = 0; i < 3; i++) fastest = fmax(fastest, fabs(stage_state(&s, id).v[i]));
    }
    assert_true(fastest < 3);
    stage_close(&s);
}

static void test_overlaps(void **state) {
    (void)state;
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) overlap(a, b, (a + b) % 2 ? 0 : 1e-3);
}

/* Ten discs in one point. */
static void test_coincident(void **state) {
    (void)state;
    stage s = stage_open(2, G, 0.3, 0, 0);
    dls_shape_def disc = stage_ball(2, 0.1);
    stage_add_floor(&s, 0);
    for (int k = 0; k < 10; k++) stage_add_shape(&s, DLS_DYNAMIC, &disc, (double[3]){0, 0.1, 0}, NULL, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    stage_start(&s, &o, 1e-4);
    run_guarded(&s, 200);
    stage_close(&s);
}

/* ---- speed ---- */

/* A ball shot at a wall of a hundredth of what it flies in a step does not pass: the contact is known before.
 */
static double shoot(double speed, double radius, double wall, const dls_shape_def *given) {
    const double h = 1e-3;
    stage s = stage_open(3, 0, 0.3, 0, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX), ball = stage_ball(3, radius);
    box.size[0] = wall, box.size[1] = box.size[2] = 2;
    stage_add_shape(&s, DLS_STATIC, &box, NULL, NULL, NULL);
    dls_body_id id =
        stage_add_shape(&s, DLS_DYNAMIC, given ? given : &ball, (double[3]){-3.3 * speed * h - 0.1, 0.01, 0},
                        (double[3]){speed, 0, 0}, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h, o.reference_velocity = speed, o.rest_speed = 1e-6;
    stage_start(&s, &o, 1e-10);
    run_guarded(&s, 20);
    double x = stage_state(&s, id).x[0];
    stage_close(&s);
    return x;
}

static void test_no_tunnelling(void **state) {
    (void)state;
    const double speeds[] = {1, 10, 100, 1000, 1e6};
    for (int k = 0; k < 5; k++) {
        assert_true(shoot(speeds[k], 0.05, 1e-3, NULL) < 0);
        for (int kind = 1; kind < 6; kind++) {
            dls_shape_def shape = shape_of(kind, 0.05);
            if (!(shoot(speeds[k], 0.05, 1e-3, &shape) < 0))
                fail_msg("kind %d passes at %g m/s", kind, speeds[k]);
        }
    }
}

/* Two bullets head-on. */
static void test_bullets(void **state) {
    (void)state;
    stage s = stage_open(3, 0, 0.3, 1, 0);
    dls_shape_def ball = stage_ball(3, 0.01);
    dls_body_id a =
        stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){-2.7, 0, 0}, (double[3]){500, 0, 0}, NULL);
    dls_body_id b =
        stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){2.7, 0, 0}, (double[3]){-500, 0, 0}, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 1e-3, o.reference_velocity = 1, o.rest_speed = 1e-6;
    stage_start(&s, &o, 1e-10);
    run_guarded(&s, 10);
    assert_near(stage_state(&s, a).v[0], -500, 1e-6);
    assert_near(stage_state(&s, b).v[0], 500, 1e-6);
    stage_close(&s);
}

/* ---- masses and sizes ---- */

/* A heavy ball on a light one on a floor. */
static void test_mass_ratio(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1), box = dls_default_shape_def(DLS_BOX);
    for (int k = 0; k < 3; k++) box.size[k] = 0.2;
    stage_add_floor(&s, 0);
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1, def.shapes = &box;
    def.mass = 1, def.pose.x[2] = 0.1;
    dls_body_id light = stage_add(&s, &def);
    def.mass = 1e6, def.pose.x[2] = 0.3;
    dls_body_id heavy = stage_add(&s, &def);
    (void)ball;
    dls_simulation_options o = dls_default_simulation_options();
    stage_start(&s, &o, 1e-8);
    run_guarded(&s, 1000);
    assert_near(stage_state(&s, light).x[2], 0.1, 1e-6);
    assert_near(stage_state(&s, heavy).x[2], 0.3, 1e-6);
    stage_close(&s);
}

/* A pile of five shapes at any size: with lengths ×s and times ×√s it is the same pile. */
static void settle(double size, double *height) {
    stage s = stage_open(3, G, 0.5, 0, 0);
    stage_add_floor(&s, 0);
    for (int k = 0; k < 3; k++) {
        dls_shape_def shape = shape_of(k == 0 ? 1 : k == 1 ? 5 : 1, size);
        stage_add_shape(&s, DLS_DYNAMIC, &shape, (double[3]){0, 0, (0.7 + 1.3 * k) * size}, NULL, NULL);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 1e-2 * sqrt(size);
    stage_start(&s, &o, 1e-6);
    run_guarded(&s, 500);
    for (int k = 0; k < 3; k++) height[k] = stage_state(&s, k + 1).x[2] / size;
    assert_true(s.last.penetration < 1e-3 * size);
    stage_close(&s);
}

static void test_sizes(void **state) {
    (void)state;
    const double sizes[] = {1e-6, 1e-3, 1, 1e3};
    for (int k = 0; k < 4; k++) {
        double height[3];
        settle(sizes[k], height);
        assert_near(height[0], 0.6, 1e-3);
        assert_near(height[1], 1.7, 1e-3);
        assert_near(height[2], 2.8, 1e-3);
    }
}

/* ---- steps that fail ---- */

/* A body goes and others move up in the same step whose drive fails: no contact speaks of the wrong one. */
static void test_failed_step_after_a_death(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0.3, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1);
    dls_body_def dying = dls_default_body_def(), driven = dls_default_body_def();
    dls_error error;
    dying.shape_count = driven.shape_count = 1;
    dying.shapes = driven.shapes = &ball;
    dying.death = 0.05;
    driven.motion = DLS_DRIVEN;
    driven.pose.x[0] = 5;
    assert_int_equal(
        dls_function_expression("5 + sqrt(0.055 - t)", 0, NULL, NULL, &driven.drive[0].position, &error),
        DLS_OK);
    stage_add_floor(&s, 0);
    dying.pose.x[2] = 0.1;
    stage_add(&s, &dying);
    stage_add(&s, &driven);
    dls_body_id last = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 3, 0.1}, NULL, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 0.01;
    stage_start(&s, &o, 1e-6);
    run_guarded(&s, 5);
    assert_int_equal(dls_simulation_contact_count(s.simulation), 2);
    assert_int_equal(dls_simulation_step(s.simulation, NULL, &error), DLS_ERROR_NUMERIC);
    for (int c = 0; c < dls_simulation_contact_count(s.simulation); c++) {
        dls_contact_record record;
        dls_simulation_contact(s.simulation, c, &record);
        dls_body_id id = record.body_a == 0 ? record.body_b : record.body_a;
        assert_near(record.point[1], stage_state(&s, id).x[1], 1e-6);
    }
    dls_pose pose;
    assert_int_equal(dls_simulation_contact_pose(s.simulation, last, &pose, &error), DLS_OK);
    assert_near(pose.x[1], 3, 1e-6);
    stage_close(&s);
}

/* A ball lies still on a hatch that goes away, 0.01 m above the floor: in that step it falls g h² = 0.025 m.
 * That its contact held it with g h in the step before tells how far to look for others. */
static void test_hatch(void **state) {
    (void)state;
    const double h = 0.05;
    stage s = stage_open(3, G, 0.3, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1), plate = dls_default_shape_def(DLS_BOX);
    vec_set(plate.size, 1, 1, 0.004);
    dls_body_def hatch = dls_default_body_def();
    hatch.motion = DLS_STATIC;
    hatch.pose.x[2] = 0.008;
    hatch.death = 4 * h;
    hatch.shapes = &plate;
    hatch.shape_count = 1;
    stage_add_floor(&s, 0);
    stage_add(&s, &hatch);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 0, 0.11}, NULL, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(&s, &o, 0);
    for (int step = 1; step <= 8; step++) {
        stage_run(&s, 1);
        double z = stage_state(&s, id).x[2];
        if (s.last.penetration > 1e-6 || z < 0.1 - 1e-6)
            fail_msg("step %d: the ball is at %g, penetration %g", step, z, s.last.penetration);
        if (step <= 4) assert_true(fabs(z - 0.11) < 1e-6);
    }
    stage_close(&s);
}

/* A ball hits one that lies still, 0.01 m before a third: where it gets in the step, h times the speed of the
 * first, others are looked for too. */
static void test_row_of_hits(void **state) {
    (void)state;
    stage s = stage_open(3, 0, 0, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1);
    const double at[] = {-0.23, 0, 0.21, 0.42};
    dls_body_id id[4];
    for (int k = 0; k < 4; k++)
        id[k] = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){at[k], 0, 0},
                                (double[3]){k == 0 ? 5 : 0, 0, 0}, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 0.01;
    stage_start(&s, &o, 0);
    for (int step = 1; step <= 10; step++) {
        stage_run(&s, 1);
        for (int k = 1; k < 4; k++) {
            double gap = stage_state(&s, id[k]).x[0] - stage_state(&s, id[k - 1]).x[0] - 0.2;
            if (gap < -1e-6) fail_msg("step %d: ball %d is %g m in the one before", step, k, -gap);
        }
    }
    assert_near(stage_state(&s, id[3]).v[0], 1.25, 1e-5);
    stage_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed_step_after_a_death),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_coincident),
        cmocka_unit_test(test_no_tunnelling),
        cmocka_unit_test(test_bullets),
        cmocka_unit_test(test_hatch),
        cmocka_unit_test(test_row_of_hits),
        cmocka_unit_test(test_mass_ratio),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
