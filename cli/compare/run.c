/* The work of the children, and the list of jobs for the parent. */
#include "cli/compare/compare.h"

#include "cli/support/problem_file.h"
#include "cli/support/progress.h"
#include "cli/support/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_TOTAL = 20e-3;    /* s of processor that the repeats of one solve last together */
static const double PROBE_LIMIT = 600;      /* s to read one file */
static const double GRACE_SECONDS = 2;      /* beyond the solver's own limit, before it is killed */
static const double GRACE_SHARE = 0.25;     /* the same, as a share of the limit */
static const double READ_AGAIN_FACTOR = 10; /* reading may take so much longer than it did the first time */

/* The second number where a solve is shorter than the floor of ratios: a better time would change none. */
enum { MOST_REPEATS = 1000, ENOUGH_REPEATS = 100 };

compare_result *comparison_result(const comparison *c, int tolerance, int problem, int solver) {
    size_t row = (size_t)tolerance * (size_t)c->problem_count + (size_t)problem;
    return &c->results[row * (size_t)c->solver_count + (size_t)solver];
}

compare_curve *comparison_curve(const comparison *c, int problem, int solver) {
    return &c->curves[(size_t)problem * (size_t)c->solver_count + (size_t)solver];
}

const char *compare_outcome(const compare_result *result) {
    static const char *const ends[] = {"cancelled", NULL, "crashed", "timeout", "cancelled"};
    if (result->end != WORKER_DONE) return ends[result->end];
    return *result->message ? "failed" : dls_outcome_name(result->outcome);
}

/* ---- in the child ------------------------------------------------------------------------------------- */

static void probe_work(const void *input, void *output) {
    const compare_problem *problem = input;
    compare_probe *probe = output;
    double began = dls_clock_wall();
    problem_source source;
    bool good = problem_source_open(problem->path, false, &source, probe->message, sizeof probe->message);
    probe->seconds = dls_clock_wall() - began;
    if (!good) return;
    const dls_problem *p = source.problem;
    probe->good = true;
    probe->contacts = dls_problem_contact_count(p);
    probe->blocks = dls_problem_block_count(p);
    probe->rows = dls_problem_row_count(p);
    problem_source_close(&source);
}

/* One solve to be made. */
typedef struct task {
    const char *path;
    const solver_choice *solver;
    double tolerance, time_limit;
} task;

/* Everything a solve needs, in the child. */
typedef struct bench {
    problem_source source;
    const dls_problem *problem;
    solver_choice choice;
    double *r;
    dls_workspace *workspace;
    dls_solve_info info;
    dls_error error;
} bench;

static bool bench_begin(bench *b, const task *t) {
    *b = (bench){.choice = *t->solver};
    b->choice.options.stop.tolerance = t->tolerance;
    b->choice.options.stop.time_limit = t->time_limit;
    if (!problem_source_open(t->path, false, &b->source, b->error.message, sizeof b->error.message))
        return false;
    b->problem = b->source.problem;
    b->r = report_allocate((size_t)dls_problem_row_count(b->problem), sizeof *b->r);
    b->workspace = dls_workspace_create();
    return true;
}

static void bench_end(bench *b) {
    free(b->r);
    dls_workspace_destroy(b->workspace);
    problem_source_close(&b->source);
}

static bool bench_solve(bench *b) {
    memset(b->r, 0, (size_t)dls_problem_row_count(b->problem) * sizeof *b->r);
    return !dls_solve(b->problem, b->choice.solver, b->choice.options.bytes, b->r, NULL, b->workspace,
                      &b->info, &b->error);
}

static bool is_measured(const compare_result *result, double total) {
    int most = result->cpu_seconds < COMPARE_TIME_FLOOR ? ENOUGH_REPEATS : MOST_REPEATS;
    return total >= LEAST_TOTAL || result->repeats >= most;
}

static void solve_work(const void *input, void *output) {
    const task *t = input;
    compare_result *result = output;
    bench b;
    double total = 0;
    bool good = bench_begin(&b, t);
    result->seconds = result->cpu_seconds = HUGE_VAL;
    while (good && !is_measured(result, total) && (good = bench_solve(&b))) {
        total += b.info.cpu_seconds;
        result->seconds = fmin(result->seconds, b.info.seconds);
        result->cpu_seconds = fmin(result->cpu_seconds, b.info.cpu_seconds);
        result->repeats++;
    }
    if (!good) memcpy(result->message, b.error.message, sizeof result->message);
    result->outcome = b.info.outcome;
    result->iterations = b.info.iterations;
    result->measures = b.info.measures;
    result->solved = good && b.info.measures.residual <= t->tolerance;
    if (b.problem) bench_end(&b);
}

/* When the room is full, every other point behind the head goes and the stride doubles. */
static bool record(const dls_iterate *now, void *user) {
    compare_curve *curve = user;
    if (curve->count == CURVE_POINTS) {
        int kept = CURVE_HEAD;
        for (int i = CURVE_HEAD + 1; i < CURVE_POINTS; i += 2) curve->points[kept++] = curve->points[i];
        curve->count = kept;
        curve->stride *= 2;
    }
    if (curve->count >= CURVE_HEAD && (now->iteration - CURVE_HEAD) % curve->stride) return true;
    curve->points[curve->count++] =
        (curve_point){now->iteration, now->seconds, dls_clock_cpu() - curve->began, now->residual};
    return true;
}

static void curve_work(const void *input, void *output) {
    compare_curve *curve = output;
    curve->stride = 1;
    bench b;
    if (!bench_begin(&b, input)) return;
    b.choice.options.stop.check_interval = 1;
    b.choice.options.stop.callback = record;
    b.choice.options.stop.user = curve;
    curve->began = dls_clock_cpu();
    bool good = bench_solve(&b);
    bool missing = curve->count == 0 || curve->points[curve->count - 1].iteration < b.info.iterations;
    if (good && missing && b.info.outcome == DLS_CONVERGED) { /* the end belongs in the picture */
        int last = curve->count < CURVE_POINTS ? curve->count++ : CURVE_POINTS - 1;
        curve->points[last] =
            (curve_point){b.info.iterations, b.info.seconds, b.info.cpu_seconds, b.info.measures.residual};
    }
    bench_end(&b);
}

/* ---- in the parent ------------------------------------------------------------------------------------ */

static void show_reading(const worker_job *job, int ended, int count, void *user) {
    const compare_problem *problem = job->input;
    if (job->end == WORKER_WAITING)
        progress_text(user, "reading %d of %d   %s", ended + 1, count, problem->path);
}

bool comparison_probe(comparison *c) {
    worker_job *jobs = report_allocate((size_t)c->problem_count, sizeof *jobs);
    for (int i = 0; i < c->problem_count; i++)
        jobs[i] = (worker_job){.work = probe_work,
                               .input = &c->problems[i],
                               .result = &c->problems[i].probe,
                               .result_size = sizeof(compare_probe),
                               .wall_limit = PROBE_LIMIT};
    progress line = progress_begin(0);
    bool good = worker_run(jobs, c->problem_count, c->jobs, show_reading, &line);
    progress_end(&line);
    for (int i = 0; i < c->problem_count; i++) {
        const compare_problem *problem = &c->problems[i];
        if (jobs[i].end == WORKER_DONE && problem->probe.good) continue;
        good = false;
        if (jobs[i].end == WORKER_DONE)
            report_error("%s", problem->probe.message);
        else if (jobs[i].end == WORKER_CRASHED)
            report_error("%s: reading it crashed, expected a contact problem", problem->path);
        else if (jobs[i].end == WORKER_TIMEOUT)
            report_error("%s: reading it took more than %g s", problem->path, PROBE_LIMIT);
    }
    free(jobs);
    return good;
}

typedef struct plan {
    worker_job *jobs;
    task *tasks;
    int count;
    progress progress;
} plan;

static void plan_add(plan *p, const comparison *c, int problem, int solver, double tolerance) {
    const compare_problem *subject = &c->problems[problem];
    p->tasks[p->count] = (task){subject->path, &c->solvers[solver], tolerance, c->time_limit};
    p->jobs[p->count].input = &p->tasks[p->count];
    p->jobs[p->count].wall_limit =
        c->time_limit * (1 + GRACE_SHARE) + GRACE_SECONDS + READ_AGAIN_FACTOR * subject->probe.seconds;
    p->count++;
}

static void show(const worker_job *job, int ended, int count, void *user) {
    const plan *p = user;
    const task *t = job->input;
    if (job->end == WORKER_WAITING)
        progress_text(&p->progress, "%d of %d   %s   %s", ended + 1, count, t->solver->label, t->path);
}

static double tightest_tolerance(const comparison *c) {
    double tightest = c->tolerances[0].value;
    for (int i = 1; i < c->tolerance_count; i++) tightest = fmin(tightest, c->tolerances[i].value);
    return tightest;
}

static void plan_all(plan *p, const comparison *c) {
    for (int problem = 0; problem < c->problem_count; problem++)
        for (int solver = 0; solver < c->solver_count; solver++) {
            for (int t = 0; t < c->tolerance_count; t++) {
                p->jobs[p->count].work = solve_work;
                p->jobs[p->count].result = comparison_result(c, t, problem, solver);
                p->jobs[p->count].result_size = sizeof(compare_result);
                plan_add(p, c, problem, solver, c->tolerances[t].value);
            }
            if (!c->curves) continue;
            p->jobs[p->count].work = curve_work;
            p->jobs[p->count].result = comparison_curve(c, problem, solver);
            p->jobs[p->count].result_size = sizeof(compare_curve);
            plan_add(p, c, problem, solver, tightest_tolerance(c));
        }
}

/* How a process ended is known in the parent only. */
static void note_end(const worker_job *job) {
    if (job->work == curve_work && job->end != WORKER_DONE) {
        ((compare_curve *)job->result)->count = 0;
    } else if (job->work == solve_work) {
        compare_result *result = job->result;
        if (job->end != WORKER_DONE) *result = (compare_result){.measures = {.residual = nan("")}};
        result->end = job->end;
        result->signal = job->signal;
    }
}

void comparison_run(comparison *c) {
    size_t most = (size_t)c->problem_count * (size_t)c->solver_count * ((size_t)c->tolerance_count + 1);
    plan p = {.progress = progress_begin(0)};
    p.jobs = report_allocate(most, sizeof *p.jobs);
    p.tasks = report_allocate(most, sizeof *p.tasks);
    plan_all(&p, c);
    c->complete = worker_run(p.jobs, p.count, c->jobs, show, &p);
    progress_end(&p.progress);
    for (int i = 0; i < p.count; i++) note_end(&p.jobs[i]);
    free(p.jobs);
    free(p.tasks);
}
