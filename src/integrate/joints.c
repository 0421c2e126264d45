/* What joints did in a step: with r the impulse of a row and u⁻, u⁺ its speeds,
 *
 *     ½ r (u⁻ + u⁺)
 *
 * is the work of an actuator, and what a damper, friction, a limit or holding it takes. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "integrate/simulation.h"
#include "world/solid/solid.h"

#include <math.h>
#include <string.h>

/* q, u and spots of a copy of the world, as the step began. */
static bool copy_solids(dls_simulation *s, dls_world *moved) {
    size_t half = sizeof(double) * (size_t)moved->freedom_count;
    dls_workspace *space = s->assembly.space;
    if (moved->solid_count == 0) return true;
    double *q = DLS_TAKE(space, double, moved->freedom_count),
           *u = DLS_TAKE(space, double, moved->freedom_count);
    dls_spot *spots = DLS_TAKE(space, dls_spot, moved->spot_count);
    if (!q || !u || !spots) return false;
    memcpy(q, s->kept_solids, half);
    memcpy(u, s->kept_solids + half, half);
    if (moved->spot_count) memcpy(spots, moved->spots, sizeof *spots * (size_t)moved->spot_count);
    moved->q = q, moved->u = u, moved->spots = spots;
    dls_solids_stand(moved);
    return true;
}

dls_status dls_joints_place(dls_simulation *s, double at, const dls_body_state **states,
                            const dls_spot **spots, dls_error *error) {
    dls_world moved = *s->world;
    size_t bytes = sizeof *moved.states * (size_t)moved.body_count;
    moved.states = DLS_TAKE(s->assembly.space, dls_body_state, moved.body_count);
    if (!moved.states) return dls_fail_memory(error);
    if (bytes) memcpy(moved.states, s->kept, bytes);
    if (!copy_solids(s, &moved)) return dls_fail_memory(error);
    if (at > 0) dls_fly(&moved, at * s->options.step, s->options.threads);
    *states = moved.states;
    *spots = moved.spots;
    return DLS_OK;
}

/* ---- springs ---- */

static double spring_energy(const dls_freedom_def *f, double coordinate) {
    double stretch = coordinate - f->rest;
    bool slack = (f->one_sided > 0 && stretch < 0) || (f->one_sided < 0 && stretch > 0);
    return slack ? 0 : 0.5 * f->stiffness * stretch * stretch;
}

static double joint_energy(const dls_world *world, const dls_joint *joint, const dls_body_state *states,
                           const dls_spot *spots) {
    double sum = 0;
    dls_joint_pose pose;
    bool stands = false;
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        const dls_freedom_def *f = &joint->def.freedom[k];
        dls_joint_row row;
        if (!(f->stiffness > 0)) continue;
        if (!stands) dls_joint_stand(world, joint, states, spots, &pose);
        stands = true;
        dls_joint_free_row(joint, &pose, world->def.dimension, k, &row);
        sum += spring_energy(f, row.value);
    }
    return sum;
}

double dls_joints_energy(const dls_world *world) {
    double sum = 0;
    for (int id = 0; id < world->joint_count; id++)
        if (dls_joint_acts(world, &world->joints[id]))
            sum += joint_energy(world, &world->joints[id], world->states, NULL);
    return sum;
}

/* ---- after impulses ---- */

/* What the impulse did to bodies that are driven, which is their drives' work, taken back. */
static double driven_work(const dls_simulation *s, const dls_joint_pose *pose, const dls_joint_row *row,
                          double r) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        int body = pose->row[side];
        if (body < 0 || s->world->bodies[body].motion != DLS_DRIVEN) continue;
        const dls_body_state *now = &s->world->states[body];
        const dls_twist *before = &s->assembly.before[body];
        for (int k = 0; k < 3; k++)
            sum -=
                0.5 * r *
                (row->v[side][k] * (before->v[k] + now->v[k]) + row->w[side][k] * (before->w[k] + now->w[k]));
    }
    return sum;
}

static bool is_actuator(int role) {
    return role == DLS_ROLE_DRIVE || role == DLS_ROLE_SERVO || role == DLS_ROLE_MOTOR;
}

/* r on B, in the axes of A's frame, torques about the origin of B's frame. */
static void add_impulse(const dls_joint_pose *pose, const dls_joint_row *row, double r, double *impulse) {
    double arm[3], turn[3], torque[3];
    vec_sub(arm, pose->p[1], pose->x[1]);
    vec_cross(turn, arm, row->v[1]);
    vec_sub(torque, row->w[1], turn);
    for (int k = 0; k < 3; k++) {
        impulse[k] += r * vec_dot(pose->axes[0] + 3 * k, row->v[1]);
        impulse[3 + k] += r * vec_dot(pose->axes[0] + 3 * k, torque);
    }
}

/* A servo's integral stands still while it gives all that it has. */
static void integrate_servo(dls_simulation *s, const dls_joint_ask *ask, double r, dls_joint *joint) {
    const dls_freedom_def *f = &joint->def.freedom[ask->freedom];
    if (!(f->i > 0) || r <= ask->low || r >= ask->high) return;
    double h = s->options.step, target = f->target ? dls_function_value(f->target, s->t + h / 2) : 0;
    joint->integral[ask->freedom] += h * (ask->coordinate - target);
}

static void apply_ask(dls_simulation *s, const dls_joint_ask *ask, double r, dls_joint_record *record) {
    dls_joint *joint = &s->world->joints[ask->joint];
    const dls_joint_pose *pose = &s->assembly.joints->pose[ask->at];
    double after = dls_joint_row_speed(s->world, pose, &ask->row, s->world->states);
    double work = 0.5 * r * (ask->before + after);
    joint->impulse[ask->freedom][ask->role] = r;
    if (ask->role == DLS_ROLE_HELD && dls_joint_slips(joint, ask->freedom))
        joint->slip[ask->freedom] = ask->coordinate;
    if (ask->role == DLS_ROLE_SERVO || ask->role == DLS_ROLE_MOTOR) integrate_servo(s, ask, r, joint);
    add_impulse(pose, &ask->row, r, record->impulse);
    s->joint_work += driven_work(s, pose, &ask->row, r);
    if (is_actuator(ask->role)) {
        record->actuator[ask->freedom] += r;
        record->work += work;
    } else
        record->lost -= work;
}

dls_status dls_joints_apply(dls_simulation *s, dls_error *error) {
    const dls_assembly *a = &s->assembly;
    s->joint_work = 0;
    s->joint_record_count = 0;
    if (!a->joints) return DLS_OK;
    dls_world began = *s->world;
    began.states = s->kept;
    if (!copy_solids(s, &began)) return dls_fail_memory(error);
    int count = a->joints->joint_count;
    if (!DLS_RESERVE(s->joint_records, 0, s->joint_record_capacity, count)) return dls_fail_memory(error);
    for (int at = 0; at < count; at++) {
        dls_joint_record *record = &s->joint_records[at];
        dls_joint *joint = &s->world->joints[a->joints->joint[at]];
        memset(record, 0, sizeof *record);
        memset(joint->impulse, 0, sizeof joint->impulse);
        record->joint = a->joints->joint[at];
        for (int side = 0; side < 2; side++) record->body[side] = joint->def.body[side];
        record->lost =
            joint_energy(s->world, joint, s->kept, began.spots); /* less what is stored at the end */
        for (int i = a->joints->first[at]; i < a->joints->first[at + 1]; i++)
            apply_ask(s, &a->joints->ask[i], a->r[a->joints->first_row + i], record);
        joint->load = dls_joint_load(a, at, s->options.step);
    }
    s->joint_record_count = count;
    return DLS_OK;
}

/* ---- at the end of the step ---- */

static bool breaks(const dls_joint *joint, const dls_joint_record *record, double h) {
    double force = vec_norm(record->impulse) / h, torque = vec_norm(record->impulse + 3) / h;
    return (joint->def.break_force > 0 && force > joint->def.break_force) ||
           (joint->def.break_torque > 0 && torque > joint->def.break_torque);
}

static void end_joint(dls_simulation *s, dls_joint_record *record, dls_step_report *report) {
    dls_joint *joint = &s->world->joints[record->joint];
    dls_joint_state state;
    record->lost -= joint_energy(s->world, joint, s->world->states, NULL);
    dls_joint_state_get(s->world, record->joint, &state, NULL);
    vec_copy(record->point, state.point);
    memcpy(record->frame, state.frame, sizeof record->frame);
    memcpy(record->coordinate, state.coordinate, sizeof record->coordinate);
    memcpy(record->speed, state.speed, sizeof record->speed);
    for (int k = 0; k < DLS_FREEDOMS; k++) record->gap = fmax(record->gap, fabs(state.gap[k]));
    report->joint_gap = fmax(report->joint_gap, record->gap);
    if (!breaks(joint, record, s->options.step)) return;
    joint->broken = true;
    s->world->joint_changes++;
    report->joints_broken++;
}

static bool is_at_bound(const dls_joint_ask *ask, double r) { return r <= ask->low || r >= ask->high; }

void dls_joints_end(dls_simulation *s, dls_step_report *report) {
    const dls_assembly *a = &s->assembly;
    if (!a->joints) return;
    dls_joints_count_turns(s->world);
    report->joints = s->joint_record_count;
    report->joint_rows = a->joints->count;
    for (int i = 0; i < a->joints->count; i++)
        report->joint_rows_at_bound += is_at_bound(&a->joints->ask[i], a->r[a->joints->first_row + i]);
    for (int at = 0; at < s->joint_record_count; at++) end_joint(s, &s->joint_records[at], report);
}
