/* Slopes of the terms in q and u at fixed unknowns: the callbacks', or central differences. */
#include "system/alpha.h"

#include <math.h>
#include <string.h>

static const double relative_shift = 1e-6;

enum { DLS_TURNED = 6 }; /* freedoms of the largest body with a T other than 1 */

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
        double *column = alpha->told.dynamic_q[k] + m * j, share;
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
    dls_told_row_slopes *out = &alpha->told.rows[f];
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
        alpha->told.rows[f].before_q[i + (int64_t)rows->count * j] += s * rate[i];
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
                alpha->told.force_u[i + m * j] += s * alpha->probe.h[i];
            DLS_EACH_FAMILY(f)
            for (int i = 0; i < system->rows[f].count && !system->rows[f].bend_slope; i++)
                alpha->told.rows[f].bend_u[i + (int64_t)system->rows[f].count * j] +=
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
        double *out = alpha->told.dynamic_q[k];
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
    s->force_slope(stage->t1, stage->q, stage->u, cleared(S, count), alpha->told.force_u, s->user);
    add_matrix(-1, count, S, alpha->told.dynamic_q[0]);
}

static void told_rows(dls_alpha *alpha, int f, const double *a) {
    const dls_model_rows *rows = &alpha->system.rows[f];
    const dls_alpha_stage *stage = &alpha->stage;
    dls_told_row_slopes *out = &alpha->told.rows[f];
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
    for (int k = 0; k < 3; k++) cleared(alpha->told.dynamic_q[k], m * n);
    cleared(alpha->told.force_u, m * m);
    DLS_EACH_FAMILY(f) {
        dls_told_row_slopes *rows = &alpha->told.rows[f];
        int64_t count = alpha->at.count[f];
        cleared(rows->value_q, count * n), cleared(rows->rate_q, count * n),
            cleared(rows->before_q, count * n);
        cleared(rows->bend_q, count * n), cleared(rows->bend_u, count * m);
    }
}

static bool slopes_told(dls_alpha *alpha, const double *x) {
    unsigned wants = wanted_in_q(&alpha->system);
    clear_all(alpha);
    told_dynamic(alpha, x);
    DLS_EACH_FAMILY(f) told_rows(alpha, f, moving(alpha, x, 0));
    return (!wants || differences_in_q(alpha, x, wants)) && differences_in_u(alpha);
}

/* ---- along the columns of B ---- */

/* out ← S B, S: rows × n; entry (i, j) at i·row + j·column */
static void through_motion(const dls_alpha *alpha, int rows, const double *S, double *out, int row,
                           int column) {
    int n = alpha->at.n, m = alpha->at.m;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += S[i + (int64_t)rows * k] * alpha->stage.B[k + n * j];
            out[(int64_t)i * row + (int64_t)j * column] = sum;
        }
}

static void turn_told(dls_alpha *alpha) {
    int m = alpha->at.m;
    for (int k = 0; k < 3; k++)
        through_motion(alpha, m, alpha->told.dynamic_q[k], alpha->slopes.dynamic[k], 1, m);
    memcpy(alpha->slopes.force_u, alpha->told.force_u, sizeof(double) * (size_t)m * (size_t)m);
    DLS_EACH_FAMILY(f) {
        const dls_told_row_slopes *from = &alpha->told.rows[f];
        dls_row_slopes *to = &alpha->slopes.rows[f];
        int count = alpha->at.count[f];
        through_motion(alpha, count, from->value_q, to->value, m, 1);
        through_motion(alpha, count, from->rate_q, to->rate, m, 1);
        through_motion(alpha, count, from->before_q, to->before, m, 1);
        through_motion(alpha, count, from->bend_q, to->bend, m, 1);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < m; j++) to->bend_u[(int64_t)m * i + j] = from->bend_u[i + (int64_t)count * j];
    }
}

/* ---- by bodies ---- */

/* v ← Tᵀv of entries along the directions of a row, or columns of a matrix that has `rows` rows. */
static void turn_columns(const dls_alpha *alpha, const int body[2], int rows, double *A) {
    for (int side = 0; side < 2 && body[side] >= 0; side++) {
        int m = alpha->parts.u[body[side] + 1] - alpha->parts.u[body[side]];
        const double *T = alpha->slopes.T + alpha->M_at[body[side]];
        double turned[DLS_TURNED];
        for (int i = 0; i < rows && m <= DLS_TURNED; i++) {
            for (int j = 0; j < m; j++) {
                turned[j] = 0;
                for (int k = 0; k < m; k++) turned[j] += A[i + (int64_t)rows * k] * T[k + m * j];
            }
            for (int j = 0; j < m; j++) A[i + (int64_t)rows * j] = turned[j];
        }
        A += (int64_t)rows * m;
    }
}

/* D_iζ = d/ds(D_i rate) along the motion + (Ω × D rate)_i where directions turn with the body, for these do
 * not commute. In: the rates' slopes a little further along the motion. */
static void slope_bend(const dls_alpha *alpha, const dls_row_place *row, const double *rate, double step,
                       double *bend) {
    for (int k = 0; k < row->width; k++) bend[k] = (bend[k] - rate[k]) / step;
    for (int side = 0; side < 2 && row->body[side] >= 0; side++) {
        const double *turn = alpha->stage.u + row->u[side] + row->m[side] - 3;
        int at = (side ? row->m[0] : 0) + row->m[side] - 3;
        if (!alpha->parts.turns || !alpha->parts.turns[row->body[side]]) continue;
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            bend[at + i] += turn[j] * rate[at + k] - turn[k] * rate[at + j];
        }
    }
}

/* Of one row, with D_j the derivative along direction j: ∂ζ/∂u_k = D_k rate + Σ_j u_j D_j W_k. */
static void slope_row(dls_alpha *alpha, int f, int i, const double *a, double step) {
    const dls_row_place *row = &alpha->place[f][i];
    const dls_row_slopes *out = &alpha->slopes.rows[f];
    const double *W = alpha->stage.terms.rows[f].W + row->W, *turn = out->turn + out->turn_at[i];
    double *rate = out->rate + row->W, *bend_u = out->bend_u + row->W;
    memcpy(out->value + row->W, W, sizeof *W * (size_t)row->width);
    memcpy(out->before + row->W, rate, sizeof *rate * (size_t)row->width);
    memcpy(bend_u, rate, sizeof *rate * (size_t)row->width);
    slope_bend(alpha, row, rate, step, out->bend + row->W);
    for (int side = 0, j = 0; side < 2; side++)
        for (int d = 0; d < row->m[side]; d++, j++) {
            const double *column = turn + (int64_t)row->width * j;
            double u = alpha->stage.u[row->u[side] + d];
            out->bend[row->W + j] += dls_row_dot(row, column, a);
            out->before[row->W + j] +=
                dls_row_dot(row, column, alpha->state.u) - dls_row_dot(row, column, alpha->stage.u);
            for (int k = 0; k < row->width; k++) bend_u[k] += u * column[k];
        }
}

static void turn_row(dls_alpha *alpha, int f, int i) {
    const dls_row_place *row = &alpha->place[f][i];
    const dls_row_slopes *out = &alpha->slopes.rows[f];
    turn_columns(alpha, row->body, 1, out->value + row->W);
    turn_columns(alpha, row->body, 1, out->rate + row->W);
    turn_columns(alpha, row->body, 1, out->before + row->W);
    turn_columns(alpha, row->body, 1, out->bend + row->W);
    turn_columns(alpha, row->body, row->width, out->turn + out->turn_at[i]);
}

static void ask_bodies(dls_alpha *alpha, double t, const double *q) {
    const dls_parts *parts = &alpha->parts;
    dls_slopes *s = &alpha->slopes;
    int64_t blocks = alpha->M_at[parts->count], ties = s->tie_at[parts->tie_count];
    dls_part_slopes out = {s->dynamic[0], s->force_u, s->tie_q, s->tie_u, {0}, {0}, {0}, s->tie_at};
    cleared(s->dynamic[0], blocks), cleared(s->force_u, blocks);
    cleared(s->tie_q, ties), cleared(s->tie_u, ties);
    DLS_EACH_FAMILY(f) {
        out.turn[f] = cleared(s->rows[f].turn, s->rows[f].turn_at[alpha->at.count[f]]);
        out.rate[f] = cleared(s->rows[f].rate, dls_parts_width(alpha, f));
        out.turn_at[f] = s->rows[f].turn_at;
    }
    parts->slopes(t, q, alpha->stage.u, &out, alpha->system.user);
}

/* Slopes of rates a little further along the motion, into those of bends. Returns how far. */
static double ask_further(dls_alpha *alpha) {
    const dls_model *system = &alpha->system;
    const dls_alpha_stage *stage = &alpha->stage;
    double *rate = alpha->probe_rate, *further = alpha->probe_low, fastest = 1;
    if (system->motion)
        system->motion(stage->t1, stage->q, stage->u, cleared(rate, alpha->at.n), system->user);
    else
        memcpy(rate, stage->u, sizeof *rate * (size_t)alpha->at.m);
    for (int i = 0; i < alpha->at.n; i++) fastest = fmax(fastest, fabs(rate[i]));
    double step = 3e-6 / fastest;
    for (int i = 0; i < alpha->at.n; i++) further[i] = stage->q[i] + step * rate[i];
    ask_bodies(alpha, stage->t1 + step, further);
    DLS_EACH_FAMILY(f)
    memcpy(alpha->slopes.rows[f].bend, alpha->slopes.rows[f].rate,
           sizeof(double) * (size_t)dls_parts_width(alpha, f));
    return step;
}

static void turn_bodies(dls_alpha *alpha) {
    const dls_parts *parts = &alpha->parts;
    dls_slopes *s = &alpha->slopes;
    parts->tangent(alpha->stage.q, alpha->stage.B, cleared(s->T, alpha->M_at[parts->count]),
                   alpha->system.user);
    for (int b = 0; b < parts->count; b++) {
        int body[2] = {b, -1}, m = parts->u[b + 1] - parts->u[b];
        turn_columns(alpha, body, m, s->dynamic[0] + alpha->M_at[b]);
    }
    for (int i = 0; i < parts->tie_count; i++)
        turn_columns(alpha, parts->tie[i], dls_tie_width(alpha, i), s->tie_q + s->tie_at[i]);
    DLS_EACH_FAMILY(f) for (int i = 0; i < alpha->at.count[f]; i++) turn_row(alpha, f, i);
}

static void slopes_of_bodies(dls_alpha *alpha, const double *x) {
    dls_slopes *s = &alpha->slopes;
    int64_t blocks = alpha->M_at[alpha->parts.count];
    double step = ask_further(alpha);
    ask_bodies(alpha, alpha->stage.t1, alpha->stage.q);
    for (int64_t i = 0; i < blocks; i++) s->dynamic[0][i] = -s->dynamic[0][i];
    for (int k = 1; k < 3; k++) cleared(s->dynamic[k], blocks);
    DLS_EACH_FAMILY(f)
    for (int i = 0; i < alpha->at.count[f]; i++) slope_row(alpha, f, i, moving(alpha, x, 0), step);
    if (alpha->parts.tangent) turn_bodies(alpha);
}

bool dls_slopes_at(dls_alpha *alpha, const double *x) {
    if (alpha->parts.slopes) {
        slopes_of_bodies(alpha, x);
        return true;
    }
    if (!slopes_told(alpha, x)) return false;
    turn_told(alpha);
    return true;
}
