/* Mechanical systems by callbacks, and the nonsmooth generalized-α scheme that steps them.
 *
 *     M(t,q) du = h(t,q,u) dt + W_g dP_g + W_γ dP_γ + W_N dP_N + W_F dP_F,    dq = (B(t,q)u + β(t,q)) dt
 *
 * with bilateral constraints g(t,q) = 0 and γ(t,q,u) = 0, contacts g_N(t,q) ≥ 0 that bounce by Newton's law,
 * and friction laws on γ_F(t,q,u). Constraints and contacts hold at three levels at the end of each step:
 * position, velocity and acceleration. docs/simulation.md has the equations. */
#ifndef DELASSUS_SYSTEM_H
#define DELASSUS_SYSTEM_H

#include <delassus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- systems ------------------------------------------------------------------------------------------
 * Matrices are dense and column-major. A callback is called with finite numbers and fills all of its output,
 * which is zero before; NaN says that it cannot. Slopes (derivatives) may be NULL: they are then taken by
 * differences in q and u. */

typedef enum dls_row_family {
    DLS_ROWS_G,     /* bilateral, position level */
    DLS_ROWS_GAMMA, /* bilateral, velocity level */
    DLS_ROWS_N,     /* gaps of contacts */
    DLS_ROWS_F,     /* velocities of friction laws */
    DLS_FAMILIES
} dls_row_family;

typedef struct dls_model_rows {
    int count;
    /* What makes a rate of each row m/s, for the certificate: lengths where rows turn; NULL: 1. */
    const double *unit;
    /* g(t,q); NULL for γ and γ_F. */
    void (*value)(double t, const double *q, double *g, void *user);
    /* ġ or γ, affine in u. */
    void (*rate)(double t, const double *q, const double *u, double *rate, void *user);
    /* W, m × count, Wᵀ = ∂rate/∂u; NULL: from rate, exact because that is affine. */
    void (*direction)(double t, const double *q, double *W, void *user);
    /* ζ of d(rate)/dt = Wᵀa + ζ; NULL: by differences of rate along q̇, good to about 1e-11 of it. */
    void (*bend)(double t, const double *q, const double *u, double *zeta, void *user);
    /* ∂g/∂q and ∂rate/∂q, count × n. */
    void (*value_slope)(double t, const double *q, double *S, void *user);
    void (*rate_slope)(double t, const double *q, const double *u, double *S, void *user);
    /* ∂(W y)/∂q, m × n. */
    void (*direction_slope)(double t, const double *q, const double *y, double *S, void *user);
    /* ∂(Wᵀa + ζ)/∂q, count × n, and ∂ζ/∂u, count × m. */
    void (*bend_slope)(double t, const double *q, const double *u, const double *a, double *Sq, double *Su,
                       void *user);
} dls_model_rows;

typedef struct dls_model_contact {
    double e_n; /* ≥ 0 */
    double r;   /* of the prox equations, kg; 0: the options' */
} dls_model_contact;

/* A set N·C of negative friction forces with 0 in it, strictly convex: for a box several laws of one contact,
 * for an ellipse rows of γ_F that are scaled do as well. */
typedef struct dls_reservoir {
    void (*project)(int size, const double *z, double N, double *p, void *user); /* nearest point of N·C */
    /* s ∈ C with the largest s·y, and ∂s/∂y (size × size), for y ≠ 0 */
    void (*support)(int size, const double *y, double *s, double *S, void *user);
} dls_reservoir;

/* Its rows of γ_F follow those of the law before it: 1 planar, 2 spatial, 3 Coulomb–Contensou. */
typedef struct dls_model_friction {
    int contact; /* whose normal force feeds the reservoir; −1: limit does */
    int size;
    double mu;                      /* the ball |λ_F| ≤ μ λ_N; 1 where a reservoir has its own shape */
    double limit;                   /* N, of a law without contact */
    double e_t;                     /* ≥ 0 */
    double r;                       /* kg; 0: the options' */
    const dls_reservoir *reservoir; /* NULL: the ball */
} dls_model_friction;

typedef struct dls_model {
    int coordinates, velocities; /* n of q, m of u */
    void *user;
    void (*mass)(double t, const double *q, double *M, void *user); /* m × m, symmetric, regular */
    void (*force)(double t, const double *q, const double *u, double *h, void *user);
    void (*mass_slope)(double t, const double *q, const double *x, double *S, void *user); /* ∂(M x)/∂q */
    void (*force_slope)(double t, const double *q, const double *u, double *Sq, double *Su, void *user);
    /* q̇ = B u + β, affine in u; NULL: q̇ = u with n = m. */
    void (*motion)(double t, const double *q, const double *u, double *rate, void *user);
    void (*motion_matrix)(double t, const double *q, double *B, void *user); /* n × m; NULL: from motion */
    /* ∂q̇/∂q q̇ + ∂q̇/∂t; NULL: by differences */
    void (*motion_bend)(double t, const double *q, const double *u, double *zeta, void *user);
    void (*settle)(double t, double *q, void *user); /* after each step, for example unit quaternions; NULL */
    dls_model_rows rows[DLS_FAMILIES];
    const dls_model_contact *contacts; /* rows[DLS_ROWS_N].count */
    int law_count;
    const dls_model_friction *laws;
    /* Who a contact is, for messages; NULL: its number. */
    void (*contact_name)(int contact, char *text, size_t size, void *user);
} dls_model;

/* Refuses by name what cannot be a system, callbacks that do not return numbers at (t, q, u), and slopes,
 * directions and bends that differ from differences by more than tolerance of the largest (0: 1e-5). */
DLS_API dls_status dls_model_check(const dls_model *system, double t, const double *q, const double *u,
                                   double tolerance, dls_error *error);

/* ---- the scheme ---------------------------------------------------------------------------------------- */

typedef enum dls_alpha_scheme { DLS_CHUNG_HULBERT, DLS_HHT, DLS_NEWMARK } dls_alpha_scheme;
typedef enum dls_alpha_solver { DLS_ALPHA_NEWTON, DLS_ALPHA_FIXED_POINT } dls_alpha_solver;
typedef enum dls_alpha_residual { DLS_ALPHA_SETS, DLS_ALPHA_PROX } dls_alpha_residual;
typedef enum dls_alpha_open { DLS_OPEN_PERCUSSION, DLS_OPEN_MULTIPLIER } dls_alpha_open;
typedef enum dls_alpha_start { DLS_START_PLAIN, DLS_START_SHIFTED } dls_alpha_start;
typedef enum dls_alpha_slip { DLS_SLIP_SWITCHED, DLS_SLIP_END, DLS_SLIP_SPLIT } dls_alpha_slip;
typedef enum dls_alpha_jacobian { DLS_JACOBIAN_CHAIN, DLS_JACOBIAN_DIFFERENCES } dls_alpha_jacobian;

typedef struct dls_alpha_options {
    double dt;
    double rho; /* ρ_∞ */
    int scheme; /* dls_alpha_scheme */
    int solver, residual, open, start, slip, jacobian;
    double r; /* of contacts and laws without their own; 0: from their own masses */
    double tolerance, tolerance_fixed;
    bool scaled;        /* tolerances count in units of what v_ref does to masses in a step, not in SI */
    double certificate; /* updates go on, three at most, until the residual is below it; 0: R alone counts */
    int max_newton, max_fixed, max_halvings;
    double v_ref; /* m/s, of the certificate; 0: none */
} dls_alpha_options;

DLS_API dls_alpha_options dls_alpha_default_options(void);
DLS_API const dls_field *dls_alpha_fields(int *count);

enum { DLS_ALPHA_NAMED = 8 };

/* Of one step. */
typedef struct dls_alpha_report {
    double t;
    int64_t step;
    int newton_updates;         /* of (143), failed attempts included */
    int fixed_iterations;       /* of (146) */
    int retries;                /* attempts after the first */
    int halvings;               /* how often the step was rejected and cut */
    bool by_fixed_point;        /* the solution is the fixed point's */
    double norm;                /* ‖R‖∞ */
    double condition;           /* 1-norm estimate of the equilibrated matrix without a, U, Q; 0: no update */
    int solutions;              /* of the acceleration-level problem; −1: not known */
    double residual, max_error; /* the certificate, as of every step: relative, and m/s */
    double held;                /* NaN without a reference velocity */
    double position, velocity, acceleration;     /* largest violations of constraints and closed contacts */
    int cycling_count, cycling[DLS_ALPHA_NAMED]; /* contacts whose sets kept changing where Newton failed */
} dls_alpha_report;

typedef struct dls_alpha dls_alpha;

/* Checks the system as dls_model_check does without slopes, assembles g = 0 within small corrections, begins
 * with an impact where a closed contact approaches, and finds a and λ. What system points to, other than
 * contacts and laws, must outlive alpha. */
DLS_API dls_status dls_alpha_create(const dls_model *system, const dls_alpha_options *options, double t,
                                    const double *q, const double *u, dls_alpha **alpha, dls_error *error);
DLS_API void dls_alpha_destroy(dls_alpha *alpha);
/* One step of dt. Where it fails the state stays as it was. report may be NULL. */
DLS_API dls_status dls_alpha_step(dls_alpha *alpha, dls_alpha_report *report, dls_error *error);
/* Of the initial step. */
DLS_API void dls_alpha_first_report(const dls_alpha *alpha, dls_alpha_report *report);

/* What the last step left; pointers stay, numbers change with the next step. */
typedef struct dls_alpha_view {
    double t;
    const double *q, *u, *a;
    const double *kappa[DLS_FAMILIES];      /* κ_g, κ_N */
    const double *impact[DLS_FAMILIES];     /* Λ */
    const double *force[DLS_FAMILIES];      /* λ */
    const double *percussion[DLS_FAMILIES]; /* P_N, P_F; of substeps the sum */
    const double *gap, *slip;               /* g_N, γ_F at the end of the step */
    const bool *closed, *sticking;          /* of contacts: set A; of laws: set D */
} dls_alpha_view;

DLS_API dls_alpha_view dls_alpha_get(const dls_alpha *alpha);

/* All that later steps depend on: steps after reading have the same bits as without. Reading changes all or
 * nothing; the system must have the same sizes. */
DLS_API size_t dls_alpha_state_size(const dls_alpha *alpha);
DLS_API void dls_alpha_state_write(const dls_alpha *alpha, void *bytes);
DLS_API dls_status dls_alpha_state_read(dls_alpha *alpha, const void *bytes, size_t size, dls_error *error);

#ifdef __cplusplus
}
#endif
#endif
