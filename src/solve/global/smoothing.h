/* The smoothed law of paper 000, for one contact. */
#ifndef SOLVE_GLOBAL_SMOOTHING_H
#define SOLVE_GLOBAL_SMOOTHING_H

/* C = F + m_ω(r − F), an impulse, with F = ρ (u + μ(√(|u_t|² + ω²) − ω) n) and m_ω the smoothed projection
 * onto the polar cone; X = ∂C/∂u and Y = ∂C/∂r (column-major). ω is a velocity; ω = 0 gives the law itself
 * (X, Y then hold away from its kinks). X and Y may be NULL together. */
void dls_smoothed_law(int d, double mu, double rho, double omega, const double *r, const double *u, double *C,
                      double *X, double *Y);

#endif
