/* A x = b where A may be singular: of all x with the least |A x − b| the shortest, by L U with complete
 * pivots,
 *
 *     A = Pᵀ L U Qᵀ of rank r,   x = Uᵀ (U Uᵀ)⁻¹ (LᵀL)⁻¹ Lᵀ b
 *
 * on one thread and with the same bits on every processor that the build serves. */
#ifndef SYSTEM_LEAST_H
#define SYSTEM_LEAST_H

#include <stdint.h>

/* Numbers, and integers, that a factorisation of n rows is made of. */
int64_t dls_least_numbers(int n);
int dls_least_integers(int n);
/* A: n × n, column-major, is used up. Pivots below tolerance times the first one are none. Returns the rank,
 * −1 where A is not finite. */
int dls_least_factor(int n, double *A, double tolerance, double *numbers, int *integers);
/* x: in the right-hand side, out the solution. */
void dls_least_solve(int n, int rank, const double *A, double *numbers, const int *integers, double *x);

#endif
