/* A heap of ragdolls: arms that jam between their shoulders and heads answer whatever closes the gaps of
 * their joints by impulses without bound, and must not be thrown. Nothing but gravity moves them, so that
 * their energy falls. */
#include "experiments/mechanisms/mechanisms.h"

#include <math.h>
#include <string.h>

enum { PARTS = 10, JOINTS = 9 };

typedef struct part {
    double size[3]; /* edges; of a ball its diameter first */
    double at[3], mass;
} part;

typedef struct link {
    dls_joint_kind kind;
    int part[2];
    double at[3], axis[3];
} link;

static const double FALL = 2; /* s */

/* Trunk, head, then arm, forearm, thigh and shin of each side; stretched out as a T. */
static const part parts[PARTS] = {
    {{0.36, 0.22, 0.60}, {0, 0, 0}, 30},         {{0.24}, {0, 0, 0.46}, 5},
    {{0.30, 0.10, 0.10}, {-0.36, 0, 0.22}, 2.5}, {{0.30, 0.08, 0.08}, {-0.68, 0, 0.22}, 1.5},
    {{0.15, 0.15, 0.42}, {-0.10, 0, -0.54}, 8},  {{0.12, 0.12, 0.42}, {-0.10, 0, -0.98}, 4},
    {{0.30, 0.10, 0.10}, {0.36, 0, 0.22}, 2.5},  {{0.30, 0.08, 0.08}, {0.68, 0, 0.22}, 1.5},
    {{0.15, 0.15, 0.42}, {0.10, 0, -0.54}, 8},   {{0.12, 0.12, 0.42}, {0.10, 0, -0.98}, 4}};

/* Balls, and hinges that turn from −0.1 to 2.4 rad. */
static const link links[JOINTS] = {{DLS_JOINT_SPHERICAL, {0, 1}, {0, 0, 0.32}, {0}},
                                   {DLS_JOINT_SPHERICAL, {0, 2}, {-0.20, 0, 0.22}, {0}},
                                   {DLS_JOINT_REVOLUTE, {2, 3}, {-0.52, 0, 0.22}, {0, 0, -1}},
                                   {DLS_JOINT_SPHERICAL, {0, 4}, {-0.10, 0, -0.32}, {0}},
                                   {DLS_JOINT_REVOLUTE, {4, 5}, {-0.10, 0, -0.76}, {1, 0, 0}},
                                   {DLS_JOINT_SPHERICAL, {0, 6}, {0.20, 0, 0.22}, {0}},
                                   {DLS_JOINT_REVOLUTE, {6, 7}, {0.52, 0, 0.22}, {0, 0, 1}},
                                   {DLS_JOINT_SPHERICAL, {0, 8}, {0.10, 0, -0.32}, {0}},
                                   {DLS_JOINT_REVOLUTE, {8, 9}, {0.10, 0, -0.76}, {1, 0, 0}}};

/* x turned by q: x + 2 q × (q × x + q₀ x) */
static void turn(const double *q, const double *x, double *turned) {
    double c[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        c[k] = q[1 + i] * x[j] - q[1 + j] * x[i] + q[0] * x[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        turned[k] = x[k] + 2 * (q[1 + i] * c[j] - q[1 + j] * c[i]);
    }
}

static void place(const double *x, const double *q, const double *at, double *place) {
    turn(q, at, place);
    for (int k = 0; k < 3; k++) place[k] += x[k];
}

static dls_body_id add_part(rig *r, const part *p, const double *x, const double *q) {
    bool ball = p->size[1] == 0;
    dls_shape_def shape = dls_default_shape_def(ball ? DLS_SPHERE : DLS_BOX);
    dls_body_def def = dls_default_body_def();
    shape.radius = p->size[0] / 2;
    memcpy(shape.size, p->size, sizeof shape.size);
    def.shape_count = 1, def.shapes = &shape;
    def.mass = p->mass;
    place(x, q, p->at, def.pose.x);
    memcpy(def.pose.q, q, sizeof def.pose.q);
    return rig_add(r, &def);
}

/* The k-th ragdoll: layers of ten, each turned by another angle. */
static void add_ragdoll(rig *r, int k) {
    double angle = 0.7 * k, lean = 1.2 + 0.3 * (k % 3), s = sin(lean / 2);
    const double q[4] = {cos(lean / 2), s * cos(angle), s * sin(angle), 0};
    const double x[3] = {2.2 * (k % 5 - 2) + 0.2 * sin(3. * k), 2.4 * (k / 5 % 2) + 0.2 * cos(5. * k),
                         1.4 + 1.7 * (k / 10)};
    dls_body_id id[PARTS];
    for (int i = 0; i < PARTS; i++) id[i] = add_part(r, &parts[i], x, q);
    for (int i = 0; i < JOINTS; i++) {
        const link *l = &links[i];
        dls_joint_def def = dls_default_joint_def(l->kind);
        double at[3], axis[3];
        place(x, q, l->at, at);
        turn(q, l->axis, axis);
        def.body[0] = id[l->part[0]], def.body[1] = id[l->part[1]];
        if (l->kind == DLS_JOINT_REVOLUTE) def.freedom[3].low = -0.1, def.freedom[3].high = 2.4;
        rig_join(r, &def, at, l->kind == DLS_JOINT_REVOLUTE ? axis : NULL, NULL);
    }
}

static void add_floor(rig *r, dls_material_id material) {
    dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
    dls_body_def def = dls_default_body_def();
    shape.material = material;
    def.motion = DLS_STATIC;
    def.shape_count = 1, def.shapes = &shape;
    rig_add(r, &def);
}

static bool drop_heap(experiment_run *run, int count, double h) {
    static const double g[3] = {0, 0, -9.81};
    rig r = rig_open(3, g);
    double rise = 0, before = INFINITY;
    add_floor(&r, 0);
    for (int k = 0; k < count; k++) add_ragdoll(&r, k);
    rig_start(&r, rig_schemes, h, 1e-2);
    for (int k = 0; k < FALL / h && rig_step(&r); k++) {
        const dls_energy *e = &r.last.energy;
        rise = fmax(rise, e->kinetic + e->potential - before);
        before = e->kinetic + e->potential;
    }
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 0, r.uncertified, 0,
                "%d ragdolls, h = %g s: steps that are not certified", count, h);
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-4, rise / r.turnover,
                "%d ragdolls, h = %g s: largest rise of energy in a step, over energy turned over", count, h);
    return rig_close(&r);
}

bool show_ragdolls(experiment_run *run) {
    int count = run->size == SIZE_FULL ? 50 : 20;
    return drop_heap(run, count, 0.02) && drop_heap(run, count, 0.01) && drop_heap(run, count, 0.005);
}
