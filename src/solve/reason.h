/* Why a solution misses its tolerance. */
#ifndef SOLVE_REASON_H
#define SOLVE_REASON_H

#include "solve/solve.h"

/* Of r, which the judge did not certify, as a solver left it with info. Costs some hundred sweeps, some
 * thousand where contacts contradict each other, and none where the solver itself had few. */
dls_status dls_find_reason(const dls_problem *problem, const double *r, dls_workspace *workspace,
                           const dls_solve_info *info, dls_reason *reason, dls_error *error);

#endif
