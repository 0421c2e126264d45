/* Paper 000, section 8.2, a heading without text: M³ elastic cubes in a box that is shaken by a sine sweep;
 * rigid, pseudo-rigid and of finite elements, the projected quasi-Newton method against plain Gauss–Seidel,
 * at most 200 iterations. The author's cubes of 0.1 m (E = 1e9 Pa, ν = 0.25, 1000 kg/m³) lie 2 mm apart in an
 * array of 0.508 m, between walls 0.501 m apart. Here walls stand at the array's own sides, nothing begins
 * inside another; the box is at rest until cubes lie, then moves along x with
 *
 *     v = A sin φ/φ̇,   φ = 2π (f₀ + (f₁ − f₀) τ/T) τ,   f₀ = 2 Hz, f₁ = 20 Hz, A = 5 m/s²
 *
 * which begins at rest, does not drift, and has the acceleration A cos φ up to A φ̈/φ̇². Cubes have damping
 * η = h, elements the body-corotational form. */
#include "cli/support/csv.h"
#include "cli/support/interrupt.h"
#include "cli/support/report.h"
#include "experiments/koziara/steps.h"
#include "experiments/reproduce.h"

#include <delassus/solid.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 3, METHODS = 3, LIMIT = 200, MOST_SIDE = 5 };
static const char *const kinds[KINDS] = {"rigid", "pseudo-rigid", "elements"};
static const newton_method methods[METHODS] = {NEWTON, SWEEPS, AUTO};
static const double STEP = 1e-3, EDGE = 0.1, GAP = 0.002, GRAVITY = 9.81;

typedef struct cube_run {
    int side;           /* M */
    double rest, sweep; /* s, before and while the box is shaken */
} cube_run;

/* What a run leaves. */
typedef struct cube_result {
    step_counts counts;
    double motion; /* rms over cubes and steps of their speed against the box, m/s */
    double shake;  /* the same of the box's own speed */
    double rise;   /* highest centre at the end less the lowest: of an intact array (M − 1) edges */
} cube_result;

/* ---- the box ---- */

static dls_status add_box(dls_world *world, const cube_run *r, dls_error *error) {
    dls_shape_def shape = dls_default_shape_def(DLS_BOX_INSIDE);
    dls_body_def def = dls_default_body_def();
    double width = r->side * EDGE + (r->side - 1) * GAP;
    char text[256];
    for (int k = 0; k < 3; k++) shape.size[k] = width;
    snprintf(text, sizeof text,
             "t < %.17g ? 0 : 5*sin(2*pi*(2 + 18*(t - %.17g)/%.17g)*(t - %.17g))/(2*pi*(2 + 36*(t - "
             "%.17g)/%.17g))",
             r->rest, r->rest, r->sweep, r->rest, r->rest, r->sweep);
    def.name = "box";
    def.motion = DLS_DRIVEN;
    def.shapes = &shape, def.shape_count = 1;
    dls_status status = dls_function_expression(text, 0, NULL, NULL, &def.drive[0].velocity, error);
    return status ? status : dls_world_add_body(world, &def, NULL, error);
}

static dls_status add_cubes(dls_world *world, const cube_run *r, int kind, dls_error *error) {
    dls_shape_def shape = dls_default_shape_def(DLS_BOX);
    dls_solid_def solid = dls_default_solid_def(kind == 1 ? DLS_SOLID_PSEUDO_RIGID : DLS_SOLID_ELEMENTS);
    dls_body_def def = dls_default_body_def();
    dls_status status = DLS_OK;
    for (int k = 0; k < 3; k++) shape.size[k] = EDGE, solid.cells[k] = 2;
    solid.corotational = kind == 2;
    def.shapes = &shape, def.shape_count = 1, def.solid = kind ? &solid : NULL;
    for (int k = 0; k < r->side * r->side * r->side && !status; k++) {
        int at[3] = {k % r->side, k / r->side % r->side, k / (r->side * r->side)};
        for (int i = 0; i < 3; i++) def.pose.x[i] = (at[i] - 0.5 * (r->side - 1)) * (EDGE + GAP);
        status = dls_world_add_body(world, &def, NULL, error);
    }
    return status;
}

static dls_status make_world(const cube_run *r, int kind, dls_world **world, dls_error *error) {
    dls_world_def def = dls_default_world_def();
    dls_material_def cube = dls_default_material_def();
    def.dimension = 3;
    def.gravity[0] = def.gravity[1] = 0, def.gravity[2] = -GRAVITY;
    cube.name = "default";
    cube.density = 1000, cube.mu = 0.3, cube.young = 1e9, cube.poisson = 0.25, cube.damping = STEP;
    dls_status status = dls_world_create(&def, world, error);
    if (status) return status;
    status = dls_world_set_material(*world, 0, &cube, error);
    if (!status) status = add_cubes(*world, r, kind, error); /* ids 0 to M³ − 1 */
    if (!status) status = add_box(*world, r, error);
    if (!status) return DLS_OK;
    dls_world_destroy(*world);
    *world = NULL;
    return status;
}

/* ---- one run ---- */

typedef struct watch {
    int cubes;
    double rest, square, box_square, samples, rise;
} watch;

static void look(const dls_world *world, const dls_step_report *report, void *user) {
    watch *w = user;
    dls_body_state box, cube;
    double low = INFINITY, high = -INFINITY;
    if (report->t < w->rest || dls_body_state_get(world, w->cubes, &box, NULL)) return;
    for (int k = 0; k < w->cubes; k++) {
        if (dls_body_state_get(world, k, &cube, NULL)) return;
        for (int i = 0; i < 3; i++) w->square += pow(cube.v[i] - box.v[i], 2);
        low = fmin(low, cube.x[2]), high = fmax(high, cube.x[2]);
    }
    w->box_square += w->cubes * box.v[0] * box.v[0];
    w->samples += w->cubes;
    w->rise = high - low;
}

static dls_status measure(const cube_run *r, int kind, newton_method m, cube_result *out, dls_error *error) {
    dls_world *world;
    watch w = {.cubes = r->side * r->side * r->side, .rest = r->rest};
    step_plan plan = {
        .h = STEP, .until = r->rest + r->sweep, .limit = LIMIT, .method = m, .look = look, .user = &w};
    dls_status status = make_world(r, kind, &world, error);
    if (!status) status = count_steps(world, &plan, &out->counts, error);
    out->motion = sqrt(w.square / w.samples);
    out->shake = sqrt(w.box_square / w.samples);
    out->rise = w.rise;
    return status;
}

/* ---- what is told ---- */

typedef struct table {
    cube_run run;
    cube_result of[KINDS][METHODS];
} table;

/* Nothing is printed: what follows from Table 2's orders, from the laws of the scheme, and for our default.
 */
static void state(claim_list *list, const table *t) {
    for (int k = 0; k < KINDS; k++) {
        const cube_result *newton = &t->of[k][0], *sweeps = &t->of[k][1];
        double scale = newton->counts.energy.work;
        claim_bound(list, CLAIM_DERIVED, "1", CLAIM_AT_LEAST, 1,
                    counts_per_step(&sweeps->counts) / counts_per_step(&newton->counts),
                    "%s: sweeps of Gauss–Seidel over Newton's iterations", kinds[k]);
        claim_bound(list, CLAIM_DERIVED, "1", CLAIM_AT_MOST, sweeps->counts.diverged, newton->counts.diverged,
                    "%s: diverged steps of Newton, at most those of Gauss–Seidel", kinds[k]);
        claim_bound(list, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 0.1,
                    fabs(newton->motion / t->of[k][METHODS - 1].motion - 1),
                    "%s: motion against the box, Newton and auto differ by", kinds[k]);
        claim_bound(list, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 0.01,
                    fabs(newton->counts.energy.unaccounted) / scale,
                    "%s: energy unaccounted for over the work of the box", kinds[k]);
        claim_bound(list, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 0.01 * EDGE, newton->counts.penetration,
                    "%s: penetration", kinds[k]);
    }
    claim_bound(list, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 0.2,
                fabs(t->of[2][0].motion / t->of[0][0].motion - 1),
                "motion against the box, elements and rigid differ by");
    list->method = METHOD_OURS;
    for (int k = 0; k < KINDS; k++)
        claim_equal(list, CLAIM_DERIVED, "1", 1,
                    t->of[k][METHODS - 1].counts.certified / (double)t->of[k][METHODS - 1].counts.steps, 0,
                    "%s: share of steps that auto solves", kinds[k]);
}

static bool write_table(experiment_run *run, const table *t) {
    output_file out;
    if (!run_table_open(run, "cubes", &out)) return false;
    fputs("kind,method,iterations per step,diverged steps,steps,converged steps,contacts per "
          "step,seconds,solver share,motion,shake,rise,penetration,kinetic,strain,friction,impact,damping,"
          "work,unaccounted\n",
          out.stream);
    for (int k = 0; k < KINDS * METHODS; k++) {
        const cube_result *r = &t->of[k / METHODS][k % METHODS];
        const step_counts *c = &r->counts;
        fprintf(out.stream, "%s,\"%s\"", kinds[k / METHODS], newton_method_names[methods[k % METHODS]]);
        csv_real(out.stream, counts_per_step(c));
        fprintf(out.stream, ",%d,%d,%d", c->diverged, c->steps, c->certified);
        const double values[] = {c->contacts / c->steps,
                                 c->seconds,
                                 counts_ratio(c),
                                 r->motion,
                                 r->shake,
                                 r->rise,
                                 c->penetration,
                                 c->energy.kinetic,
                                 c->energy.strain,
                                 c->energy.friction,
                                 c->energy.impact,
                                 c->energy.damping,
                                 c->energy.work,
                                 c->energy.unaccounted};
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) csv_real(out.stream, values[i]);
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

static bool draw_table(experiment_run *run, const table *t) {
    double x[METHODS][KINDS], y[METHODS][KINDS];
    figure_series series[METHODS];
    for (int m = 0; m < METHODS; m++) {
        for (int k = 0; k < KINDS; k++) x[m][k] = k + 1, y[m][k] = counts_per_step(&t->of[k][m].counts);
        series[m] = (figure_series){
            newton_method_names[methods[m]], x[m], y[m], KINDS, FIGURE_POINTS, (unsigned)m + 1};
    }
    figure f = {.title = "Iterations per step to g(R) < 10^{−8}, shaken cubes",
                .x = {"1: rigid, 2: pseudo-rigid, 3: elements", FIGURE_LINEAR, 0.5, 3.5},
                .y = {"iterations or sweeps", FIGURE_LOG, 0, 0},
                .series = series,
                .series_count = METHODS};
    return run_figure(run, &f, "cubes");
}

/* M = 5 for 3 s is the author's; the reduced run shakes 27 cubes. */
static bool run_cubes(experiment_run *run) {
    table *t = report_allocate(1, sizeof *t);
    dls_error error;
    dls_status status = DLS_OK;
    t->run = run->size == SIZE_FULL ? (cube_run){MOST_SIDE, 0.6, 2.4} : (cube_run){3, 0.1, 0.4};
    for (int k = 0; k < KINDS * METHODS && !status && !interrupt_seen(); k++)
        status =
            measure(&t->run, k / METHODS, methods[k % METHODS], &t->of[k / METHODS][k % METHODS], &error);
    if (status) report_error("%s", error.message);
    bool good = !status && !interrupt_seen();
    if (good) state(&run->claims, t);
    if (good && *run->folder) good = write_table(run, t) && draw_table(run, t);
    free(t);
    return good;
}

const experiment experiment_shaken_cubes = {
    .name = "000-8.2",
    .title = "a sine sweep shakes stacked cubes: rigid, pseudo-rigid, finite elements",
    .has_reduced = true,
    .has_full = true,
    .run = run_cubes,
};
