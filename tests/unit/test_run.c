/* A scene run by the library: what the callbacks see, when frames are recorded, stopping and going on with
 * the same bits, problems of recorded frames, and every failure clean. */
#include "support/allocator.h"
#include "support/scene_text.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A disc that rolls, one that is born at a time which steps do not hit to the bit, one that dies. */
static const char *const rolling =
    HEAD2 "gravity: [0, -9.81]\n"
          "bodies:\n"
          "  - {name: ground, motion: static, shape: {kind: half-plane}}\n"
          "  - {name: disc, position: [0, 0.1], velocity: [0.5, 0], shape: {kind: disc, radius: 0.1}}\n"
          "  - {name: born, position: [1, 0.1], birth: 0.03, shape: {kind: disc, radius: 0.1}}\n"
          "  - {name: dies, position: [-1, 0.1], death: 0.06, shape: {kind: disc, radius: 0.1}}\n"
          "time: {step: 1e-2, until: 0.1}\n"
          "output: {interval: 0.03}\n";

typedef struct witness {
    int begun, steps, stop_after; /* 0: never */
    bool resumed;
    int64_t first;
    double last_t;
} witness;

static void see_beginning(const dls_simulation *simulation, bool resumed, void *user) {
    witness *w = user;
    w->begun++;
    w->resumed = resumed;
    w->first = dls_simulation_steps(simulation);
}

static bool see_step(const dls_step_report *report, const dls_simulation *simulation, void *user) {
    witness *w = user;
    assert_int_equal(report->step, dls_simulation_steps(simulation));
    w->steps++;
    w->last_t = report->t;
    return w->steps != w->stop_after;
}

typedef struct outcome {
    dls_run_end end;
    dls_run_summary summary;
    uint64_t hash;
} outcome;

static dls_scene *scene_until(const char *text, const char *until) {
    dls_error error;
    dls_scene *scene = read_with(text, until ? 1 : 0, &until, &error);
    if (!scene) fail_msg("%s", error.message);
    return scene;
}

static outcome run_until(const char *text, const char *until, const char *path, bool resume, witness *w) {
    dls_scene *scene = scene_until(text, until);
    dls_run_def def = {
        .results = path, .resume = resume, .begin = see_beginning, .callback = see_step, .user = w};
    outcome o;
    dls_error error;
    if (dls_run_scene(scene, &def, &o.end, &o.summary, &o.hash, &error)) fail_msg("%s", error.message);
    dls_scene_destroy(scene);
    return o;
}

static void frames_are(const char *path, int count, const int *steps) {
    dls_results *results;
    dls_error error;
    if (dls_results_open(path, &results, &error)) fail_msg("%s", error.message);
    assert_int_equal(dls_results_frame_count(results), count);
    for (int k = 0; k < count; k++) assert_int_equal(dls_results_frame_step(results, k), steps[k]);
    dls_results_destroy(results);
}

static void test_callbacks(void **state) {
    (void)state;
    witness w = {0};
    outcome o = run_until(rolling, NULL, NULL, false, &w);
    assert_int_equal(w.begun, 1);
    assert_false(w.resumed);
    assert_int_equal(w.steps, 10);
    assert_true(fabs(w.last_t - 0.1) < 1e-12);
    assert_int_equal(o.end, DLS_RUN_FINISHED);
    assert_int_equal(o.summary.steps, 10);
    assert_int_equal(o.summary.certified, 10);
    /* with results or without, the same bits */
    witness other = {0};
    assert_true(run_until(rolling, NULL, "whole.h5", false, &other).hash == o.hash);
    assert_int_equal(access("whole.h5.checkpoint", F_OK), 0);
    assert_int_equal(access("whole.h5.xdmf", F_OK), 0);
}

static void test_frames(void **state) {
    (void)state;
    witness w = {0};
    run_until(rolling, NULL, "frames.h5", false, &w);
    frames_are("frames.h5", 5, (const int[]){0, 3, 6, 9, 10}); /* the last one in any case */
    run_until(rolling, "output.interval=0", "frames.h5", false, &w);
    frames_are("frames.h5", 11, (const int[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    run_until(rolling, "output.interval=0.024", "frames.h5", false, &w); /* to half a step */
    frames_are("frames.h5", 5, (const int[]){0, 2, 5, 7, 10});
    run_until(rolling, "output.interval=9", "frames.h5", false, &w);
    frames_are("frames.h5", 2, (const int[]){0, 10});
    run_until(rolling, "time.until=0", "frames.h5", false, &w);
    frames_are("frames.h5", 1, (const int[]){0});
}

/* Every output time has one frame, whatever the quotient of the interval and the step. */
static void test_frames_are_regular(void **state) {
    (void)state;
    static const double intervals[] = {0.015, 0.025, 0.035, 0.0123, 0.0333333333333333, 0.05};
    for (size_t k = 0; k < sizeof intervals / sizeof *intervals; k++) {
        char setting[64];
        const char *settings[] = {setting, "time.until=2"};
        snprintf(setting, sizeof setting, "output.interval=%.17g", intervals[k]);
        dls_error error;
        dls_scene *scene = read_with(rolling, 2, settings, &error);
        assert_non_null(scene);
        dls_run_def def = {.results = "regular.h5"};
        if (dls_run_scene(scene, &def, NULL, NULL, NULL, &error)) fail_msg("%s", error.message);
        dls_scene_destroy(scene);
        dls_results *results;
        assert_int_equal(dls_results_open("regular.h5", &results, &error), DLS_OK);
        int count = dls_results_frame_count(results);
        for (int frame = 0; frame + 1 < count; frame++)
            assert_true(fabs(dls_results_frame_time(results, frame) - frame * intervals[k]) <= 0.50001e-2);
        assert_true(dls_results_frame_time(results, count - 1) == 2);
        dls_results_destroy(results);
    }
}

static void test_stopping_and_going_on(void **state) {
    (void)state;
    witness w = {0};
    outcome whole = run_until(rolling, NULL, "whole.h5", false, &w);
    for (int stop = 1; stop <= 9; stop++) {
        witness first = {.stop_after = stop}, second = {0};
        outcome o = run_until(rolling, NULL, "parts.h5", false, &first);
        assert_int_equal(o.end, DLS_RUN_INTERRUPTED);
        o = run_until(rolling, NULL, "parts.h5", true, &second);
        assert_true(second.resumed);
        assert_int_equal(second.first, stop);
        assert_int_equal(second.steps, 10 - stop);
        assert_int_equal(o.end, DLS_RUN_FINISHED);
        assert_true(o.hash == whole.hash);
        assert_int_equal(o.summary.steps, 10);
        frames_are("parts.h5", 5, (const int[]){0, 3, 6, 9, 10});
    }
    /* without a checkpoint it begins anew */
    unlink("parts.h5.checkpoint");
    witness anew = {0};
    assert_true(run_until(rolling, NULL, "parts.h5", true, &anew).hash == whole.hash);
    assert_false(anew.resumed);
    assert_int_equal(anew.steps, 10);
}

static void test_extending(void **state) {
    (void)state;
    witness w = {0}, first = {0}, second = {0}, third = {0};
    outcome whole = run_until(rolling, "time.until=0.2", "long.h5", false, &w);
    run_until(rolling, NULL, "short.h5", false, &first);
    outcome o = run_until(rolling, "time.until=0.2", "short.h5", true, &second);
    assert_int_equal(second.first, 10);
    assert_true(o.hash == whole.hash);
    frames_are("short.h5", 8, (const int[]){0, 3, 6, 9, 12, 15, 18, 20});
    o = run_until(rolling, "time.until=0.2", "short.h5", true, &third); /* nothing left to do */
    assert_int_equal(third.steps, 0);
    assert_true(o.hash == whole.hash);
    frames_are("short.h5", 8, (const int[]){0, 3, 6, 9, 12, 15, 18, 20});
}

static void test_going_on_is_refused(void **state) {
    (void)state;
    static const char *const changes[] = {"time.step=5e-3", "output.interval=0.01", "solver.tolerance=1e-3"};
    witness w = {0};
    run_until(rolling, NULL, "mine.h5", false, &w);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        dls_scene *scene = scene_until(rolling, changes[k]);
        dls_error error;
        dls_status status = dls_run_scene(scene, &(dls_run_def){.results = "mine.h5", .resume = true}, NULL,
                                          NULL, NULL, &error);
        assert_int_equal(status, DLS_ERROR_INPUT);
        assert_non_null(strstr(error.message, changes[k]));
        dls_scene_destroy(scene);
    }
    witness free_choice = {0};
    run_until(rolling, "run.threads=2", "mine.h5", true, &free_choice);
    assert_true(free_choice.resumed);
}

/* The problem of a frame is the one that the step solved: its recorded impulses are its solution. */
static void test_problems_of_frames(void **state) {
    (void)state;
    witness w = {0};
    dls_results *results;
    dls_error error;
    int solved = 0;
    run_until(rolling, "output.interval=0", "replay.h5", false, &w);
    assert_int_equal(dls_results_open("replay.h5", &results, &error), DLS_OK);
    for (int frame = 0; frame < dls_results_frame_count(results); frame++) {
        int count = dls_results_frame_contact_count(results, frame);
        dls_contact_record contacts[16];
        double r[32];
        assert_in_range(count, 0, 16);
        assert_int_equal(dls_results_frame_contacts(results, frame, contacts, &error), DLS_OK);
        for (int c = 0; c < count; c++)
            for (int k = 0; k < 2; k++) r[2 * c + k] = contacts[c].impulse[k];
        dls_problem *problem = NULL;
        if (dls_results_problem(results, frame, &problem, &error)) fail_msg("%s", error.message);
        assert_int_equal(dls_problem_contact_count(problem), count);
        dls_measures measures;
        assert_int_equal(dls_problem_measure(problem, r, NULL, &measures, &error), DLS_OK);
        assert_true(measures.residual <= 1e-6);
        solved += count > 0;
        dls_problem_destroy(problem);
    }
    assert_true(solved >= 9);
    dls_problem *problem;
    assert_int_equal(dls_results_problem(results, -1, &problem, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_results_problem(results, 11, &problem, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_results_problem(NULL, 0, &problem, &error), DLS_ERROR_ARGUMENT);
    dls_results_destroy(results);
}

static void test_bad_calls(void **state) {
    (void)state;
    dls_error error;
    dls_scene *scene = scene_until(rolling, NULL);
    char name[5000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(dls_run_scene(NULL, &(dls_run_def){0}, NULL, NULL, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_run_scene(scene, NULL, NULL, NULL, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_run_scene(scene, &(dls_run_def){.results = name}, NULL, NULL, NULL, &error),
                     DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_run_scene(scene, &(dls_run_def){.results = "absent/x.h5"}, NULL, NULL, NULL, &error),
                     DLS_ERROR_FILE);
    dls_scene_destroy(scene);
}

/* Each allocation in turn fails: a clean error, nothing leaked, and an older run's files as they were. */
static void test_no_memory(void **state) {
    (void)state;
    witness w = {0};
    run_until(rolling, NULL, "memory.h5", false, &w);
    int total = 0;
    for (int fail_at = 1, failed = 1; failed && fail_at < 20000; fail_at += 1 + fail_at / 8) {
        dls_error error = {0};
        dls_scene *scene = NULL;
        const char *setting = "time.until=0.15";
        counting_begin(fail_at);
        dls_status status =
            dls_scene_read_text(rolling, strlen(rolling), "test.yaml", ".", 1, &setting, &scene, &error);
        if (!status)
            status = dls_run_scene(scene, &(dls_run_def){.results = "memory.h5", .resume = true}, NULL, NULL,
                                   NULL, &error);
        dls_scene_destroy(scene);
        total = counting_allocations();
        failed = total >= fail_at;
        assert_int_equal(counting_end(), 0);
        if (failed != (status != DLS_OK)) fail_msg("allocation %d: '%s'", fail_at, error.message);
        dls_results *results;
        if (dls_results_open("memory.h5", &results, &error)) fail_msg("%s", error.message);
        assert_true(dls_results_frame_count(results) >= 4);
        dls_results_destroy(results);
    }
    assert_true(total > 20);
    witness after = {0}, whole = {0};
    uint64_t expected = run_until(rolling, "time.until=0.15", "other.h5", false, &whole).hash;
    assert_true(run_until(rolling, "time.until=0.15", "memory.h5", true, &after).hash == expected);
}

/* ---- simulations of scenes, and what they hand out ---- */

static uint64_t hash_of(dls_simulation *simulation, int steps) {
    dls_error error;
    for (int k = 0; k < steps; k++)
        if (dls_simulation_step(simulation, NULL, &error)) fail_msg("%s", error.message);
    uint64_t hash = dls_simulation_hash(simulation);
    dls_simulation_destroy(simulation);
    return hash;
}

static void test_a_simulation_of_a_scene_has_its_solver(void **state) {
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, "%ssolver: {name: nlgs, law: sbp, max_iterations: 2, acceleration: plain}\n",
             rolling);
    witness w = {0};
    uint64_t expected = run_until(text, NULL, NULL, false, &w).hash;
    dls_simulation *simulation;
    dls_error error;
    dls_scene *scene = scene_until(text, NULL);
    assert_int_equal(dls_scene_simulation_create(scene, &simulation, &error), DLS_OK);
    assert_true(hash_of(simulation, 10) == expected);
    dls_scene_destroy(scene);
    scene = scene_until(text, NULL); /* the default solver ends elsewhere, or this test would see nothing */
    assert_int_equal(dls_simulation_create(dls_scene_world(scene), dls_scene_simulation_options(scene),
                                           &simulation, &error),
                     DLS_OK);
    assert_false(hash_of(simulation, 10) == expected);
    dls_scene_destroy(scene);
    assert_int_equal(dls_scene_simulation_create(NULL, &simulation, &error), DLS_ERROR_ARGUMENT);
}

/* Problem, impulses, names and points stay what they are while bodies come and go between two steps. */
static void test_what_is_handed_out_stays_while_bodies_come(void **state) {
    (void)state;
    static const char text[] = HEAD2
        "bodies:\n"
        "  - {name: ground, motion: static, shape: {kind: half-plane}}\n"
        "  - {name: box, position: [0, 0.1], shape: {kind: polygon, points: [[-0.1, -0.1], [0.1, -0.1], "
        "[0, 0.2]]}}\n";
    dls_simulation *simulation;
    dls_error error;
    dls_scene *scene = scene_until(text, NULL);
    dls_world *world = dls_scene_world(scene);
    assert_int_equal(dls_scene_simulation_create(scene, &simulation, &error), DLS_OK);
    assert_int_equal(dls_simulation_step(simulation, NULL, &error), DLS_OK);
    const dls_problem *problem = dls_simulation_problem(simulation);
    const double *r = dls_simulation_impulses(simulation);
    const char *name = dls_body_name(world, 1);
    dls_shape_def shape;
    assert_int_equal(dls_body_shape(world, 1, 0, &shape, &error), DLS_OK);
    dls_measures before, after;
    assert_int_equal(dls_problem_measure(problem, r, NULL, &before, &error), DLS_OK);
    assert_int_equal(dls_problem_contact_count(problem), 2);
    double corner[3];
    memcpy(corner, shape.points, sizeof corner);
    dls_shape_def disc = {.kind = DLS_DISC, .pose.q = {1}, .radius = 0.01, .group = 1, .collides = 1};
    dls_body_def more = dls_default_body_def();
    more.shapes = &disc;
    more.shape_count = 1;
    for (int k = 0; k < 3000; k++) {
        more.pose.x[0] = k;
        more.pose.x[1] = 5;
        assert_int_equal(dls_world_add_body(world, &more, NULL, &error), DLS_OK);
    }
    assert_int_equal(dls_world_remove_body(world, 1, &error), DLS_OK);
    assert_int_equal(dls_problem_measure(problem, r, NULL, &after, &error), DLS_OK);
    assert_memory_equal(&before, &after, sizeof before);
    assert_string_equal(name, "box");
    assert_memory_equal(shape.points, corner, sizeof corner);
    dls_contact_record record;
    dls_simulation_contact(simulation, 1, &record);
    assert_true(record.body_a == 1 || record.body_b == 1);
    assert_true(record.impulse[0] == r[2]);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_frames_are_regular),
        cmocka_unit_test(test_stopping_and_going_on),
        cmocka_unit_test(test_extending),
        cmocka_unit_test(test_going_on_is_refused),
        cmocka_unit_test(test_problems_of_frames),
        cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_a_simulation_of_a_scene_has_its_solver),
        cmocka_unit_test(test_what_is_handed_out_stays_while_bodies_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
