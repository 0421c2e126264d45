/* Small worlds for tests, in few words: add bodies, step, look. Any failure fails the test. */
#ifndef DELASSUS_TESTS_SUPPORT_STAGE_H
#define DELASSUS_TESTS_SUPPORT_STAGE_H

#include <delassus/integrate.h>

typedef struct stage {
    dls_world *world;
    dls_simulation *simulation;
    dls_step_report last;
    int uncertified; /* steps so far */
} stage;

/* A world with one material: the default one, with this friction and restitution. */
stage stage_open(int dimension, double gravity, double mu, double e_n, double e_t);
void stage_close(stage *s);

dls_body_id stage_add(stage *s, const dls_body_def *def);
/* One shape at x with velocity v and spin w; any may be NULL. */
dls_body_id stage_add_shape(stage *s, dls_motion motion, const dls_shape_def *shape, const double *x,
                            const double *v, const double *w);
dls_shape_def stage_ball(int dimension, double radius);
/* The half-space or half-plane below the origin, tilted by angle about the y axis (z in the plane): downhill
 * is −x for a positive angle. */
dls_body_id stage_add_floor(stage *s, double angle);

/* tolerance 0 keeps the default of the solver. */
void stage_start(stage *s, const dls_simulation_options *options, double tolerance);
void stage_run(stage *s, int steps);
dls_body_state stage_state(const stage *s, dls_body_id id);
dls_body_mass stage_mass(const stage *s, dls_body_id id);
/* J ω of a body whose principal axes are its own. */
void stage_spin(const dls_body_mass *mass, const dls_body_state *b, double *spin);

#endif
