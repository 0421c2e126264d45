/* Newton's method on piecewise smooth equations R(x) = 0 whose pieces are told by sets. */
#ifndef SOLVE_SEMISMOOTH_H
#define SOLVE_SEMISMOOTH_H

#include <stdbool.h>
#include <stdint.h>

typedef enum dls_newton_end {
    DLS_NEWTON_SOLVED,
    DLS_NEWTON_SINGULAR,  /* R′ of the present sets has no inverse */
    DLS_NEWTON_UNDEFINED, /* R is no number */
    DLS_NEWTON_CYCLING,   /* the same sets with the same norm came again */
    DLS_NEWTON_EXHAUSTED
} dls_newton_end;

typedef struct dls_piecewise {
    int n;
    void *user;
    /* R at x and the sets that it has there; pieces: a number that tells sets apart. False: no numbers. */
    bool (*residual)(void *user, const double *x, double *R, uint64_t *pieces);
    /* step ← R′(x)⁻¹ R with the sets of the last residual; false where it is singular. */
    bool (*solve)(void *user, const double *x, const double *R, double *step);
    const double *weight; /* of each entry of R in its norm; NULL: 1 */
} dls_piecewise;

/* x ← x − R′(x)⁻¹ R while ‖R‖∞ > tolerance, entries weighted. R and step: n numbers each. updates, norm: out.
 */
dls_newton_end dls_newton_piecewise(const dls_piecewise *problem, double *x, double *R, double *step,
                                    double tolerance, int max_updates, int *updates, double *norm);

#endif
