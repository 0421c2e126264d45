/* A run may end in the middle of any write: what is on the disk then opens, has every frame that was
 * reported, and can be gone on with. What the driver does to a file is noted down and done again, byte by
 * byte. */
#include "output/results/driver.h"
#include "support/scale.h"
#include "support/small_run.h"
#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 11, MOST_DEEDS = 20000, MOST_BODIES = 16, MOST_CONTACTS = 200 };

typedef struct deed {
    dls_driver_deed what;
    int frames; /* that were reported before */
} deed;

static deed deeds[MOST_DEEDS];
static int deed_count, frames_told;

static void note(const dls_driver_deed *what, void *user) {
    (void)user;
    if (frames_told < 0) return; /* the file is still aside */
    assert_in_range(deed_count, 0, MOST_DEEDS - 1);
    deed *d = &deeds[deed_count++];
    *d = (deed){*what, frames_told};
    if (!what->bytes) return;
    d->what.bytes = malloc(what->size);
    memcpy((void *)(uintptr_t)d->what.bytes, what->bytes, what->size);
}

static void forget_deeds(void) {
    for (int k = 0; k < deed_count; k++) free((void *)(uintptr_t)deeds[k].what.bytes);
    deed_count = 0;
}

static void copy_file(const char *from, const char *to) {
    static char bytes[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, in)) > 0;)
        assert_int_equal(fwrite(bytes, 1, got, out), got);
    fclose(in);
    fclose(out);
}

/* The first one comes in the middle: steps before it have what joints add to them from then on. */
static void add_joint(dls_world *world) {
    dls_error error = {0};
    dls_joint_def def = dls_default_joint_def(DLS_JOINT_DISTANCE);
    def.body[0] = dls_world_find_body(world, "box");
    def.body[1] = dls_world_find_body(world, "stone");
    if (dls_world_add_joint(world, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void step(small_run *run, dls_results_writer *writer, int number) {
    dls_error error = {0};
    dls_step_report report;
    if (number > 0) report = small_run_step(run);
    if (number == 4) add_joint(run->world);
    if (number == 9) small_run_add_late(run);
    if (!writer) return;
    if (number > 0 && dls_results_add_step(writer, &report, &error)) fail_msg("%s", error.message);
    if (dls_results_add_frame(writer, run->simulation, &error)) fail_msg("%s", error.message);
    frames_told = number + 1;
}

/* whole.h5 is the file at the end; start.h5 what it was before the first deed. */
static void write_run(void) {
    small_run run = small_run_create(3);
    dls_results_def def = small_run_def();
    dls_results_writer *writer;
    dls_error error = {0};
    def.contacts = true;
    frames_told = -1;
    dls_driver_watch(note, NULL);
    if (dls_results_create("whole.h5", run.world, &def, &writer, &error)) fail_msg("%s", error.message);
    copy_file("whole.h5", "start.h5");
    frames_told = 0;
    for (int k = 0; k <= STEPS; k++) step(&run, writer, k);
    dls_run_summary summary = dls_simulation_summary(run.simulation);
    if (dls_results_close(writer, &summary, &error)) fail_msg("%s", error.message);
    dls_driver_watch(NULL, NULL);
    small_run_destroy(&run);
}

static bool is_contact_same(const dls_contact_record *a, const dls_contact_record *b) {
    return a->body_a == b->body_a && a->body_b == b->body_b && a->feature == b->feature && a->gap == b->gap &&
           !memcmp(a->point, b->point, sizeof a->point) && !memcmp(a->impulse, b->impulse, sizeof a->impulse);
}

static bool are_joints_same(dls_results *a, dls_results *b, int frame) {
    dls_joint_record joints[2];
    int count = dls_results_frame_joint_count(a, frame);
    if (count > 1 || count != dls_results_frame_joint_count(b, frame)) return false;
    if (dls_results_frame_joints(a, frame, &joints[0], NULL) ||
        dls_results_frame_joints(b, frame, &joints[1], NULL))
        return false;
    return count == 0 || !memcmp(&joints[0], &joints[1], sizeof *joints);
}

/* Of the last one before a frame, or of none. */
static bool is_step_same(dls_results *a, dls_results *b, int frame) {
    dls_step_report steps[2];
    if (frame == 0) return true;
    if (dls_results_steps(a, frame - 1, 1, &steps[0], NULL) ||
        dls_results_steps(b, frame - 1, 1, &steps[1], NULL))
        return false;
    return steps[0].joints == steps[1].joints && steps[0].joint_rows == steps[1].joint_rows &&
           !memcmp(&steps[0].energy, &steps[1].energy, sizeof steps[0].energy);
}

static bool is_frame_same(dls_results *a, dls_results *b, int frame) {
    static dls_contact_record contacts[2][MOST_CONTACTS];
    dls_body_state states[2][MOST_BODIES];
    dls_results *files[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        if (dls_results_body_count(files[k]) > MOST_BODIES ||
            dls_results_frame_contact_count(files[k], frame) > MOST_CONTACTS ||
            dls_results_frame_states(files[k], frame, states[k], NULL, NULL) ||
            dls_results_frame_contacts(files[k], frame, contacts[k], NULL))
            return false;
    }
    int count = dls_results_frame_contact_count(a, frame);
    if (!are_joints_same(a, b, frame)) return false;
    bool same = dls_results_frame_time(a, frame) == dls_results_frame_time(b, frame) &&
                count == dls_results_frame_contact_count(b, frame) &&
                !memcmp(states[0], states[1], sizeof **states * (size_t)dls_results_body_count(a));
    for (int k = 0; k < count && same; k++) same = is_contact_same(&contacts[0][k], &contacts[1][k]);
    return same;
}

/* Frames from `from` on are compared: those before were, and nothing is written over them. */
static const char *read_torn(const char *path, dls_results *whole, int frames, int from) {
    static char words[600];
    dls_results *r;
    dls_error error = {0};
    if (dls_results_open(path, &r, &error)) {
        snprintf(words, sizeof words, "%s", error.message);
        return words;
    }
    int count = dls_results_frame_count(r);
    const char *what = count < frames || count > frames + 1 ? "another number of frames" : NULL;
    for (int k = from > 0 ? from : 0; k < count && !what; k++)
        if (!is_frame_same(r, whole, k)) what = "another frame";
    if (!what && dls_results_step_count(r) < frames - 1) what = "fewer steps";
    for (int k = from > 1 ? from : 1; k < frames && !what; k++)
        if (!is_step_same(r, whole, k)) what = "another step";
    dls_results_destroy(r);
    return what;
}

/* The run goes on from the last frame that was reported. */
static const char *go_on(small_run *run, dls_results *whole, int frames) {
    static char words[600];
    dls_results_writer *writer;
    dls_error error = {0};
    if (frames == 0) return NULL;
    copy_file("torn.h5", "resumed.h5");
    if (dls_results_continue("resumed.h5", run->world, frames - 1, &writer, &error) ||
        dls_results_close(writer, NULL, &error)) {
        snprintf(words, sizeof words, "going on: %s", error.message);
        return words;
    }
    return read_torn("resumed.h5", whole, frames, 0);
}

/* First and last bytes, ends of pages, and some between: in one frame many of them, of the superblock all.
 * Under a sanitizer most deeds are cut at their end alone. */
static bool is_cut_tried(int k, uint64_t cut) {
    const dls_driver_deed *d = &deeds[k].what;
    int frames = deeds[k].frames;
    if (test_scale() < 1 && k % 11) return cut == d->size;
    uint64_t in_page = (d->offset + cut) % 4096, stride = test_scale() < 1 ? 1009 : frames == 5 ? 23 : 499;
    return d->offset == 0 || cut < 2 || cut + 2 > d->size || in_page == 0 || cut % stride == 0;
}

static void put(int file, const dls_driver_deed *d, uint64_t from, uint64_t to) {
    ssize_t count = (ssize_t)(to - from);
    assert_int_equal(pwrite(file, (const char *)d->bytes + from, (size_t)count, (off_t)(d->offset + from)),
                     count);
}

static void test_every_byte(void **state) {
    (void)state;
    write_run();
    copy_file("start.h5", "torn.h5");
    dls_results *whole;
    dls_error error = {0};
    if (dls_results_open("whole.h5", &whole, &error)) fail_msg("%s", error.message);
    assert_int_equal(dls_results_frame_joint_count(whole, 4), 0);
    assert_int_equal(dls_results_frame_joint_count(whole, 5), 1);
    small_run run = small_run_create(3);
    int file = open("torn.h5", O_RDWR), stepped = -1, cuts = 0, resumed = 0;
    long written = 0;
    for (int k = 0; k < deed_count; k++) {
        const dls_driver_deed *d = &deeds[k].what;
        int frames = deeds[k].frames;
        const char *what = NULL;
        while (stepped < frames - 1) step(&run, NULL, ++stepped);
        if (!d->bytes) assert_int_equal(ftruncate(file, (off_t)d->offset), 0);
        uint64_t done = 0, cut = 0;
        for (; cut <= d->size && !what; cut++) {
            if (!is_cut_tried(k, cut)) continue;
            if (d->bytes) put(file, d, done, cut);
            done = cut;
            what = read_torn("torn.h5", whole, frames, frames - 2);
            if (!what && ++cuts % (test_scale() < 1 ? 200 : 100) == 0) {
                what = go_on(&run, whole, frames);
                resumed++;
            }
        }
        written += (long)d->size;
        if (what)
            fail_msg("deed %d of %d, %llu bytes at %llu, cut after %llu, %d frames: %s", k, deed_count,
                     (unsigned long long)d->size, (unsigned long long)d->offset, (unsigned long long)cut - 1,
                     frames, what);
    }
    print_message("%d deeds of %ld bytes, cut at %d places, %d resumed\n", deed_count, written, cuts,
                  resumed);
    assert_true(cuts > 100 && resumed > 0);
    assert_in_range(deed_count, 1, 75 * (STEPS + 1)); /* a column is one write, and so is a block */
    close(file);
    small_run_destroy(&run);
    dls_results_destroy(whole);
    forget_deeds();
}

/* ---- records ---- */

static int open_new(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    assert_true(file >= 0);
    return file;
}

/* A file of zeros that ends with a record of three blocks full of `fill`; gives the record's place. */
static uint64_t write_record(int file, uint8_t fill, dls_journal *journal) {
    enum { BEFORE = 500 };
    uint8_t block[100];
    memset(block, fill, sizeof block);
    dls_journal_clear(journal);
    for (int k = 0; k < 3; k++)
        assert_non_null(dls_journal_add(journal, 100u * (unsigned)k, 60 + 20u * (unsigned)k, block));
    assert_true(dls_journal_seal(journal));
    assert_int_equal(ftruncate(file, 0) | ftruncate(file, BEFORE), 0);
    assert_int_equal(pwrite(file, journal->bytes, (size_t)journal->used, BEFORE), journal->used);
    return BEFORE;
}

static int64_t blocks_found(int file) {
    struct stat about;
    dls_journal found = {0};
    assert_int_equal(fstat(file, &about), 0);
    assert_int_equal(dls_journal_load(file, (uint64_t)about.st_size, &found, NULL), DLS_OK);
    int64_t count = found.count;
    assert_int_equal(found.used > 0, count > 0);
    dls_journal_free(&found);
    return count;
}

/* With any byte another one, any part of its end cut off, or its first bytes those of another record with as
 * many blocks of as many bytes: what is left of that one's time would be taken for this one's. */
static void test_a_record_is_whole_or_none(void **state) {
    (void)state;
    int file = open_new("record");
    dls_journal journal = {0};
    uint64_t place = write_record(file, 1, &journal);
    assert_int_equal(blocks_found(file), 3);
    for (int64_t k = 0; k < journal.used; k++) {
        uint8_t other = journal.bytes[k] ^ 4;
        assert_int_equal(pwrite(file, &other, 1, (off_t)place + k), 1);
        if (blocks_found(file)) fail_msg("a record with another byte %d of %d", (int)k, (int)journal.used);
        assert_int_equal(pwrite(file, &journal.bytes[k], 1, (off_t)place + k), 1);
    }
    for (int64_t k = journal.used - 1; k >= 0; k--) {
        assert_int_equal(ftruncate(file, (off_t)place + k), 0);
        assert_int_equal(blocks_found(file), 0);
    }
    write_record(file, 1, &journal);
    uint8_t *earlier = malloc((size_t)journal.used);
    memcpy(earlier, journal.bytes, (size_t)journal.used);
    write_record(file, 2, &journal);
    assert_int_equal(blocks_found(file), 3);
    assert_int_equal(pwrite(file, earlier, 150, (off_t)place), 150);
    assert_int_equal(blocks_found(file), 0);
    free(earlier);
    dls_journal_free(&journal);
    close(file);
}

/* Blocks of HDF5's own, each in the header of an object. */
static void add_blocks(hid_t file, int count, hsize_t size) {
    uint8_t *bytes = calloc(size, 1);
    hid_t space = H5Screate_simple(1, &size, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_layout(creation, H5D_COMPACT) >= 0);
    for (int k = 0; k < count; k++) {
        char name[32];
        snprintf(name, sizeof name, "block-%d", k);
        hid_t set = H5Dcreate(file, name, H5T_NATIVE_UINT8, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        assert_true(set >= 0 && H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
        H5Dclose(set);
    }
    H5Pclose(creation);
    H5Sclose(space);
    free(bytes);
}

enum { ROWS = 100000 };

static hid_t add_rows(hid_t file, const int *rows) {
    hid_t space = H5Screate_simple(1, &(hsize_t){ROWS}, NULL);
    hid_t set = H5Dcreate(file, "rows", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    H5Sclose(space);
    return set;
}

/* The record lies behind the last rows, whole, though it is longer than all that is kept ahead. */
static hid_t write_long_record(dls_output_device *device, hid_t access) {
    static int rows[ROWS], back[ROWS];
    hid_t file = H5Fcreate("long.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    assert_true(file >= 0);
    for (int k = 0; k < ROWS; k++) rows[k] = k + 1;
    add_blocks(file, 80, 60000);
    hid_t set = add_rows(file, rows);
    assert_true(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0 && !device->is_dead);
    assert_true(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    assert_memory_equal(back, rows, sizeof rows);
    assert_true(blocks_found(device->descriptor) >= 80);
    H5Dclose(set);
    return file;
}

/* Room for rows that nobody has written yet, over where the record was. */
static void check_room_is_empty(hid_t file) {
    enum { SIZE = 16 << 20 };
    uint8_t *bytes = malloc(SIZE);
    hid_t space = H5Screate_simple(1, &(hsize_t){SIZE}, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY) >= 0 &&
                H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0);
    hid_t set = H5Dcreate(file, "empty", H5T_NATIVE_UINT8, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dread(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
    for (int k = 0; k < SIZE; k++)
        if (bytes[k]) fail_msg("byte %d of what was just given out is %d", k, bytes[k]);
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(space);
    free(bytes);
}

static void test_long_records(void **state) {
    (void)state;
    dls_output_device device = {.descriptor = open_new("long.h5")};
    hid_t access = dls_driver_access(&device), file = write_long_record(&device, access);
    check_room_is_empty(file);
    H5Fclose(file);
    H5Pclose(access);
    close(device.descriptor);
}

/* A reader beside a writer that does nothing but write: every opening sees whole frames, and no fewer than
 * the one before. */
static void test_beside_a_writer(void **state) {
    (void)state;
    enum { FRAMES = 400 };
    small_run run = small_run_create(2);
    dls_results_def def = small_run_def();
    dls_results_writer *writer;
    dls_error error = {0};
    int status, count = 0, openings = 0;
    def.contacts = true;
    if (dls_results_create("live.h5", run.world, &def, &writer, &error)) fail_msg("%s", error.message);
    pid_t child = fork();
    if (child == 0) {
        for (int k = 0; k < FRAMES; k++) {
            dls_step_report report = small_run_step(&run);
            if (dls_results_add_step(writer, &report, NULL) ||
                dls_results_add_frame(writer, run.simulation, NULL))
                _exit(1);
        }
        _exit(0); /* as if it were killed */
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        dls_results *r;
        dls_body_state states[MOST_BODIES];
        if (dls_results_open("live.h5", &r, &error)) fail_msg("after %d frames: %s", count, error.message);
        int frames = dls_results_frame_count(r);
        assert_in_range(frames, count, FRAMES);
        count = frames;
        if (count && dls_results_frame_states(r, count - 1, states, NULL, &error))
            fail_msg("frame %d: %s", count - 1, error.message);
        dls_results_destroy(r);
        openings++;
    }
    assert_int_equal(status, 0);
    print_message("%d openings, %d frames\n", openings, count);
    assert_true(openings > 1);
    dls_results_close(writer, NULL, NULL);
    small_run_destroy(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_byte), cmocka_unit_test(test_a_record_is_whole_or_none),
        cmocka_unit_test(test_long_records), cmocka_unit_test(test_beside_a_writer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
