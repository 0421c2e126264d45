/* Where the bodies of a piece stand and how they move, by q and u, and driven ones by time. */
#include "base/vector.h"
#include "integrate/alpha/piece.h"
#include "world/function/function.h"
#include "world/parts.h"
#include "world/solid/solid.h"

#include <math.h>
#include <string.h>

/* ---- driven bodies ---- */

/* Place, speed and acceleration of a driven freedom; from: its place at t₀. */
typedef struct course {
    double x, v, a;
} course;

/* By position x = start + f, by velocity ẋ = f, whose way since t₀ is Simpson's. */
static bool follow(const dls_drive *d, double start, double from, double t0, double t, course *c) {
    double f[3], begin, middle;
    *c = (course){from, 0, 0};
    const dls_function *function = d->position ? d->position : d->velocity;
    if (!function) return true;
    if (dls_function_is_callback(function)) return false;
    dls_function_derivatives(function, t, f);
    if (d->position) {
        *c = (course){start + f[0], f[1], f[2]};
        return isfinite(f[1] + f[2]);
    }
    begin = dls_function_value(function, t0), middle = dls_function_value(function, 0.5 * (t0 + t));
    *c = (course){from + (t - t0) / 6 * (begin + 4 * middle + f[0]), f[0], f[1]};
    return isfinite(f[1]);
}

/* Without derivatives: steadily, as impulse schemes have it. */
static void go_steadily(const dls_piece *p, int row, double dt) {
    const dls_body_state *now = &p->s->world->states[row];
    dls_body_state *state = &p->at.states[row];
    double turn[3], q[4];
    *state = *now;
    vec_along(state->x, p->s->kept[row].x, dt, now->v);
    vec_scale(turn, dt, now->w);
    quat_exponential(q, turn);
    quat_multiply(state->q, q, p->s->kept[row].q);
    memset(&p->at.acceleration[row], 0, sizeof p->at.acceleration[row]);
}

static void drive(const dls_piece *p, int row, double t) {
    const dls_world *world = p->s->world;
    const dls_body_told *told = world->entries[world->bodies[row].id].told;
    const dls_body_state *kept = &p->s->kept[row];
    dls_body_state *state = &p->at.states[row];
    double turn[3] = {0, 0, 0}, q[4];
    bool from_start = false, steady = false;
    for (int k = 0; k < 6; k++) {
        course c;
        const dls_drive *d = &told->drive[k];
        steady |= !follow(d, k < 3 ? told->start.x[k] : 0, k < 3 ? kept->x[k] : 0, p->t0, t, &c);
        *(k < 3 ? &state->x[k] : &turn[k - 3]) = c.x;
        *(k < 3 ? &state->v[k] : &state->w[k - 3]) = c.v;
        *(k < 3 ? &p->at.acceleration[row].v[k] : &p->at.acceleration[row].w[k - 3]) = c.a;
        from_start |= k >= 3 && d->position;
    }
    if (steady) {
        go_steadily(p, row, t - p->t0);
        return;
    }
    quat_exponential(q, turn);
    quat_multiply(state->q, q, from_start ? told->start.q : kept->q);
}

/* ---- bodies ---- */

void dls_piece_set_body(dls_piece *p, int i, const double *q) {
    const dls_piece_body *body = &p->body[i];
    dls_body_state *state = &p->at.states[body->row];
    if (body->solid >= 0) {
        memcpy(p->at.shadow.q + p->at.shadow.solids[body->solid].at, q, sizeof *q * (size_t)body->n);
        dls_solid_stand(&p->at.shadow, body->solid);
    } else if (p->dimension == 2) {
        double turn[4], angle[3] = {0, 0, q[2]};
        state->x[0] = q[0], state->x[1] = q[1];
        quat_exponential(turn, angle);
        quat_multiply(state->q, turn, body->q);
    } else {
        vec_copy(state->x, q);
        memcpy(state->q, q + 3, sizeof state->q);
        quat_normalize(state->q);
    }
    quat_matrix(state->q, p->at.R[body->row]);
}

void dls_piece_stand(dls_piece *p, double t, const double *q) {
    dls_stand *at = &p->at;
    size_t bytes = sizeof *q * (size_t)(p->size_q);
    if (at->stands && t == at->t && memcmp(q, at->q, bytes) == 0) return;
    memcpy(at->q, q, bytes);
    at->t = t, at->stands = true, at->moves = false, p->bends = false;
    for (int i = 0; i < p->body_count; i++) dls_piece_set_body(p, i, q + p->body[i].at_q);
    for (int i = 0; i < p->driven_count; i++) {
        drive(p, p->driven[i], t);
        quat_matrix(at->states[p->driven[i]].q, at->R[p->driven[i]]);
    }
    dls_piece_know_joints(p);
    if (!p->lonely) dls_piece_touch(p);
}

void dls_piece_set_velocity(dls_piece *p, int i, const double *u) {
    int row = p->body[i].row, solid = p->body[i].solid;
    dls_body_state *state = &p->at.states[row];
    if (solid >= 0) {
        memcpy(p->at.shadow.u + p->at.shadow.solids[solid].at, u, sizeof *u * (size_t)p->body[i].m);
        dls_solid_stand(&p->at.shadow, solid);
        return;
    }
    if (p->dimension == 2) {
        state->v[0] = u[0], state->v[1] = u[1], state->w[2] = u[2];
        return;
    }
    vec_copy(state->v, u);
    mat_apply(state->w, p->at.R[row], u + 3);
}

void dls_piece_move(dls_piece *p, double t, const double *q, const double *u) {
    size_t bytes = sizeof *u * (size_t)(p->size_u);
    dls_piece_stand(p, t, q);
    if (p->at.moves && memcmp(u, p->at.u, bytes) == 0) return;
    memcpy(p->at.u, u, bytes);
    p->at.moves = true, p->bends = false;
    for (int i = 0; i < p->body_count; i++) dls_piece_set_velocity(p, i, u + p->body[i].at_u);
}

/* ---- q and u ---- */

void dls_piece_load(const dls_piece *p, const dls_body_state *states, double *q, double *u) {
    for (int i = 0; i < p->body_count; i++) {
        const dls_body_state *state = &states[p->body[i].row];
        double *to = q + p->body[i].at_q, *speed = u + p->body[i].at_u, R[9];
        if (p->body[i].solid >= 0) {
            int64_t at = p->s->world->solids[p->body[i].solid].at;
            memcpy(to, p->s->world->q + at, sizeof *q * (size_t)p->body[i].n);
            memcpy(speed, p->s->world->u + at, sizeof *u * (size_t)p->body[i].m);
            continue;
        }
        if (p->dimension == 2) {
            to[0] = state->x[0], to[1] = state->x[1], to[2] = 0;
            speed[0] = state->v[0], speed[1] = state->v[1], speed[2] = state->w[2];
            continue;
        }
        quat_matrix(state->q, R);
        vec_copy(to, state->x);
        memcpy(to + 3, state->q, sizeof state->q);
        vec_copy(speed, state->v);
        mat_apply_transposed(speed + 3, R, state->w);
    }
}

void dls_piece_store(dls_piece *p, double t, const double *q, const double *u, dls_body_state *states) {
    dls_piece_move(p, t, q, u);
    for (int i = 0; i < p->body_count; i++) {
        dls_body_state *to = &states[p->body[i].row];
        *to = p->at.states[p->body[i].row];
        if (p->body[i].solid < 0) quat_normalize(to->q);
    }
}
