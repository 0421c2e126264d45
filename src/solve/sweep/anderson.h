/* Anderson acceleration of a fixed-point iteration r ← g(r), for vectors of impulses. */
#ifndef SOLVE_SWEEP_ANDERSON_H
#define SOLVE_SWEEP_ANDERSON_H

#include "problem/problem.h"

enum { DLS_MAX_WINDOW = 16 };

typedef struct dls_anderson {
    const dls_problem *problem;
    int threads, window, used, next;
    double *weight;          /* √scale of each row: steps are compared as velocities times √mass */
    double *dF, *dG;         /* window columns each: differences of weighted steps f and of images g */
    double *last_f, *last_g; /* of the iteration before */
    bool has_last;
    double gram[DLS_MAX_WINDOW][DLS_MAX_WINDOW];
    double *parts;
} dls_anderson;

bool dls_anderson_prepare(dls_anderson *a, const dls_problem *problem, int window, int threads,
                          dls_workspace *workspace);
void dls_anderson_clear(dls_anderson *a);
/* r: in the point that g was computed from, out the extrapolated one, inside the cones.
 * Returns false, with r = g, while there is no history. */
bool dls_anderson_step(dls_anderson *a, const double *g, double *r);

#endif
