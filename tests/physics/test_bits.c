/* The same bits: on any number of threads, for any order of bodies, and when a run goes on from bytes. */
#include "support/near.h"
#include "support/scale.h"
#include "support/stage.h"

#include <stdlib.h>
#include <string.h>

static const double G = 9.81;

static const double wedge[] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1, 0.2, -0.1, 1.3, -0.4, 0.5, 1};
static double wedge_points[18];

/* Body k of a mix of all shapes that move, in a loose lattice. */
static dls_shape_def shape_of(int k, double size) {
    static const dls_shape_kind kinds[] = {DLS_SPHERE,    DLS_BOX,        DLS_CAPSULE,
                                           DLS_ELLIPSOID, DLS_POLYHEDRON, DLS_CYLINDER};
    dls_shape_def shape = dls_default_shape_def(kinds[k % 6]);
    shape.radius = 0.6 * size, shape.length = size;
    for (int i = 0; i < 3; i++)
        shape.size[i] = (1.4 - 0.2 * i) * size * (shape.kind == DLS_ELLIPSOID ? 0.6 : 1);
    for (int i = 0; i < 18; i++) wedge_points[i] = 0.5 * size * wedge[i];
    shape.points = wedge_points, shape.point_count = 6;
    return shape;
}

static void add_mixed(stage *s, int k, int per_side) {
    const double size = 0.05, pitch = 0.12;
    dls_shape_def shape = shape_of(k, size);
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1, def.shapes = &shape;
    def.pose.x[0] = pitch * (k % per_side - 0.5 * (per_side - 1)) + 1e-3 * (k % 7);
    def.pose.x[1] = pitch * (k / per_side % per_side - 0.5 * (per_side - 1)) - 1e-3 * (k % 5);
    def.pose.x[2] = 0.08 + pitch * (k / (per_side * per_side));
    def.pose.q[0] = 1, def.pose.q[1] = 0.1 * (k % 9), def.pose.q[2] = 0.2 * (k % 4),
    def.pose.q[3] = -0.3 * (k % 3);
    def.v[2] = -0.5;
    def.birth = k % 10 == 3 ? 0.05 : 0;
    if (k % 17 == 5) def.death = 0.11;
    stage_add(s, &def);
}

/* Mixed shapes fall into a box with a floor that shakes. order: 0 ascending, 1 descending. */
static stage mixed(int count, int threads, int order) {
    enum { PER_SIDE = 4 };
    stage s = stage_open(3, G, 0.4, 0.2, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX_INSIDE), floor = dls_default_shape_def(DLS_BOX);
    box.size[0] = box.size[1] = 0.56, box.size[2] = 4;
    floor.size[0] = floor.size[1] = 0.5, floor.size[2] = 0.02;
    dls_body_def def = dls_default_body_def();
    dls_error error;
    def.motion = DLS_DRIVEN;
    def.shape_count = 1, def.shapes = &floor;
    def.pose.x[2] = 0.01;
    assert_int_equal(dls_function_expression("0.01*sin(30*t)", 0, NULL, NULL, &def.drive[2].position, &error),
                     DLS_OK);
    for (int k = 0; k < count; k++) {
        if (k == count / 3) {
            stage_add_shape(&s, DLS_STATIC, &box, (double[3]){0, 0, 1.98}, NULL, NULL);
            stage_add(&s, &def);
        }
        add_mixed(&s, order ? count - 1 - k : k, PER_SIDE);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 1e-3, o.threads = threads;
    stage_start(&s, &o, 1e-4);
    return s;
}

static uint64_t run_mixed(int threads, int order, int steps) {
    stage s = mixed(96, threads, order);
    stage_run(&s, steps);
    uint64_t hash = dls_simulation_hash(s.simulation);
    assert_true(steps < 100 || s.last.contacts > 50); /* a short run ends before they meet */
    stage_close(&s);
    return hash;
}

static void test_mixed_shapes(void **state) {
    (void)state;
    int steps = scaled(200, 20);
    uint64_t one = run_mixed(1, 0, steps);
    assert_true(run_mixed(2, 0, steps) == one);
    assert_true(run_mixed(4, 1, steps) == one);
    assert_true(run_mixed(1, 1, steps) == one);
}

/* Stopped at any step and read into a new simulation of the same definition. */
static void test_going_on(void **state) {
    (void)state;
    int steps = scaled(160, 20);
    stage whole = mixed(96, 1, 0);
    for (int part = 1; part <= 4; part++) {
        stage_run(&whole, steps / 4);
        if (part == 4) break;
        size_t size = dls_simulation_state_size(whole.simulation);
        void *bytes = malloc(size);
        dls_error error;
        dls_simulation_state_write(whole.simulation, bytes);
        stage other = mixed(96, part, 0);
        assert_int_equal(dls_simulation_state_read(other.simulation, bytes, size, &error), DLS_OK);
        free(bytes);
        assert_true(dls_simulation_hash(other.simulation) == dls_simulation_hash(whole.simulation));
        stage_run(&other, steps / 4);
        stage ahead = mixed(96, 1, 0);
        stage_run(&ahead, (part + 1) * (steps / 4));
        assert_true(dls_simulation_hash(other.simulation) == dls_simulation_hash(ahead.simulation));
        assert_memory_equal(&other.last.energy, &ahead.last.energy, sizeof other.last.energy);
        stage_close(&other);
        stage_close(&ahead);
    }
    stage_close(&whole);
}

/* Thousands of contacts: spheres, and discs in a drum that turns. */
static uint64_t run_packing(int threads, bool backwards, int steps, int *contacts) {
    stage s = stage_open(3, G, 0.3, 0, 0);
    enum { SIDE = 10, COUNT = SIDE * SIDE * 10 };
    const double radius = 0.05, pitch = 0.1001;
    dls_shape_def box = dls_default_shape_def(DLS_BOX_INSIDE), ball = stage_ball(3, radius);
    box.size[0] = box.size[1] = SIDE * 0.1002, box.size[2] = 10;
    stage_add_shape(&s, DLS_STATIC, &box, (double[3]){0, 0, 5}, NULL, NULL);
    for (int n = 0; n < COUNT; n++) {
        int k = backwards ? COUNT - 1 - n : n;
        double x[3] = {pitch * (k % SIDE - 0.5 * (SIDE - 1)), pitch * (k / SIDE % SIDE - 0.5 * (SIDE - 1)),
                       radius + pitch * (k / (SIDE * SIDE))};
        stage_add_shape(&s, DLS_DYNAMIC, &ball, x, (double[3]){0.01 * (k % 3), -0.02 * (k % 5), -0.1}, NULL);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 2e-3, o.threads = threads;
    stage_start(&s, &o, 1e-3);
    stage_run(&s, steps);
    *contacts = s.last.contacts;
    uint64_t hash = dls_simulation_hash(s.simulation);
    stage_close(&s);
    return hash;
}

static void test_packing(void **state) {
    (void)state;
    int contacts, steps = scaled(12, 4);
    uint64_t one = run_packing(1, false, steps, &contacts);
    assert_true(contacts > 2000);
    assert_true(run_packing(2, true, steps, &contacts) == one);
    assert_true(run_packing(4, false, steps, &contacts) == one);
}

static uint64_t run_drum(int threads, bool backwards, int steps) {
    stage s = stage_open(2, G, 0.4, 0.1, 0);
    enum { SIDE = 22, COUNT = SIDE * SIDE };
    dls_shape_def drum = dls_default_shape_def(DLS_DRUM);
    drum.radius = 0.5;
    dls_body_def def = dls_default_body_def();
    dls_error error;
    def.motion = DLS_DRIVEN;
    def.shape_count = 1, def.shapes = &drum;
    assert_int_equal(dls_function_constant(2, &def.drive[5].velocity, &error), DLS_OK);
    stage_add(&s, &def);
    for (int n = 0; n < COUNT; n++) {
        int k = backwards ? COUNT - 1 - n : n;
        dls_shape_def disc = stage_ball(2, 0.012 + 0.0005 * (k % 3));
        double x[3] = {0.0262 * (k % SIDE - 0.5 * (SIDE - 1)), 0.0262 * (k / SIDE) - 0.35, 0};
        stage_add_shape(&s, DLS_DYNAMIC, &disc, x, NULL, NULL);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 1e-3, o.threads = threads;
    stage_start(&s, &o, 1e-4);
    stage_run(&s, steps);
    uint64_t hash = dls_simulation_hash(s.simulation);
    stage_close(&s);
    return hash;
}

static void test_drum(void **state) {
    (void)state;
    int steps = scaled(60, 10);
    uint64_t one = run_drum(1, false, steps);
    assert_true(run_drum(2, true, steps) == one);
    assert_true(run_drum(4, false, steps) == one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixed_shapes),
        cmocka_unit_test(test_going_on),
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_drum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
