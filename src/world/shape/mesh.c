/* Meshes of triangles and chains of segments: neighbours, normals, elements around vertices. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/parts.h"

#include <math.h>
#include <stdlib.h>

void dls_mesh_destroy(dls_mesh *mesh) {
    if (!mesh) return;
    dls_tree_destroy(mesh->tree);
    void *blocks[] = {mesh->vertex,         mesh->element, mesh->neighbour, mesh->normal, mesh->vertex_start,
                      mesh->vertex_element, mesh};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dls_free(blocks[k]);
}

/* ---- checks and normals ---- */

static dls_status check_indices(int corners, int vertex_count, int element_count, const int *element,
                                dls_error *error) {
    const char *what = corners == 3 ? "triangle" : "segment";
    if (element_count < 1) return dls_fail(error, DLS_ERROR_INPUT, "no %ss, expected at least one", what);
    for (int k = 0; k < element_count; k++)
        for (int i = 0; i < corners; i++) {
            int v = element[corners * k + i];
            if (v < 0 || v >= vertex_count)
                return dls_fail(error, DLS_ERROR_INPUT, "%s %d has point %d, expected 0 to %d", what, k, v,
                                vertex_count - 1);
        }
    return DLS_OK;
}

/* Away from the solid; false for a triangle or segment without extent. */
static bool make_normal(const dls_mesh *m, int corners, int k, double *n) {
    double a[3], b[3], c[3];
    const int *v = m->element + corners * k;
    vec_sub(a, m->vertex + 3 * v[1], m->vertex + 3 * v[0]);
    if (corners == 2) {
        double length = vec_norm(a);
        vec_set(n, -a[1] / length, a[0] / length, 0);
        return length > 0 && isfinite(length);
    }
    vec_sub(b, m->vertex + 3 * v[2], m->vertex + 3 * v[0]);
    vec_sub(c, b, a);
    vec_cross(n, a, b);
    double area = vec_norm(n), longest = fmax(vec_dot(a, a), fmax(vec_dot(b, b), vec_dot(c, c)));
    vec_scale(n, 1 / area, n);
    return area > 1e-12 * longest && isfinite(area);
}

static dls_status make_normals(dls_mesh *m, int corners, dls_error *error) {
    for (int k = 0; k < m->element_count; k++)
        if (!make_normal(m, corners, k, m->normal + 3 * k))
            return dls_fail(error, DLS_ERROR_INPUT, "%s %d has no %s", corners == 3 ? "triangle" : "segment",
                            k, corners == 3 ? "area" : "length");
    return DLS_OK;
}

/* ---- equal points are one ---- */

typedef struct numbered {
    const double *x;
    int index;
} numbered;

static int compare_numbered(const void *left, const void *right) {
    const numbered *a = left, *b = right;
    for (int i = 0; i < 3; i++)
        if (a->x[i] != b->x[i]) return a->x[i] < b->x[i] ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool is_same(const double *a, const double *b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/* Elements take the first of equal points, as files that repeat the corners of every triangle need it. */
static bool weld(dls_mesh *m, int corners) {
    numbered *list = DLS_NEW(numbered, m->vertex_count);
    int *first = DLS_NEW(int, m->vertex_count);
    bool done = list && first;
    for (int k = 0; done && k < m->vertex_count; k++) list[k] = (numbered){m->vertex + 3 * k, k};
    if (done) qsort(list, (size_t)m->vertex_count, sizeof *list, compare_numbered);
    for (int k = 0; done && k < m->vertex_count; k++) {
        bool same = k > 0 && is_same(list[k].x, list[k - 1].x);
        first[list[k].index] = same ? first[list[k - 1].index] : list[k].index;
    }
    for (int k = 0; done && k < corners * m->element_count; k++) m->element[k] = first[m->element[k]];
    dls_free(list);
    dls_free(first);
    return done;
}

/* ---- neighbours ---- */

/* An edge of a triangle, or an end of a segment. */
typedef struct border {
    int low, high; /* vertices */
    int place;     /* in neighbour */
    bool upward;   /* from low to high; of a segment: its first vertex */
} border;

static int compare_borders(const void *left, const void *right) {
    const border *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static border border_of(const dls_mesh *m, int corners, int place) {
    int a = m->element[place];
    if (corners == 2) return (border){a, a, place, place % 2 == 0};
    int b = m->element[place % 3 == 2 ? place - 2 : place + 1];
    return (border){a < b ? a : b, a < b ? b : a, place, a < b};
}

/* Two elements that meet run the same way around; where more meet nobody is a neighbour. */
static dls_status find_neighbours(dls_mesh *m, int corners, border *list, dls_error *error) {
    int count = corners * m->element_count;
    for (int k = 0; k < count; k++) list[k] = border_of(m, corners, k);
    qsort(list, (size_t)count, sizeof *list, compare_borders);
    for (int k = 0, end; k < count; k = end) {
        for (end = k + 1; end < count && list[end].low == list[k].low && list[end].high == list[k].high;)
            end++;
        for (int i = k; i < end; i++) m->neighbour[list[i].place] = -1;
        if (end - k != 2) continue;
        int a = list[k].place / corners, b = list[k + 1].place / corners;
        if (list[k].upward == list[k + 1].upward)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "%s %d and %d face opposite ways, expected one side to be solid everywhere",
                            corners == 3 ? "triangles" : "segments", a, b);
        m->neighbour[list[k].place] = b;
        m->neighbour[list[k + 1].place] = a;
    }
    return DLS_OK;
}

static void list_around(dls_mesh *m, int corners) {
    int count = corners * m->element_count;
    for (int k = 0; k < count; k++) m->vertex_start[m->element[k] + 1]++;
    for (int v = 0; v < m->vertex_count; v++) m->vertex_start[v + 1] += m->vertex_start[v];
    for (int k = 0; k < count; k++) m->vertex_element[m->vertex_start[m->element[k]]++] = k / corners;
    for (int v = m->vertex_count; v > 0; v--) m->vertex_start[v] = m->vertex_start[v - 1];
    m->vertex_start[0] = 0;
}

/* ---- together ---- */

static dls_mesh *allocate(int corners, int vertex_count, const double *vertex, int element_count,
                          const int *element) {
    dls_mesh *m = DLS_NEW_ZERO(dls_mesh, 1);
    if (!m) return NULL;
    size_t vertices = (size_t)vertex_count, elements = (size_t)element_count,
           all = (size_t)corners * elements;
    m->vertex_count = vertex_count;
    m->element_count = element_count;
    m->vertex = dls_alloc_copy(vertex, 3 * vertices, sizeof *vertex);
    m->element = dls_alloc_copy(element, all, sizeof *element);
    m->neighbour = DLS_NEW(int, all);
    m->normal = DLS_NEW(double, 3 * elements);
    m->vertex_start = DLS_NEW_ZERO(int, vertices + 1);
    m->vertex_element = DLS_NEW(int, all);
    if (m->vertex && m->element && m->neighbour && m->normal && m->vertex_start && m->vertex_element)
        return m;
    dls_mesh_destroy(m);
    return NULL;
}

static dls_status complete(dls_mesh *m, int corners, dls_error *error) {
    dls_status status = make_normals(m, corners, error);
    if (status) return status;
    if (!weld(m, corners)) return dls_fail_memory(error);
    border *list = DLS_NEW(border, (size_t)corners * (size_t)m->element_count);
    if (!list) return dls_fail_memory(error);
    status = find_neighbours(m, corners, list, error);
    dls_free(list);
    if (status) return status;
    list_around(m, corners);
    m->tree = dls_tree_create(corners, m->vertex, m->element_count, m->element);
    return m->tree ? DLS_OK : dls_fail_memory(error);
}

dls_status dls_mesh_create(int dimension, int vertex_count, const double *vertex, int element_count,
                           const int *element, dls_mesh **mesh, dls_error *error) {
    *mesh = NULL;
    int corners = dimension; /* 2 of a segment, 3 of a triangle */
    dls_status status = check_indices(corners, vertex_count, element_count, element, error);
    if (status) return status;
    dls_mesh *m = allocate(corners, vertex_count, vertex, element_count, element);
    if (!m) return dls_fail_memory(error);
    status = complete(m, corners, error);
    if (status)
        dls_mesh_destroy(m);
    else
        *mesh = m;
    return status;
}
