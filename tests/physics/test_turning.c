/* Friction against turning: rolling, spinning and Contensou's, against closed forms, in a frame turned at
 * random, in every scheme, at h and at h/2. */
#include "base/random.h"
#include "base/vector.h"
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81, R = 0.03, PI = 3.14159265358979323846;

/* A floor and what stands on it: in space turned at random with gravity, in the plane as it is. */
typedef struct ground {
    stage s;
    int dimension;
    double axes[9]; /* columns: two along the floor, one up; in the plane x and y */
} ground;

static void random_axes(dls_random *g, double *axes) {
    double q[4];
    for (int k = 0; k < 4; k++) q[k] = dls_random_normal(g);
    quat_normalize(q);
    quat_matrix(q, axes);
}

static const double *up_of(const ground *x) { return x->axes + (x->dimension == 2 ? 3 : 6); }

/* The floor leans by angle: gravity has a share along −axis 0. */
static ground ground_open(dls_random *g, int dimension, double angle, double mu, dls_turning_def turning) {
    ground x = {.dimension = dimension, .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    if (dimension == 3) random_axes(g, x.axes);
    dls_world_def def = dls_default_world_def();
    def.dimension = dimension;
    for (int k = 0; k < 3; k++) def.gravity[k] = -G * (cos(angle) * up_of(&x)[k] + sin(angle) * x.axes[k]);
    dls_error error;
    if (dls_world_create(&def, &x.s.world, &error)) fail_msg("%s", error.message);
    dls_material_def material = dls_default_material_def();
    material.mu = mu;
    material.turning = turning;
    if (dls_world_set_material(x.s.world, 0, &material, &error)) fail_msg("%s", error.message);
    dls_body_def floor = dls_default_body_def();
    dls_shape_def half = dls_default_shape_def(dimension == 2 ? DLS_HALF_PLANE : DLS_HALF_SPACE);
    floor.motion = DLS_STATIC;
    floor.shapes = &half;
    floor.shape_count = 1;
    if (dimension == 3) quat_from_matrix(floor.pose.q, x.axes); /* its z is up */
    stage_add(&x.s, &floor);
    return x;
}

static dls_body_id ground_ball(ground *x, double v, double w_along, double w_up) {
    dls_shape_def ball = stage_ball(x->dimension, R);
    double at[3], speed[3], spin[3] = {0, 0, 0};
    vec_scale(at, R, up_of(x));
    vec_scale(speed, v, x->axes);
    if (x->dimension == 2) {
        spin[2] = -w_along;
    } else {
        vec_scale(spin, w_along, x->axes + 3);
        vec_along(spin, spin, w_up, up_of(x));
    }
    return stage_add_shape(&x->s, DLS_DYNAMIC, &ball, at, speed, spin);
}

static void start(ground *x, const char *scheme, double h) {
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    snprintf(o.scheme, sizeof o.scheme, "%s", scheme);
    stage_start(&x->s, &o, 1e-13);
}

static const char *const SCHEMES[] = {"moreau-jean", "theta", "dvi", "generalized-alpha"};
enum { SCHEME_COUNT = sizeof SCHEMES / sizeof *SCHEMES };

/* tan α = μ_r/R is where a ball begins to roll; beyond it rolls at (5/7) g cos α (tan α − μ_r/R). */
static void incline(dls_random *g, int dimension, const char *scheme, double h) {
    double length = 2e-3, slope = length / R, share = dimension == 2 ? 2.0 / 3 : 5.0 / 7;
    for (int side = -1; side <= 1; side += 2) {
        double angle = atan(slope * (1 + 1e-6 * side));
        ground x = ground_open(g, dimension, angle, 0.5, (dls_turning_def){.rolling = length});
        dls_body_id id = ground_ball(&x, 0, 0, 0);
        start(&x, scheme, h);
        int steps = (int)(1 / h + 0.5);
        stage_run(&x.s, steps);
        double v = -vec_dot(stage_state(&x.s, id).v, x.axes);
        double expected = side < 0 ? 0 : share * G * cos(angle) * (tan(angle) - slope);
        assert_near(v, expected, 1e-8);
        assert_int_equal(x.s.uncertified, 0);
        stage_close(&x.s);
    }
}

static void test_rests_until_the_slope_is_steep_enough(void **state) {
    (void)state;
    dls_random g = {1};
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int k = 0; k < SCHEME_COUNT; k++)
            for (int half = 1; half <= 2; half++) incline(&g, dimension, SCHEMES[k], 2e-3 / half);
}

/* Rolling, it slows by (5/7) g μ_r/R, a disc by (2/3) g μ_r/R, stops and stays. */
static void test_slows(void **state) {
    (void)state;
    dls_random g = {2};
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int k = 0; k < 2 * SCHEME_COUNT; k++) {
            double length = 1e-3, v0 = 0.4, h = k % 2 ? 5e-4 : 1e-3,
                   share = dimension == 2 ? 2.0 / 3 : 5.0 / 7;
            double slowing = share * G * length / R, stop = v0 / slowing;
            ground x = ground_open(&g, dimension, 0, 0.5, (dls_turning_def){.rolling = length});
            dls_body_id id = ground_ball(&x, v0, v0 / R, 0);
            start(&x, SCHEMES[k / 2], h);
            int steps = (int)(stop / h / 2);
            stage_run(&x.s, steps);
            dls_body_state now = stage_state(&x.s, id);
            assert_near(vec_dot(now.v, x.axes), v0 - slowing * h * steps, 1e-9);
            assert_near(vec_norm(now.w) * R, v0 - slowing * h * steps, 1e-9);
            if (k < 2) {
                const dls_energy *e = &x.s.last.energy;
                double lost = stage_mass(&x.s, id).mass / share / 2 * (v0 * v0 - vec_dot(now.v, now.v));
                assert_near(e->turning, lost, 1e-9 * lost);
                assert_near(e->friction, 0, 1e-9 * lost);
                assert_near(e->unaccounted, 0, 1e-12);
            }
            stage_run(&x.s, 2 * steps);
            assert_near(vec_norm(stage_state(&x.s, id).v), 0, 1e-11);
            assert_int_equal(x.s.uncertified, 0);
            stage_close(&x.s);
        }
}

/* Spinning about the normal it loses (5/2) μ_s g/R² per second; with Contensou's radius ε μ_s is με. */
static void test_spin_dies(void **state) {
    (void)state;
    dls_random g = {3};
    for (int k = 0; k < 4 * SCHEME_COUNT; k++) {
        double length = 2e-4, mu = 0.4, w0 = 20, h = k % 2 ? 5e-4 : 1e-3;
        bool drilling = k / 2 % 2;
        dls_turning_def turning = {.spinning = drilling ? 0 : length, .drilling = drilling ? length / mu : 0};
        ground x = ground_open(&g, 3, 0, mu, turning);
        dls_body_id id = ground_ball(&x, 0, 0, w0);
        start(&x, SCHEMES[k / 4], h);
        double slowing = 2.5 * length * G / (R * R);
        int steps = (int)(w0 / slowing / h / 2);
        stage_run(&x.s, steps);
        double w = vec_dot(stage_state(&x.s, id).w, up_of(&x));
        assert_near(w, w0 - slowing * h * steps, 1e-7);
        if (k < 4) { /* all of it, Contensou's too, is lost to turning */
            double lost = 0.2 * stage_mass(&x.s, id).mass * R * R * (w0 * w0 - w * w);
            assert_near(x.s.last.energy.turning, lost, 1e-9 * lost);
            assert_near(x.s.last.energy.friction, 0, 1e-9 * lost);
        }
        stage_run(&x.s, 2 * steps);
        assert_near(vec_norm(stage_state(&x.s, id).w), 0, 1e-9);
        assert_int_equal(x.s.uncertified, 0);
        stage_close(&x.s);
    }
}

/* Ratios are of the smaller radius: the same motion as with the length. */
static void test_ratios_are_of_the_radius(void **state) {
    (void)state;
    double v[2];
    for (int k = 0; k < 2; k++) {
        dls_random g = {4};
        dls_turning_def turning = {.rolling = k ? 0 : 0.05 * R, .rolling_ratio = k ? 0.05 : 0};
        ground x = ground_open(&g, 3, 0, 0.5, turning);
        dls_body_id id = ground_ball(&x, 0.3, 0.3 / R, 0);
        start(&x, "moreau-jean", 1e-3);
        stage_run(&x.s, 100);
        v[k] = vec_norm(stage_state(&x.s, id).v);
        stage_close(&x.s);
    }
    assert_near(v[0], v[1], 1e-12);
}

/* All kinds of friction in one contact, on top of sliding: the ball comes to rest, energy only falls, and
 * books close. */
static void test_all_at_once(void **state) {
    (void)state;
    dls_random g = {5};
    ground x = ground_open(&g, 3, 0, 0.3, (dls_turning_def){.rolling = 1e-3, .spinning = 5e-4});
    dls_body_id id = ground_ball(&x, 0.8, -5, 40);
    start(&x, "moreau-jean", 1e-3);
    double last = HUGE_VAL;
    for (int k = 0; k < 300; k++) {
        stage_run(&x.s, 20);
        double now = x.s.last.energy.kinetic + x.s.last.energy.potential;
        assert_true(now <= last + 1e-12);
        last = now;
        assert_near(x.s.last.energy.unaccounted, 0, 1e-10);
    }
    assert_near(vec_norm(stage_state(&x.s, id).v), 0, 1e-9);
    assert_near(vec_norm(stage_state(&x.s, id).w), 0, 1e-7);
    assert_int_equal(x.s.uncertified, 0);
    stage_close(&x.s);
}

/* The pair of a stage's one material. */
static void resist_turning(stage *s, dls_turning_def turning) {
    dls_pair_def pair;
    dls_error error;
    assert_int_equal(dls_world_pair(s->world, 0, 0, &pair, NULL, &error), DLS_OK);
    pair.turning = turning;
    if (dls_world_set_pair(s->world, 0, 0, &pair, &error)) fail_msg("%s", error.message);
}

/* A turntable spins a ball up by (5/2) μ_s g/R² until both turn alike; what its drive puts in is booked. */
static void test_a_turntable_spins_it_up(void **state) {
    (void)state;
    double length = 2e-4, slope = 2.5 * length * G / (R * R), h = 1e-3;
    stage s = stage_open(3, G, 0.5, 0, 0);
    resist_turning(&s, (dls_turning_def){.spinning = length});
    dls_shape_def half = dls_default_shape_def(DLS_HALF_SPACE), ball = stage_ball(3, R);
    dls_body_def table = dls_default_body_def();
    dls_error error;
    table.shapes = &half;
    table.shape_count = 1;
    table.motion = DLS_DRIVEN;
    assert_int_equal(dls_function_constant(3, &table.drive[5].velocity, &error), DLS_OK);
    stage_add(&s, &table);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 0, R}, NULL, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(&s, &o, 1e-13);
    int steps = (int)(3 / slope / h / 2);
    stage_run(&s, steps);
    assert_near(stage_state(&s, id).w[2], slope * h * steps, 1e-8);
    dls_body_mass mass = stage_mass(&s, id);
    assert_near(s.last.energy.work, 0.4 * mass.mass * R * R * slope * h * steps * 3, 1e-9);
    assert_near(s.last.energy.unaccounted, 0, 1e-12);
    stage_run(&s, 2 * steps);
    assert_near(stage_state(&s, id).w[2], 3, 1e-9);
    stage_close(&s);
}

/* ---- flat faces ---- */

/* How fast a body that stands on the floor z = 0 and spins about z loses its spin, over μ m g/J. */
static double spin_arm(const dls_shape_def *shapes, int count, double height) {
    const double mu = 0.3, h = 1e-3;
    stage s = stage_open(3, G, mu, 0, 0);
    dls_body_def def = dls_default_body_def();
    stage_add_floor(&s, 0);
    def.pose.x[2] = height, def.w[2] = 10;
    def.shapes = shapes, def.shape_count = count;
    dls_body_id id = stage_add(&s, &def);
    dls_body_mass mass = stage_mass(&s, id);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 50);
    assert_int_equal(s.uncertified, 0);
    double lost = (10 - stage_state(&s, id).w[2]) / (50 * h);
    stage_close(&s);
    return lost * mass.inertia[8] / (mu * mass.mass * G);
}

/* A face bears on its corners or on its rim; pads at 2/3 of the radius turn as a disc under uniform pressure.
 */
static void test_flat_faces_spin_on_their_rim(void **state) {
    (void)state;
    enum { PADS = 3 };
    dls_shape_def box = dls_default_shape_def(DLS_BOX), disc[1 + PADS];
    box.size[0] = box.size[1] = 0.2, box.size[2] = 0.1;
    assert_near(spin_arm(&box, 1, 0.05), 0.1 * sqrt(2), 1e-9);
    disc[0] = dls_default_shape_def(DLS_CYLINDER);
    disc[0].radius = 0.1, disc[0].length = 0.1;
    assert_near(spin_arm(disc, 1, 0.05), 0.1, 1e-9);
    for (int k = 0; k < PADS; k++) {
        double turn = 2 * PI * k / PADS;
        disc[1 + k] = stage_ball(3, 0.005);
        vec_set(disc[1 + k].pose.x, 0.2 / 3 * cos(turn), 0.2 / 3 * sin(turn), -0.05);
    }
    assert_near(spin_arm(disc, 1 + PADS, 0.055), 0.2 / 3, 1e-9);
}

/* ---- what must not change ---- */

static void add_totals(const stage *s, dls_body_id id, double *momentum, double *spin) {
    dls_body_state b = stage_state(s, id);
    dls_body_mass mass = stage_mass(s, id);
    double own[3], orbit[3];
    stage_spin(&mass, &b, own);
    vec_cross(orbit, b.x, b.v);
    vec_along(momentum, momentum, mass.mass, b.v);
    vec_along(spin, spin, mass.mass, orbit);
    vec_add(spin, spin, own);
}

/* Two that collide, spinning, far from anything: momentum and angular momentum stay, energy falls. */
static void collide(dls_random *g, const dls_shape_def *shape) {
    stage s = stage_open(3, 0, 0.5, 0, 0);
    resist_turning(&s, (dls_turning_def){.rolling_ratio = 0.2, .spinning_ratio = 0.1});
    dls_body_id ids[2];
    for (int k = 0; k < 2; k++) {
        double sign = k ? 1 : -1;
        double x[3] = {sign * 0.5, 0.02 * dls_random_normal(g), 0.02 * dls_random_normal(g)};
        double v[3] = {-sign, 0.1 * dls_random_normal(g), 0.1 * dls_random_normal(g)}, w[3];
        for (int i = 0; i < 3; i++) w[i] = 2 * dls_random_normal(g);
        ids[k] = stage_add_shape(&s, DLS_DYNAMIC, shape, x, v, w);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 1e-3;
    o.reference_velocity = 0.01;
    stage_start(&s, &o, 1e-12);
    double momentum[2][3] = {{0}}, spin[2][3] = {{0}};
    stage_run(&s, 1);
    for (int k = 0; k < 2; k++) add_totals(&s, ids[k], momentum[0], spin[0]);
    double before = s.last.energy.kinetic;
    stage_run(&s, 800);
    for (int k = 0; k < 2; k++) add_totals(&s, ids[k], momentum[1], spin[1]);
    assert_true(s.last.energy.kinetic < 0.95 * before);
    assert_true(s.last.energy.friction > 0 && s.last.energy.turning > 0);
    for (int i = 0; i < 3; i++) {
        assert_near(momentum[1][i], momentum[0][i], 1e-9 * vec_norm(spin[0]) + 1e-9);
        assert_near(spin[1][i], spin[0][i], 1e-10 * vec_norm(spin[0]) + 1e-9);
    }
    stage_close(&s);
}

static void test_momenta_stay(void **state) {
    (void)state;
    dls_random g = {6};
    dls_shape_def ball = stage_ball(3, 0.2), box = dls_default_shape_def(DLS_BOX);
    dls_shape_def ellipsoid = dls_default_shape_def(DLS_ELLIPSOID);
    vec_set(box.size, 0.4, 0.35, 0.3);
    vec_set(ellipsoid.size, 0.25, 0.2, 0.15);
    for (int k = 0; k < 4; k++) {
        collide(&g, &ball);
        collide(&g, &box);
        collide(&g, &ellipsoid);
    }
}

/* ---- the same bits after a resume, and stored as matrix-free ---- */

static stage heap_of_balls(void) {
    stage s = stage_open(3, G, 0.5, 0, 0);
    resist_turning(&s, (dls_turning_def){.rolling_ratio = 0.1, .spinning_ratio = 0.05});
    stage_add_floor(&s, 0);
    dls_shape_def ball = stage_ball(3, R);
    for (int k = 0; k < 27; k++)
        stage_add_shape(&s, DLS_DYNAMIC, &ball,
                        (double[3]){2.05 * R * (k % 3) + 1e-3 * (k % 5),
                                    2.05 * R * (k / 3 % 3) + 1e-3 * (k % 7), R + 2.05 * R * (k / 9)},
                        NULL, (double[3]){k % 2, 0, k % 3});
    return s;
}

static void test_resume_gives_the_same_bits(void **state) {
    (void)state;
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 2e-3;
    stage whole = heap_of_balls(), again = heap_of_balls();
    stage_start(&whole, &o, 1e-6);
    stage_run(&whole, 100);
    size_t size = dls_simulation_state_size(whole.simulation);
    void *bytes = malloc(size);
    dls_simulation_state_write(whole.simulation, bytes);
    stage_run(&whole, 50);
    stage_start(&again, &o, 1e-6);
    dls_error error;
    if (dls_simulation_state_read(again.simulation, bytes, size, &error)) fail_msg("%s", error.message);
    stage_run(&again, 50);
    assert_true(dls_simulation_hash(whole.simulation) == dls_simulation_hash(again.simulation));
    assert_true(whole.last.energy.turning > 0);
    assert_memory_equal(&whole.last.energy, &again.last.energy, sizeof whole.last.energy);
    free(bytes);
    stage_close(&whole);
    stage_close(&again);
}

/* A problem made of the records of a step is the step's own. */
static void test_records_make_the_same_problem(void **state) {
    (void)state;
    stage s = heap_of_balls();
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 2e-3;
    stage_start(&s, &o, 1e-8);
    stage_run(&s, 30);
    const dls_problem *p = dls_simulation_problem(s.simulation);
    int count = dls_simulation_contact_count(s.simulation), bodies = dls_world_body_count(s.world);
    assert_true(count >= 9 && dls_problem_has_parts(p));
    dls_contact_record *records = calloc((size_t)count, sizeof *records);
    dls_pose *poses = calloc((size_t)bodies, sizeof *poses);
    for (int k = 0; k < count; k++) dls_simulation_contact(s.simulation, k, &records[k]);
    for (int k = 0; k < bodies; k++) dls_simulation_contact_pose(s.simulation, k, &poses[k], NULL);
    dls_problem *made;
    dls_error error;
    if (dls_contact_records_problem(s.world, poses, count, records, dls_problem_reference_velocity(p), &made,
                                    &error))
        fail_msg("%s", error.message);
    dls_measures m;
    assert_int_equal(dls_problem_measure(made, dls_simulation_impulses(s.simulation), NULL, &m, NULL),
                     DLS_OK);
    assert_true(m.residual < 2e-8);
    assert_near(dls_problem_mu_rolling(made, 0), 0.1 * R, 1e-15);
    dls_problem_destroy(made);
    free(records), free(poses);
    stage_close(&s);
}

static void test_refused(void **state) {
    (void)state;
    const struct {
        int dimension;
        dls_turning_def turning;
        const char *said;
    } cases[] = {{3, {.rolling = -1}, "rolling is -1, expected a finite number that is not negative"},
                 {3, {.spinning_ratio = (double)NAN}, "spinning_ratio is nan"},
                 {3, {.spinning = 1, .drilling = 1}, "drilling and spinning both"},
                 {2, {.spinning = 1}, "spinning or drilling in the plane, expected rolling alone"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        stage s = stage_open(cases[k].dimension, G, 0.5, 0, 0);
        dls_material_def material;
        dls_error error;
        dls_world_material(s.world, 0, &material, NULL);
        material.turning = cases[k].turning;
        assert_int_equal(dls_world_set_material(s.world, 0, &material, &error), DLS_ERROR_INPUT);
        assert_non_null(strstr(error.message, cases[k].said));
        stage_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rests_until_the_slope_is_steep_enough),
        cmocka_unit_test(test_slows),
        cmocka_unit_test(test_spin_dies),
        cmocka_unit_test(test_ratios_are_of_the_radius),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_flat_faces_spin_on_their_rim),
        cmocka_unit_test(test_a_turntable_spins_it_up),
        cmocka_unit_test(test_momenta_stay),
        cmocka_unit_test(test_resume_gives_the_same_bits),
        cmocka_unit_test(test_records_make_the_same_problem),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("turning", tests, NULL, NULL);
}
