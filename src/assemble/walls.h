/* What the curvature of a round wall adds to the velocities that it asks for. */
#ifndef ASSEMBLE_WALLS_H
#define ASSEMBLE_WALLS_H

#include "assemble/assemble.h"

/* bend: how a body's straight way runs into the wall, m/s²; false where the contact is not with the round
 * part of a drum or a hollow cylinder, or the body there has no corners and is no disc or sphere. */
bool dls_wall_bend(const dls_assembly *assembly, const dls_world *world, const dls_contact *contact,
                   const dls_block_place *place, double *bend);

#endif
