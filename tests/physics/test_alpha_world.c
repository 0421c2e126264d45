/* Worlds under generalized-alpha: the benchmarks of paper 004 as scenes, whose contacts the collider finds,
 * against their models by callbacks, which share no contact kinematics with them. */
#include "base/vector.h"
#include "experiments/capobianco/models.h"
#include "integrate/alpha/finish.h"
#include "support/near.h"
#include "support/test.h"

#include <delassus/run.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        dls_error error_ = {0};                                                                              \
        dls_error *error = &error_;                                                                          \
        if (call) fail_msg("%s", error_.message);                                                            \
    } while (0)

static const char *template_text(const char *name) {
    int index = 0;
    while (dls_scene_template_name(index) && strcmp(dls_scene_template_name(index), name)) index++;
    assert_non_null(dls_scene_template_name(index));
    return dls_scene_template_text(index);
}

static dls_simulation *simulate(const char *text, int count, const char *const *settings, dls_scene **scene) {
    dls_simulation *simulation = NULL;
    OK(dls_scene_read_text(text, strlen(text), "scene", "", count, settings, scene, error));
    OK(dls_scene_simulation_create(*scene, &simulation, error));
    return simulation;
}

static dls_body_state state_of(dls_scene *scene, const char *name) {
    dls_body_state state;
    dls_world *world = dls_scene_world(scene);
    OK(dls_body_state_get(world, dls_world_find_body(world, name), &state, error));
    return state;
}

/* ---- scenes against callbacks ---- */

static double distance(const dls_body_state *state, const dls_alpha_view *view, bool planar) {
    double off = planar ? fabs(fabs(state->w[2]) - fabs(view->u[2])) : 0; /* the rod's angle is clockwise */
    for (int k = 0; k < (planar ? 2 : 3); k++) {
        off = fmax(off, fabs(state->x[k] - view->q[k]));
        off = fmax(off, fabs(state->v[k] - view->u[k]));
    }
    for (int k = 0; k < 4 && !planar; k++) off = fmax(off, fabs(state->q[k] - view->q[3 + k]));
    return off;
}

/* Largest difference of places and velocities over all steps up to `end`. */
static double difference(const char *name, int count, const char *const *settings, benchmark *b,
                         const char *body, double end) {
    dls_scene *scene;
    dls_alpha *alpha = NULL;
    dls_simulation *simulation = simulate(template_text(name), count, settings, &scene);
    double worst = 0;
    OK(dls_alpha_create(&b->model, &b->options, 0, b->q, b->u, &alpha, error));
    while (dls_simulation_time(simulation) < end - 0.5 * b->options.dt) {
        OK(dls_simulation_step(simulation, NULL, error));
        OK(dls_alpha_step(alpha, NULL, error));
        dls_alpha_view view = dls_alpha_get(alpha);
        dls_body_state state = state_of(scene, body);
        worst = fmax(worst, distance(&state, &view, b->model.coordinates == 3));
    }
    dls_alpha_destroy(alpha);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
    return worst;
}

static void solve_exactly(benchmark *b) { b->options.tolerance = b->options.tolerance_fixed = 1e-11; }

#define EXACTLY                                                                                              \
    "integrator.alpha_tolerance=1e-11", "integrator.alpha_tolerance_fixed=1e-11", "integrator.alpha_slip=end"

static const char *const exactly[] = {EXACTLY};

static void test_bouncing_ball(void **state) {
    (void)state;
    benchmark b;
    benchmark_bouncing_ball(&b, 50, 0);
    solve_exactly(&b);
    assert_true(difference("004-10.1", 3, exactly, &b, "ball", 2) < 1e-10);
}

/* A ball that bounces is certified while it flies, too: what Newton left on the contact is gone. */
static void test_flight_is_certified(void **state) {
    (void)state;
    static const char *const settings[] = {"variables.spin=-90",
                                           "variables.e_n=0.7",
                                           "materials.default.mu=0",
                                           "variables.m=0.33",
                                           "variables.R=0.13",
                                           "bodies.ball.position=[0,0.188]",
                                           "bodies.ball.velocity=[0.37,-1.57]",
                                           "integrator.rho=0.2",
                                           "time.step=5e-4"};
    dls_scene *scene;
    dls_simulation *simulation = simulate(template_text("004-10.1"), 9, settings, &scene);
    for (int step = 0; step < 1500; step++) {
        dls_step_report report;
        OK(dls_simulation_step(simulation, &report, error));
        assert_true(report.certified);
    }
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

/* In its last hops, from 1.36 s on, velocities are of rounding. */
static void test_corner(void **state) {
    (void)state;
    benchmark b;
    benchmark_corner(&b);
    solve_exactly(&b);
    double off = difference("004-10.2", 3, exactly, &b, "ball", 1.6);
    assert_true(off < 1e-9);
}

/* In a corner split percussions need not have a solution: they act whole then, and no step is refused or cut.
 */
static void test_corner_split(void **state) {
    (void)state;
    static const char *const settings[] = {"integrator.alpha_tolerance=1e-11",
                                           "integrator.alpha_tolerance_fixed=1e-11",
                                           "integrator.alpha_slip=split", "integrator.max_halvings=0"};
    benchmark b;
    benchmark_corner(&b);
    solve_exactly(&b);
    b.options.slip = DLS_SLIP_SPLIT, b.options.max_halvings = 0;
    assert_true(difference("004-10.2", 4, settings, &b, "ball", 1.6) < 1e-9);
}

static void test_cylinder(void **state) {
    (void)state;
    benchmark b;
    benchmark_cylinder(&b);
    solve_exactly(&b);
    assert_true(difference("004-10.3", 3, exactly, &b, "ball", 10) < 1e-12);
}

/* Later the accelerations are not unique. */
static void test_rod(void **state) {
    (void)state;
    benchmark b;
    benchmark_painleve(&b);
    solve_exactly(&b);
    assert_true(difference("004-10.4", 3, exactly, &b, "rod", 0.8) < 1e-9);
}

static void test_top(void **state) {
    (void)state;
    benchmark b;
    benchmark_tippe_top(&b);
    solve_exactly(&b);
    assert_true(difference("004-10.6", 3, exactly, &b, "top", 2) < 1e-9);
}

/* With less spin the belly comes down beside the stick's end at 1.743 s, and the friction that this brings
 * lifts it off again: it is closed to velocities, and no step is refused. */
static void test_lifted_contact(void **state) {
    (void)state;
    static const char *const settings[] = {EXACTLY, "bodies.top.spin=[0,-140*sin(0.1),140*cos(0.1)]",
                                           "integrator.max_halvings=0"};
    benchmark b;
    benchmark_tippe_top(&b);
    b.u[5] = 140;
    solve_exactly(&b);
    b.options.max_halvings = 0;
    assert_true(difference("004-10.6", 5, settings, &b, "top", 2) < 1e-9);
}

/* Steps that are cut in half, for want of updates, leave the same bars to those after them in both: 5e-14, or
 * 1e-7 where rounding cuts another one; bars of a half parted them by 9e-6. */
static void test_cut_steps(void **state) {
    (void)state;
    static const char *const settings[] = {EXACTLY, "integrator.max_newton=1", "integrator.max_fixed=1"};
    benchmark b;
    benchmark_cylinder(&b);
    solve_exactly(&b);
    b.options.max_newton = 1, b.options.max_fixed = 1;
    assert_true(difference("004-10.3", 5, settings, &b, "ball", 0.5) < 1e-6);
}

/* Joints, drives and a beam: other coordinates than those of the callbacks, so that steps differ by O(dt²).
 * Values of the equations at t = 0.05 and 0.1, before the foot touches. */
static void test_hopper(void **state) {
    (void)state;
    static const char *const settings[] = {"time.step=1e-3"};
    dls_scene *scene;
    dls_step_report report;
    dls_simulation *simulation = simulate(template_text("004-10.5"), 1, settings, &scene);
    for (int step = 1; step <= 100; step++) {
        OK(dls_simulation_step(simulation, &report, error));
        assert_true(report.certified && report.joint_gap < 1e-12);
        if (step == 50) assert_near(state_of(scene, "trunk").x[1], 0.2984644, 4e-7);
    }
    assert_near(state_of(scene, "trunk").x[1], 0.2635389, 4e-7);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

/* Painlevé: accelerations are unique up to 45° and no longer from there on. */
static void test_uniqueness(void **state) {
    (void)state;
    dls_scene *scene;
    dls_step_report report;
    dls_simulation *simulation = simulate(template_text("004-10.4"), 0, NULL, &scene);
    bool flagged = false;
    while (!flagged && dls_simulation_time(simulation) < 0.9) {
        OK(dls_simulation_step(simulation, &report, error));
        dls_body_state rod = state_of(scene, "rod");
        double angle = -2 * atan2(rod.q[3], rod.q[0]);
        flagged = report.ambiguous > 0;
        assert_true(flagged == (angle > acos(-1) / 4));
    }
    assert_true(flagged);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

/* ---- kinematics of every smooth pair ---- */

/* A body thrown along something round, without friction: what it keeps, and how far it is from touching. */
typedef struct ride {
    const char *text;
    double most; /* of the energy that may be lost, J per J */
} ride;

static void test_rides(void **state) {
    (void)state;
    static const ride rides[] = {
        {"{delassus: 1, dimension: 3, gravity: [0, 0, 0], materials: {default: {density: 1000, mu: 0}}, "
         "bodies: ["
         "{name: tube, motion: static, shape: {kind: cylinder-inside, radius: 1}},"
         "{name: rider, position: [0.9, 0, 0], velocity: [0, 2, 0.3], spin: [1, 2, 0.5], shape: {kind: "
         "sphere, radius: 0.1}}],"
         "integrator: {scheme: generalized-alpha, reference_velocity: 1e-2}, time: {step: 2e-3, until: 1}}",
         1e-7},
        {"{delassus: 1, dimension: 3, gravity: [0, 0, 0], materials: {default: {density: 1000, mu: 0}}, "
         "bodies: ["
         "{name: tube, motion: static, shape: {kind: cylinder-inside, radius: 1}},"
         "{name: rider, position: [0.9, 0, 0], velocity: [0, 2, 0], spin: [0, 0, 2], shape: {kind: "
         "ellipsoid, size: [0.1, 0.05, 0.2]}}],"
         "integrator: {scheme: generalized-alpha, reference_velocity: 1e-2}, time: {step: 2e-3, until: 1}}",
         1e-4},
        {"{delassus: 1, dimension: 3, gravity: [0, 0, -10], materials: {default: {density: 1000, mu: 0}}, "
         "bodies: ["
         "{name: floor, motion: static, shape: {kind: half-space}},"
         "{name: rider, position: [0, 0, 0.05], velocity: [1, 0, 0], spin: [0, 3, 0], shape: {kind: "
         "ellipsoid, size: [0.1, 0.1, 0.05]}}],"
         "integrator: {scheme: generalized-alpha}, time: {step: 1e-3, until: 1}}",
         1e-5},
    };
    for (size_t i = 0; i < sizeof rides / sizeof *rides; i++) {
        dls_scene *scene;
        dls_simulation *simulation = simulate(rides[i].text, 0, NULL, &scene);
        dls_step_report report;
        double first = 0, now = 0;
        while (dls_simulation_time(simulation) < 1 - 5e-4) {
            OK(dls_simulation_step(simulation, &report, error));
            now = report.energy.kinetic + report.energy.potential;
            if (report.step == 1) first = now;
            assert_true(report.certified && report.penetration < 1e-9);
        }
        assert_true(fabs(now - first) < rides[i].most * first);
        dls_simulation_destroy(simulation);
        dls_scene_destroy(scene);
    }
}

/* Directions and bends of contacts of all kinds that slide, roll and spin on what is curved, driven or a
 * belt, and of joints, agree with differences along the motion. */
static void check_kinematics(const char *bodies) {
    char text[2048];
    dls_scene *scene;
    snprintf(
        text, sizeof text,
        "{delassus: 1, dimension: 3, functions: {shake: 0.1*(1 - cos(3*t))}, materials: {default: {density: "
        "1000, mu: 0.3, "
        "rolling: 1e-3, spinning: 2e-3}}, %s, integrator: {scheme: generalized-alpha}, time: {step: "
        "1e-2, until: 1}}",
        bodies);
    dls_simulation *simulation = simulate(text, 0, NULL, &scene);
    OK(dls_alpha_world_check(simulation, 1e-5, error));
    /* tangents that were carried along from a normal far away */
    dls_world *world = dls_scene_world(scene);
    dls_body_id id = dls_world_find_body(world, "a");
    if (id >= 0) {
        dls_body_state moved = state_of(scene, "a");
        double x[3] = {0.93 * cos(0.4), 0.93 * sin(0.4), 0}, v[3] = {-1, 2, 0.7};
        OK(dls_simulation_step(simulation, NULL, error));
        memcpy(moved.x, x, sizeof x), memcpy(moved.v, v, sizeof v);
        OK(dls_body_state_set(world, id, &moved, error));
        OK(dls_alpha_world_check(simulation, 1e-5, error));
    }
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

static void test_kinematics(void **state) {
    (void)state;
    check_kinematics("bodies: [{name: tube, motion: static, shape: {kind: cylinder-inside, radius: 1}},"
                     "{name: a, position: [0.93, 0.1, 0], velocity: [0.3, 2, 0.4], spin: [1, 2, 0.5], shape: "
                     "{kind: sphere, radius: 0.05}},"
                     "{name: b, position: [-0.9, 0.2, 0], velocity: [0.1, -2, 0.3], spin: [2, 1, 3], shape: "
                     "{kind: ellipsoid, size: [0.1, 0.06, 0.08]}}]");
    check_kinematics(
        "bodies: [{name: plate, motion: driven, drive: {x: {position: shake}, z: {velocity: "
        "sin(5*t)}, rz: {velocity: sin(2*t)}}, shape: {kind: box, size: [2, 2, 0.2], belt: [1, 0.5, 0]}},"
        "{name: c, position: [0, 0.3, 0.15], velocity: [0.2, 0.1, 0.05], spin: [1, -2, 3], "
        "shape: {kind: sphere, radius: 0.05}},"
        "{name: d, position: [0.06, 0.3, 0.231], velocity: [-0.2, 0.3, 0.1], spin: [3, 2, 1], "
        "shape: {kind: sphere, radius: 0.05}},"
        "{name: e, position: [9, 0, 0], velocity: [0, 1, 0], spin: [0, 0, 2], shape: {kind: "
        "box, size: [1, 0.2, 0.1]}}],"
        "joints: [{kind: revolute, bodies: [ground, e], at: [8.5, 0, 0], axis: [0, 0, 1]}],"
        "springs: [{bodies: [c, e], stiffness: 3e4, damping: 20}]");
}

/* R′ by levels and bodies, and as a matrix by differences in the unknowns: a chain with a spring that slides
 * over a floor under a ball, in space. */
static void test_levels(void **state) {
    (void)state;
    static const char *const text =
        "{delassus: 1, dimension: 3, gravity: [0.5, 0.2, -10], materials: {default: {density: 1000, mu: "
        "0.3}}, bodies: ["
        "{name: floor, motion: static, shape: {kind: half-space}},"
        "{name: a, position: [0, 0, 0.05], velocity: [0.2, 0, 0], spin: [0, 0, 3], shape: {kind: sphere, "
        "radius: 0.05}},"
        "{name: b, position: [0.3, 0, 0.05], shape: {kind: sphere, radius: 0.05}},"
        "{name: c, position: [0.6, 0.1, 0.3], mass: 0.4, inertia: [1e-3, 2e-3, 3e-3], spin: [1, 2, 3]}],"
        "joints: [{kind: spherical, bodies: [a, b], at: [0.15, 0, 0.05]},"
        "{kind: revolute, bodies: [b, c], at: [0.45, 0, 0.1], axis: [0, 1, 0]}],"
        "springs: [{bodies: [a, c], stiffness: 300, damping: 5}],"
        "integrator: {scheme: generalized-alpha}, time: {step: 2e-3, until: 1}}";
    static const char *const whole[] = {"integrator.alpha_jacobian=differences"};
    dls_scene *scene[2];
    dls_simulation *simulation[2] = {simulate(text, 0, NULL, &scene[0]), simulate(text, 1, whole, &scene[1])};
    dls_step_report report;
    for (int i = 0; i < 2; i++)
        for (int step = 0; step < 7; step++) {
            OK(dls_simulation_step(simulation[i], &report, error));
            assert_true(report.certified);
            if (i == 0) assert_true(report.iterations <= 4);
        }
    for (int k = 0; k < 3; k++) {
        static const char *const names[] = {"a", "b", "c"};
        dls_body_state one = state_of(scene[0], names[k]), other = state_of(scene[1], names[k]);
        assert_true(vec_distance(one.x, other.x) < 1e-9 && vec_distance(one.w, other.w) < 1e-6);
    }
    for (int i = 0; i < 2; i++) dls_simulation_destroy(simulation[i]), dls_scene_destroy(scene[i]);
}

/* A door hangs on two hinges, which hold more than it has freedoms. */
static void test_hinges(void **state) {
    (void)state;
    static const char *const text =
        "{delassus: 1, dimension: 3, gravity: [0, 0, -10], bodies: [{name: door, mass: 20, inertia: [6, 7, "
        "1.5], "
        "position: [0.4, 0, 1], velocity: [0, 0.4, 0], spin: [0, 0, 1]}],"
        "joints: [{kind: revolute, bodies: [ground, door], at: [0, 0, 0.2], axis: [0, 0, 1]},"
        "{kind: revolute, bodies: [ground, door], at: [0, 0, 1.8], axis: [0, 0, 1]}],"
        "integrator: {scheme: generalized-alpha}, time: {step: 1e-3, until: 1}}";
    dls_scene *scene;
    dls_step_report report;
    dls_simulation *simulation = simulate(text, 0, NULL, &scene);
    for (int step = 0; step < 500; step++) {
        OK(dls_simulation_step(simulation, &report, error));
        assert_true(report.certified && report.iterations <= 4);
    }
    assert_true(fabs(state_of(scene, "door").w[2] - 1) < 1e-9);
    assert_true(fabs(state_of(scene, "door").x[0] - 0.4 * cos(0.5)) < 1e-7);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

/* What friction took closes the books to second order. */
static void test_books(void **state) {
    (void)state;
    dls_scene *scene;
    dls_step_report report;
    dls_simulation *simulation = simulate(template_text("004-10.3"), 0, NULL, &scene);
    for (int step = 0; step < 1000; step++) OK(dls_simulation_step(simulation, &report, error));
    assert_true(report.energy.friction > 8 && fabs(report.energy.unaccounted) < 2e-4);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

/* A drive that is held back by its largest force falls behind, and makes up for it. */
static void test_weak_drive(void **state) {
    (void)state;
    static const char *const text =
        "{delassus: 1, dimension: 2, gravity: [0, 0], functions: {f: \"0.1*(1 - cos(pi*min(t, 1)))\"},"
        "bodies: [{name: slider, mass: 1, inertia: 1}],"
        "joints: [{name: slide, kind: prismatic, bodies: [ground, slider], axis: [1, 0], drive: {position: "
        "f, force: 0.8}}],"
        "integrator: {scheme: generalized-alpha, reference_velocity: 1e-2}, time: {step: 2e-3, until: 2}}";
    dls_scene *scene;
    dls_simulation *simulation = simulate(text, 0, NULL, &scene);
    double behind = 0;
    for (int step = 1; step <= 1000; step++) {
        OK(dls_simulation_step(simulation, NULL, error));
        double t = dls_simulation_time(simulation), wanted = 0.1 * (1 - cos(acos(-1) * fmin(t, 1)));
        behind = fmax(behind, fabs(state_of(scene, "slider").x[0] - wanted));
    }
    assert_true(behind > 1e-3);
    assert_near(state_of(scene, "slider").x[0], 0.2, 1e-6);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

/* A ball falls beside the top of another one that lies on the floor: sets of Newton's method cycle, and
 * sweeps find where it is to begin. */
static void test_ball_on_ball(void **state) {
    (void)state;
    static const char *const text =
        "{delassus: 1, dimension: 3, materials: {default: {density: 1000, mu: 0.3, e_n: 0.5}}, bodies: ["
        "{name: floor, motion: static, shape: {kind: half-space}},"
        "{name: a, position: [-0.0554565, 0.016992551, 0.132040805], velocity: [0.285142, 0.300119, "
        "-2.11538], shape: {kind: sphere, radius: 0.05}},"
        "{name: b, position: [0, 0, 0.05], velocity: [0.276153, -0.535225, 0.000194729], spin: [0.728196, "
        "2.93597, -2.56779], shape: {kind: sphere, radius: 0.05}}],"
        "integrator: {scheme: generalized-alpha}, time: {step: 1e-3, until: 1}}";
    dls_scene *scene;
    dls_step_report report;
    dls_simulation *simulation = simulate(text, 0, NULL, &scene);
    int retried = 0;
    for (int step = 0; step < 20; step++) {
        OK(dls_simulation_step(simulation, &report, error));
        assert_true(report.certified && report.halvings == 0);
        retried += report.retried;
    }
    assert_true(retried > 0);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

/* A first step that fails, for a force that is no number at its end, leaves all as it was, although the
 * initial step had an impact. */
static void test_failed_step(void **state) {
    (void)state;
    static const char *const text =
        "{delassus: 1, dimension: 2, materials: {default: {density: 1000, mu: 0.5, e_n: 0.5}}, bodies: ["
        "{name: plane, motion: static, shape: {kind: half-plane}},"
        "{name: ball, position: [0, 0.1], velocity: [1, -2], force: [sqrt(5e-4 - t), 0], shape: {kind: disc, "
        "radius: 0.1}}],"
        "integrator: {scheme: generalized-alpha}, time: {step: 1e-3, until: 1}}";
    dls_scene *scene;
    dls_error failed = {0};
    dls_simulation *simulation = simulate(text, 0, NULL, &scene);
    dls_body_state before = state_of(scene, "ball");
    assert_int_equal(dls_simulation_step(simulation, NULL, &failed), DLS_ERROR_NUMERIC);
    assert_non_null(strstr(failed.message, "no numbers from force"));
    dls_body_state after = state_of(scene, "ball");
    assert_memory_equal(&before, &after, sizeof before);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

/* ---- contacts that are left behind ---- */

/* Once a body has left the ground it falls: no force of the contact is left in ā, whatever ρ_∞ keeps of it.
 */
static void check_fall(int dimension, bool steady, const char *body, const char *rho) {
    char text[1024];
    dls_scene *scene;
    dls_step_report report;
    int flights = 0, impacts = 0;
    const char *down = dimension == 3 ? "0, 0" : "0";
    snprintf(text, sizeof text,
             "{delassus: 1, dimension: %d, gravity: [%s, -9.81], materials: {default: {density: 1000, mu: "
             "0.7, e_n: "
             "0.7}}, bodies: [{name: floor, motion: static, shape: {kind: half-%s}}, {name: body, %s}], "
             "integrator: "
             "{scheme: generalized-alpha, rho: %s}, time: {step: 1e-3, until: 1}}",
             dimension, down, dimension == 3 ? "space" : "plane", body, rho);
    dls_simulation *simulation = simulate(text, 0, NULL, &scene);
    double before = NAN, w[3];
    for (int step = 0; step < 400; step++) {
        OK(dls_simulation_step(simulation, &report, error));
        assert_true(report.certified);
        dls_body_state now = state_of(scene, "body");
        double v = now.v[dimension - 1];
        impacts += report.contacts > 0;
        if (report.contacts == 0 && impacts > 0 && isfinite(before)) {
            assert_near(v - before, -9.81e-3, 1e-9);
            for (int k = 0; k < 3 && steady; k++) assert_near(now.w[k], w[k], 1e-8);
            flights++;
        }
        before = report.contacts == 0 ? v : (double)NAN;
        memcpy(w, now.w, sizeof w);
    }
    assert_true(impacts > 0 && flights > 20);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

static void test_left_contacts(void **state) {
    (void)state;
    static const char *const rhos[] = {"0", "0.3", "0.7"};
    for (int i = 0; i < 3; i++) {
        check_fall(2, true,
                   "position: [0, 0.15], velocity: [1, -1], spin: 60, shape: {kind: disc, radius: 0.1}",
                   rhos[i]);
        check_fall(3, false,
                   "position: [0, 0, 0.15], velocity: [1, 0.3, -1], spin: [60, 3, 5], shape: {kind: sphere, "
                   "radius: 0.1}",
                   rhos[i]);
        check_fall(
            2, false,
            "solid: {kind: beam, length: 0.2, EA: 1e4, EI: 1, line_density: 0.5, degree: 3, elements: 2}, "
            "position: [0, 0.3], rotation: -1.2, velocity: [0, -1], shapes: [{kind: point, end: 0}, {kind: "
            "point, end: 1}]",
            rhos[i]);
    }
}

/* ---- corners over faces ---- */

/* Of the box that falls on this floor, told before it or after it. */
static dls_body_state fallen(int dimension, const char *floor, const char *box, bool before) {
    char text[2048];
    dls_scene *scene;
    dls_step_report report = {.penetration = 0};
    snprintf(
        text, sizeof text,
        "{delassus: 1, dimension: %d, functions: {tilt: 0.3*sin(3*t), lift: 0.05*(1 - cos(9*t))}, gravity: "
        "[0, %s-9.81], materials: {default: {density: 1000, mu: 0.4, e_n: 0.2}}, bodies: [%s, %s], "
        "integrator: {scheme: generalized-alpha, alpha_tolerance: 1e-11, alpha_tolerance_fixed: 1e-11}, "
        "time: {step: 1e-3, until: 1}}",
        dimension, dimension == 3 ? "0, " : "", before ? box : floor, before ? floor : box);
    dls_simulation *simulation = simulate(text, 0, NULL, &scene);
    for (int step = 0; step < 200; step++) {
        OK(dls_simulation_step(simulation, &report, error));
        assert_true(report.certified && report.penetration < 1e-10);
    }
    assert_true(report.energy.impact > 1);
    dls_body_state state = state_of(scene, "box");
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
    return state;
}

/* Corners over a face move as over the half-space that the face is a part of, although their pair tells no
 * distance and features are carried through the step: where the face tilts and rises and where the corners
 * spin, whichever side was told first. */
static void check_faces(int dimension, const char *half, const char *face, const char *box) {
    dls_body_state expected = fallen(dimension, half, box, false);
    for (int before = 0; before < 2; before++) {
        dls_body_state found = fallen(dimension, face, box, before);
        for (int k = 0; k < 3; k++) {
            assert_near(found.x[k], expected.x[k], 1e-9);
            assert_near(found.v[k], expected.v[k], 1e-8);
            assert_near(found.w[k], expected.w[k], 1e-7);
        }
    }
}

#define TILTS                                                                                                \
    "{name: floor, motion: driven, position: [%g%s], drive: {r%s: {position: tilt}, %s: {position: lift}}, " \
    "shape: {position: [%g%s], "

/* The floor's body stands aside, so that it comes before or after the box among the bodies. */
static void test_faces(void **state) {
    (void)state;
    static const double aside[] = {-0.3, 0.3};
    char half[512], face[512];
    for (size_t i = 0; i < sizeof aside / sizeof *aside; i++) {
        double x = aside[i];
        snprintf(half, sizeof half, TILTS "kind: half-space}}", x, ", 0, 0", "x", "z", -x, ", 0, 0");
        snprintf(face, sizeof face, TILTS "kind: box, size: [4, 4, 1]}}", x, ", 0, 0", "x", "z", -x,
                 ", 0, -0.5");
        check_faces(
            3, half, face,
            "{name: box, position: [0, 0.1, 0.2], rotation: {axis: [1, 2, 0.3], angle: 40}, velocity: "
            "[0.3, 0.1, -1], spin: [2, -1, 3], shape: {kind: box, size: [0.2, 0.2, 0.1]}}");
        static const char *const planar[] = {"polygon, points: [[-2, -1], [2, -1], [2, 0], [-2, 0]]",
                                             "chain, points: [[-2, 0], [2, 0]]"};
        for (int k = 0; k < 2; k++) {
            snprintf(half, sizeof half, TILTS "kind: half-plane}}", x, ", 0", "z", "y", -x, ", 0");
            snprintf(face, sizeof face, TILTS "kind: %s}}", x, ", 0", "z", "y", -x, ", 0", planar[k]);
            check_faces(
                2, half, face,
                "{name: box, position: [0.1, 0.2], rotation: 0.7, velocity: [0.3, -1], spin: 3, shape: "
                "{kind: polygon, points: [[-0.1, -0.05], [0.1, -0.05], [0.1, 0.05], [-0.1, 0.05]]}}");
        }
    }
}

/* A box flies with a corner against the face of another one; both fly on. turn: −1 turns all about z by π. */
static dls_body_state struck(double turn) {
    char text[2048];
    dls_scene *scene;
    dls_step_report report = {.penetration = 0};
    double q[4] = {0.8, 0.3, 0.5, 0.1}, turned[4] = {-q[3], -q[2], q[1], q[0]}, plate[4] = {1, 0, 0, 0};
    if (turn < 0) memcpy(q, turned, sizeof q), plate[0] = 0, plate[3] = 1;
    snprintf(
        text, sizeof text,
        "{delassus: 1, dimension: 3, gravity: [0, 0, 0], materials: {default: {density: 1000, mu: 0.4, e_n: "
        "0.3}}, bodies: [{name: plate, position: [%g, 0, 0], rotation: [%g, 0, 0, %g], spin: [%g, %g, -1], "
        "shape: {kind: box, size: [0.1, 0.6, 0.6]}},"
        "{name: box, position: [%g, %g, 0.05], rotation: [%g, %g, %g, %g], velocity: [%g, %g, 0.1], spin: "
        "[%g, %g, 1], shape: {kind: box, size: [0.2, 0.2, 0.1]}}], integrator: {scheme: "
        "generalized-alpha, alpha_tolerance: 1e-11, alpha_tolerance_fixed: 1e-11}, time: {step: 1e-3, "
        "until: 1}}",
        -0.3 * turn, plate[0], plate[3], 0.5 * turn, 0.8 * turn, 0.1 * turn, 0.1 * turn, q[0], q[1], q[2],
        q[3], -3 * turn, 0.2 * turn, 2 * turn, 3 * turn);
    dls_simulation *simulation = simulate(text, 0, NULL, &scene);
    for (int step = 0; step < 150; step++) {
        OK(dls_simulation_step(simulation, &report, error));
        assert_true(report.certified && report.penetration < 1e-10);
    }
    assert_true(report.energy.impact > 1);
    dls_body_state state = state_of(scene, "plate");
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
    return state;
}

/* Which of two bodies has the face does not depend on their order along the curve that sorts them. */
static void test_faces_of_moving_bodies(void **state) {
    (void)state;
    dls_body_state one = struck(1), other = struck(-1);
    for (int k = 0; k < 3; k++) {
        double sign = k < 2 ? -1 : 1;
        assert_near(sign * other.x[k], one.x[k], 1e-10);
        assert_near(sign * other.v[k], one.v[k], 1e-9);
        assert_near(sign * other.w[k], one.w[k], 1e-8);
    }
}

/* ---- state ---- */

/* Read back in the middle, on another number of threads: the same bits. */
static void check_resume(const char *text, int steps) {
    dls_scene *scene[2];
    static const char *const threads[2] = {"run.threads=1", "run.threads=2"};
    dls_simulation *simulation[2];
    for (int i = 0; i < 2; i++) simulation[i] = simulate(text, 1, &threads[i], &scene[i]);
    for (int k = 0; k < steps; k++) OK(dls_simulation_step(simulation[0], NULL, error));
    size_t size = dls_simulation_state_size(simulation[0]);
    void *bytes = test_malloc(size);
    dls_simulation_state_write(simulation[0], bytes);
    OK(dls_simulation_state_read(simulation[1], bytes, size, error));
    for (int k = 0; k < steps; k++)
        for (int i = 0; i < 2; i++) OK(dls_simulation_step(simulation[i], NULL, error));
    assert_true(dls_simulation_hash(simulation[0]) == dls_simulation_hash(simulation[1]));
    test_free(bytes);
    for (int i = 0; i < 2; i++) {
        dls_simulation_destroy(simulation[i]);
        dls_scene_destroy(scene[i]);
    }
}

static void test_resume(void **state) {
    (void)state;
    check_resume(template_text("004-10.6"), 300);
    check_resume(template_text("004-10.3"), 200);
    check_resume(template_text("004-10.5"), 20);
    check_resume("{delassus: 1, dimension: 2, bodies: ["
                 "{name: a, mass: 1, inertia: 0.1, position: [0.5, 0]}, {name: b, mass: 1, inertia: 0.1, "
                 "position: [1.5, 0]}],"
                 "joints: [{kind: revolute, bodies: [ground, a], at: [0, 0], friction: 0.2},"
                 "{kind: revolute, bodies: [a, b], at: [1, 0], limits: [-1, 1], e_n: 0.5}],"
                 "integrator: {scheme: generalized-alpha}, time: {step: 2e-3, until: 2}}",
                 300);
}

/* What the scheme does not know is refused before the first step. */
static void test_refusals(void **state) {
    (void)state;
    static const char *const servo = "{delassus: 1, dimension: 2, bodies: [{name: press, motion: driven, "
                                     "drive: {y: {force: 5, gain: 1, max_speed: 1}}, "
                                     "shape: {kind: disc, radius: 1}}], integrator: {scheme: "
                                     "generalized-alpha}, time: {step: 1e-3, until: 1}}";
    static const char *const hht[] = {"integrator.coefficients=hht", "integrator.rho=0.2"};
    const struct {
        const char *text, *words;
        int count;
    } cases[] = {{servo, "press", 0}, {template_text("004-10.1"), "0.5 to 1", 2}};
    for (int i = 0; i < 2; i++) {
        dls_scene *scene = NULL;
        dls_simulation *simulation = NULL;
        dls_error found = {0};
        OK(dls_scene_read_text(cases[i].text, strlen(cases[i].text), "scene", "", cases[i].count, hht, &scene,
                               error));
        assert_int_equal(dls_scene_simulation_create(scene, &simulation, &found), DLS_ERROR_INPUT);
        assert_non_null(strstr(found.message, cases[i].words));
        dls_scene_destroy(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bouncing_ball),
                                       cmocka_unit_test(test_corner),
                                       cmocka_unit_test(test_corner_split),
                                       cmocka_unit_test(test_cylinder),
                                       cmocka_unit_test(test_rod),
                                       cmocka_unit_test(test_top),
                                       cmocka_unit_test(test_lifted_contact),
                                       cmocka_unit_test(test_cut_steps),
                                       cmocka_unit_test(test_hopper),
                                       cmocka_unit_test(test_uniqueness),
                                       cmocka_unit_test(test_rides),
                                       cmocka_unit_test(test_ball_on_ball),
                                       cmocka_unit_test(test_failed_step),
                                       cmocka_unit_test(test_kinematics),
                                       cmocka_unit_test(test_books),
                                       cmocka_unit_test(test_levels),
                                       cmocka_unit_test(test_hinges),
                                       cmocka_unit_test(test_weak_drive),
                                       cmocka_unit_test(test_left_contacts),
                                       cmocka_unit_test(test_flight_is_certified),
                                       cmocka_unit_test(test_faces),
                                       cmocka_unit_test(test_faces_of_moving_bodies),
                                       cmocka_unit_test(test_resume),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
