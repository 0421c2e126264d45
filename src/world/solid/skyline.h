/* A = L Lᵀ of symmetric positive definite matrices whose rows begin late: n × n numbers, row after row, of
 * which the lower half is read; L stands in its place. first[i] is the column that row i begins with, in A as
 * in L. */
#ifndef WORLD_SOLID_SKYLINE_H
#define WORLD_SOLID_SKYLINE_H

#include <stdbool.h>

/* False where a pivot is not above rounding: A is not positive definite then, and lost. */
bool dls_skyline_factor(int n, double *A, int *first);
/* x ← L⁻¹ x */
void dls_skyline_forward(int n, const double *L, const int *first, double *x);
/* x ← L⁻ᵀ x */
void dls_skyline_back(int n, const double *L, const int *first, double *x);

#endif
