/* Contacts of balls: a third of the numbers, and a fraction of the work, of any bodies'. */
#include "problem/operator/bodies.h"

#include <string.h>

enum { AHEAD = 16 }; /* entries of bodies */

static const double at_rest[ROUND_STATE] = {0};

static inline const double *state_of(const double *state, int body) {
    return body >= 0 ? state + (int64_t)ROUND_STATE * body : at_rest;
}

/* Bodies gather from their contacts in ascending order, so that the sums do not depend on threads. Contacts
 * of a body lie apart in memory: without asking ahead every one of them would be waited for. */
void dls_balls_start_range(void *self, int first, int end) {
    const dls_product_work *work = self;
    const dls_body_rows *B = work->problem->data;
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

void dls_balls_product_range(void *self, int first, int end) {
    const dls_product_work *work = self;
    const dls_body_rows *B = work->problem->data;
    for (int c = first; c < end; c++) {
        const int *body = B->body + 2 * (int64_t)c;
        double u[3] = {0, 0, 0};
        round_gather(&B->round[c], state_of(work->state, body[0]), state_of(work->state, body[1]), u);
        for (int k = 0; k < 3; k++) work->u[3 * (int64_t)c + k] = u[k];
    }
}

/* ---- rows ---- */

void dls_balls_diagonal(const dls_problem *p, int c, double *W) {
    round_diagonal(&dls_rows_of(p)->round[c], W);
}

void dls_balls_side(const dls_body_rows *B, int c, int side, double *G) {
    const dls_round_row *row = &B->round[c];
    int turn = B->dof / 2;
    double a = side ? row->a_b : -row->a_a, beta = side ? row->beta_b : -row->beta_a;
    memset(G, 0, 3 * sizeof *G * (size_t)B->dof);
    for (int k = 0; k < 3; k++) {
        G[k] = a * row->n[k];
        G[B->dof + k] = a * row->t1[k];
        G[2 * B->dof + k] = a * row->t2[k];
        G[B->dof + turn + k] = beta * row->t2[k];
        G[2 * B->dof + turn + k] = -beta * row->t1[k];
    }
}
