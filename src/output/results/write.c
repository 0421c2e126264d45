/* Results out. A frame is written columns first and its row of the index last; then all goes to the system at
 * once, in an order in which no prefix of it is a broken file (HDF5's single writer, many readers). */
#include "assemble/turning.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "output/results/results.h"
#include "world/shape/kinds.h"
#include "world/solid/solid.h"
#include "world/world.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

dls_status dls_writer_fail(dls_results_writer *writer, dls_error *error) {
    if (!writer->failure.status)
        dls_driver_fail(&writer->device, writer->name.text, "written", &writer->failure);
    writer->device.is_dead = true; /* what is in the file is sound; HDF5's view of it may not be */
    if (error) *error = writer->failure;
    return writer->failure.status;
}

/* ---- a new file ---- */

static bool write_facts(const dls_results_writer *w, const dls_results_def *def) {
    double gravity[3], low[3], size[3];
    dls_world_gravity(w->world, gravity);
    dls_world_period(w->world, low, size);
    return dls_attribute_write_text(w->file, "format", DLS_RESULTS_FORMAT) &&
           dls_attribute_write_int(w->file, "format_version", DLS_RESULTS_FORMAT_VERSION) &&
           dls_attribute_write_text(w->file, "delassus_version", dls_version()) &&
           dls_attribute_write_text(w->file, "title", def->title ? def->title : "") &&
           dls_attribute_write_text(w->file, "solver", def->solver ? def->solver : "") &&
           dls_attribute_write_reals(w->file, "tolerance", 1, &def->tolerance) &&
           dls_attribute_write_int(w->file, "has_contacts", def->contacts) &&
           dls_attribute_write_int(w->file, "dimension", dls_world_dimension(w->world)) &&
           dls_attribute_write_reals(w->file, "gravity", 3, gravity) &&
           dls_attribute_write_reals(w->file, "period_low", 3, low) &&
           dls_attribute_write_reals(w->file, "period_size", 3, size);
}

/* Chunks grow with the world, so that a frame of many bodies has few of them. */
static int64_t chunk_rows(const dls_results_writer *w, int table) {
    int64_t rows = dls_table_layouts[table].chunk, wanted = dls_world_body_count(w->world);
    bool is_of_joints = (table >= DLS_TABLE_JOINT_NAMES && table < DLS_TABLE_STATES) ||
                        (table >= DLS_TABLE_REACTIONS && table < DLS_TABLE_REACTIONS_END);
    if (is_of_joints) wanted = dls_world_joint_count(w->world);
    if (table >= DLS_TABLE_MATERIAL_NAMES && table < DLS_TABLE_JOINT_NAMES) return rows;
    if (table >= DLS_TABLE_JOINT_STEPS && table != DLS_TABLE_INDEX) return rows;
    while (rows < wanted && rows < 16384) rows *= 2;
    return rows;
}

static bool create_tables(dls_results_writer *w, const dls_results_def *def) {
    const char *options = def->solver_options ? def->solver_options : "",
               *scene = def->scene_text ? def->scene_text : "";
    bool done = write_facts(w, def) && dls_texts_write(w->file, "scene", 1, &scene) &&
                dls_texts_write(w->file, "solver_options", 1, &options) &&
                dls_texts_write(w->file, "settings", def->setting_count, def->settings) &&
                dls_files_write(w->file, def->file_count, def->files);
    for (int k = 0; done && k < DLS_TABLES; k++) {
        dls_table table;
        done = dls_table_create(&table, &dls_table_layouts[k], w->file, chunk_rows(w, k), w->name_size);
        if (done) dls_table_close(&table);
    }
    return done;
}

/* Opened anew as one that others may read: from here on no object is added, rows are. */
static bool open_tables(dls_results_writer *w, hid_t access) {
    const char *what;
    w->file = H5Fopen(w->name.text, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access);
    for (int k = 0; w->file >= 0 && k < DLS_TABLES; k++)
        if (!dls_table_open(&w->tables[k], &dls_table_layouts[k], DLS_RESULTS_FORMAT_VERSION, w->file, &what))
            return false;
    return w->file >= 0;
}

static dls_status make_file(dls_results_writer *w, const dls_results_def *def, dls_error *error) {
    hid_t access = dls_driver_access(&w->device);
    bool done = false;
    if (access >= 0) w->file = H5Fcreate(w->name.text, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (w->file >= 0) {
        done = create_tables(w, def);
        done = H5Fclose(w->file) >= 0 && done;
        w->file = H5I_INVALID_HID;
    }
    done = done && !w->device.is_dead && open_tables(w, access);
    dls_status status = done ? DLS_OK : dls_writer_fail(w, error);
    if (access >= 0) H5Pclose(access);
    return status;
}

static dls_status open_aside(dls_results_writer *w, dls_aside **aside, dls_error *error) {
    dls_status status = dls_aside_open(w->path, aside, error);
    if (status) return status;
    if (!(*aside)->temporary)
        status = dls_fail(error, DLS_ERROR_FILE, "%s: no regular file, expected one or none", w->name.text);
    else if ((w->device.descriptor = fcntl((*aside)->descriptor, F_DUPFD_CLOEXEC, 0)) < 0)
        status = dls_fail(error, DLS_ERROR_FILE, "%s: cannot be written: %s", w->name.text, strerror(errno));
    if (status) dls_aside_abandon(*aside);
    return status;
}

static dls_results_writer *new_writer(const char *path, const dls_world *world, const dls_results_def *def) {
    size_t row = sizeof(union {
        dls_state_row state;
        dls_contact_row contact;
        dls_reaction_row reaction;
        dls_gradient_record gradient;
    });
    dls_results_writer *w = DLS_NEW_ZERO(dls_results_writer, 1);
    if (!w) return NULL;
    w->path = dls_alloc_copy(path, strlen(path) + 1, 1);
    w->name = dls_file_name_of(path);
    w->world = world;
    w->device.descriptor = -1;
    w->file = H5I_INVALID_HID;
    w->def = *def;
    w->name_size = dls_writer_name_size(world);
    w->rows = dls_alloc(DLS_BATCH, row);
    w->column = dls_alloc(DLS_BATCH, row);
    return w;
}

static void close_file(dls_results_writer *w) {
    for (int k = 0; k < DLS_TABLES; k++) dls_table_close(&w->tables[k]);
    bool was_dead = w->device.is_dead;
    if (w->file >= 0 && (H5Fclose(w->file) < 0 || w->device.is_dead) && !was_dead) dls_writer_fail(w, NULL);
    w->file = H5I_INVALID_HID;
}

static void destroy(dls_results_writer *w) {
    if (w->device.descriptor >= 0) close(w->device.descriptor);
    dls_free(w->path);
    dls_free(w->rows);
    dls_free(w->column);
    dls_free(w->frames);
    dls_free(w->joints);
    dls_free(w->skin);
    for (int k = 0; k < DLS_TABLE_STATES; k++) dls_free(w->held[k].rows);
    dls_free(w);
}

void dls_writer_abandon(dls_results_writer *w, dls_aside *aside) {
    w->device.is_dead = true;
    close_file(w);
    dls_aside_abandon(aside);
    destroy(w);
}

dls_status dls_writer_open(const char *path, const dls_world *world, const dls_results_def *def,
                           dls_results_writer **writer, dls_aside **aside, dls_error *error) {
    dls_results_writer *w = new_writer(path, world, def);
    if (!w) return dls_fail_memory(error);
    dls_status status =
        w->path && w->rows && w->column ? open_aside(w, aside, error) : dls_fail_memory(error);
    if (status) {
        destroy(w);
        return status;
    }
    status = make_file(w, def, error);
    if (!status) status = dls_writer_add_world(w, error);
    if (status)
        dls_writer_abandon(w, *aside);
    else
        *writer = w;
    return status;
}

dls_status dls_writer_commit(dls_results_writer *w, dls_aside *aside, dls_error *error) {
    dls_status status = dls_aside_close(aside, dls_writer_flush(w, error), true, error);
    if (!status) return DLS_OK;
    w->device.is_dead = true;
    close_file(w);
    destroy(w);
    return status;
}

dls_status dls_results_create(const char *path, const dls_world *world, const dls_results_def *def,
                              dls_results_writer **writer, dls_error *error) {
    dls_error_clear(error);
    if (!path || !world || !def || !writer || (def->setting_count && !def->settings) ||
        (def->file_count && !def->files))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "path, world, def and writer are needed, got NULL");
    dls_aside *aside;
    dls_results_writer *made = NULL;
    dls_silence silence = dls_silence_begin();
    *writer = NULL;
    dls_status status = dls_writer_open(path, world, def, &made, &aside, error);
    if (!status) status = dls_writer_commit(made, aside, error);
    if (!status) *writer = made;
    dls_silence_end(silence);
    return status;
}

/* ---- rows ---- */

/* Appends count rows to the columns first … end − 1, which are members of the row's struct. */
static bool append_columns(dls_results_writer *w, int first, int end, int count, const char *rows,
                           size_t row_size) {
    for (int k = first; k < end; k++) {
        size_t offset = dls_table_layouts[k].cells[0].offset, size = dls_table_layouts[k].row_size;
        for (int i = 0; i < count; i++)
            memcpy(w->column + (size_t)i * size, rows + (size_t)i * row_size + offset, size);
        if (!dls_table_append(&w->tables[k], count, w->column)) return false;
    }
    return true;
}

/* Bodies that are there at time t; those that wait for the next step to take them in are there already. */
static bool is_present(const dls_body_entry *entry, double t) {
    return entry->presence == DLS_PRESENT ||
           (entry->presence == DLS_WAITING && !entry->leaving && entry->birth <= t);
}

/* For pictures of balls: the ball about a container would hide all that is in it. */
static float shown_radius(const dls_world *world, int id) {
    const dls_body *body = dls_world_body(world, id);
    const dls_shape *shape = body->shape_count == 1 ? dls_world_shapes(world, id) : NULL;
    bool is_round = shape && dls_shape_table[shape->kind].round;
    return isfinite(body->radius) && (body->motion == DLS_DYNAMIC || is_round) ? (float)body->radius : 0.0F;
}

static dls_state_row state_row(const dls_results_writer *w, const dls_simulation *simulation, int id) {
    dls_state_row row = {.body = id, .radius = shown_radius(w->world, id)};
    dls_body_state_get(w->world, id, &row.state, NULL);
    if (w->def.contacts) dls_simulation_contact_pose(simulation, id, &row.contact_pose, NULL);
    return row;
}

static bool append_states(dls_results_writer *w, const dls_simulation *simulation, int *count) {
    dls_state_row *rows = (dls_state_row *)w->rows;
    int bodies = dls_world_body_count(w->world), used = 0,
        end = w->def.contacts ? DLS_TABLE_STATES_END : DLS_TABLE_STATES_POSES;
    double t = dls_simulation_time(simulation);
    *count = 0;
    for (int id = 0; id < bodies; id++) {
        if (is_present(&w->world->entries[id], t)) rows[used++] = state_row(w, simulation, id);
        assert(used <= DLS_BATCH);
        if (used < DLS_BATCH && id < bodies - 1) continue;
        if (!append_columns(w, DLS_TABLE_STATES, end, used, w->rows, sizeof *rows)) return false;
        *count += used;
        used = 0;
    }
    return true;
}

/* Zeros up to so many rows. */
static bool append_zeros(dls_results_writer *w, int table, int64_t rows) {
    int64_t missing = rows - w->tables[table].rows;
    if (missing > 0) memset(w->column, 0, DLS_BATCH * dls_table_layouts[table].row_size);
    for (; missing > 0; missing -= DLS_BATCH)
        if (!dls_table_append(&w->tables[table], missing < DLS_BATCH ? missing : DLS_BATCH, w->column))
            return false;
    return true;
}

/* From the first frame on in which something resists turning, contacts have these columns: zeros for those
 * that came before. */
static bool begin_turning(dls_results_writer *w) {
    w->has_turning = w->tables[DLS_TABLE_TURNING].rows > 0 || dls_world_turns(w->world);
    for (int k = DLS_TABLE_TURNING; w->has_turning && k < DLS_TABLE_TURNING_END; k++)
        if (!append_zeros(w, k, w->tables[DLS_TABLE_CONTACTS].rows)) return false;
    return true;
}

static bool append_contacts(dls_results_writer *w, const dls_simulation *simulation, int *count) {
    dls_contact_row *rows = (dls_contact_row *)w->rows;
    *count = w->def.contacts ? dls_simulation_contact_count(simulation) : 0;
    if (*count && !begin_turning(w)) return false;
    int end = w->has_turning ? DLS_TABLE_TURNING_END : DLS_TABLE_CONTACTS_END;
    for (int first = 0; first < *count; first += DLS_BATCH) {
        int batch = *count - first < DLS_BATCH ? *count - first : DLS_BATCH;
        for (int k = 0; k < batch; k++) {
            dls_simulation_contact(simulation, first + k, &rows[k].record);
            mat_apply(rows[k].world_impulse, rows[k].record.frame, rows[k].record.impulse);
            dls_contact_record_torque(&rows[k].record, rows[k].world_torque);
        }
        if (!append_columns(w, DLS_TABLE_CONTACTS, end, batch, w->rows, sizeof *rows)) return false;
    }
    return true;
}

/* False where memory is out, or HDF5 refuses. */
static bool take_joints(dls_results_writer *w, const dls_simulation *simulation, int *count) {
    int most = dls_world_joint_count(w->world);
    if (!DLS_RESERVE(w->joints, 0, w->joint_room, most)) return false;
    return most == 0 || !dls_simulation_joints(simulation, most, w->joints, count, NULL);
}

static bool append_reactions(dls_results_writer *w, const dls_simulation *simulation, int *count) {
    dls_reaction_row *rows = (dls_reaction_row *)w->rows;
    *count = 0;
    if (!take_joints(w, simulation, count)) return false;
    for (int first = 0; first < *count; first += DLS_BATCH) {
        int batch = *count - first < DLS_BATCH ? *count - first : DLS_BATCH;
        for (int k = 0; k < batch; k++) {
            const dls_joint_record *record = &w->joints[first + k];
            rows[k].record = *record;
            mat_apply(rows[k].world_impulse, record->frame, record->impulse);
            mat_apply(rows[k].world_torque, record->frame, record->impulse + 3);
        }
        if (!append_columns(w, DLS_TABLE_REACTIONS, DLS_TABLE_REACTIONS_END, batch, w->rows, sizeof *rows))
            return false;
    }
    return true;
}

/* Nodes first … first + count − 1 of a line. */
static bool fill_line(const dls_world *world, dls_body_id id, int nodes, int first, int count,
                      dls_node_record *rows) {
    for (int k = 0; k < count; k++) {
        dls_body_state state;
        if (dls_solid_place(world, id, (double)(first + k) / (nodes - 1), &state, NULL)) return false;
        vec_copy(rows[k].x, state.x);
        vec_copy(rows[k].v, state.v);
    }
    return true;
}

/* All of a skin, for batches of them. */
static bool take_skin(dls_results_writer *w, const dls_solid *solid, int nodes) {
    if (!solid->kind->skin) return true;
    if (!DLS_RESERVE(w->skin, 0, w->skin_room, 10 * (int64_t)nodes)) return false;
    solid->kind->skin(solid->data, w->world->q + solid->at, w->world->u + solid->at, w->skin,
                      w->skin + 3 * (int64_t)nodes, w->skin + 6 * (int64_t)nodes,
                      w->skin + 7 * (int64_t)nodes);
    return true;
}

static void fill_skin(const double *skin, int nodes, int first, int count, dls_node_record *rows) {
    for (int k = 0; k < count; k++) {
        vec_copy(rows[k].x, skin + 3 * (int64_t)(first + k));
        vec_copy(rows[k].v, skin + 3 * (int64_t)(nodes + first + k));
        rows[k].von_mises = skin[6 * (int64_t)nodes + first + k];
        vec_copy(rows[k].principal, skin + 7 * (int64_t)nodes + 3 * (int64_t)(first + k));
    }
}

static bool append_solid(dls_results_writer *w, const dls_solid *solid, int nodes) {
    dls_node_record *rows = (dls_node_record *)w->rows;
    if (!take_skin(w, solid, nodes)) return false;
    for (int first = 0; first < nodes; first += DLS_BATCH) {
        int count = nodes - first < DLS_BATCH ? nodes - first : DLS_BATCH;
        memset(rows, 0, sizeof *rows * (size_t)count);
        for (int k = 0; k < count; k++)
            rows[k].body = solid->id, rows[k].at = (double)(first + k) / (nodes - 1);
        if (solid->kind->skin)
            fill_skin(w->skin, nodes, first, count, rows);
        else if (!fill_line(w->world, solid->id, nodes, first, count, rows))
            return false;
        if (!append_columns(w, DLS_TABLE_NODES, DLS_TABLE_NODES_END, count, w->rows, sizeof *rows))
            return false;
    }
    return true;
}

/* Of solids that are there. */
static bool append_nodes(dls_results_writer *w, const dls_simulation *simulation, int *count) {
    double t = dls_simulation_time(simulation);
    *count = 0;
    for (int k = 0; k < w->world->solid_count; k++) {
        const dls_solid *solid = &w->world->solids[k];
        int nodes =
            is_present(&w->world->entries[solid->id], t) ? dls_solid_node_count(w->world, solid->id) : 0;
        if (nodes && !append_solid(w, solid, nodes)) return false;
        *count += nodes;
    }
    return true;
}

static bool append_gradients(dls_results_writer *w, const dls_simulation *simulation, int *count) {
    dls_gradient_record *rows = (dls_gradient_record *)w->rows;
    double t = dls_simulation_time(simulation);
    int used = 0;
    *count = 0;
    for (int k = 0; k < w->world->solid_count; k++) {
        const dls_solid *solid = &w->world->solids[k];
        const double *q = w->world->q + solid->at, *u = w->world->u + solid->at;
        if (!solid->kind->gradient || !is_present(&w->world->entries[solid->id], t)) continue;
        memset(&rows[used], 0, sizeof *rows);
        rows[used].body = solid->id;
        if (!solid->kind->gradient(solid->data, q, u, rows[used].F, rows[used].rate)) continue;
        ++*count;
        if (++used < DLS_BATCH) continue;
        if (!append_columns(w, DLS_TABLE_GRADIENTS, DLS_TABLE_GRADIENTS_END, used, w->rows, sizeof *rows))
            return false;
        used = 0;
    }
    return append_columns(w, DLS_TABLE_GRADIENTS, DLS_TABLE_GRADIENTS_END, used, w->rows, sizeof *rows);
}

/* From the first joint on steps have what joints add to them: zeros for those that came before. */
static bool append_joint_steps(dls_results_writer *w) {
    dls_joint_step_row *rows = (dls_joint_step_row *)w->column;
    if (!dls_writer_has_joints(w)) return true;
    if (!append_zeros(w, DLS_TABLE_JOINT_STEPS, w->tables[DLS_TABLE_STEPS].rows)) return false;
    for (int k = 0; k < w->pending_count; k++) {
        const dls_step_report *s = &w->pending[k];
        rows[k] = (dls_joint_step_row){.joints = s->joints,
                                       .rows = s->joint_rows,
                                       .rows_at_bound = s->joint_rows_at_bound,
                                       .broken = s->joints_broken,
                                       .gap = s->joint_gap,
                                       .spring = s->energy.spring,
                                       .motors = s->energy.motors,
                                       .lost = s->energy.joints};
    }
    return dls_table_append(&w->tables[DLS_TABLE_JOINT_STEPS], w->pending_count, rows);
}

static bool append_pending(dls_results_writer *w) {
    if (!append_joint_steps(w)) return false;
    int count = w->pending_count;
    w->pending_count = 0;
    return dls_table_append(&w->tables[DLS_TABLE_STEPS], count, w->pending);
}

bool dls_writer_note_frame(dls_results_writer *w, const dls_frame_row *frame) {
    if (!DLS_RESERVE(w->frames, w->frame_count, w->frame_capacity, w->frame_count + 1)) return false;
    w->frames[w->frame_count++] = *frame;
    return true;
}

bool dls_writer_number_points(dls_results_writer *w, const dls_frame_row *frame) {
    dls_table *index = &w->tables[DLS_TABLE_INDEX];
    int64_t wanted = frame->state_count > frame->contact_count ? frame->state_count : frame->contact_count;
    if (wanted < frame->reaction_count) wanted = frame->reaction_count;
    if (wanted < frame->node_count) wanted = frame->node_count;
    int32_t *numbers = (int32_t *)w->column;
    while (index->rows < wanted) {
        int64_t left = wanted - index->rows, batch = left < DLS_BATCH ? left : DLS_BATCH;
        for (int64_t k = 0; k < batch; k++) numbers[k] = (int32_t)(index->rows + k);
        if (!dls_table_append(index, batch, numbers)) return false;
    }
    return true;
}

dls_status dls_writer_flush(dls_results_writer *w, dls_error *error) {
    bool done = H5Fflush(w->file, H5F_SCOPE_LOCAL) >= 0;
    return done && !w->device.is_dead ? DLS_OK : dls_writer_fail(w, error);
}

/* ---- public ---- */

static dls_status add_step(dls_results_writer *w, const dls_step_report *report, dls_error *error) {
    if (w->pending_count == DLS_PENDING && (!append_pending(w) || w->device.is_dead))
        return dls_writer_fail(w, error);
    /* bytes between members are not left to chance: the same steps give the same file */
    dls_step_report *row = &w->pending[w->pending_count++];
    memset(row, 0, sizeof *row);
    *row = *report;
    return DLS_OK;
}

dls_status dls_results_add_step(dls_results_writer *writer, const dls_step_report *report, dls_error *error) {
    dls_error_clear(error);
    if (!writer || !report)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "writer and report are needed, got NULL");
    if (writer->failure.status) return dls_writer_fail(writer, error);
    dls_silence silence = dls_silence_begin();
    dls_status status = add_step(writer, report, error);
    dls_silence_end(silence);
    return status;
}

/* The XDMF is written again each time that it would grow by an eighth, so its cost stays in proportion. */
static bool is_xdmf_due(const dls_results_writer *w) {
    return w->frame_count > w->xdmf_frames + w->xdmf_frames / 8;
}

static dls_status write_xdmf(dls_results_writer *w, dls_error *error) {
    dls_status status = dls_xdmf_write(w, error);
    if (!status) w->xdmf_frames = w->frame_count;
    return status;
}

static dls_status add_frame(dls_results_writer *w, const dls_simulation *simulation, dls_error *error) {
    dls_frame_row frame;
    memset(&frame, 0, sizeof frame);
    frame.step = dls_simulation_steps(simulation);
    frame.time = dls_simulation_time(simulation);
    frame.state_start = w->tables[DLS_TABLE_STATES].rows;
    frame.contact_start = w->tables[DLS_TABLE_CONTACTS].rows;
    frame.reaction_start = w->tables[DLS_TABLE_REACTIONS].rows;
    frame.node_start = w->tables[DLS_TABLE_NODES].rows;
    frame.gradient_start = w->tables[DLS_TABLE_GRADIENTS].rows;
    if (w->frame_count && w->frames[w->frame_count - 1].step >= frame.step) return DLS_OK;
    dls_status status = dls_writer_add_world(w, error);
    if (status) return status;
    if (!append_states(w, simulation, &frame.state_count) ||
        !append_contacts(w, simulation, &frame.contact_count) ||
        !append_reactions(w, simulation, &frame.reaction_count) ||
        !append_nodes(w, simulation, &frame.node_count) ||
        !append_gradients(w, simulation, &frame.gradient_count) || !append_pending(w) ||
        !dls_writer_number_points(w, &frame) || !dls_table_append(&w->tables[DLS_TABLE_FRAMES], 1, &frame))
        return dls_writer_fail(w, error);
    status = dls_writer_flush(w, error);
    if (!status && !dls_writer_note_frame(w, &frame)) status = dls_fail_memory(error);
    return status || !is_xdmf_due(w) ? status : write_xdmf(w, error);
}

dls_status dls_results_add_frame(dls_results_writer *writer, const dls_simulation *simulation,
                                 dls_error *error) {
    dls_error_clear(error);
    if (!writer || !simulation)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "writer and simulation are needed, got NULL");
    if (writer->failure.status) return dls_writer_fail(writer, error);
    dls_silence silence = dls_silence_begin();
    dls_status status = add_frame(writer, simulation, error);
    dls_silence_end(silence);
    return status;
}

static dls_status flush(dls_results_writer *w, dls_error *error) {
    if (!append_pending(w)) return dls_writer_fail(w, error);
    dls_status status = dls_writer_flush(w, error);
    if (!status && fsync(w->device.descriptor)) {
        w->device.write_number = errno;
        status = dls_writer_fail(w, error);
    }
    return status;
}

dls_status dls_results_flush(dls_results_writer *writer, dls_error *error) {
    dls_error_clear(error);
    if (!writer) return dls_fail(error, DLS_ERROR_ARGUMENT, "writer is needed, got NULL");
    if (writer->failure.status) return dls_writer_fail(writer, error);
    dls_silence silence = dls_silence_begin();
    dls_status status = flush(writer, error);
    dls_silence_end(silence);
    return status;
}

static dls_status finish(dls_results_writer *w, const dls_run_summary *summary, dls_error *error) {
    if (!append_pending(w)) return dls_writer_fail(w, error);
    if (summary && !dls_table_append(&w->tables[DLS_TABLE_SUMMARY], 1, summary))
        return dls_writer_fail(w, error);
    dls_status status = flush(w, error);
    return status ? status : write_xdmf(w, error);
}

dls_status dls_results_close(dls_results_writer *writer, const dls_run_summary *summary, dls_error *error) {
    dls_error_clear(error);
    if (!writer) return DLS_OK;
    dls_silence silence = dls_silence_begin();
    dls_status status =
        writer->failure.status ? dls_writer_fail(writer, error) : finish(writer, summary, error);
    close_file(writer);
    if (!status && writer->failure.status) status = dls_writer_fail(writer, error);
    dls_silence_end(silence);
    destroy(writer);
    return status;
}
