/* Analysis against closed forms: weights, columns, lattices, slopes, exponentials. */
#include "analysis/analysis.h"
#include "base/random.h"
#include "support/measured.h"
#include "support/scale.h"
#include "support/small_run.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846, GRAVITY = MEASURED_GRAVITY;

static void near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g ± %g", value, expected, tolerance);
}

/* ---- weights ---- */

/* Spheres at rest on a plane: it carries their weight at their places, and under one sphere of radius R in a
 * region of volume V the stress is σ_zz = m g R/V. */
static void test_weight(void **state) {
    (void)state;
    dls_world *world = measured_world(3);
    measured_ground(world, "floor");
    measured_round(world, 0.1, 1, 0, 0.1);
    measured_round(world, 0.2, -1, 0.5, 0.2);
    double m1 = 1000 * 4 * PI / 3 * 1e-3, m2 = 8 * m1;
    dls_results *results = measured_run(world, "weight.h5", 5, true);
    dls_analysis *a = measured_analysis(results, "container", NULL);
    near(measured_fact(a, "floor fz", NULL), -(m1 + m2) * GRAVITY, 1e-6 * m2 * GRAVITY);
    near(measured_fact(a, "floor fx", NULL), 0, 1e-6 * m2 * GRAVITY);
    near(measured_fact(a, "floor tx", NULL), -0.5 * m2 * GRAVITY, 1e-5 * m2 * GRAVITY);
    near(measured_fact(a, "floor ty", NULL), (m1 - m2) * GRAVITY, 1e-5 * m2 * GRAVITY);
    near(measured_fact(a, "weight", NULL), (m1 + m2) * GRAVITY, 1e-9 * m2 * GRAVITY);
    dls_analysis_destroy(a);
    dls_analysis_options o = dls_default_analysis_options();
    o.has_region = true;
    memcpy(o.region_low, (double[]){0.5, -0.5, 0}, sizeof o.region_low);
    memcpy(o.region_high, (double[]){1.5, 0.5, 0.5}, sizeof o.region_high);
    a = measured_analysis(results, "stress", &o);
    near(measured_last(a, "zz"), m1 * GRAVITY * 0.1 / 0.5, 1e-6 * m1 * GRAVITY);
    near(measured_last(a, "xx"), 0, 1e-6 * m1 * GRAVITY);
    near(measured_last(a, "pressure"), m1 * GRAVITY * 0.1 / 0.5 / 3, 1e-6 * m1 * GRAVITY);
    dls_analysis_destroy(a);
    a = measured_analysis(results, "fraction", &o);
    near(measured_last(a, "fraction"), 4 * PI / 3 * 1e-3 / 0.5, 1e-12);
    dls_analysis_destroy(a);
    a = measured_analysis(results, "coordination", NULL);
    near(measured_last(a, "neighbours"), 1, 0);
    near(measured_last(a, "rattlers"), 1, 0); /* one neighbour each */
    dls_analysis_destroy(a);
    dls_results_destroy(results);
}

/* A ball that rests on the image of a ledge across the border of a periodic cell, one way and the other: the
 * arm of its weight is that to the image, 0.3 m. The stress in the ball is that of one on a floor. */
static void test_weight_across_the_border(void **state) {
    (void)state;
    const double mass = 1000 * 4 * PI / 3 * 1e-3;
    for (int way = 0; way < 4; way++) {
        dls_world_def world_def = dls_default_world_def();
        dls_world *world;
        world_def.period_size[0] = 4;
        OK(dls_world_create(&world_def, &world, error));
        dls_shape_def ledge = dls_default_shape_def(DLS_BOX);
        ledge.size[0] = ledge.size[1] = 1, ledge.size[2] = 0.2;
        dls_body_def def = dls_default_body_def();
        dls_body_id id;
        def.name = "ledge", def.motion = DLS_STATIC;
        def.shapes = &ledge, def.shape_count = 1;
        def.pose.x[0] = way % 2 ? 3.8 : 0.2;
        if (way < 2) OK(dls_world_add_body(world, &def, &id, error));
        measured_round(world, 0.1, way % 2 ? 0.1 : 3.9, 0.2, 0.2);
        if (way >= 2) OK(dls_world_add_body(world, &def, &id, error));
        dls_results *results = measured_run(world, "border.h5", 5, true);
        dls_analysis *a = measured_analysis(results, "container", NULL);
        double weight = mass * GRAVITY, arm = way % 2 ? 0.3 : -0.3;
        near(measured_fact(a, "ledge fz", NULL), -weight, 1e-5 * weight);
        near(measured_fact(a, "ledge tx", NULL), -0.2 * weight, 1e-5 * weight);
        near(measured_fact(a, "ledge ty", NULL), arm * weight, 1e-5 * weight);
        dls_analysis_destroy(a);
        dls_analysis_options o = dls_default_analysis_options();
        o.has_region = true;
        memcpy(o.region_low, (double[]){0, -0.5, 0}, sizeof o.region_low);
        memcpy(o.region_high, (double[]){4, 0.5, 0.5}, sizeof o.region_high);
        a = measured_analysis(results, "stress", &o);
        near(measured_last(a, "zz"), weight * 0.1 / 2, 1e-5 * weight);
        near(measured_last(a, "xz"), 0, 1e-5 * weight);
        near(measured_last(a, "zx"), 0, 1e-5 * weight);
        dls_analysis_destroy(a);
        dls_results_destroy(results);
    }
}

/* A column of n discs: disc k from the top bears (k − 1) m g above and k m g below, so that
 * σ_yy A = m g R Σ (2k − 1) = m g R n². */
static void test_column(void **state) {
    (void)state;
    enum { DISCS = 7 };
    const double R = 0.05;
    dls_world *world = measured_world(2);
    measured_ground(world, "floor");
    for (int k = 0; k < DISCS; k++) measured_round(world, R, 0, R * (2 * k + 1), 0);
    dls_results *results = measured_run(world, "column.h5", 3, true);
    dls_analysis_options o = dls_default_analysis_options();
    double m = 1000 * PI * R * R, weight = m * GRAVITY;
    o.has_region = true;
    memcpy(o.region_low, (double[]){-0.5, 0, 0}, sizeof o.region_low);
    memcpy(o.region_high, (double[]){0.5, 1, 0}, sizeof o.region_high);
    dls_analysis *a = measured_analysis(results, "stress", &o);
    near(measured_last(a, "yy"), weight * R * DISCS * DISCS, 1e-5 * weight);
    near(measured_last(a, "xx"), 0, 1e-5 * weight);
    near(measured_last(a, "ratio"), 1, 1e-6);
    dls_analysis_destroy(a);
    a = measured_analysis(results, "fabric", &o);
    near(measured_last(a, "yy"), 1, 1e-9);
    near(measured_last(a, "anisotropy"), 2, 1e-9);
    near(fabs(measured_fact(a, "angle", NULL)), 90, 1e-6);
    near(measured_last(a, "contacts"), DISCS - 1, 0);
    dls_analysis_destroy(a);
    a = measured_analysis(results, "forces", &o);
    near(measured_fact(a, "mean force", NULL), weight * (DISCS + 1) / 2, 1e-5 * weight);
    near(measured_fact(a, "largest", NULL), 2.0 * DISCS / (DISCS + 1), 1e-5);
    dls_analysis_destroy(a);
    a = measured_analysis(results, "coordination", NULL);
    near(measured_last(a, "neighbours"), (2.0 * DISCS - 1) / DISCS, 1e-12);
    near(measured_last(a, "without_rattlers"), 2, 1e-12);
    dls_analysis_destroy(a);
    dls_results_destroy(results);
}

/* ---- lattices, without a run ---- */

static dls_snapshot lattice_begin(int dimension, int bodies) {
    dls_snapshot s = {.dimension = dimension, .body_count = bodies, .h = 1, .has_contacts = true};
    s.motion = calloc((size_t)bodies, sizeof *s.motion);
    s.present = calloc((size_t)bodies, sizeof *s.present);
    s.is_loaded = calloc((size_t)bodies, sizeof *s.is_loaded);
    s.poses = calloc((size_t)bodies, sizeof *s.poses);
    s.states = calloc((size_t)bodies, sizeof *s.states);
    s.volume = calloc((size_t)bodies, sizeof *s.volume);
    s.shape_start = calloc((size_t)bodies + 1, sizeof *s.shape_start);
    s.shapes = calloc((size_t)bodies, sizeof *s.shapes);
    s.contacts = calloc(12 * (size_t)bodies, sizeof *s.contacts);
    for (int k = 0; k < bodies; k++) s.present[k] = true;
    return s;
}

static void lattice_place(dls_snapshot *s, int id, double radius, double x, double y, double z) {
    dls_shape_def def = dls_default_shape_def(s->dimension == 2 ? DLS_DISC : DLS_SPHERE);
    def.radius = radius;
    s->states[id] = (dls_body_state){.x = {x, y, z}, .q = {1}};
    s->poses[id] = (dls_pose){.x = {x, y, z}, .q = {1}};
    s->volume[id] = s->dimension == 2 ? PI * radius * radius : 4 * PI / 3 * radius * radius * radius;
    s->shape_start[id] = id, s->shape_start[id + 1] = id + 1;
    OK(dls_shape_create(&def, s->dimension, &s->shapes[id], error));
}

static void lattice_join(dls_snapshot *s, int a, int b, double force) {
    dls_contact_force *c = &s->contacts[s->contact_count++];
    double length = 0;
    *c = (dls_contact_force){.a = a, .b = b, .normal_force = force};
    for (int k = 0; k < 3; k++) {
        c->normal[k] = s->poses[b].x[k] - s->poses[a].x[k];
        c->point[k] = 0.5 * (s->poses[b].x[k] + s->poses[a].x[k]);
        length += c->normal[k] * c->normal[k];
    }
    for (int k = 0; k < 3; k++) {
        c->normal[k] /= sqrt(length);
        c->force[k] = force * c->normal[k];
    }
}

static void lattice_end(dls_snapshot *s) {
    void *blocks[] = {s->motion, s->present,     s->is_loaded, s->poses,   s->states,
                      s->volume, s->shape_start, s->shapes,    s->contacts};
    for (int k = 0; k < s->body_count; k++) dls_shape_release(&s->shapes[k]);
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) free(blocks[k]);
}

/* Cubes of spheres: fabric 1/3 on the diagonal, 6 neighbours inside; with the same force f along every bond
 * the stress of n³ cells of size d is Σ f d/V = f (n − 1)/(n d²) along each axis, and φ = π/6. */
static void test_cubic_lattice(void **state) {
    (void)state;
    enum { N = 6 };
    const double d = 0.2, f = 3;
    dls_snapshot s = lattice_begin(3, N * N * N);
    for (int i = 0; i < N * N * N; i++)
        lattice_place(&s, i, d / 2, d * (i % N + 0.5), d * (i / N % N + 0.5), d * (i / N / N + 0.5));
    for (int i = 0; i < N * N * N; i++) {
        if (i % N + 1 < N) lattice_join(&s, i, i + 1, f);
        if (i / N % N + 1 < N) lattice_join(&s, i, i + N, f);
        if (i / N / N + 1 < N) lattice_join(&s, i + N * N, i, f); /* either order */
    }
    lattice_join(&s, 0, 7, 1e-6 * f); /* bears nothing */
    dls_snapshot_mark(&s, 1e-4);
    dls_analysis_options o = dls_default_analysis_options();
    dls_analysis_region region;
    double T[9];
    o.has_region = true;
    for (int k = 0; k < 3; k++) o.region_high[k] = N * d;
    OK(dls_analysis_region_create(&s, &o, &region, error));
    assert_int_equal(dls_fabric_measure(&s, &region, T), 3 * N * N * (N - 1));
    for (int k = 0; k < 9; k++) near(T[k], k % 4 ? 0 : 1.0 / 3, 1e-12);
    OK(dls_stress_measure(&s, &region, T, error));
    for (int k = 0; k < 9; k++) near(T[k], k % 4 ? 0 : f * (N - 1) / (N * d * d), 1e-4);
    near(dls_fraction_measure(&s, &region), PI / 6, 1e-12);
    dls_coordination c;
    OK(dls_coordination_measure(&s, &c, error));
    near(c.mean, 6.0 * (N - 1) / N, 1e-12);
    near(c.mechanical, c.mean, 1e-12);
    assert_int_equal(c.histogram[6], (N - 2) * (N - 2) * (N - 2));
    assert_int_equal(c.pairs, 3 * N * N * (N - 1));
    dls_analysis_region_release(&region);
    /* a region that cuts spheres in half */
    for (int k = 0; k < 3; k++) o.region_low[k] = d, o.region_high[k] = (N - 1.5) * d;
    OK(dls_analysis_region_create(&s, &o, &region, error));
    double edge = N - 2.5; /* as many spheres along each edge, the last one a half */
    near(dls_fraction_measure(&s, &region), PI / 6 * pow((N - 3 + 0.5) / edge, 3), 1e-3);
    dls_analysis_region_release(&region);
    /* the hull of the lattice: a cube with rounded edges */
    o.has_region = false;
    OK(dls_analysis_region_create(&s, &o, &region, error));
    double a = (N - 1) * d, r = d / 2;
    double rounded = a * a * a + 6 * a * a * r + 3 * PI * r * r * a + 4 * PI / 3 * r * r * r;
    near(region.volume / rounded, 1, 5e-3);
    near(dls_fraction_measure(&s, &region), N * N * N * PI / 6 * d * d * d / region.volume, 1e-12);
    dls_analysis_region_release(&region);
    lattice_end(&s);
}

/* Every kind of shape with volume, turned as it lies: its volume is mass over density, the hull of its
 * farthest points has that volume, and a plane through the centre of a symmetric body takes half of it. */
static void check_shapes(int dimension, const char *path) {
    small_run run = small_run_create(dimension);
    dls_results_def def = small_run_def();
    dls_results_writer *writer;
    dls_results *results;
    dls_snapshot s;
    OK(dls_results_create(path, run.world, &def, &writer, error));
    for (int k = 0; k < 10; k++) small_run_step(&run);
    OK(dls_results_add_frame(writer, run.simulation, error));
    OK(dls_results_close(writer, NULL, error));
    OK(dls_results_open(path, &results, error));
    OK(dls_snapshot_open(results, &s, error));
    OK(dls_snapshot_load(results, 0, 0, &s, error));
    int checked = 0;
    for (int id = 0; id < s.body_count; id++) {
        if (!dls_snapshot_moves(&s, id)) continue;
        dls_analysis_options o = dls_default_analysis_options();
        dls_analysis_region region;
        memset(s.is_loaded, 0, (size_t)s.body_count * sizeof *s.is_loaded);
        s.is_loaded[id] = true;
        near(s.volume[id] * 1000 / s.mass[id], 1, 1e-9);
        if (s.shape_start[id + 1] - s.shape_start[id] != 1) continue; /* a pair is not convex */
        checked++;
        OK(dls_analysis_region_create(&s, &o, &region, error));
        near(region.volume / s.volume[id], 1, 0.012);
        assert_true(region.volume < s.volume[id] * (1 + 1e-9));
        dls_analysis_region_release(&region);
        dls_shape_kind kind = s.shapes[s.shape_start[id]].kind;
        if (kind == DLS_POLYHEDRON || kind == DLS_POLYGON) continue;
        o.has_region = true;
        for (int k = 0; k < 3; k++) o.region_low[k] = -100, o.region_high[k] = 100;
        o.region_low[0] = s.states[id].x[0];
        OK(dls_analysis_region_create(&s, &o, &region, error));
        near(dls_analysis_region_share(&region, &s, id), 0.5, 5e-3);
        dls_analysis_region_release(&region);
    }
    assert_true(checked >= (dimension == 2 ? 2 : 6));
    dls_snapshot_release(&s);
    dls_results_destroy(results);
    small_run_destroy(&run);
}

static void test_shapes(void **state) {
    (void)state;
    check_shapes(2, "shapes2.h5");
    check_shapes(3, "shapes3.h5");
}

/* Triangles of discs: six neighbours inside, fabric 1/2, no anisotropy; three rattlers are left out. */
static void test_triangular_lattice(void **state) {
    (void)state;
    enum { N = 12, LONE = 3 };
    const double d = 0.1;
    dls_snapshot s = lattice_begin(2, N * N + LONE);
    for (int i = 0; i < N * N; i++)
        lattice_place(&s, i, d / 2, d * (i % N + 0.5 * (i / N)), d * sqrt(0.75) * (i / N), 0);
    for (int k = 0; k < LONE; k++) lattice_place(&s, N * N + k, d / 2, -5 - k, 0, 0);
    /* bonds of each kind in a parallelogram that wraps: as many of each */
    int bonds = 0;
    for (int i = 0; i < N * N; i++) {
        int right = i % N + 1 < N, up = i / N + 1 < N, back = i % N > 0;
        if (right) lattice_join(&s, i, i + 1, 2), bonds++;
        if (up) lattice_join(&s, i, i + N, 2), bonds++;
        if (up && back) lattice_join(&s, i, i + N - 1, 2), bonds++;
    }
    dls_snapshot_mark(&s, 1e-4);
    dls_analysis_options o = dls_default_analysis_options();
    dls_analysis_region region;
    dls_coordination c;
    double F[9], values[3], direction[3];
    OK(dls_analysis_region_create(&s, &o, &region, error));
    dls_fabric_measure(&s, &region, F);
    /* N (N − 1) bonds along x and along 60°, (N − 1)² along 120° */
    double n1 = N * (N - 1), n2 = (N - 1) * (N - 1), all = 2 * n1 + n2;
    near(F[0], (n1 + 0.25 * n1 + 0.25 * n2) / all, 1e-12);
    near(F[4], (0.75 * n1 + 0.75 * n2) / all, 1e-12);
    near(F[3], sqrt(0.75) * 0.5 * (n1 - n2) / all, 1e-12);
    dls_tensor_principal(2, F, values, direction);
    near(values[0] + values[1], 1, 1e-12);
    near(values[0] - values[1], hypot(F[0] - F[4], 2 * F[3]), 1e-12);
    OK(dls_coordination_measure(&s, &c, error));
    assert_int_equal(c.floating, LONE);
    near(c.mean, 2.0 * bonds / (N * N + LONE), 1e-12);
    near(c.mechanical, 2.0 * bonds / (N * N), 1e-12);
    dls_analysis_region_release(&region);
    lattice_end(&s);
}

/* A period is a region without planes: bodies across its edges count whole. */
static void test_periodic_region(void **state) {
    (void)state;
    dls_snapshot s = lattice_begin(2, 2);
    lattice_place(&s, 0, 0.25, 0, 0.25, 0);   /* half of it beyond x = 0 */
    lattice_place(&s, 1, 0.25, 7.5, 0.75, 0); /* some periods away */
    lattice_join(&s, 0, 1, 1);
    s.period_size[0] = 1;
    dls_snapshot_mark(&s, 1e-4);
    dls_analysis_options o = dls_default_analysis_options();
    dls_analysis_region region;
    OK(dls_analysis_region_create(&s, &o, &region, error));
    near(region.volume, 1, 1e-12);
    near(dls_fraction_measure(&s, &region), 2 * PI / 16, 1e-12);
    dls_analysis_region_release(&region);
    o.has_region = true;
    o.region_high[0] = 0.5, o.region_high[1] = 1; /* half of the first, half of the second */
    OK(dls_analysis_region_create(&s, &o, &region, error));
    near(dls_fraction_measure(&s, &region), 2 * PI / 16, 2e-3);
    dls_analysis_region_release(&region);
    lattice_end(&s);
}

/* ---- lines and tails ---- */

/* Points about a line with normal noise: the slope is off by less than two of its stated uncertainties in 95
 * %. */
static void test_line(void **state) {
    (void)state;
    enum { POINTS = 50 };
    double x[POINTS], y[POINTS];
    int trials = scaled(1000, 100), within = 0;
    dls_random random = {7};
    dls_fitted_line line;
    for (int trial = 0; trial < trials; trial++) {
        for (int k = 0; k < POINTS; k++) {
            x[k] = dls_random_unit(&random);
            y[k] = 0.3 - 0.7 * x[k] + 0.02 * dls_random_normal(&random);
        }
        OK(dls_line_fit(POINTS, x, y, &line, error));
        near(line.slope, -0.7, 0.06);
        near(line.intercept, 0.3, 0.03);
        near(line.scale, 0.02, 0.01);
        within += fabs(line.slope + 0.7) < 2 * line.slope_error;
    }
    near((double)within / trials, 0.95, 0.09);
    dls_error why;
    for (int k = 0; k < POINTS; k++) y[k] = 1 + 2 * x[k];
    OK(dls_line_fit(POINTS, x, y, &line, error));
    near(line.slope, 2, 1e-12);
    near(line.slope_error, 0, 1e-12);
    assert_int_equal(dls_line_fit(4, x, y, &line, &why), DLS_ERROR_INPUT);
    for (int k = 0; k < POINTS; k++) x[k] = 3;
    assert_int_equal(dls_line_fit(POINTS, x, y, &line, &why), DLS_ERROR_INPUT);
}

static void test_tail(void **state) {
    (void)state;
    enum { FORCES = 20000 };
    static double f[FORCES];
    double beta, spread, distance;
    dls_random random = {3};
    for (int k = 0; k < FORCES; k++) f[k] = -log(1 - dls_random_unit(&random)) / 1.3;
    dls_tail_fit(FORCES, f, &beta, &spread, &distance);
    near(beta, 1.3, 4 * spread);
    near(spread, 1.3 / sqrt(FORCES * exp(-1.3)), 0.002);
    assert_true(distance < 0.03);
    for (int k = 0; k < FORCES; k++) f[k] = 2 * dls_random_unit(&random); /* no exponential */
    dls_tail_fit(FORCES, f, &beta, &spread, &distance);
    assert_true(distance > 0.1);
    dls_tail_fit(5, f, &beta, &spread, &distance);
    assert_true(isnan(beta) && isnan(spread) && isnan(distance));
}

/* ---- slopes of bodies ---- */

/* A bed of discs cut off at a slope, with noise: the angle is met within its uncertainty. */
static void test_planar_slope(void **state) {
    (void)state;
    const double angle = 24 * PI / 180;
    dls_world *world = measured_world(2);
    dls_random random = {11};
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 40; j++) {
            double x = 0.021 * (i - 30 + 0.2 * dls_random_unit(&random)), y = 0.021 * (j - 20);
            y += 0.004 * dls_random_unit(&random);
            if (y < x * tan(angle)) measured_round(world, 0.01, x, y, 0);
        }
    dls_results *results = measured_run(world, "slope.h5", 0, false);
    dls_analysis *a = measured_analysis(results, "repose", NULL);
    double uncertainty = NAN, found = measured_fact(a, "angle", &uncertainty);
    assert_true(uncertainty > 0.05 && uncertainty < 2);
    near(found, 24, 3 * uncertainty);
    dls_analysis_destroy(a);
    dls_results_destroy(results);
}

static void test_cone(void **state) {
    (void)state;
    dls_world *world = measured_world(3);
    for (int i = -20; i <= 20; i++)
        for (int j = -20; j <= 20; j++)
            for (int k = 0; k <= 10; k++) {
                double x = 0.02 * i + 1, y = 0.02 * j + 2, z = 0.02 * k;
                if (z <= 0.2 - 0.5 * hypot(x - 1, y - 2)) measured_round(world, 0.01, x, y, z);
            }
    dls_results *results = measured_run(world, "cone.h5", 0, false);
    dls_analysis *a = measured_analysis(results, "cone", NULL);
    double uncertainty = NAN, found = measured_fact(a, "angle", &uncertainty),
           expected = atan(0.5) * 180 / PI;
    assert_true(uncertainty < 1);
    near(found, expected, 4 * uncertainty);
    dls_analysis_destroy(a);
    a = measured_analysis(results, "repose", NULL); /* a heap has no slope along x */
    near(measured_fact(a, "angle", NULL), 0, 3);
    dls_analysis_destroy(a);
    a = measured_analysis(results, "height", NULL);
    near(measured_last(a, "top"), 0.21, 1e-12);
    near(measured_last(a, "bottom"), -0.01, 1e-12);
    near(measured_fact(a, "rise", NULL), 0, 0);
    dls_analysis_destroy(a);
    dls_results_destroy(results);
}

/* ---- motion and energy ---- */

/* Plane Couette: v_x = 2 y, with every other body 0.1 faster. */
static void test_profile(void **state) {
    (void)state;
    dls_world *world = measured_world(2);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 10; j++) {
            dls_body_id id = measured_round(world, 0.05, 0.2 * i, 0.1 * j, 0);
            dls_body_state s;
            OK(dls_body_state_get(world, id, &s, error));
            s.v[0] = 0.2 * j + (i % 2 ? 0.1 : -0.1);
            OK(dls_body_state_set(world, id, &s, error));
        }
    dls_results *results = measured_run(world, "profile.h5", 0, false);
    dls_analysis_options o = dls_default_analysis_options();
    o.layers = 10;
    dls_analysis *a = measured_analysis(results, "profile", &o);
    dls_analysis_table t = dls_analysis_table_at(a, 0);
    assert_int_equal(t.row_count, 10);
    for (int k = 0; k < 10; k++) {
        const double *row = t.values + k * t.column_count;
        near(row[0], 0.09 * (k + 0.5), 1e-12);
        near(row[1], 20, 0);
        near(row[2], 0.2 * k, 1e-12);
        near(row[3], 0, 0);
        near(row[5], 0.1 * sqrt(20.0 / 19), 1e-12);
    }
    near(measured_fact(a, "fastest layer", NULL), 1.8, 1e-12);
    dls_analysis_destroy(a);
    o.axis = DLS_AXIS_X;
    a = measured_analysis(results, "profile", &o);
    near(measured_last(a, "vx"), 0.9, 1e-12);
    dls_analysis_destroy(a);
    dls_results_destroy(results);
}

/* A ball that falls: what it loses in height it gains in speed; frames choose the steps. */
static void test_energy(void **state) {
    (void)state;
    dls_world *world = measured_world(3);
    measured_round(world, 0.1, 0, 0, 5);
    dls_results *results = measured_run(world, "fall.h5", 100, true);
    double m = 1000 * 4 * PI / 3 * 1e-3, v = 0.1 * GRAVITY;
    dls_analysis *a = measured_analysis(results, "energy", NULL);
    near(measured_fact(a, "kinetic", NULL), 0.5 * m * v * v, 1e-9 * m);
    near(measured_fact(a, "friction", NULL), 0, 0);
    assert_true(measured_fact(a, "unaccounted share", NULL) < 1e-12);
    assert_int_equal(dls_analysis_table_at(a, 0).row_count, 100);
    dls_analysis_destroy(a);
    dls_analysis_options o = dls_default_analysis_options();
    o.first_frame = 40, o.last_frame = 60;
    a = measured_analysis(results, "energy", &o);
    assert_int_equal(dls_analysis_table_at(a, 0).row_count, 21);
    near(dls_analysis_table_at(a, 0).values[0], 0.04, 1e-12);
    near(measured_last(a, "time"), 0.06, 1e-12);
    dls_analysis_destroy(a);
    a = measured_analysis(results, "penetration", NULL);
    near(measured_fact(a, "worst", NULL), 0, 0);
    dls_analysis_destroy(a);
    a = measured_analysis(results, "complementarity", NULL);
    near(measured_fact(a, "steps", NULL), 100, 0);
    dls_analysis_destroy(a);
    dls_error why; /* nothing touches */
    assert_int_equal(dls_analysis_create(results, "stress", NULL, &a, &why), DLS_ERROR_INPUT);
    assert_non_null(strstr(why.message, "bears load"));
    assert_int_equal(dls_analysis_create(results, "container", NULL, &a, &why), DLS_ERROR_INPUT);
    assert_non_null(strstr(why.message, "no static or driven body"));
    dls_results_destroy(results);
}

/* Attraction pulls a disc onto the floor beside its weight: the floor feels the weight alone. */
static void test_cohesion(void **state) {
    (void)state;
    dls_world *world = measured_world(2);
    dls_pair_def pair;
    OK(dls_world_pair(world, 0, 0, &pair, NULL, error));
    pair.cohesion = 500;
    OK(dls_world_set_pair(world, 0, 0, &pair, error));
    measured_ground(world, "floor");
    measured_round(world, 0.1, 0, 0.1, 0);
    dls_results *results = measured_run(world, "cohesion.h5", 5, true);
    dls_analysis_options o = dls_default_analysis_options();
    o.first_frame = 3;
    dls_analysis *a = measured_analysis(results, "container", &o);
    near(measured_fact(a, "floor fy", NULL), -1000 * PI * 0.01 * GRAVITY, 1e-3);
    dls_analysis_destroy(a);
    dls_results_destroy(results);
}

/* ---- what is missing ---- */

static void test_missing(void **state) {
    (void)state;
    dls_world *world = measured_world(2);
    measured_ground(world, "floor");
    measured_round(world, 0.1, 0, 0.1, 0);
    dls_results *results = measured_run(world, "missing.h5", 2, false);
    dls_analysis_options o = dls_default_analysis_options();
    dls_analysis *a;
    dls_error why;
    const struct {
        const char *measure, *words;
    } cases[] = {{"stress", "needs contacts"}, {"cone", "needs a spatial run"}, {"strain", "no measure"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_not_equal(dls_analysis_create(results, cases[k].measure, NULL, &a, &why), DLS_OK);
        assert_null(a);
        assert_non_null(strstr(why.message, cases[k].words));
    }
    o.axis = DLS_AXIS_Z;
    assert_int_equal(dls_analysis_check(results, "profile", &o, &why), DLS_ERROR_INPUT);
    assert_non_null(strstr(why.message, "spatial"));
    o.axis = DLS_AXIS_Y;
    assert_int_equal(dls_analysis_check(results, "repose", &o, &why), DLS_ERROR_INPUT);
    o = dls_default_analysis_options();
    o.first_frame = 3;
    assert_int_equal(dls_analysis_check(results, "height", &o, &why), DLS_ERROR_ARGUMENT);
    o = dls_default_analysis_options();
    o.has_region = true;
    assert_int_equal(dls_analysis_check(results, "fraction", &o, &why), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_analysis_create(results, "repose", NULL, &a, &why), DLS_ERROR_INPUT);
    assert_non_null(strstr(why.message, "no free surface"));
    dls_results_destroy(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weight),
        cmocka_unit_test(test_weight_across_the_border),
        cmocka_unit_test(test_column),
        cmocka_unit_test(test_cubic_lattice),
        cmocka_unit_test(test_triangular_lattice),
        cmocka_unit_test(test_periodic_region),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_tail),
        cmocka_unit_test(test_planar_slope),
        cmocka_unit_test(test_cone),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_cohesion),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
