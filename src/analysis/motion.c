/* Measures of packing, motion, energy, and of how well steps were solved. */
#include "analysis/analysis.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "output/results/results.h"

#include <math.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- solid fraction ---- */

static const char *const fraction_columns[] = {"time", "fraction", "volume"};
static const char *const fraction_units[2][3] = {{"s", "1", "m²"}, {"s", "1", "m³"}};

static dls_status fraction_frame(dls_analysis_work *work, void *user, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    bool loaded = work->options.has_region;
    (void)user;
    for (int id = 0; id < s->body_count && !loaded; id++)
        loaded = dls_snapshot_moves(s, id) && s->is_loaded[id];
    if (!loaded) return DLS_OK;
    dls_analysis_region region;
    dls_status status = dls_analysis_region_create(s, &work->options, &region, error);
    if (status) return status;
    const double row[] = {s->time, dls_fraction_measure(s, &region), region.volume};
    dls_analysis_region_release(&region);
    dls_analysis_add_row(work->out, 0, row);
    return DLS_OK;
}

dls_status dls_measure_fraction(dls_analysis_work *work, dls_error *error) {
    dls_analysis_add_table(work->out, "fraction", 3, fraction_columns,
                           fraction_units[work->snapshot.dimension - 2]);
    dls_status status = dls_analysis_frames(work, false, fraction_frame, NULL, error);
    if (status) return status;
    if (work->out->tables[0].count == 0)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "fraction: no moving body bears load in the chosen frames, so that there is no region; "
            "give one");
    dls_analysis_add_mean(work->out, "solid fraction", 0, 1, "volume of moving bodies over the region's");
    dls_analysis_add_mean(work->out, work->snapshot.dimension == 2 ? "area" : "volume", 0, 2,
                          "of the region");
    return DLS_OK;
}

/* ---- velocity profile ---- */

/* Running mean and sum of squared deviations. */
typedef struct layer {
    int64_t count;
    double mean[4], squares[4];
} layer;

typedef struct profile_work {
    double low, high, diameter;
    int64_t bodies;
    int count;
    layer *layers;
} profile_work;

static dls_status range_frame(dls_analysis_work *work, void *user, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    profile_work *p = user;
    (void)error;
    for (int id = 0; id < s->body_count; id++) {
        if (!dls_snapshot_moves(s, id)) continue;
        p->low = fmin(p->low, s->states[id].x[work->axis]);
        p->high = fmax(p->high, s->states[id].x[work->axis]);
        p->diameter += 2 * s->radius[id];
        p->bodies++;
    }
    return DLS_OK;
}

static dls_status profile_frame(dls_analysis_work *work, void *user, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    profile_work *p = user;
    (void)error;
    for (int id = 0; id < s->body_count; id++) {
        if (!dls_snapshot_moves(s, id)) continue;
        const dls_body_state *state = &s->states[id];
        int k = p->high > p->low ? (int)((state->x[work->axis] - p->low) / (p->high - p->low) * p->count) : 0;
        layer *l = &p->layers[k < p->count ? k : p->count - 1];
        const double v[4] = {state->v[0], state->v[1], state->v[2], state->w[2]};
        l->count++;
        for (int i = 0; i < 4; i++) {
            double change = v[i] - l->mean[i];
            l->mean[i] += change / (double)l->count;
            l->squares[i] += change * (v[i] - l->mean[i]);
        }
    }
    return DLS_OK;
}

static const char *const profile_2[] = {"place", "count",     "vx",        "vy",
                                        "wz",    "spread_vx", "spread_vy", "spread_wz"};
static const char *const profile_units_2[] = {"m", "1", "m/s", "m/s", "rad/s", "m/s", "m/s", "rad/s"};
static const char *const profile_3[] = {"place", "count",     "vx",        "vy",
                                        "vz",    "spread_vx", "spread_vy", "spread_vz"};
static const char *const profile_units_3[] = {"m", "1", "m/s", "m/s", "m/s", "m/s", "m/s", "m/s"};

static void add_layers(dls_analysis_work *work, const profile_work *p) {
    static const int from[2][3] = {{0, 1, 3}, {0, 1, 2}};
    double fastest = 0, deviations = 0, freedoms = 0;
    for (int k = 0; k < p->count; k++) {
        const layer *l = &p->layers[k];
        double row[8] = {p->low + (k + 0.5) * (p->high - p->low) / p->count, (double)l->count};
        for (int i = 0; i < 3; i++) {
            int at = from[work->snapshot.dimension - 2][i];
            row[2 + i] = l->count ? l->mean[at] : (double)NAN;
            row[5 + i] = l->count > 1 ? sqrt(l->squares[at] / (double)(l->count - 1)) : (double)NAN;
        }
        if (l->count) fastest = fmax(fastest, vec_norm(l->mean));
        for (int i = 0; i < work->snapshot.dimension; i++) deviations += l->squares[i];
        if (l->count > 1) freedoms += (double)(l->count - 1);
        dls_analysis_add_row(work->out, 0, row);
    }
    dls_analysis_add_fact(work->out, "fastest layer", "m/s", fastest, NAN, "speed of its mean velocity");
    dls_analysis_add_fact(work->out, "fluctuation", "m/s",
                          freedoms > 0 ? sqrt(deviations / freedoms) : (double)NAN, NAN,
                          "rms of velocities about the means of their layers");
    dls_analysis_add_fact(work->out, "layers", "1", p->count, NAN, "along the axis");
    dls_analysis_add_fact(work->out, "thickness", "m", (p->high - p->low) / p->count, NAN, "of a layer");
}

enum { MOST_LAYERS = 100000 };

dls_status dls_measure_profile(dls_analysis_work *work, dls_error *error) {
    bool plane = work->snapshot.dimension == 2;
    profile_work p = {.low = INFINITY, .high = -INFINITY};
    dls_analysis_add_table(work->out, "profile", 8, plane ? profile_2 : profile_3,
                           plane ? profile_units_2 : profile_units_3);
    dls_status status = dls_analysis_frames(work, false, range_frame, &p, error);
    if (status) return status;
    if (p.bodies == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "profile: no moving body in the chosen frames");
    double wanted = work->options.layers > 0 ? work->options.layers
                    : p.diameter > 0         ? ceil((p.high - p.low) / (p.diameter / (double)p.bodies))
                                             : 1;
    if (wanted > MOST_LAYERS)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "profile: %.6g layers from %g m to %g m, expected at most %d: ask for fewer", wanted,
                        p.low, p.high, (int)MOST_LAYERS);
    p.count = wanted >= 1 ? (int)wanted : 1;
    p.layers = DLS_NEW_ZERO(layer, p.count);
    if (!p.layers) return dls_fail_memory(error);
    status = dls_analysis_frames(work, false, profile_frame, &p, error);
    if (!status) add_layers(work, &p);
    dls_free(p.layers);
    return status;
}

/* ---- histories of steps ---- */

typedef void (*step_function)(dls_analysis_work *work, const dls_step_report *report, void *user);

static dls_status each_step(dls_analysis_work *work, step_function call, void *user, dls_error *error) {
    int64_t first, count;
    dls_analysis_steps(work, &first, &count);
    dls_step_report *reports = DLS_NEW(dls_step_report, count < DLS_BATCH ? count : DLS_BATCH);
    if (!reports) return dls_fail_memory(error);
    dls_status status = DLS_OK;
    if (count == 0) status = dls_fail(error, DLS_ERROR_INPUT, "no step was recorded in the chosen frames");
    for (int64_t done = 0; done < count && !status; done += DLS_BATCH) {
        int64_t n = count - done < DLS_BATCH ? count - done : DLS_BATCH;
        status = dls_results_steps(work->results, first + done, n, reports, error);
        for (int64_t k = 0; k < n && !status; k++) call(work, &reports[k], user);
    }
    dls_free(reports);
    return status;
}

static const char *const energy_columns[] = {"time",   "kinetic",    "potential",   "total",   "friction",
                                             "impact", "work",       "unaccounted", "turning", "spring",
                                             "motors", "joint_loss", "strain",      "damping", "numerical"};
static const char *const energy_units[] = {"s", "J", "J", "J", "J", "J", "J", "J",
                                           "J", "J", "J", "J", "J", "J", "J"};

typedef struct energy_work {
    dls_energy first, last;
    double kinetic, unaccounted, exchanged; /* largest */
    bool begun;
} energy_work;

static void energy_step(dls_analysis_work *work, const dls_step_report *r, void *user) {
    energy_work *sum = user;
    const dls_energy *e = &r->energy;
    const double row[] = {
        r->t,        e->kinetic, e->potential, e->kinetic + e->potential + e->spring + e->strain,
        e->friction, e->impact,  e->work,      e->unaccounted,
        e->turning,  e->spring,  e->motors,    e->joints,
        e->strain,   e->damping, e->numerical};
    dls_analysis_add_row(work->out, 0, row);
    if (!sum->begun) sum->first = *e;
    sum->begun = true;
    sum->last = *e;
    sum->kinetic = fmax(sum->kinetic, e->kinetic);
    sum->unaccounted = fmax(sum->unaccounted, fabs(e->unaccounted));
    double moved = fabs(e->potential - sum->first.potential) + fabs(e->spring - sum->first.spring) +
                   fabs(e->strain - sum->first.strain) + e->friction + e->impact + e->turning + e->damping +
                   fabs(e->joints) + fabs(e->work) + fabs(e->motors);
    sum->exchanged = fmax(sum->exchanged, fmax(e->kinetic, moved));
}

dls_status dls_measure_energy(dls_analysis_work *work, dls_error *error) {
    energy_work sum = {.begun = false};
    dls_analysis *out = work->out;
    dls_analysis_add_table(out, "energy", COUNT(energy_columns), energy_columns, energy_units);
    dls_status status = each_step(work, energy_step, &sum, error);
    if (status) return status;
    const struct {
        const char *name;
        double value;
        const char *meaning;
    } facts[] = {
        {"friction", sum.last.friction - sum.first.friction, "dissipated between first and last step"},
        {"impact", sum.last.impact - sum.first.impact, "dissipated along normals, likewise"},
        {"turning", sum.last.turning - sum.first.turning, "dissipated by friction against turning, likewise"},
        {"work", sum.last.work - sum.first.work, "of drives and applied forces, likewise"},
        {"motors", sum.last.motors - sum.first.motors, "work of drives and motors of joints, likewise"},
        {"joint loss", sum.last.joints - sum.first.joints, "dissipated in joints, likewise"},
        {"spring change", sum.last.spring - sum.first.spring, "stored in springs of joints, likewise"},
        {"strain change", sum.last.strain - sum.first.strain, "stored in solids, likewise"},
        {"damping", sum.last.damping - sum.first.damping, "dissipated in solids, likewise"},
        {"numerical", sum.last.numerical - sum.first.numerical, "made by the scheme in solids, likewise"},
        {"kinetic", sum.last.kinetic, "after the last step"},
        {"potential change", sum.last.potential - sum.first.potential, "between first and last step"},
        {"largest kinetic", sum.kinetic, "over the steps"},
        {"unaccounted", sum.unaccounted, "largest part of the balance without an owner"}};
    for (int k = 0; k < COUNT(facts); k++)
        dls_analysis_add_fact(out, facts[k].name, "J", facts[k].value, NAN, facts[k].meaning);
    dls_analysis_add_fact(out, "unaccounted share", "1",
                          sum.exchanged > 0 ? sum.unaccounted / sum.exchanged : (double)NAN, NAN,
                          "of the energy that was exchanged");
    return DLS_OK;
}

/* ---- penetration ---- */

static const char *const penetration_columns[] = {"time", "penetration", "contacts", "active"};
static const char *const penetration_units[] = {"s", "m", "1", "1"};

typedef struct worst_work {
    double worst, worst_time, residual, error, held;
    int64_t steps, missed;
} worst_work;

static void penetration_step(dls_analysis_work *work, const dls_step_report *r, void *user) {
    worst_work *w = user;
    dls_analysis_add_row(work->out, 0, (const double[]){r->t, r->penetration, r->contacts, r->active});
    if (r->penetration <= w->worst) return;
    w->worst = r->penetration;
    w->worst_time = r->t;
}

dls_status dls_measure_penetration(dls_analysis_work *work, dls_error *error) {
    const dls_snapshot *s = &work->snapshot;
    worst_work w = {.worst_time = NAN};
    double radius = INFINITY;
    dls_analysis_add_table(work->out, "penetration", 4, penetration_columns, penetration_units);
    dls_status status = each_step(work, penetration_step, &w, error);
    if (status) return status;
    for (int id = 0; id < s->body_count; id++)
        if (s->motion[id] == DLS_DYNAMIC && s->radius[id] > 0) radius = fmin(radius, s->radius[id]);
    dls_analysis_add_fact(work->out, "worst", "m", w.worst, NAN, "deepest contact of all steps");
    dls_analysis_add_fact(work->out, "worst time", "s", w.worst_time, NAN, "when it was");
    dls_analysis_add_fact(work->out, "worst over radius", "1", w.worst / radius, NAN,
                          "of the smallest moving body");
    dls_analysis_add_mean(work->out, "mean", 0, 1, "deepest contact of each step");
    return DLS_OK;
}

/* ---- complementarity ---- */

static const char *const solved_columns[] = {"time", "residual",   "max_error",
                                             "held", "iterations", "certified"};
static const char *const solved_units[] = {"s", "1", "m/s", "1", "1", "1"};
static const char *const product_columns[] = {"time", "largest", "sum", "approach", "cone", "turning_cone"};
static const char *const product_units[] = {"s", "J", "J", "m/s", "N s", "N m s"};

static void solved_step(dls_analysis_work *work, const dls_step_report *r, void *user) {
    worst_work *w = user;
    dls_analysis_add_row(
        work->out, 0,
        (const double[]){r->t, r->residual, r->max_error, r->held, r->iterations, r->certified});
    w->residual = fmax(w->residual, r->residual);
    w->error = fmax(w->error, r->max_error);
    w->held = fmax(w->held, r->held);
    w->steps++;
    w->missed += !r->certified;
}

/* r · u + r_n Σ μ_k |u_k| over the parts k of a contact, which the law makes 0, and how far each |r_k| goes
 * beyond μ_k r_n: sliding, with drilling, in N s, rolling and spinning in N m s. */
static double product_of(const dls_contact_record *c, int d, double *beyond) {
    int parts = c->parts ? c->parts : DLS_PARTS(d - 1, 0, 0);
    const double mu[3] = {c->mu, c->mu_rolling, c->mu_spinning};
    double r[6], u[6], work = 0;
    for (int k = 0; k < d; k++) r[k] = c->impulse[k], u[k] = c->velocity[k];
    for (int k = 0; k < 3; k++) r[d + k] = c->torque[k], u[d + k] = c->spin[k];
    for (int part = 0, row = 1; part < 3; part++) {
        double push = 0, slip = 0;
        for (int end = row + (parts >> 2 * part & 3); row < end; row++) {
            push = hypot(push, r[row]);
            slip = hypot(slip, u[row]);
            work += r[row] * u[row];
        }
        work += r[0] * mu[part] * slip;
        beyond[part] = push - mu[part] * r[0];
    }
    return fabs(work + r[0] * u[0]);
}

/* The largest product and their sum; how fast contacts still close; how far impulses leave their cones. */
static void add_products(dls_analysis_work *work, int count, const dls_contact_record *c) {
    double largest = 0, sum = 0, approach = 0, cone = 0, turning = 0;
    for (int k = 0; k < count; k++, c++) {
        double beyond[3], product = product_of(c, work->snapshot.dimension, beyond);
        largest = fmax(largest, product);
        sum += product;
        approach = fmax(approach, -c->velocity[0]);
        cone = fmax(cone, fmax(-c->impulse[0], beyond[0]));
        turning = fmax(turning, fmax(beyond[1], beyond[2]));
    }
    dls_analysis_add_row(work->out, 1,
                         (const double[]){work->snapshot.time, largest, sum, approach, cone, turning});
}

static dls_status product_frame(dls_analysis_work *work, void *user, dls_error *error) {
    int frame = work->snapshot.frame, count = dls_results_frame_contact_count(work->results, frame);
    dls_contact_record *records = DLS_NEW(dls_contact_record, count);
    (void)user;
    if (!records) return dls_fail_memory(error);
    dls_status status = count ? dls_results_frame_contacts(work->results, frame, records, error) : DLS_OK;
    if (!status) add_products(work, count, records);
    dls_free(records);
    return status;
}

dls_status dls_measure_complementarity(dls_analysis_work *work, dls_error *error) {
    dls_analysis *out = work->out;
    worst_work w = {.held = NAN};
    dls_analysis_add_table(out, "residual", 6, solved_columns, solved_units);
    dls_status status = each_step(work, solved_step, &w, error);
    if (status) return status;
    dls_analysis_add_fact(out, "worst residual", "1", w.residual, NAN, "of the certificate, over the steps");
    dls_analysis_add_mean(out, "mean residual", 0, 1, "over the steps");
    dls_analysis_add_fact(out, "worst error", "m/s", w.error, NAN, "largest natural map of a contact");
    dls_analysis_add_fact(out, "worst held", "1", w.held, NAN, "largest share of a contact that was let go");
    dls_analysis_add_fact(out, "uncertified", "1", (double)w.missed, NAN, "steps that missed the tolerance");
    dls_analysis_add_fact(out, "steps", "1", (double)w.steps, NAN, "in all");
    if (!work->snapshot.has_contacts) return DLS_OK;
    dls_analysis_add_table(out, "complementarity", COUNT(product_columns), product_columns, product_units);
    status = dls_analysis_frames(work, true, product_frame, NULL, error);
    if (status) return status;
    double worst = 0;
    for (int64_t k = 0; k < out->tables[1].count; k++)
        worst = fmax(worst, out->tables[1].values[COUNT(product_columns) * k + 1]);
    dls_analysis_add_fact(out, "worst product", "J", worst, NAN,
                          "largest r · u + r_n Σ μ_k |u_k| of a contact in the frames");
    return DLS_OK;
}
