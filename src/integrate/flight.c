/* Bodies between impulses. A free rotation keeps the angular momentum L and is split, in principal axes, into
 * turns about one axis at a time, forth and back:
 *
 *     Π = I Ω,   turns  x(dt/2) y(dt/2) z(dt) y(dt/2) x(dt/2)   by the angle  dt Π_k / I_k
 *
 * which is symplectic, symmetric and of second order: |L| stays to rounding, the energy of a free top swings
 * by O(dt²) and does not drift. A body with three equal moments turns exactly. */
#include "base/parallel.h"
#include "base/vector.h"
#include "integrate/simulation.h"
#include "world/solid/solid.h"

#include <assert.h>
#include <string.h>

/* q ← q · turn about axis k by angle, Π ← Π seen from there. */
static void turn_about(int k, double angle, double *q, double *momentum) {
    assert(k >= 0 && k < 3);
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double half[4] = {cos(angle / 2), 0, 0, 0}, c = cos(angle), s = sin(angle);
    half[1 + k] = sin(angle / 2);
    quat_multiply(q, q, half);
    double a = momentum[i], b = momentum[j];
    momentum[i] = c * a + s * b;
    momentum[j] = c * b - s * a;
}

static void turn_by(double dt, const double *w, double *q) {
    double a[3], turn[4];
    vec_scale(a, dt, w);
    quat_exponential(turn, a);
    quat_multiply(q, turn, q);
    quat_normalize(q);
}

/* Ω of principal axes from ω, or back. */
static void principal_axes(const dls_body *body, const double *q, double *Q) {
    double R[9];
    quat_matrix(q, R);
    mat_multiply(Q, R, body->axes);
}

static void momentum_of(const dls_body *body, const dls_body_state *state, double *momentum) {
    double Q[9];
    principal_axes(body, state->q, Q);
    mat_apply_transposed(momentum, Q, state->w);
    for (int k = 0; k < 3; k++) momentum[k] *= body->inertia[k];
}

/* ω from Π. */
static void velocity_from(const dls_body *body, const double *momentum, dls_body_state *state) {
    double Q[9];
    principal_axes(body, state->q, Q);
    for (int k = 0; k < 3; k++) state->w[k] = momentum[k] / body->inertia[k];
    mat_apply(state->w, Q, state->w);
}

static void rotate_freely(const dls_body *body, double dt, dls_body_state *state) {
    double momentum[3], axes[4], back[4], q[4];
    const double *I = body->inertia;
    momentum_of(body, state, momentum);
    quat_from_matrix(axes, body->axes);
    quat_multiply(q, state->q, axes);
    turn_about(0, dt / 2 * momentum[0] / I[0], q, momentum);
    turn_about(1, dt / 2 * momentum[1] / I[1], q, momentum);
    turn_about(2, dt * momentum[2] / I[2], q, momentum);
    turn_about(1, dt / 2 * momentum[1] / I[1], q, momentum);
    turn_about(0, dt / 2 * momentum[0] / I[0], q, momentum);
    back[0] = axes[0];
    vec_scale(back + 1, -1, axes + 1);
    quat_multiply(state->q, q, back);
    quat_normalize(state->q);
    velocity_from(body, momentum, state);
}

/* Whether ω does not change along a free rotation: a ball's inertia, the plane, or something that holds it.
 */
static bool turns_steadily(const dls_world *world, const dls_body *body) {
    return world->def.dimension == 2 || body->motion != DLS_DYNAMIC || body->locked >> 3 ||
           (body->inertia[0] == body->inertia[1] && body->inertia[1] == body->inertia[2]);
}

void dls_turn_row(dls_world *world, int row, const double *turn) {
    const dls_body *body = &world->bodies[row];
    dls_body_state *state = &world->states[row];
    double Q[9], momentum[3], own[3];
    momentum_of(body, state, own);
    principal_axes(body, state->q, Q);
    mat_apply(momentum, Q, own);
    turn_by(1, turn, state->q);
    if (turns_steadily(world, body)) return;
    principal_axes(body, state->q, Q);
    mat_apply_transposed(own, Q, momentum);
    velocity_from(body, own, state);
}

typedef struct flight_work {
    dls_world *world;
    const dls_body_state *kept;
    double dt, theta;
} flight_work;

static void fly_range(void *self, int first, int end) {
    const flight_work *work = self;
    for (int row = first; row < end; row++) {
        const dls_body *body = &work->world->bodies[row];
        dls_body_state *state = &work->world->states[row];
        if (body->motion == DLS_STATIC || body->is_solid) continue;
        assert(quat_is_unit(state->q));
        vec_along(state->x, state->x, work->dt, state->v);
        if (vec_dot(state->w, state->w) == 0) continue;
        if (turns_steadily(work->world, body))
            turn_by(work->dt, state->w, state->q);
        else
            rotate_freely(body, work->dt, state);
    }
}

void dls_fly(dls_world *world, double dt, int threads) {
    dls_parallel_for(world->body_count, threads, fly_range, &(flight_work){.world = world, .dt = dt});
    dls_solids_fly(world, dt);
}

enum { TOP_PASSES = 3 }; /* the first has an error of h², each of the others a power of h less */

/* q⁺ = exp(h (θ ω⁺ + (1 − θ) ω)) q,   ω⁺ = J(q⁺)⁻¹ L, with L as the impulses left it. */
static void turn_top(const dls_body *body, const dls_body_state *kept, double dt, double theta,
                     dls_body_state *state) {
    double Q[9], momentum[3], own[3], w[3];
    momentum_of(body, state, momentum);
    principal_axes(body, state->q, Q);
    mat_apply(momentum, Q, momentum);
    for (int pass = 0; pass < TOP_PASSES; pass++) {
        for (int k = 0; k < 3; k++) w[k] = theta * state->w[k] + (1 - theta) * kept->w[k];
        for (int k = 0; k < 4; k++) state->q[k] = kept->q[k];
        turn_by(dt, w, state->q);
        principal_axes(body, state->q, Q);
        mat_apply_transposed(own, Q, momentum);
        velocity_from(body, own, state);
    }
}

static void fly_theta_range(void *self, int first, int end) {
    const flight_work *work = self;
    for (int row = first; row < end; row++) {
        const dls_body *body = &work->world->bodies[row];
        double theta = body->motion == DLS_DRIVEN ? 1 : work->theta, w[3]; /* told for the whole step */
        const dls_body_state *kept = &work->kept[row];
        dls_body_state *state = &work->world->states[row];
        if (body->motion == DLS_STATIC || body->is_solid) continue;
        for (int k = 0; k < 3; k++) {
            state->x[k] = kept->x[k] + work->dt * (theta * state->v[k] + (1 - theta) * kept->v[k]);
            w[k] = theta * state->w[k] + (1 - theta) * kept->w[k];
        }
        if (!turns_steadily(work->world, body)) {
            turn_top(body, kept, work->dt, theta, state);
            continue;
        }
        for (int k = 0; k < 4; k++) state->q[k] = kept->q[k];
        turn_by(work->dt, w, state->q);
    }
}

/* q⁺ = q + h (θ u⁺ + (1 − θ) u) */
static void fly_solids_theta(dls_world *world, const char *kept, double h, double theta) {
    for (int64_t i = 0; i < world->freedom_count; i++) {
        double q, u;
        memcpy(&q, kept + sizeof q * (size_t)i, sizeof q);
        memcpy(&u, kept + sizeof u * (size_t)(world->freedom_count + i), sizeof u);
        world->q[i] = q + h * (theta * world->u[i] + (1 - theta) * u);
    }
    if (world->solid_count) dls_solids_stand(world);
}

void dls_fly_theta(dls_world *world, const dls_body_state *kept, const void *solids, double h, double theta,
                   int threads) {
    dls_parallel_for(world->body_count, threads, fly_theta_range, &(flight_work){world, kept, h, theta});
    fly_solids_theta(world, solids, h, theta);
}
