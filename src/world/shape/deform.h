/* Solid shapes under an affine map: an ellipsoid stays one, of other axes; a hull stays one, vertices and
 * normals moved. */
#ifndef WORLD_SHAPE_DEFORM_H
#define WORLD_SHAPE_DEFORM_H

#include "world/shape/shape.h"

/* Whether a map has a shape of the table for it. */
bool dls_shape_can_deform(const dls_shape *rest);
/* Bytes that what changes of it takes. */
size_t dls_shape_deform_bytes(const dls_shape *rest);
/* The shape of places G ξ, ξ those of rest in its own frame: `now`, a copy of it, and axes R of its frame
 * (column-major as G is). R comes in as a rotation near to G; a hull keeps it. */
void dls_shape_deform(const dls_shape *rest, const double *G, dls_shape *now, double *R, void *room);

#endif
