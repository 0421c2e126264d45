/* Which of many solutions: impulses of least norm. */
#ifndef ASSEMBLE_SPREAD_H
#define ASSEMBLE_SPREAD_H

#include "assemble/assemble.h"

/* Of all impulses with the same W r, those of least norm over contacts that hold, as far as their cones
 * allow; velocities stay. Contacts hold where |u| ≤ limit. flops: what the solve took; large clusters get a
 * tenth. */
dls_status dls_assemble_spread(dls_assembly *a, double limit, double flops, dls_error *error);
/* Before the solve: small clusters that bore nothing start from the r of least norm with which all holds,
 * where that is a solution. Coulomb's law may have others that slip. */
dls_status dls_assemble_hold(dls_assembly *a, dls_error *error);

#endif
