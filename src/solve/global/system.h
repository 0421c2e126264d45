/* The linear system of the Newton-type solvers:  (A + B (W + α)) x = y,  A and B block-diagonal. Blocks may
 * be left out: their x is given. With W stored the matrix of it is factored; with W = G Gᵀ in rows of G a
 * matrix of bodies, for which A + α B must have an inverse. Small or dense ones are factored densely, others
 * by KLU.
 */
#ifndef SOLVE_GLOBAL_SYSTEM_H
#define SOLVE_GLOBAL_SYSTEM_H

#include "problem/problem.h"

typedef struct dls_system dls_system;

/* For a problem with stored W, or one of dls_problem_copy_rows; holds all memory that factorisations of up to
 * all rows need, KLU's own aside. Where the cost exceeds max_cost it holds none, and must not be factored. */
dls_status dls_system_create(const dls_problem *problem, double max_cost, dls_system **system,
                             dls_error *error);
void dls_system_destroy(dls_system *system);

/* A, B: one d × d block per block (column-major, places as in the problem's diagonal); left_out[c]: block c
 * is not part of the system. Returns false when the matrix is singular or not finite. */
bool dls_system_factor(dls_system *system, const double *A, const double *B, double alpha,
                       const bool *left_out);
/* x: in the right-hand side, and, in rows that are left out, the given values; out the solution. */
bool dls_system_solve(dls_system *system, double *x);

/* What one Newton-type iteration on the full system costs, in flops of a sweep, from the symbolic analysis.
 */
double dls_system_cost(const dls_system *system);
/* Whether bodies have fewer numbers than their contacts have rows. */
bool dls_system_is_of_bodies(const dls_problem *problem);
/* A bound from below that needs no analysis, nor a stored W. */
double dls_system_least_cost(const dls_problem *problem);
/* What all factorisations of this system have cost so far, each by the rows that were in it, the same way. */
double dls_system_spent(const dls_system *system);
int64_t dls_system_factor_count(const dls_system *system);

#endif
