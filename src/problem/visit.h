/* What a sweep hands to the operator, whose kernels visit blocks in turn:
 *
 *     v = b_c + Σ_{j≠c} W_cj r_j,   r_c ← r_c + ω (law(W_cc, v, r_c) − r_c) */
#ifndef PROBLEM_VISIT_H
#define PROBLEM_VISIT_H

#include "problem/problem.h"

/* What visits changed. */
typedef struct dls_sweep_change {
    double velocity2;       /* Σ |Δr_c / ρ_c|²: an estimate of ‖N‖² that costs nothing */
    double normal, tangent; /* max |Δr_n|, N s; max |Δr_t|, squared until the sweep is over */
    int unsolved;           /* contacts that the law gave up on */
} dls_sweep_change;

/* Where what the law prepared for the blocks of a run lies. */
typedef struct dls_run_data {
    int64_t start;
    int stride;
} dls_run_data;

typedef struct dls_visits {
    const dls_problem *problem;
    const dls_law *law;
    dls_law_options local;
    double relaxation;
    bool increments; /* the largest steps are wanted, not only their sum */
    uint8_t *rest;   /* visits that an open contact is still left out of; NULL: none is */
    uint8_t *pause;  /* of how many its last rest was */
    double *data;
    dls_run_data *run_data; /* of each run */
    double *state;          /* of the operator */
    int *order;             /* NULL for the natural order */
} dls_visits;

static inline double *dls_law_data(const dls_visits *v, int run, int c) {
    const dls_run_data *at = &v->run_data[run];
    return v->data + at->start + (int64_t)(c - v->problem->runs[run].first) * at->stride;
}

/* A part of a sweep that follows another. */
void dls_sweep_add(dls_sweep_change *sum, const dls_sweep_change *part);

/* Visits by local() and changed() of any operator. */
dls_sweep_change dls_visit_any(dls_visits *visits, int first, int end, double *r, bool backward);

/* Prepares an interval block: data, d² numbers, is W_cc⁻¹. */
void dls_prepare_interval(int d, const double *W, double *data);

#endif
