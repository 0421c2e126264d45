/* Slip directions from a start, by Newton's method on the sphere, and without one, by bisection in the drag.
 *
 * Sliding is sticking through a drag: u_t = −αr_t with α = λ/(μ r_n) = ℓ/(−μ b_n) ≥ 0. So |r_t| = μ r_n for
 * r = −(W + α diag(0, I))⁻¹ b, and the choice among solutions takes the largest α. */
#include "solve/law/exact_parts.h"

#include <float.h>

enum { MAX_TURNS = 16, MAX_MISSES = 2 };

/* T: an orthonormal basis of the vectors orthogonal to the unit vector e of n = 2 or 3 components. */
static inline void tangent_basis(int n, const double *e, double *T) {
    if (n == 2) {
        T[0] = -e[1];
        T[1] = e[0];
        return;
    }
    /* columns 0 and 1 of the reflection that takes e to ∓ the last axis */
    double sign = e[2] < 0 ? -1 : 1, f = 1 / (1 + fabs(e[2])), xy = -e[0] * e[1] * f;
    T[0] = 1 - e[0] * e[0] * f;
    T[1] = xy;
    T[2] = -sign * e[0];
    T[3] = xy;
    T[4] = 1 - e[1] * e[1] * f;
    T[5] = -sign * e[1];
}

/* s b_t − b_n W_t d for d = (normal, μ tangent): p + B e where normal = 1, B e where normal = 0. */
static inline void pencil_velocity(int d, const double *W, double mu, const double *b, double normal,
                                   const double *tangent, double *v) {
    double direction[4] = {normal}, y[4] = {0};
    for (int i = 1; i < d; i++) direction[i] = mu * tangent[i - 1];
    small_multiply_add(d, W, direction, y);
    for (int i = 1; i < d; i++) v[i - 1] = y[0] * b[i] - b[0] * y[i];
}

/* With T the tangents at e and v = p + B e: ℓ = −e·v, e changes by δ = −T (Tᵀ(B + ℓ)T)⁻¹ Tᵀv, ℓ by −e·Bδ. */
static inline double turn(int d, const double *W, double mu, const double *b, const double *e, double *l,
                          double *next) {
    int n = d - 1;
    double v[3], T[6], g[2], J[4], x[2], gain[2];
    tangent_basis(n, e, T);
    pencil_velocity(d, W, mu, b, 1, e, v);
    *l = -small_dot(n, e, v);
    for (int k = 0; k < n - 1; k++) {
        double column[3];
        g[k] = small_dot(n, T + n * k, v);
        pencil_velocity(d, W, mu, b, 0, T + n * k, column);
        gain[k] = small_dot(n, e, column);
        for (int j = 0; j < n - 1; j++)
            J[j + (n - 1) * k] = small_dot(n, T + n * j, column) + (j == k ? *l : 0);
    }
    if (n == 2) {
        x[0] = -g[0] / J[0];
    } else {
        double inverse = 1 / (J[0] * J[3] - J[1] * J[2]);
        x[0] = (J[2] * g[1] - J[3] * g[0]) * inverse;
        x[1] = (J[1] * g[0] - J[0] * g[1]) * inverse;
    }
    *l -= small_dot(n - 1, gain, x);
    for (int i = 0; i < n; i++) {
        next[i] = e[i];
        for (int k = 0; k < n - 1; k++) next[i] += T[i + n * k] * x[k];
    }
    double inverse_length = 1 / small_norm(n, next);
    for (int i = 0; i < n; i++) next[i] *= inverse_length;
    return small_norm(n - 1, g);
}

double dls_exact_turn(int d, const double *W, double mu, const double *b, const double *e, double *l,
                      double *next) {
    return d == 3 ? turn(3, W, mu, b, e, l, next) : turn(4, W, mu, b, e, l, next);
}

double dls_exact_polish(int d, const double *W, double mu, const double *b, double *e) {
    size_t bytes = sizeof(double) * (size_t)(d - 1);
    double l = 0, trial_l, trial[3], next[3], best = DBL_MAX;
    memcpy(trial, e, bytes);
    for (int turns = 0, misses = 0; turns < MAX_TURNS && misses < MAX_MISSES; turns++) {
        double defect = dls_exact_turn(d, W, mu, b, trial, &trial_l, next);
        if (defect < best) {
            best = defect;
            l = trial_l;
            misses = 0;
            memcpy(e, trial, bytes);
        } else {
            misses++;
        }
        memcpy(trial, next, bytes);
    }
    return l;
}

/* s r_n = −b_n; where s is small, the least-squares solution together with the components orthogonal to e of
 * W_t d r_n = −b_t. */
double dls_exact_normal_impulse(int d, const double *W, double mu, const double *b, const double *e) {
    int n = d - 1;
    double direction[4] = {1}, y[4] = {0}, coupling = 0;
    for (int i = 1; i < d; i++) {
        direction[i] = mu * e[i - 1];
        coupling += fabs(W[d * i]);
    }
    small_multiply_add(d, W, direction, y);
    double s = y[0];
    if (fabs(s) > EXACT_SLANT * (fabs(W[0]) + mu * coupling)) return -b[0] / s;
    double along = small_dot(n, e, y + 1), b_along = small_dot(n, e, b + 1);
    double squares = s * s, product = s * b[0];
    for (int i = 0; i < n; i++) {
        double k = y[1 + i] - along * e[i];
        squares += k * k;
        product += k * (b[1 + i] - b_along * e[i]);
    }
    return -product / squares;
}

/* W r + α(0, r_t) = −b */
void dls_exact_drag(const dls_exact_contact *contact, double alpha, double *r) {
    int d = contact->d;
    double A[16];
    dls_exact_factors factors;
    memcpy(A, contact->W, sizeof(double) * (size_t)(d * d));
    for (int i = 1; i < d; i++) A[i + d * i] += alpha;
    dls_exact_factor(d, A, &factors);
    dls_exact_backsolve(d, &factors, 0, contact->b, r);
    for (int i = 0; i < d; i++) r[i] = -r[i];
}

static bool is_in_cone_at(const dls_exact_contact *contact, double alpha, double *r) {
    dls_exact_drag(contact, alpha, r);
    return r[0] > 0 && small_norm(contact->d - 1, r + 1) <= contact->mu * r[0];
}

/* From α = ∞, where r = (−b_n/w_nn, 0), r(α) can leave K only through |r_t| = μ r_n > 0 if dᵀWd > 0 on K: a
 * pole of r(α) has zᵀWz = −α|z_t|² ≤ 0 and is outside. So bisection between a drag inside and one outside
 * ends at a slip, and where all are inside at stick. */
bool dls_exact_bisect(const dls_exact_contact *contact, double *r) {
    double lo = 0, hi = contact->size, trial[4];
    while (!is_in_cone_at(contact, hi, r)) {
        lo = hi;
        hi *= 16;
        if (!(hi < EXACT_LARGE * contact->size)) return false;
    }
    for (;;) {
        double middle = 0.5 * (lo + hi);
        if (middle <= lo || middle >= hi || hi < EXACT_SMALL * contact->size) return true;
        if (is_in_cone_at(contact, middle, trial)) {
            hi = middle;
            memcpy(r, trial, sizeof trial);
        } else {
            lo = middle;
        }
    }
}
