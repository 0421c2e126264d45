/* Object headers: blocks of messages, each of which must be whole, known, and of one mind with the others. */
#include "fclib/check.h"

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
    MESSAGE_REFERENCES = 0x16,
    MESSAGE_LAST = 0x17
};
enum type_class { TYPE_INTEGER = 0, TYPE_REAL = 1, TYPE_TEXT = 3, TYPE_VARIABLE = 9 };
enum { MAX_BLOCKS = 64, MAX_RANK = 32 };

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

static dls_status read_space(check_state *check, const message *m, check_object *object) {
    const uint8_t *d = m->data;
    if (object->has_space || m->size < 4 || d[0] < 1 || d[0] > 2 || d[1] > MAX_RANK || d[2] > 3)
        return malformed(check, m, "extent");
    unsigned rank = d[1], head = d[0] == 1 ? 8 : 4, copies = 1 + (d[2] & 1);
    if (d[0] == 1 && d[2] & 2) return malformed(check, m, "extent");
    if (m->size < head + 8 * (uint64_t)(rank * copies)) return malformed(check, m, "extent");
    if (d[0] == 2 && d[3] != (rank ? 1 : 0)) return check_unsupported(check, "no extent");
    object->has_space = true;
    object->points = 1;
    for (unsigned k = 0; k < rank; k++) {
        uint64_t extent = check_number(d + head + 8 * k, 8);
        uint64_t limit = copies == 2 ? check_number(d + head + 8 * (rank + k), 8) : extent;
        if (extent > max_points || limit < extent) return malformed(check, m, "extent");
        object->points *= extent;
        if (object->points > max_points) return malformed(check, m, "extent");
    }
    return DLS_OK;
}

/* ---- datatype ---- */

/* The IEEE layouts of 4 and 8 bytes: sign, exponent and mantissa where they belong. */
static bool is_ieee(const uint8_t *d, uint64_t size) {
    static const uint8_t single[] = {0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0};
    static const uint8_t twice[] = {0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0};
    if ((d[1] & 0xfe) != 0x20 || d[2] != size * 8 - 1 || d[3] != 0) return false;
    return (size == 4 && !memcmp(d + 8, single, 12)) || (size == 8 && !memcmp(d + 8, twice, 12));
}

/* Bytes of text of any length lie in a heap; the file holds a length, an address and an index. */
static bool is_variable_text(const uint8_t *d, uint64_t room, uint64_t size) {
    if (size != 16 || (d[1] & 0x0f) != 1 || room < 16) return false;
    const uint8_t *base = d + 8;
    unsigned base_class = base[0] & 0x0f;
    if (check_number(base + 4, 4) != 1) return false;
    if (base_class == TYPE_TEXT) return true;
    return base_class == TYPE_INTEGER && room >= 20 && check_number(base + 8, 2) == 0 &&
           check_number(base + 10, 2) == 8;
}

static bool is_whole_integer(const uint8_t *d, uint64_t size) {
    bool is_power = size == 1 || size == 2 || size == 4 || size == 8;
    return is_power && (d[1] & 0xf6) == 0 && check_number(d + 8, 2) == 0 &&
           check_number(d + 10, 2) == 8 * size;
}

static dls_status read_type(check_state *check, const message *m, check_object *object) {
    const uint8_t *d = m->data;
    if (object->has_type || m->size < 8 || d[0] >> 4 < 1 || d[0] >> 4 > 3)
        return malformed(check, m, "datatype");
    object->has_type = true;
    object->type_class = d[0] & 0x0f;
    object->type_size = check_number(d + 4, 4);
    bool is_fine = false;
    if (object->type_class == TYPE_INTEGER)
        is_fine = m->size >= 12 && is_whole_integer(d, object->type_size);
    else if (object->type_class == TYPE_REAL)
        is_fine = m->size >= 20 && is_ieee(d, object->type_size);
    else if (object->type_class == TYPE_TEXT)
        is_fine = object->type_size > 0 && object->type_size <= INT32_MAX && (d[1] & 0x0f) <= 2;
    else if (object->type_class == TYPE_VARIABLE)
        is_fine = object->type_is_variable = is_variable_text(d, m->size, object->type_size);
    return is_fine ? DLS_OK : check_unsupported(check, "a datatype other than integers, reals and text");
}

/* ---- storage ---- */

static dls_status read_layout(check_state *check, const message *m, check_object *object) {
    const uint8_t *d = m->data;
    if (object->has_layout || m->size < 4) return malformed(check, m, "data layout");
    object->has_layout = true;
    if (d[0] != 3 && d[0] != 4) return check_unsupported(check, "a data layout of another version");
    if (d[1] == 2) return check_unsupported(check, "data in chunks");
    if (d[1] == 3) return check_unsupported(check, "a virtual dataset");
    if (d[1] == 0) {
        object->is_compact = true;
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

/* Several texts share one collection in the global heap: is the whole collection sound, and the text in it?
 */
static dls_status check_text_heap(check_state *check, uint64_t address, uint64_t index, uint64_t length) {
    bool is_new = true;
    for (int k = 0; k < check->heap_count; k++) is_new = is_new && check->heaps[k] != address;
    if (address > check->size || check->size - address < 16)
        return check_damaged(check, address, "address of a text");
    const uint8_t *heap = check->bytes + address;
    uint64_t size = check_number(heap + 8, 8), found = 0;
    if (memcmp(heap, "GCOL", 4) || heap[4] != 1 || size < 16)
        return check_damaged(check, address, "collection of texts");
    if (is_new) {
        if (check->heap_count == CHECK_MAX_HEAPS) return check_unsupported(check, "too many texts");
        dls_status status = check_claim(check, address, size, "collection of texts");
        if (status) return status;
        check->heaps[check->heap_count++] = address;
    }
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

dls_status check_dataset(check_state *check, const check_object *object) {
    uint64_t at = object->data_begin;
    if (!object->has_space || !object->has_type || !object->has_layout)
        return check_damaged(check, at, "dataset without extent, datatype or layout");
    if (object->has_fill && object->fill_size != object->type_size)
        return check_damaged(check, at, "fill value of another size than the data");
    if (object->points == 0) return DLS_OK;
    if (object->points > UINT64_MAX / object->type_size ||
        object->data_size != object->points * object->type_size)
        return check_damaged(check, at, "size of the stored data");
    if (at == CHECK_UNDEFINED &&
        !object->is_compact) /* never written: fill values, no more than the file is long */
        return object->data_size <= check->size ? DLS_OK : check_unsupported(check, "no data");
    if (!object->is_compact) {
        dls_status status = check_claim(check, at, object->data_size, "address of the data");
        if (status) return status;
    }
    if (!object->type_is_variable) return DLS_OK;
    const uint8_t *text = check->bytes + at;
    if (object->points != 1) return check_unsupported(check, "several texts");
    uint64_t length = check_number(text, 4), heap = check_number(text + 4, 8);
    return length ? check_text_heap(check, heap, check_number(text + 12, 4), length) : DLS_OK;
}

/* ---- groups ---- */

static dls_status read_table(check_state *check, const message *m, check_object *object) {
    if (object->has_table || m->size < 16) return malformed(check, m, "symbol table");
    object->has_table = true;
    object->tree = check_number(m->data, 8);
    object->heap = check_number(m->data + 8, 8);
    return DLS_OK;
}

static dls_status read_link_info(check_state *check, const message *m, check_object *object) {
    const uint8_t *d = m->data;
    if (object->has_links || m->size < 2 || d[0] != 0 || d[1] > 3) return malformed(check, m, "group");
    uint64_t head = d[1] & 1 ? 10 : 2, addresses = d[1] & 2 ? 3 : 2;
    if (m->size < head + 8 * addresses) return malformed(check, m, "group");
    object->has_links = true;
    for (uint64_t k = 0; k < addresses; k++)
        if (check_number(d + head + 8 * k, 8) != CHECK_UNDEFINED)
            return check_unsupported(check, "a group with indexed links");
    return DLS_OK;
}

static dls_status read_link(check_state *check, const message *m) {
    const uint8_t *d = m->data;
    if (m->size < 2 || d[0] != 1 || d[1] > 0x1f) return malformed(check, m, "link");
    uint64_t place = 2, width = (uint64_t)1 << (d[1] & 3);
    bool is_hard = true;
    if (d[1] & 8) {
        if (m->size < 3) return malformed(check, m, "link");
        is_hard = d[place++] == 0;
    }
    if (d[1] & 4) place += 8;
    if (d[1] & 16) place += 1;
    if (m->size < place + width) return malformed(check, m, "link");
    uint64_t length = check_number(d + place, (int)width);
    place += width;
    if (length == 0 || length > m->size - place || memchr(d + place, '\0', length))
        return malformed(check, m, "name of a link");
    const char *name = (const char *)d + place;
    if (!is_hard) return check_link(check, name, length, CHECK_UNDEFINED, m->depth + 1);
    if (m->size - place - length < 8) return malformed(check, m, "link");
    return check_link(check, name, length, check_number(d + place + length, 8), m->depth + 1);
}

static dls_status read_group_info(check_state *check, const message *m) {
    const uint8_t *d = m->data;
    if (m->size < 2 || d[0] != 0 || d[1] > 3) return malformed(check, m, "group");
    unsigned needed = 2 + (d[1] & 1 ? 4u : 0) + (d[1] & 2 ? 4u : 0);
    return m->size >= needed ? DLS_OK : malformed(check, m, "group");
}

/* ---- attributes ---- */

static uint64_t padded(uint64_t size, bool is_padded) { return is_padded ? (size + 7) & ~(uint64_t)7 : size; }

/* Siconos notes the number of bodies beside the texts. Attributes are nothing that a problem needs, so one
 * that cannot be understood is passed over. */
static void read_attribute(check_state *check, const message *m) {
    static const char wanted[] = "numberOfInvolvedDS";
    const uint8_t *d = m->data;
    size_t length = strlen(check->where);
    if (length < 5 || strcmp(check->where + length - 5, "/info") || m->size < 9 || d[0] < 1 || d[0] > 3)
        return;
    bool is_padded = d[0] == 1;
    uint64_t name = d[0] == 3 ? 9 : 8, type = name + padded(check_number(d + 2, 2), is_padded);
    uint64_t space = type + padded(check_number(d + 4, 2), is_padded);
    uint64_t value = space + padded(check_number(d + 6, 2), is_padded);
    if (check_number(d + 2, 2) != sizeof wanted || space < type + 12 || value > m->size) return;
    uint64_t size = check_number(d + type + 4, 4);
    bool is_integer =
        (d[type] & 0x0f) == TYPE_INTEGER && is_whole_integer(d + type, size) && !(d[type + 1] & 1);
    if (memcmp(d + name, wanted, sizeof wanted) || !is_integer || size > m->size - value) return;
    uint64_t bodies = check_number(d + value, (int)size);
    if (bodies <= INT32_MAX) check->bodies = (int)bodies;
}

/* ---- messages and their blocks ---- */

typedef struct block_list {
    check_extent blocks[MAX_BLOCKS];
    int count;
} block_list;

static dls_status read_continuation(check_state *check, const message *m, block_list *list) {
    if (m->size < 16 || list->count == MAX_BLOCKS) return malformed(check, m, "continued header");
    uint64_t begin = check_number(m->data, 8), length = check_number(m->data + 8, 8);
    dls_status status = check_claim(check, begin, length, "continued header");
    if (!status) list->blocks[list->count++] = (check_extent){begin, begin + length};
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
        return is_shared ? malformed(check, m, "link") : read_link(check, m);
    case MESSAGE_GROUP_INFO:
        return read_group_info(check, m);
    case MESSAGE_TABLE:
        return is_shared ? malformed(check, m, "symbol table") : read_table(check, m, object);
    case MESSAGE_CONTINUATION:
        return is_shared ? malformed(check, m, "continued header") : read_continuation(check, m, list);
    case MESSAGE_ATTRIBUTE:
        if (!is_shared) read_attribute(check, m);
        return DLS_OK;
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

static dls_status read_block(check_state *check, const header_format *format, uint64_t begin, uint64_t end,
                             block_list *list, check_object *object, unsigned *count) {
    dls_status status = DLS_OK;
    while (!status && end - begin >= format->head) {
        const uint8_t *head = check->bytes + begin;
        unsigned kind = format->is_old ? (unsigned)check_number(head, 2) : head[0];
        uint64_t size = check_number(head + (format->is_old ? 2 : 1), 2);
        unsigned flags = head[format->is_old ? 4 : 3];
        message m = {head + format->head, size, begin + format->head, format->depth};
        if (size > end - begin - format->head) return malformed(check, &m, "header message");
        status = read_message(check, kind, flags, &m, list, object);
        begin += format->head + size;
        ++*count;
    }
    if (!status && format->is_old && begin != end) return check_damaged(check, begin, "header block");
    return status;
}

/* Newer blocks end in a checksum of all that comes before. */
static bool is_sum_right(const check_state *check, uint64_t begin, uint64_t end) {
    return check_sum(check->bytes + begin, end - begin - 4) == check_number(check->bytes + end - 4, 4);
}

static dls_status read_continued_blocks(check_state *check, const header_format *format, block_list *list,
                                        check_object *object, unsigned *count) {
    dls_status status = DLS_OK;
    for (int k = 0; k < list->count && !status; k++) {
        uint64_t begin = list->blocks[k].begin, end = list->blocks[k].end;
        if (end - begin < format->skip + format->tail ||
            (!format->is_old &&
             (memcmp(check->bytes + begin, "OCHK", 4) || !is_sum_right(check, begin, end))))
            return check_damaged(check, begin, "continued header");
        status = read_block(check, format, begin + format->skip, end - format->tail, list, object, count);
    }
    return status;
}

/* Version 1: 16 bytes, then messages aligned to 8. */
static dls_status check_old_header(check_state *check, uint64_t address, int depth, check_object *object) {
    header_format format = {.is_old = true, .head = 8, .depth = depth};
    block_list list = {.count = 0};
    unsigned count = 0;
    dls_status status = check_claim(check, address, 16, "object header");
    if (status) return status;
    const uint8_t *head = check->bytes + address;
    uint64_t size = check_number(head + 8, 4), begin = address + 16;
    if (check_number(head + 4, 4) != 1) return check_unsupported(check, "an object with several names");
    status = check_claim(check, begin, size, "object header");
    if (!status) status = read_block(check, &format, begin, begin + size, &list, object, &count);
    if (!status) status = read_continued_blocks(check, &format, &list, object, &count);
    if (!status && count != check_number(head + 2, 2))
        return check_damaged(check, address, "number of header messages");
    return status;
}

/* Version 2: optional times and limits, a size of 1 to 8 bytes, messages, a checksum. */
static dls_status check_new_header(check_state *check, uint64_t address, int depth, check_object *object) {
    const uint8_t *head = check->bytes + address;
    unsigned flags = head[5];
    header_format format = {.head = flags & 4 ? 6 : 4, .skip = 4, .tail = 4, .depth = depth};
    block_list list = {.count = 0};
    unsigned count = 0;
    if (head[4] != 2 || flags > 0x3f) return check_damaged(check, address, "object header");
    uint64_t width = (uint64_t)1 << (flags & 3);
    uint64_t place = 6 + (flags & 0x20 ? 16u : 0) + (flags & 0x10 ? 4u : 0);
    dls_status status = check_claim(check, address, place + width, "object header");
    if (status) return status;
    uint64_t size = check_number(head + place, (int)width), begin = address + place + width;
    if (size > check->size) return check_damaged(check, address, "object header");
    status = check_claim(check, begin, size + 4, "object header");
    if (!status && !is_sum_right(check, address, begin + size + 4))
        return check_damaged(check, address, "checksum of an object header");
    if (!status) status = read_block(check, &format, begin, begin + size, &list, object, &count);
    return status ? status : read_continued_blocks(check, &format, &list, object, &count);
}

dls_status check_header(check_state *check, uint64_t address, int depth, check_object *object) {
    *object = (check_object){0};
    if (address > check->size || check->size - address < 16)
        return check_damaged(check, address, "address of an object");
    const uint8_t *head = check->bytes + address;
    if (!memcmp(head, "OHDR", 4)) return check_new_header(check, address, depth, object);
    if (head[0] == 1) return check_old_header(check, address, depth, object);
    return check_damaged(check, address, "object header");
}
