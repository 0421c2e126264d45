/* Fields of comma-separated values (RFC 4180). */
#ifndef CLI_SUPPORT_CSV_H
#define CLI_SUPPORT_CSV_H

#include <stdio.h>

/* A comma and all 17 digits; an empty field where there is no number. */
void csv_real(FILE *file, double value);

#endif
