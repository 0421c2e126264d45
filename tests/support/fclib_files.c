#include "support/fclib_files.h"

#include "base/random.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- samples ---- */

/* A Aᵀ plus a diagonal, with a hole between the first and the last row where there is room for one. */
static void fill_definite(dls_random *g, int n, double *W) {
    double A[12 * 12];
    for (int k = 0; k < n * n; k++) A[k] = dls_random_between(g, -1, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            W[i + n * j] = i == j ? 0.5 : 0;
            for (int k = 0; k < n; k++) W[i + n * j] += A[i + n * k] * A[j + n * k];
        }
    if (n > 3) W[n - 1] = W[n * (n - 1)] = 0;
}

/* X ← M⁻¹ X by Gauss–Jordan elimination: M is definite. */
static void solve_definite(int n, const double *M, int columns, double *X) {
    double A[12 * 12];
    memcpy(A, M, sizeof(double) * (size_t)(n * n));
    for (int k = 0; k < n; k++) {
        double pivot = A[k + n * k];
        for (int j = 0; j < n; j++) A[k + n * j] /= pivot;
        for (int j = 0; j < columns; j++) X[k + n * j] /= pivot;
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0 : A[i + n * k];
            for (int j = 0; j < n; j++) A[i + n * j] -= factor * A[k + n * j];
            for (int j = 0; j < columns; j++) X[i + n * j] -= factor * X[k + n * j];
        }
    }
}

fclib_sample make_fclib_sample(dls_fclib_form form, int dimension, int contacts, int equalities, int seed) {
    fclib_sample s = {.dimension = dimension, .contacts = contacts, .equalities = equalities};
    dls_random g = {(uint64_t)seed};
    int rows = fclib_sample_rows(&s);
    assert_true(rows <= 12 && contacts <= 6);
    for (int i = 0; i < rows; i++) s.b[i] = dls_random_between(&g, -1, 1);
    for (int c = 0; c < contacts; c++) {
        s.mu[c] = 0.1 * (c + 1);
        s.mu_rolling[c] = 0.03 * (c + 1);
    }
    if (form == DLS_FCLIB_LOCAL) {
        fill_definite(&g, rows, s.W);
        return s;
    }
    int n = s.freedoms = 12;
    double X[12 * 12];
    fill_definite(&g, n, s.M);
    for (int i = 0; i < n; i++) s.f[i] = dls_random_between(&g, -1, 1);
    for (int k = 0; k < n * rows; k++) s.A[k] = k % 3 ? dls_random_between(&g, -1, 1) : 0;
    memcpy(X, s.A, sizeof X);
    solve_definite(n, s.M, rows, X);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++)
            for (int k = 0; k < n; k++) s.W[i + rows * j] += s.A[k + n * i] * X[k + n * j];
    return s;
}

const char *fclib_sample_root(const fclib_sample *s) {
    if (s->is_rolling) return s->freedoms ? "/fclib_global_rolling" : "/fclib_local_rolling";
    return s->freedoms ? "/fclib_global" : "/fclib_local";
}

void condensed_velocity(const fclib_sample *s, double *b) {
    double v[12];
    memcpy(b, s->b, sizeof s->b);
    if (!s->freedoms) return;
    memcpy(v, s->f, sizeof v);
    solve_definite(s->freedoms, s->M, 1, v);
    for (int i = 0; i < fclib_sample_rows(s); i++)
        for (int k = 0; k < s->freedoms; k++) b[i] += s->A[k + s->freedoms * i] * v[k];
}

/* ---- editing ---- */

/* Without times, the same content gives the same bytes. */
static hid_t timeless(hid_t class) {
    hid_t creation = H5Pcreate(class);
    H5Pset_obj_track_times(creation, 0);
    return creation;
}

/* A file of its own for each edit, in the folder that the test runs in. */
static file_edit open_edit(hid_t file, const char *name) {
    assert_true(file >= 0);
    file_edit edit = {file, {0}};
    snprintf(edit.name, sizeof edit.name, "%s", name);
    return edit;
}

static const char *new_name(void) {
    static int serial;
    static char name[32];
    snprintf(name, sizeof name, "edit-%d.hdf5", serial++);
    return name;
}

file_edit edit_new(H5F_libver_t format) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = timeless(H5P_FILE_CREATE);
    if (format != H5F_LIBVER_EARLIEST) H5Pset_libver_bounds(access, format, format);
    const char *name = new_name();
    file_edit edit = open_edit(H5Fcreate(name, H5F_ACC_TRUNC, creation, access), name);
    H5Pclose(access);
    H5Pclose(creation);
    return edit;
}

file_edit edit_begin(file_bytes bytes) {
    const char *name = new_name();
    FILE *file = fopen(name, "wb");
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
    return open_edit(H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT), name);
}

void edit_drop(file_edit *edit) {
    H5Fclose(edit->file);
    remove(edit->name);
}

file_bytes edit_end(file_edit *edit) {
    H5Fclose(edit->file);
    file_bytes bytes = load_bytes(edit->name);
    remove(edit->name);
    return bytes;
}

void edit_group(file_edit *edit, const char *path) {
    hid_t creation = timeless(H5P_GROUP_CREATE);
    hid_t group = H5Gcreate2(edit->file, path, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(group >= 0);
    H5Gclose(group);
    H5Pclose(creation);
}

void edit_remove(file_edit *edit, const char *path) {
    assert_true(H5Ldelete(edit->file, path, H5P_DEFAULT) >= 0);
}

static void put(file_edit *edit, const char *path, hid_t file_type, hid_t type, int count,
                const void *values) {
    if (H5Lexists(edit->file, path, H5P_DEFAULT) > 0) edit_remove(edit, path);
    hsize_t extent = (hsize_t)count;
    hid_t space = H5Screate_simple(1, &extent, NULL), creation = timeless(H5P_DATASET_CREATE);
    hid_t set = H5Dcreate2(edit->file, path, file_type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(set >= 0);
    if (values) assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(space);
}

void edit_int(file_edit *edit, const char *path, int value) {
    put(edit, path, H5T_NATIVE_INT, H5T_NATIVE_INT, 1, &value);
}

void edit_ints(file_edit *edit, const char *path, hid_t type, int count, const int *values) {
    put(edit, path, type, H5T_NATIVE_INT, count, values);
}

void edit_reals(file_edit *edit, const char *path, hid_t type, int count, const double *values) {
    put(edit, path, type, H5T_NATIVE_DOUBLE, count, values);
}

static void put_text(file_edit *edit, const char *path, size_t size, const void *text) {
    if (H5Lexists(edit->file, path, H5P_DEFAULT) > 0) edit_remove(edit, path);
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    hid_t creation = timeless(H5P_DATASET_CREATE);
    H5Tset_size(type, size);
    hid_t set = H5Dcreate2(edit->file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(space);
    H5Tclose(type);
}

void edit_text(file_edit *edit, const char *path, const char *text) {
    put_text(edit, path, strlen(text) + 1, text);
}

void edit_long_text(file_edit *edit, const char *path, const char *text) {
    put_text(edit, path, H5T_VARIABLE, &text);
}

/* Reads all, changes one, writes all. */
static void change(file_edit *edit, const char *path, hid_t type, size_t size, int index, const void *value) {
    hid_t set = H5Dopen2(edit->file, path, H5P_DEFAULT), space = H5Dget_space(set);
    assert_true(set >= 0);
    size_t count = (size_t)H5Sget_simple_extent_npoints(space);
    assert_true((size_t)index < count);
    char *all = malloc(count * size);
    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all);
    memcpy(all + (size_t)index * size, value, size);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all);
    free(all);
    H5Sclose(space);
    H5Dclose(set);
}

void edit_int_at(file_edit *edit, const char *path, int index, int value) {
    change(edit, path, H5T_NATIVE_INT, sizeof value, index, &value);
}

void edit_real_at(file_edit *edit, const char *path, int index, double value) {
    change(edit, path, H5T_NATIVE_DOUBLE, sizeof value, index, &value);
}

/* ---- whole files ---- */

typedef struct dense_part {
    int rows, columns, lead;
    const double *first;
} dense_part;

typedef struct packed_matrix {
    int count, row[144], column[144], start[14];
    double value[144];
} packed_matrix;

/* Entries by columns or by rows; triplets come by columns. */
static packed_matrix pack(const dense_part *part, bool by_rows) {
    packed_matrix m = {0};
    int majors = by_rows ? part->rows : part->columns, minors = by_rows ? part->columns : part->rows;
    for (int a = 0; a < majors; a++) {
        for (int b = 0; b < minors; b++) {
            int i = by_rows ? a : b, j = by_rows ? b : a;
            double value = part->first[i + part->lead * j];
            if (value == 0) continue;
            m.row[m.count] = i;
            m.column[m.count] = j;
            m.value[m.count++] = value;
        }
        m.start[a + 1] = m.count;
    }
    return m;
}

static void put_matrix(file_edit *edit, const char *group, const dense_part *part, fclib_storage storage) {
    packed_matrix m = pack(part, storage == STORE_ROWS);
    char path[64];
    const struct {
        const char *name;
        int value;
    } sizes[] = {{"m", part->rows},
                 {"n", part->columns},
                 {"nz", storage == STORE_TRIPLETS  ? m.count
                        : storage == STORE_COLUMNS ? -1
                                                   : -2},
                 /* triplets may have room to spare, as those of published files have */
                 {"nzmax", storage == STORE_TRIPLETS ? m.count + 5 : m.count}};
    edit_group(edit, group);
    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "%s/%s", group, sizes[k].name);
        edit_int(edit, path, sizes[k].value);
    }
    snprintf(path, sizeof path, "%s/p", group);
    if (storage == STORE_TRIPLETS)
        edit_ints(edit, path, H5T_NATIVE_INT, m.count, m.column);
    else
        edit_ints(edit, path, H5T_NATIVE_INT, (storage == STORE_ROWS ? part->rows : part->columns) + 1,
                  m.start);
    snprintf(path, sizeof path, "%s/i", group);
    edit_ints(edit, path, H5T_NATIVE_INT, m.count, storage == STORE_ROWS ? m.column : m.row);
    snprintf(path, sizeof path, "%s/x", group);
    edit_reals(edit, path, H5T_NATIVE_DOUBLE, m.count, m.value);
}

static void put_attribute(file_edit *edit, const char *group) {
    hid_t object = H5Gopen2(edit->file, group, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    hid_t attribute =
        H5Acreate2(object, "numberOfInvolvedDS", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    long long value = 99;
    H5Awrite(attribute, H5T_NATIVE_LLONG, &value);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Gclose(object);
}

static void put_extras(file_edit *edit, const fclib_sample *s, const char *root) {
    char path[64];
    double impulses[12];
    int rows = s->dimension * s->contacts;
    for (int i = 0; i < 12; i++) impulses[i] = i + 0.25;
    const char *texts[] = {"title", "description", "math_info"};
    snprintf(path, sizeof path, "%s/info", root);
    edit_group(edit, path);
    put_attribute(edit, path);
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/info/%s", root, texts[k]);
        edit_text(edit, path, texts[k]);
    }
    edit_group(edit, "/guesses");
    edit_group(edit, "/guesses/1");
    edit_int(edit, "/guesses/number_of_guesses", 1);
    edit_reals(edit, "/guesses/1/r", H5T_NATIVE_DOUBLE, rows, impulses);
    if (s->equalities) edit_reals(edit, "/guesses/1/l", H5T_NATIVE_DOUBLE, s->equalities, impulses + rows);
    edit_group(edit, "/solution"); /* never written: zeros, as in published files */
    edit_reals(edit, "/solution/r", H5T_NATIVE_DOUBLE, rows, NULL);
    edit_reals(edit, "/solution/u", H5T_NATIVE_DOUBLE, rows, NULL);
    if (s->equalities) edit_reals(edit, "/solution/l", H5T_NATIVE_DOUBLE, s->equalities, NULL);
}

static void put_vectors(file_edit *edit, const fclib_sample *s, const char *root, const char *first,
                        const char *second) {
    char path[64];
    int rows = s->dimension * s->contacts;
    snprintf(path, sizeof path, "%s/vectors", root);
    edit_group(edit, path);
    snprintf(path, sizeof path, "%s/vectors/mu", root);
    edit_reals(edit, path, H5T_NATIVE_DOUBLE, s->contacts, s->mu);
    snprintf(path, sizeof path, "%s/vectors/mu_r", root);
    if (s->is_rolling) edit_reals(edit, path, H5T_NATIVE_DOUBLE, s->contacts, s->mu_rolling);
    snprintf(path, sizeof path, "%s/vectors/%s", root, first);
    edit_reals(edit, path, H5T_NATIVE_DOUBLE, rows, s->b);
    snprintf(path, sizeof path, "%s/vectors/%s", root, second);
    if (s->equalities) edit_reals(edit, path, H5T_NATIVE_DOUBLE, s->equalities, s->b + rows);
}

static void put_part(file_edit *edit, const char *root, const char *name, const dense_part *part,
                     fclib_storage storage) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", root, name);
    put_matrix(edit, path, part, storage);
}

file_bytes make_fclib_file(const fclib_sample *s, fclib_storage storage, H5F_libver_t format) {
    file_edit edit = edit_new(format);
    int rows = s->dimension * s->contacts, all = fclib_sample_rows(s), e = s->equalities, n = s->freedoms;
    const char *root = fclib_sample_root(s);
    char path[64];
    edit_group(&edit, root);
    snprintf(path, sizeof path, "%s/spacedim", root);
    edit_int(&edit, path, s->dimension);
    if (n) {
        put_part(&edit, root, "M", &(dense_part){n, n, n, s->M}, storage);
        put_part(&edit, root, "H", &(dense_part){n, rows, n, s->A}, storage);
        if (e) put_part(&edit, root, "G", &(dense_part){n, e, n, s->A + n * rows}, storage);
        put_vectors(&edit, s, root, "w", "b");
        snprintf(path, sizeof path, "%s/vectors/f", root);
        edit_reals(&edit, path, H5T_NATIVE_DOUBLE, n, s->f);
    } else {
        put_part(&edit, root, "W", &(dense_part){rows, rows, all, s->W}, storage);
        if (e) put_part(&edit, root, "V", &(dense_part){rows, e, all, s->W + all * rows}, storage);
        if (e) put_part(&edit, root, "R", &(dense_part){e, e, all, s->W + all * rows + rows}, storage);
        put_vectors(&edit, s, root, "q", "s");
    }
    put_extras(&edit, s, root);
    return edit_end(&edit);
}

void free_bytes(file_bytes *bytes) {
    free(bytes->data);
    *bytes = (file_bytes){NULL, 0};
}

double *read_dataset(file_bytes bytes, const char *path, int *count) {
    file_edit edit = edit_begin(bytes);
    hid_t set = H5Dopen2(edit.file, path, H5P_DEFAULT), space = H5Dget_space(set);
    assert_true(set >= 0);
    hssize_t points = H5Sget_simple_extent_npoints(space);
    double *values = malloc(sizeof(double) * (size_t)(points + 1));
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    if (count) *count = (int)points;
    H5Sclose(space);
    H5Dclose(set);
    edit_drop(&edit);
    return values;
}

bool has_object(file_bytes bytes, const char *path) {
    file_edit edit = edit_begin(bytes);
    bool found = H5Lexists(edit.file, path, H5P_DEFAULT) > 0;
    edit_drop(&edit);
    return found;
}

const char *shared_folder(void) {
    static char folder[1024];
    const char *given = getenv("DLS_SHARED");
    struct stat about;
    snprintf(folder, sizeof folder, "%s", given ? given : DLS_SOURCE_DIR "/../shared");
    return stat(folder, &about) == 0 && S_ISDIR(about.st_mode) ? folder : NULL;
}

file_bytes load_bytes(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    file_bytes bytes = {NULL, (size_t)ftell(file)};
    rewind(file);
    bytes.data = malloc(bytes.size + 1);
    assert_int_equal(fread(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
    return bytes;
}
