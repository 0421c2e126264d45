/* The reduced problem. A body's own tail is T = R⁻¹ G_J on its freedoms, which is not zero only on the way
 * from its first row to the root of the elimination tree; a block's is G₁ = Σ G_side Tᵀ. */
#include "problem/eliminate/elimination.h"

#include "base/error.h"
#include "base/small.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double OUT = 1e-10;   /* of a block's trace: what joints leave of it when they hold it */
static const double GUARD = 1e-12; /* of its mean diagonal: what is added to W'_cc, a difference of two */

typedef struct reduction {
    dls_elimination *e;
    const dls_problem *p;
    dls_problem *q;
    dls_body_rows *B;    /* of q */
    dls_tails *t;        /* of q, or NULL */
    int64_t *tail_start; /* of each body in tail: numbers */
    double *tail;        /* T, freedoms of one row after those of another */
    int64_t rows_at;     /* in B->G */
} reduction;

/* ---- tails of bodies ---- */

static int first_place_of(const dls_elimination *e, int body) {
    return e->first_place[e->entry[e->start[body]] / 2];
}

/* T of one body; X: zeros for place_count rows of the widest, left so. */
static void make_tail(const dls_elimination *e, int body, double *X, double *T) {
    const dls_cholesky *R = &e->R;
    int dof = dls_width_of(dls_rows_of(e->p), body);
    for (int64_t n = e->start[body]; n < e->start[body + 1]; n++)
        for (int k = e->entry[n] / 2, j = e->first_place[k]; j < e->first_place[k + 1]; j++)
            memcpy(X + (int64_t)j * dof, dls_held_row(e, e->entry[n] % 2, j), sizeof(double) * (size_t)dof);
    for (int j = first_place_of(e, body); j >= 0; j = R->parent[j], T += dof) {
        double *x = X + (int64_t)j * dof, pivot = R->value[R->start[j]];
        for (int i = 0; i < dof; i++) {
            T[i] = R->dropped[j] ? 0 : x[i] / pivot;
            x[i] = 0;
        }
        for (int64_t n = R->start[j] + 1; n < R->start[j + 1]; n++) {
            double *below = X + (int64_t)R->row[n] * dof, entry = R->value[n];
            for (int i = 0; i < dof; i++) below[i] -= entry * T[i];
        }
    }
}

/* Which bodies blocks of the reduced problem touch: role of one row of an interval is enough. */
static bool is_wanted(const dls_elimination *e, int c) {
    const dls_problem *p = e->p;
    if (p->kind[c] == DLS_CONTACT) return dls_takes_part(e, c);
    for (int i = p->row[c]; i < p->row[c + 1]; i++)
        if (e->role[i] == DLS_ROW_STAYS) return true;
    return false;
}

static bool make_tails(reduction *x) {
    const dls_elimination *e = x->e;
    const dls_problem *p = x->p;
    const dls_body_rows *A = dls_rows_of(p);
    x->tail_start = DLS_TAKE_ZERO(e->space, int64_t, p->body_count + 1);
    double *X = DLS_TAKE_ZERO(e->space, double, (int64_t)e->place_count * A->widest);
    if (!x->tail_start || !X) return false;
    for (int c = 0; c < p->block_count; c++)
        for (int side = 0; side < 2 && is_wanted(e, c); side++) {
            int body = A->body[2 * (int64_t)c + side];
            if (body >= 0 && e->joined[body] >= 0)
                x->tail_start[body + 1] =
                    (int64_t)dls_width_of(A, body) * e->R.depth[first_place_of(e, body)];
        }
    for (int body = 0; body < p->body_count; body++) x->tail_start[body + 1] += x->tail_start[body];
    x->tail = DLS_TAKE(e->space, double, x->tail_start[p->body_count]);
    if (!x->tail) return false;
    for (int body = 0; body < p->body_count; body++)
        if (x->tail_start[body] < x->tail_start[body + 1])
            make_tail(e, body, X, x->tail + x->tail_start[body]);
    return true;
}

/* ---- tails of blocks ---- */

/* One number of t: G₁ += G_side Tᵀ. */
static void add_tail(int d, int dof, const double *G, const double *T, double *tail) {
    for (int i = 0; i < d; i++) tail[i] += small_dot(dof, G + i * dof, T);
}

/* Two ways to the root as one ascending list, with the numbers of both; G of each side, d rows. */
static void merge_tails(reduction *x, const int *body, int d, const double *const *G) {
    dls_tails *t = x->t;
    const dls_elimination *e = x->e;
    int dof[2], at[2];
    const double *T[2];
    for (int side = 0; side < 2; side++) {
        dof[side] = dls_width_of(x->B, body[side]);
        at[side] = body[side] < 0 ? -1 : first_place_of(e, body[side]);
        T[side] = body[side] < 0 ? NULL : x->tail + x->tail_start[body[side]];
    }
    while (at[0] >= 0 || at[1] >= 0) {
        int next = at[0] < 0 || (at[1] >= 0 && at[1] < at[0]) ? at[1] : at[0];
        double *tail = t->value + t->value_start[x->q->block_count + 1];
        for (int i = 0; i < d; i++) tail[i] = 0;
        for (int side = 0; side < 2; side++) {
            if (at[side] != next) continue;
            add_tail(d, dof[side], G[side], T[side], tail);
            T[side] += dof[side];
            at[side] = e->R.parent[next];
        }
        t->index[t->start[2 * (int64_t)x->q->block_count + 2]++] = next;
        t->value_start[x->q->block_count + 1] += d;
    }
}

/* The tail of the block that comes next in q. */
static void make_block_tail(reduction *x, const int *body, int d, const double *const *G) {
    dls_tails *t = x->t;
    int64_t k = x->q->block_count;
    int joined[2], none[2] = {-1, -1};
    for (int side = 0; side < 2; side++) joined[side] = body[side] < 0 ? -1 : x->e->joined[body[side]];
    bool apart = joined[0] >= 0 && joined[1] >= 0 && joined[0] != joined[1];
    t->value_start[k + 1] = t->value_start[k];
    t->start[2 * k + 2] = t->start[2 * k];
    t->component[2 * k] = joined[0] >= 0 ? joined[0] : joined[1];
    t->component[2 * k + 1] = apart ? joined[1] : -1;
    for (int pass = 0; pass < 2; pass++) {
        int of[2];
        for (int side = 0; side < 2; side++)
            of[side] = joined[side] >= 0 && (apart ? side : 0) == pass ? body[side] : none[side];
        merge_tails(x, of, d, G);
        if (pass == 0) t->start[2 * k + 1] = t->start[2 * k + 2];
    }
}

/* W'_cc of the block that comes next in q. */
static double *next_diagonal(const reduction *x) {
    const dls_problem *q = x->q;
    int64_t d = q->uniform;
    return q->diagonal + (d ? q->block_count * d * d : q->diagonal_start[q->block_count]);
}

/* W'_cc = W_cc − G₁ G₁ᵀ with a guard; false where joints hold the block. */
static bool reduce_diagonal(const reduction *x, int d, double scale) {
    double *W = next_diagonal(x);
    const dls_tails *t = x->t;
    int64_t k = x->q->block_count;
    for (int64_t n = t->value_start[k]; n < t->value_start[k + 1]; n += d)
        for (int i = 0; i < d * d; i++) W[i] -= t->value[n + i % d] * t->value[n + i / d];
    for (int i = 0; i < d; i++) W[i + d * i] += GUARD * scale;
    return small_trace(d, W) > OUT * scale * d;
}

/* ---- blocks ---- */

/* Rows first … first + d of block c as the next block of q; false where joints hold it. Its diagonal block is
 * at its place already. */
static bool add_rows(reduction *x, int c, int first, int d, double scale) {
    const dls_problem *p = x->p;
    const int *body = dls_rows_of(p)->body + 2 * (int64_t)c;
    int k = x->q->block_count;
    double room[2][DLS_MAX_BLOCK * ROUND_STATE], *to = x->B->G + x->rows_at;
    const double *G[2];
    for (int side = 0; side < 2; side++) {
        int64_t width = dls_width_of(x->B, body[side]);
        G[side] = dls_rows_in(p, c, side, room[side]) + first * width;
        if (body[side] >= 0) memcpy(to, G[side], sizeof(double) * (size_t)(d * width));
        to += d * width;
    }
    x->B->row_start[k] = x->rows_at;
    if (x->t) make_block_tail(x, body, d, G);
    if (x->t && dls_has_tail(x->t, k) && !reduce_diagonal(x, d, scale)) return false;
    x->rows_at = to - x->B->G;
    return true;
}

static bool is_like(const dls_run *a, const dls_run *b) {
    return a->size == b->size && a->kind == b->kind && a->storage == b->storage && a->parts == b->parts;
}

/* Takes the block that was added into q. */
static void close_block(reduction *x, int c, int first, int d) {
    const dls_problem *p = x->p;
    dls_problem *q = x->q;
    int k = q->block_count++, row = q->row[k];
    const int *body = dls_rows_of(p)->body + 2 * (int64_t)c;
    bool tailed = x->t && dls_has_tail(x->t, k), ball = x->B->row_start[k] < 0;
    bool wide = dls_width_of(x->B, body[0]) + dls_width_of(x->B, body[1]) > 2 * x->B->dof;
    dls_run run = {k,
                   k + 1,
                   row,
                   (uint8_t)d,
                   p->kind[c],
                   (uint8_t)(ball     ? DLS_BALLS
                             : tailed ? DLS_TAILED
                             : wide   ? DLS_WIDE
                                      : DLS_ROWS),
                   dls_parts_of(p, c)};
    if (!q->run_count || !is_like(&run, &q->runs[q->run_count - 1])) q->runs[q->run_count++] = run;
    q->runs[q->run_count - 1].end = k + 1;
    memcpy(x->B->body + 2 * (int64_t)k, dls_rows_of(p)->body + 2 * (int64_t)c, 2 * sizeof(int));
    for (int i = 0; i < d; i++) {
        int from = p->row[c] + first + i;
        x->e->row_of[row + i] = from;
        q->b[row + i] = x->e->given[from];
        q->unit[row + i] = p->unit[from];
        q->given_b[row + i] = x->e->given[from] / p->unit[from];
    }
    q->kind[k] = p->kind[c];
    q->mu[k] = p->mu[c];
    q->speed[k] = p->speed ? p->speed[c] : 0;
    if (q->parts)
        q->parts[k] = p->parts[c], q->mu_rolling[k] = p->mu_rolling[c], q->mu_spinning[k] = p->mu_spinning[c];
    q->contact_count += p->kind[c] == DLS_CONTACT;
    q->row_count = row + d;
}

/* The next block has d rows: where they and its W_cc stand. */
static void open_block(reduction *x, int d) {
    dls_problem *q = x->q;
    int k = q->block_count;
    q->row[k + 1] = q->row[k] + d;
    if (!q->uniform) q->diagonal_start[k + 1] = q->diagonal_start[k] + d * d;
    if (!x->t) return;
    x->t->value_start[k + 1] = x->t->value_start[k];
    x->t->start[2 * (int64_t)k + 1] = x->t->start[2 * (int64_t)k + 2] = x->t->start[2 * (int64_t)k];
    x->t->component[2 * k] = x->t->component[2 * k + 1] = -1;
}

static void add_contact(reduction *x, int c) {
    const dls_problem *p = x->p;
    const dls_body_rows *A = dls_rows_of(p);
    int d = dls_size(p, c), k = x->q->block_count;
    double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    bool ball = dls_is_ball(A, c) && !dls_elimination_touches(x->e, c);
    open_block(x, d);
    memcpy(next_diagonal(x), dls_diagonal_in(p, c, room), sizeof(double) * (size_t)(d * d));
    if (ball) {
        x->B->row_start[k] = -1;
        x->B->round[k] = A->round[c];
        if (A->roll) x->B->roll[k] = A->roll[c];
    } else if (!add_rows(x, c, 0, d, p->scale[c])) {
        x->e->out[x->e->out_count++] = c;
        return;
    }
    x->q->scale[k] = p->scale[c];
    close_block(x, c, 0, d);
}

/* Rows that stay are blocks of one row each: rows beside them may be held. W_ii = w̄ before, so that w̄ = W'_ii
 * keeps their weight. */
static void add_row(reduction *x, int c, int i) {
    const dls_problem *p = x->p;
    const double *W = dls_diagonal(p, c);
    int d = dls_size(p, c), k = x->q->block_count, row = p->row[c] + i;
    open_block(x, 1);
    *next_diagonal(x) = W[i + d * i];
    if (!add_rows(x, c, i, 1, W[i + d * i])) {
        x->e->out[x->e->out_count++] = c;
        return;
    }
    x->q->scale[k] = x->q->inverse_mass[k] = *next_diagonal(x);
    x->q->low[x->q->row[k]] = p->low ? p->low[row] : -HUGE_VAL;
    x->q->high[x->q->row[k]] = p->low ? p->high[row] : HUGE_VAL;
    if (x->B->compliance) x->B->compliance[x->q->row[k]] = dls_rows_of(p)->compliance[row];
    close_block(x, c, i, 1);
}

/* ---- the problem ---- */

/* Rows and blocks, at most, and what they have of G. */
typedef struct reduced_size {
    int blocks, contacts, rows, stays, uniform;
    int64_t diagonal, tails, G;
} reduced_size;

static reduced_size count_reduced(const reduction *x) {
    const dls_problem *p = x->p;
    const dls_elimination *e = x->e;
    reduced_size n = {0};
    bool alike = true;
    for (int c = 0; c < p->block_count; c++) {
        const int *body = dls_rows_of(p)->body + 2 * (int64_t)c;
        if (p->kind[c] == DLS_CONTACT && !dls_takes_part(e, c)) continue;
        int d = p->kind[c] == DLS_CONTACT ? dls_size(p, c) : 0, stays = 0, reach = 0;
        for (int i = p->row[c]; i < p->row[c + 1] && !d; i++) stays += e->role[i] == DLS_ROW_STAYS;
        for (int side = 0; side < 2; side++)
            if (body[side] >= 0 && e->joined[body[side]] >= 0)
                reach += e->R.depth[first_place_of(e, body[side])];
        n.contacts += d > 0;
        n.blocks += d ? 1 : stays;
        n.rows += d + stays;
        n.stays += stays;
        n.diagonal += d * d + stays;
        n.tails += (int64_t)reach * (d ? d : stays);
        n.G += (int64_t)(d + stays) *
               (dls_width_of(dls_rows_of(p), body[0]) + dls_width_of(dls_rows_of(p), body[1]));
        if (d && !n.uniform) n.uniform = d;
        alike = alike && (!d || d == n.uniform);
    }
    if (!alike || p->parts || n.stays) n.uniform = 0;
    return n;
}

static bool take_layout(reduction *x, const reduced_size *n) {
    dls_problem *q = x->q;
    dls_workspace *w = x->e->space;
    q->row = DLS_TAKE_ZERO(w, int, n->blocks + 2);
    q->kind = DLS_TAKE(w, uint8_t, n->blocks);
    q->mu = DLS_TAKE(w, double, n->blocks);
    q->scale = DLS_TAKE(w, double, n->blocks);
    q->speed = DLS_TAKE(w, double, n->blocks);
    q->b = DLS_TAKE(w, double, n->rows);
    q->unit = DLS_TAKE(w, double, n->rows);
    q->given_b = DLS_TAKE(w, double, n->rows);
    q->runs = DLS_TAKE(w, dls_run, n->blocks);
    q->diagonal = DLS_TAKE_ZERO(w, double, n->diagonal + DLS_MAX_BLOCK * DLS_MAX_BLOCK);
    x->e->row_of = DLS_TAKE(w, int, n->rows);
    x->e->out = DLS_TAKE(w, int, n->blocks);
    x->e->out_count = 0;
    if (!n->uniform && !(q->diagonal_start = DLS_TAKE_ZERO(w, int64_t, n->blocks + 2))) return false;
    return q->row && q->kind && q->mu && q->scale && q->speed && q->b && q->unit && q->given_b && q->runs &&
           q->diagonal && x->e->row_of && x->e->out;
}

/* What only some problems have. */
static bool take_extras(reduction *x, const reduced_size *n) {
    dls_problem *q = x->q;
    dls_workspace *w = x->e->space;
    const dls_body_rows *A = dls_rows_of(x->p);
    if (x->p->parts) {
        q->parts = DLS_TAKE(w, uint8_t, n->blocks);
        q->mu_rolling = DLS_TAKE(w, double, n->blocks);
        q->mu_spinning = DLS_TAKE(w, double, n->blocks);
        if (!q->parts || !q->mu_rolling || !q->mu_spinning) return false;
    }
    if (A->round && !(x->B->round = DLS_TAKE(w, dls_round_row, n->blocks))) return false;
    if (A->roll && !(x->B->roll = DLS_TAKE(w, dls_roll_row, n->blocks))) return false;
    if (!n->stays) return true;
    q->low = DLS_TAKE(w, double, n->rows);
    q->high = DLS_TAKE(w, double, n->rows);
    q->inverse_mass = DLS_TAKE_ZERO(w, double, n->blocks);
    if (A->compliance && !(x->B->compliance = DLS_TAKE_ZERO(w, double, n->rows))) return false;
    for (int i = 0; i < n->rows && q->low && q->high; i++) q->low[i] = -HUGE_VAL, q->high[i] = HUGE_VAL;
    return q->low && q->high && q->inverse_mass;
}

/* Held rows at each body. */
static int *count_held(const dls_elimination *e) {
    int bodies = e->p->body_count, *held = DLS_TAKE_ZERO(e->space, int, bodies);
    for (int body = 0; held && body < bodies; body++)
        for (int64_t n = e->start[body]; n < e->start[body + 1]; n++)
            held[body] += e->first_place[e->entry[n] / 2 + 1] - e->first_place[e->entry[n] / 2];
    return held;
}

static bool take_tails(reduction *x, const reduced_size *n) {
    const dls_elimination *e = x->e;
    dls_workspace *w = e->space;
    if (!n->tails) return true;
    dls_tails *t = x->t = x->B->tails = DLS_TAKE_ZERO(w, dls_tails, 1);
    if (!t || !make_tails(x)) return false;
    t->component_count = e->component_count;
    t->row_count = e->place_count;
    t->first = e->component_first;
    t->joined = e->joined;
    t->held = count_held(e);
    t->component = DLS_TAKE(w, int, 2 * (int64_t)n->blocks + 2);
    t->start = DLS_TAKE_ZERO(w, int64_t, 2 * (int64_t)n->blocks + 3);
    t->value_start = DLS_TAKE_ZERO(w, int64_t, n->blocks + 2);
    t->index = DLS_TAKE(w, int, n->tails);
    t->value = DLS_TAKE(w, double, n->tails);
    return t->held && t->component && t->start && t->value_start && t->index && t->value;
}

static bool take_all(reduction *x, const reduced_size *n) {
    dls_workspace *w = x->e->space;
    const dls_problem *p = x->p;
    dls_problem *q = x->q = DLS_TAKE_ZERO(w, dls_problem, 1);
    dls_body_rows *B = x->B = DLS_TAKE_ZERO(w, dls_body_rows, 1);
    if (!q || !B) return false;
    q->op = &dls_operator_bodies;
    q->ranks = p->ranks;
    q->data = B;
    q->workspace = w;
    q->reference_velocity = p->reference_velocity;
    q->uniform = n->uniform;
    q->masses_told = true;
    q->eliminated = x->e;
    B->dof = dls_rows_of(p)->dof;
    B->stride = dls_rows_of(p)->stride;
    B->width = dls_rows_of(p)->width;
    B->place = dls_rows_of(p)->place;
    B->wide = dls_rows_of(p)->wide;
    B->widest = dls_rows_of(p)->widest;
    B->body = DLS_TAKE(w, int, 2 * (int64_t)n->blocks);
    B->row_start = DLS_TAKE(w, int64_t, n->blocks);
    B->G = DLS_TAKE_ZERO(w, double, n->G + 2 * DLS_MAX_BLOCK * (int64_t)B->widest);
    if (!B->body || !B->row_start || !B->G || !take_layout(x, n) || !take_extras(x, n) || !take_tails(x, n))
        return false;
    q->body_count = p->body_count + (x->t ? x->t->component_count : 0);
    return true;
}

static void finish(dls_problem *q) {
    double contacts = 0, others = 0;
    for (int c = 0; c < q->block_count; c++)
        *(q->kind[c] == DLS_CONTACT ? &contacts : &others) += q->scale[c];
    int intervals = q->block_count - q->contact_count;
    q->mean_scale = q->contact_count ? contacts / q->contact_count : intervals ? others / intervals : 1;
}

/* u of all rows with the impulses that are known: those that are fixed, and of held rows what these and b ask
 * for. It stays while R does. */
static dls_status find_known(dls_elimination *e, const double *r, dls_error *error) {
    const dls_problem *p = e->p;
    if (e->is_given) return DLS_OK;
    dls_workspace_mark mark = dls_workspace_get_mark(e->space);
    double *known = DLS_TAKE_ZERO(e->space, double, p->row_count);
    double *state = DLS_TAKE(e->space, double, p->op->state_size(p));
    dls_held_error held;
    if (!known || !state) return dls_fail_memory(error);
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1] && p->kind[c] == DLS_INTERVAL; i++)
            if (e->role[i] == DLS_ROW_FIXED) known[i] = r[i];
    dls_status status = dls_elimination_recover(e, known, &held, error);
    if (!status) dls_velocity(p, known, e->given, state, e->threads);
    e->is_given = !status;
    dls_workspace_release(e->space, mark);
    return status;
}

dls_status dls_elimination_reduce(dls_elimination *e, const double *r, dls_problem **reduced,
                                  dls_error *error) {
    const dls_problem *p = e->p;
    reduction x = {.e = e, .p = p};
    *reduced = NULL;
    reduced_size n = count_reduced(&x);
    dls_status status = n.blocks ? find_known(e, r, error) : DLS_OK;
    if (status) return status;
    if (!take_all(&x, &n)) return dls_fail_memory(error);
    for (int c = 0; c < p->block_count; c++) {
        if (p->kind[c] == DLS_CONTACT && dls_takes_part(e, c)) add_contact(&x, c);
        for (int i = p->row[c]; i < p->row[c + 1] && p->kind[c] == DLS_INTERVAL; i++)
            if (e->role[i] == DLS_ROW_STAYS) add_row(&x, c, i - p->row[c]);
    }
    finish(x.q);
    e->reduced_rows = x.q->row_count;
    *reduced = x.q;
    return dls_bodies_list_entries(x.q, error);
}

const int *dls_elimination_out(const dls_elimination *e, int *count) {
    *count = e->out_count;
    return e->out;
}

void dls_elimination_enter(const dls_elimination *e, const double *r, double *reduced) {
    for (int i = 0; i < e->reduced_rows; i++) reduced[i] = r[e->row_of[i]];
}

void dls_elimination_leave(const dls_elimination *e, const double *reduced, double *r) {
    for (int c = 0; c < e->p->block_count; c++)
        for (int i = e->p->row[c]; i < e->p->row[c + 1] && e->p->kind[c] == DLS_CONTACT; i++) r[i] = 0;
    for (int i = 0; i < e->reduced_rows; i++) r[e->row_of[i]] = reduced[i];
}
