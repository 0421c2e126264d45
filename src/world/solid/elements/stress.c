/* Stresses of elements. */
#include "world/solid/elements/elements.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"
#include "base/vector.h"
#include "world/parts.h"

#include <math.h>
#include <string.h>

enum { CELL_ROWS = 3 * DLS_CELL_NODES };

/* σ = P Fᵀ/det F of matrices row after row, as xx, yy, zz, xy, yz, zx. */
static void cauchy(const double *P, const double *F, double *s) {
    static const int row[6] = {0, 1, 2, 0, 1, 2}, column[6] = {0, 1, 2, 1, 2, 0};
    double side[3];
    vec_cross(side, F, F + 3);
    double J = vec_dot(side, F + 6);
    for (int k = 0; k < 6; k++) {
        s[k] = 0;
        for (int m = 0; m < 3; m++) s[k] += P[3 * row[k] + m] * F[3 * column[k] + m] / J;
    }
}

/* R s Rᵀ of the six numbers. */
static void turn_stress(const double *R, double *s) {
    double S[9] = {s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2]}, half[9], T[9];
    mat_multiply(half, R, S);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            T[i + 3 * k] = half[i] * R[k] + half[i + 3] * R[k + 3] + half[i + 6] * R[k + 6];
    s[0] = T[0], s[1] = T[4], s[2] = T[8], s[3] = T[3], s[4] = T[7], s[5] = T[6];
}

/* Of one point. A corotational body has small strains in the axes of its mean rotation. */
static void point_stress(const dls_elements *e, int cell, int point, const double *q, const dls_polar *polar,
                         const double *c, double *s) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    double of[CELL_ROWS], F[9], P[9];
    dls_elements_gather(e, cell, q, of);
    if (!e->corotational) {
        dls_elements_strain(nodes, of, dls_elements_gradient(e, cell, point), F);
        dls_elastic_stress(&e->law, F, P);
        cauchy(P, F, s);
        return;
    }
    for (int i = 0; i < nodes; i++) {
        vec_sub(of + 3 * i, of + 3 * i, c);
        mat_apply_transposed(of + 3 * i, polar->R, of + 3 * i);
    }
    dls_elements_strain(nodes, of, dls_elements_gradient(e, cell, point), F);
    if (e->mesh->form == DLS_CELL_HEX8) {
        double X[CELL_ROWS];
        dls_elements_gather(e, cell, e->mesh->X, X);
        for (int k = 0; k < 24; k++) of[k] -= X[k];
        dls_elements_modes(e, cell, of, point, F);
    }
    dls_elastic_stress(&e->law, F, P);
    s[0] = P[0], s[1] = P[4], s[2] = P[8], s[3] = P[3], s[4] = P[7], s[5] = P[6];
    turn_stress(polar->R, s);
}

dls_status dls_elements_stress(const dls_elements *e, const double *q, double *stress, dls_error *error) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes, count = e->mesh->node_count;
    double *volume = DLS_NEW_ZERO(double, count), c[3];
    dls_polar polar;
    if (!volume) return dls_fail_memory(error);
    memset(stress, 0, 6 * sizeof(double) * (size_t)count);
    dls_elements_frame(e, q, c, &polar);
    for (int cell = 0; cell < e->mesh->cell_count; cell++) {
        const int *at = e->mesh->cells + (int64_t)nodes * cell;
        for (int p = 0; p < e->points; p++) {
            double s[6], dV = dls_elements_weight(e, cell, p);
            point_stress(e, cell, p, q, &polar, c, s);
            for (int i = 0; i < nodes; i++) {
                volume[at[i]] += dV;
                for (int k = 0; k < 6; k++) stress[6 * (int64_t)at[i] + k] += dV * s[k];
            }
        }
    }
    for (int i = 0; i < 6 * count; i++) stress[i] /= volume[i / 6];
    dls_free(volume);
    return DLS_OK;
}

double dls_stress_mises(const double *s) {
    double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
    return sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

void dls_stress_principal(const double *s, double *values) {
    double S[9] = {s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2]}, axes[9];
    dls_inertia_principal(S, values, axes);
    for (int i = 1; i < 3; i++)
        for (int k = i; k > 0 && values[k] > values[k - 1]; k--) {
            double other = values[k];
            values[k] = values[k - 1], values[k - 1] = other;
        }
}
