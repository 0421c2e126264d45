/* Inside an elimination. */
#ifndef PROBLEM_ELIMINATE_ELIMINATION_H
#define PROBLEM_ELIMINATE_ELIMINATION_H

#include "problem/eliminate.h"
#include "problem/eliminate/cholesky.h"
#include "problem/operator/bodies.h"

/* A node is an interval block with held rows; a place is a held row in the order of elimination. */
struct dls_elimination {
    int known_count; /* nodes that order is for */
    int64_t known_capacity, order_capacity;
    int *known; /* their bodies */
    int *order; /* the node at each position */

    const dls_problem *p;
    const uint8_t *role;
    int threads;
    dls_workspace *space;
    int node_count, place_count;
    int *block;       /* of each node */
    int *body;        /* two per node */
    int *first_place; /* of the node at each position, node_count + 1 */
    int *row;         /* of each place */
    const double **G; /* of each place, two sides; body_of: their bodies */
    int *body_of;
    int64_t *start; /* of each body in entry, body_count + 1 */
    int *entry;     /* 2 · position + side of its nodes, ascending by position */
    dls_upper S;
    dls_cholesky R;
    int component_count;
    int *component_first; /* place, component_count + 1 */
    int *joined;          /* body_count + component of each body, −1 for none */
    int *row_of;          /* row of p of each row of the reduced problem */
    int reduced_rows;
    int *out; /* blocks that are left out */
    int out_count;
    double *given; /* u of p with the impulses that are known, once it was asked for */
    bool is_given;
};

/* Whether a contact is a block of the reduced problem. */
static inline bool dls_takes_part(const dls_elimination *e, int c) {
    return e->role[e->p->row[c]] != DLS_ROW_FIXED;
}

/* y += G_Jᵀ x and u += G_J y, by places. */
void dls_held_add(const dls_elimination *e, const double *x, double *y);
void dls_held_gather(const dls_elimination *e, const double *y, double *u);

/* The held row at this place as one side of G. */
static inline const double *dls_held_row(const dls_elimination *e, int side, int place) {
    return e->G[2 * (int64_t)place + side];
}

#endif
