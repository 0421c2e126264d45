/* PATH.xdmf: tells ParaView and others where the arrays of each frame lie in the results file. */
#include "output/results.h"
#include "output/text.h"

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

/* Rows start … start + count − 1 of a table. */
static void put_rows(dls_text *out, const char *file, const dls_results_writer *w, int table, int64_t start,
                     int count) {
    const dls_table_layout *layout = &dls_table_layouts[table];
    const dls_cell *cell = &layout->cells[0];
    int64_t total = w->tables[table].rows;
    const char *type = number_type(cell->type);
    int size = number_size(cell->type), width = cell->width;
    if (width > 1)
        dls_text_print(out,
                       "<DataItem ItemType=\"HyperSlab\" Dimensions=\"%d %d\"><DataItem Dimensions=\"3 2\" "
                       "Format=\"XML\">%" PRId64 " 0 1 1 %d %d</DataItem><DataItem Dimensions=\"%" PRId64
                       " %d\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">",
                       count, width, start, count, width, total, width, type, size);
    else
        dls_text_print(out,
                       "<DataItem ItemType=\"HyperSlab\" Dimensions=\"%d\"><DataItem Dimensions=\"3 1\" "
                       "Format=\"XML\">%" PRId64 " 1 %d</DataItem><DataItem Dimensions=\"%" PRId64
                       "\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">",
                       count, start, count, total, type, size);
    dls_text_print_xml(out, file);
    dls_text_print(out, ":/%s</DataItem></DataItem>", layout->path);
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
        dls_text_print(out, k ? " %d" : "%d", cell->type == DLS_CELL_INT32 ? -1 : 0);
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
                   "NumberOfElements=\"%d\" NodesPerElement=\"1\"/>\n<Geometry GeometryType=\"XYZ\">",
                   name, count ? count : 1);
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
