#include "base/error.h"
#include "world/hull.h"
dls_status dls_polyhedron_create(int count, const double *points, double size, dls_hull **hull,
                                 dls_error *error) {
    (void)count, (void)points, (void)size, (void)hull;
    return dls_fail(error, DLS_ERROR_INPUT, "polyhedra are not there yet");
}
