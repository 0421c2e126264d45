/* The contact problem: checking what comes in, and answering questions about it. */
#include "problem/problem.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/small.h"
#include "problem/cone.h"
#include "problem/definition.h"
#include "problem/operator/bodies.h"

#include <assert.h>
#include <math.h>

dls_problem_def dls_default_problem_def(void) { return (dls_problem_def){.dimension = 3}; }

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
    return c == 0 || p->kind[c] != p->kind[c - 1] || p->row[c + 1] - p->row[c] != p->row[c] - p->row[c - 1] ||
           (p->parts && p->parts[c] != p->parts[c - 1]);
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
                                                .kind = p->kind[c],
                                                .parts = dls_parts_of(p, c)};
        p->runs[p->run_count - 1].end = c + 1;
    }
    return true;
}

/* Parts of contacts where one has other than one tangential part, and their coefficients. */
static dls_status take_parts(dls_problem *p, const dls_problem_def *def, dls_error *error) {
    int n = p->block_count, others = 0;
    for (int c = 0; c < n; c++) others += p->kind[c] == DLS_CONTACT && !dls_is_plain(dls_def_parts(def, c));
    if (!others) return DLS_OK;
    p->parts = dls_problem_take(p, n, sizeof(uint8_t));
    p->mu_rolling = dls_problem_take(p, n, sizeof(double));
    p->mu_spinning = dls_problem_take(p, n, sizeof(double));
    if (!p->parts || !p->mu_rolling || !p->mu_spinning) return dls_fail_memory(error);
    for (int c = 0; c < n; c++) {
        if (p->kind[c] != DLS_CONTACT) continue;
        p->parts[c] = dls_def_parts(def, c);
        if (!(p->parts[c] & DLS_PARTS(3, 0, 0))) p->mu[c] = 0;
        if (p->parts[c] & DLS_PARTS(0, 3, 0)) p->mu_rolling[c] = def->mu_rolling[c];
        if (p->parts[c] & DLS_PARTS(0, 0, 3)) p->mu_spinning[c] = def->mu_spinning[c];
    }
    return DLS_OK;
}

/* Bounds of rows where one has any; contacts have none of these. */
static dls_status take_bounds(dls_problem *p, const dls_problem_def *def, dls_error *error) {
    bool any = false;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1] && p->kind[c] == DLS_INTERVAL; i++)
            any = any || (def->low && isfinite(def->low[i])) || (def->high && isfinite(def->high[i]));
    if (!any) return DLS_OK;
    p->low = dls_problem_take(p, p->row_count, sizeof(double));
    p->high = dls_problem_take(p, p->row_count, sizeof(double));
    if (!p->low || !p->high) return dls_fail_memory(error);
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1]; i++) {
            bool bounded = p->kind[c] == DLS_INTERVAL;
            p->low[i] = bounded && def->low ? def->low[i] : -HUGE_VAL;
            p->high[i] = bounded && def->high ? def->high[i] : HUGE_VAL;
        }
    return DLS_OK;
}

/* Room for the diagonal blocks: their places, not their values. */
static dls_status place_diagonal(dls_problem *p, int64_t entries, dls_error *error) {
    int n = p->block_count;
    p->diagonal = dls_problem_take(p, entries + DLS_MAX_BLOCK, sizeof(double));
    if (!p->diagonal) return dls_fail_memory(error);
    if (p->uniform) return DLS_OK;
    p->diagonal_start = dls_problem_take(p, n + 1, sizeof(int64_t));
    if (!p->diagonal_start) return dls_fail_memory(error);
    for (int c = 0; c < n; c++) {
        int64_t size = p->row[c + 1] - p->row[c];
        p->diagonal_start[c + 1] = p->diagonal_start[c] + size * size;
    }
    return DLS_OK;
}

static dls_status lay_out(dls_problem *p, const dls_problem_def *def, dls_error *error) {
    int n = def->block_count, row = 0, first = 0;
    bool uniform = true;
    int64_t entries = 0;
    for (int c = 0; c < n; c++) {
        int size = dls_def_size(def, c);
        p->kind[c] = (uint8_t)dls_def_kind(def, c);
        p->mu[c] = p->kind[c] == DLS_CONTACT ? def->mu[c] : 0;
        p->contact_count += p->kind[c] == DLS_CONTACT;
        p->row[c] = row;
        row += size;
        entries += size * size;
        if (c == 0) first = size;
        uniform = uniform && size == first && p->kind[c] == DLS_CONTACT;
    }
    p->row[n] = row;
    dls_status status = take_parts(p, def, error);
    if (!status) status = take_bounds(p, def, error);
    if (status) return status;
    p->uniform = n > 0 && uniform && !p->parts ? first : 0;
    return cut_runs(p) ? place_diagonal(p, entries, error) : dls_fail_memory(error);
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
    p->masses_told = def->block_inverse_mass != NULL;
    for (int c = 0; c < n && p->masses_told; c++)
        if (p->kind[c] == DLS_INTERVAL) p->inverse_mass[c] = def->block_inverse_mass[c];
    return DLS_OK;
}

dls_status dls_problem_begin(const dls_problem_def *def, dls_workspace *workspace, dls_problem **problem,
                             dls_error *error) {
    int64_t rows = 0;
    *problem = NULL;
    if (!def) return dls_fail(error, DLS_ERROR_ARGUMENT, "a problem definition is needed, got NULL");
    dls_status status = dls_def_check(def, &rows, error);
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

/* A contact's own block must push back: positive trace, and no negative eigenvalue in its symmetric part. */
static dls_status check_diagonal(const dls_problem *p, int c, dls_error *error) {
    int d = dls_size(p, c);
    const double *W = dls_diagonal(p, c);
    const char *kind = p->kind[c] == DLS_CONTACT ? "contact" : "interval block";
    double trace = small_trace(d, W);
    if (!(trace > 0) || isinf(trace))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "diagonal block of %s %d has trace %g, expected a positive finite one", kind, c,
                        trace);
    for (int i = 0; i < d * d; i++)
        if (!isfinite(W[i]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "diagonal block of %s %d adds up to %g, expected finite sums", kind, c, W[i]);
    for (int i = 0; i < d; i++)
        if (p->kind[c] == DLS_INTERVAL && !(W[i + d * i] > 0))
            return dls_fail(error, DLS_ERROR_INPUT, "W_ii of row %d of interval block %d is %g, expected > 0",
                            i, c, W[i + d * i]);
    return DLS_OK;
}

static dls_status check_definite(const dls_problem *p, int c, dls_error *error) {
    int d = dls_size(p, c);
    const double *W = dls_diagonal(p, c);
    const char *kind = p->kind[c] == DLS_CONTACT ? "contact" : "interval block";
    double trace = small_trace(d, W), minus[SMALL_MAX * SMALL_MAX];
    for (int i = 0; i < d * d; i++) minus[i] = -W[i];
    double lowest = -small_max_eigenvalue(d, minus, d);
    if (lowest < -1e-9 * trace)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "diagonal block of %s %d is indefinite (eigenvalue %g, trace %g), expected positive semidefinite",
            kind, c, lowest, trace);
    return DLS_OK;
}

/* w̄ of interval blocks that it was not told of: the mean of tr(W_jj)/d over the contacts that each is
 * coupled with, or over all. */
static dls_status find_inverse_masses(dls_problem *p, dls_error *error) {
    int64_t most = 0;
    for (int c = 0; c < p->block_count; c++)
        if (p->kind[c] == DLS_INTERVAL) {
            int64_t coupled = p->op->coupled(p, c, NULL);
            most = coupled > most ? coupled : most;
        }
    int *column = DLS_NEW(int, most + 1);
    if (!column) return dls_fail_memory(error);
    for (int c = 0; c < p->block_count; c++) {
        if (p->kind[c] != DLS_INTERVAL) continue;
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
        if (run->first != end || run->end <= end || run->size < 1 || run->size > DLS_MAX_BLOCK) return false;
        for (int c = run->first; c < run->end; c++) {
            int64_t d = run->size;
            if (p->kind[c] != run->kind || p->row[c + 1] - p->row[c] != d || dls_parts_of(p, c) != run->parts)
                return false;
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
    for (int c = 0; c < p->block_count; c++) {
        dls_status status = check_diagonal(p, c, error);
        if (!status) status = check_definite(p, c, error);
        if (status) return status;
    }
    return dls_problem_settle(p, error);
}

dls_status dls_problem_settle(dls_problem *p, dls_error *error) {
    assert(p->op && is_laid_out(p));
    double contacts = 0, others = 0;
    for (int c = 0; c < p->block_count; c++) {
        dls_status status = check_diagonal(p, c, error);
        if (status) return status;
        int d = dls_size(p, c);
        p->scale[c] = small_trace(d, dls_diagonal(p, c)) / d;
        *(p->kind[c] == DLS_CONTACT ? &contacts : &others) += p->scale[c];
    }
    int intervals = p->block_count - p->contact_count;
    p->mean_scale = p->contact_count ? contacts / p->contact_count : intervals ? others / intervals : 1;
    return intervals && !p->masses_told ? find_inverse_masses(p, error) : DLS_OK;
}

void dls_problem_destroy(dls_problem *p) {
    if (!p || p->workspace) return;
    if (p->op) p->op->release(p);
    dls_free(p->row);
    dls_free(p->kind);
    dls_free(p->parts);
    dls_free(p->mu);
    dls_free(p->mu_rolling);
    dls_free(p->mu_spinning);
    dls_free(p->low);
    dls_free(p->high);
    dls_free(p->unit);
    dls_free(p->given_b);
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
uint8_t dls_problem_block_parts(const dls_problem *p, int block) {
    return has_block(p, block) ? dls_parts_of(p, block) : 0;
}
bool dls_problem_has_parts(const dls_problem *p) { return p->parts != NULL; }
bool dls_problem_has_bounds(const dls_problem *p) { return p->low != NULL; }

const double *dls_problem_b(const dls_problem *p) { return p->given_b ? p->given_b : p->b; }
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
    if (p->parts) layout += n * (sizeof(uint8_t) + 2 * sizeof(double));
    if (p->low) layout += 2 * (size_t)p->row_count * sizeof(double);
    if (p->unit) layout += 2 * (size_t)p->row_count * sizeof(double);
    return sizeof *p + layout + (entries + (size_t)p->row_count) * sizeof(double) + p->op->memory(p);
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

void dls_block_project(const dls_problem *p, int c, double *z) {
    if (p->kind[c] == DLS_INTERVAL) {
        for (int i = p->row[c]; i < p->row[c + 1] && p->low; i++, z++)
            *z = *z < p->low[i] ? p->low[i] : *z > p->high[i] ? p->high[i] : *z;
    } else if (!p->parts) {
        cone_project(dls_size(p, c), p->mu[c], z);
    } else {
        dls_cone cone = dls_cone_of(p, c);
        parts_project(&cone, z);
    }
}

void dls_velocity(const dls_problem *p, const double *r, double *u, double *state, int threads) {
    p->op->product(p, r, u, state, threads);
    dls_parallel_for(p->row_count, threads, add_range, &(add_work){p->b, u});
}

void dls_velocity_to_judge(const dls_problem *p, const double *r, double *u, double *state, int threads) {
    if (!dls_is_shared(p) || !p->op->product_of) {
        dls_velocity(p, r, u, state, threads);
        return;
    }
    int parts = dls_part_count(p->block_count), me = p->ranks->index;
    int first = dls_part_first(p->block_count, dls_first_of_rank(p->ranks, parts, me));
    int end = dls_part_first(p->block_count, dls_first_of_rank(p->ranks, parts, me + 1));
    p->op->product_of(p, r, u, state, first, end, threads);
    for (int i = p->row[first]; i < p->row[end]; i++) u[i] += p->b[i];
}

void dls_cone_project(int d, double mu, double *z) { cone_project(d, mu, z); }
void dls_cone_project_parts(const dls_cone *cone, double *z) { parts_project(cone, z); }
