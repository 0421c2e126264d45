/* Joints: what holds two bodies together, what drives them against each other, and what resists.
 *
 * A joint has a frame on each of its two bodies, A and B. Six numbers say how B's frame stands in A's: where
 * its origin is along the axes 1, 2, 3 of A's frame, and how it is turned about them. A kind holds some of
 * these freedoms and leaves the others free:
 *
 *     kind             held                                   free
 *     fixed            all
 *     spherical        translations                           4 5 6: the vector of rotation
 *     revolute         all but                                4: angle about axis 1, turns are counted
 *     prismatic        all but                                1: way along axis 1
 *     cylindrical      all but                                1 and 4
 *     planar           1, 5, 6: axis 1 is the normal          2, 3 and 4
 *     universal        translations, and axis 1 of A stays    4 about axis 1 of A, 5 about axis 2 of B
 *                      at a right angle to axis 2 of B
 *     point-on-line    2 and 3: axis 1 is the line            1, and 4 5 6
 *     point-on-plane   1: axis 1 is the normal                2, 3, and 4 5 6
 *     distance         the distance of the two origins        (a rope: 1, the distance, no more than length)
 *     spring           nothing                                1: the distance of the two origins
 *     bushing          nothing                                all six
 *     gear             the turns of A about its axis 1 and of B about its axis 1:  ω_A + ratio ω_B = 0
 *     rack             the turn of A about its axis 1 and the way of B along its axis 1:  ratio ω_A = v_B
 *                      (both against the ground, or against what carries their axes: `carried`)
 *     rolling          a wheel, B, of a radius about its axis 1 rolls on the plane of A with normal axis 1:
 *                      it touches, and the point that touches does not slide (velocity level)
 *     rolling-ball     a ball, B, of a radius about its origin rolls on the plane of A with normal axis 1:
 *                      likewise; in space, for in the plane a ball is a wheel
 *
 * In the plane there are the freedoms within it: a revolute joint turns about z, and so does a wheel.
 * Each free freedom may have an actuator, a spring, limits and friction (dls_freedom_def). */
#ifndef DELASSUS_JOINT_H
#define DELASSUS_JOINT_H

#include <delassus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dls_joint_kind {
    DLS_JOINT_FIXED = 0,
    DLS_JOINT_SPHERICAL,
    DLS_JOINT_REVOLUTE,
    DLS_JOINT_PRISMATIC,
    DLS_JOINT_CYLINDRICAL,
    DLS_JOINT_PLANAR,
    DLS_JOINT_UNIVERSAL,
    DLS_JOINT_POINT_ON_LINE,
    DLS_JOINT_POINT_ON_PLANE,
    DLS_JOINT_DISTANCE,
    DLS_JOINT_SPRING,
    DLS_JOINT_BUSHING,
    DLS_JOINT_GEAR,
    DLS_JOINT_RACK,
    DLS_JOINT_ROLLING,
    DLS_JOINT_ROLLING_BALL,
    DLS_JOINT_KINDS
} dls_joint_kind;

typedef int dls_joint_id; /* 0, 1, … in the order of dls_world_add_joint; −1 for none */

enum { DLS_GROUND = -1, DLS_FREEDOMS = 6 };

DLS_API const char *dls_joint_kind_name(dls_joint_kind kind);    /* "revolute" */
DLS_API const char *dls_joint_kind_summary(dls_joint_kind kind); /* what it holds and leaves, in a line */
/* Bit k: freedom k is free and may have an actuator, a spring, limits and friction, in a world of this
 * dimension. */
DLS_API uint8_t dls_joint_kind_free(dls_joint_kind kind, int dimension);

/* What acts on a free freedom; all 0 and NULL: nothing. Forces are torques where the freedom is a rotation.
 *
 * One actuator at most: a drive by position or velocity (held to it, within max_force), or a motor (a force,
 * or a servo: force + p (target − coordinate) + d (rate of target − speed) + i ∫ (target − coordinate) dt,
 * within max_force). Its servo part and springs are implicit in time: stiff ones do not limit the step.
 * Functions are owned by the world from then on, also when the call fails; no two places may share one. */
typedef struct dls_freedom_def {
    dls_function *position;    /* drive: the coordinate, met to second order in the step */
    dls_function *velocity;    /* drive: the speed at the end of every step */
    dls_function *force;       /* motor: N or N m */
    dls_function *target;      /* servo: the coordinate that it is to have; needs p, d or i */
    double p, d, i;            /* servo: N/m, N s/m, N/(m s), or N m/rad, … */
    double max_force;          /* of the actuator; 0: no limit */
    double stiffness, damping; /* spring and damper: N/m, N s/m, or N m/rad, N m s/rad */
    double rest;               /* coordinate at which the spring is at rest; of distances the length */
    int one_sided;             /* spring: +1 pulls only, −1 pushes only, 0 both */
    double low, high;          /* limits of the coordinate; low = high = 0: none; ±INFINITY: one side */
    double restitution;        /* of the limits */
    double friction;           /* largest force of dry friction */
    double friction_mu; /* friction from the joint's own load F: μ F, or μ · radius · F of rotations */
    double friction_radius; /* m */
} dls_freedom_def;

typedef struct dls_joint_def {
    const char *name; /* copied; NULL: none */
    dls_joint_kind kind;
    dls_body_id body[2]; /* A, B; one of them may be DLS_GROUND */
    dls_pose frame[2];   /* in the frames of their bodies, of the world for the ground */
    dls_freedom_def freedom[DLS_FREEDOMS];
    double length;   /* distance: m; 0: as far apart as the origins are when the joint is added */
    bool rope;       /* distance: the origins may come nearer */
    double ratio;    /* gear, rack (m) */
    bool carried;    /* gear, rack: what carries their axes moves; origins of frames stand on the axes */
    double radius;   /* rolling: of the wheel or ball, m */
    double cone;     /* spherical: largest angle between the axes 1 of A and B, rad; 0: any */
    bool conserving; /* u⁺ = −u⁻ of the held freedoms instead of u⁺ = −gap/h: keeps the energy */
    double at[2];    /* where on a body that is a solid, whose frame is that of this place; see solid.h */
    bool collide;    /* the two bodies touch each other; by default those of a joint do not */
    double break_force, break_torque; /* the joint is gone in the step after it carried more; 0: never */
} dls_joint_def;

DLS_API dls_joint_def dls_default_joint_def(dls_joint_kind kind);

/* Fills the frames of a joint whose bodies stand as they are to be held: both origins at a point of the
 * world, axis 1 along `axis`, axis 2 as near to `second` as a right angle allows (NULL: any; of a universal
 * joint the axis of B). In the plane axis 1 of turns is z, whatever is given. */
DLS_API dls_status dls_joint_place(const dls_world *world, dls_joint_def *def, const double *point,
                                   const double *axis, const double *second, dls_error *error);

DLS_API dls_status dls_world_add_joint(dls_world *world, const dls_joint_def *def, dls_joint_id *id,
                                       dls_error *error);
/* It acts no more from the next step on. */
DLS_API dls_status dls_world_remove_joint(dls_world *world, dls_joint_id id, dls_error *error);

DLS_API int dls_world_joint_count(const dls_world *world); /* ids given so far, removed ones included */
DLS_API const char *dls_joint_name(const dls_world *world, dls_joint_id id); /* "" for none */
DLS_API dls_joint_id dls_world_find_joint(const dls_world *world, const char *name);
/* As it was added, with the world's own name and without functions. */
DLS_API dls_status dls_joint_get(const dls_world *world, dls_joint_id id, dls_joint_def *def,
                                 dls_error *error);
typedef enum dls_joint_presence {
    DLS_JOINT_WAITS = 0, /* one of its bodies is not there yet */
    DLS_JOINT_ACTS,
    DLS_JOINT_BROKEN, /* by a force or torque */
    DLS_JOINT_GONE    /* removed, or one of its bodies is */
} dls_joint_presence;
DLS_API dls_joint_presence dls_joint_presence_of(const dls_world *world, dls_joint_id id);

/* How a joint stands, by the places and velocities of its bodies. */
typedef struct dls_joint_state {
    double point[3];                 /* origin of B's frame, world axes */
    double frame[9];                 /* columns: axes 1, 2, 3 of A's frame */
    double coordinate[DLS_FREEDOMS]; /* of free freedoms; 0 elsewhere */
    double speed[DLS_FREEDOMS];
    double gap[DLS_FREEDOMS]; /* of held freedoms: by how much they are missed, m or (small) rad */
} dls_joint_state;
DLS_API dls_status dls_joint_state_get(const dls_world *world, dls_joint_id id, dls_joint_state *state,
                                       dls_error *error);

/* Moves dynamic bodies that have not been stepped yet until all joints hold: the least change of places, by
 * masses, and of velocities. moved: the largest way of a mass centre; left: the largest gap that stays. Fails
 * where joints contradict each other, and then nothing has moved. */
typedef struct dls_assembled {
    int iterations, bodies; /* bodies that moved */
    double moved, turned;   /* m, rad */
    double sped;            /* m/s */
    double left;            /* m */
} dls_assembled;
DLS_API dls_status dls_world_assemble_joints(dls_world *world, dls_assembled *report, dls_error *error);

#ifdef __cplusplus
}
#endif
#endif
