/* Elimination: reduced problems against dense Schur complements. */
#include "support/linkage.h"
#include "support/test.h"

#include "base/memory.h"
#include "problem/eliminate.h"
#include "solve/global/scaled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *doubles(int64_t count) { return calloc((size_t)count + 1, sizeof(double)); }

/* W, column by column, by products. */
static double *dense_of(const dls_problem *p) {
    int n = p->row_count;
    double *W = doubles((int64_t)n * n), *r = doubles(n), *state = doubles((int64_t)p->op->state_size(p));
    for (int j = 0; j < n; j++) {
        r[j] = 1;
        p->op->product(p, r, W + (int64_t)n * j, state, 1);
        r[j] = 0;
    }
    free(r), free(state);
    return W;
}

/* Eliminates row k of a dense system (W, b) by a pivot; false where the row depends on others. */
static bool eliminate_dense(int n, double *W, double *b, int k, double least) {
    double pivot = W[k + (int64_t)n * k];
    if (!(pivot > least)) return false;
    for (int i = 0; i < n; i++) {
        double factor = W[i + (int64_t)n * k] / pivot;
        if (i == k || factor == 0) continue;
        for (int j = 0; j < n; j++) W[i + (int64_t)n * j] -= factor * W[k + (int64_t)n * j];
        b[i] -= factor * b[k];
    }
    return true;
}

typedef struct roles {
    int fixed_every, stays_every; /* rows with a bound; 0: none */
} roles;

static void choose_roles(const dls_problem *p, const roles *which, uint8_t *role, double *r) {
    for (int i = 0, k = 0; i < p->row_count; i++) {
        role[i] = DLS_ROW_HELD;
        if (!isfinite(p->high[i])) continue;
        k++;
        if (which->fixed_every && k % which->fixed_every == 0) role[i] = DLS_ROW_FIXED, r[i] = p->high[i];
        if (which->stays_every && k % which->stays_every == 0) role[i] = DLS_ROW_STAYS;
    }
}

/* Whether held rows leave nothing of rows first … end. */
static bool is_held(const dls_problem *p, const double *W, int c, int first, int end) {
    double sum = 0;
    for (int i = first; i < end; i++) sum += W[i + (int64_t)p->row_count * i];
    return sum < 1e-9 * p->scale[c] * (end - first);
}

/* Rows of p that are rows of q, in order; W is reduced. */
static int kept_rows(const dls_problem *p, const uint8_t *role, const double *W, int *kept, int *out) {
    int count = 0;
    *out = 0;
    for (int c = 0; c < p->block_count; c++) {
        bool contact = p->kind[c] == DLS_CONTACT,
             held = contact && is_held(p, W, c, p->row[c], p->row[c + 1]);
        *out += held;
        for (int i = p->row[c]; i < p->row[c + 1]; i++) {
            if (held || (!contact && role[i] != DLS_ROW_STAYS)) continue;
            if (!contact && is_held(p, W, c, i, i + 1))
                ++*out;
            else
                kept[count++] = i;
        }
    }
    return count;
}

/* Held rows kept: W' is what is left when they are eliminated, they hold for the impulses that S⁻¹ finds, and
 * entries are counted from below. */
static void check_kept(const dls_problem *q, const double *V) {
    dls_problem *kept;
    dls_error error;
    assert_int_equal(dls_problem_keep(q, &kept, &error), DLS_OK);
    int m = q->row_count, rows = dls_kept_rows(q), n = m + rows;
    assert_int_equal(kept->row_count, n);
    assert_true(q->op->least_entries(q) <= kept->op->least_entries(kept));
    double *W = dense_of(kept), *b = doubles(n), *r = doubles(n), *x = doubles(n), most = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, i < m ? fabs(kept->b[i] - q->b[i]) : fabs(kept->b[i]));
        r[i] = i < m ? cos(i) : 0;
    }
    for (int i = m; i < n; i++)
        for (int j = 0; j < m; j++) x[i] -= W[i + (int64_t)n * j] * r[j];
    if (rows) assert_true(dls_kept_solve(q, x + m));
    for (int i = m; i < n; i++) {
        double u = 0;
        for (int j = 0; j < n; j++) u += W[i + (int64_t)n * j] * (j < m ? r[j] : x[j]);
        most = fmax(most, fabs(u));
    }
    for (int i = m; i < n; i++) eliminate_dense(n, W, b, i, 0);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) most = fmax(most, fabs(W[i + (int64_t)n * j] - V[i + (int64_t)m * j]));
    if (!(most < 1e-8)) fail_msg("the problem with its held rows kept is off by %g", most);
    dls_problem_destroy(kept);
    free(W), free(b), free(r), free(x);
}

/* Newton starts from impulses of the reduced problem: the rows that are kept hold for them, in its own units.
 */
static void check_start(const dls_problem *q) {
    dls_scaled scaled;
    dls_error error;
    assert_int_equal(dls_scaled_create(&scaled, q, &error), DLS_OK);
    const dls_problem *p = scaled.problem;
    int m = q->row_count, n = p->row_count;
    double *r = doubles(m), *x = doubles(n), *u = doubles(n), *before = doubles(n);
    double *state = doubles((int64_t)p->op->state_size(p)), *there = doubles((int64_t)q->op->state_size(q));
    for (int i = 0; i < m; i++) r[i] = cos(i);
    assert_true(dls_scaled_enter(&scaled, r, x, u, state, 1));
    dls_velocity(p, x, u, state, 1);
    dls_velocity(q, r, before, there, 1);
    for (int i = 0; i < n; i++) {
        double speed = i < m ? before[i] * scaled.S[i] : 0; /* of a row that is kept */
        if (!(fabs(u[i] - speed) < 1e-8))
            fail_msg("row %d of %d starts at %g, expected %g", i, m, u[i], speed);
    }
    dls_scaled_destroy(&scaled);
    free(r), free(x), free(u), free(before), free(state), free(there);
}

static void check_reduced(dls_elimination *e, const linkage *l, const roles *which) {
    const dls_problem *p = l->p;
    int n = p->row_count, out, held_out;
    uint8_t *role = calloc((size_t)n + 1, 1);
    int *kept = calloc((size_t)n + 1, sizeof(int));
    double *r = doubles(n), *b = doubles(n), *W = dense_of(p);
    dls_elimination_cost cost;
    dls_error error;
    dls_problem *q, *stored;
    choose_roles(p, which, role, r);
    assert_int_equal(dls_elimination_begin(e, p, role, 1, l->space, &cost, &error), DLS_OK);
    assert_int_equal(dls_elimination_factor(e, 1e-10, &error), DLS_OK);
    assert_int_equal(dls_elimination_reduce(e, r, &q, &error), DLS_OK);
    dls_elimination_out(e, &out);
    for (int i = 0; i < n; i++) {
        b[i] = p->b[i];
        for (int j = 0; j < n; j++)
            if (role[j] == DLS_ROW_FIXED) b[i] += W[i + (int64_t)n * j] * r[j];
    }
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1]; i++)
            if (p->kind[c] == DLS_INTERVAL && role[i] == DLS_ROW_HELD)
                eliminate_dense(n, W, b, i, 1e-9 * p->inverse_mass[c]);
    int m = kept_rows(p, role, W, kept, &held_out);
    assert_int_equal(out, held_out);
    assert_int_equal(q->row_count, m);
    double *V = dense_of(q), most = 0;
    for (int i = 0; i < m; i++) {
        most = fmax(most, fabs(q->b[i] - b[kept[i]]));
        for (int j = 0; j < m; j++)
            most = fmax(most, fabs(V[i + (int64_t)m * j] - W[kept[i] + (int64_t)n * kept[j]]));
    }
    if (!(most < 1e-9)) fail_msg("reduced problem is off by %g", most);
    free(V);
    assert_int_equal(dls_problem_assemble(q, &stored, &error), DLS_OK);
    V = dense_of(stored);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            most = fmax(most, fabs(V[i + (int64_t)m * j] - W[kept[i] + (int64_t)n * kept[j]]));
    if (!(most < 1e-9)) fail_msg("blocks of the reduced problem are off by %g", most);
    assert_true(cost.tails == 0 || q->op->sweep_cost(q) / q->row_count > p->op->sweep_cost(p) / p->row_count);
    dls_problem_destroy(stored);
    check_kept(q, V);
    check_start(q);
    free(role), free(kept), free(r), free(b), free(W), free(V);
}

static void test_reduced_problems_are_schur_complements(void **state) {
    (void)state;
    dls_elimination *e = dls_elimination_create(); /* one for all, whatever is joined */
    for (int seed = 0; seed < 64; seed++) {
        linkage_shape shape = {.seed = (uint64_t)seed,
                               .bodies = 2 + seed % 48 / 2,
                               .contacts = 6 + seed % 48 / 2,
                               .wide = seed < 48 ? 0 : 2 + seed % 2,
                               .loops = seed % 3,
                               .redundant = seed % 4 == 3 ? 2 : 0,
                               .trees = 1 + seed % 4,
                               .planar = seed % 5 == 0,
                               .round = seed % 5 == 2,
                               .turning = seed % 5 > 2,
                               .soft = seed % 2,
                               .bounded = seed % 3 > 0};
        linkage l = linkage_random(&shape);
        check_reduced(e, &l, &(roles){0, 0});
        check_reduced(e, &l, &(roles){2, 3});
        linkage_end(&l);
    }
    dls_elimination_destroy(e);
}

/* Numbers that a factorisation begins with, of a chain with two contacts per link. */
static double kept_entries(int links) {
    linkage l = linkage_chain(&(chain_shape){.links = links, .contacts = 2, .mass_ratio = 1, .pull = 2});
    dls_elimination *e = dls_elimination_create();
    uint8_t *role = calloc((size_t)l.p->row_count, 1);
    double *r = doubles(l.p->row_count);
    dls_elimination_cost cost;
    dls_error error;
    dls_problem *q, *kept;
    assert_int_equal(dls_elimination_begin(e, l.p, role, 1, l.space, &cost, &error), DLS_OK);
    assert_int_equal(dls_elimination_factor(e, 1e-10, &error), DLS_OK);
    assert_int_equal(dls_elimination_reduce(e, r, &q, &error), DLS_OK);
    assert_int_equal(dls_problem_keep(q, &kept, &error), DLS_OK);
    double entries = (double)kept->op->least_entries(kept);
    assert_true((double)q->op->least_entries(q) > 0.2 * entries);
    dls_problem_destroy(kept);
    free(role), free(r);
    dls_elimination_destroy(e);
    linkage_end(&l);
    return entries;
}

static void test_factored_entries_grow_with_the_number_of_links(void **state) {
    (void)state;
    double few = kept_entries(100), many = kept_entries(10000);
    assert_true(many <= 101 * few); /* W' has 10,000 times as many */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduced_problems_are_schur_complements),
        cmocka_unit_test(test_factored_entries_grow_with_the_number_of_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
