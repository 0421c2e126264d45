#include "solve/sparse_lu.h"

#include "base/lu.h"
#include "base/memory.h"

#include <klu.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { DENSE = 24 }; /* up to this size all of A is factored */

struct dls_sparse_lu {
    int n;
    bool dense;
    double *matrix; /* of DENSE rows, and room */
    int pivot[DENSE];
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    int known; /* rows of the pattern that symbolic is of */
    int *start, *row;
    int64_t start_capacity, row_capacity;
};

dls_sparse_lu *dls_sparse_lu_create(void) {
    dls_sparse_lu *lu = DLS_NEW_ZERO(dls_sparse_lu, 1);
    if (!lu) return NULL;
    lu->matrix = DLS_NEW(double, DENSE *DENSE + dls_lu_room(DENSE));
    klu_defaults(&lu->common);
    if (lu->matrix) return lu;
    dls_free(lu);
    return NULL;
}

void dls_sparse_lu_destroy(dls_sparse_lu *lu) {
    if (!lu) return;
    klu_free_numeric(&lu->numeric, &lu->common);
    klu_free_symbolic(&lu->symbolic, &lu->common);
    dls_free(lu->matrix);
    dls_free(lu->start);
    dls_free(lu->row);
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

static bool is_known(const dls_sparse_lu *lu, int n, const int *start, const int *row) {
    return lu->symbolic && lu->known == n && memcmp(lu->start, start, sizeof *start * (size_t)(n + 1)) == 0 &&
           memcmp(lu->row, row, sizeof *row * (size_t)start[n]) == 0;
}

static bool analyze(dls_sparse_lu *lu, int n, const int *start, const int *row) {
    if (is_known(lu, n, start, row)) return true;
    klu_free_symbolic(&lu->symbolic, &lu->common);
    if (!DLS_RESERVE(lu->start, 0, lu->start_capacity, n + 1) ||
        !DLS_RESERVE(lu->row, 0, lu->row_capacity, start[n]))
        return false;
    memcpy(lu->start, start, sizeof *start * (size_t)(n + 1));
    memcpy(lu->row, row, sizeof *row * (size_t)start[n]);
    lu->known = n;
    lu->symbolic = klu_analyze(n, lu->start, lu->row, &lu->common);
    return lu->symbolic != NULL;
}

double dls_sparse_lu_factor(dls_sparse_lu *lu, int n, const int *start, const int *row, double *value) {
    lu->n = n;
    lu->dense = n <= DENSE;
    if (lu->dense) return factor_dense(lu, n, start, row, value);
    klu_free_numeric(&lu->numeric, &lu->common);
    if (!analyze(lu, n, start, row)) return 0;
    lu->numeric = klu_factor(lu->start, lu->row, value, lu->symbolic, &lu->common);
    if (!lu->numeric || !klu_rcond(lu->symbolic, lu->numeric, &lu->common)) return 0;
    return lu->common.rcond;
}

void dls_sparse_lu_solve(dls_sparse_lu *lu, double *x) {
    if (lu->dense)
        dls_lu_solve(lu->n, lu->matrix, lu->pivot, x);
    else
        klu_solve(lu->symbolic, lu->numeric, lu->n, 1, x, &lu->common);
}
