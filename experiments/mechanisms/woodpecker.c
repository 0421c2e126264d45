/* The woodpecker that climbs down its pole: masses, lengths, spring, friction and restitution of Pfeiffer and
 * Glocker (1996). Theirs is linear in its angles and has three coordinates; ours has all that there are: the
 * sleeve is as wide as its hole on both sides of the pole and moves across it. */
#include "experiments/mechanisms/mechanisms.h"

#include <math.h>

static const double down[3] = {0, -9.81, 0}, z_axis[3] = {0, 0, 1};
static const double POLE = 0.0025, HOLE = 0.0031, SLEEVE = 0.0058; /* half widths, half a height, m */
static const double PIN = 0.010, TO_BIRD = 0.015, BEAK_UP = 0.02, BEAK_BACK = 0.0201, TIP = 2e-4;

typedef struct woodpecker {
    rig r;
    dls_body_id sleeve, bird;
} woodpecker;

static dls_shape_def box_between(const double *corners, dls_material_id material) {
    dls_shape_def shape = dls_default_shape_def(DLS_POLYGON);
    shape.point_count = 4;
    shape.points = corners;
    shape.material = material;
    return shape;
}

static void add_pole(rig *r, dls_material_id material) {
    const double corners[12] = {-POLE, -2, 0, POLE, -2, 0, POLE, 1, 0, -POLE, 1, 0};
    dls_shape_def shape = box_between(corners, material);
    dls_body_def def = dls_default_body_def();
    def.motion = DLS_STATIC;
    def.shape_count = 1;
    def.shapes = &shape;
    rig_add(r, &def);
}

/* Two jaws, at an angle about the middle of the hole. */
static dls_body_id add_sleeve(rig *r, dls_material_id material, double angle) {
    const double right[12] = {HOLE, -SLEEVE, 0, 2 * HOLE, -SLEEVE, 0, 2 * HOLE, SLEEVE, 0, HOLE, SLEEVE, 0};
    const double left[12] = {-2 * HOLE, -SLEEVE, 0, -HOLE,     -SLEEVE, 0,
                             -HOLE,     SLEEVE,  0, -2 * HOLE, SLEEVE,  0};
    const double inertia[9] = {5e-9, 0, 0, 0, 5e-9, 0, 0, 0, 5e-9};
    dls_shape_def jaws[2] = {box_between(left, material), box_between(right, material)};
    dls_body_def def = dls_default_body_def();
    def.shape_count = 2;
    def.shapes = jaws;
    def.mass = 3e-4;
    def.inertia = inertia;
    def.pose.q[0] = cos(angle / 2), def.pose.q[3] = sin(angle / 2);
    def.v[1] = -0.3411;
    return rig_add(r, &def);
}

static dls_body_id add_bird(rig *r, dls_material_id material, const double *pin, double angle, double rate) {
    const double inertia[9] = {7e-7, 0, 0, 0, 7e-7, 0, 0, 0, 7e-7};
    dls_shape_def beak = dls_default_shape_def(DLS_DISC);
    dls_body_def def = dls_default_body_def();
    beak.radius = TIP;
    beak.material = material;
    beak.pose.x[0] = -BEAK_BACK + TIP, beak.pose.x[1] = BEAK_UP;
    def.shape_count = 1;
    def.shapes = &beak;
    def.mass = 4.5e-3;
    def.inertia = inertia;
    def.pose.x[0] = pin[0] + TO_BIRD * cos(angle), def.pose.x[1] = pin[1] + TO_BIRD * sin(angle);
    def.pose.q[0] = cos(angle / 2), def.pose.q[3] = sin(angle / 2);
    def.v[0] = -rate * TO_BIRD * sin(angle), def.v[1] = -0.3411 + rate * TO_BIRD * cos(angle);
    def.w[2] = rate;
    return rig_add(r, &def);
}

static woodpecker build_woodpecker(void) {
    woodpecker m = {.r = rig_open(2, down)};
    const double tilt = -0.1036, bird = -0.2788, rate = -7.4583,
                 pin[3] = {PIN * cos(tilt), PIN * sin(tilt), 0};
    dls_material_id wood = rig_add_material(&m.r, 0.3, 0, 0), beak = rig_add_material(&m.r, 0.3, 0.5, 0);
    add_pole(&m.r, wood);
    m.sleeve = add_sleeve(&m.r, wood, tilt);
    m.bird = add_bird(&m.r, beak, pin, bird, rate);
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
    def.body[0] = m.sleeve, def.body[1] = m.bird;
    def.freedom[3].stiffness = 0.0056;
    rig_place(&m.r, &def, pin, z_axis, NULL);
    /* the spring is at rest where bird and sleeve stand alike */
    def.frame[0].q[0] = def.frame[1].q[0], def.frame[0].q[3] = def.frame[1].q[3];
    rig_add_joint(&m.r, &def);
    return m;
}

/* Of periods that begin where the bird passes −0.1 rad towards the pole. */
typedef struct descent {
    double period, drop; /* means, s, m */
    double spread;       /* longest less shortest period, over the mean */
    double pecks;        /* per period */
    double lost;         /* by friction and impacts, over the weight's work */
    int count;
} descent;

enum { SHOWN = 2000 };

typedef struct trace {
    int count, every;
    double t[SHOWN], bird[SHOWN], sleeve[SHOWN];
} trace;

/* What a mark between two periods remembers. */
typedef struct mark {
    double t, y, taken;
    int pecks;
} mark;

static double taken_so_far(const rig *r) { return r->last.energy.friction + r->last.energy.impact; }

static void end_period(descent *d, const mark *first, const mark *last, const mark *now, double *range) {
    range[0] = fmin(range[0], now->t - last->t), range[1] = fmax(range[1], now->t - last->t);
    d->count++;
    d->period = (now->t - first->t) / d->count;
    d->drop = (first->y - now->y) / d->count;
    d->pecks = (double)(now->pecks - first->pecks) / d->count;
    d->lost = (now->taken - first->taken) / (4.8e-3 * 9.81 * (first->y - now->y));
    d->spread = (range[1] - range[0]) / d->period;
}

static bool beak_touches(const woodpecker *m) {
    for (int k = 0; k < dls_simulation_contact_count(m->r.simulation); k++) {
        dls_contact_record c;
        dls_simulation_contact(m->r.simulation, k, &c);
        if ((c.body_a == m->bird || c.body_b == m->bird) && c.impulse[0] > 0) return true;
    }
    return false;
}

static void draw_step(trace *drawn, int step, double t, double bird, double sleeve) {
    if (!drawn || step % drawn->every != 0 || drawn->count == SHOWN) return;
    drawn->t[drawn->count] = t;
    drawn->bird[drawn->count] = bird, drawn->sleeve[drawn->count++] = sleeve;
}

/* The first third of the time is left to settle. */
static bool climb_down(experiment_run *run, const rig_scheme *scheme, double h, double until, descent *d,
                       trace *drawn) {
    woodpecker m = build_woodpecker();
    double before = 0, range[2] = {HUGE_VAL, 0};
    mark first = {(double)NAN, 0, 0, 0}, last = first;
    bool touched = false;
    int pecks = 0;
    *d = (descent){0};
    rig_start(&m.r, scheme, h, 1e-8);
    for (int k = 0; m.r.last.t < until && rig_step(&m.r); k++) {
        dls_body_state bird = rig_state(&m.r, m.bird), sleeve = rig_state(&m.r, m.sleeve);
        double t = m.r.last.t, angle = rig_angle(&bird), passed = (-0.1 - before) / (angle - before);
        bool touches = beak_touches(&m);
        pecks += touches && !touched;
        touched = touches;
        draw_step(drawn, k, t, angle, rig_angle(&sleeve));
        if (before < -0.1 && angle >= -0.1 && t > until / 3) {
            mark now = {t - (1 - passed) * h, sleeve.x[1], taken_so_far(&m.r), pecks};
            if (isnan(first.t))
                first = now;
            else
                end_period(d, &first, &last, &now, range);
            last = now;
        }
        before = angle;
    }
    if (run) rig_claim_books(run, "woodpecker", &m.r);
    return rig_close(&m.r);
}

static bool draw_descent(experiment_run *run, const trace *drawn) {
    size_t n = (size_t)drawn->count;
    const figure_series series[] = {{"bird", drawn->t, drawn->bird, n, FIGURE_PLAIN, 1},
                                    {"sleeve", drawn->t, drawn->sleeve, n, FIGURE_PLAIN, 2}};
    figure f = {.x = {"time in s", FIGURE_LINEAR, 0, 0.6},
                .y = {"angle in rad", FIGURE_LINEAR, 0, 0},
                .series = series,
                .series_count = 2};
    return run_figure(run, &f, "woodpecker");
}

static bool judge_descent(experiment_run *run, const rig_scheme *scheme, double h, double until,
                          trace *drawn) {
    descent coarse, fine;
    double share = run->size == SIZE_FULL ? 2e-3 : 1e-2;
    if (!climb_down(drawn ? run : NULL, scheme, h, until, &coarse, drawn) ||
        !climb_down(NULL, scheme, h / 2, until, &fine, NULL))
        return false;
    claim_equal(&run->claims, CLAIM_DERIVED, "s", fine.period, coarse.period, share * fine.period,
                "woodpecker: period, h = %g s against h/2, mean of %d, %s", h, fine.count, scheme->label);
    claim_equal(&run->claims, CLAIM_DERIVED, "m", fine.drop, coarse.drop, share * fine.drop,
                "woodpecker: way down in a period, h = %g s against h/2, %s", h, scheme->label);
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, share, fine.spread,
                "woodpecker: longest less shortest period, over their mean, %s", scheme->label);
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 1, fine.pecks, 0,
                "woodpecker: pecks of its beak in a period, %s", scheme->label);
    if (drawn)
        claim_equal(&run->claims, CLAIM_DERIVED, "1", 1, fine.lost, 2e-2,
                    "woodpecker: friction and impacts take in a period what weight gives");
    return true;
}

bool show_woodpecker(experiment_run *run) {
    static trace drawn;
    bool full = run->size == SIZE_FULL;
    double h = full ? 2e-5 : 1e-4, until = full ? 4 : 2;
    drawn.count = 0;
    drawn.every = (int)lround(1e-3 / h);
    for (int s = 0; s < (full ? 3 : 1); s++) /* dvi lands first and bounces with what speed is left */
        if (!judge_descent(run, &rig_schemes[s], h, until, s ? NULL : &drawn)) return false;
    return !*run->folder || draw_descent(run, &drawn);
}
