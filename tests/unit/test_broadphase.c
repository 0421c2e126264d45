/* Pairs of the broad phase against all pairs, one by one. */
#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "collide/broad/broadphase.h"
#include "support/allocator.h"
#include "support/place_all.h"
#include "support/scale.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct random_world {
    const char *name;
    int bodies;
    double ratio; /* of the largest radius to the smallest, 1 and more */
    double fill;  /* solid fraction, roughly: balls may overlap */
    int periodic; /* bits of directions */
    double speed; /* of everything */
    double fast;  /* of one in ten */
    bool groups, compound, walls;
    bool alike; /* all bodies dynamic */
} random_world;

static const random_world worlds[] = {
    {"equal", 300, 1, 0.6, 0, 0, 0, false, false, false, false},
    {"alike", 300, 1, 0.6, 0, 0.1, 0, false, false, false, true},
    {"alike sizes", 400, 100, 0.6, 0, 0.1, 0, false, false, true, true},
    {"few", 7, 1, 0.6, 0, 0.1, 0, false, false, true, false},
    {"moving", 300, 1, 0.3, 0, 3, 0, false, false, true, false},
    {"sizes", 400, 100, 0.6, 0, 0, 0, false, false, true, false},
    {"fast", 300, 4, 0.3, 0, 0.1, 300, false, false, true, false},
    {"groups", 300, 3, 0.6, 0, 0.1, 0, true, false, true, false},
    {"compounds", 200, 3, 0.6, 0, 0.1, 10, true, true, true, false},
    {"periodic x", 250, 1, 0.5, 1, 0.1, 0, false, false, false, false},
    {"periodic xy", 250, 5, 0.5, 3, 0.1, 10, false, true, true, false},
    {"periodic xyz", 250, 1, 0.5, 7, 0, 0, false, false, false, false},
    {"periodic sizes", 250, 50, 0.5, 7, 0.1, 30, true, true, false, false},
    {"tiny box", 3, 2, 0.5, 7, 0.1, 0, false, false, false, false},
    {"one in a box", 1, 1, 0.9, 5, 0.1, 0, false, true, false, false},
    {"fast in a tiny box", 5, 2, 0.5, 7, 5, 50, false, true, false, false},
};
enum { WORLDS = sizeof worlds / sizeof *worlds, MOST_BODIES = 512 };

static const dls_collide_options options = {.margin = 0.01, .h = 0.01, .threads = 1};

/* ---- worlds ---- */

typedef struct draft {
    double edge;
    dls_body_def bodies[MOST_BODIES];
    dls_shape_def shapes[MOST_BODIES][3];
} draft;

static void draw_body(dls_random *g, const random_world *kind, draft *d, int i) {
    dls_body_def *body = &d->bodies[i];
    *body = dls_default_body_def();
    double radius = 0.1 * exp(log(kind->ratio) * dls_random_unit(g));
    double speed = kind->fast > 0 && i % 10 == 0 ? kind->fast : kind->speed;
    for (int k = 0; k < 3; k++) {
        body->pose.x[k] = dls_random_between(g, -d->edge, d->edge) * 0.5;
        if (kind->periodic >> k & 1) body->pose.x[k] += d->edge * (double)(int)dls_random_between(g, -3, 4);
        body->v[k] = speed * dls_random_normal(g);
        body->w[k] = speed * dls_random_normal(g);
    }
    body->shape_count = kind->compound ? 3 : 1;
    body->shapes = d->shapes[i];
    if (i % 17 == 3 && !kind->alike) {
        body->motion = DLS_DRIVEN;
        vec_set(body->v, 0, 0, 0);
        vec_set(body->w, 0, 0, 0);
    }
    for (int s = 0; s < body->shape_count; s++) {
        dls_shape_def *shape = &d->shapes[i][s];
        *shape = dls_default_shape_def(DLS_SPHERE);
        shape->radius = radius;
        for (int k = 0; k < 3 && s > 0; k++) shape->pose.x[k] = radius * dls_random_normal(g);
        if (kind->groups)
            shape->group = 1u << dls_random_below(g, 3),
            shape->collides = 1 + (uint32_t)dls_random_below(g, 7);
    }
}

static draft *make_draft(dls_random *g, const random_world *kind) {
    draft *d = malloc(sizeof *d);
    double radius = 0.1 * (kind->ratio > 1 ? pow(kind->ratio, 0.7) : 1),
           volume = 4.2 * radius * radius * radius;
    d->edge = cbrt(kind->bodies * volume / kind->fill);
    for (int i = 0; i < kind->bodies; i++) draw_body(g, kind, d, i);
    return d;
}

static void add_wall(dls_world *world, double height, const double *w) {
    dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
    dls_body_def body = dls_default_body_def();
    body.motion = DLS_DRIVEN;
    body.pose.x[2] = height;
    body.shapes = &shape;
    body.shape_count = 1;
    dls_function *turn[3];
    for (int k = 0; k < 3; k++) {
        assert_int_equal(dls_function_constant(w[k], &turn[k], NULL), DLS_OK);
        body.drive[3 + k].velocity = turn[k];
    }
    dls_body_id id;
    assert_int_equal(dls_world_add_body(world, &body, &id, NULL), DLS_OK);
}

/* The bodies of a draft from number `first` on, round about, which is another order of the same. */
static dls_world *make_world(const random_world *kind, const draft *d, int first) {
    dls_world_def def = dls_default_world_def();
    for (int k = 0; k < 3; k++)
        if (kind->periodic >> k & 1) def.period_low[k] = -0.3 * d->edge, def.period_size[k] = d->edge;
    dls_world *world;
    dls_error error;
    assert_int_equal(dls_world_create(&def, &world, &error), DLS_OK);
    for (int i = 0; i < kind->bodies; i++) {
        int at = first ? (first + 11 * i) % kind->bodies : i;
        dls_body_id id;
        dls_status status = dls_world_add_body(world, &d->bodies[at], &id, &error);
        if (status) fail_msg("%s: %s", kind->name, error.message);
    }
    if (kind->walls) add_wall(world, -0.5 * d->edge, (const double[]){0, 0, 0});
    if (kind->walls && !kind->periodic) add_wall(world, -0.4 * d->edge, (const double[]){0.5, 0.2, 0});
    bool changed;
    assert_int_equal(dls_world_settle(world, 0, &changed, &error), DLS_OK);
    assert_int_equal(dls_world_drive(world, options.h, options.h, &error), DLS_OK);
    return world;
}

/* ---- the plain way ---- */

static double gap_of(const dls_placed *a, const dls_placed *b, const double *shift) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = b->x[k] + shift[k] - a->x[k];
    if (b->shape->kind == DLS_HALF_SPACE) return -vec_dot(d, b->R + 6) - a->shape->radius;
    if (a->shape->kind == DLS_HALF_SPACE) return vec_dot(d, a->R + 6) - b->shape->radius;
    return vec_norm(d) - a->shape->radius - b->shape->radius;
}

static bool allowed(const dls_world *w, const dls_shape_pair *p) {
    const dls_shape *a = &w->shapes[p->a], *b = &w->shapes[p->b];
    bool home = !p->image[0] && !p->image[1] && !p->image[2];
    if (a->body == b->body && home) return false;
    if (w->bodies[a->body].motion != DLS_DYNAMIC && w->bodies[b->body].motion != DLS_DYNAMIC) return false;
    return (a->group & b->collides) && (b->group & a->collides);
}

static int order_of(const dls_shape_pair *p, const dls_shape_pair *q) {
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (p->image[k] != q->image[k]) return p->image[k] < q->image[k] ? -1 : 1;
    return 0;
}

static bool listed(const dls_shape_pair *pairs, int count, const dls_shape_pair *wanted) {
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        int order = order_of(&pairs[middle], wanted);
        if (order == 0) return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static void shift_of(const dls_world *w, const dls_shape_pair *p, double *shift) {
    for (int k = 0; k < 3; k++) shift[k] = p->image[k] * w->def.period_size[k];
}

typedef struct found {
    const dls_shape_pair *pairs;
    int count, needed;
} found;

/* Every image of b about a that may be near. */
static void check_images(const random_world *kind, const dls_world *w, const dls_placed *placed, int a, int b,
                         found *f) {
    int first[3] = {0, 0, 0}, last[3] = {0, 0, 0};
    bool wall = placed[a].shape->kind == DLS_HALF_SPACE || placed[b].shape->kind == DLS_HALF_SPACE;
    for (int k = 0; k < 3; k++) {
        if (!(w->def.period_size[k] > 0) || wall) continue;
        double d = placed[a].x[k] - placed[b].x[k];
        int near = (int)nearbyint(d / w->def.period_size[k]);
        int most = kind->bodies < 10 ? 14 : 2;
        first[k] = near - most, last[k] = near + most;
    }
    for (int i = first[0]; i <= last[0]; i++)
        for (int j = first[1]; j <= last[1]; j++)
            for (int k = first[2]; k <= last[2]; k++) {
                dls_shape_pair p = {a, b, {(int16_t)i, (int16_t)j, (int16_t)k}};
                int sign = i ? i : j ? j : k;
                double shift[3];
                if (!allowed(w, &p) || (a == b && sign < 0)) continue;
                shift_of(w, &p, shift);
                double reach = dls_pair_reach(w, placed, &options, &p, shift);
                if (gap_of(&placed[a], &placed[b], shift) > reach) continue;
                f->needed++;
                if (!listed(f->pairs, f->count, &p))
                    fail_msg("%s: pair %d %d image %d %d %d is missing", kind->name, a, b, i, j, k);
            }
}

/* Nothing twice, nothing that may not collide, nothing that could not be reached at all speeds together. */
static void check_list(const random_world *kind, const dls_world *w, const dls_placed *placed,
                       const found *f) {
    double fastest = 0;
    for (int i = 0; i < w->body_count; i++) fastest = fmax(fastest, vec_norm(w->states[i].v));
    for (int k = 0; k < f->count; k++) {
        const dls_shape_pair *p = &f->pairs[k];
        double shift[3];
        shift_of(w, p, shift);
        if (k > 0) assert_true(order_of(p - 1, p) < 0);
        assert_true(p->a <= p->b && allowed(w, p));
        const dls_body_state *a = &w->states[w->shapes[p->a].body], *b = &w->states[w->shapes[p->b].body];
        double own = options.h * (vec_norm(a->v) + vec_norm(b->v) + 2 * fastest);
        double reach = dls_pair_reach(w, placed, &options, p, shift) + own + 1e-12;
        if (gap_of(&placed[p->a], &placed[p->b], shift) > reach)
            fail_msg("%s: pair %d %d cannot meet", kind->name, p->a, p->b);
    }
}

static void check_world(const random_world *kind, uint64_t seed) {
    dls_random g = {seed};
    draft *d = make_draft(&g, kind);
    dls_world *w = make_world(kind, d, 0);
    dls_placed *placed = place_all(w);
    dls_broadphase *broad = dls_broadphase_create();
    found f = {.needed = 0};
    dls_error error;
    dls_collide_options o = options;
    o.scratch = dls_workspace_create();
    if (dls_broadphase_find(broad, w, placed, &o, &f.pairs, &f.count, &error))
        fail_msg("%s: %s", kind->name, error.message);
    for (int a = 0; a < w->shape_count; a++)
        for (int b = a; b < w->shape_count; b++) check_images(kind, w, placed, a, b, &f);
    check_list(kind, w, placed, &f);
    if (kind->bodies > 100 && !kind->groups) assert_true(f.needed > kind->bodies / 2);
    if (kind->speed <= 0.1 && kind->fast == 0) assert_true(f.count <= 2 * f.needed + 20);
    dls_broadphase_destroy(broad);
    dls_workspace_destroy(o.scratch);
    free(placed);
    dls_world_destroy(w);
    free(d);
}

static void test_all_pairs(void **state) {
    (void)state;
    for (int k = 0; k < WORLDS; k++)
        for (int seed = 0; seed < scaled(3, 1); seed++) check_world(&worlds[k], (uint64_t)(100 * k + seed));
}

/* ---- the same list ---- */

static dls_shape_pair *copy_of_list(const dls_world *w, int threads, int *count) {
    dls_placed *placed = place_all(w);
    dls_broadphase *broad = dls_broadphase_create();
    dls_collide_options o = options;
    const dls_shape_pair *pairs;
    o.threads = threads;
    o.scratch = dls_workspace_create();
    assert_int_equal(dls_broadphase_find(broad, w, placed, &o, &pairs, count, NULL), DLS_OK);
    dls_shape_pair *copy = calloc((size_t)*count + 1, sizeof *copy);
    for (int k = 0; k < *count; k++) copy[k] = pairs[k];
    dls_broadphase_destroy(broad);
    dls_workspace_destroy(o.scratch);
    free(placed);
    return copy;
}

static void check_same(const dls_shape_pair *p, int p_count, const dls_shape_pair *q, int q_count) {
    assert_int_equal(p_count, q_count);
    for (int k = 0; k < p_count; k++) assert_int_equal(order_of(&p[k], &q[k]), 0);
}

static void test_order_of_insertion(void **state) {
    (void)state;
    for (int k = 0; k < WORLDS; k++) {
        dls_random g = {77 + (uint64_t)k};
        draft *d = make_draft(&g, &worlds[k]);
        dls_world *one = make_world(&worlds[k], d, 0),
                  *other = make_world(&worlds[k], d, 41 % worlds[k].bodies);
        int one_count, other_count;
        dls_shape_pair *p = copy_of_list(one, 1, &one_count), *q = copy_of_list(other, 1, &other_count);
        check_same(p, one_count, q, other_count);
        free(p);
        free(q);
        dls_world_destroy(one);
        dls_world_destroy(other);
        free(d);
    }
}

/* Enough bodies for several tasks of every kind. */
static dls_world *crowd(int count, double ratio, int periodic) {
    dls_random g = {5};
    const double edge = cbrt(count * 0.0042 * (ratio > 1 ? 8 : 1) / 0.5);
    dls_world_def def = dls_default_world_def();
    for (int k = 0; k < 3; k++)
        if (periodic >> k & 1) def.period_size[k] = edge;
    dls_world *w;
    assert_int_equal(dls_world_create(&def, &w, NULL), DLS_OK);
    for (int i = 0; i < count; i++) {
        dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
        dls_body_def body = dls_default_body_def();
        shape.radius = 0.1 * exp(log(ratio) * pow(dls_random_unit(&g), 4));
        for (int k = 0; k < 3; k++) body.pose.x[k] = edge * dls_random_unit(&g);
        body.shapes = &shape;
        body.shape_count = 1;
        dls_body_id id;
        assert_int_equal(dls_world_add_body(w, &body, &id, NULL), DLS_OK);
    }
    add_wall(w, 0.2, (const double[]){0, 0, 0});
    bool changed;
    assert_int_equal(dls_world_settle(w, 0, &changed, NULL), DLS_OK);
    return w;
}

static void test_threads(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        dls_world *w = crowd(scaled(12000, 3000), k & 1 ? 30 : 1, k & 2 ? 7 : 0);
        int one, more;
        dls_shape_pair *p = copy_of_list(w, 1, &one);
        assert_true(one > 3000);
        for (int threads = 2; threads <= 4; threads += 2) {
            dls_shape_pair *q = copy_of_list(w, threads, &more);
            check_same(p, one, q, more);
            free(q);
        }
        free(p);
        dls_world_destroy(w);
    }
}

/* ---- odd cases ---- */

/* A plate longer than the period is met once; images of what went round for long have their number. */
static void test_wide_plate_and_far_images(void **state) {
    (void)state;
    dls_world_def def = dls_default_world_def();
    def.period_size[0] = def.period_size[1] = 1;
    dls_world *w;
    assert_int_equal(dls_world_create(&def, &w, NULL), DLS_OK);
    dls_shape_def plate = dls_default_shape_def(DLS_BOX), ball = dls_default_shape_def(DLS_SPHERE);
    plate.size[0] = plate.size[1] = 7.3, plate.size[2] = 0.1;
    ball.radius = 0.1;
    dls_body_def body = dls_default_body_def();
    body.shape_count = 1;
    body.shapes = &plate;
    body.motion = DLS_STATIC;
    dls_body_id id;
    assert_int_equal(dls_world_add_body(w, &body, &id, NULL), DLS_OK);
    body.motion = DLS_DYNAMIC;
    body.shapes = &ball;
    body.pose.x[0] = 1000.4, body.pose.x[2] = 0.151;
    assert_int_equal(dls_world_add_body(w, &body, &id, NULL), DLS_OK);
    body.pose.x[0] = -4.45;
    assert_int_equal(dls_world_add_body(w, &body, &id, NULL), DLS_OK);
    bool changed;
    assert_int_equal(dls_world_settle(w, 0, &changed, NULL), DLS_OK);
    int count, plates = 0;
    dls_shape_pair *pairs = copy_of_list(w, 1, &count);
    for (int k = 0; k < count; k++) {
        bool box = w->shapes[pairs[k].a].kind == DLS_BOX || w->shapes[pairs[k].b].kind == DLS_BOX;
        plates += box;
        double xa = w->states[pairs[k].a].x[0], xb = w->states[pairs[k].b].x[0] + pairs[k].image[0];
        if (!box) assert_true(fabs(xb - xa) < 0.22);
        if (box) assert_true(fabs(xb - xa) <= 0.5);
    }
    assert_int_equal(plates, 2);
    assert_int_equal(count, 3);
    free(pairs);
    dls_world_destroy(w);
}

static void test_state_that_is_no_number(void **state) {
    (void)state;
    dls_world *w = crowd(20, 1, 0);
    w->states[7].v[1] = NAN;
    dls_placed *placed = place_all(w);
    dls_broadphase *broad = dls_broadphase_create();
    const dls_shape_pair *pairs;
    int count;
    dls_error error;
    dls_collide_options o = options;
    o.scratch = dls_workspace_create();
    assert_int_equal(dls_broadphase_find(broad, w, placed, &o, &pairs, &count, &error), DLS_ERROR_NUMERIC);
    assert_non_null(strstr(error.message, "not a number"));
    w->states[7].v[1] = 1e50; /* absurd, but no reason to fail */
    assert_int_equal(dls_broadphase_find(broad, w, placed, &o, &pairs, &count, &error), DLS_OK);
    for (int k = 0; k < 20; k++)
        for (int i = 0; i < 3; i++) w->states[k].x[i] = placed[k].x[i] = k % 2 ? 1e308 : -1e308;
    assert_int_equal(dls_broadphase_find(broad, w, placed, &o, &pairs, &count, &error),
                     DLS_ERROR_NUMERIC); /* no distance between them is a number */
    assert_non_null(strstr(error.message, "beyond 1e+60"));
    dls_broadphase_destroy(broad);
    dls_workspace_destroy(o.scratch);
    free(placed);
    dls_world_destroy(w);
}

static void test_memory(void **state) {
    (void)state;
    for (int periodic = 0; periodic < 8; periodic += 7) {
        dls_world *w = crowd(400, 30, periodic);
        dls_placed *placed = place_all(w);
        const dls_shape_pair *pairs;
        int count, tries = 0;
        for (int fail_at = 1; fail_at < 200; fail_at++) {
            counting_begin(fail_at);
            dls_broadphase *broad = dls_broadphase_create();
            dls_collide_options o = options;
            dls_status status = DLS_ERROR_MEMORY;
            o.scratch = dls_workspace_create();
            if (broad) status = dls_broadphase_find(broad, w, placed, &o, &pairs, &count, NULL);
            if (o.scratch) dls_workspace_release(o.scratch, (dls_workspace_mark){0, 0});
            int asked = counting_allocations();
            bool whole = !status && asked < fail_at;
            if (whole) { /* once grown, nothing more is asked for */
                status = dls_broadphase_find(broad, w, placed, &o, &pairs, &count, NULL);
                assert_int_equal(counting_allocations(), asked);
            }
            dls_broadphase_destroy(broad);
            dls_workspace_destroy(o.scratch);
            assert_int_equal(counting_end(), 0);
            assert_true(status == DLS_OK || status == DLS_ERROR_MEMORY);
            if (whole) break;
            tries++;
        }
        assert_in_range(tries, 5, 150);
        free(placed);
        dls_world_destroy(w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_order_of_insertion),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_wide_plate_and_far_images),
        cmocka_unit_test(test_state_that_is_no_number),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
