/* Restarted GMRES against dense solves. */
#include "base/memory.h"
#include "base/random.h"
#include "solve/global/gmres.h"
#include "support/dense.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/test.h"

/* A dense system and its preconditioner (NULL: none), with a count of the products. */
typedef struct dense_system {
    int n, products;
    const double *A, *inverse;
} dense_system;

static void multiply(int n, const double *A, const double *x, double *y) {
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++) y[i] += A[i + n * j] * x[j];
    }
}

static void apply(void *self, const double *x, double *y) {
    dense_system *s = self;
    s->products++;
    multiply(s->n, s->A, x, y);
}

static void precondition(void *self, const double *x, double *y) {
    dense_system *s = self;
    if (s->inverse)
        multiply(s->n, s->inverse, x, y);
    else
        memcpy(y, x, sizeof(double) * (size_t)s->n);
}

/* Solves, and checks that products were counted and the bound was kept. */
static int solve(dense_system *s, int restart, const double *y, double tolerance, int max_products,
                 double *x) {
    dls_workspace *w = dls_workspace_create();
    dls_gmres gmres;
    assert_true(dls_gmres_prepare(&gmres, s->n, restart, 1, w));
    s->products = 0;
    int products = dls_gmres_solve(&gmres, apply, precondition, s, y, tolerance, max_products, x);
    assert_int_equal(products, s->products);
    assert_true(products <= max_products);
    for (int i = 0; i < s->n; i++) assert_true(isfinite(x[i]));
    dls_workspace_destroy(w);
    return products;
}

static double *random_numbers(dls_random *g, int count) {
    double *x = malloc(sizeof(double) * ((size_t)count + 1));
    for (int i = 0; i < count; i++) x[i] = dls_random_normal(g);
    return x;
}

/* Unsymmetric, with eigenvalues around `shift` √n. */
static double *random_matrix(dls_random *g, int n, double shift) {
    double *A = random_numbers(g, n * n);
    for (int i = 0; i < n; i++) A[i + n * i] += shift * sqrt(n);
    return A;
}

/* Without restarts n products solve any regular system, up to rounding. */
static void full_solves(void **state) {
    (void)state;
    dls_random g = {71};
    for (int n = 1; n <= scaled(60, 20); n++) {
        double *A = random_matrix(&g, n, n % 2 ? 0 : 2), *y = random_numbers(&g, n),
               *x = random_numbers(&g, n);
        double *exact = malloc(sizeof(double) * (size_t)n);
        dense_system s = {.n = n, .A = A};
        memcpy(exact, y, sizeof(double) * (size_t)n);
        assert_true(dense_solve(n, A, exact));
        solve(&s, n, y, 1e-12, n + 2, x);
        if (!(dense_distance(n, x, exact) <= 1e-7 * dense_norm(n, exact)))
            fail_msg("n = %d: off by %g of %g", n, dense_distance(n, x, exact), dense_norm(n, exact));
        free(A), free(y), free(x), free(exact);
    }
}

static void restarted_solves(void **state) {
    (void)state;
    dls_random g = {72};
    for (int restart = 1; restart <= 20; restart += restart < 5 ? 1 : 5) {
        int n = 50;
        double *A = random_matrix(&g, n, 2), *y = random_numbers(&g, n), *x = random_numbers(&g, n);
        dense_system s = {.n = n, .A = A};
        for (double tolerance = 1e-1; tolerance > 1e-13; tolerance *= 1e-3) {
            int products = solve(&s, restart, y, tolerance, 2000, x);
            double residual = dense_residual(n, A, x, y) / dense_norm(n, y);
            if (!(residual <= tolerance * (1 + 1e-2)) || products == 2000)
                fail_msg("restart %d: %g after %d products, asked for %g", restart, residual, products,
                         tolerance);
        }
        free(A), free(y), free(x);
    }
}

/* Minimal residuals never grow with the number of products, with and without restarts. */
static void residuals_fall(void **state) {
    (void)state;
    dls_random g = {73};
    for (int restart = 4; restart <= 40; restart += 36) {
        int n = 30;
        double *A = random_matrix(&g, n, 0.5), *y = random_numbers(&g, n), *x = random_numbers(&g, n);
        double last = dense_norm(n, y);
        dense_system s = {.n = n, .A = A};
        for (int bound = 0; bound <= 40; bound++) {
            solve(&s, restart, y, 0, bound, x);
            double residual = dense_residual(n, A, x, y);
            if (!(residual <= last * (1 + 1e-10) + 1e-12))
                fail_msg("restart %d: %g after %d products, %g before", restart, residual, bound, last);
            last = residual;
        }
        free(A), free(y), free(x);
    }
}

/* Rows of very different size: the diagonal's inverse mends that; the whole inverse leaves one product. */
static void preconditioner_helps(void **state) {
    (void)state;
    dls_random g = {74};
    int n = 40;
    double *A = random_matrix(&g, n, 3), *y = random_numbers(&g, n), *x = random_numbers(&g, n);
    double *inverse = calloc((size_t)(n * n), sizeof(double)), *residual = malloc(sizeof(double) * (size_t)n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) A[i + n * j] *= pow(10, j % 7 - 3);
    dense_system plain = {.n = n, .A = A}, preconditioned = {.n = n, .A = A, .inverse = inverse};
    int without = solve(&plain, 10, y, 1e-8, 2000, x);
    for (int i = 0; i < n; i++) inverse[i + n * i] = 1 / A[i + n * i];
    int with = solve(&preconditioned, 10, y, 1e-8, 2000, x);
    assert_true(dense_residual(n, A, x, y) <= 1.01e-8 * dense_norm(n, y));
    assert_true(with < 60 && with < without / 4);
    memset(inverse, 0, sizeof(double) * (size_t)(n * n));
    for (int j = 0; j < n; j++) {
        inverse[j + n * j] = 1;
        dense_solve(n, A, inverse + n * j);
    }
    assert_int_equal(solve(&preconditioned, 10, y, 1e-8, 2000, x), 1);
    assert_true(dense_residual(n, A, x, y) <= 1e-8 * dense_norm(n, y));
    free(A), free(y), free(x), free(inverse), free(residual);
}

static void zero_right_hand_side(void **state) {
    (void)state;
    dls_random g = {75};
    int n = 10;
    double *A = random_matrix(&g, n, 1), *y = calloc((size_t)n, sizeof(double)), *x = random_numbers(&g, n);
    dense_system s = {.n = n, .A = A};
    assert_int_equal(solve(&s, 5, y, 1e-6, 100, x), 0);
    for (int i = 0; i < n; i++) assert_true(x[i] == 0);
    assert_int_equal(solve(&s, 5, y, 0, 100, x), 0);
    free(A), free(y), free(x);
}

/* Symmetric, of rank n − 3: solved where y is in its range; bounded and no worse than x = 0 where it is not.
 */
static void singular_systems(void **state) {
    (void)state;
    dls_random g = {76};
    for (int round = 0; round < scaled(50, 10); round++)
        for (int restart = 5; restart <= 25; restart += 20) {
            int n = 20, rank = n - 3;
            double *G = random_numbers(&g, n * rank), *y = random_numbers(&g, n), *x = random_numbers(&g, n);
            double *A = calloc((size_t)(n * n), sizeof(double)), *wanted = random_numbers(&g, n);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    for (int k = 0; k < rank; k++) A[i + n * j] += G[i + n * k] * G[j + n * k] / n;
            dense_system s = {.n = n, .A = A};
            solve(&s, restart, y, 1e-10, 3000, x);
            assert_true(dense_residual(n, A, x, y) <= dense_norm(n, y) * (1 + 1e-6));
            multiply(n, A, wanted, y);
            solve(&s, restart, y, 1e-7, 20000, x);
            if (!(dense_residual(n, A, x, y) <= 1.01e-7 * dense_norm(n, y)))
                fail_msg("restart %d: %g left", restart, dense_residual(n, A, x, y) / dense_norm(n, y));
            free(G), free(A), free(y), free(x), free(wanted);
        }
}

/* A zero tolerance never stops it: an exhausted space must, after as many products as there are eigenvalues.
 */
static void exhausted_krylov_spaces(void **state) {
    (void)state;
    dls_random g = {77};
    for (int n = 1; n <= 12; n++)
        for (int kind = 0; kind < 3; kind++) {
            double *A = calloc((size_t)(n * n), sizeof(double)), *y = random_numbers(&g, n),
                   *x = random_numbers(&g, n);
            for (int i = 0; i < n; i++) A[i + n * i] = kind == 0 ? 3 : kind == 1 ? 1 + i % 3 : 0;
            dense_system s = {.n = n, .A = A};
            int products = solve(&s, 30, y, 0, 200, x),
                eigenvalues = kind == 1 && n > 1 ? (n > 2 ? 3 : 2) : 1;
            assert_true(products <= eigenvalues);
            double residual = dense_residual(n, A, x, y);
            if (!(residual <= (kind == 2 ? 1 + 1e-12 : 1e-12) * dense_norm(n, y)))
                fail_msg("n = %d, kind %d: %g of %g left", n, kind, residual, dense_norm(n, y));
            free(A), free(y), free(x);
        }
}

/* ---- threads ---- */

enum { LONG = 6007 };

static void apply_band(void *self, const double *x, double *y) {
    (void)self;
    for (int i = 0; i < LONG; i++)
        y[i] = 2.5 * x[i] - (i > 0 ? x[i - 1] : 0) - 0.5 * (i + 70 < LONG ? x[i + 70] : 0);
}

static void precondition_band(void *self, const double *x, double *y) {
    (void)self;
    for (int i = 0; i < LONG; i++) y[i] = x[i] / 2.5;
}

static void same_bits_for_any_threads(void **state) {
    (void)state;
    dls_random g = {78};
    double *y = random_numbers(&g, LONG), *x = random_numbers(&g, LONG);
    uint64_t first = 0;
    int first_products = 0;
    for (int threads = 1; threads <= 8; threads *= 2) {
        dls_workspace *w = dls_workspace_create();
        dls_gmres gmres;
        assert_true(dls_gmres_prepare(&gmres, LONG, 20, threads, w));
        int products = dls_gmres_solve(&gmres, apply_band, precondition_band, NULL, y, 1e-10, 500, x);
        if (threads == 1) first = bits_hash(x, LONG), first_products = products;
        assert_true(products > 20 && products == first_products);
        assert_true(bits_hash(x, LONG) == first);
        dls_workspace_destroy(w);
    }
    free(x), free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_solves),
        cmocka_unit_test(restarted_solves),
        cmocka_unit_test(residuals_fall),
        cmocka_unit_test(preconditioner_helps),
        cmocka_unit_test(zero_right_hand_side),
        cmocka_unit_test(singular_systems),
        cmocka_unit_test(exhausted_krylov_spaces),
        cmocka_unit_test(same_bits_for_any_threads),
    };
    return cmocka_run_group_tests_name("gmres", tests, NULL, NULL);
}
