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

/* Sweeps in single precision about a base in double: r₀, u₀ = W r₀ + b. What is rounded is the way from r₀ to
 * r alone, so that a base renewed now and then leaves no error behind. Under the exact law. */
typedef struct dls_lanes dls_lanes;

typedef struct dls_lane_kernel {
    /* Whether all blocks of p can be visited so. */
    bool (*fits)(const dls_problem *p);
    /* For the blocks of an order in pieces: those of the first `apart` share no body within a piece. NULL
     * when memory is out. */
    dls_lanes *(*make)(const dls_problem *p, const int *order, const int *piece, int piece_count, int apart,
                       dls_workspace *w);
    /* r of a piece anew; the state begins at 0 with the first base */
    void (*start)(dls_lanes *x, int piece, const double *r);
    /* u₀ of a piece, for the r that it has */
    void (*base)(dls_lanes *x, int piece, const double *u);
    /* The state is 0 where r is r₀; fresh: it has no past either. */
    void (*rebase)(dls_lanes *x, bool fresh);
    dls_sweep_change (*visit)(dls_lanes *x, int piece, double relaxation);
    /* r and the state move on along their last step: r += β (r − r of the sweep before) */
    void (*push)(dls_lanes *x, double beta);
    /* r of a piece; project: back into the cones, where rounding alone led out of them */
    void (*read)(const dls_lanes *x, int piece, bool project, double *r);
    double *(*state)(dls_lanes *x);
    dls_span (*span)(const dls_problem *p, int body); /* of it */
} dls_lane_kernel;

/* A part of a sweep that follows another. */
void dls_sweep_add(dls_sweep_change *sum, const dls_sweep_change *part);

/* Visits by local() and changed() of any operator. */
dls_sweep_change dls_visit_any(dls_visits *visits, int first, int end, double *r, bool backward);

/* Prepares an interval block: data, d² numbers, is W_cc⁻¹. */
void dls_prepare_interval(int d, const double *W, double *data);

#endif
