/* FCLib files of every kind, made through HDF5 itself: good ones, and good ones with one thing changed. */
#ifndef DELASSUS_TESTS_SUPPORT_FCLIB_FILES_H
#define DELASSUS_TESTS_SUPPORT_FCLIB_FILES_H

#include <delassus/fclib.h>

#include <hdf5.h>

typedef enum fclib_storage { STORE_TRIPLETS, STORE_COLUMNS, STORE_ROWS, STORAGE_COUNT } fclib_storage;

/* A problem as dense matrices, column-major, sparse enough to show it. */
typedef struct fclib_sample {
    int dimension, contacts, equalities, freedoms; /* freedoms = 0: local */
    double W[12 * 12];                             /* [W V; Vᵀ R] of the local problem, all rows */
    double M[12 * 12], A[12 * 12];                 /* M and [H G] of the global one */
    double b[12];                                  /* [q; s] or [w; b] */
    double f[12];
    double mu[6];
    bool is_rolling; /* set after it is made: the same numbers, their last rows taken for rolling ones */
    double mu_rolling[6];
} fclib_sample;

/* Positive definite, the same for the same seed. For a global sample W and the condensed b are filled in too.
 */
fclib_sample make_fclib_sample(dls_fclib_form form, int dimension, int contacts, int equalities, int seed);
static inline int fclib_sample_rows(const fclib_sample *s) {
    return s->dimension * s->contacts + s->equalities;
}
/* The group that it is written into. */
const char *fclib_sample_root(const fclib_sample *s);
/* b of the condensed problem. */
void condensed_velocity(const fclib_sample *s, double *b);

/* An HDF5 file under construction. */
typedef struct file_edit {
    hid_t file;
    char name[32];
} file_edit;

typedef struct file_bytes {
    unsigned char *data;
    size_t size;
} file_bytes;

file_edit edit_new(H5F_libver_t format); /* H5F_LIBVER_EARLIEST is what everybody writes */
file_edit edit_begin(file_bytes bytes);
file_bytes edit_end(file_edit *edit);
void edit_drop(file_edit *edit); /* after a look */

void edit_group(file_edit *edit, const char *path);
void edit_remove(file_edit *edit, const char *path);
/* These replace what is there. type is the one in the file. */
void edit_int(file_edit *edit, const char *path, int value);
void edit_ints(file_edit *edit, const char *path, hid_t type, int count, const int *values);
void edit_reals(file_edit *edit, const char *path, hid_t type, int count, const double *values);
void edit_text(file_edit *edit, const char *path, const char *text);
void edit_long_text(file_edit *edit, const char *path, const char *text); /* in a heap, as h5py has it */
/* Overwrites one number of an existing dataset. */
void edit_int_at(file_edit *edit, const char *path, int index, int value);
void edit_real_at(file_edit *edit, const char *path, int index, double value);

/* The whole sample as a file, with info texts, a zero /solution, one guess, and an attribute that nobody
 * knows. */
file_bytes make_fclib_file(const fclib_sample *sample, fclib_storage storage, H5F_libver_t format);
void free_bytes(file_bytes *bytes);

/* Datasets out of bytes, to be freed; count may be NULL. */
double *read_dataset(file_bytes bytes, const char *path, int *count);
bool has_object(file_bytes bytes, const char *path);

/* The folder of shared problems, or NULL: $DLS_SHARED, else ../shared beside the sources. */
const char *shared_folder(void);

file_bytes load_bytes(const char *path);

#endif
