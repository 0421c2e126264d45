/* Slopes of the terms in q and u at fixed unknowns: the callbacks', or central differences. */
#include "system/alpha.h"

#include <math.h>
#include <string.h>

static const double relative_shift = 1e-6;

/* y += s A x, A: rows × columns */
static void multiply_add(double s, int rows, int columns, const double *A, const double *x, double *y) {
    for (int j = 0; j < columns; j++)
        if (x[j] != 0)
            for (int i = 0; i < rows; i++) y[i] += s * x[j] * A[i + rows * j];
}

const double *dls_dynamic_force(const dls_alpha *alpha, const double *x, int family, int k, double *share) {
    const dls_layout *at = &alpha->at;
    *share = 1;
    if (k == 0) return x + at->force[family];
    if (k == 2 && at->kappa[family] >= 0) return x + at->kappa[family];
    if (k == 2) *share = alpha->stage.dt / 2;
    return x + at->impact[family];
}

static const double *moving(const dls_alpha *alpha, const double *x, int k) { return x + alpha->at.m * k; }

/* ---- by differences ---- */

static unsigned wanted_in_q(const dls_model *s) {
    unsigned wants = (s->mass_slope ? 0 : DLS_WANT_MASS) | (s->force_slope ? 0 : DLS_WANT_FORCE);
    DLS_EACH_FAMILY(f) {
        const dls_model_rows *rows = &s->rows[f];
        if (rows->value && !rows->value_slope) wants |= DLS_WANT_VALUE(f);
        if (!rows->rate_slope) wants |= DLS_WANT_RATE(f);
        if (!rows->direction_slope || !rows->bend_slope) wants |= DLS_WANT_DIRECTION(f);
        if (!rows->bend_slope) wants |= DLS_WANT_BEND(f);
    }
    return wants;
}

/* Column j of the dynamic rows: + s (M x − h − W y), of what has no slope of its own. */
static void add_dynamic(dls_alpha *alpha, const double *x, double s, int j) {
    const dls_model *system = &alpha->system;
    int m = alpha->at.m;
    for (int k = 0; k < 3; k++) {
        double *column = alpha->slopes.dynamic_q[k] + m * j, share;
        if (!system->mass_slope) multiply_add(s, m, m, alpha->probe.M, moving(alpha, x, k), column);
        if (k == 0 && !system->force_slope)
            for (int i = 0; i < m; i++) column[i] -= s * alpha->probe.h[i];
        DLS_EACH_FAMILY(f) if (!system->rows[f].direction_slope && system->rows[f].count) {
            const double *y = dls_dynamic_force(alpha, x, f, k, &share);
            multiply_add(-s * share, m, system->rows[f].count, alpha->probe.rows[f].W, y, column);
        }
    }
}

/* Column j of a family's rows: + s (g, ġ, Wᵀa + ζ). */
static void add_rows(dls_alpha *alpha, int f, const double *a, double s, int j) {
    const dls_model_rows *rows = &alpha->system.rows[f];
    const dls_row_terms *terms = &alpha->probe.rows[f];
    dls_row_slopes *out = &alpha->slopes.rows[f];
    int m = alpha->at.m;
    for (int i = 0; i < rows->count; i++) {
        int64_t place = i + (int64_t)rows->count * j;
        if (rows->value && !rows->value_slope) out->value_q[place] += s * terms->value[i];
        if (!rows->rate_slope) out->rate_q[place] += s * terms->rate[i];
        if (rows->bend_slope) continue;
        double sum = terms->zeta[i];
        for (int k = 0; k < m; k++) sum += terms->W[k + m * i] * a[k];
        out->bend_q[place] += s * sum;
    }
}

static bool add_before(dls_alpha *alpha, int f, double s, int j) {
    const dls_model_rows *rows = &alpha->system.rows[f];
    double *rate = alpha->probe.rows[f].rate;
    if (!rows->count || rows->rate_slope) return true;
    if (!dls_rates_at(alpha, f, alpha->stage.t1, alpha->probe_q, alpha->state.u, rate)) return false;
    for (int i = 0; i < rows->count; i++)
        alpha->slopes.rows[f].before_q[i + (int64_t)rows->count * j] += s * rate[i];
    return true;
}

static bool differences_in_q(dls_alpha *alpha, const double *x, unsigned wants) {
    const dls_alpha_stage *stage = &alpha->stage;
    memcpy(alpha->probe_q, stage->q, sizeof *stage->q * (size_t)alpha->at.n);
    for (int j = 0; j < alpha->at.n; j++) {
        double size = relative_shift * fmax(1, fabs(stage->q[j]));
        double high = stage->q[j] + size, low = stage->q[j] - size;
        for (int side = 0; side < 2; side++) {
            double s = (side ? 1 : -1) / (high - low);
            alpha->probe_q[j] = side ? high : low;
            if (!dls_terms_at(alpha, &alpha->probe, stage->t1, alpha->probe_q, stage->u, wants)) return false;
            add_dynamic(alpha, x, s, j);
            DLS_EACH_FAMILY(f) {
                add_rows(alpha, f, moving(alpha, x, 0), s, j);
                if (!add_before(alpha, f, s, j)) return false;
            }
        }
        alpha->probe_q[j] = stage->q[j];
    }
    return true;
}

static bool differences_in_u(dls_alpha *alpha) {
    const dls_model *system = &alpha->system;
    const dls_alpha_stage *stage = &alpha->stage;
    int m = alpha->at.m;
    unsigned wants = system->force_slope ? 0 : DLS_WANT_FORCE;
    DLS_EACH_FAMILY(f) if (system->rows[f].count && !system->rows[f].bend_slope) wants |= DLS_WANT_BEND(f);
    memcpy(alpha->probe_u, stage->u, sizeof *stage->u * (size_t)m);
    for (int j = 0; wants && j < m; j++) {
        double size = relative_shift * fmax(1, fabs(stage->u[j]));
        double high = stage->u[j] + size, low = stage->u[j] - size;
        for (int side = 0; side < 2; side++) {
            double s = (side ? 1 : -1) / (high - low);
            alpha->probe_u[j] = side ? high : low;
            if (!dls_terms_at(alpha, &alpha->probe, stage->t1, stage->q, alpha->probe_u, wants)) return false;
            for (int i = 0; i < m && !system->force_slope; i++)
                alpha->slopes.force_u[i + m * j] += s * alpha->probe.h[i];
            DLS_EACH_FAMILY(f)
            for (int i = 0; i < system->rows[f].count && !system->rows[f].bend_slope; i++)
                alpha->slopes.rows[f].bend_u[i + (int64_t)system->rows[f].count * j] +=
                    s * alpha->probe.rows[f].zeta[i];
        }
        alpha->probe_u[j] = stage->u[j];
    }
    return true;
}

/* ---- by callbacks ---- */

static void add_matrix(double s, int64_t count, const double *from, double *to) {
    for (int64_t i = 0; i < count; i++) to[i] += s * from[i];
}

static double *cleared(double *matrix, int64_t count) {
    memset(matrix, 0, sizeof *matrix * (size_t)count);
    return matrix;
}

static void told_dynamic(dls_alpha *alpha, const double *x) {
    const dls_model *s = &alpha->system;
    const dls_alpha_stage *stage = &alpha->stage;
    int64_t count = (int64_t)alpha->at.m * alpha->at.n;
    double *S = alpha->probe_matrix, share;
    for (int k = 0; k < 3; k++) {
        double *out = alpha->slopes.dynamic_q[k];
        if (s->mass_slope) {
            s->mass_slope(stage->t1, stage->q, moving(alpha, x, k), cleared(S, count), s->user);
            add_matrix(1, count, S, out);
        }
        DLS_EACH_FAMILY(f) if (s->rows[f].count && s->rows[f].direction_slope) {
            const double *y = dls_dynamic_force(alpha, x, f, k, &share);
            s->rows[f].direction_slope(stage->t1, stage->q, y, cleared(S, count), s->user);
            add_matrix(-share, count, S, out);
        }
    }
    if (!s->force_slope) return;
    s->force_slope(stage->t1, stage->q, stage->u, cleared(S, count), alpha->slopes.force_u, s->user);
    add_matrix(-1, count, S, alpha->slopes.dynamic_q[0]);
}

static void told_rows(dls_alpha *alpha, int f, const double *a) {
    const dls_model_rows *rows = &alpha->system.rows[f];
    const dls_alpha_stage *stage = &alpha->stage;
    dls_row_slopes *out = &alpha->slopes.rows[f];
    void *user = alpha->system.user;
    if (!rows->count) return;
    if (rows->value_slope) rows->value_slope(stage->t1, stage->q, out->value_q, user);
    if (rows->rate_slope) {
        rows->rate_slope(stage->t1, stage->q, stage->u, out->rate_q, user);
        rows->rate_slope(stage->t1, stage->q, alpha->state.u, out->before_q, user);
    }
    if (rows->bend_slope) rows->bend_slope(stage->t1, stage->q, stage->u, a, out->bend_q, out->bend_u, user);
}

static void clear_all(dls_alpha *alpha) {
    int64_t n = alpha->at.n, m = alpha->at.m;
    for (int k = 0; k < 3; k++) cleared(alpha->slopes.dynamic_q[k], m * n);
    cleared(alpha->slopes.force_u, m * m);
    DLS_EACH_FAMILY(f) {
        dls_row_slopes *rows = &alpha->slopes.rows[f];
        int64_t count = alpha->at.count[f];
        cleared(rows->value_q, count * n), cleared(rows->rate_q, count * n),
            cleared(rows->before_q, count * n);
        cleared(rows->bend_q, count * n), cleared(rows->bend_u, count * m);
    }
}

bool dls_slopes_at(dls_alpha *alpha, const double *x) {
    unsigned wants = wanted_in_q(&alpha->system);
    clear_all(alpha);
    told_dynamic(alpha, x);
    DLS_EACH_FAMILY(f) told_rows(alpha, f, moving(alpha, x, 0));
    return (!wants || differences_in_q(alpha, x, wants)) && differences_in_u(alpha);
}
