/* The guided hopper, (153) to (155): q = (y, control points of the beam). The rod from hip to knee is driven
 * by α(t) from the downward vertical, the beam's end by β(t) counter-clockwise from the rod. */
#include "experiments/capobianco/models.h"

#include <math.h>
#include <string.h>

enum { FREEDOMS = 1 + 2 * BEAM_CONTROLS, ELEMENTS = 2, GAUSS = 5, KNEE_ROWS = 3 };

static const double trunk = 3, rod_mass = 1.56, length = 0.2;
static const double line_density = 0.71, fall = 9.81;

/* ---- the beam: B-splines of degree 2 over two elements ---- */

/* N of an open knot vector {0, 0, 0, ½, 1, 1, 1} and its derivatives; element 1 mirrors element 0. */
static void shape_at(int element, double s, double shape[3][BEAM_CONTROLS]) {
    double x = element ? 1 - s : s, sign = element ? -1 : 1;
    double value[3] = {(1 - x) * (1 - x), 2 * x - 1.5 * x * x, 0.5 * x * x};
    double slope[3] = {-2 * (1 - x), 2 - 3 * x, x}, bend[3] = {2, -3, 1};
    memset(shape, 0, sizeof(double) * 3 * BEAM_CONTROLS);
    for (int i = 0; i < 3; i++) {
        int control = element ? BEAM_CONTROLS - 1 - i : i;
        shape[0][control] = value[i];
        shape[1][control] = sign * slope[i] * ELEMENTS;
        shape[2][control] = bend[i] * ELEMENTS * ELEMENTS;
    }
}

static void fill_table(beam_table *beam) {
    static const double place[GAUSS] = {-0.90617984593866399, -0.53846931010568309, 0, 0.53846931010568309,
                                        0.90617984593866399};
    static const double weight[GAUSS] = {0.23692688505618909, 0.47862867049936647, 0.56888888888888889,
                                         0.47862867049936647, 0.23692688505618909};
    for (int e = 0; e < ELEMENTS; e++)
        for (int k = 0; k < GAUSS; k++) {
            shape_at(e, 0.5 * (1 + place[k]), beam->shape[GAUSS * e + k]);
            beam->weight[GAUSS * e + k] = 0.5 * weight[k] / ELEMENTS;
        }
}

/* r, r′ or r″ at Gauss point k. */
static void curve_at(const beam_table *beam, int k, int order, const double *controls, double *r) {
    r[0] = r[1] = 0;
    for (int i = 0; i < BEAM_CONTROLS; i++)
        for (int d = 0; d < 2; d++) r[d] += beam->shape[k][order][i] * controls[2 * i + d];
}

/* λ = |r′|/L, κ = θ′/L = r′×r″/(L|r′|²) */
typedef struct beam_strain {
    double stretch, curvature, slope[2], bend[2], square;
} beam_strain;

static beam_strain strain_at(const beam_table *beam, int k, const double *controls) {
    beam_strain s;
    curve_at(beam, k, 1, controls, s.slope), curve_at(beam, k, 2, controls, s.bend);
    s.square = s.slope[0] * s.slope[0] + s.slope[1] * s.slope[1];
    s.stretch = sqrt(s.square) / length;
    s.curvature = (s.slope[0] * s.bend[1] - s.slope[1] * s.bend[0]) / (s.square * length);
    return s;
}

/* −∂/∂controls of ∫ (½EA(λ−1)² + ½EIκ²) L dξ */
static void add_strain_force(const beam_table *beam, const double *controls, double *h) {
    for (int k = 0; k < BEAM_POINTS; k++) {
        beam_strain s = strain_at(beam, k, controls);
        double weight = beam->weight[k] * length, N = beam->axial * (s.stretch - 1),
               M = beam->bending * s.curvature;
        double to_slope[2], to_bend[2];
        for (int d = 0; d < 2; d++) {
            double turned = d ? -s.bend[0] : s.bend[1]; /* ∂(r′×r″)/∂r′ */
            to_slope[d] = N * s.slope[d] / (sqrt(s.square) * length) +
                          M * (turned / (s.square * length) - 2 * s.curvature * s.slope[d] / s.square);
            to_bend[d] = M * (d ? s.slope[0] : -s.slope[1]) / (s.square * length);
        }
        for (int i = 0; i < BEAM_CONTROLS; i++)
            for (int d = 0; d < 2; d++)
                h[2 * i + d] -=
                    weight * (beam->shape[k][1][i] * to_slope[d] + beam->shape[k][2][i] * to_bend[d]);
    }
}

/* ---- drives ---- */

typedef struct drive {
    double angle, rate, bend;
} drive;

/* α = π/3 − π/30 (1 − cos 4πt); β = π − 2α turns the beam's end to 3π/2 − α. */
static drive alpha_at(double t) {
    double w = 4 * M_PI, size = M_PI / 30;
    return (drive){M_PI / 3 - size * (1 - cos(w * t)), -size * w * sin(w * t), -size * w * w * cos(w * t)};
}

/* ---- the system ---- */

static void hopper_mass(double t, const double *q, double *M, void *user) {
    const beam_table *beam = user;
    (void)t, (void)q;
    M[0] = trunk + rod_mass;
    for (int k = 0; k < BEAM_POINTS; k++)
        for (int i = 0; i < BEAM_CONTROLS; i++)
            for (int j = 0; j < BEAM_CONTROLS; j++)
                for (int d = 0; d < 2; d++)
                    M[1 + 2 * i + d + FREEDOMS * (1 + 2 * j + d)] +=
                        line_density * length * beam->weight[k] * beam->shape[k][0][i] * beam->shape[k][0][j];
}

static void no_slope(double t, const double *q, const double *x, double *S, void *user) {
    (void)t, (void)q, (void)x, (void)S, (void)user;
}

static void hopper_force(double t, const double *q, const double *u, double *h, void *user) {
    const beam_table *beam = user;
    drive a = alpha_at(t);
    (void)u;
    h[0] = -(trunk + rod_mass) * fall -
           rod_mass * length / 2 * (cos(a.angle) * a.rate * a.rate + sin(a.angle) * a.bend);
    for (int k = 0; k < BEAM_POINTS; k++)
        for (int i = 0; i < BEAM_CONTROLS; i++)
            h[2 + 2 * i] -= line_density * length * fall * beam->weight[k] * beam->shape[k][0][i];
    add_strain_force(beam, q + 1, h + 1);
}

double hopper_energy(const benchmark *b, double t, const double *q, const double *u) {
    drive a = alpha_at(t);
    double v[2] = {length / 2 * cos(a.angle) * a.rate, u[0] + length / 2 * sin(a.angle) * a.rate};
    double energy = 0.5 * trunk * u[0] * u[0] + 0.5 * rod_mass * (v[0] * v[0] + v[1] * v[1]) +
                    0.5 * 8.5e-3 * a.rate * a.rate + trunk * fall * q[0] +
                    rod_mass * fall * (q[0] - length / 2 * cos(a.angle));
    for (int k = 0; k < BEAM_POINTS; k++) {
        beam_strain s = strain_at(&b->beam, k, q + 1);
        double r[2], w[2];
        curve_at(&b->beam, k, 0, q + 1, r), curve_at(&b->beam, k, 0, u + 1, w);
        energy += b->beam.weight[k] * length *
                  (0.5 * line_density * (w[0] * w[0] + w[1] * w[1]) + line_density * fall * r[1] +
                   0.5 * b->beam.axial * (s.stretch - 1) * (s.stretch - 1) +
                   0.5 * b->beam.bending * s.curvature * s.curvature);
    }
    return energy;
}

double hopper_momentum(const benchmark *b, double t, const double *u) {
    drive a = alpha_at(t);
    double sum = trunk * u[0] + rod_mass * (u[0] + length / 2 * sin(a.angle) * a.rate);
    for (int k = 0; k < BEAM_POINTS; k++) {
        double v[2];
        curve_at(&b->beam, k, 0, u + 1, v);
        sum += b->beam.weight[k] * length * line_density * v[1];
    }
    return sum;
}

double hopper_mass_of_all(void) { return trunk + rod_mass + line_density * length; }

/* ---- the knee: the beam begins where the rod ends, at the angle of the drive ---- */

typedef struct knee {
    double d[2], e[2], square, turn, stretch; /* r′(0)/4, its rate, |d|², d×e, d·e */
} knee;

static knee knee_at(const double *q, const double *u) {
    knee k = {.d = {q[3] - q[1], q[4] - q[2]}};
    if (u) k.e[0] = u[3] - u[1], k.e[1] = u[4] - u[2];
    k.square = k.d[0] * k.d[0] + k.d[1] * k.d[1];
    k.turn = k.d[0] * k.e[1] - k.d[1] * k.e[0], k.stretch = k.d[0] * k.e[0] + k.d[1] * k.e[1];
    return k;
}

static void knee_value(double t, const double *q, double *g, void *user) {
    drive a = alpha_at(t);
    knee k = knee_at(q, 0);
    double target = 1.5 * M_PI - a.angle, c = cos(target), s = sin(target);
    (void)user;
    g[0] = length * sin(a.angle) - q[1];
    g[1] = q[0] - length * cos(a.angle) - q[2];
    g[2] = atan2(c * k.d[1] - s * k.d[0], c * k.d[0] + s * k.d[1]); /* unwrapped about the target */
}

static void knee_rate(double t, const double *q, const double *u, double *rate, void *user) {
    drive a = alpha_at(t);
    knee k = knee_at(q, u);
    (void)user;
    rate[0] = length * cos(a.angle) * a.rate - u[1];
    rate[1] = u[0] + length * sin(a.angle) * a.rate - u[2];
    rate[2] = k.turn / k.square + a.rate;
}

static void knee_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    drive a = alpha_at(t);
    knee k = knee_at(q, u);
    (void)user;
    zeta[0] = length * (cos(a.angle) * a.bend - sin(a.angle) * a.rate * a.rate);
    zeta[1] = length * (sin(a.angle) * a.bend + cos(a.angle) * a.rate * a.rate);
    zeta[2] = -2 * k.turn * k.stretch / (k.square * k.square) + a.bend;
}

static void knee_direction(double t, const double *q, double *W, void *user) {
    knee k = knee_at(q, 0);
    double x = -k.d[1] / k.square, y = k.d[0] / k.square;
    (void)t, (void)user;
    W[1] = -1;
    W[FREEDOMS] = 1, W[FREEDOMS + 2] = -1;
    double *turn = W + 2 * FREEDOMS;
    turn[1] = -x, turn[2] = -y, turn[3] = x, turn[4] = y;
}

/* ---- the foot ---- */

static void foot_gap(double t, const double *q, double *g, void *user) {
    (void)t, (void)user;
    g[0] = q[FREEDOMS - 1];
}

static void foot_gap_rate(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[FREEDOMS - 1];
}

static void foot_slip(double t, const double *q, const double *u, double *rate, void *user) {
    (void)t, (void)q, (void)user;
    rate[0] = u[FREEDOMS - 2];
}

static void foot_up(double t, const double *q, double *W, void *user) {
    (void)t, (void)q, (void)user;
    W[FREEDOMS - 1] = 1;
}

static void foot_along(double t, const double *q, double *W, void *user) {
    (void)t, (void)q, (void)user;
    W[FREEDOMS - 2] = 1;
}

static void no_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    (void)t, (void)q, (void)u, (void)zeta, (void)user;
}

static void stand(benchmark *b) {
    double angle = 1.5 * M_PI - alpha_at(0).angle, knee_x = length * sin(alpha_at(0).angle);
    static const double greville[BEAM_CONTROLS] = {0, 0.25, 0.75, 1}; /* a straight line at even speed */
    b->q[0] = 0.31;
    for (int i = 0; i < BEAM_CONTROLS; i++) {
        b->q[1 + 2 * i] = knee_x + length * greville[i] * cos(angle);
        b->q[2 + 2 * i] = 0.31 - length * cos(alpha_at(0).angle) + length * greville[i] * sin(angle);
    }
}

void benchmark_hopper(benchmark *b) {
    benchmark_begin(b, FREEDOMS, FREEDOMS, 1, 1);
    dls_model *m = &b->model;
    fill_table(&b->beam);
    b->beam.axial = 1.89e7, b->beam.bending = 14.2;
    m->user = &b->beam;
    m->mass = hopper_mass, m->force = hopper_force, m->mass_slope = no_slope;
    m->rows[DLS_ROWS_G] = (dls_model_rows){.count = KNEE_ROWS,
                                           .value = knee_value,
                                           .rate = knee_rate,
                                           .direction = knee_direction,
                                           .bend = knee_bend};
    m->rows[DLS_ROWS_N] = (dls_model_rows){.count = 1,
                                           .value = foot_gap,
                                           .rate = foot_gap_rate,
                                           .direction = foot_up,
                                           .bend = no_bend,
                                           .direction_slope = no_slope};
    m->rows[DLS_ROWS_F] = (dls_model_rows){
        .count = 1, .rate = foot_slip, .direction = foot_along, .bend = no_bend, .direction_slope = no_slope};
    b->laws[0].mu = 0.2;
    stand(b);
    benchmark_parameters(b, 0.15, 5e-5, 0, 1e-6, 2);
}
