/* Groups of the old kind: a heap of names, a tree of symbol nodes. */
#include "h5/check.h"

#include <string.h>

enum { MAX_LEVEL = 8 };

typedef struct group_table {
    const char *names; /* the heap's data */
    uint64_t name_bytes;
    uint64_t node[MAX_LEVEL], right[MAX_LEVEL]; /* the last node of each level, and its sibling */
    int depth;
} group_table;

/* The free list inside the heap must lie in it and end. */
static dls_status check_heap(check_state *check, uint64_t address, group_table *table) {
    const uint8_t *head, *names;
    dls_status status = check_take(check, address, 32, "local heap", &head);
    if (status) return status;
    if (memcmp(head, "HEAP", 4) || head[4] != 0) return check_damaged(check, address, "local heap");
    uint64_t size = check_number(head + 8, 8), block = check_number(head + 16, 8);
    status = check_take(check, check_number(head + 24, 8), size, "data of the local heap", &names);
    if (status) return status;
    for (uint64_t steps = 0; block != 1; steps++) {
        if (block > size || size - block < 16 || steps > size / 16)
            return check_damaged(check, address, "free list of the local heap");
        uint64_t length = check_number(names + block + 8, 8);
        if (length > size - block) return check_damaged(check, address, "free list of the local heap");
        block = check_number(names + block, 8);
    }
    table->names = (const char *)names;
    table->name_bytes = size;
    return DLS_OK;
}

/* A name must end inside the heap. */
static bool is_name(const group_table *table, uint64_t offset) {
    return offset < table->name_bytes && memchr(table->names + offset, '\0', table->name_bytes - offset);
}

static dls_status check_symbol(check_state *check, const group_table *table, const uint8_t *entry,
                               uint64_t at) {
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
    const uint8_t *node;
    dls_status status =
        check_take(check, address, 8 + 40 * (uint64_t)check->leaf_room, "symbol table node", &node);
    if (status) return status;
    unsigned count = (unsigned)check_number(node + 6, 2);
    if (memcmp(node, "SNOD", 4) || node[4] != 1 || count > check->leaf_room)
        return check_damaged(check, address, "symbol table node");
    for (unsigned k = 0; k < count && !status; k++) {
        const uint8_t *entry = node + 8 + 40 * (size_t)k;
        uint64_t at = address + 8 + 40 * (uint64_t)k, name = check_number(entry, 8);
        if (!is_name(table, name) || compare_names(table, range.low, name) >= 0 ||
            compare_names(table, name, range.high) > 0)
            return check_damaged(check, at, "name of a group member");
        range.low = name;
        status = check_symbol(check, table, entry, at);
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
    const uint8_t *node;
    dls_status status = check_take(check, address, bytes, "group tree", &node);
    if (status) return status;
    unsigned count = (unsigned)check_number(node + 6, 2);
    if (memcmp(node, "TREE", 4) || node[4] != 0 || (level >= 0 && node[5] != level) || node[5] >= MAX_LEVEL ||
        count > check->node_room || (count == 0 && node[5] > 0))
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

dls_status check_table(check_state *check, const check_object *object, int depth) {
    group_table table = {.depth = depth};
    for (int level = 0; level < MAX_LEVEL; level++) table.node[level] = table.right[level] = CHECK_UNDEFINED;
    dls_status status = check_heap(check, object->heap, &table);
    if (!status) status = check_tree(check, &table, object->tree, -1, NULL);
    for (int level = 0; level < MAX_LEVEL && !status; level++)
        if (table.right[level] != CHECK_UNDEFINED)
            status = check_damaged(check, table.node[level], "group tree");
    return status;
}
