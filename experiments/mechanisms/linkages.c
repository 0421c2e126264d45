/* Linkages driven at a steady speed, against their kinematics: a four-bar in the plane and of four revolute
 * joints in space, where three of its rows are redundant, and a slider–crank. */
#include "experiments/mechanisms/mechanisms.h"

#include <math.h>

static const double down[3] = {0, -9.81, 0}, z_axis[3] = {0, 0, 1}, x_axis[3] = {1, 0, 0},
                    origin[3] = {0, 0, 0};
static const double SPEED = 5; /* rad/s, of the crank */
/* Joints that begin without a gap need some steps until their reactions are those of the motion, s. */
static const double SETTLED = 0.1;

static double half_turn(void) { return acos(-1); }

/* ---- four-bar ---- */

enum { CRANK, COUPLER, ROCKER };
static const double bar[3] = {0.2, 0.6, 0.5}, BASE = 0.7;

/* Angles of the three bars, by closing the loop; the rocker stands on (BASE, 0). */
static void close_four_bar(double crank, double *angle) {
    double x = bar[CRANK] * cos(crank), y = bar[CRANK] * sin(crank), e = hypot(x - BASE, y);
    double inside =
        acos((e * e + bar[ROCKER] * bar[ROCKER] - bar[COUPLER] * bar[COUPLER]) / (2 * e * bar[ROCKER]));
    angle[CRANK] = crank;
    angle[ROCKER] = atan2(y, x - BASE) - inside;
    angle[COUPLER] = atan2(bar[ROCKER] * sin(angle[ROCKER]) - y, BASE + bar[ROCKER] * cos(angle[ROCKER]) - x);
}

static void four_bar_rates(const double *angle, double *rate) {
    double across = sin(angle[ROCKER] - angle[COUPLER]);
    rate[CRANK] = SPEED;
    rate[COUPLER] = SPEED * bar[CRANK] * sin(angle[CRANK] - angle[ROCKER]) / (bar[COUPLER] * across);
    rate[ROCKER] = SPEED * bar[CRANK] * sin(angle[CRANK] - angle[COUPLER]) / (bar[ROCKER] * across);
}

typedef struct four_bar {
    rig r;
    dls_body_id body[3];
    dls_joint_id drive, rocker;
} four_bar;

/* A bar at an angle with the speed of its foot and its rate. */
static dls_body_id add_bar(rig *r, double mass, const double *foot, double length, double angle, double rate,
                           const double *foot_speed) {
    const double tip[3] = {foot[0] + length * cos(angle), foot[1] + length * sin(angle), 0};
    dls_body_id id = rig_add_rod(r, mass, foot, tip);
    const double v[3] = {foot_speed[0] - rate * length / 2 * sin(angle),
                         foot_speed[1] + rate * length / 2 * cos(angle), 0},
                 w[3] = {0, 0, rate};
    rig_set_speed(r, id, v, w);
    return id;
}

static four_bar build_four_bar(int dimension, bool by_position) {
    four_bar m = {.r = rig_open(dimension, down)};
    double angle[3], rate[3];
    close_four_bar(0, angle);
    four_bar_rates(angle, rate);
    const double a[3] = {bar[CRANK], 0, 0}, c[3] = {BASE, 0, 0}, moving[3] = {0, bar[CRANK] * SPEED, 0};
    const double b[3] = {BASE + bar[ROCKER] * cos(angle[ROCKER]), bar[ROCKER] * sin(angle[ROCKER]), 0};
    m.body[CRANK] = add_bar(&m.r, 1, origin, bar[CRANK], 0, SPEED, origin);
    m.body[COUPLER] = add_bar(&m.r, 3, a, bar[COUPLER], angle[COUPLER], rate[COUPLER], moving);
    m.body[ROCKER] = add_bar(&m.r, 2.5, c, bar[ROCKER], angle[ROCKER], rate[ROCKER], origin);
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    def.body[0] = DLS_GROUND, def.body[1] = m.body[CRANK];
    if (by_position) {
        if (!m.r.failed)
            m.r.failed = dls_function_expression("5 * t", 0, NULL, NULL, &def.freedom[3].position,
                                                 &m.r.error) != DLS_OK;
    } else
        def.freedom[3].velocity = rig_constant(&m.r, SPEED);
    m.drive = rig_join(&m.r, &def, origin, z_axis, NULL);
    rig_join_plain(&m.r, DLS_JOINT_REVOLUTE, m.body[CRANK], m.body[COUPLER], a, z_axis);
    rig_join_plain(&m.r, DLS_JOINT_REVOLUTE, m.body[COUPLER], m.body[ROCKER], b, z_axis);
    m.rocker = rig_join_plain(&m.r, DLS_JOINT_REVOLUTE, DLS_GROUND, m.body[ROCKER], c, z_axis);
    return m;
}

static double four_bar_error(const four_bar *m) {
    double angle[3], worst = 0;
    close_four_bar(SPEED * m->r.last.t, angle);
    for (int k = 0; k < 3; k++) {
        dls_body_state now = rig_state(&m->r, m->body[k]);
        worst = fmax(worst, fabs(remainder(rig_angle(&now) - angle[k], 2 * half_turn())));
    }
    return worst;
}

/* ½ Σ m v² + I ω² + m g y by the kinematics. */
static double four_bar_energy(double crank) {
    static const double mass[3] = {1, 3, 2.5};
    double angle[3], rate[3], sum = 0;
    close_four_bar(crank, angle);
    four_bar_rates(angle, rate);
    for (int k = 0; k < 3; k++) {
        double y = 0, u = 0, v = 0, half = bar[k] / 2;
        if (k == COUPLER) {
            y = bar[CRANK] * sin(crank);
            u = -bar[CRANK] * SPEED * sin(crank), v = bar[CRANK] * SPEED * cos(crank);
        }
        u -= rate[k] * half * sin(angle[k]), v += rate[k] * half * cos(angle[k]);
        y += half * sin(angle[k]);
        sum += 0.5 * mass[k] * (u * u + v * v) + mass[k] * bar[k] * bar[k] / 24 * rate[k] * rate[k] +
               9.81 * mass[k] * y;
    }
    return sum;
}

typedef struct four_bar_run {
    double error, work_error, gap;
} four_bar_run;

static bool turn_four_bar(experiment_run *run, const rig_scheme *scheme, bool by_position, double h,
                          four_bar_run *found) {
    four_bar m = build_four_bar(2, by_position);
    rig_start(&m.r, scheme, h, 1e-12);
    *found = (four_bar_run){0};
    while (m.r.last.t < 2 - h / 2 && rig_step(&m.r)) {
        double work = four_bar_energy(SPEED * m.r.last.t) - four_bar_energy(0);
        found->error = fmax(found->error, four_bar_error(&m));
        if (m.r.last.t > SETTLED)
            found->work_error = fmax(found->work_error, fabs(m.r.last.energy.motors - work));
    }
    found->gap = m.r.gap;
    if (run) rig_claim_books(run, "four-bar", &m.r);
    return rig_close(&m.r);
}

static bool compare_four_bars(experiment_run *run) {
    four_bar plane = build_four_bar(2, false), space = build_four_bar(3, false);
    double worst = 0;
    rig_start(&plane.r, rig_schemes, 1e-3, 1e-12);
    rig_start(&space.r, rig_schemes, 1e-3, 1e-12);
    while (plane.r.last.t < 2 - 5e-4 && rig_step(&plane.r) && rig_step(&space.r))
        for (int k = 0; k < 3; k++) {
            dls_body_state a = rig_state(&plane.r, plane.body[k]), b = rig_state(&space.r, space.body[k]);
            for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(a.x[i] - b.x[i]));
            worst = fmax(worst, fabs(remainder(rig_angle(&a) - rig_angle(&b), 2 * half_turn())));
        }
    claim_bound(&run->claims, CLAIM_DERIVED, "m or rad", CLAIM_AT_MOST, 1e-9, worst,
                "four-bar of four revolute joints in space against the plane's");
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 0, space.r.uncertified, 0,
                "four-bar in space, three redundant rows: steps that are not certified");
    bool good = rig_close(&plane.r);
    return rig_close(&space.r) && good;
}

bool show_four_bar(experiment_run *run) {
    for (int s = 0; s < RIG_SCHEMES; s++)
        for (int by_position = 0; by_position < 2; by_position++) {
            four_bar_run coarse, fine;
            const char *what = by_position ? "four-bar, position drive" : "four-bar, velocity drive";
            bool first = s == 0 && !by_position;
            if (!turn_four_bar(first ? run : NULL, &rig_schemes[s], by_position, 2e-3, &coarse) ||
                !turn_four_bar(NULL, &rig_schemes[s], by_position, 1e-3, &fine))
                return false;
            rig_claim_order(run, what, &rig_schemes[s], coarse.error, fine.error);
            if (!by_position)
                rig_claim_order(run, "four-bar: work of the drive", &rig_schemes[s], coarse.work_error,
                                fine.work_error);
        }
    return compare_four_bars(run);
}

/* ---- slider–crank ---- */

static const double THROW = 0.15, CONNECTING = 0.4;

/* x = r cos θ + √(l² − r² sin² θ) */
static double slider_place(double t) {
    double s = THROW * sin(SPEED * t);
    return THROW * cos(SPEED * t) + sqrt(CONNECTING * CONNECTING - s * s);
}

static bool turn_slider(experiment_run *run, const rig_scheme *scheme, double h, double *error) {
    rig r = rig_open(2, down);
    const double a[3] = {THROW, 0, 0}, b[3] = {THROW + CONNECTING, 0, 0}, moving[3] = {0, THROW * SPEED, 0};
    const double inertia[3] = {0.01, 0.01, 0.01};
    dls_body_id crank = add_bar(&r, 1, origin, THROW, 0, SPEED, origin);
    dls_body_id rod = add_bar(&r, 1, a, CONNECTING, 0, -SPEED * THROW / CONNECTING, moving);
    dls_body_id slider = rig_add_mass(&r, 2, inertia, b);
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    def.body[0] = DLS_GROUND, def.body[1] = crank;
    def.freedom[3].velocity = rig_constant(&r, SPEED);
    rig_join(&r, &def, origin, z_axis, NULL);
    rig_join_plain(&r, DLS_JOINT_REVOLUTE, crank, rod, a, z_axis);
    rig_join_plain(&r, DLS_JOINT_REVOLUTE, rod, slider, b, z_axis);
    rig_join_plain(&r, DLS_JOINT_PRISMATIC, DLS_GROUND, slider, b, x_axis);
    rig_start(&r, scheme, h, 1e-12);
    *error = 0;
    while (r.last.t < 2 - h / 2 && rig_step(&r))
        *error = fmax(*error, fabs(rig_state(&r, slider).x[0] - slider_place(r.last.t)));
    if (run) rig_claim_books(run, "slider–crank", &r);
    return rig_close(&r);
}

bool show_slider_crank(experiment_run *run) {
    for (int s = 0; s < RIG_SCHEMES; s++) {
        double coarse, fine;
        if (!turn_slider(s ? NULL : run, &rig_schemes[s], 2e-3, &coarse) ||
            !turn_slider(NULL, &rig_schemes[s], 1e-3, &fine))
            return false;
        rig_claim_order(run, "slider–crank", &rig_schemes[s], coarse, fine);
    }
    return true;
}
