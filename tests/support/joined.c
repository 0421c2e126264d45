#include "support/joined.h"

#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static dls_body_id add_body(dls_world *world, const char *name, double radius, double x, double y, double z) {
    static const double inertia[9] = {1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 2e-3};
    bool plane = dls_world_dimension(world) == 2;
    dls_shape_def shape = dls_default_shape_def(plane ? DLS_DISC : DLS_SPHERE);
    dls_body_def def = dls_default_body_def();
    dls_body_id id = -1;
    dls_error error = {0};
    shape.radius = radius;
    def.name = name;
    def.mass = 0.5;
    def.inertia = inertia;
    def.centre[0] = 0.01; /* frames count from the body's own origin, not from its mass centre */
    def.pose.x[0] = x, def.pose.x[1] = y, def.pose.x[2] = z;
    def.shapes = &shape;
    def.shape_count = radius > 0;
    if (dls_world_add_body(world, &def, &id, &error)) fail_msg("%s", error.message);
    return id;
}

static dls_joint_def joint_of(dls_joint_kind kind, const char *name, dls_body_id a, dls_body_id b) {
    dls_joint_def def = dls_default_joint_def(kind);
    def.name = name;
    def.body[0] = a, def.body[1] = b;
    return def;
}

static void add_joint(dls_world *world, dls_joint_def def) {
    dls_error error = {0};
    if (dls_world_add_joint(world, &def, NULL, &error)) fail_msg("%s", error.message);
}

static dls_joint_def placed(const dls_world *world, dls_joint_def def, double x, double y, double z,
                            const double *axis, const double *second) {
    dls_error error = {0};
    if (dls_joint_place(world, &def, (const double[3]){x, y, z}, axis, second, &error))
        fail_msg("%s", error.message);
    return def;
}

static dls_function *constant(double value) {
    dls_function *f = NULL;
    dls_error error = {0};
    if (dls_function_constant(value, &f, &error)) fail_msg("%s", error.message);
    return f;
}

/* ---- the plane ---- */

static void add_four_bar(dls_world *world) {
    dls_body_id crank = add_body(world, "crank", 0, 0.05, 0, 0),
                coupler = add_body(world, "coupler", 0, 0.25, 0.1, 0),
                rocker = add_body(world, "rocker", 0, 0.4, 0.1, 0);
    dls_joint_def motor =
        placed(world, joint_of(DLS_JOINT_REVOLUTE, "motor", DLS_GROUND, crank), 0, 0, 0, NULL, NULL);
    dls_joint_def pivot = placed(world, joint_of(DLS_JOINT_REVOLUTE, "pivot, \"outer\"", rocker, DLS_GROUND),
                                 0.4, 0, 0, NULL, NULL);
    motor.freedom[3].velocity = constant(6);
    motor.freedom[3].max_force = 20;
    pivot.freedom[3].friction = 0.05;
    pivot.freedom[3].low = -INFINITY;
    pivot.freedom[3].high = 2;
    add_joint(world, motor);
    add_joint(world,
              placed(world, joint_of(DLS_JOINT_REVOLUTE, NULL, crank, coupler), 0.1, 0, 0, NULL, NULL));
    add_joint(world,
              placed(world, joint_of(DLS_JOINT_REVOLUTE, "elbow", coupler, rocker), 0.4, 0.2, 0, NULL, NULL));
    add_joint(world, pivot);
}

static void fill_plane(dls_world *world) {
    static const double level[3] = {1, 0, 0};
    dls_shape_def ground = dls_default_shape_def(DLS_HALF_PLANE);
    dls_body_def still = dls_default_body_def();
    dls_error error = {0};
    still.motion = DLS_STATIC;
    still.name = "floor";
    still.shapes = &ground;
    still.shape_count = 1;
    still.pose.x[1] = -0.3;
    add_four_bar(world);
    if (dls_world_add_body(world, &still, NULL, &error)) fail_msg("%s", error.message);
    dls_body_id slider = add_body(world, "slider", 0, 0.8, 0.1, 0),
                ball = add_body(world, "ball", 0.05, -0.3, -0.25, 0),
                lost = add_body(world, "lost", 0, 0.6, 0.3, 0);
    dls_joint_def slide =
        placed(world, joint_of(DLS_JOINT_PRISMATIC, "slide", DLS_GROUND, slider), 0.8, 0.1, 0, level, NULL);
    dls_joint_def spring = joint_of(DLS_JOINT_SPRING, "spring", DLS_GROUND, slider);
    dls_joint_def weld =
        placed(world, joint_of(DLS_JOINT_FIXED, "weld", DLS_GROUND, lost), 0.6, 0.3, 0, NULL, NULL);
    dls_joint_def rope = joint_of(DLS_JOINT_DISTANCE, "rope", DLS_GROUND, ball);
    slide.freedom[0].force = constant(3);
    slide.freedom[0].damping = 0.2;
    spring.frame[0].x[0] = 0.5, spring.frame[0].x[1] = 0.1;
    spring.freedom[0].stiffness = 40;
    spring.freedom[0].rest = 0.25;
    weld.break_force = 1;
    rope.frame[0].x[0] = -0.4;
    rope.frame[0].x[1] = 0.1;
    rope.rope = true;
    add_joint(world, slide);
    add_joint(world, spring);
    add_joint(world, weld);
    add_joint(world, rope);
}

/* ---- space: bodies in two rows, each hangs by a joint of its kind ---- */

static void fill_space(dls_world *world) {
    static const double axis[3] = {1, 0, 0}, second[3] = {0, 1, 0}, up[3] = {0, 0, 1};
    for (int kind = 0; kind < DLS_JOINT_KINDS; kind++) {
        double x = 0.5 * (kind % 8), y = 0.8 * (kind / 8);
        char name[32];
        snprintf(name, sizeof name, "body %d", kind);
        dls_body_id body = add_body(world, name, kind % 2 ? 0.08 : 0, x, y, -0.2);
        dls_joint_def def =
            joint_of((dls_joint_kind)kind, dls_joint_kind_name((dls_joint_kind)kind), DLS_GROUND, body);
        if (kind == DLS_JOINT_GEAR || kind == DLS_JOINT_RACK)
            def.body[0] = add_body(world, NULL, 0, x, y + 0.3, -0.2);
        def.ratio = kind == DLS_JOINT_RACK ? 0.1 : 2;
        bool rolls = kind == DLS_JOINT_ROLLING || kind == DLS_JOINT_ROLLING_BALL;
        def.radius = rolls ? 0.2 : 0;
        uint8_t free = dls_joint_kind_free(def.kind, 3);
        for (int k = 0; k < DLS_FREEDOMS; k++)
            if (free >> k & 1) def.freedom[k].damping = 0.01, def.freedom[k].stiffness = k < 3 ? 200 : 1;
        if (kind == DLS_JOINT_DISTANCE || kind == DLS_JOINT_SPRING || rolls) {
            def.frame[0].x[0] = x, def.frame[0].x[1] = y;
            if (rolls) def.frame[0].x[2] = -0.4;
            def.freedom[0].rest = kind == DLS_JOINT_SPRING ? 0.15 : 0;
        }
        if (rolls) /* axis 1 of A is up */
            def.frame[0].q[0] = sqrt(0.5), def.frame[0].q[2] = -sqrt(0.5);
        else if (kind != DLS_JOINT_DISTANCE && kind != DLS_JOINT_SPRING)
            def = placed(world, def, x, y, kind == DLS_JOINT_BUSHING ? -0.1 : 0, axis,
                         kind == DLS_JOINT_GEAR ? up : second);
        add_joint(world, def);
    }
}

dls_world *linkage_world(int dimension) {
    dls_world_def def = dls_default_world_def();
    dls_world *world = NULL;
    dls_error error = {0};
    def.dimension = dimension;
    memset(def.gravity, 0, sizeof def.gravity);
    def.gravity[dimension - 1] = -9.81;
    if (dls_world_create(&def, &world, &error)) fail_msg("%s", error.message);
    if (dimension == 2)
        fill_plane(world);
    else
        fill_space(world);
    return world;
}
