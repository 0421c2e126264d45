/* What the planar pairs share: poses in the plane and the functions that stand in their table. */
#ifndef COLLIDE_PLANAR_PLANAR_H
#define COLLIDE_PLANAR_PLANAR_H

#include "base/vector.h"
#include "collide/collide.h"

/* p in the frame of f, and back; directions likewise. In place too. */
static inline void dls_plane_to_local(const dls_placed *f, const double *p, double *r) {
    double x = p[0] - f->x[0], y = p[1] - f->x[1];
    r[0] = f->R[0] * x + f->R[1] * y, r[1] = f->R[0] * y - f->R[1] * x;
}
static inline void dls_plane_to_world(const dls_placed *f, const double *p, double *r) {
    double x = f->R[0] * p[0] - f->R[1] * p[1], y = f->R[1] * p[0] + f->R[0] * p[1];
    r[0] = f->x[0] + x, r[1] = f->x[1] + y, r[2] = 0;
}
static inline void dls_plane_turn(const dls_placed *f, const double *u, double *r) {
    double x = f->R[0] * u[0] - f->R[1] * u[1], y = f->R[1] * u[0] + f->R[0] * u[1];
    r[0] = x, r[1] = y, r[2] = 0;
}
static inline void dls_plane_turn_back(const dls_placed *f, const double *u, double *r) {
    double x = f->R[0] * u[0] + f->R[1] * u[1], y = f->R[0] * u[1] - f->R[1] * u[0];
    r[0] = x, r[1] = y;
}
static inline double dls_plane_dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1]; }

/* Whether the pair had this contact in the step before. */
static inline bool dls_was_there(const dls_contact_point *last, int last_count, uint64_t feature) {
    for (int k = 0; k < last_count; k++)
        if (last[k].feature == feature) return true;
    return false;
}

/* planar_polygon.c */
void dls_collide_disc_polygon(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold);
void dls_collide_polygon_polygon(const dls_placed *a, const dls_placed *b, double margin,
                                 dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                 dls_manifold *manifold);
void dls_collide_polygon_half_plane(const dls_placed *a, const dls_placed *b, double margin,
                                    dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                    dls_manifold *manifold);
void dls_collide_polygon_drum(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold);
/* planar_chain.c */
void dls_collide_disc_chain(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                            const dls_contact_point *last, int last_count, dls_manifold *manifold);
void dls_collide_polygon_chain(const dls_placed *a, const dls_placed *b, double margin,
                               dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                               dls_manifold *manifold);

#endif
