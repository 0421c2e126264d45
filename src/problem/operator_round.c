/* Matrix-free W of contacts between balls: a third of the numbers, and a fraction of the work, of any
 * bodies'. */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "problem/bodies.h"
#include "problem/round_rows.h"

enum { AHEAD = 16 }; /* entries of bodies */

static const double at_rest[ROUND_STATE] = {0};

static size_t state_size(const dls_problem *p) { return (size_t)p->body_count * ROUND_STATE; }

static inline const double *state_of(const double *state, int body) {
    return body >= 0 ? state + (int64_t)ROUND_STATE * body : at_rest;
}

static inline void velocity_of(const dls_problem *p, int c, const double *state, double *u) {
    const int *body = p->bodies.body + 2 * (int64_t)c;
    round_gather(&p->bodies.round[c], state_of(state, body[0]), state_of(state, body[1]), u);
}

/* Bodies gather from their contacts in ascending order, so that the sums do not depend on threads. Contacts
 * of a body lie apart in memory: without asking ahead every one of them would be waited for. */
static void start_range(void *self, int first, int end) {
    const dls_product_work *work = self;
    const dls_body_rows *B = &work->problem->bodies;
    int64_t last = B->start[end] - 1;
    for (int body = first; body < end; body++) {
        double *state = work->state + (int64_t)ROUND_STATE * body;
        for (int k = 0; k < ROUND_STATE; k++) state[k] = 0;
        for (int64_t e = B->start[body]; e < B->start[body + 1]; e++) {
            int c = B->entry[e] / 2, ahead = B->entry[e + AHEAD < last ? e + AHEAD : last] / 2;
            const dls_round_row *row = &B->round[c];
            bool second = B->entry[e] % 2;
            round_push push;
            __builtin_prefetch(B->round[ahead].n);
            __builtin_prefetch(B->round[ahead].t2);
            __builtin_prefetch(work->r + 3 * (int64_t)ahead);
            round_push_of(row, work->r + 3 * (int64_t)c, &push);
            round_scatter(&push, second ? row->a_b : -row->a_a, second ? row->beta_b : -row->beta_a, state);
        }
    }
}

static void product_range(void *self, int first, int end) {
    const dls_product_work *work = self;
    for (int c = first; c < end; c++) {
        double u[3] = {0, 0, 0};
        velocity_of(work->problem, c, work->state, u);
        for (int k = 0; k < 3; k++) work->u[3 * (int64_t)c + k] = u[k];
    }
}

static void start(const dls_problem *p, const double *r, double *state, int threads) {
    dls_parallel_for(p->body_count, threads, start_range, &(dls_product_work){p, r, NULL, state});
}

static void product(const dls_problem *p, const double *r, double *u, double *state, int threads) {
    start(p, r, state, threads);
    dls_parallel_for(p->block_count, threads, product_range, &(dls_product_work){p, r, u, state});
}

static void local(const dls_problem *p, int c, const double *r, const double *state, double *v) {
    double room[DLS_ROUND_DIAGONAL];
    const double *W = dls_diagonal_in(p, c, room);
    for (int k = 0; k < 3; k++) v[k] = p->b[3 * (int64_t)c + k] - W[4 * k] * r[3 * (int64_t)c + k];
    velocity_of(p, c, state, v);
}

static void changed(const dls_problem *p, int c, const double *delta, double *state) {
    const dls_round_row *row = &p->bodies.round[c];
    const int *body = p->bodies.body + 2 * (int64_t)c;
    round_push push;
    round_push_of(row, delta, &push);
    if (body[0] >= 0) round_scatter(&push, -row->a_a, -row->beta_a, state + (int64_t)ROUND_STATE * body[0]);
    if (body[1] >= 0) round_scatter(&push, row->a_b, row->beta_b, state + (int64_t)ROUND_STATE * body[1]);
}

/* Always in a workspace. */
static void release(dls_problem *p) { (void)p; }

static size_t memory(const dls_problem *p) {
    size_t n = (size_t)p->block_count, entries = (size_t)p->bodies.start[p->body_count];
    return (2 * n + entries) * sizeof(int) + ((size_t)p->body_count + 1) * sizeof(int64_t) +
           n * sizeof(dls_round_row);
}

const dls_operator dls_operator_round = {
    "matrix-free, balls",     state_size, product, start, local, changed, dls_bodies_colour,
    dls_bodies_coupled_scale, release,    memory};

/* ---- rows ---- */

/* What follows from W_cc. */
static double end_range(void *self, int first, int end) {
    dls_problem *p = self;
    double sum = 0;
    for (int c = first; c < end; c++) {
        dls_round_row *row = &p->bodies.round[c];
        double room[DLS_ROUND_DIAGONAL];
        const double *W = dls_diagonal_in(p, c, room);
        row->inverse_n = 1 / W[0];
        row->inverse_t = 1 / W[4];
        row->mu = p->mu[c];
        p->scale[c] = (W[0] + 2 * W[4]) / 3;
        sum += p->scale[c];
    }
    return sum;
}

double dls_round_end(dls_problem *p, int threads) {
    return dls_parallel_sum(p->block_count, threads, end_range, p);
}

void dls_round_side(const dls_problem *p, int c, int side, double *G) {
    const dls_round_row *row = &p->bodies.round[c];
    double a = side ? row->a_b : -row->a_a, beta = side ? row->beta_b : -row->beta_a;
    for (int k = 0; k < 3; k++) {
        G[k] = a * row->n[k];
        G[6 + k] = a * row->t1[k];
        G[12 + k] = a * row->t2[k];
        G[3 + k] = 0;
        G[9 + k] = beta * row->t2[k];
        G[15 + k] = -beta * row->t1[k];
    }
}
