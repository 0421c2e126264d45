/* Closest points of two separated polyhedra: the point of B − A nearest to the origin, found from its
 * vertices (Gilbert, Johnson and Keerthi 1988), which for polyhedra ends after finitely many steps. */
#include "base/vector.h"
#include "collide/hull/pair.h"
#include "collide/mesh/query.h"

#include <math.h>
#include <string.h>

enum { STEPS = 64 };

static const double level_slack =
    1e-6; /* of size: vertices that lie that deep in the plane of contact are in it */

typedef struct corner {
    double w[3]; /* b − a */
    int a, b;
} corner;

static void point_of_b(const dls_hull_pair *pair, int v, double *p) {
    mat_apply(p, pair->R, pair->hull[1]->vertex + 3 * v);
    vec_add(p, p, pair->x);
}

/* The corner of B − A that lies farthest against n. */
static corner farthest(const dls_hull_pair *pair, const double *n) {
    corner c;
    double down[3], p[3];
    mat_apply_transposed(down, pair->R, n);
    vec_scale(down, -1, down);
    c.a = dls_hull_support(pair->hull[0], n);
    c.b = dls_hull_support(pair->hull[1], down);
    point_of_b(pair, c.b, p);
    vec_sub(c.w, p, pair->hull[0]->vertex + 3 * c.a);
    return c;
}

static const double origin[3] = {0, 0, 0};

/* Closest point of the triangle i, j, k to the origin; keeps in `used` the corners that it needs. */
static double try_triangle(const corner *c, int i, int j, int k, double *v, int *used, int *used_count) {
    const int number[3] = {i, j, k};
    int feature = dls_triangle_closest(c[i].w, c[j].w, c[k].w, origin, v);
    if (feature < DLS_TRIANGLE_EDGE) {
        used[0] = number[feature];
        *used_count = 1;
    } else if (feature < DLS_TRIANGLE_FACE) {
        used[0] = number[feature - DLS_TRIANGLE_EDGE];
        used[1] = number[(feature - DLS_TRIANGLE_EDGE + 1) % 3];
        *used_count = 2;
    } else {
        memcpy(used, number, sizeof number);
        *used_count = 3;
    }
    return vec_dot(v, v);
}

/* Cuts 2 … 4 corners down to those that carry the point nearest to the origin; returns it in v. Fewer corners
 * make triangles with repeated ones. */
static void reduce(corner *c, int *count, double *v) {
    static const int faces[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
    int kept[3] = {0}, kept_count = 0, last = *count - 1;
    double best = INFINITY;
    for (int f = 0; f < (*count == 4 ? 4 : 1); f++) {
        int used[3], used_count;
        double p[3];
        int i = faces[f][0], j = faces[f][1], k = faces[f][2] > last ? last : faces[f][2];
        double size = try_triangle(c, i, j, k, p, used, &used_count);
        if (!(size < best)) continue;
        best = size;
        kept_count = used_count;
        memcpy(kept, used, sizeof used);
        vec_copy(v, p);
    }
    corner old[4];
    memcpy(old, c, sizeof old);
    for (int k = 0; k < kept_count; k++) c[k] = old[kept[k]];
    *count = kept_count;
}

/* v = Σ λ w over at most three corners; λ from areas or lengths. */
static void weights(const corner *c, int count, const double *v, double *lambda) {
    lambda[0] = 1, lambda[1] = lambda[2] = 0;
    if (count < 2) return;
    double e[3], f[3], d[3];
    vec_sub(e, c[1].w, c[0].w);
    vec_sub(d, v, c[0].w);
    if (count == 2) {
        lambda[1] = fmin(1, fmax(0, vec_dot(d, e) / vec_dot(e, e)));
        lambda[0] = 1 - lambda[1];
        return;
    }
    vec_sub(f, c[2].w, c[0].w);
    double ee = vec_dot(e, e), ff = vec_dot(f, f), ef = vec_dot(e, f), de = vec_dot(d, e), df = vec_dot(d, f);
    double determinant = ee * ff - ef * ef;
    lambda[1] = (de * ff - df * ef) / determinant;
    lambda[2] = (df * ee - de * ef) / determinant;
    lambda[0] = 1 - lambda[1] - lambda[2];
}

/* ---- what lies in the plane of contact ---- */

/* Vertices of hull side within the slack of its farthest along n (A's frame): how many, and the two that lie
 * farthest apart along a direction t of A's frame, or the lowest number where there is one. */
static int level_vertices(const dls_hull_pair *pair, int side, const double *n, const double *t, int *ends) {
    const dls_hull *hull = pair->hull[side];
    double up[3], along[3], most = -INFINITY, low = INFINITY, high = -INFINITY;
    vec_copy(up, n);
    vec_copy(along, t);
    if (side) {
        mat_apply_transposed(up, pair->R, n);
        vec_scale(up, -1, up);
        mat_apply_transposed(along, pair->R, t);
    }
    for (int v = 0; v < hull->vertex_count; v++) most = fmax(most, vec_dot(up, hull->vertex + 3 * v));
    int count = 0;
    for (int v = 0; v < hull->vertex_count; v++) {
        if (vec_dot(up, hull->vertex + 3 * v) < most - level_slack * pair->size) continue;
        double place = vec_dot(along, hull->vertex + 3 * v);
        if (place < low) low = place, ends[0] = v;
        if (place > high) high = place, ends[1] = v;
        count++;
    }
    return count;
}

/* The edge of A in the plane of contact, if one is there; unit. */
static bool level_edge(const dls_hull_pair *pair, const double *n, double *t) {
    double t1[3], t2[3];
    int ends[2], others[2];
    vec_tangents(n, t1, t2);
    if (level_vertices(pair, 0, n, t1, ends) != 2) return false;
    level_vertices(pair, 0, n, t2, others);
    int first = ends[0] != ends[1] ? ends[0] : others[0], second = ends[0] != ends[1] ? ends[1] : others[1];
    vec_sub(t, pair->hull[0]->vertex + 3 * second, pair->hull[0]->vertex + 3 * first);
    vec_along(t, t, -vec_dot(t, n), n);
    double length = vec_norm(t);
    if (!(length > 0)) return false;
    vec_scale(t, 1 / length, t);
    return true;
}

/* Two edges side by side: both ends of their common stretch, for one point anywhere on it would let them
 * tilt. */
static void spread(const dls_hull_pair *pair, dls_hull_closest *c) {
    double t[3];
    if (c->touching_a != 2 || c->touching_b != 2 || !level_edge(pair, c->n, t)) return;
    double end[4][3], place[4];
    int a[2], b[2];
    level_vertices(pair, 0, c->n, t, a);
    level_vertices(pair, 1, c->n, t, b);
    for (int k = 0; k < 2; k++) {
        vec_copy(end[k], pair->hull[0]->vertex + 3 * a[k]);
        point_of_b(pair, b[k], end[2 + k]);
    }
    double f[3], cross[3];
    vec_sub(f, end[3], end[2]);
    vec_cross(cross, t, f);
    if (vec_norm(cross) > level_slack * pair->size) return; /* they cross: one point is all */
    for (int k = 0; k < 4; k++) place[k] = vec_dot(t, end[k]);
    double low = fmax(place[0], place[2]), high = fmin(place[1], place[3]);
    if (!(high - low > level_slack * pair->size)) return;
    c->count = 2;
    for (int k = 0; k < 2; k++) {
        double at = k ? high : low;
        vec_along(c->on_a[k], end[0], at - place[0], t);
        vec_along(c->on_b[k], c->on_a[k], c->distance, c->n);
    }
}

void dls_hull_find_closest(const dls_hull_pair *pair, const double *start, dls_hull_closest *closest) {
    corner simplex[4];
    double v[3], n[3], lambda[3];
    int count = 1;
    vec_copy(n, start);
    simplex[0] = farthest(pair, n);
    vec_copy(v, simplex[0].w);
    for (int step = 0; step < STEPS; step++) {
        double v2 = vec_dot(v, v);
        if (!(v2 > 0)) break;
        corner c = farthest(pair, v);
        if (v2 - vec_dot(v, c.w) <= 1e-14 * (v2 + sqrt(v2) * pair->size)) break;
        bool known = false;
        for (int k = 0; k < count; k++) known = known || (simplex[k].a == c.a && simplex[k].b == c.b);
        if (known) break;
        corner old[4];
        double before[3];
        int old_count = count;
        memcpy(old, simplex, sizeof old);
        vec_copy(before, v);
        simplex[count++] = c;
        reduce(simplex, &count, v);
        if (!(vec_dot(v, v) < v2)) { /* rounding is all that is left */
            memcpy(simplex, old, sizeof old);
            count = old_count;
            vec_copy(v, before);
            break;
        }
    }
    weights(simplex, count, v, lambda);
    double *pa = closest->on_a[0], *pb = closest->on_b[0];
    vec_set(pa, 0, 0, 0);
    vec_set(pb, 0, 0, 0);
    for (int k = 0; k < count; k++) {
        double p[3];
        point_of_b(pair, simplex[k].b, p);
        vec_along(pa, pa, lambda[k], pair->hull[0]->vertex + 3 * simplex[k].a);
        vec_along(pb, pb, lambda[k], p);
    }
    closest->distance = vec_norm(v);
    vec_copy(closest->n, start);
    if (closest->distance > 1e-9 * pair->size)
        vec_scale(closest->n, 1 / closest->distance, v);
    else
        closest->distance = vec_dot(closest->n, v);
    closest->count = 1;
    double t1[3], t2[3];
    vec_tangents(closest->n, t1, t2);
    closest->touching_a = level_vertices(pair, 0, closest->n, t1, closest->vertex_a);
    closest->touching_b = level_vertices(pair, 1, closest->n, t1, closest->vertex_b);
    spread(pair, closest);
}
