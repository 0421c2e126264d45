/* PATH.xdmf: tells ParaView and others where the arrays of each frame lie in the results file. */
#include "output/results/results.h"

#include "base/error.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct xdmf_array {
    const char *name;
    int table;
    const char *kind; /* Scalar or Vector */
} xdmf_array;

static const char *number_type(dls_cell_type type) {
    return type == DLS_CELL_DOUBLE || type == DLS_CELL_FLOAT ? "Float" : "Int";
}

static int number_size(dls_cell_type type) { return type == DLS_CELL_DOUBLE ? 8 : 4; }

/* A number for the rows and, where a row has several columns, one for them. */
static void put_extent(FILE *out, int64_t rows, int width, int columns) {
    fprintf(out, "%" PRId64, rows);
    if (width > 1) fprintf(out, " %d", columns);
}

static void put_place(FILE *out, const char *file, const dls_table_layout *layout) {
    dls_put_xml(out, file);
    fprintf(out, ":/%s", layout->path);
}

/* Rows start … start + count − 1 of a table, told twice. Readers of XDMF 2 know a slab by its Type, which is
 * the word of XDMF 1, and look at the two items inside; those of XDMF 3 take it for an array whose place is
 * the text before them (start:stride:count:extent behind the bar), because ParaView's cannot open a slab by
 * ItemType. */
static void put_rows(FILE *out, const char *file, const dls_results_writer *w, int table, int64_t start,
                     int count) {
    const dls_table_layout *layout = &dls_table_layouts[table];
    const dls_cell *cell = &layout->cells[0];
    const char *type = number_type(cell->type);
    int size = number_size(cell->type), width = cell->width;
    int64_t rows[] = {start, 1, count, w->tables[table].rows};
    int columns[] = {0, 1, width, width};
    fprintf(out, "<DataItem Type=\"HyperSlab\" Dimensions=\"");
    put_extent(out, count, width, width);
    fprintf(out, "\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">", type, size);
    put_place(out, file, layout);
    for (int k = 0; k < 4; k++) {
        fprintf(out, k ? ":" : "|");
        put_extent(out, rows[k], width, columns[k]);
    }
    fprintf(out, "<DataItem Dimensions=\"3 %d\" Format=\"XML\">", width > 1 ? 2 : 1);
    for (int k = 0; k < 3; k++) {
        if (k) fprintf(out, " ");
        put_extent(out, rows[k], width, columns[k]);
    }
    fprintf(out, "</DataItem><DataItem Dimensions=\"");
    put_extent(out, rows[3], width, width);
    fprintf(out, "\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">", type, size);
    put_place(out, file, layout);
    fprintf(out, "</DataItem></DataItem>");
}

/* Readers stumble over grids of nothing: one point at the origin with zeros stands for none. */
static void put_nothing(FILE *out, int table) {
    const dls_cell *cell = &dls_table_layouts[table].cells[0];
    bool is_id = table == DLS_TABLE_STATES || table == DLS_TABLE_REACTIONS || table == DLS_TABLE_NODES;
    fprintf(out, "<DataItem Dimensions=\"1%s\" NumberType=\"%s\" Precision=\"%d\" Format=\"XML\">",
            cell->width == 3   ? " 3"
            : cell->width == 2 ? " 2"
                               : "",
            number_type(cell->type), number_size(cell->type));
    for (int k = 0; k < cell->width; k++) fprintf(out, k ? " %d" : "%d", is_id ? -1 : 0);
    fprintf(out, "</DataItem>");
}

static void put_array(FILE *out, const char *file, const dls_results_writer *w, int table, int64_t start,
                      int count) {
    if (count)
        put_rows(out, file, w, table, start, count);
    else
        put_nothing(out, table);
}

static void put_grid(FILE *out, const char *file, const dls_results_writer *w, const char *name, int points,
                     const xdmf_array *arrays, int array_count, int64_t start, int count) {
    fprintf(out,
            "<Grid Name=\"%s\" GridType=\"Uniform\"><Topology TopologyType=\"Polyvertex\" "
            "NumberOfElements=\"%d\" NodesPerElement=\"1\">",
            name, count ? count : 1);
    put_array(out, file, w, DLS_TABLE_INDEX, 0, count);
    fprintf(out, "</Topology>\n<Geometry GeometryType=\"XYZ\">");
    put_array(out, file, w, points, start, count);
    fprintf(out, "</Geometry>\n");
    for (int k = 0; k < array_count; k++) {
        fprintf(out, "<Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">", arrays[k].name,
                arrays[k].kind);
        put_array(out, file, w, arrays[k].table, start, count);
        fprintf(out, "</Attribute>\n");
    }
    fprintf(out, "</Grid>\n");
}

static void put_frame(FILE *out, const char *file, const dls_results_writer *w, const dls_frame_row *f) {
    static const xdmf_array body_arrays[] = {{"body", DLS_TABLE_STATES, "Scalar"},
                                             {"radius", DLS_TABLE_STATES + 1, "Scalar"},
                                             {"velocity", DLS_TABLE_STATES + 4, "Vector"},
                                             {"angular_velocity", DLS_TABLE_STATES + 5, "Vector"}};
    static const xdmf_array contact_arrays[] = {{"impulse", DLS_TABLE_CONTACTS + 11, "Vector"},
                                                {"gap", DLS_TABLE_CONTACTS + 6, "Scalar"},
                                                {"torque", DLS_TABLE_TURNING + 5, "Vector"}};
    static const xdmf_array joint_arrays[] = {{"joint", DLS_TABLE_REACTIONS, "Scalar"},
                                              {"impulse", DLS_TABLE_REACTIONS + 11, "Vector"},
                                              {"torque", DLS_TABLE_REACTIONS + 12, "Vector"},
                                              {"gap", DLS_TABLE_REACTIONS + 8, "Scalar"}};
    static const xdmf_array node_arrays[] = {{"body", DLS_TABLE_NODES, "Scalar"},
                                             {"velocity", DLS_TABLE_NODES + 3, "Vector"},
                                             {"von_mises", DLS_TABLE_NODES_STRESS, "Scalar"},
                                             {"principal_stress", DLS_TABLE_NODES_PRINCIPAL, "Vector"}};
    fprintf(out,
            "<Grid Name=\"frame\" GridType=\"Collection\" CollectionType=\"Spatial\"><Time "
            "Value=\"%.17g\"/>\n",
            f->time);
    put_grid(out, file, w, "bodies", DLS_TABLE_STATES + 2, body_arrays, 4, f->state_start, f->state_count);
    if (w->def.contacts)
        put_grid(out, file, w, "contacts", DLS_TABLE_CONTACTS + 4, contact_arrays, w->has_turning ? 3 : 2,
                 f->contact_start, f->contact_count);
    if (dls_writer_has_joints(w))
        put_grid(out, file, w, "joints", DLS_TABLE_REACTIONS + 2, joint_arrays, 4, f->reaction_start,
                 f->reaction_count);
    if (w->tables[DLS_TABLE_NODES].rows)
        put_grid(out, file, w, "nodes", DLS_TABLE_NODES + 2, node_arrays, 4, f->node_start, f->node_count);
    fprintf(out, "</Grid>\n");
}

dls_status dls_xdmf_write(const dls_results_writer *w, dls_error *error) {
    const char *slash = strrchr(w->path, '/'), *file = slash ? slash + 1 : w->path;
    size_t room = strlen(w->path) + 6;
    char *path = DLS_NEW(char, room);
    if (!path) return dls_fail_memory(error);
    snprintf(path, room, "%s.xdmf", w->path);
    dls_aside *aside;
    dls_status status = dls_aside_open(path, &aside, error);
    dls_free(path);
    if (status) return status;
    FILE *out = dls_aside_stream(aside);
    fprintf(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Xdmf Version=\"2.0\">\n<Domain>\n"
                 "<Grid Name=\"run\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int k = 0; k < w->frame_count; k++) put_frame(out, file, w, &w->frames[k]);
    fprintf(out, "</Grid>\n</Domain>\n</Xdmf>\n");
    return dls_aside_commit(aside, false, error);
}
