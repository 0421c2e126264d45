/* Tables for the terminal: columns as wide as their widest cell, counted in characters. */
#ifndef CLI_SUPPORT_TABLE_H
#define CLI_SUPPORT_TABLE_H

#include "cli/support/report.h"

typedef struct table table;

/* The first column is aligned to the left, the others to the right unless said otherwise. */
table *table_create(int column_count);
void table_align_left(table *t, int column);
/* Fills cells row by row, from the left. */
void table_cell(table *t, report_colour colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints all rows, the first one as a head with a rule below; then forgets the table. */
void table_print(table *t);

#endif
