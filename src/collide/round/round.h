/* What the pairs of spheres and capsules share. */
#ifndef COLLIDE_ROUND_ROUND_H
#define COLLIDE_ROUND_ROUND_H

#include "base/vector.h"
#include "collide/collide.h"

/* Balls about p and q: gap = |q − p| − a − b. Where the centres coincide n is the unit vector apart. */
static inline void dls_balls_add(const double *p, double a, const double *q, double b, const double *apart,
                                 double margin, uint64_t feature, dls_manifold *manifold) {
    double d[3], reach = a + b + margin;
    vec_sub(d, q, p);
    double square = vec_dot(d, d);
    if (square > reach * reach) return;
    double distance = sqrt(square), n[3], point_a[3], point_b[3];
    if (square > 1e-290)
        vec_scale(n, 1 / distance, d); /* below, the square has lost its digits */
    else
        vec_copy(n, apart);
    vec_along(point_a, p, a, n);
    vec_along(point_b, q, -b, n);
    dls_manifold_add(manifold, point_a, point_b, n, distance - a - b, feature);
}

/* A ball of radius a about p and a wall whose unit normal u points out of the solid, p at the given height
 * above it. */
static inline void dls_ball_wall_add(const double *p, double a, const double *u, double height, double margin,
                                     uint64_t feature, dls_manifold *manifold) {
    double n[3], point_a[3], point_b[3];
    if (height - a > margin) return;
    vec_scale(n, -1, u);
    vec_along(point_a, p, a, n);
    vec_along(point_b, p, height, n);
    dls_manifold_add(manifold, point_a, point_b, n, height - a, feature);
}

/* round_capsule.c */
void dls_collide_sphere_capsule(const dls_placed *a, const dls_placed *b, double margin,
                                dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                dls_manifold *manifold);
void dls_collide_capsule_capsule(const dls_placed *a, const dls_placed *b, double margin,
                                 dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                 dls_manifold *manifold);
void dls_collide_capsule_half_space(const dls_placed *a, const dls_placed *b, double margin,
                                    dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                    dls_manifold *manifold);
void dls_collide_capsule_box_inside(const dls_placed *a, const dls_placed *b, double margin,
                                    dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                    dls_manifold *manifold);
void dls_collide_capsule_cylinder_inside(const dls_placed *a, const dls_placed *b, double margin,
                                         dls_pair_memory *memory, const dls_contact_point *last,
                                         int last_count, dls_manifold *manifold);
/* round_hull.c */
void dls_collide_sphere_hull(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                             const dls_contact_point *last, int last_count, dls_manifold *manifold);
void dls_collide_capsule_hull(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold);

/* A ball inside a box or a cylinder; features from the given one on, at most six. round.c */
void dls_ball_box_inside_add(const double *p, double radius, const dls_placed *box, double margin,
                             uint64_t feature, dls_manifold *manifold);
void dls_ball_cylinder_inside_add(const double *p, double radius, const dls_placed *cylinder, double margin,
                                  uint64_t feature, dls_manifold *manifold);

/* Nearest points p + s d and q + t e of two segments, s and t in [0, 1]. Where the nearest points are not
 * unique they are taken in the middle. */
void dls_segments_nearest(const double *p, const double *d, const double *q, const double *e, double *s,
                          double *t);

#endif
