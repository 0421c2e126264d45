/* Elements as they move: mean motion, forces, energies, matrices. */
#include "world/solid/elements/elements.h"

#include "base/small.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

enum { CELL_ROWS = 3 * DLS_CELL_NODES };

/* ---- rotations ---- */

/* C = cofactors of A, det A. */
static double cofactors(const double *A, double *C) {
    for (int d = 0; d < 3; d++) vec_cross(C + 3 * d, A + 3 * ((d + 1) % 3), A + 3 * ((d + 2) % 3));
    return vec_dot(C, A);
}

/* R ← ½ (γ R + R⁻ᵀ/γ) until it turns no more (Higham); γ² = |R⁻¹|/|R|. */
static bool turn_of(const double *S, double *R) {
    double C[9], scale = small_norm(9, S);
    if (!(scale > 0) || !isfinite(scale)) return false;
    for (int k = 0; k < 9; k++) R[k] = S[k] / scale;
    for (int round = 0; round < 60; round++) {
        double det = cofactors(R, C), change = 0;
        if (!(det > 0)) return false;
        double gamma = sqrt(small_norm(9, C) / (det * small_norm(9, R)));
        for (int k = 0; k < 9; k++) {
            double next = 0.5 * (gamma * R[k] + C[k] / (det * gamma));
            change = fmax(change, fabs(next - R[k]));
            R[k] = next;
        }
        if (change < 1e-15) break;
    }
    return true;
}

bool dls_polar_of(const double *S, dls_polar *polar) {
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double G[9];
    bool turned = turn_of(S, polar->R);
    if (!turned) memcpy(polar->R, one, sizeof one);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            G[i + 3 * k] =
                -0.5 * (vec_dot(polar->R + 3 * i, S + 3 * k) + vec_dot(polar->R + 3 * k, S + 3 * i));
    double trace = -(G[0] + G[4] + G[8]);
    for (int k = 0; k < 3; k++) G[4 * k] += trace;
    if (!turned || !small_invert(3, G, polar->inverse)) {
        memset(polar->inverse, 0, sizeof polar->inverse);
        return false;
    }
    return true;
}

void dls_polar_rate(const dls_polar *polar, const double *w, double *rate) {
    for (int k = 0; k < 3; k++) {
        double column[3] = {polar->R[k], polar->R[k + 3], polar->R[k + 6]}; /* Rᵀ e_k */
        vec_cross(column, w, column);
        mat_apply(column, polar->inverse, column);
        mat_apply(rate + 3 * k, polar->R, column);
    }
}

bool dls_elements_frame(const dls_elements *e, const double *q, double *c, dls_polar *polar) {
    double S[9] = {0};
    vec_set(c, 0, 0, 0);
    for (int i = 0; i < e->mesh->node_count; i++) vec_along(c, c, e->share[i], q + 3 * i);
    for (int i = 0; i < e->mesh->node_count; i++) {
        double y[3];
        vec_sub(y, q + 3 * i, c);
        for (int k = 0; k < 3; k++) vec_along(S + 3 * k, S + 3 * k, e->w[3 * i + k], y);
    }
    return dls_polar_of(S, polar);
}

void dls_elements_begin(const dls_elements *e, const double *x, const double *R, const double *v,
                        const double *w, double *q, double *u) {
    for (int i = 0; i < e->mesh->node_count; i++) {
        double arm[3], turn[3];
        mat_apply(arm, R, e->mesh->X + 3 * i);
        vec_cross(turn, w, arm);
        vec_add(q + 3 * i, x, arm);
        vec_add(u + 3 * i, v, turn);
    }
}

/* ---- masses ---- */

void dls_elements_load(const dls_elements *e, const double *a, double *f) {
    for (int i = 0; i < e->mesh->node_count; i++) vec_along(f + 3 * i, f + 3 * i, e->mass * e->share[i], a);
}

double dls_elements_kinetic(const dls_elements *e, const double *u) {
    const dls_pattern *p = e->pattern;
    double sum = 0;
    for (int i = 0; i < p->nodes; i++)
        for (int64_t at = p->start[i]; at < p->start[i + 1]; at++)
            sum += (p->column[at] == i ? 0.5 : 1) * e->M[at] *
                   vec_dot(u + 3 * i, u + 3 * (int64_t)p->column[at]);
    return sum;
}

void dls_elements_add_mass(const dls_elements *e, double factor, double *A) {
    int64_t blocks = e->pattern->start[e->pattern->nodes];
    for (int64_t at = 0; at < blocks; at++)
        for (int d = 0; d < 3; d++) A[9 * at + 4 * d] += factor * e->M[at];
}

/* ---- corotational ---- */

/* d = Rᵀ(q − c) − X of a node. */
static void displacement(const dls_elements *e, const double *q, const double *c, const double *R, int i,
                         double *d) {
    vec_sub(d, q + 3 * (int64_t)i, c);
    mat_apply_transposed(d, R, d);
    vec_sub(d, d, e->mesh->X + 3 * (int64_t)i);
}

static double corotational_energy(const dls_elements *e, const double *q) {
    const dls_pattern *p = e->pattern;
    double c[3], sum = 0;
    dls_polar polar;
    dls_elements_frame(e, q, c, &polar);
    for (int i = 0; i < p->nodes; i++) {
        double d[3], other[3];
        displacement(e, q, c, polar.R, i, d);
        for (int64_t at = p->start[i]; at < p->start[i + 1]; at++) {
            const double *K = e->K0 + 9 * at;
            displacement(e, q, c, polar.R, p->column[at], other);
            sum += (p->column[at] == i ? 0.5 : 1) *
                   (d[0] * vec_dot(K, other) + d[1] * vec_dot(K + 3, other) + d[2] * vec_dot(K + 6, other));
        }
    }
    return sum;
}

/* One block of K₀ d: what it gives to its row and, below the diagonal, to its column. */
static void rest_force(const double *K, bool diagonal, const double *d, const double *other, double *own,
                       double *across) {
    for (int r = 0; r < 3; r++) {
        own[r] += vec_dot(K + 3 * r, other);
        across[r] = diagonal ? 0 : K[r] * d[0] + K[3 + r] * d[1] + K[6 + r] * d[2];
    }
}

/* t += d × p and f −= R p */
static void take_force(const double *R, const double *d, const double *p, double *t, double *f) {
    double moment[3], push[3];
    vec_cross(moment, d, p);
    vec_add(t, t, moment);
    mat_apply(push, R, p);
    vec_sub(f, f, push);
}

/* f_i = −R ((K₀ d)_i − (G⁻¹ t) × w_i), t = Σ d_i × (K₀ d)_i: what E loses as R turns with q. */
static void corotational_force(const dls_elements *e, const double *q, double *f) {
    const dls_pattern *p = e->pattern;
    double c[3], t[3] = {0}, turn[3];
    dls_polar polar;
    dls_elements_frame(e, q, c, &polar);
    for (int i = 0; i < p->nodes; i++) {
        double d[3], other[3], own[3] = {0}, across[3];
        displacement(e, q, c, polar.R, i, d);
        for (int64_t at = p->start[i]; at < p->start[i + 1]; at++) {
            int k = p->column[at];
            displacement(e, q, c, polar.R, k, other);
            rest_force(e->K0 + 9 * at, k == i, d, other, own, across);
            take_force(polar.R, other, across, t, f + 3 * (int64_t)k);
        }
        take_force(polar.R, d, own, t, f + 3 * i);
    }
    mat_apply(turn, polar.inverse, t);
    for (int i = 0; i < p->nodes; i++) {
        double push[3];
        vec_cross(push, turn, e->w + 3 * i);
        mat_apply(push, polar.R, push);
        vec_add(f + 3 * i, f + 3 * i, push);
    }
}

/* A += factor R K₀ Rᵀ, block by block. */
static void corotational_matrix(const dls_elements *e, const double *q, double factor, double *A) {
    int64_t blocks = e->pattern->start[e->pattern->nodes];
    double c[3];
    dls_polar polar;
    dls_elements_frame(e, q, c, &polar);
    for (int64_t at = 0; at < blocks; at++) {
        const double *K = e->K0 + 9 * at, *R = polar.R;
        double half[9]; /* R K, K row after row */
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                half[3 * i + k] = R[i] * K[k] + R[i + 3] * K[3 + k] + R[i + 6] * K[6 + k];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                A[9 * at + 3 * i + k] +=
                    factor * (half[3 * i] * R[k] + half[3 * i + 1] * R[k + 3] + half[3 * i + 2] * R[k + 6]);
    }
}

/* ---- total Lagrangian ---- */

void dls_elements_strain(int count, const double *q, const double *g, double *F) {
    memset(F, 0, 9 * sizeof(double));
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) vec_along(F + 3 * k, F + 3 * k, q[3 * i + k], g + 3 * i);
}

static double lagrangian_energy(const dls_elements *e, const double *q) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    double of[CELL_ROWS], F[9], sum = 0;
    for (int c = 0; c < e->mesh->cell_count; c++) {
        dls_elements_gather(e, c, q, of);
        for (int p = 0; p < e->points; p++) {
            dls_elements_strain(nodes, of, dls_elements_gradient(e, c, p), F);
            sum += dls_elements_weight(e, c, p) * dls_elastic_energy(&e->law, F);
        }
    }
    return sum;
}

/* f_i −= Σ dV P ∇N_i */
static void lagrangian_force(const dls_elements *e, const double *q, double *f) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    double of[CELL_ROWS], F[9], P[9];
    for (int c = 0; c < e->mesh->cell_count; c++) {
        const int *cell = e->mesh->cells + (int64_t)nodes * c;
        dls_elements_gather(e, c, q, of);
        for (int p = 0; p < e->points; p++) {
            const double *g = dls_elements_gradient(e, c, p);
            dls_elements_strain(nodes, of, g, F);
            dls_elastic_stress(&e->law, F, P);
            for (int i = 0; i < nodes; i++) {
                double push[3];
                mat_apply_transposed(push, P, g + 3 * i); /* its rows stand as columns */
                vec_along(f + 3 * (int64_t)cell[i], f + 3 * (int64_t)cell[i], -dls_elements_weight(e, c, p),
                          push);
            }
        }
    }
}

static void lagrangian_matrix(const dls_elements *e, const double *q, bool stresses, double factor,
                              double *A) {
    double K[CELL_ROWS * CELL_ROWS];
    for (int c = 0; c < e->mesh->cell_count; c++) {
        dls_elements_cell_matrix(e, c, q, stresses, K);
        dls_elements_add_cell(e, c, K, factor, A);
    }
}

/* ---- either ---- */

void dls_elements_force(const dls_elements *e, const double *q, double *f) {
    if (e->corotational)
        corotational_force(e, q, f);
    else
        lagrangian_force(e, q, f);
}

double dls_elements_energy(const dls_elements *e, const double *q) {
    return e->corotational ? corotational_energy(e, q) : lagrangian_energy(e, q);
}

void dls_elements_add_stiffness(const dls_elements *e, const double *q, bool stresses, double factor,
                                double *A) {
    if (e->corotational)
        corotational_matrix(e, q, factor, A);
    else
        lagrangian_matrix(e, q, stresses, factor, A);
}

int dls_elements_inverted(const dls_elements *e, const double *q) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    double of[CELL_ROWS], F[9], C[9];
    for (int c = 0; c < e->mesh->cell_count; c++) {
        dls_elements_gather(e, c, q, of);
        for (int p = 0; p < e->points; p++) {
            dls_elements_strain(nodes, of, dls_elements_gradient(e, c, p), F);
            if (!(cofactors(F, C) > 0)) return c;
        }
    }
    return -1;
}
