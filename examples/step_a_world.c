/* Ten balls are dropped on each other and pile up in a tube; at the end the floor bears their weight.
 *
 *     cc step_a_world.c $(pkg-config --cflags --libs delassus) && ./a.out */
#include <delassus/delassus.h>
#include <stdio.h>

enum { BALLS = 10 };

/* A floor and, around it, a tube that is a little wider than the balls. */
static dls_status add_tube(dls_world *world, dls_body_id *floor, dls_error *error) {
    dls_shape_def plane = dls_default_shape_def(DLS_HALF_SPACE);
    dls_shape_def tube = dls_default_shape_def(DLS_CYLINDER_INSIDE);
    tube.radius = 0.015;
    dls_body_def def = dls_default_body_def();
    def.motion = DLS_STATIC, def.shape_count = 1;
    def.name = "floor", def.shapes = &plane;
    dls_status status = dls_world_add_body(world, &def, floor, error);
    def.name = "tube", def.shapes = &tube;
    return status ? status : dls_world_add_body(world, &def, NULL, error);
}

static dls_status add_balls(dls_world *world, dls_error *error) {
    dls_shape_def ball = dls_default_shape_def(DLS_SPHERE);
    ball.radius = 0.01;
    dls_body_def def = dls_default_body_def();
    def.shapes = &ball, def.shape_count = 1, def.mass = 0.1;
    dls_status status = DLS_OK;
    for (int i = 0; i < BALLS && !status; i++) {
        def.pose.x[0] = i % 2 ? 0.004 : -0.004;
        def.pose.x[2] = 0.02 + 0.025 * i;
        status = dls_world_add_body(world, &def, NULL, error);
    }
    return status;
}

/* Sum of the forces between a body and what touches it, along z. */
static double force_on(const dls_simulation *simulation, dls_body_id body, double h) {
    double sum = 0;
    for (int i = 0; i < dls_simulation_contact_count(simulation); i++) {
        dls_contact_record c;
        dls_simulation_contact(simulation, i, &c);
        if (c.body_a != body && c.body_b != body) continue;
        double z = 0; /* of the impulse on B: frame · r */
        for (int k = 0; k < 3; k++) z += c.frame[3 * k + 2] * c.impulse[k];
        sum += (c.body_b == body ? z : -z) / h;
    }
    return sum;
}

static dls_status simulate(dls_world *world, dls_body_id floor, dls_error *error) {
    dls_simulation *simulation = NULL;
    dls_simulation_options options = dls_default_simulation_options();
    options.step = 1e-3;
    dls_status status = dls_simulation_create(world, &options, &simulation, error);
    dls_step_report report = {0};
    while (!status && dls_simulation_time(simulation) < 2)
        status = dls_simulation_step(simulation, &report, error);
    if (!status) {
        dls_run_summary sum = dls_simulation_summary(simulation);
        printf("t = %.2f s: %d contacts, %s of %lld steps certified\n", report.t, report.contacts,
               sum.certified == sum.steps ? "all" : "not all", (long long)sum.steps);
        printf("at rest: %s\n", report.energy.kinetic < 1e-9 ? "yes" : "no");
        printf("force on the floor: %.3f N, weight of the balls: %.3f N\n",
               -force_on(simulation, floor, options.step), BALLS * 0.1 * 9.81);
    }
    dls_simulation_destroy(simulation);
    return status;
}

int main(void) {
    dls_error error;
    dls_world *world = NULL;
    dls_body_id floor = -1;
    dls_world_def def = dls_default_world_def(); /* space, gravity along −z */
    dls_material_def smooth = dls_default_material_def();
    smooth.mu = 0; /* walls and balls without friction: the floor bears everything */
    dls_status status = dls_world_create(&def, &world, &error);
    if (!status) status = dls_world_set_material(world, 0, &smooth, &error);
    if (!status) status = add_tube(world, &floor, &error);
    if (!status) status = add_balls(world, &error);
    if (!status) status = simulate(world, floor, &error);
    if (status) fprintf(stderr, "%s\n", error.message);
    dls_world_destroy(world);
    return status ? 2 : 0;
}
