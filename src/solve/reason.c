/* What an outcome does not tell: whether there is no solution, or sweeps walk on for ever.
 *
 * Two walks of plain sweeps from r, d₁ and then d₂: what converges has d₂ ≪ d₁, what stalls turns about, and
 * where impulses drift d₂ ≈ d₁. Norms are of √w d, w the mean diagonal of W_cc, so that no unit counts. */
#include "solve/reason.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"
#include "solve/sweep/sweep.h"

#include <math.h>
#include <string.h>

/* In packings and walls of boxes that did not converge the cosine was 0.98 to 0.995 and the ratio 1.01
 * to 1.04. */
static const double ALIKE = 0.95;  /* cosine between the two walks */
static const double LASTING = 0.9; /* of the first walk: the length of the second */
/* Sweeps that a solve has cost: where it was given fewer, no one wants to pay as many for the reason. */
static const double WORTH_ASKING = 1000;

enum { WALK = 50 };

_Static_assert((int)DLS_REASONS == DLS_REASON_STOPPED + 1, "a name and a count for each reason");

const char *dls_reason_name(dls_reason reason) {
    static const char *const names[] = {"none",    "contradiction", "drift",  "work",
                                        "stalled", "diverged",      "stopped"};
    return (int)reason >= 0 && (int)reason < (int)DLS_REASONS ? names[reason] : names[0];
}

static dls_reason reason_of(const dls_solve_info *info) {
    switch (info->outcome) {
    case DLS_ITERATION_LIMIT:
        return DLS_REASON_WORK;
    case DLS_STALLED:
        return DLS_REASON_STALLED;
    case DLS_DIVERGED:
        return DLS_REASON_DIVERGED;
    default:
        return DLS_REASON_STOPPED;
    }
}

/* d ← what so many sweeps add to r. */
static void walk(dls_sweep *sweep, double *r, double *d) {
    const dls_problem *p = sweep->visits.problem;
    for (int i = 0; i < p->row_count; i++) d[i] = -r[i];
    for (int k = 0; k < WALK; k++) dls_sweep_run(sweep, r, false);
    dls_sweep_gather(sweep, r);
    for (int i = 0; i < p->row_count; i++) d[i] += r[i];
}

static double weighed_dot(const dls_problem *p, const double *a, const double *b) {
    double sum = 0;
    for (int c = 0; c < p->block_count; c++) {
        double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
        const double *W = dls_diagonal_in(p, c, room);
        int d = dls_size(p, c), row = p->row[c];
        for (int i = 0; i < d; i++) sum += W[i + d * i] * a[row + i] * b[row + i];
    }
    return sum;
}

static dls_status is_drifting(const dls_problem *p, const double *from, dls_workspace *w, bool *drifts,
                              dls_error *error) {
    dls_nlgs_options options = dls_default_nlgs_options();
    dls_sweep sweep;
    double *r = DLS_TAKE(w, double, p->row_count), *d[2];
    for (int k = 0; k < 2; k++) d[k] = DLS_TAKE(w, double, p->row_count);
    if (!r || !d[0] || !d[1]) return dls_fail_memory(error);
    memcpy(r, from, sizeof(double) * (size_t)p->row_count);
    dls_enter_units(p, r);
    dls_status status = dls_sweep_prepare(&sweep, p, &options, w, error);
    if (status) return status;
    dls_sweep_start(&sweep, r);
    for (int k = 0; k < 2; k++) walk(&sweep, r, d[k]);
    double first = sqrt(weighed_dot(p, d[0], d[0])), second = sqrt(weighed_dot(p, d[1], d[1]));
    *drifts = first > 0 && second > LASTING * first && weighed_dot(p, d[0], d[1]) > ALIKE * first * second;
    return DLS_OK;
}

dls_status dls_find_reason(const dls_problem *p, const double *r, dls_workspace *w,
                           const dls_solve_info *info, dls_reason *reason, dls_error *error) {
    dls_workspace_mark mark = dls_workspace_get_mark(w);
    dls_contradiction found;
    bool drifts = false;
    *reason = reason_of(info);
    if ((*reason != DLS_REASON_WORK && *reason != DLS_REASON_STALLED) || !(info->work >= WORTH_ASKING))
        return DLS_OK;
    dls_status status = dls_find_contradiction(p, w, &found, error);
    if (!status && !found.found) status = is_drifting(p, r, w, &drifts, error);
    if (!status && (found.found || drifts))
        *reason = found.found ? DLS_REASON_CONTRADICTION : DLS_REASON_DRIFT;
    dls_workspace_release(w, mark);
    return status;
}
