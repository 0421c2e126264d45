/* The terms of a system: what its callbacks say, and what follows from them by differences. */
#include "system/alpha.h"

#include "base/small.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const family_names[DLS_FAMILIES] = {"g", "gamma", "g_N", "gamma_F"};

const char *dls_row_family_name(int family) { return family_names[family]; }

const char *dls_culprit_text(const dls_alpha *alpha, char *text, size_t size) {
    if (alpha->culprit_family < 0)
        snprintf(text, size, "%s", alpha->culprit);
    else
        snprintf(text, size, "%s of %s", alpha->culprit, family_names[alpha->culprit_family]);
    return text;
}

static void clear(double *numbers, int64_t count) { memset(numbers, 0, sizeof *numbers * (size_t)count); }

/* Whether all are numbers; else who gave them is remembered. */
static bool are_finite(dls_alpha *alpha, const char *who, int family, const double *numbers, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) {
            alpha->culprit = who, alpha->culprit_family = family;
            return false;
        }
    return true;
}

static void motion(const dls_alpha *alpha, double t, const double *q, const double *u, double *rate) {
    const dls_model *s = &alpha->system;
    if (s->motion) {
        clear(rate, alpha->at.n);
        s->motion(t, q, u, rate, s->user);
    } else
        memcpy(rate, u, sizeof *u * (size_t)alpha->at.m);
}

/* ---- functions affine in u: their matrix, and how they bend along the motion ---- */

typedef void (*affine_function)(const dls_alpha *alpha, int family, double t, const double *q,
                                const double *u, double *out);

static void rate_function(const dls_alpha *alpha, int family, double t, const double *q, const double *u,
                          double *out) {
    const dls_model_rows *rows = &alpha->system.rows[family];
    clear(out, rows->count);
    rows->rate(t, q, u, out, alpha->system.user);
}

static void motion_function(const dls_alpha *alpha, int family, double t, const double *q, const double *u,
                            double *out) {
    (void)family;
    motion(alpha, t, q, u, out);
}

/* ∂f/∂u by steps of one: exact to rounding because f is affine. Entry (i, j) at i·row + j·column. */
static void affine_matrix(dls_alpha *alpha, affine_function f, int family, int count, double t,
                          const double *q, const double *u, double *out, int row, int column) {
    double *shifted = alpha->probe_rate, *here = alpha->probe_low, *there = alpha->probe_high;
    f(alpha, family, t, q, u, here);
    memcpy(shifted, u, sizeof *u * (size_t)alpha->at.m);
    for (int j = 0; j < alpha->at.m; j++) {
        shifted[j] = u[j] + 1;
        f(alpha, family, t, q, shifted, there);
        for (int i = 0; i < count; i++)
            out[i * row + j * column] = (there[i] - here[i]) / (shifted[j] - u[j]);
        shifted[j] = u[j];
    }
}

/* f along q̇ with u held, for ζ = df/dt. */
typedef struct course {
    dls_alpha *alpha;
    affine_function f;
    int family;
    double t;
    const double *q, *u;
} course;

static void follow(double s, double *value, void *user) {
    const course *c = user;
    const double *rate = c->alpha->probe_rate;
    double *shifted = c->alpha->probe_low;
    for (int i = 0; i < c->alpha->at.n; i++) shifted[i] = c->q[i] + s * rate[i];
    c->f(c->alpha, c->family, c->t + s, shifted, c->u, value);
}

static void affine_bend(dls_alpha *alpha, affine_function f, int family, int count, double t, const double *q,
                        const double *u, double *out) {
    double speed = 1;
    course c = {alpha, f, family, t, q, u};
    motion(alpha, t, q, u, alpha->probe_rate);
    for (int i = 0; i < alpha->at.n; i++) speed = fmax(speed, fabs(alpha->probe_rate[i]));
    small_derivative(count, 1e-3 / speed, follow, &c, alpha->probe_high, out);
}

/* ---- at one point ---- */

bool dls_rates_at(dls_alpha *alpha, int family, double t, const double *q, const double *u, double *rate) {
    if (!alpha->system.rows[family].count) return true;
    rate_function(alpha, family, t, q, u, rate);
    return are_finite(alpha, "rate", family, rate, alpha->system.rows[family].count);
}

static bool value_at(dls_alpha *alpha, int f, double t, const double *q, double *out) {
    const dls_model_rows *rows = &alpha->system.rows[f];
    clear(out, rows->count);
    if (rows->value) rows->value(t, q, out, alpha->system.user);
    return are_finite(alpha, "value", f, out, rows->count);
}

static bool direction_at(dls_alpha *alpha, int f, double t, const double *q, const double *u, double *W) {
    const dls_model_rows *rows = &alpha->system.rows[f];
    int64_t numbers = dls_parts_width(alpha, f);
    clear(W, numbers);
    if (rows->direction)
        rows->direction(t, q, W, alpha->system.user);
    else
        affine_matrix(alpha, rate_function, f, rows->count, t, q, u, W, alpha->at.m, 1);
    return are_finite(alpha, rows->direction ? "direction" : "rate", f, W, numbers);
}

static bool bend_at(dls_alpha *alpha, int f, double t, const double *q, const double *u, double *zeta) {
    const dls_model_rows *rows = &alpha->system.rows[f];
    clear(zeta, rows->count);
    if (rows->bend)
        rows->bend(t, q, u, zeta, alpha->system.user);
    else
        affine_bend(alpha, rate_function, f, rows->count, t, q, u, zeta);
    return are_finite(alpha, rows->bend ? "bend" : "rate", f, zeta, rows->count);
}

static bool rows_at(dls_alpha *alpha, int f, dls_row_terms *out, double t, const double *q, const double *u,
                    unsigned wants) {
    if (!alpha->system.rows[f].count) return true;
    return (!(wants & DLS_WANT_VALUE(f)) || value_at(alpha, f, t, q, out->value)) &&
           (!(wants & DLS_WANT_RATE(f)) || dls_rates_at(alpha, f, t, q, u, out->rate)) &&
           (!(wants & DLS_WANT_DIRECTION(f)) || direction_at(alpha, f, t, q, u, out->W)) &&
           (!(wants & DLS_WANT_BEND(f)) || bend_at(alpha, f, t, q, u, out->zeta));
}

bool dls_terms_at(dls_alpha *alpha, dls_terms *terms, double t, const double *q, const double *u,
                  unsigned wants) {
    const dls_model *s = &alpha->system;
    int m = alpha->at.m;
    if (wants & DLS_WANT_MASS) {
        int64_t numbers = alpha->M_at[alpha->parts.count];
        clear(terms->M, numbers);
        s->mass(t, q, terms->M, s->user);
        if (!are_finite(alpha, "mass", -1, terms->M, numbers)) return false;
    }
    if (wants & DLS_WANT_FORCE) {
        clear(terms->h, m);
        s->force(t, q, u, terms->h, s->user);
        if (!are_finite(alpha, "force", -1, terms->h, m)) return false;
    }
    DLS_EACH_FAMILY(f) if (!rows_at(alpha, f, &terms->rows[f], t, q, u, wants)) return false;
    return true;
}

/* q̇ = u */
static void set_unity(const dls_alpha *alpha, double *B) {
    for (int b = 0; b < alpha->parts.count; b++) {
        int m = alpha->parts.u[b + 1] - alpha->parts.u[b];
        for (int i = 0; i < m; i++) B[alpha->B_at[b] + (int64_t)(m + 1) * i] = 1;
    }
}

bool dls_motion_at(dls_alpha *alpha, double t, const double *q, const double *u, double *rate, double *B,
                   double *bend) {
    const dls_model *s = &alpha->system;
    int n = alpha->at.n;
    int64_t numbers = alpha->B_at[alpha->parts.count];
    motion(alpha, t, q, u, rate);
    clear(B, numbers), clear(bend, n);
    if (!s->motion)
        set_unity(alpha, B);
    else if (s->motion_matrix)
        s->motion_matrix(t, q, B, s->user);
    else
        affine_matrix(alpha, motion_function, -1, n, t, q, u, B, 1, n);
    if (s->motion_bend)
        s->motion_bend(t, q, u, bend, s->user);
    else if (s->motion)
        affine_bend(alpha, motion_function, -1, n, t, q, u, bend);
    return are_finite(alpha, "motion", -1, rate, n) &&
           are_finite(alpha, s->motion_matrix ? "motion_matrix" : "motion", -1, B, numbers) &&
           are_finite(alpha, s->motion_bend ? "motion_bend" : "motion", -1, bend, n);
}
