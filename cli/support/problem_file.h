/* Reading a problem, with the error said, and writing it, with the files told. */
#ifndef CLI_SUPPORT_PROBLEM_FILE_H
#define CLI_SUPPORT_PROBLEM_FILE_H

#include <delassus/fclib.h>

/* NULL after one line on stderr. */
dls_fclib *problem_file_read(const char *path);
/* The same into a message, for those who speak later. */
dls_fclib *problem_file_try(const char *path, char *message, size_t size);

/* Writes Matrix Market files and tells their names on stdout. */
dls_status problem_write_matrix_market(const char *prefix, const dls_problem *problem, dls_error *error);

/* The name without folders and without .hdf5 or .h5. */
void problem_file_name(const char *path, char *name, size_t size);

#endif
