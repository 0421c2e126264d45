/* Another way to keep W is one row of a table: with a dense matrix behind it every solver solves unchanged,
 * alone and in a scene. */
#include "support/sample.h"
#include "support/test.h"

#include "base/memory.h"
#include "problem/problem.h"
#include "solve/solve.h"
#include <delassus/delassus.h>

#include <math.h>
#include <string.h>

/* ---- the row ---- */

static size_t state_size(const dls_problem *p) { return 0 * (size_t)p->row_count; }

static double entry(const dls_problem *p, int i, int j) {
    return ((const double *)p->data)[i + (int64_t)p->row_count * j];
}

static void product(const dls_problem *p, const double *r, double *u, double *state, int threads) {
    (void)state, (void)threads;
    for (int i = 0; i < p->row_count; i++) {
        u[i] = 0;
        for (int j = 0; j < p->row_count; j++) u[i] += entry(p, i, j) * r[j];
    }
}

static void start(const dls_problem *p, const double *r, double *state, int threads) {
    (void)p, (void)r, (void)state, (void)threads;
}

static void local(const dls_problem *p, int c, const double *r, const double *state, double *v) {
    (void)state;
    for (int i = p->row[c]; i < p->row[c + 1]; i++) {
        double sum = p->b[i];
        for (int j = 0; j < p->row_count; j++)
            if (j < p->row[c] || j >= p->row[c + 1]) sum += entry(p, i, j) * r[j];
        v[i - p->row[c]] = sum;
    }
}

static void changed(const dls_problem *p, int c, const double *delta, double *state) {
    (void)p, (void)c, (void)delta, (void)state;
}

static int64_t coupled(const dls_problem *p, int c, int *column) {
    int64_t count = 0;
    for (int j = 0; j < p->block_count; j++)
        if (j != c) column ? column[count++] = j : count++;
    return count;
}

static void block(const dls_problem *p, int c, int64_t k, int j, double *W) {
    (void)k;
    int d = dls_size(p, c), e = dls_size(p, j);
    for (int i = 0; i < d * e; i++) W[i] = entry(p, p->row[c] + i % d, p->row[j] + i / d);
}

static int64_t least_entries(const dls_problem *p) { return (int64_t)p->row_count * p->row_count; }
static double sweep_cost(const dls_problem *p) { return 2.0 * (double)least_entries(p); }
static void release(dls_problem *p) { dls_free(p->data); }
static size_t memory(const dls_problem *p) { return sizeof(double) * (size_t)least_entries(p); }

static const dls_operator dense = {.name = "dense",
                                   .state_size = state_size,
                                   .product = product,
                                   .start = start,
                                   .local = local,
                                   .changed = changed,
                                   .coupled = coupled,
                                   .block = block,
                                   .sweep_cost = sweep_cost,
                                   .least_entries = least_entries,
                                   .release = release,
                                   .memory = memory};

/* The same problem with its W dense, column by column from unit impulses. */
static dls_status make_dense(const dls_problem *p, dls_problem **made, dls_error *error) {
    int n = p->row_count, *sizes = DLS_NEW_ZERO(int, p->block_count);
    double *W = DLS_NEW_ZERO(double, (int64_t)n *n), *r = DLS_NEW_ZERO(double, n), *u = DLS_NEW(double, n);
    for (int c = 0; c < p->block_count; c++) sizes[c] = dls_size(p, c);
    dls_problem_def def = {.block_count = p->block_count,
                           .block_size = sizes,
                           .block_kind = p->kind,
                           .mu = p->mu,
                           .b = dls_problem_b(p),
                           .reference_velocity = p->reference_velocity,
                           .speed = p->speed};
    dls_status status = dls_problem_begin(&def, NULL, made, error);
    for (int j = 0; j < n && !status; j++) {
        r[j] = 1;
        status = dls_problem_velocity(p, r, u, NULL, error);
        for (int i = 0; i < n && !status; i++) W[i + (int64_t)n * j] = u[i] - dls_problem_b(p)[i];
        r[j] = 0;
    }
    if (!status) {
        dls_problem *q = *made;
        q->op = &dense;
        q->data = W;
        for (int c = 0, at = 0; c < p->block_count; at += sizes[c] * sizes[c], c++)
            dls_problem_diagonal_block(p, c, q->diagonal + at);
        status = dls_problem_finish(q, error);
    }
    dls_free(sizes);
    dls_free(r);
    dls_free(u);
    return status;
}

/* ---- alone ---- */

static void check_solver(const char *name, const dls_problem *stored, const dls_problem *p) {
    union {
        dls_stop_options stop;
        char bytes[DLS_MAX_OPTIONS_SIZE];
    } o;
    const dls_solver *solver = dls_solver_find(name);
    double *r = DLS_NEW_ZERO(double, p->row_count);
    dls_solve_info info;
    dls_measures judged;
    dls_error error;
    solver->defaults(&o);
    o.stop.tolerance = 1e-7;
    assert_int_equal(dls_solve(p, solver, &o, r, NULL, NULL, &info, &error), DLS_OK);
    assert_int_equal(dls_problem_measure(stored, r, NULL, &judged, &error), DLS_OK);
    if (info.outcome != DLS_CONVERGED || !(judged.residual <= 1.01e-7))
        fail_msg("%s: %s, residual %g", name, dls_outcome_name(info.outcome), judged.residual);
    dls_free(r);
}

static void test_every_solver(void **state) {
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        sample_shape shape = {
            .blocks = 24, .bodies = 12, .dof = 6, .mu_low = 0.1, .mu_high = 0.5, .coupling = 0.5};
        shape.dimension = variant % 2 ? 0 : 3;
        shape.bilateral_every = variant / 2 ? 5 : 0;
        dls_random g = {(uint64_t)variant + 3};
        sample s = sample_create(&g, &shape);
        dls_problem *stored = sample_stored(&s), *p;
        dls_error error;
        assert_int_equal(make_dense(stored, &p, &error), DLS_OK);
        static const char *const solvers[] = {"auto", "nlgs", "newton", "ipm", "pqn", "apgd"};
        for (int k = 0; k < 6; k++) check_solver(solvers[k], stored, p);
        dls_problem_destroy(p);
        dls_problem_destroy(stored);
        sample_free(&s);
    }
}

/* ---- in a scene ---- */

/* What the scene's solver does, on the same problem kept otherwise. */
static dls_status solve(const dls_problem *p, const void *options, double *r, double *u, dls_workspace *w,
                        dls_solve_info *info, dls_error *error) {
    dls_problem *q = NULL;
    dls_status status = make_dense(p, &q, error);
    if (!status) status = dls_solver_auto.solve(q, options, r, u, w, info, error);
    dls_problem_destroy(q);
    return status;
}

static double run_scene(const char *solver, dls_body_state *states, int count) {
    const char *settings[] = {solver};
    dls_scene *scene;
    dls_simulation *simulation;
    dls_error error;
    if (dls_scene_read(DLS_SOURCE_DIR "/scenes/templates/stack.yaml", 1, settings, &scene, &error))
        fail_msg("%s", error.message);
    assert_int_equal(dls_scene_simulation_create(scene, &simulation, &error), DLS_OK);
    for (int k = 0; k < 40; k++) assert_int_equal(dls_simulation_step(simulation, NULL, &error), DLS_OK);
    dls_run_summary sum = dls_simulation_summary(simulation);
    assert_int_equal(sum.certified, sum.steps);
    assert_int_equal(dls_body_states_get(dls_scene_world(scene), count, NULL, states, &error), DLS_OK);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
    return (double)sum.iterations;
}

static void test_in_a_scene(void **state) {
    (void)state;
    enum { BODIES = 30 };
    dls_solver row = dls_solver_auto;
    dls_body_state states[2][BODIES];
    dls_error error;
    row.name = "dense-auto";
    row.solve = solve;
    assert_int_equal(dls_solver_register(&row, &error), DLS_OK);
    double iterations = run_scene("solver.name=auto", states[0], BODIES);
    assert_true(iterations > 40); /* the wall stands under its weight */
    run_scene("solver.name=dense-auto", states[1], BODIES);
    for (int id = 0; id < BODIES; id++)
        for (int k = 0; k < 3; k++) assert_true(fabs(states[0][id].x[k] - states[1][id].x[k]) < 1e-6);
}

/* ---- no policy follows from how W is kept ---- */

static void test_the_same_stages(void **state) {
    (void)state;
    static const int sizes[] = {30, 150, 600};
    int stages = 0, same = 0;
    double ratio = 0;
    for (int k = 0; k < 12; k++) {
        dls_solve_info info[2];
        for (int form = 0; form < 2; form++) {
            dls_problem *p =
                generated(k % 2 ? DLS_GENERATE_STACK : DLS_GENERATE_PACKING, sizes[k / 2 % 3], 0.6, form);
            double *r = DLS_NEW_ZERO(double, dls_problem_row_count(p));
            dls_auto_options o = dls_default_auto_options();
            dls_error error;
            o.stop.tolerance = 1e-7;
            o.stop.purpose = k < 6 ? DLS_PURPOSE_STEP : DLS_PURPOSE_PROBLEM;
            assert_int_equal(dls_solve(p, &dls_solver_auto, &o, r, NULL, NULL, &info[form], &error), DLS_OK);
            dls_free(r);
            dls_problem_destroy(p);
        }
        bool alike = info[0].stage_count == info[1].stage_count;
        for (int i = 0; alike && i < info[0].stage_count; i++)
            alike = !strcmp(info[0].stages[i].name, info[1].stages[i].name);
        ratio += alike ? log((double)info[0].iterations / info[1].iterations) / 12
                       : 0; /* rounding is accelerated */
        same += alike;
        stages += info[0].stage_count;
    }
    assert_true(same >=
                10); /* bodies may be cheaper to factor, and where sweeps are as dear rounding decides */
    assert_true(stages > 12 && fabs(ratio) < log(1.25));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_solver), cmocka_unit_test(test_in_a_scene),
                                       cmocka_unit_test(test_the_same_stages)};
    return cmocka_run_group_tests_name("operator_row", tests, NULL, NULL);
}
