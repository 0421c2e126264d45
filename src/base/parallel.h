/* Sums on threads with the same bits for any number of them: chunks depend on the count alone and add in
 * order. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

enum { DLS_SUM_PARTS = 256 };

/* Works on items first … end−1 and returns their share of the sum. */
typedef double (*dls_range_function)(void *self, int first, int end);

double dls_parallel_sum(int count, int threads, dls_range_function work, void *self);

#endif
