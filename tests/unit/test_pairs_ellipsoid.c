/* Ellipsoids against every other shape: contacts planted with a known normal, and brute force. */
#include "base/memory.h"
#include "base/vector.h"
#include "collide/ellipsoid/ellipsoid.h"
#include "support/scale.h"
#include "support/solid.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { CONVEX_KINDS = 6 };
static const dls_shape_kind convex_kinds[CONVEX_KINDS] = {DLS_SPHERE, DLS_CAPSULE,    DLS_ELLIPSOID,
                                                          DLS_BOX,    DLS_POLYHEDRON, DLS_CYLINDER};

/* ---- asking the table ---- */

typedef struct answer {
    dls_manifold manifold;
    dls_pair_memory memory;
} answer;

/* Always with the ellipsoid as A, as its rows have it. */
static const dls_contact_point *ask(answer *a, solid *e, solid *c, double margin) {
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(DLS_ELLIPSOID, c->shape.kind, &swapped);
    assert_non_null(row);
    assert_false(swapped);
    a->manifold.count = 0;
    row->collide(solid_at(e), solid_at(c), margin, &a->memory, NULL, 0, &a->manifold);
    return a->manifold.count ? a->manifold.point : NULL;
}

static void forget(answer *a) { memset(&a->memory, 0, sizeof a->memory); }
static void done(answer *a) { dls_free(a->manifold.point); }

static double shortest_axis(const solid *e) {
    return fmin(e->shape.size[0], fmin(e->shape.size[1], e->shape.size[2]));
}
static double longest_axis(const solid *e) {
    return fmax(e->shape.size[0], fmax(e->shape.size[1], e->shape.size[2]));
}

/* Overlap within which the deepest point is unique, at most 10 % of the shortest axis. */
static double allowed_depth(const solid *e) {
    double s = shortest_axis(e);
    return s * fmin(0.1, 0.9 * s / longest_axis(e));
}

static void check_near(const char *what, double found, double wanted, double tolerance, int kind, int round) {
    if (!(fabs(found - wanted) <= tolerance))
        fail_msg("%s of ellipsoid and %s, pose %d: %.17g, expected %.17g, off by %.3g", what,
                 dls_shape_kind_name((dls_shape_kind)kind), round, found, wanted, found - wanted);
}

static void check_normal(const double *found, const double *wanted, double tolerance, int kind, int round) {
    check_near("normal", vec_distance(found, wanted), 0, tolerance, kind, round);
}

/* point_a on the ellipsoid's surface with that normal, gap = n · (point_b − point_a) along n. */
static void check_points(const solid *e, const dls_contact_point *c, int kind, int round) {
    double d[3], n[3], m[3], sum = 0;
    vec_sub(d, c->point_a, e->at.x);
    mat_apply_transposed(d, e->at.R, d);
    mat_apply_transposed(n, e->at.R, c->normal);
    for (int i = 0; i < 3; i++) {
        double s = e->shape.size[i];
        sum += d[i] * d[i] / (s * s);
        m[i] = d[i] / (s * s);
    }
    vec_scale(m, 1 / vec_norm(m), m);
    check_near("|B(point_a − c)|", sqrt(sum), 1, 1e-12, kind, round);
    check_near("normal at point_a", vec_distance(m, n), 0, 1e-11, kind, round);
    vec_along(d, c->point_a, c->gap, c->normal);
    check_near("point_b", vec_distance(d, c->point_b), 0, 1e-14, kind, round);
}

static void jog(dls_random *g, solid *c, double size) {
    double turn[3], shift[3], q[4], Q[9], R[9];
    random_unit(g, turn);
    random_unit(g, shift);
    vec_scale(turn, size, turn);
    quat_exponential(q, turn);
    quat_matrix(q, Q);
    mat_multiply(R, Q, c->at.R);
    memcpy(c->at.R, R, sizeof R);
    vec_along(c->at.x, c->at.x, size, shift);
}

/* Both moved as one. */
static void move_both(dls_random *g, solid *e, solid *c, double *Q) {
    double shift[3], R[9];
    random_turn(g, Q);
    random_unit(g, shift);
    for (int k = 0; k < 2; k++) {
        solid *body = k ? c : e;
        mat_multiply(R, Q, body->at.R);
        memcpy(body->at.R, R, sizeof R);
        mat_apply(body->at.x, Q, body->at.x);
        vec_add(body->at.x, body->at.x, shift);
    }
}

/* ---- planted contacts ---- */

/* Places c so that its point with normal −n lies gap beyond the ellipsoid's point with normal n. */
static void plant(dls_random *g, const solid *e, solid *c, double gap, double *n) {
    double m[3], x[3], y[3];
    solid_random_normal(c, g, m);
    vec_scale(n, -1, m);
    solid_support(e, n, g, x);
    solid_support(c, m, g, y);
    for (int i = 0; i < 3; i++) c->at.x[i] += x[i] + gap * n[i] - y[i];
}

static void check_planted(dls_random *g, dls_shape_kind kind, int round) {
    answer a = {.manifold = {0}};
    solid e = random_solid(g, DLS_ELLIPSOID, 1);
    solid c = random_solid(g, kind, pow(4, dls_random_between(g, -1, 1)));
    double n[3], Q[9], margin = 0.1, depth = allowed_depth(&e);
    double gap = round % 4 == 0 ? 0 : dls_random_between(g, -depth, margin);
    random_unit(g, e.at.x);
    plant(g, &e, &c, gap, n);
    const dls_contact_point *p = ask(&a, &e, &c, margin);
    if (!p) fail_msg("no contact with %s, pose %d", dls_shape_kind_name(kind), round);
    assert_int_equal(a.manifold.count, 1);
    check_near("gap", p->gap, gap, 1e-12, (int)kind, round);
    check_normal(p->normal, n, 1e-9, (int)kind, round);
    check_points(&e, p, (int)kind, round);
    uint64_t feature = p->feature;
    /* warm, at the same place and a little further along n */
    double move = dls_random_between(g, 0, 0.1);
    vec_along(c.at.x, c.at.x, move, n);
    p = ask(&a, &e, &c, 1);
    assert_non_null(p);
    check_near("gap after a shift", p->gap, gap + move, 1e-12, (int)kind, round);
    check_normal(p->normal, n, 1e-9, (int)kind, round);
    assert_true(p->feature == feature);
    for (int k = 0; k < 2; k++, forget(&a))
        if ((p = ask(&a, &e, &c, gap + move - 1e-9)))
            fail_msg("a contact beyond the margin with %s, pose %d: gap %.17g", dls_shape_kind_name(kind),
                     round, p->gap - gap - move);
    /* both moved as one, from what is remembered of before */
    p = ask(&a, &e, &c, 1);
    assert_non_null(p);
    move_both(g, &e, &c, Q);
    mat_apply(n, Q, n);
    p = ask(&a, &e, &c, 1);
    assert_non_null(p);
    check_near("gap after a motion", p->gap, gap + move, 1e-12, (int)kind, round);
    check_normal(p->normal, n, 1e-9, (int)kind, round);
    done(&a);
    solid_free(&e);
    solid_free(&c);
}

static void test_planted(void **state) {
    (void)state;
    dls_random g = {17};
    int rounds = scaled(10000, 100);
    for (int k = 0; k < CONVEX_KINDS; k++)
        for (int round = 0; round < rounds; round++) check_planted(&g, convex_kinds[k], round);
}

/* ---- brute force ---- */

/* Placed so that the gap along a random direction, not the least one, is given. */
static void place_near(dls_random *g, const solid *e, solid *c, double gap) {
    double n[3], m[3], x[3], y[3];
    random_unit(g, n);
    vec_scale(m, -1, n);
    solid_support(e, n, g, x);
    solid_support(c, m, g, y);
    double lift = gap - (vec_dot(n, y) - vec_dot(n, x));
    vec_along(c->at.x, c->at.x, lift, n);
    vec_along(c->at.x, c->at.x, 0.3, m);
    random_unit(g, m);
    vec_along(c->at.x, c->at.x, 0.3, m);
}

/* What was asked cold and warm agrees with the reference. Skips poses that overlap more than may be. */
static bool check_pose(answer *a, solid *e, solid *c, int round) {
    double n[3], gap = reference_gap(e, c, n), margin = 0.2;
    int kind = (int)c->shape.kind;
    if (gap < -allowed_depth(e)) return false;
    const dls_contact_point *p = ask(a, e, c, margin);
    if (gap > margin + 1e-9) {
        if (p)
            fail_msg("a contact with %s, pose %d: gap %.17g, expected %.17g",
                     dls_shape_kind_name(c->shape.kind), round, p->gap, gap);
        return true;
    }
    if (gap > margin - 1e-9) return true;
    if (!p) fail_msg("no contact with %s, pose %d, gap %g", dls_shape_kind_name(c->shape.kind), round, gap);
    check_near("gap", p->gap, gap, 1e-9, kind, round);
    check_normal(p->normal, n, 1e-9, kind, round);
    check_points(e, p, kind, round);
    return true;
}

static void check_brute(dls_random *g, dls_shape_kind kind, int round, int *checked) {
    answer a = {.manifold = {0}};
    solid e = random_solid(g, DLS_ELLIPSOID, 1);
    solid c = random_solid(g, kind, pow(4, dls_random_between(g, -1, 1)));
    place_near(g, &e, &c, dls_random_between(g, -allowed_depth(&e), 0.2));
    if (check_pose(&a, &e, &c, round)) {
        ++*checked;
        jog(g, &c, 0.02);
        *checked += check_pose(&a, &e, &c, round); /* warm */
        jog(g, &e, 0.5);
        *checked += check_pose(&a, &e, &c, round); /* from a memory that misleads */
    }
    done(&a);
    solid_free(&e);
    solid_free(&c);
}

static void test_brute_force(void **state) {
    (void)state;
    static const int poses[CONVEX_KINDS] = {10000, 10000, 10000, 10000, 5000, 500};
    dls_random g = {18};
    for (int k = 0; k < CONVEX_KINDS; k++) {
        int checked = 0, wanted = scaled(poses[k], 50);
        for (int round = 0; checked < wanted; round++) {
            check_brute(&g, convex_kinds[k], round, &checked);
            assert_true(round < 10 * wanted);
        }
    }
}

/* ---- flat and hollow obstacles ---- */

static solid make_obstacle(dls_random *g, dls_shape_kind kind, double radius, double length) {
    dls_shape_def def = dls_default_shape_def(kind);
    def.radius = radius, def.length = length;
    for (int i = 0; i < 3; i++) def.size[i] = 2 * radius; /* full edges */
    solid c = solid_make(&def);
    random_turn(g, c.at.R);
    random_unit(g, c.at.x);
    return c;
}

static const dls_contact_point *find_feature(const answer *a, uint64_t feature) {
    for (int k = 0; k < a->manifold.count; k++)
        if (a->manifold.point[k].feature == feature) return &a->manifold.point[k];
    return NULL;
}

/* The wall with inward normal m at the given distance from the obstacle's origin. */
static int check_wall(const answer *a, const solid *e, const solid *c, const double *m, double offset,
                      uint64_t feature, double margin) {
    double n[3], x[3], d[3];
    vec_scale(n, -1, m);
    solid_support(e, n, NULL, x);
    vec_sub(d, x, c->at.x);
    double gap = vec_dot(m, d) + offset;
    const dls_contact_point *p = find_feature(a, feature);
    if (gap > margin) {
        assert_null(p);
        return 0;
    }
    assert_non_null(p);
    check_near("gap", p->gap, gap, 1e-12, (int)c->shape.kind, 0);
    check_normal(p->normal, n, 1e-14, (int)c->shape.kind, 0);
    check_points(e, p, (int)c->shape.kind, 0);
    return 1;
}

static void test_planes(void **state) {
    (void)state;
    dls_random g = {19};
    for (int round = 0; round < scaled(10000, 100); round++) {
        answer a = {.manifold = {0}};
        solid e = random_solid(&g, DLS_ELLIPSOID, 1);
        solid plane = make_obstacle(&g, DLS_HALF_SPACE, 1, 1),
              box = make_obstacle(&g, DLS_BOX_INSIDE, 1.2, 1);
        double d[3];
        random_unit(&g, d);
        vec_along(e.at.x, box.at.x, 0.7, d);
        ask(&a, &e, &box, 0.1);
        int count = 0;
        for (int k = 0; k < 6; k++) {
            double m[3];
            vec_scale(m, k % 2 ? -1 : 1, box.at.R + 3 * (k / 2));
            count += check_wall(&a, &e, &box, m, 1.2, (uint64_t)k, 0.1);
        }
        assert_int_equal(a.manifold.count, count);
        vec_copy(e.at.x, plane.at.x);
        vec_along(e.at.x, e.at.x, dls_random_between(&g, 0, 1), plane.at.R + 6);
        ask(&a, &e, &plane, 0.1);
        assert_int_equal(a.manifold.count, check_wall(&a, &e, &plane, plane.at.R + 6, 0, 0, 0.1));
        done(&a);
        solid_free(&e), solid_free(&plane), solid_free(&box);
    }
}

/* How far the ellipsoid reaches at an angle about the axis of c. */
static double reach(const solid *e, const solid *c, double angle, double *u, double *slope) {
    double local[3] = {cos(angle), sin(angle), 0}, turned[3] = {-local[1], local[0], 0}, x[3], d[3];
    mat_apply(u, c->at.R, local);
    mat_apply(turned, c->at.R, turned);
    solid_support(e, u, NULL, x);
    vec_sub(d, x, c->at.x);
    *slope = vec_dot(turned, d);
    return vec_dot(u, d);
}

/* All local maxima of the reach, by a scan and bisection, with normals; near is where two are about to merge.
 */
static int farthest_places(const solid *e, const solid *c, double normal[][3], double *far) {
    enum { SCAN = 360 };
    double spacing = 6.283185307179586 / SCAN, before, slope, u[3];
    int count = 0;
    reach(e, c, 0, u, &before);
    for (int k = 1; k <= SCAN; k++, before = slope) {
        reach(e, c, spacing * k, u, &slope);
        if (!(before > 0 && slope <= 0)) continue;
        double low = spacing * (k - 1), high = spacing * k, s;
        for (int i = 0; i < 54; i++) {
            double middle = 0.5 * (low + high);
            reach(e, c, middle, u, &s);
            *(s > 0 ? &low : &high) = middle;
        }
        assert_true(count < 4);
        far[count] = reach(e, c, low, normal[count], &s);
        count++;
    }
    return count;
}

static void check_hollow(dls_random *g, int round, int *doubles) {
    answer a = {.manifold = {0}};
    solid e = random_solid(g, DLS_ELLIPSOID, 1),
          c = make_obstacle(g, DLS_CYLINDER_INSIDE, 1.05, round % 2 ? 2.5 : 0);
    double d[3], normal[4][3], far[4], margin = 0.15;
    random_unit(g, d);
    vec_along(e.at.x, c.at.x, 0.5 * pow(dls_random_unit(g), 3), d);
    int places = farthest_places(&e, &c, normal, far), walls = 0;
    ask(&a, &e, &c, margin);
    for (int k = 0; k < places; k++) {
        double gap = 1.05 - far[k], nearest = HUGE_VAL;
        if (gap > margin) continue;
        walls++;
        for (int i = 0; i < a.manifold.count; i++) {
            const dls_contact_point *p = &a.manifold.point[i];
            if (p->feature >= 2 || vec_distance(p->normal, normal[k]) > nearest) continue;
            nearest = vec_distance(p->normal, normal[k]);
            if (nearest < 1e-3) check_near("gap", p->gap, gap, 1e-9, DLS_CYLINDER_INSIDE, round);
            check_points(&e, p, DLS_CYLINDER_INSIDE, round);
        }
        check_near("normal", nearest, 0, 1e-9, DLS_CYLINDER_INSIDE, round);
    }
    int caps = 0;
    for (int k = 0; k < 2 && c.shape.length > 0; k++) {
        double m[3];
        vec_scale(m, k ? -1 : 1, c.at.R + 6);
        caps += check_wall(&a, &e, &c, m, 1.25, (uint64_t)(2 + k), margin);
    }
    assert_int_equal(a.manifold.count, walls + caps);
    *doubles += walls == 2;
    done(&a);
    solid_free(&e), solid_free(&c);
}

static void test_hollow_cylinder(void **state) {
    (void)state;
    dls_random g = {20};
    int doubles = 0, rounds = scaled(10000, 200);
    for (int round = 0; round < rounds; round++) check_hollow(&g, round, &doubles);
    assert_true(doubles > rounds / 200);
}

/* Rocking to and fro in a hollow cylinder, touching both sides: each side keeps its name. */
static void test_hollow_names(void **state) {
    (void)state;
    dls_random g = {21};
    dls_shape_def def = dls_default_shape_def(DLS_ELLIPSOID);
    def.size[0] = 1, def.size[1] = 0.4, def.size[2] = 0.3;
    solid e = solid_make(&def), c = make_obstacle(&g, DLS_CYLINDER_INSIDE, 1.001, 0);
    answer a = {.manifold = {0}};
    memcpy(e.at.R, c.at.R, sizeof e.at.R);
    vec_copy(e.at.x, c.at.x);
    assert_non_null(ask(&a, &e, &c, 0.01));
    assert_int_equal(a.manifold.count, 2);
    const dls_contact_point *zero = find_feature(&a, 0);
    assert_non_null(zero);
    double side = vec_dot(zero->normal, c.at.R);
    for (int k = 0; k < 400; k++) {
        vec_along(e.at.x, c.at.x, 0.05 * sin(0.1 * k), c.at.R);
        ask(&a, &e, &c, 0.01);
        assert_true(a.manifold.count > 0);
        for (int i = 0; i < a.manifold.count; i++) {
            const dls_contact_point *p = &a.manifold.point[i];
            assert_true((vec_dot(p->normal, c.at.R) * side > 0) == (p->feature == 0));
        }
    }
    done(&a);
    solid_free(&e), solid_free(&c);
}

/* ---- meshes ---- */

static solid make_mesh(int points, const double *point, int triangles, const int *triangle) {
    dls_shape_def def = dls_default_shape_def(DLS_MESH);
    def.point_count = points, def.points = point;
    def.triangle_count = triangles, def.triangles = triangle;
    return solid_make(&def);
}

/* A floor of unequal triangles: one contact, its normal that of the floor, wherever edges and corners lie. */
static void test_mesh_floor(void **state) {
    (void)state;
    enum { SIDE = 9, CELLS = (SIDE - 1) * (SIDE - 1) };
    double point[3 * SIDE * SIDE];
    int triangle[6 * CELLS], count = 0;
    dls_random g = {22};
    for (int k = 0; k < SIDE * SIDE; k++)
        vec_set(point + 3 * k, k % SIDE - 4 + dls_random_between(&g, -0.3, 0.3),
                k / SIDE - 4 + dls_random_between(&g, -0.3, 0.3), 0);
    for (int k = 0; k < CELLS; k++) {
        int corner = k % (SIDE - 1) + SIDE * (k / (SIDE - 1));
        const int cell[2][6] = {
            {corner, corner + 1, corner + SIDE, corner + 1, corner + SIDE + 1, corner + SIDE},
            {corner, corner + 1, corner + SIDE + 1, corner, corner + SIDE + 1, corner + SIDE}};
        for (int i = 0; i < 6; i++) triangle[count++] = cell[k % 2][i];
    }
    solid mesh = make_mesh(SIDE * SIDE, point, 2 * CELLS, triangle);
    random_turn(&g, mesh.at.R);
    for (int round = 0; round < scaled(10000, 200); round++) {
        answer a = {.manifold = {0}};
        solid e = random_solid(&g, DLS_ELLIPSOID, 1);
        double n[3], x[3], gap = round % 4 ? dls_random_between(&g, -allowed_depth(&e), 0.05) : 0;
        double foot[3] = {dls_random_between(&g, -2.5, 2.5), dls_random_between(&g, -2.5, 2.5), 0};
        int corner = (int)dls_random_below(&g, SIDE * SIDE);
        if (round % 3 == 0 && fabs(point[3 * corner]) < 2.5 && fabs(point[3 * corner + 1]) < 2.5)
            vec_copy(foot, point + 3 * corner); /* right over a corner */
        mat_apply(foot, mesh.at.R, foot);
        vec_scale(n, -1, mesh.at.R + 6);
        solid_support(&e, n, NULL, x);
        for (int i = 0; i < 3; i++) e.at.x[i] += foot[i] - gap * n[i] - x[i];
        const dls_contact_point *p = ask(&a, &e, &mesh, 0.06);
        assert_int_equal(a.manifold.count, 1);
        check_near("gap", p->gap, gap, 1e-12, DLS_MESH, round);
        check_normal(p->normal, n, 1e-9, DLS_MESH, round);
        check_points(&e, p, DLS_MESH, round);
        done(&a);
        solid_free(&e);
    }
    solid_free(&mesh);
}

/* A groove of two slopes, each of several triangles: two contacts, each that of its plane; and a centre that
 * has sunk below a floor comes up again. */
static void test_mesh_groove(void **state) {
    (void)state;
    const double point[] = {-3, -3, 3, -3, 0.1, 3,  -3, 3, 3,    0, -3, 0, 0, 0.2,
                            0,  0,  3, 0,  3,   -3, 3,  3, -0.3, 3, 3,  3, 3};
    const int triangle[] = {0, 3, 4, 0, 4, 1, 1, 4, 5, 1, 5, 2, 3, 6, 7, 3, 7, 4, 4, 7, 8, 4, 8, 5};
    solid mesh = make_mesh(9, point, 8, triangle);
    dls_random g = {29};
    for (int round = 0; round < scaled(2000, 100); round++) {
        answer a = {.manifold = {0}};
        solid e = random_solid(&g, DLS_ELLIPSOID, 0.5);
        double slope[2][3] = {{M_SQRT1_2, 0, M_SQRT1_2}, {-M_SQRT1_2, 0, M_SQRT1_2}}, n[3], x[3], h[2],
               gap[2];
        for (int k = 0; k < 2; k++) {
            gap[k] = dls_random_between(&g, -allowed_depth(&e), 0.01);
            h[k] = -solid_support(&e, slope[k], NULL, x); /* at the origin: symmetric */
        }
        double p = gap[0] - h[0], q = gap[1] - h[1]; /* heights of the centre over both */
        vec_set(e.at.x, (p - q) * M_SQRT1_2, dls_random_between(&g, -1, 1), (p + q) * M_SQRT1_2);
        ask(&a, &e, &mesh, 0.02);
        assert_int_equal(a.manifold.count, 2);
        for (int k = 0; k < 2; k++) {
            const dls_contact_point *c = &a.manifold.point[k];
            int side = c->normal[0] > 0;
            vec_scale(n, -1, slope[side]);
            check_near("gap", c->gap, gap[side], 1e-12, DLS_MESH, round);
            check_normal(c->normal, n, 1e-12, DLS_MESH, round);
        }
        double sunk =
            -0.3 * h[0] * dls_random_between(&g, 0.1, 0.9); /* below the first slope, far from the other */
        vec_set(e.at.x, -1.5 - sunk * M_SQRT1_2, 0, 1.5 - sunk * M_SQRT1_2);
        const dls_contact_point *c = ask(&a, &e, &mesh, 0.02);
        assert_int_equal(a.manifold.count, 1);
        vec_scale(n, -1, slope[0]);
        check_normal(c->normal, n, 1e-12, DLS_MESH, round);
        check_near("gap", c->gap, -sunk + h[0], 1e-12, DLS_MESH, round);
        done(&a);
        solid_free(&e);
    }
    solid_free(&mesh);
}

/* A polyhedron as a closed mesh of its fanned faces gives what the polyhedron gives. */
static void test_mesh_hull(void **state) {
    (void)state;
    dls_random g = {23};
    int checked = 0, wanted = scaled(3000, 100);
    for (int round = 0; checked < wanted && round < 20 * wanted; round++) {
        answer a = {.manifold = {0}}, b = {.manifold = {0}};
        solid e = random_solid(&g, DLS_ELLIPSOID, 1);
        solid c =
            random_solid(&g, round % 2 ? DLS_BOX : DLS_POLYHEDRON, pow(4, dls_random_between(&g, -1, 1)));
        const dls_hull *hull = c.shape.hull;
        int triangle[3 * 64], count = 0;
        for (int f = 0; f < hull->face_count; f++)
            for (int k = hull->face_start[f] + 1; k + 1 < hull->face_start[f + 1]; k++, count++) {
                triangle[3 * count] = hull->face_vertex[hull->face_start[f]];
                triangle[3 * count + 1] = hull->face_vertex[k];
                triangle[3 * count + 2] = hull->face_vertex[k + 1];
            }
        solid mesh = make_mesh(hull->vertex_count, hull->vertex, count, triangle);
        place_near(&g, &e, &c, dls_random_between(&g, -allowed_depth(&e), 0.2));
        vec_copy(mesh.at.x, c.at.x);
        memcpy(mesh.at.R, c.at.R, sizeof mesh.at.R);
        const dls_contact_point *p = ask(&a, &e, &c, 0.2), *q = ask(&b, &e, &mesh, 0.2);
        if (p && p->gap > -allowed_depth(&e)) {
            assert_int_equal(b.manifold.count, 1);
            check_near("gap", q->gap, p->gap, 1e-11, DLS_MESH, round);
            check_normal(q->normal, p->normal, 1e-9, DLS_MESH, round);
            checked++;
        } else if (!p) {
            assert_null(q);
        }
        done(&a), done(&b);
        solid_free(&e), solid_free(&c), solid_free(&mesh);
    }
    assert_int_equal(checked, wanted);
}

/* ---- sheared ellipsoids ---- */

static void test_sheared(void **state) {
    (void)state;
    dls_random g = {24};
    for (int round = 0; round < scaled(10000, 100); round++) {
        dls_ellipsoid e[2];
        double F[9], n[3], m[3], x[3], y[3], found[3], gap = dls_random_between(&g, 0, 0.1), result;
        const double zero[3] = {0, 0, 0};
        for (int k = 0; k < 2; k++) {
            do {
                for (int i = 0; i < 9; i++) F[i] = dls_random_normal(&g);
                dls_ellipsoid_deform(zero, F, &e[k]);
            } while (e[k].greatest > 100 * e[k].least);
            for (int i = 0; i < 20; i++) { /* eigenvalues bound nᵀAn */
                random_unit(&g, n);
                double h = dls_ellipsoid_support(&e[k], n, x);
                assert_true(h * h > e[k].least * (1 - 1e-12) && h * h < e[k].greatest * (1 + 1e-12));
            }
        }
        vec_scale(m, -1, n);
        dls_ellipsoid_support(&e[0], n, x);
        dls_ellipsoid_support(&e[1], m, y);
        for (int i = 0; i < 3; i++) e[1].c[i] = x[i] + gap * n[i] - y[i];
        assert_true(dls_ellipsoid_to_ellipsoid(&e[0], &e[1], 1, false, found, &result));
        check_near("gap", result, gap, 1e-12, DLS_ELLIPSOID, round);
        check_normal(found, n, 1e-9, DLS_ELLIPSOID, round);
        vec_along(y, x, gap, n);
        check_near("distance", dls_ellipsoid_to_point(&e[0], y, false, found), gap, 1e-12, DLS_SPHERE, round);
        check_normal(found, n, 1e-9, DLS_SPHERE, round);
    }
}

/* ∂point/∂n by differences, and the curvature of a sphere. */
static void test_radii(void **state) {
    (void)state;
    dls_random g = {25};
    for (int round = 0; round < 200; round++) {
        solid c = random_solid(&g, DLS_ELLIPSOID, 1);
        dls_ellipsoid e;
        double n[3], t[2][3], radii[3], h = 1e-5;
        dls_ellipsoid_place(solid_at(&c), &e);
        random_unit(&g, n);
        vec_tangents(n, t[0], t[1]);
        dls_ellipsoid_radii(&e, n, t[0], t[1], radii);
        for (int k = 0; k < 2; k++) {
            double plus[3], minus[3], m[3];
            vec_along(m, n, h, t[k]);
            vec_scale(m, 1 / vec_norm(m), m);
            dls_ellipsoid_support(&e, m, plus);
            vec_along(m, n, -h, t[k]);
            vec_scale(m, 1 / vec_norm(m), m);
            dls_ellipsoid_support(&e, m, minus);
            vec_sub(plus, plus, minus);
            check_near("radius", vec_dot(plus, t[0]) / (2 * h), radii[k ? 1 : 0], 1e-6, DLS_ELLIPSOID, round);
            check_near("radius", vec_dot(plus, t[1]) / (2 * h), radii[k ? 2 : 1], 1e-6, DLS_ELLIPSOID, round);
        }
        solid_free(&c);
    }
}

/* ---- everything that is on top of each other ---- */

static void check_finite(answer *a, solid *e, solid *c) {
    ask(a, e, c, 0.1);
    if (!a->manifold.count) fail_msg("no contact with %s", dls_shape_kind_name(c->shape.kind));
    for (int k = 0; k < a->manifold.count; k++) {
        const dls_contact_point *p = &a->manifold.point[k];
        assert_true(isfinite(p->gap) && p->gap < 0.1);
        check_near("length of n", vec_norm(p->normal), 1, 1e-12, (int)c->shape.kind, 0);
        check_points(e, p, (int)c->shape.kind, 0);
    }
}

/* Centres in one place or nearly, axes parallel or not: moving apart by the depth along n frees them. */
static void test_deep(void **state) {
    (void)state;
    dls_random g = {26};
    for (int round = 0; round < scaled(2000, 50); round++)
        for (int k = 0; k < CONVEX_KINDS; k++) {
            answer a = {.manifold = {0}};
            solid e = random_solid(&g, DLS_ELLIPSOID, 1), c = random_solid(&g, convex_kinds[k], 1);
            double d[3], m[3], x[3], y[3];
            random_unit(&g, d);
            if (round % 3 == 0) memcpy(e.at.R, c.at.R, sizeof e.at.R);
            if (round % 5 == 0) e.shape.size[1] = e.shape.size[2] = e.shape.size[0];
            if (c.shape.hull) { /* its frame may be anywhere, even outside */
                mat_apply(c.at.x, c.at.R, c.shape.hull->centre);
                vec_scale(c.at.x, -1, c.at.x);
            }
            if (round % 2) vec_along(c.at.x, c.at.x, 0.1 * pow(10, -dls_random_between(&g, 0, 16)), d);
            check_finite(&a, &e, &c);
            const dls_contact_point *p = a.manifold.point;
            vec_scale(m, -1, p->normal);
            solid_support(&e, p->normal, &g, x);
            solid_support(&c, m, &g, y);
            vec_sub(d, y, x);
            check_near("f(n)", vec_dot(d, p->normal), p->gap, 1e-9, (int)convex_kinds[k], round);
            check_finite(&a, &e, &c); /* warm */
            done(&a);
            solid_free(&e), solid_free(&c);
        }
    solid e = random_solid(&g, DLS_ELLIPSOID, 1);
    solid drum = make_obstacle(&g, DLS_CYLINDER_INSIDE, 0.9 * shortest_axis(&e), 0);
    answer a = {.manifold = {0}};
    for (int k = 0; k < 2; k++) {
        vec_copy(e.at.x, drum.at.x);
        memcpy(e.at.R, drum.at.R, sizeof e.at.R);
        check_finite(&a, &e, &drum);
        e.shape.size[1] = e.shape.size[2] = e.shape.size[0]; /* a ball on the axis touches all around */
        forget(&a);
    }
    done(&a);
    solid_free(&e), solid_free(&drum);
}

/* A memory that a damaged file may hold is not followed. */
static void test_bad_memory(void **state) {
    (void)state;
    dls_random g = {27};
    for (int k = 0; k < CONVEX_KINDS; k++)
        for (int round = 0; round < 100; round++) {
            answer a = {.manifold = {0}}, b = {.manifold = {0}};
            solid e = random_solid(&g, DLS_ELLIPSOID, 1), c = random_solid(&g, convex_kinds[k], 1);
            double n[3];
            plant(&g, &e, &c, 0.01, n);
            a.memory.used = 1;
            for (int i = 0; i < 3; i++) a.memory.n[i] = round % 2 ? dls_random_normal(&g) * 1e30 : 0;
            if (round % 3 == 0) random_unit(&g, a.memory.n);
            for (int i = 0; i < 5; i++)
                a.memory.feature[i] = (int32_t)dls_random_bits(&g) >> dls_random_below(&g, 32);
            const dls_contact_point *p = ask(&a, &e, &c, 0.1), *q = ask(&b, &e, &c, 0.1);
            assert_true(p && q);
            check_near("gap", p->gap, q->gap, 1e-12, (int)convex_kinds[k], round);
            check_normal(p->normal, q->normal, 1e-9, (int)convex_kinds[k], round);
            done(&a), done(&b);
            solid_free(&e), solid_free(&c);
        }
}

/* Two ellipsoids in either order. */
static void test_order(void **state) {
    (void)state;
    dls_random g = {28};
    for (int round = 0; round < scaled(5000, 100); round++) {
        answer a = {.manifold = {0}}, b = {.manifold = {0}};
        solid e = random_solid(&g, DLS_ELLIPSOID, 1), c = random_solid(&g, DLS_ELLIPSOID, 1);
        double n[3];
        plant(&g, &e, &c, dls_random_between(&g, -allowed_depth(&e), 0.1), n);
        const dls_contact_point *p = ask(&a, &e, &c, 0.2), *q = ask(&b, &c, &e, 0.2);
        assert_true(p && q);
        vec_scale(n, -1, q->normal);
        check_near("gap", p->gap, q->gap, 1e-12, DLS_ELLIPSOID, round);
        check_normal(p->normal, n, 1e-9, DLS_ELLIPSOID, round);
        check_near("point", vec_distance(p->point_a, q->point_b), 0, 1e-9, DLS_ELLIPSOID, round);
        done(&a), done(&b);
        solid_free(&e), solid_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted),      cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_planes),       cmocka_unit_test(test_hollow_cylinder),
        cmocka_unit_test(test_hollow_names), cmocka_unit_test(test_mesh_floor),
        cmocka_unit_test(test_mesh_groove),  cmocka_unit_test(test_mesh_hull),
        cmocka_unit_test(test_sheared),      cmocka_unit_test(test_radii),
        cmocka_unit_test(test_deep),         cmocka_unit_test(test_bad_memory),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
