/* The tippe top, (156) and (157): q = (r_S, p) with a unit quaternion p, u = (v_S, Ω in body axes). */
#include "experiments/capobianco/models.h"

#include <math.h>

enum { SPHERES = 2 };

static const double sphere_radius[SPHERES] = {1.5e-2, 5e-3}, sphere_place[SPHERES] = {3e-3, 1.6e-2};
static const double top_mass = 6e-3, inertia[3] = {8e-7, 8e-7, 7e-7}, patch = 5e-4, top_gravity = 9.81;

/* Axes of the body as columns; p need not have unit length within an iteration. */
static void axes_at(const double *q, double A[3][3]) {
    double s = 1 / sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
    double w = s * q[3], x = s * q[4], y = s * q[5], z = s * q[6];
    A[0][0] = 1 - 2 * (y * y + z * z), A[1][0] = 2 * (x * y - w * z), A[2][0] = 2 * (x * z + w * y);
    A[0][1] = 2 * (x * y + w * z), A[1][1] = 1 - 2 * (x * x + z * z), A[2][1] = 2 * (y * z - w * x);
    A[0][2] = 2 * (x * z - w * y), A[1][2] = 2 * (y * z + w * x), A[2][2] = 1 - 2 * (x * x + y * y);
}

static void cross(const double *a, const double *b, double *r) {
    r[0] = a[1] * b[2] - a[2] * b[1], r[1] = a[2] * b[0] - a[0] * b[2], r[2] = a[0] * b[1] - a[1] * b[0];
}

/* ω in resting axes. */
static void spin_at(double A[3][3], const double *u, double *w) {
    for (int i = 0; i < 3; i++) w[i] = A[0][i] * u[3] + A[1][i] * u[4] + A[2][i] * u[5];
}

double tippe_top_angle(const double *q) {
    double A[3][3];
    axes_at(q, A);
    return atan2(hypot(A[2][0], A[2][1]), A[2][2]);
}

double tippe_top_energy(const double *q, const double *u) {
    double energy = top_mass * top_gravity * q[2];
    for (int i = 0; i < 3; i++) energy += 0.5 * (top_mass * u[i] * u[i] + inertia[i] * u[3 + i] * u[3 + i]);
    return energy;
}

static void top_mass_matrix(double t, const double *q, double *M, void *user) {
    (void)t, (void)q, (void)user;
    for (int i = 0; i < 3; i++) M[7 * i] = top_mass, M[7 * (3 + i)] = inertia[i];
}

static void top_force(double t, const double *q, const double *u, double *h, void *user) {
    (void)t, (void)q, (void)user;
    double L[3] = {inertia[0] * u[3], inertia[1] * u[4], inertia[2] * u[5]};
    h[2] = -top_mass * top_gravity;
    cross(L, u + 3, h + 3);
}

static void no_slope(double t, const double *q, const double *x, double *S, void *user) {
    (void)t, (void)q, (void)x, (void)S, (void)user;
}

/* ṗ = ½ p ∘ (0, Ω) */
static void top_motion(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    const double *p = q + 3, *w = u + 3;
    for (int i = 0; i < 3; i++) rate[i] = u[i];
    rate[3] = -0.5 * (p[1] * w[0] + p[2] * w[1] + p[3] * w[2]);
    rate[4] = 0.5 * (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]);
    rate[5] = 0.5 * (p[0] * w[1] + p[3] * w[0] - p[1] * w[2]);
    rate[6] = 0.5 * (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]);
}

/* d²p/dt² = −¼|Ω|² p at Ω̇ = 0 */
static void top_motion_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    (void)t, (void)user;
    double speed = u[3] * u[3] + u[4] * u[4] + u[5] * u[5];
    for (int i = 3; i < 7; i++) zeta[i] = -0.25 * speed * q[i];
}

static void top_settle(double t, double *q, void *user) {
    (void)t, (void)user;
    double s = 1 / sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
    for (int i = 3; i < 7; i++) q[i] *= s;
}

static void top_gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    double A[3][3];
    axes_at(q, A);
    for (int k = 0; k < SPHERES; k++) g[k] = q[2] + sphere_place[k] * A[2][2] - sphere_radius[k];
}

/* Velocity of the point of sphere k that touches: v_C − R Ω×e_z. */
static void point_velocity(double A[3][3], const double *u, int k, double *v, double *w) {
    double arm[3], turned[3];
    spin_at(A, u, w);
    for (int i = 0; i < 3; i++) arm[i] = sphere_place[k] * A[2][i] - (i == 2 ? sphere_radius[k] : 0);
    cross(w, arm, turned);
    for (int i = 0; i < 3; i++) v[i] = u[i] + turned[i];
}

/* ω×(ω×a d): with Ω held, ω rests too. */
static void point_bend(double A[3][3], const double *u, int k, double *bend) {
    double w[3], arm[3], turned[3];
    spin_at(A, u, w);
    for (int i = 0; i < 3; i++) arm[i] = sphere_place[k] * A[2][i];
    cross(w, arm, turned);
    cross(w, turned, bend);
}

/* Force direction e at the point of sphere k: (e, Aᵀ(arm×e)). */
static void point_direction(double A[3][3], int k, const double *e, double *W) {
    double arm[3], turned[3];
    for (int i = 0; i < 3; i++)
        arm[i] = sphere_place[k] * A[2][i] - (i == 2 ? sphere_radius[k] : 0), W[i] = e[i];
    cross(arm, e, turned);
    for (int i = 0; i < 3; i++) W[3 + i] = A[i][0] * turned[0] + A[i][1] * turned[1] + A[i][2] * turned[2];
}

static void top_gap_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    double A[3][3], v[3], w[3];
    axes_at(q, A);
    for (int k = 0; k < SPHERES; k++) point_velocity(A, u, k, v, w), rate[k] = v[2];
}

static void top_gap_direction(double t, const double *q, double *W, void *user) {
    (void)t, (void)user;
    double A[3][3];
    axes_at(q, A);
    for (int k = 0; k < SPHERES; k++) point_direction(A, k, (double[3]){0, 0, 1}, W + 6 * k);
}

static void top_gap_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    (void)t, (void)user;
    double A[3][3], bend[3];
    axes_at(q, A);
    for (int k = 0; k < SPHERES; k++) point_bend(A, u, k, bend), zeta[k] = bend[2];
}

static void top_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)user;
    double A[3][3], v[3], w[3];
    axes_at(q, A);
    for (int k = 0; k < SPHERES; k++) {
        point_velocity(A, u, k, v, w);
        rate[3 * k] = v[0], rate[3 * k + 1] = v[1];
        rate[3 * k + 2] = 3 * M_PI * patch / 16 * w[2];
    }
}

static void top_slip_direction(double t, const double *q, double *W, void *user) {
    (void)t, (void)user;
    double A[3][3];
    axes_at(q, A);
    for (int k = 0; k < SPHERES; k++) {
        point_direction(A, k, (double[3]){1, 0, 0}, W + 18 * k);
        point_direction(A, k, (double[3]){0, 1, 0}, W + 18 * k + 6);
        for (int i = 0; i < 3; i++) W[18 * k + 12 + 3 + i] = 3 * M_PI * patch / 16 * A[i][2];
    }
}

static void top_slip_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    (void)t, (void)user;
    double A[3][3], bend[3];
    axes_at(q, A);
    for (int k = 0; k < SPHERES; k++)
        point_bend(A, u, k, bend), zeta[3 * k] = bend[0], zeta[3 * k + 1] = bend[1];
}

void benchmark_tippe_top(benchmark *b) {
    static const double tilt = 0.1;
    benchmark_begin(b, 7, 6, SPHERES, 3);
    dls_model *m = &b->model;
    m->mass = top_mass_matrix, m->force = top_force, m->mass_slope = no_slope;
    m->motion = top_motion, m->motion_bend = top_motion_bend, m->settle = top_settle;
    m->rows[DLS_ROWS_N].value = top_gap, m->rows[DLS_ROWS_N].rate = top_gap_rate;
    m->rows[DLS_ROWS_N].direction = top_gap_direction, m->rows[DLS_ROWS_N].bend = top_gap_bend;
    m->rows[DLS_ROWS_F].rate = top_slip;
    m->rows[DLS_ROWS_F].direction = top_slip_direction, m->rows[DLS_ROWS_F].bend = top_slip_bend;
    for (int k = 0; k < SPHERES; k++) b->laws[k].mu = 0.3;
    b->q[2] = sphere_radius[0] - sphere_place[0] * cos(tilt);
    b->q[3] = cos(tilt / 2), b->q[4] = sin(tilt / 2);
    b->u[5] = 180;
    benchmark_parameters(b, 0.001, 1e-3, 0.5, 1e-6, 8);
}
