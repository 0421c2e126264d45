/* One contact of balls. A ball has the same inertia about every axis, and the arm of its contact lies along
 * the normal, so that with scaled velocities v, w of the two bodies
 *
 *     V = a_B v_B − a_A v_A,   Ω = β_B w_B − β_A w_A,   a = 1/√m,  β = (arm · n)/√J
 *     u = (n · V,  t₁ · V + t₂ · Ω,  t₂ · V − t₁ · Ω)
 *     W_cc = diag(w_n, w_t, w_t),   w_n = a_A² + a_B²,   w_t = w_n + β_A² + β_B²
 *
 * A body's state is eight numbers: v, 0, w, 0. */
#ifndef PROBLEM_OPERATOR_ROUND_ROWS_H
#define PROBLEM_OPERATOR_ROUND_ROWS_H

#include "base/simd.h"

#include <float.h>
#include <math.h>

enum { ROUND_STATE = 8 };

/* Two cache lines. */
typedef struct dls_round_row {
    double n[3], a_a; /* a = 1/√m of each body, 0 where it cannot move */
    double t1[3], a_b;
    double t2[3], beta_a;                    /* β = (arm · n)/√J */
    double inverse_n, inverse_t, mu, beta_b; /* 1/w_n, 1/w_t */
} dls_round_row;

/* W_cc = diag(w_n, w_t, w_t). */
static inline void round_diagonal(const dls_round_row *c, double *W) {
    for (int k = 0; k < 9; k++) W[k] = 0;
    W[0] = c->a_a * c->a_a + c->a_b * c->a_b;
    W[4] = W[8] = W[0] + c->beta_a * c->beta_a + c->beta_b * c->beta_b;
}

/* u − b as three vectors whose numbers are still to be summed. The fourth numbers of n, t₁, t₂ meet the zeros
 * of the states. */
static inline void round_along(const dls_round_row *c, const double *a, const double *b, dls_v4 *along_n,
                               dls_v4 *along_t1, dls_v4 *along_t2) {
    dls_v4 V = c->a_b * DLS_V4_LOAD(b) - c->a_a * DLS_V4_LOAD(a);
    dls_v4 turn = c->beta_b * DLS_V4_LOAD(b + 4) - c->beta_a * DLS_V4_LOAD(a + 4);
    dls_v4 n = DLS_V4_LOAD(c->n), t1 = DLS_V4_LOAD(c->t1), t2 = DLS_V4_LOAD(c->t2);
    *along_n = n * V;
    *along_t1 = t1 * V + t2 * turn;
    *along_t2 = t2 * V - t1 * turn;
}

static inline void round_gather(const dls_round_row *c, const double *a, const double *b, double *u) {
    dls_v4 n, t1, t2;
    round_along(c, a, b, &n, &t1, &t2);
    u[0] += n[0] + n[1] + n[2];
    u[1] += t1[0] + t1[1] + t1[2];
    u[2] += t2[0] + t2[1] + t2[2];
}

typedef struct round_push {
    dls_v4 along, turn; /* t₂ x₁ − t₁ x₂ turns both bodies */
} round_push;

static inline void round_push_of(const dls_round_row *c, const double *x, round_push *push) {
    const dls_v4 three = {1, 1, 1, 0};
    dls_v4 n = DLS_V4_LOAD(c->n), t1 = DLS_V4_LOAD(c->t1), t2 = DLS_V4_LOAD(c->t2);
    push->along = (n * x[0] + t1 * x[1] + t2 * x[2]) * three;
    push->turn = (t2 * x[1] - t1 * x[2]) * three;
}

static inline void round_scatter(const round_push *push, double a, double beta, double *state) {
    *(dls_v4 *)state += a * push->along;
    *(dls_v4 *)(state + 4) += beta * push->turn;
}

/* W_cc is diagonal and equal in the tangents, so that the law has a closed form:
 *     x_n = max(0, r_n − u_n/w_n),   x_t = the point of the disc of radius μ x_n nearest to r_t − u_t/w_t */
static inline void round_solve(const dls_round_row *c, const double *u, double *x) {
    double normal = x[0] - u[0] * c->inverse_n;
    double t1 = x[1] - u[1] * c->inverse_t, t2 = x[2] - u[2] * c->inverse_t;
    normal = normal > 0 ? normal : 0;
    double limit = c->mu * normal, size = sqrt(t1 * t1 + t2 * t2);
    double larger = size > limit ? size : limit;
    double share = limit / (larger > DBL_MIN ? larger : DBL_MIN); /* 1 inside the disc; no branch to guess */
    x[0] = normal;
    x[1] = share * t1;
    x[2] = share * t2;
}

#endif
