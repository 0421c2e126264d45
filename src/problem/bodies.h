/* What the two matrix-free operators share. */
#ifndef PROBLEM_BODIES_H
#define PROBLEM_BODIES_H

#include "problem/problem.h"

/* A product on threads: bodies gather r, then contacts gather from bodies. */
typedef struct dls_product_work {
    const dls_problem *problem;
    const double *r;
    double *u, *state;
} dls_product_work;

/* dls_operator.colour through the bodies of the contacts. */
void dls_bodies_colour(const dls_problem *p, int chunk, uint8_t *colour, uint64_t *scratch);

/* dls_operator.coupled_scale, likewise. */
double dls_bodies_coupled_scale(const dls_problem *p, int c);

/* Ends the rows of balls; returns the sum of the scales. */
double dls_round_end(dls_problem *p, int threads);
/* One side of a contact of balls as three rows of six. */
void dls_round_side(const dls_problem *p, int c, int side, double *G);

#endif
