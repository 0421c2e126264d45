#define _GNU_SOURCE /* fopencookie */
#include "base/file.h"

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

dls_file_name dls_file_name_of(const char *path) {
    dls_file_name name;
    size_t length = strlen(path), room = sizeof name.text - 4;
    if (length <= room)
        snprintf(name.text, sizeof name.text, "%s", path);
    else
        snprintf(name.text, sizeof name.text, "...%s", path + length - room);
    return name;
}

/* ---- reading ---- */

dls_status dls_input_fail(const char *path, int number, dls_error *error) {
    return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be read: %s", dls_file_name_of(path).text,
                    strerror(number));
}

/* Whether another descriptor of this process has the same pipe: it was opened for us and has a writer. */
static bool is_held(const struct stat *about, int descriptor) {
    enum { MOST_DESCRIPTORS = 256 };
    struct stat other;
    for (int k = 0; k < MOST_DESCRIPTORS; k++)
        if (k != descriptor && !fstat(k, &other) && other.st_dev == about->st_dev &&
            other.st_ino == about->st_ino)
            return true;
    return false;
}

static const char *kind_name(mode_t mode) {
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a named pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

dls_status dls_input_open(const char *path, dls_input_kind kind, const char *expected, dls_input *input,
                          dls_error *error) {
    struct stat about;
    *input = (dls_input){open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), -1};
    if (input->descriptor < 0 && errno == ENXIO) /* what open() says of sockets */
        return dls_fail(error, DLS_ERROR_FILE, "%s: a socket or a device, expected %s",
                        dls_file_name_of(path).text, expected);
    if (input->descriptor < 0) return dls_input_fail(path, errno, error);
    dls_status status = DLS_OK;
    int flags = fcntl(input->descriptor, F_GETFL);
    if (fstat(input->descriptor, &about) || flags < 0)
        status = dls_input_fail(path, errno, error);
    else if (S_ISREG(about.st_mode))
        input->size = (int64_t)about.st_size;
    else if (kind != DLS_INPUT_FILE_OR_PIPE || !S_ISFIFO(about.st_mode) ||
             !is_held(&about, input->descriptor))
        status = dls_fail(error, DLS_ERROR_FILE, "%s: %s, expected %s", dls_file_name_of(path).text,
                          kind_name(about.st_mode), expected);
    if (!status && fcntl(input->descriptor, F_SETFL, flags & ~O_NONBLOCK) < 0) /* its writer may be slow */
        status = dls_input_fail(path, errno, error);
    if (status) dls_input_close(input);
    return status;
}

dls_status dls_file_open(const char *path, const char *expected, FILE **stream, dls_error *error) {
    dls_input input;
    dls_error_clear(error);
    if (!path || !expected || !stream)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "path, what is expected and a place for it are needed");
    *stream = NULL;
    dls_status status = dls_input_open(path, DLS_INPUT_FILE, expected, &input, error);
    if (status) return status;
    if ((*stream = fdopen(input.descriptor, "r"))) return DLS_OK;
    status = dls_input_fail(path, errno, error);
    dls_input_close(&input);
    return status;
}

int64_t dls_input_read(const dls_input *input, void *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t got =
            read(input->descriptor, (char *)bytes + done, size - done < SSIZE_MAX ? size - done : SSIZE_MAX);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (int64_t)done;
}

void dls_input_close(dls_input *input) {
    if (input->descriptor >= 0) close(input->descriptor);
    input->descriptor = -1;
}

/* ---- writing ---- */

static dls_status fail_writing(const char *path, int number, dls_error *error) {
    if (number == ENOMEM) return dls_fail_memory(error);
    return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be written: %s", dls_file_name_of(path).text,
                    strerror(number));
}

/* A link is followed, so that the file it names is replaced and not the link. */
static char *resolve(const char *path) {
    char *real = realpath(path, NULL);
    const char *found = real ? real : path;
    char *copy = dls_alloc_copy(found, strlen(found) + 1, 1);
    free(real);
    return copy;
}

/* Opens a new file beside target with a name that nobody has; false with errno set where that fails. */
static bool open_temporary(dls_aside *aside, mode_t mode) {
    static atomic_uint serial;
    size_t room = strlen(aside->target) + 48;
    aside->temporary = DLS_NEW(char, room);
    if (!aside->temporary) {
        errno = ENOMEM;
        return false;
    }
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(aside->temporary, room, "%s.%ld-%u.part", aside->target, (long)getpid(),
                 atomic_fetch_add(&serial, 1));
        aside->descriptor = open(aside->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (aside->descriptor >= 0 || errno != EEXIST) break;
    }
    return aside->descriptor >= 0;
}

static bool open_target(dls_aside *aside) {
    struct stat about;
    bool exists = !stat(aside->target, &about);
    if (exists && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (exists && !S_ISREG(about.st_mode)) /* renaming would replace a device by a file */
        return (aside->descriptor = open(aside->target, O_WRONLY | O_CLOEXEC)) >= 0;
    if (!open_temporary(aside, 0666)) return false;
    if (exists) (void)fchmod(aside->descriptor, about.st_mode & 07777);
    return true;
}

/* Streams keep that a write failed, but not why. */
static ssize_t write_kept(void *cookie, const char *bytes, size_t size) {
    dls_aside *aside = cookie;
    size_t done = 0;
    while (done < size && !aside->failure) {
        ssize_t put =
            write(aside->descriptor, bytes + done, size - done < SSIZE_MAX ? size - done : SSIZE_MAX);
        if (put < 0 && errno != EINTR) aside->failure = errno;
        if (put > 0) done += (size_t)put;
    }
    return aside->failure ? 0 : (ssize_t)size;
}

static void release(dls_aside *aside) {
    dls_free(aside->temporary);
    dls_free(aside->target);
    dls_free(aside);
}

void dls_aside_abandon(dls_aside *aside) {
    if (!aside) return;
    if (aside->stream) fclose(aside->stream);
    if (aside->descriptor >= 0) close(aside->descriptor);
    if (aside->temporary && aside->descriptor >= 0) unlink(aside->temporary);
    release(aside);
}

dls_status dls_aside_open(const char *path, dls_aside **result, dls_error *error) {
    dls_aside *aside = DLS_NEW(dls_aside, 1);
    *result = NULL;
    if (!aside) return dls_fail_memory(error);
    aside->descriptor = -1;
    aside->failure = 0;
    aside->stream = NULL;
    aside->temporary = NULL;
    aside->name = dls_file_name_of(path);
    aside->target = resolve(path);
    errno = ENOMEM;
    if (aside->target && open_target(aside))
        aside->stream = fopencookie(aside, "w", (cookie_io_functions_t){.write = write_kept});
    if (!aside->stream) {
        dls_status status = fail_writing(path, errno, error);
        dls_aside_abandon(aside);
        return status;
    }
    setvbuf(aside->stream, aside->buffer, _IOFBF, sizeof aside->buffer);
    *result = aside;
    return DLS_OK;
}

FILE *dls_aside_stream(dls_aside *aside) { return aside->stream; }

/* The new name lasts through a power cut once its folder is on the disk; where that cannot be had, no harm.
 */
static void flush_folder(const char *target) {
    const char *slash = strrchr(target, '/');
    char folder[PATH_MAX];
    if ((size_t)(slash ? slash - target : 0) >= sizeof folder) return;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - target) + 1 : 1, slash ? target : ".");
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

dls_status dls_aside_commit(dls_aside *aside, bool is_lasting, dls_error *error) {
    fclose(aside->stream);
    int failure = aside->failure;
    is_lasting = is_lasting && aside->temporary;
    if (!failure && is_lasting && fsync(aside->descriptor)) failure = errno;
    if (close(aside->descriptor) && !failure) failure = errno;
    if (!failure && aside->temporary && rename(aside->temporary, aside->target)) failure = errno;
    if (!failure && is_lasting) flush_folder(aside->target);
    if (failure && aside->temporary) unlink(aside->temporary);
    dls_status status = failure ? fail_writing(aside->name.text, failure, error) : DLS_OK;
    release(aside);
    return status;
}

dls_status dls_aside_close(dls_aside *aside, dls_status status, bool is_lasting, dls_error *error) {
    if (!status) return dls_aside_commit(aside, is_lasting, error);
    dls_aside_abandon(aside);
    return status;
}

dls_status dls_file_write(const char *path, const void *bytes, size_t size, dls_error *error) {
    dls_aside *aside;
    dls_status status = dls_aside_open(path, &aside, error);
    if (status) return status;
    fwrite(bytes, 1, size, aside->stream);
    return dls_aside_commit(aside, true, error);
}

/* ---- folders ---- */

char *dls_path_join(const char *folder, const char *name) {
    size_t length = strlen(folder), room = length + strlen(name) + 2;
    char *path = DLS_NEW(char, room);
    if (path) snprintf(path, room, "%s%s%s", folder, length && folder[length - 1] != '/' ? "/" : "", name);
    return path;
}

/* 0 or errno. */
static int make_folders(char *path) {
    struct stat about;
    for (char *at = path; *at; at++) {
        if (*at != '/' || at == path) continue;
        *at = '\0';
        int failure = mkdir(path, 0777) && errno != EEXIST ? errno : 0;
        *at = '/';
        if (failure) return failure;
    }
    if (mkdir(path, 0777) && errno != EEXIST) return errno;
    if (stat(path, &about)) return errno;
    if (!S_ISDIR(about.st_mode)) return ENOTDIR;
    return access(path, W_OK | X_OK) ? errno : 0;
}

dls_status dls_folder_make(const char *path, dls_error *error) {
    if (!*path) return dls_fail(error, DLS_ERROR_FILE, "'': the name is empty, expected a folder");
    char *copy = dls_alloc_copy(path, strlen(path) + 1, 1);
    if (!copy) return dls_fail_memory(error);
    int failure = make_folders(copy);
    dls_free(copy);
    return failure ? fail_writing(path, failure, error) : DLS_OK;
}
