/* Contacts move within a step: what rolls and slides on bent surfaces, and where impulses act. Every case at
 * h and at h/2, in its own axes and turned. */
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"

#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double G = 9.81, PI = 3.14159265358979323846;

/* ---- a world that may be turned ---- */

static double turn[4] = {1, 0, 0, 0};

static void turned(double *v) {
    double R[9];
    quat_matrix(turn, R);
    mat_apply(v, R, v);
}

static stage open_turned(double gravity, double mu, double e_n) {
    stage s = {0};
    dls_world_def def = dls_default_world_def();
    def.dimension = 3;
    vec_set(def.gravity, 0, 0, -gravity);
    turned(def.gravity);
    assert_int_equal(dls_world_create(&def, &s.world, NULL), DLS_OK);
    dls_pair_def pair = {.mu = mu, .e_n = e_n};
    assert_int_equal(dls_world_set_pair(s.world, 0, 0, &pair, NULL), DLS_OK);
    return s;
}

static dls_body_id add_turned(stage *s, dls_motion motion, const dls_shape_def *shape, const double *q,
                              const double *x, const double *v, const double *w) {
    dls_body_def def = dls_default_body_def();
    def.motion = motion;
    def.shape_count = 1, def.shapes = shape;
    if (x) vec_copy(def.pose.x, x);
    if (v) vec_copy(def.v, v);
    if (w) vec_copy(def.w, w);
    turned(def.pose.x), turned(def.v), turned(def.w);
    quat_multiply(def.pose.q, turn, q ? q : (double[4]){1, 0, 0, 0});
    return stage_add(s, &def);
}

static dls_function *constant(double value) {
    dls_function *function;
    assert_int_equal(dls_function_constant(value, &function, NULL), DLS_OK);
    return function;
}

static void assert_in(double value, double low, double high) {
    if (!(value >= low && value <= high)) fail_msg("%g is not within %g and %g", value, low, high);
}

/* Of all bodies, or of one as seen from a frame that goes along. */
static double energy_of(const stage *s, dls_body_id id, const double *along) {
    dls_energy e = dls_simulation_energy(s->simulation);
    double v[3];
    if (!along) return e.kinetic + e.potential;
    vec_sub(v, stage_state(s, id).v, along);
    return vec_dot(v, v) / 2; /* what circles hardly turns */
}

/* Runs a case in its own axes and turned. */
static void both_ways(void (*run)(void)) {
    run();
    turn[0] = 0.4, turn[1] = -0.3, turn[2] = 0.7, turn[3] = 0.2;
    quat_normalize(turn);
    run();
    turn[0] = 1, turn[1] = turn[2] = turn[3] = 0;
}

static void start(stage *s, double h, const char *scheme, double tolerance) {
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    snprintf(o.scheme, sizeof o.scheme, "%s", scheme);
    stage_start(s, &o, tolerance);
}

/* How far the energy gets from where it began, and how deep bodies sink. */
typedef struct outcome {
    double change, depth;
} outcome;

static outcome follow(stage *s, double h, double seconds, dls_body_id id, const double *along) {
    outcome out = {0, 0};
    double before = energy_of(s, id, along);
    for (int k = 0; k < (int)(seconds / h + 0.5); k++) {
        stage_run(s, 1);
        out.change = fmax(out.change, fabs(energy_of(s, id, along) / before - 1));
        out.depth = fmax(out.depth, s->last.penetration);
    }
    assert_int_equal(s->uncertified, 0);
    stage_close(s);
    return out;
}

/* ---- a disc that leans and rolls round ---- */

/* A ball of the disc's mass is fixed in its centre: another body, which goes on and turns in its own way. */
static void weigh_down(stage *s, dls_body_id disc) {
    dls_body_def def = dls_default_body_def();
    dls_joint_def joint = dls_default_joint_def(DLS_JOINT_FIXED);
    dls_body_state state = stage_state(s, disc);
    double mass = stage_mass(s, disc).mass, I = 1e-4 * mass; /* m², a third of the disc's */
    const double inertia[9] = {I, 0, 0, 0, I, 0, 0, 0, I};
    def.mass = mass, def.inertia = inertia;
    def.pose =
        (dls_pose){{state.x[0], state.x[1], state.x[2]}, {state.q[0], state.q[1], state.q[2], state.q[3]}};
    vec_copy(def.v, state.v), vec_copy(def.w, state.w);
    joint.body[0] = disc, joint.body[1] = stage_add(s, &def);
    assert_int_equal(dls_world_add_joint(s->world, &joint, NULL, NULL), DLS_OK);
}

/* With Ω² = 4g/(R sin α) a thin disc rolls round its own centre, which rests; a thick one nods. */
static outcome lean(double degrees, double length, double h, const char *scheme, bool joined) {
    const double R = 0.0375, alpha = degrees * PI / 180, Omega = sqrt(4 * G / (R * sin(alpha)));
    stage s = open_turned(G, 1, 0);
    dls_shape_def disc = dls_default_shape_def(DLS_CYLINDER), floor = dls_default_shape_def(DLS_HALF_SPACE);
    disc.radius = R, disc.length = length;
    add_turned(&s, DLS_STATIC, &floor, NULL, NULL, NULL, NULL);
    double q[4] = {cos(alpha / 2), 0, sin(alpha / 2), 0}, axis[3] = {sin(alpha), 0, cos(alpha)};
    double w[3] = {-Omega * cos(alpha) * axis[0], 0, Omega - Omega * cos(alpha) * axis[2]};
    double v[3] = {0, Omega * axis[0] * length / 2, 0};
    double x[3] = {0, 0, R * sin(alpha) + length / 2 * cos(alpha)};
    dls_body_id id = add_turned(&s, DLS_DYNAMIC, &disc, q, x, v, w);
    if (joined) weigh_down(&s, id);
    start(&s, h, scheme, 1e-9);
    return follow(&s, h, 1, id, NULL);
}

static void run_leaning(void) {
    const double R = 0.0375, v = R * sqrt(4 * G / (R * sin(PI / 6)));
    outcome thick = lean(30, 0.006, 1e-3, "moreau-jean", false),
            half = lean(30, 0.006, 5e-4, "moreau-jean", false);
    assert_in(thick.change, 0, 3e-4);
    assert_in(thick.change / half.change, 3.3, 5); /* second order */
    assert_in(thick.depth, 0, 1e-6 * v * v / R);
    assert_in(lean(10, 0.006, 1e-3, "moreau-jean", false).change, 0, 1e-3);
    assert_in(lean(30, 1e-5, 1e-3, "moreau-jean", false).change, 0, 3e-4);
    assert_in(lean(30, 0.006, 1e-3, "theta", false).change, 0, 3e-4);
    assert_in(lean(30, 0.006, 1e-3, "dvi", false).change, 0, 1e-3);
    thick = lean(30, 0.006, 1e-3, "moreau-jean", true), half = lean(30, 0.006, 5e-4, "moreau-jean", true);
    assert_in(thick.change, 0, 1e-3);
    assert_in(thick.change / half.change, 3.3, 5);
}

static void test_leaning_disc(void **state) {
    (void)state;
    both_ways(run_leaning);
}

/* ---- a top that slides ---- */

/* The tippe top of paper 004 after 1 s: how far its axis leans. Friction opposes the slip halfway. */
static double tip(double h, dls_kinematics kinematics) {
    const double tilt = 0.1, R = 0.015, above = 0.003, inertia[9] = {8e-7, 0, 0, 0, 8e-7, 0, 0, 0, 7e-7};
    stage s = open_turned(G, 0.3, 0);
    dls_pair_def pair = {.mu = 0.3, .turning = {.drilling = 5e-4 * 3 * PI / 16}};
    assert_int_equal(dls_world_set_pair(s.world, 0, 0, &pair, NULL), DLS_OK);
    dls_shape_def belly = stage_ball(3, R), floor = dls_default_shape_def(DLS_HALF_SPACE);
    add_turned(&s, DLS_STATIC, &floor, NULL, NULL, NULL, NULL);
    dls_body_def def = dls_default_body_def();
    double q[4] = {cos(tilt / 2), sin(tilt / 2), 0, 0}, up[3] = {0, 0, 1}, axis[3], Q[9];
    belly.pose.x[2] = above;
    def.shape_count = 1, def.shapes = &belly, def.mass = 6e-3, def.inertia = inertia;
    def.pose.x[2] = R - above * cos(tilt);
    vec_set(def.w, 0, -180 * sin(tilt), 180 * cos(tilt));
    turned(def.pose.x), turned(def.w), turned(up);
    quat_multiply(def.pose.q, turn, q);
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h, o.kinematics = kinematics;
    stage_start(&s, &o, 1e-8);
    stage_run(&s, (int)(1 / h + 0.5));
    assert_int_equal(s.uncertified, 0);
    quat_matrix(stage_state(&s, id).q, Q);
    vec_copy(axis, Q + 6);
    stage_close(&s);
    return acos(vec_dot(axis, up));
}

/* 1.57260 is the limit of both kinematics, and of generalized-alpha. */
static void run_tops(void) {
    double second[2] = {tip(1e-3, DLS_KINEMATICS_SECOND) - 1.57260,
                        tip(5e-4, DLS_KINEMATICS_SECOND) - 1.57260};
    double first = tip(1e-3, DLS_KINEMATICS_FIRST) - 1.57260;
    assert_in(fabs(second[0]), 0, 3e-3);
    assert_in(fabs(second[1]), 0, 7.5e-4);
    assert_in(fabs(second[0]), 0, fabs(first));
}

static void test_sliding_top(void **state) {
    (void)state;
    both_ways(run_tops);
}

/* ---- what circles in a tube without friction ---- */

typedef enum wall_motion { STILL, TURNING, GOING } wall_motion;

/* The tube stands, turns about its axis, or goes along with what circles in it. */
static outcome circle(const dls_shape_def *shape, wall_motion motion, double e_n, double h,
                      const char *scheme) {
    stage s = open_turned(0, 0, e_n);
    dls_shape_def tube = dls_default_shape_def(DLS_CYLINDER_INSIDE);
    dls_body_def def = dls_default_body_def();
    double axis[3] = {0, 0, 3}, along[3] = {0.3, -0.2, 0.5};
    tube.radius = 1;
    def.motion = motion == STILL ? DLS_STATIC : DLS_DRIVEN;
    def.shape_count = 1, def.shapes = &tube;
    turned(axis), turned(along);
    for (int k = 0; k < 3 && motion == TURNING; k++) def.drive[3 + k].velocity = constant(axis[k]);
    for (int k = 0; k < 3 && motion == GOING; k++) def.drive[k].velocity = constant(along[k]);
    memcpy(def.pose.q, turn, sizeof turn);
    stage_add(&s, &def);
    def = dls_default_body_def();
    def.shape_count = 1, def.shapes = shape, def.mass = 1;
    def.pose.x[0] = 0.95, def.v[1] = 1.5;
    turned(def.pose.x), turned(def.v);
    if (motion == GOING) vec_add(def.v, def.v, along);
    memcpy(def.pose.q, turn, sizeof turn);
    dls_body_id id = stage_add(&s, &def);
    start(&s, h, scheme, 1e-9);
    return follow(&s, h, 1, id, motion == GOING ? along : NULL);
}

static void run_tubes(void) {
    dls_shape_def shapes[4] = {dls_default_shape_def(DLS_SPHERE), dls_default_shape_def(DLS_ELLIPSOID),
                               dls_default_shape_def(DLS_CAPSULE), dls_default_shape_def(DLS_CYLINDER)};
    shapes[0].radius = shapes[2].radius = shapes[3].radius = 0.05;
    vec_set(shapes[1].size, 0.05, 0.05, 0.08);
    shapes[2].length = shapes[3].length = 0.1;
    for (int k = 0; k < 4; k++)
        for (wall_motion motion = STILL; motion <= GOING; motion++)
            for (int scheme = 0; scheme < 3; scheme++)
                for (int halved = 0; halved < 2; halved++) {
                    static const char *const names[] = {"moreau-jean", "theta", "dvi"};
                    for (int bouncy = 0; bouncy < 2; bouncy++) { /* what follows a wall does not hit it */
                        outcome out =
                            circle(&shapes[k], motion, 0.5 * bouncy, halved ? 5e-4 : 1e-3, names[scheme]);
                        double once = bouncy && motion == TURNING ? 1.2e-4 : 2e-5; /* it begins with a blow */
                        assert_in(out.change, 0, once);
                        assert_in(out.depth, 0, 1.2e-6); /* h²v²/2ρ */
                    }
                }
}

static void test_tubes(void **state) {
    (void)state;
    both_ways(run_tubes);
}

/* ---- what is stopped, and what is hit ---- */

/* A ball flies off over a crest and is stopped by a wall in the same step: the way that the crest bends away
 * is not there for it, and it does not sink in. */
static void test_stopped_on_a_crest(void **state) {
    (void)state;
    const double R = 0.1, r = 0.02;
    for (double h = 5e-3; h > 2e-3; h /= 2) {
        stage s = stage_open(3, G, 0, 0, 0);
        dls_shape_def crest = stage_ball(3, R), ball = stage_ball(3, r),
                      wall = dls_default_shape_def(DLS_BOX);
        vec_set(wall.size, 0.1, 1, 1);
        stage_add_shape(&s, DLS_STATIC, &crest, NULL, NULL, NULL);
        stage_add_shape(&s, DLS_STATIC, &wall, (double[3]){r + 1.4 * h + 0.05, 0, 0}, NULL, NULL);
        dls_body_id id =
            stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 0, R + r}, (double[3]){2, 0, 0}, NULL);
        dls_simulation_options o = dls_default_simulation_options();
        o.step = h;
        stage_start(&s, &o, 1e-9);
        stage_run(&s, 3);
        assert_true(fabs(stage_state(&s, id).v[0]) < 0.5);
        assert_true(dls_simulation_summary(s.simulation).penetration < 1e-6);
        stage_close(&s);
    }
}

/* A ball that is thrown at a hollow wall stays at it: what bends there later does not push it off. */
static void test_thrown_at_a_hollow_wall(void **state) {
    (void)state;
    const double h = 1e-2, rho = 0.08, gap = 1e-5;
    stage s = stage_open(3, 0, 0, 0, 0);
    dls_shape_def tube = dls_default_shape_def(DLS_CYLINDER_INSIDE), ball = stage_ball(3, 0.02);
    tube.radius = 0.02 + rho;
    stage_add_shape(&s, DLS_STATIC, &tube, NULL, NULL, NULL);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){rho - gap - h / 2, -h / 2, 0},
                                     (double[3]){1, 1, 0}, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(&s, &o, 1e-9);
    stage_run(&s, 1);
    assert_in(stage_state(&s, id).v[0], -1e-12, 2 * gap / h);
    assert_near(stage_state(&s, id).v[1], 1, 1e-12);
    stage_close(&s);
}

/* ---- a grain that hits a plane obliquely ---- */

/* It slides while it is hit: ω = 5 μ (1 + e) v_n/2r, whatever the gap was before. */
static void hit(double e_n, double h, const char *scheme) {
    const double r = 5e-3, mu = 0.3;
    stage s = open_turned(0, mu, e_n);
    dls_shape_def ball = stage_ball(3, r), floor = dls_default_shape_def(DLS_HALF_SPACE);
    add_turned(&s, DLS_STATIC, &floor, NULL, NULL, NULL, NULL);
    dls_body_id id =
        add_turned(&s, DLS_DYNAMIC, &ball, NULL, (double[3]){0, 0, r + 0.0103}, (double[3]){3, 0, -1}, NULL);
    start(&s, h, scheme, 1e-12);
    stage_run(&s, (int)(0.03 / h));
    assert_near(vec_norm(stage_state(&s, id).w), 2.5 * mu * (1 + e_n) / r, 1e-9);
    stage_close(&s);
}

static void run_grains(void) {
    for (double h = 4e-3; h > 4e-4; h /= 2) {
        hit(0, h, "moreau-jean");
        hit(0.5, h, "moreau-jean");
        hit(0, h, "theta");
        hit(0.5, h, "theta");
        hit(0, h, "dvi");
    }
}

static void test_oblique_grain(void **state) {
    (void)state;
    both_ways(run_grains);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaning_disc),
        cmocka_unit_test(test_sliding_top),
        cmocka_unit_test(test_tubes),
        cmocka_unit_test(test_stopped_on_a_crest),
        cmocka_unit_test(test_thrown_at_a_hollow_wall),
        cmocka_unit_test(test_oblique_grain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
