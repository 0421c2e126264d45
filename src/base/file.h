/* Files as they are opened for reading, and what messages call them. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <delassus/base.h>

/* What messages call a file: its path, or the end of a very long one. */
typedef struct dls_file_name {
    char text[216];
} dls_file_name;

dls_file_name dls_file_name_of(const char *path);

typedef struct dls_input {
    int descriptor;
    int64_t size; /* −1 of a pipe, which has none */
} dls_input;

typedef enum dls_input_kind { DLS_INPUT_FILE, DLS_INPUT_FILE_OR_PIPE } dls_input_kind;

/* Opens path without ever waiting for anybody: folders, devices and named pipes are refused. Pipes that this
 * process holds already, such as standard input, are taken where kind says so. expected ends the message. */
dls_status dls_input_open(const char *path, dls_input_kind kind, const char *expected, dls_input *input,
                          dls_error *error);

/* The line of a file that the system does not let us read. */
dls_status dls_input_fail(const char *path, int number, dls_error *error);

/* Reads until size bytes are there or the file ends; returns how many there are, or −1 with errno set. */
int64_t dls_input_read(const dls_input *input, void *bytes, size_t size);

void dls_input_close(dls_input *input);

#endif
