/* Files: opened for reading, written aside and renamed, and what messages call them. */
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

enum { DLS_ASIDE_ROOM = 1 << 16 };

/* A file under construction. */
struct dls_aside {
    FILE *stream;
    int descriptor;
    int failure;              /* errno of the first write that failed */
    char *target, *temporary; /* temporary is NULL where target is no regular file: it is written directly */
    dls_file_name name;
    char buffer[DLS_ASIDE_ROOM];
};

/* Commits after DLS_OK, else abandons; the first failure. */
dls_status dls_aside_close(dls_aside *aside, dls_status status, bool is_lasting, dls_error *error);

/* Bytes as a file that lasts. */
dls_status dls_file_write(const char *path, const void *bytes, size_t size, dls_error *error);

/* FOLDER/NAME, to be freed; NULL when memory is out. */
char *dls_path_join(const char *folder, const char *name);

#endif
