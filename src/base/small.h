/* Dense algebra on blocks of 1 to 12 rows, column-major, inlined. d is usually a constant at the call. */
#ifndef BASE_SMALL_H
#define BASE_SMALL_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SMALL_MAX = 12 };

static inline double small_dot(int d, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < d; i++) sum += x[i] * y[i];
    return sum;
}

static inline double small_norm(int d, const double *x) { return sqrt(small_dot(d, x, x)); }

/* y += A x */
static inline void small_multiply_add(int d, const double *A, const double *x, double *y) {
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) y[i] += A[i + d * j] * x[j];
}

/* y −= A x */
static inline void small_multiply_subtract(int d, const double *A, const double *x, double *y) {
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) y[i] -= A[i + d * j] * x[j];
}

static inline double small_trace(int d, const double *A) {
    double sum = 0;
    for (int i = 0; i < d; i++) sum += A[i + d * i];
    return sum;
}

/* A ← LU with partial pivoting; false when a pivot is zero or not finite. */
static inline bool small_factor(int d, double *A, int *pivot) {
    assert(d <= SMALL_MAX);
    for (int k = 0; k < d; k++) {
        int best = k;
        for (int i = k + 1; i < d; i++)
            if (fabs(A[i + d * k]) > fabs(A[best + d * k])) best = i;
        pivot[k] = best;
        double top = A[best + d * k];
        if (!(fabs(top) > 0) || !isfinite(top)) return false;
        if (best != k)
            for (int j = 0; j < d; j++) {
                double t = A[k + d * j];
                A[k + d * j] = A[best + d * j];
                A[best + d * j] = t;
            }
        for (int i = k + 1; i < d; i++) {
            double l = A[i + d * k] /= top;
            for (int j = k + 1; j < d; j++) A[i + d * j] -= l * A[k + d * j];
        }
    }
    return true;
}

static inline void small_solve_factored(int d, const double *LU, const int *pivot, double *x) {
    for (int k = 0; k < d; k++) {
        double t = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = t;
    }
    for (int j = 0; j < d; j++)
        for (int i = j + 1; i < d; i++) x[i] -= LU[i + d * j] * x[j];
    for (int j = d - 1; j >= 0; j--) {
        x[j] /= LU[j + d * j];
        for (int i = 0; i < j; i++) x[i] -= LU[i + d * j] * x[j];
    }
}

/* Solves A x = y for x in place of y; A is destroyed. False when A is singular. */
static inline bool small_solve(int d, double *A, double *y) {
    int pivot[SMALL_MAX];
    if (!small_factor(d, A, pivot)) return false;
    small_solve_factored(d, A, pivot, y);
    return true;
}

/* inverse ← A⁻¹; false when A is singular. */
static inline bool small_invert(int d, const double *A, double *inverse) {
    double LU[SMALL_MAX * SMALL_MAX];
    int pivot[SMALL_MAX];
    memcpy(LU, A, sizeof(double) * (size_t)(d * d));
    if (!small_factor(d, LU, pivot)) return false;
    memset(inverse, 0, sizeof(double) * (size_t)(d * d));
    for (int j = 0; j < d; j++) {
        inverse[j + d * j] = 1;
        small_solve_factored(d, LU, pivot, inverse + d * j);
    }
    return true;
}

/* Largest eigenvalue of the symmetric part of A (leading dimension lead), by cyclic Jacobi: exact enough for
 * d ≤ 12 and never fails. */
static inline double small_max_eigenvalue(int d, const double *A, int lead) {
    assert(d >= 1 && d <= SMALL_MAX && lead >= d);
    double S[SMALL_MAX][SMALL_MAX];
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) S[i][j] = 0.5 * (A[i + lead * j] + A[j + lead * i]);
    for (int round = 0; round < 30; round++) {
        double off = 0, on = 0;
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) *(i == j ? &on : &off) += S[i][j] * S[i][j];
        if (!(off > 1e-30 * on)) break;
        for (int p = 0; p < d; p++)
            for (int q = p + 1; q < d; q++) {
                if (S[p][q] == 0) continue;
                double theta = (S[q][q] - S[p][p]) / (2 * S[p][q]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < d; k++) {
                    double x = S[k][p], y = S[k][q];
                    S[k][p] = c * x - s * y;
                    S[k][q] = s * x + c * y;
                }
                for (int k = 0; k < d; k++) {
                    double x = S[p][k], y = S[q][k];
                    S[p][k] = c * x - s * y;
                    S[q][k] = s * x + c * y;
                }
            }
    }
    double largest = S[0][0];
    for (int i = 1; i < d; i++) largest = fmax(largest, S[i][i]);
    return largest;
}

/* out ← df/ds at s = 0, by five points of which the two nearest weigh 8; room: count numbers. */
static inline void small_derivative(int count, double epsilon, void (*f)(double s, double *value, void *user),
                                    void *user, double *room, double *out) {
    static const double place[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    for (int i = 0; i < count; i++) out[i] = 0;
    for (int k = 0; k < 4; k++) {
        f(place[k] * epsilon, room, user);
        for (int i = 0; i < count; i++) out[i] += weight[k] * room[i] / (12 * epsilon);
    }
}

#endif
