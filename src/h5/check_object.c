/* Object headers: blocks of messages, each of which must be whole, known, and of one mind with the others. */
#include "h5/check.h"

#include "base/error.h"

#include <string.h>

/* Kinds of messages and classes of datatypes, by their numbers in HDF5's file format. */
enum message_kind {
    MESSAGE_SPACE = 0x01,
    MESSAGE_LINK_INFO = 0x02,
    MESSAGE_TYPE = 0x03,
    MESSAGE_OLD_FILL = 0x04,
    MESSAGE_FILL = 0x05,
    MESSAGE_LINK = 0x06,
    MESSAGE_EXTERNAL_FILES = 0x07,
    MESSAGE_LAYOUT = 0x08,
    MESSAGE_BOGUS = 0x09,
    MESSAGE_GROUP_INFO = 0x0a,
    MESSAGE_FILTERS = 0x0b,
    MESSAGE_ATTRIBUTE = 0x0c,
    MESSAGE_OLD_TIME = 0x0e,
    MESSAGE_SHARED_TABLE = 0x0f,
    MESSAGE_CONTINUATION = 0x10,
    MESSAGE_TABLE = 0x11,
    MESSAGE_TIME = 0x12,
    MESSAGE_ATTRIBUTE_INFO = 0x15,
    MESSAGE_REFERENCES = 0x16,
    MESSAGE_LAST = 0x17
};
enum { MAX_BLOCKS = 64 };

static const uint64_t max_points = (uint64_t)1 << 40;

/* A message's content. */
typedef struct message {
    const uint8_t *data;
    uint64_t size, at; /* at: its place in the file */
    int depth;
} message;

static dls_status malformed(const check_state *check, const message *m, const char *what) {
    return check_damaged(check, m->at, what);
}

/* ---- dataspace ---- */

bool check_space(const uint8_t *d, uint64_t size, check_object *object) {
    if (size < 4 || d[0] < 1 || d[0] > 2 || d[1] > CHECK_MAX_RANK || d[2] > 3) return false;
    unsigned rank = d[1], head = d[0] == 1 ? 8 : 4, copies = 1 + (d[2] & 1);
    if (d[0] == 1 && d[2] & 2) return false;
    if (size < head + 8 * (uint64_t)(rank * copies)) return false;
    object->rank = rank;
    object->points = 1;
    for (unsigned k = 0; k < rank; k++) {
        uint64_t extent = check_number(d + head + 8 * k, 8);
        uint64_t limit = copies == 2 ? check_number(d + head + 8 * (rank + k), 8) : extent;
        if (extent > max_points || limit < extent) return false;
        object->points *= extent;
        if (object->points > max_points) return false;
        object->extent[k] = extent;
        object->limit[k] = limit;
    }
    return true;
}

/* Version 2 tells numbers without extents from extents of none. */
static bool is_nothing(const uint8_t *d) { return d[0] == 2 && d[3] != (d[1] ? 1 : 0); }

static dls_status read_space(check_state *check, const message *m, check_object *object) {
    if (object->has_space || !check_space(m->data, m->size, object)) return malformed(check, m, "extent");
    if (is_nothing(m->data)) return check_unsupported(check, "no extent");
    object->has_space = true;
    return DLS_OK;
}

/* ---- datatype ---- */

static dls_status read_type(check_state *check, const message *m, check_object *object) {
    check_type_found found;
    if (object->has_type || m->size < 8 || m->data[0] >> 4 < 1 || m->data[0] >> 4 > 3)
        return malformed(check, m, "datatype");
    if (!check_type(m->data, m->size, check->policy->is_plain, &found))
        return check->policy->is_plain
                   ? check_unsupported(check, "a datatype other than integers, reals and text")
                   : malformed(check, m, "datatype");
    object->has_type = true;
    object->type_class = found.type_class;
    object->type_size = found.size;
    object->type_is_variable = found.is_variable_text;
    return DLS_OK;
}

/* ---- storage ---- */

/* Chunks under an extensible array: flags, rank, bytes of a number, extents, kind of index, its five numbers,
 * its address. */
static dls_status read_chunks(check_state *check, const message *m, check_object *object) {
    static const uint8_t numbers[] = {32, 4, 4, 16, 10};
    const uint8_t *d = m->data;
    if (d[0] != 4 || m->size < 5 || d[2] != 0) return malformed(check, m, "chunks");
    unsigned rank = d[3], width = d[4];
    if (rank < 1 || rank > CHECK_MAX_RANK + 1 || width < 1 || width > 8 ||
        m->size < 5 + (uint64_t)(rank * width) + 14)
        return malformed(check, m, "chunks");
    for (unsigned k = 0; k < rank; k++) object->chunk[k] = check_number(d + 5 + k * width, (int)width);
    const uint8_t *index = d + 5 + rank * width;
    if (index[0] != 4) return check_unsupported(check, "chunks under another kind of index");
    if (memcmp(index + 1, numbers, sizeof numbers)) return malformed(check, m, "chunks");
    object->is_chunked = true;
    object->chunk_rank = rank;
    object->index = check_number(index + 6, 8);
    return DLS_OK;
}

static dls_status read_layout(check_state *check, const message *m, check_object *object) {
    const uint8_t *d = m->data;
    if (object->has_layout || m->size < 4) return malformed(check, m, "data layout");
    object->has_layout = true;
    if (d[0] != 3 && d[0] != 4) return check_unsupported(check, "a data layout of another version");
    if (d[1] == 2 && !check->policy->is_plain) return read_chunks(check, m, object);
    if (d[1] == 2) return check_unsupported(check, "data in chunks");
    if (d[1] == 3) return check_unsupported(check, "a virtual dataset");
    if (d[1] == 0 && !check->policy->is_plain) return check_unsupported(check, "data in a header");
    if (d[1] == 0) {
        object->is_compact = true;
        object->data = d + 4;
        object->data_begin = m->at + 4;
        object->data_size = check_number(d + 2, 2);
        return object->data_size <= m->size - 4 ? DLS_OK : malformed(check, m, "data layout");
    }
    if (d[1] != 1 || m->size < 18) return malformed(check, m, "data layout");
    object->data_begin = check_number(d + 2, 8);
    object->data_size = check_number(d + 10, 8);
    return DLS_OK;
}

/* Fill values come in three versions, and once more in a message of their own from before. */
static dls_status read_fill(check_state *check, const message *m, bool is_old, check_object *object) {
    const uint8_t *d = m->data;
    uint64_t head = 4;
    if (m->size < (is_old ? 4 : 2)) return malformed(check, m, "fill value");
    if (!is_old) {
        bool is_defined = false;
        if (d[0] < 1 || d[0] > 3) return malformed(check, m, "fill value");
        if (d[0] == 3) {
            is_defined = d[1] & 0x20;
            head = 6;
        } else {
            if (m->size < 4) return malformed(check, m, "fill value");
            is_defined = d[0] == 1 || d[3];
            head = 8;
        }
        if (!is_defined) return DLS_OK;
    }
    if (m->size < head) return malformed(check, m, "fill value");
    uint64_t size = check_number(d + head - 4, 4);
    if (size == UINT32_MAX || size == 0) return DLS_OK; /* none */
    if (size > m->size - head || (object->has_fill && object->fill_size != size))
        return malformed(check, m, "fill value");
    object->has_fill = true;
    object->fill_size = size;
    return DLS_OK;
}

/* The collection of texts at an address, once for all of them. */
static dls_status take_texts(check_state *check, uint64_t address, const uint8_t **heap) {
    for (int k = 0; k < check->heap_count; k++) {
        *heap = check->heaps[k].bytes;
        if (check->heaps[k].address == address) return DLS_OK;
    }
    dls_status status = check_peek(check, address, 16, "address of a text", heap);
    if (status) return status;
    uint64_t size = check_number(*heap + 8, 8);
    if (memcmp(*heap, "GCOL", 4) || (*heap)[4] != 1 || size < 16)
        return check_damaged(check, address, "collection of texts");
    if (check->heap_count == CHECK_MAX_HEAPS) return check_unsupported(check, "too many texts");
    status = check_take(check, address, size, "collection of texts", heap);
    if (!status) check->heaps[check->heap_count++] = (check_texts){address, *heap};
    return status;
}

/* Several texts share one collection in the global heap: is the whole collection sound, and the text in it?
 */
static dls_status check_text_heap(check_state *check, uint64_t address, uint64_t index, uint64_t length) {
    const uint8_t *heap;
    dls_status status = take_texts(check, address, &heap);
    if (status) return status;
    uint64_t size = check_number(heap + 8, 8), found = 0;
    for (uint64_t at = 16; size - at >= 16;) {
        uint64_t number = check_number(heap + at, 2), bytes = check_number(heap + at + 8, 8);
        uint64_t room = size - at;
        if (number == 0 &&
            bytes != room) /* the rest is free; HDF5 would go on from there, or stay for ever */
            return check_damaged(check, address + at, "collection of texts");
        if (number == 0) break;
        if (bytes > room - 16 || ((bytes + 7) & ~(uint64_t)7) > room - 16)
            return check_damaged(check, address + at, "collection of texts");
        if (number == index) found = bytes + 1;
        at += 16 + ((bytes + 7) & ~(uint64_t)7);
    }
    return found > length ? DLS_OK : check_damaged(check, address, "collection without the text");
}

static dls_status check_text(check_state *check, const check_object *object) {
    const uint8_t *text = object->data;
    if (object->points != 1) return check_unsupported(check, "several texts");
    if (!object->is_compact) {
        dls_status status =
            check_take(check, object->data_begin, object->data_size, "address of the data", &text);
        if (status) return status;
    }
    uint64_t length = check_number(text, 4), heap = check_number(text + 4, 8);
    return length ? check_text_heap(check, heap, check_number(text + 12, 4), length) : DLS_OK;
}

dls_status check_dataset(check_state *check, const check_object *object) {
    uint64_t at = object->data_begin;
    if (!object->has_space || !object->has_type || !object->has_layout)
        return check_damaged(check, at, "dataset without extent, datatype or layout");
    if (object->has_fill && object->fill_size != object->type_size)
        return check_damaged(check, at, "fill value of another size than the data");
    if (object->is_chunked) return check_chunks(check, object);
    if (object->points == 0) return DLS_OK;
    if (object->points > UINT64_MAX / object->type_size ||
        object->data_size != object->points * object->type_size)
        return check_damaged(check, at, "size of the stored data");
    if (at == CHECK_UNDEFINED &&
        !object->is_compact) /* never written: fill values, no more than the file is long */
        return object->data_size <= check->size ? DLS_OK : check_unsupported(check, "no data");
    if (object->type_is_variable) return check_text(check, object);
    return object->is_compact ? DLS_OK : check_claim(check, at, object->data_size, "address of the data");
}

/* ---- groups ---- */

static dls_status read_table(check_state *check, const message *m, check_object *object) {
    if (object->has_table || m->size < 16) return malformed(check, m, "symbol table");
    object->has_table = true;
    object->tree = check_number(m->data, 8);
    object->heap = check_number(m->data + 8, 8);
    return DLS_OK;
}

/* Addresses of a heap and its trees, behind a number where one is kept. */
static dls_status read_link_info(check_state *check, const message *m, check_object *object) {
    const uint8_t *d = m->data;
    if (object->has_links || m->size < 2 || d[0] != 0 || d[1] > 3) return malformed(check, m, "group");
    uint64_t head = d[1] & 1 ? 10 : 2, addresses = d[1] & 2 ? 3 : 2;
    if (m->size < head + 8 * addresses) return malformed(check, m, "group");
    object->has_links = true;
    object->link_heap = check_number(d + head, 8);
    object->link_tree = check_number(d + head + 8, 8);
    for (uint64_t k = check->policy->is_plain ? 0 : 2; k < addresses; k++)
        if (check_number(d + head + 8 * k, 8) != CHECK_UNDEFINED)
            return check_unsupported(check, "a group with indexed links");
    return DLS_OK;
}

dls_status check_link_message(check_state *check, const uint8_t *d, uint64_t size, uint64_t at, int depth) {
    if (size < 2 || d[0] != 1 || d[1] > 0x1f) return check_damaged(check, at, "link");
    uint64_t place = 2, width = (uint64_t)1 << (d[1] & 3);
    bool is_hard = true;
    if (d[1] & 8) {
        if (size < 3) return check_damaged(check, at, "link");
        is_hard = d[place++] == 0;
    }
    if (d[1] & 4) place += 8;
    if (d[1] & 16) place += 1;
    if (size < place + width) return check_damaged(check, at, "link");
    uint64_t length = check_number(d + place, (int)width);
    place += width;
    if (length == 0 || length > size - place || memchr(d + place, '\0', length))
        return check_damaged(check, at, "name of a link");
    const char *name = (const char *)d + place;
    if (!is_hard) return check_link(check, name, length, CHECK_UNDEFINED, depth + 1);
    if (size - place - length < 8) return check_damaged(check, at, "link");
    return check_link(check, name, length, check_number(d + place + length, 8), depth + 1);
}

static dls_status read_group_info(check_state *check, const message *m) {
    const uint8_t *d = m->data;
    if (m->size < 2 || d[0] != 0 || d[1] > 3) return malformed(check, m, "group");
    unsigned needed = 2 + (d[1] & 1 ? 4u : 0) + (d[1] & 2 ? 4u : 0);
    return m->size >= needed ? DLS_OK : malformed(check, m, "group");
}

/* ---- attributes ---- */

static uint64_t padded(uint64_t size, bool is_padded) { return is_padded ? (size + 7) & ~(uint64_t)7 : size; }

/* Where the parts of an attribute lie in its message. */
typedef struct attribute_parts {
    uint64_t name, type, space, value;
} attribute_parts;

static bool find_parts(const uint8_t *d, uint64_t size, attribute_parts *p) {
    if (size < 9 || d[0] < 1 || d[0] > 3) return false;
    bool is_padded = d[0] == 1;
    p->name = d[0] == 3 ? 9 : 8;
    p->type = p->name + padded(check_number(d + 2, 2), is_padded);
    p->space = p->type + padded(check_number(d + 4, 2), is_padded);
    p->value = p->space + padded(check_number(d + 6, 2), is_padded);
    return p->value <= size;
}

/* An integer that is noted on the way. One that cannot be understood is passed over. */
static void note_attribute(check_state *check, const message *m) {
    const check_policy *policy = check->policy;
    const uint8_t *d = m->data;
    attribute_parts p;
    const char *group = strrchr(check->where, '/');
    if (!policy->noted_group || !group || strcmp(group + 1, policy->noted_group)) return;
    size_t length = strlen(policy->noted_attribute) + 1;
    if (!find_parts(d, m->size, &p) || check_number(d + 2, 2) != length || p.space < p.type + 12) return;
    uint64_t size = check_number(d + p.type + 4, 4);
    bool is_integer = (d[p.type] & 0x0f) == 0 && check_is_integer(d + p.type, size) && !(d[p.type + 1] & 1);
    if (memcmp(d + p.name, policy->noted_attribute, length) || !is_integer || size > m->size - p.value)
        return;
    uint64_t value = check_number(d + p.value, (int)size);
    if (value <= INT32_MAX) check->found.noted = (int)value;
}

dls_status check_attribute(check_state *check, const uint8_t *d, uint64_t size, uint64_t at) {
    attribute_parts p;
    check_type_found type;
    check_object space = {0};
    uint64_t name = size < 4 ? 0 : check_number(d + 2, 2);
    if (!find_parts(d, size, &p) || d[0] != 3 || d[1] != 0 || name < 2 ||
        memchr(d + p.name, 0, name) != d + p.name + name - 1)
        return check_damaged(check, at, "attribute");
    if (!check_type(d + p.type, p.space - p.type, false, &type) ||
        !check_space(d + p.space, p.value - p.space, &space) || is_nothing(d + p.space))
        return check_damaged(check, at, "kind of an attribute");
    if (space.points > (size - p.value) / type.size) return check_damaged(check, at, "value of an attribute");
    return DLS_OK;
}

static dls_status read_attribute_info(check_state *check, const message *m, check_object *object) {
    const uint8_t *d = m->data;
    if (check->policy->is_plain) return DLS_OK;
    if (m->size < 18 || d[0] != 0 || d[1] != 0) return malformed(check, m, "attributes");
    object->attribute_heap = check_number(d + 2, 8);
    object->attribute_tree = check_number(d + 10, 8);
    return DLS_OK;
}

static dls_status read_attribute(check_state *check, const message *m, bool is_shared) {
    if (!check->policy->is_plain)
        return is_shared ? malformed(check, m, "attribute") : check_attribute(check, m->data, m->size, m->at);
    if (!is_shared) note_attribute(check, m);
    return DLS_OK;
}

/* ---- messages and their blocks ---- */

typedef struct header_block {
    const uint8_t *bytes;
    uint64_t begin, size;
} header_block;

typedef struct block_list {
    header_block blocks[MAX_BLOCKS];
    int count;
} block_list;

static dls_status read_continuation(check_state *check, const message *m, block_list *list) {
    if (m->size < 16 || list->count == MAX_BLOCKS) return malformed(check, m, "continued header");
    header_block block = {NULL, check_number(m->data, 8), check_number(m->data + 8, 8)};
    dls_status status = check_take(check, block.begin, block.size, "continued header", &block.bytes);
    if (!status) list->blocks[list->count++] = block;
    return status;
}

static dls_status read_message(check_state *check, unsigned kind, unsigned flags, const message *m,
                               block_list *list, check_object *object) {
    bool is_shared = flags & 2, is_never_shared = flags & 4;
    if (flags > 7 || (is_shared && is_never_shared)) return malformed(check, m, "header message");
    switch (kind) {
    case MESSAGE_SPACE:
        return is_shared ? check_unsupported(check, "a shared extent") : read_space(check, m, object);
    case MESSAGE_TYPE:
        return is_shared ? check_unsupported(check, "a named datatype") : read_type(check, m, object);
    case MESSAGE_OLD_FILL:
    case MESSAGE_FILL:
        if (is_shared) return check_unsupported(check, "a shared fill value");
        return read_fill(check, m, kind == MESSAGE_OLD_FILL, object);
    case MESSAGE_LAYOUT:
        return is_shared ? malformed(check, m, "data layout") : read_layout(check, m, object);
    case MESSAGE_FILTERS:
        return check_unsupported(check, "compressed or filtered data");
    case MESSAGE_EXTERNAL_FILES:
        return check_unsupported(check, "data in other files");
    case MESSAGE_LINK_INFO:
        return read_link_info(check, m, object);
    case MESSAGE_LINK:
        return is_shared ? malformed(check, m, "link")
                         : check_link_message(check, m->data, m->size, m->at, m->depth);
    case MESSAGE_GROUP_INFO:
        return read_group_info(check, m);
    case MESSAGE_TABLE:
        if (!check->policy->is_plain) return check_unsupported(check, "a group of the old kind");
        return is_shared ? malformed(check, m, "symbol table") : read_table(check, m, object);
    case MESSAGE_CONTINUATION:
        return is_shared ? malformed(check, m, "continued header") : read_continuation(check, m, list);
    case MESSAGE_ATTRIBUTE:
        return read_attribute(check, m, is_shared);
    case MESSAGE_ATTRIBUTE_INFO:
        return is_shared ? malformed(check, m, "attributes") : read_attribute_info(check, m, object);
    case MESSAGE_OLD_TIME:
        return m->size >= 16 ? DLS_OK : malformed(check, m, "time");
    case MESSAGE_TIME:
        return m->size >= 8 ? DLS_OK : malformed(check, m, "time");
    case MESSAGE_REFERENCES:
        return m->size >= 5 ? DLS_OK : malformed(check, m, "reference count");
    default: /* comments, free room and the like are not opened */
        if (kind > MESSAGE_LAST || kind == MESSAGE_BOGUS || kind == MESSAGE_SHARED_TABLE)
            return malformed(check, m, "unknown header message");
        return DLS_OK;
    }
}

/* How messages of one header are written. */
typedef struct header_format {
    bool is_old;
    uint64_t head; /* bytes before a message's content */
    uint64_t skip; /* bytes before a continued block's first message, and behind its last */
    uint64_t tail;
    int depth;
} header_format;

static dls_status read_block(check_state *check, const header_format *format, const header_block *block,
                             block_list *list, check_object *object, unsigned *count) {
    dls_status status = DLS_OK;
    uint64_t place = 0;
    while (!status && block->size - place >= format->head) {
        const uint8_t *head = block->bytes + place;
        unsigned kind = format->is_old ? (unsigned)check_number(head, 2) : head[0];
        uint64_t size = check_number(head + (format->is_old ? 2 : 1), 2);
        unsigned flags = head[format->is_old ? 4 : 3];
        place += format->head;
        message m = {head + format->head, size, block->begin + place, format->depth};
        if (size > block->size - place) return malformed(check, &m, "header message");
        status = read_message(check, kind, flags, &m, list, object);
        place += size;
        ++*count;
    }
    if (!status && format->is_old && place != block->size)
        return check_damaged(check, block->begin + place, "header block");
    return status;
}

static dls_status read_continued_blocks(check_state *check, const header_format *format, block_list *list,
                                        check_object *object, unsigned *count) {
    dls_status status = DLS_OK;
    for (int k = 0; k < list->count && !status; k++) {
        header_block b = list->blocks[k];
        if (b.size < format->skip + format->tail ||
            (!format->is_old && (memcmp(b.bytes, "OCHK", 4) || !check_is_sum_right(check, b.bytes, b.size))))
            return check_damaged(check, b.begin, "continued header");
        header_block inner = {b.bytes + format->skip, b.begin + format->skip,
                              b.size - format->skip - format->tail};
        status = read_block(check, format, &inner, list, object, count);
    }
    return status;
}

/* Version 1: 16 bytes, then messages aligned to 8. */
static dls_status check_old_header(check_state *check, uint64_t address, uint64_t size, int depth,
                                   check_object *object) {
    header_format format = {.is_old = true, .head = 8, .depth = depth};
    block_list list = {.count = 0};
    unsigned count = 0;
    const uint8_t *head;
    dls_status status = check_take(check, address, 16 + size, "object header", &head);
    if (status) return status;
    if (check_number(head + 4, 4) != 1) return check_unsupported(check, "an object with several names");
    header_block first = {head + 16, address + 16, size};
    status = read_block(check, &format, &first, &list, object, &count);
    if (!status) status = read_continued_blocks(check, &format, &list, object, &count);
    if (!status && count != check_number(head + 2, 2))
        return check_damaged(check, address, "number of header messages");
    return status;
}

/* Version 2: optional times and limits, a size of 1 to 8 bytes, messages, a checksum. Bytes until then are
 * peeked at to know the size, and are the same once all are there. */
static dls_status check_new_header(check_state *check, uint64_t address, unsigned flags, int depth,
                                   check_object *object) {
    header_format format = {.head = flags & 4 ? 6 : 4, .skip = 4, .tail = 4, .depth = depth};
    block_list list = {.count = 0};
    unsigned count = 0;
    const uint8_t *head;
    uint64_t width = (uint64_t)1 << (flags & 3),
             place = 6 + (flags & 0x20 ? 16u : 0) + (flags & 0x10 ? 4u : 0);
    if (flags > 0x3f) return check_damaged(check, address, "object header");
    dls_status status = check_peek(check, address, place + width, "object header", &head);
    if (status) return status;
    uint64_t size = check_number(head + place, (int)width), whole = place + width + size + 4;
    if (size > check->size) return check_damaged(check, address, "object header");
    status = check_take(check, address, whole, "object header", &head);
    if (status) return status;
    if (!check_is_sum_right(check, head, whole))
        return check_damaged(check, address, "checksum of an object header");
    if (head[4] != 2 || head[5] != flags || check_number(head + place, (int)width) != size)
        return check_damaged(check, address, "object header");
    header_block first = {head + place + width, address + place + width, size};
    status = read_block(check, &format, &first, &list, object, &count);
    return status ? status : read_continued_blocks(check, &format, &list, object, &count);
}

dls_status check_header(check_state *check, uint64_t address, int depth, check_object *object) {
    const uint8_t *head;
    *object = (check_object){.link_heap = CHECK_UNDEFINED,
                             .link_tree = CHECK_UNDEFINED,
                             .attribute_heap = CHECK_UNDEFINED,
                             .attribute_tree = CHECK_UNDEFINED};
    dls_status status = check_peek(check, address, 16, "address of an object", &head);
    if (status) return status;
    if (!memcmp(head, "OHDR", 4)) return check_new_header(check, address, head[5], depth, object);
    if (head[0] == 1 && check->policy->is_plain)
        return check_old_header(check, address, check_number(head + 8, 4), depth, object);
    return check_damaged(check, address, "object header");
}
