/* Mechanisms: what the experiment of that name found wrong once. Its reduced run is a test of the program. */
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"

#include <math.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_motor_starts_a_world_without_gravity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
