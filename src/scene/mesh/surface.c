/* Points and triangles of OBJ and STL files. Every number and index is checked: files come from anywhere. */
#include "scene/mesh/mesh.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = 50000000 };

/* ---- growing arrays ---- */

typedef struct mesh_text {
    const char *name;
    dls_error *error;
    int line;
    double *points;
    int *triangles;
    size_t point_count, triangle_count;
    int64_t point_room, triangle_room; /* of numbers */
} mesh_text;

static dls_status refuse(const mesh_text *m, const char *what) {
    if (!m->line) return dls_fail(m->error, DLS_ERROR_FILE, "%.200s: %s", m->name, what);
    return dls_fail(m->error, DLS_ERROR_FILE, "%.200s:%d: %s", m->name, m->line, what);
}

static dls_status add_point(mesh_text *m, const double *x) {
    int64_t used = 3 * (int64_t)m->point_count;
    if (m->point_count >= MOST_ELEMENTS) return refuse(m, "too many points, expected at most 5e7");
    for (int k = 0; k < 3; k++)
        if (!isfinite(x[k])) return refuse(m, "a coordinate is not finite, expected three numbers");
    if (!DLS_RESERVE(m->points, used, m->point_room, used + 3)) return dls_fail_memory(m->error);
    memcpy(m->points + 3 * m->point_count++, x, 3 * sizeof(double));
    return DLS_OK;
}

/* Triangles that are lines or points have no side and are left out. */
static dls_status add_triangle(mesh_text *m, int a, int b, int c) {
    int64_t used = 3 * (int64_t)m->triangle_count;
    if (a == b || b == c || c == a) return DLS_OK;
    if (m->triangle_count >= MOST_ELEMENTS) return refuse(m, "too many triangles, expected at most 5e7");
    if (!DLS_RESERVE(m->triangles, used, m->triangle_room, used + 3)) return dls_fail_memory(m->error);
    int *t = m->triangles + 3 * m->triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
    return DLS_OK;
}

/* Three numbers from one line. */
static bool take_numbers(const char *at, double *x) {
    for (int k = 0; k < 3; k++) {
        char *end;
        at += strspn(at, " \t\r");
        x[k] = *at == '\n' ? 0 : strtod(at, &end);
        if (*at == '\n' || end == at) return false;
        at = end;
    }
    return true;
}

/* ---- OBJ ---- */

/* An index from 1, or from the end where negative; what follows a slash is for textures. */
static dls_status take_index(mesh_text *m, const char **at, int *index) {
    char *end, message[120];
    long long value = strtoll(*at, &end, 10), count = (long long)m->point_count;
    if (end == *at) return refuse(m, "a face without an index, expected 'f 1 2 3'");
    long long place = value > 0 ? value - 1 : count + value;
    if (value == 0 || place < 0 || place >= count) {
        snprintf(message, sizeof message, "point %lld in a face, expected 1 to %lld", value, count);
        return refuse(m, message);
    }
    *index = (int)place;
    *at = end + strcspn(end, " \t\r\n");
    *at += strspn(*at, " \t\r");
    return DLS_OK;
}

/* A polygon becomes a fan of triangles. */
static dls_status take_face(mesh_text *m, const char *at) {
    int first = 0, before = 0, index = 0, count = 0;
    dls_status status = DLS_OK;
    for (at += strspn(at, " \t\r"); *at && *at != '\n' && *at != '#' && !status; count++) {
        if ((status = take_index(m, &at, &index))) return status;
        if (count == 0)
            first = index;
        else if (count > 1)
            status = add_triangle(m, first, before, index);
        before = index;
    }
    if (!status && count < 3) return refuse(m, "a face with fewer than 3 points, expected 3 or more");
    return status;
}

/* Each line, from its first letter on, goes to take. */
static dls_status read_lines(mesh_text *m, const char *text,
                             dls_status (*take)(mesh_text *m, const char *at)) {
    dls_status status = DLS_OK;
    m->line = 0;
    for (const char *at = text; *at && !status; at += *at == '\n') {
        m->line++;
        at += strspn(at, " \t\r");
        status = take(m, at);
        at += strcspn(at, "\n");
    }
    return status;
}

static dls_status take_obj_line(mesh_text *m, const char *at) {
    double x[3];
    if ((at[0] != 'v' && at[0] != 'f') || (at[1] != ' ' && at[1] != '\t')) return DLS_OK;
    if (at[0] == 'f') return take_face(m, at + 1);
    return take_numbers(at + 1, x) ? add_point(m, x) : refuse(m, "a vertex, expected 'v x y z'");
}

/* ---- STL: corners repeat, equal ones become one point ---- */

typedef struct corner {
    double x[3];
    size_t place;
} corner;

static int compare_corners(const void *a, const void *b) {
    const corner *i = a, *j = b;
    for (int k = 0; k < 3; k++)
        if (i->x[k] != j->x[k]) return i->x[k] < j->x[k] ? -1 : 1;
    return (i->place > j->place) - (i->place < j->place);
}

/* points holds three corners per triangle; points are numbered in the order in which they first came. */
static dls_status join_corners(mesh_text *m) {
    size_t count = m->point_count;
    corner *corners = DLS_NEW(corner, count);
    int *leader = DLS_NEW(int, count);
    dls_status status = corners && leader ? DLS_OK : dls_fail_memory(m->error);
    for (size_t i = 0; i < count && !status; i++) {
        memcpy(corners[i].x, m->points + 3 * i, sizeof corners[i].x);
        for (int k = 0; k < 3; k++) corners[i].x[k] += 0.0; /* −0 and 0 are one place */
        corners[i].place = i;
    }
    if (!status) qsort(corners, count, sizeof *corners, compare_corners);
    for (size_t i = 0, first = 0; i < count && !status; i++) {
        if (memcmp(corners[i].x, corners[first].x, sizeof corners[i].x)) first = i;
        leader[corners[i].place] = (int)corners[first].place;
    }
    m->point_count = 0;
    for (size_t i = 0; i < count && !status; i++) { /* a leader comes before all that follow it */
        if (leader[i] == (int)i) {
            memmove(m->points + 3 * m->point_count, m->points + 3 * i, 3 * sizeof(double));
            leader[i] = (int)m->point_count++;
        } else {
            leader[i] = leader[leader[i]];
        }
    }
    for (size_t i = 0; i + 2 < count && !status; i += 3)
        status = add_triangle(m, leader[i], leader[i + 1], leader[i + 2]);
    dls_free(corners);
    dls_free(leader);
    return status;
}

static dls_status take_stl_line(mesh_text *m, const char *at) {
    double x[3];
    if (!strncmp(at, "vertex", 6))
        return take_numbers(at + 6, x) ? add_point(m, x) : refuse(m, "a corner, expected 'vertex x y z'");
    if (!strncmp(at, "endfacet", 8) && m->point_count % 3)
        return refuse(m, "a facet ends with corners missing, expected three");
    return DLS_OK;
}

static dls_status read_stl_text(mesh_text *m, const char *text) {
    dls_status status = read_lines(m, text, take_stl_line);
    m->line = 0;
    if (!status && m->point_count % 3) return refuse(m, "the last facet is cut off, expected three corners");
    return status ? status : join_corners(m);
}

static dls_status read_stl_bytes(mesh_text *m, const unsigned char *bytes, uint32_t facets) {
    dls_status status = DLS_OK;
    m->line = 0;
    for (uint32_t i = 0; i < facets && !status; i++)
        for (int c = 0; c < 3 && !status; c++) {
            float at[3];
            double x[3];
            memcpy(at, bytes + 84 + 50 * (size_t)i + 12 + 12 * c, sizeof at);
            for (int k = 0; k < 3; k++) x[k] = (double)at[k];
            status = add_point(m, x);
        }
    return status ? status : join_corners(m);
}

/* ---- any of them ---- */

static dls_status read_any(mesh_text *m, const char *bytes, size_t size) {
    uint32_t facets = 0;
    if (dls_name_ends(m->name, ".obj")) {
        if (memchr(bytes, 0, size)) return refuse(m, "holds a zero byte, expected the text of an OBJ file");
        return read_lines(m, bytes, take_obj_line);
    }
    if (!dls_name_ends(m->name, ".stl"))
        return refuse(m, "no kind of mesh that is known, expected .obj or .stl");
    if (size >= 84) memcpy(&facets, bytes + 80, sizeof facets);
    if (size >= 84 && size == 84 + 50 * (size_t)facets)
        return read_stl_bytes(m, (const unsigned char *)bytes, facets);
    if (size < 5 || memcmp(bytes, "solid", 5) || memchr(bytes, 0, size))
        return refuse(
            m, "cut off or no STL, expected 84 + 50 bytes per facet, or text that begins with 'solid'");
    return read_stl_text(m, bytes);
}

/* bytes end with a zero that size does not count. */
dls_status dls_mesh_bytes_read(dls_arena *arena, const char *name, const char *bytes, size_t size,
                               dls_shape_def *def, dls_error *error) {
    mesh_text m = {.name = name, .error = error};
    dls_status status = read_any(&m, bytes, size);
    m.line = 0;
    if (!status && !m.triangle_count) status = refuse(&m, "no triangles in it, expected one or more");
    if (!status) {
        double *points = dls_arena_take(arena, 3 * m.point_count, sizeof(double));
        int *triangles = dls_arena_take(arena, 3 * m.triangle_count, sizeof(int));
        if (points && triangles) {
            memcpy(points, m.points, 3 * m.point_count * sizeof(double));
            memcpy(triangles, m.triangles, 3 * m.triangle_count * sizeof(int));
            def->points = points;
            def->point_count = (int)m.point_count;
            def->triangles = triangles;
            def->triangle_count = (int)m.triangle_count;
        } else {
            status = dls_fail_memory(error);
        }
    }
    dls_free(m.points);
    dls_free(m.triangles);
    return status;
}

dls_status dls_mesh_file_read(dls_reader *reader, const dls_node *node, const char *path, double scale,
                              dls_shape_def *def) {
    const dls_file *file;
    const char *whole = path;
    dls_status status = dls_reader_file(reader, path, &file, &whole);
    if (!status)
        status = dls_mesh_bytes_read(reader->arena, whole, file->bytes, file->size, def, reader->error);
    if (status) return dls_read_blame(node, reader->error);
    double *points = dls_arena_take(reader->arena, 3 * (size_t)def->point_count, sizeof(double));
    if (!points) return dls_fail_memory(reader->error);
    for (int k = 0; k < 3 * def->point_count; k++) points[k] = scale * def->points[k];
    def->points = points;
    return DLS_OK;
}
