/* Reading a problem, with the error said, and writing it, with the files told. */
#ifndef CLI_SUPPORT_PROBLEM_FILE_H
#define CLI_SUPPORT_PROBLEM_FILE_H

#include <delassus/fclib.h>

#include <stdbool.h>

/* NULL after one line on stderr. */
dls_fclib *problem_file_read(const char *path);
/* The same into a message, for those who speak later. */
dls_fclib *problem_file_try(const char *path, bool as_stored, char *message, size_t size);

/* A problem of an FCLib file, or of Matrix Market files, named by that of W: PREFIX_W.mtx. */
typedef struct problem_source {
    dls_fclib *fclib; /* NULL for the latter */
    dls_problem *own; /* of the latter */
    const dls_problem *problem;
    bool is_mirrored; /* of M the file has one triangle */
} problem_source;

/* False with a message, which begins with the file's name. as_stored: one triangle of M is all of M. */
bool problem_source_open(const char *path, bool as_stored, problem_source *source, char *message,
                         size_t size);
void problem_source_close(problem_source *source);
/* The problem with its solution as an FCLib file: all that an FCLib source holds stays in it. */
dls_status problem_source_write_solved(const problem_source *source, const char *path, const double *r,
                                       const double *u, dls_error *error);

/* Writes Matrix Market files and tells their names on stdout. */
dls_status problem_write_matrix_market(const char *prefix, const dls_problem *problem, dls_error *error);

/* The name without folders and without .hdf5, .h5 or _W.mtx. */
void problem_file_name(const char *path, char *name, size_t size);

#endif
