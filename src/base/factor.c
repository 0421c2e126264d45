/* Factorisations of sparse matrices: CHOLMOD's simplicial Cholesky, and KLU where that does not apply. */
#include "base/error.h"
#include "base/memory.h"
#include "base/sparse.h"

#include <cholmod.h>
#include <float.h>
#include <klu.h>
#include <limits.h>
#include <math.h>
#include <string.h>

struct dls_factor {
    int n;
    cholmod_common cholmod;
    cholmod_factor *L; /* NULL where M is not symmetric positive definite */
    int *place;        /* of each row of M in L */
    int *parent;       /* elimination tree of L, −1 at its roots */
    klu_common klu;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    int *component; /* connected parts of M, for sparsity where KLU solves */
};

/* A pivot this small beside the diagonal entry that it came from has lost all its digits. */
static const double singular_pivot = 10 * DBL_EPSILON;

static dls_status fail_singular(int row, dls_error *error) {
    return dls_fail(error, DLS_ERROR_NUMERIC, "singular matrix (row %d), expected an invertible one", row);
}

/* ---- M with rows ascending, no duplicates and no zeros, in the integers of SuiteSparse ---- */

typedef struct tidy_matrix {
    dls_sparse M;
    int *start;
    bool symmetric; /* to the last bit */
} tidy_matrix;

static void tidy_free(tidy_matrix *tidy) {
    dls_sparse_free(&tidy->M);
    dls_free(tidy->start);
}

/* Adds up duplicates and drops zeros, which would couple what is not coupled. Rows must ascend in each
 * column. */
static void merge_entries(dls_sparse *m) {
    int64_t used = 0;
    for (int j = 0, row; j < m->columns; j++) {
        int64_t k = m->start[j];
        m->start[j] = used;
        while (k < m->start[j + 1]) {
            double sum = 0;
            for (row = m->row[k]; k < m->start[j + 1] && m->row[k] == row; k++) sum += m->value[k];
            if (sum == 0) continue;
            m->row[used] = row;
            m->value[used++] = sum;
        }
    }
    m->start[m->columns] = used;
}

static bool is_equal(const dls_sparse *a, const dls_sparse *b) {
    size_t n = (size_t)a->columns, count = (size_t)a->start[n];
    return !memcmp(a->start, b->start, (n + 1) * sizeof(int64_t)) &&
           !memcmp(a->row, b->row, count * sizeof(int)) &&
           !memcmp(a->value, b->value, count * sizeof(double));
}

static dls_status tidy(const dls_sparse *M, tidy_matrix *tidy, dls_error *error) {
    dls_sparse transpose;
    dls_status status = dls_sparse_transpose(M, &transpose, error);
    if (status) return status;
    merge_entries(&transpose);
    if (transpose.start[M->columns] > INT_MAX)
        status = dls_fail(error, DLS_ERROR_INPUT, "%lld entries, expected at most %d",
                          (long long)transpose.start[M->columns], INT_MAX);
    else
        status = dls_sparse_transpose(&transpose, &tidy->M, error);
    if (!status) {
        tidy->symmetric = is_equal(&tidy->M, &transpose);
        tidy->start = DLS_NEW(int, (int64_t)M->columns + 1);
        if (!tidy->start) status = dls_fail_memory(error);
    }
    for (int j = 0; !status && j <= M->columns; j++) tidy->start[j] = (int)tidy->M.start[j];
    dls_sparse_free(&transpose);
    return status;
}

static double diagonal_entry(const dls_sparse *M, int j) {
    for (int64_t k = M->start[j]; k < M->start[j + 1]; k++)
        if (M->row[k] == j) return M->value[k];
    return 0;
}

/* ---- Cholesky: P M Pᵀ = L Lᵀ ---- */

/* What later solves need beside L: where M's rows went, and the elimination tree. */
static dls_status describe_cholesky(dls_factor *f, const dls_sparse *M, dls_error *error) {
    const int *start = f->L->p, *count = f->L->nz, *row = f->L->i, *order = f->L->Perm;
    const double *value = f->L->x;
    f->place = DLS_NEW(int, f->n);
    f->parent = DLS_NEW(int, f->n);
    if (!f->place || !f->parent) return dls_fail_memory(error);
    for (int k = 0; k < f->n; k++) {
        double pivot = value[start[k]];
        if (!(pivot * pivot > singular_pivot * diagonal_entry(M, order[k])))
            return fail_singular(order[k], error);
        f->place[order[k]] = k;
        f->parent[k] = count[k] > 1 ? row[start[k] + 1] : -1;
    }
    return DLS_OK;
}

/* Leaves f->L NULL where M turns out not to be positive definite. */
static dls_status factor_cholesky(dls_factor *f, tidy_matrix *tidy, dls_error *error) {
    cholmod_sparse upper = {.nrow = (size_t)f->n,
                            .ncol = (size_t)f->n,
                            .nzmax = (size_t)tidy->start[f->n],
                            .p = tidy->start,
                            .i = tidy->M.row,
                            .x = tidy->M.value,
                            .stype = 1, /* the upper triangle counts, the lower is its mirror image */
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
    f->cholmod.supernodal = CHOLMOD_SIMPLICIAL;
    f->cholmod.final_ll = 1;
    f->cholmod.print = 0;
    f->cholmod.nmethods = 1;
    f->cholmod.method[0].ordering = CHOLMOD_AMD;
    f->cholmod.quick_return_if_not_posdef = 1;
    f->L = cholmod_analyze(&upper, &f->cholmod);
    if (!f->L || !cholmod_factorize(&upper, f->L, &f->cholmod)) return dls_fail_memory(error);
    if (f->cholmod.status == CHOLMOD_OK && f->L->minor == (size_t)f->n)
        return describe_cholesky(f, &tidy->M, error);
    cholmod_free_factor(&f->L, &f->cholmod);
    return DLS_OK;
}

/* Depth-first reach of a column's rows in the elimination tree: what L⁻¹ P a fills, written to the end of
 * stack in an order in which no row depends on a later one; returns where it begins. */
static int reach(const dls_factor *f, const dls_sparse *A, int column, int *mark, int *stack) {
    int top = f->n;
    for (int64_t k = A->start[column]; k < A->start[column + 1]; k++) {
        int length = 0;
        for (int i = f->place[A->row[k]]; i >= 0 && mark[i] != column + 1; i = f->parent[i]) {
            stack[length++] = i;
            mark[i] = column + 1;
        }
        while (length > 0) stack[--top] = stack[--length];
    }
    return top;
}

/* y ← L⁻¹ P a for one column of A, on its reach. */
static void forward_solve(const dls_factor *f, const dls_sparse *A, int column, const int *reached, int count,
                          double *y) {
    const int *start = f->L->p, *size = f->L->nz, *row = f->L->i;
    const double *value = f->L->x;
    for (int64_t k = A->start[column]; k < A->start[column + 1]; k++) y[f->place[A->row[k]]] += A->value[k];
    for (int r = 0; r < count; r++) {
        int j = reached[r];
        double yj = y[j] /= value[start[j]];
        for (int k = start[j] + 1; k < start[j] + size[j]; k++) y[row[k]] -= value[k] * yj;
    }
}

/* Y = L⁻¹ P A, sparse. mark and stack hold n numbers, work n zeros. */
static dls_status forward_solve_columns(const dls_factor *f, const dls_sparse *A, int *mark, int *stack,
                                        double *work, dls_sparse *Y, dls_error *error) {
    *Y = (dls_sparse){.rows = f->n, .columns = A->columns};
    Y->start = DLS_NEW(int64_t, (int64_t)A->columns + 1);
    if (!Y->start) return dls_fail_memory(error);
    Y->start[0] = 0;
    for (int j = 0; j < A->columns; j++) Y->start[j + 1] = Y->start[j] + f->n - reach(f, A, j, mark, stack);
    Y->row = DLS_NEW(int, Y->start[A->columns]);
    Y->value = DLS_NEW(double, Y->start[A->columns]);
    if (!Y->row || !Y->value) return dls_fail_memory(error);
    memset(mark, 0, sizeof(int) * (size_t)f->n);
    for (int j = 0; j < A->columns; j++) {
        int top = reach(f, A, j, mark, stack);
        if (top < f->n) forward_solve(f, A, j, stack + top, f->n - top, work);
        int64_t place = Y->start[j];
        for (int r = top; r < f->n; r++, place++) {
            Y->row[place] = stack[r];
            Y->value[place] = work[stack[r]];
            work[stack[r]] = 0;
        }
    }
    return DLS_OK;
}

/* x ← Pᵀ L⁻ᵀ L⁻¹ P x with y for scratch. */
static void solve_cholesky(const dls_factor *f, double *x, double *y) {
    const int *start = f->L->p, *size = f->L->nz, *row = f->L->i;
    const double *value = f->L->x;
    for (int i = 0; i < f->n; i++) y[f->place[i]] = x[i];
    for (int j = 0; j < f->n; j++) {
        double yj = y[j] /= value[start[j]];
        for (int k = start[j] + 1; k < start[j] + size[j]; k++) y[row[k]] -= value[k] * yj;
    }
    for (int j = f->n - 1; j >= 0; j--) {
        for (int k = start[j] + 1; k < start[j] + size[j]; k++) y[j] -= value[k] * y[row[k]];
        y[j] /= value[start[j]];
    }
    for (int i = 0; i < f->n; i++) x[i] = y[f->place[i]];
}

/* ---- LU, for what is not symmetric or not definite ---- */

static dls_status factor_lu(dls_factor *f, tidy_matrix *tidy, dls_error *error) {
    f->component = DLS_NEW(int, f->n);
    if (!f->component) return dls_fail_memory(error);
    dls_sparse_components(&tidy->M, f->component);
    klu_defaults(&f->klu);
    f->symbolic = klu_analyze(f->n, tidy->start, tidy->M.row, &f->klu);
    if (!f->symbolic) return dls_fail_memory(error);
    f->numeric = klu_factor(tidy->start, tidy->M.row, tidy->M.value, f->symbolic, &f->klu);
    if (f->klu.status == KLU_SINGULAR) return fail_singular(f->klu.singular_col, error);
    if (!f->numeric) return dls_fail_memory(error);
    if (!klu_rcond(f->symbolic, f->numeric, &f->klu) || !(f->klu.rcond > DBL_EPSILON))
        return dls_fail(error, DLS_ERROR_NUMERIC,
                        "singular matrix (reciprocal condition %.1e), expected an invertible one",
                        f->klu.rcond);
    return DLS_OK;
}

/* Marks the connected parts that a column of A touches. */
static void mark_parts(const dls_factor *f, const dls_sparse *A, int column, int *mark) {
    for (int64_t k = A->start[column]; k < A->start[column + 1]; k++)
        mark[f->component[A->row[k]]] = column + 1;
}

/* X = M⁻ᵀ A, kept on the connected parts of M that each column touches; elsewhere it is zero. */
static dls_status solve_lu_columns(dls_factor *f, const dls_sparse *A, int *mark, double *work, dls_sparse *X,
                                   dls_error *error) {
    *X = (dls_sparse){.rows = f->n, .columns = A->columns};
    X->start = DLS_NEW_ZERO(int64_t, (int64_t)A->columns + 1);
    if (!X->start) return dls_fail_memory(error);
    for (int j = 0; j < A->columns; j++) {
        X->start[j + 1] = X->start[j];
        if (A->start[j] == A->start[j + 1]) continue;
        mark_parts(f, A, j, mark);
        for (int i = 0; i < f->n; i++) X->start[j + 1] += mark[f->component[i]] == j + 1;
    }
    X->row = DLS_NEW(int, X->start[A->columns]);
    X->value = DLS_NEW(double, X->start[A->columns]);
    if (!X->row || !X->value) return dls_fail_memory(error);
    memset(mark, 0, sizeof(int) * (size_t)f->n);
    int64_t place = 0;
    for (int j = 0; j < A->columns; j++) {
        if (A->start[j] == A->start[j + 1]) continue;
        mark_parts(f, A, j, mark);
        memset(work, 0, sizeof(double) * (size_t)f->n);
        for (int64_t k = A->start[j]; k < A->start[j + 1]; k++) work[A->row[k]] += A->value[k];
        if (!klu_tsolve(f->symbolic, f->numeric, f->n, 1, work, &f->klu))
            return dls_fail(error, DLS_ERROR_NUMERIC, "solving with the transposed factor failed");
        for (int i = 0; i < f->n; i++)
            if (mark[f->component[i]] == j + 1) {
                X->row[place] = i;
                X->value[place++] = work[i];
            }
    }
    return DLS_OK;
}

/* ---- W = Xᵀ B, row after row ---- */

/* Bt holds B by rows. mark and sum have a place for every column of W; mark enters cleared. */
static dls_status multiply_rows(const dls_sparse *X, const dls_sparse *Bt, int *mark, double *sum,
                                dls_sparse *W, dls_error *error) {
    int n = X->columns;
    *W = (dls_sparse){.rows = Bt->rows, .columns = n, .start = DLS_NEW(int64_t, (int64_t)n + 1)};
    if (!W->start) return dls_fail_memory(error);
    int64_t count = 0;
    for (int i = 0; i < n; i++) {
        W->start[i] = count;
        for (int64_t k = X->start[i]; k < X->start[i + 1]; k++)
            for (int64_t l = Bt->start[X->row[k]]; l < Bt->start[X->row[k] + 1]; l++) {
                count += mark[Bt->row[l]] != i + 1;
                mark[Bt->row[l]] = i + 1;
            }
    }
    W->start[n] = count;
    W->row = DLS_NEW(int, count);
    W->value = DLS_NEW(double, count);
    if (!W->row || !W->value) return dls_fail_memory(error);
    memset(mark, 0, sizeof(int) * (size_t)Bt->rows);
    for (int i = 0; i < n; i++) {
        int64_t place = W->start[i];
        for (int64_t k = X->start[i]; k < X->start[i + 1]; k++)
            for (int64_t l = Bt->start[X->row[k]]; l < Bt->start[X->row[k] + 1]; l++) {
                int j = Bt->row[l];
                if (mark[j] != i + 1) {
                    mark[j] = i + 1;
                    sum[j] = 0;
                    W->row[place++] = j;
                }
                sum[j] += X->value[k] * Bt->value[l];
            }
        for (place = W->start[i]; place < W->start[i + 1]; place++) W->value[place] = sum[W->row[place]];
    }
    return DLS_OK;
}

/* W = Yᵀ Y with Y = L⁻¹ P A. Sorted twice, both factors add up in the order of rows: W_ij and W_ji agree. */
static dls_status condense_cholesky(const dls_factor *f, const dls_sparse *A, int *mark, int *stack,
                                    double *work, dls_sparse *W, dls_error *error) {
    dls_sparse Y = {0}, Yt = {0}, sorted = {0};
    dls_status status = forward_solve_columns(f, A, mark, stack, work, &Y, error);
    if (!status) status = dls_sparse_transpose(&Y, &Yt, error);
    if (!status) status = dls_sparse_transpose(&Yt, &sorted, error);
    dls_sparse_free(&Y);
    memset(mark, 0, sizeof(int) * (size_t)A->columns);
    if (!status) status = multiply_rows(&sorted, &Yt, mark, work, W, error);
    dls_sparse_free(&sorted);
    dls_sparse_free(&Yt);
    return status;
}

/* W = (M⁻ᵀ A)ᵀ A */
static dls_status condense_lu(dls_factor *f, const dls_sparse *A, int *mark, double *work, dls_sparse *W,
                              dls_error *error) {
    dls_sparse X = {0}, At = {0};
    dls_status status = solve_lu_columns(f, A, mark, work, &X, error);
    if (!status) status = dls_sparse_transpose(A, &At, error);
    memset(mark, 0, sizeof(int) * (size_t)A->columns);
    if (!status) status = multiply_rows(&X, &At, mark, work, W, error);
    dls_sparse_free(&X);
    dls_sparse_free(&At);
    return status;
}

/* ---- one face for both ---- */

dls_status dls_factor_create(const dls_sparse *M, dls_factor **factor, dls_error *error) {
    dls_error_clear(error);
    *factor = NULL;
    if (M->rows != M->columns)
        return dls_fail(error, DLS_ERROR_INPUT, "matrix is %d × %d, expected a square one", M->rows,
                        M->columns);
    dls_factor *f = DLS_NEW_ZERO(dls_factor, 1);
    if (!f) return dls_fail_memory(error);
    f->n = M->columns;
    cholmod_start(&f->cholmod);
    tidy_matrix m = {0};
    dls_status status = tidy(M, &m, error);
    if (!status && f->n > 0 && m.symmetric) status = factor_cholesky(f, &m, error);
    if (!status && f->n > 0 && !f->L) status = factor_lu(f, &m, error);
    tidy_free(&m);
    if (status) {
        dls_factor_destroy(f);
        return status;
    }
    *factor = f;
    return DLS_OK;
}

void dls_factor_destroy(dls_factor *f) {
    if (!f) return;
    cholmod_free_factor(&f->L, &f->cholmod);
    cholmod_finish(&f->cholmod);
    if (f->numeric) klu_free_numeric(&f->numeric, &f->klu);
    if (f->symbolic) klu_free_symbolic(&f->symbolic, &f->klu);
    dls_free(f->place);
    dls_free(f->parent);
    dls_free(f->component);
    dls_free(f);
}

bool dls_factor_is_symmetric(const dls_factor *f) { return f->L || f->n == 0; }

dls_status dls_factor_solve(dls_factor *f, double *x, dls_error *error) {
    dls_error_clear(error);
    if (f->n == 0) return DLS_OK;
    if (!f->L)
        return klu_solve(f->symbolic, f->numeric, f->n, 1, x, &f->klu)
                   ? DLS_OK
                   : dls_fail(error, DLS_ERROR_NUMERIC, "solving with the factor failed");
    double *scratch = DLS_NEW(double, f->n);
    if (!scratch) return dls_fail_memory(error);
    solve_cholesky(f, x, scratch);
    dls_free(scratch);
    return DLS_OK;
}

dls_status dls_factor_condense(dls_factor *f, const dls_sparse *A, dls_sparse *W, dls_error *error) {
    dls_error_clear(error);
    *W = (dls_sparse){0};
    if (A->rows != f->n)
        return dls_fail(error, DLS_ERROR_INPUT, "matrix has %d rows, expected %d", A->rows, f->n);
    int places = f->n > A->columns ? f->n : A->columns;
    int *mark = DLS_NEW_ZERO(int, places), *stack = DLS_NEW(int, f->n);
    double *work = DLS_NEW_ZERO(double, places);
    dls_status status = DLS_OK;
    if (!mark || !stack || !work)
        status = dls_fail_memory(error);
    else if (dls_factor_is_symmetric(f))
        status = condense_cholesky(f, A, mark, stack, work, W, error);
    else
        status = condense_lu(f, A, mark, work, W, error);
    if (status) dls_sparse_free(W);
    dls_free(mark);
    dls_free(stack);
    dls_free(work);
    return status;
}
