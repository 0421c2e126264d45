/* Random blocks W_cc, and how well an impulse solves one contact. */
#ifndef DELASSUS_TESTS_SUPPORT_BLOCK_H
#define DELASSUS_TESTS_SUPPORT_BLOCK_H

#include "base/random.h"
#include "base/small.h"
#include "problem/cone.h"

/* diag(w, 3.5w, …), a solid sphere. */
static inline void block_sphere(dls_random *g, int d, double *W) {
    double w = exp(dls_random_between(g, -5, 5));
    memset(W, 0, sizeof(double) * (size_t)(d * d));
    for (int i = 0; i < d; i++) W[i + d * i] = i > 0 ? 3.5 * w : w;
}

/* One or two rigid bodies: for each its mass and d − 1 random lever arms, which couple normal and tangent. */
static inline void block_bodies(dls_random *g, int d, double *W) {
    memset(W, 0, sizeof(double) * (size_t)(d * d));
    for (int body = (int)dls_random_below(g, 2); body < 2; body++) {
        double w = exp(dls_random_between(g, -2, 2));
        for (int i = 0; i < d; i++) W[i + d * i] += w;
        for (int arm = 1; arm < d; arm++) {
            double x[4], size = w * exp(dls_random_between(g, -1, 1.5));
            for (int i = 0; i < d; i++) x[i] = dls_random_normal(g);
            for (int j = 0; j < d; j++)
                for (int i = 0; i < d; i++) W[i + d * j] += size * x[i] * x[j];
        }
    }
}

/* Condition up to 10⁴, with random axes. */
static inline void block_uneven(dls_random *g, int d, double *W) {
    memset(W, 0, sizeof(double) * (size_t)(d * d));
    for (int k = 0; k <= d; k++) {
        double x[4], size = exp(dls_random_between(g, -9.2, 0));
        for (int i = 0; i < d; i++) x[i] = dls_random_normal(g);
        for (int j = 0; j < d; j++)
            for (int i = 0; i < d; i++) W[i + d * j] += size * x[i] * x[j];
    }
}

static inline void block_velocity(int d, const double *W, const double *b, const double *r, double *u) {
    for (int i = 0; i < d; i++) u[i] = b[i];
    small_multiply_add(d, W, r, u);
}

/* Natural map of one contact with ρ = 1/λmax(W), relative to the terms of u = W r + b. */
static inline double block_residual(int d, const double *W, double mu, const double *b, const double *r) {
    double u[4] = {0}, N[4], w = small_max_eigenvalue(d, W, d);
    block_velocity(d, W, b, r, u);
    cone_natural_map(d, mu, w, r, u, N);
    double size = small_norm(d, b) + w * small_norm(d, r);
    return size > 0 ? small_norm(d, N) / size : 0;
}

#endif
