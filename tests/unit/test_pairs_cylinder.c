/* Cylinders against everything: brute force over directions, certificates by points, regions, identity. */
#include "support/placed.h"
#include "support/scale.h"

#define PI 3.14159265358979323846

/* ---- shapes by the plain way ---- */

/* A random shape of the kind, of sizes within 1 : 8. */
static placed_body make(dls_random *g, dls_shape_kind kind) {
    dls_shape_def def = dls_default_shape_def(kind);
    double points[3 * 14];
    def.radius = dls_random_between(g, 0.2, 1);
    def.length = dls_random_between(g, 0.2, 1.6);
    for (int i = 0; i < 3; i++) def.size[i] = dls_random_between(g, 0.3, 2);
    if (kind == DLS_POLYHEDRON) {
        def.point_count = 5 + (int)dls_random_below(g, 10);
        for (int i = 0; i < 3 * def.point_count; i++) points[i] = dls_random_between(g, -0.9, 0.9);
        def.points = points;
    }
    return placed_from(&def);
}

/* A point of the shape that is farthest along n, in the world. */
static void support(const placed_body *b, const double *n, double *point) {
    const dls_shape *s = &b->shape;
    double d[3], p[3] = {0, 0, 0};
    mat_apply_transposed(d, b->placed.R, n);
    double flat = hypot(d[0], d[1]);
    if (s->kind == DLS_SPHERE) vec_scale(p, s->radius, d);
    if (s->kind == DLS_CAPSULE) {
        vec_scale(p, s->radius, d);
        p[2] += d[2] < 0 ? -s->length / 2 : s->length / 2;
    }
    if (s->kind == DLS_CYLINDER) {
        if (flat > 0) p[0] = s->radius * d[0] / flat, p[1] = s->radius * d[1] / flat;
        p[2] = d[2] < 0 ? -s->length / 2 : s->length / 2;
    }
    if (s->kind == DLS_BOX)
        for (int i = 0; i < 3; i++) p[i] = d[i] < 0 ? -s->size[i] : s->size[i];
    if (s->kind == DLS_POLYHEDRON) {
        int best = 0;
        for (int v = 1; v < s->hull->vertex_count; v++)
            if (vec_dot(d, s->hull->vertex + 3 * v) > vec_dot(d, s->hull->vertex + 3 * best)) best = v;
        vec_copy(p, s->hull->vertex + 3 * best);
    }
    mat_apply(p, b->placed.R, p);
    vec_add(point, b->placed.x, p);
}

static double separation(const placed_body *a, const placed_body *b, const double *n) {
    double back[3], p[3], q[3];
    vec_scale(back, -1, n);
    support(a, n, p);
    support(b, back, q);
    return vec_dot(n, q) - vec_dot(n, p);
}

/* How far outside of the shape a point lies; 0 inside. */
static double outside(const placed_body *b, const double *point) {
    const dls_shape *s = &b->shape;
    double p[3], out = 0;
    vec_sub(p, point, b->placed.x);
    mat_apply_transposed(p, b->placed.R, p);
    double rho = hypot(p[0], p[1]), over = fmax(0, fabs(p[2]) - s->length / 2);
    if (s->kind == DLS_SPHERE) out = vec_norm(p) - s->radius;
    if (s->kind == DLS_CAPSULE) out = hypot(rho, over) - s->radius;
    if (s->kind == DLS_CYLINDER) out = fmax(rho - s->radius, over);
    if (s->hull) {
        for (int f = 0; f < s->hull->face_count; f++)
            out = fmax(out, vec_dot(s->hull->face_normal + 3 * f, p) - s->hull->face_offset[f]);
    }
    return fmax(0, out);
}

/* ---- the largest separation over all directions: samples, then shrinking grids about the best ---- */

enum { SAMPLES = 300, RESTARTS = 6 };

typedef struct chart {
    const placed_body *a, *b;
    double centre[3], t[2][3];
} chart;

static double chart_value(const chart *c, const double *at, double *n) {
    vec_along(n, c->centre, at[0], c->t[0]);
    vec_along(n, n, at[1], c->t[1]);
    vec_scale(n, 1 / vec_norm(n), n);
    return separation(c->a, c->b, n);
}

typedef struct corner {
    double at[2], f;
} corner;

static corner chart_corner(const chart *c, double x, double y) {
    double n[3];
    corner k = {.at = {x, y}};
    k.f = chart_value(c, k.at, n);
    return k;
}

/* One step of Nelder and Mead's search with the corners in falling order. */
static void simplex_step(const chart *c, corner *s) {
    double mx = 0.5 * (s[0].at[0] + s[1].at[0]), my = 0.5 * (s[0].at[1] + s[1].at[1]);
    double dx = mx - s[2].at[0], dy = my - s[2].at[1];
    corner reflected = chart_corner(c, mx + dx, my + dy);
    if (reflected.f > s[0].f) {
        corner farther = chart_corner(c, mx + 2 * dx, my + 2 * dy);
        s[2] = farther.f > reflected.f ? farther : reflected;
    } else if (reflected.f > s[1].f) {
        s[2] = reflected;
    } else {
        double way = reflected.f > s[2].f ? 0.5 : -0.5;
        corner nearer = chart_corner(c, mx + way * dx, my + way * dy);
        if (nearer.f > fmax(reflected.f, s[2].f)) {
            s[2] = nearer;
        } else {
            for (int k = 1; k < 3; k++)
                s[k] = chart_corner(c, 0.5 * (s[0].at[0] + s[k].at[0]), 0.5 * (s[0].at[1] + s[k].at[1]));
        }
    }
    for (int k = 2; k > 0; k--)
        for (int j = 0; j < k; j++)
            if (s[j + 1].f > s[j].f) {
                corner t = s[j];
                s[j] = s[j + 1], s[j + 1] = t;
            }
}

/* The search over and over from its own end, with a new simplex: f has ridges. */
static double refine(const placed_body *a, const placed_body *b, double *n, double reach) {
    double f = 0;
    for (int restart = 0; restart < RESTARTS; restart++, reach *= 0.3) {
        chart c = {.a = a, .b = b};
        vec_copy(c.centre, n);
        vec_tangents(n, c.t[0], c.t[1]);
        corner s[3];
        for (int k = 0; k < 3; k++)
            s[k] = chart_corner(&c,
                                k == 1   ? reach * cos(restart)
                                : k == 2 ? -reach * sin(restart)
                                         : 0,
                                k == 1   ? reach * sin(restart)
                                : k == 2 ? reach * cos(restart)
                                         : 0);
        for (int k = 0; k < 2; k++) simplex_step(&c, s);
        for (int step = 0; step < 150; step++) {
            simplex_step(&c, s);
            if (fabs(s[1].at[0] - s[2].at[0]) + fabs(s[1].at[1] - s[2].at[1]) < 1e-13) break;
        }
        f = chart_value(&c, s[0].at, n);
    }
    return f;
}

/* starts: how many of the best samples are refined; one will do where shapes are apart. */
static double brute_gap(const placed_body *a, const placed_body *b, int starts, double *normal) {
    double sample[SAMPLES][3], value[SAMPLES], best = -INFINITY;
    for (int k = 0; k < SAMPLES; k++) {
        double z = 1 - (2.0 * k + 1) / SAMPLES, angle = k * PI * (3 - sqrt(5)), flat = sqrt(1 - z * z);
        vec_set(sample[k], flat * cos(angle), flat * sin(angle), z);
        value[k] = separation(a, b, sample[k]);
    }
    for (int start = 0; start < starts; start++) {
        int top = 0;
        for (int k = 1; k < SAMPLES; k++)
            if (value[k] > value[top]) top = k;
        if (value[top] < -1e300) break;
        double n[3];
        vec_copy(n, sample[top]);
        double f = refine(a, b, n, 0.2);
        if (f > best) best = f, vec_copy(normal, n);
        for (int k = 0; k < SAMPLES; k++) /* the next start is elsewhere */
            if (vec_dot(sample[k], sample[top]) > 0.97) value[k] = -HUGE_VAL;
    }
    return best;
}

/* ---- random poses ---- */

/* A cylinder and a partner of the kind; moved by their reach along a random direction they surely are apart,
 * `low` to `high` times that is where the partner goes. */
static void draw(dls_random *g, dls_shape_kind kind, double low, double high, placed_body *a,
                 placed_body *b) {
    double x[3], R[9], origin[3] = {0.3, -0.2, 0.1}, n[3];
    *a = make(g, DLS_CYLINDER);
    *b = make(g, kind);
    placed_turn(g, R);
    placed_at(a, origin, R);
    placed_turn(g, R);
    placed_at(b, origin, R);
    for (int i = 0; i < 3; i++) n[i] = dls_random_normal(g);
    vec_scale(n, 1 / vec_norm(n), n);
    vec_along(x, origin, -separation(a, b, n) * dls_random_between(g, low, high), n);
    placed_at(b, x, R);
}

/* The deepest contact joins a point of A with a point of B that are gap · n apart, and along n the shapes are
 * gap apart: where gap > 0 this proves that it is the distance. */
static void check_certificate(const placed_body *a, const placed_body *b, const dls_contact_point *c,
                              int pose) {
    double d[3], value = separation(a, b, c->normal);
    vec_sub(d, c->point_b, c->point_a);
    vec_along(d, d, -c->gap, c->normal);
    double off = fmax(vec_norm(d), fmax(outside(a, c->point_a), outside(b, c->point_b)));
    if (!(fabs(value - c->gap) < 1e-9 && off < 1e-9))
        fail_msg("%s, pose %d: gap %.15g, separation %.15g along its normal, points off by %.3g",
                 dls_shape_kind_name(b->shape.kind), pose, c->gap, value, off);
}

static void check_brute(const placed_body *a, const placed_body *b, const dls_contact_point *c, int starts,
                        int pose) {
    double n[3], gap = brute_gap(a, b, starts, n);
    if (c->gap < gap - 1e-9) /* what the search has is a lower bound too, so it cannot be above */
        fail_msg("%s, pose %d: gap %.15g, brute force %.15g along (%g, %g, %g)",
                 dls_shape_kind_name(b->shape.kind), pose, c->gap, gap, n[0], n[1], n[2]);
}

/* The same after both moved, after B moved along n, and with the roles exchanged where kinds are equal. */
static void check_motions(dls_random *g, const placed_body *a, const placed_body *b,
                          const dls_contact_point *c) {
    placed_body p = *a, q = *b;
    double R[9], S[9], x[3], n[3], shift[3] = {0.7, -1.1, 0.4};
    placed_contacts out = {.m = {.count = 0}};
    placed_turn(g, R);
    mat_apply(x, R, a->placed.x);
    vec_add(x, x, shift);
    mat_multiply(S, R, a->placed.R);
    placed_at(&p, x, S);
    mat_apply(x, R, b->placed.x);
    vec_add(x, x, shift);
    mat_multiply(S, R, b->placed.R);
    placed_at(&q, x, S);
    placed_collide(&p, &q, 1e3, &out);
    assert_true(fabs(placed_deepest(&out)->gap - c->gap) < 1e-9);
    mat_apply(n, R, c->normal);
    double sharp =
        c->gap > 1e-3 ? 1e-9 / c->gap : 1e-6; /* the normal of two sharp features that nearly touch */
    assert_true(vec_distance(n, placed_deepest(&out)->normal) < fmax(1e-9, sharp));

    vec_along(x, b->placed.x, 0.01, c->normal);
    placed_at(&q, x, b->placed.R);
    memset(&out.memory, 0, sizeof out.memory);
    placed_collide(a, &q, 1e3, &out);
    assert_true(fabs(placed_deepest(&out)->gap - c->gap - 0.01) < 1e-9);

    if (b->shape.kind == DLS_CYLINDER) {
        memset(&out.memory, 0, sizeof out.memory);
        placed_collide(b, a, 1e3, &out);
        assert_true(fabs(placed_deepest(&out)->gap - c->gap) < 1e-9);
        vec_add(x, placed_deepest(&out)->normal, c->normal);
        assert_true(vec_norm(x) < fmax(1e-9, sharp));
    }
    placed_contacts_free(&out);
}

static const dls_shape_kind partners[] = {DLS_SPHERE, DLS_CAPSULE, DLS_CYLINDER, DLS_BOX, DLS_POLYHEDRON};
enum { PARTNERS = sizeof partners / sizeof *partners };

static void test_apart(void **state) {
    (void)state;
    for (int which = 0; which < PARTNERS; which++) {
        dls_random g = {1000 + (uint64_t)which};
        placed_contacts out = {.m = {.count = 0}};
        for (int k = 0; k < scaled(10000, 100); k++) {
            placed_body a, b;
            draw(&g, partners[which], 1.0, 1.8, &a, &b);
            memset(&out.memory, 0, sizeof out.memory);
            placed_collide(&a, &b, 1e3, &out);
            placed_check(&out, 1e3);
            dls_contact_point c = *placed_deepest(&out);
            check_certificate(&a, &b, &c, k);
            if (k % 10 == 0) check_brute(&a, &b, &c, 1, k);
            if (k % 5 == 1) check_motions(&g, &a, &b, &c);
            placed_collide(&a, &b, c.gap - 1e-6, &out); /* what it remembers separates at once */
            assert_int_equal(out.m.count, 0);
            dls_shape_release(&a.shape);
            dls_shape_release(&b.shape);
        }
        placed_contacts_free(&out);
    }
}

static void test_overlapping(void **state) {
    (void)state;
    for (int which = 0; which < PARTNERS; which++) {
        dls_random g = {2000 + (uint64_t)which};
        placed_contacts out = {.m = {.count = 0}};
        for (int k = 0; k < scaled(10000, 50); k++) {
            placed_body a, b;
            draw(&g, partners[which], 0.7, 1.0, &a, &b);
            memset(&out.memory, 0, sizeof out.memory);
            placed_collide(&a, &b, 1e3, &out);
            placed_check(&out, 1e3);
            check_certificate(&a, &b, placed_deepest(&out), k);
            if (k % 40 == 0) check_brute(&a, &b, placed_deepest(&out), 6, k);
            dls_shape_release(&a.shape);
            dls_shape_release(&b.shape);
        }
        placed_contacts_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_overlapping),
    };
    return cmocka_run_group_tests_name("pairs_cylinder", tests, NULL, NULL);
}
