#include "output/results/table.h"

#include "base/memory.h"
#include "world/world.h"

#include <delassus/joint.h>
#include <delassus/solve.h>
#include <delassus/world.h>

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NEWEST = INT_MAX }; /* format version that has all columns */

/* ---- types ---- */

static const char *motion_name(int value) { return dls_motion_name((dls_motion)value); }
static const char *kind_name(int value) { return dls_shape_kind_name((dls_shape_kind)value); }
static const char *outcome_name(int value) { return dls_outcome_name((dls_outcome)value); }
static const char *reason_name(int value) { return dls_reason_name((dls_reason)value); }
static const char *joint_name(int value) { return dls_joint_kind_name((dls_joint_kind)value); }
static const char *bool_name(int value) { return value ? "TRUE" : "FALSE"; } /* as h5py has it */

/* Numbers that a file keeps by name. */
typedef struct named_type {
    dls_cell_type type;
    int count;
    const char *(*name)(int value);
} named_type;

static const named_type named_types[] = {{DLS_CELL_BOOL, 2, bool_name},
                                         {DLS_CELL_MOTION, DLS_MOTIONS, motion_name},
                                         {DLS_CELL_KIND, DLS_SHAPE_KINDS, kind_name},
                                         {DLS_CELL_OUTCOME, DLS_CANCELLED + 1, outcome_name},
                                         {DLS_CELL_REASON, DLS_REASONS, reason_name},
                                         {DLS_CELL_JOINT, DLS_JOINT_KINDS, joint_name}};

static hid_t make_named(const named_type *named) {
    bool is_byte = named->type == DLS_CELL_BOOL;
    hid_t type = H5Tenum_create(is_byte ? H5T_NATIVE_INT8 : H5T_NATIVE_INT);
    for (int value = 0; type >= 0 && value < named->count; value++) {
        int8_t byte = (int8_t)value;
        H5Tenum_insert(type, named->name(value), is_byte ? (const void *)&byte : (const void *)&value);
    }
    return type;
}

/* Of one number in memory; to be closed. */
static hid_t make_type(dls_cell_type type, size_t text_size) {
    const hid_t numbers[] = {[DLS_CELL_INT16] = H5T_NATIVE_INT16,   [DLS_CELL_INT32] = H5T_NATIVE_INT32,
                             [DLS_CELL_UINT32] = H5T_NATIVE_UINT32, [DLS_CELL_INT64] = H5T_NATIVE_INT64,
                             [DLS_CELL_UINT64] = H5T_NATIVE_UINT64, [DLS_CELL_FLOAT] = H5T_NATIVE_FLOAT,
                             [DLS_CELL_DOUBLE] = H5T_NATIVE_DOUBLE};
    if (type < DLS_CELL_BOOL) return H5Tcopy(numbers[type]);
    for (size_t k = 0; k < sizeof named_types / sizeof *named_types; k++)
        if (named_types[k].type == type) return make_named(&named_types[k]);
    hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, text_size);
    H5Tset_strpad(text, H5T_STR_NULLPAD);
    H5Tset_cset(text, H5T_CSET_UTF8);
    return text;
}

static size_t number_size(dls_cell_type type) {
    return type == DLS_CELL_BOOL                                                          ? 1
           : type == DLS_CELL_INT16                                                       ? 2
           : type == DLS_CELL_INT64 || type == DLS_CELL_UINT64 || type == DLS_CELL_DOUBLE ? 8
                                                                                          : 4;
}

/* What a file of that version has instead of the whole column, or NULL. */
static const dls_older *find_older(const dls_table_layout *layout, const dls_cell *cell, int version) {
    for (int k = 0; k < layout->older_count; k++)
        if (version <= layout->older[k].version && !strcmp(cell->name, layout->older[k].name))
            return &layout->older[k];
    return NULL;
}

/* Numbers of a row. */
static int width_in(const dls_table_layout *layout, const dls_cell *cell, int version) {
    const dls_older *older = find_older(layout, cell, version);
    return older ? older->width : cell->width;
}

static hid_t make_column(const dls_cell *cell, int numbers, size_t text_size) {
    hid_t type = make_type(cell->type, text_size);
    hsize_t width = (hsize_t)numbers;
    if (width == 1 || type < 0) return type;
    hid_t several = H5Tarray_create2(type, 1, &width);
    H5Tclose(type);
    return several;
}

/* Of a row of a compound table, of a number of a plain one. */
static hid_t make_row_type(const dls_table_layout *layout, int version, size_t text_size) {
    if (!layout->is_compound) return make_type(layout->cells[0].type, text_size);
    hid_t type = H5Tcreate(H5T_COMPOUND, layout->row_size);
    for (int k = 0; type >= 0 && k < layout->cell_count; k++) {
        int width = width_in(layout, &layout->cells[k], version);
        if (width == 0) continue;
        hid_t column = make_column(&layout->cells[k], width, text_size);
        herr_t done =
            column < 0 ? -1 : H5Tinsert(type, layout->cells[k].name, layout->cells[k].offset, column);
        if (column >= 0) H5Tclose(column);
        if (done >= 0) continue;
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

/* Second extent of the dataset. */
static int extent_of(const dls_table *table) {
    return table->layout->is_compound ? 1 : width_in(table->layout, &table->layout->cells[0], table->version);
}

static int rank_of(const dls_table *table) { return extent_of(table) > 1 ? 2 : 1; }

/* ---- creating ---- */

/* "m" of a plain table, "step: 1, time: s, …" of a compound one. */
static bool write_units(hid_t dataset, const dls_table_layout *layout) {
    char text[2048];
    int used = 0;
    if (!layout->is_compound) return dls_attribute_write_text(dataset, "unit", layout->cells[0].unit);
    for (int k = 0; k < layout->cell_count && used < (int)sizeof text; k++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s: %s", k ? ", " : "",
                         layout->cells[k].name, layout->cells[k].unit);
    return dls_attribute_write_text(dataset, "units", text);
}

/* A row that was announced and not written must not look like one: its step is −1. */
static herr_t set_fill(hid_t creation, const dls_table_layout *layout, hid_t type) {
    if (!layout->is_marked) return H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    char *row = dls_alloc_zero(1, layout->row_size);
    if (!row) return -1;
    memcpy(row, &(int64_t){-1}, sizeof(int64_t));
    herr_t done = H5Pset_fill_value(creation, type, row);
    if (done >= 0) done = H5Pset_fill_time(creation, H5D_FILL_TIME_ALLOC);
    dls_free(row);
    return done;
}

/* Rows go straight to the file: no chunk is held back, or read again to add to it. */
static hid_t straight_access(void) {
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    if (access >= 0) H5Pset_chunk_cache(access, H5D_CHUNK_CACHE_NSLOTS_DEFAULT, 0, 0);
    return access;
}

static hid_t create_dataset(const dls_table *table, hid_t file, hid_t file_type, int64_t chunk_rows) {
    const dls_table_layout *layout = table->layout;
    hsize_t width = (hsize_t)extent_of(table), extent[2] = {0, width}, limit[2] = {H5S_UNLIMITED, width},
            chunk[2] = {(hsize_t)chunk_rows, width};
    int rank = rank_of(table);
    hid_t space = H5Screate_simple(rank, extent, limit), creation = H5Pcreate(H5P_DATASET_CREATE),
          links = H5Pcreate(H5P_LINK_CREATE), access = straight_access(), dataset = H5I_INVALID_HID;
    if (space >= 0 && creation >= 0 && links >= 0 && access >= 0 &&
        H5Pset_chunk(creation, rank, chunk) >= 0 && H5Pset_obj_track_times(creation, 0) >= 0 &&
        set_fill(creation, layout, table->type) >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0)
        dataset = H5Dcreate2(file, layout->path, file_type, space, links, creation, access);
    if (space >= 0) H5Sclose(space);
    if (creation >= 0) H5Pclose(creation);
    if (links >= 0) H5Pclose(links);
    if (access >= 0) H5Pclose(access);
    return dataset;
}

bool dls_table_create(dls_table *table, const dls_table_layout *layout, hid_t file, int64_t chunk_rows,
                      size_t text_size) {
    *table = (dls_table){.layout = layout,
                         .version = NEWEST,
                         .dataset = H5I_INVALID_HID,
                         .type = make_row_type(layout, NEWEST, text_size)};
    hid_t file_type = table->type < 0 ? H5I_INVALID_HID : H5Tcopy(table->type);
    if (file_type >= 0 && (!layout->is_compound || H5Tpack(file_type) >= 0))
        table->dataset = create_dataset(table, file, file_type, chunk_rows);
    bool done = table->dataset >= 0 && write_units(table->dataset, layout);
    if (file_type >= 0) H5Tclose(file_type);
    if (!done) dls_table_close(table);
    table->row_size = layout->cells[0].type == DLS_CELL_TEXT ? text_size : layout->row_size;
    return done;
}

void dls_table_close(dls_table *table) {
    if (!table->layout) return;
    if (table->dataset >= 0) H5Dclose(table->dataset);
    if (table->type >= 0) H5Tclose(table->type);
    *table = (dls_table){.dataset = H5I_INVALID_HID, .type = H5I_INVALID_HID};
}

/* ---- opening ---- */

/* Numbers of another size convert; another kind, another name or another width does not. */
static bool is_same_column(hid_t found, hid_t wanted) {
    H5T_class_t class = H5Tget_class(wanted);
    if (H5Tget_class(found) != class) return false;
    if (class != H5T_ARRAY) return class != H5T_STRING || H5Tis_variable_str(found) == 0;
    hsize_t found_width = 0, width = 0;
    return H5Tget_array_ndims(found) == 1 && H5Tget_array_dims2(found, &found_width) == 1 &&
           H5Tget_array_dims2(wanted, &width) == 1 && found_width == width;
}

static bool has_columns(hid_t found, hid_t wanted) {
    int count = H5Tget_nmembers(wanted);
    for (int k = 0; k < count; k++) {
        char *name = H5Tget_member_name(wanted, (unsigned)k);
        int at = name ? H5Tget_member_index(found, name) : -1;
        H5free_memory(name);
        if (at < 0) return false;
        hid_t a = H5Tget_member_type(found, (unsigned)at), b = H5Tget_member_type(wanted, (unsigned)k);
        bool same = a >= 0 && b >= 0 && is_same_column(a, b);
        if (a >= 0) H5Tclose(a);
        if (b >= 0) H5Tclose(b);
        if (!same) return false;
    }
    return true;
}

static const char *compare_layout(dls_table *table, hid_t type, hid_t space) {
    const dls_table_layout *layout = table->layout;
    hsize_t extent[H5S_MAX_RANK];
    if (H5Tget_class(type) != (layout->is_compound ? H5T_COMPOUND : H5Tget_class(table->type)))
        return "data of another kind";
    if (layout->is_compound && !has_columns(type, table->type))
        return "a column is missing or of another kind";
    if (!layout->is_compound && !is_same_column(type, table->type)) return "data of another kind";
    if (H5Sget_simple_extent_ndims(space) != rank_of(table)) return "another number of extents";
    H5Sget_simple_extent_dims(space, extent, NULL);
    if (rank_of(table) == 2 && extent[1] != (hsize_t)extent_of(table)) return "rows of another width";
    if (extent[0] > INT64_MAX) return "a number of rows that cannot be";
    table->rows = (int64_t)extent[0];
    return NULL;
}

/* Texts are as long as the file has them. */
static bool adopt_text(dls_table *table, hid_t found) {
    if (table->layout->cells[0].type != DLS_CELL_TEXT || H5Tget_class(found) != H5T_STRING) return true;
    size_t size = H5Tget_size(found);
    hid_t type = make_type(DLS_CELL_TEXT, size);
    if (type < 0) return false;
    H5Tclose(table->type);
    table->type = type;
    table->row_size = size;
    return true;
}

bool dls_table_open(dls_table *table, const dls_table_layout *layout, int version, hid_t file,
                    const char **what) {
    *table = (dls_table){.layout = layout,
                         .version = version,
                         .dataset = H5I_INVALID_HID,
                         .type = make_row_type(layout, version, 1),
                         .row_size = layout->row_size,
                         .below = INT64_C(1) << 31};
    hid_t access = straight_access();
    table->dataset = H5Dopen2(file, layout->path, access);
    if (access >= 0) H5Pclose(access);
    hid_t type = table->dataset < 0 ? H5I_INVALID_HID : H5Dget_type(table->dataset),
          space = table->dataset < 0 ? H5I_INVALID_HID : H5Dget_space(table->dataset);
    *what = "missing or damaged";
    if (table->type >= 0 && type >= 0 && space >= 0 && adopt_text(table, type))
        *what = compare_layout(table, type, space);
    if (type >= 0) {
        table->file_row_size = H5Tget_size(type) * (size_t)extent_of(table);
        H5Tclose(type);
    }
    if (space >= 0) H5Sclose(space);
    if (*what) dls_table_close(table);
    return !*what;
}

/* ---- rows ---- */

static herr_t transfer(const dls_table *table, int64_t first, int64_t count, void *target,
                       const void *source) {
    const dls_table_layout *layout = table->layout;
    hsize_t start[2] = {(hsize_t)first, 0}, extent[2] = {(hsize_t)count, (hsize_t)extent_of(table)},
            rows[2] = {(hsize_t)count, layout->is_compound ? 1 : (hsize_t)layout->cells[0].width};
    /* of the rank of the file, or HDF5 writes number by number */
    hid_t space = H5Dget_space(table->dataset), memory = H5Screate_simple(rows[1] > 1 ? 2 : 1, rows, NULL);
    herr_t done = -1;
    if (space >= 0 && memory >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
        H5Sselect_hyperslab(memory, H5S_SELECT_SET, (hsize_t[2]){0, 0}, NULL, extent, NULL) >= 0)
        done = target ? H5Dread(table->dataset, table->type, memory, space, H5P_DEFAULT, target)
                      : H5Dwrite(table->dataset, table->type, memory, space, H5P_DEFAULT, source);
    if (space >= 0) H5Sclose(space);
    if (memory >= 0) H5Sclose(memory);
    return done;
}

bool dls_table_append(dls_table *table, int64_t count, const void *rows) {
    hsize_t extent[2] = {(hsize_t)(table->rows + count), (hsize_t)extent_of(table)};
    assert(count >= 0 && table->dataset >= 0);
    if (count == 0) return true;
    if (H5Dset_extent(table->dataset, extent) < 0) return false;
    if (transfer(table, table->rows, count, NULL, rows) < 0) return false;
    table->rows += count;
    return true;
}

/* Numbers that a file of this version has not. */
static void fill_missing(const dls_table *table, int64_t count, char *rows) {
    const dls_table_layout *layout = table->layout;
    for (int k = 0; k < layout->cell_count; k++) {
        const dls_cell *cell = &layout->cells[k];
        const dls_older *older = find_older(layout, cell, table->version);
        char *at = rows + (layout->is_compound ? cell->offset : 0);
        size_t size = number_size(cell->type);
        for (int64_t row = 0; older && row < count; row++, at += table->row_size)
            for (int i = older->width; i < cell->width; i++)
                memcpy(at + (size_t)i * size, &older->missing, size);
    }
}

bool dls_table_read(const dls_table *table, int64_t first, int64_t count, void *rows) {
    assert(first >= 0 && count >= 0 && first + count <= table->rows);
    fill_missing(table, count, rows);
    return count == 0 || transfer(table, first, count, rows, NULL) >= 0;
}

/* ---- numbers that cannot be ---- */

typedef struct limits {
    double low, high;
    bool may_be_nan;
    const char *words;
} limits;

/* Unit vectors may miss their length by as much as rounding and a tolerance do. */
static const limits ranges[] = {
    [DLS_RANGE_FINITE] = {-DBL_MAX, DBL_MAX, false, "a finite number"},
    [DLS_RANGE_NEAR] = {-DLS_FARTHEST, DLS_FARTHEST, false, "a number from -1e+60 to 1e+60"},
    [DLS_RANGE_UNIT] = {-1.000001, 1.000001, false, "a number from -1 to 1"},
    [DLS_RANGE_SHARE] = {0, 1, false, "a number from 0 to 1"},
    [DLS_RANGE_TIME] = {0, DLS_FARTHEST, false, "a number from 0 to 1e+60"},
    [DLS_RANGE_SIZE] = {0, DBL_MAX, false, "a finite number from 0 on"},
    [DLS_RANGE_OPEN] = {-INFINITY, INFINITY, false, "a number"},
    [DLS_RANGE_OPEN_SIZE] = {0, INFINITY, false, "a number from 0 on"},
    [DLS_RANGE_KNOWN_SIZE] = {0, INFINITY, true, "a number from 0 on, or nan"},
    [DLS_RANGE_COUNT] = {0, 9007199254740992.0, false, "a count from 0 to 2^53"},
};

static limits limits_of(const dls_table *table, const dls_cell *cell) {
    for (size_t k = 0; k < sizeof named_types / sizeof *named_types; k++)
        if (named_types[k].type == cell->type) return (limits){0, named_types[k].count - 1, false, NULL};
    if (cell->range == DLS_RANGE_INDEX) return (limits){0, (double)table->below - 1, false, NULL};
    return ranges[cell->range];
}

static double number_at(dls_cell_type type, const char *at) {
    int64_t wide;
    int32_t number;
    uint32_t positive;
    int16_t small;
    float real;
    double exact;
    switch (type) {
    case DLS_CELL_INT16:
        return memcpy(&small, at, sizeof small), small;
    case DLS_CELL_UINT32:
        return memcpy(&positive, at, sizeof positive), positive;
    case DLS_CELL_INT64:
    case DLS_CELL_UINT64:
        return memcpy(&wide, at, sizeof wide), (double)wide;
    case DLS_CELL_FLOAT:
        return memcpy(&real, at, sizeof real), (double)real;
    case DLS_CELL_DOUBLE:
        return memcpy(&exact, at, sizeof exact), exact;
    case DLS_CELL_BOOL:
        return *(const unsigned char *)at; /* a bool other than 0 and 1 must not be read */
    default:
        return memcpy(&number, at, sizeof number), number;
    }
}

static bool is_fine(double value, const limits *l) {
    return (value >= l->low && value <= l->high) || (l->may_be_nan && isnan(value));
}

/* Most numbers of a file are such, and all but never wrong: no branches, and vectors where they lie together.
 */
static bool are_fine(const char *numbers, int64_t count, const limits *l) {
    double low = l->low, high = l->high;
    uint64_t wrong = 0;
    for (int64_t k = 0; k < count; k++) {
        double value;
        memcpy(&value, numbers + (size_t)k * sizeof value, sizeof value);
        wrong |= !((value >= low) & (value <= high));
    }
    return !wrong;
}

static bool are_reals_fine(const char *rows, size_t stride, int64_t count, int width, const limits *l) {
    if (stride == (size_t)width * sizeof(double)) return are_fine(rows, count * width, l);
    bool fine = true;
    for (int64_t row = 0; row < count; row++, rows += stride) fine = fine & are_fine(rows, width, l);
    return fine;
}

/* Plain columns are named by their paths. */
static void say_fault(const dls_table *table, const dls_cell *cell, const limits *l, double value,
                      dls_fault *fault) {
    const char *last = strrchr(table->layout->path, '/'), *name = *cell->name ? cell->name
                                                                  : last      ? last + 1
                                                                              : table->layout->path;
    fault->range = cell->range;
    if (l->words)
        snprintf(fault->what, sizeof fault->what, "%s is %.10g, expected %s", name, value, l->words);
    else
        snprintf(fault->what, sizeof fault->what, "%s is %.10g, expected 0 to %.10g", name, value, l->high);
}

static bool check_cell(const dls_table *table, const dls_cell *cell, int64_t count, const char *rows,
                       dls_fault *fault) {
    const limits l = limits_of(table, cell);
    size_t size = number_size(cell->type), stride = table->row_size;
    int width = width_in(table->layout, cell, table->version);
    if (table->layout->is_compound) rows += cell->offset;
    if (cell->type == DLS_CELL_DOUBLE && are_reals_fine(rows, stride, count, width, &l)) return true;
    for (int64_t row = 0; row < count; row++, rows += stride)
        for (int k = 0; k < width; k++) {
            double value = number_at(cell->type, rows + (size_t)k * size);
            if (is_fine(value, &l)) continue;
            fault->row = row;
            say_fault(table, cell, &l, value, fault);
            return false;
        }
    return true;
}

bool dls_table_check(const dls_table *table, int64_t count, const void *rows, dls_fault *fault) {
    for (int k = 0; k < table->layout->cell_count; k++) {
        const dls_cell *cell = &table->layout->cells[k];
        if (cell->type == DLS_CELL_TEXT || (cell->type < DLS_CELL_BOOL && cell->range == DLS_RANGE_ANY))
            continue;
        if (!check_cell(table, cell, count, rows, fault)) return false;
    }
    return true;
}

/* ---- attributes and texts ---- */

static bool write_attribute(hid_t object, const char *name, hid_t type, hid_t space, const void *value) {
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool done = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    return done;
}

bool dls_attribute_write_text(hid_t object, const char *name, const char *text) {
    size_t length = strlen(text);
    hid_t type = make_type(DLS_CELL_TEXT, length ? length : 1), space = H5Screate(H5S_SCALAR);
    bool done = type >= 0 && space >= 0 && write_attribute(object, name, type, space, text);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    return done;
}

bool dls_attribute_write_reals(hid_t object, const char *name, int count, const double *values) {
    hsize_t extent = (hsize_t)count;
    hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, NULL);
    bool done = space >= 0 && write_attribute(object, name, H5T_NATIVE_DOUBLE, space, values);
    if (space >= 0) H5Sclose(space);
    return done;
}

bool dls_attribute_write_int(hid_t object, const char *name, int value) {
    hid_t space = H5Screate(H5S_SCALAR);
    bool done = space >= 0 && write_attribute(object, name, H5T_NATIVE_INT, space, &value);
    if (space >= 0) H5Sclose(space);
    return done;
}

/* Opens the attribute if it is count values of that class. */
static hid_t open_attribute(hid_t object, const char *name, H5T_class_t class, int count, size_t *size) {
    if (H5Aexists(object, name) <= 0) return H5I_INVALID_HID;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return attribute;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool fits = type >= 0 && space >= 0 && H5Tget_class(type) == class &&
                H5Sget_simple_extent_npoints(space) == count && H5Tis_variable_str(type) <= 0;
    if (fits) *size = H5Tget_size(type);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    if (fits) return attribute;
    H5Aclose(attribute);
    return H5I_INVALID_HID;
}

dls_status dls_attribute_read_text(hid_t object, const char *name, char **text) {
    size_t size = 0;
    hid_t attribute = open_attribute(object, name, H5T_STRING, 1, &size);
    *text = NULL;
    if (attribute < 0) return DLS_ERROR_FILE;
    hid_t type = make_type(DLS_CELL_TEXT, size ? size : 1);
    char *made = DLS_NEW_ZERO(char, size + 1);
    dls_status status = made ? DLS_OK : DLS_ERROR_MEMORY;
    if (made && (type < 0 || H5Aread(attribute, type, made) < 0)) status = DLS_ERROR_FILE;
    if (type >= 0) H5Tclose(type);
    H5Aclose(attribute);
    if (status)
        dls_free(made);
    else
        *text = made;
    return status;
}

static bool read_attribute(hid_t object, const char *name, H5T_class_t class, int count, hid_t type,
                           void *values) {
    size_t size;
    hid_t attribute = open_attribute(object, name, class, count, &size);
    bool done = attribute >= 0 && H5Aread(attribute, type, values) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    return done;
}

bool dls_attribute_read_reals(hid_t object, const char *name, int count, double *values) {
    return read_attribute(object, name, H5T_FLOAT, count, H5T_NATIVE_DOUBLE, values);
}

bool dls_attribute_read_int(hid_t object, const char *name, int *value) {
    return read_attribute(object, name, H5T_INTEGER, 1, H5T_NATIVE_INT, value);
}

bool dls_texts_write(hid_t file, const char *path, int count, const char *const *texts) {
    size_t longest = 1;
    for (int k = 0; k < count; k++)
        if (strlen(texts[k]) > longest) longest = strlen(texts[k]);
    char *padded = dls_alloc_zero((size_t)count, longest);
    for (int k = 0; padded && k < count; k++)
        memcpy(padded + (size_t)k * longest, texts[k], strlen(texts[k]));
    hsize_t extent = (hsize_t)count;
    hid_t type = make_type(DLS_CELL_TEXT, longest), space = H5Screate_simple(1, &extent, NULL),
          creation = H5Pcreate(H5P_DATASET_CREATE), dataset = H5I_INVALID_HID;
    if (padded && type >= 0 && space >= 0 && creation >= 0 && H5Pset_obj_track_times(creation, 0) >= 0)
        dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    bool done =
        dataset >= 0 && (count == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, padded) >= 0);
    if (dataset >= 0) H5Dclose(dataset);
    if (creation >= 0) H5Pclose(creation);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    dls_free(padded);
    return done;
}

/* The texts as they lie in the file, longest bytes each. */
static dls_status read_padded(hid_t dataset, size_t limit, int *count, size_t *longest, char **padded) {
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset), memory = H5I_INVALID_HID;
    hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    dls_status status = DLS_ERROR_FILE;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && points >= 0) {
        *longest = H5Tget_size(type);
        if (points <= INT_MAX && (size_t)points <= limit / (*longest + sizeof(char *) + 1)) {
            *count = (int)points;
            *padded = dls_alloc((size_t)points, *longest);
            memory = make_type(DLS_CELL_TEXT, *longest);
            status = *padded ? DLS_OK : DLS_ERROR_MEMORY;
        }
    }
    if (!status && points && H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, *padded) < 0)
        status = DLS_ERROR_FILE;
    if (memory >= 0) H5Tclose(memory);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    return status;
}

dls_status dls_texts_read(hid_t file, const char *path, size_t limit, int *count, char ***texts) {
    size_t longest = 0;
    char *padded = NULL, **block = NULL;
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    dls_status status = dataset < 0 ? DLS_ERROR_FILE : read_padded(dataset, limit, count, &longest, &padded);
    if (dataset >= 0) H5Dclose(dataset);
    if (!status && !(block = dls_alloc_zero((size_t)*count, longest + 1 + sizeof(char *))))
        status = DLS_ERROR_MEMORY;
    for (int k = 0; block && k < *count; k++) {
        block[k] = (char *)(block + *count) + (size_t)k * (longest + 1);
        memcpy(block[k], padded + (size_t)k * longest, longest);
    }
    dls_free(padded);
    *texts = block;
    return status;
}

dls_status dls_array_read(hid_t file, const char *path, hid_t type, int64_t limit, int64_t *count,
                          void **values) {
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT),
          space = dataset < 0 ? H5I_INVALID_HID : H5Dget_space(dataset);
    hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    dls_status status = DLS_ERROR_FILE;
    if (points >= 0 && points <= limit && (*count < 0 || *count == points)) {
        *count = points;
        *values = dls_alloc((size_t)points + 1, H5Tget_size(type));
        status = *values ? DLS_OK : DLS_ERROR_MEMORY;
    }
    if (!status && points && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0)
        status = DLS_ERROR_FILE;
    if (space >= 0) H5Sclose(space);
    if (dataset >= 0) H5Dclose(dataset);
    return status;
}
