/* One side of a matrix-free row: rows × dof numbers of G, row after row, against scaled body velocities. */
#ifndef PROBLEM_OPERATOR_BODY_ROWS_H
#define PROBLEM_OPERATOR_BODY_ROWS_H

#include "base/simd.h"
#include "base/small.h"

typedef double dls_v2 __attribute__((vector_size(16), aligned(8), may_alias));
#define DLS_V2_LOAD(x) (*(const dls_v2 *)(x))

/* v += G w */
static inline void body_gather(int d, int dof, const double *restrict G, const double *restrict w,
                               double *restrict v) {
    for (int i = 0; i < d; i++) {
        double sum = 0;
        for (int k = 0; k < dof; k++) sum += G[i * dof + k] * w[k];
        v[i] += sum;
    }
}

/* w += Gᵀ x */
static inline void body_scatter(int d, int dof, const double *restrict G, const double *restrict x,
                                double *restrict w) {
    for (int i = 0; i < d; i++)
        for (int k = 0; k < dof; k++) w[k] += G[i * dof + k] * x[i];
}

/* The same of rows of any length. */
static inline void body_gather_wide(int d, int dof, const double *restrict G, const double *restrict w,
                                    double *restrict v) {
    int fours = dof & ~3;
    for (int i = 0; i < d; i++, G += dof) {
        dls_v4 sum = {0, 0, 0, 0};
        double rest = 0;
        for (int k = 0; k < fours; k += 4) sum += DLS_V4_LOAD(G + k) * DLS_V4_LOAD(w + k);
        for (int k = fours; k < dof; k++) rest += G[k] * w[k];
        v[i] += (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
    }
}

static inline void body_scatter_wide3(int dof, const double *restrict G, const double *restrict x,
                                      double *restrict w) {
    const double *restrict second = G + dof, *restrict third = second + dof;
    for (int k = 0; k < dof; k++) w[k] += G[k] * x[0] + second[k] * x[1] + third[k] * x[2];
}

/* W_cj += G_c G_jᵀ over one shared body, d × e column-major. */
static inline void body_outer(int d, int e, int dof, const double *Gc, const double *Gj, double *W) {
    for (int j = 0; j < e; j++)
        for (int i = 0; i < d; i++) W[i + d * j] += small_dot(dof, Gc + i * dof, Gj + j * dof);
}

/* ---- three rows, six freedoms: a body is always read and written as four numbers and two, so that a visit
 * finds what the one before it wrote without waiting for the cache ---- */

typedef struct body_sums {
    dls_v4 four[3];
    dls_v2 two[3];
} body_sums;

static inline void body_gather36(const double *restrict G, const double *restrict w, body_sums *sums) {
    dls_v4 four = DLS_V4_LOAD(w);
    dls_v2 two = DLS_V2_LOAD(w + 4);
    for (int i = 0; i < 3; i++) {
        sums->four[i] += DLS_V4_LOAD(G + 6 * i) * four;
        sums->two[i] += DLS_V2_LOAD(G + 6 * i + 4) * two;
    }
}

/* v += what was gathered. */
static inline void body_gather36_end(const body_sums *sums, double *restrict v) {
    for (int i = 0; i < 3; i++) {
        dls_v4 four = sums->four[i];
        dls_v2 two = sums->two[i] + ((dls_v2){four[0], four[1]} + (dls_v2){four[2], four[3]});
        v[i] += two[0] + two[1];
    }
}

static inline void body_scatter36(const double *restrict G, const double *restrict x, double *restrict w) {
    dls_v4 four = DLS_V4_LOAD(G) * x[0] + DLS_V4_LOAD(G + 6) * x[1] + DLS_V4_LOAD(G + 12) * x[2];
    dls_v2 two = DLS_V2_LOAD(G + 4) * x[0] + DLS_V2_LOAD(G + 10) * x[1] + DLS_V2_LOAD(G + 16) * x[2];
    *(dls_v4 *)w += four;
    *(dls_v2 *)(w + 4) += two;
}

/* ---- three rows of eight: (v, 0, ω, 0) beside balls ---- */

static inline void body_gather38(const double *restrict G, const double *restrict w, double *restrict v) {
    dls_v4 along = DLS_V4_LOAD(w), turn = DLS_V4_LOAD(w + 4);
    for (int i = 0; i < 3; i++) {
        dls_v4 sum = DLS_V4_LOAD(G + 8 * i) * along + DLS_V4_LOAD(G + 8 * i + 4) * turn;
        v[i] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

static inline void body_scatter38(const double *restrict G, const double *restrict x, double *restrict w) {
    *(dls_v4 *)w += DLS_V4_LOAD(G) * x[0] + DLS_V4_LOAD(G + 8) * x[1] + DLS_V4_LOAD(G + 16) * x[2];
    *(dls_v4 *)(w + 4) += DLS_V4_LOAD(G + 4) * x[0] + DLS_V4_LOAD(G + 12) * x[1] + DLS_V4_LOAD(G + 20) * x[2];
}

#endif
