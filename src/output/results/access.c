/* What an open results file says, one question each. */
#include "base/error.h"
#include "output/results/results.h"

#include <string.h>

const char *dls_results_title(const dls_results *results) { return results->title; }
const char *dls_results_scene_text(const dls_results *results) { return results->scene_text[0]; }
int dls_results_setting_count(const dls_results *results) { return results->setting_count; }
const char *dls_results_version(const dls_results *results) { return results->version; }
const char *dls_results_solver(const dls_results *results) { return results->solver; }
const char *dls_results_solver_options(const dls_results *results) { return results->solver_options[0]; }
double dls_results_tolerance(const dls_results *results) { return results->tolerance; }
bool dls_results_has_contacts(const dls_results *results) { return results->has_contacts; }
dls_world_def dls_results_world(const dls_results *results) { return results->world; }
int dls_results_dimension(const dls_results *results) { return results->world.dimension; }
int dls_results_material_count(const dls_results *results) { return results->material_count; }
int dls_results_body_count(const dls_results *results) { return results->body_count; }
int dls_results_joint_count(const dls_results *results) { return results->joint_count; }
int dls_results_frame_count(const dls_results *results) { return results->frame_count; }
int64_t dls_results_step_count(const dls_results *results) { return results->step_count; }

const char *dls_results_setting(const dls_results *results, int index) {
    return index >= 0 && index < results->setting_count ? results->settings[index] : NULL;
}

bool dls_results_finished(const dls_results *results, dls_run_summary *summary) {
    if (summary) *summary = results->summary;
    return results->is_finished;
}

/* ---- frames: what is no frame has no time, no contacts and no joints ---- */

static const dls_frame_row *frame_at(const dls_results *results, int frame) {
    static const dls_frame_row none = {.step = -1};
    return frame >= 0 && frame < results->frame_count ? &results->frames[frame] : &none;
}

double dls_results_frame_time(const dls_results *results, int frame) {
    return frame_at(results, frame)->time;
}
int64_t dls_results_frame_step(const dls_results *results, int frame) {
    return frame_at(results, frame)->step;
}
int dls_results_frame_contact_count(const dls_results *results, int frame) {
    return frame_at(results, frame)->contact_count;
}

int dls_results_frame_joint_count(const dls_results *results, int frame) {
    return frame_at(results, frame)->reaction_count;
}

int dls_results_frame_node_count(const dls_results *results, int frame) {
    return frame_at(results, frame)->node_count;
}

int dls_results_frame_gradient_count(const dls_results *results, int frame) {
    return frame_at(results, frame)->gradient_count;
}

/* ---- materials, bodies and joints ---- */

dls_status dls_results_material(const dls_results *results, dls_material_id id, dls_material_def *def,
                                dls_error *error) {
    dls_error_clear(error);
    if (!results || !def) return dls_fail(error, DLS_ERROR_ARGUMENT, "results and def are needed, got NULL");
    if (id < 0 || id >= results->material_count)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "no material %d, expected 0 … %d", id,
                        results->material_count - 1);
    const dls_material_row *row = &results->materials[id];
    *def = (dls_material_def){.name = results->material_names + (size_t)id * results->material_name_size,
                              .density = row->density,
                              .mu = row->mu,
                              .e_n = row->e_n,
                              .e_t = row->e_t,
                              .cohesion = row->cohesion,
                              .turning = row->turning};
    return DLS_OK;
}

static bool is_body(const dls_results *results, dls_body_id id) {
    return id >= 0 && id < results->body_count;
}

static dls_status fail_body(const dls_results *results, dls_body_id id, dls_error *error) {
    return dls_fail(error, DLS_ERROR_ARGUMENT, "no body %d, expected 0 … %d", id, results->body_count - 1);
}

const char *dls_results_body_name(const dls_results *results, dls_body_id id) {
    return is_body(results, id) ? results->body_names + (size_t)id * results->body_name_size : "";
}

dls_motion dls_results_body_motion(const dls_results *results, dls_body_id id) {
    return is_body(results, id) ? (dls_motion)results->bodies[id].motion : DLS_STATIC;
}

dls_status dls_results_body_mass(const dls_results *results, dls_body_id id, dls_body_mass *mass,
                                 dls_error *error) {
    dls_error_clear(error);
    if (!results || !mass)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "results and mass are needed, got NULL");
    if (!is_body(results, id)) return fail_body(results, id, error);
    *mass = results->bodies[id].mass;
    return DLS_OK;
}

dls_shape_def dls_results_shape_def(const dls_results *results, int index) {
    const dls_shape_row *row = &results->shapes[index];
    dls_shape_def def = {.kind = (dls_shape_kind)row->kind,
                         .pose = row->pose,
                         .radius = row->radius,
                         .point = row->radius == 0,
                         .length = row->length,
                         .point_count = row->point_count,
                         .points = results->points + 3 * row->point_start,
                         .closed = row->closed,
                         .triangle_count = row->triangle_count,
                         .triangles = results->triangles + 3 * row->triangle_start,
                         .material = row->material,
                         .group = row->group,
                         .collides = row->collides,
                         .at = row->at};
    memcpy(def.size, row->size, sizeof def.size);
    return def;
}

int dls_results_body_shape_count(const dls_results *results, dls_body_id id) {
    return is_body(results, id) ? results->bodies[id].shape_count : 0;
}

dls_status dls_results_body_shape(const dls_results *results, dls_body_id id, int index, dls_shape_def *def,
                                  dls_error *error) {
    dls_error_clear(error);
    if (!results || !def) return dls_fail(error, DLS_ERROR_ARGUMENT, "results and def are needed, got NULL");
    if (!is_body(results, id)) return fail_body(results, id, error);
    if (index < 0 || index >= results->bodies[id].shape_count)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "body %d has no shape %d, expected 0 … %d", id, index,
                        results->bodies[id].shape_count - 1);
    *def = dls_results_shape_def(results, results->bodies[id].shape_start + index);
    return DLS_OK;
}

const char *dls_results_joint_name(const dls_results *results, dls_joint_id id) {
    return id >= 0 && id < results->joint_count ? results->joint_names + (size_t)id * results->joint_name_size
                                                : "";
}

dls_status dls_results_joint(const dls_results *results, dls_joint_id id, dls_joint_def *def,
                             dls_error *error) {
    dls_error_clear(error);
    if (!results || !def) return dls_fail(error, DLS_ERROR_ARGUMENT, "results and def are needed, got NULL");
    if (id < 0 || id >= results->joint_count)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "no joint %d, expected 0 … %d", id,
                        results->joint_count - 1);
    *def = dls_joint_def_of(&results->joints[id]);
    def->name = dls_results_joint_name(results, id);
    return DLS_OK;
}
