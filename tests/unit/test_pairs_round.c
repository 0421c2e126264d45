/* Spheres and capsules with spheres, capsules, boxes, polyhedra and in hollow bodies, against certificates
 * that know convex sets as points only. */
#include "base/vector.h"
#include "support/convex.h"
#include "support/scale.h"
#include "support/test.h"

#include <string.h>

enum { CASES = 10000 };
static const double margin = 0.05;

static dls_shape make(const dls_shape_def *def) {
    dls_shape shape;
    dls_error error;
    assert_int_equal(dls_shape_create(def, 3, &shape, &error), DLS_OK);
    return shape;
}

static dls_shape random_shape(dls_random *g, dls_shape_kind kind) {
    dls_shape_def def = dls_default_shape_def(kind);
    double points[3 * 12];
    def.radius = dls_random_between(g, 0.2, 0.6);
    def.length = dls_random_between(g, 0.3, 2);
    for (int i = 0; i < 3; i++) def.size[i] = dls_random_between(g, 0.3, 1.5);
    if (kind == DLS_CYLINDER_INSIDE) def.radius *= 5, def.length *= 3;
    if (kind == DLS_BOX_INSIDE)
        for (int i = 0; i < 3; i++) def.size[i] *= 4;
    for (int k = 0; k < 36; k++) points[k] = dls_random_between(g, -0.7, 0.7);
    def.points = points;
    def.point_count = 12;
    return make(&def);
}

static dls_placed place(const dls_shape *shape, double x, double y, double z) {
    return (dls_placed){.shape = shape, .x = {x, y, z}, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/* The axis of a capsule (its z) along a direction in the x, y plane. */
static void lay_down(dls_placed *p, double angle) {
    double c = cos(angle), s = sin(angle), R[9] = {-s, c, 0, 0, 0, 1, c, s, 0};
    memcpy(p->R, R, sizeof R);
}

static bool on_hull(const dls_placed *placed, const double *point) {
    const dls_hull *h = placed->shape->hull;
    double p[3], highest = -INFINITY;
    vec_sub(p, point, placed->x);
    mat_apply_transposed(p, placed->R, p);
    for (int k = 0; k < h->face_count; k++)
        highest = fmax(highest, vec_dot(h->face_normal + 3 * k, p) - h->face_offset[k]);
    return fabs(highest) < 1e-9;
}

/* Contacts beside the deepest one may lie below the surface of a capsule that leans. */
static void assert_on_surface(const dls_placed *placed, const double *point, bool deepest) {
    convex c = convex_of(placed);
    if (c.radius > 0) {
        double below = c.radius - convex_distance_from(&c, point);
        assert_true(below > -1e-9 && (!deepest || below < 1e-9));
    } else {
        assert_true(on_hull(placed, point));
    }
}

/* Points of the hulls without radii as far apart as the gap says: no n can part the shapes by more. */
static void assert_attained(const convex *a, const convex *b, const dls_contact_point *c) {
    double p[3], q[3];
    vec_along(p, c->point_a, -a->radius, c->normal);
    vec_along(q, c->point_b, b->radius, c->normal);
    assert_true(convex_distance_from(a, p) < 1e-9 && convex_distance_from(b, q) < 1e-9);
    assert_true(vec_distance(p, q) - a->radius - b->radius < c->gap + 1e-9);
}

/* The deepest contact proves itself where the hulls without radii are apart: points of them are as far apart
 * as it says, and a plane across n parts the shapes by as much. Where they meet, n is proved by the
 * separation along it and the depth by a search for a better n. */
static void judge(dls_random *g, const standing_pair *pair, int *apart, int *inside, int *none) {
    convex a = convex_of(&pair->a), b = convex_of(&pair->b);
    double distance = convex_distance(&a, &b), gap = distance - a.radius - b.radius;
    assert_sound(pair);
    if (distance > 0 && gap > pair->margin + 1e-9) {
        assert_int_equal(pair->manifold.count, 0);
        ++*none;
        return;
    }
    if (fabs(gap - pair->margin) < 1e-9) return;
    const dls_contact_point *c = standing_deepest(pair);
    assert_non_null(c);
    double tolerance = distance > 1e-6 ? 1e-9 : 1e-5; /* where the axis is inside, faces are preferred */
    assert_true(fabs(convex_separation(&a, &b, c->normal) - c->gap) < tolerance);
    if (distance > 1e-6) {
        assert_true(fabs(c->gap - gap) < 1e-7); /* Wolfe's digits where points are nearly in line */
        for (int k = 0; k < pair->manifold.count; k++) {
            const dls_contact_point *at = &pair->manifold.point[k];
            assert_on_surface(&pair->a, at->point_a, at == c);
            assert_on_surface(&pair->b, at->point_b, at == c);
        }
        assert_attained(&a, &b, c);
        ++*apart;
    } else if (distance == 0) {
        assert_true(convex_search(g, &a, &b, false) < c->gap + tolerance);
        ++*inside;
    }
}

/* b at a random place with a given separation from a along a random direction, or nearly parallel to it. */
static void random_pose(dls_random *g, standing_pair *pair, double low, double high) {
    random_rotation(g, false, pair->a.R);
    random_rotation(g, false, pair->b.R);
    if (dls_random_below(g, 3) == 0) {
        memcpy(pair->b.R, pair->a.R, sizeof pair->b.R);
        turn_slightly(g, false, pow(10, dls_random_between(g, -12, 0)), pair->b.R);
    }
    double u[3], along[3];
    for (int i = 0; i < 3; i++) {
        pair->a.x[i] = dls_random_between(g, -1, 1);
        pair->b.x[i] = pair->a.x[i] + dls_random_between(g, -0.5, 0.5);
    }
    random_direction(g, false, u);
    if (dls_random_below(g, 3) == 0) vec_copy(u, pair->b.R + 3 * dls_random_below(g, 3));
    convex a = convex_of(&pair->a), b = convex_of(&pair->b);
    vec_scale(along, dls_random_between(g, low, high) - convex_separation(&a, &b, u), u);
    vec_add(pair->b.x, pair->b.x, along);
}

/* After a rigid motion of both the same contacts, moved; after a step along n the gap is wider by as much. */
static void judge_motion(dls_random *g, const standing_pair *pair) {
    double tolerance =
        standing_gap(pair) < -0.2 ? 1e-5 : 1e-9; /* faces are preferred where axes are inside */
    double x[3], R[9], gap = standing_gap(pair), move = dls_random_between(g, 0, 0.01);
    standing_pair moved = {.a = pair->a, .b = pair->b, .margin = pair->margin};
    random_direction(g, false, x);
    random_rotation(g, false, R);
    rigid_motion(x, R, &moved.a);
    rigid_motion(x, R, &moved.b);
    standing_collide(&moved);
    assert_true(fabs(standing_gap(&moved) - gap) < tolerance);
    standing_free(&moved);
    moved = (standing_pair){.a = pair->a, .b = pair->b, .margin = pair->margin + 0.02};
    vec_along(moved.b.x, moved.b.x, move, standing_deepest(pair)->normal);
    standing_collide(&moved);
    assert_true(fabs(standing_gap(&moved) - gap - move) < tolerance);
    standing_free(&moved);
    if (pair->a.shape->kind != pair->b.shape->kind) return;
    moved = (standing_pair){.a = pair->b, .b = pair->a, .margin = pair->margin};
    standing_collide(&moved);
    assert_true(fabs(standing_gap(&moved) - gap) < tolerance);
    standing_free(&moved);
}

static bool near_margin(const standing_pair *pair) {
    for (int k = 0; k < pair->manifold.count; k++)
        if (pair->manifold.point[k].gap > pair->margin - 1e-6) return true;
    return false;
}

static void judge_solids(dls_shape_kind kind_a, dls_shape_kind kind_b, double deepest) {
    dls_random g = {(uint64_t)(100 * kind_a + kind_b)};
    int apart = 0, inside = 0, none = 0, cases = scaled(CASES, 200), changed = 0;
    for (int k = 0; k < cases; k++) {
        dls_shape a = random_shape(&g, kind_a), b = random_shape(&g, kind_b);
        standing_pair pair = {.a.shape = &a, .b.shape = &b, .margin = margin};
        random_pose(&g, &pair, deepest, 0.1);
        standing_collide(&pair);
        judge(&g, &pair, &apart, &inside, &none);
        if (pair.manifold.count > 0 && standing_gap(&pair) < margin - 1e-6) {
            judge_motion(&g, &pair);
            if (k % 10 == 0 && !near_margin(&pair)) changed += standing_flicker(&g, &pair, false, 1e-9, 5);
        }
        standing_free(&pair);
        dls_shape_release(&a);
        dls_shape_release(&b);
    }
    assert_int_equal(changed, 0);
    assert_true(apart > cases / 5 && none > cases / 50);
    if (deepest < -1) assert_true(inside > cases / 50);
}

static void test_sphere_sphere(void **state) {
    (void)state;
    judge_solids(DLS_SPHERE, DLS_SPHERE, -0.3);
}
static void test_sphere_capsule(void **state) {
    (void)state;
    judge_solids(DLS_SPHERE, DLS_CAPSULE, -0.3);
}
static void test_capsule_capsule(void **state) {
    (void)state;
    judge_solids(DLS_CAPSULE, DLS_CAPSULE, -0.3);
}
static void test_sphere_box(void **state) {
    (void)state;
    judge_solids(DLS_SPHERE, DLS_BOX, -1.5);
}
static void test_sphere_polyhedron(void **state) {
    (void)state;
    judge_solids(DLS_SPHERE, DLS_POLYHEDRON, -1.5);
}
static void test_capsule_box(void **state) {
    (void)state;
    judge_solids(DLS_CAPSULE, DLS_BOX, -1.5);
}
static void test_capsule_polyhedron(void **state) {
    (void)state;
    judge_solids(DLS_CAPSULE, DLS_POLYHEDRON, -1.5);
}

/* ---- obstacles: the least gap over points of the axis, sampled ---- */

/* Height of a point over the nearest wall, in the obstacle's frame. */
static double room_at(const dls_shape *s, const double *p) {
    double room = INFINITY;
    if (s->kind == DLS_HALF_SPACE) return p[2];
    if (s->kind == DLS_BOX_INSIDE)
        for (int i = 0; i < 3; i++) room = fmin(room, s->size[i] - fabs(p[i]));
    if (s->kind == DLS_CYLINDER_INSIDE) {
        room = s->radius - hypot(p[0], p[1]);
        if (s->length > 0) room = fmin(room, s->length / 2 - fabs(p[2]));
    }
    return room;
}

static double least_room(const standing_pair *pair) {
    convex c = convex_of(&pair->a);
    double least = INFINITY;
    for (int k = 0; k <= 50; k++) {
        double p[3], d[3];
        vec_sub(d, c.point[c.count - 1], c.point[0]);
        vec_along(p, c.point[0], k / 50.0, d);
        vec_sub(p, p, pair->b.x);
        mat_apply_transposed(p, pair->b.R, p);
        least = fmin(least, room_at(pair->b.shape, p));
    }
    return least - c.radius;
}

static void judge_obstacle(dls_shape_kind kind_a, dls_shape_kind kind_b, bool endless) {
    dls_random g = {(uint64_t)(100 * kind_a + kind_b)};
    int touching = 0, cases = scaled(CASES, 200);
    for (int k = 0; k < cases; k++) {
        dls_shape a = random_shape(&g, kind_a), b = random_shape(&g, kind_b);
        if (endless) b.length = 0;
        standing_pair pair = {.a.shape = &a, .b.shape = &b, .margin = margin};
        random_rotation(&g, false, pair.a.R);
        random_rotation(&g, false, pair.b.R);
        for (int i = 0; i < 3; i++) {
            pair.a.x[i] = dls_random_between(&g, -1, 1);
            pair.b.x[i] = pair.a.x[i] + dls_random_between(&g, -1, 1);
        }
        double gap = least_room(&pair);
        standing_collide(&pair);
        assert_sound(&pair);
        if (gap > margin + 1e-9) assert_int_equal(pair.manifold.count, 0);
        if (gap < margin - 1e-9) {
            touching++;
            assert_true(fabs(standing_gap(&pair) - gap) < 1e-9);
        }
        for (int c = 0; c < pair.manifold.count; c++) {
            double p[3];
            const dls_contact_point *at = &pair.manifold.point[c];
            assert_on_surface(&pair.a, at->point_a, at == standing_deepest(&pair));
            vec_sub(p, at->point_b, pair.b.x);
            mat_apply_transposed(p, pair.b.R, p);
            /* on one wall; it may lie outside of the others */
            assert_true(room_at(&b, p) < 1e-9);
        }
        standing_free(&pair);
        dls_shape_release(&a);
        dls_shape_release(&b);
    }
    assert_true(touching > cases / 10 && touching < cases - cases / 50);
}

static void test_half_space(void **state) {
    (void)state;
    judge_obstacle(DLS_SPHERE, DLS_HALF_SPACE, false);
    judge_obstacle(DLS_CAPSULE, DLS_HALF_SPACE, false);
}
static void test_box_inside(void **state) {
    (void)state;
    judge_obstacle(DLS_SPHERE, DLS_BOX_INSIDE, false);
    judge_obstacle(DLS_CAPSULE, DLS_BOX_INSIDE, false);
}
static void test_cylinder_inside(void **state) {
    (void)state;
    judge_obstacle(DLS_SPHERE, DLS_CYLINDER_INSIDE, false);
    judge_obstacle(DLS_CAPSULE, DLS_CYLINDER_INSIDE, false);
    judge_obstacle(DLS_SPHERE, DLS_CYLINDER_INSIDE, true);
    judge_obstacle(DLS_CAPSULE, DLS_CYLINDER_INSIDE, true);
}

/* A sphere in a corner of a box feels three walls, in the rim of a cylinder two; normals point to the walls.
 */
static void test_corners_of_containers(void **state) {
    (void)state;
    dls_shape_def def = dls_default_shape_def(DLS_SPHERE), box = dls_default_shape_def(DLS_BOX_INSIDE);
    dls_shape_def tube = dls_default_shape_def(DLS_CYLINDER_INSIDE);
    def.radius = 0.25;
    box.size[0] = 2, box.size[1] = 3, box.size[2] = 4;
    tube.radius = 1, tube.length = 2;
    dls_shape sphere = make(&def), room = make(&box), can = make(&tube);
    standing_pair pair = {.a = place(&sphere, 0.8, -1.3, 1.8), .b = place(&room, 0, 0, 0), .margin = 0};
    standing_collide(&pair);
    assert_sound(&pair);
    assert_int_equal(pair.manifold.count, 3);
    for (int k = 0; k < 3; k++) {
        const dls_contact_point *c = &pair.manifold.point[k];
        double to_corner[3] = {1, -1, 1};
        assert_true(fabs(c->gap + 0.05) < 1e-14 && vec_dot(c->normal, to_corner) > 1 - 1e-14);
    }
    pair.b.shape = &can;
    vec_set(pair.a.x, 0.6, 0.6, -0.9);
    standing_collide(&pair);
    assert_sound(&pair);
    assert_int_equal(pair.manifold.count, 2);
    standing_free(&pair);
    dls_shape_release(&sphere), dls_shape_release(&room), dls_shape_release(&can);
}

/* ---- what lies still must lie on enough points, and always on the same ---- */

typedef struct lying {
    const char *what;
    dls_shape_kind on;
    double x, y, z,
        angle; /* of the capsule, radius 0.25, length 1; the other is 2 wide or long, at the origin */
    bool upright;
    int contacts;
} lying;

/* Half-space z = 0; box of edges 2 with its top at 1; capsule of radius 0.25, length 1 along x. */
static const lying cases_of_lying[] = {
    {"half-space", DLS_HALF_SPACE, 0, 0, 0.25, 0.3, false, 2},
    {"standing", DLS_HALF_SPACE, 0, 0, 0.75, 0, true, 1},
    {"in the middle of a face", DLS_BOX, 0.1, 0.2, 1.25, 0.3, false, 2},
    {"over the rim", DLS_BOX, 0.8, 0.2, 1.25, 0, false, 2},
    {"with an end at the rim", DLS_BOX, 0.5, 0, 1.25, 0, false, 2},
    {"with the middle at the rim", DLS_BOX, 1, 0, 1.25, 0, false, 2},
    {"along an edge, over the face", DLS_BOX, 0, 1, 1.25, 0, false, 2},
    {"over a corner", DLS_BOX, 0.9, 0.9, 1.25, 0.7853981633974483, false, 2},
    {"across a corner", DLS_BOX, 0.9, 0.9, 1.25, -0.7853981633974483, false, 2},
    {"standing on a face", DLS_BOX, 0.1, 0.2, 1.75, 0, true, 1},
    {"along another", DLS_CAPSULE, 0, 0, 0.5, 0, false, 2},
    {"along another, half over", DLS_CAPSULE, 0.5, 0, 0.5, 0, false, 2},
    {"beside another", DLS_CAPSULE, 0.2, 0.3, 0.4, 0, false, 2},
    {"in line with another", DLS_CAPSULE, 1.5, 0, 0, 0, false, 1},
    {"across another", DLS_CAPSULE, 0, 0, 0.5, 1.2, false, 1},
    {"end on another", DLS_CAPSULE, 0, 0, 1, 0, true, 1},
};

static void test_lying(void **state) {
    (void)state;
    dls_random g = {5};
    dls_shape_def def = dls_default_shape_def(DLS_CAPSULE), box_def = dls_default_shape_def(DLS_BOX);
    dls_shape_def floor_def = dls_default_shape_def(DLS_HALF_SPACE);
    def.radius = 0.25, def.length = 1;
    for (int i = 0; i < 3; i++) box_def.size[i] = 2;
    dls_shape capsule = make(&def), box = make(&box_def), ground = make(&floor_def);
    for (size_t k = 0; k < sizeof cases_of_lying / sizeof *cases_of_lying; k++) {
        const lying *c = &cases_of_lying[k];
        standing_pair pair = {.a = place(&capsule, c->x, c->y, c->z), .margin = 1e-3};
        pair.b = place(c->on == DLS_BOX ? &box : c->on == DLS_CAPSULE ? &capsule : &ground, 0, 0, 0);
        if (!c->upright) lay_down(&pair.a, c->angle);
        if (c->on == DLS_CAPSULE) lay_down(&pair.b, 0);
        standing_collide(&pair);
        assert_sound(&pair);
        if (pair.manifold.count != c->contacts)
            print_error("%s: %d contacts\n", c->what, pair.manifold.count);
        assert_int_equal(pair.manifold.count, c->contacts);
        for (int m = 0; m < pair.manifold.count; m++) assert_true(fabs(pair.manifold.point[m].gap) < 1e-12);
        static const double noises[] = {1e-12, 1e-9};
        for (int n = 0; n < 2; n++) {
            int changes = standing_flicker(&g, &pair, false, noises[n], scaled(2000, 100));
            if (changes) print_error("%s: features changed %d times\n", c->what, changes);
            assert_int_equal(changes, 0);
        }
        standing_free(&pair);
    }
    dls_shape_release(&capsule), dls_shape_release(&box), dls_shape_release(&ground);
}

/* The two contacts of a lying capsule stand at the ends of what it shares with the face. */
static void test_ends_of_overlap(void **state) {
    (void)state;
    dls_shape_def def = dls_default_shape_def(DLS_CAPSULE), box_def = dls_default_shape_def(DLS_BOX);
    def.radius = 0.25, def.length = 1;
    for (int i = 0; i < 3; i++) box_def.size[i] = 2;
    dls_shape capsule = make(&def), box = make(&box_def);
    standing_pair pair = {.a = place(&capsule, 0.8, 0.2, 1.24), .b = place(&box, 0, 0, 0), .margin = 0};
    lay_down(&pair.a, 0);
    standing_collide(&pair);
    assert_int_equal(pair.manifold.count, 2);
    double ends[2] = {pair.manifold.point[0].point_b[0], pair.manifold.point[1].point_b[0]};
    assert_true(fabs(fmin(ends[0], ends[1]) - 0.3) < 1e-12 && fabs(fmax(ends[0], ends[1]) - 1) < 1e-12);
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(pair.manifold.point[k].gap + 0.01) < 1e-12);
        assert_true(fabs(pair.manifold.point[k].normal[2] + 1) < 1e-14);
    }
    standing_free(&pair);
    dls_shape_release(&capsule), dls_shape_release(&box);
}

/* Same centre, same axis, crossing axes, no length: still one way out, as short as it can be. */
static void test_coincident(void **state) {
    (void)state;
    dls_random g = {11};
    static const dls_shape_kind solids[] = {DLS_SPHERE, DLS_CAPSULE, DLS_BOX, DLS_POLYHEDRON};
    for (int i = 0; i < 2; i++)
        for (int j = i; j < 4; j++)
            for (int turn = 0; turn < 20; turn++) {
                dls_shape a = random_shape(&g, solids[i]), b = random_shape(&g, solids[j]);
                if (turn % 4 == 3) a.length = 0;
                standing_pair pair = {.a = place(&a, 0, 0, 0), .b = place(&b, 0, 0, 0), .margin = margin};
                if (turn % 2) random_rotation(&g, false, pair.b.R);
                standing_collide(&pair);
                assert_sound(&pair);
                assert_true(pair.manifold.count > 0);
                convex ca = convex_of(&pair.a), cb = convex_of(&pair.b);
                double gap = standing_gap(&pair);
                assert_true(fabs(convex_separation(&ca, &cb, standing_deepest(&pair)->normal) - gap) < 1e-9);
                assert_true(convex_search(&g, &ca, &cb, false) < gap + 1e-5);
                standing_free(&pair);
                dls_shape_release(&a), dls_shape_release(&b);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere_sphere),
        cmocka_unit_test(test_sphere_capsule),
        cmocka_unit_test(test_capsule_capsule),
        cmocka_unit_test(test_sphere_box),
        cmocka_unit_test(test_sphere_polyhedron),
        cmocka_unit_test(test_capsule_box),
        cmocka_unit_test(test_capsule_polyhedron),
        cmocka_unit_test(test_half_space),
        cmocka_unit_test(test_box_inside),
        cmocka_unit_test(test_cylinder_inside),
        cmocka_unit_test(test_corners_of_containers),
        cmocka_unit_test(test_lying),
        cmocka_unit_test(test_ends_of_overlap),
        cmocka_unit_test(test_coincident),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
