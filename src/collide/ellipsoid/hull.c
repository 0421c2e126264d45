/* Ellipsoid against boxes and convex polyhedra: the least signed distance φ over the polyhedron. φ is convex,
 * so going downhill from face to edge to corner ends at the one place where the inward normal is in the
 * normal cone of the feature. All in the frame of the polyhedron. */
#include "base/vector.h"
#include "collide/ellipsoid/ellipsoid.h"

enum { FACE = 1, EDGE, VERTEX };
enum { WALK_STEPS = 64 };

static const double slope_tolerance = 1e-12; /* of n along a unit tangent */

typedef struct descent {
    const dls_hull *hull;
    const dls_ellipsoid *e;
    int kind, index;
    int last_edge, last_vertex; /* met before: coming back means that rounding decides */
    double y[3], n[3], distance;
} descent;

static double height(const descent *p, int face, const double *x) {
    return vec_dot(p->hull->face_normal + 3 * face, x) - p->hull->face_offset[face];
}

/* From y in the polyhedron straight to the ellipsoid's centre, always downhill: onto the face where this
 * leaves. False when the centre is inside. */
static bool leave_toward_centre(descent *p) {
    double least = 2;
    for (int f = 0; f < p->hull->face_count; f++) {
        double end = height(p, f, p->e->c);
        if (end <= 0) continue;
        double start = fmin(0, height(p, f, p->y)), part = -start / (end - start);
        if (part < least) least = part, p->index = f;
    }
    if (least > 1) return false;
    for (int i = 0; i < 3; i++) p->y[i] += least * (p->e->c[i] - p->y[i]);
    p->kind = FACE;
    return true;
}

/* Least φ on an edge: 0 or 1 when at that end, −1 between. */
static int edge_end(descent *p, int edge, double *a) {
    const int *end = p->hull->edge_vertex[edge];
    const double *v = p->hull->vertex + 3 * end[0];
    double s;
    vec_sub(a, p->hull->vertex + 3 * end[1], v);
    double length = vec_norm(a);
    vec_scale(a, 1 / length, a);
    p->distance = dls_ellipsoid_to_segment(p->e, v, a, length, p->n, &s);
    vec_along(p->y, v, s, a);
    return s <= 0 ? 0 : s >= length ? 1 : -1;
}

/* The edge's nearest point; from inside the edge on into the face that goes down, if one does. */
static bool walk_edge(descent *p) {
    const dls_hull *hull = p->hull;
    const int *face = hull->edge_face[p->index];
    double a[3], steepest = -slope_tolerance;
    int end = edge_end(p, p->index, a), down = -1;
    if (end >= 0) {
        p->kind = VERTEX, p->index = hull->edge_vertex[p->index][end];
        return false;
    }
    for (int k = 0; k < 2; k++) {
        double in[3];
        vec_cross(in, hull->face_normal + 3 * face[k], a);
        if (vec_dot(in, hull->face_normal + 3 * face[1 - k]) > 0) vec_scale(in, -1, in);
        double slope = vec_dot(p->n, in);
        if (slope < steepest) steepest = slope, down = face[k];
    }
    if (down < 0 || p->index == p->last_edge) return true;
    p->last_edge = p->index;
    p->kind = FACE, p->index = down;
    return false;
}

/* A face whose plane cuts deep, maybe far beside it: its best edge. */
static void walk_around(descent *p, int f) {
    descent best = *p;
    best.distance = HUGE_VAL;
    for (int k = p->hull->face_start[f]; k < p->hull->face_start[f + 1]; k++) {
        double a[3];
        edge_end(p, p->hull->face_edge[k], a);
        p->kind = EDGE, p->index = p->hull->face_edge[k];
        if (p->distance < best.distance) best = *p;
    }
    *p = best;
}

/* The plane's nearest point, or as far as the face goes towards it. True when that is the end. */
static bool walk_face(descent *p, bool *inside) {
    const dls_hull *hull = p->hull;
    int f = p->index;
    const double *normal = hull->face_normal + 3 * f;
    double up = height(p, f, p->e->c), foot[3], n[3], least = 2;
    if (up <= 0) {
        *inside = !leave_toward_centre(p);
        return *inside;
    }
    vec_scale(p->n, -1, normal);
    p->distance = up - dls_ellipsoid_support(p->e, p->n, foot);
    vec_along(foot, foot, p->distance, p->n);
    int leaving = -1;
    for (int k = hull->face_start[f]; k < hull->face_start[f + 1]; k++) {
        int after = k + 1 < hull->face_start[f + 1] ? k + 1 : hull->face_start[f];
        const double *v = hull->vertex + 3 * hull->face_vertex[k],
                     *w = hull->vertex + 3 * hull->face_vertex[after];
        double along[3], out[3], x[3], z[3];
        vec_sub(along, w, v);
        vec_cross(out, along, normal);
        vec_sub(x, foot, v);
        double end = vec_dot(out, x);
        if (end <= 1e-14 * hull->size * vec_norm(along)) continue;
        vec_sub(z, p->y, v);
        double start = fmin(0, vec_dot(out, z)), part = -start / (end - start);
        if (part < least) least = part, leaving = hull->face_edge[k];
    }
    bool shallow = dls_ellipsoid_is_shallow(p->e, p->distance);
    if (leaving < 0 &&
        (shallow || dls_ellipsoid_to_point(p->e, foot, false, n) <= p->distance + 1e-11 * hull->size)) {
        vec_copy(p->y, foot);
        return true;
    }
    if (shallow) {
        for (int i = 0; i < 3; i++) p->y[i] += least * (foot[i] - p->y[i]);
        p->kind = EDGE, p->index = leaving;
    } else {
        walk_around(p, f);
    }
    return false;
}

/* A corner is the end unless an edge goes down from it. */
static bool walk_vertex(descent *p, bool warm) {
    const dls_hull *hull = p->hull;
    int vertex = p->index, down = -1;
    const double *v = hull->vertex + 3 * vertex;
    vec_copy(p->y, v);
    p->distance = dls_ellipsoid_to_point(p->e, v, warm, p->n);
    double steepest = -slope_tolerance;
    for (int i = hull->vertex_start[vertex]; i < hull->vertex_start[vertex + 1]; i++) {
        int f = hull->vertex_face[i];
        for (int k = hull->face_start[f]; k < hull->face_start[f + 1]; k++) {
            if (hull->face_vertex[k] != vertex) continue;
            int after = k + 1 < hull->face_start[f + 1] ? k + 1 : hull->face_start[f];
            double a[3];
            vec_sub(a, hull->vertex + 3 * hull->face_vertex[after], v);
            double slope = vec_dot(p->n, a) / vec_norm(a);
            if (slope < steepest) steepest = slope, down = hull->face_edge[k];
        }
    }
    if (down < 0 || vertex == p->last_vertex) return true;
    p->last_vertex = vertex;
    p->kind = EDGE, p->index = down;
    return false;
}

/* f(n): how far n really separates the two. */
static double separation(const descent *p, const double *n) {
    double point[3], least = HUGE_VAL;
    for (int k = 0; k < p->hull->vertex_count; k++) least = fmin(least, vec_dot(n, p->hull->vertex + 3 * k));
    return least - vec_dot(n, p->e->c) - dls_ellipsoid_support(p->e, n, point);
}

/* Every face and every edge: the normal that separates most. Where the descent does not end in a normal that
 * separates by what it found, as when the overlap is deep. */
static void try_all(descent *p) {
    descent best = *p;
    best.distance = -HUGE_VAL;
    for (int k = 0; k < p->hull->face_count + p->hull->edge_count; k++) {
        double a[3];
        p->kind = k < p->hull->face_count ? FACE : EDGE;
        p->index = p->kind == FACE ? k : k - p->hull->face_count;
        if (p->kind == FACE)
            vec_scale(p->n, -1, p->hull->face_normal + 3 * k);
        else
            edge_end(p, p->index, a);
        p->distance = separation(p, p->n);
        if (p->distance > best.distance) best = *p;
    }
    *p = best;
}

/* The feature that memory names, where there is one. */
static bool recall(descent *p, const dls_pair_memory *memory) {
    const int count[] = {0, p->hull->face_count, p->hull->edge_count, p->hull->vertex_count};
    p->kind = memory->feature[0], p->index = memory->feature[1];
    return dls_ellipsoid_recalls(memory) && p->kind >= FACE && p->kind <= VERTEX && p->index >= 0 &&
           p->index < count[p->kind];
}

static void descend(descent *p, const dls_pair_memory *memory) {
    bool inside = false, done = false, warm = recall(p, memory);
    if (warm) {
        vec_copy(p->n, memory->n);
        if (p->kind == FACE) /* any place of the face will do to start from */
            vec_copy(p->y, p->hull->vertex + 3 * p->hull->face_vertex[p->hull->face_start[p->index]]);
    } else {
        vec_copy(p->y, p->hull->centre);
        inside = !leave_toward_centre(p);
    }
    for (int k = 0; k < WALK_STEPS && !done && !inside; k++) {
        if (p->kind == FACE)
            done = walk_face(p, &inside);
        else
            done = p->kind == EDGE ? walk_edge(p) : walk_vertex(p, warm && k == 0);
    }
    if (inside || !done || (p->kind != FACE && separation(p, p->n) < p->distance - 1e-11 * p->hull->size))
        try_all(p);
}

/* One contact: both are convex and the ellipsoid has no flat part. It keeps its name while it wanders. */
void dls_ellipsoid_hull(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                        const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)last, (void)last_count;
    const dls_hull *hull = b->shape->hull;
    dls_ellipsoid e, seen;
    double n[3];
    dls_ellipsoid_place(a, &e);
    dls_ellipsoid_view(&e, b->x, b->R, &seen);
    if (dls_ellipsoid_is_far(&seen, hull->centre, 0.5 * hull->size, margin)) return;
    descent p = {.hull = hull, .e = &seen, .last_edge = -1, .last_vertex = -1};
    descend(&p, memory);
    memory->used = 1;
    memory->feature[0] = p.kind, memory->feature[1] = p.index;
    vec_copy(memory->n, p.n);
    if (!(p.distance <= margin)) return;
    mat_apply(n, b->R, p.n);
    dls_ellipsoid_touch(&e, n, p.distance, 0, manifold);
}
