/* A disc that rolls, against its own equations of motion, in every scheme. */
#include "experiments/mechanisms/mechanisms.h"

#include <math.h>
#include <string.h>

static const double down[3] = {0, 0, -9.81}, up[3] = {0, 0, 1}, origin[3] = {0, 0, 0};
static const double RADIUS = 0.3, MASS = 2;

static void cross(double *c, const double *a, const double *b) {
    c[0] = a[1] * b[2] - a[2] * b[1], c[1] = a[2] * b[0] - a[0] * b[2], c[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* From the point that touches to the centre, over the radius: m ∥ n − (n·a) a, and its rate for ȧ. */
static void spoke(const double *a, const double *a_rate, double *m, double *m_rate) {
    double lean = dot(up, a), lean_rate = dot(up, a_rate), s = sqrt(1 - lean * lean),
           s_rate = -lean * lean_rate / s;
    for (int k = 0; k < 3; k++) {
        m[k] = (up[k] - lean * a[k]) / s;
        m_rate[k] = (-lean_rate * a[k] - lean * a_rate[k] - m[k] * s_rate) / s;
    }
}

/* y: centre, axis a, ω. The centre moves with ω × R m, and about the centre the force at the rim turns:
 *
 *     (J + M R² (1 − m mᵀ)) ω̇ = −ω × J ω − M R m × (ω × R ṁ − g) */
static void disc_rate(const double *y, double t, double *rate, const void *user) {
    (void)t, (void)user;
    const double *a = y + 3, *w = y + 6;
    double m[3], m_rate[3], spin[3], gyro[3], swing[3], load[3], A[9], C = MASS * RADIUS * RADIUS / 2,
                                                                       D = C / 2;
    cross(rate + 3, w, a);
    spoke(a, rate + 3, m, m_rate);
    cross(rate, w, m);
    cross(swing, w, m_rate);
    for (int k = 0; k < 3; k++) {
        rate[k] *= RADIUS;
        spin[k] = D * w[k] + (C - D) * dot(a, w) * a[k];
        load[k] = MASS * RADIUS * (RADIUS * swing[k] - down[k]);
    }
    cross(gyro, w, spin);
    cross(swing, m, load);
    for (int i = 0; i < 3; i++) {
        rate[6 + i] = -gyro[i] - swing[i];
        for (int k = 0; k < 3; k++)
            A[3 * i + k] = (i == k) * (D + MASS * RADIUS * RADIUS) + (C - D) * a[i] * a[k] -
                           MASS * RADIUS * RADIUS * m[i] * m[k];
    }
    rig_solve(3, A, rate + 6);
}

/* Leaning, rolling along x, and turning. */
static void start_disc(double *y) {
    const double lean = 0.3, w[3] = {0.4, 0.2, -0.5};
    const double a[3] = {0, cos(lean), sin(lean)};
    double m[3], none[3] = {0, 0, 0}, ignored[3];
    spoke(a, none, m, ignored);
    for (int k = 0; k < 3; k++) {
        y[k] = RADIUS * m[k];
        y[3 + k] = a[k];
        y[6 + k] = w[k] + 10 * a[k];
    }
}

typedef struct disc_run {
    double error, slip, energy;
} disc_run;

static dls_body_id add_disc(rig *r, const double *y) {
    dls_body_def def = dls_default_body_def();
    double moment = MASS * RADIUS * RADIUS / 4, lean = atan2(y[5], y[4]);
    const double inertia[9] = {moment, 0, 0, 0, 2 * moment, 0, 0, 0, moment};
    double rate[9];
    def.mass = MASS;
    def.inertia = inertia;
    def.pose.q[0] = cos(lean / 2), def.pose.q[1] = sin(lean / 2);
    memcpy(def.pose.x, y, sizeof def.pose.x);
    disc_rate(y, 0, rate, NULL);
    memcpy(def.v, rate, sizeof def.v);
    memcpy(def.w, y + 6, sizeof def.w);
    return rig_add(r, &def);
}

/* Speed of the point that touches, of a disc whose axis is y of its frame. */
static double slip_of(const dls_body_state *s) {
    const double *q = s->q, still[3] = {0, 0, 0};
    const double a[3] = {2 * (q[1] * q[2] - q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]),
                         2 * (q[2] * q[3] + q[0] * q[1])};
    double m[3], ignored[3], v[3];
    spoke(a, still, m, ignored);
    cross(v, s->w, m);
    for (int k = 0; k < 3; k++) v[k] = s->v[k] - RADIUS * v[k];
    return sqrt(dot(v, v));
}

static bool roll(experiment_run *run, const rig_scheme *scheme, double h, disc_run *found) {
    rig r = rig_open(3, down);
    double y[9];
    start_disc(y);
    dls_body_id disc = add_disc(&r, y);
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_ROLLING);
    def.body[0] = DLS_GROUND, def.body[1] = disc;
    def.radius = RADIUS;
    rig_place(&r, &def, y, up, y + 3);
    memcpy(def.frame[0].x, origin, sizeof origin); /* of the plane */
    rig_add_joint(&r, &def);
    rig_start(&r, scheme, h, 1e-12);
    *found = (disc_run){0};
    while (r.last.t < 2 - h / 2 && rig_step(&r)) {
        dls_body_state now = rig_state(&r, disc);
        if (r.last.t > 0.1) found->slip = fmax(found->slip, slip_of(&now));
    }
    dls_body_state now = rig_state(&r, disc);
    rig_integrate(disc_rate, NULL, 9, y, 0, 2, 20000);
    for (int k = 0; k < 3; k++) found->error = fmax(found->error, fabs(now.x[k] - y[k]));
    if (run) rig_claim_books(run, "rolling disc", &r);
    return rig_close(&r);
}

bool show_disc(experiment_run *run) {
    for (int s = 0; s < RIG_SCHEMES; s++) {
        disc_run coarse, fine;
        if (!roll(s ? NULL : run, &rig_schemes[s], 2e-3, &coarse) ||
            !roll(NULL, &rig_schemes[s], 1e-3, &fine))
            return false;
        rig_claim_order(run, "rolling disc", &rig_schemes[s], coarse.error, fine.error);
        rig_claim_order(run, "rolling disc, slip", &rig_schemes[s], coarse.slip, fine.slip);
    }
    return true;
}
