/* Paper 003: what its experiments share. The four methods, simulations with them, and Gauss–Seidel as the
 * paper prints it on one step's contact problem, with the four parts of its error (37) after every sweep. */
#ifndef EXPERIMENTS_DUMONT_DUMONT_H
#define EXPERIMENTS_DUMONT_DUMONT_H

#include "experiments/case.h"

#include <delassus/law.h>

/* ---- methods ------------------------------------------------------------------------------------------- */

enum { DUMONT_SBP, DUMONT_SAL, DUMONT_EBP, DUMONT_EAL, DUMONT_METHODS };

typedef struct dumont_method {
    const char *name, *law;
    bool enhanced; /* Newton in every visit, else one projection */
    double alpha;  /* of ρ = α ρ̄, where the paper found it best */
    bool bare;     /* Newton's method in sweeps without the safeguard that the laws have */
    /* Of these, formulas of the paper to the letter where they differ from the derivation. EBP in the plane:
     * 1 − θ_rθ_v in ∂Z/∂v_t, where the derivative of Z has a plus. EAL: radius μ r_n, not μ τ_n. */
    bool printed;
} dumont_method;

extern const dumont_method dumont_methods[DUMONT_METHODS];

/* ---- simulations --------------------------------------------------------------------------------------- */

typedef enum dumont_column {
    DUMONT_CPU = CASE_COLUMNS, /* s of processor time, of the step */
    DUMONT_EPS,                /* ε_glob at the step's end, with u = W r + b */
    DUMONT_PENETRATION,        /* largest −u_n, m/s */
    DUMONT_X,                  /* of the body called "ball", NaN where there is none: m */
    DUMONT_V,                  /* m/s */
    DUMONT_OMEGA,              /* rad/s */
    DUMONT_RN,                 /* impulse of the first contact, N s */
    DUMONT_RT,
    DUMONT_COLUMNS
} dumont_column;

typedef struct dumont_setup {
    const char *scene;           /* of scenes/papers */
    const dumont_method *method; /* NULL: the default solver of the scene */
    double rho_scale;            /* of that method, in 1/λmax(W_cc) */
    double tolerance;            /* of ε_glob */
    int max_sweeps, check_interval;
    int kept_step; /* the contact problem of this step is wanted; 0: none */
    int extra_count;
    const char *const *extra; /* settings of the scene besides */
    double most_seconds;
} dumont_setup;

typedef struct dumont_result {
    case_history history;
    dls_problem *kept;
} dumont_result;

/* Runs or recalls the case NAME with its kept problem, in FOLDER/problem-NAME.hdf5. False after one line on
 * stderr or an interrupt. */
bool dumont_simulate(experiment_run *run, const dumont_setup *setup, const char *name, dumont_result *result);
void dumont_result_free(dumont_result *result);
/* In the last step. */
double dumont_last(const case_history *history, int column);

/* ---- Newton's method as printed -------------------------------------------------------------------------
 */

typedef struct dumont_contact {
    int d;
    double mu, rho;
    const double *W; /* d × d */
    bool is_ebp;     /* else EAL */
    bool printed;    /* to the letter of the paper where it differs from the derivation */
} dumont_contact;

void dumont_local_velocity(const dumont_contact *c, const double *b_loc, const double *r, double *v);
double dumont_newton_error(const dumont_contact *c, const double *r, const double *v);
/* Steps until |Z| is small, of this law where the paper prints no other; returns how many. v = W r + b. */
int dumont_newton(const dumont_contact *c, const dls_law *law, const dls_law_options *options,
                  const double *data, const double *b_loc, double *r, double *v, bool *solved);
/* Makes the laws ebp-paper and eal-paper known; false where there is no room. */
bool dumont_register(void);

/* ---- sweeps as printed --------------------------------------------------------------------------------- */

typedef enum dumont_part { /* of (37), means over contacts */
                           DUMONT_MOTION,
                           DUMONT_CONE,
                           DUMONT_LAW,
                           DUMONT_PENETRATING,
                           DUMONT_TOTAL,
                           DUMONT_PARTS
} dumont_part;

typedef struct dumont_curve {
    int sweeps;
    double (*parts)[DUMONT_PARTS]; /* after each sweep */
    bool converged;
    double penetration; /* max −u_n at the end, m/s, of the velocities that the method holds */
    double newton_steps,
        unsolved; /* per visit: Newton steps, and share of visits where 100 were not enough */
} dumont_curve;

/* From r = 0 with ρ = α/W_nn; for discs and spheres that is α ρ̄. Stops at ε_glob ≤ tolerance. */
bool dumont_sweeps(const dls_problem *problem, const dumont_method *method, double alpha, double tolerance,
                   int max_sweeps, dumont_curve *curve);
void dumont_curve_free(dumont_curve *curve);

/* Table and figure NAME of one curve: the parts over sweeps. */
bool dumont_curve_store(experiment_run *run, const dumont_curve *curve, const char *title, const char *name);

/* Where the paper says that two curves of a logarithmic figure collapse, they differ by less than a tenth. */
static const double dumont_collapsed = 0.9;

/* The share of `part` in the whole, least over the sweeps. */
double dumont_least_share(const dumont_curve *curve, dumont_part part);
/* The largest value of `part` over the sweeps. */
double dumont_largest(const dumont_curve *curve, dumont_part part);

#endif
