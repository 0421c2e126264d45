/* Beams in motion and at rest, in every scheme: statics against closed forms and the elastica, modes, the
 * rigid limit, contact at an end, energies, states as bytes. */
#include "assemble/solids.h"
#include "base/vector.h"
#include "integrate/simulation.h"
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"
#include "world/solid/solid.h"

#include <delassus/joint.h>
#include <delassus/solid.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
static dls_error error[1];
#define OK(call)                                                                                             \
    do {                                                                                                     \
        if (call) fail_msg("%s", error->message);                                                            \
    } while (0)

static const char *const schemes[] = {"moreau-jean", "theta", "dvi"};

static dls_simulation_options options_of(const char *scheme, double h) {
    dls_simulation_options options = dls_default_simulation_options();
    snprintf(options.scheme, sizeof options.scheme, "%s", scheme);
    options.step = h;
    return options;
}

static stage open_world(double gravity) { return stage_open(2, gravity, 0.3, 0, 0); }

static dls_solid_def beam_def(double EA, double EI, double damping) {
    dls_solid_def def = dls_default_solid_def(DLS_SOLID_BEAM);
    def.length = 1, def.EA = EA, def.EI = EI, def.line_density = 1, def.damping = damping;
    return def;
}

static dls_body_id add_beam(stage *s, const dls_solid_def *solid, double x, double y, double angle) {
    dls_body_def def = dls_default_body_def();
    def.solid = solid;
    def.pose.x[0] = x, def.pose.x[1] = y;
    def.pose.q[0] = cos(angle / 2), def.pose.q[3] = sin(angle / 2);
    return stage_add(s, &def);
}

/* Joins a place of a body with the ground or another body where that place is. */
static dls_joint_id hold(stage *s, dls_joint_kind kind, dls_body_id a, dls_body_id b, double at) {
    static const double up[3] = {0, 1, 0};
    dls_joint_def def = dls_default_joint_def(kind);
    dls_body_state place;
    def.body[0] = a, def.body[1] = b;
    def.at[1] = at;
    OK(dls_solid_place(s->world, b, at, &place, error));
    OK(dls_joint_place(s->world, &def, place.x, up, NULL, error));
    dls_joint_id id;
    OK(dls_world_add_joint(s->world, &def, &id, error));
    return id;
}

static dls_function *constant(double value) {
    dls_function *function;
    OK(dls_function_constant(value, &function, error));
    return function;
}

/* A small block at the beam's end that carries a force or torque. */
static dls_body_id add_load(stage *s, dls_body_id beam, double force, double torque) {
    static const double inertia[9] = {1e-4, 0, 0, 0, 1e-4, 0, 0, 0, 1e-4};
    dls_body_def def = dls_default_body_def();
    dls_body_state end;
    OK(dls_solid_place(s->world, beam, 1, &end, error));
    def.mass = 1e-3, def.inertia = inertia;
    vec_copy(def.pose.x, end.x);
    if (force != 0) def.force[1] = constant(force);
    if (torque != 0) def.torque[2] = constant(torque);
    dls_body_id id = stage_add(s, &def);
    hold(s, DLS_JOINT_FIXED, id, beam, 1);
    return id;
}

static dls_body_state place_of(const stage *s, dls_body_id id, double at) {
    dls_body_state state;
    OK(dls_solid_place(s->world, id, at, &state, error));
    return state;
}

/* ---- statics ---- */

/* Own weight w: the end sinks by w L⁴/(8 EI), and the clamp carries w L and w L²/2. */
static void test_cantilever_under_its_weight(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        stage s = open_world(0.01);
        dls_solid_def solid = beam_def(1e3, 1, 0.5);
        dls_body_id beam = add_beam(&s, &solid, 0, 0, 0);
        hold(&s, DLS_JOINT_FIXED, DLS_GROUND, beam, 0);
        dls_simulation_options o = options_of(schemes[k], 0.02);
        stage_start(&s, &o, 1e-12);
        stage_run(&s, 1500);
        assert_near(place_of(&s, beam, 1).x[1], -0.01 / 8, 2e-8);
        dls_joint_record record[1];
        int count;
        OK(dls_simulation_joints(s.simulation, 1, record, &count, error));
        double up = 0; /* impulses on B in the axes of A: the ground's are turned as the joint wants */
        for (int i = 0; i < 3; i++) up += record->impulse[i] * record->frame[1 + 3 * i];
        assert_near(up / o.step, 0.01, 1e-8);
        assert_near(fabs(record->impulse[3]) + fabs(record->impulse[4]) + fabs(record->impulse[5]),
                    0.005 * o.step, 1e-8);
        stage_close(&s);
    }
}

/* F L²/EI = 2: the elastica has y/L = 0.4934574 and x/L = 1 − 0.1606417, as tables of elliptic integrals say.
 */
static double elastica_error(int degree, int elements) {
    stage s = open_world(0);
    dls_solid_def solid = beam_def(1e5, 1, 0.5);
    solid.degree = degree, solid.elements = elements, solid.gauss = degree + 2;
    dls_body_id beam = add_beam(&s, &solid, 0, 0, 0);
    hold(&s, DLS_JOINT_FIXED, DLS_GROUND, beam, 0);
    add_load(&s, beam, 2, 0);
    dls_simulation_options o = options_of("dvi", 0.02);
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 2000);
    dls_body_state end = place_of(&s, beam, 1);
    stage_close(&s);
    return hypot(end.x[1] - 0.4934574, end.x[0] - 1 + 0.1606417);
}

static void test_elastica(void **state) {
    (void)state;
    double coarse = elastica_error(3, 8), fine = elastica_error(3, 16), high = elastica_error(5, 4);
    print_message("# elastica: %.2e %.2e %.2e\n", coarse, fine, high);
    assert_true(coarse < 3e-4 && fine < 2e-5 && high < 2e-5); /* the beam's own stretch is F/EA = 2e-5 */
}

/* A moment of 2π EI/L rolls it up to a circle: the end comes back to the clamp, turned once. */
static void test_moment_rolls_up(void **state) {
    (void)state;
    stage s = open_world(0);
    dls_solid_def solid = beam_def(1e4, 1, 1);
    solid.elements = 16;
    dls_body_id beam = add_beam(&s, &solid, 0, 0, 0);
    hold(&s, DLS_JOINT_FIXED, DLS_GROUND, beam, 0);
    dls_body_id load = add_load(&s, beam, 0, 2 * PI);
    dls_simulation_options o = options_of("dvi", 0.02);
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 1500);
    dls_body_state end = place_of(&s, beam, 1), middle = place_of(&s, beam, 0.5);
    print_message("# rolled: end %.2e %.2e, middle %.6f %.6f\n", end.x[0], end.x[1], middle.x[0],
                  middle.x[1]);
    assert_near(end.x[0], 0, 2e-3);
    assert_near(end.x[1], 0, 2e-3);
    assert_near(middle.x[0], 0, 1e-3);
    assert_near(middle.x[1], 1 / PI, 1e-3);
    assert_near(stage_state(&s, load).q[3], 0, 1e-3);
    double strain;
    OK(dls_solid_energy(s.world, beam, NULL, &strain, error));
    assert_near(strain, 0.5 * 4 * PI * PI, 5e-3 * 2 * PI * PI);
    stage_close(&s);
}

/* ---- motion ---- */

/* Free at both ends: βL = 4.730041, ω = β² √(EI/ρ); the period by the first returns of its middle through
 * rest. */
static double free_frequency(const char *scheme, double h) {
    stage s = open_world(0);
    dls_solid_def solid = beam_def(1e6, 1, 0);
    solid.elements = 16;
    dls_body_id beam = add_beam(&s, &solid, 0, 0, 0);
    int n = dls_solid_freedoms(s.world, beam);
    double u[64];
    OK(dls_solid_state_get(s.world, beam, NULL, u, error));
    for (int i = 0; i < n / 2; i++) { /* the first mode, as near as control points tell it */
        double k = 4.730040744862704, c = 0.982502214576238, z = 0;
        for (int j = 1; j <= 3; j++) z += fmax(0, fmin(1, (i + j - 3) / 16.0)) / 3;
        z *= k;
        u[2 * i + 1] = 1e-4 * (cosh(z) + cos(z) - c * (sinh(z) + sin(z)));
    }
    OK(dls_solid_state_set(s.world, beam, NULL, u, error));
    dls_simulation_options o = options_of(scheme, h);
    stage_start(&s, &o, 1e-12);
    double first = 0, last = 0, before = 0;
    int crossings = 0;
    for (int step = 0; crossings < 21 && step < 100000; step++) {
        stage_run(&s, 1);
        double now = place_of(&s, beam, 0.5).x[1] - place_of(&s, beam, 0).x[1], t = h * (step + 1);
        if (step && before * now < 0) {
            last = t - h * now / (now - before);
            if (!crossings++) first = last;
        }
        before = now;
    }
    stage_close(&s);
    return PI * (crossings - 1) / (last - first);
}

static void test_free_mode(void **state) {
    (void)state;
    double exact = 4.730040744862704 * 4.730040744862704;
    double coarse = free_frequency("moreau-jean", 4e-3) / exact - 1;
    double fine = free_frequency("moreau-jean", 1e-3) / exact - 1;
    print_message("# mode: relative errors %.3e %.3e; (ωh)²/12 = %.3e %.3e\n", coarse, fine,
                  pow(exact * 4e-3, 2) / 12, pow(exact * 1e-3, 2) / 12);
    assert_near(coarse, -pow(exact * 4e-3, 2) / 12, 2e-5); /* the scheme's own shift of a frequency */
    assert_near(fine, 0, 6e-5);
}

/* Stiff, it swings as a rigid rod about its end: T = 2π √(2L/3g) for small swings. */
static void test_rigid_limit(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        stage s = open_world(9.81);
        dls_solid_def solid = beam_def(1e7, 1e5, 0);
        solid.elements = 2;
        dls_body_id beam = add_beam(&s, &solid, 0, 0, -PI / 2 + 0.01);
        hold(&s, DLS_JOINT_REVOLUTE, DLS_GROUND, beam, 0);
        dls_simulation_options o = options_of(schemes[k], 1e-3);
        stage_start(&s, &o, 1e-12);
        double first = 0, last = 0, before = 0;
        int crossings = 0;
        for (int step = 0; crossings < 5 && step < 20000; step++) {
            stage_run(&s, 1);
            double now = place_of(&s, beam, 1).x[0], t = 1e-3 * (step + 1);
            if (step && before * now < 0) {
                last = t - 1e-3 * now / (now - before);
                if (!crossings++) first = last;
            }
            before = now;
        }
        assert_int_equal(crossings, 5);
        assert_near((last - first) / 2, 2 * PI * sqrt(2 / (3 * 9.81)), 2e-4);
        dls_body_state foot = place_of(&s, beam, 0);
        assert_near(vec_norm(foot.x), 0, 1e-5);
        stage_close(&s);
    }
}

/* Books close to rounding; what the scheme makes of a beam that bends is of order h², and told apart. */
static void test_energy_books(void **state) {
    (void)state;
    for (int damped = 0; damped < 2; damped++) {
        stage s = open_world(0.01);
        dls_solid_def solid = beam_def(1e3, 1, damped ? 0.02 : 0);
        dls_body_id beam = add_beam(&s, &solid, 0, 0, 0);
        hold(&s, DLS_JOINT_FIXED, DLS_GROUND, beam, 0);
        dls_simulation_options o = options_of("moreau-jean", 2e-3);
        stage_start(&s, &o, 1e-13);
        double most = 0, made = 0, whole = 0.01 * 0.01 / 40; /* what a beam under its weight stores */
        for (int step = 0; step < 3000; step++) {
            stage_run(&s, 1);
            most = fmax(most, fabs(s.last.energy.unaccounted));
            made = fmax(made, fabs(s.last.energy.numerical));
        }
        const dls_energy *e = &s.last.energy;
        print_message("# books: unaccounted %.2e, numerical %.2e of %.2e, damping %.2e, strain %.2e\n", most,
                      made, whole, e->damping, e->strain);
        assert_true(most < 1e-9 * whole && made < 1e-3 * whole && made > 0);
        assert_true(damped ? e->damping > 1e-7 : e->damping == 0);
        stage_close(&s);
    }
}

/* ---- contact ---- */

static dls_body_id add_foot(stage *s, const dls_solid_def *solid, double y) {
    dls_shape_def foot = dls_default_shape_def(DLS_DISC);
    dls_body_def def = dls_default_body_def();
    foot.point = true;
    foot.at = 1;
    def.solid = solid;
    def.shapes = &foot, def.shape_count = 1;
    def.pose.x[1] = y;
    def.pose.q[0] = cos(PI / 4), def.pose.q[3] = -sin(PI / 4); /* its end 1 below */
    return stage_add(s, &def);
}

/* Guided at its upper end it falls on its lower one and comes to rest shortened by m g/(2 EA) and by its own
 * load. */
static void test_foot_bears_weight(void **state) {
    (void)state;
    for (int k = 0; k < 6; k++) {
        stage s = open_world(9.81);
        dls_solid_def solid = beam_def(2e3, 10, 0.01);
        double aside[3] = {k < 3 ? -5 : 5, 0, 0}; /* rows are sorted by places: the beam is B, or A */
        dls_shape_def floor = dls_default_shape_def(DLS_HALF_PLANE);
        stage_add_shape(&s, DLS_STATIC, &floor, aside, NULL, NULL);
        dls_body_id beam = add_foot(&s, &solid, 1.01);
        hold(&s, DLS_JOINT_PRISMATIC, DLS_GROUND, beam, 0);
        dls_simulation_options o = options_of(schemes[k % 3], 2e-3);
        stage_start(&s, &o, 1e-10);
        stage_run(&s, 2000);
        dls_body_state top = place_of(&s, beam, 0), foot = place_of(&s, beam, 1);
        dls_contact_record record;
        assert_int_equal(dls_simulation_contact_count(s.simulation), 1);
        dls_simulation_contact(s.simulation, 0, &record);
        assert_int_equal(k < 3 ? record.body_b : record.body_a, beam);
        assert_near(record.impulse[0] / o.step, 9.81, 1e-6);
        assert_near(foot.x[1], 0, 1e-5);
        assert_near(top.x[1] - foot.x[1], 1 - 9.81 / (2 * 2e3), 1e-7);
        assert_near(foot.x[0], 0, 1e-9);
        stage_close(&s);
    }
}

/* Pushed sideways a foot under load sticks within the cone and slides beyond it. */
static void test_foot_is_held_by_friction(void **state) {
    (void)state;
    static const double inertia[9] = {1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3};
    /* μ m g = 0.3 · 1.01 · 9.81 = 2.97, once the beam has taken up its own weight */
    static const char *const forces[] = {"t < 0.2 ? 0 : min(20*(t - 0.2), 2)",
                                         "t < 0.2 ? 0 : min(40*(t - 0.2), 4)"};
    for (int slides = 0; slides < 2; slides++) {
        stage s = open_world(9.81);
        dls_solid_def solid = beam_def(2e4, 5, 0.01);
        stage_add_floor(&s, 0);
        dls_body_id beam = add_foot(&s, &solid, 1);
        hold(&s, DLS_JOINT_PRISMATIC, DLS_GROUND, beam, 0);
        dls_body_def push = dls_default_body_def();
        push.mass = 0.01, push.inertia = inertia;
        OK(dls_function_expression(forces[slides], 0, NULL, NULL, &push.force[0], error));
        dls_body_id load = stage_add(&s, &push);
        hold(&s, DLS_JOINT_REVOLUTE, load, beam, 1);
        dls_simulation_options o = options_of("moreau-jean", 1e-3);
        stage_start(&s, &o, 1e-10);
        stage_run(&s, 200);
        double before = place_of(&s, beam, 1).x[0];
        stage_run(&s, 300);
        double way = place_of(&s, beam, 1).x[0] - before;
        print_message("# way of the foot: %.2e\n", way);
        assert_true(slides ? way > 1e-2 : fabs(way) < 1e-9);
        stage_close(&s);
    }
}

/* ---- bytes ---- */

static stage swing(int steps) {
    stage s = open_world(9.81);
    dls_solid_def solid = beam_def(1e3, 1, 0.01);
    stage_add_floor(&s, 0);
    dls_body_id beam = add_foot(&s, &solid, 1.3);
    hold(&s, DLS_JOINT_REVOLUTE, DLS_GROUND, beam, 0.5);
    dls_simulation_options o = options_of("theta", 2e-3);
    o.theta = 0.7;
    stage_start(&s, &o, 0);
    stage_run(&s, steps);
    return s;
}

static void test_state_goes_on_with_the_same_bits(void **state) {
    (void)state;
    stage whole = swing(400), cut = swing(150), other = swing(0);
    size_t size = dls_simulation_state_size(cut.simulation);
    void *bytes = malloc(size);
    dls_simulation_state_write(cut.simulation, bytes);
    OK(dls_simulation_state_read(other.simulation, bytes, size, error));
    stage_run(&other, 250);
    assert_true(dls_simulation_hash(whole.simulation) == dls_simulation_hash(other.simulation));
    assert_true(whole.last.energy.strain == other.last.energy.strain && whole.last.energy.strain > 0);
    assert_true(whole.last.energy.damping == other.last.energy.damping && whole.last.energy.damping > 0);
    free(bytes);
    stage_close(&whole), stage_close(&cut), stage_close(&other);
}

/* ---- fixed axes ---- */

/* A beam's matrices as if it were straight, seen from its mean axes: those of a straight one, wherever it
 * stands. */
static bool mean_axes(const dls_solid_data *data, const double *q, double *R) {
    dls_body_state mean;
    dls_solid_kind_beam.mean(data, q, q, &mean);
    quat_matrix(mean.q, R);
    return true;
}

static void straight_matrix(const dls_solid_data *data, dls_solid_matrix which, const double *q,
                            double factor, double *A) {
    dls_body_state rest = {.q = {1, 0, 0, 0}};
    double places[64], rates[64];
    (void)q;
    dls_solid_kind_beam.begin(data, &rest, places, rates);
    dls_solid_kind_beam.matrix(data, which, places, factor, A);
}

/* Pinned beams that stand askew and begin to fall onto a ball: with A = R̄ A₀ R̄ᵀ and one factor for all of
 * them, or with A made where each stands, a step gives the same. */
static void step_askew(bool fixed, double *u, size_t *bytes) {
    static dls_solid_kind turned;
    stage s = open_world(-9.81);
    dls_solid_def solid = beam_def(1e4, 10, 0.01);
    turned = dls_solid_kind_beam;
    turned.fixed_axes = mean_axes, turned.matrix = straight_matrix;
    for (int k = 0; k < 3; k++) {
        dls_body_id id = add_beam(&s, &solid, 2 * k, 0, 0.4 + 0.9 * k);
        if (fixed) s.world->solids[dls_solid_of(s.world, id)].kind = &turned;
        hold(&s, DLS_JOINT_REVOLUTE, DLS_GROUND, id, 0);
        hold(&s, DLS_JOINT_REVOLUTE, DLS_GROUND, id, 0.75);
    }
    dls_simulation_options options = options_of("moreau-jean", 1e-3);
    dls_simulation *simulation;
    dls_step_report report;
    OK(dls_simulation_create(s.world, &options, &simulation, error));
    OK(dls_simulation_step(simulation, &report, error));
    *bytes = dls_solid_factors_bytes(simulation->factors);
    for (int k = 0; k < 3; k++) OK(dls_solid_state_get(s.world, k, NULL, u + 64 * k, error));
    assert_true(report.certified);
    dls_simulation_destroy(simulation);
    stage_close(&s);
}

static void test_one_factor_serves_all_that_are_alike(void **state) {
    (void)state;
    double own[3 * 64] = {0}, shared[3 * 64] = {0}, most = 0;
    size_t none, bytes;
    step_askew(false, own, &none);
    step_askew(true, shared, &bytes);
    for (int i = 0; i < 3 * 64; i++) most = fmax(most, fabs(own[i] - shared[i]));
    print_message("# rates differ by %.1e m/s, factors of three beams have %zu bytes\n", most, bytes);
    assert_true(most < 1e-11 && fabs(shared[20]) > 1e-4);
    assert_true(none == 0 && bytes > 0 && bytes < 3 * 22 * 22 * sizeof(double));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cantilever_under_its_weight),
        cmocka_unit_test(test_elastica),
        cmocka_unit_test(test_moment_rolls_up),
        cmocka_unit_test(test_free_mode),
        cmocka_unit_test(test_rigid_limit),
        cmocka_unit_test(test_energy_books),
        cmocka_unit_test(test_foot_bears_weight),
        cmocka_unit_test(test_foot_is_held_by_friction),
        cmocka_unit_test(test_state_goes_on_with_the_same_bits),
        cmocka_unit_test(test_one_factor_serves_all_that_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
