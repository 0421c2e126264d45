#include "collide/curvature.h"

#include "base/small.h"
#include "base/vector.h"
#include "world/shape/kinds.h"

#include <math.h>
#include <string.h>

bool dls_curvature_at(const dls_shape *shape, const double *x, const double *R, const double *point,
                      const double *n, dls_curvature *surface) {
    const dls_shape_traits *kind = &dls_shape_table[shape->kind];
    double p[3], own[3];
    if (!kind->curvature) return false;
    vec_sub(p, point, x);
    mat_apply_transposed(p, R, p);
    mat_apply_transposed(own, R, n);
    kind->curvature(shape, p, own, surface);
    for (int k = 0; k < 2; k++) mat_apply(surface->axis[k], R, surface->axis[k]);
    return true;
}

/* ġ = n·V,   g̈ = n·(a_B − a_A) + ν·V + n·(ω_B × ṡ_B − ω_A × ṡ_A) */
static void rates(const double *n, const dls_side_motion motion[2], dls_contact_motion *out) {
    double V[3], over[3];
    vec_sub(V, motion[1].v, motion[0].v);
    out->rate = vec_dot(n, V);
    out->bend = vec_dot(out->nu, V);
    for (int i = 0; i < 2; i++) {
        vec_cross(over, motion[i].w, out->slide[i]);
        vec_add(over, over, motion[i].a);
        out->bend += (i ? 1 : -1) * vec_dot(n, over);
    }
}

/* Unknowns ν, ṡ_A, ṡ_B by the tangents t₁, t₂ of the normal: six rows. */
enum { NU = 0, SLIDE_A = 2, SLIDE_B = 4, UNKNOWNS = 6 };

bool dls_contact_moves(const dls_curvature side[2], const double *n, double gap,
                       const dls_side_motion motion[2], dls_contact_motion *out) {
    double t[2][3], V[3], A[UNKNOWNS * UNKNOWNS] = {0}, y[UNKNOWNS];
    vec_tangents(n, t[0], t[1]);
    vec_sub(V, motion[1].v, motion[0].v);
    for (int k = 0; k < 2; k++) {
        A[k + UNKNOWNS * (NU + k)] = gap;
        A[k + UNKNOWNS * (SLIDE_A + k)] = 1;
        A[k + UNKNOWNS * (SLIDE_B + k)] = -1;
        y[k] = vec_dot(t[k], V);
    }
    for (int i = 0; i < 2; i++) {
        double turn[3], sign = i ? -1 : 1;
        vec_cross(turn, motion[i].w, n);
        for (int k = 0; k < 2; k++) {
            const double *axis = side[i].axis[k];
            int row = 2 + 2 * i + k;
            for (int j = 0; j < 2; j++) {
                A[row + UNKNOWNS * ((i ? SLIDE_B : SLIDE_A) + j)] = side[i].P[k] * vec_dot(axis, t[j]);
                A[row + UNKNOWNS * (NU + j)] = -sign * side[i].Q[k] * vec_dot(axis, t[j]);
            }
            y[row] = -sign * side[i].Q[k] * vec_dot(axis, turn);
        }
    }
    if (!small_solve(UNKNOWNS, A, y)) return false;
    double sum = 0;
    memset(out, 0, sizeof *out);
    for (int k = 0; k < 2; k++) {
        vec_along(out->nu, out->nu, y[NU + k], t[k]);
        vec_along(out->slide[0], out->slide[0], y[SLIDE_A + k], t[k]);
        vec_along(out->slide[1], out->slide[1], y[SLIDE_B + k], t[k]);
    }
    for (int k = 0; k < UNKNOWNS; k++) sum += fabs(y[k]);
    rates(n, motion, out);
    return isfinite(sum);
}

static bool is_alike(const dls_curvature *s) { return s->P[0] == s->P[1] && s->Q[0] == s->Q[1]; }

bool dls_contact_moves_alike(const dls_curvature side[2], const double *n, double gap,
                             const dls_side_motion motion[2], dls_contact_motion *out) {
    double V[3], turned[2][3], reach = gap;
    if (!is_alike(&side[0]) || !is_alike(&side[1]) || (side[0].P[0] == 0 && side[1].P[0] == 0)) return false;
    vec_sub(V, motion[1].v, motion[0].v);
    vec_along(V, V, -vec_dot(n, V), n);
    vec_copy(out->nu, V);
    for (int i = 0; i < 2; i++) {
        vec_cross(turned[i], motion[i].w, n);
        vec_along(out->nu, out->nu, side[i].Q[0], turned[i]);
        reach += side[i].Q[0];
    }
    int flat = side[0].P[0] == 0 ? 0 : side[1].P[0] == 0 ? 1 : -1;
    if (flat < 0 && !(fabs(reach) > 0)) return false; /* two corners that touch */
    vec_scale(out->nu, 1 / reach, out->nu);
    if (flat >= 0) vec_copy(out->nu, turned[flat]);
    for (int i = 0; i < 2; i++) {
        vec_sub(out->slide[i], out->nu, turned[i]);
        vec_scale(out->slide[i], i ? -side[i].Q[0] : side[i].Q[0], out->slide[i]);
    }
    if (flat >= 0) { /* ṡ of a flat side follows from that of the other */
        vec_scale(out->slide[flat], gap, out->nu);
        vec_sub(out->slide[flat], out->slide[flat], V);
        vec_along(out->slide[flat], out->slide[flat], flat ? 1 : -1, out->slide[!flat]);
        if (!flat) vec_scale(out->slide[flat], -1, out->slide[flat]);
    }
    rates(n, motion, out);
    return true;
}
