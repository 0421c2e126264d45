/* Pendulums against elliptic functions and a converged integration: order of every scheme, joints that do not
 * drift apart, and the rule u⁺ = −u⁻ that keeps the energy. */
#include "experiments/mechanisms/mechanisms.h"

#include <math.h>

static const double G = 9.81, LENGTH = 1, MASS = 1, START = 2; /* m, kg, rad from hanging */
static const double down[3] = {0, -9.81, 0}, z_axis[3] = {0, 0, 1}, origin[3] = {0, 0, 0};

/* ---- one rod ---- */

/* sn, cn and dn of u with modulus k, by descending Landen transformations. */
static void elliptic(double u, double k, double *cn, double *dn) {
    double a[32], c[32], b = sqrt(1 - k * k);
    int n = 0;
    a[0] = 1, c[0] = k;
    while (fabs(c[n]) > 1e-17 && n < 30) {
        a[n + 1] = 0.5 * (a[n] + b);
        c[n + 1] = 0.5 * (a[n] - b);
        b = sqrt(a[n] * b);
        n++;
    }
    double angle = ldexp(a[n] * u, n), before = angle;
    for (; n > 0; n--) {
        before = angle;
        angle = 0.5 * (angle + asin(c[n] / a[n] * sin(angle)));
    }
    *cn = cos(angle);
    *dn = fabs(cos(before - angle)) > 1e-6 ? cos(angle) / cos(before - angle)
                                           : sqrt(1 - k * k * (1 - *cn * *cn));
}

/* sin(θ/2) = k cn/dn (ω₀ t),  k = sin(θ₀/2),  ω₀² = 3 g/(2 l) of a rod. */
static double pendulum_angle(double t) {
    double k = sin(START / 2), cn, dn;
    elliptic(sqrt(1.5 * G / LENGTH) * t, k, &cn, &dn);
    return 2 * asin(k * cn / dn);
}

/* Largest error of the angle within two seconds. In space the rod turns about an axis across its own. */
static bool swing(int dimension, const rig_scheme *scheme, double h, double *error, double *books) {
    rig r = rig_open(dimension, down);
    const double tip[3] = {LENGTH * sin(START), -LENGTH * cos(START), 0};
    dls_body_id rod = rig_add_rod(&r, MASS, origin, tip);
    rig_join_plain(&r, DLS_JOINT_REVOLUTE, DLS_GROUND, rod, origin, z_axis);
    rig_start(&r, scheme, h, 1e-13);
    *error = 0;
    while (r.last.t < 2 - h / 2 && rig_step(&r)) {
        dls_body_state now = rig_state(&r, rod);
        double angle = atan2(now.x[0], -now.x[1]);
        *error = fmax(*error, fabs(remainder(angle - pendulum_angle(r.last.t), 2 * acos(-1))));
    }
    *books = r.books / r.turnover;
    return rig_close(&r);
}

static bool draw_orders(experiment_run *run) {
    enum { SIZES = 5 };
    double h[SIZES], error[RIG_SCHEMES][SIZES], books;
    figure_series series[RIG_SCHEMES];
    for (int s = 0; s < RIG_SCHEMES; s++) {
        for (int i = 0; i < SIZES; i++) {
            h[i] = ldexp(0.02, -i);
            if (!swing(2, &rig_schemes[s], h[i], &error[s][i], &books)) return false;
        }
        series[s] = (figure_series){rig_schemes[s].label, h, error[s], SIZES, FIGURE_LINE, (unsigned)s + 1};
    }
    figure f = {.x = {"step h in s", FIGURE_LOG, 1e-3, 3e-2},
                .y = {"error of a pendulum's angle in rad", FIGURE_LOG, 0, 0},
                .series = series,
                .series_count = RIG_SCHEMES};
    return run_figure(run, &f, "orders");
}

bool show_pendulum(experiment_run *run) {
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int s = 0; s < RIG_SCHEMES; s++) {
            double coarse, fine, books;
            if (!swing(dimension, &rig_schemes[s], 1.0 / 200, &coarse, &books) ||
                !swing(dimension, &rig_schemes[s], 1.0 / 400, &fine, &books))
                return false;
            rig_claim_order(run, dimension == 2 ? "pendulum" : "pendulum in space", &rig_schemes[s], coarse,
                            fine);
            if (s == 0)
                claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-10, books,
                            "pendulum%s: energy unaccounted over energy turned over",
                            dimension == 2 ? "" : " in space");
        }
    return !*run->folder || draw_orders(run);
}

/* ---- two rods ---- */

/* θ₁, θ₂ from hanging, and their rates; rods of the same length and mass:
 *
 *     4/3 θ̈₁ + ½ cos(θ₁−θ₂) θ̈₂ + ½ sin(θ₁−θ₂) θ̇₂² + 3/2 g/l sin θ₁ = 0
 *     1/3 θ̈₂ + ½ cos(θ₁−θ₂) θ̈₁ − ½ sin(θ₁−θ₂) θ̇₁² + 1/2 g/l sin θ₂ = 0 */
static void double_rate(const double *y, double t, double *rate, const void *user) {
    (void)t, (void)user;
    double c = cos(y[0] - y[1]), s = sin(y[0] - y[1]);
    double A[4] = {4.0 / 3, c / 2, c / 2, 1.0 / 3};
    double b[2] = {-s / 2 * y[3] * y[3] - 1.5 * G / LENGTH * sin(y[0]),
                   s / 2 * y[2] * y[2] - 0.5 * G / LENGTH * sin(y[1])};
    rig_solve(2, A, b);
    rate[0] = y[2], rate[1] = y[3], rate[2] = b[0], rate[3] = b[1];
}

static rig two_rods(bool conserving, dls_body_id *rods) {
    rig r = rig_open(2, down);
    const double knee[3] = {LENGTH, 0, 0}, tip[3] = {2 * LENGTH, 0, 0};
    const double *points[3] = {origin, knee, tip};
    for (int k = 0; k < 2; k++) {
        dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
        rods[k] = rig_add_rod(&r, MASS, points[k], points[k + 1]);
        def.body[0] = k ? rods[0] : DLS_GROUND, def.body[1] = rods[k];
        def.conserving = conserving;
        rig_join(&r, &def, points[k], z_axis, NULL);
    }
    return r;
}

static bool swing_double(const rig_scheme *scheme, bool conserving, double h, double *error) {
    dls_body_id rods[2];
    rig r = two_rods(conserving, rods);
    double y[4] = {acos(-1) / 2, acos(-1) / 2, 0, 0};
    rig_start(&r, scheme, h, 1e-13);
    rig_integrate(double_rate, NULL, 4, y, 0, 1, 20000);
    rig_run(&r, (int)lround(1 / h));
    *error = 0;
    for (int k = 0; k < 2; k++) {
        dls_body_state now = rig_state(&r, rods[k]);
        *error = fmax(*error, fabs(remainder(rig_angle(&now) + acos(-1) / 2 - y[k], 2 * acos(-1))));
    }
    return rig_close(&r);
}

bool show_double_pendulum(experiment_run *run) {
    for (int s = 0; s < RIG_SCHEMES; s++)
        for (int conserving = 0; conserving < (s == 0 ? 2 : 1); conserving++) {
            double coarse, fine;
            if (!swing_double(&rig_schemes[s], conserving, 1.0 / 1000, &coarse) ||
                !swing_double(&rig_schemes[s], conserving, 1.0 / 2000, &fine))
                return false;
            rig_claim_order(run, conserving ? "double pendulum, conserving" : "double pendulum",
                            &rig_schemes[s], coarse, fine);
        }
    return true;
}

/* ---- drift ---- */

static double all_energy(const rig *r) { return r->last.energy.kinetic + r->last.energy.potential; }

/* The gap that a step leaves is of the size of h² times the acceleration towards the joint, and no more. */
static bool drift(experiment_run *run, const rig_scheme *scheme, int steps) {
    dls_body_id rods[2];
    rig r = two_rods(false, rods);
    double half[2] = {0, 0}, fastest = 0, h = 1e-3;
    rig_start(&r, scheme, h, 1e-12);
    for (int k = 0; k < steps && rig_step(&r); k++) {
        half[k >= steps / 2] = fmax(half[k >= steps / 2], r.last.joint_gap);
        for (int i = 0; i < 2; i++) fastest = fmax(fastest, fabs(rig_state(&r, rods[i]).w[2]));
    }
    if (!r.failed) {
        claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1,
                    r.gap / (h * h * fastest * fastest * LENGTH),
                    "double pendulum: largest gap in %d steps over h² ω² l, %s", steps, scheme->label);
        claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1.5, half[1] / half[0],
                    "double pendulum: gap of the second half of steps over the first's, %s", scheme->label);
        if (scheme == rig_schemes) rig_claim_books(run, "double pendulum", &r);
    }
    return rig_close(&r);
}

bool show_drift(experiment_run *run) {
    int steps = run->size == SIZE_FULL ? 100000 : 20000;
    dls_body_id rods[2];
    for (int s = 0; s < RIG_SCHEMES; s++)
        if (!drift(run, &rig_schemes[s], steps)) return false;
    rig r = two_rods(true, rods);
    double worst = 0, most = 0;
    rig_start(&r, rig_schemes, 1e-3, 1e-14);
    for (int k = 0; k < steps && rig_step(&r); k++) {
        worst = fmax(worst, fabs(all_energy(&r)));
        most = fmax(most, r.last.energy.kinetic);
    }
    if (!r.failed) {
        claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-12, worst / most,
                    "double pendulum, conserving: change of energy in %d steps, relative", steps);
        claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-3, r.gap,
                    "double pendulum, conserving: largest gap of its joints");
    }
    return rig_close(&r);
}
