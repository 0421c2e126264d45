/* Triangles of a convex hull from Qhull's reentrant library.
 *
 * Qhull leaves its errors by a jump to where qh_new_qhull began and writes messages to a stream, here one
 * that ends in a buffer. Nothing of it is called after that which could fail: its facets are only read. */
#include "base/error.h"
#include "base/memory.h"
#include "world/shape/hull.h"

#include <libqhull_r/libqhull_r.h>
#include <stdio.h>
#include <string.h>

/* Triangles of one orientation all over, but not yet known which. */
static dls_status read_triangles(qhT *qh, dls_triangles *t, dls_error *error) {
    facetT *facet;
    vertexT *vertex, **vertexp;
    t->count = 0;
    t->corner = DLS_NEW(int, 3 * (size_t)qh->num_facets);
    if (!t->corner) return dls_fail_memory(error);
    FORALLfacets {
        int found = 0, ids[3] = {0, 0, 0};
        FOREACHvertex_(facet->vertices) {
            if (found < 3) ids[found] = (int)((vertex->point - qh->first_point) / 3);
            found++;
        }
        if (found != 3 || t->count == qh->num_facets)
            return dls_fail(error, DLS_ERROR_NUMERIC, "a facet of the hull has %d vertices", found);
        int *corner = t->corner + 3 * t->count++;
        corner[0] = ids[0];
        corner[1] = ids[facet->toporient ? 2 : 1];
        corner[2] = ids[facet->toporient ? 1 : 2];
    }
    return DLS_OK;
}

dls_status dls_qhull_triangles(int count, double *points, double out, dls_triangles *t, dls_error *error) {
    char said[512] = "", command[32];
    int left, total;
    snprintf(command, sizeof command, out > 0 ? "qhull Qt Pp W%g" : "qhull Qt Pp", out);
    t->corner = NULL;
    qhT *qh = DLS_NEW_ZERO(qhT, 1);
    FILE *stream = fmemopen(said, sizeof said, "w");
    dls_status status = DLS_OK;
    if (!qh || !stream) {
        status = dls_fail_memory(error);
    } else {
        qh_zero(qh, stream);
        int code = qh_new_qhull(qh, 3, count, points, False, command, stream, stream);
        if (code == 4)
            status = dls_fail_memory(error);
        else if (code)
            status = dls_fail(error, DLS_ERROR_NUMERIC,
                              "the hull of %d points is not found: Qhull's code is %d", count, code);
        else
            status = read_triangles(qh, t, error);
        qh_freeqhull(qh, !qh_ALL);
        qh_memfreeshort(qh, &left, &total);
    }
    if (stream) fclose(stream);
    dls_free(qh);
    return status;
}
