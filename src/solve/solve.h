/* What solvers share: their rows, the stop test, and the best iterate under the judge. */
#ifndef SOLVE_SOLVE_H
#define SOLVE_SOLVE_H

#include "problem/problem.h"
#include <delassus/solve.h>

extern const dls_solver dls_solver_auto, dls_solver_nlgs, dls_solver_newton, dls_solver_ipm, dls_solver_apgd,
    dls_solver_pqn;

/* A row that can be called, in the table or not. */
dls_status dls_solver_check(const dls_solver *solver, dls_error *error);
/* Who keeps a solver for later: a row of a user stays registered as long. */
void dls_solver_hold(const dls_solver *solver);
void dls_solver_drop(const dls_solver *solver);

/* dls_solve for time steps: of the measures only residual, max_error and held are filled in. */
dls_status dls_solve_step(const dls_problem *problem, const dls_solver *solver, const void *options,
                          double *r, double *u, dls_workspace *workspace, dls_solve_info *info,
                          dls_error *error);

/* The same for a part of a larger problem, which is judged and timed as a whole: neither is done here. */
dls_status dls_solve_part(const dls_problem *problem, const dls_solver *solver, const void *options,
                          double *r, dls_workspace *workspace, dls_solve_info *info, dls_error *error);

/* The judge's word on r, in the units inside, as dls_solve_step has it: fills in the measures, and u. */
dls_status dls_certify_step(const dls_problem *problem, const dls_stop_options *stop, double *r, double *u,
                            dls_workspace *workspace, dls_solve_info *info, dls_error *error);

/* Flops of one sweep with its laws, by which work is counted. */
double dls_sweep_flops(const dls_problem *problem);

/* Takes so many flops, which a step has cost so far, off the bound on work that auto has on problem p; others
 * have none. */
void dls_solver_spend(const dls_solver *solver, const dls_problem *p, double flops, void *options);

/* Follows a solve: measures iterates, keeps the best, and knows when to stop. */
typedef struct dls_monitor {
    const dls_problem *problem;
    const dls_stop_options *stop;
    double *best; /* the best iterate so far */
    double *u, *state;
    double *shown;            /* an iterate in the units of the user, where these are others */
    double best_value, value; /* of the stop measure: least so far, and last */
    double scale;             /* ‖s‖ of the judge where it was last asked, m/s */
    double began;
    int best_iteration;
    int earlier; /* iterations of solvers that ran before, for the callback */
} dls_monitor;

bool dls_monitor_prepare(dls_monitor *monitor, const dls_problem *problem, const dls_stop_options *stop,
                         dls_workspace *workspace);
/* Measures r by the stop measure (increment: what the solver found itself), keeps it when it is the best. */
double dls_monitor_measure(dls_monitor *monitor, const double *r, int iteration, double increment);
/* Measures the start. */
double dls_monitor_start(dls_monitor *monitor, const double *r);
/* The same as dls_monitor_measure where u = W r + b is at hand. */
double dls_monitor_measure_pair(dls_monitor *monitor, const double *r, const double *u, int iteration);
/* Enters r with a value that the solver found itself. */
double dls_monitor_enter(dls_monitor *monitor, const double *r, int iteration, double value);
/* Tells the callback; false when it cancels. */
bool dls_monitor_report(const dls_monitor *monitor, const double *r, int iteration, double residual,
                        bool exact);
bool dls_monitor_out_of_time(const dls_monitor *monitor);

#endif
