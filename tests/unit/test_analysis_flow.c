/* Flow through planes: trains of bodies with known rates, periodic cells, births and deaths, bad planes. */
#include "base/random.h"
#include "support/measured.h"
#include "support/near.h"
#include "support/scale.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static dls_world *weightless(int dimension, double period) {
    dls_world *world;
    dls_world_def def = dls_default_world_def();
    def.dimension = dimension;
    memset(def.gravity, 0, sizeof def.gravity);
    def.period_size[0] = period;
    OK(dls_world_create(&def, &world, error));
    return world;
}

static void launch(dls_world *world, double radius, const double *x, const double *v) {
    dls_body_id id = measured_round(world, radius, x[0], x[1], x[2]);
    dls_body_state state;
    OK(dls_body_state_get(world, id, &state, error));
    memcpy(state.v, v, sizeof state.v);
    OK(dls_body_state_set(world, id, &state, error));
}

static dls_analysis_options through(double x, double y, double z, double nx, double ny, double nz) {
    dls_analysis_options o = dls_default_analysis_options();
    o.has_plane = true;
    memcpy(o.plane_point, (double[]){x, y, z}, sizeof o.plane_point);
    memcpy(o.plane_normal, (double[]){nx, ny, nz}, sizeof o.plane_normal);
    return o;
}

/* Trains forward and backward through a plane at any angle: v/a bodies a second each way, of their masses. A
 * body every 2 ms forward and one every 5 ms backward, no part of the time with more than another. */
static void check_trains(int dimension, const double *n, const double *side) {
    const double r = 0.001, density = 1000;
    dls_world *world = weightless(dimension, 0);
    double x[3], forward[3], backward[3],
        mass = density * (dimension == 2 ? PI * r * r : 4 * PI / 3 * r * r * r);
    for (int k = 0; k < 3; k++) forward[k] = 3 * n[k], backward[k] = -2 * n[k];
    for (int i = 0; i < 60; i++) {
        for (int k = 0; k < 3; k++) x[k] = -(i + 0.3) * 0.006 * n[k];
        launch(world, r, x, forward);
        for (int k = 0; k < 3; k++) x[k] = (i + 0.3) * 0.010 * n[k] + 0.1 * side[k];
        launch(world, r, x, backward);
    }
    dls_results *results = measured_run(world, "trains.h5", 100, false);
    dls_analysis_options o =
        through(0.1 * side[0], 0.1 * side[1], 0.1 * side[2], 2 * n[0], 2 * n[1], 2 * n[2]);
    dls_analysis *a = measured_analysis(results, "flow", &o);
    double spread;
    assert_near(measured_fact(a, "forward number", NULL), 50, 0);
    assert_near(measured_fact(a, "backward number", NULL), 20, 0);
    assert_near(measured_fact(a, "number rate", &spread), 300, 1e-9);
    assert_near(spread, 0, 1e-9);
    assert_near(measured_fact(a, "mass rate", NULL), 300 * mass, 1e-9 * mass);
    assert_near(measured_fact(a, "drift", NULL), 0, 1e-9 * mass);
    assert_near(measured_last(a, "net_mass"), 30 * mass, 1e-9 * mass);
    assert_near(measured_last(a, "ahead_mass"), 90 * mass, 1e-9 * mass);
    dls_analysis_destroy(a);
    o.first_frame = 10, o.last_frame = 30; /* a part of them */
    a = measured_analysis(results, "flow", &o);
    assert_near(measured_fact(a, "forward mass", NULL), 10 * mass, 1e-9 * mass);
    assert_near(measured_fact(a, "backward mass", NULL), 4 * mass, 1e-9 * mass);
    dls_analysis_destroy(a);
    for (int k = 0; k < 3; k++) o.plane_normal[k] = -n[k]; /* the other way round */
    a = measured_analysis(results, "flow", &o);
    assert_near(measured_fact(a, "mass rate", NULL), -300 * mass, 1e-9 * mass);
    assert_near(measured_fact(a, "backward mass", NULL), 10 * mass, 1e-9 * mass);
    dls_analysis_destroy(a);
    o.has_region = true; /* that holds the forward train alone */
    for (int k = 0; k < 3; k++) o.region_low[k] = -0.04, o.region_high[k] = 0.04;
    a = measured_analysis(results, "flow", &o);
    assert_near(measured_fact(a, "backward number", NULL), 10, 0);
    assert_near(measured_fact(a, "forward number", NULL), 0, 0);
    dls_analysis_destroy(a);
    dls_results_destroy(results);
}

static void test_trains(void **state) {
    (void)state;
    check_trains(2, (double[]){1, 0, 0}, (double[]){0, 1, 0});
    check_trains(2, (double[]){0.6, -0.8, 0}, (double[]){0.8, 0.6, 0});
    check_trains(3, (double[]){0, 0, -1}, (double[]){0, 1, 0});
    check_trains(3, (double[]){0.48, 0.64, 0.6}, (double[]){0.8, -0.6, 0});
}

/* One body that goes round a cell of 0.04 m at 10 m/s passes a plane across it 250 times a second, several
 * planes are passed in one step of 30 m/s, and a plane along the cell is passed once. */
static void test_period(void **state) {
    (void)state;
    const double mass = 1000 * PI * 1e-6, speeds[] = {10, -10, 70};
    for (int k = 0; k < 3; k++) {
        dls_world *world = weightless(2, 0.04);
        launch(world, 0.001, (double[]){0.011, -0.1005, 0}, (double[]){speeds[k], 2, 0});
        dls_results *results = measured_run(world, "period.h5", 100, false);
        dls_analysis_options o = through(0.03, 0, 0, 1, 0, 0);
        dls_analysis *a = measured_analysis(results, "flow", &o);
        double passages = speeds[k] * 0.1 / 0.04;
        assert_near(measured_fact(a, speeds[k] < 0 ? "backward number" : "forward number", NULL),
                    fabs(passages), 0);
        assert_near(measured_fact(a, speeds[k] > 0 ? "backward number" : "forward number", NULL), 0, 0);
        assert_near(measured_fact(a, "mass rate", NULL), passages * mass / 0.1, 1e-9 * mass);
        assert_true(isnan(measured_last(a, "ahead_mass")));
        dls_analysis_destroy(a);
        o.has_region = true; /* the upper half of the way */
        o.region_low[1] = 0, o.region_high[0] = 0.04, o.region_high[1] = 1;
        a = measured_analysis(results, "flow", &o);
        double half =
            fabs(measured_fact(a, "forward number", NULL) - measured_fact(a, "backward number", NULL));
        assert_near(half, fabs(passages) / 2, 1);
        dls_analysis_destroy(a);
        o = through(0, 0, 0, 0, 1, 0);
        a = measured_analysis(results, "flow", &o);
        assert_near(measured_fact(a, "forward number", NULL), 1, 0);
        assert_near(measured_last(a, "ahead_mass"), mass, 1e-12 * mass);
        dls_analysis_destroy(a);
        dls_error why;
        o = through(0, 0, 0, 1, 1, 0);
        assert_int_equal(dls_analysis_create(results, "flow", &o, &a, &why), DLS_ERROR_INPUT);
        assert_non_null(strstr(why.message, "periodic axis x"));
        dls_results_destroy(results);
    }
}

/* Bodies that come at random: the standard error is √(λ/T) of the rate λ, on average over trials. */
static void test_standard_error(void **state) {
    (void)state;
    dls_random random = {5};
    int trials = scaled(8, 4);
    double squares = 0, sum = 0;
    for (int trial = 0; trial < trials; trial++) {
        dls_world *world = weightless(2, 0);
        for (int k = 0; k < 400; k++) /* each on a line of its own */
            launch(world, 1e-4, (double[]){-dls_random_unit(&random), 0.01 * k, 0}, (double[]){5, 0, 0});
        dls_results *results = measured_run(world, "random.h5", 100, false);
        dls_analysis_options o = through(0, 0, 0, 1, 0, 0);
        dls_analysis *a = measured_analysis(results, "flow", &o);
        double spread;
        sum += measured_fact(a, "number rate", &spread);
        squares += spread * spread;
        dls_analysis_destroy(a);
        dls_results_destroy(results);
    }
    double expected = sqrt(2000 / 0.1); /* 200 of 400 in 0.1 s, as good as Poisson's within each part */
    assert_near(sum / trials, 2000, 4 * expected / sqrt(trials));
    assert_near(sqrt(squares / trials) / expected, 1, 4 / sqrt(2.0 * 9 * trials));
}

/* Who is born or dies passes nothing, on either side; M ahead = forward − backward + born − died there. */
static void test_births_and_deaths(void **state) {
    (void)state;
    dls_world *world = weightless(3, 0);
    const double mass = 1000 * 4 * PI / 3 * 1e-9;
    for (int k = 0; k < 8; k++) {
        dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
        dls_body_def def = dls_default_body_def();
        dls_body_id id;
        shape.radius = 0.001;
        def.shapes = &shape, def.shape_count = 1;
        def.pose.x[0] = k & 1 ? 0.1 : -0.1; /* ahead or behind */
        def.pose.x[1] = 0.01 * k;
        def.v[0] = k == 6 ? 5 : 0; /* passes after 20 ms */
        if (k & 2) def.birth = 0.0105;
        if (k & 4) def.death = 0.0405;
        OK(dls_world_add_body(world, &def, &id, error));
    }
    dls_results *results = measured_run(world, "births.h5", 60, false);
    dls_analysis_options o = through(0, 0, 0, 1, 0, 0);
    dls_analysis *a = measured_analysis(results, "flow", &o);
    assert_near(measured_fact(a, "forward number", NULL), 1, 0);
    assert_near(measured_fact(a, "backward number", NULL), 0, 0);
    assert_near(measured_fact(a, "born mass", NULL), 4 * mass, 1e-12 * mass);
    assert_near(measured_fact(a, "dead mass", NULL), 4 * mass, 1e-12 * mass);
    assert_near(measured_last(a, "born_ahead_mass"), 2 * mass, 1e-12 * mass);
    assert_near(measured_last(a, "dead_ahead_mass"), 3 * mass, 1e-12 * mass); /* with the one that passed */
    dls_analysis_table t = dls_analysis_table_at(a, 0);
    for (int64_t k = 0; k < t.row_count; k++) {
        const double *row = t.values + k * t.column_count;
        assert_near(row[10] - t.values[10], row[3] + row[11] - row[12], 1e-12 * mass);
    }
    dls_analysis_destroy(a);
    dls_results_destroy(results);
}

static void test_bad_planes(void **state) {
    (void)state;
    dls_world *world = weightless(2, 0);
    launch(world, 0.1, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    dls_results *results = measured_run(world, "planes.h5", 2, false);
    dls_analysis_options good = through(0, 0, 0, 1, 0, 0), flat = through(0, 0, 0, 0, 0, 1),
                         lost = through((double)NAN, 0, 0, 1, 0, 0),
                         far = through(0, 0, 0, (double)INFINITY, 0, 0),
                         tiny = through(0, 0, 0, 1e-300, 0, 0), one = good;
    dls_analysis_options none = dls_default_analysis_options();
    one.first_frame = one.last_frame = 1;
    const struct {
        const dls_analysis_options *options;
        dls_status status;
        const char *words;
    } cases[] = {{&none, DLS_ERROR_ARGUMENT, "needs a plane"},
                 {&flat, DLS_ERROR_ARGUMENT, "normal is 0"},
                 {&lost, DLS_ERROR_ARGUMENT, "nan"},
                 {&far, DLS_ERROR_ARGUMENT, "inf"},
                 {&one, DLS_ERROR_INPUT, "one frame"}};
    dls_analysis *a;
    dls_error why;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(dls_analysis_create(results, "flow", cases[k].options, &a, &why), cases[k].status);
        if (!strstr(why.message, cases[k].words)) fail_msg("%s", why.message);
    }
    a = measured_analysis(results, "flow", &tiny); /* any length will do */
    assert_near(measured_fact(a, "forward number", NULL), 0, 0);
    dls_analysis_destroy(a);
    dls_results_destroy(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trains),         cmocka_unit_test(test_period),
        cmocka_unit_test(test_standard_error), cmocka_unit_test(test_births_and_deaths),
        cmocka_unit_test(test_bad_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
