/* Shapes as collision sees them: numbers at hand, geometry behind a pointer. */
#ifndef WORLD_SHAPE_SHAPE_H
#define WORLD_SHAPE_SHAPE_H

#include <delassus/world.h>

/* A convex polygon (counter-clockwise) or polyhedron. Vertices in the shape's frame, three numbers each, with
 * the bits of the points they come from. Faces are counter-clockwise seen from outside, coplanar triangles
 * merged. An edge knows its two faces: the first runs from its first vertex to the second, the other back.
 * Side k of a polygon is its face k, from vertex k to k + 1; a polygon has no edges and no face_edge. One
 * block: all arrays lie behind the struct. */
typedef struct dls_hull {
    int vertex_count, face_count, edge_count;
    double *vertex;
    double *face_normal;          /* 3 per face, unit, outward; of a polygon: per side */
    double *face_offset;          /* normal · x = offset on the face */
    int *face_start;              /* face_count + 1 into face_vertex and face_edge */
    int *face_vertex, *face_edge; /* edge k of a face joins its vertices k and k + 1 */
    int (*edge_vertex)[2];
    int (*edge_face)[2];
    int *vertex_start, *vertex_face; /* faces around each vertex */
    double centre[3], volume;        /* of mass at density 1 */
    double inertia[9];               /* about centre, density 1 */
    double size;                     /* diameter of its bounding ball about centre */
} dls_hull;

/* Triangles with neighbours and a tree of boxes over them. A chain is the planar case: segments. Elements
 * name the first of points that are equal, so that some vertices may have no elements. */
typedef struct dls_mesh {
    int vertex_count, element_count;
    double *vertex;
    int *element;   /* 3 vertices per triangle, 2 per segment */
    int *neighbour; /* 3 per triangle, across edge k (vertices k, k+1); 2 per segment, at its first and second
                       vertex; −1 for none and where more than two meet */
    double *normal; /* 3 per element, unit; of a segment: to the left of its direction, away from the solid */
    int *vertex_start, *vertex_element; /* elements around each vertex */
    struct dls_tree *tree;
} dls_mesh;

/* Boxes over elements, in an array; node 0 is the root. */
typedef struct dls_tree_node {
    double low[3], high[3];
    int left, right; /* children, or −1 − first and count of elements of a leaf */
} dls_tree_node;

typedef struct dls_tree {
    int node_count;
    dls_tree_node *node;
    int *element; /* in the order of leaves */
} dls_tree;

typedef struct dls_shape {
    dls_shape_kind kind;
    int body; /* row, set when the body has one */
    dls_material_id material;
    uint32_t group, collides;
    double x[3], R[9];              /* pose about the mass centre in body axes, R column-major */
    double radius, length, size[3]; /* as defined; size of boxes: half edges */
    double bound;                   /* radius of a ball about x that holds it, INFINITY for none */
    dls_hull *hull;                 /* polygon, polyhedron, box */
    dls_mesh *mesh;                 /* mesh, chain */
    double *belt;                   /* velocity of its surface in its own frame, NULL: none */
} dls_shape;

/* Whether its kind, place and numbers can be; what its points make is seen when it is made. */
dls_status dls_shape_check(const dls_shape_def *def, int dimension, dls_error *error);
/* Checks def and makes the shape, its pose in the frame that def has. */
dls_status dls_shape_create(const dls_shape_def *def, int dimension, dls_shape *shape, dls_error *error);
void dls_shape_release(dls_shape *shape);
/* Mass, centre and inertia about that centre (column-major) at density 1, in the frame that x and R are in.
 */
void dls_shape_mass(const dls_shape *shape, double *mass, double *centre, double *inertia);
/* Box around the shape when its frame stands at x, R in the world; infinite where it has no bound. */
void dls_shape_box(const dls_shape *shape, const double *x, const double *R, double *low, double *high);

/* A hull fills the space that it is in: more points than that has dimensions. */
dls_status dls_hull_check_count(int dimension, int count, dls_error *error);
dls_status dls_hull_create(int dimension, int point_count, const double *points, dls_hull **hull,
                           dls_error *error);
/* Without words: DLS_ERROR_MEMORY, and DLS_ERROR_NUMERIC where its faces are beyond what numbers can tell. */
dls_status dls_hull_box(const double *half, dls_hull **hull);
void dls_hull_destroy(dls_hull *hull);
dls_status dls_mesh_create(int dimension, int vertex_count, const double *vertex, int element_count,
                           const int *element, dls_mesh **mesh, dls_error *error);
void dls_mesh_destroy(dls_mesh *mesh);

#endif
