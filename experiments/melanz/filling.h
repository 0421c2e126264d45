/* Paper 001, sections 3.2 to 3.4: spheres fall into a container, or are compacted in it, by the relaxed and
 * by the anti-relaxed method, and by the default solver beside them. */
#ifndef EXPERIMENTS_MELANZ_FILLING_H
#define EXPERIMENTS_MELANZ_FILLING_H

#include "experiments/case.h"

typedef enum filling_method {
    FILLING_RELAXED,      /* accelerated projected gradient on (14) */
    FILLING_ANTI_RELAXED, /* and on (15) */
    FILLING_DEFAULT,      /* ours */
    FILLING_METHODS
} filling_method;

extern const char *const filling_names[FILLING_METHODS];

/* Columns of a history behind the shared ones. */
enum {
    FILLING_FORCE = CASE_COLUMNS, /* of the spheres on the container, downwards, N */
    FILLING_COMPLEMENTARITY,      /* (8): largest |γ_n (Φ/h + u_n)| of a contact, J */
    FILLING_SPEED,                /* of the fastest body, m/s */
    FILLING_COLUMNS = FILLING_SPEED + 1 - CASE_COLUMNS
};

/* Spheres of the lattice along each axis. */
typedef struct filling_size {
    int nx, ny, layers;
} filling_size;

int filling_count(filling_size size);

/* One scene, size and seed by every method. */
typedef struct filling_runs {
    const char *scene;
    filling_size size;
    int seed;
    bool slab;
    double until;                  /* s; 0: as the scene has it */
    char picture[EXPERIMENT_NAME]; /* name of its snapshots; "": none */
    double shot_interval;          /* s */
    double weight;                 /* of all that rests on the container, N */
    case_history history[FILLING_METHODS];
} filling_runs;

/* Of processor time that a method has for one run, s; 0: as long as it takes. */
double filling_limit(const experiment_run *run, filling_method method);
filling_runs filling_begin(const char *scene, filling_size size, bool slab, int seed);
/* At the paper's size a method of the paper has twenty minutes; one that needs more is not finished. False
 * after one line on stderr or an interrupt. */
bool filling_run(experiment_run *run, filling_runs *runs, filling_method method);
void filling_free(filling_runs *runs);

double filling_end(const case_history *h);
/* The time from which on the force, as its mean over a tenth of a second, stays within a twentieth of the
 * weight; infinite where it does not. */
double filling_settled(const case_history *h, double weight);
/* Median of |force − weight| in parts of the weight over the last `span` seconds: what is there all the time,
 * not single impacts. */
double filling_noise(const case_history *h, double weight, double span);
/* One row for each case: how far it came, what it cost, what it shows. */
bool filling_table(experiment_run *run, const filling_runs *runs, int count);

/* Files NAME-force, NAME-complementarity, NAME-iterations, NAME-speed. False after one line on stderr. */
bool filling_draw(experiment_run *run, const filling_runs *runs, const char *name);

/* ---- the experiments ----------------------------------------------------------------------------------- */

enum { CONTAINER_SIZES = 8, SCALING_SIZES = 16 };

typedef struct container_text {
    const char *scene, *name; /* of the scene; of figures */
    bool slab;
    const filling_size *paper,
        *smaller; /* the paper's sizes, and what stands in where a method is too slow */
    int paper_count, smaller_count;
    filling_size reduced;
    int seeds, full_seeds; /* of the reduced size, of the others; unless it is said how many */
    double until;          /* end of the reduced size, s; 0: as the paper's */
    int figure;            /* that shows the run over time */
    double shot_interval;  /* s, between its pictures */
} container_text;

/* The paper's sizes; where at none of them both of its methods came to the end, smaller ones until they do.
 */
bool container_run(experiment_run *run, const container_text *text);

/* Sizes from the smallest on; a method that did not come to the end of one is not asked for larger ones. */
bool scaling_run(experiment_run *run, const filling_size *sizes, int count);

#endif
