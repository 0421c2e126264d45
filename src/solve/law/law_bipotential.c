/* sbp and ebp: the bipotential of De Saxcé and Feng, a projection onto the friction cone (paper
 * 003, 3.2–3.4).
 *
 *     D = v + μ|v_t| n,   τ = r − ρD,   r = proj_K(τ)   ⇔   v and r obey Signorini and Coulomb */
#include "problem/cone.h"
#include "solve/law/law_newton.h"

/* ---- sbp: one projected step (003 (21)–(22)) ---------------------------------------------------------- */

LAW_KERNEL dls_contact_state sbp_kernel(const dls_law_options *options, int d, const double *W, double mu,
                                        const double *data, const double *b, double *r) {
    (void)options;
    const double rho = data[0];
    double v[LAW_MAX];
    for (int i = 0; i < d; i++) v[i] = b[i];
    small_multiply_add(d, W, r, v);
    v[0] += mu * small_norm(d - 1, v + 1);
    for (int i = 0; i < d; i++) r[i] -= rho * v[i];
    const bool inside = small_norm(d - 1, r + 1) <= mu * r[0];
    cone_project(d, mu, r);
    return !(r[0] > 0) ? DLS_OPEN : inside ? DLS_STICK : DLS_SLIP;
}

LAW_SOLVE(sbp_solve, sbp_kernel)

const dls_law dls_law_sbp = {
    .name = "sbp",
    .summary = "standard bipotential: one projection onto the friction cone",
    .data_size = dls_law_rho_size,
    .prepare = dls_law_rho_prepare,
    .solve = sbp_solve,
    .cone_data_size = dls_law_rho_size,
    .prepare_cone = dls_cone_rho_prepare,
    .solve_cone = dls_sbp_cone,
};

/* ---- ebp: Newton on Z = r − proj_K(τ) = 0 ------------------------------------------------------------- */

LAW_KERNEL void ebp_residual(int d, const newton_contact *c, const double *r, newton_point *at) {
    const double mu = c->mu, rho = c->rho;
    double D[LAW_MAX], *tau = at->tau;
    D[0] = at->v[0] + mu * small_norm(d - 1, at->v + 1);
    for (int i = 1; i < d; i++) D[i] = at->v[i];
    for (int i = 0; i < d; i++) tau[i] = r[i] - rho * D[i];
    double t = at->tau_t = small_norm(d - 1, tau + 1);
    if (tau[0] >= 0 && t <= mu * tau[0]) {
        at->state = DLS_STICK;
        for (int i = 0; i < d; i++) at->Z[i] = rho * D[i];
    } else if (mu * t <= -tau[0]) {
        at->state = DLS_OPEN;
        for (int i = 0; i < d; i++) at->Z[i] = r[i];
    } else {
        double s = (t - mu * tau[0]) / (1 + mu * mu);
        at->state = DLS_SLIP;
        at->Z[0] = rho * D[0] - mu * s;
        for (int i = 1; i < d; i++) at->Z[i] = rho * D[i] + s * tau[i] / t;
    }
}

/* e = τ_t/|τ_t|, w = (−μ, e), s = (|τ_t| − μτ_n)/(1+μ²), ev = v_t/|v_t| (0 at 0), G = I + μ n evᵀ:
 *     J = ∂proj_K = I − wwᵀ/(1+μ²) − (s/|τ_t|) diag(0, I − eeᵀ),   A = I − J,   B = ρ J G */
LAW_KERNEL void ebp_slip_blocks(int d, const newton_contact *c, const double *r, const newton_point *at,
                                double *A, double *B) {
    (void)r;
    const double mu = c->mu, rho = c->rho, q = 1 / (1 + mu * mu), t = at->tau_t;
    const double bend = q * (t - mu * at->tau[0]) / t, speed = small_norm(d - 1, at->v + 1);
    double w[LAW_MAX] = {-mu}, J[LAW_MAX * LAW_MAX];
    for (int i = 1; i < d; i++) w[i] = at->tau[i] / t;
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) {
            double unit = i == j, fall = q * w[i] * w[j];
            if (i > 0 && j > 0) fall += bend * (unit - w[i] * w[j]);
            A[i + d * j] = fall;
            J[i + d * j] = unit - fall;
        }
    for (int j = 0; j < d; j++) {
        double turn = j > 0 && speed > 0 ? mu * at->v[j] / speed : 0;
        for (int i = 0; i < d; i++) B[i + d * j] = rho * (J[i + d * j] + J[i] * turn);
    }
}

static const newton_law ebp_law = {ebp_residual, ebp_slip_blocks};

LAW_KERNEL dls_contact_state ebp_kernel(const dls_law_options *options, int d, const double *W, double mu,
                                        const double *data, const double *b, double *r) {
    newton_contact c = {.W = W, .data = data, .b = b, .mu = mu, .rho = data[0]};
    return newton_solve(&ebp_law, options, d, &c, r);
}

LAW_SOLVE(ebp_solve, ebp_kernel)

const dls_law dls_law_ebp = {
    .name = "ebp",
    .summary = "enhanced bipotential: Newton on the cone projection",
    .data_size = newton_data_size,
    .prepare = newton_prepare,
    .solve = ebp_solve,
    .cone_data_size = dls_cone_newton_size,
    .prepare_cone = dls_cone_newton_prepare,
    .solve_cone = dls_ebp_cone,
};

dls_contact_state dls_ebp_linearize(int d, double mu, double rho, const double *r, const double *v, double *Z,
                                    double *A, double *B) {
    newton_contact c = {.mu = mu, .rho = rho};
    newton_point at;
    memcpy(at.v, v, sizeof(double) * (size_t)d);
    ebp_residual(d, &c, r, &at);
    memcpy(Z, at.Z, sizeof(double) * (size_t)d);
    if (at.state == DLS_SLIP) {
        ebp_slip_blocks(d, &c, r, &at, A, B);
        return at.state;
    }
    newton_plain_blocks(d, rho, at.state, A, B);
    double speed = small_norm(d - 1, v + 1);
    if (at.state == DLS_STICK && speed > 0)
        for (int j = 1; j < d; j++) B[d * j] = rho * mu * v[j] / speed;
    return at.state;
}
