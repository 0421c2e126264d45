/* Solids in the problem of a step: A = M + c_D h D + c_K h² K = R̄ Pᵀ L Lᵀ P R̄ᵀ, rows H R̄ Pᵀ L⁻ᵀ, u⁺ by one
 * back substitution. R̄ has the fixed axes of a solid at every node, and is 1 where it has none. */
#ifndef ASSEMBLE_SOLIDS_H
#define ASSEMBLE_SOLIDS_H

#include "assemble/assemble.h"
#include "world/solid/solid.h"

/* L and D of solids with fixed axes: made once for all that are made alike and for all steps of one length.
 */
typedef struct dls_solid_factors dls_solid_factors;

dls_solid_factors *dls_solid_factors_create(void);
void dls_solid_factors_destroy(dls_solid_factors *factors);
size_t dls_solid_factors_bytes(const dls_solid_factors *factors);

/* A solid that takes part. */
typedef struct dls_solid_step {
    int row, n;
    const dls_solid *solid;
    const dls_pattern *pattern;
    bool turned;     /* L and D are seen from */
    double R[9];     /* these axes */
    const double *L; /* of the pattern */
    const double *D; /* likewise; NULL where nothing damps */
    double *free;    /* u with forces, without impulses */
    double *strain;  /* h force(q_f): the impulse of strains */
} dls_solid_step;

typedef struct dls_solid_steps {
    dls_solid_step *step; /* by solid; L is NULL where it takes no part */
    int *width;           /* freedoms of each row, 0 of rigid ones */
    int widest;           /* most freedoms of one */
    double *room[2];      /* as many numbers each */
    double damped;        /* J that D took in the step, once impulses are known */
    double strained;      /* J that forces of strains did, as the step has them; NaN: not known */
} dls_solid_steps;

/* Behind masses of rows: factors, u_free, and the mean motion of it as the row's. */
dls_status dls_assemble_solids(dls_assembly *a, const dls_world *world, const dls_assemble_options *options,
                               dls_error *error);

/* u_free of a spot's own solid. */
static inline const double *dls_solid_free(const dls_assembly *a, const dls_spot *spot) {
    return a->solids->step[spot->solid].free;
}

/* What carries a side, without impulses: its body or a spot. */
static inline dls_twist dls_free_of(const dls_assembly *a, int row, const dls_spot *spot) {
    dls_twist twist;
    if (!spot) return a->free[row];
    dls_spot_twist(spot, dls_solid_free(a, spot), twist.v, twist.w);
    return twist;
}

/* One row of G: (d·velocity of the spot + turn·its angular velocity) R̄ Pᵀ L⁻ᵀ */
void dls_solid_row(const dls_assembly *a, const dls_spot *spot, const double *d, const double *turn,
                   double *G);

/* An impulse and a turn at a spot act on u_free: += A⁻¹ Hᵀ. */
void dls_solid_push(const dls_assembly *a, const dls_spot *spot, const double *impulse, const double *turn);

/* u⁺ = u_free + R̄ Pᵀ L⁻ᵀ y of all solids; y: the problem's state, is lost. */
void dls_solids_apply(const dls_assembly *a, dls_world *world, double h, double *y);

#endif
