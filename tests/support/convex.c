#include "support/convex.h"

#include "base/memory.h"
#include "base/vector.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* ---- rounded convex sets ---- */

static void put(convex *c, const dls_placed *at, double x, double y, double z) {
    double p[3] = {x, y, z};
    assert_true(c->count < CONVEX_POINTS);
    mat_apply(p, at->R, p);
    vec_add(c->point[c->count++], p, at->x);
}

convex convex_of(const dls_placed *placed) {
    const dls_shape *s = placed->shape;
    convex c = {.count = 0};
    if (s->kind == DLS_DISC || s->kind == DLS_SPHERE || s->kind == DLS_CAPSULE) c.radius = s->radius;
    if (s->kind == DLS_DISC || s->kind == DLS_SPHERE) {
        put(&c, placed, 0, 0, 0);
    } else if (s->kind == DLS_CAPSULE) {
        for (int k = -1; k <= 1; k += 2) put(&c, placed, 0, 0, k * s->length / 2);
    } else if (s->kind == DLS_BOX) {
        for (int k = 0; k < 8; k++)
            put(&c, placed, k & 1 ? s->size[0] : -s->size[0], k & 2 ? s->size[1] : -s->size[1],
                k & 4 ? s->size[2] : -s->size[2]);
    } else {
        assert_true(s->kind == DLS_POLYGON || s->kind == DLS_POLYHEDRON);
        for (int k = 0; k < s->hull->vertex_count; k++)
            put(&c, placed, s->hull->vertex[3 * k], s->hull->vertex[3 * k + 1], s->hull->vertex[3 * k + 2]);
    }
    return c;
}

double convex_separation(const convex *a, const convex *b, const double *n) {
    double top = -INFINITY, bottom = INFINITY;
    for (int k = 0; k < a->count; k++) top = fmax(top, vec_dot(n, a->point[k]));
    for (int k = 0; k < b->count; k++) bottom = fmin(bottom, vec_dot(n, b->point[k]));
    return bottom - top - a->radius - b->radius;
}

/* Weights of the point of least norm in the affine hull of up to four points; false where it has no interior.
 */
static bool affine_minimum(int count, double (*p)[3], double *weight) {
    double M[5][6];
    int n = count + 1;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) M[i][j] = vec_dot(p[i], p[j]);
        M[i][count] = M[count][i] = 1;
        M[i][n] = 0;
    }
    M[count][count] = 0, M[count][n] = 1;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(M[i][k]) > fabs(M[best][k])) best = i;
        if (!(fabs(M[best][k]) > 1e-14)) return false;
        for (int j = 0; j <= n; j++) {
            double top = M[best][j];
            M[best][j] = M[k][j];
            M[k][j] = top;
        }
        for (int i = 0; i < n; i++)
            for (int j = n; i != k && j >= k; j--) M[i][j] -= M[i][k] / M[k][k] * M[k][j];
    }
    for (int i = 0; i < count; i++) weight[i] = M[i][n] / M[i][i];
    return true;
}

typedef struct corral {
    int count;
    double p[5][3], weight[5], x[3];
} corral;

static void corral_point(corral *s) {
    vec_set(s->x, 0, 0, 0);
    for (int i = 0; i < s->count; i++) vec_along(s->x, s->x, s->weight[i], s->p[i]);
}

/* Moves to the least point of the corral, dropping points on the way; false where numbers end. */
static bool corral_settle(corral *s) {
    for (;;) {
        double y[5], theta = 1;
        if (s->count > 4 || !affine_minimum(s->count, s->p, y)) return false;
        for (int i = 0; i < s->count; i++)
            if (y[i] <= 0) theta = fmin(theta, s->weight[i] / (s->weight[i] - y[i]));
        int kept = 0;
        for (int i = 0; i < s->count; i++) {
            double w = s->weight[i] + theta * (y[i] - s->weight[i]);
            if (theta < 1 && w <= 1e-14) continue;
            s->weight[kept] = w;
            vec_copy(s->p[kept++], s->p[i]);
        }
        bool done = kept == s->count;
        s->count = kept;
        corral_point(s);
        if (done) return true;
    }
}

double convex_distance(const convex *a, const convex *b) {
    static double p[CONVEX_POINTS * CONVEX_POINTS][3];
    int count = 0, nearest = 0;
    double scale = 0;
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) vec_sub(p[count++], b->point[j], a->point[i]);
    for (int k = 0; k < count; k++) {
        scale = fmax(scale, vec_dot(p[k], p[k]));
        if (vec_dot(p[k], p[k]) < vec_dot(p[nearest], p[nearest])) nearest = k;
    }
    corral s = {.count = 1, .weight = {1}};
    vec_copy(s.p[0], p[nearest]);
    vec_copy(s.x, p[nearest]);
    for (int round = 0; round < 200; round++) {
        int best = 0;
        for (int k = 1; k < count; k++)
            if (vec_dot(s.x, p[k]) < vec_dot(s.x, p[best])) best = k;
        if (vec_dot(s.x, s.x) - vec_dot(s.x, p[best]) <= 1e-15 * scale) break;
        corral before = s;
        s.weight[s.count] = 0;
        vec_copy(s.p[s.count++], p[best]);
        if (!corral_settle(&s)) {
            s = before;
            if (before.count == 4) return 0;
            break;
        }
    }
    double distance = vec_norm(s.x);
    return s.count == 4 && distance < 1e-7 * sqrt(scale) ? 0 : distance;
}

double convex_distance_from(const convex *a, const double *point) {
    convex b = {.count = 1};
    vec_copy(b.point[0], point);
    return convex_distance(a, &b);
}

double convex_search(dls_random *g, const convex *a, const convex *b, bool planar) {
    double best = -INFINITY, n[3] = {1, 0, 0}, u[3];
    for (int k = 0; k < 300; k++) {
        random_direction(g, planar, u);
        double here = convex_separation(a, b, u);
        if (here > best) best = here, vec_copy(n, u);
    }
    for (double step = 0.2; step > 1e-9; step *= 0.8)
        for (int k = 0; k < 8; k++) {
            random_direction(g, planar, u);
            vec_along(u, n, step, u);
            vec_scale(u, 1 / vec_norm(u), u);
            double here = convex_separation(a, b, u);
            if (here > best) best = here, vec_copy(n, u);
        }
    return best;
}

/* ---- poses ---- */

void random_direction(dls_random *g, bool planar, double *u) {
    do {
        for (int i = 0; i < 3; i++) u[i] = planar && i == 2 ? 0 : dls_random_normal(g);
    } while (vec_norm(u) < 0.1);
    vec_scale(u, 1 / vec_norm(u), u);
}

void random_rotation(dls_random *g, bool planar, double *R) {
    double q[4];
    do {
        for (int i = 0; i < 4; i++) q[i] = planar && (i == 1 || i == 2) ? 0 : dls_random_normal(g);
    } while (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] < 0.01);
    quat_normalize(q);
    quat_matrix(q, R);
}

void turn_slightly(dls_random *g, bool planar, double angle, double *R) {
    double u[3] = {0, 0, 1}, q[4], turn[9], turned[9];
    if (!planar) random_direction(g, false, u);
    vec_scale(u, angle, u);
    quat_exponential(q, u);
    quat_matrix(q, turn);
    mat_multiply(turned, turn, R);
    memcpy(R, turned, sizeof turned);
}

void rigid_motion(const double *x, const double *R, dls_placed *placed) {
    double turned[9];
    mat_multiply(turned, R, placed->R);
    memcpy(placed->R, turned, sizeof turned);
    mat_apply(placed->x, R, placed->x);
    vec_add(placed->x, placed->x, x);
}

/* ---- pairs from step to step ---- */

void standing_collide(standing_pair *pair) {
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(pair->a.shape->kind, pair->b.shape->kind, &swapped);
    assert_non_null(row);
    assert_false(swapped);
    free(pair->last);
    pair->last_count = pair->manifold.count;
    pair->last = pair->last_count ? malloc(sizeof *pair->last * (size_t)pair->last_count) : NULL;
    for (int k = 0; k < pair->last_count; k++) pair->last[k] = pair->manifold.point[k];
    pair->manifold.count = 0;
    row->collide(&pair->a, &pair->b, pair->margin, &pair->memory, pair->last, pair->last_count,
                 &pair->manifold);
    assert_false(pair->manifold.out_of_memory);
}

void standing_free(standing_pair *pair) {
    free(pair->last);
    dls_free(pair->manifold.point);
    pair->last = NULL;
    pair->manifold = (dls_manifold){.count = 0};
    pair->last_count = 0;
}

const dls_contact_point *standing_deepest(const standing_pair *pair) {
    const dls_contact_point *best = NULL;
    for (int k = 0; k < pair->manifold.count; k++)
        if (!best || pair->manifold.point[k].gap < best->gap) best = &pair->manifold.point[k];
    return best;
}

double standing_gap(const standing_pair *pair) {
    const dls_contact_point *best = standing_deepest(pair);
    return best ? best->gap : (double)INFINITY;
}

static int compare_ids(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int standing_features(const standing_pair *pair, uint64_t *feature) {
    int count = pair->manifold.count;
    assert_true(count <= 64);
    for (int k = 0; k < count; k++) feature[k] = pair->manifold.point[k].feature;
    qsort(feature, (size_t)count, sizeof *feature, compare_ids);
    return count;
}

void assert_sound(const standing_pair *pair) {
    uint64_t feature[64];
    int count = standing_features(pair, feature);
    for (int k = 1; k < count; k++) assert_true(feature[k] != feature[k - 1]);
    for (int k = 0; k < count; k++) {
        const dls_contact_point *c = &pair->manifold.point[k];
        double d[3];
        vec_sub(d, c->point_b, c->point_a);
        for (int i = 0; i < 3; i++)
            assert_true(isfinite(c->point_a[i]) && isfinite(c->point_b[i]) && isfinite(c->normal[i]));
        assert_true(fabs(vec_norm(c->normal) - 1) < 1e-12);
        assert_true(fabs(vec_dot(d, c->normal) - c->gap) < 1e-11);
        assert_true(c->gap <= pair->margin + 1e-12);
    }
}

int standing_flicker(dls_random *g, const standing_pair *rest, bool planar, double noise, int steps) {
    standing_pair pair = {.a = rest->a, .b = rest->b, .margin = rest->margin};
    uint64_t before[64], now[64];
    int changes = 0, count_before = 0;
    for (int step = 0; step < steps; step++) {
        pair.a = rest->a, pair.b = rest->b;
        dls_placed *moved[2] = {&pair.a, &pair.b};
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < (planar ? 2 : 3); i++) moved[k]->x[i] += noise * dls_random_normal(g);
            turn_slightly(g, planar, noise * dls_random_normal(g), moved[k]->R);
        }
        standing_collide(&pair);
        assert_true(pair.manifold.count > 0);
        int count = standing_features(&pair, now);
        if (step > 0)
            changes += count != count_before || memcmp(now, before, sizeof *now * (size_t)count) != 0;
        memcpy(before, now, sizeof now);
        count_before = count;
    }
    standing_free(&pair);
    return changes;
}
