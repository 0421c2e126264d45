/* Convex polygons and polyhedra: topology, planes and masses from vertices and the loops of faces. */
#include "world/shape/hull.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one block ---- */

static size_t padded(size_t bytes) { return (bytes + 7) & ~(size_t)7; }

/* The next part of a block, or just its size while base is NULL. */
static void *part(char *base, size_t *used, size_t bytes) {
    char *at = base ? base + *used : NULL;
    *used += padded(bytes);
    return at;
}

static size_t lay_out(dls_hull *h, char *base, size_t corners, size_t edges) {
    size_t used = padded(sizeof *h), vertices = (size_t)h->vertex_count, faces = (size_t)h->face_count;
    h->vertex = part(base, &used, 3 * vertices * sizeof(double));
    h->face_normal = part(base, &used, 3 * faces * sizeof(double));
    h->face_offset = part(base, &used, faces * sizeof(double));
    h->face_start = part(base, &used, (faces + 1) * sizeof(int));
    h->face_vertex = part(base, &used, corners * sizeof(int));
    h->face_edge = edges ? part(base, &used, corners * sizeof(int)) : NULL;
    h->edge_vertex = edges ? part(base, &used, 2 * edges * sizeof(int)) : NULL;
    h->edge_face = edges ? part(base, &used, 2 * edges * sizeof(int)) : NULL;
    h->vertex_start = part(base, &used, (vertices + 1) * sizeof(int));
    h->vertex_face = part(base, &used, corners * sizeof(int));
    return used;
}

static dls_hull *allocate(int vertices, int faces, int corners, int edges) {
    dls_hull shell = {.vertex_count = vertices, .face_count = faces, .edge_count = edges};
    size_t size = lay_out(&shell, NULL, (size_t)corners, (size_t)edges);
    dls_hull *h = dls_alloc_zero(1, size);
    if (!h) return NULL;
    *h = shell;
    lay_out(h, (char *)h, (size_t)corners, (size_t)edges);
    return h;
}

void dls_hull_destroy(dls_hull *hull) { dls_free(hull); }

/* ---- topology ---- */

typedef struct half_edge {
    int low, high; /* vertices */
    int face, corner;
    bool upward; /* the face runs from low to high */
} half_edge;

static int compare_half_edges(const void *left, const void *right) {
    const half_edge *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->upward == b->upward ? 0 : a->upward ? -1 : 1;
}

static void list_half_edges(const dls_hull *h, half_edge *list) {
    for (int f = 0; f < h->face_count; f++) {
        int first = h->face_start[f], count = h->face_start[f + 1] - first;
        for (int k = 0; k < count; k++) {
            int a = h->face_vertex[first + k], b = h->face_vertex[first + (k + 1) % count];
            list[first + k] = (half_edge){a < b ? a : b, a < b ? b : a, f, first + k, a < b};
        }
    }
}

/* Edges in the order of their vertices; every one must have two faces that run along it both ways. */
static dls_status join_edges(dls_hull *h) {
    int corners = h->face_start[h->face_count];
    half_edge *list = DLS_NEW(half_edge, corners);
    if (!list) return DLS_ERROR_MEMORY;
    list_half_edges(h, list);
    qsort(list, (size_t)corners, sizeof *list, compare_half_edges);
    bool sound = true;
    for (int k = 0; k < corners && sound; k += 2) {
        const half_edge *up = &list[k], *down = &list[k + 1];
        sound = up->low < up->high && up->low == down->low && up->high == down->high && up->upward &&
                !down->upward && up->face != down->face;
        h->edge_vertex[k / 2][0] = up->low, h->edge_vertex[k / 2][1] = up->high;
        h->edge_face[k / 2][0] = up->face, h->edge_face[k / 2][1] = down->face;
        h->face_edge[up->corner] = h->face_edge[down->corner] = k / 2;
    }
    dls_free(list);
    return sound ? DLS_OK : DLS_ERROR_NUMERIC;
}

/* Faces around vertices by counting. */
static void join_vertices(dls_hull *h) {
    int corners = h->face_start[h->face_count];
    memset(h->vertex_start, 0, ((size_t)h->vertex_count + 1) * sizeof(int));
    for (int k = 0; k < corners; k++) h->vertex_start[h->face_vertex[k] + 1]++;
    for (int v = 0; v < h->vertex_count; v++) h->vertex_start[v + 1] += h->vertex_start[v];
    for (int f = 0; f < h->face_count; f++)
        for (int k = h->face_start[f]; k < h->face_start[f + 1]; k++)
            h->vertex_face[h->vertex_start[h->face_vertex[k]]++] = f;
    for (int v = h->vertex_count; v > 0; v--) h->vertex_start[v] = h->vertex_start[v - 1];
    h->vertex_start[0] = 0;
}

/* ---- planes and masses ---- */

/* Newell's normal n = Σ (p_k − o) × (p_k+1 − o), with o a vertex; the outermost vertex gives the offset. */
static bool make_plane(dls_hull *h, int f) {
    int first = h->face_start[f], count = h->face_start[f + 1] - first;
    const double *o = h->vertex + 3 * h->face_vertex[first];
    double *n = h->face_normal + 3 * f;
    vec_set(n, 0, 0, 0);
    for (int k = 1; k + 1 < count; k++) {
        double a[3], b[3], c[3];
        vec_sub(a, h->vertex + 3 * h->face_vertex[first + k], o);
        vec_sub(b, h->vertex + 3 * h->face_vertex[first + k + 1], o);
        vec_cross(c, a, b);
        vec_add(n, n, c);
    }
    double size = vec_norm(n);
    if (!(size > 0)) return false;
    vec_scale(n, 1 / size, n);
    h->face_offset[f] = -INFINITY;
    for (int k = 0; k < count; k++)
        h->face_offset[f] = fmax(h->face_offset[f], vec_dot(n, h->vertex + 3 * h->face_vertex[first + k]));
    return true;
}

static void mean_vertex(const dls_hull *h, double *o) {
    vec_set(o, 0, 0, 0);
    for (int k = 0; k < h->vertex_count; k++) vec_add(o, o, h->vertex + 3 * k);
    vec_scale(o, 1.0 / h->vertex_count, o);
}

static void make_size(dls_hull *h) {
    for (int k = 0; k < h->vertex_count; k++)
        h->size = fmax(h->size, 2 * vec_distance(h->vertex + 3 * k, h->centre));
}

/* Tetrahedra from o to triangles a, b, c of the faces, coordinates from o:
 * V = a·(b × c)/6, ∫x = V (a + b + c)/4, ∫x xᵀ = V/20 ((a+b+c)(a+b+c)ᵀ + a aᵀ + b bᵀ + c cᵀ). */
static void weigh_polyhedron(dls_hull *h) {
    double o[3], moment[3] = {0, 0, 0}, C[9] = {0};
    mean_vertex(h, o);
    for (int f = 0; f < h->face_count; f++)
        for (int k = h->face_start[f] + 1; k + 1 < h->face_start[f + 1]; k++) {
            double p[3][3], s[3], c[3];
            int corner[3] = {h->face_start[f], k, k + 1};
            for (int i = 0; i < 3; i++) vec_sub(p[i], h->vertex + 3 * h->face_vertex[corner[i]], o);
            vec_cross(c, p[1], p[2]);
            double volume = vec_dot(p[0], c) / 6;
            for (int i = 0; i < 3; i++) s[i] = p[0][i] + p[1][i] + p[2][i];
            h->volume += volume;
            vec_along(moment, moment, volume / 4, s);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    C[i + 3 * j] += volume / 20 *
                                    (s[i] * s[j] + p[0][i] * p[0][j] + p[1][i] * p[1][j] + p[2][i] * p[2][j]);
        }
    vec_scale(moment, 1 / h->volume, moment);
    vec_add(h->centre, o, moment);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[i + 3 * j] -= h->volume * moment[i] * moment[j];
    double trace = C[0] + C[4] + C[8];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            h->inertia[i + 3 * j] = (i == j ? trace : 0) - 0.5 * (C[i + 3 * j] + C[j + 3 * i]);
    make_size(h);
}

/* Triangles from o to sides a, b, coordinates from o: A = (a × b)/2, ∫x = A (a + b)/3,
 * ∫|x|² = A/6 (a·a + a·b + b·b). */
static void weigh_polygon(dls_hull *h) {
    double o[3], moment[3] = {0, 0, 0}, second = 0;
    mean_vertex(h, o);
    for (int k = 0; k < h->vertex_count; k++) {
        double a[3], b[3], s[3];
        vec_sub(a, h->vertex + 3 * k, o);
        vec_sub(b, h->vertex + 3 * ((k + 1) % h->vertex_count), o);
        double area = (a[0] * b[1] - a[1] * b[0]) / 2;
        vec_add(s, a, b);
        h->volume += area;
        vec_along(moment, moment, area / 3, s);
        second += area / 6 * (vec_dot(a, a) + vec_dot(a, b) + vec_dot(b, b));
    }
    vec_scale(moment, 1 / h->volume, moment);
    vec_add(h->centre, o, moment);
    h->inertia[8] = second - h->volume * vec_dot(moment, moment);
    make_size(h);
}

/* ---- making them ---- */

dls_status dls_hull_assemble(int vertex_count, const double *vertex, int face_count, const int *face_start,
                             const int *face_vertex, dls_hull **hull) {
    int corners = face_start[face_count];
    *hull = NULL;
    if (corners % 2 || vertex_count - corners / 2 + face_count != 2) /* Euler's formula */
        return DLS_ERROR_NUMERIC;
    dls_hull *h = allocate(vertex_count, face_count, corners, corners / 2);
    if (!h) return DLS_ERROR_MEMORY;
    memcpy(h->vertex, vertex, 3 * (size_t)vertex_count * sizeof *vertex);
    memcpy(h->face_start, face_start, ((size_t)face_count + 1) * sizeof *face_start);
    memcpy(h->face_vertex, face_vertex, (size_t)corners * sizeof *face_vertex);
    dls_status status = join_edges(h);
    for (int f = 0; f < face_count && !status; f++)
        if (!make_plane(h, f)) status = DLS_ERROR_NUMERIC;
    if (status) {
        dls_hull_destroy(h);
        return status;
    }
    join_vertices(h);
    weigh_polyhedron(h);
    assert(h->vertex_start[vertex_count] == corners && h->edge_count == corners / 2);
    *hull = h;
    return DLS_OK;
}

dls_status dls_hull_box(const double *half, dls_hull **hull) {
    static const int start[7] = {0, 4, 8, 12, 16, 20, 24};
    static const int corner[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    double vertex[24];
    for (int k = 0; k < 8; k++) /* bit i of k: on the positive side of axis i */
        for (int i = 0; i < 3; i++) vertex[3 * k + i] = k >> i & 1 ? half[i] : -half[i];
    return dls_hull_assemble(8, vertex, 6, start, corner, hull);
}

static int compare_points(const void *left, const void *right) {
    const double *a = left, *b = right;
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return a[1] < b[1] ? -1 : a[1] > b[1];
}

/* Whether b is not left of the line from a to c by more than tolerance times its length. */
static bool is_flat(const double *a, const double *b, const double *c, double tolerance) {
    double u[2] = {c[0] - a[0], c[1] - a[1]}, v[2] = {b[0] - a[0], b[1] - a[1]};
    return v[0] * u[1] - v[1] * u[0] <= tolerance * hypot(u[0], u[1]);
}

/* Andrew's two chains over points in ascending order; chain has room for all and one more. */
static int polygon_chain(int count, const double *p, double tolerance, int *chain) {
    int n = 0;
    for (int side = 0; side < 2; side++) {
        int base = n ? n - 1 : 0;
        n = base;
        for (int k = 0; k < count; k++) {
            int next = side ? count - 1 - k : k;
            while (n - base >= 2 &&
                   is_flat(p + 3 * chain[n - 2], p + 3 * chain[n - 1], p + 3 * next, tolerance))
                n--;
            if (n == base || compare_points(p + 3 * chain[n - 1], p + 3 * next)) chain[n++] = next;
        }
    }
    return n - 1; /* the last is the first */
}

static dls_hull *assemble_polygon(int count, const double *p, const int *chain) {
    dls_hull *h = allocate(count, count, 2 * count, 0);
    if (!h) return NULL;
    for (int k = 0; k < count; k++) vec_copy(h->vertex + 3 * k, p + 3 * chain[k]);
    for (int k = 0; k < count; k++) {
        const double *a = h->vertex + 3 * k, *b = h->vertex + 3 * ((k + 1) % count);
        double dx = b[0] - a[0], dy = b[1] - a[1], length = hypot(dx, dy), *n = h->face_normal + 3 * k;
        vec_set(n, dy / length, -dx / length, 0);
        h->face_offset[k] = fmax(vec_dot(n, a), vec_dot(n, b));
        h->face_start[k + 1] = 2 * k + 2;
        h->face_vertex[2 * k] = k, h->face_vertex[2 * k + 1] = (k + 1) % count;
    }
    join_vertices(h);
    weigh_polygon(h);
    return h;
}

static dls_status create_polygon(int count, const double *points, double size, dls_hull **hull,
                                 dls_error *error) {
    double *p = dls_alloc_copy(points, 3 * (size_t)count, sizeof *points);
    int *chain = DLS_NEW(int, 2 * (size_t)count + 1);
    dls_status status = DLS_OK;
    if (!p || !chain) {
        status = dls_fail_memory(error);
    } else {
        qsort(p, (size_t)count, 3 * sizeof *p, compare_points);
        int corners = polygon_chain(count, p, HULL_FLAT * size, chain);
        if (corners < 3)
            status = dls_fail(error, DLS_ERROR_INPUT, "the %d points lie on a line, expected an area", count);
        else if (!(*hull = assemble_polygon(corners, p, chain)))
            status = dls_fail_memory(error);
    }
    dls_free(p);
    dls_free(chain);
    return status;
}

dls_status dls_hull_check_count(int dimension, int count, dls_error *error) {
    if (count > dimension) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "%d points, expected at least %d", count, dimension + 1);
}

dls_status dls_hull_create(int dimension, int count, const double *points, dls_hull **hull,
                           dls_error *error) {
    *hull = NULL;
    dls_status status = dls_hull_check_count(dimension, count, error);
    if (status) return status;
    if (!dls_vec_is_finite(points, 3 * count))
        return dls_fail(error, DLS_ERROR_INPUT, "a point is not finite");
    double size = 0;
    for (int k = 1; k < count; k++) size = fmax(size, vec_distance(points, points + 3 * (size_t)k));
    if (!(size > 0) || !isfinite(size))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "the %d points extend over %g m, expected a body of some size", count, size);
    return dimension == 2 ? create_polygon(count, points, size, hull, error)
                          : dls_polyhedron_create(count, points, size, hull, error);
}
