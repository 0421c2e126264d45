/* Messages always begin with the file's name. */
#include "cli/support/problem_file.h"

#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the files of W are called; the others stand beside them. */
static const char matrix_ending[] = "_W.mtx";

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), other = strlen(ending);
    return length > other && !strcmp(text + length - other, ending);
}

static bool read_matrices(const char *path, problem_source *source, char *message, size_t size) {
    dls_error error;
    char *prefix = report_allocate(strlen(path) + 1, 1);
    memcpy(prefix, path, strlen(path) - strlen(matrix_ending));
    dls_status status = dls_matrix_market_read(prefix, &source->own, &error);
    free(prefix);
    if (status)
        snprintf(message, size, "%s%s%s", strstr(error.message, ".mtx") ? "" : path,
                 strstr(error.message, ".mtx") ? "" : ": ", error.message);
    source->problem = source->own;
    return !status;
}

bool problem_source_open(const char *path, bool as_stored, problem_source *source, char *message,
                         size_t size) {
    *source = (problem_source){.fclib = NULL};
    if (ends_with(path, matrix_ending)) return read_matrices(path, source, message, size);
    if (ends_with(path, ".mtx")) {
        snprintf(message, size, "%s: one of several Matrix Market files, expected that of W: PREFIX%s", path,
                 matrix_ending);
        return false;
    }
    source->fclib = problem_file_try(path, as_stored, message, size);
    if (!source->fclib) return false;
    source->problem = dls_fclib_problem(source->fclib);
    source->is_mirrored = !as_stored && dls_fclib_has_triangle(source->fclib);
    return true;
}

void problem_source_close(problem_source *source) {
    dls_fclib_destroy(source->fclib);
    dls_problem_destroy(source->own);
    *source = (problem_source){.fclib = NULL};
}

dls_status problem_source_write_solved(const problem_source *source, const char *path, const double *r,
                                       const double *u, dls_error *error) {
    if (source->fclib) return dls_fclib_rewrite(path, source->fclib, r, u, error);
    dls_fclib_content content = {.problem = source->problem, .r = r, .u = u};
    return dls_fclib_write(path, &content, error);
}

dls_fclib *problem_file_try(const char *path, bool as_stored, char *message, size_t size) {
    dls_fclib *file = NULL;
    dls_error error;
    if (!(as_stored ? dls_fclib_read_stored : dls_fclib_read)(path, &file, &error)) return file;
    if (results_file_is(path))
        snprintf(
            message, size,
            "%.400s: the results of a run, expected a contact problem; 'delassus export %.400s --fclib FILE "
            "--step N' writes that of a step",
            path, path);
    else if (!strncmp(error.message, path, strlen(path)))
        snprintf(message, size, "%s", error.message);
    else
        snprintf(message, size, "%s: %s", path, error.message);
    return NULL;
}

dls_fclib *problem_file_read(const char *path) {
    char message[1024];
    dls_fclib *file = problem_file_try(path, false, message, sizeof message);
    if (!file) report_error("%s", message);
    return file;
}

void problem_file_name(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    static const char *const endings[] = {".hdf5", ".h5", matrix_ending};
    size_t length = strlen(base);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && !strcmp(base + length - ending, endings[i])) {
            length -= ending;
            break;
        }
    }
    snprintf(name, size, "%.*s", (int)length, base);
}

dls_status problem_write_matrix_market(const char *prefix, const dls_problem *problem, dls_error *error) {
    const char *suffix;
    dls_status status = dls_matrix_market_write(prefix, problem, error);
    for (int k = 0; !status && (suffix = dls_matrix_market_suffix(problem, k)); k++) {
        bool is_last = !dls_matrix_market_suffix(problem, k + 1);
        printf("%s%s%s%s",
               k == 0    ? ""
               : is_last ? " and "
                         : ", ",
               prefix, suffix, is_last ? " written\n" : "");
    }
    return status;
}
