/* The contact problem of contacts that were recorded, and a simulation's state as bytes. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "integrate/simulation.h"
#include "integrate/state.h"

#include <string.h>

/* ---- problems of records ---- */

/* The world's rows cannot be moved: a copy of its states stands at the poses. */
static dls_status stand(const dls_world *world, const dls_pose *poses, dls_world *copy, dls_error *error) {
    *copy = *world;
    copy->states = DLS_NEW_ZERO(dls_body_state, world->body_count);
    if (!copy->states) return dls_fail_memory(error);
    for (int row = 0; row < world->body_count; row++) {
        const dls_pose *pose = &poses[world->bodies[row].id];
        memcpy(copy->states[row].x, pose->x, sizeof pose->x);
        memcpy(copy->states[row].q, pose->q, sizeof pose->q);
    }
    return DLS_OK;
}

static dls_status find_places(const dls_world *world, int count, const dls_contact_record *records,
                              dls_block_place *places, double *mu, double *b, dls_error *error) {
    int d = world->def.dimension;
    for (int c = 0; c < count; c++) {
        const dls_contact_record *record = &records[c];
        const dls_body_id ids[2] = {record->body_a, record->body_b};
        for (int side = 0; side < 2; side++) {
            bool known = ids[side] >= 0 && ids[side] < world->entry_count;
            if (!known || world->entries[ids[side]].row < 0)
                return dls_fail(error, DLS_ERROR_INPUT, "contact %d touches body %d, which is not there", c,
                                ids[side]);
            *(side ? &places[c].row_b : &places[c].row_a) = world->entries[ids[side]].row;
        }
        vec_copy(places[c].point, record->point);
        memcpy(places[c].frame, record->frame, sizeof places[c].frame);
        for (int k = 0; k < 3; k++) places[c].shift[k] = record->image[k] * world->def.period_size[k];
        mu[c] = record->mu;
        for (int k = 0; k < d; k++) b[c * d + k] = record->b[k];
    }
    return DLS_OK;
}

static dls_status build(const dls_world *world, int count, const dls_contact_record *records,
                        double reference_velocity, dls_workspace *space, dls_problem **problem,
                        dls_error *error) {
    dls_assembly assembly = {.space = space};
    dls_assemble_options options = {.t = 0, .h = 0, .threads = 1};
    dls_status status = dls_assemble_bodies(&assembly, world, &options, error);
    if (status) return status;
    dls_block_place *places = DLS_TAKE(space, dls_block_place, count);
    double *mu = DLS_TAKE(space, double, count), *b = DLS_TAKE(space, double, count * 3);
    if (!places || !mu || !b) return dls_fail_memory(error);
    status = find_places(world, count, records, places, mu, b, error);
    if (status) return status;
    return dls_assemble_given(&assembly, world, count, places, mu, b, reference_velocity, problem, error);
}

dls_status dls_contact_records_problem(const dls_world *world, const dls_pose *poses, int count,
                                       const dls_contact_record *records, double reference_velocity,
                                       dls_problem **problem, dls_error *error) {
    dls_error_clear(error);
    if (!world || !poses || !problem || count < 0 || (count && !records))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a world, poses and contacts are needed, got NULL");
    *problem = NULL;
    dls_world copy;
    dls_status status = stand(world, poses, &copy, error);
    if (status) return status;
    dls_workspace *space = dls_workspace_create();
    status = space ? build(&copy, count, records, reference_velocity, space, problem, error)
                   : dls_fail_memory(error);
    dls_workspace_destroy(space);
    dls_free(copy.states);
    return status;
}

/* ---- state ---- */

/* What stands before the bytes of the world and of the collider. */
typedef struct state_head {
    uint64_t world_size, collider_size;
    double step_length, t, rebased_t, base_energy, jump;
    int64_t step, rebased_step, started;
    dls_energy energy;
    int64_t steps, certified, contacts, iterations; /* of the summary, seconds aside */
    double worst_residual, worst_error, worst_held, penetration;
} state_head;

size_t dls_simulation_state_size(const dls_simulation *s) {
    return sizeof(state_head) + dls_world_memory_size(s->world) + dls_collider_memory_size(s->collider);
}

void dls_simulation_state_write(const dls_simulation *s, void *bytes) {
    const dls_run_summary *sum = &s->summary;
    state_head head = {.world_size = dls_world_memory_size(s->world),
                       .collider_size = dls_collider_memory_size(s->collider),
                       .step_length = s->options.step,
                       .t = s->t,
                       .rebased_t = s->rebased_t,
                       .base_energy = s->base_energy,
                       .jump = s->jump,
                       .step = s->step,
                       .rebased_step = s->rebased_step,
                       .started = s->started,
                       .energy = s->energy,
                       .steps = sum->steps,
                       .certified = sum->certified,
                       .contacts = sum->contacts,
                       .iterations = sum->iterations,
                       .worst_residual = sum->worst_residual,
                       .worst_error = sum->worst_error,
                       .worst_held = sum->worst_held,
                       .penetration = sum->penetration};
    unsigned char *at = bytes;
    memcpy(at, &head, sizeof head);
    dls_world_memory_write(s->world, at + sizeof head);
    dls_collider_memory_write(s->collider, at + sizeof head + head.world_size);
}

/* Counts are summed and subtracted later: none may be near the end of its type. */
static bool counts_make_sense(const state_head *head) {
    const int64_t most = INT64_C(1) << 53;
    const int64_t counts[] = {head->step,      head->rebased_step, head->steps,
                              head->certified, head->contacts,     head->iterations};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] < 0 || counts[i] > most) return false;
    return head->rebased_step <= head->step && head->certified <= head->steps && head->steps <= head->step &&
           (head->started == 0 || head->started == 1);
}

static bool numbers_make_sense(const state_head *head) {
    const dls_energy *e = &head->energy;
    const double finite[] = {head->base_energy, e->kinetic, e->potential,  e->friction,
                             e->impact,         e->work,    e->unaccounted};
    const double not_negative[] = {head->jump, head->worst_residual, head->worst_error, head->penetration};
    for (size_t i = 0; i < sizeof finite / sizeof *finite; i++)
        if (!isfinite(finite[i])) return false;
    for (size_t i = 0; i < sizeof not_negative / sizeof *not_negative; i++)
        if (!(not_negative[i] >= 0)) return false;
    return !(head->worst_held < 0);
}

/* t = rebased_t + h (step − rebased_step), which steps go on from. */
static bool times_make_sense(const state_head *head) {
    double h = head->step_length, t = head->t, from = head->rebased_t;
    double passed = h * (double)(head->step - head->rebased_step);
    if (!(h > 0 && isfinite(from) && isfinite(passed))) return false;
    return fabs(from + passed - t) <= 1e-12 * (fabs(from) + passed);
}

static dls_status check_head(const state_head *head, size_t size, dls_error *error) {
    const char *wrong = !counts_make_sense(head)    ? "its counts"
                        : !numbers_make_sense(head) ? "its energies or errors"
                        : !times_make_sense(head)   ? "its times"
                                                    : NULL;
    uint64_t rest = size - sizeof *head;
    if (head->world_size > rest || head->collider_size != rest - head->world_size)
        return dls_fail(error, DLS_ERROR_INPUT, "a state of %zu bytes does not hold what it says", size);
    if (!wrong) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "a state with step %g s at t = %g makes no sense: %s",
                    head->step_length, head->t, wrong);
}

static dls_status read_head(const void *bytes, size_t size, state_head *head, dls_error *error) {
    if (size < sizeof *head)
        return dls_fail(error, DLS_ERROR_INPUT, "a state has %zu bytes, expected %zu or more", size,
                        sizeof *head);
    memcpy(head, bytes, sizeof *head);
    return check_head(head, size, error);
}

dls_status dls_simulation_state_peek(const void *bytes, size_t size, int64_t *step, double *t,
                                     dls_error *error) {
    state_head head;
    dls_status status = read_head(bytes, size, &head, error);
    if (!status) *step = head.step, *t = head.t;
    return status;
}

static void take_head(dls_simulation *s, const state_head *head) {
    s->options.step = head->step_length;
    s->t = head->t;
    s->rebased_t = head->rebased_t;
    s->base_energy = head->base_energy;
    s->jump = head->jump;
    s->step = head->step;
    s->rebased_step = head->rebased_step;
    s->energy = head->energy;
    s->summary = (dls_run_summary){.steps = head->steps,
                                   .certified = head->certified,
                                   .contacts = head->contacts,
                                   .iterations = head->iterations,
                                   .worst_residual = head->worst_residual,
                                   .worst_error = head->worst_error,
                                   .worst_held = head->worst_held,
                                   .penetration = head->penetration};
}

/* The parts are checked and made before the first of them changes anything. */
dls_status dls_simulation_state_read(dls_simulation *s, const void *bytes, size_t size, dls_error *error) {
    state_head head;
    dls_world_memory *memory = NULL;
    dls_error_clear(error);
    if (!s || !bytes)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a simulation and bytes are needed, got NULL");
    dls_status status = read_head(bytes, size, &head, error);
    const unsigned char *at = (const unsigned char *)bytes + sizeof head;
    if (!status) status = dls_world_memory_open(s->world, at, head.world_size, &memory, error);
    if (status) return status;
    dls_world next = dls_world_memory_preview(s->world, memory);
    status = dls_simulation_reserve(s, next.body_count, error);
    if (!status)
        status =
            dls_collider_memory_read(s->collider, &next, at + head.world_size, head.collider_size, error);
    if (status) {
        dls_world_memory_drop(s->world, memory);
        return status;
    }
    dls_world_memory_use(s->world, memory);
    take_head(s, &head);
    dls_simulation_forget(s);
    return dls_simulation_ready(s, head.started != 0, error);
}
