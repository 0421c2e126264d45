/* Numbers and texts put into the datasets and attributes of sound results, by way of each reader of them:
 * refused in one line, or shown, measured, exported, continued and made into a problem like any other.
 *
 * HDF5 is left out: what the library asks it for comes from memory (the linker puts the functions named
 * __wrap_… in the place of those that read a file). The first byte chooses the sample and one use of it; each
 * 12 bytes after it are thing, column, row, place in the row, and the number as memory has it. */
#include "results_samples.h"

#include "base/memory.h"
#include "cli/picture/items.h"
#include "output/results/layout.h"

#include <delassus/analysis.h>

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size,
                                              size_t room); /* in a fuzzer, not in a replay */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static void require(bool holds, const char *what, const dls_error *error) {
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, error->message);
    abort();
}

/* ---- what a file holds, in memory ---- */

enum {
    READ_TABLES = DLS_TABLE_SUMMARY + 1,
    WHOLES = 3,
    REALS = 4,
    TEXTS = 7,
    MOST_THINGS = READ_TABLES + 16
};

static const char *const whole_names[WHOLES] = {"format_version", "has_contacts", "dimension"};
static const struct {
    const char *name;
    int count;
} reals[REALS] = {{"tolerance", 1}, {"gravity", 3}, {"period_low", 3}, {"period_size", 3}};
static const char *const text_names[TEXTS] = {"delassus_version", "title", "solver", /* attributes */
                                              "settings",         "scene", "solver_options", "files"};
enum { ATTRIBUTE_TEXTS = 3, FILE_NAMES = TEXTS - 1 };

typedef struct stored_table {
    int64_t rows; /* as the file says */
    int64_t there;
    size_t row_size, file_row_size;
    char *bytes;
} stored_table;

typedef struct stored_texts {
    int count;
    size_t longest;
    char *bytes;
} stored_texts;

/* Numbers at a stride, some of them in every row. */
typedef struct thing {
    char *base;
    size_t stride, size; /* of a number */
    int64_t rows;
    const dls_table_layout *layout; /* of a table, whose numbers are of many sizes */
} thing;

typedef struct sample {
    int descriptor;
    char path[32];
    uint8_t *file;
    size_t file_size;
    dls_scene *scene;
    stored_table tables[READ_TABLES];
    int wholes[WHOLES];
    double reals[REALS][3];
    stored_texts texts[TEXTS];
    int64_t file_sizes, file_bytes; /* counts */
    void *file_size_values, *file_byte_values;
    int thing_count;
    thing things[MOST_THINGS];
} sample;

static sample samples[SAMPLES];
static const sample *present; /* what stands for the file that is read; NULL: the file itself */

/* ---- HDF5's side of the reader, from memory ---- */

dls_status __real_dls_structure_take(int descriptor, const char *name, dls_structure *structure,
                                     dls_error *error);
bool __real_dls_table_open(dls_table *table, const dls_table_layout *layout, int version, hid_t file,
                           const char **what);
bool __real_dls_table_read(const dls_table *table, int64_t first, int64_t count, void *rows);
dls_status __real_dls_attribute_read_text(hid_t object, const char *name, char **text);
bool __real_dls_attribute_read_reals(hid_t object, const char *name, int count, double *values);
bool __real_dls_attribute_read_int(hid_t object, const char *name, int *value);
dls_status __real_dls_texts_read(hid_t file, const char *path, size_t limit, int *count, char ***texts);
dls_status __real_dls_array_read(hid_t file, const char *path, hid_t type, int64_t limit, int64_t *count,
                                 void **values);
hid_t __real_H5Fopen(const char *name, unsigned flags, hid_t access);
herr_t __real_H5Fclose(hid_t file);
htri_t __real_H5Lexists(hid_t file, const char *name, hid_t access);

dls_status __wrap_dls_structure_take(int descriptor, const char *name, dls_structure *structure,
                                     dls_error *error);
bool __wrap_dls_table_open(dls_table *table, const dls_table_layout *layout, int version, hid_t file,
                           const char **what);
bool __wrap_dls_table_read(const dls_table *table, int64_t first, int64_t count, void *rows);
dls_status __wrap_dls_attribute_read_text(hid_t object, const char *name, char **text);
bool __wrap_dls_attribute_read_reals(hid_t object, const char *name, int count, double *values);
bool __wrap_dls_attribute_read_int(hid_t object, const char *name, int *value);
dls_status __wrap_dls_texts_read(hid_t file, const char *path, size_t limit, int *count, char ***texts);
dls_status __wrap_dls_array_read(hid_t file, const char *path, hid_t type, int64_t limit, int64_t *count,
                                 void **values);
hid_t __wrap_H5Fopen(const char *name, unsigned flags, hid_t access);
herr_t __wrap_H5Fclose(hid_t file);
htri_t __wrap_H5Lexists(hid_t file, const char *name, hid_t access);

enum { NO_FILE = INT32_MAX }; /* a number that HDF5 gives to nothing */

/* A file that is written is what it is, also while one that is read is not. */
hid_t __wrap_H5Fopen(const char *name, unsigned flags, hid_t access) {
    return present && !(flags & H5F_ACC_RDWR) ? NO_FILE : __real_H5Fopen(name, flags, access);
}

herr_t __wrap_H5Fclose(hid_t file) { return file == NO_FILE ? 0 : __real_H5Fclose(file); }

htri_t __wrap_H5Lexists(hid_t file, const char *name, hid_t access) {
    return file == NO_FILE ? present->texts[FILE_NAMES].count > 0 : __real_H5Lexists(file, name, access);
}

/* Blocks of HDF5 have a target of their own. */
dls_status __wrap_dls_structure_take(int descriptor, const char *name, dls_structure *structure,
                                     dls_error *error) {
    if (!present) return __real_dls_structure_take(descriptor, name, structure, error);
    *structure = (dls_structure){0};
    return DLS_OK;
}

bool __wrap_dls_table_open(dls_table *table, const dls_table_layout *layout, int version, hid_t file,
                           const char **what) {
    if (file != NO_FILE) return __real_dls_table_open(table, layout, version, file, what);
    const stored_table *stored = &present->tables[layout - dls_table_layouts];
    *table = (dls_table){.layout = layout,
                         .version = version,
                         .dataset = H5I_INVALID_HID,
                         .type = H5I_INVALID_HID,
                         .rows = stored->rows,
                         .row_size = stored->row_size,
                         .file_row_size = stored->file_row_size,
                         .below = INT64_C(1) << 31};
    *what = stored->rows < 0 ? "a number of rows that cannot be" : NULL;
    return !*what;
}

/* Rows that were announced and not written are as HDF5 fills them. */
bool __wrap_dls_table_read(const dls_table *table, int64_t first, int64_t count, void *rows) {
    if (table->dataset >= 0) return __real_dls_table_read(table, first, count, rows);
    const stored_table *stored = &present->tables[table->layout - dls_table_layouts];
    if (first < 0 || count < 0 || count > table->rows - first) abort();
    for (int64_t k = 0; k < count; k++) {
        char *row = (char *)rows + (size_t)k * table->row_size;
        if (first + k < stored->there) {
            memcpy(row, stored->bytes + (size_t)(first + k) * table->row_size, table->row_size);
            continue;
        }
        memset(row, 0, table->row_size);
        if (table->layout->is_marked) memcpy(row, &(int64_t){-1}, sizeof(int64_t));
    }
    return true;
}

static int index_of(const char *const *names, int count, const char *name) {
    for (int k = 0; k < count; k++)
        if (!strcmp(names[k], name)) return k;
    return -1;
}

dls_status __wrap_dls_attribute_read_text(hid_t object, const char *name, char **text) {
    if (object != NO_FILE) return __real_dls_attribute_read_text(object, name, text);
    int k = index_of(text_names, ATTRIBUTE_TEXTS, name);
    const char *bytes = k < 0 ? DLS_RESULTS_FORMAT : present->texts[k].bytes;
    size_t size = k < 0 ? strlen(bytes) : present->texts[k].longest;
    if (!(*text = dls_alloc_zero(size + 1, 1))) return DLS_ERROR_MEMORY;
    memcpy(*text, bytes, size);
    return DLS_OK;
}

bool __wrap_dls_attribute_read_int(hid_t object, const char *name, int *value) {
    if (object != NO_FILE) return __real_dls_attribute_read_int(object, name, value);
    *value = present->wholes[index_of(whole_names, WHOLES, name)];
    return true;
}

bool __wrap_dls_attribute_read_reals(hid_t object, const char *name, int count, double *values) {
    if (object != NO_FILE) return __real_dls_attribute_read_reals(object, name, count, values);
    for (int k = 0; k < REALS; k++)
        if (!strcmp(reals[k].name, name)) memcpy(values, present->reals[k], sizeof(double) * (size_t)count);
    return true;
}

dls_status __wrap_dls_texts_read(hid_t file, const char *path, size_t limit, int *count, char ***texts) {
    if (file != NO_FILE) return __real_dls_texts_read(file, path, limit, count, texts);
    const stored_texts *stored = &present->texts[index_of(text_names, TEXTS, path)];
    char **block = dls_alloc_zero((size_t)stored->count, stored->longest + 1 + sizeof(char *));
    if (!block) return DLS_ERROR_MEMORY;
    for (int k = 0; k < stored->count; k++) {
        block[k] = (char *)(block + stored->count) + (size_t)k * (stored->longest + 1);
        memcpy(block[k], stored->bytes + (size_t)k * stored->longest, stored->longest);
    }
    *count = stored->count;
    *texts = block;
    return DLS_OK;
}

dls_status __wrap_dls_array_read(hid_t file, const char *path, hid_t type, int64_t limit, int64_t *count,
                                 void **values) {
    if (file != NO_FILE) return __real_dls_array_read(file, path, type, limit, count, values);
    bool is_sizes = !strcmp(path, "file_sizes");
    int64_t there = is_sizes ? present->file_sizes : present->file_bytes;
    size_t size = (size_t)there * (is_sizes ? sizeof(int64_t) : 1);
    if (there > limit || (*count >= 0 && *count != there)) return DLS_ERROR_FILE;
    if (!(*values = dls_alloc(size + 8, 1))) return DLS_ERROR_MEMORY;
    *count = there;
    memcpy(*values, is_sizes ? present->file_size_values : present->file_byte_values, size);
    return DLS_OK;
}

/* ---- the samples ---- */

static void add_thing(sample *s, void *base, size_t stride, size_t number, int64_t rows) {
    s->things[s->thing_count++] = (thing){base, stride, number, rows, NULL};
}

static void load_table(sample *s, hid_t file, int k) {
    const dls_table_layout *layout = &dls_table_layouts[k];
    stored_table *stored = &s->tables[k];
    const char *what;
    dls_table table;
    if (!dls_table_open(&table, layout, DLS_RESULTS_FORMAT_VERSION, file, &what)) abort();
    *stored = (stored_table){table.rows, table.rows, table.row_size, table.file_row_size, NULL};
    stored->bytes = calloc((size_t)table.rows + 1, table.row_size);
    if (!dls_table_read(&table, 0, table.rows, stored->bytes)) abort();
    dls_table_close(&table);
    add_thing(s, stored->bytes, stored->row_size, 1, stored->there);
    if (layout->cells[0].type != DLS_CELL_TEXT) s->things[s->thing_count - 1].layout = layout;
}

static void load_texts(sample *s, hid_t file, int k) {
    stored_texts *stored = &s->texts[k];
    char **texts = NULL, *text = NULL;
    stored->count = 1;
    if (k < ATTRIBUTE_TEXTS ? dls_attribute_read_text(file, text_names[k], &text)
                            : dls_texts_read(file, text_names[k], 1 << 20, &stored->count, &texts))
        stored->count = 0;
    for (int i = 0; i < stored->count; i++) {
        size_t size = strlen(text ? text : texts[i]) + 8; /* room to grow */
        stored->longest = size > stored->longest ? size : stored->longest;
    }
    stored->bytes = calloc((size_t)stored->count + 1, stored->longest + 1);
    for (int i = 0; i < stored->count; i++)
        strcpy(stored->bytes + (size_t)i * stored->longest, text ? text : texts[i]);
    add_thing(s, stored->bytes, 1, 1, stored->count * (int64_t)stored->longest);
    dls_free(texts);
    dls_free(text);
}

static void load_files(sample *s, hid_t file) {
    s->file_sizes = s->file_bytes = -1;
    if (dls_array_read(file, "file_sizes", H5T_NATIVE_INT64, 1 << 20, &s->file_sizes, &s->file_size_values) ||
        dls_array_read(file, "file_bytes", H5T_NATIVE_UINT8, 1 << 20, &s->file_bytes, &s->file_byte_values))
        s->file_sizes = s->file_bytes = 0;
    add_thing(s, s->file_size_values, sizeof(int64_t), sizeof(int64_t), s->file_sizes);
    add_thing(s, s->file_byte_values, 1, 1, s->file_bytes);
}

static void load(sample *s, const char *path) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int k = 0; k < READ_TABLES; k++) load_table(s, file, k);
    add_thing(s, &s->tables[0].rows, sizeof *s->tables, sizeof(int64_t), READ_TABLES);
    for (int k = 0; k < WHOLES; k++)
        if (!dls_attribute_read_int(file, whole_names[k], &s->wholes[k])) abort();
    add_thing(s, s->wholes, sizeof(int), sizeof(int), WHOLES);
    for (int k = 0; k < REALS; k++)
        if (!dls_attribute_read_reals(file, reals[k].name, reals[k].count, s->reals[k])) abort();
    add_thing(s, s->reals, sizeof(double), sizeof(double), REALS * 3);
    for (int k = 0; k < TEXTS; k++) load_texts(s, file, k);
    load_files(s, file);
    H5Fclose(file);
}

/* Texts of scenes may ask for much: memory for that runs out. */
static bool is_out_of_memory;

static void *allocate(size_t bytes, void *user) {
    (void)user;
    if (bytes <= 1 << 20) return malloc(bytes);
    is_out_of_memory = true;
    return NULL;
}
static void release(void *block, void *user) {
    (void)user;
    free(block);
}

static void begin(void) {
    if (samples[0].path[0]) return;
    sample_begin();
    for (int k = 0; k < SAMPLES; k++) {
        sample *s = &samples[k];
        char path[64];
        snprintf(path, sizeof path, "%s/sample.h5", sample_folder);
        sample_run(k, path);
        load(s, path);
        s->file = sample_bytes(path, &s->file_size);
        s->descriptor = sample_file(s->file, s->file_size, s->path);
        sample_empty_folder();
        s->scene = sample_scene(k);
    }
    dls_allocator_set(&(dls_allocator){allocate, release, NULL});
}

/* ---- what is done with them ---- */

/* Fails in one line, and for memory only where much was asked for. */
static bool is_refused(dls_status status, const dls_error *error) {
    if (!status) return false;
    require(error->status == status, "another status", error);
    require(status != DLS_ERROR_MEMORY || is_out_of_memory, "out of memory", error);
    require(strlen(error->message) > 0 && !strchr(error->message, '\n'), "not one line", error);
    return true;
}

typedef struct frame {
    dls_body_state *states;
    bool *present;
    dls_pose *poses;
    dls_contact_record *contacts;
    dls_joint_record *joints;
} frame;

static bool frame_read(dls_results *r, int index, frame *f) {
    size_t bodies = (size_t)dls_results_body_count(r) + 1;
    int contacts = dls_results_frame_contact_count(r, index);
    dls_error error = {0};
    *f = (frame){calloc(bodies, sizeof *f->states), calloc(bodies, sizeof *f->present),
                 calloc(bodies, sizeof *f->poses), calloc((size_t)contacts + 1, sizeof *f->contacts),
                 calloc((size_t)dls_results_frame_joint_count(r, index) + 1, sizeof *f->joints)};
    int refused = is_refused(dls_results_frame_states(r, index, f->states, f->present, &error), &error);
    refused += is_refused(dls_results_frame_poses(r, index, f->poses, &error), &error);
    refused += is_refused(dls_results_frame_contacts(r, index, f->contacts, &error), &error);
    refused += is_refused(dls_results_frame_joints(r, index, f->joints, &error), &error);
    return refused == 0;
}

static void frame_free(frame *f) {
    free(f->states);
    free(f->present);
    free(f->poses);
    free(f->contacts);
    free(f->joints);
}

static void read_frames(dls_results *r) {
    for (int k = 0; k < dls_results_frame_count(r); k++) {
        frame f;
        frame_read(r, k, &f);
        frame_free(&f);
    }
}

/* All that a picture shows, up to where it is drawn. */
static void gather_picture(dls_results *r) {
    frame f;
    int last = dls_results_frame_count(r) - 1;
    picture_items items;
    picture p = {.dimension = dls_results_dimension(r),
                 .body_count = dls_results_body_count(r),
                 .results = r,
                 .contact_count = dls_results_frame_contact_count(r, last),
                 .time = dls_results_frame_time(r, last),
                 .title = dls_results_title(r),
                 .width_inches = 5};
    dls_joint_id *joints = calloc((size_t)dls_results_frame_joint_count(r, last) + 1, sizeof *joints);
    p.joints = joints;
    if (last >= 0 && frame_read(r, last, &f)) {
        for (int k = 0; k < dls_results_frame_joint_count(r, last); k++) {
            const dls_body_id *body = f.joints[k].body;
            bool here = (body[0] < 0 || f.present[body[0]]) && (body[1] < 0 || f.present[body[1]]);
            if (here) joints[p.joint_count++] = f.joints[k].joint;
        }
        p.states = f.states;
        p.present = f.present;
        p.contacts = f.contacts;
        picture_view_find("iso", &p.view);
        picture_items_gather(&p, &items);
        picture_items_free(&items);
    }
    if (last >= 0) frame_free(&f);
    free(joints);
}

static void read_steps(dls_results *r) {
    int64_t count = dls_results_step_count(r);
    dls_step_report *reports = calloc((size_t)count + 1, sizeof *reports);
    dls_error error = {0};
    if (!is_refused(dls_results_steps(r, 0, count, reports, &error), &error))
        for (int64_t k = 0; k < count; k++)
            require(dls_outcome_name(reports[k].outcome) && (int)reports[k].certified <= 1, "a step", &error);
    free(reports);
}

/* What `info` tells. */
static void read_facts(dls_results *r) {
    dls_error error = {0};
    dls_run_summary summary;
    int count;
    const dls_file *files;
    size_t letters = strlen(dls_results_title(r)) + strlen(dls_results_scene_text(r)) +
                     strlen(dls_results_version(r)) + strlen(dls_results_solver(r)) +
                     strlen(dls_results_solver_options(r));
    for (int k = 0; k < dls_results_setting_count(r); k++) letters += strlen(dls_results_setting(r, k));
    for (int k = 0; k < dls_results_body_count(r); k++) letters += strlen(dls_results_body_name(r, k));
    for (int k = 0; k < dls_results_joint_count(r); k++) {
        dls_joint_def def;
        require(!dls_results_joint(r, k, &def, &error) && dls_joint_kind_name(def.kind)[0], "a joint",
                &error);
        letters += strlen(dls_results_joint_name(r, k));
    }
    dls_results_finished(r, &summary);
    if (!is_refused(dls_results_files(r, &count, &files, &error), &error))
        for (int k = 0; k < count; k++) letters += strlen(files[k].name) + files[k].size;
    require(letters < 1 << 20, "more letters than there are", &error);
}

static void make_problem(dls_results *r) {
    dls_problem *problem = NULL;
    dls_error error = {0};
    is_refused(dls_results_problem(r, dls_results_frame_count(r) - 1, &problem, &error), &error);
    dls_problem_destroy(problem);
}

static void export_csv(dls_results *r) {
    dls_error error = {0};
    is_refused(dls_results_export_csv(r, sample_folder, &error), &error);
    sample_empty_folder();
}

static void export_vtk(dls_results *r) {
    dls_error error = {0};
    is_refused(dls_results_export_vtk(r, sample_folder, &error), &error);
    sample_empty_folder();
}

/* A run goes on: what is kept is copied to a new file, and told in its XDMF. */
static void go_on(dls_results *r) {
    char path[64];
    dls_results_writer *writer = NULL;
    dls_error error = {0};
    int64_t steps = dls_results_step_count(r);
    snprintf(path, sizeof path, "%s/old.h5", sample_folder);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(present->file, 1, present->file_size, file) != present->file_size) abort();
    fclose(file);
    if (!is_refused(
            dls_results_continue_frames(path, dls_scene_world(present->scene), steps, true, &writer, &error),
            &error))
        is_refused(dls_results_close(writer, NULL, &error), &error);
    sample_empty_folder();
}

static void measure(dls_results *r, const char *name, const dls_analysis_options *options) {
    dls_analysis *analysis = NULL;
    dls_error error = {0};
    is_refused(dls_analysis_create(r, name, options, &analysis, &error), &error);
    dls_analysis_destroy(analysis);
}

/* The hull about all bodies is most of the work of every mean that is taken over it: one of them will do. */
static void measure_hull(dls_results *r) { measure(r, "fraction", NULL); }

static void measure_box(dls_results *r, int index) {
    dls_analysis_options options = dls_default_analysis_options();
    options.has_region = true;
    for (int k = 0; k < 3; k++) options.region_low[k] = -0.1, options.region_high[k] = 0.4;
    options.has_plane = true, options.plane_normal[1] = 1;
    measure(r, dls_analysis_measure_at(index)->name, &options);
}

/* One use: all of them would take too long. */
static void use(const char *path, int which) {
    static void (*const uses[])(dls_results *) = {read_frames,  read_steps,     read_facts,
                                                  make_problem, export_csv,     export_vtk,
                                                  go_on,        gather_picture, measure_hull};
    enum { USES = sizeof uses / sizeof *uses };
    dls_results *r = NULL;
    dls_error error = {0};
    if (is_refused(dls_results_open(path, &r, &error), &error)) {
        require(!r, "failed and opened it", &error);
        return;
    }
    which %= USES + dls_analysis_measure_count();
    if (which < USES)
        uses[which](r);
    else
        measure_box(r, which - USES);
    dls_results_destroy(r);
}

/* ---- numbers ---- */

enum { RECORD = 12, MOST_RECORDS = 32 };

typedef struct change {
    char *at;
    size_t size;
    uint8_t before[8];
} change;

static size_t cell_size(dls_cell_type type) {
    return type == DLS_CELL_BOOL                                                          ? 1
           : type == DLS_CELL_INT16                                                       ? 2
           : type == DLS_CELL_INT64 || type == DLS_CELL_UINT64 || type == DLS_CELL_DOUBLE ? 8
                                                                                          : 4;
}

/* A plain table is one column, which begins with the row. */
static void find_cell(const thing *t, const uint8_t *record, change *c) {
    const dls_cell *cell = &t->layout->cells[record[1] % t->layout->cell_count];
    c->size = cell_size(cell->type);
    c->at = t->base + (size_t)(record[2] % t->rows) * t->stride +
            (t->layout->is_compound ? cell->offset : 0) + (size_t)(record[3] % cell->width) * c->size;
}

/* Of texts as many letters as a number has bytes, as far as they go. */
static void find_number(const thing *t, const uint8_t *record, change *c) {
    int64_t row = (record[2] + 256 * record[3]) % t->rows;
    size_t left = t->size == 1 ? (size_t)(t->rows - row) : t->size;
    c->at = t->base + (size_t)row * t->stride;
    c->size = left < 8 ? left : 8;
}

static bool put_number(const sample *s, const uint8_t *record, change *c) {
    const thing *t = &s->things[record[0] % s->thing_count];
    if (t->rows == 0) return false;
    if (t->layout)
        find_cell(t, record, c);
    else
        find_number(t, record, c);
    memcpy(c->before, c->at, c->size);
    memcpy(c->at, record + 4, c->size);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    change changes[MOST_RECORDS];
    int count = 0;
    begin();
    if (size < 1) return 0;
    is_out_of_memory = false;
    present = &samples[data[0] % SAMPLES];
    for (size_t at = 1; at + RECORD <= size && count < MOST_RECORDS; at += RECORD)
        count += put_number(present, data + at, &changes[count]);
    use(present->path, data[0] / SAMPLES);
    while (count-- > 0) memcpy(changes[count].at, changes[count].before, changes[count].size);
    return 0;
}

/* Bytes at random seldom make a number that can be. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    static const double numbers[] = {0,    -1,    1,     0.5,  1e-300, 1e-60, 1e-9,     1e9,
                                     1e16, -1e16, 0.999, 1e59, -1e59,  1e300, INFINITY, NAN};
    static const int64_t wholes[] = {0, 1, 2, 3, 5, 9, -1, 255, 1 << 30, INT32_MAX, INT64_MAX};
    const int count = sizeof numbers / sizeof *numbers, whole_count = sizeof wholes / sizeof *wholes;
    unsigned choice = seed >> 3;
    if (seed % 4 == 0 || size < 1 || room < 1 + RECORD) return LLVMFuzzerMutate(data, size, room);
    size_t records = (size - 1) / RECORD, at = records ? choice % (records + 1) : 0;
    if (at == records && 1 + (records + 1) * RECORD > room) at = 0;
    uint8_t *record = data + 1 + at * RECORD;
    if (at == records) { /* a new one */
        for (int k = 0; k < 4; k++) record[k] = (uint8_t)(choice >> 5 * k);
        size = 1 + (records + 1) * RECORD;
    }
    if (seed % 4 == 3)
        memcpy(record + 4, &wholes[choice / 7 % (unsigned)whole_count], sizeof *wholes);
    else
        memcpy(record + 4, &numbers[choice / 7 % (unsigned)count], sizeof *numbers);
    if (seed % 4 == 2) data[0] = (uint8_t)(choice >> 11);
    return size;
}
