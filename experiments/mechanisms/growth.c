/* What joints cost: chains that are dragged over a floor, arms with motors of which half are at their limits,
 * a closed loop and a net. Times are of the processor, the least of some steps. */
#include "experiments/mechanisms/mechanisms.h"

#include "cli/support/csv.h"

#include <math.h>
#include <string.h>

static const double down[3] = {0, -9.81, 0}, z_axis[3] = {0, 0, 1}, x_axis[3] = {1, 0, 0};

typedef struct cost {
    char name[32];
    int bodies, joint_rows, contacts;
    double seconds;    /* of the processor, least of a step */
    double iterations; /* mean of a step */
    double residual, gap;
    int uncertified;
} cost;

enum { MOST_COSTS = 24 };

typedef struct costs {
    int count;
    cost rows[MOST_COSTS];
} costs;

static costs all; /* of one run: a table that several cases fill */

/* Some steps to begin with, then those that are counted. */
static cost *measure(rig *r, const char *name, int bodies, int before, int counted) {
    cost *c = &all.rows[all.count < MOST_COSTS ? all.count++ : MOST_COSTS - 1];
    double least = HUGE_VAL;
    rig_run(r, before);
    int64_t begun = r->iterations;
    int uncertified = r->uncertified;
    r->residual = r->gap = 0;
    for (int k = 0; k < counted && !r->failed; k++) {
        double begun_at = dls_clock_cpu();
        rig_step(r);
        least = fmin(least, dls_clock_cpu() - begun_at);
    }
    *c = (cost){.bodies = bodies,
                .joint_rows = r->last.joint_rows,
                .contacts = r->last.contacts,
                .seconds = least,
                .iterations = (double)(r->iterations - begun) / counted,
                .residual = r->residual,
                .gap = r->gap,
                .uncertified = r->uncertified - uncertified};
    snprintf(c->name, sizeof c->name, "%s", name);
    return c;
}

static bool write_costs(experiment_run *run) {
    output_file out;
    if (!run_table_open(run, "growth", &out)) return false;
    fputs("case,bodies,joint rows,contacts,seconds of a step,iterations of a step,largest residual,largest "
          "gap,not certified\n",
          out.stream);
    for (int i = 0; i < all.count; i++) {
        const cost *c = &all.rows[i];
        fprintf(out.stream, "%s,%d,%d,%d", c->name, c->bodies, c->joint_rows, c->contacts);
        csv_real(out.stream, c->seconds);
        csv_real(out.stream, c->iterations);
        csv_real(out.stream, c->residual);
        csv_real(out.stream, c->gap);
        fprintf(out.stream, ",%d\n", c->uncertified);
    }
    return output_file_commit(&out);
}

/* ---- chains on a floor ---- */

static dls_body_id add_floor(rig *r) {
    dls_shape_def plane = dls_default_shape_def(DLS_HALF_PLANE);
    dls_body_def def = dls_default_body_def();
    plane.material = rig_add_material(r, 0.3, 0, 0);
    def.motion = DLS_STATIC;
    def.shape_count = 1;
    def.shapes = &plane;
    return rig_add(r, &def);
}

/* A flat box between two joints, lying on the floor. */
static dls_body_id add_link(rig *r, double x, double length) {
    double half = 0.45 * length, top = 0.05 * length, I = length * length / 12;
    const double corners[12] = {-half, -top, 0, half, -top, 0, half, top, 0, -half, top, 0};
    const double inertia[9] = {I, 0, 0, 0, I, 0, 0, 0, I};
    dls_shape_def box = dls_default_shape_def(DLS_POLYGON);
    dls_body_def def = dls_default_body_def();
    box.point_count = 4, box.points = corners;
    box.material = 1;
    def.shape_count = 1;
    def.shapes = &box;
    def.mass = 1;
    def.inertia = inertia;
    def.pose.x[0] = x, def.pose.x[1] = top;
    return rig_add(r, &def);
}

/* Pulled by its front, which begins to move gently. */
static bool drag_chain(experiment_run *run, int n) {
    rig r = rig_open(2, down);
    const double length = 0.1;
    dls_body_id id = -1;
    add_floor(&r);
    for (int k = 0; k < n; k++) {
        const double at[3] = {k * length, 0.05 * length, 0};
        id = add_link(&r, (k + 0.5) * length, length);
        if (k > 0) rig_join_plain(&r, DLS_JOINT_REVOLUTE, id - 1, id, at, z_axis);
    }
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_BUSHING);
    const double front[3] = {n * length, 0.05 * length, 0};
    def.body[0] = DLS_GROUND, def.body[1] = id;
    if (!r.failed)
        r.failed = dls_function_expression("0.5 * min(10 * t, 1)", 0, NULL, NULL, &def.freedom[0].velocity,
                                           &r.error) != DLS_OK;
    dls_joint_id drive = rig_join(&r, &def, front, x_axis, NULL);
    rig_start(&r, rig_schemes, 1e-3, 0);
    measure(&r, "chain on a floor", n, 20, 10);
    /* at t = 0.03 s it accelerates by 5 m/s² and slides */
    double force = rig_record(&r, drive).actuator[0] / 1e-3, expected = n * (5 + 0.3 * 9.81);
    claim_equal(&run->claims, CLAIM_DERIVED, "N", expected, force, 1e-3 * expected,
                "chain of %d links dragged over a floor: force on its front", n);
    return rig_close(&r);
}

static bool draw_growth(experiment_run *run, const cost *rows, int count) {
    double n[MOST_COSTS], milliseconds[MOST_COSTS], iterations[MOST_COSTS];
    for (int k = 0; k < count; k++) {
        n[k] = rows[k].bodies;
        milliseconds[k] = 1e3 * rows[k].seconds, iterations[k] = rows[k].iterations;
    }
    const figure_series series[] = {{"ms of a step", n, milliseconds, (size_t)count, FIGURE_LINE, 1},
                                    {"iterations of a step", n, iterations, (size_t)count, FIGURE_LINE, 2}};
    figure f = {.x = {"links of a chain on a floor", FIGURE_LOG, 0, 0},
                .y = {"", FIGURE_LOG, 0, 0},
                .series = series,
                .series_count = 2};
    return run_figure(run, &f, "growth");
}

/* Slope of log seconds over log n, by least squares. */
static double power(const cost *rows, int count) {
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < count; k++) {
        double u = log(rows[k].bodies), v = log(rows[k].seconds);
        x += u, y += v, xx += u * u, xy += u * v;
    }
    return (count * xy - x * y) / (count * xx - x * x);
}

bool show_growth(experiment_run *run) {
    static const int sizes[] = {10, 30, 100, 300, 1000, 3000, 10000};
    int count = run->size == SIZE_FULL ? 7 : 3;
    all.count = 0;
    for (int k = 0; k < count; k++)
        if (!drag_chain(run, sizes[k])) return false;
    const cost *small = &all.rows[0], *large = &all.rows[count - 1];
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1.5, large->iterations / small->iterations,
                "chain on a floor: iterations of %d links over those of %d", large->bodies, small->bodies);
    if (run->size == SIZE_FULL)
        claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1.1, power(all.rows, count),
                    "chain on a floor: power of n by which the time of a step grows, %d to %d", small->bodies,
                    large->bodies);
    return !*run->folder || draw_growth(run, all.rows, count);
}

/* ---- arms ---- */

/* Stretched out and held against its weight; every other motor is to turn faster than it can, forth and back
 * in turn, with a fifth of the torque that holding takes. */
static bool hold_arm(experiment_run *run, int n) {
    rig r = rig_open(2, down);
    const double length = 0.2;
    dls_body_id before = DLS_GROUND;
    for (int k = 0; k < n; k++) {
        const double p[3] = {k * length, 0, 0}, q[3] = {(k + 1) * length, 0, 0};
        double beyond = (n - k) * length, torque = 9.81 * (n - k) * beyond / 2;
        dls_joint_def def = dls_default_joint_def(DLS_JOINT_REVOLUTE);
        def.body[0] = before, def.body[1] = before = rig_add_rod(&r, 1, p, q);
        def.freedom[3].velocity = rig_constant(&r, k % 2 ? 0 : k % 4 ? -1000 : 1000);
        def.freedom[3].max_force = (k % 2 ? 10 : 0.2) * torque;
        rig_join(&r, &def, p, z_axis, NULL);
    }
    rig_start(&r, rig_schemes, 1e-3, 0);
    cost *c = measure(&r, "arm with motors", n, 5, 50);
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 20, c->iterations,
                "arm of %d motors, %d at their limit: iterations of a step", n, r.last.joint_rows_at_bound);
    claim_equal(&run->claims, CLAIM_DERIVED, "1", n / 2, r.last.joint_rows_at_bound, 0,
                "arm of %d motors: at their limit", n);
    if (n == 6) rig_claim_books(run, "arm", &r);
    return rig_close(&r);
}

bool show_arms(experiment_run *run) { return hold_arm(run, 6) && hold_arm(run, 12) && hold_arm(run, 24); }

/* ---- loop and net ---- */

/* A closed chain that turns and is pulled at by nothing but itself and its weight, held at one joint. */
static bool swing_loop(experiment_run *run, int n) {
    rig r = rig_open(2, down);
    dls_body_id first = -1, id = -1;
    double radius = 1, before[3] = {radius, 0, 0};
    const double hook[3] = {radius, 0, 0};
    for (int k = 0; k < n; k++) {
        double angle = 2 * acos(-1) * (k + 1) / n;
        const double at[3] = {radius * cos(angle), radius * sin(angle), 0};
        dls_body_id last = id;
        id = rig_add_rod(&r, 1, before, at);
        if (k == 0) first = id;
        if (k > 0) rig_join_plain(&r, DLS_JOINT_REVOLUTE, last, id, before, z_axis);
        memcpy(before, at, sizeof before);
    }
    rig_join_plain(&r, DLS_JOINT_REVOLUTE, id, first, hook, z_axis);
    rig_join_plain(&r, DLS_JOINT_REVOLUTE, DLS_GROUND, first, hook, z_axis);
    rig_start(&r, rig_schemes, 1e-3, 0);
    cost *c = measure(&r, "closed loop", n, 20, 50);
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 0, c->uncertified, 0,
                "closed loop of %d rods: steps that are not certified", n);
    rig_claim_books(run, "closed loop", &r);
    return rig_close(&r);
}

/* Knots and the strings between them, held at its four corners, falls into its sag. */
static bool drop_net(experiment_run *run, int n) {
    static const double g[3] = {0, 0, -9.81}, inertia[3] = {1e-4, 1e-4, 1e-4};
    rig r = rig_open(3, g);
    for (int k = 0; k < n * n; k++) {
        const double x[3] = {0.05 * (k % n), 0.05 * (k / n), 0};
        rig_add_mass(&r, 0.01, inertia, x);
    }
    for (int k = 0; k < n * n && !r.failed; k++)
        for (int way = 0; way < 2; way++) {
            if ((way ? k / n : k % n) == n - 1) continue;
            dls_joint_def def = dls_default_joint_def(DLS_JOINT_DISTANCE);
            def.body[0] = k, def.body[1] = k + (way ? n : 1);
            rig_add_joint(&r, &def);
        }
    for (int k = 0; k < 4; k++) {
        int id = (k % 2) * (n - 1) + (k / 2) * (n - 1) * n;
        dls_joint_def def = dls_default_joint_def(DLS_JOINT_SPHERICAL);
        const double at[3] = {0.05 * (id % n), 0.05 * (id / n), 0};
        def.body[0] = DLS_GROUND, def.body[1] = id;
        rig_join(&r, &def, at, NULL, NULL);
    }
    rig_start(&r, rig_schemes, 1e-3, 0);
    cost *c = measure(&r, "net", n * n, 10, 20);
    claim_equal(&run->claims, CLAIM_DERIVED, "1", 0, c->uncertified, 0,
                "net of %d × %d knots: steps that are not certified", n, n);
    rig_claim_books(run, "net", &r);
    return rig_close(&r);
}

bool show_nets(experiment_run *run) {
    bool full = run->size == SIZE_FULL;
    if (!swing_loop(run, full ? 100 : 30) || !drop_net(run, full ? 20 : 6)) return false;
    return !*run->folder || write_costs(run);
}
