#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <delassus/base.h>

/* Fills error (which may be NULL) with a formatted line and returns status, so that `return dls_fail(…)`
 * reads well. */
dls_status dls_fail(dls_error *error, dls_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The commonest failure. */
dls_status dls_fail_memory(dls_error *error);

/* Clears error (which may be NULL) at the start of a public call. */
void dls_error_clear(dls_error *error);

#endif
