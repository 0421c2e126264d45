/* Visit blocks in turn:  v = b_c + Σ_{j≠c} W_cj r_j,  r_c ← r_c + ω (law(W_cc, v, r_c) − r_c). */
#include "solve/sweep/sweep.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/simd.h"
#include "base/small.h"
#include "problem/body_rows.h"
#include "solve/law/law.h"
#include "solve/sweep/sweep_parts.h"

#include <math.h>

enum {
    LEAST_COLOUR = 64,
    AUTO_COLOUR_BLOCKS = 4096,
    CHUNKS_WANTED = 256,
    LONGEST_CHUNK = 1024,
    RESTING_BLOCKS = 256
};

/* ---- bilateral blocks: u_c = 0, so r_c = −W_cc⁻¹ v ---- */

static const double REDUNDANT = 1e12;

/* data: W_cc⁻¹, or NaN first where W_cc is singular to rounding: W_ii (W⁻¹)_ii = 1/(1 − R²) of row i over the
 * others, whatever their units. */
static void prepare_bilateral(int d, const double *W, double *data) {
    bool singular = !small_invert(d, W, data);
    for (int i = 0; i < d && !singular; i++) singular = !(fabs(W[i + d * i] * data[i + d * i]) < REDUNDANT);
    if (singular) data[0] = NAN;
}

static void solve_bilateral(int d, const double *W, const double *data, const double *v, double *r) {
    if (isnan(data[0])) { /* redundant rows: relax them one by one, which never divides by zero */
        for (int i = 0; i < d; i++) {
            double u = v[i];
            for (int j = 0; j < d; j++) u += W[i + d * j] * r[j];
            r[i] -= u / W[i + d * i];
        }
        return;
    }
    for (int i = 0; i < d; i++) r[i] = 0;
    small_multiply_subtract(d, data, v, r);
}

/* ---- one visit ---- */

static inline double *law_data(const dls_sweep *s, int c) {
    return s->data + (s->data_start ? s->data_start[c] : (int64_t)c * s->data_stride);
}

/* Block c with v in hand; leaves its step in x, and tells whether it is one. */
static inline bool visit_local(dls_sweep *s, int c, int d, const double *v, double *r, double *x,
                               dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    double room[DLS_ROUND_DIAGONAL];
    const double *W = dls_diagonal_in(p, c, room), *data = law_data(s, c);
    double *rc = r + p->row[c];
    for (int i = 0; i < d; i++) x[i] = rc[i];
    if (p->kind[c] == DLS_CONTACT)
        change->unsolved += s->law->solve(&s->local, d, W, p->mu[c], data, v, x) == DLS_UNSOLVED;
    else
        solve_bilateral(d, W, data, v, x);
    return dls_sweep_enter(s, d, p->scale[c], x, rc, change);
}

static inline void visit(dls_sweep *s, int c, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    double v[DLS_MAX_BLOCK], x[DLS_MAX_BLOCK];
    p->op->local(p, c, r, s->state, v);
    if (visit_local(s, c, dls_size(p, c), v, r, x, change)) p->op->changed(p, c, x, s->state);
}

/* Stored blocks of one size: no call through the operator, constant loops. */
static inline void visit_stored3(dls_sweep *s, int c, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    int64_t first = p->blocks.start[c];
    double v[3] = {p->b[3 * c], p->b[3 * c + 1], p->b[3 * c + 2]}, x[3];
    dls_block3_row(p->blocks.start[c + 1] - first, p->blocks.value + 9 * first, p->blocks.column + first, r,
                   v);
    visit_local(s, c, 3, v, r, x, change);
}

static inline void visit_stored2(dls_sweep *s, int c, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    int64_t first = p->blocks.start[c];
    double v[2] = {p->b[2 * c], p->b[2 * c + 1]}, x[2];
    dls_block2_row(p->blocks.start[c + 1] - first, p->blocks.value + 4 * first, p->blocks.column + first, r,
                   v);
    visit_local(s, c, 2, v, r, x, change);
}

/* Rigid bodies, matrix-free: v from both sides, and the step back to both. */
static inline void gather_bodies(int d, int dof, const double *G, const int *body, const double *state,
                                 double *v) {
    if (d == 3 && dof == 6) {
        body_sums sums = {{{0}}, {{0}}};
        for (int side = 0; side < 2; side++)
            if (body[side] >= 0) body_gather36(G + 18 * side, state + 6 * (int64_t)body[side], &sums);
        body_gather36_end(&sums, v);
        return;
    }
    for (int side = 0; side < 2; side++)
        if (body[side] >= 0) body_gather(d, dof, G + side * d * dof, state + (int64_t)body[side] * dof, v);
}

static inline void scatter_bodies(int d, int dof, const double *G, const int *body, const double *x,
                                  double *state) {
    for (int side = 0; side < 2; side++) {
        if (body[side] < 0) continue;
        if (d == 3 && dof == 6)
            body_scatter36(G + 18 * side, x, state + 6 * (int64_t)body[side]);
        else
            body_scatter(d, dof, G + side * d * dof, x, state + (int64_t)body[side] * dof);
    }
}

static inline void visit_bodies(dls_sweep *s, int c, int d, int dof, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    const double *G = p->bodies.G + 2 * (int64_t)c * d * dof;
    const int *body = p->bodies.body + 2 * (int64_t)c;
    double v[3] = {0}, x[3] = {0};
    for (int i = 0; i < d; i++) v[i] = p->b[c * d + i];
    small_multiply_subtract(d, dls_diagonal(p, c), r + (int64_t)c * d, v);
    gather_bodies(d, dof, G, body, s->state, v);
    if (visit_local(s, c, d, v, r, x, change)) {
        scatter_bodies(d, dof, G, body, x, s->state);
        if (s->rest) s->pause[c] = 0;
    } else if (s->rest && r[(int64_t)c * d] == 0) {
        dls_sweep_let_rest(s, c);
    }
}

static inline void visit_bodies2(dls_sweep *s, int c, double *r, dls_sweep_change *change) {
    visit_bodies(s, c, 2, 3, r, change);
}

static inline void visit_bodies3(dls_sweep *s, int c, double *r, dls_sweep_change *change) {
    visit_bodies(s, c, 3, 6, r, change);
}

static dls_visit_kind kind_of_visit(const dls_problem *p, const dls_law *law) {
    bool stored = p->op == &dls_operator_stored, bodies = p->op == &dls_operator_bodies;
    if (p->op == &dls_operator_round && law == &dls_law_exact) return DLS_VISIT_ROUND;
    if (p->uniform == 2)
        return stored ? DLS_VISIT_STORED2 : bodies && p->bodies.dof == 3 ? DLS_VISIT_BODIES2 : DLS_VISIT_ANY;
    if (p->uniform == 3)
        return stored ? DLS_VISIT_STORED3 : bodies && p->bodies.dof == 6 ? DLS_VISIT_BODIES3 : DLS_VISIT_ANY;
    return DLS_VISIT_ANY;
}

typedef void (*visit_function)(dls_sweep *s, int c, double *r, dls_sweep_change *change);

/* Inlined with the visit that it is called for. */
static inline __attribute__((always_inline)) dls_sweep_change
visit_each(dls_sweep *s, int first, int end, double *r, bool backward, visit_function one) {
    dls_sweep_change change = {0, 0, 0, 0};
    for (int k = 0; k < end - first; k++) {
        int place = backward ? end - 1 - k : first + k, c = s->order ? s->order[place] : place;
        if (s->rest && s->rest[c])
            s->rest[c]--;
        else
            one(s, c, r, &change);
    }
    return change;
}

static dls_sweep_change visit_range(dls_sweep *s, int first, int end, double *r, bool backward) {
    switch (s->visits) {
    case DLS_VISIT_ROUND:
        return dls_sweep_round(s, first, end, r, backward);
    case DLS_VISIT_STORED3:
        return visit_each(s, first, end, r, backward, visit_stored3);
    case DLS_VISIT_STORED2:
        return visit_each(s, first, end, r, backward, visit_stored2);
    case DLS_VISIT_BODIES3:
        return visit_each(s, first, end, r, backward, visit_bodies3);
    case DLS_VISIT_BODIES2:
        return visit_each(s, first, end, r, backward, visit_bodies2);
    default:
        return visit_each(s, first, end, r, backward, visit);
    }
}

/* ---- a sweep ---- */

static void add_change(dls_sweep_change *sum, const dls_sweep_change *part) {
    sum->velocity2 += part->velocity2;
    sum->normal = fmax(sum->normal, part->normal);
    sum->tangent = fmax(sum->tangent, part->tangent);
    sum->unsolved += part->unsolved;
}

static void shuffle(dls_sweep *s) {
    dls_random generator = {s->random};
    for (int i = s->problem->block_count - 1; i > 0; i--) {
        int j = (int)dls_random_below(&generator, (uint64_t)i + 1), t = s->order[i];
        s->order[i] = s->order[j];
        s->order[j] = t;
    }
    s->random = generator.state;
}

static void visit_piece(dls_sweep *s, int k, double *r, bool backward) {
    s->parts[k] = visit_range(s, s->piece[k], s->piece[k + 1], r, backward);
}

static const dls_sweep_range *range_at(const dls_sweep *s, int k, bool backward) {
    return &s->ranges[backward ? s->range_count - 1 - k : k];
}

static void run_alone(dls_sweep *s, double *r, bool backward) {
    for (int k = 0; k < s->range_count; k++) {
        const dls_sweep_range *range = range_at(s, k, backward);
        for (int i = range->first; i < range->end; i++) visit_piece(s, i, r, backward);
    }
}

/* All threads walk the ranges together and meet after each. */
static void run_together(dls_sweep *s, double *r, bool backward) {
#pragma omp parallel num_threads(s->threads)
    for (int k = 0; k < s->range_count; k++) {
        const dls_sweep_range *range = range_at(s, k, backward);
        if (range->parallel) {
#pragma omp for schedule(static)
            for (int i = range->first; i < range->end; i++) visit_piece(s, i, r, backward);
        } else {
#pragma omp single
            for (int i = range->first; i < range->end; i++) visit_piece(s, i, r, backward);
        }
    }
}

dls_sweep_change dls_sweep_run(dls_sweep *s, double *r, bool backward) {
    dls_sweep_change sum = {0, 0, 0, 0};
    if (s->random) shuffle(s);
    if (s->threads > 1 && s->colours > 0)
        run_together(s, r, backward);
    else
        run_alone(s, r, backward);
    for (int k = 0; k < s->piece_count; k++) add_change(&sum, &s->parts[k]);
    sum.tangent = sqrt(sum.tangent);
    return sum;
}

void dls_sweep_start(dls_sweep *s, const double *r) {
    if (s->rest) memset(s->rest, 0, 2 * (size_t)s->problem->block_count);
    s->problem->op->start(s->problem, r, s->state, s->threads);
}

/* ---- preparation ---- */

/* Sorts blocks by colour, in natural order within each, and counts the colours. */
static void sort_by_colour(dls_sweep *s, uint8_t *colour) {
    int n = s->problem->block_count, count[256] = {0}, place[256], next = 0;
    for (int c = 0; c < n; c++) count[colour[c]]++;
    for (int c = 0; c < n; c++) /* colours too small to be worth a barrier join the blocks that have none */
        if (count[colour[c]] < LEAST_COLOUR) colour[c] = DLS_NO_COLOUR;
    memset(count, 0, sizeof count);
    for (int c = 0; c < n; c++) count[colour[c]]++;
    for (int k = 0; k < 256; k++) {
        place[k] = next;
        next += count[k];
        s->colours += count[k] && k != DLS_NO_COLOUR;
    }
    s->serial_blocks = count[DLS_NO_COLOUR];
    for (int c = 0; c < n; c++) s->order[place[colour[c]]++] = c;
}

/* A piece is what one chunk has of one colour; a range is a colour. What has none is one piece, at the end.
 */
static void cut_pieces(dls_sweep *s, const uint8_t *colour, int chunk) {
    int n = s->problem->block_count;
    for (int place = 0; place < n; place++) {
        int c = s->order[place], before = place ? s->order[place - 1] : -1;
        bool new_colour = !place || colour[c] != colour[before], parallel = colour[c] != DLS_NO_COLOUR;
        if (new_colour) {
            if (s->range_count) s->ranges[s->range_count - 1].end = s->piece_count;
            s->ranges[s->range_count++] = (dls_sweep_range){s->piece_count, 0, parallel};
        }
        if (new_colour || (parallel && c / chunk != before / chunk)) s->piece[s->piece_count++] = place;
    }
    if (s->range_count) s->ranges[s->range_count - 1].end = s->piece_count;
    s->piece[s->piece_count] = n;
}

static bool order_by_colour(dls_sweep *s, int chunk, dls_workspace *w) {
    const dls_problem *p = s->problem;
    uint8_t *colour = DLS_TAKE(w, uint8_t, p->block_count);
    uint64_t *scratch = DLS_TAKE(w, uint64_t, p->body_count);
    if (!colour || !scratch) return false;
    p->op->colour(p, chunk, colour, scratch);
    sort_by_colour(s, colour);
    cut_pieces(s, colour, chunk);
    return true;
}

/* Long enough for caches, short enough for every thread to have some of each colour. */
static int chunk_size(int n) {
    int size = n / CHUNKS_WANTED;
    return size < 1 ? 1 : size > LONGEST_CHUNK ? LONGEST_CHUNK : size;
}

static bool prepare_order(dls_sweep *s, const dls_nlgs_options *o, dls_workspace *w) {
    int n = s->problem->block_count, chunk = chunk_size(n), pieces = n / chunk + 2;
    dls_order order = o->order;
    if (order == DLS_ORDER_AUTO) order = n < AUTO_COLOUR_BLOCKS ? DLS_ORDER_NATURAL : DLS_ORDER_COLOURED;
    s->ranges = DLS_TAKE(w, dls_sweep_range, DLS_MAX_COLOURS + 2);
    s->piece = DLS_TAKE(w, int, pieces + 1);
    s->parts = DLS_TAKE(w, dls_sweep_change, pieces);
    s->order = order == DLS_ORDER_NATURAL ? NULL : DLS_TAKE(w, int, n);
    if (!s->ranges || !s->piece || !s->parts || (order != DLS_ORDER_NATURAL && !s->order)) return false;
    if (order == DLS_ORDER_COLOURED) return order_by_colour(s, chunk, w);
    s->piece_count = s->range_count = 1;
    s->piece[0] = 0;
    s->piece[1] = n;
    s->ranges[0] = (dls_sweep_range){0, 1, false};
    if (order == DLS_ORDER_RANDOM) {
        for (int c = 0; c < n; c++) s->order[c] = c;
        s->random = (uint64_t)o->seed + 1;
        shuffle(s);
        if (o->acceleration != DLS_PLAIN) s->random = 0; /* what is accelerated must stay one map */
    }
    return true;
}

static void prepare_range(void *self, int first, int end) {
    const dls_sweep *s = self;
    const dls_problem *p = s->problem;
    for (int c = first; c < end; c++) {
        int d = dls_size(p, c);
        double room[DLS_ROUND_DIAGONAL];
        const double *W = dls_diagonal_in(p, c, room);
        if (p->kind[c] == DLS_CONTACT)
            s->law->prepare(&s->local, d, W, p->mu[c], law_data(s, c));
        else
            prepare_bilateral(d, W, law_data(s, c));
    }
}

static bool prepare_law(dls_sweep *s, dls_workspace *w) {
    const dls_problem *p = s->problem;
    int64_t total = 0;
    if (s->visits == DLS_VISIT_ROUND) return true;
    if (p->uniform) {
        s->data_stride = s->law->data_size(p->uniform);
        total = (int64_t)p->block_count * s->data_stride;
    } else {
        s->data_start = DLS_TAKE(w, int64_t, p->block_count);
        if (!s->data_start) return false;
        for (int c = 0; c < p->block_count; c++) {
            int d = dls_size(p, c);
            s->data_start[c] = total;
            total += p->kind[c] == DLS_CONTACT ? s->law->data_size(d) : d * d;
        }
    }
    s->data = DLS_TAKE(w, double, total);
    if (!s->data) return false;
    dls_parallel_for(p->block_count, s->threads, prepare_range, s);
    return true;
}

/* Momentum does not mind sweeps that leave out what does not move; Anderson's map must stay one. */
static bool prepare_rests(dls_sweep *s, const dls_nlgs_options *o, dls_workspace *w) {
    int n = s->problem->block_count;
    bool momentum = o->acceleration == DLS_MOMENTUM || o->acceleration == DLS_ACCELERATION_AUTO;
    if (!momentum || dls_problem_is_stored(s->problem) || s->visits == DLS_VISIT_ANY || n < RESTING_BLOCKS)
        return true;
    s->rest = DLS_TAKE_ZERO(w, uint8_t, 2 * (int64_t)n);
    s->pause = s->rest + n;
    return s->rest != NULL;
}

dls_status dls_sweep_prepare(dls_sweep *s, const dls_problem *p, const dls_nlgs_options *o, dls_workspace *w,
                             dls_error *error) {
    *s = (dls_sweep){.problem = p,
                     .law = dls_law_find(o->law),
                     .local = o->local,
                     .threads = o->stop.threads,
                     .relaxation = o->relaxation,
                     .increments = o->stop.measure != DLS_STOP_RESIDUAL};
    if (!s->law) return dls_fail(error, DLS_ERROR_ARGUMENT, "no law '%s'", o->law);
    s->visits = kind_of_visit(p, s->law);
    s->state = DLS_TAKE(w, double, p->op->state_size(p));
    if (!s->state || !prepare_order(s, o, w) || !prepare_law(s, w) || !prepare_rests(s, o, w))
        return dls_fail_memory(error);
    return DLS_OK;
}
