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

/* How a system falls into bodies, whose coordinates and velocities follow each other: M and B have a block of
 * each, a row entries at the velocities of one body or two. Blocks, and the columns of W, lie packed behind
 * each other, so that a system of one body is dense. */
typedef struct dls_part_slopes {
    double *force_q, *force_u;  /* ∂h/∂q and ∂h/∂u, blocks of bodies */
    double *tie_q, *tie_u;      /* the same of ties, packed */
    double *turn[DLS_FAMILIES]; /* ∂W/∂q of each row: its entry k along direction j at k + K j */
    double *rate[DLS_FAMILIES]; /* ∂rate/∂q, packed as W */
    const int64_t *turn_at[DLS_FAMILIES], *tie_at; /* where those of a row and of a tie begin */
} dls_part_slopes;

typedef struct dls_parts {
    int count;
    const int *q, *u;                  /* where each body begins; count + 1 */
    const int (*row[DLS_FAMILIES])[2]; /* bodies of a row; −1: no second one */
    int tie_count;
    const int (*tie)[2]; /* bodies that springs and the like act between; −1: no second one */
    /* Slopes along the columns of B(q), and T of B₀ = B(q) T, blocks like M; tangent NULL: T = 1. slopes
     * NULL: there is one body, and its callbacks are asked. */
    void (*slopes)(double t, const double *q, const double *u, dls_part_slopes *out, void *user);
    void (*tangent)(const double *q, const double *B, double *T, void *user);
    const bool *turns; /* bodies whose last three velocities turn them about axes of their own; NULL: none */
} dls_parts;

/* Where a row has its entries. */
typedef struct dls_row_place {
    int u[2], m[2], body[2]; /* velocities of its bodies; m = 0: no second one */
    int W, width;            /* its column of W begins there, packed, m[0] + m[1] numbers */
} dls_row_place;

/* Of a family: value g, rate ġ, ζ of g̈ = Wᵀa + ζ, and W, packed. */
typedef struct dls_row_terms {
    double *value, *rate, *zeta, *W;
} dls_row_terms;

typedef struct dls_terms {
    double *M, *h;
    dls_row_terms rows[DLS_FAMILIES];
} dls_terms;

/* Slopes of a family at fixed x, of g, ġ and Wᵀa + ζ, and of the rate with u₀: along the columns of B, packed
 * as W. */
typedef struct dls_row_slopes {
    double *value, *rate, *before, *bend, *bend_u;
    double *turn; /* ∂W/∂q, width² numbers of each row; NULL: `dynamic` has it */
    int64_t *turn_at;
} dls_row_slopes;

/* Of the three dynamic rows M x − h − W y and of h, blocks of bodies; of ties likewise. */
typedef struct dls_slopes {
    double *dynamic[3], *force_u, *tie_q, *tie_u, *T;
    int64_t *tie_at;
    dls_row_slopes rows[DLS_FAMILIES];
} dls_slopes;

/* The same in q, as callbacks tell them: count × n or m × n, of systems of one body. */
typedef struct dls_told_row_slopes {
    double *value_q, *rate_q, *before_q, *bend_q, *bend_u;
} dls_told_row_slopes;

typedef struct dls_told_slopes {
    double *dynamic_q[3], *force_u;
    dls_told_row_slopes rows[DLS_FAMILIES];
} dls_told_slopes;

/* A symmetric matrix by rows. */
typedef struct dls_row_matrix {
    int64_t *start;
    int *column;
    double *value, *diagonal;
} dls_row_matrix;

/* What each contact and each law was found to be; contacts: A, B, C; laws: D (stick) and E. `place` is A
 * without the contacts that are near: κ̂ = 0 there, or g = 0. */
typedef struct dls_sets {
    bool *place, *A, *B, *C, *D, *E;
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
    bool
        *near; /* contacts in A whatever their gap: friction of this step lifts them off and lets them down */
    bool *swept; /* A as the sweeps found it */
    bool frozen; /* rows of contacts say that their unknowns stay: for the fixed point */
    bool keep_sets;
    bool whole;    /* no percussion is split */
    bool yielding; /* held rows of contacts give way a little in R′, which is then regular */
} dls_alpha_stage;

enum { DLS_LAW_SIZE = 6 };

/* Up to so many contacts a system is solved as mechanisms are: the whole of R′ where levels do not serve. */
enum { DLS_FEW_CONTACTS = 4 };

/* f(y, z, N): of kinematics y, negative forces z and normal force N. y, z, N: its slopes. */
typedef struct dls_law_value {
    double f[DLS_LAW_SIZE];
    double y[DLS_LAW_SIZE * DLS_LAW_SIZE], z[DLS_LAW_SIZE * DLS_LAW_SIZE], N[DLS_LAW_SIZE];
} dls_law_value;

typedef struct dls_levels dls_levels;

/* Squares of N and s of a step's certificate, over contacts and over rows; max N² and max N²/max(s, v_ref)².
 */
typedef struct dls_tally {
    double contacts, contact_scale, rows, row_scale, worst, held;
} dls_tally;

struct dls_alpha {
    dls_model system;
    dls_model_contact *contacts;
    dls_model_friction *laws;
    int *law_row, *law_of;       /* rows of γ_F of each law, and back */
    int *contact_law, *next_law; /* laws of a contact; −1: no more */
    dls_alpha_options options;
    double alpha_m, alpha_f, gamma, beta;
    dls_layout at;
    dls_alpha_state state, kept;
    dls_alpha_stage stage;
    dls_parts parts;
    dls_row_place *place[DLS_FAMILIES];
    int64_t *M_at, *B_at; /* where blocks of bodies begin; count + 1 */
    dls_slopes slopes;
    dls_told_slopes told;
    dls_law_value *impact_law, *force_law; /* slopes of laws */
    dls_sets sets, sets_before;
    double *r_n, *r_t, *slip_before; /* γ_F at (t₀, q₀, u₀) */
    double *weight;                  /* of R's entries: 1, or one over what v_ref does to them */
    dls_terms probe;                 /* for differences */
    double *probe_q, *probe_u, *probe_rate, *probe_low, *probe_high, *probe_matrix;
    double *motion_bend;
    double *R, *R_probe, *x, *x_kept, *x_probe, *step, *left, *change;
    double *move_q, *move_u, *d_value[DLS_FAMILIES], *d_rate[DLS_FAMILIES], *d_xi[DLS_FAMILIES],
        *d_acceleration[DLS_FAMILIES]; /* of a product with R′ */
    double *J, *scale_row, *scale_column;
    double *eliminated, *reduced, *lu_room, *whole_room, *norm_room; /* J_yy, its Schur complement */
    int *pivot, *pivot_reduced;
    bool has_factor, by_levels;
    dls_levels *levels;
    double *least, *least_numbers; /* the Schur complement where it is singular */
    int *least_integers, rank;     /* −1: it is regular */
    dls_row_matrix delassus;       /* of the rows of contacts: D = WᵀM⁻¹W with constraints held */
    double *free;                  /* Wᵀa + ζ at λ = 0 */
    double *sweep_x, *group_x;
    const char *culprit; /* the callback that last returned what is no number */
    int culprit_family;
    double condition;
    int *flips; /* of contacts: how often their sets changed */
    uint64_t pieces;
    dls_alpha_report first;
    dls_tally tally; /* of the step, over its substeps */
    dls_workspace *memory;
    bool out_of_memory;
};

/* ---- parts.c ---- */

/* Places of rows and blocks, and what is packed by them. */
void dls_parts_fit(dls_alpha *alpha, const dls_parts *parts);
int64_t dls_parts_width(const dls_alpha *alpha, int family); /* numbers of W */

/* Σ w_k y_k over the entries of a row, and y += s w. */
static inline double dls_row_dot(const dls_row_place *row, const double *w, const double *y) {
    double sum = 0;
    for (int k = 0; k < row->m[0]; k++) sum += w[k] * y[row->u[0] + k];
    for (int k = 0; k < row->m[1]; k++) sum += w[row->m[0] + k] * y[row->u[1] + k];
    return sum;
}
static inline void dls_row_add(const dls_row_place *row, double s, const double *w, double *y) {
    for (int k = 0; k < row->m[0]; k++) y[row->u[0] + k] += s * w[k];
    for (int k = 0; k < row->m[1]; k++) y[row->u[1] + k] += s * w[row->m[0] + k];
}
/* y += s A x with a block of each body: rows n (of q) or m × m. */
void dls_blocks_add(const dls_alpha *alpha, double s, const double *A, const double *x, double *y);
void dls_motion_add(const dls_alpha *alpha, double s, const double *B, const double *x, double *q);
/* Velocities of the bodies of a tie. */
int dls_tie_width(const dls_alpha *alpha, int tie);
/* y += s A x of a tie's matrix. */
void dls_tie_add(const dls_alpha *alpha, int tie, double s, const double *A, const double *x, double *y);
/* M_ii of velocity i of a body. */
double dls_mass_of(const dls_alpha *alpha, int body, int i);

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
/* The largest entry of R, weighted. */
double dls_alpha_norm(const dls_alpha *alpha, const double *R);
/* What feeds the reservoir of a law: the force of its contact, or its limit over the time `share`. */
double dls_normal_force(const dls_alpha *alpha, int law, const double *force, double share);

/* ---- law.c: one friction law ---- */

typedef enum dls_slip_mode { DLS_MODE_STICK, DLS_MODE_SLIP, DLS_MODE_OPEN, DLS_MODE_PROX } dls_slip_mode;

dls_law_value dls_friction_value(const dls_model_friction *law, dls_slip_mode mode, double r, const double *y,
                                 const double *z, double N, void *user);
/* Nearest point of N·C. */
void dls_friction_project(const dls_model_friction *law, const double *z, double N, double *p, void *user);
/* Whether r y − z ∈ N·C, or nearer to it than r times a y of `slack`. */
bool dls_friction_sticks(const dls_model_friction *law, double r, const double *y, const double *z, double N,
                         double slack, void *user);
/* y at the level of velocities or accelerations that R does not tell from 0. */
double dls_slack_of(const dls_alpha *alpha, bool accelerations);

/* The rows R_ΛF and R_λF of a law at the stage's point. */
dls_law_value dls_impact_law(const dls_alpha *alpha, const double *x, int law);
dls_law_value dls_force_law(const dls_alpha *alpha, const double *x, int law);

/* ---- jacobian.c, linear.c ---- */

/* At the x of the last residual: all that R′ is made of, and J = R′ where it is factored whole. */
bool dls_jacobian_at(dls_alpha *alpha, const double *x);
/* The whole of J from what is there for products. */
bool dls_jacobian_gather(dls_alpha *alpha, const double *x);
/* out ← R′ s */
void dls_jacobian_product(dls_alpha *alpha, const double *x, const double *s, double *out);
/* False where it is singular to working precision. */
bool dls_jacobian_factor(dls_alpha *alpha);
void dls_jacobian_solve(dls_alpha *alpha, const double *x, const double *R, double *step);
/* Whether the whole matrix is affordable, and room for it. */
bool dls_jacobian_is_small(const dls_alpha *alpha);
void dls_jacobian_take(dls_alpha *alpha);
/* A law whose percussion is split slides. */
bool dls_law_is_split(const dls_alpha *alpha, int law);

/* ---- fixed.c ---- */

bool dls_fixed_point(dls_alpha *alpha, double *x, int most, dls_alpha_report *report);

/* ---- sweeps.c ---- */

/* x near a solution, by Gauss–Seidel on the contacts. False where the smooth rows have none. */
bool dls_alpha_sweep(dls_alpha *alpha, double *x, dls_alpha_report *report);

/* ---- step.c ---- */

/* Newton with R′, or with that of the smooth rows where the stage is frozen. */
int dls_alpha_newton(dls_alpha *alpha, double *x, double tolerance, int most_updates, int *updates,
                     double *norm);
/* From the state by dt; the solution becomes the state. */
dls_status dls_alpha_advance(dls_alpha *alpha, double dt, double closing, dls_alpha_report *report,
                             dls_error *error);
void dls_alpha_state_copy(dls_alpha_state *to, const dls_alpha_state *from);

/* Of a row, that makes it m/s. */
static inline double dls_row_unit(const dls_alpha *alpha, int family, int row) {
    return alpha->system.rows[family].unit ? alpha->system.rows[family].unit[row] : 1;
}

/* ---- contacts.c, certificate.c, solutions.c ---- */

/* Which rows of contacts meet: the pattern of D. */
void dls_contacts_fit(dls_alpha *alpha);
/* D and the free accelerations of the rows of contacts, N before F, from the stage's terms. */
bool dls_contact_system(dls_alpha *alpha);
/* r where none is given, from D at the beginning of the step. */
bool dls_scale_prox(dls_alpha *alpha);
void dls_alpha_certify(dls_alpha *alpha, const double *x, dls_alpha_report *report);
void dls_tally_add(dls_tally *sum, const dls_tally *part);
double dls_tally_residual(const dls_tally *t);
/* How many accelerations satisfy the laws at the end of the step; −1: not known. */
int dls_alpha_solutions(const dls_alpha *alpha);

/* ---- create.c ---- */

/* An alpha without a system, and one that gets a system, in place of the one it had: all of its state is 0
 * then, its memory is what it was. No callback is called. */
dls_alpha *dls_alpha_empty(void); /* NULL when memory is out */
dls_status dls_alpha_fit(dls_alpha *alpha, const dls_model *system, const dls_parts *parts,
                         const dls_alpha_options *options, dls_error *error); /* parts NULL: one body */
/* Zeroed numbers that last until the next fit; NULL, and out_of_memory, when memory is out. */
double *dls_alpha_numbers(dls_alpha *alpha, int64_t count);
int *dls_alpha_integers(dls_alpha *alpha, int64_t count);
/* Both. */
dls_status dls_alpha_allocate(const dls_model *system, const dls_alpha_options *options, dls_alpha **alpha,
                              dls_error *error);
dls_status dls_alpha_refuse_numbers(const dls_alpha *alpha, double t, dls_error *error);
/* From t, q and u of its state: closes what is nearly closed, impacts, a and λ. */
dls_status dls_alpha_begin(dls_alpha *alpha, dls_error *error);
/* ---- check.c ---- */
dls_status dls_model_validate(const dls_model *system, dls_error *error);
/* R′ at a point with all contacts closed and sticking; x: none special. */
bool dls_alpha_probe(dls_alpha *alpha, double t, const double *q, const double *u);
/* How far two are from each other, over the largest entry. */
double dls_alpha_apart(dls_alpha *a, dls_alpha *b);

#endif
