/* R′(x) with the sets held: slopes in q and u by the chain rule, or differences in x for comparison. */
#include "system/alpha.h"

#include <math.h>
#include <string.h>

static double *column(dls_alpha *alpha, int j) { return alpha->J + (int64_t)alpha->at.total * j; }

/* Row i of J += s · (slope in q) through q₁ and + s · (slope in u) through u₁; entry j of a slope is at
 * j·lead. */
static void add_row(dls_alpha *alpha, int i, double s, const double *in_q, int q_lead, const double *in_u,
                    int u_lead) {
    const dls_alpha_stage *stage = &alpha->stage;
    int n = alpha->at.n, m = alpha->at.m;
    for (int j = 0; j < m; j++) {
        double through_q = 0, through_u = in_u ? in_u[(int64_t)j * u_lead] : 0;
        for (int k = 0; in_q && k < n; k++) through_q += in_q[(int64_t)k * q_lead] * stage->B[k + n * j];
        column(alpha, alpha->at.a + j)[i] += s * (stage->c_q * through_q + stage->c_u * through_u);
        column(alpha, alpha->at.U + j)[i] += s * through_u;
        column(alpha, alpha->at.Q + j)[i] += s * through_q;
    }
}

/* ---- rows of motion and of constraints at three levels ---- */

static void add_dynamics(dls_alpha *alpha, const double *x) {
    const dls_layout *at = &alpha->at;
    const dls_terms *terms = &alpha->stage.terms;
    int m = at->m;
    double *minus = alpha->probe_u, share;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < m; j++) {
                column(alpha, m * k + j)[m * k + i] += terms->M[i + m * j];
                minus[j] = -alpha->slopes.force_u[i + m * j];
            }
            add_row(alpha, m * k + i, 1, alpha->slopes.dynamic_q[k] + i, m, k ? NULL : minus, 1);
            DLS_EACH_FAMILY(f) for (int j = 0; j < at->count[f]; j++) {
                int place = (int)(dls_dynamic_force(alpha, x, f, k, &share) - x) + j;
                column(alpha, place)[m * k + i] -= share * terms->rows[f].W[i + m * j];
            }
        }
}

static void add_position(dls_alpha *alpha, int f, int k, int i, double s) {
    add_row(alpha, i, s, alpha->slopes.rows[f].value_q + k, alpha->at.count[f], NULL, 0);
}

static void add_velocity(dls_alpha *alpha, int f, int k, int i, double s) {
    const double *W = alpha->stage.terms.rows[f].W + alpha->at.m * k;
    add_row(alpha, i, s, alpha->slopes.rows[f].rate_q + k, alpha->at.count[f], W, 1);
}

/* ∂ξ: ξ = ġ(q₁, u₁) + e ġ(q₁, u₀) */
static void add_xi(dls_alpha *alpha, int f, int k, int i, double s, double e) {
    add_velocity(alpha, f, k, i, s);
    if (e != 0) add_row(alpha, i, s * e, alpha->slopes.rows[f].before_q + k, alpha->at.count[f], NULL, 0);
}

static void add_acceleration(dls_alpha *alpha, int f, int k, int i, double s) {
    const dls_row_slopes *slopes = &alpha->slopes.rows[f];
    const double *W = alpha->stage.terms.rows[f].W + alpha->at.m * k;
    add_row(alpha, i, s, slopes->bend_q + k, alpha->at.count[f], slopes->bend_u + k, alpha->at.count[f]);
    for (int j = 0; j < alpha->at.m; j++) column(alpha, alpha->at.a + j)[i] += s * W[j];
}

static void add_bilateral(dls_alpha *alpha) {
    const dls_layout *at = &alpha->at;
    for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++)
        for (int k = 0; k < at->count[f]; k++) {
            if (at->kappa[f] >= 0) add_position(alpha, f, k, at->kappa[f] + k, 1);
            add_velocity(alpha, f, k, at->impact[f] + k, 1);
            add_acceleration(alpha, f, k, at->force[f] + k, 1);
        }
}

/* ---- rows of contacts ---- */

/* ∂P/∂(Λ, λ) and ∂κ̂/∂(κ, λ) */
static void add_percussion(dls_alpha *alpha, int f, int k, int i, double s) {
    column(alpha, alpha->at.impact[f] + k)[i] += s;
    column(alpha, alpha->at.force[f] + k)[i] += s * alpha->stage.c_u;
}

static void add_normal(dls_alpha *alpha, int k) {
    const dls_layout *at = &alpha->at;
    const int f = DLS_ROWS_N;
    double r = alpha->options.residual == DLS_ALPHA_PROX ? alpha->r_n[k] : 1;
    bool multiplier = alpha->options.open == DLS_OPEN_MULTIPLIER;
    int kappa = at->kappa[f] + k, impact = at->impact[f] + k, force = at->force[f] + k;
    if (alpha->sets.A[k])
        add_position(alpha, f, k, kappa, r);
    else {
        column(alpha, kappa)[kappa] += 1;
        if (!multiplier) column(alpha, force)[kappa] += alpha->stage.c_q;
    }
    if (alpha->sets.B[k])
        add_xi(alpha, f, k, impact, r, alpha->contacts[k].e_n);
    else if (multiplier)
        column(alpha, impact)[impact] += 1;
    else
        add_percussion(alpha, f, k, impact, 1);
    if (alpha->sets.C[k])
        add_acceleration(alpha, f, k, force, r);
    else
        column(alpha, force)[force] += 1;
}

static void add_impact_law(dls_alpha *alpha, const double *x, int l) {
    const dls_model_friction *law = &alpha->laws[l];
    dls_law_value value = dls_impact_law(alpha, x, l);
    bool closed = law->contact < 0 || alpha->sets.A[law->contact];
    bool split = alpha->stage.split[l] && closed && !alpha->sets.D[l];
    int first = alpha->law_row[l], d = law->size;
    for (int i = 0; i < d; i++) {
        int place = alpha->at.impact[DLS_ROWS_F] + first + i;
        for (int j = 0; j < d; j++) {
            double in_y = value.y[i + d * j], in_z = value.z[i + d * j];
            if (in_y != 0) add_xi(alpha, DLS_ROWS_F, first + j, place, in_y, law->e_t);
            if (split)
                column(alpha, alpha->at.impact[DLS_ROWS_F] + first + j)[place] += in_z;
            else
                add_percussion(alpha, DLS_ROWS_F, first + j, place, in_z);
        }
        if (law->contact < 0) continue;
        if (split)
            column(alpha, alpha->at.impact[DLS_ROWS_N] + law->contact)[place] += value.N[i];
        else
            add_percussion(alpha, DLS_ROWS_N, law->contact, place, value.N[i]);
    }
}

static void add_force_law(dls_alpha *alpha, const double *x, int l) {
    const dls_model_friction *law = &alpha->laws[l];
    dls_law_value value = dls_force_law(alpha, x, l);
    int first = alpha->law_row[l], d = law->size;
    for (int i = 0; i < d; i++) {
        int place = alpha->at.force[DLS_ROWS_F] + first + i;
        for (int j = 0; j < d; j++) {
            double in_y = value.y[i + d * j];
            if (in_y != 0 && alpha->sets.D[l])
                add_acceleration(alpha, DLS_ROWS_F, first + j, place, in_y);
            else if (in_y != 0)
                add_velocity(alpha, DLS_ROWS_F, first + j, place, in_y);
            column(alpha, alpha->at.force[DLS_ROWS_F] + first + j)[place] += value.z[i + d * j];
        }
        if (law->contact >= 0) column(alpha, alpha->at.force[DLS_ROWS_N] + law->contact)[place] += value.N[i];
    }
}

/* ---- the whole ---- */

static void add_contacts(dls_alpha *alpha, const double *x) {
    if (alpha->stage.frozen) {
        for (int i = alpha->at.smooth; i < alpha->at.total; i++) column(alpha, i)[i] = 1;
        return;
    }
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++) add_normal(alpha, k);
    for (int l = 0; l < alpha->system.law_count; l++) {
        add_impact_law(alpha, x, l);
        add_force_law(alpha, x, l);
    }
}

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

/* Rows that hold y = 0 ask for y + ε/r (z − z₀) = 0 instead, so that R′ is regular where more directions are
 * held than there are freedoms. Where their equations contradict each other, forces go far along what they
 * share, until a law reaches the border of its reservoir. */
static void add_yielding(dls_alpha *alpha) {
    static const double epsilon = 1e-8;
    const dls_layout *at = &alpha->at;
    bool raw = alpha->options.residual == DLS_ALPHA_PROX;
    for (int k = 0; k < at->count[DLS_ROWS_N]; k++) {
        double share = raw ? epsilon : epsilon / alpha->r_n[k];
        int kappa = at->kappa[DLS_ROWS_N] + k, impact = at->impact[DLS_ROWS_N] + k;
        int force = at->force[DLS_ROWS_N] + k;
        if (alpha->sets.A[k]) column(alpha, kappa)[kappa] += share;
        if (alpha->sets.B[k]) column(alpha, impact)[impact] += share;
        if (alpha->sets.C[k]) column(alpha, force)[force] += share;
    }
    for (int l = 0; l < alpha->system.law_count; l++)
        for (int i = alpha->law_row[l]; i < alpha->law_row[l + 1]; i++) {
            double share = raw ? epsilon : epsilon / alpha->r_t[l];
            int impact = at->impact[DLS_ROWS_F] + i, force = at->force[DLS_ROWS_F] + i;
            if (alpha->sets.D[l]) column(alpha, impact)[impact] += share;
            if (alpha->sets.E[l]) column(alpha, force)[force] += share;
        }
}

static bool by_chain_rule(dls_alpha *alpha, const double *x) {
    if (!dls_slopes_at(alpha, x)) return false;
    add_dynamics(alpha, x);
    add_bilateral(alpha);
    add_contacts(alpha, x);
    return true;
}

bool dls_jacobian_at(dls_alpha *alpha, const double *x) {
    memset(alpha->J, 0, sizeof *alpha->J * (size_t)alpha->at.total * (size_t)alpha->at.total);
    bool differences = alpha->options.jacobian == DLS_JACOBIAN_DIFFERENCES;
    bool good = differences ? by_differences(alpha, x) : by_chain_rule(alpha, x);
    if (good && alpha->stage.yielding && !alpha->stage.frozen) add_yielding(alpha);
    return good;
}
