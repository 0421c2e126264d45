/* The angle of repose on beds whose slope is known: bias over angles, grains, containers and curved surfaces;
 * what must not matter at all: mirrors, rotations, bodies in flight, periods. Prints the table of
 * docs/analysis.md. */
#include "base/random.h"
#include "support/measured.h"
#include "support/near.h"
#include "support/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846, DEGREE = 180 / 3.14159265358979323846;

/* ---- beds ---- */

enum { MOST_GRAINS = 40000 };

typedef struct grains {
    int count;
    double x[3 * MOST_GRAINS], radius[MOST_GRAINS];
} grains;

static grains bed, other;

/* A surface over −1 … 1 with slope t, or what curves it. */
typedef enum surface { PLANE, TOE, BENT } surface;

typedef struct bed_def {
    const char *name;
    int dimension, grain_count; /* about */
    double angle;
    enum { BOX, DRUM, HALF_DRUM, FLANK } container;
    surface curve;
    double flying; /* share of grains above the surface */
    double spread; /* of radii */
} bed_def;

static const double depth_of_bed = 0.5, width_of_bed = 0.5;

/* Area in the plane along, up. */
static double bed_area(const bed_def *d) {
    double t = tan(d->angle / DEGREE);
    return d->container == DRUM        ? 0.36 * PI
           : d->container == HALF_DRUM ? 0.5 * PI
           : d->container == BOX       ? 2 * depth_of_bed
                                       : 2 * t;
}

static double mean_radius(const bed_def *d) {
    if (d->dimension == 2) return sqrt(0.8 * bed_area(d) / (d->grain_count * PI));
    return cbrt(0.6 * bed_area(d) * width_of_bed / (d->grain_count * 4 * PI / 3));
}

/* TOE: a parabola over the lowest fifth that ends level. BENT: a cubic that is steeper at both ends, as in
 * drums: t x + 0.15 (x³/(0.6 L²) − x) has the least-squares slope t over −L … L, the middle four fifths of
 * the bed, and one of t − 0.15 in the middle. */
static double surface_at(const bed_def *d, double x) {
    double t = tan(d->angle / DEGREE), foot = -0.6, share = (x + 1) / 0.4, L = 0.8 * (1 - mean_radius(d));
    if (d->curve == BENT) return t * x + 0.15 * (x * x * x / (0.6 * L * L) - x);
    if (d->curve == PLANE || x > foot) return t * x;
    return t * (foot - 0.5 * 0.4 * (1 - share * share));
}

static const double drum_depth = 0.22; /* of the surface below the axis, 36 % of its area */

static double height_at(const bed_def *d, double x) {
    return surface_at(d, x) - (d->container == DRUM ? drum_depth / cos(d->angle / DEGREE) : 0);
}

static bool holds(const bed_def *d, const double *x, double r) {
    if (d->dimension == 3 && fabs(x[1]) > width_of_bed / 2 - r) return false;
    if (d->container == DRUM || d->container == HALF_DRUM) return hypot(x[0], x[2]) <= 1 - r;
    if (fabs(x[0]) > 1 - r) return false;
    return d->container == BOX ? x[2] > surface_at(d, x[0]) - depth_of_bed : x[2] - r >= surface_at(d, -1);
}

static void add_grain(grains *g, const double *x, double r) {
    assert_true(g->count < MOST_GRAINS);
    memcpy(g->x + 3 * (size_t)g->count, x, 3 * sizeof *x);
    g->radius[g->count++] = r;
}

static void random_rotation(int dimension, dls_random *random, double R[3][3]) {
    double q[4], n = 0, a = 2 * PI * dls_random_unit(random);
    for (int k = 0; k < 4; k++) q[k] = dls_random_normal(random), n += q[k] * q[k];
    for (int k = 0; k < 4; k++) q[k] /= sqrt(n);
    if (dimension == 2) q[0] = cos(a), q[1] = q[3] = 0, q[2] = sin(a); /* about the axis across */
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double M[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(R, M, sizeof M);
}

/* A lattice (triangles in the plane along, up; face-centred cubes in space) that lies anyhow, shaken by a
 * twentieth of its spacing, cut off at the surface. Coordinates along, across, up. */
static void fill(grains *g, const bed_def *d, dls_random *random) {
    double r = mean_radius(d), step = 2.1 * r, R[3][3], start[3];
    int n = (int)(1.8 / (d->dimension == 2 ? step : step / sqrt(2.0))) + 2;
    g->count = 0;
    random_rotation(d->dimension, random, R);
    for (int k = 0; k < 3; k++) start[k] = step * dls_random_unit(random);
    for (int i = -n; i <= n; i++)
        for (int j = d->dimension == 2 ? 0 : -n; j <= (d->dimension == 2 ? 0 : n); j++)
            for (int k = -n; k <= n; k++) {
                double p[3] = {step * (i + 0.5 * k), 0, step * sqrt(0.75) * k}, x[3] = {0, 0, 0};
                if (d->dimension == 3) {
                    if ((i + j + k) % 2) continue;
                    p[0] = step / sqrt(2.0) * i, p[1] = step / sqrt(2.0) * j, p[2] = step / sqrt(2.0) * k;
                }
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++) x[a] += R[a][b] * (p[b] + start[b]);
                for (int a = 0; a < 3; a++) x[a] += 0.05 * step * dls_random_normal(random);
                double own = r * (1 + d->spread * (2 * dls_random_unit(random) - 1));
                if (d->dimension == 2) x[1] = 0;
                if (holds(d, x, own) && x[2] <= height_at(d, x[0])) add_grain(g, x, own);
            }
    int lying = g->count;
    for (int k = 0; k < d->flying * lying; k++) {
        double x[3] = {1.8 * dls_random_unit(random) - 0.9, 0, 0};
        x[2] = height_at(d, x[0]) + r * (5 + 6 * dls_random_unit(random));
        add_grain(g, x, r);
    }
}

static dls_slope slope_of(const grains *g, int dimension, const double *up, const double *along) {
    dls_slope slope;
    OK(dls_slope_measure(dimension, g->count, g->x, g->radius, up, along, &slope, error));
    return slope;
}

/* Coordinates along, across, up become x, y, z in space and x, y in the plane. */
static void place(grains *g, int dimension) {
    for (int k = 0; k < g->count && dimension == 2; k++) {
        g->x[3 * k + 1] = g->x[3 * k + 2];
        g->x[3 * k + 2] = 0;
    }
}

static const double *upward(int dimension) {
    static const double axes[2][3] = {{0, 1, 0}, {0, 0, 1}};
    return axes[dimension - 2];
}

static const double x_axis[3] = {1, 0, 0};

/* ---- bias ---- */

static const bed_def beds[] = {
    {"box", 2, 100, 0, BOX, PLANE, 0, 0},
    {"box", 2, 100, 25, BOX, PLANE, 0, 0},
    {"box", 2, 400, 0, BOX, PLANE, 0, 0},
    {"box", 2, 400, 10, BOX, PLANE, 0, 0},
    {"box", 2, 400, 25, BOX, PLANE, 0, 0},
    {"box", 2, 400, 40, BOX, PLANE, 0, 0},
    {"box", 2, 1600, 25, BOX, PLANE, 0, 0},
    {"box, radii ± 30 %", 2, 400, 25, BOX, PLANE, 0, 0.3},
    {"box, a tenth in flight", 2, 400, 25, BOX, PLANE, 0.1, 0},
    {"box, curved toe", 2, 400, 25, BOX, TOE, 0, 0},
    {"drum, 36 % full", 2, 100, 25, DRUM, PLANE, 0, 0},
    {"drum, 36 % full", 2, 400, 25, DRUM, PLANE, 0, 0},
    {"drum, 36 % full", 2, 400, 40, DRUM, PLANE, 0, 0},
    {"drum, half full", 2, 400, 25, HALF_DRUM, PLANE, 0, 0},
    {"drum, half full", 2, 400, 40, HALF_DRUM, PLANE, 0, 0},
    {"box, bent surface", 2, 400, 20, BOX, BENT, 0, 0},
    {"flank of a heap", 2, 400, 15, FLANK, PLANE, 0, 0},
    {"flank of a heap", 2, 400, 30, FLANK, PLANE, 0, 0},
    {"box", 3, 2000, 0, BOX, PLANE, 0, 0},
    {"box", 3, 2000, 25, BOX, PLANE, 0, 0},
    {"box", 3, 2000, 40, BOX, PLANE, 0, 0},
    {"drum, 36 % full", 3, 2000, 25, DRUM, PLANE, 0, 0},
    {"flank of a heap", 3, 8000, 30, FLANK, PLANE, 0, 0},
};

/* The mean over beds is met within 0.5°, single beds within twice the stated error in nearly all cases. */
static void test_bias(void **state) {
    (void)state;
    print_message("# bed, dimension, grains, angle: bias, spread, stated error, within two of it\n");
    for (size_t b = 0; b < sizeof beds / sizeof *beds; b++) {
        const bed_def *d = &beds[b];
        dls_random random = {17 + b};
        int trials = scaled(d->dimension == 2 ? 60 : 24, 2), within = 0;
        double sum = 0, squares = 0, stated = 0;
        for (int trial = 0; trial < trials; trial++) {
            fill(&bed, d, &random);
            place(&bed, d->dimension);
            dls_slope found = slope_of(&bed, d->dimension, upward(d->dimension), x_axis);
            double off = found.angle - d->angle;
            sum += off / trials, squares += off * off / trials, stated += found.error / trials;
            within += fabs(off) <= 2 * found.error;
        }
        double spread = sqrt(fmax(squares - sum * sum, 0));
        print_message("# %-24s %d %5d %3g: %+.2f %.2f %.2f %.0f %%\n", d->name, d->dimension, bed.count,
                      d->angle, sum, spread, stated, 100.0 * within / trials);
        if (test_scale() < 1) continue;
        if (fabs(sum) > 0.5) fail_msg("%s, %g°: off by %g°", d->name, d->angle, sum);
        if (within < 0.85 * trials) fail_msg("%s, %g°: %d of %d within", d->name, d->angle, within, trials);
    }
}

/* ---- what must not matter ---- */

static void copy_bed(void) { memcpy(&other, &bed, sizeof bed); }

static void test_mirror_and_rotation(void **state) {
    (void)state;
    dls_random random = {3};
    for (int dimension = 2; dimension <= 3; dimension++) {
        const bed_def d = {"", dimension, dimension == 2 ? 300 : 1500, 28, BOX, PLANE, 0, 0.2};
        fill(&bed, &d, &random);
        place(&bed, dimension);
        dls_slope straight = slope_of(&bed, dimension, upward(dimension), x_axis);
        copy_bed();
        for (int k = 0; k < other.count; k++) other.x[3 * k] *= -1;
        dls_slope mirrored = slope_of(&other, dimension, upward(dimension), x_axis);
        assert_near(mirrored.angle, -straight.angle, 1e-9);
        assert_near(mirrored.error, straight.error, 1e-9);
        double R[3][3], up[3] = {0, 0, 0}, along[3] = {0, 0, 0};
        random_rotation(3, &random, R);
        if (dimension == 2) {
            const double turned[3][3] = {{0.6, -0.8, 0}, {0.8, 0.6, 0}, {0, 0, 1}};
            memcpy(R, turned, sizeof R);
        }
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                up[a] += 9.81 * R[a][b] * upward(dimension)[b]; /* of any length */
                along[a] += R[a][b] * x_axis[b];
            }
        for (int k = 0; k < bed.count; k++)
            for (int a = 0; a < 3; a++) {
                double *x = other.x + 3 * (size_t)k;
                x[a] = 0;
                for (int b = 0; b < 3; b++) x[a] += R[a][b] * bed.x[3 * k + b];
            }
        assert_near(slope_of(&other, dimension, up, along).angle, straight.angle, 1e-9);
    }
}

/* Bodies in flight, whatever their number beyond the surface, and in whatever order bodies come. */
static void test_flight(void **state) {
    (void)state;
    dls_random random = {9};
    const bed_def d = {"", 2, 300, 20, DRUM, PLANE, 0, 0.2};
    fill(&bed, &d, &random);
    place(&bed, 2);
    dls_slope without = slope_of(&bed, 2, upward(2), x_axis);
    other.count = 0;
    for (int k = 0; k < 30; k++)
        add_grain(&other, (double[]){0.06 * (k % 15) - 0.4, 0.5 + 0.1 * (k / 15), 0}, k == 3 ? 0.04 : 0.02);
    for (int k = 0; k < bed.count; k++) add_grain(&other, bed.x + 3 * (size_t)k, bed.radius[k]);
    dls_slope with = slope_of(&other, 2, upward(2), x_axis);
    assert_near(with.angle, without.angle, 3 * without.error); /* places depend on the mean radius */
    double near_bed[3] = {0.6, height_at(&d, 0.6) + 0.12, 0};
    add_grain(&bed, near_bed, mean_radius(&d)); /* not of the bed: no place lies under it */
    assert_near(slope_of(&bed, 2, upward(2), x_axis).angle, without.angle, 0.05);
    assert_int_equal(slope_of(&bed, 2, upward(2), x_axis).places, without.places);
}

/* Results of the same bodies have the same angle, contacts or not, also where bodies went round a period. */
static void test_results_agree(void **state) {
    (void)state;
    dls_random random = {21};
    for (int dimension = 2; dimension <= 3; dimension++) {
        const bed_def d = {"", dimension, dimension == 2 ? 200 : 600, 18, BOX, PLANE, 0, 0};
        dls_world_def def = dls_default_world_def();
        dls_world *world;
        fill(&bed, &d, &random);
        place(&bed, dimension);
        double expected = slope_of(&bed, dimension, upward(dimension), x_axis).angle;
        def.dimension = dimension;
        memset(def.gravity, 0, sizeof def.gravity);
        def.gravity[dimension - 1] = -9.81;
        if (dimension == 3) def.period_low[1] = -0.5, def.period_size[1] = 1;
        OK(dls_world_create(&def, &world, error));
        for (int k = 0; k < bed.count; k++) {
            const double *x = bed.x + 3 * (size_t)k;
            measured_round(world, bed.radius[k], x[0], x[1] + (dimension == 3 ? k % 5 - 2 : 0), x[2]);
        }
        dls_results *results = measured_run(world, "bed.h5", 0, true);
        dls_analysis *a = measured_analysis(results, "repose", NULL);
        assert_near(measured_fact(a, "angle", NULL), expected, 1e-9);
        dls_analysis_destroy(a);
        dls_results_destroy(results);
    }
}

/* ---- cones ---- */

/* A lattice that lies anyhow, cut off at a cone of height tan(angle) and radius 1 about (2, −1), on the level
 * 0; blunt: without its tip, scattered: with single grains about it that touch nothing. */
static void fill_cone(grains *g, double angle, double radius, bool blunt, dls_random *random) {
    double t = tan(angle / DEGREE), step = 2.1 * radius / sqrt(2.0), R[3][3], start[3];
    int n = (int)(1.5 / step) + 2;
    g->count = 0;
    random_rotation(3, random, R);
    for (int k = 0; k < 3; k++) start[k] = step * dls_random_unit(random);
    for (int i = -n; i <= n; i++)
        for (int j = -n; j <= n; j++)
            for (int k = -n; k <= n; k++) {
                if ((i + j + k) % 2) continue;
                const double p[3] = {step * i + start[0], step * j + start[1], step * k + start[2]};
                double x[3] = {0, 0, 0};
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++) x[a] += R[a][b] * p[b];
                for (int a = 0; a < 3; a++) x[a] += 0.07 * step * dls_random_normal(random);
                double away = hypot(x[0], x[1]);
                if (x[2] < radius || x[2] > t * (1 - fmax(away, blunt ? 0.15 : 0))) continue;
                add_grain(g, (double[]){x[0] + 2, x[1] - 1, x[2]}, radius);
            }
    for (int k = 0; k < 40; k++) {
        double turn = 2 * PI * k / 40, far = 1.4 + 0.02 * (k % 7);
        add_grain(g, (double[]){2 + far * cos(turn), -1 + far * sin(turn), radius}, radius);
    }
}

/* The mean over cones is met within 0.75°, within 1.5° for some hundred grains: the toe, which is not left
 * out whole, is as high as one layer. */
static void test_cone_bias(void **state) {
    (void)state;
    const struct {
        double angle, radius, limit;
        bool blunt;
    } cones[] = {{15, 0.03, 0.75, false},
                 {25, 0.06, 1.5, false},
                 {25, 0.04, 0.75, false},
                 {25, 0.04, 0.75, true},
                 {35, 0.045, 0.75, false}};
    double worst = 0;
    print_message("# cone, grains, angle: bias, spread, stated error, within two of it\n");
    for (size_t c = 0; c < sizeof cones / sizeof *cones; c++) {
        dls_random random = {41 + c};
        int trials = scaled(10, 1), within = 0;
        double sum = 0, squares = 0, stated = 0;
        for (int trial = 0; trial < trials; trial++) {
            dls_world *world = measured_world(3);
            fill_cone(&bed, cones[c].angle, cones[c].radius, cones[c].blunt, &random);
            for (int k = 0; k < bed.count; k++)
                measured_round(world, bed.radius[k], bed.x[3 * k], bed.x[3 * k + 1], bed.x[3 * k + 2]);
            dls_results *results = measured_run(world, "cones.h5", 0, false);
            dls_analysis *a = measured_analysis(results, "cone", NULL);
            double error, off = measured_fact(a, "angle", &error) - cones[c].angle;
            sum += off / trials, squares += off * off / trials, stated += error / trials;
            within += fabs(off) <= 2 * error;
            dls_slope cone;
            assert_int_equal(dls_cone_measure(bed.count, bed.x, bed.radius, upward(3), &cone, NULL), DLS_OK);
            assert_near(cone.angle - cones[c].angle, off, 1e-9);
            dls_analysis_destroy(a);
            dls_results_destroy(results);
        }
        print_message("# cone%s %5d %3g: %+.2f %.2f %.2f %.0f %%\n", cones[c].blunt ? ", blunt" : "",
                      bed.count, cones[c].angle, sum, sqrt(fmax(squares - sum * sum, 0)), stated,
                      100.0 * within / trials);
        worst = fmax(worst, fabs(sum) / cones[c].limit);
    }
    if (test_scale() == 1) assert_near(worst, 0, 1);
}

static void test_bad_slopes(void **state) {
    (void)state;
    const double x[18] = {0}, r[6] = {1, 1, 1, 1, 1, 1}, bad[6] = {1, 1, -1, 1, 1, 1}, none[3] = {0, 0, 0};
    dls_slope slope;
    dls_error why;
    assert_int_equal(dls_slope_measure(2, 6, x, bad, upward(2), x_axis, &slope, &why), DLS_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "body 2"));
    assert_int_equal(dls_slope_measure(2, 6, x, r, none, x_axis, &slope, &why), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_slope_measure(2, 6, x, r, x_axis, x_axis, &slope, &why), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_slope_measure(2, 6, x, r, upward(3), x_axis, &slope, &why), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_slope_measure(4, 6, x, r, upward(3), x_axis, &slope, &why), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_slope_measure(3, 0, x, r, upward(3), x_axis, &slope, &why), DLS_ERROR_INPUT);
    assert_int_equal(dls_cone_measure(6, x, bad, upward(3), &slope, &why), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_cone_measure(6, x, r, none, &slope, &why), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_cone_measure(6, NULL, r, upward(3), &slope, &why), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_cone_measure(0, x, r, upward(3), &slope, &why), DLS_ERROR_INPUT);
    const double far[18] = {1e60, 0, 0, -1e60};
    assert_int_equal(dls_slope_measure(3, 6, far, r, upward(3), x_axis, &slope, &why), DLS_ERROR_INPUT);
    assert_non_null(strstr(why.message, "from the origin"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bias),      cmocka_unit_test(test_mirror_and_rotation),
        cmocka_unit_test(test_flight),    cmocka_unit_test(test_results_agree),
        cmocka_unit_test(test_cone_bias), cmocka_unit_test(test_bad_slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
