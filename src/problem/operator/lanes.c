#include "problem/operator/lanes.h"

#include "base/memory.h"

#include <string.h>

/* All blocks are contacts of balls, whose rows are three and those that resist turning. */
static bool fits(const dls_problem *p) {
    const dls_body_rows *B = p->data;
    return p->block_count > 0 && B->round && !B->G && !B->tails && !B->compliance;
}

/* ---- making ---- */

static void set_contact(const dls_lanes *x, int k, int i, int c) {
    const dls_body_rows *B = x->problem->data;
    const dls_round_row *row = &B->round[c];
    lane_block *block = &x->block[k];
    x->contact[LANES * k + i] = c;
    block->a[i] = B->body[2 * (int64_t)c];
    block->b[i] = B->body[2 * (int64_t)c + 1];
    for (int j = 0; j < 3; j++) block->n[j][i] = (float)row->n[j];
    double root = 1 / sqrt(x->unit);
    block->a_a[i] = (float)(row->a_a * root), block->a_b[i] = (float)(row->a_b * root);
    block->beta_a[i] = (float)(row->beta_a * root), block->beta_b[i] = (float)(row->beta_b * root);
    block->inverse_n[i] = (float)(row->inverse_n * x->unit);
    block->inverse_t[i] = (float)(row->inverse_t * x->unit);
    block->mu[i] = (float)row->mu;
    block->scale[i] = (float)(x->problem->scale[c] / x->unit);
}

static void set_roll(dls_lanes *x, int k, int i, int c) {
    const dls_round_row *round = &dls_rows_of(x->problem)->round[c];
    const dls_roll_row *row = &dls_rows_of(x->problem)->roll[c];
    lane_roll *roll = &x->roll[k];
    double root = 1 / sqrt(x->unit), inverse = row->inverse * x->unit;
    x->spins = x->spins || roll_has_spinning(row);
    for (int j = 0; j < 3; j++) roll->t1[j][i] = (float)round->t1[j], roll->t2[j][i] = (float)round->t2[j];
    roll->gamma_a[i] = (float)(row->gamma_a * root), roll->gamma_b[i] = (float)(row->gamma_b * root);
    roll->x_of_u[i] = (float)(inverse / row->inverse_r);
    roll->y_of_v[i] = (float)(inverse * row->w_t);
    roll->across[i] = (float)(inverse * row->kappa);
    roll->kappa_t[i] = (float)(row->kappa / row->w_t);
    roll->kappa_r[i] = (float)(row->kappa * row->inverse_r);
    roll->inverse_r[i] = (float)(row->inverse_r * x->unit);
    roll->mu_rolling[i] = roll_has_rolling(row) ? (float)row->mu_rolling : 0;
    roll->mu_spinning[i] = roll_has_spinning(row) ? (float)row->mu_spinning : 0;
}

/* Where blocks share bodies each has lanes of its own. */
static int lanes_of_piece(int piece, int apart) { return piece < apart ? LANES : 1; }

static void set_piece(dls_lanes *x, const int *order, const int *piece, int i, int apart) {
    int lanes = lanes_of_piece(i, apart);
    for (int place = piece[i]; place < piece[i + 1]; place++) {
        int k = x->first[i] + (place - piece[i]) / lanes, lane = (place - piece[i]) % lanes;
        set_contact(x, k, lane, order[place]);
        if (x->roll) set_roll(x, k, lane, order[place]);
    }
}

static dls_lanes *make(const dls_problem *p, const int *order, const int *piece, int piece_count, int apart,
                       dls_workspace *w) {
    dls_lanes *x = DLS_TAKE_ZERO(w, dls_lanes, 1);
    int *first = DLS_TAKE(w, int, piece_count + 1), count = 0;
    if (!x || !first) return NULL;
    for (int i = 0; i < piece_count; i++) {
        int lanes = lanes_of_piece(i, apart);
        first[i] = count;
        count += (piece[i + 1] - piece[i] + lanes - 1) / lanes;
    }
    first[piece_count] = count;
    *x = (dls_lanes){.problem = p,
                     .piece_count = piece_count,
                     .block_count = count,
                     .first = first,
                     .unit = p->mean_scale};
    x->contact = DLS_TAKE(w, int, LANES *(int64_t)count);
    x->block = DLS_TAKE_ZERO(w, lane_block, count);
    if (dls_rows_of(p)->roll) x->roll = DLS_TAKE_ZERO(w, lane_roll, count);
    x->state = DLS_TAKE(w, double, (int64_t)p->body_count *LANE_STATE / 2);
    x->last = DLS_TAKE(w, double, (int64_t)p->body_count *LANE_STATE / 2);
    if (!x->contact || !x->block || !x->state || !x->last || (dls_rows_of(p)->roll && !x->roll)) return NULL;
    for (int i = 0; i < LANES * count; i++) x->contact[i] = -1;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < LANES; i++) x->block[k].a[i] = x->block[k].b[i] = -1;
    for (int i = 0; i < piece_count; i++) set_piece(x, order, piece, i, apart);
    return x;
}

/* ---- contacts to space and back ---- */

/* out ← n x₀ + t₁ x₁ + t₂ x₂ */
static inline void to_space(const dls_round_row *row, double unit, const double *x, int i, lanes8 out[3]) {
    for (int k = 0; k < 3; k++)
        out[k][i] = (float)(unit * (row->n[k] * x[0] + row->t1[k] * x[1] + row->t2[k] * x[2]));
}

static inline void to_frame(const dls_round_row *row, double unit, const lanes8 in[3], int i, double *x) {
    x[0] = x[1] = x[2] = 0;
    for (int k = 0; k < 3; k++) {
        double along = (double)in[k][i] / unit;
        x[0] += row->n[k] * along;
        x[1] += row->t1[k] * along;
        x[2] += row->t2[k] * along;
    }
}

/* All rows of a contact that resists turning, along n, t₁, t₂. */
static inline void to_lane(const dls_roll_row *row, double unit, const double *x, int i, lanes8 out[3],
                           lanes8 y[2], lanes8 *spin) {
    bool rolls = roll_has_rolling(row);
    for (int k = 0; k < 3; k++) out[k][i] = (float)(unit * x[k]);
    y[0][i] = rolls ? (float)(unit * x[4]) : 0;
    y[1][i] = rolls ? (float)(unit * -x[3]) : 0;
    (*spin)[i] = roll_has_spinning(row) ? (float)(unit * x[rolls ? 5 : 3]) : 0;
}

static inline void from_lane(const dls_roll_row *row, double unit, const lane_block *block,
                             const lane_roll *roll, int i, double *x) {
    bool rolls = roll_has_rolling(row);
    for (int k = 0; k < 3; k++) x[k] = (double)block->r[k][i] / unit;
    if (rolls) x[3] = (double)-roll->y[1][i] / unit, x[4] = (double)roll->y[0][i] / unit;
    if (roll_has_spinning(row)) x[rolls ? 5 : 3] = (double)roll->spin[i] / unit;
}

static void start(dls_lanes *x, int piece, const double *r) {
    const dls_problem *p = x->problem;
    const dls_body_rows *B = p->data;
    for (int k = x->first[piece]; k < x->first[piece + 1]; k++) {
        lane_block *block = &x->block[k];
        lane_roll *roll = x->roll ? &x->roll[k] : NULL;
        for (int i = 0, c; i < LANES && (c = x->contact[LANES * k + i]) >= 0; i++) {
            const double *rc = r + p->row[c];
            if (roll)
                to_lane(&B->roll[c], x->unit, rc, i, block->r, roll->y, &roll->spin);
            else
                to_space(&B->round[c], x->unit, rc, i, block->r);
        }
        memcpy(block->last, block->r, sizeof block->r);
        if (roll) memcpy(roll->last, roll->y, sizeof roll->y);
        if (roll) roll->last_spin = roll->spin;
    }
}

static void base(dls_lanes *x, int piece, const double *u) {
    const dls_problem *p = x->problem;
    const dls_body_rows *B = p->data;
    for (int k = x->first[piece]; k < x->first[piece + 1]; k++)
        for (int i = 0, c; i < LANES && (c = x->contact[LANES * k + i]) >= 0; i++) {
            lane_block *block = &x->block[k];
            const double *uc = u + p->row[c];
            if (x->roll)
                to_lane(&B->roll[c], 1, uc, i, block->free, x->roll[k].free, &x->roll[k].free_spin);
            else
                to_space(&B->round[c], 1, uc, i, block->free);
        }
}

/* Rounding leaves impulses a little outside of their cones. */
static void read(const dls_lanes *x, int piece, bool project, double *r) {
    const dls_problem *p = x->problem;
    const dls_body_rows *B = p->data;
    for (int k = x->first[piece]; k < x->first[piece + 1]; k++)
        for (int i = 0, c; i < LANES && (c = x->contact[LANES * k + i]) >= 0; i++) {
            double *rc = r + p->row[c];
            if (x->roll)
                from_lane(&B->roll[c], x->unit, &x->block[k], &x->roll[k], i, rc);
            else
                to_frame(&B->round[c], x->unit, x->block[k].r, i, rc);
            if (project) dls_block_project(p, c, rc);
        }
}

static void rebase(dls_lanes *x, bool fresh) {
    lanes8 *state = (lanes8 *)x->state, *last = (lanes8 *)x->last;
    const lanes8 zero = {0};
    for (int i = 0; i < x->problem->body_count; i++) {
        last[i] -= state[i];
        if (fresh) last[i] = zero;
        state[i] = zero;
    }
    if (fresh) x->beta = 0;
}

/* ---- sweeps ---- */

static dls_sweep_change visit(dls_lanes *x, int piece, double relaxation) {
    lanes8 change2 = {0};
    double sum = 0;
    (x->roll ? dls_lanes_visit_roll : dls_lanes_visit_round)(x, x->first[piece], x->first[piece + 1],
                                                             (float)relaxation, &change2);
    for (int i = 0; i < LANES; i++) sum += (double)change2[i];
    return (dls_sweep_change){.velocity2 = sum};
}

static void push(dls_lanes *x, double beta) {
    lanes8 *state = (lanes8 *)x->state, *last = (lanes8 *)x->last;
    x->beta = (float)beta;
    for (int i = 0; i < x->problem->body_count; i++) {
        lanes8 now = state[i];
        state[i] += x->beta * (now - last[i]);
        last[i] = now;
    }
}

static double *state(dls_lanes *x) { return x->state; }

static dls_span span(const dls_problem *p, int body) {
    (void)p;
    return (dls_span){(int64_t)body * (LANE_STATE / 2), LANE_STATE / 2};
}

const dls_lane_kernel dls_lanes_of_balls = {.fits = fits,
                                            .make = make,
                                            .start = start,
                                            .base = base,
                                            .rebase = rebase,
                                            .visit = visit,
                                            .push = push,
                                            .read = read,
                                            .state = state,
                                            .span = span};
