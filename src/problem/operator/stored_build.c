/* Stored W from scalar rows, and back to them. */
#include "base/error.h"
#include "base/memory.h"
#include "base/simd.h"
#include "problem/matrix.h"
#include "problem/operator/bodies.h"

#include <math.h>
#include <stdlib.h>

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
    dls_block_matrix *B = p->data;
    B->column = DLS_NEW(int, blocks);
    if (!p->uniform) B->value_start = DLS_NEW(int64_t, blocks + 1);
    return B->column && (p->uniform || B->value_start) ? DLS_OK : dls_fail_memory(error);
}

static dls_status allocate_values(dls_problem *p, dls_error *error) {
    dls_block_matrix *B = p->data;
    if (!p->uniform) {
        int64_t at = 0;
        for (int c = 0; c < p->block_count; c++)
            for (int64_t k = B->start[c]; k < B->start[c + 1]; k++) {
                B->value_start[k] = at;
                at += (int64_t)dls_size(p, c) * dls_size(p, B->column[k]);
            }
        B->value_start[B->start[p->block_count]] = at;
    }
    B->value = DLS_NEW_ZERO(double, dls_matrix_value_count(p) + DLS_SIMD_PAD);
    return B->value ? DLS_OK : dls_fail_memory(error);
}

/* where[j] tells the place of block column j in the row being filled. */
static void fill_row(dls_problem *p, const dls_csr *W, const int *block_of, int c, int64_t *where) {
    const dls_block_matrix *B = p->data;
    int rows = dls_size(p, c);
    double *diagonal = dls_diagonal_place(p, c);
    for (int64_t k = B->start[c]; k < B->start[c + 1]; k++) where[B->column[k]] = k;
    for (int i = 0; i < rows; i++)
        for (int64_t k = W->start[p->row[c] + i]; k < W->start[p->row[c] + i + 1]; k++) {
            int j = block_of[W->column[k]], inside = W->column[k] - p->row[j];
            if (W->value[k] == 0) continue;
            double *block = j == c ? diagonal : dls_block_value(p, B, where[j], rows);
            block[i + rows * inside] += W->value[k];
        }
}

static dls_status fill_blocks(dls_problem *p, const dls_csr *W, int *block_of, int *seen, int64_t *where,
                              dls_error *error) {
    dls_block_matrix *B = p->data;
    int n = p->block_count;
    for (int c = 0; c < n; c++) {
        seen[c] = -1;
        for (int i = p->row[c]; i < p->row[c + 1]; i++) block_of[i] = c;
    }
    B->start[0] = 0;
    for (int c = 0; c < n; c++) B->start[c + 1] = B->start[c] + block_columns(p, W, block_of, c, seen, NULL);
    dls_status status = allocate_blocks(p, B->start[n], error);
    if (status) return status;
    for (int c = 0; c < n; c++) seen[c] = -1;
    for (int c = 0; c < n; c++) block_columns(p, W, block_of, c, seen, B->column + B->start[c]);
    status = allocate_values(p, error);
    if (status) return status;
    for (int c = 0; c < n; c++) fill_row(p, W, block_of, c, where);
    for (int64_t k = 0, values = dls_matrix_value_count(p); k < values; k++)
        if (!isfinite(B->value[k]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "duplicate entries of W add up to %g, expected finite sums", B->value[k]);
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
        dls_block_matrix *B = p->data = DLS_NEW_ZERO(dls_block_matrix, 1);
        if (B) B->start = DLS_NEW_ZERO(int64_t, p->block_count + 1);
        int *block_of = DLS_NEW(int, p->row_count), *seen = DLS_NEW(int, p->block_count);
        int64_t *where = DLS_NEW(int64_t, p->block_count);
        status = B && B->start && block_of && seen && where ? fill_blocks(p, W, block_of, seen, where, error)
                                                            : dls_fail_memory(error);
        dls_free(block_of);
        dls_free(seen);
        dls_free(where);
    }
    if (!status) status = dls_problem_finish(p, error);
    if (!status) status = dls_problem_take_units(p, error);
    if (status)
        dls_problem_destroy(p);
    else
        *problem = p;
    return status;
}

/* ---- and back ---- */

/* Row i of one block, d × e at the given row and column, in the units of the user. */
typedef struct export_block {
    const double *value;
    int d, e, i, row, column;
} export_block;

static int64_t export_row(const dls_problem *p, const export_block *block, int64_t at, int *column,
                          double *value) {
    for (int j = 0; j < block->e; j++, at++) {
        double W = block->value[block->i + block->d * j];
        if (column) column[at] = block->column + j;
        if (value)
            value[at] = p->unit ? W / (p->unit[block->row + block->i] * p->unit[block->column + j]) : W;
    }
    return at;
}

int64_t dls_problem_export(const dls_problem *p, int64_t *row_start, int *column, double *value) {
    if (!dls_problem_is_stored(p)) return 0;
    const dls_block_matrix *B = dls_problem_matrix(p);
    int64_t at = 0;
    for (int c = 0; c < p->block_count; c++)
        for (int i = 0, rows = dls_size(p, c); i < rows; i++) {
            export_block diagonal = {dls_diagonal(p, c), rows, rows, i, p->row[c], p->row[c]};
            bool diagonal_done = false;
            if (row_start) row_start[p->row[c] + i] = at;
            for (int64_t k = B->start[c]; k < B->start[c + 1]; k++) {
                int j = B->column[k];
                if (j > c && !diagonal_done) {
                    at = export_row(p, &diagonal, at, column, value);
                    diagonal_done = true;
                }
                export_block block = {
                    dls_block_value(p, B, k, rows), rows, dls_size(p, j), i, p->row[c], p->row[j]};
                at = export_row(p, &block, at, column, value);
            }
            if (!diagonal_done) at = export_row(p, &diagonal, at, column, value);
        }
    if (row_start) row_start[p->row_count] = at;
    return at;
}
