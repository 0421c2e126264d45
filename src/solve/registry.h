/* What keeps the tables of laws and solvers whole while threads look at them, solve, and change them. */
#ifndef SOLVE_REGISTRY_H
#define SOLVE_REGISTRY_H

#include <delassus/base.h>

/* Around every look at rows of users, and every change. */
void dls_registry_lock(void);
void dls_registry_unlock(void);

/* Around every solve: rows that it may have found stay as long as one runs. */
void dls_registry_solve_begin(void);
void dls_registry_solve_end(void);
/* Asked under the lock: a solve that begins later finds the table as it is then. */
bool dls_registry_is_solving(void);

#endif
