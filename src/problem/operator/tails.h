/* Tails of blocks that touch joined bodies: W = G Gᵀ − G₁ G₁ᵀ. Behind the velocities of bodies the state
 * holds t = G₁ᵀ r, one number per row that was eliminated; a component of joined bodies counts as one more
 * body. */
#ifndef PROBLEM_OPERATOR_TAILS_H
#define PROBLEM_OPERATOR_TAILS_H

#include "problem/operator/body_rows.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct dls_tails {
    int component_count;  /* the last of the problem's bodies */
    int row_count;        /* numbers of t */
    const int *joined;    /* component of each body, as a body; −1 where nothing joins it */
    const int *held;      /* rows that were eliminated at each body */
    int *first;           /* number of t that each component begins with, component_count + 1 */
    int *component;       /* two per block, as bodies; −1 for none. Both sides in one: the first alone */
    int64_t *start;       /* into index: of both components of each block, 2 · block_count + 1 */
    int *index;           /* of t, ascending in each */
    int64_t *value_start; /* of each block in value, block_count + 1 */
    double *value;        /* G₁ of each block: the rows of one number of t after those of another */
} dls_tails;

static inline bool dls_has_tail(const dls_tails *t, int c) {
    return t && t->value_start[c + 1] > t->value_start[c];
}

/* ---- three rows: they stay in registers from one number of t to the next ---- */

static inline void dls_tail_gather3(const double *restrict G, const int *restrict index, int64_t count,
                                    const double *restrict state, double *restrict v) {
    dls_v2 two = DLS_V2_LOAD(v);
    double last = v[2];
    for (int64_t k = 0; k < count; k++, G += 3) {
        double x = state[index[k]];
        two -= DLS_V2_LOAD(G) * x;
        last -= G[2] * x;
    }
    v[0] = two[0], v[1] = two[1], v[2] = last;
}

static inline void dls_tail_scatter3(const double *restrict G, const int *restrict index, int64_t count,
                                     const double *restrict x, double *restrict state) {
    dls_v2 two = DLS_V2_LOAD(x);
    double last = x[2];
    for (int64_t k = 0; k < count; k++, G += 3) {
        dls_v2 product = DLS_V2_LOAD(G) * two;
        state[index[k]] += product[0] + product[1] + G[2] * last;
    }
}

/* ---- any number of rows ---- */

/* v −= G₁ t */
static inline void dls_tail_gather(const dls_tails *t, int c, int d, const double *restrict state,
                                   double *restrict v) {
    const double *G = t->value + t->value_start[c];
    int64_t first = t->start[2 * (int64_t)c], end = t->start[2 * (int64_t)c + 2];
    if (d == 3) {
        dls_tail_gather3(G, t->index + first, end - first, state, v);
        return;
    }
    for (int64_t k = first; k < end; k++, G += d) {
        double x = state[t->index[k]];
        for (int i = 0; i < d; i++) v[i] -= G[i] * x;
    }
}

/* t += G₁ᵀ x, of one of the two components */
static inline void dls_tail_scatter(const dls_tails *t, int c, int side, int d, const double *restrict x,
                                    double *restrict state) {
    int64_t begin = t->start[2 * (int64_t)c], first = t->start[2 * (int64_t)c + side];
    int64_t end = t->start[2 * (int64_t)c + side + 1];
    const double *G = t->value + t->value_start[c] + d * (first - begin);
    if (d == 3) {
        dls_tail_scatter3(G, t->index + first, end - first, x, state);
        return;
    }
    for (int64_t k = first; k < end; k++, G += d) {
        double sum = 0;
        for (int i = 0; i < d; i++) sum += G[i] * x[i];
        state[t->index[k]] += sum;
    }
}

/* W_cj −= G₁ G₁ᵀ over one shared component, d × e column-major. */
static inline void dls_tail_outer(const dls_tails *t, int c, int side, int d, int j, int other, int e,
                                  double *W) {
    int64_t a = t->start[2 * (int64_t)c + side], b = t->start[2 * (int64_t)j + other];
    int64_t end_a = t->start[2 * (int64_t)c + side + 1], end_b = t->start[2 * (int64_t)j + other + 1];
    const double *G = t->value + t->value_start[c] + d * (a - t->start[2 * (int64_t)c]);
    const double *H = t->value + t->value_start[j] + e * (b - t->start[2 * (int64_t)j]);
    while (a < end_a && b < end_b) {
        int step = t->index[a] - t->index[b];
        for (int k = 0; step == 0 && k < d * e; k++) W[k] -= G[k % d] * H[k / d];
        if (step <= 0) a++, G += d;
        if (step >= 0) b++, H += e;
    }
}

#endif
