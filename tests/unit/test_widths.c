/* Problems in which some bodies have more freedoms than others: W against sums over both sides of its rows,
 * balls that stay balls, and the same solution however W is kept. */
#include "support/linkage.h"
#include "support/near.h"
#include "support/test.h"

#include "base/memory.h"
#include "problem/operator/bodies.h"
#include <delassus/solve.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of G over the freedoms of all bodies, widest apart. */
static double *dense_rows(const dls_problem *p) {
    const dls_body_rows *B = dls_rows_of(p);
    int64_t columns = (int64_t)p->body_count * B->widest;
    double *G = calloc((size_t)(p->row_count * columns), sizeof *G), room[DLS_MAX_BLOCK * ROUND_STATE];
    for (int c = 0; c < p->block_count; c++)
        for (int side = 0; side < 2; side++) {
            int body = B->body[2 * c + side], width = dls_width_of(B, body);
            if (body < 0) continue;
            const double *rows = dls_rows_in(p, c, side, room);
            for (int i = 0; i < dls_size(p, c); i++)
                memcpy(G + (p->row[c] + i) * columns + (int64_t)body * B->widest, rows + i * width,
                       sizeof(double) * (size_t)width);
        }
    return G;
}

static double *dense_of(const dls_problem *p, const double *G) {
    const dls_body_rows *B = dls_rows_of(p);
    int64_t n = p->row_count, columns = (int64_t)p->body_count * B->widest;
    double *W = calloc((size_t)(n * n), sizeof *W);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = 0; k < columns; k++) W[i + n * j] += G[i * columns + k] * G[j * columns + k];
        if (B->compliance) W[i + n * i] += B->compliance[i];
    }
    return W;
}

/* product, local and changed by W. */
static void check_products(const dls_problem *p, const double *W) {
    int n = p->row_count;
    size_t states = p->op->state_size(p);
    dls_random g = {.state = 3};
    double *r = malloc(sizeof *r * (size_t)n), *u = malloc(sizeof *u * (size_t)n),
           *state = malloc(sizeof *state * states), *later = malloc(sizeof *later * states);
    for (int i = 0; i < n; i++) r[i] = dls_random_normal(&g);
    p->op->product(p, r, u, state, 2);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += W[i + (int64_t)n * j] * r[j];
        assert_near(u[i], sum, 1e-11 * (1 + fabs(sum)));
    }
    for (int c = 0; c < p->block_count; c++) {
        double v[DLS_MAX_BLOCK], delta[DLS_MAX_BLOCK];
        int d = dls_size(p, c), row = p->row[c];
        p->op->local(p, c, r, state, v);
        for (int i = 0; i < d; i++) {
            double sum = u[row + i] + p->b[row + i];
            for (int j = 0; j < d; j++) sum -= W[row + i + (int64_t)n * (row + j)] * r[row + j];
            assert_near(v[i], sum, 1e-10 * (1 + fabs(sum)));
        }
        for (int i = 0; i < d; i++) r[row + i] += delta[i] = dls_random_normal(&g);
        p->op->changed(p, c, delta, state);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < d; j++) u[i] += W[i + (int64_t)n * (row + j)] * delta[j];
    }
    p->op->start(p, r, later, 1);
    for (size_t k = 0; k < states; k++) assert_near(state[k], later[k], 1e-10);
    free(r), free(u), free(state), free(later);
}

/* Entries of W one by one. */
static void check_blocks(const dls_problem *p, const double *W) {
    int n = p->row_count;
    double *left = malloc(sizeof *left * (size_t)n * (size_t)n), w[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    memcpy(left, W, sizeof *left * (size_t)n * (size_t)n);
    int *column = malloc(sizeof *column * (size_t)p->block_count);
    for (int c = 0; c < p->block_count; c++) {
        int64_t count = p->op->coupled(p, c, column);
        for (int64_t k = -1; k < count; k++) {
            int j = k < 0 ? c : column[k], d = dls_size(p, c), e = dls_size(p, j);
            if (k < 0)
                memcpy(w, dls_diagonal(p, c), sizeof(double) * (size_t)(d * d));
            else
                p->op->block(p, c, k, j, w);
            for (int i = 0; i < d * e; i++) {
                double *at = left + p->row[c] + i % d + (int64_t)n * (p->row[j] + i / d);
                assert_near(w[i], *at, 1e-12 * (1 + fabs(*at)));
                *at = 0;
            }
        }
    }
    for (int64_t i = 0; i < (int64_t)n * n; i++) assert_near(left[i], 0, 1e-12);
    free(left), free(column);
}

static linkage make(int seed, bool turning) {
    return linkage_random(&(linkage_shape){.seed = (uint64_t)seed,
                                           .bodies = 12 + seed,
                                           .contacts = 30,
                                           .trees = 4,
                                           .round = seed % 3 > 0,
                                           .planar = seed % 3 == 0 && !turning,
                                           .turning = turning,
                                           .soft = seed % 2,
                                           .wide = 4});
}

static void test_rows_have_the_widths_of_their_bodies(void **state) {
    (void)state;
    for (int seed = 1; seed <= 12; seed++) {
        linkage l = make(seed, seed > 8);
        double *G = dense_rows(l.p), *W = dense_of(l.p, G);
        check_products(l.p, W);
        check_blocks(l.p, W);
        free(G), free(W);
        linkage_end(&l);
    }
}

/* Contacts of balls keep their storage; only rows that touch a wide body are long. */
static void test_balls_stay_balls(void **state) {
    (void)state;
    linkage l = make(4, false);
    const dls_body_rows *B = dls_rows_of(l.p);
    int kinds[4] = {0};
    for (int k = 0; k < l.p->run_count; k++) {
        const dls_run *run = &l.p->runs[k];
        for (int c = run->first; c < run->end; c++) {
            bool wide = dls_width_of(B, B->body[2 * c]) + dls_width_of(B, B->body[2 * c + 1]) > 2 * B->dof;
            assert_int_equal(wide, run->storage == DLS_WIDE);
            assert_int_equal(dls_is_ball(B, c), run->storage == DLS_BALLS);
            kinds[run->storage]++;
        }
    }
    assert_true(kinds[DLS_BALLS] > 5 && kinds[DLS_WIDE] > 5 && kinds[DLS_ROWS] > 5);
    assert_int_equal(B->stride, ROUND_STATE);
    linkage_end(&l);
}

/* Stored or not: one solution. */
static void test_solutions_agree(void **state) {
    (void)state;
    for (int seed = 1; seed <= 4; seed++) {
        linkage l = make(seed, false);
        dls_problem *stored;
        dls_error error;
        dls_nlgs_options o = dls_default_nlgs_options();
        o.stop.tolerance = 1e-10, o.stop.max_iterations = 100000;
        assert_int_equal(dls_problem_assemble(l.p, &stored, &error), DLS_OK);
        size_t n = (size_t)l.p->row_count;
        double *r[2], *u[2];
        for (int k = 0; k < 2; k++) {
            dls_solve_info info;
            r[k] = calloc(n, sizeof(double)), u[k] = calloc(n, sizeof(double));
            assert_int_equal(
                dls_solve(k ? stored : l.p, dls_solver_find("nlgs"), &o, r[k], u[k], NULL, &info, &error),
                DLS_OK);
            assert_int_equal(info.outcome, DLS_CONVERGED);
        }
        for (size_t i = 0; i < n; i++) assert_near(u[0][i], u[1][i], 1e-7);
        for (int k = 0; k < 2; k++) free(r[k]), free(u[k]);
        dls_problem_destroy(stored);
        linkage_end(&l);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_have_the_widths_of_their_bodies),
        cmocka_unit_test(test_balls_stay_balls),
        cmocka_unit_test(test_solutions_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
