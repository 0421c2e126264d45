/* Good FCLib files: every form and storage read, written and read back to the same bits. */
#include "base/random.h"
#include "fclib/fclib.h"
#include "support/allocator.h"
#include "support/fclib_files.h"
#include "support/sample.h"
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a problem holds, dense ---- */

/* W column-major, to be freed. */
static double *dense_matrix(const dls_problem *p) {
    int n = dls_problem_row_count(p);
    int64_t count = dls_problem_export(p, NULL, NULL, NULL);
    int64_t *start = malloc(sizeof(int64_t) * (size_t)(n + 1));
    int *column = malloc(sizeof(int) * (size_t)(count + 1));
    double *value = malloc(sizeof(double) * (size_t)(count + 1));
    double *W = calloc((size_t)(n * n + 1), sizeof(double));
    dls_problem_export(p, start, column, value);
    for (int i = 0; i < n; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++) W[i + n * column[k]] += value[k];
    free(start);
    free(column);
    free(value);
    return W;
}

static void assert_same_bits(const double *a, const double *b, int count) {
    assert_memory_equal(a, b, sizeof(double) * (size_t)count);
}

static void assert_same_problem(const dls_problem *a, const dls_problem *b) {
    int n = dls_problem_row_count(a);
    assert_int_equal(n, dls_problem_row_count(b));
    assert_int_equal(dls_problem_block_count(a), dls_problem_block_count(b));
    for (int c = 0; c < dls_problem_block_count(a); c++) {
        assert_int_equal(dls_problem_block_size(a, c), dls_problem_block_size(b, c));
        assert_int_equal(dls_problem_block_kind(a, c), dls_problem_block_kind(b, c));
        assert_int_equal(dls_problem_block_parts(a, c), dls_problem_block_parts(b, c));
        assert_true(dls_problem_mu(a, c) == dls_problem_mu(b, c));
        double rolling = dls_problem_mu_rolling(a, c);
        assert_true(fabs(dls_problem_mu_rolling(b, c) - rolling) <= 2 * DBL_EPSILON * rolling);
    }
    if (n) assert_same_bits(dls_problem_b(a), dls_problem_b(b), n);
    double *V = dense_matrix(a), *W = dense_matrix(b);
    /* rolling and bilateral rows are in another unit inside: the last bits of their W may be others */
    bool has_units = dls_problem_has_parts(a) || dls_problem_contact_count(a) < dls_problem_block_count(a);
    for (int k = 0; k < n * n && has_units; k++) {
        assert_true(fabs(V[k] - W[k]) <= 4 * DBL_EPSILON * fabs(V[k]));
        V[k] = W[k];
    }
    if (n) assert_same_bits(V, W, n * n);
    free(V);
    free(W);
}

static dls_fclib *read_bytes(file_bytes bytes) {
    dls_fclib *file = NULL;
    dls_error error = {0};
    dls_status status = dls_fclib_read_memory(bytes.data, bytes.size, &file, &error);
    if (status) fail_msg("%s", error.message);
    return file;
}

static dls_fclib *read_path(const char *path) {
    dls_fclib *file = NULL;
    dls_error error = {0};
    if (dls_fclib_read(path, &file, &error)) fail_msg("%s", error.message);
    return file;
}

/* ---- reading ---- */

static void check_blocks(const dls_problem *p, const fclib_sample *s) {
    assert_int_equal(dls_problem_contact_count(p), s->contacts);
    assert_int_equal(dls_problem_row_count(p), fclib_sample_rows(s));
    for (int c = 0; c < dls_problem_block_count(p); c++) {
        bool is_contact = c < s->contacts;
        assert_int_equal(dls_problem_block_kind(p, c), is_contact ? DLS_CONTACT : DLS_INTERVAL);
        if (!is_contact) continue;
        assert_int_equal(dls_problem_block_size(p, c), s->dimension);
        int rolling = s->is_rolling ? s->dimension / 2 : 0;
        assert_int_equal(dls_problem_block_parts(p, c), DLS_PARTS(s->dimension - 1 - rolling, rolling, 0));
        assert_true(dls_problem_mu(p, c) == s->mu[c]);
        double mu_rolling = s->is_rolling ? s->mu_rolling[c] : 0;
        assert_true(fabs(dls_problem_mu_rolling(p, c) - mu_rolling) <= 2 * DBL_EPSILON * mu_rolling);
    }
}

static void check_extras(const dls_fclib *file, const fclib_sample *s) {
    assert_string_equal(dls_fclib_title(file), "title");
    assert_string_equal(dls_fclib_description(file), "description");
    assert_string_equal(dls_fclib_math_info(file), "math_info");
    assert_int_equal(dls_fclib_source_form(file), s->freedoms ? DLS_FCLIB_GLOBAL : DLS_FCLIB_LOCAL);
    assert_int_equal(dls_fclib_freedoms(file), s->freedoms);
    assert_int_equal(dls_fclib_bodies(file), 99); /* an attribute says so */
    assert_int_equal(dls_fclib_guess_count(file), 1);
    assert_null(dls_fclib_guess(file, 1));
    assert_null(dls_fclib_guess(file, -1));
    for (int i = 0; i < fclib_sample_rows(s); i++) {
        assert_true(dls_fclib_guess(file, 0)[i] == i + 0.25);
        assert_true(dls_fclib_solution(file)[i] == 0);
    }
}

static void check_read(const fclib_sample *s, file_bytes bytes) {
    int n = fclib_sample_rows(s);
    dls_fclib *file = read_bytes(bytes);
    const dls_problem *p = dls_fclib_problem(file);
    double *W = dense_matrix(p), b[12], tolerance = s->freedoms ? 1e-12 : 0;
    condensed_velocity(s, b);
    check_blocks(p, s);
    check_extras(file, s);
    for (int k = 0; k < n * n; k++)
        assert_true(fabs(W[k] - s->W[k]) <= tolerance + 4 * DBL_EPSILON * fabs(s->W[k]));
    for (int k = 0; k < n; k++) assert_true(fabs(dls_problem_b(p)[k] - b[k]) <= tolerance);
    free(W);
    dls_fclib_destroy(file);
}

static const struct {
    dls_fclib_form form;
    int dimension, contacts, equalities;
    bool is_rolling;
} shapes[] = {{DLS_FCLIB_LOCAL, 3, 2, 0, false},  {DLS_FCLIB_LOCAL, 2, 3, 0, false},
              {DLS_FCLIB_LOCAL, 3, 2, 4, false},  {DLS_FCLIB_LOCAL, 2, 1, 8, false},
              {DLS_FCLIB_GLOBAL, 3, 2, 0, false}, {DLS_FCLIB_GLOBAL, 2, 3, 0, false},
              {DLS_FCLIB_GLOBAL, 3, 2, 4, false}, {DLS_FCLIB_GLOBAL, 2, 1, 8, false},
              {DLS_FCLIB_LOCAL, 5, 2, 0, true},   {DLS_FCLIB_LOCAL, 3, 2, 4, true},
              {DLS_FCLIB_LOCAL, 5, 2, 2, true},   {DLS_FCLIB_GLOBAL, 5, 2, 0, true},
              {DLS_FCLIB_GLOBAL, 3, 2, 4, true},  {DLS_FCLIB_GLOBAL, 5, 1, 3, true}};
enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes };

static fclib_sample sample_of_shape(int k) {
    fclib_sample s = make_fclib_sample(shapes[k].form, shapes[k].dimension, shapes[k].contacts,
                                       shapes[k].equalities, k + 1);
    s.is_rolling = shapes[k].is_rolling;
    return s;
}

static void every_form_and_storage(void **state) {
    (void)state;
    for (int k = 0; k < SHAPE_COUNT; k++)
        for (int storage = 0; storage < STORAGE_COUNT; storage++) {
            fclib_sample s = sample_of_shape(k);
            file_bytes bytes = make_fclib_file(&s, (fclib_storage)storage, H5F_LIBVER_EARLIEST);
            check_read(&s, bytes);
            free_bytes(&bytes);
        }
}

/* HDF5 has a newer file format, with other superblocks, headers and groups. */
static void newer_file_format(void **state) {
    (void)state;
    for (int k = 0; k < SHAPE_COUNT; k++) {
        fclib_sample s = sample_of_shape(k);
        file_bytes bytes = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_LATEST);
        check_read(&s, bytes);
        free_bytes(&bytes);
    }
}

/* Numbers of other widths and byte orders mean the same. */
static void other_number_types(void **state) {
    (void)state;
    fclib_sample s = sample_of_shape(0);
    for (int i = 0; i < 6; i++) s.b[i] = i - 2.5; /* exact in single precision */
    file_bytes bytes = make_fclib_file(&s, STORE_TRIPLETS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(bytes);
    edit_ints(&edit, "/fclib_local/W/m", H5T_STD_I64LE, 1, (int[]){6});
    edit_ints(&edit, "/fclib_local/W/n", H5T_STD_U8LE, 1, (int[]){6});
    edit_ints(&edit, "/fclib_local/spacedim", H5T_STD_I16BE, 1, (int[]){3});
    edit_reals(&edit, "/fclib_local/vectors/q", H5T_IEEE_F32BE, 6, s.b);
    edit_reals(&edit, "/fclib_local/vectors/mu", H5T_IEEE_F64BE, 2, s.mu);
    file_bytes other = edit_end(&edit);
    check_read(&s, other);
    free_bytes(&bytes);
    free_bytes(&other);
}

/* Data may lie inside the object header, and texts of any length in a heap. */
static void compact_data_and_long_texts(void **state) {
    (void)state;
    fclib_sample s = sample_of_shape(0);
    file_bytes bytes = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(bytes);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    edit_long_text(&edit, "/fclib_local/info/title", "title");
    edit_long_text(&edit, "/fclib_local/info/description", "description");
    edit_remove(&edit, "/fclib_local/vectors/mu");
    hid_t row = H5Screate_simple(2, (hsize_t[]){2, 1}, NULL);
    H5Pset_layout(creation, H5D_COMPACT);
    hid_t set = H5Dcreate2(edit.file, "/fclib_local/vectors/mu", H5T_NATIVE_DOUBLE, row, H5P_DEFAULT,
                           creation, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, s.mu);
    H5Dclose(set);
    H5Sclose(row);
    H5Pclose(creation);
    file_bytes other = edit_end(&edit);
    check_read(&s, other);
    free_bytes(&bytes);
    free_bytes(&other);
}

/* Neither info nor solution nor guesses need be there. */
static void only_what_is_needed(void **state) {
    (void)state;
    fclib_sample s = sample_of_shape(0);
    file_bytes bytes = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(bytes);
    edit_remove(&edit, "/fclib_local/info");
    edit_remove(&edit, "/solution");
    edit_remove(&edit, "/guesses");
    file_bytes other = edit_end(&edit);
    dls_fclib *file = read_bytes(other);
    assert_string_equal(dls_fclib_title(file), "");
    assert_string_equal(dls_fclib_math_info(file), "");
    assert_null(dls_fclib_solution(file));
    assert_int_equal(dls_fclib_guess_count(file), 0);
    dls_fclib_destroy(file);
    free_bytes(&bytes);
    free_bytes(&other);
}

/* So many guesses that their group is a tree of several levels; some came and went. */
static void many_guesses(void **state) {
    (void)state;
    enum { GUESSES = 600 };
    fclib_sample s = sample_of_shape(1);
    file_bytes bytes = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(bytes);
    edit_int(&edit, "/guesses/number_of_guesses", GUESSES);
    for (int k = 2; k <= GUESSES + 200; k++) {
        char group[32], impulses[40];
        snprintf(group, sizeof group, "/guesses/%d", k);
        snprintf(impulses, sizeof impulses, "%s/r", group);
        edit_group(&edit, group);
        double r[6] = {k, 0, 0, 0, 0, 0};
        edit_reals(&edit, impulses, H5T_NATIVE_DOUBLE, 6, r);
    }
    for (int k = GUESSES + 1; k <= GUESSES + 200; k++) {
        char group[32];
        snprintf(group, sizeof group, "/guesses/%d", k);
        edit_remove(&edit, group);
    }
    file_bytes other = edit_end(&edit);
    dls_fclib *file = read_bytes(other);
    assert_int_equal(dls_fclib_guess_count(file), GUESSES);
    for (int k = 1; k < GUESSES; k++) assert_true(dls_fclib_guess(file, k)[0] == k + 1);
    dls_fclib_destroy(file);
    free_bytes(&bytes);
    free_bytes(&other);
}

/* Duplicate triplets add up; stored zeros are zeros. */
static void duplicate_triplets(void **state) {
    (void)state;
    fclib_sample s = sample_of_shape(0);
    s.W[0] = 2;
    file_bytes bytes = make_fclib_file(&s, STORE_TRIPLETS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(bytes);
    int count;
    double *row = read_dataset(bytes, "/fclib_local/W/i", &count);
    double *column = read_dataset(bytes, "/fclib_local/W/p", NULL);
    double *value = read_dataset(bytes, "/fclib_local/W/x", NULL);
    int i[64], p[64];
    double x[64];
    for (int k = 0; k < count; k++) i[k] = (int)row[k], p[k] = (int)column[k], x[k] = value[k];
    i[count] = p[count] = 0;
    x[0] = 1.5; /* (0, 0) comes first */
    x[count] = 0.5;
    edit_int(&edit, "/fclib_local/W/nz", count + 1);
    edit_ints(&edit, "/fclib_local/W/i", H5T_NATIVE_INT, count + 1, i);
    edit_ints(&edit, "/fclib_local/W/p", H5T_NATIVE_INT, count + 1, p);
    edit_reals(&edit, "/fclib_local/W/x", H5T_NATIVE_DOUBLE, count + 1, x);
    file_bytes other = edit_end(&edit);
    check_read(&s, other);
    free(row);
    free(column);
    free(value);
    free_bytes(&bytes);
    free_bytes(&other);
}

/* ---- equality rows ---- */

/* Nine constraints: four in a chain, one alone, two coupled, the second of these once more, one coupled with
 * that. */
static void grouping_of_equality_rows(void **state) {
    (void)state;
    fclib_sample s = {.dimension = 3, .contacts = 1, .equalities = 9, .mu = {0.5}};
    const int direction[12][2] = {{0, 0}, {1, 1}, {2, 2},  {3, 4},   {4, 5},   {5, 6},
                                  {6, 7}, {8, 8}, {9, 10}, {10, 11}, {10, 11}, {11, 11}};
    const int expected[] = {3, 4, 1, 2, 2};
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
            for (int k = 0; k < 4; k++) s.W[i + 12 * j] += direction[i][k / 2] == direction[j][k % 2];
    file_bytes bytes = make_fclib_file(&s, STORE_TRIPLETS, H5F_LIBVER_EARLIEST);
    dls_fclib *file = read_bytes(bytes);
    const dls_problem *p = dls_fclib_problem(file);
    assert_int_equal(dls_problem_block_count(p), 5);
    for (int c = 0; c < 5; c++) assert_int_equal(dls_problem_block_size(p, c), expected[c]);
    dls_fclib_destroy(file);
    free_bytes(&bytes);
}

static void equality_blocks_have_six_rows_at_most(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_LOCAL, 2, 1, 10, 5);
    file_bytes bytes = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    dls_fclib *file = read_bytes(bytes);
    assert_int_equal(dls_problem_block_count(dls_fclib_problem(file)), 3);
    assert_int_equal(dls_problem_block_size(dls_fclib_problem(file), 1), 6);
    assert_int_equal(dls_problem_block_size(dls_fclib_problem(file), 2), 4);
    dls_fclib_destroy(file);
    free_bytes(&bytes);
}

/* ---- bodies ---- */

/* Two rigid bodies with a diagonal M, the second of them not touched; then one body of coupled freedoms. */
static void counting_bodies(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_GLOBAL, 3, 1, 0, 3);
    memset(s.M, 0, sizeof s.M);
    for (int i = 0; i < 12; i++) s.M[i + 12 * i] = 1 + i;
    for (int j = 0; j < 3; j++)
        for (int i = 6; i < 12; i++) s.A[i + 12 * j] = 0;
    for (int j = 0; j < 3; j++) s.A[j + 12 * j] = 1;
    for (int coupled = 0; coupled < 3; coupled++) {
        if (coupled == 1) s.A[7] = 1; /* touches the second body too */
        if (coupled == 2)
            s.M[3 + 12 * 8] = s.M[8 + 12 * 3] = 0.1; /* M is not rigid any more: parts of one freedom */
        file_bytes stated = make_fclib_file(&s, STORE_COLUMNS, H5F_LIBVER_EARLIEST);
        file_edit edit = edit_begin(stated);
        edit_remove(&edit, "/fclib_global/info"); /* where their number is stated */
        file_bytes bytes = edit_end(&edit);
        free_bytes(&stated);
        dls_fclib *file = read_bytes(bytes);
        int freedoms_touched = 0;
        for (int i = 0; i < 12; i++) freedoms_touched += s.A[i] != 0 || s.A[i + 12] != 0 || s.A[i + 24] != 0;
        int expected = coupled == 0 ? 1 : coupled == 1 ? 2 : freedoms_touched;
        assert_int_equal(dls_fclib_bodies(file), expected);
        dls_fclib_destroy(file);
        free_bytes(&bytes);
    }
}

/* Planar bodies have three freedoms, whatever spacedim is: of four with a diagonal M two are touched. */
static void counting_planar_bodies_that_roll(void **state) {
    (void)state;
    fclib_sample s = make_fclib_sample(DLS_FCLIB_GLOBAL, 3, 1, 0, 3);
    s.is_rolling = true;
    memset(s.M, 0, sizeof s.M);
    memset(s.A, 0, sizeof s.A);
    for (int i = 0; i < 12; i++) s.M[i + 12 * i] = 1 + i;
    for (int j = 0; j < 3; j++) s.A[j + 12 * j] = 1, s.A[3 + j + 12 * j] = -1;
    file_bytes stated = make_fclib_file(&s, STORE_COLUMNS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(stated);
    edit_remove(&edit, "/fclib_global_rolling/info"); /* where their number is stated */
    file_bytes bytes = edit_end(&edit);
    dls_fclib *file = read_bytes(bytes);
    assert_int_equal(dls_fclib_bodies(file), 2);
    dls_fclib_destroy(file), free_bytes(&stated), free_bytes(&bytes);
}

/* ---- writing ---- */

static const char *const out = "fclib-out.hdf5";

static void write_or_fail(const dls_fclib_content *content) {
    dls_error error = {0};
    if (dls_fclib_write(out, content, &error)) fail_msg("%s", error.message);
}

static void written_files_read_back_to_the_same_bits(void **state) {
    (void)state;
    for (int k = 0; k < SHAPE_COUNT; k++) {
        fclib_sample s = sample_of_shape(k);
        file_bytes bytes = make_fclib_file(&s, STORE_COLUMNS, H5F_LIBVER_EARLIEST);
        dls_fclib *first = read_bytes(bytes);
        double r[12], u[12];
        for (int i = 0; i < 12; i++) r[i] = 1.0 / (i + 1), u[i] = -i / 7.0;
        dls_fclib_content content = {dls_fclib_problem(first), r, u, "a title", "β ≠ b", NULL};
        write_or_fail(&content);
        dls_fclib *second = read_path(out);
        assert_same_problem(dls_fclib_problem(first), dls_fclib_problem(second));
        assert_same_bits(dls_fclib_solution(second), r, fclib_sample_rows(&s));
        assert_string_equal(dls_fclib_title(second), "a title");
        assert_string_equal(dls_fclib_description(second), "β ≠ b");
        assert_string_equal(dls_fclib_math_info(second), "");
        file_bytes once = load_bytes(out), again;
        write_or_fail(&content);
        again = load_bytes(out);
        assert_int_equal(once.size, again.size);
        assert_memory_equal(once.data, again.data, once.size);
        double *stored_u = read_dataset(once, "/solution/u", NULL);
        assert_same_bits(stored_u, u, s.dimension * s.contacts);
        free(stored_u);
        free_bytes(&once);
        free_bytes(&again);
        dls_fclib_destroy(first);
        dls_fclib_destroy(second);
        free_bytes(&bytes);
    }
    remove(out);
}

/* Bilateral blocks between contacts move behind them, and so do their rows of r. */
static void bilateral_blocks_between_contacts(void **state) {
    (void)state;
    dls_random g = {4};
    sample s = sample_create(&g, &(sample_shape){.blocks = 6,
                                                 .bodies = 4,
                                                 .dof = 6,
                                                 .dimension = 3,
                                                 .bilateral_every = 3,
                                                 .mu_low = 0.3,
                                                 .mu_high = 0.6,
                                                 .coupling = 0.5});
    dls_problem *p = sample_stored(&s);
    double *r = malloc(sizeof(double) * (size_t)s.rows), *moved = malloc(sizeof(double) * (size_t)s.rows);
    int place = 0, *of_row = malloc(sizeof(int) * (size_t)s.rows);
    for (int kind = DLS_CONTACT; kind <= DLS_INTERVAL; kind++)
        for (int c = 0; c < s.def.block_count; c++)
            for (int i = 0; s.kind[c] == kind && i < s.size[c]; i++) {
                int row = dls_problem_block_row(p, c) + i;
                r[row] = row + 0.5;
                of_row[place] = row;
                moved[place++] = r[row];
            }
    write_or_fail(&(dls_fclib_content){.problem = p, .r = r});
    dls_fclib *file = read_path(out);
    const dls_problem *q = dls_fclib_problem(file);
    assert_same_bits(dls_fclib_solution(file), moved, s.rows);
    double *W = dense_matrix(q);
    for (int i = 0; i < s.rows; i++) {
        assert_true(dls_problem_b(q)[i] == s.b[of_row[i]]);
        for (int j = 0; j < s.rows; j++)
            assert_true(fabs(W[i + s.rows * j] - s.W[of_row[i] + s.rows * of_row[j]]) < 1e-12);
    }
    free(W);
    free(r);
    free(moved);
    free(of_row);
    dls_fclib_destroy(file);
    dls_problem_destroy(p);
    sample_free(&s);
    remove(out);
}

static void no_contacts_at_all(void **state) {
    (void)state;
    dls_problem *p;
    dls_problem_def def = dls_default_problem_def();
    int64_t start = 0;
    dls_csr W = {0, 0, &start, NULL, NULL};
    assert_int_equal(dls_problem_create(&def, &W, &p, NULL), DLS_OK);
    double r = 0;
    write_or_fail(&(dls_fclib_content){.problem = p, .r = &r, .title = "nothing"});
    dls_fclib *file = read_path(out);
    assert_int_equal(dls_problem_block_count(dls_fclib_problem(file)), 0);
    assert_string_equal(dls_fclib_title(file), "nothing");
    assert_int_equal(dls_fclib_rewrite(out, file, &r, NULL, NULL), DLS_OK);
    dls_fclib_destroy(file);
    dls_problem_destroy(p);
    remove(out);
}

static void matrix_free_problems_are_assembled(void **state) {
    (void)state;
    dls_problem *lean = generated(DLS_GENERATE_PACKING, 40, 0.4, true), *stored;
    assert_int_equal(dls_problem_assemble(lean, &stored, NULL), DLS_OK);
    write_or_fail(&(dls_fclib_content){.problem = lean});
    dls_fclib *file = read_path(out);
    assert_same_problem(dls_fclib_problem(file), stored);
    assert_null(dls_fclib_solution(file));
    dls_fclib_destroy(file);
    dls_problem_destroy(lean);
    dls_problem_destroy(stored);
    remove(out);
}

/* ---- writing again ---- */

/* Every dataset of a group must be as it was. */
static void assert_same_datasets(file_bytes a, file_bytes b, const char *group) {
    const char *names[] = {"m", "n", "nz", "nzmax", "p", "i", "x"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        member where = in(group, names[k]);
        int first_count, second_count;
        double *first = read_dataset(a, where.path, &first_count);
        double *second = read_dataset(b, where.path, &second_count);
        assert_int_equal(first_count, second_count);
        assert_same_bits(first, second, first_count);
        free(first);
        free(second);
    }
}

/* u = W r + b, and M v = A r + f. */
static void check_solution(const fclib_sample *s, const double *r, file_bytes bytes) {
    int n = fclib_sample_rows(s), rows = s->dimension * s->contacts, m = s->freedoms;
    double b[12], *u = read_dataset(bytes, "/solution/u", NULL),
                  *stored = read_dataset(bytes, "/solution/r", NULL);
    condensed_velocity(s, b);
    assert_same_bits(stored, r, rows);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < n; j++) b[i] += s->W[i + n * j] * r[j];
        assert_true(fabs(u[i] - b[i]) < 1e-12);
    }
    free(u);
    free(stored);
    if (s->equalities) {
        double *l = read_dataset(bytes, "/solution/l", NULL);
        assert_same_bits(l, r + rows, s->equalities);
        free(l);
    }
    assert_int_equal(has_object(bytes, "/solution/v"), m > 0);
    if (!m) return;
    double *v = read_dataset(bytes, "/solution/v", NULL);
    for (int i = 0; i < m; i++) {
        double balance = -s->f[i];
        for (int j = 0; j < m; j++) balance += s->M[i + m * j] * v[j];
        for (int j = 0; j < n; j++) balance -= s->A[i + m * j] * r[j];
        assert_true(fabs(balance) < 1e-12);
    }
    free(v);
}

static void rewriting_keeps_everything_else(void **state) {
    (void)state;
    for (int k = 0; k < SHAPE_COUNT; k++)
        for (int storage = 0; storage < STORAGE_COUNT; storage++) {
            fclib_sample s = sample_of_shape(k);
            file_bytes plain =
                make_fclib_file(&s, (fclib_storage)storage, k % 2 ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST);
            file_edit edit = edit_begin(plain);
            edit_group(&edit, "/somebody_elses");
            file_bytes bytes = edit_end(&edit);
            dls_fclib *file = read_bytes(bytes);
            double r[12];
            for (int i = 0; i < 12; i++) r[i] = 3.0 / (i + 2);
            assert_int_equal(dls_fclib_rewrite(out, file, r, NULL, NULL), DLS_OK);
            file_bytes again = load_bytes(out);
            dls_fclib *back = read_bytes(again);
            assert_same_problem(dls_fclib_problem(file), dls_fclib_problem(back));
            assert_same_bits(dls_fclib_solution(back), r, fclib_sample_rows(&s));
            check_solution(&s, r, again);
            assert_true(has_object(again, "/somebody_elses"));
            assert_same_datasets(bytes, again, in(fclib_sample_root(&s), s.freedoms ? "M" : "W").path);
            file_edit look = edit_begin(again);
            assert_true(H5Aexists_by_name(look.file, in(fclib_sample_root(&s), "info").path,
                                          "numberOfInvolvedDS", H5P_DEFAULT) > 0);
            edit_drop(&look);
            /* once more: the solution is overwritten where it lies */
            assert_int_equal(dls_fclib_rewrite(out, back, r, NULL, NULL), DLS_OK);
            file_bytes third = load_bytes(out);
            assert_int_equal(third.size, again.size);
            dls_fclib_destroy(file);
            dls_fclib_destroy(back);
            free_bytes(&plain);
            free_bytes(&bytes);
            free_bytes(&again);
            free_bytes(&third);
        }
    remove(out);
}

/* A solution in single precision is replaced, not rounded; so is whatever else has the place of a solution.
 */
static void rewriting_replaces_other_types(void **state) {
    (void)state;
    fclib_sample s = sample_of_shape(0);
    file_bytes plain = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    double r[6] = {1.0 / 3, 0.1, 0.2, 0.7, 0.3, 0.6};
    for (int kind = 0; kind < 3; kind++) {
        file_edit edit = edit_begin(plain);
        if (kind == 0) edit_reals(&edit, "/solution/r", H5T_IEEE_F32LE, 6, r);
        if (kind > 0) edit_remove(&edit, kind == 1 ? "/solution/u" : "/solution");
        if (kind == 1) edit_group(&edit, "/solution/u");
        if (kind == 2) edit_int(&edit, "/solution", 42);
        file_bytes bytes = edit_end(&edit);
        dls_fclib *file = read_bytes(bytes);
        assert_int_equal(dls_fclib_rewrite(out, file, r, NULL, NULL), DLS_OK);
        dls_fclib *back = read_path(out);
        assert_same_bits(dls_fclib_solution(back), r, 6);
        dls_fclib_destroy(file);
        dls_fclib_destroy(back);
        free_bytes(&bytes);
    }
    free_bytes(&plain);
    remove(out);
}

/* ---- Matrix Market ---- */

static void matrix_market_files(void **state) {
    (void)state;
    fclib_sample s = sample_of_shape(2);
    file_bytes bytes = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    dls_fclib *file = read_bytes(bytes);
    const dls_problem *p = dls_fclib_problem(file);
    int n = dls_problem_row_count(p), rows, columns, i, j;
    long count;
    double value, *W = dense_matrix(p), *found = calloc((size_t)(n * n), sizeof(double));
    char banner[128], comment[128];
    assert_int_equal(dls_matrix_market_write("out", p, NULL), DLS_OK);
    FILE *f = fopen("out_W.mtx", "r");
    assert_non_null(fgets(banner, sizeof banner, f));
    assert_string_equal(banner, "%%MatrixMarket matrix coordinate real general\n");
    assert_non_null(fgets(comment, sizeof comment, f));
    assert_int_equal(comment[0], '%');
    assert_int_equal(fscanf(f, "%d %d %ld", &rows, &columns, &count), 3);
    assert_true(rows == n && columns == n && count == dls_problem_export(p, NULL, NULL, NULL));
    for (long k = 0; k < count; k++) {
        assert_int_equal(fscanf(f, "%d %d %lf", &i, &j, &value), 3);
        found[i - 1 + n * (j - 1)] = value;
    }
    fclose(f);
    assert_same_bits(found, W, n * n);
    const char *vectors[] = {"out_q.mtx", "out_mu.mtx"};
    for (int k = 0; k < 2; k++) {
        f = fopen(vectors[k], "r");
        assert_non_null(fgets(banner, sizeof banner, f));
        assert_string_equal(banner, "%%MatrixMarket matrix array real general\n");
        assert_non_null(fgets(comment, sizeof comment, f));
        assert_int_equal(fscanf(f, "%d %d", &rows, &columns), 2);
        assert_true(columns == 1 && rows == (k ? s.contacts : n));
        for (i = 0; i < rows; i++) {
            assert_int_equal(fscanf(f, "%lf", &value), 1);
            assert_true(value == (k ? s.mu[i] : dls_problem_b(p)[i]));
        }
        fclose(f);
        remove(vectors[k]);
    }
    remove("out_W.mtx");
    free(W);
    free(found);
    dls_fclib_destroy(file);
    free_bytes(&bytes);
}

/* One array of a file that the problem needs, column by column, to be freed. */
static double *read_array(const char *path, int *rows, int *columns) {
    char line[256];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(line[0], '%');
    assert_int_equal(fscanf(f, "%d %d", rows, columns), 2);
    double *values = calloc((size_t)(*rows * *columns + 1), sizeof(double));
    for (int k = 0; k < *rows * *columns; k++) assert_int_equal(fscanf(f, "%lf", &values[k]), 1);
    fclose(f);
    remove(path);
    return values;
}

/* A contact with all parts, a motor and a bilateral row: files that plain problems do not have. */
static void matrix_market_files_of_mixed_blocks(void **state) {
    (void)state;
    int64_t start[9];
    int column[8], rows, columns;
    double value[8], b[8] = {-1, 0, 0, 0.5, 0, 0, 1, 1}, mu[3] = {0.5, 0, 0}, mu_r[3] = {0.02, 0, 0},
                     mu_s[3] = {0.03, 0, 0}, low[8] = {0}, high[8] = {0};
    for (int i = 0; i < 8; i++) start[i] = column[i] = i, value[i] = i + 1;
    start[8] = 8;
    low[6] = -2, high[6] = 2;
    low[7] = -HUGE_VAL, high[7] = HUGE_VAL;
    dls_problem_def def = dls_default_problem_def();
    def.block_count = 3;
    def.block_size = (int[]){6, 1, 1};
    def.block_kind = (uint8_t[]){DLS_CONTACT, DLS_INTERVAL, DLS_INTERVAL};
    def.block_parts = (uint8_t[]){DLS_PARTS(2, 2, 1), 0, 0};
    def.mu = mu, def.mu_rolling = mu_r, def.mu_spinning = mu_s, def.b = b, def.low = low, def.high = high;
    dls_problem *p = NULL;
    assert_int_equal(dls_problem_create(&def, &(dls_csr){8, 8, start, column, value}, &p, NULL), DLS_OK);
    assert_int_equal(dls_matrix_market_write("mixed", p, NULL), DLS_OK);
    double *rolling = read_array("mixed_mu_rolling.mtx", &rows, &columns);
    assert_true(rows == 1 && columns == 1 && fabs(rolling[0] - 0.02) < 1e-16);
    double *spinning = read_array("mixed_mu_spinning.mtx", &rows, &columns);
    assert_true(rows == 1 && columns == 1 && fabs(spinning[0] - 0.03) < 1e-16);
    double *parts = read_array("mixed_parts.mtx", &rows, &columns);
    assert_true(rows == 3 && columns == 5);
    const double told[15] = {6, 1, 1, 1, 0, 0, 2, 0, 0, 2, 0, 0, 1, 0, 0};
    assert_same_bits(parts, told, 15);
    double *bounds = read_array("mixed_bounds.mtx", &rows, &columns);
    assert_true(rows == 8 && columns == 2);
    assert_true(fabs(bounds[6] + 2) < 1e-15 && fabs(bounds[14] - 2) < 1e-15);
    assert_true(isinf(bounds[7]) && bounds[7] < 0 && isinf(bounds[15]) && bounds[15] > 0);
    for (int i = 0; i < 6; i++) assert_true(isinf(bounds[i]) && isinf(bounds[8 + i]));
    const char *ending[] = {"_W.mtx", "_q.mtx", "_mu.mtx"};
    char path[32];
    for (int k = 0; k < 3; k++) {
        assert_string_equal(dls_matrix_market_suffix(p, k), ending[k]);
        snprintf(path, sizeof path, "mixed%s", ending[k]);
        assert_int_equal(remove(path), 0);
    }
    assert_null(dls_matrix_market_suffix(p, 7));
    free(rolling), free(spinning), free(parts), free(bounds);
    dls_problem_destroy(p);
}

/* ---- good manners ---- */

static herr_t count_errors(hid_t stack, void *count) {
    (void)stack;
    ++*(int *)count;
    return 0;
}

/* HDF5 reports nothing while a bad file is read, and as before afterwards. */
static void error_reports_of_hdf5_are_given_back(void **state) {
    (void)state;
    int reports = 0;
    H5E_auto2_t before, after;
    void *before_data, *after_data;
    dls_fclib *file;
    fclib_sample s = sample_of_shape(0);
    file_bytes bytes = make_fclib_file(&s, STORE_ROWS, H5F_LIBVER_EARLIEST);
    file_edit edit = edit_begin(bytes);
    edit_remove(&edit, "/fclib_local/vectors/q");
    file_bytes bad = edit_end(&edit);
    H5Eget_auto2(H5E_DEFAULT, &before, &before_data);
    H5Eset_auto2(H5E_DEFAULT, count_errors, &reports);
    assert_int_equal(dls_fclib_read_memory(bad.data, bad.size, &file, NULL), DLS_ERROR_INPUT);
    assert_int_equal(reports, 0);
    H5Eget_auto2(H5E_DEFAULT, &after, &after_data);
    assert_true(after == count_errors && after_data == &reports);
    H5Eset_auto2(H5E_DEFAULT, before, before_data);
    free_bytes(&bytes);
    free_bytes(&bad);
}

/* Reads, rewrites and writes with allocation n failing, for every n. */
static void running_out_of_memory(void **state) {
    (void)state;
    for (int k = 2; k < SHAPE_COUNT; k += 4) {
        fclib_sample s = sample_of_shape(k);
        file_bytes bytes = make_fclib_file(&s, STORE_COLUMNS, H5F_LIBVER_EARLIEST);
        double r[12] = {0};
        dls_status status = DLS_ERROR_MEMORY;
        for (int n = 1; status; n++) {
            dls_fclib *file = NULL;
            dls_error error = {0};
            assert_true(n < 1000);
            counting_begin(n);
            status = dls_fclib_read_memory(bytes.data, bytes.size, &file, &error);
            if (!status) status = dls_fclib_rewrite(out, file, r, NULL, &error);
            if (!status)
                status = dls_fclib_write(
                    out, &(dls_fclib_content){.problem = dls_fclib_problem(file), .r = r}, &error);
            if (!status) status = dls_matrix_market_write("out", dls_fclib_problem(file), &error);
            if (status) assert_true(strstr(error.message, "memory"));
            dls_fclib_destroy(file);
            assert_int_equal(counting_end(), 0);
        }
        free_bytes(&bytes);
    }
    remove(out);
    for (int k = 0; dls_matrix_market_suffix(NULL, k); k++) {
        char path[64];
        snprintf(path, sizeof path, "out%s", dls_matrix_market_suffix(NULL, k));
        remove(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_and_storage),
        cmocka_unit_test(newer_file_format),
        cmocka_unit_test(other_number_types),
        cmocka_unit_test(compact_data_and_long_texts),
        cmocka_unit_test(only_what_is_needed),
        cmocka_unit_test(many_guesses),
        cmocka_unit_test(duplicate_triplets),
        cmocka_unit_test(grouping_of_equality_rows),
        cmocka_unit_test(equality_blocks_have_six_rows_at_most),
        cmocka_unit_test(counting_bodies),
        cmocka_unit_test(counting_planar_bodies_that_roll),
        cmocka_unit_test(written_files_read_back_to_the_same_bits),
        cmocka_unit_test(bilateral_blocks_between_contacts),
        cmocka_unit_test(no_contacts_at_all),
        cmocka_unit_test(matrix_free_problems_are_assembled),
        cmocka_unit_test(rewriting_keeps_everything_else),
        cmocka_unit_test(rewriting_replaces_other_types),
        cmocka_unit_test(matrix_market_files),
        cmocka_unit_test(matrix_market_files_of_mixed_blocks),
        cmocka_unit_test(error_reports_of_hdf5_are_given_back),
        cmocka_unit_test(running_out_of_memory),
    };
    return cmocka_run_group_tests_name("fclib", tests, NULL, NULL);
}
