/* Objects are named by a path: what stands in the system's search path is never taken by chance. */
#include "cli/solve/law_object.h"

#include "cli/support/report.h"

#include <delassus/law.h>

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef const dls_law *(*law_entry)(size_t row_size, int index);

static bool register_rows(const char *path, law_entry entry) {
    dls_error error;
    int count = 0;
    for (const dls_law *row; (row = entry(sizeof *row, count)); count++)
        if (dls_law_register(row, &error)) {
            report_error("%s: %s", path, error.message);
            return false;
        }
    if (count == 0)
        report_error("%s: it has no law for this version of Delassus, expected one compiled with its headers",
                     path);
    return count > 0;
}

static bool load(const char *path) {
    char whole[PATH_MAX];
    if (!realpath(path, whole)) {
        report_error("%s: no such file, expected a shared object with a law", path);
        return false;
    }
    void *object = dlopen(whole, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        report_error("%s: cannot be loaded: %s", path, dlerror());
        return false;
    }
    law_entry entry;
    void *symbol = dlsym(object, "delassus_law");
    if (!symbol) {
        report_error("%s: has no function 'delassus_law', expected one as in examples/my_law.c", path);
        dlclose(object);
        return false;
    }
    memcpy(&entry, &symbol, sizeof entry);
    return register_rows(path, entry);
}

bool law_objects_load(const text_list *paths) {
    for (int i = 0; i < paths->count; i++)
        if (!load(paths->items[i])) return false;
    return true;
}
