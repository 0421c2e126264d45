/* Random problems with bodies, blocks of every size, and a dense W computed the plain way. */
#ifndef DELASSUS_TESTS_SUPPORT_SAMPLE_H
#define DELASSUS_TESTS_SUPPORT_SAMPLE_H

#include "base/random.h"

#include <delassus/problem.h>

typedef struct sample {
    dls_problem_def def; /* its arrays belong to the sample, and so may be changed before a problem is made */
    int rows;
    int *size;
    uint8_t *kind;
    double *mu, *b;
    dls_bodies bodies;
    double *inverse_mass, *H;
    int *body;
    double *W; /* rows × rows, column-major: H M⁻¹ Hᵀ */
} sample;

typedef struct sample_shape {
    int blocks, bodies, dof;
    int dimension;       /* of contacts; 0: 2, 3 and 4 in turn */
    int bilateral_every; /* every so many blocks one is bilateral, of 1 … 6 rows in turn; 0: none */
    double mu_low, mu_high;
    double coupling; /* of rotation to translation, 0 … 1 */
} sample_shape;

/* Blocks join neighbours in a row of bodies, or a body and the ground; b pulls contacts together. */
sample sample_create(dls_random *g, const sample_shape *shape);
void sample_free(sample *s);
/* W again, after inverse_mass, H or body was changed. */
void sample_update(sample *s);

/* Problems from a sample, never NULL. */
dls_problem *sample_stored(const sample *s);
dls_problem *sample_matrix_free(const sample *s);

/* A stored problem from a dense W, column-major; zeros are left out. */
dls_status dense_problem_create(const dls_problem_def *def, int rows, const double *W, dls_problem **problem,
                                dls_error *error);
/* The same where it must succeed. */
dls_problem *dense_problem(const dls_problem_def *def, int rows, const double *W);
/* u = W r + b */
void dense_velocity(int rows, const double *W, const double *b, const double *r, double *u);

dls_problem *generated(dls_generator kind, int size, double mu, bool matrix_free);

/* Of the bits of n numbers. */
uint64_t bits_hash(const double *x, int n);

#endif
