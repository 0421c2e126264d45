/* Mechanisms: what the experiment of that name found wrong once. Its reduced run is a test of the program. */
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>

static dls_joint_id join(stage *s, dls_joint_def *def, double x) {
    dls_joint_id id;
    dls_error error;
    const double point[3] = {x, 0, 0};
    assert_int_equal(dls_joint_place(s->world, def, point, NULL, NULL, &error), DLS_OK);
    assert_int_equal(dls_world_add_joint(s->world, def, &id, &error), DLS_OK);
    return id;
}

static dls_body_id add_wheel(stage *s, double x, double moment, dls_function *torque) {
    const double inertia[9] = {moment, 0, 0, 0, moment, 0, 0, 0, moment};
    dls_body_def def = dls_default_body_def();
    def.mass = 1;
    def.inertia = inertia;
    def.pose.x[0] = x;
    dls_body_id id = stage_add(s, &def);
    dls_joint_def axle = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    axle.body[0] = DLS_GROUND, axle.body[1] = id;
    axle.freedom[3].force = torque;
    join(s, &axle, x);
    return id;
}

/* Nothing but a motor moves anything, and nothing else says how fast is fast. */
static void test_a_motor_starts_a_world_without_gravity(void **state) {
    (void)state;
    stage s = stage_open(2, 0, 0, 0, 0);
    dls_function *torque;
    dls_error error;
    assert_int_equal(dls_function_constant(0.3, &torque, &error), DLS_OK);
    dls_body_id first = add_wheel(&s, 0, 0.01, torque), second = add_wheel(&s, 1, 0.08, NULL);
    dls_joint_def gear = dls_default_joint_def(DLS_JOINT_GEAR);
    gear.body[0] = first, gear.body[1] = second;
    gear.ratio = 2;
    join(&s, &gear, 0);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 1e-3;
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 1);
    assert_int_equal(s.uncertified, 0);
    assert_true(s.last.iterations < 1000);
    assert_near(stage_state(&s, first).w[2], 0.3 * 1e-3 / 0.03, 1e-12);
    assert_near(stage_state(&s, second).w[2], -0.15 * 1e-3 / 0.03, 1e-12);
    stage_close(&s);
}

/* Force and moment on the door along world axes, of one hinge. */
static void load_of(const dls_joint_record *record, double h, double *force, double *moment) {
    for (int k = 0; k < 3; k++) {
        force[k] = moment[k] = 0;
        for (int i = 0; i < 3; i++) {
            force[k] += record->frame[k + 3 * i] * record->impulse[i] / h;
            moment[k] += record->frame[k + 3 * i] * record->impulse[3 + i] / h;
        }
    }
}

/* One hinge would do: the others bear their share, and what all bear holds the door. */
static void check_door(int hinges) {
    static const double z_axis[3] = {0, 0, 1}, mass = 20, g = 9.81, arm = 0.4;
    static const double inertia[9] = {2, 0, 0, 0, 3, 0, 0, 0, 1};
    stage s = {.world = NULL};
    dls_error error;
    dls_world_def world = dls_default_world_def();
    dls_body_def door = dls_default_body_def();
    dls_joint_record records[3];
    int count;
    world.gravity[2] = -g;
    assert_int_equal(dls_world_create(&world, &s.world, &error), DLS_OK);
    door.mass = mass, door.inertia = inertia;
    door.pose.x[0] = arm, door.pose.x[2] = 1;
    dls_body_id id = stage_add(&s, &door);
    for (int k = 0; k < hinges; k++) {
        const double point[3] = {0, 0, 0.2 + 1.6 * k / (hinges - 1)};
        dls_joint_def hinge = dls_default_joint_def(DLS_JOINT_REVOLUTE);
        hinge.body[0] = DLS_GROUND, hinge.body[1] = id;
        assert_int_equal(dls_joint_place(s.world, &hinge, point, z_axis, NULL, &error), DLS_OK);
        assert_int_equal(dls_world_add_joint(s.world, &hinge, NULL, &error), DLS_OK);
    }
    dls_simulation_options o = dls_default_simulation_options();
    stage_start(&s, &o, 1e-10);
    stage_run(&s, 5);
    assert_int_equal(s.uncertified, 0);
    assert_int_equal(dls_simulation_joints(s.simulation, 3, records, &count, &error), DLS_OK);
    assert_int_equal(count, hinges);
    double about = 0, first[3], middle[3], last[3], moment[3];
    load_of(&records[0], o.step, first, moment);
    for (int k = 0; k < hinges; k++) {
        double force[3], own[3];
        load_of(&records[k], o.step, force, own);
        assert_near(force[2], mass * g / hinges, 1e-6);
        assert_near(own[1], moment[1], 1e-6);
        about += own[1] + (records[k].point[2] - 1) * force[0];
    }
    assert_near(about, -mass * g * arm, 1e-6);
    load_of(&records[hinges - 1], o.step, last, moment);
    assert_near(first[0], -last[0], 1e-6);
    if (!(fabs(first[0]) > 0.02 * mass * g)) fail_msg("force %g N", first[0]);
    load_of(&records[hinges / 2], o.step, middle, moment);
    if (hinges == 3) assert_near(middle[0], 0, 1e-6);
    stage_close(&s);
}

static void test_hinges_of_a_door_share_its_load(void **state) {
    (void)state;
    check_door(2);
    check_door(3);
}

/* A ball on a table that turns with Ω goes round with 2/7 Ω: of its spin n × (v − Ω n × x)/R the table turns
 * what friction needs, v' = (2/7) Ω n × v. */
static void check_turntable(const char *scheme, double least_order) {
    const double Omega = 7, R = 0.1, omega = 2, x0[3] = {0.5, 0, R}, v0[3] = {0.3, 0.4, 0};
    double error[2];
    for (int k = 0; k < 2; k++) {
        dls_error e;
        stage s = stage_open(3, 9.81, 0, 0, 0);
        dls_simulation_options o = dls_default_simulation_options();
        snprintf(o.scheme, sizeof o.scheme, "%s", scheme);
        o.step = 2e-3 / (1 + k);
        dls_body_def table = dls_default_body_def(), ball = table;
        const double J = 0.4 * 3 * R * R, inertia[9] = {J, 0, 0, 0, J, 0, 0, 0, J};
        table.motion = DLS_DRIVEN;
        assert_int_equal(dls_function_constant(Omega, &table.drive[5].velocity, &e), DLS_OK);
        ball.mass = 3, ball.inertia = inertia;
        for (int i = 0; i < 3; i++) ball.pose.x[i] = x0[i], ball.v[i] = v0[i];
        ball.w[0] = -(v0[1] - Omega * x0[0]) / R, ball.w[1] = (v0[0] + Omega * x0[1]) / R;
        dls_joint_def def = dls_default_joint_def(DLS_JOINT_ROLLING_BALL);
        const double origin[3] = {0, 0, 0}, up[3] = {0, 0, 1};
        def.body[0] = stage_add(&s, &table), def.body[1] = stage_add(&s, &ball);
        def.radius = R;
        assert_int_equal(dls_joint_place(s.world, &def, origin, up, NULL, &e), DLS_OK);
        for (int i = 0; i < 3; i++) def.frame[1].x[i] = 0; /* its centre */
        assert_int_equal(dls_world_add_joint(s.world, &def, NULL, &e), DLS_OK);
        stage_start(&s, &o, 1e-12);
        stage_run(&s, 500 * (1 + k));
        assert_int_equal(s.uncertified, 0);
        dls_body_state now = stage_state(&s, def.body[1]);
        double c = 1 - cos(omega), sine = sin(omega); /* after 1 s */
        double x = x0[0] + (sine * v0[0] - c * v0[1]) / omega, y = x0[1] + (sine * v0[1] + c * v0[0]) / omega;
        error[k] = hypot(now.x[0] - x, now.x[1] - y);
        assert_near(now.x[2], R, 1e-9);
        stage_close(&s);
    }
    double order = log2(error[0] / error[1]);
    if (!(error[0] < 0.01 && order > least_order))
        fail_msg("%s: %g m off at h, %g at h/2, order %g", scheme, error[0], error[1], order);
}

static void test_a_ball_on_a_turntable_goes_in_circles(void **state) {
    (void)state;
    check_turntable("moreau-jean", 1.9);
    check_turntable("theta", 1.9);
    check_turntable("dvi", 0.9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_motor_starts_a_world_without_gravity),
        cmocka_unit_test(test_hinges_of_a_door_share_its_load),
        cmocka_unit_test(test_a_ball_on_a_turntable_goes_in_circles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
