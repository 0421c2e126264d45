/* The interior-point method on a scaled problem, for its own row of the table and for `auto`. */
#ifndef SOLVE_GLOBAL_IPM_H
#define SOLVE_GLOBAL_IPM_H

#include "solve/global/scaled.h"
#include "solve/global/system.h"
#include "solve/solve.h"

/* From a cold start until the tolerance, so many iterations, or a stall; the monitor keeps the best iterate.
 * False when memory is out. */
bool dls_ipm_run(const dls_scaled *scaled, dls_system *system, dls_monitor *monitor, double tolerance,
                 int limit, dls_workspace *workspace, int *iterations, dls_outcome *outcome);

#endif
