/* Stored W: block rows, off-diagonal blocks beside the diagonal ones. */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "base/small.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>

static size_t state_size(const dls_problem *p) {
    (void)p;
    return 0;
}

/* v += Σ_{j≠c} W_cj r_j where blocks differ in size. */
static void mixed_row(const dls_problem *p, int c, const double *r, double *v) {
    const dls_block_rows *W = &p->blocks;
    int rows = p->row[c + 1] - p->row[c];
    for (int64_t k = W->start[c]; k < W->start[c + 1]; k++) {
        int j = W->column[k], columns = p->row[j + 1] - p->row[j];
        const double *A = W->value + W->value_start[k], *x = r + p->row[j];
        for (int col = 0; col < columns; col++)
            for (int i = 0; i < rows; i++) v[i] += A[i + rows * col] * x[col];
    }
}

static inline void row_sum(const dls_problem *p, int c, const double *r, double *v) {
    const dls_block_rows *W = &p->blocks;
    int64_t first = W->start[c], count = W->start[c + 1] - first;
    switch (p->uniform) {
    case 2:
        dls_block2_row(count, W->value + 4 * first, W->column + first, r, v);
        break;
    case 3:
        dls_block3_row(count, W->value + 9 * first, W->column + first, r, v);
        break;
    case 4:
        dls_block_row(4, count, W->value + 16 * first, W->column + first, r, v);
        break;
    default:
        mixed_row(p, c, r, v);
    }
}

static void local(const dls_problem *p, int c, const double *r, const double *state, double *v) {
    (void)state;
    int d = dls_size(p, c);
    for (int i = 0; i < d; i++) v[i] = p->b[p->row[c] + i];
    row_sum(p, c, r, v);
}

typedef struct product_work {
    const dls_problem *problem;
    const double *r;
    double *u;
} product_work;

static void product_range(void *self, int first, int end) {
    const product_work *w = self;
    const dls_problem *p = w->problem;
    for (int c = first; c < end; c++) {
        int d = dls_size(p, c);
        double v[DLS_MAX_BLOCK] = {0};
        row_sum(p, c, w->r, v);
        small_multiply_add(d, dls_diagonal(p, c), w->r + p->row[c], v);
        for (int i = 0; i < d; i++) w->u[p->row[c] + i] = v[i];
    }
}

static void product(const dls_problem *p, const double *r, double *u, double *state, int threads) {
    (void)state;
    dls_parallel_for(p->block_count, threads, product_range, &(product_work){p, r, u});
}

static void start(const dls_problem *p, const double *r, double *state, int threads) {
    (void)p, (void)r, (void)state, (void)threads;
}

static void changed(const dls_problem *p, int c, const double *delta, double *state) {
    (void)p, (void)c, (void)delta, (void)state;
}

static bool is_hub(const dls_problem *p, int c) {
    return p->blocks.start[c + 1] - p->blocks.start[c] > 2 * DLS_HUB;
}

/* Colours that the neighbours of a chunk have already. */
static uint64_t taken_colours(const dls_problem *p, int first, int end, const uint8_t *colour_of) {
    const dls_block_rows *W = &p->blocks;
    uint64_t taken = 0;
    for (int c = first; c < end; c++)
        for (int64_t k = W->start[c]; k < W->start[c + 1] && !is_hub(p, c); k++) {
            uint8_t other = colour_of[W->column[k]];
            if (other < DLS_MAX_COLOURS) taken |= (uint64_t)1 << other;
        }
    return taken;
}

/* Greedy in natural order: the first colour that no earlier neighbour has. Where W couples a pair one way
 * only, the later block may not have seen the earlier one: it loses its colour in a second pass. */
static void colour(const dls_problem *p, int chunk, uint8_t *colour_of, uint64_t *scratch) {
    (void)scratch;
    const dls_block_rows *W = &p->blocks;
    int n = p->block_count;
    for (int c = 0; c < n; c++) colour_of[c] = DLS_NO_COLOUR;
    for (int first = 0; first < n; first += chunk) {
        int end = first + chunk < n ? first + chunk : n;
        uint64_t taken = taken_colours(p, first, end, colour_of);
        for (int c = first; c < end && ~taken; c++)
            if (!is_hub(p, c)) colour_of[c] = (uint8_t)__builtin_ctzll(~taken);
    }
    for (int c = 0; c < n; c++)
        for (int64_t k = W->start[c]; k < W->start[c + 1]; k++) {
            int j = W->column[k], later = j > c ? j : c;
            if (j / chunk != c / chunk && colour_of[c] == colour_of[j]) colour_of[later] = DLS_NO_COLOUR;
        }
}

static void release(dls_problem *p) {
    dls_free(p->blocks.start);
    dls_free(p->blocks.column);
    dls_free(p->blocks.value_start);
    dls_free(p->blocks.value);
}

static int64_t value_count(const dls_problem *p) {
    int64_t blocks = p->blocks.start[p->block_count];
    return p->uniform ? blocks * p->uniform * p->uniform : p->blocks.value_start[blocks];
}

static size_t memory(const dls_problem *p) {
    size_t blocks = (size_t)p->blocks.start[p->block_count], places = p->uniform ? 0 : blocks + 1;
    return ((size_t)p->block_count + 1 + places) * sizeof(int64_t) + blocks * sizeof(int) +
           ((size_t)value_count(p) + DLS_SIMD_PAD) * sizeof(double);
}

static double coupled_scale(const dls_problem *p, int c) {
    double sum = 0;
    int count = 0;
    for (int64_t k = p->blocks.start[c]; k < p->blocks.start[c + 1]; k++) {
        int j = p->blocks.column[k];
        if (p->kind[j] == DLS_CONTACT) sum += p->scale[j], count++;
    }
    return count ? sum / count : 0;
}

const dls_operator dls_operator_stored = {"stored", state_size, product,       start,   local,
                                          changed,  colour,     coupled_scale, release, memory};

int64_t dls_problem_stored_blocks(const dls_problem *p) {
    return dls_problem_is_stored(p) ? p->blocks.start[p->block_count] + p->block_count : 0;
}

/* ---- from scalar rows to blocks ---- */

static dls_status check_matrix(const dls_csr *W, int rows, dls_error *error) {
    if (!W || (rows && !W->start))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a matrix W is needed, got NULL");
    if (W->rows != rows || W->columns != rows)
        return dls_fail(error, DLS_ERROR_INPUT, "W is %d × %d, expected %d × %d from the block sizes",
                        W->rows, W->columns, rows, rows);
    if (rows && W->start[0] != 0)
        return dls_fail(error, DLS_ERROR_INPUT, "first row of W starts at %lld, expected 0",
                        (long long)W->start[0]);
    for (int i = 0; i < rows; i++)
        if (W->start[i + 1] < W->start[i])
            return dls_fail(error, DLS_ERROR_INPUT, "row %d of W ends before it starts", i);
    int64_t entries = rows ? W->start[rows] : 0;
    if (entries && (!W->column || !W->value))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "columns and values of W are needed, got NULL");
    for (int64_t k = 0; k < entries; k++) {
        if (W->column[k] < 0 || W->column[k] >= rows)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "column index %d of W's entry %lld is out of range, expected 0 … %d",
                            W->column[k], (long long)k, rows - 1);
        if (!isfinite(W->value[k]))
            return dls_fail(error, DLS_ERROR_INPUT, "W's entry %lld is %g, expected a finite number",
                            (long long)k, W->value[k]);
    }
    return DLS_OK;
}

static int compare_ints(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Columns of block row c other than c itself, ascending; seen[j] = c marks those that were met. */
static int64_t block_columns(const dls_problem *p, const dls_csr *W, const int *block_of, int c, int *seen,
                             int *column) {
    int64_t count = 0;
    for (int64_t k = W->start[p->row[c]]; k < W->start[p->row[c + 1]]; k++) {
        int j = block_of[W->column[k]];
        if (j == c || seen[j] == c || W->value[k] == 0) continue;
        seen[j] = c;
        if (column) column[count] = j;
        count++;
    }
    if (column) qsort(column, (size_t)count, sizeof(int), compare_ints);
    return count;
}

static dls_status allocate_blocks(dls_problem *p, int64_t blocks, dls_error *error) {
    p->blocks.column = DLS_NEW(int, blocks);
    if (!p->uniform) p->blocks.value_start = DLS_NEW(int64_t, blocks + 1);
    return p->blocks.column && (p->uniform || p->blocks.value_start) ? DLS_OK : dls_fail_memory(error);
}

static dls_status allocate_values(dls_problem *p, dls_error *error) {
    if (!p->uniform) {
        int64_t at = 0;
        for (int c = 0; c < p->block_count; c++)
            for (int64_t k = p->blocks.start[c]; k < p->blocks.start[c + 1]; k++) {
                p->blocks.value_start[k] = at;
                at += (int64_t)dls_size(p, c) * dls_size(p, p->blocks.column[k]);
            }
        p->blocks.value_start[p->blocks.start[p->block_count]] = at;
    }
    p->blocks.value = DLS_NEW_ZERO(double, value_count(p) + DLS_SIMD_PAD);
    return p->blocks.value ? DLS_OK : dls_fail_memory(error);
}

static double *block_value(dls_problem *p, int64_t k) {
    return p->blocks.value + (p->uniform ? k * p->uniform * p->uniform : p->blocks.value_start[k]);
}

/* where[j] tells the place of block column j in the row being filled. */
static void fill_row(dls_problem *p, const dls_csr *W, const int *block_of, int c, int64_t *where) {
    int rows = dls_size(p, c);
    double *diagonal = p->diagonal + (p->uniform ? (int64_t)c * rows * rows : p->diagonal_start[c]);
    for (int64_t k = p->blocks.start[c]; k < p->blocks.start[c + 1]; k++) where[p->blocks.column[k]] = k;
    for (int i = 0; i < rows; i++)
        for (int64_t k = W->start[p->row[c] + i]; k < W->start[p->row[c] + i + 1]; k++) {
            int j = block_of[W->column[k]], inside = W->column[k] - p->row[j];
            if (W->value[k] == 0) continue;
            double *block = j == c ? diagonal : block_value(p, where[j]);
            block[i + rows * inside] += W->value[k];
        }
}

static dls_status fill_blocks(dls_problem *p, const dls_csr *W, int *block_of, int *seen, int64_t *where,
                              dls_error *error) {
    int n = p->block_count;
    for (int c = 0; c < n; c++) {
        seen[c] = -1;
        for (int i = p->row[c]; i < p->row[c + 1]; i++) block_of[i] = c;
    }
    p->blocks.start[0] = 0;
    for (int c = 0; c < n; c++)
        p->blocks.start[c + 1] = p->blocks.start[c] + block_columns(p, W, block_of, c, seen, NULL);
    dls_status status = allocate_blocks(p, p->blocks.start[n], error);
    if (status) return status;
    for (int c = 0; c < n; c++) seen[c] = -1;
    for (int c = 0; c < n; c++) block_columns(p, W, block_of, c, seen, p->blocks.column + p->blocks.start[c]);
    status = allocate_values(p, error);
    if (status) return status;
    for (int c = 0; c < n; c++) fill_row(p, W, block_of, c, where);
    for (int64_t k = 0, values = value_count(p); k < values; k++)
        if (!isfinite(p->blocks.value[k]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "duplicate entries of W add up to %g, expected finite sums", p->blocks.value[k]);
    return DLS_OK;
}

dls_status dls_problem_create(const dls_problem_def *def, const dls_csr *W, dls_problem **problem,
                              dls_error *error) {
    dls_error_clear(error);
    if (!problem) return dls_fail(error, DLS_ERROR_ARGUMENT, "nowhere to put the problem: NULL");
    *problem = NULL;
    dls_problem *p;
    dls_status status = dls_problem_begin(def, NULL, &p, error);
    if (status) return status;
    p->op = &dls_operator_stored;
    status = check_matrix(W, p->row_count, error);
    if (!status) {
        p->blocks.start = DLS_NEW_ZERO(int64_t, p->block_count + 1);
        int *block_of = DLS_NEW(int, p->row_count), *seen = DLS_NEW(int, p->block_count);
        int64_t *where = DLS_NEW(int64_t, p->block_count);
        status = p->blocks.start && block_of && seen && where
                     ? fill_blocks(p, W, block_of, seen, where, error)
                     : dls_fail_memory(error);
        dls_free(block_of);
        dls_free(seen);
        dls_free(where);
    }
    if (!status) status = dls_problem_finish(p, error);
    if (status)
        dls_problem_destroy(p);
    else
        *problem = p;
    return status;
}

/* ---- and back ---- */

/* Appends the scalar entries of row i of one block. */
static int64_t export_row(int rows, int columns, int i, int first, const double *block, int64_t at,
                          int *column, double *value) {
    for (int j = 0; j < columns; j++, at++) {
        if (column) column[at] = first + j;
        if (value) value[at] = block[i + rows * j];
    }
    return at;
}

int64_t dls_problem_export(const dls_problem *p, int64_t *row_start, int *column, double *value) {
    if (!dls_problem_is_stored(p)) return 0;
    int64_t at = 0;
    for (int c = 0; c < p->block_count; c++)
        for (int i = 0, rows = dls_size(p, c); i < rows; i++) {
            bool diagonal_done = false;
            if (row_start) row_start[p->row[c] + i] = at;
            for (int64_t k = p->blocks.start[c]; k < p->blocks.start[c + 1]; k++) {
                int j = p->blocks.column[k];
                if (j > c && !diagonal_done) {
                    at = export_row(rows, rows, i, p->row[c], dls_diagonal(p, c), at, column, value);
                    diagonal_done = true;
                }
                const double *block =
                    p->blocks.value + (p->uniform ? k * rows * rows : p->blocks.value_start[k]);
                at = export_row(rows, dls_size(p, j), i, p->row[j], block, at, column, value);
            }
            if (!diagonal_done)
                at = export_row(rows, rows, i, p->row[c], dls_diagonal(p, c), at, column, value);
        }
    if (row_start) row_start[p->row_count] = at;
    return at;
}
