/* Text and binary files that appear whole or not at all, written through a buffer. */
#ifndef OUTPUT_EXPORT_TEXT_H
#define OUTPUT_EXPORT_TEXT_H

#include "fclib/image.h"

enum { DLS_TEXT_ROOM = 1 << 16 };

/* The first failure stays in status; calls after it do nothing. */
typedef struct dls_text {
    dls_aside aside;
    dls_status status;
    size_t used;
    char buffer[DLS_TEXT_ROOM];
} dls_text;

/* NULL after a failure. Ends with dls_text_close, which puts the file in its place if all went well. */
dls_text *dls_text_open(const char *path, dls_error *error);
dls_status dls_text_close(dls_text *text);

void dls_text_put(dls_text *text, const void *bytes, size_t size);
void dls_text_print(dls_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* With & < > " replaced for XML, and what XML cannot hold by '?'. */
void dls_text_print_xml(dls_text *text, const char *words);
/* As a field of CSV: quoted where it must be. */
void dls_text_print_csv(dls_text *text, const char *words);

/* FOLDER/NAME, to be freed; NULL when memory is out. */
char *dls_path_join(const char *folder, const char *name);

#endif
