/* The measures of the certificate, by name and unit. */
#ifndef CLI_SOLVE_MEASURE_LIST_H
#define CLI_SOLVE_MEASURE_LIST_H

#include "cli/support/json.h"

#include <delassus/problem.h>

typedef struct measure_row {
    const char *key;
    size_t offset; /* in dls_measures */
    const char *unit, *meaning;
} measure_row;

/* The judge's two numbers stand first. */
extern const measure_row measure_rows[];
extern const int measure_row_count;

double measure_value(const measure_row *row, const dls_measures *measures);
/* An object with all of them. */
void measures_to_json(json *j, const dls_measures *measures);

#endif
