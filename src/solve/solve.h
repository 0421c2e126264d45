/* What solvers share: their rows, the stop test, and the best iterate under the judge. */
#ifndef SOLVE_SOLVE_H
#define SOLVE_SOLVE_H

#include "problem/problem.h"
#include <delassus/solve.h>

extern const dls_solver dls_solver_nlgs;

/* The fields of dls_stop_options, for the head of a solver's own table. */
#define DLS_STOP_FIELDS(type)                                                                                \
    {"stop",                                                                                                 \
     DLS_FIELD_CHOICE,                                                                                       \
     offsetof(type, stop.measure),                                                                           \
     0,                                                                                                      \
     0,                                                                                                      \
     "residual|max_error|residual_full|natural_map|fclib_merit|siconos_error|eps_glob|merit_g|apgd_"         \
     "residual|"                                                                                             \
     "complementarity|penetration|cone_violation|increment",                                                 \
     "1",                                                                                                    \
     "what is compared with the tolerance"},                                                                 \
        {"tol",                                                                                              \
         DLS_FIELD_REAL,                                                                                     \
         offsetof(type, stop.tolerance),                                                                     \
         0,                                                                                                  \
         1e300,                                                                                              \
         NULL,                                                                                               \
         "1",                                                                                                \
         "tolerance of the stop measure"},                                                                   \
        {"max-iter", DLS_FIELD_INT,    offsetof(type, stop.max_iterations), 0, 2e9, NULL,                    \
         "1",        "most iterations"},                                                                     \
        {"time-limit",                                                                                       \
         DLS_FIELD_REAL,                                                                                     \
         offsetof(type, stop.time_limit),                                                                    \
         0,                                                                                                  \
         1e9,                                                                                                \
         NULL,                                                                                               \
         "s",                                                                                                \
         "most wall time; 0 for none"},                                                                      \
        {"check-interval",                                                                                   \
         DLS_FIELD_INT,                                                                                      \
         offsetof(type, stop.check_interval),                                                                \
         0,                                                                                                  \
         2e9,                                                                                                \
         NULL,                                                                                               \
         "1",                                                                                                \
         "iterations between true measures; 0: when a free estimate asks for one"},                          \
    {                                                                                                        \
        "threads", DLS_FIELD_INT, offsetof(type, stop.threads), 1, 1024, NULL, "1",                          \
            "threads; results have the same bits for any number"                                             \
    }

dls_stop_options dls_default_stop_options(void);

/* Follows a solve: measures iterates, keeps the best, and knows when to stop. */
typedef struct dls_monitor {
    const dls_problem *problem;
    const dls_stop_options *stop;
    double *best; /* the best iterate so far */
    double *u, *state;
    double best_value, value; /* of the stop measure: least so far, and last */
    double began;
    int best_iteration;
} dls_monitor;

bool dls_monitor_prepare(dls_monitor *monitor, const dls_problem *problem, const dls_stop_options *stop,
                         dls_workspace *workspace);
/* Measures r by the stop measure (increment: what the solver found itself), keeps it when it is the best. */
double dls_monitor_measure(dls_monitor *monitor, const double *r, int iteration, double increment);
/* Tells the callback; false when it cancels. */
bool dls_monitor_report(const dls_monitor *monitor, const double *r, int iteration, double residual,
                        bool exact);
bool dls_monitor_out_of_time(const dls_monitor *monitor);

#endif
