#include "world/shape/deform.h"

#include "base/vector.h"
#include "world/shape/kinds.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_round(const dls_shape *s) {
    return dls_shape_table[s->kind].round && !dls_shape_table[s->kind].planar;
}
static bool is_ellipsoid(const dls_shape *s) { return dls_shape_table[s->kind].needs & DLS_SHAPE_SEMI_AXES; }
static bool is_hull(const dls_shape *s) {
    return dls_shape_table[s->kind].corners && !dls_shape_table[s->kind].planar;
}

bool dls_shape_can_deform(const dls_shape *s) { return is_round(s) || is_ellipsoid(s) || is_hull(s); }

/* ---- ellipsoids ---- */

/* Columns of M become orthogonal by rotations from the right, M V = U diag(s): one-sided Jacobi, which finds
 * short axes as exactly as long ones. U comes in as M. */
static void orthogonalise(double *U) {
    for (int round = 0; round < 30; round++) {
        bool done = true;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                double *a = U + 3 * p, *b = U + 3 * q;
                double aa = vec_dot(a, a), bb = vec_dot(b, b), ab = vec_dot(a, b);
                if (!(fabs(ab) > 1e-16 * sqrt(aa * bb))) continue;
                done = false;
                double theta = (bb - aa) / (2 * ab);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    double x = a[k], y = b[k];
                    a[k] = c * x - s * y, b[k] = s * x + c * y;
                }
            }
        if (done) return;
    }
}

/* G diag(a) = U diag(s) Vᵀ: the ball's image has semi-axes s along the columns of U. */
static void deform_ellipsoid(const dls_shape *rest, const double *G, dls_shape *now, double *R) {
    for (int k = 0; k < 3; k++)
        vec_scale(R + 3 * k, is_round(rest) ? rest->radius : rest->size[k], G + 3 * k);
    orthogonalise(R);
    now->kind = DLS_ELLIPSOID;
    now->bound = 0;
    for (int k = 0; k < 3; k++) {
        now->size[k] = vec_norm(R + 3 * k);
        vec_scale(R + 3 * k, 1 / now->size[k], R + 3 * k);
        now->bound = fmax(now->bound, now->size[k]);
    }
    double third[3];
    vec_cross(third, R, R + 3);
    if (vec_dot(third, R + 6) < 0) vec_scale(R + 6, -1, R + 6);
}

/* ---- hulls ---- */

/* (det T) T⁻ᵀ, column-major. */
static void cofactors(const double *T, double *C) {
    vec_cross(C, T + 3, T + 6);
    vec_cross(C + 3, T + 6, T);
    vec_cross(C + 6, T, T + 3);
}

/* Vertices by T = Rᵀ G, normals by T⁻ᵀ; which vertices make a face does not change. */
static void deform_hull(const dls_shape *rest, const double *T, dls_shape *now, void *room) {
    const dls_hull *from = rest->hull;
    dls_hull *to = room;
    double C[9], farthest = 0;
    *to = *from;
    to->vertex = (double *)(to + 1);
    to->face_normal = to->vertex + 3 * from->vertex_count;
    to->face_offset = to->face_normal + 3 * from->face_count;
    cofactors(T, C);
    mat_apply(to->centre, T, from->centre);
    to->volume = from->volume * vec_dot(T, C);
    now->bound = 0;
    for (int k = 0; k < from->vertex_count; k++) {
        double *v = to->vertex + 3 * k;
        mat_apply(v, T, from->vertex + 3 * k);
        now->bound = fmax(now->bound, vec_norm(v));
        farthest = fmax(farthest, vec_distance(v, to->centre));
    }
    for (int f = 0; f < from->face_count; f++) {
        double *n = to->face_normal + 3 * f;
        mat_apply(n, C, from->face_normal + 3 * f);
        vec_scale(n, 1 / vec_norm(n), n);
        to->face_offset[f] = vec_dot(n, to->vertex + 3 * from->face_vertex[from->face_start[f]]);
    }
    to->size = 2 * farthest;
    now->kind = DLS_POLYHEDRON;
    now->hull = to;
}

size_t dls_shape_deform_bytes(const dls_shape *rest) {
    if (!is_hull(rest)) return 0;
    return sizeof(dls_hull) +
           sizeof(double) * (3 * (size_t)rest->hull->vertex_count + 4 * (size_t)rest->hull->face_count);
}

void dls_shape_deform(const dls_shape *rest, const double *G, dls_shape *now, double *R, void *room) {
    double T[9];
    assert(dls_shape_can_deform(rest) && mat_is_rotation(R));
    if (is_round(rest) && rest->radius == 0) return; /* a point */
    if (!is_hull(rest)) {
        deform_ellipsoid(rest, G, now, R);
        return;
    }
    for (int k = 0; k < 3; k++) mat_apply_transposed(T + 3 * k, R, G + 3 * k);
    deform_hull(rest, T, now, room);
}
