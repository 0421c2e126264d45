/* Sweeps over contacts of balls that resist turning, under the closed form of the exact law. */
#include "problem/operator/bodies.h"
#include "problem/operator/visits.h"

/* The rows of W_cc behind those of round_diagonal: rolling about t₁ meets t₂ with −κ, about t₂ meets t₁ with
 * κ. */
void dls_rolling_diagonal(const dls_problem *p, int c, double *W) {
    const dls_body_rows *B = p->data;
    const dls_round_row *row = &B->round[c];
    const dls_roll_row *roll = &B->roll[c];
    int d = dls_size(p, c);
    double plain[9];
    round_diagonal(row, plain);
    for (int k = 0; k < d * d; k++)
        W[k] = k % (d + 1) == 0 ? (k / d < 3 ? plain[4 * (k / d)] : roll->w_r) : 0;
    if (!roll_has_rolling(roll)) return;
    W[1 + d * 4] = W[4 + d * 1] = roll->kappa;
    W[2 + d * 3] = W[3 + d * 2] = -roll->kappa;
}

/* One side of these rows as rows of G. */
void dls_rolling_side(const dls_problem *p, int c, int side, double *G) {
    const dls_body_rows *B = p->data;
    const dls_round_row *row = &B->round[c];
    const dls_roll_row *roll = &B->roll[c];
    const double *axes[3], gamma = side ? roll->gamma_b : -roll->gamma_a;
    int count = 0;
    if (roll_has_rolling(roll)) axes[count++] = row->t1, axes[count++] = row->t2;
    if (roll_has_spinning(roll)) axes[count++] = row->n;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < B->dof; i++) {
            int turn = i - B->dof / 2;
            G[k * B->dof + i] = turn >= 0 && turn < 3 ? gamma * axes[k][turn] : 0;
        }
}

static inline void visit(dls_visits *s, int run, int c, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    const dls_body_rows *B = p->data;
    const dls_round_row *row = &B->round[c];
    const dls_roll_row *roll = &B->roll[c];
    const int *body = B->body + 2 * (int64_t)c;
    double still[ROUND_STATE] = {0}, u[DLS_MAX_BLOCK], x[DLS_MAX_BLOCK];
    double *a = body[0] >= 0 ? s->state + (int64_t)ROUND_STATE * body[0] : still;
    double *b = body[1] >= 0 ? s->state + (int64_t)ROUND_STATE * body[1] : still, *rc = r + p->row[c];
    int d = p->runs[run].size;
    for (int k = 0; k < d; k++) u[k] = p->b[p->row[c] + k], x[k] = rc[k];
    round_gather(row, a, b, u);
    roll_gather(row, roll, a, b, u + 3);
    roll_solve(row, roll, u, x);
    bool moved = dls_visit_enter(s, d, p->scale[c], x, rc, change);
    dls_visit_rest(s, c, moved, rc[0]);
    if (!moved) return;
    round_push push;
    round_push_of(row, x, &push);
    dls_v4 axis = roll_axis(row, roll, x + 3);
    round_scatter(&push, -row->a_a, -row->beta_a, a);
    round_scatter(&push, row->a_b, row->beta_b, b);
    roll_scatter(axis, -roll->gamma_a, a);
    roll_scatter(axis, roll->gamma_b, b);
}

dls_sweep_change dls_visit_rolling(dls_visits *s, int run, int first, int end, double *r, bool backward) {
    return dls_visit_each(s, run, first, end, r, backward, visit);
}
