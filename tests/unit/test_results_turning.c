/* Friction against turning in results: what goes in comes out, problems are rebuilt, measures know of it. */
#include "base/vector.h"
#include "output/results/results.h"
#include "support/measured.h"
#include "support/near.h"
#include "support/results_edit.h"
#include "support/small_run.h"

#include <delassus/run.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double R = 0.05;

enum { STEPS = 12, MOST = 60 };

static void resist_turning(dls_world *world, dls_turning_def turning) {
    dls_pair_def pair;
    OK(dls_world_pair(world, 0, 0, &pair, NULL, error));
    pair.mu = 0.5;
    pair.turning = turning;
    OK(dls_world_set_pair(world, 0, 0, &pair, error));
}

/* Four that lie close to each other and turn. */
static dls_world *turning_balls(int dimension) {
    dls_world *world = measured_world(dimension);
    measured_ground(world, "ground");
    for (int k = 0; k < 4; k++) {
        double up = R + (k == 3 ? 1.7 * R : 0), x = k == 3 ? R : 2 * R * k;
        dls_body_id id = measured_round(world, R, x, dimension == 2 ? up : 0, dimension == 2 ? 0 : up);
        dls_body_state s;
        OK(dls_body_state_get(world, id, &s, error));
        s.w[2] = 1 + k;
        if (dimension == 3) s.w[0] = 2, s.w[1] = k;
        OK(dls_body_state_set(world, id, &s, error));
    }
    return world;
}

/* ---- what goes in comes out ---- */

typedef struct moment {
    int count;
    dls_contact_record contact[MOST];
    dls_energy energy;
} moment;

static void check_moments(const char *path, int frames, const moment *m, int first_turning) {
    dls_results *results;
    OK(dls_results_open(path, &results, error));
    assert_int_equal(dls_results_frame_count(results), frames + 1);
    for (int k = 0; k < frames; k++) {
        static dls_contact_row rows[MOST];
        dls_step_report report;
        assert_int_equal(dls_results_frame_contact_count(results, k + 1), m[k].count);
        OK(dls_results_contact_rows(results, k + 1, 0, m[k].count, rows, error));
        for (int i = 0; i < m[k].count; i++) {
            dls_contact_record was = m[k].contact[i];
            double torque[3];
            if (k < first_turning) was.parts = 0;
            dls_contact_record_torque(&was, torque);
            assert_memory_equal(&rows[i].record, &was, sizeof was);
            assert_memory_equal(rows[i].world_torque, torque, sizeof torque);
        }
        OK(dls_results_steps(results, k, 1, &report, error));
        assert_memory_equal(&report.energy, &m[k].energy, sizeof report.energy);
    }
    dls_results_destroy(results);
}

/* Steps with a frame each; before step `begin` nothing resists turning. Before step `again`, where it is not
 * 0, the file is closed and gone on with. */
static void write_moments(const char *path, int dimension, dls_turning_def turning, int begin, int again,
                          moment *m) {
    dls_world *world = turning_balls(dimension);
    resist_turning(world, begin == 0 ? turning : (dls_turning_def){.rolling = 0});
    dls_simulation_options options = dls_default_simulation_options();
    dls_results_def def = small_run_def();
    dls_simulation *simulation;
    dls_results_writer *writer;
    options.step = 1e-3;
    OK(dls_simulation_create(world, &options, &simulation, error));
    OK(dls_results_create(path, world, &def, &writer, error));
    OK(dls_results_add_frame(writer, simulation, error));
    for (int k = 0; k < STEPS; k++, m++) {
        dls_step_report report;
        if (begin && k == begin) resist_turning(world, turning);
        if (again && k == again) {
            OK(dls_results_close(writer, NULL, error));
            OK(dls_results_continue(path, world, k, &writer, error));
        }
        OK(dls_simulation_step(simulation, &report, error));
        OK(dls_results_add_step(writer, &report, error));
        OK(dls_results_add_frame(writer, simulation, error));
        m->energy = report.energy;
        OK(dls_simulation_contacts(simulation, MOST, m->contact, &m->count, error));
        assert_true(m->count >= 4);
    }
    OK(dls_results_close(writer, NULL, error));
    dls_simulation_destroy(simulation);
    dls_world_destroy(world);
}

static const struct {
    int dimension, parts; /* of every contact */
    dls_turning_def turning;
} kinds[] = {{3, DLS_PARTS(2, 2, 1), {.rolling = 1e-3, .spinning_ratio = 0.01}},
             {3, DLS_PARTS(3, 2, 0), {.rolling_ratio = 0.02, .drilling = 2e-3}},
             {3, DLS_PARTS(2, 0, 1), {.spinning = 1e-3}},
             {2, DLS_PARTS(1, 1, 0), {.rolling = 2e-3}}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void test_contacts_come_back(void **state) {
    (void)state;
    static moment m[STEPS];
    for (int k = 0; k < KINDS; k++)
        for (int again = 0; again <= 6; again += 6) {
            write_moments("all.h5", kinds[k].dimension, kinds[k].turning, 0, again, m);
            assert_int_equal(m[5].contact[0].parts, kinds[k].parts);
            assert_true(m[STEPS - 1].energy.turning > 0);
            check_moments("all.h5", STEPS, m, 0);
        }
}

/* Contacts from before have none of it, also where the file went on in between. */
static void test_friction_that_comes_late(void **state) {
    (void)state;
    static moment m[STEPS];
    for (int again = 0; again <= 9; again += 3) {
        write_moments("late.h5", 3, kinds[0].turning, 6, again, m);
        assert_true(m[5].energy.turning == 0 && m[STEPS - 1].energy.turning > 0);
        check_moments("late.h5", STEPS, m, 6);
    }
}

static void test_materials_come_back(void **state) {
    (void)state;
    const dls_turning_def stated = {1e-3, 0, 0.25, 0, 3e-3}, own = {.spinning = 4e-3, .spinning_ratio = 0.5};
    dls_world *world = turning_balls(3);
    dls_material_def material = dls_default_material_def();
    dls_material_id id;
    material.name = "rubber";
    material.turning = own;
    OK(dls_world_add_material(world, &material, &id, error));
    resist_turning(world, stated);
    dls_results *results = measured_run(world, "materials.h5", 1, true);
    OK(dls_results_material(results, id, &material, error));
    assert_string_equal(material.name, "rubber");
    assert_memory_equal(&material.turning, &own, sizeof own);
    OK(dls_results_material(results, 0, &material, error));
    assert_true(material.turning.rolling == 0 && material.turning.drilling == 0);
    assert_memory_equal(&results->pairs[0].pair.turning, &stated, sizeof stated);
    assert_true(results->pairs[0].stated);
    dls_results_destroy(results);
}

/* Nothing of it is in the contacts of a scene without. */
static void test_plain_runs_have_no_such_rows(void **state) {
    (void)state;
    dls_results *results = measured_run(turning_balls(3), "plain.h5", 3, true);
    dls_contact_record contact[MOST];
    for (int k = DLS_TABLE_TURNING; k < DLS_TABLE_TURNING_END; k++)
        assert_int_equal(results->tables[k].rows, 0);
    OK(dls_results_frame_contacts(results, 3, contact, error));
    assert_true(contact[0].parts == 0 && contact[0].impulse[0] != 0);
    dls_results_destroy(results);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *dataset, *member;
        int place;
        double value;
        const char *words;
    } cases[] = {
        {"contacts/parts", NULL, 0, 99, "contacts/parts, row 2: parts are 99"},
        {"contacts/parts", NULL, 0, -1, "contacts/parts, row 2: parts is -1, expected a count"},
        {"contacts/parts", NULL, 0, DLS_PARTS(1, 1, 0), "expected those of a contact in space"},
        {"contacts/parts", NULL, 0, DLS_PARTS(2, 1, 0), "expected those of a contact in space"},
        {"contacts/parts", NULL, 0, DLS_PARTS(3, 2, 0), "parts are 11 with a drilling radius of 0, expected"},
        {"contacts/lengths", NULL, 0, -1e-3, "contacts/lengths, row 2: lengths is -0.001, expected a finite"},
        {"contacts/lengths", NULL, 1, INFINITY, "lengths is inf, expected a finite number from 0 on"},
        {"contacts/torque", NULL, 2, NAN, "contacts/torque, row 2: torque is nan"},
        {"contacts/spin", NULL, 0, 1e70, "contacts/spin, row 2: spin is 1e+70"},
        {"contacts/b_spin", NULL, 1, NAN, "b_spin is nan"},
        {"contacts/world_torque", NULL, 1, NAN, "world_torque is nan"}};
    static moment m[STEPS];
    write_moments("sound.h5", 3, kinds[0].turning, 0, 0, m);
    long size;
    unsigned char *sound = results_load("sound.h5", &size);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_results *results;
        dls_contact_record contact[MOST];
        dls_error why = {0};
        results_save("bad.h5", sound, size);
        results_set("bad.h5", cases[k].dataset, cases[k].member, 2, cases[k].place, cases[k].value);
        OK(dls_results_open("bad.h5", &results, error));
        assert_int_equal(dls_results_frame_contacts(results, 1, contact, &why), DLS_ERROR_FILE);
        if (!strstr(why.message, cases[k].words)) fail_msg("%s: %s", cases[k].words, why.message);
        dls_results_destroy(results);
    }
    results_save("bad.h5", sound, size);
    results_set("bad.h5", "materials/pairs", "rolling", 0, 0, -1);
    dls_results *results;
    dls_error why = {0};
    assert_int_equal(dls_results_open("bad.h5", &results, &why), DLS_ERROR_FILE);
    assert_non_null(strstr(why.message, "rolling is -1, expected a finite number from 0 on"));
    free(sound);
}

/* ---- frames as problems ---- */

static const char scene_text[] =
    "delassus: 1\n"
    "time: {step: 1e-3, until: 0.08}\n"
    "output: {interval: 0.01}\n"
    "materials:\n"
    "  grain: {density: 2500, mu: 0.5, rolling_ratio: 0.1, %s}\n"
    "bodies:\n"
    "  - {name: floor, motion: static, shape: {kind: half-space, material: grain}}\n"
    "  - {name: a, position: [0, 0, 0.05], spin: [1, 2, 9], shape: {kind: "
    "sphere, "
    "radius: 0.05, material: grain}}\n"
    "  - {name: b, position: [0.1, 0, 0.05], spin: [3, 2, 1], shape: {kind: "
    "sphere, "
    "radius: 0.05, material: grain}}\n"
    "  - {name: c, position: [0.05, 0.01, 0.137], spin: [0, -2, 5], shape: "
    "{kind: "
    "sphere, radius: 0.05, material: grain}}\n";

static bool stop_at(const dls_step_report *report, const dls_simulation *simulation, void *user) {
    (void)simulation;
    return report->step != *(const int64_t *)user;
}

static uint64_t run_text(const char *extra, const char *path, bool resume, int64_t last) {
    char text[2000];
    dls_scene *scene;
    dls_run_end end;
    uint64_t hash = 0;
    int size = snprintf(text, sizeof text, scene_text, extra);
    OK(dls_scene_read_text(text, (size_t)size, "text", ".", 0, NULL, &scene, error));
    dls_run_def def = {.results = path, .resume = resume, .callback = stop_at, .user = &last};
    OK(dls_run_scene(scene, &def, &end, NULL, &hash, error));
    dls_scene_destroy(scene);
    return hash;
}

/* The recorded impulses, all rows of them, solve the problem of every frame. */
static void check_problems(const char *path) {
    dls_results *results;
    OK(dls_results_open(path, &results, error));
    assert_int_equal(dls_results_frame_count(results), 9);
    for (int frame = 1; frame < 9; frame++) {
        dls_contact_record contact[MOST];
        dls_problem *problem;
        dls_measures measures;
        double r[MOST * DLS_MAX_BLOCK], u[MOST * DLS_MAX_BLOCK];
        int count = dls_results_frame_contact_count(results, frame), rows = 0;
        OK(dls_results_frame_contacts(results, frame, contact, error));
        OK(dls_results_problem(results, frame, &problem, error));
        for (int k = 0; k < count; k++) rows += dls_contact_record_impulses(&contact[k], 3, r + rows);
        assert_int_equal(rows, dls_problem_row_count(problem));
        OK(dls_problem_velocity(problem, r, u, NULL, error));
        OK(dls_problem_measure(problem, r, u, &measures, error));
        assert_true(measures.residual <= 1e-6);
        for (int k = 0, row = 0; k < count; k++, row = dls_problem_block_row(problem, k)) {
            assert_int_equal(dls_problem_block_parts(problem, k), contact[k].parts);
            for (int i = 3; i < dls_problem_block_size(problem, k); i++)
                assert_near(u[row + i], contact[k].spin[i - 3], 1e-9);
        }
        dls_problem_destroy(problem);
    }
    dls_results_destroy(results);
}

static void test_frames_become_problems_and_runs_go_on(void **state) {
    (void)state;
    static const char *const extra[] = {"spinning: 1e-3", "drilling: 2e-3"};
    for (int k = 0; k < 2; k++) {
        uint64_t whole = run_text(extra[k], "whole.h5", false, -1);
        run_text(extra[k], "half.h5", false, 37);
        assert_true(run_text(extra[k], "half.h5", true, -1) == whole);
        check_problems("whole.h5");
        check_problems("half.h5");
    }
}

/* ---- measures ---- */

/* A ball at rest on a slope that rolling friction alone holds: about the origin contacts turn the ground as
 * the ball's weight does, x × m g. */
static void test_torque_on_the_ground(void **state) {
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        dls_world_def def = dls_default_world_def();
        dls_world *world;
        double slope = 0.1, place = 0.3, mass, arm[3] = {place, 0, 0}, weight[3], torque[3];
        int up = dimension - 1;
        arm[up] = R;
        def.dimension = dimension;
        vec_set(def.gravity, 0, 0, 0);
        def.gravity[0] = -9.81 * sin(slope), def.gravity[up] = -9.81 * cos(slope);
        OK(dls_world_create(&def, &world, error));
        resist_turning(world, (dls_turning_def){.rolling = 1.01 * R * tan(slope)});
        measured_ground(world, "ground");
        dls_body_id id = measured_round(world, R, arm[0], arm[1], arm[2]);
        dls_body_mass m;
        OK(dls_body_mass_get(world, id, &m, error));
        mass = m.mass;
        dls_results *results = measured_run(world, "slope.h5", 50, true);
        dls_analysis *a = measured_analysis(results, "container", NULL);
        dls_body_state s[2];
        OK(dls_results_frame_states(results, 50, s, NULL, error));
        assert_near(s[1].x[0], place, 1e-9);
        vec_scale(weight, mass, def.gravity);
        vec_cross(torque, arm, weight);
        static const char *const names[] = {"ground tx", "ground ty", "ground tz"};
        for (int k = dimension == 2 ? 2 : 0; k < 3; k++)
            assert_near(measured_fact(a, names[k], NULL), torque[k], 1e-6 * vec_norm(torque));
        dls_analysis_destroy(a);
        dls_results_destroy(results);
    }
}

/* Balls that roll, spin and slide obey the law with all its parts, and energy is booked by kind. */
static void test_products_know_all_parts(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        dls_world *world = turning_balls(kinds[k].dimension);
        resist_turning(world, kinds[k].turning);
        dls_results *results = measured_run(world, "products.h5", 20, true);
        dls_analysis *a = measured_analysis(results, "complementarity", NULL);
        dls_analysis_table t = dls_analysis_table_at(a, 1);
        dls_step_report last, first;
        OK(dls_results_steps(results, 19, 1, &last, error));
        OK(dls_results_steps(results, 0, 1, &first, error));
        assert_string_equal(t.columns[5], "turning_cone");
        assert_true(measured_fact(a, "worst product", NULL) < 1e-5 * last.energy.turning);
        for (int64_t row = 0; row < t.row_count; row++) assert_true(t.values[6 * row + 5] < 1e-9);
        dls_analysis_destroy(a);
        a = measured_analysis(results, "energy", NULL);
        assert_true(last.energy.turning > first.energy.turning);
        assert_near(measured_fact(a, "turning", NULL), last.energy.turning - first.energy.turning, 1e-15);
        assert_near(measured_last(a, "turning"), last.energy.turning, 0);
        dls_analysis_destroy(a);
        dls_results_destroy(results);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contacts_come_back),
        cmocka_unit_test(test_friction_that_comes_late),
        cmocka_unit_test(test_materials_come_back),
        cmocka_unit_test(test_plain_runs_have_no_such_rows),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_frames_become_problems_and_runs_go_on),
        cmocka_unit_test(test_torque_on_the_ground),
        cmocka_unit_test(test_products_know_all_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
