/* Where joints stand and what their rows are. With a, b axes that A and B carry along, d = p_B − p_A,
 *
 *     g = a·d      ġ = a·(v_B + ω_B × (p_B − x_B) − v_A − ω_A × (p_B − x_A))
 *     g = a·b      ġ = (b × a)·(ω_B − ω_A)
 *     g = |d|      ġ = d/|d| · (velocity of p_B − velocity of p_A) */
#include "base/vector.h"
#include "world/joint/joint.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool dls_joint_acts(const dls_world *world, const dls_joint *joint) {
    if (joint->removed || joint->broken) return false;
    for (int side = 0; side < 2; side++)
        if (joint->def.body[side] >= 0 && world->entries[joint->def.body[side]].row < 0) return false;
    return true;
}

void dls_joint_stand(const dls_world *world, const dls_joint *joint, const dls_body_state *states,
                     const dls_spot *spots, dls_joint_pose *pose) {
    if (!spots) spots = world->spots;
    for (int side = 0; side < 2; side++) {
        int id = joint->def.body[side];
        pose->spot[side] = joint->spot[side] >= 0 ? &spots[joint->spot[side]] : NULL;
        if (id < 0) {
            pose->row[side] = -1;
            vec_set(pose->x[side], 0, 0, 0);
            vec_copy(pose->p[side], joint->offset[side]);
            memcpy(pose->axes[side], joint->axes[side], sizeof pose->axes[side]);
            continue;
        }
        double R[9];
        int row = world->entries[id].row;
        const dls_body_state *state = pose->spot[side] ? &pose->spot[side]->state
                                      : states         ? &states[row]
                                                       : dls_world_state(world, id);
        pose->row[side] = row;
        quat_matrix(state->q, R);
        vec_copy(pose->x[side], state->x);
        mat_apply(pose->p[side], R, joint->offset[side]);
        vec_add(pose->p[side], pose->p[side], state->x);
        mat_multiply(pose->axes[side], R, joint->axes[side]);
    }
}

/* ---- rows ---- */

/* The way along `direction`, which A carries along, of a point. */
static void row_along(const dls_joint_pose *pose, const double *direction, const double *point_a,
                      const double *point_b, dls_joint_row *row) {
    double arm[3];
    vec_scale(row->v[0], -1, direction);
    vec_copy(row->v[1], direction);
    vec_sub(arm, point_a, pose->x[0]);
    vec_cross(row->w[0], direction, arm);
    vec_sub(arm, point_b, pose->x[1]);
    vec_cross(row->w[1], arm, direction);
}

static void row_about(const double *axis, dls_joint_row *row) {
    memset(row->v, 0, sizeof row->v);
    vec_scale(row->w[0], -1, axis);
    vec_copy(row->w[1], axis);
}

/* g = sign · a·b with a of A and b of B. */
static void row_of_axes(double sign, const double *a, const double *b, dls_joint_row *row) {
    double axis[3];
    vec_cross(axis, b, a);
    vec_scale(axis, sign, axis);
    row_about(axis, row);
    row->value = sign * vec_dot(a, b);
}

static void row_translation(const dls_joint_pose *pose, int k, dls_joint_row *row) {
    double d[3];
    const double *a = pose->axes[0] + 3 * k;
    vec_sub(d, pose->p[1], pose->p[0]);
    row_along(pose, a, pose->p[1], pose->p[1], row);
    row->value = vec_dot(a, d);
}

static void row_distance(const dls_joint_pose *pose, dls_joint_row *row) {
    double n[3];
    vec_sub(n, pose->p[1], pose->p[0]);
    row->value = vec_norm(n);
    if (row->value > 0)
        vec_scale(n, 1 / row->value, n);
    else
        vec_copy(n, pose->axes[0]);
    row_along(pose, n, pose->p[0], pose->p[1], row);
}

static void row_gear(const dls_joint *joint, const dls_joint_pose *pose, int freedom, dls_joint_row *row) {
    double angle[2];
    dls_joint_gear_row(joint, pose, angle, row);
    row->value -= joint->slip[freedom];
}

/* A wheel touches below its centre, in its own plane: c = p_B − R m, m ∥ n − (n·a) a.
 * Rows: along n (its gap), along the way that it rolls, across it. */
static void row_wheel(const dls_joint *joint, const dls_joint_pose *pose, int dimension, int freedom,
                      dls_joint_row *row) {
    const double *n = pose->axes[0], *a = pose->axes[1];
    double m[3], d[3], point[3], ahead[3], across[3], lean = dimension == 2 ? 0 : vec_dot(n, a);
    double upright = sqrt(fmax(1 - lean * lean, 1e-24));
    vec_along(m, n, -lean, a);
    vec_scale(m, 1 / upright, m);
    vec_along(point, pose->p[1], -joint->def.radius, m);
    if (dimension == 2)
        vec_set(ahead, n[1], -n[0], 0);
    else
        vec_cross(ahead, a, n);
    vec_scale(ahead, 1 / (dimension == 2 ? 1 : upright), ahead);
    vec_cross(across, n, ahead);
    const double *direction[3] = {n, ahead, across};
    vec_sub(d, pose->p[1], pose->p[0]);
    row_along(pose, direction[freedom], point, point, row);
    row->value = freedom == 0 ? vec_dot(n, d) - joint->def.radius * upright : 0;
}

/* A ball touches at c = p_B − R n. Rows: along the axes of A, n (its gap) the first of them. */
static void row_ball(const dls_joint *joint, const dls_joint_pose *pose, int freedom, dls_joint_row *row) {
    const double *n = pose->axes[0], R = joint->def.radius;
    double d[3], point[3];
    vec_along(point, pose->p[1], -R, n);
    vec_sub(d, pose->p[1], pose->p[0]);
    row_along(pose, n + 3 * freedom, point, point, row);
    row->value = freedom == 0 ? vec_dot(n, d) - R : 0;
}

/* Held rotations: that of axis 1 keeps the others; without it axis 1 of B stays along axis 1 of A. */
static void row_rotation(dls_joint_kind kind, const dls_joint_pose *pose, int k, dls_joint_row *row) {
    const double *A = pose->axes[0], *B = pose->axes[1];
    if (kind == DLS_JOINT_UNIVERSAL)
        row_of_axes(-1, A, B + 3, row);
    else if (k == 0)
        row_of_axes(1, A + 6, B + 3, row);
    else if (k == 1)
        row_of_axes(-1, A + 6, B, row);
    else
        row_of_axes(1, A + 3, B, row);
}

bool dls_joint_held_row(const dls_joint *joint, const dls_joint_pose *pose, int dimension, int freedom,
                        dls_joint_row *row) {
    const dls_joint_traits *kind = &dls_joint_table[joint->def.kind];
    if (!(kind->held[dimension == 2] >> freedom & 1)) return false;
    if (joint->def.kind == DLS_JOINT_DISTANCE) {
        row_distance(pose, row);
        row->value -= joint->def.length;
    } else if (joint->def.kind == DLS_JOINT_GEAR || joint->def.kind == DLS_JOINT_RACK)
        row_gear(joint, pose, freedom, row);
    else if (joint->def.kind == DLS_JOINT_ROLLING)
        row_wheel(joint, pose, dimension, freedom, row);
    else if (joint->def.kind == DLS_JOINT_ROLLING_BALL)
        row_ball(joint, pose, freedom, row);
    else if (freedom < 3)
        row_translation(pose, freedom, row);
    else
        row_rotation(joint->def.kind, pose, freedom - 3, row);
    if (dls_joint_slips(joint, freedom)) row->value = joint->slip[freedom];
    return true;
}

/* Vector of the rotation from A's axes to B's, in A's axes. */
static void rotation_vector(const dls_joint_pose *pose, double *vector) {
    double C[9], q[4];
    for (int j = 0; j < 3; j++) mat_apply_transposed(C + 3 * j, pose->axes[0], pose->axes[1] + 3 * j);
    quat_from_matrix(q, C);
    double sine = vec_norm(q + 1), angle = 2 * atan2(sine, q[0]);
    vec_scale(vector, sine > 1e-9 ? angle / sine : 2, q + 1);
}

/* Angles of turns lie within half a turn; their turns are counted elsewhere. */
static void row_turn(dls_joint_kind kind, const dls_joint_pose *pose, int dimension, int k,
                     dls_joint_row *row) {
    const double *A = pose->axes[0], *B = pose->axes[1];
    if (dimension == 2 && k == 2) {
        row_about(A + 6, row);
        row->value = atan2(vec_dot(A + 3, B), vec_dot(A, B));
    } else if (kind == DLS_JOINT_UNIVERSAL && k == 1) {
        row_about(B + 3, row);
        row->value = atan2(vec_dot(A, B + 6), vec_dot(A, B));
    } else if (dls_joint_counts_turns(kind, dimension, 3 + k)) {
        row_about(A, row);
        row->value = atan2(vec_dot(A + 6, B + 3), vec_dot(A + 3, B + 3));
    } else {
        double vector[3];
        rotation_vector(pose, vector);
        row_about(A + 3 * k, row);
        row->value = vector[k];
    }
}

void dls_joint_free_row(const dls_joint *joint, const dls_joint_pose *pose, int dimension, int freedom,
                        dls_joint_row *row) {
    if (joint->def.kind == DLS_JOINT_SPRING || joint->def.kind == DLS_JOINT_DISTANCE)
        row_distance(pose, row);
    else if (freedom < 3)
        row_translation(pose, freedom, row);
    else
        row_turn(joint->def.kind, pose, dimension, freedom - 3, row);
    if (!dls_joint_counts_turns(joint->def.kind, dimension, freedom)) return;
    row->value = joint->turned[freedom] + remainder(row->value - joint->turned[freedom], 2 * acos(-1));
}

void dls_joint_cone_row(const dls_joint_pose *pose, dls_joint_row *row) {
    double axis[3];
    vec_cross(axis, pose->axes[0], pose->axes[1]);
    double sine = vec_norm(axis);
    row->value = atan2(sine, vec_dot(pose->axes[0], pose->axes[1]));
    if (sine > 1e-12)
        vec_scale(axis, 1 / sine, axis);
    else
        vec_copy(axis, pose->axes[0] + 3);
    row_about(axis, row);
}

double dls_joint_row_speed(const dls_world *world, const dls_joint_pose *pose, const dls_joint_row *row,
                           const dls_body_state *states) {
    double sum = 0;
    for (int side = 0; side < 2; side++)
        if (pose->spot[side])
            sum += dls_spot_speed(pose->spot[side], row->v[side], row->w[side],
                                  world->u + world->solids[pose->spot[side]->solid].at);
        else if (pose->row[side] >= 0)
            sum += vec_dot(row->v[side], states[pose->row[side]].v) +
                   vec_dot(row->w[side], states[pose->row[side]].w);
    return sum;
}

void dls_joints_count_turns(dls_world *world) {
    int d = world->def.dimension;
    for (int id = 0; id < world->joint_count; id++) {
        dls_joint *joint = &world->joints[id];
        dls_joint_pose pose;
        if (!dls_joint_acts(world, joint)) continue;
        dls_joint_stand(world, joint, world->states, NULL, &pose);
        dls_joint_row row;
        if (dls_joint_counts_gear(joint)) {
            double angle[2];
            dls_joint_gear_row(joint, &pose, angle, &row);
            memcpy(joint->turned + 3, angle, sizeof angle);
        }
        for (int k = 3; k < DLS_FREEDOMS; k++) {
            if (!(dls_joint_table[joint->def.kind].free[d == 2] >> k & 1) ||
                !dls_joint_counts_turns(joint->def.kind, d, k))
                continue;
            dls_joint_free_row(joint, &pose, d, k, &row);
            joint->turned[k] = row.value;
        }
    }
}
