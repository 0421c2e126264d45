/* The benchmarks as scenes, whose contacts the collision code finds, beside their models by callbacks:
 * motions agree where both have the same coordinates, for the parameters of the paper and for others. */
#include "experiments/capobianco/capobianco.h"
#include "experiments/case.h"

#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TWIN_OFF, TWIN_COLUMNS, TWIN_SETTINGS = 8 };

static const double twin_tolerance = 1e-11;

typedef struct twin_pair {
    const benchmark *b;
    const char *body;
    dls_alpha *alpha;
} twin_pair;

/* Largest difference of places, velocities and quaternions; the rod's angle runs clockwise. */
static double difference(const benchmark *b, const dls_body_state *s, const dls_alpha_view *view) {
    bool planar = b->model.coordinates == 3;
    double off = planar ? fabs(fabs(s->w[2]) - fabs(view->u[2])) : 0;
    for (int k = 0; k < (planar ? 2 : 3); k++)
        off = fmax(off, fmax(fabs(s->x[k] - view->q[k]), fabs(s->v[k] - view->u[k])));
    for (int k = 0; k < 4 && !planar; k++) off = fmax(off, fabs(s->q[k] - view->q[3 + k]));
    return off;
}

static void measure_twin(const dls_simulation *simulation, const dls_step_report *report, double *values,
                         void *user) {
    const twin_pair *pair = user;
    const dls_world *world = dls_simulation_world(simulation);
    dls_body_state state;
    (void)report;
    if (dls_alpha_step(pair->alpha, NULL, NULL) ||
        dls_body_state_get(world, dls_world_find_body(world, pair->body), &state, NULL)) {
        values[TWIN_OFF] = nan("");
        return;
    }
    dls_alpha_view view = dls_alpha_get(pair->alpha);
    values[TWIN_OFF] = fmax(values[TWIN_OFF], difference(pair->b, &state, &view));
}

static bool run_twin(experiment_run *run, const alpha_twin *twin, const benchmark *b, double *off) {
    static const char *const columns[TWIN_COLUMNS] = {"off"};
    char rho[64], step[64], until[64], name[96];
    const char *settings[TWIN_SETTINGS] = {"integrator.alpha_tolerance=1e-11",
                                           "integrator.alpha_tolerance_fixed=1e-11",
                                           "integrator.alpha_slip=end",
                                           rho,
                                           step,
                                           until};
    int count = 6;
    dls_error error;
    case_history h;
    twin_pair pair = {b, twin->body, NULL};
    snprintf(rho, sizeof rho, "integrator.rho=%.17g", b->options.rho);
    snprintf(step, sizeof step, "time.step=%.17g", b->options.dt);
    snprintf(until, sizeof until, "time.until=%.17g", twin->until);
    snprintf(name, sizeof name, "twin-%s", twin->name);
    for (int i = 0; i < 2 && twin->settings[i]; i++) settings[count++] = twin->settings[i];
    if (dls_alpha_create(&b->model, &b->options, 0, b->q, b->u, &pair.alpha, &error)) {
        report_error("%s: %s", twin->name, error.message);
        return false;
    }
    const case_def def = {.name = name,
                          .scene = twin->scene,
                          .setting_count = count,
                          .settings = settings,
                          .steps_per_row = 100,
                          .column_count = TWIN_COLUMNS,
                          .columns = columns,
                          .measure = measure_twin,
                          .user = &pair};
    bool good = case_run(run, &def, &h);
    dls_alpha_destroy(pair.alpha);
    if (!good) return false;
    *off = case_largest(&h, CASE_COLUMNS + TWIN_OFF, -1, INFINITY);
    case_history_free(&h);
    return true;
}

bool alpha_claim_twins(experiment_run *run, const alpha_twin *twins, int count) {
    for (int i = 0; i < count; i++) {
        const alpha_twin *twin = &twins[i];
        benchmark b;
        double off;
        twin->fill(&b);
        b.options.tolerance = b.options.tolerance_fixed = twin_tolerance;
        if (twin->rho >= 0) b.options.rho = twin->rho;
        b.options.dt *= twin->steps;
        if (!run_twin(run, twin, &b, &off)) return false;
        claim_bound(&run->claims, CLAIM_DERIVED, "m, m/s", CLAIM_AT_MOST, twin->most, off,
                    "%s: as a scene, contacts found by collision, over the callbacks'", twin->name);
    }
    return true;
}
