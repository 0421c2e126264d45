/* The proximal semismooth Newton method on a scaled problem, for its own row of the table and for `auto`. */
#ifndef SOLVE_GLOBAL_NEWTON_H
#define SOLVE_GLOBAL_NEWTON_H

#include "solve/global/scaled.h"
#include "solve/global/system.h"
#include "solve/solve.h"

typedef struct dls_newton {
    const dls_newton_options *options;
    const dls_scaled *scaled;
    dls_system *system;
    dls_monitor *monitor; /* judges r = S x by the problem as it was given */
    double alpha;         /* proximal parameter, carried from call to call */
    int iterations;       /* Newton steps so far, over all calls */
    int max_iterations;
    double most_flops; /* no step begins once the system has cost so many */
    double *rho;       /* descent parameter of each block */
    double *centre;    /* r_k of the proximal point iteration */
    double *x, *u, *F, *step, *trial;
    double *A, *B;
    double *state; /* of the operator; empty for a stored one */
    double *r;     /* S proj_K(x) */
    bool *open;
} dls_newton;

bool dls_newton_prepare(dls_newton *newton, const dls_newton_options *options, const dls_scaled *scaled,
                        dls_system *system, dls_monitor *monitor, dls_workspace *workspace);
/* From the impulses r (not scaled) until the monitor's tolerance, the iteration limit, time, or a stall. */
dls_outcome dls_newton_run(dls_newton *newton, const double *r);

/* What a solver on the scaled problem does from a start that is not good enough; newton holds the scaled
 * problem, its system and the monitor. False when memory is out. */
typedef bool (*dls_newton_iterate)(dls_newton *newton, const void *own, double *r, dls_workspace *workspace,
                                   dls_solve_info *info);
/* Scales the problem, makes its system, iterates, and leaves the best iterate in r. */
dls_status dls_newton_solve(const dls_problem *problem, const dls_newton_options *options,
                            dls_newton_iterate iterate, const void *own, double *r, dls_workspace *workspace,
                            dls_solve_info *info, dls_error *error);

/* F of block c at (r, u), whose law it is that F = 0, with A = ∂F/∂r and B = ∂F/∂u; tells open contacts. */
dls_contact_state dls_block_linearize(const dls_problem *problem, int c, dls_newton_form form, double rho,
                                      const double *r, const double *u, double *F, double *A, double *B);

/* r = S proj_K(x), measured by the monitor. */
double dls_scaled_measure(const dls_scaled *scaled, dls_monitor *monitor, const double *x, double *r,
                          int iteration);

#endif
