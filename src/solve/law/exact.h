/* The exact one-contact solver: u = W r + b, K* ∋ u + μ|u_t| n ⟂ r ∈ K_μ, for one block of 2, 3 or 4 rows.
 *
 * For a unit tangent e let d = (1, μe) and s = n·W d. Sliding against e means r = r_n d, r_n = −b_n/s and
 * u_t = −λe, λ ≥ 0. Multiplied by s this is a linear pencil in e,
 *
 *     p + B e = −ℓ e,   ℓ = λ s,   p = w_nn b_t − b_n w_tn,   B = μ(b_t w_ntᵀ − b_n W_tt),   |e| = 1,
 *
 * and sticking is ℓ = 0 with |e| ≤ 1. There may be several solutions; the choice does not depend on the
 * start: take-off where b_n ≥ 0, else the largest |u_t|/r_n = −ℓ/b_n (0 for stick), which is also the least
 * impulse. A solution exists whenever dᵀWd > 0 on K_μ without 0; W need not be symmetric, nor positive
 * definite.
 *
 * All functions are pure, allocate nothing and leave r alone when they answer DLS_UNSOLVED, which they do for
 * numbers that are none, for μ < 0, and for blocks without a solution (dls_exact_enumerate tells why). */
#ifndef SOLVE_LAW_EXACT_H
#define SOLVE_LAW_EXACT_H

#include <delassus/law.h>

/* r: in the last impulse, of which only the tangential direction matters and only to the speed; out the
 * chosen solution. */
dls_contact_state dls_exact_solve(int d, const double *W, double mu, const double *b, double *r);
dls_contact_state dls_exact_solve2(const double W[4], double mu, const double b[2], double r[2]);
dls_contact_state dls_exact_solve3(const double W[9], double mu, const double b[3], double r[3]);
dls_contact_state dls_exact_solve4(const double W[16], double mu, const double b[4], double r[4]);

/* The same in two parts, for blocks that are visited many times. prepare returns 1, or 0 for a block that has
 * no fast path (it is solved all the same). */
enum { DLS_EXACT_DATA2 = 5, DLS_EXACT_DATA3 = 8 };

int dls_exact_prepare2(const double W[4], double mu, double data[DLS_EXACT_DATA2]);
int dls_exact_prepare3(const double W[9], double mu, double data[DLS_EXACT_DATA3]);
dls_contact_state dls_exact_solve2_prepared(const double W[4], double mu, const double data[DLS_EXACT_DATA2],
                                            const double b[2], double r[2]);
dls_contact_state dls_exact_solve3_prepared(const double W[9], double mu, const double data[DLS_EXACT_DATA3],
                                            const double b[3], double r[3]);

#endif
