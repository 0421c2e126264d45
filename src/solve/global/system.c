#include "solve/global/system_kinds.h"

#include "base/error.h"
#include "base/memory.h"
#include "problem/eliminate.h"

#include <math.h>

static const double FACTOR_COST = 0.6; /* flops of a dense factorisation are cheaper than those of a sweep */

void dls_system_destroy(dls_system *s) {
    if (!s) return;
    dls_factored_free(&s->matrix);
    dls_free(s->place);
    dls_free(s->right);
    dls_free(s->room);
    dls_free(s->slot);
    dls_free(s);
}

bool dls_system_factor(dls_system *s, const double *A, const double *B, double alpha, const bool *left_out) {
    double flops = 0;
    s->A = A;
    s->B = B;
    s->alpha = alpha;
    s->left_out = left_out;
    s->factor_count++;
    if (!s->kind->fill(s)) return false;
    bool done = s->matrix.size == 0 || dls_factored_factor(&s->matrix, &flops);
    s->spent += FACTOR_COST * flops + s->kind->spent(s);
    return done;
}

bool dls_system_solve(dls_system *s, double *x) {
    if (s->matrix.size == 0) return true;
    if (!s->kind->solve(s, x)) return false;
    const dls_problem *p = s->problem;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1] && !s->left_out[c]; i++)
            if (!isfinite(x[i])) return false;
    return true;
}

double dls_system_cost(const dls_system *s) { return s->cost; }
double dls_system_spent(const dls_system *s) { return s->spent; }
int64_t dls_system_factor_count(const dls_system *s) { return s->factor_count; }

/* ---- creation ---- */

static const dls_system_kind *kind_of(const dls_problem *p) {
    return dls_system_is_of_bodies(p) ? &dls_system_of_bodies : &dls_system_of_rows;
}

bool dls_system_is_of_bodies(const dls_problem *p) {
    return dls_problem_has_rows(p) && dls_system_of_bodies.rows(p) < p->row_count;
}

double dls_system_least_cost(const dls_problem *p) { return kind_of(p)->least_cost(p); }

static dls_status allocate(dls_system *s, dls_error *error) {
    const dls_problem *p = s->problem;
    int64_t entries = s->kind->entries(p);
    if (entries > INT32_MAX)
        return dls_fail(error, DLS_ERROR_NUMERIC, "W has too many entries to be factored");
    s->place = DLS_NEW(int, p->row_count > p->body_count ? p->row_count : p->body_count);
    s->right = DLS_NEW(double, s->kind->rows(p));
    if (!s->place || !s->right) return dls_fail_memory(error);
    dls_status status = dls_factored_create(&s->matrix, s->kind->rows(p), entries, error);
    return status ? status : s->kind->take(s, error);
}

/* Dense or sparse, by flops: the full system with A = 1, B = 0 shows the pattern. */
static dls_status fill_pattern(dls_system *s, dls_error *error) {
    const dls_problem *p = s->problem;
    int64_t numbers = dls_system_block(p, p->block_count);
    double *A = DLS_NEW_ZERO(double, 2 * numbers);
    bool *none = DLS_NEW_ZERO(bool, p->block_count);
    bool made = A && none;
    for (int c = 0; made && c < p->block_count; c++)
        for (int i = 0, d = dls_size(p, c); i < d; i++) A[dls_system_block(p, c) + i * (d + 1)] = 1;
    s->A = A;
    s->B = made ? A + numbers : NULL;
    s->left_out = none;
    made = made && s->kind->fill(s);
    dls_free(A);
    dls_free(none);
    return made ? DLS_OK : dls_fail_memory(error);
}

static dls_status choose(dls_system *s, double max_cost, dls_error *error) {
    double flops;
    dls_status status = dls_factored_is_dense(&s->matrix) ? DLS_OK : fill_pattern(s, error);
    if (!status) status = dls_factored_choose(&s->matrix, &flops, error);
    if (status) return status;
    s->cost = FACTOR_COST * flops + s->kind->least_cost(s->problem);
    return s->cost > max_cost ? DLS_OK : dls_factored_make_room(&s->matrix, error);
}

dls_status dls_system_create(const dls_problem *problem, double max_cost, dls_system **system,
                             dls_error *error) {
    dls_system *s = DLS_NEW_ZERO(dls_system, 1);
    *system = NULL;
    if (!s) return dls_fail_memory(error);
    s->problem = problem;
    s->kind = dls_problem_is_stored(problem) ? &dls_system_of_rows : &dls_system_of_bodies;
    dls_status status = allocate(s, error);
    if (!status) status = choose(s, max_cost, error);
    if (status)
        dls_system_destroy(s);
    else
        *system = s;
    return status;
}
