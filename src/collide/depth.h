/* How deep shapes lie in each other as they stand. */
#ifndef COLLIDE_DEPTH_H
#define COLLIDE_DEPTH_H

#include "collide/collide.h"

/* 0 where they are apart, do not collide, or rounding may be all of it; NaN when memory is out. */
double dls_placed_depth(const dls_placed *a, const dls_placed *b, dls_manifold *manifold);

#endif
