/* W = G Gᵀ with G = H L and M⁻¹ = L Lᵀ: body velocities are scaled so that no mass appears in a sweep. For
 * the operator itself and for those who fill its rows. */
#ifndef PROBLEM_OPERATOR_BODIES_H
#define PROBLEM_OPERATOR_BODIES_H

#include "problem/operator/roll_rows.h"
#include "problem/operator/tails.h"
#include "problem/operator/visits.h"

/* How a run of blocks is kept. */
typedef enum dls_row_storage {
    DLS_ROWS,   /* rows of G */
    DLS_BALLS,  /* contacts in space of which only balls move: a frame and a few numbers */
    DLS_TAILED, /* rows of G, and of G₁ behind them */
    DLS_WIDE,   /* rows of G, longer where they touch a solid */
} dls_row_storage;

typedef struct dls_body_rows {
    int dof;    /* numbers of a row of G for one body */
    int stride; /* numbers of a body's state: as many, or ROUND_STATE with rows of (v, 0, ω, 0) beside balls
                 */
    const int *width;     /* the same of each body where some are wider; NULL: dof of all */
    const int64_t *place; /* state of each body: wide ones have theirs behind those of all; NULL likewise */
    int64_t wide;         /* numbers of these */
    int widest;           /* largest width */
    int *body;            /* two per block, −1 for none */
    int64_t *row_start; /* of each block in G, −1 for balls; NULL where all blocks are rows of one size, or
                           balls */
    double *G;          /* per block: rows × width of its first body, row after row, then of its second */
    double *compliance; /* ε of each row, W = G Gᵀ + diag(ε); NULL where none has any */
    int64_t *start;     /* body_count + 1 into entry */
    int *entry;         /* 2 · block + side of each block that touches the body, ascending */
    dls_round_row *round; /* by block, where there are balls */
    dls_roll_row *roll;   /* by block, where these resist turning */
    dls_tails *tails;     /* of blocks that touch joined bodies; NULL where joints are not eliminated */
} dls_body_rows;

/* Of a matrix-free problem. */
static inline dls_body_rows *dls_rows_of(const dls_problem *p) { return p->data; }

/* Bodies that have velocities: components of joined ones, which come last, have none. */
static inline int dls_true_bodies(const dls_problem *p) {
    const dls_tails *tails = dls_rows_of(p)->tails;
    return p->body_count - (tails ? tails->component_count : 0);
}

static inline bool dls_is_ball(const dls_body_rows *B, int c) {
    return B->round && (!B->row_start || B->row_start[c] < 0);
}

/* Numbers of a row of G for a body, −1: for none. */
static inline int dls_width_of(const dls_body_rows *B, int body) {
    return B->width && body >= 0 ? B->width[body] : B->dof;
}

/* Where the state of a body begins. */
static inline int64_t dls_place_of(const dls_body_rows *B, int body) {
    return B->place ? B->place[body] : (int64_t)body * B->stride;
}
static inline bool dls_is_wide(const dls_body_rows *B, int body) {
    return B->place && B->place[body] != (int64_t)body * B->stride;
}
/* Of all. */
static inline int64_t dls_body_numbers(const dls_problem *p) {
    return (int64_t)dls_true_bodies(p) * dls_rows_of(p)->stride + dls_rows_of(p)->wide;
}

/* rows × width of one side of a block that is rows, row after row. */
static inline double *dls_side_of(const dls_problem *p, int c, int side) {
    const dls_body_rows *B = p->data;
    int64_t d = dls_size(p, c), at = B->row_start ? B->row_start[c] : 2 * (int64_t)c * d * B->dof;
    int width = side && B->width ? dls_width_of(B, B->body[2 * (int64_t)c]) : B->dof;
    return B->G + at + side * d * width;
}

/* Numbers of both sides. */
static inline int64_t dls_side_numbers(const dls_problem *p, int c) {
    const dls_body_rows *B = p->data;
    const int *body = B->body + 2 * (int64_t)c;
    return (int64_t)dls_size(p, c) * (dls_width_of(B, body[0]) + dls_width_of(B, body[1]));
}

/* A matrix-free problem of contacts in a workspace, and of interval blocks behind them. Whoever begins it
 * fills mu, b, speed, body and, already as H L, the rows of G, or of balls the frames, a and β, before ending
 * it; of intervals also inverse_mass, and low, high and compliance where these are not −∞, ∞ and 0. A block
 * between a body and itself has the sum of both sides in its first, and no second. All in SI, units are taken
 * at the end. */
typedef struct dls_contacts_def {
    int count, d, body_count;
    const int *width; /* numbers of a row of G for each body that deforms, 0 of rigid ones; NULL: none does */
    const int *body;  /* two per block, where there are widths */
    double reference_velocity;
    const uint8_t *ball;  /* which contacts in space may be kept as balls; NULL: none */
    const uint8_t *parts; /* of each contact; NULL: d − 1 tangential rows, nothing else */
    int interval_count;
    const uint8_t *interval_size; /* rows of each, 1 to DLS_MAX_BLOCK */
} dls_contacts_def;

dls_status dls_problem_begin_contacts(dls_workspace *workspace, const dls_contacts_def *def,
                                      dls_problem **problem, dls_error *error);
dls_status dls_problem_end_contacts(dls_problem *p, int threads, dls_error *error);

/* ---- within the operator ---- */

/* A product on threads: bodies gather r, then contacts gather from bodies. */
typedef struct dls_product_work {
    const dls_problem *problem;
    const double *r;
    double *u, *state;
} dls_product_work;

/* The blocks of each body and component, ascending. */
dls_status dls_bodies_list_entries(dls_problem *p, dls_error *error);
/* One side as rows, as they are or made in room from those of balls. */
const double *dls_rows_in(const dls_problem *p, int c, int side, double *room);
/* Multiplies the rows of a block, b, and μ or bounds by their units. */
void dls_bodies_take_units(dls_problem *p, int c);

/* The same of balls alone. */
void dls_balls_start_range(void *work, int first, int end);
void dls_balls_product_range(void *work, int first, int end);
void dls_balls_diagonal(const dls_problem *p, int c, double *W);
/* One side of a contact of balls as three rows of G. */
void dls_balls_side(const dls_body_rows *B, int c, int side, double *G);
/* The same of balls that resist turning: W_cc, and the rows behind the first three. */
void dls_rolling_diagonal(const dls_problem *p, int c, double *W);
void dls_rolling_side(const dls_problem *p, int c, int side, double *G);
dls_sweep_change dls_visit_rolling(dls_visits *visits, int run, int first, int end, double *r, bool backward);
/* The kernel of runs of balls, under the exact law. */
dls_sweep_change dls_visit_balls(dls_visits *visits, int run, int first, int end, double *r, bool backward);

extern const dls_operator dls_operator_stored, dls_operator_bodies;
extern const dls_lane_kernel dls_lanes_of_balls;

#endif
