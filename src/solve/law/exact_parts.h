/* What the files of the exact one-contact solver share; nobody else includes it. */
#ifndef SOLVE_LAW_EXACT_PARTS_H
#define SOLVE_LAW_EXACT_PARTS_H

#include "base/small.h"
#include "solve/law/exact.h"

/* Bounds of |W| and |b| for the fast paths, lest they overflow; beyond them contacts are rescaled. */
#define EXACT_SMALL          1e-30
#define EXACT_LARGE          1e30

#define EXACT_LARGE_FRICTION 1e6 /* the same for μ */
#define EXACT_GROWTH         8.0 /* the growth that elimination without pivoting may show, relative to |W| */
#define EXACT_PLAUSIBLE      1e6 /* a quick stick impulse above this times |b|/|W| is left to the slow path */
#define EXACT_SLANT          0.05 /* s below this part of w_nn + μ|w_nt| loses digits in p + B e */

/* One copy for calls in one part and in two, so that they agree to the last bit. */
#define EXACT_ONE_COPY __attribute__((noinline))

/* A contact scaled by powers of two so that W and b are of order one. */
typedef struct dls_exact_contact {
    int d;
    double mu;
    double W[16];
    double b[4];
    double size;        /* of W: its trace, or its largest entry where the trace is less */
    double speed;       /* |b| */
    double slant_size;  /* |w_nn| + μ|w_nt|₁, what s = n·W d is compared with */
    double pencil_size; /* |p| + |B|, what ℓ is compared with */
} dls_exact_contact;

/* The solutions found so far, and how close the excluded branches came. */
typedef struct dls_exact_branches {
    dls_exact_solution *solutions;
    double residuals[DLS_EXACT_MAX_SOLUTIONS];
    int count;
    double stick_margin, slip_margin;
} dls_exact_branches;

/* Factors of an n × n matrix, n ≤ 4, with complete pivoting. */
typedef struct dls_exact_factors {
    double a[16];
    int row[4], column[4];
    double largest_pivot, least_pivot;
} dls_exact_factors;

/* ---- exact_linear.c ---- */

void dls_exact_factor(int n, const double *A, dls_exact_factors *factors);
void dls_exact_backsolve(int n, const dls_exact_factors *factors, double least, const double *y, double *x);

/* A unit direction of K_μ in which W is least positive; returns directionᵀ W direction. */
double dls_exact_least_curvature(const dls_exact_contact *contact, double *direction);

/* ---- exact_roots.c ---- */

/* Real roots in [lo, hi] of Σ a_i xⁱ, degree ≤ 6, double ones included; returns their number, ≤ capacity. */
int dls_exact_roots(int degree, const double *a, double lo, double hi, double *roots, int capacity);

/* ---- exact_slip.c ---- */

/* One step of Newton's method for p + B e = −ℓe on the unit sphere, from the contact's own numbers; d is 3
 * or 4. Returns the defect of e, the part of p + B e orthogonal to it; `next` receives the turned direction
 * and `l` its ℓ up to the square of the turn. */
double dls_exact_turn(int d, const double *W, double mu, const double *b, const double *e, double *l,
                      double *next);

/* Turns e until rounding ends the progress; returns ℓ. */
double dls_exact_polish(int d, const double *W, double mu, const double *b, double *e);

/* r_n of the slip against e. */
double dls_exact_normal_impulse(int d, const double *W, double mu, const double *b, const double *e);

/* r = −(W + α diag(0, I))⁻¹ b, a slip where |r_t| = μ r_n, stick where α = 0. */
void dls_exact_drag(const dls_exact_contact *contact, double alpha, double *r);

/* For b_n < 0 and dᵀWd > 0 on K: a solution that cannot be missed; false when there is none. */
bool dls_exact_bisect(const dls_exact_contact *contact, double *r);

/* All roots of the pencil, offered to the branches. */
void dls_exact_find_slips2(const dls_exact_contact *contact, dls_exact_branches *branches);
void dls_exact_find_slips3(const dls_exact_contact *contact, dls_exact_branches *branches);
void dls_exact_find_slips4(const dls_exact_contact *contact, dls_exact_branches *branches);

/* ---- exact.c ---- */

/* Keeps the slip against e, a root of the pencil, if it solves the contact to rounding and is new. */
void dls_exact_offer_slip(const dls_exact_contact *contact, const double *e, dls_exact_branches *branches);

/* Enumerates and takes the chosen solution. */
dls_contact_state dls_exact_solve_slowly(int d, const double *W, double mu, const double *b, double *r);

#endif
