/* What commands left in a folder: tables, figures and runs, by name. */
#include "cli/report/report_page.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 8 };

typedef bool (*adder)(FILE *stream, const char *path, const char *name);

static bool add_run(FILE *stream, const char *path, const char *name) {
    (void)name;
    return report_add_run(stream, path);
}

/* Which files are taken, and how. */
static adder adder_of(const char *path, const char *name) {
    const char *dot = strrchr(name, '.');
    if (dot && !strcmp(dot, ".csv")) return report_add_table;
    if (dot && !strcmp(dot, ".svg")) return report_add_figure;
    if (dot && !strcmp(dot, ".h5") && results_file_is(path)) return add_run;
    return NULL;
}

static int not_hidden(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* Files first, then the folders in it. */
static bool add_entries(FILE *stream, const char *path, const char *name, struct dirent **entries, int count,
                        int depth, int *found) {
    bool good = true, is_headed = false;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count && good; k++) {
            char inner[PATH_MAX], title[PATH_MAX];
            struct stat facts;
            if (snprintf(inner, sizeof inner, "%s/%s", path, entries[k]->d_name) >= (int)sizeof inner ||
                snprintf(title, sizeof title, "%s/%s", name, entries[k]->d_name) >= (int)sizeof title ||
                lstat(inner, &facts))
                continue;
            if (pass == 1 && S_ISDIR(facts.st_mode) && depth < DEEPEST)
                good = report_add_folder(stream, inner, title, depth + 1, found);
            adder add = pass == 0 && S_ISREG(facts.st_mode) ? adder_of(inner, entries[k]->d_name) : NULL;
            if (!add) continue;
            if (!is_headed) report_heading(stream, 2, name);
            is_headed = true;
            (*found)++;
            good = add(stream, inner, entries[k]->d_name);
        }
    return good;
}

bool report_add_folder(FILE *stream, const char *path, const char *name, int depth, int *found) {
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, not_hidden, alphasort);
    if (count < 0) {
        report_error("report: %s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    bool good = add_entries(stream, path, name, entries, count, depth, found);
    for (int k = 0; k < count; k++) free(entries[k]);
    free(entries);
    return good;
}
