/* One side of a matrix-free row: rows × dof numbers of G, row after row, against scaled body velocities. */
#ifndef PROBLEM_BODY_ROWS_H
#define PROBLEM_BODY_ROWS_H

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

#endif
