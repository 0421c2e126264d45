/* All solutions of one contact: scaling, the test that every candidate must pass, choice and certificate. */
#include "solve/law/exact_parts.h"

#include <float.h>

/* A candidate is a solution when its velocity is within this many roundings of |b| + |W||r|. */
#define FLOOR_ROUNDINGS 64

/* And within this part of |b|: the huge impulses of a singular block hide b behind their own rounding. */
#define LARGEST_ERROR 1e-3

/* Candidates closer than this, relative to their impulse, are the same solution. */
#define SAME_SOLUTION 1e-7

/* A computed stick impulse this far outside the cone, relative to itself, may be inside in exact numbers. */
#define STICK_SLACK 1e-8

/* A direction whose defect is below this part of |p| + |B| is a root of the pencil. */
#define ROOT_SLACK 1e-8

/* Friction below, and its reciprocal above, differs from 0 and from infinity by less than any rounding. */
#define LEAST_FRICTION 1e-100

#define NO_NUMBER      (double)NAN

static const double no_impulse[4] = {0}, any_direction[3] = {1};

/* ---- candidates ------------------------------------------------------------------------------------- */

/* The place for a candidate: a new one, that of the same solution found less well before, or none (−1). */
static int place_of(int d, const double *r, double residual, const dls_exact_branches *branches) {
    double largest = 0;
    for (int i = 0; i < d; i++) largest = fmax(largest, fabs(r[i]));
    for (int k = 0; k < branches->count; k++) {
        double apart = 0;
        for (int i = 0; i < d; i++) apart = fmax(apart, fabs(r[i] - branches->solutions[k].r[i]));
        if (apart <= SAME_SOLUTION * largest) return residual < branches->residuals[k] ? k : -1;
    }
    return branches->count < DLS_EXACT_MAX_SOLUTIONS ? branches->count : -1;
}

/* e = r_t/|r_t|, also where |r_t|² underflows; 0 for r_t = 0. */
static void tangent_direction(int n, const double *r_t, double *e) {
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(r_t[i]));
    for (int i = 0; i < n; i++) e[i] = largest > 0 ? r_t[i] / largest : 0;
    double length = small_norm(n, e);
    for (int i = 0; i < n && length > 0; i++) e[i] /= length;
}

/* How far u is from what the state asks for: u = 0 at stick; u_n = 0 and u_t = −λe, λ ≥ 0, at slip, where any
 * u_t will do if there is no friction. */
static double state_error(const dls_exact_contact *contact, dls_contact_state state, const double *r,
                          const double *u) {
    int n = contact->d - 1;
    double e[3], error[4] = {u[0]};
    if (state == DLS_OPEN) return fmax(0, -u[0]);
    if (state == DLS_STICK) return small_norm(n + 1, u);
    if (contact->mu == 0) return fabs(u[0]);
    tangent_direction(n, r + 1, e);
    double lambda = fmax(0, -small_dot(n, e, u + 1));
    for (int i = 0; i < n; i++) error[1 + i] = u[1 + i] + lambda * e[i];
    return small_norm(n + 1, error);
}

/* Keeps r, which is in K, if u is what the state asks for and r is new, or better than what it repeats. */
static void offer(const dls_exact_contact *contact, dls_contact_state state, const double *r,
                  dls_exact_branches *branches) {
    int d = contact->d;
    dls_exact_solution candidate = {.state = state};
    for (int i = 0; i < d; i++) {
        candidate.r[i] = r[i];
        candidate.u[i] = contact->b[i];
    }
    small_multiply_add(d, contact->W, r, candidate.u);
    double residual = state_error(contact, state, r, candidate.u);
    double floor_level = FLOOR_ROUNDINGS * DBL_EPSILON * (contact->speed + contact->size * small_norm(d, r));
    if (!(residual <= floor_level && residual <= LARGEST_ERROR * contact->speed)) return;

    if (state == DLS_OPEN) candidate.slip_ratio = HUGE_VAL;
    if (state == DLS_SLIP) candidate.slip_ratio = small_norm(d - 1, candidate.u + 1) / r[0];
    int place = place_of(d, r, residual, branches);
    if (place < 0) return;
    branches->solutions[place] = candidate;
    branches->residuals[place] = residual;
    if (place == branches->count) branches->count++;
}

/* W r = −b with r in K; true if r is a solution. */
static bool try_stick(const dls_exact_contact *contact, const dls_exact_factors *factors, double least_pivot,
                      dls_exact_branches *branches) {
    int d = contact->d, before = branches->count;
    double r[4];
    dls_exact_backsolve(d, factors, least_pivot, contact->b, r);
    for (int i = 0; i < d; i++) r[i] = -r[i];
    double size = small_norm(d, r), tangential = small_norm(d - 1, r + 1), radius = contact->mu * r[0];
    double margin = (radius - tangential) / (size * sqrt(1 + contact->mu * contact->mu));
    if (!(r[0] > 0 && tangential <= radius + STICK_SLACK * size)) {
        if (margin < 0) branches->stick_margin = fmax(branches->stick_margin, margin);
        return false;
    }
    if (tangential > radius)
        for (int i = 1; i < d; i++) r[i] *= radius / tangential;
    offer(contact, DLS_STICK, r, branches);
    if (branches->count > before) branches->stick_margin = margin;
    return branches->count > before;
}

/* Where W is singular to rounding, once with all its pivots and once without the smallest. */
static void offer_stick(const dls_exact_contact *contact, dls_exact_branches *branches) {
    dls_exact_factors factors;
    dls_exact_factor(contact->d, contact->W, &factors);
    double singular = DBL_EPSILON * contact->d * factors.largest_pivot;
    if (try_stick(contact, &factors, 0, branches)) return;
    if (factors.least_pivot <= singular) try_stick(contact, &factors, singular, branches);
}

/* min(s, ℓ) made dimensionless, with the signs that b_n asks for; −1 where e is no root of the pencil. */
static double slip_margin(const dls_exact_contact *contact, const double *e) {
    int d = contact->d, n = d - 1;
    double direction[4] = {1}, y[4] = {0}, v[3], sign = contact->b[0] < 0 ? 1 : -1, defect = 0;
    for (int i = 0; i < n; i++) direction[1 + i] = contact->mu * e[i];
    small_multiply_add(d, contact->W, direction, y);
    for (int i = 0; i < n; i++) v[i] = y[0] * contact->b[1 + i] - contact->b[0] * y[1 + i];
    double l = -small_dot(n, e, v);
    for (int i = 0; i < n; i++) defect = fmax(defect, fabs(v[i] + l * e[i]));
    if (!(defect <= ROOT_SLACK * contact->pencil_size)) return -1;
    return fmin(sign * y[0] / contact->slant_size, sign * l / contact->pencil_size);
}

void dls_exact_offer_slip(const dls_exact_contact *contact, const double *e, dls_exact_branches *branches) {
    int d = contact->d;
    double r_n = dls_exact_normal_impulse(d, contact->W, contact->mu, contact->b, e), r[4] = {r_n};
    branches->slip_margin = fmax(branches->slip_margin, slip_margin(contact, e));
    if (!(r_n > 0)) return;
    for (int i = 1; i < d; i++) r[i] = r_n * contact->mu * e[i - 1];
    offer(contact, DLS_SLIP, r, branches);
}

/* What the roots may have missed where W is close to losing its solutions, or b_n is lost beside b_t. */
static void offer_last_resort(const dls_exact_contact *contact, dls_exact_branches *branches) {
    int d = contact->d;
    double r[4], e[3];
    if (d > 2 && dls_exact_bisect(contact, r)) {
        tangent_direction(d - 1, r + 1, e);
        dls_exact_polish(d, contact->W, contact->mu, contact->b, e);
        dls_exact_offer_slip(contact, e, branches);
        if (branches->count == 0) offer(contact, DLS_STICK, r, branches);
    }
    if (branches->count == 0) offer(contact, DLS_OPEN, no_impulse, branches);
}

static void find_branches(const dls_exact_contact *contact, dls_exact_branches *branches) {
    if (contact->b[0] >= 0) offer(contact, DLS_OPEN, no_impulse, branches);
    if (!(contact->speed > 0) || !(contact->size > 0)) return;
    offer_stick(contact, branches);
    if (contact->mu == 0)
        dls_exact_offer_slip(contact, any_direction, branches);
    else if (contact->d == 2)
        dls_exact_find_slips2(contact, branches);
    else if (contact->d == 3)
        dls_exact_find_slips3(contact, branches);
    else
        dls_exact_find_slips4(contact, branches);
    if (branches->count == 0) offer_last_resort(contact, branches);
}

/* ---- scaling ---------------------------------------------------------------------------------------- */

/* The powers of two taken out of W and b. */
typedef struct scales {
    int W, b;
} scales;

/* NaN if one entry is not finite. */
static double largest_entry(int n, const double *x) {
    double largest = 0;
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return NO_NUMBER;
        largest = fmax(largest, fabs(x[i]));
    }
    return largest;
}

static int exponent_of(double x) { return x > 0 ? ilogb(x) : 0; }

static void measure_contact(dls_exact_contact *contact) {
    int d = contact->d;
    const double *W = contact->W, *b = contact->b;
    contact->size = fmax(small_trace(d, W), largest_entry(d * d, W));
    contact->speed = small_norm(d, b);
    contact->slant_size = fabs(W[0]);
    contact->pencil_size = 0;
    for (int i = 1; i < d; i++) {
        contact->slant_size += contact->mu * fabs(W[d * i]);
        contact->pencil_size += fabs(W[0] * b[i] - b[0] * W[i]);
        for (int j = 1; j < d; j++)
            contact->pencil_size += contact->mu * fabs(b[i] * W[d * j] - b[0] * W[i + d * j]);
    }
}

/* Copies the contact at order one; false when it holds something that is no number, or a negative μ. */
static bool scale_contact(int d, const double *W, double mu, const double *b, dls_exact_contact *contact,
                          scales *taken) {
    if (d < 2 || d > 4 || !(mu >= 0) || !isfinite(mu)) return false;
    double largest_W = largest_entry(d * d, W), largest_b = largest_entry(d, b);
    if (isnan(largest_W) || isnan(largest_b)) return false;
    *taken = (scales){.W = exponent_of(largest_W), .b = exponent_of(largest_b)};
    *contact = (dls_exact_contact){.d = d, .mu = mu < LEAST_FRICTION ? 0 : fmin(mu, 1 / LEAST_FRICTION)};
    for (int i = 0; i < d * d; i++) contact->W[i] = scalbn(W[i], -taken->W);
    for (int i = 0; i < d; i++) contact->b[i] = scalbn(b[i], -taken->b);
    measure_contact(contact);
    return true;
}

/* Back to the caller's units; false when the impulse is beyond what a double holds. */
static bool unscale_solution(int d, scales taken, dls_exact_solution *solution) {
    bool finite = true;
    for (int i = 0; i < d; i++) {
        solution->r[i] = scalbn(solution->r[i], taken.b - taken.W);
        solution->u[i] = scalbn(solution->u[i], taken.b);
        finite = finite && isfinite(solution->r[i]);
    }
    solution->slip_ratio = scalbn(solution->slip_ratio, taken.W);
    return finite;
}

/* ---- the answers ------------------------------------------------------------------------------------ */

/* For contacts that are not even numbers. */
static const dls_exact_certificate no_certificate = {
    NO_NUMBER, NO_NUMBER, NO_NUMBER, {NO_NUMBER, NO_NUMBER, NO_NUMBER, NO_NUMBER}, NO_NUMBER};

/* Margins are dimensionless and at least −1: b_n/|b|; (μ r_n − |r_t|)/(|r|√(1 + μ²)) at W r = −b, −1 where W
 * is singular; the largest min(s, ℓ) of the pencil's roots, −1 where it has none. A branch holds from 0
 * upwards. */
static void certify(const dls_exact_contact *contact, scales taken, const dls_exact_branches *branches,
                    dls_exact_certificate *certificate) {
    *certificate =
        (dls_exact_certificate){.open_margin = contact->speed > 0 ? contact->b[0] / contact->speed : 0,
                                .stick_margin = branches->stick_margin,
                                .slip_margin = branches->slip_margin};
    certificate->curvature = scalbn(dls_exact_least_curvature(contact, certificate->direction), taken.W);
}

int dls_exact_enumerate(int d, const double *W, double mu, const double *b, dls_exact_solution *solutions,
                        int *chosen, dls_exact_certificate *certificate) {
    dls_exact_contact contact;
    scales taken;
    *chosen = -1;
    if (certificate) *certificate = no_certificate;
    if (!scale_contact(d, W, mu, b, &contact, &taken)) return 0;

    dls_exact_branches branches = {.solutions = solutions, .stick_margin = -1, .slip_margin = -1};
    find_branches(&contact, &branches);
    int count = 0;
    for (int k = 0; k < branches.count; k++) {
        if (!unscale_solution(d, taken, &solutions[k])) continue;
        solutions[count] = solutions[k];
        if (*chosen < 0 || solutions[count].slip_ratio > solutions[*chosen].slip_ratio) *chosen = count;
        count++;
    }
    if (certificate) certify(&contact, taken, &branches, certificate);
    return count;
}

dls_contact_state dls_exact_solve_slowly(int d, const double *W, double mu, const double *b, double *r) {
    dls_exact_solution solutions[DLS_EXACT_MAX_SOLUTIONS];
    int chosen;
    dls_exact_enumerate(d, W, mu, b, solutions, &chosen, NULL);
    if (chosen < 0) return DLS_UNSOLVED;
    for (int i = 0; i < d; i++) r[i] = solutions[chosen].r[i];
    return solutions[chosen].state;
}

dls_contact_state dls_exact_solve(int d, const double *W, double mu, const double *b, double *r) {
    if (d == 3) return dls_exact_solve3(W, mu, b, r);
    if (d == 2) return dls_exact_solve2(W, mu, b, r);
    return d == 4 ? dls_exact_solve4(W, mu, b, r) : DLS_UNSOLVED;
}
