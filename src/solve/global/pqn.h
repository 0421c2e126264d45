/* Projected quasi-Newton as an iteration, for its own row of the table and for `auto`. */
#ifndef SOLVE_GLOBAL_PQN_H
#define SOLVE_GLOBAL_PQN_H

#include "solve/global/gmres.h"
#include "solve/solve.h"

enum { DLS_PQN_MEMORY = 5 };

typedef struct dls_pqn {
    const dls_problem *problem;
    const dls_pqn_options *options;
    dls_monitor *monitor;
    dls_gmres gmres;
    int threads, iterations;
    int64_t products;
    bool free;                        /* full steps with a fixed δ, whatever the merit says */
    double rho, omega, delta, length; /* length: t of the last step */
    double first_delta;
    double *r, *u, *C, *step, *trial, *trial_u, *state, *z;
    double *X, *Y, *inverse;        /* blocks; inverse: of X W_cc + Y + δ */
    double history[DLS_PQN_MEMORY]; /* of the merit: a step need only beat the worst of the last few */
} dls_pqn;

bool dls_pqn_prepare(dls_pqn *pqn, const dls_problem *problem, const dls_pqn_options *options,
                     dls_monitor *monitor, dls_workspace *workspace);
/* Puts r in place of the present iterate, and measures it. */
double dls_pqn_start(dls_pqn *pqn, const double *r);
/* Steps until the tolerance, `patience` steps without progress, or iteration number `until`: then the outcome
 * is DLS_ITERATION_LIMIT. */
dls_outcome dls_pqn_advance(dls_pqn *pqn, int until, int patience);

#endif
