/* What the files of this room share among themselves. */
#ifndef WORLD_PARTS_H
#define WORLD_PARTS_H

#include "world/world.h"

char *dls_text_copy(const char *text); /* to be freed; NULL when memory is out */

/* ---- masses ---- */

/* Parallel axis: I += m (d·d 1 − d dᵀ). */
void dls_inertia_move(double *inertia, double mass, const double *d);
/* I ← R I Rᵀ */
void dls_inertia_turn(double *inertia, const double *R);
/* Moments in no order; axes are right-handed columns. */
void dls_inertia_principal(const double *inertia, double *moments, double *axes);
/* Mass, inertia and centre of def's shapes (their poses in the body's frame), or as given. */
dls_status dls_body_weigh(const dls_world *world, const dls_body_def *def, const dls_shape *shapes,
                          dls_body_mass *mass, dls_error *error);

/* ---- tree of boxes over segments (two corners) or triangles (three) ---- */

dls_tree *dls_tree_create(int corners, const double *vertex, int count, const int *element);
void dls_tree_destroy(dls_tree *tree); /* NULL is fine */

/* ---- checks ---- */

dls_status dls_pose_check(const char *what, const dls_pose *pose, int dimension, dls_error *error);
bool dls_vec_is_finite(const double *x, int count);
/* Place and orientation in this world, and velocities that the body can have. */
dls_status dls_body_state_check(const dls_world *world, const dls_body *body, const dls_body_state *state,
                                dls_error *error);
/* A state that was checked becomes the body's own; driven positions go on from it. */
void dls_state_take(dls_world *world, dls_body_id id, const dls_body_state *state);

/* ---- bodies ---- */

dls_status dls_drives_check(const dls_world *world, const dls_body_def *def, dls_error *error);
/* Takes the functions of def; *told is NULL where there are none. On failure they still belong to def. */
dls_status dls_told_create(const dls_body_def *def, dls_body_told **told, dls_error *error);
void dls_told_destroy(dls_body_told *told);
/* Where driven positions count from: at birth, and after a state was set from outside. */
void dls_told_begin(dls_body_told *told, const dls_body_state *state);
void dls_told_restart(dls_body_told *told, const dls_body_state *before, const dls_body_state *now);
void dls_functions_destroy(const dls_body_def *def); /* all those that a definition names */

/* ---- places of functions: forces, torques, then position, velocity and force of each drive ---- */

enum { DLS_TOLD_BELTS = 24, DLS_TOLD_PLACES };
dls_function *dls_told_at(const dls_body_told *told, int place); /* NULL where there is none */
const char *dls_told_noun(int place);                            /* "torque" */
const char *dls_freedom_name(int freedom);                       /* "rotation about x" */
bool dls_told_has_callback(const dls_body_told *told);

/* A walk over all callbacks of a world, by ids and places; next says no behind the last. */
typedef struct dls_callback_place {
    int told, place; /* the body is told_ids[told] */
} dls_callback_place;
static const dls_callback_place dls_callback_first = {0, -1};
bool dls_callback_next(const dls_world *world, dls_callback_place *at);

/* Room for so many bodies and shapes in the arrays. */
dls_status dls_world_reserve(dls_world *world, int bodies, int shapes, dls_error *error);
dls_status dls_world_reserve_entries(dls_world *world, dls_error *error); /* for one more id */
/* Room for one more name; the name of an id; the id of a name, −1: none. */
dls_status dls_world_reserve_names(dls_world *world, dls_names *names, dls_error *error);
void dls_world_add_name(dls_world *world, dls_names *names, int id);
int dls_world_find_name(const dls_world *world, const dls_names *names, const char *name);
/* Body and shapes into a block; geometry moves along. */
dls_body_kept *dls_kept_create(const dls_body *body, const dls_body_state *state, const dls_shape *shapes);
const char *dls_body_label(const dls_world *world, dls_body_id id, char *text, size_t size);

#endif
