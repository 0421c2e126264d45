/* Local laws: one contact solved for its own impulse while all others wait.
 *
 *     find r:   u = W r + b,   K* ∋ u + μ|u_t| n ⟂ r ∈ K_μ         W one d×d block, b the velocity at r = 0
 *
 * Some laws take one step toward the solution (sbp, sal, epdas, ipdas), some iterate to it (ebp, eal), one
 * finds it (exact). All have one form, so that a law of your own stands beside them. */
#ifndef DELASSUS_LAW_H
#define DELASSUS_LAW_H

#include <delassus/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dls_contact_state { DLS_OPEN = 0, DLS_STICK, DLS_SLIP, DLS_UNSOLVED } dls_contact_state;

typedef enum dls_eal_radius { DLS_EAL_RADIUS_TAU = 0, DLS_EAL_RADIUS_R } dls_eal_radius;
typedef enum dls_pdas_compare { DLS_PDAS_COMPARE_NEW = 0, DLS_PDAS_COMPARE_OLD } dls_pdas_compare;
typedef enum dls_pdas_slip { DLS_PDAS_SLIP_DIRECT = 0, DLS_PDAS_SLIP_NEWTON } dls_pdas_slip;

/* One struct for all laws; each reads what concerns it. */
typedef struct dls_law_options {
    double rho_scale; /* multiplies the descent parameters that the block itself gives */
    double rho;       /* fixed descent parameter in kg instead (sbp, sal, ebp, eal); 0: from the block */
    double gamma_n, gamma_t;   /* fixed parameters of epdas and ipdas in kg; 0: from the block */
    double local_tolerance;    /* ebp, eal, repeated pdas steps: stop on |Z| against |r| + ρ|b| */
    int local_iterations;      /* ebp, eal: Newton cap; 1 with ebp is the IBP of paper 002, one bare step */
    dls_eal_radius eal_radius; /* friction radius of eal: μτ_n (Alart–Curnier) or μ r_n (as printed) */
    dls_pdas_compare pdas_compare; /* friction threshold: new or old normal impulse */
    dls_pdas_slip pdas_slip;       /* slip step: direct, or paper 002's Newton form */
    int pdas_iterations;           /* steps per visit */
    bool safeguard;                /* ebp, eal: restart where Newton cycles, at last step like sbp, sal;
                                      pdas: ipdas for epdas, then eal, then sal where a step makes no sense */
    void *user; /* that of the law's row: set by the library before prepare and solve see it */
} dls_law_options;

DLS_API dls_law_options dls_default_law_options(void);
DLS_API const dls_field *dls_law_fields(int *count);

/* A row of the law table, and what a user registers. W is column-major d × d. A solve of several threads
 * calls prepare and solve on all of them at once, each for another contact, and on one in any order: what
 * lies behind user must stand that, and decides with them alone whether runs have the same bits. They have to
 * return. Contacts with one tangential part go to prepare and solve, those with other parts to prepare_cone
 * and solve_cone; a law without these refuses such problems by name. Contacts without friction need no law.
 */
typedef struct dls_law {
    const char *name;
    const char *summary;
    /* doubles of data that prepare() computes once for a block of size d; register both as NULL for none */
    int (*data_size)(int d);
    void (*prepare)(const dls_law_options *options, int d, const double *W, double mu, double *data);
    /* b: velocity of this contact without its own impulse; r: in the last impulse, out the next one */
    dls_contact_state (*solve)(const dls_law_options *options, int d, const double *W, double mu,
                               const double *data, const double *b, double *r);
    /* the same for any parts of friction; register all three as NULL for a law that knows only one */
    int (*cone_data_size)(int d);
    void (*prepare_cone)(const dls_law_options *options, const dls_cone *cone, const double *W, double *data);
    dls_contact_state (*solve_cone)(const dls_law_options *options, const dls_cone *cone, const double *W,
                                    const double *data, const double *b, double *r);
    bool exact; /* finds the solution whatever the start: where it is known in closed form, that may stand in
                 */
    void *user; /* yours; prepare and solve find it in their options */
} dls_law;

/* Laws that are built in, then those of users. A row of a user is valid until it is taken out; at NULL there
 * is none. These and the two below may be called by any thread at any time. */
DLS_API int dls_law_count(void);
DLS_API const dls_law *dls_law_at(int index);
DLS_API const dls_law *dls_law_find(const char *name);
/* The row is copied; its strings and user are not, and must live until it is taken out. Names are new, up to
 * 31 lower-case letters, digits, '-' and '_'; there is room for 16 rows. */
DLS_API dls_status dls_law_register(const dls_law *law, dls_error *error);
/* Refused while any thread solves, and for laws that are built in. Options have laws by name: a solve or a
 * step that asks for one that is gone fails, and finds another of that name when there is one. */
DLS_API dls_status dls_law_unregister(const char *name, dls_error *error);

/* One visit of one law on one contact, with everything checked. options may be NULL for the defaults; u
 * receives W r + b and state the branch, each may be NULL. */
DLS_API dls_status dls_law_apply(const dls_law *law, const dls_law_options *options, int d, const double *W,
                                 double mu, const double *b, double *r, double *u, dls_contact_state *state,
                                 dls_error *error);
DLS_API dls_status dls_law_apply_cone(const dls_law *law, const dls_law_options *options,
                                      const dls_cone *cone, const double *W, const double *b, double *r,
                                      double *u, dls_contact_state *state, dls_error *error);

/* ---- exact: all solutions of one contact ------------------------------------------------------------- */

typedef struct dls_exact_solution {
    dls_contact_state state;
    double r[4], u[4];
    double slip_ratio; /* |u_t| / r_n, the quantity that the choice maximises; 0 for stick */
} dls_exact_solution;

/* Why there is none: how far each branch is from holding, and a direction of K along which W does not resist.
 */
typedef struct dls_exact_certificate {
    double open_margin, stick_margin, slip_margin;
    double direction[4];
    double curvature; /* directionᵀ W direction ≤ 0 */
} dls_exact_certificate;

enum { DLS_EXACT_MAX_SOLUTIONS = 8 };

/* Finds all solutions (0 only where W is not positive definite), and the index of the one that `exact` takes:
 * take-off where b_n ≥ 0, else the largest |u_t|/r_n, whatever the start. */
DLS_API int dls_exact_enumerate(int d, const double *W, double mu, const double *b,
                                dls_exact_solution *solutions, int *chosen,
                                dls_exact_certificate *certificate);

/* ---- the smoothed law -------------------------------------------------------------------------------- */

/* The law of one contact as an equation (paper 000), C = F + m(r − F) = 0 with F = ρ (u + μ|u_t| n) and m the
 * projection onto the polar cone of K_μ, both smoothed by ω > 0 (m/s) so that it can be differentiated:
 * X = ∂C/∂u and Y = ∂C/∂r, column-major d × d, each NULL where it is not wanted. C is an impulse, ρ a mass;
 * ω = 0 gives the law itself, with derivatives that hold away from its kinks. u = 0 gives C = m_ω(r). */
DLS_API dls_status dls_smoothed_contact(int d, double mu, double rho, double omega, const double *r,
                                        const double *u, double *C, double *X, double *Y, dls_error *error);

#ifdef __cplusplus
}
#endif
#endif
