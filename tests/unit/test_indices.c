/* Indices and ids that nothing has: every accessor of the public headers says what its header promises. */
#include "support/sample.h"
#include "support/stage.h"
#include "support/test.h"

#include <delassus/delassus.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* One before the first, one behind the last, and the ends of the integers. */
enum { WRONG = 4 };
static void wrong_indices(int count, int wrong[WRONG]) {
    const int all[WRONG] = {-1, count, INT_MIN, INT_MAX};
    memcpy(wrong, all, sizeof all);
}

static void blocks_of_a_problem(void **state) {
    (void)state;
    for (int matrix_free = 0; matrix_free < 2; matrix_free++) {
        dls_problem *p = generated(DLS_GENERATE_PACKING, 20, 0.4, matrix_free);
        int wrong[WRONG], last = dls_problem_block_count(p) - 1;
        wrong_indices(last + 1, wrong);
        for (int k = 0; k < WRONG; k++) {
            double W[16] = {-7};
            assert_int_equal(dls_problem_block_size(p, wrong[k]), 0);
            assert_int_equal(dls_problem_block_row(p, wrong[k]), -1);
            assert_int_equal(dls_problem_block_kind(p, wrong[k]), DLS_CONTACT);
            assert_true(dls_problem_mu(p, wrong[k]) == 0);
            dls_problem_diagonal_block(p, wrong[k], W);
            assert_true(W[0] == -7);
        }
        assert_int_equal(dls_problem_block_row(p, last) + dls_problem_block_size(p, last),
                         dls_problem_row_count(p));
        assert_true(dls_problem_mu(p, last) == 0.4);
        dls_problem_destroy(p);
    }
}

static void settings_and_doubts_of_a_scene(void **state) {
    (void)state;
    static const char text[] = "delassus: 1\ndimension: 2\ngravity: [0, -981]\n";
    const char *const settings[] = {"time.step=0.01"};
    dls_scene *scene;
    int wrong[WRONG], doubts = 0;
    assert_int_equal(dls_scene_read_text(text, strlen(text), "s", ".", 1, settings, &scene, NULL), DLS_OK);
    while (dls_scene_doubt(scene, doubts)) doubts++;
    assert_true(doubts > 0);
    assert_string_equal(dls_scene_setting(scene, 0), settings[0]);
    wrong_indices(1, wrong);
    for (int k = 0; k < WRONG; k++) assert_null(dls_scene_setting(scene, wrong[k]));
    wrong_indices(doubts, wrong);
    for (int k = 0; k < WRONG; k++) assert_null(dls_scene_doubt(scene, wrong[k]));
    dls_scene_destroy(scene);
}

static void reference_of_scenes(void **state) {
    (void)state;
    int wrong[WRONG], groups = dls_scene_group_count();
    wrong_indices(groups, wrong);
    for (int k = 0; k < WRONG; k++) {
        assert_null(dls_scene_group_name(wrong[k]));
        assert_null(dls_scene_group_about(wrong[k]));
        assert_false(
            dls_scene_shape_has((dls_shape_kind)(wrong[k] == groups ? DLS_SHAPE_KINDS : wrong[k]), "radius"));
    }
    assert_non_null(dls_scene_group_name(0));
    assert_non_null(dls_scene_group_about(groups - 1));
    assert_true(dls_scene_shape_has(DLS_SPHERE, "radius"));
    wrong_indices(dls_scene_template_count(), wrong);
    for (int k = 0; k < WRONG; k++)
        assert_true(!dls_scene_template_name(wrong[k]) && !dls_scene_template_summary(wrong[k]) &&
                    !dls_scene_template_text(wrong[k]));
    wrong_indices(dls_scene_key_count(), wrong);
    for (int k = 0; k < WRONG; k++) assert_string_equal(dls_scene_key_at(wrong[k]).key, "");
}

static void rows_of_tables(void **state) {
    (void)state;
    int wrong[WRONG];
    wrong_indices(dls_solver_count(), wrong);
    for (int k = 0; k < WRONG; k++) assert_null(dls_solver_at(wrong[k]));
    wrong_indices(dls_law_count(), wrong);
    for (int k = 0; k < WRONG; k++) assert_null(dls_law_at(wrong[k]));
    wrong_indices(dls_analysis_measure_count(), wrong);
    for (int k = 0; k < WRONG; k++) assert_null(dls_analysis_measure_at(wrong[k]));
    wrong_indices(DLS_SHAPE_KINDS, wrong);
    for (int k = 0; k < WRONG; k++) {
        dls_shape_kind kind = (dls_shape_kind)wrong[k];
        assert_string_equal(dls_shape_kind_name(kind), "");
        assert_false(dls_shape_kind_is_planar(kind) || dls_shape_kind_is_obstacle(kind));
        assert_null(dls_pair_method(kind, DLS_SPHERE));
        assert_false(dls_pair_is_exact(DLS_SPHERE, kind));
    }
}

static void bodies_of_a_world(void **state) {
    (void)state;
    stage s = stage_open(3, 9.81, 0.5, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1), shape;
    dls_error error;
    int wrong[WRONG], id = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 0, 1}, NULL, NULL);
    wrong_indices(id + 1, wrong);
    for (int k = 0; k < WRONG; k++) {
        dls_body_state body;
        dls_body_mass mass;
        dls_pose pose;
        assert_string_equal(dls_body_name(s.world, wrong[k]), "");
        assert_int_equal(dls_body_motion(s.world, wrong[k]), DLS_STATIC);
        assert_int_equal(dls_body_presence(s.world, wrong[k]), DLS_GONE);
        assert_int_equal(dls_body_shape_count(s.world, wrong[k]), 0);
        assert_true(dls_body_radius(s.world, wrong[k]) == 0);
        assert_int_equal(dls_body_state_get(s.world, wrong[k], &body, &error), DLS_ERROR_ARGUMENT);
        assert_int_equal(dls_body_pose_get(s.world, wrong[k], &pose, &error), DLS_ERROR_ARGUMENT);
        assert_int_equal(dls_body_mass_get(s.world, wrong[k], &mass, &error), DLS_ERROR_ARGUMENT);
        assert_int_equal(dls_body_shape(s.world, wrong[k], 0, &shape, &error), DLS_ERROR_ARGUMENT);
        assert_int_equal(dls_world_remove_body(s.world, wrong[k], &error), DLS_ERROR_ARGUMENT);
    }
    wrong_indices(1, wrong);
    for (int k = 0; k < WRONG; k++)
        assert_int_equal(dls_body_shape(s.world, id, wrong[k], &shape, &error), DLS_ERROR_ARGUMENT);
    stage_close(&s);
}

static void contacts_of_a_simulation(void **state) {
    (void)state;
    stage s = stage_open(3, 9.81, 0.5, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1);
    dls_simulation_options o = dls_default_simulation_options();
    dls_contact_record record;
    dls_pose pose;
    int wrong[WRONG];
    stage_add_floor(&s, 0);
    stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 0, 0.1}, NULL, NULL);
    stage_start(&s, &o, 1e-6);
    stage_run(&s, 1);
    assert_int_equal(dls_simulation_contact_count(s.simulation), 1);
    dls_simulation_contact(s.simulation, 0, &record);
    assert_true(record.body_b >= 0 && record.mu == 0.5);
    wrong_indices(1, wrong);
    for (int k = 0; k < WRONG; k++) {
        dls_simulation_contact(s.simulation, wrong[k], &record);
        assert_true(record.body_a == -1 && record.body_b == -1 && record.mu == 0 && record.gap == 0);
    }
    wrong_indices(dls_world_body_count(s.world), wrong);
    for (int k = 0; k < WRONG; k++)
        assert_int_equal(dls_simulation_contact_pose(s.simulation, wrong[k], &pose, NULL),
                         DLS_ERROR_ARGUMENT);
    stage_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_a_problem), cmocka_unit_test(settings_and_doubts_of_a_scene),
        cmocka_unit_test(reference_of_scenes), cmocka_unit_test(rows_of_tables),
        cmocka_unit_test(bodies_of_a_world),   cmocka_unit_test(contacts_of_a_simulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
