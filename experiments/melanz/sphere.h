/* Paper 001, section 3.1: what the run and its figures share. */
#ifndef EXPERIMENTS_MELANZ_SPHERE_H
#define EXPERIMENTS_MELANZ_SPHERE_H

#include "experiments/reproduce.h"

enum { SPHERE_STEPS = 60 };

/* Data of the paper: a sphere of unit mass and radius slides on a plane, SI units. */
static const double sphere_mu = 0.2, sphere_v0 = 2, sphere_h = 0.01, sphere_g = 9.81;

/* The contact problem u = N γ + r of one step, normal before tangential. */
typedef struct sphere_contact {
    double N[4]; /* column-major */
    double r[2];
} sphere_contact;

/* Step l ends at l h; index 0 of a history is the start. */
typedef struct sphere_step {
    double q[3], v[3]; /* x, y, angle at the end of the step */
    double gamma[2];   /* impulse of the step */
    double u[2];       /* N γ + r: the normal part includes gap/h */
    double residual;   /* of the solver's own problem: relaxed, or the true one */
    int iterations;
} sphere_step;

typedef struct sphere_history {
    sphere_contact first; /* the problem of the first step */
    sphere_step step[SPHERE_STEPS + 1];
} sphere_history;

typedef struct sphere_results {
    sphere_history relaxed, anti_relaxed;
} sphere_results;

/* Where the contact acts: on the sphere, as in the paper, or in the middle of the gap, as in the simulator.
 */
typedef enum sphere_point { SPHERE_SURFACE, SPHERE_MIDDLE } sphere_point;

/* The scheme written out, each step solved to rounding. False after one line on stderr. */
bool sphere_write_out(sphere_history *history, bool relaxed, sphere_point point);

/* Velocity of the closed form: sliding under constant friction up to 2 v₀/(7 μ g), then rolling. */
void sphere_closed_form(double time, double v[3]);

/* The objective of (14); with lift = α of (15) the anti-relaxed one. */
double sphere_objective(const sphere_contact *c, double lift, const double *gamma);

/* The step with the largest gap, and the first that ends without slip. */
int sphere_highest_step(const sphere_history *h);
int sphere_rolling_step(const sphere_history *h);

/* The same through the simulator, with claims of its own. False after one line on stderr or an interrupt. */
bool sphere_simulate(experiment_run *run);

/* Figs. 2 to 6 and 12 to 19. False after one line on stderr. */
bool sphere_draw(experiment_run *run, const sphere_results *results);

#endif
