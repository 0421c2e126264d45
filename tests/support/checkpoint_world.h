/* The world that the corpus of fuzz_checkpoint.c is of: a ball on the ground, and one that comes later. */
#ifndef DELASSUS_TESTS_SUPPORT_CHECKPOINT_WORLD_H
#define DELASSUS_TESTS_SUPPORT_CHECKPOINT_WORLD_H

#include <delassus/world.h>

#include <stdio.h>
#include <stdlib.h>

static inline void checkpoint_world_add(dls_world *world, const dls_body_def *body) {
    dls_body_id id;
    dls_error error = {0};
    if (!dls_world_add_body(world, body, &id, &error)) return;
    fprintf(stderr, "%s\n", error.message);
    abort();
}

static inline dls_world *checkpoint_world(void) {
    dls_world_def def = dls_default_world_def();
    dls_world *world = NULL;
    dls_shape_def ball = dls_default_shape_def(DLS_SPHERE), ground = dls_default_shape_def(DLS_HALF_SPACE);
    dls_body_def body = dls_default_body_def();
    def.gravity[2] = -9.81;
    if (dls_world_create(&def, &world, NULL)) abort();
    body.shape_count = 1;
    body.shapes = &ground;
    body.motion = DLS_STATIC;
    checkpoint_world_add(world, &body);
    body.motion = DLS_DYNAMIC;
    body.shapes = &ball;
    ball.radius = 0.1;
    body.pose.x[2] = 0.1;
    checkpoint_world_add(world, &body);
    body.pose.x[0] = 1;
    body.birth = 0.02;
    checkpoint_world_add(world, &body);
    return world;
}

#endif
