/* Which shapes may touch within a step: every pair with gap ≤ dls_pair_reach(), and few others, in canonical
 * order, in time linear in the shapes. */
#ifndef COLLIDE_BROAD_BROADPHASE_H
#define COLLIDE_BROAD_BROADPHASE_H

#include "collide/collide.h"

typedef struct dls_broadphase dls_broadphase; /* lists of pairs that grow and are kept */

dls_broadphase *dls_broadphase_create(void); /* NULL when memory is out */
void dls_broadphase_destroy(dls_broadphase *broadphase);

/* All pairs, sorted by a, b and image, in options->scratch, which is needed. No pair is inside one body (but
 * for its own images), of two bodies that are both not dynamic, or apart by group and mask. placed: one per
 * shape row. A shape without bounds in a periodic direction, or one that is not dynamic and longer than the
 * period, is met by one image only. */
dls_status dls_broadphase_find(dls_broadphase *broadphase, const dls_world *world, const dls_placed *placed,
                               const dls_collide_options *options, const dls_shape_pair **pairs, int *count,
                               dls_error *error);

/* margin + what two shapes may come closer in one step: h (|v_a − v_b| + the speeds that rotation adds).
 * shift: what image moves b by. */
double dls_pair_reach(const dls_world *world, const dls_placed *placed, const dls_collide_options *options,
                      const dls_shape_pair *pair, const double *shift);

size_t dls_broadphase_bytes(const dls_broadphase *broadphase); /* held */

/* Speed that rotation w may give to points of the shape along a normal: a ball that turns about its centre
 * does not come nearer. INFINITY for a shape without bounds that turns. */
double dls_shape_spin(const dls_shape *shape, const double *w);

#endif
