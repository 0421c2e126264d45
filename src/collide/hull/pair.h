/* Two convex polyhedra, one in the frame of the other: axes of least overlap, common faces, closest points.
 */
#ifndef COLLIDE_HULL_PAIR_H
#define COLLIDE_HULL_PAIR_H

#include "collide/collide.h"

/* The kinds of what touches; the order is the order of preference. */
enum { DLS_TOUCH_FACE_A = 0, DLS_TOUCH_FACE_B, DLS_TOUCH_EDGES, DLS_TOUCH_CLOSEST, DLS_TOUCH_NONE };

/* A direction n from A to B, unit, in A's frame, along which the two are gap apart. */
typedef struct dls_hull_axis {
    double gap; /* −INFINITY: there is none */
    double n[3];
    int first, second; /* the face, or the edges of A and of B */
    double sine2;      /* of the angle between two given edges */
} dls_hull_axis;

typedef struct dls_hull_pair {
    const dls_hull *hull[2];
    const double *half[2]; /* of a box: half edges; else NULL */
    const double *frame_x[2], *frame_R[2];
    double R[9], x[3]; /* B in A's frame */
    double size;       /* of the smaller one */
} dls_hull_pair;

void dls_hull_pair_begin(dls_hull_pair *pair, const dls_placed *a, const dls_hull *hull_a,
                         const dls_placed *b, const dls_hull *hull_b);

/* The vertex of hull farthest along a direction of its own frame. */
int dls_hull_support(const dls_hull *hull, const double *direction);
/* How far apart the two are along n, in A's frame. */
double dls_hull_pair_gap(const dls_hull_pair *pair, const double *n);
/* Along the normal of face f of hull side (0: A, 1: B); n is from A to B in A's frame. */
double dls_hull_face_gap(const dls_hull_pair *pair, int side, int f, double *n);
/* The face of hull side with the widest gap; stops at the first that exceeds enough. */
void dls_hull_best_face(const dls_hull_pair *pair, int side, double enough, dls_hull_axis *axis);
/* The pair of edges with the widest gap whose arcs on the sphere of normals cross. */
void dls_hull_best_edges(const dls_hull_pair *pair, double enough, dls_hull_axis *axis);
/* The same for two given edges; gap = −INFINITY where they cannot touch. */
void dls_hull_edge_axis(const dls_hull_pair *pair, int edge_a, int edge_b, dls_hull_axis *axis);
/* Closest points of the lines through two edges, in A's frame; false where they miss the edges by more than
 * slack. */
bool dls_hull_edge_points(const dls_hull_pair *pair, int edge_a, int edge_b, double slack, double *on_a,
                          double *on_b);

/* What two separated hulls have in common along the direction n (A's frame) of their distance: a point, or
 * the ends of the stretch along which two edges run side by side. */
typedef struct dls_hull_closest {
    double distance, n[3];
    int count;
    double on_a[2][3], on_b[2][3]; /* A's frame */
    int vertex_a[2], vertex_b[2];  /* of the features: twice the same for a vertex */
    int touching_a, touching_b;    /* how many vertices lie in the plane of contact */
} dls_hull_closest;

/* start: any direction of positive gap. */
void dls_hull_find_closest(const dls_hull_pair *pair, const double *start, dls_hull_closest *closest);

/* A's frame to the world. */
void dls_hull_pair_point(const dls_hull_pair *pair, const double *p, double *world);
void dls_hull_pair_direction(const dls_hull_pair *pair, const double *n, double *world);
/* Both points of a contact in place, and its normal. */
void dls_hull_pair_contact(const dls_hull_pair *pair, double *on_a, double *on_b, const double *n,
                           double *world);

/* ---- a face against a face: all corners of their common area ---- */

/* A corner is a vertex of the incident face, an edge of it where it leaves over a side of the reference face,
 * or a corner of the reference face. */
enum { DLS_CLIP_VERTEX = 0, DLS_CLIP_EDGE, DLS_CLIP_CORNER, DLS_CLIP_LONE };

typedef struct dls_clip_point {
    double on_reference[3], on_incident[3]; /* world */
    double gap;
    int kind, i, j; /* places in the polygons: vertex i; edge i over side j; corner i */
    uint64_t id;
} dls_clip_point;

typedef struct dls_clip {
    int reference, face; /* hull 0 or 1 and its face */
    int incident;        /* face of the other hull */
    uint64_t id;         /* all bits of an id but those that dls_clip_id adds */
    const dls_contact_point *last;
    int last_count;
    void (*emit)(void *user, const dls_clip_point *point);
    void *user;
} dls_clip;

enum { DLS_CLIP_ID_BITS = 26 };

static inline uint64_t dls_clip_id(uint64_t base, int kind, int i, int j) {
    return base | (uint64_t)kind << 24 | (uint64_t)(i & 0xFFF) << 12 | (uint64_t)(j & 0xFFF);
}

bool dls_contact_was(const dls_contact_point *last, int last_count, uint64_t feature);

/* Emits all corners, returns the least gap (INFINITY when there is no common area). */
double dls_hull_clip(const dls_hull_pair *pair, const dls_clip *clip);
/* What the clipped faces have from place `start` of the manifold on, where that is no area: nothing where
 * they lie in one plane, and one normal amid those of both where they meet along an edge. Twins become one.
 */
void dls_hull_settle_border(const dls_hull_pair *pair, const dls_clip *clip, int start,
                            dls_manifold *manifold);
/* The face that turns most to the reference face among those around its deepest vertex; cached (−1: none)
 * stays while it is about as good. */
int dls_hull_incident(const dls_hull_pair *pair, int reference, int face, int cached);

#endif
