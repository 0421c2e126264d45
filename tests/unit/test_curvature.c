/* Contacts to second order: the turning normal, the rate of the gap and what bends it, against differences of
 * the pair functions along smooth motions of both bodies. */
#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "collide/curvature.h"
#include "support/near.h"

#include <math.h>
#include <string.h>

typedef struct moving {
    dls_shape shape;
    double x[3], v[3], a[3], q[4], w[3];
} moving;

static dls_shape shape_of(dls_shape_def def) {
    dls_shape shape;
    dls_error error;
    if (dls_shape_create(&def, dls_shape_kind_is_planar(def.kind) ? 2 : 3, &shape, &error))
        fail_msg("%s", error.message);
    return shape;
}

static dls_shape_def def_of(dls_shape_kind kind, double radius, double length, double x, double y, double z) {
    dls_shape_def def = dls_default_shape_def(kind);
    def.radius = radius, def.length = length;
    vec_set(def.size, x, y, z);
    return def;
}

static dls_placed placed_at(const moving *m, double t) {
    dls_placed p = {.shape = &m->shape};
    double turn[3], dq[4], q[4];
    vec_along(p.x, m->x, t, m->v);
    vec_along(p.x, p.x, t * t / 2, m->a);
    vec_scale(turn, t, m->w);
    quat_exponential(dq, turn);
    quat_multiply(q, dq, m->q);
    quat_matrix(q, p.R);
    return p;
}

/* The nearest contact of two shapes at time t, A before B. */
static dls_contact_point contact_at(const moving m[2], double t) {
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(m[0].shape.kind, m[1].shape.kind, &swapped);
    dls_placed a = placed_at(&m[0], t), b = placed_at(&m[1], t);
    dls_pair_memory memory = {.used = 0};
    dls_manifold manifold = {.count = 0};
    assert_non_null(row);
    row->collide(swapped ? &b : &a, swapped ? &a : &b, 0.5, &memory, NULL, 0, &manifold);
    assert_true(manifold.count > 0);
    dls_contact_point nearest = manifold.point[0], point;
    for (int k = 1; k < manifold.count; k++)
        if (manifold.point[k].gap < nearest.gap) nearest = manifold.point[k];
    point = nearest;
    if (swapped) {
        vec_copy(point.point_a, nearest.point_b);
        vec_copy(point.point_b, nearest.point_a);
        vec_scale(point.normal, -1, point.normal);
    }
    dls_free(manifold.point);
    return point;
}

static dls_side_motion motion_of(const moving *m, const double *point) {
    dls_side_motion motion;
    double arm[3], turn[3];
    vec_sub(arm, point, m->x);
    vec_cross(turn, m->w, arm);
    vec_add(motion.v, m->v, turn);
    vec_copy(motion.w, m->w);
    vec_cross(motion.a, m->w, turn);
    vec_add(motion.a, motion.a, m->a);
    return motion;
}

static void check(const char *name, const moving m[2], double tolerance) {
    const double dt = 1e-3;
    dls_contact_point at[5], now; /* five in a row: differences of fourth order */
    for (int k = 0; k < 5; k++) at[k] = contact_at(m, (k - 2) * dt);
    now = at[2];
    double inward[3];
    dls_curvature side[2];
    dls_contact_motion got;
    vec_scale(inward, -1, now.normal);
    dls_placed a = placed_at(&m[0], 0), b = placed_at(&m[1], 0);
    assert_true(dls_curvature_at(&m[0].shape, a.x, a.R, now.point_a, now.normal, &side[0]));
    assert_true(dls_curvature_at(&m[1].shape, b.x, b.R, now.point_b, inward, &side[1]));
    const dls_side_motion motion[2] = {motion_of(&m[0], now.point_a), motion_of(&m[1], now.point_b)};
    if (!dls_contact_moves(side, now.normal, now.gap, motion, &got)) fail_msg("%s: no motion", name);
    dls_contact_motion alike;
    if (dls_contact_moves_alike(side, now.normal, now.gap, motion, &alike))
        for (int k = 0; k < 3; k++) {
            assert_near(alike.nu[k], got.nu[k], 1e-12);
            assert_near(alike.slide[0][k], got.slide[0][k], 1e-12);
            assert_near(alike.slide[1][k], got.slide[1][k], 1e-12);
            assert_near(alike.bend, got.bend, 1e-11);
        }
    double rate = (8 * (at[3].gap - at[1].gap) - at[4].gap + at[0].gap) / (12 * dt);
    double bend = (16 * (at[3].gap + at[1].gap) - at[4].gap - at[0].gap - 30 * now.gap) / (12 * dt * dt);
    if (fabs(got.rate - rate) > tolerance || fabs(got.bend - bend) > tolerance)
        fail_msg("%s: rate %.9g, by differences %.9g; bend %.9g, by differences %.9g", name, got.rate, rate,
                 got.bend, bend);
    for (int k = 0; k < 3; k++) {
        double nu = (8 * (at[3].normal[k] - at[1].normal[k]) - at[4].normal[k] + at[0].normal[k]) / (12 * dt);
        if (fabs(got.nu[k] - nu) > tolerance)
            fail_msg("%s: ν_%d %.9g, by differences %.9g", name, k, got.nu[k], nu);
    }
}

static void give_motion(dls_random *g, moving *m, bool planar) {
    for (int k = 0; k < 3; k++) {
        m->v[k] = 0.5 * dls_random_normal(g);
        m->w[k] = 0.8 * dls_random_normal(g);
        m->a[k] = dls_random_normal(g);
    }
    if (planar) m->v[2] = m->a[2] = m->w[0] = m->w[1] = 0;
}

/* A at the origin, B at x with its frame turned by the vector r. */
static void check_pair(const char *name, dls_shape_def a, dls_shape_def b, const double *x, const double *r,
                       double tolerance) {
    dls_random g = {99};
    for (int trial = 0; trial < 20; trial++) {
        moving m[2] = {{.shape = shape_of(a), .q = {1, 0, 0, 0}}, {.shape = shape_of(b)}};
        bool planar = dls_shape_kind_is_planar(a.kind);
        double q[4], turn[3], R[9];
        quat_exponential(m[1].q, r);
        vec_copy(m[1].x, x);
        give_motion(&g, &m[0], planar);
        give_motion(&g, &m[1], planar);
        /* all of it turned at random */
        for (int k = 0; k < 3; k++) turn[k] = planar && k < 2 ? 0 : dls_random_normal(&g);
        quat_exponential(q, turn);
        quat_matrix(q, R);
        for (int i = 0; i < 2; i++) {
            mat_apply(m[i].x, R, m[i].x);
            quat_multiply(m[i].q, q, m[i].q);
        }
        check(name, m, tolerance);
        for (int i = 0; i < 2; i++) dls_shape_release(&m[i].shape);
    }
}

#define AT(...)                                                                                              \
    (const double[3]) { __VA_ARGS__ }

static void test_smooth_pairs(void **state) {
    (void)state;
    const dls_shape_def ball = def_of(DLS_SPHERE, 0.4, 0, 0, 0, 0),
                        small = def_of(DLS_SPHERE, 0.25, 0, 0, 0, 0);
    const dls_shape_def egg = def_of(DLS_ELLIPSOID, 0, 0, 0.5, 0.35, 0.25);
    const dls_shape_def floor = dls_default_shape_def(DLS_HALF_SPACE);
    const dls_shape_def pill = def_of(DLS_CAPSULE, 0.2, 0.8, 0, 0, 0);
    const dls_shape_def can = def_of(DLS_CYLINDER, 0.3, 0.6, 0, 0, 0);
    const dls_shape_def tube = def_of(DLS_CYLINDER_INSIDE, 1, 0, 0, 0, 0);
    const double none[3] = {0, 0, 0};
    check_pair("ball on ball", ball, small, AT(0.5, 0.3, 0.4), none, 1e-6);
    check_pair("ball on floor", floor, ball, AT(0.1, 0.2, 0.45), none, 1e-6);
    check_pair("ball in tube", tube, small, AT(0.5, 0.45, 0.1), none, 1e-6);
    check_pair("ball at the floor of a tube", tube, small, AT(0.71, 0.05, 0.1), none, 1e-6);
    check_pair("egg on floor", floor, egg, AT(0, 0, 0.45), AT(0.7, 0.4, 0.2), 1e-4);
    check_pair("egg on ball", ball, egg, AT(0.5, 0.4, 0.4), AT(0.3, 0.9, -0.5), 1e-4);
    check_pair("egg on egg", egg, egg, AT(0.5, 0.4, 0.45), AT(0.3, 0.9, -0.5), 1e-4);
    check_pair("ball beside a pill", pill, small, AT(0.4, 0.2, 0.1), none, 1e-6);
    check_pair("ball at the end of a pill", pill, small, AT(0.3, 0.2, 0.6), none, 1e-6);
    check_pair("crossed pills", pill, pill, AT(0.45, 0, 0.05), AT(1.2, 0, 0), 1e-6);
    check_pair("end of a pill on floor", floor, pill, AT(0, 0, 0.55), AT(0.6, 0, 0), 1e-6);
    check_pair("rim of a can on floor", floor, can, AT(0, 0, 0.45), AT(0.5, 0, 0), 1e-4);
    check_pair("ball beside a can", can, small, AT(0.5, 0.3, 0.1), none, 1e-6);
    check_pair("ball on a can", can, small, AT(0.1, 0.05, 0.6), none, 1e-6);
}

static void test_hulls(void **state) {
    (void)state;
    const dls_shape_def box = def_of(DLS_BOX, 0, 0, 0.8, 0.6, 0.5),
                        ball = def_of(DLS_SPHERE, 0.25, 0, 0, 0, 0);
    const double none[3] = {0, 0, 0};
    check_pair("ball on a face", box, ball, AT(0.1, 0.05, 0.55), none, 1e-6);
    check_pair("ball at an edge", box, ball, AT(0.1, 0.45, 0.42), none, 1e-6);
    check_pair("ball at a corner", box, ball, AT(0.55, 0.4, 0.35), none, 1e-6);
}

static void test_planar_pairs(void **state) {
    (void)state;
    const dls_shape_def disc = def_of(DLS_DISC, 0.3, 0, 0, 0, 0), drum = def_of(DLS_DRUM, 1, 0, 0, 0, 0);
    const dls_shape_def ground = dls_default_shape_def(DLS_HALF_PLANE);
    const double none[3] = {0, 0, 0};
    check_pair("disc on disc", disc, disc, AT(0.5, 0.4, 0), none, 1e-6);
    check_pair("disc on ground", ground, disc, AT(0.2, 0.4, 0), none, 1e-6);
    check_pair("disc in a drum", drum, disc, AT(0.4, 0.45, 0), none, 1e-6);
}

/* Two faces, and two corners, leave open where the contact goes. */
static void test_open_motion(void **state) {
    (void)state;
    dls_curvature face = {.axis = {{1, 0, 0}, {0, 1, 0}}, .P = {0, 0}, .Q = {1, 1}};
    dls_curvature corner = {.axis = {{1, 0, 0}, {0, 1, 0}}, .P = {1, 1}, .Q = {0, 0}};
    const dls_curvature faces[2] = {face, face}, corners[2] = {corner, corner}, both[2] = {face, corner};
    const double n[3] = {0, 0, 1};
    const dls_side_motion motion[2] = {{.v = {0}}, {.v = {1, 0, 0}}};
    dls_contact_motion out;
    assert_false(dls_contact_moves(faces, n, 0, motion, &out));
    assert_false(dls_contact_moves(corners, n, 0, motion, &out));
    assert_true(dls_contact_moves(both, n, 0, motion, &out));
    assert_false(dls_contact_moves_alike(faces, n, 0, motion, &out));
    assert_false(dls_contact_moves_alike(corners, n, 0, motion, &out));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_smooth_pairs), cmocka_unit_test(test_hulls),
                                       cmocka_unit_test(test_planar_pairs),
                                       cmocka_unit_test(test_open_motion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
