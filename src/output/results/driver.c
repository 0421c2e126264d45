#include "output/results/driver.h"

#include "base/error.h"
#include "base/memory.h"
#include "fclib/check.h"
#include "fclib/h5_lock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct driver_file {
    H5FD_t base; /* HDF5's part comes first */
    dls_output_device *device;
    haddr_t allocated; /* end of what HDF5 has given out */
    off_t told;        /* the farthest end that the superblock spoke of, 0 where it was not written */
} driver_file;

static void (*watch)(void *user);
static void *watch_user;

void dls_driver_watch(void (*before_write)(void *user), void *user) {
    watch = before_write;
    watch_user = user;
}

/* ---- what HDF5 calls ---- */

/* HDF5 is not told: it crashes where a file that it cannot write has to be closed. Callers look at is_dead.
 */
static herr_t fail_write(dls_output_device *device) {
    device->write_number = errno;
    device->is_dead = true;
    return 0;
}

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t limit) {
    (void)name, (void)flags, (void)limit;
    dls_output_device *const *device = H5Pget_driver_info(access);
    driver_file *file = device ? DLS_NEW_ZERO(driver_file, 1) : NULL;
    if (device) (*device)->is_out_of_memory = !file;
    if (!file) return NULL;
    file->device = *device;
    return &file->base;
}

static herr_t close_file(H5FD_t *base) {
    driver_file *file = (driver_file *)base;
    herr_t status = 0;
    if (file->told && !file->device->is_dead && ftruncate(file->device->descriptor, file->told))
        status = fail_write(file->device);
    dls_free(base);
    return status;
}

static herr_t query(const H5FD_t *base, unsigned long *features) {
    (void)base;
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO;
    return 0;
}

static haddr_t get_allocated(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)base)->allocated;
}

static herr_t set_allocated(H5FD_t *base, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((driver_file *)base)->allocated = address;
    return 0;
}

static haddr_t get_end(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    struct stat about;
    const driver_file *file = (const driver_file *)base;
    return fstat(file->device->descriptor, &about) ? HADDR_UNDEF : (haddr_t)about.st_size;
}

/* What lies beyond the end reads as zeros: HDF5 asks for more than it needs. */
static herr_t read_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                         void *buffer) {
    (void)type, (void)transfer;
    driver_file *file = (driver_file *)base;
    char *rest = buffer;
    if (address > INT64_MAX - size) return -1;
    while (size > 0) {
        ssize_t got = pread(file->device->descriptor, rest, size, (off_t)address);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            file->device->read_number = errno;
            return -1;
        }
        if (got == 0) {
            memset(rest, 0, size);
            break;
        }
        rest += got;
        address += (haddr_t)got;
        size -= (size_t)got;
    }
    return 0;
}

static herr_t write_fully(dls_output_device *device, haddr_t address, size_t size, const void *buffer) {
    const char *rest = buffer;
    while (size > 0) {
        if (watch) watch(watch_user);
        ssize_t put = pwrite(device->descriptor, rest, size, (off_t)address);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_write(device);
        rest += put;
        address += (haddr_t)put;
        size -= (size_t)put;
    }
    return 0;
}

/* Superblock of version 2 or 3: signature, version, two sizes, marks (byte 11), three addresses of which the
 * third is the file's end (byte 28), the root, and a checksum over it all. */
enum { SUPERBLOCK = 48, MARKS = 11, END = 28, SUM = 44 };

/* Readers ask for the file's length first and read the superblock then, in whatever time: the file is longer
 * than all that is told by what a writer gets done meanwhile. What is ahead takes no room, and goes when all
 * is over. */
enum { AHEAD = 1 << 20 };

static herr_t write_superblock(driver_file *file, const void *buffer) {
    dls_output_device *device = file->device;
    uint8_t block[SUPERBLOCK];
    struct stat about;
    memcpy(block, buffer, sizeof block);
    block[MARKS] = 0;
    uint32_t sum = check_sum(block, SUM);
    for (int k = 0; k < 4; k++) block[SUM + k] = (uint8_t)(sum >> 8 * k);
    off_t end = (off_t)check_number(block + END, 8);
    if (fstat(device->descriptor, &about)) return fail_write(device);
    if (about.st_size < end + AHEAD && ftruncate(device->descriptor, end + 2 * AHEAD) &&
        about.st_size < end && ftruncate(device->descriptor, end))
        return fail_write(device);
    if (file->told < end) file->told = end;
    return write_fully(device, 0, sizeof block, block);
}

static herr_t write_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                          const void *buffer) {
    (void)type, (void)transfer;
    dls_output_device *device = ((driver_file *)base)->device;
    if (device->is_dead) return 0;
    if (address > INT64_MAX - size) return -1;
    if (address > 0 || size < SUPERBLOCK) return write_fully(device, address, size, buffer);
    /* what the superblock speaks of goes before it */
    write_fully(device, SUPERBLOCK, size - SUPERBLOCK, (const char *)buffer + SUPERBLOCK);
    return device->is_dead ? 0 : write_superblock((driver_file *)base, buffer);
}

/* Only ever longer: readers may still look at what lies behind. */
static herr_t truncate_file(H5FD_t *base, hid_t transfer, hbool_t closing) {
    (void)transfer, (void)closing;
    driver_file *file = (driver_file *)base;
    struct stat about;
    if (file->device->is_dead) return 0;
    if (fstat(file->device->descriptor, &about)) return fail_write(file->device);
    if ((haddr_t)about.st_size >= file->allocated) return 0;
    return ftruncate(file->device->descriptor, (off_t)file->allocated) ? fail_write(file->device) : 0;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = 600, /* a number of the range for private drivers */
#endif
    .name = "delassus",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG, /* an identifier that stayed open must not keep the file open */
    .fapl_size = sizeof(dls_output_device *),
    .open = open_file,
    .close = close_file,
    .query = query,
    .get_eoa = get_allocated,
    .set_eoa = set_allocated,
    .get_eof = get_end,
    .read = read_bytes,
    .write = write_bytes,
    .truncate = truncate_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t dls_driver_access(dls_output_device *device) {
    /* registered once and for good: HDF5 still reads the class of a file's driver after it let go of it */
    static hid_t number = H5I_INVALID_HID;
    if (H5Iis_valid(number) <= 0) number = H5FDregister(&driver);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    bool done = number >= 0 && access >= 0 && H5Pset_driver(access, number, &device) >= 0 &&
                H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0;
    if (done) return access;
    if (access >= 0) H5Pclose(access);
    return H5I_INVALID_HID;
}

/* ---- what HDF5 says: the first complaint since it was told to be silent ---- */

static _Thread_local char complaint[160];

static herr_t take_innermost(unsigned depth, const H5E_error2_t *entry, void *user) {
    (void)user;
    if (depth > 0 || !entry->desc) return 0;
    snprintf(complaint, sizeof complaint, "%s", entry->desc);
    for (char *at = complaint; *at; at++)
        if (*at == '\n' || *at == '\r' || *at == '\t') *at = ' ';
    return 0;
}

/* Called where HDF5 would print. */
static herr_t note(hid_t stack, void *user) {
    return complaint[0] ? 0 : H5Ewalk2(stack, H5E_WALK_UPWARD, take_innermost, user);
}

dls_silence dls_silence_begin(void) {
    dls_silence silence = {0};
    dls_h5_lock();
    complaint[0] = '\0';
    H5Eget_auto2(H5E_DEFAULT, &silence.print, &silence.data);
    H5Eset_auto2(H5E_DEFAULT, note, NULL);
    return silence;
}

/* Whether it is what HDF5 prints with unless told otherwise: what a new stack of errors has. */
static bool is_own_printer(H5E_auto2_t print) {
    H5E_auto2_t own = NULL;
    void *data;
    hid_t stack = H5Ecreate_stack();
    if (stack < 0) return false;
    H5Eget_auto2(stack, &own, &data);
    H5Eclose_stack(stack);
    return print == own;
}

/* Once HDF5 has failed, its own printer stays off: at the end of the process it would complain of what it
 * lost on the way. */
void dls_silence_end(dls_silence silence) {
    H5Eclear2(H5E_DEFAULT);
    if (complaint[0] && is_own_printer(silence.print))
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    else
        H5Eset_auto2(H5E_DEFAULT, silence.print, silence.data);
    dls_h5_unlock();
}

dls_status dls_driver_fail(const dls_output_device *device, const char *name, const char *done,
                           dls_error *error) {
    int number = device->write_number ? device->write_number : device->read_number;
    if (number) return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be %s: %s", name, done, strerror(number));
    if (!complaint[0] || device->is_out_of_memory) /* HDF5 was not the one who failed */
        return dls_fail_memory(error);
    return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be %s: HDF5 says: %s", name, done, complaint);
}
