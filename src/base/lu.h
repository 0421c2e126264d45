/* P A = L U of a dense matrix by elimination with row pivots, on one thread and with the same bits on every
 * processor that the build serves. */
#ifndef BASE_LU_H
#define BASE_LU_H

#include <stdint.h>

/* Numbers of working room that a factorisation of n rows needs. */
int64_t dls_lu_room(int n);
/* A: n × n, column-major; out L below the diagonal, whose own is 1, and U. pivot[k]: the row that was swapped
 * with row k. Returns 0, or 1 + the first column without a pivot: then U is singular or not finite. */
int dls_lu_factor(int n, double *A, int *pivot, double *room);
/* x: in the right-hand side, out the solution. */
void dls_lu_solve(int n, const double *LU, const int *pivot, double *x);
/* The same with Aᵀ. */
void dls_lu_solve_transposed(int n, const double *LU, const int *pivot, double *x);
/* Estimate of ‖A⁻¹‖₁ from below, most often within a factor of three (Hager). room: 2 n numbers. */
double dls_lu_inverse_norm(int n, const double *LU, const int *pivot, double *room);

#endif
