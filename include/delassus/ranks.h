/* Processes that share one run. Every rank holds the whole scene, makes the same calls and has the same bits;
 * of what costs most, the sweeps of a contact problem and their judgement, each does its share. How ranks
 * talk is a table of functions: <delassus_dist/dist.h> fills it with MPI, and a program may fill it
 * otherwise. */
#ifndef DELASSUS_RANKS_H
#define DELASSUS_RANKS_H

#include <delassus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DLS_MOST_RANKS = 4096 };

/* All functions are called by all ranks in the same order, each by one thread at a time. They do not return
 * an error: a rank that cannot be reached ends them all. */
typedef struct dls_ranks {
    int count, index; /* this is rank index of count */
    void *self;
    /* bytes[start[k]] … bytes[start[k + 1] − 1] of rank k to all others; start has count + 1 entries */
    void (*gather)(void *self, void *bytes, const int64_t *start);
    /* out[out_start[k]] … to rank k, in[in_start[k]] … from it; both know how many numbers, 0 is no message
     */
    void (*swap)(void *self, const double *out, const int64_t *out_start, double *in,
                 const int64_t *in_start);
} dls_ranks;

#ifdef __cplusplus
}
#endif
#endif
