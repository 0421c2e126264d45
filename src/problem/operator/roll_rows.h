/* Contacts of balls that resist turning, behind the rows of round_rows.h:
 *
 *     Γ = γ_B w_B − γ_A w_A,   γ = ℓ/√J,   u_r = (t₁ · Γ, t₂ · Γ),   u_s = n · Γ
 *
 * With the rolling rows seen turned by a right angle, y = (r_r2, −r_r1), tangential and rolling rows are
 * coupled by one number, and the block is [w_t, κ; κ, w_r] ⊗ 1₂ beside w_n and w_s = w_r: w_r = γ_A² + γ_B²,
 * κ = β_A γ_A + β_B γ_B */
#ifndef PROBLEM_OPERATOR_ROLL_ROWS_H
#define PROBLEM_OPERATOR_ROLL_ROWS_H

#include "problem/operator/round_rows.h"

#include <stdbool.h>

/* A cache line. */
typedef struct dls_roll_row {
    double gamma_a, gamma_b;        /* 0 where a body cannot move */
    double w_t, inverse_r, kappa;   /* 1/w_r */
    double inverse;                 /* 1/(w_t w_r − κ²) */
    double mu_rolling, mu_spinning; /* over ℓ; below 0 where the contact has no such part */
} dls_roll_row;

static inline bool roll_has_rolling(const dls_roll_row *c) { return c->mu_rolling >= 0; }
static inline bool roll_has_spinning(const dls_roll_row *c) { return c->mu_spinning >= 0; }

static inline double roll_dot(const double *axis, dls_v4 x) {
    return axis[0] * x[0] + axis[1] * x[1] + axis[2] * x[2];
}

/* u += the rows that resist turning, in the order of the contact's rows. */
static inline void roll_gather(const dls_round_row *c, const dls_roll_row *roll, const double *a,
                               const double *b, double *u) {
    dls_v4 turn = roll->gamma_b * DLS_V4_LOAD(b + 4) - roll->gamma_a * DLS_V4_LOAD(a + 4);
    if (roll_has_rolling(roll)) {
        u[0] += roll_dot(c->t1, turn);
        u[1] += roll_dot(c->t2, turn);
        u += 2;
    }
    if (roll_has_spinning(roll)) u[0] += roll_dot(c->n, turn);
}

/* The axis that the impulses x of these rows turn about. */
static inline dls_v4 roll_axis(const dls_round_row *c, const dls_roll_row *roll, const double *x) {
    dls_v4 axis = {0, 0, 0, 0};
    const dls_v4 three = {1, 1, 1, 0};
    if (roll_has_rolling(roll)) {
        axis += DLS_V4_LOAD(c->t1) * x[0] + DLS_V4_LOAD(c->t2) * x[1];
        x += 2;
    }
    if (roll_has_spinning(roll)) axis += DLS_V4_LOAD(c->n) * x[0];
    return axis * three;
}

static inline void roll_scatter(dls_v4 axis, double gamma, double *state) {
    *(dls_v4 *)(state + 4) += gamma * axis;
}

/* x ← its nearest point of the disc; true where that is x. */
static inline bool roll_cut(double limit, double *x) {
    double size2 = x[0] * x[0] + x[1] * x[1];
    if (size2 <= limit * limit) return true;
    double share = limit / sqrt(size2);
    x[0] *= share, x[1] *= share;
    return false;
}

/* x ← of length `limit` against p + κ y: where both slip. */
static inline void roll_slip(double limit, double kappa, const double *p, const double *y, double *x) {
    double v[2] = {p[0] + kappa * y[0], p[1] + kappa * y[1]}, size = sqrt(v[0] * v[0] + v[1] * v[1]);
    double share = size > DBL_MIN ? -limit / size : 0;
    x[0] = share * v[0], x[1] = share * v[1];
}

enum { ROLL_TURNS = 1 }; /* sweeps are turns as well */

/* |x| ≤ X, |y| ≤ Y with p and q the velocities without x and y:
 *     w_t x + κ y + p = −λ x,   κ x + w_r y + q = −λ' y,   λ, λ' ≥ 0, 0 inside
 * The problem is convex, so that the first of the four states that holds is the solution: both stick, one
 * slips, both slip, where their directions follow each other and are found in turn. */
static inline void roll_solve_discs(const dls_roll_row *c, double X, double Y, const double *p,
                                    const double *q, double *x, double *y) {
    const double w_t = c->w_t, w_r = 1 / c->inverse_r, kappa = c->kappa;
    double stick_x[2], stick_y[2], last_y[2] = {y[0], y[1]};
    for (int i = 0; i < 2; i++) {
        stick_x[i] = (kappa * q[i] - w_r * p[i]) * c->inverse;
        stick_y[i] = (kappa * p[i] - w_t * q[i]) * c->inverse;
        x[i] = stick_x[i], y[i] = stick_y[i];
    }
    bool x_sticks = roll_cut(X, x), y_sticks = roll_cut(Y, y);
    if (x_sticks && y_sticks) return;
    if (!y_sticks) { /* y slips against q − κ/w_t p, x sticks */
        for (int i = 0; i < 2; i++) x[i] = -(p[i] + kappa * y[i]) / w_t;
        if (x[0] * x[0] + x[1] * x[1] <= X * X) return;
    }
    if (!x_sticks) {
        x[0] = stick_x[0], x[1] = stick_x[1];
        roll_cut(X, x);
        for (int i = 0; i < 2; i++) y[i] = -(q[i] + kappa * x[i]) / w_r;
        if (y[0] * y[0] + y[1] * y[1] <= Y * Y) return;
    }
    y[0] = last_y[0], y[1] = last_y[1];
    for (int k = 0; k < ROLL_TURNS; k++) {
        roll_slip(X, kappa, p, y, x);
        roll_slip(Y, kappa, q, x, y);
    }
}

/* The closed form of the exact law: u with all impulses, x in the last impulses, out the next. */
static inline void roll_solve(const dls_round_row *c, const dls_roll_row *roll, const double *u, double *x) {
    double normal = x[0] - u[0] * c->inverse_n;
    bool rolling = roll_has_rolling(roll);
    int spin = rolling ? 5 : 3;
    x[0] = normal = normal > 0 ? normal : 0;
    if (roll_has_spinning(roll)) {
        double limit = roll->mu_spinning * normal, s = x[spin] - u[spin] * roll->inverse_r;
        x[spin] = s > limit ? limit : s < -limit ? -limit : s;
    }
    if (!rolling) {
        for (int i = 1; i < 3; i++) x[i] -= u[i] / roll->w_t;
        roll_cut(c->mu * normal, x + 1);
        return;
    }
    double y[2] = {x[4], -x[3]}, p[2], q[2];
    const double v[2] = {u[4], -u[3]};
    for (int i = 0; i < 2; i++) {
        p[i] = u[1 + i] - roll->w_t * x[1 + i] - roll->kappa * y[i];
        q[i] = v[i] - roll->kappa * x[1 + i] - y[i] / roll->inverse_r;
    }
    roll_solve_discs(roll, c->mu * normal, roll->mu_rolling * normal, p, q, x + 1, y);
    x[3] = -y[1], x[4] = y[0];
}

#endif
