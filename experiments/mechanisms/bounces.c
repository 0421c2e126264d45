/* Joints and impacts: a ball that bounces with tangential restitution, and a slider with clearance in its
 * slot. */
#include "experiments/mechanisms/mechanisms.h"

#include <math.h>
#include <string.h>

static const double down[3] = {0, -9.81, 0}, still[3] = {0, 0, 0}, z_axis[3] = {0, 0, 1},
                    origin[3] = {0, 0, 0};

/* ---- superball ---- */

/* With u = v + ω × r of the point that touches and m* = 2 m/7 of a ball,
 *
 *     v_n⁺ = −e_n v_n,   v_t⁺ = v_t − 2/7 (1 + e_t) u_t,   R ω⁺ = R ω ∓ 5/7 (1 + e_t) u_t
 *
 * It meets the ground where contacts are found: elsewhere half the gap is added to the lever R. */
static bool bounce_ball(experiment_run *run, const rig_scheme *scheme, double h) {
    static const double RADIUS = 0.03, E_N = 0.8, E_T = 0.6;
    rig r = rig_open(3, still);
    dls_shape_def ground = dls_default_shape_def(DLS_HALF_SPACE), ball = dls_default_shape_def(DLS_SPHERE);
    ground.material = ball.material = rig_add_material(&r, 10, E_N, E_T);
    ball.radius = RADIUS;
    dls_body_def floor = dls_default_body_def(), def = dls_default_body_def();
    floor.motion = DLS_STATIC;
    floor.shape_count = def.shape_count = 1;
    floor.shapes = &ground, def.shapes = &ball;
    const double v[3] = {1.5, -0.7, -3}, w[3] = {20, -50, 10};
    memcpy(def.v, v, sizeof v);
    memcpy(def.w, w, sizeof w);
    /* met a hair after it would be too early, or, as dvi wants it, closed by a hair */
    bool dvi = !strcmp(scheme->name, "dvi");
    def.pose.x[2] = RADIUS - v[2] * h * (dvi ? 10 : 10.5) + (dvi ? -1e-13 : 1e-13);
    rig_add(&r, &floor);
    dls_body_id id = rig_add(&r, &def);
    rig_start(&r, scheme, h, 1e-13);
    rig_run(&r, (int)lround(0.06 / h));
    dls_body_state now = rig_state(&r, id);
    const double u[2] = {v[0] - w[1] * RADIUS, v[1] + w[0] * RADIUS};
    const double expected[6] = {
        v[0] - 2.0 / 7 * (1 + E_T) * u[0],          v[1] - 2.0 / 7 * (1 + E_T) * u[1],          -E_N * v[2],
        w[0] - 5.0 / 7 * (1 + E_T) * u[1] / RADIUS, w[1] + 5.0 / 7 * (1 + E_T) * u[0] / RADIUS, w[2]};
    double worst = 0;
    for (int k = 0; k < 3; k++) {
        worst = fmax(worst, fabs(now.v[k] - expected[k]));
        worst = fmax(worst, RADIUS * fabs(now.w[k] - expected[3 + k]));
    }
    claim_bound(&run->claims, CLAIM_DERIVED, "m/s", CLAIM_AT_MOST, 1e-8, worst,
                "superball: velocities after its bounce, %s, h = %g s", scheme->label, h);
    if (scheme == rig_schemes && h == 1e-3) rig_claim_books(run, "superball", &r);
    return rig_close(&r);
}

bool show_superball(experiment_run *run) {
    for (int s = 0; s < RIG_SCHEMES; s++)
        if (!bounce_ball(run, &rig_schemes[s], 1e-3) || !bounce_ball(run, &rig_schemes[s], 5e-4))
            return false;
    return true;
}

/* ---- slider with clearance ---- */

/* Lengths and masses of Flores, Leine and Glocker (2010), the crank driven. */
static const double THROW = 0.153, ROD = 0.306, HALF_LENGTH = 0.05, HALF_HEIGHT = 0.025, SPEED = 150;

typedef struct slider_run {
    double away, out, path; /* largest: from the place without clearance, of the centre in the slot, from the
                               place that follows from where in the slot it is, m */
    double side[2];         /* shares of time at the lower and the upper wall */
} slider_run;

static void add_slot(rig *r, double clearance) {
    for (int side = 0; side < 2; side++) {
        dls_shape_def wall = dls_default_shape_def(DLS_HALF_PLANE);
        wall.material = rig_add_material(r, 0.01, 0.4, 0);
        wall.pose.x[1] = (side ? 1 : -1) * (HALF_HEIGHT + clearance);
        if (side) wall.pose.q[0] = 0, wall.pose.q[3] = 1;
        dls_body_def def = dls_default_body_def();
        def.motion = DLS_STATIC;
        def.shape_count = 1;
        def.shapes = &wall;
        rig_add(r, &def);
    }
}

static dls_body_id add_slider(rig *r, double mass, double moment) {
    const double corners[12] = {-HALF_LENGTH, -HALF_HEIGHT, 0, HALF_LENGTH,  -HALF_HEIGHT, 0,
                                HALF_LENGTH,  HALF_HEIGHT,  0, -HALF_LENGTH, HALF_HEIGHT,  0};
    const double inertia[9] = {moment, 0, 0, 0, moment, 0, 0, 0, moment};
    dls_shape_def block = dls_default_shape_def(DLS_POLYGON);
    dls_body_def def = dls_default_body_def();
    block.point_count = 4;
    block.points = corners;
    block.material = rig_add_material(r, 0.01, 0.4, 0);
    def.shape_count = 1;
    def.shapes = &block;
    def.mass = mass;
    def.inertia = inertia;
    def.pose.x[0] = THROW + ROD;
    return rig_add(r, &def);
}

static dls_body_id build_slider(rig *r, double clearance) {
    const double a[3] = {THROW, 0, 0}, b[3] = {THROW + ROD, 0, 0};
    const double crank_v[3] = {0, SPEED * THROW / 2, 0}, rod_v[3] = {0, SPEED * THROW / 2, 0};
    const double crank_w[3] = {0, 0, SPEED}, rod_w[3] = {0, 0, -SPEED * THROW / ROD};
    const double moments[2] = {7.4e-5, 5.9e-4};
    add_slot(r, clearance);
    dls_body_id slider = add_slider(r, 0.076, 2.7e-6);
    const double centres[2][3] = {{THROW / 2, 0, 0}, {THROW + ROD / 2, 0, 0}};
    dls_body_id bar[2];
    for (int k = 0; k < 2; k++) {
        const double inertia[3] = {moments[k], moments[k], moments[k]};
        bar[k] = rig_add_mass(r, 0.038, inertia, centres[k]);
        rig_set_speed(r, bar[k], k ? rod_v : crank_v, k ? rod_w : crank_w);
    }
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    def.body[0] = DLS_GROUND, def.body[1] = bar[0];
    def.freedom[3].velocity = rig_constant(r, SPEED);
    rig_join(r, &def, origin, z_axis, NULL);
    rig_join_plain(r, DLS_JOINT_REVOLUTE, bar[0], bar[1], a, z_axis);
    rig_join_plain(r, DLS_JOINT_REVOLUTE, bar[1], slider, b, z_axis);
    return slider;
}

/* x = r cos θ + √(l² − (r sin θ − y)²) */
static double slider_at(double t, double y) {
    double s = THROW * sin(SPEED * t) - y;
    return THROW * cos(SPEED * t) + sqrt(ROD * ROD - s * s);
}

static bool run_slider(experiment_run *run, const rig_scheme *scheme, double clearance, double h,
                       slider_run *found) {
    rig r = rig_open(2, down);
    dls_body_id slider = build_slider(&r, clearance);
    *found = (slider_run){0};
    rig_start(&r, scheme, h, 1e-9);
    while (r.last.t < 0.1 - h / 2 && rig_step(&r)) {
        dls_body_state now = rig_state(&r, slider);
        double t = r.last.t, y = now.x[1];
        found->away = fmax(found->away, fabs(now.x[0] - slider_at(t, 0)));
        found->out = fmax(found->out, fabs(y));
        found->path = fmax(found->path, fabs(now.x[0] - slider_at(t, y)));
        for (int side = 0; side < 2; side++) found->side[side] += ((side ? y : -y) > clearance / 2) * h / 0.1;
    }
    if (run) rig_claim_books(run, "slider with clearance", &r);
    return rig_close(&r);
}

static bool judge_slider(experiment_run *run, const rig_scheme *scheme, double clearance) {
    slider_run coarse, fine;
    bool first = scheme == rig_schemes;
    char what[64];
    if (!run_slider(first && clearance > 5e-4 ? run : NULL, scheme, clearance, 1e-5, &coarse) ||
        !run_slider(NULL, scheme, clearance, 5e-6, &fine))
        return false;
    double most = THROW + clearance, bound = clearance * most / sqrt(ROD * ROD - most * most);
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1.001, fine.out / clearance,
                "slider with clearance %g m: how far from the middle of its slot, over it, %s", clearance,
                scheme->label);
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1.01, fine.away / bound,
                "slider with clearance %g m: distance from that without, over its bound, %s", clearance,
                scheme->label);
    snprintf(what, sizeof what, "slider with clearance %g m: x for its y", clearance);
    rig_claim_order(run, what, scheme, coarse.path, fine.path);
    for (int side = 0; side < 2 && first; side++)
        claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_LEAST, 0.1, fine.side[side],
                    "slider with clearance %g m: share of time at the %s wall", clearance,
                    side ? "upper" : "lower");
    return true;
}

bool show_clearance(experiment_run *run) {
    int schemes = run->size == SIZE_FULL ? RIG_SCHEMES : 1;
    for (int s = 0; s < schemes; s++)
        if (!judge_slider(run, &rig_schemes[s], 1e-3) || !judge_slider(run, &rig_schemes[s], 1e-4))
            return false;
    return true;
}
