/* An allocator that counts, and that fails when it is told to. */
#ifndef DELASSUS_TESTS_SUPPORT_ALLOCATOR_H
#define DELASSUS_TESTS_SUPPORT_ALLOCATOR_H

/* Counts start at zero; allocation number fail_at (from 1) and all after it return NULL, 0: none does. */
void counting_begin(int fail_at);
/* The same, but only that one fails. */
void counting_begin_once(int fail_at);
/* Back to malloc; returns blocks that were taken and not given back. */
int counting_end(void);
int counting_allocations(void); /* asked for since the beginning */
int counting_live(void);        /* not given back yet */

#endif
