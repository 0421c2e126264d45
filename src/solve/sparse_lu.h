/* A x = b with a sparse A, and dense LU where A is small. The order of elimination is a function of the
 * pattern alone and is kept while that stays, pivots are found anew: the same matrix has the same bits
 * whatever came before it. Memory is kept. */
#ifndef SOLVE_SPARSE_LU_H
#define SOLVE_SPARSE_LU_H

#include <stdint.h>

typedef struct dls_sparse_lu dls_sparse_lu;

dls_sparse_lu *dls_sparse_lu_create(void); /* NULL when memory is out */
void dls_sparse_lu_destroy(dls_sparse_lu *lu);
/* By columns, without duplicates. Returns the smallest pivot over the largest, 0 where A is singular or
 * memory is out. */
double dls_sparse_lu_factor(dls_sparse_lu *lu, int n, const int *start, const int *row, const double *value);
/* x: in the right-hand side, out the solution. */
void dls_sparse_lu_solve(dls_sparse_lu *lu, double *x);
/* Entries of L and U beside the diagonal. */
int64_t dls_sparse_lu_entries(const dls_sparse_lu *lu);

#endif
