#include "solve/global/system.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/lu.h"
#include "base/memory.h"
#include "base/small.h"
#include "problem/eliminate.h"
#include "problem/matrix.h"

#include <assert.h>
#include <klu.h>
#include <math.h>

/* One flop of KLU costs about so many of a dense factorisation. */
static const double SPARSE_COST = 12;
static const double LEAST_RGROWTH = 1e-3; /* of pivots that are used again; KLU's own threshold for pivots */
/* What else one iteration around a factorisation costs, in flops of a sweep (measured on the shared
 * problems): assembly and indices per entry, linearisation, ordering and solves per row; flops of a dense
 * factorisation are cheaper. */
static const double ENTRY_COST = 400, ROW_COST = 2500, FACTOR_COST = 0.6;

enum { ALWAYS_DENSE = 90 };

struct dls_system {
    const dls_problem *problem;
    const dls_block_matrix *W;
    bool dense;
    double cost, spent;
    int64_t factor_count;
    int size;      /* rows of the present system */
    int *place;    /* of each row of the problem in it, −1 where it is left out */
    double *right; /* the right-hand side in its order */
    const double *A, *B;
    double alpha;
    double *matrix; /* dense: size², column-major */
    double *room;   /* of its factorisation */
    int *pivot;
    int *start, *index; /* sparse: rows of the matrix, which KLU reads as columns of its transpose */
    double *value;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    int symbolic_size; /* of the pattern that symbolic belongs to; a hash tells patterns of one size apart */
    uint64_t symbolic_hash;
};

static void free_factor(dls_system *s) {
    if (s->numeric) klu_free_numeric(&s->numeric, &s->common);
    if (s->symbolic) klu_free_symbolic(&s->symbolic, &s->common);
}

void dls_system_destroy(dls_system *s) {
    if (!s) return;
    free_factor(s);
    dls_free(s->place);
    dls_free(s->right);
    dls_free(s->matrix);
    dls_free(s->room);
    dls_free(s->pivot);
    dls_free(s->start);
    dls_free(s->index);
    dls_free(s->value);
    dls_free(s);
}

/* ---- assembly: row i of block c is  Σ_k B_c[i,k] (W + α)_c[k, ·] + A_c[i, ·] ---- */

static int64_t block_place(const dls_problem *p, int c) {
    return p->uniform ? (int64_t)c * p->uniform * p->uniform : p->diagonal_start[c];
}

/* J (rows × columns) = B W for one block. */
static inline void multiply_block(int rows, int columns, const double *B, const double *W, double *J) {
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            for (int k = 0; k < rows; k++) sum += B[i + rows * k] * W[k + rows * j];
            J[i + rows * j] = sum;
        }
}

static void diagonal_block(const dls_system *s, int c, double *J) {
    const dls_problem *p = s->problem;
    int d = dls_size(p, c);
    const double *A = s->A + block_place(p, c), *B = s->B + block_place(p, c);
    multiply_block(d, d, B, dls_diagonal(p, c), J);
    for (int k = 0; k < d * d; k++) J[k] += A[k] + s->alpha * B[k];
}

/* The off-diagonal block k of row c. */
static void coupling_block(const dls_system *s, int c, int64_t k, double *J) {
    const dls_problem *p = s->problem;
    assert(k >= s->W->start[c] && k < s->W->start[c + 1]);
    int d = dls_size(p, c), e = dls_size(p, s->W->column[k]);
    multiply_block(d, e, s->B + block_place(p, c), dls_block_value(p, s->W, k, d), J);
}

static void fill_dense(dls_system *s) {
    const dls_problem *p = s->problem;
    double J[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    memset(s->matrix, 0, sizeof(double) * (size_t)s->size * (size_t)s->size);
    for (int c = 0; c < p->block_count; c++) {
        int row = s->place[p->row[c]], d = dls_size(p, c);
        if (row < 0) continue;
        for (int64_t k = s->W->start[c] - 1; k < s->W->start[c + 1]; k++) {
            bool diagonal = k < s->W->start[c];
            int other = diagonal ? c : s->W->column[k], column = s->place[p->row[other]];
            if (column < 0) continue;
            if (diagonal)
                diagonal_block(s, c, J);
            else
                coupling_block(s, c, k, J);
            for (int j = 0, e = dls_size(p, other); j < e; j++)
                for (int i = 0; i < d; i++)
                    s->matrix[(size_t)(column + j) * (size_t)s->size + (size_t)(row + i)] = J[i + d * j];
        }
    }
}

/* Scalar rows of block row c, columns ascending. */
static int fill_sparse_row(dls_system *s, int c, int at) {
    const dls_problem *p = s->problem;
    int d = dls_size(p, c), width = 0, entry = 0;
    bool before = true; /* the diagonal block is still to come */
    for (int64_t k = s->W->start[c]; k < s->W->start[c + 1]; k++)
        if (s->place[p->row[s->W->column[k]]] >= 0) width += dls_size(p, s->W->column[k]);
    width += d;
    for (int64_t k = s->W->start[c]; k <= s->W->start[c + 1]; k++) {
        double J[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
        bool last = k == s->W->start[c + 1];
        if (before && (last || s->W->column[k] > c)) {
            diagonal_block(s, c, J);
            for (int j = 0; j < d; j++, entry++)
                for (int i = 0; i < d; i++) {
                    s->index[at + i * width + entry] = s->place[p->row[c]] + j;
                    s->value[at + i * width + entry] = J[i + d * j];
                }
            before = false;
        }
        if (last) break;
        int other = s->W->column[k], column = s->place[p->row[other]];
        if (column < 0) continue;
        coupling_block(s, c, k, J);
        for (int j = 0, e = dls_size(p, other); j < e; j++, entry++)
            for (int i = 0; i < d; i++) {
                s->index[at + i * width + entry] = column + j;
                s->value[at + i * width + entry] = J[i + d * j];
            }
    }
    for (int i = 0; i < d; i++) s->start[s->place[p->row[c]] + i + 1] = at + (i + 1) * width;
    return at + d * width;
}

static void fill_sparse(dls_system *s) {
    int at = 0;
    s->start[0] = 0;
    for (int c = 0; c < s->problem->block_count; c++)
        if (s->place[s->problem->row[c]] >= 0) at = fill_sparse_row(s, c, at);
}

/* ---- factorisation ---- */

#ifndef NDEBUG
/* What KLU relies on: starts ascend, columns of a row ascend and lie in the system. */
static bool is_pattern(const dls_system *s) {
    for (int i = 0; i < s->size; i++) {
        if (s->start[i + 1] < s->start[i]) return false;
        for (int k = s->start[i]; k < s->start[i + 1]; k++)
            if (s->index[k] < 0 || s->index[k] >= s->size ||
                (k > s->start[i] && s->index[k - 1] >= s->index[k]))
                return false;
    }
    return true;
}
#endif

static uint64_t add_to_hash(uint64_t hash, int count, const int *numbers) {
    for (int i = 0; i < count; i++) hash = dls_hash_word(hash, (unsigned)numbers[i]);
    return hash;
}

static uint64_t pattern_hash(const dls_system *s) {
    uint64_t hash = add_to_hash(DLS_HASH_BEGIN, s->size + 1, s->start);
    return add_to_hash(hash, s->start[s->size], s->index);
}

/* The last pivots once more: neither memory nor, where other pivots would bring it, fill. KLU judges whether
 * they still serve: entries that grow by 1/rgrowth lose as much of the accuracy. */
static bool factor_again(dls_system *s) {
    return s->numeric && klu_refactor(s->start, s->index, s->value, s->symbolic, s->numeric, &s->common) &&
           s->common.status == KLU_OK &&
           klu_rgrowth(s->start, s->index, s->value, s->symbolic, s->numeric, &s->common) &&
           s->common.rgrowth > LEAST_RGROWTH;
}

static bool factor_sparse(dls_system *s) {
    uint64_t hash = pattern_hash(s);
    if (!s->symbolic || s->symbolic_size != s->size || s->symbolic_hash != hash) {
        free_factor(s);
        s->symbolic = klu_analyze(s->size, s->start, s->index, &s->common);
        s->symbolic_size = s->size;
        s->symbolic_hash = hash;
        if (!s->symbolic) return false;
    }
    if (factor_again(s)) return true;
    if (s->numeric) klu_free_numeric(&s->numeric, &s->common);
    s->numeric = klu_factor(s->start, s->index, s->value, s->symbolic, &s->common);
    if (s->numeric && s->common.status != KLU_OK) klu_free_numeric(&s->numeric, &s->common);
    return s->numeric;
}

bool dls_system_factor(dls_system *s, const double *A, const double *B, double alpha, const bool *left_out) {
    const dls_problem *p = s->problem;
    s->A = A;
    s->B = B;
    s->alpha = alpha;
    s->size = 0;
    s->factor_count++;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1]; i++) s->place[i] = left_out[c] ? -1 : s->size++;
    if (s->size == 0) return true;
    if (s->dense || s->size <= ALWAYS_DENSE) {
        double n = s->size;
        s->spent += ENTRY_COST * n * n + ROW_COST * n + FACTOR_COST * 2 * n * n * n / 3;
        fill_dense(s);
        return dls_lu_factor(s->size, s->matrix, s->pivot, s->room) == 0;
    }
    fill_sparse(s);
    assert(is_pattern(s));
    bool done = factor_sparse(s);
    s->spent += ENTRY_COST * s->start[s->size] + ROW_COST * s->size;
    if (done && klu_flops(s->symbolic, s->numeric, &s->common))
        s->spent += FACTOR_COST * SPARSE_COST * s->common.flops;
    return done;
}

/* What the given values contribute moves to the right-hand side. */
static void move_given(const dls_system *s, int c, const double *x, double *right) {
    const dls_problem *p = s->problem;
    int d = dls_size(p, c);
    double J[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    for (int64_t k = s->W->start[c]; k < s->W->start[c + 1]; k++) {
        int other = s->W->column[k], e = dls_size(p, other);
        const double *given = x + p->row[other];
        if (s->place[p->row[other]] >= 0 || small_dot(e, given, given) == 0) continue;
        coupling_block(s, c, k, J);
        for (int j = 0; j < e; j++)
            for (int i = 0; i < d; i++) right[i] -= J[i + d * j] * given[j];
    }
}

bool dls_system_solve(dls_system *s, double *x) {
    const dls_problem *p = s->problem;
    if (s->size == 0) return true;
    for (int c = 0; c < p->block_count; c++) {
        int at = s->place[p->row[c]];
        if (at < 0) continue;
        for (int i = 0, d = dls_size(p, c); i < d; i++) s->right[at + i] = x[p->row[c] + i];
        move_given(s, c, x, s->right + at);
    }
    if (s->dense || s->size <= ALWAYS_DENSE) {
        dls_lu_solve(s->size, s->matrix, s->pivot, s->right);
    } else if (!klu_tsolve(s->symbolic, s->numeric, s->size, 1, s->right, &s->common)) {
        return false;
    }
    bool finite = true;
    for (int i = 0; i < p->row_count; i++)
        if (s->place[i] >= 0) {
            x[i] = s->right[s->place[i]];
            finite = finite && isfinite(x[i]);
        }
    return finite;
}

double dls_system_cost(const dls_system *s) { return s->cost; }
double dls_system_spent(const dls_system *s) { return s->spent; }
int64_t dls_system_factor_count(const dls_system *s) { return s->factor_count; }

/* ---- creation ---- */

double dls_system_least_cost(const dls_problem *p) {
    return ENTRY_COST * (double)p->op->least_entries(p) + ROW_COST * (p->row_count + dls_kept_rows(p));
}

static dls_status allocate(dls_system *s, dls_error *error) {
    const dls_problem *p = s->problem;
    int64_t n = p->row_count, entries = p->op->least_entries(p);
    if (entries > INT32_MAX)
        return dls_fail(error, DLS_ERROR_NUMERIC, "W has too many entries to be factored");
    s->place = DLS_NEW(int, n);
    s->right = DLS_NEW(double, n);
    s->start = DLS_NEW(int, n + 1);
    s->index = DLS_NEW(int, entries);
    s->value = DLS_NEW_ZERO(double, entries);
    s->pivot = DLS_NEW(int, n);
    return s->place && s->right && s->start && s->index && s->value && s->pivot ? DLS_OK
                                                                                : dls_fail_memory(error);
}

/* Dense or sparse, by flops: the full system with A = 0, B = 1 shows the pattern. */
static dls_status choose(dls_system *s, double max_cost, dls_error *error) {
    const dls_problem *p = s->problem;
    double n = p->row_count, dense = 2 * n * n * n / 3, flops = dense;
    s->dense = true;
    if (n > ALWAYS_DENSE) {
        int64_t blocks = p->uniform ? (int64_t)p->block_count * p->uniform * p->uniform
                                    : p->diagonal_start[p->block_count];
        double *zeros = DLS_NEW_ZERO(double, blocks);
        if (!zeros) return dls_fail_memory(error);
        s->A = s->B = zeros;
        s->size = p->row_count;
        for (int i = 0; i < p->row_count; i++) s->place[i] = i;
        fill_sparse(s);
        dls_free(zeros);
        s->symbolic = klu_analyze(s->size, s->start, s->index, &s->common);
        if (!s->symbolic) return dls_fail_memory(error);
        s->symbolic_size = s->size;
        s->symbolic_hash = pattern_hash(s);
        double sparse = s->symbolic->est_flops >= 0 ? SPARSE_COST * s->symbolic->est_flops : 2 * dense;
        s->dense = dense <= sparse;
        flops = fmin(dense, sparse);
    }
    s->cost = FACTOR_COST * flops + dls_system_least_cost(p);
    if (s->cost > max_cost) return DLS_OK;
    int64_t side = s->dense ? p->row_count : (p->row_count < ALWAYS_DENSE ? p->row_count : ALWAYS_DENSE);
    s->matrix = DLS_NEW(double, side *side);
    s->room = DLS_NEW(double, dls_lu_room((int)side));
    return s->matrix && s->room ? DLS_OK : dls_fail_memory(error);
}

dls_status dls_system_create(const dls_problem *problem, double max_cost, dls_system **system,
                             dls_error *error) {
    dls_system *s = DLS_NEW_ZERO(dls_system, 1);
    *system = NULL;
    if (!s) return dls_fail_memory(error);
    s->problem = problem;
    s->W = dls_problem_matrix(problem);
    klu_defaults(&s->common);
    dls_status status = allocate(s, error);
    if (!status) status = choose(s, max_cost, error);
    if (status)
        dls_system_destroy(s);
    else
        *system = s;
    return status;
}
