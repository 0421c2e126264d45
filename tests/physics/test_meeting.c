/* Bodies meet within a step what stands in their way then, and nothing else: no impulse of planes beyond the
 * ends of their faces, and nothing passes through anything, neither of its own speed nor when it is hit. All
 * of it at several steps and phases, and turned at random. */
#include "base/random.h"
#include "base/vector.h"
#include "collide/collide.h"
#include "support/near.h"
#include "support/stage.h"

#include <math.h>

static const double CORNERS[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};

/* A square or box of these halves; the points are the caller's. */
static dls_shape_def block(int d, double half_x, double half, double *points) {
    dls_shape_def shape = dls_default_shape_def(d == 2 ? DLS_POLYGON : DLS_BOX);
    for (int k = 0; k < 12; k++) points[k] = CORNERS[k] * (k % 3 ? half : half_x);
    shape.size[0] = 2 * half_x;
    shape.size[1] = shape.size[2] = 2 * half;
    shape.point_count = 4;
    shape.points = points;
    return shape;
}

/* A rotation by chance, in the plane about z. */
static void any_rotation(dls_random *random, int d, double *q) {
    for (int k = 0; k < 4; k++) q[k] = d == 3 || k % 3 == 0 ? dls_random_between(random, -1, 1) : 0;
    quat_normalize(q);
}

static dls_body_id add_heavy(stage *s, dls_motion motion, const dls_shape_def *shape, const double *q,
                             const double *x, const double *v, double mass) {
    dls_body_def def = dls_default_body_def();
    double R[9];
    quat_matrix(q, R);
    def.motion = motion;
    def.mass = mass;
    def.shape_count = 1;
    def.shapes = shape;
    mat_apply(def.pose.x, R, x);
    mat_apply(def.v, R, v);
    for (int k = 0; k < 4; k++) def.pose.q[k] = q[k];
    return stage_add(s, &def);
}

static dls_body_id add_turned(stage *s, dls_motion motion, const dls_shape_def *shape, const double *q,
                              const double *x, const double *v) {
    return add_heavy(s, motion, shape, q, x, v, 0);
}

static dls_simulation_options with_step(double h) {
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    return o;
}

static const double REST[3] = {0, 0, 0};

/* ---- past the end of a face ---- */

/* A body of support `reach` towards the corner of a platform flies past it at 45°, 21 mm away. */
static void check_corner(dls_random *random, int d, const dls_shape_def *body, double reach, double h) {
    double points[12], q[4], phase = dls_random_between(random, 0, 1), c = (reach + 0.021) * sqrt(0.5);
    double v[3] = {7.5, -7.5, 0}, back = 0.8 + 7.5 * h * phase;
    double x[3] = {c - back, c + back, 0}, platform_at[3] = {-2, -2, 0};
    stage s = stage_open(d, 0, 0.3, 0, 0);
    dls_shape_def platform = block(d, 2, 2, points);
    any_rotation(random, d, q);
    add_turned(&s, DLS_STATIC, &platform, q, platform_at, REST);
    dls_body_id id = add_turned(&s, DLS_DYNAMIC, body, q, x, v);
    dls_simulation_options o = with_step(h);
    stage_start(&s, &o, 0);
    dls_body_state before = stage_state(&s, id);
    stage_run(&s, (int)(0.3 / h));
    dls_body_state after = stage_state(&s, id);
    for (int k = 0; k < 3; k++) {
        assert_near(after.v[k], before.v[k], 1e-13);
        assert_near(after.w[k], 0, 1e-13);
    }
    stage_close(&s);
}

static void test_no_impulse_beyond_a_face(void **unused) {
    (void)unused;
    dls_random random = {1};
    static const double steps[] = {1.0 / 30, 1.0 / 60, 1.0 / 120, 1.0 / 240, 1e-3};
    double points[12];
    dls_shape_def square = block(2, 0.25, 0.25, points), box = square, round[4];
    box.kind = DLS_BOX;
    static const dls_shape_kind kinds[] = {DLS_SPHERE, DLS_CAPSULE, DLS_CYLINDER, DLS_ELLIPSOID};
    for (int k = 0; k < 4; k++) {
        round[k] = dls_default_shape_def(kinds[k]);
        round[k].radius = 0.25;
        round[k].length = 0.3;
        for (int i = 0; i < 3; i++) round[k].size[i] = 0.25; /* of the ellipsoid: half axes */
    }
    for (int i = 0; i < 5; i++)
        for (int turn = 0; turn < 8; turn++) {
            check_corner(&random, 2, &square, 0.25 * sqrt(2), steps[i]);
            check_corner(&random, 3, &box, 0.25 * sqrt(2), steps[i]);
            for (int k = 0; k < 4; k++) check_corner(&random, 3, &round[k], 0.25, steps[i]);
        }
}

/* The same 21 mm nearer by 42: it hits the edge, and turns about it. */
static void test_edge_is_hit(void **unused) {
    (void)unused;
    double points[12], wall[12], x[3] = {-0.6, 0.9, 0}, v[3] = {7.5, -7.5, 0}, at[3] = {-2, -2, 0};
    for (int turn = 0; turn < 4; turn++) {
        stage s = stage_open(2, 0, 0, 0, 0);
        dls_random random = {(uint64_t)turn};
        dls_shape_def square = block(2, 0.25, 0.25, points), platform = block(2, 2, 2, wall);
        double q[4];
        any_rotation(&random, 2, q);
        add_turned(&s, DLS_STATIC, &platform, q, at, REST);
        dls_body_id id = add_turned(&s, DLS_DYNAMIC, &square, q, x, v);
        dls_simulation_options o = with_step(1e-3);
        stage_start(&s, &o, 0);
        stage_run(&s, 300);
        assert_true(stage_state(&s, id).w[2] * stage_state(&s, id).w[2] > 1);
        assert_true(s.last.penetration < 1e-3);
        stage_close(&s);
    }
}

/* ---- through walls ---- */

/* 100 m/s at a slab of 0.2 m from `from` away, 1.7 m in a step: it ends before the slab. */
static void check_bullet(dls_random *random, int d, const dls_shape_def *bullet, double from, double h) {
    double points[12], q[4], x[3] = {-from, 0.01, d == 3 ? 0.02 : 0}, v[3] = {100, 0, 0}, R[9], at[3];
    stage s = stage_open(d, 0, 0.3, 0, 0);
    dls_shape_def slab = block(d, 0.1, 1.5, points);
    any_rotation(random, d, q);
    add_turned(&s, DLS_STATIC, &slab, q, REST, REST);
    dls_body_id id = add_turned(&s, DLS_DYNAMIC, bullet, q, x, v);
    dls_simulation_options o = with_step(h);
    stage_start(&s, &o, 0);
    for (int step = 0; step < (int)(0.15 / h); step++) {
        stage_run(&s, 1);
        assert_true(s.last.penetration < 1e-3);
    }
    quat_matrix(q, R);
    mat_apply_transposed(at, R, stage_state(&s, id).x);
    assert_true(at[0] < -0.149 && at[0] > -0.2);
    stage_close(&s);
}

static void test_no_bullet_passes_a_slab(void **unused) {
    (void)unused;
    dls_random random = {2};
    double points[12];
    dls_shape_def shapes[] = {block(3, 0.05, 0.05, points), stage_ball(3, 0.05),
                              dls_default_shape_def(DLS_CAPSULE), dls_default_shape_def(DLS_CYLINDER),
                              dls_default_shape_def(DLS_ELLIPSOID)};
    for (int k = 2; k < 5; k++) {
        shapes[k].radius = 0.05;
        shapes[k].length = 0.1;
        for (int i = 0; i < 3; i++) shapes[k].size[i] = 0.05;
    }
    for (int turn = 0; turn < 12; turn++) {
        double from = dls_random_between(&random, 0.3, 6), h = turn % 2 ? 1.0 / 60 : 1.0 / 120;
        for (int k = 0; k < 5; k++) check_bullet(&random, 3, &shapes[k], from, h);
        dls_shape_def square = block(2, 0.05, 0.05, points), disc = stage_ball(2, 0.05);
        check_bullet(&random, 2, &square, from, h);
        check_bullet(&random, 2, &disc, from, h);
        shapes[0] = block(3, 0.05, 0.05, points);
    }
}

/* A heavy ball at 100 m/s drives small ones that rest on its way against a wall of 1 cm: 10 radii in a step,
 * and each of them is hit by the one before. */
static void check_driven(dls_random *random, int d, int balls, double h) {
    double points[12], q[4], v[3] = {100, 0, 0}, x[3] = {-0.5, 0, 0}, R[9], at[3];
    dls_body_id ids[4];
    stage s = stage_open(d, 0, 0.3, 0, 0);
    dls_shape_def wall = block(d, 0.005, 0.5, points), small = stage_ball(d, 0.01),
                  heavy = stage_ball(d, 0.1);
    any_rotation(random, d, q);
    add_turned(&s, DLS_STATIC, &wall, q, REST, REST);
    for (int k = 0; k < balls; k++) {
        double place[3] = {-0.035 - 0.045 * k, 0, 0};
        ids[k] = add_turned(&s, DLS_DYNAMIC, &small, q, place, REST);
    }
    add_heavy(&s, DLS_DYNAMIC, &heavy, q, x, v, 100);
    dls_simulation_options o = with_step(h);
    stage_start(&s, &o, 0);
    quat_matrix(q, R);
    for (int step = 0; step < (int)(0.02 / h); step++) {
        stage_run(&s, 1);
        assert_true(s.last.penetration < 1e-4);
        for (int k = 0; k < balls; k++) {
            mat_apply_transposed(at, R, stage_state(&s, ids[k]).x);
            assert_true(at[0] < -0.0149);
        }
    }
    stage_close(&s);
}

static void test_nothing_is_driven_through_a_wall(void **unused) {
    (void)unused;
    dls_random random = {3};
    for (int d = 2; d <= 3; d++)
        for (int balls = 1; balls <= 4; balls++)
            for (int turn = 0; turn < 4; turn++) check_driven(&random, d, balls, turn % 2 ? 1e-3 : 5e-4);
}

/* Two bullets, one behind the other at the same speed: the first is stopped, and the second by the first. */
static void test_second_bullet_is_stopped_too(void **unused) {
    (void)unused;
    dls_random random = {4};
    for (int turn = 0; turn < 8; turn++) {
        double points[12], side[12], q[4], v[3] = {100, 0, 0}, R[9], a[3], b[3];
        double from = dls_random_between(&random, 1, 5);
        double first[3] = {-from, 0, 0}, second[3] = {-from - 0.4, 0, 0};
        stage s = stage_open(3, 0, 0.3, 0, 0);
        dls_shape_def slab = block(3, 0.1, 1.5, points), bullet = block(3, 0.05, 0.05, side);
        any_rotation(&random, 3, q);
        add_turned(&s, DLS_STATIC, &slab, q, REST, REST);
        dls_body_id ia = add_turned(&s, DLS_DYNAMIC, &bullet, q, first, v);
        dls_body_id ib = add_turned(&s, DLS_DYNAMIC, &bullet, q, second, v);
        dls_simulation_options o = with_step(1.0 / 60);
        stage_start(&s, &o, 0);
        stage_run(&s, 12);
        quat_matrix(q, R);
        mat_apply_transposed(a, R, stage_state(&s, ia).x);
        mat_apply_transposed(b, R, stage_state(&s, ib).x);
        assert_near(a[0], -0.15, 1e-3);
        assert_near(b[0], -0.25, 1e-3);
        stage_close(&s);
    }
}

/* ---- no more looks than are needed ---- */

/* What is thrown far, but held by the contacts that it has, is not looked at again: each look is a solve. */
static void test_held_bodies_need_one_look(void **unused) {
    (void)unused;
    for (int d = 2; d <= 3; d++) {
        double points[12], v[3] = {100, 0, 0}, x[3] = {-1.2, 0, 0};
        int most = 0;
        stage s = stage_open(d, 0, 0, 0, 0);
        dls_shape_def slab = block(d, 0.1, 1.5, points), ball = stage_ball(d, 0.05);
        stage_add_shape(&s, DLS_STATIC, &slab, NULL, NULL, NULL);
        dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &ball, x, v, NULL);
        dls_simulation_options o = with_step(1.0 / 60);
        stage_start(&s, &o, 0);
        for (int step = 0; step < 4; step++) {
            stage_run(&s, 1);
            if (s.last.iterations > most) most = s.last.iterations;
        }
        assert_near(stage_state(&s, id).x[0], -0.15, 1e-9);
        assert_true(most >= 1 && most <= 3);
        stage_close(&s);
    }
}

/* ---- what a way that was tried passes by ---- */

/* A box comes straight down on a platform; impulses that were tried would throw it over the edge. Its
 * contacts stay, for once they are there it may well come down. */
static void test_tried_ways_leave_contacts(void **unused) {
    (void)unused;
    for (int d = 2; d <= 3; d++) {
        const double h = 1.0 / 60, at[3] = {-2, -2, 0}, x[3] = {-0.1, 0.26, 0}, down[3] = {0, -2, 0};
        double points[12], side[12];
        stage s = stage_open(d, 0, 0, 0, 0);
        dls_shape_def platform = block(d, 2, 2, points), box = block(d, 0.25, 0.25, side);
        stage_add_shape(&s, DLS_STATIC, &platform, at, NULL, NULL);
        stage_add_shape(&s, DLS_DYNAMIC, &box, x, down, NULL);
        stage_start(&s, NULL, 0);
        dls_body_state tried[2] = {s.world->states[0], s.world->states[1]};
        int row = s.world->bodies[0].motion == DLS_DYNAMIC ? 0 : 1;
        vec_set(tried[row].v, 60, -0.7, 0);
        dls_collider *collider = dls_collider_create();
        dls_collide_options o = {.margin = 0.02, .h = h, .threads = 1, .follow = true};
        assert_int_equal(dls_collider_update(collider, s.world, &o, NULL), DLS_OK);
        int count = dls_collider_count(collider);
        o.tried = tried;
        assert_int_equal(dls_collider_update(collider, s.world, &o, NULL), DLS_OK);
        assert_true(count > 0);
        assert_int_equal(dls_collider_count(collider), count);
        dls_collider_destroy(collider);
        stage_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_bodies_need_one_look),
        cmocka_unit_test(test_tried_ways_leave_contacts),
        cmocka_unit_test(test_no_impulse_beyond_a_face),
        cmocka_unit_test(test_edge_is_hit),
        cmocka_unit_test(test_no_bullet_passes_a_slab),
        cmocka_unit_test(test_nothing_is_driven_through_a_wall),
        cmocka_unit_test(test_second_bullet_is_stopped_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
