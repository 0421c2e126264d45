/* The contacts of a step as one small problem of accelerations, A = D λ + free. */
#include "system/alpha.h"

#include "base/lu.h"
#include "base/small.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Row i of those of contacts, N before F. */
static const double *direction_of(const dls_alpha *alpha, int i) {
    int normals = alpha->at.count[DLS_ROWS_N], f = i < normals ? DLS_ROWS_N : DLS_ROWS_F;
    return alpha->stage.terms.rows[f].W + (int64_t)alpha->at.m * (i < normals ? i : i - normals);
}

/* [M −W_g −W_γ; W_gᵀ; W_γᵀ], of which the constraints are left out where they depend on each other. */
static int factor_held(dls_alpha *alpha, bool with_constraints) {
    const dls_terms *terms = &alpha->stage.terms;
    int m = alpha->at.m, size = m, place = m;
    if (with_constraints) size += alpha->at.count[DLS_ROWS_G] + alpha->at.count[DLS_ROWS_GAMMA];
    memset(alpha->held, 0, sizeof(double) * (size_t)size * (size_t)size);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) alpha->held[i + (int64_t)size * j] = terms->M[i + m * j];
    for (int f = DLS_ROWS_G; with_constraints && f <= DLS_ROWS_GAMMA; f++)
        for (int k = 0; k < alpha->at.count[f]; k++, place++)
            for (int i = 0; i < m; i++) {
                alpha->held[i + (int64_t)size * place] = -terms->rows[f].W[i + m * k];
                alpha->held[place + (int64_t)size * i] = terms->rows[f].W[i + m * k];
            }
    return dls_lu_factor(size, alpha->held, alpha->held_pivot, alpha->lu_room) ? 0 : size;
}

/* a = M⁻¹h with constraints held. */
static void free_acceleration(dls_alpha *alpha, int size) {
    const dls_terms *terms = &alpha->stage.terms;
    int m = alpha->at.m, place = m;
    memcpy(alpha->held_x, terms->h, sizeof(double) * (size_t)m);
    for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++)
        for (int k = 0; k < alpha->at.count[f] && place < size; k++)
            alpha->held_x[place++] = -terms->rows[f].zeta[k];
    dls_lu_solve(size, alpha->held, alpha->held_pivot, alpha->held_x);
}

bool dls_contact_system(dls_alpha *alpha) {
    int m = alpha->at.m, normals = alpha->at.count[DLS_ROWS_N], rows = normals + alpha->at.count[DLS_ROWS_F];
    int size = factor_held(alpha, true);
    if (!size) size = factor_held(alpha, false);
    if (!size) return false;
    free_acceleration(alpha, size);
    for (int i = 0; i < rows; i++) {
        const dls_row_terms *terms = &alpha->stage.terms.rows[i < normals ? DLS_ROWS_N : DLS_ROWS_F];
        alpha->free[i] =
            small_dot(m, direction_of(alpha, i), alpha->held_x) + terms->zeta[i < normals ? i : i - normals];
    }
    for (int j = 0; j < rows; j++) {
        memcpy(alpha->held_x, direction_of(alpha, j), sizeof(double) * (size_t)m);
        memset(alpha->held_x + m, 0, sizeof(double) * (size_t)(size - m));
        dls_lu_solve(size, alpha->held, alpha->held_pivot, alpha->held_x);
        for (int i = 0; i < rows; i++)
            alpha->delassus[i + (int64_t)rows * j] = small_dot(m, direction_of(alpha, i), alpha->held_x);
    }
    return true;
}

/* Σ_j |D_ij| over the rows of the contact itself and of those that were closed: 1/r of a safe fixed point. */
static double row_sum(const dls_alpha *alpha, int i, int contact) {
    int normals = alpha->at.count[DLS_ROWS_N], rows = normals + alpha->at.count[DLS_ROWS_F];
    double sum = 0;
    for (int k = 0; k < normals; k++)
        if (k == contact || alpha->state.closed[k]) sum += fabs(alpha->delassus[i + (int64_t)rows * k]);
    for (int l = 0; l < alpha->system.law_count; l++) {
        int owner = alpha->laws[l].contact;
        if (owner >= 0 && owner != contact && !alpha->state.closed[owner]) continue;
        for (int k = alpha->law_row[l]; k < alpha->law_row[l + 1]; k++)
            sum += fabs(alpha->delassus[i + (int64_t)rows * (normals + k)]);
    }
    return sum;
}

static double prox_parameter(const dls_alpha *alpha, double own, double sum) {
    if (own > 0) return own;
    if (alpha->options.r > 0) return alpha->options.r;
    return sum > 0 ? 1 / sum : 1;
}

/* ---- units ---- */

/* WᵀM⁻¹W of a row, masses alone. */
static double mobility(const dls_alpha *alpha, int family, int row) {
    const dls_terms *terms = &alpha->stage.terms;
    int m = alpha->at.m;
    double sum = 0;
    for (int k = 0; k < m; k++) {
        double w = terms->rows[family].W[k + m * row], mass = fabs(terms->M[k * (m + 1)]);
        if (mass > 0) sum += w * w / mass;
    }
    return sum;
}

static double largest(int count, const double *x) {
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* What rounding leaves of positions, velocities and accelerations. */
static void find_rounding(dls_alpha *alpha) {
    static const double epsilon = 32 * DBL_EPSILON;
    const dls_terms *terms = &alpha->stage.terms;
    int m = alpha->at.m;
    double acceleration = largest(m, alpha->state.a);
    for (int i = 0; i < m; i++) {
        double mass = fabs(terms->M[i * (m + 1)]);
        if (mass > 0) acceleration = fmax(acceleration, fabs(terms->h[i]) / mass);
    }
    double speed = largest(m, alpha->state.u), place = largest(alpha->at.n, alpha->state.q);
    alpha->stage.rounding[0] = epsilon * (place + alpha->options.dt * speed);
    alpha->stage.rounding[1] = epsilon * (speed + alpha->options.dt * acceleration);
    alpha->stage.rounding[2] = epsilon * (acceleration + speed * speed);
}

/* Of a row and its forces at the levels of position, velocity and acceleration; level: one over what counts
 * as much as v_ref does. */
static void weigh_row(dls_alpha *alpha, int f, int row, const double *level) {
    const dls_layout *at = &alpha->at;
    double rate = dls_row_unit(alpha, f, row), force = f < DLS_ROWS_N ? 0 : rate * mobility(alpha, f, row);
    double one = fmax(rate, force);
    if (at->kappa[f] >= 0) alpha->weight[at->kappa[f] + row] = one * level[0];
    alpha->weight[at->impact[f] + row] = one * level[1];
    alpha->weight[at->force[f] + row] = one * level[2];
}

/* Of R: 1, or with `scaled` one over what v_ref does and what rounding leaves: √(M_ii m) times it for rows of
 * motion with m the largest mass, in the units of its rows for kinematics and forces. */
static void weigh(dls_alpha *alpha) {
    const dls_terms *terms = &alpha->stage.terms;
    double v = alpha->stage.v_ref, dt = alpha->options.dt, tolerance = alpha->options.tolerance, level[3];
    double scale[3] = {v * dt, v, v / dt}, heaviest = 0;
    int m = alpha->at.m;
    for (int i = 0; i < alpha->at.total; i++) alpha->weight[i] = 1;
    if (!alpha->options.scaled || !(v > 0)) return;
    for (int k = 0; k < 3; k++) level[k] = 1 / (scale[k] + alpha->stage.rounding[k] / tolerance);
    for (int i = 0; i < m; i++) heaviest = fmax(heaviest, fabs(terms->M[i * (m + 1)]));
    for (int i = 0; i < m; i++) {
        double one = 1 / sqrt(fabs(terms->M[i * (m + 1)]) * heaviest);
        alpha->weight[alpha->at.a + i] = one * level[2];
        alpha->weight[alpha->at.U + i] = one * level[1];
        alpha->weight[alpha->at.Q + i] = one * level[0];
    }
    DLS_EACH_FAMILY(f)
    for (int i = 0; i < alpha->at.count[f]; i++) weigh_row(alpha, f, i, level);
}

bool dls_scale_prox(dls_alpha *alpha) {
    int normals = alpha->at.count[DLS_ROWS_N];
    double sum = 0;
    if (!dls_contact_system(alpha)) {
        alpha->culprit = "mass (singular)", alpha->culprit_family = -1;
        return false;
    }
    for (int k = 0; k < normals; k++) {
        alpha->r_n[k] = prox_parameter(alpha, alpha->contacts[k].r, row_sum(alpha, k, k));
        sum += alpha->free[k] * alpha->free[k];
    }
    for (int l = 0; l < alpha->system.law_count; l++) {
        double largest = 0;
        for (int i = alpha->law_row[l]; i < alpha->law_row[l + 1]; i++)
            largest = fmax(largest, row_sum(alpha, normals + i, alpha->laws[l].contact));
        alpha->r_t[l] = prox_parameter(alpha, alpha->laws[l].r, largest);
    }
    memcpy(alpha->slip_before, alpha->stage.terms.rows[DLS_ROWS_F].rate,
           sizeof(double) * (size_t)alpha->at.count[DLS_ROWS_F]);
    alpha->stage.v_ref = alpha->options.v_ref;
    if (!(alpha->options.v_ref > 0) && normals > 0)
        alpha->stage.v_ref = alpha->options.dt * sqrt(sum / normals);
    find_rounding(alpha);
    weigh(alpha);
    return true;
}
