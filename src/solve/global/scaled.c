#include "solve/global/scaled.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>

static void fill_scale(const dls_problem *p, double *S) {
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c);
        double room[DLS_ROUND_DIAGONAL];
        const double *W = dls_diagonal_in(p, c, room);
        for (int i = 0; i < d; i++)
            S[p->row[c] + i] = 1 / sqrt(p->kind[c] == DLS_CONTACT ? p->scale[c] : W[i + d * i]);
    }
}

static void scale_block(int rows, int columns, const double *left, const double *right, double *W) {
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) W[i + rows * j] *= left[i] * right[j];
}

/* In place, on a problem of our own. */
static void scale_problem(dls_problem *p, const double *S) {
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c), row = p->row[c];
        scale_block(d, d, S + row, S + row,
                    p->diagonal + (p->uniform ? (int64_t)c * d * d : p->diagonal_start[c]));
        for (int64_t k = p->blocks.start[c]; k < p->blocks.start[c + 1]; k++) {
            int j = p->blocks.column[k];
            double *W = p->blocks.value + (p->uniform ? k * d * d : p->blocks.value_start[k]);
            scale_block(d, dls_size(p, j), S + row, S + p->row[j], W);
        }
        for (int i = 0; i < d; i++) p->b[row + i] *= S[row + i];
    }
}

dls_status dls_scaled_create(dls_scaled *s, const dls_problem *p, dls_error *error) {
    *s = (dls_scaled){.S = DLS_NEW(double, p->row_count)};
    if (!s->S) return dls_fail_memory(error);
    dls_status status = dls_problem_assemble(p, &s->problem, error);
    if (status) return status;
    fill_scale(p, s->S);
    scale_problem(s->problem, s->S);
    return dls_problem_finish(s->problem, error);
}

void dls_scaled_destroy(dls_scaled *s) {
    dls_problem_destroy(s->problem);
    dls_free(s->S);
    *s = (dls_scaled){NULL, NULL};
}
