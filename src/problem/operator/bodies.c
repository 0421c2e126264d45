/* Matrix-free W = H M⁻¹ Hᵀ. With M⁻¹ = L Lᵀ and G = H L it is W = G Gᵀ: a sweep keeps the scaled body
 * velocities w = Gᵀ r, reads u_c = b_c + G_c w, and adds G_cᵀ Δr_c to the two bodies of the contact. */
#include "problem/operator/bodies.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/small.h"
#include "problem/operator/body_rows.h"

enum { SPATIAL_DOF = 6, SPATIAL_SIDE = 3 * SPATIAL_DOF };
enum { AHEAD = 16, CACHE_LINE = 8 }; /* entries; numbers */

static size_t state_size(const dls_problem *p) {
    const dls_body_rows *B = p->data;
    return (size_t)dls_body_numbers(p) + (B->tails ? (size_t)B->tails->row_count : 0);
}

/* t of all components, behind the velocities. */
static inline double *tail_state(const dls_problem *p, double *state) { return state + dls_body_numbers(p); }

/* Blocks that are all rows of contacts in space, or all balls, have loops of their own. */
static bool all_spatial(const dls_problem *p) {
    const dls_body_rows *B = p->data;
    return p->uniform == 3 && B->dof == SPATIAL_DOF && !B->round && !B->row_start;
}

static bool all_balls(const dls_body_rows *B) { return B->round && !B->G && !B->roll; }

/* Constant sizes let the compiler unroll the two common cases. */
static inline void gather_any(int d, int dof, const double *G, const double *w, double *v) {
    if (d == 3 && dof == 6) {
        body_sums sums = {{{0}}, {{0}}};
        body_gather36(G, w, &sums);
        body_gather36_end(&sums, v);
    } else if (d == 2 && dof == 3)
        body_gather(2, 3, G, w, v);
    else if (d == 3 && dof == ROUND_STATE)
        body_gather38(G, w, v);
    else if (dof > ROUND_STATE)
        body_gather_wide(d, dof, G, w, v);
    else
        body_gather(d, dof, G, w, v);
}

static inline void scatter_any(int d, int dof, const double *G, const double *x, double *w) {
    if (d == 3 && dof == 6)
        body_scatter36(G, x, w);
    else if (d == 2 && dof == 3)
        body_scatter(2, 3, G, x, w);
    else if (d == 3 && dof == ROUND_STATE)
        body_scatter38(G, x, w);
    else if (d == 3 && dof > ROUND_STATE)
        body_scatter_wide3(dof, G, x, w);
    else
        body_scatter(d, dof, G, x, w);
}

/* The address of a side, without a question where no body is wide. */
static inline const double *side_of(const dls_problem *p, int c, int side, bool wide) {
    const dls_body_rows *B = p->data;
    int64_t d = dls_size(p, c), at = B->row_start ? B->row_start[c] : 2 * (int64_t)c * d * B->dof;
    return wide ? dls_side_of(p, c, side) : B->G + at + side * d * B->dof;
}

/* v += G_c w; wide, a constant, tells whether rows may differ in width. */
static inline __attribute__((always_inline)) void row_sum_of(const dls_problem *p, int c, const double *state,
                                                             double *v, bool wide) {
    const dls_body_rows *B = p->data;
    const int *body = B->body + 2 * (int64_t)c;
    if (dls_is_ball(B, c)) {
        static const double at_rest[ROUND_STATE] = {0};
        const double *a = body[0] >= 0 ? state + (int64_t)ROUND_STATE * body[0] : at_rest;
        const double *b = body[1] >= 0 ? state + (int64_t)ROUND_STATE * body[1] : at_rest;
        round_gather(&B->round[c], a, b, v);
        if (B->roll) roll_gather(&B->round[c], &B->roll[c], a, b, v + 3);
        return;
    }
    for (int side = 0, d = dls_size(p, c); side < 2; side++)
        if (body[side] >= 0)
            gather_any(d, wide ? B->width[body[side]] : B->dof, side_of(p, c, side, wide),
                       state + (wide ? B->place[body[side]] : (int64_t)body[side] * B->stride), v);
    if (dls_has_tail(B->tails, c))
        dls_tail_gather(B->tails, c, dls_size(p, c), state + dls_body_numbers(p), v);
}

static inline void row_sum(const dls_problem *p, int c, const double *state, double *v) {
    if (dls_rows_of(p)->width)
        row_sum_of(p, c, state, v, true);
    else
        row_sum_of(p, c, state, v, false);
}

/* v += ε r_c */
static inline void add_compliance(const dls_problem *p, int c, const double *r, double *v) {
    const double *compliance = dls_rows_of(p)->compliance;
    for (int i = 0, row = p->row[c], d = dls_size(p, c); compliance && i < d; i++)
        v[i] += compliance[row + i] * r[row + i];
}

/* w += one side of G_cᵀ x */
static inline __attribute__((always_inline)) void scatter_side_of(const dls_problem *p, int c, int side,
                                                                  const double *x, double *w, bool wide) {
    const dls_body_rows *B = p->data;
    if (!dls_is_ball(B, c)) {
        int width = wide ? B->width[B->body[2 * (int64_t)c + side]] : B->dof;
        scatter_any(dls_size(p, c), width, side_of(p, c, side, wide), x, w);
        return;
    }
    const dls_round_row *row = &B->round[c];
    round_push push;
    round_push_of(row, x, &push);
    round_scatter(&push, side ? row->a_b : -row->a_a, side ? row->beta_b : -row->beta_a, w);
    if (!B->roll) return;
    const dls_roll_row *roll = &B->roll[c];
    roll_scatter(roll_axis(row, roll, x + 3), side ? roll->gamma_b : -roll->gamma_a, w);
}

static inline void scatter_side(const dls_problem *p, int c, int side, const double *x, double *w) {
    if (dls_rows_of(p)->width)
        scatter_side_of(p, c, side, x, w, true);
    else
        scatter_side_of(p, c, side, x, w, false);
}

/* The bodies of block c, and the components that these are joined in; −1 for none. */
static inline int touched(const dls_problem *p, int c, int *body) {
    const dls_body_rows *B = p->data;
    body[0] = B->body[2 * (int64_t)c];
    body[1] = B->body[2 * (int64_t)c + 1];
    if (!B->tails) return 2;
    body[2] = B->tails->component[2 * (int64_t)c];
    body[3] = B->tails->component[2 * (int64_t)c + 1];
    return DLS_MOST_TOUCHED;
}

static dls_span span(const dls_problem *p, int body) {
    const dls_body_rows *B = p->data;
    int component = body - dls_true_bodies(p);
    if (component < 0)
        return (dls_span){dls_place_of(B, body), dls_is_wide(B, body) ? B->width[body] : B->stride};
    int first = B->tails->first[component];
    return (dls_span){dls_body_numbers(p) + first, B->tails->first[component + 1] - first};
}

/* w = Gᵀ r of bodies that only contacts in space touch; entry e is side e of G. A body's contacts lie apart
 * in memory: without asking ahead every one of them would be waited for. */
static void start_spatial(const dls_product_work *work, int first, int end) {
    const dls_body_rows *B = work->problem->data;
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

/* Most contacts that a step watches are open: they add nothing to any sum. */
static inline bool is_zero(int d, const double *r) {
    for (int i = 0; i < d; i++)
        if (r[i] != 0) return false;
    return true;
}

/* t of one component. */
static void start_component(const dls_product_work *work, int body) {
    const dls_problem *p = work->problem;
    const dls_body_rows *B = p->data;
    const dls_tails *tails = B->tails;
    double *t = tail_state(p, work->state);
    int component = body - dls_true_bodies(p);
    for (int k = tails->first[component]; k < tails->first[component + 1]; k++) t[k] = 0;
    for (int64_t e = B->start[body]; e < B->start[body + 1]; e++) {
        int c = B->entry[e] / 2;
        if (is_zero(dls_size(p, c), work->r + p->row[c])) continue;
        dls_tail_scatter(tails, c, B->entry[e] % 2, dls_size(p, c), work->r + p->row[c], t);
    }
}

/* w of a body that is wide; the place that it would have among the others stays empty. */
static void start_wide(const dls_product_work *work, int body) {
    const dls_problem *p = work->problem;
    const dls_body_rows *B = p->data;
    double *w = work->state + B->place[body];
    memset(work->state + (int64_t)body * B->stride, 0, sizeof *w * (size_t)B->stride);
    memset(w, 0, sizeof *w * (size_t)B->width[body]);
    for (int64_t e = B->start[body]; e < B->start[body + 1]; e++) {
        int c = B->entry[e] / 2;
        if (!is_zero(dls_size(p, c), work->r + p->row[c]))
            scatter_side(p, c, B->entry[e] % 2, work->r + p->row[c], w);
    }
}

/* Bodies gather from their contacts in ascending order, so that the sums do not depend on threads. */
static inline __attribute__((always_inline)) void start_bodies(const dls_product_work *work, int first,
                                                               int end, bool wide) {
    const dls_problem *p = work->problem;
    const dls_body_rows *B = p->data;
    for (int body = first; body < end; body++) {
        if (body >= dls_true_bodies(p)) {
            start_component(work, body);
            continue;
        }
        if (wide && dls_is_wide(B, body)) {
            start_wide(work, body);
            continue;
        }
        double *w = work->state + (int64_t)body * B->stride;
        for (int k = 0; k < B->stride; k++) w[k] = 0;
        for (int64_t e = B->start[body]; e < B->start[body + 1]; e++) {
            int c = B->entry[e] / 2;
            if (!is_zero(dls_size(p, c), work->r + p->row[c]))
                scatter_side_of(p, c, B->entry[e] % 2, work->r + p->row[c], w, wide);
        }
    }
}

static void start_range(void *self, int first, int end) {
    const dls_product_work *work = self;
    if (all_spatial(work->problem))
        start_spatial(work, first, end);
    else if (dls_rows_of(work->problem)->width)
        start_bodies(work, first, end, true);
    else
        start_bodies(work, first, end, false);
}

/* u = G w of contacts in space. */
static void product_spatial(const dls_product_work *work, int first, int end) {
    const dls_body_rows *B = work->problem->data;
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
    if (all_spatial(p)) {
        product_spatial(work, first, end);
        return;
    }
    for (int c = first; c < end; c++) {
        double v[DLS_MAX_BLOCK] = {0};
        row_sum(p, c, work->state, v);
        add_compliance(p, c, work->r, v);
        for (int i = 0, d = dls_size(p, c); i < d; i++) work->u[p->row[c] + i] = v[i];
    }
}

static void start(const dls_problem *p, const double *r, double *state, int threads) {
    dls_parallel_for(p->body_count, threads, all_balls(p->data) ? dls_balls_start_range : start_range,
                     &(dls_product_work){p, r, NULL, state});
}

static void product(const dls_problem *p, const double *r, double *u, double *state, int threads) {
    start(p, r, state, threads);
    dls_parallel_for(p->block_count, threads, all_balls(p->data) ? dls_balls_product_range : product_range,
                     &(dls_product_work){p, r, u, state});
}

/* Of the blocks that a rank judges. */
typedef struct some_work {
    dls_product_work product;
    int first, end; /* blocks */
} some_work;

/* Bodies of which block c is the first among these. */
static void start_some(void *self, int first, int end) {
    some_work *work = self;
    const dls_body_rows *B = work->product.problem->data;
    dls_range_work start_of = all_balls(B) ? dls_balls_start_range : start_range;
    for (int c = work->first + first; c < work->first + end; c++) {
        int body[DLS_MOST_TOUCHED], count = touched(work->product.problem, c, body);
        for (int k = 0; k < count; k++) {
            if (body[k] < 0) continue;
            int64_t e = B->start[body[k]];
            while (B->entry[e] / 2 < work->first) e++;
            if (B->entry[e] / 2 == c) start_of(&work->product, body[k], body[k] + 1);
        }
    }
}

static void product_some(void *self, int first, int end) {
    some_work *work = self;
    bool balls = all_balls(work->product.problem->data);
    (balls ? dls_balls_product_range : product_range)(&work->product, work->first + first, work->first + end);
}

static void product_of(const dls_problem *p, const double *r, double *u, double *state, int first, int end,
                       int threads) {
    some_work work = {{p, r, u, state}, first, end};
    dls_parallel_for(end - first, threads, start_some, &work);
    dls_parallel_for(end - first, threads, product_some, &work);
}

static void diagonal(const dls_problem *p, int c, double *room) {
    (dls_rows_of(p)->roll ? dls_rolling_diagonal : dls_balls_diagonal)(p, c, room);
}

static void local(const dls_problem *p, int c, const double *r, const double *state, double *v) {
    int d = dls_size(p, c);
    double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    for (int i = 0; i < d; i++) v[i] = p->b[p->row[c] + i];
    if (p->diagonal || dls_rows_of(p)->roll) {
        row_sum(p, c, state, v);
        add_compliance(p, c, r, v);
        small_multiply_subtract(d, dls_diagonal_in(p, c, room), r + p->row[c], v);
        return;
    }
    dls_balls_diagonal(p, c, room);
    for (int k = 0; k < 3; k++) v[k] -= room[4 * k] * r[p->row[c] + k];
    row_sum(p, c, state, v);
}

static void changed(const dls_problem *p, int c, const double *delta, double *state) {
    const dls_body_rows *B = p->data;
    for (int side = 0; side < 2; side++) {
        int body = B->body[2 * (int64_t)c + side];
        if (body >= 0) scatter_side(p, c, side, delta, state + dls_place_of(B, body));
    }
    for (int side = 0; side < 2 && dls_has_tail(B->tails, c); side++)
        dls_tail_scatter(B->tails, c, side, dls_size(p, c), delta, tail_state(p, state));
}

/* ---- visits: v from both sides, and the step back to both; constant sizes let loops unroll ---- */

static inline void gather_both(int d, int dof, const double *G, const int *body, const double *state,
                               double *v) {
    if (d == 3 && dof == SPATIAL_DOF) {
        body_sums sums = {{{0}}, {{0}}};
        for (int side = 0; side < 2; side++)
            if (body[side] >= 0) body_gather36(G + 18 * side, state + 6 * (int64_t)body[side], &sums);
        body_gather36_end(&sums, v);
        return;
    }
    for (int side = 0; side < 2; side++)
        if (body[side] >= 0) gather_any(d, dof, G + side * d * dof, state + (int64_t)body[side] * dof, v);
}

static inline void scatter_both(int d, int dof, const double *G, const int *body, const double *x,
                                double *state) {
    for (int side = 0; side < 2; side++)
        if (body[side] >= 0) scatter_any(d, dof, G + side * d * dof, x, state + (int64_t)body[side] * dof);
}

static inline __attribute__((always_inline)) void visit_rows(dls_visits *s, int k, int c, int d, int dof,
                                                             double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    const dls_body_rows *B = p->data;
    const dls_run *run = &p->runs[k];
    int64_t i = c - run->first, row = run->row + i * d, at = B->row_start ? B->row_start[c] : 2 * i * d * dof;
    const double *G = B->G + at;
    const int *body = B->body + 2 * (int64_t)c;
    double v[3] = {0}, x[3] = {0};
    for (int j = 0; j < d; j++) v[j] = p->b[row + j];
    small_multiply_subtract(d, dls_diagonal(p, c), r + row, v);
    gather_both(d, dof, G, body, s->state, v);
    bool moved = dls_visit_local(s, k, c, d, v, r, x, change);
    if (moved) scatter_both(d, dof, G, body, x, s->state);
    dls_visit_rest(s, c, moved, r[row]);
}

static inline void visit_23(dls_visits *s, int k, int c, double *r, dls_sweep_change *change) {
    visit_rows(s, k, c, 2, 3, r, change);
}

static inline void visit_36(dls_visits *s, int k, int c, double *r, dls_sweep_change *change) {
    visit_rows(s, k, c, 3, SPATIAL_DOF, r, change);
}

static inline void visit_38(dls_visits *s, int k, int c, double *r, dls_sweep_change *change) {
    visit_rows(s, k, c, 3, ROUND_STATE, r, change);
}

/* Balls have the exact law in closed form. */
static bool knows_law(const dls_problem *p, const dls_run *run, const dls_law *law) {
    (void)p;
    return run->storage == DLS_BALLS && law->exact;
}

static dls_sweep_change visit_run(dls_visits *s, int k, int first, int end, double *r, bool backward) {
    const dls_problem *p = s->problem;
    const dls_run *run = &p->runs[k];
    int dof = dls_rows_of(p)->dof;
    if (knows_law(p, run, s->law))
        return (dls_rows_of(p)->roll ? dls_visit_rolling : dls_visit_balls)(s, k, first, end, r, backward);
    bool rows = run->storage == DLS_ROWS && dls_is_plain(run->parts);
    if (rows && run->size == 2 && dof == 3) return dls_visit_each(s, k, first, end, r, backward, visit_23);
    if (rows && run->size == 3 && dof == 6) return dls_visit_each(s, k, first, end, r, backward, visit_36);
    if (rows && run->size == 3 && dof == ROUND_STATE)
        return dls_visit_each(s, k, first, end, r, backward, visit_38);
    return dls_visit_run_any(s, k, first, end, r, backward);
}

static dls_sweep_change sweep(dls_visits *s, int first, int end, double *r, bool backward) {
    return dls_visit_runs(s, first, end, r, backward, visit_run);
}

/* ---- colours ---- */

static bool touches_hub(const dls_problem *p, int c) {
    const dls_body_rows *B = p->data;
    int body[DLS_MOST_TOUCHED], count = touched(p, c, body);
    for (int k = 0; k < count; k++)
        if (body[k] >= 0 && B->start[body[k] + 1] - B->start[body[k]] > DLS_HUB) return true;
    return false;
}

/* The colours that blocks of the same bodies have. */
static uint64_t colours_near(const dls_problem *p, int c, const uint64_t *taken_of) {
    int body[DLS_MOST_TOUCHED], count = touches_hub(p, c) ? 0 : touched(p, c, body);
    uint64_t taken = 0;
    for (int k = 0; k < count; k++)
        if (body[k] >= 0) taken |= taken_of[body[k]];
    return taken;
}

static void take_colour(const dls_problem *p, int c, uint8_t colour, uint64_t *taken_of) {
    int body[DLS_MOST_TOUCHED], count = touches_hub(p, c) ? 0 : touched(p, c, body);
    for (int k = 0; k < count; k++)
        if (body[k] >= 0) taken_of[body[k]] |= (uint64_t)1 << colour;
}

/* Greedy in natural order through the bodies: each keeps the set of colours that its contacts have. */
static void colour(const dls_problem *p, int chunk, uint8_t *colour_of, uint64_t *taken_of) {
    int n = p->block_count;
    memset(taken_of, 0, sizeof(uint64_t) * (size_t)p->body_count);
    for (int first = 0; first < n; first += chunk) {
        int end = first + chunk < n ? first + chunk : n;
        uint64_t taken = 0;
        for (int c = first; c < end; c++) taken |= colours_near(p, c, taken_of);
        uint8_t free_colour = ~taken ? (uint8_t)__builtin_ctzll(~taken) : (uint8_t)DLS_NO_COLOUR;
        for (int c = first; c < end; c++)
            colour_of[c] = touches_hub(p, c) ? (uint8_t)DLS_NO_COLOUR : free_colour;
        for (int c = first; c < end && ~taken; c++) take_colour(p, c, free_colour, taken_of);
    }
}

/* ---- which blocks are coupled, and how ---- */

/* A walk over the ascending lists of blocks of all that c touches, as one list. */
typedef struct coupled_walk {
    int count;
    int64_t at[DLS_MOST_TOUCHED], end[DLS_MOST_TOUCHED];
} coupled_walk;

static coupled_walk begin_coupled(const dls_problem *p, int c) {
    const dls_body_rows *B = p->data;
    int body[DLS_MOST_TOUCHED], count = touched(p, c, body);
    coupled_walk walk = {.count = 0};
    for (int k = 0; k < count; k++) {
        if (body[k] < 0) continue;
        walk.at[walk.count] = B->start[body[k]];
        walk.end[walk.count++] = B->start[body[k] + 1];
    }
    return walk;
}

/* The next block that is coupled with c, c itself aside; −1 at the end. */
static int next_coupled(const dls_problem *p, int c, coupled_walk *w) {
    const dls_body_rows *B = p->data;
    for (int next = c; next == c;) {
        next = p->block_count;
        for (int k = 0; k < w->count; k++)
            if (w->at[k] < w->end[k] && B->entry[w->at[k]] / 2 < next) next = B->entry[w->at[k]] / 2;
        if (next == p->block_count) return -1;
        for (int k = 0; k < w->count; k++) /* a block may be there by both of its sides */
            while (w->at[k] < w->end[k] && B->entry[w->at[k]] / 2 == next) w->at[k]++;
        if (next != c) return next;
    }
    return -1;
}

static int64_t coupled(const dls_problem *p, int c, int *column) {
    coupled_walk walk = begin_coupled(p, c);
    int64_t count = 0;
    for (int j = next_coupled(p, c, &walk); j >= 0; j = next_coupled(p, c, &walk)) {
        if (column) column[count] = j;
        count++;
    }
    return count;
}

const double *dls_rows_in(const dls_problem *p, int c, int side, double *room) {
    if (!dls_is_ball(p->data, c)) return dls_side_of(p, c, side);
    const dls_body_rows *B = p->data;
    dls_balls_side(B, c, side, room);
    if (B->roll) dls_rolling_side(p, c, side, room + 3 * B->dof);
    return room;
}

/* W_cj = Σ over shared bodies of G_c G_jᵀ, less G₁ G₁ᵀ over shared components, d × e column-major. */
static void block(const dls_problem *p, int c, int64_t k, int j, double *W) {
    (void)k;
    const dls_body_rows *B = p->data;
    const int *of_c = B->body + 2 * (int64_t)c, *of_j = B->body + 2 * (int64_t)j;
    double room[2][DLS_MAX_BLOCK * ROUND_STATE];
    int d = dls_size(p, c), e = dls_size(p, j);
    for (int i = 0; i < d * e; i++) W[i] = 0;
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++)
            if (of_c[s] >= 0 && of_c[s] == of_j[t])
                body_outer(d, e, dls_width_of(B, of_c[s]), dls_rows_in(p, c, s, room[0]),
                           dls_rows_in(p, j, t, room[1]), W);
    if (!dls_has_tail(B->tails, c) || !dls_has_tail(B->tails, j)) return;
    of_c = B->tails->component + 2 * (int64_t)c;
    of_j = B->tails->component + 2 * (int64_t)j;
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++)
            if (of_c[s] >= 0 && of_c[s] == of_j[t]) dls_tail_outer(B->tails, c, s, d, j, t, e, W);
}

/* G_c ← S G_c, ε ← S² ε */
static void rescale_block(dls_problem *p, int c, const double *S) {
    const dls_body_rows *B = p->data;
    int d = dls_size(p, c);
    for (int i = 0; i < d && B->compliance; i++) B->compliance[p->row[c] + i] *= S[i] * S[i];
    double *W = dls_diagonal_place(p, c);
    for (int side = 0; side < 2; side++) {
        int width = dls_width_of(B, B->body[2 * (int64_t)c + side]);
        double *G = dls_side_of(p, c, side);
        for (int k = 0; k < d * width; k++) G[k] *= S[k / width];
    }
    for (int k = 0; k < d * d; k++) W[k] *= S[k % d] * S[k / d];
}

/* Contacts of balls are in one unit from the start. */
static void rescale(dls_problem *p, const double *S) {
    for (int c = 0; c < p->block_count; c++)
        if (!dls_is_ball(p->data, c)) rescale_block(p, c, S + p->row[c]);
}

void dls_bodies_take_units(dls_problem *p, int c) {
    double *S = p->unit + p->row[c];
    for (int i = 0; i < dls_size(p, c); i++) S[i] = 1;
    if (p->kind[c] == DLS_CONTACT)
        dls_find_contact_units(p, c, S);
    else
        dls_find_row_units(p, c, S);
    rescale_block(p, c, S);
    for (int i = p->row[c]; i < p->row[c + 1]; i++) {
        p->given_b[i] = p->b[i];
        p->b[i] *= p->unit[i];
        if (p->kind[c] == DLS_CONTACT) continue;
        p->low[i] /= p->unit[i];
        p->high[i] /= p->unit[i];
    }
}

/* ---- sizes ---- */

/* Each row reads and writes its two bodies, and its tail. */
static double sweep_cost(const dls_problem *p) {
    const dls_body_rows *B = p->data;
    double tails = B->tails ? (double)B->tails->value_start[p->block_count] : 0;
    if (!B->width) return 8.0 * p->row_count * (B->round ? SPATIAL_DOF : B->dof) + 4 * tails;
    double sides = 0;
    for (int c = 0; c < p->block_count; c++)
        sides += dls_is_ball(B, c) ? 2.0 * dls_size(p, c) * SPATIAL_DOF : (double)dls_side_numbers(p, c);
    return 4 * sides + 4 * tails;
}

/* Two blocks share at most two bodies, so half of what these see is a bound from below. Rows that were
 * eliminated are kept where W is factored. */
static int64_t least_entries(const dls_problem *p) {
    const dls_body_rows *B = p->data;
    int64_t count = 0;
    for (int body = 0; body < dls_true_bodies(p); body++) {
        int64_t rows = B->tails ? B->tails->held[body] : 0;
        for (int64_t k = B->start[body]; k < B->start[body + 1]; k++) rows += dls_size(p, B->entry[k] / 2);
        count += rows * rows / 2;
    }
    return count;
}

static void release(dls_problem *p) {
    dls_body_rows *B = p->data;
    if (!B) return;
    dls_free(B->body);
    dls_free(B->row_start);
    dls_free(B->G);
    dls_free(B->start);
    dls_free(B->entry);
    dls_free(B);
}

static size_t memory(const dls_problem *p) {
    const dls_body_rows *B = p->data;
    size_t n = (size_t)p->block_count, entries = (size_t)B->start[p->body_count], sides = 0;
    for (int c = 0; c < p->block_count && B->G; c++)
        if (!dls_is_ball(B, c)) sides += (size_t)dls_side_numbers(p, c);
    return sizeof *B + (2 * n + entries) * sizeof(int) +
           (B->compliance ? (size_t)p->row_count * sizeof(double) : 0) +
           ((size_t)p->body_count + 1) * sizeof(int64_t) + (B->row_start ? n * sizeof(int64_t) : 0) +
           sides * sizeof(double) + (B->round ? n * sizeof(dls_round_row) : 0) +
           (B->roll ? n * sizeof(dls_roll_row) : 0);
}

const dls_operator dls_operator_bodies = {.name = "matrix-free",
                                          .state_size = state_size,
                                          .product = product,
                                          .product_of = product_of,
                                          .start = start,
                                          .local = local,
                                          .changed = changed,
                                          .diagonal = diagonal,
                                          .sweep = sweep,
                                          .knows_law = knows_law,
                                          .colour = colour,
                                          .lanes = &dls_lanes_of_balls,
                                          .touched = touched,
                                          .span = span,
                                          .coupled = coupled,
                                          .block = block,
                                          .rescale = rescale,
                                          .sweep_cost = sweep_cost,
                                          .least_entries = least_entries,
                                          .release = release,
                                          .memory = memory};
