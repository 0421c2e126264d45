/* A scene that every engine can hold, as bench/peers/scenes.py writes it, and the loop that all of them run.
 *
 * Solids are boxes and spheres with their mass centre in the middle, of mass 0 where they stand still;
 * everything below a plane n · x = d is solid. Joints hold two bodies as they stand at the start, and these
 * do not touch each other. A program is called as
 *
 *     peer_NAME SCENE SETTING MOST_SECONDS
 *
 * and prints states as text, see peer_run. */
#ifndef DELASSUS_BENCH_PEERS_SCENE_H
#define DELASSUS_BENCH_PEERS_SCENE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct peer_state {
    double x[3], q[4], v[3], w[3]; /* q = (w, x, y, z); w in world axes */
} peer_state;

typedef struct peer_body {
    bool is_box;
    double size[3];          /* edges; of a sphere its diameter, three times */
    double mass, inertia[3]; /* mass 0: it stands still */
    peer_state state;
} peer_body;

typedef struct peer_plane {
    double normal[3], offset;
} peer_plane;

typedef enum peer_joint_kind { PEER_BALL, PEER_HINGE, PEER_SLIDER } peer_joint_kind;

/* The coordinate, 0 at the start, is how far the second body has turned about the axis against the first, or
 * moved along it. Numbers that are 0 stand for nothing. */
typedef struct peer_joint {
    peer_joint_kind kind;
    int body[2];               /* −1: the world */
    double point[3], axis[3];  /* in the world */
    double low, high;          /* limits of the coordinate */
    double speed, force;       /* motor: holds this speed with at most this force, N or N m */
    double stiffness, damping; /* spring of a slider, at rest at 0 */
} peer_joint;

typedef struct peer_scene {
    double gravity[3], step, mu, e;
    int steps, every; /* states are told every so many steps */
    int plane_count, body_count, joint_count;
    peer_plane *planes;
    peer_body *bodies;
    peer_joint *joints;
} peer_scene;

/* Leaves the program with a message where the file is not a scene. */
peer_scene peer_scene_read(const char *path);
void peer_scene_free(peer_scene *scene);

/* The turn that takes z to the normal. */
void peer_plane_turn(const peer_plane *plane, double q[4]);

typedef struct peer_engine {
    void *self;
    void (*step)(void *self);
    void (*state)(void *self, int body, peer_state *state);
} peer_engine;

/* Steps to the end, or until stepping took so many seconds of processor time. Prints "frame STEP SECONDS" and
 * then the 13 numbers of each body, one body per line; SECONDS are those of steps alone. */
void peer_run(const peer_scene *scene, const peer_engine *engine, double most_seconds);

/* The number behind the colon of "name:number". */
double peer_setting_number(const char *setting);
void peer_give_up(const char *message);

#ifdef __cplusplus
}
#endif
#endif
