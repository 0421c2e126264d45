/* Contacts move within a step: a disc that leans and rolls, what circles in a tube, a grain that hits
 * obliquely. */
#include "experiments/behaviours/turned.h"

#include <math.h>
#include <string.h>

static const double G = 9.81, PI = 3.14159265358979323846;

/* ---- 6: a disc that leans and rolls round ---- */

static const double DISC = 0.0375;

typedef struct leaning {
    double change, depth, rise; /* of the energy; m; of the angle, deg */
    int uncertified;
} leaning;

/* With Ω² = 4g/(R sin α) a thin disc rolls round its own centre, which rests; a thick one nods. */
static bool lean(const variant *v, double degrees, double thick, double seconds, leaning *out) {
    turned_def def = turned_default(3);
    def.gravity = G, def.pair.mu = 1, def.tolerance = 1e-9;
    turned t = turned_open(&def, v);
    double alpha = degrees * PI / 180, Omega = sqrt(4 * G / (DISC * sin(alpha))), q[4];
    double axis[3] = {sin(alpha), 0, cos(alpha)}, x[3] = {0, 0, DISC * sin(alpha) + thick / 2 * cos(alpha)};
    double w[3] = {-Omega * cos(alpha) * axis[0], 0, Omega - Omega * cos(alpha) * axis[2]};
    double speed[3] = {0, Omega * axis[0] * thick / 2, 0};
    dls_shape_def disc = dls_default_shape_def(DLS_CYLINDER);
    disc.radius = DISC, disc.length = thick;
    turn_about(1, alpha, q);
    turned_add_floor(&t);
    dls_body_id id = turned_add_shape(&t, DLS_DYNAMIC, &disc, x, q, speed, w);
    turned_start(&t, &def, v);
    double before = turned_energy(&t);
    *out = (leaning){0};
    for (int k = 0; k < (int)lround(seconds / (v->share * def.step)) && turned_run(&t, 1); k++) {
        const dls_body_state now = turned_state(&t, id);
        double up = 1 - 2 * (now.q[1] * now.q[1] + now.q[2] * now.q[2]); /* of the axis */
        out->change = fmax(out->change, fabs(turned_energy(&t) / before - 1));
        out->rise = fmax(out->rise, fabs(acos(fmin(1, fabs(up))) * 180 / PI - degrees));
    }
    out->depth = t.depth;
    out->uncertified = t.uncertified;
    return turned_close(&t);
}

static bool show_disc(experiment_run *run) {
    claim_list *c = &run->claims;
    double seconds = run->size == SIZE_FULL ? 10 : 2;
    double change[VARIANTS];
    for (int k = 0; k < VARIANTS; k++) {
        const variant *v = &variants[k];
        double h = v->share * 1e-3, speed2 = 4 * G * DISC / sin(PI / 6), flat2 = 4 * G * DISC / sin(PI / 18);
        leaning thick, thin, flat;
        if (!lean(v, 30, 6e-3, seconds, &thick) || !lean(v, 30, 1e-5, seconds, &thin) ||
            !lean(v, 10, 6e-3, 2, &flat))
            return false;
        change[k] = thick.change;
        claim_bound(c, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-3, thick.change,
                    "6: energy of a disc that leans by 30° and rolls, change in %g s, %s", seconds, v->name);
        claim_bound(c, CLAIM_DERIVED, "m", CLAIM_AT_MOST, h * h * speed2 / DISC, thick.depth,
                    "6: how deep it sinks, at most curvature · (h v)², %s", v->name);
        claim_bound(c, CLAIM_DERIVED, "deg", CLAIM_AT_MOST, 0.1, thin.rise,
                    "6: a disc 10 µm thick changes its lean of 30° in %g s, %s", seconds, v->name);
        claim_bound(c, CLAIM_DERIVED, "m", CLAIM_AT_MOST, h * h * flat2 / DISC, flat.depth,
                    "6: one that leans by 10° sinks in 2 s, %s", v->name);
    }
    claim_bound(c, CLAIM_DERIVED, "1", CLAIM_AT_LEAST, 1.8, log2(change[0] / change[1]),
                "6: order of the energy of the disc that leans by 30°");
    return true;
}

/* ---- 7: what circles in a tube without friction ---- */

static bool circle(const variant *v, const dls_shape_def *shape, double *change, double *depth) {
    turned_def def = turned_default(3);
    def.tolerance = 1e-9;
    turned t = turned_open(&def, v);
    dls_shape_def tube = dls_default_shape_def(DLS_CYLINDER_INSIDE);
    dls_body_def body = dls_default_body_def();
    tube.radius = 1;
    turned_add_shape(&t, DLS_STATIC, &tube, NULL, NULL, NULL, NULL);
    body.shape_count = 1, body.shapes = shape, body.mass = 1;
    body.pose.x[0] = 0.95, body.v[1] = 1.5;
    turned_add(&t, &body);
    turned_start(&t, &def, v);
    double before = turned_energy(&t);
    *change = 0;
    for (int k = 0; k < (int)lround(3 / (v->share * def.step)) && turned_run(&t, 1); k++)
        *change = fmax(*change, fabs(turned_energy(&t) / before - 1));
    *depth = t.depth;
    return turned_close(&t);
}

static bool show_tube(experiment_run *run) {
    static const dls_shape_kind kinds[] = {DLS_ELLIPSOID, DLS_CAPSULE, DLS_CYLINDER};
    static const char *const names[] = {"ellipsoid", "capsule", "cylinder"};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < VARIANTS; k++) {
            dls_shape_def shape = dls_default_shape_def(kinds[i]);
            const double axes[3] = {0.05, 0.05, 0.08};
            double h = variants[k].share * 1e-3, change, depth;
            shape.radius = 0.05, shape.length = 0.1;
            memcpy(shape.size, axes, sizeof axes);
            if (!circle(&variants[k], &shape, &change, &depth)) return false;
            claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-5, change,
                        "7: energy of %s %s that circles in a tube, change in 3 s, %s", i ? "a" : "an",
                        names[i], variants[k].name);
            claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, h * h * 1.5 * 1.5 / 0.95, depth,
                        "7: how deep it sinks, at most (h v)²/ρ, %s", variants[k].name);
        }
    return true;
}

/* ---- 8: a grain that hits a plane obliquely ---- */

static const double GRAIN = 5e-3;

/* It slides while it is hit, without gravity: its spin over 5 μ (1 + e) v_n/2r, 90 rad/s for e = 0. */
static bool strike(const variant *v, double step, double e_n, double *spin) {
    turned_def def = turned_default(3);
    def.step = step, def.pair.mu = 0.3, def.pair.e_n = e_n, def.tolerance = 1e-12;
    turned t = turned_open(&def, v);
    dls_shape_def ball = turned_ball(3, GRAIN);
    const double x[3] = {0, 0, GRAIN + 0.0103}, speed[3] = {3, 0, -0.6};
    turned_add_floor(&t);
    dls_body_id id = turned_add_shape(&t, DLS_DYNAMIC, &ball, x, NULL, speed, NULL);
    turned_start(&t, &def, v);
    turned_run(&t, (int)(0.04 / (v->share * step)));
    *spin = length_of(turned_state(&t, id).w) / (2.5 * 0.3 * (1 + e_n) * 0.6 / GRAIN);
    return turned_close(&t);
}

/* Dropped from a height, it rises to e² of it: the top of the parabola that it is on after its first blow. */
static bool bounce(const variant *v, double step, dls_restitution restitution, double *peak) {
    const double e_n = 0.8, drop = 0.1;
    turned_def def = turned_default(3);
    def.step = step, def.gravity = G, def.pair.e_n = e_n, def.restitution = restitution;
    turned t = turned_open(&def, v);
    dls_shape_def ball = turned_ball(3, GRAIN);
    const double x[3] = {0, 0, GRAIN + drop};
    turned_add_floor(&t);
    dls_body_id id = turned_add_shape(&t, DLS_DYNAMIC, &ball, x, NULL, NULL, NULL);
    turned_start(&t, &def, v);
    turned_run(&t, (int)((1 + e_n) * sqrt(2 * drop / G) / (v->share * step)));
    const dls_body_state now = turned_state(&t, id);
    *peak = (now.x[2] - GRAIN + now.v[2] * now.v[2] / (2 * G)) / (e_n * e_n * drop);
    return turned_close(&t);
}

static bool show_grain(experiment_run *run) {
    claim_list *c = &run->claims;
    for (int k = 0; k < VARIANTS; k++) {
        const char *name = variants[k].name;
        double dead, live, peak, in_order;
        if (!strike(&variants[k], 1e-3, 0, &dead) || !strike(&variants[k], 1e-3, 0.5, &live) ||
            !bounce(&variants[k], 1e-3, DLS_RESTITUTION_IMPACTS, &peak) ||
            !bounce(&variants[k], 1e-3, DLS_RESTITUTION_IN_ORDER, &in_order))
            return false;
        claim_equal(c, CLAIM_DERIVED, "1", 1, dead, 1e-9,
                    "8: spin of a grain that hits a plane obliquely over 5 μ v/2r, %s", name);
        claim_equal(c, CLAIM_DERIVED, "1", 1, live, 1e-9,
                    "8: the same with e = 0.5, over 5 μ (1 + e) v/2r, %s", name);
        claim_equal(c, CLAIM_DERIVED, "1", 1, peak, 1e-3, "8: first peak of a ball over e² of its drop, %s",
                    name);
        claim_equal(c, CLAIM_DERIVED, "1", 1, in_order, 1e-9, "8: the same with impacts in order, %s", name);
    }
    return true;
}

bool show_within(experiment_run *run) { return show_disc(run) && show_tube(run) && show_grain(run); }
