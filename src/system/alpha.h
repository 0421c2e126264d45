/* The parts of a generalized-α step: terms of the system at (t₁, q₁, u₁), their slopes, the unknowns
 *
 *     x = (a, U, Q, κ_g, Λ_g, λ_g, Λ_γ, λ_γ, κ_N, Λ_N, λ_N, Λ_F, λ_F)
 *
 * the residual R(x) with its sets, and R′(x). */
#ifndef SYSTEM_ALPHA_H
#define SYSTEM_ALPHA_H

#include "base/memory.h"

#include <delassus/system.h>

#define DLS_EACH_FAMILY(f) for (int f = 0; f < DLS_FAMILIES; f++)

/* Of a family: value g, rate ġ, ζ of g̈ = Wᵀa + ζ, and W. */
typedef struct dls_row_terms {
    double *value, *rate, *zeta, *W;
} dls_row_terms;

typedef struct dls_terms {
    double *M, *h;
    dls_row_terms rows[DLS_FAMILIES];
} dls_terms;

/* Slopes of a family at fixed x: of g, ġ and Wᵀa + ζ, and of the rate with u₀. */
typedef struct dls_row_slopes {
    double *value_q, *rate_q, *before_q, *bend_q, *bend_u;
} dls_row_slopes;

/* Of the three dynamic rows M x − h − W y, each m × n, and ∂h/∂u. */
typedef struct dls_slopes {
    double *dynamic_q[3], *force_u;
    dls_row_slopes rows[DLS_FAMILIES];
} dls_slopes;

/* What each contact and each law was found to be; contacts: A, B, C; laws: D (stick) and E. */
typedef struct dls_sets {
    bool *A, *B, *C, *D, *E;
} dls_sets;

/* Places in x and in R; −1 where a family has no κ. */
typedef struct dls_layout {
    int n, m, count[DLS_FAMILIES];
    int a, U, Q, kappa[DLS_FAMILIES], impact[DLS_FAMILIES], force[DLS_FAMILIES];
    int total, smooth; /* smooth: unknowns before κ_N */
} dls_layout;

/* What steps depend on, in two blocks that are copied whole. v̄ of v = a, λ_N, λ_F. */
typedef struct dls_alpha_state {
    double t;
    int64_t step;                  /* 0 until a step of dt > 0 was taken */
    double dt;                     /* that the bars belong to */
    double *q, *u, *a, *a_bar, *x; /* x: where Newton starts */
    double *force[DLS_FAMILIES], *bar[DLS_FAMILIES], *percussion[DLS_FAMILIES];
    bool *closed, *sticking; /* sets A and D of the step before */
    double *numbers;
    bool *flags;
    int number_count, flag_count;
} dls_alpha_state;

/* One attempt: constants of the step, and the point at x. */
typedef struct dls_alpha_stage {
    double dt, t1, c_q, c_u; /* ∂q₁/∂a = c_q B, ∂u₁/∂a = c_u */
    double closing;          /* gaps and rates up to this are none: of the initial step */
    double v_ref;
    double rounding[3]; /* of positions, velocities and accelerations */
    double *B, *q_base, *u_base;
    double *percussion_base[DLS_FAMILIES], *kappa_base; /* P = Λ + c_u λ + base, κ̂ = κ + c_q λ + base */
    double *q, *u;
    dls_terms terms;
    double *before[DLS_FAMILIES];       /* rates at (t₁, q₁, u₀) */
    double *acceleration[DLS_FAMILIES]; /* Wᵀa + ζ */
    double *xi[DLS_FAMILIES];           /* ξ_N, ξ_F */
    double *percussion[DLS_FAMILIES];   /* P_N, P_F */
    double *kappa_hat;
    bool *split; /* laws whose percussion is split: slip = split, or switched */
    bool frozen; /* rows of contacts say that their unknowns stay: for the fixed point */
    bool keep_sets;
    bool yielding; /* held rows of contacts give way a little in R′, which is then regular */
} dls_alpha_stage;

struct dls_alpha {
    dls_model system;
    dls_model_contact *contacts;
    dls_model_friction *laws;
    int *law_row; /* of γ_F */
    dls_alpha_options options;
    double alpha_m, alpha_f, gamma, beta;
    dls_layout at;
    dls_alpha_state state, kept;
    dls_alpha_stage stage;
    dls_slopes slopes;
    dls_sets sets, sets_before;
    double *r_n, *r_t, *slip_before; /* γ_F at (t₀, q₀, u₀) */
    double *weight;                  /* of R's entries: 1, or one over what v_ref does to them */
    dls_terms probe;                 /* for differences */
    double *probe_q, *probe_u, *probe_rate, *probe_low, *probe_high, *probe_matrix;
    double *motion_bend;
    double *R, *R_probe, *x, *x_probe, *step, *J, *scale_row, *scale_column;
    double *eliminated, *reduced, *lu_room, *norm_room; /* J_yy, its Schur complement */
    int *pivot, *pivot_reduced;
    bool has_factor;
    double *least, *least_numbers; /* the Schur complement where it is singular */
    int *least_integers, rank;     /* −1: it is regular */
    double *delassus,
        *free; /* of the rows of contacts: D = WᵀM⁻¹W with constraints held, and Wᵀa + ζ at λ = 0 */
    double *held, *held_x; /* M with the rows of constraints, and its solutions */
    int *held_pivot;
    double *mode, *mode_x, *mode_force, *mode_kept;
    int *mode_pivot, *mode_row;
    const char *culprit; /* the callback that last returned what is no number */
    int culprit_family;
    double condition;
    int *flips; /* of contacts: how often their sets changed */
    uint64_t pieces;
    dls_alpha_report first;
    dls_workspace *memory;
    bool out_of_memory;
};

/* ---- terms.c: callbacks, and differences of what is not given ---- */

#define DLS_WANT_MASS         1u
#define DLS_WANT_FORCE        2u
#define DLS_WANT_VALUE(f)     (4u << 4 * (f))
#define DLS_WANT_RATE(f)      (8u << 4 * (f))
#define DLS_WANT_DIRECTION(f) (16u << 4 * (f))
#define DLS_WANT_BEND(f)      (32u << 4 * (f))
#define DLS_WANT_ALL          (~0u)

/* False where a callback gave no number: culprit says which. */
bool dls_terms_at(dls_alpha *alpha, dls_terms *terms, double t, const double *q, const double *u,
                  unsigned wants);
bool dls_rates_at(dls_alpha *alpha, int family, double t, const double *q, const double *u, double *rate);
/* q̇, B and ∂q̇/∂q q̇ + ∂q̇/∂t */
bool dls_motion_at(dls_alpha *alpha, double t, const double *q, const double *u, double *rate, double *B,
                   double *bend);
/* "direction of g_N" into text; returns text. */
const char *dls_culprit_text(const dls_alpha *alpha, char *text, size_t size);
const char *dls_row_family_name(int family);

/* ---- slopes.c ---- */

/* At the stage's point, with the x of the three dynamic rows. */
bool dls_slopes_at(dls_alpha *alpha, const double *x);
/* Dynamic row k of acceleration, impact and position: M x_k − W y_k, and y_k of a family times its share. */
const double *dls_dynamic_force(const dls_alpha *alpha, const double *x, int family, int k, double *share);

/* ---- residual.c ---- */

/* Constants of a step of dt from the state; r of contacts and laws. */
bool dls_stage_begin(dls_alpha *alpha, double dt, double closing);
/* q₁, u₁, terms, percussions at x, the sets unless they are kept, and R. False as dls_terms_at. */
bool dls_residual_at(dls_alpha *alpha, const double *x, double *R);
/* What feeds the reservoir of a law: the force of its contact, or its limit over the time `share`. */
double dls_normal_force(const dls_alpha *alpha, int law, const double *force, double share);

/* ---- law.c: one friction law ---- */

typedef enum dls_slip_mode { DLS_MODE_STICK, DLS_MODE_SLIP, DLS_MODE_OPEN, DLS_MODE_PROX } dls_slip_mode;

enum { DLS_LAW_SIZE = 6 };

/* f(y, z, N): of kinematics y, negative forces z and normal force N. D*: slopes, or NULL. */
typedef struct dls_law_value {
    double f[DLS_LAW_SIZE];
    double y[DLS_LAW_SIZE * DLS_LAW_SIZE], z[DLS_LAW_SIZE * DLS_LAW_SIZE], N[DLS_LAW_SIZE];
} dls_law_value;

dls_law_value dls_friction_value(const dls_model_friction *law, dls_slip_mode mode, double r, const double *y,
                                 const double *z, double N, void *user);
/* Nearest point of N·C. */
void dls_friction_project(const dls_model_friction *law, const double *z, double N, double *p, void *user);
/* Whether r y − z ∈ N·C. */
bool dls_friction_sticks(const dls_model_friction *law, double r, const double *y, const double *z, double N,
                         void *user);

/* The rows R_ΛF and R_λF of a law at the stage's point. */
dls_law_value dls_impact_law(const dls_alpha *alpha, const double *x, int law);
dls_law_value dls_force_law(const dls_alpha *alpha, const double *x, int law);

/* ---- jacobian.c, linear.c ---- */

/* At the x of the last residual. */
bool dls_jacobian_at(dls_alpha *alpha, const double *x);
/* J = R′ becomes factors; false where it is singular to working precision. */
bool dls_jacobian_factor(dls_alpha *alpha);
void dls_jacobian_solve(dls_alpha *alpha, const double *R, double *step);

/* ---- fixed.c ---- */

bool dls_fixed_point(dls_alpha *alpha, double *x, dls_alpha_report *report);

/* ---- sweeps.c ---- */

/* x near a solution, by Gauss–Seidel on the contacts. False where the smooth rows have none. */
bool dls_alpha_sweep(dls_alpha *alpha, double *x, dls_alpha_report *report);

/* ---- step.c ---- */

/* Newton with R′, or with that of the smooth rows where the stage is frozen. */
int dls_alpha_newton(dls_alpha *alpha, double *x, int *updates, double *norm);
/* From the state by dt; the solution becomes the state. */
dls_status dls_alpha_advance(dls_alpha *alpha, double dt, double closing, dls_alpha_report *report,
                             dls_error *error);
void dls_alpha_state_copy(dls_alpha_state *to, const dls_alpha_state *from);

/* Of a row, that makes it m/s. */
static inline double dls_row_unit(const dls_alpha *alpha, int family, int row) {
    return alpha->system.rows[family].unit ? alpha->system.rows[family].unit[row] : 1;
}

/* ---- contacts.c, certificate.c, solutions.c ---- */

/* D and the free accelerations of the rows of contacts, N before F, from the stage's terms. */
bool dls_contact_system(dls_alpha *alpha);
/* r where none is given, from D at the beginning of the step. */
bool dls_scale_prox(dls_alpha *alpha);
void dls_alpha_certify(dls_alpha *alpha, const double *x, dls_alpha_report *report);
/* How many accelerations satisfy the laws at the end of the step; −1: not known. */
int dls_alpha_solutions(dls_alpha *alpha);

/* ---- create.c ---- */

/* An alpha without a system, and one that gets a system, in place of the one it had: all of its state is 0
 * then, its memory is what it was. No callback is called. */
dls_alpha *dls_alpha_empty(void); /* NULL when memory is out */
dls_status dls_alpha_fit(dls_alpha *alpha, const dls_model *system, const dls_alpha_options *options,
                         dls_error *error);
/* Both. */
dls_status dls_alpha_allocate(const dls_model *system, const dls_alpha_options *options, dls_alpha **alpha,
                              dls_error *error);
dls_status dls_alpha_refuse_numbers(const dls_alpha *alpha, double t, dls_error *error);
/* From t, q and u of its state: closes what is nearly closed, impacts, a and λ. */
dls_status dls_alpha_begin(dls_alpha *alpha, dls_error *error);
/* ---- check.c ---- */
dls_status dls_model_validate(const dls_model *system, dls_error *error);

#endif
