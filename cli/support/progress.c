/* Iteration, residual, and how fast it falls. */
#include "cli/support/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double REWRITE_SECONDS = 0.1; /* slow enough to read, too slow to cost anything */

progress progress_begin(double tolerance) {
    const char *terminal = getenv("TERM");
    bool live = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
    return (progress){live, tolerance, REWRITE_SECONDS, 0, nan("")};
}

void progress_text(const progress *p, const char *format, ...) {
    if (!p->live) return;
    va_list arguments;
    va_start(arguments, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
}

void progress_show(progress *p, const dls_iterate *now) {
    if (!p->live || now->seconds < p->next_seconds) return;
    p->next_seconds = now->seconds + REWRITE_SECONDS;
    int steps = now->iteration - p->last_iteration;
    double decades = steps > 0 ? log10(p->last_residual / now->residual) / steps : nan("");
    if (isfinite(decades) && decades > 0)
        progress_text(p, "iteration %d   residual %.2e (to %.0e)   %.3g iterations per digit   %.1f s",
                      now->iteration, now->residual, p->tolerance, 1 / decades, now->seconds);
    else
        progress_text(p, "iteration %d   residual %.2e (to %.0e)   %.1f s", now->iteration, now->residual,
                      p->tolerance, now->seconds);
    p->last_iteration = now->iteration;
    p->last_residual = now->residual;
}

void progress_end(const progress *p) { progress_text(p, "%s", ""); }
