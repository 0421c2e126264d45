/* What kernels of every operator share: one visit with v in hand, rests, and segments of one run. */
#ifndef PROBLEM_OPERATOR_VISITS_H
#define PROBLEM_OPERATOR_VISITS_H

#include "problem/visit.h"

#include <math.h>

enum { DLS_LONGEST_REST = 15 };

/* r_c ← r_c + ω (x − r_c) for the law's answer x; leaves the step in x, and tells whether it is one. */
static inline bool dls_visit_enter(const dls_visits *s, int d, double scale, double *x, double *rc,
                                   dls_sweep_change *change) {
    double sum = 0;
    for (int i = 0; i < d; i++) {
        x[i] = s->relaxation * (x[i] - rc[i]);
        rc[i] += x[i];
        sum += x[i] * x[i];
    }
    double normal = fabs(x[0]), tangent = sum - x[0] * x[0];
    change->velocity2 += scale * scale * sum;
    change->normal = normal > change->normal ? normal : change->normal;
    change->tangent = tangent > change->tangent ? tangent : change->tangent;
    return sum > 0;
}

/* A contact that was found open and stays so is left out of the next 1, 3, 7, 15 sweeps: most of those that a
 * simulation watches never close, and the measure asks all of them. */
static inline void dls_visit_rest(dls_visits *s, int c, bool moved, double normal_impulse) {
    if (!s->rest) return;
    if (moved) {
        s->pause[c] = 0;
    } else if (normal_impulse == 0) {
        s->pause[c] =
            s->pause[c] < DLS_LONGEST_REST ? (uint8_t)(2 * s->pause[c] + 1) : (uint8_t)DLS_LONGEST_REST;
        s->rest[c] = s->pause[c];
    }
}

/* low ≤ r_c ≤ high with u_c = W_cc r_c + v, bounds of the rows at hand or NULL. */
void dls_solve_interval(int d, const double *W, const double *data, const double *low, const double *high,
                        const double *v, double *r);
/* A contact whose friction is not one tangential part. */
dls_contact_state dls_solve_cone(const dls_visits *visits, int c, const double *W, const double *data,
                                 const double *v, double *r);

/* Block c with v in hand; leaves its step in x, and tells whether it is one. */
static inline bool dls_visit_local(dls_visits *s, int run, int c, int d, const double *v, double *r,
                                   double *x, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    double room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    const double *W = dls_diagonal_in(p, c, room), *data = dls_law_data(s, run, c);
    double *rc = r + p->row[c];
    for (int i = 0; i < d; i++) x[i] = rc[i];
    uint8_t parts = p->runs[run].parts;
    if (dls_is_plain(parts))
        change->unsolved += s->law->solve(&s->local, d, W, p->mu[c], data, v, x) == DLS_UNSOLVED;
    else if (p->kind[c] == DLS_CONTACT)
        change->unsolved += dls_solve_cone(s, c, W, data, v, x) == DLS_UNSOLVED;
    else
        dls_solve_interval(d, W, data, p->low ? p->low + p->row[c] : NULL,
                           p->low ? p->high + p->row[c] : NULL, v, x);
    return dls_visit_enter(s, d, p->scale[c], x, rc, change);
}

typedef void (*dls_visit_function)(dls_visits *s, int run, int c, double *r, dls_sweep_change *change);

/* Inlined with the visit that it is called for. */
static inline __attribute__((always_inline)) dls_sweep_change
dls_visit_each(dls_visits *s, int run, int first, int end, double *r, bool backward, dls_visit_function one) {
    dls_sweep_change change = {0, 0, 0, 0};
    for (int k = 0; k < end - first; k++) {
        int place = backward ? end - 1 - k : first + k, c = s->order ? s->order[place] : place;
        if (s->rest && s->rest[c])
            s->rest[c]--;
        else
            one(s, run, c, r, &change);
    }
    return change;
}

/* Visits blocks of one run at the places first … end of the order. */
typedef dls_sweep_change (*dls_run_kernel)(dls_visits *s, int run, int first, int end, double *r,
                                           bool backward);

/* The places first … end as segments whose blocks lie in one run each. */
dls_sweep_change dls_visit_runs(dls_visits *s, int first, int end, double *r, bool backward,
                                dls_run_kernel kernel);

/* A kernel for blocks of any size, by local() and changed(). */
dls_sweep_change dls_visit_run_any(dls_visits *s, int run, int first, int end, double *r, bool backward);

#endif
