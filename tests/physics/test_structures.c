/* Structures that stand by symmetry: cards that lean against each other, in the plane and in space. */
#include "base/random.h"
#include "base/vector.h"
#include "support/near.h"
#include "support/stage.h"

#include <math.h>

static const double G = 9.81, MU = 0.3;

/* ---- an A-frame of cards ---- */

typedef struct card {
    double thick, width, length;
} card;

static dls_shape_def card_shape(int d, const card *c, double *points) {
    dls_shape_def shape = dls_default_shape_def(d == 2 ? DLS_POLYGON : DLS_BOX);
    const double half[2] = {c->thick / 2, c->length / 2};
    static const int corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int k = 0; k < 4; k++) vec_set(points + 3 * k, corner[k][0] * half[0], corner[k][1] * half[1], 0);
    shape.point_count = 4;
    shape.points = points;
    vec_set(shape.size, c->thick, c->width, c->length);
    return shape;
}

/* Feet on a plane, heads on each other, each leaning by angle; all turned by yaw about the vertical. How far
 * the first has moved after `seconds`. */
static double frame_moves(int d, double angle, double yaw, double h, double seconds) {
    static const card c = {0.0005, 0.06, 0.09};
    double points[12], turn_z[4], lean[4], up = c.length / 2 * cos(angle) + c.thick / 2 * sin(angle),
                                           out = c.length / 2 * sin(angle) + c.thick / 2 * cos(angle);
    stage s = stage_open(d, G, MU, 0, 0);
    dls_shape_def shape = card_shape(d, &c, points);
    dls_body_id id[2];
    stage_add_floor(&s, 0);
    for (int k = 0; k < 2; k++) {
        dls_body_def def = dls_default_body_def();
        double side = k ? 1 : -1, a = side * angle;
        def.shapes = &shape, def.shape_count = 1;
        const double about_y[3] = {0, -a, 0}, about_z[3] = {0, 0, d == 2 ? a : yaw};
        quat_exponential(lean, about_y);
        quat_exponential(turn_z, about_z);
        if (d == 2)
            for (int i = 0; i < 4; i++) def.pose.q[i] = turn_z[i];
        else
            quat_multiply(def.pose.q, turn_z, lean);
        vec_set(def.pose.x, side * out * cos(d == 2 ? 0 : yaw), d == 2 ? up : side * out * sin(yaw),
                d == 2 ? 0 : up);
        id[k] = stage_add(&s, &def);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(&s, &o, 0);
    dls_body_state before = stage_state(&s, id[0]);
    stage_run(&s, (int)(seconds / h));
    dls_body_state after = stage_state(&s, id[0]);
    assert_int_equal(s.uncertified, 0);
    stage_close(&s);
    return vec_distance(before.x, after.x);
}

/* Each foot bears the weight m g of a card, and the head a level force N: N (L cos α) = m g (L/2) sin α, so
 * that feet slip from tan α = 2 μ on; α = 31.2° with the thickness of a card. */
static void test_cards_hold_to_the_angle_of_friction(void **unused) {
    (void)unused;
    dls_random g = {3};
    const double degree = 0.017453292519943295;
    for (int d = 2; d <= 3; d++)
        for (int k = 0; k < 4; k++) {
            static const double holds[] = {5, 17, 25, 30.5};
            double yaw = dls_random_between(&g, 0, 6);
            assert_true(frame_moves(d, holds[k] * degree, yaw, k % 2 ? 5e-4 : 1e-3, 0.2) < 1e-7);
        }
    for (int d = 2; d <= 3; d++) assert_true(frame_moves(d, 32 * degree, 0.7, 1e-3, 0.4) > 1e-2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cards_hold_to_the_angle_of_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
