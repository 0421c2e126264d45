#include "base/sparse.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>

void dls_triplets_free(dls_triplets *entries) {
    dls_free(entries->row);
    dls_free(entries->column);
    dls_free(entries->value);
    *entries = (dls_triplets){0};
}

void dls_sparse_free(dls_sparse *matrix) {
    dls_free(matrix->start);
    dls_free(matrix->row);
    dls_free(matrix->value);
    *matrix = (dls_sparse){0};
}

static dls_status allocate(dls_sparse *m, int rows, int columns, int64_t count, dls_error *error) {
    *m = (dls_sparse){.rows = rows, .columns = columns};
    m->start = DLS_NEW_ZERO(int64_t, (int64_t)columns + 1);
    m->row = DLS_NEW(int, count);
    m->value = DLS_NEW(double, count);
    if (m->start && m->row && m->value) return DLS_OK;
    dls_sparse_free(m);
    return dls_fail_memory(error);
}

/* start holds counts; afterwards where each column begins, with start[columns] the total. */
static void accumulate(int64_t *start, int columns) {
    int64_t sum = 0;
    for (int j = 0; j < columns; j++) {
        int64_t count = start[j];
        start[j] = sum;
        sum += count;
    }
    start[columns] = sum;
}

/* Filling has moved each start to its column's end, which is where the next one begins. */
static void restore(int64_t *start, int columns) {
    for (int j = columns; j > 0; j--) start[j] = start[j - 1];
    start[0] = 0;
}

#ifndef NDEBUG
static bool are_in_range(const dls_triplets *e) {
    for (int64_t k = 0; k < e->count; k++)
        if (e->row[k] < 0 || e->row[k] >= e->rows || e->column[k] < 0 || e->column[k] >= e->columns)
            return false;
    return true;
}

/* Starts ascend, and every row is one of the matrix. */
static bool is_compressed(const dls_sparse *m) {
    if (m->start[0] != 0) return false;
    for (int j = 0; j < m->columns; j++) {
        if (m->start[j + 1] < m->start[j]) return false;
        for (int64_t k = m->start[j]; k < m->start[j + 1]; k++)
            if (m->row[k] < 0 || m->row[k] >= m->rows) return false;
    }
    return true;
}
#endif

dls_status dls_sparse_compress(const dls_triplets *e, dls_sparse *matrix, dls_error *error) {
    assert(are_in_range(e));
    dls_status status = allocate(matrix, e->rows, e->columns, e->count, error);
    if (status) return status;
    for (int64_t k = 0; k < e->count; k++) matrix->start[e->column[k]]++;
    accumulate(matrix->start, e->columns);
    for (int64_t k = 0; k < e->count; k++) {
        int64_t place = matrix->start[e->column[k]]++;
        matrix->row[place] = e->row[k];
        matrix->value[place] = e->value[k];
    }
    restore(matrix->start, e->columns);
    assert(is_compressed(matrix) && matrix->start[e->columns] == e->count);
    return DLS_OK;
}

dls_status dls_sparse_transpose(const dls_sparse *m, dls_sparse *transpose, dls_error *error) {
    assert(is_compressed(m));
    int64_t count = m->start[m->columns];
    dls_status status = allocate(transpose, m->columns, m->rows, count, error);
    if (status) return status;
    for (int64_t k = 0; k < count; k++) transpose->start[m->row[k]]++;
    accumulate(transpose->start, m->rows);
    for (int j = 0; j < m->columns; j++)
        for (int64_t k = m->start[j]; k < m->start[j + 1]; k++) {
            int64_t place = transpose->start[m->row[k]]++;
            transpose->row[place] = j;
            transpose->value[place] = m->value[k];
        }
    restore(transpose->start, m->rows);
    return DLS_OK;
}

void dls_sparse_multiply_add(const dls_sparse *A, const double *x, double *y) {
    for (int j = 0; j < A->columns; j++)
        for (int64_t k = A->start[j]; k < A->start[j + 1]; k++) y[A->row[k]] += A->value[k] * x[j];
}

void dls_sparse_multiply_transposed_add(const dls_sparse *A, const double *x, double *y) {
    for (int j = 0; j < A->columns; j++) {
        double sum = 0;
        for (int64_t k = A->start[j]; k < A->start[j + 1]; k++) sum += A->value[k] * x[A->row[k]];
        y[j] += sum;
    }
}

static int find_root(int *parent, int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Union–find; the smaller index stays the root, so that parts are numbered in the order of their first row.
 */
int dls_sparse_components(const dls_sparse *M, int *component) {
    assert(M->rows == M->columns && is_compressed(M));
    int count = 0;
    for (int i = 0; i < M->columns; i++) component[i] = i;
    for (int j = 0; j < M->columns; j++)
        for (int64_t k = M->start[j]; k < M->start[j + 1]; k++) {
            if (M->value[k] == 0) continue;
            int a = find_root(component, M->row[k]), b = find_root(component, j);
            if (a < b)
                component[b] = a;
            else
                component[a] = b;
        }
    /* a root comes before all others of its part, so its number is known when they ask for it */
    for (int i = 0; i < M->columns; i++) component[i] = component[i] == i ? count++ : component[component[i]];
    return count;
}
