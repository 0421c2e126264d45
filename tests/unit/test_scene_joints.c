/* Joints and springs of scenes: what they become, and what is refused. */
#include "base/vector.h"
#include "support/allocator.h"
#include "support/near.h"
#include "support/scene_text.h"
#include "world/joint/joint.h"

#include <stdio.h>
#include <string.h>

#define PLANE                                                                                                \
    HEAD2 "functions: {alpha: 0.1*sin(t), beta: alpha, ramp: {t: [0, 1], value: [0, 2]}}\n"                  \
          "bodies:\n"                                                                                        \
          "- {name: arm, mass: 1, inertia: 0.1, position: [1, 0], frames: {tip: {at: [0.5, 0]}, root: {at: " \
          "[-0.5, 0], axis: [0, 1]}}}\n"                                                                     \
          "- {name: leg, mass: 1, inertia: 0.1, position: [2, 0]}\n"
#define SPACE                                                                                                \
    HEAD3 "bodies:\n"                                                                                        \
          "- {name: arm, mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}\n"                                \
          "- {name: leg, mass: 1, inertia: [1, 1, 1], position: [2, 0, 0], rotation: {axis: [0, 0, 1], "     \
          "angle: 90*deg}}\n"

/* The joints of a scene, each an entry of the list. */
static dls_scene *with(const char *head, const char *entries) {
    char text[4000];
    snprintf(text, sizeof text, "%sjoints:\n%s", head, entries);
    return read_good(text);
}

static const dls_joint *joint_at(dls_scene *scene, int id) {
    dls_world *world = dls_scene_world(scene);
    assert_true(id < dls_world_joint_count(world));
    return &world->joints[id];
}

static dls_joint_state stand(dls_scene *scene, int id) {
    dls_joint_state state;
    assert_int_equal(dls_joint_state_get(dls_scene_world(scene), id, &state, NULL), DLS_OK);
    return state;
}

static void check_vector(const double *x, double a, double b, double c) {
    assert_near(x[0], a, 1e-12);
    assert_near(x[1], b, 1e-12);
    assert_near(x[2], c, 1e-12);
}

static void run(dls_scene *scene, int steps) {
    dls_simulation *simulation;
    dls_error error;
    assert_int_equal(dls_scene_simulation_create(scene, &simulation, &error), DLS_OK);
    for (int k = 0; k < steps; k++)
        if (dls_simulation_step(simulation, NULL, &error)) fail_msg("%s", error.message);
    dls_simulation_destroy(simulation);
}

/* ---- sides ---- */

static void test_place_in_the_world(void **unused) {
    (void)unused;
    dls_scene *scene = with(SPACE, "- {kind: revolute, name: elbow, bodies: [arm, leg], at: [1.5, 0, 0], "
                                   "axis: [0, 0, 3]}\n");
    const dls_joint *joint = joint_at(scene, 0);
    assert_int_equal(joint->def.kind, DLS_JOINT_REVOLUTE);
    assert_string_equal(dls_joint_name(dls_scene_world(scene), 0), "elbow");
    assert_int_equal(joint->def.body[0], 0);
    assert_int_equal(joint->def.body[1], 1);
    check_vector(joint->def.frame[0].x, 0.5, 0, 0);
    check_vector(joint->def.frame[1].x, 0, 0.5, 0); /* the leg is turned */
    check_vector(joint->axes[0], 0, 0, 1);
    check_vector(joint->axes[1], 0, 0, 1);
    assert_false(joint->def.collide || joint->def.conserving);
    dls_scene_destroy(scene);
}

/* Body coordinates, and the other side stands where they do. */
static void test_place_in_a_body(void **unused) {
    (void)unused;
    dls_scene *scene =
        with(SPACE, "- {kind: revolute, bodies: [ground, {body: leg, at: [0, 0.25, 0], axis: [1, 0, 0]}]}\n"
                    "- {kind: cylindrical, bodies: [{body: arm, at: [0, 0.5, 0]}, leg], axis: [1, 0, 0]}\n");
    const dls_joint *joint = joint_at(scene, 0);
    check_vector(joint->def.frame[0].x, 1.75, 0, 0);
    check_vector(joint->def.frame[1].x, 0, 0.25, 0);
    check_vector(joint->axes[0], 0, 1, 0);
    check_vector(joint->axes[1], 1, 0, 0);
    joint = joint_at(scene, 1);
    check_vector(joint->def.frame[0].x, 0, 0.5, 0);
    check_vector(joint->def.frame[1].x, 0.5, 1, 0);
    check_vector(joint->axes[1], 0, -1, 0);
    dls_scene_destroy(scene);
}

static void test_named_frames(void **unused) {
    (void)unused;
    dls_scene *scene = with(PLANE, "- {kind: revolute, bodies: [{body: arm, frame: tip}, leg]}\n"
                                   "- {kind: revolute, bodies: [{body: ground, at: [0.5, 0], axis: [1, 0]}, "
                                   "{body: arm, frame: root}]}\n");
    check_vector(joint_at(scene, 0)->def.frame[0].x, 0.5, 0, 0);
    check_vector(joint_at(scene, 0)->def.frame[1].x, -0.5, 0, 0);
    assert_near(stand(scene, 0).coordinate[3], 0, 1e-12);
    /* the arm's own direction is a quarter turn ahead of the ground's */
    assert_near(stand(scene, 1).coordinate[3], acos(-1) / 2, 1e-12);
    dls_scene_destroy(scene);
    /* places of generated bodies are multiplied by their size */
    scene =
        read_good(HEAD2 "bodies:\n- lattice: {spacing: [1, 1], counts: [2, 1], size: 3}\n  body: {name: "
                        "ball, shape: {kind: disc, radius: 0.1}, frames: {rim: {at: [0, 0.1]}}}\njoints:\n"
                        "- {kind: revolute, bodies: [ground, {body: ball-1, frame: rim}]}\n");
    check_vector(joint_at(scene, 0)->def.frame[1].x, 0, 0.3, 0);
    check_vector(joint_at(scene, 0)->def.frame[0].x, 1, 0.3, 0);
    dls_scene_destroy(scene);
}

static void test_two_ends(void **unused) {
    (void)unused;
    dls_scene *scene = with(
        SPACE, "- {kind: distance, bodies: [arm, leg], rope: yes}\n"
               "- {kind: distance, bodies: [ground, leg], at: [[0, 0, 0], [2, 1, 0]], length: 9, rope: yes}\n"
               "- {kind: spring, bodies: [{body: arm, at: [0, 0, 1]}, leg], spring: {stiffness: 5}}\n"
               "- {kind: gear, bodies: [arm, leg], axis: [[1, 0, 0], [0, 0, 2]], ratio: -2, carried: yes}\n"
               "- {kind: rolling, bodies: [ground, leg], at: [[0, 0, -0.5], [2, 0, 0]], axis: [[0, 0, 1], "
               "[0, 1, 0]], radius: 0.5}\n"
               "- {kind: rolling-ball, bodies: [ground, leg], at: [[0, 0, 2], [2, 0, 0]], axis: [0, 0, -1], "
               "radius: 2}\n");
    assert_near(joint_at(scene, 0)->def.length, 1, 1e-12);
    assert_true(joint_at(scene, 0)->def.rope && joint_at(scene, 1)->def.rope);
    check_vector(joint_at(scene, 1)->def.frame[0].x, 0, 0, 0);
    check_vector(joint_at(scene, 1)->def.frame[1].x, 1, 0, 0);
    assert_near(joint_at(scene, 1)->def.length, 9, 0);
    assert_true(joint_at(scene, 3)->def.carried && !joint_at(scene, 2)->def.carried);
    assert_near(joint_at(scene, 2)->def.freedom[0].rest, sqrt(2), 1e-12);
    assert_near(joint_at(scene, 2)->def.freedom[0].stiffness, 5, 0);
    assert_near(joint_at(scene, 3)->def.ratio, -2, 0);
    check_vector(joint_at(scene, 3)->axes[0], 1, 0, 0);
    check_vector(joint_at(scene, 3)->axes[1], 0, 0, 1);
    assert_near(joint_at(scene, 4)->def.radius, 0.5, 0);
    check_vector(joint_at(scene, 4)->axes[0], 0, 0, 1);
    check_vector(joint_at(scene, 4)->axes[1], 1, 0, 0); /* y of the world */
    assert_near(joint_at(scene, 5)->def.radius, 2, 0);
    check_vector(joint_at(scene, 5)->axes[0], 0, 0, -1);
    dls_scene_destroy(scene);
}

/* Where nothing is said. */
static void test_places_left_open(void **unused) {
    (void)unused;
    dls_scene *scene = with(PLANE, "- {kind: fixed, bodies: [arm, leg]}\n"
                                   "- {kind: prismatic, bodies: [leg, ground], axis: [0, 1]}\n");
    check_vector(joint_at(scene, 0)->def.frame[0].x, 1, 0, 0);
    check_vector(joint_at(scene, 0)->def.frame[1].x, 0, 0, 0);
    check_vector(joint_at(scene, 1)->def.frame[1].x, 2, 0, 0);
    check_vector(joint_at(scene, 1)->axes[1], 0, 1, 0);
    dls_scene_destroy(scene);
}

/* A body that is called ground is that body. */
static void test_ground(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD2 "bodies:\n- {name: ground, mass: 1, inertia: 1, position: [1, 0]}\n- {name: b, mass: 1, "
              "inertia: 1}\njoints:\n- {kind: fixed, bodies: [ground, b]}\n");
    assert_int_equal(joint_at(scene, 0)->def.body[0], 0);
    dls_scene_destroy(scene);
}

/* ---- freedoms ---- */

static void test_one_freedom(void **unused) {
    (void)unused;
    dls_scene *scene = with(
        PLANE,
        "- {kind: revolute, bodies: [ground, arm], at: [0, 0], drive: {velocity: 6*pi, torque: 2}, limits: "
        "[-20*deg, 40*deg], e_n: 0.3, friction: 0.05, break: {force: 7, torque: 8}, collide: yes, "
        "conserving: "
        "yes}\n"
        "- {kind: prismatic, bodies: [ground, leg], axis: [1, 0], motor: {force: 2*t}, limits: [none, 3], "
        "friction: {mu: 0.2}}\n"
        "- {kind: revolute, bodies: [arm, leg], at: [1.5, 0], servo: {target: beta, p: 3, d: 4, i: 5, bias: "
        "6, "
        "torque: 7}, friction: {mu: 0.1, radius: 0.02}}\n"
        "- {kind: revolute, bodies: [arm, leg], at: [1.5, 0], spring: {stiffness: 1, damping: 2, rest: 0.5, "
        "one_sided: push}, friction: {torque: 4}, limits: [0, none]}\n");
    const dls_joint *joint = joint_at(scene, 0);
    const dls_freedom_def *f = &joint->def.freedom[3];
    assert_near(dls_function_value(f->velocity, 0), 6 * acos(-1), 1e-12);
    assert_near(f->max_force, 2, 0);
    assert_near(f->low, -acos(-1) / 9, 1e-12);
    assert_near(f->high, 2 * acos(-1) / 9, 1e-12);
    assert_near(f->restitution, 0.3, 0);
    assert_near(f->friction, 0.05, 0);
    assert_near(joint->def.break_force, 7, 0);
    assert_near(joint->def.break_torque, 8, 0);
    assert_true(joint->def.collide && joint->def.conserving);
    f = &joint_at(scene, 1)->def.freedom[0];
    assert_near(dls_function_value(f->force, 1.5), 3, 1e-12);
    assert_true(f->low == -(double)INFINITY && f->high == 3);
    assert_near(f->friction_mu, 0.2, 0);
    f = &joint_at(scene, 2)->def.freedom[3];
    assert_near(dls_function_value(f->target, 2), 0.1 * sin(2), 1e-12);
    assert_true(f->p == 3 && f->d == 4 && f->i == 5 && f->max_force == 7);
    assert_near(dls_function_value(f->force, 2), 6, 0);
    assert_true(f->friction_mu == 0.1 && f->friction_radius == 0.02);
    f = &joint_at(scene, 3)->def.freedom[3];
    assert_true(f->stiffness == 1 && f->damping == 2 && f->rest == 0.5 && f->one_sided == -1);
    assert_true(f->friction == 4 && f->low == 0 && f->high == (double)INFINITY);
    dls_scene_destroy(scene);
}

static void test_several_freedoms(void **unused) {
    (void)unused;
    dls_scene *scene = with(
        SPACE,
        "- {kind: cylindrical, bodies: [ground, arm], at: [0, 0, 0], axis: [1, 0, 0], freedoms: {1: {limits: "
        "[-1, 1]}, about: {motor: {torque: 2}}}}\n"
        "- {kind: bushing, bodies: [arm, leg], freedoms: {along: {spring: {stiffness: 1}}, along_2: {spring: "
        "{stiffness: 2}}, along_3: {spring: {stiffness: 3}}, about: {spring: {stiffness: 4}}, about_2: "
        "{spring: {stiffness: 5}}, 6: {spring: {stiffness: 6}}}}\n"
        "- {kind: spherical, bodies: [ground, leg], at: [2, 0, 0], cone: 30*deg}\n");
    const dls_freedom_def *f = joint_at(scene, 0)->def.freedom;
    assert_true(f[0].low == -1 && f[0].high == 1);
    assert_near(dls_function_value(f[3].force, 0), 2, 0);
    f = joint_at(scene, 1)->def.freedom;
    for (int k = 0; k < 6; k++) assert_true(f[k].stiffness == k + 1);
    assert_near(joint_at(scene, 2)->def.cone, acos(-1) / 6, 1e-12);
    dls_scene_destroy(scene);
    scene =
        with(PLANE, "- {kind: bushing, bodies: [arm, leg], freedoms: {about: {spring: {stiffness: 4}}}}\n");
    assert_true(joint_at(scene, 0)->def.freedom[5].stiffness == 4);
    dls_scene_destroy(scene);
}

static void test_springs(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        PLANE
        "springs:\n"
        "- {name: first, bodies: [arm, leg], stiffness: 10, damping: 0.1}\n"
        "- {bodies: [arm, ground], at: [[1, 0.5], [1, 3]], stiffness: 3, rest: 0, one_sided: pull, collide: "
        "no, break: {force: 5}}\n"
        "- {bodies: [{body: arm, frame: tip}, leg], damping: 3, one_sided: push}\n");
    const dls_freedom_def *f = joint_at(scene, 0)->def.freedom;
    assert_int_equal(joint_at(scene, 0)->def.kind, DLS_JOINT_SPRING);
    assert_int_equal(dls_world_find_joint(dls_scene_world(scene), "first"), 0);
    assert_true(f->stiffness == 10 && f->damping == 0.1 && f->one_sided == 0 &&
                joint_at(scene, 0)->def.collide);
    assert_near(f->rest, 1, 1e-12);
    f = joint_at(scene, 1)->def.freedom;
    assert_true(f->rest == 0 && f->one_sided == 1 && !joint_at(scene, 1)->def.collide);
    assert_true(joint_at(scene, 1)->def.break_force == 5);
    check_vector(joint_at(scene, 1)->def.frame[0].x, 0, 0.5, 0);
    check_vector(joint_at(scene, 1)->def.frame[1].x, 1, 3, 0);
    f = joint_at(scene, 2)->def.freedom;
    assert_true(f->damping == 3 && f->one_sided == -1);
    assert_near(f->rest, 0.5, 1e-12);
    dls_scene_destroy(scene);
}

/* A drive by a function with a name, in a run. */
static void test_run(void **unused) {
    (void)unused;
    dls_scene *scene =
        with(PLANE "time: {step: 1e-3}\nintegrator: {scheme: moreau-jean}\n",
             "- {kind: revolute, bodies: [ground, arm], at: [0, 0], drive: {position: beta}}\n"
             "- {kind: revolute, bodies: [arm, leg], at: [1.5, 0], drive: {velocity: ramp}}\n");
    run(scene, 500);
    assert_near(stand(scene, 0).coordinate[3], 0.1 * sin(0.5), 1e-6);
    assert_near(stand(scene, 1).speed[3], 1, 2e-3);
    dls_scene_destroy(scene);
}

/* ---- many joints ---- */

#define CHAIN                                                                                                \
    "  body: {name: link, shape: {kind: capsule, radius: 0.01, length: 0.3, rotation: {axis: [0, 1, 0], "    \
    "angle: 90*deg}}}\n"

static void test_links(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD3 "bodies:\n"
              "- links: {points: [[0, 0, 0], [1, 0, 0], [1, 1, 0]], count: 4, joint: {kind: "
              "spherical, name: pin}, ends: [ground, end]}\n" CHAIN "- {name: end, motion: static}\n");
    dls_world *world = dls_scene_world(scene);
    assert_int_equal(dls_world_body_count(world), 5);
    assert_int_equal(dls_world_joint_count(world), 5);
    check_vector(state_of(scene, "link-0").x, 0.25, 0, 0);
    check_vector(state_of(scene, "link-3").x, 1, 0.75, 0);
    double R[9];
    quat_matrix(state_of(scene, "link-3").q, R);
    check_vector(R, 0, 1, 0);
    for (int k = 0; k < 5; k++) {
        const double at[5][2] = {{0, 0}, {0.5, 0}, {1, 0}, {1, 0.5}, {1, 1}};
        char name[20];
        snprintf(name, sizeof name, "pin-%d", k);
        assert_int_equal(dls_world_find_joint(world, name), k);
        assert_int_equal(joint_at(scene, k)->def.body[0], k - 1);
        assert_int_equal(joint_at(scene, k)->def.body[1], k);
        check_vector(stand(scene, k).point, at[k][0], at[k][1], 0);
    }
    dls_scene_destroy(scene);
}

static void test_many_names(void **unused) {
    (void)unused;
    dls_scene *scene =
        read_good(HEAD2 "bodies:\n- links: {points: [[0, 0], [200, 0]], count: 200, joint: {kind: "
                        "revolute, name: pin}}\n  body: {name: bead, shape: {kind: disc, "
                        "radius: 0.1}}\n");
    dls_world *world = dls_scene_world(scene);
    int count = dls_world_joint_count(world);
    for (int k = 0; k < count; k++)
        assert_int_equal(dls_world_find_joint(world, dls_joint_name(world, k)), k);
    assert_true(count > 150);
    assert_int_equal(dls_world_find_joint(world, "pin-200x"), -1);
    assert_int_equal(dls_world_find_joint(world, "bead-7"), -1);
    assert_int_equal(dls_world_find_body(world, "pin-7"), -1);
    dls_scene_destroy(scene);
}

/* A ring, and distances from origin to origin. */
static void test_ring(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD2
        "bodies:\n- links: {points: [[0, 0], [2, 0], [2, 2], [0, 2]], closed: yes, count: 8, joint: {kind: "
        "distance}}\n  body: {name: bead, shape: {kind: disc, radius: 0.1}}\n");
    assert_int_equal(dls_world_joint_count(dls_scene_world(scene)), 8);
    for (int k = 0; k < 8; k++) assert_near(joint_at(scene, k)->def.length, k % 2 ? sqrt(0.5) : 1, 1e-12);
    assert_int_equal(joint_at(scene, 7)->def.body[0], 7);
    assert_int_equal(joint_at(scene, 7)->def.body[1], 0);
    dls_scene_destroy(scene);
    /* back along −x: half a turn, in the plane too */
    scene =
        read_good(HEAD2 "bodies:\n- links: {points: [[0, 0], [-2, 0]], count: 2, joint: {kind: revolute}}\n  "
                        "body: {name: bead, shape: {kind: disc, radius: 0.1}}\n");
    double R[9];
    quat_matrix(state_of(scene, "bead-0").q, R);
    check_vector(R, -1, 0, 0);
    dls_scene_destroy(scene);
}

static void test_neighbours(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD3
        "bodies:\n- lattice: {spacing: [1, 1, 1], counts: [3, 4, 1]}\n  body: {name: knot, shape: {kind: "
        "sphere, radius: 0.1}}\n- {name: knot-x, motion: static}\njoints:\n- {kind: distance, neighbours: "
        "{of: knot, within: 1.01}, rope: yes, name: rope}\n");
    dls_world *world = dls_scene_world(scene);
    assert_int_equal(dls_world_joint_count(world), 2 * 4 + 3 * 3);
    assert_int_equal(joint_at(scene, 0)->def.body[0], 0);
    assert_int_equal(joint_at(scene, 0)->def.body[1], 1);
    assert_int_equal(joint_at(scene, 1)->def.body[1], 3);
    assert_int_equal(dls_world_find_joint(world, "rope-16"), 16);
    for (int k = 0; k < 17; k++) assert_near(joint_at(scene, k)->def.length, 1, 1e-12);
    dls_scene_destroy(scene);
    /* the first of two is that with the smaller number, wherever it stands */
    scene = read_good(
        HEAD2 "bodies:\n- lattice: {spacing: [-1, 1], counts: [3, 1]}\n  body: {name: knot, shape: {kind: "
              "disc, radius: 0.1}}\njoints:\n- {kind: distance, neighbours: {of: knot, within: 1.01}}\n");
    for (int k = 0; k < 2; k++) {
        assert_int_equal(joint_at(scene, k)->def.body[0], k);
        assert_int_equal(joint_at(scene, k)->def.body[1], k + 1);
    }
    dls_scene_destroy(scene);
    /* half-way between, with their axis from one to the other */
    scene = read_good(
        HEAD3
        "bodies:\n- lattice: {spacing: [1, 1, 1], counts: [1, 2, 1]}\n  body: {name: knot, shape: "
        "{kind: sphere, radius: 0.1}}\njoints:\n- {kind: universal, neighbours: {of: knot, within: 2}}\n");
    check_vector(stand(scene, 0).point, 0, 0.5, 0);
    check_vector(joint_at(scene, 0)->axes[0], 0, 1, 0);
    dls_scene_destroy(scene);
}

/* ---- assembling ---- */

static void test_assemble(void **unused) {
    (void)unused;
    const char *text = PLANE "%s\njoints:\n- {kind: revolute, bodies: [{body: ground, at: [0.5, 0.2]}, "
                             "{body: arm, at: [-0.5, 0]}]}\n";
    char scene_text[2000];
    dls_assembled report;
    snprintf(scene_text, sizeof scene_text, text, "assemble: yes");
    dls_scene *scene = read_good(scene_text);
    assert_true(dls_scene_assembled(scene, &report));
    assert_int_equal(report.bodies, 1);
    assert_true(report.moved > 0.01 && report.left < 1e-9);
    assert_near(stand(scene, 0).gap[1], 0, 1e-9);
    dls_scene_destroy(scene);
    snprintf(scene_text, sizeof scene_text, text, "assemble: no");
    refuses(scene_text, "test.yaml:9: revolute joint does not hold at the start: off by 0.2 m");
    scene = read_good(HEAD2);
    assert_false(dls_scene_assembled(scene, &report));
    dls_scene_destroy(scene);
}

/* ---- what is refused ---- */

static void refuses_all(const char *head, const char *const (*cases)[2], size_t count) {
    for (size_t i = 0; i < count; i++) {
        char text[3000];
        snprintf(text, sizeof text, "%s%s\n", head, cases[i][0]);
        refuses(text, cases[i][1]);
        refuses(text, "test.yaml:");
    }
}
#define REFUSES_ALL(head, cases) refuses_all(head, cases, sizeof(cases) / sizeof *(cases))

static void test_bad_bodies(void **unused) {
    (void)unused;
    static const char *const cases[][2] = {
        {"{kind: fixed, bodies: [ground, amr]}", "test.yaml:8: no body 'amr', did you mean 'arm'?"},
        {"{kind: fixed, bodies: [ground, zzzzzzz]}", "expected the name of one or ground"},
        {"{kind: fixed, bodies: [arm, arm]}", "a joint of 'arm' with itself"},
        {"{kind: fixed, bodies: [ground, ground]}", "a joint of the ground with itself"},
        {"{kind: fixed, bodies: [arm]}", "bodies is a list of another length, expected two"},
        {"{kind: fixed, bodies: [arm, leg, ground]}", "expected two"},
        {"{kind: fixed, bodies: arm}", "bodies is a text, expected two"},
        {"{kind: fixed}", "bodies is missing"},
        {"{kind: fixed, bodies: [arm, [leg]]}", "a side of a joint is a list"},
        {"{kind: fixed, bodies: [arm, {at: [0, 0]}]}", "a side of a joint has no 'body'"},
        {"{kind: fixed, bodies: [arm, {body: [1]}]}", "a body is a list, expected its name or ground"},
        {"{kind: fixed, bodies: [leg, {body: arm, frame: tp}]}", "no frame 'tp', did you mean 'tip'?"},
        {"{kind: fixed, bodies: [arm, {body: leg, frame: tip}]}", "expected one of its 'frames'"},
        {"{kind: fixed, bodies: [leg, {body: arm, frame: tip, at: [0, 0]}]}", "a frame and its place"},
        {"{kind: fixed, bodies: [leg, {body: arm, at: [0, 0]}], at: [0, 0]}",
         "at of the joint and of a side"},
        {"{kind: prismatic, bodies: [leg, {body: arm, axis: [1, 0]}], axis: [1, 0]}",
         "axis of the joint and of a side"},
        {"{kind: revolute, bodies: [leg, arm]}", "a revolute joint has no 'at'"},
        {"{kind: spring, bodies: [ground, arm], spring: {stiffness: 1}}", "one for each end"},
        {"{kind: prismatic, bodies: [leg, arm]}", "a prismatic joint has no 'axis'"},
        {"{kind: prismatic, bodies: [leg, arm], axis: [0, 0]}", "axis has length 0"},
        {"{kind: prismatic, bodies: [leg, {body: arm, axis: [0, 0]}]}", "axis has length 0"},
        {"{kind: prismatic, bodies: [leg, arm], axis: [[1, 0], [0, 0]]}", "axis has length 0"},
        {"{kind: spherical, bodies: [leg, arm], at: [0, 0]}", "expected one that there is in the plane"},
        {"{kind: revolt, bodies: [leg, arm], at: [0, 0]}",
         "no kind of joint 'revolt', did you mean 'revolute'?"},
        {"{bodies: [leg, arm]}", "a joint has no 'kind'"},
        {"{kind: [1], bodies: [leg, arm]}", "kind is a list, expected a name"},
        {"revolute", "a joint is a text, expected a map"},
        {"{kind: fixed, bodies: [leg, arm], length: 1}", "unknown key 'length' in a fixed joint"},
        {"{kind: distance, bodies: [leg, arm], ratio: 1}", "unknown key 'ratio' in a distance joint"},
        {"{kind: gear, bodies: [leg, arm]}", "a gear joint has no 'ratio'"},
        {"{kind: gear, bodies: [leg, arm], ratio: 0}", "ratio is 0"},
        {"{kind: gear, bodies: [leg, arm], at: [[0, 0], [0, 0]], ratio: 2, carried: yes}", "lie on one line"},
        {"{kind: fixed, bodies: [leg, arm], name: x}\n- {kind: fixed, bodies: [ground, arm], name: x}",
         "test.yaml:9: there is a joint 'x' already"},
        {"{kind: fixed, bodies: [leg, arm], break: {force: 0}}", "force is 0, expected a number above 0"},
        {"{kind: distance, bodies: [arm, leg], length: 2}", "off by 1 m"},
        {"{kind: fixed, bodies: [arm, leg], at: [[1, 0], [1.5, 0]]}", "off by 0.5 m"},
    };
    REFUSES_ALL(PLANE "joints:\n- ", cases);
    static const char *const spatial[][2] = {
        {"{kind: revolute, bodies: [leg, arm], at: [0, 0, 0]}", "a revolute joint has no 'axis'"},
        {"{kind: universal, bodies: [leg, arm], at: [0, 0, 0], axis: [1, 0, 0], second: [1, 0, 0]}",
         "the second axis lies along the first"},
        {"{kind: universal, bodies: [leg, arm], at: [0, 0, 0], axis: [1, 0, 0], second: [0, 0, 0]}",
         "second has length 0"},
        {"{kind: rolling, bodies: [ground, arm], at: [[0, 0, 0], [1, 0, 0]], axis: [0, 0, 1], radius: 1}",
         "one axis of a rolling joint, expected two"},
        {"{kind: rolling-ball, bodies: [ground, arm], at: [[0, 0, 0], [1, 0, 0]], axis: [1, 0, 0]}",
         "a rolling-ball joint has no 'radius'"},
        {"{kind: rolling-ball, bodies: [ground, arm], at: [[0, 0, 0], [1, 0, 0]], axis: [1, 0, 0], radius: "
         "2}",
         "does not hold at the start: off by 1 m"},
        {"{kind: revolute, bodies: [leg, arm], at: [0, 0], axis: [0, 0, 1]}", "at is a list of 2"},
        {"{kind: revolute, bodies: [{body: leg, axis: [0, 0, 1]}, {body: arm, axis: [0, 1, 0]}], at: [0, 0, "
         "0]}",
         "does not hold at the start: off by 1 rad"},
        {"{kind: spherical, bodies: [leg, arm], at: [0, 0, 0], cone: -1}", "cone is -1"},
        {"{kind: spherical, bodies: [leg, arm], at: [0, 0, 0], axis: [[1, 0, 0], [0, 0, 1]], cone: 1}",
         "spherical joint stands at 1.5708 rad at the start"},
    };
    REFUSES_ALL(SPACE "joints:\n- ", spatial);
    refuses(PLANE "joints: {kind: fixed}\n", "joints is a map of keys, expected a list");
    refuses(PLANE "springs: 3\n", "springs is a text, expected a list");
    refuses(PLANE "assemble: 3\n", "assemble");
}

static void test_bad_freedoms(void **unused) {
    (void)unused;
    static const char *const cases[][2] = {
        {"limits: [1, -1]}", "limits from 1 to -1, expected low below high"},
        {"limits: [0, 0]}", "expected low below high"},
        {"limits: 1}", "limits is a text, expected [low, high]"},
        {"limits: [1]}", "expected [low, high]"},
        {"limits: [1, some]}", "limits is 'some', expected a number or none"},
        {"limits: [0.2, 1]}",
         "revolute joint stands at 0 rad at the start, expected bodies that stand within "
         "its limits, 0.2 to 1"},
        {"limits: [none, -0.2]}", "stands at 0 rad at the start"},
        {"limits: [0, 1], e_n: 2}", "e_n is 2"},
        {"e_n: 0.5}", "e_n without limits"},
        {"drive: {velocity: 0}, motor: {torque: 1}}", "2 of drive, motor and servo"},
        {"drive: {velocity: 0}, motor: {torque: 1}, servo: {target: 0, p: 1}}",
         "3 of drive, motor and servo"},
        {"drive: {torque: 1}}", "neither position nor velocity"},
        {"drive: {position: 0, velocity: 0}}", "both position and velocity"},
        {"drive: {velocity: 0, force: 1}}", "'force' of a freedom about an axis, expected 'torque'"},
        {"drive: {velocity: 0, torque: 0}}", "torque is 0, expected a number above 0"},
        {"drive: {velocity: gamma}}", "gamma"},
        {"drive: {velocity: 3}}", "velocity is 3 rad/s at t = 0 s, where the joint has 0 rad/s: it would "
                                  "jump, expected a limit 'torque"},
        {"drive: {position: 1 + t}}", "position is 1 rad at t = 0 s, where the joint stands at 0 rad"},
        {"motor: {force: 1}}", "expected 'torque'"},
        {"motor: {}}", "a motor without a force, expected 'torque'"},
        {"motor: 3}", "a motor is a text"},
        {"servo: {p: 1}}", "a servo has no 'target'"},
        {"servo: {target: 0}}", "p, d and i of 0"},
        {"servo: {target: 0, p: -1}}", "p is -1"},
        {"servo: {target: 0, p: 1, torque: -1}}", "torque is -1"},
        {"spring: {stiffness: -1}}", "stiffness is -1"},
        {"spring: {stiffness: 1, damping: -1}}", "damping is -1"},
        {"spring: {rest: 1}}", "without stiffness and damping"},
        {"spring: {stiffness: 1, one_sided: left}}", "one of both|pull|push"},
        {"friction: -1}", "friction is -1"},
        {"friction: {mu: 0.1}}", "mu without a radius"},
        {"friction: {mu: -0.1, radius: 1}}", "mu is -0.1"},
        {"friction: {radius: 1}}", "neither torque nor mu"},
        {"friction: {force: 1}}", "expected 'torque'"},
        {"freedoms: {about: {friction: 1}}, friction: 1}", "freedom 'about' for the second time"},
        {"freedoms: {along: {friction: 1}}}", "freedom 'along' of a revolute joint, expected one of about"},
        {"freedoms: [1]}", "freedoms is a list, expected a map"},
        {"freedoms: {about: {e_n: 0.5}}}", "e_n without limits"},
        {"freedoms: {about: {frction: 0.5}}}", "unknown key 'frction' in a freedom"},
    };
    REFUSES_ALL(PLANE "joints:\n- {kind: revolute, bodies: [ground, arm], at: [0, 0], ", cases);
    refuses(PLANE "joints:\n- {kind: fixed, bodies: [arm, leg], limits: [0, 1]}\n",
            "'limits' of a fixed joint, which has no free freedom");
    refuses(
        PLANE "joints:\n- {kind: bushing, bodies: [arm, leg], friction: 1}\n",
        "'friction' of a bushing joint, which has more than one free freedom, expected it below 'freedoms'");
    refuses(PLANE "joints:\n- {kind: bushing, bodies: [arm, leg], freedoms: {3: {friction: 1}}}\n",
            "freedom '3' of a bushing joint, expected one of along, along_2, about");
    refuses(SPACE
            "joints:\n- {kind: cylindrical, bodies: [arm, leg], at: [0, 0, 0], axis: [1, 0, 0], freedoms: "
            "{along: {drive: {velocity: 1}}}}\n",
            "test.yaml:6: velocity is 1 m/s at t = 0 s, where the joint has 0 m/s: it would jump, expected a "
            "limit "
            "'force");
    /* what it has already may go on */
    dls_scene *scene =
        read_good(HEAD2 "bodies:\n- {name: arm, mass: 1, inertia: 1, spin: 3, velocity: [0, 3], "
                        "position: [1, 0]}\njoints:\n- {kind: revolute, bodies: [ground, arm], at: [0, "
                        "0], drive: {velocity: 3}}\n");
    dls_scene_destroy(scene);
}

static void test_bad_springs(void **unused) {
    (void)unused;
    static const char *const cases[][2] = {
        {"{bodies: [arm, leg]}", "without stiffness and damping"},
        {"{bodies: [arm, leg], stiffness: -1}", "stiffness is -1"},
        {"{bodies: [arm, leg], stiffness: 1, rest: -1}", "rest is -1"},
        {"{stiffness: 1}", "a spring has no 'bodies'"},
        {"{bodies: [arm, arm], stiffness: 1}", "with itself"},
        {"{bodies: [arm, ground], stiffness: 1}", "has no 'at'"},
        {"{bodies: [arm, leg], stiffness: 1, at: [0, 0]}", "at is one place, expected both ends"},
        {"{bodies: [arm, leg], stiffness: 1, kind: spring}", "unknown key 'kind' in a spring"},
    };
    REFUSES_ALL(PLANE "springs:\n- ", cases);
}

static void test_bad_crowds(void **unused) {
    (void)unused;
    static const char *const links[][2] = {
        {"{points: [[0, 0]], count: 2, joint: {kind: revolute}}", "points is a short list"},
        {"{points: [[0, 0], [0, 0]], count: 2, joint: {kind: revolute}}", "a curve of length 0"},
        {"{points: [[0, 0], [1, 0], [0, 0]], count: 1, joint: {kind: revolute}}", "a link of length 0"},
        {"{points: [[0, 0], [1, 0]], count: 0, joint: {kind: revolute}}", "count is 0"},
        {"{points: [[0, 0], [1, 0]], count: 1e12, joint: {kind: revolute}}", "of this machine"},
        {"{points: [[0, 0], [1, 0]], count: 2, joint: revolute}", "joint is a text"},
        {"{points: [[0, 0], [1, 0]], count: 2}", "links has no 'joint'"},
        {"{points: [[0, 0], [1, 0]], count: 2, joint: {kind: revolute, at: [0, 0]}}", "'at' of joints that"},
        {"{points: [[0, 0], [1, 0]], count: 2, joint: {kind: revolute}, ends: ground}", "ends is a text"},
        {"{points: [[0, 0], [1, 0]], count: 2, joint: {kind: revolute}, ends: [grund, none]}",
         "did you mean 'ground'?"},
        {"{points: [[0, 0], [1, 0], [0, 1]], count: 3, closed: yes, joint: {kind: revolute}, ends: [none, "
         "none]}",
         "ends of a closed curve"},
    };
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 HEAD2 "bodies:\n- links: %s\n  body: {shape: {kind: disc, radius: 0.1}}\n", links[i][0]);
        refuses(text, links[i][1]);
    }
    static const char *const crowds[][2] = {
        {"{kind: distance, neighbours: {of: knot, within: 0.5}}", "4 bodies 'knot-…', none within 0.5 m"},
        {"{kind: distance, neighbours: {of: knoot, within: 0.5}}", "0 bodies 'knoot-…'"},
        {"{kind: distance, neighbours: {of: knot, within: 0}}", "within is 0"},
        {"{kind: distance, neighbours: {of: knot}}", "neighbours has no 'within'"},
        {"{kind: distance, neighbours: {of: knot, within: 1.1}, bodies: [knot-0, knot-1]}",
         "'bodies' of joints"},
    };
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 HEAD2
                 "bodies:\n- lattice: {spacing: [1, 1], counts: [4, 1]}\n  body: {name: knot, shape: {kind: "
                 "disc, radius: 0.1}}\njoints:\n- %s\n",
                 crowds[i][0]);
        refuses(text, crowds[i][1]);
    }
    char many[1000];
    snprintf(
        many, sizeof many,
        HEAD2
        "bodies:\n- lattice: {spacing: [1, 1], counts: [20, 20]}\n  body: {name: knot, shape: {kind: disc, "
        "radius: 0.1}}\njoints:\n- {kind: distance, neighbours: {of: knot, within: 30}}\n");
    refuses(many, "more than 64 neighbours for each body");
}

static void test_bad_frames_and_functions(void **unused) {
    (void)unused;
    refuses(HEAD2 "bodies:\n- {mass: 1, inertia: 1, frames: [1]}\n",
            "frames is a list, expected a map of frames");
    refuses(HEAD2 "bodies:\n- {mass: 1, inertia: 1, frames: {tip: {at: 3}}}\n", "at is '3', expected [x, y]");
    refuses(HEAD2 "bodies:\n- {mass: 1, inertia: 1, frames: {tip: {axis: [0, 0]}}}\n", "axis has length 0");
    refuses(HEAD2 "bodies:\n- {mass: 1, inertia: 1, frames: {tip: {ax: [0, 0]}}}\n",
            "unknown key 'ax' in a frame");
    refuses(HEAD2 "functions: [1]\n", "functions is a list, expected a map of functions");
    refuses(HEAD2 "functions: {t: 1}\n", "function 't', expected a name that is not taken");
    refuses(HEAD2 "variables: {a: 1}\nfunctions: {a: 1}\n",
            "function 'a', expected a name that is not taken");
    refuses(HEAD2 "functions: {a b: 1}\n", "expected a name of letters");
    refuses(HEAD2 "functions: {a: b, b: t}\n", "test.yaml:3: a is 'b'");
    refuses(HEAD2 "functions: {a: a}\n", "a is 'a'");
}

/* ---- doubts ---- */

static void doubts(const char *entry, const char *line) {
    dls_scene *scene = with(PLANE, entry);
    const char *said = dls_scene_doubt(scene, 0);
    if (!line && said) fail_msg("doubted: %s", said);
    if (line && (!said || !strstr(said, line))) fail_msg("'%s' does not hold '%s'", said ? said : "", line);
    dls_scene_destroy(scene);
}

static void test_doubts(void **unused) {
    (void)unused;
    doubts("- {kind: revolute, bodies: [ground, arm], at: [0, 0], limits: [-20, 40]}\n",
           "-20 degrees are -20*deg");
    doubts("- {kind: revolute, bodies: [ground, arm], at: [0, 0], drive: {position: t}}\n",
           "position begins with 1 rad/s at t = 0 s, where the joint has 0 rad/s: a jolt");
    doubts("- {kind: revolute, bodies: [ground, arm], at: [0, 0], drive: {position: t, torque: 3}}\n", NULL);
    doubts("- {kind: revolute, bodies: [ground, arm], at: [0, 0], drive: {position: t^2}}\n", NULL);
    doubts("- {kind: revolute, bodies: [ground, arm], at: [0, 0], drive: {velocity: 3000, torque: 1}}\n",
           "3000 rad/s");
    doubts("- {kind: revolute, bodies: [ground, arm], at: [0, 0], servo: {target: 90, p: 1}}\n", "90*deg");
    doubts("- {kind: revolute, bodies: [ground, arm], at: [0, 0], servo: {target: ramp, p: 1}}\n", NULL);
    doubts("- {kind: revolute, bodies: [ground, arm], at: [0, 0], spring: {stiffness: 1, rest: 90}}\n",
           "90*deg");
    doubts("- {kind: revolute, bodies: [ground, arm], at: [0, 0], friction: {mu: 20, radius: 1}}\n",
           "mu is 20");
    doubts("- {kind: prismatic, bodies: [ground, arm], axis: [1, 0], limits: [-20, 40]}\n", NULL);
}

static void test_memory_that_runs_out(void **unused) {
    (void)unused;
    static const char text[] =
        HEAD2 "functions: {a: t^2, b: {t: [0, 1], value: [0, 1]}}\nassemble: yes\nbodies:\n"
              "- {name: arm, mass: 1, inertia: 1, position: [1, 0], frames: {tip: {at: [1, 0]}}}\n"
              "- {motion: static, position: [0, -9], belts: a, shape: {kind: half-plane, belt: [1, 0]}}\n"
              "- links: {points: [[0, 3], [1, 3]], count: 3, joint: {kind: revolute, name: pin}, ends: "
              "[ground, none]}\n"
              "  body: {name: link, shape: {kind: disc, radius: 0.1}}\njoints:\n"
              "- {kind: revolute, name: hip, bodies: [ground, arm], at: [0, 0], drive: {position: a}}\n"
              "- {kind: prismatic, bodies: [{body: arm, frame: tip}, link-2], axis: [1, 0], servo: {target: "
              "b, p: 1, "
              "bias: t}}\n"
              "- {kind: distance, neighbours: {of: link, within: 1}, rope: yes}\n"
              "springs:\n- {bodies: [arm, link-0], stiffness: 1}\n";
    dls_error error;
    dls_scene *scene = NULL;
    counting_begin(0);
    if (dls_scene_read_text(text, strlen(text), "x", ".", 0, NULL, &scene, &error))
        fail_msg("%s", error.message);
    dls_scene_destroy(scene);
    int asked = counting_allocations();
    assert_int_equal(counting_end(), 0);
    for (int i = 1; i <= asked; i++) {
        counting_begin(i);
        dls_status status = dls_scene_read_text(text, strlen(text), "x", ".", 0, NULL, &scene, &error);
        if (status != DLS_ERROR_MEMORY)
            fail_msg("allocation %d of %d: %d %s", i, asked, status, error.message);
        assert_null(scene);
        assert_int_equal(counting_end(), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place_in_the_world),
        cmocka_unit_test(test_place_in_a_body),
        cmocka_unit_test(test_named_frames),
        cmocka_unit_test(test_two_ends),
        cmocka_unit_test(test_places_left_open),
        cmocka_unit_test(test_ground),
        cmocka_unit_test(test_one_freedom),
        cmocka_unit_test(test_several_freedoms),
        cmocka_unit_test(test_springs),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_assemble),
        cmocka_unit_test(test_bad_bodies),
        cmocka_unit_test(test_bad_freedoms),
        cmocka_unit_test(test_bad_springs),
        cmocka_unit_test(test_bad_crowds),
        cmocka_unit_test(test_bad_frames_and_functions),
        cmocka_unit_test(test_doubts),
        cmocka_unit_test(test_memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
