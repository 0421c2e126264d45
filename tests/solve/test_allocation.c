/* The n-th allocation fails, for every n: an error and no leak, whatever the library was doing. */
#include "support/allocator.h"
#include "support/sample.h"
#include "support/test.h"

#include <delassus/delassus.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A job makes objects, uses them, and gives all back, also when it fails half-way. */
typedef struct job {
    const char *name;
    dls_status (*run)(const struct job *job, dls_error *error);
    dls_generator generator;
    int size;
    bool matrix_free, with_workspace;
    const dls_solver *solver;
    const sample *sample;
} job;

static double *doubles(int count) { return calloc((size_t)count + 1, sizeof(double)); }

/* Runs a job until no allocation fails any more. An allocation may fail without harm (a workspace that could
 * not merge its chunks), but then the job has succeeded in full. */
static void check_job(const job *j) {
    for (int once = 0; once < 2; once++) {
        bool reached = true;
        int harmless = 0, n = 0;
        while (reached) {
            dls_error error = {DLS_OK, ""};
            assert_true(++n < 2000);
            if (once)
                counting_begin_once(n);
            else
                counting_begin(n);
            dls_status status = j->run(j, &error);
            reached = counting_allocations() >= n;
            int leaked = counting_end();
            if (leaked || (status && status != DLS_ERROR_MEMORY) || (status && !reached))
                fail_msg("%s, allocation %d: status %d (%s), %d blocks leaked", j->name, n, (int)status,
                         error.message, leaked);
            assert_int_equal(error.status, status);
            harmless += reached && !status;
        }
        assert_true(n > 3 && harmless <= 3); /* it did allocate, and nearly all of that was needed */
    }
}

/* ---- jobs ---- */

static dls_status make(const job *j, dls_problem **problem, dls_error *error) {
    dls_generate_def def = {j->generator, j->size, 0.3, 1, j->matrix_free, 1e-3, 5e-4};
    return dls_problem_generate(&def, problem, error);
}

static dls_status run_generate(const job *j, dls_error *error) {
    dls_problem *p = NULL, *assembled = NULL;
    dls_status status = make(j, &p, error);
    assert_true(!status == !!p);
    if (!status) status = dls_problem_assemble(p, &assembled, error);
    assert_true(!status == !!assembled);
    dls_problem_destroy(p);
    dls_problem_destroy(assembled);
    return status;
}

/* From arrays, with blocks of every kind. */
static dls_status run_create(const job *j, dls_error *error) {
    const sample *s = j->sample;
    dls_problem *p = NULL, *assembled = NULL;
    dls_status status = j->matrix_free ? dls_problem_create_bodies(&s->def, &s->bodies, &p, error)
                                       : dense_problem_create(&s->def, s->rows, s->W, &p, error);
    assert_true(!status == !!p);
    if (!status) status = dls_problem_assemble(p, &assembled, error);
    dls_problem_destroy(assembled);
    dls_problem_destroy(p);
    return status;
}

static dls_status run_questions(const job *j, dls_error *error) {
    dls_problem *p = NULL;
    dls_problem_facts facts;
    dls_measures measures;
    dls_status status = make(j, &p, error);
    if (status) return status;
    double *r = doubles(dls_problem_row_count(p)), *u = doubles(dls_problem_row_count(p));
    dls_workspace *w = j->with_workspace ? dls_workspace_create() : NULL;
    status = dls_problem_velocity(p, r, u, w, error);
    if (!status) status = dls_problem_measure(p, r, NULL, &measures, error);
    if (!status) status = dls_problem_analyze(p, 1000, &facts, error);
    if (!status) assert_true(facts.rank > 0 && measures.residual > 0);
    dls_workspace_destroy(w);
    dls_problem_destroy(p);
    free(r), free(u);
    return status;
}

/* Two solves; what comes back from a solve that succeeds is a solution. */
static dls_status run_solve(const job *j, dls_error *error) {
    dls_problem *p = NULL;
    union {
        dls_stop_options stop;
        char bytes[DLS_MAX_OPTIONS_SIZE];
    } options;
    dls_status status = make(j, &p, error);
    if (status) return status;
    double *r = doubles(dls_problem_row_count(p)), *u = doubles(dls_problem_row_count(p));
    dls_workspace *w = j->with_workspace ? dls_workspace_create() : NULL;
    j->solver->defaults(&options);
    options.stop.tolerance = 1e-4;
    for (int round = 0; round < 2 && !status; round++) {
        dls_solve_info info;
        memset(r, 0, sizeof(double) * (size_t)dls_problem_row_count(p));
        status = dls_solve(p, j->solver, &options, r, u, w, &info, error);
        if (!status) assert_true(info.measures.residual <= 1e-4);
    }
    dls_workspace_destroy(w);
    dls_problem_destroy(p);
    free(r), free(u);
    return status;
}

/* ---- tests ---- */

static const dls_generator generators[] = {DLS_GENERATE_PACKING, DLS_GENERATE_STACK, DLS_GENERATE_DISCS};

static void making_problems(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int form = 0; form < 2; form++)
            check_job(&(job){.name = "generate",
                             .run = run_generate,
                             .generator = generators[k],
                             .size = 20,
                             .matrix_free = form});
}

static void problems_from_arrays(void **state) {
    (void)state;
    dls_random g = {51};
    for (int mixed = 0; mixed < 2; mixed++) {
        sample_shape shape = {.blocks = 8,
                              .bodies = 5,
                              .dof = 6,
                              .dimension = mixed ? 0 : 3,
                              .bilateral_every = mixed ? 3 : 0,
                              .mu_high = 1,
                              .coupling = 0.5};
        sample s = sample_create(&g, &shape);
        for (int form = 0; form < 2; form++)
            check_job(&(job){.name = "create", .run = run_create, .matrix_free = form, .sample = &s});
        sample_free(&s);
    }
}

static void asking_questions(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++)
        check_job(&(job){.name = "questions",
                         .run = run_questions,
                         .generator = DLS_GENERATE_PACKING,
                         .size = 20,
                         .matrix_free = k % 2,
                         .with_workspace = k / 2});
}

static void solving(void **state) {
    (void)state;
    const dls_solver *nlgs = dls_solver_find("nlgs");
    for (int i = 0; i < dls_solver_count(); i++)
        for (int k = 0; k < 4; k++)
            check_job(&(job){
                .name = dls_solver_at(i)->name,
                .run = run_solve,
                .generator = DLS_GENERATE_STACK,
                .size = dls_solver_at(i) == nlgs ? 250 : 50, /* of sweeps: a workspace of several chunks */
                .matrix_free = k % 2,
                .with_workspace = k / 2,
                .solver = dls_solver_at(i)});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(making_problems),
        cmocka_unit_test(problems_from_arrays),
        cmocka_unit_test(asking_questions),
        cmocka_unit_test(solving),
    };
    return cmocka_run_group_tests_name("allocation", tests, NULL, NULL);
}
