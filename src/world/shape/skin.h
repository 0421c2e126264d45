/* What contacts of a skin touch: the name that a contact has says which vertex it is, where it is one. */
#ifndef WORLD_SHAPE_SKIN_H
#define WORLD_SHAPE_SKIN_H

#include "world/shape/shape.h"

/* Bit 63, then what touches: a vertex of the pair's first or second shape, two edges, a vertex on a wall. */
enum { DLS_SKIN_FIRST = 0, DLS_SKIN_SECOND, DLS_SKIN_EDGES, DLS_SKIN_WALL };

static inline uint64_t dls_skin_feature(int what, int of, int on) {
    return (uint64_t)1 << 63 | (uint64_t)what << 61 | (uint64_t)of << 30 | (uint64_t)on;
}
/* The vertex that a contact has of the skin on this side (0 or 1); −1: another place of its surface. */
static inline int dls_skin_vertex(uint64_t feature, int side) {
    int what = (int)(feature >> 61 & 3);
    if (!(feature >> 63) || (what != side && what != DLS_SKIN_WALL)) return -1;
    return (int)(feature >> 30 & 0x3FFFFFFF);
}

/* A mesh whose vertices move: `now` shares neighbours with the one at rest; vertices, normals and boxes lie
 * in room, so many bytes. vertex: as they stand, in the frame that now is going to have. */
size_t dls_mesh_moved_bytes(const dls_mesh *rest);
dls_mesh *dls_mesh_moved(const dls_mesh *rest, void *room);
/* Normals and boxes of vertices that have moved. */
void dls_mesh_refit(dls_mesh *now);

#endif
