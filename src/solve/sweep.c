/* Visit blocks in turn:  v = b_c + Σ_{j≠c} W_cj r_j,  r_c ← r_c + ω (law(W_cc, v, r_c) − r_c). */
#include "solve/sweep.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/simd.h"
#include "base/small.h"
#include "problem/body_rows.h"

#include <math.h>

enum { CHUNK = 128, LEAST_COLOUR = 64, AUTO_COLOUR_BLOCKS = 4096 };

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

/* r_c ← r_c + ω (x − r_c) for the law's answer x; leaves the step in x, and tells whether it is one. */
static inline bool enter(dls_sweep *s, int d, double scale, double *x, double *rc, dls_sweep_change *change) {
    double sum = 0;
    for (int i = 0; i < d; i++) {
        x[i] = s->relaxation * (x[i] - rc[i]);
        rc[i] += x[i];
        sum += x[i] * x[i];
    }
    double normal = fabs(x[0]), tangent = sum - x[0] * x[0];
    change->velocity2 += scale * scale * sum;
    change->normal = normal > change->normal ? normal : change->normal;
    change->tangent = tangent > change->tangent ? tangent : change->tangent;
    return sum > 0;
}

/* Block c with v in hand; leaves its step in x, and tells whether it is one. */
static inline bool visit_local(dls_sweep *s, int c, int d, const double *v, double *r, double *x,
                               dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    const double *W = dls_diagonal(p, c), *data = law_data(s, c);
    double *rc = r + p->row[c];
    for (int i = 0; i < d; i++) x[i] = rc[i];
    if (p->kind[c] == DLS_CONTACT)
        change->unsolved += s->law->solve(&s->local, d, W, p->mu[c], data, v, x) == DLS_UNSOLVED;
    else
        solve_bilateral(d, W, data, v, x);
    return enter(s, d, p->scale[c], x, rc, change);
}

static inline void visit(dls_sweep *s, int c, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    double v[DLS_MAX_BLOCK], x[DLS_MAX_BLOCK];
    p->op->local(p, c, r, s->state, v);
    if (visit_local(s, c, dls_size(p, c), v, r, x, change)) p->op->changed(p, c, x, s->state);
}

/* Stored blocks of one size: no call through the operator, constant loops. */
static inline void visit3(dls_sweep *s, int c, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    int64_t first = p->blocks.start[c];
    double v[3] = {p->b[3 * c], p->b[3 * c + 1], p->b[3 * c + 2]}, x[3];
    dls_block3_row(p->blocks.start[c + 1] - first, p->blocks.value + 9 * first, p->blocks.column + first, r,
                   v);
    visit_local(s, c, 3, v, r, x, change);
}

static inline void visit2(dls_sweep *s, int c, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    int64_t first = p->blocks.start[c];
    double v[2] = {p->b[2 * c], p->b[2 * c + 1]}, x[2];
    dls_block2_row(p->blocks.start[c + 1] - first, p->blocks.value + 4 * first, p->blocks.column + first, r,
                   v);
    visit_local(s, c, 2, v, r, x, change);
}

/* ---- the stream of a coloured order: all that a visit reads, in the order of visits ---- */

/* One contact of the stream: W_cc, the law's data, b, μ and scale; then, of a stored W, the blocks of its row
 * and their columns, or, matrix-free, the rows of G. */
static inline int head_size(const dls_sweep *s, int d) { return d * d + s->data_stride + d + 2; }

static inline void visit_stored(dls_sweep *s, int place, int d, double *r, dls_sweep_change *change) {
    int c = s->order[place];
    const double *W = s->stream + s->stream_start[place], *data = W + d * d, *b = data + s->data_stride;
    const double *values = b + d + 2;
    int64_t first = s->problem->blocks.start[c], count = s->problem->blocks.start[c + 1] - first;
    const int *columns = (const int *)(const void *)(values + count * d * d);
    double v[3] = {0}, x[3] = {0}, *rc = r + (int64_t)c * d;
    for (int i = 0; i < d; i++) {
        v[i] = b[i];
        x[i] = rc[i];
    }
    if (d == 3)
        dls_block3_row(count, values, columns, r, v);
    else
        dls_block2_row(count, values, columns, r, v);
    change->unsolved += s->law->solve(&s->local, d, W, b[d], data, v, x) == DLS_UNSOLVED;
    enter(s, d, b[d + 1], x, rc, change);
}

static inline void visit_bodies(dls_sweep *s, int place, int d, int dof, double *r,
                                dls_sweep_change *change) {
    int c = s->order[place];
    const double *W = s->stream + s->stream_start[place], *data = W + d * d, *b = data + s->data_stride;
    const double *G[2] = {b + d + 2, b + d + 2 + d * dof};
    const int *body = s->problem->bodies.body + 2 * (int64_t)c;
    double v[3] = {0}, x[3] = {0}, *rc = r + (int64_t)c * d;
    for (int i = 0; i < d; i++) {
        v[i] = b[i];
        x[i] = rc[i];
    }
    small_multiply_subtract(d, W, x, v);
    for (int side = 0; side < 2; side++)
        if (body[side] >= 0) body_gather(d, dof, G[side], s->state + (int64_t)body[side] * dof, v);
    change->unsolved += s->law->solve(&s->local, d, W, b[d], data, v, x) == DLS_UNSOLVED;
    if (!enter(s, d, b[d + 1], x, rc, change)) return;
    for (int side = 0; side < 2; side++)
        if (body[side] >= 0) body_scatter(d, dof, G[side], x, s->state + (int64_t)body[side] * dof);
}

static dls_sweep_change visit_stream(dls_sweep *s, int first, int end, double *r, bool backward) {
    dls_sweep_change change = {0, 0, 0, 0};
    bool stored = s->problem->op == &dls_operator_stored, spatial = s->problem->uniform == 3;
    for (int k = 0; k < end - first; k++) {
        int place = backward ? end - 1 - k : first + k;
        if (stored && spatial)
            visit_stored(s, place, 3, r, &change);
        else if (stored)
            visit_stored(s, place, 2, r, &change);
        else if (spatial)
            visit_bodies(s, place, 3, 6, r, &change);
        else
            visit_bodies(s, place, 2, 3, r, &change);
    }
    return change;
}

static dls_sweep_change visit_range(dls_sweep *s, int first, int end, double *r, bool backward) {
    const dls_problem *p = s->problem;
    if (s->stream) return visit_stream(s, first, end, r, backward);
    dls_sweep_change change = {0, 0, 0, 0};
    int fast = p->op == &dls_operator_stored ? p->uniform : 0;
    for (int k = 0; k < end - first; k++) {
        int place = backward ? end - 1 - k : first + k, c = s->order ? s->order[place] : place;
        switch (fast) {
        case 3:
            visit3(s, c, r, &change);
            break;
        case 2:
            visit2(s, c, r, &change);
            break;
        default:
            visit(s, c, r, &change);
        }
    }
    return change;
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

static int chunks_of(const dls_sweep_range *range) {
    return range->parallel ? (range->end - range->first + CHUNK - 1) / CHUNK : 1;
}

/* Chunk i of a parallel range: chunks do not depend on threads. */
static dls_sweep_change visit_chunk(dls_sweep *s, const dls_sweep_range *range, int i, double *r,
                                    bool backward) {
    int first = range->first + i * CHUNK, end = first + CHUNK < range->end ? first + CHUNK : range->end;
    return visit_range(s, first, end, r, backward);
}

static const dls_sweep_range *range_at(const dls_sweep *s, int k, bool backward) {
    return &s->ranges[backward ? s->range_count - 1 - k : k];
}

static void run_alone(dls_sweep *s, double *r, bool backward) {
    for (int k = 0, part = 0; k < s->range_count; k++) {
        const dls_sweep_range *range = range_at(s, k, backward);
        int chunks = chunks_of(range);
        for (int i = 0; i < chunks; i++)
            s->parts[part + i] = range->parallel ? visit_chunk(s, range, i, r, backward)
                                                 : visit_range(s, range->first, range->end, r, backward);
        part += chunks;
    }
}

/* All threads walk the ranges together and meet after each. */
static void run_together(dls_sweep *s, double *r, bool backward) {
#pragma omp parallel num_threads(s->threads)
    {
        int part = 0;
        for (int k = 0; k < s->range_count; k++) {
            const dls_sweep_range *range = range_at(s, k, backward);
            int chunks = chunks_of(range);
            if (range->parallel) {
#pragma omp for schedule(static)
                for (int i = 0; i < chunks; i++) s->parts[part + i] = visit_chunk(s, range, i, r, backward);
            } else {
#pragma omp single
                s->parts[part] = visit_range(s, range->first, range->end, r, backward);
            }
            part += chunks;
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
    int parts = 0;
    for (int k = 0; k < s->range_count; k++) parts += chunks_of(&s->ranges[k]);
    for (int k = 0; k < parts; k++) add_change(&sum, &s->parts[k]);
    sum.tangent = sqrt(sum.tangent);
    return sum;
}

void dls_sweep_start(dls_sweep *s, const double *r) {
    s->problem->op->start(s->problem, r, s->state, s->threads);
}

/* ---- preparation ---- */

/* Sorts blocks by colour, in natural order within each; blocks without a colour and colours too small to be
 * worth a barrier form one serial range at the end. */
static bool order_by_colour(dls_sweep *s, dls_workspace *w) {
    const dls_problem *p = s->problem;
    int n = p->block_count, count[256] = {0}, place[256], next = 0;
    uint8_t *colour = DLS_TAKE(w, uint8_t, n);
    uint64_t *scratch = DLS_TAKE(w, uint64_t, p->body_count);
    if (!colour || !scratch) return false;
    p->op->colour(p, colour, scratch);
    for (int c = 0; c < n; c++) count[colour[c]]++;
    for (int c = 0; c < n; c++)
        if (colour[c] != DLS_NO_COLOUR && count[colour[c]] < LEAST_COLOUR) colour[c] = DLS_NO_COLOUR;
    memset(count, 0, sizeof count);
    for (int c = 0; c < n; c++) count[colour[c]]++;
    for (int k = 0; k < 256; k++) {
        place[k] = next;
        if (count[k])
            s->ranges[s->range_count++] = (dls_sweep_range){next, next + count[k], k != DLS_NO_COLOUR};
        next += count[k];
        s->colours += count[k] && k != DLS_NO_COLOUR;
    }
    s->serial_blocks = count[DLS_NO_COLOUR];
    for (int c = 0; c < n; c++) s->order[place[colour[c]]++] = c;
    return true;
}

static bool prepare_order(dls_sweep *s, const dls_nlgs_options *o, dls_workspace *w) {
    int n = s->problem->block_count;
    dls_order order = o->order;
    if (order == DLS_ORDER_AUTO) order = n < AUTO_COLOUR_BLOCKS ? DLS_ORDER_NATURAL : DLS_ORDER_COLOURED;
    s->ranges = DLS_TAKE(w, dls_sweep_range, DLS_MAX_COLOURS + 2);
    s->parts = DLS_TAKE(w, dls_sweep_change, n / CHUNK + DLS_MAX_COLOURS + 2);
    s->order = order == DLS_ORDER_NATURAL ? NULL : DLS_TAKE(w, int, n);
    if (!s->ranges || !s->parts || (order != DLS_ORDER_NATURAL && !s->order)) return false;
    s->range_count = s->colours = s->serial_blocks = 0;
    s->random = 0;
    if (order == DLS_ORDER_COLOURED) return order_by_colour(s, w);
    s->ranges[s->range_count++] = (dls_sweep_range){0, n, false};
    if (order == DLS_ORDER_RANDOM) {
        for (int c = 0; c < n; c++) s->order[c] = c;
        s->random = (uint64_t)o->seed + 1;
        shuffle(s);
        if (o->acceleration != DLS_PLAIN) s->random = 0; /* what is accelerated must stay one map */
    }
    return true;
}

static double prepare_range(void *self, int first, int end) {
    const dls_sweep *s = self;
    const dls_problem *p = s->problem;
    for (int c = first; c < end; c++) {
        int d = dls_size(p, c);
        if (p->kind[c] == DLS_CONTACT)
            s->law->prepare(&s->local, d, dls_diagonal(p, c), p->mu[c], law_data(s, c));
        else
            prepare_bilateral(d, dls_diagonal(p, c), law_data(s, c));
    }
    return 0;
}

static bool prepare_law(dls_sweep *s, dls_workspace *w) {
    const dls_problem *p = s->problem;
    int64_t total = 0;
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

/* Blocks of one size, 2 or 3, and matrix-free rigid bodies; the rest is visited where it lies. */
static bool can_stream(const dls_problem *p) {
    bool stored = p->op == &dls_operator_stored, bodies = p->op == &dls_operator_bodies;
    return (p->uniform == 2 && (stored || (bodies && p->bodies.dof == 3))) ||
           (p->uniform == 3 && (stored || (bodies && p->bodies.dof == 6)));
}

/* Doubles of block c behind the head. */
static int64_t tail_size(const dls_problem *p, int c) {
    int64_t d = p->uniform;
    if (p->op == &dls_operator_bodies) return 2 * d * p->bodies.dof;
    int64_t count = p->blocks.start[c + 1] - p->blocks.start[c];
    return count * d * d + (count + 1) / 2;
}

static void fill_stream(const dls_sweep *s, int c, double *at) {
    const dls_problem *p = s->problem;
    size_t d = (size_t)p->uniform, area = d * d, number = sizeof(double);
    memcpy(at, dls_diagonal(p, c), area * number);
    memcpy(at + area, law_data(s, c), (size_t)s->data_stride * number);
    at += area + (size_t)s->data_stride;
    memcpy(at, p->b + (size_t)c * d, d * number);
    at[d] = p->mu[c];
    at[d + 1] = p->scale[c];
    at += d + 2;
    if (p->op == &dls_operator_bodies) {
        size_t sides = 2 * d * (size_t)p->bodies.dof;
        memcpy(at, p->bodies.G + (size_t)c * sides, sides * number);
        return;
    }
    size_t first = (size_t)p->blocks.start[c], count = (size_t)p->blocks.start[c + 1] - first;
    memcpy(at, p->blocks.value + first * area, count * area * number);
    memcpy(at + count * area, p->blocks.column + first, count * sizeof(int));
}

static double stream_range(void *self, int first, int end) {
    const dls_sweep *s = self;
    for (int place = first; place < end; place++)
        fill_stream(s, s->order[place], s->stream + s->stream_start[place]);
    return 0;
}

/* Copies what visits read into their order; out of it every row would be a cache miss of its own. */
static bool prepare_stream(dls_sweep *s, dls_workspace *w) {
    const dls_problem *p = s->problem;
    int64_t total = 0;
    if (s->colours == 0 || !can_stream(p)) return true;
    s->stream_start = DLS_TAKE(w, int64_t, p->block_count + 1);
    if (!s->stream_start) return false;
    for (int place = 0; place < p->block_count; place++) {
        s->stream_start[place] = total;
        total += head_size(s, p->uniform) + tail_size(p, s->order[place]);
    }
    s->stream = DLS_TAKE(w, double, total + DLS_SIMD_PAD);
    if (!s->stream) return false;
    dls_parallel_for(p->block_count, s->threads, stream_range, s);
    return true;
}

dls_status dls_sweep_prepare(dls_sweep *s, const dls_problem *p, const dls_nlgs_options *o, dls_workspace *w,
                             dls_error *error) {
    *s = (dls_sweep){.problem = p,
                     .law = dls_law_find(o->law),
                     .local = o->local,
                     .threads = o->stop.threads,
                     .relaxation = o->relaxation};
    if (!s->law) return dls_fail(error, DLS_ERROR_ARGUMENT, "no law '%s'", o->law ? o->law : "");
    s->state = DLS_TAKE(w, double, p->op->state_size(p));
    if (!s->state || !prepare_order(s, o, w) || !prepare_law(s, w) || !prepare_stream(s, w))
        return dls_fail_memory(error);
    return DLS_OK;
}
