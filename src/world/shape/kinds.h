/* What is asked of a shape by its kind: one row each in kinds.c, so that no other room names kinds. */
#ifndef WORLD_SHAPE_KINDS_H
#define WORLD_SHAPE_KINDS_H

#include "world/shape/shape.h"

struct dls_curvature;

/* What a definition says of the shape; each is checked where a shape is made, and is a key of scenes. */
enum {
    DLS_SHAPE_RADIUS = 1,
    DLS_SHAPE_LENGTH = 2,      /* > 0 */
    DLS_SHAPE_OPEN_LENGTH = 4, /* ≥ 0 */
    DLS_SHAPE_EDGES = 8,       /* size: full edges, halved in dls_shape */
    DLS_SHAPE_SEMI_AXES = 16,  /* size */
    DLS_SHAPE_POINTS = 32,     /* at least three in the plane, four in space, whose hull it is */
    DLS_SHAPE_TRIANGLES = 64,  /* points and triangles */
    DLS_SHAPE_CHAIN = 128,     /* points in a row, closed or not */
    DLS_SHAPE_NORMAL = 256,    /* its frame may be told by the direction out of the solid */
    DLS_SHAPE_FILE = 512       /* its points may come from a file of triangles */
};

/* The walls that bound the free side of an obstacle, in the shape's frame. */
enum {
    DLS_WALL_FLAT = 1,  /* free where y > 0 in the plane, z > 0 in space */
    DLS_WALL_ROUND = 2, /* free within radius about z */
    DLS_WALL_ENDS = 4,  /* free where |z| < length/2; no ends where length is 0 */
    DLS_WALL_BOX = 8    /* free where |x_k| < size_k */
};

/* How a cube of cells fills a solid shape. */
enum { DLS_GRID_NONE = 0, DLS_GRID_BOX, DLS_GRID_BALL, DLS_GRID_ROUND }; /* round: about z */

/* Functions take a shape whose numbers and geometry are filled in, and work in its own frame. */
typedef struct dls_shape_traits {
    const char *name;
    bool planar, obstacle;
    bool round;     /* a disc or ball about its origin: turning it changes nothing */
    bool corners;   /* a hull: faces, edges and corners */
    bool made;      /* a solid makes it of its own mesh, which needs not be told */
    int grid;       /* DLS_GRID_*: whether elements may fill it */
    unsigned needs; /* DLS_SHAPE_* */
    unsigned walls; /* DLS_WALL_*; 0 where distances from the solid are not that simple */
    /* Radius of a ball about the origin that holds it. */
    double (*bound)(const dls_shape *shape);
    /* Around the shape when its frame stands at x, R in the world. */
    void (*box)(const dls_shape *shape, const double *x, const double *R, double *low, double *high);
    /* Of solids alone, as all that follows: mass, centre and inertia about it at density 1. */
    void (*mass)(const dls_shape *shape, double *mass, double *centre, double *inertia);
    double (*thickness)(const dls_shape *shape); /* the least */
    /* Its farthest point along d ≠ 0, and whether p lies in it. */
    void (*support)(const dls_shape *shape, const double *d, double *p);
    bool (*has)(const dls_shape *shape, const double *p);
    /* How its surface bends at p with outward normal n, obstacles too; NULL: not known. */
    void (*curvature)(const dls_shape *shape, const double *p, const double *n,
                      struct dls_curvature *surface);
} dls_shape_traits;

extern const dls_shape_traits dls_shape_table[DLS_SHAPE_KINDS];

/* The shape becomes the skin of its body's elements and takes the mesh, which is seen from x, not turned. */
void dls_shape_become_skin(dls_shape *shape, const double *x, dls_mesh *mesh);

#endif
