/* Paper 000, section 4: the smoothed law tends to the law.
 *
 *     m_ω(z) = ω g(λ₁/ω) u₁ + μω g(λ₂/(μω)) u₂,   g(λ) = (λ + √(λ² + 4))/2                        (24), (25)
 *     0 < ω g(λ/ω) − max(0, λ) ≤ ω, so |m_ω − m| ≤ ω (1 + μ²), reached at z = 0 */
#include "experiments/koziara/smoothing.h"

#include "cli/support/csv.h"
#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double smoothing_mu[FRICTIONS] = {0, 0.3, 1, 2};

/* ---- shared with the other experiments of this paper --------------------------------------------------- */

smoothed smoothed_law(int d, double mu, double rho, double omega, const double *r, const double *u) {
    smoothed s;
    dls_error error;
    if (dls_smoothed_contact(d, mu, rho, omega, r, u, s.C, s.X, s.Y, &error))
        exit(report_error("%s", error.message));
    return s;
}

smoothed smoothed_projection(int d, double mu, double omega, const double *z) {
    static const double at_rest[ROWS_MAX];
    return smoothed_law(d, mu, 1, omega, z, at_rest);
}

double tangential_norm(int d, const double *z) {
    double sum = 0;
    for (int i = 1; i < d; i++) sum += z[i] * z[i];
    return sqrt(sum);
}

void spectral_values(int d, double mu, const double *z, double lambda[2]) {
    double t = tangential_norm(d, z);
    lambda[0] = -(z[0] + mu * t) / (1 + mu * mu);
    lambda[1] = (t - mu * z[0]) / (1 + mu * mu);
}

double smoothed_slope(double lambda, double w) {
    return 0.5 * (1 + lambda / sqrt(lambda * lambda + 4 * w * w));
}

/* SplitMix64. */
double random_between(random_source *s, double low, double high) {
    uint64_t x = s->state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return low + (high - low) * (double)(x >> 11) * 0x1p-53;
}

void random_vector(random_source *s, int d, double half_side, double *z) {
    for (int i = 0; i < d; i++) z[i] = random_between(s, -half_side, half_side);
}

double vector_distance(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

double largest_difference(int n, const double *a, const double *b) {
    double worst = 0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

/* ---- points -------------------------------------------------------------------------------------------- */

enum { D = 3, DECADES = 11, SAMPLES = 2000 };

static double omega_at(int decade) { return pow(10, -decade); }

/* In turn: anywhere; on the boundary of K, of the polar cone, and at the apex, moved by about ω. */
static void sample_point(random_source *s, int index, double mu, double omega, double *z) {
    random_vector(s, D, 1, z);
    double t = tangential_norm(D, z), moved[D];
    if (index % 4 == 1) z[0] = mu > 0 ? t / mu : 0;
    if (index % 4 == 2) z[0] = -mu * t;
    if (index % 4 == 3) memset(z, 0, sizeof moved);
    random_vector(s, D, 3 * omega, moved);
    for (int i = 0; i < D && index % 8 > 3; i++) z[i] += moved[i];
}

static void polar_projection(double mu, const double *z, double *m) {
    double inside[D];
    memcpy(inside, z, sizeof inside);
    dls_cone_project(D, mu, inside);
    for (int i = 0; i < D; i++) m[i] = z[i] - inside[i];
}

/* ---- measurements -------------------------------------------------------------------------------------- */

typedef struct convergence {
    double largest[FRICTIONS][DECADES + 1]; /* |m_ω − m| over all points */
    double away[FRICTIONS][DECADES + 1];    /* at a point away from both cones */
    double law_ratio;                       /* |C_ω − C| over its bound */
    double projection;                      /* m₀ against z − proj_K(z) */
    double composition;                     /* C_ω against F_ω + m_ω(r − F_ω), relative */
    double frictionless;                    /* |C_T − r_T| at μ = 0 */
} convergence;

/* λ₁ = −1, λ₂ = 1 + μ²: outside both cones. */
static void point_away(double mu, double *z) {
    double t = 1 + mu * mu;
    z[0] = 1 + mu * mu - mu * t;
    z[1] = 0.6 * t;
    z[2] = 0.8 * t;
}

/* F_ω of (39). */
static void smoothed_velocity(double mu, double rho, double omega, const double *u, double *F) {
    double slip = tangential_norm(D, u);
    for (int i = 0; i < D; i++) F[i] = rho * u[i];
    F[0] += rho * mu * (sqrt(slip * slip + omega * omega) - omega);
}

static void measure_law(convergence *c, random_source *s, double mu, double omega, const double *r) {
    double u[D], F[D], z[D], rho = random_between(s, 0.1, 10);
    random_vector(s, D, 1, u);
    smoothed law = smoothed_law(D, mu, rho, omega, r, u), sharp = smoothed_law(D, mu, rho, 0, r, u);
    double bound = rho * omega * (1 + mu + mu * mu);
    if (omega > 1e-9) c->law_ratio = fmax(c->law_ratio, vector_distance(D, law.C, sharp.C) / bound);
    smoothed_velocity(mu, rho, omega, u, F);
    for (int i = 0; i < D; i++) z[i] = r[i] - F[i];
    smoothed m = smoothed_projection(D, mu, rho * omega, z);
    for (int i = 0; i < D; i++) m.C[i] += F[i];
    c->composition = fmax(c->composition, largest_difference(D, m.C, law.C) / (1 + rho));
    if (mu == 0)
        c->frictionless = fmax(c->frictionless, largest_difference(D - 1, law.C + 1, r + 1) / (1 + rho));
}

static void measure_decade(convergence *c, random_source *s, int k, int decade) {
    double mu = smoothing_mu[k], omega = omega_at(decade), z[D], m[D];
    for (int i = 0; i < SAMPLES; i++) {
        sample_point(s, i, mu, omega, z);
        polar_projection(mu, z, m);
        smoothed s_m = smoothed_projection(D, mu, omega, z), sharp = smoothed_projection(D, mu, 0, z);
        c->largest[k][decade] = fmax(c->largest[k][decade], vector_distance(D, s_m.C, m));
        c->projection = fmax(c->projection, largest_difference(D, sharp.C, m));
        measure_law(c, s, mu, omega, z);
    }
    point_away(mu, z);
    polar_projection(mu, z, m);
    c->away[k][decade] = vector_distance(D, smoothed_projection(D, mu, omega, z).C, m);
}

/* ---- claims -------------------------------------------------------------------------------------------- */

/* Powers of ten that the error loses per power of ten of ω. */
static double order(const double *errors, int from, int to) {
    return log10(errors[from] / errors[to]) / (to - from);
}

static void claim_convergence(claim_list *list, const convergence *c) {
    claim_equal(list, CLAIM_PRINTED, "N s", 0, c->projection, 1e-14,
                "(18), (23): m is what the projection onto the cone leaves");
    for (int k = 0; k < FRICTIONS; k++) {
        double mu = smoothing_mu[k], bound = 1 + mu * mu, ratio = 0;
        for (int n = 1; n <= DECADES; n++) ratio = fmax(ratio, c->largest[k][n] / omega_at(n) / bound);
        claim_equal(list, CLAIM_DERIVED, "1", 1, ratio, 1e-8, "largest |m_ω − m| over ω(1 + μ²), μ = %g", mu);
        claim_equal(list, CLAIM_PRINTED, "1", 1, order(c->largest[k], 1, DECADES), 1e-8,
                    "m_ω → m as ω → 0: order over all points, μ = %g", mu);
        claim_equal(list, CLAIM_DERIVED, "1", 2, order(c->away[k], 2, 5), 1e-3,
                    "order away from the kinks, μ = %g", mu);
    }
    claim_bound(list, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1, c->law_ratio, "|C_ω − C| over ρω(1 + μ + μ²)");
    claim_equal(list, CLAIM_PRINTED, "1", 0, c->composition, 1e-13, "(39), (41): C_ω is F_ω + m_ω(R − F_ω)");
    claim_equal(list, CLAIM_PRINTED, "1", 0, c->frictionless, 1e-14, "(33): C_T is R_T without friction");
}

/* ---- tables and figures -------------------------------------------------------------------------------- */

static bool write_table(experiment_run *run, const convergence *c) {
    output_file out;
    if (!run_table_open(run, "smoothing", &out)) return false;
    fputs("mu,omega,largest_error,bound,error_away_from_kinks\n", out.stream);
    for (int k = 0; k < FRICTIONS; k++)
        for (int n = 1; n <= DECADES; n++) {
            fprintf(out.stream, "%g", smoothing_mu[k]);
            csv_real(out.stream, omega_at(n));
            csv_real(out.stream, c->largest[k][n]);
            csv_real(out.stream, omega_at(n) * (1 + smoothing_mu[k] * smoothing_mu[k]));
            csv_real(out.stream, c->away[k][n]);
            fputc('\n', out.stream);
        }
    return output_file_commit(&out);
}

/* ω g(λ/ω), which is the normal part of m_ω(−λ n) without friction. */
static bool draw_smoothing(experiment_run *run) {
    enum { POINTS = 201, CURVES = 4 };
    static const double omegas[CURVES] = {1, 0.5, 0.2, 0};
    static const char *const names[CURVES] = {"ω = 1", "ω = 0.5", "ω = 0.2", "max(0, λ)"};
    double x[POINTS], y[CURVES][POINTS];
    figure_series series[CURVES];
    for (int k = 0; k < CURVES; k++) {
        for (int i = 0; i < POINTS; i++) {
            x[i] = -4 + 8.0 * i / (POINTS - 1);
            const double z[D] = {-x[i], 0, 0};
            y[k][i] = -smoothed_projection(D, 0, omegas[k], z).C[0];
        }
        series[k] = (figure_series){names[k], x, y[k], POINTS, FIGURE_LINE, (unsigned)k + 1};
    }
    series[CURVES - 1].style = FIGURE_PLAIN;
    series[CURVES - 1].look = FIGURE_LOOK_BLACK;
    figure f = {.title = "The smoothing (24), (25)",
                .x = {"spectral value λ", FIGURE_LINEAR, -4, 4},
                .y = {"ω g(λ/ω)", FIGURE_LINEAR, 0, 4.5},
                .series = series,
                .series_count = CURVES};
    return run_figure(run, &f, "smoothing");
}

static bool draw_convergence(experiment_run *run, const convergence *c) {
    static const char *const names[FRICTIONS] = {"μ = 0", "μ = 0.3", "μ = 1", "μ = 2"};
    double x[DECADES];
    figure_series series[FRICTIONS + 1];
    for (int n = 0; n < DECADES; n++) x[n] = omega_at(n + 1);
    for (int k = 0; k < FRICTIONS; k++)
        series[k] = (figure_series){names[k], x, c->largest[k] + 1, DECADES, FIGURE_LINE, (unsigned)k + 1};
    series[FRICTIONS] =
        (figure_series){"μ = 0.3, away from kinks", x, c->away[1] + 1, DECADES, FIGURE_LINE, 5};
    figure f = {.title = "Distance to the law without smoothing",
                .x = {"ω", FIGURE_LOG, 1e-11, 1e-1},
                .y = {"largest |m_{ω} − m|", FIGURE_LOG, 1e-17, 1},
                .series = series,
                .series_count = FRICTIONS + 1};
    return run_figure(run, &f, "convergence");
}

/* ---- the experiment ------------------------------------------------------------------------------------ */

static bool run_smoothing(experiment_run *run) {
    convergence c = {.law_ratio = 0};
    random_source s = {4};
    for (int k = 0; k < FRICTIONS; k++)
        for (int n = 1; n <= DECADES; n++) measure_decade(&c, &s, k, n);
    claim_convergence(&run->claims, &c);
    return !*run->folder || (write_table(run, &c) && draw_smoothing(run) && draw_convergence(run, &c));
}

const experiment experiment_smoothing = {
    .name = "000-4",
    .title = "the smoothed law tends to the law",
    .has_full = true,
    .run = run_smoothing,
};
