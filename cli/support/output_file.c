#include "cli/support/output_file.h"

#include "cli/support/report.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const char *path, const char *what) {
    report_error("%s: cannot be written: %s", path, what);
    return false;
}

bool output_file_open(output_file *out, const char *path) {
    dls_error error;
    *out = (output_file){0};
    if (dls_aside_open(path, &out->aside, &error)) {
        report_error("%s", error.message);
        return false;
    }
    out->stream = dls_aside_stream(out->aside);
    return true;
}

bool output_file_commit(output_file *out) {
    dls_error error;
    dls_status status = dls_aside_commit(out->aside, true, &error);
    *out = (output_file){0};
    if (status) report_error("%s", error.message);
    return !status;
}

void output_file_discard(output_file *out) {
    dls_aside_abandon(out->aside);
    *out = (output_file){0};
}

/* The folder that holds path. */
static void folder_of(const char *path, char *folder, size_t size) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(folder, size, ".");
    else if (slash == path)
        snprintf(folder, size, "/");
    else
        snprintf(folder, size, "%.*s", (int)(slash - path), path);
}

bool output_path_check(const char *path) {
    struct stat there;
    if (!*path) return refuse("''", "the name is empty, expected a file name");
    if (stat(path, &there) == 0) {
        if (S_ISDIR(there.st_mode)) return refuse(path, "it is a folder, expected a file name");
        if (!S_ISREG(there.st_mode)) return refuse(path, "it is no regular file, expected one or a new name");
    }
    char folder[PATH_MAX];
    folder_of(path, folder, sizeof folder);
    if (stat(folder, &there)) return refuse(path, strerror(errno));
    if (!S_ISDIR(there.st_mode)) return refuse(path, strerror(ENOTDIR));
    if (access(folder, W_OK | X_OK)) return refuse(path, strerror(errno));
    return true;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool output_is_apart(const char *output, const char *input) {
    struct stat a, b;
    if (stat(input, &a) || stat(output, &b) || !is_same_file(&a, &b)) return true;
    report_error("%s: cannot be written: it is %s, which is read; expected another name", output, input);
    return false;
}

bool output_stem_is_apart(const char *stem, int count, const char *const *endings, const char *input) {
    for (int k = 0; k < count; k++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s%s", stem, endings[k]);
        if (length > 0 && (size_t)length < sizeof path && !output_is_apart(path, input)) return false;
    }
    return true;
}

bool output_folder_is_apart(const char *folder, const char *input) {
    static const char *const endings[] = {".csv", ".json", ".png", ".svg", ".pvd", ".vtp"};
    const char *slash = strrchr(input, '/'), *dot = strrchr(slash ? slash : input, '.');
    char home[PATH_MAX];
    struct stat a, b;
    folder_of(input, home, sizeof home);
    if (!dot || stat(folder, &a) || stat(home, &b) || !is_same_file(&a, &b)) return true;
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (!strcmp(dot, endings[k]))
            return refuse(folder, "what is read lies there, expected another folder");
    return true;
}

bool output_path_named_after(const char *file, const char *ending, char *path, size_t size) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strrchr(base, '.');
    int stem = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    int length = snprintf(path, size, "%.*s%s", stem, base, ending);
    if (length > 0 && (size_t)length < size) return true;
    report_error("the name of %.300s… is too long", file);
    return false;
}

bool output_folder_make(const char *path) {
    dls_error error;
    if (!dls_folder_make(path, &error)) return true;
    report_error("%s", error.message);
    return false;
}
