/* Sparse LU against elimination the plain way: patterns of chains, nets and chance, zeros on the diagonal,
 * columns that contradict each other; the same bits and no memory the second time. */
#include "base/random.h"
#include "solve/sparse_lu.h"
#include "support/allocator.h"
#include "support/dense.h"
#include "support/test.h"

enum { MOST = 120 };

typedef struct matrix {
    int n, start[MOST + 1], row[MOST * MOST];
    double value[MOST * MOST], dense[MOST * MOST];
} matrix;

static matrix A;

static void compress(int n) {
    A.n = n;
    A.start[0] = 0;
    for (int j = 0; j < n; j++) {
        int at = A.start[j];
        for (int i = 0; i < n; i++)
            if (A.dense[i + n * j] != 0) A.row[at] = i, A.value[at++] = A.dense[i + n * j];
        A.start[j + 1] = at;
    }
}

static void clear(int n) { memset(A.dense, 0, sizeof(double) * (size_t)(n * n)); }

/* Entries by chance, as dense as `share` says; a permuted diagonal keeps A regular as a rule. */
static void by_chance(dls_random *g, int n, double share) {
    clear(n);
    int shift = (int)dls_random_below(g, (uint64_t)n);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            if (dls_random_unit(g) < share) A.dense[i + n * j] = dls_random_normal(g);
        A.dense[(j + shift) % n + n * j] = dls_random_between(g, 0.5, 2);
    }
    compress(n);
}

/* A chain of rows that are held: a saddle point, half of its diagonal is zero. */
static void saddle(dls_random *g, int n) {
    int half = n / 2;
    clear(n);
    for (int i = 0; i < half; i++) {
        A.dense[i + n * i] = dls_random_between(g, 1, 1e4);
        for (int k = i; k < i + 2 && k < half; k++)
            A.dense[half + i + n * k] = A.dense[k + n * (half + i)] = dls_random_normal(g);
    }
    for (int i = 2 * half; i < n; i++) A.dense[i + n * i] = 1;
    compress(n);
}

/* |A x − y| over |A||x| + |y|, the largest. */
static double backward_error(const double *x, const double *y) {
    double worst = 0;
    for (int i = 0; i < A.n; i++) {
        double off = -y[i], size = fabs(y[i]);
        for (int j = 0; j < A.n; j++)
            off += A.dense[i + A.n * j] * x[j], size += fabs(A.dense[i + A.n * j] * x[j]);
        worst = fmax(worst, fabs(off) / size);
    }
    return worst;
}

static void check(dls_sparse_lu *lu, dls_random *g) {
    double x[MOST], y[MOST], plain[MOST];
    for (int i = 0; i < A.n; i++) x[i] = y[i] = plain[i] = dls_random_normal(g);
    double pivot = dls_sparse_lu_factor(lu, A.n, A.start, A.row, A.value);
    if (!dense_solve(A.n, A.dense, plain)) {
        assert_true(pivot < 1e-13);
        return;
    }
    assert_true(pivot > 0 && pivot <= 1);
    dls_sparse_lu_solve(lu, x);
    if (!(backward_error(x, y) < 1e-9)) fail_msg("%d rows: %g", A.n, backward_error(x, y));
}

static void test_solutions(void **state) {
    (void)state;
    static const double shares[] = {0, 0.01, 0.03, 0.1, 0.5};
    dls_random g = {5};
    dls_sparse_lu *lu = dls_sparse_lu_create();
    assert_non_null(lu);
    for (int trial = 0; trial < 300; trial++) {
        int n = 1 + (int)dls_random_below(&g, MOST);
        if (trial % 6 == 5)
            saddle(&g, n);
        else
            by_chance(&g, n, shares[trial % 6]);
        check(lu, &g);
    }
    dls_sparse_lu_destroy(lu);
}

/* A row of zeros, two equal columns, and what is no number. */
static void test_singular(void **state) {
    (void)state;
    dls_random g = {6};
    dls_sparse_lu *lu = dls_sparse_lu_create();
    for (int what = 0; what < 3; what++) {
        int n = 60;
        by_chance(&g, n, 0.05);
        for (int k = 0; k < n; k++) {
            if (what == 0) A.dense[17 + n * k] = 0;
            if (what == 1) A.dense[k + n * 3] = A.dense[k + n * 40];
        }
        if (what == 2) A.dense[20 + n * 20] = NAN;
        compress(n);
        assert_true(dls_sparse_lu_factor(lu, n, A.start, A.row, A.value) < 1e-13);
    }
    dls_sparse_lu_destroy(lu);
}

/* A tree has an order without fill: it is eliminated from its leaves, wherever its root is numbered. */
static void test_tree(void **state) {
    (void)state;
    dls_random g = {7};
    dls_sparse_lu *lu = dls_sparse_lu_create();
    int n = MOST;
    clear(n);
    for (int i = 0; i < n; i++) A.dense[i + n * i] = 4;
    for (int i = 1; i < n; i++) A.dense[n * i] = A.dense[i] = -1; /* all hang on row 0 */
    A.dense[0] = n;
    compress(n);
    check(lu, &g);
    assert_int_equal(dls_sparse_lu_entries(lu), 2 * (n - 1));
    dls_sparse_lu_destroy(lu);
}

static void test_again(void **state) {
    (void)state;
    dls_random g = {8};
    double x[2][MOST], y[MOST];
    counting_begin(0);
    dls_sparse_lu *lu = dls_sparse_lu_create();
    for (int i = 0; i < MOST; i++) y[i] = dls_random_normal(&g);
    by_chance(&g, 90, 0.05);
    static matrix other;
    for (int k = 0; k < 2; k++) {
        int before = counting_allocations();
        assert_true(dls_sparse_lu_factor(lu, A.n, A.start, A.row, A.value) > 0);
        memcpy(x[k], y, sizeof y);
        dls_sparse_lu_solve(lu, x[k]);
        if (k == 1) assert_int_equal(counting_allocations(), before);
        other = A;
        by_chance(&g, 70, 0.03);
        dls_sparse_lu_factor(lu, A.n, A.start, A.row, A.value);
        A = other;
    }
    assert_memory_equal(x[0], x[1], sizeof(double) * 90);
    dls_sparse_lu_destroy(lu);
    assert_int_equal(counting_end(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_solutions), cmocka_unit_test(test_singular),
                                       cmocka_unit_test(test_tree), cmocka_unit_test(test_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
