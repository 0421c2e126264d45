/* One run and its samples; differences of two runs. */
#include "cli/converge/converge.h"
#include "cli/support/interrupt.h"
#include "cli/support/progress.h"
#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- running ---- */

typedef struct sampler {
    convergence *c;
    series *s;
    int64_t every; /* steps of this level between samples */
    quantity_sums sums;
    progress progress;
    double last_told, work; /* of this run, in steps */
} sampler;

static void tell(sampler *me, const dls_step_report *report) {
    convergence *c = me->c;
    double now = dls_clock_wall();
    if (c->quiet || now - me->last_told < 0.5) return;
    me->last_told = now;
    double share = (c->work_done + (double)report->step) / c->work;
    progress_text(&me->progress, "run %d of %d, %.0f %% of all steps", c->runs_done + 1, c->runs,
                  100 * share);
}

static bool after_step(const dls_step_report *report, const dls_simulation *simulation, void *user) {
    sampler *me = user;
    series *s = me->s;
    quantities_add_step(simulation, report, &me->sums);
    if (report->step % me->every == 0 && s->samples < me->c->samples)
        quantities_sample(&me->c->quantities, simulation, report, &me->sums,
                          s->values + (size_t)s->samples++ * (size_t)s->width);
    s->steps++;
    s->certified += report->certified;
    tell(me, report);
    return !interrupt_seen();
}

/* One of 2⁶⁴ words after the other (splitmix). */
static uint64_t next_word(uint64_t *at) {
    uint64_t z = *at += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Velocities turned by chance: each body gets the speed in a direction of its own, the same for a seed at
 * every step length. */
static void disturb(dls_world *world, const quantity_list *list, double speed, int seed) {
    uint64_t words = (uint64_t)seed;
    next_word(&words);
    for (int i = 0; i < list->body_count; i++) {
        dls_body_state s;
        double d[3] = {0}, square = 1e-30;
        for (int k = 0; k < list->dimension; k++) {
            d[k] = (double)(next_word(&words) >> 11) * 0x1p-53 - 0.5;
            square += d[k] * d[k];
        }
        if (dls_body_state_get(world, list->bodies[i], &s, NULL)) continue;
        for (int k = 0; k < 3; k++) s.v[k] += speed * d[k] / sqrt(square);
        dls_body_state_set(world, list->bodies[i], &s, NULL);
    }
}

static dls_scene *open_level(const convergence *c, const series_def *def) {
    enum { OWN = 3 };
    char text[OWN][256];
    const char **items = report_allocate((size_t)c->setting_count + OWN, sizeof *items);
    dls_scene *scene = NULL;
    dls_error error;
    int count = c->setting_count;
    for (int i = 0; i < count; i++) items[i] = c->settings[i];
    snprintf(text[0], sizeof text[0], "time.step=%.17g", ldexp(c->step, -def->level));
    items[count++] = text[0];
    if (def->tolerance > 0) {
        snprintf(text[1], sizeof text[1], "solver.tolerance=%.17g", def->tolerance);
        items[count++] = text[1];
    }
    if (def->seed_key) {
        snprintf(text[2], sizeof text[2], "%.200s=%d", def->seed_key, def->seed);
        items[count++] = text[2];
    }
    if (dls_scene_read(c->path, count, items, &scene, &error)) {
        report_error("%s", error.message);
        scene = NULL;
    }
    free(items);
    return scene;
}

bool series_run(convergence *c, const series_def *def, series *s) {
    *s = (series){.width = c->quantities.width};
    s->values = report_allocate((size_t)c->samples * (size_t)s->width + 1, sizeof *s->values);
    sampler me = {.c = c, .s = s, .every = (int64_t)c->stride << def->level, .progress = progress_begin(0)};
    dls_scene *scene = open_level(c, def);
    if (!scene) return false;
    if (def->disturbed > 0) disturb(dls_scene_world(scene), &c->quantities, def->disturbed, def->seed);
    dls_error error;
    dls_run_end end = DLS_RUN_FINISHED;
    dls_run_summary summary;
    uint64_t hash;
    double started = dls_clock_cpu();
    dls_run_def run = {.callback = after_step, .user = &me};
    dls_status status = dls_run_scene(scene, &run, &end, &summary, &hash, &error);
    progress_end(&me.progress);
    s->seconds = dls_clock_cpu() - started;
    dls_scene_destroy(scene);
    c->runs_done++;
    c->work_done += (double)s->steps;
    if (status) report_error("converge: at h = %g s: %s", ldexp(c->step, -def->level), error.message);
    if (!status && !interrupt_seen() && s->samples < c->samples) {
        report_error("converge: the run at h = %g s ended after %" PRId64 " steps, expected %" PRId64
                     ": run.strict ends a run at a step that is not certified",
                     ldexp(c->step, -def->level), s->steps, me.every * c->samples);
        return false;
    }
    return !status && !interrupt_seen();
}

void series_free(series *s) {
    free(s->values);
    *s = (series){0};
}

/* ---- differences ---- */

static const double *at(const quantity *q, const series *s, int sample) {
    return s->values + (size_t)sample * (size_t)s->width + (size_t)q->offset;
}

static double distance(const double *a, const double *b, int count, double sign) {
    double square = 0;
    for (int k = 0; k < count; k++) square += (a[k] - sign * b[k]) * (a[k] - sign * b[k]);
    return sqrt(square);
}

/* q and −q are one rotation; |q − p| = 2 sin(angle/4). */
static double turned(const double *q, const double *p) {
    double chord = fmin(distance(q, p, 4, 1), distance(q, p, 4, -1));
    return 4 * asin(fmin(chord / 2, 1));
}

/* Bodies that take part in one of the runs only do not count. */
static double field_distance(const double *a, const double *b, int count) {
    double sum = 0;
    int counted = 0;
    for (int i = 0; i + 3 <= count; i += 3) {
        double d = distance(a + i, b + i, 3, 1);
        if (isnan(d)) continue;
        sum += d * d, counted++;
    }
    return counted ? sqrt(sum / counted) : (double)NAN;
}

static double form_distance(const quantity *q, const double *a, const double *b) {
    switch (q->form) {
    case FORM_TURN:
        return turned(a, b);
    case FORM_FIELD:
        return field_distance(a, b, q->width);
    default:
        return distance(a, b, q->width, 1);
    }
}

double series_difference(const quantity *q, const series *a, const series *b, int sample) {
    return form_distance(q, at(q, a, sample), at(q, b, sample));
}

double series_apart(const quantity *q, const series *a, const series *b) {
    double sum = 0;
    int counted = 0;
    for (int j = 0; j < a->samples && j < b->samples; j++) {
        double d = series_difference(q, a, b, j);
        if (!isnan(d)) sum += d, counted++;
    }
    return counted ? sum / counted : (double)NAN;
}

double series_size(const quantity *q, const series *s) {
    double sum = 0, *none = report_allocate((size_t)q->width, sizeof *none);
    int counted = 0;
    for (int j = 0; j < s->samples; j++) {
        double d = q->form == FORM_TURN ? 1 : form_distance(q, at(q, s, j), none);
        if (!isnan(d)) sum += d, counted++;
    }
    free(none);
    return counted ? sum / counted : 0;
}

double series_range(const quantity *q, const series *s) {
    double low = (double)INFINITY, high = -low;
    for (int j = 0; j < s->samples; j++) {
        low = fmin(low, *at(q, s, j));
        high = fmax(high, *at(q, s, j));
    }
    return high > low ? high - low : 0;
}

double series_late_mean(const quantity *q, const series *s) {
    double sum = 0;
    int first = s->samples / 2;
    for (int j = first; j < s->samples; j++) sum += *at(q, s, j);
    return sum / (s->samples - first);
}

double series_end(const quantity *q, const series *s) {
    if (q->width == 1) return *at(q, s, s->samples - 1);
    double *none = report_allocate((size_t)q->width, sizeof *none);
    if (q->form == FORM_TURN) none[0] = 1;
    double end = form_distance(q, at(q, s, s->samples - 1), none);
    free(none);
    return end;
}
