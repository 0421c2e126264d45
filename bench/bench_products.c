/* The solvers that know W by its products alone, on generated sphere packings, matrix-free: what a product
 * costs with everything around it, how many an accuracy takes, and what threads bring.
 *
 *     bench_products [--contacts N]... [--time-limit S]
 *
 * Prints one JSON object per line; bench/run makes tables of them. A solver that misses a tolerance within
 * the time limit is not asked for the next one. */
#include <delassus/delassus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIST = 8, FIXED_ITERATIONS = 30, REPEATS = 5, MOST_THREADS = 2 };

static const double TOLERANCES[] = {1e-4, 1e-6, 1e-8};
static const char *const SOLVERS[] = {"apgd", "pqn"};

typedef struct arguments {
    int contacts[MAX_LIST], contact_count;
    double time_limit;
} arguments;

typedef struct trial {
    const dls_problem *problem;
    const dls_solver *solver;
    union {
        char room[DLS_MAX_OPTIONS_SIZE];
        dls_stop_options stop; /* as every options struct begins */
        dls_pqn_options pqn;
    } options;
    double *r;
    dls_workspace *workspace;
    dls_solve_info info;
} trial;

static bool solve(trial *t) {
    dls_error error;
    memset(t->r, 0, sizeof(double) * (size_t)dls_problem_row_count(t->problem));
    if (dls_solve(t->problem, t->solver, &t->options, t->r, NULL, t->workspace, &t->info, &error) == DLS_OK)
        return true;
    fprintf(stderr, "bench_products: %s\n", error.message);
    return false;
}

static void set_solver(trial *t, const char *name, double time_limit) {
    t->solver = dls_solver_find(name);
    t->solver->defaults(&t->options);
    if (strcmp(name, "pqn") == 0) t->options.pqn.fallback = false; /* sweeps are no products */
    t->options.stop.time_limit = time_limit;
}

static bool measure_accuracy(trial *t) {
    for (size_t k = 0; k < sizeof TOLERANCES / sizeof *TOLERANCES; k++) {
        t->options.stop.tolerance = TOLERANCES[k];
        if (!solve(t)) return false;
        printf("{\"kind\": \"accuracy\", \"solver\": \"%s\", \"contacts\": %d, \"tolerance\": %g, "
               "\"outcome\": \"%s\", \"residual\": %.4g, \"iterations\": %d, \"products\": %lld, "
               "\"cpu_seconds\": %.4g}\n",
               t->solver->name, dls_problem_contact_count(t->problem), TOLERANCES[k],
               dls_outcome_name(t->info.outcome), t->info.measures.residual, t->info.iterations,
               (long long)t->info.products, t->info.cpu_seconds);
        fflush(stdout);
        if (t->info.outcome != DLS_CONVERGED) break;
    }
    return true;
}

/* Least wall time of the same iterations on one thread and on two, by turns: a busy spell meets both. */
static bool measure_threads(trial *t) {
    double least[MOST_THREADS] = {HUGE_VAL, HUGE_VAL};
    t->options.stop.tolerance = 0;
    t->options.stop.max_iterations = FIXED_ITERATIONS;
    for (int k = 0; k < REPEATS; k++)
        for (int i = 0; i < MOST_THREADS; i++) {
            t->options.stop.threads = i + 1;
            if (!solve(t)) return false;
            least[i] = fmin(least[i], t->info.seconds);
        }
    for (int i = 0; i < MOST_THREADS; i++)
        printf("{\"kind\": \"threads\", \"solver\": \"%s\", \"contacts\": %d, \"threads\": %d, "
               "\"products\": %lld, \"seconds\": %.4g}\n",
               t->solver->name, dls_problem_contact_count(t->problem), i + 1, (long long)t->info.products,
               least[i]);
    fflush(stdout);
    return true;
}

static bool measure_packing(const arguments *args, int contacts) {
    dls_generate_def def = dls_default_generate_def();
    def.kind = DLS_GENERATE_PACKING;
    def.size = contacts;
    def.matrix_free = true;
    dls_problem *problem = NULL;
    dls_error error;
    if (dls_problem_generate(&def, &problem, &error) != DLS_OK) {
        fprintf(stderr, "bench_products: %s\n", error.message);
        return false;
    }
    trial t = {.problem = problem,
               .r = calloc((size_t)dls_problem_row_count(problem), sizeof(double)),
               .workspace = dls_workspace_create()};
    bool ok = t.r && t.workspace;
    for (size_t k = 0; ok && k < sizeof SOLVERS / sizeof *SOLVERS; k++) {
        set_solver(&t, SOLVERS[k], args->time_limit);
        ok = measure_accuracy(&t) && measure_threads(&t);
    }
    free(t.r);
    dls_workspace_destroy(t.workspace);
    dls_problem_destroy(problem);
    return ok;
}

static bool parse_arguments(int argc, char **argv, arguments *args) {
    *args = (arguments){.time_limit = 30};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--contacts") == 0 && args->contact_count < MAX_LIST)
            args->contacts[args->contact_count++] = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--time-limit") == 0)
            args->time_limit = atof(argv[i + 1]);
        else
            return false;
    }
    if (args->contact_count == 0)
        for (int n = 1000; n <= 100000; n *= 10) args->contacts[args->contact_count++] = n;
    return argc % 2 == 1;
}

int main(int argc, char **argv) {
    arguments args;
    if (!parse_arguments(argc, argv, &args)) {
        fprintf(stderr, "usage: bench_products [--contacts N]... [--time-limit S]\n");
        return 2;
    }
    for (int k = 0; k < args.contact_count; k++)
        if (!measure_packing(&args, args.contacts[k])) return 1;
    return 0;
}
