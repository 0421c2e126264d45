/* The same problem with W stored, by what any operator tells of its blocks. */
#include "base/error.h"
#include "base/memory.h"
#include "base/simd.h"
#include "problem/matrix.h"
#include "problem/operator/bodies.h"

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

dls_status dls_problem_assemble_in(const dls_problem *p, dls_workspace *workspace, dls_problem **stored,
                                   dls_error *error) {
    *stored = NULL;
    int *sizes = p->uniform ? NULL : DLS_NEW(int, p->block_count);
    if (!sizes && !p->uniform) return dls_fail_memory(error);
    dls_problem_def def = describe(p, sizes);
    dls_problem *s;
    dls_status status = dls_problem_begin(&def, workspace, &s, error);
    dls_free(sizes);
    if (status) return status;
    s->op = &dls_operator_stored;
    s->body_count = p->body_count;
    for (int c = 0; c < p->block_count; c++) {
        int64_t d = dls_size(p, c);
        double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
        memcpy(dls_diagonal_place(s, c), dls_diagonal_in(p, c, room), sizeof(double) * (size_t)(d * d));
    }
    status = assemble_rows(p, s, error);
    if (!status) status = dls_problem_finish(s, error);
    if (!status && p->unit) status = copy_units(p, s, error);
    if (status)
        dls_problem_destroy(s);
    else
        *stored = s;
    return status;
}

dls_status dls_problem_assemble(const dls_problem *p, dls_problem **stored, dls_error *error) {
    dls_error_clear(error);
    if (!p || !stored)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a problem and a place for the result are needed");
    return dls_problem_assemble_in(p, NULL, stored, error);
}
