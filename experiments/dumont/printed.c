/* EBP and EAL of paper 003 as laws of sweeps: bare Newton steps without a safeguard, one at least and 100 at
 * most, until |Z| ≤ 1e-5 (|r| + ρ|b|). EBP is to the letter of the paper, EAL has the friction radius μτ_n:
 * with μr_n, as printed, Newton's method fails in a quarter of the visits (003-4.4). The descent parameter is
 * ρ = rho_scale/(3 W_nn), α ρ̄ for discs. */
#include "experiments/dumont/dumont.h"

#include <math.h>
#include <string.h>

/* 4: Newton's method in a visit ends at ε_Newt = 1e-5 or after 100 steps. */
static const double newton_tolerance = 1e-5;
enum { NEWTON_STEPS = 100, D = DLS_MAX_BLOCK };

static double norm(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* ---- one Newton iteration ---- */

/* Z = r − proj(r − ρ(v + μ|v_t| n)) onto the cone, or r − proj(r − ρv) onto the half-cylinder: |Z|. */
double dumont_newton_error(const dumont_contact *c, const double *r, const double *v) {
    double z[D];
    for (int i = 0; i < c->d; i++) z[i] = r[i] - c->rho * v[i];
    if (c->is_ebp) {
        z[0] -= c->rho * c->mu * norm(c->d - 1, v + 1);
        dls_cone_project(c->d, c->mu, z);
    } else {
        z[0] = fmax(0, z[0]);
        double t = norm(c->d - 1, z + 1);
        double R = c->mu * (c->printed ? fmax(0, r[0]) : z[0]);
        double shrink = t > R ? R / t : 1;
        for (int i = 1; i < c->d; i++) z[i] *= shrink;
    }
    for (int i = 0; i < c->d; i++) z[i] = r[i] - z[i];
    return norm(c->d, z);
}

/* v = W_cc r + b_loc */
void dumont_local_velocity(const dumont_contact *c, const double *b_loc, const double *r, double *v) {
    for (int i = 0; i < c->d; i++) {
        v[i] = b_loc[i];
        for (int j = 0; j < c->d; j++) v[i] += c->W[i + c->d * j] * r[j];
    }
}

static double sign_of(double x) { return (x > 0) - (x < 0); }

/* The step of EBP in the plane to the letter of the paper: (A + B W) δr = −Z, where in the slip branch
 *     ∂Z/∂v_t = ρμ/(1+μ²) ((θ_v + θ_r) n + μ(1 − θ_rθ_v) t),   θ_r = sign τ_t,   θ_v = sign v_t
 * has a minus that the derivation does not give. */
static void printed_step(const dumont_contact *c, const double *b_loc, double *r) {
    const double mu = c->mu, rho = c->rho, q = 1 / (1 + mu * mu);
    double v[D], A[4] = {0}, B[4] = {rho, 0, 0, rho}, M[4];
    dumont_local_velocity(c, b_loc, r, v);
    const double tau_n = r[0] - rho * (v[0] + mu * fabs(v[1])), tau_t = r[1] - rho * v[1];
    const double of_r = sign_of(tau_t), of_v = sign_of(v[1]);
    double Z[2] = {rho * (v[0] + mu * fabs(v[1])), rho * v[1]};
    B[2] = rho * mu * of_v;
    if (mu * fabs(tau_t) < -tau_n) {
        r[0] = r[1] = 0;
        return;
    }
    if (fabs(tau_t) >= mu * tau_n) {
        const double s = q * (fabs(tau_t) - mu * tau_n);
        const double a[4] = {mu * mu * q, -mu * of_r * q, -mu * of_r * q, q};
        const double b[4] = {rho * q, rho * q * mu * of_r, rho * mu * q * (of_v + of_r),
                             rho * mu * mu * q * (1 - of_r * of_v)};
        Z[0] -= mu * s;
        Z[1] += s * of_r;
        memcpy(A, a, sizeof a);
        memcpy(B, b, sizeof b);
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++)
            M[i + 2 * j] = A[i + 2 * j] + B[i] * c->W[2 * j] + B[i + 2] * c->W[1 + 2 * j];
    const double det = M[0] * M[3] - M[1] * M[2];
    if (det == 0) return;
    r[0] -= (M[3] * Z[0] - M[2] * Z[1]) / det;
    r[1] -= (M[0] * Z[1] - M[1] * Z[0]) / det;
}

int dumont_newton(const dumont_contact *c, const dls_law *law, const dls_law_options *options,
                  const double *data, const double *b_loc, double *r, double *v, bool *solved) {
    int steps = 0;
    *solved = false;
    while (steps < NEWTON_STEPS && !*solved) {
        if (c->printed && c->is_ebp && c->d == 2)
            printed_step(c, b_loc, r);
        else
            law->solve(options, c->d, c->W, c->mu, data, b_loc, r);
        dumont_local_velocity(c, b_loc, r, v);
        steps++;
        double size = norm(c->d, r) + c->rho * norm(c->d, b_loc);
        *solved = dumont_newton_error(c, r, v) <= newton_tolerance * size;
    }
    return steps;
}

/* ---- as laws ---- */

/* Those that are built in, found before the first visit: a solve may not ask for laws. */
static const dls_law *ebp, *eal;

static dls_contact_state visit(const dls_law_options *options, int d, const double *W, double mu,
                               const double *data, const double *b, double *r, bool is_ebp) {
    dumont_contact c = {.d = d,
                        .mu = mu,
                        .rho = options->rho_scale / (3 * W[0]),
                        .W = W,
                        .is_ebp = is_ebp,
                        .printed = is_ebp};
    dls_law_options step = *options;
    double v[D];
    bool solved;
    step.local_iterations = 1;
    step.safeguard = false;
    dumont_newton(&c, is_ebp ? ebp : eal, &step, data, b, r, v, &solved);
    if (!solved) return DLS_UNSOLVED;
    return r[0] <= 0 ? DLS_OPEN : norm(d - 1, r + 1) < mu * r[0] * (1 - 1e-9) ? DLS_STICK : DLS_SLIP;
}

static dls_contact_state visit_ebp(const dls_law_options *options, int d, const double *W, double mu,
                                   const double *data, const double *b, double *r) {
    return visit(options, d, W, mu, data, b, r, true);
}

static dls_contact_state visit_eal(const dls_law_options *options, int d, const double *W, double mu,
                                   const double *data, const double *b, double *r) {
    return visit(options, d, W, mu, data, b, r, false);
}

static int eal_data_size(int d) { return eal->data_size ? eal->data_size(d) : 0; }

static void eal_prepare(const dls_law_options *options, int d, const double *W, double mu, double *data) {
    if (eal->prepare) eal->prepare(options, d, W, mu, data);
}

/* Once in a program; EBP as printed is of the plane. */
bool dumont_register(void) {
    static const dls_law laws[] = {
        {.name = "ebp-paper", .summary = "EBP to the letter of paper 003, in the plane", .solve = visit_ebp},
        {.name = "eal-paper",
         .summary = "EAL of paper 003, bare",
         .data_size = eal_data_size,
         .prepare = eal_prepare,
         .solve = visit_eal},
    };
    ebp = dls_law_find("ebp");
    eal = dls_law_find("eal");
    for (int i = 0; i < 2; i++)
        if (!dls_law_find(laws[i].name) && dls_law_register(&laws[i], NULL)) return false;
    return true;
}
