/* Bytes that grow, packed by deflate and put into text as base64. */
#ifndef CLI_VIEW_BYTES_H
#define CLI_VIEW_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct view_bytes {
    uint8_t *data;
    size_t count, room;
} view_bytes;

void bytes_free(view_bytes *bytes);
/* Room for count more behind what is there, which the caller fills. */
uint8_t *bytes_extend(view_bytes *bytes, size_t count);
void bytes_put(view_bytes *bytes, uint8_t value);
/* Seven bits each, the lowest first; the high bit says that more follow. */
void bytes_put_count(view_bytes *bytes, uint64_t value);
void bytes_put_float(view_bytes *bytes, double value); /* 32 bits, lowest byte first */
void bytes_append(view_bytes *bytes, const view_bytes *more);

/* Replaces the bytes by what deflate makes of them, with zlib's head. */
void bytes_deflate(view_bytes *bytes);
/* Letters that so many bytes take as base64. */
size_t bytes_letters(const view_bytes *bytes);
void bytes_write_base64(const view_bytes *bytes, FILE *stream);

#endif
