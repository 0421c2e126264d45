/* Analysis inside: a frame as measures see it, regions, robust lines, and how measures say what they found.
 */
#ifndef ANALYSIS_ANALYSIS_H
#define ANALYSIS_ANALYSIS_H

#include "world/shape/shape.h"

#include <delassus/analysis.h>

/* ---- a frame ---- */

/* A contact as a force and a torque on B, and their opposites on A. */
typedef struct dls_contact_force {
    dls_body_id a, b;
    double point[3], normal[3];
    double shift[3];  /* B stands moved by it */
    double force[3];  /* N, world axes, with the attraction of cohesive contacts */
    double torque[3]; /* N m, world axes: friction against turning */
    double normal_force;
    double gap;
    bool loaded;
} dls_contact_force;

typedef struct dls_snapshot {
    /* of the run */
    int dimension;
    double gravity[3], period_low[3], period_size[3];
    int body_count;
    dls_motion *motion;
    double *mass, *volume, *radius; /* radius: of the ball of that volume, of the disc in the plane */
    int shape_count;
    dls_shape *shapes; /* those with volume */
    int *shape_start;  /* body_count + 1 */
    bool sticks;       /* some pair of materials does */
    /* of the frame */
    int frame;
    double time, h; /* h: of the step that ended in it, 0 where none did */
    dls_body_state *states;
    bool *present;
    dls_pose *poses; /* where bodies stood when contacts were found */
    bool has_contacts;
    int contact_count, contact_room;
    dls_contact_force *contacts;
    bool *is_loaded; /* bodies with a loaded contact; all that are present where contacts are not known */
} dls_snapshot;

/* Marks loaded contacts and bodies: a normal force above floor times the mean of the positive ones. */
void dls_snapshot_mark(dls_snapshot *snapshot, double floor);

static inline bool dls_snapshot_moves(const dls_snapshot *s, dls_body_id id) {
    return s->present[id] && s->motion[id] == DLS_DYNAMIC;
}

/* ---- shapes ---- */

/* Farthest point of a body with volume along direction; its centre where it has no such shape. */
void dls_body_support(const dls_snapshot *snapshot, dls_body_id id, const double *direction, double *point);

/* ---- regions: convex, in the plane an area ---- */

typedef struct dls_analysis_region {
    int dimension, plane_count;
    double *normal, *offset; /* inside: normal · x ≤ offset */
    double volume;
    double period_low[3], period_size[3];
    bool holds_loaded; /* every loaded body by construction */
} dls_analysis_region;

dls_status dls_analysis_region_create(const dls_snapshot *snapshot, const dls_analysis_options *options,
                                      dls_analysis_region *region, dls_error *error);
void dls_analysis_region_release(dls_analysis_region *region);
bool dls_analysis_region_has(const dls_analysis_region *region, const double *point);
/* Share of the body's volume that lies inside. */
double dls_analysis_region_share(const dls_analysis_region *region, const dls_snapshot *snapshot,
                                 dls_body_id id);

/* ---- measures of one frame ---- */

void dls_container_force(const dls_snapshot *snapshot, dls_body_id id, double *force, double *torque);

typedef struct dls_coordination {
    int bodies, floating, single; /* moving ones, those without and with one loaded neighbour */
    double mean, mechanical;      /* neighbours per body; without floating and single ones */
    int pairs, wall_pairs;
    int histogram[16]; /* bodies by neighbours, the last for all beyond */
} dls_coordination;

dls_status dls_coordination_measure(const dls_snapshot *snapshot, dls_coordination *result, dls_error *error);
/* Column-major 3 × 3; returns the number of contacts. */
int dls_fabric_measure(const dls_snapshot *snapshot, const dls_analysis_region *region, double *fabric);
dls_status dls_stress_measure(const dls_snapshot *snapshot, const dls_analysis_region *region, double *stress,
                              dls_error *error);
double dls_fraction_measure(const dls_snapshot *snapshot, const dls_analysis_region *region);
/* Eigenvalues of the symmetric part of the leading block, falling, and the first one's direction. */
void dls_tensor_principal(int dimension, const double *tensor, double *values, double *direction);

/* ---- lines ---- */

typedef struct dls_fitted_line {
    double slope, intercept;   /* y = intercept + slope x */
    double slope_error, scale; /* standard uncertainty of the slope; spread of y about the line */
} dls_fitted_line;

/* Least squares. Fails with fewer than 5 points or all at one x. */
dls_status dls_line_fit(int count, const double *x, const double *y, dls_fitted_line *line, dls_error *error);

/* β of P(f) ∝ exp(−β f) for f above 1, its standard uncertainty, and the largest distance between the
 * distribution functions; NaN with fewer than 10 of them. Values are sorted. */
void dls_tail_fit(int count, double *f, double *beta, double *beta_error, double *distance);

/* ---- results ---- */

typedef struct dls_analysis_rows {
    const char *name;
    int column_count;
    const char *const *columns, *const *units;
    int64_t count, room; /* rows, and numbers that there is room for */
    double *values;
} dls_analysis_rows;

enum { DLS_MOST_TABLES = 4 };

struct dls_analysis {
    dls_analysis_fact *facts;
    int fact_count;
    int64_t fact_room;
    dls_analysis_rows tables[DLS_MOST_TABLES];
    int table_count;
    bool is_out_of_memory;
};

/* One measure at work. */
typedef struct dls_analysis_work {
    dls_results *results;
    dls_analysis_options options; /* with frames and axis resolved */
    dls_snapshot snapshot;
    double up[3], along[3], across[3]; /* −g/|g|; the chosen level axis; up × along */
    int axis;                          /* of profiles: 0 … 2 */
    dls_analysis *out;
} dls_analysis_work;

typedef dls_status (*dls_measure_function)(dls_analysis_work *work, dls_error *error);
typedef dls_status (*dls_frame_function)(dls_analysis_work *work, void *user, dls_error *error);

/* Calls for every frame of the range; stepped: only those that a step ended in. Fails where there is none. */
dls_status dls_analysis_frames(dls_analysis_work *work, bool stepped, dls_frame_function call, void *user,
                               dls_error *error);
/* Steps of the range of frames: first index and count. */
void dls_analysis_steps(const dls_analysis_work *work, int64_t *first, int64_t *count);

/* Memory that runs out is told at the end. */
int dls_analysis_add_table(dls_analysis *out, const char *name, int columns, const char *const *names,
                           const char *const *units);
void dls_analysis_add_row(dls_analysis *out, int table, const double *values);
void dls_analysis_add_fact(dls_analysis *out, const char *name, const char *unit, double value, double spread,
                           const char *meaning);
/* Mean and standard deviation of a column, NaN left out. */
void dls_analysis_add_mean(dls_analysis *out, const char *name, int table, int column, const char *meaning);

dls_status dls_measure_container(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_coordination(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_fraction(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_fabric(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_stress(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_forces(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_repose(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_cone(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_height(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_pressure(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_flow(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_profile(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_energy(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_penetration(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_complementarity(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_joints(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_solids(dls_analysis_work *work, dls_error *error);
dls_status dls_measure_supports(dls_analysis_work *work, dls_error *error);
/* By its name, else by its number. */
dls_status dls_analysis_find_joint(const dls_results *results, const char *name, dls_joint_id *id,
                                   dls_error *error);

/* ---- snapshots of a file (analysis_snapshot.c) ---- */

dls_status dls_snapshot_open(const dls_results *results, dls_snapshot *snapshot, dls_error *error);
dls_status dls_snapshot_load(dls_results *results, int frame, double floor, dls_snapshot *snapshot,
                             dls_error *error);
void dls_snapshot_release(dls_snapshot *snapshot);

#endif
