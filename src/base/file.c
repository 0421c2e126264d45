#include "base/file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
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
