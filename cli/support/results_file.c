/* What was given instead of results is known by its content, never by its name. */
#include "cli/support/results_file.h"

#include "cli/support/report.h"

#include <delassus/fclib.h>
#include <delassus/scene.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_there(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0;
}

static bool is_scene(const char *path) {
    dls_scene *scene = NULL;
    dls_error error;
    bool good = dls_scene_read(path, 0, NULL, &scene, &error) == DLS_OK;
    dls_scene_destroy(scene);
    return good;
}

static bool is_problem(const char *path) {
    dls_fclib *file = NULL;
    dls_error error;
    bool good = dls_fclib_read(path, &file, &error) == DLS_OK;
    dls_fclib_destroy(file);
    return good;
}

bool results_file_is(const char *path) {
    dls_results *results = NULL;
    dls_error error;
    bool good = dls_results_open(path, &results, &error) == DLS_OK;
    dls_results_destroy(results);
    return good;
}

bool results_file_may_replace(const char *path) {
    struct stat facts;
    dls_results *results = NULL;
    dls_error error;
    if (stat(path, &facts) || facts.st_size == 0) return true;
    bool good = dls_results_open(path, &results, &error) == DLS_OK;
    dls_results_destroy(results);
    if (!good)
        report_error(
            "%s: cannot be written: it exists and is not the results of a run, expected another name (%s)",
            path, error.message);
    return good;
}

bool results_file_is_spared(const char *path) {
    if (!is_there(path) || !results_file_is(path)) return true;
    report_error("%s: cannot be written: it is the results of a run, expected another name", path);
    return false;
}

dls_results *results_file_open(const char *path) {
    dls_results *results = NULL;
    dls_error error;
    char named[4096];
    if (!dls_results_open(path, &results, &error)) return results;
    snprintf(named, sizeof named, "%s.h5", path);
    if (!is_there(path) && is_there(named))
        report_error("%s, did you mean '%s'?", error.message, named);
    else if (is_scene(path))
        report_error("%s: a scene, expected the results of a run; 'delassus run %s' writes them", path, path);
    else if (is_problem(path))
        report_error("%s: a contact problem, expected the results of a run; 'delassus info %s' tells of it",
                     path, path);
    else
        report_error("%s", error.message);
    return NULL;
}
