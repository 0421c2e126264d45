/* Contacts of balls: the short rows are the long ones, and the closed form is the law. */
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "problem/bodies.h"
#include "problem/round_rows.h"
#include "solve/law/law.h"
#include <delassus/solve.h>

#include <math.h>
#include <string.h>

enum { BODIES = 40, CONTACTS = 120 };

static const double ROUNDING = 1e-13; /* of entries of W, which are 40 at most */

typedef struct pair_of_problems {
    dls_workspace *space;
    dls_problem *round, *rows; /* the same contacts as balls and as any bodies */
} pair_of_problems;

static void fill_contact(dls_random *random, dls_problem *p, int c, const double *mass) {
    dls_round_row *row = &p->bodies.round[c];
    int *body = p->bodies.body + 2 * c;
    body[0] = (int)dls_random_below(random, BODIES + 1) - 1; /* −1: something that cannot move */
    body[1] = (int)dls_random_below(random, BODIES);
    if (body[1] == body[0]) body[1] = (body[0] + 1) % BODIES;
    for (int k = 0; k < 3; k++) row->n[k] = dls_random_normal(random);
    vec_scale(row->n, 1 / vec_norm(row->n), row->n);
    vec_tangents(row->n, row->t1, row->t2);
    row->a_a = body[0] < 0 ? 0 : mass[body[0]];
    row->a_b = mass[body[1]];
    row->beta_a = body[0] < 0 ? 0 : dls_random_between(random, 1, 2) * row->a_a;
    row->beta_b = -dls_random_between(random, 1, 2) * row->a_b;
    p->mu[c] = c % 5 ? dls_random_between(random, 0, 1.5) : 0;
    for (int k = 0; k < 3; k++) p->b[3 * c + k] = dls_random_normal(random);
}

static pair_of_problems make_problems(uint64_t seed) {
    pair_of_problems made = {.space = dls_workspace_create()};
    dls_random random = {seed};
    dls_error error;
    double mass[BODIES];
    dls_contacts_def def = {CONTACTS, 3, BODIES, 6, true, 0.1};
    for (int i = 0; i < BODIES; i++) mass[i] = dls_random_between(&random, 0.5, 2);
    assert_int_equal(dls_problem_begin_contacts(made.space, &def, &made.round, &error), DLS_OK);
    def.round = false;
    assert_int_equal(dls_problem_begin_contacts(made.space, &def, &made.rows, &error), DLS_OK);
    for (int c = 0; c < CONTACTS; c++) {
        fill_contact(&random, made.round, c, mass);
        for (int side = 0; side < 2; side++)
            dls_round_side(made.round, c, side, made.rows->bodies.G + 36 * c + 18 * side);
    }
    memcpy(made.rows->bodies.body, made.round->bodies.body, sizeof(int) * 2 * CONTACTS);
    memcpy(made.rows->mu, made.round->mu, sizeof(double) * CONTACTS);
    memcpy(made.rows->b, made.round->b, sizeof(double) * 3 * CONTACTS);
    assert_int_equal(dls_problem_end_contacts(made.round, 1, &error), DLS_OK);
    assert_int_equal(dls_problem_end_contacts(made.rows, 1, &error), DLS_OK);
    assert_ptr_equal(made.round->op, &dls_operator_round);
    assert_ptr_equal(made.rows->op, &dls_operator_bodies);
    return made;
}

static double distance(int n, const double *x, const double *y) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

static void test_products_are_the_same(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        pair_of_problems p = make_problems(seed);
        dls_random random = {seed + 100};
        double r[3 * CONTACTS], u[2][3 * CONTACTS], v[2][3], states[2][8 * BODIES];
        for (int i = 0; i < 3 * CONTACTS; i++) r[i] = dls_random_normal(&random);
        p.round->op->product(p.round, r, u[0], states[0], 2);
        p.rows->op->product(p.rows, r, u[1], states[1], 1);
        assert_true(distance(3 * CONTACTS, u[0], u[1]) < 1e-12);
        assert_true(distance(CONTACTS, p.round->scale, p.rows->scale) < ROUNDING);
        for (int c = 0; c < CONTACTS; c++) {
            const double delta[3] = {0.5, -1, 2};
            p.round->op->changed(p.round, c, delta, states[0]);
            p.rows->op->changed(p.rows, c, delta, states[1]);
            p.round->op->local(p.round, c, r, states[0], v[0]);
            p.rows->op->local(p.rows, c, r, states[1], v[1]);
            assert_true(distance(3, v[0], v[1]) < 1e-11);
            double W[2][DLS_ROUND_DIAGONAL];
            dls_problem_diagonal_block(p.round, c, W[0]);
            dls_problem_diagonal_block(p.rows, c, W[1]);
            assert_true(distance(DLS_ROUND_DIAGONAL, W[0], W[1]) < ROUNDING);
        }
        dls_workspace_destroy(p.space);
    }
}

static void test_stored_blocks_are_the_same(void **state) {
    (void)state;
    pair_of_problems p = make_problems(7);
    dls_problem *stored[2];
    dls_error error;
    assert_int_equal(dls_problem_assemble(p.round, &stored[0], &error), DLS_OK);
    assert_int_equal(dls_problem_assemble(p.rows, &stored[1], &error), DLS_OK);
    int64_t blocks = stored[0]->blocks.start[CONTACTS];
    assert_int_equal(blocks, stored[1]->blocks.start[CONTACTS]);
    assert_memory_equal(stored[0]->blocks.column, stored[1]->blocks.column, sizeof(int) * (size_t)blocks);
    assert_true(distance((int)blocks * 9, stored[0]->blocks.value, stored[1]->blocks.value) < ROUNDING);
    dls_problem_destroy(stored[0]);
    dls_problem_destroy(stored[1]);
    dls_workspace_destroy(p.space);
}

/* The closed form against the exact law of any W_cc, from any start. */
static void test_the_closed_form_is_the_law(void **state) {
    (void)state;
    pair_of_problems p = make_problems(3);
    dls_random random = {5};
    dls_law_options options = dls_default_law_options();
    double *data = DLS_TAKE(p.space, double, dls_law_exact.data_size(3));
    for (int k = 0; k < 2000; k++) {
        int c = k % CONTACTS;
        double W[DLS_ROUND_DIAGONAL];
        dls_problem_diagonal_block(p.round, c, W);
        double r[3], u[3], v[3], x[3], y[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) r[i] = dls_random_normal(&random), v[i] = dls_random_normal(&random);
        for (int i = 0; i < 3; i++) u[i] = v[i] + W[4 * i] * r[i], x[i] = r[i];
        round_solve(&p.round->bodies.round[c], u, x);
        dls_law_exact.prepare(&options, 3, W, p.round->mu[c], data);
        dls_law_exact.solve(&options, 3, W, p.round->mu[c], data, v, y);
        assert_true(distance(3, x, y) < 1e-10 * (1 + vec_norm(y)));
    }
    dls_workspace_destroy(p.space);
}

static void test_solvers_agree(void **state) {
    (void)state;
    pair_of_problems p = make_problems(11);
    double r[2][3 * CONTACTS] = {{0}}, u[2][3 * CONTACTS];
    dls_error error;
    dls_solve_info info;
    for (int k = 0; k < 2; k++) {
        dls_nlgs_options o = dls_default_nlgs_options();
        o.stop.tolerance = 1e-10;
        o.acceleration = DLS_PLAIN;
        const dls_problem *problem = k ? p.rows : p.round;
        assert_int_equal(dls_solve_nlgs(problem, &o, r[k], u[k], p.space, &info, &error), DLS_OK);
        assert_int_equal(info.outcome, DLS_CONVERGED);
    }
    assert_true(distance(3 * CONTACTS, u[0], u[1]) < 1e-7);
    dls_workspace_destroy(p.space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_the_same),
        cmocka_unit_test(test_stored_blocks_are_the_same),
        cmocka_unit_test(test_the_closed_form_is_the_law),
        cmocka_unit_test(test_solvers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
