/* A square matrix by rows, or dense where that is cheaper, and its factors. */
#ifndef SOLVE_GLOBAL_MATRIX_H
#define SOLVE_GLOBAL_MATRIX_H

#include <delassus/base.h>

#include <klu.h>

typedef struct dls_factored {
    int size;
    bool dense;     /* as a whole; small ones always are */
    bool refined;   /* whoever solves looks at what is left, and asks for pivots anew where that is much */
    bool fresh;     /* pivots are of the matrix at hand */
    double *matrix; /* dense: size², column-major */
    double *room;   /* of its factorisation */
    int *pivot;
    int *start, *index; /* sparse: rows, columns ascending, which KLU reads as columns of the transpose */
    double *value;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    int symbolic_size; /* of the pattern that symbolic belongs to; a hash tells patterns of one size apart */
    uint64_t symbolic_hash;
} dls_factored;

/* Room for rows and entries of sparse matrices. Free in any case. */
dls_status dls_factored_create(dls_factored *f, int64_t rows, int64_t entries, dls_error *error);
void dls_factored_free(dls_factored *f);
/* Decides by the pattern that is there whether matrices are dense; flops: of one factorisation, those of a
 * dense one. */
dls_status dls_factored_choose(dls_factored *f, double *flops, dls_error *error);
/* Room for dense matrices, after the choice. */
dls_status dls_factored_make_room(dls_factored *f, dls_error *error);
/* Whether a matrix of f->size rows is to be filled densely. */
bool dls_factored_is_dense(const dls_factored *f);
/* Entries to the dense matrix, where it is one. */
void dls_factored_spread(dls_factored *f);
/* What was filled in. False where it is singular or not finite; flops: of a dense factorisation. */
bool dls_factored_factor(dls_factored *f, double *flops);
/* The same matrix with pivots of its own; false where it has these, or has none. */
bool dls_factored_renew(dls_factored *f);
/* x: in the right-hand side, out the solution. */
bool dls_factored_solve(dls_factored *f, double *x);

#endif
