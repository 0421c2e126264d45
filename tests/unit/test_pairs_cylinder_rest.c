/* Cylinders that stand, lie and lean: enough contacts in the right places, the same from step to step;
 * planes, containers and meshes. */
#include "support/placed.h"
#include "support/scale.h"

#define PI 3.14159265358979323846

static const double upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const double lying[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0}; /* axis along x */

static placed_body cylinder(double radius, double length) {
    dls_shape_def def = dls_default_shape_def(DLS_CYLINDER);
    def.radius = radius, def.length = length;
    return placed_from(&def);
}

static placed_body box(dls_shape_kind kind, double x, double y, double z) {
    dls_shape_def def = dls_default_shape_def(kind);
    vec_set(def.size, x, y, z);
    return placed_from(&def);
}

static placed_body of_kind(dls_shape_kind kind, double radius, double length) {
    dls_shape_def def = dls_default_shape_def(kind);
    def.radius = radius, def.length = length;
    return placed_from(&def);
}

static void about_z(double angle, const double *start, double *R) {
    double c = cos(angle), s = sin(angle), Z[9] = {c, s, 0, -s, c, 0, 0, 0, 1};
    mat_multiply(R, Z, start);
}

static void lean(double angle, double towards, double *R) {
    double a[3] = {-angle * sin(towards), angle * cos(towards), 0}, q[4];
    quat_exponential(q, a);
    quat_matrix(q, R);
}

/* Whether the points, seen from above, surround (x, y) by at least `room` on every side. */
static bool surrounds(const placed_contacts *c, double x, double y, double room) {
    for (int k = 0; k < 360; k++) {
        double cx = cos(k * PI / 180), cy = sin(k * PI / 180), most = -1e300;
        for (int i = 0; i < c->m.count; i++)
            most = fmax(most, cx * (c->m.point[i].point_a[0] - x) + cy * (c->m.point[i].point_a[1] - y));
        if (most < room) return false;
    }
    return true;
}

/* ---- resting ---- */

typedef struct rest {
    const char *name;
    placed_body a, b;
    double xa[3], Ra[9], xb[3], Rb[9];
    int least;   /* contacts at least */
    double room; /* that the contacts must leave around the centre of A; < 0: it lies on a line */
} rest;

static void jiggle(dls_random *g, double size, const double *x, const double *R, placed_body *b) {
    double y[3], S[9], T[9], a[3], q[4];
    for (int i = 0; i < 3; i++) y[i] = x[i] + size * dls_random_normal(g), a[i] = size * dls_random_normal(g);
    quat_exponential(q, a);
    quat_matrix(q, S);
    mat_multiply(T, S, R);
    placed_at(b, y, T);
}

/* Under pose noise features stay, places stay (a rim beside an edge moves by the root of the noise), normals
 * point down, gaps are those of the rest. */
static void check_rest(rest *r) {
    placed_contacts out = {.m = {.count = 0}};
    uint64_t feature[32];
    double place[32][3];
    dls_random g = {7};
    placed_at(&r->a, r->xa, r->Ra);
    placed_at(&r->b, r->xb, r->Rb);
    placed_collide(&r->a, &r->b, 1e-3, &out);
    placed_check(&out, 1e-3);
    int count = out.m.count;
    if (count < r->least || count > 32) fail_msg("%s: %d contacts, expected %d", r->name, count, r->least);
    for (int k = 0; k < count; k++) {
        feature[k] = out.m.point[k].feature;
        vec_copy(place[k], out.m.point[k].point_a);
    }
    if (r->room >= 0 && !surrounds(&out, r->xa[0], r->xa[1], r->room))
        fail_msg("%s: contacts do not surround the centre", r->name);
    for (int step = 0; step < scaled(2000, 100); step++) {
        double size = step % 2 ? 1e-9 : 1e-12;
        jiggle(&g, size, r->xa, r->Ra, &r->a);
        jiggle(&g, size, r->xb, r->Rb, &r->b);
        placed_collide(&r->a, &r->b, 1e-3, &out);
        if (out.m.count != count)
            fail_msg("%s: %d contacts instead of %d in step %d", r->name, out.m.count, count, step);
        for (int k = 0; k < count; k++) {
            const dls_contact_point *c = &out.m.point[k];
            if (c->feature != feature[k]) fail_msg("%s: feature changed in step %d", r->name, step);
            if (!(vec_distance(c->point_a, place[k]) < 1e-4 && fabs(c->gap) < 1e-7 &&
                  c->normal[2] < -1 + 1e-12))
                fail_msg("%s: contact %d moved by %g, gap %g, normal z %.15g in step %d", r->name, k,
                         vec_distance(c->point_a, place[k]), c->gap, c->normal[2], step);
        }
    }
    placed_contacts_free(&out);
    dls_shape_release(&r->a.shape);
    dls_shape_release(&r->b.shape);
}

static rest resting(const char *name, placed_body a, const double *Ra, placed_body b, const double *Rb,
                    double dx, double dy, double height, int least, double room) {
    rest r = {.name = name, .a = a, .b = b, .xa = {dx, dy, height}, .least = least, .room = room};
    memcpy(r.Ra, Ra, sizeof r.Ra);
    memcpy(r.Rb, Rb, sizeof r.Rb);
    return r;
}

static void test_standing(void **state) {
    (void)state;
    double yaw[9];
    about_z(0.4, upright, yaw);
    rest cases[] = {
        resting("on a half-space", cylinder(0.5, 2), yaw, of_kind(DLS_HALF_SPACE, 0, 0), upright, 3, 4, 1, 3,
                0.2),
        resting("on a box", cylinder(0.5, 2), yaw, box(DLS_BOX, 2, 2, 1), upright, 0.2, 0.1, 1.5, 3, 0.2),
        resting("over an edge", cylinder(0.5, 2), yaw, box(DLS_BOX, 2, 2, 1), upright, 0.9, 0.1, 1.5, 4,
                0.09),
        resting("over a corner", cylinder(0.5, 2), yaw, box(DLS_BOX, 2, 2, 1), upright, 0.9, 0.8, 1.5, 4,
                0.05),
        resting("on a post", cylinder(0.5, 2), upright, box(DLS_BOX, 0.4, 0.3, 1), upright, 0, 0, 1.5, 4,
                0.14),
        resting("rim along edges", cylinder(0.5, 2), upright, box(DLS_BOX, 1, 1, 1), upright, 0, 0, 1.5, 3,
                0.2),
        resting("on its equal", cylinder(0.5, 2), yaw, cylinder(0.5, 2), upright, 0, 0, 2, 3, 0.2),
        resting("on a wider one", cylinder(0.5, 2), yaw, cylinder(0.8, 2), upright, 0.1, 0, 2, 3, 0.2),
        resting("on a narrower one", cylinder(0.8, 2), yaw, cylinder(0.5, 2), upright, 0.1, 0, 2, 3, 0.14),
        resting("beside the middle", cylinder(0.5, 2), yaw, cylinder(0.5, 2), upright, 0.4, 0.1, 2, 4, 0.08),
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check_rest(&cases[k]);
}

static void test_lying(void **state) {
    (void)state;
    double yaw[9];
    about_z(0.4, lying, yaw);
    rest cases[] = {
        resting("on a half-space", cylinder(0.5, 2), yaw, of_kind(DLS_HALF_SPACE, 0, 0), upright, 3, 4, 0.5,
                2, -1),
        resting("on a box", cylinder(0.5, 1), yaw, box(DLS_BOX, 2, 2, 1), upright, 0.1, 0.2, 1, 2, -1),
        resting("across a box", cylinder(0.5, 4), yaw, box(DLS_BOX, 2, 2, 1), upright, 0.1, 0.2, 1, 2, -1),
        resting("as long as a box", cylinder(0.5, 2), lying, box(DLS_BOX, 2, 2, 1), upright, 0, 0, 1, 2, -1),
        resting("along a parallel one", cylinder(0.5, 2), lying, cylinder(0.3, 3), lying, 0.2, 0, 0.8, 2, -1),
        resting("along its equal", cylinder(0.5, 2), lying, cylinder(0.5, 2), lying, 0, 0, 1, 2, -1),
        resting("on a cap", cylinder(0.5, 3), yaw, cylinder(0.7, 1), upright, 0.1, 0.1, 1, 2, -1),
        resting("along a capsule", cylinder(0.5, 2), lying, of_kind(DLS_CAPSULE, 0.3, 1), lying, 0.1, 0, 0.8,
                2, -1),
        resting("its cap on a capsule", cylinder(0.5, 2), upright, of_kind(DLS_CAPSULE, 0.3, 3), lying, 0.1,
                0.1, 1.3, 2, -1),
        resting("its cap on a cylinder", cylinder(0.5, 2), upright, cylinder(0.3, 3), lying, 0.1, 0.1, 1.3, 2,
                -1),
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check_rest(&cases[k]);
}

/* A leaning cylinder on a box has what it has on a half-space, as long as all of it is above the face. */
static void test_leaning(void **state) {
    (void)state;
    dls_random g = {11};
    placed_body ground = of_kind(DLS_HALF_SPACE, 0, 0), table = box(DLS_BOX, 20, 20, 2),
                a = cylinder(0.5, 1.5);
    double top[3] = {0, 0, 0}, middle[3] = {0, 0, -1};
    placed_at(&ground, top, upright);
    placed_at(&table, middle, upright);
    placed_contacts on_ground = {.m = {.count = 0}}, on_table = {.m = {.count = 0}};
    for (int k = 0; k < scaled(10000, 100); k++) {
        double R[9], x[3], tilt = pow(10, dls_random_between(&g, -8, 0.19)), c = cos(tilt), s = sin(tilt);
        lean(tilt, dls_random_between(&g, 0, 2 * PI), R);
        double low = 0.75 * c + 0.5 * s, gap = dls_random_between(&g, -0.01, 0.01);
        vec_set(x, dls_random_between(&g, -5, 5), dls_random_between(&g, -5, 5), low + gap);
        placed_at(&a, x, R);
        memset(&on_ground.memory, 0, sizeof on_ground.memory);
        memset(&on_table.memory, 0, sizeof on_table.memory);
        placed_collide(&a, &ground, 0.02, &on_ground);
        placed_collide(&a, &table, 0.02, &on_table);
        placed_check(&on_ground, 0.02);
        placed_check(&on_table, 0.02);
        double slack = tilt < 1.01e-6 ? 2e-6 : 1e-9;
        assert_true(fabs(placed_deepest(&on_ground)->gap - gap) < slack);
        assert_true(fabs(placed_deepest(&on_table)->gap - gap) < slack);
        assert_true(placed_deepest(&on_table)->normal[2] < -1 + 1e-12);
        if (tilt < 0.19) assert_int_equal(on_ground.m.count, on_table.m.count);
    }
    placed_contacts_free(&on_ground);
    placed_contacts_free(&on_table);
    dls_shape_release(&ground.shape);
    dls_shape_release(&table.shape);
    dls_shape_release(&a.shape);
}

/* ---- containers ---- */

/* Least distance of the rims' points from the wall: dense samples, then ever finer ones around the best. */
static double wall_gap(const placed_body *a, double radius, double half) {
    double best = 1e300;
    for (int cap = -1; cap < 2; cap += 2)
        for (int start = 0; start < 8; start++) {
            double middle = start * PI / 4, reach = PI / 4, least = 1e300;
            for (int level = 0; level < 13; level++, reach *= 0.25) {
                double at = middle;
                for (int k = -10; k <= 10; k++) {
                    double t = middle + reach * k / 10, h = cap * a->shape.length / 2;
                    double p[3] = {a->shape.radius * cos(t), a->shape.radius * sin(t), h};
                    mat_apply(p, a->placed.R, p);
                    vec_add(p, p, a->placed.x);
                    double gap = fmin(radius - hypot(p[0], p[1]), half > 0 ? half - fabs(p[2]) : 1e300);
                    if (gap < least) least = gap, at = t;
                }
                middle = at;
            }
            best = fmin(best, least);
        }
    return best;
}

static void test_inside_cylinder(void **state) {
    (void)state;
    dls_random g = {21};
    placed_contacts out = {.m = {.count = 0}};
    double origin[3] = {0, 0, 0};
    for (int k = 0; k < scaled(10000, 100); k++) {
        double length = k % 2 ? 3 : 0, R[9], x[3];
        placed_body a = cylinder(dls_random_between(&g, 0.1, 0.8), dls_random_between(&g, 0.1, 1.5));
        placed_body b = of_kind(DLS_CYLINDER_INSIDE, 1.5, length);
        placed_turn(&g, R);
        if (k % 7 == 0) memcpy(R, upright, sizeof R);
        if (k % 7 == 1) memcpy(R, lying, sizeof R);
        for (int i = 0; i < 3; i++) x[i] = dls_random_between(&g, -0.9, 0.9);
        if (k % 11 == 0) x[1] = 0;
        placed_at(&a, x, R);
        placed_at(&b, origin, upright);
        memset(&out.memory, 0, sizeof out.memory);
        placed_collide(&a, &b, 10, &out);
        placed_check(&out, 10);
        double gap = wall_gap(&a, 1.5, length / 2);
        if (!(fabs(placed_deepest(&out)->gap - gap) < 1e-9))
            fail_msg("pose %d: gap %.15g, brute force %.15g", k, placed_deepest(&out)->gap, gap);
        dls_shape_release(&a.shape);
        dls_shape_release(&b.shape);
    }
    placed_contacts_free(&out);
}

/* A coin flat across the trough of a drum touches at both ends of its diameter; a rod lies on a line. */
static void test_trough(void **state) {
    (void)state;
    placed_contacts out = {.m = {.count = 0}};
    placed_body drum = of_kind(DLS_CYLINDER_INSIDE, 1, 0), coin = cylinder(0.6, 0.1), rod = cylinder(0.2, 1);
    double origin[3] = {0, 0, 0};
    placed_at(&drum, origin, lying); /* axis along x */
    double x[3] = {0, 0, -sqrt(1 - 0.36) + 0.05};
    placed_at(&coin, x, upright);
    placed_collide(&coin, &drum, 1e-3, &out);
    placed_check(&out, 1e-3);
    assert_int_equal(out.m.count, 2);
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(out.m.point[k].gap) < 1e-12);
        assert_true(fabs(fabs(out.m.point[k].point_a[1]) - 0.6) < 1e-9);
    }
    vec_set(x, 0.3, 0, -0.8);
    placed_at(&rod, x, lying);
    memset(&out.memory, 0, sizeof out.memory);
    placed_collide(&rod, &drum, 1e-3, &out);
    assert_int_equal(out.m.count, 2);
    assert_true(fabs(out.m.point[0].point_a[0] - out.m.point[1].point_a[0]) > 0.99);
    placed_contacts_free(&out);
    dls_shape_release(&drum.shape);
    dls_shape_release(&coin.shape);
    dls_shape_release(&rod.shape);
}

static void test_inside_box(void **state) {
    (void)state;
    dls_random g = {31};
    placed_contacts out = {.m = {.count = 0}};
    placed_body walls = box(DLS_BOX_INSIDE, 3, 4, 5), a = cylinder(0.5, 1.2);
    double origin[3] = {0.5, 0.2, -0.1}, half[3] = {1.5, 2, 2.5}, frame[9];
    placed_turn(&g, frame);
    placed_at(&walls, origin, frame);
    for (int k = 0; k < scaled(10000, 100); k++) {
        double R[9], local[3], x[3], gap = 1e300;
        placed_turn(&g, R);
        for (int i = 0; i < 3; i++) local[i] = dls_random_between(&g, -half[i] + 0.3, half[i] - 0.3);
        mat_apply(x, frame, local);
        vec_add(x, x, origin);
        placed_at(&a, x, R);
        for (int i = 0; i < 3; i++) { /* reach along the walls' normals */
            double z = vec_dot(frame + 3 * i, R + 6), reach = 0.6 * fabs(z) + 0.5 * sqrt(1 - z * z);
            gap = fmin(gap, half[i] - fabs(local[i]) - reach);
        }
        memset(&out.memory, 0, sizeof out.memory);
        placed_collide(&a, &walls, 10, &out);
        placed_check(&out, 10);
        assert_true(fabs(placed_deepest(&out)->gap - gap) < 1e-9);
    }
    placed_contacts_free(&out);
    dls_shape_release(&walls.shape);
    dls_shape_release(&a.shape);
}

/* ---- odd poses: always finite, always a contact where shapes overlap ---- */

static void test_degenerate(void **state) {
    (void)state;
    placed_contacts out = {.m = {.count = 0}};
    double origin[3] = {0, 0, 0}, above[3] = {0, 0, 0.3}, aside[3] = {0.2, 0, 0};
    const double *places[3] = {origin, above, aside};
    const double *turns[2] = {upright, lying};
    placed_body partner[] = {
        of_kind(DLS_SPHERE, 0.4, 0), of_kind(DLS_CAPSULE, 0.3, 0.8), cylinder(0.5, 1), cylinder(0.2, 3),
        box(DLS_BOX, 1, 1, 1),       of_kind(DLS_CAPSULE, 0.3, 2)};
    placed_body a = cylinder(0.5, 1);
    for (size_t which = 0; which < sizeof partner / sizeof *partner; which++) {
        for (int k = 0; k < 12; k++) {
            placed_body *b = &partner[which];
            placed_at(&a, origin, turns[k % 2]);
            placed_at(b, places[k / 4], turns[k / 2 % 2]);
            memset(&out.memory, 0, sizeof out.memory);
            placed_collide(&a, b, 1e-3, &out);
            placed_check(&out, 1e-3);
            assert_true(out.m.count > 0);
            for (int i = 0; i < out.m.count; i++) {
                assert_true(isfinite(vec_norm(out.m.point[i].point_a) + vec_norm(out.m.point[i].point_b)));
                assert_true(out.m.point[i].gap > -3);
            }
            assert_true(placed_deepest(&out)->gap < 0);
        }
        dls_shape_release(&partner[which].shape);
    }
    dls_shape_release(&a.shape);
    placed_contacts_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standing),   cmocka_unit_test(test_lying),
        cmocka_unit_test(test_leaning),    cmocka_unit_test(test_inside_cylinder),
        cmocka_unit_test(test_trough),     cmocka_unit_test(test_inside_box),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests_name("pairs_cylinder_rest", tests, NULL, NULL);
}
