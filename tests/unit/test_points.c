/* Points: what collides with one is as far away as from a ball about it, plus its radius, with the same
 * normal; against every kind of shape, beside faces, edges and corners and in line with them. A point has no
 * mass of its own. */
#include "base/random.h"
#include "base/vector.h"
#include "collide/collide.h"
#include "collide/collider.h"
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static dls_error error[1];

static const double corners[] = {-0.5, -0.5, 0, 0.5, -0.5, 0, 0.5, 0.5, 0, -0.5, 0.5, 0};
static const double clockwise[] = {-0.5, 0.5, 0, 0.5, 0.5, 0, 0.5, -0.5, 0, -0.5, -0.5, 0}; /* free outside */
static const double cube[] = {-0.5, -0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, -0.5, -0.5, 0.5, -0.5,
                              -0.5, -0.5, 0.5,  0.5, -0.5, 0.5,  0.5, 0.5, 0.5,  -0.5, 0.5, 0.5};
static const int sides[] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                            1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

static dls_shape_def example(dls_shape_kind kind) {
    dls_shape_def def = dls_default_shape_def(kind);
    bool planar = dls_shape_kind_is_planar(kind);
    def.radius = kind == DLS_DRUM || kind == DLS_CYLINDER_INSIDE ? 3 : 0.5;
    def.length = kind == DLS_CYLINDER_INSIDE ? 6 : 1;
    vec_set(def.size, 1, 1, 1);
    if (kind == DLS_BOX_INSIDE) vec_set(def.size, 6, 6, 6);
    if (kind == DLS_ELLIPSOID) vec_set(def.size, 0.5, 0.4, 0.6);
    def.points = kind == DLS_CHAIN ? clockwise : planar ? corners : cube;
    def.point_count = planar ? 4 : 8;
    def.closed = true;
    def.triangles = sides;
    def.triangle_count = 12;
    return def;
}

/* The nearest contact of a ball, or of a point where radius is 0, with the shape. */
static dls_contact_point nearest(dls_shape_kind kind, const double *x, double radius) {
    static const double inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int dimension = dls_shape_kind_is_planar(kind) ? 2 : 3;
    stage s = stage_open(dimension, 0, 0, 0, 0);
    dls_shape_def shape = example(kind), ball = stage_ball(dimension, radius);
    ball.point = radius == 0;
    dls_body_def body = dls_default_body_def();
    stage_add_shape(&s, DLS_STATIC, &shape, NULL, NULL, NULL);
    body.shapes = &ball, body.shape_count = 1;
    body.mass = 1, body.inertia = inertia;
    vec_copy(body.pose.x, x);
    stage_add(&s, &body);
    bool changed;
    assert_int_equal(dls_world_settle(s.world, 0, &changed, error), DLS_OK);
    dls_collider *collider = dls_collider_create();
    dls_collide_options options = {.margin = 10, .h = 1e-3, .threads = 1};
    assert_int_equal(dls_collider_update(collider, s.world, &options, error), DLS_OK);
    dls_contact_point best = {.gap = INFINITY};
    for (int k = 0; k < dls_collider_count(collider); k++) {
        const dls_contact *c = &dls_collider_contacts(collider)[k];
        if (c->at.gap < best.gap) best = c->at;
        if (s.world->shapes[c->a].kind == ball.kind && s.world->bodies[c->body_a].motion == DLS_DYNAMIC &&
            c->at.gap == best.gap)
            vec_scale(best.normal, -1, c->at.normal);
    }
    dls_collider_destroy(collider);
    stage_close(&s);
    return best;
}

static void compare(dls_shape_kind kind, const double *x) {
    const double radius = 0.02;
    dls_contact_point point = nearest(kind, x, 0), ball = nearest(kind, x, radius);
    assert_true(isfinite(point.gap));
    if (!(fabs(point.gap - ball.gap - radius) <= 1e-9) || !(vec_distance(point.normal, ball.normal) < 1e-6))
        fail_msg("%s at (%g, %g, %g): gap %g, of a ball %g; normal (%g, %g, %g), of a ball (%g, %g, %g)",
                 dls_shape_kind_name(kind), x[0], x[1], x[2], point.gap, ball.gap, point.normal[0],
                 point.normal[1], point.normal[2], ball.normal[0], ball.normal[1], ball.normal[2]);
}

static void test_every_kind(void **state) {
    (void)state;
    dls_random g = {.state = 11};
    static const double places[][3] = {{0, 0.7, 0.7},   {0.7, 0.7, 0.7},  {0.7, 0, 0.7}, {0.5, 0.9, 0.9},
                                       {0.5, 0.5, 0.8}, {-0.6, 0.6, 0.5}, {0, 0, 0.9}};
    for (int kind = 0; kind < DLS_SHAPE_KINDS; kind++) {
        bool planar = dls_shape_kind_is_planar((dls_shape_kind)kind);
        if (kind == DLS_SKIN) continue; /* solids alone have it */
        for (int k = 0; k < 27; k++) {
            double x[3];
            for (int i = 0; i < 3; i++) x[i] = k < 7 ? places[k][i] : dls_random_between(&g, -1, 1);
            if (planar) x[2] = 0;
            if (vec_norm(x) < 0.95 || (planar && fmax(fabs(x[0]), fabs(x[1])) < 0.53)) continue;
            if (kind == DLS_HALF_PLANE) x[1] = fabs(x[1]) + 0.1;
            if (kind == DLS_HALF_SPACE) x[2] = fabs(x[2]) + 0.1;
            compare((dls_shape_kind)kind, x);
        }
    }
}

/* It lies still where it is put, also exactly on what it touches, and falls as far as it has to. */
static void test_rests(void **state) {
    (void)state;
    static const double inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int high = 0; high < 2; high++) {
            stage s = stage_open(dimension, 9.81, 0.5, 0, 0);
            dls_shape_def point = stage_ball(dimension, 0);
            dls_body_def body = dls_default_body_def();
            point.point = true;
            stage_add_floor(&s, 0);
            body.shapes = &point, body.shape_count = 1;
            body.mass = 2, body.inertia = inertia;
            body.pose.x[dimension - 1] = high ? 0.1 : 0;
            dls_body_id id = stage_add(&s, &body);
            dls_simulation_options o = dls_default_simulation_options();
            o.step = 1e-3;
            stage_start(&s, &o, 0);
            stage_run(&s, 400);
            assert_near(stage_state(&s, id).x[dimension - 1], 0, 1e-9);
            assert_int_equal(s.uncertified, 0);
            stage_close(&s);
        }
}

static void refuse(dls_shape_def shape, const char *word) {
    stage s = stage_open(2, 0, 0, 0, 0);
    dls_body_def body = dls_default_body_def();
    body.shapes = &shape, body.shape_count = 1;
    assert_int_equal(dls_world_add_body(s.world, &body, NULL, error), DLS_ERROR_INPUT);
    if (!strstr(error->message, word)) fail_msg("'%s' has no '%s'", error->message, word);
    stage_close(&s);
}

static void test_refusals(void **state) {
    (void)state;
    dls_shape_def point = dls_default_shape_def(DLS_DISC);
    refuse(point, "radius is 0, expected a finite number above 0");
    point.point = true;
    refuse(point, "mass");
    point.radius = 0.1;
    refuse(point, "radius of a point is 0.1, expected 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_rests),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
