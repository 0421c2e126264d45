#include "solve/global/scaled.h"

#include "base/error.h"
#include "base/memory.h"
#include "problem/eliminate.h"
#include "problem/matrix.h"
#include "solve/global/system.h"

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
    *s = (dls_scaled){.given = p};
    dls_status status =
        (dls_system_is_of_bodies(p) ? dls_problem_copy_rows : dls_problem_keep)(p, &s->problem, error);
    if (status) return status;
    s->S = DLS_NEW(double, s->problem->row_count);
    if (!s->S) return dls_fail_memory(error);
    fill_scale(dls_kept_rows(p) ? s->problem : p, s->S);
    return dls_problem_rescale(s->problem, s->S, error);
}

/* The kept rows are held: δ = −S⁻¹ G_J Gᵀ r. */
bool dls_scaled_enter(const dls_scaled *s, const double *r, double *x, double *u, double *state,
                      int threads) {
    int own = s->given->row_count, all = s->problem->row_count;
    for (int i = 0; i < all; i++) x[i] = i < own ? r[i] / s->S[i] : 0;
    if (own == all) return true;
    dls_velocity(s->problem, x, u, state, threads);
    for (int i = own; i < all; i++) u[i] /= s->S[i];
    if (!dls_kept_solve(s->given, u + own)) return false;
    for (int i = own; i < all; i++) x[i] = -u[i] / s->S[i];
    return true;
}

void dls_scaled_destroy(dls_scaled *s) {
    dls_problem_destroy(s->problem);
    dls_free(s->S);
    *s = (dls_scaled){NULL, NULL, NULL};
}
