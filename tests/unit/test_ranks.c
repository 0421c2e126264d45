/* Ranks that share a run have the bits of one that is alone: balls, rows of bodies in the plane and in space,
 * rolling friction, hubs, joints that are eliminated, bodies that deform; with every solver, on any number of
 * ranks and threads. Ranks are threads here; tests/mpi has processes. */
#include "support/scale.h"
#include "support/test.h"
#include "support/thread_ranks.h"

#include <delassus/delassus.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Each has more contacts than a problem must have to be shared. */
static const char balls[] = "delassus: 1\n"
                            "materials: {stone: {density: 2500, mu: 0.4}}\n"
                            "bodies:\n"
                            "  - {name: floor, motion: static, shape: {kind: half-space}}\n"
                            "  - lattice: {origin: [0, 0, 0.1], spacing: [0.199, 0.199, 0.199],\n"
                            "              counts: [13, 13, 11], jitter: 0.002, seed: 3}\n"
                            "    body: {material: stone, shape: {kind: sphere, radius: 0.1}}\n"
                            "time: {step: 1e-3, until: 0.002}\n"
                            "solver: {tolerance: 1e-3}\n";

static const char rolling[] = "delassus: 1\n"
                              "materials: {stone: {density: 2500, mu: 0.4, rolling: 0.002}}\n"
                              "bodies:\n"
                              "  - {name: floor, motion: static, shape: {kind: half-space}}\n"
                              "  - lattice: {origin: [0, 0, 0.1], spacing: [0.199, 0.199, 0.199],\n"
                              "              counts: [13, 13, 11], jitter: 0.002, seed: 3}\n"
                              "    body: {material: stone, shape: {kind: sphere, radius: 0.1}}\n"
                              "time: {step: 1e-3, until: 0.002}\n"
                              "solver: {tolerance: 1e-3}\n";

static const char boxes[] = "delassus: 1\n"
                            "bodies:\n"
                            "  - {name: floor, motion: static, shape: {kind: half-space}}\n"
                            "  - lattice: {origin: [0, 0, 0.1], spacing: [0.4, 0.4, 0.2],\n"
                            "              counts: [8, 8, 20]}\n"
                            "    body: {shape: {kind: box, size: [0.2, 0.2, 0.2]}}\n"
                            "time: {step: 1e-3, until: 0.002}\n"
                            "solver: {tolerance: 1e-3}\n";

/* A plate that touches a hundred discs, and a short chain beside it. */
static const char plane[] =
    "delassus: 1\n"
    "dimension: 2\n"
    "gravity: [0, -9.81]\n"
    "bodies:\n"
    "  - {name: floor, motion: static, shape: {kind: half-plane}}\n"
    "  - lattice: {origin: [0, 0.1], spacing: [0.1995, 0.1995], counts: [110, 30], jitter: 0.001, seed: 5}\n"
    "    body: {shape: {kind: disc, radius: 0.1}}\n"
    "  - {name: plate, position: [8, 6.1], mass: 200, inertia: 2000,\n"
    "     shape: {kind: polygon, points: [[-8, -0.1], [8, -0.1], [8, 0.1], [-8, 0.1]]}}\n"
    "  - links: {points: [[17, 6.1], [21, 6.1]], count: 8, joint: {name: pin, kind: revolute},\n"
    "            ends: [none, none]}\n"
    "    body: {name: rod, mass: 1, shape: {kind: polygon,\n"
    "           points: [[-0.22, -0.1], [0.22, -0.1], [0.22, 0.1], [-0.22, 0.1]]}}\n"
    "time: {step: 1e-3, until: 0.002}\n"
    "solver: {tolerance: 1e-3}\n";

/* Soft balls on hard ones. */
static const char soft[] =
    "delassus: 1\n"
    "materials:\n"
    "  stone: {density: 2500, mu: 0.4}\n"
    "  rubber: {density: 1000, young: 1e6, poisson: 0.3, damping: 1e-3, mu: 0.5}\n"
    "bodies:\n"
    "  - {name: floor, motion: static, shape: {kind: half-space}}\n"
    "  - lattice: {origin: [0, 0, 0.1], spacing: [0.199, 0.199, 0.199], counts: [13, 13, 10]}\n"
    "    body: {material: stone, shape: {kind: sphere, radius: 0.1}}\n"
    "  - lattice: {origin: [0, 0, 2.09], spacing: [0.199, 0.199, 0.199], counts: [13, 13, 1]}\n"
    "    body: {material: rubber, solid: {kind: pseudo-rigid}, shape: {kind: sphere, radius: 0.1}}\n"
    "time: {step: 1e-3, until: 0.002}\n"
    "solver: {tolerance: 1e-3}\n";

enum { MOST = 16 };

/* One run on some ranks, and what each of them says at its end. */
typedef struct trial {
    const char *text;
    const char *other; /* what the last rank reads instead; NULL: the same */
    const char *setting;
    const char *results; /* NULL for none */
    bool resume;
    int stops; /* rank whose callback ends the run after the first step, −1 for none */
    uint64_t hash[MOST];
    dls_run_end end[MOST];
    int64_t steps[MOST];
    dls_status status[MOST];
    dls_error error[MOST];
} trial;

static bool goes_on(const dls_step_report *report, const dls_simulation *simulation, void *user) {
    (void)report;
    (void)simulation;
    return !*(bool *)user;
}

static void run(const dls_ranks *ranks, void *user) {
    trial *t = user;
    int k = ranks->index;
    bool stops = k == t->stops;
    const char *text = t->other && k == ranks->count - 1 ? t->other : t->text;
    dls_scene *scene = NULL;
    dls_run_def def = {
        .ranks = ranks, .results = t->results, .resume = t->resume, .callback = goes_on, .user = &stops};
    dls_run_summary summary = {0};
    t->status[k] = dls_scene_read_text(text, strlen(text), "text", ".", t->setting != NULL, &t->setting,
                                       &scene, &t->error[k]);
    if (!t->status[k])
        t->status[k] = dls_run_scene(scene, &def, &t->end[k], &summary, &t->hash[k], &t->error[k]);
    t->steps[k] = summary.steps;
    dls_scene_destroy(scene);
}

static rank_traffic run_well(trial *t, int count) {
    rank_traffic traffic = run_ranks(count, run, t);
    for (int k = 0; k < count; k++)
        if (t->status[k]) fail_msg("rank %d: %s", k, t->error[k].message);
    return traffic;
}

static uint64_t hash_alone(const char *text, const char *setting) {
    trial t = {.text = text, .setting = setting, .stops = -1};
    run_well(&t, 1);
    return t.hash[0];
}

/* shared: whether sweeps are, so that states go to and fro. */
static void check_ranks(const char *text, const char *setting, int count, bool shared) {
    uint64_t first = hash_alone(text, setting);
    trial t = {.text = text, .setting = setting, .stops = -1};
    rank_traffic traffic = run_well(&t, count);
    for (int k = 0; k < count; k++) assert_true(t.hash[k] == first);
    assert_int_equal(traffic.numbers > 0, shared);
}

static void test_balls(void **state) {
    (void)state;
    check_ranks(balls, NULL, 2, true);
    if (test_scale() == 1) check_ranks(balls, NULL, 3, true);
    if (test_scale() == 1) check_ranks(balls, NULL, 16, true);
}

static void test_threads(void **state) {
    (void)state;
    check_ranks(balls, "run.threads=2", 2, true);
}

static void test_kinds(void **state) {
    (void)state;
    check_ranks(plane, NULL, 3, true);
    if (test_scale() < 1) return;
    check_ranks(boxes, NULL, 4, true);
    check_ranks(rolling, NULL, 3, true);
    check_ranks(soft, NULL, 2, true);
}

/* Acceleration that needs all of r, sweeps to and fro, gradients, which ranks do not share but judge
 * together, and W stored, which they do not share at all. */
static void test_solvers(void **state) {
    (void)state;
    if (test_scale() < 1) skip();
    check_ranks(balls, "solver={name: nlgs, tolerance: 1e-3, acceleration: anderson}", 2, true);
    check_ranks(balls, "solver={name: nlgs, tolerance: 1e-3, alternate: yes, law: sbp}", 3, true);
    check_ranks(balls, "solver={name: apgd, tolerance: 1e-1}", 2, false);
    check_ranks(balls, "integrator.operator=stored", 2, false);
}

/* A run that one rank stops is stopped on all; it goes on from its checkpoint on any number of them. */
static void test_stopped_and_resumed(void **state) {
    (void)state;
    const char *path = "ranks.h5";
    trial first = {.text = balls, .results = path, .stops = 1};
    run_well(&first, 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(first.end[k], DLS_RUN_INTERRUPTED);
        assert_int_equal(first.steps[k], 1);
    }
    trial second = {.text = balls, .results = path, .resume = true, .stops = -1};
    run_well(&second, 2);
    for (int k = 0; k < 2; k++) assert_int_equal(second.steps[k], 2);
    assert_true(second.hash[1] == hash_alone(balls, NULL));
}

static const char drop[] = "delassus: 1\n"
                           "bodies:\n"
                           "  - {name: ball, position: [0, 0, 1], shape: {kind: sphere, radius: 0.1}}\n"
                           "time: {step: 1e-3, until: 0.002}\n";

/* Ranks that read other scenes do not go on beside each other. */
static void test_another_state_is_refused(void **state) {
    (void)state;
    trial t = {.text = drop, .other = balls, .stops = -1};
    run_ranks(3, run, &t);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(t.status[k], DLS_ERROR_INPUT);
        assert_non_null(strstr(t.error[k].message, "rank 2 has another state than rank 0"));
    }
}

/* What the first rank alone meets ends all, in its words. */
static void test_failure_of_one(void **state) {
    (void)state;
    trial t = {.text = drop, .results = "nowhere/ranks.h5", .stops = -1};
    run_ranks(3, run, &t);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(t.status[k], DLS_ERROR_FILE);
        assert_non_null(strstr(t.error[k].message, "nowhere/ranks.h5"));
        assert_int_equal(strncmp(t.error[k].message, "rank 0: ", 8) == 0, k > 0);
    }
}

static void test_clocks_are_refused(void **state) {
    (void)state;
    trial t = {.text = drop, .setting = "solver={name: nlgs, time_limit: 1}", .stops = -1};
    run_ranks(2, run, &t);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(t.status[k], DLS_ERROR_INPUT);
        assert_non_null(strstr(t.error[k].message, "solver.time_limit is 1 s, expected 0"));
    }
    t.setting = NULL;
    run_well(&t, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balls),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_solvers),
        cmocka_unit_test(test_stopped_and_resumed),
        cmocka_unit_test(test_another_state_is_refused),
        cmocka_unit_test(test_failure_of_one),
        cmocka_unit_test(test_clocks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
