/* Rounded convex sets as points and a radius, and what two of them owe each other: knows nothing of faces,
 * edges or pairs, so it can judge them. */
#ifndef DELASSUS_TESTS_SUPPORT_CONVEX_H
#define DELASSUS_TESTS_SUPPORT_CONVEX_H

#include "base/random.h"
#include "collide/collide.h"

enum { CONVEX_POINTS = 32 };

/* All points within radius of the convex hull of `point`. */
typedef struct convex {
    int count;
    double point[CONVEX_POINTS][3], radius;
} convex;

/* Spheres, capsules, discs, boxes, polygons and polyhedra where they stand. */
convex convex_of(const dls_placed *placed);
/* Separation along a unit vector from a to b: negative where no plane across it parts them. */
double convex_separation(const convex *a, const convex *b, const double *n);
/* Distance of the hulls without their radii, by Wolfe's algorithm on the differences of the points; 0 where
 * they meet. */
double convex_distance(const convex *a, const convex *b);
double convex_distance_from(const convex *a, const double *point);
/* The largest separation over all n that search finds: the depth where the hulls meet. */
double convex_search(dls_random *g, const convex *a, const convex *b, bool planar);

/* ---- shapes and poses ---- */

void random_direction(dls_random *g, bool planar, double *u);
void random_rotation(dls_random *g, bool planar, double *R);
/* R turned by so many radians about a random axis (z in the plane). */
void turn_slightly(dls_random *g, bool planar, double angle, double *R);
void rigid_motion(const double *x, const double *R, dls_placed *placed);

/* Where a pair stands from step to step, with what it remembers. */
typedef struct standing_pair {
    dls_placed a, b;
    double margin;
    dls_pair_memory memory;
    dls_contact_point *last;
    int last_count;
    dls_manifold manifold;
} standing_pair;

/* Shapes belong to the caller; fails the test when there is no such pair in this order. */
void standing_collide(standing_pair *pair);
void standing_free(standing_pair *pair);
double standing_gap(const standing_pair *pair); /* the least; INFINITY where there is no contact */
const dls_contact_point *standing_deepest(const standing_pair *pair);
/* Feature ids in ascending order; at most 64. */
int standing_features(const standing_pair *pair, uint64_t *feature);
/* What every manifold must be: finite, unit normals, gaps that belong to the points, none beyond the margin,
 * different features. */
void assert_sound(const standing_pair *pair);
/* How often the features change while both poses tremble by the given noise. */
int standing_flicker(dls_random *g, const standing_pair *rest, bool planar, double noise, int steps);

#endif
