/* All real roots of a small polynomial in an interval, by subdivision in the Bernstein basis.
 *
 * The sign changes of the Bernstein coefficients are at least as many as the roots and of the same parity:
 * none excludes, one isolates. Coefficients at rounding level may have either sign, so that double roots
 * survive. */
#include "solve/law/exact_parts.h"

#include <float.h>

enum { MAX_DEGREE = 6, MAX_DEPTH = 24, MAX_STEPS = 60 };

#define NOISE           8.0  /* roundings of the coefficients under which one has no sign */
#define ROOT_RESOLUTION 1e-6 /* of a single root, relative to its isolating interval */

typedef struct piece {
    double c[MAX_DEGREE + 1];
    double lo, hi;
    int depth;
} piece;

static const double binomial[MAX_DEGREE + 1][MAX_DEGREE + 1] = {
    {1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}, {1, 5, 10, 10, 5, 1}, {1, 6, 15, 20, 15, 6, 1}};

/* Bernstein coefficients on [lo, hi] of Σ a_i xⁱ. */
static piece to_bernstein(int n, const double *a, double lo, double hi) {
    piece whole = {.lo = lo, .hi = hi};
    double shifted[MAX_DEGREE + 1], power = 1;
    memcpy(shifted, a, sizeof(double) * (size_t)(n + 1));
    for (int i = 0; i < n; i++)
        for (int j = n - 1; j >= i; j--) shifted[j] += lo * shifted[j + 1];
    for (int i = 0; i <= n; i++, power *= hi - lo) shifted[i] *= power / binomial[n][i];
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= j; i++) whole.c[j] += binomial[j][i] * shifted[i];
    return whole;
}

/* Halves a piece by de Casteljau's scheme. */
static void split(int n, const piece *whole, piece *left, piece *right) {
    double middle = 0.5 * (whole->lo + whole->hi);
    *left = (piece){.lo = whole->lo, .hi = middle, .depth = whole->depth + 1};
    *right = (piece){.lo = middle, .hi = whole->hi, .depth = whole->depth + 1};
    memcpy(right->c, whole->c, sizeof whole->c);
    for (int k = 0; k <= n; k++) {
        left->c[k] = right->c[0];
        for (int j = 0; j < n - k; j++) right->c[j] = 0.5 * (right->c[j] + right->c[j + 1]);
    }
}

/* Σ binomial(n, k) c_k tᵏ(1 − t)ⁿ⁻ᵏ */
static double evaluate(int n, const double *c, double t) {
    double value = c[0] * (1 - t), power = t;
    for (int k = 1; k < n; k++, power *= t) value = (value + binomial[n][k] * power * c[k]) * (1 - t);
    return value + power * c[n];
}

typedef enum verdict { NO_ROOT, ONE_ROOT, UNCLEAR, ALL_ZERO } verdict;

static verdict judge(int n, const double *c, double noise) {
    int changes = 0, zeros = 0;
    for (int j = 0; j <= n; j++) zeros += fabs(c[j]) <= noise;
    if (zeros > 0) return zeros > n ? ALL_ZERO : UNCLEAR;
    for (int j = 0; j < n; j++) changes += (c[j] > 0) != (c[j + 1] > 0);
    return changes == 0 ? NO_ROOT : changes == 1 ? ONE_ROOT : UNCLEAR;
}

/* The root in [0, 1] of a piece whose ends differ in sign: Newton's steps, halving where they leave the
 * bracket or do not halve themselves. */
static double single_root(int n, const double *c) {
    double lo = 0, hi = 1, t = 0.5, step = 1, slopes[MAX_DEGREE];
    for (int j = 0; j < n; j++) slopes[j] = n * (c[j + 1] - c[j]);
    for (int k = 0; k < MAX_STEPS && fabs(step) > ROOT_RESOLUTION; k++) {
        double f = evaluate(n, c, t), newton = -f / evaluate(n - 1, slopes, t);
        if ((f > 0) == (c[0] > 0))
            lo = t;
        else
            hi = t;
        bool is_safe = t + newton > lo && t + newton < hi && fabs(newton) < 0.5 * fabs(step);
        step = is_safe ? newton : 0.5 * (lo + hi) - t;
        t += step;
    }
    return t;
}

int dls_exact_roots(int degree, const double *a, double lo, double hi, double *roots, int capacity) {
    piece stack[MAX_DEPTH + 2];
    int top = 0, count = 0;
    double noise = 0, cluster_end = -HUGE_VAL;
    stack[0] = to_bernstein(degree, a, lo, hi);
    for (int j = 0; j <= degree; j++) noise += NOISE * DBL_EPSILON * fabs(stack[0].c[j]);
    if (!(noise <= DBL_MAX)) return 0;
    while (top >= 0 && count < capacity) {
        piece now = stack[top--];
        verdict roots_here = judge(degree, now.c, noise);
        if (roots_here == NO_ROOT) continue;
        if (roots_here == ONE_ROOT) {
            roots[count++] = now.lo + (now.hi - now.lo) * single_root(degree, now.c);
            continue;
        }
        if (roots_here == ALL_ZERO || now.depth == MAX_DEPTH) {
            /* neighbours hold the same cluster: one report stands for them all */
            if (now.lo > cluster_end) roots[count++] = 0.5 * (now.lo + now.hi);
            cluster_end = now.hi;
            continue;
        }
        split(degree, &now, &stack[top + 2], &stack[top + 1]);
        top += 2;
    }
    return count;
}
