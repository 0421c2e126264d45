/* Chains and bridges that hang, against statics. With H the pull along the span and V_i the load that rod i
 * carries in its middle, moments about its ends give
 *
 *     tan α_i = V_i/H,      Σ l cos α_i = span
 *
 * for uniform rods; for ever shorter ones it is the catenary. */
#include "experiments/mechanisms/mechanisms.h"

#include "cli/support/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81, down[3] = {0, -9.81, 0}, z_axis[3] = {0, 0, 1};

/* ---- how it hangs ---- */

typedef struct hanging {
    int count;
    double span, rod, mass; /* of a rod */
    double load;            /* in the middle, N */
    double reach; /* 0, or the load is a disc that lies on both rods in the middle, so far from their axes */
    double swell; /* of the weight along it, (1 + swell cos 2πs), which leaves the ends as they are */
    double pull;  /* H, found */
} hanging;

/* A disc pushes on each of its two rods with load/(2 cos α), at reach · tan α from the notch:
 *
 *     H tan α = V − reach · tan α (1 + tan² α) load/2l,
 *
 * whose left side grows with tan α and whose right side falls. */
static double under_disc(const hanging *c, double V, double pull) {
    double low = 0, high = V / pull;
    for (int k = 0; k < 100; k++) {
        double t = 0.5 * (low + high);
        *(pull * t < V - c->reach * t * (1 + t * t) * c->load / (2 * c->rod) ? &low : &high) = t;
    }
    return low;
}

static double tangent(const hanging *c, int i, double pull) {
    double from_middle = i + 0.5 - 0.5 * c->count;
    double turn = 2 * acos(-1) / c->count, swollen = from_middle + c->swell / turn * sin(turn * from_middle);
    double carried = swollen * c->mass * G + (from_middle > 0 ? 0.5 : from_middle < 0 ? -0.5 : 0) * c->load;
    if (c->reach > 0 && fabs(from_middle) < 1) return copysign(under_disc(c, fabs(carried), pull), carried);
    return carried / pull;
}

static double span_at(const hanging *c, double pull) {
    double sum = 0;
    for (int i = 0; i < c->count; i++) sum += c->rod / hypot(1, tangent(c, i, pull));
    return sum;
}

/* By halves: the span grows with the pull. */
static void find_pull(hanging *c) {
    double low = 1e-9, high = 1e12;
    for (int k = 0; k < 200; k++) {
        double middle = sqrt(low * high);
        *(span_at(c, middle) < c->span ? &low : &high) = middle;
    }
    c->pull = low;
}

/* Joints 0 … count, three numbers each. */
static double *find_shape(hanging *c) {
    double *x = report_allocate(3 * (size_t)(c->count + 1), sizeof *x);
    find_pull(c);
    for (int i = 0; i < c->count; i++) {
        double t = tangent(c, i, c->pull), along = c->rod / hypot(1, t);
        x[3 * i + 3] = x[3 * i] + along;
        x[3 * i + 4] = x[3 * i + 1] + along * t;
    }
    return x;
}

/* Joints where a catenary of this length has them, y = a cosh(x/a): rods are its chords. */
static double *catenary_shape(const hanging *c, double *a) {
    double *x = report_allocate(3 * (size_t)(c->count + 1), sizeof *x), length = c->rod * c->count;
    double low = 1e-3 * c->span, high = 1e3 * c->span;
    for (int k = 0; k < 200; k++) {
        double middle = sqrt(low * high);
        *(2 * middle * sinh(c->span / (2 * middle)) > length ? &low : &high) = middle;
    }
    *a = low;
    for (int i = 0; i <= c->count; i++) {
        double s = length * ((double)i / c->count - 0.5);
        x[3 * i] = *a * asinh(s / *a) + c->span / 2;
        x[3 * i + 1] = sqrt(*a * *a + s * s) - *a * cosh(c->span / (2 * *a));
    }
    return x;
}

/* ---- the chain ---- */

typedef struct chain {
    rig r;
    dls_body_id first;
    dls_joint_id support[2];
} chain;

static dls_joint_id hinge(rig *r, dls_body_id a, dls_body_id b, const double *at, double damping) {
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    def.body[0] = a, def.body[1] = b;
    def.freedom[3].damping = damping;
    return rig_join(r, &def, at, z_axis, NULL);
}

/* Dampers stand between rods alone: at a support one would all but clamp a short rod. */
static chain hang(const hanging *c, const double *x, double damping) {
    chain m = {.r = rig_open(2, down)};
    for (int i = 0; i < c->count; i++) {
        dls_body_id id = rig_add_rod(&m.r, c->mass, x + 3 * i, x + 3 * i + 3);
        if (i == 0) m.first = id;
        dls_joint_id joint = hinge(&m.r, i ? id - 1 : DLS_GROUND, id, x + 3 * i, i ? damping : 0);
        if (i == 0) m.support[0] = joint;
    }
    m.support[1] = hinge(&m.r, DLS_GROUND, m.first + c->count - 1, x + 3 * (int64_t)c->count, 0);
    return m;
}

/* Largest distance of rods' middles from those between joints at x. */
static double away_from(const chain *m, const hanging *c, const double *x) {
    double worst = 0;
    for (int i = 0; i < c->count; i++) {
        dls_body_state now = rig_state(&m->r, m->first + i);
        double dx = now.x[0] - 0.5 * (x[3 * i] + x[3 * i + 3]),
               dy = now.x[1] - 0.5 * (x[3 * i + 1] + x[3 * i + 4]);
        worst = fmax(worst, hypot(dx, dy));
    }
    return worst;
}

/* ---- catenary ---- */

static bool draw_catenary(experiment_run *run, const chain *m, const hanging *c, const double *x) {
    enum { SHOWN = 100 };
    double at[4][SHOWN];
    for (int k = 0; k < SHOWN; k++) {
        int i = k * (c->count - 1) / (SHOWN - 1);
        dls_body_state now = rig_state(&m->r, m->first + i);
        at[0][k] = now.x[0], at[1][k] = now.x[1];
        at[2][k] = 0.5 * (x[3 * i] + x[3 * i + 3]), at[3][k] = 0.5 * (x[3 * i + 1] + x[3 * i + 4]);
    }
    const figure_series series[] = {{"catenary", at[2], at[3], SHOWN, FIGURE_PLAIN, FIGURE_LOOK_BLACK},
                                    {"rods", at[0], at[1], SHOWN, FIGURE_POINTS, 2}};
    figure f = {.x = {"x in m", FIGURE_LINEAR, 0, 1},
                .y = {"y in m", FIGURE_LINEAR, 0, 0},
                .series = series,
                .series_count = 2};
    return run_figure(run, &f, "catenary");
}

/* Begins as if it were heavier in its middle, is let go, swings, and is damped until it hangs. Rods in line
 * swing across it with up to 2 √(T/(m l)), and 2/h has to be more. */
bool show_catenary(experiment_run *run) {
    bool full = run->size == SIZE_FULL;
    hanging c = {.count = full ? 1000 : 40, .span = 1};
    c.rod = 1.5 / c.count, c.mass = 1.0 / c.count;
    double a, h = full ? 5e-4 : 2e-3, *catenary = catenary_shape(&c, &a), *exact = find_shape(&c);
    c.swell = 0.5;
    double *x = find_shape(&c);
    chain m = hang(&c, x, 2e-3 / c.rod);
    double begun = away_from(&m, &c, catenary);
    rig_start(&m.r, rig_schemes, h, 1e-9);
    rig_run(&m.r, (int)lround(3 / h));
    dls_joint_record left = rig_record(&m.r, m.support[0]);
    double force = hypot(hypot(left.impulse[0], left.impulse[1]), left.impulse[2]) / h;
    double expected = G / 1.5 * a * cosh(c.span / (2 * a));
    claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-4 + 1.0 / ((double)c.count * c.count),
                away_from(&m, &c, catenary),
                "chain of %d rods, let go %.2g m from it: distance from the catenary", c.count, begun);
    claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-4, away_from(&m, &c, exact),
                "chain of %d rods: distance from how rods of its length hang", c.count);
    claim_equal(&run->claims, CLAIM_DERIVED, "N", expected, force, 2e-3 * expected,
                "chain of %d rods: force at a support, by the catenary", c.count);
    claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-8, m.r.last.joint_gap,
                "chain of %d rods: gap of its joints at the end", c.count);
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 0, m.r.uncertified, 0,
                "chain of %d rods: steps that are not certified", c.count);
    rig_claim_books(run, "hanging chain", &m.r);
    bool good = !*run->folder || draw_catenary(run, &m, &c, catenary);
    free(catenary), free(exact), free(x);
    return rig_close(&m.r) && good;
}

/* ---- bridge ---- */

static const double TOP = 0.005; /* half the thickness of a plank */

static dls_body_id add_ball(rig *r, double mass, double radius, const double *x) {
    dls_shape_def disc = dls_default_shape_def(DLS_DISC);
    dls_body_def def = dls_default_body_def();
    disc.radius = radius;
    def.shape_count = 1;
    def.shapes = &disc;
    def.mass = mass;
    memcpy(def.pose.x, x, sizeof def.pose.x);
    return rig_add(r, &def);
}

static dls_body_id add_plank(rig *r, double mass, double half, const double *p, const double *q) {
    const double top = TOP, length = hypot(q[0] - p[0], q[1] - p[1]), angle = atan2(q[1] - p[1], q[0] - p[0]);
    const double corners[12] = {-half, -top, 0, half, -top, 0, half, top, 0, -half, top, 0};
    double I = mass * length * length / 12;
    const double inertia[9] = {I, 0, 0, 0, I, 0, 0, 0, I};
    dls_shape_def box = dls_default_shape_def(DLS_POLYGON);
    dls_body_def def = dls_default_body_def();
    box.point_count = 4, box.points = corners;
    box.group = 2, box.collides = 1;
    def.shape_count = 1;
    def.shapes = &box;
    def.mass = mass;
    def.inertia = inertia;
    def.pose.q[0] = cos(angle / 2), def.pose.q[3] = sin(angle / 2);
    for (int k = 0; k < 2; k++) def.pose.x[k] = 0.5 * (p[k] + q[k]);
    return rig_add(r, &def);
}

/* Planks that hang as under the ball, and the ball in the notch. */
static chain build_bridge(const hanging *c, const double *x, double ball, double radius, double damping) {
    chain m = {.r = rig_open(2, down)};
    for (int i = 0; i < c->count; i++) {
        dls_body_id id = add_plank(&m.r, c->mass, c->rod / 2, x + 3 * i, x + 3 * i + 3);
        if (i == 0) m.first = id;
        dls_joint_id joint = hinge(&m.r, i ? id - 1 : DLS_GROUND, id, x + 3 * i, damping);
        if (i == 0) m.support[0] = joint;
    }
    m.support[1] = hinge(&m.r, DLS_GROUND, m.first + c->count - 1, x + 3 * (int64_t)c->count, damping);
    const double *notch = x + 3 * (c->count / 2);
    double slope = tangent(c, c->count / 2, c->pull);
    const double at[3] = {notch[0], notch[1] + c->reach * hypot(1, slope), 0};
    add_ball(&m.r, ball, radius, at);
    return m;
}

/* Momentum upwards of all bodies. */
static double rising(const chain *m, const hanging *c, double ball) {
    double sum = ball * rig_state(&m->r, m->first + c->count).v[1];
    for (int i = 0; i < c->count; i++) sum += c->mass * rig_state(&m->r, m->first + i).v[1];
    return sum;
}

static double fastest(const chain *m, const hanging *c) {
    double most = 0;
    for (int i = 0; i <= c->count; i++) {
        dls_body_state now = rig_state(&m->r, m->first + i);
        most = fmax(most, hypot(now.v[0], now.v[1]));
    }
    return most;
}

/* Impulse upwards of both ends in the last step; A of their joints is the ground. */
static double lift(const chain *m) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        dls_joint_record end = rig_record(&m->r, m->support[side]);
        for (int i = 0; i < 3; i++) sum += end.frame[3 * i + 1] * end.impulse[i];
    }
    return sum;
}

bool show_bridge(experiment_run *run) {
    const double radius = 0.5;
    hanging c = {.count = run->size == SIZE_FULL ? 100 : 20, .span = 9.5, .mass = 0.1, .reach = radius + TOP};
    double ball = 1e4 * c.mass, h = 2e-4, lifted = 0;
    int steps = run->size == SIZE_FULL ? 5000 : 1000;
    c.rod = 10.0 / c.count;
    c.load = ball * G;
    double *x = find_shape(&c), weight = (ball + c.count * c.mass) * G;
    chain m = build_bridge(&c, x, ball, radius, 0.5);
    rig_start(&m.r, rig_schemes, h, 0);
    for (int k = 0; k < steps && rig_step(&m.r); k++) lifted += lift(&m);
    claim_equal(&run->claims, CLAIM_DERIVED, "N", weight, (lifted - rising(&m, &c, ball)) / (steps * h),
                1e-6 * weight,
                "bridge of %d planks under 10,000 times a plank: force of its ends less what moves, mean",
                c.count);
    claim_bound(&run->claims, CLAIM_DERIVED, "m/s", CLAIM_AT_MOST, 1e-7, fastest(&m, &c),
                "bridge of %d planks: speed of ball and planks at the end: it stands still", c.count);
    claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-8, m.r.last.joint_gap,
                "bridge of %d planks: gap of its joints at the end", c.count);
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 0, m.r.uncertified, 0,
                "bridge of %d planks: steps that are not certified", c.count);
    rig_claim_books(run, "bridge", &m.r);
    free(x);
    return rig_close(&m.r);
}

/* ---- a heavy bob ---- */

/* Rods of 1e-3 kg and a bob of a ton: the period of small swings is that of the bob alone. */
static bool swing_bob(experiment_run *run, int rods) {
    rig r = rig_open(2, down);
    const double lean = 0.05, bob = 1000, inertia[3] = {1e-3, 1e-3, 1e-3};
    double p[3] = {0, 0, 0}, q[3] = {0, 0, 0}, before = lean, crossed[2] = {0, 0},
           h = 1e-4 / rods; /* rods in line swing across it with 2 √(T/(m l)), which 1/h has to exceed */
    dls_body_id last = DLS_GROUND, body;
    int crossings = 0;
    for (int k = 0; k < rods; k++) {
        memcpy(p, q, sizeof p);
        q[0] += sin(lean) / rods, q[1] -= cos(lean) / rods;
        body = rig_add_rod(&r, 1e-3, p, q);
        rig_join_plain(&r, DLS_JOINT_REVOLUTE, last, body, p, z_axis);
        last = body;
    }
    dls_body_id weight = rig_add_mass(&r, bob, inertia, q);
    rig_join_plain(&r, DLS_JOINT_REVOLUTE, last, weight, q, z_axis);
    rig_start(&r, rig_schemes, h, 1e-9);
    while (r.last.t < (rods > 1 ? 0.05 : 1.2) && rig_step(&r)) {
        dls_body_state now = rig_state(&r, weight);
        if (before > 0 && now.x[0] <= 0 && crossings < 2)
            crossed[crossings++] = r.last.t - h * now.x[0] / (now.x[0] - before);
        before = now.x[0];
    }
    double quarter = acos(-1) / 2 / sqrt(G) * (1 + lean * lean / 16);
    if (rods == 1)
        claim_equal(&run->claims, CLAIM_DERIVED, "s", quarter, crossed[0], 1e-5,
                    "pendulum with a bob of 1e6 times its rod: quarter of a period");
    claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-8, r.gap,
                "%d rod%s with a bob of 1e6 times a rod: largest gap", rods, rods > 1 ? "s" : "");
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 0, r.uncertified, 0,
                "%d rod%s with a bob of 1e6 times a rod: steps that are not certified", rods,
                rods > 1 ? "s" : "");
    if (rods == 1) rig_claim_books(run, "pendulum with a heavy bob", &r);
    return rig_close(&r);
}

bool show_heavy_bob(experiment_run *run) { return swing_bob(run, 1) && swing_bob(run, 10); }
