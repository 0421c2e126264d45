/* Skins of elements against every shape: what stands flat is loaded evenly, what lies on a soft block is
 * carried and stays where it is; pressed spheres against Hertz. */
#include "base/vector.h"
#include "support/near.h"
#include "support/scale.h"
#include "support/stage.h"
#include "support/test.h"

#include <delassus/joint.h>
#include <delassus/solid.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dls_error error[1];
#define OK(call)                                                                                             \
    do {                                                                                                     \
        if (call) fail_msg("%s", error->message);                                                            \
    } while (0)

static const double RHO = 1000, YOUNG = 1e6, GRAVITY = 10;

static stage open_world(double gravity, double poisson, double damping, double mu) {
    stage s = stage_open(3, gravity, mu, 0, 0);
    dls_material_def material;
    OK(dls_world_material(s.world, 0, &material, error));
    material.density = RHO, material.young = YOUNG, material.poisson = poisson, material.damping = damping;
    OK(dls_world_set_material(s.world, 0, &material, error));
    return s;
}

static void start(stage *s, double h) {
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(s, &o, 1e-9);
}

/* A block of n × n × 2 bricks. */
static dls_body_id add_soft(stage *s, int n, const double *size, double x, double y, double z) {
    dls_solid_def solid = dls_default_solid_def(DLS_SOLID_ELEMENTS);
    dls_shape_def shape = dls_default_shape_def(DLS_BOX);
    dls_body_def def = dls_default_body_def();
    solid.cells[0] = solid.cells[1] = n, solid.cells[2] = 2, solid.corotational = true;
    vec_copy(shape.size, size);
    def.shapes = &shape, def.shape_count = 1, def.solid = &solid;
    vec_set(def.pose.x, x, y, z);
    return stage_add(s, &def);
}

/* ---- supports ---- */

static const double cube[24] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1,
                                -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1, 1, 1};

/* A shape of this kind whose flat upper side is z = 0, as wide as it takes; false where there is none. */
static bool flat_support(dls_shape_kind kind, dls_shape_def *shape) {
    static double vertex[24], sheet[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
    static int face[6] = {0, 1, 2, 0, 2, 3};
    *shape = dls_default_shape_def(kind);
    switch (kind) {
    case DLS_HALF_SPACE:
        return true;
    case DLS_BOX_INSIDE:
        vec_set(shape->size, 2, 2, 2);
        shape->pose.x[2] = 1;
        return true;
    case DLS_BOX:
        vec_set(shape->size, 2, 2, 0.5);
        shape->pose.x[2] = -0.25;
        return true;
    case DLS_CYLINDER:
        shape->radius = 1, shape->length = 0.5;
        shape->pose.x[2] = -0.25;
        return true;
    case DLS_POLYHEDRON:
        for (int k = 0; k < 24; k++) vertex[k] = cube[k] * (k % 3 == 2 ? 0.25 : 1);
        shape->points = vertex, shape->point_count = 8, shape->pose.x[2] = -0.25;
        return true;
    case DLS_MESH:
        shape->points = sheet, shape->point_count = 4, shape->triangles = face, shape->triangle_count = 2;
        return true;
    default:
        return false;
    }
}

static double height_of(const stage *s, dls_body_id id, double X, double Y, double Z) {
    double at[3] = {X, Y, Z};
    dls_body_state state;
    OK(dls_solid_point(s->world, id, at, &state, error));
    return state.x[2];
}

/* A block under its weight on anything flat: its top sinks by ρ g H²/(2E), ν = 0, evenly. */
static void test_stands_on_every_shape(void **state) {
    (void)state;
    static const double size[3] = {0.2, 0.2, 0.2};
    double expected = RHO * GRAVITY * 0.04 / (2 * YOUNG);
    int kinds = 0;
    for (int kind = 0; kind < DLS_SHAPE_KINDS; kind++) {
        dls_shape_def shape;
        if (!flat_support((dls_shape_kind)kind, &shape)) continue;
        stage s = open_world(GRAVITY, 0, 0.02, 0.3);
        dls_body_id block = add_soft(&s, 2, size, 0.03, 0.05, 0.1);
        stage_add_shape(&s, DLS_STATIC, &shape, NULL, NULL, NULL);
        start(&s, 5e-3);
        stage_run(&s, 40);
        for (int k = 0; k < 4; k++) {
            double sunk = 0.2 - height_of(&s, block, k % 2 ? 0.1 : -0.1, k / 2 ? 0.1 : -0.1, 0.1);
            if (fabs(sunk - expected) > 1e-4 * expected)
                fail_msg("on %s, corner %d: sunk %.7g of %.7g", dls_shape_kind_name((dls_shape_kind)kind), k,
                         sunk, expected);
        }
        assert_int_equal(s.uncertified, 0);
        assert_int_equal(s.last.contacts, 9);
        kinds++;
        stage_close(&s);
    }
    assert_int_equal(kinds, 6);
}

/* ---- what lies on a soft block ---- */

/* A shape of this kind whose lowest point is 0.06 below its middle, or its axis turned flat. */
static bool lying(dls_shape_kind kind, int turn, dls_shape_def *shape) {
    static double vertex[24];
    *shape = dls_default_shape_def(kind);
    double half = sqrt(0.5);
    if (turn) shape->pose.q[0] = half, shape->pose.q[2] = half;
    switch (kind) {
    case DLS_SPHERE:
        shape->radius = 0.06;
        return !turn;
    case DLS_CAPSULE:
        shape->radius = 0.06, shape->length = 0.1;
        return turn;
    case DLS_ELLIPSOID:
        vec_set(shape->size, 0.08, 0.1, 0.06);
        return !turn;
    case DLS_CYLINDER:
        shape->radius = 0.06, shape->length = 0.12;
        return true;
    case DLS_BOX:
        vec_set(shape->size, 0.12, 0.14, 0.12);
        return !turn;
    case DLS_POLYHEDRON:
        for (int k = 0; k < 24; k++) vertex[k] = cube[k] * 0.06;
        shape->points = vertex, shape->point_count = 8;
        return !turn;
    default:
        return false;
    }
}

/* Vertical impulse on a body in the last step. */
static double carried(const stage *s, dls_body_id body) {
    double up = 0;
    for (int i = 0; i < dls_simulation_contact_count(s->simulation); i++) {
        dls_contact_record r;
        dls_simulation_contact(s->simulation, i, &r);
        if (r.body_a != body && r.body_b != body) continue;
        for (int k = 0; k < 3; k++) up += (r.body_a == body ? -1 : 1) * r.impulse[k] * r.frame[2 + 3 * k];
    }
    return up;
}

/* What lies in the middle of a soft block is carried, and neither moves aside nor tilts. Points of a standing
 * cylinder's rim take turns, by 6e-4 of its weight. */
static void test_carries_every_shape(void **state) {
    (void)state;
    static const double size[3] = {0.3, 0.3, 0.1};
    double h = 5e-3;
    int kinds = 0;
    for (int kind = 0; kind < 2 * DLS_SHAPE_KINDS; kind++) {
        dls_shape_def shape;
        if (!lying((dls_shape_kind)(kind / 2), kind % 2, &shape)) continue;
        stage s = open_world(GRAVITY, 0.3, 0.02, 0.3);
        add_soft(&s, 4, size, 0, 0, 0.05);
        double x[3] = {0, 0, 0.16};
        dls_body_id body = stage_add_shape(&s, DLS_DYNAMIC, &shape, x, NULL, NULL);
        stage_add_floor(&s, 0);
        start(&s, h);
        stage_run(&s, 60);
        dls_body_state b = stage_state(&s, body);
        double share = carried(&s, body) / (h * GRAVITY * stage_mass(&s, body).mass),
               aside = hypot(b.x[0], b.x[1]), tilt = hypot(b.q[1], b.q[2]), sunk = 0.16 - b.x[2];
        print_message("# %s %d: carries %.5f, sunk %.4g, aside %.2g, tilt %.2g, contacts %d\n",
                      dls_shape_kind_name((dls_shape_kind)(kind / 2)), kind % 2, share, sunk, aside, tilt,
                      s.last.contacts);
        assert_near(share, 1, 2e-3);
        assert_true(sunk > 5e-5 && sunk < 5e-4 && aside < 1e-6 && tilt < 1e-6 && s.last.penetration < 1e-5);
        assert_int_equal(s.uncertified, 0);
        kinds++;
        stage_close(&s);
    }
    assert_int_equal(kinds, 7);
}

/* ---- skins on each other ---- */

/* Two soft balls meet head on: nothing turns them aside, whichever way their faces are cut. */
static void head_on(int n) {
    stage s = open_world(0, 0.3, 0, 0.3);
    dls_body_id ball[2];
    for (int k = 0; k < 2; k++) {
        dls_solid_def solid = dls_default_solid_def(DLS_SOLID_ELEMENTS);
        dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
        dls_body_def def = dls_default_body_def();
        solid.cells[0] = solid.cells[1] = solid.cells[2] = n, solid.corotational = true;
        shape.radius = 0.1;
        def.shapes = &shape, def.shape_count = 1, def.solid = &solid;
        vec_set(def.pose.x, k ? 0.102 : -0.102, 0, 0);
        def.v[0] = k ? -0.5 : 0.5;
        ball[k] = stage_add(&s, &def);
    }
    start(&s, 5e-4);
    stage_run(&s, 100);
    for (int k = 0; k < 2; k++) {
        dls_body_state b = stage_state(&s, ball[k]);
        double aside = hypot(b.v[1], b.v[2]) / 0.5, spin = vec_norm(b.w) * 0.1 / 0.5,
               back = fabs(b.v[0]) / 0.5;
        print_message("# head on, %d cells: aside %.2g, spin %.2g, back %.4f\n", n, aside, spin, back);
        assert_true(aside < 5e-5 && spin < 1.5e-4 && back > 0.9);
    }
    stage_close(&s);
}

static void test_head_on(void **state) {
    (void)state;
    head_on(2); /* a tip on a tip */
    head_on(3);
    head_on(4);
}

/* ---- Hertz ---- */

enum {
    ACROSS = 9,
    ALONG = 7,
    NODES = (ACROSS + 1) * (ACROSS + 1) * (ALONG + 1),
    CELLS = ACROSS * ACROSS * ALONG
};

/* A quarter of a cap of radius 1, bricks small at its lowest point: five of them to a radius of 0.1. */
static void fine_cap(double *X, int *cells) {
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    static const double side[ACROSS + 1] = {0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.125, 0.18, 0.3, 0.5},
                                      up[ALONG + 1] = {0, 0.02, 0.045, 0.08, 0.13, 0.2, 0.32, 0.5};
    for (int k = 0; k < NODES; k++) {
        double *p = X + 3 * k;
        p[0] = side[k % (ACROSS + 1)], p[1] = side[k / (ACROSS + 1) % (ACROSS + 1)];
        double low = 1 - sqrt(1 - p[0] * p[0] - p[1] * p[1]), s = up[k / ((ACROSS + 1) * (ACROSS + 1))];
        p[2] = low + s * (1 - low / 0.5);
    }
    for (int c = 0; c < CELLS; c++)
        for (int i = 0; i < 8; i++)
            cells[8 * c + i] = c % ACROSS + corner[i][0] +
                               (ACROSS + 1) * (c / ACROSS % ACROSS + corner[i][1] +
                                               (ACROSS + 1) * (c / (ACROSS * ACROSS) + corner[i][2]));
}

/* Holds what lies at x = 0 or y = 0 in that plane. */
static void hold_plane(stage *s, dls_body_id body, const double *X, int axis) {
    double normal[3] = {axis == 0, axis == 1, 0};
    for (int k = 0; k < NODES; k++) {
        dls_joint_def joint = dls_default_joint_def(DLS_JOINT_POINT_ON_PLANE);
        dls_joint_id id;
        if (X[3 * k + axis] > 0) continue;
        joint.body[0] = DLS_GROUND, joint.body[1] = body;
        OK(dls_joint_place(s->world, &joint, X + 3 * k, normal, NULL, error));
        OK(dls_world_add_joint(s->world, &joint, &id, error));
    }
}

/* A cap on a plane, pressed by its weight: a³ = 3 F R (1 − ν²)/(4 E), and Σ f r²/Σ f = 2 a²/5. Its
 * planes of symmetry are held. */
static void test_hertz(void **state) {
    (void)state;
    if (test_scale() < 1) skip(); /* 3000 freedoms: too long under a sanitizer */
    static double X[3 * NODES];
    static int cells[8 * CELLS];
    double nu = 0.3, a = 0.1, pull = 1, h = 0.05;
    fine_cap(X, cells);
    dls_solid_mesh mesh = {
        .cell = DLS_SOLID_HEX8, .node_count = NODES, .cell_count = CELLS, .points = X, .cells = cells};
    dls_solid_def solid = dls_default_solid_def(DLS_SOLID_ELEMENTS);
    dls_shape_def shape = dls_default_shape_def(DLS_SKIN);
    dls_body_def def = dls_default_body_def();
    solid.corotational = true, solid.mesh = &mesh;
    def.shapes = &shape, def.shape_count = 1, def.solid = &solid;
    pull = YOUNG / (1 - nu * nu) * a * a * a / 3 / (RHO * 0.25 * 0.46);
    stage s = open_world(pull, nu, 0.2, 0);
    dls_body_id cap = stage_add(&s, &def);
    double force = stage_mass(&s, cap).mass * pull;
    a = cbrt(3 * force * (1 - nu * nu) / YOUNG);
    for (int axis = 0; axis < 2; axis++) hold_plane(&s, cap, X, axis);
    stage_add_floor(&s, 0);
    start(&s, h);
    stage_run(&s, 12);
    double sum = 0, moment = 0;
    for (int i = 0; i < dls_simulation_contact_count(s.simulation); i++) {
        dls_contact_record r;
        dls_simulation_contact(s.simulation, i, &r);
        sum += r.impulse[0];
        moment += r.impulse[0] * (r.point[0] * r.point[0] + r.point[1] * r.point[1]);
    }
    double found = sqrt(2.5 * moment / sum);
    print_message("# Hertz: force %.5f of 1, a/R %.5f of %.5f, contacts %d\n", sum / h / force, found, a,
                  s.last.contacts);
    assert_near(sum / h, force, 0.01 * force);
    assert_near(found, a, 0.02 * a);
    assert_true(a > 0.09 && a < 0.11);
    stage_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stands_on_every_shape),
        cmocka_unit_test(test_carries_every_shape),
        cmocka_unit_test(test_head_on),
        cmocka_unit_test(test_hertz),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
