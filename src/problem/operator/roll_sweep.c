/* Sweeps over contacts of balls that resist turning, under the closed form of the exact law, four at a time.
 */
#include "problem/operator/round_lanes.h"

#define SELECT(mask, a, b) ((dls_v4)(((longs4)(a) & (mask)) | ((longs4)(b) & ~(mask))))

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
        W[k] = k % (d + 1) == 0 ? (k / d < 3 ? plain[4 * (k / d)] : 1 / roll->inverse_r) : 0;
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

/* A run of balls that resist turning. */
typedef struct rolling_run {
    dls_visits *visits;
    int run;
    double *r;
} rolling_run;

static void visit_one(const void *self, int c, dls_sweep_change *change) {
    const rolling_run *of = self;
    dls_visits *s = of->visits;
    const dls_problem *p = s->problem;
    const dls_body_rows *B = p->data;
    const dls_round_row *row = &B->round[c];
    const dls_roll_row *roll = &B->roll[c];
    const int *body = B->body + 2 * (int64_t)c;
    double still[ROUND_STATE] = {0}, u[DLS_MAX_BLOCK], x[DLS_MAX_BLOCK];
    double *a = body[0] >= 0 ? s->state + (int64_t)ROUND_STATE * body[0] : still;
    double *b = body[1] >= 0 ? s->state + (int64_t)ROUND_STATE * body[1] : still, *rc = of->r + p->row[c];
    int d = p->runs[of->run].size;
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

/* ---- four contacts ---- */

/* Where the numbers of four contacts are. */
typedef struct four {
    const dls_round_row *row[STREAMS];
    const dls_roll_row *roll[STREAMS];
    const double *free[STREAMS]; /* b */
    double *r[STREAMS], *a[STREAMS], *b[STREAMS];
} four;

static inline void find_four(const dls_visits *s, const int c[STREAMS], double *r, still_state *still,
                             four *x) {
    const dls_problem *p = s->problem;
    const dls_body_rows *B = p->data;
    for (int k = 0; k < STREAMS; k++) {
        const int *body = B->body + 2 * (int64_t)c[k];
        x->row[k] = &B->round[c[k]];
        x->roll[k] = &B->roll[c[k]];
        x->free[k] = p->b + p->row[c[k]];
        x->r[k] = r + p->row[c[k]];
        x->a[k] = body[0] >= 0 ? s->state + (int64_t)ROUND_STATE * body[0] : still->state;
        x->b[k] = body[1] >= 0 ? s->state + (int64_t)ROUND_STATE * body[1] : still->state;
    }
}

/* Four numbers of each of four contacts to lanes: number i of all in x[i]. */
static inline void transpose(const double *const from[STREAMS], int first, dls_v4 x[4]) {
    dls_v4 a = DLS_V4_LOAD(from[0] + first), b = DLS_V4_LOAD(from[1] + first);
    dls_v4 c = DLS_V4_LOAD(from[2] + first), d = DLS_V4_LOAD(from[3] + first);
    dls_v4 even = SHUFFLE(a, b, 0, 4, 2, 6), odd = SHUFFLE(a, b, 1, 5, 3, 7);
    dls_v4 later_even = SHUFFLE(c, d, 0, 4, 2, 6), later_odd = SHUFFLE(c, d, 1, 5, 3, 7);
    x[0] = SHUFFLE(even, later_even, 0, 1, 4, 5);
    x[1] = SHUFFLE(odd, later_odd, 0, 1, 4, 5);
    x[2] = SHUFFLE(even, later_even, 2, 3, 6, 7);
    x[3] = SHUFFLE(odd, later_odd, 2, 3, 6, 7);
}

/* The d numbers of each of four contacts to lanes. */
static inline __attribute__((always_inline)) void lanes_of(const double *const from[STREAMS], int d,
                                                           dls_v4 *x) {
    if (d == 3) {
        lanes3 three;
        turn_to_lanes(from, &three);
        x[0] = three.n, x[1] = three.t1, x[2] = three.t2;
        return;
    }
    dls_v4 last[4];
    transpose(from, 0, x);
    if (d == 4) return;
    transpose(from, d - 4, last);
    for (int i = 4; i < d; i++) x[i] = last[i - d + 4];
}

/* What the law needs of four contacts. */
typedef struct laws {
    dls_v4 w_t, w_r, kappa, inverse, mu_rolling, mu_spinning;
    dls_v4 inverse_n, inverse_t, inverse_r, mu;
} laws;

static inline __attribute__((always_inline)) void find_laws(const four *x, laws *law) {
    const double *round[STREAMS], *roll[STREAMS];
    dls_v4 y[4];
    for (int k = 0; k < STREAMS; k++) round[k] = &x->row[k]->inverse_n, roll[k] = &x->roll[k]->gamma_a;
    transpose(round, 0, y);
    law->inverse_n = y[0], law->inverse_t = y[1], law->mu = y[2];
    transpose(roll, 0, y);
    law->w_r = y[0] * y[0] + y[1] * y[1], law->w_t = y[2], law->inverse_r = y[3];
    transpose(roll, 4, y);
    law->kappa = y[0], law->inverse = y[1], law->mu_rolling = y[2], law->mu_spinning = y[3];
}

/* u with all impulses: n, t₁, t₂, rolling about t₁ and t₂, spinning. */
static inline __attribute__((always_inline)) void gather_four(const four *x, bool rolling, bool spinning,
                                                              dls_v4 u[6]) {
    dls_v4 along[6][STREAMS];
    int spin = rolling ? 5 : 3, d = spin + spinning;
    for (int k = 0; k < STREAMS; k++) {
        const dls_round_row *row = x->row[k];
        dls_v4 turn =
            x->roll[k]->gamma_b * DLS_V4_LOAD(x->b[k] + 4) - x->roll[k]->gamma_a * DLS_V4_LOAD(x->a[k] + 4);
        round_along(row, x->a[k], x->b[k], &along[0][k], &along[1][k], &along[2][k]);
        if (rolling) along[3][k] = DLS_V4_LOAD(row->t1) * turn, along[4][k] = DLS_V4_LOAD(row->t2) * turn;
        if (spinning) along[spin][k] = DLS_V4_LOAD(row->n) * turn;
    }
    lanes_of(x->free, d, u);
    for (int i = 0; i < d; i++) sum_each(along[i], &u[i]);
}

static inline dls_v4 root(dls_v4 x) { return (dls_v4){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])}; }

static inline bool any(longs4 mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }

/* limit/max(|x|, limit): 1 inside the disc. */
static inline dls_v4 share_of(dls_v4 limit, const dls_v4 x[2]) {
    dls_v4 larger = root(x[0] * x[0] + x[1] * x[1]);
    larger = LARGER(larger, limit);
    return limit / LARGER(larger, larger * 0 + DBL_MIN);
}

/* x ← of length `limit` against p + κ y. */
static inline void slip_four(dls_v4 limit, dls_v4 kappa, const dls_v4 p[2], const dls_v4 y[2], dls_v4 x[2]) {
    dls_v4 v[2] = {p[0] + kappa * y[0], p[1] + kappa * y[1]}, size = root(v[0] * v[0] + v[1] * v[1]);
    dls_v4 share = limit / LARGER(size, size * 0 + DBL_MIN);
    for (int i = 0; i < 2; i++) x[i] = -share * v[i];
}

/* In the letters and the order of roll_solve_discs. */
static inline __attribute__((always_inline)) void solve_discs(const laws *law, dls_v4 X, dls_v4 Y,
                                                              const dls_v4 p[2], const dls_v4 q[2],
                                                              dls_v4 x[2], dls_v4 y[2]) {
    const dls_v4 w_t = law->w_t, w_r = law->w_r, kappa = law->kappa;
    const dls_v4 inverse = law->inverse, last[2] = {y[0], y[1]};
    dls_v4 free_x[2], free_y[2], slid_x[2], slid_y[2], cut_x[2], cut_y[2];
    for (int i = 0; i < 2; i++) {
        free_x[i] = (kappa * q[i] - w_r * p[i]) * inverse;
        free_y[i] = (kappa * p[i] - w_t * q[i]) * inverse;
    }
    longs4 x_sticks = free_x[0] * free_x[0] + free_x[1] * free_x[1] <= X * X;
    longs4 y_sticks = free_y[0] * free_y[0] + free_y[1] * free_y[1] <= Y * Y;
    for (int i = 0; i < 2; i++) x[i] = free_x[i], y[i] = free_y[i];
    if (!any(~(x_sticks & y_sticks))) return;
    dls_v4 share_x = share_of(X, free_x), share_y = share_of(Y, free_y);
    for (int i = 0; i < 2; i++) {
        cut_x[i] = share_x * free_x[i], cut_y[i] = share_y * free_y[i];
        slid_x[i] = -(p[i] + kappa * cut_y[i]) * law->inverse_t;
        slid_y[i] = -(q[i] + kappa * cut_x[i]) * law->inverse_r;
    }
    longs4 rolls = ~y_sticks & (slid_x[0] * slid_x[0] + slid_x[1] * slid_x[1] <= X * X);
    longs4 slides = ~x_sticks & ~rolls & (slid_y[0] * slid_y[0] + slid_y[1] * slid_y[1] <= Y * Y);
    longs4 both = ~((x_sticks & y_sticks) | rolls | slides);
    for (int i = 0; i < 2; i++) {
        x[i] = SELECT(rolls, slid_x[i], SELECT(slides, cut_x[i], free_x[i]));
        y[i] = SELECT(rolls, cut_y[i], SELECT(slides, slid_y[i], free_y[i]));
    }
    if (!any(both)) return;
    dls_v4 slip_x[2], slip_y[2] = {last[0], last[1]};
    for (int k = 0; k < ROLL_TURNS; k++) {
        slip_four(X, kappa, p, slip_y, slip_x);
        slip_four(Y, kappa, q, slip_x, slip_y);
    }
    for (int i = 0; i < 2; i++) x[i] = SELECT(both, slip_x[i], x[i]), y[i] = SELECT(both, slip_y[i], y[i]);
}

/* x ← the next impulses; in the letters of roll_solve. */
static inline __attribute__((always_inline)) void solve_four(const laws *law, bool rolling, bool spinning,
                                                             const dls_v4 u[6], dls_v4 x[6]) {
    const dls_v4 zero = {0, 0, 0, 0};
    const dls_v4 w_t = law->w_t, w_r = law->w_r, kappa = law->kappa;
    int spin = rolling ? 5 : 3;
    x[0] -= u[0] * law->inverse_n;
    x[0] = LARGER(x[0], zero);
    dls_v4 X = law->mu * x[0];
    if (spinning) {
        dls_v4 limit = law->mu_spinning * x[0], s = x[spin] - u[spin] * law->inverse_r;
        s = LARGER(s, -limit);
        x[spin] = SELECT(s > limit, limit, s);
    }
    if (!rolling) {
        for (int i = 1; i < 3; i++) x[i] -= u[i] * law->inverse_t;
        dls_v4 share = share_of(X, x + 1);
        for (int i = 1; i < 3; i++) x[i] *= share;
        return;
    }
    dls_v4 y[2] = {x[4], -x[3]}, p[2], q[2];
    const dls_v4 v[2] = {u[4], -u[3]};
    for (int i = 0; i < 2; i++) {
        p[i] = u[1 + i] - w_t * x[1 + i] - kappa * y[i];
        q[i] = v[i] - kappa * x[1 + i] - w_r * y[i];
    }
    solve_discs(law, X, law->mu_rolling * x[0], p, q, x + 1, y);
    x[3] = -y[1], x[4] = y[0];
}

static inline __attribute__((always_inline)) void scatter_four(const four *x, bool rolling, bool spinning,
                                                               const dls_v4 step[6]) {
    const dls_v4 three = {1, 1, 1, 0};
    int spin = rolling ? 5 : 3, d = spin + spinning;
    for (int k = 0; k < STREAMS; k++) {
        const dls_round_row *row = x->row[k];
        const double y[3] = {step[0][k], step[1][k], step[2][k]};
        dls_v4 axis = {0, 0, 0, 0};
        round_push push;
        round_push_of(row, y, &push);
        if (rolling) axis += DLS_V4_LOAD(row->t1) * step[3][k] + DLS_V4_LOAD(row->t2) * step[4][k];
        if (spinning) axis += DLS_V4_LOAD(row->n) * step[spin][k];
        axis *= three;
        round_scatter(&push, -row->a_a, -row->beta_a, x->a[k]);
        round_scatter(&push, row->a_b, row->beta_b, x->b[k]);
        roll_scatter(axis, -x->roll[k]->gamma_a, x->a[k]);
        roll_scatter(axis, x->roll[k]->gamma_b, x->b[k]);
        for (int i = 0; i < d; i++) x->r[k][i] += step[i][k];
    }
}

/* As four visits, for contacts that share no body; returns Σ |Δr_c / ρ_c|². */
static inline __attribute__((always_inline)) double visit_lanes(const rolling_run *of, bool rolling,
                                                                bool spinning, const int c[STREAMS]) {
    dls_visits *s = of->visits;
    still_state still = {{0}};
    int d = 3 + 2 * rolling + spinning;
    dls_v4 u[6], x[6], now[6], step[6], square = {0, 0, 0, 0};
    double sum = 0;
    four at;
    laws law;
    find_four(s, c, of->r, &still, &at);
    gather_four(&at, rolling, spinning, u);
    find_laws(&at, &law);
    lanes_of((const double *const *)at.r, d, now);
    for (int i = 0; i < d; i++) x[i] = now[i];
    solve_four(&law, rolling, spinning, u, x);
    for (int i = 0; i < d; i++) {
        step[i] = s->relaxation * (x[i] - now[i]);
        square += step[i] * step[i];
    }
    scatter_four(&at, rolling, spinning, step);
    for (int k = 0; k < STREAMS; k++) {
        double scale = s->problem->scale[c[k]];
        sum += scale * scale * square[k];
        dls_visit_rest(s, c[k], square[k] > 0, at.r[k][0]);
    }
    return sum;
}

/* Which parts there are is known to the compiler. */
#define VISIT_FOUR(name, rolling, spinning)                                                                  \
    static inline __attribute__((always_inline)) double name(const void *run, const int c[STREAMS]) {        \
        return visit_lanes(run, rolling, spinning, c);                                                       \
    }

VISIT_FOUR(visit_rolling_and_spinning, true, true)
VISIT_FOUR(visit_rolling, true, false)
VISIT_FOUR(visit_spinning, false, true)
VISIT_FOUR(visit_plain, false, false)

dls_sweep_change dls_visit_rolling(dls_visits *s, int run, int first, int end, double *r, bool backward) {
    uint8_t parts = s->problem->runs[run].parts;
    bool rolling = parts & DLS_PARTS(0, 3, 0), spinning = parts & DLS_PARTS(0, 0, 3);
    const rolling_run of = {s, run, r};
    if (rolling && spinning)
        return visit_streams(s, first, end, backward, &of, visit_rolling_and_spinning, visit_one);
    if (rolling) return visit_streams(s, first, end, backward, &of, visit_rolling, visit_one);
    if (spinning) return visit_streams(s, first, end, backward, &of, visit_spinning, visit_one);
    return visit_streams(s, first, end, backward, &of, visit_plain, visit_one);
}
