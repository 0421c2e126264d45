/* Sparse matrices, and the factorisation behind W = Aᵀ M⁻¹ A. */
#ifndef BASE_SPARSE_H
#define BASE_SPARSE_H

#include <delassus/base.h>

/* Compressed columns: column j holds entries start[j] … start[j+1]−1. Read as compressed rows it is the
 * transpose. Duplicates add up. */
typedef struct dls_sparse {
    int rows, columns;
    int64_t *start; /* columns + 1 */
    int *row;
    double *value;
} dls_sparse;

/* Single entries (row, column, value), in any order. */
typedef struct dls_triplets {
    int rows, columns;
    int64_t count;
    int *row, *column;
    double *value;
} dls_triplets;

void dls_triplets_free(dls_triplets *entries);

/* Indices must lie in range. Rows ascend in each column where entries come sorted by row. */
dls_status dls_sparse_compress(const dls_triplets *entries, dls_sparse *matrix, dls_error *error);
/* Rows of the result ascend in each column. */
dls_status dls_sparse_transpose(const dls_sparse *matrix, dls_sparse *transpose, dls_error *error);
void dls_sparse_free(dls_sparse *matrix);
/* y += A x */
void dls_sparse_multiply_add(const dls_sparse *A, const double *x, double *y);
/* y += Aᵀ x */
void dls_sparse_multiply_transposed_add(const dls_sparse *A, const double *x, double *y);

/* Numbers the connected parts of a square matrix's graph (zeros connect nothing) from 0; returns how many. */
int dls_sparse_components(const dls_sparse *M, int *component);

/* M = P L Lᵀ Pᵀ where M is symmetric (to the last bit) and positive definite, P L U Q elsewhere. */
typedef struct dls_factor dls_factor;

/* DLS_ERROR_NUMERIC where M is singular to working precision. */
dls_status dls_factor_create(const dls_sparse *M, dls_factor **factor, dls_error *error);
void dls_factor_destroy(dls_factor *factor);
bool dls_factor_is_symmetric(const dls_factor *factor); /* whether it is a Cholesky factor */

/* x ← M⁻¹ x. Solves use scratch inside the factor: one thread at a time. */
dls_status dls_factor_solve(dls_factor *factor, double *x, dls_error *error);

/* W = Aᵀ M⁻¹ A, as rows: row i of W is column i of the result. An entry is stored where a connected part of M
 * touches both columns of A, and nowhere else; a Cholesky factor gives W symmetric to the last bit. */
dls_status dls_factor_condense(dls_factor *factor, const dls_sparse *A, dls_sparse *W, dls_error *error);

#endif
