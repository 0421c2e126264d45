/* Solids the slow way, as a reference for collisions with ellipsoids: support points in shape frames, signed
 * distances by bracketing in principal axes, least distances by bisection and by trying all features. */
#ifndef DELASSUS_TESTS_SUPPORT_SOLID_H
#define DELASSUS_TESTS_SUPPORT_SOLID_H

#include "base/random.h"
#include "collide/collide.h"

typedef struct solid {
    dls_shape shape;
    dls_placed at; /* its shape is set by solid_at */
} solid;

/* A shape that stands at the origin; fails the test where it cannot be made. */
solid solid_make(const dls_shape_def *def);
void solid_free(solid *c);
const dls_placed *solid_at(solid *c);

void random_unit(dls_random *g, double *n);
void random_turn(dls_random *g, double *R);
/* A shape of about the given size, slenderness to 1:10, randomly turned about the origin. */
solid random_solid(dls_random *g, dls_shape_kind kind, double size);

/* A point of the shape that is farthest along the unit n; where many are (a face, an edge), a random one of
 * them. Returns n · point. */
double solid_support(const solid *c, const double *n, dls_random *g, double *point);
/* A random direction normal to one of the shape's features: corner, edge or face, side or end. */
void solid_random_normal(const solid *c, dls_random *g, double *n);

/* Signed distance from an ellipsoid to y and the ellipsoid's normal there. */
double reference_point(const solid *ellipsoid, const double *y, double *n);
/* Least of it on the segment from y to z. */
double reference_segment(const solid *ellipsoid, const double *y, const double *z, double *n);
/* Gap and normal of an ellipsoid and any convex solid, proved by duality; −∞ where the overlap is too deep
 * for that. */
double reference_gap(const solid *ellipsoid, const solid *other, double *n);

#endif
