/* The spatial contact (d = 3). In the angle of e the pencil is a trigonometric polynomial of degree two,
 *
 *     g = e⊥·(p + B e) = a0 + p2 cos − p1 sin + a2 cos2 + b2 sin2,
 *     a0 = (B21 − B12)/2,   a2 = (B21 + B12)/2,   b2 = (B22 − B11)/2,   g′ = 2ℓ + tr B + e·p at a root,
 *
 * with at most four roots. In ℓ the same roots are those of the quartic det(B + ℓ)² = |adj(B + ℓ) p|², used
 * for sign tests only because it squares the data. */
#include "solve/law/exact_parts.h"

#include <float.h>

/* What prepare keeps: S = w_nn W_tt − w_tn w_ntᵀ is eliminated without pivoting, so that S r_t = −p is
 * sticking. */
enum { KIND, INVERSE_NORMAL, INVERSE_S11, LOWER, UPPER, INVERSE_S22, IMPULSE_LIMIT, LEAST_SLANT };

/* GENERAL: always enumerate. ISOTROPIC: w_nt = w_tn = 0 and W_tt = w I, as for spheres. */
enum { GENERAL, REGULAR, ISOTROPIC, FRICTIONLESS };

#define LEAST_PIVOT                                                                                          \
    1e-14                /* relative to |W|: smaller pivots are replaced, and the impulse found implausible */
#define LAST_TURN   3e-6 /* tangent of the half-angle after which a third-order step has converged */
#define LEAST_SLOPE 2e-3 /* g′ relative to the data under which that is not so */
#define MAX_TURNS   8

typedef struct pencil {
    double p1, p2, half_trace, a0, a2, b2;
} pencil;

static inline pencil make_pencil(const double *W, double mu, const double *b) {
    double h = 0.5 * mu, w1 = h * W[3], w2 = h * W[6], hn = h * b[0];
    return (pencil){.p1 = W[0] * b[1] - b[0] * W[1],
                    .p2 = W[0] * b[2] - b[0] * W[2],
                    .half_trace = b[1] * w1 + b[2] * w2 - hn * (W[4] + W[8]),
                    .a0 = b[2] * w1 - b[1] * w2 - hn * (W[5] - W[7]),
                    .a2 = b[2] * w1 + b[1] * w2 - hn * (W[5] + W[7]),
                    .b2 = b[2] * w2 - b[1] * w1 - hn * (W[8] - W[4])};
}

/* ---- preparation ------------------------------------------------------------------------------------ */

static bool is_isotropic(const double W[9], double size) {
    double off = fabs(W[1]) + fabs(W[2]) + fabs(W[3]) + fabs(W[5]) + fabs(W[6]) + fabs(W[7]);
    return off + fabs(W[4] - W[8]) <= 16 * DBL_EPSILON * size;
}

EXACT_ONE_COPY int dls_exact_prepare3(const double W[9], double mu, double data[DLS_EXACT_DATA3]) {
    double size = W[0] + W[4] + W[8], coupling = fabs(W[3]) + fabs(W[6]);
    double off = coupling + fabs(W[1]) + fabs(W[2]) + fabs(W[5]) + fabs(W[7]);
    bool is_usable = size > EXACT_SMALL && size < EXACT_LARGE && off < EXACT_GROWTH * size && W[0] > 0 &&
                     W[4] > 0 && W[8] > 0 && mu >= 0 && mu < EXACT_LARGE_FRICTION;
    data[KIND] = GENERAL;
    if (!is_usable) return 0;

    double inverse_n = 1 / W[0], l1 = W[1] * inverse_n, l2 = W[2] * inverse_n, least = LEAST_PIVOT * size;
    double s11 = W[4] - l1 * W[3], s21 = W[5] - l2 * W[3], s12 = W[7] - l1 * W[6], s22 = W[8] - l2 * W[6];
    double inverse_s11 = 1 / fmax(s11, least), last = s22 - s21 * s12 * inverse_s11;
    double growth = (fabs(l1) + fabs(l2)) * coupling + fabs(s21 * s12) * inverse_s11;
    bool is_stable = growth < EXACT_GROWTH * size && s11 > -least && last > -least;
    if (mu > 0 && !is_stable) return 0;
    data[KIND] = mu == 0 ? FRICTIONLESS : is_isotropic(W, size) ? ISOTROPIC : REGULAR;
    data[INVERSE_NORMAL] = inverse_n;
    data[INVERSE_S11] = inverse_s11 * inverse_n;
    data[LOWER] = s21 * inverse_s11;
    data[UPPER] = s12 * inverse_s11;
    data[INVERSE_S22] = inverse_n / fmax(last, least);
    data[IMPULSE_LIMIT] = EXACT_PLAUSIBLE / (size * (1 + mu));
    data[LEAST_SLANT] = EXACT_SLANT * (W[0] + mu * coupling);
    return 1;
}

/* ---- the quick branches ----------------------------------------------------------------------------- */

/* The normal impulse comes first and the slip direction opposes b_t. */
static inline dls_contact_state solve_isotropic(const double *W, double mu, const double *data,
                                                const double *b, double *r) {
    double rn = -b[0] * data[INVERSE_NORMAL], radius = mu * rn, stop = radius * W[4];
    double speed2 = b[1] * b[1] + b[2] * b[2];
    bool is_stick = speed2 <= stop * stop;
    double factor = is_stick ? -data[INVERSE_S11] * W[0] : -radius / sqrt(speed2);
    r[0] = rn;
    r[1] = factor * b[1];
    r[2] = factor * b[2];
    return is_stick ? DLS_STICK : DLS_SLIP;
}

static dls_contact_state solve_frictionless(const double *W, const double *data, const double *b, double *r) {
    double rn = -b[0] * data[INVERSE_NORMAL];
    bool slides = b[1] + W[1] * rn != 0 || b[2] + W[2] * rn != 0;
    r[0] = rn;
    r[1] = r[2] = 0;
    return slides ? DLS_SLIP : DLS_STICK;
}

/* W r = −b, normal first; false when r is outside K or too large to be trusted. */
static inline bool try_stick(const double *W, double mu, const double *data, const double *b, const pencil *q,
                             double *r) {
    double r2 = (data[LOWER] * q->p1 - q->p2) * data[INVERSE_S22];
    double r1 = -q->p1 * data[INVERSE_S11] - data[UPPER] * r2;
    double rn = -(b[0] + W[3] * r1 + W[6] * r2) * data[INVERSE_NORMAL], radius = mu * rn;
    r[0] = rn;
    r[1] = r1;
    r[2] = r2;
    return rn > 0 && r1 * r1 + r2 * r2 <= radius * radius &&
           rn < data[IMPULSE_LIMIT] * (fabs(b[0]) + fabs(b[1]) + fabs(b[2]));
}

/* No root has ℓ > 0: the symmetric part of B is positive, or no coefficient of the quartic is negative. */
static inline bool has_no_slip(const pencil *q) {
    double half2 = q->half_trace * q->half_trace, uneven2 = q->a2 * q->a2 + q->b2 * q->b2;
    if (q->half_trace > 0 && half2 > uneven2) return true;
    double det = half2 + q->a0 * q->a0 - uneven2, p2 = q->p1 * q->p1 + q->p2 * q->p2;
    double pBp = q->half_trace * p2 + q->b2 * (q->p2 * q->p2 - q->p1 * q->p1) + 2 * q->a2 * q->p1 * q->p2;
    return q->half_trace >= 0 && det > 0 && 4 * half2 + 2 * det >= p2 &&
           2 * q->half_trace * (det - p2) + pBp >= 0;
}

/* −adj(B + ℓ) p with ℓ = max(0, |p| − tr B/2): exact when B is a multiple of the identity. */
static inline void guess_direction(const pencil *q, double *c, double *s) {
    double l = fmax(0, sqrt(q->p1 * q->p1 + q->p2 * q->p2) - q->half_trace), m = q->half_trace + l;
    *c = (q->a2 - q->a0) * q->p2 - (m + q->b2) * q->p1;
    *s = (q->a2 + q->a0) * q->p1 - (m - q->b2) * q->p2;
}

/* No root is larger than this ℓ: with m = tr(B + ℓ)/2, the symmetric part of B + ℓ is positive, or the
 * derivatives of the quartic at ℓ are. */
static inline bool is_largest(const pencil *q, double m) {
    double m2 = m * m, uneven2 = q->a2 * q->a2 + q->b2 * q->b2, det = m2 + q->a0 * q->a0 - uneven2;
    return m > 0 && (m2 > uneven2 || (det > 0 && 4 * m2 + 2 * det >= q->p1 * q->p1 + q->p2 * q->p2));
}

/* Turns the unit vector e to a root of g with g′ > 0 by Halley's steps, each an exact rotation by twice the
 * arctangent of −g g′/(2g′² − g g″). True if the root has the largest ℓ of all and ℓ ≥ 0. The last rotation
 * is left unscaled, to save its division: e ends with the given length. */
static inline bool turn_to_largest_root(const pencil *q, double *e, double *length) {
    double c = e[0], s = e[1];
    for (int turn = 0; turn < MAX_TURNS; turn++) {
        double cos2 = (c - s) * (c + s), sin2 = 2 * c * s;
        double even = q->a2 * cos2 + q->b2 * sin2, odd = q->b2 * cos2 - q->a2 * sin2;
        double across = q->p2 * c - q->p1 * s, along = q->p1 * c + q->p2 * s;
        double g = q->a0 + across + even, slope = 2 * odd - along, bend = -across - 4 * even;
        double top = g * slope, bottom = 2 * slope * slope - g * bend;
        if (!(slope > 0 && bottom > slope * slope)) {
            /* far away: towards where g rises through zero, by at most a right angle */
            top = g;
            bottom = fmax(fabs(slope), fabs(g));
        }
        double top2 = top * top, bottom2 = bottom * bottom, turn_c = bottom2 - top2,
               turn_s = -2 * bottom * top;
        double c_next = c * turn_c - s * turn_s, s_next = s * turn_c + c * turn_s, scale = bottom2 + top2;
        if (top2 > LAST_TURN * LAST_TURN * bottom2) {
            double inverse = 1 / scale;
            c = c_next * inverse;
            s = s_next * inverse;
            continue;
        }
        e[0] = c_next;
        e[1] = s_next;
        *length = scale;
        double angle = -2 * top / bottom; /* small: ℓ after the turn by its Taylor series */
        double l =
            odd - along - q->half_trace + angle * (angle * (0.5 * along - 2 * odd) - 2 * even - across);
        double m = q->half_trace + l;
        return l >= 0 && slope > LEAST_SLOPE * (fabs(q->p1) + fabs(q->p2) + m) && is_largest(q, m);
    }
    return false;
}

/* s small: p + B e has lost digits, so the root is found again from the contact's own numbers. */
static bool finish_slanted(const double *W, double mu, const double *data, const double *b, double *e,
                           double *rn) {
    double l = dls_exact_polish(3, W, mu, b, e);
    *rn = dls_exact_normal_impulse(3, W, mu, b, e);
    return l >= 0 && *rn > 0 && *rn < data[IMPULSE_LIMIT] * (fabs(b[0]) + fabs(b[1]) + fabs(b[2]));
}

/* From the direction of the last impulse, if it was not well inside the cone. */
static inline bool try_slip(const double *W, double mu, const double *data, const double *b, const pencil *q,
                            double *r) {
    double e[2] = {r[1], r[2]}, length2 = e[0] * e[0] + e[1] * e[1], radius = mu * r[0], length;
    if (!(length2 > 0.25 * radius * radius && length2 > DBL_MIN && length2 < DBL_MAX)) {
        guess_direction(q, &e[0], &e[1]);
        length2 = e[0] * e[0] + e[1] * e[1];
    }
    double inverse = 1 / sqrt(length2);
    e[0] *= inverse;
    e[1] *= inverse;
    if (!turn_to_largest_root(q, e, &length)) return false;
    double slant = W[0] * length + mu * (W[3] * e[0] + W[6] * e[1]), factor = -b[0] / slant,
           rn = factor * length;
    if (!(slant > data[LEAST_SLANT] * length)) {
        e[0] /= length;
        e[1] /= length;
        if (!finish_slanted(W, mu, data, b, e, &rn)) return false;
        factor = rn;
    }
    r[0] = rn;
    r[1] = mu * factor * e[0];
    r[2] = mu * factor * e[1];
    return true;
}

EXACT_ONE_COPY dls_contact_state dls_exact_solve3_prepared(const double W[9], double mu,
                                                           const double data[DLS_EXACT_DATA3],
                                                           const double b[3], double r[3]) {
    double size = fabs(b[0]) + fabs(b[1]) + fabs(b[2]), kind = data[KIND];
    if (kind == GENERAL || !(size < EXACT_LARGE)) return dls_exact_solve_slowly(3, W, mu, b, r);
    if (b[0] >= 0) {
        r[0] = r[1] = r[2] = 0;
        return DLS_OPEN;
    }
    if (size < EXACT_SMALL) return dls_exact_solve_slowly(3, W, mu, b, r);
    if (kind == ISOTROPIC) return solve_isotropic(W, mu, data, b, r);
    if (kind == FRICTIONLESS) return solve_frictionless(W, data, b, r);

    pencil q = make_pencil(W, mu, b);
    double stick[3];
    if (try_stick(W, mu, data, b, &q, stick)) {
        if (!has_no_slip(&q)) return dls_exact_solve_slowly(3, W, mu, b, r);
        memcpy(r, stick, sizeof stick);
        return DLS_STICK;
    }
    return try_slip(W, mu, data, b, &q, r) ? DLS_SLIP : dls_exact_solve_slowly(3, W, mu, b, r);
}

dls_contact_state dls_exact_solve3(const double W[9], double mu, const double b[3], double r[3]) {
    double data[DLS_EXACT_DATA3];
    dls_exact_prepare3(W, mu, data);
    return dls_exact_solve3_prepared(W, mu, data, b, r);
}

/* ---- all roots -------------------------------------------------------------------------------------- */

/* Four charts of the circle, e = R_k (1 − x², 2x)/(1 + x²), R_k a turn by k right angles and |x| a little
 * more than tan(π/8). In each (1 + x²)² g is a quartic in x. */
void dls_exact_find_slips3(const dls_exact_contact *contact, dls_exact_branches *branches) {
    const double reach = 0.4143, turn_c[4] = {1, 0, -1, 0}, turn_s[4] = {0, 1, 0, -1};
    pencil q = make_pencil(contact->W, contact->mu, contact->b);
    for (int k = 0; k < 4; k++) {
        double sign = k % 2 ? -1 : 1, a2 = sign * q.a2, b2 = sign * q.b2, roots[8];
        double a1 = q.p2 * turn_c[k] - q.p1 * turn_s[k], b1 = -q.p1 * turn_c[k] - q.p2 * turn_s[k];
        double quartic[5] = {q.a0 + a1 + a2, 2 * b1 + 4 * b2, 2 * q.a0 - 6 * a2, 2 * b1 - 4 * b2,
                             q.a0 - a1 + a2};
        int count = dls_exact_roots(4, quartic, -reach, reach, roots, 8);
        for (int i = 0; i < count; i++) {
            double x = roots[i], inverse = 1 / (1 + x * x), c = (1 - x * x) * inverse, s = 2 * x * inverse;
            double e[2] = {c * turn_c[k] - s * turn_s[k], s * turn_c[k] + c * turn_s[k]};
            dls_exact_polish(3, contact->W, contact->mu, contact->b, e);
            dls_exact_offer_slip(contact, e, branches);
        }
    }
}
