/* Pressure on walls: bodies that hit every kind of wall with known impulses, areas of layers by closed forms.
 */
#include "support/measured.h"
#include "support/near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846, SPEED = 0.3, FALL = 5, FRICTION = 0.25, STEP = 1e-3;

/* Weightless: what hits a wall at v does so with m v/h in the first step, and slides down it with μ of that.
 */
static dls_world *weightless(int dimension) {
    dls_world *world;
    dls_world_def def = dls_default_world_def();
    dls_pair_def pair;
    def.dimension = dimension;
    memset(def.gravity, 0, sizeof def.gravity);
    OK(dls_world_create(&def, &world, error));
    OK(dls_world_pair(world, 0, 0, &pair, NULL, error));
    pair.mu = FRICTION, pair.e_n = 0;
    OK(dls_world_set_pair(world, 0, 0, &pair, error));
    return world;
}

static void add_wall(dls_world *world, const dls_shape_def *shape, const char *name) {
    dls_body_def def = dls_default_body_def();
    dls_body_id id;
    def.name = name, def.motion = DLS_STATIC;
    def.shapes = shape, def.shape_count = 1;
    OK(dls_world_add_body(world, &def, &id, error));
}

/* Touches a wall in the direction (x, y) from the origin at that distance, and moves there and down. */
static double add_striker(dls_world *world, double radius, double x, double y, double distance,
                          double height) {
    int dimension = dls_world_dimension(world), up = dimension - 1;
    dls_body_id id = measured_round(world, radius, 0, 0, 0);
    dls_body_state s;
    OK(dls_body_state_get(world, id, &s, error));
    s.x[0] = x * (distance - radius), s.v[0] = SPEED * x;
    s.x[1] = y * (distance - radius), s.v[1] = SPEED * y;
    s.x[up] = height, s.v[up] = -FALL;
    OK(dls_body_state_set(world, id, &s, error));
    return 1000 * (dimension == 2 ? PI * radius * radius : 4 * PI / 3 * radius * radius * radius);
}

typedef struct expected {
    double area, force; /* of a layer */
} expected;

/* Layers as they must be; those of all walls together. */
static void check_layers(dls_results *results, const dls_analysis_options *o, int layers, const expected *e,
                         double tolerance) {
    dls_analysis *a = measured_analysis(results, "pressure", o);
    dls_analysis_table t = dls_analysis_table_at(a, 0);
    double force = 0, area = 0;
    assert_int_equal(t.row_count, layers);
    for (int k = 0; k < layers; k++) {
        const double *row = t.values + (int64_t)k * t.column_count;
        assert_near(row[1], e[k].area, tolerance * e[k].area);
        assert_near(row[2], e[k].force / e[k].area, tolerance * e[k].force / e[k].area);
        assert_near(row[4], FRICTION * e[k].force / e[k].area, tolerance * e[k].force / e[k].area);
        force += e[k].force, area += e[k].area;
    }
    assert_near(measured_fact(a, "mean pressure", NULL), force / area, tolerance * force / area);
    assert_near(measured_fact(a, "mobilised friction", NULL), FRICTION, tolerance);
    assert_near(measured_fact(a, "walls carry", NULL), FRICTION * force, tolerance * force);
    assert_near(measured_fact(a, "base carries", NULL), 0, 1e-9 * force);
    assert_near(measured_fact(a, "force without area", NULL), 0, 1e-12);
    dls_analysis_destroy(a);
}

static dls_analysis_options last_frame(void) {
    dls_analysis_options o = dls_default_analysis_options();
    o.first_frame = o.last_frame = 1;
    o.layers = 2;
    return o;
}

static void set_region(dls_analysis_options *o, double side, double low, double high, int dimension) {
    o->has_region = true;
    for (int k = 0; k < 3; k++) o->region_low[k] = -side, o->region_high[k] = side;
    o->region_low[dimension - 1] = low, o->region_high[dimension - 1] = high;
}

/* ---- space ---- */

enum { A_BOX, SLABS, PLANES, MESH_BOX };

static dls_shape_def slab(int side) {
    dls_shape_def shape = dls_default_shape_def(DLS_BOX);
    const double way = side % 2 ? 1 : -1;
    shape.size[0] = side < 2 ? 0.1 : 2, shape.size[1] = side < 2 ? 1.2 : 0.1, shape.size[2] = 3;
    shape.pose.x[0] = side < 2 ? way * 1.05 : 0, shape.pose.x[1] = side < 2 ? 0 : way * 0.65;
    return shape;
}

static dls_shape_def plane_of(int side) {
    dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
    double half = sqrt(0.5), way = side % 2 ? -half : half; /* z turned to ± x, ± y */
    shape.pose.q[0] = half, shape.pose.q[1] = side < 2 ? 0 : -way, shape.pose.q[2] = side < 2 ? way : 0;
    shape.pose.x[0] = side < 2 ? (side % 2 ? 1 : -1) : 0,
    shape.pose.x[1] = side < 2 ? 0 : (side % 2 ? 0.6 : -0.6);
    return shape;
}

/* A box of 2 m × 1.2 m as one body that is solid outside, as four slabs whose outer sides do not count, as
 * planes without end, and as a mesh: strikers on all sides, twice as many in the upper of two layers. */
static void check_room(int kind) {
    static const double points[] = {-1, -0.6, -1.5, 1, -0.6, -1.5, 1, 0.6, -1.5, -1, 0.6, -1.5,
                                    -1, -0.6, 1.5,  1, -0.6, 1.5,  1, 0.6, 1.5,  -1, 0.6, 1.5};
    static const int triangles[] = {0, 4, 1, 1, 4, 5, 1, 5, 2, 2, 5, 6, 2, 6, 3, 3, 6, 7, 3, 7, 0, 0, 7, 4};
    dls_world *world = weightless(3);
    if (kind == A_BOX) {
        dls_shape_def shape = dls_default_shape_def(DLS_BOX_INSIDE);
        shape.size[0] = 2, shape.size[1] = 1.2, shape.size[2] = 3;
        add_wall(world, &shape, "box");
    }
    if (kind == MESH_BOX) {
        dls_shape_def shape = dls_default_shape_def(DLS_MESH);
        shape.point_count = 8, shape.points = points, shape.triangle_count = 8, shape.triangles = triangles;
        add_wall(world, &shape, "mesh");
    }
    for (int side = 0; side < 4 && (kind == SLABS || kind == PLANES); side++) {
        dls_shape_def shape = kind == SLABS ? slab(side) : plane_of(side);
        add_wall(world, &shape, (const char *[]){"left", "right", "front", "back"}[side]);
    }
    double mass = 0;
    for (int level = 0; level < 3; level++)
        for (int side = 0; side < 4; side++)
            mass = add_striker(world, 0.1, side < 2 ? (side % 2 ? 1 : -1) : 0,
                               side < 2 ? 0 : (side % 2 ? 1 : -1), side < 2 ? 1 : 0.6,
                               level == 0   ? -0.5
                               : level == 1 ? 0.3
                                            : 0.7);
    dls_results *results = measured_run(world, "room.h5", 1, true);
    dls_analysis_options o = last_frame();
    /* planes reach as far as the bodies, which come a fraction of a step beyond the walls */
    double force = mass * SPEED / STEP, tolerance = kind == PLANES ? 2 * SPEED * STEP : 1e-6;
    set_region(&o, 1.02, -1, 1, 3);
    check_layers(results, &o, 2, (expected[]){{6.4, 4 * force}, {6.4, 8 * force}}, tolerance);
    o.has_region = false; /* as high as the bodies reach, where they are after the step */
    double low = -0.5 - FALL * STEP, high = 0.7 - FALL * STEP, share = 0.5 * (high - low + 0.2) * 6.4;
    check_layers(results, &o, 2, (expected[]){{share, 4 * force}, {share, 8 * force}}, 0.02);
    set_region(&o, 1.02, -1, 1, 3);
    o.region_low[0] = 0.9; /* one side, and the ends of two others without their strikers */
    check_layers(results, &o, 2, (expected[]){{1.4, force}, {1.4, 2 * force}}, tolerance);
    dls_results_destroy(results);
}

static void test_rooms(void **state) {
    (void)state;
    check_room(A_BOX);
    check_room(SLABS);
    check_room(PLANES);
    check_room(MESH_BOX);
}

/* A silo of radius 0.5 m: 2πR of wall a metre, drawn with 128 sides; also without ends. */
static void test_cylinder(void **state) {
    (void)state;
    for (int endless = 0; endless < 2; endless++) {
        dls_world *world = weightless(3);
        dls_shape_def shape = dls_default_shape_def(DLS_CYLINDER_INSIDE);
        double mass = 0, force;
        shape.radius = 0.5, shape.length = endless ? 0 : 4;
        add_wall(world, &shape, "silo");
        for (int k = 0; k < 24; k++)
            mass = add_striker(world, 0.05, cos(k * PI / 12), sin(k * PI / 12), 0.5, k % 3 ? 0.5 : -0.5);
        dls_results *results = measured_run(world, "cylinder.h5", 1, true);
        dls_analysis_options o = last_frame();
        set_region(&o, 1, -1, 1, 3);
        force = mass * SPEED / STEP;
        check_layers(results, &o, 2, (expected[]){{PI, 8 * force}, {PI, 16 * force}}, 2e-3);
        dls_results_destroy(results);
    }
}

/* ---- the plane ---- */

/* Two walls as chains, as polygons whose outer sides do not count, as planes without end. */
static void test_planar_walls(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        dls_world *world = weightless(2);
        for (int side = -1; side <= 1; side += 2) {
            const double chain[] = {-1, 2, 0, -1, -2, 0}, other[] = {1, -2, 0, 1, 2, 0};
            const double block[] = {1, -2, 0, 1.2, -2, 0, 1.2, 2, 0, 1, 2, 0},
                         far_block[] = {-1.2, -2, 0, -1, -2, 0, -1, 2, 0, -1.2, 2, 0};
            dls_shape_def shape = dls_default_shape_def(kind == 0   ? DLS_CHAIN
                                                        : kind == 1 ? DLS_POLYGON
                                                                    : DLS_HALF_PLANE);
            shape.point_count = kind == 0 ? 2 : kind == 1 ? 4 : 0;
            shape.points = kind == 0   ? (side < 0 ? chain : other)
                           : kind == 1 ? (side < 0 ? far_block : block)
                                       : NULL;
            if (kind == 2) {
                shape.pose.x[0] = side;
                shape.pose.q[0] = sqrt(0.5), shape.pose.q[3] = side * sqrt(0.5); /* y turned to the middle */
            }
            add_wall(world, &shape, side < 0 ? "left" : "right");
        }
        double mass = 0;
        for (int k = 0; k < 6; k++)
            mass = add_striker(world, 0.1, k % 2 ? 1 : -1, 0, 1, -0.6 + 0.3 * (k / 2) * 2);
        dls_results *results = measured_run(world, "walls.h5", 1, true);
        dls_analysis_options o = last_frame();
        set_region(&o, 1.05, -1, 1, 2);
        double force = mass * SPEED / STEP;
        check_layers(results, &o, 2, (expected[]){{2, 4 * force}, {2, 2 * force}}, 1e-6);
        dls_analysis *a = measured_analysis(results, "pressure", &o);
        dls_analysis_table t = dls_analysis_table_at(a, 1); /* each wall has half of it */
        assert_int_equal(t.row_count, 4);
        for (int k = 0; k < 4; k++) {
            const double *row = t.values + (int64_t)k * t.column_count;
            assert_near(row[0], k / 2, 0);
            assert_near(row[3], (k % 2 ? 1 : 2) * force, 1e-6 * force);
        }
        dls_analysis_destroy(a);
        dls_results_destroy(results);
    }
}

/* What hits a wall that leans along its normal pushes bodies up, and drags nothing. */
static void test_leaning_wall(void **state) {
    (void)state;
    const double points[] = {0, 0, 0, 1, 2, 0}, length = sqrt(5.0), n[2] = {-2 / length, 1 / length};
    dls_world *world = weightless(2);
    dls_shape_def shape = dls_default_shape_def(DLS_CHAIN);
    shape.point_count = 2, shape.points = points;
    add_wall(world, &shape, "hopper");
    dls_body_id id = measured_round(world, 0.1, 0.5 + 0.1 * n[0], 1 + 0.1 * n[1], 0);
    dls_body_state s;
    OK(dls_body_state_get(world, id, &s, error));
    s.v[0] = -SPEED * n[0], s.v[1] = -SPEED * n[1];
    OK(dls_body_state_set(world, id, &s, error));
    dls_results *results = measured_run(world, "hopper.h5", 1, true);
    dls_analysis_options o = last_frame();
    o.layers = 1;
    set_region(&o, 2, 0, 2, 2);
    dls_analysis *a = measured_analysis(results, "pressure", &o);
    double force = 1000 * PI * 0.01 * SPEED / STEP;
    assert_near(measured_fact(a, "mean pressure", NULL), force / length, 1e-6 * force);
    assert_near(measured_fact(a, "mean drag", NULL), 0, 1e-6 * force);
    assert_near(measured_fact(a, "walls carry", NULL), force * n[1], 1e-6 * force);
    dls_analysis_destroy(a);
    dls_results_destroy(results);
}

/* A post at the border of a periodic cell, struck by a disc from beyond it: the contact lies on the post. */
static void test_image(void **state) {
    (void)state;
    for (int shifted = 0; shifted < 2; shifted++) { /* the post comes before or behind the disc in space */
        const double points[] = {3.8, -1, 0, 4, -1, 0, 4, 1, 0, 3.8, 1, 0};
        dls_body_def post = dls_default_body_def();
        dls_world_def def = dls_default_world_def();
        dls_world *world;
        dls_body_state s;
        def.dimension = 2, def.period_size[0] = 4;
        memset(def.gravity, 0, sizeof def.gravity);
        OK(dls_world_create(&def, &world, error));
        dls_shape_def shape = dls_default_shape_def(DLS_POLYGON);
        shape.point_count = 4, shape.points = points;
        post.motion = DLS_STATIC, post.shapes = &shape, post.shape_count = 1;
        post.pose.x[0] = shifted ? 3.9 : -0.5, shape.pose.x[0] = -post.pose.x[0];
        dls_body_id id;
        OK(dls_world_add_body(world, &post, &id, error));
        id = measured_round(world, 0.1, 0.1, 0, 0);
        OK(dls_body_state_get(world, id, &s, error));
        s.v[0] = -SPEED;
        OK(dls_body_state_set(world, id, &s, error));
        dls_results *results = measured_run(world, "post.h5", 1, true);
        dls_analysis_options o = last_frame();
        o.layers = 1;
        dls_analysis *a = measured_analysis(results, "pressure", &o);
        assert_near(measured_fact(a, "area", NULL), 0.2, 1e-9); /* as high as the disc, one side */
        assert_near(measured_fact(a, "force without area", NULL), 0, 0);
        assert_near(measured_fact(a, "mean pressure", NULL), 1000 * PI * 0.01 * SPEED / STEP / 0.2, 0.1);
        dls_analysis_destroy(a);
        dls_results_destroy(results);
    }
}

/* Of a drum the quarters beside its axis are steep, πR of its round; a floor is a base and no wall. */
static void test_drum_and_base(void **state) {
    (void)state;
    dls_world *world = weightless(2);
    dls_shape_def shape = dls_default_shape_def(DLS_DRUM);
    shape.radius = 1;
    add_wall(world, &shape, "drum");
    for (int k = 0; k < 40; k++) {
        dls_body_id id = measured_round(world, 0.05, 0.95 * cos(k * PI / 20), 0.95 * sin(k * PI / 20), 0);
        dls_body_state s;
        OK(dls_body_state_get(world, id, &s, error));
        s.v[0] = SPEED * cos(k * PI / 20), s.v[1] = SPEED * sin(k * PI / 20);
        OK(dls_body_state_set(world, id, &s, error));
    }
    dls_results *results = measured_run(world, "drum.h5", 1, true);
    dls_analysis_options o = last_frame();
    dls_analysis *a = measured_analysis(results, "pressure", &o);
    assert_near(measured_fact(a, "area", NULL), PI, 0.03); /* within a side of the limit */
    dls_analysis_destroy(a);
    dls_results_destroy(results);
    world = measured_world(2);
    measured_ground(world, "floor");
    measured_round(world, 0.1, 0, 0.1, 0);
    results = measured_run(world, "floor.h5", 2, true);
    dls_error why;
    assert_int_equal(dls_analysis_create(results, "pressure", NULL, &a, &why), DLS_ERROR_INPUT);
    assert_non_null(strstr(why.message, "steeper than 45"));
    dls_results_destroy(results);
    world = measured_world(2);
    measured_round(world, 0.1, 0, 0.1, 0);
    results = measured_run(world, "alone.h5", 2, true);
    assert_int_equal(dls_analysis_create(results, "pressure", NULL, &a, &why), DLS_ERROR_INPUT);
    assert_non_null(strstr(why.message, "no static or driven body"));
    dls_results_destroy(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rooms),        cmocka_unit_test(test_cylinder),
        cmocka_unit_test(test_planar_walls), cmocka_unit_test(test_leaning_wall),
        cmocka_unit_test(test_image),        cmocka_unit_test(test_drum_and_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
