#include "solve/global/smoothing.h"

#include "base/error.h"
#include "base/small.h"

#include <delassus/law.h>
#include <delassus/problem.h>

enum { MOST_ROWS = 4 };

/* (λ + √(λ² + 4w²))/2 → max(0, λ), without cancellation for λ < 0; slope is its derivative. */
static double smooth_max(double lambda, double w, double *slope) {
    double root = hypot(lambda, 2 * w);
    *slope = root > 0 ? 0.5 * (1 + lambda / root) : 0.5;
    if (lambda >= 0) return 0.5 * (lambda + root);
    return root > 0 ? 2 * w * w / (root - lambda) : 0;
}

/* m_ω(z) = g₁ u₁ + g₂ u₂ over the spectral vectors of z, and its gradient (20)–(38). */
static void smoothed_polar(int d, double mu, double w, const double *z, double *m, double *gradient) {
    double t = small_norm(d - 1, z + 1), slope1, slope2, scale = 1 / (1 + mu * mu);
    double l1 = -(z[0] + mu * t) * scale, l2 = (t - mu * z[0]) * scale;
    double g1 = smooth_max(l1, w, &slope1), g2 = smooth_max(l2, mu * w, &slope2);
    m[0] = -g1 - mu * g2;
    for (int i = 1; i < d; i++) m[i] = t > 0 ? (g2 - mu * g1) * z[i] / t : 0;
    if (!gradient) return;
    double below = hypot(l2, 2 * mu * w) + mu * hypot(l1, 2 * w);
    double a = below > 0 ? 0.5 * (1 + (l2 + mu * l1) / below) : 1;
    double b = (mu * mu * slope1 + slope2) * scale, c = mu * (slope1 - slope2) * scale;
    double n = (slope1 + mu * mu * slope2) * scale;
    if (!(t > 0)) { /* the limits: isotropic with friction, full tangential slope without */
        a = b = mu > 0 ? slope1 : 1;
        n = slope1;
        c = 0;
    }
    for (int k = 0; k < d * d; k++) gradient[k] = 0;
    gradient[0] = n;
    for (int i = 1; i < d; i++) {
        double ei = t > 0 ? z[i] / t : 0;
        gradient[i] = gradient[d * i] = c * ei;
        gradient[i + d * i] = a;
        for (int j = 1; j < d; j++) gradient[i + d * j] += t > 0 ? (b - a) * ei * z[j] / t : 0;
    }
}

void dls_smoothed_law(int d, double mu, double rho, double omega, const double *r, const double *u, double *C,
                      double *X, double *Y) {
    double F[SMALL_MAX], z[SMALL_MAX], m[SMALL_MAX];
    double slip = small_norm(d - 1, u + 1), root = hypot(slip, omega);
    double lift = root > 0 ? slip * slip / (root + omega) : 0; /* √(|u_t|² + ω²) − ω */
    F[0] = rho * (u[0] + mu * lift);
    for (int i = 1; i < d; i++) F[i] = rho * u[i];
    for (int i = 0; i < d; i++) z[i] = r[i] - F[i];
    smoothed_polar(d, mu, rho * omega, z, m, Y);
    for (int i = 0; i < d; i++) C[i] = F[i] + m[i];
    if (!X) return;
    for (int j = 0; j < d; j++) /* (I − Y) ∂F/∂u, where ∂F/∂u = ρ (I + μ n u_tᵀ/root) */
        for (int i = 0; i < d; i++) {
            double column = j > 0 && root > 0 ? mu * u[j] / root : 0;
            X[i + d * j] = rho * ((i == j) - Y[i + d * j] + column * ((i == 0) - Y[i]));
        }
}

/* ---- for users ---- */

static dls_status check_contact(int d, double mu, double rho, double omega, const double *r, const double *u,
                                dls_error *error) {
    if (d < 2 || d > MOST_ROWS)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "smoothed contact: %d rows, expected 2, 3 or 4", d);
    if (!isfinite(mu) || mu < 0)
        return dls_fail(error, DLS_ERROR_INPUT, "smoothed contact: mu is %g, expected 0 or more", mu);
    if (!isfinite(rho) || rho <= 0)
        return dls_fail(error, DLS_ERROR_INPUT, "smoothed contact: rho is %g, expected more than 0", rho);
    if (!isfinite(omega) || omega < 0)
        return dls_fail(error, DLS_ERROR_INPUT, "smoothed contact: omega is %g, expected 0 or more", omega);
    for (int i = 0; i < d; i++)
        if (!isfinite(r[i]) || !isfinite(u[i]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "smoothed contact: r[%d] = %g, u[%d] = %g, expected numbers", i, r[i], i, u[i]);
    return DLS_OK;
}

dls_status dls_smoothed_contact(int d, double mu, double rho, double omega, const double *r, const double *u,
                                double *C, double *X, double *Y, dls_error *error) {
    dls_error_clear(error);
    if (!r || !u || !C)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "smoothed contact: r, u or C is NULL, expected vectors");
    dls_status status = check_contact(d, mu, rho, omega, r, u, error);
    if (status) return status;
    enum { ENTRIES = MOST_ROWS * MOST_ROWS };
    double unwanted_X[ENTRIES], unwanted_Y[ENTRIES];
    dls_smoothed_law(d, mu, rho, omega, r, u, C, X ? X : unwanted_X, Y ? Y : unwanted_Y);
    return DLS_OK;
}
