/* Files that a scene needs beside its text, kept in the results: /files has their names, /file_sizes their
 * lengths, /file_bytes all of them one after the other. A run without such files has none of the three. */
#include "base/error.h"
#include "base/memory.h"
#include "output/results/results.h"

#include <string.h>

static const char names_path[] = "files", sizes_path[] = "file_sizes", bytes_path[] = "file_bytes";

/* ---- writing ---- */

static bool write_array(hid_t file, const char *path, hid_t type, size_t count, const void *values) {
    hsize_t extent = count;
    hid_t space = H5Screate_simple(1, &extent, NULL), creation = H5Pcreate(H5P_DATASET_CREATE),
          dataset = H5I_INVALID_HID;
    if (space >= 0 && creation >= 0 && H5Pset_obj_track_times(creation, 0) >= 0)
        dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    bool done = dataset >= 0 && dls_attribute_write_text(dataset, "unit", "1") &&
                (count == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    if (dataset >= 0) H5Dclose(dataset);
    if (creation >= 0) H5Pclose(creation);
    if (space >= 0) H5Sclose(space);
    return done;
}

bool dls_files_write(hid_t file, int count, const dls_file *files) {
    size_t total = 0;
    if (count == 0) return true;
    for (int k = 0; k < count; k++) total += files[k].size;
    const char **names = DLS_NEW(const char *, count);
    int64_t *sizes = DLS_NEW(int64_t, count);
    char *bytes = dls_alloc(total + 1, 1), *at = bytes;
    bool done = names && sizes && bytes;
    for (int k = 0; done && k < count; k++) {
        names[k] = files[k].name;
        sizes[k] = (int64_t)files[k].size;
        if (files[k].size) memcpy(at, files[k].bytes, files[k].size);
        at += files[k].size;
    }
    done = done && dls_texts_write(file, names_path, count, names) &&
           write_array(file, sizes_path, H5T_NATIVE_INT64, (size_t)count, sizes) &&
           write_array(file, bytes_path, H5T_NATIVE_UINT8, total, bytes);
    dls_free(names);
    dls_free(sizes);
    dls_free(bytes);
    return done;
}

/* ---- reading ---- */

/* The lengths must add up to what there is. */
static bool cut(dls_results *r, int count, const int64_t *sizes, int64_t total) {
    int64_t at = 0;
    for (int k = 0; k < count; k++) {
        if (sizes[k] < 0 || sizes[k] > total - at) return false;
        r->files[k] = (dls_file){r->file_names[k], r->file_bytes + at, (size_t)sizes[k]};
        at += sizes[k];
    }
    return at == total;
}

static void forget(dls_results *r) {
    dls_free(r->file_names);
    dls_free(r->file_bytes);
    dls_free(r->files);
    r->file_names = NULL;
    r->file_bytes = NULL;
    r->files = NULL;
}

static dls_status read_files(dls_results *r) {
    int count = 0;
    int64_t total = -1, wanted;
    void *sizes = NULL, *bytes = NULL;
    dls_status status =
        dls_texts_read(r->file, names_path, 16 * (size_t)r->file_size, &count, &r->file_names);
    wanted = count;
    if (!status) status = dls_array_read(r->file, sizes_path, H5T_NATIVE_INT64, count, &wanted, &sizes);
    if (!status) status = dls_array_read(r->file, bytes_path, H5T_NATIVE_UINT8, r->file_size, &total, &bytes);
    r->file_bytes = bytes;
    if (!status && !(r->files = DLS_NEW(dls_file, count))) status = DLS_ERROR_MEMORY;
    if (!status && !cut(r, count, sizes, total)) status = DLS_ERROR_FILE;
    if (!status) r->file_count = count;
    if (status) forget(r); /* the next call tries again */
    dls_free(sizes);
    return status;
}

dls_status dls_results_files(dls_results *r, int *count, const dls_file **files, dls_error *error) {
    dls_error_clear(error);
    if (!r || !count || !files)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "results and places for files are needed, got NULL");
    dls_status status = DLS_OK;
    dls_silence silence = dls_silence_begin();
    if (!r->files && H5Lexists(r->file, names_path, H5P_DEFAULT) > 0) status = read_files(r);
    dls_silence_end(silence);
    *count = r->file_count;
    *files = r->files;
    if (status == DLS_ERROR_MEMORY) return dls_fail_memory(error);
    if (!status) return DLS_OK;
    return dls_fail(error, DLS_ERROR_FILE, "%s: damaged: the files that it keeps cannot be read",
                    r->name.text);
}
