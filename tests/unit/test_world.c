/* The world: materials, bodies, masses, and what is known of bodies by id. Rows and drives: test_rows.c. */
#include "base/random.h"
#include "base/vector.h"
#include "support/allocator.h"
#include "support/scale.h"
#include "support/test.h"
#include "world/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static dls_world *make_world(int dimension) {
    dls_world_def def = dls_default_world_def();
    def.dimension = dimension;
    if (dimension == 2) vec_set(def.gravity, 0, -9.81, 0);
    dls_world *world;
    assert_int_equal(dls_world_create(&def, &world, NULL), DLS_OK);
    return world;
}

static dls_shape_def ball(double radius) {
    dls_shape_def def = dls_default_shape_def(DLS_SPHERE);
    def.radius = radius;
    return def;
}

static dls_body_def body_of(int count, const dls_shape_def *shapes) {
    dls_body_def def = dls_default_body_def();
    def.shape_count = count;
    def.shapes = shapes;
    return def;
}

static dls_body_id add(dls_world *world, const dls_body_def *def) {
    dls_body_id id;
    dls_error error;
    if (dls_world_add_body(world, def, &id, &error)) fail_msg("%s", error.message);
    return id;
}

static dls_function *expression(const char *text) {
    dls_function *f;
    assert_int_equal(dls_function_expression(text, 0, NULL, NULL, &f, NULL), DLS_OK);
    return f;
}

static void expect(dls_status status, dls_status expected, const dls_error *error, const char *message) {
    assert_string_equal(error->message, message);
    assert_int_equal(status, expected);
}

/* ---- world ---- */

static void worlds_are_checked(void **state) {
    (void)state;
    dls_error error;
    dls_world *world;
    dls_world_def def = dls_default_world_def();
    def.dimension = 4;
    expect(dls_world_create(&def, &world, &error), DLS_ERROR_INPUT, &error,
           "dimension is 4, expected 2 or 3");
    assert_null(world);
    def.dimension = 2;
    expect(dls_world_create(&def, &world, &error), DLS_ERROR_INPUT, &error,
           "gravity along z is -9.81, expected 0 in the plane");
    def.gravity[2] = NAN;
    expect(dls_world_create(&def, &world, &error), DLS_ERROR_INPUT, &error,
           "gravity is (0, 0, nan), expected finite numbers");
    def.gravity[2] = 0;
    def.period_size[2] = 1;
    expect(dls_world_create(&def, &world, &error), DLS_ERROR_INPUT, &error,
           "a period along z, expected none in the plane");
    def.period_size[1] = -1;
    expect(
        dls_world_create(&def, &world, &error), DLS_ERROR_INPUT, &error,
        "period along y starts at 0 with size -1, expected finite numbers and a size that is not negative");
    assert_int_equal(dls_world_create(NULL, &world, &error), DLS_ERROR_ARGUMENT);
    def = dls_default_world_def();
    def.period_low[0] = -2, def.period_size[0] = 5;
    assert_int_equal(dls_world_create(&def, &world, &error), DLS_OK);
    double gravity[3], low[3], size[3];
    dls_world_gravity(world, gravity);
    dls_world_period(world, low, size);
    assert_true(gravity[2] == -9.81 && low[0] == -2 && size[0] == 5 && size[1] == 0);
    assert_int_equal(dls_world_dimension(world), 3);
    dls_world_destroy(world);
    dls_world_destroy(NULL);
}

/* ---- materials ---- */

static void pairs_mix_unless_stated(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_material_def def = {
        .name = "steel", .density = 7800, .mu = 0.2, .e_n = 0.8, .e_t = 0.1, .cohesion = 3};
    dls_material_id steel, clay;
    dls_pair_def pair;
    bool stated;
    assert_int_equal(dls_world_add_material(world, &def, &steel, NULL), DLS_OK);
    def =
        (dls_material_def){.name = "clay", .density = 1800, .mu = 0.7, .e_n = 0.1, .e_t = 0.3, .cohesion = 9};
    assert_int_equal(dls_world_add_material(world, &def, &clay, NULL), DLS_OK);
    assert_int_equal(dls_world_material_count(world), 3);
    assert_int_equal(dls_world_pair(world, clay, steel, &pair, &stated, NULL), DLS_OK);
    assert_true(!stated && pair.mu == 0.2 && pair.e_n == 0.8 && pair.e_t == 0.3 && pair.cohesion == 3);
    assert_int_equal(dls_world_pair(world, clay, clay, &pair, &stated, NULL), DLS_OK);
    assert_true(!stated && pair.mu == 0.7 && pair.cohesion == 9);
    dls_pair_def wanted = {.mu = 0.9, .e_n = 0.5};
    assert_int_equal(dls_world_set_pair(world, steel, clay, &wanted, NULL), DLS_OK);
    def.name = NULL, def.mu = 0.05;
    dls_material_id other;
    assert_int_equal(dls_world_add_material(world, &def, &other, NULL),
                     DLS_OK); /* the table grows around it */
    assert_int_equal(dls_world_pair(world, clay, steel, &pair, &stated, NULL), DLS_OK);
    assert_true(stated && pair.mu == 0.9 && pair.e_n == 0.5 && pair.cohesion == 0);
    assert_int_equal(dls_world_pair(world, other, steel, &pair, &stated, NULL), DLS_OK);
    assert_true(!stated && pair.mu == 0.05);
    def.name = "mud", def.mu = 0.01;
    assert_int_equal(dls_world_set_material(world, clay, &def, NULL), DLS_OK);
    assert_int_equal(dls_world_pair(world, clay, steel, &pair, &stated, NULL), DLS_OK);
    assert_true(stated && pair.mu == 0.9);
    assert_int_equal(dls_world_pair(world, clay, 0, &pair, &stated, NULL), DLS_OK);
    assert_true(!stated && pair.mu == 0.01);
    assert_int_equal(dls_world_material(world, clay, &def, NULL), DLS_OK);
    assert_string_equal(def.name, "mud");
    assert_int_equal(dls_world_material(world, 0, &def, NULL), DLS_OK);
    assert_string_equal(def.name, "default");
    dls_world_destroy(world);
}

static void materials_are_checked(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_error error;
    dls_material_def good = dls_default_material_def(), def = good;
    def.density = 0;
    expect(dls_world_add_material(world, &def, NULL, &error), DLS_ERROR_INPUT, &error,
           "density is 0, expected a finite number above 0");
    def = good, def.mu = -0.1;
    expect(dls_world_add_material(world, &def, NULL, &error), DLS_ERROR_INPUT, &error,
           "mu is -0.1, expected a finite number that is not negative");
    def = good, def.e_n = 1.5;
    expect(dls_world_add_material(world, &def, NULL, &error), DLS_ERROR_INPUT, &error,
           "e_n is 1.5, expected 0 to 1");
    def = good, def.e_t = NAN;
    expect(dls_world_add_material(world, &def, NULL, &error), DLS_ERROR_INPUT, &error,
           "e_t is nan, expected 0 to 1");
    def = good, def.cohesion = INFINITY;
    expect(dls_world_add_material(world, &def, NULL, &error), DLS_ERROR_INPUT, &error,
           "cohesion is inf, expected a finite number that is not negative");
    def = good, def.name = "default";
    expect(dls_world_add_material(world, &def, NULL, &error), DLS_ERROR_INPUT, &error,
           "there is a material 'default' already");
    assert_int_equal(dls_world_set_material(world, 0, &def, &error), DLS_OK); /* its own name */
    dls_pair_def pair = {.mu = NAN};
    expect(dls_world_set_pair(world, 0, 0, &pair, &error), DLS_ERROR_INPUT, &error,
           "mu is nan, expected a finite number that is not negative");
    expect(dls_world_set_pair(world, 0, 1, &pair, &error), DLS_ERROR_ARGUMENT, &error,
           "there is no material 1, expected 0 to 0");
    assert_int_equal(dls_world_material(world, -1, &def, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_world_pair(NULL, 0, 0, &pair, NULL, &error), DLS_ERROR_ARGUMENT);
    dls_world_destroy(world);
}

/* ---- masses ---- */

/* Two balls of masses m₁, m₂ at distance d: c from m₁ at m₂ d/m, I across = Σ 2/5 m r² + m₁ m₂ d²/m. */
static void a_dumbbell_has_its_closed_form(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_material_def heavy = {.density = 3000, .mu = 0.5};
    dls_material_id material;
    assert_int_equal(dls_world_add_material(world, &heavy, &material, NULL), DLS_OK);
    dls_shape_def shapes[2] = {ball(0.1), ball(0.2)};
    shapes[1].pose.x[0] = 0.5;
    shapes[1].material = material;
    double m1 = 1000 * 4 * PI / 3 * 1e-3, m2 = 3000 * 4 * PI / 3 * 8e-3, m = m1 + m2;
    double along = 0.4 * (m1 * 0.01 + m2 * 0.04), across = along + m1 * m2 * 0.25 / m;
    for (int scaled_mass = 0; scaled_mass < 2; scaled_mass++) {
        dls_body_def def = body_of(2, shapes);
        def.mass = scaled_mass ? 7 : 0;
        double factor = scaled_mass ? 7 / m : 1;
        dls_body_id id = add(world, &def);
        dls_body_mass mass;
        assert_int_equal(dls_body_mass_get(world, id, &mass, NULL), DLS_OK);
        assert_true(fabs(mass.mass - factor * m) < 1e-12 * m);
        assert_true(fabs(mass.centre[0] - 0.5 * m2 / m) < 1e-15 && mass.centre[1] == 0);
        for (int k = 0; k < 9; k++) {
            double expected = k == 0 ? along : k % 4 == 0 ? across : 0;
            assert_true(fabs(mass.inertia[k] - factor * expected) < 1e-14 * across);
        }
        dls_shape_def shape; /* about the mass centre */
        assert_int_equal(dls_body_shape(world, id, 1, &shape, NULL), DLS_OK);
        assert_true(fabs(shape.pose.x[0] - (0.5 - mass.centre[0])) < 1e-15);
        const dls_body *body = dls_world_body(world, id);
        assert_true(fabs(body->radius - (mass.centre[0] + 0.1)) < 1e-15);
    }
    dls_world_destroy(world);
}

/* A compound of the halves of a box, each turned another way, is the box. */
static void halves_make_a_whole(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_shape_def whole = dls_default_shape_def(DLS_BOX), half[2];
    vec_set(whole.size, 0.2, 0.3, 0.6);
    for (int k = 0; k < 2; k++) {
        half[k] = dls_default_shape_def(DLS_BOX);
        vec_set(half[k].size, 0.2, 0.3, 0.3);
        half[k].pose.x[2] = k ? 0.15 : -0.15;
    }
    half[1].pose.q[0] = half[1].pose.q[3] = sqrt(0.5);
    vec_set(half[1].size, 0.3, 0.2, 0.3);
    dls_body_def one = body_of(1, &whole), two = body_of(2, half);
    dls_body_mass a, b;
    assert_int_equal(dls_body_mass_get(world, add(world, &one), &a, NULL), DLS_OK);
    assert_int_equal(dls_body_mass_get(world, add(world, &two), &b, NULL), DLS_OK);
    assert_true(fabs(a.mass - 36) < 1e-12 && fabs(b.mass - 36) < 1e-12);
    for (int k = 0; k < 9; k++) assert_true(fabs(a.inertia[k] - b.inertia[k]) < 1e-13);
    assert_true(vec_norm(b.centre) < 1e-15);
    dls_world_destroy(world);
}

static void random_symmetric(dls_random *g, double *I, double *moments) {
    double q[4], R[9];
    for (int k = 0; k < 4; k++) q[k] = dls_random_normal(g);
    quat_normalize(q);
    quat_matrix(q, R);
    memset(I, 0, 9 * sizeof *I);
    for (int k = 0; k < 3; k++) I[4 * k] = moments[k];
    dls_inertia_turn(I, R);
}

static void principal_axes_are_eigenvectors(void **state) {
    (void)state;
    dls_random g = {31};
    for (int n = 0; n < scaled(5000, 100); n++) {
        double moments[3], I[9], found[3], axes[9], back[9] = {0};
        for (int k = 0; k < 3; k++) moments[k] = exp(dls_random_between(&g, -5, 5));
        if (n % 3 == 1) moments[1] = moments[0];
        if (n % 5 == 1) moments[2] = moments[1];
        random_symmetric(&g, I, moments);
        dls_inertia_principal(I, found, axes);
        double size = fmax(moments[0], fmax(moments[1], moments[2])), cross[3];
        for (int k = 0; k < 3; k++) back[4 * k] = found[k];
        dls_inertia_turn(back, axes);
        for (int k = 0; k < 9; k++) assert_true(fabs(back[k] - I[k]) < 1e-14 * size);
        vec_cross(cross, axes, axes + 3);
        assert_true(vec_distance(cross, axes + 6) < 1e-14);
        assert_true(fabs(vec_norm(axes) - 1) < 1e-14 && fabs(vec_norm(axes + 3) - 1) < 1e-14);
    }
    double I[9] = {3, 0, 0, 0, 1, 0, 0, 0, 2}, moments[3], axes[9];
    dls_inertia_principal(I, moments, axes);
    for (int k = 0; k < 9; k++) assert_true(axes[k] == (k % 4 == 0));
    assert_true(moments[0] == 3 && moments[1] == 1 && moments[2] == 2);
}

static void given_masses_are_taken(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_random g = {32};
    double moments[3] = {1, 2, 2.5}, I[9];
    random_symmetric(&g, I, moments);
    dls_body_def def = body_of(0, NULL);
    def.mass = 4, def.inertia = I;
    vec_set(def.centre, 0.1, 0.2, 0.3);
    dls_body_id id = add(world, &def);
    dls_body_mass mass;
    assert_int_equal(dls_body_mass_get(world, id, &mass, NULL), DLS_OK);
    assert_true(mass.mass == 4 && mass.centre[2] == 0.3);
    for (int k = 0; k < 9; k++) assert_true(fabs(mass.inertia[k] - I[k]) < 1e-14);
    const dls_body *body = dls_world_body(world, id);
    for (int k = 0; k < 3; k++) assert_true(fabs(body->inertia_root[k] * sqrt(body->inertia[k]) - 1) < 1e-15);
    assert_true(body->inverse_mass == 0.25);
    dls_world_destroy(world);
}

static void planar_bodies_turn_about_z(void **state) {
    (void)state;
    dls_world *world = make_world(2);
    dls_shape_def disc = dls_default_shape_def(DLS_DISC);
    disc.radius = 0.5;
    disc.pose.x[0] = 1;
    dls_body_def def = body_of(1, &disc);
    def.pose.q[0] = cos(0.3), def.pose.q[3] = sin(0.3);
    dls_body_id id = add(world, &def);
    dls_body_mass mass;
    assert_int_equal(dls_body_mass_get(world, id, &mass, NULL), DLS_OK);
    double m = 1000 * PI * 0.25;
    assert_true(fabs(mass.mass - m) < 1e-12 * m && fabs(mass.inertia[8] - m / 8) < 1e-12 * m);
    for (int k = 0; k < 8; k++) assert_true(mass.inertia[k] == 0);
    const dls_body *body = dls_world_body(world, id);
    assert_int_equal(body->locked, 4 | 8 | 16);
    assert_true(body->inertia_root[0] == 0 && body->inertia_root[1] == 0 && body->inertia_root[2] > 0);
    dls_body_state s;
    assert_int_equal(dls_body_state_get(world, id, &s, NULL), DLS_OK);
    assert_true(fabs(s.x[0] - cos(0.6)) < 1e-15 && fabs(s.x[1] - sin(0.6)) < 1e-15 && s.x[2] == 0);
    dls_world_destroy(world);
}

/* ---- frames ---- */

static void the_frame_comes_back(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_random g = {33};
    for (int n = 0; n < scaled(200, 20); n++) {
        double points[24];
        for (int k = 0; k < 24; k++) points[k] = dls_random_normal(&g);
        dls_shape_def shape = dls_default_shape_def(DLS_POLYHEDRON);
        shape.point_count = 8, shape.points = points;
        dls_body_def def = body_of(1, &shape);
        for (int k = 0; k < 4; k++) def.pose.q[k] = dls_random_normal(&g);
        for (int k = 0; k < 3; k++) def.pose.x[k] = dls_random_normal(&g);
        dls_body_id id = add(world, &def);
        dls_pose pose;
        dls_body_state s;
        dls_shape_def own;
        assert_int_equal(dls_body_pose_get(world, id, &pose, NULL), DLS_OK);
        assert_int_equal(dls_body_state_get(world, id, &s, NULL), DLS_OK);
        assert_int_equal(dls_body_shape(world, id, 0, &own, NULL), DLS_OK);
        quat_normalize(def.pose.q);
        assert_true(vec_distance(pose.x, def.pose.x) < 1e-14);
        assert_memory_equal(pose.q, s.q, sizeof pose.q);
        for (int k = 0; k < 4; k++) assert_true(fabs(pose.q[k] - def.pose.q[k]) < 1e-15);
        double R[9], S[9], a[3], b[3]; /* a vertex in the world, by the definition and by the state */
        quat_matrix(def.pose.q, R);
        quat_matrix(own.pose.q, S);
        mat_apply(a, R, own.points);
        vec_add(a, a, def.pose.x);
        mat_apply(b, S, own.points);
        vec_add(b, b, own.pose.x);
        mat_apply(b, R, b);
        vec_add(b, b, s.x);
        assert_true(vec_distance(a, b) < 1e-14);
    }
    dls_world_destroy(world);
}

static void states_are_set(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_shape_def shape = ball(1);
    dls_body_def def = body_of(1, &shape);
    def.locked[0] = true;
    dls_body_id id = add(world, &def);
    dls_error error;
    dls_body_state s = {.x = {1, 2, 3}, .q = {2, 0, 0, 0}, .v = {0, 5, 6}, .w = {7, 8, 9}}, t;
    assert_int_equal(dls_body_state_set(world, id, &s, &error), DLS_OK);
    assert_int_equal(dls_body_state_get(world, id, &t, &error), DLS_OK);
    s.q[0] = 1;
    assert_memory_equal(&s, &t, sizeof s);
    s.v[0] = 1;
    expect(dls_body_state_set(world, id, &s, &error), DLS_ERROR_INPUT, &error,
           "velocity along x is 1, expected 0 for a freedom that cannot move");
    s.v[0] = NAN;
    expect(dls_body_state_set(world, id, &s, &error), DLS_ERROR_INPUT, &error, "velocity is not finite");
    s.v[0] = 0, s.x[2] = INFINITY;
    expect(dls_body_state_set(world, id, &s, &error), DLS_ERROR_INPUT, &error,
           "the body is at (1, 2, inf), expected finite numbers");
    expect(dls_body_state_set(world, 7, &s, &error), DLS_ERROR_ARGUMENT, &error,
           "there is no body 7 among 1");
    assert_int_equal(dls_body_state_get(world, id, &t, &error), DLS_OK);
    assert_true(t.x[2] == 3);
    dls_world_destroy(world);
}

/* ---- names and accessors ---- */

static void names_are_found(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_shape_def shape = ball(1);
    dls_body_def def = body_of(1, &shape);
    int count = scaled(5000, 300);
    char name[32];
    for (int k = 0; k < count; k++) {
        snprintf(name, sizeof name, "ball-%d", k);
        def.name = k % 3 ? name : NULL;
        assert_int_equal(add(world, &def), k);
    }
    for (int k = 0; k < count; k++) {
        snprintf(name, sizeof name, "ball-%d", k);
        assert_int_equal(dls_world_find_body(world, name), k % 3 ? k : -1);
        assert_string_equal(dls_body_name(world, k), k % 3 ? name : "");
    }
    dls_error error;
    def.name = "ball-1";
    expect(dls_world_add_body(world, &def, NULL, &error), DLS_ERROR_INPUT, &error,
           "there is a body 'ball-1' already");
    assert_int_equal(dls_world_find_body(world, ""), -1);
    assert_int_equal(dls_world_find_body(world, NULL), -1);
    assert_string_equal(dls_body_name(world, -1), "");
    assert_int_equal(dls_body_presence(world, count), DLS_GONE);
    assert_int_equal(dls_body_shape_count(world, count), 0);
    dls_shape_def back;
    expect(dls_body_shape(world, 0, 1, &back, &error), DLS_ERROR_ARGUMENT, &error,
           "body 0 has no shape 1 among 1");
    dls_world_destroy(world);
}

static void shapes_come_back_as_defined(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    const double points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int triangles[6] = {0, 1, 2, 0, 3, 1};
    dls_shape_def shapes[3] = {dls_default_shape_def(DLS_BOX_INSIDE), dls_default_shape_def(DLS_MESH),
                               dls_default_shape_def(DLS_CYLINDER_INSIDE)};
    vec_set(shapes[0].size, 1, 2, 3);
    shapes[1].point_count = 4, shapes[1].points = points;
    shapes[1].triangle_count = 2, shapes[1].triangles = triangles;
    shapes[1].group = 4, shapes[1].collides = 3;
    shapes[2].radius = 0.5;
    dls_body_def def = body_of(3, shapes);
    def.motion = DLS_STATIC;
    vec_set(def.centre, 1, 0, 0);
    dls_body_id id = add(world, &def);
    dls_shape_def back;
    assert_int_equal(dls_body_motion(world, id), DLS_STATIC);
    assert_int_equal(dls_body_shape_count(world, id), 3);
    assert_int_equal(dls_body_shape(world, id, 0, &back, NULL), DLS_OK);
    assert_memory_equal(back.size, shapes[0].size, sizeof back.size);
    assert_true(back.pose.x[0] == -1);
    assert_int_equal(dls_body_shape(world, id, 1, &back, NULL), DLS_OK);
    assert_int_equal(back.triangle_count, 2);
    assert_memory_equal(back.triangles, triangles, sizeof triangles);
    assert_memory_equal(back.points, points, sizeof points);
    assert_true(back.group == 4 && back.collides == 3);
    assert_int_equal(dls_body_shape(world, id, 2, &back, NULL), DLS_OK);
    assert_true(back.radius == 0.5 && back.length == 0 && back.kind == DLS_CYLINDER_INSIDE);
    dls_body_mass mass;
    assert_int_equal(dls_body_mass_get(world, id, &mass, NULL), DLS_OK);
    assert_true(isinf(mass.mass) && isinf(mass.inertia[0]) && mass.inertia[1] == 0);
    dls_world_destroy(world);
}

/* ---- refusals ---- */

static void refuse(dls_world *world, const dls_body_def *def, const char *message) {
    dls_error error;
    int before = dls_world_body_count(world), id = -5;
    dls_status status = dls_world_add_body(world, def, &id, &error);
    assert_string_equal(error.message, message);
    assert_true(status != DLS_OK && id == -5);
    assert_int_equal(dls_world_body_count(world), before);
}

static void bad_bodies_are_refused(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_shape_def shapes[2] = {ball(1), dls_default_shape_def(DLS_HALF_SPACE)};
    dls_body_def good = body_of(1, shapes), def = good;
    def.motion = (dls_motion)9;
    refuse(world, &def, "there is no motion 9");
    def = good, def.shapes = NULL;
    refuse(world, &def, "1 shapes without definitions");
    def = good, def.shape_count = 40000;
    refuse(world, &def, "40000 shapes, expected at most 32767");
    def = good, def.birth = 2, def.death = 2;
    refuse(world, &def, "birth is 2 and death 2, expected birth before death");
    def = good, def.birth = NAN;
    refuse(world, &def, "birth is nan and death inf, expected birth before death");
    def = good, def.pose.x[0] = NAN;
    refuse(world, &def, "the body is at (nan, 0, 0), expected finite numbers");
    def = good, def.v[1] = INFINITY;
    refuse(world, &def, "velocity is not finite");
    def = good, def.motion = DLS_STATIC, def.v[1] = 1;
    refuse(world, &def, "velocity along y of a static body is 1, expected 0");
    def.motion = DLS_DRIVEN;
    refuse(world, &def, "velocity along y of a driven body is 1, expected 0 and a drive");
    def = good, def.w[2] = 3, def.locked[5] = true;
    refuse(world, &def, "angular velocity about z is 3, expected 0 where that is locked");
    shapes[0].radius = -1;
    refuse(world, &good, "shape 0 (sphere): radius is -1, expected a finite number above 0");
    shapes[0].radius = 1, shapes[0].material = 5;
    refuse(world, &good, "shape 0 (sphere): there is no material 5, expected 0 to 0");
    shapes[0].material = 0;
    dls_world_destroy(world);
    world = make_world(2);
    refuse(world, &good, "shape 0 (sphere): a sphere is a spatial shape and this is the plane");
    dls_shape_def disc = dls_default_shape_def(DLS_DISC);
    disc.radius = 1;
    def = body_of(1, &disc), def.w[0] = 1;
    refuse(world, &def, "angular velocity about x is 1, expected 0 in the plane");
    def = body_of(1, &disc), def.force[2] = expression("1");
    refuse(world, &def, "a force or drive of the translation along z, expected none in the plane");
    dls_world_destroy(world);
}

static void bad_masses_are_refused(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_shape_def shapes[2] = {ball(1), dls_default_shape_def(DLS_HALF_SPACE)};
    double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    dls_body_def def = body_of(2, shapes);
    refuse(world, &def, "shape 1 is a half-space, which has no mass: the body must be static or driven");
    def = body_of(0, NULL);
    refuse(world, &def, "a dynamic body without shapes needs mass and inertia");
    def.inertia = I;
    refuse(world, &def, "inertia is given and mass is 0, expected a mass with it");
    def.mass = -2;
    refuse(world, &def, "mass is -2 kg, expected a finite number above 0");
    def.mass = 1, I[1] = 0.5;
    refuse(world, &def, "inertia is not symmetric: 0.5 and 0 at (1, 0)");
    I[1] = 0, I[0] = 3;
    refuse(world, &def,
           "principal moments of inertia are 3, 1, 1 kg m²: none can exceed the sum of the others");
    I[0] = 0;
    refuse(world, &def, "principal moments of inertia are 0, 1, 1 kg m², expected all above 0");
    I[0] = NAN;
    refuse(world, &def, "inertia is not finite");
    I[0] = 1, def.centre[1] = NAN;
    refuse(world, &def, "mass centre is (0, nan, 0), expected finite numbers");
    def.motion = DLS_STATIC;
    refuse(world, &def, "centre is (0, nan, 0), expected finite numbers");
    def = body_of(1, shapes), def.centre[0] = 1;
    refuse(world, &def, "centre of a dynamic body is given without inertia, expected both or none");
    shapes[0].radius = 1e-150;
    def.centre[0] = 0;
    refuse(world, &def, "mass is 0 kg, expected a finite number above 0");
    shapes[0].radius = 1e150;
    refuse(world, &def, "mass is inf kg, expected a finite number above 0");
    dls_world_destroy(world);
    world = make_world(2);
    def = body_of(0, NULL), def.mass = 1, def.inertia = I, I[8] = 0;
    refuse(world, &def, "inertia about z is 0 kg m², expected a finite number above 0");
    I[8] = 1, def.centre[2] = 1;
    refuse(world, &def, "mass centre is at z = 1, expected 0 in the plane");
    def.motion = DLS_STATIC;
    refuse(world, &def, "centre is at z = 1, expected 0 in the plane");
    dls_world_destroy(world);
}

static void bad_drives_are_refused(void **state) {
    (void)state;
    dls_world *world = make_world(3);
    dls_shape_def shape = ball(1);
    dls_body_def good = body_of(1, &shape), def = good;
    def.drive[2].velocity = expression("t");
    refuse(world, &def, "translation along z has a drive, expected one in a driven body only");
    good.motion = DLS_DRIVEN;
    def = good, def.force[0] = expression("t");
    refuse(world, &def, "a force or torque on a body that is driven, expected a dynamic one");
    def = good, def.drive[0].velocity = expression("t"), def.drive[0].position = expression("t");
    refuse(world, &def, "translation along x has 2 of position, velocity and force, expected one of them");
    def = good, def.drive[3].position = expression("t"), def.drive[4].position = expression("t");
    refuse(world, &def, "2 rotations by position and 0 by velocity, expected one axis, or three velocities");
    def = good, def.drive[3].velocity = expression("t"), def.drive[5].velocity = expression("t");
    refuse(world, &def, "0 rotations by position and 2 by velocity, expected one axis, or three velocities");
    def = good, def.drive[1].force = expression("5");
    refuse(world, &def, "gain of the servo is 0 m/(s N), expected a finite number above 0");
    def = good, def.drive[1].force = expression("5"), def.drive[1].gain = 1;
    refuse(world, &def, "highest speed of the servo is 0 m/s, expected a finite number above 0");
    def = good, def.drive[4].force = expression("5");
    refuse(world, &def, "rotation about y is a servo, expected one for a translation only");
    def = good, def.drive[0].gain = 2;
    refuse(world, &def, "translation along x has a gain or a highest speed without a force");
    dls_world_destroy(world);
}

/* ---- memory ---- */

static dls_status build(dls_world **world) {
    static const double points[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    dls_world_def def = dls_default_world_def();
    dls_status status = dls_world_create(&def, world, NULL);
    for (int k = 0; k < 20 && !status; k++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", k);
        dls_shape_def shapes[2] = {ball(1), dls_default_shape_def(DLS_POLYHEDRON)};
        shapes[1].point_count = 5, shapes[1].points = points;
        dls_body_def body = body_of(2, shapes);
        body.name = name;
        body.birth = k % 4 == 0 ? 1 : 0;
        if (k % 5 == 0 && dls_function_constant(1, &body.force[0], NULL)) return DLS_ERROR_MEMORY;
        status = dls_world_add_body(*world, &body, NULL, NULL);
    }
    bool changed;
    for (int t = 0; t < 2 && !status; t++) status = dls_world_settle(*world, t, &changed, NULL);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    dls_status status = DLS_ERROR_MEMORY;
    int step = test_scale() < 1 ? 7 : 1;
    for (int at = 1; status; at += step) {
        dls_world *world = NULL;
        counting_begin(at);
        status = build(&world);
        dls_world_destroy(world);
        assert_int_equal(counting_end(), 0);
        assert_true(status == DLS_OK || status == DLS_ERROR_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_are_checked),     cmocka_unit_test(pairs_mix_unless_stated),
        cmocka_unit_test(materials_are_checked),  cmocka_unit_test(a_dumbbell_has_its_closed_form),
        cmocka_unit_test(halves_make_a_whole),    cmocka_unit_test(principal_axes_are_eigenvectors),
        cmocka_unit_test(given_masses_are_taken), cmocka_unit_test(planar_bodies_turn_about_z),
        cmocka_unit_test(the_frame_comes_back),   cmocka_unit_test(states_are_set),
        cmocka_unit_test(names_are_found),        cmocka_unit_test(shapes_come_back_as_defined),
        cmocka_unit_test(bad_bodies_are_refused), cmocka_unit_test(bad_masses_are_refused),
        cmocka_unit_test(bad_drives_are_refused), cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
