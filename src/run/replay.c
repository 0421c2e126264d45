/* The contact problem of a recorded frame: the world comes from the scene's text, all else from the frame. */
#include "base/error.h"
#include "base/memory.h"
#include "integrate/simulation.h"
#include "scene/gates.h"
#include "world/world.h"

#include <delassus/run.h>

#include <math.h>
#include <string.h>

static dls_status read_scene(dls_results *results, dls_scene **scene, dls_error *error) {
    int count = dls_results_setting_count(results), file_count = 0;
    const dls_file *files = NULL;
    dls_status status = dls_results_files(results, &file_count, &files, error);
    if (status) return status;
    const char **settings = DLS_NEW(const char *, count);
    if (!settings) return dls_fail_memory(error);
    for (int i = 0; i < count; i++) settings[i] = dls_results_setting(results, i);
    const char *text = dls_results_scene_text(results);
    status = dls_scene_read_stored(text, strlen(text), "scene of the results", file_count, files, count,
                                   settings, scene, error);
    dls_free(settings);
    return status;
}

/* Contacts were found in the step that ended with the frame: its bodies came at the step's beginning, whose
 * time is to be that of the run to the last bit, and servos yielded as they do in that step. */
static dls_status settle(dls_scene *scene, int64_t step, dls_error *error) {
    bool changed;
    double h = dls_scene_simulation_options(scene)->step;
    dls_world *world = dls_scene_world(scene);
    dls_status status = dls_world_settle(world, h * (double)(step > 0 ? step - 1 : 0), &changed, error);
    return status || step <= 0 ? status : dls_world_drive(world, h * (double)step, h, error);
}

/* Bodies that inlets made until the results end; those that had come and gone by the frame, it knows. */
static dls_status feed(dls_scene *scene, dls_results *results, int frame, dls_error *error) {
    const dls_gates_def *def = dls_scene_gates(scene);
    dls_world *world = dls_scene_world(scene);
    int first = dls_world_body_count(world), bodies = dls_results_body_count(results);
    dls_gates *gates = NULL;
    if (def->inlet_count + def->removal_count == 0) return DLS_OK;
    bool *present = DLS_NEW_ZERO(bool, bodies);
    dls_status status = present ? dls_gates_create(def, world, &gates, error) : dls_fail_memory(error);
    if (!status && bodies > first) status = dls_gates_make(gates, world, bodies - first, error);
    if (!status) status = dls_results_frame_states(results, frame, NULL, present, error);
    for (int id = 0; id < bodies && id < world->entry_count && !status; id++) {
        if (dls_world_body(world, id)->motion != DLS_DYNAMIC) continue; /* comes and goes by its times */
        if (id >= first && present[id]) world->entries[id].birth = -INFINITY;
        if (!present[id] && !world->entries[id].leaving) status = dls_world_remove_body(world, id, error);
        world->unsettled = true;
    }
    dls_gates_destroy(gates);
    dls_free(present);
    return status;
}

/* Reactions of joints are what they were: what they gave to contacts goes into b = u − W r. */
static dls_status take_reactions(const dls_problem *problem, int dimension, int count,
                                 dls_contact_record *contacts, dls_error *error) {
    int rows = dls_problem_row_count(problem);
    double *r = DLS_NEW_ZERO(double, rows), *u = DLS_NEW_ZERO(double, rows);
    dls_status status = r && u ? DLS_OK : dls_fail_memory(error);
    for (int c = 0; c < count && !status; c++)
        dls_contact_record_impulses(&contacts[c], dimension, r + dls_problem_block_row(problem, c));
    if (!status) status = dls_problem_velocity(problem, r, u, NULL, error);
    for (int c = 0; c < count && !status; c++) {
        const double *of_contacts = u + dls_problem_block_row(problem, c);
        int size = dls_problem_block_size(problem, c);
        for (int k = 0; k < dimension; k++) contacts[c].b[k] += contacts[c].velocity[k] - of_contacts[k];
        for (int k = dimension; k < size; k++)
            contacts[c].b_spin[k - dimension] += contacts[c].spin[k - dimension] - of_contacts[k];
    }
    dls_free(r);
    dls_free(u);
    return status;
}

static dls_status rebuild(dls_results *results, int frame, dls_scene *scene, dls_problem **problem,
                          dls_error *error) {
    int bodies = dls_results_body_count(results), count = dls_results_frame_contact_count(results, frame);
    dls_world *world = dls_scene_world(scene);
    dls_status fed = feed(scene, results, frame, error);
    if (fed) return fed;
    if (bodies != dls_world_body_count(world))
        return dls_fail(error, DLS_ERROR_INPUT, "the scene makes %d bodies, the results have %d",
                        dls_world_body_count(world), bodies);
    dls_pose *poses = DLS_NEW_ZERO(dls_pose, bodies);
    dls_contact_record *contacts = DLS_NEW(dls_contact_record, count);
    dls_status status = poses && contacts ? DLS_OK : dls_fail_memory(error);
    if (!status) status = dls_results_frame_poses(results, frame, poses, error);
    if (!status) status = dls_results_frame_contacts(results, frame, contacts, error);
    if (!status) status = settle(scene, dls_results_frame_step(results, frame), error);
    const dls_simulation_options *o = dls_scene_simulation_options(scene);
    int64_t step = dls_results_frame_step(results, frame);
    double v = dls_reference_velocity(world, o, o->step * (double)(step > 0 ? step - 1 : 0));
    if (!status) status = dls_contact_records_problem(world, poses, count, contacts, v, problem, error);
    if (!status && dls_results_frame_joint_count(results, frame) > 0) {
        status = take_reactions(*problem, world->def.dimension, count, contacts, error);
        dls_problem_destroy(*problem);
        *problem = NULL;
        if (!status) status = dls_contact_records_problem(world, poses, count, contacts, v, problem, error);
    }
    dls_free(poses);
    dls_free(contacts);
    return status;
}

dls_status dls_results_problem(dls_results *results, int frame, dls_problem **problem, dls_error *error) {
    dls_error_clear(error);
    if (!results || !problem)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "results and a place for the problem are needed, got NULL");
    *problem = NULL;
    if (frame < 0 || frame >= dls_results_frame_count(results))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "no frame %d, expected 0 … %d", frame,
                        dls_results_frame_count(results) - 1);
    dls_scene *scene = NULL;
    dls_status status = read_scene(results, &scene, error);
    if (!status) status = rebuild(results, frame, scene, problem, error);
    dls_scene_destroy(scene);
    return status;
}
