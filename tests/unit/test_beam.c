/* The beam's own mathematics: splines against polynomials, forces and matrices against differences, rigid
 * motion, mean motion, places, and what is refused. */
#include "base/random.h"
#include "base/vector.h"
#include "support/near.h"
#include "support/test.h"
#include "world/solid/solid.h"

#include <math.h>
#include <string.h>

static dls_error error[1];
enum { MOST = 64 };

static dls_solid_def beam_def(int degree, int elements) {
    dls_solid_def def = dls_default_solid_def(DLS_SOLID_BEAM);
    def.length = 1.3, def.EA = 70, def.EI = 3, def.line_density = 0.4;
    def.damping = 0.02;
    def.degree = degree, def.elements = elements, def.gauss = degree + 2;
    return def;
}

static dls_status create(const dls_solid_def *def, int dimension, dls_solid_data **data) {
    dls_world world = {.def.dimension = dimension};
    dls_solid_build build = {.world = &world, .def = def};
    return dls_solid_kind_beam.create(&build, data, error);
}

static dls_solid_data *make(const dls_solid_def *def) {
    dls_solid_data *data;
    assert_int_equal(create(def, 2, &data), DLS_OK);
    return data;
}

static void full_matrix(dls_solid_data *beam, dls_solid_matrix which, const double *q, double *A) {
    static double room[MOST * MOST];
    dls_solid solid = {.n = dls_solid_kind_beam.freedoms(beam), .kind = &dls_solid_kind_beam, .data = beam};
    dls_solid_full_matrix(&solid, which, q, room, A);
}

/* A bent state away from anything special. */
static int bend(const dls_solid_data *beam, double *q, double *u) {
    dls_random g = {.state = 7};
    dls_body_state mean = {.x = {0.3, -0.2}, .q = {cos(0.4), 0, 0, sin(0.4)}, .v = {1, 2}, .w = {0, 0, 3}};
    int n = dls_solid_kind_beam.freedoms(beam);
    dls_solid_kind_beam.begin(beam, &mean, q, u);
    for (int i = 0; i < n; i++) q[i] += 0.03 * dls_random_normal(&g), u[i] += dls_random_normal(&g);
    return n;
}

static void test_force_is_slope_of_energy(void **state) {
    (void)state;
    for (int degree = 2; degree <= 5; degree++) {
        dls_solid_def def = beam_def(degree, 3);
        dls_solid_data *beam = make(&def);
        double q[MOST], u[MOST], f[MOST] = {0}, step = 1e-5;
        int n = bend(beam, q, u);
        dls_solid_kind_beam.force(beam, q, f);
        for (int i = 0; i < n; i++) {
            double at = q[i];
            q[i] = at + step;
            double more = dls_solid_kind_beam.strain_energy(beam, q);
            q[i] = at - step;
            double less = dls_solid_kind_beam.strain_energy(beam, q);
            q[i] = at;
            assert_near(f[i], -(more - less) / (2 * step), 1e-5 * (1 + fabs(f[i])));
        }
        dls_solid_kind_beam.release(beam);
    }
}

static void test_stiffness_is_slope_of_force(void **state) {
    (void)state;
    for (int degree = 2; degree <= 5; degree++) {
        dls_solid_def def = beam_def(degree, 2);
        dls_solid_data *beam = make(&def);
        double q[MOST], u[MOST], K[MOST * MOST] = {0}, step = 1e-6;
        int n = bend(beam, q, u);
        full_matrix(beam, DLS_SOLID_STIFFNESS, q, K);
        for (int i = 0; i < n; i++) {
            double more[MOST] = {0}, less[MOST] = {0}, at = q[i];
            q[i] = at + step;
            dls_solid_kind_beam.force(beam, q, more);
            q[i] = at - step;
            dls_solid_kind_beam.force(beam, q, less);
            q[i] = at;
            for (int j = 0; j < n; j++)
                assert_near(K[j * n + i], -(more[j] - less[j]) / (2 * step), 1e-4 * (1 + fabs(K[j * n + j])));
        }
        dls_solid_kind_beam.release(beam);
    }
}

/* Turned and moved as a whole: no strain, and a rigid spin meets no damping and no stress of the material. */
static void test_rigid_motion_strains_nothing(void **state) {
    (void)state;
    dls_solid_def def = beam_def(3, 4);
    dls_solid_data *beam = make(&def);
    double q[MOST], u[MOST], f[MOST] = {0}, D[MOST * MOST] = {0};
    dls_body_state mean = {.x = {2, 1}, .q = {cos(1.1), 0, 0, sin(1.1)}, .v = {0.5, -1}, .w = {0, 0, 2}},
                   back;
    int n = dls_solid_kind_beam.freedoms(beam);
    dls_solid_kind_beam.begin(beam, &mean, q, u);
    assert_near(dls_solid_kind_beam.strain_energy(beam, q), 0, 1e-25);
    dls_solid_kind_beam.force(beam, q, f);
    full_matrix(beam, DLS_SOLID_DAMPING, q, D);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += D[i * n + k] * u[k];
        assert_near(f[i], 0, 1e-11);
        assert_near(sum, 0, 1e-11);
    }
    dls_solid_kind_beam.mean(beam, q, u, &back);
    for (int k = 0; k < 13; k++) assert_near(((double *)&back)[k], ((double *)&mean)[k], 1e-14);
    double m = def.line_density * def.length;
    assert_near(dls_solid_kind_beam.kinetic_energy(beam, u),
                0.5 * m * (0.25 + 1) + 0.5 * m * def.length * def.length / 12 * 4, 1e-13);
    dls_solid_kind_beam.release(beam);
}

/* M of the matrix, of the kinetic energy and of the load are one; rows add up to the mass. */
static void test_masses_agree(void **state) {
    (void)state;
    dls_solid_def def = beam_def(4, 3);
    dls_solid_data *beam = make(&def);
    double q[MOST], u[MOST], f[MOST] = {0}, M[MOST * MOST] = {0}, a[3] = {2, -3, 0}, energy = 0, sum = 0;
    int n = bend(beam, q, u);
    full_matrix(beam, DLS_SOLID_MASS, q, M);
    dls_solid_kind_beam.load(beam, a, f);
    for (int i = 0; i < n; i++) {
        double push = 0;
        for (int k = 0; k < n; k++) {
            energy += 0.5 * u[i] * M[i * n + k] * u[k];
            push += M[i * n + k] * a[k % 2];
            if (i % 2 == 0) sum += M[i * n + k];
            assert_near(M[i * n + k], M[k * n + i], 1e-16);
        }
        assert_near(f[i], push, 1e-14);
    }
    assert_near(energy, dls_solid_kind_beam.kinetic_energy(beam, u), 1e-13);
    assert_near(sum, def.line_density * def.length, 1e-14);
    dls_solid_kind_beam.release(beam);
}

/* J of a spot against differences of its place and its angle, at ends, at knots and between. */
static void test_spots_move_by_their_rows(void **state) {
    (void)state;
    const double places[] = {0, 0.2, 0.25, 0.61, 1};
    dls_solid_def def = beam_def(3, 4);
    dls_solid_data *beam = make(&def);
    double q[MOST], u[MOST], step = 1e-6;
    int n = bend(beam, q, u);
    for (int k = 0; k < 5; k++) {
        dls_spot spot = {.at = {places[k]}}, moved = spot;
        double R[9], S[9], v[3], w[3], p[MOST];
        dls_solid_kind_beam.spot(beam, q, &spot, R);
        dls_spot_twist(&spot, u, v, w);
        for (int i = 0; i < n; i++) p[i] = q[i] + step * u[i];
        dls_solid_kind_beam.spot(beam, p, &moved, S);
        for (int d = 0; d < 2; d++) assert_near((moved.state.x[d] - spot.state.x[d]) / step, v[d], 1e-4);
        assert_near((R[0] * S[1] - R[1] * S[0]) / step, w[2], 1e-3);
        assert_true(v[2] == 0 && w[0] == 0 && w[1] == 0);
    }
    dls_solid_kind_beam.release(beam);
}

/* Bent to a circle of radius ρ without stretch: E → EI L/(2 ρ²), at an order that the degree tells. */
static double circle_error(int degree, int elements) {
    dls_solid_def def = beam_def(degree, elements);
    def.EA = 1e-9; /* the curve's speed is even only as well as the spline goes */
    dls_solid_data *beam = make(&def);
    int n = dls_solid_kind_beam.freedoms(beam) / 2;
    double A[MOST * MOST] = {0}, x[MOST] = {0}, y[MOST] = {0}, q[2 * MOST], rho = def.length / 2;
    double L[MOST * MOST], room[MOST * MOST];
    for (int k = 0; k < n; k++) { /* interpolates at Greville's places */
        dls_spot spot = {.at = 0};
        double R[9], zero[2 * MOST] = {0};
        for (int j = 0; j < degree; j++)
            spot.at[0] += fmax(0, fmin(1, (k + 1 + j - degree) / (double)elements)) / degree;
        dls_solid_kind_beam.spot(beam, (zero[0] = 1, zero), &spot, R);
        for (int i = 0; i < spot.count; i += 2) A[k * n + spot.index[i] / 2] = spot.J[i][0];
        x[k] = rho * sin(2 * spot.at[0]), y[k] = rho * (1 - cos(2 * spot.at[0]));
    }
    double N[MOST * MOST] = {0}, bx[MOST] = {0}, by[MOST] = {0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            for (int j = 0; j < n; j++) N[i * n + j] += A[k * n + i] * A[k * n + j];
            bx[i] += A[k * n + i] * x[k], by[i] += A[k * n + i] * y[k];
        }
    dls_pattern *normal = dls_pattern_create_full(n);
    assert_true(dls_pattern_factor(normal, N, L, room));
    dls_pattern_forward(normal, L, bx), dls_pattern_back(normal, L, bx);
    dls_pattern_forward(normal, L, by), dls_pattern_back(normal, L, by);
    dls_pattern_destroy(normal);
    for (int i = 0; i < n; i++) q[2 * i] = bx[i], q[2 * i + 1] = by[i];
    double exact = 0.5 * def.EI * def.length / (rho * rho);
    double found = dls_solid_kind_beam.strain_energy(beam, q);
    dls_solid_kind_beam.release(beam);
    return fabs(found / exact - 1);
}

static void test_circle(void **state) {
    (void)state;
    for (int degree = 2; degree <= 4; degree++) {
        double coarse = circle_error(degree, 6), fine = circle_error(degree, 12);
        print_message("# degree %d: errors %.2e %.2e, order %.2f\n", degree, coarse, fine,
                      log2(coarse / fine));
        assert_true(coarse < 2e-2 && log2(coarse / fine) > 2 * (degree / 2) - 0.3);
    }
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        size_t offset;
        double value;
        const char *word;
    } numbers[] = {{offsetof(dls_solid_def, length), 0, "length of a beam is 0"},
                   {offsetof(dls_solid_def, EA), -1, "EA of a beam is -1"},
                   {offsetof(dls_solid_def, EI), NAN, "EI of a beam"},
                   {offsetof(dls_solid_def, line_density), INFINITY, "line_density of a beam is inf"},
                   {offsetof(dls_solid_def, damping), -0.1, "damping of a beam is -0.1"}};
    static const struct {
        size_t offset;
        int value;
        const char *word;
    } counts[] = {{offsetof(dls_solid_def, degree), 1, "degree of a beam is 1, expected 2 to 5"},
                  {offsetof(dls_solid_def, elements), 0, "elements of a beam is 0"},
                  {offsetof(dls_solid_def, gauss), 3, "gauss of a beam is 3, expected 4 to 8"}};
    dls_solid_data *data;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        dls_solid_def def = beam_def(3, 2);
        *(double *)((char *)&def + numbers[k].offset) = numbers[k].value;
        assert_int_equal(create(&def, 2, &data), DLS_ERROR_INPUT);
        assert_non_null(strstr(error->message, numbers[k].word));
    }
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        dls_solid_def def = beam_def(3, 2);
        *(int *)((char *)&def + counts[k].offset) = counts[k].value;
        assert_int_equal(create(&def, 2, &data), DLS_ERROR_INPUT);
        assert_non_null(strstr(error->message, counts[k].word));
    }
    dls_solid_def def = beam_def(3, 2);
    assert_int_equal(create(&def, 3, &data), DLS_ERROR_INPUT);
    assert_non_null(strstr(error->message, "in space"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_force_is_slope_of_energy),
        cmocka_unit_test(test_stiffness_is_slope_of_force),
        cmocka_unit_test(test_rigid_motion_strains_nothing),
        cmocka_unit_test(test_masses_agree),
        cmocka_unit_test(test_spots_move_by_their_rows),
        cmocka_unit_test(test_circle),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
