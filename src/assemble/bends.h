/* How contacts bend within a step. */
#ifndef ASSEMBLE_BENDS_H
#define ASSEMBLE_BENDS_H

#include "assemble/assemble.h"

/* ζ of g̈ and of the rates of slip along t₁, t₂, m/s², while both bodies go on freely with the velocities that
 * they have before forces and impulses act; chords of driven bodies stand in the velocities already. False
 * where the surfaces do not tell, and where ζ is not larger than least along any row. */
bool dls_contact_bend(const dls_assembly *assembly, const dls_world *world, const dls_contact *contact,
                      const dls_block_place *place, double h, double least, double *zeta);

#endif
