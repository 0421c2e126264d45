/* A cylinder that stands or lies on each supporting shape stays there: no drift, no turn, no rocking. */
#include "support/scale.h"
#include "support/stage.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static const double G = 9.81;

static dls_shape_def shape_of(dls_shape_kind kind, double radius, double length) {
    dls_shape_def shape = dls_default_shape_def(kind);
    shape.radius = radius, shape.length = length;
    return shape;
}

static dls_shape_def box_of(dls_shape_kind kind, double x, double y, double z) {
    dls_shape_def shape = dls_default_shape_def(kind);
    shape.size[0] = x, shape.size[1] = y, shape.size[2] = z;
    return shape;
}

/* A quarter turn about y lays the axis along x. */
static void lay(dls_pose *pose) {
    memset(pose->q, 0, sizeof pose->q);
    pose->q[0] = pose->q[2] = sqrt(0.5);
}

typedef struct rest {
    const char *name;
    dls_shape_def below, above;
    bool below_lies, above_lies;
    double x, y, z; /* of the cylinder above; the shape below is at the origin */
} rest;

static void check_rest(const rest *r) {
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1;
    def.motion = DLS_STATIC;
    def.shapes = &r->below;
    if (r->below_lies) lay(&def.pose);
    stage_add(&s, &def);
    def = dls_default_body_def();
    def.shape_count = 1;
    def.shapes = &r->above;
    def.pose.x[0] = r->x, def.pose.x[1] = r->y, def.pose.x[2] = r->z;
    if (r->above_lies) lay(&def.pose);
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 5e-3;
    stage_start(&s, &o, 1e-8);
    dls_body_state first = stage_state(&s, id);
    double moved = 0, turned = 0;
    int steps = scaled(2000, 100); /* 10 s */
    for (int k = 0; k < steps; k += 100) {
        stage_run(&s, 100);
        dls_body_state now = stage_state(&s, id);
        for (int i = 0; i < 3; i++) moved = fmax(moved, fabs(now.x[i] - first.x[i]));
        for (int i = 0; i < 4; i++) turned = fmax(turned, fabs(now.q[i] - first.q[i]));
    }
    if (!(moved < 1e-6 && turned < 1e-6 && s.uncertified == 0))
        fail_msg("%s: moved by %g m, turned by %g, %d uncertified steps, %d contacts", r->name, moved, turned,
                 s.uncertified, s.last.contacts);
    stage_close(&s);
}

static void test_standing(void **state) {
    (void)state;
    dls_shape_def above = shape_of(DLS_CYLINDER, 0.5, 2);
    const rest cases[] = {
        {"on a half-space", dls_default_shape_def(DLS_HALF_SPACE), above, false, false, 1, 2, 1},
        {"on a box", box_of(DLS_BOX, 2, 2, 1), above, false, false, 0.2, 0.1, 1.5},
        {"over an edge", box_of(DLS_BOX, 2, 2, 1), above, false, false, 0.9, 0.1, 1.5},
        {"over a corner", box_of(DLS_BOX, 2, 2, 1), above, false, false, 0.9, 0.8, 1.5},
        {"on its equal", shape_of(DLS_CYLINDER, 0.5, 2), above, false, false, 0, 0, 2},
        {"beside the middle", shape_of(DLS_CYLINDER, 0.5, 2), above, false, false, 0.3, 0.1, 2},
        {"on a narrower one", shape_of(DLS_CYLINDER, 0.3, 2), above, false, false, 0.1, 0, 2},
        {"in a box", box_of(DLS_BOX_INSIDE, 3, 3, 4), above, false, false, 0.2, 0.1, -1},
        {"in a cylinder", shape_of(DLS_CYLINDER_INSIDE, 1.5, 4), above, false, false, 0.2, 0.1, -1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check_rest(&cases[k]);
}

static void test_lying(void **state) {
    (void)state;
    dls_shape_def above = shape_of(DLS_CYLINDER, 0.5, 2);
    const rest cases[] = {
        {"on a half-space", dls_default_shape_def(DLS_HALF_SPACE), above, false, true, 1, 2, 0.5},
        {"on a box", box_of(DLS_BOX, 3, 2, 1), above, false, true, 0.2, 0.1, 1},
        {"across a box", box_of(DLS_BOX, 1, 2, 1), above, false, true, 0.2, 0.1, 1},
        {"on a cap", shape_of(DLS_CYLINDER, 0.6, 1), above, false, true, 0.2, 0.1, 1},
        {"in a lying drum", shape_of(DLS_CYLINDER_INSIDE, 1.5, 0), above, true, true, 0.2, 0, -1},
        {"in a box", box_of(DLS_BOX_INSIDE, 4, 3, 4), above, false, true, 0.2, 0.1, -1.5},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check_rest(&cases[k]);
}

/* On a mesh of a flat floor: 8 × 8 squares, two triangles each. */
static void test_on_mesh(void **state) {
    (void)state;
    enum { SIDE = 9 };
    double points[3 * SIDE * SIDE];
    int triangles[6 * SIDE * SIDE], count = 0;
    for (int k = 0; k < SIDE * SIDE; k++) {
        int row = k / SIDE;
        points[3 * k] = k % SIDE - 4, points[3 * k + 1] = row - 4, points[3 * k + 2] = 0;
        if (k % SIDE == SIDE - 1 || row == SIDE - 1) continue;
        int square[6] = {k, k + 1, k + SIDE + 1, k, k + SIDE + 1, k + SIDE};
        memcpy(triangles + 3 * count, square, sizeof square);
        count += 2;
    }
    dls_shape_def floor = dls_default_shape_def(DLS_MESH);
    floor.point_count = SIDE * SIDE, floor.points = points;
    floor.triangle_count = count, floor.triangles = triangles;
    dls_shape_def above = shape_of(DLS_CYLINDER, 0.5, 2);
    const rest standing = {"standing on a mesh", floor, above, false, false, 0.3, 0.2, 1};
    const rest lying = {"lying on a mesh", floor, above, false, true, 0.3, 0.2, 0.5};
    check_rest(&standing);
    check_rest(&lying);
}

/* A tower of five: dynamic on dynamic. */
static void test_tower(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0.5, 0, 0);
    stage_add_floor(&s, 0);
    dls_shape_def shape = shape_of(DLS_CYLINDER, 0.5, 1);
    dls_body_id id[5];
    double at[5][3];
    for (int k = 0; k < 5; k++) {
        double x[3] = {k % 2 ? 0.1 : 0, k % 3 ? 0.05 : 0, 0.5 + k};
        memcpy(at[k], x, sizeof x);
        id[k] = stage_add_shape(&s, DLS_DYNAMIC, &shape, x, NULL, NULL);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 5e-3;
    stage_start(&s, &o, 1e-8);
    stage_run(&s, scaled(2000, 100));
    for (int k = 0; k < 5; k++) {
        dls_body_state now = stage_state(&s, id[k]);
        for (int i = 0; i < 3; i++)
            if (!(fabs(now.x[i] - at[k][i]) < 1e-5))
                fail_msg("cylinder %d moved by %g", k, now.x[i] - at[k][i]);
        assert_true(fabs(fabs(now.q[0]) - 1) < 1e-8);
    }
    assert_int_equal(s.uncertified, 0);
    stage_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standing),
        cmocka_unit_test(test_lying),
        cmocka_unit_test(test_on_mesh),
        cmocka_unit_test(test_tower),
    };
    return cmocka_run_group_tests_name("cylinder_rest", tests, NULL, NULL);
}
