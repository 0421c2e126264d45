/* The laws of all blocks as pairs of second-order cones, for the interior-point method. With L = {|x̄| ≤ x₀}
 *
 *     part k of a contact   x_k = (μ_k r_n, r_k) ∈ L,  z_k = (ζ_k, u_k) ∈ L,  Σ μ_k (ζ_k − |u_k|) = u_n
 *     bounds of a row       x = r − low ≥ 0 with z ≥ 0,  x' = high − r ≥ 0 with z' ≥ 0,  z − z' = u
 *
 * and x ∘ z = 0 of every pair is the law: K is where all x_k lie in their cones, and its dual the sum of
 * theirs. With E r = x the equation of motion is y = Σ Eᵀ z − (Σ μ_k |z̄_k|) n − u = 0; normal rows of it are
 * divided by the largest μ_k. */
#ifndef SOLVE_GLOBAL_CONES_H
#define SOLVE_GLOBAL_CONES_H

#include "problem/problem.h"
#include "solve/global/lorentz.h"

typedef struct dls_pair {
    int row, tail;        /* of r: x₀ belongs to one, x̄ to size − 1 from the other on */
    int size, at;         /* at: its place in x and z */
    double scale, offset; /* r = scale (x₀ − offset) */
    double share;         /* of z₀ in the row's equation */
    lorentz_scaling scaling;
} dls_pair;

typedef struct dls_cones {
    const dls_problem *problem;
    int count, entries;
    bool shared; /* a contact has several pairs: one r_n for all of them */
    int *first;  /* pair of each block, block_count + 1 entries */
    dls_pair *pairs;
    double *weight; /* of u in the equation of each row; 0: its impulse stays as it is */
    double *x, *z, *dx, *dz;
    double *target;  /* V d of each pair */
    double size;     /* mean size of b, as the equations have it */
    double coupling; /* γ: share of the derivative of |z̄| that directions know of */
} dls_cones;

/* False when memory is out. */
bool dls_cones_prepare(dls_cones *cones, const dls_problem *problem, dls_workspace *workspace);
/* Every pair on its axis, with x₀ z₀ = size² and impulses that the bounds allow; γ = 1. */
void dls_cones_start(dls_cones *cones, double *r);
/* A = Σ Eᵀ Θ E and B = 1 + γ n (Σ μ_k z̄_k/|z̄_k|)ᵀ of every block, Θ = V² the Nesterov–Todd scaling; False
 * where a pair has left the interior. */
bool dls_cones_linearize(dls_cones *cones, double *A, double *B);
/* y at (z, u); returns |y|. */
double dls_cones_motion_error(const dls_cones *cones, const double *u, double *y);
/* target = V (λ \ (σ e − λ∘λ − corrector)); the corrector is that of the direction at hand. */
void dls_cones_aim(dls_cones *cones, double sigma, bool corrector);
/* right = Σ Eᵀ V d + B-wise y, so that (A + B W) δr = right. */
void dls_cones_right_side(const dls_cones *cones, const double *u, double *right);
/* δx = E δr and δz = V d − Θ δx. */
void dls_cones_direct(dls_cones *cones, const double *dr);
/* The largest t ≤ limit with all pairs a step t ahead in their cones. */
double dls_cones_step_length(const dls_cones *cones, double limit);
/* Mean of x·z, a step t ahead. */
double dls_cones_gap(const dls_cones *cones, double t);
/* r, x and z go a step t ahead. */
void dls_cones_advance(dls_cones *cones, double t, const double *dr, double *r);

#endif
