/* The contact problem and its operators, against dense algebra. */
#include "problem/problem.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *doubles(int count) { return calloc((size_t)count + 1, sizeof(double)); }

static double largest(int n, const double *x) {
    double worst = 0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(x[i]));
    return worst;
}

static void fill_random(dls_random *g, int n, double *x) {
    for (int i = 0; i < n; i++) x[i] = dls_random_normal(g);
}

static void assert_close(int n, const double *x, const double *y, double tolerance) {
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i] - y[i]) <= tolerance))
            fail_msg("entry %d of %d: %.17g against %.17g, tolerance %g", i, n, x[i], y[i], tolerance);
}

/* Rounding of a product with W. */
static double product_tolerance(const sample *s, const double *r) {
    return 1e-14 * s->rows * (1 + largest(s->rows * s->rows, s->W) * largest(s->rows, r));
}

/* ---- one problem against its dense matrix ---- */

static void check_layout(const dls_problem *p, const sample *s) {
    int row = 0, contacts = 0;
    assert_int_equal(dls_problem_block_count(p), s->def.block_count);
    for (int c = 0; c < s->def.block_count; c++) {
        assert_int_equal(dls_problem_block_size(p, c), s->size[c]);
        assert_int_equal(dls_problem_block_kind(p, c), s->kind[c]);
        assert_int_equal(dls_problem_block_row(p, c), row);
        assert_true(dls_problem_mu(p, c) == (s->kind[c] == DLS_CONTACT ? s->mu[c] : 0));
        contacts += s->kind[c] == DLS_CONTACT;
        row += s->size[c];
    }
    assert_int_equal(dls_problem_row_count(p), row);
    assert_int_equal(dls_problem_contact_count(p), contacts);
    assert_memory_equal(dls_problem_b(p), s->b, sizeof(double) * (size_t)row);
}

static void check_diagonal_blocks(const dls_problem *p, const sample *s) {
    double tolerance = 1e-13 * largest(s->rows * s->rows, s->W);
    for (int c = 0; c < s->def.block_count; c++) {
        double block[36];
        int row = dls_problem_block_row(p, c), d = s->size[c];
        dls_problem_diagonal_block(p, c, block);
        for (int j = 0; j < d; j++)
            assert_close(d, block + d * j, s->W + row + s->rows * (row + j), tolerance);
    }
}

static void check_velocity(dls_random *g, const dls_problem *p, const sample *s, dls_workspace *w) {
    double *r = doubles(s->rows), *u = doubles(s->rows), *expected = doubles(s->rows);
    fill_random(g, s->rows, r);
    dense_velocity(s->rows, s->W, s->b, r, expected);
    assert_int_equal(dls_problem_velocity(p, r, u, w, NULL), DLS_OK);
    assert_close(s->rows, u, expected, product_tolerance(s, r));
    free(r);
    free(u);
    free(expected);
}

/* local() is the velocity without the own impulse, also after changed() has told of new impulses. */
static void check_local(dls_random *g, const dls_problem *p, const sample *s) {
    int n = s->rows;
    double *r = doubles(n), *u = doubles(n), *state = doubles((int)p->op->state_size(p));
    fill_random(g, n, r);
    dls_enter_units(p, r);
    p->op->start(p, r, state, 1);
    dls_leave_units(p, r, NULL);
    for (int round = 0; round < 2; round++) {
        dense_velocity(n, s->W, s->b, r, u);
        for (int c = 0; c < p->block_count; c++) {
            double v[6], expected[6];
            int row = p->row[c], d = s->size[c];
            dls_enter_units(p, r);
            p->op->local(p, c, r, state, v);
            dls_leave_units(p, r, NULL);
            for (int i = 0; i < d; i++) {
                expected[i] = u[row + i];
                for (int j = 0; j < d; j++) expected[i] -= s->W[row + i + n * (row + j)] * r[row + j];
                if (p->unit) v[i] /= p->unit[row + i];
            }
            assert_close(d, v, expected, 10 * product_tolerance(s, r));
        }
        for (int c = 0; c < p->block_count; c += 2) {
            double delta[6];
            fill_random(g, s->size[c], delta);
            for (int i = 0; i < s->size[c]; i++) {
                r[p->row[c] + i] += delta[i];
                if (p->unit) delta[i] /= p->unit[p->row[c] + i];
            }
            p->op->changed(p, c, delta, state);
        }
    }
    free(r);
    free(u);
    free(state);
}

/* Export gives the dense matrix back, and a problem made from it exports the same bits; but for rounding
 * where rows have units of their own. */
static void check_export(const dls_problem *p, const sample *s, bool same_bits) {
    int n = s->rows;
    int64_t entries = dls_problem_export(p, NULL, NULL, NULL),
            *start = malloc(sizeof(int64_t) * (size_t)(n + 1));
    int *column = malloc(sizeof(int) * (size_t)entries),
        *again_column = malloc(sizeof(int) * (size_t)entries);
    double *value = doubles((int)entries), *again_value = doubles((int)entries), *dense = doubles(n * n);
    assert_int_equal(dls_problem_export(p, start, column, value), entries);
    assert_int_equal(start[n], entries);
    for (int i = 0; i < n; i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            if (k > start[i]) assert_true(column[k] > column[k - 1]);
            dense[i + n * column[k]] = value[k];
        }
    if (same_bits && !p->unit)
        assert_memory_equal(dense, s->W, sizeof(double) * (size_t)(n * n));
    else
        assert_close(n * n, dense, s->W, 1e-13 * largest(n * n, s->W));
    dls_csr W = {n, n, start, column, value};
    dls_problem *again;
    assert_int_equal(dls_problem_create(&s->def, &W, &again, NULL), DLS_OK);
    assert_int_equal(dls_problem_export(again, start, again_column, again_value), entries);
    for (int64_t k = 0; k < entries; k++)
        assert_true(fabs(again_value[k] - value[k]) <= (p->unit ? 4 * DBL_EPSILON * fabs(value[k]) : 0));
    assert_memory_equal(again_column, column, sizeof(int) * (size_t)entries);
    dls_problem_destroy(again);
    free(start), free(column), free(again_column);
    free(value), free(again_value), free(dense);
}

/* The three forms of one sample: stored from its dense W, matrix-free, and assembled. */
static void check_sample(dls_random *g, const sample *s) {
    dls_problem *forms[4] = {sample_stored(s), sample_matrix_free(s), NULL, NULL};
    dls_workspace *w = dls_workspace_create();
    assert_int_equal(dls_problem_assemble(forms[1], &forms[2], NULL), DLS_OK);
    assert_int_equal(dls_problem_assemble(forms[0], &forms[3], NULL), DLS_OK); /* stored already: a copy */
    for (int k = 0; k < 4; k++) {
        assert_int_equal(dls_problem_is_stored(forms[k]), k != 1);
        assert_int_equal(dls_problem_body_count(forms[k]), k == 1 || k == 2 ? s->bodies.body_count : 0);
        check_layout(forms[k], s);
        check_diagonal_blocks(forms[k], s);
        check_velocity(g, forms[k], s, k % 2 ? w : NULL);
        check_local(g, forms[k], s);
        if (k != 1)
            check_export(forms[k], s, k != 2);
        else
            assert_int_equal(dls_problem_export(forms[k], NULL, NULL, NULL), 0);
    }
    for (int k = 0; k < 4; k++) dls_problem_destroy(forms[k]);
    dls_workspace_destroy(w);
}

static void mixed_blocks(void **state) {
    (void)state;
    dls_random g = {11};
    const int dofs[] = {1, 3, 6, 12};
    for (int round = 0; round < scaled(120, 24); round++) {
        sample_shape shape = {.blocks = 1 + round % 25,
                              .bodies = 1 + (int)dls_random_below(&g, 12),
                              .dof = dofs[round % 4],
                              .bilateral_every = 1 + round % 3, /* 1: bilateral blocks alone */
                              .mu_high = 2,
                              .coupling = 1};
        sample s = sample_create(&g, &shape);
        check_sample(&g, &s);
        sample_free(&s);
    }
}

static void blocks_of_one_size(void **state) {
    (void)state;
    dls_random g = {12};
    for (int round = 0; round < scaled(60, 12); round++) {
        sample_shape shape = {.blocks = 1 + round % 30,
                              .bodies = 1 + (int)dls_random_below(&g, 10),
                              .dof = 1 + (int)dls_random_below(&g, 12),
                              .dimension = 2 + round % 3,
                              .mu_high = 1,
                              .coupling = 0.5};
        sample s = sample_create(&g, &shape);
        check_sample(&g, &s);
        sample_free(&s);
    }
}

/* Bodies that touch themselves or the same neighbour many times, and freedoms that are locked. */
static void awkward_bodies(void **state) {
    (void)state;
    dls_random g = {13};
    for (int round = 0; round < scaled(60, 12); round++) {
        int dof = 3 + 3 * (round % 2);
        sample_shape shape = {
            .blocks = 12, .bodies = 4, .dof = dof, .bilateral_every = round % 4, .mu_high = 1, .coupling = 1};
        sample s = sample_create(&g, &shape);
        for (int c = 0; c < 12; c += 3) s.body[2 * c] = s.body[2 * c + 1];
        for (int c = 1; c < 12; c += 3) s.body[2 * c] = 0, s.body[2 * c + 1] = 3;
        int locked = (int)dls_random_below(&g, (uint64_t)dof);
        for (int k = 0; k < dof; k++) s.inverse_mass[locked + dof * k] = s.inverse_mass[k + dof * locked] = 0;
        double *last = s.inverse_mass + 3 * dof * dof; /* rank one */
        for (int i = 0; i < dof; i++)
            for (int j = 0; j < dof; j++) last[i + dof * j] = (i + 1.0) * (j + 1.0) / 9;
        sample_update(&s);
        check_sample(&g, &s);
        sample_free(&s);
    }
}

/* A micron-sized body in metres: 1/m and 1/I are 15 orders apart, and both count. */
static void tiny_bodies_keep_their_mass(void **state) {
    (void)state;
    const double mass[9] = {1e3, 0, 0, 0, 1e3, 0, 0, 0, 1e18},
                 H[12] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1e-8};
    const int body[2] = {-1, 0};
    const double mu = 0.3, b[2] = {-1, 0};
    dls_problem_def def = {.block_count = 1, .dimension = 2, .mu = &mu, .b = b};
    dls_bodies bodies = {1, 3, mass, body, H};
    dls_problem *p;
    double W[4];
    assert_int_equal(dls_problem_create_bodies(&def, &bodies, &p, NULL), DLS_OK);
    dls_problem_diagonal_block(p, 0, W);
    assert_true(fabs(W[0] - 1e3) < 1e-9 && fabs(W[3] - 1.1e3) < 1e-9 && fabs(W[1]) < 1e-9);
    dls_problem_destroy(p);
}

/* Duplicates add up, columns come in any order, explicit zeros store nothing, W stays as it is. */
static void scalar_rows_in_any_order(void **state) {
    (void)state;
    const int64_t start[5] = {0, 5, 8, 11, 12};
    const int column[12] = {3, 0, 3, 1, 2, /**/ 1, 0, 1, /**/ 2, 0, 2, /**/ 3};
    const double value[12] = {1, 2, -0.25, 0.5, 0, /**/ 1, 0.75, 2, /**/ 4, 0, 1, /**/ 3};
    const double mu[2] = {0.5, 0.5}, b[4] = {1, 2, 3, 4}, r[4] = {1, 10, 100, 1000};
    dls_problem_def def = {.block_count = 2, .dimension = 2, .mu = mu, .b = b};
    dls_csr W = {4, 4, start, column, value};
    dls_problem *p;
    double u[4], block[4];
    assert_int_equal(dls_problem_create(&def, &W, &p, NULL), DLS_OK);
    assert_int_equal(dls_problem_stored_blocks(p), 3); /* two on the diagonal, W_01, and no W_10 */
    assert_int_equal(dls_problem_export(p, NULL, NULL, NULL), 12);
    dls_problem_velocity(p, r, u, NULL, NULL);
    const double expected[4] = {1 + 2 + 5 + 750, 2 + 0.75 + 30, 3 + 500, 4 + 3000};
    for (int i = 0; i < 4; i++) assert_true(u[i] == expected[i]);
    dls_problem_diagonal_block(p, 0, block);
    const double diagonal[4] = {2, 0.75, 0.5, 3};
    assert_memory_equal(block, diagonal, sizeof block);
    dls_problem_destroy(p);
}

/* Two entries that cancel leave a block of zeros, which is harmless. */
static void cancelling_duplicates(void **state) {
    (void)state;
    const int64_t start[5] = {0, 3, 4, 5, 6};
    const int column[6] = {0, 2, 2, 1, 2, 3};
    const double value[6] = {1, 5, -5, 1, 1, 1}, mu[2] = {0, 0}, b[4] = {0}, r[4] = {1, 1, 1, 1};
    dls_problem_def def = {.block_count = 2, .dimension = 2, .mu = mu, .b = b};
    dls_csr W = {4, 4, start, column, value};
    dls_problem *p;
    double u[4];
    assert_int_equal(dls_problem_create(&def, &W, &p, NULL), DLS_OK);
    dls_problem_velocity(p, r, u, NULL, NULL);
    for (int i = 0; i < 4; i++) assert_true(u[i] == 1);
    dls_problem_destroy(p);
}

/* ---- generated problems ---- */

static const dls_generator kinds[] = {DLS_GENERATE_PACKING, DLS_GENERATE_STACK, DLS_GENERATE_DISCS,
                                      DLS_GENERATE_ROLLING, DLS_GENERATE_MIXED};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void generated_forms_agree(void **state) {
    (void)state;
    dls_random g = {14};
    for (int k = 0; k < KINDS; k++)
        for (int size = 1; size <= 3000; size = 7 * size + 3) {
            dls_problem *stored = generated(kinds[k], size, 0.4, false);
            dls_problem *implicit = generated(kinds[k], size, 0.4, true);
            int n = dls_problem_row_count(stored);
            double *r = doubles(n), *u = doubles(n), *v = doubles(n);
            assert_int_equal(dls_problem_row_count(implicit), n);
            static const int rows[] = {3, 3, 2, 5};
            if (k < 4) assert_int_equal(n, rows[k] * dls_problem_contact_count(stored));
            if (k < 4) assert_true(dls_problem_mu(stored, 0) == 0.4);
            assert_memory_equal(dls_problem_b(stored), dls_problem_b(implicit), sizeof(double) * (size_t)n);
            fill_random(&g, n, r);
            dls_problem_velocity(stored, r, u, NULL, NULL);
            dls_problem_velocity(implicit, r, v, NULL, NULL);
            assert_close(n, u, v, 1e-12 * largest(n, u));
            free(r), free(u), free(v);
            dls_problem_destroy(stored);
            dls_problem_destroy(implicit);
        }
}

/* About the size that was asked for, the same for the same seed, another for another. */
static void generated_sizes_and_seeds(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        int size = scaled(20000, 2000);
        dls_generate_def def = {kinds[k], size, 0.3, 5, true, 1e-3, 0};
        dls_problem *first, *second, *other;
        assert_int_equal(dls_problem_generate(&def, &first, NULL), DLS_OK);
        assert_int_equal(dls_problem_generate(&def, &second, NULL), DLS_OK);
        def.seed = 6;
        assert_int_equal(dls_problem_generate(&def, &other, NULL), DLS_OK);
        int count = dls_problem_contact_count(first), rows = dls_problem_row_count(first);
        assert_true(count > 0.7 * size && count < 1.5 * size);
        assert_int_equal(dls_problem_contact_count(second), count);
        uint64_t hash = bits_hash(dls_problem_b(first), rows);
        assert_true(hash == bits_hash(dls_problem_b(second), rows));
        assert_true(dls_problem_row_count(other) != rows || hash != bits_hash(dls_problem_b(other), rows));
        assert_true(dls_problem_body_count(first) > 0);
        dls_problem_destroy(first);
        dls_problem_destroy(second);
        dls_problem_destroy(other);
    }
}

/* Products on more threads give the same bits. */
static void products_do_not_depend_on_threads(void **state) {
    (void)state;
    dls_random g = {15};
    for (int implicit = 0; implicit < 2; implicit++) {
        dls_problem *p = generated(DLS_GENERATE_PACKING, scaled(6000, 1000), 0.3, implicit);
        int n = dls_problem_row_count(p);
        double *r = doubles(n), *u = doubles(n), *work = doubles((int)p->op->state_size(p));
        fill_random(&g, n, r);
        dls_velocity(p, r, u, work, 1);
        uint64_t hash = bits_hash(u, n);
        for (int threads = 2; threads <= 8; threads *= 2) {
            dls_velocity(p, r, u, work, threads);
            assert_true(bits_hash(u, n) == hash);
        }
        free(r), free(u), free(work);
        dls_problem_destroy(p);
    }
}

/* ---- facts ---- */

static dls_problem_facts facts_of(const dls_problem *p, int limit) {
    dls_problem_facts facts;
    assert_int_equal(dls_problem_analyze(p, limit, &facts, NULL), DLS_OK);
    return facts;
}

static void facts_of_a_known_matrix(void **state) {
    (void)state;
    /* eigenvalues 4, 2, 1 (first block) and 8, 8, 0.5 (second) */
    const double W[36] = {3, 1, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                          0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0.5};
    const double mu[2] = {0.2, 0.7}, b[6] = {0};
    dls_problem_def def = {.block_count = 2, .dimension = 3, .mu = mu, .b = b};
    dls_problem *p = dense_problem(&def, 6, W);
    dls_problem_facts facts = facts_of(p, 6);
    assert_int_equal(facts.rank, 6);
    assert_true(fabs(facts.condition - 16) < 1e-12 && facts.hyperstaticity == 1);
    assert_true(facts.asymmetry == 0 && facts.mu_low == 0.2 && facts.mu_high == 0.7);
    assert_true(fabs(facts.diagonal_low - 7.0 / 3) < 1e-15 && fabs(facts.diagonal_high - 16.5 / 3) < 1e-15);
    facts = facts_of(p, 5); /* too large to look into */
    assert_int_equal(facts.rank, -1);
    assert_true(isnan(facts.condition) && isnan(facts.hyperstaticity) && facts.asymmetry == 0);
    dls_problem_destroy(p);
}

static void facts_of_unsymmetric_matrices(void **state) {
    (void)state;
    double W[16] = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2};
    const double mu[2] = {0, 0}, b[4] = {0};
    dls_problem_def def = {.block_count = 2, .dimension = 2, .mu = mu, .b = b};
    const struct {
        int place;
        double value, asymmetry;
    } cases[] = {{1, 0.5, 0.25}, {2, 1e-3, 5e-4}, {8, -1, 0.5}, {14, 0, 0}};
    for (int k = 0; k < 4; k++) {
        W[cases[k].place] = cases[k].value;
        dls_problem *p = dense_problem(&def, 4, W);
        assert_true(fabs(facts_of(p, 10).asymmetry - cases[k].asymmetry) < 1e-16);
        dls_problem_destroy(p);
        W[cases[k].place] = 0;
    }
    W[8] = 6; /* singular values of a shear */
    dls_problem *p = dense_problem(&def, 4, W);
    double high = sqrt(22 + 6 * sqrt(13)), low = 4 / high;
    assert_true(fabs(facts_of(p, 10).condition - high / low) < 1e-12);
    dls_problem_destroy(p);
}

/* Blocks that are there on one side of the diagonal only, of any size. */
static void asymmetry_of_sparse_matrices(void **state) {
    (void)state;
    dls_random g = {16};
    for (int round = 0; round < 100; round++) {
        int blocks = 2 + round % 6, size[8], rows = 0, row_block[32];
        double mu[8] = {0}, b[32] = {0}, W[32 * 32] = {0}, worst = 0;
        bool there[8][8];
        for (int c = 0; c < blocks; c++) {
            size[c] = round % 2 ? 3 : 2 + (int)dls_random_below(&g, 3);
            for (int i = 0; i < size[c]; i++) row_block[rows++] = c;
        }
        for (int c = 0; c < blocks; c++)
            for (int j = 0; j < blocks; j++) there[c][j] = c != j && dls_random_below(&g, 3) == 0;
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < rows; j++)
                W[i + rows * j] = i == j ? 4 : there[row_block[i]][row_block[j]] ? dls_random_unit(&g) : 0;
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < rows; j++) worst = fmax(worst, fabs(W[i + rows * j] - W[j + rows * i]) / 4);
        dls_problem_def def = {.block_count = blocks, .block_size = size, .mu = mu, .b = b};
        dls_problem *p = dense_problem(&def, rows, W);
        assert_true(fabs(facts_of(p, 0).asymmetry - worst) < 1e-16);
        dls_problem_destroy(p);
    }
}

/* Rank and hyperstaticity of a brick wall: six freedoms per brick, more contact rows than that. */
static void facts_of_a_stack(void **state) {
    (void)state;
    dls_problem *stored = generated(DLS_GENERATE_STACK, 40, 0.5, false);
    dls_problem *implicit = generated(DLS_GENERATE_STACK, 40, 0.5, true);
    dls_problem_facts facts = facts_of(stored, 1000), same = facts_of(implicit, 1000);
    int rows = dls_problem_row_count(stored), freedoms = 6 * dls_problem_body_count(stored);
    assert_int_equal(facts.rank, rows < freedoms ? rows : freedoms);
    assert_true(facts.hyperstaticity == (double)rows / facts.rank && facts.hyperstaticity > 1.2);
    assert_true(facts.asymmetry < 1e-15 && isnan(same.asymmetry));
    assert_int_equal(same.rank, facts.rank);
    assert_true(fabs(same.condition / facts.condition - 1) < 1e-6 && facts.condition > 1);
    assert_true(facts.diagonal_low == same.diagonal_low && facts.diagonal_high == same.diagonal_high);
    dls_problem_destroy(stored);
    dls_problem_destroy(implicit);
}

/* ---- memory ---- */

static void memory_is_bounded(void **state) {
    (void)state;
    int large = scaled(10000, 5000);
    dls_problem *stored = generated(DLS_GENERATE_PACKING, large, 0.3, false);
    double blocks = (double)dls_problem_stored_blocks(stored);
    assert_true(blocks > dls_problem_contact_count(stored) * 5.0);
    assert_true((double)dls_problem_memory(stored) <= 1.2 * blocks * (9 * sizeof(double) + sizeof(int)));
    assert_true((double)dls_problem_memory(stored) >= blocks * 9 * sizeof(double));
    dls_problem_destroy(stored);
    double per_contact[2];
    for (int k = 0; k < 2; k++) {
        dls_problem *p = generated(DLS_GENERATE_PACKING, k ? 5 * large : large, 0.3, true);
        per_contact[k] = (double)dls_problem_memory(p) / dls_problem_contact_count(p);
        assert_int_equal(dls_problem_stored_blocks(p), 0);
        dls_problem_destroy(p);
    }
    assert_true(per_contact[0] < 500 && fabs(per_contact[1] / per_contact[0] - 1) < 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_blocks),
        cmocka_unit_test(blocks_of_one_size),
        cmocka_unit_test(awkward_bodies),
        cmocka_unit_test(tiny_bodies_keep_their_mass),
        cmocka_unit_test(scalar_rows_in_any_order),
        cmocka_unit_test(cancelling_duplicates),
        cmocka_unit_test(generated_forms_agree),
        cmocka_unit_test(generated_sizes_and_seeds),
        cmocka_unit_test(products_do_not_depend_on_threads),
        cmocka_unit_test(facts_of_a_known_matrix),
        cmocka_unit_test(facts_of_unsymmetric_matrices),
        cmocka_unit_test(asymmetry_of_sparse_matrices),
        cmocka_unit_test(facts_of_a_stack),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests_name("problem", tests, NULL, NULL);
}
