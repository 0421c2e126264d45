#include <delassus/base.h>

#include <time.h>

static double read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double dls_clock_wall(void) { return read_clock(CLOCK_MONOTONIC); }
double dls_clock_cpu(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
