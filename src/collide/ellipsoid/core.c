/* One ellipsoid and what is nearest to it: points, lines, segments, other ellipsoids. */
#include "base/vector.h"
#include "collide/ellipsoid/ellipsoid.h"

enum { SECULAR_STEPS = 60, NEWTON_STEPS = 100, BALANCE_STEPS = 30 };

/* ---- numbers ---- */

/* A = F Fᵀ */
static void square(const double *F, double *A) {
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) {
        A[k] = 0;
        for (int j = 0; j < 3; j++) A[k] += F[row[k] + 3 * j] * F[column[k] + 3 * j];
    }
}

void dls_ellipsoid_place(const dls_placed *placed, dls_ellipsoid *e) {
    const double *s = placed->shape->size;
    double F[9];
    for (int j = 0; j < 3; j++) vec_scale(F + 3 * j, s[j], placed->R + 3 * j);
    vec_copy(e->c, placed->x);
    square(F, e->A);
    double low = fmin(s[0], fmin(s[1], s[2])), high = fmax(s[0], fmax(s[1], s[2]));
    e->least = low * low, e->greatest = high * high;
}

/* Least and greatest root of det(A − λ) = 0: λ = m + 2p cos(angle), three angles 120° apart. */
static void eigenvalues(const double *A, double *least, double *greatest) {
    double m = (A[0] + A[1] + A[2]) / 3, B[6] = {A[0] - m, A[1] - m, A[2] - m, A[3], A[4], A[5]}, C[6];
    double p2 = (B[0] * B[0] + B[1] * B[1] + B[2] * B[2]) / 6 + (B[3] * B[3] + B[4] * B[4] + B[5] * B[5]) / 3;
    double p = sqrt(p2), r = p > 0 ? sym_adjugate(B, C) / (2 * p * p2) : 0;
    double angle = acos(fmax(-1, fmin(1, r))) / 3;
    *greatest = m + 2 * p * cos(angle);
    *least = fmax(0, m + 2 * p * cos(angle + 2.0943951023931953));
}

void dls_ellipsoid_deform(const double *c, const double *F, dls_ellipsoid *e) {
    vec_copy(e->c, c);
    square(F, e->A);
    eigenvalues(e->A, &e->least, &e->greatest);
}

void dls_ellipsoid_view(const dls_ellipsoid *e, const double *x, const double *R, dls_ellipsoid *seen) {
    double d[3], w[3];
    vec_sub(d, e->c, x);
    mat_apply_transposed(seen->c, R, d);
    for (int j = 0; j < 3; j++) {
        sym_apply(w, e->A, R + 3 * j);
        seen->A[j] = vec_dot(w, R + 3 * j);
        if (j < 2) seen->A[3 + j] = vec_dot(w, R + 3 * (j == 0 ? 1 : 2)); /* xy, then yz for a moment */
        if (j == 0) seen->A[5] = vec_dot(w, R + 6);
    }
    double yz = seen->A[4];
    seen->A[4] = seen->A[5], seen->A[5] = yz;
    seen->least = e->least, seen->greatest = e->greatest;
}

double dls_ellipsoid_support(const dls_ellipsoid *e, const double *n, double *point) {
    double w[3];
    sym_apply(w, e->A, n);
    double h = sqrt(fmax(0, vec_dot(n, w)));
    vec_along(point, e->c, h > 0 ? 1 / h : 0, w);
    return h;
}

/* Adds Tᵀ(A − wwᵀ/h²)T/h with w = An, the radii of curvature in the tangents, to K = (11, 12, 22). */
static void add_radii(const double *A, const double *w, double h, const double *t1, const double *t2,
                      double *K) {
    double a1[3], a2[3], w1 = vec_dot(w, t1), w2 = vec_dot(w, t2), s = 1 / h, s3 = s * s * s;
    sym_apply(a1, A, t1);
    sym_apply(a2, A, t2);
    K[0] += s * vec_dot(a1, t1) - s3 * w1 * w1;
    K[1] += s * vec_dot(a1, t2) - s3 * w1 * w2;
    K[2] += s * vec_dot(a2, t2) - s3 * w2 * w2;
}

void dls_ellipsoid_radii(const dls_ellipsoid *e, const double *n, const double *t1, const double *t2,
                         double *radii) {
    double w[3];
    sym_apply(w, e->A, n);
    radii[0] = radii[1] = radii[2] = 0;
    add_radii(e->A, w, sqrt(vec_dot(n, w)), t1, t2, radii);
}

/* Unit vector that A takes to λ times itself, λ an eigenvalue: of the null space of M = A − λ. */
static void eigenvector(const double *A, double lambda, double greatest, double *v) {
    double M[6] = {A[0] - lambda, A[1] - lambda, A[2] - lambda, A[3], A[4], A[5]}, C[6];
    const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    sym_adjugate(M, C); /* v vᵀ times a number where λ is single */
    int k = fabs(C[1]) > fabs(C[0]) ? 1 : 0;
    if (fabs(C[2]) > fabs(C[k])) k = 2;
    if (fabs(C[k]) > 1e-10 * greatest * greatest) {
        for (int i = 0; i < 3; i++) v[i] = C[at[k][i]];
    } else { /* double: anything normal to the longest row of M */
        double longest = 1e-10 * greatest, t[3];
        vec_set(v, 1, 0, 0);
        for (int i = 0; i < 3; i++) {
            double row[3] = {M[at[i][0]], M[at[i][1]], M[at[i][2]]}, length = vec_norm(row);
            if (length <= longest) continue;
            longest = length;
            vec_scale(row, 1 / length, row);
            vec_tangents(row, v, t);
        }
    }
    vec_scale(v, 1 / vec_norm(v), v);
}

/* ---- points: with u = (A + t)⁻¹d the nearest point is Au where uᵀAu = 1, n = u/|u|, φ = t|u| ---- */

/* Newton on 1/√(uᵀAu) = 1: concave in t, so that from below the root it never passes it. Returns the next t
 * and how far √(uᵀAu) is from 1. A + t has the adjugate C/det. */
static double point_step(const double *A, const double *d, double t, double *u, double *excess) {
    double S[6] = {A[0] + t, A[1] + t, A[2] + t, A[3], A[4], A[5]}, C[6], w[3], v[3];
    double s = 1 / sym_adjugate(S, C);
    sym_apply(u, C, d);
    vec_scale(u, s, u);
    sym_apply(w, A, u);
    sym_apply(v, C, w);
    double q = vec_dot(u, w), root = sqrt(q), slope = s * vec_dot(u, v);
    *excess = root - 1;
    return slope > 0 ? t + q * *excess / slope : -HUGE_VAL;
}

/* Where a step leads below what the root is at least: most of the way there, for A + t may be singular at it.
 */
static double limited(double next, double t, double low) { return next > low ? next : t + 0.9 * (low - t); }

/* d lies where the shortest axis decides: u + βe with e along that axis has uᵀAu = 1. */
static void point_deep(const dls_ellipsoid *e, const double *d, double *u) {
    double v[3], w[3];
    eigenvector(e->A, e->least, e->greatest, v);
    if (vec_dot(v, d) < 0) vec_scale(v, -1, v);
    sym_apply(w, e->A, u);
    double b = vec_dot(v, u), missing = fmax(0, 1 - vec_dot(u, w)) / e->least;
    vec_along(u, u, sqrt(b * b + missing) - b, v);
}

double dls_ellipsoid_to_point(const dls_ellipsoid *e, const double *y, bool warm, double *n) {
    double d[3], w[3], u[3] = {0, 0, 0}, excess = 1;
    vec_sub(d, y, e->c);
    sym_apply(w, e->A, d);
    double low = fmax(sqrt(fmax(0, vec_dot(d, w))) - e->greatest, -e->least), t = fmax(low, 0);
    if (warm) { /* |u| = 1/h(n) */
        sym_apply(w, e->A, n);
        double h = sqrt(vec_dot(n, w)), guess = h * (vec_dot(n, d) - h);
        if (guess > -0.5 * e->least) t = fmax(low, guess);
    }
    for (int k = 0; k < SECULAR_STEPS; k++) {
        double next = limited(point_step(e->A, d, t, u, &excess), t, low);
        if (fabs(excess) < 1e-14 || next == t) break;
        t = next;
        if (fabs(excess) < 1e-7) {
            point_step(e->A, d, t, u, &excess);
            break;
        }
        if (t < -e->least * (1 - 1e-13)) break;
    }
    if (excess < -1e-7) point_deep(e, d, u);
    double length = vec_norm(u);
    if (!(length > 0)) { /* the centre of a ball */
        vec_set(n, 0, 0, 1);
        return -sqrt(e->least);
    }
    vec_scale(n, 1 / length, u);
    sym_apply(w, e->A, n);
    return vec_dot(n, d) - sqrt(vec_dot(n, w));
}

/* ---- lines: the same in the plane across, A = (11, 12, 22) there ---- */

static double line_step(const double *A, const double *d, double t, double *u, double *excess) {
    double S0 = A[0] + t, S2 = A[2] + t, s = 1 / (S0 * S2 - A[1] * A[1]);
    u[0] = s * (S2 * d[0] - A[1] * d[1]), u[1] = s * (S0 * d[1] - A[1] * d[0]);
    double w0 = A[0] * u[0] + A[1] * u[1], w1 = A[1] * u[0] + A[2] * u[1];
    double v0 = s * (S2 * w0 - A[1] * w1), v1 = s * (S0 * w1 - A[1] * w0);
    double q = u[0] * w0 + u[1] * w1, root = sqrt(q), slope = u[0] * v0 + u[1] * v1;
    *excess = root - 1;
    return slope > 0 ? t + q * *excess / slope : -HUGE_VAL;
}

static void line_deep(const double *A, double least, const double *d, double *u) {
    double v[2] = {A[1], least - A[0]}, x = least - A[2];
    if (fabs(x) > fabs(v[1])) v[0] = x, v[1] = A[1];
    double length = hypot(v[0], v[1]);
    if (length > 0)
        v[0] /= length, v[1] /= length;
    else
        v[0] = 1, v[1] = 0;
    if (v[0] * d[0] + v[1] * d[1] < 0) v[0] = -v[0], v[1] = -v[1];
    double b = v[0] * u[0] + v[1] * u[1];
    double q = A[0] * u[0] * u[0] + 2 * A[1] * u[0] * u[1] + A[2] * u[1] * u[1];
    double beta = sqrt(b * b + fmax(0, 1 - q) / least) - b;
    u[0] += beta * v[0], u[1] += beta * v[1];
}

/* Normal of the ellipse A nearest to d, in the plane; unit. */
static void section_normal(const double *A, const double *d, double *u) {
    double half = 0.5 * (A[0] - A[2]), spread = sqrt(half * half + A[1] * A[1]), mean = 0.5 * (A[0] + A[2]);
    double greatest = mean + spread, least = fmax((A[0] * A[2] - A[1] * A[1]) / greatest, 1e-300);
    double q = A[0] * d[0] * d[0] + 2 * A[1] * d[0] * d[1] + A[2] * d[1] * d[1], excess = 1;
    double low = fmax(sqrt(fmax(0, q)) - greatest, -least), t = fmax(low, 0);
    u[0] = u[1] = 0;
    for (int k = 0; k < SECULAR_STEPS; k++) {
        double next = limited(line_step(A, d, t, u, &excess), t, low);
        if (fabs(excess) < 1e-14 || next == t) break;
        t = next;
        if (fabs(excess) < 1e-7) {
            line_step(A, d, t, u, &excess);
            break;
        }
        if (t < -least * (1 - 1e-13)) break;
    }
    if (excess < -1e-7) line_deep(A, least, d, u);
    double length = sqrt(u[0] * u[0] + u[1] * u[1]);
    if (length > 0)
        u[0] /= length, u[1] /= length;
    else
        u[0] = 1, u[1] = 0;
}

double dls_ellipsoid_to_line(const dls_ellipsoid *e, const double *p, const double *a, double *n, double *s) {
    double t1[3], t2[3], a1[3], a2[3], d[3], u[2], w[3];
    vec_tangents(a, t1, t2);
    sym_apply(a1, e->A, t1);
    sym_apply(a2, e->A, t2);
    vec_sub(d, p, e->c);
    double A[3] = {vec_dot(a1, t1), vec_dot(a1, t2), vec_dot(a2, t2)},
           q[2] = {vec_dot(d, t1), vec_dot(d, t2)};
    section_normal(A, q, u);
    for (int i = 0; i < 3; i++) n[i] = u[0] * t1[i] + u[1] * t2[i];
    sym_apply(w, e->A, n);
    double h = sqrt(vec_dot(n, w));
    *s = vec_dot(w, a) / h - vec_dot(d, a);
    return vec_dot(n, d) - h;
}

bool dls_ellipsoid_is_shallow(const dls_ellipsoid *e, double distance) {
    return distance >= 0 || distance * distance * e->greatest <= e->least * e->least;
}

/* φ is convex along the line, but where the line runs deep inside, beyond the radii of curvature, its least
 * is a kink that no normal across shows: then the slopes at the ends tell. */
double dls_ellipsoid_to_segment(const dls_ellipsoid *e, const double *p, const double *a, double length,
                                double *n, double *s) {
    double line[3], at, y[3], distance = dls_ellipsoid_to_line(e, p, a, line, &at);
    bool shallow = dls_ellipsoid_is_shallow(e, distance);
    if (!shallow || at <= 0) {
        double first = dls_ellipsoid_to_point(e, p, false, n);
        *s = 0;
        if (shallow || vec_dot(n, a) >= 0) return first;
    }
    if (!shallow || at >= length) {
        vec_along(y, p, length, a);
        double second = dls_ellipsoid_to_point(e, y, false, n);
        *s = length;
        if (shallow || vec_dot(n, a) <= 0) return second;
    }
    *s = fmin(fmax(at, 1e-9 * length), (1 - 1e-9) * length);
    vec_copy(n, line);
    return distance;
}

/* ---- two ellipsoids: the largest f(n) = n·d − h₁ − h₂ ---- */

typedef struct duel {
    const double *A1, *A2;
    double d[3];
    double w1[3], w2[3], h1, h2; /* at the n that was asked for last */
} duel;

static double objective(duel *p, const double *n) {
    sym_apply(p->w1, p->A1, n);
    sym_apply(p->w2, p->A2, n);
    p->h1 = sqrt(fmax(0, vec_dot(n, p->w1)));
    p->h2 = sqrt(fmax(0, vec_dot(n, p->w2)));
    return vec_dot(n, p->d) - p->h1 - p->h2;
}

/* Where f is first looked at: the normal at which the two, blown up by the same factor about their centres,
 * touch: z = (A₁/λ + A₂/(1−λ))⁻¹d with zᵀA₁z/λ² = zᵀA₂z/(1−λ)². Near the nearest points, never behind. */
static void balance(duel *p, double margin, double *n) {
    double low = 0, high = 1, x = 0.5;
    for (int k = 0; k < BALANCE_STEPS; k++) {
        double l1 = 1 / x, l2 = 1 / (1 - x), M[6], C[6], z[3], a1[3], a2[3], y[3], My[3];
        for (int i = 0; i < 6; i++) M[i] = l1 * p->A1[i] + l2 * p->A2[i];
        double det = sym_adjugate(M, C);
        sym_apply(z, C, p->d);
        vec_scale(z, 1 / det, z);
        double length = vec_norm(z);
        if (!(length > 0) || !isfinite(length)) return;
        sym_apply(a1, p->A1, z);
        sym_apply(a2, p->A2, z);
        double q1 = l1 * l1 * vec_dot(a1, z), q2 = l2 * l2 * vec_dot(a2, z), slope = q1 - q2;
        vec_scale(n, 1 / length, z);
        double f = objective(p, n);
        if (f > fmin(0, margin) || fabs(slope) < 0.01 * (q1 + q2)) return;
        *(slope > 0 ? &low : &high) = x;
        for (int i = 0; i < 3; i++) y[i] = l1 * l1 * a1[i] - l2 * l2 * a2[i];
        sym_apply(My, C, y);
        double bend = 2 * (vec_dot(y, My) / det - l1 * q1 - l2 * q2), next = x - slope / bend;
        x = bend < 0 && next > low && next < high ? next : 0.5 * (low + high);
    }
}

/* Where the centres meet: along the shortest axis of the sum. */
static void start_apart(const dls_ellipsoid *e1, const dls_ellipsoid *e2, const double *d, double *n) {
    double S[6], least, greatest;
    for (int i = 0; i < 6; i++) S[i] = e1->A[i] + e2->A[i];
    eigenvalues(S, &least, &greatest);
    eigenvector(S, least, greatest, n);
    if (vec_dot(n, d) < 0) vec_scale(n, -1, n);
}

/* s solves (K + shift) s = b with K + shift positive; true when K is positive as it is. */
static bool ascent(const double *K, const double *b, double size, double *s) {
    double mean = 0.5 * (K[0] + K[2]), half = 0.5 * (K[0] - K[2]);
    double spread = sqrt(half * half + K[1] * K[1]), least = mean - spread, floor = 1e-12 * size;
    double shift = least > floor ? 0 : fmax(-1.5 * least, 1e-3 * size);
    double k0 = K[0] + shift, k2 = K[2] + shift, det = k0 * k2 - K[1] * K[1];
    s[0] = (k2 * b[0] - K[1] * b[1]) / det, s[1] = (k0 * b[1] - K[1] * b[0]) / det;
    if (shift > 0 && b[0] * b[0] + b[1] * b[1] < 1e-20 * size * size) { /* a saddle: leave it sideways */
        double v0 = K[1], v1 = least - K[0];
        if (fabs(v0) + fabs(v1) < 1e-12 * size) v0 = K[0] <= K[2] ? 1 : 0, v1 = 1 - v0;
        double scale = 0.2 / hypot(v0, v1);
        s[0] = scale * v0, s[1] = scale * v1;
    }
    double length = sqrt(s[0] * s[0] + s[1] * s[1]);
    if (length > 1) s[0] /= length, s[1] /= length;
    return shift == 0;
}

static void turn(double *next, const double *n, const double *t1, const double *t2, double step,
                 const double *s) {
    for (int i = 0; i < 3; i++) next[i] = n[i] + step * (s[0] * t1[i] + s[1] * t2[i]);
    vec_scale(next, 1 / vec_norm(next), next);
}

/* Newton on the sphere: K s = Tᵀ∇f, K = Σ radii of curvature + f. Stops early where f > margin. */
static double climb(duel *p, double margin, double *n) {
    double f = objective(p, n);
    for (int k = 0; k < NEWTON_STEPS && !(f > margin); k++) {
        double t1[3], t2[3], K[3] = {f, 0, f}, g[3], s[2], next[3], size = p->h1 + p->h2 + fabs(f);
        vec_tangents(n, t1, t2);
        vec_copy(g, p->d);
        if (p->h1 > 0) add_radii(p->A1, p->w1, p->h1, t1, t2, K), vec_along(g, g, -1 / p->h1, p->w1);
        if (p->h2 > 0) add_radii(p->A2, p->w2, p->h2, t1, t2, K), vec_along(g, g, -1 / p->h2, p->w2);
        double b[2] = {vec_dot(t1, g), vec_dot(t2, g)};
        bool positive = ascent(K, b, size, s);
        double gain = b[0] * s[0] + b[1] * s[1], length2 = s[0] * s[0] + s[1] * s[1];
        if (positive && gain < 1e-12 * size) { /* f can no longer tell: full steps */
            turn(n, n, t1, t2, 1, s);
            f = objective(p, n);
            if (length2 < 1e-18) break;
            continue;
        }
        double step = 1, trial = 0;
        for (int halving = 0; halving < 40; halving++, step *= 0.4) {
            turn(next, n, t1, t2, step, s);
            trial = objective(p, next);
            if (trial >= f + 0.25 * step * gain || (!positive && trial > f)) break;
        }
        if (!(trial > f)) {
            f = objective(p, n);
            break;
        }
        vec_copy(n, next);
        f = trial;
    }
    return f;
}

/* Whether the touching point of the first lies in the second: proves that they overlap. */
static bool overlap_shown(const duel *p) {
    double C[6], x[3], y[3], det = sym_adjugate(p->A2, C);
    vec_scale(x, 1 / p->h1, p->w1);
    vec_sub(x, x, p->d);
    sym_apply(y, C, x);
    return vec_dot(x, y) <= det;
}

bool dls_ellipsoid_to_ellipsoid(const dls_ellipsoid *e1, const dls_ellipsoid *e2, double margin, bool warm,
                                double *n, double *gap) {
    duel p = {.A1 = e1->A, .A2 = e2->A};
    vec_sub(p.d, e2->c, e1->c);
    if (warm) {
        *gap = climb(&p, margin, n);
        if (*gap > margin) return false;
        if (*gap >= 0 || overlap_shown(&p)) return true; /* else the guess may have led behind */
    }
    double distance = vec_norm(p.d);
    if (distance > 1e-9 * sqrt(e1->greatest + e2->greatest)) {
        vec_scale(n, 1 / distance, p.d);
        balance(&p, margin, n);
    } else {
        start_apart(e1, e2, p.d, n);
    }
    *gap = climb(&p, margin, n);
    return !(*gap > margin);
}
