/* Contact problems as files: FCLib's HDF5 layout (local and global), and Matrix Market for export.
 *
 *   local:   u = W r + V l + q,    Vᵀ r + R l + s = 0
 *   global:  M v = H r + G l + f,   u = Hᵀ v + w,   Gᵀ v + b = 0
 *
 * Rows of a contact, spacedim of them:
 *
 *   fclib_local, fclib_global                   2: n, t             3: n, t₁, t₂
 *   fclib_local_rolling, fclib_global_rolling   3: n, t, rolling    5: n, t₁, t₂, rolling₁, rolling₂
 *
 * with μ in vectors/mu and, of the latter, μ_rolling (a length) in vectors/mu_r.
 *
 * A reference velocity of the judge stands beside, as info/reference_velocity; FCLib's own reader does not
 * look there.
 *
 * The problem has the contacts first, in the file's order. The equality rows (l) follow as bilateral blocks:
 * consecutive rows that are coupled join into blocks of up to six, and a row that is not coupled with the
 * block before it, or would make it singular, begins the next. A global problem is condensed by a sparse
 * factorisation, W = [H G]ᵀ M⁻¹ [H G], and keeps its sparsity: two contacts are coupled where a connected
 * part of M touches both. M is symmetric by FCLib's definition: where a file has entries on one side of the
 * diagonal alone it stored one triangle, and is read as the whole. dls_fclib_read_stored takes M as it
 * stands.
 *
 * Messages say file, dataset, what was found and what was expected:
 * "pile.hdf5: /fclib_local/W/i: index 7341 out of range, expected 0 … 245". A file is checked byte by byte
 * before the HDF5 library sees it, for a damaged one can crash that library; chunked or compressed data,
 * external files and soft links are refused, with the h5repack command that undoes them.
 *
 * Several threads may read and write files at once: calls of the HDF5 library wait for each other. */
#ifndef DELASSUS_FCLIB_H
#define DELASSUS_FCLIB_H

#include <delassus/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dls_fclib_form { DLS_FCLIB_LOCAL = 0, DLS_FCLIB_GLOBAL } dls_fclib_form;

/* A file's content: the problem, and the file's own bytes for dls_fclib_rewrite. */
typedef struct dls_fclib dls_fclib;

DLS_API dls_status dls_fclib_read(const char *path, dls_fclib **file, dls_error *error);
/* One triangle of M is then taken for all of M, which gives an unsymmetric W. */
DLS_API dls_status dls_fclib_read_stored(const char *path, dls_fclib **file, dls_error *error);
/* The same from memory; messages call the file "(memory)". */
DLS_API dls_status dls_fclib_read_memory(const void *bytes, size_t size, dls_fclib **file, dls_error *error);
DLS_API void dls_fclib_destroy(dls_fclib *file);

/* The problem, texts and arrays that follow belong to file and are valid until it is destroyed. */
DLS_API const dls_problem *dls_fclib_problem(const dls_fclib *file);
DLS_API dls_fclib_form dls_fclib_source_form(const dls_fclib *file);
DLS_API int dls_fclib_freedoms(const dls_fclib *file); /* of a global problem, else 0 */
/* Whether the file has one triangle of M alone, mirrored or not. */
DLS_API bool dls_fclib_has_triangle(const dls_fclib *file);
/* Bodies that contacts touch, 0 where unknown: what the attribute numberOfInvolvedDS of the info group says,
 * as Siconos writes it. Else a global problem's M tells: blocks of a rigid body's freedoms (6 in space, 3 in
 * the plane) where it has no entry outside of them, its connected parts elsewhere. */
DLS_API int dls_fclib_bodies(const dls_fclib *file);
DLS_API const char *dls_fclib_title(const dls_fclib *file); /* "" where the file has none */
DLS_API const char *dls_fclib_description(const dls_fclib *file);
DLS_API const char *dls_fclib_math_info(const dls_fclib *file);
/* Impulses in the order of the problem's rows, or NULL. Stored solutions are often zero and prove nothing. */
DLS_API const double *dls_fclib_solution(const dls_fclib *file);
DLS_API int dls_fclib_guess_count(const dls_fclib *file);
DLS_API const double *dls_fclib_guess(const dls_fclib *file, int index); /* NULL where there is none */

typedef struct dls_fclib_content {
    /* all contacts of one of the layouts above; bilateral blocks become the equality part, wherever they
     * stand; rows with bounds and spinning parts are refused, for FCLib has no word for them */
    const dls_problem *problem;
    const double *r, *u; /* /solution in the problem's order, or NULL; u = NULL stands for W r + b */
    const char *title, *description, *math_info; /* or NULL */
} dls_fclib_content;

/* Writes a local problem (W by rows). What was read from it and what is read back agree in every bit, rows of
 * bilateral blocks and rolling parts to rounding: these are kept in another unit inside. Files are made in
 * memory, written aside and renamed: an existing file stays whole until the new one is, whatever happens. */
DLS_API dls_status dls_fclib_write(const char *path, const dls_fclib_content *content, dls_error *error);

/* Writes what was read, with r and u (NULL stands for W r + b) as its /solution, and v for a global problem.
 * All else in the file stays as it is: form, storage, attributes, guesses, groups that FCLib does not know.
 */
DLS_API dls_status dls_fclib_rewrite(const char *path, const dls_fclib *file, const double *r,
                                     const double *u, dls_error *error);

/* W, q (b of all rows) and μ (of contacts) as PREFIX_W.mtx, PREFIX_q.mtx, PREFIX_mu.mtx. Where contacts have
 * other than one tangential part, PREFIX_mu_rolling.mtx and PREFIX_mu_spinning.mtx (of contacts); where
 * blocks are not all alike in kind, PREFIX_parts.mtx (of each block: rows, whether it is a contact, rows of
 * its tangential, rolling and spinning part); where rows have bounds, PREFIX_bounds.mtx (low and high of all
 * rows); where there is a reference velocity, PREFIX_v_ref.mtx (one number).
 */
DLS_API dls_status dls_matrix_market_write(const char *prefix, const dls_problem *problem, dls_error *error);
/* The problem of such files, of our making or of other tools' (SciPy's mmwrite): coordinate or array, real or
 * integer, general or symmetric. W, q and μ have to be there; without PREFIX_parts.mtx all rows are those of
 * contacts, equally many each. Messages say file, line and what was expected. */
DLS_API dls_status dls_matrix_market_read(const char *prefix, dls_problem **problem, dls_error *error);
/* What stands behind the prefix in the index-th file of problem (NULL: of any problem), NULL behind the last.
 */
DLS_API const char *dls_matrix_market_suffix(const dls_problem *problem, int index);

#ifdef __cplusplus
}
#endif
#endif
