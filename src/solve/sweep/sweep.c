/* The order of a sweep, its pieces for threads, and what the law prepares; visits are the operator's. */
#include "solve/sweep/sweep.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "solve/law/law.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    LEAST_COLOUR = 64,
    AUTO_COLOUR_BLOCKS = 4096,
    CHUNKS_WANTED = 256,
    LONGEST_CHUNK = 1024,
    LANE_CHUNK = 1024, /* of a colour of it so many lanes are filled that few stay empty */
    RESTING_BLOCKS = 256
};

/* ---- a sweep ---- */

static void shuffle(dls_sweep *s) {
    dls_random generator = {s->random};
    for (int i = s->visits.problem->block_count - 1; i > 0; i--) {
        int j = (int)dls_random_below(&generator, (uint64_t)i + 1), t = s->visits.order[i];
        s->visits.order[i] = s->visits.order[j];
        s->visits.order[j] = t;
    }
    s->random = generator.state;
}

static void visit_piece(dls_sweep *s, int k, double *r, bool backward) {
    const dls_operator *op = s->visits.problem->op;
    if (s->lanes) {
        s->parts[k] = s->kernel->visit(s->lanes, k, s->visits.relaxation);
        return;
    }
    s->parts[k] =
        (op->sweep ? op->sweep : dls_visit_any)(&s->visits, s->piece[k], s->piece[k + 1], r, backward);
}

/* What is visited of the k-th range of a sweep: all of it, or the share of this rank. */
static const dls_sweep_range *range_at(const dls_sweep *s, int k) {
    return s->share.ranks ? &s->share.own[k] : &s->ranges[k];
}

static double *state_of(const dls_sweep *s) {
    return s->lanes ? s->kernel->state(s->lanes) : s->visits.state;
}

static void run_alone(dls_sweep *s, double *r, bool backward) {
    for (int k = 0; k < s->range_count; k++) {
        int g = backward ? s->range_count - 1 - k : k;
        const dls_sweep_range *range = range_at(s, g);
        for (int i = range->first; i < range->end; i++) visit_piece(s, i, r, backward);
        if (s->share.ranks && range->parallel) dls_sweep_share_meet(&s->share, g, state_of(s));
    }
}

/* All threads walk the ranges together and meet after each; the first of them talks to other ranks. */
static void run_together(dls_sweep *s, double *r, bool backward) {
#pragma omp parallel num_threads(dls_threads(s->threads))
    for (int k = 0; k < s->range_count; k++) {
        int g = backward ? s->range_count - 1 - k : k;
        const dls_sweep_range *range = range_at(s, g);
        if (range->parallel) {
#pragma omp for schedule(static)
            for (int i = range->first; i < range->end; i++) visit_piece(s, i, r, backward);
        } else {
#pragma omp single
            for (int i = range->first; i < range->end; i++) visit_piece(s, i, r, backward);
        }
        if (s->share.ranks && range->parallel) {
#pragma omp master
            dls_sweep_share_meet(&s->share, g, state_of(s));
#pragma omp barrier
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
    if (s->share.ranks) dls_sweep_share_tell(&s->share, s->parts);
    for (int k = 0; k < s->piece_count; k++) dls_sweep_add(&sum, &s->parts[k]);
    sum.tangent = sqrt(sum.tangent);
    return sum;
}

/* ---- lanes ---- */

/* Work on the pieces that this rank visits. */
typedef struct lane_work {
    const dls_sweep *sweep;
    const dls_sweep_range *range;
    const double *from;
    double *to;
} lane_work;

static void start_pieces(void *self, int first, int end) {
    const lane_work *work = self;
    for (int i = first; i < end; i++)
        work->sweep->kernel->start(work->sweep->lanes, work->range->first + i, work->from);
}

static void base_pieces(void *self, int first, int end) {
    const lane_work *work = self;
    for (int i = first; i < end; i++)
        work->sweep->kernel->base(work->sweep->lanes, work->range->first + i, work->from);
}

static void read_pieces(void *self, int first, int end) {
    const lane_work *work = self;
    const dls_sweep *s = work->sweep;
    for (int i = first; i < end; i++)
        s->kernel->read(s->lanes, work->range->first + i, s->visits.relaxation == 1, work->to);
}

static void each_piece(const dls_sweep *s, dls_range_work work, const double *from, double *to) {
    for (int k = 0; k < s->range_count; k++) {
        const dls_sweep_range *range = range_at(s, k);
        dls_parallel_each(range->end - range->first, s->threads, work, &(lane_work){s, range, from, to});
    }
}

void dls_sweep_rebase(dls_sweep *s, const double *r, const double *u) {
    const dls_problem *p = s->visits.problem;
    if (!u) {
        dls_velocity(p, r, s->u, s->visits.state, s->threads);
        u = s->u;
    }
    each_piece(s, base_pieces, u, NULL);
    s->kernel->rebase(s->lanes, false);
}

void dls_sweep_gather(const dls_sweep *s, double *r) {
    if (s->lanes) each_piece(s, read_pieces, NULL, r);
    if (s->share.ranks) dls_sweep_share_gather(&s->share, r);
}

static void start_lanes(dls_sweep *s, const double *r) {
    each_piece(s, start_pieces, r, NULL);
    dls_sweep_rebase(s, r, NULL);
    s->kernel->rebase(s->lanes, true);
}

void dls_sweep_start(dls_sweep *s, const double *r) {
    const dls_problem *p = s->visits.problem;
    if (s->lanes) {
        start_lanes(s, r);
        return;
    }
    if (s->visits.rest) memset(s->visits.rest, 0, 2 * (size_t)p->block_count);
    p->op->start(p, r, s->visits.state, s->threads);
}

/* ---- preparation ---- */

/* Sorts blocks by colour, in natural order within each, and counts the colours. Those of fewer than `least`
 * are not worth a barrier and join the blocks that have none. */
static void sort_by_colour(dls_sweep *s, uint8_t *colour, int least) {
    int n = s->visits.problem->block_count, count[256] = {0}, place[256], next = 0;
    for (int c = 0; c < n; c++) count[colour[c]]++;
    for (int c = 0; c < n; c++)
        if (count[colour[c]] < least) colour[c] = DLS_NO_COLOUR;
    memset(count, 0, sizeof count);
    for (int c = 0; c < n; c++) count[colour[c]]++;
    for (int k = 0; k < 256; k++) {
        place[k] = next;
        next += count[k];
        s->colours += count[k] && k != DLS_NO_COLOUR;
    }
    s->serial_blocks = count[DLS_NO_COLOUR];
    for (int c = 0; c < n; c++) s->visits.order[place[colour[c]]++] = c;
}

/* A piece is what one chunk has of one colour; a range is a colour. What has none is one piece, at the end.
 */
static void cut_pieces(dls_sweep *s, const uint8_t *colour, int chunk) {
    int n = s->visits.problem->block_count;
    for (int place = 0; place < n; place++) {
        int c = s->visits.order[place], before = place ? s->visits.order[place - 1] : -1;
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

#ifndef NDEBUG
/* Coupled blocks of two chunks never have one colour: threads visit those of a colour at once. */
static bool colours_are_apart(const dls_problem *p, int chunk, const uint8_t *colour, dls_workspace *w) {
    dls_workspace_mark mark = dls_workspace_get_mark(w);
    int *column = DLS_TAKE(w, int, p->block_count);
    bool apart = true;
    for (int c = 0; column && apart && c < p->block_count; c++) {
        if (colour[c] == DLS_NO_COLOUR) continue;
        int64_t count = p->op->coupled(p, c, column);
        for (int64_t k = 0; k < count; k++)
            apart = apart && (colour[column[k]] != colour[c] || column[k] / chunk == c / chunk);
    }
    dls_workspace_release(w, mark);
    return apart;
}
#endif

static bool share_pieces(dls_sweep *s, int chunk, dls_span (*span)(const dls_problem *p, int body),
                         dls_workspace *w) {
    const dls_problem *p = s->visits.problem;
    if (!dls_is_shared(p) || s->colours == 0 || !p->op->touched) return true;
    dls_sweep_cut cut = {s->visits.order, s->piece, span, s->ranges, s->range_count, s->piece_count, chunk};
    return dls_sweep_share_prepare(&s->share, p, &cut, w);
}

static bool order_by_colour(dls_sweep *s, int chunk, dls_workspace *w) {
    const dls_problem *p = s->visits.problem;
    uint8_t *colour = DLS_TAKE(w, uint8_t, p->block_count);
    uint64_t *scratch = DLS_TAKE(w, uint64_t, p->body_count);
    if (!colour || !scratch) return false;
    if (p->op->colour)
        p->op->colour(p, chunk, colour, scratch);
    else
        memset(colour, DLS_NO_COLOUR, (size_t)p->block_count);
    assert(colours_are_apart(p, chunk, colour, w));
    sort_by_colour(s, colour, LEAST_COLOUR);
    cut_pieces(s, colour, chunk);
    assert(s->range_count <= DLS_MAX_COLOURS + 2 && s->piece_count <= p->block_count / chunk + 2);
    return share_pieces(s, chunk, p->op->span, w);
}

/* Long enough for caches, short enough for every thread to have some of each colour. */
static int chunk_size(int n) {
    int size = n / CHUNKS_WANTED;
    return size < 1 ? 1 : size > LONGEST_CHUNK ? LONGEST_CHUNK : size;
}

static bool prepare_order(dls_sweep *s, const dls_nlgs_options *o, dls_workspace *w) {
    int n = s->visits.problem->block_count, chunk = chunk_size(n), pieces = n / chunk + 2;
    dls_order order = o->order;
    if (order == DLS_ORDER_AUTO) order = n < AUTO_COLOUR_BLOCKS ? DLS_ORDER_NATURAL : DLS_ORDER_COLOURED;
    s->ranges = DLS_TAKE(w, dls_sweep_range, DLS_MAX_COLOURS + 2);
    s->piece = DLS_TAKE(w, int, pieces + 1);
    s->parts = DLS_TAKE(w, dls_sweep_change, pieces);
    s->visits.order = order == DLS_ORDER_NATURAL ? NULL : DLS_TAKE(w, int, n);
    if (!s->ranges || !s->piece || !s->parts || (order != DLS_ORDER_NATURAL && !s->visits.order))
        return false;
    if (order == DLS_ORDER_COLOURED) return order_by_colour(s, chunk, w);
    s->piece_count = s->range_count = 1;
    s->piece[0] = 0;
    s->piece[1] = n;
    s->ranges[0] = (dls_sweep_range){0, 1, false};
    if (order == DLS_ORDER_RANDOM) {
        for (int c = 0; c < n; c++) s->visits.order[c] = c;
        s->random = (uint64_t)o->seed + 1;
        shuffle(s);
        if (o->acceleration != DLS_PLAIN) s->random = 0; /* what is accelerated must stay one map */
    }
    return true;
}

typedef struct run_work {
    const dls_visits *visits;
    int run;
} run_work;

static void prepare_range(void *self, int first, int end) {
    const run_work *work = self;
    const dls_visits *v = work->visits;
    const dls_problem *p = v->problem;
    const dls_run *run = &p->runs[work->run];
    for (int c = run->first + first; c < run->first + end; c++) {
        double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
        const double *W = dls_diagonal_in(p, c, room);
        double *data = dls_law_data(v, work->run, c);
        if (dls_is_plain(run->parts)) {
            v->law->prepare(&v->local, run->size, W, p->mu[c], data);
        } else if (run->parts) {
            dls_cone cone = dls_cone_of(p, c);
            v->law->prepare_cone(&v->local, &cone, W, data);
        } else if (run->kind == DLS_INTERVAL) {
            dls_prepare_interval(run->size, W, data);
        }
    }
}

/* Doubles per block of a run that the law prepares; none where the operator has it in closed form. */
static int data_stride(const dls_visits *v, const dls_run *run) {
    const dls_problem *p = v->problem;
    if (p->op->knows_law && p->op->knows_law(p, run, v->law)) return 0;
    if (run->kind == DLS_INTERVAL) return run->size * run->size;
    return dls_is_plain(run->parts) ? v->law->data_size(run->size)
           : run->parts             ? v->law->cone_data_size(run->size)
                                    : 0;
}

static bool prepare_law(dls_sweep *s, dls_workspace *w) {
    dls_visits *v = &s->visits;
    const dls_problem *p = v->problem;
    int64_t total = 0;
    v->run_data = DLS_TAKE(w, dls_run_data, p->run_count);
    if (!v->run_data) return false;
    for (int k = 0; k < p->run_count; k++) {
        const dls_run *run = &p->runs[k];
        v->run_data[k] = (dls_run_data){total, data_stride(v, run)};
        total += (int64_t)(run->end - run->first) * v->run_data[k].stride;
    }
    v->data = DLS_TAKE(w, double, total);
    if (!v->data) return false;
    for (int k = 0; k < p->run_count; k++) {
        const dls_run *run = &p->runs[k];
        bool known = p->op->knows_law && p->op->knows_law(p, run, v->law);
        if (!known) dls_parallel_for(run->end - run->first, s->threads, prepare_range, &(run_work){v, k});
    }
    return true;
}

/* Momentum does not mind sweeps that leave out what does not move; Anderson's map must stay one. */
static bool prepare_rests(dls_sweep *s, const dls_nlgs_options *o, dls_workspace *w) {
    int n = s->visits.problem->block_count;
    bool momentum = o->acceleration == DLS_MOMENTUM || o->acceleration == DLS_ACCELERATION_AUTO;
    if (!momentum || o->stop.purpose != DLS_PURPOSE_STEP || n < RESTING_BLOCKS) return true;
    s->visits.rest = DLS_TAKE_ZERO(w, uint8_t, 2 * (int64_t)n);
    s->visits.pause = s->visits.rest + n;
    return s->visits.rest != NULL;
}

/* Laws of one part of friction know no other. */
static dls_status check_parts(const dls_problem *p, const dls_law *law, dls_error *error) {
    for (int k = 0; k < p->run_count && !law->solve_cone; k++)
        if (p->runs[k].parts && !dls_is_plain(p->runs[k].parts))
            return dls_fail(
                error, DLS_ERROR_ARGUMENT,
                "law '%s' knows contacts with one tangential part of friction, contact %d has others; "
                "expected 'exact', 'ebp', 'eal', 'sbp' or 'sal'",
                law->name, p->runs[k].first);
    return DLS_OK;
}

dls_status dls_sweep_prepare(dls_sweep *s, const dls_problem *p, const dls_nlgs_options *o, dls_workspace *w,
                             dls_error *error) {
    *s = (dls_sweep){.visits = {.problem = p,
                                .law = dls_law_find(o->law),
                                .local = o->local,
                                .relaxation = o->relaxation,
                                .increments = o->stop.measure != DLS_STOP_RESIDUAL},
                     .threads = o->stop.threads};
    if (!s->visits.law) return dls_fail(error, DLS_ERROR_ARGUMENT, "no law '%s'", o->law);
    dls_status status = check_parts(p, s->visits.law, error);
    if (status) return status;
    s->visits.local.user = s->visits.law->user;
    s->visits.state = DLS_TAKE(w, double, p->op->state_size(p));
    if (!s->visits.state || !prepare_order(s, o, w) || !prepare_law(s, w) || !prepare_rests(s, o, w))
        return dls_fail_memory(error);
    return DLS_OK;
}

/* ---- preparation of lanes ---- */

bool dls_sweep_has_lanes(const dls_problem *p, const dls_nlgs_options *o) {
    const dls_lane_kernel *kernel = p->op->lanes;
    const dls_law *law = dls_law_find(o->law);
    return kernel && law && law->exact && kernel->fits(p) && o->relaxation == 1 && !o->alternate &&
           o->order == DLS_ORDER_AUTO && o->stop.measure == DLS_STOP_RESIDUAL &&
           o->stop.purpose == DLS_PURPOSE_STEP;
}

/* A piece is what a chunk has of a colour, as in double; but here no two blocks of a colour are coupled. */
static bool prepare_lanes(dls_sweep *s, dls_workspace *w) {
    const dls_problem *p = s->visits.problem;
    int n = p->block_count, chunk = n / CHUNKS_WANTED < LANE_CHUNK ? LANE_CHUNK : n / CHUNKS_WANTED;
    int64_t pieces = ((int64_t)n / chunk + 1) * (DLS_MAX_COLOURS + 1) + 2;
    uint8_t *colour = DLS_TAKE(w, uint8_t, n);
    uint64_t *scratch = DLS_TAKE(w, uint64_t, p->body_count);
    s->ranges = DLS_TAKE(w, dls_sweep_range, DLS_MAX_COLOURS + 2);
    s->piece = DLS_TAKE(w, int, pieces);
    s->parts = DLS_TAKE(w, dls_sweep_change, pieces);
    s->visits.order = DLS_TAKE(w, int, n);
    if (!colour || !scratch || !s->ranges || !s->piece || !s->parts || !s->visits.order || !s->u)
        return false;
    p->op->colour(p, 1, colour, scratch);
    assert(colours_are_apart(p, 1, colour, w));
    sort_by_colour(s, colour, 1);
    cut_pieces(s, colour, chunk);
    assert(s->range_count <= DLS_MAX_COLOURS + 2 && s->piece_count < pieces);
    int apart = s->serial_blocks ? s->ranges[s->range_count - 1].first : s->piece_count;
    s->lanes = s->kernel->make(p, s->visits.order, s->piece, s->piece_count, apart, w);
    return s->lanes && share_pieces(s, chunk, s->kernel->span, w);
}

dls_status dls_sweep_prepare_lanes(dls_sweep *s, const dls_problem *p, const dls_nlgs_options *o, double *u,
                                   double *state, dls_workspace *w, dls_error *error) {
    *s = (dls_sweep){.visits = {.problem = p, .law = dls_law_find(o->law), .relaxation = 1, .state = state},
                     .threads = o->stop.threads,
                     .kernel = p->op->lanes,
                     .u = u};
    return prepare_lanes(s, w) ? DLS_OK : dls_fail_memory(error);
}
