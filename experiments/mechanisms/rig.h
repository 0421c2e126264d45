/* A world with a mechanism in it and the simulation of it, in few words. The first failure is remembered and
 * makes all that follows do nothing; rig_close tells it. */
#ifndef EXPERIMENTS_MECHANISMS_RIG_H
#define EXPERIMENTS_MECHANISMS_RIG_H

#include "experiments/reproduce.h"

#include <delassus/integrate.h>

enum { RIG_SCHEMES = 4 };

typedef struct rig_scheme {
    const char *name, *label;
    double theta, order; /* the order that smooth motions must have */
} rig_scheme;

extern const rig_scheme rig_schemes[RIG_SCHEMES]; /* Moreau–Jean first */

typedef struct rig {
    dls_world *world;
    dls_simulation *simulation;
    dls_step_report last;
    bool failed;
    dls_error error;
    double gap;               /* largest of the joints so far, m or rad */
    double books, turnover;   /* largest |unaccounted|, and of what moves between the kinds of energy, J */
    double potential;         /* at the first step */
    int uncertified;          /* steps so far */
    int most_iterations;      /* of a step */
    int64_t iterations;       /* of all */
    double seconds, residual; /* of all steps; the largest */
} rig;

/* gravity: three numbers. */
rig rig_open(int dimension, const double *gravity);
/* tolerance 0: the solver's own. */
void rig_start(rig *r, const rig_scheme *scheme, double h, double tolerance);
bool rig_step(rig *r); /* false after a failure or an interrupt */
bool rig_run(rig *r, int steps);
/* False after one line on stderr where something failed. */
bool rig_close(rig *r);

/* A uniform rod from p to q, three numbers each; its axis x lies along it, its z is the world's where it can
 * be. In space a tenth of its moment is about its own axis. */
dls_body_id rig_add_rod(rig *r, double mass, const double *p, const double *q);
/* A body with moments of inertia about the world's axes. */
dls_body_id rig_add_mass(rig *r, double mass, const double *inertia, const double *x);
dls_body_id rig_add(rig *r, const dls_body_def *def);
dls_material_id rig_add_material(rig *r, double mu, double e_n, double e_t);
void rig_set_speed(rig *r, dls_body_id id, const double *v, const double *w);
dls_body_state rig_state(const rig *r, dls_body_id id);

/* Both frames at a point as bodies stand; axis and second as in dls_joint_place. rig_join places and adds. */
void rig_place(rig *r, dls_joint_def *def, const double *point, const double *axis, const double *second);
dls_joint_id rig_add_joint(rig *r, const dls_joint_def *def);
dls_joint_id rig_join(rig *r, dls_joint_def *def, const double *point, const double *axis,
                      const double *second);
/* A joint of a kind without anything else. */
dls_joint_id rig_join_plain(rig *r, dls_joint_kind kind, dls_body_id a, dls_body_id b, const double *point,
                            const double *axis);
dls_joint_state rig_joint(const rig *r, dls_joint_id id);
/* What the joint did in the last step; zeros where it did not act. */
dls_joint_record rig_record(const rig *r, dls_joint_id id);
dls_function *rig_constant(rig *r, double value);

double rig_angle(const dls_body_state *state); /* about z, within half a turn */

/* ---- claims of ours ---- */

/* log₂ of the errors at h and h/2. */
void rig_claim_order(experiment_run *run, const char *what, const rig_scheme *scheme, double coarse,
                     double fine);
/* Unaccounted energy over all that was turned over. */
void rig_claim_books(experiment_run *run, const char *what, const rig *r);

/* ---- motions ---- */

/* ẏ = f(y, t) */
typedef void (*rig_ode)(const double *y, double t, double *rate, const void *user);
/* Runge and Kutta's steps of fourth order from 0 to t; y has 16 numbers at most. */
void rig_integrate(rig_ode f, const void *user, int count, double *y, double t0, double t1, int steps);
/* x of A x = b, n ≤ 8, row by row; A and b are spoilt. */
void rig_solve(int n, double *A, double *b);

#endif
