/* A case: one simulation of an experiment, from a scene of scenes/papers and settings.
 *
 * Its history, a row per step, is a table of the experiment (FOLDER/case-NAME.csv) and at once what is
 * remembered of it: a run at the paper's size that was interrupted goes on with the first case that has no
 * whole table. */
#ifndef EXPERIMENTS_CASE_H
#define EXPERIMENTS_CASE_H

#include "experiments/reproduce.h"

#include <delassus/run.h>

/* Columns that every history has; those of the case follow. Where a row stands for several steps it has what
 * is said in brackets, and what the last of them has elsewhere. */
typedef enum case_column {
    CASE_T, /* s, at the end of the step */
    CASE_CONTACTS,
    CASE_ACTIVE,
    CASE_ITERATIONS,  /* of the step [sum] */
    CASE_CERTIFIED,   /* 1 or 0 [share] */
    CASE_RESIDUAL,    /* [largest] */
    CASE_ERROR,       /* max_error, m/s [largest] */
    CASE_HELD,        /* [largest] */
    CASE_PENETRATION, /* m [largest] */
    CASE_KINETIC,     /* J */
    CASE_POTENTIAL,   /* J */
    CASE_SECONDS,     /* of processor time, of the step [sum] */
    CASE_COLUMNS
} case_column;

enum { CASE_MOST_COLUMNS = 32 };

/* Pictures that are drawn of a case: NAME-1.png, NAME-2.png, … of the experiment's folder, with framing and
 * colours in common. Runs without a folder have none. */
typedef struct case_shots {
    const char *name; /* "figure_07"; NULL: none */
    const char *view; /* front, side, top or iso, of scenes in space */
    double interval;  /* s; the first after one of it, the last at the end */
} case_shots;

typedef struct case_def {
    const char *name;  /* "epdas-400" */
    const char *scene; /* of scenes/papers: "002-6.4" */
    int setting_count;
    const char *const *settings; /* "key=value", as for delassus run --set */
    int start_count;             /* bodies, by id, that start in other states than the scene's */
    const dls_body_state *start; /* those states */
    double most_seconds;         /* of processor time; the case ends there and is not finished. 0: no limit */
    int steps_per_row;           /* of the history; 0: 1 */
    case_shots shots;
    int column_count;           /* of its own */
    const char *const *columns; /* names */
    /* After every step: values gets the case's own columns, beginning with what the row has so far (zeros at
     * its first step). May be NULL where it has none. */
    void (*measure)(const dls_simulation *simulation, const dls_step_report *report, double *values,
                    void *user);
    void *user;
} case_def;

typedef struct case_history {
    bool finished;      /* up to the scene's end */
    int steps, columns; /* steps: rows */
    double *values;     /* row by row, all columns of a row side by side */
} case_history;

/* Runs, or recalls what has its table and its pictures. False after one line on stderr or an interrupt. */
bool case_run(experiment_run *run, const case_def *def, case_history *history);
void case_history_free(case_history *history);
/* The states of all bodies, by id, at the end of a scene: what other cases may start from. Nothing is
 * remembered; the caller frees. NULL after one line on stderr or an interrupt. */
dls_body_state *case_settle(const case_def *def, int *count);

/* Whether the next of sizes that grow by one factor would end within most_seconds (0: any time), after what
 * the last one and, if it was there, the one before it took. */
bool case_affords_next(const case_history *before, const case_history *last, double most_seconds);

double case_value(const case_history *history, int step, int column); /* NaN where there is no such row */
/* Over the rows with t0 < t ≤ t1. */
double case_sum(const case_history *history, int column, double t0, double t1);
double case_mean(const case_history *history, int column, double t0, double t1);
double case_largest(const case_history *history, int column, double t0, double t1);

/* ---- pictures (shots.c) -------------------------------------------------------------------------------- */

/* Where the run of the case records what is drawn; "" where nothing is. */
void case_shots_path(const experiment_run *run, const case_shots *shots, char path[PATH_MAX]);
/* Draws all frames but the start, then removes the results. False after one line on stderr. */
bool case_shots_draw(experiment_run *run, const case_shots *shots, const char *results);
/* Whether an earlier run of the folder has drawn them; they join the experiment's files. */
bool case_shots_recall(experiment_run *run, const case_shots *shots);

#endif
