/* Gradients of solids in results: as they stand, after going on, and what is refused of forged ones. */
#include "support/near.h"
#include "support/results_edit.h"
#include "support/test.h"

#include <delassus/run.h>
#include <delassus/solid.h>

#include <math.h>
#include <string.h>

enum { STEPS = 6, SOFT = 3 };

static dls_error error[1];

/* Three balls of jelly in free flight, stretched and turning; the second keeps its form. */
static dls_world *make_world(void) {
    dls_world_def def = dls_default_world_def();
    dls_material_def jelly = dls_default_material_def();
    dls_shape_def ball = dls_default_shape_def(DLS_SPHERE);
    dls_world *world;
    jelly.name = "jelly", jelly.density = 100;
    jelly.young = 100, jelly.poisson = 0.3, jelly.law = DLS_ELASTIC_KIRCHHOFF;
    ball.radius = 0.1;
    assert_int_equal(dls_world_create(&def, &world, error), DLS_OK);
    assert_int_equal(dls_world_add_material(world, &jelly, &ball.material, error), DLS_OK);
    for (int k = 0; k < SOFT; k++) {
        dls_body_def body = dls_default_body_def();
        dls_solid_def soft = dls_default_solid_def(DLS_SOLID_PSEUDO_RIGID);
        dls_body_id id;
        double q[12];
        soft.retained = k == 1;
        body.shapes = &ball, body.shape_count = 1, body.solid = &soft;
        body.pose.x[0] = k, body.w[2] = 1 + k;
        assert_int_equal(dls_world_add_body(world, &body, &id, error), DLS_OK);
        assert_int_equal(dls_solid_state_get(world, id, q, NULL, error), DLS_OK);
        q[4] += 0.1, q[11] *= 1.2;
        assert_int_equal(dls_solid_state_set(world, id, q, NULL, error), DLS_OK);
    }
    return world;
}

/* Steps first … STEPS of it into the writer, a frame each. */
static void step_on(dls_simulation *s, dls_results_writer *writer, int64_t until) {
    while (dls_simulation_steps(s) < until) {
        dls_step_report report;
        assert_int_equal(dls_simulation_step(s, &report, error), DLS_OK);
        assert_int_equal(dls_results_add_step(writer, &report, error), DLS_OK);
        assert_int_equal(dls_results_add_frame(writer, s, error), DLS_OK);
    }
    assert_int_equal(dls_results_close(writer, NULL, error), DLS_OK);
}

static dls_simulation *begin(dls_world *world) {
    dls_simulation_options o = dls_default_simulation_options();
    dls_simulation *s;
    o.step = 1e-2;
    assert_int_equal(dls_simulation_create(world, &o, &s, error), DLS_OK);
    return s;
}

static void write_run(const char *path) {
    dls_world *world = make_world();
    dls_simulation *s = begin(world);
    dls_results_def def = {.title = "jelly"};
    dls_results_writer *writer;
    assert_int_equal(dls_results_create(path, world, &def, &writer, error), DLS_OK);
    assert_int_equal(dls_results_add_frame(writer, s, error), DLS_OK);
    step_on(s, writer, STEPS);
    dls_simulation_destroy(s);
    dls_world_destroy(world);
}

/* F and Ḟ are what q and u hold, row after row, of those that deform. */
static void check_frame(dls_results *r, int frame, const dls_world *world) {
    dls_gradient_record found[SOFT];
    assert_int_equal(dls_results_frame_gradient_count(r, frame), 2);
    assert_int_equal(dls_results_frame_gradients(r, frame, found, error), DLS_OK);
    for (int k = 0; k < 2; k++) {
        double q[12], u[12];
        assert_int_equal(found[k].body, 2 * k);
        assert_int_equal(dls_solid_state_get(world, 2 * k, q, u, error), DLS_OK);
        for (int i = 0; i < 9; i++) {
            assert_true(found[k].F[i] == q[3 + 3 * (i % 3) + i / 3]);
            assert_true(found[k].rate[i] == u[3 + 3 * (i % 3) + i / 3]);
        }
    }
}

static void test_gradients_come_back_also_after_going_on(void **state) {
    (void)state;
    dls_world *world = make_world();
    dls_simulation *s = begin(world);
    dls_results_writer *writer;
    dls_results *r;
    dls_step_report report;
    write_run("whole.h5");
    while (dls_simulation_steps(s) < 3) assert_int_equal(dls_simulation_step(s, &report, error), DLS_OK);
    assert_int_equal(dls_results_continue("whole.h5", world, 3, &writer, error), DLS_OK);
    step_on(s, writer, STEPS);
    assert_int_equal(dls_results_open("whole.h5", &r, error), DLS_OK);
    assert_int_equal(dls_results_frame_count(r), STEPS + 1);
    check_frame(r, STEPS, world);
    dls_simulation_destroy(s);
    dls_world_destroy(world);
    world = make_world(), s = begin(world);
    check_frame(r, 0, world);
    while (dls_simulation_steps(s) < 2) assert_int_equal(dls_simulation_step(s, &report, error), DLS_OK);
    check_frame(r, 2, world);
    dls_results_destroy(r);
    dls_simulation_destroy(s);
    dls_world_destroy(world);
}

static void test_forged_gradients_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *dataset, *member;
        int place;
        double value;
        const char *found;
    } cases[] = {{"gradients/F", NULL, 4, -1, "gradients/F, row 2: its determinant is -"},
                 {"gradients/F", NULL, 3, NAN, "gradients/F, row 2: F is nan"},
                 {"gradients/rate", NULL, 0, INFINITY, "gradients/rate, row 2: rate is inf"},
                 {"gradients/body", NULL, 0, 2, "gradients/body, row 3: body is 2, expected one after 2"},
                 {"gradients/body", NULL, 0, 9, "gradients/body, row 2: body is 9"},
                 {"frames", "gradient_start", 0, 1, "frames, row 2: gradients from 1 on, expected 4"},
                 {"frames", "gradient_count", 0, 3, "gradients from 4 on, expected 5"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_gradient_record found[64];
        dls_results *r = NULL;
        bool index = !strcmp(cases[k].dataset, "frames");
        write_run("forged.h5");
        results_set("forged.h5", cases[k].dataset, cases[k].member, index ? (cases[k].value == 1 ? 2 : 1) : 2,
                    cases[k].place, cases[k].value);
        dls_status status = dls_results_open("forged.h5", &r, error);
        if (!status) status = dls_results_frame_gradients(r, 1, found, error);
        assert_int_equal(status, DLS_ERROR_FILE);
        if (!strstr(error->message, cases[k].found)) fail_msg("%s: %s", cases[k].found, error->message);
        dls_results_destroy(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_come_back_also_after_going_on),
        cmocka_unit_test(test_forged_gradients_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
