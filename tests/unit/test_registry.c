/* Laws and solvers of users: what they carry, how they go, and threads that do all of it at once. */
#include "support/stage.h"
#include "support/test.h"

#include <delassus/delassus.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static void assert_says(dls_status status, const dls_error *error, const char *text) {
    assert_int_equal(status, DLS_ERROR_ARGUMENT);
    assert_int_equal(error->status, status);
    if (!strstr(error->message, text)) fail_msg("'%s' does not say '%s'", error->message, text);
}

/* ---- a law with a context ---- */

typedef struct law_context {
    atomic_int prepared, solved;
    dls_status unregistered; /* what a call from within a solve got */
    dls_error error;
    const char *name;
} law_context;

static int one_number(int d) {
    (void)d;
    return 1;
}

static void counting_prepare(const dls_law_options *options, int d, const double *W, double mu,
                             double *data) {
    (void)d, (void)mu;
    law_context *context = options->user;
    atomic_fetch_add(&context->prepared, 1);
    data[0] = 1 / W[0];
}

/* Without friction. */
static dls_contact_state counting_solve(const dls_law_options *options, int d, const double *W, double mu,
                                        const double *data, const double *b, double *r) {
    (void)W, (void)mu;
    law_context *context = options->user;
    if (atomic_fetch_add(&context->solved, 1) == 0 && context->name)
        context->unregistered = dls_law_unregister(context->name, &context->error);
    for (int i = 1; i < d; i++) r[i] = 0;
    r[0] = fmax(0, -b[0] * data[0]);
    return r[0] > 0 ? DLS_SLIP : DLS_OPEN;
}

static dls_law counting(const char *name, law_context *context) {
    return (dls_law){.name = name,
                     .data_size = one_number,
                     .prepare = counting_prepare,
                     .solve = counting_solve,
                     .user = context};
}

static dls_problem *packing(void) {
    dls_generate_def def = dls_default_generate_def();
    def.size = 60, def.mu = 0;
    dls_problem *problem = NULL;
    assert_int_equal(dls_problem_generate(&def, &problem, NULL), DLS_OK);
    return problem;
}

static dls_status solve_with(const char *law, dls_solve_info *info, dls_error *error) {
    dls_problem *problem = packing();
    double r[1000] = {0};
    assert_true(dls_problem_row_count(problem) <= 1000);
    dls_nlgs_options options = dls_default_nlgs_options();
    snprintf(options.law, sizeof options.law, "%s", law);
    dls_status status = dls_solve_nlgs(problem, &options, r, NULL, NULL, info, error);
    dls_problem_destroy(problem);
    return status;
}

/* Two rows of the same functions know their own contexts, whatever the options say. */
static void a_law_knows_its_user(void **state) {
    (void)state;
    law_context a = {.name = NULL}, b = {.name = NULL};
    dls_law laws[2] = {counting("counting-a", &a), counting("counting-b", &b)};
    dls_solve_info info;
    for (int k = 0; k < 2; k++) assert_int_equal(dls_law_register(&laws[k], NULL), DLS_OK);
    assert_int_equal(solve_with("counting-a", &info, NULL), DLS_OK);
    assert_int_equal(info.outcome, DLS_CONVERGED);
    assert_string_equal(info.law, "counting-a");
    assert_true(a.prepared >= 60 / 2 && a.solved >= a.prepared && b.solved == 0);
    const double W[4] = {2, 0, 0, 2}, v[2] = {-1, 1};
    double r[2] = {0};
    dls_law_options options = dls_default_law_options();
    options.user = &a;
    int before = a.solved;
    assert_int_equal(dls_law_apply(dls_law_find("counting-b"), &options, 2, W, 0, v, r, NULL, NULL, NULL),
                     DLS_OK);
    assert_true(b.prepared == 1 && b.solved == 1 && a.solved == before && r[0] == 0.5);
    for (int k = 0; k < 2; k++) assert_int_equal(dls_law_unregister(laws[k].name, NULL), DLS_OK);
}

static void laws_go(void **state) {
    (void)state;
    law_context context = {.name = NULL};
    dls_law first = counting("first", &context), second = counting("second", &context);
    dls_error error;
    dls_solve_info info;
    int count = dls_law_count();
    assert_int_equal(dls_law_register(&first, NULL), DLS_OK);
    assert_int_equal(dls_law_register(&second, NULL), DLS_OK);
    const dls_law *gone = dls_law_find("first"), *stays = dls_law_find("second");
    assert_int_equal(dls_law_unregister("first", &error), DLS_OK);
    assert_ptr_equal(dls_law_find("second"), stays); /* rows that stay do not move */
    assert_ptr_equal(dls_law_at(count), stays);
    assert_null(dls_law_find("first"));
    assert_null(dls_law_at(count + 1));
    assert_int_equal(dls_law_count(), count + 1);
    assert_says(dls_law_unregister("first", &error), &error, "no law 'first' is registered");
    assert_says(dls_law_unregister("ebp", &error), &error, "'ebp' is built in");
    assert_says(dls_law_unregister("", &error), &error, "no law ''");
    assert_says(dls_law_unregister(NULL, &error), &error, "name of a law");
    assert_says(solve_with("first", &info, &error), &error, "law: 'first' is not one of");
    double r[2] = {0};
    assert_says(
        dls_law_apply(gone, NULL, 2, (double[]){1, 0, 0, 1}, 0, (double[]){-1, 0}, r, NULL, NULL, &error),
        &error, "none given");
    for (int k = 0; k < 100; k++) { /* places are used again */
        assert_int_equal(dls_law_register(&first, NULL), DLS_OK);
        assert_int_equal(dls_law_unregister("first", NULL), DLS_OK);
    }
    assert_int_equal(dls_law_unregister("second", NULL), DLS_OK);
}

static void no_law_goes_while_it_is_used(void **state) {
    (void)state;
    law_context context = {.name = "busy"};
    dls_law law = counting("busy", &context);
    dls_solve_info info;
    assert_int_equal(dls_law_register(&law, NULL), DLS_OK);
    assert_int_equal(solve_with("busy", &info, NULL), DLS_OK);
    assert_says(context.unregistered, &context.error, "cannot go while a solve runs");
    assert_int_equal(dls_law_unregister("busy", NULL), DLS_OK);
}

/* A simulation has its law by name: without it steps fail, with it they go on. */
static void a_step_misses_its_law(void **state) {
    (void)state;
    law_context context = {.name = NULL};
    dls_law law = counting("of-a-step", &context);
    dls_error error;
    stage s = stage_open(3, 9.81, 0, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1);
    stage_add_floor(&s, 0);
    stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 0, 0.1}, NULL, NULL);
    stage_start(&s, NULL, 0);
    dls_nlgs_options options;
    dls_simulation_solver_defaults(dls_solver_find("nlgs"), &options);
    snprintf(options.law, sizeof options.law, "of-a-step");
    assert_int_equal(dls_law_register(&law, NULL), DLS_OK);
    assert_int_equal(dls_simulation_set_solver(s.simulation, dls_solver_find("nlgs"), &options, NULL),
                     DLS_OK);
    stage_run(&s, 2);
    assert_true(context.solved > 0);
    uint64_t hash = dls_simulation_hash(s.simulation);
    assert_int_equal(dls_law_unregister("of-a-step", NULL), DLS_OK);
    assert_says(dls_simulation_step(s.simulation, NULL, &error), &error, "law: 'of-a-step' is not one of");
    assert_int_equal(dls_simulation_hash(s.simulation), hash);
    assert_int_equal(dls_law_register(&law, NULL), DLS_OK);
    stage_run(&s, 1);
    stage_close(&s);
    assert_int_equal(dls_law_unregister("of-a-step", NULL), DLS_OK);
}

/* ---- a solver with a context ---- */

typedef struct solver_context {
    int calls;
    bool leave; /* tries to take itself out while it runs */
    dls_status left;
} solver_context;

static void stop_defaults(void *options) { *(dls_stop_options *)options = dls_default_stop_options(); }

static dls_status counted_sweeps(const dls_problem *p, const void *options, double *r, double *u,
                                 dls_workspace *w, dls_solve_info *info, dls_error *error) {
    solver_context *context = info->user;
    context->calls++;
    if (context->leave) context->left = dls_solver_unregister("counted", NULL);
    dls_nlgs_options sweeps = dls_default_nlgs_options();
    sweeps.stop = *(const dls_stop_options *)options;
    return dls_solver_find("nlgs")->solve(p, &sweeps, r, u, w, info, error);
}

static dls_solver counted(solver_context *context) {
    return (dls_solver){.name = "counted",
                        .options_size = sizeof(dls_stop_options),
                        .defaults = stop_defaults,
                        .solve = counted_sweeps,
                        .user = context};
}

static void a_solver_knows_its_user(void **state) {
    (void)state;
    solver_context context = {.leave = true};
    dls_solver row = counted(&context);
    dls_error error;
    dls_solve_info info;
    dls_stop_options options = dls_default_stop_options();
    double r[1000] = {0};
    dls_problem *problem = packing();
    int count = dls_solver_count();
    assert_int_equal(dls_solver_register(&row, &error), DLS_OK);
    const dls_solver *solver = dls_solver_find("counted");
    assert_string_equal(solver->summary, "");
    assert_int_equal(dls_solve(problem, solver, &options, r, NULL, NULL, &info, &error), DLS_OK);
    assert_true(context.calls == 1 && info.user == &context && context.left == DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_solver_count(), count + 1);
    assert_int_equal(dls_solver_unregister("counted", &error), DLS_OK);
    assert_int_equal(dls_solver_count(), count);
    assert_null(dls_solver_find("counted"));
    assert_says(dls_solve(problem, solver, &options, r, NULL, NULL, &info, &error), &error,
                "registered no more");
    assert_says(dls_solver_unregister("counted", &error), &error, "no solver 'counted' is registered");
    assert_says(dls_solver_unregister("auto", &error), &error, "'auto' is built in");
    assert_says(dls_solver_unregister(NULL, &error), &error, "name of a solver");
    dls_problem_destroy(problem);
}

static void no_solver_goes_before_those_who_have_it(void **state) {
    (void)state;
    static const char text[] = "delassus: 1\nbodies: [{shape: {kind: sphere, radius: 0.1}}]\n"
                               "solver: {name: counted}\ntime: {step: 1e-3, until: 1}\n";
    solver_context context = {.leave = false};
    dls_solver row = counted(&context);
    dls_error error;
    dls_scene *scene = NULL;
    dls_simulation *simulation = NULL;
    assert_int_equal(dls_solver_register(&row, &error), DLS_OK);
    if (dls_scene_read_text(text, strlen(text), "text", ".", 0, NULL, &scene, &error))
        fail_msg("%s", error.message);
    assert_says(dls_solver_unregister("counted", &error), &error, "that of 1 simulations or scenes");
    assert_int_equal(dls_scene_simulation_create(scene, &simulation, &error), DLS_OK);
    assert_says(dls_solver_unregister("counted", &error), &error, "that of 2 simulations or scenes");
    assert_int_equal(dls_simulation_set_solver(simulation, dls_solver_find("auto"), NULL, &error), DLS_OK);
    assert_says(dls_solver_unregister("counted", &error), &error, "that of 1 simulations or scenes");
    assert_int_equal(dls_simulation_set_solver(simulation, dls_solver_find("counted"), NULL, &error), DLS_OK);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
    assert_int_equal(dls_solver_unregister("counted", &error), DLS_OK);
    assert_int_equal(dls_scene_read_text(text, strlen(text), "text", ".", 0, NULL, &scene, &error),
                     DLS_ERROR_INPUT);
}

/* Rows that the caller keeps himself need not be in the table; what they say is checked all the same. */
static void rows_outside_of_the_table_are_checked(void **state) {
    (void)state;
    solver_context context = {.leave = false};
    dls_solver row = counted(&context);
    dls_error error;
    stage s = stage_open(3, 9.81, 0, 0, 0);
    stage_start(&s, NULL, 0);
    assert_int_equal(dls_simulation_set_solver(s.simulation, &row, NULL, &error), DLS_OK);
    row.options_size = DLS_MAX_OPTIONS_SIZE + 1;
    assert_says(dls_simulation_set_solver(s.simulation, &row, NULL, &error), &error, "1025 bytes");
    row = counted(&context), row.defaults = NULL;
    assert_says(dls_simulation_set_solver(s.simulation, &row, NULL, &error), &error,
                "needs a name, defaults");
    stage_close(&s);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 200 };

typedef struct worker {
    int number, refused, failed;
} worker;

/* Comes and goes with a law of its own, solves with it, and looks through the table meanwhile. */
static void *come_and_go(void *self) {
    worker *w = self;
    char name[32];
    law_context context = {.name = NULL};
    snprintf(name, sizeof name, "worker-%d", w->number);
    dls_law law = counting(name, &context);
    for (int k = 0; k < ROUNDS; k++) {
        dls_solve_info info;
        w->failed += dls_law_register(&law, NULL) != DLS_OK;
        int before = context.solved;
        if (k % 10 == 0) w->failed += solve_with(name, &info, NULL) != DLS_OK || context.solved == before;
        for (int i = 0; i < dls_law_count(); i++) dls_law_at(i);
        w->failed += dls_law_find("exact") == NULL;
        while (dls_law_unregister(name, NULL)) w->refused++; /* another thread solves */
        w->failed += dls_law_find(name) != NULL;
    }
    return NULL;
}

static void threads_come_and_go(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    worker workers[THREADS];
    int count = dls_law_count();
    for (int k = 0; k < THREADS; k++) {
        workers[k] = (worker){.number = k};
        assert_int_equal(pthread_create(&threads[k], NULL, come_and_go, &workers[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
    for (int k = 0; k < THREADS; k++) assert_int_equal(workers[k].failed, 0);
    assert_int_equal(dls_law_count(), count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_law_knows_its_user),
        cmocka_unit_test(laws_go),
        cmocka_unit_test(no_law_goes_while_it_is_used),
        cmocka_unit_test(a_step_misses_its_law),
        cmocka_unit_test(a_solver_knows_its_user),
        cmocka_unit_test(no_solver_goes_before_those_who_have_it),
        cmocka_unit_test(rows_outside_of_the_table_are_checked),
        cmocka_unit_test(threads_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
