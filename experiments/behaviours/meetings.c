/* What bodies meet on their way within a step, and what they do not: a corner that is passed, slabs that are
 * hit. */
#include "experiments/behaviours/turned.h"

#include <math.h>
#include <string.h>

static const double REST[3] = {0, 0, 0};

/* A square or box of these halves; its four points go to `points`. */
static dls_shape_def block(int dimension, double half_x, double half, double points[12]) {
    dls_shape_def shape = dls_default_shape_def(dimension == 2 ? DLS_POLYGON : DLS_BOX);
    static const int corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    memset(points, 0, 12 * sizeof *points);
    for (int k = 0; k < 4; k++)
        points[3 * k] = corner[k][0] * half_x, points[3 * k + 1] = corner[k][1] * half;
    shape.size[0] = 2 * half_x;
    shape.size[1] = shape.size[2] = 2 * half;
    shape.point_count = 4;
    shape.points = points;
    return shape;
}

/* ---- 11: past a corner ---- */

/* A square of 0.5 m clears a platform's corner by 21 mm at 45°. How much its velocity changes, over phases.
 */
static bool pass(const variant *v, int dimension, double step, double *most) {
    *most = 0;
    for (int phase = 0; phase < 8; phase++) {
        turned_def def = turned_default(dimension);
        def.step = step, def.pair.mu = 0.3;
        turned t = turned_open(&def, v);
        double points[12], wall[12], c = (0.25 * sqrt(2) + 0.021) * sqrt(0.5),
                                     back = 0.8 + 7.5 * step * phase / 8;
        dls_shape_def square = block(dimension, 0.25, 0.25, points), platform = block(dimension, 2, 2, wall);
        const double at[3] = {-2, -2, 0}, x[3] = {c - back, c + back, 0}, speed[3] = {7.5, -7.5, 0};
        turned_add_shape(&t, DLS_STATIC, &platform, at, NULL, NULL, NULL);
        dls_body_id id = turned_add_shape(&t, DLS_DYNAMIC, &square, x, NULL, speed, NULL);
        turned_start(&t, &def, v);
        turned_run(&t, (int)(0.3 / (v->share * step)));
        *most = fmax(*most, distance_of(turned_state(&t, id).v, speed) + length_of(turned_state(&t, id).w));
        if (!turned_close(&t)) return false;
    }
    return true;
}

static bool show_corner(experiment_run *run) {
    for (int d = 2; d <= 3; d++)
        for (int k = 0; k < VARIANTS; k++) {
            double most;
            if (!pass(&variants[k], d, 1.0 / 60, &most)) return false;
            claim_bound(&run->claims, CLAIM_DERIVED, "m/s", CLAIM_AT_MOST, 1e-12, most,
                        "11: a %s clears a corner by 21 mm at h = 1/60 s, change of its velocity, %s",
                        d == 2 ? "square" : "box", variants[k].name);
        }
    return true;
}

/* ---- 12: bullets and slabs ---- */

/* 100 m/s at a slab of 0.2 m, h = 1/60 s: how far its front has gone in, over distances. */
static bool shoot(const variant *v, int kind, double *deepest) {
    *deepest = 0;
    for (int k = 0; k < 12; k++) {
        turned_def def = turned_default(3);
        double points[12], side[12], from = 0.3 + 0.5 * k;
        def.step = 1.0 / 60, def.pair.mu = 0.3;
        turned t = turned_open(&def, v);
        dls_shape_def slab = block(3, 0.1, 1.5, points),
                      bullet = kind == 0 ? block(3, 0.05, 0.05, side) : turned_ball(3, 0.05);
        const double x[3] = {-from, 0.01, 0.02}, speed[3] = {100, 0, 0};
        turned_add_shape(&t, DLS_STATIC, &slab, NULL, NULL, NULL, NULL);
        dls_body_id id = turned_add_shape(&t, DLS_DYNAMIC, &bullet, x, NULL, speed, NULL);
        turned_start(&t, &def, v);
        turned_run(&t, (int)(0.15 / (v->share * def.step)));
        *deepest = fmax(*deepest, fmax(t.depth, turned_state(&t, id).x[0] + 0.15));
        if (!turned_close(&t)) return false;
    }
    return true;
}

/* A ball of 100 kg at 100 m/s drives a small one, which rests, at a wall of 1 cm, h = 1e-3 s. */
static bool drive_through(const variant *v, double *deepest) {
    turned_def def = turned_default(3);
    double points[12];
    def.pair.mu = 0.3;
    turned t = turned_open(&def, v);
    dls_shape_def wall = block(3, 0.005, 0.5, points), small = turned_ball(3, 0.01),
                  heavy = turned_ball(3, 0.1);
    dls_body_def body = dls_default_body_def();
    const double at[3] = {-0.035, 0, 0};
    turned_add_shape(&t, DLS_STATIC, &wall, NULL, NULL, NULL, NULL);
    dls_body_id id = turned_add_shape(&t, DLS_DYNAMIC, &small, at, NULL, REST, NULL);
    body.shape_count = 1, body.shapes = &heavy, body.mass = 100;
    body.pose.x[0] = -0.5, body.v[0] = 100;
    turned_add(&t, &body);
    turned_start(&t, &def, v);
    *deepest = 0;
    for (int k = 0; k < (int)(0.02 / (v->share * def.step)) && turned_run(&t, 1); k++)
        *deepest = fmax(*deepest, fmax(t.depth, turned_state(&t, id).x[0] + 0.015));
    return turned_close(&t);
}

static bool show_bullets(experiment_run *run) {
    for (int k = 0; k < VARIANTS; k++) {
        const char *name = variants[k].name;
        double box, ball, driven;
        if (!shoot(&variants[k], 0, &box) || !shoot(&variants[k], 1, &ball) ||
            !drive_through(&variants[k], &driven))
            return false;
        claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-3, box,
                    "12: a box at 100 m/s goes into a slab of 0.2 m, h = 1/60 s, %s", name);
        claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-3, ball, "12: a ball does, %s", name);
        claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-4, driven,
                    "12: one that a heavy ball drives into a wall of 1 cm, h = 1e-3 s, %s", name);
    }
    return true;
}

bool show_meetings(experiment_run *run) { return show_corner(run) && show_bullets(run); }
