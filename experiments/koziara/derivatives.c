/* Paper 000, section 6 and appendix A: the derivative blocks against finite differences.
 *
 *     dC_ω = X dU + Y dR,   X = (I − ∂m_ω/∂S) ∂F_ω/∂U,   Y = ∂m_ω/∂S                              (42)–(44)
 *     ∇C_ω = X W + Y                                                                               (49)
 *
 * Differences of fourth order, f′ ≈ (8(f₁ − f₋₁) − (f₂ − f₋₂))/(12 step), with a step of 1e-3 of the distance
 * over which the law bends: its error is about 1e-11 of the derivative. Points are taken in two regimes: of
 * the size of ω, where smoothing shapes everything, and of unit size away from the kinks, where none of it
 * should be left. */
#include "cli/support/csv.h"
#include "cli/support/report.h"
#include "experiments/koziara/smoothing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OMEGAS = 6, SAMPLES = 100, LEAST_ROWS = 2 };

static const double omegas[OMEGAS] = {1e-1, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11};
static const double relative_step = 1e-3;

typedef enum regime { AT_OMEGA, AWAY, REGIMES } regime;

static const char *const regime_names[REGIMES] = {"size ω", "unit size"};

/* One contact at one point. */
typedef struct place {
    int d;
    double mu, rho, omega;
    double r[ROWS_MAX], u[ROWS_MAX];
    double bend; /* velocity over which the law bends; times ρ, an impulse */
} place;

/* ---- differences --------------------------------------------------------------------------------------- */

static smoothed law_at(const place *p) { return smoothed_law(p->d, p->mu, p->rho, p->omega, p->r, p->u); }

/* C at r + a dr, u + a du. */
static void shifted(const place *p, double a, const double *dr, const double *du, double *C) {
    place q = *p;
    for (int i = 0; i < p->d; i++) {
        q.r[i] += a * dr[i];
        q.u[i] += a * du[i];
    }
    smoothed s = law_at(&q);
    memcpy(C, s.C, sizeof s.C);
}

static void difference(const place *p, double step, const double *dr, const double *du, double *slope) {
    double far[2][ROWS_MAX], close[2][ROWS_MAX];
    shifted(p, -2 * step, dr, du, far[0]);
    shifted(p, 2 * step, dr, du, far[1]);
    shifted(p, -step, dr, du, close[0]);
    shifted(p, step, dr, du, close[1]);
    for (int i = 0; i < p->d; i++)
        slope[i] = (8 * (close[1][i] - close[0][i]) - (far[1][i] - far[0][i])) / (12 * step);
}

typedef struct errors {
    double X, Y; /* X against ρ(1 + μ), Y against 1: about the largest that they can be */
} errors;

static errors block_errors(const place *p) {
    smoothed s = law_at(p);
    errors e = {0, 0};
    const double zero[ROWS_MAX] = {0};
    for (int j = 0; j < p->d; j++) {
        double unit[ROWS_MAX] = {0}, slope[ROWS_MAX];
        unit[j] = 1;
        difference(p, relative_step * p->bend, zero, unit, slope);
        e.X = fmax(e.X, largest_difference(p->d, slope, s.X + p->d * j) / (p->rho * (1 + p->mu)));
        difference(p, relative_step * p->rho * p->bend, unit, zero, slope);
        e.Y = fmax(e.Y, largest_difference(p->d, slope, s.Y + p->d * j));
    }
    return e;
}

/* (49) along a random direction, W symmetric positive definite: relative to |X W + Y| |dR|. */
static double chain_error(const place *p, random_source *s) {
    int d = p->d;
    double A[ROWS_MAX * ROWS_MAX], W[ROWS_MAX * ROWS_MAX] = {0}, dr[ROWS_MAX], du[ROWS_MAX] = {0},
                                                slope[ROWS_MAX];
    random_vector(s, d * d, 1, A);
    random_vector(s, d, 1, dr);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            for (int k = 0; k < d; k++) W[i + d * j] += A[i + d * k] * A[j + d * k] / p->rho;
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) du[i] += W[i + d * j] * dr[j];
    difference(p, relative_step * p->rho * p->bend / d, dr, du, slope);
    smoothed law = law_at(p);
    double expected[ROWS_MAX] = {0}, size = 1;
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            expected[i] += law.X[i + d * j] * du[j] + law.Y[i + d * j] * dr[j];
            size = fmax(size, fabs(expected[i]));
        }
    return largest_difference(d, slope, expected) / size;
}

/* ---- points -------------------------------------------------------------------------------------------- */

static void law_point(const place *p, double slip, double *z) {
    for (int i = 0; i < p->d; i++) z[i] = p->r[i] - p->rho * (p->u[i] + (i == 0 ? p->mu * slip : 0));
}

/* Distance from the kinks of the law without smoothing: of |u_t|, of |z_t|, and of both cones. */
static double kink_distance(const place *p) {
    double z[ROWS_MAX], lambda[2], slip = tangential_norm(p->d, p->u);
    law_point(p, slip, z);
    spectral_values(p->d, p->mu, z, lambda);
    double from_cones = fmin(fabs(lambda[0]), p->mu > 0 ? fabs(lambda[1]) : HUGE_VAL);
    return fmin(fmin(slip, tangential_norm(p->d, z) / p->rho), from_cones / p->rho);
}

/* ω, or less near z_T = 0, where the second derivative of m_ω jumps unless μ is 1. */
static double smooth_distance(const place *p) {
    double z[ROWS_MAX];
    law_point(p, 0, z);
    return fmin(p->omega, tangential_norm(p->d, z) / p->rho);
}

static place sample_place(random_source *s, int d, double mu, double omega, regime where) {
    const double clear = where == AT_OMEGA ? 0.02 * omega : 0.1;
    place p = {.d = d, .mu = mu, .omega = omega, .rho = pow(10, random_between(s, -1, 1))};
    do {
        double size = where == AT_OMEGA ? omega * pow(10, random_between(s, -1, 1)) : 1;
        random_vector(s, d, size, p.u);
        random_vector(s, d, p.rho * size, p.r);
        p.bend = where == AT_OMEGA ? smooth_distance(&p) : kink_distance(&p);
    } while (p.bend < clear);
    return p;
}

/* ---- section 6 ----------------------------------------------------------------------------------------- */

typedef struct derivative_table {
    errors worst[REGIMES][FRICTIONS][OMEGAS];
    double chain[FRICTIONS];
} derivative_table;

static void measure_derivatives(derivative_table *t) {
    random_source s = {6};
    for (int where = 0; where < REGIMES; where++)
        for (int k = 0; k < FRICTIONS; k++)
            for (int n = 0; n < OMEGAS; n++)
                for (int i = 0; i < SAMPLES * (ROWS_MAX - LEAST_ROWS + 1); i++) {
                    int d = LEAST_ROWS + i % (ROWS_MAX - LEAST_ROWS + 1);
                    place p = sample_place(&s, d, smoothing_mu[k], omegas[n], (regime)where);
                    errors e = block_errors(&p), *worst = &t->worst[where][k][n];
                    worst->X = fmax(worst->X, e.X);
                    worst->Y = fmax(worst->Y, e.Y);
                    t->chain[k] = fmax(t->chain[k], chain_error(&p, &s));
                }
}

static void claim_derivatives(claim_list *list, const derivative_table *t) {
    const double tolerance = 1e-9;
    for (int where = 0; where < REGIMES; where++)
        for (int k = 0; k < FRICTIONS; k++) {
            errors worst = {0, 0};
            for (int n = 0; n < OMEGAS; n++) {
                worst.X = fmax(worst.X, t->worst[where][k][n].X);
                worst.Y = fmax(worst.Y, t->worst[where][k][n].Y);
            }
            claim_equal(list, CLAIM_PRINTED, "1", 0, worst.X, tolerance,
                        "(43) X against differences, %s, μ = %g", regime_names[where], smoothing_mu[k]);
            claim_equal(list, CLAIM_PRINTED, "1", 0, worst.Y, tolerance,
                        "(44) Y against differences, %s, μ = %g", regime_names[where], smoothing_mu[k]);
        }
    for (int k = 0; k < FRICTIONS; k++)
        claim_equal(list, CLAIM_PRINTED, "1", 0, t->chain[k], tolerance,
                    "(49) XW + Y along a direction, μ = %g", smoothing_mu[k]);
}

static bool write_derivatives(experiment_run *run, const derivative_table *t) {
    output_file out;
    if (!run_table_open(run, "derivatives", &out)) return false;
    fputs("regime,mu,omega,points,error_X,error_Y\n", out.stream);
    for (int where = 0; where < REGIMES; where++)
        for (int k = 0; k < FRICTIONS; k++)
            for (int n = 0; n < OMEGAS; n++) {
                fprintf(out.stream, "%s,%g,%g,%d", regime_names[where], smoothing_mu[k], omegas[n],
                        SAMPLES * (ROWS_MAX - LEAST_ROWS + 1));
                csv_real(out.stream, t->worst[where][k][n].X);
                csv_real(out.stream, t->worst[where][k][n].Y);
                fputc('\n', out.stream);
            }
    return output_file_commit(&out);
}

static bool draw_derivatives(experiment_run *run, const derivative_table *t, regime where, const char *name) {
    static const char *const names[FRICTIONS] = {"μ = 0", "μ = 0.3", "μ = 1", "μ = 2"};
    double x[FRICTIONS][OMEGAS], y[FRICTIONS][OMEGAS];
    figure_series series[FRICTIONS];
    char title[96];
    for (int k = 0; k < FRICTIONS; k++) {
        for (int n = 0; n < OMEGAS; n++) {
            x[k][n] = omegas[n];
            y[k][n] = fmax(t->worst[where][k][n].X, t->worst[where][k][n].Y);
        }
        series[k] = (figure_series){names[k], x[k], y[k], OMEGAS, FIGURE_LINE, (unsigned)k + 1};
    }
    snprintf(title, sizeof title, "X and Y against differences, points of %s", regime_names[where]);
    figure_mark limit = {"tolerance", true, 1e-9};
    figure f = {.title = title,
                .x = {"ω", FIGURE_LOG, 1e-11, 1e-1},
                .y = {"largest error", FIGURE_LOG, 1e-14, 1e-6},
                .series = series,
                .series_count = FRICTIONS,
                .marks = &limit,
                .mark_count = 1};
    return run_figure(run, &f, name);
}

static bool run_linearisation(experiment_run *run) {
    derivative_table t = {.chain = {0}};
    measure_derivatives(&t);
    claim_derivatives(&run->claims, &t);
    return !*run->folder ||
           (write_derivatives(run, &t) && draw_derivatives(run, &t, AT_OMEGA, "errors_at_omega") &&
            draw_derivatives(run, &t, AWAY, "errors_away"));
}

const experiment experiment_linearisation = {
    .name = "000-6",
    .title = "derivative blocks X and Y against finite differences",
    .has_full = true,
    .run = run_linearisation,
};
