/* Links and attributes of objects that have many: a heap of messages, and a tree of one leaf that names them.
 *
 * The heap is one block, or a table of blocks whose rows of four double in size from the second row on. */
#include "h5/check.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAP = 146,
    WIDTH = 4,         /* blocks in a row */
    LARGEST = 1 << 16, /* block */
    LONGEST = 1 << 12, /* message in a block; longer ones lie alone */
    MAX_ROWS = 10,     /* of blocks up to the largest, and no more */
    MAX_BLOCKS = WIDTH * MAX_ROWS,
    NODE = 512, /* bytes of a tree's leaf */
    MAX_RECORDS = NODE / 11
};

typedef struct heap_block {
    uint64_t offset, size, address;
    const uint8_t *bytes;
} heap_block;

typedef struct message_heap {
    uint64_t address;
    unsigned id_size, offset_size; /* bytes of an identifier, and of a place in the heap */
    uint64_t start;                /* bytes of the first block */
    uint64_t huge_tree;
    heap_block blocks[MAX_BLOCKS];
    int count;
} message_heap;

/* ---- the tree ---- */

typedef struct leaf {
    const uint8_t *records;
    unsigned count;
} leaf;

static dls_status read_tree(check_state *check, uint64_t address, unsigned kind, unsigned record,
                            leaf *found) {
    const uint8_t *head, *node;
    *found = (leaf){0};
    dls_status status = check_take(check, address, 38, "tree of names", &head);
    if (status) return status;
    if (memcmp(head, "BTHD", 4) || head[4] != 0 || head[5] != kind || check_number(head + 6, 4) != NODE ||
        check_number(head + 10, 2) != record || !check_is_sum_right(check, head, 38))
        return check_damaged(check, address, "tree of names");
    if (check_number(head + 12, 2) != 0) return check_unsupported(check, "a tree of names with branches");
    uint64_t root = check_number(head + 16, 8), count = check_number(head + 24, 2);
    if (count > (NODE - 10) / record || count != check_number(head + 26, 8))
        return check_damaged(check, address, "tree of names");
    if (root == CHECK_UNDEFINED) return count ? check_damaged(check, address, "tree of names") : DLS_OK;
    status = check_take(check, root, NODE, "leaf of a tree of names", &node);
    if (status) return status;
    if (memcmp(node, "BTLF", 4) || node[4] != 0 || node[5] != kind ||
        !check_is_sum_right(check, node, 6 + count * record + 4))
        return check_damaged(check, root, "leaf of a tree of names");
    *found = (leaf){node + 6, (unsigned)count};
    return DLS_OK;
}

/* ---- the heap ---- */

/* The checksum of a block is that of the block with zeros in its place. */
static dls_status check_block_sum(check_state *check, const heap_block *b, uint64_t place) {
    uint8_t *copy = dls_alloc_copy(b->bytes, b->size, 1);
    if (!copy) return dls_fail_memory(check->error);
    memset(copy + place, 0, 4);
    bool is_right = check_sum(copy, b->size) == check_number(b->bytes + place, 4);
    dls_free(copy);
    check->found.has_wrong_sum |= !is_right;
    return is_right ? DLS_OK : check_damaged(check, b->address, "checksum of a heap's block");
}

static dls_status read_block(check_state *check, message_heap *heap, uint64_t address, uint64_t offset,
                             uint64_t size) {
    const uint8_t *block;
    const unsigned place = 13 + heap->offset_size;
    dls_status status = check_take(check, address, size, "block of a heap", &block);
    if (status) return status;
    if (memcmp(block, "FHDB", 4) || block[4] != 0 || check_number(block + 5, 8) != heap->address ||
        check_number(block + 13, (int)heap->offset_size) != offset)
        return check_damaged(check, address, "block of a heap");
    heap_block *made = &heap->blocks[heap->count++];
    *made = (heap_block){offset, size, address, block};
    return check_block_sum(check, made, place);
}

static dls_status read_rows(check_state *check, message_heap *heap, uint64_t address, unsigned rows) {
    uint64_t size = 13 + heap->offset_size + 8 * (uint64_t)rows * WIDTH + 4, offset = 0;
    const uint8_t *table;
    dls_status status = check_take(check, address, size, "table of a heap", &table);
    if (status) return status;
    if (memcmp(table, "FHIB", 4) || table[4] != 0 || check_number(table + 5, 8) != heap->address ||
        check_number(table + 13, (int)heap->offset_size) != 0 || !check_is_sum_right(check, table, size))
        return check_damaged(check, address, "table of a heap");
    const uint8_t *at = table + 13 + heap->offset_size;
    for (unsigned row = 0; row < rows; row++) {
        uint64_t bytes = heap->start << (row ? row - 1 : 0);
        if (bytes > LARGEST) return check_unsupported(check, "a heap of many blocks");
        for (unsigned k = 0; k < WIDTH && !status; k++, at += 8, offset += bytes)
            if (check_number(at, 8) != CHECK_UNDEFINED)
                status = read_block(check, heap, check_number(at, 8), offset, bytes);
    }
    return status;
}

/* Heaps of links count to 2^32 and begin with 512 bytes, those of attributes to 2^40 with 1024. */
static dls_status read_heap(check_state *check, uint64_t address, unsigned id_size, message_heap *heap) {
    const unsigned bits = id_size == 7 ? 32 : 40;
    const uint8_t *head;
    *heap = (message_heap){.address = address, .id_size = id_size, .offset_size = bits / 8};
    heap->start = id_size == 7 ? 512 : 1024;
    dls_status status = check_take(check, address, HEAP, "heap", &head);
    if (status) return status;
    if (memcmp(head, "FRHP", 4) || head[4] != 0 || check_number(head + 5, 2) != id_size ||
        check_number(head + 7, 2) != 0 || head[9] != 2 || check_number(head + 10, 4) != LONGEST ||
        check_number(head + 110, 2) != WIDTH || check_number(head + 112, 8) != heap->start ||
        check_number(head + 120, 8) != LARGEST || check_number(head + 128, 2) != bits ||
        !check_is_sum_right(check, head, HEAP))
        return check_damaged(check, address, "heap");
    heap->huge_tree = check_number(head + 22, 8);
    uint64_t root = check_number(head + 132, 8);
    unsigned rows = (unsigned)check_number(head + 140, 2);
    if (rows > MAX_ROWS) return check_unsupported(check, "a heap of many blocks");
    if (root == CHECK_UNDEFINED) return rows ? check_damaged(check, address, "heap") : DLS_OK;
    return rows ? read_rows(check, heap, root, rows) : read_block(check, heap, root, 0, heap->start);
}

/* A message that an identifier names. */
typedef struct heap_message {
    const uint8_t *bytes;
    uint64_t size, at;
    uint64_t offset; /* in the heap: the later, the later written */
} heap_message;

/* A long one lies by itself, and a tree of the heap says where. */
static dls_status find_long(check_state *check, const leaf *huge, uint64_t number, heap_message *found) {
    for (unsigned k = 0; k < huge->count; k++) {
        const uint8_t *record = huge->records + 24 * (size_t)k;
        if (check_number(record + 16, 8) != number) continue;
        *found = (heap_message){NULL, check_number(record + 8, 8), check_number(record, 8), 0};
        return check_take(check, found->at, found->size, "long message", &found->bytes);
    }
    return check_damaged(check, CHECK_UNDEFINED, "heap without a message");
}

static dls_status find_message(check_state *check, const message_heap *heap, const leaf *huge,
                               const uint8_t *id, heap_message *found) {
    const uint64_t head = 17 + heap->offset_size;
    if (id[0] == 0x10) return find_long(check, huge, check_number(id + 1, (int)heap->id_size - 1), found);
    uint64_t offset = check_number(id + 1, (int)heap->offset_size),
             size = check_number(id + 1 + heap->offset_size, 2);
    for (int k = 0; k < heap->count && id[0] == 0; k++) {
        const heap_block *b = &heap->blocks[k];
        if (offset < b->offset + head || offset - b->offset > b->size || size == 0 ||
            size > b->size - (offset - b->offset))
            continue;
        uint64_t place = offset - b->offset;
        *found = (heap_message){b->bytes + place, size, b->address + place, offset};
        return DLS_OK;
    }
    return check_damaged(check, heap->address, "place of a message in a heap");
}

/* ---- links and attributes ---- */

/* Records of links are a hash of the name and an identifier, those of attributes the identifier, flags, a
 * number and the hash. */
typedef struct index_kind {
    unsigned tree, record, id_place, id_size;
} index_kind;

static const index_kind links = {5, 11, 4, 7}, attributes = {8, 17, 0, 8};

static dls_status read_index(check_state *check, const index_kind *kind, uint64_t heap_address, uint64_t tree,
                             heap_message *messages, unsigned *count) {
    message_heap heap;
    leaf names, huge = {0};
    dls_status status = read_heap(check, heap_address, kind->id_size, &heap);
    if (!status) status = read_tree(check, tree, kind->tree, kind->record, &names);
    if (!status && heap.huge_tree != CHECK_UNDEFINED) status = read_tree(check, heap.huge_tree, 1, 24, &huge);
    if (status) return status;
    for (*count = 0; *count < names.count && !status; ++*count) {
        const uint8_t *record = names.records + (size_t)*count * kind->record;
        if (kind->tree == attributes.tree && record[8] & 2)
            return check_unsupported(check, "a shared attribute");
        status = find_message(check, &heap, &huge, record + kind->id_place, &messages[*count]);
    }
    return status;
}

static int compare_places(const void *a, const void *b) {
    uint64_t x = ((const heap_message *)a)->offset, y = ((const heap_message *)b)->offset;
    return (x < y) - (x > y);
}

/* What was added last is looked at first: an index is opened before what it speaks of, which a writer adds to
 * in the other order. */
dls_status check_links(check_state *check, const check_object *object, int depth) {
    heap_message messages[MAX_RECORDS];
    unsigned count = 0;
    if (object->link_heap == CHECK_UNDEFINED && object->link_tree == CHECK_UNDEFINED) return DLS_OK;
    dls_status status = read_index(check, &links, object->link_heap, object->link_tree, messages, &count);
    if (!status && count) qsort(messages, count, sizeof *messages, compare_places);
    for (unsigned k = 0; k < count && !status; k++)
        status = check_link_message(check, messages[k].bytes, messages[k].size, messages[k].at, depth);
    return status;
}

dls_status check_attributes(check_state *check, const check_object *object) {
    heap_message messages[MAX_RECORDS];
    unsigned count = 0;
    if (object->attribute_heap == CHECK_UNDEFINED && object->attribute_tree == CHECK_UNDEFINED) return DLS_OK;
    dls_status status =
        read_index(check, &attributes, object->attribute_heap, object->attribute_tree, messages, &count);
    for (unsigned k = 0; k < count && !status; k++)
        status = check_attribute(check, messages[k].bytes, messages[k].size, messages[k].at);
    return status;
}
