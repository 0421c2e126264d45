#include "contest.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RUNGS = 128, BISECTIONS = 3 };

static const double REPEAT_SECONDS = 0.02;
static const double LOOSEST_TOLERANCE = 1e-1, TIGHTEST_TOLERANCE = 1e-16;

/* One solve at one tolerance of the solver's own. */
typedef struct rung {
    double tolerance, seconds, residual;
    int iterations;
} rung;

typedef struct contest_ladder {
    const dls_problem *problem;
    const contestant *solver;
    double solve_seconds;
    double *r;
    rung rungs[MAX_RUNGS];
    int count;
} contest_ladder;

typedef struct report {
    int target;
    contest_score score;
} report;

static volatile double deadline; /* processor time at which the process gives up; 0: never */

static void watch(int signal) {
    (void)signal;
    if (deadline > 0 && dls_clock_cpu() > deadline) _exit(1);
}

/* Processor-time timers of the kernel would coarsen the clock that is read, so a wall timer looks at it. */
static void start_watch(void) {
    const struct sigaction action = {.sa_handler = watch, .sa_flags = SA_RESTART};
    const struct itimerval every = {.it_interval = {.tv_usec = 20000}, .it_value = {.tv_usec = 20000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

static double judge(const dls_problem *problem, const double *r) {
    dls_measures measures;
    dls_error error;
    const int rows = dls_problem_row_count(problem);
    for (int i = 0; i < rows; i++)
        if (!isfinite(r[i])) return HUGE_VAL;
    if (dls_problem_measure(problem, r, NULL, &measures, &error) != DLS_OK) return HUGE_VAL;
    return isfinite(measures.residual) ? measures.residual : HUGE_VAL;
}

static rung solve_once(contest_ladder *ladder, double tolerance) {
    rung run = {.tolerance = tolerance};
    memset(ladder->r, 0, sizeof(double) * (size_t)dls_problem_row_count(ladder->problem));
    deadline = dls_clock_cpu() + ladder->solve_seconds;
    run.seconds = ladder->solver->solve(ladder->solver->context, tolerance, ladder->r, &run.iterations);
    deadline = 0;
    run.residual = judge(ladder->problem, ladder->r);
    return run;
}

static rung climb(contest_ladder *ladder, double tolerance) {
    const rung run = solve_once(ladder, tolerance);
    if (ladder->count < MAX_RUNGS) ladder->rungs[ladder->count++] = run;
    return run;
}

/* Decades down from where the ladder stands, until the target is met or tightening changes nothing. */
static bool reach(contest_ladder *ladder, double target) {
    for (int i = 0; i < ladder->count; i++)
        if (ladder->rungs[i].residual <= target) return true;
    double tolerance = LOOSEST_TOLERANCE;
    for (int i = 0; i < ladder->count; i++) tolerance = fmin(tolerance, 0.1 * ladder->rungs[i].tolerance);
    for (int idle = 0; tolerance >= TIGHTEST_TOLERANCE && idle < 3; tolerance *= 0.1) {
        const rung *last = ladder->count ? &ladder->rungs[ladder->count - 1] : NULL;
        const int last_iterations = last ? last->iterations : 0;
        const double last_residual = last ? last->residual : HUGE_VAL;
        const rung run = climb(ladder, tolerance);
        if (run.residual <= target) return true;
        const bool stuck = run.iterations == last_iterations && !(run.residual < 0.99 * last_residual);
        idle = stuck && run.iterations > 1 ? idle + 1 : 0;
    }
    return false;
}

/* Halves the step between the loosest tolerance that meets the target and the next looser one that does not.
 */
static void refine(contest_ladder *ladder, double target) {
    for (int step = 0; step < BISECTIONS; step++) {
        double meets = 0, fails = HUGE_VAL;
        for (int i = 0; i < ladder->count; i++)
            if (ladder->rungs[i].residual <= target) meets = fmax(meets, ladder->rungs[i].tolerance);
        for (int i = 0; i < ladder->count; i++)
            if (ladder->rungs[i].tolerance > meets) fails = fmin(fails, ladder->rungs[i].tolerance);
        if (!isfinite(fails)) return;
        climb(ladder, sqrt(meets * fails));
    }
}

static contest_score quickest(const contest_ladder *ladder, double target) {
    contest_score score = {.seconds = HUGE_VAL};
    for (int i = 0; i < ladder->count; i++) {
        const rung *run = &ladder->rungs[i];
        if (run->residual <= target && run->seconds < score.seconds)
            score = (contest_score){run->seconds, run->residual, run->tolerance, run->iterations};
    }
    return score;
}

/* Solves a rung again until the repeats last long enough; the least time stays with it. */
static void repeat(contest_ladder *ladder, rung *chosen) {
    for (double total = chosen->seconds; total < REPEAT_SECONDS;) {
        const rung again = solve_once(ladder, chosen->tolerance);
        total += fmax(again.seconds, 1e-7);
        const bool counts =
            again.residual <= chosen->residual && again.seconds > 0; /* clocks of guests may stand */
        if (counts) chosen->seconds = fmin(chosen->seconds, again.seconds);
    }
}

/* The quickest rung that meets the target, after repeating those that one solve each cannot tell apart. */
static contest_score measure(contest_ladder *ladder, double target) {
    const double close = 1.5 * quickest(ladder, target).seconds;
    for (int i = 0; i < ladder->count; i++)
        if (ladder->rungs[i].residual <= target && ladder->rungs[i].seconds <= close)
            repeat(ladder, &ladder->rungs[i]);
    return quickest(ladder, target);
}

static bool send(int out, int target, contest_score score) {
    const report message = {target, score};
    return write(out, &message, sizeof message) == sizeof message;
}

/* The child's work: reports on each target that was reached, the last one counts. Does not return. */
static void compete(contest_ladder *ladder, const double *targets, int target_count,
                    const double *solve_seconds, int out) {
    for (int k = 0; k < target_count; k++) {
        ladder->solve_seconds = 0; /* a solve that is too slow for this target may do for a tighter one */
        for (int j = k; j < target_count; j++)
            ladder->solve_seconds = fmax(ladder->solve_seconds, solve_seconds[j]);
        if (ladder->solver->stops_on_residual) {
            if (climb(ladder, targets[k]).residual > targets[k]) break;
        } else {
            if (!reach(ladder, targets[k])) break;
            if (!send(out, k, quickest(ladder, targets[k]))) break;
            refine(ladder, targets[k]);
        }
        if (!send(out, k, measure(ladder, targets[k]))) break;
    }
    _exit(0);
}

/* Solvers print as they please, and may ask for any amount of memory. */
static void enter_cell(contest_limits limits) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    const struct rlimit memory = {(rlim_t)limits.memory_bytes, (rlim_t)limits.memory_bytes};
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &no_core);
    start_watch();
}

void contest_run(const dls_problem *problem, const contestant *solver, const double *targets,
                 int target_count, contest_limits limits, contest_score *scores) {
    for (int k = 0; k < target_count; k++) scores[k] = (contest_score){.seconds = HUGE_VAL};
    int channel[2];
    if (pipe(channel) != 0) return;
    const pid_t child = fork();
    if (child == 0) {
        close(channel[0]);
        enter_cell(limits);
        contest_ladder ladder = {.problem = problem, .solver = solver};
        ladder.r = malloc(sizeof(double) * (size_t)dls_problem_row_count(problem));
        if (ladder.r) compete(&ladder, targets, target_count, limits.solve_seconds, channel[1]);
        _exit(1);
    }
    close(channel[1]);
    report done;
    while (child > 0 && read(channel[0], &done, sizeof done) == sizeof done) scores[done.target] = done.score;
    close(channel[0]);
    if (child > 0) waitpid(child, NULL, 0);
}
