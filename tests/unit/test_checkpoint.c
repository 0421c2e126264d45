/* Checkpoints: the same state, or one line that says why not. */
#include "support/allocator.h"
#include "support/scale.h"
#include "support/small_run.h"
#include "support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        dls_error error_ = {0};                                                                              \
        dls_error *error = &error_;                                                                          \
        if (call) fail_msg("%s", error_.message);                                                            \
    } while (0)

static void expect(dls_status status, const dls_error *error, const char *words) {
    assert_int_not_equal(status, DLS_OK);
    assert_int_equal(status, error->status);
    assert_null(strchr(error->message, '\n'));
    if (!strstr(error->message, words)) fail_msg("'%s' is not in: %s", words, error->message);
}

static unsigned char *load(const char *path, size_t *size) {
    struct stat about;
    int file = open(path, O_RDONLY);
    assert_true(file >= 0 && !fstat(file, &about));
    *size = (size_t)about.st_size;
    unsigned char *bytes = malloc(*size + 1);
    assert_int_equal(read(file, bytes, *size), *size);
    close(file);
    return bytes;
}

static void write_one(const char *path, int dimension, int steps) {
    small_run run = small_run_create(dimension);
    dls_results_def def = small_run_def();
    for (int k = 0; k < steps; k++) small_run_step(&run);
    OK(dls_checkpoint_write(path, run.simulation, &def, error));
    small_run_destroy(&run);
}

/* From every step, restored and not, the same hash at the end. */
static void test_goes_on_with_the_same_bits(void **state) {
    (void)state;
    enum { END = 12 };
    for (int dimension = 2; dimension <= 3; dimension++) {
        small_run whole = small_run_create(dimension);
        for (int k = 0; k < END; k++) small_run_step(&whole);
        uint64_t hash = dls_simulation_hash(whole.simulation);
        small_run_destroy(&whole);
        for (int from = 0; from <= END; from += 3) {
            dls_checkpoint *checkpoint;
            write_one("a.checkpoint", dimension, from);
            OK(dls_checkpoint_read("a.checkpoint", &checkpoint, error));
            assert_int_equal(dls_checkpoint_step(checkpoint), from);
            small_run again = small_run_create(dimension);
            OK(dls_checkpoint_restore(checkpoint, again.simulation, error));
            dls_checkpoint_destroy(checkpoint);
            for (int k = from; k < END; k++) small_run_step(&again);
            assert_true(dls_simulation_hash(again.simulation) == hash);
            small_run_destroy(&again);
        }
    }
}

static void test_words_come_back(void **state) {
    (void)state;
    dls_checkpoint *c;
    write_one("words.checkpoint", 2, 5);
    OK(dls_checkpoint_read("words.checkpoint", &c, error));
    assert_string_equal(dls_checkpoint_title(c), "a small run");
    assert_string_equal(dls_checkpoint_scene_text(c), "title: a small run\n# ends here\n");
    assert_string_equal(dls_checkpoint_solver(c), "auto");
    assert_string_equal(dls_checkpoint_solver_options(c), "tolerance=1e-6\n");
    assert_int_equal(dls_checkpoint_setting_count(c), 2);
    assert_string_equal(dls_checkpoint_setting(c, 1), "variables.size=1");
    assert_null(dls_checkpoint_setting(c, 2));
    assert_true(fabs(dls_checkpoint_time(c) - 0.05) < 1e-12);
    dls_checkpoint_destroy(c);
}

/* Cut anywhere, or with any one bit wrong. */
static void test_damage_is_seen(void **state) {
    (void)state;
    size_t size;
    dls_error error;
    dls_checkpoint *c;
    write_one("hurt.checkpoint", 2, 7);
    unsigned char *bytes = load("hurt.checkpoint", &size);
    for (size_t k = 0; k < size; k += 1 + size / 200) {
        dls_status status = dls_checkpoint_read_memory(bytes, k, &c, &error);
        expect(status, &error, k < 8 ? "no checkpoint" : "damaged checkpoint");
        assert_null(c);
    }
    int step = scaled(100, 1) < 100 ? 97 : 3;
    for (size_t bit = 0; bit < 8 * size; bit += (size_t)step) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        dls_status status = dls_checkpoint_read_memory(bytes, size, &c, &error);
        expect(status, &error, "checkpoint");
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    bytes[size] = 0;
    expect(dls_checkpoint_read_memory(bytes, size + 1, &c, &error), &error, "bytes behind its end");
    bytes[8] = 2;
    expect(dls_checkpoint_read_memory(bytes, size, &c, &error), &error, "format version 2, expected 1");
    bytes[8] = 1, bytes[12] ^= 1;
    expect(dls_checkpoint_read_memory(bytes, size, &c, &error), &error, "another order of bytes");
    free(bytes);
}

static void test_foreign_files(void **state) {
    (void)state;
    dls_checkpoint *c;
    dls_error error;
    FILE *file = fopen("words.txt", "w");
    fputs("title: no checkpoint\n", file);
    fclose(file);
    mkdir("folder", 0777);
    expect(dls_checkpoint_read("words.txt", &c, &error), &error, "words.txt: no checkpoint");
    expect(dls_checkpoint_read("folder", &c, &error), &error, "folder: cannot be read: Is a directory");
    expect(dls_checkpoint_read("missing", &c, &error), &error, "missing: cannot be read: No such file");
    expect(dls_checkpoint_read("/dev/zero", &c, &error), &error, "/dev/zero: cannot be read");
    write_one("planar.checkpoint", 2, 3);
    assert_int_equal(dls_checkpoint_read("planar.checkpoint", &c, &error), DLS_OK);
    small_run run = small_run_create(3);
    dls_status status = dls_checkpoint_restore(c, run.simulation, &error);
    expect(status, &error, "planar.checkpoint: ");
    dls_checkpoint_destroy(c);
    small_run_destroy(&run);
}

/* What was there stays when the new one cannot be written, and nothing is left beside it. */
static void test_unwritable(void **state) {
    (void)state;
    write_one("kept.checkpoint", 2, 3);
    small_run run = small_run_create(2);
    dls_results_def def = small_run_def();
    dls_error error;
    expect(dls_checkpoint_write("no/such/folder", run.simulation, &def, &error), &error,
           "no/such/folder: cannot be written: No such file or directory");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
        dls_status status = dls_checkpoint_write("kept.checkpoint", run.simulation, &def, &error);
        _exit(status == DLS_ERROR_FILE && strstr(error.message, "File too large") ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    small_run_destroy(&run);
    dls_checkpoint *c;
    assert_int_equal(dls_checkpoint_read("kept.checkpoint", &c, &error), DLS_OK);
    assert_int_equal(dls_checkpoint_step(c), 3);
    dls_checkpoint_destroy(c);
    DIR *folder = opendir(".");
    for (struct dirent *entry; (entry = readdir(folder));) assert_null(strstr(entry->d_name, ".part"));
    closedir(folder);
}

static void test_memory_runs_out(void **state) {
    (void)state;
    size_t size;
    write_one("memory.checkpoint", 2, 3);
    unsigned char *bytes = load("memory.checkpoint", &size);
    for (int k = 1;; k++) {
        dls_checkpoint *c = NULL;
        dls_error error = {0};
        counting_begin(k);
        dls_status status = dls_checkpoint_read_memory(bytes, size, &c, &error);
        dls_checkpoint_destroy(c);
        assert_int_equal(counting_end(), 0);
        if (!status) break;
        assert_int_equal(status, DLS_ERROR_MEMORY);
        assert_true(k < 20);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_goes_on_with_the_same_bits),
                                       cmocka_unit_test(test_words_come_back),
                                       cmocka_unit_test(test_damage_is_seen),
                                       cmocka_unit_test(test_foreign_files),
                                       cmocka_unit_test(test_unwritable),
                                       cmocka_unit_test(test_memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
