/* The friction cone of one contact. K_μ = {|r_t| ≤ μ r_n}, of one part, is generic in d and inlined for
 * constant d; cones with parts, K = {r_n ≥ 0, |r_k| ≤ μ_k r_n for each part k}, hold it as a special case. */
#ifndef PROBLEM_CONE_H
#define PROBLEM_CONE_H

#include "base/small.h"

#include <delassus/problem.h>

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

/* Whether r − ρ ũ lies in the polar cone, z_n + μ|z_t| ≤ 0, so that its projection is 0. */
static inline bool cone_is_open(int d, double mu, double w, const double *r, const double *u) {
    double z[DLS_MAX_BLOCK];
    for (int i = 0; i < d; i++) z[i] = w * r[i] - u[i];
    return mu * small_norm(d - 1, z + 1) <= mu * small_norm(d - 1, u + 1) - z[0];
}

/* ---- cones with parts ---- */

enum { CONE_PARTS = 3 };

/* Σ μ_k |u_k|: what De Saxcé's form adds to u_n. */
static inline double parts_lift(const dls_cone *cone, const double *u) {
    double sum = 0;
    for (int k = 0, at = 1; k < cone->count; at += cone->size[k++])
        sum += cone->mu[k] * small_norm(cone->size[k], u + at);
    return sum;
}

/* Where the nearest point of K lies: its normal number n, 0 at the apex, and which parts are cut to μ_k n. */
typedef struct parts_place {
    double n, length[CONE_PARTS]; /* |z_k| */
    bool cut[CONE_PARTS];
} parts_place;

/* n minimises ½(n − z_n)² + ½ Σ max(0, |z_k| − μ_k n)²: parts are cut in the order of falling |z_k|/μ_k, and
 * n = (z_n + Σ μ_k |z_k|)/(1 + Σ μ_k²) over those that are. */
static inline void parts_find(const dls_cone *cone, const double *z, parts_place *place) {
    double sum = z[0], weight = 1;
    for (int k = 0, at = 1; k < cone->count; at += cone->size[k++]) {
        place->length[k] = small_norm(cone->size[k], z + at);
        place->cut[k] = false;
    }
    for (int left = cone->count; left > 0; left--) {
        int next = -1;
        for (int k = 0; k < cone->count; k++) {
            if (place->cut[k] || place->length[k] * weight <= cone->mu[k] * sum) continue; /* NaN is cut */
            if (next < 0 || place->length[k] * cone->mu[next] > place->length[next] * cone->mu[k]) next = k;
        }
        if (next < 0) break;
        place->cut[next] = true;
        sum += cone->mu[next] * place->length[next];
        weight += cone->mu[next] * cone->mu[next];
    }
    place->n = sum <= 0 ? 0 : sum / weight; /* NaN stays */
}

/* z ← nearest point of K. */
static inline void parts_project(const dls_cone *cone, double *z) {
    parts_place place;
    parts_find(cone, z, &place);
    for (int k = 0, at = 1; k < cone->count; at += cone->size[k++]) {
        if (!place.cut[k] && place.n != 0) continue;
        double share = place.n != 0 ? cone->mu[k] * place.n / place.length[k] : 0;
        for (int i = at; i < at + cone->size[k]; i++) z[i] *= share;
    }
    z[0] = place.n;
}

/* N as above, with ũ = u + (Σ μ_k |u_k|) n: what is cut moves by s_k = |z_k| − μ_k n, and n by Σ μ_k s_k. */
static inline void parts_natural_map(const dls_cone *cone, double w, const double *r, const double *u,
                                     double *N) {
    double z[DLS_MAX_BLOCK] = {0}, rho = 1 / w;
    parts_place place;
    N[0] = u[0] + parts_lift(cone, u);
    for (int i = 1; i < cone->d; i++) N[i] = u[i];
    for (int i = 0; i < cone->d; i++) z[i] = r[i] - rho * N[i];
    parts_find(cone, z, &place);
    if (place.n == 0) {
        for (int i = 0; i < cone->d; i++) N[i] = r[i] * w;
        return;
    }
    for (int k = 0, at = 1; k < cone->count; at += cone->size[k++]) {
        if (!place.cut[k]) continue;
        double s = w * (place.length[k] - cone->mu[k] * place.n);
        N[0] -= cone->mu[k] * s;
        for (int i = at; i < at + cone->size[k]; i++) N[i] += s * z[i] / place.length[k];
    }
}

/* As above: z_n + Σ μ_k |z_k| ≤ 0. */
static inline bool parts_is_open(const dls_cone *cone, double w, const double *r, const double *u) {
    double z[DLS_MAX_BLOCK] = {0};
    for (int i = 0; i < cone->d; i++) z[i] = w * r[i] - u[i];
    return parts_lift(cone, z) <= parts_lift(cone, u) - z[0];
}

#endif
