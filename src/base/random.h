/* A small deterministic generator (splitmix64): the same numbers on every machine. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <math.h>
#include <stdint.h>

typedef struct dls_random {
    uint64_t state;
} dls_random;

static inline uint64_t dls_random_bits(dls_random *g) {
    uint64_t z = g->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* In [0, 1). */
static inline double dls_random_unit(dls_random *g) { return (double)(dls_random_bits(g) >> 11) * 0x1p-53; }

static inline double dls_random_between(dls_random *g, double low, double high) {
    return low + (high - low) * dls_random_unit(g);
}

/* Below n, without the bias of a remainder. */
static inline uint64_t dls_random_below(dls_random *g, uint64_t n) {
    return (uint64_t)(((__uint128_t)dls_random_bits(g) * n) >> 64);
}

static inline double dls_random_normal(dls_random *g) {
    double radius = sqrt(-2 * log(1 - dls_random_unit(g)));
    return radius * cos(6.283185307179586 * dls_random_unit(g));
}

#endif
