/* Messages always begin with the file's name. */
#include "cli/support/problem_file.h"

#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

dls_fclib *problem_file_try(const char *path, char *message, size_t size) {
    dls_fclib *file = NULL;
    dls_error error;
    if (!dls_fclib_read(path, &file, &error)) return file;
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
    dls_fclib *file = problem_file_try(path, message, sizeof message);
    if (!file) report_error("%s", message);
    return file;
}

void problem_file_name(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    static const char *const endings[] = {".hdf5", ".h5"};
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
