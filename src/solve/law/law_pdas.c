/* epdas and ipdas: primal–dual active sets (paper 002), one step per visit. With u = W p + b and
 * p* = max(0, p_n − u_n/W_nn):
 *
 *     gap    p_n − γ_n u_n ≤ 0:      p⁺ = 0
 *     stick  |p_t − γ_t u_t| < μp*:  ipdas  u⁺ = 0
 *                                    epdas  u_n⁺ = 0,  u_t⁺ = u_t (1 − p_n⁺/p_n)
 *     slip   else:                   u_n⁺ = 0,  p_t⁺ = μ p_n⁺ s,  s the direction of p_t − γ_t u_t
 *
 * The paper compares with μp_n. One step is the exact solution for spheres and discs (diagonal blocks). */
#include "solve/law/law_newton.h"

/* What prepare() leaves; the rest is what eal needs, which helps where a step makes no sense. */
enum { GAMMA_N, GAMMA_T, INVERSE_NN, EAL_DATA, INVERSE = EAL_DATA + 1 };

static int pdas_data_size(int d) { return EAL_DATA + newton_data_size(d); }

static void pdas_prepare(const dls_law_options *options, int d, const double *W, double mu, double *data) {
    newton_prepare(options, d, W, mu, data + EAL_DATA);
    double tangential = dls_law_max_eigenvalue(d - 1, W + d + 1, d);
    data[INVERSE_NN] = 1 / W[0];
    data[GAMMA_N] = options->gamma_n > 0 ? options->gamma_n : options->rho_scale / W[0];
    data[GAMMA_T] = options->gamma_t > 0 ? options->gamma_t : options->rho_scale / tangential;
}

/* p ← p − W⁻¹u, the stick of ipdas. */
LAW_KERNEL bool stick_whole(int d, const double *data, const double *u, double *p) {
    small_multiply_subtract(d, data + INVERSE, u, p);
    return data[INVERSE] != 0;
}

/* The stick of epdas, [W + (1/p_n)(0; u_t)nᵀ] p⁺ = W p − (u_n; 0), by Sherman and Morrison:
 *     y = p − W⁻¹(u_n; 0),   x = W⁻¹(0; u_t)/p_n,   p⁺ = y − x y_n/(1 + x_n)
 * It blows up where p_n is far from its end, so the safeguard asks for p_n/2 ≤ p* ≤ 2p_n. */
LAW_KERNEL bool stick_exact(const dls_law_options *options, int d, const double *data, double p_star,
                            const double *u, double *p) {
    const double *inverse = data + INVERSE;
    double p_n = p[0], x[LAW_MAX], y[LAW_MAX];
    if (!(p_n > 0)) return stick_whole(d, data, u, p);
    for (int i = 0; i < d; i++) {
        y[i] = p[i] - inverse[i] * u[0];
        x[i] = 0;
        for (int j = 1; j < d; j++) x[i] += inverse[i + d * j] * (u[j] / p_n);
    }
    bool near = p_n <= 2 * p_star && p_star <= 2 * p_n && 1 + x[0] > 0.5;
    if (options->safeguard && !near) return stick_whole(d, data, u, p);
    double share = y[0] / (1 + x[0]);
    for (int i = 0; i < d; i++) p[i] = y[i] - x[i] * share;
    return inverse[0] != 0;
}

/* p_n = −b_n/(W_nn + μ W_nt·s), p_t = μ p_n s. */
LAW_KERNEL bool slip_direct(int d, const double *W, double mu, const double *b, const double *z,
                            double length, double *p) {
    double s[LAW_MAX], resistance = W[0];
    for (int j = 1; j < d; j++) {
        s[j] = length > 0 ? z[j] / length : 0;
        resistance += mu * W[d * j] * s[j];
    }
    if (!(resistance > 0)) return false;
    p[0] = fmax(0, -b[0] / resistance);
    for (int j = 1; j < d; j++) p[j] = mu * p[0] * s[j];
    return true;
}

/* The paper's Newton step in the slip direction (after (3.45)), with M = (p_t zᵀ/|z| − μp_n I)/|z|:
 *     W_n·p⁺ = −b_n,   (I + M) p_t⁺ − γ_t M u_t⁺ − μ (z/|z|) p_n⁺ = M z */
LAW_KERNEL bool slip_newton(int d, const double *W, double mu, double gamma, const double *b, const double *z,
                            double length, double *p) {
    double M[LAW_MAX * LAW_MAX], K[LAW_MAX * LAW_MAX], y[LAW_MAX];
    if (!(length > 0)) return false;
    for (int j = 1; j < d; j++)
        for (int i = 1; i < d; i++) M[i + d * j] = (p[i] * z[j] / length - mu * p[0] * (i == j)) / length;
    y[0] = -b[0];
    for (int j = 0; j < d; j++) K[d * j] = W[d * j];
    for (int i = 1; i < d; i++) {
        y[i] = 0;
        for (int k = 1; k < d; k++) y[i] += M[i + d * k] * (z[k] + gamma * b[k]);
        for (int j = 0; j < d; j++) {
            double sum = j > 0 ? (i == j) + M[i + d * j] : -mu * z[i] / length;
            for (int k = 1; k < d; k++) sum -= gamma * M[i + d * k] * W[k + d * j];
            K[i + d * j] = sum;
        }
    }
    if (!small_solve(d, K, y) || !(y[0] >= 0)) return false;
    for (int i = 0; i < d; i++) p[i] = y[i];
    return true;
}

/* One step; DLS_UNSOLVED where there is none. */
LAW_KERNEL dls_contact_state pdas_step(bool exact, const dls_law_options *options, int d, const double *W,
                                       double mu, const double *data, const double *b, double *p) {
    double u[LAW_MAX], z[LAW_MAX];
    for (int i = 0; i < d; i++) u[i] = b[i];
    small_multiply_add(d, W, p, u);
    if (p[0] - data[GAMMA_N] * u[0] <= 0) {
        for (int i = 0; i < d; i++) p[i] = 0;
        return DLS_OPEN;
    }
    for (int i = 1; i < d; i++) z[i] = p[i] - data[GAMMA_T] * u[i];
    double length = small_norm(d - 1, z + 1), p_star = fmax(0, p[0] - data[INVERSE_NN] * u[0]);
    if (length < mu * (options->pdas_compare == DLS_PDAS_COMPARE_NEW ? p_star : p[0])) {
        bool found = exact ? stick_exact(options, d, data, p_star, u, p) : stick_whole(d, data, u, p);
        return found ? DLS_STICK : DLS_UNSOLVED;
    }
    if (options->pdas_slip == DLS_PDAS_SLIP_NEWTON && slip_newton(d, W, mu, data[GAMMA_T], b, z, length, p))
        return DLS_SLIP;
    return slip_direct(d, W, mu, b, z, length, p) ? DLS_SLIP : DLS_UNSOLVED;
}

/* eal to the local solution, or, where even that fails, its last resort: one step of sal. */
static dls_contact_state pdas_help(const dls_law_options *options, int d, const double *W, double mu,
                                   const double *data, const double *b, double *p) {
    dls_law_options help = *options;
    help.eal_radius = DLS_EAL_RADIUS_TAU;
    help.local_iterations = dls_default_law_options().local_iterations;
    return dls_law_eal.solve(&help, d, W, mu, data + EAL_DATA, b, p);
}

/* With several steps per visit: until neither the set nor the impulse changes. */
LAW_KERNEL dls_contact_state pdas_kernel(bool exact, const dls_law_options *options, int d, const double *W,
                                         double mu, const double *data, const double *b, double *p) {
    double start[LAW_MAX], last[LAW_MAX];
    dls_contact_state state, last_state = DLS_UNSOLVED;
    for (int i = 0; i < d; i++) start[i] = p[i];
    for (int k = 0; k < options->pdas_iterations; k++, last_state = state) {
        for (int i = 0; i < d; i++) last[i] = p[i];
        state = pdas_step(exact, options, d, W, mu, data, b, p);
        if (state == DLS_UNSOLVED) break;
        if (options->pdas_iterations == 1) return state;
        for (int i = 0; i < d; i++) last[i] -= p[i];
        double size = small_norm(d, p) + data[EAL_DATA] * small_norm(d, b);
        if (state == last_state && small_norm(d, last) <= options->local_tolerance * size) return state;
    }
    for (int i = 0; i < d; i++) p[i] = start[i];
    return options->safeguard ? pdas_help(options, d, W, mu, data, b, p) : DLS_UNSOLVED;
}

LAW_KERNEL dls_contact_state epdas_kernel(const dls_law_options *options, int d, const double *W, double mu,
                                          const double *data, const double *b, double *p) {
    return pdas_kernel(true, options, d, W, mu, data, b, p);
}

LAW_KERNEL dls_contact_state ipdas_kernel(const dls_law_options *options, int d, const double *W, double mu,
                                          const double *data, const double *b, double *p) {
    return pdas_kernel(false, options, d, W, mu, data, b, p);
}

LAW_SOLVE(epdas_solve, epdas_kernel)
LAW_SOLVE(ipdas_solve, ipdas_kernel)

const dls_law dls_law_epdas = {
    .name = "epdas",
    .summary = "primal-dual active set, stick by Newton on its complementarity function",
    .data_size = pdas_data_size,
    .prepare = pdas_prepare,
    .solve = epdas_solve,
};

const dls_law dls_law_ipdas = {
    .name = "ipdas",
    .summary = "primal-dual active set, stick at once",
    .data_size = pdas_data_size,
    .prepare = pdas_prepare,
    .solve = ipdas_solve,
};
