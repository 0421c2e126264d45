/* What a results file holds: every table of it, for the writer, the reader and whoever copies one. The page
 * docs/results-format.md says the same to users. */
#ifndef OUTPUT_RESULTS_LAYOUT_H
#define OUTPUT_RESULTS_LAYOUT_H

#include "output/results/table.h"

#include <delassus/output.h>

#define DLS_RESULTS_FORMAT "delassus results"
enum { DLS_RESULTS_FORMAT_VERSION = 10, DLS_RESULTS_OLDEST_VERSION = 1 }; /* of those that are read */

typedef enum dls_table_name {
    /* what the world consists of, a row per thing */
    DLS_TABLE_BODY_NAMES,
    DLS_TABLE_BODIES,
    DLS_TABLE_SHAPES,
    DLS_TABLE_POINTS,
    DLS_TABLE_TRIANGLES,
    DLS_TABLE_MATERIAL_NAMES,
    DLS_TABLE_MATERIALS,
    DLS_TABLE_PAIRS,
    DLS_TABLE_JOINT_NAMES,
    DLS_TABLE_JOINTS,
    /* columns of dls_state_row, a row per present body and frame */
    DLS_TABLE_STATES,
    DLS_TABLE_STATES_POSES = DLS_TABLE_STATES + 6, /* those that only contacts need */
    DLS_TABLE_STATES_END = DLS_TABLE_STATES_POSES + 2,
    /* columns of dls_contact_row, a row per contact and frame */
    DLS_TABLE_CONTACTS = DLS_TABLE_STATES_END,
    DLS_TABLE_CONTACTS_END = DLS_TABLE_CONTACTS + 12,
    /* the same of contacts that resist turning: no rows where there are none, else one for every contact */
    DLS_TABLE_TURNING = DLS_TABLE_CONTACTS_END,
    DLS_TABLE_TURNING_END = DLS_TABLE_TURNING + 6,
    /* columns of dls_reaction_row, a row per joint that acted and frame */
    DLS_TABLE_REACTIONS = DLS_TABLE_TURNING_END,
    DLS_TABLE_REACTIONS_END = DLS_TABLE_REACTIONS + 13,
    /* columns of dls_node_record, a row per node of a solid and frame */
    DLS_TABLE_NODES = DLS_TABLE_REACTIONS_END,
    DLS_TABLE_NODES_STRESS = DLS_TABLE_NODES + 4,           /* not in files of version 6 */
    DLS_TABLE_NODES_PRINCIPAL = DLS_TABLE_NODES_STRESS + 1, /* not in files of versions 6 to 8 */
    DLS_TABLE_NODES_END = DLS_TABLE_NODES_PRINCIPAL + 1,
    /* columns of dls_gradient_record, a row per solid that deforms alike everywhere and frame */
    DLS_TABLE_GRADIENTS = DLS_TABLE_NODES_END,
    DLS_TABLE_GRADIENTS_END = DLS_TABLE_GRADIENTS + 3,
    /* what joints add to the history: no rows where there are none, else one for every step */
    DLS_TABLE_JOINT_STEPS = DLS_TABLE_GRADIENTS_END,
    /* a row each: frame, step, finished run */
    DLS_TABLE_FRAMES,
    DLS_TABLE_STEPS,
    DLS_TABLE_SUMMARY,
    /* 0, 1, 2, …: the numbers of a frame's points, for the XDMF alone; no reader of ours looks at it */
    DLS_TABLE_INDEX,
    DLS_TABLES
} dls_table_name;

extern const dls_table_layout dls_table_layouts[DLS_TABLES];

/* A frame's rows in the states, contacts, reactions, nodes and gradients. Rows of frames follow each other
 * without gaps. */
typedef struct dls_frame_row {
    int64_t step; /* −1 where a row was not written yet */
    double time;
    int64_t state_start, contact_start, reaction_start, node_start, gradient_start;
    int32_t state_count, contact_count, reaction_count, node_count, gradient_count;
} dls_frame_row;

typedef struct dls_state_row {
    int32_t body;
    float radius; /* for pictures: of the ball about the mass centre that holds the body, 0 for obstacles */
    dls_body_state state;
    dls_pose contact_pose;
} dls_state_row;

typedef struct dls_contact_row {
    dls_contact_record record;
    double world_impulse[3], world_torque[3];
} dls_contact_row;

typedef struct dls_reaction_row {
    dls_joint_record record;
    double world_impulse[3], world_torque[3];
} dls_reaction_row;

/* What joints add to a step's report. */
typedef struct dls_joint_step_row {
    int32_t joints, rows, rows_at_bound, broken;
    double gap, spring, motors, lost;
} dls_joint_step_row;

typedef struct dls_body_row {
    int motion;
    int32_t shape_start, shape_count;
    double radius;
    dls_body_mass mass;
} dls_body_row;

typedef struct dls_shape_row {
    int32_t body;
    int kind;
    dls_pose pose;
    double radius, length, size[3], at;
    int32_t material;
    uint32_t group, collides;
    bool closed;
    int64_t point_start, triangle_start;
    int32_t point_count, triangle_count;
} dls_shape_row;

typedef struct dls_material_row {
    double density, mu, e_n, e_t, cohesion;
    dls_turning_def turning;
} dls_material_row;

typedef struct dls_pair_row {
    int32_t a, b;
    dls_pair_def pair;
    bool stated;
} dls_pair_row;

/* A joint as it was added; of freedoms a number each. */
typedef struct dls_joint_def_row {
    int kind;
    int32_t body[2];
    dls_pose frame[2];
    double length, ratio, radius, cone, break_force, break_torque;
    bool rope, conserving, collide;
    int32_t one_sided[DLS_FREEDOMS];
    double p[DLS_FREEDOMS], d[DLS_FREEDOMS], i[DLS_FREEDOMS], max_force[DLS_FREEDOMS];
    double stiffness[DLS_FREEDOMS], damping[DLS_FREEDOMS], rest[DLS_FREEDOMS];
    double low[DLS_FREEDOMS], high[DLS_FREEDOMS], restitution[DLS_FREEDOMS];
    double friction[DLS_FREEDOMS], friction_mu[DLS_FREEDOMS], friction_radius[DLS_FREEDOMS];
} dls_joint_def_row;

#endif
