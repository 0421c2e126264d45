/* The contact problem of contacts that were recorded. */
#include "assemble/turning.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "integrate/simulation.h"

#include <string.h>

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

/* Records may come from a file. */
bool dls_contact_record_fits(const dls_contact_record *record, int d) {
    int tangential = record->parts & 3, rolling = record->parts >> 2 & 3, spinning = record->parts >> 4;
    if (record->parts == 0) return true;
    if (record->parts < 0 || spinning > 1) return false;
    if (d == 2) return tangential == 1 && rolling <= 1 && spinning == 0;
    return tangential >= 2 && (tangential == 2 || record->drilling > 0) && (rolling == 0 || rolling == 2) &&
           tangential + rolling + spinning < DLS_MAX_BLOCK;
}

/* The axes of a record that fits; in the plane there is one tangent. */
static dls_turning turning_of(const dls_contact_record *record) {
    int d = (record->parts & 3) == 1 ? 2 : 3;
    dls_turning turning = {.count = 0};
    if (record->parts && dls_contact_record_fits(record, d))
        dls_turning_axes(d, (uint8_t)record->parts, record->frame, record->drilling, &turning);
    return turning;
}

void dls_contact_record_torque(const dls_contact_record *record, double *torque) {
    dls_turning turning = turning_of(record);
    dls_turning_moment(&turning, record->torque, torque);
}

int dls_contact_record_impulses(const dls_contact_record *record, int dimension, double *r) {
    int turning = turning_of(record).count;
    for (int k = 0; k < dimension; k++) r[k] = record->impulse[k];
    for (int k = 0; k < turning; k++) r[dimension + k] = record->torque[k];
    return dimension + turning;
}

static dls_status find_places(const dls_world *world, int count, const dls_contact_record *records,
                              dls_given_block *blocks, dls_error *error) {
    int d = world->def.dimension;
    for (int c = 0; c < count; c++) {
        const dls_contact_record *record = &records[c];
        dls_given_block *block = &blocks[c];
        dls_block_place *place = &block->place;
        const dls_body_id ids[2] = {record->body_a, record->body_b};
        for (int side = 0; side < 2; side++) {
            bool known = ids[side] >= 0 && ids[side] < world->entry_count;
            if (!known || world->entries[ids[side]].row < 0)
                return dls_fail(error, DLS_ERROR_INPUT, "contact %d touches body %d, which is not there", c,
                                ids[side]);
            if (world->entries[ids[side]].solid >= 0)
                return dls_fail(error, DLS_ERROR_INPUT,
                                "contact %d touches body %d, a solid: records hold no shape of it, expected "
                                "rigid bodies",
                                c, ids[side]);
            *(side ? &place->row_b : &place->row_a) = world->entries[ids[side]].row;
        }
        vec_copy(place->point, record->point);
        memcpy(place->frame, record->frame, sizeof place->frame);
        for (int k = 0; k < 3; k++) place->shift[k] = record->image[k] * world->def.period_size[k];
        if (!dls_contact_record_fits(record, d))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "contact %d has the parts %d, expected those of a contact in %s", c,
                            record->parts, d == 2 ? "the plane" : "space");
        block->parts = record->parts ? (uint8_t)record->parts : DLS_PARTS(d - 1, 0, 0);
        block->mu = record->mu;
        block->mu_rolling = record->mu_rolling;
        block->mu_spinning = record->mu_spinning;
        block->drilling = record->drilling;
        for (int k = 0; k < d; k++) block->b[k] = record->b[k];
        for (int k = d; k < DLS_MAX_BLOCK && k < d + 3; k++) block->b[k] = record->b_spin[k - d];
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
    dls_given_block *blocks = DLS_TAKE_ZERO(space, dls_given_block, count);
    if (!blocks) return dls_fail_memory(error);
    status = find_places(world, count, records, blocks, error);
    if (status) return status;
    return dls_assemble_given(&assembly, world, count, blocks, reference_velocity, problem, error);
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
