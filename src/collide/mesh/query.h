/* What all pairs with a mesh need: triangles near a box, closest points with their feature, and the test that
 * keeps inner edges and vertices of a surface from pushing sideways. All in the frame of the mesh. */
#ifndef COLLIDE_MESH_QUERY_H
#define COLLIDE_MESH_QUERY_H

#include "world/shape/shape.h"

/* Features of a triangle: vertex k is k, the edge from vertex k to k + 1 is 3 + k, its inside is 6. */
enum { DLS_TRIANGLE_VERTEX = 0, DLS_TRIANGLE_EDGE = 3, DLS_TRIANGLE_FACE = 6, DLS_TRIANGLE_FEATURES = 7 };

static inline const double *dls_mesh_corner(const dls_mesh *mesh, int element, int k) {
    return mesh->vertex + 3 * mesh->element[3 * element + k];
}

/* q: the point of the triangle a, b, c that is closest to p; returns the feature that it lies on. Needles and
 * triangles without area are fine. */
int dls_triangle_closest(const double *a, const double *b, const double *c, const double *p, double *q);

/* ---- walk over the triangles whose boxes meet a box ---- */

enum { DLS_MESH_WALK_DEPTH = 128 };

typedef struct dls_mesh_walk {
    const dls_mesh *mesh;
    double low[3], high[3];
    int next, end; /* rest of the leaf at hand */
    int depth, stack[DLS_MESH_WALK_DEPTH];
} dls_mesh_walk;

void dls_mesh_walk_begin(dls_mesh_walk *walk, const dls_mesh *mesh, const double *low, const double *high);
int dls_mesh_walk_next(
    dls_mesh_walk *walk); /* an element, −1 at the end; the order depends on the mesh alone */

/* ---- features of the whole mesh ---- */

/* One number per vertex, edge and face of the mesh, whichever triangle it is met from: 7 · element + feature
 * of the first triangle that has it. */
int dls_mesh_feature(const dls_mesh *mesh, int element, int feature);
/* The point of that feature that is closest to p. */
void dls_mesh_feature_closest(const dls_mesh *mesh, int mesh_feature, const double *p, double *q);

/* Whether a point of the feature (strictly inside it) is a local minimum over the whole mesh of the distance
 * from a point in direction d of it: d · t ≤ 1e-9|d| for every tangent t into the triangles around. For a
 * convex body that touches with normal d, from mesh to body, it says whether d is in the feature's normal
 * cone; false on flat and on concave edges unless d is their face's normal. */
bool dls_mesh_is_minimum(const dls_mesh *mesh, int element, int feature, const double *d);

/* Whether direction d leads to the open side of the surface at such a minimum: the side of the normals. From
 * a free border every direction does. */
bool dls_mesh_is_outside(const dls_mesh *mesh, int element, int feature, const double *d);

/* Whether the plane of the triangle holds p: its foot lies in the triangle, or misses it only where the
 * surface folds towards p, and p is over the face beyond a deep valley or has sunk below both faces. */
bool dls_mesh_holds(const dls_mesh *mesh, int element, const double *p);

/* Whether edge k of the triangle stands out: convex, or a free border. Flat and concave edges do not: what
 * rests on them rests on the faces beside them. */
bool dls_mesh_edge_is_sharp(const dls_mesh *mesh, int element, int k);
/* Whether a sharp edge ends at the vertex. */
bool dls_mesh_vertex_is_sharp(const dls_mesh *mesh, int vertex);

#endif
