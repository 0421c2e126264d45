/* Runs made to be measured, and what analysis finds in them. */
#ifndef DELASSUS_TESTS_SUPPORT_MEASURED_H
#define DELASSUS_TESTS_SUPPORT_MEASURED_H

#include "support/test.h"

#include <delassus/analysis.h>

#define MEASURED_GRAVITY 9.81

#define OK(call)                                                                                             \
    do {                                                                                                     \
        dls_error error_ = {0};                                                                              \
        dls_error *error = &error_;                                                                          \
        if (call) fail_msg("%s", error_.message);                                                            \
    } while (0)

/* Gravity against the last axis. */
dls_world *measured_world(int dimension);
/* A disc or a ball at rest. */
dls_body_id measured_round(dls_world *world, double radius, double x, double y, double z);
/* A static half-plane or half-space at height 0. */
dls_body_id measured_ground(dls_world *world, const char *name);
/* Takes the world, steps it by 1e-3 s and records a frame at the start and after each step; opens the file.
 */
dls_results *measured_run(dls_world *world, const char *path, int steps, bool contacts);

dls_analysis *measured_analysis(dls_results *results, const char *name, const dls_analysis_options *options);
/* spread may be NULL. */
double measured_fact(const dls_analysis *analysis, const char *name, double *spread);
/* The last row's value of a column of the first table. */
double measured_last(const dls_analysis *analysis, const char *column);

#endif
