/* Elements at rest: gradients, masses, K₀. */
#include "world/solid/elements/elements.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

enum { MODES = 9, CELL_ROWS = 3 * DLS_CELL_NODES };

/* ---- checks ---- */

static dls_status check(const dls_elements_def *def, const dls_cell_mesh *mesh, dls_error *error) {
    if (!(def->density > 0 && def->density < 1e30))
        return dls_fail(error, DLS_ERROR_INPUT, "density of a body of elements is %g, expected one above 0",
                        def->density);
    if (!(def->mass_damping >= 0 && def->mass_damping < 1e30))
        return dls_fail(error, DLS_ERROR_INPUT, "mass_damping is %g, expected a number that is not negative",
                        def->mass_damping);
    if (mesh->form == DLS_CELL_HEX8 && !def->corotational)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "hexahedra of a %s body, expected tet4 or tet10: the modes that keep hexahedra from "
                        "locking are those of small strains",
                        dls_elastic_law_name(def->law.law));
    return DLS_OK;
}

/* ---- points ---- */

static void fill_points(dls_elements *e) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    dls_basis_rule rule;
    dls_basis_strain_rule(e->mesh->form, &rule);
    for (int c = 0; c < e->mesh->cell_count; c++) {
        double X[CELL_ROWS], N[DLS_CELL_NODES], slope[DLS_CELL_NODES][3], J[9];
        dls_elements_gather(e, c, e->mesh->X, X);
        for (int k = 0; k < rule.count; k++) {
            int64_t at = (int64_t)c * rule.count + k;
            dls_basis_at(e->mesh->form, rule.xi[k], N, slope);
            e->weight[at] =
                rule.weight[k] * dls_basis_jacobian(e->mesh->form, (const double(*)[3])slope, X, J);
            dls_basis_gradients(e->mesh->form, (const double(*)[3])slope, J,
                                (double(*)[3])(e->gradient + 3 * nodes * at));
        }
    }
}

static void fill_blocks(dls_elements *e) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes, square = e->pattern->size * e->pattern->size;
    for (int c = 0; c < e->mesh->cell_count; c++) {
        const int *cell = e->mesh->cells + (int64_t)nodes * c;
        int64_t *block = e->block + (int64_t)nodes * nodes * c;
        for (int i = 0; i < nodes; i++)
            for (int k = 0; k < nodes; k++)
                block[nodes * i + k] =
                    cell[i] >= cell[k] ? dls_pattern_block(e->pattern, cell[i], cell[k]) / square : -1;
    }
}

/* ---- masses ---- */

/* ∫ρ N_i N_k dV of a cell. */
static void cell_mass(const dls_elements *e, const dls_basis_rule *rule, int c,
                      double m[DLS_CELL_NODES][DLS_CELL_NODES]) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    double X[CELL_ROWS], N[DLS_CELL_NODES], slope[DLS_CELL_NODES][3], J[9];
    memset(m, 0, sizeof(double) * DLS_CELL_NODES * DLS_CELL_NODES);
    dls_elements_gather(e, c, e->mesh->X, X);
    for (int p = 0; p < rule->count; p++) {
        dls_basis_at(e->mesh->form, rule->xi[p], N, slope);
        double dm =
            e->density * rule->weight[p] * dls_basis_jacobian(e->mesh->form, (const double(*)[3])slope, X, J);
        for (int i = 0; i < nodes; i++)
            for (int k = 0; k < nodes; k++) m[i][k] += dm * N[i] * N[k];
    }
}

/* Diagonal masses in the ratio of the consistent ones: never negative, as row sums of ten nodes would be. */
static void lump(int nodes, double m[DLS_CELL_NODES][DLS_CELL_NODES]) {
    double whole = 0, trace = 0;
    for (int i = 0; i < nodes; i++) {
        trace += m[i][i];
        for (int k = 0; k < nodes; k++) whole += m[i][k];
    }
    for (int i = 0; i < nodes; i++)
        for (int k = 0; k < nodes; k++) m[i][k] = i == k ? m[i][i] * whole / trace : 0;
}

static void fill_mass(dls_elements *e, bool lumped) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    double m[DLS_CELL_NODES][DLS_CELL_NODES];
    dls_basis_rule rule;
    dls_basis_mass_rule(e->mesh->form, &rule);
    for (int c = 0; c < e->mesh->cell_count; c++) {
        const int64_t *block = e->block + (int64_t)nodes * nodes * c;
        cell_mass(e, &rule, c, m);
        if (lumped) lump(nodes, m);
        for (int i = 0; i < nodes; i++)
            for (int k = 0; k < nodes; k++)
                if (block[nodes * i + k] >= 0) e->M[block[nodes * i + k]] += m[i][k];
    }
}

/* y_i += Σ_k M_ik x_k, of so many columns. */
static void multiply_mass(const dls_elements *e, int columns, const double *x, double *y) {
    const dls_pattern *p = e->pattern;
    for (int i = 0; i < p->nodes; i++)
        for (int64_t at = p->start[i]; at < p->start[i + 1]; at++) {
            int k = p->column[at];
            for (int d = 0; d < columns; d++) {
                y[columns * i + d] += e->M[at] * x[columns * k + d];
                if (k != i) y[columns * k + d] += e->M[at] * x[columns * i + d];
            }
        }
}

/* share, centre, then X and w from it, and I = ∫ρ (|X|² 1 − X Xᵀ) dV by S = Σ X_i w_iᵀ. */
static bool weigh(dls_elements *e) {
    int n = e->mesh->node_count;
    double *ones = DLS_NEW(double, n), S[9] = {0};
    if (!ones) return false;
    for (int i = 0; i < n; i++) ones[i] = 1;
    multiply_mass(e, 1, ones, e->share);
    dls_free(ones);
    for (int i = 0; i < n; i++) {
        e->mass += e->share[i];
        vec_along(e->centre, e->centre, e->share[i], e->mesh->X + 3 * i);
    }
    vec_scale(e->centre, 1 / e->mass, e->centre);
    for (int i = 0; i < n; i++) {
        e->share[i] /= e->mass;
        vec_sub(e->mesh->X + 3 * i, e->mesh->X + 3 * i, e->centre);
        e->reach = fmax(e->reach, vec_norm(e->mesh->X + 3 * i));
    }
    multiply_mass(e, 3, e->mesh->X, e->w);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 9; k++) S[k] += e->mesh->X[3 * i + k % 3] * e->w[3 * i + k / 3];
    for (int k = 0; k < 9; k++)
        e->inertia[k] = (k % 4 ? 0 : S[0] + S[4] + S[8]) - 0.5 * (S[k] + S[k / 3 + 3 * (k % 3)]);
    return true;
}

/* ---- stiffness ---- */

/* Gradients of the modes 1 − ξ_k² at a point, as Taylor, Beresford and Wilson take them: by ∂X/∂ξ in the
 * cell's middle and scaled by det J₀/det J, so that they do no work on uniform stress. */
static void mode_gradients(const double *X, const double *xi, double (*gradient)[3]) {
    static const double middle[3];
    double N[DLS_CELL_NODES], slope[DLS_CELL_NODES][3], J[9], J0[9], mode[DLS_CELL_NODES][3] = {{0}};
    dls_basis_at(DLS_CELL_HEX8, xi, N, slope);
    double det = dls_basis_jacobian(DLS_CELL_HEX8, (const double(*)[3])slope, X, J);
    dls_basis_at(DLS_CELL_HEX8, middle, N, slope);
    double det0 = dls_basis_jacobian(DLS_CELL_HEX8, (const double(*)[3])slope, X, J0);
    for (int k = 0; k < 3; k++) mode[k][k] = -2 * xi[k] * det0 / det;
    double all[DLS_CELL_NODES][3];
    dls_basis_gradients(DLS_CELL_HEX8, (const double(*)[3])mode, J0, all);
    memcpy(gradient, all, 9 * sizeof(double));
}

/* K += dV Σ_jl g_a[j] A_ij,kl g_b[l] of count functions, K of 3·count rows. */
static void add_point(int count, const double *g, const double *A, double dV, double *K) {
    int rows = 3 * count;
    for (int b = 0; b < count; b++) {
        double part[27]; /* Σ_l A_ij,kl g_b[l], of ij and k */
        for (int m = 0; m < 27; m++) part[m] = dV * vec_dot(A + 3 * m, g + 3 * b);
        for (int a = 0; a < count; a++)
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++)
                    K[rows * (3 * a + i) + 3 * b + k] += g[3 * a] * part[9 * i + k] +
                                                         g[3 * a + 1] * part[9 * i + 3 + k] +
                                                         g[3 * a + 2] * part[9 * i + 6 + k];
    }
}

/* K_uu − K_um K_mm⁻¹ K_mu: what is left of n rows when the modes behind them are in balance. modes, where it
 * is not NULL: −K_mm⁻¹ K_mu, 9 × n, by columns of 9. */
static void condense(int n, const double *K, double *out, double *modes) {
    int rows = n + MODES, pivot[MODES];
    double LU[MODES * MODES];
    for (int i = 0; i < MODES; i++)
        for (int k = 0; k < MODES; k++) LU[i + MODES * k] = K[rows * (n + i) + n + k];
    small_factor(MODES, LU, pivot);
    for (int k = 0; k < n; k++) {
        double column[MODES];
        for (int i = 0; i < MODES; i++) column[i] = K[rows * (n + i) + k];
        small_solve_factored(MODES, LU, pivot, column);
        for (int i = 0; i < n; i++) {
            double sum = K[rows * i + k];
            for (int m = 0; m < MODES; m++) sum -= K[rows * i + n + m] * column[m];
            out[n * i + k] = sum;
        }
        for (int m = 0; modes && m < MODES; m++) modes[MODES * k + m] = -column[m];
    }
}

/* Of nodes and modes together. */
static void hex_matrix(const dls_elements *e, int cell, double *K) {
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double A[81], X[CELL_ROWS], g[3 * 11];
    dls_basis_rule rule;
    memset(K, 0, sizeof(double) * 33 * 33);
    dls_basis_strain_rule(e->mesh->form, &rule);
    dls_elements_gather(e, cell, e->mesh->X, X);
    dls_elastic_slope(&e->law, one, false, A);
    for (int p = 0; p < e->points; p++) {
        memcpy(g, dls_elements_gradient(e, cell, p), 24 * sizeof(double));
        mode_gradients(X, rule.xi[p], (double(*)[3])(g + 24));
        add_point(11, g, A, dls_elements_weight(e, cell, p), K);
    }
}

void dls_elements_cell_matrix(const dls_elements *e, int cell, const double *q, bool stresses, double *K) {
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    if (e->mesh->form == DLS_CELL_HEX8) {
        double whole[33 * 33];
        hex_matrix(e, cell, whole);
        condense(24, whole, K, NULL);
        return;
    }
    double A[81], of[CELL_ROWS], F[9];
    memset(K, 0, sizeof(double) * 9 * (size_t)(nodes * nodes));
    if (q) dls_elements_gather(e, cell, q, of);
    for (int p = 0; p < e->points; p++) {
        const double *g = dls_elements_gradient(e, cell, p);
        if (q) dls_elements_strain(nodes, of, g, F);
        dls_elastic_slope(&e->law, q ? F : one, stresses, A);
        add_point(nodes, g, A, dls_elements_weight(e, cell, p), K);
    }
}

void dls_elements_modes(const dls_elements *e, int cell, const double *d, int point, double *F) {
    double whole[33 * 33], K[24 * 24], modes[MODES * 24], of[MODES] = {0}, X[CELL_ROWS], g[9];
    dls_basis_rule rule;
    hex_matrix(e, cell, whole);
    condense(24, whole, K, modes);
    for (int k = 0; k < 24; k++)
        for (int m = 0; m < MODES; m++) of[m] += modes[MODES * k + m] * d[k];
    dls_basis_strain_rule(e->mesh->form, &rule);
    dls_elements_gather(e, cell, e->mesh->X, X);
    mode_gradients(X, rule.xi[point], (double(*)[3])g);
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < 3; i++) vec_along(F + 3 * i, F + 3 * i, of[3 * m + i], g + 3 * m);
}

void dls_elements_add_cell(const dls_elements *e, int cell, const double *K, double factor, double *A) {
    int nodes = dls_cell_kinds[e->mesh->form].nodes;
    const int64_t *block = e->block + (int64_t)nodes * nodes * cell;
    for (int i = 0; i < nodes; i++)
        for (int k = 0; k < nodes; k++) {
            if (block[nodes * i + k] < 0) continue;
            double *of = A + 9 * block[nodes * i + k];
            for (int d = 0; d < 9; d++) of[d] += factor * K[3 * nodes * (3 * i + d / 3) + 3 * k + d % 3];
        }
}

static void fill_stiffness(dls_elements *e) {
    double K[CELL_ROWS * CELL_ROWS];
    for (int c = 0; c < e->mesh->cell_count; c++) {
        dls_elements_cell_matrix(e, c, NULL, false, K);
        dls_elements_add_cell(e, c, K, 1, e->K0);
    }
}

/* ---- making ---- */

static dls_pattern *make_pattern(const dls_cell_mesh *mesh) {
    int nodes = dls_cell_kinds[mesh->form].nodes;
    int64_t *start = DLS_NEW(int64_t, mesh->cell_count + 1);
    if (!start) return NULL;
    for (int c = 0; c <= mesh->cell_count; c++) start[c] = (int64_t)nodes * c;
    dls_groups groups = {mesh->cell_count, start, mesh->cells};
    dls_pattern *pattern = dls_pattern_create(mesh->node_count, 3, &groups, mesh->X);
    dls_free(start);
    return pattern;
}

static bool take(dls_elements *e) {
    int64_t nodes = dls_cell_kinds[e->mesh->form].nodes, cells = e->mesh->cell_count, n = e->mesh->node_count;
    dls_basis_rule rule;
    dls_basis_strain_rule(e->mesh->form, &rule);
    e->points = rule.count;
    e->pattern = make_pattern(e->mesh);
    if (!e->pattern) return false;
    e->weight = DLS_NEW(double, cells * e->points);
    e->gradient = DLS_NEW(double, 3 * nodes * cells * e->points);
    e->block = DLS_NEW(int64_t, nodes * nodes * cells);
    e->M = DLS_NEW_ZERO(double, e->pattern->start[n]);
    e->K0 = e->corotational ? DLS_NEW_ZERO(double, dls_pattern_numbers(e->pattern)) : NULL;
    e->share = DLS_NEW_ZERO(double, n);
    e->w = DLS_NEW_ZERO(double, 3 * n);
    return e->weight && e->gradient && e->block && e->M && (e->K0 || !e->corotational) && e->share && e->w;
}

dls_status dls_elements_create(const dls_elements_def *def, dls_cell_mesh *mesh, dls_elements **out,
                               dls_error *error) {
    dls_elements *e = NULL;
    dls_status status = check(def, mesh, error);
    if (!status && !(e = DLS_NEW_ZERO(dls_elements, 1))) status = dls_fail_memory(error);
    if (status) {
        dls_cell_mesh_destroy(mesh);
        return status;
    }
    e->mesh = mesh;
    e->law = def->law;
    e->corotational = def->corotational;
    if (e->corotational) e->law.law = DLS_ELASTIC_LINEAR;
    e->density = def->density;
    e->mass_damping = def->mass_damping;
    if (take(e)) {
        fill_points(e);
        fill_blocks(e);
        fill_mass(e, def->lumped);
        if (e->K0) fill_stiffness(e);
        if (weigh(e)) {
            *out = e;
            return DLS_OK;
        }
    }
    dls_elements_destroy(e);
    return dls_fail_memory(error);
}

void dls_elements_destroy(dls_elements *e) {
    if (!e) return;
    dls_cell_mesh_destroy(e->mesh);
    dls_pattern_destroy(e->pattern);
    dls_free(e->weight);
    dls_free(e->gradient);
    dls_free(e->block);
    dls_free(e->M);
    dls_free(e->K0);
    dls_free(e->share);
    dls_free(e->w);
    dls_free(e);
}
