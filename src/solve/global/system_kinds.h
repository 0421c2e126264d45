/* The two ways in which a linear system is made: of the rows of its blocks, with W in store, or of bodies. */
#ifndef SOLVE_GLOBAL_SYSTEM_KINDS_H
#define SOLVE_GLOBAL_SYSTEM_KINDS_H

#include "solve/global/matrix.h"
#include "solve/global/system.h"

#include "problem/matrix.h"

typedef struct dls_system_kind dls_system_kind;

struct dls_system {
    const dls_problem *problem;
    const dls_system_kind *kind;
    const dls_block_matrix *W; /* of rows */
    dls_factored matrix;
    double cost, spent;
    int64_t factor_count;
    const double *A, *B;
    double alpha;
    const bool *left_out;
    int *place;    /* in the matrix of each row, or of the first number of each body; −1 where it is not */
    double *right; /* the right-hand side in its order */
    dls_side_matrix G;            /* of bodies */
    double *room;                 /* where the following are */
    double *inverse;              /* D⁻¹ of each block, */
    double *H;                    /* D⁻¹ B G, as G lies, */
    double *y, *rest, *u, *state; /* right-hand side, D⁻¹ of what is left of it, W x and its state */
    int *slot, *near;             /* bodies that one touches, and their places among these */
};

struct dls_system_kind {
    int64_t (*entries)(const dls_problem *p); /* of the matrix with all blocks in it, at most */
    int (*rows)(const dls_problem *p);
    double (*least_cost)(const dls_problem *p); /* of all but the factorisation, in flops of a sweep */
    double (*spent)(const dls_system *s);       /* the same of the matrix at hand */
    dls_status (*take)(dls_system *s, dls_error *error);
    /* place, and the pattern and numbers of the matrix; false where it is singular */
    bool (*fill)(dls_system *s);
    bool (*solve)(dls_system *s, double *x);
};

extern const dls_system_kind dls_system_of_rows, dls_system_of_bodies;

/* Place of A_c in A, B_c in B. */
static inline int64_t dls_system_block(const dls_problem *p, int c) {
    return p->uniform ? (int64_t)c * p->uniform * p->uniform : p->diagonal_start[c];
}

#endif
