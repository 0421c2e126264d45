#include "solve/global/matrix.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/lu.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* One flop of KLU costs about so many of a dense factorisation. */
static const double SPARSE_COST = 12;
static const double LEAST_RGROWTH = 1e-3; /* of pivots that are used again; KLU's own threshold for pivots */

enum { ALWAYS_DENSE = 90 };

static void free_factor(dls_factored *f) {
    if (f->numeric) klu_free_numeric(&f->numeric, &f->common);
    if (f->symbolic) klu_free_symbolic(&f->symbolic, &f->common);
}

void dls_factored_free(dls_factored *f) {
    free_factor(f);
    dls_free(f->matrix);
    dls_free(f->room);
    dls_free(f->pivot);
    dls_free(f->start);
    dls_free(f->index);
    dls_free(f->value);
}

dls_status dls_factored_create(dls_factored *f, int64_t rows, int64_t entries, dls_error *error) {
    *f = (dls_factored){.size = (int)rows};
    klu_defaults(&f->common);
    f->start = DLS_NEW(int, rows + 1);
    f->index = DLS_NEW(int, entries);
    f->value = DLS_NEW_ZERO(double, entries);
    f->pivot = DLS_NEW(int, rows);
    return f->start && f->index && f->value && f->pivot ? DLS_OK : dls_fail_memory(error);
}

bool dls_factored_is_dense(const dls_factored *f) { return f->dense || f->size <= ALWAYS_DENSE; }

#ifndef NDEBUG
/* What KLU relies on: starts ascend, columns of a row ascend and lie in the matrix. */
static bool is_pattern(const dls_factored *f) {
    for (int i = 0; i < f->size; i++) {
        if (f->start[i + 1] < f->start[i]) return false;
        for (int k = f->start[i]; k < f->start[i + 1]; k++)
            if (f->index[k] < 0 || f->index[k] >= f->size ||
                (k > f->start[i] && f->index[k - 1] >= f->index[k]))
                return false;
    }
    return true;
}
#endif

static uint64_t add_to_hash(uint64_t hash, int count, const int *numbers) {
    for (int i = 0; i < count; i++) hash = dls_hash_word(hash, (unsigned)numbers[i]);
    return hash;
}

static uint64_t pattern_hash(const dls_factored *f) {
    uint64_t hash = add_to_hash(DLS_HASH_BEGIN, f->size + 1, f->start);
    return add_to_hash(hash, f->start[f->size], f->index);
}

static bool analyze(dls_factored *f) {
    assert(is_pattern(f));
    uint64_t hash = pattern_hash(f);
    if (f->symbolic && f->symbolic_size == f->size && f->symbolic_hash == hash) return true;
    free_factor(f);
    f->symbolic = klu_analyze(f->size, f->start, f->index, &f->common);
    f->symbolic_size = f->size;
    f->symbolic_hash = hash;
    return f->symbolic;
}

dls_status dls_factored_choose(dls_factored *f, double *flops, dls_error *error) {
    double n = f->size, dense = 2 * n * n * n / 3;
    *flops = dense;
    f->dense = true;
    if (n <= ALWAYS_DENSE) return DLS_OK;
    if (!analyze(f)) return dls_fail_memory(error);
    double sparse = f->symbolic->est_flops >= 0 ? SPARSE_COST * f->symbolic->est_flops : 2 * dense;
    f->dense = dense <= sparse;
    *flops = fmin(dense, sparse);
    return DLS_OK;
}

dls_status dls_factored_make_room(dls_factored *f, dls_error *error) {
    int64_t side = f->dense || f->size < ALWAYS_DENSE ? f->size : ALWAYS_DENSE;
    f->matrix = DLS_NEW(double, side *side);
    f->room = DLS_NEW(double, dls_lu_room((int)side));
    return f->matrix && f->room ? DLS_OK : dls_fail_memory(error);
}

/* The last pivots once more: neither memory nor, where other pivots would bring it, fill. Unless what is left
 * tells, KLU judges whether they still serve: entries that grow by 1/rgrowth lose as much of the accuracy. */
static bool factor_again(dls_factored *f) {
    f->fresh = false;
    if (!f->numeric || !klu_refactor(f->start, f->index, f->value, f->symbolic, f->numeric, &f->common) ||
        f->common.status != KLU_OK)
        return false;
    return f->refined || (klu_rgrowth(f->start, f->index, f->value, f->symbolic, f->numeric, &f->common) &&
                          f->common.rgrowth > LEAST_RGROWTH);
}

static bool factor_anew(dls_factored *f) {
    if (f->numeric) klu_free_numeric(&f->numeric, &f->common);
    f->numeric = klu_factor(f->start, f->index, f->value, f->symbolic, &f->common);
    if (f->numeric && f->common.status != KLU_OK) klu_free_numeric(&f->numeric, &f->common);
    f->fresh = true;
    return f->numeric;
}

bool dls_factored_renew(dls_factored *f) { return !dls_factored_is_dense(f) && !f->fresh && factor_anew(f); }

void dls_factored_spread(dls_factored *f) {
    if (!dls_factored_is_dense(f)) return;
    memset(f->matrix, 0, sizeof(double) * (size_t)f->size * (size_t)f->size);
    for (int i = 0; i < f->size; i++)
        for (int k = f->start[i]; k < f->start[i + 1]; k++)
            f->matrix[(size_t)f->index[k] * (size_t)f->size + (size_t)i] = f->value[k];
}

bool dls_factored_factor(dls_factored *f, double *flops) {
    double n = f->size;
    *flops = 2 * n * n * n / 3;
    if (dls_factored_is_dense(f)) return dls_lu_factor(f->size, f->matrix, f->pivot, f->room) == 0;
    bool done = analyze(f) && (factor_again(f) || factor_anew(f));
    bool known = done && klu_flops(f->symbolic, f->numeric, &f->common);
    *flops = known ? SPARSE_COST * f->common.flops : 0;
    return done;
}

bool dls_factored_solve(dls_factored *f, double *x) {
    if (!dls_factored_is_dense(f)) return klu_tsolve(f->symbolic, f->numeric, f->size, 1, x, &f->common);
    dls_lu_solve(f->size, f->matrix, f->pivot, x);
    return true;
}
