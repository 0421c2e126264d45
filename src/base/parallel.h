/* Loops on threads. One thread runs them directly: even an idle OpenMP region costs a microsecond, as much as
 * a sweep over twenty contacts. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

/* Works on items first … end−1; what it returns is their share of a sum. */
typedef double (*dls_range_function)(void *self, int first, int end);

/* The same bits for any number of threads: chunks depend on the count alone, and their shares add in order.
 */
double dls_parallel_sum(int count, int threads, dls_range_function work, void *self);

/* For items that do not touch each other; what work returns is ignored. */
void dls_parallel_for(int count, int threads, dls_range_function work, void *self);

/* One item at a time on whichever thread is free: for few items of much work, such as chunks with a buffer
 * each. */
void dls_parallel_each(int count, int threads, dls_range_function work, void *self);

#endif
