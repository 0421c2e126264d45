/* Planar balls and the rod of Painlevé: (147) to (152). */
#include "experiments/capobianco/models.h"

#include <math.h>

static const double ball_radius = 0.1, ball_mass = 1, gravity = 9.81;

/* ---- what all share ---- */

void benchmark_begin(benchmark *b, int coordinates, int velocities, int contacts, int friction_rows) {
    *b = (benchmark){.model = {.coordinates = coordinates,
                               .velocities = velocities,
                               .contacts = b->contacts,
                               .law_count = contacts,
                               .laws = b->laws},
                     .options = dls_alpha_default_options()};
    b->model.rows[DLS_ROWS_N].count = contacts;
    b->model.rows[DLS_ROWS_F].count = contacts * friction_rows;
    for (int k = 0; k < contacts; k++) b->laws[k] = (dls_model_friction){.contact = k, .size = friction_rows};
    b->options.start = DLS_START_PLAIN;
    b->options.slip = DLS_SLIP_END;
}

void benchmark_parameters(benchmark *b, double r, double dt, double rho, double tolerance, double end) {
    b->options.r = r, b->options.dt = dt, b->options.rho = rho;
    b->options.tolerance = b->options.tolerance_fixed = tolerance;
    b->options.max_newton = 100;
    b->end = end;
}

static void no_mass_slope(double t, const double *q, const double *x, double *S, void *user) {
    (void)t, (void)q, (void)x, (void)S, (void)user;
}

static void no_force_slope(double t, const double *q, const double *u, double *Sq, double *Su, void *user) {
    (void)t, (void)q, (void)u, (void)Sq, (void)Su, (void)user;
}

/* ---- 10.1: a ball on a plane ---- */

static void ball_mass_matrix(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    M[0] = M[4] = ball_mass, M[8] = 0.4 * ball_mass * ball_radius * ball_radius;
}

static void ball_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)u, (void)user;
    h[1] = -ball_mass * gravity;
}

double ball_energy(const double *q, const double *u) {
    double inertia = 0.4 * ball_mass * ball_radius * ball_radius;
    return 0.5 * ball_mass * (u[0] * u[0] + u[1] * u[1]) + 0.5 * inertia * u[2] * u[2] +
           ball_mass * gravity * q[1];
}

static void no_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    (void)t, (void)q, (void)u, (void)zeta, (void)user;
}

static void plane_gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = q[1] - ball_radius;
}

static void plane_gap_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[1];
}

static void plane_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[0] + ball_radius * u[2];
}

static void begin_ball(benchmark *b, int contacts) {
    benchmark_begin(b, 3, 3, contacts, 1);
    b->model.mass = ball_mass_matrix, b->model.force = ball_force;
    b->model.mass_slope = no_mass_slope, b->model.force_slope = no_force_slope;
}

void benchmark_bouncing_ball(benchmark *b, double spin, double e_n) {
    begin_ball(b, 1);
    dls_model_rows *normal = &b->model.rows[DLS_ROWS_N], *slip = &b->model.rows[DLS_ROWS_F];
    normal->value = plane_gap, normal->rate = plane_gap_rate, normal->bend = no_bend;
    slip->rate = plane_slip, slip->bend = no_bend;
    b->contacts[0].e_n = e_n;
    b->laws[0].mu = 0.2;
    b->q[1] = 1, b->u[2] = spin;
    benchmark_parameters(b, 0.3, 2e-3, 0.5, 1e-6, 2);
}

/* ---- 10.2: in a corner of two planes at 45° ---- */

static void corner_gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = (-q[0] + q[1]) * sqrt(0.5) - ball_radius;
    g[1] = (q[0] + q[1]) * sqrt(0.5) - ball_radius;
}

static void corner_gap_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = (-u[0] + u[1]) * sqrt(0.5);
    rate[1] = (u[0] + u[1]) * sqrt(0.5);
}

static void corner_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = (u[0] + u[1]) * sqrt(0.5) + ball_radius * u[2];
    rate[1] = (u[0] - u[1]) * sqrt(0.5) + ball_radius * u[2];
}

void benchmark_corner(benchmark *b) {
    begin_ball(b, 2);
    dls_model_rows *normal = &b->model.rows[DLS_ROWS_N], *slip = &b->model.rows[DLS_ROWS_F];
    normal->value = corner_gap, normal->rate = corner_gap_rate, normal->bend = no_bend;
    slip->rate = corner_slip, slip->bend = no_bend;
    b->contacts[0].e_n = 0.5;
    b->laws[0].mu = b->laws[1].mu = 0.3;
    b->q[0] = -0.5, b->q[1] = 1;
    benchmark_parameters(b, 0.2, 1e-4, 0.5, 1e-6, 1.6);
}

/* ---- 10.3: in a cylinder of radius 1 about (0, 1) ---- */

typedef struct cylinder_frame {
    double distance, n[2], across, along; /* of the axis; n·v, t·v with t = (n_y, −n_x) */
} cylinder_frame;

static cylinder_frame frame_at(const double *q, const double *u) {
    cylinder_frame f = {.distance = hypot(q[0], 1 - q[1])};
    f.n[0] = -q[0] / f.distance, f.n[1] = (1 - q[1]) / f.distance;
    if (u) f.across = f.n[0] * u[0] + f.n[1] * u[1], f.along = f.n[1] * u[0] - f.n[0] * u[1];
    return f;
}

static void cylinder_gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = 1 - ball_radius - frame_at(q, 0).distance;
}

static void cylinder_gap_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    rate[0] = frame_at(q, u).across;
}

/* ṅ·v with ṅ = (−v + n (n·v))/|r| */
static void cylinder_gap_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    (void)t, (void)user;
    cylinder_frame f = frame_at(q, u);
    zeta[0] = -f.along * f.along / f.distance;
}

static void cylinder_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    rate[0] = frame_at(q, u).along + ball_radius * u[2];
}

static void cylinder_slip_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    (void)t, (void)user;
    cylinder_frame f = frame_at(q, u);
    zeta[0] = f.across * f.along / f.distance;
}

void benchmark_cylinder(benchmark *b) {
    begin_ball(b, 1);
    dls_model_rows *normal = &b->model.rows[DLS_ROWS_N], *slip = &b->model.rows[DLS_ROWS_F];
    normal->value = cylinder_gap, normal->rate = cylinder_gap_rate, normal->bend = cylinder_gap_bend;
    slip->rate = cylinder_slip, slip->bend = cylinder_slip_bend;
    b->laws[0].mu = 0.1;
    b->q[0] = -0.9, b->q[1] = 1;
    benchmark_parameters(b, 0.3, 1e-2, 0.5, 1e-6, 10);
}

/* ---- 10.4: the rod of Painlevé, φ clockwise ---- */

static void rod_mass_matrix(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    M[0] = M[4] = 1, M[8] = 1.0 / 3;
}

static void rod_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)u, (void)user;
    h[1] = -10;
}

double rod_energy(const double *q, const double *u) {
    return 0.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2] / 3) + 10 * q[1];
}

static void rod_gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = q[1] - sin(q[2]);
}

static void rod_gap_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    rate[0] = u[1] - u[2] * cos(q[2]);
}

static void rod_gap_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    (void)t, (void)user;
    zeta[0] = u[2] * u[2] * sin(q[2]);
}

static void rod_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    rate[0] = u[0] - u[2] * sin(q[2]);
}

static void rod_slip_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    (void)t, (void)user;
    zeta[0] = -u[2] * u[2] * cos(q[2]);
}

void benchmark_painleve(benchmark *b) {
    static const double slope = 31 * M_PI / 180;
    benchmark_begin(b, 3, 3, 1, 1);
    dls_model_rows *normal = &b->model.rows[DLS_ROWS_N], *slip = &b->model.rows[DLS_ROWS_F];
    b->model.mass = rod_mass_matrix, b->model.force = rod_force;
    b->model.mass_slope = no_mass_slope, b->model.force_slope = no_force_slope;
    normal->value = rod_gap, normal->rate = rod_gap_rate, normal->bend = rod_gap_bend;
    slip->rate = rod_slip, slip->bend = rod_slip_bend;
    b->laws[0].mu = 5.0 / 3;
    b->q[1] = sin(slope), b->q[2] = slope;
    b->u[0] = 30;
    benchmark_parameters(b, 0.1, 8e-4, 0.9, 1e-8, 0.9);
}

/* ---- a block on a shaken plate ---- */

static void block_mass_matrix(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    M[0] = M[4] = M[8] = 1;
}

static void block_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)q, (void)u, (void)user;
    h[2] = -gravity * (1 + 0.3 * sin(7 * t));
}

static void block_gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = q[2];
}

static void block_gap_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[2];
}

static void block_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)q, (void)user;
    rate[0] = u[0] - cos(9 * t), rate[1] = u[1];
}

void benchmark_shaken_block(benchmark *b, double across) {
    benchmark_begin(b, 3, 3, 1, 2);
    dls_model_rows *normal = &b->model.rows[DLS_ROWS_N], *slip = &b->model.rows[DLS_ROWS_F];
    b->model.mass = block_mass_matrix, b->model.force = block_force;
    b->model.mass_slope = no_mass_slope, b->model.force_slope = no_force_slope;
    normal->value = block_gap, normal->rate = block_gap_rate, normal->bend = no_bend;
    slip->rate = block_slip;
    b->laws[0].mu = 0.2;
    b->u[1] = across;
    benchmark_parameters(b, 0.5, 4e-3, 0.5, 1e-10, 2);
}
