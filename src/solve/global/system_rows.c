/* (A + B (W + α)) x = y as it stands, with W in store. */
#include "solve/global/system_kinds.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"

#include "problem/eliminate.h"

#include <string.h>

/* What one iteration costs beside the factorisation, in flops of a sweep (measured on the shared problems):
 * assembly and indices per entry, linearisation, ordering and solves per row. */
static const double ENTRY_COST = 400, ROW_COST = 2500;

/* ---- assembly: row i of block c is  Σ_k B_c[i,k] (W + α)_c[k, ·] + A_c[i, ·] ---- */

/* J (rows × columns) = B W for one block. */
static inline void multiply_block(int rows, int columns, const double *B, const double *W, double *J) {
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            for (int k = 0; k < rows; k++) sum += B[i + rows * k] * W[k + rows * j];
            J[i + rows * j] = sum;
        }
}

static void diagonal_block(const dls_system *s, int c, double *J) {
    const dls_problem *p = s->problem;
    int d = dls_size(p, c);
    const double *A = s->A + dls_system_block(p, c), *B = s->B + dls_system_block(p, c);
    multiply_block(d, d, B, dls_diagonal(p, c), J);
    for (int k = 0; k < d * d; k++) J[k] += A[k] + s->alpha * B[k];
}

/* The off-diagonal block k of row c. */
static void coupling_block(const dls_system *s, int c, int64_t k, double *J) {
    const dls_problem *p = s->problem;
    assert(k >= s->W->start[c] && k < s->W->start[c + 1]);
    int d = dls_size(p, c), e = dls_size(p, s->W->column[k]);
    multiply_block(d, e, s->B + dls_system_block(p, c), dls_block_value(p, s->W, k, d), J);
}

static void fill_dense(dls_system *s) {
    const dls_problem *p = s->problem;
    double J[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    memset(s->matrix.matrix, 0, sizeof(double) * (size_t)s->matrix.size * (size_t)s->matrix.size);
    for (int c = 0; c < p->block_count; c++) {
        int row = s->place[p->row[c]], d = dls_size(p, c);
        if (row < 0) continue;
        for (int64_t k = s->W->start[c] - 1; k < s->W->start[c + 1]; k++) {
            bool diagonal = k < s->W->start[c];
            int other = diagonal ? c : s->W->column[k], column = s->place[p->row[other]];
            if (column < 0) continue;
            if (diagonal)
                diagonal_block(s, c, J);
            else
                coupling_block(s, c, k, J);
            for (int j = 0, e = dls_size(p, other); j < e; j++)
                for (int i = 0; i < d; i++)
                    s->matrix.matrix[(size_t)(column + j) * (size_t)s->matrix.size + (size_t)(row + i)] =
                        J[i + d * j];
        }
    }
}

/* Scalar rows of block row c, columns ascending. */
static int fill_sparse_row(dls_system *s, int c, int at) {
    const dls_problem *p = s->problem;
    int d = dls_size(p, c), width = 0, entry = 0;
    bool before = true; /* the diagonal block is still to come */
    for (int64_t k = s->W->start[c]; k < s->W->start[c + 1]; k++)
        if (s->place[p->row[s->W->column[k]]] >= 0) width += dls_size(p, s->W->column[k]);
    width += d;
    for (int64_t k = s->W->start[c]; k <= s->W->start[c + 1]; k++) {
        double J[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
        bool last = k == s->W->start[c + 1];
        if (before && (last || s->W->column[k] > c)) {
            diagonal_block(s, c, J);
            for (int j = 0; j < d; j++, entry++)
                for (int i = 0; i < d; i++) {
                    s->matrix.index[at + i * width + entry] = s->place[p->row[c]] + j;
                    s->matrix.value[at + i * width + entry] = J[i + d * j];
                }
            before = false;
        }
        if (last) break;
        int other = s->W->column[k], column = s->place[p->row[other]];
        if (column < 0) continue;
        coupling_block(s, c, k, J);
        for (int j = 0, e = dls_size(p, other); j < e; j++, entry++)
            for (int i = 0; i < d; i++) {
                s->matrix.index[at + i * width + entry] = column + j;
                s->matrix.value[at + i * width + entry] = J[i + d * j];
            }
    }
    for (int i = 0; i < d; i++) s->matrix.start[s->place[p->row[c]] + i + 1] = at + (i + 1) * width;
    return at + d * width;
}

static void fill_sparse(dls_system *s) {
    int at = 0;
    s->matrix.start[0] = 0;
    for (int c = 0; c < s->problem->block_count; c++)
        if (s->place[s->problem->row[c]] >= 0) at = fill_sparse_row(s, c, at);
}

/* Rows that are in it, numbered as they come. */
static bool fill(dls_system *s) {
    const dls_problem *p = s->problem;
    s->matrix.size = 0;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1]; i++) s->place[i] = s->left_out[c] ? -1 : s->matrix.size++;
    if (dls_factored_is_dense(&s->matrix))
        fill_dense(s);
    else
        fill_sparse(s);
    return true;
}

/* ---- solution ---- */

/* What the given values contribute moves to the right-hand side. */
static void move_given(const dls_system *s, int c, const double *x, double *right) {
    const dls_problem *p = s->problem;
    int d = dls_size(p, c);
    double J[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    for (int64_t k = s->W->start[c]; k < s->W->start[c + 1]; k++) {
        int other = s->W->column[k], e = dls_size(p, other);
        const double *given = x + p->row[other];
        if (s->place[p->row[other]] >= 0 || small_dot(e, given, given) == 0) continue;
        coupling_block(s, c, k, J);
        for (int j = 0; j < e; j++)
            for (int i = 0; i < d; i++) right[i] -= J[i + d * j] * given[j];
    }
}

static bool solve(dls_system *s, double *x) {
    const dls_problem *p = s->problem;
    for (int c = 0; c < p->block_count; c++) {
        int at = s->place[p->row[c]];
        if (at < 0) continue;
        for (int i = 0, d = dls_size(p, c); i < d; i++) s->right[at + i] = x[p->row[c] + i];
        move_given(s, c, x, s->right + at);
    }
    if (!dls_factored_solve(&s->matrix, s->right)) return false;
    for (int i = 0; i < p->row_count; i++)
        if (s->place[i] >= 0) x[i] = s->right[s->place[i]];
    return true;
}

/* ---- sizes ---- */

static int64_t entries(const dls_problem *p) { return p->op->least_entries(p); }
static int rows(const dls_problem *p) { return p->row_count; }

static double least_cost(const dls_problem *p) {
    return ENTRY_COST * (double)p->op->least_entries(p) + ROW_COST * (p->row_count + dls_kept_rows(p));
}

static double spent(const dls_system *s) {
    double n = s->matrix.size;
    bool dense = dls_factored_is_dense(&s->matrix);
    return ENTRY_COST * (dense ? n * n : (double)s->matrix.start[s->matrix.size]) + ROW_COST * n;
}

static dls_status take(dls_system *s, dls_error *error) {
    (void)error;
    s->W = dls_problem_matrix(s->problem);
    return DLS_OK;
}

const dls_system_kind dls_system_of_rows = {.entries = entries,
                                            .rows = rows,
                                            .least_cost = least_cost,
                                            .spent = spent,
                                            .take = take,
                                            .fill = fill,
                                            .solve = solve};
