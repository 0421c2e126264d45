#include "fclib/image.h"

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

static bool grow(dls_image *image, size_t used, size_t room) {
    uint8_t *grown = DLS_NEW(uint8_t, room);
    if (!grown) return false;
    if (used) memcpy(grown, image->bytes, used);
    dls_free(image->bytes);
    image->bytes = grown;
    image->size = room;
    return true;
}

static dls_status read_input(const dls_input *input, const char *path, dls_image *image, dls_error *error) {
    enum { SIGNATURE = 8, FIRST_ROOM = 1 << 16 };
    uint8_t first[SIGNATURE];
    int64_t got = dls_input_read(input, first, sizeof first);
    if (got < 0) return dls_input_fail(path, errno, error);
    bool is_hdf5 = got == SIGNATURE && !memcmp(first, "\x89HDF\r\n\x1a\n", SIGNATURE);
    size_t used = (size_t)got;
    if (!grow(image, 0, is_hdf5 && input->size >= got ? (size_t)input->size + 1 : FIRST_ROOM))
        return dls_fail_memory(error);
    memcpy(image->bytes, first, used);
    while (is_hdf5) {
        got = dls_input_read(input, image->bytes + used, image->size - used);
        if (got < 0) return dls_input_fail(path, errno, error);
        used += (size_t)got;
        if (used < image->size) break;
        if (!grow(image, used, 2 * image->size)) return dls_fail_memory(error);
    }
    image->size = used;
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
