/* Files that a scene names: read once, or given with it; and meshes of files for those who build worlds by
 * hand.
 */
#include "scene/mesh/mesh.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

#include <delassus/scene.h>

#include <math.h>
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

/* ---- without a scene ---- */

struct dls_mesh_file {
    dls_arena arena;
    dls_shape_def shape;
    dls_element_file elements; /* of triangles: none */
};

static dls_status read_surface(dls_mesh_file *file, const char *path, const char *bytes, size_t size,
                               double scale, dls_error *error) {
    int kind = 0;
    while (kind < DLS_SHAPE_KINDS - 1 && !dls_scene_shape_has((dls_shape_kind)kind, "file")) kind++;
    file->shape = dls_default_shape_def((dls_shape_kind)kind);
    dls_status status = dls_mesh_bytes_read(&file->arena, path, bytes, size, &file->shape, error);
    double *points =
        status ? NULL : dls_arena_take(&file->arena, 3 * (size_t)file->shape.point_count, sizeof *points);
    if (!points) return status ? status : dls_fail_memory(error);
    for (int k = 0; k < 3 * file->shape.point_count; k++) points[k] = scale * file->shape.points[k];
    file->shape.points = points;
    return DLS_OK;
}

static dls_status read_bytes(dls_mesh_file *file, const char *path, double scale, dls_error *error) {
    char *bytes;
    size_t size;
    dls_status status = load(&file->arena, path, &bytes, &size, error);
    if (status) return status;
    if (dls_name_ends(path, ".obj") || dls_name_ends(path, ".stl"))
        return read_surface(file, path, bytes, size, scale, error);
    if (!dls_name_ends(path, ".msh") && !dls_name_ends(path, ".vtu"))
        return dls_fail(error, DLS_ERROR_FILE,
                        "%.300s: no kind of mesh that is known, expected .obj, .stl, .msh or .vtu", path);
    status = dls_elements_bytes_read(&file->arena, path, bytes, size, scale, &file->elements, error);
    dls_skin_define(&file->elements, &file->shape);
    return status;
}

dls_status dls_mesh_file_open(const char *path, double scale, dls_mesh_file **file, dls_error *error) {
    *file = NULL;
    if (!path || !(scale > 0 && isfinite(scale)))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "a mesh from %s with scale %g, expected a path and a scale above 0",
                        path ? "a file" : "no file", scale);
    dls_mesh_file *made = DLS_NEW_ZERO(dls_mesh_file, 1);
    if (!made) return dls_fail_memory(error);
    dls_status status = read_bytes(made, path, scale, error);
    if (status)
        dls_mesh_file_close(made);
    else
        *file = made;
    return status;
}

void dls_mesh_file_close(dls_mesh_file *file) {
    if (!file) return;
    dls_arena_release(&file->arena);
    dls_free(file);
}

const dls_shape_def *dls_mesh_file_shape(const dls_mesh_file *file) { return &file->shape; }

const dls_solid_mesh *dls_mesh_file_elements(const dls_mesh_file *file) {
    return file->elements.mesh.node_count ? &file->elements.mesh : NULL;
}

const char *dls_mesh_file_group(const dls_mesh_file *file, int index, int *count, const int **nodes) {
    bool known = index >= 0 && index < file->elements.set_count;
    const dls_node_set *set = known ? &file->elements.sets[index] : NULL;
    *count = set ? set->count : 0;
    *nodes = set ? set->nodes : NULL;
    return set ? set->name : NULL;
}
