/* What is known of a body by its id, wherever it is. */
#include "base/error.h"
#include "base/vector.h"
#include "world/parts.h"
#include "world/shape/kinds.h"
#include "world/solid/solid.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const dls_body_entry *entry_of(const dls_world *world, dls_body_id id) {
    return world && id >= 0 && id < world->entry_count ? &world->entries[id] : NULL;
}

static dls_status check_id(const dls_world *world, dls_body_id id, dls_error *error) {
    dls_error_clear(error);
    if (!world) return dls_fail(error, DLS_ERROR_ARGUMENT, "a world is needed");
    if (entry_of(world, id)) return DLS_OK;
    return dls_fail(error, DLS_ERROR_ARGUMENT, "there is no body %d among %d", id, world->entry_count);
}

const dls_body *dls_world_body(const dls_world *world, dls_body_id id) {
    const dls_body_entry *entry = entry_of(world, id);
    assert(!entry || entry->kept || (entry->slot >= 0 && entry->slot < world->body_capacity));
    return !entry ? NULL : entry->kept ? &entry->kept->body : &world->bodies[entry->slot];
}

dls_body_state *dls_world_state(const dls_world *world, dls_body_id id) {
    const dls_body_entry *entry = entry_of(world, id);
    return !entry ? NULL : entry->kept ? &entry->kept->state : &world->states[entry->slot];
}

const dls_shape *dls_world_shapes(const dls_world *world, dls_body_id id) {
    const dls_body_entry *entry = entry_of(world, id);
    if (!entry || (!entry->kept && !world->shapes)) return NULL; /* no body so far may have had a shape */
    return entry->kept ? entry->kept->shapes : &world->shapes[world->bodies[entry->slot].shape_first];
}

int dls_world_body_count(const dls_world *world) { return world ? world->entry_count : 0; }

dls_presence dls_body_presence(const dls_world *world, dls_body_id id) {
    const dls_body_entry *entry = entry_of(world, id);
    return entry ? entry->presence : DLS_GONE;
}

const char *dls_body_name(const dls_world *world, dls_body_id id) {
    const dls_body_entry *entry = entry_of(world, id);
    return entry && entry->name ? entry->name : "";
}

const char *dls_motion_name(dls_motion motion) {
    static const char *const names[DLS_MOTIONS] = {"dynamic", "static", "driven"};
    return (unsigned)motion < DLS_MOTIONS ? names[motion] : "";
}

dls_motion dls_body_motion(const dls_world *world, dls_body_id id) {
    const dls_body *body = dls_world_body(world, id);
    return body ? body->motion : DLS_STATIC;
}

double dls_body_radius(const dls_world *world, dls_body_id id) {
    const dls_body *body = dls_world_body(world, id);
    return body ? body->radius : 0;
}

dls_status dls_world_remove_body(dls_world *world, dls_body_id id, dls_error *error) {
    dls_status status = check_id(world, id, error);
    if (status) return status;
    dls_body_entry *entry = &world->entries[id];
    if (entry->presence == DLS_GONE || entry->leaving)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "body %d is gone already", id);
    entry->leaving = true;
    world->unsettled = true;
    return DLS_OK;
}

dls_status dls_body_state_get(const dls_world *world, dls_body_id id, dls_body_state *state,
                              dls_error *error) {
    dls_status status = check_id(world, id, error);
    if (status) return status;
    if (!state) return dls_fail(error, DLS_ERROR_ARGUMENT, "a place for the state is needed");
    *state = *dls_world_state(world, id);
    return DLS_OK;
}

static dls_status check_speeds(const dls_body *body, const dls_body_state *state, dls_error *error) {
    if (!dls_vec_is_finite(state->v, 3) || !dls_vec_is_finite(state->w, 3))
        return dls_fail(error, DLS_ERROR_INPUT, "velocity is not finite");
    for (int k = 0; k < 6; k++) {
        double speed = k < 3 ? state->v[k] : state->w[k - 3];
        if (speed == 0 || body->motion == DLS_DRIVEN) continue;
        if (body->motion == DLS_STATIC || body->locked >> k & 1)
            return dls_fail(error, DLS_ERROR_INPUT, "%s %c is %g, expected 0 for a freedom that cannot move",
                            k < 3 ? "velocity along" : "angular velocity about", "xyz"[k % 3], speed);
    }
    return DLS_OK;
}

dls_status dls_body_state_check(const dls_world *world, const dls_body *body, const dls_body_state *state,
                                dls_error *error) {
    dls_pose pose;
    vec_copy(pose.x, state->x);
    memcpy(pose.q, state->q, sizeof pose.q);
    dls_status status = dls_pose_check("the body", &pose, world->def.dimension, error);
    if (!status) status = check_speeds(body, state, error);
    if (status) return status;
    if (dls_vec_is_near(state->x, 3) && dls_vec_is_near(state->v, 3) && dls_vec_is_near(state->w, 3))
        return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "a position or velocity is beyond %g", DLS_FARTHEST);
}

void dls_state_take(dls_world *world, dls_body_id id, const dls_body_state *state) {
    dls_body_state *own = dls_world_state(world, id), before = *own;
    *own = *state;
    quat_normalize(own->q);
    if (world->entries[id].told) dls_told_restart(world->entries[id].told, &before, own);
    if (world->entries[id].solid >= 0) dls_solid_begin(world, world->entries[id].solid, own);
}

dls_status dls_body_state_set(dls_world *world, dls_body_id id, const dls_body_state *state,
                              dls_error *error) {
    dls_status status = check_id(world, id, error);
    if (status) return status;
    if (!state) return dls_fail(error, DLS_ERROR_ARGUMENT, "a state is needed");
    status = dls_body_state_check(world, dls_world_body(world, id), state, error);
    if (!status) dls_state_take(world, id, state);
    return status;
}

dls_status dls_body_pose_get(const dls_world *world, dls_body_id id, dls_pose *pose, dls_error *error) {
    dls_status status = check_id(world, id, error);
    if (status) return status;
    if (!pose) return dls_fail(error, DLS_ERROR_ARGUMENT, "a place for the pose is needed");
    const dls_body_state *state = dls_world_state(world, id);
    double R[9], offset[3];
    memcpy(pose->q, state->q, sizeof pose->q);
    quat_matrix(pose->q, R);
    mat_apply(offset, R, world->entries[id].centre);
    vec_sub(pose->x, state->x, offset);
    return DLS_OK;
}

dls_status dls_body_mass_get(const dls_world *world, dls_body_id id, dls_body_mass *mass, dls_error *error) {
    dls_status status = check_id(world, id, error);
    if (status) return status;
    if (!mass) return dls_fail(error, DLS_ERROR_ARGUMENT, "a place for the mass is needed");
    const dls_body *body = dls_world_body(world, id);
    memset(mass, 0, sizeof *mass);
    mass->mass = body->mass;
    vec_copy(mass->centre, world->entries[id].centre);
    for (int k = 0; k < 3; k++) mass->inertia[4 * k] = body->inertia[k];
    if (body->motion == DLS_DYNAMIC) dls_inertia_turn(mass->inertia, body->axes);
    return DLS_OK;
}

int dls_body_shape_count(const dls_world *world, dls_body_id id) {
    const dls_body *body = dls_world_body(world, id);
    return body ? body->shape_count : 0;
}

/* Where the mean motion of a solid sees a shape that stands in the frame of its own place. */
static void see_from_mean(const dls_world *world, dls_body_id id, const dls_spot *spot, dls_pose *pose) {
    const dls_body_state *mean = dls_world_state(world, id);
    double back[4] = {mean->q[0], -mean->q[1], -mean->q[2], -mean->q[3]}, R[9];
    quat_matrix(spot->state.q, R);
    mat_apply(pose->x, R, pose->x);
    vec_add(pose->x, pose->x, spot->state.x);
    vec_sub(pose->x, pose->x, mean->x);
    quat_matrix(mean->q, R);
    mat_apply_transposed(pose->x, R, pose->x);
    quat_multiply(pose->q, spot->state.q, pose->q);
    quat_multiply(pose->q, back, pose->q);
}

dls_status dls_body_shape(const dls_world *world, dls_body_id id, int index, dls_shape_def *def,
                          dls_error *error) {
    dls_status status = check_id(world, id, error);
    if (status) return status;
    int count = dls_body_shape_count(world, id);
    if (index < 0 || index >= count || !def)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "body %d has no shape %d among %d", id, index, count);
    const dls_shape *s = &dls_world_shapes(world, id)[index];
    unsigned needs = dls_shape_table[s->kind].needs;
    memset(def, 0, sizeof *def);
    def->kind = s->kind;
    vec_copy(def->pose.x, s->x);
    quat_from_matrix(def->pose.q, s->R);
    const dls_solid *solid = world->entries[id].solid >= 0 ? &world->solids[world->entries[id].solid] : NULL;
    if (solid && solid->kind->line) {
        const dls_spot *spot = &world->spots[solid->first_spot + index];
        see_from_mean(world, id, spot, &def->pose);
        def->at = spot->at[0];
    }
    def->radius = s->radius, def->length = s->length;
    def->point = dls_shape_table[s->kind].round && s->radius == 0;
    vec_copy(def->size, s->size);
    if (needs & DLS_SHAPE_EDGES) vec_scale(def->size, 2, s->size);
    def->material = s->material;
    def->group = s->group, def->collides = s->collides;
    if (s->belt) vec_copy(def->belt, s->belt);
    if (needs & DLS_SHAPE_POINTS) {
        def->point_count = s->hull->vertex_count;
        def->points = s->hull->vertex;
    }
    if (!s->mesh) return DLS_OK;
    def->point_count = s->mesh->vertex_count;
    def->points = s->mesh->vertex;
    def->closed = needs & DLS_SHAPE_CHAIN && s->mesh->element_count == s->mesh->vertex_count;
    if (!(needs & DLS_SHAPE_TRIANGLES)) return DLS_OK;
    def->triangle_count = s->mesh->element_count;
    def->triangles = s->mesh->element;
    return DLS_OK;
}
