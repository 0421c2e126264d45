/* Eight contacts of balls are one visit, in the letters of round_solve:
 *
 *     z = r − u/w_t,   x_n = max(0, r_n − u_n/w_n),   x_t = z_t min(1, μ x_n/|z_t|) */
#include "problem/operator/lanes.h"

static inline __attribute__((always_inline)) void visit_eight(const dls_lanes *x, lane_block *k, float beta,
                                                              float relaxation, lanes8 *change2) {
    const lanes8 zero = {0};
    lane_still still = {{0}};
    lanes8 *a[LANES], *b[LANES], v_a[3], w_a[3], v_b[3], w_b[3], turn[3], u[3], r[3], z[3], step[3], push[3];
    lanes_find(x, k->a, &still, a);
    lanes_find(x, k->b, &still, b);
    lanes_gather(a, v_a, w_a);
    lanes_gather(b, v_b, w_b);
    for (int i = 0; i < 3; i++) turn[i] = k->beta_b * w_b[i] - k->beta_a * w_a[i];
    lanes_cross(turn, k->n, u);
    for (int i = 0; i < 3; i++) {
        u[i] += k->free[i] + k->a_b * v_b[i] - k->a_a * v_a[i];
        r[i] = k->r[i] + beta * (k->r[i] - k->last[i]);
        z[i] = r[i] - u[i] * k->inverse_t;
        k->last[i] = k->r[i];
    }
    lanes8 normal = LANE_DOT(k->n, r) - LANE_DOT(k->n, u) * k->inverse_n, along = LANE_DOT(k->n, z), share;
    normal = LANE_LARGER(normal, zero);
    for (int i = 0; i < 3; i++) z[i] -= along * k->n[i];
    lanes8 limit = k->mu * normal, size2 = LANE_DOT(z, z);
    lanes_share(&limit, &size2, &share);
    for (int i = 0; i < 3; i++) {
        step[i] = relaxation * (normal * k->n[i] + share * z[i] - r[i]);
        k->r[i] = r[i] + step[i];
    }
    *change2 += k->scale * k->scale * LANE_DOT(step, step);
    lanes_cross(k->n, step, turn);
    for (int i = 0; i < 3; i++) push[i] = k->beta_b * turn[i];
    lanes_scatter(&k->a_b, step, push, b);
    lanes8 back = -k->a_a;
    for (int i = 0; i < 3; i++) push[i] = -k->beta_a * turn[i];
    lanes_scatter(&back, step, push, a);
}

void dls_lanes_visit_round(dls_lanes *x, int first, int end, float relaxation, lanes8 *change2) {
    lanes8 sum = {0};
    for (int k = first; k < end; k++) visit_eight(x, &x->block[k], x->beta, relaxation, &sum);
    *change2 += sum;
}
