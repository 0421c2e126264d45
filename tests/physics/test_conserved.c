/* What contacts cannot change: momentum, angular momentum, and that a periodic box has no walls. */
#include "support/near.h"
#include "support/stage.h"

#include <string.h>

static const double G = 9.81;

static dls_simulation_options with_step(double h) {
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h, o.reference_velocity = 1, o.rest_speed = 1e-6;
    return o;
}

static stage periodic_stage(int dimension, double gravity, double e, const double *size) {
    stage s = {.world = NULL};
    dls_error error;
    dls_world_def def = dls_default_world_def();
    def.dimension = dimension;
    memset(def.gravity, 0, sizeof def.gravity);
    def.gravity[dimension - 1] = -gravity;
    memcpy(def.period_size, size, sizeof def.period_size);
    assert_int_equal(dls_world_create(&def, &s.world, &error), DLS_OK);
    dls_pair_def pair = {.mu = 0.4, .e_n = e};
    assert_int_equal(dls_world_set_pair(s.world, 0, 0, &pair, &error), DLS_OK);
    return s;
}

/* ---- momentum ---- */

static void turn_inertia(const stage *s, dls_body_id id, const dls_body_state *b, double *spin) {
    dls_body_mass mass = stage_mass(s, id);
    const double *q = b->q;
    double R[3][3] = {{1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]),
                       2 * (q[1] * q[3] + q[0] * q[2])},
                      {2 * (q[1] * q[2] + q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]),
                       2 * (q[2] * q[3] - q[0] * q[1])},
                      {2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]),
                       1 - 2 * (q[1] * q[1] + q[2] * q[2])}};
    double w[3] = {0, 0, 0}, l[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) w[i] += R[k][i] * b->w[k];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) l[i] += mass.inertia[i + 3 * k] * w[k];
    for (int i = 0; i < 3; i++) spin[i] = R[i][0] * l[0] + R[i][1] * l[1] + R[i][2] * l[2];
}

/* Linear momentum in sum[0 … 2], angular about the origin in sum[3 … 5]. */
static void momentum(const stage *s, int count, double *sum) {
    memset(sum, 0, 6 * sizeof *sum);
    for (int id = 0; id < count; id++) {
        dls_body_state b = stage_state(s, id);
        double m = stage_mass(s, id).mass, spin[3];
        turn_inertia(s, id, &b, spin);
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            sum[k] += m * b.v[k];
            sum[3 + k] += spin[k] + m * (b.x[i] * b.v[j] - b.x[j] * b.v[i]);
        }
    }
}

/* Odd bodies fly together and stay or part: contacts change neither sum. */
static void meet(double e, double mu) {
    stage s = stage_open(3, 0, mu, e, 0);
    static const dls_shape_kind kinds[] = {DLS_SPHERE, DLS_BOX, DLS_CAPSULE, DLS_ELLIPSOID, DLS_CYLINDER};
    int count = 0;
    for (int k = 0; k < 20; k++) {
        dls_shape_def shape[2] = {dls_default_shape_def(kinds[k % 5]), stage_ball(3, 0.1)};
        shape[0].radius = 0.12, shape[0].length = 0.2;
        for (int i = 0; i < 3; i++) shape[0].size[i] = 0.15 + 0.05 * i;
        shape[1].pose.x[0] = 0.2;
        dls_body_def def = dls_default_body_def();
        def.shape_count = 1 + (k % 7 == 3), def.shapes = shape;
        double side[3] = {0.6 * (k % 3 - 1), 0.6 * (k / 3 % 3 - 1), 0.6 * (k / 9 - 1) + 0.05 * k};
        for (int i = 0; i < 3; i++) def.pose.x[i] = side[i], def.v[i] = -side[i] * 2 + 0.1 * i;
        def.w[0] = k % 4, def.w[1] = -(k % 3), def.w[2] = 1;
        def.pose.q[0] = 1, def.pose.q[1] = 0.3 * (k % 5), def.pose.q[2] = -0.2 * (k % 3);
        stage_add(&s, &def), count++;
    }
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 1e-6);
    double first[6], last[6], size = 0;
    momentum(&s, count, first);
    for (int id = 0; id < count; id++) size += stage_mass(&s, id).mass;
    int touched = 0;
    for (int k = 0; k < 500; k++) stage_run(&s, 1), touched += s.last.active;
    assert_true(touched > 20);
    momentum(&s, count, last);
    for (int k = 0; k < 6; k++) assert_near(last[k] / size, first[k] / size, 1e-12);
    stage_close(&s);
}

static void test_momentum(void **state) {
    (void)state;
    meet(0, 0.5);
    meet(0.7, 0.2);
}

/* ---- a compound whose mass centre is not at its frame ---- */

/* A hammer thrown in gravity: its mass centre flies a parabola, whatever it turns. */
static void test_hammer(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0, 0, 0);
    dls_shape_def shape[2] = {dls_default_shape_def(DLS_BOX), dls_default_shape_def(DLS_CYLINDER)};
    shape[0].size[0] = 0.3, shape[0].size[1] = shape[0].size[2] = 0.1;
    shape[1].radius = 0.02, shape[1].length = 0.6, shape[1].pose.x[2] = -0.35;
    dls_body_def def = dls_default_body_def();
    def.shape_count = 2, def.shapes = shape;
    def.v[0] = 1, def.v[2] = 5, def.w[0] = 3, def.w[1] = 2, def.w[2] = -1;
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 0);
    dls_body_mass mass = stage_mass(&s, id);
    double m1 = 3.0, m2 = 1000 * acos(-1) * 4e-4 * 0.6;
    assert_near(mass.mass, m1 + m2, 1e-12);
    assert_near(mass.centre[2], -0.35 * m2 / (m1 + m2), 1e-14);
    stage_run(&s, 1000);
    dls_body_state now = stage_state(&s, id);
    assert_near(now.x[0], 1, 1e-12);
    assert_near(now.x[2], mass.centre[2] + 5 - G / 2, 1e-11);
    dls_pose pose;
    dls_error error;
    assert_int_equal(dls_body_pose_get(s.world, id, &pose, &error), DLS_OK);
    double arm = 0;
    for (int k = 0; k < 3; k++) arm += (pose.x[k] - now.x[k]) * (pose.x[k] - now.x[k]);
    assert_near(sqrt(arm), fabs(mass.centre[2]), 1e-14);
    stage_close(&s);
}

/* ---- periodic boxes ---- */

/* Two balls meet across the boundary as they do within: positions are never wrapped. */
static void collide_across(double shift, double *v) {
    stage s = periodic_stage(3, 0, 0.5, (double[3]){2, 0, 0});
    dls_shape_def ball = stage_ball(3, 0.2);
    dls_body_id a = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){shift - 0.4, 0.05, 0},
                                    (double[3]){1, 0, 0}, NULL);
    double x = shift + 0.4;
    dls_body_id b = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){x >= 2 ? x - 2 : x, 0, 0},
                                    (double[3]){-1, 0, 0}, NULL);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 700);
    memcpy(v, stage_state(&s, a).v, 3 * sizeof *v);
    memcpy(v + 3, stage_state(&s, b).v, 3 * sizeof *v);
    assert_near(v[0] + v[3], 0, 1e-13);
    assert_near(v[1] + v[4], 0, 1e-13);
    stage_close(&s);
}

static void test_across_the_boundary(void **state) {
    (void)state;
    double inside[6], across[6];
    collide_across(1, inside);
    assert_true(inside[0] < 0);
    collide_across(1.9, across);
    for (int k = 0; k < 6; k++) assert_near(across[k], inside[k], 1e-11);
}

/* A ball that grazes a driven, spinning one: what the drive puts in is the same across the boundary as
 * within. */
static dls_energy graze_driven(double shift, double side) {
    stage s = periodic_stage(3, 0, 0.5, (double[3]){2, 0, 0});
    dls_shape_def ball = stage_ball(3, 0.2);
    dls_body_def def = dls_default_body_def();
    dls_error error;
    double x = shift + side * 0.25;
    def.shape_count = 1, def.shapes = &ball;
    def.motion = DLS_DRIVEN;
    def.pose.x[0] = x >= 2 ? x - 2 : x;
    assert_int_equal(dls_function_constant(-6, &def.drive[5].velocity, &error), DLS_OK);
    stage_add(&s, &def);
    x = shift - side * 0.25;
    stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){x >= 2 ? x - 2 : x, 0.05, 0},
                    (double[3]){side, 0.2, 0}, NULL);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 300);
    dls_energy energy = s.last.energy;
    stage_close(&s);
    return energy;
}

static void test_drive_across_the_boundary(void **state) {
    (void)state;
    for (double side = -1; side <= 1; side += 2) {
        dls_energy inside = graze_driven(1, side), across = graze_driven(1.95, side);
        assert_true(fabs(inside.work) > 1e-2 * inside.kinetic);
        assert_near(across.work, inside.work, 1e-11);
        assert_near(across.unaccounted, inside.unaccounted, 1e-11);
    }
}

/* A ball rolls on a floor that is periodic for many rounds; it reads where it would be without a box. */
static void test_many_rounds(void **state) {
    (void)state;
    stage s = periodic_stage(3, G, 0, (double[3]){1, 1, 0});
    dls_shape_def ball = stage_ball(3, 0.1);
    stage_add_floor(&s, 0);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0.5, 0.5, 0.1},
                                     (double[3]){7, -3, 0}, (double[3]){30, 70, 0});
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 2000);
    dls_body_state now = stage_state(&s, id);
    assert_near(now.x[0], 14.5, 1e-9);
    assert_near(now.x[1], -5.5, 1e-9);
    assert_near(now.v[0], 7, 1e-11);
    stage_close(&s);
}

/* A box so small that a long body meets its own image: it cannot tilt against itself, momentum stays. */
static void test_own_image(void **state) {
    (void)state;
    stage s = periodic_stage(3, 0, 0, (double[3]){1, 0, 0});
    dls_shape_def rod = dls_default_shape_def(DLS_CAPSULE);
    rod.radius = 0.1, rod.length = 1.4;
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1, def.shapes = &rod;
    def.v[0] = 0.3, def.v[1] = -0.1, def.w[1] = 1; /* from upright towards its images */
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = with_step(1e-3);
    stage_start(&s, &o, 1e-10);
    stage_run(&s, 3000);
    dls_body_state now = stage_state(&s, id);
    assert_near(now.v[0], 0.3, 1e-12);
    assert_near(now.x[0], 0.9, 1e-11);
    assert_near(now.w[1], 0, 1e-6); /* leans on its images: 2 r = sin of the angle to the axis × period */
    double tilt = 2 * atan2(now.q[2], now.q[0]);
    assert_near(cos(tilt), 0.2, 1e-6);
    assert_true(s.last.penetration < 1e-6);
    stage_close(&s);
}

/* ---- births, deaths, removals ---- */

static void test_coming_and_going(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_error error;
    dls_shape_def ball = stage_ball(3, 0.1);
    stage_add_floor(&s, 0);
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1, def.shapes = &ball;
    dls_body_id id[4];
    const double birth[4] = {-INFINITY, 0.1, 0.2, -INFINITY}, death[4] = {0.3, INFINITY, 0.4, INFINITY};
    for (int k = 0; k < 4; k++) {
        def.pose.x[0] = k, def.pose.x[2] = 2;
        def.birth = birth[k], def.death = death[k];
        id[k] = stage_add(&s, &def);
    }
    dls_simulation_options o = dls_default_simulation_options();
    stage_start(&s, &o, 1e-9);
    for (int k = 0; k < 500; k++) {
        double t = dls_simulation_time(s.simulation);
        if (k == 250) assert_int_equal(dls_world_remove_body(s.world, id[3], &error), DLS_OK);
        stage_run(&s, 1);
        int here = 1 + (t < 0.3 - 1e-9) + (t >= 0.1 - 1e-9) + (t >= 0.2 - 1e-9 && t < 0.4 - 1e-9) + (k < 250);
        assert_int_equal(s.last.bodies, here);
        assert_near(s.last.energy.unaccounted, 0, 1e-10);
    }
    /* falls since its birth alone */
    assert_near(stage_state(&s, id[1]).v[2], -G * 0.4, 1e-9);
    assert_int_equal(dls_body_presence(s.world, id[0]), DLS_GONE);
    assert_int_equal(dls_body_presence(s.world, id[1]), DLS_PRESENT);
    def.birth = -INFINITY, def.death = INFINITY, def.pose.x[0] = 9;
    assert_int_equal(stage_add(&s, &def), id[3] + 1);
    stage_run(&s, 100);
    assert_int_equal(s.last.bodies, 3);
    assert_near(s.last.energy.unaccounted, 0, 1e-10);
    stage_close(&s);
}

/* ---- groups and materials ---- */

static void test_groups_and_materials(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_error error;
    dls_material_def ice = dls_default_material_def(), rubber = ice;
    dls_material_id ice_id, rubber_id;
    ice.name = "ice", ice.mu = 0;
    rubber.name = "rubber", rubber.mu = 0.9, rubber.e_n = 0.8;
    assert_int_equal(dls_world_add_material(s.world, &ice, &ice_id, &error), DLS_OK);
    assert_int_equal(dls_world_add_material(s.world, &rubber, &rubber_id, &error), DLS_OK);
    dls_pair_def pair = {.mu = 0.2};
    assert_int_equal(dls_world_set_pair(s.world, ice_id, 0, &pair, &error), DLS_OK);
    stage_add_floor(&s, 0); /* of material 0 */
    dls_shape_def box = dls_default_shape_def(DLS_BOX);
    for (int k = 0; k < 3; k++) box.size[k] = 0.2;
    dls_body_id id[4];
    for (int k = 0; k < 3; k++) { /* 0: default, 1: ice with a stated pair, 2: in no group of the floor */
        box.material = k == 1 ? ice_id : 0;
        box.group = k == 2 ? 4 : 1, box.collides = k == 2 ? 4 : 0xFFFFFFFFu;
        id[k] =
            stage_add_shape(&s, DLS_DYNAMIC, &box, (double[3]){2 * k, 0, 0.1}, (double[3]){0, 3, 0}, NULL);
    }
    dls_shape_def ball = stage_ball(3, 0.1); /* mixes with the floor: e_n the larger */
    ball.material = rubber_id;
    id[3] = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){8, 0, 1.1}, NULL, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    stage_start(&s, &o, 1e-10);
    stage_run(&s, 500);
    assert_near(stage_state(&s, id[0]).v[1], 3 - 0.5 * G * 0.5, 1e-6);
    assert_near(stage_state(&s, id[1]).v[1], 3 - 0.2 * G * 0.5, 1e-6);
    assert_near(stage_state(&s, id[2]).v[2], -G * 0.5, 1e-9); /* falls through */
    double up = 0.8 * sqrt(2 * G), rest = 0.5 - sqrt(2 / G);
    assert_near(stage_state(&s, id[3]).v[2], up - G * rest, 2 * G * o.step);
    stage_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_hammer),
        cmocka_unit_test(test_across_the_boundary),
        cmocka_unit_test(test_drive_across_the_boundary),
        cmocka_unit_test(test_many_rounds),
        cmocka_unit_test(test_own_image),
        cmocka_unit_test(test_coming_and_going),
        cmocka_unit_test(test_groups_and_materials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
