/* `delassus reproduce`: experiments of papers, judged claim by claim.
 *
 * An experiment is one row of the table in list.c. Its run() computes, states claims, and writes
 * tables and figures where they are wanted; all the rest (terminal, JSON, files, verdicts, resuming) is
 * shared:
 *
 * claims.c   claims and how they are judged
 * list.c     the experiments and the papers
 * run.c      one run: its folder, tables, figures, and the result that is stored last
 * recall.c   results of earlier runs
 * case.c     simulations of an experiment, remembered one by one
 * shots.c    their pictures
 * report.c   a run for people and as JSON
 * check.c    whether stored verdicts hold on this machine */
#ifndef EXPERIMENTS_REPRODUCE_H
#define EXPERIMENTS_REPRODUCE_H

#include "cli/figure/figure.h"
#include "cli/support/json.h"
#include "cli/support/output_file.h"

#include <delassus/analysis.h>

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- claims -------------------------------------------------------------------------------------------- */

typedef enum claim_relation {
    CLAIM_EQUAL,          /* |ours − paper| ≤ tolerance */
    CLAIM_DECADES,        /* |log₁₀(ours/paper)| ≤ tolerance */
    CLAIM_AT_MOST,        /* ours ≤ paper */
    CLAIM_AT_LEAST,       /* ours ≥ paper */
    CLAIM_ORDER,          /* who comes before whom, as in the paper */
    CLAIM_NOT_COMPARABLE, /* seconds, and counts that depend on the implementation: shown beside an order */
} claim_relation;

typedef enum claim_verdict {
    VERDICT_PASS,
    VERDICT_FAIL,
    VERDICT_UNDECIDED, /* the interval over seeds is too wide to tell */
    VERDICT_NOT_COMPARABLE,
    VERDICT_COUNT
} claim_verdict;

/* Where the paper's side of a claim comes from. */
typedef enum claim_source {
    CLAIM_PRINTED, /* the paper has this number or statement */
    CLAIM_DERIVED, /* it follows from the paper's equations and data */
} claim_source;

/* Whose method the claim is about. */
typedef enum claim_method {
    METHOD_PAPERS, /* the paper's, as it prints it */
    METHOD_OURS,   /* our default solver, or a form of the paper's method that we made safe */
} claim_method;

/* The columns in which claims are counted apart. */
typedef enum claim_group {
    GROUP_PRINTED, /* the paper's method against what the paper prints */
    GROUP_DERIVED, /* the paper's method against what follows from its equations and data */
    GROUP_OURS,    /* ours against either */
    CLAIM_GROUPS
} claim_group;

typedef struct claim {
    char text[128];
    const char *unit; /* "1" for pure numbers */
    claim_relation relation;
    claim_source source;
    claim_method method;
    double paper, ours, tolerance;
    int seeds;                           /* that ours is the mean of; 0: one run */
    double half;                         /* of the interval of 95 % about it */
    char paper_order[96], our_order[96]; /* of CLAIM_ORDER: "a < b, 3.6 ×" */
    const char *reason;                  /* why numbers are not comparable, else NULL */
} claim;

/* A number that is not finite never passes. */
claim_verdict claim_judge(const claim *c);
const char *verdict_name(claim_verdict verdict);
const char *claim_relation_name(claim_relation relation);
const char *claim_source_name(claim_source source);

claim_group claim_group_of(const claim *c);

typedef struct claim_list {
    claim *items;
    int count;
    claim_method method; /* of those that are stated from now on */
} claim_list;

void claim_equal(claim_list *list, claim_source source, const char *unit, double paper, double ours,
                 double tolerance, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* CLAIM_AT_MOST or CLAIM_AT_LEAST. */
void claim_bound(claim_list *list, claim_source source, const char *unit, claim_relation relation,
                 double bound, double ours, const char *format, ...) __attribute__((format(printf, 7, 8)));

/* A number whose size tells, not its digits: equal to within so many powers of ten. */
void claim_decades(claim_list *list, claim_source source, const char *unit, double paper, double ours,
                   double decades, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* The same of a mean over seeds: equal within the tolerance, at most, or at least. A verdict is given where
 * all of the interval is on one side. */
void claim_seeds(claim_list *list, claim_source source, const char *unit, claim_relation relation,
                 double paper, double tolerance, const dls_interval *ours, const char *format, ...)
    __attribute__((format(printf, 8, 9)));

typedef struct contender {
    const char *name;
    double paper, ours;
} contender;

/* Numbers that cannot be compared one by one: each is shown with the reason, and one claim judges that
 * whoever is below another in the paper is below here. */
void claim_order(claim_list *list, const char *text, const char *unit, const char *reason,
                 const contender *contenders, int count);
/* The same over seeds, each[i] of contender i: whoever is next above another in the paper must be above here,
 * by the interval of the ratio's logarithm. */
void claim_order_seeds(claim_list *list, const char *text, const char *unit, const char *reason,
                       const contender *contenders, int count, const double *const *each, int seeds);

typedef struct verdict_counts {
    int of[VERDICT_COUNT];
    int passed[CLAIM_GROUPS], failed[CLAIM_GROUPS];
} verdict_counts;

verdict_counts claim_count(const claim_list *list);
/* pass unless a claim fails; a run without a judged claim has shown nothing and fails. */
claim_verdict verdict_overall(verdict_counts counts);
void claim_list_free(claim_list *list);

/* ---- experiments --------------------------------------------------------------------------------------- */

typedef struct experiment experiment;

typedef enum experiment_size { SIZE_REDUCED, SIZE_FULL } experiment_size;

const char *experiment_size_name(experiment_size size);

enum { EXPERIMENT_MOST_SEEDS = 20 };
enum { EXPERIMENT_NAME = 64, EXPERIMENT_FOLDER = PATH_MAX - 2 * EXPERIMENT_NAME };

typedef struct experiment_run {
    const experiment *experiment;
    experiment_size size;
    char folder[EXPERIMENT_FOLDER]; /* of this experiment, for tables and figures; "" where none are wanted */
    int seeds; /* for each chaotic figure, as asked for; 0: as many as the experiment has */
    claim_list claims;
    char (*files)[EXPERIMENT_NAME]; /* names in the folder */
    int file_count;
    double seconds;
} experiment_run;

struct experiment {
    const char *name; /* paper-section */
    const char *title;
    bool has_reduced;                 /* a smaller run stands in unless --full asks for the paper's size */
    bool has_full;                    /* the paper's size can be run */
    bool (*run)(experiment_run *run); /* false after one line on stderr, or when interrupted */
};

typedef struct experiment_source {
    const char *name, *authors, *title;
} experiment_source;

int experiment_count(void);
const experiment *experiment_at(int index);
const experiment *experiment_find(const char *name);
/* One line on stderr with the nearest names; returns the exit code. */
int experiment_refuse(const char *name);
const experiment_source *experiment_paper(const experiment *e);
bool experiment_is_paper(const char *name); /* "004" */
/* "" where there is no paper. */
const char *experiment_section(const experiment *e);

/* ---- one run ------------------------------------------------------------------------------------------- */

/* What an output folder remembers of an experiment. */
typedef struct experiment_record {
    bool done;
    char version[32], source[32]; /* the latter: digest of what the program was made of */
    verdict_counts counts;
    double modified; /* when its result was written, s */
} experiment_record;

/* Makes DIR. False after one line on stderr. */
bool experiment_output_make(const char *output);
/* DIR/NAME, and DIR/NAME-reduced for a run smaller than the paper's. */
void experiment_folder(const experiment *e, experiment_size size, const char *output,
                       char folder[EXPERIMENT_FOLDER]);
/* done = false where there is nothing, or what there is was not finished. */
experiment_record experiment_recall(const experiment *e, experiment_size size, const char *output);

/* Where to look for results: in the folder that was named, or in all of the current folder. */
typedef struct output_list {
    bool named;
    char (*names)[NAME_MAX + 1];
    int count;
} output_list;

output_list output_list_make(const char *output);
/* where: the folder that it was found in. */
experiment_record output_list_recall(const output_list *list, const experiment *e, experiment_size size,
                                     const char *output, const char **where);
void output_list_free(output_list *list);

/* Runs and, with an output folder, stores. False after one line on stderr or an interrupt. */
bool experiment_perform(experiment_run *run, const experiment *e, experiment_size size, int seeds,
                        const char *output);
void experiment_run_free(experiment_run *run);

/* A fixed selection in so many processes at once, its verdicts against those stored in folder; the exit code.
 */
int experiment_check(const char *folder, int parallel);

/* For run(): NAME.csv is open for writing in `out`; commit it with output_file_commit. */
bool run_table_open(experiment_run *run, const char *name, output_file *out);
bool run_figure(experiment_run *run, const figure *f, const char *name);
/* Remembers NAME.svg and NAME.png, drawn by other means than run_figure. */
void run_figure_add(experiment_run *run, const char *name);
/* Remembers a file of the folder that is there already. */
void run_file_add(experiment_run *run, const char *file);
/* DIR/NAME/FILE */
void run_path(const experiment_run *run, const char *name, char path[PATH_MAX]);

/* ---- telling ------------------------------------------------------------------------------------------- */

void experiment_print(const experiment_run *run);
/* Members of an object that the caller has opened: the experiment, its verdict, the whole run. */
void experiment_head_to_json(json *j, const experiment *e);
void verdict_to_json(json *j, verdict_counts counts);
void experiment_to_json(json *j, const experiment_run *run);
/* "24 pass, 1 fail" */
void verdict_counts_text(verdict_counts counts, char *text, size_t size);

/* ---- the experiments ----------------------------------------------------------------------------------- */

extern const experiment experiment_sphere_on_plane, experiment_filling, experiment_compaction,
    experiment_scaling;
extern const experiment experiment_smoothing, experiment_linearisation, experiment_polar_derivative;
extern const experiment experiment_newton_iterations, experiment_newton_drum, experiment_newton_delta,
    experiment_newton_relative, experiment_newton_density, experiment_shaken_cubes;
extern const experiment experiment_conveyor, experiment_fixed_drum, experiment_sedimentation,
    experiment_rotating_drum;
extern const experiment experiment_ball_on_table, experiment_four_balls, experiment_many_balls,
    experiment_descent_parameter;
extern const experiment experiment_bouncing_ball, experiment_ball_in_corner, experiment_ball_in_cylinder,
    experiment_painleve_rod, experiment_guided_hopper, experiment_tippe_top, experiment_alpha_orders;
extern const experiment experiment_behaviours, experiment_heap, experiment_mechanisms;

#endif
