/* A sweep that ranks share. Each owns chunks that follow each other, visits them colour by colour, and after
 * a colour tells the others the states of bodies that they visit too. Blocks without a colour are visited by
 * all ranks alike. */
#ifndef SOLVE_SWEEP_SHARED_H
#define SOLVE_SWEEP_SHARED_H

#include "problem/visit.h"

typedef struct dls_sweep_range {
    int first, end; /* pieces */
    bool parallel;  /* blocks of different pieces are not coupled */
} dls_sweep_range;

/* Bodies whose states go to other ranks, or come from them: of range g to rank k those from
 * first[g (count + 1) + k] on; start counts their numbers within a range likewise. */
typedef struct dls_halo {
    int64_t *first, *start;
    int *body;
    double *numbers; /* of one range */
} dls_halo;

typedef struct dls_sweep_share {
    const dls_ranks *ranks; /* NULL: nothing is shared, and nothing below is there */
    const dls_problem *problem;
    dls_span (*span)(const dls_problem *p, int body);
    dls_sweep_range *own; /* what this rank visits of each range */
    int64_t *block;       /* the first block of each rank; in the chunk of one, all of its blocks lie */
    int64_t *row_start;   /* bytes of r before those of each rank */
    dls_halo out, in;
    int *told;               /* pieces of coloured ranges, those of rank 0 first */
    int64_t *told_start;     /* bytes of what they changed, before those of each rank */
    dls_sweep_change *parts; /* these, in that order */
} dls_sweep_share;

/* What a sweep is cut into, see sweep.h. */
typedef struct dls_sweep_cut {
    const int *order, *piece;
    dls_span (*span)(const dls_problem *p, int body); /* where a body's numbers are in the state */
    const dls_sweep_range *ranges;
    int range_count, piece_count, chunk;
} dls_sweep_cut;

/* False when memory is out. */
bool dls_sweep_share_prepare(dls_sweep_share *share, const dls_problem *problem, const dls_sweep_cut *cut,
                             dls_workspace *workspace);
/* After range g: the states of bodies that other ranks visited, and visits here read. */
void dls_sweep_share_meet(const dls_sweep_share *share, int g, double *state);
/* After a sweep: what each piece changed. */
void dls_sweep_share_tell(const dls_sweep_share *share, dls_sweep_change *parts);
/* r of all blocks, on all ranks. */
void dls_sweep_share_gather(const dls_sweep_share *share, double *r);

#endif
