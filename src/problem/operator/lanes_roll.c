/* Eight contacts of balls that resist turning are one visit, in the letters and the order of
 * roll_solve_discs. With the velocities u_t, v at x = r_t and y, stick is
 *
 *     x = r_t + (κ v − w_r u_t)/(w_t w_r − κ²),   y += (κ u_t − w_t v)/(w_t w_r − κ²) */
#include "problem/operator/lanes.h"

/* What a visit finds, and what it makes of it. */
typedef struct discs {
    lanes8 u[3], v[3]; /* across n */
    lanes8 r[3], y[3]; /* across n; the last impulses */
    lanes8 X, Y;       /* radii */
    lanes8 w_r, kappa;
} discs;

static inline __attribute__((always_inline)) bool any(const lane_ints *mask) {
    int32_t all = 0;
    for (int k = 0; k < LANES; k++) all |= (*mask)[k];
    return all != 0;
}

/* x ← of length `limit` along z. */
static inline __attribute__((always_inline)) void slip(const lanes8 *limit, const lanes8 z[3], lanes8 x[3]) {
    const lanes8 least = {FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN};
    lanes8 size2 = LANE_DOT(z, z), size;
    lanes_root(&size2, &size);
    lanes8 share = *limit / LANE_LARGER(size, least);
    for (int i = 0; i < 3; i++) x[i] = share * z[i];
}

/* Where both slip, x against its velocity with the last y, then y against its own with this x. */
static inline __attribute__((always_inline)) void slip_both(const lane_block *k, const lane_roll *roll,
                                                            const discs *d, const lane_ints *both,
                                                            lanes8 x[3], lanes8 y[3]) {
    lanes8 z[3], slip_x[3], slip_y[3];
    for (int i = 0; i < 3; i++) z[i] = d->r[i] - d->u[i] * k->inverse_t;
    slip(&d->X, z, slip_x);
    for (int i = 0; i < 3; i++)
        z[i] = d->y[i] - (d->v[i] + d->kappa * (slip_x[i] - d->r[i])) * roll->inverse_r;
    slip(&d->Y, z, slip_y);
    for (int i = 0; i < 3; i++) {
        x[i] = LANE_CHOICE(*both, slip_x[i], x[i]);
        y[i] = LANE_CHOICE(*both, slip_y[i], y[i]);
    }
}

static inline __attribute__((always_inline)) void solve_discs(const lane_block *k, const lane_roll *roll,
                                                              const discs *d, lanes8 x[3], lanes8 y[3]) {
    lanes8 free_x[3], free_y[3], slid_x[3], slid_y[3], cut_x[3], cut_y[3], share_x, share_y;
    for (int i = 0; i < 3; i++) {
        free_x[i] = d->r[i] + roll->inverse * (d->kappa * d->v[i] - d->w_r * d->u[i]);
        free_y[i] = d->y[i] + roll->inverse * (d->kappa * d->u[i] - roll->w_t * d->v[i]);
    }
    lane_ints x_sticks = LANE_DOT(free_x, free_x) <= d->X * d->X;
    lane_ints y_sticks = LANE_DOT(free_y, free_y) <= d->Y * d->Y;
    lanes_share(&d->X, free_x, &share_x);
    lanes_share(&d->Y, free_y, &share_y);
    for (int i = 0; i < 3; i++) {
        cut_x[i] = share_x * free_x[i], cut_y[i] = share_y * free_y[i];
        slid_x[i] = d->r[i] - (d->u[i] + d->kappa * (cut_y[i] - d->y[i])) * k->inverse_t;
        slid_y[i] = d->y[i] - (d->v[i] + d->kappa * (cut_x[i] - d->r[i])) * roll->inverse_r;
    }
    lane_ints rolls = ~y_sticks & (LANE_DOT(slid_x, slid_x) <= d->X * d->X);
    lane_ints slides = ~x_sticks & ~rolls & (LANE_DOT(slid_y, slid_y) <= d->Y * d->Y);
    lane_ints both = ~((x_sticks & y_sticks) | rolls | slides);
    for (int i = 0; i < 3; i++) {
        lanes8 slid = LANE_CHOICE(slides, cut_x[i], free_x[i]),
               turned = LANE_CHOICE(slides, slid_y[i], free_y[i]);
        x[i] = LANE_CHOICE(rolls, slid_x[i], slid);
        y[i] = LANE_CHOICE(rolls, cut_y[i], turned);
    }
    if (any(&both)) slip_both(k, roll, d, &both, x, y);
}

/* Spinning about n, between ± limit. */
static inline __attribute__((always_inline)) void visit_spin(lane_roll *roll, const lanes8 *u,
                                                             const lanes8 *normal, float beta,
                                                             float relaxation, lanes8 *step) {
    lanes8 now = roll->spin + beta * (roll->spin - roll->last_spin), limit = roll->mu_spinning * *normal;
    lanes8 s = now - (*u + roll->free_spin) * roll->inverse_r, least = -limit;
    s = LANE_LARGER(s, least);
    s = LANE_CHOICE(s > limit, limit, s);
    *step = relaxation * (s - now);
    roll->last_spin = roll->spin;
    roll->spin = now + *step;
}

/* w += n × (β x + γ y) + γ n s */
static inline __attribute__((always_inline)) void push_body(const lanes8 n[3], const lanes8 *a,
                                                            const lanes8 *beta, const lanes8 *gamma,
                                                            const lanes8 x[3], const lanes8 y[3],
                                                            const lanes8 *spin, lanes8 *const row[LANES]) {
    lanes8 both[3], turn[3], along = *gamma * *spin;
    for (int i = 0; i < 3; i++) both[i] = *beta * x[i] + *gamma * y[i];
    lanes_cross(n, both, turn);
    for (int i = 0; i < 3; i++) turn[i] += along * n[i];
    lanes_scatter(a, x, turn, row);
}

static inline __attribute__((always_inline)) void visit_eight(const dls_lanes *x, int at, bool spins,
                                                              float beta, float relaxation, lanes8 *change2) {
    const lanes8 zero = {0};
    lane_block *k = &x->block[at];
    lane_roll *roll = &x->roll[at];
    lane_still still = {{0}};
    lanes8 *a[LANES], *b[LANES], v_a[3], w_a[3], v_b[3], w_b[3], turn[3], gamma[3], u[3], r[3];
    lanes8 next_x[3], next_y[3], step_x[3], step_y[3], spin = zero;
    discs d;
    lanes_find(x, k->a, &still, a);
    lanes_find(x, k->b, &still, b);
    lanes_gather(a, v_a, w_a);
    lanes_gather(b, v_b, w_b);
    for (int i = 0; i < 3; i++) {
        turn[i] = k->beta_b * w_b[i] - k->beta_a * w_a[i];
        gamma[i] = roll->gamma_b * w_b[i] - roll->gamma_a * w_a[i];
    }
    lanes_cross(turn, k->n, u);
    lanes_cross(gamma, k->n, d.v);
    for (int i = 0; i < 3; i++) {
        u[i] += k->free[i] + k->a_b * v_b[i] - k->a_a * v_a[i];
        r[i] = k->r[i] + beta * (k->r[i] - k->last[i]);
        d.v[i] += roll->free[i];
        d.y[i] = roll->y[i] + beta * (roll->y[i] - roll->last[i]);
        k->last[i] = k->r[i];
        roll->last[i] = roll->y[i];
    }
    lanes8 u_n = LANE_DOT(k->n, u), r_n = LANE_DOT(k->n, r), normal = r_n - u_n * k->inverse_n;
    normal = LANE_LARGER(normal, zero);
    for (int i = 0; i < 3; i++) d.u[i] = u[i] - u_n * k->n[i], d.r[i] = r[i] - r_n * k->n[i];
    d.X = k->mu * normal;
    d.Y = roll->mu_rolling * normal;
    d.w_r = roll->gamma_a * roll->gamma_a + roll->gamma_b * roll->gamma_b;
    d.kappa = k->beta_a * roll->gamma_a + k->beta_b * roll->gamma_b;
    solve_discs(k, roll, &d, next_x, next_y);
    for (int i = 0; i < 3; i++) {
        step_x[i] = relaxation * (normal * k->n[i] + next_x[i] - r[i]);
        step_y[i] = relaxation * (next_y[i] - d.y[i]);
        k->r[i] = r[i] + step_x[i];
        roll->y[i] = d.y[i] + step_y[i];
    }
    lanes8 along = LANE_DOT(k->n, gamma);
    if (spins) visit_spin(roll, &along, &normal, beta, relaxation, &spin);
    *change2 += k->scale * k->scale * (LANE_DOT(step_x, step_x) + LANE_DOT(step_y, step_y) + spin * spin);
    push_body(k->n, &k->a_b, &k->beta_b, &roll->gamma_b, step_x, step_y, &spin, b);
    lanes8 a_back = -k->a_a, beta_back = -k->beta_a, gamma_back = -roll->gamma_a;
    push_body(k->n, &a_back, &beta_back, &gamma_back, step_x, step_y, &spin, a);
}

void dls_lanes_visit_roll(dls_lanes *x, int first, int end, float relaxation, lanes8 *change2) {
    lanes8 sum = {0};
    if (x->spins)
        for (int k = first; k < end; k++) visit_eight(x, k, true, x->beta, relaxation, &sum);
    else
        for (int k = first; k < end; k++) visit_eight(x, k, false, x->beta, relaxation, &sum);
    *change2 += sum;
}
