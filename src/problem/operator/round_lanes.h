/* What sweeps over contacts of balls share: four contacts that have no body in common are one visit in vector
 * registers, taken from four streams that advance side by side. */
#ifndef PROBLEM_OPERATOR_ROUND_LANES_H
#define PROBLEM_OPERATOR_ROUND_LANES_H

#include "base/simd.h"
#include "problem/operator/bodies.h"
#include "problem/operator/visits.h"

enum { STREAMS = 4, CACHED_CONTACTS = 100000 };

typedef int32_t ints8 __attribute__((vector_size(32)));
typedef int64_t longs4 __attribute__((vector_size(32)));

#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#define LARGER(a, b)              ((dls_v4)(((longs4)(a) & ((a) > (b))) | ((longs4)(b) & ~((a) > (b)))))

/* Never moved: a side that stays still has the weights a = β = 0. */
typedef struct still_state {
    double state[ROUND_STATE];
} still_state;

/* One number of each of four contacts. */
typedef struct lanes3 {
    dls_v4 n, t1, t2;
} lanes3;

/* The sum over each of four vectors. */
static inline void sum_each(const dls_v4 x[STREAMS], dls_v4 *sums) {
    dls_v4 a = SHUFFLE(x[0], x[1], 0, 4, 2, 6) + SHUFFLE(x[0], x[1], 1, 5, 3, 7);
    dls_v4 b = SHUFFLE(x[2], x[3], 0, 4, 2, 6) + SHUFFLE(x[2], x[3], 1, 5, 3, 7);
    *sums += SHUFFLE(a, b, 0, 1, 4, 5) + SHUFFLE(a, b, 2, 3, 6, 7);
}

/* Three numbers of each of four contacts to lanes. */
static inline void turn_to_lanes(const double *const x[STREAMS], lanes3 *lanes) {
    dls_v4 a = {x[0][0], x[0][1], x[0][2], 0}, b = {x[1][0], x[1][1], x[1][2], 0};
    dls_v4 c = {x[2][0], x[2][1], x[2][2], 0}, d = {x[3][0], x[3][1], x[3][2], 0};
    dls_v4 even = SHUFFLE(a, b, 0, 4, 2, 6), odd = SHUFFLE(a, b, 1, 5, 3, 7);
    dls_v4 later_even = SHUFFLE(c, d, 0, 4, 2, 6), later_odd = SHUFFLE(c, d, 1, 5, 3, 7);
    lanes->n = SHUFFLE(even, later_even, 0, 1, 4, 5);
    lanes->t1 = SHUFFLE(odd, later_odd, 0, 1, 4, 5);
    lanes->t2 = SHUFFLE(even, later_even, 2, 3, 6, 7);
}

/* Back again, with zeros for fourth numbers. */
static inline void turn_to_rows(const lanes3 *lanes, dls_v4 x[STREAMS]) {
    const dls_v4 zero = {0, 0, 0, 0};
    dls_v4 even = SHUFFLE(lanes->n, lanes->t1, 0, 4, 2, 6), odd = SHUFFLE(lanes->n, lanes->t1, 1, 5, 3, 7);
    dls_v4 last_even = SHUFFLE(lanes->t2, zero, 0, 4, 2, 6), last_odd = SHUFFLE(lanes->t2, zero, 1, 5, 3, 7);
    x[0] = SHUFFLE(even, last_even, 0, 1, 4, 5);
    x[1] = SHUFFLE(odd, last_odd, 0, 1, 4, 5);
    x[2] = SHUFFLE(even, last_even, 2, 3, 6, 7);
    x[3] = SHUFFLE(odd, last_odd, 2, 3, 6, 7);
}

/* ---- streams ---- */

typedef struct stream {
    int place, end, step;
} stream;

/* The next contact that is awake, −1 after the last. */
static inline int next_awake(dls_visits *s, stream *x) {
    for (; x->place != x->end; x->place += x->step) {
        int c = s->order ? s->order[x->place] : x->place;
        if (!s->rest || !s->rest[c]) {
            x->place += x->step;
            return c;
        }
        s->rest[c]--;
    }
    return -1;
}

static inline bool share_a_body(const int *b, const int c[STREAMS]) {
    int64_t at[STREAMS];
    for (int k = 0; k < STREAMS; k++) at[k] = 2 * (int64_t)c[k];
    ints8 body = {b[at[0]], b[at[0] + 1], b[at[1]], b[at[1] + 1],
                  b[at[2]], b[at[2] + 1], b[at[3]], b[at[3] + 1]};
    ints8 same = (body == __builtin_shufflevector(body, body, 1, 2, 3, 4, 5, 6, 7, 0)) |
                 (body == __builtin_shufflevector(body, body, 2, 3, 4, 5, 6, 7, 0, 1)) |
                 (body == __builtin_shufflevector(body, body, 3, 4, 5, 6, 7, 0, 1, 2)) |
                 (body == __builtin_shufflevector(body, body, 4, 5, 6, 7, 0, 1, 2, 3));
    longs4 any = (longs4)(same & (body >= 0));
    return (any[0] | any[1] | any[2] | any[3]) != 0;
}

/* Equal parts of the places, each walked in the direction of the sweep. Rows that come from memory stream
 * best one after the other. */
static inline void cut_streams(const dls_visits *s, int first, int end, bool backward, stream x[STREAMS]) {
    int64_t count = end - first, parts = s->problem->block_count > CACHED_CONTACTS ? 1 : STREAMS;
    for (int k = 0; k < STREAMS; k++) {
        int from = k < parts ? first + (int)(count * k / parts) : end;
        int to = k < parts ? first + (int)(count * (k + 1) / parts) : end;
        x[k] = backward ? (stream){to - 1, from - 1, -1} : (stream){from, to, 1};
    }
}

/* How a run's contacts are visited: four that share no body, returning Σ |Δr_c / ρ_c|², or one. */
typedef double (*visit_four_function)(const void *run, const int c[STREAMS]);
typedef void (*visit_one_function)(const void *run, int c, dls_sweep_change *change);

/* Four at a time while all streams have a contact, one by one where two share a body or steps are asked for.
 * Inlined with the visits that it is called for. */
static inline __attribute__((always_inline)) dls_sweep_change visit_streams(dls_visits *s, int first, int end,
                                                                            bool backward, const void *run,
                                                                            visit_four_function four,
                                                                            visit_one_function one) {
    const dls_body_rows *B = s->problem->data;
    dls_sweep_change change = {0, 0, 0, 0};
    stream streams[STREAMS];
    cut_streams(s, first, end, backward, streams);
    for (bool more = true; more;) {
        int c[STREAMS];
        for (int i = 0; i < STREAMS; i++) {
            c[i] = next_awake(s, &streams[i]);
            more &= c[i] >= 0;
        }
        if (more && !s->increments && !share_a_body(B->body, c))
            change.velocity2 += four(run, c);
        else
            for (int i = 0; i < STREAMS; i++)
                if (c[i] >= 0) one(run, c[i], &change);
    }
    for (int i = 0; i < STREAMS; i++)
        for (int c = next_awake(s, &streams[i]); c >= 0; c = next_awake(s, &streams[i])) one(run, c, &change);
    return change;
}

#endif
