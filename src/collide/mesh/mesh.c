/* The rows of meshes with spheres, capsules, boxes and polyhedra. */
#include "collide/mesh/mesh.h"

#define HULL_METHOD                                                                                          \
    "separating axes per triangle that its neighbours allow; whole clipped faces; edge on edge or closest "  \
    "points, and the face behind them"

static const dls_pair_kind rows[] = {
    {DLS_SPHERE, DLS_MESH, dls_collide_mesh_sphere, true, true,
     "closest points that are local minima over neighbouring triangles"},
    {DLS_CAPSULE, DLS_MESH, dls_collide_mesh_capsule, true, true,
     "end balls as spheres; the axis against sharp edges and vertices, and over borders"},
    {DLS_BOX, DLS_MESH, dls_collide_mesh_hull, false, true, HULL_METHOD},
    {DLS_POLYHEDRON, DLS_MESH, dls_collide_mesh_hull, false, true, HULL_METHOD},
};

const dls_pair_family dls_pairs_mesh = {rows, sizeof rows / sizeof *rows};
