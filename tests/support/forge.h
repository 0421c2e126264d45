/* The blocks of HDF5 in a results file, so that they can be changed under checksums that are right. */
#ifndef DELASSUS_TESTS_SUPPORT_FORGE_H
#define DELASSUS_TESTS_SUPPORT_FORGE_H

#include "h5/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORGE_BLOCKS = 400, FORGE_FIELDS = 4000, FORGE_LONGEST = 2100 };

typedef struct forge_block {
    size_t begin, size, sum; /* sum: place of the checksum */
    bool is_sum_inside;      /* taken with zeros in its place */
} forge_block;

/* A sound file. */
typedef struct forge_sample {
    uint8_t *bytes;
    size_t size;
    forge_block blocks[FORGE_BLOCKS];
    int block_count;
    size_t fields[FORGE_FIELDS]; /* places of numbers that are addresses of blocks */
    int field_count;
} forge_sample;

static inline uint32_t forge_sum(const uint8_t *bytes, const forge_block *b) {
    static uint8_t copy[FORGE_LONGEST];
    if (!b->is_sum_inside) return check_sum(bytes + b->begin, b->size);
    memcpy(copy, bytes + b->begin, b->size);
    memset(copy + (b->sum - b->begin), 0, 4);
    return check_sum(copy, b->size);
}

static inline bool forge_is_sound(const forge_sample *s, const forge_block *b) {
    return b->begin + b->size + 4 <= s->size && b->sum + 4 <= s->size &&
           forge_sum(s->bytes, b) == check_number(s->bytes + b->sum, 4);
}

/* A block is as long as makes its checksum right; of a heap's block it lies inside. */
static inline bool forge_find_block(const forge_sample *s, size_t at, forge_block *b) {
    for (size_t bits = 32; bits <= 40; bits += 8)
        for (size_t size = 512; size <= 2048 && !memcmp(s->bytes + at, "FHDB", 4); size *= 2) {
            *b = (forge_block){at, size, at + 13 + bits / 8, true};
            if (forge_is_sound(s, b)) return true;
        }
    for (size_t size = 8; size < FORGE_LONGEST; size++) {
        *b = (forge_block){at, size, at + size, false};
        if (forge_is_sound(s, b)) return true;
    }
    return false;
}

/* lacks: kinds of blocks that there need not be. */
static inline void forge_find(forge_sample *s, const char *lacks) {
    static const char kinds[][5] = {"OHDR", "OCHK", "FRHP", "FHDB", "FHIB", "BTHD",
                                    "BTLF", "EAHD", "EAIB", "EADB", "EASB"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    int counts[KINDS] = {0};
    s->blocks[s->block_count++] = (forge_block){0, 44, 44, false};
    for (size_t at = 0; at + 8 < s->size; at++)
        for (int k = 0; k < KINDS && s->block_count < FORGE_BLOCKS; k++) {
            if (memcmp(s->bytes + at, kinds[k], 4)) continue;
            if (!forge_find_block(s, at, &s->blocks[s->block_count])) continue;
            s->block_count++;
            counts[k]++;
        }
    for (int k = 0; k < KINDS; k++) {
        if (counts[k] || strstr(lacks, kinds[k])) continue;
        fprintf(stderr, "no block %s\n", kinds[k]);
        abort();
    }
    for (int k = 0; k < s->block_count; k++)
        for (size_t at = s->blocks[k].begin; at + 8 <= s->blocks[k].begin + s->blocks[k].size; at++)
            for (int i = 1; i < s->block_count && s->field_count < FORGE_FIELDS; i++)
                if (check_number(s->bytes + at, 8) == s->blocks[i].begin) s->fields[s->field_count++] = at;
}

static inline void forge_seal_block(uint8_t *bytes, const forge_block *b) {
    memcpy(bytes + b->sum, &(uint32_t){forge_sum(bytes, b)}, 4);
}

/* Puts right checksums under all blocks of bytes, which are those of the sample but for some. */
static inline void forge_seal(const forge_sample *s, uint8_t *bytes) {
    for (int k = 0; k < s->block_count; k++) forge_seal_block(bytes, &s->blocks[k]);
}

#endif
