/* How deep two bodies truly lie in each other, by brute force: points of one's surface in the other. */
#ifndef DELASSUS_TESTS_SUPPORT_OVERLAP_H
#define DELASSUS_TESTS_SUPPORT_OVERLAP_H

#include "support/stage.h"

typedef struct overlap {
    double depth; /* m: of the deepest point of either surface within the other; 0: none */
    double at[3];
    int of; /* whose point it is */
} overlap;

/* Surfaces as triangles: of solids as they stand, of round shapes by 64 sides; each has points at this
 * spacing. A point lies in a closed surface that it sees all around. */
overlap overlap_of(const stage *s, dls_body_id a, dls_body_id b, double spacing);

#endif
