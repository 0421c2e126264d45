/* The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007): two wheels that roll, a frame
 * with its rider, a fork, three revolute joints. Its linearised equations are published, with φ the lean to
 * the right and δ the steer to the right:
 *
 *     M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = 0,      q = (φ, δ) */
#include "experiments/mechanisms/mechanisms.h"

#include <math.h>
#include <string.h>

static const double G = 9.81, SPEED = 5, PUSH = 1e-3; /* m/s; rad/s of the first lean */
static const double down[3] = {0, 0, -9.81}, up[3] = {0, 0, 1}, across[3] = {0, 1, 0};

enum { REAR, FRAME, FORK, FRONT, PARTS };

/* Moments I_xx, I_yy, I_zz, I_xz about own centres; x ahead, z down, as they are published. */
static const struct {
    double mass, x, z, inertia[4];
} part[PARTS] = {{2, 0, -0.3, {0.0603, 0.12, 0.0603, 0}},
                 {85, 0.3, -0.9, {9.2, 11, 2.8, 2.4}},
                 {4, 0.9, -0.7, {0.05892, 0.06, 0.00708, -0.00756}},
                 {3, 1.02, -0.35, {0.1405, 0.28, 0.1405, 0}}};
static const double WHEELBASE = 1.02, TRAIL = 0.08, TILT = 0.31415926535897931; /* m, m, rad */

static const double M[4] = {80.81722, 2.31941332208709, 2.31941332208709, 0.29784188199686};
static const double C1[4] = {0, 33.86641391492494, -0.85035641456978, 1.68540397397560};
static const double K0[4] = {-80.95, -2.59951685249872, -2.59951685249872, -0.80329488458618};
static const double K2[4] = {0, 76.59734589573222, 0, 2.65431523794604};

static void bicycle_rate(const double *y, double t, double *rate, const void *user) {
    (void)t, (void)user;
    double A[4];
    memcpy(A, M, sizeof A);
    rate[0] = y[2], rate[1] = y[3];
    for (int i = 0; i < 2; i++) {
        rate[2 + i] = 0;
        for (int k = 0; k < 2; k++)
            rate[2 + i] -=
                SPEED * C1[2 * i + k] * y[2 + k] + (G * K0[2 * i + k] + SPEED * SPEED * K2[2 * i + k]) * y[k];
    }
    rig_solve(2, A, rate + 2);
}

/* ---- the machine ---- */

/* Ours has z up: y then points to the left, and a lean to the right is a turn about +x as published. */
typedef struct bicycle {
    rig r;
    dls_body_id body[PARTS];
    dls_joint_id steer, wheel[2];
} bicycle;

static void add_parts(bicycle *m) {
    for (int k = 0; k < PARTS; k++) {
        dls_body_def def = dls_default_body_def();
        const double *I = part[k].inertia;
        const double inertia[9] = {I[0], 0, -I[3], 0, I[1], 0, -I[3], 0, I[2]}; /* I_xz is about z down */
        double radius = -part[k].z;
        def.mass = part[k].mass;
        def.inertia = inertia;
        def.pose.x[0] = part[k].x, def.pose.x[2] = -part[k].z;
        def.v[0] = SPEED, def.v[1] = -PUSH * def.pose.x[2]; /* all lean about the line on the ground */
        def.w[0] = PUSH, def.w[1] = k == REAR || k == FRONT ? SPEED / radius : 0;
        m->body[k] = rig_add(&m->r, &def);
    }
}

static void add_wheel(bicycle *m, int k) {
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_ROLLING);
    const double hub[3] = {part[k].x, 0, -part[k].z}, foot[3] = {0, 0, 0};
    rig_join_plain(&m->r, DLS_JOINT_REVOLUTE, m->body[k == REAR ? FRAME : FORK], m->body[k], hub, across);
    def.body[0] = DLS_GROUND, def.body[1] = m->body[k];
    def.radius = -part[k].z;
    rig_place(&m->r, &def, hub, up, across);
    memcpy(def.frame[0].x, foot, sizeof foot);
    m->wheel[k == FRONT] = rig_add_joint(&m->r, &def);
}

static bicycle build_bicycle(void) {
    bicycle m = {.r = rig_open(3, down)};
    add_parts(&m);
    add_wheel(&m, REAR);
    add_wheel(&m, FRONT);
    /* the steering axis meets the ground a trail before the front wheel does, and leans back */
    const double foot[3] = {WHEELBASE + TRAIL, 0, 0}, axis[3] = {sin(TILT), 0, -cos(TILT)};
    m.steer = rig_join_plain(&m.r, DLS_JOINT_REVOLUTE, m.body[FRAME], m.body[FORK], foot, axis);
    return m;
}

/* About the way that the frame points. */
static double lean_of(const bicycle *m) {
    dls_body_state now = rig_state(&m->r, m->body[FRAME]);
    const double *q = now.q;
    double side = 2 * (q[2] * q[3] + q[0] * q[1]); /* z of the frame's y */
    return asin(side);
}

/* How fast the point of a wheel that touches moves: x of the joint's rows says it as little as the wheel. */
static double slip_of(const bicycle *m, int k) {
    dls_body_state s = rig_state(&m->r, m->body[k]);
    const double *q = s.q, radius = -part[k].z;
    double a[3] = {2 * (q[1] * q[2] - q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]),
                   2 * (q[2] * q[3] + q[0] * q[1])};
    double m3[3], norm = sqrt(1 - a[2] * a[2]), v2 = 0;
    for (int i = 0; i < 3; i++) m3[i] = radius * ((i == 2) - a[2] * a[i]) / norm;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, l = (i + 2) % 3;
        double v = s.v[i] - (s.w[j] * m3[l] - s.w[l] * m3[j]);
        v2 += v * v;
    }
    return sqrt(v2);
}

/* ---- the ride ---- */

enum { SHOWN = 2000 };

typedef struct ride {
    int count;
    double t[SHOWN], angle[2][SHOWN], linear[2][SHOWN]; /* lean and steer, rad */
    double error, slip, energy;
} ride;

static bool ride_bicycle(experiment_run *run, const rig_scheme *scheme, double h, double until, ride *found) {
    bicycle m = build_bicycle();
    double y[4] = {0, 0, PUSH, 0}, most = 0, first = (double)NAN;
    found->count = 0;
    found->error = found->slip = found->energy = 0;
    rig_start(&m.r, scheme, h, 1e-12);
    while (m.r.last.t < until - h / 2 && rig_step(&m.r)) {
        double t = m.r.last.t, now[2] = {lean_of(&m), rig_joint(&m.r, m.steer).coordinate[3]};
        rig_integrate(bicycle_rate, NULL, 4, y, t - h, t, 4);
        const dls_energy *e = &m.r.last.energy;
        if (isnan(first)) first = e->kinetic + e->potential;
        found->energy = fmax(found->energy, fabs(e->kinetic + e->potential - first) / e->kinetic);
        for (int k = 0; k < 2; k++) {
            found->error = fmax(found->error, fabs(now[k] - y[k]));
            most = fmax(most, fabs(y[k]));
            if (found->count < SHOWN)
                found->angle[k][found->count] = now[k], found->linear[k][found->count] = y[k];
        }
        if (t > 0.1) found->slip = fmax(found->slip, fmax(slip_of(&m, REAR), slip_of(&m, FRONT)));
        if (found->count < SHOWN) found->t[found->count++] = t;
    }
    found->error /= most;
    if (run) {
        claim_equal(&run->claims, CLAIM_DERIVED, "1", 0, m.r.uncertified, 0,
                    "bicycle: steps that are not certified");
        rig_claim_books(run, "bicycle", &m.r);
    }
    return rig_close(&m.r);
}

static bool draw_ride(experiment_run *run, const ride *found) {
    size_t n = (size_t)found->count;
    const figure_series series[] = {
        {"lean", found->t, found->angle[0], n, FIGURE_PLAIN, 1},
        {"steer", found->t, found->angle[1], n, FIGURE_PLAIN, 2},
        {"linear", found->t, found->linear[0], n, FIGURE_PLAIN, FIGURE_LOOK_BLACK_DOTTED},
        {NULL, found->t, found->linear[1], n, FIGURE_PLAIN, FIGURE_LOOK_BLACK_DOTTED}};
    figure f = {.x = {"time in s", FIGURE_LINEAR, 0, 0},
                .y = {"angle in rad", FIGURE_LINEAR, 0, 0},
                .series = series,
                .series_count = 4};
    return run_figure(run, &f, "bicycle");
}

bool show_bicycle(experiment_run *run) {
    static ride coarse, fine, drawn;
    for (int s = 0; s < RIG_SCHEMES; s++) {
        const rig_scheme *scheme = &rig_schemes[s];
        if (!ride_bicycle(s ? NULL : run, scheme, 2e-3, 2, &coarse) ||
            !ride_bicycle(NULL, scheme, 1e-3, 2, &fine))
            return false;
        rig_claim_order(run, "bicycle, lean and steer", scheme, coarse.error, fine.error);
        if (s > 0) continue;
        drawn = coarse;
        claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-3, fine.error,
                    "bicycle at %g m/s: lean and steer against its published equations, relative", SPEED);
        claim_bound(&run->claims, CLAIM_DERIVED, "m/s", CLAIM_AT_MOST, 1e-6, fine.slip,
                    "bicycle: speed of the points that touch");
        claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-9, fine.energy,
                    "bicycle: change of energy over kinetic energy");
    }
    return !*run->folder || draw_ride(run, &drawn);
}
