/* Dense linear algebra the plain way, as a reference. */
#ifndef DELASSUS_TESTS_SUPPORT_DENSE_H
#define DELASSUS_TESTS_SUPPORT_DENSE_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Solves A x = y for x in place of y by elimination with row pivots; A (n × n, column-major) stays. */
static inline bool dense_solve(int n, const double *A, double *y) {
    double *M = malloc(sizeof(double) * ((size_t)n * (size_t)n + 1));
    bool regular = true;
    memcpy(M, A, sizeof(double) * (size_t)n * (size_t)n);
    for (int k = 0; k < n && regular; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(M[i + n * k]) > fabs(M[best + n * k])) best = i;
        regular = fabs(M[best + n * k]) > 0;
        for (int j = k; j <= n; j++) { /* column n is y */
            double *column = j < n ? M + (size_t)n * (size_t)j : y, top = column[best];
            column[best] = column[k];
            column[k] = top;
        }
        for (int i = k + 1; i < n && regular; i++) {
            double factor = M[i + n * k] / M[k + n * k];
            for (int j = k + 1; j < n; j++) M[i + n * j] -= factor * M[k + n * j];
            y[i] -= factor * y[k];
        }
    }
    for (int i = n - 1; i >= 0 && regular; i--) {
        for (int j = i + 1; j < n; j++) y[i] -= M[i + n * j] * y[j];
        y[i] /= M[i + n * i];
    }
    free(M);
    return regular;
}

/* |y − A x| */
static inline double dense_residual(int n, const double *A, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double error = y[i];
        for (int j = 0; j < n; j++) error -= A[i + n * j] * x[j];
        sum += error * error;
    }
    return sqrt(sum);
}

static inline double dense_norm(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static inline double dense_distance(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

#endif
