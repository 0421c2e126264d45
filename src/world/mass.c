/* Masses of bodies: shapes add up about the common centre, or mass and inertia are given. */
#include "base/error.h"
#include "base/vector.h"
#include "world/parts.h"

#include <math.h>
#include <string.h>

/* Cyclic Jacobi: rotations that make one pair of off-diagonals zero at a time. A matrix that is diagonal
 * stays as it is, with axes 1. */
void dls_inertia_principal(const double *inertia, double *moments, double *axes) {
    double S[9], V[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(S, inertia, sizeof S);
    for (int round = 0; round < 30; round++) {
        double off = S[3] * S[3] + S[6] * S[6] + S[7] * S[7];
        if (!(off > 1e-34 * (S[0] * S[0] + S[4] * S[4] + S[8] * S[8]))) break;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                double a = S[p + 3 * q];
                if (a == 0) continue;
                double theta = (S[4 * q] - S[4 * p]) / (2 * a);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    double x = S[k + 3 * p], y = S[k + 3 * q];
                    S[k + 3 * p] = c * x - s * y, S[k + 3 * q] = s * x + c * y;
                    x = V[k + 3 * p], y = V[k + 3 * q];
                    V[k + 3 * p] = c * x - s * y, V[k + 3 * q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = S[p + 3 * k], y = S[q + 3 * k];
                    S[p + 3 * k] = c * x - s * y, S[q + 3 * k] = s * x + c * y;
                }
            }
    }
    for (int k = 0; k < 3; k++) moments[k] = S[4 * k];
    memcpy(axes, V, sizeof V); /* products of rotations: right-handed */
}

static dls_status check_mass(const dls_body_mass *m, int dimension, dls_error *error) {
    if (!(m->mass > 0) || !isfinite(m->mass))
        return dls_fail(error, DLS_ERROR_INPUT, "mass is %g kg, expected a finite number above 0", m->mass);
    if (!dls_vec_is_finite(m->centre, 3))
        return dls_fail(error, DLS_ERROR_INPUT, "mass centre is (%g, %g, %g), expected finite numbers",
                        m->centre[0], m->centre[1], m->centre[2]);
    double I[3], axes[9];
    if (!dls_vec_is_finite(m->inertia, 9)) return dls_fail(error, DLS_ERROR_INPUT, "inertia is not finite");
    if (dimension == 2) {
        if (m->inertia[8] > 0 && isfinite(1 / m->inertia[8])) return DLS_OK;
        return dls_fail(error, DLS_ERROR_INPUT,
                        "inertia about z is %g kg m², expected a finite number above 0", m->inertia[8]);
    }
    dls_inertia_principal(m->inertia, I, axes);
    double sum = I[0] + I[1] + I[2];
    for (int k = 0; k < 3; k++) {
        if (!(I[k] > 1e-14 * sum) || !isfinite(1 / I[k]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "principal moments of inertia are %g, %g, %g kg m², expected all above 0", I[0],
                            I[1], I[2]);
        if (I[k] > (0.5 + 1e-9) * sum)
            return dls_fail(
                error, DLS_ERROR_INPUT,
                "principal moments of inertia are %g, %g, %g kg m²: none can exceed the sum of the "
                "others",
                I[0], I[1], I[2]);
    }
    return DLS_OK;
}

static dls_status weigh_given(const dls_body_def *def, int dimension, dls_body_mass *m, dls_error *error) {
    if (!(def->mass > 0))
        return dls_fail(error, DLS_ERROR_INPUT, "inertia is given and mass is %g, expected a mass with it",
                        def->mass);
    m->mass = def->mass;
    vec_copy(m->centre, def->centre);
    memcpy(m->inertia, def->inertia, sizeof m->inertia);
    if (dimension == 2) {
        memset(m->inertia, 0, sizeof m->inertia);
        m->inertia[8] = def->inertia[8];
        if (def->centre[2] != 0)
            return dls_fail(error, DLS_ERROR_INPUT, "mass centre is at z = %g, expected 0 in the plane",
                            def->centre[2]);
    } else {
        double size = 0;
        for (int k = 0; k < 9; k++) size = fmax(size, fabs(m->inertia[k]));
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++) {
                if (fabs(m->inertia[i + 3 * j] - m->inertia[j + 3 * i]) > 1e-9 * size)
                    return dls_fail(error, DLS_ERROR_INPUT, "inertia is not symmetric: %g and %g at (%d, %d)",
                                    m->inertia[i + 3 * j], m->inertia[j + 3 * i], i, j);
                m->inertia[i + 3 * j] = m->inertia[j + 3 * i];
            }
    }
    return check_mass(m, dimension, error);
}

/* m = Σ m_k, c = Σ m_k c_k / m, I = Σ I_k + m_k (|c_k − c|² 1 − (c_k − c)(c_k − c)ᵀ); the centre first. */
static void weigh_shapes(const dls_world *world, int count, const dls_shape *shapes, dls_body_mass *m) {
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            double mass, centre[3], inertia[9];
            double density = world->materials[shapes[k].material].def.density;
            dls_shape_mass(&shapes[k], &mass, centre, inertia);
            if (pass == 0) {
                m->mass += density * mass;
                vec_along(m->centre, m->centre, density * mass, centre);
                if (k == count - 1) vec_scale(m->centre, 1 / m->mass, m->centre);
                if (count == 1) vec_copy(m->centre, centre); /* to the last bit */
                continue;
            }
            double d[3];
            vec_sub(d, centre, m->centre);
            for (int i = 0; i < 9; i++) m->inertia[i] += density * inertia[i];
            if (count > 1) dls_inertia_move(m->inertia, density * mass, d);
        }
    if (world->def.dimension == 2)
        for (int i = 0; i < 8; i++) m->inertia[i] = 0;
}

static dls_status weigh_dynamic(const dls_world *world, const dls_body_def *def, const dls_shape *shapes,
                                dls_body_mass *m, dls_error *error) {
    for (int k = 0; k < def->shape_count; k++)
        if (dls_shape_kind_is_obstacle(shapes[k].kind))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "shape %d is a %s, which has no mass: the body must be static or driven", k,
                            dls_shape_kind_name(shapes[k].kind));
    if (!isfinite(def->mass) || def->mass < 0)
        return dls_fail(error, DLS_ERROR_INPUT, "mass is %g kg, expected a finite number above 0", def->mass);
    if (def->inertia) return weigh_given(def, world->def.dimension, m, error);
    if (def->shape_count == 0)
        return dls_fail(error, DLS_ERROR_INPUT, "a dynamic body without shapes needs mass and inertia");
    if (vec_norm(def->centre) != 0)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "centre of a dynamic body is given without inertia, expected both or none");
    weigh_shapes(world, def->shape_count, shapes, m);
    if (def->mass > 0 && m->mass > 0) {
        for (int i = 0; i < 9; i++) m->inertia[i] *= def->mass / m->mass;
        m->mass = def->mass;
    }
    return check_mass(m, world->def.dimension, error);
}

dls_status dls_body_weigh(const dls_world *world, const dls_body_def *def, const dls_shape *shapes,
                          dls_body_mass *m, dls_error *error) {
    memset(m, 0, sizeof *m);
    if (def->motion == DLS_DYNAMIC) return weigh_dynamic(world, def, shapes, m, error);
    if (!dls_vec_is_finite(def->centre, 3))
        return dls_fail(error, DLS_ERROR_INPUT, "centre is (%g, %g, %g), expected finite numbers",
                        def->centre[0], def->centre[1], def->centre[2]);
    if (world->def.dimension == 2 && def->centre[2] != 0)
        return dls_fail(error, DLS_ERROR_INPUT, "centre is at z = %g, expected 0 in the plane",
                        def->centre[2]);
    m->mass = INFINITY;
    m->inertia[0] = m->inertia[4] = m->inertia[8] = INFINITY;
    vec_copy(m->centre, def->centre);
    return DLS_OK;
}
