/* W by rows, where a problem has it in store: what linear systems and files are made of. */
#ifndef PROBLEM_MATRIX_H
#define PROBLEM_MATRIX_H

#include "problem/problem.h"

/* Off-diagonal blocks; diagonal ones lie in the problem. */
typedef struct dls_block_matrix {
    int64_t *start;       /* block_count + 1 */
    int *column;          /* ascending in each row */
    int64_t *value_start; /* of each block in value; NULL where all blocks have one size */
    double *value;        /* column-major, padded for SIMD */
} dls_block_matrix;

/* W = G Gᵀ by rows of G. */
typedef struct dls_side_matrix {
    int dof;              /* numbers of a row for one body */
    const int *body;      /* two per block, −1 for none */
    const double *G;      /* per block: rows × dof of its first body, row after row, then of its second */
    const int64_t *start; /* body_count + 1 into entry */
    const int *entry;     /* 2 · block + side of each block that touches the body, ascending */
} dls_side_matrix;

/* Whether W = G Gᵀ of contacts alone, by rows of G or of balls, all bodies alike. */
bool dls_problem_has_rows(const dls_problem *p);
/* Such a problem in memory of its own, by rows of G alone. */
dls_status dls_problem_copy_rows(const dls_problem *p, dls_problem **copy, dls_error *error);
/* Of a copy; of what it is made of all but G. */
dls_side_matrix dls_problem_rows(const dls_problem *p);

/* Of a problem with W stored. */
const dls_block_matrix *dls_problem_matrix(const dls_problem *p);
/* Numbers of its off-diagonal blocks. */
int64_t dls_matrix_value_count(const dls_problem *p);
/* W ← S W S, b ← S b and bounds ← S⁻¹ bounds; S is one number for each contact's normal and tangential rows.
 */
dls_status dls_problem_rescale(dls_problem *p, const double *S, dls_error *error);

/* Block number k, which stands in a row of d. */
static inline double *dls_block_value(const dls_problem *p, const dls_block_matrix *W, int64_t k, int d) {
    return W->value + (p->uniform ? k * d * d : W->value_start[k]);
}

#endif
