/* Solvers with options by name, as the command line has them: "pqn+globalization=paper+shift=min". */
#ifndef DELASSUS_TESTS_SUPPORT_VARIANT_H
#define DELASSUS_TESTS_SUPPORT_VARIANT_H

#include <delassus/solve.h>

typedef struct variant {
    const char *text;
    const dls_solver *solver;
    union {
        dls_stop_options stop; /* the first member of every options struct */
        max_align_t align;
        unsigned char bytes[DLS_MAX_OPTIONS_SIZE];
    } options;
} variant;

variant variant_from(const char *text); /* with a tolerance of 1e-8; fails the test where text is wrong */
/* Solves from r; the certificate must be what dls_problem_measure says of r. */
dls_solve_info variant_solve(const variant *v, const dls_problem *problem, double *r, double *u);
/* From zero to a tolerance; fails the test when it is not reached. */
dls_solve_info variant_reach(const char *text, const dls_problem *problem, double tolerance, double *r,
                             double *u);

#endif
