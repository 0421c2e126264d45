/* Joints in motion and at rest, in every scheme and both ways to solve for them: reactions of every kind
 * against statics in frames turned at random, orders, momenta, drives, limits, friction, springs, energies.
 */
#include "base/random.h"
#include "base/vector.h"
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"
#include "world/joint/joint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81, PI = 3.14159265358979323846;
static dls_error error[1];
#define OK(call)                                                                                             \
    do {                                                                                                     \
        if (call) fail_msg("%s", error->message);                                                            \
    } while (0)

static const char *const schemes[] = {"moreau-jean", "theta", "dvi", "generalized-alpha"};

static void random_axes(dls_random *g, double *axes) {
    double q[4];
    for (int k = 0; k < 4; k++) q[k] = dls_random_normal(g);
    quat_normalize(q);
    quat_matrix(q, axes);
}

static void random_vector(dls_random *g, double *x) {
    for (int k = 0; k < 3; k++) x[k] = dls_random_normal(g);
}

static dls_simulation_options options_of(const char *scheme, double h, dls_joints_choice joints) {
    dls_simulation_options options = dls_default_simulation_options();
    snprintf(options.scheme, sizeof options.scheme, "%s", scheme);
    options.step = h;
    options.joints = joints;
    return options;
}

static stage open_world(int dimension, const double *gravity) {
    stage s = {.world = NULL};
    dls_world_def def = dls_default_world_def();
    def.dimension = dimension;
    vec_copy(def.gravity, gravity);
    OK(dls_world_create(&def, &s.world, error));
    return s;
}

static dls_body_id add_block(stage *s, double mass, const double *x) {
    static const double inertia[9] = {0.02, 0, 0, 0, 0.03, 0, 0, 0, 0.04};
    dls_body_def def = dls_default_body_def();
    def.mass = mass;
    def.inertia = inertia;
    vec_copy(def.pose.x, x);
    return stage_add(s, &def);
}

static dls_function *constant(double value) {
    dls_function *function;
    OK(dls_function_constant(value, &function, error));
    return function;
}

static dls_function *expression(const char *text) {
    dls_function *function;
    OK(dls_function_expression(text, 0, NULL, NULL, &function, error));
    return function;
}

static dls_joint_record record_of(const stage *s, int index) {
    static dls_joint_record records[64];
    int count;
    OK(dls_simulation_joints(s->simulation, 64, records, &count, error));
    assert_true(index < count);
    return records[index];
}

/* ---- statics ---- */

/* A body with a force and a torque on it, held by one joint whose free freedoms are driven to stand still:
 * what the joint carries is all of the load, about the origin of its frame. */
static void check_statics(dls_random *g, dls_joint_kind kind, int dimension, const char *scheme,
                          dls_joints_choice joints) {
    double gravity[3], x[3], load[3], torque[3], about[3], axes[9], point[3], second[3];
    random_vector(g, gravity), random_vector(g, x), random_vector(g, load), random_vector(g, torque);
    random_vector(g, point), random_vector(g, second);
    random_axes(g, axes);
    if (dimension == 2) gravity[2] = x[2] = load[2] = point[2] = torque[0] = torque[1] = axes[2] = 0;
    double length = vec_norm(axes);
    vec_scale(axes, 1 / length, axes);
    stage s = open_world(dimension, gravity);
    dls_body_def def = dls_default_body_def();
    static const double inertia[9] = {0.02, 0, 0, 0, 0.03, 0, 0, 0, 0.04};
    def.mass = 1.5;
    def.inertia = inertia;
    vec_copy(def.pose.x, x);
    for (int k = 0; k < 3; k++) {
        if (load[k] != 0) def.force[k] = constant(load[k]);
        if (torque[k] != 0) def.torque[k] = constant(torque[k]);
    }
    dls_body_id id = stage_add(&s, &def);
    dls_joint_def j = dls_default_joint_def(kind);
    j.body[1] = id;
    j.radius = 0.3;
    OK(dls_joint_place(s.world, &j, point, axes, second, error));
    uint8_t free = dls_joint_kind_free(kind, dimension);
    for (int k = 0; k < DLS_FREEDOMS; k++)
        if (free >> k & 1) j.freedom[k].position = constant(0);
    OK(dls_world_add_joint(s.world, &j, NULL, error));
    dls_simulation_options options = options_of(scheme, 1e-3, joints);
    stage_start(&s, &options, 1e-11);
    stage_run(&s, 3);
    dls_joint_record record = record_of(&s, 0);
    vec_along(load, load, def.mass, gravity);
    double arm[3];
    vec_sub(arm, x, point);
    vec_cross(about, arm, load);
    vec_add(about, about, torque);
    for (int k = 0; k < 3; k++) {
        double force = 0, moment = 0;
        for (int i = 0; i < 3; i++) {
            force += record.frame[k + 3 * i] * record.impulse[i] / options.step;
            moment += record.frame[k + 3 * i] * record.impulse[3 + i] / options.step;
        }
        assert_near(force, -load[k], 1e-7);
        if (dimension == 3 || k == 2) assert_near(moment, -about[k], 1e-7);
    }
    assert_true(record.gap < 1e-9);
    assert_int_equal(s.uncertified, 0);
    stage_close(&s);
}

static void test_statics(void **state) {
    (void)state;
    static const dls_joint_kind kinds[] = {
        DLS_JOINT_FIXED,          DLS_JOINT_SPHERICAL, DLS_JOINT_REVOLUTE,  DLS_JOINT_PRISMATIC,
        DLS_JOINT_CYLINDRICAL,    DLS_JOINT_PLANAR,    DLS_JOINT_UNIVERSAL, DLS_JOINT_POINT_ON_LINE,
        DLS_JOINT_POINT_ON_PLANE, DLS_JOINT_BUSHING};
    dls_random g = {5};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int dimension = 2; dimension <= 3; dimension++)
            for (int scheme = 0; scheme < 4; scheme++)
                for (int joints = 0; joints < 2; joints++)
                    if (dimension == 3 || dls_joint_table[kinds[k]].planar)
                        check_statics(&g, kinds[k], dimension, schemes[scheme], (dls_joints_choice)joints);
}

/* Rods and ropes: a lamp on two of them. */
static void test_rods_and_ropes(void **state) {
    (void)state;
    for (int rope = 0; rope < 2; rope++)
        for (int scheme = 0; scheme < 4; scheme++) {
            const double down[3] = {0, 0, -G}, x[3] = {0, 0, -1};
            stage s = open_world(3, down);
            dls_body_id id = add_block(&s, 2, x);
            for (int k = 0; k < 2; k++) {
                dls_joint_def j = dls_default_joint_def(DLS_JOINT_DISTANCE);
                j.body[1] = id;
                j.rope = rope;
                vec_set(j.frame[0].x, k ? 1 : -1, 0, 0);
                OK(dls_world_add_joint(s.world, &j, NULL, error));
            }
            dls_simulation_options options = options_of(schemes[scheme], 1e-3, DLS_JOINTS_ELIMINATED);
            stage_start(&s, &options, 1e-11);
            stage_run(&s, 5);
            for (int k = 0; k < 2; k++)
                assert_near(vec_norm(record_of(&s, k).impulse) / 1e-3, G * sqrt(2), 1e-5);
            stage_close(&s);
        }
    /* a rope is slack until it is straight: a mass falls freely for √(2 · 0.5/g), then hangs */
    const double down[3] = {0, -G, 0}, x[3] = {0, -0.5, 0};
    stage s = open_world(2, down);
    dls_body_id id = add_block(&s, 2, x);
    dls_joint_def j = dls_default_joint_def(DLS_JOINT_DISTANCE);
    j.body[1] = id, j.rope = true, j.length = 1;
    OK(dls_world_add_joint(s.world, &j, NULL, error));
    dls_simulation_options options = options_of("moreau-jean", 1e-3, DLS_JOINTS_ELIMINATED);
    stage_start(&s, &options, 1e-11);
    stage_run(&s, 200);
    assert_near(stage_state(&s, id).x[1], -0.5 - G * 0.02, 1e-6);
    stage_run(&s, 800);
    assert_near(stage_state(&s, id).x[1], -1, 1e-6);
    assert_near(record_of(&s, 0).impulse[1], 2 * G * 1e-3, 1e-9);
    stage_close(&s);
}

/* ---- motion ---- */

typedef struct swing {
    double x[3], gap, energy, lost, unaccounted, most_energy;
} swing;

/* Rods of 1 m hang together, stretched out along x at first. */
static swing swing_run(int dimension, int links, const char *scheme, double theta, double h, double until,
                       bool conserving, dls_joints_choice joints) {
    const double down[3] = {0, dimension == 2 ? -G : 0, dimension == 2 ? 0 : -G};
    stage s = open_world(dimension, down);
    dls_body_id last = DLS_GROUND;
    for (int k = 0; k < links; k++) {
        const double x[3] = {0.5 + k, 0, 0}, point[3] = {k, 0, 0}, axis[3] = {0, 1, 0};
        dls_joint_def j = dls_default_joint_def(DLS_JOINT_REVOLUTE);
        j.body[0] = last;
        j.body[1] = last = add_block(&s, 1, x);
        j.conserving = conserving;
        OK(dls_joint_place(s.world, &j, point, axis, NULL, error));
        OK(dls_world_add_joint(s.world, &j, NULL, error));
    }
    dls_simulation_options options = options_of(scheme, h, joints);
    options.theta = theta;
    stage_start(&s, &options, 1e-12);
    swing out = {.gap = 0};
    for (int k = (int)lround(until / h); k > 0; k--) {
        stage_run(&s, 1);
        out.gap = fmax(out.gap, s.last.joint_gap);
        out.most_energy = fmax(out.most_energy, fabs(s.last.energy.kinetic + s.last.energy.potential));
    }
    assert_int_equal(s.uncertified, 0);
    vec_copy(out.x, stage_state(&s, last).x);
    out.energy = s.last.energy.kinetic + s.last.energy.potential;
    out.lost = s.last.energy.joints;
    out.unaccounted = s.last.energy.unaccounted;
    stage_close(&s);
    return out;
}

static double order_of(int dimension, const char *scheme, double theta, dls_joints_choice joints) {
    swing a = swing_run(dimension, 2, scheme, theta, 2e-3, 1, false, joints);
    swing b = swing_run(dimension, 2, scheme, theta, 1e-3, 1, false, joints);
    swing c = swing_run(dimension, 2, scheme, theta, 5e-4, 1, false, joints);
    return log2(vec_distance(a.x, b.x) / vec_distance(b.x, c.x));
}

static void test_orders(void **state) {
    (void)state;
    for (int joints = 0; joints < 2; joints++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            dls_joints_choice choice = (dls_joints_choice)joints;
            assert_true(order_of(dimension, "moreau-jean", 0.5, choice) > 1.9);
            assert_true(order_of(dimension, "theta", 0.5, choice) > 1.9);
            assert_true(order_of(dimension, "theta", 0.75, choice) > 0.8);
            assert_true(order_of(dimension, "theta", 1, choice) > 0.8);
            assert_true(order_of(dimension, "dvi", 0.5, choice) > 0.8);
        }
}

/* Drift does not grow; conserving keeps the energy; the books close. */
static void test_drift_and_energy(void **state) {
    (void)state;
    swing brief = swing_run(2, 2, "moreau-jean", 0.5, 1e-3, 2, false, DLS_JOINTS_ELIMINATED);
    swing longer = swing_run(2, 2, "moreau-jean", 0.5, 1e-3, 10, false, DLS_JOINTS_ELIMINATED);
    assert_true(longer.gap < 3 * brief.gap && brief.gap < 1e-4);
    assert_near(longer.unaccounted, 0, 1e-10);
    assert_near(longer.energy, -longer.lost, 1e-10);
    for (int dimension = 2; dimension <= 3; dimension++) {
        swing kept = swing_run(dimension, 2, "moreau-jean", 0.5, 1e-3, 2, true, DLS_JOINTS_ELIMINATED);
        assert_true(kept.most_energy < 1e-11 && kept.gap < 1e-4);
    }
}

/* Momentum of two free bodies that one joint joins stays, whatever the joint does. */
static void test_momenta(void **state) {
    (void)state;
    dls_random g = {21};
    for (int kind = 0; kind < DLS_JOINT_KINDS; kind++) {
        if (kind == DLS_JOINT_GEAR || kind == DLS_JOINT_RACK) continue;
        if (kind == DLS_JOINT_ROLLING || kind == DLS_JOINT_ROLLING_BALL) continue;
        const double nothing[3] = {0, 0, 0}, x[2][3] = {{0, 0, 0}, {1, 0, 0}};
        stage s = open_world(3, nothing);
        dls_body_id id[2];
        for (int k = 0; k < 2; k++) {
            dls_body_def def = dls_default_body_def();
            static const double round[9] = {0.03, 0, 0, 0, 0.03, 0, 0, 0, 0.03};
            def.mass = 1 + k, def.inertia = round;
            vec_copy(def.pose.x, x[k]);
            id[k] = stage_add(&s, &def);
        }
        dls_joint_def j = dls_default_joint_def((dls_joint_kind)kind);
        double point[3] = {0.4, 0.1, 0.2}, axis[3], second[3];
        random_vector(&g, axis), random_vector(&g, second);
        j.body[0] = id[0], j.body[1] = id[1];
        OK(dls_joint_place(s.world, &j, point, axis, second, error));
        if (kind == DLS_JOINT_DISTANCE || kind == DLS_JOINT_SPRING) vec_set(j.frame[1].x, 0.3, 0, 0);
        for (int k = 0; k < DLS_FREEDOMS; k++)
            if (dls_joint_kind_free((dls_joint_kind)kind, 3) >> k & 1)
                j.freedom[k] = (dls_freedom_def){.stiffness = 3,
                                                 .damping = 0.1,
                                                 .friction = 0.01,
                                                 .rest = kind == DLS_JOINT_SPRING ? 0.7 : 0,
                                                 .low = k < 3 ? 0 : -1,
                                                 .high = k < 3 ? 0 : 1};
        OK(dls_world_add_joint(s.world, &j, NULL, error));
        dls_simulation_options options = options_of("moreau-jean", 1e-3, DLS_JOINTS_ELIMINATED);
        stage_start(&s, &options, 1e-10);
        dls_body_state first[2];
        for (int k = 0; k < 2; k++) {
            first[k] = stage_state(&s, id[k]);
            random_vector(&g, first[k].v), random_vector(&g, first[k].w);
            OK(dls_body_state_set(s.world, id[k], &first[k], error));
        }
        double before[6] = {0}, after[6] = {0};
        stage_run(&s, 1); /* what was set against the joint is an impact */
        for (int pass = 0; pass < 2; pass++) {
            double *sum = pass ? after : before;
            for (int k = 0; k < 2; k++) {
                dls_body_state now = stage_state(&s, id[k]);
                double turn[3];
                vec_cross(turn, now.x, now.v);
                vec_along(sum, sum, 1 + k, now.v);
                vec_along(sum + 3, sum + 3, 1 + k, turn);
                vec_along(sum + 3, sum + 3, 0.03, now.w);
            }
            if (!pass) stage_run(&s, 500);
        }
        for (int k = 0; k < 6; k++) assert_near(after[k], before[k], 1e-10);
        stage_close(&s);
    }
}

/* ---- actuators ---- */

static stage wheel_open(dls_freedom_def freedom, double w) {
    const double nothing[3] = {0, 0, 0}, x[3] = {0, 0, 0};
    stage s = open_world(2, nothing);
    static const double inertia[9] = {0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.04};
    dls_body_def def = dls_default_body_def();
    def.mass = 2, def.inertia = inertia;
    def.w[2] = w;
    dls_joint_def j = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    j.body[1] = stage_add(&s, &def);
    j.freedom[3] = freedom;
    OK(dls_joint_place(s.world, &j, x, NULL, NULL, error));
    OK(dls_world_add_joint(s.world, &j, NULL, error));
    return s;
}

static void start(stage *s, const char *scheme, double h) {
    dls_simulation_options options = options_of(scheme, h, DLS_JOINTS_ELIMINATED);
    options.reference_velocity = 1e-3;
    stage_start(s, &options, 1e-10);
}

/* A position drive is met to second order, a velocity drive at every step; turns are counted. */
static void test_drives(void **state) {
    (void)state;
    double missed[2];
    for (int k = 0; k < 2; k++) {
        double h = k ? 5e-4 : 1e-3;
        stage s = wheel_open((dls_freedom_def){.position = expression("8*t^2*(3 - 2*t)")}, 0);
        start(&s, "moreau-jean", h);
        stage_run(&s, (int)lround(0.75 / h));
        dls_joint_record record = record_of(&s, 0);
        missed[k] = fabs(record.coordinate[3] - 8 * 0.75 * 0.75 * 1.5);
        assert_true(record.coordinate[3] > 2 * PI / 1.5);
        assert_near(s.last.energy.unaccounted, 0, 1e-12);
        assert_near(s.last.energy.motors, s.last.energy.kinetic + s.last.energy.joints, 1e-10);
        stage_close(&s);
    }
    assert_true(missed[0] < 1e-5 && missed[0] / missed[1] > 3.5);
    for (int scheme = 0; scheme < 4; scheme++) {
        stage s = wheel_open((dls_freedom_def){.velocity = expression("20*sin(t)")}, 0);
        start(&s, schemes[scheme], 1e-3);
        stage_run(&s, 1000);
        assert_near(record_of(&s, 0).speed[3], 20 * sin(1), 1e-10);
        assert_near(record_of(&s, 0).coordinate[3], 20 * (1 - cos(1)), scheme == 2 ? 1e-2 : 1e-5);
        stage_close(&s);
    }
}

/* A drive that cannot do more: α = M/I until it is fast enough; then friction is all that it carries. */
static void test_motor_limits(void **state) {
    (void)state;
    for (int scheme = 0; scheme < 4; scheme++) {
        stage s =
            wheel_open((dls_freedom_def){.velocity = constant(10), .max_force = 0.5, .friction = 0.1}, 0);
        start(&s, schemes[scheme], 1e-3);
        stage_run(&s, 500);
        assert_near(record_of(&s, 0).speed[3], 0.4 / 0.04 * 0.5, 1e-9);
        assert_int_equal(s.last.joint_rows_at_bound, 2);
        stage_run(&s, 1000);
        assert_near(record_of(&s, 0).speed[3], 10, 1e-9);
        assert_near(record_of(&s, 0).actuator[3] / 1e-3, 0.1, 1e-9);
        if (scheme == 0) {
            assert_near(s.last.energy.motors, s.last.energy.kinetic + s.last.energy.joints, 1e-10);
            assert_near(s.last.energy.unaccounted, 0, 1e-12);
        }
        stage_close(&s);
    }
    stage s = wheel_open((dls_freedom_def){.force = expression("0.3*t")}, 0);
    start(&s, "moreau-jean", 1e-3);
    stage_run(&s, 1000);
    assert_near(record_of(&s, 0).speed[3], 0.15 / 0.04, 1e-9);
    stage_close(&s);
}

/* Dry friction stops a wheel at t = Iω/M and holds it then. */
static void test_joint_friction(void **state) {
    (void)state;
    stage s = wheel_open((dls_freedom_def){.friction = 0.2}, 5);
    start(&s, "moreau-jean", 1e-3);
    stage_run(&s, 500);
    assert_near(record_of(&s, 0).speed[3], 2.5, 1e-9);
    stage_run(&s, 1000);
    assert_near(record_of(&s, 0).speed[3], 0, 1e-12);
    assert_near(record_of(&s, 0).coordinate[3], 2.5, 1e-5);
    assert_near(s.last.energy.joints, 0.5 * 0.04 * 25, 1e-10);
    stage_close(&s);
    /* from its own load: |τ| = μ ρ m g */
    const double down[3] = {0, -G, 0}, x[3] = {0, 0, 0};
    s = open_world(2, down);
    dls_body_def def = dls_default_body_def();
    static const double inertia[9] = {0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.04};
    def.mass = 2, def.inertia = inertia, def.w[2] = 5;
    dls_joint_def j = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    j.body[1] = stage_add(&s, &def);
    j.freedom[3].friction_mu = 0.3, j.freedom[3].friction_radius = 0.05;
    OK(dls_joint_place(s.world, &j, x, NULL, NULL, error));
    OK(dls_world_add_joint(s.world, &j, NULL, error));
    start(&s, "moreau-jean", 1e-3);
    stage_run(&s, 300);
    assert_near(record_of(&s, 0).speed[3], 5 - 0.3 * 0.05 * 2 * G / 0.04 * 0.3, 1e-7);
    stage_run(&s, 700);
    assert_near(record_of(&s, 0).speed[3], 0, 1e-12);
    stage_close(&s);
}

/* A torsion spring: frequency to second order, energy to rounding, and a stiff one does not limit the step.
 */
static void test_springs(void **state) {
    (void)state;
    double k = 4, I = 0.04, omega = sqrt(k / I);
    for (int scheme = 0; scheme < 2; scheme++) {
        stage s = wheel_open((dls_freedom_def){.stiffness = k}, 2);
        start(&s, schemes[scheme], 1e-3);
        stage_run(&s, 1000);
        assert_near(record_of(&s, 0).coordinate[3], 2 / omega * sin(omega), 2e-4);
        assert_near(s.last.energy.kinetic + s.last.energy.spring, 0.5 * I * 4, 1e-12);
        assert_near(s.last.energy.unaccounted, 0, 1e-12);
        stage_close(&s);
    }
    stage s = wheel_open((dls_freedom_def){.stiffness = 1e8, .damping = 1e3}, 2); /* hω = 50 */
    start(&s, "moreau-jean", 1e-3);
    stage_run(&s, 2000);
    assert_near(record_of(&s, 0).coordinate[3], 0, 1e-6);
    stage_close(&s);
    /* a damper alone: ω = ω₀ e^(−dt/I) */
    s = wheel_open((dls_freedom_def){.damping = 0.04}, 2);
    start(&s, "moreau-jean", 1e-3);
    stage_run(&s, 1000);
    assert_near(record_of(&s, 0).speed[3], 2 * exp(-1), 1e-6);
    assert_near(s.last.energy.joints, 0.5 * I * 4 * (1 - exp(-2)), 1e-6);
    stage_close(&s);
}

/* A spring that acts on one side of its rest returns a wheel after half a period, and lets it go on the
 * other. */
static void test_one_sided_springs(void **state) {
    (void)state;
    double k = 4, I = 0.04, omega = sqrt(k / I), half = acos(-1) / omega;
    for (int scheme = 0; scheme < 4; scheme++)
        for (int side = -1; side <= 1; side += 2) /* +1 pulls, −1 pushes */
            for (int way = -1; way <= 1; way += 2) {
                stage s = wheel_open((dls_freedom_def){.stiffness = k, .one_sided = side}, 2 * way);
                start(&s, schemes[scheme], 1e-3);
                stage_run(&s, 1000);
                /* implicit Euler takes e^(−πhω/2) of the speed in half a period */
                double left = strcmp(schemes[scheme], "dvi") ? 1 : exp(-0.5e-3 * acos(-1) * omega);
                double speed = side == way ? -2 * way * left : 2 * way, bar = side == way ? 1e-3 : 1e-9;
                assert_near(record_of(&s, 0).speed[3], speed, bar);
                assert_near(record_of(&s, 0).coordinate[3], side == way ? speed * (1 - half) : speed,
                            2 * bar);
                stage_close(&s);
            }
}

/* A servo ends at its target, against a load only with the help of its integral. */
static void test_servos(void **state) {
    (void)state;
    for (int integral = 0; integral < 2; integral++) {
        stage s = wheel_open((dls_freedom_def){.target = constant(1),
                                               .force = constant(-0.5),
                                               .p = 10,
                                               .d = 1,
                                               .i = integral ? 20 : 0,
                                               .max_force = 5},
                             0);
        start(&s, "moreau-jean", 1e-3);
        stage_run(&s, 6000);
        assert_near(record_of(&s, 0).coordinate[3], integral ? 1 : 1 - 0.05, 1e-4);
        assert_near(s.last.energy.unaccounted, 0, 1e-10);
        stage_close(&s);
    }
}

/* A wheel bounces between its limits, each time with e of its speed; without it stays at the limit. */
static void test_limits(void **state) {
    (void)state;
    for (int scheme = 0; scheme < 4; scheme++) {
        stage s = wheel_open((dls_freedom_def){.low = -1, .high = 0.5, .restitution = 0.5}, 2);
        start(&s, schemes[scheme], 1e-3);
        stage_run(&s, 400);
        assert_near(record_of(&s, 0).speed[3], -1, 1e-9);
        stage_run(&s, 1700);
        dls_joint_record record = record_of(&s, 0);
        assert_true(record.coordinate[3] >= -1.003 && record.coordinate[3] <= 0.503);
        assert_near(record.speed[3], 0.5, 1e-9);
        stage_close(&s);
        s = wheel_open((dls_freedom_def){.low = -1, .high = 0.5}, 2);
        start(&s, schemes[scheme], 1e-3);
        stage_run(&s, 400);
        assert_near(record_of(&s, 0).speed[3], 0, 1e-9);
        assert_near(record_of(&s, 0).coordinate[3], 0.5, 1e-9);
        stage_close(&s);
    }
}

/* ---- what breaks, comes and goes ---- */

static void test_breaking(void **state) {
    (void)state;
    const double down[3] = {0, -G, 0}, x[3] = {0, 0, 0};
    stage s = open_world(2, down);
    dls_body_id id = add_block(&s, 1, x);
    dls_joint_def j = dls_default_joint_def(DLS_JOINT_FIXED);
    j.body[1] = id;
    j.break_force = 12;
    OK(dls_world_add_joint(s.world, &j, NULL, error));
    dls_simulation_options options = options_of("moreau-jean", 1e-3, DLS_JOINTS_ELIMINATED);
    stage_start(&s, &options, 1e-10);
    stage_run(&s, 10);
    assert_int_equal(dls_joint_presence_of(s.world, 0), DLS_JOINT_ACTS);
    dls_body_state now = stage_state(&s, id);
    now.v[0] = 0.02; /* a knock of 20 N */
    OK(dls_body_state_set(s.world, id, &now, error));
    stage_run(&s, 1);
    assert_int_equal(s.last.joints_broken, 1);
    assert_int_equal(dls_joint_presence_of(s.world, 0), DLS_JOINT_BROKEN);
    stage_run(&s, 100);
    assert_near(stage_state(&s, id).v[1], -G * 0.1, 1e-9);
    assert_int_equal(s.last.joints, 0);
    stage_close(&s);
}

/* Two joints that cannot both hold: the step ends with finite impulses, is not certified, and one is named.
 */
static void test_contradiction(void **state) {
    (void)state;
    const double down[3] = {0, 0, -G}, x[3] = {0.5, 0, 0}, left[3] = {0, 0, 0}, right[3] = {1, 0, 0},
                 axis[3] = {0, 1, 0};
    stage s = open_world(3, down);
    dls_body_id id = add_block(&s, 1, x);
    dls_joint_def j = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    j.body[1] = id;
    j.freedom[3].velocity = constant(0.1);
    OK(dls_joint_place(s.world, &j, left, axis, NULL, error));
    OK(dls_world_add_joint(s.world, &j, NULL, error));
    dls_joint_def other = dls_default_joint_def(DLS_JOINT_SPHERICAL);
    other.body[1] = id;
    OK(dls_joint_place(s.world, &other, right, NULL, NULL, error));
    OK(dls_world_add_joint(s.world, &other, NULL, error));
    dls_simulation_options options = options_of("moreau-jean", 1e-3, DLS_JOINTS_ELIMINATED);
    stage_start(&s, &options, 0);
    stage_run(&s, 20);
    assert_int_equal(s.uncertified, 20);
    assert_true(s.last.contradiction == 0 || s.last.contradiction == 1);
    for (int k = 0; k < 2; k++) assert_true(vec_norm(record_of(&s, k).impulse) < 1);
    stage_close(&s);
}

static dls_body_id add_wheel(stage *s, double x, dls_freedom_def freedom) {
    static const double inertia[9] = {0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.04};
    dls_body_def def = dls_default_body_def();
    def.mass = 1, def.inertia = inertia, def.pose.x[0] = x;
    dls_joint_def hinge = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    hinge.body[1] = stage_add(s, &def);
    hinge.freedom[3] = freedom;
    OK(dls_joint_place(s->world, &hinge, def.pose.x, NULL, NULL, error));
    OK(dls_world_add_joint(s->world, &hinge, NULL, error));
    return hinge.body[1];
}

/* A drive and friction elsewhere on the one freedom that is left: friction yields, nothing contradicts, and
 * the drive gives M/ratio beside what speeds both up. Whichever was added first, and with a drive that has a
 * largest torque too. */
static void test_friction_yields(void **state) {
    (void)state;
    const double none[3] = {0, 0, 0}, ratio = 2, M = 0.3;
    for (int k = 0; k < 4; k++) {
        stage s = open_world(2, none);
        dls_freedom_def drive = {.velocity = expression("t"), .max_force = k / 2 ? 1 : 0},
                        dry = {.friction = M};
        dls_body_id driven = -1, braked = -1;
        if (k % 2 == 0) driven = add_wheel(&s, 0, drive);
        braked = add_wheel(&s, 1, dry);
        if (k % 2 == 1) driven = add_wheel(&s, 0, drive);
        dls_joint_def gear = dls_default_joint_def(DLS_JOINT_GEAR);
        gear.body[0] = driven, gear.body[1] = braked, gear.ratio = ratio;
        OK(dls_joint_place(s.world, &gear, none, NULL, NULL, error));
        OK(dls_world_add_joint(s.world, &gear, NULL, error));
        start(&s, "moreau-jean", 1e-3);
        stage_run(&s, 20);
        assert_int_equal(s.uncertified, 0);
        assert_int_equal(s.last.contradiction, -1);
        assert_near(record_of(&s, k % 2).actuator[3] / 1e-3, M / ratio + 0.04 + 0.04 / (ratio * ratio), 1e-9);
        assert_near(record_of(&s, 1 - k % 2).speed[3], -0.02 / ratio, 1e-9);
        stage_close(&s);
    }
}

/* Bodies of a joint do not touch unless they are told to; a joint goes with its body. */
static void test_company(void **state) {
    (void)state;
    for (int collide = 0; collide < 2; collide++) {
        stage s = stage_open(3, G, 0.5, 0, 0);
        dls_shape_def ball = stage_ball(3, 0.1);
        const double a[3] = {0, 0, 0}, b[3] = {0.15, 0, 0};
        dls_body_id first = stage_add_shape(&s, DLS_STATIC, &ball, a, NULL, NULL);
        dls_body_id second = stage_add_shape(&s, DLS_DYNAMIC, &ball, b, NULL, NULL);
        dls_joint_def j = dls_default_joint_def(DLS_JOINT_SPHERICAL);
        j.body[0] = first, j.body[1] = second;
        j.collide = collide;
        OK(dls_joint_place(s.world, &j, a, NULL, NULL, error));
        OK(dls_world_add_joint(s.world, &j, NULL, error));
        stage_start(&s, NULL, 0);
        stage_run(&s, 1);
        assert_int_equal(s.last.contacts, collide);
        if (!collide) {
            stage_run(&s, 100);
            dls_body_state now = stage_state(&s, second);
            assert_near(vec_norm(now.x), 0.15, 1e-5); /* held at half steps */
            OK(dls_world_remove_body(s.world, second, error));
            stage_run(&s, 1);
            assert_int_equal(s.last.joints, 0);
            assert_int_equal(dls_joint_presence_of(s.world, 0), DLS_JOINT_GONE);
        }
        stage_close(&s);
    }
}

/* ---- the same bits ---- */

/* A chain of capsules falls on a floor, with a motor, a spring, limits, friction of the load, a rolling
 * wheel. */
static stage busy_open(dls_joints_choice joints, int threads) {
    stage s = stage_open(3, G, 0.4, 0.2, 0);
    stage_add_floor(&s, 0);
    dls_body_id last = DLS_GROUND;
    dls_shape_def capsule = dls_default_shape_def(DLS_CAPSULE);
    capsule.radius = 0.03, capsule.length = 0.2;
    quat_exponential(capsule.pose.q, (double[3]){0, PI / 2, 0});
    for (int k = 0; k < 8; k++) {
        const double x[3] = {0.15 + 0.3 * k, 0, 0.5}, point[3] = {0.3 * k, 0, 0.5};
        const double axis[3] = {0, 1, 0.1 * k};
        dls_joint_def j = dls_default_joint_def(k % 3 == 2 ? DLS_JOINT_UNIVERSAL : DLS_JOINT_REVOLUTE);
        j.body[0] = last;
        j.body[1] = last = stage_add_shape(&s, DLS_DYNAMIC, &capsule, x, NULL, NULL);
        dls_freedom_def *f = &j.freedom[3];
        if (k == 1) *f = (dls_freedom_def){.velocity = constant(3), .max_force = 0.3};
        if (k == 3) *f = (dls_freedom_def){.stiffness = 2, .damping = 0.01, .low = -1, .high = 1};
        if (k == 4) *f = (dls_freedom_def){.friction_mu = 0.3, .friction_radius = 0.02};
        if (k == 6) *f = (dls_freedom_def){.target = expression("sin(5*t)"), .p = 5, .d = 0.1, .i = 1};
        OK(dls_joint_place(s.world, &j, point, axis, NULL, error));
        OK(dls_world_add_joint(s.world, &j, NULL, error));
    }
    dls_simulation_options options = options_of("moreau-jean", 2e-3, joints);
    options.threads = threads;
    stage_start(&s, &options, 0);
    return s;
}

static void test_bits(void **state) {
    (void)state;
    for (int joints = 0; joints < 2; joints++) {
        stage a = busy_open((dls_joints_choice)joints, 1), b = busy_open((dls_joints_choice)joints, 2);
        stage_run(&a, 150);
        stage_run(&b, 150);
        assert_true(dls_simulation_hash(a.simulation) == dls_simulation_hash(b.simulation));
        size_t size = dls_simulation_state_size(a.simulation);
        void *bytes = malloc(size);
        dls_simulation_state_write(a.simulation, bytes);
        stage_run(&a, 150);
        stage_close(&b);
        b = busy_open((dls_joints_choice)joints, 1);
        OK(dls_simulation_state_read(b.simulation, bytes, size, error));
        stage_run(&b, 150);
        assert_true(dls_simulation_hash(a.simulation) == dls_simulation_hash(b.simulation));
        assert_true(a.last.active > 0);
        assert_int_equal(a.uncertified, 0);
        dls_energy of_a = dls_simulation_energy(a.simulation), of_b = dls_simulation_energy(b.simulation);
        assert_memory_equal(&of_a, &of_b, sizeof of_a);
        free(bytes);
        stage_close(&a);
        stage_close(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_statics),
                                       cmocka_unit_test(test_rods_and_ropes),
                                       cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_drift_and_energy),
                                       cmocka_unit_test(test_momenta),
                                       cmocka_unit_test(test_drives),
                                       cmocka_unit_test(test_motor_limits),
                                       cmocka_unit_test(test_joint_friction),
                                       cmocka_unit_test(test_springs),
                                       cmocka_unit_test(test_servos),
                                       cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_breaking),
                                       cmocka_unit_test(test_contradiction),
                                       cmocka_unit_test(test_company),
                                       cmocka_unit_test(test_friction_yields),
                                       cmocka_unit_test(test_one_sided_springs),
                                       cmocka_unit_test(test_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
