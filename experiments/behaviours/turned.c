/* Worlds in axes of their own. */
#include "experiments/behaviours/turned.h"

#include "cli/support/interrupt.h"
#include "cli/support/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const variant variants[VARIANTS] = {{"h", 1, false}, {"h/2", 0.5, false}, {"turned", 1, true}};

/* Drawn once by chance; in the plane about z. */
static const double by_chance[4] = {0.3713, -0.5236, 0.1648, 0.7489}, in_plane[4] = {0.6211, 0, 0, 0.7837};

/* ---- vectors ---- */

double length_of(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

double distance_of(const double *a, const double *b) {
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return length_of(d);
}

void turn_about(int axis, double angle, double *q) {
    memset(q, 0, 4 * sizeof *q);
    q[0] = cos(angle / 2);
    q[1 + axis] = sin(angle / 2);
}

void turn_after(double *q, const double *a, const double *b) {
    const double product[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                               a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                               a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                               a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(q, product, sizeof product);
}

/* v ← q v q* , or back. */
static void rotate(const double *q, bool back, double *v) {
    double s = back ? -1 : 1, other[4] = {q[0], -s * q[1], -s * q[2], -s * q[3]},
           self[4] = {q[0], s * q[1], s * q[2], s * q[3]}, p[4] = {0, v[0], v[1], v[2]};
    turn_after(p, self, p);
    turn_after(p, p, other);
    memcpy(v, p + 1, 3 * sizeof *v);
}

static void take_axes(const variant *v, int dimension, double *q) {
    const double none[4] = {1, 0, 0, 0}, *chosen = !v->turned ? none : dimension == 2 ? in_plane : by_chance;
    double size = 0;
    for (int k = 0; k < 4; k++) size += chosen[k] * chosen[k];
    for (int k = 0; k < 4; k++) q[k] = chosen[k] / sqrt(size);
}

/* ---- the world ---- */

turned_def turned_default(int dimension) {
    return (turned_def){
        .dimension = dimension, .step = 1e-3, .restitution = dls_default_simulation_options().restitution};
}

turned turned_open(const turned_def *def, const variant *v) {
    turned t = {.dimension = def->dimension};
    dls_world_def world = dls_default_world_def();
    world.dimension = def->dimension;
    memset(world.gravity, 0, sizeof world.gravity);
    world.gravity[def->dimension - 1] = -def->gravity;
    take_axes(v, def->dimension, t.q);
    rotate(t.q, false, world.gravity);
    t.failed = dls_world_create(&world, &t.world, &t.error) != DLS_OK;
    if (!t.failed) t.failed = dls_world_set_pair(t.world, 0, 0, &def->pair, &t.error) != DLS_OK;
    return t;
}

dls_body_id turned_add(turned *t, const dls_body_def *def) {
    dls_body_def own = *def;
    dls_body_id id = -1;
    rotate(t->q, false, own.pose.x);
    turn_after(own.pose.q, t->q, own.pose.q);
    rotate(t->q, false, own.v);
    rotate(t->q, false, own.w);
    if (!t->failed) t->failed = dls_world_add_body(t->world, &own, &id, &t->error) != DLS_OK;
    return id;
}

dls_body_id turned_add_shape(turned *t, dls_motion motion, const dls_shape_def *shape, const double *x,
                             const double *q, const double *v, const double *w) {
    dls_body_def def = dls_default_body_def();
    def.motion = motion;
    def.shape_count = 1;
    def.shapes = shape;
    if (x) memcpy(def.pose.x, x, sizeof def.pose.x);
    if (q) memcpy(def.pose.q, q, sizeof def.pose.q);
    if (v) memcpy(def.v, v, sizeof def.v);
    if (w) memcpy(def.w, w, sizeof def.w);
    return turned_add(t, &def);
}

dls_body_id turned_add_floor(turned *t) {
    dls_shape_def floor = dls_default_shape_def(t->dimension == 2 ? DLS_HALF_PLANE : DLS_HALF_SPACE);
    return turned_add_shape(t, DLS_STATIC, &floor, NULL, NULL, NULL, NULL);
}

dls_shape_def turned_ball(int dimension, double radius) {
    dls_shape_def ball = dls_default_shape_def(dimension == 2 ? DLS_DISC : DLS_SPHERE);
    ball.radius = radius;
    return ball;
}

void turned_pull(const turned *t, dls_body_def *def, const double *force) {
    double own[3] = {force[0], force[1], force[2]};
    rotate(t->q, false, own);
    for (int k = 0; k < t->dimension; k++) dls_function_constant(own[k], &def->force[k], NULL);
}

/* ---- the simulation ---- */

bool turned_start(turned *t, const turned_def *def, const variant *v) {
    dls_simulation_options o = dls_default_simulation_options();
    double memory[DLS_MAX_OPTIONS_SIZE / sizeof(double)];
    if (t->failed) return false;
    o.step = v->share * def->step;
    o.restitution = def->restitution;
    if (def->scheme) snprintf(o.scheme, sizeof o.scheme, "%s", def->scheme);
    t->failed = dls_simulation_create(t->world, &o, &t->simulation, &t->error) != DLS_OK;
    if (t->failed || !(def->tolerance > 0)) return !t->failed;
    const dls_solver *solver = dls_solver_find("auto");
    dls_simulation_solver_defaults(solver, memory);
    ((dls_stop_options *)memory)->tolerance = def->tolerance;
    t->failed = dls_simulation_set_solver(t->simulation, solver, memory, &t->error) != DLS_OK;
    return !t->failed;
}

bool turned_run(turned *t, int steps) {
    for (int k = 0; k < steps && !t->failed; k++) {
        if (interrupt_seen()) return false;
        t->failed = dls_simulation_step(t->simulation, &t->last, &t->error) != DLS_OK;
        if (t->failed) break;
        t->uncertified += !t->last.certified;
        t->iterations += t->last.iterations;
        t->depth = fmax(t->depth, t->last.penetration);
    }
    return !t->failed;
}

dls_body_state turned_state(const turned *t, dls_body_id id) {
    dls_body_state state = {.q = {1, 0, 0, 0}};
    const double back[4] = {t->q[0], -t->q[1], -t->q[2], -t->q[3]};
    if (t->failed) return state;
    dls_body_state_get(t->world, id, &state, NULL);
    rotate(t->q, true, state.x);
    rotate(t->q, true, state.v);
    rotate(t->q, true, state.w);
    turn_after(state.q, back, state.q);
    return state;
}

double turned_energy(const turned *t) {
    if (t->failed) return NAN;
    dls_energy e = dls_simulation_energy(t->simulation);
    return e.kinetic + e.potential;
}

bool turned_close(turned *t) {
    dls_simulation_destroy(t->simulation);
    dls_world_destroy(t->world);
    if (t->failed) report_error("behaviours: %s", t->error.message);
    return !t->failed && !interrupt_seen();
}
