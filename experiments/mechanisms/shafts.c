/* Shafts: the uneven speed behind a universal joint, ratios of gears and racks, and a bearing whose friction
 * follows from its load. */
#include "experiments/mechanisms/mechanisms.h"

#include <math.h>

static const double down[3] = {0, -9.81, 0}, still[3] = {0, 0, 0}, z_axis[3] = {0, 0, 1},
                    x_axis[3] = {1, 0, 0}, origin[3] = {0, 0, 0};

/* ---- universal joint ---- */

static const double BEND = 0.6, SPEED = 8; /* rad, rad/s */

/* ω₂/ω₁ = cos β/(1 − sin² β cos² θ), θ = 0 where the first shaft's arm lies in the plane of both. */
static double universal_ratio(double turned) {
    double s = sin(BEND) * cos(turned);
    return cos(BEND) / (1 - s * s);
}

typedef struct universal {
    rig r;
    dls_joint_id drive;
    dls_body_id shaft[2];
} universal;

/* Both shafts turn in revolute joints, which with the universal joint makes three rows redundant. */
static universal build_universal(void) {
    universal m = {.r = rig_open(3, still)};
    const double first[3] = {1, 0, 0}, second[3] = {cos(BEND), sin(BEND), 0};
    const double arm[3] = {0, 1, 0}, ends[2][3] = {{-0.5, 0, 0}, {0.5 * second[0], 0.5 * second[1], 0}};
    double w[2][3];
    for (int k = 0; k < 3; k++) {
        w[0][k] = SPEED * first[k];
        w[1][k] = SPEED * universal_ratio(0) * second[k];
    }
    m.shaft[0] = rig_add_rod(&m.r, 1, ends[0], origin);
    m.shaft[1] = rig_add_rod(&m.r, 2, origin, ends[1]);
    for (int k = 0; k < 2; k++) rig_set_speed(&m.r, m.shaft[k], still, w[k]);
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    def.body[0] = DLS_GROUND, def.body[1] = m.shaft[0];
    def.freedom[3].velocity = rig_constant(&m.r, SPEED);
    m.drive = rig_join(&m.r, &def, ends[0], first, NULL);
    rig_join_plain(&m.r, DLS_JOINT_REVOLUTE, DLS_GROUND, m.shaft[1], ends[1], second);
    dls_joint_def cross = dls_default_joint_def(DLS_JOINT_UNIVERSAL);
    cross.body[0] = m.shaft[0], cross.body[1] = m.shaft[1];
    rig_join(&m.r, &cross, origin, arm, z_axis);
    return m;
}

enum { SHOWN = 400 };

static double second_speed(const universal *m) {
    dls_body_state now = rig_state(&m->r, m->shaft[1]);
    return now.w[0] * cos(BEND) + now.w[1] * sin(BEND);
}

/* Of the turn of the second shaft, φ with tan θ = cos β tan φ. */
static double universal_error(const universal *m, double t) {
    double turned = SPEED * t, expected = atan2(sin(turned), cos(BEND) * cos(turned));
    dls_body_state now = rig_state(&m->r, m->shaft[1]);
    double half = 2 * atan2(now.q[1] * cos(BEND / 2) + now.q[2] * sin(BEND / 2),
                            now.q[0] * cos(BEND / 2) + now.q[3] * sin(BEND / 2));
    return fabs(remainder(half - expected, 2 * acos(-1)));
}

static bool turn_universal(experiment_run *run, const rig_scheme *scheme, double h, double *error,
                           double *speed_error) {
    universal m = build_universal();
    double t[SHOWN], ratio[SHOWN];
    int count = 0;
    rig_start(&m.r, scheme, h, 1e-12);
    *error = *speed_error = 0;
    while (m.r.last.t < 1 - h / 2 && rig_step(&m.r)) {
        double now = second_speed(&m) / SPEED;
        *error = fmax(*error, universal_error(&m, m.r.last.t));
        if (m.r.last.t > 0.1)
            *speed_error = fmax(*speed_error, fabs(now - universal_ratio(SPEED * m.r.last.t)));
        if (count < SHOWN) t[count] = SPEED * m.r.last.t * 180 / acos(-1), ratio[count++] = now;
    }
    if (run) {
        claim_equal(&run->claims, CLAIM_DERIVED, "1", 0, m.r.uncertified, 0,
                    "universal joint, three redundant rows: steps that are not certified");
        rig_claim_books(run, "universal joint", &m.r);
        const figure_series series = {NULL, t, ratio, (size_t)count, FIGURE_PLAIN, 1};
        figure f = {.x = {"turn of the first shaft in degrees", FIGURE_LINEAR, 0, 0},
                    .y = {"ω_{2}/ω_{1}", FIGURE_LINEAR, 0, 0},
                    .series = &series,
                    .series_count = 1};
        if (*run->folder && !run_figure(run, &f, "universal")) m.r.failed = true;
    }
    return rig_close(&m.r);
}

bool show_universal(experiment_run *run) {
    for (int s = 0; s < RIG_SCHEMES; s++) {
        double coarse[2], fine[2];
        if (!turn_universal(s ? NULL : run, &rig_schemes[s], 2e-3, &coarse[0], &coarse[1]) ||
            !turn_universal(NULL, &rig_schemes[s], 1e-3, &fine[0], &fine[1]))
            return false;
        rig_claim_order(run, "universal joint, turn", &rig_schemes[s], coarse[0], fine[0]);
        rig_claim_order(run, "universal joint, speed ratio", &rig_schemes[s], coarse[1], fine[1]);
    }
    return true;
}

/* ---- gears ---- */

/* Teeth 20 : 40, then 10 : 30 on the second axle, then a pinion of 50 mm on a rack; a torque on the first:
 *
 *     ω₂ = −ω₁/2,  ω₃ = ω₁/6,  v = 0.05 ω₃,   ω̇₁ = τ/(I₁ + I₂/4 + I₃/36 + m (0.05/6)²) */
static const double INERTIA[3] = {0.01, 0.05, 0.2}, RACK = 10, PINION = 0.05, TORQUE = 0.3;

static void build_gears(rig *r, dls_body_id *body) {
    for (int k = 0; k < 3; k++) {
        const double x[3] = {k, 0, 0}, inertia[3] = {INERTIA[k], INERTIA[k], INERTIA[k]};
        body[k] = rig_add_mass(r, 1, inertia, x);
        dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
        def.body[0] = DLS_GROUND, def.body[1] = body[k];
        if (k == 0) def.freedom[3].force = rig_constant(r, TORQUE);
        rig_join(r, &def, x, z_axis, NULL);
    }
    static const double ratios[2] = {40.0 / 20, 30.0 / 10};
    for (int k = 0; k < 2; k++) {
        dls_joint_def def = dls_default_joint_def(DLS_JOINT_GEAR);
        def.body[0] = body[k], def.body[1] = body[k + 1];
        def.ratio = ratios[k];
        rig_join(r, &def, origin, z_axis, NULL);
    }
    const double x[3] = {2, -0.05, 0}, inertia[3] = {1, 1, 1};
    body[3] = rig_add_mass(r, RACK, inertia, x);
    rig_join_plain(r, DLS_JOINT_PRISMATIC, DLS_GROUND, body[3], x, x_axis);
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_RACK);
    def.body[0] = body[2], def.body[1] = body[3];
    def.ratio = PINION;
    rig_join(r, &def, x, x_axis, NULL);
}

bool show_gears(experiment_run *run) {
    static const double ratios[4] = {1, -1.0 / 2, 1.0 / 6, 0.05 / 6};
    double turned = 0, worst_speed = 0, worst_ratio = 0, h = 1e-3;
    double reduced = INERTIA[0] + INERTIA[1] / 4 + INERTIA[2] / 36 + RACK * PINION * PINION / 36;
    rig r = rig_open(2, still);
    dls_body_id body[4];
    build_gears(&r, body);
    rig_start(&r, rig_schemes, h, 1e-13);
    for (int k = 0; k < 10000 && rig_step(&r); k++) {
        double first = rig_state(&r, body[0]).w[2];
        worst_speed = fmax(worst_speed, fabs(first / (TORQUE / reduced * r.last.t) - 1));
        turned += h * first;
        for (int i = 1; i < 4; i++) {
            dls_body_state now = rig_state(&r, body[i]);
            worst_ratio = fmax(worst_ratio, fabs((i == 3 ? now.v[0] : now.w[2]) / (ratios[i] * first) - 1));
        }
    }
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-10, worst_speed,
                "gears and a rack under a torque: speed against τ t/I, relative");
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-10, worst_ratio,
                "gears and a rack: ratios of speeds, relative");
    claim_bound(
        &run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-9,
        fabs(rig_state(&r, body[3]).x[0] - 2 - ratios[3] * 0.5 * TORQUE / reduced * r.last.t * r.last.t),
        "gears and a rack: way of the rack after %.0f turns of the first gear", turned / (2 * acos(-1)));
    rig_claim_books(run, "gears and a rack", &r);
    return rig_close(&r);
}

/* ---- friction of a bearing ---- */

/* The bearing carries m g: it stops at t = I ω/(μ ρ m g) after ½ ω t. */
static bool stop_shaft(experiment_run *run, const rig_scheme *scheme, double h) {
    static const double MASS = 20, MOMENT = 0.4, SPIN = 30, MU = 0.15, RADIUS = 0.03;
    rig r = rig_open(2, down);
    const double inertia[3] = {MOMENT, MOMENT, MOMENT}, w[3] = {0, 0, SPIN};
    dls_body_id shaft = rig_add_mass(&r, MASS, inertia, origin);
    rig_set_speed(&r, shaft, still, w);
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    def.body[0] = DLS_GROUND, def.body[1] = shaft;
    def.freedom[3].friction_mu = MU;
    def.freedom[3].friction_radius = RADIUS;
    dls_joint_id bearing = rig_join(&r, &def, origin, z_axis, NULL);
    double stop = MOMENT * SPIN / (MU * RADIUS * MASS * 9.81), at = (double)NAN, before = SPIN;
    rig_start(&r, scheme, h, 1e-10);
    while (r.last.t < 1.1 * stop && rig_step(&r)) {
        double now = rig_state(&r, shaft).w[2];
        if (isnan(at) && fabs(now) < 1e-9 * SPIN) /* within the step, as the speed before says */
            at = r.last.t - h + before * stop / SPIN;
        before = now;
    }
    claim_equal(&run->claims, CLAIM_DERIVED, "s", stop, at, 1e-6 * stop,
                "loaded shaft: stops at I ω/(μ ρ m g), %s, h = %g s", scheme->label, h);
    claim_equal(&run->claims, CLAIM_DERIVED, "rad", SPIN * stop / 2, rig_joint(&r, bearing).coordinate[3],
                (scheme->order > 1 ? h : SPIN) * h, "loaded shaft: turns until then, %s, h = %g s",
                scheme->label, h);
    if (scheme == rig_schemes && h == 1e-2) rig_claim_books(run, "loaded shaft", &r);
    return rig_close(&r);
}

bool show_shaft(experiment_run *run) {
    for (int s = 0; s < RIG_SCHEMES; s++)
        if (!stop_shaft(run, &rig_schemes[s], 1e-2) || !stop_shaft(run, &rig_schemes[s], 5e-3)) return false;
    return true;
}
