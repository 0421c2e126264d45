/* Loops on threads, and what each of several ranks has of them. One thread runs them directly: even an idle
 * OpenMP region costs a microsecond, as much as a sweep over twenty contacts. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <delassus/ranks.h>

/* Work on items first … end−1, or a value of them: their share of a sum, their largest. */
typedef void (*dls_range_work)(void *self, int first, int end);
typedef double (*dls_range_value)(void *self, int first, int end);

/* How many threads an OpenMP region may have: those that are wanted, or one in a process that was forked from
 * one with threads, which libgomp would wait for forever. The bits are the same. */
int dls_threads(int wanted);

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

/* The same in pieces: how many parts there are, the first item of one, and the work on some of them. */
int dls_part_count(int count);
int dls_part_first(int count, int part);
void dls_parallel_some_parts(int count, int first, int end, int threads, dls_part_work work, void *self);

/* ---- ranks: NULL, or a single one, shares nothing ---- */

static inline bool dls_are_several(const dls_ranks *ranks) { return ranks && ranks->count > 1; }

/* The first of count items that rank k has; those of a rank follow each other, and rank ranks->count begins
 * at the end. */
static inline int dls_first_of_rank(const dls_ranks *ranks, int count, int k) {
    return (int)((int64_t)count * k / ranks->count);
}

/* Each rank hands in `size` bytes at its own place of `all`, which has those of rank 0, 1, … then. */
void dls_ranks_tell(const dls_ranks *ranks, void *all, size_t size);

#endif
