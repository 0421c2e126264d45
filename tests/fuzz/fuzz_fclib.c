/* Bytes to the FCLib reader. What it accepts must be judged, and what can be rewritten, read back
 * to the same bits. */
#define _GNU_SOURCE /* memmem */
#include "fclib/fclib.h"
#include "h5/check.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size,
                                              size_t room); /* absent in a replay */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static void require(bool holds, const char *what, const dls_error *error) {
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, error->message);
    abort();
}

static void check_message(const dls_error *error) {
    require(error->status != DLS_OK, "failure without a status", error);
    require(strlen(error->message) > 0 && !strchr(error->message, '\n'), "not one line", error);
}

/* r: the stored impulses, where there are any. */
static void rewrite(const dls_fclib *file, const double *r, int rows) {
    dls_image image;
    dls_fclib *again = NULL;
    dls_error error = {0};
    if (dls_fclib_encode_again(file, r, NULL, &image, &error)) { /* damage beside what was read */
        check_message(&error);
        return;
    }
    require(!dls_fclib_read_memory(image.bytes, image.size, &again, &error), "cannot be read back", &error);
    require(!memcmp(dls_fclib_solution(again), r, sizeof(double) * (size_t)rows), "other bits", &error);
    require(dls_problem_row_count(dls_fclib_problem(again)) == rows, "other rows", &error);
    dls_fclib_destroy(again);
    dls_image_free(&image);
}

/* HDF5 keeps what it frees, half a megabyte for every file: fresh pages are slower than what is done in them.
 */
static void begin(void) {
    static bool has_begun;
    if (!has_begun) has_begun = H5set_free_list_limits(-1, -1, -1, -1, -1, -1) >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dls_fclib *file = NULL;
    dls_error error = {0};
    begin();
    if (dls_fclib_read_memory(data, size, &file, &error)) {
        check_message(&error);
        return 0;
    }
    const dls_problem *problem = dls_fclib_problem(file);
    int rows = dls_problem_row_count(problem);
    double *zero = calloc((size_t)rows + 1, sizeof(double));
    const double *r = dls_fclib_solution(file) ? dls_fclib_solution(file) : zero;
    dls_measures measures;
    if (dls_problem_measure(problem, r, NULL, &measures, &error)) check_message(&error);
    if (check_sum(data, size) % 8 == 0) rewrite(file, r, rows); /* costs more than all else */
    free(zero);
    dls_fclib_destroy(file);
    return 0;
}

/* ---- checksums, which no mutation would hit by chance ---- */

static void put_sum(uint8_t *data, size_t end, uint32_t sum) {
    for (int k = 0; k < 4; k++) data[end - 4 + (size_t)k] = (uint8_t)(sum >> 8 * k);
}

static void repair_header(uint8_t *data, size_t size, size_t at) {
    if (size - at < 24) return;
    unsigned flags = data[at + 5];
    size_t width = (size_t)1 << (flags & 3),
           place = at + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
    if (size - at < place - at + width) return;
    uint64_t length = check_number(data + place, (int)width);
    if (length > size || place + width + length + 4 > size) return;
    size_t end = place + width + (size_t)length + 4;
    put_sum(data, end, check_sum(data + at, end - at - 4));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    size = LLVMFuzzerMutate(data, size, room);
    if (seed % 8 == 0) return size; /* wrong sums must be met, too */
    if (size >= 48 && data[8] >= 2) put_sum(data, 48, check_sum(data, 44));
    for (uint8_t *at = data; (at = memmem(at, size - (size_t)(at - data), "OHDR", 4)); at++)
        repair_header(data, size, (size_t)(at - data));
    return size;
}
