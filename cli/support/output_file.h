/* Where output goes: files that appear whole or not at all, folders, and whether they may be written. */
#ifndef CLI_SUPPORT_OUTPUT_FILE_H
#define CLI_SUPPORT_OUTPUT_FILE_H

#include <delassus/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct output_file {
    FILE *stream;
    dls_aside *aside;
} output_file;

/* False after a line on stderr: the folder is missing or closed to us, or path is a folder. */
bool output_file_open(output_file *out, const char *path);
/* Renames into place; false after a line on stderr, with any former file untouched. */
bool output_file_commit(output_file *out);
/* Forgets what was written. */
void output_file_discard(output_file *out);

/* Whether a regular file could be put at path, for writers that rename by themselves. False after a line on
 * stderr. */
bool output_path_check(const char *path);
/* Whether output is another file than input, whatever their names; false after a line on stderr. */
bool output_is_apart(const char *output, const char *input);
/* The same of what is written as stem with each of the endings behind it. */
bool output_stem_is_apart(const char *stem, int count, const char *const *endings, const char *input);
/* The same of a folder that tables, figures and surfaces are written into: false where input is one of them,
 * to judge by its place and ending. */
bool output_folder_is_apart(const char *folder, const char *input);
/* "folder/drum.yaml" with ".h5" → "drum.h5", in the present folder. False after a line on stderr. */
bool output_path_named_after(const char *file, const char *ending, char *path, size_t size);
/* Makes a folder and those above it. False after a line on stderr. */
bool output_folder_make(const char *path);

#endif
