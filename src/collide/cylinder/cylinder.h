/* Inside the cylinder pairs: the best direction between a cylinder and something convex, and the common
 * region of flat features there.
 *
 * Everything happens in the frame of B. f(n) = min over B of n·b − max over A of n·a; its maximum over unit n
 * is the gap (negative: minus the least translation), and n points from A to B. */
#ifndef COLLIDE_CYLINDER_CYLINDER_H
#define COLLIDE_CYLINDER_CYLINDER_H

#include "base/vector.h"
#include "collide/collide.h"

/* {c + s a + p : |s| ≤ h, p ⟂ a, |p| ≤ r}; x and y complete a to a right-handed frame. */
typedef struct dls_cylinder {
    double c[3], a[3], x[3], y[3];
    double r, h;
} dls_cylinder;

/* A segment of B with a radius around it: an edge (0), a capsule, the core of a cylinder. */
typedef struct dls_thick_segment {
    double p[2][3];
    double radius;
    bool round;     /* its ends are half-balls */
    int end[2], id; /* names of the ends and of the whole */
} dls_thick_segment;

/* A convex face, counter-clockwise about its normal. An id of −1: points there are not wanted. */
typedef struct dls_polygon {
    int count, index;     /* index: name of the face */
    const double *vertex; /* three numbers each */
    const int *corner;    /* count indices into vertex */
    const int *vertex_id, *edge_id;
    double normal[3], offset;
    double slack;   /* how far outside of the face a point may lie and still count as on it */
    int rim_points; /* 3, or 6 where the face is one of many */
} dls_polygon;

/* Where contacts of one pair go: from the frame of B to the world, none beyond the margin. */
typedef struct dls_contact_region {
    dls_manifold *manifold;
    const double *x, *R;
    double margin;
    double least;  /* of the gaps so far */
    double merge;  /* contacts nearer than this with one normal are one; 0: no merging */
    bool exchange; /* the roles of A and B are exchanged */
    bool level;    /* a cap lies flat within 1e-6 and its points are not the lowest */
    int first;     /* contacts of the manifold that are not of this pair's call */
} dls_contact_region;

typedef enum dls_cylinder_feature {
    FEATURE_RIM = 1, /* a point of a rim: 0 the lowest, others around */
    FEATURE_CORNER,  /* a vertex on a cap */
    FEATURE_CROSS,   /* an edge leaves a cap */
    FEATURE_ARC,     /* between two of these */
    FEATURE_END,     /* an end of a line */
    FEATURE_SIDE,    /* the side with an edge or a line */
    FEATURE_VERTEX,  /* side or rim with a vertex */
    FEATURE_EDGE,    /* rim with an edge */
    FEATURE_WALL     /* lateral wall of a container */
} dls_cylinder_feature;

static inline uint64_t cylinder_feature(dls_cylinder_feature kind, int cap, int k, int index) {
    return (uint64_t)kind << 56 | (uint64_t)(cap & 15) << 52 | (uint64_t)(k & 15) << 48 | (uint32_t)index;
}

/* What the best direction rests on in B. */
typedef enum dls_cylinder_support {
    SUPPORT_NONE,
    SUPPORT_FACE,
    SUPPORT_CAP,
    SUPPORT_EDGE_SIDE,
    SUPPORT_EDGE_RIM,
    SUPPORT_VERTEX
} dls_cylinder_support;

typedef struct dls_direction {
    double n[3], f;
    dls_cylinder_support kind;
    int index;               /* of the face, edge or vertex */
    double point[3];         /* for an edge or a vertex: a point of it */
    double along[3], length; /* for an edge: its unit direction, and how far it goes from the point */
} dls_direction;

/* The placed cylinder in the frame (x, R). */
void dls_cylinder_place(const dls_placed *placed, const double *x, const double *R, dls_cylinder *cylinder);

/* max over the cylinder of n·a */
static inline double cylinder_reach(const dls_cylinder *A, const double *n) {
    double s = vec_dot(n, A->a), p[3];
    vec_along(p, n, -s, A->a);
    return vec_dot(n, A->c) + A->r * vec_norm(p) + A->h * fabs(s);
}

/* The point of the cylinder that reaches farthest along n; any of them where there are several. */
void dls_cylinder_reach_point(const dls_cylinder *A, const double *n, double *point);

/* Roots of (a/ν)² + (b/(ν + D))² = 1 for a, b, D ≥ 0: the one with ν > 0, where a > 0 or b > D; the one in
 * (−D, 0) where the left side rises, 0 where there is none. */
double dls_cylinder_outer_root(double a, double b, double D);
double dls_cylinder_inner_root(double a, double b, double D);

/* Unit directions n across the line (q + t e − c) that make its f stationary: up to 4. q is relative to the
 * centre. rim[k] tells whether a rim or the side touches. */
int dls_cylinder_line_directions(const dls_cylinder *A, const double *q, const double *e, double (*n)[3],
                                 bool *rim);
/* The same for a point: up to 2. */
int dls_cylinder_point_directions(const dls_cylinder *A, const double *q, double (*n)[3]);

/* Best directions; false as soon as one has f > margin, which is then in best. */
bool dls_cylinder_hull_direction(const dls_cylinder *A, const dls_hull *hull, double margin,
                                 dls_direction *best);
bool dls_cylinder_segment_direction(const dls_cylinder *A, const dls_thick_segment *line, double margin,
                                    dls_direction *best);
bool dls_cylinder_pair_direction(const dls_cylinder *A, const dls_cylinder *B, double margin,
                                 dls_direction *best);

/* Adds a contact unless its gap is beyond the margin; feature 0: only takes notice of its gap. */
void dls_contact_region_add(dls_contact_region *region, const double *point_a, const double *point_b,
                            const double *n, double gap, uint64_t feature);

/* Whether the region's points stand for the nearest ones, so that these need no contact of their own. */
static inline bool region_attains(const dls_contact_region *region, const dls_cylinder *A, double f) {
    return region->least <= f + (region->level ? 2e-6 : 1e-10) * (A->r + A->h);
}

/* The direction from the axis to the rim's lowest point above a plane with normal m; remembered in *angle and
 * taken from there while the axis is within 1e-6 of m. True where it is the lowest indeed. */
bool dls_cylinder_lowest(const dls_cylinder *A, const double *m, int32_t *angle, double *u);

/* Corners of what a cap (0: at −h, 1: at +h) or the side's line along n shares with a flat or straight
 * feature of B, seen along n. */
void dls_contact_region_cap_polygon(dls_contact_region *region, const dls_cylinder *A, int cap,
                                    const dls_polygon *polygon, const double *n, int32_t *angle);
void dls_contact_region_side_polygon(dls_contact_region *region, const dls_cylinder *A,
                                     const dls_polygon *polygon, const double *n);
void dls_contact_region_cap_line(dls_contact_region *region, const dls_cylinder *A, int cap,
                                 const dls_thick_segment *line, const double *n);
void dls_contact_region_side_line(dls_contact_region *region, const dls_cylinder *A,
                                  const dls_thick_segment *line, const double *n);
void dls_contact_region_cap_cap(dls_contact_region *region, const dls_cylinder *A, int cap,
                                const dls_cylinder *B, int other_cap, const double *n, int32_t *angles);

/* A cylinder above the plane m·x = offset that is solid below: lowest points of both rims and two more of the
 * lower one. wall names the plane. */
void dls_contact_region_plane(dls_contact_region *region, const dls_cylinder *A, const double *m,
                              double offset, int wall, int32_t *angle);

/* How nearly parallel features must be to share a region: sine of the angle. */
#define CYLINDER_PARALLEL 0.2

static inline bool cylinder_cap_faces(const dls_cylinder *A, const double *n) {
    return fabs(vec_dot(A->a, n)) > sqrt(1 - CYLINDER_PARALLEL * CYLINDER_PARALLEL);
}
static inline bool cylinder_side_faces(const dls_cylinder *A, const double *n) {
    return fabs(vec_dot(A->a, n)) < CYLINDER_PARALLEL;
}

void dls_cylinder_mesh(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                       const dls_contact_point *last, int last_count, dls_manifold *manifold);

#endif
