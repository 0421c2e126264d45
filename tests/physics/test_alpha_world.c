/* Worlds under generalized-alpha: the benchmarks of paper 004 as scenes, whose contacts the collider finds,
 * against their models by callbacks, which share no contact kinematics with them. */
#include "experiments/capobianco/models.h"
#include "support/near.h"
#include "support/test.h"

#include <delassus/run.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The template of a name, with settings. */
static dls_simulation *simulate(const char *name, int count, const char *const *settings, dls_scene **scene) {
    dls_error error;
    dls_simulation *simulation;
    int index = 0;
    while (dls_scene_template_name(index) && strcmp(dls_scene_template_name(index), name)) index++;
    const char *text = dls_scene_template_text(index);
    if (dls_scene_read_text(text, strlen(text), name, "", count, settings, scene, &error) ||
        dls_scene_simulation_create(*scene, &simulation, &error))
        fail_msg("%s", error.message);
    return simulation;
}

static dls_alpha *create(const benchmark *b) {
    dls_error error;
    dls_alpha *alpha;
    if (dls_alpha_create(&b->model, &b->options, 0, b->q, b->u, &alpha, &error))
        fail_msg("%s", error.message);
    return alpha;
}

static dls_body_state state_of(dls_scene *scene, const char *name) {
    dls_body_state state;
    dls_world *world = dls_scene_world(scene);
    dls_error error;
    if (dls_body_state_get(world, dls_world_find_body(world, name), &state, &error))
        fail_msg("%s", error.message);
    return state;
}

/* Largest difference of places and velocities over all steps up to `end`. */
static double difference(const char *name, int count, const char *const *settings, benchmark *b,
                         const char *body, double end) {
    dls_scene *scene;
    dls_error error;
    dls_simulation *simulation = simulate(name, count, settings, &scene);
    b->options.tolerance = b->options.tolerance_fixed = 1e-11;
    dls_alpha *alpha = create(b);
    double worst = 0;
    while (dls_simulation_time(simulation) < end - 0.5 * b->options.dt) {
        dls_step_report report;
        if (dls_simulation_step(simulation, &report, &error) || dls_alpha_step(alpha, NULL, &error))
            fail_msg("t = %g: %s", dls_simulation_time(simulation), error.message);
        dls_alpha_view view = dls_alpha_get(alpha);
        dls_body_state state = state_of(scene, body);
        bool planar = b->model.coordinates == 3;
        for (int k = 0; k < (planar ? 2 : 3); k++) {
            worst = fmax(worst, fabs(state.x[k] - view.q[k]));
            worst = fmax(worst, fabs(state.v[k] - view.u[k]));
        }
        if (planar) worst = fmax(worst, fabs(state.w[2] - view.u[2]));
        if (!planar)
            for (int k = 0; k < 4; k++) worst = fmax(worst, fabs(state.q[k] - view.q[3 + k]));
    }
    dls_alpha_destroy(alpha);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
    return worst;
}

static const char *const exactly[] = {"integrator.alpha_tolerance=1e-11",
                                      "integrator.alpha_tolerance_fixed=1e-11"};

static void test_bouncing_ball(void **state) {
    (void)state;
    benchmark b;
    benchmark_bouncing_ball(&b, 50, 0);
    double off = difference("004-10.1", 2, exactly, &b, "ball", 2);
    printf("10.1: %g\n", off);
    assert_true(off < 1e-10);
}

static void test_corner(void **state) {
    (void)state;
    benchmark b;
    benchmark_corner(&b);
    double off = difference("004-10.2", 2, exactly, &b, "ball", 1.6);
    printf("10.2: %g\n", off);
    assert_true(off < 1e-10);
}

static void test_cylinder(void **state) {
    (void)state;
    benchmark b;
    benchmark_cylinder(&b);
    double off = difference("004-10.3", 2, exactly, &b, "ball", 10);
    printf("10.3: %g\n", off);
    assert_true(off < 1e-9);
}

static void test_top(void **state) {
    (void)state;
    benchmark b;
    const char *settings[] = {exactly[0], exactly[1], "integrator.alpha_slip=end"};
    benchmark_tippe_top(&b);
    double off = difference("004-10.6", 3, settings, &b, "top", 2);
    printf("10.6: %g\n", off);
    assert_true(off < 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bouncing_ball), cmocka_unit_test(test_corner),
                                       cmocka_unit_test(test_cylinder), cmocka_unit_test(test_top)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
