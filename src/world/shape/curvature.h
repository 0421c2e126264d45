/* How the surface of a shape bends where something touches it: along two directions across its normal,
 *
 *     P ṡ = Q ν
 *
 * with ṡ the way of the touching point over the surface and ν what the outward normal then turns by:
 * (1, ρ) of radius ρ, hollow where it is negative; flat (0, 1); a corner or an edge (1, 0). */
#ifndef WORLD_SHAPE_CURVATURE_H
#define WORLD_SHAPE_CURVATURE_H

#include "world/shape/shape.h"

typedef struct dls_curvature {
    double axis[2][3]; /* units, at right angles to each other and to the normal */
    double P[2], Q[2];
} dls_curvature;

/* Rows of kinds.c: the point p and the outward normal n lie in the shape's own frame. */
void dls_curvature_round(const dls_shape *shape, const double *p, const double *n, dls_curvature *surface);
void dls_curvature_flat(const dls_shape *shape, const double *p, const double *n, dls_curvature *surface);
void dls_curvature_hull(const dls_shape *shape, const double *p, const double *n, dls_curvature *surface);
void dls_curvature_capsule(const dls_shape *shape, const double *p, const double *n, dls_curvature *surface);
void dls_curvature_ellipsoid(const dls_shape *shape, const double *p, const double *n,
                             dls_curvature *surface);
void dls_curvature_cylinder(const dls_shape *shape, const double *p, const double *n, dls_curvature *surface);
void dls_curvature_hollow(const dls_shape *shape, const double *p, const double *n, dls_curvature *surface);

#endif
