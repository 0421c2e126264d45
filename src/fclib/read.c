/* FCLib files in: their groups, checked against each other, as plain arrays. */
#include "base/error.h"
#include "base/memory.h"
#include "fclib/fclib.h"
#include "h5/check.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- kinds of problems ---- */

const dls_fclib_layout dls_fclib_layouts[4] = {
    {DLS_PARTS(1, 0, 0), 2, .is_rolling = false, .is_planar = true},
    {DLS_PARTS(2, 0, 0), 3, .is_rolling = false, .is_planar = false},
    {DLS_PARTS(1, 1, 0), 3, .is_rolling = true, .is_planar = true},
    {DLS_PARTS(2, 2, 0), 5, .is_rolling = true, .is_planar = false},
};

const char *dls_fclib_root(dls_fclib_form form, bool is_rolling) {
    static const char *const roots[2][2] = {{"/fclib_local", "/fclib_local_rolling"},
                                            {"/fclib_global", "/fclib_global_rolling"}};
    return roots[form][is_rolling];
}

/* ---- matrices ---- */

/* nz tells the storage: a count of triplets, or one of these. */
enum { BY_COLUMNS = -1, BY_ROWS = -2 };

typedef struct matrix_sizes {
    int m, n, nz, nzmax;
} matrix_sizes;

static dls_status read_sizes(const dls_h5 *h5, const char *group, matrix_sizes *s) {
    if (!dls_h5_has(h5, group)) return dls_h5_fail(h5, group, "missing, expected a matrix");
    dls_status status = dls_h5_read_int(h5, in(group, "m").path, 0, INT_MAX - 1, &s->m);
    if (!status) status = dls_h5_read_int(h5, in(group, "n").path, 0, INT_MAX - 1, &s->n);
    if (!status) status = dls_h5_read_int(h5, in(group, "nz").path, BY_ROWS, INT_MAX, &s->nz);
    int least = s->nz > 0 ? s->nz : 0;
    if (!status) status = dls_h5_read_int(h5, in(group, "nzmax").path, least, INT_MAX, &s->nzmax);
    return status;
}

static dls_status check_indices(const dls_h5 *h5, const char *where, int64_t count, const int *index,
                                int limit) {
    for (int64_t k = 0; k < count; k++)
        if (index[k] < 0 || index[k] >= limit)
            return dls_h5_fail(h5, where, "index %d out of range, expected 0 … %d", index[k], limit - 1);
    return DLS_OK;
}

/* Pointers must rise from 0 to at most nzmax. */
static dls_status check_pointers(const dls_h5 *h5, const char *where, int count, const int *pointer,
                                 int nzmax) {
    if (pointer[0] != 0) return dls_h5_fail(h5, where, "first pointer is %d, expected 0", pointer[0]);
    for (int k = 1; k < count; k++)
        if (pointer[k] < pointer[k - 1])
            return dls_h5_fail(h5, where, "pointer %d falls from %d to %d, expected none to fall", k,
                               pointer[k - 1], pointer[k]);
    if (pointer[count - 1] > nzmax)
        return dls_h5_fail(h5, where, "last pointer is %d, expected at most nzmax = %d", pointer[count - 1],
                           nzmax);
    return DLS_OK;
}

/* Which row or column each entry belongs to. */
static int *expand_pointers(int count, const int *pointer) {
    int *index = DLS_NEW(int, pointer[count]);
    for (int j = 0; index && j < count; j++)
        for (int k = pointer[j]; k < pointer[j + 1]; k++) index[k] = j;
    return index;
}

/* Triplets: i holds rows and p columns, whatever the header of FCLib says. */
static dls_status read_indices(const dls_h5 *h5, const char *group, const matrix_sizes *s, dls_triplets *t) {
    int64_t count;
    t->count = s->nz;
    dls_status status = dls_h5_read_ints(h5, in(group, "i").path, s->nz, s->nzmax, &t->row, &count);
    if (!status) status = dls_h5_read_ints(h5, in(group, "p").path, s->nz, s->nzmax, &t->column, &count);
    if (!status) status = check_indices(h5, in(group, "i").path, t->count, t->row, s->m);
    if (!status) status = check_indices(h5, in(group, "p").path, t->count, t->column, s->n);
    return status;
}

static dls_status read_compressed(const dls_h5 *h5, const char *group, const matrix_sizes *s,
                                  dls_triplets *t) {
    bool by_rows = s->nz == BY_ROWS;
    int majors = by_rows ? s->m : s->n, minors = by_rows ? s->n : s->m;
    int *pointer, *minor = NULL, *major = NULL;
    int64_t count;
    member p = in(group, "p"), i = in(group, "i");
    dls_status status =
        dls_h5_read_ints(h5, p.path, (int64_t)majors + 1, (int64_t)majors + 1, &pointer, &count);
    if (!status) status = check_pointers(h5, p.path, majors + 1, pointer, s->nzmax);
    if (!status) t->count = pointer[majors];
    if (!status) status = dls_h5_read_ints(h5, i.path, t->count, s->nzmax, &minor, &count);
    if (!status) status = check_indices(h5, i.path, t->count, minor, minors);
    if (!status && !(major = expand_pointers(majors, pointer))) status = dls_fail_memory(h5->error);
    dls_free(pointer);
    t->row = by_rows ? major : minor;
    t->column = by_rows ? minor : major;
    return status;
}

static dls_status read_matrix(const dls_h5 *h5, const char *group, const matrix_sizes *s, dls_triplets *t) {
    int64_t count;
    *t = (dls_triplets){.rows = s->m, .columns = s->n};
    dls_status status = s->nz >= 0 ? read_indices(h5, group, s, t) : read_compressed(h5, group, s, t);
    if (status) return status;
    return dls_h5_read_reals(h5, in(group, "x").path, t->count, s->nzmax, &t->value, &count);
}

static dls_status expect_size(const dls_h5 *h5, const char *group, const matrix_sizes *s, int m, int n) {
    if (s->m == m && s->n == n) return DLS_OK;
    return dls_h5_fail(h5, group, "%d × %d, expected %d × %d", s->m, s->n, m, n);
}

/* ---- the problem ---- */

/* Coefficients of friction, one for each contact. */
static dls_status read_friction(const dls_h5 *h5, const dls_fclib_data *data, const char *name, double **mu) {
    int contacts = data->contact_rows / data->layout->rows;
    int64_t count;
    member where = in(data->root, name);
    dls_status status = dls_h5_read_reals(h5, where.path, contacts, contacts, mu, &count);
    for (int k = 0; !status && k < contacts; k++)
        if ((*mu)[k] < 0)
            status = dls_h5_fail(h5, where.path, "number %d is %g, expected 0 or more", k, (*mu)[k]);
    return status;
}

static dls_status read_all_friction(const dls_h5 *h5, dls_fclib_data *data) {
    dls_status status = read_friction(h5, data, "vectors/mu", &data->mu);
    if (!status && data->layout->is_rolling)
        status = read_friction(h5, data, "vectors/mu_r", &data->mu_rolling);
    return status;
}

/* [contact rows; equality rows], from two datasets. */
static dls_status read_pair(const dls_h5 *h5, const char *first, const char *second, int first_rows,
                            int second_rows, double **values) {
    double *a = NULL, *b = NULL;
    int64_t count;
    dls_status status = dls_h5_read_reals(h5, first, first_rows, first_rows, &a, &count);
    if (!status && second_rows) status = dls_h5_read_reals(h5, second, second_rows, second_rows, &b, &count);
    if (!status && !(*values = DLS_NEW(double, (int64_t)first_rows + second_rows)))
        status = dls_fail_memory(h5->error);
    if (!status) {
        memcpy(*values, a, sizeof(double) * (size_t)first_rows);
        if (b) memcpy(*values + first_rows, b, sizeof(double) * (size_t)second_rows);
    }
    dls_free(a);
    dls_free(b);
    return status;
}

static dls_status set_rows(const dls_h5 *h5, const char *where, int contact_rows, int equality_rows,
                           dls_fclib_data *data) {
    if (contact_rows % data->layout->rows)
        return dls_h5_fail(h5, where, "%d, expected a multiple of spacedim = %d", contact_rows,
                           data->layout->rows);
    if (contact_rows > INT_MAX / 2 || equality_rows > INT_MAX / 2)
        return dls_h5_fail(h5, where, "%d, expected at most %d", contact_rows, INT_MAX / 2);
    data->contact_rows = contact_rows;
    data->equality_rows = equality_rows;
    return DLS_OK;
}

/* Lengths of vectors are checked before matrices are read: what follows allocates no more than the file
 * holds.
 */
static dls_status read_local(const dls_h5 *h5, dls_fclib_data *data) {
    member W = in(data->root, "W"), V = in(data->root, "V"), R = in(data->root, "R");
    matrix_sizes w, v, r = {0};
    bool has_equality = dls_h5_has(h5, V.path) || dls_h5_has(h5, R.path);
    dls_status status = read_sizes(h5, W.path, &w);
    if (!status) status = expect_size(h5, W.path, &w, w.m, w.m);
    if (!status && has_equality) status = read_sizes(h5, R.path, &r);
    if (!status && has_equality) status = expect_size(h5, R.path, &r, r.m, r.m);
    if (!status && has_equality) status = read_sizes(h5, V.path, &v);
    if (!status && has_equality) status = expect_size(h5, V.path, &v, w.m, r.m);
    if (!status) status = set_rows(h5, in(W.path, "m").path, w.m, r.m, data);
    if (!status)
        status = read_pair(h5, in(data->root, "vectors/q").path, in(data->root, "vectors/s").path, w.m, r.m,
                           &data->free_velocity);
    if (!status) status = read_all_friction(h5, data);
    if (!status) status = read_matrix(h5, W.path, &w, &data->main);
    if (!status && has_equality) status = read_matrix(h5, V.path, &v, &data->coupling);
    if (!status && has_equality) status = read_matrix(h5, R.path, &r, &data->equality);
    return status;
}

static dls_status read_global(const dls_h5 *h5, dls_fclib_data *data) {
    member M = in(data->root, "M"), H = in(data->root, "H"), G = in(data->root, "G");
    matrix_sizes m, h, g = {0};
    int64_t count;
    bool has_equality = dls_h5_has(h5, G.path);
    dls_status status = read_sizes(h5, M.path, &m);
    if (!status) status = expect_size(h5, M.path, &m, m.m, m.m);
    if (!status) status = read_sizes(h5, H.path, &h);
    if (!status) status = expect_size(h5, H.path, &h, m.m, h.n);
    if (!status && has_equality) status = read_sizes(h5, G.path, &g);
    if (!status && has_equality) status = expect_size(h5, G.path, &g, m.m, g.n);
    if (!status) status = set_rows(h5, in(H.path, "n").path, h.n, g.n, data);
    if (!status) data->freedoms = m.m;
    if (!status)
        status = dls_h5_read_reals(h5, in(data->root, "vectors/f").path, m.m, m.m, &data->force, &count);
    if (!status)
        status = read_pair(h5, in(data->root, "vectors/w").path, in(data->root, "vectors/b").path, h.n, g.n,
                           &data->free_velocity);
    if (!status) status = read_all_friction(h5, data);
    if (!status) status = read_matrix(h5, M.path, &m, &data->main);
    if (!status) status = read_matrix(h5, H.path, &h, &data->coupling);
    if (!status && has_equality) status = read_matrix(h5, G.path, &g, &data->equality);
    return status;
}

/* v_ref of the judge, which FCLib does not know: steps of a simulation have one. */
static dls_status read_reference(const dls_h5 *h5, dls_fclib_data *data) {
    member where = in(data->root, "info/reference_velocity");
    double *value = NULL;
    int64_t count;
    if (!dls_h5_has(h5, where.path)) return DLS_OK;
    dls_status status = dls_h5_read_reals(h5, where.path, 1, 1, &value, &count);
    if (!status && value[0] < 0) status = dls_h5_fail(h5, where.path, "%g, expected 0 or more", value[0]);
    if (!status) data->reference_velocity = value[0];
    dls_free(value);
    return status;
}

/* Which of FCLib's groups the file has: one of them. */
static dls_status find_root(const dls_h5 *h5, dls_fclib_data *data, bool *is_rolling) {
    for (int k = 0; k < 4; k++) {
        const char *root = dls_fclib_root((dls_fclib_form)(k % 2), k / 2);
        if (!dls_h5_has(h5, root)) continue;
        if (data->root)
            return dls_h5_fail(h5, "/", "two contact problems, expected either %s or %s", data->root + 1,
                               root + 1);
        data->root = root;
        data->form = (dls_fclib_form)(k % 2);
        *is_rolling = k / 2;
    }
    if (data->root) return DLS_OK;
    return dls_h5_fail(h5, "/",
                       "no contact problem, expected a group fclib_local or fclib_global, or either with "
                       "_rolling behind it");
}

/* The layout whose contacts have spacedim rows. */
static dls_status read_layout(const dls_h5 *h5, bool is_rolling, dls_fclib_data *data) {
    member where = in(data->root, "spacedim");
    int dimension, rows[2], count = 0;
    dls_status status = dls_h5_read_int(h5, where.path, INT_MIN, INT_MAX, &dimension);
    for (int k = 0; k < DLS_FCLIB_LAYOUTS && !status; k++) {
        const dls_fclib_layout *layout = &dls_fclib_layouts[k];
        if (layout->is_rolling != is_rolling) continue;
        if (layout->rows == dimension) data->layout = layout;
        rows[count++] = layout->rows;
    }
    if (status || data->layout) return status;
    return dls_h5_fail(h5, where.path, "%d, expected %d or %d", dimension, rows[0], rows[1]);
}

dls_status dls_fclib_data_read(const dls_h5 *h5, dls_fclib_data *data) {
    bool is_rolling = false;
    *data = (dls_fclib_data){0};
    dls_status status = find_root(h5, data, &is_rolling);
    if (!status) status = read_layout(h5, is_rolling, data);
    if (!status) status = read_reference(h5, data);
    if (status) return status;
    return data->form == DLS_FCLIB_LOCAL ? read_local(h5, data) : read_global(h5, data);
}

void dls_fclib_data_free(dls_fclib_data *data) {
    dls_triplets_free(&data->main);
    dls_triplets_free(&data->coupling);
    dls_triplets_free(&data->equality);
    dls_free(data->mu);
    dls_free(data->mu_rolling);
    dls_free(data->free_velocity);
    dls_free(data->force);
}

/* ---- solutions and guesses ---- */

dls_status dls_fclib_impulses_read(const dls_h5 *h5, const char *where, const dls_fclib_data *data,
                                   double **impulses) {
    *impulses = NULL;
    if (!dls_h5_has(h5, in(where, "r").path)) return DLS_OK;
    return read_pair(h5, in(where, "r").path, in(where, "l").path, data->contact_rows, data->equality_rows,
                     impulses);
}

/* Guesses are numbered from 1 without gaps. */
static dls_status read_guesses(const dls_h5 *h5, const dls_fclib_data *data, dls_fclib *file) {
    int count = 0;
    if (!dls_h5_has(h5, "/guesses")) return DLS_OK;
    dls_status status = dls_h5_read_int(h5, "/guesses/number_of_guesses", 0, 999999, &count);
    if (status || count == 0) return status;
    member last;
    snprintf(last.path, sizeof last.path, "/guesses/%d", count);
    if (!dls_h5_has(h5, last.path)) return dls_h5_fail(h5, last.path, "missing, expected %d guesses", count);
    file->guesses = DLS_NEW_ZERO(double *, count);
    if (!file->guesses) return dls_fail_memory(h5->error);
    for (int k = 0; k < count && !status; k++) {
        member guess;
        snprintf(guess.path, sizeof guess.path, "/guesses/%d", k + 1);
        status = dls_fclib_impulses_read(h5, guess.path, data, &file->guesses[k]);
        if (!status && !file->guesses[k])
            status =
                dls_h5_fail(h5, in(guess.path, "r").path, "missing, expected %d numbers", data->contact_rows);
        file->guess_count = k + 1;
    }
    return status;
}

static dls_status read_info(const dls_h5 *h5, dls_fclib *file) {
    dls_status status = dls_h5_read_text(h5, in(file->root, "info/title").path, &file->title);
    if (!status) status = dls_h5_read_text(h5, in(file->root, "info/description").path, &file->description);
    if (!status) status = dls_h5_read_text(h5, in(file->root, "info/math_info").path, &file->math_info);
    return status;
}

/* ---- the whole file ---- */

static dls_status read_everything(const dls_h5 *h5, dls_fclib *file, dls_fclib_data *data) {
    dls_status status = dls_fclib_data_read(h5, data);
    if (status) return status;
    file->form = data->form;
    file->root = data->root;
    status = read_info(h5, file);
    if (!status) status = dls_fclib_impulses_read(h5, "/solution", data, &file->solution);
    if (!status) status = read_guesses(h5, data, file);
    return status;
}

/* All names that are asked for; guesses have numbers for names. Other objects are never opened. */
static bool is_known(const char *name, size_t length) {
    static const char names[] =
        "fclib_local fclib_global fclib_local_rolling fclib_global_rolling solution guesses spacedim vectors "
        "info title description math_info reference_velocity number_of_guesses nzmax nz mu mu_r W V R M H G "
        "m n p i x q s f w b v u r l";
    for (const char *word = names; *word; word += *word == ' ') {
        size_t end = strcspn(word, " ");
        if (end == length && !memcmp(word, name, length)) return true;
        word += end;
    }
    for (size_t k = 0; k < length; k++)
        if (name[k] < '0' || name[k] > '9') return false;
    return length > 0 && length <= 9;
}

/* Siconos notes the number of bodies beside the texts. */
static const check_policy problem_files = {
    .is_plain = true,
    .is_wanted = is_known,
    .noted_group = "info",
    .noted_attribute = "numberOfInvolvedDS",
    .expected = "plain storage as FCLib writes it; `h5repack -l CONTI -f NONE IN OUT` makes a copy that can "
                "be read",
};

/* Takes image over, whatever happens. */
static dls_status read_image(dls_image image, const char *path, bool as_stored, dls_fclib **result,
                             dls_error *error) {
    dls_fclib *file = DLS_NEW_ZERO(dls_fclib, 1);
    if (!file) {
        dls_image_free(&image);
        return dls_fail_memory(error);
    }
    file->image = image;
    file->as_stored = as_stored;
    file->name = dls_file_name_of(path);
    dls_fclib_data data = {0};
    dls_h5 h5;
    check_found found;
    dls_status status =
        dls_h5_check_image(image.bytes, image.size, &problem_files, file->name.text, &found, error);
    file->bodies = found.noted;
    if (!status) status = dls_h5_open(&h5, image, file->name.text, error);
    if (!status) {
        status = read_everything(&h5, file, &data);
        dls_h5_close(&h5);
    }
    if (!status) status = dls_fclib_build(file, &data, error);
    dls_fclib_data_free(&data);
    if (status)
        dls_fclib_destroy(file);
    else
        *result = file;
    return status;
}

static dls_status read_path(const char *path, bool as_stored, dls_fclib **file, dls_error *error) {
    dls_error_clear(error);
    if (!path || !file) return dls_fail(error, DLS_ERROR_ARGUMENT, "path and file are needed, got NULL");
    *file = NULL;
    dls_image image;
    dls_status status = dls_image_read(path, &image, error);
    return status ? status : read_image(image, path, as_stored, file, error);
}

dls_status dls_fclib_read(const char *path, dls_fclib **file, dls_error *error) {
    return read_path(path, false, file, error);
}

dls_status dls_fclib_read_stored(const char *path, dls_fclib **file, dls_error *error) {
    return read_path(path, true, file, error);
}

dls_status dls_fclib_read_memory(const void *bytes, size_t size, dls_fclib **file, dls_error *error) {
    dls_error_clear(error);
    if ((!bytes && size) || !file)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "bytes and file are needed, got NULL");
    *file = NULL;
    dls_image image = {dls_alloc_copy(bytes, size, 1), size};
    if (!image.bytes) return dls_fail_memory(error);
    return read_image(image, "(memory)", false, file, error);
}

void dls_fclib_destroy(dls_fclib *file) {
    if (!file) return;
    for (int k = 0; k < file->guess_count; k++) dls_free(file->guesses[k]);
    dls_free(file->guesses);
    dls_free(file->solution);
    dls_free(file->title);
    dls_free(file->description);
    dls_free(file->math_info);
    dls_factor_destroy(file->motion.factor);
    dls_sparse_free(&file->motion.A);
    dls_free(file->motion.force);
    dls_problem_destroy(file->problem);
    dls_image_free(&file->image);
    dls_free(file);
}

const dls_problem *dls_fclib_problem(const dls_fclib *file) { return file->problem; }
dls_fclib_form dls_fclib_source_form(const dls_fclib *file) { return file->form; }
int dls_fclib_freedoms(const dls_fclib *file) { return file->freedoms; }
bool dls_fclib_has_triangle(const dls_fclib *file) { return file->has_triangle; }
int dls_fclib_bodies(const dls_fclib *file) { return file->bodies; }
const char *dls_fclib_title(const dls_fclib *file) { return file->title ? file->title : ""; }
const char *dls_fclib_description(const dls_fclib *file) {
    return file->description ? file->description : "";
}
const char *dls_fclib_math_info(const dls_fclib *file) { return file->math_info ? file->math_info : ""; }
const double *dls_fclib_solution(const dls_fclib *file) { return file->solution; }
int dls_fclib_guess_count(const dls_fclib *file) { return file->guess_count; }
const double *dls_fclib_guess(const dls_fclib *file, int index) {
    return index >= 0 && index < file->guess_count ? file->guesses[index] : NULL;
}
