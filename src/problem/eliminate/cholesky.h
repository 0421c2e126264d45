/* S = R Rᵀ of a sparse symmetric positive semidefinite matrix in a given order, in a workspace. */
#ifndef PROBLEM_ELIMINATE_CHOLESKY_H
#define PROBLEM_ELIMINATE_CHOLESKY_H

#include "base/memory.h"

/* The upper triangle by columns: rows ≤ column, the same entry twice adds up. */
typedef struct dls_upper {
    int n;
    int64_t *start;
    int *row;
    double *value;
} dls_upper;

typedef struct dls_cholesky {
    int n;
    int *parent;    /* elimination tree, −1 at its roots */
    int *depth;     /* rows on the way to the root, with itself */
    int64_t *start; /* columns of R, n + 1 */
    int *row;       /* ascending, the diagonal first */
    double *value;
    uint8_t *dropped; /* rows that depend on others: nothing of them is in R */
    int dropped_count;
    double flops; /* of a factorisation */
} dls_cholesky;

/* Tree and sizes; false when memory is out. */
bool dls_cholesky_analyze(dls_cholesky *R, const dls_upper *S, dls_workspace *workspace);
/* Numbers. A row whose pivot is not larger than so much of its diagonal entry is dropped. */
bool dls_cholesky_factor(dls_cholesky *R, const dls_upper *S, double dependent, dls_workspace *workspace);
/* x ← S⁻¹ x, zero where rows are dropped. */
void dls_cholesky_solve(const dls_cholesky *R, double *x);

#endif
