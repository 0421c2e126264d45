#include "fclib/image.h"

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

static dls_status read_input(const dls_input *input, const char *path, dls_image *image, dls_error *error) {
    enum { SIGNATURE = 8, FIRST_ROOM = 1 << 16 };
    uint8_t first[SIGNATURE];
    int64_t got = dls_input_read(input, first, sizeof first);
    if (got < 0) return dls_input_fail(path, errno, error);
    bool is_hdf5 = got == SIGNATURE && !memcmp(first, "\x89HDF\r\n\x1a\n", SIGNATURE);
    int64_t used = got, room = 0, wanted = is_hdf5 && input->size >= got ? input->size + 1 : FIRST_ROOM;
    if (!dls_grow(&image->bytes, 0, &room, wanted, 1)) return dls_fail_memory(error);
    memcpy(image->bytes, first, (size_t)used);
    while (is_hdf5) {
        got = dls_input_read(input, image->bytes + used, (size_t)(room - used));
        if (got < 0) return dls_input_fail(path, errno, error);
        used += got;
        if (used < room) break;
        if (!dls_grow(&image->bytes, used, &room, 2 * room, 1)) return dls_fail_memory(error);
    }
    image->size = (size_t)used;
    return DLS_OK;
}

dls_status dls_image_read(const char *path, dls_image *image, dls_error *error) {
    *image = (dls_image){0};
    dls_input input;
    dls_status status =
        dls_input_open(path, DLS_INPUT_FILE_OR_PIPE, "a file with a contact problem", &input, error);
    if (!status) status = read_input(&input, path, image, error);
    dls_input_close(&input);
    if (status) dls_image_free(image);
    return status;
}

void dls_image_free(dls_image *image) {
    dls_free(image->bytes);
    *image = (dls_image){0};
}
