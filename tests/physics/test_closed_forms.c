/* Motions with a known answer. */
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static const double G = 9.81;

static dls_simulation_options with_step(double h) {
    dls_simulation_options o = dls_default_simulation_options();
    o.step = h;
    return o;
}

/* Head-on, m = 1 and 2 at 3 and −1 m/s: the impulse is (1 + e) 8/3. */
static void collide_head_on(double e, double v1, double v2, double loss) {
    stage s = stage_open(3, 0, 0, e, 0);
    dls_shape_def ball = stage_ball(3, 0.5);
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1;
    def.shapes = &ball;
    def.mass = 1;
    def.pose.x[0] = -1;
    def.v[0] = 3;
    dls_body_id first = stage_add(&s, &def);
    def.mass = 2;
    def.pose.x[0] = 1;
    def.v[0] = -1;
    dls_body_id second = stage_add(&s, &def);
    dls_simulation_options o = with_step(1e-3);
    o.rest_speed = 1e-9;
    o.reference_velocity = 1;
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 1000);
    assert_near(stage_state(&s, first).v[0], v1, 1e-12);
    assert_near(stage_state(&s, second).v[0], v2, 1e-12);
    assert_near(s.last.energy.impact, loss, 1e-11);
    assert_near(s.last.energy.unaccounted, 0, 1e-11);
    assert_int_equal(s.uncertified, 0);
    stage_close(&s);
}

static void test_head_on(void **state) {
    (void)state;
    collide_head_on(0, 1.0 / 3, 1.0 / 3, 16.0 / 3);
    collide_head_on(0.5, -1, 1, 4);
    collide_head_on(1, -7.0 / 3, 5.0 / 3, 0);
}

/* A touching row of equal balls, e = 1, simultaneous: (−1/3, 2/3, 2/3) and (−0.6, 0.4, …). */
static void run_row(int count, double first_speed, double other_speed) {
    stage s = stage_open(3, 0, 0, 1, 0);
    dls_shape_def ball = stage_ball(3, 0.5);
    dls_body_id ids[5];
    for (int k = 0; k < count; k++)
        ids[k] =
            stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){k, 0, 0}, (double[3]){k == 0, 0, 0}, NULL);
    dls_simulation_options o = with_step(1e-3);
    o.rest_speed = 1e-12;
    o.reference_velocity = 1;
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 3);
    assert_near(stage_state(&s, ids[0]).v[0], first_speed, 1e-9);
    for (int k = 1; k < count; k++) assert_near(stage_state(&s, ids[k]).v[0], other_speed, 1e-9);
    stage_close(&s);
}

static void test_touching_row(void **state) {
    (void)state;
    run_row(3, -1.0 / 3, 2.0 / 3);
    run_row(5, -0.6, 0.4);
}

/* A ball thrown along a plane slides, then rolls: for a sphere from v₀ to 5/7 v₀ at 2 v₀/(7 μ g). */
static void roll(int dimension, double rolling_share, double slip_time) {
    const double mu = 0.7, v0 = 1.5, radius = 5e-3, h = 1e-4;
    stage s = stage_open(dimension, G, mu, 0, 0);
    dls_shape_def ball = stage_ball(dimension, radius);
    double x[3] = {0, 0, 0}, v[3] = {v0, 0, 0};
    x[dimension - 1] = radius;
    stage_add_floor(&s, 0);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &ball, x, v, NULL);
    dls_simulation_options o = with_step(h);
    stage_start(&s, &o, 1e-10);
    int sliding = (int)(slip_time / h);
    stage_run(&s, sliding / 2);
    assert_near(stage_state(&s, id).v[0], v0 - mu * G * h * (sliding / 2), 1e-9);
    stage_run(&s, 2000 - sliding / 2);
    dls_body_state now = stage_state(&s, id);
    double travelled =
        v0 * slip_time - mu * G * slip_time * slip_time / 2 + rolling_share * v0 * (0.2 - slip_time);
    assert_near(now.v[0], rolling_share * v0, 1e-6);
    assert_near(fabs(now.w[dimension == 2 ? 2 : 1]), rolling_share * v0 / radius, 2e-4);
    assert_near(now.x[0], travelled, 1e-6);
    assert_near(now.x[dimension - 1], radius, 1e-12);
    assert_near(s.last.energy.unaccounted, 0, 1e-12);
    stage_close(&s);
}

static void test_sliding_then_rolling(void **state) {
    (void)state;
    roll(3, 5.0 / 7, 0.062410285215);
    roll(2, 2.0 / 3, 0.072811999418);
}

/* A block on a slope sticks iff tan α ≤ μ, else slides at g (sin α − μ cos α); at any size. */
static double slide_down(double mu, double angle, double size) {
    const double h = 1e-3;
    stage s = stage_open(3, G, mu, 0, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX);
    for (int k = 0; k < 3; k++) box.size[k] = size;
    stage_add_floor(&s, angle);
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1;
    def.shapes = &box;
    def.pose.q[0] = cos(angle / 2);
    def.pose.q[2] = -sin(angle / 2);
    def.pose.x[0] = -sin(angle) * size / 2;
    def.pose.x[2] = cos(angle) * size / 2;
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = with_step(h);
    stage_start(&s, &o, 1e-10);
    stage_run(&s, 100);
    dls_body_state now = stage_state(&s, id);
    assert_int_equal(s.uncertified, 0);
    double speed = -now.v[0] * cos(angle) - now.v[2] * sin(angle);
    stage_close(&s);
    return speed / (100 * h);
}

static void test_incline(void **state) {
    (void)state;
    const double degree = acos(-1) / 180, sizes[] = {1.4, 0.14, 1.4e-3};
    for (int k = 0; k < 3; k++) {
        assert_near(slide_down(0.3, 20 * degree, sizes[k]), 0.5897022231, 1e-6);
        assert_near(slide_down(0.8, 45 * degree, sizes[k]), 1.3873435047, 1e-6);
        assert_near(slide_down(0.5, 20 * degree, sizes[k]), 0, 1e-9);
    }
}

/* A ball rolls down a slope of 30° at 5/7 or 2/3 of g sin α where friction is enough, else it slides as a
 * block does and its contact slips. */
static double roll_down(int dimension, double mu) {
    const double h = 1e-3, angle = acos(-1) / 6, radius = 0.05;
    stage s = stage_open(dimension, G, mu, 0, 0);
    dls_shape_def ball = stage_ball(dimension, radius);
    double x[3] = {-sin(angle) * radius, 0, 0};
    x[dimension - 1] = cos(angle) * radius;
    stage_add_floor(&s, angle);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &ball, x, NULL, NULL);
    dls_simulation_options o = with_step(h);
    stage_start(&s, &o, 1e-11);
    stage_run(&s, 500);
    dls_body_state now = stage_state(&s, id);
    double depth = radius - now.x[dimension - 1] * cos(angle) + now.x[0] * sin(angle);
    assert_near(depth, 0, 1e-12);
    assert_near(s.last.energy.unaccounted, 0, 1e-11);
    stage_close(&s);
    return (-now.v[0] * cos(angle) - now.v[dimension - 1] * sin(angle)) / (500 * h);
}

static void test_rolling_down(void **state) {
    (void)state;
    assert_near(roll_down(3, 0.165), 3.5035714286, 1e-9);
    assert_near(roll_down(3, 0.16), G * (0.5 - 0.16 * sqrt(0.75)), 1e-9);
    assert_near(roll_down(2, 0.193), 3.27, 1e-9);
    assert_near(roll_down(2, 0.19), G * (0.5 - 0.19 * sqrt(0.75)), 1e-9);
}

/* A free top keeps its angular momentum to rounding; its energy swings by O(h²) and does not drift. */
static double spin_top(double h, double seconds, double *momentum_error) {
    stage s = stage_open(3, 0, 0, 0, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX);
    box.size[0] = 0.4, box.size[1] = 0.2, box.size[2] = 0.1;
    double w[3] = {1, 8, 0.5};
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, &box, NULL, NULL, w);
    dls_simulation_options o = with_step(h);
    stage_start(&s, &o, 0);
    dls_body_mass mass = stage_mass(&s, id);
    double start[3] = {mass.inertia[0] * w[0], mass.inertia[4] * w[1], mass.inertia[8] * w[2]};
    double energy = 0.5 * (start[0] * w[0] + start[1] * w[1] + start[2] * w[2]), worst = 0;
    *momentum_error = 0;
    for (int k = 0; k < (int)(seconds / h + 0.5); k++) {
        stage_run(&s, 1);
        worst = fmax(worst, fabs(s.last.energy.kinetic / energy - 1));
    }
    dls_body_state now = stage_state(&s, id);
    double c[4] = {now.q[0], -now.q[1], -now.q[2], -now.q[3]}, L[3], R[9];
    /* L = R J Rᵀ ω, by hand */
    double a = c[0], b = -c[1], d = -c[2], e = -c[3];
    double rows[9] = {1 - 2 * (d * d + e * e), 2 * (b * d - a * e),     2 * (b * e + a * d),
                      2 * (b * d + a * e),     1 - 2 * (b * b + e * e), 2 * (d * e - a * b),
                      2 * (b * e - a * d),     2 * (d * e + a * b),     1 - 2 * (b * b + d * d)};
    memcpy(R, rows, sizeof R);
    double body[3] = {0, 0, 0}, size = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) body[i] += R[3 * j + i] * now.w[j];
    for (int i = 0; i < 3; i++) body[i] *= mass.inertia[4 * i];
    for (int i = 0; i < 3; i++) {
        L[i] = R[3 * i] * body[0] + R[3 * i + 1] * body[1] + R[3 * i + 2] * body[2];
        *momentum_error = fmax(*momentum_error, fabs(L[i] - start[i]));
        size = fmax(size, fabs(start[i]));
    }
    *momentum_error /= size;
    stage_close(&s);
    return worst;
}

static void test_free_top(void **state) {
    (void)state;
    double momentum;
    double coarse = spin_top(2e-3, 10, &momentum);
    assert_near(momentum, 0, 1e-11);
    double fine = spin_top(1e-3, 10, &momentum);
    assert_near(momentum, 0, 1e-11);
    assert_near(coarse / fine, 4, 0.4);
    assert_true(fine < 1e-3);
}

/* Upward force of the contacts of a body on the others. */
static double carries(const stage *s, dls_body_id id, double h) {
    double sum = 0;
    for (int k = 0; k < dls_simulation_contact_count(s->simulation); k++) {
        dls_contact_record c;
        dls_simulation_contact(s->simulation, k, &c);
        double sign = c.body_a == id ? 1 : c.body_b == id ? -1 : 0;
        for (int i = 0; i < 3; i++) sum += sign * c.frame[2 + 3 * i] * c.impulse[i] / h;
    }
    return sum;
}

/* Balls fall into a box: what it carries is what they weigh and what their momentum gains, in every step. */
static void test_weight_of_a_pile(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0.3, 0, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX_INSIDE), ball = stage_ball(3, 0.05);
    box.size[0] = box.size[1] = 0.45, box.size[2] = 2;
    dls_body_id container = stage_add_shape(&s, DLS_STATIC, &box, (double[3]){0, 0, 1}, NULL, NULL);
    double mass = 0;
    for (int k = 0; k < 64; k++) {
        double x[3] = {-0.16 + 0.105 * (k % 4), -0.16 + 0.105 * (k / 4 % 4), 0.06 + 0.11 * (k / 16)};
        x[0] += 0.002 * (k / 16), x[1] -= 0.001 * (k / 16);
        mass = stage_mass(&s, stage_add_shape(&s, DLS_DYNAMIC, &ball, x, NULL, NULL)).mass;
    }
    dls_simulation_options o = with_step(2e-3);
    stage_start(&s, &o, 1e-4);
    double before = 0, mean = 0;
    for (int n = 0; n < 400; n++) {
        double now = 0;
        stage_run(&s, 1);
        for (int k = 0; k < 64; k++) now += mass * stage_state(&s, container + 1 + k).v[2];
        double carried = carries(&s, container, o.step);
        assert_near(carried, 64 * mass * G + (now - before) / o.step, 1e-9);
        if (n >= 300) mean += carried / 100 / (64 * mass * G);
        before = now;
    }
    assert_near(mean, 1, 1e-2); /* they roll on for a while */
    assert_true(s.last.penetration < 1e-6);
    assert_int_equal(s.uncertified, 0);
    stage_close(&s);
}

/* A pyramid of boxes stands, and the floor carries it. */
static void test_weight_of_a_pyramid(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX);
    for (int k = 0; k < 3; k++) box.size[k] = 0.2;
    dls_body_id floor = stage_add_floor(&s, 0), top = 0;
    for (int row = 0; row < 4; row++)
        for (int k = 0; k < 4 - row; k++) {
            double x[3] = {0.22 * k + 0.11 * row, 0, 0.1 + 0.2 * row};
            top = stage_add_shape(&s, DLS_DYNAMIC, &box, x, NULL, NULL);
        }
    dls_simulation_options o = with_step(2e-3);
    stage_start(&s, &o, 1e-9);
    stage_run(&s, 300);
    assert_near(carries(&s, floor, o.step) / (10 * 8 * G), 1, 1e-8);
    assert_near(stage_state(&s, top).x[2], 0.7, 1e-8);
    assert_near(s.last.energy.kinetic, 0, 1e-12);
    stage_close(&s);
}

/* What slides round a wall without friction keeps its speed: it is where an angle of v t/ρ leads, ρ the
 * circle of its mass centre. */
static void slide_round(const dls_shape_def *wall, const dls_shape_def *body, int dimension, double rho,
                        double spin, double loss) {
    const double v = 5, h = 1e-3, seconds = 3;
    stage s = stage_open(dimension, 0, 0, 0, 0);
    stage_add_shape(&s, DLS_STATIC, wall, NULL, NULL, NULL);
    dls_body_id id = stage_add_shape(&s, DLS_DYNAMIC, body, (double[3]){rho, 0, 0}, (double[3]){0, v, 0},
                                     (double[3]){0, 0, spin});
    dls_simulation_options o = with_step(h);
    stage_start(&s, &o, 1e-9);
    double before = dls_simulation_energy(s.simulation).kinetic;
    stage_run(&s, (int)(seconds / h));
    dls_body_state now = stage_state(&s, id);
    assert_near(dls_simulation_energy(s.simulation).kinetic / before, 1, loss);
    assert_near(hypot(now.x[0], now.x[1]), rho, 1e-4);
    assert_near(now.x[0], rho * cos(v * seconds / rho), 0.02);
    assert_near(now.x[1], rho * sin(v * seconds / rho), 0.02);
    assert_true(s.last.penetration < 1e-4);
    stage_close(&s);
}

static void test_round_walls(void **state) {
    (void)state;
    dls_shape_def drum = dls_default_shape_def(DLS_DRUM), tube = dls_default_shape_def(DLS_CYLINDER_INSIDE);
    dls_shape_def disc = stage_ball(2, 0.1), ball = stage_ball(3, 0.1), box = dls_default_shape_def(DLS_BOX);
    drum.radius = tube.radius = 1;
    box.size[0] = 0.04, box.size[1] = box.size[2] = 0.1;
    double middle = sqrt(1 - 0.05 * 0.05) - 0.02; /* of the box with its corners on the wall */
    slide_round(&drum, &disc, 2, 0.9, 0, 1e-4);
    slide_round(&tube, &ball, 3, 0.9, 0, 1e-4);
    slide_round(&tube, &box, 3, middle, 5 / middle, 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_on),
        cmocka_unit_test(test_touching_row),
        cmocka_unit_test(test_sliding_then_rolling),
        cmocka_unit_test(test_incline),
        cmocka_unit_test(test_rolling_down),
        cmocka_unit_test(test_free_top),
        cmocka_unit_test(test_round_walls),
        cmocka_unit_test(test_weight_of_a_pile),
        cmocka_unit_test(test_weight_of_a_pyramid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
