/* Pairs with a mesh, over several files. */
#ifndef COLLIDE_MESH_MESH_H
#define COLLIDE_MESH_MESH_H

#include "collide/collide.h"

void dls_collide_mesh_sphere(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                             const dls_contact_point *last, int last_count, dls_manifold *manifold);
void dls_collide_mesh_capsule(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold);
/* Box and polyhedron. */
void dls_collide_mesh_hull(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                           const dls_contact_point *last, int last_count, dls_manifold *manifold);

#endif
