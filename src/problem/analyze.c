/* What W is like: symmetry, rank, condition. */
#include "base/dense.h"
#include "base/error.h"
#include "base/memory.h"
#include "problem/matrix.h"

#include <float.h>
#include <math.h>

/* Column by column through unit impulses: serves every operator. */
static void fill_dense(const dls_problem *p, double *A, double *r, double *state) {
    int n = p->row_count;
    for (int j = 0; j < n; j++) r[j] = 0;
    for (int j = 0; j < n; j++) {
        r[j] = 1;
        p->op->product(p, r, A + (int64_t)n * j, state, 1);
        r[j] = 0;
    }
}

static dls_status rank_and_condition(const dls_problem *p, dls_problem_facts *facts, dls_error *error) {
    int n = p->row_count;
    double *A = DLS_NEW(double, (int64_t)n *n), *values = DLS_NEW(double, n), *r = DLS_NEW(double, n);
    double *state = DLS_NEW(double, p->op->state_size(p));
    dls_status status = A && values && r && state ? DLS_OK : dls_fail_memory(error);
    if (!status) {
        fill_dense(p, A, r, state);
        status = dls_dense_singular_values(n, A, values, error);
    }
    if (!status) {
        facts->rank = 0;
        while (facts->rank < n && values[facts->rank] > n * DBL_EPSILON * values[0]) facts->rank++;
        facts->hyperstaticity = facts->rank ? (double)n / facts->rank : (double)NAN;
        facts->condition = facts->rank ? values[0] / values[facts->rank - 1] : (double)NAN;
    }
    dls_free(A);
    dls_free(values);
    dls_free(r);
    dls_free(state);
    return status;
}

/* W_jc of a stored matrix, or NULL where it has none. */
static const double *find_block(const dls_problem *p, int row, int column) {
    const dls_block_matrix *W = dls_problem_matrix(p);
    int64_t low = W->start[row], high = W->start[row + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (W->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == W->start[row + 1] || W->column[low] != column) return NULL;
    return dls_block_value(p, W, low, dls_size(p, row));
}

/* max |A − Bᵀ| over one pair of blocks; B = NULL is zero. */
static double block_difference(int rows, int columns, const double *A, const double *B, double *largest) {
    double worst = 0;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) {
            double a = A[i + rows * j], b = B ? B[j + columns * i] : 0;
            worst = fmax(worst, fabs(a - b));
            *largest = fmax(*largest, fabs(a));
        }
    return worst;
}

static double asymmetry_of(const dls_problem *p) {
    double worst = 0, largest = 0;
    if (!dls_problem_is_stored(p)) return NAN;
    const dls_block_matrix *W = dls_problem_matrix(p);
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c);
        worst = fmax(worst, block_difference(d, d, dls_diagonal(p, c), dls_diagonal(p, c), &largest));
        for (int64_t k = W->start[c]; k < W->start[c + 1]; k++) {
            int j = W->column[k];
            const double *A = dls_block_value(p, W, k, d);
            worst = fmax(worst, block_difference(d, dls_size(p, j), A, find_block(p, j, c), &largest));
        }
    }
    return largest > 0 ? worst / largest : 0;
}

dls_status dls_problem_analyze(const dls_problem *p, int dense_limit, dls_problem_facts *facts,
                               dls_error *error) {
    dls_error_clear(error);
    if (!p || !facts)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a problem and a place for the facts are needed");
    *facts = (dls_problem_facts){
        .rank = -1, .hyperstaticity = NAN, .condition = NAN, .mu_low = NAN, .mu_high = NAN};
    facts->mu_rolling_low = facts->mu_rolling_high = NAN;
    facts->diagonal_low = facts->diagonal_high = NAN;
    for (int c = 0; c < p->block_count; c++) {
        facts->diagonal_low = fmin(facts->diagonal_low, p->scale[c]);
        facts->diagonal_high = fmax(facts->diagonal_high, p->scale[c]);
        if (p->kind[c] != DLS_CONTACT) continue;
        facts->mu_low = fmin(facts->mu_low, p->mu[c]);
        facts->mu_high = fmax(facts->mu_high, p->mu[c]);
        if (!(dls_parts_of(p, c) & DLS_PARTS(0, 3, 0))) continue;
        facts->mu_rolling_low = fmin(facts->mu_rolling_low, dls_problem_mu_rolling(p, c));
        facts->mu_rolling_high = fmax(facts->mu_rolling_high, dls_problem_mu_rolling(p, c));
    }
    facts->asymmetry = asymmetry_of(p);
    if (p->row_count == 0 || p->row_count > dense_limit) return DLS_OK;
    return rank_and_condition(p, facts, error);
}
