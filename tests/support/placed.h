/* Shapes with a pose, and pair functions run on two of them. */
#ifndef DELASSUS_TESTS_SUPPORT_PLACED_H
#define DELASSUS_TESTS_SUPPORT_PLACED_H

#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "collide/collide.h"

#include "support/test.h"

#include <string.h>

typedef struct placed_body {
    dls_shape shape;
    dls_placed placed;
} placed_body;

static inline void placed_turn(dls_random *g, double *R) {
    double q[4];
    for (int i = 0; i < 4; i++) q[i] = dls_random_normal(g);
    quat_normalize(q);
    quat_matrix(q, R);
}

static inline void placed_at(placed_body *b, const double *x, const double *R) {
    b->placed.shape = &b->shape;
    vec_copy(b->placed.x, x);
    memcpy(b->placed.R, R, sizeof b->placed.R);
}

static inline placed_body placed_from(const dls_shape_def *def) {
    placed_body b;
    memset(&b, 0, sizeof b);
    assert_int_equal(dls_shape_create(def, 3, &b.shape, NULL), DLS_OK);
    return b;
}

/* What a pair function made, with the memory it goes on with. Starts as zeros. */
typedef struct placed_contacts {
    dls_manifold m;
    dls_pair_memory memory;
} placed_contacts;

static inline void placed_collide(const placed_body *a, const placed_body *b, double margin,
                                  placed_contacts *out) {
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(a->shape.kind, b->shape.kind, &swapped);
    assert_non_null(row);
    assert_false(swapped);
    out->m.count = 0;
    row->collide(&a->placed, &b->placed, margin, &out->memory, NULL, 0, &out->m);
    assert_false(out->m.out_of_memory);
}

static inline void placed_contacts_free(placed_contacts *out) { dls_free(out->m.point); }

static inline const dls_contact_point *placed_deepest(const placed_contacts *c) {
    int best = 0;
    assert_true(c->m.count > 0);
    for (int k = 1; k < c->m.count; k++)
        if (c->m.point[k].gap < c->m.point[best].gap) best = k;
    return &c->m.point[best];
}

/* Unit normals, gaps that fit the points and the margin, features that differ. */
static inline void placed_check(const placed_contacts *contacts, double margin) {
    for (int k = 0; k < contacts->m.count; k++) {
        const dls_contact_point *c = &contacts->m.point[k];
        double d[3];
        vec_sub(d, c->point_b, c->point_a);
        assert_true(fabs(vec_norm(c->normal) - 1) < 1e-12);
        assert_true(fabs(vec_dot(d, c->normal) - c->gap) < 1e-10);
        assert_true(c->gap <= margin);
        for (int j = 0; j < k; j++)
            if (contacts->m.point[j].feature == c->feature)
                fail_msg("contacts %d and %d of %d have one feature %llx, gaps %g and %g", j, k,
                         contacts->m.count, (unsigned long long)c->feature, contacts->m.point[j].gap, c->gap);
    }
}

#endif
