/* Results in: the file as it is when it is opened. What a writer may have been doing at that instant, or when
 * it was killed, shows only as rows that no frame speaks of. */
#include "base/error.h"
#include "base/memory.h"
#include "fclib/check.h"
#include "output/results.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static dls_status fail_damaged(const dls_results *r, const char *where, const char *what, dls_error *error) {
    return dls_fail(error, DLS_ERROR_FILE, "%s: damaged: %s: %s", r->name.text, where, what);
}

/* ---- the first bytes, before HDF5 sees any ---- */

enum { SUPERBLOCK = 48, VERSION = 8, SIZES = 9, MARKS = 11, BASE = 12, END = 28, SUM = 44 };

static dls_status check_superblock(const dls_results *r, const uint8_t *block, ssize_t size,
                                   dls_error *error) {
    const char *name = r->name.text;
    if (size < 8 || memcmp(block, "\x89HDF\r\n\x1a\n", 8))
        return dls_fail(error, DLS_ERROR_FILE, "%s: no results file: it does not begin as an HDF5 file does",
                        name);
    if (size < SUPERBLOCK || block[VERSION] != 3)
        return dls_fail(error, DLS_ERROR_FILE, "%s: no results file: an HDF5 file of another kind", name);
    if (check_sum(block, SUM) != check_number(block + SUM, 4))
        return fail_damaged(r, "first bytes", "their checksum is wrong", error);
    if (block[SIZES] != 8 || block[SIZES + 1] != 8 || check_number(block + BASE, 8) != 0)
        return dls_fail(error, DLS_ERROR_FILE, "%s: no results file: an HDF5 file of another kind", name);
    uint64_t end = check_number(block + END, 8);
    if (end > (uint64_t)r->file_size)
        return dls_fail(error, DLS_ERROR_FILE, "%s: cut off: %" PRId64 " bytes are there, expected %" PRIu64,
                        name, r->file_size, end);
    return DLS_OK;
}

static dls_status open_descriptor(dls_results *r, const char *path, dls_error *error) {
    uint8_t block[SUPERBLOCK];
    struct stat about;
    r->device.descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (r->device.descriptor < 0 || fstat(r->device.descriptor, &about))
        return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be read: %s", r->name.text, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be read: no regular file", r->name.text);
    r->file_size = about.st_size;
    ssize_t got = pread(r->device.descriptor, block, sizeof block, 0);
    if (got < 0)
        return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be read: %s", r->name.text, strerror(errno));
    return check_superblock(r, block, got, error);
}

/* What a writer is just changing is read again; HDF5 waits twice as long each time, from a nanosecond on. */
enum { ATTEMPTS = 22 };

static dls_status open_file(dls_results *r, dls_error *error) {
    hid_t access = dls_driver_access(&r->device);
    if (access >= 0 && H5Pset_metadata_read_attempts(access, ATTEMPTS) >= 0)
        r->file = H5Fopen(r->name.text, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
    if (access >= 0) H5Pclose(access);
    return r->file < 0 ? dls_driver_fail(&r->device, r->name.text, "read", error) : DLS_OK;
}

/* ---- facts ---- */

static dls_status check_format(const dls_results *r, dls_error *error) {
    int version;
    char *format = dls_attribute_read_text(r->file, "format");
    bool is_ours = format && !strcmp(format, DLS_RESULTS_FORMAT);
    dls_free(format);
    if (!is_ours)
        return dls_fail(error, DLS_ERROR_FILE, "%s: no results file: an HDF5 file of another kind",
                        r->name.text);
    if (!dls_attribute_read_int(r->file, "format_version", &version))
        return fail_damaged(r, "format_version", "missing", error);
    if (version != DLS_RESULTS_FORMAT_VERSION)
        return dls_fail(error, DLS_ERROR_FILE,
                        "%s: results of format version %d, expected %d: they are of another version of "
                        "delassus than this (%s)",
                        r->name.text, version, DLS_RESULTS_FORMAT_VERSION, dls_version());
    return DLS_OK;
}

static dls_status read_facts(dls_results *r, dls_error *error) {
    size_t limit = 16 * (size_t)r->file_size;
    int count = 0, has_contacts = 0;
    char **options = NULL;
    bool done = (r->version = dls_attribute_read_text(r->file, "delassus_version")) &&
                (r->title = dls_attribute_read_text(r->file, "title")) &&
                (r->solver = dls_attribute_read_text(r->file, "solver")) &&
                dls_attribute_read_reals(r->file, "tolerance", 1, &r->tolerance) &&
                dls_attribute_read_int(r->file, "has_contacts", &has_contacts) &&
                dls_attribute_read_int(r->file, "dimension", &r->world.dimension) &&
                dls_attribute_read_reals(r->file, "gravity", 3, r->world.gravity) &&
                dls_attribute_read_reals(r->file, "period_low", 3, r->world.period_low) &&
                dls_attribute_read_reals(r->file, "period_size", 3, r->world.period_size) &&
                dls_texts_read(r->file, "settings", limit, &r->setting_count, &r->settings) &&
                dls_texts_read(r->file, "scene", limit, &count, &r->scene_text) && count == 1 &&
                dls_texts_read(r->file, "solver_options", limit, &count, &options) && count == 1;
    if (done) r->solver_options = dls_alloc_copy(options[0], strlen(options[0]) + 1, 1);
    dls_free(options);
    r->has_contacts = has_contacts != 0;
    if (!done || !r->solver_options) return fail_damaged(r, "/", "an attribute or text is missing", error);
    if (r->world.dimension != 2 && r->world.dimension != 3)
        return fail_damaged(r, "dimension", "neither 2 nor 3", error);
    return DLS_OK;
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
        if (!dls_table_open(&r->tables[k], &dls_table_layouts[k], r->file, &what))
            return fail_damaged(r, where, what, error);
        if (!is_possible(r, &r->tables[k])) return fail_damaged(r, where, "more rows than bytes", error);
    }
    return DLS_OK;
}

/* All of a table in memory; texts get a zero at their end. */
static dls_status load(dls_results *r, int table, int64_t count, void **rows, dls_error *error) {
    const dls_table *t = &r->tables[table];
    if (count > INT_MAX) return fail_damaged(r, t->layout->path, "too many rows", error);
    *rows = dls_alloc_zero((size_t)count, t->row_size);
    if (!*rows) return dls_fail_memory(error);
    if (dls_table_read(t, 0, count, *rows)) return DLS_OK;
    return dls_driver_fail(&r->device, r->name.text, "read", error);
}

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

static bool is_shape_sound(const dls_results *r, const dls_shape_row *s) {
    if (s->kind < 0 || s->kind >= DLS_SHAPE_KINDS || s->point_count < 0 || s->triangle_count < 0 ||
        s->point_start < 0 || s->triangle_start < 0 || s->point_start > r->point_count - s->point_count ||
        s->triangle_start > r->triangle_count - s->triangle_count)
        return false;
    const int32_t *corner = r->triangles + 3 * s->triangle_start;
    for (int64_t k = 0; k < 3 * (int64_t)s->triangle_count; k++)
        if (corner[k] < 0 || corner[k] >= s->point_count) return false;
    return true;
}

static bool is_body_sound(const dls_results *r, const dls_body_row *b) {
    return b->motion >= 0 && b->motion <= DLS_DRIVEN && b->shape_start >= 0 && b->shape_count >= 0 &&
           b->shape_start <= r->shape_count - b->shape_count;
}

/* Bodies that are not complete were being added when the file was opened, or when its writer was killed. */
static void keep_sound(dls_results *r) {
    int shapes = 0, bodies = 0;
    while (shapes < r->shape_count && is_shape_sound(r, &r->shapes[shapes])) shapes++;
    r->shape_count = shapes;
    while (bodies < r->body_count && is_body_sound(r, &r->bodies[bodies])) bodies++;
    r->body_count = bodies;
}

static dls_status load_world(dls_results *r, dls_error *error) {
    const dls_table *t = r->tables;
    r->body_count = (int)least(t[DLS_TABLE_BODIES].rows, t[DLS_TABLE_BODY_NAMES].rows);
    r->material_count = (int)least(t[DLS_TABLE_MATERIALS].rows, t[DLS_TABLE_MATERIAL_NAMES].rows);
    r->shape_count = (int)t[DLS_TABLE_SHAPES].rows;
    r->point_count = t[DLS_TABLE_POINTS].rows;
    r->triangle_count = t[DLS_TABLE_TRIANGLES].rows;
    dls_status status = load(r, DLS_TABLE_BODIES, r->body_count, (void **)&r->bodies, error);
    if (!status) status = load(r, DLS_TABLE_SHAPES, r->shape_count, (void **)&r->shapes, error);
    if (!status) status = load(r, DLS_TABLE_POINTS, r->point_count, (void **)&r->points, error);
    if (!status) status = load(r, DLS_TABLE_TRIANGLES, r->triangle_count, (void **)&r->triangles, error);
    if (!status) status = load(r, DLS_TABLE_MATERIALS, r->material_count, (void **)&r->materials, error);
    if (!status)
        status =
            load_names(r, DLS_TABLE_BODY_NAMES, r->body_count, &r->body_names, &r->body_name_size, error);
    if (!status)
        status = load_names(r, DLS_TABLE_MATERIAL_NAMES, r->material_count, &r->material_names,
                            &r->material_name_size, error);
    if (!status) keep_sound(r);
    return status;
}

/* Frames follow each other without gaps, and all their rows are there. The first that is not so was being
 * written when the file was opened, or when its writer was killed. */
static int sound_frames(const dls_results *r, int count, int64_t states, int64_t poses, int64_t contacts) {
    int64_t state = 0, contact = 0, step = -1;
    for (int k = 0; k < count; k++) {
        const dls_frame_row *f = &r->frames[k];
        if (f->step <= step || f->state_start != state || f->contact_start != contact || f->state_count < 0 ||
            f->contact_count < 0 || !isfinite(f->time))
            return k;
        state += f->state_count;
        contact += f->contact_count;
        step = f->step;
        if (state > states || contact > contacts || (r->has_contacts && state > poses)) return k;
    }
    return count;
}

static int64_t least_rows(const dls_results *r, int first, int end) {
    int64_t rows = INT64_MAX;
    for (int k = first; k < end; k++) rows = least(rows, r->tables[k].rows);
    return rows;
}

static dls_status load_frames(dls_results *r, dls_error *error) {
    int64_t rows = r->tables[DLS_TABLE_FRAMES].rows;
    dls_status status = load(r, DLS_TABLE_FRAMES, rows, (void **)&r->frames, error);
    if (status) return status;
    r->frame_count = sound_frames(r, (int)rows, least_rows(r, DLS_TABLE_STATES, DLS_TABLE_STATES_POSES),
                                  least_rows(r, DLS_TABLE_STATES_POSES, DLS_TABLE_STATES_END),
                                  least_rows(r, DLS_TABLE_CONTACTS, DLS_TABLE_CONTACTS_END));
    return DLS_OK;
}

/* The last rows of the history may not be written yet. */
static dls_status load_history(dls_results *r, dls_error *error) {
    dls_step_report report;
    r->step_count = r->tables[DLS_TABLE_STEPS].rows;
    for (; r->step_count > 0; r->step_count--) {
        if (!dls_table_read(&r->tables[DLS_TABLE_STEPS], r->step_count - 1, 1, &report))
            return dls_driver_fail(&r->device, r->name.text, "read", error);
        if (report.step >= 0) break;
    }
    r->is_finished = r->tables[DLS_TABLE_SUMMARY].rows > 0;
    if (r->is_finished && !dls_table_read(&r->tables[DLS_TABLE_SUMMARY], 0, 1, &r->summary))
        return dls_driver_fail(&r->device, r->name.text, "read", error);
    return DLS_OK;
}

/* ---- opening and closing ---- */

static void destroy(dls_results *r) {
    for (int k = 0; k < DLS_TABLES; k++) dls_table_close(&r->tables[k]);
    if (r->file >= 0) H5Fclose(r->file);
    if (r->device.descriptor >= 0) close(r->device.descriptor);
    void *blocks[] = {r->title,      r->solver,    r->solver_options, r->version,        r->scene_text,
                      r->settings,   r->frames,    r->bodies,         r->shapes,         r->points,
                      r->triangles,  r->materials, r->body_names,     r->material_names, r->files,
                      r->file_names, r->file_bytes};
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

/* Puts columns first … end − 1 back into the rows that they were taken from. */
static dls_status read_columns(const dls_results *r, int first, int end, int64_t start, int count, char *rows,
                               size_t row_size, dls_error *error) {
    char *column = dls_alloc((size_t)count, row_size);
    dls_status status = column ? DLS_OK : dls_fail_memory(error);
    dls_silence silence = dls_silence_begin();
    for (int k = first; k < end && !status; k++) {
        size_t offset = dls_table_layouts[k].cells[0].offset, size = dls_table_layouts[k].row_size;
        if (!dls_table_read(&r->tables[k], start, count, column)) {
            status = dls_driver_fail(&r->device, r->name.text, "read", error);
            break;
        }
        for (int i = 0; i < count; i++)
            memcpy(rows + (size_t)i * row_size + offset, column + (size_t)i * size, size);
    }
    dls_silence_end(silence);
    dls_free(column);
    return status;
}

/* Without contacts there are no poses of them: bodies are where they are. */
static void stand_where_they_are(int count, dls_state_row *rows) {
    for (int i = 0; i < count; i++) {
        memcpy(rows[i].contact_pose.x, rows[i].state.x, sizeof rows[i].state.x);
        memcpy(rows[i].contact_pose.q, rows[i].state.q, sizeof rows[i].state.q);
    }
}

dls_status dls_results_state_rows(const dls_results *r, int frame, int first, int count, dls_state_row *rows,
                                  dls_error *error) {
    int end = r->has_contacts ? DLS_TABLE_STATES_END : DLS_TABLE_STATES_POSES;
    memset(rows, 0, sizeof *rows * (size_t)count);
    dls_status status = read_columns(r, DLS_TABLE_STATES, end, r->frames[frame].state_start + first, count,
                                     (char *)rows, sizeof *rows, error);
    for (int i = 0; i < count && !status; i++)
        if (rows[i].body < 0 || rows[i].body >= r->body_count)
            status = fail_damaged(r, "states/body", "a body that is not there", error);
    if (!status && !r->has_contacts) stand_where_they_are(count, rows);
    return status;
}

dls_status dls_results_contact_rows(const dls_results *r, int frame, int first, int count,
                                    dls_contact_row *rows, dls_error *error) {
    memset(rows, 0, sizeof *rows * (size_t)count);
    dls_status status =
        read_columns(r, DLS_TABLE_CONTACTS, DLS_TABLE_CONTACTS_END, r->frames[frame].contact_start + first,
                     count, (char *)rows, sizeof *rows, error);
    for (int i = 0; i < count && !status; i++) {
        const dls_contact_record *c = &rows[i].record;
        if (c->body_a < 0 || c->body_a >= r->body_count || c->body_b < 0 || c->body_b >= r->body_count)
            status = fail_damaged(r, "contacts/bodies", "a body that is not there", error);
    }
    return status;
}

/* Calls take for every row of a frame's states. */
static dls_status each_state(const dls_results *r, int frame, void (*take)(const dls_state_row *, void *),
                             void *user, dls_error *error) {
    int total = r->frames[frame].state_count;
    dls_state_row *rows = DLS_NEW(dls_state_row, DLS_BATCH);
    dls_status status = rows ? DLS_OK : dls_fail_memory(error);
    for (int first = 0; first < total && !status; first += DLS_BATCH) {
        int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
        status = dls_results_state_rows(r, frame, first, count, rows, error);
        for (int k = 0; k < count && !status; k++) take(&rows[k], user);
    }
    dls_free(rows);
    return status;
}

typedef struct state_arrays {
    dls_body_state *states;
    bool *present;
    dls_pose *poses;
} state_arrays;

static void take_state(const dls_state_row *row, void *user) {
    const state_arrays *a = user;
    if (a->states) a->states[row->body] = row->state;
    if (a->present) a->present[row->body] = true;
    if (a->poses) a->poses[row->body] = row->contact_pose;
}

dls_status dls_results_frame_states(dls_results *results, int frame, dls_body_state *states, bool *present,
                                    dls_error *error) {
    dls_status status = check_frame(results, frame, error);
    if (status) return status;
    for (int id = 0; id < results->body_count; id++) {
        if (states) states[id] = (dls_body_state){.q = {1}};
        if (present) present[id] = false;
    }
    return each_state(results, frame, take_state, &(state_arrays){states, present, NULL}, error);
}

dls_status dls_results_frame_poses(dls_results *results, int frame, dls_pose *poses, dls_error *error) {
    dls_status status = check_frame(results, frame, error);
    if (status) return status;
    if (!poses) return dls_fail(error, DLS_ERROR_ARGUMENT, "poses are needed, got NULL");
    for (int id = 0; id < results->body_count; id++) poses[id] = (dls_pose){.q = {1}};
    return each_state(results, frame, take_state, &(state_arrays){NULL, NULL, poses}, error);
}

dls_status dls_results_frame_contacts(dls_results *results, int frame, dls_contact_record *contacts,
                                      dls_error *error) {
    dls_status status = check_frame(results, frame, error);
    if (status) return status;
    int total = results->frames[frame].contact_count;
    if (!contacts && total) return dls_fail(error, DLS_ERROR_ARGUMENT, "contacts are needed, got NULL");
    dls_contact_row *rows = DLS_NEW(dls_contact_row, DLS_BATCH);
    if (!rows) return dls_fail_memory(error);
    for (int first = 0; first < total && !status; first += DLS_BATCH) {
        int count = total - first < DLS_BATCH ? total - first : DLS_BATCH;
        status = dls_results_contact_rows(results, frame, first, count, rows, error);
        for (int k = 0; k < count && !status; k++) contacts[first + k] = rows[k].record;
    }
    dls_free(rows);
    return status;
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
    dls_silence silence = dls_silence_begin();
    bool done = dls_table_read(&results->tables[DLS_TABLE_STEPS], first, count, reports);
    dls_status status = done ? DLS_OK : dls_driver_fail(&results->device, results->name.text, "read", error);
    dls_silence_end(silence);
    return status;
}

/* Rows of the history are one per step without gaps; the frame's is where its step says, counted from the
 * first. */
dls_status dls_results_step_length(const dls_results *r, int frame, double *h, dls_error *error) {
    dls_step_report reports[2];
    int64_t at = r->frames[frame].step - 1;
    *h = 0;
    if (at < 0 || at >= r->step_count) return DLS_OK;
    int64_t first = at > 0 ? at - 1 : 0, count = at > 0 ? 2 : 1;
    dls_silence silence = dls_silence_begin();
    bool done = dls_table_read(&r->tables[DLS_TABLE_STEPS], first, count, reports);
    dls_status status = done ? DLS_OK : dls_driver_fail(&r->device, r->name.text, "read", error);
    dls_silence_end(silence);
    if (!status && reports[count - 1].step == at + 1) *h = reports[count - 1].t - (at > 0 ? reports[0].t : 0);
    return status;
}
