#include "cli/view/bytes.h"

#include "cli/support/report.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void bytes_free(view_bytes *bytes) {
    free(bytes->data);
    *bytes = (view_bytes){0};
}

uint8_t *bytes_extend(view_bytes *bytes, size_t count) {
    if (bytes->count + count > bytes->room) {
        size_t room = 2 * bytes->room > bytes->count + count ? 2 * bytes->room : bytes->count + count + 64;
        uint8_t *data = report_allocate(room, 1);
        if (bytes->count) memcpy(data, bytes->data, bytes->count);
        free(bytes->data);
        bytes->data = data;
        bytes->room = room;
    }
    bytes->count += count;
    return bytes->data + bytes->count - count;
}

void bytes_put(view_bytes *bytes, uint8_t value) { *bytes_extend(bytes, 1) = value; }

void bytes_put_count(view_bytes *bytes, uint64_t value) {
    for (; value > 127; value >>= 7) bytes_put(bytes, (uint8_t)(128 | (value & 127)));
    bytes_put(bytes, (uint8_t)value);
}

void bytes_put_float(view_bytes *bytes, double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    uint8_t *place = bytes_extend(bytes, sizeof bits);
    for (int k = 0; k < 4; k++) place[k] = (uint8_t)(bits >> 8 * k);
}

void bytes_append(view_bytes *bytes, const view_bytes *more) {
    if (more->count) memcpy(bytes_extend(bytes, more->count), more->data, more->count);
}

void bytes_deflate(view_bytes *bytes) {
    uLongf size = compressBound(bytes->count);
    uint8_t *packed = report_allocate(size, 1);
    if (compress2(packed, &size, bytes->count ? bytes->data : packed, bytes->count, 6) != Z_OK)
        exit(report_error("view: out of memory"));
    free(bytes->data);
    *bytes = (view_bytes){packed, size, size};
}

size_t bytes_letters(const view_bytes *bytes) { return (bytes->count + 2) / 3 * 4; }

void bytes_write_base64(const view_bytes *bytes, FILE *stream) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < bytes->count; k += 3) {
        size_t left = bytes->count - k;
        uint32_t three = (uint32_t)bytes->data[k] << 16;
        if (left > 1) three |= (uint32_t)bytes->data[k + 1] << 8;
        if (left > 2) three |= bytes->data[k + 2];
        char four[4] = {letters[three >> 18], letters[three >> 12 & 63],
                        left > 1 ? letters[three >> 6 & 63] : '=', left > 2 ? letters[three & 63] : '='};
        fwrite(four, 1, 4, stream);
    }
}
