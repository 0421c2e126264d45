#include "world/shape/curvature.h"

#include "base/vector.h"

#include <math.h>

static const double Z[3] = {0, 0, 1};

static void bend(dls_curvature *s, int k, double radius) { s->P[k] = 1, s->Q[k] = radius; }
static void lie_flat(dls_curvature *s, int k) { s->P[k] = 0, s->Q[k] = 1; }

/* The first direction along d as far as that is across n. */
static void aim(const double *n, const double *d, dls_curvature *s) {
    vec_along(s->axis[0], d, -vec_dot(d, n), n);
    double length = vec_norm(s->axis[0]);
    if (length > 1e-12)
        vec_scale(s->axis[0], 1 / length, s->axis[0]);
    else
        vec_tangents(n, s->axis[0], s->axis[1]);
    vec_cross(s->axis[1], n, s->axis[0]);
}

void dls_curvature_round(const dls_shape *shape, const double *p, const double *n, dls_curvature *s) {
    (void)p;
    aim(n, Z, s);
    bend(s, 0, shape->radius);
    bend(s, 1, shape->radius);
}

void dls_curvature_flat(const dls_shape *shape, const double *p, const double *n, dls_curvature *s) {
    (void)shape;
    (void)p;
    aim(n, Z, s);
    lie_flat(s, 0);
    lie_flat(s, 1);
}

/* The vertices that lie farthest along n are a corner, an edge or a face; what is near the edge of a face is
 * its corner only where the normal says so. */
void dls_curvature_hull(const dls_shape *shape, const double *p, const double *n, dls_curvature *s) {
    const dls_hull *hull = shape->hull;
    double most = -HUGE_VAL, edge[3];
    int count = 0, first = 0, last = 0;
    (void)p;
    for (int k = 0; k < hull->vertex_count; k++) most = fmax(most, vec_dot(n, hull->vertex + 3 * k));
    for (int k = 0; k < hull->vertex_count; k++)
        if (vec_dot(n, hull->vertex + 3 * k) > most - 1e-9 * hull->size) {
            if (count++ == 0) first = k;
            last = k;
        }
    vec_sub(edge, hull->vertex + 3 * last, hull->vertex + 3 * first);
    aim(n, count == 2 ? edge : Z, s);
    bend(s, 0, 0);
    bend(s, 1, 0);
    if (count >= 2) lie_flat(s, 0);
    if (count >= 3) lie_flat(s, 1);
}

void dls_curvature_capsule(const dls_shape *shape, const double *p, const double *n, dls_curvature *s) {
    aim(n, Z, s);
    bend(s, 0, shape->radius);
    bend(s, 1, shape->radius);
    if (fabs(p[2] - shape->radius * n[2]) < shape->length / 2 * (1 - 1e-12)) lie_flat(s, 0);
}

/* Of F = Σ x²/a²: curvatures are the eigenvalues of ∇∇F/|∇F| across n, by the angle that makes it diagonal.
 */
void dls_curvature_ellipsoid(const dls_shape *shape, const double *p, const double *n, dls_curvature *s) {
    double a[3], slope = 0, t[2][3], K[3], turned[3];
    for (int k = 0; k < 3; k++) {
        a[k] = 1 / (shape->size[k] * shape->size[k]);
        slope += a[k] * p[k] * a[k] * p[k];
    }
    slope = sqrt(slope);
    vec_tangents(n, t[0], t[1]);
    for (int k = 0; k < 3; k++) {
        K[k] = 0;
        for (int i = 0; i < 3; i++) K[k] += a[i] * t[k == 2][i] * t[k > 0][i] / slope;
    }
    double angle = 0.5 * atan2(2 * K[1], K[0] - K[2]), c = cos(angle), sine = sin(angle);
    vec_scale(turned, c, t[0]);
    vec_along(turned, turned, sine, t[1]);
    aim(n, turned, s);
    bend(s, 0, 1 / (c * c * K[0] + 2 * c * sine * K[1] + sine * sine * K[2]));
    bend(s, 1, 1 / (sine * sine * K[0] - 2 * c * sine * K[1] + c * c * K[2]));
}

/* Round side, flat end, or the rim between: a circle of radius R seen from n, R/(n·m) with m the way out. */
void dls_curvature_cylinder(const dls_shape *shape, const double *p, const double *n, dls_curvature *s) {
    double out[3] = {p[0], p[1], 0}, around[3], far = hypot(p[0], p[1]);
    if (fabs(n[2]) > 1 - 1e-12 || !(far > 0)) {
        dls_curvature_flat(shape, p, n, s);
        return;
    }
    vec_scale(out, 1 / far, out);
    vec_cross(around, Z, out);
    aim(n, around, s);
    bend(s, 0, shape->radius / vec_dot(n, out));
    if (fabs(n[2]) < 1e-12)
        lie_flat(s, 1);
    else
        bend(s, 1, 0);
}

void dls_curvature_hollow(const dls_shape *shape, const double *p, const double *n, dls_curvature *s) {
    double around[3];
    if (fabs(n[2]) > 0.5) {
        dls_curvature_flat(shape, p, n, s);
        return;
    }
    vec_cross(around, Z, n);
    aim(n, around, s);
    bend(s, 0, -shape->radius);
    lie_flat(s, 1);
}
