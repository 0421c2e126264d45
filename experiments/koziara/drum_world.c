/* The drum of paper 000, section 8.1: a pipe of inner radius 1 of 32 flat pieces with two blocks, which turns
 * about y once all grains have been dropped; side walls are half-spaces 2 mm off the pipe and do not turn. A
 * layer of grains is dropped every √(2 · 2.1 r_z/g) at z = 0.25. Spheres would begin 28 mm inside a side
 * wall, as the author's input has them: they begin at its side. Deformable grains have damping η = h. */
#include "experiments/koziara/steps.h"

#include <delassus/solid.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIECES = 32 };
static const double PI = 3.14159265358979323846, GRAVITY = 10;
const double drum_step = 1e-3;

static void turn_about_y(double angle, double *q) {
    q[0] = cos(angle / 2), q[1] = 0, q[2] = sin(angle / 2), q[3] = 0;
}

/* 32 flat pieces whose inner corners lie on radius 1, and two blocks. */
static dls_status add_pipe(dls_world *world, double start, dls_error *error) {
    dls_shape_def shapes[PIECES + 2];
    dls_body_def def = dls_default_body_def();
    char text[64];
    for (int k = 0; k < PIECES + 2; k++) shapes[k] = dls_default_shape_def(DLS_BOX);
    for (int k = 0; k < PIECES; k++) {
        double angle = 2 * PI * k / PIECES, inner = cos(PI / PIECES), middle = inner + 0.025;
        dls_shape_def *s = &shapes[k];
        s->size[0] = 0.05, s->size[1] = 0.5, s->size[2] = 2 * (inner + 0.05) * tan(PI / PIECES);
        s->pose.x[0] = middle * cos(angle), s->pose.x[2] = -middle * sin(angle);
        turn_about_y(angle, s->pose.q);
    }
    for (int k = 0; k < 2; k++) {
        dls_shape_def *s = &shapes[PIECES + k];
        s->size[0] = s->size[2] = 0.2, s->size[1] = 0.5;
        s->pose.x[0] = k ? 0.9 : -0.9;
    }
    snprintf(text, sizeof text, "t < %.17g ? 0 : 1", start);
    def.name = "drum";
    def.motion = DLS_DRIVEN;
    def.pose.x[1] = 0.25;
    def.shapes = shapes, def.shape_count = PIECES + 2;
    dls_status status = dls_function_expression(text, 0, NULL, NULL, &def.drive[4].velocity, error);
    return status ? status : dls_world_add_body(world, &def, NULL, error);
}

static dls_status add_side(dls_world *world, int side, dls_error *error) {
    dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
    dls_body_def def = dls_default_body_def();
    shape.pose.x[1] = side ? 0.502 : -0.002;
    shape.pose.q[0] = sqrt(0.5), shape.pose.q[1] = side ? sqrt(0.5) : -sqrt(0.5); /* z points into the drum */
    def.motion = DLS_STATIC;
    def.shapes = &shape, def.shape_count = 1;
    return dls_world_add_body(world, &def, NULL, error);
}

/* Grains in layers; *ready is when the last one has been dropped. */
static dls_status add_grains(dls_world *world, const drum_def *d, double *ready, dls_error *error) {
    double r0 = cbrt(0.1 / d->count), r[3] = {0.9 * r0, 0.5 * r0, r0}, mean = (r[0] + r[1] + r[2]) / 3;
    double interval = sqrt(2 * 2.1 * r0 / GRAVITY), x0 = -0.7, y0 = 0.05;
    dls_solid_def soft = dls_default_solid_def(DLS_SOLID_PSEUDO_RIGID);
    dls_shape_def shape = dls_default_shape_def(d->spheres ? DLS_SPHERE : DLS_ELLIPSOID);
    dls_status status = DLS_OK;
    if (d->spheres) r[0] = r[1] = r[2] = mean, y0 = fmax(y0, mean);
    memcpy(shape.size, r, sizeof r);
    shape.radius = mean;
    soft.retained = d->spheres;
    int nx = (int)floor((0.7 - x0) / (2 * r[0]) + 1e-9) + 1,
        ny = (int)floor((0.502 - r[1] - y0) / (2 * r[1]) + 1e-9) + 1;
    for (int k = 0; k < d->count && !status; k++) {
        int layer = k / (nx * ny), of = k % (nx * ny);
        dls_body_def def = dls_default_body_def();
        def.shapes = &shape, def.shape_count = 1;
        if (d->soft) def.solid = &soft;
        def.pose.x[0] = x0 + 2 * r[0] * (of % nx), def.pose.x[1] = y0 + 2 * r[1] * (of / nx);
        def.pose.x[2] = 0.25;
        def.birth = layer * interval;
        status = dls_world_add_body(world, &def, NULL, error);
        *ready = (layer + 1) * interval;
    }
    return status;
}

dls_status drum_create(const drum_def *drum, dls_world **world, dls_error *error) {
    dls_world_def def = dls_default_world_def();
    dls_material_def grain = dls_default_material_def();
    double ready = 0;
    def.dimension = 3;
    def.gravity[0] = def.gravity[1] = 0, def.gravity[2] = -GRAVITY;
    grain.name = "default";
    grain.density = drum->density, grain.mu = 0.3, grain.young = 1e6, grain.poisson = 0.25,
    grain.damping = drum_step;
    dls_status status = dls_world_create(&def, world, error);
    if (status) return status;
    status = dls_world_set_material(*world, 0, &grain, error);
    if (!status) status = add_grains(*world, drum, &ready, error);
    if (!status) status = add_pipe(*world, ready, error);
    for (int side = 0; side < 2 && !status; side++) status = add_side(*world, side, error);
    if (status) {
        dls_world_destroy(*world);
        *world = NULL;
    }
    return status;
}
