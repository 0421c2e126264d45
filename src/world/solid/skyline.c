#include "world/solid/skyline.h"

#include <math.h>

/* Σ_k L_ik L_jk over the columns before j that both rows have. */
static double overlap(int n, const double *L, const int *first, int i, int j) {
    double sum = 0;
    int k = first[i] > first[j] ? first[i] : first[j];
    for (; k < j; k++) sum += L[i * n + k] * L[j * n + k];
    return sum;
}

bool dls_skyline_factor(int n, double *A, int *first) {
    for (int i = 0; i < n; i++) {
        double *row = A + (long)i * n;
        first[i] = 0;
        while (first[i] < i && row[first[i]] == 0) first[i]++;
        double size = row[i];
        for (int j = first[i]; j < i; j++) row[j] = (row[j] - overlap(n, A, first, i, j)) / A[j * n + j];
        double pivot = size - overlap(n, A, first, i, i);
        if (!(pivot > 1e-15 * size) || !isfinite(pivot)) return false;
        row[i] = sqrt(pivot);
    }
    return true;
}

void dls_skyline_forward(int n, const double *L, const int *first, double *x) {
    for (int i = 0; i < n; i++) {
        double sum = x[i];
        for (int k = first[i]; k < i; k++) sum -= L[i * n + k] * x[k];
        x[i] = sum / L[i * n + i];
    }
}

void dls_skyline_back(int n, const double *L, const int *first, double *x) {
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= L[i * n + i];
        for (int k = first[i]; k < i; k++) x[k] -= L[i * n + k] * x[i];
    }
}
