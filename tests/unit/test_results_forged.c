/* Results files whose structure is forged, under checksums that are right: every reader answers, in one line
 * where it refuses. */
#include "h5/check.h"
#include "output/results/layout.h"
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

enum { FRAMES = 150, MOST_BLOCKS = 400, MOST_FIELDS = 4000, LONGEST = 2100, MOST_BODIES = 32, SECONDS = 10 };

/* A block of HDF5's under a checksum. */
typedef struct block {
    size_t begin, size, sum; /* sum: place of the checksum */
    bool is_sum_inside;      /* taken with zeros in its place */
} block;

typedef struct sample {
    uint8_t *bytes;
    long size;
    block blocks[MOST_BLOCKS];
    int block_count;
    size_t fields[MOST_FIELDS]; /* places of numbers that are addresses of blocks */
    int field_count;
} sample;

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

static uint32_t sum_of(const uint8_t *bytes, const block *b) {
    static uint8_t copy[LONGEST];
    if (!b->is_sum_inside) return check_sum(bytes + b->begin, b->size);
    memcpy(copy, bytes + b->begin, b->size);
    memset(copy + (b->sum - b->begin), 0, 4);
    return check_sum(copy, b->size);
}

static bool is_sound(const sample *s, const block *b) {
    return b->begin + b->size + 4 <= (size_t)s->size && b->sum + 4 <= (size_t)s->size &&
           sum_of(s->bytes, b) == check_number(s->bytes + b->sum, 4);
}

/* A block is as long as makes its checksum right; of a heap's block it lies inside. */
static bool find_block(const sample *s, size_t at, block *b) {
    for (int bits = 32; bits <= 40; bits += 8)
        for (size_t size = 512; size <= 2048 && !memcmp(s->bytes + at, "FHDB", 4); size *= 2) {
            *b = (block){at, size, at + 13 + (size_t)bits / 8, true};
            if (is_sound(s, b)) return true;
        }
    for (size_t size = 8; size < LONGEST; size++) {
        *b = (block){at, size, at + size, false};
        if (is_sound(s, b)) return true;
    }
    return false;
}

/* lacks: those that there need not be. */
static void find_blocks(sample *s, const char *lacks) {
    static const char signatures[] = "OHDR OCHK FRHP FHDB FHIB BTHD BTLF EAHD EAIB EADB EASB";
    int kinds[11] = {0};
    s->blocks[s->block_count++] = (block){0, 44, 44, false};
    for (size_t at = 0; at + 8 < (size_t)s->size; at++)
        for (int k = 0; k < 11; k++) {
            if (memcmp(s->bytes + at, signatures + 5 * k, 4)) continue;
            assert_in_range(s->block_count, 0, MOST_BLOCKS - 1);
            if (!find_block(s, at, &s->blocks[s->block_count])) continue;
            s->block_count++;
            kinds[k]++;
        }
    for (int k = 0; k < 11; k++)
        if (kinds[k] == 0 && !strstr(lacks, (char[]){signatures[5 * k], signatures[5 * k + 1],
                                                     signatures[5 * k + 2], signatures[5 * k + 3], 0}))
            fail_msg("no block %.4s", signatures + 5 * k);
}

static void find_fields(sample *s) {
    for (int k = 0; k < s->block_count; k++)
        for (size_t at = s->blocks[k].begin; at + 8 <= s->blocks[k].begin + s->blocks[k].size; at++)
            for (int i = 1; i < s->block_count && s->field_count < MOST_FIELDS; i++)
                if (check_number(s->bytes + at, 8) == s->blocks[i].begin) s->fields[s->field_count++] = at;
}

static sample *make_sample(const char *path, int dimension, size_t title_length, const char *lacks) {
    sample *s = calloc(1, sizeof *s);
    write_run(path, dimension, title_length);
    s->bytes = results_load(path, &s->size);
    find_blocks(s, lacks);
    find_fields(s);
    return s;
}

/* ---- forging ---- */

static uint64_t address_of_interest(const sample *s) {
    uint64_t size = (uint64_t)s->size;
    const uint64_t others[] = {0,        1,        8,          48,        size,       size - 1,
                               size - 8, size / 2, UINT64_MAX, INT64_MAX, 1ull << 32, 1ull << 40};
    int choice = rand() % 3;
    if (choice == 0) return s->blocks[rand() % s->block_count].begin;
    if (choice == 1) return (uint64_t)rand() % size;
    return others[(size_t)rand() % (sizeof others / sizeof *others)];
}

static void forge_once(const sample *s, uint8_t *bytes) {
    const block *b = &s->blocks[rand() % s->block_count], *other = &s->blocks[rand() % s->block_count];
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

static void forge(const sample *s, uint8_t *bytes, int number) {
    srand((unsigned)number);
    memcpy(bytes, s->bytes, (size_t)s->size);
    for (int k = 1 + rand() % 3; k > 0; k--) forge_once(s, bytes);
    for (int k = 0; k < s->block_count; k++) {
        uint32_t sum = sum_of(bytes, &s->blocks[k]);
        memcpy(bytes + s->blocks[k].sum, &sum, 4);
    }
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
static int run_child(const sample *s, int dimension, int first, int end) {
    int status;
    static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    pid_t child = fork();
    if (child == 0) {
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) signal(ends[k], SIG_DFL); /* not cmocka's */
        small_run run = small_run_create(dimension);
        uint8_t *bytes = malloc((size_t)s->size);
        for (int k = first; k < end; k++) {
            shared->number = k;
            forge(s, bytes, k);
            results_save("forged.h5", bytes, s->size);
            alarm(SECONDS);
            use("forged.h5", run.world);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void forge_many(const char *path, int dimension, size_t title_length, const char *lacks, int count) {
    enum { BATCH = 100 };
    sample *s = make_sample(path, dimension, title_length, lacks);
    int broken = 0;
    *shared = (told){0};
    for (int first = 0; first < count; first += BATCH) {
        int end = first + BATCH < count ? first + BATCH : count;
        while (first < end) {
            int status = run_child(s, dimension, first, end);
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
    forge_many("space.h5", 3, 900, "EASB", scaled(1100, 60));
}

static void test_plane(void **state) {
    (void)state;
    forge_many("plane.h5", 2, 5000, "EASB EADB FHIB", scaled(1100, 60));
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_space), cmocka_unit_test(test_plane),
                                       cmocka_unit_test(test_many_chunks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
