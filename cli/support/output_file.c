/* Written aside and renamed; a disk that fills leaves the former file as it was. */
#include "cli/support/output_file.h"

#include "cli/support/report.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* path with symbolic links followed, so that a link stays a link; path itself where nothing is there yet. */
static char *follow_links(const char *path) {
    char *target = realpath(path, NULL);
    if (target) return target;
    target = report_allocate(strlen(path) + 1, 1);
    memcpy(target, path, strlen(path) + 1);
    return target;
}

/* mkstemp makes private files; ours get the rights that any new file has. */
static void give_common_rights(int descriptor) {
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor, 0666 & ~mask)) return; /* file systems without rights are fine, too */
}

/* Opens a new file and completes its name in place; NULL, and no file, on failure. */
static FILE *open_aside(char *name) {
    int descriptor = mkstemp(name);
    if (descriptor < 0) return NULL;
    give_common_rights(descriptor);
    FILE *stream = fdopen(descriptor, "w");
    if (stream) return stream;
    close(descriptor);
    unlink(name);
    return NULL;
}

static bool refuse(const char *path, const char *what) {
    report_error("%s: cannot write: %s", path, what);
    return false;
}

static void release(output_file *out) {
    free(out->target);
    free(out->aside);
    *out = (output_file){0};
}

bool output_file_open(output_file *out, const char *path) {
    *out = (output_file){.path = path, .target = follow_links(path)};
    struct stat there;
    bool exists = stat(path, &there) == 0;
    if (exists && S_ISDIR(there.st_mode)) {
        release(out);
        return refuse(path, "it is a folder, expected a file name");
    }
    if (exists && !S_ISREG(there.st_mode)) {
        out->stream = fopen(path, "w"); /* devices and pipes have no other name */
    } else {
        size_t size = strlen(out->target) + sizeof ".XXXXXX";
        out->aside = report_allocate(size, 1);
        snprintf(out->aside, size, "%s.XXXXXX", out->target);
        out->stream = open_aside(out->aside);
    }
    if (out->stream) return true;
    int why = errno;
    release(out);
    return refuse(path, strerror(why));
}

bool output_file_commit(output_file *out) {
    errno = 0;
    bool good = fflush(out->stream) == 0 && !ferror(out->stream);
    if (good && out->aside) good = fsync(fileno(out->stream)) == 0;
    int why = errno;
    if (fclose(out->stream) && good) {
        good = false;
        why = errno;
    }
    if (good && out->aside && rename(out->aside, out->target)) {
        good = false;
        why = errno;
    }
    const char *path = out->path;
    if (!good && out->aside) unlink(out->aside);
    release(out);
    return good || refuse(path, why ? strerror(why) : "the disk gave no reason");
}

void output_file_discard(output_file *out) {
    if (!out->stream) return;
    fclose(out->stream);
    if (out->aside) unlink(out->aside);
    release(out);
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
    report_error("%s: cannot write: it is %s, which is read; expected another name", output, input);
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

static bool make_one(const char *folder) {
    struct stat there;
    if (mkdir(folder, 0777) == 0) return true;
    if (errno == EEXIST && stat(folder, &there) == 0 && S_ISDIR(there.st_mode)) return true;
    if (errno == EEXIST) errno = ENOTDIR;
    return false;
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
    char folder[PATH_MAX];
    if (!*path || strlen(path) >= sizeof folder) return refuse(*path ? path : "''", "no usable folder name");
    snprintf(folder, sizeof folder, "%s", path);
    for (char *at = folder + 1; *at; at++) {
        if (*at != '/') continue;
        *at = '\0';
        if (!make_one(folder)) return refuse(path, strerror(errno));
        *at = '/';
    }
    if (!make_one(folder)) return refuse(path, strerror(errno));
    if (access(folder, W_OK | X_OK)) return refuse(path, strerror(errno));
    return true;
}
