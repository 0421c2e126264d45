/* The generalized-α scheme on systems with closed forms: orders, drift, constraints of velocities, laws of
 * friction, options that must agree, states as bytes, refusals. */
#include "support/near.h"

#include <delassus/system.h>

#include <stdlib.h>
#include <string.h>

static const double G = 9.81;

/* ---- stepping ---- */

static dls_alpha *create(const dls_model *model, const dls_alpha_options *o, const double *q,
                         const double *u) {
    dls_error error;
    dls_alpha *alpha;
    if (dls_alpha_create(model, o, 0, q, u, &alpha, &error)) fail_msg("%s", error.message);
    return alpha;
}

static dls_alpha_report step_many(dls_alpha *alpha, int steps) {
    dls_error error;
    dls_alpha_report r = {0}, most = {0};
    for (int i = 0; i < steps; i++) {
        if (dls_alpha_step(alpha, &r, &error)) fail_msg("%s", error.message);
        most.position = fmax(most.position, r.position), most.velocity = fmax(most.velocity, r.velocity);
        most.acceleration = fmax(most.acceleration, r.acceleration);
        most.max_error = fmax(most.max_error, r.max_error);
        most.newton_updates = r.newton_updates > most.newton_updates ? r.newton_updates : most.newton_updates;
        most.fixed_iterations += r.fixed_iterations;
    }
    return most;
}

static dls_alpha_options options_of(double dt, double rho) {
    dls_alpha_options o = dls_alpha_default_options();
    o.dt = dt, o.rho = rho, o.tolerance = o.tolerance_fixed = 1e-11;
    return o;
}

/* ---- a pendulum as a constraint: g = (q·q − 1)/2 ---- */

static void unit_mass(double t, const double *q, double *M, void *user) {
    (void)t, (void)q;
    int m = *(const int *)user;
    for (int i = 0; i < m; i++) M[i * (m + 1)] = 1;
}

static void weight(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)u, (void)user;
    h[1] = -G;
}

static void ring_value(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1);
}

static void ring_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    rate[0] = q[0] * u[0] + q[1] * u[1];
}

static void ring_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    (void)t, (void)q, (void)user;
    zeta[0] = u[0] * u[0] + u[1] * u[1];
}

static int two = 2, three = 3;

static dls_model pendulum(void) {
    dls_model model = {.coordinates = 2, .velocities = 2, .user = &two, .mass = unit_mass, .force = weight};
    model.rows[DLS_ROWS_G] =
        (dls_model_rows){.count = 1, .value = ring_value, .rate = ring_rate, .bend = ring_bend};
    return model;
}

/* Errors of q, u and λ at t = 1, from the horizontal. */
static void pendulum_errors(dls_alpha_options o, int steps, double *errors) {
    static const double q[2] = {1, 0}, u[2] = {0, 0};
    dls_model model = pendulum();
    o.dt = 1.0 / steps;
    dls_alpha *alpha = create(&model, &o, q, u);
    step_many(alpha, steps);
    dls_alpha_view v = dls_alpha_get(alpha);
    errors[0] = hypot(v.q[0] + 0.98629175, v.q[1] + 0.16501085);
    errors[1] = fabs(hypot(v.u[0], v.u[1]) - sqrt(2 * G * 0.16501085));
    errors[2] = fabs(v.force[DLS_ROWS_G][0] + 4.85626941);
    dls_alpha_destroy(alpha);
}

/* Second order in q, u and λ for every ρ_∞, in HHT and Newmark, from either start. */
static void test_pendulum_order(void **state) {
    (void)state;
    static const struct {
        double rho;
        int scheme, start;
    } rows[] = {{0, DLS_CHUNG_HULBERT, 1},  {0.5, DLS_CHUNG_HULBERT, 1}, {0.9, DLS_CHUNG_HULBERT, 1},
                {1, DLS_CHUNG_HULBERT, 1},  {0.8, DLS_HHT, 1},           {1, DLS_NEWMARK, 1},
                {0.5, DLS_CHUNG_HULBERT, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double coarse[3], fine[3];
        dls_alpha_options o = options_of(1, rows[i].rho);
        o.scheme = rows[i].scheme, o.start = rows[i].start;
        pendulum_errors(o, 200, coarse), pendulum_errors(o, 400, fine);
        for (int k = 0; k < 3; k++)
            if (!(log2(coarse[k] / fine[k]) >= 1.9))
                fail_msg("row %zu, error %d: order %g", i, k, log2(coarse[k] / fine[k]));
    }
}

static void spring(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)u, (void)user;
    h[0] = -q[0];
}

/* x″ = −x with ȧ₀ = −1: bars that begin where the scheme has them are nearer to sin 1. */
static void test_start(void **state) {
    (void)state;
    static const double q[1] = {0}, u[1] = {1};
    static int one = 1;
    double error[2];
    dls_model model = {.coordinates = 1, .velocities = 1, .user = &one, .mass = unit_mass, .force = spring};
    for (int start = 0; start < 2; start++) {
        dls_alpha_options o = options_of(1e-2, 0.2);
        o.start = start;
        dls_alpha *alpha = create(&model, &o, q, u);
        step_many(alpha, 100);
        error[start] = fabs(dls_alpha_get(alpha).q[0] - sin(1));
        dls_alpha_destroy(alpha);
    }
    assert_true(error[DLS_START_SHIFTED] < 0.7 * error[DLS_START_PLAIN]);
}

/* 1e5 steps: violations stay at the tolerance, the energy where it was. */
static void test_drift(void **state) {
    (void)state;
    static const double q[2] = {1, 0}, u[2] = {0, 0};
    dls_model model = pendulum();
    dls_alpha_options o = options_of(1e-3, 1);
    o.tolerance = 1e-9;
    dls_alpha *alpha = create(&model, &o, q, u);
    dls_alpha_report r = step_many(alpha, 100000);
    dls_alpha_view v = dls_alpha_get(alpha);
    assert_true(r.position <= 1e-8 && r.velocity <= 1e-8 && r.acceleration <= 1e-8);
    assert_near(0.5 * (v.u[0] * v.u[0] + v.u[1] * v.u[1]) + G * v.q[1], 0, 1e-3);
    assert_near(v.t, 100, 1e-9);
    dls_alpha_destroy(alpha);
}

/* ---- a skate on an incline: γ = −ẋ sin φ + ẏ cos φ ---- */

static void skate_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)u, (void)user;
    h[0] = 2;
}

static void skate_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    rate[0] = -u[0] * sin(q[2]) + u[1] * cos(q[2]);
}

static dls_model skate(void) {
    dls_model model = {
        .coordinates = 3, .velocities = 3, .user = &three, .mass = unit_mass, .force = skate_force};
    model.rows[DLS_ROWS_GAMMA] = (dls_model_rows){.count = 1, .rate = skate_rate};
    return model;
}

/* Pushed by 2 along x and turning by ω: a cycloid, x = (1/ω²) sin² ωt, y = (1/ω²)(ωt − ½ sin 2ωt). */
static double skate_error(double dt, dls_alpha_report *most) {
    static const double q[3] = {0, 0, 0}, u[3] = {0, 0, 3};
    dls_model model = skate();
    dls_alpha_options o = options_of(dt, 0.7);
    o.tolerance = 1e-9;
    dls_alpha *alpha = create(&model, &o, q, u);
    *most = step_many(alpha, (int)lround(1 / dt));
    dls_alpha_view v = dls_alpha_get(alpha);
    double s = sin(3), error = hypot(v.q[0] - s * s / 9, v.q[1] - (3 - 0.5 * sin(6)) / 9);
    dls_alpha_destroy(alpha);
    return error;
}

static void test_velocity_constraint(void **state) {
    (void)state;
    dls_alpha_report most;
    double coarse = skate_error(1e-2, &most), fine = skate_error(5e-3, &most);
    assert_true(log2(coarse / fine) >= 1.9 && fine < 1e-4);
    assert_true(most.velocity <= 1e-8 && most.acceleration <= 1e-8);
}

/* A disc rolls down: γ = ẋ − R φ̇, ẍ = ⅔ g sin α; fewer velocities than coordinates say the same. */
static void disc_mass(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    M[0] = 2, M[3] = 0.5 * 2 * 0.04;
}

static void disc_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)u, (void)user;
    h[0] = 2 * G * 0.5;
}

static void disc_rolls(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[0] - 0.2 * u[1];
}

static void rolled_mass(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    M[0] = 3;
}

static void rolled_motion(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[0], rate[1] = u[0] / 0.2;
}

static void test_rolling_disc(void **state) {
    (void)state;
    static const double zero[2] = {0, 0};
    dls_model held = {.coordinates = 2, .velocities = 2, .mass = disc_mass, .force = disc_force};
    held.rows[DLS_ROWS_GAMMA] = (dls_model_rows){.count = 1, .rate = disc_rolls};
    dls_model rolled = {
        .coordinates = 2, .velocities = 1, .mass = rolled_mass, .force = disc_force, .motion = rolled_motion};
    dls_alpha_options o = options_of(1e-2, 0.5);
    dls_alpha *a = create(&held, &o, zero, zero), *b = create(&rolled, &o, zero, zero);
    step_many(a, 100), step_many(b, 100);
    dls_alpha_view v = dls_alpha_get(a), w = dls_alpha_get(b);
    assert_near(v.q[0], G / 6, 1e-10);
    assert_near(v.q[1], G / 6 / 0.2, 1e-9);
    assert_near(v.force[DLS_ROWS_GAMMA][0], -2 * G / 6, 1e-9);
    assert_near(w.q[0], v.q[0], 1e-10);
    assert_near(w.q[1], v.q[1], 1e-9);
    dls_alpha_destroy(a), dls_alpha_destroy(b);
}

/* ---- a ball over the plane: q = (x, y, φ), γ_F = u_x + R u_φ ---- */

typedef struct ball {
    dls_model model;
    dls_model_contact contact;
    dls_model_friction law;
} ball;

static void ball_mass(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    M[0] = M[4] = 1, M[8] = 0.4 * 0.01;
}

static void plane_gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = q[1] - 0.1;
}

static void plane_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[1];
}

static void plane_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[0] + 0.1 * u[2];
}

static void ball_create(ball *b, double mu, double e_n, double e_t) {
    *b = (ball){.model = {.coordinates = 3,
                          .velocities = 3,
                          .mass = ball_mass,
                          .force = weight,
                          .contacts = &b->contact,
                          .law_count = 1,
                          .laws = &b->law},
                .contact = {.e_n = e_n},
                .law = {.contact = 0, .size = 1, .mu = mu, .e_t = e_t}};
    b->model.rows[DLS_ROWS_N] = (dls_model_rows){.count = 1, .value = plane_gap, .rate = plane_rate};
    b->model.rows[DLS_ROWS_F] = (dls_model_rows){.count = 1, .rate = plane_slip};
}

/* A superball: ġ⁺ = −e_N ġ⁻ and γ⁺ = −e_F γ⁻; Λ_F = −(1 + e_F) γ⁻/(7/2). */
static void test_superball(void **state) {
    (void)state;
    static const double q[3] = {0, 0.1001, 0}, u[3] = {1, -2, 30};
    for (int i = 0; i < 2; i++) {
        ball b;
        double e_t = i ? 1 : 0.4, slip = 4;
        ball_create(&b, 10, 0.9, e_t);
        dls_alpha_options o = options_of(1e-4, 0.5);
        dls_alpha *alpha = create(&b.model, &o, q, u);
        step_many(alpha, 10);
        dls_alpha_view v = dls_alpha_get(alpha);
        assert_near(v.u[1], 0.9 * 2, 0.9 * 2e-2);
        assert_near(v.u[0] + 0.1 * v.u[2], -e_t * slip, 1e-9);
        assert_near(v.u[0], 1 - (1 + e_t) * slip / 3.5, 1e-9);
        assert_near(v.u[2], 30 - (1 + e_t) * slip / 3.5 * 0.1 / 0.004, 1e-7);
        dls_alpha_destroy(alpha);
    }
}

/* A closed contact that approaches at the start begins with an impact; one that rests begins at rest. */
static void test_first_impact(void **state) {
    (void)state;
    static const double q[3] = {0, 0.1, 0}, u[3] = {1, -2, 0}, rest[3] = {0, 0, 0};
    ball b;
    ball_create(&b, 0.2, 0.5, 0);
    dls_alpha_options o = options_of(1e-3, 0.5);
    dls_alpha *alpha = create(&b.model, &o, q, u);
    dls_alpha_view v = dls_alpha_get(alpha);
    assert_near(v.u[1], 1, 1e-10);
    assert_near(v.percussion[DLS_ROWS_N][0], 3, 1e-10);
    assert_near(v.u[0] + 0.1 * v.u[2], 0, 1e-10);
    assert_near(v.a[1], -G, 1e-10);
    dls_alpha_destroy(alpha);
    alpha = create(&b.model, &o, q, rest);
    v = dls_alpha_get(alpha);
    assert_near(v.force[DLS_ROWS_N][0], G, 1e-10);
    assert_near(v.percussion[DLS_ROWS_N][0], 0, 1e-10);
    step_many(alpha, 10);
    assert_near(v.q[1], 0.1, 1e-12);
    dls_alpha_destroy(alpha);
}

/* ---- planar sliding along a ring: second order ---- */

static void ring_gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = 1 - hypot(q[0], q[1]);
}

static void ring_gap_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    rate[0] = -(q[0] * u[0] + q[1] * u[1]) / hypot(q[0], q[1]);
}

static void ring_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    rate[0] = (q[0] * u[1] - q[1] * u[0]) / hypot(q[0], q[1]);
}

static void no_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)u, (void)h, (void)user;
}

/* A point inside a ring without weight: v̇ = −μv²/R, so that its way is ln(1 + μ v₀ t)/μ. */
static double ring_error(double dt, dls_alpha_report *most) {
    static const double q[2] = {1, 0}, u[2] = {0, 3}, mu = 0.3;
    dls_model_contact contact = {0};
    dls_model_friction law = {.contact = 0, .size = 1, .mu = mu};
    dls_model model = {.coordinates = 2,
                       .velocities = 2,
                       .user = &two,
                       .mass = unit_mass,
                       .force = no_force,
                       .contacts = &contact,
                       .law_count = 1,
                       .laws = &law};
    model.rows[DLS_ROWS_N] = (dls_model_rows){.count = 1, .value = ring_gap, .rate = ring_gap_rate};
    model.rows[DLS_ROWS_F] = (dls_model_rows){.count = 1, .rate = ring_slip};
    dls_alpha_options o = options_of(dt, 0.6);
    o.tolerance = 1e-8;
    dls_alpha *alpha = create(&model, &o, q, u);
    *most = step_many(alpha, (int)lround(0.4 / dt));
    dls_alpha_view v = dls_alpha_get(alpha);
    double error = fabs(atan2(v.q[1], v.q[0]) - log(1 + mu * 3 * 0.4) / mu);
    dls_alpha_destroy(alpha);
    return error;
}

static void test_sliding_order(void **state) {
    (void)state;
    dls_alpha_report most;
    double coarse = ring_error(2e-3, &most), fine = ring_error(1e-3, &most);
    assert_true(log2(coarse / fine) >= 1.9 && fine < 1e-4);
    assert_true(most.position <= 1e-7 && most.velocity <= 1e-7 && most.acceleration <= 1e-7);
}

/* ---- laws ---- */

static double block_push[2];

static void block_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)u, (void)user;
    h[0] = block_push[0], h[1] = block_push[1], h[2] = -G;
}

static void block_gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = q[2];
}

static void block_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[2];
}

static void block_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[0], rate[1] = u[1];
}

/* The ellipse (z_x/a)² + (z_y/b)² ≤ N², its nearest point by Newton on Σ (c_i z_i/(c_i² + t))² = N². */
static const double semi[2] = {0.3, 0.15};

static void ellipse_project(int size, const double *z, double N, double *p, void *user) {
    (void)user;
    double t = 0;
    for (int k = 0; k < 100; k++) {
        double value = -N * N, slope = 0;
        for (int i = 0; i < size; i++) {
            double c = semi[i], d = c * c + t, part = c * z[i] / d;
            value += part * part, slope -= 2 * part * part / d;
        }
        if (k == 0 && value <= 0) break;
        if (!(fabs(value) > 1e-15 * N * N) || slope == 0) break;
        t -= value / slope;
    }
    for (int i = 0; i < size; i++) p[i] = N > 0 ? semi[i] * semi[i] * z[i] / (semi[i] * semi[i] + t) : 0;
}

static void ellipse_support(int size, const double *y, double *s, double *S, void *user) {
    (void)user;
    double length = 0;
    for (int i = 0; i < size; i++) length += semi[i] * semi[i] * y[i] * y[i];
    length = sqrt(length);
    for (int i = 0; i < size; i++) s[i] = semi[i] * semi[i] * y[i] / length;
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
            S[i + size * j] = ((i == j) * semi[i] * semi[i] - s[i] * s[j]) / length;
}

static void scaled_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = semi[0] * u[0], rate[1] = semi[1] * u[1];
}

static bool is_scaled;

/* Where a block of unit mass is after 0.5 s; fills its velocity too. */
static void slide_block(dls_model_friction *laws, int law_count, int residual, int solver, const double *u,
                        double *out) {
    static const double q[3] = {0, 0, 0};
    dls_model_contact contact = {0};
    dls_model model = {.coordinates = 3,
                       .velocities = 3,
                       .user = &three,
                       .mass = unit_mass,
                       .force = block_force,
                       .contacts = &contact,
                       .law_count = law_count,
                       .laws = laws};
    model.rows[DLS_ROWS_N] = (dls_model_rows){.count = 1, .value = block_gap, .rate = block_rate};
    model.rows[DLS_ROWS_F] = (dls_model_rows){.count = 2, .rate = is_scaled ? scaled_slip : block_slip};
    dls_alpha_options o = options_of(1e-3, 0.5);
    o.tolerance = o.tolerance_fixed = 1e-9;
    o.residual = residual, o.solver = solver;
    dls_alpha *alpha = create(&model, &o, q, u);
    step_many(alpha, 500);
    dls_alpha_view v = dls_alpha_get(alpha);
    memcpy(out, v.q, 2 * sizeof *out), memcpy(out + 2, v.u, 2 * sizeof *out);
    dls_alpha_destroy(alpha);
}

/* Two laws of one contact are a box: each way stops by itself, after v²/2a. */
static void test_two_laws(void **state) {
    (void)state;
    static const double u[3] = {1, 0.5, 0};
    dls_model_friction laws[2] = {{.contact = 0, .size = 1, .mu = 0.3}, {.contact = 0, .size = 1, .mu = 0.3}};
    double a = 0.3 * G, out[4];
    block_push[0] = block_push[1] = 0;
    for (int way = 0; way < 4; way++) {
        slide_block(laws, 2, way % 2, way / 2, u, out);
        assert_near(out[0], 0.5 / a, 1e-3);
        assert_near(out[1], 0.125 / a, 1e-3);
        assert_near(hypot(out[2], out[3]), 0, 1e-6);
    }
}

/* A reservoir of one's own: an ellipse, beside the unit ball over scaled rows. */
static void test_reservoir(void **state) {
    (void)state;
    static const dls_reservoir ellipse = {ellipse_project, ellipse_support};
    static const double u[3] = {1, 0.5, 0};
    dls_model_friction own = {.contact = 0, .size = 2, .mu = 1, .reservoir = &ellipse};
    dls_model_friction ball_law = {.contact = 0, .size = 2, .mu = 1};
    double first[4], out[4];
    block_push[0] = 0.1, block_push[1] = -0.2;
    is_scaled = true;
    slide_block(&ball_law, 1, DLS_ALPHA_SETS, DLS_ALPHA_NEWTON, u, first);
    is_scaled = false;
    assert_true(fabs(first[1] - 0.5 * first[0]) > 0.02); /* a ball over equal rows keeps the direction */
    for (int way = 0; way < 4; way++) {
        slide_block(&own, 1, way % 2, way / 2, u, out);
        for (int i = 0; i < 4; i++) assert_near(out[i], first[i], 1e-5);
    }
}

/* A law without contact is dry friction of a joint: |λ_F| ≤ limit. */
static void test_dry_friction(void **state) {
    (void)state;
    static const double u[3] = {1, 0.2, 0};
    dls_model_friction laws[2] = {{.contact = -1, .size = 1, .mu = 1, .limit = 3}, {.contact = 0, .size = 1}};
    double out[4];
    block_push[0] = 1, block_push[1] = 0;
    slide_block(laws, 2, DLS_ALPHA_SETS, DLS_ALPHA_NEWTON, u, out);
    assert_near(out[0], 0.25, 1e-3);
    assert_near(out[2], 0, 1e-6);
    assert_near(out[1], 0.1, 1e-9);
}

/* Spatial Coulomb friction turns the velocity to where it is pushed; isotropic, so |λ_F| = μ m g while it
 * slides. */
static void test_spatial_sliding(void **state) {
    (void)state;
    static const double u[3] = {2, 0, 0};
    double along[4], turned[4], s = sqrt(0.5);
    dls_model_friction law = {.contact = 0, .size = 2, .mu = 0.2};
    block_push[0] = block_push[1] = 0;
    slide_block(&law, 1, DLS_ALPHA_SETS, DLS_ALPHA_NEWTON, u, along);
    slide_block(&law, 1, DLS_ALPHA_SETS, DLS_ALPHA_NEWTON, (double[3]){2 * s, 2 * s, 0}, turned);
    assert_near(along[2], 2 - 0.2 * G * 0.5, 1e-8);
    assert_near(along[0], 1 - 0.5 * 0.2 * G * 0.25, 1e-8);
    assert_near(turned[0], s * along[0], 1e-8);
    assert_near(turned[1], s * along[0], 1e-8);
}

/* ---- a block on a plate that shakes along x: directions turn where it moves across, and reverse where not
 * ---- */

static void shaken_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)q, (void)u, (void)user;
    h[2] = -G * (1 + 0.3 * sin(7 * t));
}

static void shaken_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)q, (void)user;
    rate[0] = u[0] - cos(9 * t), rate[1] = u[1];
}

static void shake(double across, int slip, double dt, double *q) {
    const double start[3] = {0, 0, 0}, u[3] = {0, across, 0};
    dls_model_contact contact = {0};
    dls_model_friction law = {.contact = 0, .size = 2, .mu = 0.2};
    dls_model model = {.coordinates = 3,
                       .velocities = 3,
                       .user = &three,
                       .mass = unit_mass,
                       .force = shaken_force,
                       .contacts = &contact,
                       .law_count = 1,
                       .laws = &law};
    model.rows[DLS_ROWS_N] = (dls_model_rows){.count = 1, .value = block_gap, .rate = block_rate};
    model.rows[DLS_ROWS_F] = (dls_model_rows){.count = 2, .rate = shaken_slip};
    dls_alpha_options o = options_of(dt, 0.5);
    o.slip = slip, o.tolerance = 1e-10;
    dls_alpha *alpha = create(&model, &o, start, u);
    step_many(alpha, (int)lround(2 / dt));
    memcpy(q, dls_alpha_get(alpha).q, 2 * sizeof *q);
    dls_alpha_destroy(alpha);
}

static double order_across(int slip) {
    double q[3][2];
    for (int i = 0; i < 3; i++) shake(3, slip, ldexp(4e-3, -i), q[i]);
    return log2(hypot(q[0][0] - q[1][0], q[0][1] - q[1][1]) / hypot(q[1][0] - q[2][0], q[1][1] - q[2][1]));
}

/* Errors at reversals, against −0.226173 of 200,000 steps by either form, summed over four steps. */
static double error_along(int slip) {
    double sum = 0, q[2];
    for (int i = 0; i < 4; i++) shake(0, slip, ldexp(4e-3, -i), q), sum += fabs(q[0] + 0.226173);
    return sum;
}

/* Switched is split where directions turn, and no worse than the end's direction where they reverse. */
static void test_switch(void **state) {
    (void)state;
    assert_near(order_across(DLS_SLIP_END), 1, 0.1);
    assert_near(order_across(DLS_SLIP_SPLIT), 2, 0.05);
    assert_near(order_across(DLS_SLIP_SWITCHED), 2, 0.05);
    double end = error_along(DLS_SLIP_END), split = error_along(DLS_SLIP_SPLIT);
    double switched = error_along(DLS_SLIP_SWITCHED);
    assert_true(switched <= end && 2 * switched <= split);
}

/* ---- ways that must agree ---- */

/* The ball falls, slides and rolls the same by sets, by projections, by fixed points, with either Jacobian,
 * and with Λ_N, κ_N in place of P_N, κ̂ to what the paper calls minimal differences. */
static void test_ways_agree(void **state) {
    (void)state;
    static const double q[3] = {0, 0.2, 0}, u[3] = {0, 0, 40};
    double first[6] = {0};
    for (int way = 0; way < 6; way++) {
        ball b;
        ball_create(&b, 0.2, 0, 0);
        dls_alpha_options o = options_of(1e-3, 0.5);
        o.tolerance = o.tolerance_fixed = 1e-9;
        if (way == 1) o.residual = DLS_ALPHA_PROX;
        if (way == 2) o.solver = DLS_ALPHA_FIXED_POINT;
        if (way == 3) o.jacobian = DLS_JACOBIAN_DIFFERENCES;
        if (way == 4) o.open = DLS_OPEN_MULTIPLIER;
        if (way == 5) b.contact.r = 0.3, b.law.r = 0.1;
        dls_alpha *alpha = create(&b.model, &o, q, u);
        dls_alpha_report most = step_many(alpha, 1000);
        dls_alpha_view v = dls_alpha_get(alpha);
        assert_true((most.fixed_iterations > 0) == (way == 2));
        for (int i = 0; i < 3; i++) {
            if (way == 0) first[i] = v.q[i], first[3 + i] = v.u[i];
            assert_near(v.q[i], first[i], 1e-7);
            assert_near(v.u[i], first[3 + i], 1e-7);
        }
        dls_alpha_destroy(alpha);
    }
}

/* ---- states ---- */

static void test_state(void **state) {
    (void)state;
    static const double q[3] = {0, 0.2, 0}, u[3] = {0, 0, 40};
    ball b;
    dls_error error;
    ball_create(&b, 0.2, 0.5, 0);
    dls_alpha_options o = options_of(1e-3, 0.9);
    dls_alpha *whole = create(&b.model, &o, q, u), *resumed = create(&b.model, &o, q, u);
    step_many(whole, 333);
    size_t size = dls_alpha_state_size(whole);
    char *bytes = malloc(size), *damaged = malloc(size), *end = malloc(size), *other = malloc(size);
    dls_alpha_state_write(whole, bytes);
    assert_int_equal(dls_alpha_state_read(resumed, bytes, size, &error), DLS_OK);
    step_many(whole, 300), step_many(resumed, 300);
    dls_alpha_state_write(whole, end), dls_alpha_state_write(resumed, other);
    assert_memory_equal(end, other, size);
    assert_int_equal(dls_alpha_state_read(resumed, bytes, size - 1, &error), DLS_ERROR_INPUT);
    for (size_t i = 0; i < size; i++) { /* refused, or another state; never a crash */
        memcpy(damaged, bytes, size);
        damaged[i] = (char)(damaged[i] ^ 0x7f);
        if (dls_alpha_state_read(resumed, damaged, size, &error)) assert_true(error.message[0]);
    }
    memset(damaged, 0xff, size);
    assert_int_equal(dls_alpha_state_read(resumed, damaged, size, &error), DLS_ERROR_INPUT);
    free(bytes), free(damaged), free(end), free(other);
    dls_alpha_destroy(whole), dls_alpha_destroy(resumed);
}

/* ---- refusals ---- */

static void no_number(double t, const double *q, const double *u, double *h, void *user) {
    (void)q, (void)u, (void)user;
    h[0] = t > 0.05 ? NAN : 1;
}

static void never(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)u, (void)user;
    rate[0] = NAN;
}

static void wrong_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    ring_bend(t, q, u, zeta, user);
    zeta[0] *= 1.01;
}

static void wrong_slope(double t, const double *q, double *S, void *user) {
    (void)t, (void)user;
    S[0] = q[0], S[1] = -q[1];
}

static void singular_mass(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    M[0] = 1;
}

static void refuses_start(const dls_model *model, const double *q, const double *u, const char *part) {
    dls_error error;
    dls_alpha *alpha;
    dls_alpha_options o = options_of(1e-2, 0.5);
    assert_int_not_equal(dls_alpha_create(model, &o, 0, q, u, &alpha, &error), DLS_OK);
    assert_null(alpha);
    if (!strstr(error.message, part)) fail_msg("'%s', expected '%s'", error.message, part);
}

static void refuses(const dls_model *model, const char *part) {
    static const double q[3] = {0.6, 0.8, 0}, u[3] = {0.8, -0.6, 0};
    refuses_start(model, q, u, part);
}

static void test_refusals(void **state) {
    (void)state;
    dls_model model = pendulum();
    model.rows[DLS_ROWS_G].rate = never;
    refuses(&model, "rate of g");
    model = pendulum(), model.rows[DLS_ROWS_G].value = NULL;
    refuses(&model, "g has no value");
    model = pendulum(), model.force = NULL;
    refuses(&model, "mass and force");
    model = pendulum(), model.coordinates = 3;
    refuses(&model, "expected motion");
    model = pendulum(), model.mass = singular_mass;
    refuses(&model, "mass");
    model = pendulum(), model.user = &two;
    refuses_start(&model, (double[2]){0.6, 0.9}, (double[2]){0.8, -0.6}, "value of row 0 of g is");
    refuses_start(&model, (double[2]){0.6, 0.8}, (double[2]){0.8, 0.6}, "rate of row 0 of g is 0.96");
    dls_model_friction law = {.contact = 0, .size = 1, .mu = 0.1};
    model = pendulum(), model.law_count = 1, model.laws = &law;
    refuses(&model, "law 0: contact 0");
    law.contact = -1;
    refuses(&model, "laws have 1 rows");
    law.mu = -1;
    refuses(&model, "mu -1");
}

static void test_wrong_slopes(void **state) {
    (void)state;
    static const double q[2] = {0.6, 0.8}, u[2] = {0.8, -0.6};
    dls_error error;
    dls_model model = pendulum();
    assert_int_equal(dls_model_check(&model, 0, q, u, 0, &error), DLS_OK);
    model.rows[DLS_ROWS_G].bend = wrong_bend;
    assert_int_equal(dls_model_check(&model, 0, q, u, 0, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "bend of g"));
    model = pendulum(), model.rows[DLS_ROWS_G].value_slope = wrong_slope;
    assert_int_equal(dls_model_check(&model, 0, q, u, 0, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "value_slope of g"));
}

/* A step that cannot be taken names the callback and leaves the state as it was. */
static void test_failed_step(void **state) {
    (void)state;
    static const double q[2] = {0, 0}, u[2] = {0, 0};
    dls_error error;
    dls_model model = {
        .coordinates = 2, .velocities = 2, .user = &two, .mass = unit_mass, .force = no_number};
    dls_alpha_options o = options_of(1e-2, 0.5);
    dls_alpha *alpha = create(&model, &o, q, u);
    step_many(alpha, 5);
    dls_alpha_view before = dls_alpha_get(alpha);
    double x = before.q[0];
    assert_int_equal(dls_alpha_step(alpha, NULL, &error), DLS_ERROR_NUMERIC);
    assert_non_null(strstr(error.message, "force"));
    assert_true(dls_alpha_get(alpha).q[0] == x && dls_alpha_get(alpha).t == before.t);
    dls_alpha_destroy(alpha);
}

static void test_bad_options(void **state) {
    (void)state;
    static const double q[2] = {1, 0}, u[2] = {0, 0};
    dls_error error;
    dls_alpha *alpha;
    dls_model model = pendulum();
    dls_alpha_options o = options_of(1e-2, 1.5);
    assert_int_equal(dls_alpha_create(&model, &o, 0, q, u, &alpha, &error), DLS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "rho"));
    o.rho = 0.2, o.scheme = DLS_HHT;
    assert_int_equal(dls_alpha_create(&model, &o, 0, q, u, &alpha, &error), DLS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "hht"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum_order), cmocka_unit_test(test_start),
        cmocka_unit_test(test_drift),          cmocka_unit_test(test_velocity_constraint),
        cmocka_unit_test(test_rolling_disc),   cmocka_unit_test(test_superball),
        cmocka_unit_test(test_first_impact),   cmocka_unit_test(test_sliding_order),
        cmocka_unit_test(test_two_laws),       cmocka_unit_test(test_reservoir),
        cmocka_unit_test(test_dry_friction),   cmocka_unit_test(test_spatial_sliding),
        cmocka_unit_test(test_switch),         cmocka_unit_test(test_ways_agree),
        cmocka_unit_test(test_state),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_wrong_slopes),   cmocka_unit_test(test_failed_step),
        cmocka_unit_test(test_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
