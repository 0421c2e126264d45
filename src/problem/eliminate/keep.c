/* What factorisations take instead of W', which is dense along a chain: the held rows that R has, kept as
 * blocks behind those of the reduced problem. With δ = r_J less what b and known impulses ask of it,
 *
 *     u = G Gᵀ r + G G_Jᵀ δ + b',   0 = G_J Gᵀ r + S δ. */
#include "problem/eliminate/elimination.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

typedef struct keeping {
    const dls_elimination *e;
    const dls_problem *q; /* the reduced one */
    dls_problem *p;       /* the one that is made */
    dls_body_rows *B;     /* its rows */
    int64_t at;           /* in B->G */
} keeping;

static int node_rows(const dls_elimination *e, int position) {
    int rows = 0;
    for (int j = e->first_place[position]; j < e->first_place[position + 1]; j++) rows += !e->R.dropped[j];
    return rows;
}

int dls_kept_rows(const dls_problem *q) {
    bool tailed = q->eliminated && dls_rows_of(q)->tails;
    return tailed ? q->eliminated->place_count - q->eliminated->R.dropped_count : 0;
}

/* ---- room ---- */

static bool take_layout(keeping *x, int blocks, int rows) {
    dls_problem *p = x->p;
    dls_workspace *w = p->workspace;
    p->row = DLS_TAKE_ZERO(w, int, blocks + 1);
    p->kind = DLS_TAKE(w, uint8_t, blocks);
    p->mu = DLS_TAKE_ZERO(w, double, blocks);
    p->speed = DLS_TAKE_ZERO(w, double, blocks);
    p->inverse_mass = DLS_TAKE_ZERO(w, double, blocks);
    p->b = DLS_TAKE_ZERO(w, double, rows);
    p->low = DLS_TAKE(w, double, rows);
    p->high = DLS_TAKE(w, double, rows);
    p->diagonal_start = DLS_TAKE_ZERO(w, int64_t, blocks + 1);
    p->diagonal = DLS_TAKE_ZERO(w, double, (int64_t)rows *DLS_MAX_BLOCK);
    if (x->q->parts) {
        p->parts = DLS_TAKE_ZERO(w, uint8_t, blocks);
        p->mu_rolling = DLS_TAKE_ZERO(w, double, blocks);
        p->mu_spinning = DLS_TAKE_ZERO(w, double, blocks);
        if (!p->parts || !p->mu_rolling || !p->mu_spinning) return false;
    }
    return p->row && p->kind && p->mu && p->speed && p->inverse_mass && p->b && p->low && p->high &&
           p->diagonal_start && p->diagonal;
}

/* Numbers of all rows that are kept. */
static int64_t count_numbers(const keeping *x) {
    const dls_body_rows *A = dls_rows_of(x->q);
    int64_t count = 0;
    for (int c = 0; c < x->q->block_count; c++) count += dls_side_numbers(x->q, c);
    for (int k = 0; k < x->e->node_count; k++)
        for (int side = 0; side < 2; side++)
            count +=
                (int64_t)node_rows(x->e, k) * dls_width_of(A, x->e->body[2 * (int64_t)x->e->order[k] + side]);
    return count;
}

static bool take_rows(keeping *x, int blocks, int rows) {
    dls_workspace *w = x->p->workspace;
    const dls_body_rows *A = dls_rows_of(x->q);
    dls_body_rows *B = x->B;
    B->dof = A->dof;
    B->stride = A->stride;
    B->width = A->width;
    B->place = A->place;
    B->wide = A->wide;
    B->widest = A->widest;
    B->round = A->round;
    B->roll = A->roll;
    B->body = DLS_TAKE(w, int, 2 * (int64_t)blocks);
    B->row_start = DLS_TAKE(w, int64_t, blocks);
    B->G = DLS_TAKE_ZERO(w, double, count_numbers(x));
    B->compliance = DLS_TAKE_ZERO(w, double, rows);
    return B->body && B->row_start && B->G && B->compliance;
}

static bool take_all(keeping *x) {
    const dls_problem *q = x->q;
    dls_workspace *w = x->e->space;
    int blocks = q->block_count, rows = q->row_count + dls_kept_rows(q);
    for (int k = 0; k < x->e->node_count; k++) blocks += node_rows(x->e, k) > 0;
    dls_problem *p = x->p = DLS_TAKE_ZERO(w, dls_problem, 1);
    dls_body_rows *B = x->B = DLS_TAKE_ZERO(w, dls_body_rows, 1);
    if (!p || !B) return false;
    p->op = &dls_operator_bodies;
    p->data = B;
    p->workspace = w;
    p->reference_velocity = q->reference_velocity;
    p->masses_told = true;
    p->body_count = dls_true_bodies(q);
    return take_layout(x, blocks, rows) && take_rows(x, blocks, rows);
}

/* ---- blocks ---- */

/* W_cc = G Gᵀ + ε of the block that comes next. */
static void fill_diagonal(const keeping *x, int d) {
    const dls_body_rows *B = x->B;
    int64_t c = x->p->block_count;
    double *W = x->p->diagonal + x->p->diagonal_start[c], *G = B->G + x->at;
    for (int side = 0; side < 2; side++) {
        int body = B->body[2 * c + side], width = dls_width_of(B, body);
        if (body >= 0) body_outer(d, d, width, G, G, W);
        G += d * width;
    }
    for (int i = 0; i < d; i++) W[i + d * i] += B->compliance[x->p->row_count + i];
}

/* Takes in the block whose rows, bodies and bounds are there. */
static void close_block(keeping *x, int d, dls_block_kind kind) {
    dls_problem *p = x->p;
    int c = p->block_count++;
    p->kind[c] = (uint8_t)kind;
    p->row_count += d;
    p->row[c + 1] = p->row_count;
    p->diagonal_start[c + 1] = p->diagonal_start[c] + d * d;
    p->contact_count += kind == DLS_CONTACT;
    if (kind == DLS_INTERVAL) p->inverse_mass[c] = p->diagonal[p->diagonal_start[c]];
}

static void add_own(keeping *x, int c) {
    const dls_problem *q = x->q;
    const dls_body_rows *A = dls_rows_of(q);
    dls_problem *p = x->p;
    int d = dls_size(q, c), row = q->row[c];
    int64_t numbers = dls_side_numbers(q, c);
    double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    bool ball = dls_is_ball(A, c);
    for (int i = 0; i < d; i++) {
        p->b[row + i] = q->b[row + i];
        p->low[row + i] = q->low ? q->low[row + i] : -HUGE_VAL;
        p->high[row + i] = q->low ? q->high[row + i] : HUGE_VAL;
        x->B->compliance[row + i] = A->compliance ? A->compliance[row + i] : 0;
    }
    p->mu[c] = q->mu[c];
    p->speed[c] = q->speed[c];
    if (q->parts)
        p->parts[c] = q->parts[c], p->mu_rolling[c] = q->mu_rolling[c], p->mu_spinning[c] = q->mu_spinning[c];
    memcpy(x->B->body + 2 * (int64_t)c, A->body + 2 * (int64_t)c, 2 * sizeof(int));
    x->B->row_start[c] = ball ? -1 : x->at;
    if (ball) {
        memcpy(p->diagonal + p->diagonal_start[c], dls_diagonal_in(q, c, room),
               sizeof(double) * (size_t)(d * d));
    } else {
        memcpy(x->B->G + x->at, dls_side_of(q, c, 0), sizeof(double) * (size_t)numbers);
        fill_diagonal(x, d);
        x->at += numbers;
    }
    close_block(x, d, (dls_block_kind)q->kind[c]);
}

/* The held rows of one node that depend on no others. */
static void add_node(keeping *x, int position) {
    const dls_elimination *e = x->e;
    const double *compliance = dls_rows_of(e->p)->compliance;
    dls_problem *p = x->p;
    int d = node_rows(e, position), c = p->block_count, i = 0;
    if (!d) return;
    memcpy(x->B->body + 2 * (int64_t)c, e->body + 2 * (int64_t)e->order[position], 2 * sizeof(int));
    x->B->row_start[c] = x->at;
    for (int j = e->first_place[position]; j < e->first_place[position + 1]; j++) {
        if (e->R.dropped[j]) continue;
        p->low[p->row_count + i] = -HUGE_VAL;
        p->high[p->row_count + i] = HUGE_VAL;
        x->B->compliance[p->row_count + i] = compliance ? compliance[e->row[j]] : 0;
        double *to = x->B->G + x->at;
        for (int side = 0; side < 2; side++) {
            int64_t body = x->B->body[2 * (int64_t)c + side], width = dls_width_of(x->B, (int)body);
            if (body >= 0) memcpy(to + i * width, dls_held_row(e, side, j), sizeof(double) * (size_t)width);
            to += d * width;
        }
        i++;
    }
    fill_diagonal(x, d);
    for (int side = 0; side < 2; side++)
        x->at += (int64_t)d * dls_width_of(x->B, x->B->body[2 * (int64_t)c + side]);
    close_block(x, d, DLS_INTERVAL);
}

dls_status dls_problem_keep(const dls_problem *q, dls_problem **kept, dls_error *error) {
    if (!dls_kept_rows(q)) return dls_problem_assemble(q, kept, error);
    keeping x = {.e = q->eliminated, .q = q};
    dls_workspace_mark mark = dls_workspace_get_mark(x.e->space);
    dls_status status = take_all(&x) ? DLS_OK : dls_fail_memory(error);
    *kept = NULL;
    if (!status) {
        for (int c = 0; c < q->block_count; c++) add_own(&x, c);
        for (int k = 0; k < x.e->node_count; k++) add_node(&x, k);
        status = dls_bodies_list_entries(x.p, error);
    }
    if (!status) status = dls_problem_assemble_in(x.p, NULL, kept, error);
    dls_workspace_release(x.e->space, mark);
    return status;
}

bool dls_kept_solve(const dls_problem *q, double *x) {
    const dls_elimination *e = q->eliminated;
    dls_workspace_mark mark = dls_workspace_get_mark(e->space);
    double *y = DLS_TAKE_ZERO(e->space, double, e->place_count);
    for (int j = 0, i = 0; y && j < e->place_count; j++)
        if (!e->R.dropped[j]) y[j] = x[i++];
    if (y) dls_cholesky_solve(&e->R, y);
    for (int j = 0, i = 0; y && j < e->place_count; j++)
        if (!e->R.dropped[j]) x[i++] = y[j];
    dls_workspace_release(e->space, mark);
    return y != NULL;
}
