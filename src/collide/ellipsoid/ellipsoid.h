/* Ellipsoids {|B(x − c)| ≤ 1} by A = B⁻¹B⁻ᵀ alone: semi-axes and a rotation, or any affine image of a ball.
 *
 *     h(n) = √(nᵀAn)      support, the touching point is c + An/h
 *     φ(y)                signed distance of a point, convex in y, negative inside, ∇φ = n
 *
 * Everything that is nearest to an ellipsoid is found either as the largest f(n) = n·d − Σh(n) over unit n
 * (two smooth shapes) or as the least φ over the other shape's points (corners and edges). Both agree where
 * the overlap is less than the radii of curvature, and both are the gap. */
#ifndef COLLIDE_ELLIPSOID_ELLIPSOID_H
#define COLLIDE_ELLIPSOID_ELLIPSOID_H

#include "collide/collide.h"

typedef struct dls_ellipsoid {
    double c[3];
    double A[6];            /* xx, yy, zz, xy, xz, yz */
    double least, greatest; /* eigenvalues of A: squares of the shortest and the longest semi-axis */
} dls_ellipsoid;

/* ---- numbers of one ellipsoid ---- */

void dls_ellipsoid_place(const dls_placed *placed, dls_ellipsoid *e);
/* From the affine map that takes the unit ball there, column-major: A = F Fᵀ. */
void dls_ellipsoid_deform(const double *c, const double *F, dls_ellipsoid *e);
/* As seen from the frame x, R: A' = RᵀAR. */
void dls_ellipsoid_view(const dls_ellipsoid *e, const double *x, const double *R, dls_ellipsoid *seen);
/* h(n), and the point of the surface whose outward normal is the unit n. */
double dls_ellipsoid_support(const dls_ellipsoid *e, const double *n, double *point);
/* Radii of curvature where the normal is n as a symmetric tensor (11, 12, 22) in the tangents t₁, t₂: its
 * inverse is the curvature, and ∂point/∂n along them. */
void dls_ellipsoid_radii(const dls_ellipsoid *e, const double *n, const double *t1, const double *t2,
                         double *radii);

/* ---- nearest points: n is the ellipsoid's outward unit normal there, the result the signed distance ---- */

/* φ(y). Where several points are equally near inside, one of them. warm: n holds a guess. */
double dls_ellipsoid_to_point(const dls_ellipsoid *e, const double *y, bool warm, double *n);
/* Least φ on the line p + s·a, a of unit length. */
double dls_ellipsoid_to_line(const dls_ellipsoid *e, const double *p, const double *a, double *n, double *s);
/* Whether nowhere of the surface is nearer than a place found at this distance along a normal: true for an
 * overlap up to the least radius of curvature. */
bool dls_ellipsoid_is_shallow(const dls_ellipsoid *e, double distance);
/* Least φ on a segment, 0 ≤ s ≤ length; where the segment itself runs through the depth, the way out across
 * it.
 */
double dls_ellipsoid_to_segment(const dls_ellipsoid *e, const double *p, const double *a, double length,
                                double *n, double *s);
/* Largest f between two. n starts from a guess where warm; false as soon as
 * the gap is found to be more than margin, n is then a direction that shows it. */
bool dls_ellipsoid_to_ellipsoid(const dls_ellipsoid *e1, const dls_ellipsoid *e2, double margin, bool warm,
                                double *n, double *gap);

/* ---- pairs that have files of their own; the ellipsoid is A ---- */

void dls_ellipsoid_hull(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                        const dls_contact_point *last, int last_count, dls_manifold *manifold);
void dls_ellipsoid_cylinder(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                            const dls_contact_point *last, int last_count, dls_manifold *manifold);
void dls_ellipsoid_cylinder_inside(const dls_placed *a, const dls_placed *b, double margin,
                                   dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                   dls_manifold *manifold);
void dls_ellipsoid_mesh(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                        const dls_contact_point *last, int last_count, dls_manifold *manifold);

/* ---- what those files share ---- */

/* Whether memory holds a direction to start from: it may come from a file. */
bool dls_ellipsoid_recalls(const dls_pair_memory *memory);
/* The balls about c and about x with radius bound are further apart than margin. */
bool dls_ellipsoid_is_far(const dls_ellipsoid *e, const double *x, double bound, double margin);
/* Adds the contact at the outward unit normal n of the ellipsoid. */
void dls_ellipsoid_touch(const dls_ellipsoid *e, const double *n, double gap, uint64_t feature,
                         dls_manifold *manifold);
/* Adds the contact, where gap ≤ margin, with the solid behind the plane through x whose normal m points to
 * where the ellipsoid belongs. */
void dls_ellipsoid_touch_plane(const dls_ellipsoid *e, const double *x, const double *m, double margin,
                               uint64_t feature, dls_manifold *manifold);

/* ---- small symmetric algebra, inlined ---- */

static inline void sym_apply(double *r, const double *A, const double *x) {
    double r0 = A[0] * x[0] + A[3] * x[1] + A[4] * x[2], r1 = A[3] * x[0] + A[1] * x[1] + A[5] * x[2],
           r2 = A[4] * x[0] + A[5] * x[1] + A[2] * x[2];
    r[0] = r0, r[1] = r1, r[2] = r2;
}

/* C ← adj(A), returns det A: A⁻¹ = C/det. */
static inline double sym_adjugate(const double *A, double *C) {
    C[0] = A[1] * A[2] - A[5] * A[5], C[1] = A[0] * A[2] - A[4] * A[4], C[2] = A[0] * A[1] - A[3] * A[3];
    C[3] = A[4] * A[5] - A[3] * A[2], C[4] = A[3] * A[5] - A[4] * A[1], C[5] = A[3] * A[4] - A[0] * A[5];
    return A[0] * C[0] + A[3] * C[3] + A[4] * C[4];
}

#endif
