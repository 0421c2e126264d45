/* Callbacks as functions of time, asked once for each time that a step needs. */
#ifndef WORLD_FUNCTION_FUNCTION_H
#define WORLD_FUNCTION_FUNCTION_H

#include <delassus/world.h>

enum { DLS_ASKED_TIMES = 4 };

bool dls_function_is_callback(const dls_function *function); /* no for NULL */

/* Of a callback: drops what it said, and asks it for a time, to be recalled; no where it says that it failed.
 * At most DLS_ASKED_TIMES different times are kept. */
void dls_function_forget(dls_function *function);
bool dls_function_ask(dls_function *function, double t);
/* What a callback was asked for that time, without calling it; of all else dls_function_value. */
double dls_function_recall(const dls_function *function, double t);

#endif
