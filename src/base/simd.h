/* The row kernels of block-sparse products, on four-wide vectors; each has a scalar twin that tests compare.
 * Blocks are column-major, so a column of three is one load that reaches one number past it: arrays of
 * blocks carry DLS_SIMD_PAD numbers more than they hold. */
#ifndef BASE_SIMD_H
#define BASE_SIMD_H

#include <stdint.h>

enum { DLS_SIMD_PAD = 4 };

typedef double dls_v4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t dls_v4_bits __attribute__((vector_size(32)));

/* Macros: a function that returns a vector would have another interface without AVX. */
#define DLS_V4_LOAD(x) (*(const dls_v4 *)(x))
#define DLS_V4_AT(x)   (*(dls_v4 *)(x))
#define DLS_V4_ABS(x)  ((dls_v4)((dls_v4_bits)(x)&INT64_MAX))

/* y += Σ_k A_k x[column_k], 3×3 blocks. Six sums run side by side to hide the latency of the additions. */
static inline void dls_block3_row(int64_t count, const double *A, const int *column, const double *x,
                                  double *y) {
    dls_v4 a0 = {y[0], y[1], y[2], 0}, a1 = {0}, a2 = {0}, b0 = {0}, b1 = {0}, b2 = {0};
    int64_t k = 0;
    for (; k + 1 < count; k += 2, A += 18) {
        const double *p = x + 3 * (int64_t)column[k], *q = x + 3 * (int64_t)column[k + 1];
        a0 += DLS_V4_LOAD(A) * p[0];
        a1 += DLS_V4_LOAD(A + 3) * p[1];
        a2 += DLS_V4_LOAD(A + 6) * p[2];
        b0 += DLS_V4_LOAD(A + 9) * q[0];
        b1 += DLS_V4_LOAD(A + 12) * q[1];
        b2 += DLS_V4_LOAD(A + 15) * q[2];
    }
    if (k < count) {
        const double *p = x + 3 * (int64_t)column[k];
        a0 += DLS_V4_LOAD(A) * p[0];
        a1 += DLS_V4_LOAD(A + 3) * p[1];
        a2 += DLS_V4_LOAD(A + 6) * p[2];
    }
    a0 = (a0 + b0) + ((a1 + b1) + (a2 + b2));
    y[0] = a0[0];
    y[1] = a0[1];
    y[2] = a0[2];
}

/* y += Σ_k A_k x[column_k], 2×2 blocks: a block is one load, its two columns meet at the end. */
static inline void dls_block2_row(int64_t count, const double *A, const int *column, const double *x,
                                  double *y) {
    dls_v4 sum = {y[0], y[1], 0, 0};
    for (int64_t k = 0; k < count; k++, A += 4) {
        const double *p = x + 2 * (int64_t)column[k];
        sum += DLS_V4_LOAD(A) * (dls_v4){p[0], p[0], p[1], p[1]};
    }
    y[0] = sum[0] + sum[2];
    y[1] = sum[1] + sum[3];
}

/* The scalar twin of both, and the kernel of every other block size. */
static inline void dls_block_row(int d, int64_t count, const double *A, const int *column, const double *x,
                                 double *y) {
    for (int64_t k = 0; k < count; k++, A += d * d)
        for (int j = 0; j < d; j++) {
            double xj = x[(int64_t)column[k] * d + j];
            for (int i = 0; i < d; i++) y[i] += A[i + d * j] * xj;
        }
}

#endif
