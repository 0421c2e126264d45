#include "cli/support/csv.h"

#include <math.h>
#include <string.h>

void csv_text(FILE *file, const char *text) {
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"') fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

void csv_real(FILE *file, double value) {
    fputc(',', file);
    if (isfinite(value)) fprintf(file, "%.17g", value);
}
