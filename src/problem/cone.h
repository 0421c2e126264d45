/* The friction cone K_μ = {|r_t| ≤ μ r_n} of one contact, generic in d, inlined for constant d. */
#ifndef PROBLEM_CONE_H
#define PROBLEM_CONE_H

#include "base/small.h"

#include <assert.h>

/* z ← nearest point of K_μ. */
static inline void cone_project(int d, double mu, double *z) {
    assert(d >= 2 && mu >= 0);
    double t = small_norm(d - 1, z + 1);
    if (z[0] >= 0 && t <= mu * z[0]) return;
    if (mu * t <= -z[0]) {
        for (int i = 0; i < d; i++) z[i] = 0;
        return;
    }
    double s = (t - mu * z[0]) / (1 + mu * mu);
    z[0] += mu * s;
    for (int i = 1; i < d; i++) z[i] -= s * z[i] / t;
    if (mu == 0) /* the cone is a ray: leave no rounding beside it */
        for (int i = 1; i < d; i++) z[i] = 0;
}

/* N = (r − proj_K(r − ρ ũ))/ρ with ũ = u + μ|u_t| n and 1/ρ = w: the error of one contact as a velocity.
 * Each branch of the projection is subtracted by hand, so that no digit of ũ drowns in a large r. */
static inline void cone_natural_map(int d, double mu, double w, const double *r, const double *u, double *N) {
    assert(d >= 2 && d <= SMALL_MAX && mu >= 0);
    double z[SMALL_MAX], rho = 1 / w;
    N[0] = u[0] + mu * small_norm(d - 1, u + 1);
    z[0] = r[0] - rho * N[0];
    for (int i = 1; i < d; i++) {
        N[i] = u[i];
        z[i] = r[i] - rho * N[i];
    }
    double t = small_norm(d - 1, z + 1);
    if (z[0] >= 0 && t <= mu * z[0]) return;
    if (mu * t <= -z[0]) {
        for (int i = 0; i < d; i++) N[i] = r[i] * w;
        return;
    }
    double s = w * (t - mu * z[0]) / (1 + mu * mu);
    N[0] -= mu * s;
    for (int i = 1; i < d; i++) N[i] += s * z[i] / t;
}

#endif
