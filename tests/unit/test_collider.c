/* Contacts of whole worlds: against all pairs one by one, from step to step, and through bytes. */
#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "collide/collider.h"
#include "collide/meeting.h"
#include "support/allocator.h"
#include "support/near.h"
#include "support/place_all.h"
#include "support/scale.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const dls_collide_options options = {.margin = 0.02, .h = 0.01, .threads = 1};

/* ---- worlds ---- */

static void add(dls_world *w, const dls_body_def *body) {
    dls_body_id id;
    dls_error error;
    if (dls_world_add_body(w, body, &id, &error)) fail_msg("%s", error.message);
}

static void settle(dls_world *w, double t) {
    bool changed;
    dls_error error;
    if (dls_world_settle(w, t, &changed, &error)) fail_msg("%s", error.message);
}

static void add_floor(dls_world *w) {
    dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
    dls_body_def body = dls_default_body_def();
    body.motion = DLS_STATIC;
    body.shapes = &shape;
    body.shape_count = 1;
    add(w, &body);
}

static dls_world *empty_world(int periodic, double edge) {
    dls_world_def def = dls_default_world_def();
    for (int k = 0; k < 3; k++)
        if (periodic >> k & 1) def.period_size[k] = edge;
    dls_world *w;
    assert_int_equal(dls_world_create(&def, &w, NULL), DLS_OK);
    return w;
}

/* Spheres, boxes, capsules and compounds of them above a floor, close enough to touch. */
static dls_world *mixed_world(int count, uint64_t seed, int periodic, bool spheres) {
    dls_random g = {seed};
    double edge = cbrt(count * 0.03);
    dls_world *w = empty_world(periodic, edge);
    for (int i = 0; i < count; i++) {
        dls_shape_def shapes[2] = {dls_default_shape_def(DLS_SPHERE), dls_default_shape_def(DLS_SPHERE)};
        if (!spheres && i % 3 == 1) shapes[0] = dls_default_shape_def(DLS_BOX);
        if (!spheres && i % 3 == 2) shapes[0] = dls_default_shape_def(DLS_CAPSULE);
        shapes[0].radius = 0.12, shapes[1].radius = 0.1, shapes[0].length = 0.3;
        shapes[1].pose.x[0] = 0.15;
        vec_set(shapes[0].size, 0.2, 0.3, 0.25);
        dls_body_def body = dls_default_body_def();
        double turn[3];
        for (int k = 0; k < 3; k++) {
            body.pose.x[k] = edge * dls_random_unit(&g);
            body.v[k] = dls_random_normal(&g), body.w[k] = dls_random_normal(&g);
            turn[k] = dls_random_normal(&g);
        }
        quat_exponential(body.pose.q, turn);
        body.shapes = shapes;
        body.shape_count = i % 5 == 0 ? 2 : 1;
        add(w, &body);
    }
    if (!(periodic & 4)) add_floor(w);
    settle(w, 0);
    return w;
}

/* A row of spheres that touch, on the floor. */
static dls_world *row_of_balls(int count) {
    dls_world *w = empty_world(0, 0);
    dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
    shape.radius = 0.5;
    dls_body_def body = dls_default_body_def();
    body.shapes = &shape;
    body.shape_count = 1;
    for (int i = 0; i < count; i++) {
        body.pose.x[0] = 0.999 * i, body.pose.x[2] = 0.505;
        add(w, &body);
    }
    add_floor(w);
    settle(w, 0);
    return w;
}

static void update(dls_collider *c, const dls_world *w, int threads) {
    dls_collide_options o = options;
    dls_error error;
    o.threads = threads;
    if (dls_collider_update(c, w, &o, &error)) fail_msg("%s", error.message);
}

static void move(dls_world *w, double h) {
    for (int i = 0; i < w->body_count; i++)
        if (w->bodies[i].motion == DLS_DYNAMIC) vec_along(w->states[i].x, w->states[i].x, h, w->states[i].v);
}

/* Some impulse that depends on nothing but the contact. */
static void push(dls_collider *c) {
    for (int k = 0; k < dls_collider_count(c); k++) {
        dls_contact *contact = &dls_collider_contacts(c)[k];
        if (contact->at.gap > 0) continue;
        vec_scale(contact->impulse, 1 + contact->at.gap + contact->uid_a, contact->at.normal);
        contact->moment[1] = contact->uid_b;
    }
}

/* ---- all pairs, one by one ---- */

static bool may_collide(const dls_world *w, int a, int b, bool home) {
    const dls_shape *p = &w->shapes[a], *q = &w->shapes[b];
    if (p->body == q->body && home) return false;
    return w->bodies[p->body].motion == DLS_DYNAMIC || w->bodies[q->body].motion == DLS_DYNAMIC;
}

/* Contacts of one pair by its row alone. */
static int count_alone(const dls_placed *placed, const dls_world *w, const dls_shape_pair *p) {
    const dls_placed *a = &placed[p->a];
    dls_placed b = placed[p->b];
    double shift[3];
    for (int k = 0; k < 3; k++) shift[k] = p->image[k] * w->def.period_size[k];
    vec_add(b.x, b.x, shift);
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(a->shape->kind, b.shape->kind, &swapped);
    dls_pair_memory memory = {.used = 0};
    dls_manifold m = {.count = 0};
    double reach = dls_pair_reach(w, placed, &options, p, shift);
    row->collide(swapped ? &b : a, swapped ? a : &b, reach, &memory, NULL, 0, &m);
    int count = m.count;
    dls_free(m.point);
    return count;
}

static void check_pair(const dls_collider *c, const dls_placed *placed, const dls_world *w,
                       const dls_shape_pair *p, int *next) {
    int sign = p->image[0] ? p->image[0] : p->image[1] ? p->image[1] : p->image[2];
    if (!may_collide(w, p->a, p->b, sign == 0) || (p->a == p->b && sign < 0)) return;
    int count = count_alone(placed, w, p);
    for (int k = 0; k < count; k++, ++*next) {
        assert_true(*next < c->contacts.count);
        const dls_contact *at = &c->contacts.item[*next];
        assert_true(at->a == p->a && at->b == p->b && !memcmp(at->image, p->image, sizeof p->image));
        assert_int_equal(at->uid_a, w->bodies[at->body_a].uid);
        assert_int_equal(at->body_b, w->shapes[p->b].body);
        assert_int_equal(w->bodies[at->body_b].shape_first + at->local_b, p->b);
        if (k > 0) assert_true(at[-1].at.feature < at->at.feature);
        double d[3];
        vec_sub(d, at->at.point_b, at->at.point_a);
        assert_true(fabs(vec_dot(d, at->at.normal) - at->at.gap) < 1e-9);
    }
}

static void test_all_pairs(void **state) {
    (void)state;
    for (int seed = 0; seed < scaled(8, 2); seed++) {
        int periodic = seed % 2 ? 3 : 0, next = 0;
        dls_world *w = mixed_world(120, 40 + (uint64_t)seed, periodic, false);
        dls_collider *c = dls_collider_create();
        dls_placed *placed = place_all(w);
        update(c, w, 1);
        int most = periodic ? 2 : 0;
        for (int a = 0; a < w->shape_count; a++)
            for (int b = a; b < w->shape_count; b++) {
                bool wall = isinf(w->shapes[a].bound) || isinf(w->shapes[b].bound);
                int n = wall ? 0 : most;
                for (int i = -n; i <= n; i++)
                    for (int j = -n; j <= n; j++)
                        check_pair(c, placed, w, &(dls_shape_pair){a, b, {(int16_t)i, (int16_t)j, 0}}, &next);
            }
        assert_int_equal(next, dls_collider_count(c));
        assert_true(next > 60);
        free(placed);
        dls_collider_destroy(c);
        dls_world_destroy(w);
    }
}

/* ---- from step to step ---- */

static const dls_contact *find(dls_collider *c, int uid_a, int uid_b) {
    for (int k = 0; k < dls_collider_count(c); k++) {
        const dls_contact *at = &dls_collider_contacts(c)[k];
        if (at->uid_a == uid_a && at->uid_b == uid_b) return at;
    }
    return NULL;
}

static void test_persistence(void **state) {
    (void)state;
    dls_world *w = row_of_balls(12);
    dls_collider *c = dls_collider_create();
    update(c, w, 1);
    assert_int_equal(dls_collider_count(c), 11 + 12);
    for (int k = 0; k < 23; k++) {
        assert_false(dls_collider_contacts(c)[k].closed);
        assert_true(vec_norm(dls_collider_contacts(c)[k].impulse) == 0);
    }
    push(c);
    dls_contact before[23];
    memcpy(before, dls_collider_contacts(c), sizeof before);
    /* one leaves, one moves away, and one comes new: the rest keeps what it had */
    int gone = w->bodies[4].uid, away = w->bodies[8].uid;
    assert_int_equal(dls_world_remove_body(w, w->bodies[4].id, NULL), DLS_OK);
    w->states[8].x[1] += 3;
    dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
    shape.radius = 0.5;
    dls_body_def body = dls_default_body_def();
    body.shapes = &shape;
    body.shape_count = 1;
    body.pose.x[0] = -0.999, body.pose.x[2] = 0.505;
    add(w, &body);
    settle(w, 0.1);
    update(c, w, 1);
    int kept = 0;
    for (int k = 0; k < 23; k++) {
        const dls_contact *was = &before[k], *is = find(c, was->uid_a, was->uid_b);
        bool lost = was->uid_a == gone || was->uid_b == gone;
        bool floor = was->at.gap > 0; /* balls hang above it */
        bool parted = !floor && (was->uid_a == away || was->uid_b == away);
        if (lost || parted) {
            assert_null(is);
            continue;
        }
        assert_non_null(is);
        kept++;
        assert_true(is->closed == !floor);
        assert_memory_equal(is->impulse, was->impulse, sizeof is->impulse);
        assert_memory_equal(is->moment, was->moment, sizeof is->moment);
        assert_int_equal(w->bodies[is->body_a].uid, is->uid_a);
    }
    assert_true(kept >= 23 - 3 - 2 && dls_collider_count(c) == kept + 2);
    dls_collider_destroy(c);
    dls_world_destroy(w);
}

/* A ball between another one and its image: each of the two contacts keeps what it had, also where it is
 * alone. */
static void test_persistence_of_images(void **state) {
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        dls_world *w = empty_world(1, 2);
        dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
        shape.radius = 0.5;
        dls_body_def body = dls_default_body_def();
        body.shapes = &shape;
        body.shape_count = 1;
        for (int k = 0; k < 2; k++) {
            body.pose.x[0] = 0.5 + k;
            add(w, &body);
        }
        settle(w, 0);
        dls_collider *c = dls_collider_create();
        update(c, w, 1);
        assert_int_equal(dls_collider_count(c), 2);
        for (int k = 0; k < 2; k++)
            dls_collider_contacts(c)[k].impulse[0] = 10 + dls_collider_contacts(c)[k].image[0];
        w->states[1].x[0] += 0.1 * side; /* away from the one, into the other */
        update(c, w, 1);
        assert_int_equal(dls_collider_count(c), 1);
        assert_true(dls_collider_contacts(c)->impulse[0] == 10 + dls_collider_contacts(c)->image[0]);
        dls_collider_destroy(c);
        dls_world_destroy(w);
    }
}

/* A stand-in that remembers: three points of which two have one name. It counts its calls, and sees its
 * points of last time as it made them. */
static void counting_row(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                         const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    double d[3];
    vec_sub(d, b->x, a->x);
    if (a->shape->kind == DLS_SPHERE || b->shape->kind == DLS_SPHERE) assert_true(margin >= options.margin);
    if (memory->used) {
        assert_int_equal(last_count, 3);
        for (int k = 0; k < 3; k++) assert_true(last[k].point_a[0] < 10);
        assert_true(last[0].gap == memory->n[0]);
        assert_true(vec_dot(last[0].normal, memory->n) == memory->n[0] * last[0].normal[0]);
    } else {
        assert_int_equal(last_count, 0);
    }
    memory->used = 1;
    memory->feature[0]++;
    vec_set(memory->n, d[0], 0, 0);
    dls_manifold_add(manifold, a->x, b->x, (double[]){1, 0, 0}, d[0], 7);
    dls_manifold_add(manifold, a->x, b->x, (double[]){1, 0, 0}, d[0] + 1, 7);
    dls_manifold_add(manifold, a->x, b->x, (double[]){1, 0, 0}, d[0] + 2, (uint64_t)memory->feature[0] + 100);
}

static const dls_pair_kind counting = {DLS_SPHERE, DLS_SPHERE, counting_row, false, true, "a stand-in"};

static void use_stand_in(dls_collider *c, bool swapped) {
    c->rows[DLS_SPHERE][DLS_SPHERE].row = &counting;
    c->rows[DLS_SPHERE][DLS_SPHERE].swapped = swapped;
}

static void test_memory_of_pairs(void **state) {
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        dls_world *w = row_of_balls(6);
        dls_collider *c = dls_collider_create();
        use_stand_in(c, swapped);
        for (int step = 1; step < 5; step++) {
            update(c, w, 1);
            assert_int_equal(c->kept.count, 5);
            assert_int_equal(dls_collider_count(c), 5 * 3 + 6);
            for (int k = 0; k < 5; k++) {
                const dls_kept_pair *kept = &c->kept.item[k];
                assert_int_equal(kept->memory.feature[0], step);
                const dls_contact *at = &dls_collider_contacts(c)[kept->first];
                assert_int_equal(at[0].at.feature, 7);
                assert_true(at[0].at.feature < at[1].at.feature && at[1].at.feature < at[2].at.feature);
                assert_true(at[0].at.normal[0] == (swapped ? -1 : 1));
                /* the name that came twice is the same in every step, the third is new each time */
                int twin = at[1].at.gap - at[0].at.gap == 1 ? 1 : 2;
                assert_true(at[twin].impulse[0] == (step > 1 ? 5 : 0));
                assert_true(at[3 - twin].impulse[0] == 0);
            }
            for (int k = 0; k < dls_collider_count(c); k++) dls_collider_contacts(c)[k].impulse[0] = 5;
        }
        w->states[2].x[1] += 5; /* who parts forgets */
        update(c, w, 1);
        assert_int_equal(c->kept.count, 3);
        dls_collider_destroy(c);
        dls_world_destroy(w);
    }
}

static void test_threads(void **state) {
    (void)state;
    for (int periodic = 0; periodic < 4; periodic += 3) {
        dls_world *w = mixed_world(scaled(4000, 1500), 9, periodic, false);
        dls_collider *one = dls_collider_create(), *two = dls_collider_create(),
                     *four = dls_collider_create();
        for (int step = 0; step < 3; step++) {
            update(one, w, 1);
            update(two, w, 2);
            update(four, w, 4);
            size_t size = sizeof(dls_contact) * (size_t)dls_collider_count(one);
            assert_true(size > 1000 * sizeof(dls_contact));
            assert_int_equal(dls_collider_count(one), dls_collider_count(two));
            assert_int_equal(dls_collider_count(one), dls_collider_count(four));
            assert_memory_equal(dls_collider_contacts(one), dls_collider_contacts(two), size);
            assert_memory_equal(dls_collider_contacts(one), dls_collider_contacts(four), size);
            push(one), push(two), push(four);
            move(w, 0.002);
        }
        dls_collider_destroy(one);
        dls_collider_destroy(two);
        dls_collider_destroy(four);
        dls_world_destroy(w);
    }
}

/* ---- bytes ---- */

static unsigned char *bytes_of(const dls_collider *c, size_t *size) {
    *size = dls_collider_memory_size(c);
    unsigned char *bytes = malloc(*size);
    dls_collider_memory_write(c, bytes);
    return bytes;
}

static void test_round_trip(void **state) {
    (void)state;
    for (int seed = 0; seed < scaled(6, 2); seed++) {
        dls_world *w = mixed_world(150, 70 + (uint64_t)seed, seed % 2 ? 7 : 0, seed % 3 == 0);
        dls_collider *on = dls_collider_create(), *back = dls_collider_create();
        for (int step = 0; step < 2; step++) update(on, w, 1), push(on), move(w, 0.002);
        size_t size, again;
        unsigned char *bytes = bytes_of(on, &size);
        assert_int_equal(dls_collider_memory_open(back, w, bytes, size, NULL), DLS_OK);
        dls_collider_memory_use(back, bytes, size);
        unsigned char *copy = bytes_of(back, &again);
        assert_int_equal(size, again);
        assert_memory_equal(bytes, copy, size);
        for (int step = 0; step < 3; step++) {
            update(on, w, 1);
            update(back, w, 2);
            assert_int_equal(dls_collider_count(on), dls_collider_count(back));
            assert_memory_equal(dls_collider_contacts(on), dls_collider_contacts(back),
                                sizeof(dls_contact) * (size_t)dls_collider_count(on));
            push(on), push(back), move(w, 0.002);
        }
        free(bytes);
        free(copy);
        dls_collider_destroy(on);
        dls_collider_destroy(back);
        dls_world_destroy(w);
    }
}

/* Bytes of the version before, whose contacts ended with one number that was never used, give the same
 * contacts without moments. */
static void test_earlier_bytes(void **state) {
    (void)state;
    dls_world *w = mixed_world(150, 80, 0, true);
    dls_collider *on = dls_collider_create(), *back = dls_collider_create();
    update(on, w, 1), push(on), move(w, 0.002);
    size_t size, earlier = offsetof(dls_past_contact, moment) + sizeof(double),
                 item = sizeof(dls_past_contact);
    unsigned char *bytes = bytes_of(on, &size), *old = calloc(size, 1), *to = old;
    int64_t head[4];
    memcpy(head, bytes, sizeof head); /* magic, contacts, pairs, points */
    memcpy(to, "DLCOLL01", 8);
    memcpy(to + 8, bytes + 8, sizeof head - 8);
    to += sizeof head;
    for (int64_t k = 0; k < head[1]; k++, to += earlier) {
        memcpy(to, bytes + sizeof head + (size_t)k * item, earlier);
        memset(to + earlier - sizeof(double), 0, sizeof(double));
    }
    size_t rest = size - sizeof head - (size_t)head[1] * item;
    memcpy(to, bytes + size - rest, rest);
    size_t old_size = (size_t)(to - old) + rest;
    assert_true(head[1] > 10);
    assert_int_equal(dls_collider_memory_open(back, w, old, old_size, NULL), DLS_OK);
    dls_collider_memory_use(back, old, old_size);
    update(on, w, 1), update(back, w, 1);
    assert_int_equal(dls_collider_count(on), dls_collider_count(back));
    for (int k = 0; k < dls_collider_count(on); k++) {
        dls_contact now = dls_collider_contacts(on)[k];
        vec_set(now.moment, 0, 0, 0);
        assert_memory_equal(&now, &dls_collider_contacts(back)[k], sizeof now);
    }
    free(bytes), free(old);
    dls_collider_destroy(on), dls_collider_destroy(back);
    dls_world_destroy(w);
}

/* Reads what may be anything, and goes on with it where it is accepted. */
static bool survive(dls_collider *c, const dls_world *w, const unsigned char *bytes, size_t size) {
    unsigned char *exact = malloc(size + !size); /* so that a sanitizer sees one byte too far */
    if (size) memcpy(exact, bytes, size);
    dls_error error = {.status = DLS_OK};
    dls_status status = dls_collider_memory_open(c, w, exact, size, &error);
    if (!status) dls_collider_memory_use(c, exact, size);
    free(exact);
    assert_true(status == DLS_OK || status == DLS_ERROR_INPUT);
    if (status) assert_true(error.message[0] != 0);
    update(c, w, 1);
    return status == DLS_OK;
}

static void test_hostile_bytes(void **state) {
    (void)state;
    dls_random g = {3};
    dls_world *w = mixed_world(60, 12, 3, false);
    dls_collider *c = dls_collider_create();
    update(c, w, 1);
    push(c);
    size_t size;
    unsigned char *bytes = bytes_of(c, &size), *bad = malloc(size + 64);
    for (size_t length = 0; length < size; length += 1 + size / (size_t)scaled(150, 20))
        assert_false(survive(c, w, bytes, length));
    memset(bad, 0, size + 64);
    memcpy(bad, bytes, size);
    assert_false(survive(c, w, bad, size + 1));
    assert_true(survive(c, w, bad, size));
    for (int k = 0; k < scaled(1500, 100); k++) {
        memcpy(bad, bytes, size);
        for (int flips = 1 + (int)dls_random_below(&g, 3); flips > 0; flips--) {
            size_t at = k % 2 ? dls_random_below(&g, size) : dls_random_below(&g, 200);
            bad[at] = (unsigned char)dls_random_bits(&g);
        }
        survive(c, w, bad, size);
    }
    /* counts whose product with the size of an item wraps round */
    int64_t huge[3] = {INT64_MAX / 32, -1, INT64_C(1) << 58};
    for (int k = 0; k < 9; k++) {
        memcpy(bad, bytes, size);
        memcpy(bad + 8 + 8 * (k / 3), &huge[k % 3], 8);
        assert_false(survive(c, w, bad, size));
    }
    /* bodies that are not there */
    dls_world *other = row_of_balls(3);
    assert_false(survive(c, other, bytes, size));
    dls_world_destroy(other);
    free(bytes);
    free(bad);
    dls_collider_destroy(c);
    dls_world_destroy(w);
}

/* ---- memory, misuse ---- */

static void test_allocations(void **state) {
    (void)state;
    dls_world *w = mixed_world(100, 5, 3, false);
    int tries = 0;
    for (int fail_at = 1; fail_at < 400; fail_at++, tries++) {
        counting_begin(fail_at);
        dls_collider *c = dls_collider_create();
        dls_status status = DLS_ERROR_MEMORY;
        for (int step = 0; step < 3 && c; step++) {
            status = dls_collider_update(c, w, &options, NULL);
            if (!status) push(c);
        }
        int asked = counting_allocations();
        if (!status) { /* once grown, a step asks for nothing */
            status = dls_collider_update(c, w, &options, NULL);
            assert_int_equal(counting_allocations(), asked);
        }
        assert_true(!c || dls_collider_bytes(c) > sizeof *c);
        dls_collider_destroy(c);
        assert_int_equal(counting_end(), 0);
        if (!status && asked < fail_at) break;
    }
    assert_in_range(tries, 10, 300);
    dls_world_destroy(w);
}

/* A step that failed leaves the contacts of the last good one for the next. */
static void test_try_again(void **state) {
    (void)state;
    dls_world *w = row_of_balls(5);
    dls_collider *c = dls_collider_create();
    dls_error error;
    update(c, w, 1);
    push(c);
    double was = w->states[1].x[0];
    w->states[1].x[0] = NAN;
    assert_int_equal(dls_collider_update(c, w, &options, &error), DLS_ERROR_NUMERIC);
    w->states[1].x[0] = was;
    dls_collide_options wrong = {.margin = -1, .h = 0.1, .threads = 1};
    assert_int_equal(dls_collider_update(c, w, &wrong, &error), DLS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "margin"));
    wrong = (dls_collide_options){.margin = 1, .h = NAN, .threads = 1};
    assert_int_equal(dls_collider_update(c, w, &wrong, &error), DLS_ERROR_ARGUMENT);
    update(c, w, 1);
    assert_int_equal(dls_collider_count(c), 4 + 5);
    for (int k = 0; k < 9; k++) {
        const dls_contact *at = &dls_collider_contacts(c)[k];
        assert_true(at->closed == (at->at.gap <= 0));
        assert_true((vec_norm(at->impulse) > 0) == at->closed);
    }
    dls_collider_destroy(c);
    dls_world_destroy(w);
}

/* ---- when they meet ---- */

static dls_body_id add_given(dls_world *w, dls_motion motion, const dls_shape_def *shape, const double *q,
                             const double *x) {
    dls_body_def body = dls_default_body_def();
    double R[9];
    dls_body_id id;
    body.motion = motion;
    body.shape_count = 1, body.shapes = shape;
    quat_matrix(q, R);
    mat_apply(body.pose.x, R, x);
    memcpy(body.pose.q, q, sizeof body.pose.q);
    assert_int_equal(dls_world_add_body(w, &body, &id, NULL), DLS_OK);
    return id;
}

static void fly(const dls_traveller *from, double t, dls_placed *to) {
    double turn[3], q[4], R[9];
    *to = from->placed;
    vec_scale(turn, t, from->w);
    quat_exponential(q, turn);
    quat_matrix(q, R);
    vec_along(to->x, from->placed.x, t, from->v);
    mat_multiply(to->R, R, from->placed.R);
}

static double gap_at(const dls_meeting *m, double t, dls_manifold *manifold) {
    dls_placed a, b;
    dls_pair_memory memory = {.used = 0};
    double least = INFINITY;
    fly(&m->a, t, &a), fly(&m->b, t, &b);
    manifold->count = 0;
    m->collide(&a, &b, 10, &memory, NULL, 0, manifold);
    for (int k = 0; k < manifold->count; k++) least = fmin(least, manifold->point[k].gap);
    return least;
}

/* What is apart at first and lies in each other at the end of a step has met within it, however it turns:
 * corners swing in while the nearest point goes away. */
static void test_what_turns_into_each_other_meets(void **state) {
    (void)state;
    dls_random g = {5};
    dls_world *w = empty_world(0, 0);
    dls_shape_def ball = dls_default_shape_def(DLS_SPHERE), box = dls_default_shape_def(DLS_BOX);
    ball.radius = 1;
    vec_set(box.size, 2, 1, 1.5);
    const double still[4] = {1, 0, 0, 0}, zero[3] = {0, 0, 0};
    add_given(w, DLS_DYNAMIC, &ball, still, zero);
    add_given(w, DLS_DYNAMIC, &box, still, zero);
    settle(w, 0);
    const dls_shape *of_ball = &w->shapes[0], *of_box = &w->shapes[1];
    if (of_ball->kind != DLS_SPHERE) of_ball = &w->shapes[1], of_box = &w->shapes[0];
    dls_manifold manifold = {.point = NULL}, trial = {.point = NULL};
    int met = 0;
    for (int k = 0; k < 20000; k++) {
        const dls_shape *first = k % 2 ? of_box : of_ball;
        bool swapped;
        const dls_pair_kind *row = dls_pair_find(first->kind, of_box->kind, &swapped);
        dls_meeting m = {.collide = row->collide, .h = 1, .reach = 10, .size = 0.9};
        dls_traveller *side[2] = {&m.a, &m.b};
        for (int i = 0; i < 2; i++) {
            double q[4];
            for (int j = 0; j < 4; j++) q[j] = dls_random_between(&g, -1, 1);
            quat_normalize(q);
            side[i]->placed.shape = (i ^ swapped) ? of_box : first;
            quat_matrix(q, side[i]->placed.R);
            for (int j = 0; j < 3; j++) {
                side[i]->placed.x[j] = side[i]->centre[j] = (i ? 2 : 0) * dls_random_between(&g, -1, 1);
                side[i]->v[j] = dls_random_between(&g, -0.3, 0.3);
                side[i]->w[j] = dls_random_between(&g, -0.6, 0.6);
            }
            side[i]->moves = true;
        }
        if (!(gap_at(&m, 0, &manifold) > 0.01) || !(gap_at(&m, 1, &manifold) < -0.02)) continue;
        double t = dls_pair_meeting_time(&m, &trial);
        assert_true(t > 0 && t <= m.h);
        assert_true(gap_at(&m, t, &manifold) > -0.02);
        met++;
    }
    print_message("%d pairs met\n", met);
    assert_true(met > 100);
    dls_free(manifold.point), dls_free(trial.point);
    dls_world_destroy(w);
}

/* ---- how deep bodies lie in each other ---- */

/* Two boxes face in face, a ball in one of them, bodies apart, and none at all; turned by chance. */
static void test_depth(void **state) {
    (void)state;
    dls_random g = {11};
    for (int turn = 0; turn < 8; turn++) {
        dls_world *w = empty_world(0, 0);
        dls_shape_def box = dls_default_shape_def(DLS_BOX), ball = dls_default_shape_def(DLS_SPHERE);
        double q[4] = {1, 0, 0, 0};
        for (int k = 0; k < 4 && turn; k++) q[k] = dls_random_between(&g, -1, 1);
        quat_normalize(q);
        vec_set(box.size, 1, 1, 1);
        ball.radius = 0.3;
        dls_body_id a = add_given(w, DLS_DRIVEN, &box, q, (double[3]){0, 0, 0});
        dls_body_id b = add_given(w, DLS_STATIC, &box, q, (double[3]){0.97, 0.2, 0.1});
        dls_body_id c = add_given(w, DLS_DRIVEN, &ball, q, (double[3]){-0.75, 0.1, 0});
        settle(w, 0);
        assert_near(dls_bodies_depth(w, a, b), 0.03, 1e-9);
        assert_near(dls_bodies_depth(w, c, a), 0.05, 1e-9);
        assert_true(dls_bodies_depth(w, b, c) == 0 && dls_bodies_depth(w, a, a) == 0);
        assert_true(dls_bodies_depth(w, a, 9) == 0 && dls_bodies_depth(w, -1, a) == 0);
        assert_true(dls_bodies_depth(NULL, a, b) == 0);
        dls_world_destroy(w);
    }
}

/* ---- bodies that are thrown ---- */

/* Fast balls far from each other, one much larger, above a floor: about as often as not one of them meets
 * something. */
static dls_world *thrown_world(dls_random *g, int periodic) {
    const double edge = 4;
    dls_world *w = empty_world(periodic, edge);
    for (int i = 0; i < 40; i++) {
        dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
        dls_body_def body = dls_default_body_def();
        shape.radius = i ? dls_random_between(g, 0.05, 0.1) : 0.3;
        for (int k = 0; k < 3; k++) {
            body.pose.x[k] = edge * dls_random_unit(g) + 0.15 * (k == 2);
            body.v[k] = i ? 8 * dls_random_normal(g) : 0;
        }
        body.shapes = &shape, body.shape_count = 1;
        add(w, &body);
    }
    add_floor(w);
    settle(w, 0);
    return w;
}

/* All that thrown bodies may meet is found through a grid: as by asking every body about every other. */
static void test_thrown_bodies_miss_nothing(void **state) {
    (void)state;
    enum { WORLDS = 600 };
    const double h = 0.01;
    dls_random g = {97};
    int meetings = 0;
    for (int n = 0; n < WORLDS; n++) {
        dls_world *w = thrown_world(&g, n % 8);
        dls_collider *c = dls_collider_create();
        dls_workspace *space = dls_workspace_create();
        int rows[64], count = w->body_count - 1;
        double first = INFINITY;
        for (int row = 0; row < count; row++) {
            rows[row] = row;
            first = fmin(first, dls_collider_first_meeting(c, w, h, row));
        }
        assert_true(dls_collider_misses(c, w, h, rows, count, space) == (first <= h));
        meetings += first <= h;
        dls_workspace_destroy(space);
        dls_collider_destroy(c);
        dls_world_destroy(w);
    }
    print_message("%d of %d worlds meet\n", meetings, WORLDS);
    assert_true(meetings > WORLDS / 10 && meetings < 9 * WORLDS / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_what_turns_into_each_other_meets),
        cmocka_unit_test(test_thrown_bodies_miss_nothing),
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_persistence),
        cmocka_unit_test(test_persistence_of_images),
        cmocka_unit_test(test_memory_of_pairs),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_earlier_bytes),
        cmocka_unit_test(test_hostile_bytes),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_try_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
