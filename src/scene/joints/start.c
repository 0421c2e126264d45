/* Whether joints hold at the start, within their limits, and drives begin where bodies are. */
#include "scene/joints/joints.h"

#include "base/error.h"
#include "base/vector.h"
#include "world/joint/joint.h"

#include <math.h>
#include <stdio.h>

/* Gaps in parts of the bodies' size, or rad, that are rounding of what is written. */
static const double LARGEST_GAP = 1e-6;

static const char *label(const dls_world *world, dls_joint_id id, char *text, size_t size) {
    snprintf(text, size, "%s joint%s%.60s%s", dls_joint_kind_name(world->joints[id].def.kind),
             *dls_joint_name(world, id) ? " '" : "", dls_joint_name(world, id),
             *dls_joint_name(world, id) ? "'" : "");
    return text;
}

/* What gaps of a joint are small beside: its bodies, and how far it is from their mass centres. */
static double joint_size(const dls_world *world, const dls_joint *joint) {
    double size = 0;
    for (int side = 0; side < 2; side++) {
        dls_body_id id = joint->def.body[side];
        if (id < 0) continue;
        const dls_body *body = dls_world_body(world, id);
        size = fmax(size, vec_norm(joint->offset[side]));
        if (isfinite(body->radius)) size = fmax(size, body->radius);
        if (body->motion != DLS_DYNAMIC) continue; /* one without shapes is as large as its inertia says */
        for (int k = 0; k < 3; k++) size = fmax(size, sqrt(body->inertia[k] / body->mass));
    }
    return size;
}

static dls_status check_gaps(dls_reader *reader, dls_joint_id id, const dls_joint_state *state) {
    const dls_joint *joint = &reader->world->joints[id];
    double size = joint_size(reader->world, joint);
    char who[120];
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        double most = LARGEST_GAP * (k < 3 ? size : 1) + 1e-12 * vec_norm(state->point);
        if (fabs(state->gap[k]) <= most) continue;
        return dls_node_fail(reader->joint_nodes[id], reader->error,
                             "%s does not hold at the start: off by %.3g %s, expected at most %.3g; move its "
                             "bodies or say 'assemble: yes'",
                             label(reader->world, id, who, sizeof who), fabs(state->gap[k]),
                             k < 3 ? "m" : "rad", most);
    }
    return DLS_OK;
}

/* When both bodies are there. */
static double start_of(const dls_world *world, const dls_joint *joint) {
    double t = 0;
    for (int side = 0; side < 2; side++)
        if (joint->def.body[side] >= 0) t = fmax(t, world->entries[joint->def.body[side]].birth);
    return t;
}

/* The map of a freedom's drive, as it is written. */
static const dls_node *drive_node(const dls_node *map, int freedom, int dimension, const char *key) {
    const dls_node *drive = dls_node_find(map, "drive"), *freedoms = dls_node_find(map, "freedoms");
    char number[2] = {(char)('1' + freedom), '\0'};
    if (freedoms && !drive) {
        const dls_node *of = dls_node_find(freedoms, dls_freedom_word(freedom));
        if (!of) of = dls_node_find(freedoms, number);
        if (!of && dimension == 2 && freedom >= 3) of = dls_node_find(freedoms, "about");
        drive = of ? dls_node_find(of, "drive") : NULL;
    }
    const dls_node *value = drive ? dls_node_find(drive, key) : NULL;
    return value ? value : map;
}

static dls_status doubt_rate(dls_reader *reader, dls_joint_id id, int k, double t, double speed) {
    const dls_node *node = drive_node(reader->joint_nodes[id], k, reader->dimension, "position");
    double told[3];
    dls_function_derivatives(reader->world->joints[id].def.freedom[k].position, t, told);
    return dls_doubt_rate(reader, node, told[1], speed, t, k < 3 ? "m/s" : "rad/s");
}

static dls_status check_drive(dls_reader *reader, dls_joint_id id, int k, const dls_joint_state *state) {
    const dls_joint *joint = &reader->world->joints[id];
    const dls_freedom_def *f = &joint->def.freedom[k];
    double t = start_of(reader->world, joint), size = k < 3 ? joint_size(reader->world, joint) : 1;
    const char *unit = k < 3 ? "m" : "rad";
    const dls_node *map = reader->joint_nodes[id];
    if (f->position) {
        double told = dls_function_value(f->position, t), most = LARGEST_GAP * size;
        if (fabs(told - state->coordinate[k]) <= most)
            return f->max_force > 0 ? DLS_OK : doubt_rate(reader, id, k, t, state->speed[k]);
        return dls_node_fail(drive_node(map, k, reader->dimension, "position"), reader->error,
                             "position is %g %s at t = %g s, where the joint stands at %g %s: it would jump, "
                             "expected a function that begins there, or bodies that stand at %g %s",
                             told, unit, t, state->coordinate[k], unit, told, unit);
    }
    if (!f->velocity || f->max_force > 0) return DLS_OK;
    double told = dls_function_value(f->velocity, t), has = state->speed[k];
    if (fabs(told - has) <= LARGEST_GAP * fmax(fabs(told), fabs(has)) + 1e-12) return DLS_OK;
    return dls_node_fail(
        drive_node(map, k, reader->dimension, "velocity"), reader->error,
        "velocity is %g %s/s at t = %g s, where the joint has %g %s/s: it would jump, expected "
        "a limit '%s: …', a ramp like '%g*min(t/0.1, 1)', or bodies that begin with that "
        "speed",
        told, unit, t, has, unit, k < 3 ? "force" : "torque", told);
}

/* Beyond a limit a joint would be thrown back in one step. */
static dls_status check_range(dls_reader *reader, dls_joint_id id, int k, double value, double low,
                              double high) {
    const dls_joint *joint = &reader->world->joints[id];
    double most = LARGEST_GAP * (k < 3 ? joint_size(reader->world, joint) : 1);
    char who[120];
    if (value >= low - most && value <= high + most) return DLS_OK;
    return dls_node_fail(
        reader->joint_nodes[id], reader->error,
        "%s stands at %g %s at the start, expected bodies that stand within its limits, %g to %g",
        label(reader->world, id, who, sizeof who), value, k < 3 ? "m" : "rad", low, high);
}

static dls_status check_limits(dls_reader *reader, dls_joint_id id, const dls_joint_state *state) {
    const dls_world *world = reader->world;
    const dls_joint_def *def = &world->joints[id].def;
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        const dls_freedom_def *f = &def->freedom[k];
        if (f->low == 0 && f->high == 0) continue;
        dls_status status = check_range(reader, id, k, state->coordinate[k], f->low, f->high);
        if (status) return status;
    }
    if (!(def->cone > 0)) return DLS_OK;
    dls_joint_pose pose;
    dls_joint_row row;
    dls_joint_stand(world, &world->joints[id], NULL, NULL, &pose);
    dls_joint_cone_row(&pose, &row);
    return check_range(reader, id, 3, row.value, 0, def->cone);
}

static dls_status assemble(dls_reader *reader, const dls_node *node, dls_assembled *report) {
    if (dls_world_assemble_joints(reader->world, report, reader->error))
        return dls_read_blame(node, reader->error);
    return DLS_OK;
}

dls_status dls_start_joints(dls_reader *reader, const dls_node *assembling, bool wanted,
                            dls_assembled *report) {
    dls_status status = wanted ? assemble(reader, assembling, report) : DLS_OK;
    for (dls_joint_id id = 0; id < reader->joint_count && !status; id++) {
        dls_joint_state state;
        status = dls_joint_state_get(reader->world, id, &state, reader->error);
        if (!status) status = check_gaps(reader, id, &state);
        if (!status) status = check_limits(reader, id, &state);
        for (int k = 0; k < DLS_FREEDOMS && !status; k++) status = check_drive(reader, id, k, &state);
    }
    return status;
}
