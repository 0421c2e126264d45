/* How HDF5 reaches results files: a file driver of our own, so that
 *
 *  - at every instant what is on the disk opens: blocks of HDF5's own get there together, by way of a record
 *    (journal.h), the marks "open for writing" never, and the file is never shorter than it says;
 *  - HDF5 reads none of its blocks but those that were checked (structure.h);
 *  - after a failed write (full disk) nothing more is written, HDF5 may close in peace, and what the system
 *    said is known;
 *  - files are opened and renamed by us, and no locks are needed. */
#ifndef OUTPUT_RESULTS_DRIVER_H
#define OUTPUT_RESULTS_DRIVER_H

#include "output/results/structure.h"

#include <hdf5.h>

/* Behind one HDF5 file; must outlive it. */
typedef struct dls_output_device {
    int descriptor;
    const dls_structure *structure; /* of a file that is read; NULL where one is written */
    bool is_dead;     /* a write failed: it and later ones do nothing and succeed in HDF5's eyes */
    int write_number; /* errno of that failure, else 0 */
    int read_number;  /* errno of the last failed read, else 0 */
    bool is_out_of_memory;
} dls_output_device;

/* Property list of file access for H5Fcreate and H5Fopen; negative where HDF5 refuses. */
hid_t dls_driver_access(dls_output_device *device);

/* What is about to be done to a file. */
typedef struct dls_driver_deed {
    const void *bytes;     /* NULL: the file gets another length */
    uint64_t offset, size; /* of the bytes; offset alone is the length */
} dls_driver_deed;

/* For tests: called before every deed. NULL: nothing is. */
void dls_driver_watch(void (*before)(const dls_driver_deed *deed, void *user), void *user);

/* Between these two HDF5 is ours alone and prints no errors; what it would have printed first is kept as one
 * line. */
typedef struct dls_silence {
    H5E_auto2_t print;
    void *data;
} dls_silence;

dls_silence dls_silence_begin(void);
void dls_silence_end(dls_silence silence);

/* Fails with "NAME: cannot be DONE: …": what the system said if a write or read failed, else what HDF5 did.
 */
dls_status dls_driver_fail(const dls_output_device *device, const char *name, const char *done,
                           dls_error *error);

#endif
