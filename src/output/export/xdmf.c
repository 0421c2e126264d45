/* PATH.xdmf: tells ParaView and others where the arrays of each frame lie in the results file. */
#include "output/export/text.h"
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
static void put_extent(dls_text *out, int64_t rows, int width, int columns) {
    dls_text_print(out, "%" PRId64, rows);
    if (width > 1) dls_text_print(out, " %d", columns);
}

static void put_place(dls_text *out, const char *file, const dls_table_layout *layout) {
    dls_text_print_xml(out, file);
    dls_text_print(out, ":/%s", layout->path);
}

/* Rows start … start + count − 1 of a table, told twice. Readers of XDMF 2 know a slab by its Type, which is
 * the word of XDMF 1, and look at the two items inside; those of XDMF 3 take it for an array whose place is
 * the text before them (start:stride:count:extent behind the bar), because ParaView's cannot open a slab by
 * ItemType. */
static void put_rows(dls_text *out, const char *file, const dls_results_writer *w, int table, int64_t start,
                     int count) {
    const dls_table_layout *layout = &dls_table_layouts[table];
    const dls_cell *cell = &layout->cells[0];
    const char *type = number_type(cell->type);
    int size = number_size(cell->type), width = cell->width;
    int64_t rows[] = {start, 1, count, w->tables[table].rows};
    int columns[] = {0, 1, width, width};
    dls_text_print(out, "<DataItem Type=\"HyperSlab\" Dimensions=\"");
    put_extent(out, count, width, width);
    dls_text_print(out, "\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">", type, size);
    put_place(out, file, layout);
    for (int k = 0; k < 4; k++) {
        dls_text_print(out, k ? ":" : "|");
        put_extent(out, rows[k], width, columns[k]);
    }
    dls_text_print(out, "<DataItem Dimensions=\"3 %d\" Format=\"XML\">", width > 1 ? 2 : 1);
    for (int k = 0; k < 3; k++) {
        if (k) dls_text_print(out, " ");
        put_extent(out, rows[k], width, columns[k]);
    }
    dls_text_print(out, "</DataItem><DataItem Dimensions=\"");
    put_extent(out, rows[3], width, width);
    dls_text_print(out, "\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">", type, size);
    put_place(out, file, layout);
    dls_text_print(out, "</DataItem></DataItem>");
}

/* Readers stumble over grids of nothing: one point at the origin with zeros stands for none. */
static void put_nothing(dls_text *out, int table) {
    const dls_cell *cell = &dls_table_layouts[table].cells[0];
    dls_text_print(out, "<DataItem Dimensions=\"1%s\" NumberType=\"%s\" Precision=\"%d\" Format=\"XML\">",
                   cell->width == 3   ? " 3"
                   : cell->width == 2 ? " 2"
                                      : "",
                   number_type(cell->type), number_size(cell->type));
    for (int k = 0; k < cell->width; k++)
        dls_text_print(out, k ? " %d" : "%d", table == DLS_TABLE_STATES ? -1 : 0);
    dls_text_print(out, "</DataItem>");
}

static void put_array(dls_text *out, const char *file, const dls_results_writer *w, int table, int64_t start,
                      int count) {
    if (count)
        put_rows(out, file, w, table, start, count);
    else
        put_nothing(out, table);
}

static void put_grid(dls_text *out, const char *file, const dls_results_writer *w, const char *name,
                     int points, const xdmf_array *arrays, int array_count, int64_t start, int count) {
    dls_text_print(out,
                   "<Grid Name=\"%s\" GridType=\"Uniform\"><Topology TopologyType=\"Polyvertex\" "
                   "NumberOfElements=\"%d\" NodesPerElement=\"1\">",
                   name, count ? count : 1);
    put_array(out, file, w, DLS_TABLE_INDEX, 0, count);
    dls_text_print(out, "</Topology>\n<Geometry GeometryType=\"XYZ\">");
    put_array(out, file, w, points, start, count);
    dls_text_print(out, "</Geometry>\n");
    for (int k = 0; k < array_count; k++) {
        dls_text_print(out, "<Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">", arrays[k].name,
                       arrays[k].kind);
        put_array(out, file, w, arrays[k].table, start, count);
        dls_text_print(out, "</Attribute>\n");
    }
    dls_text_print(out, "</Grid>\n");
}

static void put_frame(dls_text *out, const char *file, const dls_results_writer *w, const dls_frame_row *f) {
    static const xdmf_array body_arrays[] = {{"body", DLS_TABLE_STATES, "Scalar"},
                                             {"radius", DLS_TABLE_STATES + 1, "Scalar"},
                                             {"velocity", DLS_TABLE_STATES + 4, "Vector"},
                                             {"angular_velocity", DLS_TABLE_STATES + 5, "Vector"}};
    static const xdmf_array contact_arrays[] = {{"impulse", DLS_TABLE_CONTACTS + 11, "Vector"},
                                                {"gap", DLS_TABLE_CONTACTS + 6, "Scalar"}};
    dls_text_print(out,
                   "<Grid Name=\"frame\" GridType=\"Collection\" CollectionType=\"Spatial\"><Time "
                   "Value=\"%.17g\"/>\n",
                   f->time);
    put_grid(out, file, w, "bodies", DLS_TABLE_STATES + 2, body_arrays, 4, f->state_start, f->state_count);
    if (w->def.contacts)
        put_grid(out, file, w, "contacts", DLS_TABLE_CONTACTS + 4, contact_arrays, 2, f->contact_start,
                 f->contact_count);
    dls_text_print(out, "</Grid>\n");
}

dls_status dls_xdmf_write(const dls_results_writer *w, dls_error *error) {
    const char *slash = strrchr(w->path, '/'), *file = slash ? slash + 1 : w->path;
    size_t room = strlen(w->path) + 6;
    char *path = DLS_NEW(char, room);
    if (!path) return dls_fail_memory(error);
    snprintf(path, room, "%s.xdmf", w->path);
    dls_text *out = dls_text_open(path, error);
    dls_free(path);
    if (!out) return error ? error->status : DLS_ERROR_FILE;
    dls_text_print(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Xdmf Version=\"2.0\">\n<Domain>\n"
                        "<Grid Name=\"run\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int k = 0; k < w->frame_count; k++) put_frame(out, file, w, &w->frames[k]);
    dls_text_print(out, "</Grid>\n</Domain>\n</Xdmf>\n");
    return dls_text_close(out);
}
