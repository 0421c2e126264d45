/* Nonlinear Gauss–Seidel as an iteration that can be left and taken up again. */
#ifndef SOLVE_SWEEP_NLGS_H
#define SOLVE_SWEEP_NLGS_H

#include "solve/solve.h"
#include "solve/sweep/anderson.h"
#include "solve/sweep/sweep.h"

typedef struct dls_momentum {
    double theta, cap, least;
    double *last_r, *last_state;
} dls_momentum;

typedef struct dls_nlgs {
    const dls_problem *problem;
    const dls_nlgs_options *options;
    dls_sweep sweep;
    dls_sweep single; /* by lanes */
    bool in_lanes;    /* as long as these come nearer */
    dls_monitor *monitor;
    dls_acceleration acceleration;
    dls_anderson anderson;
    dls_momentum momentum;
    double *g;      /* image of r under one sweep, while Anderson runs */
    double closing; /* ‖s‖ if every block that closes were loaded, until the judge says more */
    double change, last_change; /* of a sweep, m/s */
    double estimate;            /* of the residual, from it */
    double trust;               /* what the judge said over what was estimated */
    bool at_rest;               /* the start is within the tolerance */
    double aim;       /* within the tolerance, sweeps go on to this, but not beyond sweep aim_until */
    int aim_until;    /* 0 before the tolerance is reached */
    bool accelerated; /* the sweep began at an extrapolated point */
    bool alternate;
    int milestone;                 /* sweep of the last real progress, and the value there */
    double milestone_value, least; /* and of all values since it began */
    int sweeps, unsolved, window_age, restarts, last_check;
} dls_nlgs;

dls_status dls_nlgs_prepare(dls_nlgs *nlgs, const dls_problem *problem, const dls_nlgs_options *options,
                            dls_monitor *monitor, const double *r, dls_workspace *workspace,
                            dls_error *error);
/* Sweeps r on until the tolerance, a stall, or sweep number `until`: then the outcome is DLS_ITERATION_LIMIT.
 */
dls_outcome dls_nlgs_advance(dls_nlgs *nlgs, double *r, int until);
/* Puts r in place of the present iterate, and forgets the history of the acceleration. */
void dls_nlgs_restart(dls_nlgs *nlgs, const double *r);
/* As after preparing, from another r: by lanes again, and unrelaxed. */
void dls_nlgs_begin(dls_nlgs *nlgs, const double *r);

#endif
