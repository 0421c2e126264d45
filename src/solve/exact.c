/* All solutions of one contact: scaling, the test that every candidate must pass, the choice, the
 * certificate. */
#include "problem/cone.h"
#include "solve/exact_parts.h"

#include <float.h>

/* A candidate is a solution when its natural map is within this many roundings of (1 + μ)(|b| + |W||r|). */
#define FLOOR_ROUNDINGS 64

/* Beyond |W||r| = HUGE_IMPULSE |b| an impulse is an artefact of a singular block: its own rounding hides b.
 */
#define HUGE_IMPULSE 1e12

/* Candidates closer than this, relative to their impulse, are the same solution. */
#define SAME_SOLUTION 1e-7

/* A computed stick impulse this far outside the cone, relative to itself, may be inside in exact arithmetic.
 */
#define STICK_SLACK 1e-8

/* A direction whose defect is below this part of |p| + |B| is a root of the pencil. */
#define ROOT_SLACK 1e-8

#define NO_NUMBER  (double)NAN

/* ---- candidates ------------------------------------------------------------------------------------------
 */

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

/* Keeps r if its natural map (for stick, which has r in K, its velocity) is at rounding level and it is new,
 * or better than what it repeats. */
static void offer(const dls_exact_contact *contact, dls_contact_state state, const double *r,
                  dls_exact_branches *branches) {
    int d = contact->d;
    double impulse = contact->size * small_norm(d, r);
    if (!(impulse <= HUGE_IMPULSE * contact->speed)) return;

    dls_exact_solution candidate = {.state = state};
    double N[4];
    for (int i = 0; i < d; i++) {
        candidate.r[i] = r[i];
        candidate.u[i] = contact->b[i];
    }
    small_multiply_add(d, contact->W, r, candidate.u);
    cone_natural_map(d, contact->mu, contact->size / d, r, candidate.u, N);
    double residual = small_norm(d, state == DLS_STICK ? candidate.u : N);
    double floor_level = FLOOR_ROUNDINGS * DBL_EPSILON * (1 + contact->mu) * (contact->speed + impulse);
    if (!(residual <= floor_level)) return;

    if (state == DLS_OPEN) candidate.slip_ratio = HUGE_VAL;
    if (state == DLS_SLIP) candidate.slip_ratio = small_norm(d - 1, candidate.u + 1) / r[0];
    int place = place_of(d, r, residual, branches);
    if (place < 0) return;
    branches->solutions[place] = candidate;
    branches->residuals[place] = residual;
    if (place == branches->count) branches->count++;
}

/* W r = −b with r in K. */
static void offer_stick(const dls_exact_contact *contact, dls_exact_branches *branches) {
    int d = contact->d;
    double r[4];
    dls_exact_drag(contact, 0, r);
    double size = small_norm(d, r), tangential = small_norm(d - 1, r + 1), radius = contact->mu * r[0];
    if (size > 0)
        branches->stick_margin = (radius - tangential) / (size * sqrt(1 + contact->mu * contact->mu));
    if (!(r[0] > 0) || tangential > radius + STICK_SLACK * size) return;
    if (tangential > radius)
        for (int i = 1; i < d; i++) r[i] *= radius / tangential;
    int before = branches->count;
    offer(contact, DLS_STICK, r, branches);
    if (branches->count == before) branches->stick_margin = -1;
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

/* What the roots may have missed where W is close to losing its solutions. */
static void offer_last_resort(const dls_exact_contact *contact, dls_exact_branches *branches) {
    int d = contact->d;
    double r[4], e[3];
    if (!dls_exact_bisect(contact, r)) return;
    double tangential = small_norm(d - 1, r + 1);
    if (tangential > 0) {
        for (int i = 1; i < d; i++) e[i - 1] = r[i] / tangential;
        dls_exact_polish(d, contact->W, contact->mu, contact->b, e);
        dls_exact_offer_slip(contact, e, branches);
    }
    if (branches->count == 0) offer(contact, DLS_STICK, r, branches);
}

static void find_branches(const dls_exact_contact *contact, dls_exact_branches *branches) {
    const double zero[4] = {0};
    if (contact->b[0] >= 0) offer(contact, DLS_OPEN, zero, branches);
    if (!(contact->speed > 0) || !(contact->size > 0)) return;
    offer_stick(contact, branches);
    if (contact->d == 2) dls_exact_find_slips2(contact, branches);
    if (contact->d == 3) dls_exact_find_slips3(contact, branches);
    if (contact->d == 4) dls_exact_find_slips4(contact, branches);
    if (branches->count == 0 && contact->d > 2) offer_last_resort(contact, branches);
}

/* ---- scaling ---------------------------------------------------------------------------------------------
 */

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
    *contact = (dls_exact_contact){.d = d, .mu = mu};
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

/* ---- the answers -----------------------------------------------------------------------------------------
 */

/* For contacts that are not even numbers. */
static const dls_exact_certificate no_certificate = {
    NO_NUMBER, NO_NUMBER, NO_NUMBER, {NO_NUMBER, NO_NUMBER, NO_NUMBER, NO_NUMBER}, NO_NUMBER};

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
    if (certificate) {
        *certificate =
            (dls_exact_certificate){.open_margin = contact.speed > 0 ? contact.b[0] / contact.speed : 0,
                                    .stick_margin = branches.stick_margin,
                                    .slip_margin = branches.slip_margin};
        certificate->curvature = scalbn(dls_exact_least_curvature(&contact, certificate->direction), taken.W);
    }
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
