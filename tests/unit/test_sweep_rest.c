/* Open contacts that sweeps leave out for a while: none is forgotten, and nothing but the number of visits
 * changes. */
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "problem/operator/bodies.h"
#include "solve/sweep/sweep.h"

#include <math.h>
#include <string.h>

enum { CONTACTS = 800, BODIES = 400, LONGEST_REST = 15 };

typedef enum kind { PLANAR, SPATIAL, BALLS, MIXED, KINDS } kind;

typedef struct heap {
    dls_workspace *space;
    dls_problem *problem;
    int d;
} heap;

/* ---- problems ---- */

/* Rows of one side in the plane: what a unit velocity of each freedom does at the contact. */
static void fill_planar(const double *n, double sign, double root, double arm, double slip, double *G) {
    const double row[2][3] = {{n[0], n[1], slip}, {-n[1], n[0], arm}};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) G[3 * k + i] = sign * root * row[k][i];
}

static void fill_ball(dls_random *g, const double *root, int a, int b, dls_round_row *row) {
    for (int k = 0; k < 3; k++) row->n[k] = dls_random_normal(g);
    vec_scale(row->n, 1 / vec_norm(row->n), row->n);
    vec_tangents(row->n, row->t1, row->t2);
    row->a_a = root[a], row->a_b = root[b];
    row->beta_a = 1.5 * root[a], row->beta_b = -1.5 * root[b];
}

static void fill_rows(dls_random *g, kind what, const double *root, dls_problem *balls, dls_problem *p,
                      int c) {
    int *body = dls_rows_of(p)->body + 2 * c;
    body[0] = (int)dls_random_below(g, BODIES);
    body[1] = (body[0] + 1 + (int)dls_random_below(g, 6)) % BODIES;
    p->mu[c] = c % 5 ? dls_random_between(g, 0, 0.8) : 0;
    if (what == PLANAR) {
        double angle = dls_random_between(g, 0, 6.28), n[2] = {cos(angle), sin(angle)};
        for (int side = 0; side < 2; side++)
            fill_planar(n, side ? 1 : -1, root[body[side]], side ? -1.2 : 1.2, 0.2 * dls_random_normal(g),
                        dls_rows_of(p)->G + 12 * c + 6 * side);
        return;
    }
    fill_ball(g, root, body[0], body[1], &dls_rows_of(balls)->round[c]);
    memcpy(dls_rows_of(balls)->body + 2 * c, body, 2 * sizeof *body);
    balls->mu[c] = p->mu[c];
    for (int side = 0; side < 2; side++) {
        dls_body_rows spatial = {.dof = 6, .round = dls_rows_of(balls)->round};
        dls_balls_side(&spatial, c, side, dls_side_of(p, c, side));
        if (!dls_is_ball(dls_rows_of(balls), c))
            dls_balls_side(dls_rows_of(balls), c, side, dls_side_of(balls, c, side));
    }
}

/* b = G y + gap: bodies that run into each other across gaps. With all of them at rest no contact closes, so
 * that a solution exists. */
static void fill_b(dls_random *g, const double *y, int d, dls_problem *p, int c) {
    int dof = d == 2 ? 3 : 6;
    for (int k = 0; k < d; k++) {
        double *b = &p->b[d * c + k];
        *b = k ? 0 : dls_random_between(g, 0, 1);
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < dof; i++)
                *b += dls_rows_of(p)->G[2 * c * d * dof + side * d * dof + k * dof + i] *
                      y[6 * dls_rows_of(p)->body[2 * c + side] + i];
    }
}

static heap make_heap(kind what, uint64_t seed) {
    heap h = {.space = dls_workspace_create(), .d = what == PLANAR ? 2 : 3};
    dls_random g = {seed};
    dls_error error;
    dls_problem *balls = NULL, *rows;
    uint8_t is_ball[CONTACTS];
    for (int c = 0; c < CONTACTS; c++) is_ball[c] = what != MIXED || c % 11 > 2;
    double root[BODIES], y[6 * BODIES];
    dls_contacts_def def = {.count = CONTACTS,
                            .d = h.d,
                            .body_count = BODIES,
                            .reference_velocity = 0.1,
                            .ball = NULL,
                            .parts = NULL};
    assert_int_equal(dls_problem_begin_contacts(h.space, &def, &rows, &error), DLS_OK);
    def.ball = is_ball;
    if (what != PLANAR) assert_int_equal(dls_problem_begin_contacts(h.space, &def, &balls, &error), DLS_OK);
    for (int i = 0; i < BODIES; i++) root[i] = dls_random_between(&g, 0.7, 1.4);
    for (int i = 0; i < 6 * BODIES; i++) y[i] = dls_random_normal(&g);
    for (int c = 0; c < CONTACTS; c++) {
        fill_rows(&g, what, root, balls, rows, c);
        fill_b(&g, y, h.d, rows, c);
    }
    if (balls) memcpy(balls->b, rows->b, sizeof(double) * 3 * CONTACTS);
    h.problem = what >= BALLS ? balls : rows;
    assert_int_equal(dls_problem_end_contacts(h.problem, 1, &error), DLS_OK);
    return h;
}

static dls_solve_info solve(const heap *h, dls_acceleration acceleration, dls_order order, int threads,
                            double *r, double *u) {
    dls_nlgs_options o = dls_default_nlgs_options();
    dls_solve_info info;
    dls_error error;
    o.stop.tolerance = 1e-9;
    o.stop.purpose = DLS_PURPOSE_STEP;
    o.stop.threads = threads;
    o.stop.max_iterations = 4000;
    o.acceleration = acceleration;
    o.order = order;
    memset(r, 0, sizeof(double) * (size_t)(h->d * CONTACTS));
    assert_int_equal(dls_solve_nlgs(h->problem, &o, r, u, NULL, &info, &error), DLS_OK);
    return info;
}

static double distance(int n, const double *x, const double *y) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* ---- what rests wakes up ---- */

static dls_sweep begin_sweep(const heap *h, dls_acceleration acceleration, double *r) {
    dls_sweep s;
    dls_error error;
    dls_nlgs_options o = dls_default_nlgs_options();
    o.acceleration = acceleration;
    o.stop.purpose = DLS_PURPOSE_STEP;
    assert_int_equal(dls_sweep_prepare(&s, h->problem, &o, h->space, &error), DLS_OK);
    memset(r, 0, sizeof(double) * (size_t)(h->d * CONTACTS));
    dls_sweep_start(&s, r);
    return s;
}

/* Contacts that are open without impulses, and closed in the end: they rest before they close. */
static void test_late_contacts_close(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        heap h = make_heap(k, 3 + (uint64_t)k);
        double r[3 * CONTACTS], u[3 * CONTACTS], plain_r[3 * CONTACTS], plain_u[3 * CONTACTS];
        dls_sweep s = begin_sweep(&h, DLS_PLAIN, r);
        assert_null(s.visits.rest); /* plain sweeps visit all, always */
        dls_solve_info info = solve(&h, DLS_MOMENTUM, DLS_ORDER_AUTO, 1, r, u);
        dls_solve_info plain = solve(&h, DLS_PLAIN, DLS_ORDER_AUTO, 1, plain_r, plain_u);
        assert_int_equal(plain.outcome, DLS_CONVERGED);
        assert_int_equal(info.outcome, DLS_CONVERGED);
        assert_true(info.measures.residual <= 1e-9);
        assert_true(distance(h.d * CONTACTS, u, plain_u) < 1e-6);
        int late = 0, open = 0;
        for (int c = 0; c < CONTACTS; c++) {
            late += h.problem->b[h.d * c] > 0 && r[h.d * c] > 1e-3;
            open += r[h.d * c] == 0;
        }
        assert_true(late > CONTACTS / 50 && open > CONTACTS / 4);
        dls_workspace_destroy(h.space);
    }
}

/* Open all the time: visited in sweeps 1, 3, 7, 15, 31 and every sixteenth then. Loaded: in all of them. */
static void test_rests_have_an_end(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        heap h = make_heap(k, 3 + (uint64_t)k);
        double r[3 * CONTACTS];
        int missed[CONTACTS] = {0}, late = 0, longest = 0;
        bool was_open[CONTACTS];
        dls_sweep s = begin_sweep(&h, DLS_MOMENTUM, r);
        assert_non_null(s.visits.rest);
        memset(was_open, true, sizeof was_open);
        for (int sweep = 1; sweep <= 200; sweep++) {
            uint8_t before[CONTACTS];
            memcpy(before, s.visits.rest, sizeof before);
            dls_sweep_run(&s, r, false);
            for (int c = 0; c < CONTACTS; c++) {
                bool loaded = r[h.d * c] > 0;
                missed[c] = before[c] ? missed[c] + 1 : 0;
                longest = missed[c] > longest ? missed[c] : longest;
                if (before[c]) assert_int_equal(s.visits.rest[c], before[c] - 1);
                if (loaded) assert_int_equal(s.visits.rest[c], 0);
                late += loaded && was_open[c] && sweep > 1;
                was_open[c] = !loaded;
            }
        }
        assert_int_equal(longest, LONGEST_REST);
        assert_true(late > CONTACTS / 50);
        dls_sweep_start(&s, r);
        for (int c = 0; c < CONTACTS; c++) assert_true(s.visits.rest[c] == 0 && s.visits.pause[c] == 0);
        dls_workspace_destroy(h.space);
    }
}

/* Four in line, the last contact first: each is found open until the one behind it, visited later, has
 * closed. With the rests of the rule it is so in sweeps 1, 3 and 7. */
static void test_row_wakes_one_by_one(void **state) {
    (void)state;
    enum { CHAINS = 100, LINKS = 3, COUNT = CHAINS * LINKS };
    dls_workspace *space = dls_workspace_create();
    dls_contacts_def def = {.count = COUNT,
                            .d = 2,
                            .body_count = CHAINS * (LINKS + 1),
                            .reference_velocity = 0.1,
                            .ball = NULL,
                            .parts = NULL};
    dls_problem *p;
    dls_error error;
    dls_sweep s;
    dls_nlgs_options o = dls_default_nlgs_options();
    double r[2 * COUNT] = {0};
    o.acceleration = DLS_MOMENTUM;
    o.stop.purpose = DLS_PURPOSE_STEP;
    assert_int_equal(dls_problem_begin_contacts(space, &def, &p, &error), DLS_OK);
    for (int c = 0; c < COUNT; c++) {
        int link = LINKS - 1 - c % LINKS, body = c / LINKS * (LINKS + 1) + link;
        for (int side = 0; side < 2; side++) {
            dls_rows_of(p)->body[2 * c + side] = body + side;
            fill_planar((double[2]){1, 0}, side ? 1 : -1, 1, 0, 0, dls_rows_of(p)->G + 12 * c + 6 * side);
        }
        p->mu[c] = 0;
        p->b[2 * c] = link ? 0.01 : -1; /* the first is hit, the others are a little apart */
        p->b[2 * c + 1] = 0;
    }
    assert_int_equal(dls_problem_end_contacts(p, 1, &error), DLS_OK);
    assert_int_equal(dls_sweep_prepare(&s, p, &o, space, &error), DLS_OK);
    assert_non_null(s.visits.rest);
    dls_sweep_start(&s, r);
    static const int closes_in[LINKS] = {7, 3, 1};
    for (int sweep = 1; sweep <= 7; sweep++) {
        dls_sweep_run(&s, r, false);
        for (int c = 0; c < COUNT; c++) assert_int_equal(r[2 * c] > 0, sweep >= closes_in[c % LINKS]);
    }
    dls_workspace_destroy(space);
}

/* ---- balls, four at a time ---- */

/* The largest steps are found one contact after the other: what four at a time find is the same to rounding,
 * contacts of one body, of static ones and at rest among them. */
static void test_four_are_as_one_by_one(void **state) {
    (void)state;
    heap h = make_heap(BALLS, 21);
    for (int c = 0; c < CONTACTS; c += 9) {
        dls_round_row *row = &dls_rows_of(h.problem)->round[c];
        dls_rows_of(h.problem)->body[2 * c + c % 2] = -1;
        *(c % 2 ? &row->a_b : &row->a_a) = *(c % 2 ? &row->beta_b : &row->beta_a) = 0;
    }
    double r[3 * CONTACTS], alone_r[3 * CONTACTS];
    dls_sweep s = begin_sweep(&h, DLS_MOMENTUM, r), alone = begin_sweep(&h, DLS_MOMENTUM, alone_r);
    alone.visits.increments = true;
    for (int sweep = 0; sweep < 40; sweep++) {
        dls_sweep_change change = dls_sweep_run(&s, r, sweep % 3 == 2);
        dls_sweep_change alone_change = dls_sweep_run(&alone, alone_r, sweep % 3 == 2);
        assert_true(distance(3 * CONTACTS, r, alone_r) < 1e-12);
        assert_true(fabs(change.velocity2 - alone_change.velocity2) <= 1e-10 * alone_change.velocity2);
        assert_memory_equal(s.visits.rest, alone.visits.rest, 2 * CONTACTS);
    }
    int loaded = 0;
    for (int c = 0; c < CONTACTS; c++) loaded += r[3 * c] > 0;
    assert_true(loaded > CONTACTS / 8 && loaded < CONTACTS);
    dls_workspace_destroy(h.space);
}

/* ---- the same bits ---- */

static void test_threads(void **state) {
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        heap h = make_heap(k, 8 + (uint64_t)k);
        double r[3][3 * CONTACTS], u[3][3 * CONTACTS];
        for (int i = 0; i < 3; i++) {
            dls_solve_info info = solve(&h, DLS_MOMENTUM, DLS_ORDER_COLOURED, 1 << i, r[i], u[i]);
            assert_int_equal(info.outcome, DLS_CONVERGED);
            assert_true(info.colours > 1);
            assert_memory_equal(r[i], r[0], sizeof(double) * (size_t)(h.d * CONTACTS));
            assert_memory_equal(u[i], u[0], sizeof(double) * (size_t)(h.d * CONTACTS));
        }
        dls_workspace_destroy(h.space);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_contacts_close),
        cmocka_unit_test(test_rests_have_an_end),
        cmocka_unit_test(test_row_wakes_one_by_one),
        cmocka_unit_test(test_four_are_as_one_by_one),
        cmocka_unit_test(test_threads),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
