/* Going on with a results file: what lies before the step is copied into a new one, which then takes the old
 * one's place. The old file is only read, so a second crash, or a full disk, costs nothing. */
#include "base/error.h"
#include "base/memory.h"
#include "output/results/results.h"

#include <inttypes.h>

static dls_status check_history(const dls_results *old, const dls_world *world, int64_t step, int64_t *kept,
                                dls_error *error) {
    dls_step_report last = {0};
    if (dls_world_dimension(world) != old->world.dimension)
        return dls_fail(error, DLS_ERROR_INPUT, "%s: results of a world of dimension %d, expected %d",
                        old->name.text, old->world.dimension, dls_world_dimension(world));
    *kept = step < old->step_count ? step : old->step_count;
    dls_status status = *kept ? dls_results_step_rows(old, *kept - 1, 1, &last, error) : DLS_OK;
    if (status || last.step == step) return status;
    return dls_fail(error, DLS_ERROR_INPUT,
                    "%s: row %" PRId64 " of its history is step %" PRId64 ", expected %" PRId64
                    ": it is not of the run that is to go on",
                    old->name.text, *kept, last.step, step);
}

/* The first count rows. */
static dls_status copy_rows(dls_results_writer *w, const dls_results *old, int table, int64_t count,
                            dls_error *error) {
    const dls_table *from = &old->tables[table];
    if (count == 0) return DLS_OK; /* an older file may not have the table */
    size_t room = (1 << 20) / from->row_size;
    char *rows = dls_alloc(room, from->row_size);
    dls_status status = rows ? DLS_OK : dls_fail_memory(error);
    for (int64_t first = 0; first < count && !status; first += (int64_t)room) {
        int64_t batch = count - first < (int64_t)room ? count - first : (int64_t)room;
        status = dls_results_rows(old, table, first, batch, rows, error);
        if (!status && !dls_table_append(&w->tables[table], batch, rows)) status = dls_writer_fail(w, error);
    }
    dls_free(rows);
    return status;
}

static dls_status copy_all(dls_results_writer *w, const dls_results *old, int64_t last_frame, int64_t kept,
                           dls_error *error) {
    int frames = 0;
    int64_t states = 0, contacts = 0, reactions = 0, nodes = 0, gradients = 0;
    dls_status status = DLS_OK;
    for (; frames < old->frame_count && old->frames[frames].step <= last_frame; frames++) {
        states += old->frames[frames].state_count;
        contacts += old->frames[frames].contact_count;
        reactions += old->frames[frames].reaction_count;
        nodes += old->frames[frames].node_count;
        gradients += old->frames[frames].gradient_count;
        if (!dls_writer_note_frame(w, &old->frames[frames])) return dls_fail_memory(error);
        if (!dls_writer_number_points(w, &old->frames[frames])) return dls_writer_fail(w, error);
    }
    for (int table = DLS_TABLE_STATES; table < DLS_TABLE_SUMMARY && !status; table++) {
        int64_t count = table == DLS_TABLE_STEPS         ? kept
                        : table == DLS_TABLE_FRAMES      ? frames
                        : table == DLS_TABLE_JOINT_STEPS ? (old->tables[table].rows ? kept : 0)
                        : table >= DLS_TABLE_GRADIENTS   ? gradients
                        : table >= dls_results_node_end(old) && table < DLS_TABLE_NODES_END ? 0
                        : table >= DLS_TABLE_NODES                                          ? nodes
                        : table >= DLS_TABLE_REACTIONS                                      ? reactions
                        : table >= DLS_TABLE_TURNING && !old->has_turning                   ? 0
                        : table >= DLS_TABLE_CONTACTS                                       ? contacts
                        : table >= DLS_TABLE_STATES_POSES && !w->def.contacts               ? 0
                                                                                            : states;
        status = copy_rows(w, old, table, count, error);
    }
    return status;
}

static dls_status go_on(const char *path, const dls_world *world, int64_t step, bool keep_last,
                        dls_results *old, dls_results_writer **writer, dls_error *error) {
    dls_results_def def = {.title = old->title,
                           .scene_text = old->scene_text[0],
                           .setting_count = old->setting_count,
                           .settings = (const char *const *)old->settings,
                           .solver = old->solver,
                           .solver_options = old->solver_options[0],
                           .tolerance = old->tolerance,
                           .contacts = old->has_contacts};
    int64_t kept = 0;
    dls_results_writer *made = NULL;
    dls_aside *aside;
    dls_status status = dls_results_files(old, &def.file_count, &def.files, error);
    if (!status) status = check_history(old, world, step, &kept, error);
    if (!status) status = dls_writer_open(path, world, &def, &made, &aside, error);
    if (status) return status;
    status = copy_all(made, old, keep_last ? step : step - 1, kept, error);
    if (status) {
        dls_writer_abandon(made, aside);
        return status;
    }
    status = dls_writer_commit(made, aside, error);
    if (!status) *writer = made;
    return status;
}

dls_status dls_results_continue(const char *path, const dls_world *world, int64_t step,
                                dls_results_writer **writer, dls_error *error) {
    return dls_results_continue_frames(path, world, step, true, writer, error);
}

dls_status dls_results_continue_frames(const char *path, const dls_world *world, int64_t step, bool keep_last,
                                       dls_results_writer **writer, dls_error *error) {
    dls_error_clear(error);
    if (!path || !world || !writer || step < 0)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "path, world, a step and writer are needed");
    dls_results *old;
    *writer = NULL;
    dls_status status = dls_results_open(path, &old, error);
    if (status) return status;
    dls_silence silence = dls_silence_begin();
    status = go_on(path, world, step, keep_last, old, writer, error);
    dls_silence_end(silence);
    dls_results_destroy(old);
    return status;
}
