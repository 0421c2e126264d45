/* sal and eal: the augmented Lagrangian of Alart and Curnier, a projection onto the half-cylinder r_n ≥ 0,
 * |r_t| ≤ R of the present normal impulse (paper 003, 3.5).
 *
 *     τ = r − ρv,   r_n = max(0, τ_n),   r_t = τ_t min(1, R/|τ_t|) */
#include "solve/law/law_newton.h"

/* ---- sal: one projected step with R = μ r_n of the new r_n (003 (35)) -----------------------------------
 */

LAW_KERNEL dls_contact_state sal_kernel(const dls_law_options *options, int d, const double *W, double mu,
                                        const double *data, const double *b, double *r) {
    (void)options;
    const double rho = data[0];
    double v[LAW_MAX];
    for (int i = 0; i < d; i++) v[i] = b[i];
    small_multiply_add(d, W, r, v);
    for (int i = 0; i < d; i++) r[i] -= rho * v[i];
    if (!(r[0] > 0)) {
        for (int i = 0; i < d; i++) r[i] = 0;
        return DLS_OPEN;
    }
    double t = small_norm(d - 1, r + 1), R = mu * r[0];
    if (t < R) return DLS_STICK;
    for (int i = 1; i < d; i++) r[i] = t > 0 ? r[i] * (R / t) : 0;
    return DLS_SLIP;
}

LAW_SOLVE(sal_solve, sal_kernel)

const dls_law dls_law_sal = {
    .name = "sal",
    .summary = "standard augmented Lagrangian: one projection onto the half-cylinder",
    .data_size = dls_law_rho_size,
    .prepare = dls_law_rho_prepare,
    .solve = sal_solve,
    .cone_data_size = dls_law_rho_size,
    .prepare_cone = dls_cone_rho_prepare,
    .solve_cone = dls_sal_cone,
};

/* ---- eal: Newton on Z = r − proj_C(τ) = 0 ----------------------------------------------------------------
 */

LAW_KERNEL double eal_friction_radius(const newton_contact *c, const double *r, const newton_point *at) {
    return c->mu * (c->radius == DLS_EAL_RADIUS_TAU ? at->tau[0] : fmax(r[0], 0));
}

LAW_KERNEL void eal_residual(int d, const newton_contact *c, const double *r, newton_point *at) {
    const double rho = c->rho;
    for (int i = 0; i < d; i++) at->tau[i] = r[i] - rho * at->v[i];
    double t = at->tau_t = small_norm(d - 1, at->tau + 1), R = eal_friction_radius(c, r, at);
    if (at->tau[0] <= 0) {
        at->state = DLS_OPEN;
        for (int i = 0; i < d; i++) at->Z[i] = r[i];
    } else if (t < R) {
        at->state = DLS_STICK;
        for (int i = 0; i < d; i++) at->Z[i] = rho * at->v[i];
    } else {
        double shrink = t > 0 ? R / t : 0;
        at->state = DLS_SLIP;
        at->Z[0] = rho * at->v[0];
        for (int i = 1; i < d; i++) at->Z[i] = r[i] - shrink * at->tau[i];
    }
}

/* e = τ_t/|τ_t|, T = (I − eeᵀ)/|τ_t|, Z = (ρv_n, r_t − R e):
 *     A = ⎡ 0      0   ⎤    B = ⎡ ρ     0  ⎤    R = μτ_n:            a = μ,                 c = ρμ
 *         ⎣−a e  I−R T ⎦        ⎣ c e  ρR T⎦    R = μ max(r_n, 0):   a = μ (0 if r_n < 0),  c = 0     */
LAW_KERNEL void eal_slip_blocks(int d, const newton_contact *c, const double *r, const newton_point *at,
                                double *A, double *B) {
    const double mu = c->mu, rho = c->rho, t = at->tau_t;
    const bool follows_tau = c->radius == DLS_EAL_RADIUS_TAU;
    const double shrink = t > 0 ? eal_friction_radius(c, r, at) / t : 0;
    double e[LAW_MAX] = {0};
    for (int i = 1; i < d; i++) e[i] = t > 0 ? at->tau[i] / t : 0;
    for (int j = 1; j < d; j++)
        for (int i = 1; i < d; i++) {
            double unit = i == j, turn = shrink * (unit - e[i] * e[j]);
            A[i + d * j] = unit - turn;
            B[i + d * j] = rho * turn;
        }
    A[0] = 0;
    B[0] = rho;
    for (int i = 1; i < d; i++) {
        A[d * i] = B[d * i] = 0;
        A[i] = follows_tau || r[0] >= 0 ? -mu * e[i] : 0;
        B[i] = follows_tau ? rho * mu * e[i] : 0;
    }
}

static const newton_law eal_law = {eal_residual, eal_slip_blocks};

LAW_KERNEL dls_contact_state eal_kernel(const dls_law_options *options, int d, const double *W, double mu,
                                        const double *data, const double *b, double *r) {
    newton_contact c = {
        .W = W, .data = data, .b = b, .mu = mu, .rho = data[0], .radius = options->eal_radius};
    return newton_solve(&eal_law, options, d, &c, r);
}

LAW_SOLVE(eal_solve, eal_kernel)

const dls_law dls_law_eal = {
    .name = "eal",
    .summary = "enhanced augmented Lagrangian: Newton on the half-cylinder projection",
    .data_size = newton_data_size,
    .prepare = newton_prepare,
    .solve = eal_solve,
    .cone_data_size = dls_cone_newton_size,
    .prepare_cone = dls_cone_newton_prepare,
    .solve_cone = dls_eal_cone,
};

dls_contact_state dls_eal_linearize(int d, double mu, double rho, dls_eal_radius radius, const double *r,
                                    const double *v, double *Z, double *A, double *B) {
    newton_contact c = {.mu = mu, .rho = rho, .radius = radius};
    newton_point at;
    memcpy(at.v, v, sizeof(double) * (size_t)d);
    eal_residual(d, &c, r, &at);
    memcpy(Z, at.Z, sizeof(double) * (size_t)d);
    if (at.state == DLS_SLIP)
        eal_slip_blocks(d, &c, r, &at, A, B);
    else
        newton_plain_blocks(d, rho, at.state, A, B);
    return at.state;
}
