/* Contacts of balls in single precision, eight at a time, about a base in double.
 *
 * Without tangents where nothing resists turning: r_c and u_c are vectors in space. A contact of balls has
 *
 *     u = b + V + Ω × n,   V = a_B v_B − a_A v_A,   Ω = β_B w_B − β_A w_A,   v += ± a Δr,   w += ± β n × Δr
 *
 * in the letters of round_rows.h. Lanes keep u₀ = W r₀ + b of the last r₀ that was judged, rounded once from
 * double, and float states of what bodies have changed since: what is rounded is the way from r₀ to r alone.
 */
#ifndef PROBLEM_OPERATOR_LANES_H
#define PROBLEM_OPERATOR_LANES_H

#include "problem/operator/bodies.h"

#include <float.h>
#include <math.h>

enum { LANES = 8, LANE_STATE = 8 };

typedef float lanes8 __attribute__((vector_size(32), may_alias));
typedef float lanes4 __attribute__((vector_size(16), may_alias));
typedef int32_t lane_ints __attribute__((vector_size(32), may_alias));

#define LANES_OF(x, y, ...)     __builtin_shufflevector(x, y, __VA_ARGS__)
#define LANE_LARGER(x, y)       ((lanes8)(((lane_ints)(x) & ((x) > (y))) | ((lane_ints)(y) & ~((x) > (y)))))
#define LANE_CHOICE(mask, x, y) ((lanes8)(((lane_ints)(x) & (mask)) | ((lane_ints)(y) & ~(mask))))

/* Eight contacts that share no body. */
typedef struct lane_block {
    int32_t a[LANES], b[LANES];            /* bodies, −1 for none */
    lanes8 n[3], a_a, a_b, beta_a, beta_b; /* 0 where a body cannot move */
    lanes8 inverse_n, inverse_t, mu, scale;
    lanes8 free[3];       /* u₀ */
    lanes8 r[3], last[3]; /* now, and before the last visit */
} lane_block;

/* The rows of these contacts that resist turning. Then r, last and free of their block are along n, t₁, t₂
 * too, and moments m across n are kept turned by a right angle, y = m × n: tangential and rolling parts are
 * coupled by κ alone, as in roll_rows.h. */
typedef struct lane_roll {
    lanes8 t1[3], t2[3];
    lanes8 gamma_a, gamma_b;
    lanes8 x_of_u, y_of_v, across; /* w_r, w_t and κ over w_t w_r − κ² */
    lanes8 kappa_t, kappa_r;       /* κ over w_t and w_r */
    lanes8 inverse_r;
    lanes8 mu_rolling, mu_spinning; /* 0 where a contact has no such part */
    lanes8 free[2], y[2], last[2];  /* rolling */
    lanes8 free_spin, spin, last_spin;
} lane_roll;

struct dls_lanes {
    const dls_problem *problem;
    int piece_count, block_count, body_count;
    int *first;   /* block of each piece, and the end of the last */
    int *contact; /* of each lane, −1 for none */
    lane_block *block;
    lane_roll *roll; /* NULL where nothing resists turning */
    bool spins;      /* some of them */
    double unit;     /* W̄: impulses are kept as velocities, whose squares are floats whatever the units */
    double *state, *last; /* LANE_STATE floats per body: v, 0, w, 0 */
    float beta;           /* the next visits begin at r + β (r − last) */
};

/* Sums of |Δr_c / ρ_c|² over lanes. */
void dls_lanes_visit_round(dls_lanes *x, int first, int end, float relaxation, lanes8 *change2);
void dls_lanes_visit_roll(dls_lanes *x, int first, int end, float relaxation, lanes8 *change2);

/* ---- bodies to lanes and back ---- */

/* Never moved: a side that stays still has the weights a = β = γ = 0. */
typedef struct lane_still {
    lanes8 state;
} lane_still;

/* Where the states of eight bodies are. */
static inline __attribute__((always_inline)) void lanes_find(const dls_lanes *x, const int32_t *body,
                                                             lane_still *still, lanes8 *row[LANES]) {
    for (int k = 0; k < LANES; k++) row[k] = body[k] >= 0 ? (lanes8 *)x->state + body[k] : &still->state;
}

/* Three of the four numbers at the beginning of each pair of rows (i | i + 4). */
static inline __attribute__((always_inline)) void lanes_turn(const lanes8 pair[4], lanes8 out[3]) {
    lanes8 low = LANES_OF(pair[0], pair[1], 0, 8, 1, 9, 4, 12, 5, 13);
    lanes8 high = LANES_OF(pair[0], pair[1], 2, 10, 3, 11, 6, 14, 7, 15);
    lanes8 later_low = LANES_OF(pair[2], pair[3], 0, 8, 1, 9, 4, 12, 5, 13);
    lanes8 later_high = LANES_OF(pair[2], pair[3], 2, 10, 3, 11, 6, 14, 7, 15);
    out[0] = LANES_OF(low, later_low, 0, 1, 8, 9, 4, 5, 12, 13);
    out[1] = LANES_OF(low, later_low, 2, 3, 10, 11, 6, 7, 14, 15);
    out[2] = LANES_OF(high, later_high, 0, 1, 8, 9, 4, 5, 12, 13);
}

/* Back again: rows (i | i + 4), with zeros for fourth numbers. */
static inline __attribute__((always_inline)) void lanes_turn_back(const lanes8 in[3], lanes8 pair[4]) {
    const lanes8 zero = {0};
    lanes8 low = LANES_OF(in[0], in[1], 0, 8, 1, 9, 4, 12, 5, 13);
    lanes8 high = LANES_OF(in[0], in[1], 2, 10, 3, 11, 6, 14, 7, 15);
    lanes8 last_low = LANES_OF(in[2], zero, 0, 8, 1, 9, 4, 12, 5, 13);
    lanes8 last_high = LANES_OF(in[2], zero, 2, 10, 3, 11, 6, 14, 7, 15);
    pair[0] = LANES_OF(low, last_low, 0, 1, 8, 9, 4, 5, 12, 13);
    pair[1] = LANES_OF(low, last_low, 2, 3, 10, 11, 6, 7, 14, 15);
    pair[2] = LANES_OF(high, last_high, 0, 1, 8, 9, 4, 5, 12, 13);
    pair[3] = LANES_OF(high, last_high, 2, 3, 10, 11, 6, 7, 14, 15);
}

static inline __attribute__((always_inline)) void lanes_gather(lanes8 *const row[LANES], lanes8 v[3],
                                                               lanes8 w[3]) {
    lanes8 of_v[4], of_w[4];
    for (int k = 0; k < 4; k++) {
        lanes4 *one = (lanes4 *)row[k], *other = (lanes4 *)row[k + 4];
        of_v[k] = LANES_OF(one[0], other[0], 0, 1, 2, 3, 4, 5, 6, 7);
        of_w[k] = LANES_OF(one[1], other[1], 0, 1, 2, 3, 4, 5, 6, 7);
    }
    lanes_turn(of_v, v);
    lanes_turn(of_w, w);
}

/* v += a x, w += b y. */
static inline __attribute__((always_inline)) void lanes_scatter(const lanes8 *a, const lanes8 x[3],
                                                                const lanes8 y[3], lanes8 *const row[LANES]) {
    lanes8 push[3], of_v[4], of_w[4];
    for (int i = 0; i < 3; i++) push[i] = *a * x[i];
    lanes_turn_back(push, of_v);
    lanes_turn_back(y, of_w);
    for (int k = 0; k < 4; k++) {
        *row[k] += LANES_OF(of_v[k], of_w[k], 0, 1, 2, 3, 8, 9, 10, 11);
        *row[k + 4] += LANES_OF(of_v[k], of_w[k], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

static inline __attribute__((always_inline)) void lanes_cross(const lanes8 x[3], const lanes8 y[3],
                                                              lanes8 out[3]) {
    out[0] = x[1] * y[2] - x[2] * y[1];
    out[1] = x[2] * y[0] - x[0] * y[2];
    out[2] = x[0] * y[1] - x[1] * y[0];
}

#define LANE_DOT(x, y)    ((x)[0] * (y)[0] + (x)[1] * (y)[1] + (x)[2] * (y)[2])
#define LANE_SQUARE(x, y) ((x) * (x) + (y) * (y))

static inline __attribute__((always_inline)) void lanes_root(const lanes8 *x, lanes8 *root) {
    for (int k = 0; k < LANES; k++) (*root)[k] = sqrtf((*x)[k]);
}

/* limit/√size²: x times it has that length. */
static inline __attribute__((always_inline)) void lanes_length(const lanes8 *limit, const lanes8 *size2,
                                                               lanes8 *share) {
    const lanes8 least = {FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN};
    lanes8 size;
    lanes_root(size2, &size);
    *share = *limit / LANE_LARGER(size, least);
}

/* limit/max(√size², limit): 1 inside the disc. */
static inline __attribute__((always_inline)) void lanes_share(const lanes8 *limit, const lanes8 *size2,
                                                              lanes8 *share) {
    const lanes8 least = {FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN};
    lanes8 size;
    lanes_root(size2, &size);
    lanes8 larger = LANE_LARGER(size, *limit);
    *share = *limit / LANE_LARGER(larger, least);
}

#endif
