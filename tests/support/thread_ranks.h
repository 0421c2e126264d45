/* Ranks that are threads of one program: what ranks share, without a network. */
#ifndef DELASSUS_TESTS_SUPPORT_THREAD_RANKS_H
#define DELASSUS_TESTS_SUPPORT_THREAD_RANKS_H

#include <delassus/ranks.h>

/* What one rank does; all are handed the same user. */
typedef void (*rank_work)(const dls_ranks *ranks, void *user);

/* What went to and fro, of all ranks. */
typedef struct rank_traffic {
    int64_t gathers, swaps, numbers;
} rank_traffic;

/* Runs the work on so many ranks, and waits for all. */
rank_traffic run_ranks(int count, rank_work work, void *user);

#endif
