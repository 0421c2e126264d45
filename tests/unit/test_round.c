/* Contacts of balls: the short rows are the long ones, and the closed form is the law. */
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "problem/matrix.h"
#include "problem/operator/bodies.h"
#include "solve/law/law.h"
#include <delassus/solve.h>

#include <math.h>
#include <string.h>

enum { BODIES = 40, CONTACTS = 120 };

static const double ROUNDING = 1e-13; /* of entries of W, which are 40 at most */

typedef struct same_problems {
    dls_workspace *space;
    dls_problem *round, *rows, *mixed; /* the same contacts as balls, as any bodies, and as some of each */
} same_problems;

static void fill_contact(dls_random *random, dls_problem *p, int c, const double *mass) {
    dls_round_row *row = &dls_rows_of(p)->round[c];
    int *body = dls_rows_of(p)->body + 2 * c;
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

/* The contact once more, in a problem that keeps it as its storage has it. */
static void copy_contact(const dls_problem *from, dls_problem *to, int c) {
    dls_body_rows *B = dls_rows_of(to);
    memcpy(B->body + 2 * c, dls_rows_of(from)->body + 2 * c, 2 * sizeof(int));
    if (B->round) B->round[c] = dls_rows_of(from)->round[c];
    for (int side = 0; side < 2 && !dls_is_ball(B, c); side++) {
        dls_body_rows as_balls = {.dof = B->dof, .round = dls_rows_of(from)->round};
        dls_balls_side(&as_balls, c, side, dls_side_of(to, c, side));
    }
    to->mu[c] = from->mu[c];
    memcpy(to->b + 3 * c, from->b + 3 * c, 3 * sizeof(double));
}

static same_problems make_problems(uint64_t seed) {
    same_problems made = {.space = dls_workspace_create()};
    dls_random random = {seed};
    dls_error error;
    double mass[BODIES];
    uint8_t all[CONTACTS], most[CONTACTS];
    for (int c = 0; c < CONTACTS; c++) all[c] = 1, most[c] = c % 7 > 1;
    dls_contacts_def def = {.count = CONTACTS,
                            .d = 3,
                            .body_count = BODIES,
                            .reference_velocity = 0.1,
                            .ball = all,
                            .parts = NULL};
    for (int i = 0; i < BODIES; i++) mass[i] = dls_random_between(&random, 0.5, 2);
    assert_int_equal(dls_problem_begin_contacts(made.space, &def, &made.round, &error), DLS_OK);
    def.ball = NULL;
    assert_int_equal(dls_problem_begin_contacts(made.space, &def, &made.rows, &error), DLS_OK);
    def.ball = most;
    assert_int_equal(dls_problem_begin_contacts(made.space, &def, &made.mixed, &error), DLS_OK);
    for (int c = 0; c < CONTACTS; c++) {
        fill_contact(&random, made.round, c, mass);
        copy_contact(made.round, made.rows, c);
        copy_contact(made.round, made.mixed, c);
    }
    assert_int_equal(dls_problem_end_contacts(made.round, 1, &error), DLS_OK);
    assert_int_equal(dls_problem_end_contacts(made.rows, 1, &error), DLS_OK);
    assert_int_equal(dls_problem_end_contacts(made.mixed, 1, &error), DLS_OK);
    assert_int_equal(made.round->run_count, 1);
    assert_int_equal(made.rows->run_count, 1);
    assert_int_equal(made.mixed->run_count, 2 * (CONTACTS / 7) + 1);
    return made;
}

static double distance(int n, const double *x, const double *y) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

static void check_products(const dls_problem *p, const dls_problem *q, uint64_t seed) {
    dls_random random = {seed};
    double r[3 * CONTACTS], u[2][3 * CONTACTS], v[2][3], states[2][8 * BODIES];
    for (int i = 0; i < 3 * CONTACTS; i++) r[i] = dls_random_normal(&random);
    p->op->product(p, r, u[0], states[0], 2);
    q->op->product(q, r, u[1], states[1], 1);
    assert_true(distance(3 * CONTACTS, u[0], u[1]) < 1e-12);
    assert_true(distance(CONTACTS, p->scale, q->scale) < ROUNDING);
    for (int c = 0; c < CONTACTS; c++) {
        const double delta[3] = {0.5, -1, 2};
        p->op->changed(p, c, delta, states[0]);
        q->op->changed(q, c, delta, states[1]);
        p->op->local(p, c, r, states[0], v[0]);
        q->op->local(q, c, r, states[1], v[1]);
        assert_true(distance(3, v[0], v[1]) < 1e-11);
        double W[2][9];
        dls_problem_diagonal_block(p, c, W[0]);
        dls_problem_diagonal_block(q, c, W[1]);
        assert_true(distance(9, W[0], W[1]) < ROUNDING);
    }
}

static void test_products_are_the_same(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        same_problems p = make_problems(seed);
        check_products(p.round, p.rows, seed + 100);
        check_products(p.mixed, p.rows, seed + 200);
        dls_workspace_destroy(p.space);
    }
}

static void test_stored_blocks_are_the_same(void **state) {
    (void)state;
    same_problems p = make_problems(7);
    const dls_problem *kept[3] = {p.round, p.rows, p.mixed};
    dls_problem *stored[3];
    dls_error error;
    for (int k = 0; k < 3; k++) {
        assert_int_equal(dls_problem_assemble(kept[k], &stored[k], &error), DLS_OK);
        const dls_block_matrix *first = dls_problem_matrix(stored[0]), *W = dls_problem_matrix(stored[k]);
        int64_t blocks = first->start[CONTACTS];
        assert_int_equal(blocks, W->start[CONTACTS]);
        assert_memory_equal(first->column, W->column, sizeof(int) * (size_t)blocks);
        assert_true(distance((int)blocks * 9, first->value, W->value) < ROUNDING);
    }
    for (int k = 0; k < 3; k++) dls_problem_destroy(stored[k]);
    dls_workspace_destroy(p.space);
}

/* The closed form against the exact law of any W_cc, from any start. */
static void test_the_closed_form_is_the_law(void **state) {
    (void)state;
    same_problems p = make_problems(3);
    dls_random random = {5};
    dls_law_options options = dls_default_law_options();
    double *data = DLS_TAKE(p.space, double, dls_law_exact.data_size(3));
    for (int k = 0; k < 2000; k++) {
        int c = k % CONTACTS;
        double W[9];
        dls_problem_diagonal_block(p.round, c, W);
        double r[3], u[3], v[3], x[3], y[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) r[i] = dls_random_normal(&random), v[i] = dls_random_normal(&random);
        for (int i = 0; i < 3; i++) u[i] = v[i] + W[4 * i] * r[i], x[i] = r[i];
        round_solve(&dls_rows_of(p.round)->round[c], u, x);
        dls_law_exact.prepare(&options, 3, W, p.round->mu[c], data);
        dls_law_exact.solve(&options, 3, W, p.round->mu[c], data, v, y);
        assert_true(distance(3, x, y) < 1e-10 * (1 + vec_norm(y)));
    }
    dls_workspace_destroy(p.space);
}

/* Sweep by sweep, whatever the storage and the order, under a law that has no closed form: with one, balls
 * are visited in streams. */
static void test_sweeps_are_the_same(void **state) {
    (void)state;
    static const dls_order orders[] = {DLS_ORDER_NATURAL, DLS_ORDER_RANDOM, DLS_ORDER_COLOURED};
    for (int variant = 0; variant < 3; variant++) {
        same_problems p = make_problems(11 + (uint64_t)variant);
        const dls_problem *kept[3] = {p.round, p.rows, p.mixed};
        double r[3][3 * CONTACTS] = {{0}};
        dls_error error;
        dls_solve_info info;
        for (int k = 0; k < 3; k++) {
            dls_nlgs_options o = dls_default_nlgs_options();
            o.stop.tolerance = 0;
            o.stop.max_iterations = 10;
            o.stop.measure = DLS_STOP_INCREMENT;
            o.acceleration = DLS_PLAIN;
            o.order = orders[variant];
            o.alternate = variant == 0;
            strcpy(o.law, "sbp");
            assert_int_equal(dls_solve_nlgs(kept[k], &o, r[k], NULL, p.space, &info, &error), DLS_OK);
        }
        assert_true(distance(3 * CONTACTS, r[0], r[1]) < 1e-6); /* rounding grows fivefold in a sweep */
        assert_true(distance(3 * CONTACTS, r[0], r[2]) < 1e-6);
        dls_workspace_destroy(p.space);
    }
}

static void test_solvers_agree(void **state) {
    (void)state;
    same_problems p = make_problems(11);
    const dls_problem *kept[3] = {p.round, p.rows, p.mixed};
    static double r[3 * CONTACTS], u[3][3 * CONTACTS];
    static const char *const solvers[] = {"auto", "nlgs", "newton", "ipm", "pqn"};
    dls_error error;
    dls_solve_info info;
    for (int solver = 0; solver < 5; solver++)
        for (int k = 0; k < 3; k++) {
            union {
                dls_stop_options stop;
                char bytes[DLS_MAX_OPTIONS_SIZE];
            } o;
            const dls_solver *row = dls_solver_find(solvers[solver]);
            row->defaults(&o);
            o.stop.tolerance = 1e-10;
            memset(r, 0, sizeof r);
            assert_int_equal(dls_solve(kept[k], row, &o, r, u[k], p.space, &info, &error), DLS_OK);
            assert_int_equal(info.outcome, DLS_CONVERGED);
            assert_true(distance(3 * CONTACTS, u[0], u[k]) < 1e-7);
        }
    dls_workspace_destroy(p.space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_the_same),
        cmocka_unit_test(test_stored_blocks_are_the_same),
        cmocka_unit_test(test_the_closed_form_is_the_law),
        cmocka_unit_test(test_sweeps_are_the_same),
        cmocka_unit_test(test_solvers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
