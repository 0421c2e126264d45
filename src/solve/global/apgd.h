/* Accelerated projected gradient as an iteration, for its own row of the table and for `auto`. */
#ifndef SOLVE_GLOBAL_APGD_H
#define SOLVE_GLOBAL_APGD_H

#include "solve/solve.h"

typedef struct dls_apgd {
    const dls_problem *problem;
    const dls_apgd_options *options;
    dls_monitor *monitor;
    int iterations, restarts, threads;
    int64_t products;
    double L, least_L, theta, beta;
    double least;            /* residual since the last restart */
    double growth;           /* of it that asks for the next; 0: none does */
    double *S;               /* r = S x, one number per block */
    double *x, *y, *Nx, *Ny; /* iterate and extrapolated point, with their products */
    double *next, *Nnext;
    double *shift; /* b + a, scaled */
    double *r, *u; /* the newest iterate in the problem's own units */
    double *state;
} dls_apgd;

bool dls_apgd_prepare(dls_apgd *apgd, const dls_problem *problem, const dls_apgd_options *options,
                      dls_monitor *monitor, const double *r, dls_workspace *workspace);
/* Steps until the tolerance, a stall, or iteration number `until`: then the outcome is DLS_ITERATION_LIMIT.
 */
dls_outcome dls_apgd_advance(dls_apgd *apgd, int until);

#endif
