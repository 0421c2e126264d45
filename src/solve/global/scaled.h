/* The problem in natural units of each contact: Ŵ = S W S, b̂ = S b, r = S r̂, with S = (tr(W_cc)/d)^−½ for a
 * contact (one number, so that its cone stays) and W_ii^−½ for a bilateral row. Then ρ = 1 suits every block.
 */
#ifndef SOLVE_GLOBAL_SCALED_H
#define SOLVE_GLOBAL_SCALED_H

#include "problem/problem.h"

typedef struct dls_scaled {
    dls_problem *problem; /* stored */
    double *S;            /* of each row */
} dls_scaled;

/* Assembles a matrix-free W. Destroy in any case. */
dls_status dls_scaled_create(dls_scaled *scaled, const dls_problem *problem, dls_error *error);
void dls_scaled_destroy(dls_scaled *scaled);

#endif
