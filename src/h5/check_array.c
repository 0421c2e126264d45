/* Chunks of a dataset that grows: HDF5's extensible array, as it is made for one unlimited extent.
 *
 * Addresses of chunks lie in an index block, in data blocks that it names, and in data blocks of super
 * blocks. Super block u has 2^⌊u/2⌋ data blocks of 16 · 2^⌈u/2⌉ addresses; the data blocks of the first four
 * are named by the index block itself. Data blocks of more than 1024 are cut into pages of 1024. */
#include "h5/check.h"

#include <string.h>

enum {
    HEADER = 72,
    BITS = 32, /* of a chunk's number */
    FIRST = 4, /* addresses in the index block */
    LEAST = 16,
    DIRECT_SUPERS = 4,
    DIRECT = 6, /* data blocks of the direct super blocks: 1 + 1 + 2 + 2 */
    SUPERS = 1 + BITS - 4,
    PREFIX = 14, /* signature, version, client, address of the header */
    OFFSET = BITS / 8,
    PAGE = 1024,
    SUM = 4
};

typedef struct chunk_array {
    uint64_t header;     /* its address */
    uint64_t chunk_size; /* bytes of a chunk */
    uint64_t whole;      /* chunks from the first on that are all there */
} chunk_array;

/* first: number of the first chunk; they come by ascending number. HDF5 never looks at the one that a block
 * itself says it begins with. */
static dls_status check_addresses(check_state *check, chunk_array *a, const uint8_t *at, uint64_t first,
                                  uint64_t count) {
    dls_status status = DLS_OK;
    for (uint64_t k = 0; k < count && !status; k++) {
        uint64_t address = check_number(at + 8 * k, 8);
        if (address == CHECK_UNDEFINED) continue;
        status = check_claim(check, address, a->chunk_size, "chunk");
        a->whole += a->whole == first + k;
    }
    return status;
}

/* A block's signature, client, header and checksum; size is that of the part under the checksum. */
static bool is_block(check_state *check, const chunk_array *a, const uint8_t *block, const char *signature,
                     uint64_t size) {
    return !memcmp(block, signature, 4) && block[4] == 0 && block[5] == 0 &&
           check_number(block + 6, 8) == a->header && check_is_sum_right(check, block, size);
}

/* Pages that hold no address yet may hold anything. */
static dls_status check_pages(check_state *check, chunk_array *a, uint64_t address, uint64_t first,
                              uint64_t pages, const uint8_t *is_used, uint64_t bit) {
    const uint64_t page = 8 * PAGE + SUM, prefix = PREFIX + OFFSET + SUM;
    const uint8_t *block;
    dls_status status = check_take(check, address, prefix, "chunk addresses", &block);
    if (status) return status;
    if (!is_block(check, a, block, "EADB", prefix)) return check_damaged(check, address, "chunk addresses");
    for (uint64_t k = 0; k < pages && !status; k++, bit++) {
        uint64_t at = address + prefix + k * page;
        if (!(is_used[bit / 8] & 0x80 >> bit % 8)) {
            status = check_claim(check, at, page, "chunk addresses");
            continue;
        }
        status = check_take(check, at, page, "chunk addresses", &block);
        if (!status && !check_is_sum_right(check, block, page))
            status = check_damaged(check, at, "chunk addresses");
        if (!status) status = check_addresses(check, a, block, FIRST + first + k * PAGE, PAGE);
    }
    return status;
}

static dls_status check_data(check_state *check, chunk_array *a, uint64_t address, uint64_t first,
                             uint64_t count) {
    const uint64_t size = PREFIX + OFFSET + 8 * count + SUM;
    const uint8_t *block;
    dls_status status = check_take(check, address, size, "chunk addresses", &block);
    if (status) return status;
    if (!is_block(check, a, block, "EADB", size)) return check_damaged(check, address, "chunk addresses");
    return check_addresses(check, a, block + PREFIX + OFFSET, FIRST + first, count);
}

static dls_status check_super(check_state *check, chunk_array *a, uint64_t address, uint64_t first,
                              unsigned u) {
    const uint64_t blocks = (uint64_t)1 << u / 2, count = (uint64_t)LEAST << (u + 1) / 2,
                   pages = count > PAGE ? count / PAGE : 0, bits = blocks * ((pages + 7) / 8),
                   size = PREFIX + OFFSET + bits + 8 * blocks + SUM;
    const uint8_t *block;
    dls_status status = check_take(check, address, size, "index of chunks", &block);
    if (status) return status;
    if (!is_block(check, a, block, "EASB", size)) return check_damaged(check, address, "index of chunks");
    const uint8_t *is_used = block + PREFIX + OFFSET, *at = is_used + bits;
    for (uint64_t k = 0; k < blocks && !status; k++, first += count) {
        uint64_t data = check_number(at + 8 * k, 8);
        if (data == CHECK_UNDEFINED) continue;
        status = pages ? check_pages(check, a, data, first, pages, is_used, k * pages)
                       : check_data(check, a, data, first, count);
    }
    return status;
}

static dls_status check_index(check_state *check, chunk_array *a, uint64_t address) {
    const uint64_t size = PREFIX + 8 * (FIRST + DIRECT + SUPERS - DIRECT_SUPERS) + SUM;
    const uint8_t *block;
    dls_status status = check_take(check, address, size, "index of chunks", &block);
    if (status) return status;
    if (!is_block(check, a, block, "EAIB", size)) return check_damaged(check, address, "index of chunks");
    const uint8_t *at = block + PREFIX;
    uint64_t first = 0;
    status = check_addresses(check, a, at, 0, FIRST);
    at += 8 * FIRST;
    for (unsigned u = 0; u < SUPERS && !status; u++) {
        uint64_t blocks = u < DIRECT_SUPERS ? (uint64_t)1 << u / 2 : 1,
                 count = (uint64_t)LEAST << (u + 1) / 2;
        for (uint64_t k = 0; k < blocks && !status; k++, at += 8) {
            uint64_t child = check_number(at, 8);
            if (child != CHECK_UNDEFINED)
                status = u < DIRECT_SUPERS ? check_data(check, a, child, first + k * count, count)
                                           : check_super(check, a, child, first, u);
        }
        first += count << u / 2;
    }
    return status;
}

/* As the writer of results makes them: rows of the width that the dataset has, addresses of 8 bytes. */
static bool is_as_written(const check_object *object) {
    if (object->rank < 1 || object->rank > 2 || object->chunk_rank != object->rank + 1) return false;
    if (object->limit[0] != CHECK_UNDEFINED || object->chunk[object->rank] != object->type_size) return false;
    return object->rank == 1 ||
           (object->limit[1] == object->extent[1] && object->chunk[1] == object->extent[1]);
}

dls_status check_chunks(check_state *check, const check_object *object) {
    static const uint8_t shape[] = {0, 0, 8, BITS, FIRST, LEAST, 4, 10}; /* version, client, numbers */
    chunk_array a = {object->index, 1, 0};
    const uint64_t rows = object->extent[0];
    const uint8_t *block;
    if (!is_as_written(object)) return check_damaged(check, object->index, "size of a chunk");
    for (unsigned k = 0; k < object->chunk_rank; k++) {
        if (object->chunk[k] == 0 || object->chunk[k] > UINT32_MAX / a.chunk_size)
            return check_damaged(check, object->index, "size of a chunk");
        a.chunk_size *= object->chunk[k];
    }
    if (object->index == CHECK_UNDEFINED)
        return rows ? check_damaged(check, object->index, "rows without chunks") : DLS_OK;
    dls_status status = check_take(check, object->index, HEADER, "index of chunks", &block);
    if (status) return status;
    if (memcmp(block, "EAHD", 4) || memcmp(block + 4, shape, sizeof shape) ||
        !check_is_sum_right(check, block, HEADER))
        return check_damaged(check, object->index, "index of chunks");
    uint64_t used = check_number(block + 44, 8), index = check_number(block + 60, 8);
    if (used > (uint64_t)1 << BITS) return check_damaged(check, object->index, "number of chunks");
    if (index != CHECK_UNDEFINED) status = check_index(check, &a, index);
    if (!status && a.whole < rows / object->chunk[0] + (rows % object->chunk[0] > 0))
        return check_damaged(check, object->index, "rows without chunks");
    return status;
}
