/* Datatypes: descriptions within descriptions, each of which must say sizes that agree. */
#include "h5/check.h"

#include <string.h>

enum type_class {
    TYPE_INTEGER = 0,
    TYPE_REAL = 1,
    TYPE_TEXT = 3,
    TYPE_COMPOUND = 6,
    TYPE_NAMED = 8, /* numbers that have names */
    TYPE_VARIABLE = 9,
    TYPE_ARRAY = 10
};
enum { HEAD = 8, MAX_MEMBERS = 64, MAX_TYPE_DEPTH = 4 }; /* a compound of arrays of numbers with names */

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

bool check_is_integer(const uint8_t *d, uint64_t size) {
    bool is_power = size == 1 || size == 2 || size == 4 || size == 8;
    return is_power && (d[1] & 0xf6) == 0 && check_number(d + 8, 2) == 0 &&
           check_number(d + 10, 2) == 8 * size;
}

/* Length of a name and the zero behind it, 0 where it does not end. */
static uint64_t name_size(const uint8_t *at, uint64_t room) {
    const uint8_t *end = room ? memchr(at, 0, room) : NULL;
    return end && end > at ? (uint64_t)(end - at) + 1 : 0;
}

static bool check_part(const uint8_t *d, uint64_t room, int depth, check_type_found *found);

/* Members lie apart, their offsets in as many bytes as the size of the whole needs. */
static bool check_compound(const uint8_t *d, uint64_t room, int depth, check_type_found *found) {
    check_extent places[MAX_MEMBERS];
    uint64_t count = check_number(d + 1, 2), used = HEAD;
    int width = 1;
    while (width < 4 && found->size >> 8 * width) width++;
    if (count == 0 || count > MAX_MEMBERS || d[0] >> 4 != 3) return false;
    for (uint64_t k = 0; k < count; k++) {
        check_type_found member;
        uint64_t name = name_size(d + used, room - used);
        if (name == 0 || room - used - name < (uint64_t)width) return false;
        uint64_t offset = check_number(d + used + name, width);
        used += name + (uint64_t)width;
        if (!check_part(d + used, room - used, depth + 1, &member)) return false;
        used += member.used;
        if (offset > found->size || member.size > found->size - offset) return false;
        places[k] = (check_extent){offset, offset + member.size};
        for (uint64_t i = 0; i < k; i++)
            if (places[i].begin < places[k].end && places[k].begin < places[i].end) return false;
    }
    found->used = used;
    return true;
}

static bool check_named(const uint8_t *d, uint64_t room, int depth, check_type_found *found) {
    uint64_t count = check_number(d + 1, 2), used = HEAD;
    check_type_found base;
    if (count == 0 || d[0] >> 4 != 3 || !check_part(d + HEAD, room - HEAD, depth + 1, &base)) return false;
    if (base.type_class != TYPE_INTEGER || base.size != found->size) return false;
    used += base.used;
    for (uint64_t k = 0; k < count; k++) {
        uint64_t name = name_size(d + used, room - used);
        if (name == 0) return false;
        used += name;
    }
    if (count * base.size > room - used) return false;
    found->used = used + count * base.size;
    return true;
}

static bool check_array(const uint8_t *d, uint64_t room, int depth, check_type_found *found) {
    check_type_found base;
    if (d[0] >> 4 != 3 || room < HEAD + 5 || d[HEAD] != 1) return false;
    uint64_t count = check_number(d + HEAD + 1, 4), used = HEAD + 5;
    if (count == 0 || !check_part(d + used, room - used, depth + 1, &base)) return false;
    found->used = used + base.used;
    return base.size * count == found->size; /* both are below 2^32 */
}

static bool check_part(const uint8_t *d, uint64_t room, int depth, check_type_found *found) {
    if (depth > MAX_TYPE_DEPTH || room < HEAD || d[0] >> 4 < 1 || d[0] >> 4 > 3) return false;
    *found = (check_type_found){.type_class = d[0] & 0x0f, .size = check_number(d + 4, 4), .used = HEAD};
    if (found->size == 0 || found->size > INT32_MAX) return false;
    switch (found->type_class) {
    case TYPE_INTEGER:
        found->used = HEAD + 4;
        return room >= found->used && check_is_integer(d, found->size);
    case TYPE_REAL:
        found->used = HEAD + 12;
        return room >= found->used && is_ieee(d, found->size);
    case TYPE_TEXT:
        return (d[1] & 0x0f) <= 2;
    case TYPE_COMPOUND:
        return check_compound(d, room, depth, found);
    case TYPE_NAMED:
        return check_named(d, room, depth, found);
    case TYPE_ARRAY:
        return check_array(d, room, depth, found);
    default:
        return false;
    }
}

bool check_type(const uint8_t *d, uint64_t room, bool is_plain, check_type_found *found) {
    if (room >= HEAD && is_plain && (d[0] & 0x0f) == TYPE_VARIABLE) {
        *found = (check_type_found){TYPE_VARIABLE, check_number(d + 4, 4), HEAD, true};
        return is_variable_text(d, room, found->size);
    }
    unsigned type_class = room >= HEAD ? d[0] & 0x0f : TYPE_VARIABLE;
    if (is_plain && type_class > TYPE_TEXT) return false;
    return check_part(d, room, 0, found);
}
