/* Bytes that begin with the ending of a file's name and a line's end, to the readers of meshes: OBJ and STL,
 * msh and vtu. What they take has indices in their ranges, and finite places. */
#include "scene/mesh/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(dls_status status, const dls_error *error) {
    if (!status) return;
    if (error->status == status && strlen(error->message) > 0 && !strchr(error->message, '\n')) return;
    fprintf(stderr, "failure without a proper message: %s\n", error->message);
    abort();
}

/* Counts that a file only claims must not be believed: memory for much more than its bytes runs out. */
static void *allocate(size_t bytes, void *user) {
    (void)user;
    return bytes <= 8 << 20 ? malloc(bytes) : NULL;
}
static void release(void *block, void *user) {
    (void)user;
    free(block);
}

static void check_indices(int count, const int *index, int end) {
    for (int k = 0; k < count; k++)
        if (index[k] < 0 || index[k] >= end) abort();
}

static void check_points(int count, const double *points) {
    for (int k = 0; k < 3 * count; k++)
        if (!isfinite(points[k])) abort();
}

static void read_surface(const char *name, const char *bytes, size_t size) {
    dls_arena arena = {NULL};
    dls_shape_def def = dls_default_shape_def(DLS_MESH);
    dls_error error = {0};
    dls_status status = dls_mesh_bytes_read(&arena, name, bytes, size, &def, &error);
    check_message(status, &error);
    if (!status) {
        check_indices(3 * def.triangle_count, def.triangles, def.point_count);
        check_points(def.point_count, def.points);
    }
    dls_arena_release(&arena);
}

static void read_elements(const char *name, const char *bytes, size_t size) {
    static const int nodes[] = {[DLS_SOLID_TET4] = 4, [DLS_SOLID_TET10] = 10, [DLS_SOLID_HEX8] = 8};
    dls_arena arena = {NULL};
    dls_element_file file;
    dls_error error = {0};
    dls_status status = dls_elements_bytes_read(&arena, name, bytes, size, 1, &file, &error);
    check_message(status, &error);
    if (!status) {
        const dls_solid_mesh *mesh = &file.mesh;
        check_indices(nodes[mesh->cell] * mesh->cell_count, mesh->cells, mesh->node_count);
        check_indices(3 * file.triangle_count, file.triangles, mesh->node_count);
        check_points(mesh->node_count, mesh->points);
        for (int k = 0; k < file.set_count; k++)
            check_indices(file.sets[k].count, file.sets[k].nodes, mesh->node_count);
    }
    dls_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct {
        const char *name;
        void (*read)(const char *name, const char *bytes, size_t size);
    } kinds[] = {
        {"m.obj", read_surface}, {"m.stl", read_surface}, {"m.msh", read_elements}, {"m.vtu", read_elements}};
    dls_allocator_set(&(dls_allocator){allocate, release, NULL});
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (size < 5 || memcmp(data, kinds[k].name + 1, 4) != 0 || data[4] != '\n') continue;
        char *bytes = malloc(size - 4); /* exactly as long as it must be, with a zero behind */
        memcpy(bytes, data + 5, size - 5);
        bytes[size - 5] = '\0';
        kinds[k].read(kinds[k].name, bytes, size - 5);
        free(bytes);
    }
    return 0;
}
