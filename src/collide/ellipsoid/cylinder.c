/* Ellipsoid against a cylinder and against the inside of one, in the cylinder's frame. */
#include "base/vector.h"
#include "collide/ellipsoid/ellipsoid.h"

/* ---- solid cylinder ---- */

typedef struct candidate {
    double n[3], distance;
} candidate;

/* f(n) of the cylinder: how far n separates the two. */
static double separation(const dls_ellipsoid *e, double radius, double half, const double *n) {
    double point[3], h = dls_ellipsoid_support(e, n, point);
    return -vec_dot(n, e->c) - h - radius * hypot(n[0], n[1]) - half * fabs(n[2]);
}

static void consider(const dls_ellipsoid *e, double radius, double half, const double *n, candidate *best) {
    double distance = separation(e, radius, half, n);
    if (!(distance > best->distance)) return;
    best->distance = distance;
    vec_copy(best->n, n);
}

/* Second derivative of φ along the unit t: tᵀHt with H = (radii of curvature + φ)⁻¹ across n. */
static double bend(const dls_ellipsoid *e, const double *n, double distance, const double *t) {
    double t1[3], t2[3], K[3];
    vec_tangents(n, t1, t2);
    dls_ellipsoid_radii(e, n, t1, t2, K);
    K[0] += distance, K[2] += distance;
    double a = vec_dot(t, t1), b = vec_dot(t, t2), det = K[0] * K[2] - K[1] * K[1];
    return det > 0 ? (K[2] * a * a - 2 * K[1] * a * b + K[0] * b * b) / det : 0;
}

/* Where the least φ on a cap's plane lies beyond the rim, seen from y in the cap: the rim's point there. */
static void leave_cap(const dls_ellipsoid *e, double radius, double z, const double *y, double *at) {
    double up = e->c[2] - z, n[3] = {0, 0, up > 0 ? -1 : 1}, foot[3];
    dls_ellipsoid_support(e, n, foot);
    double dx = foot[0] - y[0], dy = foot[1] - y[1], a = dx * dx + dy * dy, b = dx * y[0] + dy * y[1];
    double c = fmax(0, radius * radius - y[0] * y[0] - y[1] * y[1]);
    double part = a > 0 ? (sqrt(b * b + a * c) - b) / a : 0;
    at[0] = y[0] + part * dx, at[1] = y[1] + part * dy;
    double length = hypot(at[0], at[1]);
    at[0] = length > 0 ? at[0] / length : 1, at[1] = length > 0 ? at[1] / length : 0;
}

/* Least φ on the rim at height z, by Newton on the angle from the unit (x, y) = at, always downhill. */
static void descend_rim(const dls_ellipsoid *e, double radius, double z, double *at, candidate *best) {
    double step = 0, from[2] = {at[0], at[1]};
    for (int k = 0; k < 60; k++) {
        double y[3] = {radius * at[0], radius * at[1], z}, t[3] = {-at[1], at[0], 0}, n[3];
        vec_copy(n, best->n);
        double distance = dls_ellipsoid_to_point(e, y, k > 0, n);
        if (k > 0 && distance > best->distance && fabs(step) > 1e-7) { /* too far: a part of the step */
            step *= 0.4;
        } else {
            double slope = vec_dot(n, t), outward = n[0] * at[0] + n[1] * at[1];
            double curvature = radius * bend(e, n, distance, t) - outward;
            best->distance = distance;
            vec_copy(best->n, n);
            from[0] = at[0], from[1] = at[1];
            if (k > 0 && fabs(step) < 1e-9) return;
            step = curvature > fabs(slope) / 0.5 ? -slope / curvature
                   : slope > 0                   ? -0.3
                   : slope < 0                   ? 0.3
                                                 : 0;
        }
        double x = from[0] - step * from[1], w = from[1] + step * from[0], length = hypot(x, w);
        at[0] = x / length, at[1] = w / length;
    }
}

/* Least φ on a cap whose plane's least lies beyond it. On the rim there may be two minima; the one towards
 * which φ falls from inside the cap is the least of all, from the other a straight way leads down to it. */
static void nearest_rim(const dls_ellipsoid *e, double radius, double z, bool warm, candidate *best) {
    const double middle[3] = {0, 0, z};
    double at[2], flat = hypot(best->n[0], best->n[1]);
    if (warm && flat > 1e-3)
        at[0] = -best->n[0] / flat, at[1] = -best->n[1] / flat;
    else
        leave_cap(e, radius, z, middle, at);
    descend_rim(e, radius, z, at, best);
    if (best->n[0] * at[0] + best->n[1] * at[1] <= 0) return;
    double y[3] = {radius * at[0], radius * at[1], z};
    leave_cap(e, radius, z, y, at);
    descend_rim(e, radius, z, at, best);
}

/* The best of wall, caps and rims by what they separate: where the wall's normal is no guide, deep inside. */
static void try_all(const dls_ellipsoid *e, double radius, double half, const double *wall, candidate *at) {
    at->distance = -HUGE_VAL;
    for (int side = -1; side <= 1; side += 2) {
        candidate rim = {.distance = 0};
        const double axis[3] = {0, 0, side};
        nearest_rim(e, radius, side * half, false, &rim);
        consider(e, radius, half, rim.n, at);
        consider(e, radius, half, axis, at);
    }
    consider(e, radius, half, wall, at);
}

/* Nearest point of the endless cylinder first; beyond the ends it is on that end's cap or on its rim. False
 * when the gap is more than margin. */
static bool nearest(const dls_ellipsoid *e, double radius, double half, double margin, bool warm,
                    candidate *at) {
    const double origin[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
    double wall[3], z, foot[3], outside = hypot(e->c[0], e->c[1]) - radius;
    if (warm && separation(e, radius, half, at->n) > margin) return false;
    double distance = dls_ellipsoid_to_line(e, origin, axis, wall, &z) - radius;
    bool shallow = dls_ellipsoid_is_shallow(e, distance);
    if (outside <= 0) z = e->c[2];
    if (shallow && outside > 0 && fabs(z) <= half) {
        at->distance = distance;
        vec_copy(at->n, wall);
        return at->distance <= margin;
    }
    double side = z > 0 ? 1 : -1, up = side * e->c[2] - half;
    if (up > 0) {
        const double n[3] = {0, 0, -side};
        double h = dls_ellipsoid_support(e, n, foot);
        if (foot[0] * foot[0] + foot[1] * foot[1] <= radius * radius && dls_ellipsoid_is_shallow(e, up - h)) {
            vec_copy(at->n, n);
            at->distance = up - h;
            return at->distance <= margin;
        }
    }
    bool guided = fabs(z) > half && (shallow || outside <= 0);
    if (guided) nearest_rim(e, radius, side * half, warm, at);
    if (!guided || separation(e, radius, half, at->n) < at->distance - 1e-11 * (radius + half))
        try_all(e, radius, half, wall, at);
    return at->distance <= margin;
}

/* One contact: both are convex and the ellipsoid has no flat part. It keeps its name while it wanders. */
void dls_ellipsoid_cylinder(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                            const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)last, (void)last_count;
    double radius = b->shape->radius, half = 0.5 * b->shape->length, n[3];
    dls_ellipsoid e, seen;
    dls_ellipsoid_place(a, &e);
    if (dls_ellipsoid_is_far(&e, b->x, hypot(radius, half), margin)) return;
    dls_ellipsoid_view(&e, b->x, b->R, &seen);
    candidate at = {.distance = 0};
    vec_copy(at.n, memory->n);
    bool near = nearest(&seen, radius, half, margin, dls_ellipsoid_recalls(memory), &at);
    vec_copy(memory->n, at.n);
    memory->used = 1;
    if (!near) return;
    mat_apply(n, b->R, at.n);
    dls_ellipsoid_touch(&e, n, at.distance, 0, manifold);
}

/* ---- inside ---- */

/* The ellipse seen along the axis, in its own axes: semi-axes s₁ ≥ s₂ and centre q. */
typedef struct section {
    double s[2], q[2];
    double axis[2]; /* of s₁ */
} section;

static void make_section(const dls_ellipsoid *e, section *p) {
    double half = 0.5 * (e->A[0] - e->A[1]), b = e->A[3], spread = sqrt(half * half + b * b);
    double greatest = 0.5 * (e->A[0] + e->A[1]) + spread, least = (e->A[0] * e->A[1] - b * b) / greatest;
    double x = half + spread, y = b; /* along s₁; the other row where this one vanishes */
    if (half < 0) x = b, y = spread - half;
    double length = hypot(x, y);
    p->axis[0] = length > 0 ? x / length : 1, p->axis[1] = length > 0 ? y / length : 0;
    p->s[0] = sqrt(greatest), p->s[1] = sqrt(fmax(0, least));
    p->q[0] = p->axis[0] * e->c[0] + p->axis[1] * e->c[1];
    p->q[1] = p->axis[0] * e->c[1] - p->axis[1] * e->c[0];
}

/* Root of (a/ν)² + (b/(ν+D))² = 1 beyond 0, Newton on the root's inverse from below: concave. */
static double farthest_root(double a, double b, double D) {
    double nu = fmax(fabs(a), fabs(b) - D);
    for (int k = 0; k < 60; k++) {
        double u = a / nu, v = b / (nu + D), G = u * u + v * v, excess = sqrt(G) - 1;
        if (excess < 1e-15) break;
        double step = G * excess / (u * u / nu + v * v / (nu + D));
        nu += step;
        if (step <= 1e-16 * nu) break;
    }
    return nu;
}

/* The root in (−D, 0) with positive slope, 0 where there is none: a second place that is farther from the
 * axis than all around it. Newton from above, where the left side is convex and more than 1. */
static double second_root(double a, double b, double D) {
    if (!(fabs(a) < D)) return 0;
    double bottom = -D / (1 + cbrt(b * b / (a * a))), u = a / bottom, v = b / (bottom + D);
    if (!(u * u + (b != 0 ? v * v : 0) < 1)) return 0;
    double nu = -fabs(a);
    for (int k = 0; k < 100; k++) {
        u = a / nu, v = b / (nu + D);
        double excess = u * u + v * v - 1, slope = -2 * (u * u / nu + v * v / (nu + D));
        if (!(excess > 1e-15) || !(slope > 0)) break;
        double next = fmax(bottom, nu - excess / slope);
        if (next == nu) break;
        nu = next;
    }
    return nu;
}

/* Normals (in the plane of the section) at the one or two places where the section is farthest from the axis.
 * On u, |u| = 1, of q + s∘u: u = (a/ν, b/(ν+D)) with a = s₁q₁, b = s₂q₂, D = s₁² − s₂². */
static int wall_normals(const section *p, double normal[2][2], double distance[2]) {
    double a = p->s[0] * p->q[0], b = p->s[1] * p->q[1], D = p->s[0] * p->s[0] - p->s[1] * p->s[1];
    double u[2][2] = {{1, 0}, {-1, 0}};
    int count = 1;
    if (fabs(a) <= 1e-14 * D && fabs(b) <= D) { /* on the short axis: both sides are equally far */
        double u2 = D > 0 ? b / D : 0, u1 = sqrt(fmax(0, 1 - u2 * u2));
        u[0][0] = u1, u[1][0] = -u1, u[0][1] = u[1][1] = u2;
        count = D > 0 && u1 > 0 ? 2 : 1;
    } else {
        double nu = farthest_root(a, b, D), second = second_root(a, b, D);
        if (nu > 0) u[0][0] = a / nu, u[0][1] = b / (nu + D);
        if (second < 0) u[1][0] = a / second, u[1][1] = b / (second + D), count = 2;
    }
    for (int k = 0; k < count; k++) {
        double x = p->q[0] + p->s[0] * u[k][0], y = p->q[1] + p->s[1] * u[k][1], length = hypot(x, y);
        x /= length, y /= length;
        normal[k][0] = p->axis[0] * x - p->axis[1] * y;
        normal[k][1] = p->axis[1] * x + p->axis[0] * y;
        distance[k] = length;
    }
    return count;
}

/* Features: walls 0 and 1, opposite each other, are told apart by where wall 0 was; caps 2 (low) and 3. */
static void touch_walls(const dls_ellipsoid *e, const dls_ellipsoid *seen, const dls_placed *b, double margin,
                        dls_pair_memory *memory, dls_manifold *manifold) {
    section p;
    double normal[2][2], distance[2], radius = b->shape->radius;
    make_section(seen, &p);
    int count = wall_normals(&p, normal, distance), first = 0;
    if (dls_ellipsoid_recalls(memory)) {
        double toward[2];
        for (int k = 0; k < count; k++) toward[k] = normal[k][0] * memory->n[0] + normal[k][1] * memory->n[1];
        first = count == 2 ? toward[1] > toward[0] : toward[0] < 0;
    }
    double sign = count == 1 && first ? -1 : 1; /* wall 1 alone: wall 0 would be opposite */
    const double *zero = normal[count == 2 ? first : 0];
    memory->n[0] = sign * zero[0], memory->n[1] = sign * zero[1], memory->n[2] = 0;
    memory->used = 1;
    for (int k = 0; k < count; k++) {
        double n[3] = {normal[k][0], normal[k][1], 0}, gap = radius - distance[k];
        if (!(gap <= margin)) continue;
        mat_apply(n, b->R, n);
        dls_ellipsoid_touch(e, n, gap, (uint64_t)(k != first), manifold);
    }
}

void dls_ellipsoid_cylinder_inside(const dls_placed *a, const dls_placed *b, double margin,
                                   dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                   dls_manifold *manifold) {
    (void)last, (void)last_count;
    dls_ellipsoid e, seen;
    dls_ellipsoid_place(a, &e);
    dls_ellipsoid_view(&e, b->x, b->R, &seen);
    double half = 0.5 * b->shape->length, bound = sqrt(e.greatest);
    if (hypot(seen.c[0], seen.c[1]) + bound + margin >= b->shape->radius)
        touch_walls(&e, &seen, b, margin, memory, manifold);
    for (int k = 0; k < 2 && half > 0; k++) {
        double side = k ? -1 : 1, m[3], x[3];
        vec_scale(m, side, b->R + 6);
        vec_along(x, b->x, -half, m);
        dls_ellipsoid_touch_plane(&e, x, m, margin, (uint64_t)(2 + k), manifold);
    }
}
