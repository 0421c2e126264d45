/* Inside the local laws: the rows of the table, and the kernels that their tests look into. */
#ifndef SOLVE_LAW_LAW_H
#define SOLVE_LAW_LAW_H

#include <delassus/law.h>

extern const dls_law dls_law_sbp, dls_law_sal, dls_law_ebp, dls_law_eal, dls_law_epdas, dls_law_ipdas,
    dls_law_exact;

/* Every option within the range of its field. */
dls_status dls_law_options_check(const dls_law_options *options, dls_error *error);

/* Largest eigenvalue of the symmetric part of a block with `lead` rows between columns. */
double dls_law_max_eigenvalue(int d, const double *A, int lead);

/* ρ = rho_scale/λmax(W), or the fixed value of the options. */
double dls_law_rho(const dls_law_options *options, int d, const double *W);
/* The data of laws that need no more than ρ. */
int dls_law_rho_size(int d);
void dls_law_rho_prepare(const dls_law_options *options, int d, const double *W, double mu, double *data);

/* Z as a function of r and v, with A = ∂Z/∂r and B = ∂Z/∂v (column-major d × d); returns the branch there.
 *     ebp: Z = r − proj_K(r − ρ(v + μ|v_t| n))
 *     eal: Z = r − proj_C(r − ρv), C the half-cylinder r_n ≥ 0, |r_t| ≤ R, R = μτ_n or μ max(r_n, 0) */
dls_contact_state dls_ebp_linearize(int d, double mu, double rho, const double *r, const double *v, double *Z,
                                    double *A, double *B);
dls_contact_state dls_eal_linearize(int d, double mu, double rho, dls_eal_radius radius, const double *r,
                                    const double *v, double *Z, double *A, double *B);

/* The same of contacts with parts, with R = μ_k τ_n in eal. */
dls_contact_state dls_ebp_linearize_cone(const dls_cone *cone, double rho, const double *r, const double *v,
                                         double *Z, double *A, double *B);
dls_contact_state dls_eal_linearize_cone(const dls_cone *cone, double rho, const double *r, const double *v,
                                         double *Z, double *A, double *B);
/* Visits of sbp, sal, ebp, eal and exact with any parts; the last is Newton's, to rounding. */
dls_contact_state dls_sbp_cone(const dls_law_options *options, const dls_cone *cone, const double *W,
                               const double *data, const double *b, double *r);
dls_contact_state dls_sal_cone(const dls_law_options *options, const dls_cone *cone, const double *W,
                               const double *data, const double *b, double *r);
dls_contact_state dls_ebp_cone(const dls_law_options *options, const dls_cone *cone, const double *W,
                               const double *data, const double *b, double *r);
dls_contact_state dls_eal_cone(const dls_law_options *options, const dls_cone *cone, const double *W,
                               const double *data, const double *b, double *r);
dls_contact_state dls_exact_cone(const dls_law_options *options, const dls_cone *cone, const double *W,
                                 const double *data, const double *b, double *r);
/* Their data: ρ alone, or ρ and W⁻¹. */
void dls_cone_rho_prepare(const dls_law_options *options, const dls_cone *cone, const double *W,
                          double *data);
int dls_cone_newton_size(int d);
void dls_cone_newton_prepare(const dls_law_options *options, const dls_cone *cone, const double *W,
                             double *data);

/* ---- how a law is written: one kernel for any d, compiled for 2, 3 and 4 --------------------------------
 */

enum { LAW_MAX = 4 }; /* rows of the largest contact block */

#define LAW_KERNEL static inline __attribute__((always_inline))

/* Defines the function `name` of a law's row as `kernel` with d a constant. */
#define LAW_SOLVE(name, kernel)                                                                              \
    static dls_contact_state name(const dls_law_options *options, int d, const double *W, double mu,         \
                                  const double *data, const double *b, double *r) {                          \
        if (d == 3) return kernel(options, 3, W, mu, data, b, r);                                            \
        if (d == 2) return kernel(options, 2, W, mu, data, b, r);                                            \
        return kernel(options, 4, W, mu, data, b, r);                                                        \
    }

#endif
