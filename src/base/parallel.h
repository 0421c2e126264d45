/* Loops on threads. One thread runs them directly: even an idle OpenMP region costs a microsecond, as much as
 * a sweep over twenty contacts. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

/* Work on items first … end−1, or a value of them: their share of a sum, their largest. */
typedef void (*dls_range_work)(void *self, int first, int end);
typedef double (*dls_range_value)(void *self, int first, int end);

/* For items that do not touch each other. */
void dls_parallel_for(int count, int threads, dls_range_work work, void *self);

/* One item at a time on whichever thread is free: for few items of much work, such as chunks with a buffer
 * each. */
void dls_parallel_each(int count, int threads, dls_range_work work, void *self);

/* The same bits for any number of threads: parts depend on the count alone, and their shares add in order.
 */
double dls_parallel_sum(int count, int threads, dls_range_value share, void *self);

/* The largest of values that are 0 or more; 0 of none. */
double dls_parallel_max(int count, int threads, dls_range_value largest, void *self);

enum { DLS_MOST_PARTS = 256 };

/* For results of any other type: work leaves that of its part in a place of its own. Returns the number of
 * parts. */
typedef void (*dls_part_work)(void *self, int part, int first, int end);
int dls_parallel_parts(int count, int threads, dls_part_work work, void *self);

#endif
