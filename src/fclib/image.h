/* Files as bytes in memory: read whole, and written aside, then renamed. */
#ifndef FCLIB_IMAGE_H
#define FCLIB_IMAGE_H

#include "base/file.h"

typedef struct dls_image {
    uint8_t *bytes;
    size_t size;
} dls_image;

/* Pipes that are open already are read too. The first bytes decide whether the rest is read. */
dls_status dls_image_read(const char *path, dls_image *image, dls_error *error);
void dls_image_free(dls_image *image);

/* A file under construction. Until dls_aside_commit has succeeded, what was at path stays as it was. */
typedef struct dls_aside {
    int descriptor;
    char *target, *temporary; /* temporary is NULL where target is no regular file: it is written directly */
    bool is_quick;            /* not flushed to the disk: set for what can be made again after a power cut */
    dls_file_name name;
    dls_error *error;
} dls_aside;

dls_status dls_aside_open(dls_aside *aside, const char *path, dls_error *error);
dls_status dls_aside_write(dls_aside *aside, const void *bytes, size_t size);
/* Flushes to the disk and renames. Whatever the outcome, aside is closed. */
dls_status dls_aside_commit(dls_aside *aside);
/* Closes and removes what was written. */
void dls_aside_abandon(dls_aside *aside);

#endif
