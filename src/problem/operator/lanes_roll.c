/* Eight contacts of balls that resist turning are one visit, along n, t₁, t₂, in the letters and the order of
 * roll_solve_discs. With the velocities u_t, v at x = r_t and y, stick is
 *
 *     x° = r_t + (κ v − w_r u_t)/(w_t w_r − κ²),   y° = y + (κ u_t − w_t v)/(w_t w_r − κ²)
 *
 * and what one of them is where the other is known is at hand from there:
 *
 *     x = x° + κ/w_t (y° − y),   y = y° + κ/w_r (x° − x) */
#include "problem/operator/lanes.h"

#define INLINE static inline __attribute__((always_inline))

/* What a visit finds, and what it makes of it: across n. */
typedef struct discs {
    lanes8 u[2], v[2];
    lanes8 r[3], y[2]; /* the last impulses, r along n too */
    lanes8 X, Y;       /* radii */
} discs;

/* Where both slip, x against its velocity with the last y, then y against its own with this x. */
INLINE void slip_both(const lane_block *k, const lane_roll *roll, const discs *d, const lanes8 free_x[2],
                      const lanes8 free_y[2], const lane_ints *both, lanes8 x[2], lanes8 y[2]) {
    lanes8 z[2], size2, share;
    for (int i = 0; i < 2; i++) z[i] = d->r[1 + i] - d->u[i] * k->inverse_t;
    size2 = LANE_SQUARE(z[0], z[1]);
    lanes_length(&d->X, &size2, &share);
    for (int i = 0; i < 2; i++) {
        lanes8 slip_x = share * z[i];
        x[i] = LANE_CHOICE(*both, slip_x, x[i]);
        z[i] = free_y[i] + roll->kappa_r * (free_x[i] - slip_x);
    }
    size2 = LANE_SQUARE(z[0], z[1]);
    lanes_length(&d->Y, &size2, &share);
    for (int i = 0; i < 2; i++) {
        lanes8 slip_y = share * z[i];
        y[i] = LANE_CHOICE(*both, slip_y, y[i]);
    }
}

INLINE void solve_discs(const lane_block *k, const lane_roll *roll, const discs *d, lanes8 x[2],
                        lanes8 y[2]) {
    const lanes8 one = {1, 1, 1, 1, 1, 1, 1, 1};
    lanes8 free_x[2], free_y[2], slid_x[2], slid_y[2], share_x, share_y;
    for (int i = 0; i < 2; i++) {
        free_x[i] = d->r[1 + i] + roll->across * d->v[i] - roll->x_of_u * d->u[i];
        free_y[i] = d->y[i] + roll->across * d->u[i] - roll->y_of_v * d->v[i];
    }
    lanes8 size2_x = LANE_SQUARE(free_x[0], free_x[1]), size2_y = LANE_SQUARE(free_y[0], free_y[1]);
    lanes_share(&d->X, &size2_x, &share_x);
    lanes_share(&d->Y, &size2_y, &share_y);
    lanes8 to_x = roll->kappa_t * (one - share_y), to_y = roll->kappa_r * (one - share_x);
    for (int i = 0; i < 2; i++) {
        slid_x[i] = free_x[i] + to_x * free_y[i];
        slid_y[i] = free_y[i] + to_y * free_x[i];
    }
    lane_ints sticks = LANE_SQUARE(slid_x[0], slid_x[1]) <= d->X * d->X; /* x, whether y does or not */
    lane_ints slides = LANE_SQUARE(slid_y[0], slid_y[1]) <= d->Y * d->Y;
    for (int i = 0; i < 2; i++) {
        lanes8 cut_x = share_x * free_x[i], cut_y = share_y * free_y[i];
        x[i] = LANE_CHOICE(sticks, slid_x[i], cut_x);
        y[i] = LANE_CHOICE(sticks, cut_y, slid_y[i]);
    }
    lane_ints both = ~(sticks | slides);
    slip_both(k, roll, d, free_x, free_y, &both, x, y);
}

/* Spinning about n, between ± limit. */
INLINE void visit_spin(lane_roll *roll, const lanes8 *u, const lanes8 *normal, float beta, float relaxation,
                       lanes8 *step) {
    lanes8 now = roll->spin + beta * (roll->spin - roll->last_spin), limit = roll->mu_spinning * *normal;
    lanes8 s = now - (*u + roll->free_spin) * roll->inverse_r, least = -limit;
    s = LANE_LARGER(s, least);
    s = LANE_CHOICE(s > limit, limit, s);
    *step = relaxation * (s - now);
    roll->last_spin = roll->spin;
    roll->spin = now + *step;
}

/* u_n ← and across n u and v, of the velocities of both bodies. */
INLINE void gather(const lane_block *k, const lane_roll *roll, lanes8 *const a[LANES], lanes8 *const b[LANES],
                   bool spins, lanes8 *u_n, lanes8 *u_spin, discs *d) {
    lanes8 v_a[3], w_a[3], v_b[3], w_b[3], apart[3];
    lanes_gather(a, v_a, w_a);
    lanes_gather(b, v_b, w_b);
    for (int i = 0; i < 3; i++) apart[i] = k->a_b * v_b[i] - k->a_a * v_a[i];
    lanes8 a_1 = LANE_DOT(roll->t1, w_a), a_2 = LANE_DOT(roll->t2, w_a);
    lanes8 b_1 = LANE_DOT(roll->t1, w_b), b_2 = LANE_DOT(roll->t2, w_b);
    *u_n = k->free[0] + LANE_DOT(k->n, apart);
    d->u[0] = k->free[1] + LANE_DOT(roll->t1, apart) + k->beta_b * b_2 - k->beta_a * a_2;
    d->u[1] = k->free[2] + LANE_DOT(roll->t2, apart) - k->beta_b * b_1 + k->beta_a * a_1;
    d->v[0] = roll->free[0] + roll->gamma_b * b_2 - roll->gamma_a * a_2;
    d->v[1] = roll->free[1] - roll->gamma_b * b_1 + roll->gamma_a * a_1;
    if (spins) *u_spin = roll->gamma_b * LANE_DOT(k->n, w_b) - roll->gamma_a * LANE_DOT(k->n, w_a);
}

/* w += t₂ (β x₁ + γ y₁) − t₁ (β x₂ + γ y₂) + γ n s */
INLINE void push_body(const lane_block *k, const lane_roll *roll, const lanes8 *a, const lanes8 *beta,
                      const lanes8 *gamma, const lanes8 push[3], const lanes8 x[2], const lanes8 y[2],
                      const lanes8 *spin, lanes8 *const row[LANES]) {
    lanes8 turn[3], first = *beta * x[0] + *gamma * y[0], other = *beta * x[1] + *gamma * y[1];
    for (int i = 0; i < 3; i++) turn[i] = first * roll->t2[i] - other * roll->t1[i];
    if (spin)
        for (int i = 0; i < 3; i++) turn[i] += *gamma * *spin * k->n[i];
    lanes_scatter(a, push, turn, row);
}

INLINE void visit_eight(const dls_lanes *x, int at, bool spins, float beta, float relaxation,
                        lanes8 *change2) {
    const lanes8 zero = {0};
    lane_block *k = &x->block[at];
    lane_roll *roll = &x->roll[at];
    lane_still still = {{0}};
    lanes8 *a[LANES], *b[LANES], u_n, u_spin, next[3], next_y[2], step[3], step_y[2], spin = zero, push[3];
    discs d;
    lanes_find(x, k->a, &still, a);
    lanes_find(x, k->b, &still, b);
    gather(k, roll, a, b, spins, &u_n, &u_spin, &d);
    for (int i = 0; i < 3; i++) {
        d.r[i] = k->r[i] + beta * (k->r[i] - k->last[i]);
        k->last[i] = k->r[i];
    }
    for (int i = 0; i < 2; i++) {
        d.y[i] = roll->y[i] + beta * (roll->y[i] - roll->last[i]);
        roll->last[i] = roll->y[i];
    }
    next[0] = d.r[0] - u_n * k->inverse_n;
    next[0] = LANE_LARGER(next[0], zero);
    d.X = k->mu * next[0];
    d.Y = roll->mu_rolling * next[0];
    solve_discs(k, roll, &d, next + 1, next_y);
    for (int i = 0; i < 3; i++) {
        step[i] = relaxation * (next[i] - d.r[i]);
        k->r[i] = d.r[i] + step[i];
    }
    for (int i = 0; i < 2; i++) {
        step_y[i] = relaxation * (next_y[i] - d.y[i]);
        roll->y[i] = d.y[i] + step_y[i];
    }
    if (spins) visit_spin(roll, &u_spin, &next[0], beta, relaxation, &spin);
    *change2 +=
        k->scale * k->scale * (LANE_DOT(step, step) + LANE_SQUARE(step_y[0], step_y[1]) + spin * spin);
    for (int i = 0; i < 3; i++) push[i] = step[0] * k->n[i] + step[1] * roll->t1[i] + step[2] * roll->t2[i];
    push_body(k, roll, &k->a_b, &k->beta_b, &roll->gamma_b, push, step + 1, step_y, spins ? &spin : NULL, b);
    lanes8 a_back = -k->a_a, beta_back = -k->beta_a, gamma_back = -roll->gamma_a;
    push_body(k, roll, &a_back, &beta_back, &gamma_back, push, step + 1, step_y, spins ? &spin : NULL, a);
}

void dls_lanes_visit_roll(dls_lanes *x, int first, int end, float relaxation, lanes8 *change2) {
    lanes8 sum = {0};
    if (x->spins)
        for (int k = first; k < end; k++) visit_eight(x, k, true, x->beta, relaxation, &sum);
    else
        for (int k = first; k < end; k++) visit_eight(x, k, false, x->beta, relaxation, &sum);
    *change2 += sum;
}
