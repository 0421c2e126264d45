#include "support/results_edit.h"

#include "support/test.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of value as the type has them. */
static void put(hid_t type, double value, void *at) {
    H5T_class_t class = H5Tget_class(type);
    int64_t whole = class == H5T_FLOAT ? 0 : (int64_t)value;
    float real = (float)value;
    size_t size = H5Tget_size(type);
    if (class == H5T_FLOAT)
        memcpy(at, size == sizeof real ? (const void *)&real : (const void *)&value, size);
    else
        memcpy(at, &whole, size);
}

static hid_t number_type(hid_t type) {
    return H5Tget_class(type) == H5T_ARRAY ? H5Tget_super(type) : H5Tcopy(type);
}

/* In the packed bytes of a row, as the file's own type has it. */
static void put_member(hid_t row_type, const char *member, int place, double value, char *row) {
    int at = H5Tget_member_index(row_type, member);
    assert_true(at >= 0);
    hid_t type = H5Tget_member_type(row_type, (unsigned)at), number = number_type(type);
    put(number, value,
        row + H5Tget_member_offset(row_type, (unsigned)at) + (size_t)place * H5Tget_size(number));
    H5Tclose(number);
    H5Tclose(type);
}

void results_set(const char *path, const char *dataset, const char *member, int64_t row, int place,
                 double value) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, dataset, H5P_DEFAULT);
    hid_t type = H5Dget_type(data), space = H5Dget_space(data), memory;
    hsize_t extent[2] = {0, 1}, start[2] = {(hsize_t)row, 0}, count[2] = {1, 1};
    int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    char bytes[1024] = {0};
    assert_true(data >= 0 && (hsize_t)row < extent[0]);
    count[1] = extent[1];
    memory = H5Screate_simple(rank, count, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
    assert_true(H5Dread(data, type, memory, space, H5P_DEFAULT, bytes) >= 0);
    if (member)
        put_member(type, member, place, value, bytes);
    else
        put(type, value, bytes + (size_t)place * H5Tget_size(type));
    assert_true(H5Dwrite(data, type, memory, space, H5P_DEFAULT, bytes) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(data);
    H5Fclose(file);
}

void results_set_attribute(const char *path, const char *name, int place, double value) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), attribute = H5Aopen(file, name, H5P_DEFAULT),
          type = H5Aget_type(attribute);
    char bytes[64] = {0};
    assert_true(H5Aread(attribute, type, bytes) >= 0);
    put(type, value, bytes + (size_t)place * H5Tget_size(type));
    assert_true(H5Awrite(attribute, type, bytes) >= 0);
    H5Tclose(type);
    H5Aclose(attribute);
    H5Fclose(file);
}

unsigned char *results_load(const char *path, long *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    unsigned char *bytes = malloc((size_t)*size);
    assert_int_equal(fread(bytes, 1, (size_t)*size, file), *size);
    fclose(file);
    return bytes;
}

void results_save(const char *path, const unsigned char *bytes, long size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)size, file), size);
    fclose(file);
}
