/* Superblock and objects: the way from the first byte to every object that is wanted. */
#include "h5/check.h"

#include "base/error.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

dls_status check_damaged(const check_state *check, uint64_t at, const char *what) {
    return dls_fail(check->error, DLS_ERROR_FILE, "%s: %s: damaged HDF5 file: %s at byte %" PRIu64,
                    check->name, check->where, what, at);
}

dls_status check_unsupported(const check_state *check, const char *what) {
    return dls_fail(check->error, DLS_ERROR_FILE, "%s: %s: %s, expected %s", check->name, check->where, what,
                    check->policy->expected);
}

dls_status check_claim(check_state *check, uint64_t begin, uint64_t length, const char *what) {
    if (begin > check->size || length > check->size - begin) return check_damaged(check, begin, what);
    check->claimed += length;
    if (check->claimed > check->size) return check_damaged(check, begin, "overlapping structures");
    int64_t count = (int64_t)check->extent_count;
    if (!DLS_RESERVE(check->extents, count, check->extent_room, count + 1))
        return dls_fail_memory(check->error);
    check->extents[check->extent_count++] = (check_extent){begin, begin + length};
    return DLS_OK;
}

dls_status check_take(check_state *check, uint64_t begin, uint64_t length, const char *what,
                      const uint8_t **bytes) {
    dls_status status = check_claim(check, begin, length, what);
    if (status) return status;
    return check->source->load(check->source->user, begin, length, true, bytes, check->error);
}

dls_status check_peek(const check_state *check, uint64_t begin, uint64_t length, const char *what,
                      const uint8_t **bytes) {
    if (begin > check->size || length > check->size - begin) return check_damaged(check, begin, what);
    return check->source->load(check->source->user, begin, length, false, bytes, check->error);
}

/* ---- checksums ---- */

static uint32_t turn(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

uint32_t check_sum(const uint8_t *bytes, size_t size) {
    static const int mix[] = {4, 6, 8, 16, 19, 4}, finish[] = {14, 11, 25, 16, 4, 14, 24};
    uint32_t s[3]; /* the names a, b, c of the original rotate with the step */
    s[0] = s[1] = s[2] = 0xdeadbeef + (uint32_t)size;
    if (size == 0) return s[2];
    for (; size > 12; bytes += 12, size -= 12) {
        for (int k = 0; k < 3; k++) s[k] += (uint32_t)check_number(bytes + 4 * k, 4);
        for (int k = 0; k < 6; k++) {
            uint32_t *a = &s[k % 3], *b = &s[(k + 1) % 3], *c = &s[(k + 2) % 3];
            *a -= *c;
            *a ^= turn(*c, mix[k]);
            *c += *b;
        }
    }
    for (size_t k = 0; k < size; k++) s[k / 4] += (uint32_t)bytes[k] << 8 * (k % 4);
    for (int k = 0; k < 7; k++) {
        uint32_t *changed = &s[(k + 2) % 3], *by = &s[(k + 1) % 3];
        *changed ^= *by;
        *changed -= turn(*by, finish[k]);
    }
    return s[2];
}

bool check_is_sum_right(check_state *check, const uint8_t *bytes, uint64_t size) {
    bool is_right = size >= 4 && check_sum(bytes, size - 4) == check_number(bytes + size - 4, 4);
    check->found.has_wrong_sum |= !is_right;
    return is_right;
}

/* ---- objects ---- */

static dls_status check_object_at(check_state *check, uint64_t address, int depth, check_object *object) {
    dls_status status = check_header(check, address, depth, object);
    if (status) return status;
    bool is_group = object->has_table || object->has_links;
    bool is_dataset = object->has_space || object->has_type || object->has_layout;
    if (is_group == is_dataset || (object->has_table && object->has_links))
        return check_damaged(check, address, "object that is neither group nor dataset");
    if (!check->policy->is_plain) status = check_attributes(check, object);
    if (!status && object->has_table) return check_table(check, object, depth);
    if (!status && is_group) return check_links(check, object, depth);
    return status ? status : check_dataset(check, object);
}

dls_status check_link(check_state *check, const char *link, size_t length, uint64_t address, int depth) {
    if (check->policy->is_wanted && !check->policy->is_wanted(link, length)) return DLS_OK;
    size_t end = check->where[1] ? strlen(check->where) : 0;
    if (depth >= CHECK_MAX_DEPTH || end + length + 2 > sizeof check->where)
        return check_damaged(check, address, "groups nested too deeply");
    if (address == CHECK_UNDEFINED) return check_unsupported(check, "a soft or external link");
    check_object object;
    snprintf(check->where + end, sizeof check->where - end, "/%.*s", (int)length, link);
    dls_status status = check_object_at(check, address, depth, &object);
    if (!status) strcpy(check->where + end, end ? "" : "/"); /* a failure leaves its place to be reported */
    return status;
}

/* ---- the superblock ---- */

enum { SUPERBLOCK = 48 };

uint64_t dls_h5_stored_size(const uint8_t *bytes) {
    return check_number(bytes + (bytes[8] == 0 ? 40 : bytes[8] == 1 ? 44 : 28), 8);
}

static dls_status check_end(check_state *check, const uint8_t *block, uint64_t base) {
    uint64_t end = dls_h5_stored_size(block), actual = check->source->size;
    if (base != 0) return check_unsupported(check, "a user block before the data");
    if (end > actual)
        return dls_fail(check->error, DLS_ERROR_FILE,
                        "%s: truncated file: %" PRIu64 " bytes, expected %" PRIu64, check->name, actual, end);
    check->size = check->policy->is_live ? actual : end;
    return DLS_OK;
}

/* Versions 0 and 1: the root group is a symbol table entry. */
static dls_status check_old_superblock(check_state *check, const uint8_t *b, uint64_t *root) {
    uint64_t rest = b[8] == 0 ? 24 : 28; /* version 1 has one more field */
    if (check->source->size < rest + 72)
        return check_damaged(check, check->source->size, "truncated superblock");
    if (b[9] || b[10] || b[12]) return check_damaged(check, 9, "version number");
    if (b[13] != 8 || b[14] != 8) return check_unsupported(check, "addresses of other than 8 bytes");
    check->leaf_room = 2 * (unsigned)check_number(b + 16, 2);
    check->node_room = 2 * (unsigned)check_number(b + 18, 2);
    if (!check->leaf_room || !check->node_room) return check_damaged(check, 16, "tree size");
    dls_status status = check_end(check, b, check_number(b + rest, 8));
    if (status) return status;
    if (check_number(b + rest + 24, 8) != CHECK_UNDEFINED)
        return check_unsupported(check, "a driver information block");
    if (check_number(b + rest + 48, 4) > 1) return check_damaged(check, rest + 48, "root group");
    *root = check_number(b + rest + 40, 8);
    return check_claim(check, 0, rest + 72, "superblock");
}

/* Versions 2 and 3: the root group is an address. */
static dls_status check_new_superblock(check_state *check, const uint8_t *b, uint64_t *root) {
    if (b[9] != 8 || b[10] != 8) return check_unsupported(check, "addresses of other than 8 bytes");
    if (!check_is_sum_right(check, b, SUPERBLOCK))
        return check_damaged(check, 0, "checksum of the superblock");
    check->leaf_room = 2 * 4; /* what HDF5 takes where the file does not say */
    check->node_room = 2 * 16;
    if (check_number(b + 20, 8) != CHECK_UNDEFINED) return check_unsupported(check, "a superblock extension");
    dls_status status = check_end(check, b, check_number(b + 12, 8));
    if (status) return status;
    *root = check_number(b + 36, 8);
    return check_claim(check, 0, SUPERBLOCK, "superblock");
}

static dls_status check_superblock(check_state *check, const uint8_t *block, uint64_t *root) {
    static const uint8_t signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    uint64_t size = check->source->size;
    if (size < sizeof signature || memcmp(block, signature, sizeof signature))
        return dls_fail(check->error, DLS_ERROR_FILE, "%s: not an HDF5 file, expected %s", check->name,
                        check->policy->is_plain ? "a contact problem as FCLib stores it" : "results");
    if (size < SUPERBLOCK) return check_damaged(check, size, "truncated superblock");
    if (block[8] > 3) return check_damaged(check, 8, "version number");
    return block[8] < 2 ? check_old_superblock(check, block, root) : check_new_superblock(check, block, root);
}

/* A root entry may repeat the addresses of its table; they must be the same. */
static bool is_cache_true(const uint8_t *block, const check_object *root) {
    if (block[8] > 1) return true;
    const uint8_t *entry = block + (block[8] == 0 ? 56 : 60);
    if (check_number(entry + 16, 4) == 0) return true;
    return root->has_table && check_number(entry + 24, 8) == root->tree &&
           check_number(entry + 32, 8) == root->heap;
}

static int compare_extents(const void *a, const void *b) {
    uint64_t x = ((const check_extent *)a)->begin, y = ((const check_extent *)b)->begin;
    return (x > y) - (x < y);
}

/* One structure read as two kinds would confuse the library more than anything else. */
static dls_status check_overlaps(check_state *check) {
    check_extent *extents = check->extents;
    if (check->extent_count) qsort(extents, check->extent_count, sizeof *extents, compare_extents);
    for (size_t k = 1; k < check->extent_count; k++)
        if (extents[k].begin < extents[k - 1].end)
            return check_damaged(check, extents[k].begin, "overlapping structures");
    if (check->extent_count) check->found.length = extents[check->extent_count - 1].end;
    return DLS_OK;
}

dls_status dls_h5_check(const check_source *source, const check_policy *policy, const char *name,
                        check_found *found, dls_error *error) {
    check_state check = {.source = source, .policy = policy, .where = "/", .name = name, .error = error};
    check_object object;
    uint8_t block[CHECK_PEEK] = {0};
    const uint8_t *first;
    uint64_t size = source->size < CHECK_PEEK ? source->size : CHECK_PEEK;
    dls_status status = source->load(source->user, 0, size, false, &first, error);
    if (!status && size) memcpy(block, first, size);
    if (!status) status = check_superblock(&check, block, &check.found.root);
    if (!status) status = check_object_at(&check, check.found.root, 0, &object);
    if (!status && !is_cache_true(block, &object)) status = check_damaged(&check, 0, "root group");
    if (!status) status = check_overlaps(&check);
    *found = check.found;
    dls_free(check.extents);
    return status;
}

static dls_status load_image(void *user, uint64_t begin, uint64_t length, bool is_kept, const uint8_t **bytes,
                             dls_error *error) {
    (void)length, (void)is_kept, (void)error;
    *bytes = *(const uint8_t *const *)user + begin;
    return DLS_OK;
}

dls_status dls_h5_check_image(const uint8_t *bytes, size_t size, const check_policy *policy, const char *name,
                              check_found *found, dls_error *error) {
    return dls_h5_check(&(check_source){size, load_image, &bytes}, policy, name, found, error);
}
