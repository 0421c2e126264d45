#include "system/least.h"

#include "base/lu.h"

#include <math.h>

/* Numbers: LᵀL, U Uᵀ (n² each), room of LU, a vector. Integers: rows, columns, pivots of both. */
int64_t dls_least_numbers(int n) { return 2 * (int64_t)n * n + dls_lu_room(n) + n; }
int dls_least_integers(int n) { return 4 * n; }

static double at(const double *A, int n, int i, int j) { return A[i + (int64_t)n * j]; }

/* The largest entry of what is left, columns first. */
static double find_pivot(int n, const double *A, int k, int *row, int *column) {
    double largest = -1;
    for (int j = k; j < n; j++)
        for (int i = k; i < n; i++)
            if (!(fabs(at(A, n, i, j)) <= largest)) largest = fabs(at(A, n, i, j)), *row = i, *column = j;
    return largest;
}

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b, *b = kept;
}

static void exchange(int n, double *A, int k, int row, int column) {
    for (int j = 0; j < n; j++) swap(&A[k + (int64_t)n * j], &A[row + (int64_t)n * j]);
    for (int i = 0; i < n; i++) swap(&A[i + (int64_t)n * k], &A[i + (int64_t)n * column]);
}

static void eliminate(int n, double *A, int k) {
    double *pivot = A + (int64_t)n * k;
    for (int i = k + 1; i < n; i++) pivot[i] /= pivot[k];
    for (int j = k + 1; j < n; j++) {
        double *column = A + (int64_t)n * j, above = column[k];
        if (above == 0) continue;
        for (int i = k + 1; i < n; i++) column[i] -= above * pivot[i];
    }
}

static double L(const double *A, int n, int i, int j) { return i == j ? 1 : i > j ? at(A, n, i, j) : 0; }

/* LᵀL and U Uᵀ of the first r columns and rows. */
static void make_squares(int n, int r, const double *A, double *low, double *high) {
    for (int j = 0; j < r; j++)
        for (int i = 0; i <= j; i++) {
            double sum = 0, other = 0;
            for (int k = j; k < n; k++) sum += L(A, n, k, i) * L(A, n, k, j);
            for (int k = j; k < n; k++) other += at(A, n, i, k) * at(A, n, j, k);
            low[i + (int64_t)r * j] = low[j + (int64_t)r * i] = sum;
            high[i + (int64_t)r * j] = high[j + (int64_t)r * i] = other;
        }
}

int dls_least_factor(int n, double *A, double tolerance, double *numbers, int *integers) {
    int *rows = integers, *columns = integers + n, rank = 0;
    double first = 0, *low = numbers, *high = numbers + (int64_t)n * n, *room = high + (int64_t)n * n;
    for (; rank < n; rank++) {
        double largest = find_pivot(n, A, rank, &rows[rank], &columns[rank]);
        if (!isfinite(largest)) return -1;
        if (rank == 0) first = largest;
        if (!(largest > tolerance * first)) break;
        exchange(n, A, rank, rows[rank], columns[rank]);
        eliminate(n, A, rank);
    }
    make_squares(n, rank, A, low, high);
    if (rank && (dls_lu_factor(rank, low, integers + 2 * n, room) ||
                 dls_lu_factor(rank, high, integers + 3 * n, room)))
        return -1;
    return rank;
}

void dls_least_solve(int n, int rank, const double *A, double *numbers, const int *integers, double *x) {
    const double *low = numbers, *high = numbers + (int64_t)n * n;
    double *y = numbers + 2 * (int64_t)n * n + dls_lu_room(n);
    for (int k = 0; k < rank; k++) swap(&x[k], &x[integers[k]]);
    for (int j = 0; j < rank; j++) {
        y[j] = 0;
        for (int i = j; i < n; i++) y[j] += L(A, n, i, j) * x[i];
    }
    if (rank) dls_lu_solve(rank, low, integers + 2 * n, y), dls_lu_solve(rank, high, integers + 3 * n, y);
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        for (int k = 0; k < rank && k <= i; k++) x[i] += at(A, n, k, i) * y[k];
    }
    for (int k = rank - 1; k >= 0; k--) swap(&x[k], &x[integers[n + k]]);
}
