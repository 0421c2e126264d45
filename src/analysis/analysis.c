/* The table of measures, and what all of them share: checks, frames, facts and tables. */
#include "analysis/analysis.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

typedef struct measure_row {
    dls_analysis_measure is;
    dls_measure_function run;
} measure_row;

static const measure_row measures[] = {
    {{"container", "force and torque of the contacts on static and driven bodies", "N", DLS_NEEDS_CONTACTS},
     dls_measure_container},
    {{"pressure", "normal and tangential traction of steep walls over height", "Pa", DLS_NEEDS_CONTACTS},
     dls_measure_pressure},
    {{"coordination", "loaded neighbours per body, with and without rattlers", "1", DLS_NEEDS_CONTACTS},
     dls_measure_coordination},
    {{"fraction", "solid fraction of the region", "1", 0}, dls_measure_fraction},
    {{"fabric", "fabric tensor of the contact normals in the region", "1", DLS_NEEDS_CONTACTS},
     dls_measure_fabric},
    {{"stress", "Love-Weber stress tensor of the region", "Pa", DLS_NEEDS_CONTACTS}, dls_measure_stress},
    {{"forces", "distribution of normal forces over their mean, and its tail", "N", DLS_NEEDS_CONTACTS},
     dls_measure_forces},
    {{"repose", "angle of the free surface along a level axis", "deg", DLS_NEEDS_GRAVITY},
     dls_measure_repose},
    {{"cone", "angle of a conical heap", "deg", DLS_NEEDS_GRAVITY | DLS_NEEDS_SPACE | DLS_NEEDS_HEAP},
     dls_measure_cone},
    {{"height", "rise of the mass centre, height of the bed", "m", DLS_NEEDS_GRAVITY}, dls_measure_height},
    {{"flow", "mass that passes a plane, and its rate", "kg/s", DLS_NEEDS_PLANE}, dls_measure_flow},
    {{"profile", "mean velocity and its spread in layers along an axis", "m/s", 0}, dls_measure_profile},
    {{"energy", "energy balance over the steps", "J", DLS_NEEDS_STEPS}, dls_measure_energy},
    {{"penetration", "deepest contact of every step", "m", DLS_NEEDS_STEPS}, dls_measure_penetration},
    {{"complementarity", "residual of every step, products of impulse and velocity", "1", DLS_NEEDS_STEPS},
     dls_measure_complementarity},
    {{"joints", "coordinates, reactions, motors and losses of joints", "N", DLS_NEEDS_JOINTS},
     dls_measure_joints},
    {{"supports", "reactions of supports: joints NAME-0, NAME-1, … added up", "N",
      DLS_NEEDS_JOINTS | DLS_NEEDS_ASKING},
     dls_measure_supports},
    {{"solids", "largest stresses of bodies of elements", "Pa", DLS_NEEDS_ASKING}, dls_measure_solids},
};

enum { MEASURES = sizeof measures / sizeof *measures };

int dls_analysis_measure_count(void) { return MEASURES; }

const dls_analysis_measure *dls_analysis_measure_at(int index) {
    return index >= 0 && index < MEASURES ? &measures[index].is : NULL;
}

static const measure_row *find_measure(const char *name) {
    for (int k = 0; k < MEASURES; k++)
        if (!strcmp(measures[k].is.name, name)) return &measures[k];
    return NULL;
}

dls_analysis_options dls_default_analysis_options(void) {
    return (dls_analysis_options){.last_frame = -1, .floor = 1e-4};
}

/* ---- what is missing ---- */

static dls_status check_frames(const dls_results *r, const dls_analysis_options *o, dls_error *error) {
    int frames = dls_results_frame_count(r), last = o->last_frame < 0 ? frames - 1 : o->last_frame;
    if (frames == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "the run has no frames: it ended before the first");
    if (o->first_frame < 0 || o->first_frame > last || last >= frames)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "no frames %d to %d, the run has 0 to %d", o->first_frame,
                        last, frames - 1);
    return DLS_OK;
}

static dls_status check_axis(const dls_results *r, const dls_analysis_options *o, const measure_row *m,
                             dls_error *error) {
    if (o->axis == DLS_AXIS_AUTO) return DLS_OK;
    if ((int)o->axis < 0 || o->axis > DLS_AXIS_Z)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "no axis %d, expected 0 to 3", (int)o->axis);
    if (o->axis == DLS_AXIS_Z && dls_results_dimension(r) == 2)
        return dls_fail(error, DLS_ERROR_INPUT, "%s along z needs a spatial run, this one is planar: x or y",
                        m->is.name);
    if (m->run != dls_measure_repose) return DLS_OK;
    dls_world_def world = dls_results_world(r);
    double g = vec_norm(world.gravity);
    if (fabs(world.gravity[o->axis - 1]) > 0.999 * g)
        return dls_fail(error, DLS_ERROR_INPUT, "repose along %c: that axis is upright, expected a level one",
                        "xyz"[o->axis - 1]);
    return DLS_OK;
}

static dls_status check_plane(const dls_results *r, const dls_analysis_options *o, dls_error *error) {
    int d = dls_results_dimension(r);
    double length = 0;
    for (int k = 0; k < d; k++) {
        length = fmax(length, fabs(o->plane_normal[k]));
        if (!isfinite(o->plane_point[k]) || !isfinite(o->plane_normal[k]))
            return dls_fail(error, DLS_ERROR_ARGUMENT, "the plane's point and normal are %g and %g along %c",
                            o->plane_point[k], o->plane_normal[k], "xyz"[k]);
    }
    if (!(length > 0))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "the plane's normal is 0, expected a direction%s",
                        d == 2 ? " in the plane x, y" : "");
    return DLS_OK;
}

static dls_status check_options(const dls_results *r, const dls_analysis_options *o, dls_error *error) {
    if (!(o->floor >= 0) || !(o->floor < 1))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "floor is %g, expected a share from 0 to 1", o->floor);
    for (int k = 0; k < dls_results_dimension(r) && o->has_region; k++)
        if (!(o->region_high[k] > o->region_low[k]) || !isfinite(o->region_high[k] - o->region_low[k]))
            return dls_fail(error, DLS_ERROR_ARGUMENT,
                            "the region reaches from %g to %g along %c, expected a size", o->region_low[k],
                            o->region_high[k], "xyz"[k]);
    dls_status status = o->has_plane ? check_plane(r, o, error) : DLS_OK;
    return status ? status : check_frames(r, o, error);
}

dls_status dls_analysis_check(const dls_results *r, const char *name, const dls_analysis_options *options,
                              dls_error *error) {
    dls_analysis_options preset = dls_default_analysis_options();
    dls_error_clear(error);
    if (!r || !name) return dls_fail(error, DLS_ERROR_ARGUMENT, "results and a measure are needed, got NULL");
    const measure_row *m = find_measure(name);
    if (!m) return dls_fail(error, DLS_ERROR_ARGUMENT, "no measure '%.60s'", name);
    if (!options) options = &preset;
    dls_world_def world = dls_results_world(r);
    if ((m->is.needs & DLS_NEEDS_CONTACTS) && !dls_results_has_contacts(r))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "%s needs contacts, and the run has none recorded: run it with output.contacts=yes",
                        name);
    if ((m->is.needs & DLS_NEEDS_SPACE) && world.dimension == 2)
        return dls_fail(error, DLS_ERROR_INPUT, "%s needs a spatial run, and this one is planar", name);
    if ((m->is.needs & DLS_NEEDS_GRAVITY) && !(vec_norm(world.gravity) > 0))
        return dls_fail(error, DLS_ERROR_INPUT, "%s needs gravity, which says what is up; this run has none",
                        name);
    if ((m->is.needs & DLS_NEEDS_STEPS) && dls_results_step_count(r) == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "%s needs the history of steps, and the run has no step",
                        name);
    if ((m->is.needs & DLS_NEEDS_PLANE) && !options->has_plane)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "%s needs a plane: an axis and a place, or a point and a normal", name);
    if ((m->is.needs & DLS_NEEDS_JOINTS) && dls_results_joint_count(r) == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "%s needs joints, and this run has none", name);
    dls_joint_id joint;
    dls_status status = check_options(r, options, error);
    if (!status && (m->is.needs & DLS_NEEDS_JOINTS) && options->joint)
        status = dls_analysis_find_joint(r, options->joint, &joint, error);
    return status ? status : check_axis(r, options, m, error);
}

/* ---- directions ---- */

static void choose_directions(dls_analysis_work *work) {
    const double *g = work->snapshot.gravity;
    int d = work->snapshot.dimension, level = (int)work->options.axis - 1, steep = 0;
    double norm = vec_norm(g);
    vec_set(work->up, 0, 0, 0);
    work->up[d - 1] = 1;
    if (norm > 0) vec_scale(work->up, -1 / norm, g);
    for (int k = 1; k < d; k++)
        if (fabs(work->up[k]) > fabs(work->up[steep])) steep = k;
    work->axis = level >= 0 ? level : steep;
    if (level < 0) level = steep == 0 ? 1 : 0;
    double e[3] = {0, 0, 0};
    e[level] = 1;
    vec_along(work->along, e, -work->up[level], work->up);
    norm = vec_norm(work->along);
    if (norm > 0) vec_scale(work->along, 1 / norm, work->along);
    vec_cross(work->across, work->up, work->along);
}

/* ---- doing it ---- */

static dls_status run_measure(dls_analysis_work *work, const measure_row *m, dls_error *error) {
    dls_status status = dls_snapshot_open(work->results, &work->snapshot, error);
    if (!status) {
        if (work->options.last_frame < 0)
            work->options.last_frame = dls_results_frame_count(work->results) - 1;
        choose_directions(work);
        status = m->run(work, error);
    }
    if (work->out->is_out_of_memory) status = dls_fail_memory(error); /* whatever that led to */
    dls_snapshot_release(&work->snapshot);
    return status;
}

dls_status dls_analysis_create(dls_results *results, const char *name, const dls_analysis_options *options,
                               dls_analysis **analysis, dls_error *error) {
    if (analysis) *analysis = NULL;
    dls_status status = dls_analysis_check(results, name, options, error);
    if (status) return status;
    if (!analysis) return dls_fail(error, DLS_ERROR_ARGUMENT, "a place for the analysis is needed, got NULL");
    dls_analysis_work work = {.results = results,
                              .options = options ? *options : dls_default_analysis_options(),
                              .out = DLS_NEW_ZERO(dls_analysis, 1)};
    if (!work.out) return dls_fail_memory(error);
    status = run_measure(&work, find_measure(name), error);
    if (status)
        dls_analysis_destroy(work.out);
    else
        *analysis = work.out;
    return status;
}

void dls_analysis_destroy(dls_analysis *analysis) {
    if (!analysis) return;
    for (int k = 0; k < analysis->table_count; k++) dls_free(analysis->tables[k].values);
    dls_free(analysis->facts);
    dls_free(analysis);
}

dls_status dls_analysis_frames(dls_analysis_work *work, bool stepped, dls_frame_function call, void *user,
                               dls_error *error) {
    int used = 0;
    for (int frame = work->options.first_frame; frame <= work->options.last_frame; frame++) {
        if (stepped && dls_results_frame_step(work->results, frame) == 0) continue;
        dls_status status =
            dls_snapshot_load(work->results, frame, work->options.floor, &work->snapshot, error);
        if (status) return status;
        if (stepped && !(work->snapshot.h > 0)) continue; /* its step is not in the history */
        used++;
        status = call(work, user, error);
        if (status) return status;
    }
    if (used) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "frames %d to %d follow no recorded step: there are no forces",
                    work->options.first_frame, work->options.last_frame);
}

void dls_analysis_steps(const dls_analysis_work *work, int64_t *first, int64_t *count) {
    const dls_results *r = work->results;
    int64_t steps = dls_results_step_count(r), end = dls_results_frame_step(r, work->options.last_frame);
    bool whole = work->options.last_frame == dls_results_frame_count(r) - 1;
    *first = work->options.first_frame == 0 ? 0 : dls_results_frame_step(r, work->options.first_frame) - 1;
    if (*first < 0) *first = 0;
    if (*first > steps) *first = steps;
    if (whole || end > steps) end = steps;
    *count = end > *first ? end - *first : 0;
}

/* ---- facts and tables ---- */

int dls_analysis_add_table(dls_analysis *out, const char *name, int columns, const char *const *names,
                           const char *const *units) {
    out->tables[out->table_count] = (dls_analysis_rows){name, columns, names, units, 0, 0, NULL};
    return out->table_count++;
}

void dls_analysis_add_row(dls_analysis *out, int table, const double *values) {
    dls_analysis_rows *t = &out->tables[table];
    int64_t used = t->count * t->column_count;
    if (!DLS_RESERVE(t->values, used, t->room, used + t->column_count)) {
        out->is_out_of_memory = true;
        return;
    }
    memcpy(t->values + used, values, (size_t)t->column_count * sizeof *values);
    t->count++;
}

void dls_analysis_add_fact(dls_analysis *out, const char *name, const char *unit, double value, double spread,
                           const char *meaning) {
    if (!DLS_RESERVE(out->facts, out->fact_count, out->fact_room, out->fact_count + 1)) {
        out->is_out_of_memory = true;
        return;
    }
    dls_analysis_fact *fact = &out->facts[out->fact_count++];
    *fact = (dls_analysis_fact){.unit = unit, .meaning = meaning, .value = value, .spread = spread};
    snprintf(fact->name, sizeof fact->name, "%s", name);
}

void dls_analysis_add_mean(dls_analysis *out, const char *name, int table, int column, const char *meaning) {
    const dls_analysis_rows *t = &out->tables[table];
    double mean = 0, squares = 0;
    int64_t n = 0;
    for (int64_t k = 0; k < t->count; k++) {
        double value = t->values[k * t->column_count + column];
        if (isnan(value)) continue;
        double change = value - mean;
        mean += change / (double)++n;
        squares += change * (value - mean);
    }
    dls_analysis_add_fact(out, name, t->units[column], n ? mean : (double)NAN,
                          n > 1 ? sqrt(squares / (double)(n - 1)) : (double)NAN, meaning);
}

int dls_analysis_fact_count(const dls_analysis *analysis) { return analysis->fact_count; }

dls_analysis_fact dls_analysis_fact_at(const dls_analysis *analysis, int index) {
    if (index < 0 || index >= analysis->fact_count)
        return (dls_analysis_fact){.unit = "", .meaning = "", .value = NAN, .spread = NAN};
    return analysis->facts[index];
}

int dls_analysis_table_count(const dls_analysis *analysis) { return analysis->table_count; }

dls_analysis_table dls_analysis_table_at(const dls_analysis *analysis, int index) {
    if (index < 0 || index >= analysis->table_count) return (dls_analysis_table){.name = ""};
    const dls_analysis_rows *t = &analysis->tables[index];
    return (dls_analysis_table){t->name, t->column_count, t->columns, t->units, t->count, t->values};
}
