/* Results files whose structure is forged, under checksums that are right: every reader answers, in one line
 * where it refuses. */
#include "output/results/layout.h"
#include "support/forge.h"
#include "support/results_edit.h"
#include "support/scale.h"
#include "support/small_run.h"
#include "support/test.h"

#include <delassus/analysis.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES = 105, SECONDS = 10 };

/* What children tell. */
typedef struct told {
    int number, read, refused;
    char message[600];
} told;

static told *shared;

/* ---- sound files ---- */

/* Many frames, so that chunks lie in data blocks; a title that fits no block of a heap, or one that makes a
 * heap of several blocks. */
static void write_run(const char *path, int dimension, size_t title_length) {
    static const dls_file files[] = {{"a.obj", "abc", 3}, {"b.obj", "defg", 4}};
    small_run run = small_run_create(dimension);
    dls_results_def def = small_run_def();
    dls_results_writer *writer;
    dls_error error = {0};
    char *title = malloc(title_length + 1);
    memset(title, 't', title_length);
    title[title_length] = '\0';
    def.title = title;
    def.contacts = true;
    def.file_count = 2;
    def.files = files;
    if (dls_results_create(path, run.world, &def, &writer, &error)) fail_msg("%s", error.message);
    for (int k = 0; k < FRAMES; k++) {
        dls_step_report report = small_run_step(&run);
        if (dls_results_add_step(writer, &report, &error) ||
            dls_results_add_frame(writer, run.simulation, &error))
            fail_msg("%s", error.message);
    }
    dls_run_summary summary = dls_simulation_summary(run.simulation);
    if (dls_results_close(writer, &summary, &error)) fail_msg("%s", error.message);
    small_run_destroy(&run);
    free(title);
}

static forge_sample *make_sample(const char *path, int dimension, size_t title_length, const char *lacks) {
    forge_sample *s = calloc(1, sizeof *s);
    long size;
    write_run(path, dimension, title_length);
    s->bytes = results_load(path, &size);
    s->size = (size_t)size;
    forge_find(s, lacks);
    return s;
}

/* ---- forging ---- */

static uint64_t address_of_interest(const forge_sample *s) {
    uint64_t size = s->size;
    const uint64_t others[] = {0,        1,        8,          48,        size,       size - 1,
                               size - 8, size / 2, UINT64_MAX, INT64_MAX, 1ull << 32, 1ull << 40};
    int choice = rand() % 3;
    if (choice == 0) return s->blocks[rand() % s->block_count].begin;
    if (choice == 1) return (uint64_t)rand() % size;
    return others[(size_t)rand() % (sizeof others / sizeof *others)];
}

static void forge_once(const forge_sample *s, uint8_t *bytes) {
    const forge_block *b = &s->blocks[rand() % s->block_count], *other = &s->blocks[rand() % s->block_count];
    size_t at = b->begin + (size_t)rand() % b->size, left = b->begin + b->size - at,
           from = other->begin + (size_t)rand() % other->size;
    uint64_t value = address_of_interest(s);
    size_t width = (size_t)1 << rand() % 4, rest = other->begin + other->size - from;
    switch (rand() % 6) {
    case 0: /* an address of a block */
        memcpy(bytes + s->fields[rand() % s->field_count], &value, 8);
        break;
    case 1: /* a number */
        memcpy(bytes + at, &value, width < left ? width : left);
        break;
    case 2: /* a number that is nearly right */
        bytes[at] = (uint8_t)(bytes[at] + 1 - 2 * (rand() % 2));
        break;
    case 3:
        bytes[at] ^= (uint8_t)(1 << rand() % 8);
        break;
    case 4: /* part of another block */
        rest = rest < left ? rest : left;
        memmove(bytes + at, s->bytes + from, rest < 64 ? rest : 64);
        break;
    default:
        bytes[at] = (uint8_t)rand();
    }
}

static void forge(const forge_sample *s, uint8_t *bytes, int number) {
    srand((unsigned)number);
    memcpy(bytes, s->bytes, s->size);
    for (int k = 1 + rand() % 3; k > 0; k--) forge_once(s, bytes);
    forge_seal(s, bytes);
}

/* A block is torn, and a record at the file's end has some blocks of a forgery, or is itself forged. */
static uint8_t *forge_record(const forge_sample *s, int number, size_t *size) {
    uint8_t *bytes = malloc(s->size);
    dls_journal journal = {0};
    forge(s, bytes, number);
    const forge_block *torn = &s->blocks[rand() % s->block_count];
    bool is_lying = rand() % 3 == 0;
    for (int k = 0; k < s->block_count; k++) {
        const forge_block *b = &s->blocks[k];
        if (b == torn || rand() % 2)
            assert_non_null(dls_journal_add(&journal, b->begin, b->size + 4, bytes + b->begin));
    }
    for (int k = 0; k < 4 && is_lying; k++) journal.bytes[rand() % journal.used] = (uint8_t)rand();
    assert_true(dls_journal_seal(&journal));
    *size = s->size + (size_t)journal.used;
    bytes = realloc(bytes, *size);
    memcpy(bytes, s->bytes, s->size);
    bytes[torn->begin + 5] ^= 255;
    memcpy(bytes + s->size, journal.bytes, (size_t)journal.used);
    dls_journal_free(&journal);
    return bytes;
}

/* ---- readers ---- */

static void judge(dls_status status, const dls_error *error) {
    if (!status) return;
    if (error->status != status || !error->message[0] || strchr(error->message, '\n')) {
        snprintf(shared->message, sizeof shared->message, "a bad message: %s", error->message);
        _exit(1);
    }
}

static void read_frames(dls_results *r) {
    dls_error error = {0};
    size_t bodies = (size_t)dls_results_body_count(r) + 1;
    dls_body_state *states = calloc(bodies, sizeof *states);
    for (int k = 0; k < dls_results_frame_count(r); k++) {
        int count = dls_results_frame_contact_count(r, k);
        dls_contact_record *contacts = calloc((size_t)count + 1, sizeof *contacts);
        judge(dls_results_frame_states(r, k, states, NULL, &error), &error);
        judge(dls_results_frame_contacts(r, k, contacts, &error), &error);
        free(contacts);
    }
    free(states);
}

static void read_rest(dls_results *r) {
    const dls_file *files;
    dls_step_report report;
    dls_analysis *analysis = NULL;
    dls_error error = {0};
    int count;
    judge(dls_results_files(r, &count, &files, &error), &error);
    for (int64_t k = 0; k < dls_results_step_count(r); k++)
        judge(dls_results_steps(r, k, 1, &report, &error), &error);
    judge(dls_analysis_create(r, "coordination", NULL, &analysis, &error), &error);
    dls_analysis_destroy(analysis);
    judge(dls_results_export_csv(r, "forged_csv", &error), &error);
}

static void use(const char *path, const dls_world *world) {
    dls_results *r;
    dls_error error = {0};
    dls_results_writer *writer;
    dls_status status = dls_results_open(path, &r, &error);
    judge(status, &error);
    shared->refused += status != DLS_OK;
    if (status) return;
    int64_t steps = dls_results_step_count(r);
    shared->read++;
    read_frames(r);
    if (shared->number % 8 == 0) read_rest(r);
    dls_results_destroy(r);
    if (shared->number % 4) return;
    status = dls_results_continue(path, world, steps, &writer, &error);
    judge(status, &error);
    if (!status) judge(dls_results_close(writer, NULL, &error), &error);
}

/* In a process of its own, which has some seconds for each file; HDF5 loses memory on the way. */
static int run_child(const forge_sample *s, int dimension, bool by_record, int first, int end) {
    int status;
    static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    pid_t child = fork();
    if (child == 0) {
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) signal(ends[k], SIG_DFL); /* not cmocka's */
        small_run run = small_run_create(dimension);
        for (int k = first; k < end; k++) {
            size_t size = s->size;
            uint8_t *bytes = by_record ? forge_record(s, k, &size) : malloc(s->size);
            shared->number = k;
            if (!by_record) forge(s, bytes, k);
            results_save("forged.h5", bytes, (long)size);
            free(bytes);
            alarm(SECONDS);
            use("forged.h5", run.world);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void forge_many(const char *path, int dimension, size_t title_length, const char *lacks,
                       bool by_record, int count) {
    enum { BATCH = 100 };
    forge_sample *s = make_sample(path, dimension, title_length, lacks);
    int broken = 0;
    *shared = (told){0};
    for (int first = 0; first < count; first += BATCH) {
        int end = first + BATCH < count ? first + BATCH : count;
        while (first < end) {
            int status = run_child(s, dimension, by_record, first, end);
            if (status == 0) break;
            print_message("forgery %d: ended with %x %s\n", shared->number, status, shared->message);
            shared->message[0] = '\0';
            broken++;
            first = shared->number + 1;
        }
        first = end - BATCH;
    }
    print_message("%d blocks, %d addresses: %d read, %d refused, %d broke a reader\n", s->block_count,
                  s->field_count, shared->read, shared->refused, broken);
    assert_int_equal(broken, 0);
    assert_true(shared->read > 0 && shared->refused > 0);
    free(s->bytes);
    free(s);
}

static void test_space(void **state) {
    (void)state;
    forge_many("space.h5", 3, 900, "EASB", false, scaled(1100, 60));
}

static void test_plane(void **state) {
    (void)state;
    forge_many("plane.h5", 2, 5000, "EASB EADB FHIB", false, scaled(1100, 60));
}

static void test_records(void **state) {
    (void)state;
    forge_many("record.h5", 2, 900, "EASB EADB", true, scaled(400, 40));
}

/* ---- one number each ---- */

/* The n-th block of a kind. */
static const forge_block *block_of(const forge_sample *s, const char *kind, int n) {
    for (int k = 0; k < s->block_count; k++)
        if (!memcmp(s->bytes + s->blocks[k].begin, kind, 4) && n-- == 0) return &s->blocks[k];
    fail_msg("no block %s", kind);
    return NULL;
}

/* Place of a text in a block of a kind. */
static size_t place_of(const forge_sample *s, const char *kind, const char *text) {
    for (int k = 0; k < s->block_count; k++) {
        const forge_block *b = &s->blocks[k];
        if (memcmp(s->bytes + b->begin, kind, 4)) continue;
        for (size_t at = b->begin; at + strlen(text) + 1 <= b->begin + b->size; at++)
            if (!memcmp(s->bytes + at, text, strlen(text) + 1)) return at;
    }
    fail_msg("no %s", text);
    return 0;
}

static void expect(const forge_sample *s, size_t at, size_t width, uint64_t value, const char *words) {
    uint8_t *bytes = malloc(s->size);
    dls_results *r;
    dls_error error = {0};
    memcpy(bytes, s->bytes, s->size);
    memcpy(bytes + at, &value, width);
    forge_seal(s, bytes);
    results_save("forged.h5", bytes, (long)s->size);
    dls_status status = dls_results_open("forged.h5", &r, &error);
    if (status != DLS_ERROR_FILE || !strstr(error.message, words))
        fail_msg("%zu: %d '%s', expected %s", at, status, error.message, words);
    free(bytes);
}

static void test_one_number(void **state) {
    (void)state;
    forge_sample *s = make_sample("one.h5", 2, 20, "EASB EADB FHIB");
    size_t array = block_of(s, "EAHD", 0)->begin, index = block_of(s, "EAIB", 0)->begin,
           leaf = block_of(s, "BTLF", 0)->begin, heap = block_of(s, "FRHP", 0)->begin,
           member = place_of(s, "OHDR", "state_start") + sizeof "state_start",
           format = place_of(s, "FHDB", "format") + sizeof "format", root = 36;
    uint64_t chunk = check_number(s->bytes + index + 14, 8);
    expect(s, root, 8, s->size - 20, "object");
    expect(s, root, 8, index, "object header");
    expect(s, member, 1, 0xf0, "datatype"); /* a column beyond its row */
    expect(s, member, 1, 0, "datatype");    /* one over another */
    expect(s, array + 44, 8, 1ull << 40, "number of chunks");
    expect(s, array + 60, 8, s->size, "index of chunks");
    expect(s, index + 6, 8, 48, "index of chunks");
    expect(s, index + 14, 8, s->size - 1, "chunk");
    expect(s, index + 14, 8, UINT64_MAX, "rows without chunks");
    expect(s, index + 22, 8, chunk, "overlapping structures");
    expect(s, index + 22, 8, array, "overlapping structures");
    expect(s, leaf + 6 + 6, 2, 0x7fff, "place of a message in a heap");
    expect(s, leaf + 6 + 1, 2, 0x7fff, "place of a message in a heap");
    expect(s, heap + 132, 8, s->size - 100, "block of a heap");
    expect(s, format + 4, 4, 60000, "value of an attribute");
    expect(s, format, 1, 0x17, "kind of an attribute");
    free(s->bytes);
    free(s);
}

/* A record that is not whole is none: what is torn stays so. */
static void test_damaged_record(void **state) {
    (void)state;
    forge_sample *s = make_sample("torn.h5", 2, 20, "EASB EADB FHIB");
    for (int k = 0; k < 3; k++) { /* sound, a byte of its entries, a byte of its end */
        dls_journal journal = {0};
        dls_results *r = NULL;
        const forge_block *b = block_of(s, "OHDR", 5);
        assert_non_null(dls_journal_add(&journal, b->begin, b->size + 4, s->bytes + b->begin));
        assert_true(dls_journal_seal(&journal));
        size_t size = s->size + (size_t)journal.used;
        uint8_t *bytes = malloc(size);
        memcpy(bytes, s->bytes, s->size);
        memcpy(bytes + s->size, journal.bytes, (size_t)journal.used);
        bytes[b->begin + 9] ^= 1;
        if (k > 0) bytes[k == 1 ? s->size + 16 + b->size / 2 : size - 12] ^= 1;
        results_save("forged.h5", bytes, (long)size);
        assert_int_equal(dls_results_open("forged.h5", &r, NULL), k ? DLS_ERROR_FILE : DLS_OK);
        dls_results_destroy(r);
        dls_journal_free(&journal);
        free(bytes);
    }
    free(s->bytes);
    free(s);
}

/* ---- many chunks ---- */

enum { ROWS = 140000 };

/* A table of a row in each chunk, with super blocks and pages in their index. */
static void write_table(const char *path) {
    dls_output_device device = {.descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666)};
    hid_t access = dls_driver_access(&device), file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    dls_table table;
    static int32_t numbers[ROWS];
    for (int k = 0; k < ROWS; k++) numbers[k] = 7 * k;
    assert_true(dls_table_create(&table, &dls_table_layouts[DLS_TABLE_INDEX], file, 1, 0));
    for (int k = 0; k < ROWS; k += 1000) assert_true(dls_table_append(&table, 1000, numbers + k));
    dls_table_close(&table);
    assert_true(H5Fclose(file) >= 0 && !device.is_dead);
    H5Pclose(access);
    close(device.descriptor);
}

static void test_many_chunks(void **state) {
    (void)state;
    static int32_t numbers[ROWS];
    dls_structure structure;
    dls_table table;
    dls_error error = {0};
    const char *what;
    write_table("chunks.h5");
    dls_output_device device = {.descriptor = open("chunks.h5", O_RDONLY), .structure = &structure};
    if (dls_structure_take(device.descriptor, "chunks.h5", &structure, &error)) fail_msg("%s", error.message);
    hid_t access = dls_driver_access(&device), file = H5Fopen("chunks.h5", H5F_ACC_RDONLY, access);
    assert_true(file >= 0);
    if (!dls_table_open(&table, &dls_table_layouts[DLS_TABLE_INDEX], DLS_RESULTS_FORMAT_VERSION, file, &what))
        fail_msg("%s", what);
    assert_int_equal(table.rows, ROWS);
    assert_true(dls_table_read(&table, 0, ROWS, numbers));
    for (int k = 0; k < ROWS; k++) assert_int_equal(numbers[k], 7 * k);
    dls_table_close(&table);
    H5Fclose(file);
    H5Pclose(access);
    close(device.descriptor);
    dls_structure_free(&structure);
}

int main(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_space),          cmocka_unit_test(test_plane),
        cmocka_unit_test(test_records),        cmocka_unit_test(test_one_number),
        cmocka_unit_test(test_damaged_record), cmocka_unit_test(test_many_chunks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
