/* Hundreds of spheres fall into a box and come to rest: sweeps and quasi-Newton certify every step. */
#include "support/test.h"

#include "support/near.h"
#include "support/scale.h"
#include "support/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81, RADIUS = 0.02, TOLERANCE = 1e-4;

enum { SIDE = 6, COUNT = SIDE * SIDE * SIDE };

/* A jittered lattice in a box without a lid. */
static stage drop_layers(int side, int layers, double radius, double spacing, double tolerance, int threads) {
    stage s = stage_open(3, G, 0.3, 0, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX_INSIDE), ball = stage_ball(3, radius);
    double width = spacing * side;
    box.size[0] = box.size[1] = width, box.size[2] = 100 * radius;
    stage_add_shape(&s, DLS_STATIC, &box, (double[3]){0, 0, 50 * radius}, NULL, NULL);
    for (int k = 0; k < side * side * layers; k++) {
        int cell[3] = {k % side, k / side % side, k / side / side};
        double x[3];
        for (int i = 0; i < 3; i++) {
            double jitter = 0.1 * radius * sin(12.9898 * (3 * k + i));
            x[i] = spacing * (cell[i] + 0.5) + jitter - (i < 2 ? 0.5 * width : 0);
        }
        stage_add_shape(&s, DLS_DYNAMIC, &ball, x, NULL, NULL);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 0.01, o.threads = threads;
    stage_start(&s, &o, tolerance);
    return s;
}

static stage drop(int threads) { return drop_layers(SIDE, SIDE, RADIUS, 2.3 * RADIUS, TOLERANCE, threads); }

/* Vertical impulse that the box took in the last step. */
static double impulse_on_box(const stage *s) {
    double sum = 0;
    for (int i = 0; i < dls_simulation_contact_count(s->simulation); i++) {
        dls_contact_record c;
        dls_simulation_contact(s->simulation, i, &c);
        if (c.body_a && c.body_b) continue;
        for (int k = 0; k < 3; k++) sum += (c.body_b ? -1 : 1) * c.impulse[k] * c.frame[3 * k + 2];
    }
    return sum;
}

static void test_every_step_is_certified(void **state) {
    (void)state;
    int steps = scaled(150, 20), many = 0;
    stage s = drop(1);
    for (int k = 0; k < steps; k++) {
        stage_run(&s, 1);
        many += s.last.contacts > 256;
        assert_true(s.last.penetration < 1e-3 * RADIUS);
    }
    assert_true(many > 0);
    assert_int_equal(s.uncertified, 0);
    if (steps == 150) {
        double weight = COUNT * stage_mass(&s, 1).mass * G * 0.01, mean = 0;
        for (int k = 0; k < 10; k++) {
            stage_run(&s, 1);
            mean += 0.1 * impulse_on_box(&s);
        }
        assert_near(-mean / weight, 1, 0.02);
    }
    stage_close(&s);
}

static double kinetic(const stage *s) { return dls_simulation_energy(s->simulation).kinetic; }

/* What has come to rest stays there for few sweeps. */
static void test_rest_is_cheap(void **state) {
    (void)state;
    int settling = scaled(300, 40), steps = scaled(300, 20);
    stage s = drop(1);
    stage_run(&s, settling);
    int64_t before = dls_simulation_summary(s.simulation).iterations;
    double moving = kinetic(&s);
    stage_run(&s, steps);
    double each = (double)(dls_simulation_summary(s.simulation).iterations - before) / steps;
    print_message("%.2f sweeps a step, kinetic energy %.2g J, then %.2g J\n", each, moving, kinetic(&s));
    assert_int_equal(s.uncertified, 0);
    if (settling == 300) {
        assert_true(each <= 5);
        assert_true(kinetic(&s) <= fmax(moving, 1e-6));
    }
    stage_close(&s);
}

/* The step's problem from nothing: whether quasi-Newton took part. */
static bool takes_quasi_newton(const stage *s) {
    const dls_problem *p = dls_simulation_problem(s->simulation);
    double *r = calloc((size_t)dls_problem_row_count(p), sizeof *r);
    dls_auto_options o = dls_default_auto_options();
    dls_solve_info info;
    dls_error error;
    bool seen = false;
    o.stop.tolerance = TOLERANCE;
    o.stop.purpose = DLS_PURPOSE_STEP;
    dls_status status = dls_solve(p, dls_solver_find("auto"), &o, r, NULL, NULL, &info, &error);
    free(r);
    assert_int_equal(status, DLS_OK);
    assert_int_equal(info.outcome, DLS_CONVERGED);
    assert_true(info.measures.residual <= TOLERANCE);
    for (int k = 0; k < info.stage_count; k++) seen = seen || !strcmp(info.stages[k].name, "pqn");
    return seen;
}

/* Among steps of a fall there are some that sweeps alone do not end soon: quasi-Newton takes part. */
static void test_quasi_newton_takes_part(void **state) {
    (void)state;
    stage s = drop(1);
    int seen = 0;
    stage_run(&s, 40);
    for (int k = 0; k < 20; k++) {
        assert_true(s.last.contacts > 256);
        seen += takes_quasi_newton(&s);
        stage_run(&s, 1);
    }
    print_message("quasi-Newton in %d of 20 steps\n", seen);
    assert_true(seen > 0);
    stage_close(&s);
}

static void test_threads_give_the_same_bits(void **state) {
    (void)state;
    int steps = scaled(50, 20);
    stage one = drop(1), two = drop(2);
    stage_run(&one, steps);
    stage_run(&two, steps);
    assert_true(one.last.contacts > 256);
    assert_true(dls_simulation_hash(one.simulation) == dls_simulation_hash(two.simulation));
    stage_close(&one);
    stage_close(&two);
}

/* Sweeps go round and round in some of these steps; from other starts they do not. */
static void test_hard_steps_begin_elsewhere(void **state) {
    (void)state;
    int steps = scaled(300, 20);
    stage s = drop_layers(5, 12, 1, 2.2, 3e-5, 1);
    stage_run(&s, steps);
    print_message("%d steps, %d uncertified, %.0f iterations a step\n", steps, s.uncertified,
                  (double)dls_simulation_summary(s.simulation).iterations / steps);
    assert_int_equal(s.uncertified, 0);
    stage_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_step_is_certified),    cmocka_unit_test(test_rest_is_cheap),
        cmocka_unit_test(test_quasi_newton_takes_part),    cmocka_unit_test(test_hard_steps_begin_elsewhere),
        cmocka_unit_test(test_threads_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
