/* Sparse matrices and the factorisation that condenses W = Aᵀ M⁻¹ A, against dense algebra. */
#include "base/memory.h"
#include "base/random.h"
#include "base/sparse.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A dense matrix, column-major, beside the entries that made it. */
typedef struct sample {
    int rows, columns;
    double *dense;
    dls_sparse sparse;
} sample;

static sample make_sample(int rows, int columns, const double *dense) {
    sample s = {rows, columns, malloc(sizeof(double) * (size_t)(rows * columns)), {0}};
    memcpy(s.dense, dense, sizeof(double) * (size_t)(rows * columns));
    dls_triplets t = {rows,
                      columns,
                      0,
                      DLS_NEW(int, rows *columns),
                      DLS_NEW(int, rows *columns),
                      DLS_NEW(double, rows *columns)};
    for (int j = columns - 1; j >= 0; j--) /* any order will do */
        for (int i = 0; i < rows; i++)
            if (dense[i + rows * j] != 0) {
                t.row[t.count] = i;
                t.column[t.count] = j;
                t.value[t.count++] = dense[i + rows * j];
            }
    assert_int_equal(dls_sparse_compress(&t, &s.sparse, NULL), DLS_OK);
    dls_triplets_free(&t);
    return s;
}

static void free_sample(sample *s) {
    free(s->dense);
    dls_sparse_free(&s->sparse);
}

/* Block-diagonal, blocks of one to five rows, each shift·I + B Bᵀ (or + B where it need not be symmetric). */
static sample random_mass(dls_random *g, int n, double shift, bool symmetric) {
    double *dense = calloc((size_t)(n * n), sizeof(double));
    for (int first = 0; first < n;) {
        int size = 1 + (int)dls_random_below(g, 5);
        if (first + size > n) size = n - first;
        double B[25];
        for (int k = 0; k < 25; k++) B[k] = dls_random_between(g, -1, 1);
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                double *entry = dense + (first + i) + n * (first + j);
                *entry = i == j ? shift : 0;
                for (int k = 0; symmetric && k < size; k++) *entry += B[i * 5 + k] * B[j * 5 + k];
                if (!symmetric) *entry += B[i * 5 + j];
            }
        first += size;
    }
    sample s = make_sample(n, n, dense);
    free(dense);
    return s;
}

/* Each column touches up to six rows. */
static sample random_columns(dls_random *g, int n, int columns) {
    double *dense = calloc((size_t)(n * columns), sizeof(double));
    for (int j = 0; j < columns; j++)
        for (int k = 0; k < 6; k++)
            dense[dls_random_below(g, (uint64_t)n) + (uint64_t)(n * j)] = dls_random_between(g, -1, 1);
    sample s = make_sample(n, columns, dense);
    free(dense);
    return s;
}

/* X ← A⁻¹ B by elimination with partial pivoting, dense. */
static void solve_dense(int n, int columns, const double *A, double *B) {
    double *LU = malloc(sizeof(double) * (size_t)(n * n));
    memcpy(LU, A, sizeof(double) * (size_t)(n * n));
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++)
            if (fabs(LU[i + n * k]) > fabs(LU[best + n * k])) best = i;
        for (int j = 0; j < n + columns; j++) {
            double *column = j < n ? LU + n * j : B + n * (j - n), t = column[k];
            column[k] = column[best];
            column[best] = t;
        }
        for (int i = k + 1; i < n; i++) {
            double l = LU[i + n * k] / LU[k + n * k];
            for (int j = k; j < n; j++) LU[i + n * j] -= l * LU[k + n * j];
            for (int j = 0; j < columns; j++) B[i + n * j] -= l * B[k + n * j];
        }
    }
    for (int j = 0; j < columns; j++)
        for (int k = n - 1; k >= 0; k--) {
            B[k + n * j] /= LU[k + n * k];
            for (int i = 0; i < k; i++) B[i + n * j] -= LU[i + n * k] * B[k + n * j];
        }
    free(LU);
}

/* Whether a connected part of M touches columns a and b of A: their paths meet. */
static bool share_part(const sample *M, const sample *A, const int *part, int a, int b) {
    for (int i = 0; i < M->rows; i++)
        for (int k = 0; k < M->rows; k++)
            if (A->dense[i + A->rows * a] != 0 && A->dense[k + A->rows * b] != 0 && part[i] == part[k])
                return true;
    return false;
}

/* Checks values and sparsity of W against M and A; returns the largest |W_ij − W_ji|. */
static double check_condensed(const sample *M, const sample *A, const dls_sparse *W) {
    int n = M->rows, m = A->columns;
    double *X = malloc(sizeof(double) * (size_t)(n * m)), asymmetry = 0;
    double *dense = calloc((size_t)(m * m), sizeof(double));
    bool *stored = calloc((size_t)(m * m), sizeof(bool));
    int *part = malloc(sizeof(int) * (size_t)n);
    dls_sparse_components(&M->sparse, part);
    memcpy(X, A->dense, sizeof(double) * (size_t)(n * m));
    solve_dense(n, m, M->dense, X);
    for (int i = 0; i < m; i++)
        for (int64_t k = W->start[i]; k < W->start[i + 1]; k++) {
            assert_false(stored[i + m * W->row[k]]);
            stored[i + m * W->row[k]] = true;
            dense[i + m * W->row[k]] = W->value[k];
        }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double expected = 0;
            for (int k = 0; k < n; k++) expected += A->dense[k + n * i] * X[k + n * j];
            assert_true(fabs(dense[i + m * j] - expected) < 1e-11 * (1 + fabs(expected)));
            assert_int_equal(stored[i + m * j], share_part(M, A, part, i, j));
            asymmetry = fmax(asymmetry, fabs(dense[i + m * j] - dense[j + m * i]));
        }
    free(X);
    free(dense);
    free(stored);
    free(part);
    return asymmetry;
}

static void condensing_definite_matrices(void **state) {
    (void)state;
    dls_random g = {7};
    for (int round = 0; round < 50; round++) {
        int n = 1 + (int)dls_random_below(&g, 40), m = 1 + (int)dls_random_below(&g, 25);
        sample M = random_mass(&g, n, 0.5, true), A = random_columns(&g, n, m);
        dls_factor *factor;
        dls_sparse W;
        assert_int_equal(dls_factor_create(&M.sparse, &factor, NULL), DLS_OK);
        assert_true(dls_factor_is_symmetric(factor));
        assert_int_equal(dls_factor_condense(factor, &A.sparse, &W, NULL), DLS_OK);
        assert_true(check_condensed(&M, &A, &W) == 0);
        dls_sparse_free(&W);
        dls_factor_destroy(factor);
        free_sample(&M);
        free_sample(&A);
    }
}

static void condensing_other_matrices(void **state) {
    (void)state;
    dls_random g = {8};
    for (int round = 0; round < 50; round++) {
        int n = 2 + (int)dls_random_below(&g, 40), m = 1 + (int)dls_random_below(&g, 25);
        bool symmetric = round % 2;
        sample M = random_mass(&g, n, symmetric ? -9 : 3, symmetric), A = random_columns(&g, n, m);
        if (symmetric) M.dense[0] = M.sparse.value[M.sparse.start[0]] = fabs(M.dense[0]) + 20;
        dls_factor *factor;
        dls_sparse W;
        assert_int_equal(dls_factor_create(&M.sparse, &factor, NULL), DLS_OK);
        if (symmetric) assert_false(dls_factor_is_symmetric(factor));
        assert_int_equal(dls_factor_condense(factor, &A.sparse, &W, NULL), DLS_OK);
        check_condensed(&M, &A, &W);
        dls_sparse_free(&W);
        dls_factor_destroy(factor);
        free_sample(&M);
        free_sample(&A);
    }
}

static void solving(void **state) {
    (void)state;
    dls_random g = {9};
    for (int kind = 0; kind < 2; kind++) {
        sample M = random_mass(&g, 30, kind ? 3 : 0.5, kind == 0);
        double x[30], b[30] = {0};
        dls_factor *factor;
        for (int i = 0; i < 30; i++) x[i] = dls_random_between(&g, -1, 1);
        dls_sparse_multiply_add(&M.sparse, x, b);
        assert_int_equal(dls_factor_create(&M.sparse, &factor, NULL), DLS_OK);
        assert_int_equal(dls_factor_is_symmetric(factor), kind == 0);
        assert_int_equal(dls_factor_solve(factor, b, NULL), DLS_OK);
        for (int i = 0; i < 30; i++) assert_true(fabs(b[i] - x[i]) < 1e-12);
        dls_factor_destroy(factor);
        free_sample(&M);
    }
}

static void singular_matrices_are_refused(void **state) {
    (void)state;
    const double zero_row[] = {2, 0, 0, 0}, dependent[] = {1, 2, 2, 4}, unsymmetric[] = {1, 1, 2, 2};
    const double nearly[] = {1, 1 / 3.0, 1 / 3.0, 1 / 9.0 + 1e-17}, empty[] = {0, 0, 0, 0};
    const double *cases[] = {zero_row, dependent, unsymmetric, nearly, empty};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sample M = make_sample(2, 2, cases[k]);
        dls_factor *factor;
        dls_error error;
        assert_int_equal(dls_factor_create(&M.sparse, &factor, &error), DLS_ERROR_NUMERIC);
        assert_null(factor);
        assert_non_null(strstr(error.message, "singular"));
        free_sample(&M);
    }
}

/* Masses of 1e-12 beside 1e12 are no singularity. */
static void scales_may_differ(void **state) {
    (void)state;
    const double masses[] = {1e-12, 0, 0, 1e12};
    sample M = make_sample(2, 2, masses);
    dls_factor *factor;
    double x[] = {1e-12, 2e12};
    assert_int_equal(dls_factor_create(&M.sparse, &factor, NULL), DLS_OK);
    assert_int_equal(dls_factor_solve(factor, x, NULL), DLS_OK);
    assert_true(fabs(x[0] - 1) < 1e-14 && fabs(x[1] - 2) < 1e-14);
    dls_factor_destroy(factor);
    free_sample(&M);
}

/* Duplicates add up, stored zeros couple nothing, and a sum of zero is a zero. */
static void duplicates_and_zeros(void **state) {
    (void)state;
    int row[] = {0, 1, 0, 1, 0, 1, 2, 2, 0}, column[] = {0, 1, 0, 0, 1, 0, 2, 0, 2};
    double value[] = {1, 5, 3, 2, 0, -2, 6, 0, 0}, x[] = {4, 10, 18};
    dls_triplets entries = {3, 3, 9, row, column, value};
    dls_sparse M, W;
    dls_factor *factor;
    assert_int_equal(dls_sparse_compress(&entries, &M, NULL), DLS_OK);
    assert_int_equal(dls_factor_create(&M, &factor, NULL), DLS_OK);
    assert_int_equal(dls_factor_solve(factor, x, NULL), DLS_OK);
    for (int i = 0; i < 3; i++) assert_true(fabs(x[i] - (i + 1)) < 1e-15);
    const double identity[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    sample I = make_sample(3, 3, identity);
    assert_int_equal(dls_factor_condense(factor, &I.sparse, &W, NULL), DLS_OK);
    assert_int_equal(W.start[3], 3);
    dls_sparse_free(&W);
    dls_sparse_free(&M);
    dls_factor_destroy(factor);
    free_sample(&I);
}

static void empty_matrices(void **state) {
    (void)state;
    sample M = make_sample(0, 0, (double[]){0}), A = make_sample(0, 4, (double[]){0});
    dls_factor *factor;
    dls_sparse W;
    assert_int_equal(dls_factor_create(&M.sparse, &factor, NULL), DLS_OK);
    assert_int_equal(dls_factor_solve(factor, NULL, NULL), DLS_OK);
    assert_int_equal(dls_factor_condense(factor, &A.sparse, &W, NULL), DLS_OK);
    assert_int_equal(W.columns, 4);
    assert_int_equal(W.start[4], 0);
    dls_sparse_free(&W);
    dls_factor_destroy(factor);
    free_sample(&M);
    free_sample(&A);
}

/* ---- the n-th allocation fails, for every n ---- */

static int allocations_left;

static void *scarce_allocate(size_t bytes, void *user) {
    (void)user;
    return allocations_left-- > 0 ? malloc(bytes) : NULL;
}

static void scarce_release(void *block, void *user) {
    (void)user;
    free(block);
}

static void running_out_of_memory(void **state) {
    (void)state;
    dls_random g = {10};
    dls_allocator scarce = {scarce_allocate, scarce_release, NULL};
    for (int kind = 0; kind < 2; kind++) {
        allocations_left = 1000;
        dls_allocator_set(&scarce);
        sample M = random_mass(&g, 12, 3, kind == 0), A = random_columns(&g, 12, 5);
        bool done = false;
        for (int n = 0; !done; n++) {
            dls_factor *factor = NULL;
            dls_sparse W = {0};
            assert_true(n < 100);
            allocations_left = n;
            dls_status status = dls_factor_create(&M.sparse, &factor, NULL);
            if (!status) status = dls_factor_condense(factor, &A.sparse, &W, NULL);
            if (status) assert_int_equal(status, DLS_ERROR_MEMORY);
            done = !status;
            dls_sparse_free(&W);
            dls_factor_destroy(factor);
        }
        free_sample(&M);
        free_sample(&A);
        dls_allocator_set(NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(condensing_definite_matrices),
        cmocka_unit_test(condensing_other_matrices),
        cmocka_unit_test(solving),
        cmocka_unit_test(singular_matrices_are_refused),
        cmocka_unit_test(scales_may_differ),
        cmocka_unit_test(duplicates_and_zeros),
        cmocka_unit_test(empty_matrices),
        cmocka_unit_test(running_out_of_memory),
    };
    return cmocka_run_group_tests_name("sparse", tests, NULL, NULL);
}
