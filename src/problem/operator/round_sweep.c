/* Sweeps over contacts of balls, under the closed form of the exact law. One visit is a chain of some eighty
 * cycles, a root and a division among them, that the next visit of the same body must wait for: the places
 * are cut into four streams that advance side by side, and four contacts that share no body are one visit. */
#include "problem/operator/round_lanes.h"

#include <assert.h>

/* A run of balls: its numbers by the number of a contact. */
typedef struct balls {
    dls_visits *visits;
    const dls_round_row *row;
    const int *body;
    const double *scale, *b;
    double *r, *state;
    bool rest;
} balls;

static inline int64_t row_of(int c) { return 3 * (int64_t)c; }

static inline double *state_of(const balls *x, int body, still_state *still) {
    return body >= 0 ? x->state + (int64_t)ROUND_STATE * body : still->state;
}

/* ---- one contact ---- */

/* r_c ← r_c + ω (x − r_c), as dls_visit_enter; a sum is enough where nobody asks for the largest step. */
static inline bool enter_round(const dls_visits *s, double scale, double *x, double *rc,
                               dls_sweep_change *change) {
    if (s->increments) return dls_visit_enter(s, 3, scale, x, rc, change);
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = s->relaxation * (x[k] - rc[k]);
        rc[k] += x[k];
        sum += x[k] * x[k];
    }
    change->velocity2 += scale * scale * sum;
    return sum > 0;
}

static inline __attribute__((always_inline)) void visit_one(const void *self, int c,
                                                            dls_sweep_change *change) {
    const balls *run = self;
    const dls_round_row *row = &run->row[c];
    const int *body = run->body + 2 * (int64_t)c;
    still_state still = {{0}};
    double *rc = run->r + row_of(c), *a = state_of(run, body[0], &still), *b = state_of(run, body[1], &still);
    double u[3], x[3];
    for (int k = 0; k < 3; k++) u[k] = run->b[row_of(c) + k], x[k] = rc[k];
    round_gather(row, a, b, u);
    round_solve(row, u, x);
    bool moved = enter_round(run->visits, run->scale[c], x, rc, change);
    if (run->rest) dls_visit_rest(run->visits, c, moved, rc[0]);
    if (!moved) return;
    round_push push;
    round_push_of(row, x, &push);
    round_scatter(&push, -row->a_a, -row->beta_a, a);
    round_scatter(&push, row->a_b, row->beta_b, b);
}

/* ---- four contacts ---- */

/* Where the numbers of four contacts are. */
typedef struct four {
    const dls_round_row *row[STREAMS];
    const double *free[STREAMS]; /* b */
    double *r[STREAMS], *a[STREAMS], *b[STREAMS];
} four;

static inline void find_four(const balls *run, const int c[STREAMS], still_state *still, four *x) {
    for (int k = 0; k < STREAMS; k++) {
        const int *body = run->body + 2 * (int64_t)c[k];
        x->row[k] = &run->row[c[k]];
        x->free[k] = run->b + row_of(c[k]);
        x->r[k] = run->r + row_of(c[k]);
        x->a[k] = state_of(run, body[0], still);
        x->b[k] = state_of(run, body[1], still);
    }
}

static inline void gather_four(const four *x, lanes3 *u) {
    dls_v4 n[STREAMS], t1[STREAMS], t2[STREAMS];
    for (int k = 0; k < STREAMS; k++) round_along(x->row[k], x->a[k], x->b[k], &n[k], &t1[k], &t2[k]);
    turn_to_lanes(x->free, u);
    sum_each(n, &u->n);
    sum_each(t1, &u->t1);
    sum_each(t2, &u->t2);
}

/* The steps ω (x − r), in the letters of round_solve. */
static inline void solve_four(double relaxation, const four *x, const lanes3 *u, lanes3 *step) {
    const dls_v4 zero = {0, 0, 0, 0};
    lanes3 now, law; /* law: 1/w_n, 1/w_t, μ */
    const double *laws[STREAMS];
    for (int k = 0; k < STREAMS; k++) laws[k] = &x->row[k]->inverse_n;
    turn_to_lanes((const double *const *)x->r, &now);
    turn_to_lanes(laws, &law);
    dls_v4 n = now.n - u->n * law.n, t1 = now.t1 - u->t1 * law.t1, t2 = now.t2 - u->t2 * law.t1;
    n = LARGER(n, zero);
    dls_v4 limit = law.t2 * n, size2 = t1 * t1 + t2 * t2;
    dls_v4 size = {sqrt(size2[0]), sqrt(size2[1]), sqrt(size2[2]), sqrt(size2[3])};
    dls_v4 larger = LARGER(size, limit);
    dls_v4 share = limit / LARGER(larger, zero + DBL_MIN);
    step->n = relaxation * (n - now.n);
    step->t1 = relaxation * (share * t1 - now.t1);
    step->t2 = relaxation * (share * t2 - now.t2);
}

static inline void scatter_four(const four *x, const dls_v4 step[STREAMS]) {
    for (int k = 0; k < STREAMS; k++) {
        const dls_round_row *row = x->row[k];
        const double y[3] = {step[k][0], step[k][1], step[k][2]};
        round_push push;
        round_push_of(row, y, &push);
        round_scatter(&push, -row->a_a, -row->beta_a, x->a[k]);
        round_scatter(&push, row->a_b, row->beta_b, x->b[k]);
        for (int i = 0; i < 3; i++) x->r[k][i] += y[i];
    }
}

/* As four times visit_one, for contacts that share no body; returns Σ |Δr_c / ρ_c|². */
static inline __attribute__((always_inline)) double visit_four(const void *self, const int c[STREAMS]) {
    const balls *run = self;
    still_state still = {{0}};
    four x;
    lanes3 u, lanes;
    dls_v4 step[STREAMS];
    double sum = 0;
    find_four(run, c, &still, &x);
    gather_four(&x, &u);
    solve_four(run->visits->relaxation, &x, &u, &lanes);
    turn_to_rows(&lanes, step);
    scatter_four(&x, step);
    dls_v4 square = lanes.n * lanes.n + lanes.t1 * lanes.t1 + lanes.t2 * lanes.t2;
    for (int k = 0; k < STREAMS; k++) {
        double scale = run->scale[c[k]];
        sum += scale * scale * square[k];
        if (run->rest) dls_visit_rest(run->visits, c[k], square[k] > 0, x.r[k][0]);
    }
    return sum;
}

dls_sweep_change dls_visit_balls(dls_visits *s, int k, int first, int end, double *r, bool backward) {
    const dls_problem *p = s->problem;
    const dls_body_rows *B = p->data;
    (void)k;
    assert(p->runs[k].row == 3 * p->runs[k].first); /* balls come among contacts of three rows alone */
    const balls run = {s, B->round, B->body, p->scale, p->b, r, s->state, s->rest != NULL};
    return visit_streams(s, first, end, backward, &run, visit_four, visit_one);
}
