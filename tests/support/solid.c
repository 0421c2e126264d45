#include "support/solid.h"

#include "base/vector.h"
#include "support/test.h"

#include <math.h>

solid solid_make(const dls_shape_def *def) {
    solid c = {.at = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    dls_error error;
    if (dls_shape_create(def, 3, &c.shape, &error)) fail_msg("%s", error.message);
    return c;
}

void solid_free(solid *c) { dls_shape_release(&c->shape); }

const dls_placed *solid_at(solid *c) {
    c->at.shape = &c->shape;
    return &c->at;
}

void random_unit(dls_random *g, double *n) {
    for (int i = 0; i < 3; i++) n[i] = dls_random_normal(g);
    vec_scale(n, 1 / vec_norm(n), n);
}

void random_turn(dls_random *g, double *R) {
    double q[4];
    for (int i = 0; i < 4; i++) q[i] = dls_random_normal(g);
    quat_normalize(q);
    quat_matrix(q, R);
}

solid random_solid(dls_random *g, dls_shape_kind kind, double size) {
    dls_shape_def def = dls_default_shape_def(kind);
    double points[3 * 16];
    def.radius = size * dls_random_between(g, 0.1, 1);
    def.length = size * dls_random_between(g, 0.2, 2);
    for (int i = 0; i < 3; i++) def.size[i] = size * pow(10, -dls_random_unit(g));
    if (dls_random_below(g, 4) == 0) def.size[1] = def.size[0]; /* needles and lenses */
    if (kind == DLS_POLYHEDRON) {
        def.point_count = 4 + (int)dls_random_below(g, 13);
        def.points = points;
        for (int k = 0; k < def.point_count; k++) {
            random_unit(g, points + 3 * k);
            for (int i = 0; i < 3; i++) points[3 * k + i] *= def.size[i];
        }
    }
    solid c = solid_make(&def);
    random_turn(g, c.at.R);
    return c;
}

/* ---- support, in the shape's frame ---- */

static double draw(dls_random *g) { return g ? dls_random_unit(g) : 0.5; }

static void support_hull(const dls_hull *hull, const double *n, dls_random *g, double *point) {
    double best = -HUGE_VAL, sum = 0;
    for (int k = 0; k < hull->vertex_count; k++) best = fmax(best, vec_dot(n, hull->vertex + 3 * k));
    vec_set(point, 0, 0, 0);
    for (int k = 0; k < hull->vertex_count; k++) {
        if (vec_dot(n, hull->vertex + 3 * k) < best - 1e-13 * hull->size) continue;
        double weight = 0.01 + draw(g);
        vec_along(point, point, weight, hull->vertex + 3 * k);
        sum += weight;
    }
    vec_scale(point, 1 / sum, point);
}

static void support_ellipsoid(const double *size, const double *n, double *point) {
    double h = 0;
    for (int i = 0; i < 3; i++) h += size[i] * size[i] * n[i] * n[i];
    for (int i = 0; i < 3; i++) point[i] = size[i] * size[i] * n[i] / sqrt(h);
}

static void support_local(const dls_shape *s, const double *n, dls_random *g, double *point) {
    double end = s->length * (fabs(n[2]) < 1e-13 ? draw(g) - 0.5 : n[2] > 0 ? 0.5 : -0.5);
    double flat = hypot(n[0], n[1]), angle = 6.283185307179586 * draw(g), ring = s->radius * sqrt(draw(g));
    if (s->kind == DLS_ELLIPSOID) {
        support_ellipsoid(s->size, n, point);
    } else if (s->hull) {
        support_hull(s->hull, n, g, point);
    } else if (s->kind == DLS_CYLINDER && flat > 1e-13) {
        vec_set(point, s->radius * n[0] / flat, s->radius * n[1] / flat, end);
    } else if (s->kind == DLS_CYLINDER) {
        vec_set(point, ring * cos(angle), ring * sin(angle), end);
    } else {
        vec_scale(point, s->radius, n);
        if (s->kind == DLS_CAPSULE) point[2] += end;
    }
}

double solid_support(const solid *c, const double *n, dls_random *g, double *point) {
    double local[3];
    mat_apply_transposed(local, c->at.R, n);
    support_local(&c->shape, local, g, point);
    mat_apply(point, c->at.R, point);
    vec_add(point, point, c->at.x);
    return vec_dot(n, point);
}

void solid_random_normal(const solid *c, dls_random *g, double *n) {
    const dls_hull *hull = c->shape.hull;
    int choice = (int)dls_random_below(g, 3);
    double part = dls_random_unit(g);
    random_unit(g, n);
    if (choice < 2 && hull) {
        const int *face = hull->edge_face[dls_random_below(g, (uint64_t)hull->edge_count)];
        if (choice == 1) part = 1;
        for (int i = 0; i < 3; i++)
            n[i] =
                part * hull->face_normal[3 * face[0] + i] + (1 - part) * hull->face_normal[3 * face[1] + i];
    } else if (choice == 0) {
        n[2] = 0;
    } else if (choice == 1 && c->shape.kind == DLS_CYLINDER) {
        vec_set(n, 0, 0, part < 0.5 ? 1 : -1);
    }
    vec_scale(n, 1 / vec_norm(n), n);
    mat_apply(n, c->at.R, n);
}

/* ---- distances ---- */

/* Σ (s y/(t + s²))² − 1 in principal axes, falling in t; its derivative. */
static double secular(const double *s, const double *y, double t, double *slope) {
    double sum = -1;
    *slope = 0;
    for (int i = 0; i < 3; i++) {
        double u = s[i] * y[i] / (t + s[i] * s[i]);
        sum += u * u;
        *slope -= 2 * u * u / (t + s[i] * s[i]);
    }
    return sum;
}

double reference_point(const solid *ellipsoid, const double *y, double *n) {
    const double *s = ellipsoid->shape.size, *R = ellipsoid->at.R;
    double d[3], shortest = fmin(s[0], fmin(s[1], s[2])), longest = fmax(s[0], fmax(s[1], s[2]));
    vec_sub(d, y, ellipsoid->at.x);
    mat_apply_transposed(d, R, d);
    double low = -shortest * shortest, high = longest * vec_norm(d) + 1e-300, t = fmax(0, 0.5 * (low + high));
    for (int k = 0; k < 200; k++) {
        double slope, value = secular(s, d, t, &slope);
        if (value == 0) break;
        *(value > 0 ? &low : &high) = t;
        double next = t - value / slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (fabs(next - t) < 1e-16 * (fabs(t) + shortest * shortest)) break;
        t = next;
    }
    double h = 0;
    for (int i = 0; i < 3; i++) n[i] = d[i] / (t + s[i] * s[i]);
    vec_scale(n, 1 / vec_norm(n), n);
    for (int i = 0; i < 3; i++) h += s[i] * s[i] * n[i] * n[i];
    double distance = vec_dot(n, d) - sqrt(h);
    mat_apply(n, R, n);
    return distance;
}

/* Slope of the distance at part of the way from y along a. */
static double slope_at(const solid *ellipsoid, const double *y, const double *a, double part,
                       double *distance, double *n) {
    double x[3];
    vec_along(x, y, part, a);
    *distance = reference_point(ellipsoid, x, n);
    return vec_dot(n, a);
}

double reference_segment(const solid *ellipsoid, const double *y, const double *z, double *n) {
    double a[3], low = 0, high = 1, distance;
    vec_sub(a, z, y);
    double falling = slope_at(ellipsoid, y, a, 0, &distance, n);
    if (falling >= 0) return distance;
    double rising = slope_at(ellipsoid, y, a, 1, &distance, n), length = vec_norm(a);
    if (rising <= 0) return distance;
    for (int k = 0; k < 100 && high - low > 1e-16; k++) { /* false position, every third time the middle */
        double part = k % 3 == 2 ? 0.5 * (low + high) : low - falling * (high - low) / (rising - falling);
        double slope = slope_at(ellipsoid, y, a, part, &distance, n);
        if (fabs(slope) < 1e-15 * length) break;
        if (slope < 0)
            low = part, falling = slope, rising *= k % 3 == 1 ? 0.5 : 1;
        else
            high = part, rising = slope, falling *= k % 3 == 1 ? 0.5 : 1;
    }
    return distance;
}

typedef struct reference {
    double n[3], gap;
} reference;

static void keep_least(reference *best, double gap, const double *n) {
    if (!(gap < best->gap)) return;
    best->gap = gap;
    vec_copy(best->n, n);
}

static void to_world(const solid *c, const double *local, double *x) {
    mat_apply(x, c->at.R, local);
    vec_add(x, x, c->at.x);
}

/* The plane through point with outward normal m: where the ellipsoid is nearest to it. */
static double reference_plane(const solid *e, const double *point, const double *m, double *n, double *foot) {
    double d[3];
    vec_scale(n, -1, m);
    solid_support(e, n, NULL, foot);
    vec_sub(d, foot, point);
    double gap = vec_dot(m, d);
    vec_along(foot, foot, gap, n);
    return gap;
}

/* All edges with their ends, and all faces whose plane is nearest inside them. */
static void reference_hull(const solid *e, const solid *c, reference *best) {
    const dls_hull *hull = c->shape.hull;
    double y[3], z[3], n[3], foot[3], m[3], x[3];
    for (int k = 0; k < hull->edge_count; k++) {
        to_world(c, hull->vertex + 3 * hull->edge_vertex[k][0], y);
        to_world(c, hull->vertex + 3 * hull->edge_vertex[k][1], z);
        double gap = reference_segment(e, y, z, n);
        keep_least(best, gap, n);
    }
    for (int f = 0; f < hull->face_count; f++) {
        bool inside = true;
        mat_apply(m, c->at.R, hull->face_normal + 3 * f);
        to_world(c, hull->vertex + 3 * hull->face_vertex[hull->face_start[f]], y);
        vec_sub(x, e->at.x, y);
        if (vec_dot(m, x) <= 0) continue;
        double gap = reference_plane(e, y, m, n, foot);
        vec_sub(foot, foot, c->at.x);
        mat_apply_transposed(foot, c->at.R, foot);
        for (int o = 0; o < hull->face_count; o++)
            if (o != f && vec_dot(hull->face_normal + 3 * o, foot) > hull->face_offset[o]) inside = false;
        if (inside) keep_least(best, gap, n);
    }
}

/* Least on the generator at an angle, and how it changes with the angle. */
static double generator(const solid *e, const solid *c, double angle, double *n, double *slope) {
    double r = c->shape.radius, l = c->shape.length / 2, y[3] = {r * cos(angle), r * sin(angle), -l};
    double z[3] = {y[0], y[1], l}, turn[3] = {-y[1], y[0], 0};
    to_world(c, y, y);
    to_world(c, z, z);
    mat_apply(turn, c->at.R, turn);
    double gap = reference_segment(e, y, z, n);
    *slope = vec_dot(n, turn);
    return gap;
}

/* The best generator, bracketed from a scan and bisected; and the caps where the foot is on them. */
static void reference_cylinder(const solid *e, const solid *c, reference *best) {
    enum { SCAN = 48 };
    double slope, n[3], foot[3], spacing = 6.283185307179586 / SCAN, gap[SCAN], value = 0;
    int least = 0;
    for (int k = 0; k < SCAN; k++) {
        gap[k] = generator(e, c, spacing * k, n, &slope);
        if (gap[k] < gap[least]) least = k;
    }
    double low = spacing * (least - 1), high = spacing * (least + 1);
    for (int k = 0; k < 54; k++) {
        double at = 0.5 * (low + high);
        value = generator(e, c, at, n, &slope);
        *(slope < 0 ? &low : &high) = at;
    }
    keep_least(best, value, n);
    for (int side = -1; side <= 1; side += 2) {
        double m[3] = {0, 0, side}, centre[3] = {0, 0, side * c->shape.length / 2}, x[3];
        mat_apply(m, c->at.R, m);
        to_world(c, centre, centre);
        vec_sub(x, e->at.x, centre);
        if (vec_dot(m, x) <= 0) continue;
        double plane = reference_plane(e, centre, m, n, foot);
        if (vec_distance(foot, centre) <= c->shape.radius) keep_least(best, plane, n);
    }
}

/* Whether x lies in a hull or in a cylinder: then no surface point is the deepest. */
static bool holds(const solid *c, const double *x) {
    double d[3];
    vec_sub(d, x, c->at.x);
    mat_apply_transposed(d, c->at.R, d);
    if (c->shape.kind == DLS_CYLINDER)
        return hypot(d[0], d[1]) <= c->shape.radius && fabs(d[2]) <= c->shape.length / 2;
    const dls_hull *hull = c->shape.hull;
    for (int f = 0; hull && f < hull->face_count; f++)
        if (vec_dot(hull->face_normal + 3 * f, d) > hull->face_offset[f]) return false;
    return hull;
}

/* f(n) = n · (y − x) with y and x the support points, and its gradient. */
static double separation(const solid *e, const solid *c, const double *n, double *gradient) {
    double minus[3], x[3], y[3];
    vec_scale(minus, -1, n);
    solid_support(e, n, NULL, x);
    solid_support(c, minus, NULL, y);
    vec_sub(gradient, y, x);
    return vec_dot(n, gradient);
}

static void turned(const double *n, const double *t1, const double *t2, double s1, double s2, double *r) {
    for (int i = 0; i < 3; i++) r[i] = n[i] + s1 * t1[i] + s2 * t2[i];
    vec_scale(r, 1 / vec_norm(r), r);
}

/* Newton on the tangential gradient with differences for its derivative. */
static void polish(const solid *e, const solid *c, double *n) {
    for (int round = 0; round < 8; round++) {
        double t1[3], t2[3], g[3], J[2][2], x[3], h = 1e-5, f = separation(e, c, n, g);
        vec_tangents(n, t1, t2);
        double b[2] = {vec_dot(g, t1), vec_dot(g, t2)};
        for (int k = 0; k < 2; k++) {
            double plus[3], minus[3];
            turned(n, t1, t2, k ? 0 : h, k ? h : 0, x);
            separation(e, c, x, plus);
            turned(n, t1, t2, k ? 0 : -h, k ? -h : 0, x);
            separation(e, c, x, minus);
            vec_sub(plus, plus, minus);
            J[0][k] = vec_dot(plus, t1) / (2 * h), J[1][k] = vec_dot(plus, t2) / (2 * h);
        }
        J[0][0] -= f, J[1][1] -= f; /* the tangents turn with n */
        double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
        double s1 = -(J[1][1] * b[0] - J[0][1] * b[1]) / det, s2 = -(J[0][0] * b[1] - J[1][0] * b[0]) / det;
        if (!(hypot(s1, s2) < 0.1)) return;
        turned(n, t1, t2, s1, s2, n);
    }
}

/* Two smooth shapes: the largest f over many directions, then by ever smaller steps, polished. */
static void reference_smooth(const solid *e, const solid *c, reference *best) {
    enum { DIRECTIONS = 400 };
    double n[3] = {0, 0, 1}, g[3], top = -HUGE_VAL;
    for (int k = 0; k < DIRECTIONS; k++) {
        double z = 1 - (2 * k + 1.0) / DIRECTIONS, r = sqrt(1 - z * z), angle = 2.399963229728653 * k;
        double at[3] = {r * cos(angle), r * sin(angle), z}, f = separation(e, c, at, g);
        if (f > top) top = f, vec_copy(n, at);
    }
    for (double step = 0.1; step > 1e-5; step *= 0.5)
        for (bool moved = true; moved;) {
            double t1[3], t2[3], at[3];
            moved = false;
            vec_tangents(n, t1, t2);
            for (int k = 0; k < 4 && !moved; k++) {
                double s = k % 2 ? -step : step;
                turned(n, t1, t2, k < 2 ? s : 0, k < 2 ? 0 : s, at);
                double f = separation(e, c, at, g);
                if (f > top) top = f, vec_copy(n, at), moved = true;
            }
        }
    polish(e, c, n);
    best->gap = separation(e, c, n, g);
    vec_copy(best->n, n);
}

double reference_gap(const solid *e, const solid *c, double *n) {
    reference best = {.gap = HUGE_VAL};
    double y[3], z[3], axis[3];
    vec_scale(axis, c->shape.length / 2, c->at.R + 6);
    vec_sub(y, c->at.x, axis);
    vec_add(z, c->at.x, axis);
    if (holds(c, e->at.x)) return -HUGE_VAL;
    if (c->shape.kind == DLS_SPHERE)
        best.gap = reference_point(e, c->at.x, best.n) - c->shape.radius;
    else if (c->shape.kind == DLS_CAPSULE)
        best.gap = reference_segment(e, y, z, best.n) - c->shape.radius;
    else if (c->shape.kind == DLS_CYLINDER)
        reference_cylinder(e, c, &best);
    else if (c->shape.kind == DLS_ELLIPSOID)
        reference_smooth(e, c, &best);
    else
        reference_hull(e, c, &best);
    vec_copy(n, best.n);
    /* no normal separates by more than the least distance: where this one does not reach it, both are wrong
     */
    double difference[3];
    return separation(e, c, n, difference) >= best.gap - 1e-11 ? best.gap : -HUGE_VAL;
}
