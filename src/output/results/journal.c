#include "output/results/journal.h"

#include "base/error.h"
#include "base/memory.h"
#include "h5/check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 16, END = 24 }; /* end of a record: mark, bytes of its entries, their checksum, its own */

static const char mark[8] = "DLSBLOCK";

static void put_number(uint8_t *at, uint64_t value, int count) {
    for (int k = 0; k < count; k++) at[k] = (uint8_t)(value >> 8 * k);
}

bool dls_journal_next(const dls_journal *j, int64_t *place, dls_journal_entry *entry) {
    if (j->used - *place < HEAD) return false;
    uint8_t *at = j->bytes + *place;
    *entry = (dls_journal_entry){check_number(at, 8), check_number(at + 8, 8), at + HEAD};
    *place += HEAD + (int64_t)entry->size;
    return true;
}

uint8_t *dls_journal_add(dls_journal *j, uint64_t address, uint64_t size, const void *bytes) {
    if (!DLS_RESERVE(j->bytes, j->used, j->room, j->used + HEAD + (int64_t)size)) return NULL;
    uint8_t *at = j->bytes + j->used;
    put_number(at, address, 8);
    put_number(at + 8, size, 8);
    memcpy(at + HEAD, bytes, size);
    j->used += HEAD + (int64_t)size;
    j->count++;
    return at + HEAD;
}

bool dls_journal_touches(const dls_journal *j, uint64_t address, uint64_t size) {
    dls_journal_entry e;
    for (int64_t place = 0; dls_journal_next(j, &place, &e);)
        if (e.address < address + size && address < e.address + e.size) return true;
    return false;
}

void dls_journal_overlay(const dls_journal *j, uint64_t address, uint64_t size, uint8_t *bytes) {
    dls_journal_entry e;
    for (int64_t place = 0; dls_journal_next(j, &place, &e);) {
        uint64_t begin = e.address > address ? e.address : address,
                 end = e.address + e.size < address + size ? e.address + e.size : address + size;
        if (begin < end) memcpy(bytes + (begin - address), e.bytes + (begin - e.address), end - begin);
    }
}

bool dls_journal_seal(dls_journal *j) {
    if (!DLS_RESERVE(j->bytes, j->used, j->room, j->used + END)) return false;
    uint8_t *end = j->bytes + j->used;
    memcpy(end, mark, sizeof mark);
    put_number(end + 8, (uint64_t)j->used, 8);
    put_number(end + 16, check_sum(j->bytes, (size_t)j->used), 4);
    put_number(end + 20, check_sum(end, 20), 4);
    j->used += END;
    return true;
}

/* Every entry must end in the record, at an address that a file can have. */
static bool count_entries(dls_journal *j) {
    for (int64_t place = 0; place < j->used; j->count++) {
        if (j->used - place < HEAD) return false;
        uint64_t address = check_number(j->bytes + place, 8), size = check_number(j->bytes + place + 8, 8);
        if (size > (uint64_t)(j->used - place - HEAD) || address > INT64_MAX - size) return false;
        place += HEAD + (int64_t)size;
    }
    return true;
}

/* False where fewer bytes are there. */
static bool read_at(int descriptor, uint64_t address, uint8_t *bytes, uint64_t size) {
    while (size > 0) {
        ssize_t got = pread(descriptor, bytes, size, (off_t)address);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes += got;
        address += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return true;
}

dls_status dls_journal_load(int descriptor, uint64_t file_size, dls_journal *j, dls_error *error) {
    uint8_t end[END];
    dls_journal_clear(j);
    if (file_size < END || !read_at(descriptor, file_size - END, end, END)) return DLS_OK;
    uint64_t size = check_number(end + 8, 8);
    if (memcmp(end, mark, sizeof mark) || check_sum(end, 20) != check_number(end + 20, 4)) return DLS_OK;
    if (size > file_size - END) return DLS_OK;
    if (!DLS_RESERVE(j->bytes, 0, j->room, (int64_t)size + 1)) return dls_fail_memory(error);
    j->used = (int64_t)size;
    if (!read_at(descriptor, file_size - END - size, j->bytes, size) ||
        check_sum(j->bytes, size) != check_number(end + 16, 4) || !count_entries(j))
        dls_journal_clear(j);
    return DLS_OK;
}

void dls_journal_clear(dls_journal *j) { j->used = j->count = 0; }

void dls_journal_free(dls_journal *j) {
    dls_free(j->bytes);
    *j = (dls_journal){0};
}
