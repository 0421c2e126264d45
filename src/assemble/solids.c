/* Solids before contacts act, linearly implicit. With f the load and the force of strains at q_f = q + c_D h
 * u,
 *
 *     A = M + c_D h D + c_K h² K,   u_free = u + h A⁻¹ (f(q_f) − D u),   u⁺ = u_free + A⁻¹ Hᵀ r
 *
 * Where stresses make A indefinite, K is that of the material alone: the order stays, for they stand in f. */
#include "assemble/solids.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/solid/skyline.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct solids_work {
    dls_assembly *assembly;
    const dls_world *world;
    const dls_assemble_options *options;
    double *place, *force; /* q_f and the impulse of one solid */
} solids_work;

/* A, factored; K is the material's where it has to be. */
static bool factor(const solids_work *work, const dls_solid *solid, dls_solid_step *step) {
    const dls_assemble_options *o = work->options;
    size_t entries = (size_t)step->n * (size_t)step->n;
    for (int pass = 0; pass < 2; pass++) {
        step->is_material = pass > 0;
        memset(step->L, 0, sizeof(double) * entries);
        solid->kind->matrix(solid->data, DLS_SOLID_MASS, work->place, 1, step->L);
        for (size_t k = 0; k < entries && step->D; k++) step->L[k] += o->damping * o->h * step->D[k];
        solid->kind->matrix(solid->data, pass ? DLS_SOLID_MATERIAL : DLS_SOLID_STIFFNESS, work->place,
                            o->stiffness * o->h * o->h, step->L);
        if (dls_skyline_factor(step->n, step->L, step->first)) return true;
    }
    return false;
}

/* h Σ weight (load at t) + h (force(q_f) − D u); the load acts on all places alike. */
static dls_status impulse(const solids_work *work, const dls_solid *solid, const dls_solid_step *step,
                          dls_error *error) {
    const dls_assemble_options *o = work->options;
    const double *u = work->world->u + solid->at;
    memset(work->force, 0, sizeof(double) * (size_t)step->n);
    solid->kind->force(solid->data, work->place, work->force);
    for (int i = 0; i < o->force_count; i++) {
        double force[3], torque[3];
        dls_status status = dls_world_force(work->world, step->row, o->forces[i].t, force, torque, error);
        if (status) return status;
        vec_scale(force, o->forces[i].weight * work->world->bodies[step->row].inverse_mass, force);
        solid->kind->load(solid->data, force, work->force);
    }
    for (int i = 0; i < step->n; i++) {
        for (int k = 0; k < step->n && step->D; k++) work->force[i] -= step->D[(long)i * step->n + k] * u[k];
        work->force[i] *= o->h;
    }
    return DLS_OK;
}

static dls_status assemble_solid(const solids_work *work, int index, dls_error *error) {
    const dls_world *w = work->world;
    const dls_assemble_options *o = work->options;
    const dls_solid *solid = &w->solids[index];
    dls_assembly *a = work->assembly;
    dls_solid_step *step = &a->solids->step[index];
    const double *q = w->q + solid->at, *u = w->u + solid->at;
    for (int i = 0; i < step->n; i++) work->place[i] = q[i] + (o->damping - o->contacts_at) * o->h * u[i];
    if (step->D) solid->kind->matrix(solid->data, DLS_SOLID_DAMPING, work->place, 1, step->D);
    if (!factor(work, solid, step))
        return dls_fail(error, DLS_ERROR_NUMERIC,
                        "body %d: its matrix of mass and stiffness is singular at t = %g", solid->id, o->t);
    dls_status status = impulse(work, solid, step, error);
    if (status) return status;
    dls_skyline_forward(step->n, step->L, step->first, work->force);
    dls_skyline_back(step->n, step->L, step->first, work->force);
    for (int i = 0; i < step->n; i++) step->free[i] = u[i] + work->force[i];
    dls_body_state mean;
    solid->kind->mean(solid->data, q, step->free, &mean);
    vec_copy(a->free[step->row].v, mean.v);
    vec_copy(a->free[step->row].w, mean.w);
    return DLS_OK;
}

static bool take(dls_assembly *a, const dls_world *w) {
    dls_solid_steps *steps = a->solids = DLS_TAKE_ZERO(a->space, dls_solid_steps, 1);
    if (!steps) return false;
    steps->step = DLS_TAKE_ZERO(a->space, dls_solid_step, w->solid_count);
    steps->free = DLS_TAKE_ZERO(a->space, dls_twist, w->spot_count);
    if (!steps->step || !steps->free) return false;
    for (int k = 0; k < w->solid_count; k++) {
        dls_solid_step *step = &steps->step[k];
        int n = w->solids[k].n, row = w->entries[w->solids[k].id].row;
        *step = (dls_solid_step){.row = row, .n = n, .solid = &w->solids[k]};
        if (row < 0) continue;
        if (n > steps->width) steps->width = n;
        step->L = DLS_TAKE(a->space, double, (int64_t)n *n);
        step->first = DLS_TAKE(a->space, int, n);
        step->free = DLS_TAKE(a->space, double, n);
        if (w->solids[k].def.damping > 0) step->D = DLS_TAKE_ZERO(a->space, double, (int64_t)n *n);
        if (!step->L || !step->first || !step->free || (w->solids[k].def.damping > 0 && !step->D))
            return false;
    }
    return true;
}

dls_status dls_assemble_solids(dls_assembly *a, const dls_world *w, const dls_assemble_options *o,
                               dls_error *error) {
    if (w->solid_count == 0) return DLS_OK;
    if (!take(a, w)) return dls_fail_memory(error);
    solids_work work = {a, w, o, DLS_TAKE(a->space, double, a->solids->width),
                        DLS_TAKE(a->space, double, a->solids->width)};
    if (!work.place || !work.force) return dls_fail_memory(error);
    for (int k = 0; k < w->solid_count; k++) {
        dls_status status = a->solids->step[k].L ? assemble_solid(&work, k, error) : DLS_OK;
        if (status) return status;
    }
    for (int k = 0; k < w->spot_count; k++)
        if (a->solids->step[w->spots[k].solid].L)
            dls_spot_twist(&w->spots[k], dls_solid_free(a, &w->spots[k]), a->solids->free[k].v,
                           a->solids->free[k].w);
    return DLS_OK;
}

/* ---- rows ---- */

void dls_solid_row(const dls_assembly *a, const dls_spot *spot, const double *d, const double *turn,
                   double *G) {
    const dls_solid_step *step = &a->solids->step[spot->solid];
    for (int i = 0; i < step->n; i++) G[i] = 0;
    for (int k = 0; k < spot->count; k++)
        G[spot->index[k]] += vec_dot(d, spot->J[k]) + vec_dot(turn, spot->J[k] + 3);
    dls_skyline_forward(step->n, step->L, step->first, G);
}

void dls_solid_push(const dls_assembly *a, const dls_world *w, const dls_spot *spot, const double *push,
                    const double *turn, double *room) {
    const dls_solid_step *step = &a->solids->step[spot->solid];
    dls_solid_row(a, spot, push, turn, room);
    dls_skyline_back(step->n, step->L, step->first, room);
    for (int i = 0; i < step->n; i++) step->free[i] += room[i];
    for (int k = 0; k < w->spot_count; k++)
        if (w->spots[k].solid == spot->solid)
            dls_spot_twist(&w->spots[k], step->free, a->solids->free[k].v, a->solids->free[k].w);
}

/* h ūᵀ D ū with the mean velocity of the step. */
static double damped(const dls_solid_step *step, const double *before, const double *after, double h) {
    double sum = 0;
    for (int i = 0; i < step->n && step->D; i++)
        for (int k = 0; k < step->n; k++)
            sum +=
                0.25 * h * (before[i] + after[i]) * step->D[(long)i * step->n + k] * (before[k] + after[k]);
    return sum;
}

void dls_solids_apply(const dls_assembly *a, dls_world *w, double h, double *y, int stride) {
    if (!a->solids) return;
    for (int k = 0; k < w->solid_count; k++) {
        const dls_solid_step *step = &a->solids->step[k];
        if (!step->L) continue;
        double *u = w->u + w->solids[k].at, *of = y + (int64_t)step->row * stride;
        assert(stride >= step->n);
        dls_skyline_back(step->n, step->L, step->first, of);
        for (int i = 0; i < step->n; i++) of[i] += step->free[i];
        a->solids->damped += damped(step, u, of, h);
        memcpy(u, of, sizeof(double) * (size_t)step->n);
    }
    dls_solids_stand(w);
}
