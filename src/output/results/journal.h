/* Blocks of HDF5's own on their way to the disk. HDF5 writes them over their older selves, and a process that
 * is killed meanwhile would leave one that is neither. So they are held back until HDF5 has written all that
 * belongs together; then all of them go behind the file's end first, as one record under a checksum, and only
 * then to their places. Whoever finds a block torn takes it from the record. */
#ifndef OUTPUT_RESULTS_JOURNAL_H
#define OUTPUT_RESULTS_JOURNAL_H

#include <delassus/base.h>

/* Entries one after the other: address and size in 8 bytes each, then the bytes. */
typedef struct dls_journal {
    uint8_t *bytes;
    int64_t used, room;
    int64_t count; /* of entries */
} dls_journal;

typedef struct dls_journal_entry {
    uint64_t address, size;
    uint8_t *bytes;
} dls_journal_entry;

/* The entry at a place, which it moves to the next; false at the end. */
bool dls_journal_next(const dls_journal *journal, int64_t *place, dls_journal_entry *entry);

/* Returns the bytes as they are held, to be changed until the next call; NULL when memory is out. */
uint8_t *dls_journal_add(dls_journal *journal, uint64_t address, uint64_t size, const void *bytes);
bool dls_journal_touches(const dls_journal *journal, uint64_t address, uint64_t size);
/* Puts what is held of size bytes at address over what was read of them. */
void dls_journal_overlay(const dls_journal *journal, uint64_t address, uint64_t size, uint8_t *bytes);

/* Ends it as a record; false when memory is out. */
bool dls_journal_seal(dls_journal *journal);
/* The record that ends a file of that size, without its end; empty where there is none or it is not whole. */
dls_status dls_journal_load(int descriptor, uint64_t file_size, dls_journal *journal, dls_error *error);

void dls_journal_clear(dls_journal *journal);
void dls_journal_free(dls_journal *journal);

#endif
