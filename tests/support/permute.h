/* The same problem with its blocks in another order. */
#ifndef DELASSUS_TESTS_SUPPORT_PERMUTE_H
#define DELASSUS_TESTS_SUPPORT_PERMUTE_H

#include "base/random.h"

#include <delassus/problem.h>

/* place[c] of each block in a random order; to be freed. */
int *random_places(dls_random *g, int blocks);
/* Block c moves to place[c]; W is stored, and dense on the way: not for large problems. */
dls_problem *permuted_problem(const dls_problem *p, const int *place);

#endif
