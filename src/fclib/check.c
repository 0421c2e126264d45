/* Superblock and groups: the way from the first byte to every object that FCLib knows by name. */
#include "fclib/check.h"

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
    return dls_fail(check->error, DLS_ERROR_FILE,
                    "%s: %s: %s, expected plain storage as FCLib writes it; "
                    "`h5repack -l CONTI -f NONE IN OUT` makes a copy that can be read",
                    check->name, check->where, what);
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

/* ---- names ---- */

/* All names that the reader asks for; guesses have numbers for names. Other objects are never opened. */
static bool is_known(const char *name, size_t length) {
    static const char names[] =
        "fclib_local fclib_global solution guesses spacedim vectors info title description "
        "math_info reference_velocity number_of_guesses nzmax nz mu W V R M H G m n p i x q s f w b v u r l";
    for (const char *word = names; *word; word += *word == ' ') {
        size_t end = strcspn(word, " ");
        if (end == length && !memcmp(word, name, length)) return true;
        word += end;
    }
    for (size_t k = 0; k < length; k++)
        if (name[k] < '0' || name[k] > '9') return false;
    return length > 0 && length <= 9;
}

static dls_status check_object_at(check_state *check, uint64_t address, int depth, check_object *object);

dls_status check_link(check_state *check, const char *link, size_t length, uint64_t address, int depth) {
    if (!is_known(link, length)) return DLS_OK;
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

/* ---- groups of the old kind: a heap of names, a tree of symbol nodes ---- */

typedef struct group_table {
    const char *names; /* the heap's data */
    uint64_t name_bytes;
    uint64_t node[CHECK_MAX_LEVEL], right[CHECK_MAX_LEVEL]; /* the last node of each level, and its sibling */
    int depth;
} group_table;

/* The free list inside the heap must lie in it and end. */
static dls_status check_heap(check_state *check, uint64_t address, group_table *table) {
    dls_status status = check_claim(check, address, 32, "local heap");
    if (status) return status;
    const uint8_t *head = check->bytes + address;
    if (memcmp(head, "HEAP", 4) || head[4] != 0) return check_damaged(check, address, "local heap");
    uint64_t size = check_number(head + 8, 8), block = check_number(head + 16, 8);
    uint64_t data = check_number(head + 24, 8);
    status = check_claim(check, data, size, "data of the local heap");
    if (status) return status;
    for (uint64_t steps = 0; block != 1; steps++) {
        if (block > size || size - block < 16 || steps > size / 16)
            return check_damaged(check, address, "free list of the local heap");
        uint64_t length = check_number(check->bytes + data + block + 8, 8);
        if (length > size - block) return check_damaged(check, address, "free list of the local heap");
        block = check_number(check->bytes + data + block, 8);
    }
    table->names = (const char *)check->bytes + data;
    table->name_bytes = size;
    return DLS_OK;
}

/* A name must end inside the heap. */
static bool is_name(const group_table *table, uint64_t offset) {
    return offset < table->name_bytes && memchr(table->names + offset, '\0', table->name_bytes - offset);
}

static dls_status check_symbol(check_state *check, const group_table *table, uint64_t at) {
    const uint8_t *entry = check->bytes + at;
    uint64_t offset = check_number(entry, 8), address = check_number(entry + 8, 8);
    uint64_t cache = check_number(entry + 16, 4);
    const char *name = table->names + offset;
    if (cache > 2) return check_damaged(check, at, "symbol table entry");
    if (cache == 2) address = CHECK_UNDEFINED; /* a soft link */
    return check_link(check, name, strlen(name), address, table->depth + 1);
}

/* The names of a node or tree: all after the one at low, none after the one at high. */
typedef struct name_range {
    uint64_t low, high;
} name_range;

static int compare_names(const group_table *table, uint64_t a, uint64_t b) {
    return strcmp(table->names + a, table->names + b);
}

static dls_status check_symbols(check_state *check, const group_table *table, uint64_t address,
                                name_range range) {
    dls_status status = check_claim(check, address, 8 + 40 * (uint64_t)check->leaf_room, "symbol table node");
    if (status) return status;
    const uint8_t *node = check->bytes + address;
    unsigned count = (unsigned)check_number(node + 6, 2);
    if (memcmp(node, "SNOD", 4) || node[4] != 1 || count > check->leaf_room)
        return check_damaged(check, address, "symbol table node");
    for (unsigned k = 0; k < count && !status; k++) {
        uint64_t at = address + 8 + 40 * (uint64_t)k, name = check_number(check->bytes + at, 8);
        if (!is_name(table, name) || compare_names(table, range.low, name) >= 0 ||
            compare_names(table, name, range.high) > 0)
            return check_damaged(check, at, "name of a group member");
        range.low = name;
        status = check_symbol(check, table, at);
    }
    return status;
}

/* Nodes of one level are a doubly linked list, met here from left to right. */
static bool is_linked(group_table *table, int level, uint64_t address, const uint8_t *node) {
    bool left = check_number(node + 8, 8) == table->node[level];
    bool right = table->node[level] == CHECK_UNDEFINED || table->right[level] == address;
    table->node[level] = address;
    table->right[level] = check_number(node + 16, 8);
    return left && right;
}

/* Keys and children alternate in a node: keys rise, and bound the names of the children between them. */
static bool are_keys_sorted(const group_table *table, const uint8_t *node, unsigned count) {
    for (unsigned k = 0; k <= count; k++) {
        uint64_t key = check_number(node + 24 + 16 * k, 8);
        if (!is_name(table, key)) return false;
        if (k && compare_names(table, check_number(node + 8 + 16 * k, 8), key) >= 0) return false;
    }
    return true;
}

/* level < 0: the tree's root, which says itself how high it is; range is NULL for it. */
static dls_status check_tree(check_state *check, group_table *table, uint64_t address, int level,
                             const name_range *range) {
    uint64_t bytes = 24 + 8 * (2 * (uint64_t)check->node_room + 1);
    dls_status status = check_claim(check, address, bytes, "group tree");
    if (status) return status;
    const uint8_t *node = check->bytes + address;
    unsigned count = (unsigned)check_number(node + 6, 2);
    if (memcmp(node, "TREE", 4) || node[4] != 0 || (level >= 0 && node[5] != level) ||
        node[5] >= CHECK_MAX_LEVEL || count > check->node_room || (count == 0 && node[5] > 0))
        return check_damaged(check, address, "group tree");
    level = node[5];
    if (!is_linked(table, level, address, node) || !are_keys_sorted(table, node, count))
        return check_damaged(check, address, "group tree");
    if (range && (compare_names(table, range->low, check_number(node + 24, 8)) > 0 ||
                  compare_names(table, check_number(node + 24 + 16 * count, 8), range->high) > 0))
        return check_damaged(check, address, "group tree");
    for (unsigned k = 0; k < count && !status; k++) {
        const uint8_t *key = node + 24 + 16 * k;
        name_range between = {check_number(key, 8), check_number(key + 16, 8)};
        uint64_t child = check_number(key + 8, 8);
        status = level ? check_tree(check, table, child, level - 1, &between)
                       : check_symbols(check, table, child, between);
    }
    return status;
}

static dls_status check_table(check_state *check, const check_object *object, int depth) {
    group_table table = {.depth = depth};
    for (int level = 0; level < CHECK_MAX_LEVEL; level++)
        table.node[level] = table.right[level] = CHECK_UNDEFINED;
    dls_status status = check_heap(check, object->heap, &table);
    if (!status) status = check_tree(check, &table, object->tree, -1, NULL);
    for (int level = 0; level < CHECK_MAX_LEVEL && !status; level++)
        if (table.right[level] != CHECK_UNDEFINED)
            status = check_damaged(check, table.node[level], "group tree");
    return status;
}

/* ---- objects ---- */

static dls_status check_object_at(check_state *check, uint64_t address, int depth, check_object *object) {
    dls_status status = check_header(check, address, depth, object);
    if (status) return status;
    bool is_group = object->has_table || object->has_links;
    bool is_dataset = object->has_space || object->has_type || object->has_layout;
    if (is_group == is_dataset || (object->has_table && object->has_links))
        return check_damaged(check, address, "object that is neither group nor dataset");
    if (object->has_table) return check_table(check, object, depth);
    return is_dataset ? check_dataset(check, object) : DLS_OK;
}

/* ---- the superblock ---- */

uint64_t dls_h5_stored_size(const uint8_t *bytes) {
    return check_number(bytes + (bytes[8] == 0 ? 40 : bytes[8] == 1 ? 44 : 28), 8);
}

static dls_status check_end(check_state *check, uint64_t base, uint64_t actual) {
    uint64_t end = dls_h5_stored_size(check->bytes);
    if (base != 0) return check_unsupported(check, "a user block before the data");
    if (end > actual)
        return dls_fail(check->error, DLS_ERROR_FILE,
                        "%s: truncated file: %" PRIu64 " bytes, expected %" PRIu64, check->name, actual, end);
    check->size = end;
    return DLS_OK;
}

/* Versions 0 and 1: the root group is a symbol table entry. */
static dls_status check_old_superblock(check_state *check, uint64_t size, uint64_t *root) {
    const uint8_t *b = check->bytes;
    uint64_t rest = b[8] == 0 ? 24 : 28; /* version 1 has one more field */
    if (size < rest + 72) return check_damaged(check, size, "truncated superblock");
    if (b[9] || b[10] || b[12]) return check_damaged(check, 9, "version number");
    if (b[13] != 8 || b[14] != 8) return check_unsupported(check, "addresses of other than 8 bytes");
    check->leaf_room = 2 * (unsigned)check_number(b + 16, 2);
    check->node_room = 2 * (unsigned)check_number(b + 18, 2);
    if (!check->leaf_room || !check->node_room) return check_damaged(check, 16, "tree size");
    dls_status status = check_end(check, check_number(b + rest, 8), size);
    if (status) return status;
    if (check_number(b + rest + 24, 8) != CHECK_UNDEFINED)
        return check_unsupported(check, "a driver information block");
    if (check_number(b + rest + 48, 4) > 1) return check_damaged(check, rest + 48, "root group");
    *root = check_number(b + rest + 40, 8);
    return check_claim(check, 0, rest + 72, "superblock");
}

/* Versions 2 and 3: the root group is an address. */
static dls_status check_new_superblock(check_state *check, uint64_t size, uint64_t *root) {
    const uint8_t *b = check->bytes;
    if (size < 48) return check_damaged(check, size, "truncated superblock");
    if (b[9] != 8 || b[10] != 8) return check_unsupported(check, "addresses of other than 8 bytes");
    if (check_sum(b, 44) != check_number(b + 44, 4))
        return check_damaged(check, 0, "checksum of the superblock");
    check->leaf_room = 2 * 4; /* what HDF5 takes where the file does not say */
    check->node_room = 2 * 16;
    if (check_number(b + 20, 8) != CHECK_UNDEFINED) return check_unsupported(check, "a superblock extension");
    dls_status status = check_end(check, check_number(b + 12, 8), size);
    if (status) return status;
    *root = check_number(b + 36, 8);
    return check_claim(check, 0, 48, "superblock");
}

static dls_status check_superblock(check_state *check, uint64_t size, uint64_t *root) {
    static const uint8_t signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    if (size < sizeof signature || memcmp(check->bytes, signature, sizeof signature))
        return dls_fail(check->error, DLS_ERROR_FILE,
                        "%s: not an HDF5 file, expected a contact problem as FCLib stores it", check->name);
    if (size < 48) return check_damaged(check, size, "truncated superblock");
    if (check->bytes[8] > 3) return check_damaged(check, 8, "version number");
    return check->bytes[8] < 2 ? check_old_superblock(check, size, root)
                               : check_new_superblock(check, size, root);
}

/* A root entry may repeat the addresses of its table; they must be the same. */
static bool is_cache_true(const check_state *check, const check_object *root) {
    if (check->bytes[8] > 1) return true;
    const uint8_t *entry = check->bytes + (check->bytes[8] == 0 ? 56 : 60);
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
    if (check->extent_count)
        qsort(check->extents, check->extent_count, sizeof(check_extent), compare_extents);
    for (size_t k = 1; k < check->extent_count; k++)
        if (check->extents[k].begin < check->extents[k - 1].end)
            return check_damaged(check, check->extents[k].begin, "overlapping structures");
    return DLS_OK;
}

dls_status dls_h5_check(const uint8_t *bytes, size_t size, const char *name, int *bodies, dls_error *error) {
    check_state check = {.bytes = bytes, .where = "/", .name = name, .error = error};
    check_object root_object;
    uint64_t root = 0;
    dls_status status = check_superblock(&check, size, &root);
    if (!status) status = check_object_at(&check, root, 0, &root_object);
    if (!status && !is_cache_true(&check, &root_object)) status = check_damaged(&check, 0, "root group");
    if (!status) status = check_overlaps(&check);
    *bodies = check.bodies;
    dls_free(check.extents);
    return status;
}
