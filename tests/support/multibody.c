#include "support/multibody.h"

#include "support/scene.h"

#include <math.h>

multibody_shape multibody_draw(dls_random *g) {
    multibody_shape shape = {.contacts = 1 + (int)dls_random_below(g, 40)};
    shape.bodies = 1 + (int)dls_random_below(g, (uint64_t)shape.contacts);
    shape.mu_low = dls_random_between(g, 0.1, 1.5);
    shape.mu_high = dls_random_between(g, shape.mu_low, 1.5);
    shape.lever = exp(dls_random_between(g, -2, 1));
    shape.matrix_free = dls_random_below(g, 2);
    return shape;
}

static void random_vector(dls_random *g, double size, double *x) {
    for (int i = 0; i < 3; i++) x[i] = size * dls_random_normal(g);
}

static void random_direction(dls_random *g, double *n) {
    double length = 0;
    random_vector(g, 1, n);
    for (int i = 0; i < 3; i++) length += n[i] * n[i];
    for (int i = 0; i < 3; i++) n[i] /= sqrt(length);
}

/* Masses differ by up to a hundred; every body falls, moves a little, and has at least one contact. */
dls_problem *multibody_problem(dls_random *g, const multibody_shape *shape) {
    const double origin[3] = {0, 0, 0};
    scene *s = scene_create(shape->bodies, shape->contacts);
    for (int k = 0; k < shape->bodies; k++) {
        double velocity[3], mass = exp(dls_random_between(g, -2.3, 2.3));
        random_vector(g, 0.3, velocity);
        velocity[2] -= 1;
        scene_body(s, origin, mass, mass * dls_random_between(g, 0.1, 1), velocity);
    }
    for (int c = 0; c < shape->contacts; c++) {
        double point[3], normal[3];
        int self = c < shape->bodies ? c : (int)dls_random_below(g, (uint64_t)shape->bodies);
        int other = (int)dls_random_below(g, (uint64_t)shape->bodies + 1) - 1;
        random_vector(g, shape->lever, point);
        random_direction(g, normal);
        scene_contact(s, other == self ? -1 : other, self, point, normal,
                      dls_random_between(g, shape->mu_low, shape->mu_high));
    }
    dls_problem *problem = scene_problem(s, shape->matrix_free);
    scene_free(s);
    return problem;
}
