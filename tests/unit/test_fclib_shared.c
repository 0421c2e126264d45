/* Published problems, where they are at hand: all are read, condensed as others condensed them, and rewritten
 * whole.
 */
#include "support/fclib_files.h"
#include "support/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const out = "shared-out.hdf5";

/* Calls visit with every file of a folder of shared data; returns how many there were. */
static int visit_files(const char *folder, void (*visit)(const char *path, const char *name)) {
    char path[2048];
    int count = 0;
    snprintf(path, sizeof path, "%s/data/%s", shared_folder(), folder);
    DIR *open = opendir(path);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        if (!strstr(entry->d_name, ".hdf5")) continue;
        snprintf(path, sizeof path, "%s/data/%s/%s", shared_folder(), folder, entry->d_name);
        visit(path, entry->d_name);
        count++;
    }
    if (open) closedir(open);
    return count;
}

static void skip_without_shared(void) {
    if (shared_folder()) return;
    print_message("no shared problems: set DLS_SHARED to their folder\n");
    skip();
}

static dls_fclib *read_or_fail(const char *path) {
    dls_fclib *file = NULL;
    dls_error error = {0};
    if (dls_fclib_read(path, &file, &error)) fail_msg("%s", error.message);
    return file;
}

static void check_sound(const char *path, const char *name) {
    double start = dls_clock_cpu();
    dls_fclib *file = read_or_fail(path);
    double seconds = dls_clock_cpu() - start;
    const dls_problem *p = dls_fclib_problem(file);
    assert_true(dls_problem_contact_count(p) > 0);
    assert_true(*dls_fclib_title(file));
    bool is_planar = !strncmp(name, "fc2d", 4) || strstr(name, "FrictionContactProblem00237");
    assert_int_equal(dls_problem_block_size(p, 0), is_planar ? 2 : 3);
    if (seconds > 1) fail_msg("%s took %g s to read", name, seconds);
    dls_fclib_destroy(file);
}

static void every_published_problem_is_read(void **state) {
    (void)state;
    skip_without_shared();
    assert_true(visit_files("fclib", check_sound) > 20);
    assert_true(visit_files("fclib-original", check_sound) > 5);
}

/* ---- twins: published files and what somebody else condensed them to ---- */

/* W column-major, to be freed. */
static double *dense_matrix(const dls_problem *p) {
    int n = dls_problem_row_count(p);
    int64_t count = dls_problem_export(p, NULL, NULL, NULL),
            *start = malloc(sizeof(int64_t) * (size_t)(n + 1));
    int *column = malloc(sizeof(int) * (size_t)count);
    double *value = malloc(sizeof(double) * (size_t)count),
           *W = calloc((size_t)n * (size_t)n, sizeof(double));
    dls_problem_export(p, start, column, value);
    for (int i = 0; i < n; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++) W[i + (int64_t)n * column[k]] += value[k];
    free(start);
    free(column);
    free(value);
    return W;
}

static void make_symmetric(double *W, int n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) W[i + n * j] = W[j + n * i] = 0.5 * (W[i + n * j] + W[j + n * i]);
}

static void assert_close(const char *name, const char *what, const double *a, const double *b,
                         int64_t count) {
    double most = 0, difference = 0;
    for (int64_t k = 0; k < count; k++) {
        most = fmax(most, fabs(b[k]));
        difference = fmax(difference, fabs(a[k] - b[k]));
    }
    if (!(difference <= 1e-9 * most)) fail_msg("%s: %s differs by %g of %g", name, what, difference, most);
}

/* Where M was published as one triangle, the twin was condensed from it as it stands, and then got a
 * symmetric W: half of what the problem means, so here it is read so too. */
static void compare_twins(const char *path, const char *name) {
    char twin_path[2048];
    snprintf(twin_path, sizeof twin_path, "%s/data/fclib/%s", shared_folder(), name);
    dls_fclib *file, *twin = read_or_fail(twin_path);
    dls_error error;
    if (dls_fclib_read_stored(path, &file, &error)) fail_msg("%s", error.message);
    assert_true(dls_fclib_has_triangle(file) == (!!strstr(name, "LMGC_Global") || !!strstr(name, "CubeH8")));
    const dls_problem *a = dls_fclib_problem(file), *b = dls_fclib_problem(twin);
    int n = dls_problem_row_count(a);
    assert_int_equal(n, dls_problem_row_count(b));
    assert_int_equal(dls_problem_stored_blocks(a), dls_problem_stored_blocks(b));
    for (int c = 0; c < dls_problem_block_count(a); c++)
        assert_true(dls_problem_mu(a, c) == dls_problem_mu(b, c));
    assert_close(name, "q", dls_problem_b(a), dls_problem_b(b), n);
    double *V = dense_matrix(a), *W = dense_matrix(b);
    if (strstr(name, "LMGC_Global")) make_symmetric(V, n);
    assert_close(name, "W", V, W, (int64_t)n * n);
    free(V);
    free(W);
    dls_fclib_destroy(file);
    dls_fclib_destroy(twin);
}

static void condensed_problems_agree_with_their_twins(void **state) {
    (void)state;
    skip_without_shared();
    assert_true(visit_files("fclib-original", compare_twins) > 5);
}

static void known_counts(void **state) {
    (void)state;
    skip_without_shared();
    const struct {
        const char *name;
        int freedoms, bodies;
    } known[] = {{"Spheres-i099-356-679", 12000, 393}, {"CubeH8", 162, 2}, {"Capsules-i125-1213", 0, 99}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        char path[2048];
        snprintf(path, sizeof path, "%s/data/fclib-original/%s.hdf5", shared_folder(), known[k].name);
        dls_fclib *file = read_or_fail(path);
        assert_int_equal(dls_fclib_freedoms(file), known[k].freedoms);
        assert_int_equal(dls_fclib_bodies(file), known[k].bodies);
        dls_fclib_destroy(file);
    }
}

/* ---- rewriting ---- */

/* Type, extent and, but for the solution, content of a dataset must be as they were. */
static herr_t compare_object(hid_t original, const char *name, const H5O_info_t *info, void *other) {
    if (info->type != H5O_TYPE_DATASET) return 0;
    hid_t a = H5Dopen2(original, name, H5P_DEFAULT), b = H5Dopen2(*(hid_t *)other, name, H5P_DEFAULT);
    if (a < 0 || b < 0) fail_msg("%s is gone", name);
    hid_t a_type = H5Dget_type(a), b_type = H5Dget_type(b), a_space = H5Dget_space(a),
          b_space = H5Dget_space(b);
    assert_true(H5Tequal(a_type, b_type) > 0);
    assert_true(H5Sextent_equal(a_space, b_space) > 0);
    size_t bytes = H5Tget_size(a_type) * (size_t)H5Sget_simple_extent_npoints(a_space);
    char *x = malloc(bytes + 1), *y = malloc(bytes + 1);
    H5Dread(a, a_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
    H5Dread(b, b_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, y);
    if (strncmp(name, "solution/", 9)) assert_memory_equal(x, y, bytes);
    free(x);
    free(y);
    H5Tclose(a_type);
    H5Tclose(b_type);
    H5Sclose(a_space);
    H5Sclose(b_space);
    H5Dclose(a);
    H5Dclose(b);
    return 0;
}

static void rewrite_and_compare(const char *path, const char *name) {
    (void)name;
    dls_fclib *file = read_or_fail(path);
    int n = dls_problem_row_count(dls_fclib_problem(file));
    double *r = malloc(sizeof(double) * (size_t)n);
    for (int i = 0; i < n; i++) r[i] = 1.0 / (i + 1);
    dls_error error = {0};
    if (dls_fclib_rewrite(out, file, r, NULL, &error)) fail_msg("%s", error.message);
    dls_fclib *again = read_or_fail(out);
    assert_memory_equal(dls_fclib_solution(again), r, sizeof(double) * (size_t)n);
    hid_t a = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), b = H5Fopen(out, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(H5Ovisit(a, H5_INDEX_NAME, H5_ITER_INC, compare_object, &b) >= 0);
    assert_int_equal(H5Lexists(b, "/solution/v", H5P_DEFAULT) > 0, dls_fclib_freedoms(file) > 0);
    H5Fclose(a);
    H5Fclose(b);
    dls_fclib_destroy(file);
    dls_fclib_destroy(again);
    free(r);
    remove(out);
}

static void rewritten_files_keep_everything(void **state) {
    (void)state;
    skip_without_shared();
    visit_files("fclib", rewrite_and_compare);
    visit_files("fclib-original", rewrite_and_compare);
}

/* ---- one triangle of M ---- */

static dls_fclib *from_memory(file_bytes bytes) {
    dls_fclib *file;
    dls_error error;
    if (dls_fclib_read_memory(bytes.data, bytes.size, &file, &error)) fail_msg("%s", error.message);
    return file;
}

static void expect_same_rows(const dls_problem *p, const dls_problem *q, bool same) {
    double r[3] = {0.3, -0.7, 0.9}, u[3], v[3], far = 0;
    dls_error error;
    assert_int_equal(dls_problem_velocity(p, r, u, NULL, &error), DLS_OK);
    assert_int_equal(dls_problem_velocity(q, r, v, NULL, &error), DLS_OK);
    for (int k = 0; k < 3; k++) far = fmax(far, fabs(u[k] - v[k]));
    assert_true(same ? far < 1e-12 : far > 1e-3);
}

/* M is symmetric: a file with one triangle of it means the same, unless it is to be taken literally. */
static void triangles_are_mirrored(void **state) {
    (void)state;
    static const char path[] = "fclib-triangle.hdf5";
    for (int lower = 0; lower < 2; lower++) {
        fclib_sample s = make_fclib_sample(DLS_FCLIB_GLOBAL, 3, 1, 0, 3);
        dls_fclib *stored;
        dls_error error;
        for (int j = 0; j < 12; j++)
            for (int i = 0; i < j; i++) s.M[i + 12 * j] = s.M[j + 12 * i] = i / 6 == j / 6 ? 0.1 : 0;
        for (int i = 0; i < 12; i++) s.M[i + 12 * i] = 2 + i;
        file_bytes bytes = make_fclib_file(&s, STORE_COLUMNS, H5F_LIBVER_EARLIEST);
        dls_fclib *whole = from_memory(bytes);
        free_bytes(&bytes);
        assert_false(dls_fclib_has_triangle(whole));
        for (int j = 0; j < 12; j++)
            for (int i = 0; i < j; i++) s.M[lower ? i + 12 * j : j + 12 * i] = 0;
        bytes = make_fclib_file(&s, STORE_COLUMNS, H5F_LIBVER_EARLIEST);
        dls_fclib *half = from_memory(bytes);
        FILE *out_file = fopen(path, "wb");
        assert_true(out_file && fwrite(bytes.data, 1, bytes.size, out_file) == bytes.size &&
                    !fclose(out_file));
        assert_int_equal(dls_fclib_read_stored(path, &stored, &error), DLS_OK);
        assert_true(dls_fclib_has_triangle(half) && dls_fclib_has_triangle(stored));
        expect_same_rows(dls_fclib_problem(whole), dls_fclib_problem(half), true);
        expect_same_rows(dls_fclib_problem(whole), dls_fclib_problem(stored), false);
        dls_fclib_destroy(whole), dls_fclib_destroy(half), dls_fclib_destroy(stored), free_bytes(&bytes);
        remove(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_published_problem_is_read),
        cmocka_unit_test(condensed_problems_agree_with_their_twins),
        cmocka_unit_test(known_counts),
        cmocka_unit_test(triangles_are_mirrored),
        cmocka_unit_test(rewritten_files_keep_everything),
    };
    return cmocka_run_group_tests_name("fclib: published problems", tests, NULL, NULL);
}
