/* Structures that stand by what their contacts share: cards that lean against each other, a box between two
 * plates, a box that sticks. */
#include "base/random.h"
#include "base/vector.h"
#include "support/near.h"
#include "support/stage.h"

#include <delassus/solve.h>

#include <math.h>
#include <stdio.h>

static const double G = 9.81, MU = 0.3;

static void assert_at_most(double value, double most) {
    if (!(value <= most)) fail_msg("%g is more than %g", value, most);
}

/* ---- an A-frame of cards ---- */

typedef struct card {
    double thick, width, length;
} card;

static dls_shape_def card_shape(int d, const card *c, double *points) {
    dls_shape_def shape = dls_default_shape_def(d == 2 ? DLS_POLYGON : DLS_BOX);
    const double half[2] = {c->thick / 2, c->length / 2};
    static const int corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int k = 0; k < 4; k++) vec_set(points + 3 * k, corner[k][0] * half[0], corner[k][1] * half[1], 0);
    shape.point_count = 4;
    shape.points = points;
    vec_set(shape.size, c->thick, c->width, c->length);
    return shape;
}

/* Feet on a plane, heads on each other, each leaning by angle; all turned by yaw about the vertical. How far
 * the first has moved after `seconds`. */
static double frame_moves(int d, double angle, double yaw, double h, double seconds) {
    static const card c = {0.0005, 0.06, 0.09};
    double points[12], turn_z[4], lean[4], up = c.length / 2 * cos(angle) + c.thick / 2 * sin(angle),
                                           out = c.length / 2 * sin(angle) + c.thick / 2 * cos(angle);
    stage s = stage_open(d, G, MU, 0, 0);
    dls_shape_def shape = card_shape(d, &c, points);
    dls_body_id id[2];
    stage_add_floor(&s, 0);
    for (int k = 0; k < 2; k++) {
        dls_body_def def = dls_default_body_def();
        double side = k ? 1 : -1, a = side * angle;
        def.shapes = &shape, def.shape_count = 1;
        const double about_y[3] = {0, -a, 0}, about_z[3] = {0, 0, d == 2 ? a : yaw};
        quat_exponential(lean, about_y);
        quat_exponential(turn_z, about_z);
        if (d == 2)
            for (int i = 0; i < 4; i++) def.pose.q[i] = turn_z[i];
        else
            quat_multiply(def.pose.q, turn_z, lean);
        vec_set(def.pose.x, side * out * cos(d == 2 ? 0 : yaw), d == 2 ? up : side * out * sin(yaw),
                d == 2 ? 0 : up);
        id[k] = stage_add(&s, &def);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(&s, &o, 0);
    dls_body_state before = stage_state(&s, id[0]);
    stage_run(&s, (int)(seconds / h));
    dls_body_state after = stage_state(&s, id[0]);
    assert_int_equal(s.uncertified, 0);
    stage_close(&s);
    return vec_distance(before.x, after.x);
}

/* Each foot bears the weight m g of a card, and the head a level force N: N (L cos α) = m g (L/2) sin α, so
 * that feet slip from tan α = 2 μ on; α = 31.2° with the thickness of a card. */
static void test_cards_hold_to_the_angle_of_friction(void **unused) {
    (void)unused;
    dls_random g = {3};
    const double degree = 0.017453292519943295;
    for (int d = 2; d <= 3; d++)
        for (int k = 0; k < 4; k++) {
            static const double holds[] = {5, 17, 25, 30.5};
            double yaw = dls_random_between(&g, 0, 6);
            assert_true(frame_moves(d, holds[k] * degree, yaw, k % 2 ? 5e-4 : 1e-3, 0.2) < 1e-7);
        }
    for (int d = 2; d <= 3; d++) assert_true(frame_moves(d, 32 * degree, 0.7, 1e-3, 0.4) > 1e-2);
}

/* ---- a box between two plates ---- */

static dls_function *function(const char *text) {
    dls_function *f;
    dls_error error;
    assert_int_equal(dls_function_expression(text, 0, NULL, NULL, &f, &error), DLS_OK);
    return f;
}

static dls_function *number(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return function(text);
}

static void set_solver(stage *s, const char *name) {
    unsigned char options[DLS_MAX_OPTIONS_SIZE];
    dls_error error;
    dls_simulation_solver_defaults(dls_solver_find(name), options);
    assert_int_equal(dls_simulation_set_solver(s->simulation, dls_solver_find(name), options, &error),
                     DLS_OK);
}

/* A plate presses a box with 20 N against a wall, with twice the friction that its weight needs, all turned
 * about the line of pressure. Of all forces that hold it those of least norm are taken: every corner has a
 * quarter, so that nothing turns. */
static void check_grip(const char *solver, double roll, double h) {
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX), plate = box;
    vec_set(box.size, 0.1, 0.1, 0.1);
    vec_set(plate.size, 0.02, 0.06, 0.06);
    dls_body_id id = -1;
    for (int k = -1; k <= 1; k++) {
        dls_body_def def = dls_default_body_def();
        const double about_x[3] = {roll, 0, 0};
        quat_exponential(def.pose.q, about_x);
        def.shape_count = 1;
        def.shapes = k ? &plate : &box;
        def.motion = k < 0 ? DLS_STATIC : DLS_DYNAMIC;
        def.mass = k < 0 ? 0 : 1;
        def.pose.x[0] = 0.06 * k;
        if (k > 0) def.force[0] = number(-20);
        for (int i = 1; i < 6 && k > 0; i++) def.locked[i] = true;
        dls_body_id added = stage_add(&s, &def);
        id = k == 0 ? added : id;
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(&s, &o, 0);
    set_solver(&s, solver);
    stage_run(&s, (int)(0.3 / h));
    assert_int_equal(s.uncertified, 0);
    assert_near(vec_norm(stage_state(&s, id).w), 0, 1e-6);
    dls_body_state state = stage_state(&s, id);
    double turned = 2 * acos(fmin(1, fabs(state.q[0] * cos(roll / 2) + state.q[1] * sin(roll / 2))));
    assert_true(turned < 0.01 * 0.017453292519943295);
    assert_int_equal(dls_simulation_contact_count(s.simulation), 8);
    for (int k = 0; k < 8; k++) {
        dls_contact_record record;
        dls_simulation_contact(s.simulation, k, &record);
        assert_near(record.impulse[0], 5 * h, 0.01 * 5 * h);
    }
    stage_close(&s);
}

/* Two fingers press a box with 20 N each, take it 0.2 m up and hold it: with every solver it stays upright,
 * has a quarter of the force at each corner, and nothing that slides. */
static void check_lift(const char *solver, double roll, double h) {
    stage s = stage_open(3, G, 0.6, 0, 0);
    const double about_x[3] = {roll, 0, 0};
    dls_shape_def box = dls_default_shape_def(DLS_BOX), finger = box;
    vec_set(box.size, 0.1, 0.1, 0.1);
    vec_set(finger.size, 0.02, 0.06, 0.06);
    dls_body_id id = -1;
    for (int k = -1; k <= 1; k++) {
        dls_body_def def = dls_default_body_def();
        quat_exponential(def.pose.q, about_x);
        def.shape_count = 1;
        def.shapes = k ? &finger : &box;
        def.pose.x[0] = 0.06 * k;
        def.mass = k ? 0 : 1;
        if (k) {
            def.motion = DLS_DRIVEN;
            def.drive[0].force = number(-20 * k);
            def.drive[0].gain = 0.01, def.drive[0].max_speed = 0.2;
            def.drive[2].position = function("0.1*(1 - cos(pi*min(max(t - 0.1, 0)/0.6, 1)))");
        }
        dls_body_id added = stage_add(&s, &def);
        id = k ? id : added;
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(&s, &o, 0);
    set_solver(&s, solver);
    stage_run(&s, (int)(0.05 / h));
    dls_body_state began = stage_state(&s, id), state;
    double friction = dls_simulation_energy(s.simulation).friction;
    for (int k = 0; k < (int)(0.75 / h); k++) {
        stage_run(&s, 1);
        assert_near(dls_simulation_energy(s.simulation).friction, friction,
                    1e-6); /* of 2 J that it is lifted */
    }
    state = stage_state(&s, id);
    assert_int_equal(s.uncertified, 0);
    assert_near(state.x[2] - began.x[2], 0.2, 1e-6);
    double turned = 2 * acos(fmin(1, fabs(state.q[0] * cos(roll / 2) + state.q[1] * sin(roll / 2))));
    assert_true(turned < 0.01 * 0.017453292519943295);
    assert_int_equal(dls_simulation_contact_count(s.simulation), 8);
    for (int k = 0; k < 8; k++) {
        dls_contact_record record;
        dls_simulation_contact(s.simulation, k, &record);
        assert_near(record.impulse[0], 5 * h, 0.01 * 5 * h);
    }
    stage_close(&s);
}

static void test_fingers_lift_a_box(void **unused) {
    (void)unused;
    dls_random g = {5};
    static const char *const solvers[] = {"auto", "nlgs", "newton", "apgd", "pqn", "ipm"};
    for (int k = 0; k < 6; k++) {
        check_lift(solvers[k], 0, 1e-3);
        check_lift(solvers[k], dls_random_between(&g, 0.1, 3), k % 2 ? 1e-3 : 5e-4);
    }
}

static void test_grip_spreads_its_load(void **unused) {
    (void)unused;
    dls_random g = {4};
    static const char *const solvers[] = {"auto", "nlgs", "newton", "apgd", "pqn", "ipm"};
    for (int k = 0; k < 6; k++) {
        check_grip(solvers[k], 0, 1e-3);
        check_grip(solvers[k], dls_random_between(&g, 0.1, 3), k % 2 ? 1e-3 : 5e-4);
    }
}

/* A cube of 0.2 m on the floor that is pushed at its middle by nine tenths of what friction holds: its front
 * bears 72.5 % of the weight, its back too little for half of the push. Impulses stay in their cones, are
 * what holds the cube, and on the left and right of its front are alike to 0.5 %. */
static void check_push(const char *solver, double heading, double h) {
    const double mu = 0.5, share = 0.9;
    double push[3], sum[3] = {0, 0, 0}, front[2] = {0, 0};
    int count = 0;
    stage s = stage_open(3, G, mu, 0, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX);
    dls_body_def def = dls_default_body_def();
    vec_set(box.size, 0.2, 0.2, 0.2);
    stage_add_floor(&s, 0);
    def.shape_count = 1, def.shapes = &box, def.mass = 1;
    def.pose.x[2] = 0.1;
    const double turn[3] = {0, 0, heading};
    quat_exponential(def.pose.q, turn);
    vec_set(push, share * mu * G * cos(heading), share * mu * G * sin(heading), 0);
    for (int k = 0; k < 2; k++) def.force[k] = number(push[k]);
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(&s, &o, 0);
    set_solver(&s, solver);
    stage_run(&s, 100);
    assert_int_equal(s.uncertified, 0);
    assert_int_equal(dls_simulation_contact_count(s.simulation), 4);
    assert_near(vec_norm(stage_state(&s, id).v), 0, 1e-6);
    for (int k = 0; k < 4; k++) {
        dls_contact_record r;
        dls_simulation_contact(s.simulation, k, &r);
        assert_true(hypot(r.impulse[1], r.impulse[2]) <= mu * r.impulse[0] * (1 + 1e-5));
        double at[3], ahead;
        vec_sub(at, r.point, stage_state(&s, id).x);
        ahead = at[0] * cos(heading) + at[1] * sin(heading);
        for (int i = 0; i < 3; i++) vec_along(sum, sum, r.impulse[i], r.frame + 3 * i);
        if (ahead > 0) front[count++ % 2] = r.impulse[0];
    }
    assert_int_equal(count, 2);
    for (int i = 0; i < 3; i++) assert_near(fabs(sum[i]), fabs(i < 2 ? push[i] * h : G * h), 1e-4 * G * h);
    for (int k = 0; k < 2; k++) assert_near(front[k], 0.3625 * G * h, 0.015 * 0.3625 * G * h);
    stage_close(&s);
}

static void test_push_within_cones(void **unused) {
    (void)unused;
    dls_random g = {6};
    static const char *const solvers[] = {"auto", "nlgs", "newton", "apgd", "pqn", "ipm"};
    for (int k = 0; k < 6; k++) {
        check_push(solvers[k], 0, 1e-3);
        check_push(solvers[k], dls_random_between(&g, 0.1, 3), k % 2 ? 1e-3 : 5e-4);
    }
}

/* ---- cohesion of a face ---- */

/* A box of 1 kg with four contacts of 5 N under a ceiling, or on a floor and pulled. How far it goes in 0.1
 * s. */
static double sticky_moves(double sign, double pull, double tilt, double h) {
    stage s = stage_open(3, G, 0.3, 0, 0);
    dls_error error;
    dls_pair_def sticky = {.mu = 0.3, .cohesion = 5};
    assert_int_equal(dls_world_set_pair(s.world, 0, 0, &sticky, &error), DLS_OK);
    dls_shape_def box = dls_default_shape_def(DLS_BOX), slab = box;
    vec_set(box.size, 0.1, 0.1, 0.1);
    vec_set(slab.size, 1, 1, 0.2);
    const double wall[3] = {0, 0, 0};
    stage_add_shape(&s, DLS_STATIC, &slab, wall, NULL, NULL);
    dls_body_def def = dls_default_body_def();
    const double turn[3] = {tilt, 0, 0.3};
    quat_exponential(def.pose.q, turn);
    def.shapes = &box, def.shape_count = 1, def.mass = 1;
    def.pose.x[2] = sign * 0.15;
    def.force[2] = number(pull);
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(&s, &o, 0);
    dls_body_state before = stage_state(&s, id);
    stage_run(&s, (int)(0.1 / h));
    dls_body_state after = stage_state(&s, id);
    stage_close(&s);
    return vec_distance(before.x, after.x);
}

/* It holds to 4 · 5 N and its weight, also where rounding or 1e-10 rad leave two corners open. */
static void test_cohesion_of_a_face(void **unused) {
    (void)unused;
    for (int k = 0; k < 4; k++) {
        double h = k % 2 ? 1e-3 : 5e-4, tilt = k < 2 ? 0 : 1e-10;
        assert_true(sticky_moves(1, 29.7, tilt, h) < 1e-8);
        assert_true(sticky_moves(1, 29.95, tilt, h) > 1e-4);
        assert_true(sticky_moves(-1, 0, tilt, h) < 1e-8);
        assert_true(sticky_moves(-1, -10.1, tilt, h) < 1e-8);
        assert_true(sticky_moves(-1, -10.3, tilt, h) > 1e-4);
    }
}

/* ---- an arch and a tower at rest ---- */

/* Runs for a second and then looks at the fastest of the bodies in another one. */
static double fastest(stage *s, const dls_body_id *id, int count, double h) {
    double most = 0;
    stage_run(s, (int)(1 / h));
    for (int n = 0; n < (int)(1 / h); n++) {
        stage_run(s, 1);
        for (int k = 0; k < count; k++) {
            dls_body_state now = stage_state(s, id[k]);
            most = fmax(most, vec_norm(now.v));
        }
    }
    assert_int_equal(s->uncertified, 0);
    stage_close(s);
    return most;
}

static void start_with(stage *s, double h) {
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(s, &o, 0);
}

/* Half a ring of 21 stones whose thickness is 0.115 of its radius; the thinnest that stands has 0.1075. */
static double arch_moves(double h) {
    enum { STONES = 21 };
    const double pi = 3.14159265358979323846, inner = 1 - 0.115 / 2, outer = 1 + 0.115 / 2;
    stage s = stage_open(2, G, 0.7, 0, 0);
    dls_body_id id[STONES];
    stage_add_floor(&s, 0);
    for (int k = 0; k < STONES; k++) {
        double a = pi * k / STONES, b = pi * (k + 1) / STONES;
        const double points[12] = {inner * cos(a), inner * sin(a), 0, outer * cos(a), outer * sin(a), 0,
                                   outer * cos(b), outer * sin(b), 0, inner * cos(b), inner * sin(b), 0};
        dls_shape_def stone = dls_default_shape_def(DLS_POLYGON);
        stone.points = points, stone.point_count = 4;
        id[k] = stage_add_shape(&s, DLS_DYNAMIC, &stone, NULL, NULL, NULL);
    }
    start_with(&s, h);
    return fastest(&s, id, STONES, h);
}

static stage build_tower(int cubes, double size, double h, dls_body_id *id) {
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_shape_def cube = dls_default_shape_def(DLS_BOX);
    vec_set(cube.size, size, size, size);
    stage_add_floor(&s, 0);
    for (int k = 0; k < cubes; k++)
        id[k] = stage_add_shape(&s, DLS_DYNAMIC, &cube, (double[3]){0, 0, (k + 0.5) * size}, NULL, NULL);
    start_with(&s, h);
    return s;
}

static double tower_moves(double h) {
    enum { CUBES = 20 };
    dls_body_id id[CUBES];
    stage s = build_tower(CUBES, 1, h, id);
    return fastest(&s, id, CUBES, h);
}

/* Newton on bodies ends what sweeps would take a thousand for, once 64 of them have told their rate: 142. */
static void test_tall_towers_are_factored(void **unused) {
    (void)unused;
    enum { CUBES = 30, STEPS = 300 };
    dls_body_id id[CUBES];
    stage s = build_tower(CUBES, 0.1, 2e-3, id);
    stage_run(&s, STEPS);
    double each = (double)dls_simulation_summary(s.simulation).iterations / STEPS;
    print_message("%.1f iterations a step\n", each);
    assert_int_equal(s.uncertified, 0);
    assert_at_most(each, 200);
    stage_close(&s);
}

/* At the default tolerance of 1e-6: ten times what it lets a contact err, |g| h 1e-6. */
static void test_structures_stand_still(void **unused) {
    (void)unused;
    for (double h = 1e-3; h > 4e-4; h /= 2) assert_at_most(arch_moves(h), 1e-5 * G * h);
    for (double h = 5e-3; h > 2e-3; h /= 2) assert_at_most(tower_moves(h), 1e-5 * G * h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cards_hold_to_the_angle_of_friction),
        cmocka_unit_test(test_grip_spreads_its_load),
        cmocka_unit_test(test_push_within_cones),
        cmocka_unit_test(test_fingers_lift_a_box),
        cmocka_unit_test(test_cohesion_of_a_face),
        cmocka_unit_test(test_structures_stand_still),
        cmocka_unit_test(test_tall_towers_are_factored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
