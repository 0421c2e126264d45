#include "support/sample.h"

#include "base/hash.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static double *doubles(int64_t count) { return calloc((size_t)count + 1, sizeof(double)); }

/* A diagonal of masses and inertias with a little coupling, positive definite. */
static void fill_mass(dls_random *g, int dof, double coupling, double *M) {
    double x[12];
    for (int i = 0; i < dof; i++) {
        x[i] = coupling * dls_random_normal(g);
        M[i + dof * i] = dls_random_between(g, 0.5, 2);
    }
    for (int j = 0; j < dof; j++)
        for (int i = 0; i < dof; i++) M[i + dof * j] += x[i] * x[j];
}

/* Rows of one side, column-major: the first freedoms are seen straight, the others through random levers. */
static void fill_side(dls_random *g, int d, int dof, double sign, double coupling, double *H) {
    for (int j = 0; j < dof; j++)
        for (int i = 0; i < d; i++)
            H[i + d * j] =
                sign * ((i == j) + (j >= d || i >= dof ? coupling : 0.2 * coupling) * dls_random_normal(g));
}

static void fill_blocks(dls_random *g, const sample_shape *shape, sample *s) {
    int contacts = 0, bilaterals = 0;
    for (int c = 0; c < shape->blocks; c++) {
        bool bilateral = shape->bilateral_every && c % shape->bilateral_every == shape->bilateral_every - 1;
        s->kind[c] = bilateral ? DLS_INTERVAL : DLS_CONTACT;
        s->size[c] = bilateral          ? 1 + bilaterals++ % 6
                     : shape->dimension ? shape->dimension
                                        : 2 + contacts % 3;
        contacts += !bilateral;
        s->mu[c] = dls_random_between(g, shape->mu_low, shape->mu_high);
        int self = c % shape->bodies, other = c < shape->bodies ? self - 1 : self + 1;
        s->body[2 * c] = other < shape->bodies ? other : -1;
        s->body[2 * c + 1] = self;
        for (int i = 0; i < s->size[c]; i++) s->b[s->rows + i] = 0.5 * dls_random_normal(g);
        if (!bilateral && c % 5) s->b[s->rows] = -dls_random_unit(g);
        s->rows += s->size[c];
    }
}

sample sample_create(dls_random *g, const sample_shape *shape) {
    int n = shape->blocks, dof = shape->dof;
    sample s = {.size = calloc((size_t)n + 1, sizeof(int)),
                .kind = calloc((size_t)n + 1, 1),
                .mu = doubles(n),
                .b = doubles(6 * n),
                .inverse_mass = doubles((int64_t)shape->bodies * dof * dof),
                .body = calloc(2 * (size_t)n + 1, sizeof(int))};
    fill_blocks(g, shape, &s);
    for (int k = 0; k < shape->bodies; k++)
        fill_mass(g, dof, shape->coupling, s.inverse_mass + k * dof * dof);
    s.H = doubles(2 * (int64_t)s.rows * dof);
    double *H = s.H;
    for (int c = 0; c < n; c++)
        for (int side = 0; side < 2; side++, H += s.size[c] * dof)
            fill_side(g, s.size[c], dof, side ? 1 : -1, shape->coupling, H);
    s.def =
        (dls_problem_def){.block_count = n, .block_size = s.size, .block_kind = s.kind, .mu = s.mu, .b = s.b};
    s.bodies = (dls_bodies){shape->bodies, dof, s.inverse_mass, s.body, s.H};
    s.W = doubles((int64_t)s.rows * s.rows);
    sample_update(&s);
    return s;
}

void sample_free(sample *s) {
    free(s->size);
    free(s->kind);
    free(s->mu);
    free(s->b);
    free(s->inverse_mass);
    free(s->H);
    free(s->body);
    free(s->W);
}

/* The whole H, rows × all freedoms, column-major. */
static double *dense_H(const sample *s) {
    int dof = s->bodies.body_dof, row = 0;
    double *full = doubles((int64_t)s->rows * dof * s->bodies.body_count);
    const double *H = s->H;
    for (int c = 0; c < s->def.block_count; row += s->size[c], c++)
        for (int side = 0; side < 2; side++, H += s->size[c] * dof) {
            int body = s->body[2 * c + side];
            for (int j = 0; body >= 0 && j < dof; j++)
                for (int i = 0; i < s->size[c]; i++)
                    full[row + i + (int64_t)s->rows * (body * dof + j)] += H[i + s->size[c] * j];
        }
    return full;
}

void sample_update(sample *s) {
    int dof = s->bodies.body_dof, n = s->rows;
    double *H = dense_H(s);
    memset(s->W, 0, sizeof(double) * (size_t)(n * n));
    for (int body = 0; body < s->bodies.body_count; body++)
        for (int k = 0; k < dof; k++)
            for (int l = 0; l < dof; l++) {
                double m = s->inverse_mass[(int64_t)body * dof * dof + k + dof * l];
                const double *left = H + (int64_t)n * (body * dof + k),
                             *right = H + (int64_t)n * (body * dof + l);
                for (int j = 0; m != 0 && j < n; j++)
                    for (int i = 0; right[j] != 0 && i < n; i++) s->W[i + n * j] += left[i] * m * right[j];
            }
    free(H);
}

dls_problem *sample_stored(const sample *s) { return dense_problem(&s->def, s->rows, s->W); }

dls_problem *sample_matrix_free(const sample *s) {
    dls_problem *problem;
    dls_error error;
    if (dls_problem_create_bodies(&s->def, &s->bodies, &problem, &error)) fail_msg("%s", error.message);
    return problem;
}

dls_status dense_problem_create(const dls_problem_def *def, int rows, const double *W, dls_problem **problem,
                                dls_error *error) {
    int64_t *start = calloc((size_t)rows + 1, sizeof(int64_t)), entries = 0;
    int *column = calloc((size_t)(rows * rows) + 1, sizeof(int));
    double *value = doubles((int64_t)rows * rows);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rows; j++)
            if (W[i + rows * j] != 0) {
                column[entries] = j;
                value[entries++] = W[i + rows * j];
            }
        start[i + 1] = entries;
    }
    dls_csr matrix = {rows, rows, start, column, value};
    dls_status status = dls_problem_create(def, &matrix, problem, error);
    free(start);
    free(column);
    free(value);
    return status;
}

dls_problem *dense_problem(const dls_problem_def *def, int rows, const double *W) {
    dls_problem *problem;
    dls_error error;
    if (dense_problem_create(def, rows, W, &problem, &error)) fail_msg("%s", error.message);
    return problem;
}

void dense_velocity(int rows, const double *W, const double *b, const double *r, double *u) {
    for (int i = 0; i < rows; i++) {
        u[i] = b[i];
        for (int j = 0; j < rows; j++) u[i] += W[i + rows * j] * r[j];
    }
}

dls_problem *generated(dls_generator kind, int size, double mu, bool matrix_free) {
    dls_generate_def def = dls_default_generate_def();
    def.kind = kind;
    def.size = size;
    def.mu = mu;
    def.matrix_free = matrix_free;
    dls_problem *problem;
    dls_error error;
    if (dls_problem_generate(&def, &problem, &error)) fail_msg("%s", error.message);
    return problem;
}

uint64_t bits_hash(const double *x, int n) {
    uint64_t hash = DLS_HASH_BEGIN;
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        hash = dls_hash_word(hash, bits);
    }
    return hash;
}
