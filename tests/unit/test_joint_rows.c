/* Rows of joints: the rate of each value by differences, along random motions of both bodies; and what is
 * refused when a joint is added. */
#include "base/random.h"
#include "base/vector.h"
#include "support/near.h"
#include "world/joint/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static dls_error error[1];
#define OK(call)                                                                                             \
    do {                                                                                                     \
        if (call) fail_msg("%s", error->message);                                                            \
    } while (0)

static void random_rotation(dls_random *g, double *q) {
    for (int k = 0; k < 4; k++) q[k] = dls_random_normal(g);
    quat_normalize(q);
}

static void random_vector(dls_random *g, double size, double *x) {
    for (int k = 0; k < 3; k++) x[k] = size * dls_random_normal(g);
}

static dls_body_id add_body(dls_world *world, dls_random *g, bool planar) {
    static const double inertia[9] = {0.02, 0, 0, 0, 0.03, 0, 0, 0, 0.04};
    dls_body_def def = dls_default_body_def();
    def.mass = 1.3;
    def.inertia = inertia;
    dls_body_id id;
    random_vector(g, 1, def.pose.x);
    random_rotation(g, def.pose.q);
    if (planar) {
        double turn[3] = {0, 0, dls_random_normal(g)};
        def.pose.x[2] = 0;
        quat_exponential(def.pose.q, turn);
    }
    random_vector(g, 0.1, def.centre);
    if (planar) def.centre[2] = 0;
    OK(dls_world_add_body(world, &def, &id, error));
    return id;
}

/* Frames anywhere on both bodies, not as they would be held: rows are exact off the joint too. */
static void random_frames(dls_random *g, dls_joint_def *def, bool planar) {
    static const double turned[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}; /* axis 1 along z */
    for (int side = 0; side < 2; side++) {
        random_vector(g, 0.5, def->frame[side].x);
        random_rotation(g, def->frame[side].q);
        if (!planar) continue;
        def->frame[side].x[2] = 0;
        double turn[3] = {0, 0, dls_random_normal(g)}, base[4];
        bool turns = dls_joint_table[def->kind].turns || (def->kind == DLS_JOINT_RACK && side == 0) ||
                     (def->kind == DLS_JOINT_ROLLING && side == 1);
        quat_exponential(def->frame[side].q, turn);
        quat_from_matrix(base, turned);
        if (turns) quat_multiply(def->frame[side].q, def->frame[side].q, base);
    }
}

static void move(dls_body_state *state, double dt) {
    double a[3], q[4];
    vec_along(state->x, state->x, dt, state->v);
    vec_scale(a, dt, state->w);
    quat_exponential(q, a);
    quat_multiply(state->q, q, state->q);
    quat_normalize(state->q);
}

typedef bool (*row_function)(const dls_joint *joint, const dls_joint_pose *pose, int dimension, int freedom,
                             dls_joint_row *row);

static bool free_row(const dls_joint *joint, const dls_joint_pose *pose, int dimension, int freedom,
                     dls_joint_row *row) {
    if (!(dls_joint_kind_free(joint->def.kind, dimension) >> freedom & 1)) return false;
    dls_joint_free_row(joint, pose, dimension, freedom, row);
    return true;
}

static bool cone_row(const dls_joint *joint, const dls_joint_pose *pose, int dimension, int freedom,
                     dls_joint_row *row) {
    if (joint->def.kind != DLS_JOINT_SPHERICAL || freedom || dimension == 2) return false;
    dls_joint_cone_row(pose, row);
    return true;
}

/* Central differences of the value against u = J v. */
static void check_rate(const dls_world *world, const dls_joint *joint, int freedom, row_function function) {
    const double dt = 1e-5;
    int d = world->def.dimension;
    double value[2];
    dls_joint_pose pose;
    dls_joint_row row;
    dls_joint_stand(world, joint, world->states, NULL, &pose);
    if (!function(joint, &pose, d, freedom, &row)) return;
    double rate = dls_joint_row_speed(world, &pose, &row, world->states);
    for (int k = 0; k < 2; k++) {
        dls_body_state moved[2] = {world->states[0], world->states[1]};
        dls_joint_row then;
        for (int body = 0; body < 2; body++) move(&moved[body], k ? dt : -dt);
        dls_joint_stand(world, joint, moved, NULL, &pose);
        function(joint, &pose, d, freedom, &then);
        value[k] = then.value;
    }
    double by_differences = (value[1] - value[0]) / (2 * dt);
    if (!(fabs(rate - by_differences) <= 1e-7 * (1 + fabs(rate))))
        fail_msg("%s, freedom %d, dimension %d: rate %.12g, by differences %.12g",
                 dls_joint_table[joint->def.kind].name, freedom + 1, d, rate, by_differences);
}

/* The vector of rotation turns with its axis only: its rates are exact where the bodies turn about it, and
 * near it. */
static bool rate_is_exact(const dls_joint *joint, int dimension, int freedom) {
    return freedom < 3 || dls_joint_counts_turns(joint->def.kind, dimension, freedom);
}

static void test_rates(void **state) {
    (void)state;
    dls_random g = {7};
    for (int trial = 0; trial < 40; trial++)
        for (int number = 0; number < DLS_JOINT_KINDS + 2; number++)
            for (int dimension = 2; dimension <= 3; dimension++) {
                dls_world *world;
                dls_world_def def = dls_default_world_def();
                bool planar = dimension == 2, changed, carried = number >= DLS_JOINT_KINDS;
                int kind = carried ? number - DLS_JOINT_KINDS + DLS_JOINT_GEAR : number; /* gear, rack */
                dls_joint_def j = dls_default_joint_def((dls_joint_kind)kind);
                j.carried = carried;
                if (planar && !dls_joint_table[kind].planar) continue;
                def.dimension = dimension;
                vec_set(def.gravity, 0, 0, 0);
                OK(dls_world_create(&def, &world, error));
                j.body[0] = add_body(world, &g, planar);
                j.body[1] = add_body(world, &g, planar);
                random_frames(&g, &j, planar);
                j.ratio = 1.7;
                j.radius = 0.3;
                OK(dls_world_add_joint(world, &j, NULL, error));
                OK(dls_world_settle(world, 0, &changed, error));
                for (int body = 0; body < 2; body++) {
                    random_vector(&g, 1, world->states[body].v);
                    random_vector(&g, 1, world->states[body].w);
                    if (planar)
                        world->states[body].v[2] = world->states[body].w[0] = world->states[body].w[1] = 0;
                }
                const dls_joint *joint = &world->joints[0];
                for (int k = 0; k < DLS_FREEDOMS; k++) {
                    bool slips = dls_joint_slips(joint, k); /* has a rate and no value */
                    /* axes of a universal joint are at a right angle only where it holds */
                    bool apart = kind == DLS_JOINT_UNIVERSAL;
                    if (!slips) check_rate(world, joint, k, dls_joint_held_row);
                    if (rate_is_exact(joint, dimension, k) && !(k >= 3 && (apart || !planar)))
                        check_rate(world, joint, k, free_row);
                    check_rate(world, joint, k, cone_row);
                }
                dls_world_destroy(world);
            }
}

/* Angles of joints that hold: bodies turn against each other as the joint lets them. */
static void test_turns(void **state) {
    (void)state;
    static const dls_joint_kind kinds[] = {DLS_JOINT_REVOLUTE, DLS_JOINT_CYLINDRICAL, DLS_JOINT_PLANAR,
                                           DLS_JOINT_UNIVERSAL};
    dls_random g = {11};
    for (size_t i = 0; i < 4; i++)
        for (int trial = 0; trial < 10; trial++) {
            dls_world *world;
            dls_world_def def = dls_default_world_def();
            dls_joint_def j = dls_default_joint_def(kinds[i]);
            bool changed;
            OK(dls_world_create(&def, &world, error));
            j.body[0] = add_body(world, &g, false);
            j.body[1] = add_body(world, &g, false);
            double point[3], axis[3], second[3];
            random_vector(&g, 1, point);
            random_vector(&g, 1, axis);
            random_vector(&g, 1, second);
            OK(dls_joint_place(world, &j, point, axis, second, error));
            OK(dls_world_add_joint(world, &j, NULL, error));
            OK(dls_world_settle(world, 0, &changed, error));
            dls_joint *joint = &world->joints[0];
            dls_joint_pose pose;
            double turned = 0, tilted = 0;
            int b = world->entries[j.body[1]].row;
            for (int k = 0; k < 60; k++) { /* more than one turn, and back a little */
                double first = k < 50 ? 0.2 : -0.1, other = kinds[i] == DLS_JOINT_UNIVERSAL ? 0.02 : 0;
                double a[3], q[4];
                dls_body_state *of = &world->states[b];
                dls_joint_stand(world, joint, world->states, NULL, &pose);
                vec_scale(a, first, pose.axes[0]);
                quat_exponential(q, a);
                quat_multiply(of->q, q, of->q);
                dls_joint_stand(world, joint, world->states, NULL, &pose);
                vec_scale(a, other, pose.axes[1] + 3);
                quat_exponential(q, a);
                quat_multiply(of->q, q, of->q);
                quat_normalize(of->q);
                turned += first;
                tilted += other;
                dls_joints_count_turns(world);
                assert_near(joint->turned[3], turned, 1e-12);
                assert_near(joint->turned[4], tilted, 1e-12);
            }
            dls_world_destroy(world);
        }
}

/* ---- what is refused ---- */

static dls_world *two_bodies(int dimension) {
    dls_world *world;
    dls_world_def def = dls_default_world_def();
    dls_random g = {3};
    def.dimension = dimension;
    if (dimension == 2) vec_set(def.gravity, 0, -9.81, 0);
    OK(dls_world_create(&def, &world, error));
    add_body(world, &g, dimension == 2);
    add_body(world, &g, dimension == 2);
    return world;
}

static void refuse(int dimension, const dls_joint_def *def, const char *words) {
    dls_world *world = two_bodies(dimension);
    dls_joint_id id = 5;
    if (!dls_world_add_joint(world, def, &id, error)) fail_msg("no error, expected: %s", words);
    if (!strstr(error->message, words)) fail_msg("'%s' is not in: %s", words, error->message);
    assert_int_equal(id, -1);
    assert_int_equal(dls_world_joint_count(world), 0);
    dls_world_destroy(world);
}

static dls_joint_def sound(dls_joint_kind kind) {
    dls_joint_def def = dls_default_joint_def(kind);
    def.body[0] = 0, def.body[1] = 1;
    return def;
}

static dls_function *constant(double value) {
    dls_function *function;
    OK(dls_function_constant(value, &function, error));
    return function;
}

#define REFUSE(kind, change, words)                                                                          \
    do {                                                                                                     \
        dls_joint_def d = sound(kind);                                                                       \
        dls_freedom_def *f = d.freedom;                                                                      \
        (void)f;                                                                                             \
        change;                                                                                              \
        refuse(3, &d, words);                                                                                \
    } while (0)

static void test_refused(void **state) {
    (void)state;
    REFUSE(DLS_JOINT_REVOLUTE, d.body[1] = 7, "there is no body 7");
    REFUSE(DLS_JOINT_REVOLUTE, d.body[1] = -2, "there is no body -2");
    REFUSE(DLS_JOINT_REVOLUTE, d.body[1] = 0, "a body with itself");
    REFUSE(DLS_JOINT_REVOLUTE, (d.body[0] = d.body[1] = DLS_GROUND), "the ground with itself");
    REFUSE(DLS_JOINT_REVOLUTE, d.frame[0].x[1] = (double)NAN, "the frame on A");
    REFUSE(DLS_JOINT_REVOLUTE, d.frame[1].q[0] = 2, "the frame on B");
    REFUSE(DLS_JOINT_REVOLUTE, f[0].friction = 1, "freedom 1 has");
    REFUSE(DLS_JOINT_REVOLUTE, f[3].stiffness = -1, "stiffness is -1");
    REFUSE(DLS_JOINT_REVOLUTE, f[3].damping = (double)INFINITY, "damping is inf");
    REFUSE(DLS_JOINT_REVOLUTE, f[3].friction = -2, "friction is -2");
    REFUSE(DLS_JOINT_REVOLUTE, (f[3].low = 1, f[3].high = -1), "limits are 1 and -1");
    REFUSE(DLS_JOINT_REVOLUTE, (f[3].low = -1, f[3].restitution = 1.5), "restitution of a limit is 1.5");
    REFUSE(DLS_JOINT_REVOLUTE, f[3].max_force = 2, "expected a drive or motor that it limits");
    REFUSE(DLS_JOINT_REVOLUTE, (f[3].position = constant(0), f[3].velocity = constant(0)), "expected one");
    REFUSE(DLS_JOINT_REVOLUTE, (f[3].position = constant(0), f[3].force = constant(0)), "expected one");
    REFUSE(DLS_JOINT_REVOLUTE, f[3].target = constant(0), "expected p, d or i");
    REFUSE(DLS_JOINT_REVOLUTE, d.cone = 1, "of a spherical joint only");
    REFUSE(DLS_JOINT_REVOLUTE, d.rope = true, "of the kind distance only");
    REFUSE(DLS_JOINT_GEAR, d.ratio = 0, "ratio is 0");
    REFUSE(DLS_JOINT_REVOLUTE, d.carried = true, "expected a gear or rack");
    REFUSE(DLS_JOINT_ROLLING, d.radius = 0, "radius of a wheel is 0");
    REFUSE(DLS_JOINT_ROLLING_BALL, d.radius = 0, "radius of a ball is 0");
    REFUSE(DLS_JOINT_DISTANCE, d.length = -1, "length is -1");
    REFUSE(DLS_JOINT_REVOLUTE, d.break_force = (double)NAN, "break_force is nan");
    dls_joint_def def = sound(DLS_JOINT_UNIVERSAL);
    refuse(2, &def, "there is in the plane");
    def.kind = (dls_joint_kind)77;
    refuse(3, &def, "no kind of joint 77");
}

/* Axes that say nothing of what carries them: on one line, or neither parallel nor across. */
static void test_carriers_refused(void **state) {
    (void)state;
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, slightly[3] = {1, 0.05, 0}, at[3] = {1, 2, 3};
    const struct {
        dls_joint_kind kind;
        const double *other;
        const char *words;
    } cases[] = {{DLS_JOINT_GEAR, x, "lie on one line"},
                 {DLS_JOINT_GEAR, slightly, "gear are 0.05 rad apart"},
                 {DLS_JOINT_RACK, slightly, "rack are 0.05 rad apart"},
                 {DLS_JOINT_GEAR, y, NULL},
                 {DLS_JOINT_RACK, x, NULL}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_world *world = two_bodies(3);
        dls_joint_def def = sound(cases[k].kind);
        def.carried = true;
        OK(dls_joint_place(world, &def, at, x, cases[k].other, error));
        dls_status status = dls_world_add_joint(world, &def, NULL, error);
        assert_int_equal(status, cases[k].words ? DLS_ERROR_INPUT : DLS_OK);
        if (cases[k].words && !strstr(error->message, cases[k].words)) fail_msg("%s", error->message);
        dls_world_destroy(world);
    }
}

static void test_names(void **state) {
    (void)state;
    dls_world *world = two_bodies(3);
    dls_joint_def def = sound(DLS_JOINT_FIXED), got;
    dls_joint_id id;
    def.name = "weld";
    OK(dls_world_add_joint(world, &def, &id, error));
    assert_int_equal(dls_world_find_joint(world, "weld"), id);
    assert_int_equal(dls_world_find_joint(world, "wel"), -1);
    assert_string_equal(dls_joint_name(world, id), "weld");
    assert_true(dls_world_add_joint(world, &def, &id, error) == DLS_ERROR_INPUT);
    OK(dls_joint_get(world, 0, &got, error));
    assert_int_equal(got.kind, DLS_JOINT_FIXED);
    assert_int_equal(dls_joint_presence_of(world, 0), DLS_JOINT_WAITS); /* nothing has settled yet */
    OK(dls_world_remove_joint(world, 0, error));
    assert_int_equal(dls_joint_presence_of(world, 0), DLS_JOINT_GONE);
    assert_true(dls_world_remove_joint(world, 1, error) == DLS_ERROR_ARGUMENT);
    dls_world_destroy(world);
}

/* ---- places from joints ---- */

/* A four-bar linkage whose bars stand about right: after assembly all gaps are closed. */
static void test_assembly(void **state) {
    (void)state;
    static const double centre[3][2] = {{0.05, 0.02}, {0.24, 0.13}, {0.42, 0.08}},
                        end[4][2] = {{0, 0}, {0.1, 0}, {0.4, 0.2}, {0.4, 0}};
    static const double inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1e-3};
    dls_world *world;
    dls_world_def def = dls_default_world_def();
    def.dimension = 2;
    vec_set(def.gravity, 0, -9.81, 0);
    OK(dls_world_create(&def, &world, error));
    for (int k = 0; k < 3; k++) {
        dls_body_def body = dls_default_body_def();
        body.mass = 0.2;
        body.inertia = inertia;
        vec_set(body.pose.x, centre[k][0], centre[k][1], 0);
        body.w[2] = k == 0;
        OK(dls_world_add_body(world, &body, NULL, error));
    }
    for (int k = 0; k < 4; k++) {
        dls_joint_def j = dls_default_joint_def(DLS_JOINT_REVOLUTE);
        double point[3] = {end[k][0], end[k][1], 0};
        j.body[0] = k - 1, j.body[1] = k < 3 ? k : DLS_GROUND;
        OK(dls_joint_place(world, &j, point, NULL, NULL, error));
        j.frame[0].x[0] += 0.01 * k, j.frame[1].x[1] -= 0.004; /* as if measured badly */
        OK(dls_world_add_joint(world, &j, NULL, error));
    }
    dls_assembled report;
    OK(dls_world_assemble_joints(world, &report, error));
    assert_true(report.left < 1e-12 && report.moved > 1e-3 && report.moved < 0.1 && report.bodies == 3);
    assert_true(report.sped > 0);
    for (int k = 0; k < 4; k++) {
        dls_joint_state at;
        OK(dls_joint_state_get(world, k, &at, error));
        for (int i = 0; i < DLS_FREEDOMS; i++) assert_near(at.gap[i], 0, 1e-12);
    }
    dls_joint_def far = dls_default_joint_def(DLS_JOINT_DISTANCE);
    far.body[1] = 0;
    far.frame[0].x[0] = 5;
    far.length = 1;
    OK(dls_world_add_joint(world, &far, NULL, error));
    dls_body_state before, after;
    OK(dls_body_state_get(world, 0, &before, error));
    assert_true(dls_world_assemble_joints(world, &report, error) == DLS_ERROR_INPUT);
    assert_non_null(strstr(error->message, "cannot be assembled"));
    OK(dls_body_state_get(world, 0, &after, error));
    assert_memory_equal(&before, &after, sizeof before);
    dls_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),   cmocka_unit_test(test_turns),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_carriers_refused),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_assembly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
