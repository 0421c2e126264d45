/* Matrix Market files of W, q and μ, for tools that know no HDF5. */
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
          "% W of u = W r + q, 1/kg; rows of each contact: normal, then tangential\n",
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
          "% q of u = W r + q: velocities without contact impulses, m/s\n",
          out);
    fprintf(out, "%d 1\n", rows);
    for (int i = 0; i < rows; i++) fprintf(out, "%.17g\n", dls_problem_b(p)[i]);
    return DLS_OK;
}

static dls_status fill_friction(FILE *out, const dls_problem *p, dls_error *error) {
    (void)error;
    fputs("%%MatrixMarket matrix array real general\n% friction coefficient of each contact\n", out);
    fprintf(out, "%d 1\n", dls_problem_contact_count(p));
    for (int c = 0; c < dls_problem_block_count(p); c++)
        if (dls_problem_block_kind(p, c) == DLS_CONTACT) fprintf(out, "%.17g\n", dls_problem_mu(p, c));
    return DLS_OK;
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
