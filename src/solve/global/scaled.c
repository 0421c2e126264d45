#include "solve/global/scaled.h"

#include "base/error.h"
#include "base/memory.h"
#include "problem/matrix.h"

#include <assert.h>
#include <math.h>

static void fill_scale(const dls_problem *p, double *S) {
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c);
        double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
        const double *W = dls_diagonal_in(p, c, room);
        for (int i = 0; i < d; i++)
            S[p->row[c] + i] = 1 / sqrt(p->kind[c] == DLS_CONTACT ? p->scale[c] : W[i + d * i]);
        assert(isfinite(S[p->row[c]]));
    }
}

dls_status dls_scaled_create(dls_scaled *s, const dls_problem *p, dls_error *error) {
    *s = (dls_scaled){.S = DLS_NEW(double, p->row_count)};
    if (!s->S) return dls_fail_memory(error);
    dls_status status = dls_problem_assemble(p, &s->problem, error);
    if (status) return status;
    fill_scale(p, s->S);
    return dls_problem_rescale(s->problem, s->S, error);
}

void dls_scaled_destroy(dls_scaled *s) {
    dls_problem_destroy(s->problem);
    dls_free(s->S);
    *s = (dls_scaled){NULL, NULL};
}
