/* Matrix-free W = H M⁻¹ Hᵀ. With M⁻¹ = L Lᵀ and G = H L it is W = G Gᵀ: a sweep keeps the scaled body
 * velocities w = Gᵀ r, reads u_c = b_c + G_c w, and adds G_cᵀ Δr_c to the two bodies of the contact. */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "base/small.h"
#include "problem/bodies.h"
#include "problem/body_rows.h"

#include <math.h>

enum { SPATIAL_DOF = 6, SPATIAL_SIDE = 3 * SPATIAL_DOF };
enum { AHEAD = 16, CACHE_LINE = 8 }; /* entries; numbers */

static size_t state_size(const dls_problem *p) { return (size_t)p->body_count * (size_t)p->bodies.dof; }

/* rows × dof of one side of block c, row after row. */
static inline const double *side_of(const dls_problem *p, int c, int side) {
    const dls_body_rows *B = &p->bodies;
    int64_t d = dls_size(p, c), at = p->uniform ? 2 * (int64_t)c * d * B->dof : B->row_start[c];
    return B->G + at + side * d * B->dof;
}

/* Constant sizes let the compiler unroll the two common cases. */
static inline void gather_any(int d, int dof, const double *G, const double *w, double *v) {
    if (d == 3 && dof == 6) {
        body_sums sums = {{{0}}, {{0}}};
        body_gather36(G, w, &sums);
        body_gather36_end(&sums, v);
    } else if (d == 2 && dof == 3)
        body_gather(2, 3, G, w, v);
    else
        body_gather(d, dof, G, w, v);
}

static inline void scatter_any(int d, int dof, const double *G, const double *x, double *w) {
    if (d == 3 && dof == 6)
        body_scatter36(G, x, w);
    else if (d == 2 && dof == 3)
        body_scatter(2, 3, G, x, w);
    else
        body_scatter(d, dof, G, x, w);
}

static inline void row_sum(const dls_problem *p, int c, const double *state, double *v) {
    int d = dls_size(p, c), dof = p->bodies.dof;
    for (int side = 0; side < 2; side++) {
        int body = p->bodies.body[2 * c + side];
        if (body >= 0) gather_any(d, dof, side_of(p, c, side), state + (int64_t)body * dof, v);
    }
}

/* w = Gᵀ r of bodies that only contacts in space touch; entry e is side e of G. A body's contacts lie apart
 * in memory: without asking ahead every one of them would be waited for. */
static void start_spatial(const dls_product_work *work, int first, int end) {
    const dls_body_rows *B = &work->problem->bodies;
    int64_t last = B->start[end] - 1;
    for (int body = first; body < end; body++) {
        double w[SPATIAL_DOF] = {0};
        for (int64_t e = B->start[body]; e < B->start[body + 1]; e++) {
            int64_t ahead = B->entry[e + AHEAD < last ? e + AHEAD : last], side = B->entry[e];
            const double *G = B->G + SPATIAL_SIDE * ahead;
            for (int k = 0; k < SPATIAL_SIDE; k += CACHE_LINE) __builtin_prefetch(G + k);
            __builtin_prefetch(work->r + 3 * (ahead / 2));
            body_scatter36(B->G + SPATIAL_SIDE * side, work->r + 3 * (side / 2), w);
        }
        memcpy(work->state + (int64_t)SPATIAL_DOF * body, w, sizeof w);
    }
}

/* Bodies gather from their contacts in ascending order, so that the sums do not depend on threads. */
static void start_range(void *self, int first, int end) {
    const dls_product_work *work = self;
    const dls_problem *p = work->problem;
    const dls_body_rows *B = &p->bodies;
    if (p->uniform == 3 && B->dof == SPATIAL_DOF) {
        start_spatial(work, first, end);
        return;
    }
    for (int body = first; body < end; body++) {
        double *w = work->state + (int64_t)body * B->dof;
        for (int k = 0; k < B->dof; k++) w[k] = 0;
        for (int64_t e = B->start[body]; e < B->start[body + 1]; e++) {
            int c = B->entry[e] / 2, side = B->entry[e] % 2;
            scatter_any(dls_size(p, c), B->dof, side_of(p, c, side), work->r + p->row[c], w);
        }
    }
}

/* u = G w of contacts in space. */
static void product_spatial(const dls_product_work *work, int first, int end) {
    const dls_body_rows *B = &work->problem->bodies;
    for (int c = first; c < end; c++) {
        double v[3] = {0};
        for (int64_t side = 2 * (int64_t)c; side < 2 * (int64_t)c + 2; side++)
            if (B->body[side] >= 0)
                gather_any(3, SPATIAL_DOF, B->G + SPATIAL_SIDE * side,
                           work->state + (int64_t)SPATIAL_DOF * B->body[side], v);
        memcpy(work->u + 3 * (int64_t)c, v, sizeof v);
    }
}

static void product_range(void *self, int first, int end) {
    const dls_product_work *work = self;
    const dls_problem *p = work->problem;
    if (p->uniform == 3 && p->bodies.dof == SPATIAL_DOF) {
        product_spatial(work, first, end);
        return;
    }
    for (int c = first; c < end; c++) {
        double v[DLS_MAX_BLOCK] = {0};
        row_sum(p, c, work->state, v);
        for (int i = 0, d = dls_size(p, c); i < d; i++) work->u[p->row[c] + i] = v[i];
    }
}

static void start(const dls_problem *p, const double *r, double *state, int threads) {
    dls_parallel_for(p->body_count, threads, start_range, &(dls_product_work){p, r, NULL, state});
}

static void product(const dls_problem *p, const double *r, double *u, double *state, int threads) {
    start(p, r, state, threads);
    dls_parallel_for(p->block_count, threads, product_range, &(dls_product_work){p, r, u, state});
}

static void local(const dls_problem *p, int c, const double *r, const double *state, double *v) {
    int d = dls_size(p, c);
    for (int i = 0; i < d; i++) v[i] = p->b[p->row[c] + i];
    row_sum(p, c, state, v);
    small_multiply_subtract(d, dls_diagonal(p, c), r + p->row[c], v);
}

static void changed(const dls_problem *p, int c, const double *delta, double *state) {
    int d = dls_size(p, c), dof = p->bodies.dof;
    for (int side = 0; side < 2; side++) {
        int body = p->bodies.body[2 * c + side];
        if (body >= 0) scatter_any(d, dof, side_of(p, c, side), delta, state + (int64_t)body * dof);
    }
}

static bool touches_hub(const dls_problem *p, int c) {
    const dls_body_rows *B = &p->bodies;
    for (int side = 0; side < 2; side++) {
        int body = B->body[2 * c + side];
        if (body >= 0 && B->start[body + 1] - B->start[body] > DLS_HUB) return true;
    }
    return false;
}

/* Greedy in natural order through the bodies: each keeps the set of colours that its contacts have. */
void dls_bodies_colour(const dls_problem *p, int chunk, uint8_t *colour_of, uint64_t *taken_of) {
    int n = p->block_count;
    memset(taken_of, 0, sizeof(uint64_t) * (size_t)p->body_count);
    for (int first = 0; first < n; first += chunk) {
        int end = first + chunk < n ? first + chunk : n;
        uint64_t taken = 0;
        for (int k = 2 * first; k < 2 * end; k++)
            if (p->bodies.body[k] >= 0 && !touches_hub(p, k / 2)) taken |= taken_of[p->bodies.body[k]];
        uint8_t free_colour = ~taken ? (uint8_t)__builtin_ctzll(~taken) : (uint8_t)DLS_NO_COLOUR;
        for (int c = first; c < end; c++)
            colour_of[c] = touches_hub(p, c) ? (uint8_t)DLS_NO_COLOUR : free_colour;
        for (int k = 2 * first; k < 2 * end && ~taken; k++)
            if (p->bodies.body[k] >= 0 && !touches_hub(p, k / 2))
                taken_of[p->bodies.body[k]] |= (uint64_t)1 << free_colour;
    }
}

static void release(dls_problem *p) {
    dls_free(p->bodies.body);
    dls_free(p->bodies.row_start);
    dls_free(p->bodies.G);
    dls_free(p->bodies.start);
    dls_free(p->bodies.entry);
}

static int64_t value_count(const dls_problem *p) { return 2 * (int64_t)p->row_count * p->bodies.dof; }

static size_t memory(const dls_problem *p) {
    size_t n = (size_t)p->block_count, entries = (size_t)p->bodies.start[p->body_count];
    return (2 * n + entries) * sizeof(int) +
           ((size_t)p->body_count + 1 + (p->uniform ? 0 : n)) * sizeof(int64_t) +
           (size_t)value_count(p) * sizeof(double);
}

/* ---- which blocks are coupled ---- */

/* A walk over the ascending lists of blocks of c's two bodies, as one list. */
typedef struct coupled_walk {
    int64_t at[2], end[2];
} coupled_walk;

static coupled_walk begin_coupled(const dls_problem *p, int c) {
    coupled_walk walk = {{0, 0}, {0, 0}};
    for (int side = 0; side < 2; side++) {
        int body = p->bodies.body[2 * c + side];
        if (body < 0) continue;
        walk.at[side] = p->bodies.start[body];
        walk.end[side] = p->bodies.start[body + 1];
    }
    return walk;
}

/* The next block that is coupled with c, c itself aside; −1 at the end. */
static int next_coupled(const dls_problem *p, int c, coupled_walk *w) {
    while (w->at[0] < w->end[0] || w->at[1] < w->end[1]) {
        int j[2];
        for (int side = 0; side < 2; side++)
            j[side] = w->at[side] < w->end[side] ? p->bodies.entry[w->at[side]] / 2 : p->block_count;
        int next = j[0] < j[1] ? j[0] : j[1];
        for (int side = 0; side < 2; side++) w->at[side] += j[side] == next;
        if (next != c) return next;
    }
    return -1;
}

double dls_bodies_coupled_scale(const dls_problem *p, int c) {
    coupled_walk walk = begin_coupled(p, c);
    double sum = 0;
    int count = 0;
    for (int j = next_coupled(p, c, &walk); j >= 0; j = next_coupled(p, c, &walk))
        if (p->kind[j] == DLS_CONTACT) sum += p->scale[j], count++;
    return count ? sum / count : 0;
}

const dls_operator dls_operator_bodies = {
    "matrix-free", state_size, product, start, local, changed, dls_bodies_colour, dls_bodies_coupled_scale,
    release,       memory};

/* ---- creation ---- */

static dls_status check_bodies(const dls_problem *p, const dls_bodies *bodies, dls_error *error) {
    if (!bodies) return dls_fail(error, DLS_ERROR_ARGUMENT, "bodies are needed, got NULL");
    if (bodies->body_count < 0 || bodies->body_dof < 1 || bodies->body_dof > SMALL_MAX)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "%d bodies of %d freedoms, expected 0 or more bodies of 1 to %d", bodies->body_count,
                        bodies->body_dof, SMALL_MAX);
    if ((bodies->body_count && !bodies->inverse_mass) || (p->block_count && (!bodies->body || !bodies->H)))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "inverse masses, bodies of contacts and H are needed, got NULL");
    for (int k = 0; k < 2 * p->block_count; k++)
        if (bodies->body[k] < -1 || bodies->body[k] >= bodies->body_count)
            return dls_fail(error, DLS_ERROR_INPUT, "body %d of block %d is out of range, expected −1 … %d",
                            bodies->body[k], k / 2, bodies->body_count - 1);
    int64_t values = 2 * (int64_t)p->row_count * bodies->body_dof;
    for (int64_t k = 0; k < values; k++)
        if (!isfinite(bodies->H[k]))
            return dls_fail(error, DLS_ERROR_INPUT, "H's entry %lld is %g, expected a finite number",
                            (long long)k, bodies->H[k]);
    return DLS_OK;
}

/* L with A = L Lᵀ for a positive semidefinite A; a locked freedom has a zero row and column. Rounding is
 * judged against √(A_ii A_jj), so that masses and inertias of any size may stand side by side. */
static bool semidefinite_factor(int n, const double *A, double *L) {
    double size[SMALL_MAX];
    for (int i = 0; i < n; i++) {
        if (!(A[i + n * i] >= 0)) return false;
        size[i] = sqrt(A[i + n * i]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (!(fabs(A[i + n * j] - A[j + n * i]) <= 1e-9 * size[i] * size[j])) return false;
    for (int j = 0; j < n; j++) {
        double pivot = A[j + n * j];
        for (int k = 0; k < j; k++) pivot -= L[j + n * k] * L[j + n * k];
        if (!(pivot >= -1e-10 * A[j + n * j])) return false;
        double root = pivot > 1e-13 * A[j + n * j] ? sqrt(pivot) : 0;
        for (int i = 0; i < n; i++) {
            double sum = A[i + n * j];
            for (int k = 0; k < j; k++) sum -= L[i + n * k] * L[j + n * k];
            if (i > j && root == 0 && !(fabs(sum) <= 1e-4 * size[i] * size[j])) return false;
            L[i + n * j] = i < j ? 0 : root > 0 ? sum / root : 0;
        }
    }
    return true;
}

/* G = H L for one side, from column-major H to rows. */
static void scale_side(int d, int dof, const double *H, const double *L, double *G) {
    for (int i = 0; i < d; i++)
        for (int k = 0; k < dof; k++) {
            double sum = 0;
            for (int j = 0; j < dof; j++) sum += H[i + d * j] * L[j + dof * k];
            G[i * dof + k] = sum;
        }
}

static void fill_rows(dls_problem *p, const dls_bodies *bodies, const double *L) {
    int dof = bodies->body_dof;
    int64_t at = 0;
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c), *pair = p->bodies.body + 2 * c;
        double *first = p->bodies.G + at, *second = first + d * dof;
        if (p->bodies.row_start) p->bodies.row_start[c] = at;
        for (int side = 0; side < 2; side++, at += d * dof) {
            pair[side] = bodies->body[2 * c + side];
            double *G = side ? second : first;
            if (pair[side] >= 0)
                scale_side(d, dof, bodies->H + at, L + (int64_t)pair[side] * dof * dof, G);
            else
                for (int k = 0; k < d * dof; k++) G[k] = 0;
        }
        if (pair[0] >= 0 && pair[0] == pair[1]) { /* a body that touches itself: one side carries both */
            for (int k = 0; k < d * dof; k++) first[k] += second[k], second[k] = 0;
            pair[1] = -1;
        }
    }
}

/* W_cj += G_c G_jᵀ over one shared body, d × e column-major. */
static void add_outer(int d, int e, int dof, const double *Gc, const double *Gj, double *W) {
    for (int j = 0; j < e; j++)
        for (int i = 0; i < d; i++) W[i + d * j] += small_dot(dof, Gc + i * dof, Gj + j * dof);
}

static void fill_diagonal(dls_problem *p) {
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c);
        double *W = p->diagonal + (p->uniform ? (int64_t)c * d * d : p->diagonal_start[c]);
        for (int side = 0; side < 2; side++)
            add_outer(d, d, p->bodies.dof, side_of(p, c, side), side_of(p, c, side), W);
    }
}

static dls_status list_entries(dls_problem *p, dls_error *error) {
    dls_body_rows *B = &p->bodies;
    B->start = dls_problem_take(p, p->body_count + 2, sizeof(int64_t));
    if (!B->start) return dls_fail_memory(error);
    for (int k = 0; k < 2 * p->block_count; k++)
        if (B->body[k] >= 0) B->start[B->body[k] + 2]++;
    for (int body = 0; body < p->body_count; body++) B->start[body + 2] += B->start[body + 1];
    B->entry = dls_problem_take(p, B->start[p->body_count + 1], sizeof(int));
    if (!B->entry) return dls_fail_memory(error);
    for (int k = 0; k < 2 * p->block_count; k++)
        if (B->body[k] >= 0) B->entry[B->start[B->body[k] + 1]++] = k;
    return DLS_OK;
}

static dls_status build(dls_problem *p, const dls_bodies *bodies, double *L, dls_error *error) {
    int dof = bodies->body_dof;
    for (int body = 0; body < bodies->body_count; body++)
        if (!semidefinite_factor(dof, bodies->inverse_mass + (int64_t)body * dof * dof,
                                 L + (int64_t)body * dof * dof))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "inverse mass of body %d is not finite and positive semidefinite", body);
    p->body_count = bodies->body_count;
    p->bodies.dof = dof;
    p->bodies.body = DLS_NEW(int, 2 * (int64_t)p->block_count);
    p->bodies.G = DLS_NEW(double, 2 * (int64_t)p->row_count * dof);
    if (!p->uniform) p->bodies.row_start = DLS_NEW(int64_t, p->block_count);
    if (!p->bodies.body || !p->bodies.G || (!p->uniform && !p->bodies.row_start))
        return dls_fail_memory(error);
    fill_rows(p, bodies, L);
    fill_diagonal(p);
    return list_entries(p, error);
}

dls_status dls_problem_create_bodies(const dls_problem_def *def, const dls_bodies *bodies,
                                     dls_problem **problem, dls_error *error) {
    dls_error_clear(error);
    if (!problem) return dls_fail(error, DLS_ERROR_ARGUMENT, "nowhere to put the problem: NULL");
    *problem = NULL;
    dls_problem *p;
    dls_status status = dls_problem_begin(def, NULL, &p, error);
    if (status) return status;
    p->op = &dls_operator_bodies;
    status = check_bodies(p, bodies, error);
    if (!status) {
        double *L = DLS_NEW(double, (int64_t)bodies->body_count * bodies->body_dof * bodies->body_dof);
        status = L ? build(p, bodies, L, error) : dls_fail_memory(error);
        dls_free(L);
    }
    if (!status) status = dls_problem_finish(p, error);
    if (status)
        dls_problem_destroy(p);
    else
        *problem = p;
    return status;
}

/* ---- contacts of one size in a workspace ---- */

dls_status dls_problem_begin_contacts(dls_workspace *workspace, const dls_contacts_def *def,
                                      dls_problem **problem, dls_error *error) {
    dls_problem *p = *problem = DLS_TAKE_ZERO(workspace, dls_problem, 1);
    if (!p) return dls_fail_memory(error);
    int64_t n = def->count, d = def->d, rows = n * d;
    bool round = def->round && n;
    p->workspace = workspace;
    p->op = round ? &dls_operator_round : &dls_operator_bodies;
    p->block_count = p->contact_count = def->count;
    p->row_count = (int)rows;
    p->body_count = def->body_count;
    p->uniform = n ? def->d : 0;
    p->reference_velocity = def->reference_velocity;
    p->row = DLS_TAKE(workspace, int, n + 1);
    p->kind = DLS_TAKE_ZERO(workspace, uint8_t, n);
    p->mu = DLS_TAKE(workspace, double, n);
    p->scale = DLS_TAKE(workspace, double, n);
    p->speed = DLS_TAKE_ZERO(workspace, double, n);
    p->b = DLS_TAKE(workspace, double, rows);
    p->bodies.dof = def->dof;
    p->bodies.body = DLS_TAKE(workspace, int, 2 * n);
    if (round) {
        p->bodies.round = DLS_TAKE(workspace, dls_round_row, n);
    } else {
        p->bodies.G = DLS_TAKE(workspace, double, 2 * rows * def->dof);
        p->diagonal = DLS_TAKE_ZERO(workspace, double, rows *d + DLS_MAX_BLOCK);
    }
    if (!n) { /* what is not uniform has these */
        p->diagonal_start = DLS_TAKE_ZERO(workspace, int64_t, 1);
        p->bodies.row_start = DLS_TAKE_ZERO(workspace, int64_t, 1);
        if (!p->diagonal_start || !p->bodies.row_start) return dls_fail_memory(error);
    }
    if (!p->row || !p->kind || !p->mu || !p->scale || !p->speed || !p->b || !p->bodies.body ||
        (round ? !p->bodies.round : !p->bodies.G || !p->diagonal))
        return dls_fail_memory(error);
    for (int c = 0; c <= def->count; c++) p->row[c] = c * def->d;
    return DLS_OK;
}

/* Diagonal blocks G_c G_cᵀ: positive semidefinite as they come. */
static double end_range(void *self, int first, int end) {
    dls_problem *p = self;
    int d = p->uniform;
    double sum = 0;
    for (int c = first; c < end; c++) {
        double *W = p->diagonal + (int64_t)c * d * d;
        for (int side = 0; side < 2; side++) {
            const double *G = side_of(p, c, side);
            if (p->bodies.body[2 * c + side] < 0) continue;
            if (d == 3 && p->bodies.dof == 6)
                add_outer(3, 3, 6, G, G, W);
            else
                add_outer(d, d, p->bodies.dof, G, G, W);
        }
        p->scale[c] = small_trace(d, W) / d;
        sum += p->scale[c];
    }
    return sum;
}

dls_status dls_problem_end_contacts(dls_problem *p, int threads, dls_error *error) {
    double sum =
        p->bodies.round ? dls_round_end(p, threads) : dls_parallel_sum(p->block_count, threads, end_range, p);
    p->mean_scale = p->block_count ? sum / p->block_count : 1;
    for (int c = 0; c < p->block_count; c++)
        if (!(p->scale[c] > 0) || isinf(p->scale[c]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "contact %d: nothing that it touches can move (trace of its block %g)", c,
                            p->scale[c]);
    return list_entries(p, error);
}

/* ---- assembly of stored W ---- */

/* Counts the blocks coupled with c, and lists them, ascending, where column is not NULL. */
static int64_t coupled_columns(const dls_problem *p, int c, int *column) {
    coupled_walk walk = begin_coupled(p, c);
    int64_t count = 0;
    for (int j = next_coupled(p, c, &walk); j >= 0; j = next_coupled(p, c, &walk)) {
        if (column) column[count] = j;
        count++;
    }
    return count;
}

/* side_of, or the same made in room from the row of balls. */
static const double *rows_of(const dls_problem *p, int c, int side, double *room) {
    if (!p->bodies.round) return side_of(p, c, side);
    dls_round_side(p, c, side, room);
    return room;
}

static void assemble_block(const dls_problem *p, int c, int j, double *W) {
    const int *of_c = p->bodies.body + 2 * c, *of_j = p->bodies.body + 2 * j;
    double room[2][18];
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++)
            if (of_c[s] >= 0 && of_c[s] == of_j[t])
                add_outer(dls_size(p, c), dls_size(p, j), p->bodies.dof, rows_of(p, c, s, room[0]),
                          rows_of(p, j, t, room[1]), W);
}

static dls_status assemble_rows(const dls_problem *p, dls_problem *s, dls_error *error) {
    int n = p->block_count;
    dls_block_rows *W = &s->blocks;
    W->start = dls_problem_take(s, n + 1, sizeof(int64_t));
    if (!W->start) return dls_fail_memory(error);
    for (int c = 0; c < n; c++) W->start[c + 1] = W->start[c] + coupled_columns(p, c, NULL);
    W->column = dls_problem_take(s, W->start[n], sizeof(int));
    if (!p->uniform) W->value_start = dls_problem_take(s, W->start[n] + 1, sizeof(int64_t));
    if (!W->column || (!p->uniform && !W->value_start)) return dls_fail_memory(error);
    int64_t values = 0;
    for (int c = 0; c < n; c++) {
        coupled_columns(p, c, W->column + W->start[c]);
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
            assemble_block(p, c, W->column[k],
                           W->value + (p->uniform ? k * p->uniform * p->uniform : W->value_start[k]));
    return DLS_OK;
}

static dls_status copy_rows(const dls_problem *p, dls_problem *s, dls_error *error) {
    const dls_block_rows *from = &p->blocks;
    dls_block_rows *to = &s->blocks;
    size_t n = (size_t)p->block_count, blocks = (size_t)from->start[n];
    size_t values =
        p->uniform ? blocks * (size_t)(p->uniform * p->uniform) : (size_t)from->value_start[blocks];
    to->start = dls_alloc_copy(from->start, n + 1, sizeof(int64_t));
    to->column = dls_alloc_copy(from->column, blocks, sizeof(int));
    if (!p->uniform) to->value_start = dls_alloc_copy(from->value_start, blocks + 1, sizeof(int64_t));
    to->value = dls_alloc_copy(from->value, values + DLS_SIMD_PAD, sizeof(double));
    return to->start && to->column && (p->uniform || to->value_start) && to->value ? DLS_OK
                                                                                   : dls_fail_memory(error);
}

/* A definition that describes p again; sizes holds block sizes where they differ. */
static dls_problem_def describe(const dls_problem *p, int *sizes) {
    for (int c = 0; sizes && c < p->block_count; c++) sizes[c] = dls_size(p, c);
    return (dls_problem_def){.block_count = p->block_count,
                             .dimension = p->uniform,
                             .block_size = sizes,
                             .block_kind = p->kind,
                             .mu = p->mu,
                             .b = p->b,
                             .reference_velocity = p->reference_velocity,
                             .speed = p->speed,
                             .block_inverse_mass = p->inverse_mass};
}

static dls_status assemble_stored(const dls_problem *p, dls_workspace *workspace, dls_problem **stored,
                                  dls_error *error) {
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
        double *W = s->diagonal + (s->uniform ? c * d * d : s->diagonal_start[c]);
        dls_problem_diagonal_block(p, c, W);
    }
    status = dls_problem_is_stored(p) ? copy_rows(p, s, error) : assemble_rows(p, s, error);
    if (!status) status = dls_problem_finish(s, error);
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
    *stored = NULL;
    return assemble_stored(p, NULL, stored, error);
}

dls_status dls_problem_assemble_in(const dls_problem *p, dls_workspace *workspace, dls_problem **stored,
                                   dls_error *error) {
    *stored = NULL;
    return assemble_stored(p, workspace, stored, error);
}
