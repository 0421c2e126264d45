/* What sweeps over blocks of every kind share. */
#ifndef SOLVE_SWEEP_SWEEP_PARTS_H
#define SOLVE_SWEEP_SWEEP_PARTS_H

#include "solve/sweep/sweep.h"

#include <math.h>

enum { DLS_LONGEST_REST = 15 };

/* r_c ← r_c + ω (x − r_c) for the law's answer x; leaves the step in x, and tells whether it is one. */
static inline bool dls_sweep_enter(dls_sweep *s, int d, double scale, double *x, double *rc,
                                   dls_sweep_change *change) {
    double sum = 0;
    for (int i = 0; i < d; i++) {
        x[i] = s->relaxation * (x[i] - rc[i]);
        rc[i] += x[i];
        sum += x[i] * x[i];
    }
    double normal = fabs(x[0]), tangent = sum - x[0] * x[0];
    change->velocity2 += scale * scale * sum;
    change->normal = normal > change->normal ? normal : change->normal;
    change->tangent = tangent > change->tangent ? tangent : change->tangent;
    return sum > 0;
}

/* A contact that was found open and stays so is left out of the next 1, 3, 7, 15 sweeps: most of those that a
 * simulation watches never close, and the measure asks all of them. */
static inline void dls_sweep_let_rest(dls_sweep *s, int c) {
    s->pause[c] = s->pause[c] < DLS_LONGEST_REST ? (uint8_t)(2 * s->pause[c] + 1) : (uint8_t)DLS_LONGEST_REST;
    s->rest[c] = s->pause[c];
}

/* Blocks of balls at the places first … end of the order, under the exact law. */
dls_sweep_change dls_sweep_round(dls_sweep *sweep, int first, int end, double *r, bool backward);

#endif
