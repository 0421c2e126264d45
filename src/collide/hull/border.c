/* Faces that meet in no area: along an edge of both, or in a corner.
 *
 * Of two faces that lie in one plane nothing is held there: a body slides off one and onto the next without
 * a bump. Where faces lean against each other an edge touches an edge. Any normal between those of the faces
 * of both would do; the one amid them has no favourite, so that mirror images stay mirror images. */
#include "base/vector.h"
#include "collide/hull/pair.h"

#include <math.h>

static const double near = 8e-6; /* of size: points that close are one, lines that thin have no area */
static const double in_plane = 1 - 1e-6; /* cosine of faces that lie in one plane */
enum { MOST = 16 };                      /* points; a face with more has an area */

static void middle(const dls_contact_point *c, double *p) {
    for (int k = 0; k < 3; k++) p[k] = 0.5 * (c->point_a[k] + c->point_b[k]);
}

/* ---- twins: one corner, found from several features ---- */

static void drop_point(dls_manifold *m, int k) {
    for (m->count--; k < m->count; k++) m->point[k] = m->point[k + 1];
}

/* What was there stays, so that two corners which come near each other in a slow turn keep their names. */
static void merge(dls_manifold *m, int start, double close, const dls_contact_point *last, int last_count) {
    for (int i = start; i < m->count; i++)
        for (int j = i + 1; j < m->count;) {
            const dls_contact_point *p = &m->point[i], *q = &m->point[j];
            bool old = dls_contact_was(last, last_count, q->feature);
            if (vec_distance(p->point_a, q->point_a) > close ||
                vec_distance(p->point_b, q->point_b) > close ||
                (old && dls_contact_was(last, last_count, p->feature))) {
                j++;
                continue;
            }
            if (old) m->point[i] = *q;
            drop_point(m, j);
        }
}

/* ---- whether there is an area ---- */

/* The two points farthest apart; false where all of them do not lie on one line. */
static bool line_of(const dls_manifold *m, int start, double close, double *from, double *e, double *length) {
    double p[3], q[3], d[3], out[3];
    *length = -1;
    for (int i = start; i < m->count; i++)
        for (int j = i; j < m->count; j++) {
            middle(&m->point[i], p);
            middle(&m->point[j], q);
            vec_sub(d, q, p);
            if (!(vec_norm(d) > *length)) continue;
            *length = vec_norm(d);
            vec_copy(from, p);
            vec_copy(e, d);
        }
    if (!(*length > close)) return true;
    vec_scale(e, 1 / *length, e);
    for (int i = start; i < m->count; i++) {
        middle(&m->point[i], p);
        vec_sub(d, p, from);
        vec_cross(out, e, d);
        if (vec_norm(out) > close) return false;
    }
    return true;
}

/* ---- edge on edge, side by side ---- */

/* A face of hull `side` in world axes. */
static void face_normal(const dls_hull_pair *pair, int side, int face, double *n) {
    mat_apply(n, pair->frame_R[side], pair->hull[side]->face_normal + 3 * face);
}

/* The face behind the edge of a face that runs along the line, and that edge, unit; −1 where none does. */
static int face_behind(const dls_hull_pair *pair, int side, int face, const double *from, const double *e,
                       double length, double close, double *along) {
    const dls_hull *h = pair->hull[side];
    for (int k = h->face_start[face]; k < h->face_start[face + 1]; k++) {
        const int *ends = h->edge_vertex[h->face_edge[k]], *faces = h->edge_face[h->face_edge[k]];
        double p[3], q[3], d[3], out[3];
        mat_apply(p, pair->frame_R[side], h->vertex + 3 * ends[0]);
        mat_apply(q, pair->frame_R[side], h->vertex + 3 * ends[1]);
        vec_sub(along, q, p);
        vec_add(p, p, pair->frame_x[side]);
        vec_scale(along, 1 / vec_norm(along), along);
        vec_sub(d, from, p);
        vec_cross(out, along, d);
        if (vec_norm(out) > close) continue;
        vec_along(d, d, length, e);
        vec_cross(out, along, d);
        if (vec_norm(out) <= close) return faces[0] == face ? faces[1] : faces[0];
    }
    return -1;
}

/* The angle about e from n to x. */
static double angle_from(const double *n, const double *across, const double *x) {
    return atan2(vec_dot(across, x), vec_dot(n, x));
}

/* Amid the normals that both edges have, from the reference hull to the other; e: the edge of its face. */
static void middle_normal(const dls_hull_pair *pair, const dls_clip *clip, const int *behind, const double *e,
                          double *normal) {
    int r = clip->reference;
    double n[3], across[3], second[3], m[3];
    face_normal(pair, r, clip->face, n);
    vec_cross(across, e, n);
    face_normal(pair, r, behind[0], second);
    double own = angle_from(n, across, second), low = fmin(0, own), high = fmax(0, own), other[2];
    for (int k = 0; k < 2; k++) {
        face_normal(pair, 1 - r, k ? behind[1] : clip->incident, m);
        vec_scale(m, -1, m);
        other[k] = angle_from(n, across, m);
    }
    low = fmax(low, fmin(other[0], other[1]));
    high = fmin(high, fmax(other[0], other[1]));
    double amid = 0.5 * (low + high);
    for (int k = 0; k < 3; k++) normal[k] = cos(amid) * n[k] + sin(amid) * across[k];
}

void dls_hull_settle_border(const dls_hull_pair *pair, const dls_clip *clip, int start,
                            dls_manifold *manifold) {
    double close = near * pair->size, from[3], e[3], length, n[3], m[3], edge[2][3];
    int r = clip->reference, behind[2];
    if (manifold->count - start > MOST) return;
    merge(manifold, start, close, clip->last, clip->last_count);
    if (manifold->count == start || !line_of(manifold, start, close, from, e, &length)) return;
    face_normal(pair, r, clip->face, n);
    face_normal(pair, 1 - r, clip->incident, m);
    if (-vec_dot(n, m) > in_plane) {
        manifold->count = start;
        return;
    }
    if (!(length > close)) return;
    behind[0] = face_behind(pair, r, clip->face, from, e, length, close, edge[0]);
    behind[1] = face_behind(pair, 1 - r, clip->incident, from, e, length, close, edge[1]);
    if (behind[0] < 0 || behind[1] < 0) return;
    middle_normal(pair, clip, behind, edge[0], n); /* e leans where the points lie close together */
    if (r) vec_scale(n, -1, n);
    for (int k = start; k < manifold->count; k++) {
        dls_contact_point *c = &manifold->point[k];
        double d[3];
        vec_copy(c->normal, n);
        vec_sub(d, c->point_b, c->point_a);
        c->gap = vec_dot(n, d);
    }
}
