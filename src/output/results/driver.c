#include "output/results/driver.h"

#include "base/error.h"
#include "base/memory.h"
#include "fclib/h5_lock.h"
#include "h5/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct driver_file {
    H5FD_t base; /* HDF5's part comes first */
    dls_output_device *device;
    bool is_writable;
    haddr_t allocated;   /* end of what HDF5 has given out */
    haddr_t told;        /* the farthest end that the superblock spoke of, 0 where it was not written */
    haddr_t length;      /* of the file, where it is written */
    haddr_t record;      /* where the last record begins that ends the file; its end where there is none */
    dls_journal journal; /* what HDF5 has written since */
} driver_file;

static void (*watch)(const dls_driver_deed *deed, void *user);
static void *watch_user;

void dls_driver_watch(void (*before)(const dls_driver_deed *deed, void *user), void *user) {
    watch = before;
    watch_user = user;
}

/* ---- the file ---- */

/* HDF5 is not told: it crashes where a file that it cannot write has to be closed. Callers look at is_dead.
 */
static herr_t fail_write(dls_output_device *device) {
    device->write_number = errno;
    device->is_dead = true;
    return 0;
}

static bool set_length(driver_file *file, haddr_t length) {
    if (watch) watch(&(dls_driver_deed){NULL, length, 0}, watch_user);
    if (ftruncate(file->device->descriptor, (off_t)length)) return false;
    file->length = file->record = length;
    return true;
}

static herr_t write_fully(dls_output_device *device, haddr_t address, size_t size, const void *buffer) {
    const char *rest = buffer;
    while (size > 0) {
        if (watch) watch(&(dls_driver_deed){rest, address, size}, watch_user);
        ssize_t put = pwrite(device->descriptor, rest, size, (off_t)address);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_write(device);
        rest += put;
        address += (haddr_t)put;
        size -= (size_t)put;
    }
    return 0;
}

/* Readers ask for the file's length first and read the superblock then, in whatever time: the file is longer
 * than all that is told by what a writer gets done meanwhile. What is ahead takes no room but for the record,
 * and goes when all is over. */
enum { AHEAD = 1 << 20 };

/* Room for size bytes behind what HDF5 has given out. The last record goes: what it tells is in its places by
 * now, and what comes there is to find zeros. */
static void make_room(driver_file *file, haddr_t size) {
    haddr_t end = file->allocated + size;
    if (file->device->is_dead || (file->allocated <= file->record && end <= file->length)) return;
    if (file->record < file->length && !set_length(file, file->record)) {
        fail_write(file->device);
        return;
    }
    if (!set_length(file, end + 2 * AHEAD) && !set_length(file, end)) fail_write(file->device);
}

/* ---- what HDF5 calls ---- */

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t limit) {
    (void)name, (void)limit;
    dls_output_device *const *device = H5Pget_driver_info(access);
    driver_file *file = device ? DLS_NEW_ZERO(driver_file, 1) : NULL;
    if (device) (*device)->is_out_of_memory = !file;
    if (!file) return NULL;
    file->device = *device;
    file->is_writable = flags & H5F_ACC_RDWR;
    struct stat about;
    if (file->is_writable && !fstat(file->device->descriptor, &about))
        file->length = file->record = (haddr_t)about.st_size;
    return &file->base;
}

/* What the superblock tells once it is written. */
enum { SUPERBLOCK = 48, MARKS = 11, END = 28, SUM = 44 };

static void note_told(driver_file *file, const dls_journal_entry *e) {
    haddr_t end = e->address == 0 && e->size >= SUPERBLOCK ? check_number(e->bytes + END, 8) : 0;
    if (file->told < end) file->told = end;
}

/* All that HDF5 has written so far: the record first, then every block to its place, in HDF5's order, in
 * which whoever reads meanwhile finds what a block speaks of. */
static void commit(driver_file *file) {
    dls_output_device *device = file->device;
    dls_journal *journal = &file->journal;
    dls_journal_entry e;
    if (journal->used == 0 || device->is_dead) return;
    int64_t entries = journal->used;
    if (!dls_journal_seal(journal)) {
        errno = ENOMEM;
        fail_write(device);
        return;
    }
    make_room(file, (haddr_t)journal->used);
    if (!device->is_dead)
        write_fully(device, file->length - (haddr_t)journal->used, (size_t)journal->used, journal->bytes);
    file->record = file->length - (haddr_t)journal->used;
    journal->used = entries;
    for (int64_t place = 0; !device->is_dead && dls_journal_next(journal, &place, &e);) {
        note_told(file, &e);
        write_fully(device, e.address, e.size, e.bytes);
    }
    dls_journal_clear(journal);
}

static herr_t flush_file(H5FD_t *base, hid_t transfer, hbool_t closing) {
    (void)transfer, (void)closing;
    commit((driver_file *)base);
    return 0;
}

static herr_t close_file(H5FD_t *base) {
    driver_file *file = (driver_file *)base;
    commit(file);
    if (file->told && !file->device->is_dead && !set_length(file, file->told)) fail_write(file->device);
    dls_journal_free(&file->journal);
    dls_free(base);
    return 0;
}

static herr_t query(const H5FD_t *base, unsigned long *features) {
    (void)base;
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
                H5FD_FEAT_SUPPORTS_SWMR_IO;
    return 0;
}

static haddr_t get_allocated(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const driver_file *)base)->allocated;
}

static herr_t set_allocated(H5FD_t *base, H5FD_mem_t type, haddr_t address) {
    (void)type;
    driver_file *file = (driver_file *)base;
    file->allocated = address;
    if (file->is_writable) make_room(file, 0);
    return 0;
}

static haddr_t get_end(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    struct stat about;
    const driver_file *file = (const driver_file *)base;
    if (file->device->structure) return file->device->structure->size;
    return fstat(file->device->descriptor, &about) ? HADDR_UNDEF : (haddr_t)about.st_size;
}

/* What lies beyond the end reads as zeros: HDF5 asks for more than it needs. */
static herr_t read_fully(dls_output_device *device, haddr_t address, size_t size, char *rest) {
    while (size > 0) {
        ssize_t got = pread(device->descriptor, rest, size, (off_t)address);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            device->read_number = errno;
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

static herr_t read_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                         void *buffer) {
    (void)transfer;
    driver_file *file = (driver_file *)base;
    if (address > INT64_MAX - size) return -1;
    const dls_structure *structure = file->device->structure;
    herr_t status = 0;
    if (structure && type != H5FD_MEM_DRAW) /* blocks that were checked, and nothing else */
        memset(buffer, 0, size);
    else
        status = read_fully(file->device, address, size, buffer);
    if (structure) dls_structure_overlay(structure, address, size, buffer);
    dls_journal_overlay(&file->journal, address, size, buffer);
    return status;
}

/* Superblock of version 2 or 3: signature, version, two sizes, marks (byte 11), three addresses of which the
 * third is the file's end (byte 28), the root, and a checksum over it all. */
static void clear_marks(uint8_t *block) {
    block[MARKS] = 0;
    uint32_t sum = check_sum(block, SUM);
    for (int k = 0; k < 4; k++) block[SUM + k] = (uint8_t)(sum >> 8 * k);
}

/* Rows go where nobody looks until a block says so, unless they take the place of a block that waits. */
static herr_t write_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                          const void *buffer) {
    (void)transfer;
    driver_file *file = (driver_file *)base;
    dls_output_device *device = file->device;
    if (device->is_dead) return 0;
    if (address > INT64_MAX - size) return -1;
    if (type == H5FD_MEM_DRAW && !dls_journal_touches(&file->journal, address, size))
        return write_fully(device, address, size, buffer);
    uint8_t *held = dls_journal_add(&file->journal, address, size, buffer);
    if (!held) {
        errno = ENOMEM;
        return fail_write(device);
    }
    if (address == 0 && size >= SUPERBLOCK) clear_marks(held);
    return 0;
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
    .flush = flush_file,
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
