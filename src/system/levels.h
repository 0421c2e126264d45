/* R′ s = R by levels. With κ̂ = κ + c_q λ and P = Λ + c_u λ the rows of positions hold (δq, δκ̂), those of
 * velocities (δu, δP), those of accelerations (δa, δλ), and each level by itself is
 *
 *     A y − W z = motion,    Σ C (V y) + E z = rows,    S = C V A⁻¹ W + E
 *
 * with a block of A per body, or per bodies that springs tie, and S as sparse as contacts and joints are.
 * What else couples bodies and levels is of the order of dt: levels are solved one after the other, each on
 * what the others left of R, until little is left. */
#ifndef SYSTEM_LEVELS_H
#define SYSTEM_LEVELS_H

#include "system/alpha.h"

typedef enum dls_level_kind {
    DLS_LEVEL_POSITION,
    DLS_LEVEL_VELOCITY,
    DLS_LEVEL_ACCELERATION,
    DLS_LEVEL_HELD, /* accelerations with the forces of contacts given */
    DLS_LEVELS
} dls_level_kind;

dls_levels *dls_levels_create(void); /* NULL when memory is out */
void dls_levels_destroy(dls_levels *levels);
/* Which bodies are tied; out_of_memory of alpha where there is none. */
void dls_levels_fit(dls_alpha *alpha);

/* At the point of the slopes; of the held level at that of the terms. False where A is singular. */
bool dls_level_factor(dls_alpha *alpha, dls_level_kind level);
/* y: in motion, out y. z of each family: in rows, out z; NULL: the level has none of it. */
void dls_level_solve(dls_alpha *alpha, dls_level_kind level, double *y, double *const z[DLS_FAMILIES]);

/* a ← A⁻¹w of a row at the velocities of its bodies in the held level; others stay. */
void dls_level_divide(dls_alpha *alpha, const dls_row_place *row, const double *w, double *a);

/* All three; step ← R′⁻¹ R. */
bool dls_levels_factor(dls_alpha *alpha);
/* False where levels are coupled too strongly for that: step is near no solution. */
bool dls_levels_solve(dls_alpha *alpha, const double *x, const double *R, double *step);

#endif
