/* What `delassus compare` gathers and how its parts share it. */
#ifndef CLI_COMPARE_COMPARE_H
#define CLI_COMPARE_COMPARE_H

#include "cli/solve/solver_choice.h"
#include "cli/support/json.h"
#include "cli/support/worker.h"

#include <delassus/delassus.h>

/* Ratios of times below this would compare clocks, not solvers, s. */
#define COMPARE_TIME_FLOOR 20e-6

enum { CURVE_POINTS = 512, CURVE_HEAD = 128 };

/* What a first look at a file gives. */
typedef struct compare_probe {
    bool good;
    char message[1024];
    int contacts, blocks, rows;
    double seconds; /* to read it */
} compare_probe;

typedef struct compare_problem {
    const char *path;
    char name[96]; /* unique, fit for a file name */
    compare_probe probe;
} compare_problem;

typedef struct compare_tolerance {
    const char *text;
    double value;
} compare_tolerance;

typedef struct compare_result {
    worker_end end;
    int signal;        /* of a crash */
    char message[512]; /* of a solver that refused, else "" */
    bool solved;       /* by the judge: residual at most the tolerance */
    dls_outcome outcome;
    int iterations, repeats;
    double seconds, cpu_seconds; /* the least of all repeats */
    dls_measures measures;
} compare_result;

typedef struct curve_point {
    int iteration;
    double seconds, cpu_seconds, residual; /* since the solve began, with measuring */
} curve_point;

/* A residual history, thinned to what a figure can show: the head whole, then every stride-th iteration. */
typedef struct compare_curve {
    int count, stride;
    double began; /* processor time */
    curve_point points[CURVE_POINTS];
} compare_curve;

typedef struct comparison {
    int problem_count, solver_count, tolerance_count;
    compare_problem *problems;
    solver_choice *solvers;
    compare_tolerance *tolerances;
    compare_result *results; /* by tolerance, problem, solver */
    compare_curve *curves;   /* by problem, solver; NULL when none are wanted */
    double time_limit;
    int threads, jobs;
    bool complete; /* not interrupted */
} comparison;

compare_result *comparison_result(const comparison *c, int tolerance, int problem, int solver);
compare_curve *comparison_curve(const comparison *c, int problem, int solver);

/* ---- compare_run.c: every solve in another process ---- */

/* False after one line on stderr: a file that cannot be read. */
bool comparison_probe(comparison *c);
void comparison_run(comparison *c);
/* converged, stalled, …, and what only a process can do: crashed, timeout, failed, cancelled. */
const char *compare_outcome(const compare_result *result);

/* Processor time of a point of a curve without measuring: as its share of the whole, of the time that the
 * solve took when nobody measured it. Where that was not solved, the time as it was. */
double compare_curve_time(const comparison *c, int problem, int solver, int point);

/* ---- compare_score.c ---- */

/* Time over that of the fastest solver at this problem, ∞ where unsolved. */
double compare_ratio(const comparison *c, int tolerance, int problem, int solver);

typedef struct compare_score {
    int solved, fastest;
    double mean_ratio; /* geometric, over the problems it solved; NaN of none */
} compare_score;

compare_score compare_solver_score(const comparison *c, int tolerance, int solver);

/* ---- compare_table.c, compare_files.c, compare_figures.c ---- */

void comparison_print(const comparison *c);
void comparison_to_json(const comparison *c, FILE *file);
/* Each false after one line on stderr. */
bool comparison_write(const comparison *c, const char *folder);
bool comparison_draw(const comparison *c, const char *folder);

#endif
