/* Contacts with parts of friction, K = {r_n ≥ 0, |r_k| ≤ μ_k r_n for each part k}: the laws of the cone and
 * of the half-cylinder for any parts, and a safeguarded Newton that stands in for the exact law, which has a
 * closed form for one part alone. */
#include "problem/cone.h"
#include "solve/law/law_newton.h"

int dls_cone_newton_size(int d) { return newton_data_size(d); }

void dls_cone_newton_prepare(const dls_law_options *options, const dls_cone *cone, const double *W,
                             double *data) {
    newton_prepare(options, cone->d, W, 0, data);
}

void dls_cone_rho_prepare(const dls_law_options *options, const dls_cone *cone, const double *W,
                          double *data) {
    data[0] = dls_law_rho(options, cone->d, W);
}

static void velocity(int d, const double *W, const double *b, const double *r, double *v) {
    for (int i = 0; i < d; i++) v[i] = b[i];
    small_multiply_add(d, W, r, v);
}

/* ---- one projected step ---- */

dls_contact_state dls_sbp_cone(const dls_law_options *options, const dls_cone *cone, const double *W,
                               const double *data, const double *b, double *r) {
    (void)options;
    double v[DLS_MAX_BLOCK] = {0};
    parts_place place;
    velocity(cone->d, W, b, r, v);
    v[0] += parts_lift(cone, v);
    for (int i = 0; i < cone->d; i++) r[i] -= data[0] * v[i];
    parts_find(cone, r, &place);
    bool slips = false;
    for (int k = 0; k < cone->count; k++) slips = slips || place.cut[k];
    parts_project(cone, r);
    return !(r[0] > 0) ? DLS_OPEN : slips ? DLS_SLIP : DLS_STICK;
}

dls_contact_state dls_sal_cone(const dls_law_options *options, const dls_cone *cone, const double *W,
                               const double *data, const double *b, double *r) {
    (void)options;
    double v[DLS_MAX_BLOCK] = {0};
    dls_contact_state state = DLS_STICK;
    velocity(cone->d, W, b, r, v);
    for (int i = 0; i < cone->d; i++) r[i] -= data[0] * v[i];
    if (!(r[0] > 0)) {
        for (int i = 0; i < cone->d; i++) r[i] = 0;
        return DLS_OPEN;
    }
    for (int k = 0, at = 1; k < cone->count; at += cone->size[k++]) {
        double t = small_norm(cone->size[k], r + at), R = cone->mu[k] * r[0];
        if (t < R) continue;
        state = DLS_SLIP;
        for (int i = at; i < at + cone->size[k]; i++) r[i] = t > 0 ? r[i] * (R / t) : 0;
    }
    return state;
}

/* ---- eal: Z_n = r_n − max(0, τ_n), Z_k = r_k − the point of the disc of radius μ_k τ_n nearest to τ_k ----
 */

static void eal_cone_residual(int d, const newton_contact *c, const double *r, newton_point *at) {
    const dls_cone *cone = c->cone;
    for (int i = 0; i < d; i++) at->tau[i] = r[i] - c->rho * at->v[i];
    if (at->tau[0] <= 0) {
        at->state = DLS_OPEN;
        for (int i = 0; i < d; i++) at->Z[i] = r[i];
        return;
    }
    at->state = DLS_STICK;
    for (int i = 0; i < d; i++) at->Z[i] = c->rho * at->v[i];
    for (int k = 0, row = 1; k < cone->count; row += cone->size[k++]) {
        double t = small_norm(cone->size[k], at->tau + row), R = cone->mu[k] * at->tau[0];
        if (t < R) continue;
        at->state = DLS_SLIP;
        for (int i = row; i < row + cone->size[k]; i++) at->Z[i] = r[i] - (t > 0 ? R / t : 0) * at->tau[i];
    }
}

/* Stick rows: A = 0, B = ρ. Slip rows of part k, e = τ_k/|τ_k|, T = (I − eeᵀ)/|τ_k|, R = μ_k τ_n:
 *     A_kk = I − R T, A_kn = −μ_k e, B_kk = ρ R T, B_kn = ρ μ_k e */
static void eal_cone_blocks(int d, const newton_contact *c, const double *r, const newton_point *at,
                            double *A, double *B) {
    (void)r;
    const dls_cone *cone = c->cone;
    const double rho = c->rho;
    for (int k = 0; k < d * d; k++) A[k] = 0, B[k] = k % (d + 1) == 0 ? rho : 0;
    for (int k = 0, row = 1; k < cone->count; row += cone->size[k++]) {
        int end = row + cone->size[k];
        double mu = cone->mu[k], t = small_norm(cone->size[k], at->tau + row), R = mu * at->tau[0];
        if (t < R) continue;
        double shrink = t > 0 ? R / t : 0;
        for (int i = row; i < end; i++) {
            double e_i = t > 0 ? at->tau[i] / t : 0;
            for (int j = row; j < end; j++) {
                double unit = i == j, turn = shrink * (unit - (t > 0 ? e_i * at->tau[j] / t : 0));
                A[i + d * j] = unit - turn;
                B[i + d * j] = rho * turn;
            }
            A[i] = -mu * e_i;
            B[i] = rho * mu * e_i;
        }
    }
}

static const newton_law eal_cone_law = {eal_cone_residual, eal_cone_blocks};

/* ---- ebp: Z = r − proj_K(τ), τ = r − ρ(v + Σ μ_k|v_k| n) ---- */

static void ebp_cone_residual(int d, const newton_contact *c, const double *r, newton_point *at) {
    double moved[DLS_MAX_BLOCK] = {0};
    parts_place place;
    at->tau[0] = r[0] - c->rho * (at->v[0] + parts_lift(c->cone, at->v));
    for (int i = 1; i < d; i++) at->tau[i] = r[i] - c->rho * at->v[i];
    parts_find(c->cone, at->tau, &place);
    at->state = place.n > 0 ? DLS_SLIP : DLS_OPEN; /* stick, too, has its blocks below */
    parts_natural_map(c->cone, 1 / c->rho, r, at->v, moved);
    for (int i = 0; i < d; i++) at->Z[i] = at->state == DLS_OPEN ? r[i] : c->rho * moved[i];
}

/* J = ∂proj/∂τ: over the parts that are cut, with e = τ_k/|τ_k|, n' = (1, μ_k e)/(1 + Σ μ_k²):
 *     J_n = n',   J_k = μ_k e n' + μ_k n (I − eeᵀ)/|τ_k|;   parts that are not stay.  A = I − J,  B = ρ J G,
 * G = I with the row n raised by μ_k v_k/|v_k|. */
static void ebp_cone_blocks(int d, const newton_contact *c, const double *r, const newton_point *at,
                            double *A, double *B) {
    (void)r;
    const dls_cone *cone = c->cone;
    double J[DLS_MAX_BLOCK * DLS_MAX_BLOCK] = {0}, slope[DLS_MAX_BLOCK] = {1}, raise[DLS_MAX_BLOCK] = {0};
    double weight = 1;
    parts_place place;
    parts_find(cone, at->tau, &place);
    for (int k = 0, row = 1; k < cone->count; row += cone->size[k++]) {
        double speed = small_norm(cone->size[k], at->v + row);
        if (place.cut[k]) weight += cone->mu[k] * cone->mu[k];
        for (int i = row; i < row + cone->size[k]; i++) {
            slope[i] = place.cut[k] ? cone->mu[k] * at->tau[i] / place.length[k] : 0;
            raise[i] = speed > 0 ? cone->mu[k] * at->v[i] / speed : 0;
        }
    }
    for (int j = 0; j < d; j++) J[d * j] = slope[j] / weight;
    for (int k = 0, row = 1; k < cone->count; row += cone->size[k++])
        for (int i = row; i < row + cone->size[k]; i++) {
            double e_i = place.cut[k] ? at->tau[i] / place.length[k] : 0;
            double turn = place.cut[k] ? cone->mu[k] * place.n / place.length[k] : 1;
            for (int j = 0; j < d && place.cut[k]; j++) J[i + d * j] = cone->mu[k] * e_i * slope[j] / weight;
            for (int j = row; j < row + cone->size[k]; j++)
                J[i + d * j] += turn * ((i == j) - (place.cut[k] ? e_i * at->tau[j] / place.length[k] : 0));
        }
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++) {
            A[i + d * j] = (i == j) - J[i + d * j];
            B[i + d * j] = c->rho * (J[i + d * j] + J[i] * raise[j]);
        }
}

static const newton_law ebp_cone_law = {ebp_cone_residual, ebp_cone_blocks};

/* ---- the rows of the tables ---- */

dls_contact_state dls_ebp_cone(const dls_law_options *options, const dls_cone *cone, const double *W,
                               const double *data, const double *b, double *r) {
    newton_contact c = {.W = W, .data = data, .b = b, .rho = data[0], .cone = cone};
    return newton_solve(&ebp_cone_law, options, cone->d, &c, r);
}

dls_contact_state dls_eal_cone(const dls_law_options *options, const dls_cone *cone, const double *W,
                               const double *data, const double *b, double *r) {
    newton_contact c = {.W = W, .data = data, .b = b, .rho = data[0], .cone = cone};
    return newton_solve(&eal_cone_law, options, cone->d, &c, r);
}

/* Newton on the half-cylinder; where it ends nowhere on the cone, from the same start. */
dls_contact_state dls_exact_cone(const dls_law_options *options, const dls_cone *cone, const double *W,
                                 const double *data, const double *b, double *r) {
    dls_law_options own = *options;
    double start[DLS_MAX_BLOCK];
    own.local_tolerance = 1e-14;
    own.local_iterations = 20;
    own.safeguard = true;
    if (b[0] >= 0) {
        for (int i = 0; i < cone->d; i++) r[i] = 0;
        return DLS_OPEN;
    }
    memcpy(start, r, sizeof(double) * (size_t)cone->d);
    dls_contact_state state = dls_eal_cone(&own, cone, W, data, b, r);
    if (state != DLS_UNSOLVED) return state;
    memcpy(r, start, sizeof(double) * (size_t)cone->d);
    return dls_ebp_cone(&own, cone, W, data, b, r);
}

static dls_contact_state linearize(const newton_law *law, const newton_contact *c, const double *r,
                                   const double *v, double *Z, double *A, double *B) {
    int d = c->cone->d;
    newton_point at;
    memcpy(at.v, v, sizeof(double) * (size_t)d);
    law->residual(d, c, r, &at);
    memcpy(Z, at.Z, sizeof(double) * (size_t)d);
    if (at.state == DLS_SLIP)
        law->slip_blocks(d, c, r, &at, A, B);
    else
        newton_plain_blocks(d, c->rho, at.state, A, B);
    return at.state;
}

dls_contact_state dls_ebp_linearize_cone(const dls_cone *cone, double rho, const double *r, const double *v,
                                         double *Z, double *A, double *B) {
    newton_contact c = {.rho = rho, .cone = cone};
    return linearize(&ebp_cone_law, &c, r, v, Z, A, B);
}

dls_contact_state dls_eal_linearize_cone(const dls_cone *cone, double rho, const double *r, const double *v,
                                         double *Z, double *A, double *B) {
    newton_contact c = {.rho = rho, .cone = cone};
    return linearize(&eal_cone_law, &c, r, v, Z, A, B);
}
