/* Solids in the problem of a step: A = M + c_D h D + c_K h² K = L Lᵀ, rows H L⁻ᵀ, u⁺ by one back
 * substitution. */
#ifndef ASSEMBLE_SOLIDS_H
#define ASSEMBLE_SOLIDS_H

#include "assemble/assemble.h"
#include "world/solid/solid.h"

/* A solid that takes part. */
typedef struct dls_solid_step {
    int row, n;
    const dls_solid *solid;
    double *L;        /* n × n */
    int *first;       /* columns that its rows begin with */
    double *free;     /* u with forces, without impulses */
    double *D;        /* n × n; NULL where nothing damps */
    bool is_material; /* stresses were left out of K: A would be indefinite with them */
} dls_solid_step;

typedef struct dls_solid_steps {
    dls_solid_step *step; /* by solid; L is NULL where it takes no part */
    dls_twist *free;      /* of every spot, by u_free of its solid */
    int width;            /* most freedoms of one */
    double damped;        /* J that D took in the step, once impulses are known */
} dls_solid_steps;

/* Behind masses of rows: factors, u_free, and the mean motion of it as the row's. */
dls_status dls_assemble_solids(dls_assembly *a, const dls_world *world, const dls_assemble_options *options,
                               dls_error *error);

/* What carries a side: its body or a spot. */
static inline const dls_twist *dls_free_of(const dls_assembly *a, const dls_world *world, int row,
                                           const dls_spot *spot) {
    return spot ? &a->solids->free[spot - world->spots] : &a->free[row];
}

/* u_free of a spot's own solid. */
static inline const double *dls_solid_free(const dls_assembly *a, const dls_spot *spot) {
    return a->solids->step[spot->solid].free;
}

/* One row of G: (d·velocity of the spot + turn·its angular velocity) L⁻ᵀ */
void dls_solid_row(const dls_assembly *a, const dls_spot *spot, const double *d, const double *turn,
                   double *G);

/* An impulse and a turn at a spot act on u_free: += A⁻¹ Hᵀ. room: as many numbers as the widest solid has. */
void dls_solid_push(const dls_assembly *a, const dls_world *world, const dls_spot *spot,
                    const double *impulse, const double *turn, double *room);

/* u⁺ = u_free + L⁻ᵀ y of all solids; y: the problem's state with so many numbers per body, is lost. */
void dls_solids_apply(const dls_assembly *a, dls_world *world, double h, double *y, int stride);

#endif
