/* Worlds with joints of every kind, whose results are written, read and drawn. */
#ifndef DELASSUS_TESTS_SUPPORT_JOINED_H
#define DELASSUS_TESTS_SUPPORT_JOINED_H

#include <delassus/output.h>

enum { LINKAGE_BROKEN = 6 }; /* the joint that breaks in the first step, in the plane */

/* In the plane a four-bar linkage of bodies without shapes with a motor, a slide with springs, a ball on a
 * rope above a floor, and a joint that breaks; in space a body for each kind of joint. The world is the
 * caller's. */
dls_world *linkage_world(int dimension);

#endif
