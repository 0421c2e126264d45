/* Contact problems as files: FCLib's HDF5 layout (local and global), and Matrix Market for export. */
#ifndef DELASSUS_FCLIB_H
#define DELASSUS_FCLIB_H

#include <delassus/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dls_fclib_form { DLS_FCLIB_LOCAL = 0, DLS_FCLIB_GLOBAL } dls_fclib_form;

/* A file's content. Contacts come first in the problem's blocks, equality rows follow as bilateral blocks. */
typedef struct dls_fclib dls_fclib;

/* Reads path; a global problem (M, H, f, w) is condensed to W = Hᵀ M⁻¹ H with a sparse factorisation. */
DLS_API dls_status dls_fclib_read(const char *path, dls_fclib **file, dls_error *error);
/* The same from memory, for tests and pipes. */
DLS_API dls_status dls_fclib_read_memory(const void *bytes, size_t size, dls_fclib **file, dls_error *error);
DLS_API void dls_fclib_destroy(dls_fclib *file);

DLS_API const dls_problem *dls_fclib_problem(const dls_fclib *file); /* owned by file */
DLS_API dls_fclib_form dls_fclib_source_form(const dls_fclib *file);
DLS_API int dls_fclib_freedoms(const dls_fclib *file);      /* of a global problem, else 0 */
DLS_API const char *dls_fclib_title(const dls_fclib *file); /* "" where the file has none */
DLS_API const char *dls_fclib_description(const dls_fclib *file);
DLS_API const char *dls_fclib_math_info(const dls_fclib *file);
/* Impulses in the order of the problem's rows, or NULL. Stored solutions are often zero and prove nothing. */
DLS_API const double *dls_fclib_solution(const dls_fclib *file);
DLS_API int dls_fclib_guess_count(const dls_fclib *file);
DLS_API const double *dls_fclib_guess(const dls_fclib *file, int index);

typedef struct dls_fclib_content {
    const dls_problem
        *problem;        /* all contacts of one size, 2 or 3; bilateral blocks become the equality part */
    const double *r, *u; /* /solution, or NULL */
    const char *title, *description, *math_info; /* or NULL */
} dls_fclib_content;

/* Writes a local problem (W by rows), aside and renamed: an existing file stays whole until the new one is.
 */
DLS_API dls_status dls_fclib_write(const char *path, const dls_fclib_content *content, dls_error *error);

/* Writes what was read, in its own form (local or global) and storage, with r and u as its /solution. */
DLS_API dls_status dls_fclib_rewrite(const char *path, const dls_fclib *file, const double *r,
                                     const double *u, dls_error *error);

/* W, q and μ as PREFIX_W.mtx, PREFIX_q.mtx, PREFIX_mu.mtx. */
DLS_API dls_status dls_matrix_market_write(const char *prefix, const dls_problem *problem, dls_error *error);

#ifdef __cplusplus
}
#endif
#endif
