/* Meshes of elements: what is told is checked, and the skin found. */
#include "world/solid/elements/mesh.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/solid/elements/basis.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const dls_cell_kind dls_cell_kinds[DLS_CELL_FORMS] = {
    [DLS_CELL_TET4] = {"tet4", 4, 4, 3, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}, 3},
    [DLS_CELL_TET10] = {"tet10",
                        10,
                        4,
                        3,
                        {{0, 2, 1, 6, 5, 4}, {0, 1, 3, 4, 8, 7}, {1, 2, 3, 5, 9, 8}, {0, 3, 2, 7, 9, 6}},
                        6},
    [DLS_CELL_HEX8] = {"hex8",
                       8,
                       6,
                       4,
                       {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}},
                       4},
};

/* ---- checks ---- */

/* What messages call a node or a cell: "element 12 (line 40)". */
typedef struct part_name {
    char text[64];
} part_name;

static part_name name_part(const char *noun, const int *numbers, const int *lines, int k) {
    part_name name;
    int length = snprintf(name.text, sizeof name.text, "%s %d", noun, numbers ? numbers[k] : k + 1);
    if (lines) snprintf(name.text + length, sizeof name.text - (size_t)length, " (line %d)", lines[k]);
    return name;
}
static part_name node_name(const dls_cell_list *list, int k) {
    return name_part("node", list->node_number, list->node_line, k);
}
static part_name cell_name(const dls_cell_list *list, int k) {
    return name_part("element", list->cell_number, list->cell_line, k);
}

static dls_status check_counts(const dls_cell_list *list, dls_error *error) {
    if (list->cell_count < 1 || list->cell_count > DLS_MOST_CELLS)
        return dls_fail(error, DLS_ERROR_INPUT, "a mesh has %d elements, expected 1 to %d", list->cell_count,
                        DLS_MOST_CELLS);
    if (list->node_count < 4 || list->node_count > DLS_MOST_CELLS * 2)
        return dls_fail(error, DLS_ERROR_INPUT, "a mesh has %d nodes, expected 4 to %d", list->node_count,
                        DLS_MOST_CELLS * 2);
    for (int i = 0; i < 3 * list->node_count; i++)
        if (!(fabs(list->X[i]) < 1e30))
            return dls_fail(error, DLS_ERROR_INPUT, "%s has a coordinate %g, expected finite numbers",
                            node_name(list, i / 3).text, list->X[i]);
    return DLS_OK;
}

/* Nodes of every cell are there and differ; every node is some cell's. */
static dls_status check_nodes(const dls_cell_list *list, bool *used, dls_error *error) {
    int nodes = dls_cell_kinds[list->form].nodes;
    for (int c = 0; c < list->cell_count; c++)
        for (int i = 0; i < nodes; i++) {
            const int *cell = list->cells + (long)nodes * c;
            if (cell[i] < 0 || cell[i] >= list->node_count)
                return dls_fail(error, DLS_ERROR_INPUT, "%s has node %d, expected 1 to %d",
                                cell_name(list, c).text, cell[i] + 1, list->node_count);
            for (int k = 0; k < i; k++)
                if (cell[k] == cell[i])
                    return dls_fail(error, DLS_ERROR_INPUT, "%s has %s twice, expected %d nodes that differ",
                                    cell_name(list, c).text, node_name(list, cell[i]).text, nodes);
            used[cell[i]] = true;
        }
    for (int i = 0; i < list->node_count; i++)
        if (!used[i])
            return dls_fail(error, DLS_ERROR_INPUT, "%s belongs to no element, expected none that dangles",
                            node_name(list, i).text);
    return DLS_OK;
}

/* det ∂X/∂ξ against the cell's own size cubed, wherever energies are summed, and at corners of hexahedra. */
static dls_status check_volumes(const dls_cell_list *list, dls_error *error) {
    const dls_cell_kind *kind = &dls_cell_kinds[list->form];
    for (int c = 0; c < list->cell_count; c++) {
        double X[3 * DLS_CELL_NODES], size = 0;
        for (int i = 0; i < kind->nodes; i++)
            vec_copy(X + 3 * i, list->X + 3 * (long)list->cells[(long)kind->nodes * c + i]);
        for (int i = 1; i < kind->nodes; i++) size = fmax(size, vec_distance(X, X + 3 * i));
        double least = dls_basis_least_volume(list->form, X);
        if (!(least > 1e-9 * size * size * size))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "%s %s: its least det dX/dxi is %g m³, expected one above 0",
                            cell_name(list, c).text, least < 0 ? "is inverted" : "has no volume", least);
    }
    return DLS_OK;
}

/* The first of the nodes that hang together with this one, on shorter ways each time. */
static int first_of(int *leader, int i) {
    while (leader[i] != i) i = leader[i] = leader[leader[i]];
    return i;
}

/* Parts of a mesh that share no node would move as one by their mean, and never touch each other. */
static dls_status check_whole(const dls_cell_list *list, dls_error *error) {
    int nodes = dls_cell_kinds[list->form].nodes, *leader = DLS_NEW(int, list->node_count);
    dls_status status = DLS_OK;
    if (!leader) return dls_fail_memory(error);
    for (int i = 0; i < list->node_count; i++) leader[i] = i;
    for (int64_t k = 0; k < (int64_t)nodes * list->cell_count; k++) {
        int a = first_of(leader, list->cells[k / nodes * nodes]), b = first_of(leader, list->cells[k]);
        leader[a > b ? a : b] = a > b ? b : a;
    }
    for (int c = 0; c < list->cell_count && !status; c++)
        if (first_of(leader, list->cells[(int64_t)nodes * c]) != first_of(leader, list->cells[0]))
            status =
                dls_fail(error, DLS_ERROR_INPUT,
                         "%s hangs together with %s by no nodes, expected one piece: a body for each, or "
                         "nodes at one place that are one",
                         cell_name(list, c).text, cell_name(list, 0).text);
    dls_free(leader);
    return status;
}

/* ---- skin ---- */

/* A face by its corners, ascending, and where it comes from. */
typedef struct mesh_face {
    int key[4], cell, face;
} mesh_face;

static int compare_faces(const void *a, const void *b) {
    const mesh_face *x = a, *y = b;
    for (int k = 0; k < 4; k++)
        if (x->key[k] != y->key[k]) return x->key[k] < y->key[k] ? -1 : 1;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return x->face - y->face;
}

static int compare_origins(const void *a, const void *b) {
    const mesh_face *x = a, *y = b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return x->face - y->face;
}

static void sort_key(int *key, int count) {
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && key[k] < key[k - 1]; k--) {
            int other = key[k];
            key[k] = key[k - 1], key[k - 1] = other;
        }
}

static void list_faces(const dls_cell_mesh *mesh, mesh_face *faces) {
    const dls_cell_kind *kind = &dls_cell_kinds[mesh->form];
    for (int c = 0; c < mesh->cell_count; c++)
        for (int f = 0; f < kind->faces; f++) {
            mesh_face *face = &faces[(long)c * kind->faces + f];
            *face = (mesh_face){.key = {0, 0, 0, INT_MAX}, .cell = c, .face = f};
            for (int k = 0; k < kind->sides; k++)
                face->key[k] = mesh->cells[(long)kind->nodes * c + kind->face[f][k]];
            sort_key(face->key, kind->sides);
        }
}

/* Keeps faces that only one cell has, in the order of cells; −1 − cell where three have one. */
static int keep_outer(mesh_face *faces, int count) {
    int kept = 0;
    qsort(faces, (size_t)count, sizeof *faces, compare_faces);
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && !memcmp(faces[i].key, faces[end].key, sizeof faces[i].key);) end++;
        if (end - i > 2) return -1 - faces[end - 1].cell;
        if (end - i == 1) faces[kept++] = faces[i];
    }
    qsort(faces, (size_t)kept, sizeof *faces, compare_origins);
    return kept;
}

/* Triangles of a face: itself; four with mid-side nodes; two from the corner with the least number. */
static int cut_face(const dls_cell_kind *kind, const int *cell, int f, int t[4][3]) {
    static const int quarter[4][3] = {{0, 3, 5}, {1, 4, 3}, {2, 5, 4}, {3, 4, 5}};
    const int *face = kind->face[f];
    if (kind->face_nodes == 6) {
        for (int k = 0; k < 12; k++) t[k / 3][k % 3] = cell[face[quarter[k / 3][k % 3]]];
        return 4;
    }
    int least = 0;
    for (int k = 1; k < kind->sides; k++)
        if (cell[face[k]] < cell[face[least]]) least = k;
    for (int k = 0; k < kind->sides - 2; k++) {
        t[k][0] = cell[face[least]];
        t[k][1] = cell[face[(least + k + 1) % kind->sides]];
        t[k][2] = cell[face[(least + k + 2) % kind->sides]];
    }
    return kind->sides - 2;
}

typedef struct half_edge {
    int low, high, face, forward; /* from low to high */
} half_edge;

static int compare_halves(const void *a, const void *b) {
    const half_edge *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    if (x->forward != y->forward) return y->forward - x->forward;
    return x->face < y->face ? -1 : x->face > y->face;
}

/* Each edge has one triangle that runs along it and one that runs against it. */
static dls_status join_edges(const dls_cell_list *list, dls_cell_mesh *mesh, half_edge *halves,
                             dls_error *error) {
    int count = 3 * mesh->face_count;
    for (int k = 0; k < count; k++) {
        int a = mesh->faces[k], b = mesh->faces[k % 3 == 2 ? k - 2 : k + 1];
        halves[k] = (half_edge){a < b ? a : b, a < b ? b : a, k / 3, a < b};
    }
    qsort(halves, (size_t)count, sizeof *halves, compare_halves);
    for (int i = 0; i < count; i += 2) {
        const half_edge *one = &halves[i], *two = one + 1;
        bool joined = i + 1 < count && one->low == two->low && one->high == two->high && one->forward &&
                      !two->forward && (i + 2 >= count || two->low != two[1].low || two->high != two[1].high);
        if (!joined)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "the surface is open or branches between %s and %s of %s, expected two triangles "
                            "at every edge",
                            node_name(list, one->low).text, node_name(list, one->high).text,
                            cell_name(list, mesh->face_cell[one->face]).text);
        mesh->edges[mesh->edge_count++] = (dls_skin_edge){{one->low, one->high}, {one->face, two->face}};
    }
    return DLS_OK;
}

static bool take_skin(dls_cell_mesh *mesh, const mesh_face *faces, int count) {
    const dls_cell_kind *kind = &dls_cell_kinds[mesh->form];
    int most = count * (kind->face_nodes == 6 ? 4 : kind->sides - 2);
    mesh->faces = DLS_NEW(int, 3 * (long)most);
    mesh->face_cell = DLS_NEW(int, most);
    mesh->edges = DLS_NEW(dls_skin_edge, 3 * (long)most / 2 + 1);
    if (!mesh->faces || !mesh->face_cell || !mesh->edges) return false;
    for (int i = 0; i < count; i++) {
        int t[4][3],
            triangles = cut_face(kind, mesh->cells + (long)kind->nodes * faces[i].cell, faces[i].face, t);
        for (int k = 0; k < triangles; k++) {
            memcpy(mesh->faces + 3 * (long)mesh->face_count, t[k], sizeof t[k]);
            mesh->face_cell[mesh->face_count++] = faces[i].cell;
        }
    }
    return true;
}

static dls_status find_skin(const dls_cell_list *list, dls_cell_mesh *mesh, dls_error *error) {
    int count = mesh->cell_count * dls_cell_kinds[mesh->form].faces;
    mesh_face *faces = DLS_NEW(mesh_face, count);
    half_edge *halves = NULL;
    dls_status status = DLS_OK;
    if (!faces) return dls_fail_memory(error);
    list_faces(mesh, faces);
    int kept = keep_outer(faces, count);
    if (kept < 0)
        status = dls_fail(error, DLS_ERROR_INPUT, "%s shares a face with two others, expected one at most",
                          cell_name(list, -1 - kept).text);
    else if (!take_skin(mesh, faces, kept) || !(halves = DLS_NEW(half_edge, 3 * (long)mesh->face_count)))
        status = dls_fail_memory(error);
    else
        status = join_edges(list, mesh, halves, error);
    dls_free(halves);
    dls_free(faces);
    return status;
}

/* ---- making ---- */

dls_status dls_cell_mesh_create(const dls_cell_list *list, dls_cell_mesh **out, dls_error *error) {
    dls_status status = check_counts(list, error);
    if (status) return status;
    bool *used = DLS_NEW_ZERO(bool, list->node_count);
    if (!used) return dls_fail_memory(error);
    status = check_nodes(list, used, error);
    dls_free(used);
    if (!status) status = check_volumes(list, error);
    if (!status) status = check_whole(list, error);
    if (status) return status;
    dls_cell_mesh *mesh = DLS_NEW_ZERO(dls_cell_mesh, 1);
    if (!mesh) return dls_fail_memory(error);
    mesh->form = list->form;
    mesh->node_count = list->node_count;
    mesh->cell_count = list->cell_count;
    mesh->X = dls_alloc_copy(list->X, 3 * (size_t)list->node_count, sizeof(double));
    mesh->cells = dls_alloc_copy(
        list->cells, (size_t)dls_cell_kinds[list->form].nodes * (size_t)list->cell_count, sizeof(int));
    status = mesh->X && mesh->cells ? find_skin(list, mesh, error) : dls_fail_memory(error);
    if (status)
        dls_cell_mesh_destroy(mesh);
    else
        *out = mesh;
    return status;
}

void dls_cell_mesh_destroy(dls_cell_mesh *mesh) {
    if (!mesh) return;
    dls_free(mesh->X);
    dls_free(mesh->cells);
    dls_free(mesh->sides);
    dls_free(mesh->faces);
    dls_free(mesh->face_cell);
    dls_free(mesh->edges);
    dls_free(mesh);
}
