/* Workers take many jobs each; what one job does to its process costs no other job its result. */
#include "cli/support/worker.h"
#include "support/test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { JOBS = 250 };

typedef struct answer {
    int number, clean;
    pid_t process;
    long resident; /* kB, the most that its process has had */
} answer;

typedef struct list {
    worker_job jobs[JOBS];
    int numbers[JOBS];
    answer answers[JOBS];
} list;

static bool is_poisoned;

static void work(const void *input, void *output) {
    answer *a = output;
    if (is_poisoned) raise(SIGKILL);
    a->clean = a->number == 0 && a->process == 0;
    a->number = *(const int *)input;
    a->process = getpid();
}

static void crash(const void *input, void *output) {
    work(input, output);
    raise(SIGKILL);
}

static void hang(const void *input, void *output) {
    work(input, output);
    for (;;) pause();
}

static void poison(const void *input, void *output) {
    work(input, output);
    is_poisoned = true;
}

static list *list_of(void (*odd)(const void *, void *), int every) {
    list *l = calloc(1, sizeof *l);
    for (int k = 0; k < JOBS; k++) {
        l->numbers[k] = k;
        l->jobs[k] = (worker_job){.work = every && k % every == 7 ? odd : work,
                                  .input = &l->numbers[k],
                                  .result = &l->answers[k],
                                  .result_size = sizeof(answer),
                                  .wall_limit = odd == hang && k % every == 7 ? 0.05 : 60};
    }
    return l;
}

static int count_processes(const list *l) {
    int count = 0;
    for (int k = 0; k < JOBS; k++) {
        bool seen = false;
        for (int i = 0; i < k; i++) seen = seen || l->answers[i].process == l->answers[k].process;
        count += !seen;
    }
    return count;
}

static void expect_done(const list *l, int k) {
    assert_int_equal(l->jobs[k].end, WORKER_DONE);
    assert_int_equal(l->answers[k].number, k);
    assert_true(l->answers[k].clean);
}

static void few_processes_do_many_jobs(void **state) {
    (void)state;
    for (int parallel = 1; parallel <= 3; parallel += 2) {
        list *l = list_of(NULL, 0);
        assert_true(worker_run(l->jobs, JOBS, parallel, NULL, NULL));
        for (int k = 0; k < JOBS; k++) expect_done(l, k);
        assert_in_range(count_processes(l), 2, 6);
        free(l);
    }
}

static void a_crash_costs_one_result(void **state) {
    (void)state;
    list *l = list_of(crash, 50);
    assert_true(worker_run(l->jobs, JOBS, 2, NULL, NULL));
    for (int k = 0; k < JOBS; k++) {
        if (k % 50 != 7) {
            expect_done(l, k);
            continue;
        }
        assert_int_equal(l->jobs[k].end, WORKER_CRASHED);
        assert_int_equal(l->jobs[k].signal, SIGKILL);
    }
    free(l);
}

static void a_hang_costs_one_result(void **state) {
    (void)state;
    list *l = list_of(hang, 100);
    assert_true(worker_run(l->jobs, JOBS, 2, NULL, NULL));
    for (int k = 0; k < JOBS; k++)
        if (k % 100 == 7)
            assert_int_equal(l->jobs[k].end, WORKER_TIMEOUT);
        else
            expect_done(l, k);
    free(l);
}

/* The job after the one that did the damage is not the one to blame. */
static void damage_is_not_handed_on(void **state) {
    (void)state;
    list *l = list_of(poison, 50);
    assert_true(worker_run(l->jobs, JOBS, 2, NULL, NULL));
    for (int k = 0; k < JOBS; k++) expect_done(l, k);
    free(l);
}

enum { LARGE = 1 << 20 };

static void fill(const void *input, void *output) {
    struct rusage usage;
    memset(output, *(const int *)input, LARGE);
    getrusage(RUSAGE_SELF, &usage);
    *(long *)output = usage.ru_maxrss;
}

static void results_do_not_pile_up_in_a_worker(void **state) {
    (void)state;
    enum { COUNT = 60 };
    static int numbers[COUNT];
    worker_job jobs[COUNT];
    char *results = calloc(COUNT, LARGE);
    for (int k = 0; k < COUNT; k++) {
        numbers[k] = k;
        jobs[k] = (worker_job){.work = fill,
                               .input = &numbers[k],
                               .result = results + (size_t)k * LARGE,
                               .result_size = LARGE,
                               .wall_limit = 60};
    }
    assert_true(worker_run(jobs, COUNT, 1, NULL, NULL));
    for (int k = 0; k < COUNT; k++) assert_int_equal(results[(size_t)(k + 1) * LARGE - 1], k);
    long first = *(long *)(void *)results, last = *(long *)(void *)(results + (size_t)(COUNT - 1) * LARGE);
    assert_true(last - first < 8 * 1024);
    free(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_processes_do_many_jobs),
        cmocka_unit_test(a_crash_costs_one_result),
        cmocka_unit_test(a_hang_costs_one_result),
        cmocka_unit_test(damage_is_not_handed_on),
        cmocka_unit_test(results_do_not_pile_up_in_a_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
