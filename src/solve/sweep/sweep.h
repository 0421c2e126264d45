/* One Gauss–Seidel sweep over all blocks with a local law, in any order, on any number of threads; in double,
 * or in the lanes of an operator that has some. */
#ifndef SOLVE_SWEEP_SWEEP_H
#define SOLVE_SWEEP_SWEEP_H

#include "solve/sweep/shared.h"
#include <delassus/solve.h>

typedef struct dls_sweep {
    dls_visits visits; /* what the operator's kernels see */
    int threads;
    uint64_t random; /* state of the generator that shuffles the order before every sweep; 0: never */
    int range_count, colours, serial_blocks;
    dls_sweep_range *ranges;
    int piece_count;
    int *piece;              /* first place of each piece in the order, and the end of the last */
    dls_sweep_change *parts; /* what each piece changed */
    dls_sweep_share share;   /* by ranks */
    const dls_lane_kernel *kernel;
    dls_lanes *lanes; /* these keep r and the state; NULL: in double */
    double *u;        /* scratch for W r + b where lanes get a base */
} dls_sweep;

/* Takes all memory from the workspace. */
dls_status dls_sweep_prepare(dls_sweep *sweep, const dls_problem *problem, const dls_nlgs_options *options,
                             dls_workspace *workspace, dls_error *error);
/* Whether lanes can do what these options ask for. */
bool dls_sweep_has_lanes(const dls_problem *problem, const dls_nlgs_options *options);
/* A sweep by lanes, for a problem that has them; u and state, of the operator, are scratch. */
dls_status dls_sweep_prepare_lanes(dls_sweep *sweep, const dls_problem *problem,
                                   const dls_nlgs_options *options, double *u, double *state,
                                   dls_workspace *workspace, dls_error *error);
/* Tells the sweep that r is new. */
void dls_sweep_start(dls_sweep *sweep, const double *r);
/* Lanes get r, which they were read as, for a base; u = W r + b, or NULL where it is not at hand. */
void dls_sweep_rebase(dls_sweep *sweep, const double *r, const double *u);
/* r ← one sweep from r; where ranks share it, each has r of its own blocks then, and garbage in others. */
dls_sweep_change dls_sweep_run(dls_sweep *sweep, double *r, bool backward);
/* r of all blocks, on every rank that shares the sweep; out of lanes where it was in these. */
void dls_sweep_gather(const dls_sweep *sweep, double *r);

#endif
