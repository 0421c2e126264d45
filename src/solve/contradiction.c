/* Contacts that contradict each other: proof that a problem has no solution.
 *
 *     W λ = 0,  b·λ < 0,  λ_n ≥ 0 and λ_k = 0 at contacts, λ of any sign in rows without bounds
 *
 * With u = W r + b then λ·u = λ·b < 0 for every r, but u_n ≥ 0 at contacts and u = 0 in these rows ask
 * for λ·u ≥ 0. Where the problem without friction has no solution, Gauss–Seidel sweeps on it walk away along
 * such a λ: it is what one half of them adds to the other. */
#include "base/error.h"
#include "base/memory.h"
#include "solve/solve.h"
#include "solve/sweep/sweep.h"

#include <math.h>
#include <string.h>

static const double AMPLE = 1e6;   /* natural impulses: no solution is as large as so many of them */
static const double FADING = 0.05; /* of the walk before: what fades so fast has an end */
static const double SHARE = 1e-3;  /* of the largest λ: blocks with less do not take part */

enum { FIRST_SWEEPS = 64, MOST_SWEEPS = 4096 };

typedef struct proof {
    const dls_problem *problem;
    dls_problem frictionless;
    dls_sweep sweep;
    double *r, *lambda, *moved, *state;
} proof;

static dls_status prepare(proof *x, const dls_problem *p, dls_workspace *w, dls_error *error) {
    size_t n = (size_t)p->row_count;
    double *mu = DLS_TAKE_ZERO(w, double, p->block_count);
    x->problem = p;
    x->frictionless = *p;
    x->frictionless.mu = mu;
    if (p->parts) x->frictionless.mu_rolling = x->frictionless.mu_spinning = mu;
    x->r = DLS_TAKE_ZERO(w, double, n);
    x->lambda = DLS_TAKE(w, double, n);
    x->moved = DLS_TAKE(w, double, n);
    x->state = DLS_TAKE(w, double, p->op->state_size(p));
    if (!mu || !x->r || !x->lambda || !x->moved || !x->state) return dls_fail_memory(error);
    dls_nlgs_options options = dls_default_nlgs_options();
    dls_status status = dls_sweep_prepare(&x->sweep, &x->frictionless, &options, w, error);
    if (!status) dls_sweep_start(&x->sweep, x->r);
    return status;
}

/* What a proof may take of λ in row i of block c. u ≥ 0 holds of normals and where r has no bound above, u ≤
 * 0 where it has none below; of what is bounded on both sides nothing is known. */
static double admitted(const dls_problem *p, int c, int i, double lambda) {
    int row = p->row[c] + i;
    if (p->kind[c] == DLS_CONTACT) return i ? 0 : fmax(lambda, 0);
    bool below = p->low && isfinite(p->low[row]), above = p->low && isfinite(p->high[row]);
    return below && above ? 0 : below ? fmax(lambda, 0) : above ? fmin(lambda, 0) : lambda;
}

/* λ: what so many sweeps add to r, without what pulls or rubs at contacts; returns Σ|λ|. */
static double walk(proof *x, int sweeps) {
    const dls_problem *p = x->problem;
    double sum = 0;
    memcpy(x->lambda, x->r, sizeof(double) * (size_t)p->row_count);
    for (int k = 0; k < sweeps; k++) dls_sweep_run(&x->sweep, x->r, false);
    for (int c = 0; c < p->block_count; c++)
        for (int i = 0; i < dls_size(p, c); i++) {
            double *l = &x->lambda[p->row[c] + i];
            *l = x->r[p->row[c] + i] - *l;
            *l = admitted(p, c, i, *l);
            sum += fabs(*l);
        }
    return sum;
}

/* Σ|b_c|/W_cc: the impulses that would stop all approaches one by one. */
static double natural_impulse(const dls_problem *p) {
    double sum = 0;
    for (int c = 0; c < p->block_count; c++) {
        double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
        const double *W = dls_diagonal_in(p, c, room);
        for (int i = 0, d = dls_size(p, c); i < d; i++)
            if (W[i + d * i] > 0) sum += fabs(p->b[p->row[c] + i]) / W[i + d * i];
    }
    return sum;
}

/* λ·u ≤ λ·b + max|Wλ| Σ|r| is negative for all r with a smaller Σ|r| than this. */
static double valid_impulse(proof *x) {
    const dls_problem *p = x->problem;
    double most = 0, work = 0;
    p->op->product(p, x->lambda, x->moved, x->state, 1);
    for (int i = 0; i < p->row_count; i++) {
        most = fmax(most, fabs(x->moved[i]));
        work += p->b[i] * x->lambda[i];
    }
    return work < 0 ? -work / most : 0;
}

static double size_of(const proof *x, int c) {
    double largest = 0;
    for (int i = x->problem->row[c]; i < x->problem->row[c] + dls_size(x->problem, c); i++)
        largest = fmax(largest, fabs(x->lambda[i]));
    return largest;
}

/* Those with the largest λ, in their order. */
static void name_blocks(const proof *x, dls_contradiction *found) {
    double largest = 0;
    for (int c = 0; c < x->problem->block_count; c++) largest = fmax(largest, size_of(x, c));
    for (int c = 0; c < x->problem->block_count; c++) {
        if (!(size_of(x, c) > SHARE * largest)) continue;
        if (found->block_count < DLS_CONTRADICTION_BLOCKS) found->blocks[found->block_count] = c;
        found->block_count++;
    }
}

/* In the units of the user: λ·u = λ·b, and one row at least is off by the mean. */
static void conclude(const proof *x, double impulse, dls_contradiction *found) {
    const dls_problem *p = x->problem;
    double work = 0, sum = 0;
    for (int i = 0; i < p->row_count; i++) {
        work += p->b[i] * x->lambda[i];
        sum += fabs(x->lambda[i]) * (p->unit ? p->unit[i] : 1);
    }
    found->found = true;
    found->closing = -work / sum;
    found->impulse = impulse;
    name_blocks(x, found);
}

static void search(proof *x, dls_contradiction *found) {
    double pace = 0, ample = AMPLE * natural_impulse(x->problem);
    for (int sweeps = FIRST_SWEEPS; sweeps <= MOST_SWEEPS; sweeps *= 2) {
        double sum = walk(x, sweeps), impulse = sum > 0 && isfinite(sum) ? valid_impulse(x) : 0;
        if (impulse > ample) {
            conclude(x, impulse, found);
            return;
        }
        if (!(sum / sweeps > FADING * pace)) return;
        pace = sum / sweeps;
    }
}

dls_status dls_find_contradiction(const dls_problem *p, dls_workspace *workspace, dls_contradiction *found,
                                  dls_error *error) {
    dls_error_clear(error);
    if (!p || !found) return dls_fail(error, DLS_ERROR_ARGUMENT, "problem and found are needed, got NULL");
    *found = (dls_contradiction){.found = false};
    if (p->row_count == 0) return DLS_OK;
    dls_workspace *w = workspace ? workspace : dls_workspace_create();
    if (!w) return dls_fail_memory(error);
    dls_workspace_mark mark = dls_workspace_get_mark(w);
    proof x;
    dls_status status = prepare(&x, p, w, error);
    if (!status) search(&x, found);
    dls_workspace_release(w, mark);
    if (!workspace) dls_workspace_destroy(w);
    return status;
}
