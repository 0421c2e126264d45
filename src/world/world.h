/* Inside the world: rows of arrays that the other rooms read, in an order that does not depend on the order
 * in which bodies were added.
 *
 * A body waits in `entries` until its birth; at the beginning of a step dls_world_settle() takes those that
 * are due into the rows, sorted along a Morton curve of their places, behind the rows that are there; rows of
 * bodies that leave close up. So rows are canonical, neighbours in space are neighbours in memory, and the
 * order of rows never changes between two that stay. */
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "world/shape.h"

#include <delassus/world.h>

typedef struct dls_body {
    dls_body_id id;
    int uid; /* of the row: ascending, never used again; what contacts are known by */
    dls_motion motion;
    uint8_t locked; /* bit k: freedom k of dls_body_def.locked */
    int shape_first, shape_count;
    double mass;            /* infinite where not dynamic */
    double inverse_mass;    /* 0 where not dynamic */
    double inertia[3];      /* principal moments, kg m² */
    double inertia_root[3]; /* 1/√ of them, 0 where not dynamic */
    double axes[9];         /* principal axes in the body's frame, columns */
    double radius; /* of the ball about the mass centre that holds all shapes, INFINITY without bound */
} dls_body;

/* What a body was told, by id. */
typedef struct dls_body_entry {
    char *name;
    dls_presence presence;
    int row; /* −1 unless present */
    bool leaving;
    dls_body body;        /* as it will stand in its row */
    dls_body_state state; /* before it has a row, and after it had one */
    dls_shape *shapes;    /* copied into rows, geometry owned here */
    double centre[3], frame[4];
    double birth, death;
    dls_function *force[3], *torque[3];
    dls_drive drive[6];
    dls_pose start;        /* mass centre and orientation at birth: what driven positions count from */
    double servo_force[3]; /* of contacts on the body in the last step, N */
    bool has_forces;
} dls_body_entry;

typedef struct dls_material {
    char *name;
    dls_material_def def;
} dls_material;

struct dls_world {
    dls_world_def def;
    int entry_count, entry_capacity;
    dls_body_entry *entries;
    int body_count, body_capacity; /* rows */
    dls_body *bodies;
    dls_body_state *states;
    int shape_count, shape_capacity;
    dls_shape *shapes; /* rows, those of one body together, in the order of bodies */
    int next_uid;
    int material_count;
    dls_material *materials;
    dls_pair_def *pairs; /* material_count², symmetric, mixed where not stated */
    uint8_t *pair_stated;
    bool unsettled; /* an entry is waiting, leaving or may die */
};

/* Bodies that are born at or before t and those that leave or die change rows. changed tells whether any did.
 */
dls_status dls_world_settle(dls_world *world, double t, bool *changed, dls_error *error);

/* v and w of driven rows for a step from t to t + h: constant over it, and such that a driven position is met
 * at its end. */
void dls_world_drive(dls_world *world, double t, double h);

/* Force and torque about the mass centre on a dynamic row at time t: gravity and what is applied. */
void dls_world_force(const dls_world *world, int row, double t, double *force, double *torque);

#endif
