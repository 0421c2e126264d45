/* Two hulls or a hull and a mesh by hand, and the pair function of the table called with memory. */
#ifndef DELASSUS_TESTS_SUPPORT_PAIRS_H
#define DELASSUS_TESTS_SUPPORT_PAIRS_H

#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "collide/collide.h"
#include "support/test.h"

#include <string.h>

static inline dls_placed placed_at(const dls_shape *shape, double x, double y, double z) {
    dls_placed p = {.shape = shape, .x = {x, y, z}, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    return p;
}

static inline void turn(dls_placed *p, double ax, double ay, double az) {
    double q[4], a[3] = {ax, ay, az}, R[9], old[9];
    quat_exponential(q, a);
    quat_matrix(q, R);
    memcpy(old, p->R, sizeof old);
    mat_multiply(p->R, R, old);
}

static inline void random_rotation(dls_random *g, double *R) {
    double q[4];
    for (int i = 0; i < 4; i++) q[i] = dls_random_normal(g);
    quat_normalize(q);
    quat_matrix(q, R);
}

static inline dls_shape box_shape(double x, double y, double z) {
    dls_shape s = {.kind = DLS_BOX, .size = {x, y, z}};
    s.bound = vec_norm(s.size);
    assert_int_equal(dls_hull_box(s.size, &s.hull), DLS_OK);
    return s;
}

static inline dls_shape polyhedron_shape(int count, const double *points) {
    dls_shape s = {.kind = DLS_POLYHEDRON};
    assert_int_equal(dls_hull_create(3, count, points, &s.hull, NULL), DLS_OK);
    for (int v = 0; v < s.hull->vertex_count; v++) s.bound = fmax(s.bound, vec_norm(s.hull->vertex + 3 * v));
    return s;
}

/* All contacts, and what the pair remembers. */
typedef struct pair_run {
    dls_pair_memory memory;
    dls_manifold manifold, last;
} pair_run;

static inline void pair_step(pair_run *run, const dls_placed *a, const dls_placed *b, double margin) {
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(a->shape->kind, b->shape->kind, &swapped);
    assert_non_null(row);
    assert_false(swapped);
    dls_manifold old = run->last;
    run->last = run->manifold;
    run->manifold = old;
    run->manifold.count = 0;
    row->collide(a, b, margin, &run->memory, run->last.point, run->last.count, &run->manifold);
    assert_false(run->manifold.out_of_memory);
}

static inline void pair_end(pair_run *run) {
    dls_free(run->manifold.point);
    dls_free(run->last.point);
    memset(run, 0, sizeof *run);
}

static inline bool pair_has(const dls_manifold *m, uint64_t feature) {
    for (int k = 0; k < m->count; k++)
        if (m->point[k].feature == feature) return true;
    return false;
}

/* Same identities as in the step before. */
static inline bool pair_same(const pair_run *run) {
    if (run->manifold.count != run->last.count) return false;
    for (int k = 0; k < run->manifold.count; k++)
        if (!pair_has(&run->last, run->manifold.point[k].feature)) return false;
    return true;
}

/* Least gap, after what every manifold must satisfy: gaps within the margin, unit normals, gap = n·(b − a),
 * identities once only. */
static inline double pair_least(const dls_manifold *m, double margin, double tolerance) {
    double least = INFINITY;
    for (int k = 0; k < m->count; k++) {
        const dls_contact_point *c = &m->point[k];
        double d[3];
        vec_sub(d, c->point_b, c->point_a);
        assert_true(c->gap <= margin);
        assert_true(fabs(vec_norm(c->normal) - 1) < 1e-12);
        assert_true(fabs(vec_dot(d, c->normal) - c->gap) < tolerance);
        for (int j = 0; j < k; j++) assert_true(m->point[j].feature != c->feature);
        least = fmin(least, c->gap);
    }
    return least;
}

#endif
