/* Mixtures of prototypes: exact numbers, no overlap, names that are one body's alone. */
#include "base/vector.h"
#include "scene/generate.h"
#include "support/scene_text.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATERIALS "materials: {light: {density: 500}, heavy: {density: 2000}}\n"
#define PART(share, name, material, radius)                                                                  \
    "  - {" share ", body: {name: " name ", material: " material ", shape: {kind: sphere, radius: " radius   \
    "}}}\n"

/* How many bodies are called NAME-number. */
static int count_of(dls_scene *scene, const char *name) {
    const dls_world *world = dls_scene_world(scene);
    size_t length = strlen(name);
    int count = 0;
    for (int id = 0; id < dls_world_body_count(world); id++) {
        const char *own = dls_body_name(world, id);
        count += !strncmp(own, name, length) && own[length] == '-';
    }
    return count;
}

static double mass_of(dls_scene *scene, const char *name) {
    const dls_world *world = dls_scene_world(scene);
    double sum = 0;
    for (int id = 0; id < dls_world_body_count(world); id++) {
        dls_body_mass mass;
        if (strncmp(dls_body_name(world, id), name, strlen(name)) != 0) continue;
        assert_int_equal(dls_body_mass_get(world, id, &mass, NULL), DLS_OK);
        sum += mass.mass;
    }
    return sum;
}

static const char *const generators[] = {
    "lattice: {spacing: [1, 1, 1], counts: [10, 5, 2]}",
    "layers: {region: {kind: box, low: [0, 0, 0], high: [4, 4, 4]}, count: 100}",
    "packing: {region: {kind: ball, radius: 3}, count: 100}",
    "pyramid: {base: 6}",
    "wall: {length: 10, height: 10, bond: stacked}",
};

/* 100 bodies (a pyramid of base 6 has 91) in parts of 2 : 1 : 1.1. */
static void test_numbers_are_exact_in_every_generator(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof generators / sizeof *generators; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 HEAD3 MATERIALS "bodies:\n- %s\n  mixture:\n" PART("number_share: 2", "a", "light", "0.1")
                     PART("number_share: 1", "b", "heavy", "0.1")
                         PART("number_share: 1.1", "c", "heavy", "0.1"),
                 generators[i]);
        dls_scene *scene = read_good(text);
        int total = dls_world_body_count(dls_scene_world(scene));
        bool pyramid = total == 91;
        assert_int_equal(total, pyramid ? 91 : 100);
        /* 48.78, 24.39, 26.83 and 44.39, 22.20, 24.41 */
        assert_int_equal(count_of(scene, "a"), pyramid ? 44 : 49);
        assert_int_equal(count_of(scene, "b"), pyramid ? 22 : 24);
        assert_int_equal(count_of(scene, "c"), pyramid ? 25 : 27);
        dls_scene_destroy(scene);
    }
}

/* 3 : 1 by mass, bodies of 1 : 32 by mass: numbers are 96 : 1. */
static void test_shares_of_mass(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD3 MATERIALS "bodies:\n- layers: {region: {kind: box, low: [0, 0, 0], high: [5, 5, 5]}, count: "
                        "970}\n  mixture:\n" PART("mass_share: 3", "fine", "light", "0.1")
                            PART("mass_share: 1", "coarse", "heavy", "0.2"));
    assert_int_equal(count_of(scene, "coarse"), 10);
    assert_int_equal(count_of(scene, "fine"), 960);
    assert_true(fabs(mass_of(scene, "fine") / mass_of(scene, "coarse") - 3) < 1e-9);
    dls_scene_destroy(scene);
}

/* Spheres, compounds and polyhedra of several sizes, some with a distribution of their own. */
static const char varied[] = HEAD3
    "bodies:\n- packing: {region: {kind: box, low: [0, 0, 0], high: [1, 1, 1]}, solid_fraction: 0.15, "
    "orientation: random, size: {uniform: [0.9, 1.1]}, gap: 0.001}\n  mixture:\n"
    "  - {number_share: 5, body: {name: ball, shape: {kind: sphere, radius: 0.03}}}\n"
    "  - {number_share: 3, size: {uniform: [0.5, 1]}, body: {name: pair, shapes: [{kind: sphere, radius: "
    "0.03}, {kind: sphere, position: [0.048, 0, 0], radius: 0.02}]}}\n"
    "  - {number_share: 2, body: {shape: {kind: box, size: [0.05, 0.06, 0.07]}}}\n"
    "  - {number_share: 0, body: {name: none, shape: {kind: sphere, radius: 9}}}\n";

static void warn(const char *line, void *user) {
    (void)line;
    ++*(int *)user;
}

static void test_nothing_overlaps(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(varied);
    const dls_world *world = dls_scene_world(scene);
    int warnings = 0, told = 0, total = dls_world_body_count(world);
    assert_true(total > 100 && count_of(scene, "none") == 0);
    assert_true(abs(10 * count_of(scene, "ball") - 5 * total) <= 10);
    assert_true(abs(10 * count_of(scene, "pair") - 3 * total) <= 10);
    assert_true(abs(10 * count_of(scene, "packing") - 2 * total) <= 10);
    for (int i = 0; i < total; i++)
        for (int k = 0; k < i; k++) {
            dls_body_state a, b;
            dls_body_state_get(world, i, &a, NULL);
            dls_body_state_get(world, k, &b, NULL);
            assert_true(vec_distance(a.x, b.x) >
                        fmin(dls_body_radius(world, i), dls_body_radius(world, k)) + 0.001);
        }
    assert_int_equal(dls_scene_check(scene, warn, &told, &warnings, NULL), DLS_OK);
    assert_int_equal(told + warnings, 0);
    dls_scene_destroy(scene);
}

static void test_the_same_seed_the_same_mixture(void **unused) {
    (void)unused;
    dls_scene *one = read_good(varied), *two = read_good(varied);
    int count = dls_world_body_count(dls_scene_world(one));
    assert_int_equal(dls_world_body_count(dls_scene_world(two)), count);
    for (int id = 0; id < count; id++) {
        dls_body_state a, b;
        dls_body_state_get(dls_scene_world(one), id, &a, NULL);
        dls_body_state_get(dls_scene_world(two), id, &b, NULL);
        assert_memory_equal(&a, &b, sizeof a);
        assert_string_equal(dls_body_name(dls_scene_world(one), id), dls_body_name(dls_scene_world(two), id));
    }
    dls_scene_destroy(one);
    dls_scene_destroy(two);
}

/* Every beginning has the shares, to a body. */
static void test_one_after_the_other(void **unused) {
    (void)unused;
    dls_part parts[3] = {{.weight = 0.5}, {.weight = 0.3}, {.weight = 0.2}};
    dls_mixture mixture = {.count = 3, .parts = parts};
    int64_t made[3] = {0}, counts[3];
    for (int n = 1; n <= 1000; n++) {
        made[dls_mixture_next(&mixture, made)]++;
        for (int k = 0; k < 3; k++) assert_true(fabs((double)made[k] - parts[k].weight * n) < 1);
        dls_mixture_apportion(&mixture, n, counts);
        for (int k = 0; k < 3; k++) assert_true(fabs((double)counts[k] - parts[k].weight * n) < 1);
        assert_int_equal(counts[0] + counts[1] + counts[2], n);
    }
}

/* Numbers count on over generators of one name, and leave out those that are taken. */
static void test_names(void **unused) {
    (void)unused;
#define ROW(z)                                                                                               \
    "- {lattice: {origin: [0, 0, " z "], spacing: [2, 2, 2], counts: [3, 1, 1]}, body: " BALL "}}\n"
    dls_scene *scene = read_good(HEAD3 "bodies:\n- {name: ball-4, position: [0, 0, 9], shape: {kind: sphere, "
                                       "radius: 1}}\n" ROW("0") ROW("2"));
    assert_true(state_of(scene, "ball-2").x[2] == 0);
    assert_true(state_of(scene, "ball-3").x[2] == 2);
    assert_true(state_of(scene, "ball-4").x[2] == 9);
    assert_true(state_of(scene, "ball-6").x[0] == 4);
    dls_scene_destroy(scene);
    scene = read_good(HEAD3 "bodies:\n- lattice: {spacing: [2, 2, 2], counts: [2, 1, 1]}\n  body: {shape: "
                            "{kind: sphere, radius: 1}}\n");
    assert_true(state_of(scene, "lattice-1").x[0] == 2);
    dls_scene_destroy(scene);
    refuses(HEAD3 "bodies:\n" ROW("0") "- {name: ball-1, shape: {kind: sphere, radius: 1}}\n",
            "test.yaml:4: there is a body 'ball-1' already");
    refuses(HEAD3 "bodies:\n- " BALL "}\n- " BALL "}\n", "test.yaml:4: there is a body 'ball' already");
}

static void test_mixtures_that_are_refused(void **unused) {
    (void)unused;
#define MIXED(parts)                                                                                         \
    HEAD3 "bodies:\n- lattice: {spacing: [1, 1, 1], counts: [2, 2, 2]}\n  mixture: " parts "\n"
    static const char *const bad[][2] = {
        {MIXED("[]"), "test.yaml:4: mixture is empty, expected a list of parts"},
        {MIXED("7"), "mixture is a text, expected a list of parts"},
        {MIXED("[{body: " BALL "}}]"), "neither number_share nor mass_share, expected one of them"},
        {MIXED("[{number_share: 1, mass_share: 1, body: " BALL "}}]"), "both number_share and mass_share"},
        {MIXED("[{number_share: -1, body: " BALL "}}]"), "number_share is -1, expected a number from 0 up"},
        {MIXED("[{mass_share: 0, body: " BALL "}}]"), "shares add up to 0, expected a sum above 0"},
        {MIXED("[{number_share: 1}]"), "a part of a mixture has no 'body'"},
        {MIXED("[{share: 1, body: " BALL "}}]"), "unknown key 'share'"},
        {MIXED("[{number_share: 1, body: " BALL "}}, {mass_share: 1, body: " BALL "}}]"),
         "a mass_share behind a number_share, expected the same in all parts"},
        {MIXED("[{number_share: 1, body: {material: none, shape: {kind: sphere, radius: 1}}}]"),
         "no material 'none'"},
        {MIXED("[{number_share: 1, body: " BALL "}}]\n  body: " BALL "}"),
         "'lattice' has both 'body' and 'mixture' beside it, expected one of them"},
        {HEAD3 "bodies:\n- wall: {length: 3, height: 3}\n  mixture:\n" PART(
             "number_share: 1", "a", "default", "1") PART("number_share: 1", "b", "default", "2"),
         "courses of bodies that differ"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refuses(bad[i][0], bad[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_exact_in_every_generator),
        cmocka_unit_test(test_shares_of_mass),
        cmocka_unit_test(test_nothing_overlaps),
        cmocka_unit_test(test_the_same_seed_the_same_mixture),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_mixtures_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
