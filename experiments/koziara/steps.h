/* A world run with one solver to g(R) < 1e-8, counted as paper 000 counts, and the drum of section 8.1. */
#ifndef EXPERIMENTS_KOZIARA_STEPS_H
#define EXPERIMENTS_KOZIARA_STEPS_H

#include <delassus/delassus.h>

typedef enum newton_method {
    NEWTON,      /* δ = ε = 1e-3, m = 5: Table 2 */
    SWEEPS,      /* plain Gauss–Seidel in the order of contacts */
    DEFAULTS,    /* δ = 0, ε = 0.25, m = 10: Table 1 */
    ACCELERATED, /* our sweeps */
    AUTO,        /* our default */
    NEWTON_METHODS
} newton_method;

extern const char *const newton_method_names[NEWTON_METHODS];

typedef struct step_counts {
    double seconds; /* of processor time */
    double wall_seconds, solver_seconds, contacts;
    int64_t iterations; /* of steps that converged with some */
    int steps, counted, diverged, certified;
    double penetration; /* m, largest */
    dls_energy energy;  /* at the end */
} step_counts;

/* Iterations per step that converged with some; NaN where there is none. */
double counts_per_step(const step_counts *c);
/* Solver's share of the time. */
double counts_ratio(const step_counts *c);
/* Newton as the paper prints it, at most so many steps of it, and as many sweeps behind. */
dls_pqn_options paper_newton(int limit);

typedef struct step_plan {
    double h, until;
    int limit; /* iterations: a step that reaches it has diverged */
    newton_method method;
    const dls_pqn_options *newton; /* instead of the method's; NULL: that */
    /* after every step; may be NULL */
    void (*look)(const dls_world *world, const dls_step_report *report, void *user);
    void *user;
} step_plan;

/* Takes the world. An interrupt ends it early. */
dls_status count_steps(dls_world *world, const step_plan *plan, step_counts *c, dls_error *error);

/* ---- the drum ---- */

extern const double drum_step; /* s */

typedef struct drum_def {
    bool spheres, soft;
    int count;
    double density;
} drum_def;

dls_status drum_create(const drum_def *def, dls_world **world, dls_error *error);

#endif
