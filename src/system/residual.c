/* R(x) of a step, with the sets that tell its pieces. */
#include "system/alpha.h"

#include "base/small.h"

#include <math.h>
#include <string.h>

static void copy(double *to, const double *from, int count) { memcpy(to, from, sizeof *to * (size_t)count); }

/* ---- the step's constants ---- */

/* (α_f v₀ − α_m v̄₀)/(1 − α_m): what v̄₁ has of the step before; the bars fit a step of dt. */
static double carried(const dls_alpha *alpha, double value, double bar) {
    return (alpha->alpha_f * value - alpha->alpha_m * bar) / (1 - alpha->alpha_m);
}

static void begin_forces(dls_alpha *alpha, double dt) {
    dls_alpha_stage *stage = &alpha->stage;
    double gamma = alpha->gamma, beta = alpha->beta;
    for (int f = DLS_ROWS_N; f <= DLS_ROWS_F; f++)
        for (int i = 0; i < alpha->at.count[f]; i++) {
            double bar = alpha->state.bar[f][i], next = carried(alpha, alpha->state.force[f][i], bar);
            stage->percussion_base[f][i] = dt * ((1 - gamma) * bar + gamma * next);
            if (f == DLS_ROWS_N)
                stage->kappa_base[i] = dt * dt / 2 * ((1 - 2 * beta) * bar + 2 * beta * next);
        }
}

/* q₁ = q₀ + dt q̇₀ + dt²/2 q̈(t₀, q₀, u₀, (1−2β)ā₀ + 2βā₁) + B Q,  u₁ = u₀ + dt((1−γ)ā₀ + γā₁) + U */
bool dls_stage_begin(dls_alpha *alpha, double dt, double closing) {
    dls_alpha_stage *stage = &alpha->stage;
    const dls_alpha_state *from = &alpha->state;
    int n = alpha->at.n, m = alpha->at.m;
    double *rate = stage->q, *bend = alpha->motion_bend, *mean = stage->u;
    double share = (1 - alpha->alpha_f) / (1 - alpha->alpha_m);
    stage->dt = dt, stage->t1 = from->t + dt, stage->closing = closing;
    stage->c_u = dt * alpha->gamma * share, stage->c_q = dt * dt * alpha->beta * share;
    stage->frozen = stage->keep_sets = false;
    memset(stage->near, 0, sizeof *stage->near * (size_t)alpha->at.count[DLS_ROWS_N]);
    if (!dls_motion_at(alpha, from->t, from->q, from->u, rate, stage->B, bend)) return false;
    for (int i = 0; i < m; i++) {
        double bar = from->a_bar[i], next = carried(alpha, from->a[i], bar);
        stage->u_base[i] = from->u[i] + dt * ((1 - alpha->gamma) * bar + alpha->gamma * next);
        mean[i] = (1 - 2 * alpha->beta) * bar + 2 * alpha->beta * next;
    }
    for (int i = 0; i < n; i++) stage->q_base[i] = from->q[i] + dt * rate[i] + dt * dt / 2 * bend[i];
    dls_motion_add(alpha, dt * dt / 2, stage->B, mean, stage->q_base);
    begin_forces(alpha, dt);
    return dls_terms_at(alpha, &stage->terms, from->t, from->q, from->u, DLS_WANT_ALL) &&
           dls_scale_prox(alpha);
}

/* ---- the point at x ---- */

static bool place(dls_alpha *alpha, const double *x) {
    dls_alpha_stage *stage = &alpha->stage;
    int n = alpha->at.n, m = alpha->at.m;
    copy(stage->q, stage->q_base, n);
    dls_motion_add(alpha, stage->c_q, stage->B, x + alpha->at.a, stage->q);
    dls_motion_add(alpha, 1, stage->B, x + alpha->at.Q, stage->q);
    for (int i = 0; i < m; i++)
        stage->u[i] = stage->u_base[i] + stage->c_u * x[alpha->at.a + i] + x[alpha->at.U + i];
    if (!dls_terms_at(alpha, &stage->terms, stage->t1, stage->q, stage->u, DLS_WANT_ALL)) return false;
    DLS_EACH_FAMILY(f) {
        const dls_row_terms *rows = &stage->terms.rows[f];
        copy(stage->acceleration[f], rows->zeta, alpha->at.count[f]);
        for (int i = 0; i < alpha->at.count[f]; i++) {
            const dls_row_place *row = &alpha->place[f][i];
            stage->acceleration[f][i] += dls_row_dot(row, rows->W + row->W, x + alpha->at.a);
        }
        if (!dls_rates_at(alpha, f, stage->t1, stage->q, alpha->state.u, stage->before[f])) return false;
    }
    return true;
}

/* P = Λ + dt((1−γ)λ̄₀ + γλ̄₁),  κ̂ = κ_N + dt²/2((1−2β)λ̄₀ + 2βλ̄₁),  ξ = ġ(u₁) + e ġ(u₀) */
static void percuss(dls_alpha *alpha, const double *x) {
    dls_alpha_stage *stage = &alpha->stage;
    const dls_layout *at = &alpha->at;
    for (int f = DLS_ROWS_N; f <= DLS_ROWS_F; f++)
        for (int i = 0; i < at->count[f]; i++)
            stage->percussion[f][i] =
                x[at->impact[f] + i] + stage->c_u * x[at->force[f] + i] + stage->percussion_base[f][i];
    for (int i = 0; i < at->count[DLS_ROWS_N]; i++) {
        stage->kappa_hat[i] =
            x[at->kappa[DLS_ROWS_N] + i] + stage->c_q * x[at->force[DLS_ROWS_N] + i] + stage->kappa_base[i];
        stage->xi[DLS_ROWS_N][i] =
            stage->terms.rows[DLS_ROWS_N].rate[i] + alpha->contacts[i].e_n * stage->before[DLS_ROWS_N][i];
    }
    for (int l = 0; l < alpha->system.law_count; l++)
        for (int i = alpha->law_row[l]; i < alpha->law_row[l + 1]; i++)
            stage->xi[DLS_ROWS_F][i] =
                stage->terms.rows[DLS_ROWS_F].rate[i] + alpha->laws[l].e_t * stage->before[DLS_ROWS_F][i];
}

double dls_normal_force(const dls_alpha *alpha, int law, const double *force, double share) {
    int contact = alpha->laws[law].contact;
    return contact < 0 ? alpha->laws[law].limit * share : force[contact];
}

/* ---- sets ---- */

static void find_normal_sets(dls_alpha *alpha, const double *x) {
    const dls_alpha_stage *stage = &alpha->stage;
    const double *force = x + alpha->at.force[DLS_ROWS_N];
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++) {
        double r = alpha->r_n[k], gap = stage->terms.rows[DLS_ROWS_N].value[k] - stage->closing;
        alpha->sets.place[k] = r * gap - stage->kappa_hat[k] <= 0;
        alpha->sets.A[k] = alpha->sets.place[k] || stage->near[k];
        double xi = stage->xi[DLS_ROWS_N][k] - stage->closing;
        alpha->sets.B[k] = alpha->sets.A[k] && r * xi - stage->percussion[DLS_ROWS_N][k] <= 0;
        alpha->sets.C[k] = alpha->sets.B[k] && r * stage->acceleration[DLS_ROWS_N][k] - force[k] <= 0;
    }
}

/* A percussion is split where the law slid before and the direction turns by less than 60°; a planar
 * direction turns by 0 or by 180°, and both forms agree in the first case. */
static bool is_split(const dls_alpha *alpha, int l) {
    const dls_model_friction *law = &alpha->laws[l];
    const double *from = alpha->slip_before + alpha->law_row[l],
                 *to = alpha->stage.xi[DLS_ROWS_F] + alpha->law_row[l];
    if (alpha->stage.whole) return false;
    if (alpha->options.slip != DLS_SLIP_SWITCHED) return alpha->options.slip == DLS_SLIP_SPLIT;
    bool slid = (law->contact < 0 || alpha->state.closed[law->contact]) && !alpha->state.sticking[l];
    return slid && law->size > 1 &&
           small_dot(law->size, from, to) > 0.5 * small_norm(law->size, from) * small_norm(law->size, to);
}

/* In the initial step there is no percussion that would tell rest from rounding. */
static bool is_still(const dls_alpha *alpha, int l) {
    double size = 0, r = alpha->r_t[l];
    for (int i = alpha->law_row[l]; i < alpha->law_row[l + 1]; i++)
        size = fmax(size, fabs(r * alpha->stage.xi[DLS_ROWS_F][i] - alpha->stage.percussion[DLS_ROWS_F][i]));
    return alpha->stage.closing > 0 && size <= r * alpha->stage.closing;
}

/* On the border of a cone rounding would tell stick from slip, and a slip that is none has no direction:
 * where faces lie on each other some contacts are there as a rule. */
double dls_slack_of(const dls_alpha *alpha, bool accelerations) {
    double v = alpha->stage.v_ref, share = 0.1 * alpha->options.tolerance;
    if (!alpha->options.scaled || !(v > 0)) return 0;
    return share * (accelerations ? v / alpha->options.dt : v);
}

static void find_slip_sets(dls_alpha *alpha, const double *x) {
    const dls_alpha_stage *stage = &alpha->stage;
    void *user = alpha->system.user;
    double slow = dls_slack_of(alpha, false), slack = dls_slack_of(alpha, true);
    for (int l = 0; l < alpha->system.law_count; l++) {
        const dls_model_friction *law = &alpha->laws[l];
        int row = alpha->law_row[l];
        bool closed = law->contact < 0 || alpha->sets.A[law->contact];
        double P = dls_normal_force(alpha, l, stage->percussion[DLS_ROWS_N], stage->dt);
        double N = dls_normal_force(alpha, l, x + alpha->at.force[DLS_ROWS_N], 1);
        alpha->sets.D[l] =
            closed &&
            (is_still(alpha, l) || dls_friction_sticks(law, alpha->r_t[l], stage->xi[DLS_ROWS_F] + row,
                                                       stage->percussion[DLS_ROWS_F] + row, P, slow, user));
        alpha->sets.E[l] =
            alpha->sets.D[l] && dls_friction_sticks(law, alpha->r_t[l], stage->acceleration[DLS_ROWS_F] + row,
                                                    x + alpha->at.force[DLS_ROWS_F] + row, N, slack, user);
        stage->split[l] = is_split(alpha, l);
    }
}

/* ---- rows ---- */

static void dynamics_at(const dls_alpha *alpha, const dls_terms *terms, const double *x, double *rows) {
    int m = alpha->at.m;
    double share;
    memset(rows, 0, sizeof *rows * (size_t)(3 * m));
    for (int i = 0; i < m; i++) rows[i] = -terms->h[i];
    for (int k = 0; k < 3; k++) {
        dls_blocks_add(alpha, 1, terms->M, x + m * k, rows + m * k);
        DLS_EACH_FAMILY(f) {
            const double *y = dls_dynamic_force(alpha, x, f, k, &share), *W = terms->rows[f].W;
            for (int i = 0; i < alpha->at.count[f]; i++)
                dls_row_add(&alpha->place[f][i], -share * y[i], W + alpha->place[f][i].W, rows + m * k);
        }
    }
}

static void bilateral_rows(const dls_alpha *alpha, double *R) {
    const dls_alpha_stage *stage = &alpha->stage;
    for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++) {
        if (alpha->at.kappa[f] >= 0)
            copy(R + alpha->at.kappa[f], stage->terms.rows[f].value, alpha->at.count[f]);
        copy(R + alpha->at.impact[f], stage->terms.rows[f].rate, alpha->at.count[f]);
        copy(R + alpha->at.force[f], stage->acceleration[f], alpha->at.count[f]);
    }
}

/* With the raw residual (23) a closed row is z + prox(r y − z) = r y. */
static void normal_rows(const dls_alpha *alpha, const double *x, double *R) {
    const dls_alpha_stage *stage = &alpha->stage;
    const dls_layout *at = &alpha->at;
    const int f = DLS_ROWS_N;
    bool raw = alpha->options.residual == DLS_ALPHA_PROX,
         multiplier = alpha->options.open == DLS_OPEN_MULTIPLIER;
    for (int k = 0; k < at->count[f]; k++) {
        double r = raw ? alpha->r_n[k] : 1;
        double kappa = multiplier ? x[at->kappa[f] + k] : stage->kappa_hat[k];
        double impact = multiplier ? x[at->impact[f] + k] : stage->percussion[f][k];
        R[at->kappa[f] + k] = alpha->sets.place[k] ? r * stage->terms.rows[f].value[k] : kappa;
        R[at->impact[f] + k] = alpha->sets.B[k] ? r * stage->xi[f][k] : impact;
        R[at->force[f] + k] = alpha->sets.C[k] ? r * stage->acceleration[f][k] : x[at->force[f] + k];
    }
}

dls_law_value dls_impact_law(const dls_alpha *alpha, const double *x, int l) {
    const dls_alpha_stage *stage = &alpha->stage;
    const dls_model_friction *law = &alpha->laws[l];
    int row = alpha->law_row[l];
    bool closed = law->contact < 0 || alpha->sets.A[law->contact];
    dls_slip_mode mode = !closed ? DLS_MODE_OPEN : alpha->sets.D[l] ? DLS_MODE_STICK : DLS_MODE_SLIP;
    const double *z = stage->percussion[DLS_ROWS_F] + row, *normal = stage->percussion[DLS_ROWS_N];
    double share = stage->dt;
    if (mode == DLS_MODE_SLIP && stage->split[l])
        z = x + alpha->at.impact[DLS_ROWS_F] + row, normal = x + alpha->at.impact[DLS_ROWS_N], share = 0;
    else if (closed && alpha->options.residual == DLS_ALPHA_PROX)
        mode = DLS_MODE_PROX;
    return dls_friction_value(law, mode, alpha->r_t[l], stage->xi[DLS_ROWS_F] + row, z,
                              dls_normal_force(alpha, l, normal, share), alpha->system.user);
}

dls_law_value dls_force_law(const dls_alpha *alpha, const double *x, int l) {
    const dls_alpha_stage *stage = &alpha->stage;
    const dls_model_friction *law = &alpha->laws[l];
    int row = alpha->law_row[l];
    bool closed = law->contact < 0 || alpha->sets.A[law->contact];
    dls_slip_mode mode = !closed ? DLS_MODE_OPEN : alpha->sets.E[l] ? DLS_MODE_STICK : DLS_MODE_SLIP;
    if (alpha->sets.D[l] && alpha->options.residual == DLS_ALPHA_PROX) mode = DLS_MODE_PROX;
    const double *y = alpha->sets.D[l] ? stage->acceleration[DLS_ROWS_F] : stage->terms.rows[DLS_ROWS_F].rate;
    return dls_friction_value(law, mode, alpha->r_t[l], y + row, x + alpha->at.force[DLS_ROWS_F] + row,
                              dls_normal_force(alpha, l, x + alpha->at.force[DLS_ROWS_N], 1),
                              alpha->system.user);
}

static void slip_rows(const dls_alpha *alpha, const double *x, double *R) {
    for (int l = 0; l < alpha->system.law_count; l++) {
        int row = alpha->law_row[l], d = alpha->laws[l].size;
        dls_law_value impact = dls_impact_law(alpha, x, l), force = dls_force_law(alpha, x, l);
        copy(R + alpha->at.impact[DLS_ROWS_F] + row, impact.f, d);
        copy(R + alpha->at.force[DLS_ROWS_F] + row, force.f, d);
    }
}

bool dls_residual_at(dls_alpha *alpha, const double *x, double *R) {
    if (!place(alpha, x)) return false;
    percuss(alpha, x);
    if (!alpha->stage.keep_sets) {
        find_normal_sets(alpha, x);
        find_slip_sets(alpha, x);
    }
    dynamics_at(alpha, &alpha->stage.terms, x, R);
    bilateral_rows(alpha, R);
    if (alpha->stage.frozen) {
        memset(R + alpha->at.smooth, 0, sizeof *R * (size_t)(alpha->at.total - alpha->at.smooth));
        return true;
    }
    normal_rows(alpha, x, R);
    slip_rows(alpha, x, R);
    return true;
}

double dls_alpha_norm(const dls_alpha *alpha, const double *R) {
    double largest = 0;
    for (int i = 0; i < alpha->at.total; i++)
        if (!(alpha->weight[i] * fabs(R[i]) <= largest)) largest = alpha->weight[i] * fabs(R[i]);
    return largest;
}
