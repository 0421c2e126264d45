/* Convex polyhedra: Qhull's triangles, merged into faces where they lie in one plane. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/shape/hull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- degenerate sets ---- */

/* The greatest distance of the points from the span of what was found before: a point, a line, a plane. */
static double farthest(int count, const double *p, const double *o, int axes, double (*axis)[3],
                       double *away) {
    double best = -1;
    for (int k = 0; k < count; k++) {
        double d[3];
        vec_sub(d, p + 3 * (size_t)k, o);
        for (int i = 0; i < axes; i++) vec_along(d, d, -vec_dot(d, axis[i]), axis[i]);
        double size = vec_norm(d);
        if (size > best) {
            best = size;
            vec_copy(away, d);
        }
    }
    return best;
}

static dls_status check_rank(int count, const double *p, double size, dls_error *error) {
    static const char *const where[3] = {"in one place", "on a line", "in a plane"};
    double axis[3][3];
    for (int k = 0; k < 3; k++) {
        double away[3] = {0, 0, 0}, distance = farthest(count, p, p, k, axis, away);
        if (!(distance > 10 * HULL_FLAT * size))
            return dls_fail(error, DLS_ERROR_INPUT, "the %d points lie %s, expected a volume", count,
                            where[k]);
        vec_scale(axis[k], 1 / distance, away);
    }
    return DLS_OK;
}

/* ---- merging ---- */

typedef struct surface {
    int count;             /* triangles */
    int *corner;           /* counter-clockwise seen from outside */
    int *neighbour;        /* across edge k of a triangle, from corner k to k + 1 */
    double *area, *normal; /* normal not of unit length where the area is zero */
    int *by_area;
    int *face; /* of each triangle, −1 before */
    int *queue;
} surface;

static void free_surface(surface *s) {
    void *blocks[] = {s->corner, s->neighbour, s->area, s->normal, s->by_area, s->face, s->queue};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dls_free(blocks[k]);
}

typedef struct side {
    int low, high, triangle, edge;
    bool upward;
} side;

static int compare_sides(const void *left, const void *right) {
    const side *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

/* False unless every edge belongs to two triangles that run along it both ways. */
static bool find_neighbours(surface *s, side *sides) {
    int count = 3 * s->count;
    for (int k = 0; k < count; k++) {
        int a = s->corner[k], b = s->corner[k % 3 == 2 ? k - 2 : k + 1];
        sides[k] = (side){a < b ? a : b, a < b ? b : a, k / 3, k, a < b};
    }
    qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    bool sound = count % 2 == 0;
    for (int k = 0; k + 1 < count && sound; k += 2) {
        const side *a = &sides[k], *b = &sides[k + 1];
        sound = a->low < a->high && a->low == b->low && a->high == b->high && a->upward != b->upward;
        s->neighbour[a->edge] = b->triangle, s->neighbour[b->edge] = a->triangle;
    }
    return sound;
}

typedef struct ranked {
    double area;
    int triangle;
} ranked;

static int compare_ranked(const void *left, const void *right) {
    const ranked *a = left, *b = right;
    if (a->area != b->area) return a->area > b->area ? -1 : 1;
    return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

/* Normals, areas and their order; a surface that turns inward is turned around. */
static void measure(surface *s, const double *p, ranked *rank) {
    double volume = 0;
    for (int t = 0; t < s->count; t++) {
        double a[3], b[3], *n = s->normal + 3 * t;
        const double *o = p + 3 * s->corner[3 * t];
        vec_sub(a, p + 3 * s->corner[3 * t + 1], o);
        vec_sub(b, p + 3 * s->corner[3 * t + 2], o);
        vec_cross(n, a, b);
        volume += vec_dot(o, n);
        s->area[t] = vec_norm(n);
        if (s->area[t] > 0) vec_scale(n, 1 / s->area[t], n);
        rank[t] = (ranked){s->area[t], t};
    }
    qsort(rank, (size_t)s->count, sizeof *rank, compare_ranked);
    for (int t = 0; t < s->count; t++) s->by_area[t] = rank[t].triangle;
    for (int t = 0; t < s->count && volume < 0; t++) {
        int swap = s->corner[3 * t + 1];
        s->corner[3 * t + 1] = s->corner[3 * t + 2];
        s->corner[3 * t + 2] = swap;
        vec_scale(s->normal + 3 * t, -1, s->normal + 3 * t);
    }
}

static bool lies_in(const surface *s, const double *p, int t, const double *o, const double *n,
                    double tolerance) {
    for (int k = 0; k < 3; k++) {
        double d[3];
        vec_sub(d, p + 3 * s->corner[3 * t + k], o);
        if (!(fabs(vec_dot(n, d)) <= tolerance)) return false;
    }
    return true;
}

/* Faces grow from the largest triangles over all neighbours that lie in their plane, so that slivers join a
 * face and never make one. */
static int grow_faces(surface *s, const double *p, double tolerance) {
    int faces = 0;
    for (int k = 0; k < s->count; k++) {
        int seed = s->by_area[k], head = 0, tail = 0;
        if (s->face[seed] >= 0) continue;
        const double *o = p + 3 * s->corner[3 * seed], *n = s->normal + 3 * seed;
        s->face[seed] = faces;
        s->queue[tail++] = seed;
        while (head < tail) {
            int t = s->queue[head++];
            for (int e = 0; e < 3; e++) {
                int next = s->neighbour[3 * t + e];
                if (s->face[next] >= 0 || !lies_in(s, p, next, o, n, tolerance)) continue;
                s->face[next] = faces;
                s->queue[tail++] = next;
            }
        }
        faces++;
    }
    return faces;
}

/* ---- loops ---- */

typedef struct loops {
    int vertex_count, face_count;
    int *start, *corner;     /* of faces */
    int *degree;             /* faces around each point */
    int *next;               /* scratch: by point, the one after it in a loop; then its number */
    int *face_first, *order; /* triangles by face */
    double *vertex;
} loops;

static void free_loops(loops *l) {
    void *blocks[] = {l->start, l->corner, l->degree, l->next, l->face_first, l->order, l->vertex};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dls_free(blocks[k]);
}

static void sort_by_face(const surface *s, loops *l) {
    memset(l->face_first, 0, ((size_t)l->face_count + 1) * sizeof(int));
    for (int t = 0; t < s->count; t++) l->face_first[s->face[t] + 1]++;
    for (int f = 0; f < l->face_count; f++) l->face_first[f + 1] += l->face_first[f];
    for (int t = 0; t < s->count; t++) l->order[l->face_first[s->face[t]]++] = t;
    for (int f = l->face_count; f > 0; f--) l->face_first[f] = l->face_first[f - 1];
    l->face_first[0] = 0;
}

/* The border of a face as one loop of points; 0 when it is not one. next is −1 everywhere, before and after.
 */
static int trace_loop(const surface *s, loops *l, int f, int *loop) {
    int border = 0, begin = -1, length = 0;
    bool pinched = false;
    for (int k = l->face_first[f]; k < l->face_first[f + 1]; k++)
        for (int e = 0; e < 3; e++) {
            int t = l->order[k], a = s->corner[3 * t + e], b = s->corner[3 * t + (e + 1) % 3];
            if (s->face[s->neighbour[3 * t + e]] == f) continue;
            pinched |= l->next[a] >= 0;
            l->next[a] = b;
            border++;
            if (begin < 0 || a < begin) begin = a;
        }
    for (int at = begin; at >= 0 && length < border;) {
        int next = l->next[at];
        if (next < 0) break;
        loop[length++] = at;
        l->next[at] = -1;
        at = next;
    }
    for (int k = l->face_first[f]; k < l->face_first[f + 1]; k++)
        for (int e = 0; e < 3; e++) l->next[s->corner[3 * l->order[k] + e]] = -1;
    return pinched || length != border ? 0 : border;
}

/* Points where only two faces meet lie on an edge and are left out. */
static bool drop_edge_points(loops *l) {
    int to = 0;
    for (int f = 0, from = 0; f < l->face_count; f++) {
        int end = l->start[f + 1], begin = to;
        for (; from < end; from++)
            if (l->degree[l->corner[from]] > 2) l->corner[to++] = l->corner[from];
        l->start[f + 1] = to;
        if (to - begin < 3) return false;
    }
    return true;
}

/* Vertices in the order of the points. */
static void number_vertices(loops *l, int count, const double *points) {
    int corners = l->start[l->face_count];
    for (int k = 0; k < corners; k++) l->next[l->corner[k]] = 0;
    for (int k = 0; k < count; k++) {
        if (l->next[k] < 0) continue;
        vec_copy(l->vertex + 3 * l->vertex_count, points + 3 * (size_t)k);
        l->next[k] = l->vertex_count++;
    }
    for (int k = 0; k < corners; k++) l->corner[k] = l->next[l->corner[k]];
}

static bool trace_faces(const surface *s, loops *l, int count, const double *points) {
    for (int k = 0; k < count; k++) l->next[k] = -1, l->degree[k] = 0;
    sort_by_face(s, l);
    l->start[0] = 0;
    for (int f = 0; f < l->face_count; f++) {
        int *loop = l->corner + l->start[f], length = trace_loop(s, l, f, loop);
        if (length == 0) return false;
        l->start[f + 1] = l->start[f] + length;
        for (int k = 0; k < length; k++) l->degree[loop[k]]++;
    }
    if (!drop_edge_points(l)) return false;
    number_vertices(l, count, points);
    return true;
}

/* ---- together ---- */

/* No corner of a face is straight or turns inward. */
static bool has_corners(const dls_hull *h, int f) {
    int first = h->face_start[f], count = h->face_start[f + 1] - first;
    for (int k = 0; k < count; k++) {
        const double *a = h->vertex + 3 * h->face_vertex[first + k];
        const double *b = h->vertex + 3 * h->face_vertex[first + (k + 1) % count];
        const double *c = h->vertex + 3 * h->face_vertex[first + (k + 2) % count];
        double u[3], v[3], w[3];
        vec_sub(u, b, a);
        vec_sub(v, c, b);
        vec_cross(w, u, v);
        if (!(vec_dot(w, h->face_normal + 3 * f) > 0)) return false;
    }
    return true;
}

static bool is_convex(const dls_hull *h, double tolerance) {
    for (int f = 0; f < h->face_count; f++) {
        if (!has_corners(h, f)) return false;
        for (int v = 0; v < h->vertex_count; v++)
            if (!(vec_dot(h->face_normal + 3 * f, h->vertex + 3 * v) <= h->face_offset[f] + tolerance))
                return false;
    }
    return true;
}

static bool allocate(surface *s, loops *l, ranked **rank, side **sides, int count) {
    size_t t = (size_t)s->count, n = (size_t)count;
    s->neighbour = DLS_NEW(int, 3 * t);
    s->area = DLS_NEW(double, t), s->normal = DLS_NEW(double, 3 * t);
    s->by_area = DLS_NEW(int, t), s->face = DLS_NEW(int, t), s->queue = DLS_NEW(int, t);
    *rank = DLS_NEW(ranked, t), *sides = DLS_NEW(side, 3 * t);
    l->start = DLS_NEW(int, t + 1), l->corner = DLS_NEW(int, 3 * t), l->face_first = DLS_NEW(int, t + 1);
    l->order = DLS_NEW(int, t), l->degree = DLS_NEW(int, n), l->next = DLS_NEW(int, n);
    l->vertex = DLS_NEW(double, 3 * n);
    return s->neighbour && s->area && s->normal && s->by_area && s->face && s->queue && *rank && *sides &&
           l->start && l->corner && l->face_first && l->order && l->degree && l->next && l->vertex;
}

/* The hull from triangles over the scaled points p; *hull stays NULL when they do not make a sound one. */
static dls_status merge(const dls_triangles *triangles, int count, const double *points, const double *p,
                        double size, double flat, dls_hull **hull, dls_error *error) {
    surface s = {.count = triangles->count, .corner = triangles->corner};
    loops l = {.vertex_count = 0};
    ranked *rank = NULL;
    side *sides = NULL;
    dls_status status = DLS_OK;
    if (!allocate(&s, &l, &rank, &sides, count)) {
        status = dls_fail_memory(error);
    } else {
        for (int t = 0; t < s.count; t++) s.face[t] = -1;
        measure(&s, p, rank);
        if (find_neighbours(&s, sides)) {
            l.face_count = grow_faces(&s, p, flat);
            if (trace_faces(&s, &l, count, points))
                status = dls_hull_assemble(l.vertex_count, l.vertex, l.face_count, l.start, l.corner, hull);
        }
        status = status == DLS_ERROR_MEMORY ? dls_fail_memory(error) : DLS_OK;
        if (*hull && !is_convex(*hull, 10 * flat * size)) {
            dls_hull_destroy(*hull);
            *hull = NULL;
        }
    }
    dls_free(rank);
    dls_free(sides);
    free_surface(&s);
    free_loops(&l);
    return status;
}

/* Points about the middle of their box, in units of size. */
static double *scaled_points(int count, const double *points, double size) {
    double low[3], high[3], *p = DLS_NEW(double, 3 * (size_t)count);
    if (!p) return NULL;
    vec_copy(low, points);
    vec_copy(high, points);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], points[3 * k + i]);
            high[i] = fmax(high[i], points[3 * k + i]);
        }
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 3; i++)
            p[3 * k + i] = (points[3 * k + i] - (low[i] + (high[i] - low[i]) / 2)) / size;
    return p;
}

/* Points that all but coincide or all but lie on faces and edges of the others make slivers that no tolerance
 * tells apart. When they spoil a hull, the next try leaves out points that stand out by less than `out`. */
static const struct {
    double out, flat; /* relative to the size */
} tries[] = {{0, HULL_FLAT}, {1e-9, HULL_FLAT}, {1e-8, HULL_FLAT}, {1e-8, 1e-9}, {1e-7, 1e-9}, {1e-6, 1e-8}};

dls_status dls_polyhedron_create(int count, const double *points, double size, dls_hull **hull,
                                 dls_error *error) {
    dls_status status = check_rank(count, points, size, error);
    if (status) return status;
    double *p = scaled_points(count, points, size);
    if (!p) return dls_fail_memory(error);
    for (size_t k = 0; k < sizeof tries / sizeof *tries && !*hull && status != DLS_ERROR_MEMORY; k++) {
        dls_triangles triangles;
        status = dls_qhull_triangles(count, p, tries[k].out, &triangles, error);
        if (!status)
            status = merge(&triangles, count, points, p, size, tries[k].flat, hull, error);
        else
            dls_free(triangles.corner);
    }
    dls_free(p);
    if (!*hull && !status)
        return dls_fail(error, DLS_ERROR_NUMERIC, "the hull of the %d points does not close", count);
    if (!status) dls_error_clear(error);
    return status;
}
