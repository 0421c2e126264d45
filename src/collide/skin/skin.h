/* Pairs with a skin, the surface of a solid: over several files. */
#ifndef COLLIDE_SKIN_SKIN_H
#define COLLIDE_SKIN_SKIN_H

#include "collide/collide.h"
#include "world/shape/skin.h"

/* Two surfaces: a is a skin, a mesh or a hull, b is no hull. */
typedef struct skin_pair {
    const dls_placed *a, *b;
    double margin, depth; /* how far apart, and how deep one may have sunk into the other */
    dls_manifold *manifold;
    int side;  /* 0: what is called a is the pair's first */
    int first; /* of the pair's contacts in the manifold */
} skin_pair;

/* Places and directions of a as seen from b. */
void dls_skin_see(const skin_pair *pair, const double *p, double *out);
void dls_skin_turn(const skin_pair *pair, const double *d, double *out);
/* A contact at p of a and q of b, both in b's frame; out: unit, from b to a. */
void dls_skin_add(const skin_pair *pair, const double *p, const double *q, const double *out, double gap,
                  uint64_t feature);
/* Whether all of a convex hull lies above a point of it along d, or below by less than slack, a sine. */
bool dls_skin_hull_above(const dls_hull *hull, const double *from, const double *d, double slack);

/* Vertices of a on faces of b. */
void dls_skin_vertices(const skin_pair *pair);
/* Whether a's surface rises from a vertex along out, of the world, so that it may be pushed so. */
bool dls_skin_holds_point(const skin_pair *pair, int vertex, const double *out);
/* What holds a vertex that has slipped past an edge of b, a hull; depth: in it, 0 outside. */
void dls_skin_behind_hull(const skin_pair *pair, int vertex, double depth);
/* Edges on edges. */
void dls_skin_edges(const skin_pair *pair);

#endif
