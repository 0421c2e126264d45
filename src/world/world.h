/* Inside the world: rows of arrays that the other rooms read, in an order that does not depend on the order
 * in which bodies were added.
 *
 * A body waits until its birth; at the beginning of a step dls_world_settle() takes those that are due into
 * the rows, sorted along a Morton curve of their places, behind the rows that are there; rows of bodies that
 * leave close up. So rows are canonical, neighbours in space are neighbours in memory, and the order of rows
 * never changes between two that stay.
 *
 * Where a body is: in its row; staged behind the rows in the same arrays, when the next step may take it in;
 * or in a block of its own, when it waits for long or is gone. */
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "world/shape/shape.h"

#include <delassus/world.h>

typedef struct dls_body {
    dls_body_id id;
    int uid; /* of the row: ascending, never used again; what contacts are known by */
    dls_motion motion;
    uint8_t
        locked; /* bit k: freedom k of dls_body_def.locked; in the plane z and rotations about x and y too */
    bool has_forces; /* functions of time push it */
    bool has_belts;  /* its belts follow a function of time */
    bool is_solid;   /* it deforms: world/solid/solid.h */
    int shape_first, shape_count;
    double mass;            /* infinite where not dynamic */
    double inverse_mass;    /* 0 where not dynamic */
    double inertia[3];      /* principal moments, kg m² */
    double inertia_root[3]; /* 1/√ of them, 0 where not dynamic */
    double axes[9];         /* principal axes in the body's frame, columns */
    double radius; /* of the ball about the mass centre that holds all shapes, INFINITY without bound */
} dls_body;

/* What few bodies have: forces, drives, and belts that change their speed. */
typedef struct dls_body_told {
    dls_function *force[3], *torque[3];
    dls_drive drive[6];
    dls_function *belts;
    double belts_now; /* its value in the middle of the step */
    bool has_servo, has_callback;
    dls_pose start;           /* mass centre and orientation at birth: what driven positions count from */
    double moved[6];          /* driven positions reached so far */
    double moved_before[6];   /* and before the step that reached them */
    double servo_speed[3];    /* of this step without contacts, m/s, where a servo is */
    double servo_mobility[3]; /* what an impulse adds to it, 1/kg; 0 where none is */
} dls_body_told;

/* A body without a row. */
typedef struct dls_body_kept {
    dls_body body;
    dls_body_state state;
    dls_shape shapes[];
} dls_body_kept;

/* One per id. */
typedef struct dls_body_entry {
    char *name;
    dls_body_told *told; /* NULL where neither forces nor drives are */
    dls_body_kept *kept; /* NULL while the body stands in the arrays */
    dls_presence presence;
    int row;  /* −1 unless present */
    int slot; /* in bodies and states: the row, or where it is staged; −1 when kept */
    bool leaving;
    int solid;        /* index, −1: rigid */
    int first_joint;  /* of the list of those that the body has; −1: none */
    double centre[3]; /* of mass, in the body's frame */
    double birth, death;
} dls_body_entry;

typedef struct dls_joint dls_joint;
struct dls_solid;
struct dls_spot;

typedef struct dls_material {
    char *name;
    dls_material_def def;
} dls_material;

/* Ids by hash of name, open addressing. */
typedef struct dls_names {
    int *ids; /* −1 free */
    int count, capacity;
} dls_names;

struct dls_world {
    dls_world_def def;
    int entry_count;
    int64_t entry_capacity;
    dls_body_entry *entries;
    int body_count; /* rows */
    int64_t body_capacity;
    int staged_count; /* bodies behind them */
    dls_body *bodies;
    dls_body_state *states;
    int shape_count;
    int64_t shape_capacity;
    int staged_shapes;
    dls_shape *shapes; /* rows, those of one body together, in the order of bodies */
    int next_uid;
    int material_count;
    dls_material *materials;
    dls_pair_def *pairs; /* material_count², symmetric, mixed where not stated */
    uint8_t *pair_stated;
    int joint_count;
    int64_t joint_capacity;
    dls_joint *joints;     /* by id */
    int64_t joint_changes; /* joints that came and went so far */
    int solid_count;
    int64_t solid_capacity;
    struct dls_solid *solids;
    int64_t freedom_count, freedom_capacity; /* of all solids */
    double *q, *u;                           /* theirs, one solid after the other */
    int spot_count;
    int64_t spot_capacity;
    struct dls_spot *spots; /* places on solids: of their shapes, of joints */
    int told_count;
    int64_t told_capacity;
    dls_body_id *told_ids; /* of entries that have forces or drives */
    dls_names names, joint_names;
    bool has_belts;     /* a shape had one at some time */
    bool unsettled;     /* an entry is staged or leaving */
    double next_change; /* first birth or death to come */
    double settled;     /* last t of dls_world_settle, −INFINITY before */
    int first_fed;      /* id of the first body that inlets make: a state may lack it and those behind */
};

/* Bodies that are born at or before t and those that leave or die change rows. changed tells whether any did.
 */
dls_status dls_world_settle(dls_world *world, double t, bool *changed, dls_error *error);

/* Whether the row's body leaves when the world settles at t. */
bool dls_world_row_ends(const dls_world *world, int row, double t);
/* Whether settling at t may change anything. */
bool dls_world_is_due(const dls_world *world, double t);

/* Times of a step at which functions are needed. */
typedef struct dls_asked_times {
    double end, middle; /* of drives */
    double force[4];    /* of forces and torques; the first also where forces are measured */
    int force_count;
} dls_asked_times;

/* Asks all callbacks of bodies that take part for all values that a step needs, on this thread, before
 * anything moves: what follows recalls them. Fails where one does, or gives no finite number. */
dls_status dls_world_ask(const dls_world *world, const dls_asked_times *times, dls_error *error);

/* v and w of driven rows for a step of length h that ends at a time: constant over it, and such that a driven
 * position is met there. Fails where a function gives no finite number. */
dls_status dls_world_drive(dls_world *world, double end, double h, dls_error *error);
/* After the step has moved driven rows by v and w: puts them at their driven positions to the last bit. */
void dls_world_drive_finish(dls_world *world, double end);
/* Velocity of a shape's belt in the shape's frame: by belt[0] of what it has, and that grows at belt[1] 1/s.
 * Steps of impulse schemes take that of their middle, as dls_world_drive left it. */
typedef struct dls_belt_run {
    double factor, rate;
} dls_belt_run;
dls_belt_run dls_world_belt(const dls_world *world, const dls_shape *shape);
/* The same at time t; the rate is NaN where a function has none. */
dls_belt_run dls_world_belt_at(const dls_world *world, const dls_shape *shape, double t);

/* Of a step that failed after that: driven positions are again those reached before it; states are not
 * touched. */
void dls_world_drive_undo(dls_world *world);

/* Force and torque about the mass centre on a dynamic row at time t: gravity and what is applied. Rows may be
 * asked on several threads at once, one row only on one. Fails where a function gives no finite number. */
dls_status dls_world_force(const dls_world *world, int row, double t, double *force, double *torque,
                           dls_error *error);

/* Largest force at time t, gravity aside (applied, wanted by a servo, of cohesion), over the mean mass of
 * moving bodies, m/s². */
double dls_world_push(const dls_world *world, double t);

/* A servo answers to the impulses r of contacts within the step: along axis k its speed is
 * speed[k] + mobility[k] r, as dls_world_drive left them. False where the row is none. */
bool dls_world_servo(const dls_world *world, int row, double *speed, double *mobility);

/* A body, its state and its shapes wherever it is; NULL for a wrong id. */
const dls_body *dls_world_body(const dls_world *world, dls_body_id id);
dls_body_state *dls_world_state(const dls_world *world, dls_body_id id);
const dls_shape *dls_world_shapes(const dls_world *world, dls_body_id id);

/* Farther from the origin, faster or turning faster than this (SI) nothing goes: squares and products of two
 * such numbers are still numbers. Steps and readers of states fail beyond it. */
#define DLS_FARTHEST 1e60
/* All of count numbers within it; no where one is no number. */
bool dls_vec_is_near(const double *x, int count);

/* Everything about rows, states, drives and presence that later steps depend on, as bytes for a checkpoint; a
 * world of the same definition reads it. What fails leaves the world as it was. */
size_t dls_world_memory_size(const dls_world *world);
void dls_world_memory_write(const dls_world *world, void *bytes);
dls_status dls_world_memory_read(dls_world *world, const void *bytes, size_t size, dls_error *error);

/* The same in two parts, for those who have more to check before anything changes: bytes stay until use or
 * drop, which end the memory and cannot fail. */
typedef struct dls_world_memory dls_world_memory;
/* Bodies that the bytes speak of, −1 where they cannot be. */
int64_t dls_world_memory_bodies(const void *bytes, size_t size);
dls_status dls_world_memory_open(const dls_world *world, const void *bytes, size_t size,
                                 dls_world_memory **memory, dls_error *error);
/* Rows, states and shapes as they are going to be, to look at; entries are still those of world. */
dls_world dls_world_memory_preview(const dls_world *world, const dls_world_memory *memory);
void dls_world_memory_use(dls_world *world, dls_world_memory *memory);
void dls_world_memory_drop(const dls_world *world, dls_world_memory *memory);

#endif
