/* Dense factorisations of whole matrices. */
#ifndef BASE_DENSE_H
#define BASE_DENSE_H

#include <delassus/base.h>

/* Singular values of the n × n matrix A (column-major, finite, destroyed), descending, each to rounding
 * errors of the largest. */
dls_status dls_dense_singular_values(int n, double *A, double *values, dls_error *error);

#endif
