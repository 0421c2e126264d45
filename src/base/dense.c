#include "base/dense.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

void dsyev_(const char *job, const char *uplo, const int *n, double *A, const int *lead, double *values,
            double *work, const int *work_size, int *info, size_t, size_t);
void dgesvd_(const char *job_u, const char *job_v, const int *m, const int *n, double *A, const int *lead,
             double *values, double *U, const int *lead_u, double *V, const int *lead_v, double *work,
             const int *work_size, int *info, size_t, size_t);

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static int factor(int n, double *A, bool symmetric, double *values, double *work, int work_size) {
    int info, one = 1;
    double none[1];
    if (symmetric)
        dsyev_("N", "U", &n, A, &n, values, work, &work_size, &info, 1, 1);
    else
        dgesvd_("N", "N", &n, &n, A, &n, values, none, &one, none, &one, work, &work_size, &info, 1, 1);
    return info;
}

dls_status dls_dense_singular_values(int n, double *A, bool symmetric, double *values, dls_error *error) {
    if (n == 0) return DLS_OK;
    double wanted;
    if (factor(n, A, symmetric, values, &wanted, -1))
        return dls_fail(error, DLS_ERROR_NUMERIC, "LAPACK refuses n = %d", n);
    double *work = DLS_NEW(double, wanted);
    if (!work) return dls_fail_memory(error);
    int info = factor(n, A, symmetric, values, work, (int)wanted);
    dls_free(work);
    if (info) return dls_fail(error, DLS_ERROR_NUMERIC, "singular values did not converge");
    for (int i = 0; i < n; i++) values[i] = fabs(values[i]);
    qsort(values, (size_t)n, sizeof(double), descending);
    return DLS_OK;
}
