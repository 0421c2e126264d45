/* A small run that shows everything results have to keep: kinds of shapes, births, deaths, late comers. */
#ifndef DELASSUS_TESTS_SUPPORT_SMALL_RUN_H
#define DELASSUS_TESTS_SUPPORT_SMALL_RUN_H

#include <delassus/output.h>

typedef struct small_run {
    dls_world *world;
    dls_simulation *simulation;
    dls_body_id removed; /* leaves after step 6 */
} small_run;

/* dimension 2 or 3. Steps are 0.01 s; a body is born at 0.05 s and one dies at 0.08 s. */
small_run small_run_create(int dimension);
void small_run_destroy(small_run *run);
/* One step. After step 6 a body is removed; the body that comes late, after step 9, is the caller's. */
dls_step_report small_run_step(small_run *run);
void small_run_add_late(small_run *run);

/* What a results file of it says of itself. */
dls_results_def small_run_def(void);

#endif
