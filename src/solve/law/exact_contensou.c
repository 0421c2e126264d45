/* The contact with drilling friction (d = 4, Coulomb–Contensou): e is on the unit sphere of three dimensions.
 *
 * Where sym B + ℓ is positive, |(B + ℓ)⁻¹p| decreases with ℓ, so a root found there by Newton's method on the
 * sphere is the largest. All roots come from a polynomial of degree six in the drag α = ℓ/(−μ b_n). */
#include "solve/law/exact_parts.h"

#include <float.h>

#define LAST_TURN   1e-8 /* |Δe| after which Newton's step has converged to rounding */
#define MAX_TURNS   10
#define LEAST_PIVOT 1e-10 /* of sym B + ℓ relative to the data, to call it positive */

static void make_pencil(const double *W, double mu, const double *b, double *p, double *B) {
    for (int j = 0; j < 3; j++) {
        p[j] = W[0] * b[1 + j] - b[0] * W[1 + j];
        for (int i = 0; i < 3; i++) B[i + 3 * j] = mu * (b[1 + i] * W[4 + 4 * j] - b[0] * W[5 + i + 4 * j]);
    }
}

/* sym B + ℓ is positive definite, with a margin: its pivots are. */
static bool is_positive(const double *B, double l) {
    double m00 = B[0] + l, m11 = B[4] + l, m22 = B[8] + l;
    double m01 = 0.5 * (B[1] + B[3]), m02 = 0.5 * (B[2] + B[6]), m12 = 0.5 * (B[5] + B[7]);
    double least = LEAST_PIVOT * (fabs(m00) + fabs(m11) + fabs(m22));
    if (!(m00 > least)) return false;
    double s11 = m11 - m01 * m01 / m00, s12 = m12 - m01 * m02 / m00, s22 = m22 - m02 * m02 / m00;
    return s11 > least && s22 - s12 * s12 / s11 > least;
}

/* −(B + ℓ)⁻¹p, made a unit vector, with ℓ = max(0, |p| − tr B/3). */
static bool guess_direction(const double *p, const double *B, double *e) {
    double l = fmax(0, small_norm(3, p) - (B[0] + B[4] + B[8]) / 3), M[9];
    for (int i = 0; i < 9; i++) M[i] = B[i] + (i % 4 == 0 ? l : 0);
    for (int i = 0; i < 3; i++) e[i] = -p[i];
    if (!small_solve(3, M, e)) return false;
    double length = small_norm(3, e);
    for (int i = 0; i < 3; i++) e[i] /= length;
    return length > 0 && length <= DBL_MAX;
}

static bool turn_to_largest_root(const double *W, double mu, const double *b, const double *B, double *e) {
    double next[3], change[3], l;
    for (int turn = 0; turn < MAX_TURNS; turn++) {
        dls_exact_turn(4, W, mu, b, e, &l, next);
        for (int i = 0; i < 3; i++) {
            change[i] = next[i] - e[i];
            e[i] = next[i];
        }
        if (small_norm(3, change) < LAST_TURN) return l >= 0 && is_positive(B, l);
    }
    return false;
}

/* From the last impulse, or from the guess if that leads nowhere. */
static bool find_largest_root(const double *W, double mu, const double *b, const double *r, double *e) {
    double p[3], B[9], radius = mu * r[0], length = small_norm(3, r + 1);
    make_pencil(W, mu, b, p, B);
    if (length > 0.5 * radius && length > 0 && length <= DBL_MAX) {
        for (int i = 0; i < 3; i++) e[i] = r[1 + i] / length;
        if (turn_to_largest_root(W, mu, b, B, e)) return true;
    }
    return guess_direction(p, B, e) && turn_to_largest_root(W, mu, b, B, e);
}

static bool is_in_range(const double *W, double mu, const double *b) {
    double size = small_trace(4, W), entries = 0, speed = 0;
    for (int i = 0; i < 16; i++) entries += fabs(W[i]);
    for (int i = 0; i < 4; i++) speed += fabs(b[i]);
    return size > EXACT_SMALL && size < EXACT_LARGE && entries < EXACT_GROWTH * size && W[0] > 0 && mu >= 0 &&
           mu < EXACT_LARGE_FRICTION && speed > EXACT_SMALL && speed < EXACT_LARGE;
}

/* W r = −b with r in K and of plausible size, and no slip beside it. */
static bool try_stick(const double *W, double mu, const double *b, double *r) {
    double A[16], x[4], p[3], B[9], speed = 0;
    memcpy(A, W, sizeof A);
    for (int i = 0; i < 4; i++) {
        x[i] = -b[i];
        speed += fabs(b[i]);
    }
    if (!small_solve(4, A, x)) return false;
    double limit = EXACT_PLAUSIBLE * speed / (small_trace(4, W) * (1 + mu));
    if (!(x[0] > 0 && x[0] < limit && small_norm(3, x + 1) <= mu * x[0])) return false;
    make_pencil(W, mu, b, p, B);
    if (!is_positive(B, 0)) return false;
    memcpy(r, x, sizeof x);
    return true;
}

/* The largest root of the pencil is a solution if s > 0 there. */
static bool try_slip(const double *W, double mu, const double *b, double *r) {
    double e[3], speed = 0;
    if (!find_largest_root(W, mu, b, r, e)) return false;
    double slant = W[0] + mu * (W[4] * e[0] + W[8] * e[1] + W[12] * e[2]);
    double least_slant = EXACT_SLANT * (W[0] + mu * (fabs(W[4]) + fabs(W[8]) + fabs(W[12])));
    if (!(slant > least_slant) && !(dls_exact_polish(4, W, mu, b, e) >= 0)) return false;
    for (int i = 0; i < 4; i++) speed += fabs(b[i]);
    double rn = dls_exact_normal_impulse(4, W, mu, b, e);
    if (!(slant > 0 && rn > 0 && rn < EXACT_PLAUSIBLE * speed / (small_trace(4, W) * (1 + mu)))) return false;
    r[0] = rn;
    for (int i = 0; i < 3; i++) r[1 + i] = mu * rn * e[i];
    return true;
}

dls_contact_state dls_exact_solve4(const double W[16], double mu, const double b[4], double r[4]) {
    if (!is_in_range(W, mu, b)) return dls_exact_solve_slowly(4, W, mu, b, r);
    if (b[0] >= 0) {
        r[0] = r[1] = r[2] = r[3] = 0;
        return DLS_OPEN;
    }
    if (try_stick(W, mu, b, r)) return DLS_STICK;
    return try_slip(W, mu, b, r) ? DLS_SLIP : dls_exact_solve_slowly(4, W, mu, b, r);
}

/* ---- all roots -------------------------------------------------------------------------------------- */

/* The determinant of the rows and columns of M (4 × 4) whose bits are set in `kept`. */
static double principal_minor(const double *M, unsigned kept) {
    double A[16], det = 1;
    int index[4], pivot[4], n = 0;
    for (int i = 0; i < 4; i++)
        if (kept >> i & 1) index[n++] = i;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) A[i + n * j] = M[index[i] + 4 * index[j]];
    if (!small_factor(n, A, pivot)) return 0;
    for (int i = 0; i < n; i++) det *= pivot[i] == i ? A[i + n * i] : -A[i + n * i];
    return det;
}

/* Coefficients in α of det(M + α diag(0, I)), column `constant` without α: sums of principal minors. */
static void determinant_in_drag(const double *M, int constant, double *a) {
    for (int k = 0; k < 4; k++) a[k] = 0;
    for (unsigned dropped = 0; dropped < 16; dropped += 2)
        if (!(dropped >> constant & 1)) a[__builtin_popcount(dropped)] += principal_minor(M, 15 ^ dropped);
}

/* μ²r_n² − |r_t|² of r = −(W + α diag(0, I))⁻¹ b, times the determinant squared, by Cramer's rule. */
static void make_sextic(const dls_exact_contact *contact, double *a) {
    for (int k = 0; k <= 6; k++) a[k] = 0;
    for (int column = 0; column < 4; column++) {
        double M[16], numerator[4], weight = column == 0 ? contact->mu * contact->mu : -1;
        memcpy(M, contact->W, sizeof M);
        memcpy(M + 4 * column, contact->b, sizeof contact->b);
        determinant_in_drag(M, column, numerator);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) a[i + j] += weight * numerator[i] * numerator[j];
    }
}

static void offer_drag(const dls_exact_contact *contact, double alpha, dls_exact_branches *branches) {
    double r[4], e[3];
    dls_exact_drag(contact, alpha, r);
    double length = copysign(small_norm(3, r + 1), r[0]);
    if (!(fabs(length) > 0 && fabs(length) <= DBL_MAX)) return;
    for (int i = 0; i < 3; i++) e[i] = r[1 + i] / length;
    dls_exact_polish(4, contact->W, contact->mu, contact->b, e);
    dls_exact_offer_slip(contact, e, branches);
}

/* Drags of all sizes: α and 1/α from 0 to 1 in two windows each, so that small ones keep their digits. */
void dls_exact_find_slips4(const dls_exact_contact *contact, dls_exact_branches *branches) {
    const double edges[3] = {-1e-6, 1e-4, 1};
    double sextic[7], reversed[7], roots[8];
    make_sextic(contact, sextic);
    for (int k = 0; k <= 6; k++) reversed[k] = sextic[6 - k];
    for (int window = 0; window < 2; window++) {
        int count = dls_exact_roots(6, sextic, edges[window], edges[window + 1], roots, 8);
        for (int i = 0; i < count; i++) offer_drag(contact, roots[i], branches);
        count = dls_exact_roots(6, reversed, fmax(0, edges[window]), edges[window + 1], roots, 8);
        for (int i = 0; i < count; i++) offer_drag(contact, 1 / roots[i], branches);
    }
}
