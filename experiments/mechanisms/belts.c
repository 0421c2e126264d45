/* A belt of rods over a drum: the capstan's T₂/T₁ = e^{μφ}, and a chain that runs over a smooth peg. */
#include "experiments/mechanisms/mechanisms.h"

#include <math.h>

static const double still[3] = {0, 0, 0}, down[3] = {0, -9.81, 0}, z_axis[3] = {0, 0, 1},
                    y_axis[3] = {0, 1, 0};

typedef struct belt_def {
    double radius, thickness, mu; /* of the drum, half of the belt's */
    int wrapped, left, right;     /* rods on the drum and at its sides */
    double mass;                  /* of a rod */
    double tension;               /* at the left end, N */
    double speed;                 /* of the right end downwards, m/s; 0: free */
} belt_def;

typedef struct belt {
    rig r;
    int count;
    double rod; /* its length */
    dls_body_id first;
    dls_joint_id drive;
} belt;

static double turn_of(const belt_def *d) { return acos(-1) / d->wrapped; }

/* Joint k, from the left end: rods touch the drum in their middles. */
static void joint_place(const belt_def *d, double rod, int k, double *x) {
    double corner = (d->radius + d->thickness) / cos(turn_of(d) / 2);
    int on = k - d->left, from = on < 0 ? 0 : on > d->wrapped ? d->wrapped : on;
    double angle = acos(-1) - from * turn_of(d);
    x[0] = corner * cos(angle), x[1] = corner * sin(angle), x[2] = 0;
    x[1] -= rod * (on < 0 ? -on : on > d->wrapped ? on - d->wrapped : 0);
}

static void add_drum(belt *m, const belt_def *d) {
    dls_shape_def disc = dls_default_shape_def(DLS_DISC);
    dls_body_def def = dls_default_body_def();
    disc.radius = d->radius;
    disc.material = rig_add_material(&m->r, d->mu, 0, 0);
    def.motion = DLS_STATIC;
    def.shape_count = 1;
    def.shapes = &disc;
    rig_add(&m->r, &def);
}

/* A thin box from p to q that touches the drum alone. */
static dls_body_id add_link(belt *m, const belt_def *d, const double *p, const double *q, double pull) {
    double half = m->rod / 2, t = d->thickness, angle = atan2(q[1] - p[1], q[0] - p[0]);
    const double corners[12] = {-half, -t, 0, half, -t, 0, half, t, 0, -half, t, 0};
    double I = d->mass * m->rod * m->rod / 12;
    const double inertia[9] = {I, 0, 0, 0, I, 0, 0, 0, I};
    dls_shape_def box = dls_default_shape_def(DLS_POLYGON);
    dls_body_def def = dls_default_body_def();
    box.point_count = 4;
    box.points = corners;
    box.material = 1;
    box.group = 2, box.collides = 1;
    def.shape_count = 1;
    def.shapes = &box;
    def.mass = d->mass;
    def.inertia = inertia;
    def.pose.q[0] = cos(angle / 2), def.pose.q[3] = sin(angle / 2);
    for (int k = 0; k < 2; k++) def.pose.x[k] = 0.5 * (p[k] + q[k]);
    if (pull != 0) def.force[1] = rig_constant(&m->r, -pull);
    return rig_add(&m->r, &def);
}

static void add_puller(belt *m, const belt_def *d, const double *end) {
    const double inertia[3] = {1, 1, 1};
    dls_body_id puller = rig_add_mass(&m->r, 10 * d->mass, inertia, end);
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_PRISMATIC);
    def.body[0] = DLS_GROUND, def.body[1] = puller;
    static const char *const names[] = {"speed"};
    if (!m->r.failed) /* gently, or the belt would have to jump */
        m->r.failed = dls_function_expression("-speed * min(10 * t, 1)", 1, names, &d->speed,
                                              &def.freedom[0].velocity, &m->r.error) != DLS_OK;
    m->drive = rig_join(&m->r, &def, end, y_axis, NULL);
    rig_join_plain(&m->r, DLS_JOINT_REVOLUTE, m->first + m->count - 1, puller, end, z_axis);
}

static belt build_belt(const belt_def *d, const double *gravity) {
    belt m = {.r = rig_open(2, gravity), .count = d->left + d->wrapped + d->right, .drive = -1};
    double p[3], q[3];
    m.rod = 2 * (d->radius + d->thickness) * tan(turn_of(d) / 2);
    add_drum(&m, d);
    for (int k = 0; k < m.count; k++) {
        joint_place(d, m.rod, k, p);
        joint_place(d, m.rod, k + 1, q);
        dls_body_id id = add_link(&m, d, p, q, k == 0 ? d->tension : 0);
        if (k == 0) m.first = id;
        if (k > 0) rig_join_plain(&m.r, DLS_JOINT_REVOLUTE, id - 1, id, p, z_axis);
    }
    if (d->speed > 0) add_puller(&m, d, q);
    return m;
}

/* ---- capstan ---- */

/* Mean of the drive's force while one rod and then another comes round. */
static bool pull_belt(experiment_run *run, const rig_scheme *scheme, const belt_def *d, double h,
                      double *ratio) {
    belt m = build_belt(d, still);
    double round = m.rod / d->speed, sum = 0;
    int count = 0;
    rig_start(&m.r, scheme, h, 0);
    while (m.r.last.t < 2 * round && rig_step(&m.r)) {
        if (m.r.last.t <= round) continue;
        sum -= rig_record(&m.r, m.drive).actuator[0] / h;
        count++;
    }
    *ratio = sum / count / d->tension;
    if (run) {
        rig_claim_books(run, "capstan", &m.r);
        claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 0.01,
                    (double)m.r.uncertified / (double)m.r.last.step,
                    "capstan: share of steps that are not certified");
    }
    return rig_close(&m.r);
}

bool show_capstan(experiment_run *run) {
    static const double mus[2] = {0.2, 0.3};
    bool full = run->size == SIZE_FULL;
    belt_def d = {.radius = 0.1,
                  .thickness = 1e-4,
                  .wrapped = full ? 60 : 30,
                  .left = 3,
                  .right = 3,
                  .mass = 1e-2,
                  .tension = 10,
                  .speed = 0.02};
    for (int s = 0; s < (full ? RIG_SCHEMES : 1); s++)
        for (int k = 0; k < 2; k++)
            for (int half = 0; half < (full ? 2 : 1); half++) {
                double ratio, expected, h = (full ? 5e-4 : 1e-3) / (1 + half);
                d.mu = mus[k];
                expected = exp(d.mu * acos(-1));
                if (!pull_belt(s || k || half ? NULL : run, &rig_schemes[s], &d, h, &ratio)) return false;
                claim_equal(&run->claims, CLAIM_DERIVED, "1", expected, ratio, 0.02 * expected,
                            "capstan of %d rods over half a turn, μ = %g: T₂/T₁ = e^{μφ}, %s, h = %g s",
                            d.wrapped, d.mu, rig_schemes[s].label, h);
            }
    return true;
}

/* ---- peg ---- */

/* s̈ = 2 g s/L with s half the difference of the hanging ends: s₀ cosh(√(2 g/L) t). */
static bool run_over_peg(experiment_run *run, const rig_scheme *scheme, const belt_def *d, double h,
                         double *share) {
    belt m = build_belt(d, down);
    double length = m.rod * m.count, start = 0.5 * m.rod * (d->right - d->left),
           rate = sqrt(2 * 9.81 / length);
    double until = acosh(3) / rate, place[3];
    joint_place(d, m.rod, m.count, place);
    rig_start(&m.r, scheme, h, 0);
    while (m.r.last.t < until && rig_step(&m.r)) continue;
    double sunk = place[1] - rig_state(&m.r, m.first + m.count - 1).x[1] + m.rod / 2;
    *share = (start + sunk) / (start * cosh(rate * m.r.last.t));
    if (run) rig_claim_books(run, "chain over a peg", &m.r);
    return rig_close(&m.r);
}

bool show_peg(experiment_run *run) {
    bool full = run->size == SIZE_FULL;
    belt_def d = {.radius = 0.02, .thickness = 1e-4, .mass = 1e-3, .wrapped = 12, .left = 20, .right = 30};
    if (full) d.wrapped = 24, d.left = 40, d.right = 60;
    for (int s = 0; s < (full ? RIG_SCHEMES : 1); s++)
        for (int half = 0; half < 2; half++) {
            double share, h = half ? 5e-4 : 1e-3;
            if (!run_over_peg(s || half ? NULL : run, &rig_schemes[s], &d, h, &share)) return false;
            claim_equal(&run->claims, CLAIM_DERIVED, "1", 1, share, 0.02,
                        "chain over a smooth peg: way over s₀ cosh(√(2g/L) t), %s, h = %g s",
                        rig_schemes[s].label, h);
        }
    return true;
}
