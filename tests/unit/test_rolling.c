/* Contacts of balls that resist turning: the short rows are the long ones, and the closed form is the law. */
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "problem/cone.h"
#include "problem/operator/bodies.h"
#include "solve/law/law.h"
#include <delassus/solve.h>

#include <math.h>
#include <string.h>

enum { BODIES = 30, CONTACTS = 80, MOST_ROWS = 6 * CONTACTS };

static const uint8_t LAYOUTS[] = {DLS_PARTS(2, 2, 0), DLS_PARTS(2, 2, 1), DLS_PARTS(2, 0, 1),
                                  DLS_PARTS(2, 0, 0)};

typedef struct twins {
    dls_workspace *space;
    dls_problem *round, *rows, *mixed; /* the same contacts as balls, as rows, and as some of each */
} twins;

static void fill_ball(dls_random *g, dls_problem *p, int c) {
    dls_body_rows *B = dls_rows_of(p);
    dls_round_row *row = &B->round[c];
    dls_roll_row *roll = &B->roll[c];
    int *body = B->body + 2 * c;
    body[0] = (int)dls_random_below(g, BODIES + 1) - 1;
    body[1] = (int)dls_random_below(g, BODIES);
    if (body[1] == body[0]) body[1] = (body[0] + 1) % BODIES;
    for (int k = 0; k < 3; k++) row->n[k] = dls_random_normal(g);
    vec_scale(row->n, 1 / vec_norm(row->n), row->n);
    vec_tangents(row->n, row->t1, row->t2);
    for (int side = 0; side < 2; side++) { /* a ball of mass m and radius R: √J = R √(2m/5) */
        bool moves = body[side] >= 0;
        double m = 0.5 + body[side] % 5, R = 0.02 + 0.01 * (body[side] % 3), a = moves ? 1 / sqrt(m) : 0;
        double gamma = moves ? 1 / (R * sqrt(0.4 * m)) : 0;
        *(side ? &row->a_b : &row->a_a) = a;
        *(side ? &row->beta_b : &row->beta_a) = (side ? -R : R) * gamma;
        *(side ? &roll->gamma_b : &roll->gamma_a) = gamma;
    }
    p->mu[c] = c % 5 ? dls_random_between(g, 0, 1) : 0;
    p->mu_rolling[c] = c % 7 ? dls_random_between(g, 0, 0.02) : 0;
    p->mu_spinning[c] = dls_random_between(g, 0, 0.02);
    for (int k = 0; k < dls_size(p, c); k++) p->b[p->row[c] + k] = dls_random_normal(g) * (k < 3 ? 1 : 30);
    if (c % 4) p->b[p->row[c]] = -fabs(p->b[p->row[c]]);
}

static void copy_ball(const dls_problem *from, dls_problem *to, int c) {
    dls_body_rows *B = dls_rows_of(to);
    const dls_body_rows *A = dls_rows_of(from);
    memcpy(B->body + 2 * c, A->body + 2 * c, 2 * sizeof(int));
    if (B->round) B->round[c] = A->round[c], B->roll[c] = A->roll[c];
    if (!dls_is_ball(B, c)) {
        dls_body_rows as_balls = {.dof = B->dof, .round = A->round, .roll = A->roll};
        dls_roll_row *roll = &A->roll[c], kept = *roll;
        dls_problem seen = *to;
        seen.data = &as_balls;
        uint8_t parts = from->parts[c];
        roll->mu_rolling = parts >> 2 & 3 ? 1 : -1; /* which rows there are */
        roll->mu_spinning = parts >> 4 ? 1 : -1;
        for (int side = 0; side < 2; side++) {
            dls_balls_side(&as_balls, c, side, dls_side_of(to, c, side));
            dls_rolling_side(&seen, c, side, dls_side_of(to, c, side) + 3 * B->dof);
        }
        *roll = kept;
    }
    to->mu[c] = from->mu[c], to->mu_rolling[c] = from->mu_rolling[c],
    to->mu_spinning[c] = from->mu_spinning[c];
    memcpy(to->b + to->row[c], from->b + from->row[c], sizeof(double) * (size_t)dls_size(from, c));
}

static twins make_twins(uint64_t seed) {
    twins t = {.space = dls_workspace_create()};
    dls_random g = {seed};
    dls_error error;
    uint8_t all[CONTACTS], most[CONTACTS], parts[CONTACTS];
    for (int c = 0; c < CONTACTS; c++) all[c] = 1, most[c] = c % 5 > 1, parts[c] = LAYOUTS[(c / 3) % 4];
    dls_contacts_def def = {.count = CONTACTS,
                            .d = 3,
                            .body_count = BODIES,
                            .reference_velocity = 0.1,
                            .ball = all,
                            .parts = parts};
    assert_int_equal(dls_problem_begin_contacts(t.space, &def, &t.round, &error), DLS_OK);
    def.ball = NULL;
    assert_int_equal(dls_problem_begin_contacts(t.space, &def, &t.rows, &error), DLS_OK);
    def.ball = most;
    assert_int_equal(dls_problem_begin_contacts(t.space, &def, &t.mixed, &error), DLS_OK);
    for (int c = 0; c < CONTACTS; c++) {
        fill_ball(&g, t.round, c);
        copy_ball(t.round, t.rows, c);
        copy_ball(t.round, t.mixed, c);
    }
    assert_int_equal(dls_problem_end_contacts(t.round, 2, &error), DLS_OK);
    assert_int_equal(dls_problem_end_contacts(t.rows, 1, &error), DLS_OK);
    assert_int_equal(dls_problem_end_contacts(t.mixed, 1, &error), DLS_OK);
    assert_true(dls_rows_of(t.round)->round && !dls_rows_of(t.rows)->round && dls_rows_of(t.mixed)->G);
    return t;
}

static double distance(int n, const double *x, const double *y) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]) / (1 + fabs(y[i])));
    return most;
}

static void check_same(const dls_problem *p, const dls_problem *q) {
    dls_random g = {99};
    int n = p->row_count;
    double r[MOST_ROWS], u[2][MOST_ROWS], state[2][8 * BODIES], v[2][6], W[2][36];
    for (int i = 0; i < n; i++) r[i] = dls_random_normal(&g);
    assert_true(distance(n, p->unit, q->unit) < 1e-12 && distance(n, p->b, q->b) < 1e-12);
    assert_true(distance(CONTACTS, p->scale, q->scale) < 1e-12);
    for (int c = 0; c < CONTACTS; c++)
        if (p->parts[c] & DLS_PARTS(0, 3, 0))
            assert_true(distance(1, &p->mu_rolling[c], &q->mu_rolling[c]) < 1e-12);
    p->op->product(p, r, u[0], state[0], 2);
    q->op->product(q, r, u[1], state[1], 1);
    assert_true(distance(n, u[0], u[1]) < 1e-11);
    for (int c = 0; c < CONTACTS; c++) {
        const double delta[6] = {0.5, -1, 2, 0.3, -0.7, 1.1};
        int d = dls_size(p, c);
        p->op->changed(p, c, delta, state[0]);
        q->op->changed(q, c, delta, state[1]);
        p->op->local(p, c, r, state[0], v[0]);
        q->op->local(q, c, r, state[1], v[1]);
        assert_true(distance(d, v[0], v[1]) < 1e-10);
        dls_problem_diagonal_block(p, c, W[0]);
        dls_problem_diagonal_block(q, c, W[1]);
        assert_true(distance(d * d, W[0], W[1]) < 1e-11);
    }
}

static void test_rows_are_the_same(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        twins t = make_twins(seed);
        check_same(t.round, t.rows);
        check_same(t.mixed, t.rows);
        dls_problem *stored[2];
        assert_int_equal(dls_problem_assemble(t.round, &stored[0], NULL), DLS_OK);
        assert_int_equal(dls_problem_assemble(t.rows, &stored[1], NULL), DLS_OK);
        check_same(stored[0], stored[1]);
        for (int k = 0; k < 2; k++) dls_problem_destroy(stored[k]);
        dls_workspace_destroy(t.space);
    }
}

/* One visit of the closed form obeys the law of one contact to rounding, in all four states. */
static void test_the_closed_form_is_the_law(void **state) {
    (void)state;
    int sticks = 0, slides = 0, rolls = 0, both = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        twins t = make_twins(seed);
        for (int c = 0; c < CONTACTS; c++) {
            const dls_body_rows *B = dls_rows_of(t.round);
            int d = dls_size(t.round, c);
            double x[6] = {0}, u[6], W[36], N[6];
            const double *b = t.round->b + t.round->row[c];
            dls_rolling_diagonal(t.round, c, W);
            for (int k = 0; k < 60; k++) { /* directions of two that slip are found in turn */
                for (int i = 0; i < d; i++) {
                    u[i] = b[i];
                    for (int j = 0; j < d; j++) u[i] += W[i + d * j] * x[j];
                }
                roll_solve(&B->round[c], &B->roll[c], u, x);
            }
            for (int i = 0; i < d; i++) {
                u[i] = b[i];
                for (int j = 0; j < d; j++) u[i] += W[i + d * j] * x[j];
            }
            dls_cone cone = dls_cone_of(t.round, c);
            parts_natural_map(&cone, t.round->scale[c], x, u, N);
            double size = 0, error = 0;
            for (int i = 0; i < d; i++) size += fabs(b[i]), error = fmax(error, fabs(N[i]));
            if (!(error < 1e-9 * size))
                fail_msg("contact %d of %d: off by %g of %g", c, (int)seed, error, size);
            if (x[0] > 0 && cone.count > 1 && cone.size[1] == 2) {
                bool slips = hypot(u[1], u[2]) > 1e-9 * size, turns = hypot(u[3], u[4]) > 1e-9 * size;
                (*(slips ? turns ? &both : &slides : turns ? &rolls : &sticks))++;
            }
        }
        dls_workspace_destroy(t.space);
    }
    assert_true(sticks > 5 && slides > 5 && rolls > 5 && both > 5); /* all of them were met */
}

/* Contacts that share no body are solved in one sweep, four at a time or one by one. */
static void check_one_sweep(uint8_t layout, bool one_by_one) {
    enum { PAIRS = 67 };
    dls_workspace *space = dls_workspace_create();
    dls_random g = {layout};
    dls_error error;
    dls_problem *p;
    uint8_t all[PAIRS], parts[PAIRS];
    double r[6 * PAIRS], state[2 * PAIRS * 8];
    for (int c = 0; c < PAIRS; c++) all[c] = 1, parts[c] = layout;
    dls_contacts_def def = {.count = PAIRS,
                            .d = 3,
                            .body_count = 2 * PAIRS,
                            .reference_velocity = 0.1,
                            .ball = all,
                            .parts = parts};
    assert_int_equal(dls_problem_begin_contacts(space, &def, &p, &error), DLS_OK);
    for (int c = 0; c < PAIRS; c++) {
        fill_ball(&g, p, c);
        dls_round_row *row = &dls_rows_of(p)->round[c];
        dls_roll_row *roll = &dls_rows_of(p)->roll[c];
        int *body = dls_rows_of(p)->body + 2 * c;
        body[0] = c % 3 ? 2 * c : -1, body[1] = 2 * c + 1;
        if (body[0] < 0) row->a_a = row->beta_a = roll->gamma_a = 0;
    }
    assert_int_equal(dls_problem_end_contacts(p, 1, &error), DLS_OK);
    for (int i = 0; i < p->row_count; i++) r[i] = dls_random_normal(&g);
    for (int c = 0; c < PAIRS; c++) dls_block_project(p, c, r + p->row[c]);
    p->op->start(p, r, state, 1);
    dls_visits visits = {.problem = p, .law = dls_law_find("exact"), .relaxation = 1, .state = state};
    visits.increments = one_by_one;
    for (int k = 0; k < 60; k++) p->op->sweep(&visits, 0, PAIRS, r, k % 2); /* two that slip turn in turn */
    for (int c = 0; c < PAIRS; c++) {
        double u[6] = {0}, W[36], N[6];
        int d = dls_size(p, c);
        p->op->local(p, c, r, state, u);
        dls_rolling_diagonal(p, c, W);
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) u[i] += W[i + d * j] * r[p->row[c] + j];
        dls_cone cone = dls_cone_of(p, c);
        parts_natural_map(&cone, p->scale[c], r + p->row[c], u, N);
        for (int i = 0; i < d; i++)
            if (!(fabs(N[i]) < 1e-8)) fail_msg("layout %d, contact %d, row %d: %g", layout, c, i, N[i]);
    }
    dls_workspace_destroy(space);
}

static void test_one_sweep_solves_what_is_apart(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int one_by_one = 0; one_by_one < 2; one_by_one++) check_one_sweep(LAYOUTS[k], one_by_one);
}

/* b = W q: bodies that move as they like can always be stopped, so that there is a solution. */
static void move_freely(dls_problem *p[3]) {
    dls_random g = {5};
    double q[MOST_ROWS], state[8 * BODIES], b[MOST_ROWS];
    for (int i = 0; i < p[0]->row_count; i++) q[i] = dls_random_normal(&g);
    p[0]->op->product(p[0], q, b, state, 1);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < p[k]->row_count; i++) p[k]->b[i] = b[i], p[k]->given_b[i] = b[i] / p[k]->unit[i];
}

static void test_sweeps_end_alike(void **state) {
    (void)state;
    twins t = make_twins(3);
    dls_problem *p[3] = {t.rows, t.round, t.mixed};
    double u[3][MOST_ROWS];
    move_freely(p);
    for (int k = 0; k < 3; k++) {
        double r[MOST_ROWS] = {0};
        dls_nlgs_options o = dls_default_nlgs_options();
        dls_solve_info info;
        dls_error error;
        o.stop.tolerance = 1e-11;
        if (dls_solve(p[k], dls_solver_find("nlgs"), &o, r, u[k], NULL, &info, &error))
            fail_msg("%s", error.message);
        if (info.outcome != DLS_CONVERGED)
            fail_msg("form %d: %s at %g", k, dls_outcome_name(info.outcome), info.stop_value);
        assert_true(distance(p[k]->row_count, u[k], u[0]) < 1e-7);
    }
    dls_workspace_destroy(t.space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_the_same),
        cmocka_unit_test(test_the_closed_form_is_the_law),
        cmocka_unit_test(test_one_sweep_solves_what_is_apart),
        cmocka_unit_test(test_sweeps_end_alike),
    };
    return cmocka_run_group_tests_name("rolling", tests, NULL, NULL);
}
