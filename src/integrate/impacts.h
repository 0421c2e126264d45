/* Impacts with restitution, in the order in which they happen within a step. */
#ifndef INTEGRATE_IMPACTS_H
#define INTEGRATE_IMPACTS_H

#include "integrate/scheme.h"

/* Strikes contacts that meet within the step and would leave faster than rest_speed: rows stand at q_m with
 * their masses in the assembly and get v⁻ + Σ Δ, also in before and free, and contacts of struck bodies the
 * gaps that the displacements of dls_impacts_move leave. */
dls_status dls_impacts_strike(dls_simulation *simulation, const dls_step_plan *plan,
                              const dls_assemble_options *options, dls_error *error);
/* After bodies have moved: what they went farther or less far because impacts happen at their own times. */
void dls_impacts_move(dls_simulation *simulation);

#endif
