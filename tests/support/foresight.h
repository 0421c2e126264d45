/* What the contacts of one step foretell of the next: how deep a body sinks that turns as they just allow. */
#ifndef DELASSUS_TESTS_SUPPORT_FORESIGHT_H
#define DELASSUS_TESTS_SUPPORT_FORESIGHT_H

#include "support/pairs.h"

typedef struct foresight_pair {
    dls_placed fixed, moving;
    bool moving_first; /* it is A */
    pair_run run;
} foresight_pair;

static inline void foresight_step(foresight_pair *p, double margin) {
    (void)dls_pair_find(p->fixed.shape->kind, p->moving.shape->kind, &p->moving_first);
    pair_step(&p->run, p->moving_first ? &p->moving : &p->fixed, p->moving_first ? &p->fixed : &p->moving,
              margin);
}

/* Least gap after the moving body turns by w about its centre and moves by d. */
static inline double foreseen(const foresight_pair *p, const double *w, const double *d) {
    double least = INFINITY, sign = p->moving_first ? -1 : 1;
    for (int k = 0; k < p->run.manifold.count; k++) {
        const dls_contact_point *c = &p->run.manifold.point[k];
        double arm[3], moved[3];
        vec_sub(arm, p->moving_first ? c->point_a : c->point_b, p->moving.x);
        vec_cross(moved, w, arm);
        vec_add(moved, moved, d);
        least = fmin(least, c->gap + sign * vec_dot(c->normal, moved));
    }
    return least;
}

/* Nearly level and anywhere over the border of a box of half edges 1, 1, 0.5; 1e-5 above it. */
static inline void lay_over(dls_random *g, const dls_shape *below, const dls_shape *above,
                            foresight_pair *p) {
    *p = (foresight_pair){.fixed = placed_at(below, 0, 0, 0)};
    p->moving = placed_at(above, dls_random_between(g, -1.3, 1.3), dls_random_between(g, -1.3, 1.3), 2);
    turn(&p->moving, 0, 0, dls_random_between(g, 0, 6.3));
    turn(&p->moving, 0.03 * dls_random_normal(g), 0.03 * dls_random_normal(g), 0);
    for (int k = 0; k < 3; k++) {
        foresight_step(p, 2);
        p->moving.x[2] -= pair_least(&p->run.manifold, 2, 1e-12) - 1e-5;
        pair_end(&p->run);
    }
}

/* A motion that the contacts of one step just allow; the least gap after it. */
static inline double step_over(dls_random *g, const dls_shape *below, const dls_shape *above, double turned) {
    foresight_pair p;
    double w[3], d[3];
    lay_over(g, below, above, &p);
    foresight_step(&p, 0.1);
    assert_true(p.run.manifold.count > 0);
    for (int i = 0; i < 3; i++) w[i] = dls_random_normal(g), d[i] = dls_random_normal(g);
    vec_scale(w, turned / vec_norm(w), w);
    vec_scale(d, turned / vec_norm(d), d);
    for (int k = 0; k < 20; k++) d[2] -= foreseen(&p, w, d);
    turn(&p.moving, w[0], w[1], w[2]);
    vec_add(p.moving.x, p.moving.x, d);
    foresight_step(&p, 0.1);
    double least = pair_least(&p.run.manifold, 0.1, 1e-12);
    pair_end(&p.run);
    return least;
}

/* The overlap that is left is of second order in the turn: where an edge or a corner touches, the face behind
 * it is seen too, and an edge that slopes over a border knows that it sinks when it slides. Edges that run
 * side by side may miss it, but far less than by the way of their ends. */
static inline void check_foresight(const dls_shape *below, const dls_shape *above, int count) {
    dls_random g = {31};
    for (int k = 0; k < 2; k++) {
        double turned = k ? 1e-3 : 1e-2;
        int surprised = 0;
        for (int n = 0; n < count; n++) {
            double least = step_over(&g, below, above, turned);
            assert_true(least > -0.1 * turned);
            surprised += least < -5 * turned * turned;
        }
        assert_true(surprised <= 1 + count / 200);
    }
}

#endif
