/* Impacts that follow each other within a step: a cradle with gaps, an elastic gas. */
#include "experiments/behaviours/turned.h"

#include <math.h>

/* ---- 9: five balls in a row ---- */

/* The first comes with 1 m/s; the largest error of the speeds, which are to be (0, 0, 0, 0, 1). */
static bool cradle(const variant *v, double gap, double *error) {
    const double r = 0.02, still[3] = {0, 0, 0}, fast[3] = {1, 0, 0};
    turned_def def = turned_default(3);
    def.pair.mu = 0.3, def.pair.e_n = 1, def.restitution = DLS_RESTITUTION_IN_ORDER;
    turned t = turned_open(&def, v);
    dls_shape_def ball = turned_ball(3, r);
    dls_body_id id[5];
    for (int k = 0; k < 5; k++) {
        const double x[3] = {k ? k * (2 * r + gap) : -0.0103, 0, 0};
        id[k] = turned_add_shape(&t, DLS_DYNAMIC, &ball, x, NULL, k ? still : fast, NULL);
    }
    turned_start(&t, &def, v);
    turned_run(&t, (int)lround(0.02 / (v->share * def.step)));
    *error = 0;
    for (int k = 0; k < 5; k++)
        *error = fmax(*error, distance_of(turned_state(&t, id[k]).v, k < 4 ? still : fast));
    return turned_close(&t);
}

static bool show_cradle(experiment_run *run) {
    static const double gaps[] = {0, 1e-6, 1e-4, 1e-3};
    static const char *const names[] = {"touch", "are 1 µm apart", "are 0.1 mm apart", "are 1 mm apart"};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < VARIANTS; k++) {
            double error;
            if (!cradle(&variants[k], gaps[i], &error)) return false;
            claim_bound(&run->claims, CLAIM_DERIVED, "m/s", CLAIM_AT_MOST, 1e-12, error,
                        "9: five balls that %s hand on 1 m/s, error of a speed, %s", names[i],
                        variants[k].name);
        }
    return true;
}

/* ---- 10: an elastic gas ---- */

enum { SIDE = 6 };

/* A number in (−1, 1), from how often it was asked. */
static double next_number(unsigned *asked) {
    unsigned x = 2654435769u * ++*asked;
    x = (x ^ (x >> 15)) * 2246822519u, x = (x ^ (x >> 13)) * 3266489917u;
    return (double)(x ^ (x >> 16)) / 2147483648.0 - 1;
}

static void add_walls(turned *t) {
    dls_shape_def wall = dls_default_shape_def(t->dimension == 2 ? DLS_HALF_PLANE : DLS_BOX_INSIDE);
    for (int k = 0; k < 3; k++) wall.size[k] = 1;
    for (int k = 0; k < (t->dimension == 2 ? 4 : 1); k++) {
        double angle = k * acos(0), q[4], x[3] = {0.5 * sin(angle), -0.5 * cos(angle), 0},
               none[3] = {0, 0, 0};
        turn_about(2, angle, q);
        turned_add_shape(t, DLS_STATIC, &wall, t->dimension == 2 ? x : none, q, NULL, NULL);
    }
}

static bool gas(const variant *v, int dimension, double seconds, double *change, int64_t *impacts) {
    turned_def def = turned_default(dimension);
    def.pair.e_n = 1, def.restitution = DLS_RESTITUTION_IN_ORDER;
    turned t = turned_open(&def, v);
    dls_shape_def ball = turned_ball(dimension, 0.03);
    unsigned asked = 0;
    add_walls(&t);
    for (int k = 0; k < SIDE * SIDE; k++) {
        double x[3] = {-0.4 + 0.16 * (k % SIDE), -0.4 + 0.16 * (k / SIDE), 0}, speed[3] = {0, 0, 0};
        for (int i = 0; i < dimension; i++) speed[i] = 2 * next_number(&asked);
        turned_add_shape(&t, DLS_DYNAMIC, &ball, x, NULL, speed, NULL);
    }
    turned_start(&t, &def, v);
    double before = turned_energy(&t);
    *change = 0, *impacts = 0;
    for (int k = 0; k < (int)lround(seconds / (v->share * def.step)) && turned_run(&t, 1); k++) {
        *change = fmax(*change, fabs(turned_energy(&t) / before - 1));
        *impacts += dls_simulation_impacts(t.simulation, NULL);
    }
    return turned_close(&t);
}

static bool show_gas(experiment_run *run) {
    double seconds = run->size == SIZE_FULL ? 5 : 1;
    for (int d = 2; d <= 3; d++)
        for (int k = 0; k < VARIANTS; k++) {
            double change;
            int64_t impacts;
            if (!gas(&variants[k], d, seconds, &change, &impacts)) return false;
            claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-9, change,
                        "10: energy of 36 elastic %s in a box, change in %g s and %d impacts, %s",
                        d == 2 ? "discs" : "balls", seconds, (int)impacts, variants[k].name);
        }
    return true;
}

bool show_impacts(experiment_run *run) { return show_cradle(run) && show_gas(run); }
