/* Axes that separate two polyhedra: normals of faces, and of pairs of edges whose arcs cross on the sphere of
 * normals. */
#include "base/vector.h"
#include "collide/hull/pair.h"

#include <math.h>

void dls_hull_pair_begin(dls_hull_pair *pair, const dls_placed *a, const dls_hull *hull_a,
                         const dls_placed *b, const dls_hull *hull_b) {
    pair->hull[0] = hull_a;
    pair->hull[1] = hull_b;
    pair->half[0] = a->shape->kind == DLS_BOX ? a->shape->size : NULL;
    pair->half[1] = b->shape->kind == DLS_BOX ? b->shape->size : NULL;
    pair->frame_x[0] = a->x;
    pair->frame_x[1] = b->x;
    pair->frame_R[0] = a->R;
    pair->frame_R[1] = b->R;
    for (int j = 0; j < 3; j++) mat_apply_transposed(pair->R + 3 * j, a->R, b->R + 3 * j);
    double d[3];
    vec_sub(d, b->x, a->x);
    mat_apply_transposed(pair->x, a->R, d);
    pair->size = fmin(hull_a->size, hull_b->size);
}

void dls_hull_pair_point(const dls_hull_pair *pair, const double *p, double *world) {
    mat_apply(world, pair->frame_R[0], p);
    vec_add(world, world, pair->frame_x[0]);
}

void dls_hull_pair_direction(const dls_hull_pair *pair, const double *n, double *world) {
    mat_apply(world, pair->frame_R[0], n);
}

void dls_hull_pair_contact(const dls_hull_pair *pair, double *on_a, double *on_b, const double *n,
                           double *world) {
    dls_hull_pair_point(pair, on_a, on_a);
    dls_hull_pair_point(pair, on_b, on_b);
    dls_hull_pair_direction(pair, n, world);
}

int dls_hull_support(const dls_hull *hull, const double *direction) {
    int best = 0;
    double most = -INFINITY;
    for (int v = 0; v < hull->vertex_count; v++) {
        double along = vec_dot(hull->vertex + 3 * v, direction);
        if (along > most) {
            most = along;
            best = v;
        }
    }
    return best;
}

/* max of direction · x over the hull, in its frame */
static double reach(const dls_hull *hull, const double *half, const double *direction) {
    if (half)
        return fabs(direction[0]) * half[0] + fabs(direction[1]) * half[1] + fabs(direction[2]) * half[2];
    double most = -INFINITY;
    for (int v = 0; v < hull->vertex_count; v++) {
        double along = vec_dot(hull->vertex + 3 * v, direction);
        most = along > most ? along : most;
    }
    return most;
}

/* min over B of n · x */
static double lowest_of_b(const dls_hull_pair *pair, const double *n) {
    double down[3];
    mat_apply_transposed(down, pair->R, n);
    vec_scale(down, -1, down);
    return vec_dot(n, pair->x) - reach(pair->hull[1], pair->half[1], down);
}

double dls_hull_pair_gap(const dls_hull_pair *pair, const double *n) {
    return lowest_of_b(pair, n) - reach(pair->hull[0], pair->half[0], n);
}

double dls_hull_face_gap(const dls_hull_pair *pair, int side, int f, double *n) {
    const dls_hull *hull = pair->hull[side];
    if (side == 0) {
        vec_copy(n, hull->face_normal + 3 * f);
        return lowest_of_b(pair, n) - hull->face_offset[f];
    }
    mat_apply(n, pair->R, hull->face_normal + 3 * f);
    vec_scale(n, -1, n);
    return vec_dot(n, pair->x) - reach(pair->hull[0], pair->half[0], n) - hull->face_offset[f];
}

void dls_hull_best_face(const dls_hull_pair *pair, int side, double enough, dls_hull_axis *axis) {
    axis->gap = -INFINITY;
    axis->second = -1;
    for (int f = 0; f < pair->hull[side]->face_count && !(axis->gap > enough); f++) {
        double n[3], gap = dls_hull_face_gap(pair, side, f, n);
        if (!(gap > axis->gap)) continue;
        axis->gap = gap;
        axis->first = f;
        vec_copy(axis->n, n);
    }
}

/* ---- edges ---- */

static const double parallel = 1e-12; /* sin² below which two edges have no common normal */

static const double *end_of(const dls_hull *hull, int edge, int end) {
    return hull->vertex + 3 * hull->edge_vertex[edge][end];
}

static void direction_of(const dls_hull *hull, int edge, double *e) {
    vec_sub(e, end_of(hull, edge, 1), end_of(hull, edge, 0));
}

static const double *normal_of(const dls_hull *hull, int edge, int which) {
    return hull->face_normal + 3 * hull->edge_face[edge][which];
}

typedef struct turned_edge {
    double e[3], normal[2][3], start[3];
} turned_edge;

/* An edge of B in A's frame. */
static void turn_edge(const dls_hull_pair *pair, int edge, turned_edge *b) {
    double e[3];
    direction_of(pair->hull[1], edge, e);
    mat_apply(b->e, pair->R, e);
    for (int k = 0; k < 2; k++) mat_apply(b->normal[k], pair->R, normal_of(pair->hull[1], edge, k));
    mat_apply(b->start, pair->R, end_of(pair->hull[1], edge, 0));
    vec_add(b->start, b->start, pair->x);
}

/* n along e_A × e_B, where the arc of A's normals and the arc of B's negated ones cross in it. */
static bool crossing(const dls_hull *a, int edge, const turned_edge *b, double *n) {
    double e[3];
    direction_of(a, edge, e);
    const double *a1 = normal_of(a, edge, 0), *a2 = normal_of(a, edge, 1);
    if (!(vec_dot(b->normal[0], e) * vec_dot(b->normal[1], e) < 0)) return false;
    if (!(vec_dot(a1, b->e) * vec_dot(a2, b->e) < 0)) return false;
    vec_cross(n, e, b->e);
    double n2 = vec_dot(n, n);
    if (!(n2 > parallel * vec_dot(e, e) * vec_dot(b->e, b->e))) return false;
    double to_a = vec_dot(n, a1) + vec_dot(n, a2), to_b = vec_dot(n, b->normal[0]) + vec_dot(n, b->normal[1]);
    if (!(to_a * to_b < 0)) return false;
    vec_scale(n, (to_a > 0 ? 1 : -1) / sqrt(n2), n);
    return true;
}

static double gap_between(const dls_hull *a, int edge, const turned_edge *b, const double *n) {
    double d[3];
    vec_sub(d, b->start, end_of(a, edge, 0));
    return vec_dot(n, d);
}

enum { STORED_FACES = 256 };

/* The sign of n · e for each face of A: an edge can meet e only where those of its two faces differ. */
static const double *face_slopes(const dls_hull *a, const double *e, double *slope) {
    if (a->face_count > STORED_FACES) return NULL;
    for (int f = 0; f < a->face_count; f++) slope[f] = vec_dot(a->face_normal + 3 * f, e);
    return slope;
}

static void scan_edges(const dls_hull_pair *pair, double enough, dls_hull_axis *axis) {
    const dls_hull *a = pair->hull[0];
    double stored[STORED_FACES];
    for (int j = 0; j < pair->hull[1]->edge_count; j++) {
        turned_edge b;
        turn_edge(pair, j, &b);
        const double *slope = face_slopes(a, b.e, stored);
        for (int i = 0; i < a->edge_count; i++) {
            double n[3];
            if (slope && !(slope[a->edge_face[i][0]] * slope[a->edge_face[i][1]] < 0)) continue;
            if (!crossing(a, i, &b, n)) continue;
            double gap = gap_between(a, i, &b, n);
            if (!(gap > axis->gap)) continue;
            *axis = (dls_hull_axis){.gap = gap, .n = {n[0], n[1], n[2]}, .first = i, .second = j};
            if (gap > enough) return;
        }
    }
}

/* The edge along an axis of a box that lies farthest in a direction of the box's frame. */
static int box_edge(const dls_hull *box, int along, const double *direction) {
    int best = 0;
    double most = -INFINITY;
    for (int e = 0; e < box->edge_count; e++) {
        double d[3];
        direction_of(box, e, d);
        if (!(fabs(d[along]) > fabs(d[(along + 1) % 3]) + fabs(d[(along + 2) % 3]))) continue;
        double far = vec_dot(direction, end_of(box, e, 0)) + vec_dot(direction, end_of(box, e, 1));
        if (far > most) {
            most = far;
            best = e;
        }
    }
    return best;
}

/* Two boxes have nine axes e_i × R e_j, with gap |x·n| − r_A − r_B. */
static void scan_box_edges(const dls_hull_pair *pair, double enough, dls_hull_axis *axis) {
    const double *ha = pair->half[0], *hb = pair->half[1], *R = pair->R, *x = pair->x;
    int best_i = -1, best_j = -1;
    for (int i = 0; i < 3; i++) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            double n1 = -R[i2 + 3 * j], n2 = R[i1 + 3 * j]; /* e_i × R e_j has no part along e_i */
            double length2 = n1 * n1 + n2 * n2;
            if (!(length2 > parallel)) continue;
            double across = n1 * x[i1] + n2 * x[i2];
            double room = fabs(across) - fabs(n1) * ha[i1] - fabs(n2) * ha[i2] -
                          fabs(R[i + 3 * j2]) * hb[j1] - fabs(R[i + 3 * j1]) * hb[j2];
            double length = sqrt(length2), gap = room / length;
            if (!(gap > axis->gap)) continue;
            double s = (across < 0 ? -1 : 1) / length;
            axis->gap = gap;
            axis->n[i] = 0, axis->n[i1] = s * n1, axis->n[i2] = s * n2;
            best_i = i, best_j = j;
            if (gap > enough) return;
        }
    }
    if (best_i < 0) return;
    double back[3];
    mat_apply_transposed(back, R, axis->n);
    vec_scale(back, -1, back);
    axis->first = box_edge(pair->hull[0], best_i, axis->n);
    axis->second = box_edge(pair->hull[1], best_j, back);
}

void dls_hull_best_edges(const dls_hull_pair *pair, double enough, dls_hull_axis *axis) {
    axis->gap = -INFINITY;
    axis->first = axis->second = -1;
    if (pair->half[0] && pair->half[1])
        scan_box_edges(pair, enough, axis);
    else
        scan_edges(pair, enough, axis);
}

void dls_hull_edge_axis(const dls_hull_pair *pair, int edge_a, int edge_b, dls_hull_axis *axis) {
    axis->gap = -INFINITY;
    axis->first = edge_a;
    axis->second = edge_b;
    axis->sine2 = 0;
    if (edge_a < 0 || edge_b < 0 || edge_a >= pair->hull[0]->edge_count ||
        edge_b >= pair->hull[1]->edge_count)
        return;
    turned_edge b;
    turn_edge(pair, edge_b, &b);
    if (!crossing(pair->hull[0], edge_a, &b, axis->n)) return;
    double e[3], across[3];
    direction_of(pair->hull[0], edge_a, e);
    vec_cross(across, e, b.e);
    axis->sine2 = vec_dot(across, across) / (vec_dot(e, e) * vec_dot(b.e, b.e));
    axis->gap = gap_between(pair->hull[0], edge_a, &b, axis->n);
}

/* p = a + s e_A, q = b + t e_B with (q − p) normal to both. */
bool dls_hull_edge_points(const dls_hull_pair *pair, int edge_a, int edge_b, double slack, double *on_a,
                          double *on_b) {
    turned_edge b;
    turn_edge(pair, edge_b, &b);
    double e[3], d[3];
    direction_of(pair->hull[0], edge_a, e);
    vec_sub(d, b.start, end_of(pair->hull[0], edge_a, 0));
    double ee = vec_dot(e, e), ff = vec_dot(b.e, b.e), ef = vec_dot(e, b.e);
    double determinant = ee * ff - ef * ef, de = vec_dot(d, e), df = vec_dot(d, b.e);
    if (!(determinant > parallel * ee * ff)) return false;
    double s = (de * ff - df * ef) / determinant, t = (de * ef - df * ee) / determinant;
    double slack_a = slack / sqrt(ee), slack_b = slack / sqrt(ff);
    if (s < -slack_a || s > 1 + slack_a || t < -slack_b || t > 1 + slack_b) return false;
    vec_along(on_a, end_of(pair->hull[0], edge_a, 0), fmin(1, fmax(0, s)), e);
    vec_along(on_b, b.start, fmin(1, fmax(0, t)), b.e);
    return true;
}
