/* What a run tells: forces on containers, contacts, packing, stress, surfaces, motion, energy, joints.
 *
 * A measure takes a results file and gives facts (one number each, with its spread) and tables (a row per
 * frame, layer, class or step). docs/analysis.md states the formulas. */
#ifndef DELASSUS_ANALYSIS_H
#define DELASSUS_ANALYSIS_H

#include <delassus/output.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a measure cannot do without. */
typedef enum dls_analysis_need {
    DLS_NEEDS_CONTACTS = 1, /* recorded with the frames */
    DLS_NEEDS_SPACE = 2,    /* a spatial run */
    DLS_NEEDS_GRAVITY = 4,  /* it says what is up */
    DLS_NEEDS_STEPS = 8,    /* the history of steps */
    DLS_NEEDS_HEAP = 16,    /* a heap about an upright axis: only who asks knows that there is one */
    DLS_NEEDS_PLANE = 32,   /* among the options */
    DLS_NEEDS_JOINTS = 64,  /* of the run */
    DLS_NEEDS_ASKING = 128  /* nothing tells runs of which it makes sense from others: by name only */
} dls_analysis_need;

typedef struct dls_analysis_measure {
    const char *name, *summary; /* one line */
    const char *unit;           /* of its first fact in space; "1" for pure numbers */
    unsigned needs;             /* sum of dls_analysis_need */
} dls_analysis_measure;

DLS_API int dls_analysis_measure_count(void);
DLS_API const dls_analysis_measure *dls_analysis_measure_at(int index); /* NULL beyond the last */

typedef enum dls_analysis_axis { DLS_AXIS_AUTO = 0, DLS_AXIS_X, DLS_AXIS_Y, DLS_AXIS_Z } dls_analysis_axis;

typedef struct dls_analysis_options {
    int first_frame, last_frame; /* last −1: the last one there is */
    dls_analysis_axis axis;      /* of profiles (auto: up) and of slopes (auto: the first level one) */
    bool has_region;             /* else a hull of the loaded bodies, or a box along periods */
    double region_low[3], region_high[3]; /* a box; z is ignored in the plane */
    double floor;   /* contacts with a normal force below this share of the mean bear no load */
    int layers;     /* of a profile; 0: as thick as a mean body */
    bool has_plane; /* that flow is measured through */
    double plane_point[3],
        plane_normal[3]; /* forward is along the normal, of any length; z is ignored in the plane */
    const char *joint;   /* its name, or its number, which is measured alone; NULL: all */
} dls_analysis_options;

DLS_API dls_analysis_options dls_default_analysis_options(void);

typedef struct dls_analysis dls_analysis;

/* What the run or the options lack for that measure, as one line; DLS_OK where nothing is missing. */
DLS_API dls_status dls_analysis_check(const dls_results *results, const char *measure,
                                      const dls_analysis_options *options, dls_error *error);
/* options may be NULL for the defaults. */
DLS_API dls_status dls_analysis_create(dls_results *results, const char *measure,
                                       const dls_analysis_options *options, dls_analysis **analysis,
                                       dls_error *error);
DLS_API void dls_analysis_destroy(dls_analysis *analysis);

typedef struct dls_analysis_fact {
    char name[64];
    const char *unit, *meaning;
    double value;
    double spread; /* standard deviation over the frames, or standard uncertainty of a fit; NaN for none */
} dls_analysis_fact;

/* Numbers that do not exist are NaN. */
typedef struct dls_analysis_table {
    const char *name;
    int column_count;
    const char *const *columns, *const *units;
    int64_t row_count;
    const double *values; /* row by row */
} dls_analysis_table;

/* Where there is none of that index, a fact is NaN and a table has no rows, both without a name. */
DLS_API int dls_analysis_fact_count(const dls_analysis *analysis);
DLS_API dls_analysis_fact dls_analysis_fact_at(const dls_analysis *analysis, int index);
DLS_API int dls_analysis_table_count(const dls_analysis *analysis);
DLS_API dls_analysis_table dls_analysis_table_at(const dls_analysis *analysis, int index);

/* ---- the slope of a bed ---- */

typedef struct dls_slope {
    double angle;     /* deg, positive where the surface rises along the axis */
    double error;     /* deg, standard uncertainty of the fit */
    int places;       /* that the line goes through */
    double roughness; /* m, spread of the surface about it */
} dls_slope;

/* The angle of repose of balls (discs in the plane), as the measure `repose` has it: for programs that hold
 * bodies and no results. places: three numbers for each; up and along need not be of length 1, nor
 * orthogonal. */
DLS_API dls_status dls_slope_measure(int dimension, int count, const double *places, const double *radii,
                                     const double *up, const double *along, dls_slope *slope,
                                     dls_error *error);
/* That of a heap in space about an upright axis, as the measure `cone` has it, positive where the heap falls
 * outward. */
DLS_API dls_status dls_cone_measure(int count, const double *places, const double *radii, const double *up,
                                    dls_slope *slope, dls_error *error);

/* ---- what several runs tell ----
 *
 * A run at h, h/2, h/4 tells the error of its step, runs of several seeds the spread of what chance decides.
 */

typedef struct dls_refinement {
    double order; /* p, observed at the two finest changes: log(Δ₁/Δ₂)/log(factor); NaN where one is zero */
    /* Changes shrink by one order between 1/2 and 2, to 1/4 at every refinement. Where they shrink otherwise
     * (impacts fall anywhere within a step), the order is chance. */
    bool steady;
    /* Of the finest value: Δ/(factor^p − 1) where steady; else as much as any change promises at first order;
     * NaN where p < 1/2: no estimate. */
    double error;
} dls_refinement;

/* Of a quantity that changes by changes[k] ≥ 0 from each of count + 1 step lengths to the next, each a factor
 * > 1 shorter than the one before, count ≥ 2 (Richardson). */
DLS_API dls_refinement dls_refinement_observe(double factor, int count, const double *changes);

/* A mean with its uncertainty, from independent values. */
typedef struct dls_interval {
    int count;
    double mean, deviation; /* deviation: of one value, with count − 1 */
    double half;            /* the mean is known to ± half, 95 % (Student); infinite for one value */
    double freedoms;        /* of Student's distribution */
} dls_interval;

DLS_API dls_interval dls_interval_of(int count, const double *values);
/* Of the difference a − b of two means (Welch). */
DLS_API dls_interval dls_interval_difference(const dls_interval *a, const dls_interval *b);
/* The quantile of Student's distribution that leaves (1 − confidence)/2 on either side. NaN for a confidence
 * outside (0, 1) or freedoms < 1. */
DLS_API double dls_student_quantile(double freedoms, double confidence);

typedef enum dls_decision { DLS_WITHIN = 0, DLS_BEYOND, DLS_UNDECIDED } dls_decision;

/* Whether a value is known to lie within margin of the expected one: all of mean ± half does, none of it
 * does, or the interval is too wide to tell. */
DLS_API dls_decision dls_interval_decide(const dls_interval *interval, double expected, double margin);

#ifdef __cplusplus
}
#endif
#endif
