/* Orders, errors and verdicts of the runs of a scene. */
#include "cli/converge/converge.h"
#include "cli/support/interrupt.h"
#include "cli/support/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of all samples of a run, at most; and samples that a mean over time needs. */
enum { MOST_NUMBERS = 1 << 23, MOST_SAMPLES = 2048, LEAST_SAMPLES = 8 };

/* Changes below this share of a quantity are rounding. */
static const double rounding = 1e-12;
/* What matters a tenth as much as the step, matters. */
static const double matters = 0.1;
/* A disturbance that grew this much more than free flight lets it grow makes single runs incomparable. */
static const double chaotic_growth = 100;
/* By how much the tolerance is tightened to see what it does. */
static const double tighter = 0.01;

const char *converge_verdict_name(converge_verdict verdict) {
    static const char *const names[CONVERGE_VERDICTS] = {"converges", "irregular", "exact",
                                                         "tolerance", "unsettled", "chaotic"};
    return names[verdict];
}

/* ---- the plan ---- */

/* What gravity gives in a step, as the judge has it; without gravity a thousandth of the fastest body. */
static double reference_speed(dls_scene *scene, const quantity_list *list) {
    const dls_simulation_options *o = dls_scene_simulation_options(scene);
    double g[3], fastest = 0;
    if (o->reference_velocity > 0) return o->reference_velocity;
    dls_world_gravity(dls_scene_world(scene), g);
    double speed = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * o->step;
    for (int i = 0; i < list->body_count; i++) {
        dls_body_state s;
        if (dls_body_state_get(dls_scene_world(scene), list->bodies[i], &s, NULL)) continue;
        fastest = fmax(fastest, sqrt(s.v[0] * s.v[0] + s.v[1] * s.v[1] + s.v[2] * s.v[2]));
    }
    return speed > 0 ? speed : fastest > 0 ? 1e-3 * fastest : 1e-6;
}

/* Samples stand at the ends of coarse steps, where all runs have an end of a step. */
static bool plan(convergence *c) {
    double steps = floor(c->until / c->step * (1 + 1e-12));
    int room = MOST_NUMBERS / (c->quantities.width > 0 ? c->quantities.width : 1);
    int most = room < MOST_SAMPLES ? room : MOST_SAMPLES;
    if (most < LEAST_SAMPLES) most = LEAST_SAMPLES;
    if (steps < LEAST_SAMPLES || steps > 1e9) {
        report_error("converge: %s takes %.0f steps of %g s, expected %d to 1e9 (--step, --until)", c->path,
                     steps, c->step, (int)LEAST_SAMPLES);
        return false;
    }
    c->stride = (int)ceil(steps / most);
    c->samples = (int)(steps / c->stride);
    c->runs = c->levels + 1 + CONVERGE_DISTURBED;
    c->work = steps * ((1 << c->levels) + CONVERGE_DISTURBED);
    return true;
}

bool converge_open(convergence *c) {
    dls_scene *scene = NULL;
    dls_error error;
    if (dls_scene_read(c->path, c->setting_count, c->settings, &scene, &error)) {
        report_error("%s", error.message);
        return false;
    }
    c->step = dls_scene_simulation_options(scene)->step;
    c->until = dls_scene_run_options(scene)->until;
    c->tolerance = ((const dls_stop_options *)dls_scene_solver_options(scene))->tolerance;
    quantities_of(scene, &c->quantities);
    c->reference_velocity = reference_speed(scene, &c->quantities);
    dls_scene_destroy(scene);
    return plan(c);
}

/* ---- growth of a disturbance ---- */

/* Largest distance of places over what the disturbance alone would make of it, |Δv| t. What the tolerance
 * lets through comes in every one of n steps: all of it one way would make n/2 times that. */
static double growth_of(const convergence *c, const series *other, bool every_step) {
    double largest = 0;
    for (int j = 0; j < c->samples; j++) {
        double steps = (double)c->stride * (j + 1), free_flight = c->disturbance * c->step * steps;
        double d = series_difference(&c->quantities.items[0], &c->level[0], other, j);
        if (!isnan(d)) largest = fmax(largest, d / (every_step ? free_flight * steps / 2 : free_flight));
    }
    return largest;
}

static double find_growth(const convergence *c) {
    if (c->quantities.body_count == 0 || !c->quantities.by_body) return (double)NAN;
    double largest = growth_of(c, &c->tighter, true);
    for (int i = 0; i < CONVERGE_DISTURBED; i++)
        largest = fmax(largest, growth_of(c, &c->disturbed[i], false));
    return largest;
}

/* ---- rows ---- */

/* Where disturbances grow, two changes may shrink by luck: three that shrink by one order are asked for. */
static converge_verdict judge(const convergence *c, const convergence_row *r, const dls_refinement *o,
                              double size) {
    double last = r->change[c->levels - 2], largest = 0;
    bool grows = c->growth >= chaotic_growth && !r->of->numerical, shown = c->levels > 3 && o->steady;
    for (int k = 0; k + 1 < c->levels; k++) largest = fmax(largest, r->change[k]);
    if (largest <= rounding * size) return CONVERGE_EXACT;
    if (grows && (r->disturbed > matters * last || !shown)) return CONVERGE_CHAOTIC;
    if (fmax(r->tolerance, r->disturbed) > matters * last) return CONVERGE_TOLERANCE;
    return isnan(o->error) ? CONVERGE_UNSETTLED : o->steady ? CONVERGE_ORDER : CONVERGE_IRREGULAR;
}

static void fill_row(const convergence *c, convergence_row *r, double size) {
    const quantity *q = r->of;
    const int finest = c->levels - 1;
    const series *fine = &c->level[finest], *middle = &c->level[finest - 1];
    for (int k = 0; k < finest; k++) r->change[k] = series_apart(q, &c->level[k], &c->level[k + 1]);
    for (int k = 0; k + 1 < finest; k++) r->order[k] = dls_refinement_observe(2, 2, r->change + k).order;
    dls_refinement o = dls_refinement_observe(2, finest, r->change);
    r->tolerance = series_apart(q, &c->level[0], &c->tighter);
    for (int i = 0; i < CONVERGE_DISTURBED; i++)
        r->disturbed = fmax(r->disturbed, series_apart(q, &c->level[0], &c->disturbed[i]));
    r->end = series_end(q, fine);
    r->end_error = r->limit = r->error = (double)NAN;
    r->verdict = judge(c, r, &o, size);
    double last = series_difference(q, middle, fine, c->samples - 1);
    if (r->verdict == CONVERGE_ORDER) {
        double share = o.error / r->change[finest - 1];
        r->error = o.error;
        r->end_error = last * share;
        if (q->width == 1) r->limit = r->end + (r->end - series_end(q, middle)) * share;
    } else if (r->verdict == CONVERGE_IRREGULAR) {
        r->error = o.error;
        r->end_error = fmax(last, o.error);
    } else if (r->verdict == CONVERGE_EXACT || r->verdict == CONVERGE_TOLERANCE) {
        double more = r->verdict == CONVERGE_TOLERANCE ? r->tolerance : 0;
        r->error = fmax(r->change[finest - 1], more);
        r->end_error = fmax(last, more);
    }
}

/* The largest of all that has the same unit: what rounding is measured by. */
static double size_in_unit(const convergence *c, const char *unit) {
    double size = 0;
    for (int i = 0; i < c->quantities.count; i++) {
        const quantity *q = &c->quantities.items[i];
        for (int k = 0; k < c->levels && !strcmp(q->unit, unit); k++)
            size = fmax(size, series_size(q, &c->level[k]));
    }
    return size;
}

/* Quantities that are zero all the time, to rounding, tell nothing. */
static void fill_rows(convergence *c) {
    c->rows = report_allocate((size_t)c->quantities.count + 1, sizeof *c->rows);
    c->growth = find_growth(c);
    for (int i = 0; i < c->quantities.count; i++) {
        const quantity *q = &c->quantities.items[i];
        double own = 0, size = size_in_unit(c, q->unit);
        for (int k = 0; k < c->levels; k++) own = fmax(own, series_size(q, &c->level[k]));
        if (own <= rounding * size || q->form == FORM_COUNT) continue;
        convergence_row *r = &c->rows[c->row_count++];
        *r = (convergence_row){.of = q};
        fill_row(c, r, size);
        c->chaotic = c->chaotic || r->verdict == CONVERGE_CHAOTIC;
    }
}

bool converge_run(convergence *c) {
    c->disturbance = c->tolerance * c->reference_velocity;
    for (int k = 0; k < c->levels; k++)
        if (!series_run(c, &(series_def){.level = k}, &c->level[k])) return false;
    if (!series_run(c, &(series_def){.tolerance = tighter * c->tolerance}, &c->tighter)) return false;
    for (int i = 0; i < CONVERGE_DISTURBED; i++)
        if (!series_run(c, &(series_def){.disturbed = c->disturbance, .seed = i + 1}, &c->disturbed[i]))
            return false;
    fill_rows(c);
    return true;
}

void converge_free(convergence *c) {
    for (int k = 0; k < CONVERGE_MOST_LEVELS; k++) series_free(&c->level[k]);
    series_free(&c->tighter);
    for (int i = 0; i < CONVERGE_DISTURBED; i++) series_free(&c->disturbed[i]);
    quantities_free(&c->quantities);
    free(c->rows);
    free(c->means);
}

bool converge_settled(const convergence *c) {
    bool settled = !c->chaotic || c->means;
    for (int i = 0; i < c->row_count; i++) settled = settled && c->rows[i].verdict != CONVERGE_UNSETTLED;
    for (int i = 0; i < c->mean_count; i++)
        for (int k = 0; k + 1 < c->levels; k++) settled = settled && c->means[i].decision[k] == DLS_WITHIN;
    return settled;
}
