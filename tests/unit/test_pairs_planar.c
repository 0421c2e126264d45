/* Discs, polygons, half-planes, drums and chains in the plane. */
#include "base/vector.h"
#include "support/convex.h"
#include "support/scale.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 10000 };
static const double margin = 0.05;

static dls_shape make(const dls_shape_def *def) {
    dls_shape shape;
    dls_error error;
    assert_int_equal(dls_shape_create(def, 2, &shape, &error), DLS_OK);
    return shape;
}

static dls_shape random_shape(dls_random *g, dls_shape_kind kind) {
    dls_shape_def def = dls_default_shape_def(kind);
    double points[3 * 8];
    def.radius = dls_random_between(g, 0.2, 0.6) * (kind == DLS_DRUM ? 5 : 1);
    for (int k = 0; k < 24; k++) points[k] = k % 3 == 2 ? 0 : dls_random_between(g, -0.7, 0.7);
    def.points = points;
    def.point_count = 8;
    return make(&def);
}

static dls_shape disc(double radius) {
    dls_shape_def def = dls_default_shape_def(DLS_DISC);
    def.radius = radius;
    return make(&def);
}

static dls_shape rectangle(double width, double height) {
    dls_shape_def def = dls_default_shape_def(DLS_POLYGON);
    double x = width / 2, y = height / 2, points[12] = {-x, -y, 0, x, -y, 0, x, y, 0, -x, y, 0};
    def.points = points;
    def.point_count = 4;
    return make(&def);
}

static dls_shape chain(int count, const double *points, bool closed) {
    dls_shape_def def = dls_default_shape_def(DLS_CHAIN);
    def.points = points;
    def.point_count = count;
    def.closed = closed;
    return make(&def);
}

static dls_placed place(const dls_shape *shape, double x, double y, double angle) {
    double c = cos(angle), s = sin(angle);
    return (dls_placed){.shape = shape, .x = {x, y, 0}, .R = {c, s, 0, -s, c, 0, 0, 0, 1}};
}

static void assert_planar(const standing_pair *pair) {
    assert_sound(pair);
    for (int k = 0; k < pair->manifold.count; k++) {
        const dls_contact_point *c = &pair->manifold.point[k];
        assert_true(c->normal[2] == 0 && c->point_a[2] == 0 && c->point_b[2] == 0);
    }
}

/* ---- solids ---- */

/* b at a random place with a given separation from a along a random direction. */
static void random_pose(dls_random *g, standing_pair *pair, double low, double high) {
    double u[3], along[3];
    random_rotation(g, true, pair->a.R);
    random_rotation(g, true, pair->b.R);
    if (dls_random_below(g, 3) == 0) {
        memcpy(pair->b.R, pair->a.R, sizeof pair->b.R);
        turn_slightly(g, true, pow(10, dls_random_between(g, -12, 0)), pair->b.R);
    }
    for (int i = 0; i < 2; i++) {
        pair->a.x[i] = dls_random_between(g, -1, 1);
        pair->b.x[i] = pair->a.x[i] + dls_random_between(g, -0.5, 0.5);
    }
    random_direction(g, true, u);
    convex a = convex_of(&pair->a), b = convex_of(&pair->b);
    vec_scale(along, dls_random_between(g, low, high) - convex_separation(&a, &b, u), u);
    vec_add(pair->b.x, pair->b.x, along);
}

/* Apart: points of the shapes at the distance of the gap, which a line across n shows to be the least. Where
 * they overlap no n that search finds is better by more than loose. */
static void judge(dls_random *g, const standing_pair *pair, double tight, double loose) {
    convex a = convex_of(&pair->a), b = convex_of(&pair->b);
    double distance = convex_distance(&a, &b), gap = distance - a.radius - b.radius;
    assert_planar(pair);
    if (distance > 0 && gap > pair->margin + 1e-9) {
        assert_int_equal(pair->manifold.count, 0);
        return;
    }
    if (distance > 0 && fabs(gap - pair->margin) < 2 * tight) return;
    const dls_contact_point *c = standing_deepest(pair);
    assert_non_null(c);
    assert_true(fabs(convex_separation(&a, &b, c->normal) - c->gap) < tight);
    if (distance > 1e-6) {
        double p[3], q[3];
        vec_along(p, c->point_a, -a.radius, c->normal);
        vec_along(q, c->point_b, b.radius, c->normal);
        assert_true(convex_distance_from(&a, p) < tight && convex_distance_from(&b, q) < tight);
        assert_true(vec_distance(p, q) - a.radius - b.radius < c->gap + tight);
    } else {
        assert_true(convex_search(g, &a, &b, true) < c->gap + loose);
    }
}

static void judge_solids(dls_shape_kind kind_a, dls_shape_kind kind_b, double tight, double loose) {
    dls_random g = {(uint64_t)(10 * kind_a + kind_b)};
    int cases = scaled(CASES, 200), touching = 0;
    for (int k = 0; k < cases; k++) {
        dls_shape a = random_shape(&g, kind_a), b = random_shape(&g, kind_b);
        standing_pair pair = {.a.shape = &a, .b.shape = &b, .margin = margin};
        random_pose(&g, &pair, -0.6, 0.1);
        standing_collide(&pair);
        judge(&g, &pair, tight, loose);
        if (pair.manifold.count > 0) {
            standing_pair moved = {.a = pair.a, .b = pair.b, .margin = margin};
            double x[3], R[9];
            random_direction(&g, true, x);
            random_rotation(&g, true, R);
            rigid_motion(x, R, &moved.a);
            rigid_motion(x, R, &moved.b);
            standing_collide(&moved);
            assert_true(fabs(standing_gap(&moved) - standing_gap(&pair)) < tight);
            standing_free(&moved);
            touching++;
        }
        if (kind_a == kind_b && pair.manifold.count > 0) {
            standing_pair swapped = {.a = pair.b, .b = pair.a, .margin = margin};
            standing_collide(&swapped);
            assert_true(fabs(standing_gap(&swapped) - standing_gap(&pair)) < fmax(tight, loose));
            standing_free(&swapped);
        }
        standing_free(&pair);
        dls_shape_release(&a), dls_shape_release(&b);
    }
    assert_true(touching > cases / 2);
}

static void test_disc_disc(void **state) {
    (void)state;
    judge_solids(DLS_DISC, DLS_DISC, 1e-9, 1e-9);
}
static void test_disc_polygon(void **state) {
    (void)state;
    judge_solids(DLS_DISC, DLS_POLYGON, 1e-9, 1e-9);
}
/* Sides are preferred to better ones that are better by less than a thousandth of the size. */
static void test_polygon_polygon(void **state) {
    (void)state;
    judge_solids(DLS_POLYGON, DLS_POLYGON, 4e-6, 4e-3);
}

static void test_coincident(void **state) {
    (void)state;
    dls_random g = {3};
    static const dls_shape_kind kinds[] = {DLS_DISC, DLS_POLYGON};
    for (int i = 0; i < 2; i++)
        for (int j = i; j < 2; j++)
            for (int turn = 0; turn < 20; turn++) {
                dls_shape a = random_shape(&g, kinds[i]), b = random_shape(&g, kinds[j]);
                standing_pair pair = {.a = place(&a, 0, 0, 0), .b = place(&b, 0, 0, turn), .margin = 0};
                standing_collide(&pair);
                assert_true(pair.manifold.count > 0);
                judge(&g, &pair, 4e-6, 4e-3);
                standing_free(&pair);
                dls_shape_release(&a), dls_shape_release(&b);
            }
}

/* ---- half-plane and drum ---- */

static double room_at(const dls_placed *obstacle, const double *p) {
    double x = p[0] - obstacle->x[0], y = p[1] - obstacle->x[1];
    if (obstacle->shape->kind == DLS_DRUM) return obstacle->shape->radius - hypot(x, y);
    return obstacle->R[3] * x + obstacle->R[4] * y;
}

static void judge_obstacle(dls_shape_kind kind_a, dls_shape_kind kind_b) {
    dls_random g = {(uint64_t)(10 * kind_a + kind_b)};
    int cases = scaled(CASES, 200), touching = 0;
    for (int k = 0; k < cases; k++) {
        dls_shape a = random_shape(&g, kind_a), b = random_shape(&g, kind_b);
        standing_pair pair = {.a.shape = &a, .b.shape = &b, .margin = margin};
        random_rotation(&g, true, pair.a.R);
        random_rotation(&g, true, pair.b.R);
        for (int i = 0; i < 2; i++) {
            pair.a.x[i] = dls_random_between(&g, -1, 1);
            pair.b.x[i] = pair.a.x[i] + dls_random_between(&g, -1, 1);
        }
        convex c = convex_of(&pair.a);
        double gap = INFINITY;
        int expected = 0;
        for (int i = 0; i < c.count; i++) {
            double here = room_at(&pair.b, c.point[i]) - c.radius;
            gap = fmin(gap, here);
            expected += here <= margin;
        }
        standing_collide(&pair);
        assert_planar(&pair);
        assert_int_equal(pair.manifold.count, expected);
        if (expected) assert_true(fabs(standing_gap(&pair) - gap) < 1e-12);
        for (int i = 0; i < pair.manifold.count; i++) {
            const dls_contact_point *at = &pair.manifold.point[i];
            assert_true(fabs(room_at(&pair.b, at->point_b)) < 1e-12);
            assert_true(fabs(room_at(&pair.b, at->point_a) - at->gap) < 1e-12);
        }
        touching += expected > 0;
        standing_free(&pair);
        dls_shape_release(&a), dls_shape_release(&b);
    }
    assert_true(touching > cases / 10 && touching < cases - cases / 20);
}

static void test_half_plane(void **state) {
    (void)state;
    judge_obstacle(DLS_DISC, DLS_HALF_PLANE);
    judge_obstacle(DLS_POLYGON, DLS_HALF_PLANE);
}
static void test_drum(void **state) {
    (void)state;
    judge_obstacle(DLS_DISC, DLS_DRUM);
    judge_obstacle(DLS_POLYGON, DLS_DRUM);
}

/* A disc that rolls round a drum feels a circle: the same gap at every angle. */
static void test_drum_is_round(void **state) {
    (void)state;
    dls_random g = {9};
    dls_shape a = disc(0.1), b = random_shape(&g, DLS_DRUM);
    for (int k = 0; k < 1000; k++) {
        double angle = 0.01 * k, at = b.radius - 0.1 + 1e-6;
        standing_pair pair = {.a = place(&a, at * cos(angle), at * sin(angle), 0), .b = place(&b, 0, 0, k)};
        standing_collide(&pair);
        assert_int_equal(pair.manifold.count, 1);
        assert_true(fabs(standing_gap(&pair) + 1e-6) < 1e-15);
        assert_true(fabs(pair.manifold.point[0].normal[0] - cos(angle)) < 1e-15);
        standing_free(&pair);
    }
    dls_shape_release(&a), dls_shape_release(&b);
}

/* ---- standing still ---- */

static void assert_still(dls_random *g, const char *what, standing_pair *pair, int contacts) {
    static const double noises[] = {1e-12, 1e-9};
    standing_collide(pair);
    assert_planar(pair);
    if (pair->manifold.count != contacts) print_error("%s: %d contacts\n", what, pair->manifold.count);
    assert_int_equal(pair->manifold.count, contacts);
    for (int n = 0; n < 2; n++) {
        int changes = standing_flicker(g, pair, true, noises[n], scaled(2000, 100));
        if (changes) print_error("%s: features changed %d times\n", what, changes);
        assert_int_equal(changes, 0);
    }
    standing_free(pair);
}

static void test_polygons_stand_still(void **state) {
    (void)state;
    dls_random g = {21};
    dls_shape a = rectangle(1, 1), b = rectangle(1, 1), wide = rectangle(4, 1);
    double diagonal = 0.5 * sqrt(2);
    const struct {
        const char *what;
        const dls_shape *below;
        double x, y, angle;
        int contacts;
    } cases[] = {
        {"stacked", &b, 0, 1, 0, 2},
        {"stacked, turned by 1e-7", &b, 0, 1, 1e-7, 2},
        {"half over", &b, 0.5, 1, 0, 2},
        {"corner tie", &b, 0.99, 0.99, 0, 2},
        {"on a wide one", &wide, 0.3, 1, 0, 2},
        {"on its corner", &wide, 0.3, 0.5 + diagonal, 0.7853981633974483, 1},
        {"flush with the end", &wide, 1.5, 1, 0, 2},
        {"beside the end", &wide, 2.5, 0.2, 0, 2},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        standing_pair pair = {.a = place(&a, cases[k].x, cases[k].y, cases[k].angle), .margin = 1e-3};
        pair.b = place(cases[k].below, 0, 0, 0);
        assert_still(&g, cases[k].what, &pair, cases[k].contacts);
    }
    dls_shape_release(&a), dls_shape_release(&b), dls_shape_release(&wide);
}

/* A box slides and turns slowly on another: a feature that has gone does not come back. */
static void test_features_do_not_return(void **state) {
    (void)state;
    dls_shape a = rectangle(1, 1), b = rectangle(1, 1);
    uint64_t gone[64], before[64], now[64];
    int gone_count = 0, before_count = 0, steps = scaled(200000, 20000);
    standing_pair pair = {.margin = 0.01};
    for (int k = 0; k <= steps; k++) {
        double s = (double)k / steps;
        pair.a = place(&a, -0.3 + 0.6 * s, 1 - 1e-4, 2e-3 * (s - 0.5));
        pair.b = place(&b, 0, 0, 0);
        standing_collide(&pair);
        int count = standing_features(&pair, now);
        assert_true(count > 0);
        for (int i = 0; i < before_count; i++) {
            bool stays = false;
            for (int j = 0; j < count; j++) stays = stays || now[j] == before[i];
            if (stays) continue;
            assert_true(gone_count < 64);
            gone[gone_count++] = before[i];
        }
        for (int i = 0; i < gone_count; i++)
            for (int j = 0; j < count; j++) assert_true(gone[i] != now[j]);
        memcpy(before, now, sizeof now);
        before_count = count;
    }
    standing_free(&pair);
    dls_shape_release(&a), dls_shape_release(&b);
}

/* ---- chains: solid on the right when walking along ---- */

enum { JOINTS = 41 };

/* Flat ground from 10 to −10 walking left has its solid above; from −10 to 10 below. */
static void flat_points(double *points) {
    for (int k = 0; k < JOINTS; k++) vec_set(points + 3 * k, -10 + 0.5 * k, 0, 0);
}

/* Rolling over joints, on them exactly and above or a little below the ground: one contact, straight up. */
static void test_disc_feels_no_joints(void **state) {
    (void)state;
    dls_random g = {31};
    double points[3 * JOINTS];
    flat_points(points);
    dls_shape a = disc(0.3), ground = chain(JOINTS, points, false);
    standing_pair pair = {.b = place(&ground, 0, 0, 0), .margin = 0.01};
    for (int k = 0; k < scaled(20000, 1000); k++) {
        double x = k % 5 == 0 ? -9 + 0.5 * (double)dls_random_below(&g, 36) : dls_random_between(&g, -9, 9);
        double gap = k % 3 == 0 ? 0 : dls_random_between(&g, -0.2, 0.01);
        if (k % 7 == 0) x += 1e-9 * dls_random_normal(&g);
        pair.a = place(&a, x, 0.3 + gap, dls_random_between(&g, 0, 6));
        standing_collide(&pair);
        assert_planar(&pair);
        assert_int_equal(pair.manifold.count, 1);
        assert_true(fabs(pair.manifold.point[0].normal[1] + 1) < 1e-9);
        assert_true(fabs(standing_gap(&pair) - gap) < 1e-12);
    }
    standing_free(&pair);
    dls_shape_release(&a), dls_shape_release(&ground);
}

static void test_polygon_feels_no_joints(void **state) {
    (void)state;
    dls_random g = {32};
    double points[3 * JOINTS];
    flat_points(points);
    dls_shape a = rectangle(0.8, 0.6), ground = chain(JOINTS, points, false);
    standing_pair pair = {.b = place(&ground, 0, 0, 0), .margin = 0.01};
    for (int k = 0; k < scaled(20000, 1000); k++) {
        double x = k % 5 == 0 ? -8.9 + 0.5 * (double)dls_random_below(&g, 36) : dls_random_between(&g, -9, 9);
        double gap = k % 3 == 0 ? 0 : dls_random_between(&g, -1e-3, 0.01);
        pair.a = place(&a, x, 0.3 + gap, 0);
        standing_collide(&pair);
        assert_planar(&pair);
        assert_int_equal(pair.manifold.count, 2);
        for (int i = 0; i < 2; i++) {
            assert_true(fabs(pair.manifold.point[i].normal[1] + 1) < 1e-9);
            assert_true(fabs(pair.manifold.point[i].gap - gap) < 1e-12);
        }
    }
    standing_free(&pair);
    dls_shape_release(&a), dls_shape_release(&ground);
}

static double distance_to_segment(const double *p, const double *v, const double *w) {
    double t = ((p[0] - v[0]) * (w[0] - v[0]) + (p[1] - v[1]) * (w[1] - v[1])) /
               (pow(w[0] - v[0], 2) + pow(w[1] - v[1], 2));
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(p[0] - v[0] - t * (w[0] - v[0]), p[1] - v[1] - t * (w[1] - v[1]));
}

/* Hills and valleys walked from left to right: x grows, the solid is below. */
static void hill_points(dls_random *g, int count, double *points) {
    for (int k = 0; k < count; k++)
        vec_set(points + 3 * k, 0.5 * k + dls_random_between(g, -0.2, 0.2), dls_random_between(g, -0.4, 0.4),
                0);
}

static double height_of(const double *points, int count, double x) {
    for (int k = 0; k + 1 < count; k++) {
        const double *v = points + 3 * k, *w = v + 3;
        if (x >= v[0] && x <= w[0]) return v[1] + (w[1] - v[1]) * (x - v[0]) / (w[0] - v[0]);
    }
    fail();
    return 0;
}

/* Above ground the deepest contact is at the true distance, and so it is, negative, for a centre below it. */
static void test_disc_on_hills(void **state) {
    (void)state;
    dls_random g = {33};
    double points[3 * 20];
    int touching = 0, below = 0, cases = scaled(CASES, 500);
    for (int k = 0; k < cases; k++) {
        hill_points(&g, 20, points);
        dls_shape a = disc(dls_random_between(&g, 0.1, 0.5)), hills = chain(20, points, false);
        double x[2] = {dls_random_between(&g, 2, 7), 0}, least = INFINITY;
        double ground = height_of(points, 20, x[0]);
        x[1] = ground + dls_random_between(&g, -0.5 * a.radius, a.radius + 0.2);
        for (int i = 0; i + 1 < 20; i++)
            least = fmin(least, distance_to_segment(x, points + 3 * i, points + 3 * i + 3));
        double gap = (x[1] < ground ? -least : least) - a.radius;
        standing_pair pair = {.a = place(&a, x[0], x[1], 0), .b = place(&hills, 0, 0, 0), .margin = margin};
        standing_collide(&pair);
        assert_planar(&pair);
        if (gap > margin + 1e-9) assert_int_equal(pair.manifold.count, 0);
        if (gap < margin - 1e-9) {
            if (x[1] < ground &&
                pair.manifold.count > 1) /* beyond the bottom of a hollow: one for each wall */
                assert_true(standing_gap(&pair) >= gap - 1e-9 && standing_gap(&pair) < -a.radius);
            else
                assert_true(fabs(standing_gap(&pair) - gap) < 1e-9);
            touching++;
            below += x[1] < ground;
        }
        for (int i = 0; i < pair.manifold.count; i++) {
            const dls_contact_point *c = &pair.manifold.point[i];
            double to_chain = INFINITY;
            for (int j = 0; j + 1 < 20; j++)
                to_chain =
                    fmin(to_chain, distance_to_segment(c->point_b, points + 3 * j, points + 3 * j + 3));
            assert_true(to_chain < 1e-12 || x[1] < ground); /* in a hollow walls go on below ground */
            assert_true(fabs(hypot(c->point_a[0] - x[0], c->point_a[1] - x[1]) - a.radius) < 1e-12);
        }
        standing_free(&pair);
        dls_shape_release(&a), dls_shape_release(&hills);
    }
    assert_true(touching > cases / 2 && below > cases / 10);
}

/* A polygon that does not touch the hills is as far from them as it says. */
static void test_polygon_on_hills(void **state) {
    (void)state;
    dls_random g = {34};
    double points[3 * 20];
    int touching = 0, overlapping = 0, cases = scaled(CASES, 500);
    for (int k = 0; k < cases; k++) {
        hill_points(&g, 20, points);
        dls_shape a = random_shape(&g, DLS_POLYGON), hills = chain(20, points, false);
        standing_pair pair = {.b = place(&hills, 0, 0, 0), .margin = 0.2};
        pair.a = place(&a, dls_random_between(&g, 3, 6), dls_random_between(&g, 0.5, 1),
                       dls_random_between(&g, 0, 6));
        convex p = convex_of(&pair.a);
        double least = INFINITY;
        for (int i = 0; i + 1 < 20; i++) {
            convex s = {.count = 2};
            vec_copy(s.point[0], points + 3 * i);
            vec_copy(s.point[1], points + 3 * i + 3);
            least = fmin(least, convex_distance(&p, &s));
        }
        bool under = false;
        for (int i = 0; i < p.count; i++)
            under = under || p.point[i][1] < height_of(points, 20, p.point[i][0]);
        standing_collide(&pair);
        assert_planar(&pair);
        if (under || least < 1e-9) {
            assert_true(standing_gap(&pair) < 1e-9);
            overlapping++;
        } else if (least < 0.2 - 1e-6) {
            assert_true(fabs(standing_gap(&pair) - least) < 1e-8);
            touching++;
        } else if (least > 0.2 + 1e-6) {
            assert_int_equal(pair.manifold.count, 0);
        }
        standing_free(&pair);
        dls_shape_release(&a), dls_shape_release(&hills);
    }
    assert_true(touching > cases / 10 && overlapping > cases / 10);
}

static void test_chains_stand_still(void **state) {
    (void)state;
    dls_random g = {35};
    double points[3 * JOINTS], table[12] = {-1, 1, 0, 1, 1, 0, 1, 0, 0, -1, 0, 0};
    double tub[12] = {-1, 2, 0, -1, 0, 0, 1, 0, 0, 1, 2, 0};
    flat_points(points);
    dls_shape ground = chain(JOINTS, points, false), solid = chain(4, table, true),
              open = chain(4, tub, false);
    dls_shape box = rectangle(1, 1), plank = rectangle(4, 0.2), same = rectangle(2, 1), ball = disc(0.25);
    const struct {
        const char *what;
        const dls_shape *a, *chain;
        double x, y, angle;
        int contacts;
    } cases[] = {
        {"disc on a joint", &ball, &ground, 0.5, 0.25, 0, 1},
        {"disc in the corner of a tub", &ball, &open, -0.75, 0.25, 0, 2},
        {"disc above the corner of a table", &ball, &solid, 1, 1.25, 0, 1},
        {"box with its corners on joints", &box, &ground, 0, 0.5, 0, 2},
        {"box between joints", &box, &ground, 0.2, 0.5, 0, 2},
        {"box in the corner of a tub", &box, &open, -0.5, 0.5, 0, 4},
        {"box a little through the wall", &box, &open, -0.5 - 1e-4, 0.5, 0, 4},
        {"box a little through wall and floor", &box, &open, -0.5 - 1e-4, 0.5 - 2e-4, 0, 4},
        {"box on a table", &box, &solid, 0.2, 1.5, 0, 2},
        {"box half over the table", &box, &solid, 1, 1.5, 0, 2},
        {"box as wide as the table", &same, &solid, 0, 1.5, 0, 2},
        {"plank wider than the table", &plank, &solid, 0.3, 1.1, 0, 2},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        standing_pair pair = {.a = place(cases[k].a, cases[k].x, cases[k].y, cases[k].angle), .margin = 1e-3};
        pair.b = place(cases[k].chain, 0, 0, 0);
        assert_still(&g, cases[k].what, &pair, cases[k].contacts);
    }
    dls_shape_release(&ground), dls_shape_release(&solid), dls_shape_release(&open), dls_shape_release(&box);
    dls_shape_release(&plank), dls_shape_release(&same), dls_shape_release(&ball);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disc_disc),
        cmocka_unit_test(test_disc_polygon),
        cmocka_unit_test(test_polygon_polygon),
        cmocka_unit_test(test_coincident),
        cmocka_unit_test(test_half_plane),
        cmocka_unit_test(test_drum),
        cmocka_unit_test(test_drum_is_round),
        cmocka_unit_test(test_polygons_stand_still),
        cmocka_unit_test(test_features_do_not_return),
        cmocka_unit_test(test_disc_feels_no_joints),
        cmocka_unit_test(test_polygon_feels_no_joints),
        cmocka_unit_test(test_disc_on_hills),
        cmocka_unit_test(test_polygon_on_hills),
        cmocka_unit_test(test_chains_stand_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
