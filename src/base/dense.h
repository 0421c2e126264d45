/* Dense factorisations of whole matrices, by LAPACK. */
#ifndef BASE_DENSE_H
#define BASE_DENSE_H

#include <delassus/base.h>

/* Singular values of the n × n matrix A (column-major, destroyed), descending. A symmetric A costs less. */
dls_status dls_dense_singular_values(int n, double *A, bool symmetric, double *values, dls_error *error);

#endif
