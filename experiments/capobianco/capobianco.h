/* Paper 004: what its experiments share. Runs of the models, counts of iterations, tables and curves. */
#ifndef EXPERIMENTS_CAPOBIANCO_CAPOBIANCO_H
#define EXPERIMENTS_CAPOBIANCO_CAPOBIANCO_H

#include "experiments/capobianco/models.h"
#include "experiments/reproduce.h"

enum { ALPHA_FRICTION = 3 * BENCHMARK_CONTACTS };

/* The state after a step; row 0 is the start. */
typedef struct alpha_row {
    double t, q[BENCHMARK_COORDINATES], u[BENCHMARK_COORDINATES], a[BENCHMARK_COORDINATES];
    double gap[BENCHMARK_CONTACTS], force_n[BENCHMARK_CONTACTS], impact_n[BENCHMARK_CONTACTS];
    double percussion_n[BENCHMARK_CONTACTS];
    double force_g[BENCHMARK_CONSTRAINTS], force_t[ALPHA_FRICTION], impact_t[ALPHA_FRICTION],
        percussion_t[ALPHA_FRICTION];
    dls_alpha_report report;
} alpha_row;

typedef struct alpha_history {
    int steps;
    alpha_row *rows; /* steps + 1 */
} alpha_history;

/* False after one line on stderr or an interrupt. */
bool alpha_run(const benchmark *b, const char *name, alpha_history *h);
void alpha_history_free(alpha_history *h);
/* The row at time t, to half a step. */
const alpha_row *alpha_at(const alpha_history *h, double t);
/* The first row after t whose contact k has an impact, NULL where none has. */
const alpha_row *alpha_impact_after(const alpha_history *h, double t, int k);

typedef struct alpha_counts {
    double newton_most, newton_mean; /* of steps that Newton solved */
    double beyond_most, beyond_mean; /* updates after the first */
    double fixed_most, fixed_mean;   /* of those that the fixed point solved, the mean where it had to move */
    int fixed_steps, retried, halvings;
    double least_gap, largest_error, largest_residual, largest_condition;
    double violation[3]; /* largest, of positions, velocities and accelerations */
} alpha_counts;

alpha_counts alpha_count(const alpha_history *h, int contacts);

/* The paper's footnote: largest and mean number of Newton updates, beside ours. Where its Jacobian was by
 * differences it counts those after the first: `beyond`. */
void alpha_claim_counts(claim_list *c, const char *name, const alpha_counts *ours, bool beyond, double most,
                        double mean);
/* All steps solved, no gap below −10 TOL, nothing violated by more than that at any level. */
void alpha_claim_kept(claim_list *c, const char *name, const benchmark *b, const alpha_counts *ours);

/* NAME.csv: t, q, u, and what contacts do. */
bool alpha_table(experiment_run *run, const benchmark *b, const alpha_history *h, const char *name);

/* A benchmark as a scene, beside its model by callbacks. */
typedef struct alpha_twin {
    const char *name; /* of the case, and what is other than in the paper */
    const char *scene, *body;
    void (*fill)(benchmark *b);
    double rho;              /* ρ_∞; < 0: the paper's */
    double steps;            /* of the paper's dt */
    double until, most;      /* s; the largest difference allowed */
    const char *settings[2]; /* of the scene, for what `fill` has */
} alpha_twin;

/* A claim each: places and velocities of both agree at TOL = 1e-11 over the whole run. */
bool alpha_claim_twins(experiment_run *run, const alpha_twin *twins, int count);

/* One number of each row, for figures; the caller frees. */
double *alpha_curve(const alpha_history *h, double (*value)(const alpha_row *row));
double alpha_time(const alpha_row *row);

#endif
