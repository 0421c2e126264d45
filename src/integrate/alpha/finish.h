/* After a step of generalized-α: states, impulses and velocities of contacts and joints as all schemes have
 * them. */
#ifndef INTEGRATE_ALPHA_FINISH_H
#define INTEGRATE_ALPHA_FINISH_H

#include "integrate/alpha/piece.h"

/* What contacts and rows of joints did; of contacts by the collider's order. */
typedef struct dls_alpha_deed {
    double impulse[3], moment[3]; /* on B, world axes */
    double frame[9];
    double r[1 + DLS_ALPHA_ROWS], u[1 + DLS_ALPHA_ROWS]; /* rows; u = ξ */
    double work[1 + DLS_ALPHA_ROWS];                     /* twice what each row did to the bodies, J */
} dls_alpha_deed;

typedef struct dls_alpha_row_deed {
    int joint, freedom, role;
    double r;
} dls_alpha_row_deed;

typedef struct dls_alpha_finish {
    dls_body_state *states; /* at the end of the step */
    dls_world began;        /* the world as the step began, with memory of its own */
    double *q, *u;          /* of solids at the end */
    dls_alpha_deed *contact;
    dls_alpha_row_deed *row;
    int row_count;
} dls_alpha_finish;

bool dls_alpha_finish_begin(dls_simulation *s, dls_alpha_finish *finish, dls_workspace *space);
void dls_alpha_finish_piece(dls_piece *p, dls_alpha_finish *finish);
dls_status dls_alpha_finish_step(dls_simulation *s, const dls_step_plan *plan, dls_alpha_finish *finish,
                                 dls_step_report *report, dls_error *error);

/* Whether all that pieces say of directions and bends agrees with differences along the motion, where the
 * simulation stands: dls_model_check of each. */
dls_status dls_alpha_world_check(dls_simulation *s, double tolerance, dls_error *error);

/* Refuses what the scheme does not know, and starts that joints do not hold. */
dls_status dls_alpha_world_admits(const dls_world *world, const dls_simulation_options *options,
                                  dls_error *error);
dls_status dls_alpha_world_advance(dls_simulation *s, const dls_step_plan *plan, dls_step_report *report,
                                   dls_error *error);

#endif
