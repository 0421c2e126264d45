/* Meshes and chains. */
#include "base/error.h"
#include "world/parts.h"

dls_status dls_mesh_create(int dimension, int vertex_count, const double *vertex, int element_count,
                           const int *element, dls_mesh **mesh, dls_error *error) {
    (void)dimension, (void)vertex_count, (void)vertex, (void)element_count, (void)element, (void)mesh;
    return dls_fail(error, DLS_ERROR_INPUT, "meshes are not there yet");
}

void dls_mesh_destroy(dls_mesh *mesh) { (void)mesh; }
