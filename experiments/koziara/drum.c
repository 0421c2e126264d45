/* Paper 000, section 8.1, Table 2: N grains in a rotating drum, {ellipsoids, spheres} × {rigid,
 * pseudo-rigid}, the projected quasi-Newton method against plain Gauss–Seidel, both to g(R) < 1e-8; Table 1's
 * defaults, accelerated sweeps and `auto` beside them.
 *
 * The drum is a pipe of inner radius 1 of 32 flat pieces with two blocks, and turns about y once all grains
 * have been dropped; side walls are half-spaces 2 mm off the pipe and do not turn. A layer of grains is
 * dropped every √(2 · 2.1 r_z/g) at z = 0.25. Spheres would begin 28 mm inside a side wall, as the author's
 * input has them: they begin at its side. Deformable grains have damping η = h. */
#include "cli/support/csv.h"
#include "cli/support/interrupt.h"
#include "cli/support/report.h"
#include "experiments/reproduce.h"

#include <delassus/delassus.h>
#include <delassus/solid.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VARIANTS = 4, METHODS = 5, PIECES = 32, LIMIT = 1000 };
static const double PI = 3.14159265358979323846, STEP = 1e-3, GOAL = 1e-8, GRAVITY = 10;

typedef struct variant {
    const char *name;
    bool spheres, soft;
    double newton[4], sweeps[4]; /* the paper's runtime, ratio, iterations, diverged steps */
} variant;

static const variant variants[VARIANTS] = {
    {"ell. rigid", false, false, {623, 0.83, 19, 0}, {477, 0.84, 108, 36}},
    {"ell. defo", false, true, {375, 0.59, 4, 0}, {416, 0.45, 13, 0}},
    {"sph. rigid", true, false, {639, 0.97, 48, 2}, {439, 0.96, 174, 198}},
    {"sph. defo", true, true, {138, 0.85, 6, 0}, {55, 0.62, 17, 0}},
};

typedef enum method { NEWTON, SWEEPS, DEFAULTS, ACCELERATED, AUTO } method;
static const char *const methods[METHODS] = {"Newton", "Gauss–Seidel", "Newton, Table 1",
                                             "accelerated sweeps", "auto"};

typedef struct cell {
    double seconds; /* of processor time */
    double wall_seconds, solver_seconds, contacts;
    int64_t iterations; /* of steps that converged with some */
    int steps, counted, diverged, certified;
} cell;

/* ---- the drum -------------------------------------------------------------------------------------------
 */

static void turn_about_y(double angle, double *q) {
    q[0] = cos(angle / 2), q[1] = 0, q[2] = sin(angle / 2), q[3] = 0;
}

/* 32 flat pieces whose inner corners lie on radius 1, and two blocks. */
static dls_status add_pipe(dls_world *world, double start, dls_error *error) {
    dls_shape_def shapes[PIECES + 2];
    dls_body_def def = dls_default_body_def();
    char text[64];
    for (int k = 0; k < PIECES + 2; k++) shapes[k] = dls_default_shape_def(DLS_BOX);
    for (int k = 0; k < PIECES; k++) {
        double angle = 2 * PI * k / PIECES, inner = cos(PI / PIECES), middle = inner + 0.025;
        dls_shape_def *s = &shapes[k];
        s->size[0] = 0.05, s->size[1] = 0.5, s->size[2] = 2 * (inner + 0.05) * tan(PI / PIECES);
        s->pose.x[0] = middle * cos(angle), s->pose.x[2] = -middle * sin(angle);
        turn_about_y(angle, s->pose.q);
    }
    for (int k = 0; k < 2; k++) {
        dls_shape_def *s = &shapes[PIECES + k];
        s->size[0] = s->size[2] = 0.2, s->size[1] = 0.5;
        s->pose.x[0] = k ? 0.9 : -0.9;
    }
    snprintf(text, sizeof text, "t < %.17g ? 0 : 1", start);
    def.name = "drum";
    def.motion = DLS_DRIVEN;
    def.pose.x[1] = 0.25;
    def.shapes = shapes, def.shape_count = PIECES + 2;
    dls_status status = dls_function_expression(text, 0, NULL, NULL, &def.drive[4].velocity, error);
    return status ? status : dls_world_add_body(world, &def, NULL, error);
}

static dls_status add_side(dls_world *world, int side, dls_error *error) {
    dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
    dls_body_def def = dls_default_body_def();
    shape.pose.x[1] = side ? 0.502 : -0.002;
    shape.pose.q[0] = sqrt(0.5), shape.pose.q[1] = side ? sqrt(0.5) : -sqrt(0.5); /* z points into the drum */
    def.motion = DLS_STATIC;
    def.shapes = &shape, def.shape_count = 1;
    return dls_world_add_body(world, &def, NULL, error);
}

/* Grains in layers; *ready is when the last one has been dropped. */
static dls_status add_grains(dls_world *world, const variant *v, int count, double *ready, dls_error *error) {
    double r0 = cbrt(0.1 / count), r[3] = {0.9 * r0, 0.5 * r0, r0}, mean = (r[0] + r[1] + r[2]) / 3;
    double interval = sqrt(2 * 2.1 * r0 / GRAVITY), x0 = -0.7, y0 = 0.05;
    dls_solid_def soft = dls_default_solid_def(DLS_SOLID_PSEUDO_RIGID);
    dls_shape_def shape = dls_default_shape_def(v->spheres ? DLS_SPHERE : DLS_ELLIPSOID);
    dls_status status = DLS_OK;
    if (v->spheres) r[0] = r[1] = r[2] = mean, y0 = fmax(y0, mean);
    memcpy(shape.size, r, sizeof r);
    shape.radius = mean;
    soft.retained = v->spheres;
    int nx = (int)floor((0.7 - x0) / (2 * r[0]) + 1e-9) + 1,
        ny = (int)floor((0.502 - r[1] - y0) / (2 * r[1]) + 1e-9) + 1;
    for (int k = 0; k < count && !status; k++) {
        int layer = k / (nx * ny), of = k % (nx * ny);
        dls_body_def def = dls_default_body_def();
        def.shapes = &shape, def.shape_count = 1;
        if (v->soft) def.solid = &soft;
        def.pose.x[0] = x0 + 2 * r[0] * (of % nx), def.pose.x[1] = y0 + 2 * r[1] * (of / nx);
        def.pose.x[2] = 0.25;
        def.birth = layer * interval;
        status = dls_world_add_body(world, &def, NULL, error);
        *ready = (layer + 1) * interval;
    }
    return status;
}

static dls_status make_world(const variant *v, int count, dls_world **world, dls_error *error) {
    dls_world_def def = dls_default_world_def();
    dls_material_def grain = dls_default_material_def();
    double ready = 0;
    def.dimension = 3;
    def.gravity[0] = def.gravity[1] = 0, def.gravity[2] = -GRAVITY;
    grain.name = "default";
    grain.density = 100, grain.mu = 0.3, grain.young = 1e6, grain.poisson = 0.25, grain.damping = STEP;
    dls_status status = dls_world_create(&def, world, error);
    if (status) return status;
    status = dls_world_set_material(*world, 0, &grain, error);
    if (!status) status = add_grains(*world, v, count, &ready, error);
    if (!status) status = add_pipe(*world, ready, error);
    for (int side = 0; side < 2 && !status; side++) status = add_side(*world, side, error);
    return status;
}

/* ---- one run --------------------------------------------------------------------------------------------
 */

static dls_stop_options stop_of(void) {
    dls_stop_options stop = dls_default_nlgs_options().stop;
    stop.measure = DLS_STOP_MERIT_G;
    stop.tolerance = GOAL;
    stop.max_iterations = LIMIT;
    return stop;
}

static dls_status set_newton(dls_simulation *s, method m, dls_error *error) {
    dls_pqn_options o = dls_default_pqn_options();
    o.stop = stop_of();
    o.stop.max_iterations = 2 * LIMIT; /* Gauss–Seidel behind it has as many */
    o.globalization = DLS_PQN_PAPER;
    o.newton_iterations = LIMIT;
    o.delta = m == NEWTON ? 1e-3 : 0;
    o.gmres_tolerance = m == NEWTON ? 1e-3 : 0.25;
    o.gmres_iterations = m == NEWTON ? 5 : 10;
    return dls_simulation_set_solver(s, dls_solver_find("pqn"), &o, error);
}

static dls_status set_method(dls_simulation *s, method m, dls_error *error) {
    dls_nlgs_options sweeps = dls_default_nlgs_options();
    dls_auto_options all = dls_default_auto_options();
    if (m == NEWTON || m == DEFAULTS) return set_newton(s, m, error);
    all.stop = sweeps.stop = stop_of();
    all.stop.max_iterations = 100 * LIMIT;
    if (m == AUTO) return dls_simulation_set_solver(s, dls_solver_find("auto"), &all, error);
    if (m == SWEEPS) {
        sweeps.stop.check_interval = 1;
        sweeps.acceleration = DLS_PLAIN;
        sweeps.order = DLS_ORDER_NATURAL;
        sweeps.adapt = false;
        sweeps.stall_sweeps = 0;
    }
    return dls_simulation_set_solver(s, dls_solver_find("nlgs"), &sweeps, error);
}

static dls_status measure(const variant *v, method m, int count, double until, cell *c, dls_error *error) {
    dls_world *world = NULL;
    dls_simulation *s = NULL;
    dls_simulation_options options = dls_default_simulation_options();
    options.step = STEP;
    dls_status status = make_world(v, count, &world, error);
    if (!status) status = dls_simulation_create(world, &options, &s, error);
    if (!status) status = set_method(s, m, error);
    while (!status && dls_simulation_time(s) < until - STEP / 2 && !interrupt_seen()) {
        dls_step_report report;
        clock_t began = clock();
        status = dls_simulation_step(s, &report, error);
        if (status) break;
        c->steps++;
        c->seconds += (double)(clock() - began) / CLOCKS_PER_SEC;
        c->wall_seconds += report.seconds, c->solver_seconds += report.seconds_solve;
        c->contacts += report.contacts;
        c->certified += report.outcome == DLS_CONVERGED;
        bool diverged = report.iterations >= LIMIT && m != AUTO;
        c->diverged += diverged;
        if (diverged || report.iterations == 0) continue;
        c->counted++;
        c->iterations += report.iterations;
    }
    dls_simulation_destroy(s);
    dls_world_destroy(world);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------------------
 */

typedef struct table {
    cell of[VARIANTS][METHODS];
} table;

static double per_step(const cell *c) { return c->counted ? (double)c->iterations / c->counted : nan(""); }
static double ratio(const cell *c) { return c->solver_seconds / c->wall_seconds; }

static void claim_variant(claim_list *list, const variant *v, const cell *of) {
    char text[96];
    contender iterations[2] = {{methods[NEWTON], v->newton[2], per_step(&of[NEWTON])},
                               {methods[SWEEPS], v->sweeps[2], per_step(&of[SWEEPS])}};
    contender seconds[2] = {{methods[NEWTON], v->newton[0], of[NEWTON].seconds},
                            {methods[SWEEPS], v->sweeps[0], of[SWEEPS].seconds}};
    snprintf(text, sizeof text, "Table 2, %s: iterations per step", v->name);
    claim_order(list, text, "1", "they depend on which contacts enter and on the start", iterations, 2);
    snprintf(text, sizeof text, "Table 2, %s: runtime", v->name);
    claim_order(list, text, "s", "seconds of another machine and program", seconds, 2);
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, v->newton[3], of[NEWTON].diverged,
                "Table 2, %s: diverged steps, Newton", v->name);
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, v->sweeps[3], of[SWEEPS].diverged,
                "Table 2, %s: diverged steps, Gauss–Seidel", v->name);
}

/* What section 8.1.1 says in words. */
static void claim_words(claim_list *list, const table *t) {
    for (int v = 0; v < VARIANTS; v++) claim_variant(list, &variants[v], t->of[v]);
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 10, per_step(&t->of[0][NEWTON]),
                "8.1.1: rigid ellipsoids take 10 to 100 iterations per step: at least");
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, 100, per_step(&t->of[0][NEWTON]),
                "8.1.1: rigid ellipsoids take 10 to 100 iterations per step: at most");
    claim_bound(list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, 10, per_step(&t->of[1][NEWTON]),
                "8.1.1: deformable ellipsoids take 1 to 10 iterations per step: at most");
}

static bool write_table(experiment_run *run, const table *t) {
    output_file out;
    if (!run_table_open(run, "table-2", &out)) return false;
    fputs("variant,method,seconds,solver share,iterations per step,diverged steps,steps,converged "
          "steps,contacts per step\n",
          out.stream);
    for (int v = 0; v < VARIANTS; v++)
        for (int m = 0; m < METHODS; m++) {
            const cell *c = &t->of[v][m];
            fprintf(out.stream, "%s,\"%s\"", variants[v].name, methods[m]);
            csv_real(out.stream, c->seconds);
            csv_real(out.stream, ratio(c));
            csv_real(out.stream, per_step(c));
            fprintf(out.stream, ",%d,%d,%d", c->diverged, c->steps, c->certified);
            csv_real(out.stream, c->contacts / c->steps);
            fputc('\n', out.stream);
        }
    return output_file_commit(&out);
}

static bool draw_table(experiment_run *run, const table *t) {
    double x[METHODS][VARIANTS], y[METHODS][VARIANTS];
    figure_series series[METHODS];
    for (int m = 0; m < METHODS; m++) {
        for (int v = 0; v < VARIANTS; v++) x[m][v] = v + 1, y[m][v] = per_step(&t->of[v][m]);
        series[m] = (figure_series){methods[m], x[m], y[m], VARIANTS, FIGURE_POINTS, (unsigned)m + 1};
    }
    figure f = {.title = "Iterations per step to g(R) < 10^{−8}, rotating drum",
                .x = {"1: ell. rigid, 2: ell. defo, 3: sph. rigid, 4: sph. defo", FIGURE_LINEAR, 0.5, 4.5},
                .y = {"iterations or sweeps", FIGURE_LOG, 0, 0},
                .series = series,
                .series_count = METHODS};
    return run_figure(run, &f, "table-2");
}

/* N = 100 for 10 s is the paper's; the reduced run ends soon after the drum begins to turn. */
static bool run_drum(experiment_run *run) {
    table *t = report_allocate(1, sizeof *t);
    dls_error error;
    dls_status status = DLS_OK;
    double until = run->size == SIZE_FULL ? 10 : 1;
    for (int k = 0; k < VARIANTS * METHODS && !status && !interrupt_seen(); k++)
        status = measure(&variants[k / METHODS], (method)(k % METHODS), 100, until,
                         &t->of[k / METHODS][k % METHODS], &error);
    if (status) report_error("%s", error.message);
    bool good = !status && !interrupt_seen();
    if (good) claim_words(&run->claims, t);
    if (good && *run->folder) good = write_table(run, t) && draw_table(run, t);
    free(t);
    return good;
}

const experiment experiment_newton_drum = {
    .name = "000-8.1-drum",
    .title =
        "100 grains in a rotating drum, rigid and pseudo-rigid, quasi-Newton against Gauss–Seidel (Table 2)",
    .has_reduced = true,
    .has_full = true,
    .run = run_drum,
};
