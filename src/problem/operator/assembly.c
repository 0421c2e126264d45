/* The same problem kept otherwise: with W stored, by what any operator tells of its blocks, or by rows of G.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/simd.h"
#include "problem/matrix.h"
#include "problem/operator/bodies.h"
#include "problem/operator/body_rows.h"

#include <assert.h>
#include <string.h>

static dls_status assemble_rows(const dls_problem *p, dls_problem *s, dls_error *error) {
    int n = p->block_count;
    dls_block_matrix *W = s->data = dls_problem_take(s, 1, sizeof *W);
    if (!W) return dls_fail_memory(error);
    W->start = dls_problem_take(s, n + 1, sizeof(int64_t));
    if (!W->start) return dls_fail_memory(error);
    for (int c = 0; c < n; c++) W->start[c + 1] = W->start[c] + p->op->coupled(p, c, NULL);
    W->column = dls_problem_take(s, W->start[n], sizeof(int));
    if (!p->uniform) W->value_start = dls_problem_take(s, W->start[n] + 1, sizeof(int64_t));
    if (!W->column || (!p->uniform && !W->value_start)) return dls_fail_memory(error);
    int64_t values = 0;
    for (int c = 0; c < n; c++) {
        p->op->coupled(p, c, W->column + W->start[c]);
        for (int64_t k = W->start[c]; k < W->start[c + 1]; k++) {
            if (W->value_start) W->value_start[k] = values;
            values += (int64_t)dls_size(p, c) * dls_size(p, W->column[k]);
        }
    }
    if (W->value_start) W->value_start[W->start[n]] = values;
    W->value = dls_problem_take(s, values + DLS_SIMD_PAD, sizeof(double));
    if (!W->value) return dls_fail_memory(error);
    for (int c = 0; c < n; c++)
        for (int64_t k = W->start[c]; k < W->start[c + 1]; k++)
            p->op->block(p, c, k - W->start[c], W->column[k], dls_block_value(s, W, k, dls_size(p, c)));
    return DLS_OK;
}

/* A definition that describes p again; sizes holds block sizes where they differ. */
static dls_problem_def describe(const dls_problem *p, int *sizes) {
    for (int c = 0; sizes && c < p->block_count; c++) sizes[c] = dls_size(p, c);
    return (dls_problem_def){.block_count = p->block_count,
                             .dimension = p->uniform,
                             .block_size = sizes,
                             .block_kind = p->kind,
                             .block_parts = p->parts,
                             .mu = p->mu,
                             .mu_rolling = p->mu_rolling,
                             .mu_spinning = p->mu_spinning,
                             .low = p->low,
                             .high = p->high,
                             .b = p->b,
                             .reference_velocity = p->reference_velocity,
                             .speed = p->speed,
                             .block_inverse_mass = p->inverse_mass};
}

/* Rows are multiplied already; what users see follows from the same units. */
static dls_status copy_units(const dls_problem *p, dls_problem *s, dls_error *error) {
    s->unit = dls_problem_take(s, s->row_count, sizeof(double));
    s->given_b = dls_problem_take(s, s->row_count, sizeof(double));
    if (!s->unit || !s->given_b) return dls_fail_memory(error);
    for (int i = 0; i < s->row_count; i++) {
        s->unit[i] = p->unit[i];
        s->given_b[i] = p->given_b[i];
    }
    return DLS_OK;
}

/* As p, with nothing of W yet. */
static dls_status begin_copy(const dls_problem *p, const dls_operator *op, dls_workspace *workspace,
                             dls_problem **copy, dls_error *error) {
    int *sizes = p->uniform ? NULL : DLS_NEW(int, p->block_count);
    *copy = NULL;
    if (!sizes && !p->uniform) return dls_fail_memory(error);
    dls_problem_def def = describe(p, sizes);
    dls_status status = dls_problem_begin(&def, workspace, copy, error);
    dls_free(sizes);
    if (status) return status;
    (*copy)->op = op;
    (*copy)->body_count = p->body_count;
    return DLS_OK;
}

/* Nothing is left of what failed. */
static dls_status end_copy(const dls_problem *p, dls_status status, dls_problem **copy, dls_error *error) {
    if (!status) status = dls_problem_settle(*copy, error);
    if (!status && p->unit) status = copy_units(p, *copy, error);
    if (!status) return DLS_OK;
    dls_problem_destroy(*copy);
    *copy = NULL;
    return status;
}

dls_status dls_problem_assemble_in(const dls_problem *p, dls_workspace *workspace, dls_problem **stored,
                                   dls_error *error) {
    dls_status status = begin_copy(p, &dls_operator_stored, workspace, stored, error);
    if (status) return status;
    for (int c = 0; c < p->block_count; c++) {
        int64_t d = dls_size(p, c);
        double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
        memcpy(dls_diagonal_place(*stored, c), dls_diagonal_in(p, c, room), sizeof(double) * (size_t)(d * d));
    }
    return end_copy(p, assemble_rows(p, *stored, error), stored, error);
}

dls_status dls_problem_assemble(const dls_problem *p, dls_problem **stored, dls_error *error) {
    dls_error_clear(error);
    if (!p || !stored)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a problem and a place for the result are needed");
    return dls_problem_assemble_in(p, NULL, stored, error);
}

/* ---- the same problem by rows of G ---- */

/* Rows beside balls have two numbers more, which are 0. */
static bool is_padded(const dls_body_rows *B) { return B->round && B->dof == ROUND_STATE; }
static int dof_of(const dls_body_rows *B) { return is_padded(B) ? 6 : B->dof; }

static void copy_side(const dls_problem *p, int c, int side, int width, double *to) {
    const dls_body_rows *A = dls_rows_of(p);
    double room[DLS_MAX_BLOCK * ROUND_STATE];
    const double *G = dls_rows_in(p, c, side, room);
    bool padded = is_padded(A);
    int d = dls_size(p, c), dof = A->dof;
    for (int i = 0; i < d; i++)
        for (int k = 0; k < width; k++) to[i * width + k] = G[i * dof + (padded && k >= 3 ? k + 1 : k)];
}

static dls_status copy_rows(const dls_problem *p, dls_problem *s, dls_error *error) {
    const dls_body_rows *A = dls_rows_of(p);
    dls_body_rows *B = s->data = dls_problem_take(s, 1, sizeof *B);
    if (!B) return dls_fail_memory(error);
    int dof = dof_of(A), n = p->block_count;
    B->dof = B->stride = B->widest = dof;
    B->body = dls_problem_take(s, 2 * (int64_t)n, sizeof(int));
    B->G = dls_problem_take(s, 2 * (int64_t)p->row_count * dof, sizeof(double));
    if (!p->uniform) B->row_start = dls_problem_take(s, n, sizeof(int64_t));
    if (!B->body || !B->G || (!p->uniform && !B->row_start)) return dls_fail_memory(error);
    memcpy(B->body, A->body, sizeof(int) * 2 * (size_t)n);
    for (int c = 0; c < n; c++) {
        int d = dls_size(p, c);
        double *W = dls_diagonal_place(s, c), *G = B->G + 2 * (int64_t)p->row[c] * dof;
        if (B->row_start) B->row_start[c] = 2 * (int64_t)p->row[c] * dof;
        for (int side = 0; side < 2; side++, G += d * dof) {
            if (B->body[2 * c + side] < 0) continue;
            copy_side(p, c, side, dof, G);
            body_outer(d, d, dof, G, G, W);
        }
    }
    return dls_bodies_list_entries(s, error);
}

bool dls_problem_has_rows(const dls_problem *p) {
    if (p->op != &dls_operator_bodies || p->contact_count != p->block_count) return false;
    return !dls_rows_of(p)->tails && !dls_rows_of(p)->width && !dls_rows_of(p)->compliance;
}

dls_side_matrix dls_problem_rows(const dls_problem *p) {
    const dls_body_rows *B = dls_rows_of(p);
    return (dls_side_matrix){dof_of(B), B->body, B->G, B->start, B->entry};
}

dls_status dls_problem_copy_rows(const dls_problem *p, dls_problem **copy, dls_error *error) {
    assert(dls_problem_has_rows(p));
    dls_status status = begin_copy(p, &dls_operator_bodies, NULL, copy, error);
    return status ? status : end_copy(p, copy_rows(p, *copy, error), copy, error);
}
