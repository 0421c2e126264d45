/* A step allocates nothing once its arrays have grown, whatever the scheme, the operator and the threads: a
 * run that is put back to its beginning goes through the same steps without asking for memory. */
#include "support/allocator.h"
#include "support/test.h"

#include <delassus/delassus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 5, LAYERS = 5, STEPS = 200 };

typedef struct variant {
    const char *name;
    const char *scheme;
    dls_operator_choice op;
    int threads;
    double period; /* m; 0: walls */
    const char *solver;
} variant;

static const variant variants[] = {
    {"half step", "moreau-jean", DLS_OPERATOR_BODIES, 1, 0, "nlgs"},
    {"half step, two threads", "moreau-jean", DLS_OPERATOR_BODIES, 2, 0, "nlgs"},
    {"stored", "moreau-jean", DLS_OPERATOR_STORED, 1, 0, "nlgs"},
    {"theta", "theta", DLS_OPERATOR_BODIES, 1, 0, "nlgs"},
    {"dvi", "dvi", DLS_OPERATOR_BODIES, 1, 0, "nlgs"},
    {"periodic", "moreau-jean", DLS_OPERATOR_BODIES, 1, 11, "nlgs"},
    {"gradients", "moreau-jean", DLS_OPERATOR_BODIES, 1, 0, "apgd"},
};

static void add_body(dls_world *world, dls_motion motion, const dls_shape_def *shape, const dls_pose *pose) {
    dls_body_def body = dls_default_body_def();
    dls_body_id id;
    dls_error error;
    body.motion = motion;
    body.pose = *pose;
    body.shape_count = 1, body.shapes = shape;
    assert_int_equal(dls_world_add_body(world, &body, &id, &error), DLS_OK);
}

/* Spheres and boxes that fall into a box, or onto a floor in a periodic one. */
static dls_world *make_world(double period) {
    dls_world_def def = dls_default_world_def();
    dls_world *world;
    dls_error error;
    dls_pose pose = {.q = {1, 0, 0, 0}};
    for (int k = 0; k < 2; k++) def.period_size[k] = period;
    assert_int_equal(dls_world_create(&def, &world, &error), DLS_OK);
    dls_shape_def around = dls_default_shape_def(period > 0 ? DLS_HALF_SPACE : DLS_BOX_INSIDE);
    around.size[0] = around.size[1] = 11, around.size[2] = 40;
    if (period == 0) pose.x[0] = pose.x[1] = 5.5, pose.x[2] = 20;
    add_body(world, DLS_STATIC, &around, &pose);
    for (int i = 0; i < SIDE * SIDE * LAYERS; i++) {
        dls_shape_def shape = dls_default_shape_def(i % 3 ? DLS_SPHERE : DLS_BOX);
        shape.radius = 0.9;
        for (int k = 0; k < 3; k++) shape.size[k] = 1.2;
        pose.x[0] = 1.1 + 2.2 * (i % SIDE) + 0.01 * (i % 7);
        pose.x[1] = 1.1 + 2.2 * (i / SIDE % SIDE) + 0.01 * (i % 5);
        pose.x[2] = 1.1 + 2.2 * (i / SIDE / SIDE);
        add_body(world, DLS_DYNAMIC, &shape, &pose);
    }
    return world;
}

static dls_simulation *make_simulation(dls_world *world, const variant *v) {
    dls_simulation_options options = dls_default_simulation_options();
    dls_simulation *simulation;
    dls_error error;
    union {
        dls_stop_options stop;
        char bytes[DLS_MAX_OPTIONS_SIZE];
    } solver;
    strcpy(options.scheme, v->scheme);
    options.op = v->op;
    options.threads = v->threads;
    options.step = 0.01;
    assert_int_equal(dls_simulation_create(world, &options, &simulation, &error), DLS_OK);
    dls_simulation_solver_defaults(dls_solver_find(v->solver), &solver);
    solver.stop.tolerance = 1e-4;
    solver.stop.max_iterations = 30;
    assert_int_equal(dls_simulation_set_solver(simulation, dls_solver_find(v->solver), &solver, &error),
                     DLS_OK);
    return simulation;
}

/* Allocations in all steps but the first, in which bodies come in; the same steps lead to the same hash. */
static int run_steps(dls_simulation *simulation, uint64_t *hash) {
    dls_step_report report;
    dls_error error;
    int before = 0;
    for (int step = 0; step < STEPS; step++) {
        if (step == 1) before = counting_allocations();
        assert_int_equal(dls_simulation_step(simulation, &report, &error), DLS_OK);
    }
    assert_true(report.contacts > SIDE * SIDE * LAYERS); /* they lie on each other */
    *hash = dls_simulation_hash(simulation);
    return counting_allocations() - before;
}

static void check_variant(const variant *v) {
    counting_begin(0);
    dls_world *world = make_world(v->period);
    dls_simulation *simulation = make_simulation(world, v);
    dls_error error;
    uint64_t once, again;
    size_t size = dls_simulation_state_size(simulation);
    void *beginning = malloc(size);
    assert_non_null(beginning);
    dls_simulation_state_write(simulation, beginning);
    assert_true(run_steps(simulation, &once) > 20); /* they had to grow */
    assert_int_equal(dls_simulation_state_read(simulation, beginning, size, &error), DLS_OK);
    int asked = run_steps(simulation, &again);
    if (asked) fail_msg("%s: %d allocations in %d steps that were made before", v->name, asked, STEPS);
    assert_true(once == again);
    free(beginning);
    dls_simulation_destroy(simulation);
    dls_world_destroy(world);
    assert_int_equal(counting_end(), 0);
}

static void steps_do_not_allocate(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof variants / sizeof *variants; k++) check_variant(&variants[k]);
}

/* A chain that swings down to the floor by generalized-alpha: joints, contacts and what is factored of them.
 */
static void alpha_does_not_allocate(void **state) {
    (void)state;
    enum { LINKS = 12, ALPHA_STEPS = 150, TEXT = 4096 };
    char text[TEXT];
    int size = snprintf(text, TEXT,
                        "{delassus: 1, dimension: 3, materials: {default: {mu: 0.3}}, bodies: [{name: floor, "
                        "motion: static, position: [0, 0, -0.3], shape: {kind: half-space}}");
    for (int i = 0; i < LINKS; i++)
        size +=
            snprintf(text + size, (size_t)(TEXT - size),
                     ", {name: l%d, mass: 1, inertia: [1e-3, 1e-3, 1e-3], position: [%g, 0, 0], velocity: "
                     "[2, 0, -6], shape: {kind: sphere, radius: 0.05}}",
                     i, 0.2 * i);
    size += snprintf(text + size, (size_t)(TEXT - size), "], joints: [");
    for (int i = 1; i < LINKS; i++)
        size += snprintf(text + size, (size_t)(TEXT - size),
                         "%s{kind: spherical, bodies: [l%d, l%d], at: [%g, 0, 0]}", i > 1 ? ", " : "", i - 1,
                         i, 0.2 * i - 0.1);
    size += snprintf(text + size, (size_t)(TEXT - size),
                     "], integrator: {scheme: generalized-alpha}, time: {step: 1e-3, until: 1}}");
    dls_scene *scene;
    dls_simulation *simulation;
    dls_error error;
    dls_step_report report = {.contacts = 0};
    int before = 0, grown = 0;
    counting_begin(0);
    assert_int_equal(dls_scene_read_text(text, (size_t)size, "chain", "", 0, NULL, &scene, &error), DLS_OK);
    assert_int_equal(dls_scene_simulation_create(scene, &simulation, &error), DLS_OK);
    for (int step = 0; step < 2 * ALPHA_STEPS; step++) {
        if (step == 1) before = counting_allocations();
        if (step == ALPHA_STEPS) grown = counting_allocations();
        assert_int_equal(dls_simulation_step(simulation, &report, &error), DLS_OK);
        assert_true(report.certified);
    }
    assert_true(grown - before > 20 && report.contacts == LINKS);
    assert_int_equal(counting_allocations(), grown);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
    assert_int_equal(counting_end(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_do_not_allocate),
                                       cmocka_unit_test(alpha_does_not_allocate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
