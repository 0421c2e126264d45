/* The nonsmooth generalized-α scheme: processor time of a step of the six benchmarks of paper 004 as
 * callbacks; scenes by generalized-α and by Moreau–Jean, with ever smaller steps: error over time; and many
 * contacts at once: spheres on a plane, stacks of boxes, heaps.
 *
 *     bench_alpha
 *
 * Prints one JSON object per line; bench/run makes tables of them. Times are the least of three runs. */
#include "experiments/capobianco/models.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 3, MOST_SETTINGS = 4 };

/* ---- steps of callbacks ---- */

typedef struct stepped {
    const char *name;
    void (*fill)(benchmark *b);
    double end;
} stepped;

static void bouncing_ball(benchmark *b) { benchmark_bouncing_ball(b, 50, 0); }

static const stepped benchmarks[] = {
    {"10.1 bouncing ball", bouncing_ball, 2},          {"10.2 ball in corner", benchmark_corner, 1.6},
    {"10.3 ball in cylinder", benchmark_cylinder, 10}, {"10.4 Painlevé rod", benchmark_painleve, 0.9},
    {"10.5 guided hopper", benchmark_hopper, 0.2},     {"10.6 tippe top", benchmark_tippe_top, 2},
};

static bool take_steps(const benchmark *b, int steps, double *seconds, int *updates) {
    dls_error error;
    dls_alpha *alpha;
    dls_alpha_report report;
    if (dls_alpha_create(&b->model, &b->options, 0, b->q, b->u, &alpha, &error)) {
        fprintf(stderr, "bench_alpha: %s\n", error.message);
        return false;
    }
    double started = dls_clock_cpu();
    dls_status status = DLS_OK;
    *updates = 0;
    for (int i = 0; !status && i < steps; i++) {
        status = dls_alpha_step(alpha, &report, &error);
        *updates += report.newton_updates;
    }
    *seconds = dls_clock_cpu() - started;
    dls_alpha_destroy(alpha);
    if (status) fprintf(stderr, "bench_alpha: %s\n", error.message);
    return !status;
}

static bool measure_steps(const stepped *s) {
    benchmark b;
    int updates;
    double least = INFINITY, seconds;
    s->fill(&b);
    int steps = (int)lround(s->end / b.options.dt);
    for (int i = 0; i < REPEATS; i++) {
        if (!take_steps(&b, steps, &seconds, &updates)) return false;
        least = fmin(least, seconds);
    }
    printf("{\"kind\": \"step\", \"benchmark\": \"%s\", \"steps\": %d, \"updates\": %d, \"cpu_seconds\": "
           "%.4g}\n",
           s->name, steps, updates, least);
    return true;
}

/* ---- scenes by two schemes ---- */

typedef struct contest {
    const char *scene, *body;
    double dt, until; /* dt: the largest */
    int halvings;
    double (*error)(const dls_body_state *s); /* at the end; NULL: way from the smallest step's, by alpha */
} contest;

/* Exact places at t = 1. */
static double ball_error(const dls_body_state *s) { return hypot(s->x[0] - 0.8215903, s->x[1] - 0.6325909); }

static double top_error(const dls_body_state *s) {
    double q[7] = {0, 0, 0, s->q[0], s->q[1], s->q[2], s->q[3]};
    return fabs(tippe_top_angle(q) - 1.5725914);
}

static const contest contests[] = {{"004-10.3", "ball", 1e-2, 1, 4, ball_error},
                                   {"004-10.6", "top", 2e-3, 1, 6, top_error},
                                   {"slider-crank", "slider", 4e-3, 0.3, 4, NULL},
                                   {"004-10.5", "trunk", 2e-3, 0.12, 3, NULL}};

/* A crank that is turned by a torque moves a block over a floor with friction. */
static const char slider_crank[] =
    "{delassus: 1, dimension: 2, gravity: [0, -9.81], materials: {default: {mu: 0.3}}, bodies: ["
    "{name: floor, motion: static, shape: {kind: half-plane}},"
    "{name: crank, mass: 0.2, inertia: 3e-4, position: [0, 0.1], torque: 1.5*cos(9*t)},"
    "{name: rod, mass: 0.3, inertia: 3e-3, position: [0.15, 0.1]},"
    "{name: slider, mass: 1, inertia: 2e-3, position: [0.3, 0.05], shape: {kind: polygon, points: "
    "[[-0.05, -0.05], [0.05, -0.05], [0.05, 0.05], [-0.05, 0.05]]}}],"
    "joints: [{kind: revolute, bodies: [ground, crank], at: [0, 0.05]},"
    "{kind: revolute, bodies: [crank, rod], at: [0, 0.15]},"
    "{kind: revolute, bodies: [rod, slider], at: [0.3, 0.05]}],"
    "integrator: {scheme: generalized-alpha}, time: {step: 1e-3, until: 1}}";

static const char *scene_text(const char *name) {
    if (!strcmp(name, "slider-crank")) return slider_crank;
    for (int i = 0; i < dls_scene_template_count(); i++)
        if (!strcmp(dls_scene_template_name(i), name)) return dls_scene_template_text(i);
    return "";
}

static bool run_scene(const contest *c, const char *scheme, double dt, double *seconds,
                      dls_body_state *state) {
    char step[64], chosen[64], until[64];
    const char *settings[MOST_SETTINGS] = {chosen, step, until, "integrator.alpha_slip=switched"};
    dls_scene *scene = NULL;
    dls_error failure;
    dls_run_end end;
    dls_run_summary summary;
    dls_run_def run = {.user = NULL};
    uint64_t hash;
    snprintf(until, sizeof until, "time.until=%.17g", c->until);
    snprintf(step, sizeof step, "time.step=%.17g", dt);
    snprintf(chosen, sizeof chosen, "integrator.scheme=%s", scheme);
    const char *text = scene_text(c->scene);
    dls_status status =
        dls_scene_read_text(text, strlen(text), c->scene, ".", MOST_SETTINGS, settings, &scene, &failure);
    double started = dls_clock_cpu();
    if (!status) status = dls_run_scene(scene, &run, &end, &summary, &hash, &failure);
    *seconds = dls_clock_cpu() - started;
    if (!status) {
        const dls_world *world = dls_scene_world(scene);
        status = dls_body_state_get(world, dls_world_find_body(world, c->body), state, &failure);
    }
    if (status) fprintf(stderr, "bench_alpha: %s: %s\n", c->scene, failure.message);
    dls_scene_destroy(scene);
    return !status;
}

static bool measure_contest(const contest *c, const char *scheme) {
    dls_body_state state, exact;
    double seconds;
    if (!c->error && !run_scene(c, "generalized-alpha", ldexp(c->dt, -c->halvings - 2), &seconds, &exact))
        return false;
    for (int k = 0; k <= c->halvings; k++) {
        double least = INFINITY, dt = ldexp(c->dt, -k);
        for (int i = 0; i < REPEATS; i++) {
            if (!run_scene(c, scheme, dt, &seconds, &state)) return false;
            least = fmin(least, seconds);
        }
        double error = c->error ? c->error(&state) : hypot(state.x[0] - exact.x[0], state.x[1] - exact.x[1]);
        printf("{\"kind\": \"error\", \"scene\": \"%s\", \"scheme\": \"%s\", \"dt\": %.6g, \"error\": %.4g, "
               "\"cpu_seconds\": %.4g}\n",
               c->scene, scheme, dt, error, least);
        fflush(stdout);
    }
    return true;
}

/* ---- many contacts at once ---- */

enum { CROWD_TEXT = 1 << 18 };

typedef enum crowd_kind { ROLLING, RESTING, STRUCK, HEAP } crowd_kind;

typedef struct crowd {
    const char *name;
    crowd_kind kind;
    int bodies, steps;
} crowd;

static const crowd crowds[] = {{"spheres that bounce and roll", ROLLING, 10, 300},
                               {"spheres that bounce and roll", ROLLING, 30, 300},
                               {"spheres that bounce and roll", ROLLING, 100, 300},
                               {"spheres that bounce and roll", ROLLING, 300, 300},
                               {"spheres that bounce and roll", ROLLING, 1000, 300},
                               {"boxes that rest", RESTING, 1, 200},
                               {"boxes that rest", RESTING, 2, 200},
                               {"boxes that rest", RESTING, 5, 200},
                               {"boxes that rest", RESTING, 10, 200},
                               {"boxes that a ball strikes", STRUCK, 2, 300},
                               {"boxes that a ball strikes", STRUCK, 3, 300},
                               {"boxes that a ball strikes", STRUCK, 5, 300},
                               {"spheres that fall into a heap", HEAP, 10, 1000},
                               {"spheres that fall into a heap", HEAP, 30, 1000},
                               {"spheres that fall into a heap", HEAP, 100, 500}};

static size_t add_crowd_body(const crowd *c, int i, char *text, size_t size) {
    if (c->kind == ROLLING)
        return (size_t)snprintf(text, size,
                                ", {position: [%g, %g, %g], velocity: [1, 0.3, 0], spin: [0, 3, 1], shape: "
                                "{kind: sphere, radius: 0.05}}",
                                0.3 * (i % 32), 0.3 * (i / 32), 0.05 + 0.01 * (i % 7));
    if (c->kind == HEAP)
        return (size_t)snprintf(text, size, ", {position: [%g, %g, %g], shape: {kind: sphere, radius: %g}}",
                                -0.2 + 0.135 * (i / 4 % 4) + 0.003 * (i % 5),
                                -0.2 + 0.135 * (i % 4) + 0.002 * (i % 7), 0.07 + 0.13 * (i / 16),
                                0.045 + 0.001 * (i % 11));
    return (size_t)snprintf(text, size, ", {position: [0, 0, %g], shape: {kind: box, size: [0.2, 0.2, 0.1]}}",
                            0.05 + 0.1 * i);
}

static size_t write_crowd(const crowd *c, char *text) {
    static const char *const walls[] = {"[-0.3, 0, 0], shape: {kind: half-space, normal: [1, 0, 0]}",
                                        "[0.3, 0, 0], shape: {kind: half-space, normal: [-1, 0, 0]}",
                                        "[0, -0.3, 0], shape: {kind: half-space, normal: [0, 1, 0]}",
                                        "[0, 0.3, 0], shape: {kind: half-space, normal: [0, -1, 0]}"};
    size_t at =
        (size_t)snprintf(text, CROWD_TEXT,
                         "{delassus: 1, dimension: 3, materials: {default: {density: 1000, mu: %g, e_n: "
                         "%g}}, bodies: [{motion: static, shape: {kind: half-space}}",
                         c->kind == ROLLING ? 0.3 : 0.5, c->kind == ROLLING ? 0.5 : 0);
    for (int i = 0; i < 4 && c->kind == HEAP; i++)
        at += (size_t)snprintf(text + at, CROWD_TEXT - at, ", {motion: static, position: %s}", walls[i]);
    for (int i = 0; i < c->bodies; i++) at += add_crowd_body(c, i, text + at, CROWD_TEXT - at);
    if (c->kind == STRUCK)
        at += (size_t)snprintf(text + at, CROWD_TEXT - at,
                               ", {position: [-0.5, 0.01, %g], velocity: [3, 0, 0.8], shape: {kind: sphere, "
                               "radius: 0.05}}",
                               0.1 * c->bodies - 0.05);
    return at + (size_t)snprintf(text + at, CROWD_TEXT - at,
                                 "], integrator: {scheme: generalized-alpha}, time: {step: 1e-3, until: 9}}");
}

static bool measure_crowd(const crowd *c) {
    char *text = malloc(CROWD_TEXT);
    dls_scene *scene = NULL;
    dls_simulation *simulation = NULL;
    dls_error failure = {0};
    dls_step_report report;
    int certified = 0, retried = 0, halvings = 0;
    double held = 0, penetration = 0;
    dls_status status = DLS_ERROR_MEMORY;
    if (text)
        status = dls_scene_read_text(text, write_crowd(c, text), c->name, ".", 0, NULL, &scene, &failure);
    if (!status) status = dls_scene_simulation_create(scene, &simulation, &failure);
    double started = dls_clock_cpu();
    for (int i = 0; !status && i < c->steps; i++) {
        status = dls_simulation_step(simulation, &report, &failure);
        certified += report.certified, retried += report.retried > 0, halvings += report.halvings;
        held = fmax(held, report.held), penetration = fmax(penetration, report.penetration);
    }
    double seconds = dls_clock_cpu() - started;
    if (status)
        fprintf(stderr, "bench_alpha: %s: %s\n", c->name, failure.message);
    else
        printf("{\"kind\": \"crowd\", \"name\": \"%s\", \"bodies\": %d, \"steps\": %d, \"contacts\": %d, "
               "\"certified\": %d, \"retried\": %d, \"halvings\": %d, \"held\": %.3g, \"penetration\": %.3g, "
               "\"cpu_seconds\": %.4g}\n",
               c->name, c->bodies, c->steps, report.contacts, certified, retried, halvings, held, penetration,
               seconds);
    fflush(stdout);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
    free(text);
    return !status;
}

int main(void) {
    static const char *const schemes[] = {"moreau-jean", "generalized-alpha"};
    bool good = true;
    for (size_t i = 0; good && i < sizeof benchmarks / sizeof *benchmarks; i++)
        good = measure_steps(&benchmarks[i]);
    for (size_t i = 0; good && i < sizeof contests / sizeof *contests; i++)
        for (int s = 0; good && s < 2; s++) good = measure_contest(&contests[i], schemes[s]);
    for (size_t i = 0; good && i < sizeof crowds / sizeof *crowds; i++) good = measure_crowd(&crowds[i]);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
