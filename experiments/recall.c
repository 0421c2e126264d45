/* What earlier runs left: in a folder that is named, or else in those of the current one. */
#include "cli/support/report.h"
#include "experiments/reproduce.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* Not hidden, and a folder behind links, too. */
static bool is_folder(const char *name) {
    struct stat found;
    return name[0] != '.' && stat(name, &found) == 0 && S_ISDIR(found.st_mode);
}

output_list output_list_make(const char *output) {
    output_list list = {.named = output != NULL};
    DIR *folder = output ? NULL : opendir(".");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!is_folder(entry->d_name)) continue;
        list.names = report_grow(list.names, (size_t)list.count, sizeof *list.names);
        snprintf(list.names[list.count++], sizeof *list.names, "%s", entry->d_name);
    }
    if (folder) closedir(folder);
    if (list.count) qsort(list.names, (size_t)list.count, sizeof *list.names, by_name);
    return list;
}

void output_list_free(output_list *list) { free(list->names); }

/* The newest of all that were finished; of two as new the first by name. */
experiment_record output_list_recall(const output_list *list, const experiment *e, experiment_size size,
                                     const char *output, const char **where) {
    *where = output;
    if (list->named) return experiment_recall(e, size, output);
    experiment_record newest = {.done = false};
    for (int i = 0; i < list->count; i++) {
        experiment_record record = experiment_recall(e, size, list->names[i]);
        if (!record.done || (newest.done && record.modified <= newest.modified)) continue;
        newest = record;
        *where = list->names[i];
    }
    return newest;
}
