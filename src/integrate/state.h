/* A state as bytes, looked at without a simulation. */
#ifndef INTEGRATE_STATE_H
#define INTEGRATE_STATE_H

#include <delassus/integrate.h>

/* Its step and its time, once its sections are all there and the simulation's own makes sense. */
dls_status dls_simulation_state_peek(const void *bytes, size_t size, int64_t *step, double *t,
                                     dls_error *error);

#endif
