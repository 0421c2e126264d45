/* Tables of a results file: datasets of one extent that grow by whole rows. A plain table has one column of
 * one or more numbers per row (extents rows or rows × width); a compound table has named columns. */
#ifndef OUTPUT_RESULTS_TABLE_H
#define OUTPUT_RESULTS_TABLE_H

#include "output/results/driver.h"

typedef enum dls_cell_type {
    DLS_CELL_INT16,
    DLS_CELL_INT32,
    DLS_CELL_UINT32,
    DLS_CELL_INT64,
    DLS_CELL_UINT64,
    DLS_CELL_FLOAT,
    DLS_CELL_DOUBLE,
    DLS_CELL_BOOL,    /* the types below are kept by name in the file */
    DLS_CELL_MOTION,  /* dls_motion as int */
    DLS_CELL_KIND,    /* dls_shape_kind as int */
    DLS_CELL_OUTCOME, /* dls_outcome as int */
    DLS_CELL_REASON,  /* dls_reason as int */
    DLS_CELL_JOINT,   /* dls_joint_kind as int */
    DLS_CELL_TEXT     /* plain tables only; its length is the file's choice */
} dls_cell_type;

/* What numbers of a column can be; readers refuse others. Named ones have to have a name whatever it says. */
typedef enum dls_range {
    DLS_RANGE_ANY,
    DLS_RANGE_FINITE,
    DLS_RANGE_NEAR,       /* places and speeds */
    DLS_RANGE_UNIT,       /* parts of unit vectors and quaternions */
    DLS_RANGE_SHARE,      /* 0 to 1 */
    DLS_RANGE_TIME,       /* from 0 on, near */
    DLS_RANGE_SIZE,       /* from 0 on, finite */
    DLS_RANGE_OPEN,       /* any number, also without end */
    DLS_RANGE_OPEN_SIZE,  /* from 0 on, or without end */
    DLS_RANGE_KNOWN_SIZE, /* the same, or NaN where it is not known */
    DLS_RANGE_COUNT,      /* from 0 on, as far as sums and differences are exact */
    DLS_RANGE_INDEX       /* from 0 on, below what the table says */
} dls_range;

typedef struct dls_cell {
    const char *name;
    dls_cell_type type;
    int width;     /* numbers in a row */
    size_t offset; /* in the row's struct */
    const char *unit;
    dls_range range;
} dls_cell;

/* What files up to a format version have of a column: the first numbers of its rows, in compound tables
 * perhaps none. Those that follow are `missing` to their readers: doubles, or integers, of which 0 has the
 * same bytes. */
typedef struct dls_older {
    int version;
    const char *name; /* of the cell */
    int width;
    double missing;
} dls_older;

typedef struct dls_table_layout {
    const char *path;
    bool is_compound;
    bool is_marked; /* rows begin with an int64 step, −1 in a row that was not written yet */
    int since;      /* format version that brought it */
    int chunk;      /* rows of a chunk for few bodies; more where a file expects more */
    size_t row_size;
    int cell_count;
    const dls_cell *cells;
    int older_count;
    const dls_older *older; /* of one column the oldest first */
} dls_table_layout;

/* An open table. Row counts are 64-bit throughout. */
typedef struct dls_table {
    const dls_table_layout *layout;
    int version;         /* of the file's format */
    hid_t dataset, type; /* type of a row in memory (of an element where plain) */
    int64_t rows;
    size_t row_size, file_row_size;
    int64_t below; /* of DLS_RANGE_INDEX, once it is known */
} dls_table;

/* Creates it empty; text_size is the room of a text where it has any. False where HDF5 refuses. */
bool dls_table_create(dls_table *table, const dls_table_layout *layout, hid_t file, int64_t chunk_rows,
                      size_t text_size);
/* Opens what dls_table_create made, now or in that format version; what tells, in one phrase, what is wrong
 * with it. Only what was made now can be appended to. */
bool dls_table_open(dls_table *table, const dls_table_layout *layout, int version, hid_t file,
                    const char **what);
void dls_table_close(dls_table *table);

/* Rows as the layout's struct has them, texts padded with zeros. */
bool dls_table_append(dls_table *table, int64_t count, const void *rows);
/* first + count must not exceed table->rows. */
bool dls_table_read(const dls_table *table, int64_t first, int64_t count, void *rows);

/* A number that its column cannot have. */
typedef struct dls_fault {
    int64_t row;     /* of those that were looked at */
    dls_range range; /* of the column */
    char what[160];  /* "mass is nan, expected …" */
} dls_fault;

/* Whether every number of count rows is in its range. */
bool dls_table_check(const dls_table *table, int64_t count, const void *rows, dls_fault *fault);

/* ---- single values and texts ---- */

bool dls_attribute_write_text(hid_t object, const char *name, const char *text);
bool dls_attribute_write_reals(hid_t object, const char *name, int count, const double *values);
bool dls_attribute_write_int(hid_t object, const char *name, int value);
/* Texts fail with DLS_ERROR_FILE where there is none, with DLS_ERROR_MEMORY where there is no room for it. */
dls_status dls_attribute_read_text(hid_t object, const char *name, char **text);
bool dls_attribute_read_reals(hid_t object, const char *name, int count, double *values);
bool dls_attribute_read_int(hid_t object, const char *name, int *value);

/* A dataset of count texts, padded to the longest. */
bool dls_texts_write(hid_t file, const char *path, int count, const char *const *texts);
/* One block: the pointers, then the texts. limit: the most bytes that make sense. */
dls_status dls_texts_read(hid_t file, const char *path, size_t limit, int *count, char ***texts);
/* A dataset of numbers, converted to type. count: how many there must be, or −1 where that is to be found; at
 * most limit. values may be left even where it fails. */
dls_status dls_array_read(hid_t file, const char *path, hid_t type, int64_t limit, int64_t *count,
                          void **values);

#endif
