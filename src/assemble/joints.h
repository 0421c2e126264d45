/* Rows of joints in the problem of a step: interval blocks behind the contacts. */
#ifndef ASSEMBLE_JOINTS_H
#define ASSEMBLE_JOINTS_H

#include "assemble/assemble.h"
#include "world/joint/joint.h"

/* A row of the problem and what is asked of it:  low ≤ r ≤ high,  u = J v⁺ + ε r + added. */
typedef struct dls_joint_ask {
    int joint, at; /* id; which of the step's joints */
    uint8_t freedom, role;
    bool closes; /* asks u⁺ = −g/h */
    dls_joint_row row;
    double before;     /* J v at the beginning of the step */
    double coordinate; /* or gap, where the row stands */
    double added, compliance, low, high;
} dls_joint_ask;

typedef struct dls_joint_asks {
    int joint_count; /* that act */
    int *joint;      /* their ids */
    int *first;      /* the first ask of each, and behind the last */
    dls_joint_pose *pose;
    int count;
    dls_joint_ask *ask; /* those of one joint together, held ones first */
    int block_count;
    uint8_t *block_size;
    int first_row; /* of the problem */
} dls_joint_asks;

/* Rows of all joints that act, by states where they stand; none of a joint that nothing can move. Behind
 * dls_assemble_bodies. */
dls_status dls_find_joint_asks(dls_assembly *a, const dls_world *world, const dls_assemble_options *options,
                               dls_error *error);
/* A body that turns with A = J + c h² K: what pulls at it turns it back. z = turnᵀ ω are its turns, ½ |z|²
 * their energy, and 1 + added_k what A has for 1 of J. */
typedef struct dls_tight_body {
    int row;
    double turn[9], added[3];
} dls_tight_body;

/* Masses, and velocities without impulses, of bodies that joints pulled at so hard in the last step that the
 * scheme would swing up. Behind dls_find_joint_asks, before any block is filled. */
dls_status dls_tighten(dls_assembly *a, const dls_world *world, const dls_assemble_options *options,
                       dls_error *error);
/* Kinetic energy that such bodies have got beyond what was done on them, once they have v⁺. */
double dls_tight_energy(const dls_assembly *a, const dls_world *world);

/* How many blocks they are, and the rows of these, two per block; −1 for none. */
int dls_joint_blocks(const dls_assembly *a);
void dls_joint_bodies(const dls_assembly *a, int *body);
/* Their blocks in the problem that was begun with them; returns the sum of their b. */
double dls_fill_joints(dls_assembly *a, const dls_world *world, const dls_assemble_options *options);

/* |F| of a joint by the impulses r of a step of length h: of its held translations. */
double dls_joint_load(const dls_assembly *a, int at, double h);
/* Bounds of friction that follows from the load of its own joint, by the impulses found; returns the largest
 * change of one in units of the larger, 0 where there is no such friction. */
double dls_renew_friction(dls_assembly *a, const dls_world *world, double h);

/* Gaps of joined sets that the impulses r of closing them would drive close no faster than most_speed;
 * whether any was to, so that the problem is another. */
dls_status dls_slow_closing(dls_assembly *a, const dls_world *world, double v_ref, double most_speed,
                            bool *slower, dls_error *error);

#endif
