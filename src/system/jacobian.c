/* R′(x) with the sets held, by the chain rule: as products, and as a matrix made of them where that is small;
 * or differences in x for comparison. With q₁ and u₁ moved by
 *
 *     δq = c_q δa + δQ (along the columns of B),   δu = c_u δa + δU
 *
 * rows move by δg = g_q δq, δġ = Wᵀδu + ġ_q δq, δg̈ = Wᵀδa + g̈_u δu + g̈_q δq. */
#include "system/alpha.h"

#include "system/levels.h"

#include <math.h>
#include <string.h>

/* ---- dynamics ---- */

/* M δx_k − δh − W δy_k − (∂W/∂q δq) y_k of dynamic row k */
static void product_dynamics(const dls_alpha *alpha, const double *x, const double *s, int k, double *out) {
    const dls_slopes *slopes = &alpha->slopes;
    const dls_terms *terms = &alpha->stage.terms;
    double share;
    dls_blocks_add(alpha, 1, terms->M, s + alpha->at.m * k, out);
    dls_blocks_add(alpha, 1, slopes->dynamic[k], alpha->move_q, out);
    if (k == 0) dls_blocks_add(alpha, -1, slopes->force_u, alpha->move_u, out);
    for (int i = 0; i < alpha->parts.tie_count && k == 0; i++) {
        dls_tie_add(alpha, i, -1, slopes->tie_q + slopes->tie_at[i], alpha->move_q, out);
        dls_tie_add(alpha, i, -1, slopes->tie_u + slopes->tie_at[i], alpha->move_u, out);
    }
    DLS_EACH_FAMILY(f) {
        const double *y = dls_dynamic_force(alpha, x, f, k, &share), *change = s + (y - x);
        for (int i = 0; i < alpha->at.count[f]; i++) {
            const dls_row_place *row = &alpha->place[f][i];
            if (change[i] != 0) dls_row_add(row, -share * change[i], terms->rows[f].W + row->W, out);
            if (!slopes->rows[f].turn || y[i] == 0) continue;
            const double *turn = slopes->rows[f].turn + slopes->rows[f].turn_at[i];
            for (int side = 0; side < 2; side++)
                for (int d = 0; d < row->m[side]; d++, turn += row->width)
                    dls_row_add(row, -share * y[i] * alpha->move_q[row->u[side] + d], turn, out);
        }
    }
}

/* ---- kinematics ---- */

static double restitution_of(const dls_alpha *alpha, int f, int i) {
    if (f == DLS_ROWS_N) return alpha->contacts[i].e_n;
    return f == DLS_ROWS_F ? alpha->laws[alpha->law_of[i]].e_t : 0;
}

/* δg, δġ, δξ and δg̈ of all rows. */
static void move_rows(dls_alpha *alpha, const double *s) {
    const double *q = alpha->move_q, *u = alpha->move_u, *a = s + alpha->at.a;
    DLS_EACH_FAMILY(f) {
        const dls_row_slopes *slopes = &alpha->slopes.rows[f];
        for (int i = 0; i < alpha->at.count[f]; i++) {
            const dls_row_place *row = &alpha->place[f][i];
            const double *W = alpha->stage.terms.rows[f].W + row->W;
            double e = restitution_of(alpha, f, i);
            alpha->d_value[f][i] = dls_row_dot(row, slopes->value + row->W, q);
            double rate = dls_row_dot(row, W, u) + dls_row_dot(row, slopes->rate + row->W, q);
            alpha->d_rate[f][i] = rate;
            alpha->d_xi[f][i] = e == 0 ? rate : rate + e * dls_row_dot(row, slopes->before + row->W, q);
            alpha->d_acceleration[f][i] = dls_row_dot(row, W, a) +
                                          dls_row_dot(row, slopes->bend_u + row->W, u) +
                                          dls_row_dot(row, slopes->bend + row->W, q);
        }
    }
}

static void product_bilateral(const dls_alpha *alpha, double *out) {
    const dls_layout *at = &alpha->at;
    for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++)
        for (int k = 0; k < at->count[f]; k++) {
            if (at->kappa[f] >= 0) out[at->kappa[f] + k] = alpha->d_value[f][k];
            out[at->impact[f] + k] = alpha->d_rate[f][k];
            out[at->force[f] + k] = alpha->d_acceleration[f][k];
        }
}

/* ---- contacts ---- */

/* δP = δΛ + c_u δλ */
static double d_percussion(const dls_alpha *alpha, int f, int k, const double *s) {
    return s[alpha->at.impact[f] + k] + alpha->stage.c_u * s[alpha->at.force[f] + k];
}

static void product_normal(const dls_alpha *alpha, const double *s, double *out) {
    const dls_layout *at = &alpha->at;
    const int f = DLS_ROWS_N;
    bool multiplier = alpha->options.open == DLS_OPEN_MULTIPLIER;
    for (int k = 0; k < at->count[f]; k++) {
        double r = alpha->options.residual == DLS_ALPHA_PROX ? alpha->r_n[k] : 1;
        double force = s[at->force[f] + k], kappa = s[at->kappa[f] + k], impact = s[at->impact[f] + k];
        if (!multiplier) kappa += alpha->stage.c_q * force, impact = d_percussion(alpha, f, k, s);
        out[at->kappa[f] + k] = alpha->sets.place[k] ? r * alpha->d_value[f][k] : kappa;
        out[at->impact[f] + k] = alpha->sets.B[k] ? r * alpha->d_xi[f][k] : impact;
        out[at->force[f] + k] = alpha->sets.C[k] ? r * alpha->d_acceleration[f][k] : force;
    }
}

bool dls_law_is_split(const dls_alpha *alpha, int l) {
    int contact = alpha->laws[l].contact;
    bool closed = contact < 0 || alpha->sets.A[contact];
    return alpha->stage.split[l] && closed && !alpha->sets.D[l];
}

/* Σ_j f_y y + f_z z, and f_N N */
static void product_law(int d, const dls_law_value *law, const double *y, const double *z, double N,
                        double *out) {
    for (int i = 0; i < d; i++) {
        out[i] = law->N[i] * N;
        for (int j = 0; j < d; j++) out[i] += law->y[i + d * j] * y[j] + law->z[i + d * j] * z[j];
    }
}

static void product_friction(const dls_alpha *alpha, const double *s, double *out) {
    const dls_layout *at = &alpha->at;
    const int F = DLS_ROWS_F, N = DLS_ROWS_N;
    for (int l = 0; l < alpha->system.law_count; l++) {
        const dls_model_friction *law = &alpha->laws[l];
        int first = alpha->law_row[l], d = law->size, c = law->contact;
        bool split = dls_law_is_split(alpha, l);
        const double *forces = s + at->force[F] + first;
        double z[DLS_LAW_SIZE], normal = c < 0   ? 0
                                         : split ? s[at->impact[N] + c]
                                                 : d_percussion(alpha, N, c, s);
        for (int i = 0; i < d; i++)
            z[i] = split ? s[at->impact[F] + first + i] : d_percussion(alpha, F, first + i, s);
        product_law(d, &alpha->impact_law[l], alpha->d_xi[F] + first, z, normal, out + at->impact[F] + first);
        const double *y = alpha->sets.D[l] ? alpha->d_acceleration[F] : alpha->d_rate[F];
        product_law(d, &alpha->force_law[l], y + first, forces, c < 0 ? 0 : s[at->force[N] + c],
                    out + at->force[F] + first);
    }
}

/* Rows that hold y = 0 ask for y + ε/r (z − z₀) = 0 instead, so that R′ is regular where more directions are
 * held than there are freedoms. Where their equations contradict each other, forces go far along what they
 * share, until a law reaches the border of its reservoir. */
static void product_yielding(const dls_alpha *alpha, const double *s, double *out) {
    static const double epsilon = 1e-8;
    const dls_layout *at = &alpha->at;
    bool raw = alpha->options.residual == DLS_ALPHA_PROX;
    for (int k = 0; k < at->count[DLS_ROWS_N]; k++) {
        double share = raw ? epsilon : epsilon / alpha->r_n[k];
        int kappa = at->kappa[DLS_ROWS_N] + k, impact = at->impact[DLS_ROWS_N] + k;
        int force = at->force[DLS_ROWS_N] + k;
        if (alpha->sets.place[k]) out[kappa] += share * s[kappa];
        if (alpha->sets.B[k]) out[impact] += share * s[impact];
        if (alpha->sets.C[k]) out[force] += share * s[force];
    }
    for (int l = 0; l < alpha->system.law_count; l++)
        for (int i = alpha->law_row[l]; i < alpha->law_row[l + 1]; i++) {
            double share = raw ? epsilon : epsilon / alpha->r_t[l];
            int impact = at->impact[DLS_ROWS_F] + i, force = at->force[DLS_ROWS_F] + i;
            if (alpha->sets.D[l]) out[impact] += share * s[impact];
            if (alpha->sets.E[l]) out[force] += share * s[force];
        }
}

/* ---- the whole ---- */

void dls_jacobian_product(dls_alpha *alpha, const double *x, const double *s, double *out) {
    const dls_layout *at = &alpha->at;
    int m = at->m;
    for (int i = 0; i < m; i++) {
        alpha->move_q[i] = alpha->stage.c_q * s[at->a + i] + s[at->Q + i];
        alpha->move_u[i] = alpha->stage.c_u * s[at->a + i] + s[at->U + i];
    }
    memset(out, 0, sizeof *out * (size_t)(3 * m));
    for (int k = 0; k < 3; k++) product_dynamics(alpha, x, s, k, out + m * k);
    move_rows(alpha, s);
    product_bilateral(alpha, out);
    if (alpha->stage.frozen) {
        memcpy(out + at->smooth, s + at->smooth, sizeof *s * (size_t)(at->total - at->smooth));
        return;
    }
    product_normal(alpha, s, out);
    product_friction(alpha, s, out);
    if (alpha->stage.yielding) product_yielding(alpha, s, out);
}

static double *column(dls_alpha *alpha, int j) { return alpha->J + (int64_t)alpha->at.total * j; }

/* Differences in the unknowns with ε = 1e-6 and sets held, as paper 004 has them. */
static bool by_differences(dls_alpha *alpha, const double *x) {
    static const double epsilon = 1e-6;
    int total = alpha->at.total;
    bool good = true, keep = alpha->stage.keep_sets;
    alpha->stage.keep_sets = true;
    memcpy(alpha->x_probe, x, sizeof *x * (size_t)total);
    for (int j = 0; good && j < total; j++) {
        alpha->x_probe[j] = x[j] + epsilon;
        good = dls_residual_at(alpha, alpha->x_probe, alpha->R_probe);
        for (int i = 0; good && i < total; i++)
            column(alpha, j)[i] = (alpha->R_probe[i] - alpha->R[i]) / (alpha->x_probe[j] - x[j]);
        alpha->x_probe[j] = x[j];
    }
    good = good && dls_residual_at(alpha, x, alpha->R_probe);
    alpha->stage.keep_sets = keep;
    for (int i = alpha->at.smooth; alpha->stage.frozen && i < total; i++) column(alpha, i)[i] = 1;
    return good;
}

static void by_products(dls_alpha *alpha, const double *x) {
    int total = alpha->at.total;
    double *one = alpha->change;
    memset(one, 0, sizeof *one * (size_t)total);
    for (int j = 0; j < total; j++) {
        one[j] = 1;
        dls_jacobian_product(alpha, x, one, column(alpha, j));
        one[j] = 0;
    }
}

/* Factors of up to this size take less time than a step has. */
bool dls_jacobian_is_small(const dls_alpha *alpha) {
    enum { MOST = 500 };
    return alpha->parts.count == 1 || alpha->at.total <= MOST;
}

static bool take_whole(dls_alpha *alpha) {
    if (!alpha->J) dls_jacobian_take(alpha);
    return !alpha->out_of_memory;
}

bool dls_jacobian_gather(dls_alpha *alpha, const double *x) {
    if (!take_whole(alpha)) return false;
    by_products(alpha, x);
    return true;
}

bool dls_jacobian_at(dls_alpha *alpha, const double *x) {
    bool differences = alpha->options.jacobian == DLS_JACOBIAN_DIFFERENCES;
    if (!alpha->by_levels && !take_whole(alpha)) return false;
    if (differences && !alpha->by_levels) return by_differences(alpha, x);
    if (!dls_slopes_at(alpha, x)) return false;
    for (int l = 0; l < alpha->system.law_count && !alpha->stage.frozen; l++) {
        alpha->impact_law[l] = dls_impact_law(alpha, x, l);
        alpha->force_law[l] = dls_force_law(alpha, x, l);
    }
    if (!alpha->by_levels) by_products(alpha, x);
    return true;
}
