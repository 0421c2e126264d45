/* Elements by themselves: forces against differences of energies, K against differences of forces, patch
 * tests, masses, modes that move nothing, locking, stresses, meshes and what is refused. */
#include "base/lu.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "support/near.h"
#include "support/test.h"
#include "world/solid/elements/elements.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dls_error error[1];
enum { MOST = 3 * 400 };

static dls_cell_mesh *block(dls_cell_form cell, dls_block_form form, double a, double b, double c, int na,
                            int nb, int nc) {
    dls_block def = {.form = form, .cell = cell, .size = {a, b, c}, .cells = {na, nb, nc}};
    dls_cell_mesh *mesh = NULL;
    assert_int_equal(dls_cell_mesh_block(&def, &mesh, error), DLS_OK);
    return mesh;
}

static dls_elastic elastic(dls_elastic_law law, double young, double poisson) {
    dls_material_def material = {.young = young, .poisson = poisson, .law = law};
    dls_elastic e;
    assert_int_equal(dls_elastic_of(&material, &e, error), DLS_OK);
    return e;
}

static dls_elements_def form_of(int k) {
    return (dls_elements_def){.law =
                                  elastic(k == 2 ? DLS_ELASTIC_NEO_HOOKEAN : DLS_ELASTIC_KIRCHHOFF, 3e4, 0.3),
                              .corotational = k == 0,
                              .density = 1200};
}

static dls_elements *make(const dls_elements_def *def, dls_cell_mesh *mesh) {
    dls_elements *e = NULL;
    assert_int_equal(dls_elements_create(def, mesh, &e, error), DLS_OK);
    return e;
}

/* Turned, moved, and every node displaced at random by a share of the size. */
static int bend(const dls_elements *e, double share, double *q) {
    dls_random g = {.state = 11};
    double R[9], Q[4] = {0.3, -0.5, 0.4, 0.7}, x[3] = {2, -1, 0.5}, none[3] = {0}, u[MOST];
    quat_normalize(Q);
    quat_matrix(Q, R);
    dls_elements_begin(e, x, R, none, none, q, u);
    int n = 3 * e->mesh->node_count;
    assert_true(n <= MOST);
    for (int i = 0; i < n; i++) q[i] += share * dls_random_normal(&g);
    return n;
}

static const dls_cell_form cells[3] = {DLS_CELL_TET4, DLS_CELL_TET10, DLS_CELL_HEX8};

static void test_forces_are_slopes(void **state) {
    (void)state;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) {
            if (cells[c] == DLS_CELL_HEX8 && k) continue;
            dls_elements_def def = form_of(k);
            dls_elements *e = make(&def, block(cells[c], DLS_BLOCK_BOX, 0.3, 0.4, 0.5, 1, 2, 1));
            double q[MOST], f[MOST] = {0}, step = 1e-6, largest = 0, worst = 0;
            int n = bend(e, 0.01, q);
            dls_elements_force(e, q, f);
            for (int i = 0; i < n; i++) {
                double at = q[i];
                q[i] = at + step;
                double more = dls_elements_energy(e, q);
                q[i] = at - step;
                double less = dls_elements_energy(e, q);
                q[i] = at;
                largest = fmax(largest, fabs(f[i]));
                worst = fmax(worst, fabs(f[i] + (more - less) / (2 * step)));
            }
            assert_true(largest > 1);
            assert_near(worst / largest, 0, 1e-7);
            dls_elements_destroy(e);
        }
}

/* K of a corotational body is exact where nothing is strained, that of others everywhere. */
static void test_stiffness_is_slope_of_force(void **state) {
    (void)state;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) {
            if (cells[c] == DLS_CELL_HEX8 && k) continue;
            dls_elements_def def = form_of(k);
            dls_elements *e = make(&def, block(cells[c], DLS_BLOCK_BOX, 0.3, 0.4, 0.5, 1, 2, 1));
            double q[MOST], step = 1e-6, largest = 0, worst = 0;
            int n = bend(e, k ? 0.01 : 0, q);
            double *A = DLS_NEW_ZERO(double, dls_pattern_numbers(e->pattern)), *K = DLS_NEW(double, n *n);
            dls_elements_add_stiffness(e, q, true, 1, A);
            dls_pattern_spread(e->pattern, A, K);
            for (int i = 0; i < n; i++) {
                double at = q[i], more[MOST] = {0}, less[MOST] = {0};
                q[i] = at + step;
                dls_elements_force(e, q, more);
                q[i] = at - step;
                dls_elements_force(e, q, less);
                q[i] = at;
                for (int j = 0; j < n; j++) {
                    largest = fmax(largest, fabs(K[n * j + i]));
                    worst = fmax(worst, fabs(K[n * j + i] + (more[j] - less[j]) / (2 * step)));
                }
            }
            assert_near(worst / largest, 0, 1e-7);
            dls_free(A), dls_free(K);
            dls_elements_destroy(e);
        }
}

/* ---- linear systems of a few hundred freedoms ---- */

/* K as n × n numbers at rest. */
static double *full_stiffness(const dls_elements *e, int n) {
    double *A = DLS_NEW_ZERO(double, dls_pattern_numbers(e->pattern)),
           *K = DLS_NEW(double, (size_t)n *(size_t)n);
    double *q = dls_alloc_copy(e->mesh->X, (size_t)n, sizeof(double));
    dls_elements_add_stiffness(e, q, true, 1, A);
    dls_pattern_spread(e->pattern, A, K);
    dls_free(A), dls_free(q);
    return K;
}

/* Solves A x = x in place; A is lost. */
static void solve(int n, double *A, double *x) {
    int *pivot = DLS_NEW(int, n);
    double *room = DLS_NEW(double, dls_lu_room(n));
    assert_int_equal(dls_lu_factor(n, A, pivot, room), 0);
    dls_lu_solve(n, A, pivot, x);
    dls_free(pivot), dls_free(room);
}

/* K x = f, where x is given as far as held. */
static void solve_held(int n, double *K, const bool *held, const double *f, double *x) {
    double *right = DLS_NEW(double, n);
    for (int i = 0; i < n; i++) {
        right[i] = f ? f[i] : 0;
        for (int k = 0; k < n; k++)
            if (held[k]) right[i] -= K[(size_t)n * (size_t)k + (size_t)i] * x[k];
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (held[i] || held[k]) K[(size_t)n * (size_t)k + (size_t)i] = i == k;
    for (int i = 0; i < n; i++)
        if (held[i]) right[i] = x[i];
    solve(n, K, right);
    memcpy(x, right, sizeof(double) * (size_t)n);
    dls_free(right);
}

/* A block whose inner corners stand anywhere; mid-side nodes stay straight. */
static dls_cell_mesh *distorted(dls_cell_form cell) {
    static const int edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    dls_random g = {.state = 5};
    dls_cell_mesh *even = block(cell, DLS_BLOCK_BOX, 1, 1.2, 0.8, 3, 3, 3), *mesh = NULL;
    for (int i = 0; i < even->node_count; i++) {
        double *X = even->X + 3 * i;
        if (fabs(X[0]) > 0.499 || fabs(X[1]) > 0.599 || fabs(X[2]) > 0.399) continue;
        for (int d = 0; d < 3; d++) X[d] += 0.03 * dls_random_normal(&g);
    }
    for (int c = 0; cell == DLS_CELL_TET10 && c < even->cell_count; c++)
        for (int k = 0; k < 6; k++) {
            const int *at = even->cells + 10 * c;
            vec_add(even->X + 3 * at[4 + k], even->X + 3 * at[edge[k][0]], even->X + 3 * at[edge[k][1]]);
            vec_scale(even->X + 3 * at[4 + k], 0.5, even->X + 3 * at[4 + k]);
        }
    dls_cell_list list = {.form = cell,
                          .node_count = even->node_count,
                          .cell_count = even->cell_count,
                          .X = even->X,
                          .cells = even->cells};
    assert_int_equal(dls_cell_mesh_create(&list, &mesh, error), DLS_OK);
    dls_cell_mesh_destroy(even);
    return mesh;
}

/* Patch test: a linear field on the boundary is the field everywhere, and its stress that of every node. */
static void test_patch(void **state) {
    (void)state;
    const double H[9] = {1e-6, 3e-6, -2e-6, 4e-6, -2e-6, 1e-6, 5e-6, 2e-6, 3e-6};
    for (int c = 0; c < 3; c++) {
        dls_elements_def def = form_of(0);
        dls_elements *e = make(&def, distorted(cells[c]));
        int n = 3 * e->mesh->node_count, free = 0;
        double *K = full_stiffness(e, n), *x = DLS_NEW_ZERO(double, n), *stress = DLS_NEW(double, 2 * n);
        bool *held = DLS_NEW_ZERO(bool, n);
        for (int k = 0; k < 3 * e->mesh->face_count; k++)
            for (int d = 0; d < 3; d++) held[3 * e->mesh->faces[k] + d] = true;
        for (int i = 0; i < n; i += 3) {
            if (held[i]) mat_apply(x + i, H, e->mesh->X + i);
            free += !held[i];
        }
        assert_true(free >= 8);
        solve_held(n, K, held, NULL, x);
        for (int i = 0; i < n; i += 3) {
            double expected[3];
            mat_apply(expected, H, e->mesh->X + i);
            assert_near(vec_distance(x + i, expected), 0, 1e-17);
        }
        for (int i = 0; i < n; i++) x[i] += e->mesh->X[i];
        assert_int_equal(dls_elements_stress(e, x, stress, error), DLS_OK);
        double trace = e->law.lambda * (H[0] + H[4] + H[8]);
        double s[6] = {2 * e->law.mu * H[0] + trace, 2 * e->law.mu * H[4] + trace,
                       2 * e->law.mu * H[8] + trace, e->law.mu * (H[1] + H[3]),
                       e->law.mu * (H[5] + H[7]),    e->law.mu * (H[2] + H[6])};
        /* corotational strains are those after the mean turn: second order in H */
        for (int i = 0; i < 2 * n; i++) assert_near(stress[i], s[i % 6], 1e-5 * fabs(s[0]) + 1e-9);
        dls_free(K), dls_free(x), dls_free(stress), dls_free(held);
        dls_elements_destroy(e);
    }
}

/* How much of the closed form a cantilever's tip goes down: δ = P L³/(3 E I) + P L/(G A 5/6). */
static double tip_share(dls_cell_form cell, double poisson, int along) {
    double L = 10, P = 1e-3;
    dls_elements_def def = {
        .law = elastic(DLS_ELASTIC_LINEAR, 1, poisson), .corotational = true, .density = 1};
    dls_elements *e = make(&def, block(cell, DLS_BLOCK_BOX, L, 1, 1, along, 2, 2));
    int n = 3 * e->mesh->node_count, tips = 0;
    double *K = full_stiffness(e, n), *x = DLS_NEW_ZERO(double, n), *f = DLS_NEW_ZERO(double, n), tip = 0;
    bool *held = DLS_NEW_ZERO(bool, n);
    for (int i = 0; i < n; i += 3) {
        const double *X = e->mesh->X + i; /* the clamp lets the section shrink and swell */
        if (X[0] < -L / 2 + 1e-9)
            held[i] = true, held[i + 1] = fabs(X[1]) < 1e-9, held[i + 2] = vec_norm(X) < L / 2 + 1e-9;
        tips += e->mesh->X[i] > L / 2 - 1e-9;
    }
    for (int i = 0; i < n; i += 3)
        if (e->mesh->X[i] > L / 2 - 1e-9) f[i + 2] = -P / tips;
    solve_held(n, K, held, f, x);
    for (int i = 0; i < n; i += 3)
        if (e->mesh->X[i] > L / 2 - 1e-9) tip -= x[i + 2] / tips;
    dls_free(K), dls_free(x), dls_free(f), dls_free(held);
    dls_elements_destroy(e);
    return tip / (P * L * L * L / (3 * 1.0 / 12) + P * L * 2 * (1 + poisson) * 6 / 5);
}

/* docs/solids.md has these numbers. */
static void test_locking(void **state) {
    (void)state;
    double share[3][2];
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 2; k++) {
            share[c][k] = tip_share(cells[c], k ? 0.4999 : 0.3, cells[c] == DLS_CELL_TET10 ? 5 : 10);
        }
    assert_true(share[0][0] < 0.8 &&
                share[0][1] < 0.3); /* four nodes lock, and more so without volume change */
    assert_near(share[1][0], 1, 0.01);
    assert_near(share[1][1], 1, 0.04);
    assert_near(share[2][0], 1, 0.01);
    assert_near(share[2][1], 1, 0.06);
}

/* ω² of the free mode u = (cos kx sin ky, −sin kx cos ky, 0), k = π/a, of a cube: exactly 2 k² μ/ρ (Lamé). */
static double lame_mode(dls_cell_form cell, int count, bool lumped) {
    const double pi = acos(-1), a = 1;
    dls_elements_def def = {
        .law = elastic(DLS_ELASTIC_LINEAR, 5, 0.3), .corotational = true, .lumped = lumped, .density = 2};
    dls_elements *e = make(&def, block(cell, DLS_BLOCK_BOX, a, a, a, count, count, count));
    int n = 3 * e->mesh->node_count;
    double exact = 2 * pi * pi * e->law.mu / e->density, shift = 0.97 * exact, value = 0;
    double *K = full_stiffness(e, n), *A = DLS_NEW_ZERO(double, dls_pattern_numbers(e->pattern)),
           *M = DLS_NEW(double, (size_t)n *(size_t)n), *x = DLS_NEW(double, n), *y = DLS_NEW(double, n);
    dls_elements_add_mass(e, 1, A);
    dls_pattern_spread(e->pattern, A, M);
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++) K[k] -= shift * M[k];
    for (int i = 0; i < n; i += 3) {
        const double *X = e->mesh->X + i, k = pi / a;
        vec_set(x + i, cos(k * (X[0] + a / 2)) * sin(k * (X[1] + a / 2)),
                -sin(k * (X[0] + a / 2)) * cos(k * (X[1] + a / 2)), 0);
    }
    int *pivot = DLS_NEW(int, n);
    double *room = DLS_NEW(double, dls_lu_room(n));
    assert_int_equal(dls_lu_factor(n, K, pivot, room), 0);
    for (int round = 0; round < 8; round++) {
        double top = 0, bottom = 0;
        for (int i = 0; i < n; i++) {
            y[i] = 0;
            for (int k = 0; k < n; k++) y[i] += M[(size_t)n * (size_t)i + (size_t)k] * x[k];
        }
        for (int i = 0; i < n; i++) top += x[i] * y[i];
        double *z = dls_alloc_copy(y, (size_t)n, sizeof(double));
        dls_lu_solve(n, K, pivot, z);
        for (int i = 0; i < n; i++) bottom += z[i] * y[i];
        value = shift + top / bottom;
        double norm = 0;
        for (int i = 0; i < n; i++) norm = fmax(norm, fabs(z[i]));
        for (int i = 0; i < n; i++) x[i] = z[i] / norm;
        dls_free(z);
    }
    dls_free(K), dls_free(A), dls_free(M), dls_free(x), dls_free(y), dls_free(pivot), dls_free(room);
    dls_elements_destroy(e);
    return value / exact - 1;
}

static void test_modes_of_a_free_block(void **state) {
    (void)state;
    double coarse = lame_mode(DLS_CELL_HEX8, 2, false), fine = lame_mode(DLS_CELL_HEX8, 4, false);
    assert_near(fine, 0, 0.08);
    assert_true(fine < 0.35 * coarse); /* order 2: a quarter in the end */
    assert_near(lame_mode(DLS_CELL_HEX8, 4, true), 0, 0.08);
    assert_near(lame_mode(DLS_CELL_TET10, 2, false), 0, 0.03);
}

static void test_masses(void **state) {
    (void)state;
    for (int c = 0; c < 3; c++)
        for (int lumped = 0; lumped < 2; lumped++) {
            double a = 0.3, b = 0.5, h = 0.7, u[MOST], q[MOST];
            dls_elements_def def = form_of(0);
            def.lumped = lumped;
            dls_elements *e = make(&def, block(cells[c], DLS_BLOCK_BOX, a, b, h, 2, 2, 2));
            double m = 1200 * a * b * h;
            assert_near(e->mass, m, 1e-12 * m);
            assert_near(vec_norm(e->centre), 0, 1e-12);
            if (!lumped) {
                assert_near(e->inertia[0], m * (b * b + h * h) / 12, 1e-12 * m);
                assert_near(e->inertia[8], m * (a * a + b * b) / 12, 1e-12 * m);
                assert_near(e->inertia[1], 0, 1e-12 * m);
            }
            double x[3] = {1, 2, 3}, R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, v[3] = {3, -1, 2}, w[3] = {0, 0, 2};
            dls_elements_begin(e, x, R, v, w, q, u);
            assert_near(dls_elements_kinetic(e, u), 0.5 * m * 14 + 2 * e->inertia[8], 1e-12 * m);
            assert_near(dls_elements_energy(e, q), 0, 1e-20 * 3e4);
            dls_elements_destroy(e);
        }
    /* volume of a ball and of a cylinder: from below, as cells grow finer */
    double before = 1;
    for (int k = 2; k <= 8; k *= 2) {
        dls_elements_def def = {
            .law = elastic(DLS_ELASTIC_LINEAR, 1, 0.3), .corotational = true, .density = 1};
        dls_elements *ball = make(&def, block(DLS_CELL_HEX8, DLS_BLOCK_ELLIPSOID, 1, 2, 3, k, k, k));
        double missing = 1 - ball->mass / (4.0 / 3 * acos(-1) * 6);
        assert_true(missing > 0 && missing < 0.4 * before);
        before = missing;
        dls_elements_destroy(ball);
    }
}

/* ---- meshes ---- */

static void assert_refused(const dls_cell_list *list, const char *expected) {
    dls_cell_mesh *mesh = NULL;
    error->message[0] = 0;
    assert_int_equal(dls_cell_mesh_create(list, &mesh, error), DLS_ERROR_INPUT);
    assert_null(mesh);
    if (!strstr(error->message, expected)) fail_msg("'%s' lacks '%s'", error->message, expected);
}

static void test_bad_meshes(void **state) {
    (void)state;
    double X[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2};
    int cell[] = {0, 1, 2, 3, 0, 1, 2, 4}, line[] = {31, 32}, lines[] = {11, 12, 13, 14, 15, 16};
    dls_cell_list good = {DLS_CELL_TET4, 4, 1, X, cell, .node_line = lines, .cell_line = line}, list = good;
    dls_cell_mesh *mesh = NULL;
    assert_int_equal(dls_cell_mesh_create(&good, &mesh, error), DLS_OK);
    assert_int_equal(mesh->face_count, 4);
    assert_int_equal(mesh->edge_count, 6);
    dls_cell_mesh_destroy(mesh);
    list.node_count = 5;
    assert_refused(&list, "node 5 (line 15) belongs to no element");
    int turned[] = {1, 0, 2, 3}, flat[] = {0, 1, 2, 2}, far[] = {0, 1, 2, 9};
    list = good, list.cells = turned;
    assert_refused(&list, "element 1 (line 31) is inverted");
    list.cells = flat;
    assert_refused(&list, "element 1 (line 31) has node 3 (line 13) twice");
    list.cells = far;
    assert_refused(&list, "element 1 (line 31) has node 10");
    double level[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    list = good, list.X = level;
    assert_refused(&list, "element 1 (line 31) has no volume");
    X[3] = NAN;
    assert_refused(&good, "node 2 (line 12) has a coordinate");
    X[3] = 1;
    /* two that share one edge alone: four triangles meet there */
    double Y[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1};
    int edge[] = {0, 1, 2, 3, 0, 1, 4, 5};
    list = (dls_cell_list){DLS_CELL_TET4, 6, 2, Y, edge, .cell_line = line};
    assert_refused(&list, "the surface is open or branches between node 1 and node 2");
    /* two that share nothing, by numbers that a file gave them */
    double Z[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0, 3, 0, 0, 2, 1, 0, 2, 0, 1};
    int apart[] = {0, 1, 2, 3, 4, 5, 6, 7}, numbers[] = {70, 80};
    list = (dls_cell_list){DLS_CELL_TET4, 8, 2, Z, apart, .cell_number = numbers};
    assert_refused(&list, "element 80 hangs together with element 70 by no nodes");
}

static void test_blocks_are_closed(void **state) {
    (void)state;
    for (int c = 0; c < 3; c++)
        for (int form = 0; form < 3; form++) {
            dls_cell_mesh *mesh = block(cells[c], (dls_block_form)form, 1, 1, 2, 3, 3, 2);
            int euler = mesh->face_count - mesh->edge_count;
            bool *seen = DLS_NEW_ZERO(bool, mesh->node_count);
            for (int k = 0; k < 3 * mesh->face_count; k++) seen[mesh->faces[k]] = true;
            for (int i = 0; i < mesh->node_count; i++) euler += seen[i];
            assert_int_equal(euler, 2);
            dls_free(seen);
            dls_cell_mesh_destroy(mesh);
        }
}

/* ---- stresses ---- */

static void test_principal_and_mises(void **state) {
    (void)state;
    double pulled[6] = {7, 0, 0, 0, 0, 0}, sheared[6] = {0, 0, 0, 3, 0, 0},
           pressed[6] = {-2, -2, -2, 0, 0, 0}, values[3];
    assert_near(dls_stress_mises(pulled), 7, 1e-14);
    assert_near(dls_stress_mises(sheared), 3 * sqrt(3), 1e-14);
    assert_near(dls_stress_mises(pressed), 0, 1e-14);
    dls_stress_principal(sheared, values);
    assert_near(values[0], 3, 1e-14);
    assert_near(values[1], 0, 1e-14);
    assert_near(values[2], -3, 1e-14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_are_slopes),
        cmocka_unit_test(test_stiffness_is_slope_of_force),
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_locking),
        cmocka_unit_test(test_modes_of_a_free_block),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_bad_meshes),
        cmocka_unit_test(test_blocks_are_closed),
        cmocka_unit_test(test_principal_and_mises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
