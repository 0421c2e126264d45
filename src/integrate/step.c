/* What a step has whatever its scheme:  bodies come and go → drives → the scheme advances → energies, sums.
 * One that fails leaves all as it was. */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "integrate/scheme.h"
#include "world/solid/solid.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- before ---- */

static double smallest_radius(const dls_world *world) {
    double least = INFINITY;
    for (int row = 0; row < world->body_count; row++)
        if (world->bodies[row].motion == DLS_DYNAMIC && world->bodies[row].shape_count &&
            world->bodies[row].radius > 0)
            least = fmin(least, world->bodies[row].radius);
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

void dls_simulation_forget(dls_simulation *s) {
    s->assembly = (dls_assembly){.space = s->assembly.space};
    s->found_count = 0;
    s->joint_record_count = 0;
}

static void count_row(const dls_world *world, int row, int64_t *bodies, double *mass, double *energy) {
    ++*bodies;
    if (world->bodies[row].motion != DLS_DYNAMIC) return;
    *mass += world->bodies[row].mass;
    *energy += dls_energy_row(world, row);
}

/* The world settles, and what comes and goes after the start is counted. */
static dls_status settle_world(dls_simulation *s, bool *any, dls_error *error) {
    dls_world *world = s->world;
    dls_traffic passed = s->pending;
    bool changed;
    for (int row = 0; s->started && dls_world_is_due(world, s->t) && row < world->body_count; row++)
        if (dls_world_row_ends(world, row, s->t))
            count_row(world, row, &passed.bodies_out, &passed.mass_out, &passed.energy_out);
    int before = world->next_uid;
    dls_status status = dls_world_settle(world, s->t, &changed, error);
    if (status) return status;
    for (int row = world->body_count - 1; s->started && row >= 0 && world->bodies[row].uid >= before; row--)
        count_row(world, row, &passed.bodies_in, &passed.mass_in, &passed.energy_in);
    s->pending = passed;
    *any = *any || changed;
    return DLS_OK;
}

/* Bodies come and go, by time and then by place; their energy is no one's gain or loss. */
dls_status dls_simulation_settle(dls_simulation *s, dls_error *error) {
    double kinetic, potential, strain;
    bool changed = false;
    dls_status status = settle_world(s, &changed, error);
    if (!status && s->gates) status = dls_gates_pass(s->gates, s->world, s->t, error);
    if (!status && s->gates) status = settle_world(s, &changed, error);
    if (status || (s->started && !changed)) return status;
    dls_simulation_forget(s);
    status = dls_simulation_ready(s, true, error);
    if (status) return status;
    dls_energy_now(s->world, s->options.threads, &kinetic, &potential, &strain);
    double spring = dls_joints_energy(s->world);
    s->base_energy +=
        kinetic + potential + spring - s->energy.kinetic - s->energy.potential - s->energy.spring;
    s->base_energy += strain - s->energy.strain;
    s->energy.strain = strain;
    s->energy.spring = spring;
    s->energy.kinetic = kinetic;
    s->energy.potential = potential;
    return DLS_OK;
}

/* States, and what the scheme keeps, as they are when the step begins. */
static dls_status keep(dls_simulation *s, dls_error *error) {
    assert(s->world->body_count <= s->row_capacity);
    size_t bytes = sizeof *s->kept * (size_t)s->world->body_count;
    if (bytes) memcpy(s->kept, s->world->states, bytes);
    s->kept_jump = s->jump;
    s->kept_flown_uid = s->flown_uid;
    int64_t joints = (int64_t)dls_joints_memory_size(s->world);
    if (!DLS_RESERVE(s->kept_joints, 0, s->kept_joints_capacity, joints)) return dls_fail_memory(error);
    dls_joints_memory_write(s->world, s->kept_joints);
    int64_t solids = (int64_t)dls_solids_memory_size(s->world);
    if (!DLS_RESERVE(s->kept_solids, 0, s->kept_solids_capacity, solids)) return dls_fail_memory(error);
    dls_solids_memory_write(s->world, s->kept_solids);
    if (!s->scheme->state_size) return DLS_OK;
    s->kept_size = s->scheme->state_size(s);
    if (!DLS_RESERVE(s->kept_memory, 0, s->kept_capacity, (int64_t)s->kept_size))
        return dls_fail_memory(error);
    s->scheme->state_write(s, s->kept_memory);
    return DLS_OK;
}

/* As if the step had not begun. */
static void put_back(dls_simulation *s) {
    size_t bytes = sizeof *s->kept * (size_t)s->world->body_count;
    if (bytes) memcpy(s->world->states, s->kept, bytes);
    s->jump = s->kept_jump;
    dls_joints_memory_use(s->world, s->kept_joints);
    dls_solids_memory_use(s->world, s->kept_solids);
    dls_simulation_forget(s);
    if (s->scheme->state_read) s->scheme->state_read(s, s->world, s->kept_memory, s->kept_size, NULL);
}

/* ---- after ---- */

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

dls_status dls_simulation_check_states(dls_simulation *s, dls_error *error) {
    int rows = s->world->body_count, row = 0;
    if (dls_parallel_sum(rows, s->options.threads, nowhere_range, s) == 0) return DLS_OK;
    while (row < rows - 1 && !is_nowhere(&s->world->states[row])) row++;
    return dls_fail(error, DLS_ERROR_NUMERIC, "body %d is nowhere (not a number, or beyond %g) after t = %g",
                    s->world->bodies[row].id, DLS_FARTHEST, s->t);
}

static void add_up(dls_simulation *s, const dls_step_report *report) {
    dls_run_summary *sum = &s->summary;
    sum->steps++;
    sum->certified += report->certified;
    sum->uncertified[report->reason] += !report->certified;
    sum->worst_residual = fmax(sum->worst_residual, report->residual);
    sum->worst_error = fmax(sum->worst_error, report->max_error);
    sum->worst_held = fmax(sum->worst_held, report->held); /* of two numbers the one that is one */
    sum->penetration = fmax(sum->penetration, report->penetration);
    sum->contacts += report->contacts;
    sum->iterations += report->iterations;
    sum->traffic.bodies_in += report->traffic.bodies_in;
    sum->traffic.bodies_out += report->traffic.bodies_out;
    sum->traffic.mass_in += report->traffic.mass_in;
    sum->traffic.mass_out += report->traffic.mass_out;
    sum->traffic.energy_in += report->traffic.energy_in;
    sum->traffic.energy_out += report->traffic.energy_out;
    sum->seconds_collide += report->seconds_collide;
    sum->seconds_assemble += report->seconds_assemble;
    sum->seconds_solve += report->seconds_solve;
    sum->seconds += report->seconds;
}

/* ---- the step ---- */

/* No sum of steps: times do not drift. */
static double end_of_step(const dls_simulation *s) {
    return s->rebased_t + s->options.step * (double)(s->step + 1 - s->rebased_step);
}

/* Forces in the middle of the step, where their size and their work are measured, and where the scheme takes
 * them. */
static dls_status ask_callbacks(const dls_simulation *s, const dls_step_plan *plan, dls_error *error) {
    double h = s->options.step, end = end_of_step(s);
    dls_asked_times times = {.end = end,
                             .middle = end - h / 2,
                             .force = {s->t + h / 2, end - h / 2},
                             .force_count = 2 + plan->force_count};
    for (int k = 0; k < plan->force_count; k++) times.force[2 + k] = dls_plan_force(s, plan, k).t;
    return dls_world_ask(s->world, &times, error);
}

static dls_status advance(dls_simulation *s, dls_step_report *report, dls_error *error) {
    dls_status status = dls_scheme_check_solids(s->scheme, s->world, error);
    if (status) return status;
    dls_step_plan plan = s->scheme->plan(s);
    double end = end_of_step(s);
    status = ask_callbacks(s, &plan, error);
    if (!status) status = dls_world_drive(s->world, end, s->options.step, error);
    if (!status) status = s->scheme->advance(s, &plan, report, error);
    if (status) return status;
    dls_world_drive_finish(s->world, end);
    status = dls_simulation_check_states(s, error);
    if (!status) status = dls_solids_check(s->world, error);
    if (status) dls_world_drive_undo(s->world);
    return status;
}

dls_status dls_simulation_step(dls_simulation *s, dls_step_report *report, dls_error *error) {
    dls_step_report ignored;
    dls_error_clear(error);
    if (!s) return dls_fail(error, DLS_ERROR_ARGUMENT, "a simulation is needed, got NULL");
    if (!report) report = &ignored;
    *report = (dls_step_report){.step = s->step, .contradiction = -1};
    double began = dls_clock_wall();
    dls_status status = dls_simulation_settle(s, error);
    if (!status) status = keep(s, error);
    if (status) return status;
    status = advance(s, report, error);
    if (status) {
        put_back(s);
        return status;
    }
    assert(end_of_step(s) > s->t);
    s->t = end_of_step(s);
    s->step++;
    dls_joints_end(s, report);
    dls_energy_step(s);
    report->step = s->step;
    report->t = s->t;
    report->bodies = s->world->body_count;
    report->energy = s->energy;
    report->traffic = s->pending;
    s->pending = (dls_traffic){0};
    dls_gates_backlog(s->gates, &report->backlog, &report->backlog_mass);
    report->seconds = dls_clock_wall() - began;
    add_up(s, report);
    return DLS_OK;
}
