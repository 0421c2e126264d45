/* Gears and racks whose axes are carried by bodies that move, against Willis's relation and Lagrange's
 * equations, in the plane and in a frame turned at random, in every scheme. */
#include "base/random.h"
#include "base/vector.h"
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const schemes[] = {"moreau-jean", "theta", "dvi", "generalized-alpha"};
enum { SCHEMES = 4 };

static dls_error error[1];
#define OK(call)                                                                                             \
    do {                                                                                                     \
        if (call) fail_msg("%s", error->message);                                                            \
    } while (0)

/* A world without gravity whose own x, y, z are turned; what is built says them in those. */
typedef struct bench {
    stage s;
    int dimension;
    double turn[9];
} bench;

static bench open_bench(int dimension) {
    bench b = {.s = stage_open(dimension, 0, 0, 0, 0), .dimension = dimension};
    dls_random g = {5};
    double q[4] = {1, 0, 0, 0};
    for (int k = 0; k < 4 && dimension == 3; k++) q[k] = dls_random_normal(&g);
    quat_normalize(q);
    quat_matrix(q, b.turn);
    return b;
}

static dls_body_id add(bench *b, double mass, double moment, double x, double y) {
    const double inertia[9] = {moment, 0, 0, 0, moment, 0, 0, 0, moment}, place[3] = {x, y, 0};
    dls_body_def def = dls_default_body_def();
    def.mass = mass, def.inertia = inertia;
    mat_apply(def.pose.x, b->turn, place);
    return stage_add(&b->s, &def);
}

/* Each end at its own point, with its own axis. */
static dls_joint_id join(bench *b, dls_joint_def def, const double (*at)[3], const double (*axis)[3]) {
    dls_joint_id id;
    for (int side = 0; side < 2; side++) {
        dls_joint_def own = def;
        double point[3], along[3];
        mat_apply(point, b->turn, at[side]);
        mat_apply(along, b->turn, axis[side]);
        OK(dls_joint_place(b->s.world, &own, point, along, NULL, error));
        def.frame[side] = own.frame[side];
    }
    OK(dls_world_add_joint(b->s.world, &def, &id, error));
    return id;
}

static const double x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1};

static void hold(bench *b, dls_joint_kind kind, dls_body_id a, dls_body_id c, double x, double y,
                 const double *axis, double motor) {
    dls_joint_def def = dls_default_joint_def(kind);
    const double at[2][3] = {{x, y, 0}, {x, y, 0}},
                 axes[2][3] = {{axis[0], axis[1], axis[2]}, {axis[0], axis[1], axis[2]}};
    def.body[0] = a, def.body[1] = c;
    if (motor != 0) OK(dls_function_constant(motor, &def.freedom[3].force, error));
    join(b, def, at, axes);
}

static dls_joint_id mesh(bench *b, dls_joint_kind kind, dls_body_id a, dls_body_id c, double ratio,
                         const double *at_a, const double *at_c, const double *axis_a, const double *axis_c) {
    dls_joint_def def = dls_default_joint_def(kind);
    const double at[2][3] = {{at_a[0], at_a[1], at_a[2]}, {at_c[0], at_c[1], at_c[2]}};
    const double axis[2][3] = {{axis_a[0], axis_a[1], axis_a[2]}, {axis_c[0], axis_c[1], axis_c[2]}};
    def.body[0] = a, def.body[1] = c;
    def.ratio = ratio, def.carried = true;
    return join(b, def, at, axis);
}

static void begin(bench *b, const char *scheme, double h) {
    dls_simulation_options options = dls_default_simulation_options();
    snprintf(options.scheme, sizeof options.scheme, "%s", scheme);
    options.step = h;
    stage_start(&b->s, &options, 1e-9);
}

/* Of what stands in the bench's own axes. */
static double spin(bench *b, dls_body_id id, const double *axis) {
    double w[3];
    dls_body_state state = stage_state(&b->s, id);
    mat_apply_transposed(w, b->turn, state.w);
    return vec_dot(w, axis);
}

static double speed(bench *b, dls_body_id id, const double *axis) {
    double v[3];
    dls_body_state state = stage_state(&b->s, id);
    mat_apply_transposed(v, b->turn, state.v);
    return vec_dot(v, axis);
}

static double gap_of(bench *b, dls_joint_id id) {
    dls_joint_state now;
    double most = 0;
    OK(dls_joint_state_get(b->s.world, id, &now, error));
    for (int k = 0; k < DLS_FREEDOMS; k++) most = fmax(most, fabs(now.gap[k]));
    return most;
}

/* ---- a planet between sun and ring ---- */

enum { SUN, PLANET, ARM };
static const double R_SUN = 0.2, R_PLANET = 0.1, R_RING = 0.4, TORQUE = 0.05;
static const double MOMENT[3] = {0.02, 0.004, 0.05}, PLANET_MASS = 0.7;

static void build_planet(bench *b, dls_body_id *id, dls_joint_id *gear) {
    const double centre[3] = {0, 0, 0}, place[3] = {R_SUN + R_PLANET, 0, 0}, down[3] = {0, 0, -1};
    id[SUN] = add(b, 1, MOMENT[SUN], 0, 0);
    id[PLANET] = add(b, PLANET_MASS, MOMENT[PLANET], place[0], 0);
    id[ARM] = add(b, 1, MOMENT[ARM], 0, 0);
    hold(b, DLS_JOINT_REVOLUTE, DLS_GROUND, id[SUN], 0, 0, z_axis, TORQUE);
    hold(b, DLS_JOINT_REVOLUTE, DLS_GROUND, id[ARM], 0, 0, z_axis, 0);
    hold(b, DLS_JOINT_REVOLUTE, id[ARM], id[PLANET], place[0], 0, z_axis, 0);
    gear[0] = mesh(b, DLS_JOINT_GEAR, id[SUN], id[PLANET], R_PLANET / R_SUN, centre, place, z_axis, z_axis);
    /* teeth inside, and in space an axis that points the other way, which turns the sign of the ratio */
    bool planar = b->dimension == 2;
    gear[1] = mesh(b, DLS_JOINT_GEAR, id[PLANET], DLS_GROUND, (planar ? -1 : 1) * R_RING / R_PLANET, place,
                   centre, z_axis, planar ? z_axis : down);
}

/* ω_arm = ω_sun r_s/(r_s + r_r); the planet turns by −r_r/r_p against the arm. Its mass rides on the arm. */
static void check_planet(int dimension, const char *scheme) {
    bench b = open_bench(dimension);
    dls_body_id id[3];
    dls_joint_id gear[2];
    const int steps = 600;
    const double h = 5e-3, t = h * steps, arm = R_SUN / (R_SUN + R_RING), R = R_SUN + R_PLANET,
                 planet = arm * (1 - R_RING / R_PLANET);
    double inertia = MOMENT[SUN] + (MOMENT[ARM] + PLANET_MASS * R * R) * arm * arm +
                     MOMENT[PLANET] * planet * planet,
           sun = TORQUE * t / inertia;
    build_planet(&b, id, gear);
    begin(&b, scheme, h);
    stage_run(&b.s, steps);
    assert_int_equal(b.s.uncertified, 0);
    assert_near(spin(&b, id[ARM], z_axis), arm * spin(&b, id[SUN], z_axis), 1e-4 * sun);
    assert_near(spin(&b, id[PLANET], z_axis), planet * spin(&b, id[SUN], z_axis), 1e-4 * sun);
    assert_near(spin(&b, id[SUN], z_axis), sun, 1e-3 * sun);
    for (int k = 0; k < 2; k++) assert_true(gap_of(&b, gear[k]) < 2e-3); /* 0.02 rad per step, to O(h²) */
    stage_close(&b.s);
}

static void test_planet(void **state) {
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int k = 0; k < SCHEMES; k++) check_planet(dimension, schemes[k]);
}

/* ---- a rack and a screw that ride on a cart ---- */

/* v = ratio ω against the cart; the cart goes back as momentum says:
 * V = −m v/(M + m + m_A), and τ t = (I + ratio² m (M + m_A)/(M + m + m_A)) ω. */
static void check_rack(int dimension, const char *scheme, bool screw) {
    const double M = 3, m = 0.8, m_A = 0.5, moment = 0.01, ratio = screw ? 0.02 : -0.06, tau = 0.04;
    const int steps = 400;
    const double h = 2.5e-3, *turns = screw ? x_axis : z_axis, at[3] = {0, 0, 0}, on[3] = {0.3, 0.06, 0};
    bench b = open_bench(dimension);
    dls_body_id cart = add(&b, M, 0.1, 0, 0), pinion = add(&b, m_A, moment, 0, 0),
                rack = add(&b, m, 0.02, 0.3, 0.06);
    hold(&b, DLS_JOINT_PRISMATIC, DLS_GROUND, cart, 0, 0, x_axis, 0);
    hold(&b, DLS_JOINT_PRISMATIC, cart, rack, 0.3, 0.06, x_axis, 0);
    hold(&b, DLS_JOINT_REVOLUTE, cart, pinion, 0, 0, turns, tau);
    dls_joint_id id = /* in the plane a rack has its own axis alone, pinions turn about z */
        mesh(&b, DLS_JOINT_RACK, pinion, rack, ratio, at, on, dimension == 2 ? x_axis : turns, x_axis);
    begin(&b, scheme, h);
    stage_run(&b.s, steps);
    assert_int_equal(b.s.uncertified, 0);
    double all = M + m + m_A, omega = tau * h * steps / (moment + ratio * ratio * m * (M + m_A) / all),
           V = -m * ratio * omega / all;
    assert_near(spin(&b, pinion, turns), omega, 1e-6 * omega);
    assert_near(speed(&b, cart, x_axis), V, 1e-6 * fabs(V));
    assert_near(speed(&b, rack, x_axis), V + ratio * omega, 1e-6 * fabs(V));
    assert_true(gap_of(&b, id) < 1e-9);
    stage_close(&b.s);
}

static void test_rack_and_screw(void **state) {
    (void)state;
    for (int k = 0; k < SCHEMES; k++) {
        check_rack(2, schemes[k], false);
        check_rack(3, schemes[k], false);
        check_rack(3, schemes[k], true);
    }
}

/* ---- a differential of bevel gears ---- */

/* Side gears A, B on the axis of the cage C, a planet P across it: ω_A + ω_B = 2 ω_C whatever turns, and a
 * torque on the cage gives each side half of it. */
static void check_differential(const char *scheme) {
    const double I[4] = {0.03, 0.07, 0.02, 0.005}, tau = 0.4, left[3] = {-0.1, 0, 0}, right[3] = {0.1, 0, 0},
                 out[3] = {0, 0.1, 0}, back[3] = {-1, 0, 0};
    const int steps = 200;
    const double h = 5e-3;
    bench b = open_bench(3);
    dls_body_id A = add(&b, 1, I[0], -0.1, 0), B = add(&b, 1, I[1], 0.1, 0), C = add(&b, 1, I[2], 0, 0),
                P = add(&b, 0.2, I[3], 0, 0);
    hold(&b, DLS_JOINT_REVOLUTE, DLS_GROUND, A, -0.1, 0, x_axis, 0);
    hold(&b, DLS_JOINT_REVOLUTE, DLS_GROUND, B, 0.1, 0, x_axis, 0);
    hold(&b, DLS_JOINT_REVOLUTE, DLS_GROUND, C, 0, 0, x_axis, tau);
    hold(&b, DLS_JOINT_REVOLUTE, C, P, 0, 0, y_axis, 0);
    mesh(&b, DLS_JOINT_GEAR, A, P, 1, left, out, x_axis, y_axis);
    mesh(&b, DLS_JOINT_GEAR, B, P, 1, right, out, back, y_axis);
    begin(&b, scheme, h);
    stage_run(&b.s, steps);
    assert_int_equal(b.s.uncertified, 0);
    /* (I_A + c + p) α_A + (c − p) α_B = τ/2 and the same with A and B exchanged */
    double c = (I[2] + I[3]) / 4, p = I[3] / 4, a = I[0] + c + p, e = I[1] + c + p, f = c - p,
           of_A = tau / 2 * (e - f) / (a * e - f * f), of_B = tau / 2 * (a - f) / (a * e - f * f),
           t = h * steps;
    assert_near(spin(&b, A, x_axis), of_A * t, 1e-3 * of_A * t);
    assert_near(spin(&b, B, x_axis), of_B * t, 1e-3 * of_B * t);
    assert_near(spin(&b, C, x_axis), 0.5 * (spin(&b, A, x_axis) + spin(&b, B, x_axis)), 1e-4 * of_A * t);
    stage_close(&b.s);
}

static void test_differential(void **state) {
    (void)state;
    for (int k = 0; k < SCHEMES; k++) check_differential(schemes[k]);
}

/* ---- a train that nothing holds, and its state as bytes ---- */

/* Two gears on an arm, thrown: what they press on each other goes through the arm, so that momentum and
 * moment of momentum stay, which gears against the ground do not keep. */
static void build_free(bench *b, dls_body_id *id, dls_joint_id *gear) {
    const double left[3] = {-0.1, 0, 0}, right[3] = {0.2, 0, 0};
    id[0] = add(b, 1, 0.01, left[0], 0), id[1] = add(b, 2, 0.05, right[0], 0),
    id[2] = add(b, 0.5, 0.02, 0, 0);
    hold(b, DLS_JOINT_REVOLUTE, id[2], id[0], left[0], 0, z_axis, 0.02);
    hold(b, DLS_JOINT_REVOLUTE, id[2], id[1], right[0], 0, z_axis, 0);
    *gear = mesh(b, DLS_JOINT_GEAR, id[0], id[1], 2, left, right, z_axis, z_axis);
}

static double moment_of(bench *b, const dls_body_id *id, const double *moments, const double *masses) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double L[3], x[3], v[3];
        dls_body_state state = stage_state(&b->s, id[k]);
        mat_apply_transposed(x, b->turn, state.x);
        mat_apply_transposed(v, b->turn, state.v);
        vec_cross(L, x, v);
        sum += masses[k] * L[2] + moments[k] * spin(b, id[k], z_axis);
    }
    return sum;
}

static void test_free_train(void **state) {
    (void)state;
    const double moments[3] = {0.01, 0.05, 0.02}, masses[3] = {1, 2, 0.5};
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench b = open_bench(dimension);
        dls_body_id id[3];
        dls_joint_id gear;
        build_free(&b, id, &gear);
        begin(&b, "moreau-jean", 1e-3);
        stage_run(&b.s, 1000);
        assert_int_equal(b.s.uncertified, 0);
        assert_true(fabs(spin(&b, id[0], z_axis)) > 0.5);
        assert_near(moment_of(&b, id, moments, masses), 0, 1e-12);
        double arm = spin(&b, id[2], z_axis), a = spin(&b, id[0], z_axis), c = spin(&b, id[1], z_axis);
        assert_near(a - arm, -2 * (c - arm), 1e-6);
        stage_close(&b.s);
    }
}

/* Turns are counted, and go on from bytes as they stood. */
static void test_resume(void **state) {
    (void)state;
    uint64_t hash[2];
    void *bytes = NULL;
    size_t size = 0;
    for (int resumed = 0; resumed < 2; resumed++) {
        bench b = open_bench(3);
        dls_body_id id[3];
        dls_joint_id gear[2];
        build_planet(&b, id, gear);
        begin(&b, "moreau-jean", 5e-3);
        if (resumed)
            OK(dls_simulation_state_read(b.s.simulation, bytes, size, error));
        else
            stage_run(&b.s, 500); /* more than half a turn */
        if (!resumed) {
            size = dls_simulation_state_size(b.s.simulation);
            bytes = malloc(size);
            dls_simulation_state_write(b.s.simulation, bytes);
        }
        stage_run(&b.s, 50);
        hash[resumed] = dls_simulation_hash(b.s.simulation);
        assert_true(gap_of(&b, gear[1]) < 2e-3);
        stage_close(&b.s);
    }
    free(bytes);
    assert_true(hash[0] == hash[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_planet), cmocka_unit_test(test_rack_and_screw),
                                       cmocka_unit_test(test_differential), cmocka_unit_test(test_free_train),
                                       cmocka_unit_test(test_resume)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
