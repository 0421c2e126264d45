/* Problems with joints: rows that are held are eliminated, the rest is solved, and the whole is judged. */
#ifndef SOLVE_JOINED_JOINED_H
#define SOLVE_JOINED_JOINED_H

#include "problem/eliminate.h"
#include "solve/solve.h"

/* What happened besides. */
typedef struct dls_joined_info {
    int rounds;      /* reduced problems that were solved */
    int pivots;      /* sets that were tried with contacts at rest */
    int eliminated;  /* rows, at the end */
    int stays;       /* rows that were blocks of the reduced problem */
    int out;         /* contacts that joints hold, without impulse */
    int waiting;     /* contacts that stayed open outside the reduced problem */
    int dependent;   /* rows that depend on others, without impulse */
    int row;         /* the one that contradicts others most; −1 where none does */
    double violated; /* by so much, m/s */
    bool as_blocks;  /* solved without elimination, or in the end so */
} dls_joined_info;

/* As dls_solve_step, for problems whose interval rows are joints. The elimination may be kept from step to
 * step. Iterations are those of all rounds; a callback sees r of the contacts and rows that its round left.
 */
dls_status dls_solve_joined(const dls_problem *p, dls_elimination *elimination, const dls_solver *solver,
                            const void *options, double *r, double *u, dls_workspace *workspace,
                            dls_solve_info *info, dls_joined_info *joined, dls_error *error);

#endif
