/* `delassus converge`: one scene at h, h/2, h/4, …, at a tighter tolerance and with velocities disturbed by
 * as much as the tolerance lets through; what each recorded quantity tells of its error; and, where a scene
 * is chaotic, seeds at every step, so that means are compared.
 *
 * quantities.c  what is sampled of a simulation
 * series.c      one run and its samples, differences of two
 * judge.c       orders, errors, verdicts
 * statistics.c  seeds and intervals
 * files.c, table.c  what is told */
#ifndef CLI_CONVERGE_CONVERGE_H
#define CLI_CONVERGE_CONVERGE_H

#include "cli/support/arguments.h"

#include <delassus/analysis.h>
#include <delassus/run.h>

enum { CONVERGE_MOST_LEVELS = 6, CONVERGE_MOST_SEEDS = 100, CONVERGE_DISTURBED = 3, QUANTITY_NAME = 96 };

/* ---- quantities ---- */

typedef enum quantity_form {
    FORM_SCALAR,
    FORM_COUNT,  /* a whole number: means of seeds are compared, no order is asked for */
    FORM_VECTOR, /* differences by their length */
    FORM_TURN,   /* a quaternion: differences by their angle */
    FORM_FIELD,  /* a vector for each of many bodies: root of the mean square of lengths */
} quantity_form;

typedef struct quantity {
    char name[QUANTITY_NAME];
    const char *unit;
    quantity_form form;
    int offset, width; /* in a sample */
    bool numerical;    /* an error of the scheme itself, zero for h → 0: no mean of seeds */
} quantity;

typedef struct quantity_list {
    int count, width; /* width: numbers of a sample */
    quantity *items;
    int dimension, body_count, joint_count;
    dls_body_id *bodies; /* that move, by id */
    double *masses;
    double up[3];              /* against gravity; zeros without */
    bool by_body;              /* bodies are the same in all runs: none come or leave by gates */
    dls_joint_record *records; /* room for those of a step */
} quantity_list;

/* What a run has added up so far. */
typedef struct quantity_sums {
    double impulse, penetration, joint_gap;
} quantity_sums;

bool quantities_of(dls_scene *scene, quantity_list *list);
void quantities_free(quantity_list *list);
void quantities_add_step(const dls_simulation *simulation, const dls_step_report *report,
                         quantity_sums *sums);
void quantities_sample(const quantity_list *list, const dls_simulation *simulation,
                       const dls_step_report *report, const quantity_sums *sums, double *sample);

/* ---- runs ---- */

typedef struct series {
    int samples, width;
    double *values; /* sample by sample */
    int64_t steps, certified;
    double seconds; /* of processor time */
} series;

typedef struct convergence convergence;

/* One run of the scene at h/2^level. disturbed: speed by which each body's velocity is changed, in a
 * direction that follows from the seed; 0: not at all. */
typedef struct series_def {
    int level;
    double tolerance; /* ≤ 0: the scene's */
    double disturbed;
    int seed;
    const char *seed_key; /* of the scene, that is set to the seed; NULL: none */
} series_def;

/* False after one line on stderr or an interrupt. */
bool series_run(convergence *c, const series_def *def, series *s);
void series_free(series *s);
/* Between two runs at a sample; NaN where there is nothing to compare. */
double series_difference(const quantity *q, const series *a, const series *b, int sample);
/* Its mean over the samples that have one. */
double series_apart(const quantity *q, const series *a, const series *b);
/* The mean size of the quantity itself, and how far it ranges in a run. */
double series_size(const quantity *q, const series *s);
double series_range(const quantity *q, const series *s);
/* The mean of a scalar over the second half of a run. */
double series_late_mean(const quantity *q, const series *s);
/* Its value at the last sample; the length of vectors. */
double series_end(const quantity *q, const series *s);

/* ---- verdicts ---- */

typedef enum converge_verdict {
    CONVERGE_ORDER = 0, /* changes shrink with h by one order */
    CONVERGE_IRREGULAR, /* they shrink, by no steady order */
    CONVERGE_EXACT,     /* the step does not matter, to rounding */
    CONVERGE_TOLERANCE, /* the solver's tolerance matters as much as the step */
    CONVERGE_UNSETTLED, /* no order is seen at these steps */
    CONVERGE_CHAOTIC,   /* disturbances grow: single runs cannot be compared */
    CONVERGE_VERDICTS
} converge_verdict;

const char *converge_verdict_name(converge_verdict verdict);

typedef struct convergence_row {
    const quantity *of;
    double change[CONVERGE_MOST_LEVELS]; /* from each level to the next, mean over time */
    double order[CONVERGE_MOST_LEVELS];  /* of each two changes */
    double tolerance, disturbed;         /* changes by a tighter tolerance, by disturbances */
    double error;                        /* of the finest run, mean over time; NaN: not known */
    double end, end_error, limit;        /* at the last sample: value, its error, the value for h → 0 */
    converge_verdict verdict;
} convergence_row;

/* A scalar at one step: over seeds, and its difference to the finest step. */
typedef struct convergence_means {
    const quantity *of;
    double range;
    dls_interval at[CONVERGE_MOST_LEVELS], apart[CONVERGE_MOST_LEVELS];
    dls_decision decision[CONVERGE_MOST_LEVELS]; /* of the difference */
} convergence_means;

struct convergence {
    const char *path;
    int setting_count;
    const char **settings;
    int levels, seeds;
    double margin;        /* of means, a share of the range */
    const char *seed_key; /* NULL: seeds disturb velocities */
    bool quiet;
    /* from the scene */
    double step, until, tolerance, reference_velocity;
    int stride, samples; /* coarse steps between samples */
    quantity_list quantities;
    /* runs */
    series level[CONVERGE_MOST_LEVELS], tighter, disturbed[CONVERGE_DISTURBED];
    double disturbance;  /* m/s */
    double growth;       /* of disturbances: places apart over what free flight would give; NaN: no bodies */
    int runs_done, runs; /* for progress */
    double work_done, work;
    /* answers */
    int row_count;
    convergence_row *rows;
    bool chaotic;
    int mean_count;
    convergence_means *means; /* NULL: not asked for, or not needed */
};

/* Each false after one line on stderr or an interrupt. */
bool converge_open(convergence *c);
bool converge_run(convergence *c);
bool converge_run_seeds(convergence *c);
void converge_free(convergence *c);

/* Whether all that was asked for is answered: no row unsettled, chaotic ones compared by means that decide.
 */
bool converge_settled(const convergence *c);
void converge_print(const convergence *c);
void converge_to_json(const convergence *c, FILE *file);
bool converge_write(const convergence *c, const char *folder);
bool converge_draw(const convergence *c, const char *folder);

#endif
