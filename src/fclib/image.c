#include "fclib/image.h"

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

static bool grow(dls_image *image, size_t used, size_t room) {
    uint8_t *grown = DLS_NEW(uint8_t, room);
    if (!grown) return false;
    if (used) memcpy(grown, image->bytes, used);
    dls_free(image->bytes);
    image->bytes = grown;
    image->size = room;
    return true;
}

static dls_status read_input(const dls_input *input, const char *path, dls_image *image, dls_error *error) {
    enum { SIGNATURE = 8, FIRST_ROOM = 1 << 16 };
    uint8_t first[SIGNATURE];
    int64_t got = dls_input_read(input, first, sizeof first);
    if (got < 0) return dls_input_fail(path, errno, error);
    bool is_hdf5 = got == SIGNATURE && !memcmp(first, "\x89HDF\r\n\x1a\n", SIGNATURE);
    size_t used = (size_t)got;
    if (!grow(image, 0, is_hdf5 && input->size >= got ? (size_t)input->size + 1 : FIRST_ROOM))
        return dls_fail_memory(error);
    memcpy(image->bytes, first, used);
    while (is_hdf5) {
        got = dls_input_read(input, image->bytes + used, image->size - used);
        if (got < 0) return dls_input_fail(path, errno, error);
        used += (size_t)got;
        if (used < image->size) break;
        if (!grow(image, used, 2 * image->size)) return dls_fail_memory(error);
    }
    image->size = used;
    return DLS_OK;
}

dls_status dls_image_read(const char *path, dls_image *image, dls_error *error) {
    *image = (dls_image){0};
    dls_input input;
    dls_status status =
        dls_input_open(path, DLS_INPUT_FILE_OR_PIPE, "a file with a contact problem", &input, error);
    if (!status) status = read_input(&input, path, image, error);
    dls_input_close(&input);
    if (status) dls_image_free(image);
    return status;
}

void dls_image_free(dls_image *image) {
    dls_free(image->bytes);
    *image = (dls_image){0};
}

/* ---- writing ---- */

static dls_status fail_writing(const dls_aside *aside, int number) {
    return dls_fail(aside->error, DLS_ERROR_FILE, "%s: cannot be written: %s", aside->name.text,
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

static void release(dls_aside *aside) {
    dls_free(aside->temporary);
    dls_free(aside->target);
    aside->temporary = aside->target = NULL;
}

dls_status dls_aside_open(dls_aside *aside, const char *path, dls_error *error) {
    *aside = (dls_aside){.descriptor = -1, .name = dls_file_name_of(path), .error = error};
    aside->target = resolve(path);
    if (!aside->target) return dls_fail_memory(error);
    struct stat about;
    bool exists = !stat(aside->target, &about), opened = false;
    if (exists && S_ISDIR(about.st_mode))
        errno = EISDIR;
    else if (exists && !S_ISREG(about.st_mode)) /* renaming would replace a device by a file */
        opened = (aside->descriptor = open(aside->target, O_WRONLY | O_CLOEXEC)) >= 0;
    else
        opened = open_temporary(aside, 0666);
    if (opened) {
        if (exists && aside->temporary) (void)fchmod(aside->descriptor, about.st_mode & 07777);
        return DLS_OK;
    }
    dls_status status = errno == ENOMEM ? dls_fail_memory(error) : fail_writing(aside, errno);
    release(aside);
    return status;
}

dls_status dls_aside_write(dls_aside *aside, const void *bytes, size_t size) {
    const char *rest = bytes;
    while (size > 0) {
        ssize_t put = write(aside->descriptor, rest, size < SSIZE_MAX ? size : SSIZE_MAX);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_writing(aside, errno);
        rest += put;
        size -= (size_t)put;
    }
    return DLS_OK;
}

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

dls_status dls_aside_commit(dls_aside *aside) {
    dls_status status = DLS_OK;
    if (aside->temporary && !aside->is_quick && fsync(aside->descriptor)) status = fail_writing(aside, errno);
    if (close(aside->descriptor) && !status) status = fail_writing(aside, errno);
    aside->descriptor = -1;
    if (!status && aside->temporary && rename(aside->temporary, aside->target))
        status = fail_writing(aside, errno);
    if (!status && aside->temporary && !aside->is_quick) flush_folder(aside->target);
    if (status && aside->temporary) unlink(aside->temporary);
    release(aside);
    return status;
}

void dls_aside_abandon(dls_aside *aside) {
    close(aside->descriptor);
    if (aside->temporary) unlink(aside->temporary);
    release(aside);
}
