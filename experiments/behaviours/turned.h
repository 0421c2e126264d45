/* A world in axes of its own, which may be turned against those of the program: what holds in a scene holds
 * in the same scene turned. The first failure is remembered and makes all that follows do nothing;
 * turned_close tells it. */
#ifndef EXPERIMENTS_BEHAVIOURS_TURNED_H
#define EXPERIMENTS_BEHAVIOURS_TURNED_H

#include "experiments/reproduce.h"

#include <delassus/integrate.h>

/* What every figure is measured at: its step, half of it, and turned by a rotation drawn by chance. */
enum { VARIANTS = 3 };
typedef struct variant {
    const char *name;
    double share; /* of the step */
    bool turned;
} variant;
extern const variant variants[VARIANTS];

typedef struct turned {
    dls_world *world;
    dls_simulation *simulation;
    dls_step_report last;
    bool failed;
    dls_error error;
    double q[4]; /* of its axes */
    int dimension, uncertified;
    double depth;       /* deepest penetration so far */
    int64_t iterations; /* of all steps */
} turned;

typedef struct turned_def {
    int dimension;
    double gravity; /* against the last of its axes */
    dls_pair_def pair;
    double step, tolerance; /* tolerance 0: the solver's own */
    const char *scheme;     /* NULL: the preset */
    dls_restitution restitution;
} turned_def;

/* A world without friction and gravity, h = 1e-3, as it is by default. */
turned_def turned_default(int dimension);
/* The step of the variant is a share of the definition's. */
turned turned_open(const turned_def *def, const variant *v);
/* Pose, velocities and inertia in the world's own axes; forces by turned_pull. */
dls_body_id turned_add(turned *t, const dls_body_def *def);
/* One shape; x, q, v and w may be NULL. */
dls_body_id turned_add_shape(turned *t, dls_motion motion, const dls_shape_def *shape, const double *x,
                             const double *q, const double *v, const double *w);
/* The half-space or half-plane below the origin. */
dls_body_id turned_add_floor(turned *t);
dls_shape_def turned_ball(int dimension, double radius);
/* A force on a body, in the world's own axes. */
void turned_pull(const turned *t, dls_body_def *def, const double *force);
bool turned_start(turned *t, const turned_def *def, const variant *v);
bool turned_run(turned *t, int steps); /* false after a failure or an interrupt */
dls_body_state turned_state(const turned *t, dls_body_id id);
double turned_energy(const turned *t); /* kinetic and potential */
/* False after one line on stderr where something failed. */
bool turned_close(turned *t);

/* ---- vectors ---- */

double length_of(const double *v);
double distance_of(const double *a, const double *b);
/* The rotation by an angle about an axis of the three. */
void turn_about(int axis, double angle, double *q);
void turn_after(double *q, const double *second, const double *first); /* q may be either */

/* ---- the cases ---- */

bool show_within(experiment_run *run);     /* contacts move within a step */
bool show_impacts(experiment_run *run);    /* impacts that follow each other */
bool show_meetings(experiment_run *run);   /* what is met on the way, and what is not */
bool show_structures(experiment_run *run); /* what stands */

#endif
