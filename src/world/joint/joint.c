/* Joints from their definitions. */
#include "world/joint/joint.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/parts.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

dls_joint_def dls_default_joint_def(dls_joint_kind kind) {
    dls_joint_def def = {.kind = kind, .body = {DLS_GROUND, DLS_GROUND}, .ratio = 1};
    def.frame[0].q[0] = def.frame[1].q[0] = 1;
    return def;
}

const char *dls_joint_label(const dls_world *world, dls_joint_id id, char *text, size_t size) {
    const char *name = world->joints[id].name;
    if (name)
        snprintf(text, size, "joint '%.100s'", name);
    else
        snprintf(text, size, "joint %d", id);
    return text;
}

static void destroy_functions(const dls_joint_def *def) {
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        const dls_freedom_def *f = &def->freedom[k];
        dls_function *const functions[] = {f->position, f->velocity, f->force, f->target};
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) dls_function_destroy(functions[i]);
    }
}

void dls_joint_release(dls_joint *joint) {
    dls_free(joint->name);
    destroy_functions(&joint->def);
}

/* ---- checks ---- */

static dls_status check_number(const char *what, double value, dls_error *error) {
    if (value >= 0 && isfinite(value)) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "%s is %g, expected a finite number that is not negative", what,
                    value);
}

static bool is_empty(const dls_freedom_def *f) {
    static const dls_freedom_def nothing;
    return f->position == NULL && f->velocity == NULL && f->force == NULL && f->target == NULL &&
           f->p == nothing.p && f->d == 0 && f->i == 0 && f->max_force == 0 && f->stiffness == 0 &&
           f->damping == 0 && f->rest == 0 && f->one_sided == 0 && f->low == 0 && f->high == 0 &&
           f->restitution == 0 && f->friction == 0 && f->friction_mu == 0 && f->friction_radius == 0;
}

static dls_status check_actuator(const dls_freedom_def *f, dls_error *error) {
    bool servo = f->target || f->p != 0 || f->d != 0 || f->i != 0, motor = servo || f->force;
    int count = (f->position != NULL) + (f->velocity != NULL) + motor;
    if (count > 1)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "a freedom has %d of a drive by position, one by velocity and a motor, expected one",
                        count);
    if (f->target && f->p == 0 && f->d == 0 && f->i == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "a servo has a target, expected p, d or i with it");
    if (count == 0 && f->max_force != 0)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "a largest force is given, expected a drive or motor that it limits");
    return DLS_OK;
}

static dls_status check_freedom(const dls_freedom_def *f, dls_error *error) {
    const struct {
        const char *what;
        double value;
    } numbers[] = {{"p of a servo", f->p},
                   {"d of a servo", f->d},
                   {"i of a servo", f->i},
                   {"the largest force", f->max_force},
                   {"stiffness", f->stiffness},
                   {"damping", f->damping},
                   {"friction", f->friction},
                   {"the coefficient of friction", f->friction_mu},
                   {"the radius of friction", f->friction_radius}};
    dls_status status = check_actuator(f, error);
    for (size_t k = 0; !status && k < sizeof numbers / sizeof *numbers; k++)
        status = check_number(numbers[k].what, numbers[k].value, error);
    if (status) return status;
    if (!isfinite(f->rest))
        return dls_fail(error, DLS_ERROR_INPUT, "rest of a spring is %g, expected a finite number", f->rest);
    if (f->one_sided < -1 || f->one_sided > 1)
        return dls_fail(error, DLS_ERROR_INPUT, "one_sided is %d, expected −1, 0 or 1", f->one_sided);
    if (isnan(f->low) || isnan(f->high) || f->low > f->high)
        return dls_fail(error, DLS_ERROR_INPUT, "limits are %g and %g, expected the lower one first", f->low,
                        f->high);
    if (!(f->restitution >= 0 && f->restitution <= 1))
        return dls_fail(error, DLS_ERROR_INPUT, "restitution of a limit is %g, expected 0 to 1",
                        f->restitution);
    return DLS_OK;
}

static dls_status check_freedoms(const dls_world *world, const dls_joint_def *def, dls_error *error) {
    uint8_t free = dls_joint_table[def->kind].free[world->def.dimension == 2];
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        if (is_empty(&def->freedom[k])) continue;
        if (!(free >> k & 1))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "freedom %d has an actuator, spring, limits or friction, but a %s joint does not "
                            "leave it free%s",
                            k + 1, dls_joint_table[def->kind].name,
                            world->def.dimension == 2 ? " in the plane" : "");
        dls_status status = check_freedom(&def->freedom[k], error);
        if (status) return status;
    }
    return DLS_OK;
}

static dls_status check_bodies(const dls_world *world, const dls_joint_def *def, dls_error *error) {
    for (int side = 0; side < 2; side++) {
        int id = def->body[side];
        if (id < DLS_GROUND || id >= world->entry_count)
            return dls_fail(error, DLS_ERROR_INPUT, "there is no body %d", id);
        if (id >= 0 && world->entries[id].presence == DLS_GONE)
            return dls_fail(error, DLS_ERROR_INPUT, "body %d is gone", id);
    }
    if (def->body[0] == def->body[1])
        return dls_fail(error, DLS_ERROR_INPUT, "a joint joins %s with itself, expected two bodies",
                        def->body[0] < 0 ? "the ground" : "a body");
    return DLS_OK;
}

static dls_status check_numbers(const dls_joint_def *def, dls_error *error) {
    dls_status status = check_number("length", def->length, error);
    if (!status) status = check_number("break_force", def->break_force, error);
    if (!status) status = check_number("break_torque", def->break_torque, error);
    if (!status) status = check_number("cone", def->cone, error);
    if (!status) status = check_number("radius", def->radius, error);
    if (status) return status;
    if (!isfinite(def->ratio) ||
        ((def->kind == DLS_JOINT_GEAR || def->kind == DLS_JOINT_RACK) && def->ratio == 0))
        return dls_fail(error, DLS_ERROR_INPUT, "ratio is %g, expected a finite number other than 0",
                        def->ratio);
    bool rolls = def->kind == DLS_JOINT_ROLLING || def->kind == DLS_JOINT_ROLLING_BALL;
    if (rolls && !(def->radius > 0 && isfinite(def->radius)))
        return dls_fail(error, DLS_ERROR_INPUT, "radius of a %s is %g, expected a finite number above 0",
                        def->kind == DLS_JOINT_ROLLING ? "wheel" : "ball", def->radius);
    if (def->cone > 0 && def->kind != DLS_JOINT_SPHERICAL)
        return dls_fail(error, DLS_ERROR_INPUT, "a cone is given, expected one of a spherical joint only");
    if (def->carried && def->kind != DLS_JOINT_GEAR && def->kind != DLS_JOINT_RACK)
        return dls_fail(error, DLS_ERROR_INPUT, "a joint is carried, expected a gear or rack");
    if (def->rope && def->kind != DLS_JOINT_DISTANCE)
        return dls_fail(error, DLS_ERROR_INPUT, "a rope is given, expected one of the kind distance only");
    return DLS_OK;
}

static dls_status check_def(const dls_world *world, const dls_joint_def *def, dls_error *error) {
    if (def->kind < 0 || def->kind >= DLS_JOINT_KINDS)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "there is no kind of joint %d", (int)def->kind);
    if (world->def.dimension == 2 && !dls_joint_table[def->kind].planar)
        return dls_fail(error, DLS_ERROR_INPUT, "a %s joint, expected one that there is in the plane",
                        dls_joint_table[def->kind].name);
    if (world->joint_count >= INT_MAX / 64)
        return dls_fail(error, DLS_ERROR_INPUT, "more than %d joints", INT_MAX / 64);
    if (def->name && def->name[0] && dls_world_find_joint(world, def->name) >= 0)
        return dls_fail(error, DLS_ERROR_INPUT, "there is a joint '%.100s' already", def->name);
    dls_status status = check_bodies(world, def, error);
    for (int side = 0; side < 2 && !status; side++) {
        if (!dls_vec_is_near(def->frame[side].x, 3) || !dls_vec_is_finite(def->frame[side].q, 4) ||
            !quat_is_unit(def->frame[side].q))
            status = dls_fail(error, DLS_ERROR_INPUT,
                              "the frame on %s lies beyond 1e+60 m, or its quaternion is not of length 1",
                              side ? "B" : "A");
    }
    if (!status) status = check_numbers(def, error);
    return status ? status : check_freedoms(world, def, error);
}

/* ---- making ---- */

/* From the frames of bodies to axes through their mass centres, or of their spots; the spot of a solid that
 * is no line is where the frame is. */
static void take_frames(const dls_world *world, dls_joint *joint) {
    for (int side = 0; side < 2; side++) {
        int id = joint->def.body[side], solid = dls_solid_of(world, id);
        quat_matrix(joint->def.frame[side].q, joint->axes[side]);
        vec_copy(joint->offset[side], joint->def.frame[side].x);
        if (id >= 0 && solid < 0)
            vec_sub(joint->offset[side], joint->offset[side], world->entries[id].centre);
        if (solid >= 0 && !world->solids[solid].kind->line) vec_set(joint->offset[side], 0, 0, 0);
    }
}

/* A spot for each side that is a solid. */
static dls_status take_spots(dls_world *world, dls_joint *joint, dls_error *error) {
    for (int side = 0; side < 2; side++) {
        int solid = dls_solid_of(world, joint->def.body[side]);
        joint->spot[side] = -1;
        if (solid < 0) continue;
        dls_status status = dls_solid_add_spot(world, solid, joint->def.at[side], joint->def.frame[side].x,
                                               &joint->spot[side], error);
        if (status) return status;
    }
    return DLS_OK;
}

/* Coordinates of turns begin within half a turn; a distance is that of the start unless it is told. */
static dls_status begin(const dls_world *world, dls_joint *joint, dls_error *error) {
    int d = world->def.dimension;
    dls_joint_pose pose;
    dls_joint_row row;
    dls_joint_stand(world, joint, NULL, NULL, &pose);
    for (int k = 3; k < DLS_FREEDOMS; k++) {
        if (!(dls_joint_table[joint->def.kind].free[d == 2] >> k & 1)) continue;
        dls_joint_free_row(joint, &pose, d, k, &row);
        joint->turned[k] = row.value;
    }
    if (joint->def.kind != DLS_JOINT_DISTANCE || joint->def.length > 0)
        return dls_joint_begin_gear(&pose, joint, error);
    dls_joint_free_row(joint, &pose, d, 0, &row);
    joint->def.length = row.value;
    if (row.value > 0) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT,
                    "the points of a distance joint are in one place, expected a length above 0, or a "
                    "spherical or revolute joint");
}

static dls_status add(dls_world *world, const dls_joint_def *def, dls_error *error) {
    dls_status status = check_def(world, def, error);
    if (status) return status;
    if (!DLS_RESERVE(world->joints, world->joint_count, world->joint_capacity, world->joint_count + 1))
        return dls_fail_memory(error);
    if (def->name && def->name[0]) status = dls_world_reserve_names(world, &world->joint_names, error);
    if (status) return status;
    dls_joint joint = {.def = *def};
    if (def->name && def->name[0] && !(joint.name = dls_text_copy(def->name))) return dls_fail_memory(error);
    joint.def.name = joint.name;
    int spots = world->spot_count;
    status = take_spots(world, &joint, error);
    if (!status) {
        take_frames(world, &joint);
        status = begin(world, &joint, error);
    }
    if (status) {
        world->spot_count = spots;
        dls_free(joint.name);
        return status;
    }
    for (int side = 0; side < 2; side++) {
        joint.next[side] = -1;
        if (def->body[side] < 0) continue;
        joint.next[side] = world->entries[def->body[side]].first_joint;
        world->entries[def->body[side]].first_joint = world->joint_count;
    }
    world->joints[world->joint_count++] = joint;
    if (joint.name) dls_world_add_name(world, &world->joint_names, world->joint_count - 1);
    world->joint_changes++;
    return DLS_OK;
}

dls_status dls_world_add_joint(dls_world *world, const dls_joint_def *def, dls_joint_id *id,
                               dls_error *error) {
    dls_error_clear(error);
    if (id) *id = -1;
    dls_status status = world && def
                            ? add(world, def, error)
                            : dls_fail(error, DLS_ERROR_ARGUMENT, "a world and a joint are needed, got NULL");
    if (status && def) destroy_functions(def);
    if (!status && id) *id = world->joint_count - 1;
    return status;
}

dls_status dls_world_remove_joint(dls_world *world, dls_joint_id id, dls_error *error) {
    dls_error_clear(error);
    if (!world || id < 0 || id >= world->joint_count)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "there is no joint %d", id);
    world->joints[id].removed = true;
    world->joint_changes++;
    return DLS_OK;
}

/* ---- frames from a place in the world ---- */

static dls_status unit(const char *what, const double *from, double *n, dls_error *error) {
    double length = dls_vec_is_finite(from, 3) ? vec_norm(from) : 0;
    if (!(length > 0))
        return dls_fail(error, DLS_ERROR_INPUT, "%s is (%g, %g, %g), expected a direction of some length",
                        what, from[0], from[1], from[2]);
    vec_scale(n, 1 / length, from);
    return DLS_OK;
}

/* Columns: axis, second as far as it is across the axis, and their product. In the plane axis 1 is z of what
 * turns, else axis 3 is. */
static dls_status find_axes(const dls_world *world, const dls_joint_def *def, const double *axis,
                            const double *second, double *R, dls_error *error) {
    static const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
    bool planar = world->def.dimension == 2;
    double along[3];
    dls_status status = unit("axis",
                             planar && dls_joint_table[def->kind].turns ? z
                             : axis                                     ? axis
                             : planar                                   ? x
                                                                        : z,
                             R, error);
    if (status) return status;
    if (planar && !dls_joint_table[def->kind].turns) {
        if (R[2] != 0) return dls_fail(error, DLS_ERROR_INPUT, "axis leaves the plane, expected z = 0");
        vec_cross(R + 3, z, R);
        vec_copy(R + 6, z);
        return DLS_OK;
    }
    vec_tangents(R, R + 3, R + 6);
    if (planar || !second || def->kind == DLS_JOINT_GEAR || def->kind == DLS_JOINT_RACK) return DLS_OK;
    status = unit("second axis", second, along, error);
    if (status) return status;
    vec_along(along, along, -vec_dot(along, R), R);
    if (!(vec_norm(along) > 1e-9))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "the second axis lies along the first, expected one across it");
    vec_scale(R + 3, 1 / vec_norm(along), along);
    vec_cross(R + 6, R, R + 3);
    return DLS_OK;
}

/* The frame with axes R at a point of the world, as the body sees it. */
static void frame_of(const dls_world *world, const dls_joint_def *def, int side, const double *point,
                     const double *R, dls_pose *frame) {
    dls_body_id id = def->body[side];
    double Q[9], C[9], offset[3];
    vec_copy(frame->x, point);
    quat_from_matrix(frame->q, R);
    if (id < 0) return;
    dls_body_state place, *state = dls_world_state(world, id);
    bool solid = !dls_solid_place(world, id, def->at[side], &place, NULL);
    if (solid) state = &place;
    quat_matrix(state->q, Q);
    vec_sub(offset, point, state->x);
    mat_apply_transposed(frame->x, Q, offset);
    if (!solid) vec_add(frame->x, frame->x, world->entries[id].centre);
    for (int j = 0; j < 3; j++) mat_apply_transposed(C + 3 * j, Q, R + 3 * j);
    quat_from_matrix(frame->q, C);
}

dls_status dls_joint_place(const dls_world *world, dls_joint_def *def, const double *point,
                           const double *axis, const double *second, dls_error *error) {
    double R[9], of_other[9];
    dls_error_clear(error);
    if (!world || !def || !point || !dls_vec_is_finite(point, 3) || def->kind < 0 ||
        def->kind >= DLS_JOINT_KINDS)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a world, a joint of some kind and a point are needed");
    dls_status status = check_bodies(world, def, error);
    if (!status) status = find_axes(world, def, axis, second, R, error);
    if (status) return status;
    memcpy(of_other, R, sizeof R);
    if (second && world->def.dimension == 3 &&
        (def->kind == DLS_JOINT_GEAR || def->kind == DLS_JOINT_RACK || def->kind == DLS_JOINT_ROLLING)) {
        status = unit("second axis", second, of_other, error);
        if (status) return status;
        vec_tangents(of_other, of_other + 3, of_other + 6);
    }
    if (world->def.dimension == 2 && def->kind == DLS_JOINT_RACK) { /* A turns about z */
        double turned[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
        frame_of(world, def, 0, point, turned, &def->frame[0]);
    } else
        frame_of(world, def, 0, point, R, &def->frame[0]);
    frame_of(world, def, 1, point, of_other, &def->frame[1]);
    return DLS_OK;
}

/* ---- questions ---- */

int dls_world_joint_count(const dls_world *world) { return world ? world->joint_count : 0; }

static bool has(const dls_world *world, dls_joint_id id) {
    return world && id >= 0 && id < world->joint_count;
}

const char *dls_joint_name(const dls_world *world, dls_joint_id id) {
    return has(world, id) && world->joints[id].name ? world->joints[id].name : "";
}

dls_joint_id dls_world_find_joint(const dls_world *world, const char *name) {
    return world ? dls_world_find_name(world, &world->joint_names, name) : -1;
}

dls_status dls_joint_get(const dls_world *world, dls_joint_id id, dls_joint_def *def, dls_error *error) {
    dls_error_clear(error);
    if (!has(world, id) || !def) return dls_fail(error, DLS_ERROR_ARGUMENT, "there is no joint %d", id);
    *def = world->joints[id].def;
    for (int k = 0; k < DLS_FREEDOMS; k++)
        def->freedom[k].position = def->freedom[k].velocity = def->freedom[k].force = def->freedom[k].target =
            NULL;
    return DLS_OK;
}

dls_joint_presence dls_joint_presence_of(const dls_world *world, dls_joint_id id) {
    if (!has(world, id)) return DLS_JOINT_GONE;
    const dls_joint *joint = &world->joints[id];
    if (joint->removed) return DLS_JOINT_GONE;
    for (int side = 0; side < 2; side++)
        if (joint->def.body[side] >= 0 && world->entries[joint->def.body[side]].presence == DLS_GONE)
            return DLS_JOINT_GONE;
    if (joint->broken) return DLS_JOINT_BROKEN;
    return dls_joint_acts(world, joint) ? DLS_JOINT_ACTS : DLS_JOINT_WAITS;
}

/* u of a row by the states of its bodies wherever they are. */
static double speed_of(const dls_world *world, const dls_joint *joint, const dls_joint_row *row) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        if (joint->def.body[side] < 0) continue;
        const dls_body_state *state = joint->spot[side] >= 0 ? &world->spots[joint->spot[side]].state
                                                             : dls_world_state(world, joint->def.body[side]);
        sum += vec_dot(row->v[side], state->v) + vec_dot(row->w[side], state->w);
    }
    return sum;
}

dls_status dls_joint_state_get(const dls_world *world, dls_joint_id id, dls_joint_state *state,
                               dls_error *error) {
    dls_error_clear(error);
    if (!has(world, id) || !state) return dls_fail(error, DLS_ERROR_ARGUMENT, "there is no joint %d", id);
    const dls_joint *joint = &world->joints[id];
    int d = world->def.dimension;
    dls_joint_pose pose;
    dls_joint_row row;
    memset(state, 0, sizeof *state);
    dls_joint_stand(world, joint, NULL, NULL, &pose);
    vec_copy(state->point, pose.p[1]);
    memcpy(state->frame, pose.axes[0], sizeof state->frame);
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        if (dls_joint_table[joint->def.kind].free[d == 2] >> k & 1 ||
            (joint->def.kind == DLS_JOINT_DISTANCE && k == 0)) {
            dls_joint_free_row(joint, &pose, d, k, &row);
            state->coordinate[k] = row.value;
            state->speed[k] = speed_of(world, joint, &row);
        }
        if (dls_joint_held_row(joint, &pose, d, k, &row)) state->gap[k] = row.value;
        if (joint->def.rope && k == 0) state->gap[k] = fmax(state->gap[k], 0);
    }
    return DLS_OK;
}

/* ---- contacts that joints leave out ---- */

bool dls_joints_part(const dls_world *world, int row_a, int row_b) {
    int a = world->bodies[row_a].id, b = world->bodies[row_b].id;
    for (int k = world->entries[a].first_joint; k >= 0;) {
        const dls_joint *joint = &world->joints[k];
        int side = joint->def.body[0] == a ? 0 : 1;
        if (joint->def.body[1 - side] == b && !joint->def.collide && !joint->removed && !joint->broken)
            return true;
        k = joint->next[side];
    }
    return false;
}
