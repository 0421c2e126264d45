#include "base/dense.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/simd.h"

#include <float.h>
#include <math.h>

/* ---- Uᵀ A V = bidiagonal, by reflections I − 2 v vᵀ/|v|² from the left and from the right by turns ---- */

/* Eight sums side by side. */
static double dot(int n, const double *x, const double *y) {
    dls_v4 a = {0}, b = {0};
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        a += DLS_V4_LOAD(x + i) * DLS_V4_LOAD(y + i);
        b += DLS_V4_LOAD(x + i + 4) * DLS_V4_LOAD(y + i + 4);
    }
    a += b;
    double sum = (a[0] + a[1]) + (a[2] + a[3]);
    for (; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static void add_multiple(int n, double factor, const double *x, double *y) {
    for (int i = 0; i < n; i++) y[i] += factor * x[i];
}

/* v in place of x, and what the reflection makes of x: that times the first unit vector. */
static double reflection(int n, double *x, double *factor) {
    double size = sqrt(dot(n, x, x)), image = x[0] > 0 ? -size : size;
    x[0] -= image;
    *factor = size > 0 ? 2 / dot(n, x, x) : 0;
    return image;
}

/* d: the diagonal, e: n − 1 entries beside it; row, product: n numbers of room. */
static void make_bidiagonal(int n, double *A, double *d, double *e, double *row, double *product) {
    for (int k = 0; k < n; k++) {
        double *v = A + k + (int64_t)n * k, factor;
        int rows = n - k, rest = n - k - 1;
        d[k] = reflection(rows, v, &factor);
        for (int j = 1; j <= rest; j++) {
            double *column = v + (int64_t)n * j;
            add_multiple(rows, -factor * dot(rows, v, column), v, column);
        }
        if (rest == 0) break;
        for (int j = 0; j < rest; j++) row[j] = v[(int64_t)n * (j + 1)];
        e[k] = reflection(rest, row, &factor);
        for (int i = 0; i < rest; i++) product[i] = 0;
        for (int j = 0; j < rest; j++) add_multiple(rest, row[j], v + 1 + (int64_t)n * (j + 1), product);
        for (int j = 0; j < rest; j++)
            add_multiple(rest, -factor * row[j], product, v + 1 + (int64_t)n * (j + 1));
    }
}

/* ---- values of the bidiagonal matrix ---- */

/* The symmetric matrix with zeros on and d₁ e₁ d₂ e₂ … beside its diagonal has the eigenvalues ±σ: as many
 * pivots of it − x are negative as eigenvalues lie below x. Four x at once; square: of what is beside. */
static void count_below(int n, const double *square, const double *x, double *count) {
    dls_v4 shift = -DLS_V4_LOAD(x), pivot = shift, tiny = {DBL_MIN, DBL_MIN, DBL_MIN, DBL_MIN};
    dls_v4_bits negative = (dls_v4_bits)(pivot < 0);
    for (int i = 0; i < 2 * n - 1; i++) {
        dls_v4_bits zero = (dls_v4_bits)(pivot == 0);
        pivot = (dls_v4)((dls_v4_bits)pivot | ((dls_v4_bits)tiny & zero));
        pivot = shift - square[i] / pivot;
        negative += (dls_v4_bits)(pivot < 0);
    }
    for (int lane = 0; lane < 4; lane++) count[lane] = -(double)negative[lane] - n;
}

/* By halving [0, bound]; below the k-th largest value lie n − k others. */
static void bisect(int n, const double *square, double bound, double *values) {
    for (int k = 0; k < n; k += 4) {
        double low[4] = {0}, high[4] = {bound, bound, bound, bound}, middle[4], below[4];
        for (double width = bound; width > 0.5 * DBL_EPSILON * bound; width *= 0.5) {
            for (int lane = 0; lane < 4; lane++) middle[lane] = 0.5 * (low[lane] + high[lane]);
            count_below(n, square, middle, below);
            for (int lane = 0; lane < 4; lane++)
                if (below[lane] >= n - k - lane)
                    high[lane] = middle[lane];
                else
                    low[lane] = middle[lane];
        }
        for (int lane = 0; lane < 4 && k + lane < n; lane++) values[k + lane] = low[lane];
    }
}

dls_status dls_dense_singular_values(int n, double *A, double *values, dls_error *error) {
    if (n == 0) return DLS_OK;
    double *room = DLS_NEW(double, 6 * (int64_t)n), *square = room + 4 * (int64_t)n, largest = 0;
    if (!room) return dls_fail_memory(error);
    for (int64_t i = 0; i < (int64_t)n * n; i++) largest = fmax(largest, fabs(A[i]));
    double scale = largest > 0 ? 1 / largest : 1, bound = 0; /* squares neither vanish nor overflow */
    for (int64_t i = 0; i < (int64_t)n * n; i++) A[i] *= scale;
    double *d = room, *e = room + n;
    make_bidiagonal(n, A, d, e, room + 2 * (int64_t)n, room + 3 * (int64_t)n);
    for (int k = 0; k < n; k++) {
        double beside = k < n - 1 ? e[k] : 0, before = k ? e[k - 1] : 0;
        bound = fmax(bound, fmax(fabs(d[k]) + fabs(beside), fabs(d[k]) + fabs(before)));
        square[2 * k] = d[k] * d[k];
        square[2 * k + 1] = beside * beside;
    }
    bisect(n, square, bound, values);
    for (int k = 0; k < n; k++) values[k] *= largest;
    dls_free(room);
    return DLS_OK;
}
