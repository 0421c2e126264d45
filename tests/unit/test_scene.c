/* Scenes: values, settings, what is refused, the reference, memory that runs out. */
#include "base/vector.h"
#include "support/allocator.h"
#include "support/scene_text.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

static void test_a_small_scene(void **unused) {
    (void)unused;
    dls_scene *scene =
        read_good("# a comment\ndelassus: 1\ntitle: Small\nvariables: {R: 0.5, twice: 2*R}\n"
                  "gravity: [0, 0, -1.5*twice]\nmaterials: {ice: {mu: 0.02, density: 917}}\n"
                  "bodies:\n  - name: ball\n    material: ice\n    position: [R, -twice, 1e-1]\n"
                  "    velocity: [0, sqrt(16), 0]\n    spin: [0, 0, 90*deg]\n"
                  "    shape: {kind: sphere, radius: R}\n"
                  "time: {step: 1/1000, until: 3}\nintegrator: {scheme: dvi}\n"
                  "solver: {name: nlgs, tolerance: 1e-9, law: sbp}\n"
                  "output: {interval: 0.5, contacts: no}\nrun: {strict: yes, threads: 2}\n");
    dls_world *world = dls_scene_world(scene);
    double g[3];
    dls_world_gravity(world, g);
    assert_true(g[2] == -1.5 && g[0] == 0);
    assert_string_equal(dls_scene_title(scene), "Small");
    dls_body_state state = state_of(scene, "ball");
    assert_true(state.x[0] == 0.5 && state.x[1] == -1 && state.x[2] == 0.1 && state.v[1] == 4);
    assert_true(fabs(state.w[2] - acos(0)) < 1e-15);
    dls_body_mass mass;
    assert_int_equal(dls_body_mass_get(world, 0, &mass, NULL), DLS_OK);
    assert_true(fabs(mass.mass - 917 * 4.0 / 3 * acos(-1) * 0.125) < 1e-10);
    const dls_simulation_options *simulation = dls_scene_simulation_options(scene);
    assert_true(simulation->step == 1e-3 && !strcmp(simulation->scheme, "dvi") && simulation->threads == 2);
    const dls_run_options *run = dls_scene_run_options(scene);
    assert_true(run->until == 3 && run->output_interval == 0.5 && !run->output_contacts && run->strict);
    assert_string_equal(dls_scene_solver(scene)->name, "nlgs");
    const dls_nlgs_options *options = dls_scene_solver_options(scene);
    assert_true(options->stop.tolerance == 1e-9);
    assert_string_equal(options->law, "sbp");
    dls_scene_destroy(scene);
}

static void test_json_is_read_too(void **unused) {
    (void)unused;
    dls_scene *scene =
        read_good("{\"delassus\": 1, \"dimension\": 2, \"bodies\": [{\"name\": \"a\",\n"
                  "\"position\": [1, 2], \"rotation\": \"pi/2\", \"shape\": {\"kind\": \"disc\", "
                  "\"radius\": 0.1}}]}");
    dls_body_state state = state_of(scene, "a");
    assert_true(fabs(state.q[0] - sqrt(0.5)) < 1e-15 && fabs(state.q[3] - sqrt(0.5)) < 1e-15);
    double g[3];
    dls_world_gravity(dls_scene_world(scene), g);
    assert_true(g[1] < -9 && g[2] == 0); /* down is -y in the plane */
    dls_scene_destroy(scene);
}

static void test_presets(void **unused) {
    (void)unused;
    dls_scene *scene = read_good("delassus: 1");
    dls_simulation_options preset = dls_default_simulation_options();
    dls_run_options run = dls_default_run_options();
    int count;
    const dls_field *fields = dls_simulation_fields(&count);
    for (int i = 0; i < count; i++) {
        char found[64], expected[64];
        dls_field_print(&fields[i], dls_scene_simulation_options(scene), found, sizeof found);
        dls_field_print(&fields[i], &preset, expected, sizeof expected);
        assert_string_equal(found, expected);
    }
    assert_true(dls_scene_run_options(scene)->until == run.until);
    assert_string_equal(dls_scene_solver(scene)->name, "auto");
    assert_true(((const dls_stop_options *)dls_scene_solver_options(scene))->tolerance == 1e-6);
    assert_int_equal(dls_world_body_count(dls_scene_world(scene)), 0);
    dls_scene_destroy(scene);
}

static void test_rotations_and_normals(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD3 "bodies:\n- " BALL ", rotation: {axis: [0, 0, 3], angle: pi/2}}\n"
              "- {name: b, shape: {kind: sphere, radius: 1}, position: [5, 0, 0], rotation: [2, 0, 2, 0]}\n"
              "- {name: f, motion: static, shape: {kind: half-space, normal: [1, 2, -2]}}\n"
              "- {name: g, motion: static, shape: {kind: half-space, normal: [0, 0, -3]}}\n");
    dls_body_state a = state_of(scene, "ball"), b = state_of(scene, "b");
    assert_true(fabs(a.q[0] - sqrt(0.5)) < 1e-15 && fabs(a.q[3] - sqrt(0.5)) < 1e-15);
    assert_true(fabs(b.q[0] - sqrt(0.5)) < 1e-15 && fabs(b.q[2] - sqrt(0.5)) < 1e-15);
    for (int id = 2; id < 4; id++) {
        dls_shape_def def = shape_of(scene, id);
        double R[9], n[3] = {id == 2 ? 1 / 3.0 : 0, id == 2 ? 2 / 3.0 : 0, id == 2 ? -2 / 3.0 : -1};
        quat_matrix(def.pose.q, R);
        assert_true(vec_distance(R + 6, n) < 1e-14); /* the third column is the way up */
    }
    dls_scene_destroy(scene);
    scene = read_good(HEAD2 "bodies: [{motion: static, shape: {kind: half-plane, normal: [3, 4]}}]");
    dls_shape_def def = shape_of(scene, 0);
    double R[9], n[3] = {0.6, 0.8, 0};
    quat_matrix(def.pose.q, R);
    assert_true(vec_distance(R + 3, n) < 1e-14);
    dls_scene_destroy(scene);
}

static void test_functions_and_drives(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD2
        "variables: {w: 3}\nbodies:\n"
        "- name: drum\n  motion: driven\n  shape: {kind: drum, radius: 1}\n"
        "  drive:\n    rz:\n      velocity: w*min(t, 1)\n"
        "- name: slab\n  motion: driven\n  shape: {kind: half-plane}\n"
        "  drive: {y: {force: -5, gain: 0.1, max_speed: 2}, x: {position: {t: [0, 1], value: [0, 2]}}}\n"
        "- name: disc\n  shape: {kind: disc, radius: 0.1}\n  force: [sin(t), 1]\n  torque: 2*t\n"
        "  locked: [x, rz]\n  birth: 1\n  death: 2\n");
    dls_world *world = dls_scene_world(scene);
    assert_int_equal(dls_body_motion(world, 0), DLS_DRIVEN);
    assert_int_equal(dls_world_body_count(world), 3);
    dls_scene_destroy(scene);
}

static void test_materials_pairs_and_groups(void **unused) {
    (void)unused;
    dls_scene *scene = read_good(
        HEAD3
        "groups: [a, b]\nmaterials: {default: {mu: 0.9}, x: {mu: 0.2, e_n: 0.1}, y: {mu: 0.4, e_n: 0.5}}\n"
        "pairs:\n- {materials: [y, x], mu: 0.7}\n- {materials: [x, x], e_n: 1}\n"
        "bodies:\n- {name: p, group: a, ignores: [b], material: x, shape: {kind: sphere, radius: 1}}\n"
        "- {name: q, group: b, collides: [b], position: [9, 0, 0],"
        " shapes: [{kind: sphere, radius: 1}, {kind: sphere, radius: 1, material: y, group: a}]}\n");
    const dls_world *world = dls_scene_world(scene);
    dls_pair_def pair;
    bool stated;
    dls_world_pair(world, 1, 2, &pair, &stated, NULL);
    assert_true(stated && pair.mu == 0.7 && pair.e_n == 0.5); /* what is not said is mixed */
    dls_world_pair(world, 1, 1, &pair, &stated, NULL);
    assert_true(stated && pair.mu == 0.2 && pair.e_n == 1);
    dls_world_pair(world, 0, 1, &pair, &stated, NULL);
    assert_true(!stated && pair.mu == 0.2);
    dls_shape_def p = shape_of(scene, 0), q = shape_of(scene, 1), q2;
    dls_body_shape(world, 1, 1, &q2, NULL);
    assert_true(p.material == 1 && q.material == 0 && q2.material == 2);
    assert_true(!(p.collides & q.group) && (p.collides & q2.group) && !(q.collides & p.group) &&
                q2.group == p.group);
    dls_scene_destroy(scene);
}

/* ---- settings ---- */

static void test_settings(void **unused) {
    (void)unused;
    static const char text[] =
        HEAD3 "variables: {R: 1}\nbodies:\n- " BALL "}\n- {name: other, shape: {kind: sphere, "
              "radius: R}, position: [9, 0, 0]}";
    const char *settings[] = {
        "time.step=1e-4",          "variables.R=2",          "bodies.ball.velocity=[1, 2, 3]",
        "bodies.1.name=renamed",   "solver.tolerance=10^-3", "bodies.ball.shape.radius=R/4",
        "materials={a: {mu: 0.1}}"};
    int count = sizeof settings / sizeof *settings;
    dls_error error;
    dls_scene *scene = read_with(text, count, settings, &error);
    if (!scene) fail_msg("%s", error.message);
    assert_true(dls_scene_simulation_options(scene)->step == 1e-4);
    assert_true(state_of(scene, "ball").v[2] == 3);
    assert_true(shape_of(scene, 0).radius == 0.5 && shape_of(scene, 1).radius == 2);
    assert_true(dls_world_find_body(dls_scene_world(scene), "renamed") == 1);
    assert_int_equal(dls_scene_setting_count(scene), count);
    assert_string_equal(dls_scene_setting(scene, 1), "variables.R=2");
    assert_non_null(strstr(dls_scene_text(scene), "\n# --set variables.R=2\n"));
    assert_int_equal(strncmp(dls_scene_text(scene), text, strlen(text)), 0);
    dls_scene *again = read_with(dls_scene_text(scene), 0, NULL, &error); /* comments change nothing */
    assert_non_null(again);
    dls_scene_destroy(again);
    dls_scene_destroy(scene);
}

static void test_settings_that_are_refused(void **unused) {
    (void)unused;
    static const char text[] =
        HEAD3 "variables: {R: 1, height: 2}\nmaterials: {steel: {}}\nbodies:\n- " BALL "}";
    static const char *const cases[][2] = {
        {"step", "expected path=value"},
        {"=3", "expected path=value"},
        {"time.step=", "expected path=value"},
        {"time.stpe=1", "--set time.stpe=1: unknown key 'stpe' in time, did you mean 'step'?"},
        {"time.step=0", "--set time.step=0: step:"},
        {"variables.heigth=2", "no variable 'heigth', did you mean 'height'?"},
        {"materials.stele.mu=2", "no material 'stele', did you mean 'steel'?"},
        {"bodies.balls.mass=2", "no entry 'balls'"},
        {"bodies.1.mass=2", "no entry '1'"},
        {"bodies.0.name.x=2", "nothing lies below a plain value"},
        {"bodies..name=2", "an empty name"},
        {"time.step=[1, 2", "malformed YAML"},
        {"time.step=*a", "aliases"},
        {"gravity.0=3", "gravity is a map of keys of 1, expected [x, y, z]"},
        {"tiem.step=3", "unknown key 'tiem' in a scene, did you mean 'time'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses_with(text, 1, &cases[i][0], cases[i][1]);
}

/* ---- refusals ---- */

static void test_yaml_that_is_refused(void **unused) {
    (void)unused;
    refuses("", "test.yaml:1: nothing but comments");
    refuses("# only this\n", "nothing but comments");
    refuses("delassus: [1, 2\n", "malformed YAML");
    refuses("a: 1\n\tb: 2\n", "test.yaml:2: malformed YAML");
    refuses("delassus: 1\n  dimension: 2", "test.yaml:2: malformed YAML");
    refuses("- 1\n- 2\n", "the scene is a list, expected keys");
    refuses("delassus: &v 1\n", "test.yaml:1: anchors");
    refuses("delassus: 1\nbodies: &b []\n", "test.yaml:2: anchors");
    refuses("delassus: *v\n", "aliases");
    refuses("delassus: 1\nbodies:\n- {<<: 1}\n", "test.yaml:3: '<<' merges");
    refuses("delassus: !!int 1\n", "tags");
    refuses("delassus: 1\n---\ndelassus: 1\n", "a second document");
    refuses("delassus: 1\ntitle: a\ntitle: b\n", "test.yaml:3: key 'title' for the second time");
    refuses("delassus: 1\n? [a]\n: 2\n", "a list or map as a key");
    refuses("delassus: 1\ntitle: \"a\\0b\"\n", "zero byte");
    char deep[400] = "delassus: 1\nbodies: ";
    for (int i = 0; i < 100; i++) strcat(deep, "[");
    refuses(deep, "test.yaml:2: nested too deep");
}

static void test_keys_and_types_that_are_refused(void **unused) {
    (void)unused;
    refuses("dimension: 2\n", "a scene has no 'delassus', expected 1");
    refuses("delassus: 2\n", "format version 2, expected 1");
    refuses("delassus: 1\ndimension: 4\n", "dimension is 4, expected 2 or 3");
    refuses("delassus: 1\nbodeis: []\n",
            "test.yaml:2: unknown key 'bodeis' in a scene, did you mean 'bodies'?");
    refuses("delassus: 1\nqwertyuiop: 1\n", "expected one of delassus, title");
    refuses(HEAD2 "bodies:\n- shape: {kind: disc, raduis: 1}\n",
            "test.yaml:4: unknown key 'raduis' in a disc, did you mean 'radius'?");
    refuses(HEAD2 "bodies:\n- shape: {kind: disc, length: 1}\n", "unknown key 'length' in a disc");
    refuses(HEAD2 "bodies:\n- shape: {kind: disk, radius: 1}\n",
            "no kind of shape 'disk', did you mean 'disc'?");
    refuses(HEAD2 "bodies:\n- shape: {kind: cube, radius: 1}\n",
            "no kind of shape 'cube', expected one of disc, half-plane,");
    refuses(HEAD2 "bodies:\n- shape: {kind: sphere, radius: 1}\n",
            "a sphere in a scene of dimension 2, expected a planar shape: disc, half-plane, chain, polygon, "
            "drum");
    refuses(HEAD2 "time: {xyz: 1}\n", "unknown key 'xyz' in time, expected one of step, until");
    refuses(HEAD2 "bodies:\n- shape: {radius: 1}\n", "a shape has no 'kind'");
    refuses(HEAD2 "bodies:\n- shape: {kind: disc}\n",
            "a disc has no 'radius', expected a number above 0 (m)");
    refuses(HEAD2 "bodies:\n- shape: disc\n", "a shape is a text, expected a map");
    refuses(HEAD2 "bodies: {a: 1}\n", "bodies is a map of keys, expected a list");
    refuses(HEAD2 "bodies: [ball]\n", "a body is a text, expected a map of keys");
    refuses(HEAD2 "bodies:\n- shape:\n    kind: disc\n    radius: abc\n",
            "test.yaml:6: radius is 'abc', expected");
    refuses(HEAD2 "bodies:\n- shape: {kind: disc, radius: [1]}\n",
            "radius is a list, expected a number above 0");
    refuses(HEAD2 "bodies:\n- shape: {kind: disc, radius: }\n", "radius is empty");
    refuses(HEAD2 "bodies:\n- motion: moving\n", "motion is 'moving', expected one of dynamic|static|driven");
    refuses(HEAD2 "bodies:\n- motion: statics\n",
            "expected one of dynamic|static|driven, did you mean 'static'?");
    refuses(HEAD2 "bodies:\n- position: [1, 2, 3]\n", "position has z = 3, expected [x, y]");
    refuses(HEAD3 "bodies:\n- position: [1, 2]\n", "expected [x, y, z]");
    refuses(HEAD3 "bodies:\n- rotation: 3\n", "expected {axis: [x, y, z], angle: a}");
    refuses(HEAD3 "bodies:\n- rotation: [0, 0, 0, 0]\n", "expected a unit quaternion");
    refuses(HEAD3 "bodies:\n- rotation: {axis: [0, 0, 0], angle: 1}\n", "expected a direction");
    refuses(HEAD3 "bodies:\n- locked: [rw]\n", "axis 'rw', expected x, y, z, rx, ry or rz");
    refuses(HEAD2 "bodies:\n- locked: [z]\n", "expected x, y or rz in the plane");
    refuses(HEAD2 "output: {contacts: maybe}\n", "contacts: 'maybe' is not one of no|yes");
    refuses(HEAD2 "output: [1]\n", "output is a list, expected a map of keys");
    refuses(HEAD2 "integrator: {operator: store}\n",
            "'store' is not one of matrix-free|stored, did you mean 'stored'?");
    refuses(HEAD2 "integrator: {scheme: euler}\n", "'euler' is not one of moreau-jean|theta|dvi");
    refuses(HEAD2 "run: {threads: 1.5}\n", "is not a whole number");
    refuses(HEAD2 "solver: {name: nlsg}\n", "no solver 'nlsg', did you mean 'nlgs'?");
    refuses(HEAD2 "solver: {name: nlgs, law: epda}\n",
            "'epda' is not one of sbp|sal|ebp|eal|epdas|ipdas|exact, did you mean 'epdas'?");
    refuses(HEAD2 "solver: {name: nlgs, tolerence: 1}\n", "in solver 'nlgs', did you mean 'tolerance'?");
    refuses(HEAD2 "materials: {a: {frction: 1}}\n", "unknown key 'frction' in material 'a'");
    refuses(HEAD2 "materials: {a: {mu: -1}}\n", "mu is -1, expected a number from 0 up");
    refuses(HEAD2 "materials: {a: {e_n: 2}}\n", "e_n is 2, expected a number from 0 to 1");
    refuses(HEAD2 "materials: {a: {}}\npairs: [{materials: [a, b], mu: 1}]\n",
            "no material 'b', expected one of default, a");
    refuses(HEAD2 "materials: {a: {}}\npairs: [{materials: [a], mu: 1}]\n", "expected two names");
    refuses(HEAD2 "materials: {a: {}}\npairs: [{materials: [a, a]}, {materials: [a, a]}]\n", "second time");
    refuses(HEAD2 "bodies:\n- {group: a, shape: {kind: disc, radius: 1}}\n",
            "expected the scene to list its names");
    refuses(HEAD2 "groups: [a]\nbodies:\n- {group: aa, shape: {kind: disc, radius: 1}}\n", "no group 'aa'");
}

static void test_numbers_that_are_refused(void **unused) {
    (void)unused;
    refuses(HEAD2 "gravity: [0, .nan]\n", "gravity is '.nan'");
    refuses(HEAD2 "gravity: [0, nan]\n", "gravity is 'nan'");
    refuses(HEAD2 "gravity: [0, -inf]\n", "not finite");
    refuses(HEAD2 "gravity: [0, 1e999]\n", "not finite");
    refuses(HEAD2 "gravity: [0, 1/0]\n", "not finite");
    refuses(HEAD2 "gravity: [0, 2*(3]\n", "gravity is '2*(3', expected a number");
    refuses(HEAD2 "gravity: [0, 2*t]\n", "t is known in functions of time only");
    refuses(HEAD2 "variables: {a: b, b: 1}\n", "test.yaml:3: a is 'b'");
    refuses(HEAD2 "variables: {t: 1}\n", "variable 't', expected a name other than");
    refuses(HEAD2 "variables: {a b: 1}\n", "variable 'a b', expected a name of");
    refuses(HEAD2 "bodies:\n- shape: {kind: disc, radius: 0}\n", "radius is 0, expected a number above 0");
    refuses(HEAD2 "bodies:\n- shape: {kind: disc, radius: -1}\n", "radius is -1, expected a number above 0");
    refuses(HEAD3 "bodies:\n- shape: {kind: box, size: [1, 0, 1]}\n",
            "size has 0, expected three numbers above 0");
    refuses(HEAD2 "bodies:\n- {mass: 0, shape: {kind: disc, radius: 1}}\n",
            "mass is 0, expected a number above 0");
    refuses(HEAD2 "bodies:\n- {mass: -2, shape: {kind: disc, radius: 1}}\n", "mass is -2");
    refuses(HEAD2 "time: {step: 0}\n", "test.yaml:3: step: '0' is not a number from 1e-60");
    refuses(HEAD2 "time: {step: -1e-3}\n", "step:");
    refuses(HEAD2 "time: {until: -1}\n", "until:");
    refuses(HEAD2 "bodies:\n- {birth: 2, death: 1, shape: {kind: disc, radius: 1}}\n",
            "expected death after birth");
    refuses(HEAD2 "bodies:\n- {inertia: 2, shape: {kind: disc, radius: 1}}\n", "inertia without mass");
    refuses(HEAD3 "bodies:\n- {mass: 1, inertia: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n",
            "test.yaml:3: inertia is a list of lists, expected [Jxx, Jyy, Jzz] or [Jxx, Jyy, Jzz, Jxy, Jxz, "
            "Jyz]");
    refuses(HEAD3 "bodies:\n- {mass: 1, inertia: [1, 0, 0, 0, 1, 0, 0, 0, 1]}\n",
            "inertia is a list of 9 numbers, expected [Jxx, Jyy, Jzz] or");
    refuses(HEAD3 "bodies:\n- {mass: 1, inertia: 1}\n", "inertia is a text, expected [Jxx, Jyy, Jzz] or");
    refuses(HEAD2 "bodies:\n- {drive: {x: {velocity: 1}}, shape: {kind: disc, radius: 1}}\n",
            "a drive on a dynamic body, expected motion: driven");
#define DRIVEN HEAD2 "bodies:\n- {motion: driven, shape: {kind: disc, radius: 1}, drive: "
    refuses(DRIVEN "{x: {velocity: 1, position: 1}}}\n", "2 of position, velocity and force");
    refuses(DRIVEN "{x: {}}}\n", "0 of position");
    refuses(DRIVEN "{x: {force: 1}}}\n", "force without gain or max_speed");
    refuses(DRIVEN "{x: {velocity: sin(}}}\n", "velocity is 'sin('");
    refuses(DRIVEN "{x: {velocity: sin(t}}}\n", "velocity is 'sin(t'");
    refuses(DRIVEN "{x: {velocity: 1/t}}}\n", "at t = 0, expected a finite value");
    refuses(DRIVEN "{x: {velocity: {t: [0, 1], value: [1]}}}}\n", "2 times and 1 values");
    refuses(DRIVEN "{x: {velocity: {t: [1, 0], value: [1, 1]}}}}\n", "test.yaml:4: times of a table");
    refuses(DRIVEN "{x: {velocity: min(t, 1)}}}\n", "an expression with a comma needs quotes");
}

static void test_what_the_world_refuses_has_a_line(void **unused) {
    (void)unused;
    refuses(HEAD3 "bodies:\n- " BALL "}\n- " BALL "}\n", "test.yaml:4: there is a body 'ball' already");
    refuses(HEAD2 "bodies:\n\n- shape: {kind: half-plane}\n", "test.yaml:5: ");
    refuses(HEAD2 "bodies:\n- {motion: static}\n- {name: empty}\n", "test.yaml:5: ");
    refuses(HEAD3
            "bodies:\n- shape: {kind: polyhedron, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}\n",
            "test.yaml:3: ");
}

/* ---- reference, memory ---- */

static void test_the_reference_is_complete(void **unused) {
    (void)unused;
    int count = dls_scene_key_count();
    assert_true(count > 100);
    for (int i = 0; i < count; i++) {
        dls_scene_key key = dls_scene_key_at(i);
        if (!*key.type || !*key.help || !*key.group) fail_msg("%s.%s is not described", key.group, key.key);
        if (!*key.preset) fail_msg("%s.%s has no preset and is not needed", key.group, key.key);
        for (int j = 0; j < i; j++) {
            dls_scene_key other = dls_scene_key_at(j);
            assert_false(!strcmp(key.group, other.group) && !strcmp(key.key, other.key));
            key = dls_scene_key_at(i);
        }
    }
    assert_string_equal(dls_scene_key_at(count).key, "");
    int run_count, simulation_count, found = 0;
    dls_run_fields(&run_count);
    dls_simulation_fields(&simulation_count);
    for (int i = 0; i < count; i++) {
        const char *group = dls_scene_key_at(i).group;
        found += !strcmp(group, "time") || !strcmp(group, "integrator") || !strcmp(group, "output") ||
                 !strcmp(group, "run");
    }
    assert_int_equal(found, run_count + simulation_count);
}

static void test_memory_that_runs_out(void **unused) {
    (void)unused;
    static const char text[] = HEAD2
        "variables: {a: 2*3}\nmaterials: {m: {}}\nbodies:\n"
        "- packing: {region: {kind: disc, radius: 1}, count: 5}\n"
        "  body: {name: p, force: [t, 1], shape: {kind: polygon, points: [[0, 0], [0.1, 0], [0, 0.1]]}}\n"
        "- {motion: driven, shape: {kind: drum, radius: 3}, drive: {rz: {velocity: t}}}\n";
    const char *setting = "time.step=1e-4";
    dls_error error;
    dls_scene *scene = NULL;
    counting_begin(0);
    assert_int_equal(dls_scene_read_text(text, strlen(text), "x", ".", 1, &setting, &scene, &error), DLS_OK);
    dls_scene_destroy(scene);
    int asked = counting_allocations();
    assert_int_equal(counting_end(), 0);
    for (int i = 1; i <= asked; i++) {
        counting_begin(i);
        dls_status status = dls_scene_read_text(text, strlen(text), "x", ".", 1, &setting, &scene, &error);
        if (status != DLS_ERROR_MEMORY)
            fail_msg("allocation %d of %d: %d %s", i, asked, status, error.message);
        assert_null(scene);
        assert_int_equal(counting_end(), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_small_scene),
        cmocka_unit_test(test_json_is_read_too),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_rotations_and_normals),
        cmocka_unit_test(test_functions_and_drives),
        cmocka_unit_test(test_materials_pairs_and_groups),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_settings_that_are_refused),
        cmocka_unit_test(test_yaml_that_is_refused),
        cmocka_unit_test(test_keys_and_types_that_are_refused),
        cmocka_unit_test(test_numbers_that_are_refused),
        cmocka_unit_test(test_what_the_world_refuses_has_a_line),
        cmocka_unit_test(test_the_reference_is_complete),
        cmocka_unit_test(test_memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
