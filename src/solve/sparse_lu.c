/* A Q = P L U, column by column from the left (Gilbert and Peierls 1988): the rows of a column that L reaches
 * are found by walks in depth, so that a column costs what its products do. */
#include "solve/sparse_lu.h"

#include "base/lu.h"
#include "base/memory.h"

#include <amd.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { DENSE = 24 }; /* up to this size all of A is factored */

/* The row of the column's own number is the pivot where it is at least this share of the largest: fill then
 * stays what the order of elimination promises. */
static const double DIAGONAL = 1e-3;

/* Columns of L without their ones, in rows of A, or of U without its diagonal, in pivots. */
typedef struct columns {
    int64_t *start;
    int *row;
    double *value;
    int64_t row_capacity, value_capacity;
} columns;

struct dls_sparse_lu {
    int n;
    bool dense;
    double *matrix; /* of DENSE rows, and room */
    int pivot[DENSE];
    /* the pattern that `order` is of */
    int known, *start, *row;
    int64_t start_capacity, row_capacity;
    /* all that has a place per column, in two blocks */
    double *numbers;
    int *integers;
    int64_t number_capacity, integer_capacity;
    int *order, *row_of, *pivot_of; /* column and row of a pivot; pivot of a row, −1: none yet */
    int *seen, *stack, *reached;    /* of walks */
    int64_t *next;
    double *x, *diagonal;
    columns L, U;
    int *graph; /* of A + Aᵀ, which AMD uses up */
    int64_t graph_capacity;
};

dls_sparse_lu *dls_sparse_lu_create(void) {
    dls_sparse_lu *lu = DLS_NEW_ZERO(dls_sparse_lu, 1);
    if (!lu) return NULL;
    lu->matrix = DLS_NEW(double, DENSE *DENSE + dls_lu_room(DENSE));
    if (lu->matrix) return lu;
    dls_free(lu);
    return NULL;
}

void dls_sparse_lu_destroy(dls_sparse_lu *lu) {
    if (!lu) return;
    dls_free(lu->matrix);
    dls_free(lu->start);
    dls_free(lu->row);
    dls_free(lu->numbers);
    dls_free(lu->integers);
    dls_free(lu->graph);
    dls_free(lu->L.row);
    dls_free(lu->L.value);
    dls_free(lu->U.row);
    dls_free(lu->U.value);
    dls_free(lu);
}

static double factor_dense(dls_sparse_lu *lu, int n, const int *start, const int *row, const double *value) {
    double *A = lu->matrix, least = HUGE_VAL, most = 0;
    memset(A, 0, sizeof *A * (size_t)(n * n));
    for (int j = 0; j < n; j++)
        for (int k = start[j]; k < start[j + 1]; k++) A[row[k] + n * j] = value[k];
    if (dls_lu_factor(n, A, lu->pivot, A + n * n)) return 0;
    for (int k = 0; k < n; k++)
        least = fmin(least, fabs(A[k * (n + 1)])), most = fmax(most, fabs(A[k * (n + 1)]));
    return n ? least / most : 1;
}

/* ---- the order of elimination ---- */

enum { PER_COLUMN = 6 }; /* integers that stay; AMD works in others */
enum { OF_AMD = 8 };

static bool reserve(dls_sparse_lu *lu, int64_t n) {
    if (!DLS_RESERVE(lu->numbers, 0, lu->number_capacity, 5 * n + 2) ||
        !DLS_RESERVE(lu->integers, 0, lu->integer_capacity, (PER_COLUMN + OF_AMD) * n + 1))
        return false;
    lu->x = lu->numbers, lu->diagonal = lu->numbers + n;
    lu->next = (int64_t *)(lu->numbers + 2 * n);
    lu->L.start = lu->next + n, lu->U.start = lu->L.start + n + 1;
    int **all[PER_COLUMN] = {&lu->order, &lu->row_of, &lu->pivot_of, &lu->seen, &lu->stack, &lu->reached};
    for (int i = 0; i < PER_COLUMN; i++) *all[i] = lu->integers + i * n;
    return true;
}

/* Columns of A + Aᵀ without the diagonal, each row once; returns how many there are. */
static int fill_graph(const dls_sparse_lu *lu, int n, int *first, int *length, int *seen) {
    const int *start = lu->start, *row = lu->row;
    int end = 0;
    memset(length, 0, sizeof *length * (size_t)n);
    for (int j = 0; j < n; j++)
        for (int k = start[j]; k < start[j + 1]; k++)
            if (row[k] != j) length[j]++, length[row[k]]++;
    for (int j = 0; j < n; j++) first[j] = end, end += length[j], length[j] = 0, seen[j] = -1;
    for (int j = 0; j < n; j++)
        for (int k = start[j]; k < start[j + 1]; k++) {
            int i = row[k];
            if (i != j) lu->graph[first[j] + length[j]++] = i, lu->graph[first[i] + length[i]++] = j;
        }
    for (int j = 0; j < n; j++) {
        int kept = 0, *column = lu->graph + first[j];
        for (int k = 0; k < length[j]; k++)
            if (seen[column[k]] != j) seen[column[k]] = j, column[kept++] = column[k];
        length[j] = kept;
    }
    return end;
}

static bool is_known(const dls_sparse_lu *lu, int n, const int *start, const int *row) {
    return lu->known == n && memcmp(lu->start, start, sizeof *start * (size_t)(n + 1)) == 0 &&
           memcmp(lu->row, row, sizeof *row * (size_t)start[n]) == 0;
}

/* Approximate minimum degree of A + Aᵀ. */
static bool find_order(dls_sparse_lu *lu, int n, const int *start, const int *row) {
    if (is_known(lu, n, start, row)) return true;
    lu->known = 0;
    int64_t room = 2 * (int64_t)start[n] + start[n] / 2 + n;
    if (room > INT_MAX || !DLS_RESERVE(lu->start, 0, lu->start_capacity, n + 1) ||
        !DLS_RESERVE(lu->row, 0, lu->row_capacity, start[n]) ||
        !DLS_RESERVE(lu->graph, 0, lu->graph_capacity, room) || !reserve(lu, n))
        return false;
    memcpy(lu->start, start, sizeof *start * (size_t)(n + 1));
    memcpy(lu->row, row, sizeof *row * (size_t)start[n]);
    int *of[OF_AMD];
    for (int i = 0; i < OF_AMD; i++) of[i] = lu->integers + (PER_COLUMN + i) * (int64_t)n;
    int used = fill_graph(lu, n, of[0], of[1], lu->seen);
    amd_2(n, of[0], lu->graph, of[1], (int)room, used, of[2], of[3], lu->order, of[4], of[5], of[6], of[7],
          NULL, NULL);
    lu->known = n;
    return true;
}

/* ---- factors ---- */

static bool add_entry(columns *c, int64_t at, int row, double value) {
    if (!DLS_RESERVE(c->row, at, c->row_capacity, at + 1) ||
        !DLS_RESERVE(c->value, at, c->value_capacity, at + 1))
        return false;
    c->row[at] = row, c->value[at] = value;
    return true;
}

/* From `row` along columns of L to all rows that it changes; those that are done lie in lu->reached from
 * `top` on, each before what it changes. Returns the new top. */
static int walk(dls_sparse_lu *lu, int row, int mark, int top) {
    int depth = 0;
    if (lu->seen[row] == mark) return top;
    lu->stack[0] = row, lu->next[0] = -1, lu->seen[row] = mark;
    while (depth >= 0) {
        int at = lu->stack[depth], pivot = lu->pivot_of[at];
        int64_t k = lu->next[depth] < 0 && pivot >= 0 ? lu->L.start[pivot] : lu->next[depth];
        int64_t end = pivot >= 0 ? lu->L.start[pivot + 1] : k;
        while (k < end && lu->seen[lu->L.row[k]] == mark) k++;
        if (k < end) {
            lu->next[depth++] = k + 1;
            lu->stack[depth] = lu->L.row[k], lu->next[depth] = -1, lu->seen[lu->L.row[k]] = mark;
        } else
            lu->reached[--top] = at, depth--;
    }
    return top;
}

/* x = L⁻¹ A_j over the rows that were reached; entries of U go to its column k. */
static bool eliminate(dls_sparse_lu *lu, int top, int64_t *high) {
    for (int i = top; i < lu->n; i++) {
        int row = lu->reached[i], pivot = lu->pivot_of[row];
        if (pivot < 0) continue;
        double u = lu->x[row];
        for (int64_t k = lu->L.start[pivot]; k < lu->L.start[pivot + 1]; k++)
            lu->x[lu->L.row[k]] -= lu->L.value[k] * u;
        if (!add_entry(&lu->U, (*high)++, pivot, u)) return false;
    }
    return true;
}

/* The row of pivot k: −1 where all that is left is zero, or none is a number. */
static int choose(const dls_sparse_lu *lu, int k, int top) {
    int own = lu->order[k], best = -1;
    double largest = 0;
    bool has_own = false;
    for (int i = top; i < lu->n; i++) {
        int row = lu->reached[i];
        if (lu->pivot_of[row] >= 0) continue;
        has_own |= row == own;
        if (fabs(lu->x[row]) > largest) largest = fabs(lu->x[row]), best = row;
    }
    return has_own && largest > 0 && fabs(lu->x[own]) >= DIAGONAL * largest ? own : best;
}

static bool factor_column(dls_sparse_lu *lu, int k, const double *value, int64_t *low, int64_t *high) {
    int j = lu->order[k], top = lu->n;
    for (int i = lu->start[j]; i < lu->start[j + 1]; i++) top = walk(lu, lu->row[i], k, top);
    for (int i = top; i < lu->n; i++) lu->x[lu->reached[i]] = 0;
    for (int i = lu->start[j]; i < lu->start[j + 1]; i++) lu->x[lu->row[i]] = value[i];
    if (!eliminate(lu, top, high)) return false;
    int pivot = choose(lu, k, top);
    if (pivot < 0) return false;
    for (int i = top; i < lu->n; i++) {
        int row = lu->reached[i];
        if (lu->pivot_of[row] >= 0 || row == pivot) continue;
        if (!add_entry(&lu->L, (*low)++, row, lu->x[row] / lu->x[pivot])) return false;
    }
    lu->diagonal[k] = lu->x[pivot];
    lu->row_of[k] = pivot, lu->pivot_of[pivot] = k;
    lu->L.start[k + 1] = *low, lu->U.start[k + 1] = *high;
    return true;
}

double dls_sparse_lu_factor(dls_sparse_lu *lu, int n, const int *start, const int *row, const double *value) {
    double least = HUGE_VAL, most = 0;
    int64_t low = 0, high = 0;
    lu->n = n;
    lu->dense = n <= DENSE;
    if (lu->dense) return factor_dense(lu, n, start, row, value);
    if (!find_order(lu, n, start, row)) return 0;
    for (int i = 0; i < n; i++) lu->pivot_of[i] = lu->seen[i] = -1;
    lu->L.start[0] = lu->U.start[0] = 0;
    for (int k = 0; k < n; k++) {
        if (!factor_column(lu, k, value, &low, &high)) return 0;
        least = fmin(least, fabs(lu->diagonal[k])), most = fmax(most, fabs(lu->diagonal[k]));
    }
    return isfinite(most) ? least / most : 0;
}

static void solve_sparse(const dls_sparse_lu *lu, double *b) {
    const columns *L = &lu->L, *U = &lu->U;
    double *y = lu->x;
    for (int k = 0; k < lu->n; k++) {
        y[k] = b[lu->row_of[k]];
        for (int64_t i = L->start[k]; i < L->start[k + 1]; i++) b[L->row[i]] -= L->value[i] * y[k];
    }
    for (int k = lu->n - 1; k >= 0; k--) {
        y[k] /= lu->diagonal[k];
        for (int64_t i = U->start[k]; i < U->start[k + 1]; i++) y[U->row[i]] -= U->value[i] * y[k];
    }
    for (int k = 0; k < lu->n; k++) b[lu->order[k]] = y[k];
}

void dls_sparse_lu_solve(dls_sparse_lu *lu, double *x) {
    if (lu->dense)
        dls_lu_solve(lu->n, lu->matrix, lu->pivot, x);
    else
        solve_sparse(lu, x);
}

int64_t dls_sparse_lu_entries(const dls_sparse_lu *lu) {
    return lu->dense ? (int64_t)lu->n * (lu->n - 1) : lu->L.start[lu->n] + lu->U.start[lu->n];
}
