/* Friction against turning: rows of relative angular velocity behind the normal and tangential ones. */
#ifndef ASSEMBLE_TURNING_H
#define ASSEMBLE_TURNING_H

#include "assemble/assemble.h"

enum { DLS_TURNING_ROWS = 4 };

/* u_k = axis_k · (ω_B − ω_A): in space drilling (a velocity: its axis is as long as the radius), rolling
 * about t₁ and t₂, spinning about n, as far as the contact has them; in the plane rolling about z. */
typedef struct dls_turning {
    int count;
    double axis[DLS_TURNING_ROWS][3];
} dls_turning;

/* Whether any pair of the world has such friction. */
bool dls_world_turns(const dls_world *world);
/* The parts of a contact, and their lengths in metres. */
uint8_t dls_turning_parts(const dls_world *world, const dls_contact *contact, double *rolling,
                          double *spinning);
void dls_turning_axes(int dimension, uint8_t parts, const double *frame, double drilling,
                      dls_turning *turning);

/* Rows of G for one side, each of `width` numbers. */
void dls_turning_fill(const dls_assembly *a, const dls_block_place *place, int side,
                      const dls_turning *turning, int width, double *G);
void dls_turning_velocity(const dls_turning *turning, const double *w_a, const double *w_b, double *u);

/* The torque on B of the rows of a contact behind n, t₁ and t₂, in world axes, and back. */
void dls_turning_moment(const dls_turning *turning, const double *r, double *moment);
void dls_turning_rows(const dls_turning *turning, const double *moment, double *r);

#endif
