/* Joints inside the world: where their frames stand, and the rows u = J v that they ask something of. */
#ifndef WORLD_JOINT_JOINT_H
#define WORLD_JOINT_JOINT_H

#include "world/solid/solid.h"
#include "world/world.h"

#include <delassus/joint.h>

/* What a kind holds and leaves, bit k for freedom k, in space and in the plane. */
typedef struct dls_joint_traits {
    const char *name, *summary;
    bool planar;              /* there is one in the plane */
    uint8_t held[2], free[2]; /* in space, in the plane */
    uint8_t slips;            /* held freedoms of the velocity level: their gap is the way that was slipped */
    bool turns;               /* in the plane axis 1 is z */
} dls_joint_traits;

extern const dls_joint_traits dls_joint_table[DLS_JOINT_KINDS];

/* What a row is for. */
typedef enum dls_joint_role {
    DLS_ROLE_HELD,
    DLS_ROLE_DRIVE,
    DLS_ROLE_SERVO,
    DLS_ROLE_MOTOR,
    DLS_ROLE_SPRING,
    DLS_ROLE_FRICTION,
    DLS_ROLE_LOW,  /* limits */
    DLS_ROLE_HIGH, /* of the coordinate, of a rope, of a cone */
    DLS_JOINT_ROLES
} dls_joint_role;

struct dls_joint {
    char *name;
    dls_joint_def def; /* functions are the world's */
    bool removed, broken;
    int spot[2];         /* on A and B where these are solids, −1: rigid */
    int next[2];         /* joint of the same body A or B, −1: the last */
    double offset[2][3]; /* origin of the frame from the mass centre, in the body's frame */
    double axes[2][9];   /* columns: its axes there */
    /* what later steps depend on */
    double turned[DLS_FREEDOMS];   /* coordinates of turns, counted on */
    double integral[DLS_FREEDOMS]; /* of servos */
    double slip[DLS_FREEDOMS]; /* of the velocity level, m or rad; of carried gears the value at the start */
    double load;               /* |F| of the last step, N */
    double impulse[DLS_FREEDOMS][DLS_JOINT_ROLES]; /* of the last step */
};

/* Where a joint stands. */
typedef struct dls_joint_pose {
    int row[2];                 /* of its bodies, −1: the ground */
    const dls_spot *spot[2];    /* on them where they are solids, NULL: rigid */
    double x[2][3];             /* mass centres, or places of spots */
    double p[2][3], axes[2][9]; /* frames */
} dls_joint_pose;

/* One row: u = Σ_side v·v_side + w·ω_side, and how far it is from what it asks: the gap of what is held, the
 * coordinate of what is free. */
typedef struct dls_joint_row {
    double v[2][3], w[2][3];
    double value;
} dls_joint_row;

/* Whether it acts: not removed or broken, and both bodies are there. */
bool dls_joint_acts(const dls_world *world, const dls_joint *joint);
/* By states of all rows, and all spots, which need not be the world's own; NULL: they are. */
void dls_joint_stand(const dls_world *world, const dls_joint *joint, const dls_body_state *states,
                     const dls_spot *spots, dls_joint_pose *pose);
/* False where a world of this dimension has no such freedom. */
bool dls_joint_held_row(const dls_joint *joint, const dls_joint_pose *pose, int dimension, int freedom,
                        dls_joint_row *row);
void dls_joint_free_row(const dls_joint *joint, const dls_joint_pose *pose, int dimension, int freedom,
                        dls_joint_row *row);
/* The row of a gear or rack; of a carried one with its two angles, which turned[3], [4] keep, and a value
 * that counts from nothing. Beginning checks how the axes lie. */
void dls_joint_gear_row(const dls_joint *joint, const dls_joint_pose *pose, double *angle,
                        dls_joint_row *row);
bool dls_joint_counts_gear(const dls_joint *joint);
dls_status dls_joint_begin_gear(const dls_joint_pose *pose, dls_joint *joint, dls_error *error);
/* The angle between the axes 1 of A and B. */
void dls_joint_cone_row(const dls_joint_pose *pose, dls_joint_row *row);
/* u of a row, by velocities of its bodies: states of all rows, and u of solids as the world has it. */
double dls_joint_row_speed(const dls_world *world, const dls_joint_pose *pose, const dls_joint_row *row,
                           const dls_body_state *states);

/* Whether a held freedom is of the velocity level. */
static inline bool dls_joint_slips(const dls_joint *joint, int freedom) {
    return dls_joint_table[joint->def.kind].slips >> freedom & 1 && !joint->def.carried;
}

/* Whether a freedom's coordinate is an angle whose turns are counted. */
bool dls_joint_counts_turns(dls_joint_kind kind, int dimension, int freedom);
/* Coordinates of turns follow the places of the bodies: less than half a turn since they were counted last.
 */
void dls_joints_count_turns(dls_world *world);
/* Whether contacts of these two rows are left out because a joint joins their bodies. */
bool dls_joints_part(const dls_world *world, int row_a, int row_b);
const char *dls_joint_label(const dls_world *world, dls_joint_id id, char *text, size_t size);
void dls_joint_release(dls_joint *joint); /* its name and functions */

/* What later steps depend on, as bytes; reading checks first and changes all or nothing. */
size_t dls_joints_memory_size(const dls_world *world);
void dls_joints_memory_write(const dls_world *world, void *bytes);
dls_status dls_joints_memory_check(const dls_world *world, const void *bytes, size_t size, dls_error *error);
void dls_joints_memory_use(dls_world *world, const void *bytes);

#endif
