/* Contacts to second order: how normal and touching points move, and what bends the gap.
 *
 *     V_t + ṡ_B − ṡ_A = g ν,    P_A ṡ_A = Q_A (ν − ω_A × n),    P_B ṡ_B = −Q_B (ν − ω_B × n)
 *     g̈ = n·(a_B − a_A) + ν·V + n·(ω_B × ṡ_B − ω_A × ṡ_A)
 *
 * with V the relative velocity of the two material points, a their accelerations and n from A to B. */
#ifndef COLLIDE_CURVATURE_H
#define COLLIDE_CURVATURE_H

#include "collide/collide.h"
#include "world/shape/curvature.h"

/* How one side moves at the touching point. */
typedef struct dls_side_motion {
    double v[3], w[3]; /* of the material point, and angular */
    double a[3];       /* of the material point: ω × (ω × arm), and what else accelerates it */
} dls_side_motion;

typedef struct dls_contact_motion {
    double nu[3];       /* ν = ṅ */
    double slide[2][3]; /* ṡ over A and over B */
    double rate, bend;  /* ġ, g̈ */
} dls_contact_motion;

/* The surface of a shape that stands at x, R, at a point of it with outward normal n, in world axes. False
 * where its kind has no answer. */
bool dls_curvature_at(const dls_shape *shape, const double *x, const double *R, const double *point,
                      const double *n, dls_curvature *surface);

/* The same where each surface bends alike in all directions, which leaves no system to solve:
 *
 *     ν = (V_t + ρ_A ω_A × n + ρ_B ω_B × n)/(ρ_A + ρ_B + g),   or ω × n of a flat side
 *
 * False where they do not, or where both are flat. */
bool dls_contact_moves_alike(const dls_curvature side[2], const double *normal, double gap,
                             const dls_side_motion motion[2], dls_contact_motion *out);

/* False where the surfaces leave the motion open: two faces, or two corners. */
bool dls_contact_moves(const dls_curvature side[2], const double *normal, double gap,
                       const dls_side_motion motion[2], dls_contact_motion *out);

#endif
