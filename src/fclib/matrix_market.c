/* Matrix Market files of W, q and μ, for tools that know no HDF5. */
#include "base/error.h"
#include "base/memory.h"
#include "fclib/image.h"

#include <delassus/fclib.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Lines are gathered before they go to the file. */
typedef struct line_writer {
    dls_aside aside;
    char buffer[1 << 15];
    size_t used;
} line_writer;

enum { LONGEST_LINE = 160 };

__attribute__((format(printf, 2, 3))) static dls_status put(line_writer *w, const char *format, ...) {
    dls_status status = DLS_OK;
    if (sizeof w->buffer - w->used < LONGEST_LINE) {
        status = dls_aside_write(&w->aside, w->buffer, w->used);
        w->used = 0;
    }
    va_list arguments;
    va_start(arguments, format);
    w->used += (size_t)vsnprintf(w->buffer + w->used, LONGEST_LINE, format, arguments);
    va_end(arguments);
    return status;
}

/* fill writes the lines of one file. */
typedef dls_status (*fill_function)(line_writer *w, const dls_problem *p, dls_error *error);

static dls_status write_file(const char *prefix, const char *suffix, fill_function fill, const dls_problem *p,
                             dls_error *error) {
    size_t room = strlen(prefix) + strlen(suffix) + 1;
    char *path = DLS_NEW(char, room);
    line_writer *w = DLS_NEW(line_writer, 1);
    dls_status status = path && w ? DLS_OK : dls_fail_memory(error);
    if (!status) {
        snprintf(path, room, "%s%s", prefix, suffix);
        w->used = 0;
        status = dls_aside_open(&w->aside, path, error);
    }
    if (!status) {
        status = fill(w, p, error);
        if (!status) status = dls_aside_write(&w->aside, w->buffer, w->used);
        if (status)
            dls_aside_abandon(&w->aside);
        else
            status = dls_aside_commit(&w->aside);
    }
    dls_free(path);
    dls_free(w);
    return status;
}

static dls_status put_rows(line_writer *w, int rows, const int64_t *start, const int *column,
                           const double *value) {
    dls_status status = put(w, "%%%%MatrixMarket matrix coordinate real general\n");
    if (!status)
        status = put(w, "%% W of u = W r + q, 1/kg; rows of each contact: normal, then tangential\n");
    if (!status) status = put(w, "%d %d %" PRId64 "\n", rows, rows, start[rows]);
    for (int i = 0; i < rows && !status; i++)
        for (int64_t k = start[i]; k < start[i + 1] && !status; k++)
            status = put(w, "%d %d %.17g\n", i + 1, column[k] + 1, value[k]);
    return status;
}

static dls_status fill_matrix(line_writer *w, const dls_problem *p, dls_error *error) {
    int rows = dls_problem_row_count(p);
    int64_t count = dls_problem_export(p, NULL, NULL, NULL);
    int64_t *start = DLS_NEW(int64_t, (int64_t)rows + 1);
    int *column = DLS_NEW(int, count);
    double *value = DLS_NEW(double, count);
    dls_status status = start && column && value ? DLS_OK : dls_fail_memory(error);
    if (!status) {
        dls_problem_export(p, start, column, value);
        status = put_rows(w, rows, start, column, value);
    }
    dls_free(start);
    dls_free(column);
    dls_free(value);
    return status;
}

static dls_status fill_velocities(line_writer *w, const dls_problem *p, dls_error *error) {
    (void)error;
    int rows = dls_problem_row_count(p);
    dls_status status = put(w, "%%%%MatrixMarket matrix array real general\n");
    if (!status) status = put(w, "%% q of u = W r + q: velocities without contact impulses, m/s\n");
    if (!status) status = put(w, "%d 1\n", rows);
    for (int i = 0; i < rows && !status; i++) status = put(w, "%.17g\n", dls_problem_b(p)[i]);
    return status;
}

static dls_status fill_friction(line_writer *w, const dls_problem *p, dls_error *error) {
    (void)error;
    dls_status status = put(w, "%%%%MatrixMarket matrix array real general\n");
    if (!status) status = put(w, "%% friction coefficient of each contact\n");
    if (!status) status = put(w, "%d 1\n", dls_problem_contact_count(p));
    for (int c = 0; c < dls_problem_block_count(p) && !status; c++)
        if (dls_problem_block_kind(p, c) == DLS_CONTACT) status = put(w, "%.17g\n", dls_problem_mu(p, c));
    return status;
}

dls_status dls_matrix_market_write(const char *prefix, const dls_problem *problem, dls_error *error) {
    dls_error_clear(error);
    if (!prefix || !problem)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "prefix and problem are needed, got NULL");
    dls_problem *stored = NULL;
    dls_status status = DLS_OK;
    if (!dls_problem_is_stored(problem)) status = dls_problem_assemble(problem, &stored, error);
    const dls_problem *p = stored ? stored : problem;
    if (!status) status = write_file(prefix, "_W.mtx", fill_matrix, p, error);
    if (!status) status = write_file(prefix, "_q.mtx", fill_velocities, p, error);
    if (!status) status = write_file(prefix, "_mu.mtx", fill_friction, p, error);
    dls_problem_destroy(stored);
    return status;
}
