/* The worlds that the corpus of fuzz_checkpoint.c is of; a checkpoint's title says of which. */
#ifndef DELASSUS_TESTS_SUPPORT_CHECKPOINT_WORLD_H
#define DELASSUS_TESTS_SUPPORT_CHECKPOINT_WORLD_H

#include <delassus/world.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct checkpoint_body {
    dls_motion motion;
    dls_shape_def shape;
    double x, y, z, birth, death;
} checkpoint_body;

static inline void checkpoint_world_add(dls_world *world, const dls_body_def *body) {
    dls_body_id id;
    dls_error error = {0};
    if (!dls_world_add_body(world, body, &id, &error)) return;
    fprintf(stderr, "%s\n", error.message);
    abort();
}

static inline void checkpoint_world_fill(dls_world *world, const checkpoint_body *list, size_t count) {
    for (size_t k = 0; k < count; k++) {
        dls_body_def body = dls_default_body_def();
        body.motion = list[k].motion;
        body.shapes = &list[k].shape;
        body.shape_count = 1;
        body.pose.x[0] = list[k].x, body.pose.x[1] = list[k].y, body.pose.x[2] = list[k].z;
        body.birth = list[k].birth;
        body.death = list[k].death > 0 ? list[k].death : HUGE_VAL;
        checkpoint_world_add(world, &body);
    }
}

static inline dls_shape_def checkpoint_shape(dls_shape_kind kind, double radius, double length, double a,
                                             double b, double c) {
    dls_shape_def def = dls_default_shape_def(kind);
    def.radius = radius;
    def.length = length;
    def.size[0] = a, def.size[1] = b, def.size[2] = c;
    return def;
}

/* start + slope · t, up to a second. */
static inline dls_function *checkpoint_function(double start, double slope) {
    const double t[] = {0, 1}, value[] = {start, start + slope};
    dls_function *f = NULL;
    if (dls_function_table(2, t, value, &f, NULL)) abort();
    return f;
}

/* A ball on the ground, and one that comes later. */
static inline void checkpoint_balls(dls_world *world) {
    dls_shape_def ground = checkpoint_shape(DLS_HALF_SPACE, 0, 0, 0, 0, 0),
                  ball = checkpoint_shape(DLS_SPHERE, 0.1, 0, 0, 0, 0);
    const checkpoint_body list[] = {{DLS_STATIC, ground, 0, 0, 0, 0, 0},
                                    {DLS_DYNAMIC, ball, 0, 0, 0.1, 0, 0},
                                    {DLS_DYNAMIC, ball, 1, 0, 0.1, 0.02, 0}};
    checkpoint_world_fill(world, list, sizeof list / sizeof *list);
}

/* Pairs that remember: hulls, a mesh, round bodies of all kinds, on a plate that turns and beside a servo. */
static inline void checkpoint_shapes(dls_world *world) {
    static const double corners[] = {0,     0,    0.1,  0.1,   0, -0.05, -0.1, 0.1,
                                     -0.05, -0.1, -0.1, -0.05, 0, 0,     -0.12};
    static const double floor_points[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0.01, -1, 1, 0};
    static const int floor_triangles[] = {0, 1, 2, 0, 2, 3};
    dls_shape_def plate = checkpoint_shape(DLS_BOX, 0, 0, 0.8, 0.8, 0.1),
                  box = checkpoint_shape(DLS_BOX, 0, 0, 0.2, 0.2, 0.2),
                  can = checkpoint_shape(DLS_CYLINDER, 0.1, 0.2, 0, 0, 0),
                  egg = checkpoint_shape(DLS_ELLIPSOID, 0, 0, 0.1, 0.08, 0.06),
                  capsule = checkpoint_shape(DLS_CAPSULE, 0.05, 0.2, 0, 0, 0),
                  stone = checkpoint_shape(DLS_POLYHEDRON, 0, 0, 0, 0, 0),
                  mesh = checkpoint_shape(DLS_MESH, 0, 0, 0, 0, 0);
    stone.points = corners, stone.point_count = 5;
    mesh.points = floor_points, mesh.point_count = 4;
    mesh.triangles = floor_triangles, mesh.triangle_count = 2;
    const checkpoint_body list[] = {{DLS_STATIC, mesh, 0, 0, 0, 0, 0},
                                    {DLS_DYNAMIC, box, 0, 0.1, 0.2, 0, 0},
                                    {DLS_DYNAMIC, can, 0, -0.15, 0.2, 0, 0},
                                    {DLS_DYNAMIC, egg, 0.7, 0, 0.06, 0, 0},
                                    {DLS_DYNAMIC, capsule, 0.7, 0.5, 0.15, 0, 0},
                                    {DLS_DYNAMIC, stone, 0, 0.1, 0.42, 0, 0.03},
                                    {DLS_DYNAMIC, egg, 0.85, 0, 0.06, 0.02, 0},
                                    {DLS_DYNAMIC, can, 0.7, -0.5, 0.1, 0, 0},
                                    {DLS_DYNAMIC, box, -0.9, 0.4, 0.1, 0, 0},
                                    {DLS_DYNAMIC, stone, 0.95, -0.5, 0.12, 0, 0}};
    dls_body_def body = dls_default_body_def();
    body.motion = DLS_DRIVEN;
    body.shape_count = 1;
    body.shapes = &plate;
    body.pose.x[2] = 0.05;
    body.drive[5].position = checkpoint_function(0, 0.5);
    checkpoint_world_add(world, &body);
    checkpoint_world_fill(world, list, sizeof list / sizeof *list);
    body = dls_default_body_def();
    body.motion = DLS_DRIVEN;
    body.shape_count = 1;
    body.shapes = &box;
    body.pose.x[0] = 0.2, body.pose.x[1] = 0.1, body.pose.x[2] = 0.22;
    body.drive[0] = (dls_drive){.force = checkpoint_function(-1, 0), .gain = 0.1, .max_speed = 1};
    checkpoint_world_add(world, &body);
}

static inline void checkpoint_plane(dls_world *world) {
    static const double triangle[] = {-0.1, -0.1, 0, 0.1, -0.1, 0, 0, 0.1, 0};
    static const double slope[] = {2, 0.2, 0, 0, 0, 0, -2, 0.1, 0};
    dls_shape_def chain = checkpoint_shape(DLS_CHAIN, 0, 0, 0, 0, 0),
                  wedge = checkpoint_shape(DLS_POLYGON, 0, 0, 0, 0, 0),
                  disc = checkpoint_shape(DLS_DISC, 0.1, 0, 0, 0, 0);
    chain.points = slope, chain.point_count = 3;
    wedge.points = triangle, wedge.point_count = 3;
    const checkpoint_body list[] = {{DLS_STATIC, chain, 0, 0, 0, 0, 0},
                                    {DLS_DYNAMIC, wedge, 0.3, 0.14, 0, 0, 0},
                                    {DLS_DYNAMIC, wedge, 0.4, 0.15, 0, 0, 0},
                                    {DLS_DYNAMIC, disc, -0.2, 0.11, 0, 0, 0.03},
                                    {DLS_DYNAMIC, disc, -0.4, 0.12, 0, 0.02, 0}};
    checkpoint_world_fill(world, list, sizeof list / sizeof *list);
}

static const struct {
    const char *title;
    int dimension;
    double period; /* along x */
    void (*fill)(dls_world *world);
} checkpoint_worlds[] = {{"balls", 3, 0, checkpoint_balls},
                         {"shapes", 3, 2, checkpoint_shapes},
                         {"plane", 2, 4, checkpoint_plane}};

enum { CHECKPOINT_WORLDS = sizeof checkpoint_worlds / sizeof *checkpoint_worlds };

/* The first one for a title that none has. */
static inline dls_world *checkpoint_world(const char *title) {
    int which = 0;
    for (int k = 0; k < CHECKPOINT_WORLDS; k++)
        if (!strcmp(title, checkpoint_worlds[k].title)) which = k;
    dls_world_def def = dls_default_world_def();
    dls_world *world = NULL;
    def.dimension = checkpoint_worlds[which].dimension;
    def.gravity[2] = 0;
    def.gravity[def.dimension - 1] = -9.81;
    def.period_low[0] = -checkpoint_worlds[which].period / 2;
    def.period_size[0] = checkpoint_worlds[which].period;
    if (dls_world_create(&def, &world, NULL)) abort();
    checkpoint_worlds[which].fill(world);
    return world;
}

#endif
