/* The check of a scene, over several files. */
#ifndef SCENE_CHECK_H
#define SCENE_CHECK_H

#include "world/world.h"

#include <delassus/scene.h>

enum { DLS_CHECK_LINES = 5 }; /* of one kind; the rest is counted */

typedef struct dls_check {
    dls_scene *scene;
    const dls_world *world;
    void (*warn)(const char *line, void *user);
    void *user;
    int warnings;
    double h, g; /* step, |gravity| */
} dls_check;

__attribute__((format(printf, 2, 3))) void dls_check_warn(dls_check *check, const char *format, ...);
/* 'name' or "body 7" */
const char *dls_check_label(const dls_check *check, dls_body_id id, char *text, size_t size);

/* Bodies that are born into others: static ones, and those that come in the same step. The world is settled
 * at t = 0. */
dls_status dls_check_births(dls_check *check, dls_error *error);
/* Bodies that start on the back of a mesh or a chain. */
void dls_check_meshes(dls_check *check);
/* Bodies whose shapes overlap. */
void dls_check_compounds(dls_check *check);

#endif
