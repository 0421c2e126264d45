/* Rows that hold, taken out of a problem. With the rows of contacts G and those that are held G_J over scaled
 * body velocities,
 *
 *     S = G_J G_Jᵀ + diag(ε) = R Rᵀ,   G₁ = G G_Jᵀ R⁻ᵀ,
 *     W' = G Gᵀ − G₁ G₁ᵀ,   b' = b − G G_Jᵀ S⁻¹ b_J,   r_J = −S⁻¹ (G_J Gᵀ r + b_J). */
#ifndef PROBLEM_ELIMINATE_H
#define PROBLEM_ELIMINATE_H

#include "problem/problem.h"

/* What becomes of a row of an interval block; of a contact, by its first row: it has no impulse where that is
 * fixed, and stays a block otherwise. */
typedef enum dls_row_role {
    DLS_ROW_HELD,  /* u = 0: eliminated */
    DLS_ROW_FIXED, /* its impulse is known */
    DLS_ROW_STAYS  /* a block of the reduced problem */
} dls_row_role;

/* Order of elimination, kept from problem to problem while the same bodies are joined; and all that belongs
 * to the problem at hand, in its workspace. */
typedef struct dls_elimination dls_elimination;

dls_elimination *dls_elimination_create(void); /* NULL when memory is out */
void dls_elimination_destroy(dls_elimination *elimination);

/* Whether a problem has rows that could be eliminated. */
bool dls_can_eliminate(const dls_problem *p);

typedef struct dls_elimination_cost {
    int rows, components; /* held; joined bodies that hang together */
    double factor;        /* flops of R */
    double tails;         /* numbers of G₁ */
} dls_elimination_cost;

/* Orders the rows with role DLS_ROW_HELD and counts; role by rows of p, which is read again later. What it
 * takes from the workspace must stay while the elimination is used. */
dls_status dls_elimination_begin(dls_elimination *e, const dls_problem *p, const uint8_t *role, int threads,
                                 dls_workspace *workspace, dls_elimination_cost *cost, dls_error *error);
/* Whether a held row is at a body of block c. */
bool dls_elimination_touches(const dls_elimination *e, int c);
/* S = R Rᵀ. A row is left out that depends on others: whose pivot is at most so much of S_ii. */
dls_status dls_elimination_factor(dls_elimination *e, double dependent, dls_error *error);

/* How well held rows are held. */
typedef struct dls_held_error {
    double error;   /* max |u_i| of held rows, m/s */
    int row, block; /* where; −1 where none is held */
    bool left_out;  /* whether it is one that depends on others: what is left of it contradicts them */
    int dependent;  /* how many such rows there are */
} dls_held_error;

/* r of the held rows for those of all others, refined by true products. */
dls_status dls_elimination_recover(dls_elimination *e, double *r, dls_held_error *held, dls_error *error);

/* Of all impulses of held rows that move the bodies as those in r do, the ones of least norm: rows that
 * depend on others bear their share. */
dls_status dls_elimination_spread(dls_elimination *e, double *r, dls_error *error);

/* The problem of contacts and of rows that stay, in the workspace, for the impulses in r of rows that are
 * fixed. A contact, or a row that stays, that held rows leave no freedom is left out. */
dls_status dls_elimination_reduce(dls_elimination *e, const double *r, dls_problem **reduced,
                                  dls_error *error);
/* The blocks that were left out. */
const int *dls_elimination_out(const dls_elimination *e, int *count);
/* Impulses of the problem to those of the reduced one, and back: those of contacts that are left out are 0.
 * All in the rows' own units, not the user's. */
void dls_elimination_enter(const dls_elimination *e, const double *r, double *reduced);
void dls_elimination_leave(const dls_elimination *e, const double *reduced, double *r);

/* ---- what factorisations take: any problem, reduced ones with their held rows kept ---- */

/* Rows that depend on no others, and were eliminated; 0 where none was, or no block is at their bodies. */
int dls_kept_rows(const dls_problem *p);
/* W stored; kept rows are blocks behind those of p, u = 0 and b = 0, whose impulses count from those that p
 * has without its own. */
dls_status dls_problem_keep(const dls_problem *p, dls_problem **stored, dls_error *error);
/* x ← S⁻¹ x of kept rows; false when memory is out. */
bool dls_kept_solve(const dls_problem *p, double *x);

#endif
