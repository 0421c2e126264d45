/* The contact problem: checking what comes in, and answering questions about it. */
#include "problem/problem.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/small.h"
#include "problem/cone.h"
#include "problem/operator/bodies.h"

#include <assert.h>
#include <limits.h>
#include <math.h>

dls_problem_def dls_default_problem_def(void) { return (dls_problem_def){.dimension = 3}; }

static int kind_of(const dls_problem_def *def, int c) {
    return def->block_kind ? def->block_kind[c] : DLS_CONTACT;
}

/* What the judge is told beside the problem. */
static dls_status check_references(const dls_problem_def *def, dls_error *error) {
    if (!isfinite(def->reference_velocity) || def->reference_velocity < 0)
        return dls_fail(error, DLS_ERROR_INPUT, "reference velocity is %g, expected 0 or more",
                        def->reference_velocity);
    for (int c = 0; c < def->block_count; c++) {
        const double *speed = def->speed, *mass = def->block_inverse_mass;
        if (speed && !(isfinite(speed[c]) && speed[c] >= 0))
            return dls_fail(error, DLS_ERROR_INPUT, "speed of block %d is %g, expected 0 or more", c,
                            speed[c]);
        if (mass && kind_of(def, c) == DLS_BILATERAL && !(isfinite(mass[c]) && mass[c] > 0))
            return dls_fail(error, DLS_ERROR_INPUT, "inverse mass of bilateral block %d is %g, expected > 0",
                            c, mass[c]);
    }
    return DLS_OK;
}

static dls_status check_blocks(const dls_problem_def *def, int64_t *rows, dls_error *error) {
    if (def->block_count < 0)
        return dls_fail(error, DLS_ERROR_INPUT, "block count is %d, expected 0 or more", def->block_count);
    if (def->block_count > 0 && !def->block_size &&
        (def->dimension < 2 || def->dimension > DLS_MAX_CONTACT_BLOCK))
        return dls_fail(error, DLS_ERROR_INPUT, "dimension is %d, expected 2, 3 or 4", def->dimension);
    if (def->block_count > 0 && (!def->mu || !def->b))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "friction coefficients and velocities are needed, got NULL");
    *rows = 0;
    for (int c = 0; c < def->block_count; c++) {
        int size = def->block_size ? def->block_size[c] : def->dimension;
        int kind = kind_of(def, c);
        if (kind != DLS_CONTACT && kind != DLS_BILATERAL)
            return dls_fail(error, DLS_ERROR_INPUT, "block %d has kind %d, expected contact or bilateral", c,
                            kind);
        int low = kind == DLS_CONTACT ? 2 : 1,
            high = kind == DLS_CONTACT ? DLS_MAX_CONTACT_BLOCK : DLS_MAX_BLOCK;
        if (size < low || size > high)
            return dls_fail(error, DLS_ERROR_INPUT, "block %d has %d rows, expected %d to %d", c, size, low,
                            high);
        if (kind == DLS_CONTACT && !(isfinite(def->mu[c]) && def->mu[c] >= 0))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "friction coefficient of contact %d is %g, expected 0 or more", c, def->mu[c]);
        *rows += size;
    }
    if (*rows > INT_MAX - DLS_MAX_BLOCK)
        return dls_fail(error, DLS_ERROR_INPUT, "%lld rows, expected fewer than %d", (long long)*rows,
                        INT_MAX);
    for (int64_t i = 0; i < *rows; i++)
        if (!isfinite(def->b[i]))
            return dls_fail(error, DLS_ERROR_INPUT, "b[%lld] is %g, expected a finite number", (long long)i,
                            def->b[i]);
    return check_references(def, error);
}

void *dls_problem_take(dls_problem *p, int64_t count, size_t size) {
    return p->workspace ? dls_workspace_take_zero(p->workspace, (size_t)count, size)
                        : dls_alloc_zero((size_t)count, size);
}

static bool allocate(dls_problem *p, int n, int64_t rows) {
    p->row = dls_problem_take(p, n + 1, sizeof(int));
    p->kind = dls_problem_take(p, n, sizeof(uint8_t));
    p->mu = dls_problem_take(p, n, sizeof(double));
    p->scale = dls_problem_take(p, n, sizeof(double));
    p->b = dls_problem_take(p, rows, sizeof(double));
    return p->row && p->kind && p->mu && p->scale && p->b;
}

static bool begins_run(const dls_problem *p, int c) {
    return c == 0 || p->kind[c] != p->kind[c - 1] || p->row[c + 1] - p->row[c] != p->row[c] - p->row[c - 1];
}

static bool cut_runs(dls_problem *p) {
    int count = 0;
    for (int c = 0; c < p->block_count; c++) count += begins_run(p, c);
    p->runs = dls_problem_take(p, count, sizeof(dls_run));
    if (!p->runs) return false;
    for (int c = 0; c < p->block_count; c++) {
        if (begins_run(p, c))
            p->runs[p->run_count++] = (dls_run){.first = c,
                                                .row = p->row[c],
                                                .size = (uint8_t)(p->row[c + 1] - p->row[c]),
                                                .kind = p->kind[c]};
        p->runs[p->run_count - 1].end = c + 1;
    }
    return true;
}

/* Fills the block layout; diagonal blocks get their places, not their values. */
static dls_status lay_out(dls_problem *p, const dls_problem_def *def, dls_error *error) {
    int n = def->block_count, row = 0, first = 0;
    bool uniform = true;
    int64_t entries = 0;
    for (int c = 0; c < n; c++) {
        int size = def->block_size ? def->block_size[c] : def->dimension;
        p->kind[c] = (uint8_t)kind_of(def, c);
        p->mu[c] = p->kind[c] == DLS_CONTACT ? def->mu[c] : 0;
        p->contact_count += p->kind[c] == DLS_CONTACT;
        p->row[c] = row;
        row += size;
        entries += size * size;
        if (c == 0) first = size;
        uniform = uniform && size == first && p->kind[c] == DLS_CONTACT;
    }
    p->row[n] = row;
    if (!cut_runs(p)) return dls_fail_memory(error);
    p->uniform = n > 0 && uniform ? first : 0;
    p->diagonal = dls_problem_take(p, entries + DLS_MAX_BLOCK, sizeof(double));
    if (!p->diagonal) return dls_fail_memory(error);
    if (p->uniform) return DLS_OK;
    p->diagonal_start = dls_problem_take(p, n + 1, sizeof(int64_t));
    if (!p->diagonal_start) return dls_fail_memory(error);
    p->diagonal_start[0] = 0;
    for (int c = 0; c < n; c++) {
        int64_t size = p->row[c + 1] - p->row[c];
        p->diagonal_start[c + 1] = p->diagonal_start[c] + size * size;
    }
    return DLS_OK;
}

static dls_status take_references(dls_problem *p, const dls_problem_def *def, dls_error *error) {
    int n = p->block_count;
    if (def->speed) {
        p->speed = dls_problem_take(p, n, sizeof(double));
        if (!p->speed) return dls_fail_memory(error);
        for (int c = 0; c < n; c++) p->speed[c] = def->speed[c];
    }
    if (p->contact_count == n) return DLS_OK;
    p->inverse_mass = dls_problem_take(p, n, sizeof(double));
    if (!p->inverse_mass) return dls_fail_memory(error);
    for (int c = 0; c < n; c++)
        if (p->kind[c] == DLS_BILATERAL && def->block_inverse_mass)
            p->inverse_mass[c] = def->block_inverse_mass[c];
    return DLS_OK;
}

dls_status dls_problem_begin(const dls_problem_def *def, dls_workspace *workspace, dls_problem **problem,
                             dls_error *error) {
    int64_t rows = 0;
    *problem = NULL;
    if (!def) return dls_fail(error, DLS_ERROR_ARGUMENT, "a problem definition is needed, got NULL");
    dls_status status = check_blocks(def, &rows, error);
    if (status) return status;
    dls_problem *p = workspace ? DLS_TAKE_ZERO(workspace, dls_problem, 1) : DLS_NEW_ZERO(dls_problem, 1);
    if (!p) return dls_fail_memory(error);
    p->workspace = workspace;
    p->block_count = def->block_count;
    p->row_count = (int)rows;
    p->reference_velocity = def->reference_velocity;
    status = allocate(p, def->block_count, rows) ? lay_out(p, def, error) : dls_fail_memory(error);
    if (status) {
        dls_problem_destroy(p);
        return status;
    }
    for (int64_t i = 0; i < rows; i++) p->b[i] = def->b[i];
    status = take_references(p, def, error);
    if (status)
        dls_problem_destroy(p);
    else
        *problem = p;
    return status;
}

/* A contact's own block must push back: positive trace, no negative eigenvalue in its symmetric part. */
static dls_status check_diagonal(const dls_problem *p, int c, dls_error *error) {
    int d = dls_size(p, c);
    const double *W = dls_diagonal(p, c);
    const char *kind = p->kind[c] == DLS_CONTACT ? "contact" : "bilateral block";
    double trace = small_trace(d, W), minus[SMALL_MAX * SMALL_MAX];
    if (!(trace > 0) || isinf(trace))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "diagonal block of %s %d has trace %g, expected a positive finite one", kind, c,
                        trace);
    for (int i = 0; i < d * d; i++)
        if (!isfinite(W[i]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "diagonal block of %s %d adds up to %g, expected finite sums", kind, c, W[i]);
    for (int i = 0; i < d; i++)
        if (p->kind[c] == DLS_BILATERAL && !(W[i + d * i] > 0))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "W_ii of row %d of bilateral block %d is %g, expected > 0", i, c, W[i + d * i]);
    for (int i = 0; i < d * d; i++) minus[i] = -W[i];
    double lowest = -small_max_eigenvalue(d, minus, d);
    if (lowest < -1e-9 * trace)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "diagonal block of %s %d is indefinite (eigenvalue %g, trace %g), expected positive semidefinite",
            kind, c, lowest, trace);
    return DLS_OK;
}

/* w̄ of bilateral blocks that it was not told of: the mean of tr(W_jj)/d over the contacts that each is
 * coupled with, or over all. */
static dls_status find_inverse_masses(dls_problem *p, dls_error *error) {
    int64_t most = 0;
    for (int c = 0; c < p->block_count; c++)
        if (p->kind[c] == DLS_BILATERAL && !(p->inverse_mass[c] > 0)) {
            int64_t coupled = p->op->coupled(p, c, NULL);
            most = coupled > most ? coupled : most;
        }
    int *column = DLS_NEW(int, most + 1);
    if (!column) return dls_fail_memory(error);
    for (int c = 0; c < p->block_count; c++) {
        if (p->kind[c] != DLS_BILATERAL || p->inverse_mass[c] > 0) continue;
        int64_t coupled = p->op->coupled(p, c, column), count = 0;
        double sum = 0;
        for (int64_t k = 0; k < coupled; k++)
            if (p->kind[column[k]] == DLS_CONTACT) sum += p->scale[column[k]], count++;
        double mean = count ? sum / (double)count : 0;
        p->inverse_mass[c] = mean > 0 ? mean : p->mean_scale;
        assert(p->inverse_mass[c] > 0);
    }
    dls_free(column);
    return DLS_OK;
}

#ifndef NDEBUG
/* Rows of blocks follow each other, none is larger than solvers have room for, and runs hold all blocks. */
static bool is_laid_out(const dls_problem *p) {
    int contacts = 0, end = 0;
    for (int k = 0; k < p->run_count; k++) {
        const dls_run *run = &p->runs[k];
        int most = run->kind == DLS_CONTACT ? DLS_MAX_CONTACT_BLOCK : DLS_MAX_BLOCK;
        if (run->first != end || run->end <= end || run->size < 1 || run->size > most) return false;
        for (int c = run->first; c < run->end; c++) {
            int64_t d = run->size;
            if (p->kind[c] != run->kind || p->row[c + 1] - p->row[c] != d) return false;
            if (p->uniform ? d != p->uniform : p->diagonal_start[c + 1] - p->diagonal_start[c] != d * d)
                return false;
        }
        contacts += run->kind == DLS_CONTACT ? run->end - run->first : 0;
        end = run->end;
    }
    return end == p->block_count && p->row[0] == 0 && p->row[end] == p->row_count &&
           contacts == p->contact_count;
}
#endif

dls_status dls_problem_finish(dls_problem *p, dls_error *error) {
    assert(p->op && is_laid_out(p));
    double contacts = 0, others = 0;
    for (int c = 0; c < p->block_count; c++) {
        dls_status status = check_diagonal(p, c, error);
        if (status) return status;
        int d = dls_size(p, c);
        p->scale[c] = small_trace(d, dls_diagonal(p, c)) / d;
        *(p->kind[c] == DLS_CONTACT ? &contacts : &others) += p->scale[c];
    }
    int bilateral = p->block_count - p->contact_count;
    p->mean_scale = p->contact_count ? contacts / p->contact_count : bilateral ? others / bilateral : 1;
    return bilateral ? find_inverse_masses(p, error) : DLS_OK;
}

void dls_problem_destroy(dls_problem *p) {
    if (!p || p->workspace) return;
    if (p->op) p->op->release(p);
    dls_free(p->row);
    dls_free(p->kind);
    dls_free(p->mu);
    dls_free(p->b);
    dls_free(p->scale);
    dls_free(p->inverse_mass);
    dls_free(p->speed);
    dls_free(p->diagonal);
    dls_free(p->diagonal_start);
    dls_free(p->runs);
    dls_free(p);
}

int dls_problem_block_count(const dls_problem *p) { return p->block_count; }
int dls_problem_contact_count(const dls_problem *p) { return p->contact_count; }
int dls_problem_row_count(const dls_problem *p) { return p->row_count; }
int dls_problem_body_count(const dls_problem *p) { return p->body_count; }
bool dls_problem_is_stored(const dls_problem *p) { return p->op == &dls_operator_stored; }
static bool has_block(const dls_problem *p, int block) { return block >= 0 && block < p->block_count; }

int dls_problem_block_size(const dls_problem *p, int block) {
    return has_block(p, block) ? dls_size(p, block) : 0;
}
int dls_problem_block_row(const dls_problem *p, int block) {
    return has_block(p, block) ? p->row[block] : -1;
}
dls_block_kind dls_problem_block_kind(const dls_problem *p, int block) {
    return has_block(p, block) ? (dls_block_kind)p->kind[block] : DLS_CONTACT;
}
double dls_problem_mu(const dls_problem *p, int block) { return has_block(p, block) ? p->mu[block] : 0; }

const double *dls_problem_b(const dls_problem *p) { return p->b; }
double dls_problem_reference_velocity(const dls_problem *p) { return p->reference_velocity; }

size_t dls_problem_memory(const dls_problem *p) {
    size_t n = (size_t)p->block_count;
    size_t entries = 0;
    for (int c = 0; c < p->block_count && p->diagonal; c++)
        entries += (size_t)(dls_size(p, c) * dls_size(p, c));
    size_t layout =
        (size_t)p->run_count * sizeof(dls_run) + n * (sizeof(int) + sizeof(uint8_t) + 2 * sizeof(double));
    if (p->diagonal_start) layout += n * sizeof(int64_t);
    if (p->inverse_mass) layout += n * sizeof(double);
    if (p->speed) layout += n * sizeof(double);
    return sizeof *p + layout + (entries + (size_t)p->row_count) * sizeof(double) + p->op->memory(p);
}

void dls_problem_diagonal_block(const dls_problem *p, int block, double *Wcc) {
    if (!has_block(p, block)) return;
    int d = dls_size(p, block);
    double room[DLS_MAX_CONTACT_BLOCK * DLS_MAX_CONTACT_BLOCK];
    memcpy(Wcc, dls_diagonal_in(p, block, room), sizeof(double) * (size_t)(d * d));
}

typedef struct add_work {
    const double *b;
    double *u;
} add_work;

static void add_range(void *self, int first, int end) {
    const add_work *work = self;
    const double *restrict b = work->b;
    double *restrict u = work->u;
    for (int i = first; i < end; i++) u[i] += b[i];
}

void dls_velocity(const dls_problem *p, const double *r, double *u, double *state, int threads) {
    p->op->product(p, r, u, state, threads);
    dls_parallel_for(p->row_count, threads, add_range, &(add_work){p->b, u});
}

dls_status dls_problem_velocity(const dls_problem *p, const double *r, double *u, dls_workspace *workspace,
                                dls_error *error) {
    dls_error_clear(error);
    if (!p || (p->row_count && (!r || !u)))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "problem, r and u are needed, got NULL");
    size_t size = p->op->state_size(p);
    dls_workspace_mark mark = {0, 0};
    double *state;
    if (workspace) {
        mark = dls_workspace_get_mark(workspace);
        state = DLS_TAKE(workspace, double, size);
    } else {
        state = DLS_NEW(double, size);
    }
    if (!state) return dls_fail_memory(error);
    dls_velocity(p, r, u, state, 1);
    if (workspace)
        dls_workspace_release(workspace, mark);
    else
        dls_free(state);
    return DLS_OK;
}

void dls_cone_project(int d, double mu, double *z) { cone_project(d, mu, z); }
