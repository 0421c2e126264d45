#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

/* Names in files and words of users may hold line ends, and what moves a terminal's cursor. */
static void mask_controls(char *line) {
    for (; *line; line++)
        if ((unsigned char)*line < ' ' || *line == 0x7f) *line = '?';
}

dls_status dls_fail(dls_error *error, dls_status status, const char *format, ...) {
    if (!error) return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    mask_controls(error->message);
    return status;
}

dls_status dls_fail_memory(dls_error *error) { return dls_fail(error, DLS_ERROR_MEMORY, "out of memory"); }

void dls_error_clear(dls_error *error) {
    if (!error) return;
    error->status = DLS_OK;
    error->message[0] = '\0';
}

const char *dls_version(void) { return DLS_VERSION; }
