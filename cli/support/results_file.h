/* Reading the results of a run, with the error said. */
#ifndef CLI_SUPPORT_RESULTS_FILE_H
#define CLI_SUPPORT_RESULTS_FILE_H

#include <delassus/output.h>

#include <stdbool.h>

/* NULL after one line on stderr, which says what to give where a scene or a contact problem was given. */
dls_results *results_file_open(const char *path);

bool results_file_is(const char *path); /* whether the results of a run are there */
/* Whether results may be put there: nothing is there, or an empty file, or results; false after a line. */
bool results_file_may_replace(const char *path);
/* Whether what is there is anything but the results of a run, which are lost for a name mixed up; false after
 * a line on stderr. */
bool results_file_is_spared(const char *path);

#endif
