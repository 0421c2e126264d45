/* The problem in natural units of each contact: Ŵ = S W S, b̂ = S b, r = S r̂, with S = (tr(W_cc)/d)^−½ for a
 * contact (one number, so that its cone stays) and W_ii^−½ for a bilateral row. Then ρ = 1 suits every block.
 */
#ifndef SOLVE_GLOBAL_SCALED_H
#define SOLVE_GLOBAL_SCALED_H

#include "problem/problem.h"

typedef struct dls_scaled {
    const dls_problem *given;
    dls_problem *problem; /* stored, or by rows of G where bodies are fewer; rows that were eliminated from
                             the given one are kept behind its own */
    double *S;            /* of each row */
} dls_scaled;

/* Destroy in any case. */
dls_status dls_scaled_create(dls_scaled *scaled, const dls_problem *problem, dls_error *error);
/* x of impulses r of the given problem; u and state: room for those of the scaled one. False when memory is
 * out. */
bool dls_scaled_enter(const dls_scaled *scaled, const double *r, double *x, double *u, double *state,
                      int threads);
void dls_scaled_destroy(dls_scaled *scaled);

#endif
