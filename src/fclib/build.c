/* From a file's matrices to the contact problem: local ones are put side by side, global ones condensed. */
#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"
#include "fclib/fclib.h"

#include <math.h>
#include <string.h>

/* What the library below says of the numbers, with the file's name and the member of its group before it. */
static dls_status fail_with_name(const dls_fclib *file, const char *what, dls_status status,
                                 dls_error *error) {
    if (!error || status == DLS_ERROR_MEMORY) return status;
    dls_error inner = *error;
    return dls_fail(error, status, "%s: %s%s: %.250s", file->name.text, file->root, what, inner.message);
}

/* ---- equality rows as bilateral blocks ---- */

/* Sum of the entries (i, j); W holds rows. */
static double entry(const dls_sparse *W, int i, int j) {
    double sum = 0;
    for (int64_t k = W->start[i]; k < W->start[i + 1]; k++)
        if (W->row[k] == j) sum += W->value[k];
    return sum;
}

/* Whether rows first … first + size − 1 can be one block: the last of them is coupled with those before, and
 * their diagonal block, scaled to a unit diagonal, is not close to singular. */
static bool is_block(const dls_sparse *W, int first, int size) {
    double B[SMALL_MAX * SMALL_MAX], scale[SMALL_MAX];
    int pivot[SMALL_MAX];
    bool is_coupled = false;
    for (int i = 0; i < size; i++) {
        double diagonal = entry(W, first + i, first + i);
        if (!(diagonal > 0)) return false;
        scale[i] = 1 / sqrt(diagonal);
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            double value = entry(W, first + i, first + j);
            is_coupled = is_coupled || ((i == size - 1) != (j == size - 1) && value != 0);
            B[i + size * j] = scale[i] * value * scale[j];
        }
    if (!is_coupled || !small_factor(size, B, pivot)) return false;
    for (int i = 0; i < size; i++)
        if (fabs(B[i + size * i]) < 1e-10) return false;
    return true;
}

/* Consecutive coupled rows join into blocks of up to six; a row that is not coupled with the block before it,
 * or would make it singular (a constraint stated twice), begins the next. Returns the number of blocks. */
static int group_equalities(const dls_sparse *W, int first, int rows, int *size) {
    int blocks = 0;
    for (int done = 0; done < rows; done += size[blocks++]) {
        size[blocks] = 1;
        while (size[blocks] < DLS_MAX_BLOCK && done + size[blocks] < rows &&
               is_block(W, first + done, size[blocks] + 1))
            size[blocks]++;
    }
    return blocks;
}

/* ---- the problem ---- */

/* What each block is, in arrays with room for all of them. */
typedef struct block_arrays {
    int *size;
    uint8_t *kind, *parts;
    double *mu, *mu_rolling;
} block_arrays;

static bool blocks_begin(block_arrays *x, int most) {
    *x = (block_arrays){DLS_NEW(int, most), DLS_NEW(uint8_t, most), DLS_NEW_ZERO(uint8_t, most),
                        DLS_NEW_ZERO(double, most), DLS_NEW_ZERO(double, most)};
    return x->size && x->kind && x->parts && x->mu && x->mu_rolling;
}

static void blocks_free(block_arrays *x) {
    dls_free(x->size);
    dls_free(x->kind);
    dls_free(x->parts);
    dls_free(x->mu);
    dls_free(x->mu_rolling);
}

/* W by rows, b = [free velocities of contacts; of equality rows]. */
static dls_status create_problem(const dls_fclib_data *data, const dls_sparse *W, const double *b,
                                 dls_problem **problem, dls_error *error) {
    const dls_fclib_layout *layout = data->layout;
    int contacts = data->contact_rows / layout->rows;
    dls_csr rows = {W->columns, W->rows, W->start, W->row, W->value};
    block_arrays x;
    dls_status status = blocks_begin(&x, contacts + data->equality_rows) ? DLS_OK : dls_fail_memory(error);
    if (!status) {
        for (int c = 0; c < contacts; c++) {
            x.size[c] = layout->rows;
            x.kind[c] = DLS_CONTACT;
            x.parts[c] = layout->parts;
            x.mu[c] = data->mu[c];
            if (data->mu_rolling) x.mu_rolling[c] = data->mu_rolling[c];
        }
        int blocks = group_equalities(W, data->contact_rows, data->equality_rows, x.size + contacts);
        memset(x.kind + contacts, DLS_INTERVAL, (size_t)blocks);
        dls_problem_def def = dls_default_problem_def();
        def.block_count = contacts + blocks;
        def.block_size = x.size;
        def.block_kind = x.kind;
        def.block_parts = layout->is_rolling ? x.parts : NULL;
        def.mu = x.mu;
        def.mu_rolling = x.mu_rolling;
        def.b = b;
        def.reference_velocity = data->reference_velocity;
        status = dls_problem_create(&def, &rows, problem, error);
    }
    blocks_free(&x);
    return status;
}

/* Appends entries at an offset. */
static void append(const dls_triplets *from, bool transpose, int row, int column, dls_triplets *to) {
    for (int64_t k = 0; k < from->count; k++, to->count++) {
        to->row[to->count] = row + (transpose ? from->column : from->row)[k];
        to->column[to->count] = column + (transpose ? from->row : from->column)[k];
        to->value[to->count] = from->value[k];
    }
}

/* [A B] or, with C, [A B; Bᵀ C]. */
static dls_status join(const dls_triplets *A, const dls_triplets *B, const dls_triplets *C,
                       dls_triplets *joined, dls_error *error) {
    int64_t count = A->count + (C ? 2 : 1) * B->count + (C ? C->count : 0);
    *joined = (dls_triplets){.rows = A->rows + (C ? C->rows : 0),
                             .columns = A->columns + B->columns,
                             .row = DLS_NEW(int, count),
                             .column = DLS_NEW(int, count),
                             .value = DLS_NEW(double, count)};
    if (!joined->row || !joined->column || !joined->value) {
        dls_triplets_free(joined);
        return dls_fail_memory(error);
    }
    append(A, false, 0, 0, joined);
    append(B, false, 0, A->columns, joined);
    if (C) append(B, true, A->rows, 0, joined);
    if (C) append(C, false, A->rows, A->columns, joined);
    return DLS_OK;
}

/* [u; 0] = [W V; Vᵀ R] [r; l] + [q; s] */
static dls_status build_local(dls_fclib *file, const dls_fclib_data *data, dls_error *error) {
    dls_triplets joined = {0};
    const dls_triplets *all = &data->main;
    dls_status status = DLS_OK;
    if (data->equality_rows) {
        status = join(&data->main, &data->coupling, &data->equality, &joined, error);
        all = &joined;
    }
    dls_sparse W = {0};
    dls_triplets by_rows = {all->columns, all->rows, all->count, all->column, all->row, all->value};
    if (!status) status = dls_sparse_compress(&by_rows, &W, error);
    dls_triplets_free(&joined);
    if (!status) status = create_problem(data, &W, data->free_velocity, &file->problem, error);
    dls_sparse_free(&W);
    return status ? fail_with_name(file, "", status, error) : DLS_OK;
}

/* ---- global problems ---- */

/* Marks the bodies that contacts touch and counts them. */
static int count_touched(const dls_triplets *H, const int *body, bool *is_touched) {
    int count = 0;
    for (int64_t k = 0; k < H->count; k++) {
        if (H->value[k] == 0 || is_touched[body[H->row[k]]]) continue;
        is_touched[body[H->row[k]]] = true;
        count++;
    }
    return count;
}

/* A body is a connected part of M; where M is diagonal in blocks of a rigid body's freedoms (6 in space, 3 in
 * the plane), it is such a block, for a diagonal M connects nothing. */
static dls_status count_bodies(const dls_fclib_data *data, const dls_sparse *M, int *bodies,
                               dls_error *error) {
    int n = data->freedoms, rigid = data->layout->is_planar ? 3 : 6;
    bool is_rigid = n % rigid == 0;
    for (int j = 0; j < n && is_rigid; j++)
        for (int64_t k = M->start[j]; k < M->start[j + 1]; k++)
            is_rigid = is_rigid && (M->row[k] / rigid == j / rigid || M->value[k] == 0);
    int *body = DLS_NEW(int, n);
    bool *is_touched = DLS_NEW_ZERO(bool, n);
    dls_status status = body && is_touched ? DLS_OK : dls_fail_memory(error);
    if (!status) {
        dls_sparse_components(M, body);
        for (int i = 0; i < n && is_rigid; i++) body[i] = i / rigid;
        *bodies = count_touched(&data->coupling, body, is_touched);
    }
    dls_free(body);
    dls_free(is_touched);
    return status;
}

/* W = Aᵀ M⁻¹ A,  b = Aᵀ M⁻¹ f + [w; b]  with A = [H G] */
static dls_status condense(dls_fclib *file, const dls_fclib_data *data, dls_error *error) {
    dls_fclib_motion *motion = &file->motion;
    dls_sparse W = {0};
    int rows = motion->A.columns;
    double *b = dls_alloc_copy(data->free_velocity, (size_t)rows, sizeof(double));
    double *v = dls_alloc_copy(motion->force, (size_t)data->freedoms, sizeof(double));
    dls_status status =
        b && v ? dls_factor_condense(motion->factor, &motion->A, &W, error) : dls_fail_memory(error);
    if (!status) status = dls_factor_solve(motion->factor, v, error);
    if (!status) {
        dls_sparse_multiply_transposed_add(&motion->A, v, b);
        status = create_problem(data, &W, b, &file->problem, error);
    }
    dls_sparse_free(&W);
    dls_free(b);
    dls_free(v);
    return status;
}

/* Whether M has entries beside its diagonal, all of them on one side of it. */
static bool is_triangle(const dls_triplets *M) {
    bool below = false, above = false;
    for (int64_t k = 0; k < M->count; k++) {
        if (M->value[k] == 0) continue;
        below = below || M->row[k] > M->column[k];
        above = above || M->row[k] < M->column[k];
    }
    return below != above;
}

/* M = T + Tᵀ − diag(T) */
static dls_status mirror(const dls_triplets *T, dls_triplets *M, dls_error *error) {
    *M = (dls_triplets){.rows = T->rows,
                        .columns = T->columns,
                        .row = DLS_NEW(int, 2 * T->count),
                        .column = DLS_NEW(int, 2 * T->count),
                        .value = DLS_NEW(double, 2 * T->count)};
    if (!M->row || !M->column || !M->value) {
        dls_triplets_free(M);
        return dls_fail_memory(error);
    }
    append(T, false, 0, 0, M);
    for (int64_t k = 0; k < T->count; k++) {
        if (T->row[k] == T->column[k]) continue;
        M->row[M->count] = T->column[k];
        M->column[M->count] = T->row[k];
        M->value[M->count++] = T->value[k];
    }
    return DLS_OK;
}

static dls_status compress_mass(dls_fclib *file, const dls_fclib_data *data, dls_sparse *M,
                                dls_error *error) {
    dls_triplets whole = {0};
    file->has_triangle = is_triangle(&data->main);
    if (!file->has_triangle || file->as_stored) return dls_sparse_compress(&data->main, M, error);
    dls_status status = mirror(&data->main, &whole, error);
    if (!status) status = dls_sparse_compress(&whole, M, error);
    dls_triplets_free(&whole);
    return status;
}

static dls_status build_global(dls_fclib *file, dls_fclib_data *data, dls_error *error) {
    dls_triplets joined = {0};
    dls_sparse M = {0};
    dls_status status = compress_mass(file, data, &M, error);
    if (!status && !file->bodies) status = count_bodies(data, &M, &file->bodies, error);
    if (!status) {
        status = dls_factor_create(&M, &file->motion.factor, error);
        if (status) status = fail_with_name(file, "/M", status, error);
    }
    dls_sparse_free(&M);
    if (!status) status = join(&data->coupling, &data->equality, NULL, &joined, error);
    if (!status) status = dls_sparse_compress(&joined, &file->motion.A, error);
    dls_triplets_free(&joined);
    if (status) return status;
    file->motion.force = data->force;
    data->force = NULL;
    status = condense(file, data, error);
    return status ? fail_with_name(file, "", status, error) : DLS_OK;
}

dls_status dls_fclib_build(dls_fclib *file, dls_fclib_data *data, dls_error *error) {
    file->contact_rows = data->contact_rows;
    file->freedoms = data->freedoms;
    return data->form == DLS_FCLIB_LOCAL ? build_local(file, data, error) : build_global(file, data, error);
}
