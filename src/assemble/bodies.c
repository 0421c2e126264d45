/* Masses and velocities of the bodies where they stand, before contacts act. */
#include "assemble/assemble.h"
#include "assemble/solids.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "world/shape/kinds.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* J = Q diag(I) Qᵀ in world axes, with Q = R · principal axes. */
static void world_axes(const dls_body *body, const double *q, double *Q) {
    double R[9];
    quat_matrix(q, R);
    mat_multiply(Q, R, body->axes);
}

static double inertia_entry(const dls_body *body, const double *Q, int i, int j) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += Q[i + 3 * k] * body->inertia[k] * Q[j + 3 * k];
    return sum;
}

/* S with S Sᵀ = the inverse of J's block of one or two free axes. */
static void root_of_free_axes(const dls_body *body, const double *Q, const int *axis, int count, double *S) {
    int i = axis[0], j = axis[1];
    double a = inertia_entry(body, Q, i, i);
    if (count == 1) {
        S[i + 3 * i] = 1 / sqrt(a);
        return;
    }
    double b = inertia_entry(body, Q, i, j), c = inertia_entry(body, Q, j, j), det = a * c - b * b;
    assert(a > 0 && c > 0 && det > 0); /* moments of a body that can turn are positive */
    S[i + 3 * i] = sqrt(c / det);
    S[j + 3 * i] = -b / (det * S[i + 3 * i]);
    S[j + 3 * j] = 1 / sqrt(c);
}

/* A sphere about the mass centre that nothing holds. */
static bool is_ball(const dls_world *world, const dls_body *body) {
    const dls_shape *shape = &world->shapes[body->shape_first];
    return world->def.dimension == 3 && body->shape_count == 1 && !body->locked &&
           dls_shape_table[shape->kind].round && vec_dot(shape->x, shape->x) == 0 &&
           body->inertia_root[0] == body->inertia_root[1] && body->inertia_root[0] == body->inertia_root[2];
}

static bool is_round(const dls_world *world, const dls_body *body) {
    const dls_shape *shape = &world->shapes[body->shape_first];
    return body->shape_count == 1 && dls_shape_table[shape->kind].round && vec_dot(shape->x, shape->x) == 0;
}

static void row_mass(const dls_world *world, const dls_body *body, const double *q, dls_row_mass *mass) {
    int dimension = world->def.dimension;
    memset(mass, 0, sizeof *mass);
    mass->driven = body->motion == DLS_DRIVEN;
    if (body->motion != DLS_DYNAMIC) return;
    mass->is_ball = !body->is_solid && is_ball(world, body);
    mass->rolls = !body->is_solid && is_round(world, body);
    assert(body->inverse_mass > 0 && isfinite(body->inverse_mass));
    if (mass->is_ball) {
        for (int k = 0; k < 3; k++) {
            mass->root[k] = sqrt(body->inverse_mass);
            mass->S[4 * k] = body->inertia_root[0];
        }
        return;
    }
    int axis[3] = {0}, free_axes = 0;
    for (int k = 0; k < dimension; k++)
        if (!(body->locked >> k & 1)) mass->root[k] = sqrt(body->inverse_mass);
    for (int k = dimension == 2 ? 2 : 0; k < 3; k++)
        if (!(body->locked >> (3 + k) & 1)) axis[free_axes++] = k;
    if (free_axes == 0) return;
    double Q[9];
    world_axes(body, q, Q);
    assert(mat_is_rotation(Q));
    if (free_axes < 3) {
        root_of_free_axes(body, Q, axis, free_axes, mass->S);
        return;
    }
    for (int k = 0; k < 3; k++) vec_scale(mass->S + 3 * k, body->inertia_root[k], Q + 3 * k);
}

/* h Σ weight F(t), and of the torque; a body whose rotation is partly locked cannot use the free
 * rotation of the integrator, so that its gyroscopic torque −ω × Jω stands here. */
static dls_status row_impulse(const dls_world *world, int row, const dls_assemble_options *o, double *linear,
                              double *angular, dls_error *error) {
    vec_set(linear, 0, 0, 0);
    vec_set(angular, 0, 0, 0);
    for (int i = 0; i < o->force_count; i++) {
        double force[3], torque[3], weight = o->forces[i].weight;
        dls_status status = dls_world_force(world, row, o->forces[i].t, force, torque, error);
        if (status) return status;
        vec_along(linear, linear, weight, force);
        vec_along(angular, angular, weight, torque);
    }
    vec_scale(linear, o->h, linear);
    vec_scale(angular, o->h, angular);
    const dls_body *body = &world->bodies[row];
    if (world->def.dimension == 3 && body->locked >> 3) {
        const double *w = world->states[row].w;
        double Q[9], momentum[3], gyroscopic[3];
        world_axes(body, world->states[row].q, Q);
        mat_apply_transposed(momentum, Q, w);
        for (int k = 0; k < 3; k++) momentum[k] *= body->inertia[k];
        mat_apply(momentum, Q, momentum);
        vec_cross(gyroscopic, w, momentum);
        vec_along(angular, angular, -o->h, gyroscopic);
    }
    return DLS_OK;
}

bool dls_row_can_move(const dls_row_mass *mass) {
    for (int k = 0; k < 3; k++)
        if (mass->root[k] > 0 || mass->S[4 * k] > 0 || mass->S[k] != 0 || mass->S[3 + k] != 0 ||
            mass->S[6 + k] != 0)
            return true;
    return false;
}

/* A servo: what its contacts push adds to a speed that it has without them. */
static void servo_mass(const dls_world *world, int row, dls_row_mass *mass, dls_twist *without) {
    double speed[3], mobility[3];
    if (!dls_world_servo(world, row, speed, mobility)) return;
    for (int k = 0; k < 3; k++) {
        if (!(mobility[k] > 0)) continue;
        mass->root[k] = sqrt(mobility[k]);
        without->v[k] = speed[k];
    }
}

typedef struct bodies_work {
    dls_assembly *assembly;
    const dls_world *world;
    const dls_assemble_options *options;
} bodies_work;

/* Returns how many rows have a force that is no number. */
static double bodies_range(void *self, int first, int end) {
    const bodies_work *work = self;
    const dls_world *world = work->world;
    double failures = 0;
    for (int row = first; row < end; row++) {
        const dls_body *body = &world->bodies[row];
        const dls_body_state *state = &world->states[row];
        dls_row_mass *mass = &work->assembly->mass[row];
        dls_twist *before = &work->assembly->before[row], *without = &work->assembly->free[row];
        double linear[3], angular[3];
        row_mass(world, body, state->q, mass);
        vec_copy(before->v, state->v);
        vec_copy(before->w, state->w);
        *without = *before;
        if (body->motion == DLS_DRIVEN) servo_mass(world, row, mass, without);
        if (body->motion != DLS_DYNAMIC || body->is_solid) continue;
        if (row_impulse(world, row, work->options, linear, angular, NULL)) {
            failures++;
            continue;
        }
        mat_apply_transposed(angular, mass->S, angular);
        mat_apply(angular, mass->S, angular);
        for (int k = 0; k < 3; k++) {
            bool held = body->locked >> k & 1, held_turn = body->locked >> (3 + k) & 1;
            without->v[k] = held ? 0 : before->v[k] + mass->root[k] * mass->root[k] * linear[k];
            without->w[k] = held_turn ? 0 : before->w[k] + angular[k];
        }
    }
    return failures;
}

/* The message of the first row that fails. */
static dls_status find_failure(const bodies_work *work, dls_error *error) {
    double linear[3], angular[3];
    dls_status status = DLS_OK;
    for (int row = 0; row < work->world->body_count && !status; row++)
        if (work->world->bodies[row].motion == DLS_DYNAMIC && !work->world->bodies[row].is_solid)
            status = row_impulse(work->world, row, work->options, linear, angular, error);
    return status;
}

dls_status dls_assemble_bodies(dls_assembly *a, const dls_world *world, const dls_assemble_options *options,
                               dls_error *error) {
    dls_workspace *space = a->space;
    int n = world->body_count;
    *a = (dls_assembly){.space = space, .dimension = world->def.dimension, .row_count = n};
    dls_workspace_release(space, (dls_workspace_mark){0, 0});
    a->mass = DLS_TAKE(space, dls_row_mass, n);
    a->before = DLS_TAKE(space, dls_twist, n);
    a->free = DLS_TAKE(space, dls_twist, n);
    if (!a->mass || !a->before || !a->free) return dls_fail_memory(error);
    bodies_work work = {a, world, options};
    if (dls_parallel_sum(n, options->threads, bodies_range, &work) > 0) return find_failure(&work, error);
    return dls_assemble_solids(a, world, options, error);
}
