#include "base/lu.h"

#include "base/simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* So many rows and terms of A are copied at a time that they stay in the second cache. */
enum { TILE = 4, SLAB = 3 * TILE, PACKED_ROWS = 8 * SLAB, PACKED_TERMS = 256, LEAST_PACKED = 32 };

/* Loops of few steps, whose number is a constant where they are inlined: written out, so that arrays become
 * registers. Clang does so unasked, and later than it should when asked. */
#ifdef __clang__
#define EACH(i, count) for (int i = 0; i < (count); i++)
#else
#define EACH(i, count) _Pragma("GCC unroll 4") for (int i = 0; i < (count); i++)
#endif
#define INLINE static inline __attribute__((always_inline))

static int at_most(int limit, int count) { return count < limit ? count : limit; }
static int half(int count) { return (count / 2 + TILE - 1) / TILE * TILE; }

int64_t dls_lu_room(int n) {
    if (n < 2 * LEAST_PACKED) return 0;
    return (int64_t)at_most(PACKED_ROWS, n + TILE - 1) * at_most(PACKED_TERMS, half(n));
}

/* ---- C −= A B; all three lie in one matrix, whose columns are `lead` apart ---- */

/* One to three vectors of consecutive rows. The last one may begin in rows that are done already: the first
 * `done` of them stay as they are. */
typedef struct slab {
    int row, vectors, done;
} slab;

static slab slab_at(int rows, int i) {
    int left = rows - i, vectors = left >= SLAB ? 3 : (left + TILE - 1) / TILE, done = TILE * vectors - left;
    if (done <= 0) return (slab){i, vectors, 0};
    if (done <= i) return (slab){i - done, vectors, done};
    return (slab){i, left / TILE, 0};
}

static int slab_end(slab s) { return s.row + TILE * s.vectors; }

static const dls_v4_bits LANES[TILE] = {{-1, -1, -1, -1}, {0, -1, -1, -1}, {0, 0, -1, -1}, {0, 0, 0, -1}};

INLINE void tile(int vectors, int columns, int terms, const double *A, int64_t step, const double *B,
                 double *C, int64_t lead, int done) {
    dls_v4 sum[3][TILE];
    EACH(j, columns) { EACH(v, vectors) sum[v][j] = (dls_v4){0}; }
    for (int k = 0; k < terms; k++, A += step) EACH(j, columns) {
            double factor = B[k + lead * j];
            EACH(v, vectors) sum[v][j] += DLS_V4_LOAD(A + TILE * v) * factor;
        }
    EACH(j, columns) {
        sum[0][j] = (dls_v4)((dls_v4_bits)sum[0][j] & LANES[done]);
        EACH(v, vectors) DLS_V4_AT(C + TILE * v + lead * j) -= sum[v][j];
    }
}

/* A: where the slab's rows begin, each term `step` further. */
INLINE void slab_tile(slab s, int columns, int terms, const double *A, int64_t step, const double *B,
                      double *C, int64_t lead) {
    C += s.row;
    if (s.vectors == 3)
        tile(3, columns, terms, A, step, B, C, lead, s.done);
    else if (s.vectors == 2)
        tile(2, columns, terms, A, step, B, C, lead, s.done);
    else
        tile(1, columns, terms, A, step, B, C, lead, s.done);
}

static void multiply_slab(slab s, int columns, int terms, const double *A, int64_t step, const double *B,
                          double *C, int64_t lead) {
    switch (columns) {
    case 1:
        slab_tile(s, 1, terms, A, step, B, C, lead);
        break;
    case 2:
        slab_tile(s, 2, terms, A, step, B, C, lead);
        break;
    case 3:
        slab_tile(s, 3, terms, A, step, B, C, lead);
        break;
    default:
        slab_tile(s, 4, terms, A, step, B, C, lead);
    }
}

/* Slab by slab, terms within it one behind the other. */
static void pack(int rows, int from, int to, int terms, const double *A, int64_t lead, double *packed) {
    for (int i = from; i < to;) {
        slab s = slab_at(rows, i);
        for (int k = 0; k < terms; k++)
            for (int v = 0; v < s.vectors; v++, packed += TILE)
                DLS_V4_AT(packed) = DLS_V4_LOAD(A + s.row + TILE * v + lead * k);
        i = slab_end(s);
    }
}

static void multiply_packed(int rows, int columns, int terms, const double *A, const double *B, double *C,
                            int64_t lead, double *packed) {
    for (int from = 0; from < rows; from += PACKED_ROWS) {
        int to = at_most(rows, from + PACKED_ROWS);
        pack(rows, from, to, terms, A, lead, packed);
        for (int j = 0; j < columns; j += TILE) {
            const double *slab_rows = packed;
            for (int i = from; i < to;) {
                slab s = slab_at(rows, i);
                multiply_slab(s, at_most(TILE, columns - j), terms, slab_rows, TILE * s.vectors, B + lead * j,
                              C + lead * j, lead);
                slab_rows += TILE * s.vectors * terms;
                i = slab_end(s);
            }
        }
    }
}

static void multiply_in_place(int rows, int columns, int terms, const double *A, const double *B, double *C,
                              int64_t lead) {
    for (int i = 0; i < rows;) {
        slab s = slab_at(rows, i);
        for (int j = 0; j < columns; j += TILE)
            multiply_slab(s, at_most(TILE, columns - j), terms, A + s.row, lead, B + lead * j, C + lead * j,
                          lead);
        i = slab_end(s);
    }
}

static void multiply_few(int rows, int columns, int terms, const double *A, const double *B, double *C,
                         int64_t lead) {
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            for (int k = 0; k < terms; k++) sum += A[i + lead * k] * B[k + lead * j];
            C[i + lead * j] -= sum;
        }
}

static void multiply(int rows, int columns, int terms, const double *A, const double *B, double *C,
                     int64_t lead, double *room) {
    if (rows < TILE) {
        multiply_few(rows, columns, terms, A, B, C, lead);
    } else if (columns < LEAST_PACKED || terms < LEAST_PACKED) {
        multiply_in_place(rows, columns, terms, A, B, C, lead);
    } else {
        int parts = (terms + PACKED_TERMS - 1) / PACKED_TERMS, part = (terms + parts - 1) / parts;
        for (int k = 0; k < terms; k += part)
            multiply_packed(rows, columns, at_most(part, terms - k), A + lead * k, B + k, C, lead, room);
    }
}

/* ---- X = L⁻¹ X, L with ones on its diagonal; its size is a multiple of four ---- */

static void solve_four(int columns, const double *L, double *X, int64_t lead) {
    const dls_v4 l0 = {0, L[1], L[2], L[3]}, l1 = {0, 0, L[2 + lead], L[3 + lead]};
    const dls_v4 l2 = {0, 0, 0, L[3 + 2 * lead]};
    for (int j = 0; j < columns; j++, X += lead) {
        dls_v4 x = DLS_V4_LOAD(X);
        x -= l0 * x[0];
        x -= l1 * x[1];
        x -= l2 * x[2];
        DLS_V4_AT(X) = x;
    }
}

static void solve_lower(int size, int columns, const double *L, double *X, int64_t lead, double *room) {
    if (size == TILE) {
        solve_four(columns, L, X, lead);
        return;
    }
    int top = half(size);
    solve_lower(top, columns, L, X, lead, room);
    multiply(size - top, columns, top, L + top, X, X + top, lead, room);
    solve_lower(size - top, columns, L + top + lead * top, X + top, lead, room);
}

/* ---- up to four columns ---- */

/* x −= A u, row by row in the order of the terms. */
INLINE void subtract_terms(int terms, int rows, const double *A, int64_t lead, const double *u, double *x) {
    double factor[TILE];
    EACH(j, terms) factor[j] = u[j];
    int i = 0;
    for (; i + TILE <= rows; i += TILE) {
        dls_v4 value = DLS_V4_LOAD(x + i);
        EACH(j, terms) value -= DLS_V4_LOAD(A + i + lead * j) * factor[j];
        DLS_V4_AT(x + i) = value;
    }
    for (; i < rows; i++) EACH(j, terms) x[i] -= A[i + lead * j] * factor[j];
}

static void subtract(int terms, int rows, const double *A, int64_t lead, const double *u, double *x) {
    switch (terms) {
    case 0:
        break;
    case 1:
        subtract_terms(1, rows, A, lead, u, x);
        break;
    case 2:
        subtract_terms(2, rows, A, lead, u, x);
        break;
    case 3:
        subtract_terms(3, rows, A, lead, u, x);
        break;
    default:
        subtract_terms(4, rows, A, lead, u, x);
    }
}

/* The first of the largest |x|; 0 where none is above zero. */
static int find_pivot(int rows, const double *x) {
    dls_v4 most = {0};
    dls_v4_bits place = {0}, here = {0, 1, 2, 3};
    int i = 0, best = 0;
    double largest = 0;
    for (; i + TILE <= rows; i += TILE, here += TILE) {
        dls_v4 size = DLS_V4_ABS(DLS_V4_LOAD(x + i));
        dls_v4_bits more = (dls_v4_bits)(size > most);
        most = (dls_v4)(((dls_v4_bits)size & more) | ((dls_v4_bits)most & ~more));
        place = (here & more) | (place & ~more);
    }
    for (int lane = 0; lane < TILE; lane++)
        if (most[lane] > largest || (most[lane] == largest && place[lane] < best)) {
            largest = most[lane];
            best = (int)place[lane];
        }
    for (; i < rows; i++)
        if (fabs(x[i]) > largest) {
            largest = fabs(x[i]);
            best = i;
        }
    return best;
}

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* Dividing costs more, but the inverse of a tiny pivot is no number. */
static void divide(int rows, double *x, double pivot) {
    double inverse = 1 / pivot;
    if (fabs(pivot) >= DBL_MIN)
        for (int i = 0; i < rows; i++) x[i] *= inverse;
    else
        for (int i = 0; i < rows; i++) x[i] /= pivot;
}

/* Column by column: what those before take from it, its pivot, its part of L. */
static int factor_few(int rows, int columns, double *A, int64_t lead, int *pivot) {
    int without = 0;
    for (int k = 0; k < columns; k++) {
        double *x = A + lead * k;
        for (int i = 1; i < k; i++)
            for (int j = 0; j < i; j++) x[i] -= A[i + lead * j] * x[j];
        subtract(k, rows - k, A + k, lead, x, x + k);
        pivot[k] = k + find_pivot(rows - k, x + k);
        if (fabs(x[pivot[k]]) > 0) {
            for (int j = 0; j < columns; j++) swap(A + k + lead * j, A + pivot[k] + lead * j);
            divide(rows - k - 1, x + k + 1, x[k]);
        } else if (!without) {
            without = k + 1;
        }
    }
    return without;
}

/* ---- all columns ---- */

static void swap_rows(int columns, double *A, int64_t lead, int from, int to, const int *pivot) {
    for (int j = 0; j < columns; j++, A += lead)
        for (int k = from; k < to; k++) swap(A + k, A + pivot[k]);
}

/* (A₁₁ A₁₂; A₂₁ A₂₂): the left columns, then A₁₂ = L₁₁⁻¹ A₁₂, A₂₂ −= A₂₁ A₁₂, then the right columns. */
static int factor(int rows, int columns, double *A, int64_t lead, int *pivot, double *room) {
    if (columns <= TILE) return factor_few(rows, columns, A, lead, pivot);
    int left = half(columns), right = columns - left;
    double *A12 = A + lead * left, *A22 = A12 + left;
    int first = factor(rows, left, A, lead, pivot, room);
    swap_rows(right, A12, lead, 0, left, pivot);
    solve_lower(left, right, A, A12, lead, room);
    multiply(rows - left, right, left, A + left, A12, A22, lead, room);
    int second = factor(rows - left, right, A22, lead, pivot + left, room);
    for (int k = left; k < columns; k++) pivot[k] += left;
    swap_rows(left, A, lead, left, columns, pivot);
    return first ? first : second ? left + second : 0;
}

int dls_lu_factor(int n, double *A, int *pivot, double *room) { return factor(n, n, A, n, pivot, room); }

/* ---- solution ---- */

void dls_lu_solve(int n, const double *LU, const int *pivot, double *x) {
    int64_t lead = n;
    for (int k = 0; k < n; k++) swap(x + k, x + pivot[k]);
    for (int k = 0; k < n; k += TILE) {
        int count = at_most(TILE, n - k);
        const double *L = LU + k + lead * k;
        for (int j = 0; j < count; j++)
            for (int i = j + 1; i < count; i++) x[k + i] -= L[i + lead * j] * x[k + j];
        subtract(count, n - k - count, L + count, lead, x + k, x + k + count);
    }
    for (int end = n; end > 0;) {
        int count = at_most(TILE, end), k = end - count;
        const double *U = LU + lead * k;
        for (int j = count - 1; j >= 0; j--) {
            x[k + j] /= U[k + j + lead * j];
            for (int i = 0; i < j; i++) x[k + i] -= U[k + i + lead * j] * x[k + j];
        }
        subtract(count, k, U, lead, x + k, x);
        end = k;
    }
}

void dls_lu_solve_transposed(int n, const double *LU, const int *pivot, double *x) {
    for (int j = 0; j < n; j++) {
        const double *column = LU + (int64_t)n * j;
        for (int i = 0; i < j; i++) x[j] -= column[i] * x[i];
        x[j] /= column[j];
    }
    for (int j = n - 1; j >= 0; j--)
        for (int i = j + 1; i < n; i++) x[j] -= LU[i + (int64_t)n * j] * x[i];
    for (int k = n - 1; k >= 0; k--) {
        double kept = x[k];
        x[k] = x[pivot[k]], x[pivot[k]] = kept;
    }
}

/* Climbs on the unit ball of the 1-norm along the gradient of ‖A⁻¹x‖₁, a few vertices far. */
double dls_lu_inverse_norm(int n, const double *LU, const int *pivot, double *room) {
    enum { CLIMBS = 5 };
    double *x = room, *slope = room + n, best = 0;
    int vertex = -1;
    for (int i = 0; i < n; i++) x[i] = 1.0 / n;
    for (int climb = 0; climb < CLIMBS; climb++) {
        double norm = 0;
        dls_lu_solve(n, LU, pivot, x);
        for (int i = 0; i < n; i++) norm += fabs(x[i]), slope[i] = x[i] < 0 ? -1 : 1;
        if (!(norm > best)) break;
        best = norm;
        dls_lu_solve_transposed(n, LU, pivot, slope);
        int steepest = 0;
        for (int i = 1; i < n; i++)
            if (fabs(slope[i]) > fabs(slope[steepest])) steepest = i;
        if (steepest == vertex) break;
        vertex = steepest;
        memset(x, 0, sizeof *x * (size_t)n);
        x[vertex] = 1;
    }
    return best;
}
