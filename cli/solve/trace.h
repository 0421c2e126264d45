/* The history of a solve: iteration, time and residual, kept in memory and written as CSV. */
#ifndef CLI_SOLVE_TRACE_H
#define CLI_SOLVE_TRACE_H

#include "cli/support/output_file.h"

#include <delassus/solve.h>

typedef struct trace_point {
    int iteration;
    bool exact; /* a true measure, not the solver's estimate */
    double seconds, residual;
} trace_point;

typedef struct trace {
    size_t count;
    trace_point *points;
} trace;

void trace_add(trace *t, const dls_iterate *iterate);
void trace_write(const trace *t, FILE *file);
void trace_release(trace *t);

#endif
