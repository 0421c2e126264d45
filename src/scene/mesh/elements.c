/* Elements from files: nodes and cells as a reader finds them, gathered, checked and handed on. */
#include "scene/mesh/mesh.h"

#include "base/error.h"
#include "base/memory.h"
#include "world/shape/kinds.h"
#include "world/solid/elements/mesh.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

dls_status dls_text_refuse(const dls_elements_text *t, const char *format, ...) {
    char what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    if (!t->line) return dls_fail(t->error, DLS_ERROR_FILE, "%.200s: %s", t->file, what);
    return dls_fail(t->error, DLS_ERROR_FILE, "%.200s:%d: %s", t->file, t->line, what);
}

/* ---- kinds of cells ---- */

static const dls_element_type gmsh_types[] = {
    {1, 2, "line", 1, DLS_SOLID_CELL_ANY},
    {2, 3, "triangle", 2, DLS_SOLID_CELL_ANY},
    {3, 4, "quadrangle", 2, DLS_SOLID_CELL_ANY},
    {4, 4, "tetrahedron", 3, DLS_SOLID_TET4},
    {5, 8, "hexahedron", 3, DLS_SOLID_HEX8},
    {6, 6, "prism", 3, DLS_SOLID_CELL_ANY},
    {7, 5, "pyramid", 3, DLS_SOLID_CELL_ANY},
    {8, 3, "line of 3 nodes", 1, DLS_SOLID_CELL_ANY},
    {9, 6, "triangle of 6 nodes", 2, DLS_SOLID_CELL_ANY},
    {10, 9, "quadrangle of 9 nodes", 2, DLS_SOLID_CELL_ANY},
    {11, 10, "tetrahedron of 10 nodes", 3, DLS_SOLID_TET10},
    {12, 27, "hexahedron of 27 nodes", 3, DLS_SOLID_CELL_ANY},
    {13, 18, "prism of 18 nodes", 3, DLS_SOLID_CELL_ANY},
    {14, 14, "pyramid of 14 nodes", 3, DLS_SOLID_CELL_ANY},
    {15, 1, "point", 0, DLS_SOLID_CELL_ANY},
    {16, 8, "quadrangle of 8 nodes", 2, DLS_SOLID_CELL_ANY},
    {17, 20, "hexahedron of 20 nodes", 3, DLS_SOLID_CELL_ANY},
    {18, 15, "prism of 15 nodes", 3, DLS_SOLID_CELL_ANY},
    {19, 13, "pyramid of 13 nodes", 3, DLS_SOLID_CELL_ANY},
};

static const dls_element_type vtk_types[] = {
    {1, 1, "vertex", 0, DLS_SOLID_CELL_ANY},
    {3, 2, "line", 1, DLS_SOLID_CELL_ANY},
    {5, 3, "triangle", 2, DLS_SOLID_CELL_ANY},
    {8, 4, "pixel", 2, DLS_SOLID_CELL_ANY},
    {9, 4, "quad", 2, DLS_SOLID_CELL_ANY},
    {10, 4, "tetra", 3, DLS_SOLID_TET4},
    {11, 8, "voxel", 3, DLS_SOLID_CELL_ANY},
    {12, 8, "hexahedron", 3, DLS_SOLID_HEX8},
    {13, 6, "wedge", 3, DLS_SOLID_CELL_ANY},
    {14, 5, "pyramid", 3, DLS_SOLID_CELL_ANY},
    {21, 3, "quadratic edge", 1, DLS_SOLID_CELL_ANY},
    {22, 6, "quadratic triangle", 2, DLS_SOLID_CELL_ANY},
    {23, 8, "quadratic quad", 2, DLS_SOLID_CELL_ANY},
    {24, 10, "quadratic tetra", 3, DLS_SOLID_TET10},
    {25, 20, "quadratic hexahedron", 3, DLS_SOLID_CELL_ANY},
    {28, 9, "biquadratic quad", 2, DLS_SOLID_CELL_ANY},
    {29, 27, "triquadratic hexahedron", 3, DLS_SOLID_CELL_ANY},
};

const dls_element_type *dls_element_type_find(dls_text_format format, int number) {
    const dls_element_type *types = format == DLS_TEXT_GMSH ? gmsh_types : vtk_types;
    size_t count = format == DLS_TEXT_GMSH ? sizeof gmsh_types : sizeof vtk_types;
    for (size_t k = 0; k < count / sizeof *types; k++)
        if (types[k].number == number) return &types[k];
    return NULL;
}

/* ---- nodes ---- */

dls_status dls_text_add_node(dls_elements_text *t, int64_t number, const double *X) {
    int64_t n = t->node_count;
    if (number < 0 || number > INT_MAX)
        return dls_text_refuse(t, "a node has number %lld, expected 0 to %d", (long long)number, INT_MAX);
    if (n >= 2 * DLS_MOST_CELLS)
        return dls_text_refuse(t, "too many nodes, expected at most %d", 2 * DLS_MOST_CELLS);
    for (int k = 0; k < 3; k++)
        if (!isfinite(X[k]))
            return dls_text_refuse(t, "node %lld has a coordinate %g, expected three finite numbers",
                                   (long long)number, X[k]);
    if (!DLS_RESERVE(t->X, 3 * n, t->X_room, 3 * n + 3) ||
        !DLS_RESERVE(t->node_number, n, t->number_room, n + 1) ||
        !DLS_RESERVE(t->node_line, n, t->line_room, n + 1))
        return dls_fail_memory(t->error);
    memcpy(t->X + 3 * n, X, 3 * sizeof *X);
    t->node_number[n] = (int)number;
    t->node_line[n] = t->line;
    t->node_count++;
    return DLS_OK;
}

typedef struct numbered {
    int number, place;
} numbered;

static int by_number(const void *a, const void *b) {
    const numbered *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->place - y->place;
}

dls_status dls_text_nodes_end(dls_elements_text *t) {
    int count = (int)t->node_count;
    numbered *list = DLS_NEW(numbered, count);
    dls_status status = DLS_OK;
    t->order = DLS_NEW(int, count);
    if (!list || !t->order) status = dls_fail_memory(t->error);
    for (int i = 0; i < count && !status; i++) list[i] = (numbered){t->node_number[i], i};
    if (!status && count) qsort(list, (size_t)count, sizeof *list, by_number);
    for (int i = 0; i < count && !status; i++) {
        t->order[i] = list[i].place;
        if (i == 0 || list[i].number != list[i - 1].number) continue;
        t->line = t->node_line[list[i].place];
        status =
            dls_text_refuse(t, "node %d for the second time, expected numbers that differ", list[i].number);
    }
    dls_free(list);
    return status;
}

static int find_node(const dls_elements_text *t, int64_t number) {
    int64_t low = 0, high = t->order ? t->node_count : 0;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (t->node_number[t->order[middle]] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->node_count && t->order && t->node_number[t->order[low]] == number ? t->order[low] : -1;
}

/* ---- cells ---- */

static dls_status add_members(dls_elements_text *t, int dimension, int group, int count, const int *nodes) {
    if (!DLS_RESERVE(t->members, t->member_count, t->member_room, t->member_count + count))
        return dls_fail_memory(t->error);
    for (int i = 0; i < count; i++) t->members[t->member_count++] = (dls_member){dimension, group, nodes[i]};
    return DLS_OK;
}

static dls_status add_element(dls_elements_text *t, const dls_element_type *type, int number,
                              const int *nodes) {
    int64_t n = t->cell_count;
    if (type->cell == DLS_SOLID_CELL_ANY)
        return dls_text_refuse(t,
                               "element %d is a %s, expected tetrahedra of 4 or 10 nodes or hexahedra of 8",
                               number, type->name);
    if (t->type && t->type != type)
        return dls_text_refuse(t, "element %d is a %s and element %d a %s, expected elements of one kind",
                               number, type->name, t->cell_number[0], t->type->name);
    if (n >= DLS_MOST_CELLS)
        return dls_text_refuse(t, "too many elements, expected at most %d", DLS_MOST_CELLS);
    if (!DLS_RESERVE(t->cells, type->nodes * n, t->cells_room, type->nodes * (n + 1)) ||
        !DLS_RESERVE(t->cell_number, n, t->cell_number_room, n + 1) ||
        !DLS_RESERVE(t->cell_line, n, t->cell_line_room, n + 1))
        return dls_fail_memory(t->error);
    t->type = type;
    int *of = t->cells + type->nodes * n;
    memcpy(of, nodes, sizeof *of * (size_t)type->nodes);
    if (t->format == DLS_TEXT_GMSH && type->cell == DLS_SOLID_TET10) /* its last two edges are 23 and 13 */
        of[8] = nodes[9], of[9] = nodes[8];
    t->cell_number[n] = number;
    t->cell_line[n] = t->line;
    t->cell_count++;
    return DLS_OK;
}

dls_status dls_text_add_cell(dls_elements_text *t, const dls_element_type *type, int64_t number,
                             const int64_t *nodes, int group_count, const int *groups) {
    int place[DLS_MOST_CELL_NODES];
    dls_status status = DLS_OK;
    if (number < 0 || number > INT_MAX)
        return dls_text_refuse(t, "an element has number %lld, expected 0 to %d", (long long)number, INT_MAX);
    for (int i = 0; i < type->nodes; i++)
        if ((place[i] = find_node(t, nodes[i])) < 0)
            return dls_text_refuse(t, "element %lld has node %lld, which is not there", (long long)number,
                                   (long long)nodes[i]);
    bool named = false;
    for (int g = 0; g < group_count && !status; g++)
        if (groups[g] != 0) {
            named = true;
            status = add_members(t, type->dimension, groups[g], type->nodes, place);
        }
    if (status) return status;
    if (type->dimension == 3) return add_element(t, type, (int)number, place);
    t->skipped += !named;
    return DLS_OK;
}

/* ---- names ---- */

dls_status dls_text_add_name(dls_elements_text *t, int dimension, int number, const char *name,
                             size_t length) {
    char *copy = dls_arena_text(t->arena, name, length);
    if (!copy || !DLS_RESERVE(t->names, t->name_count, t->name_room, t->name_count + 1))
        return dls_fail_memory(t->error);
    t->names[t->name_count++] = (dls_group_name){dimension, number, copy};
    return DLS_OK;
}

static int by_group(const void *a, const void *b) {
    const dls_member *x = a, *y = b;
    if (x->dimension != y->dimension) return x->dimension < y->dimension ? -1 : 1;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* A group's name, or its number; NULL when memory is out. */
static const char *name_of(const dls_elements_text *t, const dls_member *group) {
    char number[32];
    for (int64_t k = 0; k < t->name_count; k++)
        if (t->names[k].dimension == group->dimension && t->names[k].number == group->group)
            return t->names[k].name;
    int length = snprintf(number, sizeof number, "%d", group->group);
    return dls_arena_text(t->arena, number, (size_t)length);
}

static bool same_group(const dls_member *a, const dls_member *b) {
    return a->dimension == b->dimension && a->group == b->group;
}

/* Members by group and node, each once; surfaces come first where one name or number means several. */
static dls_status take_sets(dls_elements_text *t, dls_element_file *file) {
    dls_member *m = t->members;
    int64_t kept = 0;
    int count = 0;
    if (t->member_count) qsort(m, (size_t)t->member_count, sizeof *m, by_group);
    for (int64_t k = 0; k < t->member_count; k++) {
        bool again = kept && same_group(&m[k], &m[kept - 1]);
        if (again && m[k].node == m[kept - 1].node) continue;
        count += !again;
        m[kept++] = m[k];
    }
    dls_node_set *sets = dls_arena_take(t->arena, (size_t)count, sizeof *sets);
    int *nodes = dls_arena_take(t->arena, (size_t)kept, sizeof *nodes);
    if (!sets || !nodes) return dls_fail_memory(t->error);
    count = 0;
    for (int64_t k = 0; k < kept; k++) {
        nodes[k] = m[k].node;
        if (k && same_group(&m[k], &m[k - 1])) {
            sets[count - 1].count++;
            continue;
        }
        sets[count] = (dls_node_set){name_of(t, &m[k]), 1, nodes + k};
        if (!sets[count++].name) return dls_fail_memory(t->error);
    }
    file->sets = sets;
    file->set_count = count;
    return DLS_OK;
}

/* ---- the whole ---- */

static void *keep(dls_elements_text *t, const void *from, int64_t count, size_t size, dls_status *status) {
    void *to = *status ? NULL : dls_arena_take(t->arena, (size_t)count, size);
    if (!to && !*status) *status = dls_fail_memory(t->error);
    if (to && count) memcpy(to, from, (size_t)count * size);
    return to;
}

static dls_status take_mesh(dls_elements_text *t, double scale, dls_element_file *file) {
    dls_status status = DLS_OK;
    bool lines = t->cell_count && t->cell_line[0] > 0;
    for (int64_t k = 0; k < 3 * t->node_count; k++) t->X[k] *= scale;
    file->mesh = (dls_solid_mesh){
        .cell = t->type->cell,
        .node_count = (int)t->node_count,
        .cell_count = (int)t->cell_count,
        .points = keep(t, t->X, 3 * t->node_count, sizeof *t->X, &status),
        .cells = keep(t, t->cells, t->type->nodes * t->cell_count, sizeof *t->cells, &status),
        .node_number = keep(t, t->node_number, t->node_count, sizeof *t->node_number, &status),
        .cell_number = keep(t, t->cell_number, t->cell_count, sizeof *t->cell_number, &status),
        .node_line = lines ? keep(t, t->node_line, t->node_count, sizeof *t->node_line, &status) : NULL,
        .cell_line = lines ? keep(t, t->cell_line, t->cell_count, sizeof *t->cell_line, &status) : NULL};
    return status;
}

/* The world makes the mesh again for each body; here it is asked so that the file is named, and for its skin.
 */
static dls_status check_mesh(dls_elements_text *t, dls_element_file *file) {
    const dls_solid_mesh *mesh = &file->mesh;
    dls_cell_list list = {(dls_cell_form)(mesh->cell - 1),
                          mesh->node_count,
                          mesh->cell_count,
                          mesh->points,
                          mesh->cells,
                          mesh->node_number,
                          mesh->cell_number,
                          mesh->node_line,
                          mesh->cell_line};
    dls_cell_mesh *made = NULL;
    dls_error inner = {.status = DLS_OK};
    dls_status status = dls_cell_mesh_create(&list, &made, &inner);
    t->line = 0;
    if (status == DLS_ERROR_MEMORY) return dls_fail_memory(t->error);
    if (status) return dls_text_refuse(t, "%s", inner.message);
    file->triangle_count = made->face_count;
    file->triangles = keep(t, made->faces, 3 * (int64_t)made->face_count, sizeof(int), &status);
    dls_cell_mesh_destroy(made);
    return status;
}

static void release(dls_elements_text *t) {
    void *blocks[] = {t->X,           t->node_number, t->node_line, t->order, t->cells,
                      t->cell_number, t->cell_line,   t->members,   t->names};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dls_free(blocks[k]);
}

dls_status dls_elements_bytes_read(dls_arena *arena, const char *name, const char *bytes, size_t size,
                                   double scale, dls_element_file *file, dls_error *error) {
    dls_elements_text t = {.file = name, .arena = arena, .error = error};
    dls_status status;
    *file = (dls_element_file){.set_count = 0};
    if (dls_name_ends(name, ".msh"))
        status = dls_gmsh_read(&t, bytes, size);
    else if (dls_name_ends(name, ".vtu"))
        status = dls_vtu_read(&t, bytes, size);
    else
        status = dls_text_refuse(&t, "no kind of mesh of elements that is known, expected .msh or .vtu");
    if (!status) {
        t.line = t.cell_count ? t.line : 0;
        if (!t.cell_count)
            status = dls_text_refuse(&t, "no elements in it, expected tetrahedra or hexahedra%s",
                                     t.skipped || t.member_count ? " beside its surfaces" : "");
    }
    if (!status) status = take_mesh(&t, scale, file);
    if (!status) status = check_mesh(&t, file);
    if (!status) status = take_sets(&t, file);
    release(&t);
    return status;
}

void dls_skin_define(const dls_element_file *file, dls_shape_def *skin) {
    int kind = 0;
    while (!dls_shape_table[kind].made) kind++;
    *skin = dls_default_shape_def((dls_shape_kind)kind);
    skin->at = 0;
    skin->points = file->mesh.points;
    skin->point_count = file->mesh.node_count;
    skin->triangles = file->triangles;
    skin->triangle_count = file->triangle_count;
}

dls_status dls_elements_file_read(dls_reader *reader, const dls_node *node, const char *path, double scale,
                                  dls_element_file *file) {
    const dls_file *found;
    const char *whole = path;
    dls_status status = dls_reader_file(reader, path, &found, &whole);
    if (!status)
        status = dls_elements_bytes_read(reader->arena, whole, found->bytes, found->size, scale, file,
                                         reader->error);
    return status ? dls_read_blame(node, reader->error) : DLS_OK;
}
