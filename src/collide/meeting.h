/* What a pair meets with on its way through the step, where that is not what stands before it now. */
#ifndef COLLIDE_MEETING_H
#define COLLIDE_MEETING_H

#include "collide/collide.h"

/* A side that flies freely: mass centre and velocities of its body. */
typedef struct dls_traveller {
    dls_placed placed;
    double centre[3], v[3], w[3];
    bool moves; /* by impulses */
} dls_traveller;

typedef struct dls_meeting {
    dls_pair_function collide;
    dls_traveller a, b; /* in the function's order */
    double h, reach;    /* of the step, and what the pair may close in it */
    double size;        /* of the smaller side */
    double far;         /* from its place to where a contact would close: worth a look, m */
} dls_meeting;

/* When the pair first touches on its way, INFINITY where it does not within h. */
double dls_pair_meeting_time(const dls_meeting *meeting, dls_manifold *trial);
/* Open contacts that would close far from where they are leave the manifold, unless the pair meets there all
 * the same; those with which it meets instead come in, with the gap and the points that they have now. False
 * where the pair passes by: the manifold is as it was. trial is room. */
bool dls_pair_meet(const dls_meeting *meeting, dls_manifold *trial, dls_manifold *manifold);
/* Of a pair that passes by they leave. */
void dls_pair_pass(const dls_meeting *meeting, dls_manifold *manifold);

#endif
