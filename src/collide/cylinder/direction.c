/* The best direction between a cylinder and a hull, a segment or another cylinder.
 *
 * At a local maximum of f either flat features fix n (a face, a cap), or n is across an edge and stationary
 * in the plane across it, or n comes from a point, or two rims meet. All of the first kinds are listed in
 * closed form or by Newton's method on a convex function, rims by Newton's method on the sphere; f(n) is
 * never above the gap, so the largest f of the list is the gap. */
#include "collide/cylinder/cylinder.h"

#include <string.h>

void dls_cylinder_place(const dls_placed *placed, const double *x, const double *R, dls_cylinder *cylinder) {
    double d[3];
    vec_sub(d, placed->x, x);
    mat_apply_transposed(cylinder->c, R, d);
    mat_apply_transposed(cylinder->x, R, placed->R);
    mat_apply_transposed(cylinder->y, R, placed->R + 3);
    mat_apply_transposed(cylinder->a, R, placed->R + 6);
    cylinder->r = placed->shape->radius;
    cylinder->h = placed->shape->length / 2;
}

void dls_cylinder_reach_point(const dls_cylinder *A, const double *n, double *point) {
    double s = vec_dot(n, A->a), p[3];
    vec_along(p, n, -s, A->a);
    double across = vec_norm(p);
    vec_along(point, A->c, s < 0 ? -A->h : A->h, A->a);
    if (across > 1e-9) vec_along(point, point, A->r / across, p); /* else all of the cap does */
}

/* ---- a line ---- */

/* The left side falls and is convex, so Newton from where one term is 1 rises to the root. */
double dls_cylinder_outer_root(double a, double b, double D) {
    double nu = fmax(a, b - D);
    for (int k = 0; k < 60; k++) {
        double p = a / nu, q = b / (nu + D), F = p * p + q * q - 1;
        double slope = -2 * (p * p / nu + q * q / (nu + D)), next = nu - F / slope;
        if (!(next > nu * (1 + 1e-16))) break;
        nu = next;
    }
    return nu;
}

double dls_cylinder_inner_root(double a, double b, double D) {
    double nu = -a;
    for (int k = 0; k < 60; k++) {
        if (!(nu > -D)) return 0;
        double p = a / nu, q = b / (nu + D), F = p * p + q * q - 1;
        double slope = -2 * (p * p / nu + q * q / (nu + D));
        if (!(slope > 0)) return 0;
        double next = nu - F / slope;
        if (!(next < nu * (1 + 1e-16))) break;
        nu = next;
    }
    return nu;
}

/* Across the line the cylinder is the rectangle |x| ≤ h s, |y| ≤ r with half-ellipses of semi-axes r c and r
 * at its ends. (X, Y ≥ 0) is where the line is, X measured from the end of the rectangle. Outward normal of
 * the half-ellipse where it is nearest to the line; false where no point of it is. */
static bool arc_normal(double X, double Y, double r, double c, double *n) {
    double a = r * c, D = r * r * (1 - c * c);
    if (X >= 0) {
        double first = a * X, second = r * Y;
        if (fmax(first, second - D) > 0) {
            double nu = dls_cylinder_outer_root(first, second, D);
            n[0] = X / nu, n[1] = Y / (nu + D);
        } else if (D > 0 && a > 0) {
            double k = fmin(1, second / D);
            n[0] = sqrt(1 - k * k), n[1] = k * c;
        } else {
            n[0] = 1, n[1] = 0;
        }
    } else {
        double first = -a * X, second = r * Y;
        if (!(first > 0) || Y >= r) return false;
        double nu = dls_cylinder_inner_root(first, second, D);
        if (!(nu < 0)) return false;
        n[0] = X / nu, n[1] = Y / (nu + D);
    }
    double size = sqrt(n[0] * n[0] + n[1] * n[1]);
    if (!(size > 0) || !isfinite(size)) return false;
    n[0] /= size, n[1] /= size;
    return true;
}

int dls_cylinder_line_directions(const dls_cylinder *A, const double *q, const double *e, double (*n)[3],
                                 bool *rim) {
    double c = vec_dot(A->a, e), u[3], w[3], flat[2];
    vec_along(u, A->a, -c, e);
    double s = vec_norm(u);
    if (s < 1e-9) { /* parallel: straight away from the axis */
        vec_along(n[0], q, -vec_dot(q, e), e);
        double size = vec_norm(n[0]);
        if (!(size > 1e-12 * A->r)) vec_copy(n[0], A->x), size = 1;
        vec_scale(n[0], 1 / size, n[0]);
        rim[0] = false;
        return 1;
    }
    vec_scale(u, 1 / s, u);
    vec_cross(w, e, u);
    double x = vec_dot(q, u), y = vec_dot(q, w);
    vec_scale(n[0], y < 0 ? -1 : 1, w);
    vec_scale(n[1], -1, n[0]);
    rim[0] = rim[1] = false;
    int count = 2;
    for (int end = 0; end < 2; end++) { /* the nearer end, then the other one */
        double towards = (x < 0) == (end == 0) ? -1 : 1;
        if (!arc_normal(towards * x - A->h * s, fabs(y), A->r, fabs(c), flat)) continue;
        vec_scale(n[count], towards * flat[0], u);
        vec_along(n[count], n[count], y < 0 ? -flat[1] : flat[1], w);
        rim[count++] = true;
    }
    return count;
}

/* ---- a point ---- */

int dls_cylinder_point_directions(const dls_cylinder *A, const double *q, double (*n)[3]) {
    double z = vec_dot(q, A->a), p[3], out = fabs(z) - A->h;
    vec_along(p, q, -z, A->a);
    double rho = vec_norm(p);
    if (!(rho > 1e-12 * A->r)) return 0; /* the caps and the edges around the point say it all */
    vec_scale(p, 1 / rho, p);
    if (out > 0 && rho > A->r) {
        double size = sqrt(out * out + (rho - A->r) * (rho - A->r));
        vec_scale(n[0], (rho - A->r) / size, p);
        vec_along(n[0], n[0], (z < 0 ? -out : out) / size, A->a);
        return 1;
    }
    if (out > 0) return 0;
    vec_copy(n[0], p);
    return 1;
}

/* Keeps n when it is better; false when f is beyond the margin. */
static bool keep(dls_direction *best, const double *n, double f, dls_cylinder_support kind, int index,
                 double margin) {
    if (f > best->f) {
        vec_copy(best->n, n);
        best->f = f;
        best->kind = kind;
        best->index = index;
    }
    return f <= margin;
}

/* ---- hull ---- */

/* min over the hull of n·x − reach of the cylinder */
static double hull_f(const dls_cylinder *A, const dls_hull *hull, const double *n) {
    double least = HUGE_VAL;
    for (int v = 0; v < hull->vertex_count; v++) least = fmin(least, vec_dot(n, hull->vertex + 3 * v));
    return least - cylinder_reach(A, n);
}

static bool hull_faces_and_caps(const dls_cylinder *A, const dls_hull *hull, double margin,
                                dls_direction *best) {
    double n[3];
    for (int k = 0; k < hull->face_count; k++) {
        vec_scale(n, -1, hull->face_normal + 3 * k);
        if (!keep(best, n, -hull->face_offset[k] - cylinder_reach(A, n), SUPPORT_FACE, k, margin))
            return false;
    }
    for (int cap = 0; cap < 2; cap++) {
        vec_scale(n, cap ? 1 : -1, A->a);
        if (!keep(best, n, hull_f(A, hull, n), SUPPORT_CAP, cap, margin)) return false;
    }
    return true;
}

/* Whether n is a normal that turns the edge towards the cylinder: −n between the normals of its faces. */
static bool in_edge_cone(const double *e, const double *n1, const double *n2, const double *n) {
    double t[3];
    vec_cross(t, e, n1);
    double sign = vec_dot(t, n2) > 0 ? -1 : 1;
    if (sign * vec_dot(t, n) < -1e-10) return false;
    vec_cross(t, e, n2);
    sign = vec_dot(t, n1) > 0 ? -1 : 1;
    return sign * vec_dot(t, n) >= -1e-10;
}

static bool hull_edges(const dls_cylinder *A, const dls_hull *hull, double margin, dls_direction *best) {
    double thin = fmin(A->r, A->h);
    for (int k = 0; k < hull->edge_count; k++) {
        const double *p = hull->vertex + 3 * hull->edge_vertex[k][0];
        const double *n1 = hull->face_normal + 3 * hull->edge_face[k][0],
                     *n2 = hull->face_normal + 3 * hull->edge_face[k][1];
        double q[3], e[3], n[4][3];
        bool rim[4];
        vec_sub(q, p, A->c);
        double ahead = fmax(-vec_dot(n1, q), -vec_dot(n2, q)); /* bounds n·q on the edge's arc where < 0 */
        if (ahead < 0 && ahead - thin <= best->f) continue;
        vec_sub(e, hull->vertex + 3 * hull->edge_vertex[k][1], p);
        double length = vec_norm(e);
        vec_scale(e, 1 / length, e);
        int count = dls_cylinder_line_directions(A, q, e, n, rim);
        for (int i = 0; i < count; i++) {
            double f = vec_dot(n[i], p) - cylinder_reach(A, n[i]);
            if (!(f > best->f) || !in_edge_cone(e, n1, n2, n[i])) continue;
            f = hull_f(A, hull, n[i]); /* the cone has a tolerance, this has none */
            if (!(f > best->f)) continue;
            vec_copy(best->point, p);
            vec_copy(best->along, e);
            best->length = length;
            if (!keep(best, n[i], f, rim[i] ? SUPPORT_EDGE_RIM : SUPPORT_EDGE_SIDE, k, margin)) return false;
        }
    }
    return true;
}

static bool hull_vertices(const dls_cylinder *A, const dls_hull *hull, double margin, dls_direction *best) {
    for (int v = 0; v < hull->vertex_count; v++) {
        const double *p = hull->vertex + 3 * v;
        double q[3], inward[3], n[2][3];
        vec_sub(q, p, A->c);
        vec_sub(inward, hull->centre, p);
        int count = dls_cylinder_point_directions(A, q, n);
        for (int i = 0; i < count; i++) {
            if (vec_dot(n[i], inward) < 0) continue;
            if (!(vec_dot(n[i], p) - cylinder_reach(A, n[i]) > best->f)) continue;
            double f = hull_f(A, hull, n[i]);
            if (!(f > best->f)) continue;
            vec_copy(best->point, p);
            if (!keep(best, n[i], f, SUPPORT_VERTEX, v, margin)) return false;
        }
    }
    return true;
}

bool dls_cylinder_hull_direction(const dls_cylinder *A, const dls_hull *hull, double margin,
                                 dls_direction *best) {
    best->f = -HUGE_VAL;
    best->kind = SUPPORT_NONE;
    return hull_faces_and_caps(A, hull, margin, best) && hull_edges(A, hull, margin, best) &&
           hull_vertices(A, hull, margin, best);
}

/* ---- segment ---- */

static double segment_f(const dls_cylinder *A, const dls_thick_segment *line, const double *n) {
    return fmin(vec_dot(n, line->p[0]), vec_dot(n, line->p[1])) - line->radius - cylinder_reach(A, n);
}

bool dls_cylinder_segment_direction(const dls_cylinder *A, const dls_thick_segment *line, double margin,
                                    dls_direction *best) {
    best->f = -HUGE_VAL;
    best->kind = SUPPORT_NONE;
    double n[4][3], q[3];
    bool rim[4];
    for (int cap = 0; cap < 2; cap++) {
        vec_scale(n[0], cap ? 1 : -1, A->a);
        if (!keep(best, n[0], segment_f(A, line, n[0]), SUPPORT_CAP, cap, margin)) return false;
    }
    vec_sub(best->along, line->p[1], line->p[0]);
    double length = vec_norm(best->along);
    vec_sub(q, line->p[0], A->c);
    if (length > 1e-12 * (A->r + A->h)) {
        vec_scale(best->along, 1 / length, best->along);
        vec_copy(best->point, line->p[0]);
        best->length = length;
        int count = dls_cylinder_line_directions(A, q, best->along, n, rim);
        for (int i = 0; i < count; i++)
            if (!keep(best, n[i], segment_f(A, line, n[i]), rim[i] ? SUPPORT_EDGE_RIM : SUPPORT_EDGE_SIDE, 0,
                      margin))
                return false;
    }
    for (int v = 0; v < 2; v++) {
        vec_sub(q, line->p[v], A->c);
        int count = dls_cylinder_point_directions(A, q, n);
        for (int i = 0; i < count; i++) {
            double f = segment_f(A, line, n[i]);
            if (f > best->f) vec_copy(best->point, line->p[v]);
            if (!keep(best, n[i], f, SUPPORT_VERTEX, v, margin)) return false;
        }
    }
    return true;
}

/* ---- two cylinders ---- */

static double pair_f(const dls_cylinder *A, const dls_cylinder *B, const double *n) {
    double back[3];
    vec_scale(back, -1, n);
    return -cylinder_reach(B, back) - cylinder_reach(A, n);
}

/* Two discs with centres d apart: f = n·d − r₁|P₁n| − r₂|P₂n|, gradient and the two directions tᵢ along
 * which the rims curve, with weights rᵢ/|Pᵢn|. */
typedef struct discs {
    const double *axis[2];
    double r[2], d[3];
} discs;

static double discs_f(const discs *s, const double *n, double *gradient, double (*t)[3], double *weight) {
    vec_copy(gradient, s->d);
    for (int i = 0; i < 2; i++) {
        double p[3];
        vec_along(p, n, -vec_dot(n, s->axis[i]), s->axis[i]);
        double rho = fmax(vec_norm(p), 1e-14);
        vec_along(gradient, gradient, -s->r[i] / rho, p);
        vec_cross(t[i], s->axis[i], p);
        vec_scale(t[i], 1 / rho, t[i]);
        weight[i] = s->r[i] / rho;
    }
    return vec_dot(gradient, n);
}

/* Newton step on the sphere: (Σ wᵢ tᵢ tᵢᵀ + f) s = g in the tangent plane, made positive where it is not. */
static double newton_step(const double *n, double f, const double *gradient, double (*t)[3],
                          const double *weight, double *step) {
    double T[2][3], g[2], K[3] = {f, 0, f};
    vec_tangents(n, T[0], T[1]);
    for (int j = 0; j < 2; j++) g[j] = vec_dot(T[j], gradient);
    for (int i = 0; i < 2; i++) {
        double x = vec_dot(T[0], t[i]), y = vec_dot(T[1], t[i]);
        K[0] += weight[i] * x * x, K[1] += weight[i] * x * y, K[2] += weight[i] * y * y;
    }
    double mean = 0.5 * (K[0] + K[2]), spread = hypot(0.5 * (K[0] - K[2]), K[1]);
    double floor_value = 1e-6 * (fabs(mean) + spread), low = mean - spread;
    double shift = low < floor_value ? fmax(floor_value, -low) - low : 0;
    K[0] += shift, K[2] += shift;
    double det = K[0] * K[2] - K[1] * K[1];
    double s[2] = {(K[2] * g[0] - K[1] * g[1]) / det, (K[0] * g[1] - K[1] * g[0]) / det};
    double size = hypot(s[0], s[1]);
    if (!isfinite(size)) return 0;
    double scale = size > 1 ? 1 / size : 1;
    vec_scale(step, scale * s[0], T[0]);
    vec_along(step, step, scale * s[1], T[1]);
    return scale * (g[0] * s[0] + g[1] * s[1]);
}

/* Which ends' discs n looks from: bit 0 the far one of A along n, bit 1 that of B. */
static int ends_of(const dls_cylinder *A, const dls_cylinder *B, const double *n) {
    return (vec_dot(n, A->a) < 0 ? 0 : 1) | (vec_dot(n, B->a) < 0 ? 0 : 2);
}

static discs discs_at(const dls_cylinder *A, const dls_cylinder *B, int ends) {
    discs s = {{A->a, B->a}, {A->r, B->r}, {0}};
    vec_sub(s.d, B->c, A->c);
    vec_along(s.d, s.d, ends & 1 ? -A->h : A->h, A->a);
    vec_along(s.d, s.d, ends & 2 ? -B->h : B->h, B->a);
    return s;
}

/* Off the kink of a cap, uphill. */
static void leave_kink(const discs *s, double *n) {
    double gradient[3], t[2][3], weight[2], step[3];
    double f = discs_f(s, n, gradient, t, weight);
    if (weight[0] < 1e3 * s->r[0] && weight[1] < 1e3 * s->r[1]) return;
    vec_along(step, gradient, -f, n);
    double length = vec_norm(step);
    if (!(length > 0)) return;
    vec_along(n, n, 0.02 / length, step);
    vec_scale(n, 1 / vec_norm(n), n);
}

/* Climbs from n between two ends, or with fixed = false on f itself, from ends to ends. Where it stops f is
 * stationary or at a kink, which the other candidates cover. */
static void climb(const dls_cylinder *A, const dls_cylinder *B, int ends, bool fixed, double *n) {
    discs s = discs_at(A, B, ends);
    leave_kink(&s, n);
    double gradient[3], t[2][3], weight[2], step[3];
    double f = discs_f(&s, n, gradient, t, weight), size = s.r[0] + s.r[1] + fabs(f);
    for (int k = 0; k < 30; k++) {
        double gain = newton_step(n, f, gradient, t, weight, step);
        if (!(gain > 0)) return;
        bool tiny = gain < 1e-12 * size;
        double length = 1, trial[3], value = f;
        for (int tries = 0; tries < 12; tries++, length *= 0.4) {
            vec_along(trial, n, length, step);
            vec_scale(trial, 1 / vec_norm(trial), trial);
            if (!fixed) {
                int now = ends_of(A, B, trial);
                if (now != ends) s = discs_at(A, B, ends = now);
            }
            value = discs_f(&s, trial, gradient, t, weight);
            if (tiny || value >= f + 0.25 * length * gain) break;
        }
        if (!tiny && value <= f) return;
        vec_copy(n, trial);
        f = value;
        if (vec_dot(step, step) * length * length < 1e-28) return;
    }
}

enum { STARTS = 20 };

/* Overlapping: f has many hills, so climb from every candidate and from every line of centres. */
static bool rims_overlapping(const dls_cylinder *A, const dls_cylinder *B, double (*start)[3], int starts,
                             double margin, dls_direction *best) {
    for (int ends = 0; ends < 4; ends++) {
        discs s = discs_at(A, B, ends);
        double size = vec_norm(s.d);
        if (size > 0) vec_scale(start[starts++], 1 / size, s.d);
    }
    for (int k = 0; k < starts; k++) {
        double n[3];
        vec_copy(n, start[k]);
        climb(A, B, ends_of(A, B, n), false, n);
        if (!keep(best, n, pair_f(A, B, n), SUPPORT_EDGE_RIM, 0, margin)) return false;
    }
    return true;
}

static bool holds(const dls_cylinder *C, const double *point) {
    double d[3], slack = 1e-9 * (C->r + C->h);
    vec_sub(d, point, C->c);
    double z = vec_dot(d, C->a);
    vec_along(d, d, -z, C->a);
    return fabs(z) <= C->h + slack && vec_norm(d) <= C->r + slack;
}

/* Whether the axes pass each other within both lengths. */
static bool sides_cross(const dls_cylinder *A, const dls_cylinder *B) {
    double w[3], b = vec_dot(A->a, B->a), D = 1 - b * b;
    if (D < 1e-12) return false;
    vec_sub(w, B->c, A->c);
    double p = vec_dot(w, A->a), q = vec_dot(w, B->a);
    return fabs((p - b * q) / D) <= A->h && fabs((b * p - q) / D) <= B->h;
}

/* Whether n joins a point of A with one of B that is f away along it: then it is the best where f > 0. */
static bool is_settled(const dls_cylinder *A, const dls_cylinder *B, const dls_direction *best) {
    double a[3], b[3], back[3];
    if (fabs(vec_dot(best->n, A->a)) < 1e-9 && fabs(vec_dot(best->n, B->a)) < 1e-9 && sides_cross(A, B))
        return true;
    vec_scale(back, -1, best->n);
    dls_cylinder_reach_point(A, best->n, a);
    vec_along(a, a, best->f, best->n);
    dls_cylinder_reach_point(B, back, b);
    vec_along(b, b, -best->f, best->n);
    return holds(B, a) || holds(A, b);
}

/* Apart or barely overlapping: the ends whose answer looks from them and joins two points have the answer.
 * done tells whether there was one. False when f is beyond the margin. */
static bool rims_touching(const dls_cylinder *A, const dls_cylinder *B, double margin, double shallow,
                          dls_direction *best, bool *done) {
    double start[3];
    int guess = ends_of(A, B, best->n);
    vec_copy(start, best->n);
    *done = false;
    for (int turn = 0; turn < 4 && !*done; turn++) {
        double n[3];
        vec_copy(n, start);
        climb(A, B, guess ^ turn, true, n);
        double f = pair_f(A, B, n);
        if (!keep(best, n, f, SUPPORT_EDGE_RIM, guess ^ turn, margin)) return false;
        *done = f > shallow && f >= best->f && ends_of(A, B, n) == (guess ^ turn) && is_settled(A, B, best);
    }
    return true;
}

/* From the nearest point of A to the point of B's rim at angle t: d; returns half the slope of |d|² in t. */
typedef struct rim_walk {
    const dls_cylinder *A;
    double centre[3], x[3], y[3], r;
} rim_walk;

static double rim_slope(const rim_walk *w, double t, double *d) {
    double p[3], along[3], q[3], rise[3], c = cos(t), s = sin(t);
    for (int i = 0; i < 3; i++) {
        p[i] = w->centre[i] + w->r * (c * w->x[i] + s * w->y[i]);
        along[i] = w->r * (c * w->y[i] - s * w->x[i]);
    }
    vec_sub(q, p, w->A->c);
    double z = vec_dot(q, w->A->a);
    vec_along(rise, q, -z, w->A->a);
    double rho = vec_norm(rise), in = rho > w->A->r ? w->A->r / rho : 1;
    double inside = fmin(w->A->h, fmax(-w->A->h, z));
    vec_along(d, q, -in, rise);
    vec_along(d, d, -inside, w->A->a);
    return vec_dot(d, along);
}

/* Apart, beside the kink of a cap: Newton on the sphere stalls there, while the distance of a point of B's
 * rim from A is smooth along the rim. Goes to its minimum near n. */
static void walk_rim(const dls_cylinder *A, const dls_cylinder *B, double *n) {
    rim_walk w = {.A = A, .r = B->r};
    double along = -vec_dot(n, B->a), d[3];
    vec_scale(w.x, -1, n);
    vec_along(w.x, w.x, -along, B->a);
    double size = vec_norm(w.x);
    if (size < 1e-6) return;
    vec_scale(w.x, 1 / size, w.x);
    vec_cross(w.y, B->a, w.x);
    vec_along(w.centre, B->c, along < 0 ? -B->h : B->h, B->a);
    double low = 0, f_low = rim_slope(&w, 0, d), high = 0, f_high = f_low;
    for (double step = f_low > 0 ? -1e-5 : 1e-5; f_high * f_low > 0; step *= 2) {
        if (fabs(step) > 1) return;
        low = high, f_low = f_high;
        high += step, f_high = rim_slope(&w, high, d);
    }
    for (int k = 0; k < 100 && f_high != 0 && fabs(high - low) > 1e-16; k++) { /* false position, Illinois */
        double t = high - f_high * (high - low) / (f_high - f_low), f = rim_slope(&w, t, d);
        if (f * f_high < 0)
            low = high, f_low = f_high;
        else
            f_low *= 0.5;
        high = t, f_high = f;
    }
    size = vec_norm(d);
    if (size > 1e-12 * (A->r + A->h)) vec_scale(n, 1 / size, d);
}

static void polish(const dls_cylinder *A, const dls_cylinder *B, dls_direction *best) {
    double n[2][3];
    vec_copy(n[0], best->n);
    walk_rim(A, B, n[0]);
    vec_scale(n[1], -1, best->n);
    walk_rim(B, A, n[1]);
    vec_scale(n[1], -1, n[1]);
    for (int k = 0; k < 2; k++) keep(best, n[k], pair_f(A, B, n[k]), SUPPORT_EDGE_RIM, 0, HUGE_VAL);
}

bool dls_cylinder_pair_direction(const dls_cylinder *A, const dls_cylinder *B, double margin,
                                 dls_direction *best) {
    double n[4][3], start[STARTS][3], q[3];
    bool rim[4];
    int starts = 0;
    const dls_cylinder *both[2] = {A, B};
    best->f = -HUGE_VAL;
    best->kind = SUPPORT_NONE;
    for (int side = 0; side < 2; side++)
        for (int cap = 0; cap < 2; cap++) {
            double *m = start[starts++];
            vec_scale(m, cap ? 1 : -1, both[side]->a);
            if (!keep(best, m, pair_f(A, B, m), SUPPORT_CAP, cap + 2 * side, margin)) return false;
        }
    for (int side = 0; side < 2; side++) { /* the side of one with rim or side of the other */
        const dls_cylinder *other = both[1 - side];
        vec_sub(q, both[side]->c, other->c);
        int count = dls_cylinder_line_directions(other, q, both[side]->a, n, rim);
        for (int i = 0; i < count; i++) {
            double *m = start[starts++];
            vec_scale(m, side == 0 ? -1 : 1, n[i]); /* the first are found from B to A */
            if (!keep(best, m, pair_f(A, B, m), SUPPORT_EDGE_SIDE, side, margin)) return false;
        }
    }
    double shallow = -0.05 * fmin(fmin(A->r, A->h), fmin(B->r, B->h));
    if (best->f > shallow) {
        bool done;
        if (is_settled(A, B, best)) return true;
        if (!rims_touching(A, B, margin, shallow, best, &done)) return false;
        if (!done && best->f > 0) polish(A, B, best);
        if (done || best->f > 0) return best->f <= margin;
    }
    return rims_overlapping(A, B, start, starts, margin, best);
}
