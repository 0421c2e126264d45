/* The nonsmooth generalized-α scheme: processor time of a step of the six benchmarks of paper 004 as
 * callbacks, and scenes of two of them by generalized-α and by Moreau–Jean, with ever smaller steps: error
 * over time.
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
    double dt; /* the largest */
    int halvings;
    double (*error)(const dls_body_state *s); /* at t = 1 */
} contest;

/* Exact places at t = 1. */
static double ball_error(const dls_body_state *s) { return hypot(s->x[0] - 0.8215903, s->x[1] - 0.6325909); }

static double top_error(const dls_body_state *s) {
    double q[7] = {0, 0, 0, s->q[0], s->q[1], s->q[2], s->q[3]};
    return fabs(tippe_top_angle(q) - 1.5725914);
}

static const contest contests[] = {{"004-10.3", "ball", 1e-2, 4, ball_error},
                                   {"004-10.6", "top", 2e-3, 6, top_error}};

static const char *scene_text(const char *name) {
    for (int i = 0; i < dls_scene_template_count(); i++)
        if (!strcmp(dls_scene_template_name(i), name)) return dls_scene_template_text(i);
    return "";
}

static bool run_scene(const contest *c, const char *scheme, double dt, double *seconds, double *error) {
    char step[64], chosen[64];
    const char *settings[MOST_SETTINGS] = {chosen, step, "time.until=1", "integrator.alpha_slip=switched"};
    dls_scene *scene = NULL;
    dls_error failure;
    dls_run_end end;
    dls_run_summary summary;
    dls_run_def run = {.user = NULL};
    dls_body_state state;
    uint64_t hash;
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
        status = dls_body_state_get(world, dls_world_find_body(world, c->body), &state, &failure);
    }
    if (status)
        fprintf(stderr, "bench_alpha: %s\n", failure.message);
    else
        *error = c->error(&state);
    dls_scene_destroy(scene);
    return !status;
}

static bool measure_contest(const contest *c, const char *scheme) {
    for (int k = 0; k <= c->halvings; k++) {
        double least = INFINITY, seconds, error = 0, dt = ldexp(c->dt, -k);
        for (int i = 0; i < REPEATS; i++) {
            if (!run_scene(c, scheme, dt, &seconds, &error)) return false;
            least = fmin(least, seconds);
        }
        printf("{\"kind\": \"error\", \"scene\": \"%s\", \"scheme\": \"%s\", \"dt\": %.6g, \"error\": %.4g, "
               "\"cpu_seconds\": %.4g}\n",
               c->scene, scheme, dt, error, least);
        fflush(stdout);
    }
    return true;
}

int main(void) {
    static const char *const schemes[] = {"moreau-jean", "generalized-alpha"};
    bool good = true;
    for (size_t i = 0; good && i < sizeof benchmarks / sizeof *benchmarks; i++)
        good = measure_steps(&benchmarks[i]);
    for (size_t i = 0; good && i < sizeof contests / sizeof *contests; i++)
        for (int s = 0; good && s < 2; s++) good = measure_contest(&contests[i], schemes[s]);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
