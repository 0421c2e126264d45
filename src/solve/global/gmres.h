/* Restarted GMRES with right preconditioning, on memory that is taken once. */
#ifndef SOLVE_GLOBAL_GMRES_H
#define SOLVE_GLOBAL_GMRES_H

#include <delassus/base.h>

typedef void (*dls_gmres_operator)(void *self, const double *x, double *y);

typedef struct dls_gmres {
    int n, restart, threads;
    double *basis; /* restart + 1 vectors */
    double *hessenberg, *cosine, *sine, *right;
    double *z, *w;
} dls_gmres;

bool dls_gmres_prepare(dls_gmres *gmres, int n, int restart, int threads, dls_workspace *workspace);
/* Solves A x = y from x = 0 until |y − A x| ≤ tolerance·|y| or so many products with A; returns how many it
 * took. precondition(x) applies an approximate inverse. */
int dls_gmres_solve(dls_gmres *gmres, dls_gmres_operator apply, dls_gmres_operator precondition, void *self,
                    const double *y, double tolerance, int max_products, double *x);

#endif
