/* Paper 000, appendix A: the gradient of the smoothed projection onto the polar cone,
 *
 *     ∇h = [ d  c eᵀ ; c e  aI + (b − a) e eᵀ ],   e = z_T/|z_T|, normal row first                      (65)
 *
 * its limit ġ(λ₁) I at z_T = 0, and that it is positive definite: its eigenvalues are ġ₁, ġ₂ and a. */
#include "cli/support/csv.h"
#include "cli/support/report.h"
#include "experiments/koziara/smoothing.h"

#include <math.h>
#include <string.h>

enum { D = 3, SAMPLES = 20000 };

/* The four numbers of (65), read off a gradient or taken from the printed formulas. */
typedef struct entries {
    double a, b, c, d;
} entries;

static entries read_entries(const double *Y, const double *z) {
    double t = tangential_norm(D, z), e[] = {z[1] / t, z[2] / t}, f[] = {-e[1], e[0]};
    entries n = {0, 0, Y[1] * e[0] + Y[2] * e[1], Y[0]};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            n.a += f[i] * Y[(i + 1) + D * (j + 1)] * f[j];
            n.b += e[i] * Y[(i + 1) + D * (j + 1)] * e[j];
        }
    return n;
}

static long double smooth(long double x) { return 0.5L * (sqrtl(x * x + 4) + x); } /* (25) */

/* (28), (29) as printed, in more digits, because their quotient cancels. */
static entries printed_entries(double mu, double omega, const double lambda[2]) {
    long double first = (long double)lambda[0] / omega,
                second = (long double)lambda[1] / ((long double)mu * omega);
    double g1 = smoothed_slope(lambda[0], omega), g2 = smoothed_slope(lambda[1], mu * omega),
           below = 1 + mu * mu;
    return (entries){(double)((smooth(second) - smooth(first)) / (second - first)),
                     (mu * mu * g1 + g2) / below, mu * (g1 - g2) / below, (g1 + mu * mu * g2) / below};
}

/* ---- measurements -------------------------------------------------------------------------------------- */

typedef struct polar_checks {
    double asymmetry, formulas, determinant, homogeneity, limit, at_zero, differences;
    double least, largest; /* eigenvalues */
} polar_checks;

static void check_eigenvalues(polar_checks *c, const entries *n) {
    double half = 0.5 * (n->b + n->d), root = hypot(0.5 * (n->b - n->d), n->c);
    c->least = fmin(c->least, fmin(n->a, half - root));
    c->largest = fmax(c->largest, fmax(n->a, half + root));
}

/* (56): the gradient depends on z/ω alone, the projection scales with ω. */
static double scaling_error(double mu, double omega, const double *z, const smoothed *s) {
    double scaled[D], m[D];
    for (int i = 0; i < D; i++) scaled[i] = z[i] / omega;
    smoothed h = smoothed_projection(D, mu, 1, scaled);
    for (int i = 0; i < D; i++) m[i] = s->C[i] / omega;
    return fmax(largest_difference(D * D, h.Y, s->Y),
                largest_difference(D, h.C, m) / (1 + vector_distance(D, m, (double[D]){0})));
}

static void check_point(polar_checks *c, double mu, double omega, const double *z) {
    smoothed s = smoothed_projection(D, mu, omega, z);
    double lambda[2];
    spectral_values(D, mu, z, lambda);
    entries ours = read_entries(s.Y, z), printed = printed_entries(mu, omega, lambda);
    c->formulas = fmax(c->formulas, largest_difference(4, &ours.a, &printed.a));
    double product = smoothed_slope(lambda[0], omega) * smoothed_slope(lambda[1], mu * omega);
    c->determinant = fmax(c->determinant, fabs(ours.b * ours.d - ours.c * ours.c - product));
    c->homogeneity = fmax(c->homogeneity, scaling_error(mu, omega, z, &s));
    check_eigenvalues(c, &ours);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < i; j++) c->asymmetry = fmax(c->asymmetry, fabs(s.Y[i + D * j] - s.Y[j + D * i]));
}

/* Across z_T = 0 only the first derivative is continuous unless μ is 1, so a difference is off by about its
 * step. */
static double axis_difference_error(double mu, double omega, double normal, double slope) {
    const double step = 1e-7 * omega;
    double worst = 0;
    for (int j = 0; j < D; j++) {
        double low[D] = {normal, 0, 0}, high[D] = {normal, 0, 0}, expected[D] = {0}, difference[D];
        low[j] -= step;
        high[j] += step;
        expected[j] = slope;
        smoothed a = smoothed_projection(D, mu, omega, low), b = smoothed_projection(D, mu, omega, high);
        for (int i = 0; i < D; i++) difference[i] = (b.C[i] - a.C[i]) / (high[j] - low[j]);
        worst = fmax(worst, largest_difference(D, difference, expected));
    }
    return worst;
}

/* (27), (66): on the axis of the cone, and just beside it. */
static void check_axis(polar_checks *c, double mu, double omega, double normal) {
    const double on_axis[D] = {normal, 0, 0}, beside[D] = {normal, 3e-9 * omega, 4e-9 * omega};
    double slope = smoothed_slope(-normal / (1 + mu * mu), omega), expected[D * D] = {0};
    for (int i = 0; i < D; i++) expected[i + D * i] = slope;
    smoothed there = smoothed_projection(D, mu, omega, on_axis),
             near = smoothed_projection(D, mu, omega, beside);
    c->at_zero = fmax(c->at_zero, largest_difference(D * D, there.Y, expected));
    if (fabs(normal) < omega)
        c->differences = fmax(c->differences, axis_difference_error(mu, omega, normal, slope));
    c->limit = fmax(c->limit, largest_difference(D * D, near.Y, expected));
}

/* ---- the experiment ------------------------------------------------------------------------------------ */

static void claim_polar(claim_list *list, const polar_checks *c, double mu) {
    claim_equal(list, CLAIM_PRINTED, "1", 0, c->formulas, 1e-13, "(28), (29), (63)–(65): a, b, c, d, μ = %g",
                mu);
    claim_equal(list, CLAIM_PRINTED, "1", 0, c->asymmetry, 1e-15, "(65) is symmetric, μ = %g", mu);
    claim_equal(list, CLAIM_PRINTED, "1", 0, c->determinant, 1e-14, "bd − c² is ġ₁ġ₂, μ = %g", mu);
    claim_bound(list, CLAIM_DERIVED, "1", CLAIM_AT_LEAST, 1e-6, c->least,
                "positive definite: least eigenvalue up to |z| = 173 ω, μ = %g", mu);
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, 1, c->largest,
                "(26) ġ < 1: largest eigenvalue, μ = %g", mu);
    claim_equal(list, CLAIM_PRINTED, "1", 0, c->homogeneity, 1e-12, "(56): ω h(z/ω) and its gradient, μ = %g",
                mu);
    claim_equal(list, CLAIM_PRINTED, "1", 0, c->at_zero, 1e-15, "(27) at z_T = 0 is ġ(λ₁/ω) I, μ = %g", mu);
    claim_equal(list, CLAIM_PRINTED, "1", 0, c->differences, 1e-6,
                "(66): against differences across z_T = 0, μ = %g", mu);
    claim_equal(list, CLAIM_PRINTED, "1", 0, c->limit, 1e-8, "(66): its limit as z_T → 0, μ = %g", mu);
}

/* Without friction there is no second smoothing: a = b = 1, c = 0, d = ġ₁. */
static double frictionless_error(random_source *s) {
    double worst = 0, z[D];
    for (int i = 0; i < SAMPLES; i++) {
        double omega = pow(10, random_between(s, -11, 0)), lambda[2];
        random_vector(s, D, 30 * omega, z);
        spectral_values(D, 0, z, lambda);
        entries ours = read_entries(smoothed_projection(D, 0, omega, z).Y, z);
        entries expected = {1, 1, 0, smoothed_slope(lambda[0], omega)};
        worst = fmax(worst, largest_difference(4, &ours.a, &expected.a));
    }
    return worst;
}

/* Eigenvalues around a half circle from the axis of the cone to that of the polar cone. */
static bool draw_eigenvalues(experiment_run *run) {
    enum { POINTS = 181 };
    const double mu = 0.5, omega = 0.05, degree = M_PI / 180;
    double x[POINTS], y[3][POINTS];
    for (int i = 0; i < POINTS; i++) {
        const double angle = (180.0 * i / (POINTS - 1)) * degree;
        const double z[D] = {cos(angle), sin(angle), 0}, beside[D] = {z[0], fmax(z[1], 1e-9), 0};
        double lambda[2];
        spectral_values(D, mu, z, lambda);
        x[i] = angle / degree;
        y[0][i] = smoothed_slope(lambda[0], omega);
        y[1][i] = smoothed_slope(lambda[1], mu * omega);
        y[2][i] = read_entries(smoothed_projection(D, mu, omega, beside).Y, beside).a;
    }
    const figure_series series[] = {{"ġ_{1}", x, y[0], POINTS, FIGURE_LINE, 1},
                                    {"ġ_{2}", x, y[1], POINTS, FIGURE_LINE, 2},
                                    {"a", x, y[2], POINTS, FIGURE_LINE, 3}};
    const figure_mark marks[] = {{"friction cone", false, atan(mu) / degree},
                                 {"polar cone", false, 90 + atan(mu) / degree}};
    const figure f = {.title = "Eigenvalues of ∇m_{ω} for μ = 0.5, |z| = 20 ω",
                      .x = {"angle of z from the normal, degrees", FIGURE_LINEAR, 0, 180},
                      .y = {"eigenvalue", FIGURE_LINEAR, 0, 1.05},
                      .series = series,
                      .series_count = 3,
                      .marks = marks,
                      .mark_count = 2};
    return run_figure(run, &f, "eigenvalues");
}

static bool run_polar(experiment_run *run) {
    random_source s = {11};
    for (int k = 0; k < FRICTIONS; k++) {
        const double mu = smoothing_mu[k];
        if (mu == 0) continue;
        polar_checks c = {.least = HUGE_VAL};
        for (int i = 0; i < SAMPLES; i++) {
            double omega = pow(10, random_between(&s, -11, 0)), z[D];
            random_vector(&s, D, omega * pow(10, random_between(&s, -2, 2)), z);
            check_point(&c, mu, omega, z);
            check_axis(&c, mu, omega, z[0]);
        }
        claim_polar(&run->claims, &c, mu);
    }
    claim_equal(&run->claims, CLAIM_PRINTED, "1", 0, frictionless_error(&s), 1e-14,
                "section 4.1.1: a = b = 1, c = 0, d = ġ₁ without friction");
    return !*run->folder || draw_eigenvalues(run);
}

const experiment experiment_polar_derivative = {
    .name = "000-A",
    .title = "gradient of the smoothed projection: its entries, its limit, positive definite",
    .has_full = true,
    .run = run_polar,
};
