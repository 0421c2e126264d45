/* Files that a scene names: read once, or given with it. */
#include "scene/mesh/mesh.h"

#include "base/error.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define MOST_BYTES ((off_t)4 << 30)

bool dls_name_ends(const char *name, const char *ending) {
    size_t length = strlen(name), size = strlen(ending);
    if (length < size) return false;
    for (size_t i = 0; i < size; i++) {
        char letter = name[length - size + i];
        if ((letter >= 'A' && letter <= 'Z' ? letter + 32 : letter) != ending[i]) return false;
    }
    return true;
}

/* The whole file with a zero behind it. */
static dls_status load(dls_arena *arena, const char *path, char **bytes, size_t *size, dls_error *error) {
    dls_input input;
    dls_status status = dls_input_open(path, DLS_INPUT_FILE, "a file with a mesh", &input, error);
    if (status) return status;
    if (input.size > MOST_BYTES)
        status = dls_fail(error, DLS_ERROR_FILE, "%.300s: larger than 4 GB, expected a smaller mesh", path);
    *size = status ? 0 : (size_t)input.size;
    *bytes = status ? NULL : dls_arena_take(arena, *size + 1, 1);
    if (!status && !*bytes) status = dls_fail_memory(error);
    if (!status && dls_input_read(&input, *bytes, *size) != input.size)
        status = dls_fail(error, DLS_ERROR_FILE, "%.300s: cannot be read to its end", path);
    dls_input_close(&input);
    return status;
}

static const dls_file *find(int count, const dls_file *files, const char *name) {
    for (int k = 0; k < count; k++)
        if (!strcmp(files[k].name, name)) return &files[k];
    return NULL;
}

/* A new entry in the list of files that were read; NULL when memory is out. */
static dls_file *add_file(dls_reader *reader) {
    if (reader->file_count == reader->file_room) {
        int room = reader->file_room ? 2 * reader->file_room : 8;
        dls_file *larger = dls_arena_take(reader->arena, (size_t)room, sizeof *larger);
        if (!larger) return NULL;
        if (reader->file_count) memcpy(larger, reader->files, sizeof *larger * (size_t)reader->file_count);
        reader->files = larger;
        reader->file_room = room;
    }
    return &reader->files[reader->file_count];
}

/* From what was read before, from what was given, or from the disk; whole is its name there. */
static dls_status take_file(dls_reader *reader, const char *path, const char *whole, const dls_file **file) {
    *file = find(reader->file_count, reader->files, path);
    if (*file) return DLS_OK;
    const dls_file *given = find(reader->given_count, reader->given, path);
    dls_file *entry = add_file(reader);
    char *name = dls_arena_text(reader->arena, path, strlen(path)), *bytes = NULL;
    size_t size = given ? given->size : 0;
    if (!entry || !name) return dls_fail_memory(reader->error);
    if (!given) {
        dls_status status = load(reader->arena, whole, &bytes, &size, reader->error);
        if (status) return status;
    } else {
        bytes = dls_arena_take(reader->arena, size + 1, 1);
        if (!bytes) return dls_fail_memory(reader->error);
        if (size) memcpy(bytes, given->bytes, size);
    }
    *entry = (dls_file){name, bytes, size};
    reader->file_count++;
    *file = entry;
    return DLS_OK;
}

dls_status dls_reader_file(dls_reader *reader, const char *path, const dls_file **file, const char **whole) {
    const char *folder = *path == '/' ? "" : reader->folder;
    size_t room = strlen(folder) + strlen(path) + 2;
    char *name = dls_arena_take(reader->arena, room, 1);
    if (!name) return dls_fail_memory(reader->error);
    snprintf(name, room, "%s%s%s", folder, *folder ? "/" : "", path);
    *whole = name;
    return take_file(reader, path, name, file);
}
