/* One Gauss–Seidel sweep over all blocks with a local law, in any order, on any number of threads. */
#ifndef SOLVE_SWEEP_SWEEP_H
#define SOLVE_SWEEP_SWEEP_H

#include "problem/problem.h"
#include <delassus/solve.h>

/* What one sweep changed. */
typedef struct dls_sweep_change {
    double velocity2;       /* Σ |Δr_c / ρ_c|²: an estimate of ‖N‖² that costs nothing */
    double normal, tangent; /* max |Δr_n|, max |Δr_t|, N s */
    int unsolved;           /* contacts that the law gave up on */
} dls_sweep_change;

typedef struct dls_sweep_range {
    int first, end; /* pieces */
    bool parallel;  /* blocks of different pieces are not coupled */
} dls_sweep_range;

/* How blocks are visited: the common cases without a call through the operator. */
typedef enum dls_visit_kind {
    DLS_VISIT_ANY,
    DLS_VISIT_STORED2,
    DLS_VISIT_STORED3,
    DLS_VISIT_BODIES2,
    DLS_VISIT_BODIES3,
    DLS_VISIT_ROUND
} dls_visit_kind;

typedef struct dls_sweep {
    const dls_problem *problem;
    const dls_law *law;
    dls_law_options local;
    int threads;
    double relaxation;
    dls_visit_kind visits;
    bool increments;     /* the largest steps are wanted, not only their sum */
    uint8_t *rest;       /* visits that an open contact is still left out of; NULL: none is */
    uint8_t *pause;      /* of how many its last rest was */
    double *data;        /* what the law prepared */
    int64_t *data_start; /* of each block; NULL where all blocks have data_stride */
    int data_stride;
    double *state;   /* of the operator */
    int *order;      /* NULL for the natural order */
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
