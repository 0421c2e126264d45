#include "cli/support/csv.h"

#include <math.h>

void csv_real(FILE *file, double value) {
    fputc(',', file);
    if (isfinite(value)) fprintf(file, "%.17g", value);
}
