/* Bad FCLib files: each gets one line that says file, dataset, what was found and what was expected. */
#include "base/random.h"
#include "support/fclib_files.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one thing changed ---- */

typedef enum change_kind {
    REMOVE,  /* the object */
    SET_INT, /* number `index` of the dataset to `value` */
    SET_REAL,
    REPLACE_INTS,  /* the dataset by `index` integers, all `value` */
    REPLACE_REALS, /* by real numbers */
    REPLACE_TEXT,
    REPLACE_GROUP
} change_kind;

typedef struct bad_case {
    const char *path;
    change_kind kind;
    int index;
    double value;
    const char *message; /* how it goes on after the file's name */
} bad_case;

static void apply(file_edit *edit, const bad_case *c) {
    enum { MOST = 200 };
    int ints[MOST];
    double reals[MOST];
    for (int k = 0; k < MOST; k++) {
        ints[k] = isfinite(c->value) ? (int)c->value : 0;
        reals[k] = c->value;
    }
    if (c->kind == REMOVE || c->kind == REPLACE_GROUP) edit_remove(edit, c->path);
    if (c->kind == SET_INT) edit_int_at(edit, c->path, c->index, (int)c->value);
    if (c->kind == SET_REAL) edit_real_at(edit, c->path, c->index, c->value);
    if (c->kind == REPLACE_INTS) edit_ints(edit, c->path, H5T_NATIVE_INT, c->index, ints);
    if (c->kind == REPLACE_REALS) edit_reals(edit, c->path, H5T_NATIVE_DOUBLE, c->index, reals);
    if (c->kind == REPLACE_TEXT) edit_text(edit, c->path, "three");
    if (c->kind == REPLACE_GROUP) edit_group(edit, c->path);
}

static void expect_message(file_bytes bytes, const char *message) {
    dls_fclib *file = (dls_fclib *)&file;
    dls_error error = {0};
    char expected[512];
    dls_status status = dls_fclib_read_memory(bytes.data, bytes.size, &file, &error);
    assert_int_not_equal(status, DLS_OK);
    assert_int_equal(status, error.status);
    assert_null(file);
    snprintf(expected, sizeof expected, "(memory): %s", message);
    if (strncmp(error.message, expected, strlen(expected)))
        fail_msg("%s\n instead of %s", error.message, expected);
}

static void check_cases(const fclib_sample *s, fclib_storage storage, const bad_case *cases, size_t count) {
    file_bytes good = make_fclib_file(s, storage, H5F_LIBVER_EARLIEST);
    for (size_t k = 0; k < count; k++) {
        file_edit edit = edit_begin(good);
        apply(&edit, &cases[k]);
        file_bytes bad = edit_end(&edit);
        expect_message(bad, cases[k].message);
        free_bytes(&bad);
    }
    free_bytes(&good);
}

#define CHECK_CASES(sample, storage, cases)                                                                  \
    check_cases(sample, storage, cases, sizeof(cases) / sizeof *(cases))

/* W is 6 × 6 with 34 entries, V 6 × 4, R 4 × 4. */
static void bad_local_files(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 3, 2, 4, 11);
    const bad_case cases[] = {
        {"/fclib_local", REMOVE, 0, 0, "/: no contact problem, expected a group fclib_local or fclib_global"},
        {"/fclib_local/spacedim", REMOVE, 0, 0, "/fclib_local/spacedim: missing, expected integers"},
        {"/fclib_local/spacedim", SET_INT, 0, 4, "/fclib_local/spacedim: 4, expected 2 or 3"},
        {"/fclib_local/spacedim", SET_INT, 0, -3, "/fclib_local/spacedim: -3, expected 2 or 3"},
        {"/fclib_local/spacedim", REPLACE_TEXT, 0, 0, "/fclib_local/spacedim: text, expected integers"},
        {"/fclib_local/spacedim", REPLACE_REALS, 1, 3,
         "/fclib_local/spacedim: real numbers, expected integers"},
        {"/fclib_local/spacedim", REPLACE_INTS, 2, 3, "/fclib_local/spacedim: 2 numbers, expected 1"},
        {"/fclib_local/spacedim", REPLACE_GROUP, 0, 0, "/fclib_local/spacedim: a group, expected integers"},
        {"/fclib_local/W", REMOVE, 0, 0, "/fclib_local/W: missing, expected a matrix"},
        {"/fclib_local/W/m", SET_INT, 0, 7, "/fclib_local/W: 7 × 6, expected 7 × 7"},
        {"/fclib_local/W/m", SET_INT, 0, -1, "/fclib_local/W/m: -1, expected 0 to 2147483646"},
        {"/fclib_local/W/m", SET_INT, 0, INT_MAX, "/fclib_local/W/m: 2147483647, expected 0 to 2147483646"},
        {"/fclib_local/W/nz", SET_INT, 0, -3, "/fclib_local/W/nz: -3, expected -2 to 2147483647"},
        {"/fclib_local/W/nz", SET_INT, 0, INT_MAX,
         "/fclib_local/W/nzmax: 36, expected 2147483647 to 2147483647"},
        {"/fclib_local/W/nzmax", SET_INT, 0, 10,
         "/fclib_local/W/p: last pointer is 36, expected at most nzmax = 10"},
        {"/fclib_local/W/nzmax", SET_INT, 0, -10, "/fclib_local/W/nzmax: -10, expected 0 to 2147483647"},
        {"/fclib_local/W/p", REMOVE, 0, 0, "/fclib_local/W/p: missing, expected integers"},
        {"/fclib_local/W/p", REPLACE_INTS, 6, 0, "/fclib_local/W/p: 6 numbers, expected 7"},
        {"/fclib_local/W/p", SET_INT, 0, 1, "/fclib_local/W/p: first pointer is 1, expected 0"},
        {"/fclib_local/W/p", SET_INT, 2, 99,
         "/fclib_local/W/p: pointer 3 falls from 99 to 18, expected none to fall"},
        {"/fclib_local/W/p", SET_INT, 2, -5,
         "/fclib_local/W/p: pointer 2 falls from 6 to -5, expected none to fall"},
        {"/fclib_local/W/i", SET_INT, 4, 7341, "/fclib_local/W/i: index 7341 out of range, expected 0 … 5"},
        {"/fclib_local/W/i", SET_INT, 4, -1, "/fclib_local/W/i: index -1 out of range, expected 0 … 5"},
        {"/fclib_local/W/i", REPLACE_INTS, 35, 0, "/fclib_local/W/i: 35 numbers, expected 36"},
        {"/fclib_local/W/x", REPLACE_REALS, 40, 0, "/fclib_local/W/x: 40 numbers, expected 36"},
        {"/fclib_local/W/x", SET_REAL, 3, NAN, "/fclib_local/W/x: number 3 is nan, expected a finite one"},
        {"/fclib_local/W/x", SET_REAL, 0, -INFINITY,
         "/fclib_local/W/x: number 0 is -inf, expected a finite one"},
        {"/fclib_local/W/x", REPLACE_TEXT, 0, 0, "/fclib_local/W/x: text, expected real numbers"},
        {"/fclib_local/W/x", SET_REAL, 0, -1e6,
         "/fclib_local: diagonal block of contact 0 has trace -999996, expected a positive"},
        {"/fclib_local/vectors", REMOVE, 0, 0, "/fclib_local/vectors/q: missing, expected real numbers"},
        {"/fclib_local/vectors/q", REPLACE_REALS, 5, 0, "/fclib_local/vectors/q: 5 numbers, expected 6"},
        {"/fclib_local/vectors/q", SET_REAL, 5, NAN,
         "/fclib_local/vectors/q: number 5 is nan, expected a finite one"},
        {"/fclib_local/vectors/mu", REPLACE_REALS, 6, 0, "/fclib_local/vectors/mu: 6 numbers, expected 2"},
        {"/fclib_local/vectors/mu", SET_REAL, 1, -0.5,
         "/fclib_local/vectors/mu: number 1 is -0.5, expected 0 or more"},
        {"/fclib_local/vectors/mu", SET_REAL, 1, INFINITY,
         "/fclib_local/vectors/mu: number 1 is inf, expected a finite one"},
        {"/fclib_local/V", REMOVE, 0, 0, "/fclib_local/V: missing, expected a matrix"},
        {"/fclib_local/R", REMOVE, 0, 0, "/fclib_local/R: missing, expected a matrix"},
        {"/fclib_local/V/n", SET_INT, 0, 5, "/fclib_local/V: 6 × 5, expected 6 × 4"},
        {"/fclib_local/vectors/s", REMOVE, 0, 0, "/fclib_local/vectors/s: missing, expected real numbers"},
        {"/fclib_local/info/title", REPLACE_INTS, 1, 7,
         "/fclib_local/info/title: 1 × integers, expected one text"},
        {"/solution/r", REPLACE_REALS, 7, 0, "/solution/r: 7 numbers, expected 6"},
        {"/solution/l", REMOVE, 0, 0, "/solution/l: missing, expected real numbers"},
        {"/guesses/number_of_guesses", SET_INT, 0, 7, "/guesses/7: missing, expected 7 guesses"},
        {"/guesses/number_of_guesses", SET_INT, 0, INT_MAX,
         "/guesses/number_of_guesses: 2147483647, expected 0 to 999999"},
        {"/guesses/1/r", REMOVE, 0, 0, "/guesses/1/r: missing, expected 6 numbers"},
    };
    s.W[0] = 1;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) s.W[i + 10 * j] = i == j ? 2 + (i == 0) : 0.125;
    CHECK_CASES(&s, STORE_ROWS, cases);
}

static void bad_global_files(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_GLOBAL, 2, 3, 2, 12);
    const bad_case cases[] = {
        {"/fclib_global/M", REMOVE, 0, 0, "/fclib_global/M: missing, expected a matrix"},
        {"/fclib_global/M/n", SET_INT, 0, 11, "/fclib_global/M: 12 × 11, expected 12 × 12"},
        {"/fclib_global/H/m", SET_INT, 0, 13, "/fclib_global/H: 13 × 6, expected 12 × 6"},
        {"/fclib_global/H/n", SET_INT, 0, 5, "/fclib_global/H/n: 5, expected a multiple of spacedim = 2"},
        {"/fclib_global/H/n", SET_INT, 0, 2000000000,
         "/fclib_global/H/n: 2000000000, expected at most 1073741823"},
        {"/fclib_global/H/n", SET_INT, 0, 1000000000,
         "/fclib_global/vectors/w: 6 numbers, expected 1000000000"},
        {"/fclib_global/H/p", SET_INT, 9, 6, "/fclib_global/H/p: index 6 out of range, expected 0 … 5"},
        {"/fclib_global/G/i", SET_INT, 2, 12, "/fclib_global/G/i: index 12 out of range, expected 0 … 11"},
        {"/fclib_global/G/m", SET_INT, 0, 1, "/fclib_global/G: 1 × 2, expected 12 × 2"},
        {"/fclib_global/vectors/f", REPLACE_REALS, 13, 0, "/fclib_global/vectors/f: 13 numbers, expected 12"},
        {"/fclib_global/vectors/b", REMOVE, 0, 0, "/fclib_global/vectors/b: missing, expected real numbers"},
        {"/fclib_global/vectors/w", SET_REAL, 0, NAN,
         "/fclib_global/vectors/w: number 0 is nan, expected a finite one"},
        {"/fclib_global/M/nz", SET_INT, 0, 0,
         "/fclib_global/M: singular matrix (row 0), expected an invertible one"},
        {"/fclib_global/H/x", REPLACE_REALS, 100, 0, "/fclib_global/H/x: 100 numbers, expected 48 to 53"},
    };
    CHECK_CASES(&s, STORE_TRIPLETS, cases);
}

/* Of rolling problems: what they have beside the others. */
static void bad_rolling_files(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 5, 2, 2, 13);
    s.is_rolling = true;
    const bad_case cases[] = {
        {"/fclib_local_rolling", REMOVE, 0, 0, "/: no contact problem, expected a group fclib_local or"},
        {"/fclib_local_rolling/spacedim", SET_INT, 0, 4, "/fclib_local_rolling/spacedim: 4, expected 3 or 5"},
        {"/fclib_local_rolling/spacedim", SET_INT, 0, 2, "/fclib_local_rolling/spacedim: 2, expected 3 or 5"},
        {"/fclib_local_rolling/spacedim", SET_INT, 0, 3,
         "/fclib_local_rolling/W/m: 10, expected a multiple of spacedim = 3"},
        {"/fclib_local_rolling/vectors/mu_r", REMOVE, 0, 0,
         "/fclib_local_rolling/vectors/mu_r: missing, expected real numbers"},
        {"/fclib_local_rolling/vectors/mu_r", REPLACE_REALS, 3, 0,
         "/fclib_local_rolling/vectors/mu_r: 3 numbers, expected 2"},
        {"/fclib_local_rolling/vectors/mu_r", SET_REAL, 1, -0.5,
         "/fclib_local_rolling/vectors/mu_r: number 1 is -0.5, expected 0 or more"},
        {"/fclib_local_rolling/vectors/mu_r", SET_REAL, 0, NAN,
         "/fclib_local_rolling/vectors/mu_r: number 0 is nan, expected a finite one"},
        {"/fclib_local_rolling/vectors/mu_r", REPLACE_TEXT, 0, 0,
         "/fclib_local_rolling/vectors/mu_r: text, expected real numbers"},
        {"/fclib_local_rolling/vectors/mu", REMOVE, 0, 0,
         "/fclib_local_rolling/vectors/mu: missing, expected real numbers"},
        {"/fclib_local_rolling/V", REMOVE, 0, 0, "/fclib_local_rolling/V: missing, expected a matrix"},
        {"/fclib_local_rolling/W/x", SET_REAL, 0, -1e6, "/fclib_local_rolling: diagonal block of contact 0"},
        {"/solution/r", REPLACE_REALS, 6, 0, "/solution/r: 6 numbers, expected 10"}};
    CHECK_CASES(&s, STORE_ROWS, cases);
    fclib_sample g = make_fclib_sample(DLS_FCLIB_GLOBAL, 5, 1, 2, 14);
    g.is_rolling = true;
    const bad_case global_cases[] = {
        {"/fclib_global_rolling/H/n", SET_INT, 0, 6,
         "/fclib_global_rolling/H/n: 6, expected a multiple of spacedim = 5"},
        {"/fclib_global_rolling/M/nz", SET_INT, 0, 0,
         "/fclib_global_rolling/M: singular matrix (row 0), expected an invertible one"},
        {"/fclib_global_rolling/vectors/mu_r", REMOVE, 0, 0,
         "/fclib_global_rolling/vectors/mu_r: missing, expected real numbers"}};
    CHECK_CASES(&g, STORE_TRIPLETS, global_cases);
}

/* A body without mass cannot be condensed, in whatever storage. */
static void singular_masses(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_GLOBAL, 3, 2, 0, 13);
    for (int i = 0; i < 12; i++) s.M[5 + 12 * i] = s.M[i + 12 * 5] = 0;
    for (int storage = 0; storage < STORAGE_COUNT; storage++) {
        file_bytes bytes = make_fclib_file(&s, (fclib_storage)storage, H5F_LIBVER_EARLIEST);
        expect_message(bytes, "/fclib_global/M: singular matrix (row 5), expected an invertible one");
        free_bytes(&bytes);
    }
}

static void both_forms_in_one_file(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 3, 1, 0, 14);
    file_bytes good = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(good);
    edit_group(&edit, "/fclib_global");
    file_bytes bad = edit_end(&edit);
    expect_message(bad, "/: two contact problems, expected either fclib_local or fclib_global");
    free_bytes(&good);
    free_bytes(&bad);
}

/* Matrices of several rows are no vectors. */
static void a_table_instead_of_a_row(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 3, 2, 0, 15);
    file_bytes good = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(good);
    edit_remove(&edit, "/fclib_local/vectors/q");
    hid_t space = H5Screate_simple(2, (hsize_t[]){2, 3}, NULL);
    hid_t set = H5Dcreate2(edit.file, "/fclib_local/vectors/q", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                           H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, s.b);
    H5Dclose(set);
    H5Sclose(space);
    file_bytes bad = edit_end(&edit);
    expect_message(bad, "/fclib_local/vectors/q: several rows of numbers, expected one");
    free_bytes(&good);
    free_bytes(&bad);
}

/* ---- storage that is not FCLib's ---- */

static void expect_refused(file_edit *edit, const char *what) {
    dls_fclib *file;
    dls_error error = {0};
    file_bytes bytes = edit_end(edit);
    assert_int_equal(dls_fclib_read_memory(bytes.data, bytes.size, &file, &error), DLS_ERROR_FILE);
    assert_non_null(strstr(error.message, what));
    assert_non_null(strstr(error.message, "h5repack"));
    free_bytes(&bytes);
}

/* q again, with another way to store it. */
static void replace_q(file_edit *edit, hid_t type, hid_t space, hid_t creation) {
    edit_remove(edit, "/fclib_local/vectors/q");
    hid_t set =
        H5Dcreate2(edit->file, "/fclib_local/vectors/q", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
}

static void other_storage_is_refused(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 3, 2, 0, 16);
    file_bytes good = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    const hsize_t six = 6, two = 2;
    hid_t row = H5Screate_simple(1, &six, NULL), chunked = H5Pcreate(H5P_DATASET_CREATE);
    hid_t packed = H5Pcreate(H5P_DATASET_CREATE), external = H5Pcreate(H5P_DATASET_CREATE);
    hid_t complex = H5Tcreate(H5T_COMPOUND, 16);
    H5Pset_chunk(chunked, 1, &two);
    H5Pset_chunk(packed, 1, &two);
    H5Pset_deflate(packed, 6);
    H5Pset_external(external, "elsewhere.bin", 0, 48);
    H5Tinsert(complex, "re", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(complex, "im", 8, H5T_NATIVE_DOUBLE);
    const struct {
        hid_t type, creation;
        const char *what;
    } cases[] = {{H5T_NATIVE_DOUBLE, chunked, "data in chunks"},
                 {H5T_NATIVE_DOUBLE, packed, "/fclib_local/vectors/q: "},
                 {H5T_NATIVE_DOUBLE, external, "data in other files"},
                 {complex, H5P_DEFAULT, "a datatype other than"},
                 {H5T_NATIVE_LDOUBLE, H5P_DEFAULT, "a datatype other than"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        file_edit edit = edit_begin(good);
        replace_q(&edit, cases[k].type, row, cases[k].creation);
        expect_refused(&edit, cases[k].what);
    }
    file_edit edit = edit_begin(good);
    edit_remove(&edit, "/fclib_local/vectors/q");
    H5Lcreate_soft("/fclib_local/vectors/mu", edit.file, "/fclib_local/vectors/q", H5P_DEFAULT, H5P_DEFAULT);
    expect_refused(&edit, "a soft or external link");
    edit = edit_begin(good);
    H5Lcreate_external("other.hdf5", "/x", edit.file, "/fclib_local/R", H5P_DEFAULT, H5P_DEFAULT);
    expect_refused(&edit, "link");
    edit = edit_begin(good);
    H5Lcreate_hard(edit.file, "/solution/r", edit.file, "/solution/l", H5P_DEFAULT, H5P_DEFAULT);
    expect_refused(&edit, "an object with several names");
    H5Sclose(row);
    H5Pclose(chunked);
    H5Pclose(packed);
    H5Pclose(external);
    H5Tclose(complex);
    free_bytes(&good);
}

/* μ_r is divided by a length that follows from W: here by less than 1 m. */
static void rolling_friction_out_of_proportion(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 5, 1, 0, 16);
    s.is_rolling = true;
    s.mu_rolling[0] = DBL_MAX;
    for (int i = 3; i < 5; i++) s.W[i + 5 * i] *= 100;
    file_bytes bad = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    expect_message(bad,
                   "/fclib_local_rolling: rolling or spinning friction of contact 0 is out of proportion");
    free_bytes(&bad);
}

/* What only rolling problems have is walked as well. */
static void links_of_rolling_files_are_refused(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 5, 1, 0, 15);
    s.is_rolling = true;
    file_bytes good = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(good);
    edit_remove(&edit, "/fclib_local_rolling/vectors/mu_r");
    H5Lcreate_soft("/fclib_local_rolling/vectors/mu", edit.file, "/fclib_local_rolling/vectors/mu_r",
                   H5P_DEFAULT, H5P_DEFAULT);
    expect_refused(&edit, "a soft or external link");
    free_bytes(&good);
}

/* ---- damage ---- */

/* Whatever comes back, it must be a sound file or a message. */
static void read_anything(const unsigned char *bytes, size_t size) {
    dls_fclib *file = NULL;
    dls_error error = {0};
    unsigned char *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    if (dls_fclib_read_memory(exact, size, &file, &error)) {
        assert_null(file);
        assert_true(error.status != DLS_OK && !strncmp(error.message, "(memory): ", 10));
        assert_null(strchr(error.message, '\n'));
    }
    dls_fclib_destroy(file);
    free(exact);
}

static void truncated_files(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_GLOBAL, 3, 2, 2, 17);
    for (int format = 0; format < 2; format++) {
        file_bytes good =
            make_fclib_file(&s, STORE_TRIPLETS, format ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST);
        size_t step = good.size / (size_t)scaled(1000, 100) + 1;
        for (size_t size = 0; size < good.size; size += step) {
            dls_fclib *file;
            dls_error error = {0};
            assert_int_equal(dls_fclib_read_memory(good.data, size, &file, &error), DLS_ERROR_FILE);
            read_anything(good.data, size);
        }
        free_bytes(&good);
    }
}

/* Bytes all over a file, with all bits turned over or one of them. */
static void files_with_one_bad_byte(void **state) {
    (void)state;
    dls_random g = {18};
    for (int k = 0; k < 4; k++) {
        fclib_sample s = make_fclib_sample(k % 2 ? DLS_FCLIB_GLOBAL : DLS_FCLIB_LOCAL, 3, 2, 2, 18 + k);
        file_bytes good = make_fclib_file(&s, STORE_COLUMNS, k / 2 ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST);
        size_t step = (size_t)(13 / test_scale()); /* the fuzz target meets them all */
        for (size_t at = (size_t)k; at < good.size; at += step) {
            unsigned char byte = good.data[at];
            good.data[at] = (unsigned char)~byte;
            read_anything(good.data, good.size);
            good.data[at] = (unsigned char)(byte ^ 1u << dls_random_below(&g, 8));
            read_anything(good.data, good.size);
            good.data[at] = byte;
        }
        free_bytes(&good);
    }
}

/* Several bytes at once, among them numbers that mean something to HDF5. */
static void files_with_many_bad_bytes(void **state) {
    (void)state;
    dls_random g = {19};
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 2, 3, 2, 19);
    file_bytes good = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    unsigned char *bad = malloc(good.size);
    const unsigned char telling[] = {0, 1, 2, 3, 8, 16, 24, 0x7f, 0x80, 0xff};
    for (int round = 0; round < scaled(3000, 300); round++) {
        memcpy(bad, good.data, good.size);
        int changes = 1 + (int)dls_random_below(&g, 8);
        for (int k = 0; k < changes; k++)
            bad[dls_random_below(&g, good.size)] = telling[dls_random_below(&g, sizeof telling)];
        read_anything(bad, good.size);
    }
    free(bad);
    free_bytes(&good);
}

static void random_bytes(void **state) {
    (void)state;
    dls_random g = {20};
    unsigned char bytes[4096];
    for (int round = 0; round < 200; round++) {
        for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)dls_random_below(&g, 256);
        if (round % 2) memcpy(bytes, "\x89HDF\r\n\x1a\n", 8);
        read_anything(bytes, dls_random_below(&g, sizeof bytes));
    }
}

/* Free room of no size at the end of a heap, on which HDF5 itself works for ever. */
static void a_heap_without_end(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 3, 1, 0, 22);
    file_bytes good = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(good);
    edit_long_text(&edit, "/fclib_local/info/title", "title");
    file_bytes bytes = edit_end(&edit);
    unsigned char *heap = bytes.data;
    while (memcmp(heap, "GCOL", 4)) heap++;
    unsigned char *free_room = heap + 16 + 16 + 8; /* behind the heap's head and a text of 8 bytes at most */
    assert_memory_equal(free_room, "\0\0\0\0\0\0\0\0", 8);
    memset(free_room + 8, 0, 8);
    dls_fclib *file;
    dls_error error = {0};
    assert_int_equal(dls_fclib_read_memory(bytes.data, bytes.size, &file, &error), DLS_ERROR_FILE);
    assert_non_null(strstr(error.message, "/fclib_local/info/title: damaged HDF5 file: collection of texts"));
    free_bytes(&good);
    free_bytes(&bytes);
}

/* ---- files that cannot be opened ---- */

static void expect_unreadable(const char *path, const char *message) {
    dls_fclib *file;
    dls_error error = {0};
    assert_int_equal(dls_fclib_read(path, &file, &error), DLS_ERROR_FILE);
    assert_string_equal(error.message, message);
}

static void unreadable_paths(void **state) {
    (void)state;
    expect_unreadable("absent.hdf5", "absent.hdf5: cannot be read: No such file or directory");
    expect_unreadable(".", ".: a folder, expected a file with a contact problem");
    expect_unreadable("/dev/null", "/dev/null: a device, expected a file with a contact problem");
    expect_unreadable("/dev/zero", "/dev/zero: a device, expected a file with a contact problem");
    assert_int_equal(dls_fclib_read(NULL, NULL, NULL), DLS_ERROR_ARGUMENT);
}

/* A very long path leaves room for what matters. */
static void long_paths(void **state) {
    (void)state;
    char path[2000];
    dls_fclib *file;
    dls_error error = {0};
    memset(path, 'd', sizeof path);
    strcpy(path + sizeof path - 10, "end.hdf5");
    assert_int_equal(dls_fclib_read(path, &file, &error), DLS_ERROR_FILE);
    assert_non_null(strstr(error.message, "ddend.hdf5: cannot be read: File name too long"));
}

/* ---- files that cannot be written ---- */

static int count_files(void) {
    int count = 0;
    DIR *folder = opendir(".");
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static void expect_unwritable(const char *path, const dls_fclib_content *content, const char *message) {
    dls_error error = {0};
    int files = count_files();
    assert_int_equal(dls_fclib_write(path, content, &error), DLS_ERROR_FILE);
    assert_string_equal(error.message, message);
    assert_int_equal(count_files(), files);
}

static void unwritable_paths(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_STACK, 20, 0.5, false);
    dls_fclib_content content = {.problem = p};
    expect_unwritable("no/such/folder.hdf5", &content,
                      "no/such/folder.hdf5: cannot be written: No such file or directory");
    expect_unwritable("/dev/full", &content, "/dev/full: cannot be written: No space left on device");
    expect_unwritable(".", &content, ".: cannot be written: Is a directory");
    struct stat about;
    assert_int_equal(stat("/dev/full", &about), 0);
    assert_true(S_ISCHR(about.st_mode)); /* still a device */
    assert_int_equal(dls_fclib_write("/dev/null", &content, NULL), DLS_OK);
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    assert_int_equal(dls_fclib_write(NULL, &content, NULL), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_matrix_market_write("/dev/null/x", p, NULL), DLS_ERROR_FILE);
    dls_problem_destroy(p);
}

/* The disk fills while a file is written: the old one stays, and nothing else is left behind. */
static void full_disk(void **state) {
    (void)state;
    const char *path = "precious.hdf5";
    dls_problem *p = generated(DLS_GENERATE_STACK, 60, 0.5, false);
    dls_fclib_content content = {.problem = p};
    double *r = calloc((size_t)dls_problem_row_count(p), sizeof(double));
    assert_int_equal(dls_fclib_write(path, &content, NULL), DLS_OK);
    file_bytes before = load_bytes(path);
    dls_fclib *file;
    assert_int_equal(dls_fclib_read(path, &file, NULL), DLS_OK);
    struct rlimit limit, small;
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = before.size / 2;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    dls_error error = {0};
    int files = count_files();
    dls_status written = dls_fclib_write(path, &content, &error);
    dls_status rewritten = dls_fclib_rewrite(path, file, r, NULL, NULL);
    dls_status exported = dls_matrix_market_write("matrix", p, NULL);
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, handler);
    assert_int_equal(written, DLS_ERROR_FILE);
    assert_string_equal(error.message, "precious.hdf5: cannot be written: File too large");
    assert_int_equal(rewritten, DLS_ERROR_FILE);
    assert_int_equal(exported, DLS_ERROR_FILE);
    assert_int_equal(count_files(), files);
    file_bytes after = load_bytes(path);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    free_bytes(&before);
    free_bytes(&after);
    dls_fclib_destroy(file);
    dls_problem_destroy(p);
    free(r);
    remove(path);
}

static void solutions_must_be_finite(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 3, 1, 0, 21);
    file_bytes bytes = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    dls_fclib *file;
    dls_error error = {0};
    double r[3] = {1, NAN, 0}, u[3] = {0};
    assert_int_equal(dls_fclib_read_memory(bytes.data, bytes.size, &file, NULL), DLS_OK);
    dls_fclib_content content = {.problem = dls_fclib_problem(file), .r = r, .u = u};
    assert_int_equal(dls_fclib_rewrite("never.hdf5", file, r, u, &error), DLS_ERROR_INPUT);
    assert_int_equal(dls_fclib_write("never.hdf5", &content, &error), DLS_ERROR_INPUT);
    assert_string_equal(error.message, "never.hdf5: solution has nan, 0 in row 1, expected finite numbers");
    assert_int_equal(access("never.hdf5", F_OK), -1);
    dls_fclib_destroy(file);
    free_bytes(&bytes);
}

/* A link stays a link, and a file keeps its permissions. */
static void links_and_permissions_stay(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_DISCS, 10, 0.5, false);
    dls_fclib_content content = {.problem = p};
    struct stat about;
    fclose(fopen("real.hdf5", "w"));
    assert_int_equal(chmod("real.hdf5", 0640), 0);
    assert_int_equal(symlink("real.hdf5", "link.hdf5"), 0);
    assert_int_equal(dls_fclib_write("link.hdf5", &content, NULL), DLS_OK);
    assert_int_equal(lstat("link.hdf5", &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat("real.hdf5", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_true(about.st_size > 0);
    remove("link.hdf5");
    remove("real.hdf5");
    dls_problem_destroy(p);
}

/* ---- problems that FCLib cannot hold ---- */

static void expect_unfit(const dls_problem_def *def, int rows, const double *W, const char *message) {
    dls_problem *p = dense_problem(def, rows, W);
    dls_error error = {0};
    int files = count_files();
    assert_int_equal(dls_fclib_write("unfit.hdf5", &(dls_fclib_content){.problem = p}, &error),
                     DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, message));
    assert_int_equal(count_files(), files);
    dls_problem_destroy(p);
}

static void problems_that_do_not_fit(void **state) {
    (void)state;
    double W[25] = {0}, mu[2] = {0.5, 0.5}, b[5] = {0};
    for (int i = 0; i < 5; i++) W[6 * i] = 1;
    double contensou[16] = {0};
    for (int i = 0; i < 4; i++) contensou[5 * i] = 1;
    dls_problem_def def = dls_default_problem_def();
    def.mu = mu;
    def.b = b;
    def.block_count = 1;
    def.block_size = (int[]){4};
    expect_unfit(&def, 4, contensou,
                 "contact 0 has 3 tangential, 0 rolling and 0 spinning rows, expected 1 and 0, ");
    def.block_count = 2;
    def.block_size = (int[]){2, 3};
    expect_unfit(&def, 5, W,
                 "contact 1 has 2 tangential and 0 rolling rows, expected 1 and 0 as those before");
    def.block_size = (int[]){3, 2};
    def.block_kind = (uint8_t[]){DLS_CONTACT, DLS_INTERVAL};
    W[5 * 3] = 0.25; /* W(0, 3) without W(3, 0) */
    expect_unfit(&def, 5, W, "unsymmetrically");
    W[5 * 3] = 0;
    def.low = (double[]){0, 0, 0, -HUGE_VAL, 0};
    expect_unfit(&def, 5, W, "row 1 of interval block 1 has the bounds 0 and inf, expected none");
    def.low = NULL;
    def.block_kind = NULL;
    def.mu_rolling = def.mu_spinning = mu;
    def.block_parts = (uint8_t[]){DLS_PARTS(1, 1, 0), DLS_PARTS(1, 0, 0)};
    expect_unfit(&def, 5, W,
                 "contact 1 has 1 tangential and 0 rolling rows, expected 1 and 1 as those before");
    def.block_parts = (uint8_t[]){DLS_PARTS(1, 0, 1), DLS_PARTS(1, 0, 0)};
    expect_unfit(&def, 5, W, "contact 0 has 1 tangential, 0 rolling and 1 spinning rows");
    def.block_size = (int[]){4, 1};
    def.block_parts = (uint8_t[]){DLS_PARTS(2, 1, 0), 0};
    expect_unfit(&def, 5, W, "contact 0 has 2 tangential, 1 rolling and 0 spinning rows");
    def.block_size = (int[]){1, 4};
    def.block_parts = (uint8_t[]){0, DLS_PARTS(2, 1, 0)};
    expect_unfit(&def, 5, W, "contact 0 has 0 tangential, 0 rolling and 0 spinning rows");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_local_files),
        cmocka_unit_test(bad_global_files),
        cmocka_unit_test(bad_rolling_files),
        cmocka_unit_test(singular_masses),
        cmocka_unit_test(both_forms_in_one_file),
        cmocka_unit_test(a_table_instead_of_a_row),
        cmocka_unit_test(other_storage_is_refused),
        cmocka_unit_test(rolling_friction_out_of_proportion),
        cmocka_unit_test(links_of_rolling_files_are_refused),
        cmocka_unit_test(truncated_files),
        cmocka_unit_test(files_with_one_bad_byte),
        cmocka_unit_test(files_with_many_bad_bytes),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(a_heap_without_end),
        cmocka_unit_test(unreadable_paths),
        cmocka_unit_test(long_paths),
        cmocka_unit_test(unwritable_paths),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(solutions_must_be_finite),
        cmocka_unit_test(links_and_permissions_stay),
        cmocka_unit_test(problems_that_do_not_fit),
    };
    return cmocka_run_group_tests_name("fclib: bad files", tests, NULL, NULL);
}
