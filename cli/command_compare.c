/* delassus compare: problems × solvers × tolerances, judged by one residual. */
#include "cli/commands.h"
#include "cli/compare/compare.h"
#include "cli/solve/law_object.h"
#include "cli/support/interrupt.h"
#include "cli/support/output_file.h"
#include "cli/support/problem_file.h"
#include "cli/support/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct compare_values {
    const char *solvers, *tolerances, *output;
    double time_limit;
    int threads, jobs;
    bool json;
    text_list law_objects;
} compare_values;

#define AT(member) offsetof(compare_values, member)

static const option options[] = {
    OPTION("solvers", 's', OPTION_TEXT, "LIST", AT(solvers), "NAME[:LAW][+KEY=VALUE…], separated by commas"),
    OPTION("tol", 't', OPTION_TEXT, "LIST", AT(tolerances), "residuals to reach, separated by commas"),
    OPTION("law-from", 0, OPTION_LIST, "FILE.so", AT(law_objects),
           "laws of your own, for --solvers; see examples/my_law.c"),
    OPTION("time-limit", 0, OPTION_REAL(1e-3, 1e9), "S", AT(time_limit), "most seconds for one solve"),
    OPTION("threads", 0, OPTION_INT(1, 1024), "N", AT(threads), "threads of each solver"),
    OPTION("jobs", 'j', OPTION_INT(1, 1024), "N", AT(jobs),
           "solves at once (they disturb each other's times)"),
    OPTION("output", 'o', OPTION_TEXT, "DIR", AT(output), "write CSV, JSON and figures (SVG, PNG) there"),
    OPTION("json", 0, OPTION_FLAG, NULL, AT(json), "print one JSON object instead of the tables"),
};

/* ---- reading the question ------------------------------------------------------------------------------ */

static bool split(const char *name, const char *text, text_list *list) {
    if (list_split(text, list)) return true;
    report_error("compare: --%s '%s' has an empty part, expected values separated by commas", name, text);
    return false;
}

static bool refuse_double(const char *name, const char *value) {
    report_error("compare: --%s names '%s' twice, expected each once", name, value);
    return false;
}

static bool choose_solvers(comparison *c, const text_list *names) {
    c->solver_count = names->count;
    c->solvers = report_allocate((size_t)names->count, sizeof *c->solvers);
    for (int i = 0; i < names->count; i++) {
        if (!solver_choice_parse(&c->solvers[i], names->items[i])) return false;
        c->solvers[i].options.stop.threads = c->threads;
        for (int k = 0; k < i; k++)
            if (!strcmp(c->solvers[k].label, c->solvers[i].label))
                return refuse_double("solvers", c->solvers[i].label);
    }
    return true;
}

static bool choose_tolerances(comparison *c, const text_list *texts) {
    c->tolerance_count = texts->count;
    c->tolerances = report_allocate((size_t)texts->count, sizeof *c->tolerances);
    for (int i = 0; i < texts->count; i++) {
        char *end;
        double value = strtod(texts->items[i], &end);
        if (*end || !(value > 0 && value < 1)) {
            report_error("compare: --tol '%s', expected a number between 0 and 1", texts->items[i]);
            return false;
        }
        c->tolerances[i] = (compare_tolerance){texts->items[i], value};
        for (int k = 0; k < i; k++)
            if (c->tolerances[k].value == value) return refuse_double("tol", texts->items[i]);
    }
    return true;
}

/* Files of one name from several folders are told apart by a number. */
static void name_problem(comparison *c, int index) {
    char base[64];
    compare_problem *problem = &c->problems[index];
    problem_file_name(problem->path, base, sizeof base);
    snprintf(problem->name, sizeof problem->name, "%s", base);
    for (int copy = 2, k = 0; k < index; k++)
        if (!strcmp(c->problems[k].name, problem->name)) {
            snprintf(problem->name, sizeof problem->name, "%s_%d", base, copy++);
            k = -1;
        }
}

static void choose_problems(comparison *c, const text_list *paths) {
    c->problem_count = paths->count;
    c->problems = report_allocate((size_t)paths->count, sizeof *c->problems);
    for (int i = 0; i < paths->count; i++) {
        c->problems[i].path = paths->items[i];
        name_problem(c, i);
    }
}

static void make_room(comparison *c, bool curves) {
    size_t pairs = (size_t)c->problem_count * (size_t)c->solver_count;
    c->results = report_allocate(pairs * (size_t)c->tolerance_count, sizeof *c->results);
    if (curves) c->curves = report_allocate(pairs, sizeof *c->curves);
}

/* ---- giving the answer --------------------------------------------------------------------------------- */

static bool any_crash(const comparison *c) {
    int count = c->problem_count * c->solver_count * c->tolerance_count;
    for (int i = 0; i < count; i++)
        if (c->results[i].end == WORKER_CRASHED) return true;
    return false;
}

static int answer(const comparison *c, const compare_values *v) {
    if (v->json)
        comparison_to_json(c, stdout);
    else
        comparison_print(c);
    fflush(stdout);
    if (v->output && !(comparison_write(c, v->output) && comparison_draw(c, v->output)))
        return EXIT_BAD_INPUT;
    if (v->output && !v->json) printf("\ntables and figures are in %s\n", v->output);
    return c->complete && !any_crash(c) ? EXIT_DONE : EXIT_NOT_CONVERGED;
}

static int compare(comparison *c, const text_list *operands, const text_list *solvers,
                   const text_list *tolerances, const compare_values *v) {
    if (!choose_solvers(c, solvers) || !choose_tolerances(c, tolerances)) return EXIT_BAD_INPUT;
    for (int i = 0; i < operands->count && v->output; i++)
        if (!output_folder_is_apart(v->output, operands->items[i])) return EXIT_BAD_INPUT;
    if (v->output && !output_folder_make(v->output)) return EXIT_BAD_INPUT;
    choose_problems(c, operands);
    interrupt_watch();
    if (!comparison_probe(c)) return EXIT_BAD_INPUT;
    make_room(c, v->output != NULL);
    comparison_run(c);
    return answer(c, v);
}

static int run(const text_list *operands, const void *values) {
    const compare_values *v = values;
    comparison c = {.time_limit = v->time_limit, .threads = v->threads, .jobs = v->jobs};
    text_list solvers = {0, NULL}, tolerances = {0, NULL};
    int code = EXIT_BAD_INPUT;
    if (law_objects_load(&v->law_objects) && split("solvers", v->solvers, &solvers) &&
        split("tol", v->tolerances, &tolerances))
        code = compare(&c, operands, &solvers, &tolerances, v);
    list_free_split(&solvers);
    list_free_split(&tolerances);
    free(c.problems);
    free(c.solvers);
    free(c.tolerances);
    free(c.results);
    free(c.curves);
    return code;
}

static const compare_values defaults = {.solvers = "nlgs:exact,nlgs:ebp,nlgs:eal",
                                        .tolerances = "1e-4,1e-6",
                                        .time_limit = 60,
                                        .threads = 1,
                                        .jobs = 1};

const command command_compare = {
    .name = "compare",
    .summary = "solve many problems with many solvers; tables, performance profiles and residual curves",
    .operands = "FILE…",
    .details =
        "Solves run in other processes, one after the other, with the time limit: a crash costs one result.\n"
        "Times are of the processor, for the solver call alone, the least of repeats that last 20 ms "
        "together\n"
        "(below 20 µs, of 100). A problem counts as solved when the residual of what came back is at most "
        "the\n"
        "tolerance.\n\n"
        "  delassus compare problems/*.hdf5 --solvers nlgs:exact,nlgs:ebp+window=8 --tol 1e-4,1e-8 -o out\n\n"
        "DIR gets comparison.csv, comparison.json, curves.csv, profile_TOL.svg/png, curve_PROBLEM.svg/png "
        "over\n"
        "iterations and time_PROBLEM.svg/png over processor time. FILE may be PREFIX_W.mtx, too.\n"
        "Exit status: 0 compared, 1 a solver crashed or the comparison was interrupted, 2 bad input.",
    .least_operands = 1,
    .most_operands = INT_MAX,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(compare_values),
    .run = run,
};
