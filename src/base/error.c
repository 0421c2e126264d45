#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

dls_status dls_fail(dls_error *error, dls_status status, const char *format, ...) {
    if (!error) return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

dls_status dls_fail_memory(dls_error *error) { return dls_fail(error, DLS_ERROR_MEMORY, "out of memory"); }

void dls_error_clear(dls_error *error) {
    if (!error) return;
    error->status = DLS_OK;
    error->message[0] = '\0';
}

const char *dls_version(void) { return DLS_VERSION; }
