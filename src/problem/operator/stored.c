/* Stored W: block rows, off-diagonal blocks beside the diagonal ones. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "base/small.h"
#include "problem/matrix.h"
#include "problem/operator/bodies.h"

#include <assert.h>
#include <string.h>

static size_t state_size(const dls_problem *p) {
    (void)p;
    return 0;
}

/* v += Σ_{j≠c} W_cj r_j where blocks differ in size. */
static void mixed_row(const dls_problem *p, int c, const double *r, double *v) {
    const dls_block_matrix *W = p->data;
    int rows = p->row[c + 1] - p->row[c];
    for (int64_t k = W->start[c]; k < W->start[c + 1]; k++) {
        int j = W->column[k], columns = p->row[j + 1] - p->row[j];
        const double *A = W->value + W->value_start[k], *x = r + p->row[j];
        for (int col = 0; col < columns; col++)
            for (int i = 0; i < rows; i++) v[i] += A[i + rows * col] * x[col];
    }
}

static inline void row_sum(const dls_problem *p, int c, const double *r, double *v) {
    const dls_block_matrix *W = p->data;
    int64_t first = W->start[c], count = W->start[c + 1] - first;
    switch (p->uniform) {
    case 2:
        dls_block2_row(count, W->value + 4 * first, W->column + first, r, v);
        break;
    case 3:
        dls_block3_row(count, W->value + 9 * first, W->column + first, r, v);
        break;
    case 4:
        dls_block_row(4, count, W->value + 16 * first, W->column + first, r, v);
        break;
    default:
        mixed_row(p, c, r, v);
    }
}

static void local(const dls_problem *p, int c, const double *r, const double *state, double *v) {
    (void)state;
    int d = dls_size(p, c);
    for (int i = 0; i < d; i++) v[i] = p->b[p->row[c] + i];
    row_sum(p, c, r, v);
}

typedef struct product_work {
    const dls_problem *problem;
    const double *r;
    double *u;
} product_work;

static void product_range(void *self, int first, int end) {
    const product_work *w = self;
    const dls_problem *p = w->problem;
    for (int c = first; c < end; c++) {
        int d = dls_size(p, c);
        double v[DLS_MAX_BLOCK] = {0};
        row_sum(p, c, w->r, v);
        small_multiply_add(d, dls_diagonal(p, c), w->r + p->row[c], v);
        for (int i = 0; i < d; i++) w->u[p->row[c] + i] = v[i];
    }
}

static void product(const dls_problem *p, const double *r, double *u, double *state, int threads) {
    (void)state;
    dls_parallel_for(p->block_count, threads, product_range, &(product_work){p, r, u});
}

static void start(const dls_problem *p, const double *r, double *state, int threads) {
    (void)p, (void)r, (void)state, (void)threads;
}

static void changed(const dls_problem *p, int c, const double *delta, double *state) {
    (void)p, (void)c, (void)delta, (void)state;
}

/* ---- visits of contacts of one size: no call through the operator, constant loops ---- */

static inline void visit3(dls_visits *s, int run, int c, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    const dls_block_matrix *W = p->data;
    int64_t first = W->start[c];
    double v[3] = {p->b[3 * c], p->b[3 * c + 1], p->b[3 * c + 2]}, x[3];
    dls_block3_row(W->start[c + 1] - first, W->value + 9 * first, W->column + first, r, v);
    dls_visit_rest(s, c, dls_visit_local(s, run, c, 3, v, r, x, change), r[3 * c]);
}

static inline void visit2(dls_visits *s, int run, int c, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    const dls_block_matrix *W = p->data;
    int64_t first = W->start[c];
    double v[2] = {p->b[2 * c], p->b[2 * c + 1]}, x[2];
    dls_block2_row(W->start[c + 1] - first, W->value + 4 * first, W->column + first, r, v);
    dls_visit_rest(s, c, dls_visit_local(s, run, c, 2, v, r, x, change), r[2 * c]);
}

static dls_sweep_change sweep(dls_visits *s, int first, int end, double *r, bool backward) {
    if (s->problem->uniform == 3) return dls_visit_each(s, 0, first, end, r, backward, visit3);
    if (s->problem->uniform == 2) return dls_visit_each(s, 0, first, end, r, backward, visit2);
    return dls_visit_any(s, first, end, r, backward);
}

/* ---- colours ---- */

static bool is_hub(const dls_block_matrix *W, int c) { return W->start[c + 1] - W->start[c] > 2 * DLS_HUB; }

/* Colours that the neighbours of a chunk have already. */
static uint64_t taken_colours(const dls_problem *p, int first, int end, const uint8_t *colour_of) {
    const dls_block_matrix *W = p->data;
    uint64_t taken = 0;
    for (int c = first; c < end; c++)
        for (int64_t k = W->start[c]; k < W->start[c + 1] && !is_hub(W, c); k++) {
            uint8_t other = colour_of[W->column[k]];
            if (other < DLS_MAX_COLOURS) taken |= (uint64_t)1 << other;
        }
    return taken;
}

/* Greedy in natural order: the first colour that no earlier neighbour has. Where W couples a pair one way
 * only, the later block may not have seen the earlier one: it loses its colour in a second pass. */
static void colour(const dls_problem *p, int chunk, uint8_t *colour_of, uint64_t *scratch) {
    (void)scratch;
    const dls_block_matrix *W = p->data;
    int n = p->block_count;
    for (int c = 0; c < n; c++) colour_of[c] = DLS_NO_COLOUR;
    for (int first = 0; first < n; first += chunk) {
        int end = first + chunk < n ? first + chunk : n;
        uint64_t taken = taken_colours(p, first, end, colour_of);
        for (int c = first; c < end && ~taken; c++)
            if (!is_hub(W, c)) colour_of[c] = (uint8_t)__builtin_ctzll(~taken);
    }
    for (int c = 0; c < n; c++)
        for (int64_t k = W->start[c]; k < W->start[c + 1]; k++) {
            int j = W->column[k], later = j > c ? j : c;
            if (j / chunk != c / chunk && colour_of[c] == colour_of[j]) colour_of[later] = DLS_NO_COLOUR;
        }
}

/* ---- the matrix ---- */

static int64_t coupled(const dls_problem *p, int c, int *column) {
    const dls_block_matrix *W = p->data;
    int64_t count = W->start[c + 1] - W->start[c];
    if (column && count) memcpy(column, W->column + W->start[c], sizeof(int) * (size_t)count);
    return count;
}

static void block(const dls_problem *p, int c, int64_t k, int j, double *value) {
    const dls_block_matrix *W = p->data;
    int d = dls_size(p, c);
    memcpy(value, dls_block_value(p, W, W->start[c] + k, d), sizeof(double) * (size_t)(d * dls_size(p, j)));
}

const dls_block_matrix *dls_problem_matrix(const dls_problem *p) {
    assert(p->op == &dls_operator_stored);
    return p->data;
}

static void rescale_block(int rows, int columns, const double *left, const double *right, double *W) {
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) W[i + rows * j] *= left[i] * right[j];
}

static void rescale(dls_problem *p, const double *S) {
    const dls_block_matrix *W = dls_problem_matrix(p);
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c), row = p->row[c];
        rescale_block(d, d, S + row, S + row, dls_diagonal_place(p, c));
        for (int64_t k = W->start[c]; k < W->start[c + 1]; k++) {
            int j = W->column[k];
            rescale_block(d, dls_size(p, j), S + row, S + p->row[j], dls_block_value(p, W, k, d));
        }
    }
}

/* ---- sizes ---- */

int64_t dls_matrix_value_count(const dls_problem *p) {
    const dls_block_matrix *W = p->data;
    int64_t blocks = W->start[p->block_count];
    return p->uniform ? blocks * p->uniform * p->uniform : W->value_start[blocks];
}

static int64_t least_entries(const dls_problem *p) {
    int64_t diagonal =
        p->uniform ? (int64_t)p->block_count * p->uniform * p->uniform : p->diagonal_start[p->block_count];
    return dls_matrix_value_count(p) + diagonal;
}

static double sweep_cost(const dls_problem *p) { return 2.0 * (double)least_entries(p); }

static void release(dls_problem *p) {
    dls_block_matrix *W = p->data;
    if (!W) return;
    dls_free(W->start);
    dls_free(W->column);
    dls_free(W->value_start);
    dls_free(W->value);
    dls_free(W);
}

static size_t memory(const dls_problem *p) {
    const dls_block_matrix *W = p->data;
    size_t blocks = (size_t)W->start[p->block_count], places = p->uniform ? 0 : blocks + 1;
    return sizeof *W + ((size_t)p->block_count + 1 + places) * sizeof(int64_t) + blocks * sizeof(int) +
           ((size_t)dls_matrix_value_count(p) + DLS_SIMD_PAD) * sizeof(double);
}

const dls_operator dls_operator_stored = {.name = "stored",
                                          .state_size = state_size,
                                          .product = product,
                                          .start = start,
                                          .local = local,
                                          .changed = changed,
                                          .sweep = sweep,
                                          .colour = colour,
                                          .coupled = coupled,
                                          .block = block,
                                          .rescale = rescale,
                                          .sweep_cost = sweep_cost,
                                          .least_entries = least_entries,
                                          .release = release,
                                          .memory = memory};

int64_t dls_problem_stored_blocks(const dls_problem *p) {
    return dls_problem_is_stored(p) ? dls_problem_matrix(p)->start[p->block_count] + p->block_count : 0;
}
