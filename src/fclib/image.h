/* Files as bytes in memory. */
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

#endif
