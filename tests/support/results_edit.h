/* Results files with numbers in them that no writer would have left there. */
#ifndef DELASSUS_TESTS_SUPPORT_RESULTS_EDIT_H
#define DELASSUS_TESTS_SUPPORT_RESULTS_EDIT_H

#include <stdint.h>

/* Puts a number into a row of a dataset: member of a compound one (NULL: a plain one), place within the row.
 * A number that is kept by name gets its bare bytes. */
void results_set(const char *path, const char *dataset, const char *member, int64_t row, int place,
                 double value);
/* The same for an attribute of the root. */
void results_set_attribute(const char *path, const char *name, int place, double value);
/* Whole bytes of a file, out and in. */
unsigned char *results_load(const char *path, long *size);
void results_save(const char *path, const unsigned char *bytes, long size);

#endif
