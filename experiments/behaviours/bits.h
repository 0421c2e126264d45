/* The same bits over threads and over being killed: one scene, run whole and in parts by processes. */
#ifndef EXPERIMENTS_BEHAVIOURS_BITS_H
#define EXPERIMENTS_BEHAVIOURS_BITS_H

#include <stdbool.h>
#include <stdint.h>

enum { BITS_THREADS = 3, BITS_KILLS = 4 };

typedef struct bits_result {
    int threads[BITS_THREADS];
    uint64_t whole[BITS_THREADS]; /* hash of the last state, run without a stop on so many threads */
    uint64_t resumed;             /* killed BITS_KILLS times on the way, each part on other threads */
    int steps, contacts;
} bits_result;

/* A scene of the program, by name, up to that time. False after one line on stderr or an interrupt. */
bool bits_compare(const char *scene, double until, bits_result *result);

#endif
