/* A servo lifts an arm on a hinge to 30 degrees and holds it there: its torque is the arm's weight times its
 * lever.
 *
 *     cc joints.c $(pkg-config --cflags --libs delassus) -lm && ./a.out */
#include <delassus/delassus.h>
#include <math.h>
#include <stdio.h>

static const double length = 1, mass = 2, angle = M_PI / 6;

static dls_status add_arm(dls_world *world, dls_body_id *arm, dls_error *error) {
    dls_shape_def rod = dls_default_shape_def(DLS_BOX);
    rod.size[0] = length, rod.size[1] = rod.size[2] = 0.05;
    dls_body_def def = dls_default_body_def();
    def.name = "arm", def.mass = mass;
    def.shapes = &rod, def.shape_count = 1;
    def.pose.x[0] = length / 2; /* along x, with its end in the origin */
    return dls_world_add_body(world, &def, arm, error);
}

/* Freedom 4 (index 3) is the turn about axis 1, here −y: upwards. */
static dls_status add_hinge(dls_world *world, dls_body_id arm, dls_joint_id *hinge, dls_error *error) {
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    def.name = "hinge";
    def.body[0] = DLS_GROUND, def.body[1] = arm;
    def.freedom[3].p = 200, def.freedom[3].d = 40,
    def.freedom[3].i = 400;        /* N m/rad, N m s/rad, N m/(rad s) */
    def.freedom[3].max_force = 30; /* N m */
    dls_status status = dls_joint_place(world, &def, (double[]){0, 0, 0}, (double[]){0, -1, 0}, NULL, error);
    if (!status) status = dls_function_constant(angle, &def.freedom[3].target, error);
    return status ? status : dls_world_add_joint(world, &def, hinge, error);
}

static dls_status simulate(dls_world *world, dls_error *error) {
    dls_simulation *simulation = NULL;
    dls_simulation_options options = dls_default_simulation_options();
    options.step = 1e-3;
    dls_status status = dls_simulation_create(world, &options, &simulation, error);
    dls_step_report report = {0};
    while (!status && dls_simulation_time(simulation) < 5)
        status = dls_simulation_step(simulation, &report, error);
    dls_joint_record hinge;
    int count = 0;
    if (!status) status = dls_simulation_joints(simulation, 1, &hinge, &count, error);
    if (!status) {
        double force = hypot(hypot(hinge.impulse[0], hinge.impulse[1]), hinge.impulse[2]) / options.step;
        printf("t = %.2f s: the arm stands at %.3f degrees, the joint is off by less than 1e-6 m: %s\n",
               report.t, hinge.coordinate[3] * 180 / M_PI, report.joint_gap < 1e-6 ? "yes" : "no");
        printf("torque of the servo: %.3f N m, weight times lever: %.3f N m\n",
               hinge.actuator[3] / options.step, mass * 9.81 * length / 2 * cos(angle));
        printf("force of the hinge: %.3f N, weight: %.3f N\n", force, mass * 9.81);
    }
    dls_simulation_destroy(simulation);
    return status;
}

int main(void) {
    dls_error error;
    dls_world *world = NULL;
    dls_body_id arm = -1;
    dls_joint_id hinge = -1;
    dls_world_def def = dls_default_world_def();
    dls_status status = dls_world_create(&def, &world, &error);
    if (!status) status = add_arm(world, &arm, &error);
    if (!status) status = add_hinge(world, arm, &hinge, &error);
    if (!status) status = simulate(world, &error);
    if (status) fprintf(stderr, "%s\n", error.message);
    dls_world_destroy(world);
    return status ? 2 : 0;
}
