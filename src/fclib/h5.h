/* HDF5 files in memory: datasets by their path, checked for kind and length before a byte is allocated. */
#ifndef FCLIB_H5_H
#define FCLIB_H5_H

#include "fclib/image.h"

#include <hdf5.h>

/* The bytes behind a file that HDF5 takes for one in memory. */
typedef struct dls_h5_memory {
    dls_image lent; /* what was opened; stays until the file is closed */
    dls_image own;  /* what a writable file grows in */
    bool is_writable;
} dls_h5_memory;

typedef struct dls_h5 {
    hid_t file;
    dls_h5_memory memory;
    const char *name;
    dls_error *error;
    H5E_auto2_t print; /* what HDF5 did with its error stack before */
    void *print_data;
} dls_h5;

/* From here until it is closed HDF5 is ours alone.
 *
 * Opens image for reading, without a copy; it must have passed dls_h5_check and outlive h5. h5 must not move.
 */
dls_status dls_h5_open(dls_h5 *h5, dls_image image, const char *name, dls_error *error);
/* The same on a copy of image that may change; an empty image starts a new file. added is how many bytes of
 * data will be written: memory for them is taken at once, for HDF5 does not survive running out of it
 * half-way. */
dls_status dls_h5_open_copy(dls_h5 *h5, dls_image image, size_t added, const char *name, dls_error *error);
void dls_h5_close(dls_h5 *h5);
/* Closes a writable file; image is for the caller to free. */
dls_status dls_h5_close_into(dls_h5 *h5, dls_image *image);

/* "NAME: WHERE: …" */
dls_status dls_h5_fail(const dls_h5 *h5, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- reading: paths are absolute ---- */

bool dls_h5_has(const dls_h5 *h5, const char *where);
/* One integer from low to high. */
dls_status dls_h5_read_int(const dls_h5 *h5, const char *where, int low, int high, int *value);
/* low to high integers; count says how many there were. */
dls_status dls_h5_read_ints(const dls_h5 *h5, const char *where, int64_t low, int64_t high, int **values,
                            int64_t *count);
/* The same with real numbers, all finite. */
dls_status dls_h5_read_reals(const dls_h5 *h5, const char *where, int64_t low, int64_t high, double **values,
                             int64_t *count);
/* Text up to its first zero; NULL where there is no such dataset. */
dls_status dls_h5_read_text(const dls_h5 *h5, const char *where, char **text);

/* ---- writing: as FCLib's own writer does it ---- */

/* A group that exists stays, anything else of its name goes. */
dls_status dls_h5_make_group(const dls_h5 *h5, const char *where);
dls_status dls_h5_write_int(const dls_h5 *h5, const char *where, int value);
dls_status dls_h5_write_ints(const dls_h5 *h5, const char *where, int64_t count, const int *values);
/* Replaces what is there. */
dls_status dls_h5_write_reals(const dls_h5 *h5, const char *where, int64_t count, const double *values);
dls_status dls_h5_write_text(const dls_h5 *h5, const char *where, const char *text);

#endif
