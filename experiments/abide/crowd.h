/* Paper 002, sections 6.3 and 6.4: hundreds of balls, by every method. What both share: cases by method and
 * number of balls, the tables of sweeps and of seconds, cumulative curves. */
#ifndef EXPERIMENTS_ABIDE_CROWD_H
#define EXPERIMENTS_ABIDE_CROWD_H

#include "experiments/abide/abide.h"

enum { CROWD_SIZES = 5, CROWD_REDUCED_SIZES = 2, CROWD_ROW = 20 /* steps in a row of a history */ };

extern const int crowd_sizes[CROWD_SIZES]; /* 100, 200, 400, 800, 1600 */

/* Columns of a history behind the shared ones; those of the experiment follow. */
enum { CROWD_SOLVER_TIME, CROWD_MOST_SWEEPS, CROWD_OWN };

typedef struct crowd_def {
    const char *scene;
    abide_parameters parameters; /* of the paper's methods */
    double reduced_until;        /* s, of a reduced run */
    /* The paper's tables by method and size; NAN where it calls the result invalid. */
    int sweeps_table, seconds_table;
    double sweeps[ABIDE_METHODS][CROWD_SIZES], seconds[ABIDE_METHODS][CROWD_SIZES];
    int sweeps_figure, seconds_figure;
    int shot_figure;  /* the balls over time, of some sizes */
    int shots;        /* of a run */
    int column_count; /* of the experiment */
    const char *const *columns;
    void (*measure)(const dls_simulation *simulation, const dls_step_report *report, double *values);
    void (*set)(abide_settings *s, int balls); /* settings of a size, before those of a method */
    void (*set_start)(abide_settings *s);      /* of the run in which balls settle; NULL: none does */
    void (*set_run)(abide_settings *s);        /* of the runs from settled balls; NULL: none */
} crowd_def;

/* What one run has beside its size and method; zeros: the scene's own. */
typedef struct crowd_variant {
    int seed;
    double filling; /* of 002-6.4: the solid share of the drum */
} crowd_variant;

typedef struct crowd {
    const crowd_def *def;
    int sizes;                                 /* that are run */
    bool has[ABIDE_EVERY][CROWD_SIZES];        /* a history, finished or not */
    case_history of[ABIDE_EVERY][CROWD_SIZES]; /* by method and size, of the first seed */
    int seeds[CROWD_SIZES];                    /* that the paper's methods were run with */
    abide_costs sweeps[CROWD_SIZES], seconds[CROWD_SIZES];
} crowd;

/* All methods and sizes; a method that did not finish a size within most_seconds, or by its growth so far
 * will not finish the next, is not asked for larger ones. The paper's methods run with several seeds where
 * one takes all of them together no more than some minutes. False after one line on stderr or an interrupt.
 */
bool crowd_run(experiment_run *run, const crowd_def *def, double most_seconds, crowd *c);
void crowd_free(crowd *c);
/* The default solver alone, for as long as the scene has it, whatever the size of the run. */
bool crowd_run_alone(experiment_run *run, const crowd_def *def, int balls, const crowd_variant *variant,
                     case_history *h);

/* Orders of sweeps and of seconds for every size that all methods finished, and growth with the size: pairs
 * of neighbours, over the seeds. */
void crowd_claims(experiment_run *run, const crowd *c);
/* The two tables as one file, and the cumulative curves of the smallest and of larger sizes. */
bool crowd_write(experiment_run *run, const crowd *c);

#endif
