/* A contest between solvers of any make on one problem: each runs in a process of its own, is judged by our
 * residual alone, and is timed the same way.
 *
 * Time is the processor time of the solver call, the least of repeats that together last 20 ms. Every solve
 * starts from r = 0. A solver whose own stop test measures something else than the residual climbs a ladder:
 * its tolerance is tightened by decades until the residual meets the target, then the last decade is halved
 * three times, and the quickest rung that meets the target counts. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include <delassus/problem.h>

enum { CONTEST_MAX_TARGETS = 8 };

typedef struct contestant {
    const void *context;
    /* Solves from r = 0 to the solver's own tolerance; returns the processor time of the call alone. */
    double (*solve)(const void *context, double tolerance, double *r, int *iterations);
    bool stops_on_residual; /* its tolerance is the judge's: no ladder */
} contestant;

typedef struct contest_limits {
    const double *solve_seconds; /* processor time of one solve that aims at each target */
    double memory_bytes;         /* address space of the process */
} contest_limits;

/* What it took to bring the residual to a target; seconds is infinite where it was not reached. */
typedef struct contest_score {
    double seconds;
    double residual;
    double tolerance; /* the solver's own, at the rung that counts */
    int iterations;
} contest_score;

/* Targets in falling order. Solvers that crash, hang or take all memory keep the scores they had. */
void contest_run(const dls_problem *problem, const contestant *solver, const double *targets,
                 int target_count, contest_limits limits, contest_score *scores);

#endif
