/* P A = L U against what it must satisfy, and against elimination the plain way. */
#include "base/lu.h"
#include "base/random.h"
#include "support/dense.h"
#include "support/scale.h"
#include "support/test.h"

#include <float.h>

enum { MOST = 620 };

typedef struct factors {
    int n, without;
    double *A, *LU, *room;
    int *pivot;
} factors;

static double *doubles(int64_t count) { return malloc(sizeof(double) * (size_t)(count + 1)); }

/* Exactly as much memory as is asked for, so that the address sanitizer sees every step beyond it. */
static factors factors_create(int n) {
    int64_t entries = (int64_t)n * n;
    return (factors){.n = n,
                     .A = doubles(entries),
                     .LU = malloc(sizeof(double) * (size_t)entries),
                     .room = malloc(sizeof(double) * (size_t)dls_lu_room(n)),
                     .pivot = malloc(sizeof(int) * (size_t)n)};
}

static void factors_free(factors *f) { free(f->A), free(f->LU), free(f->room), free(f->pivot); }

static void factor(factors *f) {
    memcpy(f->LU, f->A, sizeof(double) * (size_t)f->n * (size_t)f->n);
    f->without = dls_lu_factor(f->n, f->LU, f->pivot, f->room);
}

static double *at(double *A, int n, int i, int j) { return A + i + (int64_t)n * j; }

/* max |P A − L U| over n ε max|L| max|U|: 1 at most, by the usual bound; most often far below. */
static double backward_error(factors *f) {
    int n = f->n;
    double *swapped = doubles((int64_t)n * n), *column = doubles(n), worst = 0, largest = 0;
    memcpy(swapped, f->A, sizeof(double) * (size_t)n * (size_t)n);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n && f->pivot[k] != k; j++) {
            double kept = *at(swapped, n, k, j);
            *at(swapped, n, k, j) = *at(swapped, n, f->pivot[k], j);
            *at(swapped, n, f->pivot[k], j) = kept;
        }
    for (int j = 0; j < n; j++) {
        memset(column, 0, sizeof(double) * (size_t)n);
        for (int k = 0; k <= j; k++) {
            double u = *at(f->LU, n, k, j);
            largest = fmax(largest, fabs(u));
            column[k] += u;
            for (int i = k + 1; i < n; i++) column[i] += *at(f->LU, n, i, k) * u;
        }
        for (int i = 0; i < n; i++) worst = fmax(worst, fabs(column[i] - *at(swapped, n, i, j)));
    }
    free(swapped), free(column);
    return largest > 0 ? worst / (n * DBL_EPSILON * largest) : worst;
}

static void check_factors(factors *f) {
    for (int k = 0; k < f->n; k++) {
        assert_in_range(f->pivot[k], k, f->n - 1);
        for (int i = k + 1; i < f->n; i++) assert_true(fabs(*at(f->LU, f->n, i, k)) <= 1);
    }
    assert_true(backward_error(f) <= 1);
}

/* The residual of a solution, relative to what rounding in its products alone would leave. */
static void check_solution(dls_random *g, factors *f) {
    int n = f->n;
    double *x = doubles(n), *y = doubles(n), size = 0;
    for (int i = 0; i < n; i++) x[i] = y[i] = dls_random_normal(g);
    dls_lu_solve(n, f->LU, f->pivot, x);
    for (int64_t i = 0; i < (int64_t)n * n; i++) size = fmax(size, fabs(f->LU[i]));
    double bound = 2 * n * DBL_EPSILON * (dense_norm(n, y) + n * size * dense_norm(n, x));
    assert_true(dense_residual(n, f->A, x, y) <= bound);
    free(x), free(y);
}

/* yᵀA⁻¹z = zᵀA⁻ᵀy, and ‖A⁻¹‖₁ between a third of itself and itself. */
static void transposed_and_norm(void **state) {
    (void)state;
    dls_random g = {7};
    for (int n = 1; n <= 60; n++) {
        factors f = factors_create(n);
        double *y = doubles(n), *z = doubles(n), *x = doubles(n), *w = doubles(n), *room = doubles(2 * n);
        double left = 0, right = 0, size = 0, norm = 0;
        for (int64_t i = 0; i < (int64_t)n * n; i++) f.A[i] = dls_random_normal(&g);
        factor(&f);
        for (int i = 0; i < n; i++) x[i] = z[i] = dls_random_normal(&g), w[i] = y[i] = dls_random_normal(&g);
        dls_lu_solve(n, f.LU, f.pivot, x), dls_lu_solve_transposed(n, f.LU, f.pivot, w);
        for (int i = 0; i < n; i++) left += y[i] * x[i], right += z[i] * w[i], size += fabs(y[i] * x[i]);
        assert_true(fabs(left - right) <= 1e-9 * size);
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int i = 0; i < n; i++) x[i] = i == j;
            dls_lu_solve(n, f.LU, f.pivot, x);
            for (int i = 0; i < n; i++) sum += fabs(x[i]);
            norm = fmax(norm, sum);
        }
        double estimate = dls_lu_inverse_norm(n, f.LU, f.pivot, room);
        assert_true(estimate <= norm * (1 + 1e-9) && estimate >= norm / 3);
        free(y), free(z), free(x), free(w), free(room);
        factors_free(&f);
    }
}

typedef enum matrix_kind { RANDOM, GRADED_ROWS, GRADED_COLUMNS, DOMINANT, WILKINSON, KINDS } matrix_kind;

/* Wilkinson's matrix, whose last column doubles with every pivot, to 2^(n − 1). */
static double wilkinson(int n, int i, int j) { return j == n - 1 || i == j ? 1 : i > j ? -1 : 0; }

static void draw(dls_random *g, matrix_kind kind, factors *f) {
    int n = f->n;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double x = dls_random_normal(g);
            if (kind == GRADED_ROWS) x *= pow(10, -20.0 * i / n);
            if (kind == GRADED_COLUMNS) x *= pow(10, -20.0 * j / n);
            if (kind == DOMINANT && i == j) x += n;
            *at(f->A, n, i, j) = kind == WILKINSON ? wilkinson(n, i, j) : x;
        }
}

static void matrices_of_all_sizes(void **state) {
    (void)state;
    dls_random g = {31};
    static const int large[] = {127, 128, 192, 256, 301, 513, MOST};
    int small = 100, count = small + (int)(sizeof large / sizeof *large);
    for (int k = 0; k < count; k++)
        for (int kind = 0; kind < KINDS; kind++) {
            if (k >= small && scaled(2, 1) == 1 && kind != RANDOM) continue;
            factors f = factors_create(k < small ? k + 1 : large[k - small]);
            draw(&g, kind, &f);
            factor(&f);
            assert_int_equal(f.without, 0);
            check_factors(&f);
            check_solution(&g, &f);
            if (kind == WILKINSON) assert_true(f.LU[(int64_t)f.n * f.n - 1] == pow(2, f.n - 1));
            factors_free(&f);
        }
}

/* Small whole numbers: no rounding, so that every pivot and entry is that of plain elimination; where entries
 * tie, the first row is taken. */
static void ties_take_the_first_row(void **state) {
    (void)state;
    for (int n = 1; n <= 40; n++) {
        factors f = factors_create(n);
        for (int j = 0; j < n; j++) /* every step meets 1 in the rows i ≤ k + 5 and less below */
            for (int i = 0; i < n; i++) *at(f.A, n, i, j) = i > j + 5 ? 0 : i == j || i < j ? 1 : -1;
        factor(&f);
        double *M = doubles((int64_t)n * n);
        memcpy(M, f.A, sizeof(double) * (size_t)n * (size_t)n);
        for (int k = 0; k < n; k++) {
            int best = k;
            for (int i = k + 1; i < n; i++)
                if (fabs(*at(M, n, i, k)) > fabs(*at(M, n, best, k))) best = i;
            assert_int_equal(f.pivot[k], best);
            for (int j = k; j < n; j++) {
                double kept = *at(M, n, k, j);
                *at(M, n, k, j) = *at(M, n, best, j);
                *at(M, n, best, j) = kept;
                assert_true(*at(M, n, k, j) == *at(f.LU, n, k, j));
            }
            for (int i = k + 1; i < n; i++)
                for (int j = n - 1; j > k; j--)
                    *at(M, n, i, j) -= *at(M, n, i, k) / *at(M, n, k, k) * *at(M, n, k, j);
        }
        free(M);
        factors_free(&f);
    }
}

/* Wherever the two lie. */
static void of_two_largest_the_first_is_taken(void **state) {
    (void)state;
    enum { ROWS = 23 };
    for (int first = 0; first < ROWS; first++)
        for (int second = first; second < ROWS; second++) {
            factors f = factors_create(ROWS);
            for (int i = 0; i < ROWS * ROWS; i++) f.A[i] = i % (ROWS + 1) == 0;
            for (int i = 0; i < ROWS; i++) f.A[i] = i == first ? -2 : i == second ? 2 : 1;
            factor(&f);
            assert_int_equal(f.pivot[0], first);
            factors_free(&f);
        }
}

/* A column of zeros, or one that repeats another in whole numbers, has no pivot where it stands; P A = L U
 * holds none the less. */
static void singular_matrices(void **state) {
    (void)state;
    dls_random g = {32};
    for (int n = 1; n <= 150; n += 1 + n / 20)
        for (int round = 0; round < 6; round++) {
            factors f = factors_create(n);
            int bad = round == 0 ? 0 : round == 1 ? n - 1 : (int)dls_random_below(&g, n);
            draw(&g, RANDOM, &f);
            for (int i = 0; i < n; i++) *at(f.A, n, i, bad) = 0;
            factor(&f);
            assert_int_equal(f.without, bad + 1);
            check_factors(&f);
            if (n > 1) { /* rows that tell columns apart one by one, then two columns alike */
                for (int j = 0; j < n; j++)
                    for (int i = 0; i < n; i++) *at(f.A, n, i, j) = i >= j;
                int twin = bad ? bad : 1;
                for (int i = 0; i < n; i++) *at(f.A, n, i, twin) = *at(f.A, n, i, twin - 1);
                factor(&f);
                assert_int_equal(f.without, twin + 1);
            }
            factors_free(&f);
        }
}

static void matrices_that_are_not_finite(void **state) {
    (void)state;
    dls_random g = {33};
    for (int n = 1; n <= 80; n += 7) {
        factors f = factors_create(n);
        double *x = doubles(n);
        draw(&g, RANDOM, &f);
        for (int i = 0; i < n; i++) *at(f.A, n, i, n / 2) = (double)NAN;
        factor(&f);
        assert_int_equal(f.without, n / 2 + 1);
        draw(&g, RANDOM, &f); /* one NaN may be no pivot, and ends up in the solution */
        *at(f.A, n, n / 2, n / 2) = (double)NAN;
        factor(&f);
        for (int i = 0; i < n; i++) x[i] = 1;
        bool finite = true;
        if (!f.without) dls_lu_solve(n, f.LU, f.pivot, x);
        for (int i = 0; i < n; i++) finite = finite && isfinite(x[i]);
        assert_true(f.without || !finite);
        free(x);
        factors_free(&f);
    }
}

/* The inverses of the smallest numbers are none. */
static void tiny_and_huge_matrices(void **state) {
    (void)state;

    static const double scales[] = {0x1p-1070, 0x1p-1024, 0x1p-600, 0x1p600, 0x1p1015};
    for (int n = 1; n <= 40; n += 3)
        for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
            factors f = factors_create(n);
            for (int j = 0; j < n; j++) /* entries of L and U are whole, whatever the scale */
                for (int i = 0; i < n; i++) *at(f.A, n, i, j) = scales[k] * ((i == j) + (i == j + 1));
            factor(&f);
            assert_int_equal(f.without, 0);
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    double wanted = i == j ? scales[k] : i == j + 1;
                    assert_true(*at(f.LU, n, i, j) == wanted);
                }
            double x[40];
            for (int i = 0; i < n; i++) x[i] = scales[k];
            dls_lu_solve(n, f.LU, f.pivot, x);
            for (int i = 0; i < n; i++) assert_true(x[i] == (i % 2 == 0));
            factors_free(&f);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_largest_the_first_is_taken),
        cmocka_unit_test(transposed_and_norm),
        cmocka_unit_test(matrices_of_all_sizes),
        cmocka_unit_test(ties_take_the_first_row),
        cmocka_unit_test(singular_matrices),
        cmocka_unit_test(matrices_that_are_not_finite),
        cmocka_unit_test(tiny_and_huge_matrices),
    };
    return cmocka_run_group_tests_name("lu", tests, NULL, NULL);
}
