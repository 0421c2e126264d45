/* Problems from Matrix Market files: those that dls_matrix_market_write writes, and the like by other tools.
 */
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

#include <delassus/fclib.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRY(call)                                                                                            \
    do {                                                                                                     \
        dls_status tried = (call);                                                                           \
        if (tried) return tried;                                                                             \
    } while (0)

/* ---- one file ------------------------------------------------------------------------------------------ */

/* Entries as they stand in the file, symmetric ones mirrored; dense ones column by column. */
typedef struct matrix {
    int64_t rows, columns, count, room;
    struct entry {
        int row, column;
        double value;
    } * entries;
    bool present;
    bool sparse_too; /* may be in coordinates: else a size that is stated would be believed */
} matrix;

typedef struct reader {
    FILE *stream;
    dls_file_name name;
    int64_t line;
    char text[1024];
    bool coordinate, symmetric;
    dls_error *error;
} reader;

static dls_status wrong(const reader *r, const char *expected) {
    return dls_fail(r->error, DLS_ERROR_INPUT, "%s:%" PRId64 ": expected %s", r->name.text, r->line,
                    expected);
}

/* The next line that is no comment and not empty; false at the end. */
static bool next_line(reader *r) {
    while (fgets(r->text, sizeof r->text, r->stream)) {
        r->line++;
        size_t blank = strspn(r->text, " \t\r\n");
        if (r->text[0] != '%' && r->text[blank]) return true;
    }
    r->line++;
    return false;
}

static dls_status read_header(reader *r) {
    static const char wanted[] = "'%%MatrixMarket matrix coordinate|array real|integer general|symmetric'";
    char object[32], format[32], field[32], symmetry[32];
    if (!fgets(r->text, sizeof r->text, r->stream)) return wrong(r, wanted);
    r->line = 1;
    for (char *c = r->text; *c; c++) *c = (char)tolower((unsigned char)*c);
    if (sscanf(r->text, "%%%%matrixmarket %31s %31s %31s %31s", object, format, field, symmetry) != 4)
        return wrong(r, wanted);
    r->coordinate = !strcmp(format, "coordinate");
    r->symmetric = !strcmp(symmetry, "symmetric");
    bool known = !strcmp(object, "matrix") && (r->coordinate || !strcmp(format, "array")) &&
                 (!strcmp(field, "real") || !strcmp(field, "double") || !strcmp(field, "integer")) &&
                 (r->symmetric || !strcmp(symmetry, "general"));
    return known ? DLS_OK : wrong(r, wanted);
}

/* Whole numbers and at last, where there is a place for it, a real one; nothing behind them. */
static bool read_numbers(const char *text, int count, int64_t *whole, double *real) {
    char *end = NULL;
    const char *at = text;
    for (int k = 0; k < count; k++, at = end) {
        errno = 0;
        whole[k] = strtoll(at, &end, 10);
        if (end == at || errno) return false;
    }
    if (real) {
        *real = strtod(at, &end);
        if (end == at) return false;
    }
    return end && end[strspn(end, " \t\r\n")] == '\0';
}

static dls_status add_entry(reader *r, matrix *m, int64_t row, int64_t column, double value) {
    if (!DLS_RESERVE(m->entries, m->count, m->room, m->count + 1)) return dls_fail_memory(r->error);
    m->entries[m->count++] = (struct entry){(int)row, (int)column, value};
    return DLS_OK;
}

static dls_status read_coordinates(reader *r, matrix *m, int64_t stated) {
    for (int64_t k = 0; k < stated; k++) {
        int64_t at[2];
        double value;
        if (!next_line(r)) return wrong(r, "another entry: the file ends before the number that it states");
        if (!read_numbers(r->text, 2, at, &value)) return wrong(r, "an entry as 'row column value'");
        if (at[0] < 1 || at[0] > m->rows || at[1] < 1 || at[1] > m->columns)
            return dls_fail(r->error, DLS_ERROR_INPUT,
                            "%s:%" PRId64 ": entry %" PRId64 ", %" PRId64 ", expected within %" PRId64
                            " × %" PRId64,
                            r->name.text, r->line, at[0], at[1], m->rows, m->columns);
        TRY(add_entry(r, m, at[0] - 1, at[1] - 1, value));
        if (r->symmetric && at[0] != at[1]) TRY(add_entry(r, m, at[1] - 1, at[0] - 1, value));
    }
    return DLS_OK;
}

/* A symmetric one has its lower triangle only. */
static dls_status read_array(reader *r, matrix *m) {
    for (int64_t column = 0; column < m->columns; column++)
        for (int64_t row = r->symmetric ? column : 0; row < m->rows; row++) {
            double value;
            if (!next_line(r)) return wrong(r, "another number: the file ends before all rows are there");
            if (!read_numbers(r->text, 0, NULL, &value)) return wrong(r, "one number");
            TRY(add_entry(r, m, row, column, value));
            if (r->symmetric && row != column) TRY(add_entry(r, m, column, row, value));
        }
    return DLS_OK;
}

static dls_status read_sizes_and_entries(reader *r, matrix *m) {
    int64_t sizes[3] = {0};
    TRY(read_header(r));
    if (r->coordinate && !m->sparse_too) return wrong(r, "an array, for this is a dense vector or table");
    if (!next_line(r) || !read_numbers(r->text, r->coordinate ? 3 : 2, sizes, NULL) || sizes[0] < 1 ||
        sizes[1] < 1 || sizes[0] > INT_MAX || sizes[1] > INT_MAX || sizes[2] < 0)
        return wrong(r,
                     r->coordinate ? "the sizes as 'rows columns entries'" : "the sizes as 'rows columns'");
    m->rows = sizes[0], m->columns = sizes[1];
    if (r->symmetric && m->rows != m->columns) return wrong(r, "a square matrix, for it is called symmetric");
    TRY(r->coordinate ? read_coordinates(r, m, sizes[2]) : read_array(r, m));
    return next_line(r) ? wrong(r, "the end of the file: it has more than it states") : DLS_OK;
}

/* PREFIX + suffix. One that need not be there may be missing. */
static dls_status read_matrix(const char *prefix, const char *suffix, bool needed, matrix *m,
                              dls_error *error) {
    size_t room = strlen(prefix) + strlen(suffix) + 1;
    char *path = DLS_NEW(char, room);
    if (!path) return dls_fail_memory(error);
    snprintf(path, room, "%s%s", prefix, suffix);
    reader r = {.name = dls_file_name_of(path), .error = error};
    dls_status status = DLS_OK;
    if (needed || access(path, F_OK) == 0) {
        status = dls_file_open(path, "a Matrix Market file", &r.stream, error);
        if (!status) status = read_sizes_and_entries(&r, m);
        m->present = !status;
        if (r.stream) fclose(r.stream);
    }
    dls_free(path);
    return status;
}

/* ---- the problem --------------------------------------------------------------------------------------- */

enum { MATRIX, VELOCITIES, FRICTION, ROLLING, SPINNING, LAYOUT, BOUNDS, REFERENCE, PARTS_OF_IT };

typedef struct parts {
    matrix of[PARTS_OF_IT];
    int blocks, contacts;
    int64_t rows;
    double *number[PARTS_OF_IT]; /* dense, by columns */
    int64_t *start;
    int *column;
    double *value;
    int *block_size;
    uint8_t *kind, *block_parts;
    double *mu, *mu_rolling, *mu_spinning; /* by block */
} parts;

static const char *const suffixes[PARTS_OF_IT] = {"_W.mtx",          "_q.mtx",           "_mu.mtx",
                                                  "_mu_rolling.mtx", "_mu_spinning.mtx", "_parts.mtx",
                                                  "_bounds.mtx",     "_v_ref.mtx"};

static void parts_free(parts *p) {
    for (int k = 0; k < PARTS_OF_IT; k++) {
        dls_free(p->of[k].entries);
        dls_free(p->number[k]);
    }
    dls_free(p->start);
    dls_free(p->column);
    dls_free(p->value);
    dls_free(p->block_size);
    dls_free(p->kind);
    dls_free(p->block_parts);
    dls_free(p->mu);
    dls_free(p->mu_rolling);
    dls_free(p->mu_spinning);
}

static dls_status expect_size(const char *prefix, const parts *p, int k, int64_t rows, int64_t columns,
                              dls_error *error) {
    const matrix *m = &p->of[k];
    if (!m->present || (m->rows == rows && m->columns == columns)) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT,
                    "%s%s: %" PRId64 " × %" PRId64 ", expected %" PRId64 " × %" PRId64
                    " as the others have it",
                    dls_file_name_of(prefix).text, suffixes[k], m->rows, m->columns, rows, columns);
}

/* Vectors and small tables as columns of numbers. */
static dls_status make_dense(parts *p, int k, dls_error *error) {
    const matrix *m = &p->of[k];
    if (!m->present) return DLS_OK;
    p->number[k] = DLS_NEW_ZERO(double, (size_t)m->rows *(size_t)m->columns);
    if (!p->number[k]) return dls_fail_memory(error);
    for (int64_t i = 0; i < m->count; i++)
        p->number[k][(int64_t)m->entries[i].column * m->rows + m->entries[i].row] += m->entries[i].value;
    return DLS_OK;
}

/* Entries of W by rows, in the order of the file within each. */
static dls_status make_rows(parts *p, dls_error *error) {
    const matrix *m = &p->of[MATRIX];
    p->start = DLS_NEW_ZERO(int64_t, p->rows + 2);
    p->column = DLS_NEW(int, m->count + 1);
    p->value = DLS_NEW(double, m->count + 1);
    if (!p->start || !p->column || !p->value) return dls_fail_memory(error);
    for (int64_t i = 0; i < m->count; i++) p->start[m->entries[i].row + 2]++;
    for (int64_t i = 0; i <= p->rows; i++) p->start[i + 1] += p->start[i];
    for (int64_t i = 0; i < m->count; i++) {
        int64_t at = p->start[m->entries[i].row + 1]++;
        p->column[at] = m->entries[i].column;
        p->value[at] = m->entries[i].value;
    }
    return DLS_OK;
}

/* Of PREFIX_parts.mtx: rows, whether it is a contact, its tangential, rolling and spinning rows. */
static dls_status take_layout(const char *prefix, parts *p, dls_error *error) {
    const matrix *m = &p->of[LAYOUT];
    int64_t rows = 0;
    p->blocks = (int)m->rows;
    p->block_size = DLS_NEW(int, p->blocks);
    p->kind = DLS_NEW(uint8_t, p->blocks);
    p->block_parts = DLS_NEW(uint8_t, p->blocks);
    if (!p->block_size || !p->kind || !p->block_parts) return dls_fail_memory(error);
    for (int c = 0; c < p->blocks; c++) {
        static const double largest[5] = {DLS_MAX_BLOCK, 1, 3, 2, 1};
        double v[5];
        bool whole = true;
        for (int k = 0; k < 5; k++) {
            v[k] = p->number[LAYOUT][(int64_t)k * p->blocks + c];
            whole = whole && v[k] == floor(v[k]) && v[k] >= 0 && v[k] <= largest[k];
        }
        bool contact = whole && v[1] == 1;
        if (!whole || v[0] < 1 || (contact && v[0] != 1 + v[2] + v[3] + v[4]))
            return dls_fail(
                error, DLS_ERROR_INPUT,
                "%s%s: block %d is not of 1 to %d rows, a contact (1) or not (0), with 1 + tangential "
                "(0 to 3) + rolling (0 to 2) + spinning (0 or 1) rows, as expected",
                dls_file_name_of(prefix).text, suffixes[LAYOUT], c + 1, (int)DLS_MAX_BLOCK);
        p->block_size[c] = (int)v[0];
        p->kind[c] = contact ? DLS_CONTACT : DLS_INTERVAL;
        p->block_parts[c] = contact ? DLS_PARTS((int)v[2], (int)v[3], (int)v[4]) : 0;
        p->contacts += contact;
        rows += p->block_size[c];
    }
    if (rows == p->rows) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "%s%s: blocks of %" PRId64 " rows in all, expected %" PRId64,
                    dls_file_name_of(prefix).text, suffixes[LAYOUT], rows, p->rows);
}

/* Files have a number per contact, problems one per block. */
static dls_status spread(const parts *p, int k, double **by_block, dls_error *error) {
    if (!p->of[k].present) return DLS_OK;
    *by_block = DLS_NEW_ZERO(double, p->blocks);
    if (!*by_block) return dls_fail_memory(error);
    for (int c = 0, contact = 0; c < p->blocks; c++)
        if (!p->kind || p->kind[c] == DLS_CONTACT) (*by_block)[c] = p->number[k][contact++];
    return DLS_OK;
}

static dls_status gather(const char *prefix, parts *p, dls_error *error) {
    p->of[MATRIX].sparse_too = true;
    for (int k = 0; k < PARTS_OF_IT; k++)
        TRY(read_matrix(prefix, suffixes[k], k <= FRICTION, &p->of[k], error));
    p->rows = p->of[MATRIX].rows;
    TRY(expect_size(prefix, p, MATRIX, p->rows, p->rows, error));
    TRY(expect_size(prefix, p, VELOCITIES, p->rows, 1, error));
    TRY(expect_size(prefix, p, BOUNDS, p->rows, 2, error));
    TRY(expect_size(prefix, p, REFERENCE, 1, 1, error));
    TRY(expect_size(prefix, p, LAYOUT, p->of[LAYOUT].rows, 5, error));
    for (int k = VELOCITIES; k < PARTS_OF_IT; k++)
        if (p->of[k].columns <= 5) TRY(make_dense(p, k, error));
    p->blocks = p->contacts = (int)p->of[FRICTION].rows;
    if (p->of[LAYOUT].present) {
        p->contacts = 0;
        TRY(take_layout(prefix, p, error));
    }
    for (int k = FRICTION; k <= SPINNING; k++) TRY(expect_size(prefix, p, k, p->contacts, 1, error));
    for (int k = FRICTION; k <= SPINNING; k++)
        TRY(spread(p, k, k == FRICTION ? &p->mu : k == ROLLING ? &p->mu_rolling : &p->mu_spinning, error));
    return make_rows(p, error);
}

static dls_status create(const char *prefix, const parts *p, dls_problem **problem, dls_error *error) {
    dls_problem_def def = dls_default_problem_def();
    def.block_count = p->blocks;
    def.block_size = p->block_size, def.block_kind = p->kind, def.block_parts = p->block_parts;
    if (!p->block_size) {
        def.dimension = (int)(p->rows / p->blocks);
        if (p->rows % p->blocks || def.dimension > 4)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "%s%s: %" PRId64 " rows for %d friction coefficients, expected 1 to 4 for each; "
                            "contacts of other parts need %s",
                            dls_file_name_of(prefix).text, suffixes[MATRIX], p->rows, p->blocks,
                            suffixes[LAYOUT]);
    }
    def.mu = p->mu, def.mu_rolling = p->mu_rolling, def.mu_spinning = p->mu_spinning;
    def.b = p->number[VELOCITIES];
    if (p->of[BOUNDS].present) def.low = p->number[BOUNDS], def.high = p->number[BOUNDS] + p->rows;
    if (p->of[REFERENCE].present) def.reference_velocity = p->number[REFERENCE][0];
    dls_csr W = {(int)p->rows, (int)p->rows, p->start, p->column, p->value};
    return dls_problem_create(&def, &W, problem, error);
}

dls_status dls_matrix_market_read(const char *prefix, dls_problem **problem, dls_error *error) {
    dls_error_clear(error);
    if (!prefix || !problem)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "prefix and problem are needed, got NULL");
    parts p = {.blocks = 0};
    *problem = NULL;
    dls_status status = gather(prefix, &p, error);
    if (!status) status = create(prefix, &p, problem, error);
    parts_free(&p);
    return status;
}
