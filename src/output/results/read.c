/* Results in: the file as it is when it is opened. What a writer may have been doing at that instant, or when
 * it was killed, shows only as rows that no frame speaks of. */
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "output/results/results.h"
#include "world/world.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static dls_status fail_damaged(const dls_results *r, const char *where, const char *what, dls_error *error) {
    return dls_fail(error, DLS_ERROR_FILE, "%s: damaged: %s: %s", r->name.text, where, what);
}

/* ---- the file ---- */

static dls_status open_descriptor(dls_results *r, const char *path, dls_error *error) {
    dls_input input;
    dls_status status =
        dls_input_open(path, DLS_INPUT_FILE, "a file with the results of a run", &input, error);
    r->device.descriptor = input.descriptor;
    if (status) return status;
    r->file_size = input.size;
    return dls_structure_take(r->device.descriptor, r->name.text, &r->structure, error);
}

static dls_status open_file(dls_results *r, dls_error *error) {
    r->device.structure = &r->structure;
    hid_t access = dls_driver_access(&r->device);
    if (access >= 0) r->file = H5Fopen(r->name.text, H5F_ACC_RDONLY, access);
    if (access >= 0) H5Pclose(access);
    return r->file < 0 ? dls_driver_fail(&r->device, r->name.text, "read", error) : DLS_OK;
}

/* ---- facts ---- */

static dls_status check_format(dls_results *r, dls_error *error) {
    char *format;
    dls_status status = dls_attribute_read_text(r->file, "format", &format);
    if (status == DLS_ERROR_MEMORY) return dls_fail_memory(error);
    bool is_ours = format && !strcmp(format, DLS_RESULTS_FORMAT);
    dls_free(format);
    if (!is_ours)
        return dls_fail(error, DLS_ERROR_FILE, "%s: no results file: an HDF5 file of another kind",
                        r->name.text);
    if (!dls_attribute_read_int(r->file, "format_version", &r->format))
        return fail_damaged(r, "format_version", "missing", error);
    if (r->format < DLS_RESULTS_OLDEST_VERSION || r->format > DLS_RESULTS_FORMAT_VERSION)
        return dls_fail(error, DLS_ERROR_FILE,
                        "%s: results of format version %d, expected %d to %d: they are of another version of "
                        "delassus than this (%s)",
                        r->name.text, r->format, DLS_RESULTS_OLDEST_VERSION, DLS_RESULTS_FORMAT_VERSION,
                        dls_version());
    return DLS_OK;
}

static dls_status fail_text(const dls_results *r, dls_status status, const char *where, dls_error *error) {
    return status == DLS_ERROR_MEMORY ? dls_fail_memory(error)
                                      : fail_damaged(r, where, "missing, or no text", error);
}

static dls_status read_texts(dls_results *r, dls_error *error) {
    const struct {
        const char *name;
        char **text;
    } attributes[] = {{"delassus_version", &r->version}, {"title", &r->title}, {"solver", &r->solver}};
    const struct {
        const char *name;
        int least, most, *count;
        char ***texts;
    } datasets[] = {{"settings", 0, INT_MAX, &r->setting_count, &r->settings},
                    {"scene", 1, 1, &(int){0}, &r->scene_text},
                    {"solver_options", 1, 1, &(int){0}, &r->solver_options}};
    for (int k = 0; k < 3; k++) {
        dls_status status = dls_attribute_read_text(r->file, attributes[k].name, attributes[k].text);
        if (status) return fail_text(r, status, attributes[k].name, error);
    }
    for (int k = 0; k < 3; k++) {
        dls_status status = dls_texts_read(r->file, datasets[k].name, 16 * (size_t)r->file_size,
                                           datasets[k].count, datasets[k].texts);
        if (status) return fail_text(r, status, datasets[k].name, error);
        if (*datasets[k].count < datasets[k].least || *datasets[k].count > datasets[k].most)
            return dls_fail(error, DLS_ERROR_FILE, "%s: damaged: %s: %d texts, expected %d", r->name.text,
                            datasets[k].name, *datasets[k].count, datasets[k].least);
    }
    return DLS_OK;
}

/* Numbers of an attribute, each from low to high. */
static dls_status read_numbers(const dls_results *r, const char *name, int count, double low, double high,
                               double *values, dls_error *error) {
    if (!dls_attribute_read_reals(r->file, name, count, values))
        return fail_damaged(r, name, "missing, or no numbers", error);
    for (int k = 0; k < count; k++)
        if (!(values[k] >= low && values[k] <= high))
            return dls_fail(error, DLS_ERROR_FILE, "%s: damaged: %s: %g, expected numbers from %g to %g",
                            r->name.text, name, values[k], low, high);
    return DLS_OK;
}

static dls_status read_whole(const dls_results *r, const char *name, int low, int high, int *value,
                             dls_error *error) {
    if (!dls_attribute_read_int(r->file, name, value))
        return fail_damaged(r, name, "missing, or no number", error);
    if (*value >= low && *value <= high) return DLS_OK;
    return dls_fail(error, DLS_ERROR_FILE, "%s: damaged: %s: %d, expected %d or %d", r->name.text, name,
                    *value, low, high);
}

static dls_status read_facts(dls_results *r, dls_error *error) {
    const double far = DLS_FARTHEST;
    int has_contacts = 0;
    dls_status status = read_texts(r, error);
    if (!status) status = read_numbers(r, "tolerance", 1, 0, far, &r->tolerance, error);
    if (!status) status = read_whole(r, "has_contacts", 0, 1, &has_contacts, error);
    if (!status) status = read_whole(r, "dimension", 2, 3, &r->world.dimension, error);
    if (!status) status = read_numbers(r, "gravity", 3, -far, far, r->world.gravity, error);
    if (!status) status = read_numbers(r, "period_low", 3, -far, far, r->world.period_low, error);
    if (!status) status = read_numbers(r, "period_size", 3, 0, far, r->world.period_size, error);
    r->has_contacts = has_contacts != 0;
    return status;
}

/* ---- tables ---- */

/* The last chunk may be longer than what is used of it, but no table is much longer than the file. */
static bool is_possible(const dls_results *r, const dls_table *table) {
    struct stat about;
    if (fstat(r->device.descriptor, &about)) return false;
    return table->rows <= about.st_size / (int64_t)table->file_row_size;
}

/* In the opposite order of writing: what an index speaks of is there when it is opened after the index. */
static dls_status open_tables(dls_results *r, dls_error *error) {
    for (int k = DLS_TABLE_SUMMARY; k >= 0; k--) {
        const char *what = NULL, *where = dls_table_layouts[k].path;
        if (dls_table_layouts[k].since > r->format) continue; /* as one without rows */
        if (!dls_table_open(&r->tables[k], &dls_table_layouts[k], r->format, r->file, &what))
            return fail_damaged(r, where, what, error);
        if (!is_possible(r, &r->tables[k])) return fail_damaged(r, where, "more rows than bytes", error);
    }
    return DLS_OK;
}

/* The first count rows of a table in memory. */
static dls_status load(dls_results *r, int table, int64_t count, void **rows, dls_error *error) {
    const dls_table *t = &r->tables[table];
    if (count > INT_MAX) return fail_damaged(r, t->layout->path, "too many rows", error);
    *rows = dls_alloc_zero((size_t)count, t->row_size);
    return *rows ? dls_results_rows(r, table, 0, count, *rows, error) : dls_fail_memory(error);
}

/* Texts get a zero at their end. */
static dls_status load_names(dls_results *r, int table, int64_t count, char **names, size_t *size,
                             dls_error *error) {
    char *padded = NULL;
    size_t width = r->tables[table].row_size;
    dls_status status = load(r, table, count, (void **)&padded, error);
    if (!status && !(*names = dls_alloc_zero((size_t)count, width + 1))) status = dls_fail_memory(error);
    for (int64_t k = 0; !status && k < count; k++)
        memcpy(*names + (size_t)k * (width + 1), padded + (size_t)k * width, width);
    *size = width + 1;
    dls_free(padded);
    return status;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Materials without their pairs, shapes without their points and bodies without their shapes were being added
 * when the file was opened, or when its writer was killed. */
static dls_status keep_whole(dls_results *r, dls_error *error) {
    bool is_whole = true;
    int shapes = 0, bodies = 0;
    dls_error why = {0};
    while (shapes < r->shape_count && !dls_results_check_shape(r, shapes, &is_whole, &why)) shapes++;
    if (!why.status || !is_whole) {
        r->shape_count = shapes;
        r->left_out = why;
        why = (dls_error){0};
        while (bodies < r->body_count && !dls_results_check_body(r, bodies, &is_whole, &why)) bodies++;
    }
    if (why.status && is_whole) {
        if (error) *error = why;
        return why.status;
    }
    if (!r->left_out.status) r->left_out = why;
    r->body_count = bodies;
    r->tables[DLS_TABLE_STATES].below = r->tables[DLS_TABLE_CONTACTS].below = bodies;
    r->tables[DLS_TABLE_NODES].below = r->tables[DLS_TABLE_GRADIENTS].below = bodies;
    return DLS_OK;
}

/* Joints come after the bodies that they join. */
static dls_status load_joints(dls_results *r, dls_error *error) {
    int64_t count = least(r->tables[DLS_TABLE_JOINTS].rows, r->tables[DLS_TABLE_JOINT_NAMES].rows);
    bool is_whole = true;
    dls_error why = {0};
    dls_status status = DLS_OK;
    if (count > 0) status = load(r, DLS_TABLE_JOINTS, count, (void **)&r->joints, error);
    if (count > 0 && !status)
        status = load_names(r, DLS_TABLE_JOINT_NAMES, count, &r->joint_names, &r->joint_name_size, error);
    if (status) return status;
    while (r->joint_count < count && !dls_results_check_joint(r, r->joint_count, &is_whole, &why))
        r->joint_count++;
    if (why.status && is_whole) {
        if (error) *error = why;
        return why.status;
    }
    if (!r->left_out.status) r->left_out = why;
    r->tables[DLS_TABLE_REACTIONS].below = r->joint_count;
    return DLS_OK;
}

/* Pairs of n materials are n (n + 1)/2. */
static void count_materials(dls_results *r) {
    const dls_table *t = r->tables;
    int64_t count = least(t[DLS_TABLE_MATERIALS].rows, t[DLS_TABLE_MATERIAL_NAMES].rows);
    int64_t most = (int64_t)sqrt(2 * (double)t[DLS_TABLE_PAIRS].rows) + 1;
    while (most > 0 && most * (most + 1) / 2 > t[DLS_TABLE_PAIRS].rows) most--;
    r->material_count = (int)least(count, most);
}

static dls_status load_materials(dls_results *r, dls_error *error) {
    count_materials(r);
    int64_t pairs = (int64_t)r->material_count * (r->material_count + 1) / 2;
    dls_status status = load(r, DLS_TABLE_MATERIALS, r->material_count, (void **)&r->materials, error);
    if (!status) status = load(r, DLS_TABLE_PAIRS, pairs, (void **)&r->pairs, error);
    if (!status) status = dls_results_check_pairs(r, error);
    if (!status)
        status = load_names(r, DLS_TABLE_MATERIAL_NAMES, r->material_count, &r->material_names,
                            &r->material_name_size, error);
    return status;
}

static dls_status load_world(dls_results *r, dls_error *error) {
    const dls_table *t = r->tables;
    int64_t bodies = least(t[DLS_TABLE_BODIES].rows, t[DLS_TABLE_BODY_NAMES].rows);
    r->point_count = t[DLS_TABLE_POINTS].rows;
    r->triangle_count = t[DLS_TABLE_TRIANGLES].rows;
    dls_status status = load_materials(r, error);
    if (!status) status = load(r, DLS_TABLE_BODIES, bodies, (void **)&r->bodies, error);
    if (!status) status = load(r, DLS_TABLE_SHAPES, t[DLS_TABLE_SHAPES].rows, (void **)&r->shapes, error);
    if (!status) status = load(r, DLS_TABLE_POINTS, r->point_count, (void **)&r->points, error);
    if (!status) status = load(r, DLS_TABLE_TRIANGLES, r->triangle_count, (void **)&r->triangles, error);
    if (!status)
        status = load_names(r, DLS_TABLE_BODY_NAMES, bodies, &r->body_names, &r->body_name_size, error);
    if (status) return status;
    r->body_count = (int)bodies;
    r->shape_count = (int)t[DLS_TABLE_SHAPES].rows;
    return keep_whole(r, error);
}

/* Rows at the end whose step is −1 were announced and not written. */
static dls_status count_written(const dls_results *r, int table, int64_t *count, dls_error *error) {
    const dls_table *t = &r->tables[table];
    char *rows = dls_alloc((size_t)least(t->rows, DLS_BATCH), t->row_size);
    dls_status status = rows ? DLS_OK : dls_fail_memory(error);
    int64_t left = t->rows;
    bool is_done = false;
    while (left > 0 && !is_done && !status) {
        int64_t batch = least(left, DLS_BATCH), k = batch, step;
        if (!dls_table_read(t, left - batch, batch, rows))
            status = dls_driver_fail(&r->device, r->name.text, "read", error);
        for (; k > 0 && !is_done && !status; k -= !is_done) {
            memcpy(&step, rows + (size_t)(k - 1) * t->row_size, sizeof step);
            is_done = step != -1;
        }
        left += k - batch;
    }
    *count = left;
    dls_free(rows);
    return status;
}

static int64_t least_rows(const dls_results *r, int first, int end) {
    int64_t rows = INT64_MAX;
    for (int k = first; k < end; k++) rows = least(rows, r->tables[k].rows);
    return rows;
}

/* The last frame may have been written before all that it speaks of. */
static dls_status load_frames(dls_results *r, dls_error *error) {
    int64_t rows;
    r->state_rows =
        least_rows(r, DLS_TABLE_STATES, r->has_contacts ? DLS_TABLE_STATES_END : DLS_TABLE_STATES_POSES);
    for (int k = DLS_TABLE_TURNING; k < DLS_TABLE_TURNING_END; k++)
        r->has_turning = r->has_turning || r->tables[k].rows > 0;
    r->contact_rows = least_rows(r, DLS_TABLE_CONTACTS, dls_results_contact_end(r));
    r->reaction_rows = least_rows(r, DLS_TABLE_REACTIONS, DLS_TABLE_REACTIONS_END);
    r->has_stress =
        r->tables[DLS_TABLE_NODES_STRESS].version >= dls_table_layouts[DLS_TABLE_NODES_STRESS].since;
    r->has_principal =
        r->tables[DLS_TABLE_NODES_PRINCIPAL].version >= dls_table_layouts[DLS_TABLE_NODES_PRINCIPAL].since;
    r->node_rows = least_rows(r, DLS_TABLE_NODES, dls_results_node_end(r));
    r->gradient_rows = least_rows(r, DLS_TABLE_GRADIENTS, DLS_TABLE_GRADIENTS_END);
    dls_status status = count_written(r, DLS_TABLE_FRAMES, &rows, error);
    if (!status) status = load(r, DLS_TABLE_FRAMES, rows, (void **)&r->frames, error);
    for (; !status && r->frame_count < rows; r->frame_count++) {
        bool is_whole;
        status = dls_results_check_frame(r, r->frame_count, &is_whole, error);
        if (!status || is_whole || r->frame_count < rows - 1) continue;
        dls_error_clear(error);
        return DLS_OK;
    }
    return status;
}

static dls_status load_history(dls_results *r, dls_error *error) {
    dls_status status = count_written(r, DLS_TABLE_STEPS, &r->step_count, error);
    int64_t of_joints = r->tables[DLS_TABLE_JOINT_STEPS].rows;
    if (of_joints > 0) r->step_count = least(r->step_count, of_joints);
    r->is_finished = r->tables[DLS_TABLE_SUMMARY].rows > 0;
    if (!status && r->is_finished) status = dls_results_rows(r, DLS_TABLE_SUMMARY, 0, 1, &r->summary, error);
    return status;
}

/* Bodies and joints ascend within a frame: if the last of the last frame is there, none of them was left out.
 */
static dls_status check_last(const dls_results *r, dls_error *error) {
    int64_t states = 0, reactions = 0;
    int32_t id;
    if (r->frame_count > 0) {
        const dls_frame_row *last = &r->frames[r->frame_count - 1];
        states = last->state_start + last->state_count;
        reactions = last->reaction_start + last->reaction_count;
    }
    dls_status status = DLS_OK;
    if (states > 0) status = dls_results_rows(r, DLS_TABLE_STATES, states - 1, 1, &id, error);
    if (!status && reactions > 0)
        status = dls_results_rows(r, DLS_TABLE_REACTIONS, reactions - 1, 1, &id, error);
    return status;
}

/* ---- opening and closing ---- */

static void destroy(dls_results *r) {
    for (int k = 0; k < DLS_TABLES; k++) dls_table_close(&r->tables[k]);
    if (r->file >= 0) H5Fclose(r->file);
    if (r->device.descriptor >= 0) close(r->device.descriptor);
    dls_structure_free(&r->structure);
    void *blocks[] = {r->title,      r->solver,     r->solver_options, r->version,        r->scene_text,
                      r->settings,   r->frames,     r->bodies,         r->shapes,         r->points,
                      r->triangles,  r->materials,  r->body_names,     r->material_names, r->files,
                      r->file_names, r->file_bytes, r->pairs,          r->joints,         r->joint_names};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dls_free(blocks[k]);
    dls_free(r);
}

void dls_results_destroy(dls_results *results) {
    if (!results) return;
    dls_silence silence = dls_silence_begin();
    destroy(results);
    dls_silence_end(silence);
}

static dls_status open_results(dls_results *r, const char *path, dls_error *error) {
    dls_status status = open_descriptor(r, path, error);
    if (!status) status = open_file(r, error);
    if (!status) status = check_format(r, error);
    if (!status) status = read_facts(r, error);
    if (!status) status = open_tables(r, error);
    if (!status) status = load_frames(r, error);
    if (!status) status = load_world(r, error);
    if (!status) status = load_joints(r, error);
    if (!status) status = check_last(r, error);
    if (!status) status = load_history(r, error);
    return status;
}

dls_status dls_results_open(const char *path, dls_results **results, dls_error *error) {
    dls_error_clear(error);
    if (!path || !results)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "path and results are needed, got NULL");
    dls_results *r = DLS_NEW_ZERO(dls_results, 1);
    *results = NULL;
    if (!r) return dls_fail_memory(error);
    r->name = dls_file_name_of(path);
    r->device.descriptor = -1;
    r->file = H5I_INVALID_HID;
    dls_silence silence = dls_silence_begin();
    dls_status status = open_results(r, path, error);
    if (status)
        destroy(r);
    else
        *results = r;
    dls_silence_end(silence);
    return status;
}

/* ---- frames ---- */

static dls_status check_frame(const dls_results *r, int frame, dls_error *error) {
    dls_error_clear(error);
    if (!r) return dls_fail(error, DLS_ERROR_ARGUMENT, "results are needed, got NULL");
    if (frame < 0 || frame >= r->frame_count)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "no frame %d, expected 0 … %d", frame, r->frame_count - 1);
    return DLS_OK;
}

/* Which columns of states become members of which records: states, or the poses of contacts. */
typedef struct state_column {
    int table;
    size_t offset; /* of the member in its record */
    bool is_turn;  /* a quaternion */
} state_column;

static const state_column state_columns[] = {{DLS_TABLE_STATES + 2, offsetof(dls_body_state, x), false},
                                             {DLS_TABLE_STATES + 3, offsetof(dls_body_state, q), true},
                                             {DLS_TABLE_STATES + 4, offsetof(dls_body_state, v), false},
                                             {DLS_TABLE_STATES + 5, offsetof(dls_body_state, w), false}},
                          pose_columns[] = {{DLS_TABLE_STATES_POSES, offsetof(dls_pose, x), false},
                                            {DLS_TABLE_STATES_POSES + 1, offsetof(dls_pose, q), true}},
                          place_columns[] = {{DLS_TABLE_STATES + 2, offsetof(dls_pose, x), false},
                                             {DLS_TABLE_STATES + 3, offsetof(dls_pose, q), true}};

/* Rows of one column go where their bodies' records are. */
static dls_status scatter(const dls_results *r, const state_column *c, int64_t start, int count,
                          const int32_t *body, char *records, size_t stride, double *column,
                          dls_error *error) {
    int width = c->is_turn ? 4 : 3;
    dls_status status = dls_results_rows(r, c->table, start, count, column, error);
    if (!status && c->is_turn) status = dls_results_turns(r, c->table, start, count, column, error);
    records += c->offset;
    for (int i = 0; i < count && !status; i++)
        memcpy(records + (size_t)body[i] * stride, column + (size_t)width * (size_t)i,
               (size_t)width * sizeof *column);
    return status;
}

typedef struct record_list {
    char *records; /* by body; NULL: none are wanted */
    size_t stride;
    const void *absent; /* what stands for a body that does not take part */
    bool *present;      /* by body, or NULL */
} record_list;

/* Bodies from one to before another do not take part. */
static void leave_out(const record_list *list, int from, int to) {
    for (int id = from; id < to; id++) {
        if (list->records) memcpy(list->records + (size_t)id * list->stride, list->absent, list->stride);
        if (list->present) list->present[id] = false;
    }
}

/* Batches of a frame's states, column by column. */
static dls_status take_columns(const dls_results *r, int frame, int columns, const state_column *column,
                               const record_list *list, dls_error *error) {
    const dls_frame_row *f = &r->frames[frame];
    int next = 0;
    int room = least(f->state_count, DLS_BATCH);
    int32_t *body = DLS_NEW(int32_t, room), before = -1;
    double *numbers = DLS_NEW(double, 4 * (int64_t)room);
    dls_status status = body && numbers ? DLS_OK : dls_fail_memory(error);
    for (int first = 0, count; first < f->state_count && !status; first += count) {
        count = least(f->state_count - first, DLS_BATCH);
        status = dls_results_state_bodies(r, f->state_start + first, count, &before, body, error);
        if (!status) /* the radius is for others who read the file; one that cannot be is refused all the same
                      */
            status = dls_results_rows(r, DLS_TABLE_STATES + 1, f->state_start + first, count, numbers, error);
        for (int k = 0; k < columns && !status; k++)
            status = scatter(r, &column[k], f->state_start + first, count, body, list->records, list->stride,
                             numbers, error);
        for (int i = 0; i < count && !status; next = body[i++] + 1) {
            leave_out(list, next, body[i]);
            if (list->present) list->present[body[i]] = true;
        }
    }
    leave_out(list, next, r->body_count);
    dls_free(body);
    dls_free(numbers);
    return status;
}

dls_status dls_results_frame_states(dls_results *results, int frame, dls_body_state *states, bool *present,
                                    dls_error *error) {
    dls_status status = check_frame(results, frame, error);
    if (status) return status;
    record_list list = {(char *)states, sizeof *states, &(dls_body_state){.q = {1}}, present};
    return take_columns(results, frame, states ? 4 : 0, state_columns, &list, error);
}

/* Without contacts there are no poses of them: bodies are where they are. */
dls_status dls_results_frame_poses(dls_results *results, int frame, dls_pose *poses, dls_error *error) {
    dls_status status = check_frame(results, frame, error);
    if (status) return status;
    if (!poses) return dls_fail(error, DLS_ERROR_ARGUMENT, "poses are needed, got NULL");
    record_list list = {(char *)poses, sizeof *poses, &(dls_pose){.q = {1}}, NULL};
    return take_columns(results, frame, 2, results->has_contacts ? pose_columns : place_columns, &list,
                        error);
}

dls_status dls_results_frame_contacts(dls_results *results, int frame, dls_contact_record *contacts,
                                      dls_error *error) {
    dls_status status = check_frame(results, frame, error);
    if (status) return status;
    int total = results->frames[frame].contact_count;
    if (!contacts && total) return dls_fail(error, DLS_ERROR_ARGUMENT, "contacts are needed, got NULL");
    dls_contact_row *rows = DLS_NEW(dls_contact_row, least(total, DLS_BATCH));
    if (!rows) return dls_fail_memory(error);
    for (int first = 0; first < total && !status; first += DLS_BATCH) {
        int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
        status = dls_results_contact_rows(results, frame, first, count, rows, error);
        for (int k = 0; k < count && !status; k++) contacts[first + k] = rows[k].record;
    }
    dls_free(rows);
    return status;
}

dls_status dls_results_frame_joints(dls_results *results, int frame, dls_joint_record *joints,
                                    dls_error *error) {
    dls_status status = check_frame(results, frame, error);
    if (status) return status;
    int total = results->frames[frame].reaction_count;
    if (!joints && total) return dls_fail(error, DLS_ERROR_ARGUMENT, "joints are needed, got NULL");
    dls_reaction_row *rows = DLS_NEW(dls_reaction_row, least(total, DLS_BATCH));
    if (!rows) return dls_fail_memory(error);
    for (int first = 0; first < total && !status; first += DLS_BATCH) {
        int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
        status = dls_results_reaction_rows(results, frame, first, count, rows, error);
        for (int k = 0; k < count && !status; k++) joints[first + k] = rows[k].record;
    }
    dls_free(rows);
    return status;
}

dls_status dls_results_frame_nodes(dls_results *results, int frame, dls_node_record *nodes,
                                   dls_error *error) {
    dls_status status = check_frame(results, frame, error);
    if (status) return status;
    int total = results->frames[frame].node_count;
    if (!nodes && total) return dls_fail(error, DLS_ERROR_ARGUMENT, "nodes are needed, got NULL");
    return total ? dls_results_node_rows(results, frame, 0, total, nodes, error) : DLS_OK;
}

dls_status dls_results_frame_gradients(dls_results *results, int frame, dls_gradient_record *gradients,
                                       dls_error *error) {
    dls_status status = check_frame(results, frame, error);
    if (status) return status;
    int total = results->frames[frame].gradient_count;
    if (!gradients && total) return dls_fail(error, DLS_ERROR_ARGUMENT, "gradients are needed, got NULL");
    return total ? dls_results_gradient_rows(results, frame, 0, total, gradients, error) : DLS_OK;
}

dls_status dls_results_steps(dls_results *results, int64_t first, int64_t count, dls_step_report *reports,
                             dls_error *error) {
    dls_error_clear(error);
    if (!results || !reports)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "results and reports are needed, got NULL");
    if (first < 0 || count < 0 || first > results->step_count - count)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "no %" PRId64 " steps from %" PRId64 " on, expected some of %" PRId64, count, first,
                        results->step_count);
    return dls_results_step_rows(results, first, count, reports, error);
}

/* Rows of the history are one per step without gaps; the frame's is where its step says, counted from the
 * first. */
dls_status dls_results_step_length(const dls_results *r, int frame, double *h, dls_error *error) {
    dls_step_report reports[2];
    int64_t at = r->frames[frame].step - 1;
    *h = 0;
    if (at < 0 || at >= r->step_count) return DLS_OK;
    int64_t first = at > 0 ? at - 1 : 0, count = at > 0 ? 2 : 1;
    dls_status status = dls_results_step_rows(r, first, count, reports, error);
    if (!status && reports[count - 1].step == at + 1) *h = reports[count - 1].t - (at > 0 ? reports[0].t : 0);
    return status;
}
