/* FCLib files out: made in memory, then written aside and renamed, so that a full disk spoils nothing. */
#include "base/error.h"
#include "base/memory.h"
#include "fclib/fclib.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- W of the problem, cut into FCLib's W, V and R ---- */

typedef struct local_parts {
    const dls_fclib_layout *layout; /* of every contact */
    const char *root;
    int contact_rows, equality_rows;
    int *place;         /* of each row of the problem: contacts first, then bilateral rows, both in order */
    dls_sparse W, V, R; /* by rows: "column" i holds row i */
    double *mu, *mu_rolling; /* of contacts */
    double *b;               /* in the file's order */
} local_parts;

static void free_parts(local_parts *parts) {
    dls_sparse_free(&parts->W);
    dls_sparse_free(&parts->V);
    dls_sparse_free(&parts->R);
    dls_free(parts->place);
    dls_free(parts->mu);
    dls_free(parts->mu_rolling);
    dls_free(parts->b);
}

static const dls_fclib_layout *find_layout(uint8_t parts) {
    for (int k = 0; k < DLS_FCLIB_LAYOUTS; k++)
        if (dls_fclib_layouts[k].parts == parts) return &dls_fclib_layouts[k];
    return NULL;
}

/* FCLib has one layout for all contacts of a file. */
static dls_status check_contact(const dls_problem *p, int c, local_parts *parts, dls_error *error) {
    uint8_t own = dls_problem_block_parts(p, c);
    const dls_fclib_layout *layout = find_layout(own);
    int tangential = own & 3, rolling = own >> 2 & 3, spinning = own >> 4;
    if (!layout)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "contact %d has %d tangential, %d rolling and %d spinning rows, expected 1 and 0, 2 "
                        "and 0, 1 and 1 or 2 and 2 tangential and rolling ones for an FCLib file",
                        c, tangential, rolling, spinning);
    if (parts->layout && layout != parts->layout)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "contact %d has %d tangential and %d rolling rows, expected %d and %d as those before "
            "it: an FCLib file has one layout for all contacts",
            c, tangential, rolling, parts->layout->parts & 3, parts->layout->parts >> 2 & 3);
    parts->layout = layout;
    return DLS_OK;
}

static dls_status check_interval(const dls_problem *p, int c, dls_error *error) {
    int first = dls_problem_block_row(p, c);
    for (int i = 0; i < dls_problem_block_size(p, c); i++) {
        double low = dls_problem_low(p, first + i), high = dls_problem_high(p, first + i);
        if (!isinf(low) || !isinf(high))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "row %d of interval block %d has the bounds %g and %g, expected none: an FCLib "
                            "file has bilateral rows only",
                            i, c, low, high);
    }
    return DLS_OK;
}

/* What FCLib has words for, and how many rows there are of it. */
static dls_status measure_blocks(const dls_problem *p, local_parts *parts, dls_error *error) {
    dls_status status = DLS_OK;
    for (int c = 0; c < dls_problem_block_count(p) && !status; c++) {
        bool is_contact = dls_problem_block_kind(p, c) == DLS_CONTACT;
        status = is_contact ? check_contact(p, c, parts, error) : check_interval(p, c, error);
        *(is_contact ? &parts->contact_rows : &parts->equality_rows) += dls_problem_block_size(p, c);
    }
    if (!parts->layout) parts->layout = find_layout(DLS_PARTS(2, 0, 0));
    parts->root = dls_fclib_root(DLS_FCLIB_LOCAL, parts->layout->is_rolling);
    return status;
}

/* Where rows go, with friction and free velocities in that order. */
static dls_status place_rows(const dls_problem *p, local_parts *parts, dls_error *error) {
    int contact = 0, contact_row = 0, equality_row = parts->contact_rows;
    int rows = dls_problem_row_count(p);
    parts->place = DLS_NEW(int, rows);
    parts->mu = DLS_NEW(double, dls_problem_contact_count(p));
    parts->mu_rolling = DLS_NEW(double, dls_problem_contact_count(p));
    parts->b = DLS_NEW(double, rows);
    if (!parts->place || !parts->mu || !parts->mu_rolling || !parts->b) return dls_fail_memory(error);
    for (int c = 0; c < dls_problem_block_count(p); c++) {
        bool is_contact = dls_problem_block_kind(p, c) == DLS_CONTACT;
        if (is_contact) parts->mu[contact] = dls_problem_mu(p, c);
        if (is_contact) parts->mu_rolling[contact++] = dls_problem_mu_rolling(p, c);
        for (int i = 0; i < dls_problem_block_size(p, c); i++) {
            int row = dls_problem_block_row(p, c) + i;
            parts->place[row] = is_contact ? contact_row++ : equality_row++;
            parts->b[parts->place[row]] = dls_problem_b(p)[row];
        }
    }
    return DLS_OK;
}

/* W of the problem by rows, in the problem's order. */
static dls_status export_rows(const dls_problem *p, dls_sparse *W, dls_error *error) {
    int rows = dls_problem_row_count(p);
    int64_t count = dls_problem_export(p, NULL, NULL, NULL);
    *W = (dls_sparse){rows, rows, DLS_NEW(int64_t, (int64_t)rows + 1), DLS_NEW(int, count),
                      DLS_NEW(double, count)};
    if (!W->start || !W->row || !W->value) return dls_fail_memory(error);
    dls_problem_export(p, W->start, W->row, W->value);
    return DLS_OK;
}

/* The part of W between rows and columns of these kinds. Places rise within each kind, so rows of the part
 * come in the file's order. */
static dls_status cut(const dls_sparse *W, const local_parts *parts, dls_block_kind rows,
                      dls_block_kind columns, dls_sparse *part, dls_error *error) {
    int n = parts->contact_rows, e = parts->equality_rows, i = 0;
    int64_t used = 0;
    *part = (dls_sparse){.rows = columns == DLS_CONTACT ? n : e, .columns = rows == DLS_CONTACT ? n : e};
    part->start = DLS_NEW_ZERO(int64_t, (int64_t)part->columns + 1);
    if (!part->start) return dls_fail_memory(error);
    for (int pass = 0; pass < 2; pass++, used = 0, i = 0) {
        for (int row = 0; row < W->columns; row++) {
            if ((parts->place[row] >= n) != (rows == DLS_INTERVAL)) continue;
            for (int64_t k = W->start[row]; k < W->start[row + 1]; k++) {
                int column = parts->place[W->row[k]];
                if ((column >= n) != (columns == DLS_INTERVAL)) continue;
                if (pass) part->row[used] = columns == DLS_INTERVAL ? column - n : column;
                if (pass) part->value[used] = W->value[k];
                used++;
            }
            part->start[++i] = used;
        }
        if (pass) break;
        part->row = DLS_NEW(int, used);
        part->value = DLS_NEW(double, used);
        if (!part->row || !part->value) return dls_fail_memory(error);
    }
    return DLS_OK;
}

static double largest_difference(const dls_sparse *A, const dls_sparse *B, double *row) {
    double difference = 0;
    for (int i = 0; i < A->columns; i++) {
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) row[A->row[k]] += A->value[k];
        for (int64_t k = B->start[i]; k < B->start[i + 1]; k++) row[B->row[k]] -= B->value[k];
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            difference = fmax(difference, fabs(row[A->row[k]]));
        for (int64_t k = B->start[i]; k < B->start[i + 1]; k++)
            difference = fmax(difference, fabs(row[B->row[k]]));
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) row[A->row[k]] = 0;
        for (int64_t k = B->start[i]; k < B->start[i + 1]; k++) row[B->row[k]] = 0;
    }
    return difference;
}

/* FCLib stores the coupling once, as V: a problem whose other half is not Vᵀ, to rounding, cannot be written.
 */
static dls_status check_coupling(const dls_sparse *W, const local_parts *parts, dls_error *error) {
    dls_sparse lower = {0}, transpose = {0};
    double scale = 0, difference = 0, *row = DLS_NEW_ZERO(double, parts->contact_rows);
    dls_status status =
        row ? cut(W, parts, DLS_INTERVAL, DLS_CONTACT, &lower, error) : dls_fail_memory(error);
    if (!status) status = dls_sparse_transpose(&parts->V, &transpose, error);
    if (!status) {
        for (int64_t k = 0; k < W->start[W->columns]; k++) scale = fmax(scale, fabs(W->value[k]));
        difference = largest_difference(&lower, &transpose, row);
    }
    if (!status && difference > 1e-12 * scale)
        status =
            dls_fail(error, DLS_ERROR_INPUT,
                     "W couples contacts and bilateral rows unsymmetrically (by %g of %g), expected V and Vᵀ",
                     difference, scale);
    dls_sparse_free(&lower);
    dls_sparse_free(&transpose);
    dls_free(row);
    return status;
}

static dls_status split_problem(const dls_problem *p, local_parts *parts, dls_error *error) {
    dls_sparse W = {0};
    dls_status status = measure_blocks(p, parts, error);
    if (!status) status = place_rows(p, parts, error);
    if (!status) status = export_rows(p, &W, error);
    if (!status && W.start[W.columns] > INT_MAX)
        status = dls_fail(error, DLS_ERROR_INPUT, "W has %lld entries, expected at most %d in an FCLib file",
                          (long long)W.start[W.columns], INT_MAX);
    if (!status) status = cut(&W, parts, DLS_CONTACT, DLS_CONTACT, &parts->W, error);
    if (!status && parts->equality_rows) {
        status = cut(&W, parts, DLS_CONTACT, DLS_INTERVAL, &parts->V, error);
        if (!status) status = cut(&W, parts, DLS_INTERVAL, DLS_INTERVAL, &parts->R, error);
        if (!status) status = check_coupling(&W, parts, error);
    }
    dls_sparse_free(&W);
    return status;
}

/* ---- groups ---- */

static dls_status write_matrix(const dls_h5 *h5, const char *group, const dls_sparse *m) {
    int64_t count = m->start[m->columns];
    int *start = DLS_NEW(int, (int64_t)m->columns + 1);
    if (!start) return dls_fail_memory(h5->error);
    for (int i = 0; i <= m->columns; i++) start[i] = (int)m->start[i];
    const struct {
        const char *name;
        int value;
    } sizes[] = {{"nzmax", (int)count}, {"m", m->columns}, {"n", m->rows}, {"nz", -2}};
    dls_status status = dls_h5_make_group(h5, group);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && !status; k++)
        status = dls_h5_write_int(h5, in(group, sizes[k].name).path, sizes[k].value);
    if (!status) status = dls_h5_write_ints(h5, in(group, "p").path, (int64_t)m->columns + 1, start);
    if (!status) status = dls_h5_write_ints(h5, in(group, "i").path, count, m->row);
    if (!status) status = dls_h5_write_reals(h5, in(group, "x").path, count, m->value);
    dls_free(start);
    return status;
}

static dls_status write_info(const dls_h5 *h5, const char *root, const dls_fclib_content *content) {
    const char *name[] = {"info/title", "info/description", "info/math_info"};
    const char *text[] = {content->title, content->description, content->math_info};
    dls_status status = dls_h5_make_group(h5, in(root, "info").path);
    for (int k = 0; k < 3 && !status; k++)
        if (text[k]) status = dls_h5_write_text(h5, in(root, name[k]).path, text[k]);
    double v = dls_problem_reference_velocity(content->problem);
    if (!status && v > 0) status = dls_h5_write_reals(h5, in(root, "info/reference_velocity").path, 1, &v);
    return status;
}

static dls_status write_local(const dls_h5 *h5, const local_parts *parts) {
    int n = parts->contact_rows, e = parts->equality_rows, contacts = n / parts->layout->rows;
    const char *root = parts->root;
    dls_status status = dls_h5_make_group(h5, root);
    if (!status) status = dls_h5_write_int(h5, in(root, "spacedim").path, parts->layout->rows);
    if (!status) status = write_matrix(h5, in(root, "W").path, &parts->W);
    if (!status && e) status = write_matrix(h5, in(root, "V").path, &parts->V);
    if (!status && e) status = write_matrix(h5, in(root, "R").path, &parts->R);
    if (!status) status = dls_h5_make_group(h5, in(root, "vectors").path);
    if (!status) status = dls_h5_write_reals(h5, in(root, "vectors/q").path, n, parts->b);
    if (!status) status = dls_h5_write_reals(h5, in(root, "vectors/mu").path, contacts, parts->mu);
    if (!status && parts->layout->is_rolling)
        status = dls_h5_write_reals(h5, in(root, "vectors/mu_r").path, contacts, parts->mu_rolling);
    if (!status && e) status = dls_h5_write_reals(h5, in(root, "vectors/s").path, e, parts->b + n);
    return status;
}

/* All in the file's order: contact rows, then equality rows. v is NULL for a local problem. */
static dls_status write_solution(const dls_h5 *h5, int contact_rows, int equality_rows, int freedoms,
                                 const double *r, const double *u, const double *v) {
    dls_status status = dls_h5_make_group(h5, "/solution");
    if (!status && v) status = dls_h5_write_reals(h5, "/solution/v", freedoms, v);
    if (!status) status = dls_h5_write_reals(h5, "/solution/u", contact_rows, u);
    if (!status) status = dls_h5_write_reals(h5, "/solution/r", contact_rows, r);
    if (!status && equality_rows)
        status = dls_h5_write_reals(h5, "/solution/l", equality_rows, r + contact_rows);
    return status;
}

/* ---- a new file ---- */

/* place: where rows of the problem go, or NULL where they stay. */
static double *reorder(const double *values, int rows, const int *place) {
    double *moved = DLS_NEW(double, rows);
    for (int i = 0; moved && i < rows; i++) moved[place ? place[i] : i] = values[i];
    return moved;
}

/* Numbers that could not be read back are not written. */
static dls_status check_solution(const char *name, int rows, const double *r, const double *u,
                                 dls_error *error) {
    for (int i = 0; i < rows; i++)
        if (!isfinite(r[i]) || (u && !isfinite(u[i])))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "%s: solution has %g, %g in row %d, expected finite numbers", name, r[i],
                            u ? u[i] : 0, i);
    return DLS_OK;
}

/* u = W r + b where it was not given. */
static dls_status find_velocity(const dls_problem *p, const double *r, const double *u, double **found,
                                dls_error *error) {
    int rows = dls_problem_row_count(p);
    *found = u ? dls_alloc_copy(u, (size_t)rows, sizeof(double)) : DLS_NEW(double, rows);
    if (!*found) return dls_fail_memory(error);
    return u ? DLS_OK : dls_problem_velocity(p, r, *found, NULL, error);
}

static dls_status write_content(const dls_h5 *h5, const dls_fclib_content *content,
                                const local_parts *parts) {
    int rows = parts->contact_rows + parts->equality_rows;
    double *u = NULL, *r_moved = NULL, *u_moved = NULL;
    dls_status status = write_local(h5, parts);
    if (!status) status = write_info(h5, parts->root, content);
    if (!status && content->r) status = check_solution(h5->name, rows, content->r, content->u, h5->error);
    if (!status && content->r)
        status = find_velocity(content->problem, content->r, content->u, &u, h5->error);
    if (!status && content->r) {
        r_moved = reorder(content->r, rows, parts->place);
        u_moved = reorder(u, rows, parts->place);
        status = r_moved && u_moved ? write_solution(h5, parts->contact_rows, parts->equality_rows, 0,
                                                     r_moved, u_moved, NULL)
                                    : dls_fail_memory(h5->error);
    }
    dls_free(u);
    dls_free(r_moved);
    dls_free(u_moved);
    return status;
}

/* Bytes of data in a file with this content; matrices have an int and a double for each entry. */
static size_t content_size(const dls_fclib_content *content, const local_parts *parts) {
    size_t rows = (size_t)parts->contact_rows + (size_t)parts->equality_rows;
    const dls_sparse *matrices[] = {&parts->W, &parts->V, &parts->R};
    const char *texts[] = {content->title, content->description, content->math_info};
    size_t size = rows * (2 * sizeof(int) + 5 * sizeof(double));
    for (int k = 0; k < 3; k++) {
        if (matrices[k]->start) size += 12 * (size_t)matrices[k]->start[matrices[k]->columns];
        if (texts[k]) size += strlen(texts[k]) + 1;
    }
    return size;
}

dls_status dls_fclib_encode(const dls_fclib_content *content, const char *name, dls_image *image,
                            dls_error *error) {
    *image = (dls_image){0};
    dls_problem *stored = NULL;
    const dls_problem *problem = content->problem;
    local_parts parts = {0};
    dls_h5 h5;
    dls_status status = DLS_OK;
    if (!dls_problem_is_stored(problem)) {
        status = dls_problem_assemble(problem, &stored, error);
        problem = stored;
    }
    if (!status) status = split_problem(problem, &parts, error);
    if (!status) status = dls_h5_open_copy(&h5, *image, content_size(content, &parts), name, error);
    if (!status) {
        status = write_content(&h5, content, &parts);
        if (status)
            dls_h5_close(&h5);
        else
            status = dls_h5_close_into(&h5, image);
    }
    free_parts(&parts);
    dls_problem_destroy(stored);
    return status;
}

/* ---- a file with another solution ---- */

/* v = M⁻¹ (A r + f) */
static dls_status find_motion(const dls_fclib *file, const double *r, double **v, dls_error *error) {
    const dls_fclib_motion *motion = &file->motion;
    *v = dls_alloc_copy(motion->force, (size_t)file->freedoms, sizeof(double));
    if (!*v) return dls_fail_memory(error);
    dls_sparse_multiply_add(&motion->A, r, *v);
    return dls_factor_solve(motion->factor, *v, error);
}

dls_status dls_fclib_encode_again(const dls_fclib *file, const double *r, const double *u, dls_image *image,
                                  dls_error *error) {
    *image = (dls_image){0};
    double *velocity = NULL, *v = NULL;
    int rows = dls_problem_row_count(file->problem), equality_rows = rows - file->contact_rows;
    size_t added = sizeof(double) * (2 * (size_t)rows + (size_t)file->freedoms);
    dls_h5 h5;
    dls_status status = check_solution(file->name.text, rows, r, u, error);
    if (!status) status = find_velocity(file->problem, r, u, &velocity, error);
    if (!status && file->form == DLS_FCLIB_GLOBAL) status = find_motion(file, r, &v, error);
    if (!status) status = dls_h5_open_copy(&h5, file->image, added, file->name.text, error);
    if (!status) {
        status = write_solution(&h5, file->contact_rows, equality_rows, file->freedoms, r, velocity, v);
        if (status)
            dls_h5_close(&h5);
        else
            status = dls_h5_close_into(&h5, image);
    }
    dls_free(velocity);
    dls_free(v);
    return status;
}

/* ---- to the disk ---- */

dls_status dls_fclib_write(const char *path, const dls_fclib_content *content, dls_error *error) {
    dls_error_clear(error);
    if (!path || !content || !content->problem)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "path and problem are needed, got NULL");
    dls_file_name name = dls_file_name_of(path);
    dls_image image;
    dls_status status = dls_fclib_encode(content, name.text, &image, error);
    if (!status) status = dls_file_write(path, image.bytes, image.size, error);
    dls_image_free(&image);
    return status;
}

dls_status dls_fclib_rewrite(const char *path, const dls_fclib *file, const double *r, const double *u,
                             dls_error *error) {
    dls_error_clear(error);
    if (!path || !file || !r)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "path, file and r are needed, got NULL");
    dls_image image;
    dls_status status = dls_fclib_encode_again(file, r, u, &image, error);
    if (!status) status = dls_file_write(path, image.bytes, image.size, error);
    dls_image_free(&image);
    return status;
}
