/* One Gauss–Seidel sweep over all blocks with a local law, in any order, on any number of threads. */
#ifndef SOLVE_SWEEP_SWEEP_H
#define SOLVE_SWEEP_SWEEP_H

#include "problem/visit.h"
#include <delassus/solve.h>

typedef struct dls_sweep_range {
    int first, end; /* pieces */
    bool parallel;  /* blocks of different pieces are not coupled */
} dls_sweep_range;

typedef struct dls_sweep {
    dls_visits visits; /* what the operator's kernels see */
    int threads;
    uint64_t random; /* state of the generator that shuffles the order before every sweep; 0: never */
    int range_count, colours, serial_blocks;
    dls_sweep_range *ranges;
    int piece_count;
    int *piece;              /* first place of each piece in the order, and the end of the last */
    dls_sweep_change *parts; /* what each piece changed */
} dls_sweep;

/* Takes all memory from the workspace. */
dls_status dls_sweep_prepare(dls_sweep *sweep, const dls_problem *problem, const dls_nlgs_options *options,
                             dls_workspace *workspace, dls_error *error);
/* Tells the sweep that r is new. */
void dls_sweep_start(dls_sweep *sweep, const double *r);
/* r ← one sweep from r. */
dls_sweep_change dls_sweep_run(dls_sweep *sweep, double *r, bool backward);

#endif
