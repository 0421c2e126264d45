/* Threads of one program that do everything at once, each with objects of its own: read a scene, run it,
 * write and read results, checkpoints and problems, solve, factor dense systems. All end as one thread does
 * alone. */
#include "fclib/h5_lock.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/small_run.h"
#include "support/test.h"

#include <delassus/delassus.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { THREADS = 3 };

static const char text[] =
    "delassus: 1\n"
    "dimension: 3\n"
    "variables: {a: 0.2, f: '3*a + max(1, 2)'}\n"
    "materials: {stone: {density: 2500, mu: 0.5}}\n"
    "bodies:\n"
    "  - {name: floor, motion: static, shape: {kind: half-space}}\n"
    "  - {name: tetrahedron, position: [0, 0, 0.1], shape: {kind: polyhedron, material: stone,\n"
    "     points: [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]]}}\n"
    "  - {position: [1, 0, 0.1], velocity: [1, 0, 0], shape: {kind: sphere, radius: 0.1}}\n"
    "  - {position: [1.15, 0, 0.25], shape: {kind: sphere, radius: 0.1}}\n"
    "  - {position: [2, 0, 0.1], shape: {kind: box, size: [a, a, a]}, force: [f*sin(20*t), 0, 0]}\n"
    "  - {name: plate, motion: driven, position: [4, 0, 0.05], shape: {kind: box, size: [1, 1, 0.1]},\n"
    "     drive: {z: {position: 0.01*(1 - cos(30*t))}}}\n"
    "  - {position: [4, 0, 0.21], shape: {kind: sphere, radius: 0.1}}\n"
    "time: {step: 5e-3, until: 0.1}\n"
    "output: {interval: 0.01}\n"
    "solver: {tolerance: 1e-8}\n";

typedef struct witness {
    int number;        /* its files are named by it */
    uint64_t hash;     /* of the last state */
    double sum;        /* over all recorded states */
    double impulses;   /* of problems that were written, read and solved again */
    char message[512]; /* of the first failure */
} witness;

static bool good(witness *w, const dls_error *error, dls_status status) {
    if (status && !*w->message) memcpy(w->message, error->message, sizeof w->message);
    return !status;
}

static void run(witness *w, const char *path) {
    dls_error error;
    dls_scene *scene = NULL;
    dls_run_end end;
    dls_run_def def = {.results = path};
    if (good(w, &error, dls_scene_read_text(text, strlen(text), "text", ".", 0, NULL, &scene, &error)))
        good(w, &error, dls_run_scene(scene, &def, &end, NULL, &w->hash, &error));
    dls_scene_destroy(scene);
}

static void solve_again(witness *w, dls_results *results, int frame) {
    dls_error error;
    dls_problem *problem = NULL;
    dls_fclib *file = NULL;
    char path[40];
    snprintf(path, sizeof path, "problem_%d.hdf5", w->number);
    if (!good(w, &error, dls_results_problem(results, frame, &problem, &error))) return;
    dls_fclib_content content = {.problem = problem};
    if (good(w, &error, dls_fclib_write(path, &content, &error)) &&
        good(w, &error, dls_fclib_read(path, &file, &error))) {
        double r[64] = {0};
        _Alignas(max_align_t) char options[DLS_MAX_OPTIONS_SIZE];
        dls_solve_info info;
        const dls_solver *solver = dls_solver_at(frame % dls_solver_count());
        solver->defaults(options);
        good(w, &error, dls_solve(dls_fclib_problem(file), solver, options, r, NULL, NULL, &info, &error));
        for (int k = 0; k < dls_problem_row_count(problem); k++) w->impulses += r[k];
    }
    dls_fclib_destroy(file);
    dls_problem_destroy(problem);
}

static void read_all(witness *w, const char *path) {
    dls_error error;
    dls_results *results = NULL;
    dls_checkpoint *checkpoint = NULL;
    char beside[64];
    dls_body_state states[8];
    snprintf(beside, sizeof beside, "%s.checkpoint", path);
    if (good(w, &error, dls_checkpoint_read(beside, &checkpoint, &error)))
        w->sum = dls_checkpoint_time(checkpoint);
    dls_checkpoint_destroy(checkpoint);
    if (!good(w, &error, dls_results_open(path, &results, &error))) return;
    for (int frame = 0; frame < dls_results_frame_count(results); frame++) {
        good(w, &error, dls_results_frame_states(results, frame, states, NULL, &error));
        for (int id = 0; id < dls_results_body_count(results); id++) w->sum += states[id].x[2];
        if (dls_results_frame_contact_count(results, frame)) solve_again(w, results, frame);
    }
    dls_results_destroy(results);
}

static void *work(void *user) {
    witness *w = user;
    char path[40];
    snprintf(path, sizeof path, "run_%d.h5", w->number);
    int rounds = scaled(6, 3);
    for (int k = 0; k < rounds && !*w->message; k++) {
        w->sum = w->impulses = 0;
        run(w, path);
        read_all(w, path);
    }
    return NULL;
}

static pthread_barrier_t start;

static void *begin_together(void *user) {
    pthread_barrier_wait(&start);
    return work(user);
}

static void threads_end_as_one_does(void **state) {
    (void)state;
    witness alone = {0}, beside[THREADS] = {0};
    pthread_t threads[THREADS];
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int k = 0; k < THREADS; k++) { /* before anything else: what is made once is made by one of them */
        beside[k].number = k + 1;
        assert_int_equal(pthread_create(&threads[k], NULL, begin_together, &beside[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
    pthread_barrier_destroy(&start);
    work(&alone);
    assert_string_equal(alone.message, "");
    assert_true(alone.impulses > 0);
    for (int k = 0; k < THREADS; k++) {
        assert_string_equal(beside[k].message, "");
        assert_true(beside[k].hash == alone.hash);
        assert_true(beside[k].sum == alone.sum);
        assert_true(beside[k].impulses == alone.impulses);
    }
}

/* ---- dense factorisations ---- */

/* A problem of few enough rows to be factored as a dense one, and enough for blocks; solved with Newton and
 * by the interior point, again and again. */
typedef struct dense_work {
    dls_problem *problem;
    uint64_t hash[2]; /* of the impulses, by solver */
    bool same;        /* in every round */
} dense_work;

static void *solve_dense(void *user) {
    static const char *const solvers[] = {"newton", "ipm"};
    dense_work *w = user;
    int n = dls_problem_row_count(w->problem), rounds = scaled(40, 4);
    w->same = true;
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < 2; k++) {
            const dls_solver *solver = dls_solver_find(solvers[k]);
            _Alignas(max_align_t) char options[DLS_MAX_OPTIONS_SIZE];
            double r[90] = {0};
            dls_solve_info info;
            solver->defaults(options);
            w->same = w->same && !dls_solve(w->problem, solver, options, r, NULL, NULL, &info, NULL) &&
                      (round == 0 || bits_hash(r, n) == w->hash[k]);
            w->hash[k] = bits_hash(r, n);
        }
    return NULL;
}

static void *solve_dense_together(void *user) {
    pthread_barrier_wait(&start);
    return solve_dense(user);
}

static dls_problem *small_problem(dls_generator kind, int size, uint64_t seed) {
    dls_generate_def def = dls_default_generate_def();
    dls_problem *problem;
    def.kind = kind;
    def.size = size;
    def.seed = seed;
    assert_int_equal(dls_problem_generate(&def, &problem, NULL), DLS_OK);
    assert_in_range(dls_problem_row_count(problem), 60, 90);
    return problem;
}

static void dense_solves_beside_each_other(void **state) {
    (void)state;
    dense_work alone[2] = {{.problem = small_problem(DLS_GENERATE_PACKING, 30, 4)},
                           {.problem = small_problem(DLS_GENERATE_STACK, 34, 1)}};
    dense_work beside[2] = {{.problem = alone[0].problem}, {.problem = alone[1].problem}};
    pthread_t threads[2];
    assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, solve_dense_together, &beside[k]), 0);
    for (int k = 0; k < 2; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
    pthread_barrier_destroy(&start);
    for (int k = 0; k < 2; k++) {
        solve_dense(&alone[k]);
        assert_true(alone[k].same && beside[k].same);
        for (int solver = 0; solver < 2; solver++)
            assert_true(beside[k].hash[solver] == alone[k].hash[solver]);
        dls_problem_destroy(alone[k].problem);
    }
}

/* ---- the lock around HDF5 ---- */

typedef struct caller {
    void (*call)(small_run *run);
    small_run *run;
    atomic_bool done;
} caller;

static dls_results *results;
static dls_results_writer *writer;
static dls_fclib *file;
static dls_error error;

static void open_results(small_run *run) {
    (void)run;
    assert_int_equal(dls_results_open("locked.h5", &results, &error), DLS_OK);
}
static void read_states(small_run *run) {
    dls_body_state states[64];
    assert_in_range(dls_world_body_count(run->world), 1, 64);
    assert_int_equal(dls_results_frame_states(results, 0, states, NULL, &error), DLS_OK);
}
static void read_contacts(small_run *run) {
    dls_contact_record contacts[256];
    (void)run;
    assert_in_range(dls_results_frame_contact_count(results, 1), 1, 256);
    assert_int_equal(dls_results_frame_contacts(results, 1, contacts, &error), DLS_OK);
}
static void read_steps(small_run *run) {
    dls_step_report report;
    (void)run;
    assert_int_equal(dls_results_steps(results, 0, 1, &report, &error), DLS_OK);
}
static void read_files(small_run *run) {
    const dls_file *files;
    int count;
    (void)run;
    assert_int_equal(dls_results_files(results, &count, &files, &error), DLS_OK);
}
static void close_results(small_run *run) {
    (void)run;
    dls_results_destroy(results);
}
static void create_results(small_run *run) {
    dls_results_def def = small_run_def();
    assert_int_equal(dls_results_create("locked.h5", run->world, &def, &writer, &error), DLS_OK);
}
static void add_frame(small_run *run) {
    assert_int_equal(dls_results_add_frame(writer, run->simulation, &error), DLS_OK);
}
static void add_step(small_run *run) {
    dls_step_report report = small_run_step(run);
    assert_int_equal(dls_results_add_step(writer, &report, &error), DLS_OK);
}
static void flush_results(small_run *run) {
    (void)run;
    assert_int_equal(dls_results_flush(writer, &error), DLS_OK);
}
static void finish_results(small_run *run) {
    (void)run;
    assert_int_equal(dls_results_close(writer, NULL, &error), DLS_OK);
}
static void continue_results(small_run *run) {
    assert_int_equal(dls_results_continue("locked.h5", run->world, 1, &writer, &error), DLS_OK);
}
static void write_problem(small_run *run) {
    dls_fclib_content content = {.problem = dls_simulation_problem(run->simulation)};
    assert_int_equal(dls_fclib_write("locked.hdf5", &content, &error), DLS_OK);
}
static void read_problem(small_run *run) {
    (void)run;
    assert_int_equal(dls_fclib_read("locked.hdf5", &file, &error), DLS_OK);
}
static void rewrite_problem(small_run *run) {
    const double *r = dls_simulation_impulses(run->simulation);
    assert_int_equal(dls_fclib_rewrite("again.hdf5", file, r, NULL, &error), DLS_OK);
}

static void *call(void *user) {
    caller *c = user;
    c->call(c->run);
    c->done = true;
    return NULL;
}

/* In an order in which each has what it needs. */
static void every_call_waits_for_the_lock(void **state) {
    (void)state;
    static void (*const calls[])(small_run *) = {
        create_results, add_frame,    add_step,        add_frame,        flush_results, finish_results,
        open_results,   read_states,  read_contacts,   read_steps,       read_files,    close_results,
        write_problem,  read_problem, rewrite_problem, continue_results, finish_results};
    small_run run = small_run_create(3);
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        caller c = {.call = calls[k], .run = &run};
        pthread_t thread;
        dls_h5_lock();
        assert_int_equal(pthread_create(&thread, NULL, call, &c), 0);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        bool waited = !c.done;
        dls_h5_unlock();
        pthread_join(thread, NULL);
        if (!waited) fail_msg("call %zu went on while another thread had HDF5", k);
        assert_true(c.done);
    }
    dls_fclib_destroy(file);
    small_run_destroy(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_end_as_one_does),
                                       cmocka_unit_test(dense_solves_beside_each_other),
                                       cmocka_unit_test(every_call_waits_for_the_lock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
