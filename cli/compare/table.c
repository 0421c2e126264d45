/* The comparison on a terminal. */
#include "cli/support/table.h"
#include "cli/compare/compare.h"
#include "cli/support/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 36, FAILURE_LINES = 20 };

/* A name of at most NAME_COLUMNS bytes, the middle left out where it is longer. */
static void shorten(const char *name, char *text, size_t size) {
    size_t length = strlen(name);
    if (length <= NAME_COLUMNS)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%.*s…%s", NAME_COLUMNS / 2, name, name + length - NAME_COLUMNS / 2 + 1);
}

static void add_time(table *t, const comparison *c, int tolerance, int problem, int solver) {
    const compare_result *result = comparison_result(c, tolerance, problem, solver);
    char time[32];
    format_seconds(result->cpu_seconds, time, sizeof time);
    if (!result->solved)
        table_cell(t, COLOUR_BAD, "✗");
    else if (compare_ratio(c, tolerance, problem, solver) == 1)
        table_cell(t, COLOUR_GOOD, "%s", time);
    else
        table_cell(t, COLOUR_NONE, "%s", time);
}

static void print_times(const comparison *c, int tolerance) {
    printf("processor time to a residual of %s\n\n", c->tolerances[tolerance].text);
    table *t = table_create(c->solver_count + 2);
    table_cell(t, COLOUR_STRONG, "problem");
    table_cell(t, COLOUR_STRONG, "contacts");
    for (int s = 0; s < c->solver_count; s++) table_cell(t, COLOUR_STRONG, "%s", c->solvers[s].label);
    for (int p = 0; p < c->problem_count; p++) {
        char name[96];
        shorten(c->problems[p].name, name, sizeof name);
        table_cell(t, COLOUR_NONE, "%s", name);
        table_cell(t, COLOUR_NONE, "%d", c->problems[p].probe.contacts);
        for (int s = 0; s < c->solver_count; s++) add_time(t, c, tolerance, p, s);
    }
    table_print(t);
    putchar('\n');
}

static void describe_failure(const compare_result *result, char *text, size_t size) {
    const char *outcome = compare_outcome(result);
    if (*result->message)
        snprintf(text, size, "%s: %s", outcome, result->message);
    else if (result->signal)
        snprintf(text, size, "%s by signal %d", outcome, result->signal);
    else if (result->end == WORKER_DONE)
        snprintf(text, size, "%s at %.3g after %d iteration%s", outcome, result->measures.residual,
                 result->iterations, plural(result->iterations));
    else
        snprintf(text, size, "%s", outcome);
}

/* One line for all tolerances at which a solver failed in the same way; returns the number of lines. */
static int print_pair_failures(const comparison *c, int problem, int solver, bool silent) {
    char last[640] = "";
    int lines = 0;
    for (int t = 0; t < c->tolerance_count; t++) {
        const compare_result *result = comparison_result(c, t, problem, solver);
        char text[640];
        if (result->solved) continue;
        describe_failure(result, text, sizeof text);
        if (!strcmp(text, last)) continue;
        memcpy(last, text, sizeof last);
        lines++;
        if (silent) continue;
        printf("  %s, %s to %s: ", c->problems[problem].name, c->solvers[solver].label,
               c->tolerances[t].text);
        print_plain(text);
        putchar('\n');
    }
    return lines;
}

/* Why the crosses are there; the first of them where there are many. */
static void print_failures(const comparison *c) {
    int lines = 0;
    for (int p = 0; p < c->problem_count; p++)
        for (int s = 0; s < c->solver_count; s++) {
            bool silent = lines >= FAILURE_LINES;
            int more = print_pair_failures(c, p, s, true);
            if (lines == 0 && more > 0) printf("unsolved\n\n");
            if (!silent) print_pair_failures(c, p, s, false);
            lines += more;
        }
    if (lines > FAILURE_LINES) printf("  and more, %d in all; comparison.csv has them\n", lines);
    if (lines) putchar('\n');
}

static void print_scores(const comparison *c) {
    printf("problems solved of %d, how often the fastest, and time as a multiple of the fastest solver's\n"
           "(geometric mean over the problems solved, times below %g µs counted as that)\n\n",
           c->problem_count, 1e6 * COMPARE_TIME_FLOOR);
    table *t = table_create(3 * c->tolerance_count + 1);
    table_cell(t, COLOUR_STRONG, "solver");
    for (int k = 0; k < c->tolerance_count; k++) {
        table_cell(t, COLOUR_STRONG, "to %s: solved", c->tolerances[k].text);
        table_cell(t, COLOUR_STRONG, "fastest");
        table_cell(t, COLOUR_STRONG, "multiple");
    }
    for (int s = 0; s < c->solver_count; s++) {
        table_cell(t, COLOUR_NONE, "%s", c->solvers[s].label);
        for (int k = 0; k < c->tolerance_count; k++) {
            compare_score score = compare_solver_score(c, k, s);
            table_cell(t, COLOUR_NONE, "%d", score.solved);
            table_cell(t, COLOUR_NONE, "%d", score.fastest);
            if (score.solved)
                table_cell(t, COLOUR_NONE, "%.2f", score.mean_ratio);
            else
                table_cell(t, COLOUR_NONE, "–");
        }
    }
    table_print(t);
}

void comparison_print(const comparison *c) {
    for (int t = 0; t < c->tolerance_count; t++) print_times(c, t);
    print_failures(c);
    print_scores(c);
    if (!c->complete) printf("\ninterrupted: what was not run counts as unsolved\n");
}
