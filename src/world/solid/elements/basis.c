/* Shape functions. Tetrahedra have barycentric coordinates L = (1 − ξ − η − ζ, ξ, η, ζ); of ten nodes corners
 * have L(2L − 1) and mid-sides 4 L_a L_b. Hexahedra have ⅛ Π(1 ± ξ_k). */
#include "world/solid/elements/basis.h"

#include "base/small.h"
#include "base/vector.h"

static const double hex_nodes[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                       {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
static const double tet_nodes[10][3] = {{0, 0, 0},     {1, 0, 0},     {0, 1, 0},   {0, 0, 1},
                                        {0.5, 0, 0},   {0.5, 0.5, 0}, {0, 0.5, 0}, {0, 0, 0.5},
                                        {0.5, 0, 0.5}, {0, 0.5, 0.5}};
static const int tet_edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};

const double *dls_basis_node(dls_cell_form form, int node) {
    return form == DLS_CELL_HEX8 ? hex_nodes[node] : tet_nodes[node];
}

/* ---- rules ---- */

/* Gauss's points and weights on (−1, 1) for n ≤ 5, in closed form. */
static void gauss(int n, double *x, double *w) {
    if (n == 2) {
        x[1] = sqrt(1.0 / 3), x[0] = -x[1], w[0] = w[1] = 1;
    } else if (n == 3) {
        x[2] = sqrt(0.6), x[1] = 0, x[0] = -x[2];
        w[0] = w[2] = 5.0 / 9, w[1] = 8.0 / 9;
    } else {
        double root = 2 * sqrt(10.0 / 7), part = 13 * sqrt(70.0);
        x[3] = sqrt(5 - root) / 3, x[4] = sqrt(5 + root) / 3, x[2] = 0, x[1] = -x[3], x[0] = -x[4];
        w[1] = w[3] = (322 + part) / 900, w[0] = w[4] = (322 - part) / 900, w[2] = 128.0 / 225;
    }
}

static void hex_rule(int n, dls_basis_rule *rule) {
    double x[5], w[5];
    gauss(n, x, w);
    rule->count = n * n * n;
    for (int k = 0; k < rule->count; k++) {
        int a = k % n, b = k / n % n, c = k / (n * n);
        vec_set(rule->xi[k], x[a], x[b], x[c]);
        rule->weight[k] = w[a] * w[b] * w[c];
    }
}

/* A cube collapsed onto the tetrahedron: ξ = a, η = b(1 − a), ζ = c(1 − a)(1 − b). */
static void tet_rule(int n, dls_basis_rule *rule) {
    hex_rule(n, rule);
    for (int k = 0; k < rule->count; k++) {
        double *xi = rule->xi[k], a = 0.5 * (1 + xi[0]), b = 0.5 * (1 + xi[1]), c = 0.5 * (1 + xi[2]);
        vec_set(xi, a, b * (1 - a), c * (1 - a) * (1 - b));
        rule->weight[k] *= 0.125 * (1 - a) * (1 - a) * (1 - b);
    }
}

void dls_basis_strain_rule(dls_cell_form form, dls_basis_rule *rule) {
    double near = (5 - sqrt(5.0)) / 20, far = 1 - 3 * near;
    if (form == DLS_CELL_HEX8) {
        hex_rule(2, rule);
        return;
    }
    rule->count = form == DLS_CELL_TET4 ? 1 : 4;
    for (int k = 0; k < rule->count; k++) {
        rule->weight[k] = 1.0 / (6 * rule->count);
        for (int d = 0; d < 3; d++) rule->xi[k][d] = rule->count == 1 ? 0.25 : d == k ? far : near;
    }
}

void dls_basis_mass_rule(dls_cell_form form, dls_basis_rule *rule) {
    if (form == DLS_CELL_HEX8)
        hex_rule(3, rule);
    else
        tet_rule(form == DLS_CELL_TET4 ? 3 : 5, rule);
}

/* ---- functions ---- */

static void hex_at(const double *xi, double *N, double (*slope)[3]) {
    for (int i = 0; i < 8; i++) {
        const double *s = hex_nodes[i];
        double a = 1 + s[0] * xi[0], b = 1 + s[1] * xi[1], c = 1 + s[2] * xi[2];
        N[i] = 0.125 * a * b * c;
        vec_set(slope[i], 0.125 * s[0] * b * c, 0.125 * s[1] * a * c, 0.125 * s[2] * a * b);
    }
}

static void tet10_at(double *N, double (*slope)[3]) {
    double L[4], dL[4][3];
    memcpy(L, N, sizeof L);
    memcpy(dL, slope, sizeof dL);
    for (int i = 0; i < 4; i++) {
        N[i] = L[i] * (2 * L[i] - 1);
        vec_scale(slope[i], 4 * L[i] - 1, dL[i]);
    }
    for (int e = 0; e < 6; e++) {
        int a = tet_edges[e][0], b = tet_edges[e][1];
        N[4 + e] = 4 * L[a] * L[b];
        for (int d = 0; d < 3; d++) slope[4 + e][d] = 4 * (L[a] * dL[b][d] + L[b] * dL[a][d]);
    }
}

void dls_basis_at(dls_cell_form form, const double *xi, double *N, double (*slope)[3]) {
    if (form == DLS_CELL_HEX8) {
        hex_at(xi, N, slope);
        return;
    }
    N[0] = 1 - xi[0] - xi[1] - xi[2];
    vec_set(slope[0], -1, -1, -1);
    for (int i = 1; i < 4; i++) {
        N[i] = xi[i - 1];
        for (int d = 0; d < 3; d++) slope[i][d] = d == i - 1;
    }
    if (form == DLS_CELL_TET10) tet10_at(N, slope);
}

double dls_basis_jacobian(dls_cell_form form, const double (*slope)[3], const double *X, double *J) {
    double side[3];
    memset(J, 0, 9 * sizeof(double));
    for (int i = 0; i < dls_cell_kinds[form].nodes; i++)
        for (int d = 0; d < 3; d++) vec_along(J + 3 * d, J + 3 * d, slope[i][d], X + 3 * i);
    vec_cross(side, J, J + 3);
    return vec_dot(side, J + 6);
}

/* ∇N_i = J⁻ᵀ slope_i: rows of J⁻¹ are the cross products of its columns over its determinant. */
void dls_basis_gradients(dls_cell_form form, const double (*slope)[3], const double *J,
                         double (*gradient)[3]) {
    double side[3][3];
    for (int d = 0; d < 3; d++) vec_cross(side[d], J + 3 * ((d + 1) % 3), J + 3 * ((d + 2) % 3));
    double scale = 1 / vec_dot(side[0], J);
    for (int i = 0; i < dls_cell_kinds[form].nodes; i++)
        for (int k = 0; k < 3; k++)
            gradient[i][k] =
                scale * (slope[i][0] * side[0][k] + slope[i][1] * side[1][k] + slope[i][2] * side[2][k]);
}

double dls_basis_least_volume(dls_cell_form form, const double *X) {
    double N[DLS_CELL_NODES], slope[DLS_CELL_NODES][3], J[9], least = INFINITY;
    dls_basis_rule rule;
    dls_basis_strain_rule(form, &rule);
    for (int k = 0; k < rule.count; k++) {
        dls_basis_at(form, rule.xi[k], N, slope);
        least = fmin(least, dls_basis_jacobian(form, (const double(*)[3])slope, X, J));
    }
    for (int i = 0; i < dls_cell_kinds[form].nodes; i++) {
        dls_basis_at(form, dls_basis_node(form, i), N, slope);
        least = fmin(least, dls_basis_jacobian(form, (const double(*)[3])slope, X, J));
    }
    return least;
}

bool dls_basis_find(dls_cell_form form, const double *X, const double *x, double *xi) {
    double N[DLS_CELL_NODES], slope[DLS_CELL_NODES][3], J[9], middle = form == DLS_CELL_HEX8 ? 0 : 0.25;
    vec_set(xi, middle, middle, middle);
    for (int round = 0; round < 50; round++) {
        double gap[3], step = 0;
        dls_basis_at(form, xi, N, slope);
        if (!(dls_basis_jacobian(form, (const double(*)[3])slope, X, J) > 0)) return false;
        vec_copy(gap, x);
        for (int i = 0; i < dls_cell_kinds[form].nodes; i++) vec_along(gap, gap, -N[i], X + 3 * i);
        if (!small_solve(3, J, gap)) return false;
        for (int d = 0; d < 3; d++) {
            xi[d] += gap[d];
            step = fmax(step, fabs(gap[d]));
        }
        if (step < 1e-14) return true;
        if (!(step < 1e6)) return false;
    }
    return true;
}
