#include "support/stage.h"

#include "support/test.h"

#include <math.h>
#include <string.h>

static void check(dls_status status, const dls_error *error) {
    if (status) fail_msg("%s", error->message);
}

stage stage_open(int dimension, double gravity, double mu, double e_n, double e_t) {
    stage s = {.world = NULL};
    dls_error error;
    dls_world_def def = dls_default_world_def();
    def.dimension = dimension;
    memset(def.gravity, 0, sizeof def.gravity);
    def.gravity[dimension - 1] = -gravity;
    check(dls_world_create(&def, &s.world, &error), &error);
    dls_pair_def pair = {.mu = mu, .e_n = e_n, .e_t = e_t};
    check(dls_world_set_pair(s.world, 0, 0, &pair, &error), &error);
    return s;
}

void stage_close(stage *s) {
    dls_simulation_destroy(s->simulation);
    dls_world_destroy(s->world);
}

dls_body_id stage_add(stage *s, const dls_body_def *def) {
    dls_error error;
    dls_body_id id;
    check(dls_world_add_body(s->world, def, &id, &error), &error);
    return id;
}

dls_body_id stage_add_shape(stage *s, dls_motion motion, const dls_shape_def *shape, const double *x,
                            const double *v, const double *w) {
    dls_body_def def = dls_default_body_def();
    def.motion = motion;
    def.shape_count = 1;
    def.shapes = shape;
    if (x) memcpy(def.pose.x, x, sizeof def.pose.x);
    if (v) memcpy(def.v, v, sizeof def.v);
    if (w) memcpy(def.w, w, sizeof def.w);
    return stage_add(s, &def);
}

dls_shape_def stage_ball(int dimension, double radius) {
    dls_shape_def shape = dls_default_shape_def(dimension == 2 ? DLS_DISC : DLS_SPHERE);
    shape.radius = radius;
    return shape;
}

dls_body_id stage_add_floor(stage *s, double angle) {
    bool planar = dls_world_dimension(s->world) == 2;
    dls_shape_def shape = dls_default_shape_def(planar ? DLS_HALF_PLANE : DLS_HALF_SPACE);
    dls_body_def def = dls_default_body_def();
    def.motion = DLS_STATIC;
    def.shape_count = 1;
    def.shapes = &shape;
    def.pose.q[0] = cos(angle / 2);
    def.pose.q[planar ? 3 : 2] = planar ? sin(angle / 2) : -sin(angle / 2);
    return stage_add(s, &def);
}

void stage_start(stage *s, const dls_simulation_options *options, double tolerance) {
    dls_error error;
    check(dls_simulation_create(s->world, options, &s->simulation, &error), &error);
    if (!(tolerance > 0)) return;
    dls_auto_options solver = dls_default_auto_options();
    solver.stop.tolerance = tolerance;
    solver.stop.min_iterations = 1;
    check(dls_simulation_set_solver(s->simulation, dls_solver_find("auto"), &solver, &error), &error);
}

void stage_run(stage *s, int steps) {
    dls_error error;
    for (int k = 0; k < steps; k++) {
        check(dls_simulation_step(s->simulation, &s->last, &error), &error);
        s->uncertified += !s->last.certified;
    }
}

dls_body_state stage_state(const stage *s, dls_body_id id) {
    dls_error error;
    dls_body_state state;
    check(dls_body_state_get(s->world, id, &state, &error), &error);
    return state;
}

dls_body_mass stage_mass(const stage *s, dls_body_id id) {
    dls_error error;
    dls_body_mass mass;
    check(dls_body_mass_get(s->world, id, &mass, &error), &error);
    return mass;
}

void stage_spin(const dls_body_mass *mass, const dls_body_state *b, double *spin) {
    const double *q = b->q;
    const double R[3][3] = {{1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]),
                             2 * (q[1] * q[3] + q[0] * q[2])},
                            {2 * (q[1] * q[2] + q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]),
                             2 * (q[2] * q[3] - q[0] * q[1])},
                            {2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]),
                             1 - 2 * (q[1] * q[1] + q[2] * q[2])}};
    memset(spin, 0, 3 * sizeof *spin);
    for (int k = 0; k < 3; k++) {
        double w = R[0][k] * b->w[0] + R[1][k] * b->w[1] + R[2][k] * b->w[2];
        for (int i = 0; i < 3; i++) spin[i] += R[i][k] * mass->inertia[4 * k] * w;
    }
}
