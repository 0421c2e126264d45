/* Row after row: R_k,1…k−1 solves R_{1…k−1} x = S_{1…k−1,k}, which is not zero only where the ways from the
 * entries of S to the root of the elimination tree pass. */
#include "problem/eliminate/cholesky.h"

#include <math.h>
#include <string.h>

/* parent[i] is the first row below i that column i of R reaches; ancestor shortens the ways there. */
static void grow_tree(const dls_upper *S, int *parent, int *ancestor) {
    for (int k = 0; k < S->n; k++) {
        parent[k] = ancestor[k] = -1;
        for (int64_t e = S->start[k]; e < S->start[k + 1]; e++)
            for (int i = S->row[e], next; i >= 0 && i < k; i = next) {
                next = ancestor[i];
                ancestor[i] = k;
                if (next < 0) parent[i] = k;
            }
    }
}

/* Columns that row k of R has entries in, in an order in which none depends on a later one; they end at n. */
static int reach(const dls_cholesky *R, const dls_upper *S, int k, int *mark, int *stack) {
    int top = R->n;
    mark[k] = k + 1;
    for (int64_t e = S->start[k]; e < S->start[k + 1]; e++) {
        int length = 0;
        for (int i = S->row[e]; mark[i] != k + 1; i = R->parent[i]) {
            stack[length++] = i;
            mark[i] = k + 1;
        }
        while (length > 0) stack[--top] = stack[--length];
    }
    return top;
}

bool dls_cholesky_analyze(dls_cholesky *R, const dls_upper *S, dls_workspace *w) {
    int n = S->n;
    *R = (dls_cholesky){.n = n};
    R->parent = DLS_TAKE(w, int, n);
    R->depth = DLS_TAKE(w, int, n);
    R->start = DLS_TAKE_ZERO(w, int64_t, n + 1);
    int *mark = DLS_TAKE_ZERO(w, int, n), *stack = DLS_TAKE(w, int, n);
    if (!R->parent || !R->depth || !R->start || !mark || !stack) return false;
    grow_tree(S, R->parent, stack);
    for (int k = 0; k < n; k++) {
        R->start[k + 1]++;
        for (int i = reach(R, S, k, mark, stack); i < n; i++) R->start[stack[i] + 1]++;
    }
    for (int k = 0; k < n; k++) {
        R->flops += (double)R->start[k + 1] * (double)R->start[k + 1];
        R->start[k + 1] += R->start[k];
    }
    for (int k = n - 1; k >= 0; k--) R->depth[k] = 1 + (R->parent[k] < 0 ? 0 : R->depth[R->parent[k]]);
    return true;
}

/* What row k of R is made with. */
typedef struct row_work {
    int *mark, *stack;
    int64_t *end; /* of each column so far */
    double *x;
} row_work;

/* x: row k of S, then of R, entry by entry; returns the pivot's square. */
static double solve_row(dls_cholesky *R, const dls_upper *S, int k, int top, row_work *work) {
    double *x = work->x, pivot;
    x[k] = 0;
    for (int64_t e = S->start[k]; e < S->start[k + 1]; e++) x[S->row[e]] += S->value[e];
    pivot = x[k];
    x[k] = 0;
    for (int s = top; s < R->n; s++) {
        int i = work->stack[s];
        double entry = R->dropped[i] ? 0 : x[i] / R->value[R->start[i]];
        x[i] = 0;
        for (int64_t e = R->start[i] + 1; e < work->end[i]; e++) x[R->row[e]] -= R->value[e] * entry;
        R->row[work->end[i]] = k;
        R->value[work->end[i]++] = entry;
        pivot -= entry * entry;
    }
    return pivot;
}

static double diagonal_entry(const dls_upper *S, int k) {
    double sum = 0;
    for (int64_t e = S->start[k]; e < S->start[k + 1]; e++)
        if (S->row[e] == k) sum += S->value[e];
    return sum;
}

bool dls_cholesky_factor(dls_cholesky *R, const dls_upper *S, double dependent, dls_workspace *w) {
    int n = R->n;
    row_work work = {DLS_TAKE_ZERO(w, int, n), DLS_TAKE(w, int, n), DLS_TAKE(w, int64_t, n),
                     DLS_TAKE_ZERO(w, double, n)};
    R->row = DLS_TAKE(w, int, R->start[n]);
    R->value = DLS_TAKE(w, double, R->start[n]);
    R->dropped = DLS_TAKE_ZERO(w, uint8_t, n);
    R->dropped_count = 0;
    if (!work.mark || !work.stack || !work.end || !work.x || !R->row || !R->value || !R->dropped)
        return false;
    for (int k = 0; k < n; k++) {
        int top = reach(R, S, k, work.mark, work.stack);
        double pivot = solve_row(R, S, k, top, &work);
        R->dropped[k] = !(pivot > dependent * diagonal_entry(S, k));
        for (int s = top; s < n && R->dropped[k]; s++) R->value[work.end[work.stack[s]] - 1] = 0;
        R->dropped_count += R->dropped[k];
        R->row[R->start[k]] = k;
        R->value[R->start[k]] = R->dropped[k] ? 1 : sqrt(pivot);
        work.end[k] = R->start[k] + 1;
    }
    return true;
}

void dls_cholesky_solve(const dls_cholesky *R, double *x) {
    for (int j = 0; j < R->n; j++) {
        double y = x[j] = R->dropped[j] ? 0 : x[j] / R->value[R->start[j]];
        for (int64_t e = R->start[j] + 1; e < R->start[j + 1]; e++) x[R->row[e]] -= R->value[e] * y;
    }
    for (int j = R->n - 1; j >= 0; j--) {
        for (int64_t e = R->start[j] + 1; e < R->start[j + 1]; e++) x[j] -= R->value[e] * x[R->row[e]];
        x[j] = R->dropped[j] ? 0 : x[j] / R->value[R->start[j]];
    }
}
