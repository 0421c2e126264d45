/* One step:  place bodies → contacts → u = W r + b → solve, judge → v⁺ = v_free + M⁻¹ Hᵀ r → move. */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "integrate/simulation.h"
#include "solve/solve.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    STORED_BELOW = 0,      /* contacts up to which W is stored when the choice is ours */
    THREADED_BLOCKS = 4096 /* contacts from which the solver has all threads */
};

/* Of the detection margin, in radii of the smallest moving body. */
static const double LEAST_MARGIN = 0.05, MOST_MARGIN = 1;

/* ---- before ---- */

static double smallest_radius(const dls_world *world) {
    double least = INFINITY;
    for (int row = 0; row < world->body_count; row++)
        if (world->bodies[row].motion == DLS_DYNAMIC) least = fmin(least, world->bodies[row].radius);
    return least;
}

dls_status dls_simulation_reserve(dls_simulation *s, int rows, dls_error *error) {
    if (rows <= s->row_capacity) return DLS_OK;
    int capacity = rows + rows / 16 + 16;
    dls_body_state *kept = DLS_NEW(dls_body_state, capacity);
    dls_pose *found = DLS_NEW(dls_pose, capacity);
    if (!kept || !found) {
        dls_free(kept);
        dls_free(found);
        return dls_fail_memory(error);
    }
    if (s->found_count) memcpy(found, s->found, sizeof *found * (size_t)s->found_count);
    dls_free(s->kept);
    dls_free(s->found);
    s->kept = kept;
    s->found = found;
    s->row_capacity = capacity;
    return DLS_OK;
}

dls_status dls_simulation_ready(dls_simulation *s, bool started, dls_error *error) {
    double radius = smallest_radius(s->world);
    s->smallest = isfinite(radius) ? radius : 0.02;
    s->started = started;
    return dls_simulation_reserve(s, s->world->body_count, error);
}

/* Bodies come and go; their energy is no one's gain or loss. */
dls_status dls_simulation_settle(dls_simulation *s, dls_error *error) {
    double kinetic, potential;
    bool changed;
    dls_status status = dls_world_settle(s->world, s->t, &changed, error);
    if (status || (s->started && !changed)) return status;
    /* contacts of the last step speak of rows that may be other bodies' by now */
    s->assembly = (dls_assembly){.space = s->assembly.space};
    s->found_count = 0;
    status = dls_simulation_ready(s, true, error);
    if (status) return status;
    dls_energy_now(s->world, s->options.threads, &kinetic, &potential);
    s->base_energy += kinetic + potential - s->energy.kinetic - s->energy.potential;
    s->energy.kinetic = kinetic;
    s->energy.potential = potential;
    return DLS_OK;
}

double dls_reference_velocity(const dls_world *world, const dls_simulation_options *o, double t) {
    double fall = vec_norm(world->def.gravity) * o->step;
    if (o->reference_velocity > 0) return o->reference_velocity;
    return fall > 0 ? fall : o->step * dls_world_push(world, t + o->step / 2);
}

static dls_assemble_options assemble_options(const dls_simulation *s) {
    const dls_simulation_options *o = &s->options;
    double fall = vec_norm(s->world->def.gravity) * o->step;
    return (dls_assemble_options){
        .t = s->t,
        .h = o->step,
        .closed_only = o->entering == DLS_ENTER_CLOSED,
        .whole_gap = o->scheme == DLS_DVI,
        .curved = o->scheme == DLS_MOREAU_JEAN && o->entering != DLS_ENTER_CLOSED,
        .share = o->stabilisation,
        .most_speed = o->stabilisation_speed > 0 ? o->stabilisation_speed : fall,
        .formal = o->restitution == DLS_RESTITUTION_FORMAL,
        .rest_speed = o->rest_speed > 0 ? o->rest_speed : fall,
        .reference_velocity = dls_reference_velocity(s->world, o, s->t),
        .stored = o->op == DLS_OPERATOR_STORED ||
                  (o->op == DLS_OPERATOR_AUTO && dls_collider_count(s->collider) <= STORED_BELOW),
        .warm_start = o->warm_start,
        .threads = o->threads};
}

/* ---- the stations of a step ---- */

/* No sum of steps: times do not drift. */
static double end_of_step(const dls_simulation *s) {
    return s->rebased_t + s->options.step * (double)(s->step + 1 - s->rebased_step);
}

static double largest_speed(const dls_simulation *s) {
    double most = 0;
    for (int row = 0; row < s->world->body_count; row++)
        if (s->world->bodies[row].motion == DLS_DYNAMIC) most = fmax(most, vec_norm(s->world->states[row].v));
    return most;
}

/* A body that is hit within the step goes on with a speed that its places before do not show: contacts are
 * looked for as far away as the fastest body gets, or one that was hit as hard as in the step before. */
static double detection_margin(const dls_simulation *s) {
    double least = LEAST_MARGIN * s->smallest, most = MOST_MARGIN * s->smallest;
    if (s->options.margin > 0) return s->options.margin;
    return fmin(fmax(s->options.step * fmax(s->jump, largest_speed(s)), least), most);
}

static double largest_jump(const dls_simulation *s) {
    double most = 0;
    for (int row = 0; row < s->world->body_count; row++)
        most = fmax(most, vec_distance(s->world->states[row].v, s->assembly.free[row].v));
    return most;
}

/* What the last step left in the space ends here. */
static dls_status find_contacts(dls_simulation *s, dls_error *error) {
    dls_workspace *space = s->assembly.space;
    dls_collide_options options = {detection_margin(s), s->options.step, s->options.threads, space};
    s->assembly = (dls_assembly){.space = space};
    dls_workspace_release(space, (dls_workspace_mark){0, 0});
    s->found_count = s->world->body_count;
    for (int row = 0; row < s->found_count; row++) {
        memcpy(s->found[row].x, s->world->states[row].x, sizeof s->found[row].x);
        memcpy(s->found[row].q, s->world->states[row].q, sizeof s->found[row].q);
    }
    return dls_collider_update(s->collider, s->world, &options, error);
}

static dls_status assemble(dls_simulation *s, dls_error *error) {
    dls_assemble_options options = assemble_options(s);
    double theta = s->options.scheme == DLS_THETA ? s->options.theta : s->options.scheme == DLS_DVI ? 0 : -1;
    dls_status status = dls_assemble_bodies(&s->assembly, s->world, theta, &options, error);
    if (status) return status;
    return dls_assemble_contacts(&s->assembly, s->world, dls_collider_contacts(s->collider),
                                 dls_collider_count(s->collider), &options, error);
}

/* On few contacts threads wait longer for each other than they work; the bits are the same. */
static int solver_threads(const dls_simulation *s) {
    return s->assembly.block_count < THREADED_BLOCKS ? 1 : s->options.threads;
}

static dls_status solve(dls_simulation *s, dls_step_report *report, dls_error *error) {
    dls_assembly *a = &s->assembly;
    dls_stop_options *stop = (dls_stop_options *)s->solver_options;
    stop->threads = solver_threads(s);
    report->outcome = DLS_CONVERGED;
    report->certified = true;
    report->held = dls_problem_reference_velocity(a->problem) > 0 ? 0 : (double)NAN;
    if (a->block_count == 0) return DLS_OK;
    dls_solve_info info;
    dls_status status =
        dls_solve_step(a->problem, s->solver, s->solver_options, a->r, a->u, a->space, &info, error);
    if (status) return status;
    report->outcome = info.outcome;
    report->residual = info.measures.residual;
    report->max_error = info.measures.max_error;
    report->held = info.measures.held;
    report->iterations = info.iterations;
    report->certified = report->residual <= stop->tolerance && !(report->held > DLS_HELD_LIMIT);
    return DLS_OK;
}

typedef struct memory_work {
    const dls_assembly *assembly;
    dls_contact *contacts;
} memory_work;

/* The first block whose contact is not before c. */
static int first_block(const dls_assembly *a, int c) {
    int low = 0, high = a->block_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a->contact_of[middle] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the deepest penetration. */
static double remember_range(void *self, int first, int end) {
    const memory_work *work = self;
    const dls_assembly *a = work->assembly;
    int d = a->dimension, block = first_block(a, first);
    double penetration = 0;
    for (int i = first; i < end; i++) {
        dls_contact *c = &work->contacts[i];
        vec_set(c->impulse, 0, 0, 0);
        c->closed = c->at.gap <= 0;
        if (-c->at.gap > penetration) penetration = -c->at.gap;
        if (block == a->block_count || a->contact_of[block] != i) continue;
        assert(block < a->block_count && (block == 0 || a->contact_of[block - 1] < i));
        const double *r = a->r + (int64_t)block++ * d;
        double frame[9];
        dls_contact_frame(c->at.normal, frame);
        for (int k = 0; k < d; k++) vec_along(c->impulse, c->impulse, r[k], frame + 3 * k);
        c->closed = c->closed || r[0] > 0;
    }
    return penetration;
}

/* How many blocks carry load. */
static double active_range(void *self, int first, int end) {
    const dls_assembly *a = self;
    int active = 0;
    for (int i = first; i < end; i++) active += a->r[(int64_t)i * a->dimension] > 0;
    return active;
}

/* Impulses back to the contacts, in world axes: the warm start of the next step. */
static void remember(dls_simulation *s, dls_step_report *report) {
    dls_assembly *a = &s->assembly;
    memory_work work = {a, dls_collider_contacts(s->collider)};
    report->contacts = dls_collider_count(s->collider);
    report->penetration = dls_parallel_max(report->contacts, s->options.threads, remember_range, &work);
    report->active = (int)dls_parallel_sum(a->block_count, s->options.threads, active_range, a);
}

static void move_on(dls_simulation *s) {
    const dls_simulation_options *o = &s->options;
    if (o->scheme == DLS_THETA)
        dls_fly_theta(s->world, s->kept, o->step, o->theta, o->threads);
    else
        dls_fly(s->world, o->scheme == DLS_DVI ? o->step : o->step / 2, o->threads);
    dls_world_drive_finish(s->world, end_of_step(s));
}

static bool is_nowhere(const dls_body_state *state) {
    double sum = fabs(state->q[3]); /* a NaN anywhere makes it NaN */
    for (int k = 0; k < 3; k++)
        sum += fabs(state->x[k]) + fabs(state->v[k]) + fabs(state->w[k]) + fabs(state->q[k]);
    return !(sum <= DLS_FARTHEST);
}

static double nowhere_range(void *self, int first, int end) {
    const dls_simulation *s = self;
    int count = 0;
    for (int row = first; row < end; row++) count += is_nowhere(&s->world->states[row]);
    return count;
}

static dls_status check_finite(dls_simulation *s, dls_error *error) {
    int rows = s->world->body_count, row = 0;
    if (dls_parallel_sum(rows, s->options.threads, nowhere_range, s) == 0) return DLS_OK;
    while (row < rows - 1 && !is_nowhere(&s->world->states[row])) row++;
    return dls_fail(error, DLS_ERROR_NUMERIC, "body %d is nowhere (not a number, or beyond %g) after t = %g",
                    s->world->bodies[row].id, DLS_FARTHEST, s->t);
}

/* ---- the step ---- */

/* Of this step: forces in its middle, which is that of the assembly and of energies, and where the scheme has
 * them at its ends. */
static dls_status ask_callbacks(const dls_simulation *s, dls_error *error) {
    double t = s->t, h = s->options.step, end = end_of_step(s);
    dls_asked_times times = {.end = end,
                             .middle = end - h / 2,
                             .force = {t + h / 2, end - h / 2, t, t + h},
                             .force_count = s->options.scheme == DLS_MOREAU_JEAN ? 2 : 4};
    return dls_world_ask(s->world, &times, error);
}

static dls_status advance(dls_simulation *s, dls_step_report *report, dls_error *error) {
    const dls_simulation_options *o = &s->options;
    double began = dls_clock_wall();
    dls_status status = ask_callbacks(s, error);
    if (!status) status = dls_world_drive(s->world, end_of_step(s), o->step, error);
    if (status) return status;
    if (o->scheme != DLS_DVI) dls_fly(s->world, o->step / 2, o->threads);
    status = find_contacts(s, error);
    double found = dls_clock_wall();
    if (!status) status = assemble(s, error);
    double assembled = dls_clock_wall();
    if (!status) status = solve(s, report, error);
    double solved = dls_clock_wall();
    if (!status) status = dls_assemble_apply(&s->assembly, s->world, o->threads, error);
    if (status) return status;
    s->jump = largest_jump(s);
    remember(s, report);
    move_on(s);
    report->seconds_collide = found - began;
    report->seconds_assemble = assembled - found;
    report->seconds_solve = solved - assembled;
    status = check_finite(s, error);
    if (status) dls_world_drive_undo(s->world);
    return status;
}

static void add_up(dls_simulation *s, const dls_step_report *report) {
    dls_run_summary *sum = &s->summary;
    sum->steps++;
    sum->certified += report->certified;
    sum->worst_residual = fmax(sum->worst_residual, report->residual);
    sum->worst_error = fmax(sum->worst_error, report->max_error);
    sum->worst_held = fmax(sum->worst_held, report->held); /* of two numbers the one that is one */
    sum->penetration = fmax(sum->penetration, report->penetration);
    sum->contacts += report->contacts;
    sum->iterations += report->iterations;
    sum->seconds_collide += report->seconds_collide;
    sum->seconds_assemble += report->seconds_assemble;
    sum->seconds_solve += report->seconds_solve;
    sum->seconds += report->seconds;
}

dls_status dls_simulation_step(dls_simulation *s, dls_step_report *report, dls_error *error) {
    dls_step_report ignored;
    dls_error_clear(error);
    if (!s) return dls_fail(error, DLS_ERROR_ARGUMENT, "a simulation is needed, got NULL");
    if (!report) report = &ignored;
    *report = (dls_step_report){.step = s->step};
    double began = dls_clock_wall();
    dls_status status = dls_simulation_settle(s, error);
    if (status) return status;
    assert(s->world->body_count <= s->row_capacity);
    size_t bytes = sizeof *s->kept * (size_t)s->world->body_count;
    if (bytes) memcpy(s->kept, s->world->states, bytes);
    status = advance(s, report, error);
    if (status) { /* as if the step had not begun */
        if (bytes) memcpy(s->world->states, s->kept, bytes);
        s->assembly = (dls_assembly){.space = s->assembly.space};
        s->found_count = 0;
        return status;
    }
    assert(end_of_step(s) > s->t);
    s->t = end_of_step(s);
    s->step++;
    dls_energy_step(s);
    report->step = s->step;
    report->t = s->t;
    report->bodies = s->world->body_count;
    report->energy = s->energy;
    report->seconds = dls_clock_wall() - began;
    add_up(s, report);
    return DLS_OK;
}
