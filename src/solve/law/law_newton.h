/* The Newton iteration of ebp and eal, which differ only in their residual (003 (27)–(32)).
 *
 *     v = W r + b,   Z(r, v) = 0,   A = ∂Z/∂r,   B = ∂Z/∂v
 *     ⎡ −W  I ⎤ ⎛δr⎞   ⎛ 0⎞
 *     ⎣  A  B ⎦ ⎝δv⎠ = ⎝−Z⎠      condensed to      (A + B W) δr = −Z
 *
 * Gap and stick need no matrix: the step is δr = −r, and δr = −W⁻¹v for both laws. (Stick of ebp has Z = ρD,
 * A = 0, B = ρG with G = ∂D/∂v; as G v = D, the solution of ρ G W δr = −ρD is the same.) */
#ifndef SOLVE_LAW_LAW_NEWTON_H
#define SOLVE_LAW_LAW_NEWTON_H

#include "base/small.h"
#include "solve/law/law.h"

/* A residual and what its derivatives need. */
typedef struct newton_point {
    dls_contact_state state;
    double v[DLS_MAX_BLOCK], tau[DLS_MAX_BLOCK], Z[DLS_MAX_BLOCK];
    double tau_t; /* |τ_t| */
} newton_point;

/* One contact; data is what newton_prepare left: ρ, then W⁻¹ (zeros where W is singular). */
typedef struct newton_contact {
    const double *W, *data, *b;
    double mu, rho;
    dls_eal_radius radius;
    const dls_cone *cone; /* of a contact with parts; NULL: one part, μ */
} newton_contact;

/* The law: fills state, τ and Z from r and v; fills A and B in the slip branch. */
typedef struct newton_law {
    void (*residual)(int d, const newton_contact *c, const double *r, newton_point *at);
    void (*slip_blocks)(int d, const newton_contact *c, const double *r, const newton_point *at, double *A,
                        double *B);
} newton_law;

static inline int newton_data_size(int d) { return 1 + d * d; }

static inline void newton_prepare(const dls_law_options *options, int d, const double *W, double mu,
                                  double *data) {
    (void)mu;
    data[0] = dls_law_rho(options, d, W);
    if (!small_invert(d, W, data + 1)) memset(data + 1, 0, sizeof(double) * (size_t)(d * d));
}

/* The point of r, with v on the equation of motion. */
LAW_KERNEL void newton_evaluate(newton_law law, int d, const newton_contact *c, const double *r,
                                newton_point *at) {
    for (int i = 0; i < d; i++) at->v[i] = c->b[i];
    small_multiply_add(d, c->W, r, at->v);
    law.residual(d, c, r, at);
}

/* step ← δr; false where A + B W is singular. */
LAW_KERNEL bool newton_step(newton_law law, int d, const newton_contact *c, const double *r,
                            const newton_point *at, double *step) {
    if (at->state == DLS_OPEN) {
        for (int i = 0; i < d; i++) step[i] = -r[i];
        return true;
    }
    if (at->state == DLS_STICK) {
        for (int i = 0; i < d; i++) step[i] = 0;
        small_multiply_subtract(d, c->data + 1, at->v, step);
        return c->data[1] != 0;
    }
    double A[DLS_MAX_BLOCK * DLS_MAX_BLOCK], B[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    law.slip_blocks(d, c, r, at, A, B);
    for (int j = 0; j < d; j++) small_multiply_add(d, B, c->W + d * j, A + d * j);
    for (int i = 0; i < d; i++) step[i] = -at->Z[i];
    return small_solve(d, A, step);
}

/* Gap: Z = r, A = I, B = 0. Stick of eal: Z = ρv, A = 0, B = ρI. */
static inline void newton_plain_blocks(int d, double rho, dls_contact_state state, double *A, double *B) {
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) {
            A[i + d * j] = i == j && state == DLS_OPEN;
            B[i + d * j] = i == j && state == DLS_STICK ? rho : 0;
        }
}

/* |Z| ≤ tolerance (|r| + ρ|b|): in velocities, |Z|/ρ against the terms of v = W r + b. */
LAW_KERNEL bool newton_is_solved(int d, const newton_contact *c, double tolerance, const double *r,
                                 const newton_point *at) {
    double size = small_norm(d, r) + c->rho * small_norm(d, c->b);
    return small_dot(d, at->Z, at->Z) <= tolerance * tolerance * size * size;
}

/* r ← r + δr; where no step exists, the projected step r − Z. */
LAW_KERNEL void newton_advance(newton_law law, int d, const newton_contact *c, const newton_point *at,
                               double *r) {
    double step[DLS_MAX_BLOCK];
    bool found = newton_step(law, d, c, r, at, step);
    for (int i = 0; i < d; i++) r[i] += found ? step[i] : -at->Z[i];
}

/* As published: full steps from the point `at` of r. */
LAW_KERNEL bool newton_iterate(newton_law law, int d, const newton_contact *c, double tolerance,
                               int iterations, double *r, newton_point *at) {
    for (int k = 0; k < iterations; k++) {
        if (newton_is_solved(d, c, tolerance, r, at)) return true;
        newton_advance(law, d, c, at, r);
        newton_evaluate(law, d, c, r, at);
    }
    return newton_is_solved(d, c, tolerance, r, at);
}

/* The safeguard, for when full steps from r did not end at the solution; r is the start. */
dls_contact_state dls_newton_restart(const newton_law *law, int d, const newton_contact *contact,
                                     double tolerance, double *r);

/* A cap of 1 is a law of its own (ibp of paper 002): one step, no stop test, no safeguard. */
LAW_KERNEL dls_contact_state newton_solve(const newton_law *law, const dls_law_options *options, int d,
                                          const newton_contact *c, double *r) {
    newton_point at;
    newton_evaluate(*law, d, c, r, &at);
    if (options->local_iterations == 1) {
        newton_advance(*law, d, c, &at, r);
        return at.state;
    }
    double start[DLS_MAX_BLOCK];
    memcpy(start, r, sizeof(double) * (size_t)d);
    if (newton_iterate(*law, d, c, options->local_tolerance, options->local_iterations, r, &at))
        return at.state;
    if (!options->safeguard) return DLS_UNSOLVED;
    memcpy(r, start, sizeof(double) * (size_t)d);
    return dls_newton_restart(law, d, c, options->local_tolerance, r);
}

#endif
