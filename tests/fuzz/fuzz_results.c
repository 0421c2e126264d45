/* Numbers put into a sound results file: refused in one line where they are read, or measured, exported and
 * made into a problem like any other.
 *
 * The first byte chooses the file and one of the uses of it; each 12 bytes after it are table, column, row,
 * place in the row, and the number as the file has it. HDF5's own bytes stay as they are. */
#define _GNU_SOURCE
#include "output/results/layout.h"

#include <delassus/analysis.h>
#include <delassus/run.h>

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size,
                                              size_t room); /* in a fuzzer, not in a replay */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static void require(bool holds, const char *what, const dls_error *error) {
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, error->message);
    abort();
}

/* Fails in one line, and not for memory: nothing here is large. */
static bool is_refused(dls_status status, const dls_error *error) {
    if (!status) return false;
    require(error->status == status && status != DLS_ERROR_MEMORY, "another status", error);
    require(strlen(error->message) > 0 && !strchr(error->message, '\n'), "not one line", error);
    return true;
}

/* ---- the files ---- */

static const char *const scenes[] = {
    "delassus: 1\ntitle: plane\ndimension: 2\ntime: {step: 0.01, until: 0.02}\n"
    "materials: {clay: {density: 2000, mu: 0.5, cohesion: 1}, ice: {density: 900, mu: 0}}\nbodies:\n"
    "- {motion: static, material: clay, shape: {kind: half-plane}}\n"
    "- {motion: static, material: ice, shape: {kind: chain, points: [[4, 1], [0, -1], [-4, 1]]}}\n"
    "- {material: clay, shape: {kind: disc, radius: 0.1}, position: [0, 0.1]}\n"
    "- {material: clay, shape: {kind: disc, radius: 0.1}, position: [0.2, 0.1]}\n"
    "- {material: ice, shape: {kind: disc, radius: 0.1}, position: [0.1, 0.27]}\n"
    "- {material: clay, shape: {kind: polygon, points: [[-0.1, -0.1], [0.1, -0.1], [0, 0.1]]},"
    " position: [0.5, 0.07]}\n"
    "output: {interval: 0.01}\n",
    "delassus: 1\ntitle: space\ndimension: 3\ntime: {step: 0.01, until: 0.02}\n"
    "materials: {wood: {density: 600, mu: 0.5}}\nbodies:\n"
    "- {motion: static, material: wood, shape: {kind: half-space}}\n"
    "- {motion: static, material: wood, shape: {kind: box-inside, size: [9, 9, 9]}}\n"
    "- {material: wood, shape: {kind: sphere, radius: 0.1}, position: [0, 0, 0.1]}\n"
    "- {material: wood, shape: {kind: box, size: [0.2, 0.2, 0.2]}, position: [0.3, 0, 0.1]}\n"
    "- {material: wood, shape: {kind: capsule, radius: 0.1, length: 0.2}, position: [0.6, 0, 0.2]}\n"
    "- {material: wood, shape: {kind: ellipsoid, size: [0.1, 0.2, 0.1]}, position: [0, 0.5, 0.1]}\n"
    "- {material: wood, shape: {kind: cylinder, radius: 0.1, length: 0.2}, position: [0.3, 0.5, 0.1]}\n"
    "- {material: wood, position: [0.6, 0.5, 0.1], shape: {kind: polyhedron,"
    " points: [[-0.1, -0.1, -0.1], [0.1, -0.1, -0.1], [0, 0.1, -0.1], [0, 0, 0.1]]}}\n"
    "output: {interval: 0.01}\n"};

enum { SCENES = sizeof scenes / sizeof *scenes, MOST_CELLS = 24 };

/* Where the numbers of a table's first chunk lie. */
typedef struct place {
    uint64_t address;
    int rows, row_size, cell_count;
    struct {
        int offset, size, width;
    } cells[MOST_CELLS];
} place;

typedef struct sample {
    int descriptor;
    char path[32];
    place places[DLS_TABLES];
} sample;

static sample samples[SCENES];
static char folder[] = "/tmp/fuzz_results_XXXXXX";

static void add_cell(place *p, hid_t type, size_t offset, int width) {
    int count = width;
    hsize_t several;
    hid_t number = H5Tcopy(type);
    if (H5Tget_class(type) == H5T_ARRAY && H5Tget_array_dims2(type, &several) == 1) {
        count = (int)several;
        H5Tclose(number);
        number = H5Tget_super(type);
    }
    p->cells[p->cell_count].offset = (int)offset;
    p->cells[p->cell_count].size = (int)H5Tget_size(number);
    p->cells[p->cell_count++].width = count;
    H5Tclose(number);
}

static void find_place(hid_t file, int table, place *p) {
    const dls_table_layout *layout = &dls_table_layouts[table];
    hid_t data = H5Dopen2(file, layout->path, H5P_DEFAULT), type = H5Dget_type(data),
          space = H5Dget_space(data), creation = H5Dget_create_plist(data);
    hsize_t extent[2] = {0, 1}, chunk[2] = {0, 1}, bytes, start[2];
    unsigned filters;
    haddr_t address = HADDR_UNDEF;
    H5Sget_simple_extent_dims(space, extent, NULL);
    H5Pget_chunk(creation, 2, chunk);
    if (extent[0] > 0) H5Dget_chunk_info(data, space, 0, start, &filters, &address, &bytes);
    if (address != HADDR_UNDEF) {
        p->address = address;
        p->rows = (int)(extent[0] < chunk[0] ? extent[0] : chunk[0]);
        p->row_size = (int)(H5Tget_size(type) * extent[1]);
        if (!layout->is_compound) add_cell(p, type, 0, (int)extent[1]);
        for (int k = 0; layout->is_compound && k < H5Tget_nmembers(type); k++) {
            hid_t member = H5Tget_member_type(type, (unsigned)k);
            add_cell(p, member, H5Tget_member_offset(type, (unsigned)k), 1);
            H5Tclose(member);
        }
    }
    H5Pclose(creation);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(data);
}

static void copy_bytes(const char *path, sample *s) {
    char buffer[4096];
    FILE *file = fopen(path, "rb");
    s->descriptor = memfd_create("results", 0);
    snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", s->descriptor);
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
        if (write(s->descriptor, buffer, got) != (ssize_t)got) abort();
    fclose(file);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *level) {
    (void)about, (void)kind;
    return level->level > 0 ? remove(path) : 0;
}

static void empty_folder(void) { nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

static void remove_folder(void) {
    empty_folder();
    rmdir(folder);
}

static void make_sample(int k) {
    char path[64];
    dls_scene *scene = NULL;
    dls_error error = {0};
    dls_run_end end;
    snprintf(path, sizeof path, "%s/sample.h5", folder);
    dls_status status =
        dls_scene_read_text(scenes[k], strlen(scenes[k]), "scene", ".", 0, NULL, &scene, &error);
    if (!status) status = dls_run_scene(scene, &(dls_run_def){.results = path}, &end, NULL, NULL, &error);
    require(!status, "no sample", &error);
    dls_scene_destroy(scene);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int table = 0; table <= DLS_TABLE_SUMMARY; table++)
        find_place(file, table, &samples[k].places[table]);
    H5Fclose(file);
    copy_bytes(path, &samples[k]);
    empty_folder();
}

static void begin(void) {
    if (samples[0].path[0]) return;
    if (!mkdtemp(folder)) abort();
    atexit(remove_folder);
    for (int k = 0; k < SCENES; k++) make_sample(k);
}

/* ---- what is done with them ---- */

static void read_frames(dls_results *r) {
    int bodies = dls_results_body_count(r);
    dls_body_state *states = calloc((size_t)bodies + 1, sizeof *states);
    dls_pose *poses = calloc((size_t)bodies + 1, sizeof *poses);
    bool *present = calloc((size_t)bodies + 1, sizeof *present);
    for (int k = 0; k < dls_results_frame_count(r); k++) {
        int count = dls_results_frame_contact_count(r, k);
        dls_contact_record *contacts = calloc((size_t)count + 1, sizeof *contacts);
        dls_error error = {0};
        is_refused(dls_results_frame_states(r, k, states, present, &error), &error);
        is_refused(dls_results_frame_poses(r, k, poses, &error), &error);
        is_refused(dls_results_frame_contacts(r, k, contacts, &error), &error);
        free(contacts);
    }
    free(states);
    free(poses);
    free(present);
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

static void make_problem(dls_results *r) {
    dls_problem *problem = NULL;
    dls_error error = {0};
    is_refused(dls_results_problem(r, dls_results_frame_count(r) - 1, &problem, &error), &error);
    dls_problem_destroy(problem);
}

static void export_csv(dls_results *r) {
    dls_error error = {0};
    is_refused(dls_results_export_csv(r, folder, &error), &error);
    empty_folder();
}

static void export_vtk(dls_results *r) {
    dls_error error = {0};
    is_refused(dls_results_export_vtk(r, folder, &error), &error);
    empty_folder();
}

static void measure(dls_results *r, int index) {
    dls_analysis *analysis = NULL;
    dls_error error = {0};
    const dls_analysis_measure *m = dls_analysis_measure_at(index % dls_analysis_measure_count());
    is_refused(dls_analysis_create(r, m->name, NULL, &analysis, &error), &error);
    dls_analysis_destroy(analysis);
}

/* One use: all of them would take a second. */
static void use(const char *path, int which) {
    static void (*const uses[])(dls_results * r) = {read_frames, read_steps, make_problem, export_csv,
                                                    export_vtk};
    enum { USES = sizeof uses / sizeof *uses };
    dls_results *r = NULL;
    dls_error error = {0};
    if (is_refused(dls_results_open(path, &r, &error), &error)) {
        require(!r, "failed and opened it", &error);
        return;
    }
    if (which < USES)
        uses[which](r);
    else
        measure(r, which - USES);
    dls_results_destroy(r);
}

/* ---- numbers ---- */

enum { RECORD = 12, MOST_RECORDS = 32 };

typedef struct change {
    off_t address;
    int size;
    uint8_t before[8];
} change;

static bool put_number(const sample *s, const uint8_t *record, change *c) {
    const place *p = &s->places[record[0] % (DLS_TABLE_SUMMARY + 1)];
    if (p->rows == 0) return false;
    int cell = record[1] % p->cell_count, width = p->cells[cell].width;
    c->size = p->cells[cell].size < 8 ? p->cells[cell].size : 8;
    c->address = (off_t)p->address + (off_t)(record[2] % p->rows) * p->row_size + p->cells[cell].offset +
                 (off_t)(record[3] % width) * p->cells[cell].size;
    return pread(s->descriptor, c->before, (size_t)c->size, c->address) == c->size &&
           pwrite(s->descriptor, record + 4, (size_t)c->size, c->address) == c->size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    change changes[MOST_RECORDS];
    int count = 0;
    begin();
    if (size < 1) return 0;
    const sample *s = &samples[data[0] % SCENES];
    for (size_t at = 1; at + RECORD <= size && count < MOST_RECORDS; at += RECORD)
        count += put_number(s, data + at, &changes[count]);
    use(s->path, data[0] / SCENES);
    while (count-- > 0)
        if (pwrite(s->descriptor, changes[count].before, (size_t)changes[count].size,
                   changes[count].address) != changes[count].size)
            abort();
    return 0;
}

/* Bytes at random seldom make a number that can be. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    static const double reals[] = {0,    -1,    1,     0.5,  1e-300, 1e-60, 1e-9,     1e9,
                                   1e16, -1e16, 0.999, 1e59, -1e59,  1e300, INFINITY, NAN};
    static const int64_t wholes[] = {0, 1, 2, 3, 5, 9, -1, 255, 1 << 30, INT32_MAX, INT64_MAX};
    const int count = sizeof reals / sizeof *reals, whole_count = sizeof wholes / sizeof *wholes;
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
        memcpy(record + 4, &reals[choice / 7 % (unsigned)count], sizeof *reals);
    if (seed % 4 == 2) data[0] = (uint8_t)(choice >> 11);
    return size;
}
