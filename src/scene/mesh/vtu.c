/* VTK's vtu files: one piece, arrays as text, in base64 beside their tags, or behind all tags, raw or in
 * base64. Arrays are not compressed: the library has no zlib.
 *
 *     VTKFile > UnstructuredGrid > Piece > Points, Cells (connectivity, offsets, types), CellData > DataArray
 *     AppendedData: behind its `_`, from `offset` on; bytes of an array stand behind their count */
#include "scene/mesh/mesh.h"

#include "base/error.h"
#include "base/memory.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 80 };

typedef enum vtu_array { POINTS, CONNECTIVITY, OFFSETS, TYPES, GROUPS, ARRAYS } vtu_array;

/* Where an array of numbers stands. */
typedef struct vtu_data {
    bool found;
    char type[ROOM], format[ROOM];
    int line;
    const char *at, *end; /* between its tags */
    int64_t offset;
    /* as numbers, once they are read */
    int64_t count;
    double *values;
} vtu_data;

typedef struct vtu {
    dls_elements_text *t;
    const char *at, *end;
    int line;
    int pieces;
    int64_t points, cells; /* that the piece says it has */
    bool wide;             /* counts of bytes have 8 */
    bool raw;              /* what is appended */
    const char *appended;  /* NULL: nothing */
    vtu_data arrays[ARRAYS];
} vtu;

static const struct {
    const char *name; /* NULL: any, the one of its parent */
    const char *parent;
    int components;
} places[ARRAYS] = {[POINTS] = {NULL, "Points", 3},
                    [CONNECTIVITY] = {"connectivity", "Cells", 1},
                    [OFFSETS] = {"offsets", "Cells", 1},
                    [TYPES] = {"types", "Cells", 1},
                    [GROUPS] = {"gmsh:physical", "CellData", 1}};

static const char *name_of(vtu_array array) { return places[array].name ? places[array].name : "Points"; }

/* ---- tags ---- */

typedef struct vtu_tag {
    const char *name, *end; /* behind '<' and before '>' */
    size_t length;          /* of the name */
    bool closes, empty;     /* "</Name>", "<Name/>" */
} vtu_tag;

/* The next tag; comments, declarations and what stands between tags are passed. False at the end. */
static dls_status next_tag(vtu *v, vtu_tag *tag, bool *found) {
    *found = false;
    for (;;) {
        for (; v->at < v->end && *v->at != '<'; v->at++) v->line += *v->at == '\n';
        v->t->line = v->line;
        if (v->at == v->end) return DLS_OK;
        const char *close = memchr(v->at, '>', (size_t)(v->end - v->at));
        if (!close) return dls_text_refuse(v->t, "cut off within a tag, expected '>'");
        bool passed = v->at[1] == '?' || v->at[1] == '!';
        tag->closes = v->at[1] == '/';
        tag->name = v->at + 1 + tag->closes;
        tag->end = close;
        tag->empty = close[-1] == '/';
        tag->length = strcspn(tag->name, " \t\r\n/>");
        for (const char *k = v->at; k < close; k++) v->line += *k == '\n';
        v->at = close + 1;
        if (passed) continue;
        *found = true;
        return DLS_OK;
    }
}

static bool tag_is(const vtu_tag *tag, const char *name) {
    return tag->length == strlen(name) && !memcmp(tag->name, name, tag->length);
}

/* The value of an attribute, "" where there is none, cut to its room. */
static void attribute(const vtu_tag *tag, const char *key, char value[ROOM]) {
    size_t length = strlen(key);
    value[0] = 0;
    for (const char *at = tag->name + tag->length; at + length + 2 < tag->end; at++) {
        if ((at[-1] > ' ' && at[-1] != '"' && at[-1] != '\'') || memcmp(at, key, length) != 0) continue;
        const char *sign = at + length;
        while (sign < tag->end && *sign <= ' ' && *sign) sign++;
        if (*sign != '=') continue;
        for (sign++; sign < tag->end && *sign <= ' ' && *sign;) sign++;
        char quote = *sign;
        if (quote != '"' && quote != '\'') continue;
        for (size_t k = 0; k + 1 < ROOM && ++sign<tag->end && * sign != quote && * sign> 31; k++)
            value[k] = *sign, value[k + 1] = 0;
        return;
    }
}

static dls_status whole_attribute(vtu *v, const vtu_tag *tag, const char *key, int64_t *value) {
    char text[ROOM], *stop;
    attribute(tag, key, text);
    *value = strtoll(text, &stop, 10);
    if (stop != text && !*stop && *value >= 0) return DLS_OK;
    return dls_text_refuse(v->t, "%s is '%.40s', expected a whole number", key, text);
}

/* ---- structure ---- */

static dls_status take_head(vtu *v, const vtu_tag *tag) {
    char text[ROOM];
    attribute(tag, "type", text);
    if (strcmp(text, "UnstructuredGrid") != 0)
        return dls_text_refuse(v->t, "a VTKFile of type '%.40s', expected UnstructuredGrid", text);
    attribute(tag, "compressor", text);
    if (*text)
        return dls_text_refuse(v->t, "compressed by %.40s, expected a file written without compression",
                               text);
    attribute(tag, "byte_order", text);
    if (*text && strcmp(text, "LittleEndian") != 0)
        return dls_text_refuse(v->t, "byte_order is '%.40s', expected LittleEndian", text);
    attribute(tag, "header_type", text);
    v->wide = !strcmp(text, "UInt64");
    if (*text && !v->wide && strcmp(text, "UInt32") != 0)
        return dls_text_refuse(v->t, "header_type is '%.40s', expected UInt32 or UInt64", text);
    return DLS_OK;
}

static dls_status take_array(vtu *v, const vtu_tag *tag, const char *parent) {
    char name[ROOM], text[ROOM];
    int array = 0;
    dls_status status = DLS_OK;
    attribute(tag, "Name", name);
    for (; array < ARRAYS; array++)
        if (!strcmp(places[array].parent, parent) &&
            (!places[array].name || !strcmp(places[array].name, name)))
            break;
    if (array == ARRAYS) return DLS_OK;
    vtu_data *data = &v->arrays[array];
    if (data->found)
        return dls_text_refuse(v->t, "%s for the second time, expected one", name_of((vtu_array)array));
    data->found = true;
    data->line = v->line;
    attribute(tag, "type", data->type);
    attribute(tag, "format", data->format);
    if (!*data->format) snprintf(data->format, ROOM, "ascii");
    attribute(tag, "NumberOfComponents", text);
    if (*text && strtol(text, NULL, 10) != places[array].components)
        return dls_text_refuse(v->t, "%s has %.20s components, expected %d", name_of((vtu_array)array), text,
                               places[array].components);
    if (!strcmp(data->format, "appended")) status = whole_attribute(v, tag, "offset", &data->offset);
    const char *close = memchr(v->at, '<', (size_t)(v->end - v->at));
    data->at = v->at;
    data->end = tag->empty ? v->at : close ? close : v->end;
    return status;
}

static dls_status take_appended(vtu *v, const vtu_tag *tag) {
    char text[ROOM];
    attribute(tag, "encoding", text);
    v->raw = !strcmp(text, "raw");
    if (!v->raw && strcmp(text, "base64") != 0)
        return dls_text_refuse(v->t, "encoding is '%.40s', expected raw or base64", text);
    while (v->at < v->end && *v->at != '_') v->at++;
    if (v->at == v->end) return dls_text_refuse(v->t, "cut off in AppendedData, expected '_'");
    v->appended = v->at + 1;
    v->at = v->end; /* what follows are bytes */
    return DLS_OK;
}

/* All tags; parent: the last of those that hold arrays. */
static dls_status walk(vtu *v) {
    const char *parent = "";
    bool found = true, headed = false, closed = false;
    vtu_tag tag;
    dls_status status = DLS_OK;
    while (!status) {
        status = next_tag(v, &tag, &found);
        if (status || !found) break;
        closed |= tag.closes && tag_is(&tag, "VTKFile");
        static const char *const holders[] = {"Points", "Cells", "CellData", "PointData", "FieldData"};
        for (size_t k = 0; k < sizeof holders / sizeof *holders; k++)
            if (tag_is(&tag, holders[k])) parent = tag.closes ? "" : holders[k];
        if (tag.closes) continue;
        if (tag_is(&tag, "VTKFile")) {
            headed = true;
            status = take_head(v, &tag);
        } else if (!headed) {
            return dls_text_refuse(v->t, "no VTKFile, expected an XML file of VTK");
        } else if (tag_is(&tag, "Piece")) {
            if (v->pieces++) return dls_text_refuse(v->t, "a second piece, expected one");
            status = whole_attribute(v, &tag, "NumberOfPoints", &v->points);
            if (!status) status = whole_attribute(v, &tag, "NumberOfCells", &v->cells);
        } else if (tag_is(&tag, "DataArray")) {
            status = take_array(v, &tag, parent);
        } else if (tag_is(&tag, "AppendedData")) {
            status = take_appended(v, &tag);
        }
    }
    v->t->line = 0;
    if (!status && !headed) return dls_text_refuse(v->t, "no VTKFile, expected an XML file of VTK");
    if (!status && !closed && !v->appended)
        return dls_text_refuse(v->t, "cut off, expected </VTKFile> at its end");
    return status;
}

/* ---- numbers ---- */

static int digit_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Bytes of base64 until so many are there; returns how many there are. Where a count is padded by itself, its
 * '=' ends a group and the next one begins. */
static size_t decode(const char *at, const char *end, unsigned char *to, size_t size) {
    size_t made = 0;
    unsigned group = 0;
    for (int held = 0; at < end && made < size; at++) {
        int digit = digit_of(*at);
        if (*at == '=') {
            group = 0, held = 0;
            continue;
        }
        if (digit < 0 && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) continue;
        if (digit < 0) break;
        group = group << 6 | (unsigned)digit;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        to[made++] = (unsigned char)(group >> held & 255);
    }
    return made;
}

static dls_status cut_array(vtu *v, vtu_array array) {
    v->t->line = v->arrays[array].line;
    return dls_text_refuse(v->t, "%s is cut off: fewer numbers than the piece says", name_of(array));
}

/* The array's own bytes, behind their count; the caller frees them. */
static dls_status take_bytes(vtu *v, vtu_array array, size_t wanted, unsigned char **bytes) {
    vtu_data *data = &v->arrays[array];
    size_t head = v->wide ? 8 : 4;
    bool appended = !strcmp(data->format, "appended"), raw = appended && v->raw;
    const char *at = appended ? v->appended : data->at, *end = appended ? v->end : data->end;
    v->t->line = data->line;
    if (!at || (appended && data->offset > end - at)) return cut_array(v, array);
    if (appended) at += data->offset;
    /* four letters hold three bytes */
    if (wanted > (size_t)(end - at) || (!raw && (wanted + head) / 3 * 4 > (size_t)(end - at)))
        return cut_array(v, array);
    *bytes = DLS_NEW(unsigned char, wanted + head);
    if (!*bytes) return dls_fail_memory(v->t->error);
    size_t there = raw ? (size_t)(end - at) : decode(at, end, *bytes, wanted + head);
    if (raw && there >= wanted + head) memcpy(*bytes, at, wanted + head);
    if (there < wanted + head) return cut_array(v, array);
    uint64_t told = 0;
    memcpy(&told, *bytes, head);
    if (told == wanted) return DLS_OK;
    return dls_text_refuse(v->t, "%s has %llu bytes, expected %zu", name_of(array), (unsigned long long)told,
                           wanted);
}

typedef struct number_type {
    const char *name;
    size_t size;
    bool real, positive;
} number_type;

static const number_type *type_of(const vtu_data *data) {
    static const number_type types[] = {{"Float32", 4, true, false}, {"Float64", 8, true, false},
                                        {"Int8", 1, false, false},   {"UInt8", 1, false, true},
                                        {"Int16", 2, false, false},  {"UInt16", 2, false, true},
                                        {"Int32", 4, false, false},  {"UInt32", 4, false, true},
                                        {"Int64", 8, false, false},  {"UInt64", 8, false, true}};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (!strcmp(types[k].name, data->type)) return &types[k];
    return NULL;
}

/* Whole numbers up to 2⁵³ are exact. */
static double value_of(const number_type *type, const unsigned char *at) {
    uint64_t bits = 0;
    if (type->real && type->size == 4) {
        float single;
        memcpy(&single, at, sizeof single);
        return (double)single;
    }
    if (type->real) {
        double real;
        memcpy(&real, at, sizeof real);
        return real;
    }
    memcpy(&bits, at, type->size);
    uint64_t sign = (uint64_t)1 << (8 * type->size - 1);
    if (type->positive || !(bits & sign)) return (double)bits;
    return -(double)(sign - (bits & (sign - 1)));
}

static dls_status read_text(vtu *v, vtu_array array, int64_t count) {
    vtu_data *data = &v->arrays[array];
    const char *at = data->at;
    int line = data->line;
    for (int64_t k = 0; k < count; k++) {
        char *stop;
        for (; at < data->end && *at <= ' ' && *at; at++) line += *at == '\n';
        v->t->line = line;
        if (at >= data->end) return cut_array(v, array);
        data->values[k] = strtod(at, &stop);
        if (stop == at || stop > data->end)
            return dls_text_refuse(v->t, "a number in %s cannot be read", name_of(array));
        at = stop;
    }
    for (; at < data->end && *at <= ' ' && *at;) at++;
    if (at < data->end)
        return dls_text_refuse(v->t, "%s has more numbers than the piece says", name_of(array));
    return DLS_OK;
}

static dls_status read_array(vtu *v, vtu_array array, int64_t count) {
    vtu_data *data = &v->arrays[array];
    const number_type *type = type_of(data);
    bool text = !strcmp(data->format, "ascii");
    unsigned char *bytes = NULL;
    v->t->line = data->found ? data->line : 0;
    if (!data->found) return dls_text_refuse(v->t, "no array %s in %s", name_of(array), places[array].parent);
    if (!type || (type->real && array != POINTS))
        return dls_text_refuse(v->t, "%s are of type '%.40s', expected %s", name_of(array), data->type,
                               array == POINTS ? "Float32 or Float64" : "whole numbers");
    if (!text && strcmp(data->format, "binary") != 0 && strcmp(data->format, "appended") != 0)
        return dls_text_refuse(v->t, "format of %s is '%.40s', expected ascii, binary or appended",
                               name_of(array), data->format);
    /* no number is shorter than a letter and a blank, nor than three quarters of its bytes */
    if (count > (v->end - data->at) / (text ? 2 : 1) + 1) return cut_array(v, array);
    data->values = DLS_NEW(double, count);
    if (!data->values) return dls_fail_memory(v->t->error);
    data->count = count;
    if (text) return read_text(v, array, count);
    dls_status status = take_bytes(v, array, (size_t)count * type->size, &bytes);
    const size_t head = v->wide ? 8 : 4;
    for (int64_t k = 0; k < count && !status; k++)
        data->values[k] = value_of(type, bytes + head + (size_t)k * type->size);
    dls_free(bytes);
    return status;
}

/* ---- the mesh ---- */

static dls_status read_nodes(vtu *v) {
    dls_status status = read_array(v, POINTS, 3 * v->points);
    v->t->line = 0;
    for (int64_t i = 0; i < v->points && !status; i++)
        status = dls_text_add_node(v->t, i, v->arrays[POINTS].values + 3 * i);
    return status ? status : dls_text_nodes_end(v->t);
}

/* Cell i has the nodes from `from` on, up to its offset. */
static dls_status add_cell(vtu *v, int64_t i, int64_t from) {
    const vtu_data *arrays = v->arrays;
    double number = arrays[TYPES].values[i], end = arrays[OFFSETS].values[i];
    int64_t nodes[DLS_MOST_CELL_NODES];
    int group = 0;
    const dls_element_type *type =
        number >= 0 && number < 256 ? dls_element_type_find(DLS_TEXT_VTK, (int)number) : NULL;
    if (!type)
        return dls_text_refuse(v->t,
                               "cell %lld is of type %g, which is not known; expected tetrahedra of 4 or 10 "
                               "nodes (10, 24) or hexahedra (12)",
                               (long long)i, number);
    if (type->dimension == 3 && type->cell == DLS_SOLID_CELL_ANY)
        return dls_text_refuse(v->t, "cell %lld is a %s, expected tetrahedra of 4 or 10 nodes or hexahedra",
                               (long long)i, type->name);
    if (end != (double)(from + type->nodes) || end > (double)arrays[CONNECTIVITY].count)
        return dls_text_refuse(v->t, "cell %lld has nodes up to %g of %lld, expected %d behind %lld",
                               (long long)i, end, (long long)arrays[CONNECTIVITY].count, type->nodes,
                               (long long)from);
    for (int k = 0; k < type->nodes; k++) {
        double node = arrays[CONNECTIVITY].values[from + k];
        nodes[k] = node >= 0 && node <= INT_MAX ? (int64_t)node : -1;
    }
    double of = arrays[GROUPS].found ? arrays[GROUPS].values[i] : 0;
    if (of >= -INT_MAX && of <= INT_MAX) group = (int)of;
    return dls_text_add_cell(v->t, type, i, nodes, 1, &group);
}

static dls_status read_cells(vtu *v) {
    dls_status status = read_array(v, OFFSETS, v->cells);
    if (!status) status = read_array(v, TYPES, v->cells);
    if (!status && v->arrays[GROUPS].found) status = read_array(v, GROUPS, v->cells);
    if (status) return status;
    double last = v->cells ? v->arrays[OFFSETS].values[v->cells - 1] : 0;
    if (!(last >= 0 && last <= (double)DLS_MOST_CELL_NODES * (double)v->cells)) {
        v->t->line = v->arrays[OFFSETS].line;
        return dls_text_refuse(v->t, "offsets end with %g, expected at most %d for each cell", last,
                               DLS_MOST_CELL_NODES);
    }
    status = read_array(v, CONNECTIVITY, (int64_t)last);
    v->t->line = 0;
    for (int64_t i = 0; i < v->cells && !status; i++)
        status = add_cell(v, i, i ? (int64_t)v->arrays[OFFSETS].values[i - 1] : 0);
    return status;
}

dls_status dls_vtu_read(dls_elements_text *t, const char *bytes, size_t size) {
    vtu v = {.t = t, .at = bytes, .end = bytes + size, .line = 1};
    t->format = DLS_TEXT_VTK;
    dls_status status = walk(&v);
    if (!status && !v.pieces) status = dls_text_refuse(t, "no Piece in it, expected one");
    if (!status && (v.points > 4000000 || v.cells > 20000000))
        status = dls_text_refuse(t, "%lld points and %lld cells, expected a smaller mesh",
                                 (long long)v.points, (long long)v.cells);
    if (!status) status = read_nodes(&v);
    if (!status) status = read_cells(&v);
    for (int k = 0; k < ARRAYS; k++) dls_free(v.arrays[k].values);
    return status;
}
