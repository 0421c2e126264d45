/* What the files about convex hulls share. */
#ifndef WORLD_SHAPE_HULL_H
#define WORLD_SHAPE_HULL_H

#include "world/parts.h"

/* Relative to the size of a hull: points nearer to a plane or line than this lie on it. */
#define HULL_FLAT 1e-10

/* A polyhedron from its faces, counter-clockwise seen from outside. Without words: DLS_ERROR_MEMORY, and
 * DLS_ERROR_NUMERIC where they do not close. */
dls_status dls_hull_assemble(int vertex_count, const double *vertex, int face_count, const int *face_start,
                             const int *face_vertex, dls_hull **hull);
/* A closed surface of triangles, all turning the same way. */
typedef struct dls_triangles {
    int count;
    int *corner; /* three points each */
} dls_triangles;

/* Of the hull of points, which should be centred and about 1 in size; points that stand out by less than
 * `out` may be left out. */
dls_status dls_qhull_triangles(int count, double *points, double out, dls_triangles *triangles,
                               dls_error *error);
/* The hull of points in space that extend over size. */
dls_status dls_polyhedron_create(int count, const double *points, double size, dls_hull **hull,
                                 dls_error *error);

#endif
