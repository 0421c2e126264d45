#include "fclib/h5.h"

#include "base/error.h"
#include "base/memory.h"
#include "fclib/h5_lock.h"
#include "h5/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

dls_status dls_h5_fail(const dls_h5 *h5, const char *where, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return dls_fail(h5->error, DLS_ERROR_INPUT, "%s: %s: %s", h5->name, where, text);
}

static dls_status fail_inside(const dls_h5 *h5, const char *what) {
    return dls_fail(h5->error, DLS_ERROR_FILE, "%s: the HDF5 library could not %s", h5->name, what);
}

/* ---- HDF5's memory driver, on our memory: what it opens is lent, what it writes to is ours to keep ---- */

static void *provide(size_t size, H5FD_file_image_op_t operation, void *user) {
    dls_h5_memory *memory = user;
    if (operation != H5FD_FILE_IMAGE_OP_FILE_OPEN || !memory->is_writable) return memory->lent.bytes;
    return size <= memory->own.size ? memory->own.bytes : NULL;
}

static void *copy(void *target, const void *source, size_t size, H5FD_file_image_op_t operation, void *user) {
    (void)operation, (void)user;
    return target == source ? target : memcpy(target, source, size);
}

static void *enlarge(void *bytes, size_t size, H5FD_file_image_op_t operation, void *user) {
    (void)operation;
    dls_h5_memory *memory = user;
    dls_image old = memory->own;
    if (!memory->is_writable) return bytes;
    if (size <= old.size) return old.bytes;
    uint8_t *grown = DLS_NEW(uint8_t, size + size / 2);
    if (!grown) return NULL;
    memcpy(grown, old.bytes, old.size);
    dls_free(old.bytes);
    memory->own = (dls_image){grown, size + size / 2};
    return grown;
}

static herr_t keep(void *bytes, H5FD_file_image_op_t operation, void *user) {
    (void)bytes, (void)operation, (void)user;
    return 0;
}

static void *share(void *user) { return user; }

static herr_t unshare(void *user) {
    (void)user;
    return 0;
}

/* ---- opening and closing ---- */

static void silence(dls_h5 *h5) {
    dls_h5_lock();
    H5Eget_auto2(H5E_DEFAULT, &h5->print, &h5->print_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void end_silence(const dls_h5 *h5) {
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, h5->print, h5->print_data);
    dls_h5_unlock();
}

/* Files grow in steps of 64 kB; headers and tables of an FCLib file take less than the room for them. */
enum { GROWTH = 1 << 16, ROOM_FOR_HEADERS = 1 << 18 };

static hid_t memory_access(dls_h5 *h5) {
    H5FD_file_image_callbacks_t callbacks = {provide, copy, enlarge, keep, share, unshare, &h5->memory};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    bool is_set =
        H5Pset_fapl_core(access, GROWTH, 0) >= 0 && H5Pset_file_image_callbacks(access, &callbacks) >= 0;
    if (is_set && h5->memory.lent.size)
        is_set = H5Pset_file_image(access, h5->memory.lent.bytes, h5->memory.lent.size) >= 0;
    if (is_set) return access;
    if (access >= 0) H5Pclose(access);
    return H5I_INVALID_HID;
}

/* HDF5 takes two memory files of one name for the same file, so each gets its own. */
static dls_status open_memory(dls_h5 *h5) {
    static atomic_uint serial;
    char name[48];
    snprintf(name, sizeof name, "delassus-image-%u", atomic_fetch_add(&serial, 1));
    silence(h5);
    hid_t access = memory_access(h5);
    if (access >= 0 && h5->memory.lent.size == 0)
        h5->file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    else if (access >= 0)
        h5->file = H5Fopen(name, h5->memory.is_writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
    if (access >= 0) H5Pclose(access);
    if (h5->file >= 0) return DLS_OK;
    dls_status status = fail_inside(h5, "open the file");
    dls_h5_close(h5);
    return status;
}

dls_status dls_h5_open(dls_h5 *h5, dls_image image, const char *name, dls_error *error) {
    *h5 = (dls_h5){.file = H5I_INVALID_HID, .memory.lent = image, .name = name, .error = error};
    return open_memory(h5);
}

dls_status dls_h5_open_copy(dls_h5 *h5, dls_image image, size_t added, const char *name, dls_error *error) {
    *h5 = (dls_h5){.file = H5I_INVALID_HID, .memory.lent = image, .name = name, .error = error};
    size_t room = image.size + added + ROOM_FOR_HEADERS;
    h5->memory.is_writable = true;
    h5->memory.own = (dls_image){DLS_NEW(uint8_t, room), room};
    return h5->memory.own.bytes ? open_memory(h5) : dls_fail_memory(error);
}

void dls_h5_close(dls_h5 *h5) {
    if (h5->file >= 0) H5Fclose(h5->file);
    h5->file = H5I_INVALID_HID;
    dls_image_free(&h5->memory.own);
    end_silence(h5);
}

/* The driver's buffer is longer than the file; the superblock, written last, knows where that ends. */
dls_status dls_h5_close_into(dls_h5 *h5, dls_image *image) {
    *image = (dls_image){0};
    dls_status status = H5Fclose(h5->file) < 0 ? fail_inside(h5, "finish the file") : DLS_OK;
    h5->file = H5I_INVALID_HID;
    if (!status) {
        *image = h5->memory.own;
        h5->memory.own = (dls_image){0};
        image->size = (size_t)dls_h5_stored_size(image->bytes);
    }
    dls_h5_close(h5);
    return status;
}

/* ---- reading ---- */

bool dls_h5_has(const dls_h5 *h5, const char *where) {
    char part[256];
    size_t length = strlen(where);
    if (length >= sizeof part) return false;
    for (size_t k = 1; k <= length; k++) { /* every link on the way must be there */
        part[k - 1] = where[k - 1];
        part[k] = '\0';
        if ((where[k] == '/' || k == length) && H5Lexists(h5->file, part, H5P_DEFAULT) <= 0) return false;
    }
    return true;
}

static const char *class_name(H5T_class_t class) {
    return class == H5T_INTEGER ? "integers" : class == H5T_FLOAT ? "real numbers" : "text";
}

/* A dataset open for reading, with all that must be closed. */
typedef struct open_dataset {
    hid_t dataset, type, space;
    H5T_class_t class;
    int64_t count;
} open_dataset;

static void close_dataset(open_dataset *d) {
    if (d->space >= 0) H5Sclose(d->space);
    if (d->type >= 0) H5Tclose(d->type);
    if (d->dataset >= 0) H5Dclose(d->dataset);
}

static dls_status open_at(const dls_h5 *h5, const char *where, const char *expected, open_dataset *d) {
    *d = (open_dataset){H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID, H5T_NO_CLASS, 0};
    d->dataset = H5Dopen2(h5->file, where, H5P_DEFAULT);
    if (d->dataset < 0)
        return dls_h5_fail(h5, where, "%s, expected %s", dls_h5_has(h5, where) ? "a group" : "missing",
                           expected);
    d->type = H5Dget_type(d->dataset);
    d->space = H5Dget_space(d->dataset);
    d->class = H5Tget_class(d->type);
    d->count = H5Sget_simple_extent_npoints(d->space);
    return d->type < 0 || d->space < 0 || d->count < 0 ? fail_inside(h5, "describe a dataset") : DLS_OK;
}

/* One row of numbers: all extents but one are 1. */
static bool is_row(const open_dataset *d) {
    hsize_t extent[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_dims(d->space, extent, NULL), longer = 0;
    for (int k = 0; k < rank; k++) longer += extent[k] != 1;
    return rank >= 0 && longer <= 1;
}

static dls_status check_length(const dls_h5 *h5, const char *where, int64_t low, int64_t high,
                               const open_dataset *d) {
    if (!is_row(d)) return dls_h5_fail(h5, where, "several rows of numbers, expected one");
    if (d->count >= low && d->count <= high) return DLS_OK;
    if (low == high) return dls_h5_fail(h5, where, "%" PRId64 " numbers, expected %" PRId64, d->count, low);
    return dls_h5_fail(h5, where, "%" PRId64 " numbers, expected %" PRId64 " to %" PRId64, d->count, low,
                       high);
}

dls_status dls_h5_read_ints(const dls_h5 *h5, const char *where, int64_t low, int64_t high, int **values,
                            int64_t *count) {
    open_dataset d;
    *values = NULL;
    dls_status status = open_at(h5, where, "integers", &d);
    if (!status && d.class != H5T_INTEGER)
        status = dls_h5_fail(h5, where, "%s, expected integers", class_name(d.class));
    if (!status) status = check_length(h5, where, low, high, &d);
    if (!status && !(*values = DLS_NEW(int, d.count))) status = dls_fail_memory(h5->error);
    if (!status && H5Dread(d.dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0)
        status = fail_inside(h5, "read integers");
    *count = d.count;
    close_dataset(&d);
    if (!status) return DLS_OK;
    dls_free(*values);
    *values = NULL;
    return status;
}

dls_status dls_h5_read_int(const dls_h5 *h5, const char *where, int low, int high, int *value) {
    int *values;
    int64_t count;
    dls_status status = dls_h5_read_ints(h5, where, 1, 1, &values, &count);
    if (status) return status;
    *value = values[0];
    dls_free(values);
    if (*value >= low && *value <= high) return DLS_OK;
    return dls_h5_fail(h5, where, "%d, expected %d to %d", *value, low, high);
}

static dls_status check_finite(const dls_h5 *h5, const char *where, int64_t count, const double *values) {
    for (int64_t k = 0; k < count; k++)
        if (!isfinite(values[k]))
            return dls_h5_fail(h5, where, "number %" PRId64 " is %g, expected a finite one", k, values[k]);
    return DLS_OK;
}

dls_status dls_h5_read_reals(const dls_h5 *h5, const char *where, int64_t low, int64_t high, double **values,
                             int64_t *count) {
    open_dataset d;
    *values = NULL;
    dls_status status = open_at(h5, where, "real numbers", &d);
    if (!status && d.class != H5T_FLOAT && d.class != H5T_INTEGER)
        status = dls_h5_fail(h5, where, "%s, expected real numbers", class_name(d.class));
    if (!status) status = check_length(h5, where, low, high, &d);
    if (!status && !(*values = DLS_NEW(double, d.count))) status = dls_fail_memory(h5->error);
    if (!status && H5Dread(d.dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0)
        status = fail_inside(h5, "read real numbers");
    if (!status) status = check_finite(h5, where, d.count, *values);
    *count = d.count;
    close_dataset(&d);
    if (!status) return DLS_OK;
    dls_free(*values);
    *values = NULL;
    return status;
}

/* Text of any length: HDF5 allocates it. */
static dls_status read_long_text(const dls_h5 *h5, const open_dataset *d, char **text) {
    char *found = NULL;
    if (H5Dread(d->dataset, d->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &found) < 0)
        return fail_inside(h5, "read text");
    *text = dls_alloc_copy(found ? found : "", found ? strlen(found) + 1 : 1, 1);
    H5free_memory(found);
    return *text ? DLS_OK : dls_fail_memory(h5->error);
}

dls_status dls_h5_read_text(const dls_h5 *h5, const char *where, char **text) {
    open_dataset d;
    *text = NULL;
    if (!dls_h5_has(h5, where)) return DLS_OK;
    dls_status status = open_at(h5, where, "text", &d);
    if (!status && (d.class != H5T_STRING || d.count != 1))
        status = dls_h5_fail(h5, where, "%" PRId64 " × %s, expected one text", d.count, class_name(d.class));
    if (!status && H5Tis_variable_str(d.type) > 0) {
        status = read_long_text(h5, &d, text);
    } else if (!status) {
        *text = DLS_NEW_ZERO(char, H5Tget_size(d.type) + 1);
        if (!*text)
            status = dls_fail_memory(h5->error);
        else if (H5Dread(d.dataset, d.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *text) < 0)
            status = fail_inside(h5, "read text");
    }
    close_dataset(&d);
    if (status) {
        dls_free(*text);
        *text = NULL;
    }
    return status;
}

/* ---- writing ---- */

/* Takes the name away and leaves the object: to free its room HDF5 would read attributes that nobody checked.
 */
static dls_status unlink_object(const dls_h5 *h5, const char *where) {
    hid_t object = H5Oopen(h5->file, where, H5P_DEFAULT);
    bool done = object >= 0 && H5Oincr_refcount(object) >= 0 && H5Ldelete(h5->file, where, H5P_DEFAULT) >= 0;
    if (object >= 0) H5Oclose(object);
    return done ? DLS_OK : fail_inside(h5, "replace an object");
}

dls_status dls_h5_make_group(const dls_h5 *h5, const char *where) {
    dls_status status = DLS_OK;
    bool exists = dls_h5_has(h5, where);
    hid_t group = exists ? H5Gopen2(h5->file, where, H5P_DEFAULT) : H5I_INVALID_HID;
    if (exists && group < 0) status = unlink_object(h5, where);
    if (!status && group < 0) group = H5Gcreate2(h5->file, where, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (!status && group < 0) return fail_inside(h5, "make a group");
    if (group >= 0) H5Gclose(group);
    return status;
}

/* Without times of creation, the same content gives the same bytes. */
static dls_status make_dataset(const dls_h5 *h5, const char *where, hid_t type, hid_t space,
                               const void *data) {
    hid_t dataset = H5I_INVALID_HID, creation = H5Pcreate(H5P_DATASET_CREATE);
    herr_t outcome = H5Pset_obj_track_times(creation, 0);
    if (outcome >= 0) dataset = H5Dcreate2(h5->file, where, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (dataset >= 0) outcome = H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    if (dataset < 0 || H5Dclose(dataset) < 0) outcome = -1;
    H5Pclose(creation);
    return outcome < 0 ? fail_inside(h5, "write a dataset") : DLS_OK;
}

static dls_status make_row(const dls_h5 *h5, const char *where, hid_t type, int64_t count, const void *data) {
    hsize_t extent = (hsize_t)count;
    hid_t space = H5Screate_simple(1, &extent, NULL);
    if (space < 0) return fail_inside(h5, "describe a dataset");
    dls_status status = make_dataset(h5, where, type, space, data);
    H5Sclose(space);
    return status;
}

dls_status dls_h5_write_int(const dls_h5 *h5, const char *where, int value) {
    return make_row(h5, where, H5T_NATIVE_INT, 1, &value);
}

dls_status dls_h5_write_ints(const dls_h5 *h5, const char *where, int64_t count, const int *values) {
    return make_row(h5, where, H5T_NATIVE_INT, count, values);
}

/* A dataset of the right kind and length takes new values and keeps its place. */
static bool overwrite(const dls_h5 *h5, const char *where, int64_t count, const double *values) {
    open_dataset d;
    bool done = !open_at(h5, where, "real numbers", &d) && d.class == H5T_FLOAT &&
                H5Tget_size(d.type) == sizeof(double) && d.count == count &&
                H5Dwrite(d.dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    close_dataset(&d);
    return done;
}

dls_status dls_h5_write_reals(const dls_h5 *h5, const char *where, int64_t count, const double *values) {
    if (dls_h5_has(h5, where)) {
        if (overwrite(h5, where, count, values)) return DLS_OK;
        dls_error_clear(h5->error);
        dls_status status = unlink_object(h5, where);
        if (status) return status;
    }
    return make_row(h5, where, H5T_NATIVE_DOUBLE, count, values);
}

dls_status dls_h5_write_text(const dls_h5 *h5, const char *where, const char *text) {
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    dls_status status = DLS_OK;
    if (type < 0 || space < 0 || H5Tset_size(type, strlen(text) + 1) < 0)
        status = fail_inside(h5, "describe a text");
    else
        status = make_dataset(h5, where, type, space, text);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return status;
}
