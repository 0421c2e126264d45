/* Reading the results of a run, with the error said. */
#ifndef DELASSUS_CLI_RESULTS_FILE_H
#define DELASSUS_CLI_RESULTS_FILE_H

#include <delassus/output.h>

/* NULL after one line on stderr, which says what to give where a scene or a contact problem was given. */
dls_results *results_file_open(const char *path);

#endif
