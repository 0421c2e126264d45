/* Capsules: balls about the points of a segment. */
#include "collide/round/round.h"

/* Axes within this sine are nearly parallel: contacts at both ends of the overlap. */
static const double parallel_sine = 0.3;
/* Relative to the sum of the radii. */
static const double short_overlap =
    1e-3; /* below this (half of it when it was there) one contact is enough */
static const double deeper_between = 1e-10; /* a contact between the ends counts where it is so much deeper */
static const double deep_axes = 0.1;        /* axes nearer than that: overlap beyond sense, one contact */

enum { BETWEEN, LOW_END, HIGH_END }; /* features along the first capsule */

/* The axis from its lower end. */
static void axis_of(const dls_placed *c, double *low, double *along) {
    vec_scale(along, c->shape->length, c->R + 6);
    vec_along(low, c->x, -0.5, along);
}

static double clamp(double s) { return fmin(fmax(s, 0), 1); }

static double place_on(const double *q, const double *e, const double *point) {
    double d[3], square = vec_dot(e, e);
    vec_sub(d, point, q);
    return square > 0 ? clamp(vec_dot(d, e) / square) : 0;
}

/* Parallel segments: the middle of what they have in common, or the two ends that face each other. */
static double middle_of_overlap(const double *p, const double *d, const double *q, const double *e) {
    double from[3], square = vec_dot(d, d);
    if (!(square > 0)) return 0;
    vec_sub(from, q, p);
    double u = vec_dot(from, d) / square, v = u + vec_dot(e, d) / square;
    return (clamp(fmin(u, v)) + clamp(fmax(u, v))) / 2;
}

/* Minimum of |p + s d − q − t e|². Inside the square of (s, t) it is that of the two lines; else it lies on
 * its border: the best of each segment's ends on the other one. */
void dls_segments_nearest(const double *p, const double *d, const double *q, const double *e, double *s,
                          double *t) {
    double r[3], c[3], rd[3], re[3], dd = vec_dot(d, d), ee = vec_dot(e, e), de = vec_dot(d, e);
    vec_sub(r, q, p);
    vec_cross(c, d, e);
    double dr = vec_dot(d, r), er = vec_dot(e, r), det = vec_dot(c, c);
    if (det <= 1e-20 * dd * ee) { /* parallel, or points */
        double point[3];
        *s = middle_of_overlap(p, d, q, e);
        vec_along(point, p, *s, d);
        *t = place_on(q, e, point);
        return;
    }
    vec_cross(re, r, e); /* r = s d − t e + (across both), crossed with e and with d: no digits are lost */
    vec_cross(rd, r, d);
    *s = vec_dot(re, c) / det, *t = vec_dot(rd, c) / det;
    if (*s >= 0 && *s <= 1 && *t >= 0 && *t <= 1) return;
    double best = INFINITY, line_s = *s, line_t = *t;
    for (int k = 0; k < 4; k++) {
        double fixed = k & 1, other, x[3];
        if (k < 2 ? (fixed > 0 ? line_s < 1 : line_s > 0) : (fixed > 0 ? line_t < 1 : line_t > 0))
            continue; /* the minimum lies on a border that separates the square from that of the lines */
        other = k < 2 ? clamp((fixed * de - er) / ee) : clamp((dr + fixed * de) / dd);
        double s_here = k < 2 ? fixed : other, t_here = k < 2 ? other : fixed;
        for (int i = 0; i < 3; i++) x[i] = r[i] + t_here * e[i] - s_here * d[i];
        double square = vec_dot(x, x);
        if (square < best) best = square, *s = s_here, *t = t_here;
    }
}

/* A unit vector across u, or across nothing. */
static void perpendicular(const double *u, double *r) {
    double length = vec_norm(u), unit[3] = {0, 0, 1}, other[3];
    if (length > 0) vec_scale(unit, 1 / length, u);
    vec_tangents(unit, r, other);
}

void dls_collide_sphere_capsule(const dls_placed *a, const dls_placed *b, double margin,
                                dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double q[3], e[3], foot[3];
    axis_of(b, q, e);
    vec_along(foot, q, place_on(q, e, a->x), e);
    /* across the axis, its own x will do where the centre lies on it */
    dls_balls_add(a->x, a->shape->radius, foot, b->shape->radius, b->R, margin, 0, manifold);
}

/* Where the axes cross, n is the normal of both; parallel ones part sideways. */
static void direction_apart(const double *d, const double *e, double *apart) {
    vec_cross(apart, d, e);
    double square = vec_dot(apart, apart);
    if (square > 1e-20 * vec_dot(d, d) * vec_dot(e, e))
        vec_scale(apart, 1 / sqrt(square), apart);
    else
        perpendicular(vec_dot(d, d) > vec_dot(e, e) ? d : e, apart);
}

/* The part of p + s d beside q + t e; false where it is too short to rock on. */
static bool overlap(const double *p, const double *d, const double *q, const double *e, double shortest,
                    double *low, double *high) {
    double dd = vec_dot(d, d), from[3];
    vec_sub(from, q, p);
    double u = vec_dot(from, d) / dd, v = u + vec_dot(e, d) / dd;
    *low = clamp(fmin(u, v)), *high = clamp(fmax(u, v));
    return (*high - *low) * sqrt(dd) > shortest;
}

/* Balls about p and q along a given n. */
static void add_along(const double *p, double a, const double *q, double b, const double *n, double margin,
                      int feature, dls_manifold *manifold) {
    double d[3], point_a[3], point_b[3];
    vec_sub(d, q, p);
    double gap = vec_dot(d, n) - a - b;
    if (gap > margin) return;
    vec_along(point_a, p, a, n);
    vec_along(point_b, q, -b, n);
    dls_manifold_add(manifold, point_a, point_b, n, gap, (uint64_t)feature);
}

void dls_collide_capsule_capsule(const dls_placed *a, const dls_placed *b, double margin,
                                 dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                 dls_manifold *manifold) {
    (void)last, (void)last_count;
    double p[3], d[3], q[3], e[3], s, t, x[3], y[3], n[3], apart[3];
    double ra = a->shape->radius, rb = b->shape->radius, sum = ra + rb;
    double far = sum + margin + (a->shape->length + b->shape->length) / 2;
    vec_sub(x, b->x, a->x);
    if (vec_dot(x, x) > far * far) return;
    axis_of(a, p, d);
    axis_of(b, q, e);
    dls_segments_nearest(p, d, q, e, &s, &t);
    vec_along(x, p, s, d);
    vec_along(y, q, t, e);
    double nearest = vec_distance(x, y), low, high;
    if (nearest > sum + margin) return;
    direction_apart(d, e, apart);

    double cosine = vec_dot(a->R + 6, b->R + 6), shortest = short_overlap * sum * (memory->used ? 0.5 : 1);
    bool two = 1 - cosine * cosine < parallel_sine * parallel_sine && nearest > deep_axes * sum &&
               a->shape->length > 0 && b->shape->length > 0 && overlap(p, d, q, e, shortest, &low, &high);
    memory->used = two;
    if (nearest < 1e-3 * sum && s > 0 && s < 1 && t > 0 && t < 1) { /* the difference has lost digits */
        vec_sub(n, y, x);
        vec_scale(n, vec_dot(n, apart) < 0 ? -1 : 1, apart);
    } else if (nearest > 0) {
        vec_sub(n, y, x);
        vec_scale(n, 1 / nearest, n);
    } else {
        vec_copy(n, apart);
    }
    double shallow = INFINITY, level = nearest + deeper_between * sum;
    for (int k = LOW_END; two && k <= HIGH_END; k++) {
        double foot[3], other[3];
        vec_along(foot, p, k == LOW_END ? low : high, d);
        vec_along(other, q, place_on(q, e, foot), e);
        double distance = vec_distance(foot, other);
        shallow = fmin(shallow, distance);
        /* n depends on where they meet much more than the distance does: ends as deep share it */
        if (distance <= level)
            add_along(foot, ra, other, rb, n, margin, k, manifold);
        else
            dls_balls_add(foot, ra, other, rb, apart, margin, (uint64_t)k, manifold);
    }
    if (two && shallow <= level) return;
    int feature = two || (s > 0 && s < 1) ? BETWEEN : s > 0 ? HIGH_END : LOW_END;
    add_along(x, ra, y, rb, n, margin, feature, manifold);
}

/* ---- obstacles whose height over them is greatest or least at an end of the axis ---- */

static int ends_of(const dls_placed *c, double end[2][3]) {
    double along[3];
    axis_of(c, end[0], along);
    vec_add(end[1], end[0], along);
    return c->shape->length > 0 ? 2 : 1;
}

void dls_collide_capsule_half_space(const dls_placed *a, const dls_placed *b, double margin,
                                    dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                    dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double end[2][3], d[3];
    int count = ends_of(a, end);
    for (int k = 0; k < count; k++) {
        vec_sub(d, end[k], b->x);
        dls_ball_wall_add(end[k], a->shape->radius, b->R + 6, vec_dot(b->R + 6, d), margin, (uint64_t)k,
                          manifold);
    }
}

void dls_collide_capsule_box_inside(const dls_placed *a, const dls_placed *b, double margin,
                                    dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                    dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double end[2][3];
    int count = ends_of(a, end);
    for (int k = 0; k < count; k++)
        dls_ball_box_inside_add(end[k], a->shape->radius, b, margin, (uint64_t)(6 * k), manifold);
}

void dls_collide_capsule_cylinder_inside(const dls_placed *a, const dls_placed *b, double margin,
                                         dls_pair_memory *memory, const dls_contact_point *last,
                                         int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double end[2][3];
    int count = ends_of(a, end);
    for (int k = 0; k < count; k++)
        dls_ball_cylinder_inside_add(end[k], a->shape->radius, b, margin, (uint64_t)(6 * k), manifold);
}
