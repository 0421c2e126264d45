/* Reading a problem, with the error said. */
#ifndef CLI_SUPPORT_PROBLEM_FILE_H
#define CLI_SUPPORT_PROBLEM_FILE_H

#include <delassus/fclib.h>

/* NULL after one line on stderr. */
dls_fclib *problem_file_read(const char *path);
/* The same into a message, for those who speak later. */
dls_fclib *problem_file_try(const char *path, char *message, size_t size);

/* The name without folders and without .hdf5 or .h5. */
void problem_file_name(const char *path, char *name, size_t size);

#endif
