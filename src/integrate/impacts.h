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

/* Gap at the end of the step of a contact whose bodies were struck, while rows have v⁺: that at q_m is where
 * they would have been on their ways back from there. Of others the gap at q_m. */
double dls_impacts_gap(const dls_simulation *simulation, const dls_contact *contact);

#endif
