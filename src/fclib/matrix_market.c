/* Matrix Market files of W, q, friction and bounds, for tools that know no HDF5. */
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

#include <delassus/fclib.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* fill writes the lines of one file. */
typedef dls_status (*fill_function)(FILE *out, const dls_problem *p, dls_error *error);

static dls_status write_file(const char *prefix, const char *suffix, fill_function fill, const dls_problem *p,
                             dls_error *error) {
    size_t room = strlen(prefix) + strlen(suffix) + 1;
    char *path = DLS_NEW(char, room);
    if (!path) return dls_fail_memory(error);
    snprintf(path, room, "%s%s", prefix, suffix);
    dls_aside *aside;
    dls_status status = dls_aside_open(path, &aside, error);
    if (!status) status = dls_aside_close(aside, fill(dls_aside_stream(aside), p, error), true, error);
    dls_free(path);
    return status;
}

static void put_rows(FILE *out, int rows, const int64_t *start, const int *column, const double *value) {
    fputs("%%MatrixMarket matrix coordinate real general\n"
          "% W of u = W r + q, 1/kg; rows of each contact: normal, tangential, rolling, spinning\n",
          out);
    fprintf(out, "%d %d %" PRId64 "\n", rows, rows, start[rows]);
    for (int i = 0; i < rows && !ferror(out); i++)
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            fprintf(out, "%d %d %.17g\n", i + 1, column[k] + 1, value[k]);
}

static dls_status fill_matrix(FILE *out, const dls_problem *p, dls_error *error) {
    int rows = dls_problem_row_count(p);
    int64_t count = dls_problem_export(p, NULL, NULL, NULL);
    int64_t *start = DLS_NEW(int64_t, (int64_t)rows + 1);
    int *column = DLS_NEW(int, count);
    double *value = DLS_NEW(double, count);
    dls_status status = start && column && value ? DLS_OK : dls_fail_memory(error);
    if (!status) {
        dls_problem_export(p, start, column, value);
        put_rows(out, rows, start, column, value);
    }
    dls_free(start);
    dls_free(column);
    dls_free(value);
    return status;
}

static dls_status fill_velocities(FILE *out, const dls_problem *p, dls_error *error) {
    (void)error;
    int rows = dls_problem_row_count(p);
    fputs("%%MatrixMarket matrix array real general\n"
          "% q of u = W r + q: velocities without contact impulses, m/s or rad/s\n",
          out);
    fprintf(out, "%d 1\n", rows);
    for (int i = 0; i < rows; i++) fprintf(out, "%.17g\n", dls_problem_b(p)[i]);
    return DLS_OK;
}

typedef double (*contact_function)(const dls_problem *p, int block);

static dls_status fill_contacts(FILE *out, const dls_problem *p, const char *what, contact_function value) {
    fprintf(out, "%%%%MatrixMarket matrix array real general\n%% %s\n%d 1\n", what,
            dls_problem_contact_count(p));
    for (int c = 0; c < dls_problem_block_count(p); c++)
        if (dls_problem_block_kind(p, c) == DLS_CONTACT) fprintf(out, "%.17g\n", value(p, c));
    return DLS_OK;
}

static dls_status fill_friction(FILE *out, const dls_problem *p, dls_error *error) {
    (void)error;
    return fill_contacts(out, p, "friction coefficient of each contact", dls_problem_mu);
}

static dls_status fill_rolling(FILE *out, const dls_problem *p, dls_error *error) {
    (void)error;
    return fill_contacts(out, p, "rolling friction of each contact, m", dls_problem_mu_rolling);
}

static dls_status fill_spinning(FILE *out, const dls_problem *p, dls_error *error) {
    (void)error;
    return fill_contacts(out, p, "spinning friction of each contact, m", dls_problem_mu_spinning);
}

/* A block per line: 1 for a contact, with the rows of its parts behind the normal one; 0 for rows with
 * bounds, and how many. */
static dls_status fill_parts(FILE *out, const dls_problem *p, dls_error *error) {
    (void)error;
    int blocks = dls_problem_block_count(p);
    fprintf(out,
            "%%%%MatrixMarket matrix array integer general\n%% columns: rows of each block, whether it is a "
            "contact, its tangential, rolling and spinning rows\n%d 5\n",
            blocks);
    for (int column = 0; column < 5; column++)
        for (int c = 0; c < blocks; c++) {
            uint8_t parts = dls_problem_block_parts(p, c);
            const int values[] = {dls_problem_block_size(p, c), dls_problem_block_kind(p, c) == DLS_CONTACT,
                                  parts & 3, parts >> 2 & 3, parts >> 4};
            fprintf(out, "%d\n", values[column]);
        }
    return DLS_OK;
}

static dls_status fill_bounds(FILE *out, const dls_problem *p, dls_error *error) {
    (void)error;
    int rows = dls_problem_row_count(p);
    fprintf(out,
            "%%%%MatrixMarket matrix array real general\n%% columns: low and high of each row, N s or N m s; "
            "those of contacts are -inf and inf\n%d 2\n",
            rows);
    for (int column = 0; column < 2; column++)
        for (int i = 0; i < rows; i++)
            fprintf(out, "%.17g\n", column ? dls_problem_high(p, i) : dls_problem_low(p, i));
    return DLS_OK;
}

static dls_status fill_reference(FILE *out, const dls_problem *p, dls_error *error) {
    (void)error;
    fprintf(
        out,
        "%%%%MatrixMarket matrix array real general\n%% reference velocity of the judge, m/s\n1 1\n%.17g\n",
        dls_problem_reference_velocity(p));
    return DLS_OK;
}

static bool has_reference(const dls_problem *p) { return dls_problem_reference_velocity(p) > 0; }

static bool is_any(const dls_problem *p) { return p; }

/* Blocks that are not all contacts with one tangential part. */
static bool is_mixed(const dls_problem *p) {
    return dls_problem_has_parts(p) || dls_problem_contact_count(p) < dls_problem_block_count(p);
}

typedef struct file_row {
    const char *suffix;
    bool (*is_needed)(const dls_problem *p);
    fill_function fill;
} file_row;

static const file_row files[] = {
    {"_W.mtx", is_any, fill_matrix},
    {"_q.mtx", is_any, fill_velocities},
    {"_mu.mtx", is_any, fill_friction},
    {"_mu_rolling.mtx", dls_problem_has_parts, fill_rolling},
    {"_mu_spinning.mtx", dls_problem_has_parts, fill_spinning},
    {"_parts.mtx", is_mixed, fill_parts},
    {"_bounds.mtx", dls_problem_has_bounds, fill_bounds},
    {"_v_ref.mtx", has_reference, fill_reference},
};
enum { FILES = sizeof files / sizeof *files };

const char *dls_matrix_market_suffix(const dls_problem *problem, int index) {
    for (int k = 0; k < FILES; k++)
        if ((!problem || files[k].is_needed(problem)) && index-- == 0) return files[k].suffix;
    return NULL;
}

dls_status dls_matrix_market_write(const char *prefix, const dls_problem *problem, dls_error *error) {
    dls_error_clear(error);
    if (!prefix || !problem)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "prefix and problem are needed, got NULL");
    dls_problem *stored = NULL;
    dls_status status = DLS_OK;
    if (!dls_problem_is_stored(problem)) status = dls_problem_assemble(problem, &stored, error);
    const dls_problem *p = stored ? stored : problem;
    for (int k = 0; k < FILES && !status; k++)
        if (files[k].is_needed(p)) status = write_file(prefix, files[k].suffix, files[k].fill, p, error);
    dls_problem_destroy(stored);
    return status;
}
