/* Sweeps of balls in single precision: a scalar twin in double visits the same contacts in the same order,
 * and a base that is renewed leaves no error behind. */
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "problem/operator/bodies.h"
#include <delassus/solve.h>

#include <math.h>
#include <string.h>

enum { BODIES = 200, CONTACTS = 400, ROWS = 6 * CONTACTS, HUB_CONTACTS = 90 };

static const double ROUNDING = 5e-7; /* of the largest impulse: a float has 6e-8 */

static const uint8_t LAYOUTS[] = {DLS_PARTS(2, 2, 1), DLS_PARTS(2, 2, 0), DLS_PARTS(2, 0, 1),
                                  DLS_PARTS(2, 0, 0)};

/* ---- problems ---- */

static void fill_ball(dls_random *g, dls_problem *p, int c, bool hub, double unit) {
    const double most_mu = 0.5;
    dls_body_rows *B = dls_rows_of(p);
    dls_round_row *row = &B->round[c];
    int *body = B->body + 2 * c;
    body[0] = (int)dls_random_below(g, BODIES + BODIES / 5) - BODIES / 5;
    if (body[0] < 0) body[0] = -1;
    if (hub && c < HUB_CONTACTS) body[0] = 7;
    body[1] = (int)dls_random_below(g, BODIES);
    if (body[1] == body[0]) body[1] = (body[0] + 1) % BODIES;
    for (int k = 0; k < 3; k++) row->n[k] = dls_random_normal(g);
    vec_scale(row->n, 1 / vec_norm(row->n), row->n);
    vec_tangents(row->n, row->t1, row->t2);
    for (int side = 0; side < 2; side++) {
        bool moves = body[side] >= 0;
        double m = unit * (0.5 + body[side] % 5), R = 0.02 + 0.01 * (body[side] % 3);
        double gamma = moves ? 1 / (R * sqrt(0.4 * m)) : 0;
        *(side ? &row->a_b : &row->a_a) = moves ? 1 / sqrt(m) : 0;
        *(side ? &row->beta_b : &row->beta_a) = (side ? -R : R) * gamma;
        if (B->roll) *(side ? &B->roll[c].gamma_b : &B->roll[c].gamma_a) = gamma;
    }
    p->mu[c] = c % 5 ? dls_random_between(g, 0, most_mu) : 0;
    if (p->parts) p->mu_rolling[c] = c % 7 ? dls_random_between(g, 0, 0.02) : 0;
    if (p->parts) p->mu_spinning[c] = dls_random_between(g, 0, 0.02);
    for (int k = 0; k < dls_size(p, c); k++) p->b[p->row[c] + k] = dls_random_normal(g) * (k < 3 ? 1 : 30);
    if (c % 4) p->b[p->row[c]] = -fabs(p->b[p->row[c]]);
}

/* unit: of mass, so that impulses may be tiny. */
static dls_problem *make_balls(dls_workspace *w, uint64_t seed, const uint8_t *layouts, int layout_count,
                               bool hub, double unit) {
    dls_random g = {seed};
    dls_error error;
    dls_problem *p;
    uint8_t all[CONTACTS], parts[CONTACTS];
    for (int c = 0; c < CONTACTS; c++) all[c] = 1, parts[c] = layouts ? layouts[(c / 3) % layout_count] : 0;
    dls_contacts_def def = {.count = CONTACTS,
                            .d = 3,
                            .body_count = BODIES,
                            .reference_velocity = 0.1,
                            .ball = all,
                            .parts = layouts ? parts : NULL};
    assert_int_equal(dls_problem_begin_contacts(w, &def, &p, &error), DLS_OK);
    for (int c = 0; c < CONTACTS; c++) fill_ball(&g, p, c, hub, unit);
    assert_int_equal(dls_problem_end_contacts(p, 1, &error), DLS_OK);
    return p;
}

/* ---- the twin ---- */

typedef struct twin {
    const dls_problem *problem;
    int order[CONTACTS], piece[DLS_MAX_COLOURS + 2], pieces, apart;
    double r[ROWS], last[ROWS], state[ROUND_STATE * BODIES], last_state[ROUND_STATE * BODIES];
} twin;

/* Contacts by colour, those without one behind. */
static void find_order(twin *t) {
    const dls_problem *p = t->problem;
    uint8_t colour[CONTACTS];
    uint64_t scratch[BODIES];
    int place = 0;
    p->op->colour(p, 1, colour, scratch);
    t->pieces = t->apart = 0;
    for (int k = 0; k < 256; k++) {
        int first = place;
        for (int c = 0; c < CONTACTS; c++)
            if (colour[c] == k) t->order[place++] = c;
        if (place > first) t->piece[t->pieces++] = first, t->apart += k != DLS_NO_COLOUR;
    }
    t->piece[t->pieces] = CONTACTS;
}

static void scatter(const dls_problem *p, int c, int side, const double *step, double *state) {
    const dls_body_rows *B = p->data;
    const dls_round_row *row = &B->round[c];
    round_push push;
    round_push_of(row, step, &push);
    round_scatter(&push, side ? row->a_b : -row->a_a, side ? row->beta_b : -row->beta_a, state);
    if (B->roll)
        roll_scatter(roll_axis(row, &B->roll[c], step + 3), side ? B->roll[c].gamma_b : -B->roll[c].gamma_a,
                     state);
}

static void twin_visit(twin *t, int c, double beta, double relaxation) {
    const dls_problem *p = t->problem;
    const dls_body_rows *B = p->data;
    static const double still[ROUND_STATE];
    const int *body = B->body + 2 * c;
    double u[6], x[6], now[6], *r = t->r + p->row[c], *last = t->last + p->row[c];
    const double *a = body[0] < 0 ? still : t->state + ROUND_STATE * body[0];
    const double *b = body[1] < 0 ? still : t->state + ROUND_STATE * body[1];
    int d = dls_size(p, c);
    for (int k = 0; k < d; k++) {
        u[k] = p->b[p->row[c] + k];
        now[k] = x[k] = r[k] + beta * (r[k] - last[k]);
        last[k] = r[k];
    }
    round_gather(&B->round[c], a, b, u);
    if (B->roll) roll_gather(&B->round[c], &B->roll[c], a, b, u + 3);
    if (B->roll)
        roll_solve(&B->round[c], &B->roll[c], u, x);
    else
        round_solve(&B->round[c], u, x);
    for (int k = 0; k < d; k++) {
        x[k] = relaxation * (x[k] - now[k]);
        r[k] = now[k] + x[k];
    }
    for (int side = 0; side < 2; side++)
        if (body[side] >= 0) scatter(p, c, side, x, t->state + ROUND_STATE * body[side]);
}

static void twin_sweep(twin *t, double beta, double relaxation) {
    for (int i = 0; i < ROUND_STATE * BODIES; i++) {
        double now = t->state[i];
        t->state[i] += beta * (now - t->last_state[i]);
        t->last_state[i] = now;
    }
    for (int place = 0; place < CONTACTS; place++) twin_visit(t, t->order[place], beta, relaxation);
}

static void base_lanes(dls_lanes *lanes, const twin *t, const double *r, bool fresh) {
    const dls_problem *p = t->problem;
    const dls_lane_kernel *kernel = p->op->lanes;
    static double u[ROWS], state[ROUND_STATE * BODIES];
    dls_velocity(p, r, u, state, 1);
    for (int i = 0; i < t->pieces && fresh; i++) kernel->start(lanes, i, r);
    for (int i = 0; i < t->pieces; i++) kernel->base(lanes, i, u);
    kernel->rebase(lanes, fresh);
}

static void read_lanes(const dls_lanes *lanes, const twin *t, bool project, double *r) {
    for (int i = 0; i < t->pieces; i++) t->problem->op->lanes->read(lanes, i, project, r);
}

/* Sweeps of both from the same start, with momentum, relaxed, and with a new base halfway. */
static void check_twin(const dls_problem *p, dls_workspace *w, uint64_t seed, double relaxation) {
    static twin t;
    static double r[ROWS];
    dls_random g = {seed};
    double largest = 0, error = 0;
    t = (twin){.problem = p};
    find_order(&t);
    for (int i = 0; i < p->row_count; i++) t.r[i] = dls_random_normal(&g) / p->mean_scale;
    for (int c = 0; c < CONTACTS; c++) dls_block_project(p, c, t.r + p->row[c]);
    memcpy(t.last, t.r, sizeof t.r);
    p->op->start(p, t.r, t.state, 1);
    memcpy(t.last_state, t.state, sizeof t.state);
    dls_lanes *lanes = p->op->lanes->make(p, t.order, t.piece, t.pieces, t.apart, w);
    assert_non_null(lanes);
    base_lanes(lanes, &t, t.r, true);
    for (int sweep = 0; sweep < 3; sweep++) {
        double beta = 0.3 * sweep, change2 = 0;
        twin_sweep(&t, beta, relaxation);
        p->op->lanes->push(lanes, beta);
        for (int i = 0; i < t.pieces; i++) change2 += p->op->lanes->visit(lanes, i, relaxation).velocity2;
        read_lanes(lanes, &t, relaxation == 1, r);
        for (int i = 0; i < p->row_count; i++)
            error = fmax(error, fabs(r[i] - t.r[i])), largest = fmax(largest, fabs(t.r[i]));
        assert_true(change2 > 0 && isfinite(change2));
        if (sweep == 1) base_lanes(lanes, &t, r, false);
        assert_true(error < ROUNDING * largest);
    }
}

static void test_the_scalar_twin(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        dls_workspace *w = dls_workspace_create();
        bool hub = seed % 2;
        double unit = seed == 3 ? 1e-12 : seed == 4 ? 1e9 : 1; /* a grain of dust, a mountain */
        double relaxation = seed == 5 ? 0.7 : 1;
        check_twin(make_balls(w, seed, NULL, 1, hub, unit), w, seed, relaxation);
        check_twin(make_balls(w, seed, LAYOUTS, 4, hub, unit), w, seed, relaxation);
        check_twin(make_balls(w, seed, LAYOUTS + 1, 1, hub, unit), w, seed, relaxation);
        dls_workspace_destroy(w);
    }
}

/* ---- solves ---- */

static dls_solve_info solve(const dls_problem *p, dls_workspace *w, double tolerance, int threads,
                            double *r) {
    dls_nlgs_options o = dls_default_nlgs_options();
    dls_solve_info info;
    dls_error error;
    o.stop.tolerance = tolerance;
    o.stop.threads = threads;
    o.stop.purpose = DLS_PURPOSE_STEP;
    o.stop.max_iterations = 20000;
    memset(r, 0, sizeof(double) * ROWS);
    assert_int_equal(dls_solve_nlgs(p, &o, r, NULL, w, &info, &error), DLS_OK);
    return info;
}

/* Far beyond the accuracy of a float, and with the same bits on any number of threads. */
static void test_solves_to_rounding(void **state) {
    (void)state;
    static double r[2][ROWS];
    static const uint64_t seeds[] = {11, 13, 14, 17,
                                     18, 20, 23}; /* in others sweeps stall, in double as well */
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        uint64_t seed = seeds[i];
        dls_workspace *w = dls_workspace_create();
        const dls_problem *p = make_balls(w, seed, seed % 2 ? NULL : LAYOUTS, 4, seed % 3 == 0, 1);
        for (int k = 0; k < 3; k++) {
            static const double tolerances[] = {1e-4, 1e-5, 1e-10};
            dls_solve_info info = solve(p, w, tolerances[k], 1, r[0]);
            assert_int_equal(info.outcome, DLS_CONVERGED);
            assert_true(info.measures.residual <= tolerances[k]);
            solve(p, w, tolerances[k], 3, r[1]);
            assert_memory_equal(r[0], r[1], sizeof(double) * (size_t)p->row_count);
        }
        dls_workspace_destroy(w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_scalar_twin),
        cmocka_unit_test(test_solves_to_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
