/* Meshes of elements at rest: nodes, cells of one kind, and their skin.
 *
 * Nodes of a cell are numbered so that det ∂X/∂ξ > 0: a tetrahedron's fourth corner lies on the side of the
 * counter-clockwise normal of its first three; the mid-side nodes of one with ten lie on the edges 01, 12,
 * 20, 03, 13, 23; a hexahedron's upper four stand on its lower four. */
#ifndef WORLD_SOLID_ELEMENTS_MESH_H
#define WORLD_SOLID_ELEMENTS_MESH_H

#include <delassus/base.h>

typedef enum dls_cell_form {
    DLS_CELL_TET4 = 0, /* linear tetrahedron */
    DLS_CELL_TET10,    /* quadratic tetrahedron */
    DLS_CELL_HEX8,     /* trilinear hexahedron with incompatible modes */
    DLS_CELL_FORMS
} dls_cell_form;

enum { DLS_CELL_NODES = 10, DLS_MOST_CELLS = 2000000 };

/* What a kind of cell is made of. */
typedef struct dls_cell_kind {
    const char *name;
    int nodes, faces, sides; /* sides: corners of a face */
    int face[6][6];          /* its nodes, corners first, counter-clockwise from outside */
    int face_nodes;
} dls_cell_kind;

extern const dls_cell_kind dls_cell_kinds[DLS_CELL_FORMS];

typedef struct dls_skin_edge {
    int node[2], face[2]; /* its triangles: node 0 to 1 runs along the first of them, against the second */
} dls_skin_edge;

typedef struct dls_cell_mesh {
    dls_cell_form form;
    int node_count, cell_count;
    double *X;      /* 3 per node */
    int *cells;     /* nodes of each */
    uint8_t *sides; /* of a block's nodes: bits of dls_solid_element_node; NULL of a mesh that was told */
    int face_count, edge_count;
    int *faces;     /* the skin: 3 nodes of each triangle, counter-clockwise from outside */
    int *face_cell; /* what each belongs to */
    dls_skin_edge *edges;
} dls_cell_mesh;

/* Nodes and cells as somebody tells them. Numbers and lines by which a file calls them, to name what is
 * wrong, may be NULL: both are counted from 1 then, and have no line. */
typedef struct dls_cell_list {
    dls_cell_form form;
    int node_count, cell_count;
    const double *X;
    const int *cells;
    const int *node_number, *cell_number, *node_line, *cell_line;
} dls_cell_list;

/* Arrays are copied. Refused are indices out of range, nodes that no cell has, cells without volume or turned
 * inside out, skins with an edge that has not just two triangles, and meshes of several pieces. */
dls_status dls_cell_mesh_create(const dls_cell_list *list, dls_cell_mesh **mesh, dls_error *error);
void dls_cell_mesh_destroy(dls_cell_mesh *mesh);

typedef enum dls_block_form { DLS_BLOCK_BOX = 0, DLS_BLOCK_ELLIPSOID, DLS_BLOCK_CYLINDER } dls_block_form;

/* A body of cells[0] × cells[1] × cells[2] hexahedra about the origin; tetrahedra are six to each. size: edge
 * lengths of a box, semi-axes of an ellipsoid, radius, radius and length of a cylinder along z. */
typedef struct dls_block {
    dls_block_form form;
    dls_cell_form cell;
    double size[3];
    int cells[3];
    double bend; /* rad, of a box: x goes round the y axis at the radius size_x/bend; 2π closes a ring */
} dls_block;

dls_status dls_cell_mesh_block(const dls_block *block, dls_cell_mesh **mesh, dls_error *error);

#endif
