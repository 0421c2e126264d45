/* The one-step contact problem:
 *
 *     u = W r + b
 *     contact block c:   K* ∋ u_c + (Σ_k μ_k |u_k|) n ⟂ r_c ∈ K      (Signorini–Coulomb, De Saxcé's form)
 *     interval block c:  low ≤ r_i ≤ high,  u_i = 0 between, u_i ≥ 0 at low, u_i ≤ 0 at high
 *
 * r holds impulses and u velocities in the contact frames. A contact block has a normal row, then the rows of
 * its parts of friction, K = {r_n ≥ 0, |r_k| ≤ μ_k r_n for each part k}:
 *
 *     tangential   1 row in the plane, 2 in space, 3 of Coulomb–Contensou (the third is the scaled drilling
 *                  velocity); μ is a number
 *     rolling      relative angular velocity in the tangent plane, 1 or 2 rows; μ is a length
 *     spinning     relative angular velocity about the normal, 1 row; μ is a length
 *
 * Any may be missing: 1 to 6 rows. An interval block has 1 to 6 rows in any units: without bounds it is
 * bilateral, u_c = 0; [0, ∞) is a limit, [−R, R] a motor or dry friction. Blocks mix freely. Small dense
 * blocks are column-major everywhere. A problem never changes after it was made, so threads may share it. */
#ifndef DELASSUS_PROBLEM_H
#define DELASSUS_PROBLEM_H

#include <delassus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DLS_MAX_BLOCK = 6 };

typedef enum dls_block_kind { DLS_CONTACT = 0, DLS_INTERVAL = 1 } dls_block_kind;

/* Rows of the parts of a contact: tangential 0 to 3, rolling 0 to 2, spinning 0 or 1, five at most. */
#define DLS_PARTS(tangential, rolling, spinning)                                                             \
    ((uint8_t)((unsigned)(tangential) | (unsigned)(rolling) << 2 | (unsigned)(spinning) << 4))

typedef struct dls_problem dls_problem;

/* What every problem has, whatever its operator. Arrays are copied. */
typedef struct dls_problem_def {
    int block_count;
    int dimension;              /* rows of every block when block_size is NULL: 1 to 4 */
    const int *block_size;      /* rows of each block, or NULL */
    const uint8_t *block_kind;  /* dls_block_kind of each block, or NULL: all are contacts */
    const uint8_t *block_parts; /* DLS_PARTS of each contact (those of intervals are ignored); NULL: all rows
                                   behind the normal one are tangential */
    const double *mu;           /* friction coefficient of each block (those of intervals are ignored) */
    const double *mu_rolling, *mu_spinning; /* of each block, lengths; NULL where no block has such a part */
    const double *low, *high; /* bounds of all rows in order (those of contacts are ignored), NULL: −∞, ∞ */
    const double *b;          /* velocity without contact impulses, all rows in order */
    double reference_velocity; /* v_ref of the judge, m/s; 0 for none */
    const double *speed;       /* of each block: sum of the speeds of its two bodies where they meet, m/s, to
                                  which the rounding of u is relative; NULL: 0 */
    const double *block_inverse_mass; /* of each interval block: 1/m of its two bodies, added up, 1/kg
                                         (contacts are ignored); NULL: what contacts coupled with it have */
} dls_problem_def;

DLS_API dls_problem_def dls_default_problem_def(void);

/* A sparse matrix by rows: row i holds entries start[i] … start[i+1]−1, columns in any order, duplicates add
 * up. */
typedef struct dls_csr {
    int rows, columns;
    const int64_t *start;
    const int *column;
    const double *value;
} dls_csr;

/* Stored W, square, in scalar rows. It may be unsymmetric; it is never symmetrised. */
DLS_API dls_status dls_problem_create(const dls_problem_def *def, const dls_csr *W, dls_problem **problem,
                                      dls_error *error);

/* Matrix-free W = H M⁻¹ Hᵀ with M block-diagonal over bodies. Memory is O(contacts). */
typedef struct dls_bodies {
    int body_count;
    int body_dof;               /* freedoms of each body: 3 in the plane, 6 in space, 1 … 12 in general */
    const double *inverse_mass; /* M⁻¹ of each body, body_dof² numbers, symmetric positive (semi)definite */
    const int *body;            /* two bodies per block, −1 where there is none (a wall) */
    const double *H; /* per block and per its two bodies: rows × body_dof, column-major, blocks in order */
} dls_bodies;

DLS_API dls_status dls_problem_create_bodies(const dls_problem_def *def, const dls_bodies *bodies,
                                             dls_problem **problem, dls_error *error);

DLS_API void dls_problem_destroy(dls_problem *problem);

/* The same problem with W stored, whatever the operator of the original. */
DLS_API dls_status dls_problem_assemble(const dls_problem *problem, dls_problem **stored, dls_error *error);

DLS_API int dls_problem_block_count(const dls_problem *problem);
DLS_API int dls_problem_contact_count(const dls_problem *problem);
DLS_API int dls_problem_row_count(const dls_problem *problem);
DLS_API int dls_problem_body_count(const dls_problem *problem); /* 0 when unknown */
DLS_API bool dls_problem_is_stored(const dls_problem *problem);
/* A block that there is not has size 0, row −1, no friction, and counts as a contact. */
DLS_API int dls_problem_block_size(const dls_problem *problem, int block);
DLS_API int dls_problem_block_row(const dls_problem *problem, int block); /* its first row */
DLS_API dls_block_kind dls_problem_block_kind(const dls_problem *problem, int block);
DLS_API uint8_t dls_problem_block_parts(const dls_problem *problem, int block); /* 0 of intervals */
DLS_API double dls_problem_mu(const dls_problem *problem, int block);
DLS_API double dls_problem_mu_rolling(const dls_problem *problem, int block);
DLS_API double dls_problem_mu_spinning(const dls_problem *problem, int block);
DLS_API bool
dls_problem_has_parts(const dls_problem *problem); /* a contact has other than one tangential part */
DLS_API bool dls_problem_has_bounds(const dls_problem *problem); /* a row of an interval has one */
DLS_API double dls_problem_low(const dls_problem *problem, int row);
DLS_API double dls_problem_high(const dls_problem *problem, int row);
DLS_API const double *dls_problem_b(const dls_problem *problem); /* valid as long as the problem */
DLS_API double dls_problem_reference_velocity(const dls_problem *problem);
DLS_API size_t dls_problem_memory(const dls_problem *problem);         /* bytes held */
DLS_API int64_t dls_problem_stored_blocks(const dls_problem *problem); /* blocks of W, 0 when matrix-free */

/* W_cc, column-major. Nothing is written of a block that there is not. */
DLS_API void dls_problem_diagonal_block(const dls_problem *problem, int block, double *Wcc);
/* u = W r + b. A workspace (or NULL) lends the body velocities that a matrix-free product needs. */
DLS_API dls_status dls_problem_velocity(const dls_problem *problem, const double *r, double *u,
                                        dls_workspace *workspace, dls_error *error);
/* Rows of stored W as scalars: start has row_count + 1 entries; call with NULL arrays for the entry count. */
DLS_API int64_t dls_problem_export(const dls_problem *problem, int64_t *start, int *column, double *value);

/* What there is to know of W without solving. Rank and condition need a dense factorisation: they are
 * computed when rows ≤ dense_limit and are NaN (rank −1) otherwise. */
typedef struct dls_problem_facts {
    double asymmetry;      /* max |W − Wᵀ| / max |W|; NaN when matrix-free: symmetric by construction */
    int rank;              /* singular values above rows · ε · the largest */
    double hyperstaticity; /* rows / rank; above 1 impulses are not unique */
    double condition;      /* largest over smallest singular value above the rank tolerance */
    double mu_low, mu_high;
    double mu_rolling_low, mu_rolling_high; /* of contacts with a rolling part, m; NaN where there are none */
    double diagonal_low, diagonal_high;     /* least and largest tr(W_cc)/d, 1/kg */
} dls_problem_facts;

DLS_API dls_status dls_problem_analyze(const dls_problem *problem, int dense_limit, dls_problem_facts *facts,
                                       dls_error *error);

/* ---- the certificate ---------------------------------------------------------------------------------
 * residual is the judge of every solver: the natural map scaled per contact so that it has no units, over
 * velocities that the impulses account for, s_c = min(max(|b_c|, v_ref), |r_c|/ρ_c). held asks whether any
 * single contact is let go; a time step is certified if residual ≤ tolerance and held ≤ DLS_HELD_LIMIT. */
#define DLS_HELD_LIMIT 0.1

typedef struct dls_measures {
    double residual; /* the larger of ‖N‖/‖s‖ over contacts and over rows of intervals; INFINITY over 0 */
    double max_error;       /* max |N_c|, m/s */
    double held;            /* max |N_c|/max(s_c, v_ref); NaN without a reference velocity */
    double residual_active; /* ‖N‖ over b of blocks with r ≠ 0, at least v_ref each: impulses on open contacts
                               lower it */
    double residual_full; /* ‖N‖ / ‖b‖ */
    double natural_map;   /* natural map with ρ = 1, over ‖b‖: depends on units, for comparison only */
    double fclib_merit;   /* ρ = 1 map over 1 + √‖b‖, as FCLib has it */
    double siconos_error; /* ρ = 1 map over max(‖b‖, ‖r‖, ‖u‖), as Siconos has it */
    double eps_glob;      /* paper 003 (37), the sum of the four below */
    double eps_motion, eps_cone, eps_law, eps_penetration;
    double merit_g;         /* paper 000: energy merit, squared */
    double apgd_residual;   /* paper 001: scaled projected gradient, m/s */
    double complementarity; /* max |r_c · (u_c + μ|u_t| n)|, J */
    double penetration;     /* max(0, −u_n), m/s */
    double cone_violation;  /* max(0, |r_t| − μ r_n, −r_n), N s */
    double friction_power;  /* max(r_t · u_t): positive where friction feeds energy, J */
} dls_measures;

/* Judges any pair (r, u); u = NULL stands for W r + b. */
DLS_API dls_status dls_problem_measure(const dls_problem *problem, const double *r, const double *u,
                                       dls_measures *measures, dls_error *error);

/* Nearest point of K_μ with one part of friction (d = 2, 3 or 4), in place. */
DLS_API void dls_cone_project(int d, double mu, double *z);

/* The cone of one contact: the parts of friction that it has, in the order of its rows. */
typedef struct dls_cone {
    int d, count; /* rows, parts */
    int size[3];  /* rows of each part */
    double mu[3];
} dls_cone;

/* Nearest point of it, in place. */
DLS_API void dls_cone_project_parts(const dls_cone *cone, double *z);

/* ---- generated problems ------------------------------------------------------------------------------ */

typedef enum dls_generator {
    DLS_GENERATE_PACKING,
    DLS_GENERATE_STACK,
    DLS_GENERATE_DISCS,
    DLS_GENERATE_ROLLING,
    DLS_GENERATE_MIXED,
    DLS_GENERATORS
} dls_generator;

DLS_API const char *dls_generator_name(dls_generator kind); /* "packing", "stack", "discs", … */
DLS_API const char *dls_generator_help(dls_generator kind); /* what it makes, in a line */

typedef struct dls_generate_def {
    dls_generator kind;
    int size; /* about this many contacts */
    double mu;
    uint64_t seed;
    bool matrix_free;   /* keep H and M instead of W */
    double mu_rolling;  /* m; spheres have a radius of 0.01 m */
    double mu_spinning; /* m; where it is 0 `rolling` has no spinning part, and fits into an FCLib file, and
                           that of `mixed` is half of mu_rolling */
} dls_generate_def;

DLS_API dls_generate_def dls_default_generate_def(void);
DLS_API dls_status dls_problem_generate(const dls_generate_def *def, dls_problem **problem, dls_error *error);

#ifdef __cplusplus
}
#endif
#endif
