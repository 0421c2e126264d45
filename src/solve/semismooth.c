#include "solve/semismooth.h"

#include <math.h>

/* So many updates are remembered to find those that come again. */
enum { MEMORY = 8, TRIED = 12 };

/* ‖R‖∞; not a number where any is none. */
static double norm_of(int n, const double *R, const double *weight) {
    double largest = 0;
    for (int i = 0; i < n; i++) {
        double entry = fabs(R[i]) * (weight ? weight[i] : 1);
        if (!(entry <= largest)) largest = entry;
    }
    return largest;
}

typedef struct trace {
    uint64_t pieces[MEMORY];
    double norm[MEMORY];
} trace;

/* Sets that come again with a norm that comes again do so for ever. */
static bool came_before(const trace *past, int updates, uint64_t pieces, double norm) {
    for (int i = updates < MEMORY ? 0 : updates - MEMORY; i < updates; i++)
        if (past->pieces[i % MEMORY] == pieces && fabs(past->norm[i % MEMORY] - norm) <= 1e-9 * norm)
            return true;
    return false;
}

dls_newton_end dls_newton_piecewise(const dls_piecewise *problem, double *x, double *R, double *step,
                                    double tolerance, int max_updates, int *updates, double *norm) {
    trace past;
    for (*updates = 0;; (*updates)++) {
        uint64_t pieces = 0;
        if (!problem->residual(problem->user, x, R, &pieces)) return DLS_NEWTON_UNDEFINED;
        *norm = norm_of(problem->n, R, problem->weight);
        if (!isfinite(*norm)) return DLS_NEWTON_UNDEFINED;
        if (*norm <= tolerance) return DLS_NEWTON_SOLVED;
        if (*updates == max_updates) return DLS_NEWTON_EXHAUSTED;
        if (*updates >= TRIED && came_before(&past, *updates, pieces, *norm)) return DLS_NEWTON_CYCLING;
        past.pieces[*updates % MEMORY] = pieces, past.norm[*updates % MEMORY] = *norm;
        if (!problem->solve(problem->user, x, R, step)) return DLS_NEWTON_SINGULAR;
        for (int i = 0; i < problem->n; i++) x[i] -= step[i];
    }
}
