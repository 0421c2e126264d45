/* Gears and racks. Their axes are carried by the ground, and then a row knows turns against it,
 *
 *     gear   ω_A·a_A + ratio ω_B·a_B        rack   v_B·a_B − ratio ω_A·a_A
 *
 * or by bodies that move: then turns count from what the two bodies show of their carrier. φ_A is the angle
 * about a_A from axis 2 of A to y, and φ_B that about a_B from axis 2 of B, with y the line of centres
 * d = p_B − p_A of parallel axes, and the other's axis where they cross. With Ω the carrier's turn
 * φ̇ = (Ω − ω)·a, and Willis's relation is holonomic:
 *
 *     gear   g = −(φ_A + ratio φ_B)         ġ = (ω_A − Ω)·a_A + ratio (ω_B − Ω)·a_B
 *     rack   g = a_B·d + ratio φ_A          ġ = a_B·(v_B − v_A) at the point where the pitch line touches
 *
 * A rack along a_A is a screw, whose turns count from axis 2 of B. */
#include "base/error.h"
#include "base/vector.h"
#include "world/joint/joint.h"

#include <math.h>
#include <string.h>

/* Sines of angles between axes: what counts as crossed, and what is neither parallel nor crossed. */
static const double CROSSED = 0.05, PARALLEL = 1e-3, ANGLED = 0.1;

static double sine_of_axes(const dls_joint_pose *pose) {
    double across[3];
    vec_cross(across, pose->axes[0], pose->axes[1]);
    return vec_norm(across);
}

/* The angle of y about axis 1 of a frame F, counted on from `turned`, and where y grows it: φ̇ = across·ẏ as F
 * sees it. */
static double turn_of(const double *F, const double *y, double turned, double *across) {
    double c = vec_dot(F + 3, y), s = vec_dot(F + 6, y), size = c * c + s * s;
    vec_scale(across, size > 0 ? c / size : 0, F + 6);
    vec_along(across, across, size > 0 ? -s / size : 0, F + 3);
    return turned + remainder(atan2(s, c) - turned, 2 * acos(-1));
}

/* Adds factor · φ of y, which the other side carries along. */
static double add_turn_of_axis(const dls_joint_pose *pose, int side, const double *y, double turned,
                               double factor, dls_joint_row *row) {
    double across[3], axis[3], angle = turn_of(pose->axes[side], y, turned, across);
    vec_cross(axis, y, across);
    vec_along(row->w[side], row->w[side], -factor, axis);
    vec_along(row->w[1 - side], row->w[1 - side], factor, axis);
    return angle;
}

/* Adds factor · (velocity of B − velocity of A) at a point along a direction. */
static void add_along(const dls_joint_pose *pose, const double *direction, const double *point, double factor,
                      dls_joint_row *row) {
    for (int side = 0; side < 2; side++) {
        double arm[3], turn[3], sign = side ? factor : -factor;
        vec_sub(arm, point, pose->x[side]);
        vec_cross(turn, arm, direction);
        vec_along(row->v[side], row->v[side], sign, direction);
        vec_along(row->w[side], row->w[side], sign, turn);
    }
}

/* Adds factor · φ of the line of centres. As side A sees it p_B moves, as B does p_A. */
static double add_turn_of_line(const dls_joint_pose *pose, int side, double turned, double factor,
                               dls_joint_row *row) {
    double across[3], d[3];
    vec_sub(d, pose->p[1], pose->p[0]);
    double angle = turn_of(pose->axes[side], d, turned, across);
    add_along(pose, across, pose->p[1 - side], factor, row);
    return angle;
}

static void row_on_ground(const dls_joint *joint, const dls_joint_pose *pose, dls_joint_row *row) {
    double ratio = joint->def.ratio, arm[3];
    if (joint->def.kind == DLS_JOINT_GEAR) {
        vec_copy(row->w[0], pose->axes[0]);
        vec_scale(row->w[1], ratio, pose->axes[1]);
        return;
    }
    vec_scale(row->w[0], -ratio, pose->axes[0]);
    vec_copy(row->v[1], pose->axes[1]);
    vec_sub(arm, pose->p[1], pose->x[1]);
    vec_cross(row->w[1], arm, pose->axes[1]);
}

void dls_joint_gear_row(const dls_joint *joint, const dls_joint_pose *pose, double *angle,
                        dls_joint_row *row) {
    double ratio = joint->def.ratio, d[3];
    memset(row, 0, sizeof *row);
    if (!joint->def.carried) {
        row_on_ground(joint, pose, row);
        return;
    }
    bool crossed = sine_of_axes(pose) > CROSSED;
    const double *turned = joint->turned + 3;
    if (joint->def.kind == DLS_JOINT_RACK) {
        const double *along = pose->axes[1], *y = crossed ? along : pose->axes[1] + 3;
        vec_sub(d, pose->p[1], pose->p[0]);
        add_along(pose, along, pose->p[0], 1, row);
        angle[0] = add_turn_of_axis(pose, 0, y, turned[0], ratio, row);
        angle[1] = 0;
        row->value = vec_dot(along, d) + ratio * angle[0];
        return;
    }
    for (int side = 0; side < 2; side++) {
        double factor = side ? -ratio : -1;
        angle[side] = crossed ? add_turn_of_axis(pose, side, pose->axes[1 - side], turned[side], factor, row)
                              : add_turn_of_line(pose, side, turned[side], factor, row);
    }
    row->value = -angle[0] - ratio * angle[1];
}

bool dls_joint_counts_gear(const dls_joint *joint) {
    return joint->def.carried && (joint->def.kind == DLS_JOINT_GEAR || joint->def.kind == DLS_JOINT_RACK);
}

dls_status dls_joint_begin_gear(const dls_joint_pose *pose, dls_joint *joint, dls_error *error) {
    bool rack = joint->def.kind == DLS_JOINT_RACK;
    double sine = sine_of_axes(pose), d[3], away[3];
    if (!dls_joint_counts_gear(joint)) return DLS_OK;
    if (sine > PARALLEL && sine < ANGLED)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "axes of a carried %s are %.3g rad apart, expected them parallel, or 0.1 rad at least",
            dls_joint_table[joint->def.kind].name, asin(sine));
    vec_sub(d, pose->p[1], pose->p[0]);
    vec_cross(away, pose->axes[0], d);
    if (!rack && sine < ANGLED &&
        !(vec_norm(away) > 1e-9 * (vec_norm(pose->p[0]) + vec_norm(pose->p[1]) + vec_norm(d))))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "both axes of a carried gear lie on one line, expected its ends on two axes");
    dls_joint_row row;
    dls_joint_gear_row(joint, pose, joint->turned + 3, &row);
    joint->slip[rack ? 0 : 3] = row.value;
    return DLS_OK;
}
