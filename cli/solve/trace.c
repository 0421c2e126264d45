/* The file is written after the clock has stopped. */
#include "cli/solve/trace.h"

#include "cli/support/report.h"

#include <stdlib.h>

void trace_add(trace *t, const dls_iterate *now) {
    t->points = report_grow(t->points, t->count, sizeof *t->points);
    t->points[t->count++] = (trace_point){now->iteration, now->exact, now->seconds, now->residual};
}

void trace_write(const trace *t, FILE *file) {
    fputs("iteration,seconds,residual,exact\n", file);
    for (size_t i = 0; i < t->count; i++)
        fprintf(file, "%d,%.9f,%.17g,%d\n", t->points[i].iteration, t->points[i].seconds,
                t->points[i].residual, t->points[i].exact);
}

void trace_release(trace *t) {
    free(t->points);
    *t = (trace){0};
}
