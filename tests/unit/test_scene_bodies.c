/* What scenes hold: generated bodies, meshes from files, and what is warned of. */
#include "base/vector.h"
#include "scene/read.h"
#include "support/scale.h"
#include "support/scene_text.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- generators ---- */

static void test_a_billion_bodies_are_refused_at_once(void **unused) {
    (void)unused;
    const char *sphere = "  body: {shape: {kind: sphere, radius: 0.1}}\n";
    static const char *const asked[] = {
        "lattice: {spacing: [1, 1, 1], counts: [1000, 1000, 1000]}",
        "lattice: {spacing: [1, 1, 1], counts: [1e200, 1e200, 1]}",
        "layers: {region: {kind: box, low: [0, 0, 0], high: [1e4, 1e4, 1e4]}, count: 1e9}",
        "packing: {region: {kind: ball, radius: 1e4}, count: 1e9}",
        "packing: {region: {kind: ball, radius: 1e9}, solid_fraction: 0.2}",
        "pyramid: {base: 1e6}",
        "wall: {length: 1e5, height: 1e5}",
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char text[400];
        snprintf(text, sizeof text, HEAD3 "bodies:\n- %s\n%s", asked[i], sphere);
        refuses(text, "of this machine");
        refuses(text, "test.yaml:3: ");
    }
}

static void test_lattice(void **unused) {
    (void)unused;
    dls_scene *scene =
        read_good(HEAD3 "bodies:\n- lattice: {origin: [1, 2, 3], spacing: [2, 3, 4], counts: [2, 3, 4], "
                        "birth_interval: 0.5}\n  body: " BALL "}\n");
    assert_int_equal(dls_world_body_count(dls_scene_world(scene)), 24);
    double last[3] = {3, 8, 15}, second[3] = {3, 2, 3};
    assert_true(vec_distance(state_of(scene, "ball-23").x, last) == 0);
    assert_true(vec_distance(state_of(scene, "ball-1").x, second) == 0);
    dls_scene_destroy(scene);
    refuses(HEAD3 "bodies:\n- lattice: {spacing: [2, 3, 4], counts: [2, 0.5, 4]}\n  body: " BALL "}\n",
            "counts has 0.5, expected whole numbers");
}

/* On top of the prototype's velocity, within bounds, different for each, and places stay as they are. */
static void test_random_velocities(void **unused) {
    (void)unused;
    const char *still = HEAD2 "bodies:\n- lattice: {spacing: [1, 1], counts: [20, 20], jitter: 0.1}\n  body: "
                              "{name: ball, velocity: [3, 0], shape: {kind: disc, radius: 0.1}}\n";
    const char *moving = HEAD2 "bodies:\n- lattice: {spacing: [1, 1], counts: [20, 20], speed: 0.5}\n  body: "
                               "{name: ball, velocity: [3, 0], shape: {kind: disc, radius: 0.1}}\n";
    dls_scene *a = read_good(still), *b = read_good(moving);
    double sum[3] = {0}, least[3] = {9, 9, 9}, most[3] = {-9, -9, -9};
    for (int i = 0; i < 400; i++) {
        dls_body_state one, two;
        dls_body_state_get(dls_scene_world(a), i, &one, NULL);
        dls_body_state_get(dls_scene_world(b), i, &two, NULL);
        assert_true(one.v[0] == 3 && one.v[1] == 0 && two.v[2] == 0);
        for (int k = 0; k < 2; k++) {
            double d = two.v[k] - one.v[k];
            assert_true(fabs(d) <= 0.5);
            sum[k] += d, least[k] = fmin(least[k], d), most[k] = fmax(most[k], d);
        }
    }
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(sum[k] / 400) < 0.06); /* four standard deviations of the mean */
        assert_true(least[k] < -0.48 && most[k] > 0.48);
    }
    dls_scene_destroy(a);
    dls_scene_destroy(b);
    refuses(HEAD2 "bodies:\n- lattice: {spacing: [1, 1], counts: [2, 2], speed: -1}\n  body: {shape: {kind: "
                  "disc, radius: 0.1}}\n",
            "speed");
}

/* Every two bodies of radius · size apart, and all inside: with the region given as a function. */
typedef double (*room_function)(const double *x);

static void check_packing(dls_scene *scene, double period, room_function room) {
    dls_world *world = dls_scene_world(scene);
    int count = dls_world_body_count(world);
    for (int i = 0; i < count; i++) {
        dls_body_state a, b;
        dls_body_state_get(world, i, &a, NULL);
        double radius = shape_of(scene, i).radius;
        assert_true(room(a.x) >= radius - 1e-9);
        for (int j = 0; j < i; j++) {
            dls_body_state_get(world, j, &b, NULL);
            double d[3];
            vec_sub(d, a.x, b.x);
            if (period > 0) d[0] -= period * rint(d[0] / period);
            assert_true(vec_norm(d) >= radius + shape_of(scene, j).radius - 1e-9);
        }
    }
}

static double box_room(const double *x) {
    double room = INFINITY;
    for (int k = 0; k < 3; k++) room = fmin(room, fmin(x[k] + 1, 1 - x[k]));
    return room;
}
static double disc_room(const double *x) { return 1 - hypot(x[0] - 3, x[1]); }
static double cylinder_room(const double *x) { return fmin(1 - hypot(x[0], x[1]), fmin(x[2] - 1, 3 - x[2])); }
static double ball_room(const double *x) { return 1 - vec_norm(x); }
static double slab_room(const double *x) { return fmin(x[1], 1 - x[1]); }

static void test_packings(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD3 "bodies:\n- packing: {region: {kind: box, low: [-1, -1, -1], high: [1, 1, 1]}, count: 200, "
              "size: {uniform: [0.1, 0.2]}}\n  body: {shape: {kind: sphere, radius: 1}}\n");
    assert_int_equal(dls_world_body_count(dls_scene_world(scene)), 200);
    check_packing(scene, 0, box_room);
    dls_scene_destroy(scene);
    scene = read_good(
        HEAD3 "bodies:\n- packing: {region: {kind: cylinder, centre: [0, 0, 2], radius: 1, length: 2}, "
              "count: 100, size: {normal: {mean: 0.1, deviation: 0.02, low: 0.05, high: 0.15}}}\n"
              "  body: {shape: {kind: sphere, radius: 1}}\n");
    check_packing(scene, 0, cylinder_room);
    dls_scene_destroy(scene);
    scene = read_good(
        HEAD3
        "bodies:\n- packing: {region: {kind: ball, radius: 1}, solid_fraction: 0.2, orientation: random, "
        "size: {table: {size: [0.01, 1], share: [3, 1]}}}\n  body: {shape: {kind: sphere, radius: 0.15}}\n");
    double volume = 0;
    for (int i = 0; i < dls_world_body_count(dls_scene_world(scene)); i++)
        volume += pow(shape_of(scene, i).radius, 3);
    assert_true(fabs(volume - 0.2) < 0.003);
    check_packing(scene, 0, ball_room);
    dls_scene_destroy(scene);
}

/* Denser than places that are drawn one after the other can be. */
static void test_dense_packings(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD2 "bodies:\n- packing: {region: {kind: disc, centre: [3, 0], radius: 1}, solid_fraction: 0.72, "
              "size: {uniform: [0.8, 1.2]}}\n  body: {shape: {kind: disc, radius: 0.05}}\n");
    check_packing(scene, 0, disc_room);
    dls_scene_destroy(scene);
    scene = read_good(
        HEAD3
        "bodies:\n- packing: {region: {kind: box, low: [-1, -1, -1], high: [1, 1, 1]}, solid_fraction: 0.5}\n"
        "  body: {shape: {kind: sphere, radius: 0.15}}\n");
    check_packing(scene, 0, box_room);
    dls_scene_destroy(scene);
    scene = read_good(
        HEAD2
        "periodic: {size: [2, 0]}\nbodies:\n- packing: {region: {kind: box, low: [0, 0], high: [2, 1]}, "
        "solid_fraction: 0.7}\n  body: {shape: {kind: disc, radius: 0.05}}\n");
    check_packing(scene, 2, slab_room);
    dls_scene_destroy(scene);
}

/* In a cell that is periodic along some axes or all, loose and dense: as many as come nearest to the solid
 * fraction, centres inside the cell, images as far apart as bodies, and some across every border. */
static void test_periodic_packings(void **unused) {
    (void)unused;
    static const struct {
        const char *head, *periodic, *region, *shape;
        double period[3], gap, fraction, volume; /* of a body, in parts of the cell's */
    } rows[] = {
        {HEAD2, "[2, 1]", "low: [-1, 3], high: [1, 4]", "disc", {2, 1}, 0.1, 0.1, M_PI / 800},
        {HEAD2, "[2, 1]", "low: [-1, 3], high: [1, 4]", "disc", {2, 1}, 0.001, 0.74, M_PI / 800},
        {HEAD2, "[0, 1]", "low: [-1, 3], high: [1, 4]", "disc", {0, 1}, 0.001, 0.72, M_PI / 800},
        {HEAD3, "[1, 1, 1]", "low: [0, 0, 5], high: [1, 1, 6]", "sphere", {1, 1, 1}, 0.1, 0.03, M_PI / 6000},
        {HEAD3, "[1, 1, 1]", "low: [0, 0, 5], high: [1, 1, 6]", "sphere", {1, 1, 1}, 0.001, 0.5, M_PI / 6000},
        {HEAD3,
         "[1, 0, 1]",
         "low: [0, 0, 5], high: [1, 1, 6]",
         "sphere",
         {1, 0, 1},
         0.001,
         0.45,
         M_PI / 6000},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        char text[600];
        snprintf(text, sizeof text,
                 "%speriodic: {size: %s, low: %s}\nbodies:\n- packing: {region: {kind: box, %s}, gap: %g, "
                 "solid_fraction: %g}\n  body: {shape: {kind: %s, radius: 0.05}}\n",
                 rows[row].head, rows[row].periodic, row < 3 ? "[-1, 3]" : "[0, 0, 5]", rows[row].region,
                 rows[row].gap, rows[row].fraction, rows[row].shape);
        dls_scene *scene = read_good(text);
        dls_world *world = dls_scene_world(scene);
        int count = dls_world_body_count(world), across[3] = {0};
        const double low[3] = {row < 3 ? -1 : 0, row < 3 ? 3 : 0, row < 3 ? 0 : 5};
        const double size[3] = {row < 3 ? 2 : 1, 1, 1};
        assert_int_equal(count, (int)rint(rows[row].fraction / rows[row].volume));
        for (int i = 0; i < count; i++) {
            dls_body_state a, b;
            dls_body_state_get(world, i, &a, NULL);
            for (int k = 0; k < (row < 3 ? 2 : 3); k++) {
                double inset = rows[row].period[k] > 0 ? 0 : 0.05 - 1e-9, x = a.x[k] - low[k];
                assert_true(x >= inset && x <= size[k] - inset);
                across[k] += x < 0.05 || x > size[k] - 0.05;
            }
            for (int j = 0; j < i; j++) {
                double d[3];
                dls_body_state_get(world, j, &b, NULL);
                vec_sub(d, a.x, b.x);
                for (int k = 0; k < 3; k++)
                    if (rows[row].period[k] > 0)
                        d[k] -= rows[row].period[k] * rint(d[k] / rows[row].period[k]);
                if (vec_norm(d) < 0.1 + rows[row].gap - 1e-9)
                    fail_msg("row %zu: %d and %d are %g apart", row, i, j, vec_norm(d));
            }
        }
        for (int k = 0; k < 3; k++)
            if (rows[row].period[k] > 0 && across[k] == 0)
                fail_msg("row %zu: %d across %d", row, across[k], k);
        dls_scene_destroy(scene);
    }
}

/* Those that are stuck are said to be at once; one that creeps past a saddle for 200,000 rounds gets there.
 */
static void test_packings_that_are_stuck(void **unused) {
    (void)unused;
    double began = dls_clock_cpu();
    int many = scaled(20, 1);
    for (int seed = 1; seed <= many; seed++) {
        char text[400];
        snprintf(text, sizeof text,
                 HEAD3 "bodies:\n- packing: {region: {kind: ball, radius: 1}, count: 5, seed: %d}\n"
                       "  body: {shape: {kind: sphere, radius: 0.45}}\n",
                 seed);
        refuses(text, "no room found for 5 bodies without overlap");
    }
    assert_true(dls_clock_cpu() - began < 4);
    if (many < 20) return;
    dls_scene *scene = read_good(
        HEAD3
        "bodies:\n- packing: {region: {kind: box, low: [0, 0, 0], high: [4.117615, 4.117615, 4.117615]}, "
        "count: 7, size: {uniform: [0.8, 1.1]}}\n  body: {shape: {kind: sphere, radius: 0.98}}\n");
    assert_int_equal(dls_world_body_count(dls_scene_world(scene)), 7);
    dls_scene_destroy(scene);
}

static void test_the_same_seed_gives_the_same_packing(void **unused) {
    (void)unused;
    static const char text[] =
        HEAD2 "bodies:\n- packing: {region: {kind: disc, radius: 1}, count: 50, seed: 7}\n"
              "  body: {name: a, shape: {kind: disc, radius: 0.05}}\n";
    const char *other[] = {"bodies.0.packing.seed=8"};
    dls_error error;
    dls_scene *a = read_good(text), *b = read_good(text), *c = read_with(text, 1, other, &error);
    dls_body_state x = state_of(a, "a-49"), y = state_of(b, "a-49"), z = state_of(c, "a-49");
    assert_memory_equal(&x, &y, sizeof x);
    assert_memory_not_equal(&x, &z, sizeof x);
    dls_scene_destroy(a);
    dls_scene_destroy(b);
    dls_scene_destroy(c);
}

static void test_layers_do_not_overlap(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD3 "bodies:\n- layers: {region: {kind: cylinder, centre: [0, 0, 2], radius: 1, length: 2}, "
              "count: 200, size: {uniform: [0.5, 1]}}\n  body: {shape: {kind: sphere, radius: 0.12}}\n");
    check_packing(scene, 0, cylinder_room);
    dls_scene_destroy(scene);
    scene =
        read_good(HEAD2 "bodies:\n- layers: {region: {kind: disc, centre: [3, 0], radius: 1}, count: 55}\n"
                        "  body: {shape: {kind: disc, radius: 0.1}}\n");
    check_packing(scene, 0, disc_room);
    dls_scene_destroy(scene);
}

static void test_courses(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD3 "bodies:\n- pyramid: {base: 3, origin: [1, 1, 0]}\n  body: {name: p, shape: {kind: box, "
              "size: [1, 2, 0.5]}}\n- wall: {length: 3, height: 2, origin: [9, 0, 0]}\n"
              "  body: {name: w, shape: {kind: box, size: [1, 1, 1]}}\n");
    assert_int_equal(dls_world_body_count(dls_scene_world(scene)), 14 + 5);
    double corner[3] = {0, -1, 0.25}, top[3] = {1, 1, 1.25}, brick[3] = {8.5, 0, 1.5};
    assert_true(vec_distance(state_of(scene, "p-0").x, corner) < 1e-14);
    assert_true(vec_distance(state_of(scene, "p-13").x, top) < 1e-14);
    assert_true(vec_distance(state_of(scene, "w-3").x, brick) < 1e-14);
    int warnings = -1;
    dls_error error;
    assert_int_equal(dls_scene_check(scene, NULL, NULL, &warnings, &error), DLS_OK);
    assert_int_equal(warnings, 0); /* they touch and do not overlap */
    dls_scene_destroy(scene);
}

/* The middle of the bottom is over the origin wherever the prototype lies in its frame, of whatever size. */
static void test_courses_of_bodies_that_lie_aside(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD3
        "bodies:\n- pyramid: {base: 2, origin: [5, 6, 7], gap: 0.5, size: 2}\n  body: {name: p, shape: "
        "{kind: box, size: [1, 2, 0.5], position: [0.3, -0.4, 0.7]}}\n"
        "- wall: {length: 3, height: 2, origin: [-5, 6, 7], gap: 0.5, size: 2}\n  body: {name: w, shape: "
        "{kind: box, size: [1, 2, 0.5], position: [0.3, -0.4, 0.7]}}\n");
    static const struct {
        const char *name;
        double x[3];
    } rows[] = {{"p-0", {3.75, 3.75, 7.5}}, {"p-1", {6.25, 3.75, 7.5}}, {"p-3", {6.25, 8.25, 7.5}},
                {"p-4", {5, 6, 9}},         {"w-0", {-7.5, 6, 7.5}},    {"w-2", {-2.5, 6, 7.5}},
                {"w-3", {-6.25, 6, 9}},     {"w-4", {-3.75, 6, 9}}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        dls_body_state at = state_of(scene, rows[k].name);
        if (!(vec_distance(at.x, rows[k].x) < 1e-13))
            fail_msg("%s is at (%g, %g, %g)", rows[k].name, at.x[0], at.x[1], at.x[2]);
    }
    dls_scene_destroy(scene);
    scene = read_good(HEAD2 "bodies:\n- wall: {length: 2, height: 2, bond: stacked, origin: [5, 6]}\n  body: "
                            "{name: w, shape: {kind: disc, radius: 0.5, position: [0.3, -0.4]}}\n");
    const double first[3] = {4.5, 6.5, 0}, last[3] = {5.5, 7.5, 0};
    assert_true(vec_distance(state_of(scene, "w-0").x, first) < 1e-14);
    assert_true(vec_distance(state_of(scene, "w-3").x, last) < 1e-14);
    dls_scene_destroy(scene);
}

static void test_a_prototype_is_scaled_as_a_whole(void **unused) {
    (void)unused;
    dls_scene *scene =
        read_good(HEAD3 "bodies:\n- lattice: {spacing: [9, 9, 9], counts: [1, 1, 1], size: 2}\n  body:\n    "
                        "name: a\n    mass: 3\n"
                        "    shapes:\n    - {kind: capsule, radius: 0.1, length: 1, position: [0, 0, 1]}\n"
                        "    - {kind: polyhedron, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n");
    dls_world *world = dls_scene_world(scene);
    dls_body_mass mass;
    dls_shape_def capsule, tetrahedron;
    dls_body_mass_get(world, 0, &mass, NULL);
    dls_body_shape(world, 0, 0, &capsule, NULL);
    dls_body_shape(world, 0, 1, &tetrahedron, NULL);
    assert_true(fabs(mass.mass - 24) < 1e-12);
    assert_true(capsule.radius == 0.2 && capsule.length == 2);
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < tetrahedron.point_count; k++) {
        low = fmin(low, tetrahedron.points[3 * k]);
        high = fmax(high, tetrahedron.points[3 * k]);
    }
    assert_true(fabs(high - low - 2) < 1e-12);
    dls_scene_destroy(scene);
}

static void test_generators_that_are_refused(void **unused) {
    (void)unused;
#define DISCS "\n  body: {shape: {kind: disc, radius: 0.1}}\n"
    refuses(HEAD2 "bodies:\n- packing: {region: {kind: disc, radius: 1}}" DISCS,
            "neither count nor solid_fraction");
    refuses(HEAD2
            "bodies:\n- packing: {region: {kind: disc, radius: 1}, count: 2, solid_fraction: 0.1}" DISCS,
            "both count and solid_fraction");
    refuses(HEAD2 "bodies:\n- packing: {region: {kind: disc, radius: 1}, count: 99}" DISCS,
            "fill 0.99 of the region");
    refuses(HEAD2 "bodies:\n- packing: {region: {kind: disc, radius: 0.05}, count: 1}" DISCS,
            "expected a wider one");
    refuses(HEAD2 "bodies:\n- packing: {region: {kind: ball, radius: 1}, count: 1}" DISCS,
            "expected box or disc");
    refuses(HEAD2 "bodies:\n- packing: {region: {kind: cube, radius: 1}, count: 1}" DISCS,
            "no kind of region 'cube'");
    refuses(HEAD2 "bodies:\n- packing: {region: {kind: box, low: [0, 0], high: [1, 0]}, count: 1}" DISCS,
            "expected low below high");
    refuses(HEAD2 "bodies:\n- packing: {count: 1}" DISCS, "a packing has no 'region'");
    refuses(HEAD2 "bodies:\n- layers: {region: {kind: disc, radius: 1}, count: 90}" DISCS,
            "expected room for 90");
    refuses(HEAD2 "bodies:\n- layers: {region: {kind: disc, radius: 1}, count: 900}" DISCS,
            "expected a larger region");
#define ONE "- lattice: {spacing: [1, 1], counts: [1, 1], size: "
    refuses(HEAD2 "bodies:\n" ONE "-1}" DISCS, "size is -1");
    refuses(HEAD2 "bodies:\n" ONE "{uniform: [2, 1]}}" DISCS, "expected 0 < low ≤ high");
    refuses(HEAD2 "bodies:\n" ONE "{}}" DISCS, "a size with 0 distributions");
    refuses(HEAD2 "bodies:\n" ONE "{normal: {mean: 1, deviation: 0.1, low: 5, high: 6}}}" DISCS,
            "around the mean");
    refuses(HEAD2 "bodies:\n" ONE "{table: {size: [1, 2], share: [1]}}}" DISCS, "2 sizes and 1 shares");
    refuses(HEAD2 "bodies:\n" ONE "{table: {size: [1, 2], share: [0, 0]}}}" DISCS, "expected a sum above 0");
    refuses(HEAD2 "bodies:\n- lattice: {spacing: [1, 1], counts: [1, 1]}\n", "has no 'body' beside it");
    refuses(HEAD2 "bodies:\n- lattice: {spacing: [1, 1], counts: [1, 1]}\n  name: a" DISCS,
            "expected 'body' or 'mixture' only");
    refuses(HEAD2 "bodies:\n- lattice: {spacing: [1, 1], counts: [1, 1]}\n  body: {position: [1, 1]}\n",
            "unknown key 'position' in a prototype");
    refuses(HEAD2 "bodies:\n- lattice: {spacing: [1, 1], counts: [1, 1]}\n  body: {motion: static, shape: "
                  "{kind: drum, radius: 1}}\n",
            "a generator makes a drum");
    refuses(HEAD2 "bodies:\n- wall: {length: 3, height: 2, orientation: random}" DISCS, "expected one size");
}

#define POINTS "\n  body: {name: point, mass: 1, inertia: 2}\n"

/* Where places are told a body needs no shape; where they follow from sizes it does. */
static void test_bodies_without_shapes(void **unused) {
    (void)unused;
    dls_scene *scene =
        read_good(HEAD2 "bodies:\n- lattice: {spacing: [1, 1], counts: [2, 1], size: 2}" POINTS);
    const dls_world *world = dls_scene_world(scene);
    assert_int_equal(dls_world_body_count(world), 2);
    assert_true(state_of(scene, "point-1").x[0] == 1);
    dls_scene_destroy(scene);
    static const char *const others[] = {
        "packing: {region: {kind: box, low: [0, 0], high: [9, 9]}, count: 2}",
        "layers: {region: {kind: box, low: [0, 0], high: [9, 9]}, count: 2}", "pyramid: {base: 2}",
        "wall: {length: 2, height: 1}"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        char text[500];
        snprintf(text, sizeof text, "%sbodies:\n- %s%s", HEAD2, others[k], POINTS);
        refuses(text, "the prototype has no size, expected 'shape' or 'shapes'");
    }
    refuses(HEAD2 "bodies:\n- lattice: {spacing: [1, 1], counts: [1, 1]}\n  body: {name: point}\n", "mass");
}

/* ---- meshes ---- */

static const char tetrahedron_obj[] = "# four corners\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                      "f 1 3 2\nf 1/1 2/2/2 4//4\nf -4 -1 -2\nf 2 3 4\n";

static void check_mesh(const char *name, const char *bytes, size_t size, int points, int triangles) {
    dls_arena arena = {NULL};
    dls_shape_def def = dls_default_shape_def(DLS_MESH);
    dls_error error = {0};
    if (dls_mesh_bytes_read(&arena, name, bytes, size, &def, &error)) fail_msg("%s", error.message);
    assert_int_equal(def.point_count, points);
    assert_int_equal(def.triangle_count, triangles);
    for (int k = 0; k < 3 * triangles; k++) assert_in_range(def.triangles[k], 0, points - 1);
    dls_arena_release(&arena);
}

static void refuses_mesh(const char *name, const char *bytes, size_t size, const char *message) {
    dls_arena arena = {NULL};
    dls_shape_def def = dls_default_shape_def(DLS_MESH);
    dls_error error = {0};
    assert_int_equal(dls_mesh_bytes_read(&arena, name, bytes, size, &def, &error), DLS_ERROR_FILE);
    if (!strstr(error.message, message)) fail_msg("'%s' does not hold '%s'", error.message, message);
    dls_arena_release(&arena);
}

static void refuses_obj(const char *text, const char *message) {
    refuses_mesh("m.obj", text, strlen(text), message);
}

static void test_mesh_files(void **unused) {
    (void)unused;
    check_mesh("m.OBJ", tetrahedron_obj, strlen(tetrahedron_obj), 4, 4);
    static const char square[] = "v 0 0 0\r\nv 1 0 0\r\nv 1 1 0\r\nv 0 1 0\r\nf 1 2 3 4 # a square\r\n";
    check_mesh("m.obj", square, strlen(square), 4, 2);
    static const char stl[] =
        "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
        "endfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 0 -0\nvertex 1e0 1 0\nvertex 0 1 0\nendloop\n"
        "endfacet\nendsolid\n";
    check_mesh("m.stl", stl, strlen(stl), 4, 2);
    char binary[84 + 150 + 1] = "solid is how some programs begin binary files, too";
    uint32_t facets = 3;
    float corners[3][9] = {
        {0, 0, 0, 1, 0, 0, 0, 1, 0}, {1, 0, 0, 1, 1, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 0, 1, 0, 0}};
    memcpy(binary + 80, &facets, 4);
    for (int i = 0; i < 3; i++) memcpy(binary + 84 + 50 * i + 12, corners[i], sizeof corners[i]);
    check_mesh("m.stl", binary, sizeof binary - 1, 4, 2); /* the third is a line */
    refuses_mesh("m.stl", binary, sizeof binary - 2, "cut off");
    refuses_mesh("m.stl", binary, 60, "cut off");
    refuses_mesh("m.stl", "", 0, "cut off");
    refuses_mesh("m.ply", binary, sizeof binary - 1, "expected .obj or .stl");
    corners[0][0] = NAN;
    memcpy(binary + 96, corners[0], 36);
    refuses_mesh("m.stl", binary, sizeof binary - 1, "not finite");
    char part[sizeof stl];
    snprintf(part, sizeof part, "%.*s", (int)(strstr(stl, "vertex 1e0") - stl), stl);
    refuses_mesh("m.stl", part, strlen(part), "cut off");
}

static void test_obj_files_that_are_refused(void **unused) {
    (void)unused;
    refuses_obj("", "no triangles");
    refuses_obj("v 0 0 0\n", "no triangles");
    refuses_obj("v 0 0\nv 1 2 3\n", "m.obj:1: a vertex, expected 'v x y z'");
    refuses_obj("v 0 0 inf\n", "m.obj:1: a coordinate is not finite");
    refuses_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "m.obj:4: point 4 in a face, expected 1 to 3");
    refuses_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "point 0 in a face");
    refuses_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 2 1\n", "point -4 in a face");
    refuses_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 99999999999999999999 2 1\n", "in a face, expected 1 to 3");
    refuses_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "fewer than 3 points");
    refuses_obj("v 0 0 0\nf a b c\n", "a face without an index");
    refuses_mesh("m.obj", "v 0 0 0\0", 9, "zero byte");
    refuses(HEAD3 "bodies:\n- motion: static\n  shape:\n    kind: mesh\n    file: absent.obj\n",
            "test.yaml:6: ./absent.obj: cannot be read: No such file");
    refuses(HEAD3 "bodies:\n- {motion: static, shape: {kind: mesh}}\n", "a mesh has no 'file'");
}

/* ---- warnings ---- */

typedef struct lines {
    int count;
    char text[4000];
} lines;

static void keep_line(const char *line, void *user) {
    lines *kept = user;
    kept->count++;
    strncat(kept->text, line, sizeof kept->text - strlen(kept->text) - 2);
    strcat(kept->text, "\n");
}

static lines warnings_of(const char *text) {
    lines kept = {0};
    int count = -1;
    dls_error error;
    dls_scene *scene = read_good(text);
    if (dls_scene_check(scene, keep_line, &kept, &count, &error)) fail_msg("%s", error.message);
    assert_int_equal(kept.count, count);
    dls_scene_destroy(scene);
    return kept;
}

static void test_overlaps_are_warned_of(void **unused) {
    (void)unused;
    lines w = warnings_of(HEAD2 "bodies:\n- {name: a, shape: {kind: disc, radius: 1}}\n"
                                "- {name: b, position: [1.75, 0], shape: {kind: disc, radius: 1}}\n"
                                "- {name: c, position: [5, 0], shape: {kind: disc, radius: 1}}\n");
    assert_int_equal(w.count, 1);
    assert_true(strstr(w.text, "'a' and 'b'") && strstr(w.text, "0.25 m deep"));
    w = warnings_of(HEAD2 "bodies:\n- lattice: {spacing: [0.9, 3], counts: [30, 1]}\n"
                          "  body: {shape: {kind: disc, radius: 0.5}}\n");
    assert_int_equal(w.count, 6);
    assert_non_null(strstr(w.text, "29 pairs of bodies in all, the deepest 0.1 m"));
    w = warnings_of(HEAD2 "bodies:\n- {motion: static, shape: {kind: half-plane}}\n"
                          "- {position: [0, 1], shape: {kind: disc, radius: 1}}\n"
                          "- {position: [2, 1], shape: {kind: disc, radius: 1}}\n");
    assert_int_equal(w.count, 0); /* touching is no overlap */
}

static void test_overlaps_at_birth_are_warned_of(void **unused) {
    (void)unused;
#define GROUND HEAD2 "bodies:\n- {name: ground, motion: static, shape: {kind: half-plane}}\n"
#define DISC   "shape: {kind: disc, radius: 1}}\n"
    lines w = warnings_of(GROUND "- {name: a, birth: 0.5, position: [0, 0.75], " DISC);
    assert_int_equal(w.count, 1);
    assert_non_null(strstr(w.text, "overlap at birth: 'a', born at t = 0.5 s, and 'ground', 0.25 m deep"));
    w = warnings_of(GROUND
                    "- {name: a, birth: 0.5, position: [0, 1], " DISC
                    "- {name: b, birth: 0.5, position: [1.5, 1], " DISC
                    "- {name: c, birth: 0.7, position: [0.1, 1], " DISC); /* the others may be gone by then */
    assert_int_equal(w.count, 1);
    assert_true(strstr(w.text, "'a', born at t = 0.5 s, and 'b', 0.5 m deep"));
    w = warnings_of(GROUND "- {name: a, birth: 0.5, position: [0, 1], " DISC
                           "- {name: gone, death: 0.2, motion: static, position: [0, 2], " DISC
                           "- {name: late, birth: 0.6, motion: static, position: [0, 9], " DISC);
    assert_int_equal(w.count, 0);
    w = warnings_of(GROUND "- lattice: {spacing: [3, 3], counts: [9, 1], origin: [0, 0.5]}\n"
                           "  body: {birth: 1, " DISC);
    assert_int_equal(w.count, 6);
    assert_non_null(strstr(w.text, "overlap at birth: 9 pairs of bodies in all, the deepest 0.5 m"));
}

/* A ball over a floor of two triangles, nearer than its own size, and one far above it. */
static lines warnings_of_floor(const char *faces) {
    FILE *file = fopen("floor.obj", "w");
    assert_non_null(file);
    fprintf(file, "v -5 -5 0\nv 5 -5 0\nv 5 5 0\nv -5 5 0\n%s", faces);
    fclose(file);
    return warnings_of(HEAD3
                       "bodies:\n- {name: floor, motion: static, shape: {kind: mesh, file: floor.obj}}\n"
                       "- {name: ball, position: [0, 1, 0.15], shape: {kind: sphere, radius: 0.1}}\n"
                       "- {name: far, position: [0, 1, 0.5], shape: {kind: sphere, radius: 0.1}}\n");
}

static void test_the_back_of_a_mesh_is_warned_of(void **unused) {
    (void)unused;
    lines w = warnings_of_floor("f 1 2 3\nf 1 3 4\n");
    if (w.count) fail_msg("%s", w.text);
    w = warnings_of_floor("f 1 3 2\nf 1 4 3\n");
    assert_int_equal(w.count, 1);
    assert_non_null(
        strstr(w.text, "'ball' starts behind the mesh of 'floor'; are its faces turned inside out?"));
}

static void test_thin_walls_and_long_steps_are_warned_of(void **unused) {
    (void)unused;
#define THIN                                                                                                 \
    HEAD3 "gravity: [0, 0, 0]\nbodies:\n- {name: sheet, motion: static, shape: {kind: box, size: [1, 1, "    \
          "0.01]}}\n"
    lines w = warnings_of(
        THIN "- {position: [0, 0, 2], velocity: [0, 0, -20], shape: {kind: sphere, radius: 0.1}}\n");
    assert_int_equal(w.count, 1);
    assert_true(strstr(w.text, "'sheet' is 0.01 m thick") && strstr(w.text, "0.02 m in a step"));
    w = warnings_of(THIN
                    "- {position: [0, 0, 2], velocity: [0, 0, -9], shape: {kind: sphere, radius: 0.1}}\n");
    assert_int_equal(w.count, 0);
    w = warnings_of(HEAD3
                    "bodies:\n- {name: ball, shape: {kind: sphere, radius: 0.001}}\ntime: {step: 0.01}\n");
    assert_true(w.count == 1 && strstr(w.text, "step too long: from rest") && strstr(w.text, "'ball'"));
    w = warnings_of(HEAD3
                    "bodies:\n- {name: ball, velocity: [300, 0, 0], shape: {kind: sphere, radius: 0.1}}\n");
    assert_true(w.count == 1 && strstr(w.text, "step too long: 'ball' moves 0.3 m"));
}

static void test_pairs_that_meet_are_warned_of(void **unused) {
    (void)unused;
#define PAIRS                                                                                                \
    HEAD2 "groups: [g]\nmaterials: {a: {mu: 0.3}, b: {mu: 0.2}, c: {}}\n"                                    \
          "bodies:\n- {material: a, shape: {kind: disc, radius: 1}}\n"                                       \
          "- {material: b, motion: static, position: [9, 0], shape: {kind: disc, radius: 1}}\n"              \
          "- {material: c, motion: static, position: [0, 9], group: g, collides: [g], shape: {kind: disc, "  \
          "radius: 1}}\n"
    lines w = warnings_of(PAIRS);
    assert_true(w.count == 1 && strstr(w.text, "materials 'a' and 'b' may meet") && strstr(w.text, "mu 0.2"));
    w = warnings_of(PAIRS "pairs: [{materials: [a, b], mu: 0.1}]\n");
    assert_int_equal(w.count, 0);
}

/* One doubt and no other warning about a scene with this value in it; none about its neighbour that is right.
 */
static void test_units_are_doubted(void **unused) {
    (void)unused;
#define FLOOR3 HEAD3 "bodies:\n- {motion: static, shape: {kind: half-space}}\n"
#define FLOOR2 HEAD2 "bodies:\n- {motion: static, shape: {kind: half-plane}}\n"
#define BALL3  "- {position: [0, 0, 2], shape: {kind: sphere, radius: 0.1}, "
    static const struct {
        const char *text, *said; /* NULL: nothing */
    } cases[] = {
        {FLOOR3 BALL3 "rotation: {axis: [1, 0, 0], angle: 30}}\n", "angle is 30 rad, 4.775 turns"},
        {FLOOR3 BALL3 "rotation: {axis: [1, 0, 0], angle: 30*deg}}\n", NULL},
        {FLOOR3 BALL3 "rotation: {axis: [1, 0, 0], angle: 2*pi}}\n", NULL},
        {FLOOR3 BALL3 "rotation: {axis: [1, 0, 0], angle: 720*deg}}\n", NULL},
        {FLOOR3 BALL3 "rotation: {axis: [1, 0, 0], angle: tilt}}\nvariables: {tilt: -45}\n", "-45*deg"},
        {FLOOR3 BALL3 "rotation: {axis: [1, 0, 0], angle: pi/6*deg}}\n", "'pi/6*deg', 0.00914 rad"},
        {FLOOR3 BALL3 "rotation: {axis: [1, 0, 0], angle: pi/2 - 5*deg}}\n", NULL},
        {FLOOR2 "- {position: [0, 2], rotation: 45, shape: {kind: disc, radius: 0.1}}\n",
         "rotation is 45 rad"},
        {FLOOR2 "- {position: [0, 2], rotation: 0.8, shape: {kind: disc, radius: 0.1}}\n", NULL},
        {FLOOR3 "- {motion: driven, drive: {rz: {position: 90}}}\n", "position is 90 rad"},
        {FLOOR3 "- {motion: driven, drive: {z: {position: 90}}}\n", "position along z is 90 m at t = 0 s"},
        {FLOOR3 "- {name: lid, motion: driven, drive: {x: {position: '0.1*cos(3*t)'}}}\n",
         "'lid': position along x is 0.1 m at t = 0 s, where the body has moved 0 m: it jumps"},
        {FLOOR3 "- {motion: driven, drive: {rx: {position: '1 - 0.1*t'}}}\n", "about x is 1 rad at t = 0 s"},
        {FLOOR3 "- {motion: driven, drive: {x: {position: '0.1*(1 - cos(3*t))'}}}\n", NULL},
        {FLOOR3 "- {motion: driven, drive: {x: {position: {t: [0, 1], value: [0.2, 0]}}}}\n",
         "0.2 m at t = 0 s"},
        {FLOOR3 "- {motion: driven, birth: 2, drive: {x: {position: '0.1*t'}}}\n", "0.2 m at t = 2 s"},
        {FLOOR3 "- {motion: driven, birth: 2, drive: {x: {position: '0.1*(t - 2)'}}}\n", NULL},
        {FLOOR3 "integrator: {scheme: dvi}\nmaterials: {default: {e_n: 0.5}}\n", "'entering: closed'"},
        {FLOOR3
         "integrator: {scheme: dvi}\nmaterials: {a: {}}\npairs: [{materials: [a, default], e_n: 0.5}]\n",
         "e_n is 0.5 of materials 'default' and 'a'"},
        {FLOOR3 "integrator: {scheme: dvi, entering: closed}\nmaterials: {default: {e_n: 0.5}}\n", NULL},
        {FLOOR3 "integrator: {scheme: dvi}\nmaterials: {default: {e_t: 0.5}}\n", NULL},
        {FLOOR3 "materials: {default: {e_n: 0.5}}\n", NULL},
        {FLOOR3 "- {motion: driven, drive: {rz: {position: 90*t}}}\n", NULL},
        {FLOOR3 "- {motion: driven, drive: {rz: {velocity: 1500}}}\n", "1500 rpm are 1500*2*pi/60"},
        {FLOOR3 "- {motion: driven, drive: {rz: {velocity: 15}}}\n", NULL},
        {FLOOR3 "materials: {default: {mu: 30}}\n", "'tan(30*deg)'"},
        {FLOOR3 "materials: {default: {mu: 200}}\n", "mu is 200"},
        {FLOOR3 "materials: {default: {mu: 5}}\n", NULL},
        {FLOOR3 "materials: {a: {}}\npairs: [{materials: [a, a], mu: 30}]\n", "mu is 30"},
        {FLOOR3 "materials: {default: {density: 2.5}}\n", "2.5 g/cm³ are 2500"},
        {FLOOR3 "materials: {default: {density: 7.85e6}}\n", "7.85e+06 g/m³ are 7850"},
        {FLOOR3 "materials: {default: {density: 1e-6}}\n", "less than foam has"},
        {FLOOR3 "materials: {default: {density: 15}}\n", NULL},
        {FLOOR3 "materials: {default: {density: 22600}}\n", NULL},
        {FLOOR2 "materials: {default: {density: 2.5}}\n", NULL}, /* of a thin plate */
        {FLOOR2 "materials: {default: {density: 2e6}}\n", "density is 2e+06 kg/m²"},
        {FLOOR3 "gravity: [0, 0, -981]\n", "981 cm/s² are 9.81 m/s²"},
        {FLOOR3 "gravity: [0, -6936.7, -6936.7]\n", "mm/s² are 9.81 m/s²"},
        {FLOOR3 "gravity: [0, 0, 9.81]\n", "gravity points up, along +z; down is -9.81"},
        {FLOOR2 "gravity: [0, 9.81]\n", "gravity points up, along +y"},
        {FLOOR3 "gravity: [9.81, 0, 0]\n", NULL},
        {FLOOR3 "gravity: [0, 0, -1.62]\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lines w = warnings_of(cases[i].text);
        bool good = cases[i].said ? w.count == 1 && strstr(w.text, cases[i].said) : w.count == 0;
        if (!good)
            fail_msg("%s%s\nexpected %s", cases[i].text, w.text, cases[i].said ? cases[i].said : "none");
        if (cases[i].said) assert_non_null(strstr(w.text, "test.yaml:")); /* and the line */
    }
}

/* A prototype is read for each of its bodies and doubted once. */
/* A tetrahedron of 70, in mm or in m, with bodies of some size in a region of some width. */
static void test_scales_are_doubted(void **unused) {
    (void)unused;
#define SILO HEAD3 "bodies:\n- {name: silo, motion: static, shape: {kind: mesh, file: silo.obj"
#define GRAINS                                                                                               \
    "- {lattice: {spacing: [0.01, 0.01, 0.01], counts: [5, 5, 5]}, body: {shape: {kind: sphere, radius: "    \
    "0.004}}}\n"
#define BOULDERS                                                                                             \
    "- {lattice: {spacing: [9, 9, 9], counts: [3, 3, 3]}, body: {shape: {kind: sphere, radius: 4}}}\n"
#define FED                                                                                                  \
    "inlets:\n- {region: {kind: ball, centre: [-1, -1, -1], radius: 0.03}, number_rate: 1, body: {shape: "   \
    "{kind: sphere, radius: "                                                                                \
    "0.004}}}\n"
    static const struct {
        const char *text, *said; /* NULL: nothing */
    } cases[] = {
        {SILO "}}\n" GRAINS,
         "test.yaml:3: 'silo.obj' is 70 m large, all that is smaller lies within 0.048 m"},
        {SILO "}}\n" GRAINS, "if its lengths are in mm, 'scale: 0.001' is missing"},
        {SILO "}}\n" FED, "all that is smaller lies within 0.06 m"},
        {SILO ", scale: 0.001}}\n" GRAINS, NULL},
        {SILO ", scale: 1}}\n" GRAINS, NULL},
        {SILO "}}\n" BOULDERS, NULL},
        {SILO "}}\n", NULL},
        {SILO ", scale: 0.001}}\n" BOULDERS, NULL},
        {HEAD3 "bodies:\n- {motion: static, shape: {kind: mesh, file: tiny.obj}}\n" BOULDERS,
         "'tiny.obj' is 0.07 m large, the smallest body that moves 8 m"},
        {HEAD3 "bodies:\n- {shape: {kind: polyhedron, file: silo.obj}}\n" GRAINS,
         "'scale: 0.001' is missing"},
        {HEAD3 "bodies:\n- {shape: {kind: polyhedron, file: silo.obj, scale: 0.001}}\n" GRAINS, NULL},
        {HEAD3 "bodies:\n- {shape: {kind: polyhedron, file: tiny.obj}}\n" BOULDERS, NULL},
    };
    for (int k = 0; k < 2; k++) {
        FILE *file = fopen(k ? "tiny.obj" : "silo.obj", "w");
        double a = k ? 0.07 : 70;
        fprintf(file, "v 0 0 0\nv %g 0 0\nv 0 %g 0\nv 0 0 %g\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", a, a, a);
        fclose(file);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dls_scene *scene = read_good(cases[i].text);
        const char *said = dls_scene_doubt(scene, 0);
        if (!cases[i].said && said) fail_msg("%zu: %s", i, said);
        if (cases[i].said && (!said || !strstr(said, cases[i].said)))
            fail_msg("%zu: '%s', expected %s", i, said ? said : "", cases[i].said);
        dls_scene_destroy(scene);
    }
}

static void test_a_doubt_is_told_once(void **unused) {
    (void)unused;
    lines w = warnings_of(HEAD2 "bodies:\n- lattice: {spacing: [3, 3], counts: [4, 1]}\n"
                                "  body: {motion: driven, shape: {kind: disc, radius: 0.5},\n"
                                "         drive: {rz: {position: 90}}}\n");
    assert_int_equal(w.count, 1);
    assert_non_null(strstr(w.text, ":6: position is 90 rad"));
}

static void test_templates_are_good_scenes(void **unused) {
    (void)unused;
    assert_true(dls_scene_template_count() >= 6);
    for (int i = 0; i < dls_scene_template_count(); i++) {
        print_message("# %s: %s\n", dls_scene_template_name(i), dls_scene_template_summary(i));
        lines w = warnings_of(dls_scene_template_text(i));
        if (w.count) fail_msg("%s: %s", dls_scene_template_name(i), w.text);
    }
    assert_null(dls_scene_template_name(-1));
    assert_null(dls_scene_template_text(dls_scene_template_count()));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_billion_bodies_are_refused_at_once),
        cmocka_unit_test(test_lattice),
        cmocka_unit_test(test_random_velocities),
        cmocka_unit_test(test_packings),
        cmocka_unit_test(test_dense_packings),
        cmocka_unit_test(test_periodic_packings),
        cmocka_unit_test(test_packings_that_are_stuck),
        cmocka_unit_test(test_the_same_seed_gives_the_same_packing),
        cmocka_unit_test(test_layers_do_not_overlap),
        cmocka_unit_test(test_courses),
        cmocka_unit_test(test_courses_of_bodies_that_lie_aside),
        cmocka_unit_test(test_a_prototype_is_scaled_as_a_whole),
        cmocka_unit_test(test_generators_that_are_refused),
        cmocka_unit_test(test_mesh_files),
        cmocka_unit_test(test_obj_files_that_are_refused),
        cmocka_unit_test(test_overlaps_are_warned_of),
        cmocka_unit_test(test_overlaps_at_birth_are_warned_of),
        cmocka_unit_test(test_the_back_of_a_mesh_is_warned_of),
        cmocka_unit_test(test_thin_walls_and_long_steps_are_warned_of),
        cmocka_unit_test(test_pairs_that_meet_are_warned_of),
        cmocka_unit_test(test_bodies_without_shapes),
        cmocka_unit_test(test_units_are_doubted),
        cmocka_unit_test(test_scales_are_doubted),
        cmocka_unit_test(test_a_doubt_is_told_once),
        cmocka_unit_test(test_templates_are_good_scenes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
