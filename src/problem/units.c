/* Units of rows. Friction torques and joints bring rows in rad/s beside those in m/s; no sum, step length or
 * residual over them would mean anything. Inside the library each row is multiplied by its unit, so that all
 * are velocities in m/s and impulses in N s; users see their own:
 *
 *     rolling and spinning parts   ℓ_k² = mean diagonal of the normal and tangential rows / of the part's
 *     rows of intervals            w_i² = w̄ / W_ii
 *     W ← S W S,  b ← S b,  r ← S⁻¹ r,  u ← S u,  μ_k ← μ_k/ℓ_k,  bounds ← S⁻¹ bounds */
#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"
#include "problem/definition.h"
#include "problem/matrix.h"

#include <math.h>
#include <string.h>

static double mean_diagonal(const double *W, int d, int first, int count) {
    double sum = 0;
    for (int i = first; i < first + count; i++) sum += W[i + d * i];
    return sum / count;
}

/* ℓ of `count` rows from `first` on, behind the translations; 1 where nothing turns. */
static double part_length(const double *W, int d, int translations, int first, int count) {
    double part = mean_diagonal(W, d, first, count);
    return part > 0 ? sqrt(mean_diagonal(W, d, 0, translations) / part) : 1;
}

/* S of the rows of a contact; μ of its angular parts. */
void dls_find_contact_units(dls_problem *p, int c, double *S) {
    int d = dls_size(p, c), parts = dls_parts_of(p, c), translations = 1 + (parts & 3), at = translations;
    const double *W = dls_diagonal(p, c);
    for (int k = 1; k < 3; k++) {
        int size = parts >> 2 * k & 3;
        if (!size) continue;
        double length = part_length(W, d, translations, at, size);
        *(k == 1 ? &p->mu_rolling[c] : &p->mu_spinning[c]) /= length;
        for (int i = 0; i < size; i++) S[at++] = length;
    }
}

void dls_find_row_units(const dls_problem *p, int c, double *S) {
    const double *W = dls_diagonal(p, c);
    for (int i = 0, d = dls_size(p, c); i < d; i++) S[i] = sqrt(p->inverse_mass[c] / W[i + d * i]);
}

static dls_status check_units(const dls_problem *p, dls_error *error) {
    for (int c = 0; c < p->block_count && p->parts; c++)
        if (isinf(p->mu_rolling[c]) || isinf(p->mu_spinning[c]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "rolling or spinning friction of contact %d is out of proportion with its W", c);
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1]; i++)
            if (!(p->unit[i] > 0) || isinf(p->unit[i]))
                return dls_fail(error, DLS_ERROR_INPUT,
                                "row %d of block %d is out of proportion with the others: W_ii is %g",
                                i - p->row[c], c, dls_diagonal(p, c)[(i - p->row[c]) * (dls_size(p, c) + 1)]);
    return DLS_OK;
}

dls_status dls_problem_take_units(dls_problem *p, dls_error *error) {
    size_t bytes = sizeof(double) * (size_t)p->row_count;
    if ((!p->parts && p->contact_count == p->block_count) || !p->op->rescale) return DLS_OK;
    p->unit = dls_problem_take(p, p->row_count, sizeof(double));
    p->given_b = dls_problem_take(p, p->row_count, sizeof(double));
    if (!p->unit || !p->given_b) return dls_fail_memory(error);
    memcpy(p->given_b, p->b, bytes);
    for (int c = 0; c < p->block_count; c++) {
        double *S = p->unit + p->row[c];
        for (int i = 0; i < dls_size(p, c); i++) S[i] = 1;
        if (p->kind[c] == DLS_CONTACT) dls_find_contact_units(p, c, S);
    }
    dls_status status = check_units(p, error);
    if (!status) status = dls_problem_rescale(p, p->unit, error);
    if (status || p->contact_count == p->block_count) return status;
    double *S = DLS_NEW(double, p->row_count); /* w̄ follows from contacts, so that these come first */
    if (!S) return dls_fail_memory(error);
    for (int i = 0; i < p->row_count; i++) S[i] = 1;
    for (int c = 0; c < p->block_count; c++)
        if (p->kind[c] == DLS_INTERVAL) dls_find_row_units(p, c, S + p->row[c]);
    for (int i = 0; i < p->row_count; i++) p->unit[i] *= S[i];
    status = check_units(p, error);
    if (!status) status = dls_problem_rescale(p, S, error);
    dls_free(S);
    return status;
}

dls_status dls_problem_rescale(dls_problem *p, const double *S, dls_error *error) {
    p->op->rescale(p, S);
    for (int i = 0; i < p->row_count; i++) {
        p->b[i] *= S[i];
        if (!p->low) continue;
        p->low[i] /= S[i];
        p->high[i] /= S[i];
    }
    return dls_problem_settle(p, error);
}

void dls_enter_units(const dls_problem *p, double *r) {
    for (int i = 0; p->unit && i < p->row_count; i++) r[i] /= p->unit[i];
}

void dls_leave_units(const dls_problem *p, double *r, double *u) {
    for (int i = 0; p->unit && i < p->row_count; i++) {
        if (r) r[i] *= p->unit[i];
        if (u) u[i] /= p->unit[i];
    }
}

/* ---- what users see ---- */

static bool has_block(const dls_problem *p, int block) { return block >= 0 && block < p->block_count; }

/* ℓ of part k of a contact: that of its first row. */
static double length_of(const dls_problem *p, int c, int k) {
    uint8_t parts = dls_parts_of(p, c);
    int at = p->row[c] + 1 + dls_parts_rows(parts & (k == 1 ? DLS_PARTS(3, 0, 0) : DLS_PARTS(3, 3, 0)));
    return p->unit && (parts >> 2 * k & 3) ? p->unit[at] : 1;
}

double dls_problem_mu(const dls_problem *p, int block) { return has_block(p, block) ? p->mu[block] : 0; }

double dls_problem_mu_rolling(const dls_problem *p, int block) {
    return has_block(p, block) && p->parts ? p->mu_rolling[block] * length_of(p, block, 1) : 0;
}

double dls_problem_mu_spinning(const dls_problem *p, int block) {
    return has_block(p, block) && p->parts ? p->mu_spinning[block] * length_of(p, block, 2) : 0;
}

static double bound_of(const dls_problem *p, const double *bounds, int row, double none) {
    if (!bounds || row < 0 || row >= p->row_count) return none;
    return p->unit ? bounds[row] * p->unit[row] : bounds[row];
}

double dls_problem_low(const dls_problem *p, int row) { return bound_of(p, p->low, row, -HUGE_VAL); }
double dls_problem_high(const dls_problem *p, int row) { return bound_of(p, p->high, row, HUGE_VAL); }

void dls_problem_diagonal_block(const dls_problem *p, int block, double *Wcc) {
    if (!has_block(p, block)) return;
    int d = dls_size(p, block);
    double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    const double *W = dls_diagonal_in(p, block, room), *S = p->unit ? p->unit + p->row[block] : NULL;
    for (int k = 0; k < d * d; k++) Wcc[k] = S ? W[k] / (S[k % d] * S[k / d]) : W[k];
}

/* u = W r + b in the user's units, with the operator's state in scratch. */
static dls_status velocity_in(const dls_problem *p, const double *r, double *u, dls_workspace *w,
                              dls_error *error) {
    double *state = DLS_TAKE(w, double, p->op->state_size(p));
    double *inside = p->unit ? DLS_TAKE(w, double, p->row_count) : NULL;
    if (!state || (p->unit && !inside)) return dls_fail_memory(error);
    for (int i = 0; inside && i < p->row_count; i++) inside[i] = r[i] / p->unit[i];
    dls_velocity(p, inside ? inside : r, u, state, 1);
    dls_leave_units(p, NULL, u);
    return DLS_OK;
}

dls_status dls_problem_velocity(const dls_problem *p, const double *r, double *u, dls_workspace *workspace,
                                dls_error *error) {
    dls_error_clear(error);
    if (!p || (p->row_count && (!r || !u)))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "problem, r and u are needed, got NULL");
    dls_workspace *w = workspace ? workspace : dls_workspace_create();
    if (!w) return dls_fail_memory(error);
    dls_workspace_mark mark = dls_workspace_get_mark(w);
    dls_status status = velocity_in(p, r, u, w, error);
    dls_workspace_release(w, mark);
    if (!workspace) dls_workspace_destroy(w);
    return status;
}
