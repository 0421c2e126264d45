/* One line on stderr that is rewritten while a solve runs; nothing where stderr is no terminal. */
#ifndef CLI_SUPPORT_PROGRESS_H
#define CLI_SUPPORT_PROGRESS_H

#include <delassus/solve.h>

typedef struct progress {
    bool live;
    double tolerance;
    double next_seconds; /* no sooner is the line rewritten */
    int last_iteration;
    double last_residual; /* at the line before, for the rate */
} progress;

progress progress_begin(double tolerance);
void progress_show(progress *p, const dls_iterate *iterate);
void progress_text(const progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_end(const progress *p);

#endif
