/* The second-order cone L = {x: |x̄| ≤ x₀} and its Jordan algebra, for the interior-point method; m = 1 … 4.
 */
#ifndef SOLVE_GLOBAL_LORENTZ_H
#define SOLVE_GLOBAL_LORENTZ_H

#include "base/small.h"

#include <assert.h>

/* Nesterov–Todd scaling of a pair x, z in the interior: V = β(2vvᵀ − J), V²x = z, λ = Vx = V⁻¹z. Near the
 * edge of the cone λ₀² − |λ̄|² has no digit left, so that det λ = √(det x det z) is kept beside λ. */
typedef struct lorentz_scaling {
    double beta, determinant;
    double v[4], lambda[4];
} lorentz_scaling;

static inline double lorentz_determinant(int m, const double *x) {
    double t = small_norm(m - 1, x + 1);
    return (x[0] - t) * (x[0] + t);
}

/* y = (2vvᵀ − J) x, J = diag(1, −1, −1 …). */
static inline void lorentz_reflect(int m, const double *v, const double *x, double *y) {
    double twice = 2 * small_dot(m, v, x);
    y[0] = twice * v[0] - x[0];
    for (int i = 1; i < m; i++) y[i] = twice * v[i] + x[i];
}

/* y = V x */
static inline void lorentz_scale(int m, const lorentz_scaling *s, const double *x, double *y) {
    lorentz_reflect(m, s->v, x, y);
    for (int i = 0; i < m; i++) y[i] *= s->beta;
}

/* y = V⁻¹ x = J (2vvᵀ − J) J x / β */
static inline void lorentz_unscale(int m, const lorentz_scaling *s, const double *x, double *y) {
    double mirrored[4];
    mirrored[0] = s->v[0];
    for (int i = 1; i < m; i++) mirrored[i] = -s->v[i];
    lorentz_reflect(m, mirrored, x, y);
    for (int i = 0; i < m; i++) y[i] /= s->beta;
}

/* False when x or z is not in the interior. */
static inline bool lorentz_scaling_make(int m, const double *x, const double *z, lorentz_scaling *s) {
    double det_x = lorentz_determinant(m, x), det_z = lorentz_determinant(m, z), w[4];
    if (!(det_x > 0) || !(det_z > 0) || !(x[0] > 0) || !(z[0] > 0)) return false;
    double a = 1 / sqrt(det_x), b = 1 / sqrt(det_z); /* x and z divided by them: both on det = 1 */
    double gamma = sqrt(0.5 * (1 + a * b * small_dot(m, x, z)));
    w[0] = (b * z[0] + a * x[0]) / (2 * gamma);
    for (int i = 1; i < m; i++) w[i] = (b * z[i] - a * x[i]) / (2 * gamma);
    double scale = 1 / sqrt(2 * (w[0] + 1));
    s->v[0] = (w[0] + 1) * scale;
    for (int i = 1; i < m; i++) s->v[i] = w[i] * scale;
    s->beta = sqrt(sqrt(det_z / det_x));
    s->determinant = sqrt(det_x) * sqrt(det_z);
    double size = sqrt(s->determinant), share = size / (a * x[0] + b * z[0] + 2 * gamma);
    s->lambda[0] = size * gamma;
    for (int i = 1; i < m; i++)
        s->lambda[i] = share * ((gamma + b * z[0]) * a * x[i] + (gamma + a * x[0]) * b * z[i]);
    return true;
}

/* z = x ∘ y */
static inline void lorentz_product(int m, const double *x, const double *y, double *z) {
    z[0] = small_dot(m, x, y);
    for (int i = 1; i < m; i++) z[i] = x[0] * y[i] + y[0] * x[i];
}

/* y with x ∘ y = d, x in the interior, det x from the caller. */
static inline void lorentz_divide(int m, const double *x, double determinant, const double *d, double *y) {
    assert(x[0] > 0 && determinant > 0);
    y[0] = (x[0] * d[0] - small_dot(m - 1, x + 1, d + 1)) / determinant;
    for (int i = 1; i < m; i++) y[i] = (d[i] - y[0] * x[i]) / x[0];
}

/* The largest t ≤ limit with x + t d in the cone, x in the interior. */
static inline double lorentz_step(int m, const double *x, const double *d, double limit) {
    assert(x[0] > 0 && lorentz_determinant(m, x) > 0);
    double a = d[0] * d[0] - small_dot(m - 1, d + 1, d + 1);
    double b = x[0] * d[0] - small_dot(m - 1, x + 1, d + 1), c = lorentz_determinant(m, x);
    double t = limit;
    if (m == 1) return d[0] < 0 ? fmin(t, -x[0] / d[0]) : t;
    double disc = b * b - a * c;
    if (d[0] < 0) t = fmin(t, -x[0] / d[0]);
    if (disc >= 0) {
        double q = -(b + (b < 0 ? -1 : 1) * sqrt(disc));
        double roots[2] = {a != 0 ? q / a : limit, q != 0 ? c / q : limit};
        for (int k = 0; k < 2; k++)
            if (roots[k] > 0) t = fmin(t, roots[k]);
    }
    return t;
}

#endif
