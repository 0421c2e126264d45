/* Meshes from files: triangles of OBJ and STL, elements of Gmsh's msh and VTK's vtu. Files come from
 * anywhere: a count is believed only as far as the bytes that are there can hold it, and every number is
 * checked before it is used. */
#ifndef SCENE_MESH_MESH_H
#define SCENE_MESH_MESH_H

#include "scene/read.h"

#include <delassus/solid.h>

/* ".msh", whatever the case of the name's letters. */
bool dls_name_ends(const char *name, const char *ending);
/* Its bytes, with a zero behind them, and its name on the disk. */
dls_status dls_reader_file(dls_reader *reader, const char *path, const dls_file **file, const char **whole);

/* ---- elements ---- */

/* Nodes that have a name, ascending. */
typedef struct dls_node_set {
    const char *name;
    int count;
    const int *nodes;
} dls_node_set;

/* A mesh of elements with names, and the triangles of its skin. */
typedef struct dls_element_file {
    dls_solid_mesh mesh;
    int set_count, triangle_count;
    const dls_node_set *sets;
    const int *triangles;
} dls_element_file;

/* From bytes, which a zero ends that size does not count; lengths times scale; name is for messages. All lies
 * in the arena. */
dls_status dls_elements_bytes_read(dls_arena *arena, const char *name, const char *bytes, size_t size,
                                   double scale, dls_element_file *file, dls_error *error);
/* The skin of the mesh, by all its nodes: the kind of shape that solids make. */
void dls_skin_define(const dls_element_file *file, dls_shape_def *skin);
dls_status dls_elements_file_read(dls_reader *reader, const dls_node *node, const char *path, double scale,
                                  dls_element_file *file);

/* ---- what readers of elements fill ---- */

typedef enum dls_text_format { DLS_TEXT_GMSH, DLS_TEXT_VTK } dls_text_format;

/* One kind of cell as a format numbers it. */
typedef struct dls_element_type {
    int number, nodes;
    const char *name;
    int dimension;       /* those of 3 are elements, others name places */
    dls_solid_cell cell; /* DLS_SOLID_CELL_ANY: none of ours */
} dls_element_type;

const dls_element_type *dls_element_type_find(dls_text_format format, int number); /* NULL: not known */

/* A name of a physical group; those without are called by their number. */
typedef struct dls_group_name {
    int dimension, number;
    const char *name; /* in the arena */
} dls_group_name;

/* A node that belongs to a physical group. */
typedef struct dls_member {
    int dimension, group, node;
} dls_member;

typedef struct dls_elements_text {
    const char *file;
    dls_arena *arena;
    dls_error *error;
    dls_text_format format;
    int line;                      /* where the reader stands; 0: in bytes that have none */
    int64_t node_count, node_room; /* of what follows */
    double *X;
    int64_t X_room;
    int *node_number, *node_line;
    int64_t number_room, line_room;
    bool ascending;               /* nodes by their numbers */
    int *order;                   /* of nodes by their numbers, made by dls_text_nodes_end */
    const dls_element_type *type; /* of all elements; NULL: none yet */
    int64_t cell_count, cells_room, cell_number_room, cell_line_room;
    int *cells, *cell_number, *cell_line;
    int64_t member_count, member_room;
    dls_member *members;
    int64_t name_count, name_room;
    dls_group_name *names;
    int64_t skipped; /* cells of lower dimension that name nothing */
} dls_elements_text;

/* A line with the file and where the reader stands. */
dls_status dls_text_refuse(const dls_elements_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
dls_status dls_text_add_node(dls_elements_text *t, int64_t number, const double *X);
/* All are there: numbers become places. */
dls_status dls_text_nodes_end(dls_elements_text *t);
/* A cell by the numbers of its nodes, which become places in the order of VTK where it is an element. groups:
 * physical groups that it belongs to, those of 0 are none. */
dls_status dls_text_add_cell(dls_elements_text *t, const dls_element_type *type, int64_t number,
                             const int64_t *nodes, int group_count, const int *groups);
dls_status dls_text_add_name(dls_elements_text *t, int dimension, int number, const char *name,
                             size_t length);

enum { DLS_MOST_CELL_NODES = 27 };

dls_status dls_gmsh_read(dls_elements_text *t, const char *bytes, size_t size);
dls_status dls_vtu_read(dls_elements_text *t, const char *bytes, size_t size);

#endif
