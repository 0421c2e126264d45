#include "output/results/structure.h"

#include "base/error.h"
#include "base/memory.h"
#include "h5/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Superblock of version 3: signature, version, two sizes, marks, three addresses of which the third is the
 * file's end, the root, and a checksum over it all. */
enum { SUPERBLOCK = 48, VERSION = 8, SIZES = 9, BASE = 12, END = 28, ROOT = 36, SUM = 44 };

static const uint8_t signature[8] = "\x89HDF\r\n\x1a\n";

/* One attempt. */
typedef struct attempt {
    int descriptor;
    const char *name;
    const dls_journal *journal; /* of a writer that was killed */
    dls_structure *structure;
    int64_t left; /* how often an entry of it may still be looked at */
    uint8_t peeked[CHECK_PEEK];
    bool is_torn; /* failed by a wrong checksum */
} attempt;

/* ---- bytes ---- */

/* What lies beyond the end reads as zeros. */
static dls_status read_file(attempt *a, uint64_t begin, uint64_t length, uint8_t *bytes, dls_error *error) {
    for (uint64_t done = 0; done < length;) {
        ssize_t got = pread(a->descriptor, bytes + done, length - done, (off_t)(begin + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be read: %s", a->name, strerror(errno));
        if (got == 0) {
            memset(bytes + done, 0, length - done);
            break;
        }
        done += (uint64_t)got;
    }
    if (!a->journal) return DLS_OK;
    if ((a->left -= a->journal->count) < 0)
        return dls_fail(error, DLS_ERROR_FILE, "%s: damaged: the record at its end has %" PRId64 " blocks",
                        a->name, a->journal->count);
    dls_journal_overlay(a->journal, begin, length, bytes);
    return DLS_OK;
}

static dls_status keep(dls_structure *s, uint64_t begin, uint64_t length, uint8_t **bytes, dls_error *error) {
    if (!DLS_RESERVE(s->blocks, s->count, s->room, s->count + 1) || !(*bytes = DLS_NEW(uint8_t, length)))
        return dls_fail_memory(error);
    s->blocks[s->count++] = (dls_structure_block){begin, begin + length, *bytes};
    return DLS_OK;
}

/* No block that is written comes near; a hostile file may be long and have nothing in it. */
static const uint64_t longest = 1 << 24;

static dls_status load(void *user, uint64_t begin, uint64_t length, bool is_kept, const uint8_t **bytes,
                       dls_error *error) {
    attempt *a = user;
    uint8_t *made = a->peeked;
    if (length > longest)
        return dls_fail(error, DLS_ERROR_FILE,
                        "%s: damaged: a block of %" PRIu64 " bytes at byte %" PRIu64 ", expected %" PRIu64
                        " at most",
                        a->name, length, begin, longest);
    dls_status status = is_kept ? keep(a->structure, begin, length, &made, error) : DLS_OK;
    if (!status) status = read_file(a, begin, length, made, error);
    *bytes = made;
    return status;
}

/* ---- what is checked ---- */

static dls_status check_first(attempt *a, dls_error *error) {
    uint8_t block[SUPERBLOCK] = {0};
    uint64_t size = a->structure->size;
    dls_status status = read_file(a, 0, size < SUPERBLOCK ? size : SUPERBLOCK, block, error);
    if (status) return status;
    if (memcmp(block, signature, sizeof signature))
        return dls_fail(error, DLS_ERROR_FILE, "%s: no results file: it does not begin as an HDF5 file does",
                        a->name);
    if (size < SUPERBLOCK || block[VERSION] != 3)
        return dls_fail(error, DLS_ERROR_FILE, "%s: no results file: an HDF5 file of another kind", a->name);
    a->is_torn = check_sum(block, SUM) != check_number(block + SUM, 4);
    if (a->is_torn)
        return dls_fail(error, DLS_ERROR_FILE, "%s: damaged: first bytes: their checksum is wrong", a->name);
    if (block[SIZES] != 8 || block[SIZES + 1] != 8 || check_number(block + BASE, 8) != 0)
        return dls_fail(error, DLS_ERROR_FILE, "%s: no results file: an HDF5 file of another kind", a->name);
    uint64_t end = check_number(block + END, 8);
    if (end > size)
        return dls_fail(error, DLS_ERROR_FILE, "%s: cut off: %" PRIu64 " bytes are there, expected %" PRIu64,
                        a->name, size, end);
    return DLS_OK;
}

/* The superblock that HDF5 gets: no marks, and all that is there may be read. */
static dls_status make_first(dls_structure *s, uint64_t root, dls_error *error) {
    uint8_t block[SUPERBLOCK] = {0}, *kept = NULL;
    memcpy(block, signature, sizeof signature);
    block[VERSION] = 3;
    block[SIZES] = block[SIZES + 1] = 8;
    memset(block + BASE + 8, 0xff, 8); /* no extension */
    memcpy(block + END, &s->size, 8);
    memcpy(block + ROOT, &root, 8);
    memcpy(block + SUM, &(uint32_t){check_sum(block, SUM)}, 4);
    dls_status status = keep(s, 0, SUPERBLOCK, &kept, error);
    if (!status) memcpy(kept, block, SUPERBLOCK);
    return status;
}

static int compare_blocks(const void *a, const void *b) {
    uint64_t x = ((const dls_structure_block *)a)->begin, y = ((const dls_structure_block *)b)->begin;
    return (x > y) - (x < y);
}

static dls_status try_once(attempt *a, dls_error *error) {
    static const check_policy policy = {.is_live = true, .expected = "what delassus writes"};
    struct stat about;
    check_found found = {0};
    dls_structure_free(a->structure);
    if (fstat(a->descriptor, &about))
        return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be read: %s", a->name, strerror(errno));
    a->structure->size = (uint64_t)about.st_size;
    dls_status status = check_first(a, error);
    if (status) return status;
    status = dls_h5_check(&(check_source){a->structure->size, load, a}, &policy, a->name, &found, error);
    a->is_torn = status && found.has_wrong_sum;
    if (!status) status = make_first(a->structure, found.root, error);
    if (!status)
        qsort(a->structure->blocks, (size_t)a->structure->count, sizeof *a->structure->blocks,
              compare_blocks);
    return status;
}

/* Records have some hundred entries, files some hundred blocks. */
static const int64_t most_looks = 1 << 26;

/* What the file is once all is done that its record tells; what was tried without it stands where there is
 * none. */
static dls_status try_record(attempt *a, bool *has_record, dls_error *error) {
    dls_journal journal = {0};
    dls_error own = {0};
    dls_status status = dls_journal_load(a->descriptor, a->structure->size, &journal, &own);
    *has_record = journal.used > 0;
    a->journal = &journal;
    a->left = most_looks;
    if (!status && *has_record) status = try_once(a, &own);
    a->journal = NULL;
    dls_journal_free(&journal);
    if (!*has_record && !status) return error->status;
    *error = own;
    return status;
}

/* A writer does all that a record tells in less than a millisecond, but may be put to sleep at it. */
enum { ATTEMPTS = 13 };

dls_status dls_structure_take(int descriptor, const char *name, dls_structure *structure, dls_error *error) {
    attempt a = {.descriptor = descriptor, .name = name, .structure = structure};
    dls_error own = {0};
    dls_status status = DLS_OK;
    *structure = (dls_structure){0};
    for (int k = 0; k < ATTEMPTS; k++) {
        bool is_torn, has_record;
        dls_error_clear(&own);
        status = try_once(&a, &own);
        if (!status || status == DLS_ERROR_MEMORY) break;
        is_torn = a.is_torn;
        status = try_record(&a, &has_record, &own);
        if (!status || status == DLS_ERROR_MEMORY || (!is_torn && !has_record)) break;
        nanosleep(&(struct timespec){0, 1000L << k}, NULL);
    }
    if (!status) return DLS_OK;
    dls_structure_free(structure);
    if (error) *error = own;
    return status;
}

/* ---- what HDF5 reads ---- */

void dls_structure_overlay(const dls_structure *s, uint64_t address, uint64_t size, void *bytes) {
    int64_t low = 0, high = s->count; /* the first block that ends behind address */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->blocks[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->count && s->blocks[low].begin < address + size; low++) {
        const dls_structure_block *b = &s->blocks[low];
        uint64_t begin = b->begin > address ? b->begin : address,
                 end = b->end < address + size ? b->end : address + size;
        memcpy((uint8_t *)bytes + (begin - address), b->bytes + (begin - b->begin), end - begin);
    }
}

void dls_structure_free(dls_structure *s) {
    for (int64_t k = 0; k < s->count; k++) dls_free(s->blocks[k].bytes);
    dls_free(s->blocks);
    *s = (dls_structure){0};
}
