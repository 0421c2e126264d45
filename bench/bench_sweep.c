/* The speed of one Gauss–Seidel sweep over a generated sphere packing, stored and matrix-free, beside the
 * memory bandwidth of the machine.
 *
 *     bench_sweep [--contacts N]... [--threads N]... [--law NAME] [--acceleration plain|anderson|momentum]
 *
 * Prints one JSON object per line; bench/run makes tables of them. A sweep's time is the difference between
 * solves of few and of many sweeps, each the least of several (processor time on one thread, wall time on
 * more), from impulses that some sweeps have brought near rest. bytes_per_contact is what a sweep cannot
 * avoid to move: every array that it needs once, impulses and body velocities there and back. */
#include <delassus/delassus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIST = 8, WARM_SWEEPS = 30, FEW_SWEEPS = 2, REPEATS = 5 };

typedef struct arguments {
    int contacts[MAX_LIST], contact_count;
    int threads[MAX_LIST], thread_count;
    const char *law;
    const char *acceleration;
} arguments;

/* Processor time of one thread, which other programs do not lengthen by waiting; wall time of several. */
static double now(int threads) { return threads == 1 ? dls_clock_cpu() : dls_clock_wall(); }

/* ---- bandwidth ------------------------------------------------------------------------------------------
 */

static const size_t STREAM_DOUBLES = (size_t)1 << 25; /* 256 MB each: beyond any cache */

static double least_of_passes(int threads, double *a, const double *b, const double *c, bool triad) {
    const long n = (long)STREAM_DOUBLES;
    double least = HUGE_VAL;
    volatile double sink;
    for (int pass = 0; pass < 8; pass++) {
        const double start = now(threads);
        double sum = 0;
        if (triad) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
            for (long i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
        } else {
#pragma omp parallel for simd num_threads(threads) schedule(static) reduction(+ : sum)
            for (long i = 0; i < n; i++) sum += b[i];
        }
        sink = sum;
        least = fmin(least, now(threads) - start);
    }
    (void)sink;
    return least;
}

static bool measure_bandwidth(const arguments *args) {
    double *a = malloc(STREAM_DOUBLES * sizeof *a), *b = malloc(STREAM_DOUBLES * sizeof *b),
           *c = malloc(STREAM_DOUBLES * sizeof *c);
    const bool ok = a && b && c;
    for (size_t i = 0; ok && i < STREAM_DOUBLES; i++) a[i] = 0, b[i] = 1, c[i] = 2;
    const double bytes = (double)(STREAM_DOUBLES * sizeof(double));
    for (int k = 0; ok && k < args->thread_count; k++) {
        const int threads = args->threads[k];
        printf("{\"kind\": \"bandwidth\", \"threads\": %d, \"read_bytes_per_second\": %.4g, "
               "\"triad_bytes_per_second\": %.4g}\n",
               threads, bytes / least_of_passes(threads, a, b, c, false),
               3 * bytes / least_of_passes(threads, a, b, c, true));
        fflush(stdout);
    }
    free(a);
    free(b);
    free(c);
    return ok;
}

/* ---- sweeps ---------------------------------------------------------------------------------------------
 */

typedef struct trial {
    const dls_problem *problem;
    dls_nlgs_options options;
    double *r, *start;
    dls_workspace *workspace;
    dls_solve_info info;
} trial;

static double solve_seconds(trial *t, int sweeps) {
    dls_error error;
    const size_t bytes = sizeof(double) * (size_t)dls_problem_row_count(t->problem);
    t->options.stop.max_iterations = sweeps;
    memcpy(t->r, t->start, bytes);
    if (dls_solve_nlgs(t->problem, &t->options, t->r, NULL, t->workspace, &t->info, &error) != DLS_OK) {
        fprintf(stderr, "bench_sweep: %s\n", error.message);
        exit(1);
    }
    return t->options.stop.threads == 1 ? t->info.cpu_seconds : t->info.seconds;
}

static double sweep_seconds(trial *t) {
    /* enough sweeps for a tenth of a second, so that the two solves differ by more than the clock's noise */
    const double guess = fmax(solve_seconds(t, FEW_SWEEPS) / FEW_SWEEPS, 1e-6);
    const int many = FEW_SWEEPS + (int)fmin(400, fmax(8, 0.1 / guess));
    double few_least = HUGE_VAL, many_least = HUGE_VAL;
    for (int k = 0; k < REPEATS; k++) {
        few_least = fmin(few_least, solve_seconds(t, FEW_SWEEPS));
        many_least = fmin(many_least, solve_seconds(t, many));
    }
    return (many_least - few_least) / (many - FEW_SWEEPS);
}

/* What a sweep over this packing must read and write, however it is written. */
static double unavoidable_bytes(const dls_problem *problem) {
    const double n = dls_problem_contact_count(problem), real = sizeof(double), index = sizeof(int);
    const double vectors = n * (3 * real + real + 2 * 3 * real);      /* b, mu, r there and back */
    const double blocks = (double)dls_problem_stored_blocks(problem); /* diagonal ones included */
    if (dls_problem_is_stored(problem)) return vectors + blocks * (9 * real + index) + n * sizeof(int64_t);
    const double bodies = dls_problem_body_count(problem) * 2 * 6 * real; /* velocities there and back */
    return vectors + bodies + n * (2 * 18 * real + 2 * index + 9 * real); /* H, its bodies, W_cc */
}

static void print_sweep(const trial *t, double seconds) {
    const dls_problem *problem = t->problem;
    const double n = dls_problem_contact_count(problem);
    printf(
        "{\"kind\": \"sweep\", \"operator\": \"%s\", \"contacts\": %.0f, \"bodies\": %d, \"blocks\": %lld, "
        "\"law\": \"%s\", \"threads\": %d, \"colours\": %d, \"serial_blocks\": %d, "
        "\"seconds_per_sweep\": %.4g, \"updates_per_second\": %.4g, \"bytes_per_contact\": %.4g, "
        "\"memory_bytes\": %zu}\n",
        dls_problem_is_stored(problem) ? "stored" : "matrix-free", n, dls_problem_body_count(problem),
        (long long)dls_problem_stored_blocks(problem), t->options.law, t->options.stop.threads,
        t->info.colours, t->info.serial_blocks, seconds, n / seconds, unavoidable_bytes(problem) / n,
        dls_problem_memory(problem));
    fflush(stdout);
}

static bool set_options(const arguments *args, dls_nlgs_options *options) {
    const dls_solver *nlgs = dls_solver_find("nlgs");
    dls_error error;
    *options = dls_default_nlgs_options();
    options->stop.tolerance = 0;
    options->stop.check_interval = 1 << 30;
    options->stall_sweeps = 0;
    if (dls_field_set(nlgs->fields, nlgs->field_count, options, "law", args->law, &error) == DLS_OK &&
        dls_field_set(nlgs->fields, nlgs->field_count, options, "acceleration", args->acceleration, &error) ==
            DLS_OK)
        return true;
    fprintf(stderr, "bench_sweep: %s\n", error.message);
    return false;
}

static bool measure_sweeps(const arguments *args, int contacts, bool matrix_free) {
    dls_generate_def def = dls_default_generate_def();
    def.kind = DLS_GENERATE_PACKING;
    def.size = contacts;
    def.matrix_free = matrix_free;
    dls_problem *problem = NULL;
    dls_error error;
    if (dls_problem_generate(&def, &problem, &error) != DLS_OK) {
        fprintf(stderr, "bench_sweep: %s\n", error.message);
        return false;
    }
    const size_t rows = (size_t)dls_problem_row_count(problem);
    trial t = {.problem = problem,
               .r = calloc(rows, sizeof(double)),
               .start = calloc(rows, sizeof(double)),
               .workspace = dls_workspace_create()};
    const bool ok = t.r && t.start && t.workspace && set_options(args, &t.options);
    for (int k = 0; ok && k < args->thread_count; k++) {
        t.options.stop.threads = args->threads[k];
        if (k == 0) {
            solve_seconds(&t, WARM_SWEEPS);
            memcpy(t.start, t.r, rows * sizeof(double));
        }
        print_sweep(&t, sweep_seconds(&t));
    }
    free(t.r);
    free(t.start);
    dls_workspace_destroy(t.workspace);
    dls_problem_destroy(problem);
    return ok;
}

static bool parse_arguments(int argc, char **argv, arguments *args) {
    *args = (arguments){.law = "exact", .acceleration = "plain"};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *key = argv[i], *value = argv[i + 1];
        if (strcmp(key, "--contacts") == 0 && args->contact_count < MAX_LIST)
            args->contacts[args->contact_count++] = atoi(value);
        else if (strcmp(key, "--threads") == 0 && args->thread_count < MAX_LIST)
            args->threads[args->thread_count++] = atoi(value);
        else if (strcmp(key, "--law") == 0)
            args->law = value;
        else if (strcmp(key, "--acceleration") == 0)
            args->acceleration = value;
        else
            return false;
    }
    if (args->contact_count == 0)
        for (int n = 10000; n <= 1000000; n *= 10) args->contacts[args->contact_count++] = n;
    if (args->thread_count == 0) {
        args->threads[args->thread_count++] = 1;
        args->threads[args->thread_count++] = 2;
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv) {
    arguments args;
    if (!parse_arguments(argc, argv, &args)) {
        fprintf(stderr, "usage: bench_sweep [--contacts N]... [--threads N]... [--law NAME] "
                        "[--acceleration plain|anderson|momentum]\n");
        return 2;
    }
    if (!measure_bandwidth(&args)) return 1;
    for (int k = 0; k < args.contact_count; k++)
        for (int matrix_free = 0; matrix_free < 2; matrix_free++)
            if (!measure_sweeps(&args, args.contacts[k], matrix_free)) return 1;
    return 0;
}
