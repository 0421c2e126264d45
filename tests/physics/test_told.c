/* What bodies are told: drives, servos, locks, forces, attraction, births and deaths, groups, materials. */
#include "support/near.h"
#include "support/stage.h"

#include <stdio.h>
#include <string.h>

static const double G = 9.81;

static dls_simulation_options with_step(double h) {
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    return o;
}

static dls_function *expression(const char *text) {
    dls_error error;
    dls_function *f;
    assert_int_equal(dls_function_expression(text, 0, NULL, NULL, &f, &error), DLS_OK);
    return f;
}

static dls_shape_def box_of(double x, double y, double z) {
    dls_shape_def box = dls_default_shape_def(DLS_BOX);
    box.size[0] = x, box.size[1] = y, box.size[2] = z;
    return box;
}

static dls_body_def body_of(const dls_shape_def *shape) {
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1;
    def.shapes = shape;
    return def;
}

/* ---- drives ---- */

/* A position is met to the bit at the end of every step, whatever pushes. */
static void test_driven_position(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_shape_def box = box_of(1, 1, 0.2), ball = stage_ball(3, 0.1);
    dls_body_def def = body_of(&box);
    dls_function *way = expression("0.05*sin(7*t)"), *angle = expression("0.3*t^2");
    def.motion = DLS_DRIVEN;
    def.pose.x[0] = 0.37, def.pose.x[2] = -0.1;
    def.drive[0].position = expression("0.05*sin(7*t)");
    def.drive[5].position = expression("0.3*t^2");
    dls_body_id id = stage_add(&s, &def);
    stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0.4, 0, 0.1}, NULL, NULL);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 0);
    for (int k = 0; k < 1000; k++) {
        stage_run(&s, 1);
        dls_body_state now = stage_state(&s, id);
        double t = dls_simulation_time(s.simulation), turn = dls_function_value(angle, t);
        assert_true(now.x[0] == 0.37 + dls_function_value(way, t));
        assert_true(now.x[1] == 0 && now.x[2] == -0.1);
        assert_near(now.q[0], cos(turn / 2), 1e-15);
        assert_near(now.q[3], sin(turn / 2), 1e-15);
    }
    dls_function_destroy(way), dls_function_destroy(angle);
    stage_close(&s);
}

/* An angle is met however many steps lead there: their roundings do not add up. */
static void test_driven_angle(void **state) {
    (void)state;
    stage s = stage_open(3, 0, 0, 0, 0);
    dls_shape_def box = box_of(1, 1, 0.2);
    dls_body_def def = body_of(&box);
    def.motion = DLS_DRIVEN;
    def.drive[5].position = expression("0.3*t");
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 0);
    stage_run(&s, 20000);
    dls_body_state now = stage_state(&s, id);
    assert_near(now.q[0], cos(3), 1e-15);
    assert_near(now.q[3], sin(3), 1e-15);
    stage_close(&s);
}

/* A velocity moves a body by its integral, here that of the middle of each step, in every scheme. */
static void test_driven_velocity(void **state) {
    (void)state;
    for (int scheme = 0; dls_scheme_at(scheme, NULL); scheme++) {
        stage s = stage_open(3, G, 0.5, 0, 0);
        dls_shape_def box = box_of(1, 1, 0.2);
        dls_body_def def = body_of(&box);
        def.motion = DLS_DRIVEN;
        def.drive[0].velocity = expression("1 + 2*t");
        def.drive[5].velocity = expression("0.5");
        dls_body_id id = stage_add(&s, &def);
        dls_simulation_options o = with_step(0.1);
        strcpy(o.scheme, dls_scheme_at(scheme, NULL));
        o.theta = 0.7;
        stage_start(&s, &o, 0);
        stage_run(&s, 10);
        dls_body_state now = stage_state(&s, id);
        assert_near(now.x[0], 2, 1e-14);
        assert_near(now.q[3], sin(0.25), 1e-14);
        stage_close(&s);
    }
}

/* A block on a plate that turns steadily goes round with it iff ω² r ≤ μ g. */
static double ride(double w, double seconds) {
    const double r = 0.5, h = 1e-3;
    stage s = stage_open(3, G, 0.4, 0, 0);
    dls_shape_def plate = dls_default_shape_def(DLS_CYLINDER), block = box_of(0.05, 0.05, 0.02);
    plate.radius = 1, plate.length = 0.2;
    dls_body_def def = body_of(&plate);
    char speed[32];
    snprintf(speed, sizeof speed, "%.17g", w);
    def.motion = DLS_DRIVEN;
    def.pose.x[2] = -0.1;
    def.drive[5].velocity = expression(speed);
    stage_add(&s, &def);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &block, (double[3]){r, 0, 0.01},
                                     (double[3]){0, w * r, 0}, (double[3]){0, 0, w});
    dls_simulation_options o = with_step(h);
    stage_start(&s, &o, 1e-9);
    stage_run(&s, (int)(seconds / h));
    dls_body_state now = stage_state(&s, id);
    stage_close(&s);
    return hypot(now.x[0], now.x[1]) - r;
}

static void test_turntable(void **state) {
    (void)state;
    assert_near(ride(2.7, 2), 0, 1e-8); /* √(μ g/r) = 2.8014 */
    assert_true(ride(2.9, 2) > 0.05);
}

/* A box pressed on the wall of a drum that turns, by ω² r = 62 m/s², hangs there by friction: it does not
 * creep down, and it takes no work to carry it round. */
static void test_centrifuge(void **state) {
    (void)state;
    const double w = 8, at = 0.973;
    for (int k = 0; k < 2; k++) {
        const double h = k ? 4e-3 : 1e-3;
        stage s = stage_open(3, G, 0.6, 0, 0);
        dls_shape_def drum = dls_default_shape_def(DLS_CYLINDER_INSIDE), box = box_of(0.05, 0.1, 0.1);
        drum.radius = 1;
        dls_body_def def = body_of(&drum);
        def.motion = DLS_DRIVEN;
        def.drive[5].velocity = expression("8");
        stage_add(&s, &def);
        dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &box, (double[3]){at, 0, 0},
                                         (double[3]){0, w * at, 0}, (double[3]){0, 0, w});
        dls_simulation_options o = with_step(h);
        stage_start(&s, &o, 1e-9);
        stage_run(&s, (int)(1 / h)); /* until it has found its place */
        dls_body_state before = stage_state(&s, id);
        dls_energy settled = dls_simulation_energy(s.simulation);
        stage_run(&s, (int)(2 / h));
        dls_body_state now = stage_state(&s, id);
        dls_energy end = dls_simulation_energy(s.simulation);
        assert_near(now.x[2], before.x[2], 1e-8);
        assert_near(hypot(now.x[0], now.x[1]), hypot(before.x[0], before.x[1]), 1e-8);
        assert_near(end.work - settled.work, 0, 1e-6 * end.kinetic);
        assert_near(end.impact - settled.impact, 0, 1e-6 * end.kinetic);
        assert_near(end.unaccounted, 0, 1e-9 * end.kinetic);
        stage_close(&s);
    }
}

/* A servo reaches the force it wants, on a wall that cannot yield through a ball, and holds it. */
static void test_servo(void **state) {
    (void)state;
    stage s = stage_open(3, 0, 0.5, 0, 0);
    dls_shape_def half = dls_default_shape_def(DLS_HALF_SPACE), ball = stage_ball(3, 0.1),
                  slab = box_of(1, 1, 0.1);
    stage_add_shape(&s, DLS_STATIC, &half, NULL, NULL, NULL);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 0, 0.1}, NULL, NULL);
    dls_body_def def = body_of(&slab);
    def.motion = DLS_DRIVEN;
    def.pose.x[2] = 0.26;
    def.drive[2] = (dls_drive){.force = expression("-50"), .gain = 1e-3, .max_speed = 0.1};
    dls_body_id wall = stage_add(&s, &def);
    dls_simulation_options o = with_step(1e-3);
    o.reference_velocity = 1e-3;
    stage_start(&s, &o, 1e-8);
    stage_run(&s, 3000);
    double force = 0;
    for (int k = 0; k < dls_simulation_contact_count(s.simulation); k++) {
        dls_contact_record c;
        dls_simulation_contact(s.simulation, k, &c);
        double sign = c.body_a == wall ? -1 : c.body_b == wall ? 1 : 0;
        force += sign * c.frame[2] * c.impulse[0] / o.step;
    }
    assert_near(force, 50, 1e-3);
    assert_near(stage_state(&s, wall).v[2], 0, 1e-6);
    assert_near(stage_state(&s, id).x[2], 0.1, 1e-6);
    assert_near(s.last.energy.unaccounted, 0, 1e-10);
    stage_close(&s);
}

/* A servo under a weight: a slab carried from below that wants to press up with less, equal or more. */
static void lift(double share, double expected) {
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_shape_def slab = box_of(1, 1, 0.1), cube = box_of(0.1, 0.1, 0.1);
    dls_body_def def = body_of(&slab);
    char force[32];
    snprintf(force, sizeof force, "%.17g", share * G); /* a cube of 1 kg */
    def.motion = DLS_DRIVEN;
    def.pose.x[2] = -0.05;
    def.drive[2] = (dls_drive){.force = expression(force), .gain = 0.05, .max_speed = 1};
    dls_body_id id = stage_add(&s, &def);
    stage_add_shape(&s, DLS_DYNAMIC, &cube, (double[3]){0, 0, 0.05}, NULL, NULL);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 1e-9);
    stage_run(&s, 1000);
    assert_near(stage_state(&s, id).v[2], expected, 1e-3);
    stage_close(&s);
}

static void test_servo_lifts(void **state) {
    (void)state;
    lift(0.9, -0.1 * G * 0.05);
    lift(1, 0);
    lift(1.1, 0.1 * G * 0.05);
}

/* With nothing to press on it goes as fast as force and gain say, and no faster than it may. */
static void test_servo_alone(void **state) {
    (void)state;
    const double force[] = {-20, 100, -400}, speed[] = {-0.2, 0.25, -0.25};
    for (int k = 0; k < 3; k++) {
        stage s = stage_open(3, G, 0.5, 0, 0);
        dls_shape_def slab = box_of(1, 1, 0.1);
        dls_body_def def = body_of(&slab);
        char text[32];
        snprintf(text, sizeof text, "%g", force[k]);
        def.motion = DLS_DRIVEN;
        def.drive[1] = (dls_drive){.force = expression(text), .gain = 0.01, .max_speed = 0.25};
        dls_body_id id = stage_add(&s, &def);
        dls_simulation_options o = with_step(1e-2);
        stage_start(&s, &o, 0);
        stage_run(&s, 100);
        assert_near(stage_state(&s, id).v[1], speed[k], 1e-15);
        assert_near(stage_state(&s, id).x[1], speed[k] * (1 - o.step / 2), 1e-12); /* it starts from rest */
        stage_close(&s);
    }
}

/* ---- locks ---- */

static void test_locks(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_shape_def box = box_of(0.4, 0.2, 0.1), ball = stage_ball(3, 0.1);
    stage_add_floor(&s, 0);
    dls_body_def def = body_of(&box);
    for (int k = 0; k < 6; k++) def.locked[k] = true;
    def.pose.x[2] = 0.02; /* in the floor, and cannot leave */
    dls_body_id all = stage_add(&s, &def);
    def.pose.x[0] = 2, def.pose.x[2] = 1;
    def.locked[2] = false; /* falls only */
    dls_body_id falls = stage_add(&s, &def);
    def.pose.x[0] = 4;
    memset(def.locked, 0, sizeof def.locked);
    def.locked[3] = def.locked[4] = true; /* turns about z only */
    def.w[2] = 5, def.pose.x[2] = 3;
    def.pose.q[0] = 0.9, def.pose.q[1] = 0.3, def.pose.q[2] = -0.2, def.pose.q[3] = 0.1;
    dls_body_id turns = stage_add(&s, &def);
    /* a ball falls on the one that is held in all freedoms */
    dls_body_id hits = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 0, 0.3}, NULL, NULL);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 1e-9);
    dls_body_state was = stage_state(&s, all);
    stage_run(&s, 600);
    dls_body_state now = stage_state(&s, all);
    for (int k = 0; k < 3; k++) assert_true(now.x[k] == was.x[k] && now.v[k] == 0 && now.w[k] == 0);
    now = stage_state(&s, falls);
    assert_true(now.x[0] == 2 && now.x[1] == 0);
    assert_near(now.x[2], 0.05, 1e-6);
    now = stage_state(&s, turns);
    assert_true(now.w[0] == 0 && now.w[1] == 0);
    assert_near(now.w[2], 5, 1e-9);
    assert_near(stage_state(&s, hits).x[2], 0.17, 1e-6);
    stage_close(&s);
}

/* One rotation locked, two free, no torque but that of the lock: the energy, and the angular momentum about
 * the free axes, are kept to first order. */
static double spin_locked(int locked, double h) {
    stage s = stage_open(3, 0, 0, 0, 0);
    dls_shape_def box = box_of(0.4, 0.2, 0.1);
    dls_body_def def = body_of(&box);
    def.locked[3 + locked] = true;
    for (int k = 0; k < 3; k++) def.w[k] = k == locked ? 0 : 3 - k;
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = with_step(h);
    stage_start(&s, &o, 0);
    dls_body_mass mass = stage_mass(&s, id);
    dls_body_state first = stage_state(&s, id), last;
    stage_run(&s, (int)(5 / h));
    last = stage_state(&s, id);
    double before[3], after[3];
    stage_spin(&mass, &first, before);
    stage_spin(&mass, &last, after);
    for (int k = 1; k < 3; k++) assert_near(after[(locked + k) % 3] / before[(locked + k) % 3], 1, 20 * h);
    double energy = s.last.energy.kinetic, base = s.last.energy.kinetic - s.last.energy.unaccounted;
    assert_true(stage_state(&s, id).w[locked] == 0);
    stage_close(&s);
    return fabs(energy / base - 1);
}

static void test_partly_locked_rotation(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        double coarse = spin_locked(k, 1e-3), fine = spin_locked(k, 5e-4);
        assert_true(fine < 5e-3);
        assert_near(coarse / fine, 2, 0.1);
    }
}

/* ---- forces ---- */

/* F = 3 N over 2 s on 2 kg, and a torque about z: closed forms, and their work is accounted for. */
static void test_applied(void **state) {
    (void)state;
    stage s = stage_open(3, 0, 0, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1);
    dls_body_def def = body_of(&ball);
    def.mass = 2;
    def.v[1] = 0.5;
    def.force[0] = expression("3"), def.torque[2] = expression("0.1*t");
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 0);
    stage_run(&s, 2000);
    double inertia = stage_mass(&s, id).inertia[8];
    dls_body_state now = stage_state(&s, id);
    assert_near(now.v[0], 3, 1e-12);
    assert_near(now.x[0], 3, 1e-11);
    assert_near(now.x[1], 1, 1e-12);
    assert_near(now.w[2], 0.2 / inertia, 1e-9);
    assert_near(s.last.energy.work, 9 + 0.5 * 0.04 / inertia, 1e-9);
    assert_near(s.last.energy.unaccounted, 0, 1e-10);
    stage_close(&s);
}

/* A step that fails leaves all as it was, and the one after it, too. */
static void test_failed_step(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1);
    dls_body_def def = body_of(&ball);
    def.v[1] = 0.5, def.w[0] = 3;
    def.force[0] = expression("t < 0.01 ? 1 : 0/0");
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 0);
    stage_run(&s, 10);
    dls_body_state before = stage_state(&s, id);
    for (int k = 0; k < 2; k++) {
        dls_step_report report;
        dls_error error;
        assert_int_equal(dls_simulation_step(s.simulation, &report, &error), DLS_ERROR_NUMERIC);
        assert_non_null(strstr(error.message, "force of the translation along x"));
        dls_body_state now = stage_state(&s, id);
        assert_memory_equal(&now, &before, sizeof now);
        assert_int_equal(dls_simulation_steps(s.simulation), 10);
        assert_near(dls_simulation_time(s.simulation), 0.01, 1e-15);
    }
    stage_close(&s);
}

/* A disc hangs from a ceiling iff attraction carries its weight. */
static void hang(double share, bool holds) {
    stage s = stage_open(2, G, 0.5, 0, 0);
    dls_error error;
    dls_shape_def disc = stage_ball(2, 0.1), ceiling = dls_default_shape_def(DLS_HALF_PLANE);
    dls_body_def def = body_of(&disc), top = body_of(&ceiling);
    def.mass = 2;
    def.pose.x[1] = -0.1;
    top.motion = DLS_STATIC;
    top.pose.q[0] = 0, top.pose.q[3] = 1;
    dls_pair_def pair = {.mu = 0.5, .cohesion = share * 2 * G};
    assert_int_equal(dls_world_set_pair(s.world, 0, 0, &pair, &error), DLS_OK);
    stage_add(&s, &top);
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 1e-9);
    stage_run(&s, 1000);
    dls_body_state now = stage_state(&s, id);
    if (holds)
        assert_near(now.x[1], -0.1, 1e-9);
    else
        assert_true(now.x[1] < -2);
    assert_near(s.last.energy.unaccounted, 0, 1e-8);
    stage_close(&s);
}

static void test_cohesion(void **state) {
    (void)state;
    hang(1.01, true);
    hang(0.99, false);
    hang(0, false);
}

/* A ceiling that rises takes along what hangs from it: the drive lifts the weight, m g v t. */
static void test_cohesion_lifts(void **state) {
    (void)state;
    stage s = stage_open(2, G, 0.5, 0, 0);
    dls_error error;
    dls_shape_def disc = stage_ball(2, 0.1), ceiling = dls_default_shape_def(DLS_HALF_PLANE);
    dls_body_def def = body_of(&disc), top = body_of(&ceiling);
    def.mass = 2;
    def.pose.x[1] = -0.1, def.v[1] = 0.3;
    top.motion = DLS_DRIVEN;
    top.pose.q[0] = 0, top.pose.q[3] = 1;
    top.drive[1].velocity = expression("0.3");
    dls_pair_def pair = {.mu = 0.5, .cohesion = 3 * 2 * G};
    assert_int_equal(dls_world_set_pair(s.world, 0, 0, &pair, &error), DLS_OK);
    stage_add(&s, &top);
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 1e-9);
    stage_run(&s, 1000);
    assert_near(stage_state(&s, id).x[1], 0.2, 1e-8);
    assert_near(s.last.energy.work, 2 * G * 0.3, 1e-7);
    assert_near(s.last.energy.unaccounted, 0, 1e-8);
    stage_close(&s);
}

/* A disc that attraction holds below a slope rolls down it by ⅓ g sin α t², and the gap, whose rounding goes
 * either way, never lets go of it. */
static void roll_below(double slope) {
    stage s = stage_open(2, G, 0.8, 0, 0);
    dls_error error;
    dls_shape_def disc = stage_ball(2, 0.1), ceiling = dls_default_shape_def(DLS_HALF_PLANE);
    dls_body_def def = body_of(&disc), top = body_of(&ceiling);
    def.mass = 2;
    double touching = 0.1 - 1e-12;
    def.pose.x[0] = touching * sin(slope), def.pose.x[1] = -touching * cos(slope);
    top.motion = DLS_STATIC;
    top.pose.q[0] = -sin(slope / 2), top.pose.q[3] = cos(slope / 2);
    dls_pair_def pair = {.mu = 0.8, .cohesion = 2 * 2 * G};
    assert_int_equal(dls_world_set_pair(s.world, 0, 0, &pair, &error), DLS_OK);
    stage_add(&s, &top);
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 1e-9);
    stage_run(&s, 1000);
    dls_body_state now = stage_state(&s, id);
    double along = now.x[0] * cos(slope) + now.x[1] * sin(slope);
    assert_near(along, -G * sin(slope) / 3, 1e-6);
    assert_near(now.x[0] * sin(slope) - now.x[1] * cos(slope), 0.1, 1e-9);
    stage_close(&s);
}

static void test_cohesion_holds_what_rolls(void **state) {
    (void)state;
    for (int k = 1; k <= 8; k++) roll_below(0.05 * k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_driven_position),
        cmocka_unit_test(test_driven_angle),
        cmocka_unit_test(test_driven_velocity),
        cmocka_unit_test(test_turntable),
        cmocka_unit_test(test_centrifuge),
        cmocka_unit_test(test_servo),
        cmocka_unit_test(test_servo_lifts),
        cmocka_unit_test(test_servo_alone),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_partly_locked_rotation),
        cmocka_unit_test(test_applied),
        cmocka_unit_test(test_failed_step),
        cmocka_unit_test(test_cohesion),
        cmocka_unit_test(test_cohesion_lifts),
        cmocka_unit_test(test_cohesion_holds_what_rolls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
