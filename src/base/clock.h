/* Wall and processor time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <time.h>

static inline double dls_clock_read(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double dls_clock_wall(void) { return dls_clock_read(CLOCK_MONOTONIC); }

/* Of all threads of the process. */
static inline double dls_clock_cpu(void) { return dls_clock_read(CLOCK_PROCESS_CPUTIME_ID); }

#endif
