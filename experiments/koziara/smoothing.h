/* Paper 000: the smoothed law, and points to look at it, for the experiments of sections 4, 6 and A. */
#ifndef EXPERIMENTS_KOZIARA_SMOOTHING_H
#define EXPERIMENTS_KOZIARA_SMOOTHING_H

#include "experiments/reproduce.h"

#include <stdint.h>

enum { ROWS_MAX = 4, FRICTIONS = 4 };

/* The coefficients at which everything is checked. */
extern const double smoothing_mu[FRICTIONS];

typedef struct smoothed {
    double C[ROWS_MAX], X[ROWS_MAX * ROWS_MAX], Y[ROWS_MAX * ROWS_MAX];
} smoothed;

/* C_ω(u, r) of (41) with its derivatives X = ∂C/∂u and Y = ∂C/∂r. */
smoothed smoothed_law(int d, double mu, double rho, double omega, const double *r, const double *u);
/* m_ω(z) of (30), with Y its gradient. */
smoothed smoothed_projection(int d, double mu, double omega, const double *z);

/* λ₁ and λ₂ of (20). */
void spectral_values(int d, double mu, const double *z, double lambda[2]);
/* ġ(λ/w) of (34). */
double smoothed_slope(double lambda, double w);
double tangential_norm(int d, const double *z);

/* Numbers that are the same on every machine. */
typedef struct random_source {
    uint64_t state;
} random_source;

double random_between(random_source *s, double low, double high);
/* Uniform in the cube of the given half side. */
void random_vector(random_source *s, int d, double half_side, double *z);

double vector_distance(int n, const double *a, const double *b);
/* max |a_i − b_i| */
double largest_difference(int n, const double *a, const double *b);

#endif
